//! The Dirichlet parameter of the topic proportions, learnt from the mean of `log theta`.
//!
//! The M-step solves `digamma(alpha_k) - digamma(sum alpha) = s2_k` for all k (algorithms.md 2.4).

use crate::error::{Error, Result};
use crate::math::{digamma, digamma_trigamma, inverse_digamma_near};
use serde::{Deserialize, Serialize};

/// How alpha follows from the statistics.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub enum AlphaRule {
    /// The root of Minka's fixed-point equation, found by a scalar Newton iteration.
    FixedPoint,
    /// Every alpha_k stays at this value; `None` means 1/K.
    Fixed(Option<f64>),
}

impl AlphaRule {
    /// The value at which every alpha_k starts.
    pub fn start(&self, topics: usize) -> f64 {
        match *self {
            Self::Fixed(Some(value)) => value,
            _ => 1.0 / topics as f64,
        }
    }

    /// Refuses impossible values.
    pub fn validate(&self) -> Result<()> {
        match *self {
            Self::Fixed(Some(value)) if !(value > 0.0 && value.is_finite()) => Err(Error::setting(
                "alpha",
                format!("fixed={value} is not a positive number"),
                "choose a value such as 0.1",
            )),
            _ => Ok(()),
        }
    }
}

/// How often alpha had to be held inside its limits.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct AlphaClamps {
    /// Updates in which the sum of alpha was held at its upper limit.
    pub sum: u64,
    /// Updates in which some alpha_k was held at its lower limit.
    pub entries: u64,
}

/// The largest sum that is allowed: documents that vary no more than chance would drive it to infinity.
pub fn largest_sum(topics: usize) -> f64 {
    10.0 * topics as f64
}

/// The smallest alpha_k that is allowed: an unused topic decays towards 0 but must be able to come back.
pub fn smallest_entry(topics: usize) -> f64 {
    (0.1 / topics as f64).min(1e-4)
}

/// Solves `digamma(alpha_k) - digamma(sum alpha) = mean_log_theta_k`, starting from the present `alpha`.
///
/// The fixed-point map depends on the old vector through its sum A alone, so this is a scalar equation
/// `g(A) = A` with `g(A) = sum_k inverse_digamma(digamma(A) + s2_k)`, solved by Newton steps; a step that
/// leaves the domain is replaced by a plain fixed-point step, which always moves towards the root.
pub fn solve_fixed_point(mean_log_theta: &[f64], alpha: &mut [f64], clamps: &mut AlphaClamps) {
    let topics = alpha.len();
    if topics < 2 {
        return; // with one topic theta is 1 and says nothing about alpha
    }
    let limit = largest_sum(topics);
    // A solution exists exactly if the point lies inside the convex hull of all log theta.
    let solvable = mean_log_theta.iter().map(|&value| libm::exp(value)).sum::<f64>() < 1.0;
    let mut sum = if solvable { alpha.iter().sum::<f64>().min(limit) } else { limit };
    for _ in 0..100 {
        let (image, slope) = fixed_point_map(sum, mean_log_theta, alpha);
        // Above the root the map lies below the diagonal: at the limit this decides whether the root is beyond.
        if sum >= limit && (!solvable || image >= limit) {
            clamps.sum += 1;
            break;
        }
        let newton = sum - (image - sum) / (slope - 1.0);
        let next = if newton > 0.0 && newton.is_finite() { newton } else { image }.min(limit);
        let moved = (next - sum).abs();
        sum = next;
        if moved <= 1e-10 * sum {
            break;
        }
    }
    let floor = smallest_entry(topics);
    if alpha.iter().any(|&value| value < floor) {
        clamps.entries += 1;
        alpha.iter_mut().for_each(|value| *value = value.max(floor));
    }
}

/// `g(A)` and `g'(A)`; leaves `alpha_k(A)` in `alpha`, whose old values are the guesses.
fn fixed_point_map(sum: f64, mean_log_theta: &[f64], alpha: &mut [f64]) -> (f64, f64) {
    let (value, slope) = digamma_trigamma(sum);
    let (mut image, mut inverse_slopes) = (0.0, 0.0);
    for (alpha, &log_theta) in alpha.iter_mut().zip(mean_log_theta) {
        *alpha = inverse_digamma_near(value + log_theta, *alpha);
        image += *alpha;
        inverse_slopes += 1.0 / digamma_trigamma(*alpha).1;
    }
    (image, slope * inverse_slopes)
}

