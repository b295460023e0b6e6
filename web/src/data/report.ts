// Made by scripts/types.mjs from docs/schema/report-1.json: do not edit.

/** How to get the same numbers elsewhere. */
export interface Commands {
  /** The inputs as they were named. */
  inputs: string[];
  /** The model's file as it was named; for a model in memory, a name to save it under. */
  model: string;
  /** The command line. */
  program: string;
  /** The same in Python. */
  python: string;
}

/** The model beside another one. */
export interface Comparison {
  /** Topics of this model that have a partner, and */
  a: number[];
  /** their partners in the other model: the assignment of least total divergence. */
  b: number[];
  /** Words that both models know. */
  common_words: number;
  /** Jensen-Shannon distance of each pair, from 0 to 1. */
  distance: number[];
  /** For each pair, words that are more probable in the other model's topic. */
  gained: string[][];
  /** Labels of the other model's topics. */
  labels: string[];
  /** For each pair, words that are less probable there. */
  lost: string[][];
  /** The name of the other model's file. */
  name: string;
  /** What the other model is. */
  other: ModelFacts;
  /** How much better the other model predicts the documents given, in nats per document; null without documents. */
  score?: ScoreDifference | null;
  /** Shares of the other model's topics. */
  shares: number[];
  /** The ten most probable words of each of them. */
  words: string[][];
}

/** What a model of numbers consists of: components of a mixture, or independent sources. */
export interface Components {
  /** Names of the columns, at most 1,000 of them. */
  columns: string[];
  /** What one is called: `component` or `source`. */
  unit: string;
  /** What a value is: `mean`, `rate`, `probability` or `loading`. */
  value: string;
  /** A value for each component or source and each column. */
  values: number[][];
  /** Things to be careful about. */
  warnings: string[];
  /** Probability of each component; null for sources. */
  weights?: number[] | null;
}

/** Jensen-Shannon distances between topics: the square root of the divergence in bits, from 0 to 1. */
export interface Distances {
  /** Whether every word was compared by itself. If not, rare words were grouped by the topic that they belong to, which makes distances a little smaller. */
  exact: boolean;
  /** All distances with at most 300 topics, otherwise null: row i holds those to topics 0 to i - 1. */
  lower?: number[][] | null;
  /** The ten topics nearest to each topic, nearest first. */
  nearest: number[][];
  /** How far they are. */
  nearest_distance: number[][];
}

/** The text of a document with the topic of every token. */
export interface DocumentText {
  /** Characters that were left out at the end, because the text is too long for a page. */
  left_out: number;
  /** The text, or, where the input had counts alone, its words. */
  text: string;
  /** Three numbers for each token whose word is known, in the order of the text: its distance from the end of the previous one, its length, both in UTF-16 units, and its topic in the last sweep. Joined words may overlap: then the distance is negative. */
  tokens: number[];
}

/** The documents shown: the most typical of each topic first, then a uniform sample. Parallel arrays by document, in the order of the input. */
export interface Documents {
  /** Place in the names of `groups`; null without a group field. */
  groups?: number[] | null;
  /** Whether texts are those of the input. If not, the input had counts alone, and texts are lists of words. */
  has_texts: boolean;
  /** The name that the input gives each document; empty if it gives none. */
  ids: string[];
  /** Topic mixtures. */
  mixtures: Mixtures;
  /** Place in the input, from 0. */
  places: number[];
  /** The documents (places in these arrays) that are a uniform sample of all that have a known word, ascending. */
  sample: number[];
  /** The texts; null in the page, where the element `report-documents` holds them in blocks of `texts_per_block` documents. */
  texts?: DocumentText[] | null;
  /** Documents in each block of texts but the last. */
  texts_per_block: number;
  /** Time in seconds since 1970 (UTC); null without a time field. */
  times?: number[] | null;
  /** Tokens whose word is known. */
  tokens: number[];
  /** Documents read. */
  total: number;
  /** Tokens read whose word the model knows. */
  total_tokens: number;
  /** Tokens read whose word it does not know. */
  total_unknown_tokens: number;
  /** For each topic, the documents (places in these arrays) with its largest shares, largest first. */
  typical: number[][];
  /** Tokens whose word is not known. */
  unknown_tokens: number[];
  /** Documents read without a known word. They are counted, and shown nowhere. */
  without_words: number;
}

