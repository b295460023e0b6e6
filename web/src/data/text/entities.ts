// Characters that HTML writes as names or numbers (corpus/text/entities.rs).
import list from "../../../../crates/gibbstream/src/corpus/text/entities.txt?raw";

const NAMES = new Map(
  list
    .trim()
    .split(/, |\r?\n/)
    .map((pair) => pair.split(" "))
    .map(([name, code]) => [name!, String.fromCodePoint(parseInt(code!, 16))]),
);

/** Names that are often written without the semicolon, as old pages do. */
const OPEN = new Set(["nbsp", "amp", "lt", "gt", "quot", "copy", "reg"]);

/** What Windows means by the numbers that are control characters elsewhere, from 128 on. */
const WINDOWS = [..."€ ‚ƒ„…†‡ˆ‰Š‹Œ Ž  ‘’“”•–—˜™š›œ žŸ"];

/** Names and numbers are looked for within so many characters. */
const LONGEST = 32;

/** The character that is written at the `&` at `at`, and the length of what writes it. */
export function decode(text: string, at: number): { character: string; length: number } | null {
  const body = text.slice(at + 1, at + LONGEST);
  const number = /^#(?:[xX]([0-9a-fA-F]+)|([0-9]+))/.exec(body);
  if (number) {
    const length = number[0].length;
    const code = number[1] ? parseInt(number[1], 16) : parseInt(number[2]!, 10);
    return { character: character(code), length: 1 + length + (body[length] === ";" ? 1 : 0) };
  }
  const name = /^[0-9a-zA-Z]*/.exec(body)![0];
  const found = NAMES.get(name);
  if (found === undefined) return null;
  if (body[name.length] === ";") return { character: found, length: name.length + 2 };
  return OPEN.has(name) && body[name.length] !== "=" ? { character: found, length: name.length + 1 } : null;
}

/** What cannot be a character parts words, as a blank does. */
function character(code: number): string {
  if (code >= 128 && code < 160) return WINDOWS[code - 128]!;
  const isCharacter = code >= 32 && code <= 0x10ffff && !(code >= 0xd800 && code < 0xe000);
  return isCharacter ? String.fromCodePoint(code) : " ";
}