/// The statistics that belong to a given alpha: `digamma(alpha_k) - digamma(sum alpha)`.
pub fn mean_log_theta(alpha: &[f64]) -> Vec<f64> {
    let total = digamma(alpha.iter().sum());
    alpha.iter().map(|&value| digamma(value) - total).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::random::{Purpose, Seed};

    fn solve(s2: &[f64], start: f64) -> (Vec<f64>, AlphaClamps) {
        let mut alpha = vec![start; s2.len()];
        let mut clamps = AlphaClamps::default();
        solve_fixed_point(s2, &mut alpha, &mut clamps);
        (alpha, clamps)
    }

    #[test]
    fn golden_solution() {
        let (alpha, clamps) = solve(&[-1.5, -2.0, -3.0], 1.0);
        for (found, expected) in alpha.iter().zip([0.604_495_618_0, 0.487_921_451_9, 0.344_316_531_8]) {
            assert!((found - expected).abs() < 1e-10, "{found} is not {expected}");
        }
        assert_eq!(clamps, AlphaClamps::default());
    }

    /// alpha -> s2 -> alpha, over six decades and up to a thousand topics, from cold and warm starts.
    #[test]
    fn round_trip() {
        let mut random = Seed(1).stream(Purpose::Initial, [0, 0]);
        for topics in [2, 3, 10, 128, 1000] {
            for decade in -3..=3 {
                let scale = libm::pow(10.0, f64::from(decade)).min(5.0); // the sum may not exceed 10 K
                let truth: Vec<f64> = (0..topics).map(|_| scale * (0.5 + random.uniform())).collect();
                for start in [truth[0] * 1.1, 1.0 / topics as f64, 1.0] {
                    let (alpha, clamps) = solve(&mean_log_theta(&truth), start);
                    assert_eq!(clamps.sum, 0, "K = {topics}, scale {scale}");
                    for (found, expected) in alpha.iter().zip(&truth) {
                        let floor = smallest_entry(topics);
                        assert!(
                            (found / expected.max(floor) - 1.0).abs() < 1e-9,
                            "K = {topics}, scale {scale}, start {start}: {found} is not {expected}"
                        );
                    }
                }
            }
        }
    }

    /// A dominant topic beside many tiny ones puts `sum exp(s2)` near 1 although the sum of alpha is small.
    #[test]
    fn one_large_among_tiny() {
        let mut truth = vec![0.001; 128];
        truth[0] = 5.0;
        let (alpha, clamps) = solve(&mean_log_theta(&truth), 1.0 / 128.0);
        assert_eq!(clamps, AlphaClamps::default());
        for (found, expected) in alpha.iter().zip(&truth) {
            assert!((found / expected - 1.0).abs() < 1e-9);
        }
    }

    #[test]
    fn impossible_statistics_are_clamped_and_counted() {
        let (alpha, clamps) = solve(&[-0.1, -0.2, -0.3], 0.3);
        assert_eq!(clamps.sum, 1);
        assert!(alpha.iter().all(|value| value.is_finite() && *value > 0.0));
        // Solvable, but only with a sum beyond the limit.
        let (alpha, clamps) = solve(&mean_log_theta(&[100.0, 100.0]), 0.3);
        assert_eq!(clamps.sum, 1);
        assert!(alpha.iter().all(|value| value.is_finite() && *value > 0.0));
    }

    #[test]
    fn unused_topics_stay_above_the_floor() {
        let (alpha, clamps) = solve(&[-1e6, -1.0, -1.2], 0.3);
        assert_eq!(clamps.entries, 1);
        assert_eq!(alpha[0], smallest_entry(3));
    }

    /// The objective of the M-step is stationary at the solution, and lower everywhere else that we look.
    #[test]
    fn solution_maximises_the_objective() {
        let s2 = [-1.5, -2.0, -3.0];
        let objective = |alpha: &[f64]| {
            let dot: f64 = alpha.iter().zip(&s2).map(|(a, s)| a * s).sum();
            let each: f64 = alpha.iter().map(|&a| crate::math::ln_gamma(a)).sum();
            dot - each + crate::math::ln_gamma(alpha.iter().sum())
        };
        let (alpha, _) = solve(&s2, 1.0);
        let best = objective(&alpha);
        let mut random = Seed(2).stream(Purpose::Initial, [0, 0]);
        for _ in 0..1000 {
            let moved: Vec<f64> =
                alpha.iter().map(|a| a * libm::exp(0.2 * (random.uniform() - 0.5))).collect();
            assert!(objective(&moved) < best);
        }
        for k in 0..3 {
            let (mut up, mut down) = (alpha.clone(), alpha.clone());
            up[k] += 1e-5;
            down[k] -= 1e-5;
            assert!((objective(&up) - objective(&down)).abs() / 2e-5 < 1e-8);
        }
    }
}
