// The map: circles by share, names where there is room.
import { type Attributes, circle, fit, type Mark, path, r, rect, type Scene, text, textWidth } from "./scene.ts";

export interface Place {
  topic: number;
  label: string;
  x: number;
  y: number;
  share: number;
  colour: string;
  letter: string;
  chosen: boolean;
  /** A cluster of the dendrogram, drawn as a tint. */
  faded?: boolean;
}

interface Box {
  x: number;
  y: number;
  width: number;
  height: number;
}

const touch = (a: Box, b: Box) =>
  a.x < b.x + b.width && b.x < a.x + a.width && a.y < b.y + b.height && b.y < a.y + a.height;

export interface Spot extends Place {
  cx: number;
  cy: number;
  radius: number;
}

/** Circles in pixels: area by share, one scale for both directions. */
export function spots(places: Place[], width: number, height: number): Spot[] {
  const xs = places.map((place) => place.x);
  const ys = places.map((place) => place.y);
  const [x0, x1, y0, y1] = [Math.min(...xs), Math.max(...xs), Math.min(...ys), Math.max(...ys)];
  const most = Math.max(...places.map((place) => place.share));
  const largest = Math.min(46, Math.max(9, (0.32 * Math.min(width, height)) / Math.sqrt(places.length)));
  const margin = largest + 6;
  const scale = Math.min((width - 2 * margin) / (x1 - x0 || 1), (height - 2 * margin - 12) / (y1 - y0 || 1));
  return places.map((place) => ({
    ...place,
    cx: width / 2 + (place.x - (x0 + x1) / 2) * scale,
    cy: height / 2 - (place.y - (y0 + y1) / 2) * scale,
    radius: Math.max(2.5, largest * Math.sqrt(place.share / (most || 1))),
  }));
}

/** Names that overlap nothing, chosen topics first, then the largest. */
export function names(all: Spot[], width: number, height: number): (Box & { spot: Spot; name: string })[] {
  const placed: (Box & { spot: Spot; name: string })[] = [];
  const size = 11.5;
  const order = [...all].sort((a, b) => Number(b.chosen) - Number(a.chosen) || b.share - a.share).slice(0, 150);
  for (const spot of order) {
    const whole = spot.letter ? `${spot.letter} · ${spot.label}` : spot.label;
    // For a chosen topic a short form is better than none, and in a crowd it may stand on other circles.
    const tries: [room: number, circles: Spot[]][] = spot.chosen
      ? [
          [180, all],
          [110, all],
          [60, all],
          [60, []],
        ]
      : [[170, all]];
    for (const [room, circles] of tries) {
      const name = fit(whole, size, room);
      const box = freePlace(spot, name, size, width, height, placed, circles);
      if (!box) continue;
      placed.push({ ...box, spot, name });
      break;
    }
  }
  return placed;
}

function freePlace(
  spot: Spot,
  name: string,
  size: number,
  width: number,
  height: number,
  placed: Box[],
  all: Spot[],
): Box | undefined {
  // Chosen names are bold, which is wider.
  const w = textWidth(name, size) * (spot.chosen ? 1.14 : 1) + 6;
  const h = size + 5;
  const { cx, cy, radius } = spot;
  const side = radius * 0.72;
  const places: [number, number][] = [
    [cx - w / 2, cy - h / 2],
    [cx - w / 2, cy + radius + 1],
    [cx - w / 2, cy - radius - h - 1],
    [cx + radius + 3, cy - h / 2],
    [cx - radius - w - 3, cy - h / 2],
    [cx + side + 2, cy + side],
    [cx + side + 2, cy - side - h],
    [cx - side - w - 2, cy + side],
    [cx - side - w - 2, cy - side - h],
  ];
  // Inside the circle only where it fits.
  return places
    .slice(radius * 1.8 > w ? 0 : 1)
    .map(([x, y]): Box => ({ x, y, width: w, height: h }))
    .find(
      (box) =>
        box.x >= 0 &&
        box.y >= 0 &&
        box.x + w <= width &&
        box.y + h <= height &&
        !placed.some((other) => touch(box, other)) &&
        !covers(box, all, spot),
    );
}

