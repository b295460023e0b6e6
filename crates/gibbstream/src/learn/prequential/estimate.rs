//! The cheap estimate of log p(X).
//!
//! Sequential Monte Carlo with few particles is unbiased for p(X), but its logarithm is too low by about half its variance.
//! Two independent runs tell the variance, so the mean of their logarithms can be put right.

use crate::corpus::Entry;
use crate::evaluation::Estimator;
use crate::evaluation::sequential::{Particles, Sequential};
use crate::model::topics::view::TopicView;
use crate::numerics::random::{Seed, mix};

/// Particles of a run.
pub const PARTICLES: usize = 8;

/// Independent runs for each document.
pub const RUNS: usize = 2;

/// Up to so many tokens a document is walked through as `evaluate` does.
const SHORT_DOCUMENT: usize = 16;

/// Tokens that a document of [`SHORT_DOCUMENT`] draws anew for each token; longer ones draw fewer.
const POSITIONS: usize = 4;

/// An estimate of `log p(X)`.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Estimated {
    /// In nats.
    pub log_likelihood: f64,
    /// Its variance over repetitions.
    pub variance: f64,
}

const WALK: Sequential = Sequential {
    estimator: Estimator::Smc,
    particles: PARTICLES,
    sweeps: 1,
    long_document: SHORT_DOCUMENT,
    positions: POSITIONS,
};

/// Draws that a document of so many tokens takes.
pub fn cost(tokens: u64) -> f64 {
    let tokens = tokens as f64;
    let again = (POSITIONS as f64 * (SHORT_DOCUMENT as f64 / tokens).sqrt()).max(1.0).min(tokens / 2.0);
    (RUNS * PARTICLES) as f64 * tokens * (1.0 + again)
}

/// Estimates the log-likelihood of a document, whose words are rows of the view. `key` numbers its random streams.
pub fn estimate(view: &TopicView, document: &[Entry], seed: Seed, key: u64, particles: &mut Particles) -> Estimated {
    if document.is_empty() {
        return Estimated::default();
    }
    let [first, second] =
        [1, 2].map(|run| WALK.log_likelihood(view, document, seed, mix(key ^ mix(run)), particles));
    combine(first, second)
}

/// From this difference of two runs on, in nats, the correction grows no faster than the difference.
const LARGE_DIFFERENCE: f64 = 4.0;

/// The mean of two logarithms plus `d^2 / 4`, an unbiased estimate of half their variance if they are Gaussian. A large
/// difference `d` is no Gaussian any more, and counts less.
fn combine(first: f64, second: f64) -> Estimated {
    let difference = (first - second).abs();
    let quadratic = difference.min(LARGE_DIFFERENCE);
    let correction = quadratic * quadratic / 4.0 + (difference - quadratic) * LARGE_DIFFERENCE / 2.0;
    Estimated {
        log_likelihood: first.midpoint(second) + correction,
        // Of the mean, and of the correction.
        variance: difference * difference / 4.0 + correction * correction / 1.5,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::numerics::random::Purpose;

    /// Estimates whose logarithms are Gaussian with variance v are too low by v / 2.
    #[test]
    fn two_runs_make_up_for_what_the_logarithm_loses() {
        for variance in [0.1, 1.0, 2.0] {
            let mut random = Seed(3).stream(Purpose::Evaluation, [1, 2]);
            let mut normal = || {
                let (u, v): (f64, f64) = (random.uniform_positive(), random.uniform());
                (-2.0 * libm::log(u)).sqrt() * libm::cos(std::f64::consts::TAU * v)
            };
            let (mut mean, mut squares, mut stated, count) = (0.0, 0.0, 0.0, 40_000);
            for _ in 0..count {
                let mut log = || f64::sqrt(variance) * normal() - variance / 2.0;
                let found = combine(log(), log());
                mean += found.log_likelihood / f64::from(count);
                squares += found.log_likelihood * found.log_likelihood / f64::from(count);
                stated += found.variance / f64::from(count);
            }
            let spread = squares - mean * mean;
            assert!(mean.abs() < 0.07 * variance, "variance {variance}: {mean}");
            assert!((0.6..1.7).contains(&(stated / spread)), "variance {variance}: {stated} for {spread}");
        }
    }
}
