// Labelled bars with an optional interval: topics of a word, mixtures.
import { percent } from "./numbers.ts";
import { fit, line, type Mark, rect, type Scene, text } from "./scene.ts";

export interface Bar {
  topic: number;
  label: string;
  value: number;
  low?: number;
  high?: number;
  colour: string;
  letter: string;
}

export interface BarsOptions {
  /** The value at the end of the scale; without it the largest one. */
  most?: number;
  format?: (value: number) => string;
}

const ROW = 22;

export function bars(rows: Bar[], width: number, { most, format = percent }: BarsOptions = {}): Scene {
  const labels = Math.min(260, width * 0.45);
  const numbers = 56;
  const room = width - labels - numbers - 10;
  const scale = room / Math.max(1e-12, most ?? Math.max(...rows.map((row) => row.high ?? row.value)));
  const marks = rows.map((row, i): Mark => {
    const y = i * ROW;
    const end = labels + 8 + row.value * scale;
    const whisker =
      row.low === undefined || row.high === undefined
        ? []
        : [
            line(
              labels + 8 + Math.max(0, row.low) * scale,
              y + 11,
              labels + 8 + Math.min(row.high * scale, room),
              y + 11,
              "var(--ink)",
            ),
            line(
              labels + 8 + Math.max(0, row.low) * scale,
              y + 8,
              labels + 8 + Math.max(0, row.low) * scale,
              y + 14,
              "var(--ink)",
            ),
            line(
              labels + 8 + Math.min(row.high * scale, room),
              y + 8,
              labels + 8 + Math.min(row.high * scale, room),
              y + 14,
              "var(--ink)",
            ),
          ];
    const name = row.letter ? `${row.letter} · ${row.label}` : row.label;
    return {
      tag: "g",
      attributes: {},
      topic: row.topic,
      hint: `${row.label.slice(0, 200)} (topic ${row.topic}): ${format(row.value)}`,
      children: [
        rect(0, y, width, ROW, "transparent"),
        text(labels, y + 15, fit(name, 12.5, labels), { "font-size": 12.5, "text-anchor": "end" }),
        rect(labels + 8, y + 5, Math.max(1, end - labels - 8), 12, row.colour),
        ...whisker,
        text(width - 2, y + 15, format(row.value), { "font-size": 12, "text-anchor": "end" }),
      ],
    };
  });
  return { width, height: Math.max(ROW, rows.length * ROW), marks };
}
