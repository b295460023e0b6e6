//! Topics, words, and how topics lie to each other.

use serde::{Deserialize, Serialize};

/// One topic.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct Topic {
    /// Its id in the model, which is its place in the list.
    pub id: u32,
    /// Its number in the order of creation, where the number of topics is open.
    pub created_as: Option<u64>,
    /// A label made from its most distinguishing words.
    pub label: String,
    /// Its share of all tokens learnt from.
    pub share: f64,
    /// How much it is expected in a document before it is read.
    pub alpha: f64,
    /// NPMI of the first ten words shown of it in the documents given, from -1 to 1; null without documents.
    pub coherence: Option<f64>,
    /// How much its ten most probable words belong to it and to no other topic, from 0 to 1.
    pub exclusivity: f64,
    /// exp of the entropy: over how many words the topic is spread.
    pub effective_words: f64,
    /// Whether its share is above 0.1 % of all tokens.
    pub in_use: bool,
    /// Documents given whose largest share it has; null without documents.
    pub documents: Option<u64>,
    /// Its words (places in `words`), most probable first: the 30 most relevant at every lambda of 0, 0.1 ... 1.
    pub words: Vec<u32>,
    /// p(word | topic) of each.
    pub weights: Vec<f64>,
}

/// The words that some view shows, most frequent first; parallel arrays.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct Words {
    /// The words.
    pub text: Vec<String>,
    /// p(word) under the model: the sum over topics of share times weight.
    pub share: Vec<f64>,
    /// Tokens of the word that were learnt from.
    pub tokens: Vec<u64>,
    /// The topics that own the word, by falling p(topic | word): at most 10, each above 1 %.
    pub topics: Vec<Vec<u32>>,
    /// p(topic | word) of each of them.
    pub topic_shares: Vec<Vec<f64>>,
}

/// Topics as points of a plane, by classical scaling of their distances; parallel arrays by topic.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct TopicMap {
    /// First coordinate.
    pub x: Vec<f64>,
    /// Second coordinate.
    pub y: Vec<f64>,
    /// How much the map distorts distances: their relative error, from 0 (nothing) to 1.
    pub stress: f64,
    /// Share of the variance that the two coordinates keep.
    pub explained: f64,
}

/// Jensen-Shannon distances between topics: the square root of the divergence in bits, from 0 to 1.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct Distances {
    /// The ten topics nearest to each topic, nearest first.
    pub nearest: Vec<Vec<u32>>,
    /// How far they are.
    pub nearest_distance: Vec<Vec<f64>>,
    /// All distances with at most 300 topics, otherwise null: row i holds those to topics 0 to i - 1.
    pub lower: Option<Vec<Vec<f64>>>,
    /// Whether every word was compared by itself. If not, rare words were grouped by the topic that they belong to, which
    /// makes distances a little smaller.
    pub exact: bool,
}

/// Average linkage of the distances, as SciPy writes it: ids below the number of topics K are topics, K + i is the i-th merge.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct Hierarchy {
    /// The first of the two that are joined, by rising height.
    pub a: Vec<u32>,
    /// The second.
    pub b: Vec<u32>,
    /// Their mean distance.
    pub height: Vec<f64>,
    /// The topics in an order in which no two branches cross.
    pub order: Vec<u32>,
}

/// p(word | topic) in coarse steps, for trying a document inside the page. Pairs of word and topic that carry the most
/// tokens are there, as many as fit.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct TryTable {
    /// The words that can be tried (places in `words`), ascending.
    pub words: Vec<u32>,
    /// Where the entries of each word begin in `topics` and `codes`; one more than there are words.
    pub starts: Vec<u32>,
    /// Topics of the entries, ascending for each word.
    pub topics: Vec<u32>,
    /// p(word | topic) of the entries: exp(-code / `steps`).
    pub codes: Vec<u16>,
    /// For each word, the code of its mean probability in the topics that are not listed.
    pub rest: Vec<u16>,
    /// Steps per unit of the natural logarithm.
    pub steps: f64,
    /// Share of the tokens learnt from whose word and topic are listed.
    pub coverage: f64,
    /// Share of the tokens learnt from whose word is listed.
    pub word_coverage: f64,
    /// Whether upper case becomes lower case.
    pub lowercase: bool,
    /// Words of fewer characters are dropped.
    pub min_length: u32,
    /// Up to so many words that follow each other are joined by `_`.
    pub ngrams: u32,
    /// Words that are dropped.
    pub stop_words: Vec<String>,
    /// The edition of the rules for words: `first` or `second`.
    pub rules: String,
    /// What happens to markup: `auto`, `strip` or `keep`.
    pub html: String,
    /// Whether URLs and email addresses are text.
    pub keep_urls: bool,
    /// The language of the text, as a code; null if it is not known.
    pub language: Option<String>,
    /// How words of scripts without blanks are found: `pairs` or `dictionary`.
    pub segmentation: String,
    /// Pairs of words, joined by `_`, that are one word when they follow each other.
    pub phrases: Vec<String>,
    /// Whether words are reduced to their stems, which the page cannot do.
    pub stems: bool,
}

/// What a model of numbers consists of: components of a mixture, or independent sources.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct Components {
    /// What one is called: `component` or `source`.
    pub unit: String,
    /// What a value is: `mean`, `rate`, `probability` or `loading`.
    pub value: String,
    /// Names of the columns, at most 1,000 of them.
    pub columns: Vec<String>,
    /// Probability of each component; null for sources.
    pub weights: Option<Vec<f64>>,
    /// A value for each component or source and each column.
    pub values: Vec<Vec<f64>>,
    /// Things to be careful about.
    pub warnings: Vec<String>,
}
