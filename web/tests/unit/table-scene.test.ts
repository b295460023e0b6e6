import { expect, test } from "vitest";
import { toSvg } from "../../src/charts/scene.ts";
import { gridOf, tableScene } from "../../src/charts/table-scene.ts";

const plain = () => "#000";

test("a table becomes a picture that holds its numbers and says what it leaves out", () => {
  const rows = Array.from({ length: 130 }, (_, i) => [`<topic ${i}>`, i / 3, null]);
  const scene = tableScene("Topics", { columns: ["label", "share", "note"], rows });
  const svg = toSvg(scene, plain);
  expect(svg).toContain("&lt;topic 99&gt;");
  expect(svg).not.toContain("topic 100");
  expect(svg).toContain(">33<");
  expect(svg).toContain("and 30 more rows: see the CSV file");
  expect(scene.height).toBeGreaterThan(100 * 22);
  const wide = tableScene("w", { columns: Array.from({ length: 20 }, (_, i) => `c${i}`), rows: [] });
  expect(toSvg(wide, plain)).toContain("and 8 more columns");
});

test("small pictures stand in rows", () => {
  const one = { width: 100, height: 50, marks: [] };
  const scene = gridOf([one, one, one], 2, 10);
  expect([scene.width, scene.height]).toEqual([210, 110]);
  expect(scene.marks.map((mark) => mark.attributes.transform)).toEqual([
    "translate(0 0)",
    "translate(110 0)",
    "translate(0 60)",
  ]);
  expect(gridOf([one], 4).width).toBe(100);
});
