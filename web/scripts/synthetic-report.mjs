// A made-up report of any size, for designing and for measuring how the page behaves when it is large.
import { fileURLToPath } from "node:url";
import { pick, random, themes } from "./corpus.mjs";
import { writePage } from "./page-file.mjs";

const round = (x, digits = 5) => Number(x.toFixed(digits));

/** Words of topics: those of the themes, or made-up ones beyond them. */
function vocabularies(topics, vocabulary) {
  const all = themes();
  const everyday = all.pop().words;
  if (topics <= all.length && vocabulary <= 1500) return { pools: all.slice(0, topics).map((t) => t.words), everyday };
  const stems = all.flatMap((t) => t.words);
  const own = Math.max(30, Math.floor((vocabulary - everyday.length) / topics));
  const pools = Array.from({ length: topics }, (_, k) =>
    Array.from({ length: own }, (_, i) => {
      const n = k * own + i;
      const tail = n < stems.length ? "" : Math.floor(n / stems.length).toString(36);
      return stems[n % stems.length] + tail;
    }),
  );
  return { pools, everyday };
}

export function syntheticReport({ topics = 10, vocabulary = 1200, documents = 400, seed = 7, periods = 24 } = {}) {
  const draw = random(seed);
  const { pools, everyday } = vocabularies(topics, vocabulary);
  const text = [...new Set([...pools.flat(), ...everyday])];
  const numberOf = new Map(text.map((word, i) => [word, i]));
  const shares = pools.map((_, k) => 1 / (k + 6));
  const whole = shares.reduce((a, b) => a + b, 0);
  const share = shares.map((s) => s / whole);

  // p(word | topic): four fifths own words, one fifth everyday ones; a little of the next topic's words.
  const falling = (n) => {
    const weights = Array.from({ length: n }, (_, r) => 1 / (r + 4));
    const total = weights.reduce((a, b) => a + b, 0);
    return weights.map((w) => w / total);
  };
  const phi = pools.map((pool, k) => {
    const row = new Map();
    const add = (words, mass) =>
      falling(words.length).forEach((w, r) => {
        const n = numberOf.get(words[r]);
        row.set(n, (row.get(n) ?? 0) + w * mass);
      });
    add(pool, 0.7);
    add(pools[(k + 1) % topics].slice(0, 20), 0.1);
    add(everyday, 0.2);
    return row;
  });
  const overall = new Float64Array(text.length);
  phi.forEach((row, k) => row.forEach((p, w) => (overall[w] += share[k] * p)));
  const owners = text.map(() => []);
  phi.forEach((row, k) => row.forEach((p, w) => owners[w].push([k, round((share[k] * p) / overall[w])])));
  for (const list of owners) list.sort((a, b) => b[1] - a[1]).splice(10);

  const starts = Array.from({ length: periods }, (_, m) => new Date(Date.UTC(2024, m, 1)).toISOString().slice(0, 10));
  const wave = (k, m) =>
    share[k] *
    (1 + 0.5 * Math.sin((2 * Math.PI * (m + 3 * k)) / 12)) *
    (k === 8 ? m / 12 : k === 7 ? Math.max(0.02, 2 - m / 9) : 1);
  const byPeriod = starts.map((_, m) => {
    const row = share.map((_, k) => wave(k, m));
    const total = row.reduce((a, b) => a + b, 0);
    return row.map((x) => x / total);
  });
  const shareOverTime = share.map((_, k) => byPeriod.map((row) => round(row[k])));
  const topOf = (k, n) => [...phi[k]].sort((a, b) => b[1] - a[1]).slice(0, n);

  const topicRows = pools.map((pool, k) => {
    const byWeight = topOf(k, 30).map(([w]) => w);
    const byLift = [...phi[k]]
      .sort((a, b) => b[1] / overall[b[0]] - a[1] / overall[a[0]])
      .slice(0, 30)
      .map(([w]) => w);
    const words = [...new Set([...byWeight, ...byLift])];
    return {
      id: k,
      created_as: null,
      documents: Math.round(share[k] * 10000),
      label: pool.slice(0, 3).join(", "),
      share: round(share[k]),
      alpha: round(share[k]),
      coherence: round(0.35 * draw() - 0.02),
      exclusivity: round(0.3 + 0.6 * draw()),
      effective_words: round(30 + 60 * draw(), 1),

      in_use: true,
      words,
      weights: words.map((w) => round(phi[k].get(w), 6)),
    };
  });

  const distance = (a, b) =>
    round(a === b ? 0 : 0.95 - 0.25 * (Math.abs(a - b) === 1 ? 1 : 0) - 0.1 * (((a * 13 + b * 13) % 10) / 10), 4);
  const nearest = share.map((_, k) => {
    const all = [];
    for (let d = 1; d <= Math.min(10, topics - 1); d++) all.push([(k + d) % topics, distance(k, (k + d) % topics)]);
    return all.sort((a, b) => a[1] - b[1]);
  });
  const lower = topics <= 200 ? share.map((_, a) => Array.from({ length: a }, (_, b) => distance(a, b))) : null;
  const angle = (k) => k * 2.4;
  const map = {
    x: share.map((_, k) => round((Math.sqrt(k + 1) * Math.cos(angle(k))) / Math.sqrt(topics))),
    y: share.map((_, k) => round((Math.sqrt(k + 1) * Math.sin(angle(k))) / Math.sqrt(topics))),
    stress: 0.31,
    explained: 0.42,
  };
  const merges = [];
  for (let i = 0, left = 0; i < topics - 1; i++) {
    merges.push([left, i + 1, round(0.5 + (0.45 * i) / topics)]);
    left = topics + i;
  }

  const groupNames = ["letters", "magazine", "news", "science", "weekend"];
  const groupShare = share.map((s, k) => groupNames.map((_, g) => round(s * (1 + 0.6 * Math.sin(k * 5 + g * 2)))));
  const spread = (rows, by) => rows.map((row) => row.map((x) => round(Math.max(0, x + by * Math.sqrt(x / 400)))));

  const facts = { ids: [], places: [], times: [], groups: [], tokens: [], unknown_tokens: [] };
  const mixtures = { starts: [0], topics: [], shares: [], deviations: [] };
  const texts = [];
  const typical = share.map(() => []);
  for (let i = 0; i < documents; i++) {
    const main = i % topics;
    const second = pick(draw, share);
    const length = 20 + Math.floor(40 * draw());
    const counts = new Map();
    const spans = [];
    let end = 0;
    let body = "";
    for (let t = 0; t < length; t++) {
      const topic = draw() < 0.7 ? main : second;
      const own = draw() < 0.75;
      const pool = own ? pools[topic] : everyday;
      const word = pool[Math.min(pool.length - 1, Math.floor(pool.length * draw() ** 2.2))];
      if (body) body += t % 9 === 0 ? ". " : " ";
      spans.push(body.length - end, word.length, topic);
      body += word;
      end = body.length;
      counts.set(topic, (counts.get(topic) ?? 0) + 1);
    }
    const theta = [...counts]
      .map(([k, n]) => [k, round(n / length, 4), round(0.5 / Math.sqrt(length), 4)])
      .sort((a, b) => b[1] - a[1]);
    if (typical[main].length < 10) typical[main].push(i);
    facts.ids.push(`doc-${i + 1}`);
    facts.places.push(i);
    facts.times.push(Date.UTC(2024, 0, 1) / 1000 + Math.floor((i * 86400 * 730) / documents));
    facts.groups.push(i % groupNames.length);
    facts.tokens.push(length);
    facts.unknown_tokens.push(i % 3);
    for (const [k, mean, deviation] of theta) {
      mixtures.topics.push(k);
      mixtures.shares.push(mean);
      mixtures.deviations.push(deviation);
    }
    mixtures.starts.push(mixtures.topics.length);
    texts.push({ text: body + ".", left_out: 0, tokens: spans });
  }
  const steps = 100;
  const code = (p) => Math.round(-Math.log(Math.max(p, 1e-12)) * steps);
  const tried = { words: text.map((_, w) => w), starts: [0], topics: [], codes: [], rest: [] };
  owners.forEach((list, w) => {
    for (const [k] of list.toSorted((a, b) => a[0] - b[0])) {
      tried.topics.push(k);
      tried.codes.push(code(phi[k].get(w)));
    }
    tried.starts.push(tried.topics.length);
    tried.rest.push(code(1e-9));
  });

  const model = {
    kind: "lda",
    method: "g-oem",
    topics,
    topics_used: null,
    topics_created: null,
    vocabulary: text.length,
    documents: 10000,
    tokens: 601234,
    updates: 100,
    seed: 0,
    alpha_sum: 1.05,
    model_hash: `made-up-${topics}-${documents}`,
    settings: [
      ["method", "g-oem"],
      ["topics", String(topics)],
      ["sweeps", "20"],
    ],
  };
  const moments = Array.from({ length: 100 }, (_, i) => i);
  const scores = Array.from({ length: 20 }, (_, i) => i);
  return {
    schema: "gibbstream/report/1",
    title: "A made-up corpus",
    lambda: 0.6,
    generator: "gibbstream 0.2.0",
    model,
    topics: topicRows,
    words: {
      text,
      share: [...overall].map((x) => round(x, 9)),
      tokens: [...overall].map((x) => Math.round(x * 601234)),
      topics: owners.map((l) => l.map(([k]) => k)),
      topic_shares: owners.map((l) => l.map(([, p]) => p)),
    },
    map,
    distances: {
      nearest: nearest.map((l) => l.map(([k]) => k)),
      nearest_distance: nearest.map((l) => l.map(([, d]) => d)),
      lower,
      exact: true,
    },
    hierarchy:
      topics > 1
        ? {
            a: merges.map((m) => m[0]),
            b: merges.map((m) => m[1]),
            height: merges.map((m) => m[2]),
            order: share.map((_, k) => k),
          }
        : null,
    documents: documents
      ? {
          total: 10000,
          total_tokens: 601234,
          total_unknown_tokens: 1234,
          without_words: 3,
          has_texts: true,
          ...facts,
          mixtures,
          typical,
          sample: facts.places,
          texts,
          texts_per_block: 200,
        }
      : null,
    timeline: {
      field: "date",
      by: "month",
      starts: starts.map((start) => `${start}T00:00:00Z`),
      documents: starts.map(() => 416),
      tokens: starts.map(() => 25000),
      shares: shareOverTime,
      low: spread(shareOverTime, -1.96),
      high: spread(shareOverTime, 1.96),
      drift: starts.map((_, m) => (m ? round(0.05 + 0.02 * Math.sin(m)) : null)),
      words: share.map((_, k) => {
        const top = topOf(k, 12);
        const counts = top.map(([, p], r) =>
          starts.map((_, m) => Math.round(p * 5000 * (1 + 0.5 * Math.sin(m / 3 + r)))),
        );
        return {
          words: top.map(([w]) => w),
          counts,
          tokens: starts.map(() => 5000),
          rising: starts.map((_, m) => (m ? [m % 12] : [])),
          falling: starts.map((_, m) => (m ? [(m + 5) % 12] : [])),
        };
      }),
    },
    groups: {
      field: "section",
      names: groupNames,
      documents: groupNames.map(() => 2000),
      tokens: groupNames.map(() => 120000),
      shares: groupShare,
      low: spread(groupShare, -1.96),
      high: spread(groupShare, 1.96),
    },
    run: {
      history: [
        { action: "train", version: "0.2.0", inputs: ["corpus.jsonl"], documents: 10000, tokens: 601234, changes: [] },
      ],
      evaluations: {
        estimator: "smc",
        unit: "nats per document",
        baseline_name: "unigram",
        held_out: 500,
        documents: scores.map((i) => (i + 1) * 500),
        score: scores.map((i) => round(330 + 50 * Math.exp(-i / 4), 2)),
        standard_error: scores.map(() => 2.1),
        baseline: scores.map(() => 388.1),
      },
      trace: {
        documents: moments.map((i) => (i + 1) * 100),
        updates: moments.map((i) => i + 1),
        step: moments.map((i) => round((i + 2) ** -0.6)),
        alpha_sum: moments.map((i) => round(1.05 + 2 * Math.exp(-i / 10))),
        topics_used: [],
      },
    },
    comparison: {
      name: "before.gbs",
      other: { ...model, model_hash: "made-up-before" },
      labels: topicRows.map((t) => t.label),
      words: pools.map((p) => p.slice(0, 10)),
      shares: share,
      common_words: text.length,
      a: share.map((_, k) => k),
      b: share.map((_, k) => (k * 3) % topics),
      distance: share.map(() => round(0.05 + 0.5 * draw())),
      gained: pools.map((p) => p.slice(0, 4)),
      lost: pools.map((p) => p.slice(6, 10)),
      score: { documents: 500, mean: -3.4, standard_error: 0.4, interval: [-4.2, -2.6] },
    },
    try_table: {
      ...tried,
      steps,
      coverage: 0.99,
      word_coverage: 1,
      lowercase: true,
      min_length: 2,
      ngrams: 1,
      stop_words: ["the", "and", "of"],
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
    commands: {
      program: "gibbstream report model.gbs corpus.jsonl --time-field date --group-field section --out page.html",
      python: 'LDA.load("model.gbs").report("page.html", corpus)',
      model: "model.gbs",
      inputs: ["corpus.jsonl"],
    },
    missing: {},
  };
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const [, , out, ...pairs] = process.argv;
  if (!out)
    throw new Error("usage: node scripts/synthetic-report.mjs OUT.html [topics=N] [vocabulary=N] [documents=N]");
  writePage(
    syntheticReport(Object.fromEntries(pairs.map((pair) => pair.split("=")).map(([k, v]) => [k, Number(v)]))),
    out,
  );
}
