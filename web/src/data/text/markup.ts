// Markup out of text: tags, comments, scripts and styles, entities (corpus/text/markup.rs).
import { decode } from "./entities.ts";
import { Placed } from "./placed.ts";

const words = (list: string) => new Set(list.trim().split(/\s+/));

/** Elements of HTML, present and past. */
const ELEMENTS = words(`a abbr acronym address applet area article aside audio b base basefont bdi bdo bgsound big
  blink blockquote body br button canvas caption center cite code col colgroup data datalist dd del details dfn dialog
  dir div dl dt em embed fieldset figcaption figure font footer form frame frameset h1 h2 h3 h4 h5 h6 head header
  hgroup hr html i iframe img input ins kbd label legend li link main map mark marquee menu meta meter nav nobr
  noframes noscript object ol optgroup option output p param picture pre progress q rp rt ruby s samp script search
  section select slot small source span strike strong style sub summary sup svg table tbody td template textarea tfoot
  th thead time title tr track tt u ul var video wbr xmp`);

/** Elements that are used within words: `<b>H</b>ello`. */
const WITHIN_WORDS = words("b big del em font i ins mark s small strong sub sup tt u wbr");

/** Attributes that have no value. */
const BARE_ATTRIBUTES = words(`async autofocus autoplay checked compact controls declare defer disabled hidden ismap
  itemscope loop multiple muted nohref noresize noshade novalidate nowrap open readonly required reversed selected`);

/** The longest name of an element that is looked up. */
const LONGEST_NAME = 32;

/** A text without its markup, and whether an entity became a character that may begin more. */
export function stripped(text: string, strict: boolean): { placed: Placed; mayHideMore: boolean } {
  const placed = new Placed();
  const scanner = new Scanner(text, strict);
  const begins = /[<&]/g;
  let kept = 0;
  let mayHideMore = false;
  for (let found = begins.exec(text); found; found = begins.exec(text)) {
    const at = found.index;
    const entity = found[0] === "&" ? decode(text, at) : null;
    const piece = found[0] === "<" ? scanner.piece(at) : null;
    const length = entity?.length ?? piece?.length;
    if (length === undefined) continue;
    placed.keep(text, kept, at);
    if (entity) placed.put(entity.character, at, at + length);
    else if (piece!.partsWords) placed.put(" ", at, at + length);
    mayHideMore ||= entity?.character === "<" || entity?.character === "&";
    begins.lastIndex = kept = at + length;
  }
  placed.keep(text, kept, text.length);
  return { placed: placed.done(), mayHideMore };
}

interface Piece {
  length: number;
  /** Whether words on both sides are parted. */
  partsWords: boolean;
}

interface Attributes {
  withValues: number;
  /** Words that are no attributes of HTML. */
  strange: number;
  closed: boolean;
  /** Where the tag ends; null if what is there is not like attributes. */
  end: number | null;
}

/** Finds where pieces of markup end. A search that found nothing is not made again, so that no text takes long. */
class Scanner {
  private noneFrom = new Map<string, number>();

  constructor(
    private text: string,
    private strict: boolean,
  ) {}

