// What the user writes about topics: labels, notes, hidden and merged ones. Plain values; every change can be undone.

export interface TopicEdit {
  label?: string;
  note?: string;
  hidden?: boolean;
  merged_into?: number;
}
export type Edits = Readonly<Record<number, TopicEdit>>;

export const LABELS_SCHEMA = "gibbstream/labels/1";

interface LabelsFile {
  schema: string;
  model_hash: string;
  topics: Record<string, TopicEdit>;
}

/** Drops what says nothing, so that equal edits are equal values. */
function tidy(edit: TopicEdit): TopicEdit {
  const tidied: TopicEdit = {};
  if (edit.label?.trim()) tidied.label = edit.label.trim();
  if (edit.note?.trim()) tidied.note = edit.note.trim();
  if (edit.hidden) tidied.hidden = true;
  if (edit.merged_into !== undefined) tidied.merged_into = edit.merged_into;
  return tidied;
}

/** `edits` with a change to one topic. */
export function change(edits: Edits, topic: number, by: TopicEdit): Edits {
  const edit = tidy({ ...edits[topic], ...by });
  const { [topic]: _, ...others } = edits;
  return Object.keys(edit).length ? { ...others, [topic]: edit } : others;
}

/** The topic that `topic` is shown as; a chain of merges is followed, a circle is cut. */
export function shownAs(edits: Edits, topic: number): number {
  const seen = new Set<number>();
  let root = topic;
  while (edits[root]?.merged_into !== undefined && !seen.has(root)) {
    seen.add(root);
    root = edits[root]!.merged_into!;
  }
  return seen.has(root) ? Math.min(...seen) : root;
}

/** Shows `topics` as one: that of `into`. */
export function merge(edits: Edits, topics: number[], into: number): Edits {
  const root = shownAs(edits, into);
  return topics
    .map((topic) => shownAs(edits, topic))
    .filter((topic) => topic !== root)
    .reduce((all, topic) => change(all, topic, { merged_into: root }), edits);
}

/** Takes a merged topic apart again. */
export function separate(edits: Edits, root: number): Edits {
  const members = Object.keys(edits).map(Number);
  return members
    .filter((topic) => topic !== root && shownAs(edits, topic) === root)
    .reduce((all, topic) => change(all, topic, { merged_into: undefined }), edits);
}

export function toFile(edits: Edits, modelHash: string): string {
  const file: LabelsFile = { schema: LABELS_SCHEMA, model_hash: modelHash, topics: { ...edits } };
  return JSON.stringify(file, null, 2) + "\n";
}

/** Reads a labels file; throws an error that can be shown. */
export function fromFile(text: string, modelHash: string, topics: number): Edits {
  let file: Partial<LabelsFile>;
  try {
    file = JSON.parse(text) as Partial<LabelsFile>;
  } catch {
    throw new Error("This is not a labels file: it is not JSON.");
  }
  if (file?.schema !== LABELS_SCHEMA) {
    throw new Error(
      `This is not a labels file: its schema is ${JSON.stringify(file?.schema)}, not "${LABELS_SCHEMA}".`,
    );
  }
  if (file.model_hash !== modelHash) {
    throw new Error(`These labels belong to another model (${file.model_hash}); this one is ${modelHash}.`);
  }
  return fromRecord(file.topics ?? {}, topics);
}

/** Edits from untrusted values: wrong types and unknown topics are dropped. */
export function fromRecord(record: Record<string, unknown>, topics: number): Edits {
  const isTopic = (value: unknown): value is number =>
    Number.isInteger(value) && Number(value) >= 0 && Number(value) < topics;
  const edits: Record<number, TopicEdit> = {};
  for (const [key, value] of Object.entries(record)) {
    const topic = Number(key);
    if (!/^\d+$/.test(key) || !isTopic(topic) || typeof value !== "object" || value === null) continue;
    const { label, note, hidden, merged_into } = value as Record<string, unknown>;
    const edit = tidy({
      label: typeof label === "string" ? label : undefined,
      note: typeof note === "string" ? note : undefined,
      hidden: hidden === true,
      merged_into: isTopic(merged_into) && merged_into !== topic ? merged_into : undefined,
    });
    if (Object.keys(edit).length) edits[topic] = edit;
  }
  return edits;
}

/** A value with its past and future. */
export class History<T> {
  readonly past: readonly T[];
  readonly future: readonly T[];
  constructor(
    readonly now: T,
    past: readonly T[] = [],
    future: readonly T[] = [],
  ) {
    this.past = past;
    this.future = future;
  }
  next(value: T): History<T> {
    return new History(value, [...this.past, this.now].slice(-200), []);
  }
  undo(): History<T> {
    const before = this.past.at(-1);
    return before === undefined ? this : new History(before, this.past.slice(0, -1), [this.now, ...this.future]);
  }
  redo(): History<T> {
    const after = this.future[0];
    return after === undefined ? this : new History(after, [...this.past, this.now], this.future.slice(1));
  }
}
