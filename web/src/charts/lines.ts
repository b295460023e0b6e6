// Lines with bands over time or over documents seen.
import { scaleLinear, scaleUtc } from "d3-scale";
import { area, line as lineShape } from "d3-shape";
import { fit, line, type Mark, path, rect, type Scene, text, textWidth } from "./scene.ts";

export interface Series {
  name: string;
  colour: string;
  letter?: string;
  dashed?: boolean;
  topic?: number;
  /** `broken`: nothing is known between this point and the one before, so no line joins them. */
  points: { x: number; y: number; low?: number; high?: number; broken?: boolean }[];
}

/** Dashes of lines with names at their ends: they can be told apart without colours too. */
const DASHES = ["", "7 3", "2 3", "9 3 2 3", "14 3", "4 2", "9 3 2 3 2 3", "1 4"];
/** Room for a piece of the line before its name. */
const KEY = 22;

/** Points that follow each other without a break. */
export function runs<P extends { broken?: boolean }>(points: P[]): P[][] {
  const found: P[][] = [];
  for (const point of points) {
    if (!found.length || point.broken) found.push([point]);
    else found.at(-1)!.push(point);
  }
  return found;
}

export interface LinesOptions {
  width: number;
  height: number;
  /** Whether x is milliseconds since 1970. */
  time: boolean;
  format: (value: number) => string;
  zero?: boolean;
  title?: string;
  topic?: number;
  xTitle?: string;
  /** Marked places on the x axis. */
  events?: { x: number; name: string; mark: string }[];
  /** A marked range on the x axis. */
  range?: [number, number] | null;
  /** The same scale for many pictures. */
  domain?: [number, number];
  /** Names at the ends of the lines. */
  direct?: boolean;
}

/** Ends of lines, moved apart so that their names do not touch. */
export function spread(places: number[], gap: number, low: number, high: number): number[] {
  const order = places.map((_, i) => i).sort((a, b) => places[a]! - places[b]!);
  const moved = [...places];
  let least = low;
  for (const i of order) {
    moved[i] = Math.max(moved[i]!, least);
    least = moved[i]! + gap;
  }
  let most = high;
  for (const i of order.reverse()) {
    moved[i] = Math.min(moved[i]!, most);
    most = moved[i]! - gap;
  }
  return moved;
}

const year = new Intl.DateTimeFormat("en", { year: "numeric", timeZone: "UTC" });

export function lines(series: Series[], options: LinesOptions): Scene {
  const { width, height, format } = options;
  const all = series.flatMap((each) => each.points);
  const xs = all.map((point) => point.x);
  const values = all.flatMap((point) => [point.y, point.low ?? point.y, point.high ?? point.y]).filter(Number.isFinite);
  const top = options.title ? 24 : 10;
  const bottom = options.xTitle ? 36 : 22;
  const names = options.direct
    ? Math.min(width * 0.28, Math.max(...series.map((each) => textWidth(label(each), 11.5))) + 10 + KEY)
    : 8;

  let [low, high] = options.domain ?? [Math.min(...values), Math.max(...values)];
  if (options.zero) low = Math.min(0, low);
  if (!(high > low)) [low, high] = [low - Math.abs(low || 1) * 0.1, low + Math.abs(low || 1) * 0.1];
  const y = scaleLinear([low, high], [height - bottom, top]);
  if (!options.domain) y.nice(4);
  const yTicks = y.ticks(Math.max(2, Math.floor((height - top - bottom) / 34)));
  const left = Math.max(...yTicks.map((tick) => textWidth(format(tick), 11))) + 8;
  const extent: [number, number] = xs.length ? [Math.min(...xs), Math.max(...xs)] : [0, 1];
  const scale = options.time ? scaleUtc(extent, [left, width - names]) : scaleLinear(extent, [left, width - names]);
  const x = (value: number) => scale(value) as number;

  const marks: Mark[] = [];
  if (options.title) {
    marks.push({
      ...text(0, 13, fit(options.title, 12.5, width - 4), { "font-size": 12.5, "font-weight": 600 }),
      topic: options.topic,
    });
  }
  if (options.range) {
    const [a, b] = options.range.map(x) as [number, number];
    marks.push(rect(a, top, Math.max(1, b - a), height - top - bottom, "var(--accent-soft)"));
  }
  for (const tick of yTicks) {
    marks.push(line(left, y(tick), width - names, y(tick), "var(--rule)"));
    marks.push(
      text(left - 5, y(tick) + 4, format(tick), { "font-size": 11, fill: "var(--ink-2)", "text-anchor": "end" }),
    );
  }
  marks.push(...xAxis(scale, extent, options, left, width - names));

  for (const { x: place, name, mark } of options.events ?? []) {
    marks.push({
      ...line(x(place), top, x(place), height - bottom, "var(--ink-2)", { "stroke-dasharray": "2 3" }),
      hint: name,
    });
    marks.push({
      ...text(x(place), top + 8, mark, { "font-size": 11, "text-anchor": "middle", fill: "var(--ink-2)" }),
      hint: name,
    });
  }
  const dashOf = (each: Series, i: number): Record<string, string> => {
    const dash = each.dashed ? "5 4" : options.direct ? DASHES[i % DASHES.length]! : "";
    return dash ? { "stroke-dasharray": dash } : {};
  };
  for (const [i, each] of series.entries()) {
    const points = each.points.filter((point) => Number.isFinite(point.y));
    const banded = points.filter((point) => point.low !== undefined && point.high !== undefined);
    const band = area<(typeof banded)[number]>(
      (p) => x(p.x),
      (p) => y(p.low!),
      (p) => y(p.high!),
    ).digits(1);
    for (const run of runs(banded).filter((run) => run.length > 1)) {
      marks.push(path(band(run)!, { fill: each.colour, opacity: 0.18 }));
    }
    for (const [point] of runs(banded).filter((run) => run.length === 1)) {
      marks.push(line(x(point!.x), y(point!.low!), x(point!.x), y(point!.high!), each.colour, { "stroke-width": 1.5 }));
    }
    const shape = lineShape<(typeof points)[number]>(
      (p) => x(p.x),
      (p) => y(p.y),
    ).digits(1);
    for (const run of runs(points)) {
      const drawn: Mark =
        run.length > 1
          ? path(shape(run)!, { fill: "none", stroke: each.colour, "stroke-width": 1.8, ...dashOf(each, i) })
          : { tag: "circle", attributes: { cx: x(run[0]!.x), cy: y(run[0]!.y), r: 3, fill: each.colour } };
      marks.push({ ...drawn, topic: each.topic, hint: each.name });
    }
  }
  if (options.direct) {
    const ends = series.map((each) => y(each.points.at(-1)?.y ?? low));
    spread(ends, 14, top + 4, height - bottom).forEach((place, i) => {
      const each = series[i]!;
      const name = fit(label(each), 11.5, names - 8 - KEY);
      const key = { "stroke-width": 1.8, ...dashOf(each, i) };
      marks.push(line(width - names + 6, place, width - names + 2 + KEY, place, each.colour, key));
      marks.push({
        ...text(width - names + 6 + KEY, place + 4, name, { "font-size": 11.5, fill: "var(--ink)" }),
        topic: each.topic,
        hint: each.name,
      });
    });
  }
  return { width, height, marks };
}

