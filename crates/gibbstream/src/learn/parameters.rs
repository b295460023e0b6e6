//! Frozen parameters: what is asked about documents and rows.

use super::arrays::Array;
use super::batch::Observation;
use crate::corpus::{Document, Minibatch};
use crate::error::{Error, Result};
use crate::evaluation::annealed::Annealed;
use crate::evaluation::rows::{RowScore, stream_of};
use crate::evaluation::{Estimate, Evaluation, Score, Scorer, Unigram};
use crate::inference::mixtures::{TopicMixture, MixtureInference};
use crate::model::rows::ica::SourceShape;
use crate::model::topics::lda::Topics;
use crate::numerics::random::{Purpose, Stream};
use crate::summary::{TopicSummary, summarise};
use rayon::prelude::*;
use serde::Serialize;

/// The parameters to report.
pub enum Parameters {
    /// Of a topic model.
    Topics(TopicParameters),
    /// Of a model of numbers.
    Rows(RowParameters),
}

/// Topics, and what they stand beside.
pub struct TopicParameters {
    /// The topics. Where their number is open, all that have not been met yet are one more, the last.
    pub topics: Topics,
    /// Expected share of all tokens of each topic that has been met.
    pub shares: Vec<f64>,
    /// Word frequencies alone.
    pub unigram: Unigram,
}

impl TopicParameters {
    /// Number of topics that have been met.
    pub fn met(&self) -> usize {
        self.shares.len()
    }

    /// Every topic that has been met, with its `words` best words; see [`summarise`].
    pub fn summaries(&self, words: usize, relevance: f64) -> Vec<TopicSummary> {
        summarise(&self.topics, &self.shares, words, relevance)
    }
}

/// The parameters of a model of numbers.
pub struct RowParameters {
    /// The parameters, ready to be asked.
    pub model: Box<dyn Predictor>,
    /// The same under the names that they have when exported.
    pub arrays: Vec<Array<'static>>,
    /// What the baseline is called.
    pub baseline_name: &'static str,
    /// The baseline, ready to be asked.
    pub baseline: Box<dyn Predictor>,
}

/// Frozen parameters of a model of numbers.
pub trait Predictor: Send + Sync {
    /// How likelihoods are found: `exact`, or `ais`.
    fn estimator(&self) -> &'static str;

    /// `log p(x)`.
    fn log_likelihood(&self, x: &[f64], effort: Annealed, random: Stream) -> Estimate;

    /// The latent part of an observation: its mean, and its spread where it is not a label.
    fn latent(&self, x: &[f64], sweeps: usize, random: Stream) -> (Vec<f64>, Option<Vec<f64>>);
}

/// A score of either kind.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
#[serde(untagged)]
pub enum AnyScore {
    /// Of documents.
    Documents(Score),
    /// Of rows of numbers.
    Rows(RowScore),
}

impl AnyScore {
    /// Mean of `-log p(x)`.
    pub fn log_perplexity(&self) -> f64 {
        match self {
            Self::Documents(score) => score.log_perplexity_per_document,
            Self::Rows(score) => score.log_perplexity_per_document,
        }
    }

    /// The same of the baseline, and its name.
    pub fn baseline(&self) -> (&'static str, f64) {
        match self {
            Self::Documents(score) => ("unigram", score.unigram_log_perplexity_per_document),
            Self::Rows(score) => (score.baseline, score.baseline_log_perplexity_per_document),
        }
    }
}

impl Parameters {
    /// The topics; refuses a model that has none.
    pub fn topics(&self) -> Result<&TopicParameters> {
        match self {
            Self::Topics(topics) => Ok(topics),
            Self::Rows(_) => Err(Error::setting("model", "it has no topics", "use a topic model")),
        }
    }

    /// The latent part of each observation, on the threads of the current pool. Random numbers depend on the seed and the
    /// content of an observation alone, so it always gets the same answer.
    pub fn infer(&self, observations: &[Observation], how: &MixtureInference) -> Result<Vec<TopicMixture>> {
        match self {
            Self::Topics(parameters) => {
                let documents: Vec<Document> =
                    observations.iter().cloned().map(into_document).collect::<Result<_>>()?;
                Ok(how.infer(&parameters.topics, &Minibatch::new(&documents, 0, 0)))
            }
            Self::Rows(parameters) => {
                let latent = |observation: &Observation| {
                    let x = values_of(observation)?;
                    let random = stream_of(how.seed, Purpose::Mixture, x);
                    let (theta, spread) = parameters.model.latent(x, how.sweeps, random);
                    Ok(TopicMixture { theta, spread: spread.unwrap_or_default(), ..TopicMixture::default() })
                };
                observations.par_iter().map(latent).collect()
            }
        }
    }

    /// How well observations are predicted that the model was not learnt from; `each` gets the log-likelihood of every
    /// one, in their order.
    pub fn score(
        &self,
        evaluation: Evaluation,
        observations: impl Iterator<Item = Result<Observation>>,
        mut each: impl FnMut(f64),
    ) -> Result<AnyScore> {
        match self {
            Self::Topics(TopicParameters { topics, unigram, .. }) => {
                let documents = observations.map(|observation| observation.and_then(into_document));
                let scorer = Scorer::new(evaluation, topics, unigram)?;
                let score = scorer.score_each(documents, |_, score| each(score.log_likelihood))?;
                Ok(AnyScore::Documents(score))
            }
            Self::Rows(parameters) => {
                let rows = observations.map(|observation| values_of(&observation?).map(<[f64]>::to_vec));
                evaluation.score_rows(parameters, rows, each).map(AnyScore::Rows)
            }
        }
    }
}

fn into_document(observation: Observation) -> Result<Document> {
    match observation {
        Observation::Document(document) => Ok(document),
        Observation::Row(_) => Err(Error::setting("INPUT", "a topic model reads documents", "give some")),
    }
}

fn values_of(observation: &Observation) -> Result<&[f64]> {
    match observation {
        Observation::Row(row) => Ok(&row.values),
        Observation::Document(_) => {
            Err(Error::setting("INPUT", "this model reads rows of numbers", "give some"))
        }
    }
}

/// What is worth knowing about topics, components or sources.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct Diagnostics {
    /// Probability of each component of a mixture.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub weights: Vec<f64>,
    /// What the data say about the law of each source.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub sources: Vec<SourceShape>,
    /// Things to be careful about, as sentences.
    pub warnings: Vec<String>,
}
