// Text to tokens as the program does it (corpus/text/tokenizer.rs and cutter.rs), by the rules that the model keeps.
// tests/unit/words.json holds what the program makes of many texts; it is compared here and there.
import type { TryTable } from "../report.ts";
import { hasEmoji, isAlphabetic, isUnspaced } from "./characters.ts";
import { stripped } from "./markup.ts";
import { normalised, type Place, type Placed } from "./placed.ts";
import { eachWord } from "./words.ts";

export type Rules = Pick<
  TryTable,
  | "lowercase"
  | "min_length"
  | "ngrams"
  | "stop_words"
  | "rules"
  | "html"
  | "keep_urls"
  | "language"
  | "segmentation"
  | "phrases"
  | "stems"
>;

export interface Token extends Place {
  word: string;
}

/** How often markup is looked for in what was written as entities: pages within feeds are written so. */
const MARKUP_LAYERS = 2;
/** Languages that write short words with an apostrophe onto the next one (l'homme). */
const ELIDING = new Set(["fr", "it", "ca", "oc"]);
/** In Turkish and Azerbaijani, I and i are two letters. */
const TURKIC = new Set(["tr", "az"]);

/** The tokens of a text. */
export function tokenize(text: string, rules: Rules): Token[] {
  const layers = cleaned(text, rules);
  const clean = layers.at(-1)?.text ?? text;
  const cutter = new Cutter(clean, layers, rules);
  if (rules.rules === "first") eachOldWord(clean, (word, place) => cutter.first(word, place));
  else {
    const manner = {
      dropsAddresses: !rules.keep_urls,
      elides: ELIDING.has(rules.language ?? ""),
      hasDictionary: rules.segmentation === "dictionary",
    };
    eachWord(clean, manner, (word, place, isEmoji) => cutter.second(word, place, isEmoji));
  }
  return cutter.end();
}

/** What this page cannot do as the program does it for this text; empty if there is nothing. */
export function notFollowed(text: string, { rules, segmentation, stems }: Rules): string {
  if (stems)
    return "The model reduces words to their stems. The page does not, so most words are unknown here; gibbstream infer knows them.";
  const differs = rules === "first" || segmentation === "dictionary";
  return differs && [...text].some(isUnspaced)
    ? "Chinese, Japanese, Thai, Lao, Burmese and Khmer are cut with the dictionaries of this browser, which are not those of the program: words may differ."
    : "";
}

/** The text without markup and in its normal form, step by step; no steps if nothing has to be changed. */
function cleaned(text: string, { html, rules }: Rules): Placed[] {
  const layers: Placed[] = [];
  const current = () => layers.at(-1)?.text ?? text;
  for (let layer = 0; layer < MARKUP_LAYERS && html !== "keep" && /[<&]/.test(current()); layer++) {
    const { placed, mayHideMore } = stripped(current(), html === "strip");
    layers.push(placed);
    if (!mayHideMore) break;
  }
  const normal = rules === "second" ? normalised(current()) : null;
  return normal ? [...layers, normal] : layers;
}

/** The first edition of the rules: the word breaks of Unicode. */
function eachOldWord(text: string, visit: (word: string, place: Place) => void) {
  const segmenter = new Intl.Segmenter("en", { granularity: "word" });
  // Between blanks, because the time of browsers grows with the square of the length.
  for (const { 0: part, index: first } of text.matchAll(/\S+/g)) {
    for (const { segment, index } of segmenter.segment(part)) {
      const inner = segment.replace(/^_+|_+$/g, "");
      const start = first + index;
      if (hasEmoji(inner) || [...inner].some(isAlphabetic)) visit(inner, { start, end: start + segment.length });
    }
  }
}

const turkic = (word: string) => word.replaceAll("I", "ı").replaceAll("İ", "i").toLowerCase();
/** Straight apostrophes, and no characters that only change the looks. */
const straightened = (word: string) => word.replace(/[\ufe0e\ufe0f\u00ad]/g, "").replace(/[\u2019\u02bc\uff07]/g, "'");

/** Pieces of text to tokens: case, apostrophes, length, stop words, phrases, joined words. */
class Cutter {
  private tokens: Token[] = [];
  private stopWords: Set<string>;
  private phrases: Set<string>;
  /** Words that came last, for joining. */
  private recent: Token[] = [];
  /** A word that may begin a phrase. */
  private waiting: Token | null = null;

  constructor(
    private text: string,
    private layers: Placed[],
    private rules: Rules,
  ) {
    this.stopWords = new Set(rules.stop_words);
    this.phrases = new Set(rules.phrases);
  }

  first(piece: string, place: Place) {
    const word = straightened(this.rules.lowercase ? piece.toLowerCase() : piece);
    if ((hasEmoji(piece) || !this.isShort(word)) && !this.isStopWord(word)) this.keep(word, place);
  }

  second(piece: string, place: Place, isEmoji: boolean) {
    if (isEmoji) {
      const emoji = straightened(piece);
      if (!this.isStopWord(emoji)) this.keep(emoji, place);
      return;
    }
    const { lowercase, language } = this.rules;
    const lower = TURKIC.has(language ?? "") ? turkic : (word: string) => word.toLowerCase();
    let word = lowercase ? lower(piece.trim()) : piece.trim();
    // It's and let's are on lists of stop words as they are.
    if (this.isStopWord(word)) return;
    if (word.length > 2 && /'[sS]$/.test(word)) {
      word = word.slice(0, -2);
      if (this.isStopWord(word)) return;
    }
    if (!this.isShort(word)) this.keep(word, place);
  }

  /** All tokens, with what still waits. */
  end(): Token[] {
    if (this.waiting) this.handOut(this.waiting);
    return this.tokens;
  }

  private isShort(word: string) {
    return [...word].length < this.rules.min_length;
  }

  private isStopWord(word: string) {
    return this.stopWords.has(this.rules.lowercase ? word : word.toLowerCase());
  }

  /** Hands out a word, or lets it wait for one that makes it a phrase. */
  private keep(word: string, place: Place) {
    const token = { word, ...place };
    if (!this.phrases.size) return this.handOut(token);
    const before = this.waiting;
    this.waiting = token;
    if (!before) return;
    const joined = `${before.word}_${word}`;
    if (this.phrases.has(joined) && /^[ \t\n\r-]*$/.test(this.text.slice(before.end, place.start))) {
      this.waiting = null;
      this.handOut({ word: joined, start: before.start, end: place.end });
    } else this.handOut(before);
  }

  private handOut({ word, start, end }: Token) {
    let place: Place = { start, end };
    for (const layer of this.layers.toReversed()) place = layer.original(place);
    const token = { word, ...place };
    this.tokens.push(token);
    // Words that follow each other are joined, longest last.
    let joined = token;
    for (const before of this.recent.toReversed()) {
      joined = { word: `${before.word}_${joined.word}`, start: before.start, end: token.end };
      this.tokens.push(joined);
    }
    this.recent = this.rules.ngrams > 1 ? [...this.recent, token].slice(1 - this.rules.ngrams) : [];
  }
}
