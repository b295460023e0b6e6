// Tables and small multiples as pictures, for views that are not drawn as one.
import type { Cell, Table } from "../data/table.ts";
import { short } from "./numbers.ts";
import { fit, line, type Mark, type Scene, text, textWidth } from "./scene.ts";

/** Rows and columns beyond these are named, and left to the CSV file. */
const MOST_ROWS = 100;
const MOST_COLUMNS = 12;
const WIDEST = 420;
const ROW = 22;
const SIZE = 12.5;
const GAP = 16;
const TOP = 34;
const MARGIN = 10;

const written = (cell: Cell) => (cell === null ? "–" : typeof cell === "number" ? short(cell) : cell);

/** The numbers behind a view as a picture of a table. */
export function tableScene(title: string, { columns, rows }: Table): Scene {
  const heads = columns.slice(0, MOST_COLUMNS);
  const body = rows.slice(0, MOST_ROWS).map((row) => row.slice(0, MOST_COLUMNS));
  const marks: Mark[] = [text(MARGIN, 22, title, { "font-size": 15, "font-weight": 600 })];
  let x = MARGIN;
  heads.forEach((head, column) => {
    const cells = body.map((row) => written(row[column] ?? null));
    const isNumber = body.some((row) => typeof row[column] === "number");
    const width = Math.min(WIDEST, Math.max(...[head, ...cells].map((cell) => textWidth(cell.slice(0, 300), SIZE))));
    const at = isNumber ? x + width : x;
    const anchor = { "font-size": SIZE, "text-anchor": isNumber ? "end" : "start" };
    marks.push(text(at, TOP + 14, fit(head, SIZE, width), { ...anchor, fill: "var(--ink-2)" }));
    cells.forEach((cell, row) => marks.push(text(at, TOP + 14 + (row + 1) * ROW, fit(cell, SIZE, width), anchor)));
    x += width + GAP;
  });
  const width = Math.ceil(Math.max(320, x));
  marks.push(line(MARGIN, TOP + ROW - 2, width - MARGIN, TOP + ROW - 2, "var(--rule)"));
  const more = [
    rows.length > MOST_ROWS ? `${rows.length - MOST_ROWS} more rows` : "",
    columns.length > MOST_COLUMNS ? `${columns.length - MOST_COLUMNS} more columns` : "",
  ].filter(Boolean);
  let height = TOP + (body.length + 1) * ROW + 10;
  if (more.length) {
    marks.push(text(MARGIN, height + 6, `and ${more.join(" and ")}: see the CSV file`, { fill: "var(--ink-2)" }));
    height += 20;
  }
  return { width, height, marks };
}

/** Pictures of one size in rows, as one picture. */
export function gridOf(scenes: Scene[], columns: number, gap = 20): Scene {
  const [width, height] = [scenes[0]?.width ?? 1, scenes[0]?.height ?? 1];
  const at = (i: number) => `translate(${(i % columns) * (width + gap)} ${Math.floor(i / columns) * (height + gap)})`;
  return {
    width: Math.min(columns, scenes.length || 1) * (width + gap) - gap,
    height: Math.max(1, Math.ceil(scenes.length / columns)) * (height + gap) - gap,
    marks: scenes.map((scene, i): Mark => ({ tag: "g", attributes: { transform: at(i) }, children: scene.marks })),
  };
}
