// Shares of a topic by group: a dot with its interval in every row, around the line of all groups together.
import { scaleLinear } from "d3-scale";
import { count, percent, percentTick } from "./numbers.ts";
import { circle, fit, line, type Mark, type Scene, text } from "./scene.ts";

export interface Dot {
  name: string;
  documents: number;
  value: number;
  low: number;
  high: number;
}

const ROW = 24;

export function dotPlot(rows: Dot[], overall: number, width: number, colour: string): Scene {
  const labels = Math.min(190, width * 0.34);
  const high = Math.max(overall, ...rows.map((row) => row.high)) * 1.04;
  const x = scaleLinear([0, high || 1], [labels + 10, width - 16]);
  const height = rows.length * ROW + 40;
  const marks: Mark[] = x
    .ticks(Math.max(2, Math.floor((width - labels) / 90)))
    .flatMap((tick) => [
      line(x(tick), 18, x(tick), height - 20, "var(--rule)"),
      text(x(tick), height - 5, percentTick(tick), { "font-size": 11, fill: "var(--ink-2)", "text-anchor": "middle" }),
    ]);
  marks.push(line(x(overall), 14, x(overall), height - 20, "var(--ink-2)", { "stroke-dasharray": "4 3" }));
  const nearRight = x(overall) > width - 70;
  marks.push(
    text(x(overall) + (nearRight ? 2 : -2), 10, "all documents", {
      "font-size": 11,
      fill: "var(--ink-2)",
      "text-anchor": nearRight ? "end" : "middle",
    }),
  );
  rows.forEach((row, i) => {
    const y = 20 + i * ROW + ROW / 2;
    const apart = row.low > overall || row.high < overall;
    marks.push({
      tag: "g",
      attributes: {},
      hint: `${row.name.slice(0, 200)}: ${percent(row.value)}, between ${percent(row.low)} and ${percent(row.high)}; ${count(row.documents)} documents`,
      children: [
        text(labels, y + 4, fit(row.name, 12.5, labels), { "font-size": 12.5, "text-anchor": "end" }),
        line(x(row.low), y, x(row.high), y, colour, { "stroke-width": 2.5, opacity: 0.55 }),
        // Filled: the interval leaves out the share of all documents.
        circle(x(row.value), y, 4.5, apart ? colour : "var(--paper)", { stroke: colour, "stroke-width": 1.8 }),
      ],
    });
  });
  return { width, height, marks };
}
