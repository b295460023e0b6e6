// Shares of shown topics by group.
import type { Dot } from "../charts/dots.ts";
import { type DisplayTopic, sumRows } from "../data/display.ts";
import type { Groups } from "../data/report.ts";

/** A row for each group with documents, largest share first. */
export function groupDots(groups: Groups, topic: DisplayTopic): Dot[] {
  const rows = (of: (number | null)[][]) => sumRows(topic.members.map((id) => of[id]!));
  const [share, low, high] = [rows(groups.shares), rows(groups.low), rows(groups.high)];
  return groups.names
    .flatMap((name, g): Dot[] => {
      const value = share[g];
      if (value === null || value === undefined) return [];
      return [
        { name, documents: groups.documents[g]!, value, low: low[g] ?? value, high: Math.min(1, high[g] ?? value) },
      ];
    })
    .sort((a, b) => b.value - a.value);
}

/** Share in all groups together: their means weighted by tokens. */
export function overallShare(groups: Groups, topic: DisplayTopic): number {
  const share = sumRows(topic.members.map((id) => groups.shares[id]!));
  const tokens = groups.tokens.reduce((a, b) => a + b, 0);
  return share.reduce<number>((sum, value, g) => sum + (value ?? 0) * groups.tokens[g]!, 0) / (tokens || 1);
}

/** How far the groups of a topic are apart, in intervals: the largest gap that no two intervals cover, relative to the share. */
export function difference(groups: Groups, topic: DisplayTopic): number {
  const dots = groupDots(groups, topic);
  if (dots.length < 2) return 0;
  const highest = Math.max(...dots.map((dot) => dot.low));
  const lowest = Math.min(...dots.map((dot) => dot.high));
  return Math.max(0, highest - lowest);
}
