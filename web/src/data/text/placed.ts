// Text that was changed, and where each part of it stood before (corpus/text/placed.rs). Places are in UTF-16 units.
import { isMark } from "./characters.ts";

export interface Place {
  start: number;
  end: number;
}

interface Part {
  /** Where it begins in the changed text. */
  at: number;
  /** What it stands for in the original. */
  from: number;
  to: number;
  isKept: boolean;
}

export class Placed {
  text = "";
  private parts: Part[] = [];
  private pieces: string[] = [];
  private length = 0;

  /** Adds a part of the original as it is. */
  keep(original: string, from: number, to: number) {
    if (to > from) this.push(original.slice(from, to), from, to, true);
  }

  /** Adds something that stands for a part of the original. */
  put(text: string, from: number, to: number) {
    this.push(text, from, to, false);
  }

  done(): this {
    this.text = this.pieces.join("");
    return this;
  }

  /** The place in the original that a place in the changed text stands for. */
  original({ start, end }: Place): Place {
    const [first, last] = [this.part(start), this.part(end - 1)];
    return {
      start: first.isKept ? first.from + (start - first.at) : first.from,
      end: last.isKept ? last.from + (end - last.at) : last.to,
    };
  }

  private push(text: string, from: number, to: number, isKept: boolean) {
    this.parts.push({ at: this.length, from, to, isKept });
    this.pieces.push(text);
    this.length += text.length;
  }

  /** The last part that begins at or before a place. */
  private part(at: number): Part {
    let [low, high] = [0, this.parts.length];
    while (high - low > 1) {
      const middle = (low + high) >> 1;
      if (this.parts[middle]!.at <= at) low = middle;
      else high = middle;
    }
    return this.parts[low]!;
  }
}

const ASCII = /^[\0-\x7f]*$/;
/** Their normal forms are two letters that would grow onto the word before. */
const MARKS_OF_TRADE = /[\u2122\u2120]/;

/** The compatibility normal form (NFKC), cluster by cluster so that places lead back; null if it is the text itself. */
export function normalised(text: string): Placed | null {
  if (ASCII.test(text) || (text.normalize("NFKC") === text && !MARKS_OF_TRADE.test(text))) return null;
  const normal = new Placed();
  let kept = 0;
  let begin = 0;
  const close = (end: number) => {
    const cluster = text.slice(begin, end);
    const changed = cluster === "\u2122" || cluster === "\u2120" ? " " : cluster.normalize("NFKC");
    if (changed !== cluster) {
      normal.keep(text, kept, begin);
      normal.put(changed, begin, end);
      kept = end;
    }
    begin = end;
  };
  let at = 0;
  for (const character of text) {
    const goesOn = isMark(character) || (character >= "\u1160" && character <= "\u11ff");
    if (at > begin && !goesOn) close(at);
    at += character.length;
  }
  close(at);
  normal.keep(text, kept, text.length);
  return normal.done();
}
