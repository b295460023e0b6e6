import { gzipSync } from "node:zlib";
import { expect, test } from "vitest";
import { clip, pieces, snippetStart, wordStart } from "../../src/app/text.ts";
import { linesFor, python, shell } from "../../src/app/commands.ts";
import { combined } from "../../src/data/live.ts";
import { readEvents } from "../../src/data/server-events.ts";
import { toCsv } from "../../src/data/table.ts";
import { unpackJson } from "../../src/data/unpack.ts";
import { course, moved, periodName, turns } from "../../src/views/periods.ts";
import { display } from "../../src/data/display.ts";
import { tinyReport } from "./report.ts";

test("what was packed is unpacked, also when it is larger than a piece", async () => {
  const value = {
    text: "naïve 👍 ".repeat(200_000),
    numbers: Array.from({ length: 50_000 }, (_, i) => (i * 7919) % 100_003),
  };
  const packed = gzipSync(JSON.stringify(value)).toString("base64");
  expect(packed.length).toBeGreaterThan(1 << 17);
  expect(await unpackJson(packed)).toEqual(value);
  await expect(unpackJson(packed.slice(0, 1000))).rejects.toThrow();
});

test("CSV quotes what needs it and defuses formulas", () => {
  expect(
    toCsv({
      columns: ["a", "b"],
      rows: [
        ["x,y", 1.5],
        ['say "hi"\n', null],
        ["=1+1", -2],
        ["@x", 0],
      ],
    }),
  ).toBe('a,b\r\n"x,y",1.5\r\n"say ""hi""\n",\r\n\'=1+1,-2\r\n\'@x,0\r\n');
});

test("text is cut at spans, and nothing is lost or doubled", () => {
  const text = "one two three";
  const spans: [number, number, number][] = [
    [0, 3, 1],
    [4, 7, 2],
    [4, 13, 9],
  ];
  const parts = pieces(text, spans);
  expect(parts.map((part) => part.text).join("")).toBe(text);
  expect(parts).toEqual([
    { text: "one", topic: 1 },
    { text: " ", topic: null },
    { text: "two", topic: 2 },
    { text: " three", topic: 9 },
  ]);
  expect(pieces(text, spans, 2, 6).map((part) => part.text)).toEqual(["e", " ", "tw"]);
});

test("a snippet begins where the topic is", () => {
  const text = `${"filler ".repeat(100)}wanted wanted wanted`;
  const at = text.indexOf("wanted");
  const spans = [0, 7, 14].map((shift): [number, number, number] => [at + shift, at + shift + 6, 5]);
  const start = snippetStart(text, spans, (topic) => topic === 5, 100);
  expect(start).toBeLessThanOrEqual(at);
  expect(start).toBeGreaterThan(at - 60);
  expect(text[start - 1]).toBe(" ");
  expect(snippetStart(text, spans, () => false, 100)).toBe(0);
  expect(wordStart("x".repeat(1000), 500)).toBe(500);
  expect(clip("x".repeat(10_000_000)).length).toBe(121);
});

test("server-sent events arrive whole, however they are cut", async () => {
  const bytes = new TextEncoder().encode(
    ': hello\r\nevent: progress\ndata: {"a":\ndata: 1}\n\nevent:x\r\ndata:naïve\r\n\r\n\ndata: last\n\n',
  );
  for (const size of [1, 2, 3, 7, 1000]) {
    const body = new ReadableStream<Uint8Array>({
      start(controller) {
        for (let i = 0; i < bytes.length; i += size) controller.enqueue(bytes.slice(i, i + size));
        controller.close();
      },
    });
    const events = [];
    for await (const event of readEvents(body)) events.push(event);
    expect(events).toEqual([
      { name: "progress", data: '{"a":\n1}' },
      { name: "x", data: "naïve" },
      { name: "message", data: "last" },
    ]);
  }
});

test("the service's shares are shown with what the page adds", () => {
  const local = {
    theta: [[1, 0.5, 0.07]] as [number, number, number][],
    tokens: 3,
    unknown: ["x"],
    spans: [],
    differs: "",
    how: "",
  };
  const both = combined({ tokens: 5, out_of_vocabulary_tokens: 2, theta: [0.2, 0.8] }, local);
  expect(both).toMatchObject({
    theta: [
      [1, 0.8, 0.07],
      [0, 0.2, 0],
    ],
    tokens: 7,
    unknown: ["x"],
  });
  expect(combined({ tokens: 1, out_of_vocabulary_tokens: 0, theta: [1] }, null).spans).toBeNull();
});

test("commands are quoted for the shell and for Python", () => {
  expect(shell("a b's.gbs")).toBe(`'a b'\\''s.gbs'`);
  expect(shell("m.gbs")).toBe("m.gbs");
  expect(python('a"b')).toBe('"a\\"b"');
  expect(linesFor(tinyReport()).words(0.3).command).toBe("gibbstream topics m.gbs --words 30 --lambda 0.3 --json");
});

test("periods have short names", () => {
  const start = "2024-07-01T05:00:00Z";
  expect(["year", "quarter", "month", "week", "hour"].map((by) => periodName(start, by))).toEqual([
    "2024",
    "2024 Q3",
    "2024-07",
    "2024-07-01",
    "2024-07-01 05:00",
  ]);
});

test("births and deaths: surely below half the mean at an end", () => {
  const at = (values: number[], spread = 0.01) =>
    turns(values.map((y, x) => ({ x, y, low: y - spread, high: y + spread, broken: false }))).map(({ x, mark }) => [
      x,
      mark,
    ]);
  expect(at([0, 0.001, 0.2, 0.3, 0.2])).toEqual([[2, "▲"]]);
  expect(at([0.3, 0.2, 0.2, 0.01, 0])).toEqual([[3, "▼"]]);
  expect(at([0.2, 0.01, 0.01, 0.2])).toEqual([]);
  // One low period, or periods that are not sure, are noise.
  expect(at([0, 0.2, 0.3, 0.2])).toEqual([]);
  expect(at([0, 0.001, 0.2, 0.3, 0.2], 0.2)).toEqual([]);
});

test("the course of a topic leaves out periods without documents", () => {
  const report = tinyReport();
  report.timeline = {
    field: "date",
    by: "month",
    starts: ["2024-01-01T00:00:00Z", "2024-02-01T00:00:00Z"],
    documents: [3, 0],
    tokens: [30, 0],
    shares: [
      [0.6, null],
      [0.4, null],
    ],
    low: [
      [0.5, null],
      [0.3, null],
    ],
    high: [
      [0.7, null],
      [0.5, null],
    ],
    drift: [null, null],
    words: [],
  };
  const shown = display(report, {});
  expect(course(report.timeline, shown.topics[0]!)).toEqual([
    { x: Date.UTC(2024, 0, 1), y: 0.6, low: 0.5, high: 0.7, broken: false },
  ]);
});

test("words that moved are ordered by how sure it is", () => {
  const report = tinyReport();
  const trends = {
    words: [0, 1, 2],
    counts: [
      [10, 40],
      [100, 100],
      [50, 10],
    ],
    tokens: [1000, 1000],
    rising: [],
    falling: [],
  };
  const rows = moved(report, trends, 0, 1);
  expect(rows.map((row) => row.word)).toEqual(["apple", "bread", "cider"]);
  expect(rows[0]!.z).toBeGreaterThan(2);
  expect(rows[1]!.z).toBeCloseTo(0, 6);
  expect(rows[2]!.z).toBeLessThan(-2);
  expect(moved(report, { ...trends, tokens: [0, 5] }, 0, 1)).toEqual([]);
});
