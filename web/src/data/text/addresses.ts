// Web and mail addresses in text (corpus/text/addresses.rs).
import { isAlphanumeric, isUnspaced, runEnd } from "./characters.ts";

/** Endings of names of hosts that are no words of a sentence. */
const HOST_ENDINGS = new Set(["com", "org", "edu", "gov", "mil", "info", "biz", "html"]);

const MAIL_PART = /[0-9a-zA-Z._%+\-\u{80}-\u{10ffff}]*/uy;

/** Finds addresses in one text. */
export class Addresses {
  /** Before this place no mail address begins. */
  private noMailBefore = 0;

  constructor(private text: string) {}

  /** Where an address ends that begins with the group from `start` to `end`; null if it is none. */
  end(start: number, end: number): number | null {
    const name = this.text.slice(start, end);
    if (this.text.startsWith("://", end) && /[0-9a-zA-Z]$/.test(name)) return this.webEnd(end + 3);
    const mail = this.mailEnd(end);
    if (mail !== null) return mail;
    const ending = name.includes(".") ? name.slice(name.lastIndexOf(".") + 1) : "";
    const hasPath = this.text[end] === "/" && /^[a-zA-Z]{2,4}$/.test(ending);
    const isHost = /^www\./i.test(name) || HOST_ENDINGS.has(ending.toLowerCase()) || hasPath;
    return isHost ? this.webEnd(end) : null;
  }

  private mailEnd(end: number): number | null {
    if (!/[@+%.\-_]/.test(this.text[end] ?? "") || end < this.noMailBefore) return null;
    const at = this.mailPart(end);
    if (this.text[at] === "@") {
      const host = this.text.slice(at + 1, this.mailPart(at + 1)).replace(/[.\-_+%]+$/, "");
      if (host.includes(".")) return at + 1 + host.length;
    }
    this.noMailBefore = at;
    return null;
  }

  /** Where characters of a mail address end that begin at `at`. */
  private mailPart(at: number): number {
    MAIL_PART.lastIndex = at;
    return at + MAIL_PART.exec(this.text)![0].length;
  }

  /** Where a web address ends: before a blank, a quotation mark, or a letter of a script without blanks. */
  private webEnd(at: number): number {
    return runEnd(this.text, at, (character) => {
      if (character > "\x7f") return isAlphanumeric(character) && !isUnspaced(character);
      return character > " " && !/[<>"`|\\^{}\x7f]/.test(character);
    });
  }
}
