// What characters do in words, as in the program (corpus/text/characters.rs).

/** The part that a character plays. */
export type Role = "word" | "unspaced" | "emoji" | "joiner" | "digit-joiner" | "invisible" | "gap";

const WORD = /[\p{Alphabetic}\p{N}\p{M}_\u200c\u200d]/u;
const JOINER = /['\-.&\u2019\u02bc\uff07\u2010\u2011]/u;
const INVISIBLE = /[\u00ad\u0640\u180e\u200e\u200f\u202a-\u202e\u2060-\u2064\u2066-\u206f\ufeff]|\ufe0e|\ufe0f/u;
/** Chinese, Japanese, Thai, Lao, Burmese, Khmer. */
const UNSPACED = new RegExp(
  "[\\u0e01-\\u0e3a\\u0e40-\\u0e4e\\u0e81-\\u0ece\\u0edc-\\u0edf\\u1000-\\u103f\\u1050-\\u108f\\u1780-\\u17d3\\u17d7" +
    "\\u17dc\\u17dd\\u3005-\\u3007\\u3031-\\u3035\\u3041-\\u309f\\u30a1-\\u30fa\\u30fc-\\u30ff\\u31f0-\\u31ff" +
    "\\u3400-\\u4dbf\\u4e00-\\u9fff\\ua9e0-\\ua9fe\\uaa60-\\uaa7f\\uf900-\\ufaff\\u{20000}-\\u{323af}]",
  "u",
);
const EMOJI = /[\u{1f1e6}-\u{1f1ff}\u{1f300}-\u{1faff}\u{2600}-\u{27bf}]/u;
/** Joiners of emoji, and the choice of a picture. */
const JOINS_EMOJI = /\u200d|\ufe0e|\ufe0f|[\u{e0020}-\u{e007f}]/u;

export const isUnspaced = (character: string) => UNSPACED.test(character);
export const hasEmoji = (text: string) => EMOJI.test(text);
export const continuesEmoji = (character: string) => EMOJI.test(character) || JOINS_EMOJI.test(character);
export const isMark = (character: string) => /\p{M}/u.test(character);
export const isNumeric = (character: string) => /\p{N}/u.test(character);
export const isAlphabetic = (character: string) => /\p{Alphabetic}/u.test(character);
export const isAlphanumeric = (character: string) => isAlphabetic(character) || isNumeric(character);

export function role(character: string): Role {
  if (JOINER.test(character)) return "joiner";
  if (character === "," || character === ":") return "digit-joiner";
  if (INVISIBLE.test(character)) return "invisible";
  if (UNSPACED.test(character)) return "unspaced";
  if (EMOJI.test(character)) return "emoji";
  return WORD.test(character) ? "word" : "gap";
}

/** How characters that are written in several ways become one. */
export const plain = (text: string) => text.replace(/[\u2019\u02bc\uff07]/g, "'").replace(/[\u2010\u2011]/g, "-");

/** The character that begins at a place, which may be two units long. */
export const characterAt = (text: string, at: number) => String.fromCodePoint(text.codePointAt(at)!);

/** Where a run of such characters ends that begins at `at`. */
export function runEnd(text: string, at: number, goesOn: (character: string) => boolean): number {
  while (at < text.length) {
    const character = characterAt(text, at);
    if (!goesOn(character)) break;
    at += character.length;
  }
  return at;
}
