//! How well frozen topics predict documents that they were not learnt from.
//!
//! The measure of the paper is the log-perplexity, the mean over documents of `-log p(X)`, with the topics of
//! the tokens and the proportions of the document summed out (science.md 5). The sum is intractable;
//! [`sequential`] estimates it, document by document. A document's estimate depends on its words, the seed and
//! the topics alone: order, company and threads do not change a bit of it, so two models can be compared on
//! the same documents pair by pair. Two cheaper measures stand beside it: [`elbo`], a lower bound of `log p(X)`,
//! and [`completion`], the likelihood of one half of each document given the other. [`coherence`] asks whether the words
//! of a topic go together for people, and [`alignment`] which topic of one model is which of another.

pub mod alignment;
pub mod annealed;
pub mod coherence;
pub mod completion;
pub mod elbo;
pub mod rows;
pub mod sequential;
mod stream;
mod unigram;

pub use unigram::Unigram;

use crate::corpus::Document;
use crate::error::{Error, Result};
use crate::model::topics::lda::Topics;
use crate::model::topics::view::TopicView;
use crate::numerics::random::Seed;
use sequential::{Particles, Sequential};
use stream::{Held, Sums, Workers};

/// An estimate of the log-likelihood of one observation.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Estimate {
    /// `log p(x)`, or an estimate of it.
    pub log_likelihood: f64,
    /// The variance of the estimate; 0 if it is exact.
    pub variance: f64,
}

/// An estimator of log p(X).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Estimator {
    /// Sequential Monte Carlo: particles are resampled by their weights. Unbiased for p(X) with any number of
    /// particles, and of low variance.
    #[default]
    Smc,
    /// The left-to-right estimator of Wallach et al. (2009), as in the paper. Biased even with infinitely many
    /// particles; for comparison with published numbers.
    LeftToRight,
    /// Annealed importance sampling: particles keep their weights to the end. Unbiased for p(X), but of high
    /// variance on long documents.
    Ais,
}

impl Estimator {
    /// All of them.
    pub const ALL: [Self; 3] = [Self::Smc, Self::LeftToRight, Self::Ais];

    /// The name in settings and output.
    pub fn name(self) -> &'static str {
        match self {
            Self::Smc => "smc",
            Self::LeftToRight => "left-to-right",
            Self::Ais => "ais",
        }
    }
}

impl std::fmt::Display for Estimator {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.pad(self.name())
    }
}

impl std::str::FromStr for Estimator {
    type Err = Error;

    fn from_str(name: &str) -> Result<Self> {
        Self::ALL.into_iter().find(|estimator| estimator.name() == name).ok_or_else(|| {
            Error::setting("estimator", format!("there is no `{name}`"), "use smc, left-to-right or ais")
        })
    }
}

/// Settings of an evaluation.
#[derive(Clone, Copy, Debug, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Evaluation {
    /// How log p(X) is estimated.
    pub estimator: Estimator,
    /// Particles per document. The logarithm of an unbiased estimate is too low by about half its relative
    /// variance, which falls with their number.
    pub particles: usize,
    /// Seed of all random streams.
    pub seed: Seed,
    /// Worker threads; never changes a result.
    pub threads: usize,
}

impl Default for Evaluation {
    fn default() -> Self {
        Self { estimator: Estimator::default(), particles: 20, seed: Seed::default(), threads: 1 }
    }
}

impl Evaluation {
    /// Refuses settings that make no sense.
    pub fn validate(&self) -> Result<()> {
        if self.particles == 0 {
            let advice = "ask for at least 1; 20 is the default";
            return Err(Error::setting("particles", "an estimate needs particles", advice));
        }
        Ok(())
    }
}

/// The result of an evaluation; logarithms are natural.
#[derive(Clone, Copy, Debug, PartialEq, serde::Serialize)]
pub struct Score {
    /// How log p(X) was estimated.
    pub estimator: Estimator,
    /// Particles per document.
    pub particles: usize,
    /// Documents, empty ones included; those have `log p(X) = 0`.
    pub documents: u64,
    /// Tokens in the vocabulary.
    pub tokens: u64,
    /// Tokens that were left out because the model does not know their word.
    pub out_of_vocabulary_tokens: u64,
    /// Mean of `-log p(X)`. Infinite if all topics give probability 0 to some word of the documents, which
    /// needs a model without smoothing; JSON then says `null`.
    pub log_perplexity_per_document: f64,
    /// Its standard error over documents; `None` for fewer than two documents or an infinite mean.
    pub standard_error: Option<f64>,
    /// Sum of `log p(X)` over the number of tokens; `None` without tokens.
    pub log_likelihood_per_token: Option<f64>,
    /// `exp` of minus that; `None` without tokens.
    pub perplexity: Option<f64>,
    /// Mean of `-log p(X)` under the unigram baseline.
    pub unigram_log_perplexity_per_document: f64,
}

