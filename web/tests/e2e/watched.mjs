// A browser page that keeps what must not happen: requests, errors, dialogs.
import { readFileSync } from "node:fs";
import { pathToFileURL } from "node:url";
import { launch } from "../../scripts/browser.mjs";

const axe = readFileSync(new URL("../../node_modules/axe-core/axe.min.js", import.meta.url), "utf8");

export async function openBrowser() {
  const browser = await launch();
  return {
    close: () => browser.close(),
    /** Opens a file from disk (or an address) in a fresh profile. */
    async open(path, { hash = "", ...options } = {}) {
      const context = await browser.newContext({
        viewport: { width: 1360, height: 860 },
        acceptDownloads: true,
        ...options,
      });
      const page = await context.newPage();
      const own = /^https?:/.test(path) ? path : pathToFileURL(path).href;
      const trouble = [];
      // Every request passes here; only the page itself and its own origin over HTTP may.
      await context.route("**", (route) => {
        const url = route.request().url();
        const allowed = url.split("#")[0] === own || (own.startsWith("http") && url.startsWith(new URL(own).origin));
        if (!allowed) trouble.push(`request: ${url.slice(0, 200)}`);
        return allowed ? route.continue() : route.abort();
      });
      page.on("console", (message) => trouble.push(`console ${message.type()}: ${message.text()}`));
      page.on("pageerror", (error) => trouble.push(`error: ${error.message}`));
      page.on("dialog", (dialog) => (trouble.push(`dialog: ${dialog.message()}`), void dialog.dismiss()));
      page.on("popup", () => trouble.push("popup"));
      await page.goto(own + hash);
      return {
        page,
        trouble,
        close: () => context.close(),
        go: async (to) => {
          await page.evaluate((value) => (location.hash = value), to);
          await settled(page);
        },
      };
    },
  };
}

/** Two frames and a moment: effects have run and pictures are drawn. */
export const settled = (page) =>
  page.evaluate(
    () => new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(() => setTimeout(done, 60)))),
  );

/** Serious and critical faults that axe-core finds. */
export async function accessibilityFaults(page) {
  await page.evaluate(axe);
  const { violations } = await page.evaluate(() => window.axe.run(document, { resultTypes: ["violations"] }));
  return violations
    .filter(({ impact }) => impact === "serious" || impact === "critical")
    .map(
      ({ id, help, nodes }) =>
        `${id}: ${help} (${nodes
          .slice(0, 3)
          .map((node) => node.target.join(" "))
          .join("; ")})`,
    );
}

/** Downloads what a click gives, as text or bytes. */
export async function download(page, click) {
  const [file] = await Promise.all([page.waitForEvent("download"), click()]);
  return { name: file.suggestedFilename(), bytes: readFileSync(await file.path()) };
}