/** Held-out scores while the model was learnt; parallel arrays. */
export interface Evaluations {
  /** Score of the baseline. */
  baseline: number[];
  /** What the baseline is: `unigram` ... */
  baseline_name: string;
  /** Documents learnt from at each score. */
  documents: number[];
  /** The estimator: `smc`, `exact` ... */
  estimator: string;
  /** Documents held out. */
  held_out: number;
  /** Mean of -log p(document). */
  score: number[];
  /** Standard error of the mean; null with a single document. */
  standard_error: (number | null)[];
  /** The unit, such as `nats per document`; lower is better. */
  unit: string;
}

/** Topics by group. */
export interface Groups {
  /** Documents of each group that have a known word. */
  documents: number[];
  /** The field with the group. */
  field: string;
  /** Upper ends. */
  high: ((number | null)[])[];
  /** Lower ends of 95 % intervals: how much the shares would differ with other documents of the same kind. */
  low: ((number | null)[])[];
  /** Names of the groups, in alphabetical order. */
  names: string[];
  /** Share of the tokens of each topic in each group; null where a group has no tokens. */
  shares: ((number | null)[])[];
  /** Tokens of each group. */
  tokens: number[];
}

/** Average linkage of the distances, as SciPy writes it: ids below the number of topics K are topics, K + i is the i-th merge. */
export interface Hierarchy {
  /** The first of the two that are joined, by rising height. */
  a: number[];
  /** The second. */
  b: number[];
  /** Their mean distance. */
  height: number[];
  /** The topics in an order in which no two branches cross. */
  order: number[];
}

/** Something that was done to a model. */
export interface HistoryFacts {
  /** What was done, such as `train`. */
  action: string;
  /** Settings that were changed for it. */
  changes: string[];
  /** Documents seen in it. */
  documents: number;
  /** Names of the inputs. */
  inputs: string[];
  /** Tokens seen in it. */
  tokens: number;
  /** Version of the program. */
  version: string;
}

/** What somebody has written about a topic. */
export interface Label {
  /** Whether the topic is hidden. */
  hidden?: boolean;
  /** The name. */
  label?: string | null;
  /** The topic as part of which it is shown. */
  merged_into?: number | null;
  /** A note. */
  note?: string | null;
}

/** Mixtures of documents: the entries of document i are those from `starts[i]` to `starts[i + 1]`. */
export interface Mixtures {
  /** Their posterior standard deviations, over the sweeps kept. */
  deviations: number[];
  /** Posterior means of the shares. */
  shares: number[];
  /** Where the entries of each document begin; one more than there are documents. */
  starts: number[];
  /** Topics of the entries, by falling share: all shares of at least 1 %, and at least one. */
  topics: number[];
}

/** A model in numbers. */
export interface ModelFacts {
  /** The sum of alpha over topics: how many topics a document mixes; null for models of numbers. */
  alpha_sum?: number | null;
  /** Documents or rows learnt from. */
  documents: number;
  /** The kind: `lda`, `hdp`, `ica`, `gaussian-mixture` ... */
  kind: string;
  /** The method: `g-oem` ... */
  method: string;
  /** Hash of what was learnt: equal hash, equal bits. */
  model_hash: string;
  /** The seed. */
  seed: number;
  /** Settings by name, as flags of `train` are called. */
  settings: [string, string][];
  /** Tokens learnt from. */
  tokens: number;
  /** Number of topics, components or sources. */
  topics: number;
  /** Topics ever created, where their number is open. */
  topics_created?: number | null;
  /** Topics with more than 0.1 % of all tokens, where their number is open. */
  topics_used?: number | null;
  /** Minibatches learnt from. */
  updates: number;
  /** Number of words, or of columns. */
  vocabulary: number;
}

