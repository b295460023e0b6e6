import { expect, test } from "vitest";
import { bars } from "../../src/charts/bars.ts";
import { palette } from "../../src/charts/colours.ts";
import { dotPlot } from "../../src/charts/dots.ts";
import { lines, runs, sparkline, spread, thinned } from "../../src/charts/lines.ts";
import { names, neighbour, type Place, spots, topicMap } from "../../src/charts/map.ts";
import { count, decimal, percent, percentTick, short } from "../../src/charts/numbers.ts";
import { fit, type Mark, type Scene, text, textWidth, toSvg } from "../../src/charts/scene.ts";
import { clusters, dendrogram, distanceAt, matrix, type Merge } from "../../src/charts/tree.ts";
import { wordBars } from "../../src/charts/word-bars.ts";

const all = (marks: Mark[]): Mark[] => marks.flatMap((mark) => [mark, ...all(mark.children ?? [])]);
const texts = (scene: Scene) => all(scene.marks).filter((mark) => mark.tag === "text");

/** Whether every text stays inside the picture. */
function expectInside(scene: Scene) {
  for (const mark of texts(scene)) {
    const size = Number(mark.attributes["font-size"]);
    const width = textWidth(mark.text!, size);
    const x =
      Number(mark.attributes.x) -
        ({ middle: width / 2, end: width } as Record<string, number>)[String(mark.attributes["text-anchor"])]! ||
      Number(mark.attributes.x);
    expect(Number.isFinite(x)).toBe(true);
    if (mark.attributes["text-anchor"] === "end") expect(Number(mark.attributes.x) - width).toBeGreaterThan(-8);
    if (!mark.attributes["text-anchor"]) expect(Number(mark.attributes.x) + width * 0.9).toBeLessThan(scene.width + 8);
    expect(Number(mark.attributes.y)).toBeGreaterThan(0);
    expect(Number(mark.attributes.y)).toBeLessThanOrEqual(scene.height + 2);
  }
}

const noNaN = (scene: Scene) => expect(JSON.stringify(scene.marks)).not.toMatch(/NaN|null|Infinity/);

test("one chosen topic has the accent, several have hues and letters, the rest is grey", () => {
  expect(palette([5]).of(5)).toBe("var(--accent)");
  expect(palette([5]).letter(5)).toBe("");
  const two = palette([5, 3]);
  expect([two.of(5), two.of(3), two.of(9)]).toEqual(["var(--hue-1)", "var(--hue-2)", "var(--bar)"]);
  expect([two.letter(5), two.letter(3), two.letter(9)]).toEqual(["A", "B", ""]);
  expect(palette([0, 1, 2, 3, 4, 5, 6, 7, 8]).has(8)).toBe(false);
});

test("numbers for people", () => {
  expect([0, 0.00001, 0.005, 0.05, 0.123, 1].map(percent)).toEqual([
    "0.0 %",
    "<0.01 %",
    "0.50 %",
    "5.0 %",
    "12 %",
    "100 %",
  ]);
  // What rounds to ten or to one is written as ten and one are.
  expect([0.0996, 0.0994, 0.00996].map(percent)).toEqual(["10 %", "9.9 %", "1.0 %"]);
  expect([0, 0.05, 0.125].map(percentTick)).toEqual(["0 %", "5 %", "12.5 %"]);
  expect([decimal(null), decimal(-0.5), decimal(NaN)]).toEqual(["–", "−0.50", "–"]);
  expect(count(1234567)).toBe("1,234,567");
  expect([short(0.123456), short(98765)]).toEqual(["0.1235", "98,765"]);
});

test("SVG is text only: nothing of the data is markup", () => {
  const hostile = '</text><script>alert(1)</script>"&\u0000\u202e';
  const scene: Scene = { width: 10, height: 10, marks: [{ ...text(1, 2, hostile), hint: hostile }] };
  const svg = toSvg(scene, (name) => ({ "--paper": "#fff", "--ink": "#000" })[name] ?? "red");
  expect(svg).not.toContain("<script");
  expect(svg).not.toContain("\u0000");
  expect(svg).toContain("&lt;script&gt;");
  expect(svg).toContain('fill="#000"');
  expect(svg).not.toContain("var(");
});

