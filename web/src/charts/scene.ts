// A picture as a value: marks with attributes, drawn on the page, written as SVG or painted for PNG by three small functions.

export type Attributes = Record<string, string | number>;

export interface Mark {
  tag: "rect" | "circle" | "path" | "line" | "text" | "g";
  attributes: Attributes;
  text?: string;
  children?: Mark[];
  /** A topic that is chosen by clicking here. */
  topic?: number;
  /** Any other place to click: given back to the view. */
  key?: string;
  /** Shown while the pointer rests here. */
  hint?: string;
}

export interface Scene {
  width: number;
  height: number;
  marks: Mark[];
}

export const rect = (
  x: number,
  y: number,
  width: number,
  height: number,
  fill: string,
  more: Attributes = {},
): Mark => ({
  tag: "rect",
  attributes: { x: r(x), y: r(y), width: r(Math.max(0, width)), height: r(Math.max(0, height)), fill, ...more },
});

export const line = (x1: number, y1: number, x2: number, y2: number, stroke: string, more: Attributes = {}): Mark => ({
  tag: "line",
  attributes: { x1: r(x1), y1: r(y1), x2: r(x2), y2: r(y2), stroke, ...more },
});

export const circle = (cx: number, cy: number, radius: number, fill: string, more: Attributes = {}): Mark => ({
  tag: "circle",
  attributes: { cx: r(cx), cy: r(cy), r: r(radius), fill, ...more },
});

export const path = (d: string, more: Attributes): Mark => ({ tag: "path", attributes: { d, ...more } });

export const text = (x: number, y: number, content: string, more: Attributes = {}): Mark => ({
  tag: "text",
  attributes: { x: r(x), y: r(y), "font-size": 12, fill: "var(--ink)", ...more },
  text: content,
});

/** Coordinates to a tenth of a pixel: the same picture in fewer bytes. */
export const r = (value: number) => Math.round(value * 10) / 10;

/** Width of text in pixels, from above: half-width letters, full-width ideographs. */
export function textWidth(content: string, size: number): number {
  let units = 0;
  for (const character of content) {
    const code = character.codePointAt(0)!;
    units +=
      code > 0x2e80 ? 1.05 : "ilj.,' |!ftI".includes(character) ? 0.36 : "mwMW%@".includes(character) ? 0.98 : 0.62;
  }
  return units * size;
}

/** `content` cut to fit, with an ellipsis. */
export function fit(content: string, size: number, width: number): string {
  // No label is longer than a few hundred characters on any screen, whatever the corpus holds.
  const short = content.length > 300 ? content.slice(0, 300) + "…" : content;
  if (textWidth(short, size) <= width) return short;
  const characters = [...short];
  while (characters.length > 1 && textWidth(characters.join("") + "…", size) > width) characters.pop();
  return characters.join("").trimEnd() + "…";
}

const escape = (value: string) =>
  value
    .replace(/[&<>"]/g, (c) => ({ "&": "&amp;", "<": "&lt;", ">": "&gt;", '"': "&quot;" })[c]!)
    // Characters that XML cannot hold.
    .replace(/[^\t\n\r\u0020-\ud7ff\ue000-\ufffd\u{10000}-\u{10ffff}]/gu, "\ufffd");

/** Replaces var(--name) by what `colour` says. */
const resolve = (value: string | number, colour: (name: string) => string) =>
  String(value).replace(/var\((--[a-z0-9-]+)\)/g, (_, name: string) => colour(name));

function markToSvg(mark: Mark, colour: (name: string) => string): string {
  const attributes = Object.entries(mark.attributes)
    .map(([name, value]) => ` ${name}="${escape(resolve(value, colour))}"`)
    .join("");
  const hint = mark.hint ? `<title>${escape(mark.hint)}</title>` : "";
  const inner =
    hint +
    (mark.text === undefined ? "" : escape(mark.text)) +
    (mark.children ?? []).map((child) => markToSvg(child, colour)).join("");
  return inner ? `<${mark.tag}${attributes}>${inner}</${mark.tag}>` : `<${mark.tag}${attributes}/>`;
}

const FONT = "system-ui, sans-serif";

/** A file of its own: colours written out, a background, no outside reference. */
export function toSvg(scene: Scene, colour: (name: string) => string): string {
  const { width, height } = scene;
  const marks = scene.marks.map((mark) => markToSvg(mark, colour)).join("\n");
  return (
    `<svg xmlns="http://www.w3.org/2000/svg" width="${width}" height="${height}" viewBox="0 0 ${width} ${height}" font-family="${FONT}">\n` +
    `<rect width="${width}" height="${height}" fill="${colour("--paper")}"/>\n${marks}\n</svg>\n`
  );
}

function paintMark(context: CanvasRenderingContext2D, mark: Mark, colour: (name: string) => string): void {
  const a = mark.attributes;
  const n = (name: string) => Number(a[name] ?? 0);
  context.save();
  context.globalAlpha *= Number(a.opacity ?? 1);
  const shift = /translate\(([-\d.]+)[ ,]+([-\d.]+)\)/.exec(String(a.transform ?? ""));
  if (shift) context.translate(Number(shift[1]), Number(shift[2]));
  const turn = /rotate\(([-\d.]+)[ ,]+([-\d.]+)[ ,]+([-\d.]+)\)/.exec(String(a.transform ?? ""));
  if (turn) {
    context.translate(Number(turn[2]), Number(turn[3]));
    context.rotate((Number(turn[1]) * Math.PI) / 180);
    context.translate(-Number(turn[2]), -Number(turn[3]));
  }
  const shape = new Path2D(mark.tag === "path" ? String(a.d) : undefined);
  if (mark.tag === "rect") shape.rect(n("x"), n("y"), n("width"), n("height"));
  if (mark.tag === "circle") shape.arc(n("cx"), n("cy"), n("r"), 0, 2 * Math.PI);
  if (mark.tag === "line") {
    shape.moveTo(n("x1"), n("y1"));
    shape.lineTo(n("x2"), n("y2"));
  }
  const fill = resolve(a.fill ?? (mark.tag === "line" ? "none" : "black"), colour);
  if (mark.tag === "text") {
    context.font = `${a["font-weight"] ?? 400} ${a["font-size"] ?? 12}px ${FONT}`;
    context.textAlign = ({ middle: "center", end: "right" } as const)[String(a["text-anchor"])] ?? "left";
    context.fillStyle = fill;
    context.fillText(mark.text ?? "", n("x"), n("y"));
  } else if (mark.tag !== "g") {
    context.globalAlpha *= Number(a["fill-opacity"] ?? 1);
    if (fill !== "none") {
      context.fillStyle = fill;
      context.fill(shape);
    }
    if (a.stroke) {
      context.strokeStyle = resolve(a.stroke, colour);
      context.lineWidth = Number(a["stroke-width"] ?? 1);
      context.setLineDash(
        String(a["stroke-dasharray"] ?? "")
          .split(/[ ,]+/)
          .filter(Boolean)
          .map(Number),
      );
      context.stroke(shape);
    }
  }
  for (const child of mark.children ?? []) paintMark(context, child, colour);
  context.restore();
}

/** Paints without an image element, so that the policy of the page need not allow any. */
export function paint(context: CanvasRenderingContext2D, scene: Scene, colour: (name: string) => string): void {
  context.fillStyle = colour("--paper");
  context.fillRect(0, 0, scene.width, scene.height);
  for (const mark of scene.marks) paintMark(context, mark, colour);
}
