// Pages made by the real program over a made-up corpus.
import { execFileSync } from "node:child_process";
import { existsSync, mkdtempSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { fileURLToPath } from "node:url";
import { documents } from "../../scripts/corpus.mjs";

const root = fileURLToPath(new URL("../../..", import.meta.url));

/** The program: GIBBSTREAM_PROGRAM, or what `make` has built. */
export function program() {
  const given = process.env.GIBBSTREAM_PROGRAM;
  const found = given ? resolve(root, given) : join(root, "target/ci/gibbstream");
  if (!existsSync(found)) throw new Error(`${found} is missing: cargo build --profile ci --package gibbstream-cli`);
  return found;
}

export const run = (...args) =>
  execFileSync(program(), args, { encoding: "utf8", stdio: ["ignore", "pipe", "pipe"], maxBuffer: 1 << 30 });

export const jsonLines = (rows) => rows.map((row) => JSON.stringify(row) + "\n").join("");

/** A folder with a corpus, two models and a page over all parts of a report. */
export function workshop() {
  const folder = mkdtempSync(join(tmpdir(), "gibbstream-page-"));
  const at = (name) => join(folder, name);
  writeFileSync(at("corpus.jsonl"), jsonLines([...documents(800)]));
  const train = (out, ...more) =>
    run(
      "train",
      at("corpus.jsonl"),
      "--topics",
      "12",
      "--passes",
      "1",
      "--holdout",
      "100",
      "--eval-every",
      "3",
      "--no-progress",
      "--out",
      at(out),
      ...more,
    );
  train("before.gbs", "--limit-docs", "400");
  train("model.gbs");
  const report = (out, ...more) =>
    run(
      "report",
      at("model.gbs"),
      at("corpus.jsonl"),
      "--time-field",
      "date",
      "--group-field",
      "section",
      "--out",
      at(out),
      ...more,
    );
  report("page.html", "--title", "A made-up corpus", "--compare", at("before.gbs"));
  return { folder, at, report };
}