test("labels are cut to fit, however long", () => {
  expect(fit("short", 12, 100)).toBe("short");
  const long = fit("x".repeat(10_000_000), 12, 80);
  expect(long.endsWith("…")).toBe(true);
  expect(textWidth(long, 12)).toBeLessThanOrEqual(80);
  expect(textWidth(fit("漢字漢字漢字漢字漢字", 12, 60), 12)).toBeLessThanOrEqual(60);
});

test("word bars: the part in the topic is never longer than all uses", () => {
  const rows = [
    { word: 0, text: "a", weight: 0.2, overall: 0.05, part: 1, relevance: 0 },
    { word: 1, text: "long ".repeat(30), weight: 0.1, overall: 0.2, part: 0.2, relevance: 0 },
  ];
  for (const width of [300, 600]) {
    const scene = wordBars(rows, 0.4, width, "red");
    expectInside(scene);
    for (const row of scene.marks.filter((mark) => mark.tag === "g")) {
      const [, , grey, coloured] = row.children!;
      expect(Number(coloured!.attributes.width)).toBeLessThanOrEqual(Number(grey!.attributes.width));
    }
  }
});

test("bars: lengths are in proportion, whiskers stay in the picture", () => {
  const row = (topic: number, value: number) => ({
    topic,
    label: "label",
    value,
    low: 0,
    high: value * 3,
    colour: "red",
    letter: "A",
  });
  const scene = bars([row(0, 0.4), row(1, 0.2)], 500, { most: 1 });
  const length = (i: number) => Number(scene.marks[i]!.children![2]!.attributes.width);
  expect(length(0) / length(1)).toBeCloseTo(2, 1);
  for (const mark of all(scene.marks).filter((each) => each.tag === "line"))
    expect(Number(mark.attributes.x2)).toBeLessThanOrEqual(500 - 56);
  expectInside(scene);
  noNaN(bars([], 300));
});

test("ends of lines are moved apart and stay inside", () => {
  const moved = spread([10, 11, 12, 100], 14, 0, 104);
  const sorted = moved.toSorted((a, b) => a - b);
  for (let i = 1; i < sorted.length; i++) expect(sorted[i]! - sorted[i - 1]!).toBeGreaterThanOrEqual(14);
  expect(Math.max(...moved)).toBeLessThanOrEqual(104);
});

test("lines: time and numbers, one point, equal values, gaps", () => {
  const options = { width: 500, height: 200, time: false, format: String };
  const point = (x: number, y: number) => ({ x, y, low: y - 1, high: y + 1 });
  for (const points of [[point(1, 2)], [point(1, 2), point(2, 2)], [point(1, 2), point(3, NaN), point(4, 5)], []]) {
    noNaN(
      lines([{ name: "a", colour: "red", points }], {
        ...options,
        zero: true,
        direct: true,
        title: "t",
        domain: points.length ? undefined : [0, 1],
      }),
    );
  }
  const months = Array.from({ length: 24 }, (_, m) => ({ x: Date.UTC(2024, m, 1), y: m / 24 }));
  for (const width of [180, 400, 1000]) {
    const scene = lines([{ name: "a", colour: "red", points: months }], {
      width,
      height: 160,
      time: true,
      format: percentTick,
      zero: true,
    });
    noNaN(scene);
    expectInside(scene);
    // Names on the axis do not touch.
    const axis = texts(scene).filter((mark) => mark.attributes["text-anchor"] === "middle");
    expect(axis.length).toBeGreaterThan(1);
    const ends = axis.map((mark) => [
      Number(mark.attributes.x) - textWidth(mark.text!, 11) / 2,
      Number(mark.attributes.x) + textWidth(mark.text!, 11) / 2,
    ]);
    for (let i = 1; i < ends.length; i++) expect(ends[i]![0]).toBeGreaterThan(ends[i - 1]![1]!);
  }
  noNaN(sparkline([0, 0, 0], 80, 20, "red"));
});

