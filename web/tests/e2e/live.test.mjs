// The same page over a service: live numbers, orders, a token, a connection that is lost and mended.
import { afterAll, afterEach, beforeAll, describe, expect, test } from "vitest";
import { hasBrowser } from "../../scripts/browser.mjs";
import { syntheticReport } from "../../scripts/synthetic-report.mjs";
import { mockService } from "./mock-service.mjs";
import { accessibilityFaults, openBrowser, settled } from "./watched.mjs";

describe.skipIf(!hasBrowser())("the live page", () => {
  let browser, service, view;
  beforeAll(async () => {
    browser = await openBrowser();
  });
  afterAll(() => browser?.close());
  afterEach(async () => {
    await view?.close();
    await service?.close();
  });
  const start = async (hash, options) => {
    service = await mockService(syntheticReport({ topics: 10, documents: 40 }), options);
    view = await browser.open(service.url, { hash });
    return view.page;
  };
  const listening = () => expect.poll(() => service.state.listeners.size, { timeout: 20_000 }).toBe(1);

  test("shows the report, then progress as it comes, without moving", async () => {
    const page = await start("#/run");
    await page.getByText("Live: 10,000 documents learnt").waitFor();
    await listening();
    for (const documents of [10_100, 10_200, 10_300]) {
      service.tell("progress", {
        documents,
        waiting: 7,
        documents_per_second: 123.4,
        alpha_sum: 1.5,
        step: 0.01,
        paused: false,
      });
    }
    await page.getByText("Live: 10,300 documents learnt, 7 waiting").waitFor();
    expect(await page.getByText("123.4").count()).toBeGreaterThan(0);
    // The trace of the report goes on with what was told.
    await page.locator("section[aria-labelledby=figure-step] [data-table-toggle]").click();
    await page.getByRole("button", { name: "Show more" }).click();
    expect(await page.locator("section[aria-labelledby=figure-step] tbody tr").last().innerText()).toContain("10,300");
    expect(await accessibilityFaults(page)).toEqual([]);
    expect(view.trouble).toEqual([]);
  });

  test("a new snapshot is shown, and what was chosen stays", async () => {
    const page = await start("#/topics?topics=4");
    await listening();
    const before = service.state.reports;
    service.state.report = {
      ...service.state.report,
      model: { ...service.state.report.model, documents: 20_000, model_hash: "newer" },
      topics: service.state.report.topics.map((topic) => ({ ...topic, label: `newer ${topic.label}` })),
    };
    for (let i = 0; i < 5; i++) service.tell("snapshot", { model_hash: "newer", documents: 20_000 });
    await page.getByText("from 20,000 documents").waitFor();
    expect(await page.locator("[role=row][aria-selected=true]").innerText()).toContain("newer");
    await page.waitForTimeout(300);
    // Five snapshots at once are one or two questions.
    expect(service.state.reports - before).toBeLessThanOrEqual(2);
    expect(view.trouble).toEqual([]);
  });

  test("orders are sent, and a refusal is told", async () => {
    const page = await start("#/run");
    await listening();
    await page.getByRole("button", { name: "Pause learning" }).click();
    await page.getByText("pause: done").waitFor();
    service.tell("progress", { documents: 10_001, paused: true });
    await page.getByRole("button", { name: "Resume learning" }).click();
    await page.getByText("resume: done").waitFor();
    await page.getByRole("button", { name: "Checkpoint now" }).click();
    await page.getByText("the checkpoint could not be written").waitFor();
    expect(service.state.controls).toEqual(["pause", "resume", "checkpoint"]);
    service.tell("alarm", { problem: "the disk is full" });
    await page.getByText("the disk is full").first().waitFor();
  });

  test("a text is inferred by the service", async () => {
    const page = await start("#/try");
    await page.getByLabel("Paste a text").fill("garden plant soil");
    await page.getByRole("button", { name: "What is it about?" }).click();
    const first = page.locator("section[aria-labelledby=figure-tried] svg g[data-topic]").first();
    await first.waitFor();
    expect(await first.getAttribute("data-topic")).toBe("2");
    expect(await first.textContent()).toContain("91 %");
    expect(service.state.inferred).toEqual([{ documents: [{ text: "garden plant soil" }] }]);
  });

  test("a lost connection is told, and mends itself", async () => {
    const page = await start("#/topics");
    await listening();
    service.goAway();
    await page.getByText("Connection lost.").waitFor();
    // What was there can still be read.
    expect(await page.getByRole("grid").isVisible()).toBe(true);
    service.state.report = { ...service.state.report, model: { ...service.state.report.model, documents: 30_000 } };
    service.back();
    await page.getByText("from 30,000 documents").waitFor({ timeout: 20_000 });
    expect(await page.getByText("Connection lost.").count()).toBe(0);
  });

  test("a token is asked for, and a wrong one again", async () => {
    const page = await start("#/topics", { token: "secret" });
    await page.getByLabel("Token").fill("wrong");
    await page.keyboard.press("Enter");
    await page.waitForTimeout(300);
    await page.getByLabel("Token").fill("secret");
    await page.keyboard.press("Enter");
    await page.getByRole("grid").waitFor();
    await listening();
    // Kept while the tab is open, and nowhere in the address.
    await page.reload();
    await page.getByRole("grid").waitFor();
    expect(page.url()).not.toContain("secret");
  });

  test("before anything was learnt it says what to do", async () => {
    service = await mockService(null);
    view = await browser.open(service.url);
    await view.page.getByRole("heading", { name: "Nothing learnt yet" }).waitFor();
    expect(await view.page.locator("pre").innerText()).toContain(`${service.url}v1/documents`);
    expect(await accessibilityFaults(view.page)).toEqual([]);
    service.state.report = syntheticReport({ topics: 10, documents: 0 });
    await view.page.getByRole("grid").waitFor({ timeout: 20_000 });
  });

  test("a service that is not there yet is waited for", async () => {
    service = await mockService(syntheticReport({ topics: 10, documents: 0 }));
    service.state.refuse = true;
    view = await browser.open(service.url);
    await view.page.getByText("No connection").waitFor();
    service.back();
    await view.page.getByRole("grid").waitFor({ timeout: 20_000 });
    await settled(view.page);
  });
});
