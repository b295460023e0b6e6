// The mixture of one text, sampled in the browser from the words that the report carries.
import type { Report, TryTable } from "./report.ts";
import type { Inferred } from "./source.ts";
import { notFollowed, tokenize } from "./text/tokenizer.ts";

const BURN_IN = 50;
const KEPT = 200;

/** A small generator with a fixed seed (mulberry32): the same text gives the same answer. */
export function generator(seed: number): () => number {
  let state = seed >>> 0;
  return () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4294967296;
  };
}

/** p(word | topic) of every topic for a word of the table: listed ones as they are, the others their mean. */
export function likelihoods(table: TryTable, entry: number, topics: number): Float64Array {
  const value = (code: number) => Math.exp(-code / table.steps);
  const all = new Float64Array(topics).fill(value(table.rest[entry]!));
  for (let i = table.starts[entry]!; i < table.starts[entry + 1]!; i++) all[table.topics[i]!] = value(table.codes[i]!);
  return all;
}

interface Sampled {
  theta: [number, number, number][];
  /** The topic each token had most often. */
  topics: number[];
}

/** Gibbs sampling of the topics of tokens, each given by its likelihood in every topic. */
export function sample(tokens: Float64Array[], alpha: number[], random: () => number): Sampled {
  const topicCount = alpha.length;
  const counts = new Float64Array(topicCount);
  const weights = new Float64Array(topicCount);
  const assigned = new Int32Array(tokens.length).fill(-1);
  const votes = tokens.map(() => new Map<number, number>());
  const sum = new Float64Array(topicCount);
  const squares = new Float64Array(topicCount);
  const total = tokens.length + alpha.reduce((a, b) => a + b, 0);

  for (let sweep = 0; sweep < BURN_IN + KEPT; sweep++) {
    tokens.forEach((likelihood, i) => {
      if (assigned[i]! >= 0) counts[assigned[i]!]!--;
      let mass = 0;
      for (let k = 0; k < topicCount; k++) mass += weights[k] = (counts[k]! + alpha[k]!) * likelihood[k]!;
      let left = random() * mass;
      let pick = 0;
      while (pick < topicCount - 1 && (left -= weights[pick]!) > 0) pick++;
      assigned[i] = pick;
      counts[pick]!++;
      if (sweep >= BURN_IN) votes[i]!.set(pick, (votes[i]!.get(pick) ?? 0) + 1);
    });
    if (sweep < BURN_IN) continue;
    for (let k = 0; k < topicCount; k++) {
      const share = (counts[k]! + alpha[k]!) / total;
      sum[k]! += share;
      squares[k]! += share * share;
    }
  }
  const theta = alpha.map((_, k): [number, number, number] => {
    const mean = sum[k]! / KEPT;
    return [k, mean, Math.sqrt(Math.max(0, squares[k]! / KEPT - mean * mean))];
  });
  theta.sort((a, b) => b[1] - a[1]);
  const topics = votes.map((vote) => [...vote].reduce((a, b) => (b[1] > a[1] ? b : a))[0]);
  return { theta, topics };
}

const indexes = new WeakMap<TryTable, Map<string, number>>();

/** Word to its entry in the table. */
function entries(report: Report, table: TryTable): Map<string, number> {
  let index = indexes.get(table);
  if (!index) indexes.set(table, (index = new Map(table.words.map((word, i) => [report.words.text[word]!, i]))));
  return index;
}

/** More than this is not looked at, nor sampled: the page must stay quick. */
const MOST_CHARACTERS = 100_000;
const MOST_TOKENS = 2000;

export function inferLocally(text: string, report: Report): Inferred {
  const table = report.try_table;
  if (!table) throw new Error(report.missing.try_table ?? "This report carries no table to try a document with.");
  const index = entries(report, table);
  const all = tokenize(text.slice(0, MOST_CHARACTERS), table);
  const tokens = all.slice(0, MOST_TOKENS);
  const known = tokens.filter((token) => index.has(token.word));
  const unknown = [...new Set(tokens.filter((token) => !index.has(token.word)).map((token) => token.word))];
  const alpha = report.topics.map((topic) => topic.alpha);
  const rows = known.map((token) => likelihoods(table, index.get(token.word)!, alpha.length));
  const { theta, topics } = sample(rows, alpha, generator(known.length + 1));
  const part = `${(table.word_coverage * 100).toFixed(1)} % of the tokens it learnt from are words that this page knows`;
  const isCut = all.length > tokens.length || text.length > MOST_CHARACTERS;
  const cut = isCut ? ` Only the first ${tokens.length} words were used.` : "";
  return {
    theta,
    tokens: tokens.length,
    unknown,
    spans: known.map((token, i) => [token.start, token.end, topics[i]!]),
    differs: notFollowed(text, table),
    how:
      `Gibbs sampling in this browser: ${BURN_IN} sweeps, then ${KEPT} kept, with a compact copy of the model (${part}, ` +
      `${(table.coverage * 100).toFixed(1)} % with their exact topic weights).${cut}`,
  };
}
