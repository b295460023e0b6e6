// How the page behaves when it is large: time to the topics, and the longest frame while scrolling and filtering.
// Measured in the browser, on this machine, now: reported in docs/benchmarks.md, never asserted.
import { mkdtempSync, rmSync, statSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { launch } from "./browser.mjs";
import { writePage } from "./page-file.mjs";
import { syntheticReport } from "./synthetic-report.mjs";

const SIZES = [
  { topics: 2000, vocabulary: 100_000, documents: 2000 },
  { topics: 100, vocabulary: 20_000, documents: 50_000 },
];

/** Runs `act` in the page; the longest time between two frames meanwhile, in milliseconds. */
async function longestFrame(page, act) {
  await page.evaluate(() => {
    window.gaps = [];
    let last;
    const watch = (now) => {
      if (last !== undefined) window.gaps.push(now - last);
      last = now;
      window.watching = requestAnimationFrame(watch);
    };
    window.watching = requestAnimationFrame(watch);
  });
  await act();
  return page.evaluate(() => (cancelAnimationFrame(window.watching), Math.max(...window.gaps)));
}

/**
 * The same for the longest task of the page's main thread in CPU time, which does not depend on what else the machine is
 * doing. Tracing costs frames of its own, so the two are not measured together.
 */
async function longestTask(page, act) {
  const browser = page.context().browser();
  await browser.startTracing(page, { categories: ["toplevel", "disabled-by-default-devtools.timeline"] });
  await act();
  const { traceEvents } = JSON.parse((await browser.stopTracing()).toString());
  const main = traceEvents.find(({ name, args }) => name === "thread_name" && args.name === "CrRendererMain");
  const here = traceEvents.filter(({ ph, tid, pid }) => ph === "X" && tid === main?.tid && pid === main?.pid);
  // Messages to the debugger itself are no work of the page.
  const messages = here.filter(({ name }) => name === "Receive mojo message");
  const isMessage = ({ ts, dur }) => messages.some((one) => one.ts >= ts && one.ts + one.dur <= ts + dur);
  const tasks = here.filter((task) => task.name.endsWith("RunTask") && !isMessage(task));
  if (!tasks.some(({ tdur }) => tdur > 0)) throw new Error("the browser gives no CPU times of tasks");
  return Math.max(...tasks.map(({ tdur = 0 }) => tdur)) / 1000;
}

const scroll = (page, selector) =>
  page.evaluate(async (within) => {
    const box = document.querySelector(within);
    box.scrollTop = 0;
    for (let i = 0; i < 60; i++) {
      box.scrollTop += 400 + (i % 7) * 350;
      await new Promise((frame) => requestAnimationFrame(frame));
    }
  }, selector);

async function type(page, placeholder, text) {
  const field = page.getByPlaceholder(placeholder).last();
  await field.fill("");
  await field.click();
  for (const letter of text) {
    await page.keyboard.type(letter);
    await page.waitForTimeout(80);
  }
  await page.waitForTimeout(400);
}

async function measure(browser, size, folder) {
  const path = join(folder, `${size.topics}-${size.documents}.html`);
  writePage(syntheticReport(size), path);
  const page = await browser.newPage({ viewport: { width: 1360, height: 860 } });
  const session = await page.context().newCDPSession(page);
  await session.send("Performance.enable", { timeDomain: "threadTicks" });
  await page.goto(pathToFileURL(path).href, { waitUntil: "commit" });
  await page.waitForSelector("[role=grid] [role=row][aria-rowindex='3']");
  const opened = await page.evaluate(
    () => new Promise((frame) => requestAnimationFrame(() => requestAnimationFrame(() => frame(performance.now())))),
  );
  const { metrics } = await session.send("Performance.getMetrics");
  await session.send("Performance.disable");
  await page.evaluate(() => (location.hash = "#/documents"));
  await page.waitForFunction(
    () => document.querySelector("[role=status]") && !/unpacked/.test(document.querySelector("main").textContent),
    null,
    {
      timeout: 120_000,
    },
  );
  const unpacked = await page.evaluate(() => performance.now());
  const result = {
    ...size,
    "file MB": statSync(path).size / 1e6,
    "topics shown, s": opened / 1000,
    "topics shown, CPU s": metrics.find(({ name }) => name === "TaskDuration").value,
    "all texts there, s": unpacked / 1000,
  };
  const go = async (hash) => {
    await page.evaluate((to) => (location.hash = to), hash);
    await page.waitForTimeout(500);
  };
  const note = async (name, act) => {
    result[`${name}, longest frame ms`] = await longestFrame(page, act);
    result[`${name}, longest task CPU ms`] = await longestTask(page, act);
  };
  await go("#/topics");
  await note("scroll topics", () => scroll(page, "[role=grid]"));
  await note("filter topics", () => type(page, "Find by word, label or id", "garden"));
  await go("#/documents");
  await note("scroll documents", () => scroll(page, "[role=listbox][aria-label=Documents]"));
  await note("filter documents", () => type(page, "Find text", "soil"));
  await go("#/documents?topics=3");
  await note("next topic", async () => {
    for (let i = 0; i < 5; i++) {
      await page.keyboard.press("]");
      await page.waitForTimeout(150);
    }
  });
  await page.close();
  return result;
}

const folder = mkdtempSync(join(tmpdir(), "gibbstream-sizes-"));
const browser = await launch();
try {
  for (const size of SIZES) {
    const result = await measure(browser, size, folder);
    console.log(
      JSON.stringify(
        Object.fromEntries(Object.entries(result).map(([name, value]) => [name, Number(value.toFixed(2))])),
      ),
    );
  }
} finally {
  await browser.close();
  rmSync(folder, { recursive: true });
}