test("long trends are thinned by means", () => {
  expect(thinned([1, 2, 3], 5)).toEqual([1, 2, 3]);
  expect(thinned([1, 3, 5, 7, 9], 3)).toEqual([2, 6, 9]);
});

test("dots: filled where the interval leaves out all documents", () => {
  const scene = dotPlot(
    [
      { name: "far", documents: 5, value: 0.5, low: 0.4, high: 0.6 },
      { name: "near", documents: 5, value: 0.32, low: 0.2, high: 0.4 },
    ],
    0.3,
    400,
    "red",
  );
  const dots = all(scene.marks).filter((mark) => mark.tag === "circle");
  expect(dots.map((dot) => dot.attributes.fill)).toEqual(["red", "var(--paper)"]);
  expectInside(scene);
});

function places(n: number): Place[] {
  return Array.from({ length: n }, (_, topic) => ({
    topic,
    label: `topic number ${topic} with words`,
    x: Math.cos(topic * 2.4) * Math.sqrt(topic),
    y: Math.sin(topic * 2.4) * Math.sqrt(topic),
    share: 1 / (topic + 5),
    colour: "red",
    letter: "",
    chosen: topic === n - 1,
  }));
}

test("names on the map overlap nowhere and stay inside; the chosen topic has one", () => {
  for (const n of [1, 3, 10, 60, 300]) {
    for (const [width, height] of [
      [320, 230],
      [1000, 460],
    ] as const) {
      const placed = names(spots(places(n), width, height), width, height);
      for (const [i, a] of placed.entries()) {
        expect(a.x >= 0 && a.y >= 0 && a.x + a.width <= width && a.y + a.height <= height).toBe(true);
        for (const b of placed.slice(i + 1)) {
          expect(a.x + a.width <= b.x || b.x + b.width <= a.x || a.y + a.height <= b.y || b.y + b.height <= a.y).toBe(
            true,
          );
        }
      }
      expect(placed.some(({ spot }) => spot.chosen)).toBe(true);
      noNaN(topicMap(places(n), width, height));
    }
  }
});

test("circles have areas by share and stay inside", () => {
  const all = spots(places(20), 800, 400);
  expect(all[0]!.radius ** 2 / all[15]!.radius ** 2).toBeCloseTo(all[0]!.share / all[15]!.share, 5);
  for (const spot of all) {
    expect(spot.cx - spot.radius).toBeGreaterThanOrEqual(0);
    expect(spot.cy + spot.radius).toBeLessThanOrEqual(400);
  }
});

test("arrow keys go to the nearest circle in that direction", () => {
  const cross = [
    [0, 0],
    [10, 0],
    [30, 0],
    [0, 10],
  ].map(([x, y], topic) => ({ ...places(1)[0]!, topic, x: x!, y: y!, cx: x!, cy: y!, radius: 1 }));
  expect(neighbour(cross, 0, 1, 0)).toBe(1);
  expect(neighbour(cross, 1, 1, 0)).toBe(2);
  expect(neighbour(cross, 0, 0, 1)).toBe(3);
  expect(neighbour(cross, 0, -1, 0)).toBeNull();
});

const merges: Merge[] = [
  [0, 1, 0.2],
  [2, 3, 0.4],
  [4, 5, 0.9],
];

test("cutting the tree gives the clusters that SciPy's fcluster gives", () => {
  expect(clusters(merges, 0.1)).toEqual([]);
  expect(clusters(merges, 0.2)).toEqual([[0, 1]]);
  expect(clusters(merges, 0.5)).toEqual([
    [0, 1],
    [2, 3],
  ]);
  expect(clusters(merges, 1)).toEqual([[0, 1, 2, 3]]);
});

