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
mod particles;
pub mod rows;
pub mod sequential;
pub mod stability;
mod stream;
mod unigram;

pub use unigram::Unigram;

use crate::corpus::Document;
use crate::error::{Error, Result};
use crate::model::topics::lda::Topics;
use crate::model::topics::view::TopicView;
use crate::numerics::random::{Seed, mix};
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
    /// Whether a document gets further runs with as many particles each, until they agree: where alpha is small, one run may
    /// miss the topics of a document. The mean of their likelihoods is unbiased too.
    pub adaptive: bool,
    /// Seed of all random streams.
    pub seed: Seed,
    /// Worker threads; never changes a result.
    pub threads: usize,
}

impl Default for Evaluation {
    fn default() -> Self {
        Self {
            estimator: Estimator::default(),
            particles: 20,
            adaptive: false,
            seed: Seed::default(),
            threads: 1,
        }
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
    /// Particles per document; the most that a document took, if their number was found by the spread.
    pub particles: usize,
    /// The part of the error of the mean that comes from estimating: its standard deviation over repetitions with other
    /// seeds. It comes from runs that were repeated, with a given number of particles those of some documents. `None` if the
    /// mean is infinite.
    pub monte_carlo_error: Option<f64>,
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
    /// Its variance over repetitions; `None` if there was only one.
    pub variance: Option<f64>,
    /// Particles that it took.
    pub particles: usize,
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
        let (mut sums, mut unigram, mut spread) = (Sums::default(), 0.0, Spread::default());
        self.workers.run(
            documents,
            TopicView::for_sampling(),
            |batch, view| self.topics.view(batch, view),
            |view, held, particles| {
                let Repeated { log_likelihood, variance, runs } = self.estimate(view, held, particles);
                DocumentScore {
                    tokens: held.document.tokens(),
                    out_of_vocabulary_tokens: held.document.out_of_vocabulary,
                    log_likelihood,
                    variance,
                    particles: runs * self.evaluation.particles,
                    unigram_log_likelihood: self.unigram.log_likelihood(held.document),
                }
            },
            |document, score| {
                sums.add(document, score.log_likelihood);
                spread.add(score);
                unigram += score.unigram_log_likelihood;
                each(document, score);
            },
        )?;
        let mean = sums.mean()?;
        let per_token = (sums.tokens > 0).then(|| sums.total / sums.tokens as f64);
        Ok(Score {
            estimator: self.evaluation.estimator,
            particles: spread.particles.max(self.evaluation.particles),
            monte_carlo_error: spread.error(sums.documents).filter(|_| mean.is_finite()),
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

    /// Runs until they agree, or once, or twice for some documents, so that the error of all can be told.
    fn estimate(&self, view: &TopicView, held: &Held<'_>, particles: &mut Particles) -> Repeated {
        if held.entries().is_empty() {
            return Repeated { log_likelihood: 0.0, variance: Some(0.0), runs: 1 };
        }
        let mut logs = vec![self.log_likelihood(view, held, 0, particles)];
        let most = if self.evaluation.adaptive {
            most_runs(held.document.tokens())
        } else if held.key().is_multiple_of(REPEATED) {
            2
        } else {
            1
        };
        let fewest = fewest_runs(view.alpha(), self.evaluation.particles).min(most);
        while logs.len() < most && logs[0].is_finite() {
            let doubled = (2 * logs.len()).max(fewest).min(most);
            logs.extend((logs.len()..doubled).map(|run| self.log_likelihood(view, held, run as u64, particles)));
            if variance_of_mean(&logs) <= TOLERATED_VARIANCE {
                break;
            }
        }
        let log_likelihood = if self.evaluation.adaptive { log_of_mean(&logs) } else { logs[0] };
        let runs = if self.evaluation.adaptive { logs.len() } else { 1 };
        // Of two runs, the first of which is the estimate, half the squared difference.
        let variance = (logs.len() > 1).then(|| {
            let of_mean = variance_of_mean(&logs);
            if self.evaluation.adaptive { of_mean } else { 2.0 * of_mean }
        });
        Repeated { log_likelihood, variance, runs }
    }

    fn log_likelihood(&self, view: &TopicView, held: &Held<'_>, run: u64, particles: &mut Particles) -> f64 {
        // The view lets a word without any weight say nothing about topics; here it says that p(X) = 0.
        let impossible =
            |word: u32| self.topics.row(word).iter().zip(view.alpha()).all(|(p, a)| p * a <= 0.0);
        if view.unseen() > 0 && held.document.words.iter().any(|&(word, _)| impossible(word)) {
            return f64::NEG_INFINITY;
        }
        let Evaluation { estimator, particles: count, seed, .. } = self.evaluation;
        let key = if run == 0 { held.key() } else { mix(held.key() ^ mix(run)) };
        Sequential::new(estimator, count).log_likelihood(view, held.entries(), seed, key, particles)
    }
}

/// Runs of a document at most: fewer of a long one, whose estimate is further off in nats but not for each token. There
/// are always two, so that the error is known.
fn most_runs(tokens: u64) -> usize {
    const MOST_RUNS: u64 = 64;
    const TOKENS: u64 = 1 << 20;
    (TOKENS / tokens.max(1)).clamp(2, MOST_RUNS) as usize
}

/// The variance of an estimate that is good enough: the logarithm is then too low by about half of it.
const TOLERATED_VARIANCE: f64 = 0.06;

/// Runs whose particles, together, meet every topic that a document may be about: runs that have all missed it agree with
/// each other, and their spread says nothing. A document is about one topic where the sum of alpha is far below 1; the
/// larger it is, the less it matters where a particle began.
fn fewest_runs(alpha: &[f64], particles: usize) -> usize {
    /// A topic of average weight is missed with probability `exp(-8)`.
    const PARTICLES_PER_TOPIC: f64 = 8.0;
    let sum: f64 = alpha.iter().sum();
    let share = |alpha: f64| if alpha > 0.0 { alpha / sum * libm::log(alpha / sum) } else { 0.0 };
    let topics = libm::exp(-alpha.iter().map(|&alpha| share(alpha)).sum::<f64>());
    (PARTICLES_PER_TOPIC * topics / ((1.0 + sum) * (1.0 + sum) * particles as f64)).ceil().max(1.0) as usize
}

/// With a given number of particles, one document in so many is estimated twice.
const REPEATED: u64 = 8;

/// An estimate from repeated runs.
struct Repeated {
    log_likelihood: f64,
    variance: Option<f64>,
    runs: usize,
}

/// The logarithm of the mean of likelihoods, which is an unbiased estimate if each of them is.
fn log_of_mean(logs: &[f64]) -> f64 {
    let largest = logs.iter().copied().fold(f64::NEG_INFINITY, f64::max);
    let mean = logs.iter().map(|log| libm::exp(log - largest)).sum::<f64>() / logs.len() as f64;
    largest + libm::log(mean)
}

/// The variance of that logarithm, by the spread of the likelihoods about their mean.
fn variance_of_mean(logs: &[f64]) -> f64 {
    let (mean, runs) = (log_of_mean(logs), logs.len() as f64);
    let squares: f64 = logs.iter().map(|log| libm::exp(log - mean) - 1.0).map(|off| off * off).sum();
    squares / (runs - 1.0) / runs
}

/// The errors of estimating, over documents.
#[derive(Default)]
struct Spread {
    particles: usize,
    repeated: u64,
    variances: f64,
}

impl Spread {
    fn add(&mut self, score: &DocumentScore) {
        self.particles = self.particles.max(score.particles);
        if let Some(variance) = score.variance {
            self.repeated += 1;
            self.variances += variance;
        }
    }

    /// The standard deviation of the mean over so many documents; `None` if nothing was repeated.
    fn error(&self, documents: u64) -> Option<f64> {
        let mean = self.variances / self.repeated as f64;
        Some((mean / documents as f64).sqrt()).filter(|error| error.is_finite())
    }
}
