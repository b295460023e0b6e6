// Words of a topic: all uses of a word in grey, those in the topic in colour on top, as in LDAvis.
import type { RankedWord } from "../data/display.ts";
import { percent } from "./numbers.ts";
import { fit, type Mark, rect, type Scene, text } from "./scene.ts";

const ROW = 19;
const TOP = 22;

export function wordBars(rows: RankedWord[], share: number, width: number, colour: string): Scene {
  const longest = Math.min(150, width * 0.3);
  const left = longest + 8;
  const right = width < 420 ? 62 : 124;
  const scale = (width - left - right) / Math.max(1e-12, ...rows.map((row) => row.overall));
  const muted = { "font-size": 11, fill: "var(--ink-2)", "text-anchor": "end" };
  const marks: Mark[] = [
    text(left, 12, "uses in the topic, within all uses", { "font-size": 11, fill: "var(--ink-2)" }),
    text(width - (right > 100 ? 66 : 4), 12, "in topic", muted),
  ];
  if (right > 100) marks.push(text(width - 2, 12, "of its uses", muted));
  rows.forEach((row, i) => {
    const y = TOP + i * ROW;
    const inTopic = Math.min(row.overall, row.weight * share);
    marks.push({
      tag: "g",
      attributes: {},
      key: String(row.word),
      hint: `${row.text.slice(0, 200)}: ${percent(row.weight)} of the topic, ${percent(row.overall)} of all words`,
      children: [
        rect(0, y, width, ROW, "transparent"),
        text(longest, y + 13, fit(row.text, 12.5, longest), { "font-size": 12.5, "text-anchor": "end" }),
        rect(left, y + 4, row.overall * scale, 11, "var(--bar)"),
        rect(left, y + 4, Math.max(1, inTopic * scale), 11, colour),
        text(width - (right > 100 ? 66 : 4), y + 13, percent(row.weight), { ...muted, fill: "var(--ink)" }),
        ...(right > 100 ? [text(width - 2, y + 13, percent(row.part), muted)] : []),
      ],
    });
  });
  return { width, height: TOP + rows.length * ROW + 4, marks };
}
