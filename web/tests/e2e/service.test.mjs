// The page over the real service: documents that come in while it is open are seen without a reload.
import { afterAll, afterEach, beforeAll, describe, expect, test } from "vitest";
import { hasBrowser } from "../../scripts/browser.mjs";
import { realService } from "./service.mjs";
import { accessibilityFaults, download, openBrowser } from "./watched.mjs";

const BATCH = 50;
const FLAGS = ["--topics", "8", "--batch", String(BATCH), "--holdout", "40", "--eval-every", "1"];

describe.skipIf(!hasBrowser())("the page over a running service", () => {
  let browser, service, view;
  beforeAll(async () => {
    browser = await openBrowser();
  });
  afterAll(() => browser?.close());
  afterEach(async () => {
    await view?.close();
    await service?.close();
  });
  const start = async (hash, { documents = 0 } = {}) => {
    service = await realService(...FLAGS);
    if (documents) {
      await service.post(documents);
      await expect.poll(async () => (await service.progress()).waiting, { timeout: 20_000 }).toBe(0);
    }
    view = await browser.open(service.url, { hash });
    // A reload would lose it.
    await view.page.evaluate(() => (window.sameDocument = true));
    return view.page;
  };
  const isSameDocument = () => view.page.evaluate(() => window.sameDocument === true);
  const points = (page, name) =>
    page.locator(`section[aria-labelledby=figure-${name}] tbody tr`).evaluateAll((rows) => rows.length);

  test("before anything was learnt it says what to do, and opens by itself", async () => {
    const page = await start("#/topics");
    await page.getByRole("heading", { name: "Nothing learnt yet" }).waitFor();
    expect(await page.locator("pre").innerText()).toContain(`${service.url}v1/documents`);
    expect(await accessibilityFaults(page)).toEqual([]);
    await service.post(40 + BATCH);
    await page.getByRole("grid").waitFor({ timeout: 20_000 });
    await page.getByText(`Live: ${BATCH} documents learnt`).waitFor();
    expect(await isSameDocument()).toBe(true);
  });

  test("documents posted while it is open change counts, curves and the timeline", async () => {
    const page = await start("#/run?table=score", { documents: 40 + BATCH });
    await page.getByText(`Live: ${BATCH} documents learnt`).waitFor();
    expect(await points(page, "score")).toBe(1);
    // Rates are there from the second minibatch on.
    expect(await page.locator("#figure-step").count()).toBe(0);
    for (let i = 2; i <= 4; i++) {
      await service.post(BATCH);
      await page.getByText(`Live: ${i * BATCH} documents learnt`).waitFor({ timeout: 20_000 });
    }
    await expect.poll(() => points(page, "score"), { timeout: 20_000 }).toBe(4);
    await page.locator("#figure-step").waitFor();
    await view.go("#/run?table=step");
    await expect.poll(() => points(page, "step"), { timeout: 20_000 }).toBe(4);

    await view.go("#/time?table=time");
    const seen = () =>
      page
        .locator("section[aria-labelledby=figure-time] tbody tr td:nth-child(2)")
        .evaluateAll((cells) => cells.reduce((sum, cell) => sum + Number(cell.textContent.replaceAll(",", "")), 0));
    await expect.poll(seen, { timeout: 20_000 }).toBe(4 * BATCH);
    await service.post(BATCH);
    await expect.poll(seen, { timeout: 20_000 }).toBe(5 * BATCH);
    // The shares are those that the service tells.
    const { topics } = await service.ask("v1/timeline");
    const { timeline } = await service.ask("v1/report");
    timeline.shares.forEach((row, k) => row.forEach((share, i) => expect(share).toBeCloseTo(topics[k].share[i], 4)));
    expect(await accessibilityFaults(page)).toEqual([]);
    const file = await download(page, () => page.getByRole("button", { name: "SVG" }).last().click());
    expect(file.bytes.toString()).toMatch(/^<svg /);
    expect(await isSameDocument()).toBe(true);
    expect(view.trouble).toEqual([]);
  });

  test("learning is paused, goes on, and is saved", async () => {
    const page = await start("#/run", { documents: 40 + BATCH });
    await page.getByRole("button", { name: "Pause learning" }).click();
    await page.getByText("pause: done").waitFor();
    await page.getByText("learnt, paused").waitFor();
    await service.post(BATCH);
    await page.getByText(`${BATCH} waiting, paused`).waitFor();
    expect((await service.progress()).documents).toBe(BATCH);
    await page.getByRole("button", { name: "Resume learning" }).click();
    await page.getByText(`Live: ${2 * BATCH} documents learnt.`).waitFor({ timeout: 20_000 });
    await page.getByRole("button", { name: "Checkpoint now" }).click();
    await page.getByText("checkpoint: done").waitFor();
    expect((await service.progress()).checkpoint_documents).toBe(2 * BATCH);
    expect(view.trouble).toEqual([]);
  });

  test("a service that is killed is missed, and found again", async () => {
    const page = await start("#/topics", { documents: 40 + 2 * BATCH });
    await page.getByText(`Live: ${2 * BATCH} documents learnt`).waitFor();
    await service.ended("SIGKILL");
    await page.getByText("Connection lost.").waitFor();
    expect(await page.getByRole("grid").isVisible()).toBe(true);
    await service.start();
    await service.post(BATCH);
    await page.getByText(`Live: ${3 * BATCH} documents learnt`).waitFor({ timeout: 30_000 });
    expect(await page.getByText("Connection lost.").count()).toBe(0);
    expect(await isSameDocument()).toBe(true);
  });
});