/** Everything that the page shows. What could not be computed is null, and `missing` says why. */
export interface Report {
  /** How to make this report again. */
  commands: Commands;
  /** The model beside another one; null without one. */
  comparison?: Comparison | null;
  /** What a model of numbers consists of; null for topic models. */
  components?: Components | null;
  /** How far topics are from each other; null with fewer than two topics. */
  distances?: Distances | null;
  /** The documents shown; null without input. */
  documents?: Documents | null;
  /** The program and its version. */
  generator: string;
  /** Topics by group; null without a group field. */
  groups?: Groups | null;
  /** Topics joined two by two; null with fewer than two topics. */
  hierarchy?: Hierarchy | null;
  /** What people have written about topics, by topic id. */
  labels: Record<string, Label>;
  /** Where the slider for the relevance of words stands at first, from 0 to 1. */
  lambda: number;
  /** Topics as points of a plane; null with fewer than three topics. */
  map?: TopicMap | null;
  /** Why a part is null, in one sentence with the way out, by the name of the part. */
  missing: Record<string, string>;
  /** What the model is, and how it was learnt. */
  model: ModelFacts;
  /** How the model was learnt. */
  run: RunFacts;
  /** Always `gibbstream/report/1`. */
  schema: string;
  /** Topics over time; null without a time field. */
  timeline?: Timeline | null;
  /** The title of the page. */
  title: string;
  /** The topics, in the order of their ids; empty for models of numbers. */
  topics: Topic[];
  /** What a document is tried on inside the page; null for models of numbers. */
  try_table?: TryTable | null;
  /** The words that some view shows, most frequent first. */
  words: Words;
}

/** How the model was learnt. */
export interface RunFacts {
  /** Held-out scores; null if none were taken. */
  evaluations?: Evaluations | null;
  /** What was done to the model, oldest first. */
  history: HistoryFacts[];
  /** How learning went; null if it was not written down. */
  trace?: Trace | null;
}

/** How much better or worse the second model predicts the same documents, with a 95 % interval over documents. */
export interface ScoreDifference {
  /** Documents that both scored. */
  documents: number;
  /** Ends of the interval. */
  interval: [number, number];
  /** Mean of `log p(X)` under the second model minus that under the first, in nats per document: positive means that the second predicts better. */
  mean: number;
  /** Standard error of the mean. */
  standard_error: number;
}

/** Topics over time, in periods that follow each other without a gap; of a running service those that have documents. */
export interface Timeline {
  /** The length of a period: `hour`, `day`, `week`, `month`, `quarter` or `year`; `period` for some seconds or more, in a running service. */
  by: string;
  /** Documents of each period that have a known word. */
  documents: number[];
  /** Jensen-Shannon distance of each period's shares from those of the last period before that has documents; null for the first, and where there are none. */
  drift: (number | null)[];
  /** The field with the time. */
  field: string;
  /** Upper ends. */
  high: ((number | null)[])[];
  /** Lower ends of 95 % intervals: how much the shares would differ with other documents of the same kind. */
  low: ((number | null)[])[];
  /** Share of the tokens of each topic in each period; null where a period has no tokens. */
  shares: ((number | null)[])[];
  /** First moment of each period (RFC 3339, UTC). */
  starts: string[];
  /** Tokens of each period. */
  tokens: number[];
  /** For each topic, how its words come and go; empty in a running service. */
  words: WordTrends[];
}

/** One topic. */
export interface Topic {
  /** How much it is expected in a document before it is read. */
  alpha: number;
  /** NPMI of the first ten words shown of it in the documents given, from -1 to 1; null without documents. */
  coherence?: number | null;
  /** Its number in the order of creation, where the number of topics is open. */
  created_as?: number | null;
  /** Documents given whose largest share it has; null without documents. */
  documents?: number | null;
  /** exp of the entropy: over how many words the topic is spread. */
  effective_words: number;
  /** How much its ten most probable words belong to it and to no other topic, from 0 to 1. */
  exclusivity: number;
  /** Its id in the model, which is its place in the list. */
  id: number;
  /** Whether its share is above 0.1 % of all tokens. */
  in_use: boolean;
  /** A label made from its most distinguishing words. */
  label: string;
  /** Its share of all tokens learnt from. */
  share: number;
  /** p(word | topic) of each. */
  weights: number[];
  /** Its words (places in `words`), most probable first: the 30 most relevant at every lambda of 0, 0.1 ... 1. */
  words: number[];
}

