// What the page knows and what is chosen: one object that all views read.
import { type Palette, palette } from "../charts/colours.ts";
import { Corpus } from "../data/corpus.ts";
import { type Display, display, type DisplayTopic } from "../data/display.ts";
import { sortTopics } from "../data/find.ts";
import type { Report } from "../data/report.ts";
import type { Source } from "../data/source.ts";
import { type Address, format, MOST_CHOSEN, parse } from "./address.ts";
import {
  change,
  type Edits,
  fromFile,
  fromRecord,
  History,
  merge,
  separate,
  toFile,
  type TopicEdit,
} from "./labels.ts";
import { keep, load } from "./storage.ts";

/** A page in the frame of a notebook has no address of its own. */
const IN_NOTEBOOK = location.protocol === "about:";

export class Explorer {
  readonly source: Source;
  report: Report = $state.raw() as Report;
  address: Address = $state.raw(parse(location.hash));
  corpus: Corpus | null = $derived(
    this.report.documents ? new Corpus(this.report.documents, this.report.groups) : null,
  );
  /** Documents whose text has been unpacked; it follows the corpus, which is filled in place. */
  textsRead = $state(0);
  textsError = $state("");
  /** Said to screen readers. */
  announcement = $state("");
  /** False if the browser refused to keep the labels. */
  kept = $state(true);
  #history: History<Edits> = $state.raw(new History<Edits>({}));

