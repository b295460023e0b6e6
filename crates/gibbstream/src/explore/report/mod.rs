//! What the page shows, as data: `gibbstream/report/1`.
//!
//! These types are the format. The JSON schema in `docs/schema/report-1.json` is made from them, and the types of the page
//! from that file, so the three cannot drift apart. Long tables are parallel arrays, which are small and quick to parse.

mod documents;
mod labels;
mod run;
mod topics;

pub use documents::{DocumentText, Documents, Groups, Mixtures, Timeline, WordTrends};
pub use labels::{LABELS_SCHEMA, Label, Labels};
pub use run::{Comparison, Evaluations, HistoryFacts, RunFacts, Trace};
pub use topics::{Components, Distances, Hierarchy, Topic, TopicMap, TryTable, Words};

use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// The name of the format.
pub const REPORT_SCHEMA: &str = "gibbstream/report/1";

/// Everything that the page shows. What could not be computed is null, and `missing` says why.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct Report {
    /// Always `gibbstream/report/1`.
    pub schema: String,
    /// The title of the page.
    pub title: String,
    /// Where the slider for the relevance of words stands at first, from 0 to 1.
    pub lambda: f64,
    /// The program and its version.
    pub generator: String,
    /// What the model is, and how it was learnt.
    pub model: ModelFacts,
    /// The topics, in the order of their ids; empty for models of numbers.
    pub topics: Vec<Topic>,
    /// The words that some view shows, most frequent first.
    pub words: Words,
    /// Topics as points of a plane; null with fewer than three topics.
    pub map: Option<TopicMap>,
    /// How far topics are from each other; null with fewer than two topics.
    pub distances: Option<Distances>,
    /// Topics joined two by two; null with fewer than two topics.
    pub hierarchy: Option<Hierarchy>,
    /// The documents shown; null without input.
    pub documents: Option<Documents>,
    /// Topics over time; null without a time field.
    pub timeline: Option<Timeline>,
    /// Topics by group; null without a group field.
    pub groups: Option<Groups>,
    /// How the model was learnt.
    pub run: RunFacts,
    /// The model beside another one; null without one.
    pub comparison: Option<Comparison>,
    /// What a document is tried on inside the page; null for models of numbers.
    pub try_table: Option<TryTable>,
    /// What a model of numbers consists of; null for topic models.
    pub components: Option<Components>,
    /// What people have written about topics, by topic id.
    pub labels: BTreeMap<u32, Label>,
    /// How to make this report again.
    pub commands: Commands,
    /// Why a part is null, in one sentence with the way out, by the name of the part.
    pub missing: BTreeMap<String, String>,
}

/// A model in numbers.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct ModelFacts {
    /// The kind: `lda`, `hdp`, `ica`, `gaussian-mixture` ...
    pub kind: String,
    /// The method: `g-oem` ...
    pub method: String,
    /// Number of topics, components or sources.
    pub topics: u32,
    /// Topics with more than 0.1 % of all tokens, where their number is open.
    pub topics_used: Option<u32>,
    /// Topics ever created, where their number is open.
    pub topics_created: Option<u64>,
    /// Number of words, or of columns.
    pub vocabulary: u32,
    /// Documents or rows learnt from.
    pub documents: u64,
    /// Tokens learnt from.
    pub tokens: u64,
    /// Minibatches learnt from.
    pub updates: u64,
    /// The seed.
    pub seed: u64,
    /// The sum of alpha over topics: how many topics a document mixes; null for models of numbers.
    pub alpha_sum: Option<f64>,
    /// Hash of what was learnt: equal hash, equal bits.
    pub model_hash: String,
    /// Settings by name, as flags of `train` are called.
    pub settings: Vec<(String, String)>,
}

/// How to get the same numbers elsewhere.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct Commands {
    /// The model's file as it was named; for a model in memory, a name to save it under.
    pub model: String,
    /// The inputs as they were named.
    pub inputs: Vec<String>,
    /// The command line.
    pub program: String,
    /// The same in Python.
    pub python: String,
}