  piece(start: number): Piece | null {
    const begin = this.text.slice(start + 1, start + 10);
    const gap = (length: number | null) => (length === null ? null : { length, partsWords: true });
    if (begin.startsWith("!--")) {
      const end = this.find(start + 4, "-->");
      // What is left open would take the rest of the text with it.
      return gap(end === null ? 4 : end + 3 - start);
    }
    if (/^!\[cdata\[/i.test(begin)) return gap(9);
    if (/^(!doctype|!\[|\?[a-z])/i.test(begin)) return gap(this.bracket(start));
    if (/^\/[a-z]/i.test(begin)) return this.closingTag(start);
    return /^[a-z]/i.test(begin) ? this.openingTag(start) : null;
  }

  /** The length up to the next `>`, if no `<` comes first. */
  private bracket(start: number): number | null {
    const end = this.text.slice(start + 1).search(/[<>]/);
    return end >= 0 && this.text[start + 1 + end] === ">" ? end + 2 : null;
  }

  /** What a pattern that is sticky finds at a place. */
  private at(pattern: RegExp, place: number): string {
    pattern.lastIndex = place;
    return pattern.exec(this.text)?.[0] ?? "";
  }

  private name(start: number): string {
    return this.at(/[0-9a-zA-Z\-:_]*/y, start).slice(0, LONGEST_NAME + 1);
  }

  /** `</name>`, which is never anything else. */
  private closingTag(start: number): Piece | null {
    const name = this.name(start + 2);
    const end = start + 2 + name.length;
    const close = end + this.at(/[ \t\n\f\r]*/y, end).length;
    const isPlain = this.text[close] === ">";
    const length = isPlain ? close + 1 - start : this.bracket(start);
    if (length === null || !(isPlain || this.strict || ELEMENTS.has(name.toLowerCase()))) return null;
    return { length, partsWords: !WITHIN_WORDS.has(name.toLowerCase()) };
  }

  private openingTag(start: number): Piece | null {
    const name = this.name(start + 1);
    const nameEnd = start + 1 + name.length;
    const element = name.toLowerCase();
    const isKnown = ELEMENTS.has(element);
    if (!this.strict && nameEnd < this.text.length && !/[>/ \t\n\f\r]/.test(this.text[nameEnd]!)) return null;
    const attributes = this.attributes(nameEnd);
    const end = this.tagEnd(start, attributes, isKnown);
    if (end === null) return null;
    const raw = element === "script" || element === "style" ? this.find(end, `</${element}`) : null;
    return { length: (raw ?? end) - start, partsWords: !WITHIN_WORDS.has(element) };
  }

  private tagEnd(start: number, { end, withValues, strange, closed }: Attributes, isKnown: boolean): number | null {
    const isTag = this.strict || withValues > 0 || (isKnown ? strange === 0 : closed);
    if (end !== null) return isTag ? end : null;
    if (!this.strict && !(isKnown && withValues > 0)) return null;
    const length = this.bracket(start);
    if (length !== null) return start + length;
    // The text was cut off within the tag.
    return this.text.indexOf("<", start + 1) < 0 ? this.text.length : null;
  }

  private attributes(at: number): Attributes {
    const found: Attributes = { withValues: 0, strange: 0, closed: false, end: null };
    for (;;) {
      const blanks = this.at(/[ \t\n\f\r/]*/y, at);
      found.closed = blanks.endsWith("/");
      at += blanks.length;
      if (this.text[at] === ">") return { ...found, end: at + 1 };
      const name = this.at(/[0-9a-zA-Z\-_:.@]*/y, at);
      if (!name) return found;
      at += name.length;
      const equals = this.at(/[ \t\n\f\r]*=[ \t\n\f\r]*/y, at);
      if (!equals) {
        if (!BARE_ATTRIBUTES.has(name.toLowerCase())) found.strange++;
        continue;
      }
      found.withValues++;
      const end = this.valueEnd(at + equals.length);
      if (end === null) return found;
      at = end;
    }
  }

  private valueEnd(at: number): number | null {
    const first = this.text[at];
    if (first === undefined) return null;
    if (first !== '"' && first !== "'") return at + this.at(/[^ \t\n\f\r<>]*/y, at).length;
    const end = this.find(at + 1, first);
    return end === null ? null : end + 1;
  }

  /** Where something stands from `from` on, whatever its case. */
  private find(from: number, wanted: string): number | null {
    const none = this.noneFrom.get(wanted) ?? Infinity;
    const part = this.text.slice(from, none + wanted.length);
    const found = part.search(new RegExp(wanted, "i"));
    if (found >= 0) return from + found;
    this.noneFrom.set(wanted, Math.min(none, from));
    return null;
  }
}
