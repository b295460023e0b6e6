//! Mean-field variational inference: the E-step of V-OEM, OLDA and their kin (science.md 3.3, 8.6).
//!
//! The distribution of each token's topic is never stored: with `t_k = exp(digamma(gamma_k))` it is
//! `t_k phi_kw / norm_w`, the same for all tokens of a word. A factor common to all `t_k` cancels.

use super::{LocalInference, Passes};
use crate::corpus::{Entry, Minibatch};
use crate::numerics::math::{digamma, dot, exp_digamma_all, ln_gamma, log_sum_exp};
use crate::model::topics::statistics::{TopicStatistics, rounded_count};
use crate::model::topics::view::TopicView;
use crate::model::{LatentModel, Sums};
use crate::numerics::random::Stream;
use crate::numerics::vectorised::vectorised;

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

    /// One round of coordinate ascent.
    pub fn iterate(&mut self, view: &TopicView, document: &[Entry]) {
        self.spread_out();
        self.ratios.clear();
        self.gamma.fill(0.0);
        add_up(view, document, &self.spread, &mut self.gamma, &mut self.ratios);
        for ((gamma, spread), alpha) in self.gamma.iter_mut().zip(&self.spread).zip(view.alpha()) {
            *gamma = alpha + spread * *gamma;
        }
    }

    /// Computes `spread` from `gamma`.
    fn spread_out(&mut self) {
        let (gamma, spread) = (&self.gamma, &mut self.spread);
        spread.clear();
        if gamma.iter().any(|&gamma| gamma > SMALL_GAMMA) {
            spread.extend_from_slice(gamma);
            exp_digamma_all(spread);
        } else {
            // A short document among many topics: the largest becomes 1, or the document would lose its mass.
            let largest = digamma(gamma.iter().copied().fold(0.0, f64::max));
            spread.extend(gamma.iter().map(|&gamma| libm::exp(digamma(gamma) - largest)));
        }
    }

    /// The evidence lower bound of the document with the best token distributions for the present `gamma`
    /// (equation 8 of science.md 3.3).
    pub fn bound(&self, view: &TopicView, document: &[Entry]) -> f64 {
        let total: f64 = self.gamma.iter().sum();
        let log_theta: Vec<f64> = self.gamma.iter().map(|&gamma| digamma(gamma) - digamma(total)).collect();
        let largest = log_theta.iter().copied().fold(f64::NEG_INFINITY, f64::max);
        let theta: Vec<f64> = log_theta.iter().map(|value| libm::exp(value - largest)).collect();
        let mut bound = ln_gamma(view.alpha_sum()) - ln_gamma(total);
        for ((&gamma, &alpha), log_theta) in self.gamma.iter().zip(view.alpha()).zip(&log_theta) {
            bound += (alpha - gamma) * log_theta + ln_gamma(gamma) - ln_gamma(alpha);
        }
        for entry in document {
            let row = view.row(entry.word);
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

/// For every word its `count / norm`, which goes to `ratios`, times its weights, added to `sums` word after word.
fn add_up(view: &TopicView, document: &[Entry], spread: &[f64], sums: &mut [f64], ratios: &mut Vec<f64>) {
    vectorised!((view: &TopicView = view, document: &[Entry] = document, spread: &[f64] = spread,
                 sums: &mut [f64] = sums, ratios: &mut Vec<f64> = ratios) -> () {
        // Four at a time, so that the sums are read and written less often.
        let (groups, rest) = document.as_chunks::<4>();
        for [a, b, c, d] in groups {
            let shares = [
                ratio(view, a, spread),
                ratio(view, b, spread),
                ratio(view, c, spread),
                ratio(view, d, spread),
            ];
            ratios.extend_from_slice(&shares);
            let rows = [view.row(a.word), view.row(b.word), view.row(c.word), view.row(d.word)];
            add_weighted(rows, shares, sums);
        }
        for entry in rest {
            let share = ratio(view, entry, spread);
            ratios.push(share);
            add_weighted([view.row(entry.word)], [share], sums);
        }
    });
}

/// `count / norm` of a word.
#[inline(always)]
fn ratio(view: &TopicView, entry: &Entry, spread: &[f64]) -> f64 {
    f64::from(entry.count) / (dot(view.row(entry.word), spread) + TINY)
}

/// Adds each row times its share, one after another.
#[inline(always)]
fn add_weighted<const N: usize>(rows: [&[f64]; N], shares: [f64; N], sums: &mut [f64]) {
    for row in &rows {
        assert_eq!(row.len(), sums.len()); // spares the checks below
    }
    for k in 0..sums.len() {
        let mut sum = sums[k];
        for i in 0..N {
            sum += shares[i] * rows[i][k];
        }
        sums[k] = sum;
    }
}

impl Variational {
    /// Adds the expected counts of the word in `row`, whose weights are given, rounded to whole units.
    fn add_counts(&self, row: usize, weights: &[f64], counts: &mut [f64]) {
        vectorised!((
            ratio: f64 = self.ratios[row],
            spread: &[f64] = &self.spread,
            weights: &[f64] = weights,
            counts: &mut [f64] = counts,
        ) -> () {
            for ((count, spread), weight) in counts.iter_mut().zip(spread).zip(weights) {
                *count += rounded_count(ratio * spread * weight);
            }
        });
    }
}

impl<M> LocalInference<M> for MeanField
where
    M: LatentModel<Batch = Minibatch, View = TopicView, Statistics = TopicStatistics>,
{
    type Latent = Variational;
    type Scratch = ();

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
        (): &mut (),
        passes: Passes,
    ) {
        for _ in passes.range {
            latent.iterate(view, batch.document(index));
        }
    }

    fn collect(
        &self,
        view: &TopicView,
        batch: &Minibatch,
        latents: &mut [Variational],
        out: &mut TopicStatistics,
    ) {
        let latents = &*latents;
        let at_zero: Vec<f64> = view.alpha().iter().map(|&alpha| digamma(alpha)).collect();
        let mut gains = Sums::new(view.topics());
        for latent in latents {
            let gains_of = latent.gamma.iter().zip(&at_zero).map(|(&gamma, zero)| digamma(gamma) - zero);
            gains.add(&gains_of.collect::<Vec<f64>>());
        }
        out.set_rows(view, batch, 1, gains, |word, counts| {
            for place in batch.occurrences(word) {
                latents[place.document as usize].add_counts(
                    place.row as usize,
                    view.row(word as u32),
                    counts,
                );
            }
        });
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::corpus::Document;
    use crate::model::topics::lda::Topics;

    /// Wide vectors and words four at a time give the bits of the plain loop.
    #[test]
    fn sums_have_one_order() {
        for (topics, words) in [(1, 1), (3, 4), (8, 5), (21, 11), (128, 7)] {
            let weight = |i: usize| 1.0 / (1.0 + (i * 7 % 31) as f64);
            let beta = (0..topics * words).map(weight).collect();
            let counts = (0..words as u32).map(|word| (word, 1 + word % 3)).collect();
            let batch = Minibatch::new(&[Document { words: counts, ..Document::default() }], 0, 0);
            let mut view = TopicView::default();
            Topics { beta, alpha: vec![0.1; topics] }.view(&batch, &mut view);
            let document = batch.document(0);
            let spread: Vec<f64> = (0..topics).map(|k| weight(k + 5)).collect();
            let (mut sums, mut ratios) = (vec![0.0; topics], Vec::new());
            add_up(&view, document, &spread, &mut sums, &mut ratios);
            let mut expected = vec![0.0; topics];
            for (entry, ratio) in document.iter().zip(&ratios) {
                let row = view.row(entry.word);
                assert_eq!(*ratio, f64::from(entry.count) / (dot(row, &spread) + TINY));
                expected.iter_mut().zip(row).for_each(|(sum, weight)| *sum += ratio * weight);
            }
            assert_eq!(sums, expected, "K = {topics}");
        }
    }
}
