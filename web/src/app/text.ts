// Text of documents, cut into pieces that views can draw.

/** Words of a corpus may be megabytes long; nobody reads more than this in a label. */
export const clip = (text: string, most = 120) => (text.length > most ? `${text.slice(0, most)}…` : text);

export interface Piece {
  text: string;
  topic: number | null;
}

type Span = [start: number, end: number, topic: number];

/** The text from `from` to `to`, cut at the edges of spans. */
export function pieces(text: string, spans: readonly Span[], from = 0, to = text.length): Piece[] {
  const all: Piece[] = [];
  let place = from;
  for (const [start, end, topic] of spans) {
    if (end <= place) continue;
    if (start >= to || place >= to) break;
    if (start > place) all.push({ text: text.slice(place, start), topic: null });
    all.push({ text: text.slice(Math.max(start, place), Math.min(end, to)), topic });
    place = Math.min(end, to);
  }
  if (place < to) all.push({ text: text.slice(place, to), topic: null });
  return all;
}

/** The beginning of the word at or before `place`; a word of megabytes is cut anyway. */
export function wordStart(text: string, place: number): number {
  const space = text.lastIndexOf(" ", place);
  return place - space > 60 ? place : space + 1;
}

/** Where a snippet of about `length` characters should begin: where most words of `wanted` topics stand. */
export function snippetStart(
  text: string,
  spans: readonly Span[],
  wanted: (topic: number) => boolean,
  length: number,
): number {
  if (text.length <= length) return 0;
  const hits = spans.filter(([, , topic]) => wanted(topic));
  let best = 0;
  let most = 0;
  for (let i = 0, j = 0; i < hits.length; i++) {
    while (j < hits.length && hits[j]![1] <= hits[i]![0] + length) j++;
    if (j - i > most) [most, best] = [j - i, hits[i]![0]];
  }
  if (best < length / 3) return 0;
  return wordStart(text, Math.max(0, best - 20));
}

/** With a capital letter at its beginning and a full stop at its end. */
export const sentence = (text: string) =>
  text ? text[0]!.toUpperCase() + text.slice(1) + (/[.!?`]$/.test(text) ? "" : ".") : "";
