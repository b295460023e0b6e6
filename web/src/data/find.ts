// Filters over topics, words and documents.
import type { Corpus } from "./corpus.ts";
import { type Display, type DisplayTopic, shareIn } from "./display.ts";
import type { Report } from "./report.ts";
import { breathe } from "./unpack.ts";

const fold = (text: string) => text.toLowerCase();

/** Topics whose number, label, note or leading words contain what was typed. */
export function findTopics(report: Report, topics: DisplayTopic[], typed: string): DisplayTopic[] {
  const wanted = fold(typed.trim());
  if (!wanted) return topics;
  return topics.filter(
    (topic) =>
      String(topic.id) === wanted ||
      fold(topic.label).includes(wanted) ||
      fold(topic.note).includes(wanted) ||
      topic.words.slice(0, 30).some((word) => report.words.text[word]!.startsWith(wanted)),
  );
}

const columns: Record<string, (topic: DisplayTopic) => number | string> = {
  id: (topic) => topic.id,
  label: (topic) => fold(topic.label),
  share: (topic) => topic.share,
  coherence: (topic) => topic.coherence ?? -Infinity,
  exclusivity: (topic) => topic.exclusivity ?? -Infinity,
  trend: (topic) => trendOf(topic.trend) ?? -Infinity,
};

/** Last third against first third of the periods: what the trend column sorts by. */
export function trendOf(all: (number | null)[] | null): number | null {
  const trend = (all ?? []).filter((share) => share !== null);
  if (trend.length < 3) return null;
  const third = Math.floor(trend.length / 3);
  const mean = (values: number[]) => values.reduce((a, b) => a + b, 0) / values.length;
  return mean(trend.slice(-third)) - mean(trend.slice(0, third));
}

export function sortTopics(topics: DisplayTopic[], sort: string): DisplayTopic[] {
  const descending = sort.startsWith("-");
  const key = columns[sort.replace("-", "")] ?? columns.share!;
  const sign = descending ? -1 : 1;
  return topics
    .map((topic) => ({ topic, value: key(topic) }))
    .sort((a, b) => (a.value < b.value ? -sign : a.value > b.value ? sign : a.topic.id - b.topic.id))
    .map(({ topic }) => topic);
}

/** Words that complete what was typed: those that begin with it first, frequent ones first. */
export function completions(report: Report, typed: string, most: number): number[] {
  const wanted = fold(typed.trim());
  if (!wanted) return [];
  const { text, share } = report.words;
  const begin: number[] = [];
  const inside: number[] = [];
  for (let i = 0; i < text.length; i++) {
    const place = text[i]!.indexOf(wanted);
    if (place === 0) begin.push(i);
    else if (place > 0) inside.push(i);
  }
  const byShare = (a: number, b: number) => share[b]! - share[a]!;
  const exact = (i: number) => (text[i] === wanted ? 0 : 1);
  return [...begin.sort((a, b) => exact(a) - exact(b) || byShare(a, b)), ...inside.sort(byShare)].slice(0, most);
}

export interface DocumentFilter {
  /** Shown topics; a document counts if its share in them together is at least a twentieth. */
  topics: number[];
  text: string;
  group: string;
  from: string;
  to: string;
}

export interface FoundDocument {
  document: number;
  share: number;
}

export const LEAST_SHARE = 0.05;

const LETTER = /[\p{L}\p{N}]/u;

/** Whether `word` stands in `text` (both folded) as a whole word. */
function hasWord(text: string, word: string): boolean {
  for (let at = text.indexOf(word); at >= 0; at = text.indexOf(word, at + 1)) {
    const before = at === 0 || !LETTER.test(text[at - 1]!);
    const behind = at + word.length >= text.length || !LETTER.test(text[at + word.length]!);
    if (before && behind) return true;
  }
  return false;
}

/** A condition on documents for the given filter. `"..."` around the text asks for a whole word. */
export function condition(corpus: Corpus, filter: DocumentFilter): (document: number) => boolean {
  const typed = fold(filter.text.trim());
  const whole = /^"(.+)"$/.exec(typed)?.[1];
  const group = filter.group ? corpus.groupNames.indexOf(filter.group) : -1;
  const from = filter.from ? Date.parse(filter.from) / 1000 : -Infinity;
  // To the end of the day named.
  const to = filter.to ? Date.parse(filter.to) / 1000 + 86_400 : Infinity;
  const inText = (document: number) => {
    const text = fold(corpus.text(document)?.text ?? "");
    return whole ? hasWord(text, whole) : text.includes(typed) || fold(corpus.id(document)).includes(typed);
  };
  return (document) => {
    const time = corpus.time(document);
    const inTime = (!filter.from && !filter.to) || (time !== null && time >= from && time < to);
    return inTime && (!filter.group || corpus.group(document) === group) && (!typed || inText(document));
  };
}

/** Milliseconds of work before the page gets a frame. */
const BUDGET = 16;

/** Documents that pass, largest share in the chosen topics first; null if `stale` said to stop. */
export async function findDocuments(
  corpus: Corpus,
  shown: Display,
  filter: DocumentFilter,
  stale: () => boolean,
): Promise<FoundDocument[] | null> {
  const passes = condition(corpus, filter);
  const found: FoundDocument[] = [];
  let start = performance.now();
  for (let document = 0; document < corpus.length; document++) {
    if (document % 64 === 0 && performance.now() - start > BUDGET) {
      await breathe();
      if (stale()) return null;
      start = performance.now();
    }
    let share = 0;
    for (const topic of filter.topics) share += shareIn(corpus, document, topic, shown);
    if (filter.topics.length && share < LEAST_SHARE) continue;
    if (passes(document)) found.push({ document, share });
  }
  if (filter.topics.length) found.sort((a, b) => b.share - a.share || a.document - b.document);
  return found;
}