test("the matrix is symmetric and has few elements", () => {
  const lower = Array.from({ length: 200 }, (_, a) =>
    Array.from({ length: a }, (_, b) => ((a * 7 + b * 3) % 100) / 100),
  );
  expect(distanceAt(lower, 3, 7)).toBe(distanceAt(lower, 7, 3));
  expect(distanceAt(lower, 5, 5)).toBe(0);
  const scene = matrix(
    lower,
    lower.map((_, i) => i),
    [3],
    500,
  );
  expect(scene.marks.length).toBeLessThan(20);
  const cells = scene.marks
    .filter((mark) => mark.tag === "path")
    .reduce((sum, mark) => sum + String(mark.attributes.d).split("M").length - 1, 0);
  expect(cells).toBe(200 * 199);
});

test("the dendrogram draws every merge and its cut", () => {
  const leaves = [0, 1, 2, 3].map((topic) => ({ topic, label: `leaf ${topic}`, colour: "red", chosen: false }));
  const scene = dendrogram(leaves, merges, 400, 19, 0.5);
  const paths = scene.marks.filter((mark) => mark.tag === "path");
  expect(paths).toHaveLength(3);
  expect(paths.map((mark) => mark.attributes.stroke)).toEqual(["var(--accent)", "var(--accent)", "var(--ink-3)"]);
  expectInside(scene);
  noNaN(scene);
});

test("no line is drawn over periods without documents", () => {
  const point = (x: number, broken = false) => ({ x, y: 0.5, low: 0.4, high: 0.6, broken });
  const points = [point(0), point(1), point(5, true), point(6), point(9, true)];
  expect(runs(points).map((run) => run.map(({ x }) => x))).toEqual([[0, 1], [5, 6], [9]]);
  const options = { width: 400, height: 200, time: false, format: String };
  const { marks } = lines([{ name: "a", colour: "#000", points }], options);
  expect(marks.filter(({ tag, attributes }) => tag === "path" && attributes.fill === "none")).toHaveLength(2);
  expect(marks.filter(({ tag, attributes }) => tag === "path" && attributes.opacity === 0.18)).toHaveLength(2);
  expect(marks.filter(({ tag }) => tag === "circle")).toHaveLength(1);
});

test("a single point with an interval has a bar, many have a band", () => {
  const options = { width: 400, height: 200, time: false, format: String };
  const drawn = (points: { x: number; y: number; low: number; high: number }[]) =>
    lines([{ name: "a", colour: "#123456", points }], options).marks;
  const bar = (marks: Mark[]) =>
    marks.filter(({ tag, attributes }) => tag === "line" && attributes?.stroke === "#123456");
  const [one, ...more] = bar(drawn([{ x: 1, y: 5, low: 4, high: 7 }]));
  expect(more).toEqual([]);
  expect(one!.attributes!.x1).toBe(one!.attributes!.x2);
  expect(Number(one!.attributes!.y1)).toBeGreaterThan(Number(one!.attributes!.y2));
  const many = [1, 2].map((x) => ({ x, y: 5, low: 4, high: 7 }));
  expect(bar(drawn(many))).toEqual([]);
});

test("lines beside each other differ without their colours, and the piece before a name shows which it is", () => {
  const series = Array.from({ length: 8 }, (_, i) => ({
    name: `topic ${i}`,
    colour: "#123456",
    points: [0, 1, 2].map((x) => ({ x, y: i + x })),
  }));
  const scene = lines(series, { width: 600, height: 300, time: false, format: String, direct: true });
  const dashes = (tag: string) =>
    scene.marks
      .filter((mark) => mark.tag === tag && mark.attributes?.stroke === "#123456")
      .map(({ attributes }) => attributes!["stroke-dasharray"] ?? "");
  expect(new Set(dashes("path")).size).toBe(8);
  expect(dashes("line")).toEqual(dashes("path"));
  expectInside(scene);
});
