// Text to words as the program does it: Unicode words, lower case, straight apostrophes, a letter or emoji in each.

export interface Token {
  word: string;
  start: number;
  end: number;
}

interface Tokenizer {
  lowercase: boolean;
  min_length: number;
  ngrams: number;
  stop_words: string[];
}

const LETTER = /\p{Alphabetic}/u;
const EMOJI = /[\u{1f1e6}-\u{1f1ff}\u{1f300}-\u{1faff}\u{2600}-\u{27bf}]/u;

/** Straight apostrophes, and no characters that only change the looks. */
const normalise = (text: string) => text.replace(/[\u2019\u02bc\uff07]/g, "'").replace(/[\ufe0e\ufe0f\u00ad]/g, "");

export function tokenize(text: string, tokenizer: Tokenizer): Token[] {
  const { lowercase, min_length, ngrams } = tokenizer;
  const dropped = new Set(tokenizer.stop_words);
  const segments = new Intl.Segmenter("en", { granularity: "word" }).segment(text);
  const tokens: Token[] = [];
  let recent: Token[] = [];
  for (const { segment, index } of segments) {
    const inner = segment.replace(/^_+|_+$/g, "");
    const emoji = EMOJI.test(inner);
    if (!emoji && !LETTER.test(inner)) continue;
    const word = normalise(lowercase ? inner.toLowerCase() : inner);
    if ((!emoji && [...word].length < min_length) || dropped.has(word.toLowerCase())) continue;
    const start = index + segment.indexOf(inner);
    const token = { word, start, end: start + inner.length };
    tokens.push(token);
    // Words that follow each other are joined, longest last.
    let joined = token;
    for (const before of recent.toReversed()) {
      joined = { word: `${before.word}_${joined.word}`, start: before.start, end: token.end };
      tokens.push(joined);
    }
    recent = ngrams > 1 ? [...recent, token].slice(1 - ngrams) : [];
  }
  return tokens;
}
