// Topics as they are shown: with the user's labels, hidden ones marked, merged ones added up.
import { type Edits, shownAs } from "../state/labels.ts";
import type { Corpus } from "./corpus.ts";
import type { Report, Topic } from "./report.ts";

export interface DisplayTopic {
  id: number;
  label: string;
  /** The label that the program made. */
  automatic: string;
  note: string;
  hidden: boolean;
  /** Ids of the model's topics that are shown as this one; the first is its own. */
  members: number[];
  share: number;
  alpha: number;
  coherence: number | null;
  exclusivity: number | null;
  effectiveWords: number | null;
  inUse: boolean;
  /** Share in every period; null where a period has no tokens. */
  trend: (number | null)[] | null;
  /** Words (places in `words` of the report) and p(word | topic) of each. */
  words: number[];
  weights: number[];
}

export interface Display {
  /** In the order of ids, hidden ones too. */
  topics: DisplayTopic[];
  byId: Map<number, DisplayTopic>;
  /** From a topic of the model to the id it is shown as. */
  root: Int32Array;
}

/** p(word | topics taken together), over the words that any of them lists. */
function mergedWords(report: Report, members: number[], share: number): { words: number[]; weights: number[] } {
  const words = [...new Set(members.flatMap((id) => report.topics[id]!.words))];
  const listed = members.map((id) => {
    const topic = report.topics[id]!;
    return new Map(topic.words.map((word, i) => [word, topic.weights[i]!]));
  });
  const weights = words.map((word) => {
    const tokens = members.map((id, m) => {
      const weight = listed[m]!.get(word);
      if (weight !== undefined) return report.topics[id]!.share * weight;
      // A word that this topic does not list: from the word's own topics, p(k | w) p(w).
      const place = report.words.topics[word]!.indexOf(id);
      return place < 0 ? 0 : report.words.topic_shares[word]![place]! * report.words.share[word]!;
    });
    return tokens.reduce((a, b) => a + b, 0) / share;
  });
  return { words, weights };
}

function shown(report: Report, topic: Topic, members: number[], edits: Edits): DisplayTopic {
  const edit = edits[topic.id] ?? {};
  const one = members.length === 1;
  const all = members.map((id) => report.topics[id]!);
  const share = all.reduce((sum, each) => sum + each.share, 0);
  const trends = all.map((each) => report.timeline?.shares[each.id] ?? null);
  return {
    id: topic.id,
    label: edit.label ?? topic.label,
    automatic: topic.label,
    note: edit.note ?? "",
    hidden: edit.hidden ?? false,
    members,
    share,
    alpha: all.reduce((sum, each) => sum + each.alpha, 0),
    coherence: one ? (topic.coherence ?? null) : null,
    exclusivity: one ? topic.exclusivity : null,
    effectiveWords: one ? topic.effective_words : null,
    inUse: all.some((each) => each.in_use),
    trend: trends.every((trend) => trend !== null) ? sumRows(trends) : null,
    ...(one ? { words: topic.words, weights: topic.weights } : mergedWords(report, members, share)),
  };
}

export function display(report: Report, edits: Edits): Display {
  const root = Int32Array.from(report.topics, (topic) => shownAs(edits, topic.id));
  const members = new Map<number, number[]>();
  report.topics.forEach(({ id }) => {
    const list = members.get(root[id]!);
    if (!list) members.set(root[id]!, id === root[id] ? [id] : [root[id]!, id]);
    else if (id !== root[id]) list.push(id);
  });
  const topics = [...members].map(([id, list]) => shown(report, report.topics[id]!, list, edits));
  topics.sort((a, b) => a.id - b.id);
  return { topics, byId: new Map(topics.map((topic) => [topic.id, topic])), root };
}

/** Rows added up, place by place; unknown if any part is. */
export function sumRows(rows: (number | null)[][]): (number | null)[] {
  if (rows.length === 1) return rows[0]!;
  return rows[0]!.map((_, i) =>
    rows.reduce<number | null>((sum, row) => (sum === null || row[i] === null ? null : sum + row[i]!), 0),
  );
}

export interface RankedWord {
  word: number;
  text: string;
  /** p(word | topic) */
  weight: number;
  /** p(word) */
  overall: number;
  /** p(topic | word): the part of all uses that belong to the topic. */
  part: number;
  relevance: number;
}

/** lambda log p(w|k) + (1 - lambda) log(p(w|k) / p(w)), as in LDAvis; most relevant first. */
export function rankedWords(report: Report, topic: DisplayTopic, lambda: number, most: number): RankedWord[] {
  const rows = topic.words
    .map((word, i) => ({ word, weight: topic.weights[i]! }))
    .filter(({ word, weight }) => weight > 0 && report.words.share[word]! > 0)
    .map(({ word, weight }) => {
      const overall = report.words.share[word]!;
      const relevance = lambda * Math.log(weight) + (1 - lambda) * Math.log(weight / overall);
      const part = Math.min(1, (weight * topic.share) / overall);
      return { word, text: report.words.text[word]!, weight, overall, part, relevance };
    });
  rows.sort((a, b) => b.relevance - a.relevance || a.word - b.word);
  return rows.slice(0, most);
}

/** Mixture over shown topics: [topic, mean, standard deviation], largest first. */
export function mixture(theta: readonly [number, number, number][], { root }: Display): [number, number, number][] {
  const sums = new Map<number, [number, number]>();
  for (const [topic, mean, deviation] of theta) {
    const [m, d] = sums.get(root[topic]!) ?? [0, 0];
    // Deviations of merged topics are added: at most too wide, never too narrow.
    sums.set(root[topic]!, [m + mean, d + deviation]);
  }
  const rows = [...sums].map(([topic, [mean, deviation]]): [number, number, number] => [topic, mean, deviation]);
  return rows.sort((a, b) => b[1] - a[1]);
}

/** Share of a shown topic in a document. */
export function shareIn(corpus: Corpus, document: number, topic: number, { root }: Display): number {
  const { starts, topics, shares } = corpus.facts.mixtures;
  let sum = 0;
  for (let i = starts[document]!; i < starts[document + 1]!; i++) if (root[topics[i]!] === topic) sum += shares[i]!;
  return sum;
}
