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
  return start.slice(0, 10);
}

export interface Course {
  x: number;
  y: number;
  low: number;
  high: number;
}

/** Shares of a shown topic with their intervals; merged topics add up, and so do their ends: at most too wide. */
export function course(timeline: Timeline, topic: DisplayTopic): Course[] {
  const rows = (of: (number | null)[][]) => sumRows(topic.members.map((id) => of[id]!));
  const [share, low, high] = [rows(timeline.shares), rows(timeline.low), rows(timeline.high)];
  return timeline.starts.flatMap((start, i) =>
    share[i] === null
      ? []
      : [{ x: Date.parse(start), y: share[i]!, low: low[i] ?? share[i]!, high: Math.min(1, high[i] ?? share[i]!) }],
  );
}

export interface Turn {
  x: number;
  mark: string;
  name: string;
}

/** Below this part of its own peak a topic counts as absent. */
const ABSENT = 0.1;

/** Births and deaths: the first period with the topic after periods without it, and the other way round. */
export function turns(points: Course[]): Turn[] {
  const peak = Math.max(...points.map((point) => point.y));
  const present = points.map((point) => point.y >= ABSENT * peak);
  const first = present.indexOf(true);
  const last = present.lastIndexOf(true);
  const found: Turn[] = [];
  if (first > 0) found.push({ x: points[first]!.x, mark: "▲", name: "appears: below a tenth of its peak before" });
  if (last >= 0 && last < points.length - 1)
    found.push({ x: points[last + 1]!.x, mark: "▼", name: "fades: below a tenth of its peak from here on" });
  return found;
}

export interface Moved {
  word: string;
  before: number;
  after: number;
  /** Difference in standard errors. */
  z: number;
}

/** Words of a topic by how surely their rate changed between two periods. */
export function moved(report: Report, trends: WordTrends, from: number, to: number): Moved[] {
  const [n, m] = [trends.tokens[from] ?? 0, trends.tokens[to] ?? 0];
  if (!n || !m) return [];
  return trends.words
    .map((word, i) => {
      const [a, b] = [trends.counts[i]![from]!, trends.counts[i]![to]!];
      // Two proportions with half a token added to each, so that no count is zero.
      const [p, q] = [(a + 0.5) / (n + 1), (b + 0.5) / (m + 1)];
      const z = (q - p) / Math.sqrt((p * (1 - p)) / n + (q * (1 - q)) / m);
      return { word: report.words.text[word]!, before: a / n, after: b / m, z };
    })
    .sort((a, b) => b.z - a.z);
}