  display: Display = $derived(display(this.report, this.#history.now));
  // Single parts of the address: what depends on one of them rests while the others change.
  lambda = $derived(this.address.lambda ?? this.report.lambda);
  sort = $derived(this.address.sort);
  find = $derived(this.address.find);
  #topics = $derived(this.address.topics.join());

  /** Chosen topics as they are shown; those that do not exist are left out. */
  chosen: number[] = $derived.by(() => {
    const ids = this.#topics ? this.#topics.split(",").map(Number) : [];
    return [...new Set(ids.filter((id) => id < this.report.topics.length).map((id) => this.display.root[id]!))];
  });
  palette: Palette = $derived(palette(this.chosen));
  /** Not hidden, in the order of the list. */
  visible: DisplayTopic[] = $derived(
    sortTopics(
      this.display.topics.filter((topic) => !topic.hidden),
      this.sort,
    ),
  );
  /** The topic that single-topic views show: the first chosen, or the first of the list. */
  current: DisplayTopic = $derived(
    this.display.byId.get(this.chosen[0] ?? -1) ?? this.visible[0] ?? this.display.topics[0]!,
  );

  constructor(source: Source, report: Report) {
    this.source = source;
    this.report = report;
    this.#history = new History(this.#storedEdits());
    addEventListener("hashchange", () => (this.address = parse(location.hash)));
    if (IN_NOTEBOOK) addEventListener("click", (event) => this.#follow(event));
  }

  /** A report of another moment of the same model: what is chosen and written stays. */
  replaceReport(report: Report): void {
    this.report = report;
  }

  /** What was kept in this browser, unless the file brings other labels than it did then: those are newer. */
  #storedEdits(): Edits {
    const topics = this.report.topics.length;
    const given = fromRecord(this.report.labels, topics);
    try {
      const kept = JSON.parse(load(this.#key) ?? "{}") as { given?: string; edits?: Record<string, unknown> };
      const edits = fromRecord(kept.edits ?? {}, topics);
      return kept.given === JSON.stringify(given) ? edits : { ...edits, ...given };
    } catch {
      // Damaged memory of the browser: the labels of the file are still there.
      return given;
    }
  }

  get #key() {
    // A live model changes its hash all the time; its topics keep their ids.
    return this.source.live
      ? `gibbstream labels live ${location.host}`
      : `gibbstream labels ${this.report.model.model_hash}`;
  }

  async readTexts(): Promise<void> {
    const { corpus, report } = this;
    this.textsRead = 0;
    this.textsError = "";
    if (!corpus) return;
    try {
      for await (const group of this.source.texts(report)) {
        if (this.corpus !== corpus) return;
        corpus.add(group);
        this.textsRead = corpus.texts.length;
      }
    } catch (error) {
      this.textsError = `The texts of the documents cannot be unpacked (${String(error)}). Make the page again.`;
    }
  }

  /** A link to a part of this page, where the browser would open the notebook instead. */
  #follow(event: MouseEvent): void {
    const link = event.target instanceof Element ? event.target.closest('a[href^="#"]') : null;
    if (!link || event.defaultPrevented) return;
    event.preventDefault();
    this.address = parse(link.getAttribute("href")!);
  }

  /** Another view or document is a step to come back to; `replace` is for sliders and typing. */
  go(to: Partial<Address>, replace = false): void {
    this.address = { ...this.address, ...to };
    const hash = format(this.address);
    if (hash === location.hash || IN_NOTEBOOK) return;
    if (replace) history.replaceState(null, "", hash);
    else history.pushState(null, "", hash);
  }

  href(to: Partial<Address>): string {
    return format({ ...this.address, ...to });
  }

  choose(id: number, more = false): void {
    const root = this.display.root[id] ?? id;
    const others = this.chosen.filter((topic) => topic !== root);
    if (!more) this.go({ topics: [root] }, true);
    else if (this.chosen.includes(root)) this.go({ topics: others }, true);
    else if (this.chosen.length >= MOST_CHOSEN) {
      this.announcement = `At most ${MOST_CHOSEN} topics can be chosen together.`;
      return;
    } else this.go({ topics: [...this.chosen, root] }, true);
    this.announcement =
      this.chosen.map((topic) => `topic ${topic}, ${this.label(topic)}`).join("; ") || "no topic chosen";
  }

  /** The topic before or after the current one in the list. */
  step(by: number): void {
    const place = this.visible.indexOf(this.current);
    const next = this.visible[place + by];
    if (next) this.choose(next.id);
  }

  label(id: number): string {
    return this.display.byId.get(id)?.label ?? `topic ${id}`;
  }

  // Labels, notes, hidden and merged topics.

  get edits(): Edits {
    return this.#history.now;
  }
  get canUndo(): boolean {
    return this.#history.past.length > 0;
  }
  get canRedo(): boolean {
    return this.#history.future.length > 0;
  }

  #set(history: History<Edits>, said: string): void {
    this.#history = history;
    const given = JSON.stringify(fromRecord(this.report.labels, this.report.topics.length));
    this.kept = keep(this.#key, JSON.stringify({ given, edits: history.now }));
    this.announcement = said;
  }
  edit(topic: number, by: TopicEdit): void {
    const edits = change(this.edits, topic, by);
    if (JSON.stringify(edits) !== JSON.stringify(this.edits)) this.#set(this.#history.next(edits), "changed");
  }
  mergeInto(topics: number[], into: number): void {
    this.#set(this.#history.next(merge(this.edits, topics, into)), `merged for display into ${this.label(into)}`);
  }
  mergeAll(groups: number[][]): void {
    const share = (topic: number) => this.report.topics[topic]!.share;
    const edits = groups.reduce((all, group) => {
      const largest = group.reduce((a, b) => (share(b) > share(a) ? b : a));
      return merge(all, group, largest);
    }, this.edits);
    this.#set(this.#history.next(edits), "merged for display");
  }
  separate(topic: number): void {
    this.#set(this.#history.next(separate(this.edits, topic)), "taken apart");
  }
  undo(): void {
    if (this.canUndo) this.#set(this.#history.undo(), "undone");
  }
  redo(): void {
    if (this.canRedo) this.#set(this.#history.redo(), "done again");
  }
  labelsFile(): string {
    return toFile(this.edits, this.report.model.model_hash);
  }
  readLabelsFile(text: string): void {
    const { model_hash } = this.report.model;
    this.#set(this.#history.next(fromFile(text, model_hash, this.report.topics.length)), "labels read");
  }
}
