//! How a model was learnt, and how it differs from another one.

use super::ModelFacts;
use crate::evaluation::alignment::ScoreDifference;
use serde::{Deserialize, Serialize};

/// How the model was learnt.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct RunFacts {
    /// What was done to the model, oldest first.
    pub history: Vec<HistoryFacts>,
    /// Held-out scores; null if none were taken.
    pub evaluations: Option<Evaluations>,
    /// How learning went; null if it was not written down.
    pub trace: Option<Trace>,
}

/// Something that was done to a model.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct HistoryFacts {
    /// What was done, such as `train`.
    pub action: String,
    /// Version of the program.
    pub version: String,
    /// Names of the inputs.
    pub inputs: Vec<String>,
    /// Documents seen in it.
    pub documents: u64,
    /// Tokens seen in it.
    pub tokens: u64,
    /// Settings that were changed for it.
    pub changes: Vec<String>,
}

/// Held-out scores while the model was learnt; parallel arrays.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct Evaluations {
    /// The estimator: `smc`, `exact` ...
    pub estimator: String,
    /// The unit, such as `nats per document`; lower is better.
    pub unit: String,
    /// What the baseline is: `unigram` ...
    pub baseline_name: String,
    /// Documents held out.
    pub held_out: u64,
    /// Documents learnt from at each score.
    pub documents: Vec<u64>,
    /// Mean of -log p(document).
    pub score: Vec<f64>,
    /// Standard error of the mean; null with a single document.
    pub standard_error: Vec<Option<f64>>,
    /// Score of the baseline.
    pub baseline: Vec<f64>,
}

/// What was seen while the model was learnt; parallel arrays, at most some hundred moments.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct Trace {
    /// Documents learnt from.
    pub documents: Vec<u64>,
    /// Minibatches learnt from.
    pub updates: Vec<u64>,
    /// The step size.
    pub step: Vec<f64>,
    /// The sum of alpha over topics; empty for models of numbers.
    pub alpha_sum: Vec<f64>,
    /// Topics in use; empty where their number is given.
    pub topics_used: Vec<u32>,
}

/// The model beside another one.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct Comparison {
    /// The name of the other model's file.
    pub name: String,
    /// What the other model is.
    pub other: ModelFacts,
    /// Labels of the other model's topics.
    pub labels: Vec<String>,
    /// The ten most probable words of each of them.
    pub words: Vec<Vec<String>>,
    /// Shares of the other model's topics.
    pub shares: Vec<f64>,
    /// Words that both models know.
    pub common_words: u64,
    /// Topics of this model that have a partner, and
    pub a: Vec<u32>,
    /// their partners in the other model: the assignment of least total divergence.
    pub b: Vec<u32>,
    /// Jensen-Shannon distance of each pair, from 0 to 1.
    pub distance: Vec<f64>,
    /// For each pair, words that are more probable in the other model's topic.
    pub gained: Vec<Vec<String>>,
    /// For each pair, words that are less probable there.
    pub lost: Vec<Vec<String>>,
    /// How much better the other model predicts the documents given, in nats per document; null without documents.
    pub score: Option<ScoreDifference>,
}
