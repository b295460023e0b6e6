// Pictures of the page for the documentation: light, dark and phone width, over a made-up corpus.
// Give a page that the program has made (see scripts/corpus.mjs for the corpus):
//   node scripts/screenshots.mjs PAGE.html [FOLDER]
import { mkdirSync } from "node:fs";
import { join, resolve } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";
import { launch } from "./browser.mjs";

const [, , page, folder = fileURLToPath(new URL("../../docs/img", import.meta.url))] = process.argv;
if (!page) throw new Error("usage: node scripts/screenshots.mjs PAGE.html [FOLDER]");

const wide = { width: 1360, height: 860 };
const phone = { width: 390, height: 844 };
const SHOTS = [
  { name: "page-light", view: "topics?topics=5", viewport: wide },
  { name: "page-dark", view: "documents?topics=5,9,2", viewport: wide, colorScheme: "dark" },
  { name: "page-phone", view: "topic?topics=5", viewport: phone, deviceScaleFactor: 2 },
  { name: "page-map", view: "map?topics=5,9,10", viewport: wide },
  { name: "page-time", view: "time?topics=5,9,10", viewport: wide },
];

mkdirSync(folder, { recursive: true });
const browser = await launch();
try {
  for (const { name, view, ...options } of SHOTS) {
    const context = await browser.newContext({ colorScheme: "light", reducedMotion: "reduce", ...options });
    const tab = await context.newPage();
    await tab.goto(`${pathToFileURL(resolve(page)).href}#/${view}`);
    await tab.waitForSelector("nav[aria-label=Views]");
    await tab.waitForFunction(() => !/unpack/.test(document.querySelector("main").textContent));
    await tab.waitForTimeout(500);
    await tab.screenshot({ path: join(folder, `${name}.png`) });
    await context.close();
  }
} finally {
  await browser.close();
}
