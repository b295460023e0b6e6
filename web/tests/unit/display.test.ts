import { expect, test } from "vitest";
import { Corpus, spansOf } from "../../src/data/corpus.ts";
import { display, mixture, rankedWords, shareIn, sumRows } from "../../src/data/display.ts";
import { completions, condition, findDocuments, findTopics, sortTopics, trendOf } from "../../src/data/find.ts";
import { merge } from "../../src/state/labels.ts";
import { groupDots, overallShare } from "../../src/views/group-shares.ts";
import { tinyReport } from "./report.ts";

const report = tinyReport();
const plain = display(report, {});

test("relevance is the formula of LDAvis", () => {
  // p(w): 0.34, 0.18, 0.28, 0.20.
  const expected = (lambda: number) =>
    [
      ["apple", 0.5, 0.34],
      ["bread", 0.3, 0.18],
      ["cider", 0.2, 0.28],
    ]
      .map(
        ([word, p, q]) =>
          [word, lambda * Math.log(p as number) + (1 - lambda) * Math.log((p as number) / (q as number))] as const,
      )
      .sort((a, b) => b[1] - a[1]);
  for (const lambda of [0, 0.3, 1]) {
    const rows = rankedWords(report, plain.topics[0]!, lambda, 30);
    expect(rows.map((row) => row.text)).toEqual(expected(lambda).map(([word]) => word));
    rows.forEach((row, i) => expect(row.relevance).toBeCloseTo(expected(lambda)[i]![1], 12));
  }
  const [bread] = rankedWords(report, plain.topics[0]!, 0, 1);
  expect(bread).toMatchObject({ text: "bread", weight: 0.3 });
  expect(bread!.part).toBeCloseTo(1, 12);
});

test("merged topics add up to the words of the corpus", () => {
  const merged = display(report, merge({}, [1], 0));
  expect(merged.topics).toHaveLength(1);
  const [topic] = merged.topics;
  expect(topic).toMatchObject({ id: 0, members: [0, 1], share: 1, coherence: null });
  // Both topics together are the whole corpus, so p(w | both) is p(w).
  topic!.words.forEach((word, i) => expect(topic!.weights[i]).toBeCloseTo(report.words.share[word]!, 12));
  expect([...merged.root]).toEqual([0, 0]);
  expect(
    mixture(
      [
        [0, 0.9, 0.1],
        [1, 0.1, 0.1],
      ],
      merged,
    ),
  ).toEqual([[0, 1, 0.2]]);
});

test("labels, notes and hiding show", () => {
  const shown = display(report, { 1: { label: "Fruit", note: "n", hidden: true } });
  expect(shown.byId.get(1)).toMatchObject({ label: "Fruit", automatic: "label 1", note: "n", hidden: true });
});

test("sums of rows keep gaps", () => {
  expect(
    sumRows([
      [1, null],
      [2, 3],
    ]),
  ).toEqual([3, null]);
});

test("topics are found by id, label and leading words", () => {
  const found = (typed: string) => findTopics(report, plain.topics, typed).map((topic) => topic.id);
  expect(found("")).toEqual([0, 1]);
  expect(found("1")).toEqual([1]);
  expect(found("LABEL 0")).toEqual([0]);
  expect(found("bre")).toEqual([0]);
  expect(found("zzz")).toEqual([]);
});

test("topics are sorted by any column, both ways", () => {
  const ids = (sort: string) => sortTopics(plain.topics, sort).map((topic) => topic.id);
  expect(ids("-share")).toEqual([0, 1]);
  expect(ids("share")).toEqual([1, 0]);
  expect(ids("-label")).toEqual([1, 0]);
  expect(ids("nonsense")).toEqual([1, 0]);
});

test("the trend compares the last third with the first", () => {
  expect(trendOf([0.1, 0.1, null, 0.2, 0.2, 0.4, 0.4])).toBeCloseTo(0.3, 12);
  expect(trendOf([0.1])).toBeNull();
  expect(trendOf(null)).toBeNull();
});

test("completions: whole words, then beginnings, then insides, frequent first", () => {
  const words = tinyReport();
  words.words.text = ["art", "cart", "artist", "mart"];
  words.words.share = [0.1, 0.2, 0.5, 0.3];
  expect(completions(words, "ART", 10)).toEqual([0, 2, 3, 1]);
  expect(completions(words, "", 10)).toEqual([]);
});

test("spans are distances and lengths, which may overlap", () => {
  expect(spansOf([0, 3, 7, 1, 4, 8, -4, 4, 9])).toEqual([
    [0, 3, 7],
    [4, 8, 8],
    [4, 8, 9],
  ]);
});

function corpus() {
  const all = new Corpus(report.documents!, report.groups);
  all.add([
    { text: "Apple bread", left_out: 0, tokens: [0, 5, 0] },
    { text: "breadth of dates", left_out: 0, tokens: [] },
    { text: "CIDER, bread.", left_out: 0, tokens: [] },
  ]);
  return all;
}

test("documents are found by text, whole word, group, day and topic", async () => {
  const all = corpus();
  const none = { topics: [], text: "", group: "", from: "", to: "" };
  const found = (filter: object) => [0, 1, 2].filter(condition(all, { ...none, ...filter }));
  expect(found({ text: "bread" })).toEqual([0, 1, 2]);
  expect(found({ text: '"bread"' })).toEqual([0, 2]);
  expect(found({ text: "document 1" })).toEqual([1]);
  expect(found({ group: "b" })).toEqual([1]);
  expect(found({ group: "unknown" })).toEqual([]);
  expect(found({ from: "1970-01-02" })).toEqual([1, 2]);
  expect(found({ to: "1970-01-02" })).toEqual([0, 1]);
  const byTopic = await findDocuments(all, plain, { ...none, topics: [0] }, () => false);
  expect(byTopic).toEqual([
    { document: 0, share: 0.9 },
    { document: 2, share: 0.5 },
  ]);
});

test("names, days, groups and mixtures of documents", () => {
  const all = corpus();
  expect([0, 1].map((i) => all.id(i))).toEqual(["one", "document 1"]);
  expect(all.day(1)).toBe("1970-01-02");
  expect(all.groupName(1)).toBe("b");
  expect(all.theta(2)).toEqual([
    [0, 0.5, 0.2],
    [1, 0.5, 0.2],
  ]);
  expect(shareIn(all, 1, 1, plain)).toBe(1);
});

test("groups: all documents together are weighted by tokens", () => {
  expect(overallShare(report.groups!, plain.topics[0]!)).toBeCloseTo(0.65, 12);
  expect(groupDots(report.groups!, plain.topics[1]!).map((dot) => dot.name)).toEqual(["b", "a"]);
});
