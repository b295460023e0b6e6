// The page in the frame that a notebook shows: it has no address and no memory of its own there.
import { readFileSync, writeFileSync } from "node:fs";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { hasBrowser } from "../../scripts/browser.mjs";
import { workshop } from "./program.mjs";
import { download, openBrowser } from "./watched.mjs";

const escaped = (text) =>
  text.replace(/[&<>"]/g, (c) => ({ "&": "&amp;", "<": "&lt;", ">": "&gt;", '"': "&quot;" })[c]);

describe.skipIf(!hasBrowser())("the page in a notebook", () => {
  let browser, view, frame;
  beforeAll(async () => {
    browser = await openBrowser();
    const shop = workshop();
    const page = readFileSync(shop.at("page.html"), "utf8");
    // As Page._repr_html_ in python/gibbstream/exploring.py writes it.
    const cell = `<iframe title="Topics" srcdoc="${escaped(page)}" sandbox="allow-scripts allow-downloads" style="width: 100%; height: 720px"></iframe>`;
    writeFileSync(
      shop.at("notebook.html"),
      `<!doctype html><meta charset="utf-8"><title>notebook</title><h1>Notebook</h1>${cell}`,
    );
    view = await browser.open(shop.at("notebook.html"));
    frame = view.page.frameLocator("iframe");
  });
  afterAll(async () => {
    await view?.close();
    await browser?.close();
  });

  test("links, choices and downloads work inside, and the notebook stays", async () => {
    await frame.getByRole("grid").waitFor();
    const address = view.page.url();
    await frame.getByRole("link", { name: "Documents", exact: true }).click();
    await frame.getByLabel(/text/i).first().waitFor();
    await frame.getByRole("link", { name: "Map", exact: true }).click();
    await frame.getByRole("heading", { name: "Map of topics" }).waitFor();
    const file = await download(view.page, () => frame.getByRole("button", { name: "CSV" }).first().click());
    expect(file.bytes.toString()).toContain("topic,label");
    expect(view.page.url()).toBe(address);
    expect(await view.page.getByRole("heading", { name: "Notebook" }).count()).toBe(1);
    expect(view.trouble).toEqual([]);
  });
});
