import { expect, test } from "vitest";
import { change, fromFile, fromRecord, History, merge, separate, shownAs, toFile } from "../../src/state/labels.ts";

test("a change that says nothing leaves nothing", () => {
  const edits = change(change({}, 3, { label: " Cooking ", note: "" }), 4, { hidden: true });
  expect(edits).toEqual({ 3: { label: "Cooking" }, 4: { hidden: true } });
  expect(change(edits, 3, { label: "" })).toEqual({ 4: { hidden: true } });
});

test("merging follows chains and never makes a circle", () => {
  const once = merge({}, [1, 2], 3);
  expect([1, 2, 3].map((topic) => shownAs(once, topic))).toEqual([3, 3, 3]);
  const twice = merge(once, [3], 5);
  expect([1, 2, 3, 5].map((topic) => shownAs(twice, topic))).toEqual([5, 5, 5, 5]);
  // Merging a topic into what is already shown as it changes nothing.
  expect(merge(twice, [5], 1)).toEqual(twice);
  expect(separate(twice, 5)).toEqual({});
});

test("a circle in a file is cut, the same way for all its members", () => {
  const edits = fromRecord({ 1: { merged_into: 2 }, 2: { merged_into: 3 }, 3: { merged_into: 1 } }, 10);
  expect([1, 2, 3].map((topic) => shownAs(edits, topic))).toEqual([1, 1, 1]);
});

test("a labels file comes back, and other files are refused by name", () => {
  const edits = { 3: { label: "Cooking", note: "why", merged_into: 4 }, 7: { hidden: true } };
  const file = toFile(edits, "abc");
  expect(JSON.parse(file)).toEqual({ schema: "gibbstream/labels/1", model_hash: "abc", topics: edits });
  expect(fromFile(file, "abc", 10)).toEqual(edits);
  expect(() => fromFile(file, "other", 10)).toThrow(/another model \(abc\)/);
  expect(() => fromFile("{", "abc", 10)).toThrow(/not JSON/);
  expect(() => fromFile('{"schema":"x"}', "abc", 10)).toThrow(/schema is "x"/);
  expect(() => fromFile("null", "abc", 10)).toThrow(/not a labels file/);
});

test("values of wrong types and unknown topics are dropped", () => {
  const record = { 1: { label: 5, hidden: "yes", merged_into: 1 }, 99: { label: "x" }, no: { label: "x" }, 2: null };
  expect(fromRecord(record, 10)).toEqual({});
});

test("history goes back and forth, and a new step forgets the future", () => {
  const three = new History(1).next(2).next(3);
  expect(three.undo().now).toBe(2);
  expect(three.undo().undo().undo().now).toBe(1);
  expect(three.undo().redo().now).toBe(3);
  expect(three.undo().next(9).redo().now).toBe(9);
});
