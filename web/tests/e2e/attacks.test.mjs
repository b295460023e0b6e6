// Hostile documents, words, names and labels: no dialog, no request, no error, and the page stays whole.
import { mkdtempSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { hasBrowser } from "../../scripts/browser.mjs";
import { writePage } from "../../scripts/page-file.mjs";
import { syntheticReport } from "../../scripts/synthetic-report.mjs";
import { ATTACKS } from "./attacks.mjs";
import { jsonLines, run } from "./program.mjs";
import { openBrowser, settled } from "./watched.mjs";

const VIEWS = ["topics", "topic", "documents", "map", "words", "time", "groups", "compare", "run", "try"];
const LONG = "x".repeat(10_000_000);

/** Looks at every view, opens documents, hovers and clicks; returns what went wrong. */
async function visit(browser, file) {
  const { page, trouble, close, go } = await browser.open(file);
  await page.waitForSelector("nav[aria-label=Views]");
  for (const view of VIEWS) {
    await go(`#/${view}?topics=0,1&document=0&word=${encodeURIComponent(ATTACKS[0])}`);
    await page.locator("main").hover();
    const toggle = page.locator("main [data-table-toggle]").first();
    if (await toggle.count()) await toggle.click();
    await settled(page);
  }
  await page.emulateMedia({ media: "print" });
  await settled(page);
  await page.emulateMedia({ media: "screen" });
  await settled(page);
  // Elements that only markup in the data could have made.
  const made = await page.evaluate(
    () => document.querySelectorAll("main script, img, iframe, style:not(head *), link, base, meta:not(head *)").length,
  );
  const visible = await page.locator("nav[aria-label=Views]").isVisible();
  await close();
  return { trouble, made, visible };
}

describe.skipIf(!hasBrowser())("hostile text", () => {
  let browser, folder;
  beforeAll(async () => {
    folder = mkdtempSync(join(tmpdir(), "gibbstream-attacks-"));
    browser = await openBrowser();
  });
  afterAll(() => browser?.close());

  test("a dialog, a request and an error would be seen", async () => {
    writeFileSync(
      join(folder, "control.html"),
      "<script>alert(1); console.log(2); missing()</script><img src=http://attacker.invalid/x.png>",
    );
    const { page, trouble, close } = await browser.open(join(folder, "control.html"));
    await settled(page);
    await close();
    for (const kind of ["dialog: 1", "console log: 2", "error:", "request: http://attacker.invalid"]) {
      expect(trouble.some((each) => each.startsWith(kind))).toBe(true);
    }
  });

  test("in every string of the data", async () => {
    const report = syntheticReport({ topics: 10, documents: 60 });
    const attack = (i) => ATTACKS[i % ATTACKS.length];
    report.title = attack(1);
    report.generator = attack(0);
    report.model.method = attack(2);
    report.model.settings = ATTACKS.map((each) => [each, each]);
    report.topics.forEach((topic, i) => (topic.label = attack(i)));
    report.words.text = report.words.text.map((word, i) => (i < 200 ? `${attack(i)}${i}` : word));
    report.words.text[0] = ATTACKS[0];
    report.words.text[1] = LONG;
    report.documents.ids = report.documents.ids.map((_, i) => attack(i));
    report.documents.texts.forEach((text, i) => (text.text = ATTACKS.slice(i % 5).join(" ")));
    report.documents.texts[0] = { text: LONG, left_out: 5, tokens: [0, 10_000_000, 0] };
    report.groups.names = report.groups.names.map((_, i) => attack(i));
    report.groups.field = attack(3);
    report.comparison.name = attack(4);
    report.comparison.labels = report.comparison.labels.map((_, i) => attack(i));
    report.comparison.gained = report.comparison.gained.map(() => ATTACKS);
    report.labels = { 0: { label: attack(6), note: attack(7) }, 1: { label: LONG.slice(0, 100_000) } };
    report.commands = { program: attack(0), python: attack(1), model: attack(2), inputs: ATTACKS };
    report.run.history[0].inputs = ATTACKS;
    report.missing = { documents: attack(0) };
    writePage(report, join(folder, "strings.html"));
    expect(await visit(browser, join(folder, "strings.html"))).toEqual({ trouble: [], made: 0, visible: true });
  });

  test("in documents that the program read", async () => {
    const texts = Array.from(
      { length: 300 },
      (_, i) =>
        `${ATTACKS[i % ATTACKS.length]} garden plant soil ship sea sail ${ATTACKS[(i * 7) % ATTACKS.length]} alert onerror`,
    );
    texts.push(LONG);
    const rows = texts.map((text, i) => ({
      id: ATTACKS[i % ATTACKS.length],
      text: text.toWellFormed(),
      date: "2024-01-0" + (1 + (i % 9)),
      section: ATTACKS[i % ATTACKS.length].toWellFormed(),
    }));
    const corpus = join(folder, "attacks.jsonl");
    writeFileSync(corpus, jsonLines(rows.map((row) => ({ ...row, id: row.id.toWellFormed() }))));
    run("train", corpus, "--topics", "4", "--passes", "1", "--no-progress", "--out", join(folder, "attacks.gbs"));
    const page = join(folder, "attacks.html");
    run(
      "report",
      join(folder, "attacks.gbs"),
      corpus,
      "--time-field",
      "date",
      "--group-field",
      "section",
      "--title",
      ATTACKS[1],
      "--out",
      page,
    );
    expect(await visit(browser, page)).toEqual({ trouble: [], made: 0, visible: true });
  });
});
