import { expect, test } from "vitest";
import { generator, inferLocally, likelihoods, sample } from "../../src/data/local-inference.ts";
import { tinyReport } from "./report.ts";

/** Exact posterior mean of the mixture, by enumeration of all assignments. */
function exactTheta(tokens: Float64Array[], alpha: number[]): number[] {
  const topics = alpha.length;
  const total = alpha.reduce((a, b) => a + b, 0);
  const mean = alpha.map(() => 0);
  let mass = 0;
  for (let code = 0; code < topics ** tokens.length; code++) {
    const counts = alpha.map(() => 0);
    let weight = 1;
    tokens.forEach((likelihood, i) => {
      const k = Math.floor(code / topics ** i) % topics;
      // Polya urn: the next token's topic given the counts so far.
      weight *= ((counts[k]! + alpha[k]!) / (i + total)) * likelihood[k]!;
      counts[k]!++;
    });
    mass += weight;
    counts.forEach((count, k) => (mean[k]! += (weight * (count + alpha[k]!)) / (tokens.length + total)));
  }
  return mean.map((value) => value / mass);
}

test("the sampler has the exact posterior mean", () => {
  const alpha = [0.3, 0.7, 0.2];
  const rows = [
    [0.5, 0.1, 0.2],
    [0.05, 0.3, 0.3],
    [0.4, 0.2, 0.01],
    [0.1, 0.1, 0.6],
  ].map((row) => Float64Array.from(row));
  const exact = exactTheta(rows, alpha);
  // 40 chains of 200 kept sweeps: standard error about 0.18 / sqrt(40 x 60) = 0.004; five of them.
  const mean = alpha.map(() => 0);
  for (let seed = 0; seed < 40; seed++) {
    for (const [k, share] of sample(rows, alpha, generator(seed)).theta) mean[k]! += share / 40;
  }
  exact.forEach((share, k) => expect(Math.abs(mean[k]! - share)).toBeLessThan(0.02));
});

test("likelihoods come back from their codes", () => {
  const table = tinyReport().try_table!;
  const apple = likelihoods(table, 0, 2);
  expect(apple[0]).toBeCloseTo(0.5, 3);
  expect(apple[1]).toBeCloseTo(0.1, 3);
  expect(likelihoods(table, 1, 2)[1]).toBeLessThan(1e-8);
});

test("a text is inferred, the same every time, and unknown words are named", () => {
  const report = tinyReport();
  const once = inferLocally("The bread, bread and Bread; bread zebra", report);
  expect(once).toEqual(inferLocally("The bread, bread and Bread; bread zebra", report));
  expect(once.unknown).toEqual(["and", "zebra"]);
  expect(once.spans).toHaveLength(4);
  expect(once.spans!.every(([, , topic]) => topic === 0)).toBe(true);
  expect(once.theta[0]![0]).toBe(0);
  // All four tokens are of topic 0: (4 + 0.5) / (4 + 1).
  expect(once.theta[0]![1]).toBeCloseTo(0.9, 6);
  const empty = inferLocally("", report);
  expect(empty.theta.map(([, share]) => share)).toEqual([0.5, 0.5]);
});
