// A tiny report with numbers that can be checked by hand.
import type { Report } from "../../src/data/report.ts";

/** Two topics over four words: shares 0.6 and 0.4. */
export function tinyReport(): Report {
  const phi = [
    [0.5, 0.3, 0.2, 0.0],
    [0.1, 0.0, 0.4, 0.5],
  ];
  const share = [0.6, 0.4];
  const words = [0, 1, 2, 3];
  const overall = words.map((w) => share[0]! * phi[0]![w]! + share[1]! * phi[1]![w]!);
  const owners = words.map((w) => [0, 1].filter((k) => phi[k]![w]! > 0));
  const steps = 1000;
  const code = (p: number) => Math.round(-Math.log(Math.max(p, 1e-9)) * steps);
  return {
    schema: "gibbstream/report/1",
    title: "tiny",
    lambda: 0.6,
    generator: "test",
    model: {
      kind: "lda",
      method: "g-oem",
      topics: 2,
      topics_used: null,
      topics_created: null,
      vocabulary: 4,
      documents: 10,
      tokens: 100,
      updates: 1,
      seed: 0,
      alpha_sum: 1,
      model_hash: "tiny",
      settings: [],
    },
    topics: [0, 1].map((id) => ({
      id,
      created_as: null,
      label: `label ${id}`,
      share: share[id]!,
      alpha: 0.5,
      coherence: 0.1,
      exclusivity: 0.5,
      effective_words: 3,
      in_use: true,
      documents: 5,
      words: words.filter((w) => phi[id]![w]! > 0),
      weights: phi[id]!.filter((p) => p > 0),
    })),
    words: {
      text: ["apple", "bread", "cider", "date"],
      share: overall,
      tokens: overall.map((p) => Math.round(p * 100)),
      topics: owners,
      topic_shares: owners.map((list, w) => list.map((k) => (share[k]! * phi[k]![w]!) / overall[w]!)),
    },
    map: null,
    distances: null,
    hierarchy: null,
    documents: {
      total: 3,
      total_tokens: 12,
      total_unknown_tokens: 1,
      without_words: 0,
      has_texts: true,
      ids: ["one", "", "three"],
      places: [0, 1, 2],
      times: [0, 86_400, 172_800],
      groups: [0, 1, 0],
      tokens: [3, 4, 5],
      unknown_tokens: [0, 1, 0],
      mixtures: {
        starts: [0, 2, 3, 5],
        topics: [0, 1, 1, 0, 1],
        shares: [0.9, 0.1, 1, 0.5, 0.5],
        deviations: [0.1, 0.1, 0, 0.2, 0.2],
      },
      typical: [[0], [1]],
      sample: [0, 1, 2],
      texts: null,
      texts_per_block: 200,
    },
    timeline: null,
    groups: {
      field: "section",
      names: ["a", "b"],
      documents: [2, 1],
      tokens: [75, 25],
      shares: [
        [0.8, 0.2],
        [0.2, 0.8],
      ],
      low: [
        [0.7, 0.1],
        [0.1, 0.7],
      ],
      high: [
        [0.9, 0.3],
        [0.3, 0.9],
      ],
    },
    run: { history: [], evaluations: null, trace: null },
    comparison: null,
    try_table: {
      words,
      starts: [0, 2, 3, 5, 6],
      topics: [0, 1, 0, 0, 1, 1],
      codes: [code(0.5), code(0.1), code(0.3), code(0.2), code(0.4), code(0.5)],
      rest: words.map(() => code(1e-9)),
      steps,
      coverage: 1,
      word_coverage: 1,
      lowercase: true,
      min_length: 2,
      ngrams: 1,
      stop_words: ["the"],
      rules: "second",
      html: "auto",
      keep_urls: false,
      language: "en",
      segmentation: "pairs",
      phrases: [],
      stems: false,
    },
    components: null,
    labels: {},
    commands: { program: "gibbstream report m.gbs --out page.html", python: "x", model: "m.gbs", inputs: [] },
    missing: {},
  } as unknown as Report;
}
