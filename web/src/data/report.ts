// Interim types by hand; replaced by those generated from docs/schema/report-1.json.
export interface Report {
  schema: string;
  title: string;
  generator: string;
  model: ModelFacts;
  topics: Topic[];
  words: Words;
  map: TopicMap | null;
  distances: Distances | null;
  hierarchy: Hierarchy | null;
  documents: Documents | null;
  timeline: Timeline | null;
  groups: Groups | null;
  run: RunFacts;
  comparison: Comparison | null;
  try_table: TryTable | null;
  components: Components | null;
  labels: Record<string, Label>;
  commands: Commands;
  missing: Record<string, string>;
}
export interface ModelFacts {
  kind: string;
  method: string;
  topics: number;
  topics_used: number | null;
  topics_created: number | null;
  vocabulary: number;
  documents: number;
  tokens: number;
  updates: number;
  seed: number;
  alpha_sum: number | null;
  model_hash: string;
  settings: [string, string][];
}
export interface Topic {
  id: number;
  created_as: number | null;
  label: string;
  share: number;
  alpha: number;
  coherence: number | null;
  exclusivity: number;
  effective_words: number;
  in_use: boolean;
  background: boolean;
  documents: number | null;
  words: number[];
  weights: number[];
}
export interface Words {
  text: string[];
  share: number[];
  tokens: number[];
  topics: number[][];
  topic_shares: number[][];
}
export interface TopicMap {
  x: number[];
  y: number[];
  stress: number;
  explained: number;
}
export interface Distances {
  nearest: number[][];
  nearest_distance: number[][];
  lower: number[][] | null;
  exact: boolean;
}
export interface Hierarchy {
  a: number[];
  b: number[];
  height: number[];
  order: number[];
}
export interface Documents {
  total: number;
  total_tokens: number;
  total_unknown_tokens: number;
  without_words: number;
  has_texts: boolean;
  ids: string[];
  places: number[];
  times: number[] | null;
  groups: number[] | null;
  tokens: number[];
  unknown_tokens: number[];
  mixtures: Mixtures;
  typical: number[][];
  sample: number[];
  texts: DocumentText[] | null;
  texts_per_block: number;
}
export interface Mixtures {
  starts: number[];
  topics: number[];
  shares: number[];
  deviations: number[];
}
export interface DocumentText {
  text: string;
  left_out: number;
  tokens: number[];
}
export interface Timeline {
  field: string;
  by: string;
  starts: string[];
  documents: number[];
  tokens: number[];
  shares: (number | null)[][];
  low: (number | null)[][];
  high: (number | null)[][];
  drift: (number | null)[];
  words: WordTrends[];
}
export interface WordTrends {
  words: number[];
  counts: number[][];
  tokens: number[];
  rising: number[][];
  falling: number[][];
}
export interface Groups {
  field: string;
  names: string[];
  documents: number[];
  tokens: number[];
  shares: (number | null)[][];
  low: (number | null)[][];
  high: (number | null)[][];
}
export interface RunFacts {
  history: HistoryFacts[];
  evaluations: Evaluations | null;
  trace: Trace | null;
}
export interface HistoryFacts {
  action: string;
  version: string;
  inputs: string[];
  documents: number;
  tokens: number;
  changes: string[];
}
export interface Evaluations {
  estimator: string;
  unit: string;
  baseline_name: string;
  held_out: number;
  documents: number[];
  score: number[];
  standard_error: number[];
  baseline: number[];
}
export interface Trace {
  documents: number[];
  updates: number[];
  step: number[];
  alpha_sum: number[];
  topics_used: number[];
  documents_per_second: number[];
}
export interface Comparison {
  name: string;
  other: ModelFacts;
  labels: string[];
  words: string[][];
  shares: number[];
  common_words: number;
  a: number[];
  b: number[];
  distance: number[];
  gained: string[][];
  lost: string[][];
  score: ScoreDifference | null;
}
export interface ScoreDifference {
  documents: number;
  mean: number;
  standard_error: number;
  interval: [number, number];
}
export interface TryTable {
  words: number[];
  starts: number[];
  topics: number[];
  codes: number[];
  rest: number[];
  steps: number;
  coverage: number;
  word_coverage: number;
  lowercase: boolean;
  min_length: number;
  ngrams: number;
  stop_words: string[];
}
export interface Components {
  unit: string;
  value: string;
  columns: string[];
  weights: number[] | null;
  values: number[][];
  warnings: string[];
}
export interface Label {
  label?: string | null;
  note?: string | null;
  hidden?: boolean;
  merged_into?: number | null;
}
export interface Commands {
  program: string;
  python: string;
  model?: string;
  inputs?: string[];
}
