//! What topics follow from the running counts: maximum likelihood, the posterior of a Dirichlet prior, or a
//! Langevin move. All three hold the same statistics; they differ in the map from them to probabilities.

use crate::model::topics::counts::{Affine, TopicStats};
use crate::model::topics::view::weight_and_prior;
use crate::error::{Error, Result};
use crate::numerics::math::{digamma, exp_digamma, exp_digamma_all};
use crate::numerics::random::{Purpose, Seed};
use crate::learn::schedule::Step;
use serde::{Deserialize, Serialize};

/// How topics follow from counts.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub enum TopicRule {
    /// Relative frequencies, smoothed.
    MaximumLikelihood(Smoothing),
    /// A Dirichlet posterior: local inference reads `exp E[log beta]`, evaluation reads `E[beta]`.
    Bayes {
        /// Parameter b of the symmetric prior; `None` means 1/K.
        prior: Option<f64>,
        /// Number of documents that the counts stand for.
        population: Population,
    },
    /// Stochastic gradient Langevin dynamics on unnormalised topics (Patterson and Teh's expanded mean).
    Langevin {
        /// Parameter of the symmetric prior.
        prior: f64,
        /// Number of documents that the counts stand for.
        population: Population,
    },
}

/// What keeps a word from having probability zero in a topic that never saw it (science.md 2.3).
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub enum Smoothing {
    /// This share of every topic is spread evenly over the vocabulary.
    Share(f64),
    /// This many tokens of every word are added to the counts of all documents that they stand for.
    PseudoCount(f64),
}

/// Number of documents that a Bayesian method takes the stream to have.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub enum Population {
    /// The whole corpus, whose size has yet to be given.
    Corpus,
    /// So many.
    Documents(f64),
    /// Those seen so far.
    Seen,
}

impl Population {
    pub(crate) fn documents(self, step: &Step) -> f64 {
        match self {
            Self::Documents(documents) => documents,
            Self::Seen | Self::Corpus => ((step.head_start + step.seen) as f64).max(1.0),
        }
    }
}

/// Expected counts of a minibatch per document, for its words only.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct FreshCounts {
    /// The words, ascending.
    pub words: Vec<u32>,
    /// `words x topics`.
    pub counts: Vec<f64>,
    /// Sums of `counts` over words.
    pub totals: Vec<f64>,
}

/// A topic with no more tokens than this has none: its counts have no digits left to divide by.
pub(super) const NO_TOKENS: f64 = 1e-290;

/// The map from a row of scaled counts to the weights that local inference reads.
pub(crate) enum WeightMap {
    /// The probabilities themselves.
    Affine(Affine),
    /// `exp E[log beta]`: `exp(digamma(prior + documents * scaled) - digamma(sum_k))`.
    ExpDigamma {
        prior: f64,
        documents: f64,
        sums: Vec<f64>,
        inverse_norms: Vec<f64>,
        /// Whether no sum is so tiny that its norm underflows.
        normal: bool,
    },
}

impl WeightMap {
    /// Writes the weights that belong to a row of scaled counts; returns their sum, and the sum of their products
    /// with `alpha`. The row `next` will be asked for next.
    pub(crate) fn write_and_sum(
        &self,
        scaled: &[f64],
        next: &[f64],
        alpha: &[f64],
        row: &mut [f64],
    ) -> (f64, f64) {
        if let Self::Affine(affine) = self {
            affine.apply_and_sum(scaled, next, alpha, row)
        } else {
            row.copy_from_slice(scaled);
            self.apply(row);
            weight_and_prior(row, alpha)
        }
    }

    /// Writes the weights of a row of scaled counts times `alpha`; returns their sum.
    pub(crate) fn prior_weights(&self, scaled: &[f64], alpha: &[f64], out: &mut [f64]) -> f64 {
        out.copy_from_slice(scaled);
        self.apply(out);
        let mut prior = weight_and_prior(out, alpha).1;
        if prior <= 0.0 {
            out.fill(1.0); // the word says nothing about topics
            prior = weight_and_prior(out, alpha).1;
        }
        out.iter_mut().zip(alpha).for_each(|(weight, alpha)| *weight *= alpha);
        prior
    }