/** Topics as points of a plane, by classical scaling of their distances; parallel arrays by topic. */
export interface TopicMap {
  /** Share of the variance that the two coordinates keep. */
  explained: number;
  /** How much the map distorts distances: their relative error, from 0 (nothing) to 1. */
  stress: number;
  /** First coordinate. */
  x: number[];
  /** Second coordinate. */
  y: number[];
}

/** What was seen while the model was learnt; parallel arrays, at most some hundred moments. */
export interface Trace {
  /** The sum of alpha over topics; empty for models of numbers. */
  alpha_sum: number[];
  /** Documents learnt from. */
  documents: number[];
  /** The step size. */
  step: number[];
  /** Topics in use; empty where their number is given. */
  topics_used: number[];
  /** Minibatches learnt from. */
  updates: number[];
}

/** p(word | topic) in coarse steps, for trying a document inside the page. Pairs of word and topic that carry the most tokens are there, as many as fit. */
export interface TryTable {
  /** p(word | topic) of the entries: exp(-code / `steps`). */
  codes: number[];
  /** Share of the tokens learnt from whose word and topic are listed. */
  coverage: number;
  /** What happens to markup: `auto`, `strip` or `keep`. */
  html: string;
  /** Whether URLs and email addresses are text. */
  keep_urls: boolean;
  /** The language of the text, as a code; null if it is not known. */
  language?: string | null;
  /** Whether upper case becomes lower case. */
  lowercase: boolean;
  /** Words of fewer characters are dropped. */
  min_length: number;
  /** Up to so many words that follow each other are joined by `_`. */
  ngrams: number;
  /** Pairs of words, joined by `_`, that are one word when they follow each other. */
  phrases: string[];
  /** For each word, the code of its mean probability in the topics that are not listed. */
  rest: number[];
  /** The edition of the rules for words: `first` or `second`. */
  rules: string;
  /** How words of scripts without blanks are found: `pairs` or `dictionary`. */
  segmentation: string;
  /** Where the entries of each word begin in `topics` and `codes`; one more than there are words. */
  starts: number[];
  /** Whether words are reduced to their stems, which the page cannot do. */
  stems: boolean;
  /** Steps per unit of the natural logarithm. */
  steps: number;
  /** Words that are dropped. */
  stop_words: string[];
  /** Topics of the entries, ascending for each word. */
  topics: number[];
  /** Share of the tokens learnt from whose word is listed. */
  word_coverage: number;
  /** The words that can be tried (places in `words`), ascending. */
  words: number[];
}

/** How words of a topic come and go. */
export interface WordTrends {
  /** Tokens of each word that the topic has in each period, as drawn in the last sweep. */
  counts: number[][];
  /** The same for words that it uses less. */
  falling: number[][];
  /** For each period, words (places in `words` here) that the topic uses more than in the period before, most certain first: at most five whose log odds ratio is 2 standard errors above 0. */
  rising: number[][];
  /** All tokens that the topic has in each period, as drawn in the last sweep. */
  tokens: number[];
  /** Words followed (places in `words` of the report). */
  words: number[];
}

/** The words that some view shows, most frequent first; parallel arrays. */
export interface Words {
  /** p(word) under the model: the sum over topics of share times weight. */
  share: number[];
  /** The words. */
  text: string[];
  /** Tokens of the word that were learnt from. */
  tokens: number[];
  /** p(topic | word) of each of them. */
  topic_shares: number[][];
  /** The topics that own the word, by falling p(topic | word): at most 10, each above 1 %. */
  topics: number[][];
}
