import { readFileSync } from "node:fs";
import { describe, expect, test } from "vitest";
import { notFollowed, type Rules, tokenize } from "../../src/data/text/tokenizer.ts";

/** What the program makes of many texts, written by its own tests (explore/try_table/words_tests.rs). */
type Table = { rules: Rules; texts: [string, [string, number, number][]][] }[];
const table = JSON.parse(readFileSync(new URL("./words.json", import.meta.url), "utf8")) as Table;

const found = (text: string, rules: Rules) => tokenize(text, rules).map(({ word, start, end }) => [word, start, end]);

/** Where marks combine with what is before them, the page may tint a mark less than the program would. */
const hasMarks = (text: string) => /\p{M}/u.test(text);
const onlyWords = (tokens: (string | number)[][]) => tokens.map(([word]) => word);

describe("words and their places are those of the program", () => {
  expect(table.length).toBeGreaterThan(5);
  table.forEach(({ rules, texts }, number) => {
    test(`rules ${number}: ${rules.language ?? "no language"}, html ${rules.html}`, { timeout: 60_000 }, () => {
      expect(texts.length).toBeGreaterThanOrEqual(60);
      for (const [text, tokens] of texts) {
        const made = found(text, rules);
        expect(onlyWords(made), JSON.stringify(text)).toEqual(onlyWords(tokens));
        if (!hasMarks(text)) expect(made, JSON.stringify(text)).toEqual(tokens);
      }
    });
  });
});

/** As models have it that were written before there were other rules. */
const first: Rules = { ...table[1]!.rules, rules: "first", html: "keep", keep_urls: true, min_length: 2 };
const words = (text: string, rules: Rules) => tokenize(text, rules).map((token) => token.word);

test("old models keep the words of Unicode", () => {
  // The cases of the program's own tokenizer.
  expect(words("The cat, 42 cats & a 3D film.", first)).toEqual(["the", "cat", "cats", "3d", "film"]);
  expect(words("I didn't like Rosemary's baby", first)).toEqual(["didn't", "like", "rosemary's", "baby"]);
  expect(words("didn\u2019t DIDN\u2019T", first)).toEqual(["didn't", "didn't"]);
  expect(words("Éa naïve Straße ΟΔΟΣ", first)).toEqual(["éa", "naïve", "straße", "οδος"]);
  expect(words("great 👍🏽 love ❤\ufe0f", first)).toEqual(["great", "👍🏽", "love", "❤"]);
  expect(words("_very_ snake_case ___", first)).toEqual(["very", "snake_case"]);
  expect(words("3.14 1,000 2024", first)).toEqual([]);
  expect(words("good<br />film http://a.com/b", first)).toEqual(["good", "br", "film", "http", "a.com"]);
});

test("what cannot be followed is said", () => {
  const dictionary: Rules = { ...table[0]!.rules, segmentation: "dictionary" };
  expect(notFollowed("看电影", dictionary)).toContain("dictionaries of this browser");
  expect(notFollowed("看电影", first)).toContain("dictionaries of this browser");
  expect(notFollowed("the film", dictionary)).toBe("");
  expect(notFollowed("看电影", table[0]!.rules)).toBe("");
  // They are cut somehow, and nothing is lost.
  expect(words("看电影", { ...dictionary, min_length: 1 }).join("")).toBe("看电影");
});

// Quadratic time would be hours for some of them.
test("no text takes long", { timeout: 60_000 }, () => {
  const many = (piece: string) => piece.repeat(100_000 / piece.length);
  const rules = table[0]!.rules;
  for (const piece of ["<", "<a ", '<a b="', "<!--", "<script>", "&", "a+", "a.", "a@", "<![CDATA[", "x", "👍"]) {
    expect(tokenize(many(piece), rules), piece).toBeDefined();
    expect(tokenize(many(`${piece}b `), first), piece).toBeDefined();
  }
});
