// Text to words by the second edition of the rules (corpus/text/words.rs). A group is what stands together without a
// blank or a bracket: well-known, fed's, U.S, covid-19, 3.14.
import { Addresses } from "./addresses.ts";
import * as characters from "./characters.ts";
import type { Place } from "./placed.ts";
import { eachKnown, eachPair } from "./segments.ts";

const { isAlphabetic, isNumeric, role } = characters;

/** Words of more characters are taken for ids. */
const LONGEST_WORD = 64;
/** Digits that a word with letters may have (mp3, covid19), and changes between both (h1n1). */
const MOST_DIGITS = 3;
const MOST_CHANGES = 3;
/** Digits after a hyphen that belong to the word before it (covid-19, boeing-747). */
const MOST_DIGITS_AFTER_HYPHEN = 4;

export interface Manner {
  dropsAddresses: boolean;
  /** Whether an apostrophe ends a word of its own, as in French (l'homme). */
  elides: boolean;
  /** Whether words of scripts without blanks are those of a dictionary. */
  hasDictionary: boolean;
}

export type Visit = (word: string, place: Place, isEmoji: boolean) => void;

/** Calls `visit` for every word and emoji, in order. */
export function eachWord(text: string, manner: Manner, visit: Visit) {
  const addresses = new Addresses(text);
  const spans = manner.hasDictionary ? eachKnown : eachPair;
  for (let at = 0; at < text.length;) {
    const character = characters.characterAt(text, at);
    const start = at;
    at += character.length;
    const part = role(character);
    if (part === "word") {
      const end = groupEnd(text, start);
      const addressEnd = manner.dropsAddresses ? addresses.end(start, end) : null;
      if (addressEnd === null) new Group(text, start, end, manner.elides, visit).split();
      at = addressEnd ?? end;
    } else if (part === "unspaced") {
      at = characters.runEnd(text, start, (next) => characters.isUnspaced(next) || characters.isMark(next));
      spans(text.slice(start, at), (from, to) =>
        visit(text.slice(start + from, start + to), { start: start + from, end: start + to }, false),
      );
    } else if (part === "emoji") {
      at = characters.runEnd(text, start, characters.continuesEmoji);
      for (const { segment, index } of graphemes(text.slice(start, at)))
        visit(segment, { start: start + index, end: start + index + segment.length }, true);
    }
  }
}

/** Characters that are looked at together for what belongs together: the time of browsers grows with the square. */
const WINDOW = 256;

/** What a run of emoji falls into, with the places. */
function* graphemes(run: string): Generator<{ segment: string; index: number }> {
  const segmenter = new Intl.Segmenter("en", { granularity: "grapheme" });
  for (let at = 0, size = WINDOW; at < run.length;) {
    const isLast = at + size >= run.length;
    const found = [...segmenter.segment(run.slice(at, at + size))];
    // The last one may go on behind the window.
    const sure = isLast ? found : found.slice(0, -1);
    for (const { segment, index } of sure) yield { segment, index: at + index };
    if (isLast) return;
    size = sure.length ? WINDOW : 2 * size;
    at += sure.length ? found.at(-1)!.index : 0;
  }
}

/** Where the group ends that begins at `start`. */
function groupEnd(text: string, start: number): number {
  let end = start;
  let last = "";
  let joined = false;
  for (let at = start; at < text.length;) {
    const character = characters.characterAt(text, at);
    at += character.length;
    const part = role(character);
    if (part === "word") {
      if (joined && (last === "," || last === ":") && !isNumeric(character)) break;
      end = at;
      [last, joined] = [character, false];
    } else if ((part === "joiner" && !joined) || (part === "digit-joiner" && !joined && isNumeric(last))) {
      [last, joined] = [character, true];
    } else if (part !== "invisible") break;
  }
  return end;
}

const bytes = (text: string) => new TextEncoder().encode(text).length;
const all = (text: string, is: (character: string) => boolean) => [...text].every(is);