const label = (series: Series) => (series.letter ? `${series.letter} ${series.name}` : series.name);

function xAxis(
  scale: ReturnType<typeof scaleUtc> | ReturnType<typeof scaleLinear>,
  extent: [number, number],
  options: LinesOptions,
  left: number,
  right: number,
): Mark[] {
  const base = options.height - (options.xTitle ? 36 : 22);
  const wanted = Math.max(2, Math.floor((right - left) / 84));
  const x = scale as unknown as {
    (value: number): number;
    ticks(n: number): (number | Date)[];
    tickFormat(n: number): (value: number | Date) => string;
  };
  const ticks = x.ticks(wanted);
  const write = options.time
    ? (tick: Date) =>
        extent[1] - extent[0] > 86_400_000 * 420 && wanted < 4 ? year.format(tick) : x.tickFormat(wanted)(tick)
    : (tick: number) => (extent[1] >= 10_000 && tick ? `${Number((tick / 1000).toPrecision(4))}k` : String(tick));
  const marks: Mark[] = [line(left, base, right, base, "var(--ink-3)")];
  let taken = -Infinity;
  for (const tick of ticks) {
    const name = (write as (tick: number | Date) => string)(tick);
    const place = x(Number(tick));
    const half = textWidth(name, 11) / 2;
    const middle = Math.min(Math.max(place, left + half - 4), right - half + 6);
    if (middle - half < taken + 6) continue;
    taken = middle + half;
    marks.push(line(place, base, place, base + 4, "var(--ink-3)"));
    marks.push(text(middle, base + 16, name, { "font-size": 11, fill: "var(--ink-2)", "text-anchor": "middle" }));
  }
  if (options.xTitle)
    marks.push(
      text((left + right) / 2, base + 32, options.xTitle, {
        "font-size": 11,
        fill: "var(--ink-2)",
        "text-anchor": "middle",
      }),
    );
  return marks;
}

/** Means of neighbours, so that at most `most` values are left: noise is not a trend. */
export function thinned(values: number[], most: number): number[] {
  const size = Math.ceil(values.length / most);
  if (size <= 1) return values;
  return Array.from({ length: Math.ceil(values.length / size) }, (_, i) => {
    const part = values.slice(i * size, (i + 1) * size);
    return part.reduce((a, b) => a + b, 0) / part.length;
  });
}

/** A tiny line without axes: the trend column. */
export function sparkline(all: number[], width: number, height: number, colour: string): Scene {
  const values = thinned(all, 20);
  const most = Math.max(...values, 1e-12);
  const step = (width - 4) / Math.max(1, values.length - 1);
  const y = (value: number) => height - 2 - (value / most) * (height - 4);
  const shape = lineShape<number>((_, i) => 2 + i * step, y).digits(1);
  const last = values.at(-1) ?? 0;
  const dot: Mark = {
    tag: "circle",
    attributes: { cx: 2 + (values.length - 1) * step, cy: Math.round(y(last) * 10) / 10, r: 1.8, fill: colour },
  };
  return { width, height, marks: [path(shape(values)!, { fill: "none", stroke: colour, "stroke-width": 1.2 }), dot] };
}
