// Distance matrix and dendrogram with the same order of topics.
import { scaleLinear } from "d3-scale";
import { fit, line, type Mark, path, r, rect, type Scene, text, textWidth } from "./scene.ts";

export type Merge = [a: number, b: number, height: number];

export const distanceAt = (full: number[][], a: number, b: number) =>
  a === b ? 0 : a > b ? full[a]![b]! : full[b]![a]!;

const SHADES = 10;

/** Shades by distance, dark is near; one path a shade, so that 200 x 200 cells are ten elements. */
export function matrix(
  full: number[][],
  order: number[],
  chosen: number[],
  width: number,
): Scene & { cell: number; left: number } {
  const n = order.length;
  const cell = width / n;
  const distances = order.flatMap((a, i) => order.slice(0, i).map((b) => distanceAt(full, a, b)));
  const low = Math.min(...distances);
  const high = Math.max(...distances);
  const paths: string[][] = Array.from({ length: SHADES }, () => []);
  order.forEach((a, i) =>
    order.forEach((b, j) => {
      if (i === j) return;
      const shade = Math.min(SHADES - 1, Math.floor(((distanceAt(full, a, b) - low) / (high - low || 1)) * SHADES));
      paths[shade]!.push(`M${r(j * cell)} ${r(i * cell)}h${r(cell)}v${r(cell)}h${r(-cell)}z`);
    }),
  );
  const marks: Mark[] = [rect(0, 0, width, width, "var(--wash)")];
  paths.forEach((cells, shade) => {
    if (cells.length)
      marks.push(
        path(cells.join(""), { fill: "var(--ink)", "fill-opacity": r((1 - (shade + 0.5) / SHADES) ** 1.5 * 10) / 10 }),
      );
  });
  for (const topic of chosen) {
    const i = order.indexOf(topic);
    if (i < 0) continue;
    const frame = { stroke: "var(--accent)", "stroke-width": 1.5 };
    marks.push(rect(0, i * cell, width, cell, "none", frame), rect(i * cell, 0, cell, width, "none", frame));
  }
  return { width, height: width, marks, cell, left: 0 };
}

export interface Leaf {
  topic: number;
  label: string;
  colour: string;
  chosen: boolean;
}

/** A tree from left (leaves) to right (one cluster), cut at `cut`. */
export function dendrogram(leaves: Leaf[], merges: Merge[], width: number, row: number, cut: number | null): Scene {
  const top = 8;
  const labels = row >= 11 ? Math.min(230, width * 0.42) : 0;
  const size = Math.min(12, row - 1);
  const most = Math.max(1e-9, ...merges.map((merge) => merge[2]));
  const x = scaleLinear([0, most], [labels + 8, width - 10]);
  const height = top + leaves.length * row + 26;
  const at = new Map<number, { x: number; y: number }>();
  const marks: Mark[] = [];
  leaves.forEach((leaf, i) => {
    const y = top + i * row + row / 2;
    at.set(leaf.topic, { x: labels + 8, y });
    if (!labels) return;
    const name = fit(leaf.label, size, labels - 4);
    marks.push({
      ...text(labels + 2, y + size * 0.36, name, {
        "font-size": size,
        "text-anchor": "end",
        "font-weight": leaf.chosen ? 650 : 400,
        fill: leaf.chosen ? (leaf.colour === "var(--bar)" ? "var(--ink)" : leaf.colour) : "var(--ink)",
      }),
      topic: leaf.topic,
      hint: `${leaf.label.slice(0, 200)} (topic ${leaf.topic})`,
    });
  });
  const n = merges.length + 1;
  merges.forEach(([a, b, h], i) => {
    const [p, q] = [at.get(a), at.get(b)];
    if (!p || !q) return;
    const joined = cut !== null && h <= cut;
    const stroke = joined ? "var(--accent)" : "var(--ink-3)";
    marks.push(
      path(`M${r(p.x)} ${r(p.y)}H${r(x(h))}V${r(q.y)}H${r(q.x)}`, {
        fill: "none",
        stroke,
        "stroke-width": joined ? 1.8 : 1.1,
      }),
    );
    at.set(n + i, { x: x(h), y: (p.y + q.y) / 2 });
  });
  for (const tick of x.ticks(4)) {
    marks.push(
      text(Math.min(x(tick), width - 12), height - 4, String(tick), {
        "font-size": 11,
        fill: "var(--ink-2)",
        "text-anchor": "middle",
      }),
    );
    marks.push(line(x(tick), height - 18, x(tick), height - 22, "var(--ink-3)"));
  }
  if (cut !== null) {
    marks.push(line(x(cut), 2, x(cut), height - 18, "var(--accent)", { "stroke-dasharray": "4 3" }));
    const name = `cut at ${cut.toFixed(2)}`;
    const end = x(cut) + textWidth(name, 11) + 6 > width;
    marks.push(
      text(x(cut) + (end ? -4 : 4), 10, name, {
        "font-size": 11,
        fill: "var(--accent)",
        "text-anchor": end ? "end" : "start",
        stroke: "var(--paper)",
        "stroke-width": 3,
        "paint-order": "stroke",
      }),
    );
  }
  return { width, height, marks };
}

/** Clusters of leaves that are joined at or below `cut`, singletons left out. Leaf i is topic i. */
export function clusters(merges: Merge[], cut: number): number[][] {
  const n = merges.length + 1;
  const members = new Map<number, number[]>();
  for (let i = 0; i < n; i++) members.set(i, [i]);
  merges.forEach(([a, b, height], i) => {
    const [p, q] = [members.get(a), members.get(b)];
    if (height > cut || !p || !q) return;
    members.set(n + i, [...p, ...q]);
    members.delete(a);
    members.delete(b);
  });
  return [...members.values()].filter((list) => list.length > 1);
}
