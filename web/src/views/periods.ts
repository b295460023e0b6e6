// Periods of a timeline as the views show them.
import type { DisplayTopic } from "../data/display.ts";
import { sumRows } from "../data/display.ts";
import type { Report, Timeline, WordTrends } from "../data/report.ts";

/** The name of a period, as short as its length allows. */
export function periodName(start: string, by: string): string {
  if (by === "year") return start.slice(0, 4);
  if (by === "month") return start.slice(0, 7);
  if (by === "quarter") return `${start.slice(0, 4)} Q${Math.floor((Number(start.slice(5, 7)) - 1) / 3) + 1}`;
  if (by === "hour") return start.slice(0, 16).replace("T", " ");
  if (by === "period") return start.slice(0, 19).replace("T", " ");
  return start.slice(0, 10);
}

export interface Course {
  x: number;
  y: number;
  low: number;
  high: number;
  /** Whether there is a period without documents before it. */
  broken: boolean;
}

/** Shares of a shown topic with their intervals; merged topics add up, and so do their ends: at most too wide. */
export function course(timeline: Timeline, topic: DisplayTopic): Course[] {
  const rows = (of: (number | null)[][]) => sumRows(topic.members.map((id) => of[id]!));
  const [share, low, high] = [rows(timeline.shares), rows(timeline.low), rows(timeline.high)];
  const times = timeline.starts.map((start) => Date.parse(start));
  // A service leaves out periods without documents.
  const length = Math.min(...times.slice(1).map((time, i) => time - times[i]!));
  const isBroken = (i: number) =>
    i > 0 && (share[i - 1] === null || (timeline.by === "period" && times[i]! - times[i - 1]! > 1.5 * length));
  return times.flatMap((x, i) =>
    share[i] === null
      ? []
      : [{ x, y: share[i]!, low: low[i] ?? share[i]!, high: Math.min(1, high[i] ?? share[i]!), broken: isBroken(i) }],
  );
}

export interface Turn {
  x: number;
  mark: string;
  name: string;
}

/** Births and deaths: at the beginning or end, for a tenth of the periods, the topic is surely below half its mean share. */
export function turns(points: Course[]): Turn[] {
  const mean = points.reduce((sum, point) => sum + point.y, 0) / (points.length || 1);
  const present = points.map((point) => point.high >= mean / 2);
  const least = Math.max(2, points.length / 10);
  const first = present.indexOf(true);
  const last = present.lastIndexOf(true);
  const found: Turn[] = [];
  if (first >= least)
    found.push({ x: points[first]!.x, mark: "▲", name: "appears: surely below half its mean share before" });
  if (last >= 0 && points.length - 1 - last >= least) {
    found.push({ x: points[last + 1]!.x, mark: "▼", name: "fades: surely below half its mean share from here on" });
  }
  return found;
}

/** How many periods are taken together at each end when words are compared: single ones have too few documents. */
export const windowOf = (periods: number) => Math.max(1, Math.floor(periods / 6));

export interface Moved {
  word: string;
  before: number;
  after: number;
  /** Difference in standard errors. */
  z: number;
}

/** Words of a topic by how surely their rate changed, from the periods that begin with `from` to those that end with `to`. */
export function moved(report: Report, trends: WordTrends, from: number, to: number): Moved[] {
  const wide = windowOf(trends.tokens.length);
  const sum = (values: number[], start: number) =>
    values.slice(Math.max(0, start), start + wide).reduce((x, y) => x + y, 0);
  const before = (values: number[]) => sum(values, from);
  const after = (values: number[]) => sum(values, Math.max(0, to - wide + 1));
  const [n, m] = [before(trends.tokens), after(trends.tokens)];
  if (!n || !m) return [];
  return trends.words
    .map((word, i) => {
      const [a, b] = [before(trends.counts[i]!), after(trends.counts[i]!)];
      // Two proportions with half a token added to each, so that no count is zero.
      const [p, q] = [(a + 0.5) / (n + 1), (b + 0.5) / (m + 1)];
      const z = (q - p) / Math.sqrt((p * (1 - p)) / n + (q * (1 - q)) / m);
      return { word: report.words.text[word]!, before: a / n, after: b / m, z };
    })
    .sort((a, b) => b.z - a.z);
}
