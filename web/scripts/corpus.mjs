// A made-up corpus from the themes of `gibbstream demo`: short texts with a date and a section, in which shares move over time.
import { readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";

const library = fileURLToPath(new URL("../../crates/gibbstream/src", import.meta.url));

/** The words of the demo, wherever the library keeps them. */
function themesFile() {
  const found = readdirSync(library, { recursive: true }).filter((path) => path.endsWith("themes.rs"));
  if (found.length !== 1) throw new Error(`expected one themes.rs under ${library}, found ${found.length}`);
  return join(library, found[0]);
}

/** [{ name, words }] as the program has them, and the everyday words last. */
export function themes() {
  const text = readFileSync(themesFile(), "utf8");
  return [...text.matchAll(/const ([A-Z]+): &str = "([^"]+)"/g)].map(([, name, words]) => ({
    name: name.toLowerCase(),
    words: words.trim().split(/\s+/),
  }));
}

/** mulberry32: the same seed, the same corpus. */
export function random(seed) {
  let state = seed >>> 0;
  return () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4294967296;
  };
}

export const pick = (draw, weights) => {
  let left = draw() * weights.reduce((a, b) => a + b, 0);
  const index = weights.findIndex((weight) => (left -= weight) <= 0);
  return index < 0 ? weights.length - 1 : index;
};

const SECTIONS = ["letters", "magazine", "news", "science", "weekend"];
const JOINS = [
  " and the ",
  " with ",
  ", then ",
  " of the ",
  " near the ",
  " for ",
  ", but the ",
  " under ",
  " without ",
];
const OPENINGS = ["The ", "Our ", "Every ", "That ", "This ", "A good ", "Their ", "One "];

/** How much a theme is liked in a section and a month: fixed, so that the pictures have something to show. */
function liking(theme, section, month) {
  const seasonal = 1 + 0.8 * Math.sin((2 * Math.PI * (month + 3 * theme)) / 12);
  const trend = theme === 8 ? 0.15 + month / 14 : theme === 7 ? Math.max(0.03, 1.6 - month / 12) : 1;
  const taste = (theme * 7 + section * 3) % 5 === 0 ? 3 : 0.7;
  return (seasonal * trend * taste) / (1 + theme / 8);
}

const rankWeights = (n) => Array.from({ length: n }, (_, rank) => 1 / (rank + 4));

/** `count` documents: { id, date, section, text }. */
export function* documents(count, seed = 1) {
  const draw = random(seed);
  const all = themes();
  const everyday = all.pop().words;
  const months = 24;
  for (let i = 0; i < count; i++) {
    const month = Math.floor((i * months) / count);
    const section = Math.floor(draw() * SECTIONS.length);
    const weights = all.map((_, theme) => liking(theme, section, month) * (-Math.log(1 - draw())) ** 3);

    const sentences = [];
    for (let s = 3 + Math.floor(draw() * 5); s > 0; s--) {
      const words = [];
      for (let w = 4 + Math.floor(draw() * 6); w > 0; w--) {
        const pool = draw() < 0.72 ? all[pick(draw, weights)].words : everyday;
        words.push(pool[pick(draw, rankWeights(pool.length))]);
      }
      const opening = OPENINGS[Math.floor(draw() * OPENINGS.length)];
      const join = () => (draw() < 0.6 ? " " : JOINS[Math.floor(draw() * JOINS.length)]);
      sentences.push(opening + words.reduce((text, word) => text + join() + word) + ".");
    }
    const day = 1 + Math.floor(draw() * 28);
    const date = new Date(Date.UTC(2024, month, day)).toISOString().slice(0, 10);
    yield { id: `doc-${String(i + 1).padStart(5, "0")}`, date, section: SECTIONS[section], text: sentences.join(" ") };
  }
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const [, , count = "2000", out] = process.argv;
  if (!out) throw new Error("usage: node scripts/corpus.mjs DOCUMENTS OUT.jsonl");
  writeFileSync(out, [...documents(Number(count))].map((document) => JSON.stringify(document) + "\n").join(""));
}
