// Words of scripts without blanks between them: pairs of Chinese characters (corpus/text/segments.rs).
import { isUnspaced } from "./characters.ts";

const isChinese = (character: string) =>
  isUnspaced(character) &&
  (character.codePointAt(0)! >= 0x3400 || character === "々") &&
  !(character >= "\ua9e0" && character <= "\uaa7f");
const isKatakana = (character: string) => /[\u30a1-\u30ff\u31f0-\u31ff]/.test(character);

/** Calls `visit` with the beginning and the end of every pair, and of every run of another script. */
export function eachPair(run: string, visit: (start: number, end: number) => void) {
  const kind = (character: string) => `${isChinese(character)} ${isKatakana(character)}`;
  const characters = [...run];
  let at = 0;
  for (let first = 0; first < characters.length;) {
    let last = first + 1;
    while (last < characters.length && kind(characters[last]!) === kind(characters[first]!)) last++;
    const lengths = characters.slice(first, last).map((character) => character.length);
    const length = lengths.reduce((a, b) => a + b, 0);
    if (!isChinese(characters[first]!) || lengths.length < 3) visit(at, at + length);
    else
      for (let i = 0, begin = at; i + 1 < lengths.length; begin += lengths[i++]!)
        visit(begin, begin + lengths[i]! + lengths[i + 1]!);
    at += length;
    first = last;
  }
}

/** The same with the dictionaries of the browser. */
export function eachKnown(run: string, visit: (start: number, end: number) => void) {
  for (const { segment, index } of new Intl.Segmenter(undefined, { granularity: "word" }).segment(run))
    visit(index, index + segment.length);
}
