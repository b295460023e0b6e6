// The fifteen points of the page, by clicks and keys, on a page that the program has made.
import { readFileSync, writeFileSync } from "node:fs";
import { afterAll, afterEach, beforeAll, describe, expect, test } from "vitest";
import { hasBrowser } from "../../scripts/browser.mjs";
import { writePage } from "../../scripts/page-file.mjs";
import { syntheticReport } from "../../scripts/synthetic-report.mjs";
import { jsonLines, run, workshop } from "./program.mjs";
import { accessibilityFaults, download, openBrowser, settled } from "./watched.mjs";

if (!hasBrowser())
  console.error("\nSKIPPED: no Chromium, so the page is NOT tested in a browser (apt-get install chromium)\n");

describe.skipIf(!hasBrowser())("the page", () => {
  let shop, browser, view, report;
  beforeAll(async () => {
    shop = workshop();
    report = JSON.parse(
      run(
        "report",
        shop.at("model.gbs"),
        shop.at("corpus.jsonl"),
        "--time-field",
        "date",
        "--group-field",
        "section",
        "--format",
        "json",
      ),
    );
    browser = await openBrowser();
  });
  afterAll(() => browser?.close());
  afterEach(async () => {
    const trouble = view?.trouble ?? [];
    await view?.close();
    view = null;
    expect(trouble).toEqual([]);
  });
  const open = async (hash = "", options = {}) => {
    view = await browser.open(shop.at("page.html"), { hash, ...options });
    await view.page.waitForSelector("nav[aria-label=Views]");
    await settled(view.page);
    return view.page;
  };
  const hash = (page) => page.evaluate(() => decodeURIComponent(location.hash));
  const rows = (page) => page.locator('[role=grid] [role=row][aria-rowindex]:not([aria-rowindex="1"])');
  const biggest = () => report.topics.toSorted((a, b) => b.share - a.share || a.id - b.id);

  test("1: the list of topics sorts, filters, chooses several and hides", async () => {
    const page = await open();
    expect(await rows(page).count()).toBe(report.topics.length);
    const first = biggest()[0];
    const text = await rows(page).first().innerText();
    expect(text).toContain(first.label);
    expect(text).toContain(`${Math.round(first.share * 100)} %`);
    expect(text).toContain(first.exclusivity.toFixed(2));
    expect(text).toContain(first.coherence.toFixed(2).replace("-", "−"));
    expect(await rows(page).first().locator("svg[aria-label^=trend]").count()).toBe(1);

    await page.getByRole("button", { name: /^Share/ }).click();
    expect(await rows(page).first().innerText()).toContain(biggest().at(-1).label);
    expect(await hash(page)).toContain("sort=share");
    await page.getByRole("button", { name: /^Coherence/ }).click();
    const coherent = report.topics.toSorted((a, b) => b.coherence - a.coherence)[0];
    expect(await rows(page).first().innerText()).toContain(coherent.label);

    const word = report.words.text[report.topics[4].words[0]];
    await page.getByPlaceholder("Find by word, label or id").fill(word);
    await settled(page);
    expect(
      await rows(page)
        .allInnerTexts()
        .then((all) => all.some((each) => each.includes(report.topics[4].label))),
    ).toBe(true);
    await page.getByPlaceholder("Find by word, label or id").fill("");

    await page.getByLabel("Choose topic 2").check();
    await page.getByLabel("Choose topic 5").check();
    expect(await hash(page)).toContain("topics=2,5");
    await page.getByLabel("Hide topic 2").click();
    expect(await rows(page).count()).toBe(report.topics.length - 1);
    await page.getByLabel(/show 1 hidden/).check();
    expect(await rows(page).count()).toBe(report.topics.length);
  });

  test("2: words by relevance, with lambda, in the topic against overall", async () => {
    const page = await open("#/topic?topics=3");
    const words = async () =>
      page
        .locator("section[aria-labelledby=figure-words] svg [data-key]")
        .evaluateAll((all) => all.map((each) => Number(each.dataset.key)))
        .then((all) => all.map((word) => report.words.text[word]));
    const ranked = (lambda) =>
      report.topics[3].words
        .map((word, i) => {
          const [p, q] = [report.topics[3].weights[i], report.words.share[word]];
          return { word: report.words.text[word], relevance: lambda * Math.log(p) + (1 - lambda) * Math.log(p / q) };
        })
        .sort((a, b) => b.relevance - a.relevance)
        .slice(0, 30)
        .map(({ word }) => word);
    expect(await words()).toEqual(ranked(0.6));
    // With the slider at both ends, by keys.
    await page.getByLabel("Lambda", { exact: true }).focus();
    await page.keyboard.press("End");
    await settled(page);
    expect(await words()).toEqual(ranked(1));
    expect(await hash(page)).toContain("lambda=1");
    await page.keyboard.press("Home");
    await settled(page);
    expect((await words()).slice(0, 5)).toEqual(ranked(0).slice(0, 5));
    // The same order as `topics --lambda`.
    const told = JSON.parse(run("topics", shop.at("model.gbs"), "--words", "10", "--lambda", "1", "--json"));
    expect(ranked(1).slice(0, 10)).toEqual(told.topics[3].words.map(({ word }) => word));
  });

  test("3: documents of a topic, every word tinted, one in full with its mixture", async () => {
    const page = await open("#/documents?topics=3");
    const list = page.getByRole("listbox", { name: "Documents" });
    await list.locator("mark").first().waitFor();
    const shares = await list.locator("[role=option] .where b").allInnerTexts();
    expect(shares.length).toBeGreaterThan(3);
    const values = shares.map((share) => parseFloat(share));
    expect(values).toEqual(values.toSorted((a, b) => b - a));
    await list.locator("[role=option]").nth(1).click();
    await settled(page);
    expect(await hash(page)).toMatch(/document=\d+/);
    const number = Number(/document=(\d+)/.exec(await hash(page))[1]);
    const { mixtures, tokens, texts } = report.documents;
    const article = page.locator("article");
    // Every known word is marked with its topic, and the text is whole.
    expect(await article.locator(".text [data-topic]").count()).toBe(tokens[number]);
    expect(await article.locator(".text").evaluate((each) => each.textContent.trim())).toBe(texts[number].text);
    const topics = mixtures.topics.slice(mixtures.starts[number], mixtures.starts[number + 1]);
    expect(Number(await article.locator("svg [data-topic]").first().getAttribute("data-topic"))).toBe(topics[0]);
    expect(await article.locator("svg line").count()).toBeGreaterThan(2);
    // Arrow keys go on.
    await page.getByRole("listbox", { name: "Documents" }).focus();
    await page.keyboard.press("ArrowDown");
    await settled(page);
    expect(await hash(page)).not.toContain(`document=${number}&`);
  });

  test("4: a word, its topics and its documents", async () => {
    const page = await open("#/words");
    const number = report.topics[3].words[0];
    const word = report.words.text[number];
    await page.keyboard.press("/");
    await page.keyboard.type(word.slice(0, word.length - 1));
    await page.waitForSelector("#offers [role=option]");
    await page.getByRole("combobox", { name: "Word" }).fill(word);
    await page.keyboard.press("Enter");
    await settled(page);
    expect(await hash(page)).toContain(`word=${word}`);
    const owner = page.locator("section[aria-labelledby=figure-owners] svg [data-topic]").first();
    expect(Number(await owner.getAttribute("data-topic"))).toBe(report.words.topics[number][0]);
    await page.waitForFunction(() => /\d+ of \d+ shown/.test(document.querySelector("#with-word")?.textContent ?? ""));
    const has = report.documents.texts.filter(({ text }) =>
      new RegExp(`(^|[^\\p{L}\\p{N}])${word}($|[^\\p{L}\\p{N}])`, "iu").test(text),
    ).length;
    expect(await page.locator("#with-word").innerText()).toContain(`${has.toLocaleString("en")} of`);
    await owner.click();
    expect(await hash(page)).toContain(`topics=${report.words.topics[number][0]}`);
  });

  test("5: labels, notes, merging, undo; kept by the browser, and read back by the program", async () => {
    const page = await open("#/topic?topics=3");
    await page.getByLabel("Label", { exact: true }).fill("<b>Kitchen</b> & co");
    await page.getByLabel("Note", { exact: true }).fill("seen twice");
    await page.keyboard.press("Tab");
    await settled(page);
    expect(await page.locator("main h2").first().innerText()).toContain("<b>Kitchen</b> & co");
    await page.getByLabel("Merge for display into").selectOption("5");
    await settled(page);
    expect(await page.getByText("Shown as one: topics 5, 3").count()).toBe(1);
    const merged = report.topics[3].share + report.topics[5].share;
    expect(await page.locator("main dd").first().innerText()).toBe(`${(merged * 100).toFixed(merged < 0.1 ? 1 : 0)} %`);
    await page.keyboard.press("Control+z");
    await settled(page);
    expect(await page.getByText("Shown as one").count()).toBe(0);
    await page.getByRole("button", { name: "Redo" }).click();
    await settled(page);
    expect(await page.getByText("Shown as one").count()).toBe(1);
    // Kept over a reload.
    await page.reload();
    await page.waitForSelector("nav");
    expect(await page.getByText("Shown as one").count()).toBe(1);
    const { name, bytes } = await download(page, () => page.getByRole("button", { name: "Save labels" }).click());
    expect(name).toBe("labels.json");
    const file = JSON.parse(bytes.toString());
    expect(file).toEqual({
      schema: "gibbstream/labels/1",
      model_hash: report.model.model_hash,
      topics: { 3: { label: "<b>Kitchen</b> & co", note: "seen twice", merged_into: 5 } },
    });
    // A page made with them shows them in a browser that knows nothing.
    writeFileSync(shop.at("labels.json"), bytes);
    shop.report("labelled.html", "--labels", shop.at("labels.json"));
    const other = await browser.open(shop.at("labelled.html"), { hash: "#/topic?topics=5" });
    await other.page.waitForSelector("nav");
    expect(await other.page.getByText("Shown as one: topics 5, 3").count()).toBe(1);
    expect(other.trouble).toEqual([]);
    await other.close();
    // Labels of another model are refused in words.
    writeFileSync(shop.at("wrong.json"), JSON.stringify({ ...file, model_hash: "other" }));
    await page.getByLabel("Labels file").setInputFiles(shop.at("wrong.json"));
    await page.getByText("These labels belong to another model").waitFor();
  });

  test("6: map with its distortion, distance matrix, dendrogram, merging by a threshold", async () => {
    const page = await open("#/map");
    expect(await page.locator("section[aria-labelledby=figure-map] circle[data-topic]").count()).toBe(
      report.topics.length,
    );
    expect(await page.getByText(`stress ${report.map.stress.toFixed(2)}`).count()).toBe(1);
    await page.locator("section[aria-labelledby=figure-map] circle[data-topic='4']").click();
    expect(await hash(page)).toContain("topics=4");
    // Arrow keys walk over the map.
    await page.getByRole("group", { name: /arrow keys/ }).focus();
    for (const key of ["ArrowLeft", "ArrowRight", "ArrowUp", "ArrowDown"]) await page.keyboard.press(key);
    expect(await hash(page)).toMatch(/topics=\d+/);
    await page.getByRole("button", { name: "Table" }).nth(1).click();
    const closest = report.distances.lower
      .flatMap((row, a) => row.map((distance, b) => ({ a, b, distance })))
      .toSorted((p, q) => p.distance - q.distance)[0];
    const cells = await page
      .locator("section[aria-labelledby=figure-distances] tbody tr")
      .first()
      .locator("td")
      .allInnerTexts();
    expect(new Set([Number(cells[0]), Number(cells[1])])).toEqual(new Set([closest.a, closest.b]));
    await page.getByLabel("Merge threshold").focus();
    await page.keyboard.press("End");
    await settled(page);
    expect(await page.getByText(`: ${report.topics.length} topics in 1 groups`).count()).toBe(1);
    await page.getByRole("button", { name: "Merge for display" }).click();
    await settled(page);
    expect(await page.locator("section[aria-labelledby=figure-map] circle[data-topic]").count()).toBe(1);
    await page.getByRole("button", { name: "Undo" }).click();
    await settled(page);
    expect(await page.locator("section[aria-labelledby=figure-map] circle[data-topic]").count()).toBe(
      report.topics.length,
    );
  });

  test("7: shares over time with intervals, and words that rose and fell", async () => {
    const page = await open("#/time?topics=3,5");
    await page.locator("section[aria-labelledby=figure-time] [data-table-toggle]").click();
    const cells = await page
      .locator("section[aria-labelledby=figure-time] tbody tr")
      .first()
      .locator("td")
      .allInnerTexts();
    const close = (text, value) => expect(Number(text.replace("−", "-"))).toBeCloseTo(value, 3);
    close(cells[2], report.timeline.shares[3][0]);
    close(cells[3], report.timeline.low[3][0]);
    close(cells[4], report.timeline.high[3][0]);
    close(cells[5], report.timeline.shares[5][0]);
    await page.getByLabel("First period").selectOption({ index: 2 });
    expect(await hash(page)).toMatch(/between=2,\d+/);
    expect(await page.getByRole("heading", { name: "Rose", exact: true }).count()).toBe(1);
    expect(await page.locator("section[aria-labelledby=figure-multiples] svg").count()).toBe(report.topics.length);
    // Drift: how far all shares of the last period are from those before.
    const drift = report.timeline.drift.at(-1);
    expect(await page.getByText(`from the period before: ${drift.toFixed(3)}`).count()).toBe(1);
  });

  test("7: births and deaths of topics are marked", async () => {
    // Half of the documents tell of one thing, then half of another.
    const day = (i) => new Date(Date.UTC(2024, 0, 1 + Math.floor(i / 10))).toISOString().slice(0, 10);
    const about = (i) =>
      i % 2 ? "garden plant soil seed root" : i < 300 ? "ship sea sail harbour" : "court judge law jury";
    const texts = Array.from({ length: 600 }, (_, i) => ({ date: day(i), text: Array(4).fill(about(i)).join(" ") }));
    writeFileSync(shop.at("turns.jsonl"), jsonLines(texts));
    run(
      "train",
      shop.at("turns.jsonl"),
      "--topics",
      "3",
      "--passes",
      "20",
      "--max-df",
      "1",
      "--no-progress",
      "--out",
      shop.at("turns.gbs"),
    );
    run("report", shop.at("turns.gbs"), shop.at("turns.jsonl"), "--time-field", "date", "--out", shop.at("turns.html"));
    const told = JSON.parse(run("topics", shop.at("turns.gbs"), "--json"));
    const topicOf = (word) =>
      told.topics.findIndex(({ words }) => words.slice(0, 5).some((each) => each.word === word));
    view = await browser.open(shop.at("turns.html"));
    for (const [word, mark] of [
      ["court", "▲"],
      ["ship", "▼"],
    ]) {
      await view.go(`#/time?topics=${topicOf(word)}`);
      const figure = view.page.locator("section[aria-labelledby=figure-time] svg");
      await figure.waitFor();
      expect({ word, marks: (await figure.textContent()).match(/[▲▼]/g) }).toEqual({ word, marks: [mark] });
    }
  });

  test("8: shares by group with intervals", async () => {
    const page = await open("#/groups?topics=3");
    await page.locator("section[aria-labelledby=figure-groups] [data-table-toggle]").click();
    const table = await page
      .locator("section[aria-labelledby=figure-groups] tbody tr")
      .evaluateAll((all) => all.map((row) => [...row.cells].map((cell) => cell.textContent)));
    expect(table).toHaveLength(report.groups.names.length);
    for (const [name, share, low, high] of table) {
      const g = report.groups.names.indexOf(name.trim());
      expect(Number(share)).toBeCloseTo(report.groups.shares[3][g], 3);
      expect(Number(low)).toBeCloseTo(report.groups.low[3][g], 3);
      expect(Number(high)).toBeCloseTo(report.groups.high[3][g], 3);
    }
  });

  test("9: another model beside this one", async () => {
    const page = await open("#/compare");
    expect(await page.locator("main tbody tr").count()).toBe(report.topics.length);
    expect(await page.getByText("before.gbs").count()).toBeGreaterThan(0);
    await page.locator("main tbody tr button").first().click();
    expect(await hash(page)).toMatch(/topics=\d+/);
  });

  test("10: try a document in the file itself", async () => {
    const page = await open("#/try");
    const { text } = report.documents.texts[0];
    await page.getByLabel("Paste a text").fill(`${text} zzyzxword`);
    await page.keyboard.press("Control+Enter");
    await page.waitForSelector("section[aria-labelledby=figure-tried] svg [data-topic]");
    expect(await page.getByText("zzyzxword").count()).toBeGreaterThan(0);
    expect(await page.locator("main .text [data-topic]").count()).toBe(report.documents.tokens[0]);
    // Close to what the program says about the same document.
    const { starts, topics, shares } = report.documents.mixtures;
    const tried = await page.locator("section[aria-labelledby=figure-tried] svg g[data-topic]").first();
    expect(Number(await tried.getAttribute("data-topic"))).toBe(topics[starts[0]]);
    const share = parseFloat(await tried.locator("text").last().textContent()) / 100;
    expect(Math.abs(share - shares[starts[0]])).toBeLessThan(0.1);
    expect(await page.getByText(/sweeps, then 200 kept/).count()).toBe(1);
    // By the rules of the model: markup, addresses, numbers and stop words are no words, possessives are cut.
    const word = report.words.text[report.topics[0].words[0]];
    const raw = `<p class="x">The ${word}&#8217;s <b>${word.slice(0, 2)}</b>${word.slice(2)} of 1,234 https://a.example/b zzyzxword`;
    await page.getByLabel("Paste a text").fill(raw);
    await page.keyboard.press("Control+Enter");
    await page.waitForFunction(() => document.querySelectorAll("main .text [data-topic]").length === 2);
    expect(await page.locator("main .text").innerText()).toBe(raw);
    expect(await page.locator("#tried-words ~ p.hostile").last().innerText()).toBe("zzyzxword");
  });

  test("11: the run, against the unigram", async () => {
    const page = await open("#/run");
    const { evaluations } = report.run;
    await page.locator("section[aria-labelledby=figure-score] [data-table-toggle]").click();
    const cells = await page
      .locator("section[aria-labelledby=figure-score] tbody tr")
      .last()
      .locator("td")
      .allInnerTexts();
    expect(Number(cells[1])).toBeCloseTo(evaluations.score.at(-1), 0);
    expect(Number(cells[3])).toBeCloseTo(evaluations.baseline.at(-1), 0);
    expect(await page.getByText(report.model.model_hash).count()).toBeGreaterThan(0);
  });

  test("12: the address opens what was seen", async () => {
    const page = await open("#/topic?topics=7&lambda=0.2");
    expect(await page.locator("main h2").first().innerText()).toContain(report.topics[7].label);
    expect(await page.getByText("λ = 0.2").count()).toBe(1);
    await page.keyboard.press("]");
    const next = await hash(page);
    const shown = await page.locator("main h2").first().innerText();
    await page.reload();
    await page.waitForSelector("main h2");
    expect(await hash(page)).toBe(next);
    expect(await page.locator("main h2").first().innerText()).toBe(shown);
    await page.getByRole("link", { name: "Map" }).click();
    await page.goBack();
    await settled(page);
    expect(await hash(page)).toBe(next);
    // Ids are those of the model; unknown ones do no harm.
    await view.go("#/topic?topics=999");
    expect(await page.locator("main h2").first().innerText()).toContain(biggest()[0].label);
  });

  test("13: everything by keys, tables behind pictures, print", async () => {
    const page = await open("#/topics");
    await page.getByRole("grid").focus();
    await page.keyboard.press("ArrowDown");
    await page.keyboard.press("ArrowDown");
    expect(await hash(page)).toContain(`topics=${biggest()[2].id}`);
    await page.keyboard.press("Shift+ArrowDown");
    expect(await hash(page)).toContain(`topics=${biggest()[2].id},${biggest()[3].id}`);
    await page.keyboard.press("Enter");
    expect(await hash(page)).toContain("#/topic?");
    await page.keyboard.press("[");
    await page.keyboard.press("t");
    await settled(page);
    expect(await page.locator("section[aria-labelledby=figure-words] table").count()).toBe(1);
    expect(await hash(page)).toContain("table=words");
    await page.keyboard.press("t");
    await page.keyboard.press("?");
    expect(await page.getByRole("dialog").isVisible()).toBe(true);
    await page.keyboard.press("Escape");
    for (const [key, name] of [
      ["3", "documents"],
      ["6", "time"],
      ["0", "try"],
    ]) {
      await page.keyboard.press(key);
      await settled(page);
      expect(await hash(page)).toContain(`#/${name}`);
      // Try takes the digits that follow.
      await page.locator("main").focus();
    }
    // Every picture has a table and a file.
    for (const name of ["topic", "map", "time", "groups", "run"]) {
      await view.go(`#/${name}?topics=3`);
      const figures = await page.locator("main section.figure").count();
      expect(figures).toBeGreaterThan(0);
      expect(await page.locator("main section.figure [data-table-toggle]").count()).toBe(figures);
    }
    await page.emulateMedia({ media: "print" });
    await settled(page);
    expect(await page.locator(".paper section").count()).toBe(report.topics.length);
    await page.emulateMedia({ media: "screen" });
    await settled(page);
    expect(await page.locator("nav").count()).toBe(1);
  });

  test("13: no serious fault for axe-core, light and dark, on every view", async () => {
    for (const colorScheme of ["light", "dark"]) {
      const page = await open("#/topics?topics=3,5", { colorScheme });
      for (const name of ["topics", "topic", "documents", "map", "words", "time", "groups", "compare", "run", "try"]) {
        await view.go(`#/${name}?topics=3,5&word=${encodeURIComponent(report.words.text[0])}&document=0`);
        expect({ [name]: await accessibilityFaults(page) }).toEqual({ [name]: [] });
      }
      expect(view.trouble).toEqual([]);
      await view.close();
    }
    view = null;
  });

  test("13: phone width and 200 % zoom lose nothing", async () => {
    for (const viewport of [
      { width: 360, height: 740 },
      { width: 680, height: 430 },
    ]) {
      const page = await open("#/topics?topics=3", { viewport });
      for (const name of ["topics", "topic", "documents", "map", "words", "time", "groups", "compare", "run", "try"]) {
        await view.go(`#/${name}?topics=3,5&word=${encodeURIComponent(report.words.text[0])}`);
        const wide = await page.evaluate(() => document.documentElement.scrollWidth - innerWidth);
        expect({ name, wide: Math.max(0, wide) }).toEqual({ name, wide: 0 });
        expect(await page.getByRole("link", { name: "Try", exact: true }).isVisible()).toBe(true);
      }
      await view.close();
    }
    view = null;
  });

  test("14: CSV, SVG, PNG, and the lines that give the same numbers", async () => {
    const page = await open("#/topic?topics=3");
    const words = page.locator("section[aria-labelledby=figure-words]");
    const csv = await download(page, () => words.getByRole("button", { name: "CSV" }).click());
    expect(csv.name).toBe("words.csv");
    const lines = csv.bytes.toString().trim().split("\r\n");
    expect(lines).toHaveLength(31);
    expect(lines[0]).toBe("word,in topic,overall,of its uses,relevance");
    const svg = await download(page, () => words.getByRole("button", { name: "SVG" }).click());
    expect(svg.bytes.toString()).toMatch(/^<svg xmlns[^]*<\/svg>\s*$/);
    expect(svg.bytes.toString()).not.toContain("var(");
    const png = await download(page, () => words.getByRole("button", { name: "PNG" }).click());
    expect([...png.bytes.subarray(1, 4)].map((byte) => String.fromCharCode(byte)).join("")).toBe("PNG");
    expect(png.bytes.length).toBeGreaterThan(3000);
    await words.getByRole("button", { name: "How to get this" }).click();
    const command = await words.locator("dd code").first().innerText();
    expect(command).toMatch(/^gibbstream topics .*model\.gbs --words 30 --lambda 0\.6 --json$/);
    const told = JSON.parse(run(...command.split(" ").slice(1)));
    expect(lines[1].split(",")[0]).toBe(told.topics[3].words[0].word);
    // The list has all topics.
    await view.go("#/topics");
    const list = await download(page, () => page.getByRole("button", { name: "CSV" }).first().click());
    expect(list.bytes.toString().trim().split("\r\n")).toHaveLength(report.topics.length + 1);
  });

  test("14: every view is saved as CSV, SVG and PNG, lists and small pictures too", async () => {
    const page = await open();
    const figures = { topics: "topics", documents: "documents", time: "multiples", compare: "pairs" };
    for (const name of [
      "topics",
      "topic",
      "documents",
      "map",
      "words?word=garden",
      "time",
      "groups",
      "compare",
      "run",
    ]) {
      await view.go(`#/${name}`);
      const tools = page.locator("main .figure .tools");
      expect(await tools.count(), name).toBeGreaterThan(0);
      for (const kind of ["CSV", "SVG", "PNG"]) {
        expect(await tools.getByRole("button", { name: kind, exact: true }).count(), name).toBe(await tools.count());
      }
      if (!figures[name]) continue;
      const figure = page.locator(`section[aria-labelledby=figure-${figures[name]}]`);
      const svg = await download(page, () => figure.getByRole("button", { name: "SVG", exact: true }).click());
      expect(svg.name).toBe(`${figures[name]}.svg`);
      const drawn = svg.bytes.toString();
      expect(drawn).toMatch(/^<svg xmlns[^]*<\/svg>\s*$/);
      expect(drawn).not.toMatch(/var\(|NaN|undefined/);
      // All topics are in it; documents have theirs in each row.
      const labels = name === "documents" ? [] : report.topics.map(({ label }) => label.split(/[ ,]/)[0]);
      for (const label of labels) expect(drawn).toContain(label);
      const png = await download(page, () => figure.getByRole("button", { name: "PNG", exact: true }).click());
      expect(png.bytes.subarray(1, 4).toString()).toBe("PNG");
    }
  });

  test("15: thousands of topics, documents and words stay usable", async () => {
    const large = syntheticReport({ topics: 2000, vocabulary: 100_000, documents: 3000 });
    writePage(large, shop.at("large.html"));
    view = await browser.open(shop.at("large.html"));
    const { page } = view;
    const grid = page.getByRole("grid", { name: "Topics" });
    await rows(page).first().waitFor();
    expect(await grid.getAttribute("aria-rowcount")).toBe("2001");
    // Only what is in sight exists, wherever the list stands; rows are in order and belong to their topics.
    const order = large.topics.toSorted((a, b) => b.share - a.share || a.id - b.id);
    for (const at of [0, 300, 45_000, 44_900, Infinity, 0]) {
      await grid.evaluate((box, top) => (box.scrollTop = Math.min(top, box.scrollHeight)), at);
      await settled(page);
      const places = await rows(page).evaluateAll((all) => all.map((row) => Number(row.ariaRowIndex) - 2));
      expect(places.length).toBeLessThan(60);
      expect(places).toEqual(places.map((_, i) => places[0] + i));
      const ids = await rows(page).locator("[role=gridcell].id").allInnerTexts();
      expect(ids.map(Number)).toEqual(places.map((place) => order[place].id));
      if (at === Infinity) expect(places.at(-1)).toBe(1999);
    }
    await page.getByPlaceholder("Find by word, label or id").fill("1777");
    await settled(page);
    expect(await rows(page).first().innerText()).toContain(large.topics[1777].label);
    await rows(page).first().click();
    expect(await hash(page)).toContain("topics=1777");
    await page.keyboard.press("[");

    await view.go("#/documents?topics=3");
    await page.waitForFunction(() => !/unpack|searching/.test(document.querySelector("main").textContent));
    expect(await page.getByRole("listbox", { name: "Documents" }).locator("[role=option]").count()).toBeLessThan(30);
    const word = large.words.text.at(-200);
    await view.go("#/words");
    await page.getByPlaceholder("Type a word").fill(word);
    await settled(page);
    expect(await page.locator("main").innerText()).toContain(word);
  });

  test("views with nothing to show are marked, and give the command that fills them", async () => {
    run("report", shop.at("model.gbs"), shop.at("corpus.jsonl"), "--out", shop.at("plain.html"));
    view = await browser.open(shop.at("plain.html"));
    const { page } = view;
    await rows(page).first().waitFor();
    const marked = await page.locator("nav[aria-label=Views] a.without").allInnerTexts();
    expect(marked.map((each) => each.split(/[\s,]/)[0])).toEqual(["Time", "Groups", "Compare"]);
    expect(await page.getByRole("columnheader", { name: /Trend/ }).count()).toBe(0);
    const cells = await rows(page).first().locator("[role=gridcell]").count();
    expect(Number(await page.getByRole("grid").getAttribute("aria-colcount"))).toBe(cells);
    await view.go("#/time");
    const command = await page.locator(".empty pre").first().innerText();
    const words = command.replace("NAME", "date").split(" ").slice(1);
    run(...words);
    expect(readFileSync(shop.at("plain.html"), "utf8")).toContain("report-data");
    await view.close();
    view = await browser.open(shop.at("plain.html"), { hash: "#/time" });
    await view.page.locator("section svg").first().waitFor();
    expect(await view.page.locator(".empty").count()).toBe(0);
  });

  test("without a choice documents are those of all topics, and no topic looks chosen", async () => {
    const page = await open("#/documents");
    const rail = page.getByRole("complementary", { name: "Topics" });
    expect(await page.getByText("Choose a topic to see its own.").count()).toBe(1);
    expect(await rail.locator(".topic.current").count()).toBe(0);
    // Every row names its largest topic.
    const number = 0;
    const { starts, topics, shares } = report.documents.mixtures;
    const { label } = report.topics[topics[starts[number]]];
    const share = `${Math.round(shares[starts[number]] * 100)} %`;
    const row = page.getByRole("listbox", { name: "Documents" }).locator("[role=option]").first();
    expect(await row.locator(".largest").innerText()).toBe(`${label} ${share}`);
    await rail.locator(".topic").nth(2).click();
    await settled(page);
    expect(await rail.locator(".topic.current").count()).toBe(1);
    expect(await page.getByText("Choose a topic to see its own.").count()).toBe(0);
  });

  test("without documents the page says what is missing and how to get it", async () => {
    run("report", shop.at("model.gbs"), "--out", shop.at("bare.html"));
    view = await browser.open(shop.at("bare.html"), { hash: "#/documents" });
    await view.page.waitForSelector(".empty");
    for (const name of ["documents", "time", "groups", "compare"]) {
      await view.go(`#/${name}`);
      expect(await view.page.locator(".empty").innerText()).toMatch(/run|give|open/i);
    }
    await view.go("#/topics");
    expect(await rows(view.page).count()).toBe(report.topics.length);
  });

  test("a model of numbers shows its components instead of topics", async () => {
    const rows = Array.from(
      { length: 400 },
      (_, i) => `${(i % 2) * 6 + Math.sin(i)},${(i % 2) * -4 + Math.cos(i * 7)}`,
    );
    writeFileSync(shop.at("numbers.csv"), ["height,width", ...rows].join("\n") + "\n");
    run(
      "train",
      shop.at("numbers.csv"),
      "--model",
      "gaussian-mixture",
      "--components",
      "2",
      "--no-progress",
      "--out",
      shop.at("numbers.gbs"),
    );
    run("report", shop.at("numbers.gbs"), "--out", shop.at("numbers.html"));
    view = await browser.open(shop.at("numbers.html"));
    await view.page.waitForSelector("main table");
    expect(await view.page.locator("main tbody tr").count()).toBe(2);
    expect(await view.page.locator("main thead").innerText()).toMatch(/height/);
    await view.page.keyboard.press("]");
    await view.page.getByRole("link", { name: "Run" }).click();
    await settled(view.page);
    expect(await accessibilityFaults(view.page)).toEqual([]);
  });

  test("an empty or damaged file says so", async () => {
    const page = readFileSync(shop.at("page.html"), "utf8");
    const first = page.indexOf('id="report-data">') + 'id="report-data">'.length;
    for (const [name, content, said] of [
      ["empty", page.slice(0, first) + page.slice(page.indexOf("</script>", first)), "No model in this page"],
      ["cut", page.slice(0, first + 400) + page.slice(page.indexOf("</script>", first)), "This page cannot be read"],
    ]) {
      writeFileSync(shop.at(`${name}.html`), content);
      view = await browser.open(shop.at(`${name}.html`));
      await view.page.getByText(said).waitFor();
      expect(view.trouble).toEqual([]);
      await view.close();
    }
    view = null;
  });
});
