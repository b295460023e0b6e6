// What each number is, how it is computed, and when not to trust it.

export interface Entry {
  term: string;
  what: string;
  how: string;
  care: string;
}

export const GLOSSARY = {
  share: {
    term: "Share",
    what: "The part of all tokens that belongs to the topic.",
    how: "The model's expected token counts per topic, divided by their sum. Shares of all topics add up to 100 %.",
    care: "A large share is not importance: topics of function words or boilerplate are often the largest.",
  },
  coherence: {
    term: "Coherence (NPMI)",
    what: "Whether the top words of the topic stand in the same documents: 1 always together, 0 as by chance, below 0 they avoid each other.",
    how: "Mean normalised pointwise mutual information over pairs of the ten top words, counted in the documents given to the report.",
    care: "It needs documents, is noisy for rare words, and favours narrow topics. Compare it within one corpus only.",
  },
  exclusivity: {
    term: "Exclusivity",
    what: "Whether the topic owns its top words: 1 if no other topic uses them.",
    how: "Mean over the ten top words of p(word | topic), divided by its sum over all topics.",
    care: "It falls as the number of topics grows, because near topics share words.",
  },
  trend: {
    term: "Trend",
    what: "The share of the topic over the periods of the timeline, each line on its own scale.",
    how: "Mean share of the documents of each period. Sorting compares the last third of the periods with the first.",
    care: "Lines have no axis here. Open Time for the scale and the intervals.",
  },
  effective: {
    term: "Effective words",
    what: "How many equally likely words would be as spread out as this topic.",
    how: "exp of the entropy of p(word | topic).",
    care: "A very high number often means a background topic, a very low one a topic of a single phrase.",
  },
  alpha: {
    term: "Alpha",
    what: "The prior weight of the topic in a document before any word is seen.",
    how: "Learnt while training (asymmetric Dirichlet prior).",
    care: "It follows the share closely; on its own it says little.",
  },
  relevance: {
    term: "Relevance and lambda",
    what: "The order of words. At 1 words are ranked by how frequent they are in the topic, at 0 by how special they are to it.",
    how: "lambda log p(w | topic) + (1 − lambda) log (p(w | topic) / p(w)), as in LDAvis.",
    care: "Near 0 very rare words come first. Around 0.6 people name topics best.",
  },
  mixture: {
    term: "Mixture",
    what: "The topics of a document, as parts of its words.",
    how: "Mean over kept sweeps of the Gibbs sampler; the whiskers are one standard deviation over these sweeps on each side.",
    care: "Short documents have wide mixtures. Parts below 1 % are not listed.",
  },
  stress: {
    term: "Distortion (stress)",
    what: "How badly two dimensions show the true distances between topics: 0 perfectly, above 0.2 poorly.",
    how: "Relative error of the distances after classical scaling of Jensen-Shannon distances.",
    care: "With many topics it is always large. Trust the distance matrix and the list of nearest topics, not gaps on the map.",
  },
  distance: {
    term: "Distance",
    what: "How different two topics are: 0 the same words, 1 no word in common.",
    how: "Square root of the Jensen-Shannon divergence in bits, over the whole vocabulary.",
    care: "Everyday words make all topics nearer to each other.",
  },
  interval: {
    term: "Interval",
    what: "A range for the mean share of the documents of a period or group.",
    how: "95 % interval of the mean over documents.",
    care: "It holds for sampling of documents, not for faults of the model. Few documents: wide.",
  },
  drift: {
    term: "Drift",
    what: "How much the words of a topic changed between two periods.",
    how: "From the leading words that the report keeps for each period.",
    care: "Periods with few documents change by chance.",
  },
  score: {
    term: "Held-out score",
    what: "How surprised the model is by documents it has not learnt from, in nats per document; lower is better.",
    how: "The estimator named in the run, with its standard error over documents. The dashed line is the unigram: word frequencies without topics.",
    care: "Only scores on the same documents and vocabulary can be compared.",
  },
  step: {
    term: "Step size",
    what: "How much one minibatch moves the topics.",
    how: "The schedule chosen for the run (kappa, offset).",
    care: "It falls with time in most schedules; a live model that must follow change wants a constant one.",
  },
  documents: {
    term: "Documents shown",
    what: "The documents that this page carries: the most typical of each topic first, then a uniform sample.",
    how: "gibbstream report --max-documents N; the same documents every time.",
    care: "Counts in this list are counts of shown documents. Shares over time and by group are of all documents.",
  },
} satisfies Record<string, Entry>;

export type Term = keyof typeof GLOSSARY;