/** Whether a name would hide the middle of another circle. */
const covers = (box: Box, all: Spot[], own: Spot) =>
  all.length <= 400 &&
  all.some(
    (spot) =>
      spot !== own &&
      touch(box, {
        x: spot.cx - spot.radius * 0.92,
        y: spot.cy - spot.radius * 0.92,
        width: spot.radius * 1.84,
        height: spot.radius * 1.84,
      }),
  );

/** From so many circles on, those that are not chosen are one shape: quick to draw, and clicks go by place anyway. */
const CROWD = 300;

/** The circle under a point: the smallest, or the nearest within a few pixels. */
export function spotAt(all: Spot[], x: number, y: number): Spot | null {
  const gap = (spot: Spot) => Math.hypot(spot.cx - x, spot.cy - y) - spot.radius;
  const inside = all.filter((spot) => gap(spot) <= 0).sort((a, b) => a.radius - b.radius)[0];
  const near = all.reduce<Spot | null>((best, spot) => (!best || gap(spot) < gap(best) ? spot : best), null);
  return inside ?? (near && gap(near) < 8 ? near : null);
}

export function topicMap(places: Place[], width: number, height: number): Scene {
  const all = spots(places, width, height);
  const marks: Mark[] = [rect(0, 0, width, height, "var(--wash)")];
  const crowd = all.length > CROWD ? all.filter((spot) => !spot.chosen) : [];
  if (crowd.length) {
    const ring = ({ cx, cy, radius }: Spot) =>
      `M${r(cx - radius)} ${r(cy)}a${r(radius)} ${r(radius)} 0 1 0 ${r(2 * radius)} 0a${r(radius)} ${r(radius)} 0 1 0 ${r(-2 * radius)} 0`;
    const looks = { fill: "var(--bar)", "fill-opacity": 0.5, stroke: "var(--ink-3)", "stroke-width": 0.6 };
    marks.push(path(crowd.map(ring).join(""), looks));
  }
  const single = all.length > CROWD ? all.filter((spot) => spot.chosen) : [...all];
  for (const spot of single.sort((a, b) => Number(a.chosen) - Number(b.chosen) || b.radius - a.radius)) {
    marks.push({
      ...circle(spot.cx, spot.cy, spot.radius, spot.colour, {
        "fill-opacity": spot.chosen ? 0.9 : 0.65,
        stroke: spot.chosen ? "var(--ink)" : "var(--ink-3)",
        "stroke-width": spot.chosen ? 2 : 0.8,
        opacity: spot.faded ? 0.35 : 1,
      }),
      topic: spot.topic,
      hint: `${spot.label.slice(0, 200)} (topic ${spot.topic}, ${(spot.share * 100).toFixed(1)} %)`,
    });
  }
  for (const { spot, name, x, y, width: w, height: h } of names(all, width, height)) {
    const inside = Math.abs(y + h / 2 - spot.cy) < 1 && x < spot.cx && x + w > spot.cx;
    const halo: Attributes =
      inside && spot.chosen ? {} : { stroke: "var(--wash)", "stroke-width": 3, "paint-order": "stroke" };
    const fill = inside && spot.chosen ? "var(--on-colour)" : "var(--ink)";
    marks.push({
      ...text(x + 3, y + h - 4.5, name, {
        "font-size": 11.5,
        "font-weight": spot.chosen ? 650 : 400,
        fill,
        ...halo,
        "pointer-events": "none",
      }),
    });
  }
  return { width, height, marks };
}

/** The circle to go to from `from` with an arrow key. */
export function neighbour(all: Spot[], from: number, dx: number, dy: number): number | null {
  const here = all.find((spot) => spot.topic === from);
  if (!here) return all[0]?.topic ?? null;
  let best: number | null = null;
  let cost = Infinity;
  for (const spot of all) {
    const along = (spot.cx - here.cx) * dx + (spot.cy - here.cy) * dy;
    const across = Math.abs((spot.cx - here.cx) * dy) + Math.abs((spot.cy - here.cy) * dx);
    if (spot === here || along <= 0) continue;
    if (along + 2 * across < cost) [best, cost] = [spot.topic, along + 2 * across];
  }
  return best;
}
