// Pictures of the page for the documentation: light, dark and phone width, over a made-up corpus that the program learns.
//   node scripts/screenshots.mjs PROGRAM [FOLDER]
import { execFileSync } from "node:child_process";
import { mkdirSync, mkdtempSync, readFileSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";
import { launch } from "./browser.mjs";
import { documents } from "./corpus.mjs";
import { writePage } from "./page-file.mjs";

const [, , program, folder = fileURLToPath(new URL("../../docs/img", import.meta.url))] = process.argv;
if (!program) throw new Error("usage: node scripts/screenshots.mjs PROGRAM [FOLDER]");

/** A page of the present sources over a model of the made-up corpus. */
function makePage() {
  const at = (name) => join(workshop, name);
  const workshop = mkdtempSync(join(tmpdir(), "gibbstream-pictures-"));
  const run = (line) => execFileSync(resolve(program), [...line.split(" "), "--quiet"], { cwd: workshop });
  writeFileSync(at("corpus.jsonl"), [...documents(1500)].map((document) => JSON.stringify(document) + "\n").join(""));
  const train = "train corpus.jsonl --topics 12 --passes 5 --holdout 100 --eval-every 3";
  run(`${train} --limit-docs 700 --out before.gbs`);
  run(`${train} --out model.gbs`);
  const fields = "--time-field date --group-field section";
  run(`report model.gbs corpus.jsonl ${fields} --compare before.gbs --format json --out report.json`);
  writePage({ ...JSON.parse(readFileSync(at("report.json"), "utf8")), title: "A made-up corpus" }, at("page.html"));
  return at("page.html");
}

const wide = { width: 1360, height: 860 };
const phone = { width: 390, height: 844 };
const SHOTS = [
  { name: "page-light", view: "topics?topics=5", viewport: wide },
  { name: "page-dark", view: "documents?topics=5,9,2", viewport: wide, colorScheme: "dark" },
  { name: "page-phone", view: "topic?topics=5", viewport: phone, deviceScaleFactor: 2 },
  { name: "page-map", view: "map?topics=5,9,10", viewport: wide },
  { name: "page-time", view: "time?topics=5,9,10", viewport: wide },
];

const page = makePage();
mkdirSync(folder, { recursive: true });
const browser = await launch();
try {
  for (const { name, view, ...options } of SHOTS) {
    const context = await browser.newContext({ colorScheme: "light", reducedMotion: "reduce", ...options });
    const tab = await context.newPage();
    await tab.goto(`${pathToFileURL(page).href}#/${view}`);
    await tab.waitForSelector("nav[aria-label=Views]");
    await tab.waitForFunction(() => !/unpack/.test(document.querySelector("main").textContent));
    await tab.waitForTimeout(500);
    await tab.screenshot({ path: join(folder, `${name}.png`) });
    await context.close();
  }
} finally {
  await browser.close();
}