    /// Maps a row of scaled counts in place.
    pub(crate) fn apply(&self, row: &mut [f64]) {
        match self {
            Self::Affine(affine) => affine.apply_in_place(row),
            Self::ExpDigamma { prior, documents, sums, inverse_norms, normal } => {
                for value in row.iter_mut() {
                    *value = parameter(*prior, *documents, *value);
                }
                if *normal && row.iter().any(|&value| value > 0.1) {
                    exp_digamma_all(row);
                    row.iter_mut().zip(inverse_norms).for_each(|(value, inverse)| *value *= inverse);
                } else {
                    exp_digamma_of_tiny(row, sums);
                }
            }
        }
    }
}

/// Where every parameter is tiny, or the sum of a topic is, the weights would underflow; a factor common to all topics of a word cancels in
/// local inference, so the largest becomes 1.
#[cold]
fn exp_digamma_of_tiny(row: &mut [f64], sums: &[f64]) {
    for (value, &sum) in row.iter_mut().zip(sums) {
        *value = digamma(*value) - digamma(sum);
    }
    let largest = row.iter().copied().fold(f64::NEG_INFINITY, f64::max);
    row.iter_mut().for_each(|value| *value = libm::exp(*value - largest));
}

/// A Dirichlet parameter; rounding must not carry it below its prior.
fn parameter(prior: f64, documents: f64, scaled: f64) -> f64 {
    (prior + documents * scaled).max(prior)
}

impl TopicRule {
    /// The probabilities to report, for counts `scale * scaled`: `E[beta]` for Bayesian rules.
    pub(crate) fn probabilities(&self, scale: f64, totals: &[f64], words: usize, step: &Step) -> Affine {
        let uniform = 1.0 / words as f64;
        let topics = totals.len();
        let pair = |total: f64| match *self {
            Self::MaximumLikelihood(Smoothing::Share(share)) if total > NO_TOKENS => {
                ((1.0 - share) / total, share * uniform)
            }
            Self::MaximumLikelihood(Smoothing::PseudoCount(count)) if total > NO_TOKENS => {
                with_prior(count / (documents_behind(step) * scale), total, words)
            }
            Self::Bayes { prior, population } => {
                let prior = prior.unwrap_or(1.0 / topics as f64);
                with_prior(prior / (population.documents(step) * scale), total, words)
            }
            Self::Langevin { .. } if total > NO_TOKENS => (1.0 / total, 0.0),
            _ => (0.0, uniform),
        };
        let (factors, offsets) = totals.iter().map(|&total| pair(total)).unzip();
        Affine { factors, offsets }
    }

    /// The weights that local inference reads, for counts `scale * scaled`.
    pub(crate) fn weights(&self, scale: f64, totals: &[f64], words: usize, step: &Step) -> WeightMap {
        match *self {
            Self::Bayes { prior, population } => {
                let prior = prior.unwrap_or(1.0 / totals.len() as f64);
                let documents = population.documents(step) * scale;
                let sum = |&total: &f64| parameter(words as f64 * prior, documents, total);
                let sums: Vec<f64> = totals.iter().map(sum).collect();
                let inverse_norms = sums.iter().map(|&sum| 1.0 / exp_digamma(sum)).collect();
                let normal = sums.iter().all(|&sum| sum > 0.1);
                WeightMap::ExpDigamma { prior, documents, sums, inverse_norms, normal }
            }
            _ => WeightMap::Affine(self.probabilities(scale, totals, words, step)),
        }
    }

    /// The map from (topic, scaled count) to `E[log beta]`; `None` if the topics have no distribution.
    pub(crate) fn log_weights(
        &self,
        scale: f64,
        totals: &[f64],
        words: usize,
        step: &Step,
    ) -> Option<impl Fn(usize, f64) -> f64 + Sync + use<>> {
        let Self::Bayes { prior, population } = *self else { return None };
        let prior = prior.unwrap_or(1.0 / totals.len() as f64);
        let documents = population.documents(step) * scale;
        let sum = |&total: &f64| digamma(parameter(words as f64 * prior, documents, total));
        let log_norms: Vec<f64> = totals.iter().map(sum).collect();
        Some(move |k: usize, scaled: f64| digamma(parameter(prior, documents, scaled)) - log_norms[k])
    }

    /// Whether the counts move by blending.
    pub(crate) fn blends(&self) -> bool {
        !matches!(self, Self::Langevin { .. })
    }

