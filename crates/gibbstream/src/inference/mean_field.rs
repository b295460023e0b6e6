//! Mean-field variational inference: the E-step of V-OEM, OLDA and their kin (algorithms.md 3.3, 8.6).
//!
//! The distribution of each token's topic is never stored: with `t_k = exp(digamma(gamma_k))` it is
//! `t_k phi_kw / norm_w`, the same for all tokens of a word. A factor common to all `t_k` cancels.

use super::collect::{self, Collector, DocumentCounts, Weights};
use super::{LocalInference, Passes};
use crate::corpus::{Entry, Minibatch};
use crate::math::{digamma, dot, exp_digamma, ln_gamma, log_sum_exp};
use crate::model::LatentModel;
use crate::model::lda::TopicExpectation;
use crate::model::view::TopicView;
use crate::random::Stream;

/// Guards against words without any weight.
const TINY: f64 = 1e-280;
/// Where no `gamma_k` is larger, `exp(digamma(gamma_k))` comes near to underflow (at 1.3e-3 it has none left).
const SMALL_GAMMA: f64 = 0.05;

/// Coordinate ascent, a fixed number of iterations.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct MeanField {
    /// Number of iterations.
    pub iterations: usize,
}

/// The variational distribution of one document.
#[derive(Clone, Debug, Default)]
pub struct Variational {
    /// Dirichlet parameter of the topic proportions.
    pub gamma: Vec<f64>,
    /// `exp(digamma(gamma_k))` of the gamma that the token distributions were computed with, up to a common factor.
    spread: Vec<f64>,
    /// Per word of the document, `count / norm`.
    ratios: Vec<f64>,
}

impl Variational {
    /// The start: alpha plus the document spread evenly over the topics.
    pub fn start(&mut self, view: &TopicView, tokens: u64) {
        let share = tokens as f64 / view.topics() as f64;
        self.gamma.clear();
        self.gamma.extend(view.alpha().iter().map(|alpha| alpha + share));
        self.spread.clear();
        self.ratios.clear();
    }

    /// One round of coordinate ascent. `rows` holds the weights of the document's words, one after another.
    pub fn iterate(&mut self, view: &TopicView, document: &[Entry], rows: &[f64]) {
        let topics = view.topics();
        self.spread_out();
        self.ratios.clear();
        self.gamma.fill(0.0);
        for (entry, row) in document.iter().zip(rows.chunks_exact(topics)) {
            let ratio = f64::from(entry.count) / (dot(row, &self.spread) + TINY);
            self.ratios.push(ratio);
            for (gamma, weight) in self.gamma.iter_mut().zip(row) {
                *gamma += ratio * weight;
            }
        }
        for ((gamma, spread), alpha) in self.gamma.iter_mut().zip(&self.spread).zip(view.alpha()) {
            *gamma = alpha + spread * *gamma;
        }
    }

    /// Computes `spread` from `gamma`.
    fn spread_out(&mut self) {
        let (gamma, spread) = (&self.gamma, &mut self.spread);
        spread.clear();
        if gamma.iter().any(|&gamma| gamma > SMALL_GAMMA) {
            spread.extend(gamma.iter().map(|&gamma| exp_digamma(gamma)));
        } else {
            // A short document among many topics: the largest becomes 1, or the document would lose its mass.
            let largest = digamma(gamma.iter().copied().fold(0.0, f64::max));
            spread.extend(gamma.iter().map(|&gamma| libm::exp(digamma(gamma) - largest)));
        }
    }

    /// The evidence lower bound of the document with the best token distributions for the present `gamma`
    /// (equation 8 of algorithms.md 3.3); `rows` as in [`Self::iterate`].
    pub fn bound(&self, view: &TopicView, document: &[Entry], rows: &[f64]) -> f64 {
        let total: f64 = self.gamma.iter().sum();
        let log_theta: Vec<f64> = self.gamma.iter().map(|&gamma| digamma(gamma) - digamma(total)).collect();
        let largest = log_theta.iter().copied().fold(f64::NEG_INFINITY, f64::max);
        let theta: Vec<f64> = log_theta.iter().map(|value| libm::exp(value - largest)).collect();
        let mut bound = ln_gamma(view.alpha_sum()) - ln_gamma(total);
        for ((&gamma, &alpha), log_theta) in self.gamma.iter().zip(view.alpha()).zip(&log_theta) {
            bound += (alpha - gamma) * log_theta + ln_gamma(gamma) - ln_gamma(alpha);
        }
        for (entry, row) in document.iter().zip(rows.chunks_exact(view.topics())) {
            let sum = dot(row, &theta);
            let log_sum = if sum > 1e-200 {
                libm::log(sum) + largest
            } else {
                // The products underflow, their logarithms do not.
                log_sum_exp(
                    &row.iter().zip(&log_theta).map(|(row, log)| libm::log(*row) + log).collect::<Vec<_>>(),
                )
            };
            bound += f64::from(entry.count) * log_sum;
        }
        bound
    }
}

/// The weights of a document's words, copied together so that the iterations stay in the cache.
pub fn gather_rows(view: &TopicView, document: &[Entry], rows: &mut Vec<f64>) {
    rows.clear();
    for entry in document {
        rows.extend_from_slice(view.row(entry.word));
    }
}

impl DocumentCounts for Variational {
    fn terms(&self) -> usize {
        1
    }

    fn add_counts(&self, row: usize, counts: &mut [f64]) {
        let ratio = self.ratios[row];
        for (count, spread) in counts.iter_mut().zip(&self.spread) {
            *count += ratio * spread;
        }
    }

    fn weights(&self) -> Weights {
        Weights::Missing
    }
}

impl<M> LocalInference<M> for MeanField
where
    M: LatentModel<Batch = Minibatch, View = TopicView, Expectation = TopicExpectation>,
{
    type Latent = Variational;
    type Scratch = Vec<f64>;

    fn passes(&self) -> usize {
        self.iterations
    }

    fn first_kept(&self) -> usize {
        self.iterations - 1
    }

    fn begin(&self, view: &TopicView, batch: &Minibatch, index: usize, latent: &mut Variational, _: Stream) {
        latent.start(view, batch.tokens_of(index));
    }

    fn advance(
        &self,
        view: &TopicView,
        batch: &Minibatch,
        index: usize,
        latent: &mut Variational,
        rows: &mut Vec<f64>,
        passes: Passes,
    ) {
        let document = batch.document(index);
        gather_rows(view, document, rows);
        for _ in passes.range {
            latent.iterate(view, document, rows);
        }
    }

    fn expect(
        &self,
        view: &TopicView,
        batch: &Minibatch,
        latents: &mut [Variational],
        out: &mut TopicExpectation,
    ) {
        Collector::new(view, batch, latents).write_all(&mut out.counts, &mut out.totals);
        out.in_parts = false;
        let mut gains = vec![0.0; view.topics()];
        for latent in &*latents {
            gains.iter_mut().zip(&latent.gamma).for_each(|(gain, &gamma)| *gain += digamma(gamma));
        }
        for (gain, &alpha) in gains.iter_mut().zip(view.alpha()) {
            *gain = *gain / batch.len() as f64 - digamma(alpha);
        }
        out.theta.refresh(view.alpha(), &gains, collect::mean_total(view, batch));
    }
}