/// The result for one document.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct DocumentScore {
    /// Tokens in the vocabulary.
    pub tokens: u64,
    /// Tokens that were left out.
    pub out_of_vocabulary_tokens: u64,
    /// Estimate of `log p(X)`.
    pub log_likelihood: f64,
    /// `log p(X)` under the unigram baseline.
    pub unigram_log_likelihood: f64,
}

/// Scores documents under frozen topics, with threads of its own.
pub struct Scorer<'a> {
    evaluation: Evaluation,
    topics: &'a Topics,
    unigram: &'a Unigram,
    workers: Workers<Particles>,
}

impl<'a> Scorer<'a> {
    /// Checks the settings and starts the threads.
    pub fn new(evaluation: Evaluation, topics: &'a Topics, unigram: &'a Unigram) -> Result<Self> {
        evaluation.validate()?;
        if topics.vocabulary() != unigram.vocabulary() {
            let (topics, unigram) = (topics.vocabulary(), unigram.vocabulary());
            let problem = format!("the baseline counts {unigram} words but the topics know {topics}");
            return Err(Error::setting("unigram", problem, "take both from the same model"));
        }
        let workers = Workers::new(evaluation.threads, topics.vocabulary())?;
        Ok(Self { evaluation, topics, unigram, workers })
    }

    /// Scores all documents.
    pub fn score(&self, documents: impl IntoIterator<Item = Result<Document>>) -> Result<Score> {
        self.score_each(documents, |_, _| {})
    }

    /// Scores all documents and hands over the result of each, in their order. Holds some documents at a time,
    /// however many there are.
    pub fn score_each(
        &self,
        documents: impl IntoIterator<Item = Result<Document>>,
        mut each: impl FnMut(&Document, &DocumentScore),
    ) -> Result<Score> {
        let (mut sums, mut unigram) = (Sums::default(), 0.0);
        self.workers.run(
            documents,
            TopicView::for_sampling(),
            |batch, view| self.topics.view(batch, view),
            |view, held, particles| DocumentScore {
                tokens: held.document.tokens(),
                out_of_vocabulary_tokens: held.document.out_of_vocabulary,
                log_likelihood: self.log_likelihood(view, held, particles),
                unigram_log_likelihood: self.unigram.log_likelihood(held.document),
            },
            |document, score| {
                sums.add(document, score.log_likelihood);
                unigram += score.unigram_log_likelihood;
                each(document, score);
            },
        )?;
        let mean = sums.mean()?;
        let per_token = (sums.tokens > 0).then(|| sums.total / sums.tokens as f64);
        Ok(Score {
            estimator: self.evaluation.estimator,
            particles: self.evaluation.particles,
            documents: sums.documents,
            tokens: sums.tokens,
            out_of_vocabulary_tokens: sums.out_of_vocabulary_tokens,
            // Subtracted from 0 so that empty documents alone give 0, not -0.
            log_perplexity_per_document: 0.0 - mean,
            standard_error: sums.standard_error(),
            log_likelihood_per_token: per_token,
            perplexity: per_token.map(|per_token| libm::exp(-per_token)),
            unigram_log_perplexity_per_document: 0.0 - unigram / sums.documents as f64,
        })
    }

    fn log_likelihood(&self, view: &TopicView, held: &Held<'_>, particles: &mut Particles) -> f64 {
        // The view lets a word without any weight say nothing about topics; here it says that p(X) = 0.
        let impossible =
            |word: u32| self.topics.row(word).iter().zip(view.alpha()).all(|(p, a)| p * a <= 0.0);
        if view.unseen() > 0 && held.document.words.iter().any(|&(word, _)| impossible(word)) {
            return f64::NEG_INFINITY;
        }
        let Evaluation { estimator, particles: count, seed, .. } = self.evaluation;
        Sequential::new(estimator, count).log_likelihood(view, held.entries(), seed, held.key(), particles)
    }
}