/** A group as it is meant: without what cannot be seen, with straight apostrophes and plain hyphens. */
class Group {
  private text = "";
  /** Where each unit of it stands, and where it ends. */
  private places: number[] = [];

  constructor(
    whole: string,
    start: number,
    end: number,
    private elides: boolean,
    private visit: Visit,
  ) {
    for (let at = start; at < end;) {
      const character = characters.characterAt(whole, at);
      if (role(character) !== "invisible") {
        const meant = characters.plain(character);
        this.text += meant;
        for (let unit = 0; unit < meant.length; unit++) this.places.push(at);
      }
      at += character.length;
    }
    this.places.push(end);
  }

  split() {
    const { text } = this;
    if (all(text, (character) => isNumeric(character) || !isAlphabetic(character))) return;
    // U.S, e.g: letters with points are one word; elsewhere a point was meant to end a sentence.
    const isInitial = (part: string) => [...part].length === 1 && isAlphabetic(part);
    if (text.includes(".") && bytes(text) <= LONGEST_WORD && text.split(".").every(isInitial))
      return this.take(0, text.length);
    for (const [start, end] of parts(text, 0, /[.,:]/)) this.hyphens(start, end);
  }

  /** Words with a hyphen, or with `&`, between them. */
  private hyphens(start: number, end: number) {
    const text = this.text.slice(start, end);
    const inner = parts(text, start, /[-&]/);
    const count = text.split(/[-&]/).length - 1;
    if (count > 0 && inner.some(([from, to]) => kind(this.text.slice(from, to)) === "id")) return;
    const [first, second] = text.split(/[-&]/);
    if (count === 1 && belongTogether(first!, second!)) return this.take(start, end);
    for (const [from, to] of inner) this.apostrophes(from, to);
  }

  private apostrophes(start: number, end: number) {
    const text = this.text.slice(start, end);
    const isParted = this.elides && text.includes("'") && text.toLowerCase() !== "aujourd'hui";
    for (const [from, to] of isParted ? parts(text, start, /'/) : [[start, end] as const]) this.word(from, to);
  }

  private word(start: number, end: number) {
    while (start < end && this.text[start] === "_") start++;
    while (end > start && this.text[end - 1] === "_") end--;
    if (kind(this.text.slice(start, end)) === "word") this.take(start, end);
  }

  private take(start: number, end: number) {
    this.visit(this.text.slice(start, end), { start: this.places[start]!, end: this.places[end]! }, false);
  }
}

/** The parts of a text between characters, without empty ones; places count from `first`. */
function parts(text: string, first: number, between: RegExp): [number, number][] {
  const found: [number, number][] = [];
  let at = first;
  for (const part of text.split(between)) {
    if (part) found.push([at, at + part.length]);
    at += part.length + 1;
  }
  return found;
}

/** Whether two words with a hyphen between them are one: covid-19, e-mail, t-shirt, r&d. */
function belongTogether(first: string, second: string): boolean {
  const [before, after] = [[...first].length, [...second].length];
  if (!all(first, isAlphabetic)) return false;
  return (
    (all(second, isNumeric) && after <= MOST_DIGITS_AFTER_HYPHEN) ||
    (all(second, isAlphabetic) && (before === 1 || after === 1))
  );
}

/** What a piece without joiners is. */
function kind(piece: string): "word" | "number" | "id" | "nothing" {
  let [letters, digits, changes] = [0, 0, 0];
  let last: boolean | null = null;
  for (const character of piece) {
    const isDigit = isNumeric(character);
    if (!isDigit && !isAlphabetic(character)) continue;
    if (last !== null && last !== isDigit) changes++;
    last = isDigit;
    if (isDigit) digits++;
    else letters++;
  }
  if (!letters) return digits ? "number" : "nothing";
  return digits > MOST_DIGITS || changes > MOST_CHANGES || letters + digits > LONGEST_WORD ? "id" : "word";
}
