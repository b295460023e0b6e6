import { expect, test } from "vitest";
import { type Slots, slots } from "../../src/app/slots.ts";

const none: Slots = { first: 0, elements: [] };

test("rows that stay in sight keep their elements", () => {
  const start = slots(none, 0, 4);
  expect(start.elements).toEqual([0, 1, 2, 3]);
  expect(slots(start, 1, 5)).toEqual({ first: 1, elements: [1, 2, 3, 0] });
  expect(slots(slots(start, 1, 5), 0, 4).elements).toEqual([0, 1, 2, 3]);
});

test("a jump uses the same elements in the same order", () => {
  expect(slots(slots(none, 0, 4), 100, 104).elements).toEqual([0, 1, 2, 3]);
});

test("every row has an element of its own, and there are no more than rows in sight", () => {
  let now = none;
  let most = 0;
  for (const [first, last] of [
    [0, 5],
    [3, 9],
    [2, 4],
    [2, 4],
    [50, 60],
    [45, 55],
    [0, 0],
    [7, 8],
  ] as const) {
    now = slots(now, first, last);
    most = Math.max(most, last - first);
    expect(now.elements.length).toBe(last - first);
    expect(new Set(now.elements).size).toBe(last - first);
    expect(Math.max(-1, ...now.elements)).toBeLessThan(most);
  }
});