    /// Moves the counts: by blending, or by a Langevin step that treats them as unnormalised topics.
    pub(crate) fn absorb(&self, counts: &mut TopicStats, step: &Step, fresh: &FreshCounts, seed: Seed) {
        match *self {
            Self::Langevin { prior, population } => {
                langevin_move(counts, step, fresh, prior, population.documents(step), seed);
            }
            _ => counts.blend(step.rho, &fresh.words, &fresh.counts, &fresh.totals),
        }
    }

    /// Tokens of every word that are added to the counts of all documents; 0 for rules that do not add any.
    pub fn pseudo_count(&self) -> f64 {
        match *self {
            Self::MaximumLikelihood(Smoothing::PseudoCount(count)) => count,
            _ => 0.0,
        }
    }

    /// Refuses values that make no sense.
    pub fn validate(&self) -> Result<()> {
        let positive = |name: &str, value: f64| {
            if value > 0.0 && value.is_finite() {
                Ok(())
            } else {
                Err(Error::setting(
                    name,
                    format!("{value} is not a positive number"),
                    "choose one such as 0.01",
                ))
            }
        };
        let population = |population: Population| match population {
            Population::Corpus => Err(Error::setting(
                "total-docs",
                "this method weighs its prior against the size of the whole corpus, which is not known",
                "give the number of documents with {total-docs}",
            )),
            Population::Documents(documents) => positive("total-docs", documents),
            Population::Seen => Ok(()),
        };
        match *self {
            Self::MaximumLikelihood(Smoothing::Share(share)) if !(0.0..1.0).contains(&share) => {
                Err(Error::setting(
                    "smoothing",
                    format!("{share} is not a share in [0, 1)"),
                    "choose a small share such as 0.0001, or 0 for none",
                ))
            }
            Self::MaximumLikelihood(Smoothing::PseudoCount(count)) => positive("topic-prior", count),
            Self::MaximumLikelihood(_) => Ok(()),
            Self::Bayes { prior, population: documents } => {
                positive("topic-prior", prior.unwrap_or(1.0)).and(population(documents))
            }
            Self::Langevin { prior, population: documents } => {
                positive("topic-prior", prior).and(population(documents))
            }
        }
    }
}

/// Number of documents that the running counts are the mean of, as far as they weigh like the last ones.
fn documents_behind(step: &Step) -> f64 {
    let documents = if step.rho > 0.0 { step.batch as f64 / step.rho } else { step.head_start as f64 };
    documents.max(1.0)
}

/// Factor and offset of `(scaled + prior) / (total + words * prior)`.
fn with_prior(prior: f64, total: f64, words: usize) -> (f64, f64) {
    let factor = 1.0 / (total + words as f64 * prior);
    (factor, prior * factor)
}

/// One step of `theta <- |theta + eps (prior - theta + D (n_kw - n_k phi_kw)) + sqrt(2 eps theta) xi|`
/// (science.md 3.10), where `eps` is the step of [`StepSize::Decay`]: half of the step of Patterson and Teh,
/// whose drift has a factor 1/2. Every number of every topic moves at every step: the noise is part of the method.
///
/// With counts held fixed and small steps, `phi` converges to Dirichlet(prior + D n) and `sum(theta)`, independent of
/// it, in Gamma(V prior, 1). The bias is of the order of `eps`, and larger for priors far below 1, where the
/// reflection at 0 is felt.
///
/// [`StepSize::Decay`]: crate::learn::schedule::StepSize::Decay
fn langevin_move(
    theta: &mut TopicStats,
    step: &Step,
    fresh: &FreshCounts,
    prior: f64,
    documents: f64,
    seed: Seed,
) {
    let topics = theta.topics();
    let totals = theta.scaled_totals().to_vec();
    let scale = theta.scale();
    let epsilon = step.rho;
    theta.change(|word, row| {
        let mut random = seed.stream(Purpose::Langevin, [step.update, u64::from(word)]);
        let counts =
            fresh.words.binary_search(&word).ok().map(|index| &fresh.counts[index * topics..][..topics]);
        for (k, theta) in row.iter_mut().enumerate() {
            let phi = *theta / (totals[k] * scale);
            let drift =
                prior - *theta + documents * (counts.map_or(0.0, |counts| counts[k]) - fresh.totals[k] * phi);
            let noise = (2.0 * epsilon * *theta).sqrt() * random.normal();
            *theta = (*theta + epsilon * drift + noise).abs();
        }
    });
}
