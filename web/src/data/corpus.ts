// The documents of a report: columns to read at once, texts that arrive later.
import type { DocumentText, Documents, Groups } from "./report.ts";

export type Span = [start: number, end: number, topic: number];
export type Theta = [topic: number, mean: number, deviation: number][];

export class Corpus {
  readonly texts: DocumentText[] = [];
  readonly groupNames: string[];

  constructor(
    readonly facts: Documents,
    groups: Groups | null | undefined,
  ) {
    this.groupNames = groups?.names ?? [];
  }

  get length(): number {
    return this.facts.places.length;
  }
  add(texts: DocumentText[]): void {
    for (const text of texts) this.texts.push(text);
  }
  /** Its own name, or its place in the input. */
  id(document: number): string {
    return this.facts.ids[document] || `document ${this.facts.places[document]}`;
  }
  /** Null until it is unpacked. */
  text(document: number): DocumentText | null {
    return this.texts[document] ?? null;
  }
  /** Seconds since 1970. */
  time(document: number): number | null {
    return this.facts.times?.[document] ?? null;
  }
  day(document: number): string {
    const time = this.time(document);
    return time === null ? "" : new Date(time * 1000).toISOString().slice(0, 10);
  }
  group(document: number): number | null {
    return this.facts.groups?.[document] ?? null;
  }
  groupName(document: number): string {
    return this.groupNames[this.group(document) ?? -1] ?? "";
  }
  theta(document: number): Theta {
    const { starts, topics, shares, deviations } = this.facts.mixtures;
    const theta: Theta = [];
    for (let i = starts[document]!; i < starts[document + 1]!; i++)
      theta.push([topics[i]!, shares[i]!, deviations[i]!]);
    return theta;
  }
  spans(document: number): Span[] {
    return spansOf(this.text(document)?.tokens ?? []);
  }
}

/** From distances and lengths to places in the text. */
export function spansOf(tokens: number[]): Span[] {
  const spans: Span[] = [];
  let end = 0;
  for (let i = 0; i + 2 < tokens.length; i += 3) {
    const start = end + tokens[i]!;
    end = start + tokens[i + 1]!;
    spans.push([start, end, tokens[i + 2]!]);
  }
  return spans;
}
