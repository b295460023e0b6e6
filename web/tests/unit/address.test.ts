import { expect, test } from "vitest";
import { type Address, format, parse, START, VIEWS } from "../../src/state/address.ts";

const full: Address = {
  view: "documents",
  topics: [3, 7, 1],
  lambda: 0.3,
  sort: "label",
  find: "a b&c=d#e",
  showHidden: true,
  text: '"naïve" <script>?&',
  group: "sports & more",
  from: "2024-01-01",
  to: "2024-12-31",
  document: 12,
  word: "didn't",
  between: [2, 9],
  cut: 0.55,
  table: "words",
};

test("an address comes back as it was", () => {
  expect(parse(format(full))).toEqual(full);
  for (const view of VIEWS) expect(parse(format({ ...full, view })).view).toBe(view);
});

test("the start is the shortest address", () => {
  expect(format(START)).toBe("#/topics");
  expect(parse("")).toEqual(START);
  expect(parse("#")).toEqual(START);
});

test("what makes no sense is left out", () => {
  const hostile = "#/nowhere?topics=-1,2,x,2,99999999999&lambda=7&sort=<b>&document=-3&between=1&cut=NaN&table=<i>";
  expect(parse(hostile)).toEqual({ ...START, topics: [2] });
  expect(parse("#/topics?lambda=").lambda).toBeNull();
});

test("at most eight topics are chosen", () => {
  expect(parse("#/topics?topics=1,2,3,4,5,6,7,8,9,10").topics).toHaveLength(8);
});
