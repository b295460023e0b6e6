//! The Dirichlet parameter of the topic proportions, learnt from the mean of `log theta`.
//!
//! The M-step solves `digamma(alpha_k) - digamma(sum alpha) = s2_k` for all k (science.md 2.4).

use crate::error::{Error, Result};
use crate::numerics::math::{digamma, digamma_trigamma, inverse_digamma, inverse_digamma_near};
use crate::learn::schedule::Step;
use serde::{Deserialize, Serialize};

/// The largest entry that makes a difference to documents of any length; far larger ones would overflow.
pub(super) const LARGEST_ALPHA: f64 = 1e30;

/// How alpha follows from the statistics.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub enum AlphaRule {
    /// The root of Minka's fixed-point equation, found by a scalar Newton iteration.
    FixedPoint,
    /// The fixed-point map applied so many times, as it is printed in the paper.
    FixedPointSteps(usize),
    /// One Newton step of weight rho on the likelihood of the minibatch (online LDA).
    Newton,
    /// One gradient step of weight rho on the likelihood of the minibatch.
    Gradient,
    /// The mode under a Gamma prior, from running sums (Sato et al.).
    Gamma {
        /// Shape of the prior.
        shape: f64,
        /// Rate of the prior.
        rate: f64,
    },
    /// Every alpha_k stays at this value; `None` means 1/K.
    Fixed(Option<f64>),
}

/// Expected statistics of the topic proportions, means over a minibatch.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ThetaExpectation {
    /// E[log theta_k].
    pub log_theta: Vec<f64>,
    /// alpha_k E[digamma(alpha_k + n_k) - digamma(alpha_k)].
    pub usage: Vec<f64>,
    /// E[digamma(A + N) - digamma(A)], with A the sum of alpha.
    pub length: f64,
}

impl ThetaExpectation {
    /// From the means of `digamma(alpha_k + n_k) - digamma(alpha_k)` and of `digamma(A + N)`.
    pub fn refresh(&mut self, alpha: &[f64], gains: &[f64], total: f64) {
        self.log_theta.clear();
        self.log_theta.extend(alpha.iter().zip(gains).map(|(&alpha, gain)| digamma(alpha) + gain - total));
        self.usage.clear();
        self.usage.extend(alpha.iter().zip(gains).map(|(alpha, gain)| alpha * gain));
        self.length = total - digamma(alpha.iter().sum());
    }

    /// `self <- (1 - weight) self + weight other`.
    pub(crate) fn blend(&mut self, weight: f64, other: &Self) {
        let blend = |old: &mut f64, new: &f64| *old += weight * (new - *old);
        self.log_theta.iter_mut().zip(&other.log_theta).for_each(|(old, new)| blend(old, new));
        self.usage.iter_mut().zip(&other.usage).for_each(|(old, new)| blend(old, new));
        blend(&mut self.length, &other.length);
    }

    /// Whether all numbers are finite, and there is one for each of so many topics.
    pub(crate) fn fits(&self, topics: usize) -> bool {
        let mut all = self.log_theta.iter().chain(&self.usage).chain([&self.length]);
        self.log_theta.len() == topics && self.usage.len() == topics && all.all(|value| value.is_finite())
    }
}

/// Alpha and the running means that the rules need.
#[derive(Clone, Debug, PartialEq)]
pub struct AlphaState {
    /// The Dirichlet parameter.
    pub alpha: Vec<f64>,
    /// Running mean of E[log theta].
    pub log_theta: Vec<f64>,
    /// Running mean of [`ThetaExpectation::usage`].
    pub usage: Vec<f64>,
    /// Running mean of [`ThetaExpectation::length`].
    pub length: f64,
    /// How often alpha was held inside its limits.
    pub clamps: AlphaClamps,
}

impl AlphaState {
    /// Statistics that agree with the given alpha.
    pub fn new(alpha: Vec<f64>) -> Self {
        let log_theta = mean_log_theta(&alpha);
        Self { usage: vec![0.0; alpha.len()], length: 0.0, clamps: AlphaClamps::default(), log_theta, alpha }
    }

    /// Blends a minibatch in and moves alpha by `rule`; no entry falls below `floor`.
    pub fn absorb(&mut self, rule: &AlphaRule, floor: f64, step: &Step, fresh: &ThetaExpectation) {
        let rho = step.rho.min(1.0);
        let blend = |old: &mut f64, fresh: &f64| *old = (1.0 - rho) * *old + rho * fresh;
        self.log_theta.iter_mut().zip(&fresh.log_theta).for_each(|(old, fresh)| blend(old, fresh));
        self.usage.iter_mut().zip(&fresh.usage).for_each(|(old, fresh)| blend(old, fresh));
        blend(&mut self.length, &fresh.length);
        if self.alpha.len() < 2 {
            return; // with one topic theta is 1 and says nothing about alpha
        }
        match *rule {
            AlphaRule::Fixed(_) => return,
            AlphaRule::FixedPoint => solve_fixed_point(&self.log_theta, &mut self.alpha),
            AlphaRule::FixedPointSteps(count) => self.fixed_point_steps(count),
            AlphaRule::Newton => {
                let direction = newton_direction(&self.alpha, fresh);
                move_inside(&mut self.alpha, rho, &direction);
            }
            AlphaRule::Gradient => {
                let direction = gradient(&self.alpha, fresh);
                move_inside(&mut self.alpha, rho, &direction);
            }
            AlphaRule::Gamma { shape, rate } => {
                let documents = step.seen as f64;
                let length = rate / documents + self.length;
                if length > 0.0 {
                    for (alpha, usage) in self.alpha.iter_mut().zip(&self.usage) {
                        *alpha = ((shape - 1.0) / documents + usage) / length;
                    }
                } // else no token and no prior says anything about alpha
            }
        }
        self.clamp(floor);
    }

    fn fixed_point_steps(&mut self, count: usize) {
        for _ in 0..count {
            let total = digamma(self.alpha.iter().sum());
            for (alpha, log_theta) in self.alpha.iter_mut().zip(&self.log_theta) {
                *alpha = inverse_digamma(total + log_theta);
            }
        }
    }

    fn clamp(&mut self, floor: f64) {
        let limit = largest_sum(self.alpha.len());
        let sum: f64 = self.alpha.iter().sum();
        if sum > limit * (1.0 + 1e-9) {
            self.clamps.sum += 1;
            let factor = limit / sum;
            self.alpha.iter_mut().for_each(|alpha| *alpha *= factor);
        }
        if self.alpha.iter().any(|&alpha| alpha < floor) {
            self.clamps.entries += 1;
            self.alpha.iter_mut().for_each(|alpha| *alpha = alpha.max(floor));
        }
    }
}

/// `g_k = digamma(A) - digamma(alpha_k) + E[log theta_k]`, the slope of the likelihood of a minibatch.
fn gradient(alpha: &[f64], fresh: &ThetaExpectation) -> Vec<f64> {
    let total = digamma(alpha.iter().sum());
    alpha.iter().zip(&fresh.log_theta).map(|(&alpha, log_theta)| total - digamma(alpha) + log_theta).collect()
}

/// Minus the inverse Hessian times the gradient; the Hessian is diagonal plus rank one (science.md 2.4b).
fn newton_direction(alpha: &[f64], fresh: &ThetaExpectation) -> Vec<f64> {
    let gradient = gradient(alpha, fresh);
    let (_, curvature) = digamma_trigamma(alpha.iter().sum());
    let inverse: Vec<f64> = alpha.iter().map(|&alpha| -1.0 / digamma_trigamma(alpha).1).collect();
    let weighted: f64 = gradient.iter().zip(&inverse).map(|(gradient, inverse)| gradient * inverse).sum();
    let mean = weighted / (1.0 / curvature + inverse.iter().sum::<f64>());
    gradient.iter().zip(&inverse).map(|(gradient, inverse)| -(gradient - mean) * inverse).collect()
}

/// Goes `weight` along a direction, less if alpha would not stay positive.
fn move_inside(alpha: &mut [f64], weight: f64, direction: &[f64]) {
    let mut weight = weight;
    while alpha.iter().zip(direction).any(|(alpha, direction)| alpha + weight * direction <= 0.0) {
        weight *= 0.5;
        if weight < 1e-9 {
            return;
        }
    }
    alpha.iter_mut().zip(direction).for_each(|(alpha, direction)| *alpha += weight * direction);
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
            Self::Fixed(Some(value)) if !(value > 0.0 && value <= LARGEST_ALPHA) => Err(Error::setting(
                "alpha",
                format!("fixed={value} is not a positive number up to {LARGEST_ALPHA:e}"),
                "choose a value such as 0.1",
            )),
            Self::FixedPointSteps(0) => {
                Err(Error::setting("alpha", "0 fixed-point steps change nothing", "use fixed, or 1 and more"))
            }
            Self::Gamma { shape, rate } if !(shape >= 1.0 && rate >= 0.0 && (shape + rate).is_finite()) => {
                Err(Error::setting(
                    "alpha",
                    format!("a Gamma prior with shape {shape} and rate {rate} may have no mode"),
                    "choose a shape of 1 or more and a rate of 0 or more",
                ))
            }
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

/// The smallest alpha_k that is allowed: an unused topic decays towards 0 but must be able to come back. Mean
/// field needs more, because there `exp(digamma(alpha_k))` must not vanish.
pub fn smallest_entry(topics: usize, mean_field: bool) -> f64 {
    (0.1 / topics as f64).min(if mean_field { 2e-3 } else { 1e-4 })
}

/// Solves `digamma(alpha_k) - digamma(sum alpha) = mean_log_theta_k`, starting from the present `alpha`.
///
/// The fixed-point map depends on the old vector through its sum A alone, so this is a scalar equation
/// `g(A) = A` with `g(A) = sum_k inverse_digamma(digamma(A) + s2_k)`, solved by Newton steps; a step that
/// leaves the domain is replaced by a plain fixed-point step, which always moves towards the root.
fn solve_fixed_point(mean_log_theta: &[f64], alpha: &mut [f64]) {
    let limit = largest_sum(alpha.len());
    // A solution exists exactly if the point lies inside the convex hull of all log theta.
    let solvable = mean_log_theta.iter().map(|&value| libm::exp(value)).sum::<f64>() < 1.0;
    let mut sum = if solvable { alpha.iter().sum::<f64>().min(limit) } else { limit };
    for _ in 0..100 {
        let (image, slope) = fixed_point_map(sum, mean_log_theta, alpha);
        // Above the root the map lies below the diagonal: at the limit this decides whether the root is beyond.
        if sum >= limit && (!solvable || image >= limit) {
            break; // what is left in `alpha` adds up to the limit or more
        }
        let newton = sum - (image - sum) / (slope - 1.0);
        let next = if newton > 0.0 && newton.is_finite() { newton } else { image }.min(limit);
        let moved = (next - sum).abs();
        sum = next;
        if moved <= 1e-10 * sum {
            break;
        }
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
    use crate::numerics::random::{Purpose, Seed};

    const FLOOR: f64 = 1e-5;

    fn replaced(rule: AlphaRule, s2: &[f64], start: f64, times: usize) -> AlphaState {
        repeated(rule, s2, start, times, 1.0)
    }

    fn repeated(rule: AlphaRule, s2: &[f64], start: f64, times: usize, rho: f64) -> AlphaState {
        let mut state = AlphaState::new(vec![start; s2.len()]);
        let fresh = ThetaExpectation { log_theta: s2.to_vec(), usage: vec![0.0; s2.len()], length: 0.0 };
        for update in 1..=times as u64 {
            let step = Step { update, rho, batch: 1, seen: update, ..Step::default() };
            state.absorb(&rule, FLOOR, &step, &fresh);
        }
        state
    }

    fn solve(s2: &[f64], start: f64) -> (Vec<f64>, AlphaClamps) {
        let state = replaced(AlphaRule::FixedPoint, s2, start, 1);
        (state.alpha, state.clamps)
    }

    /// Scalar Newton, the plain fixed point and the K-dimensional Newton of online LDA share their solution.
    #[test]
    fn all_likelihood_rules_agree() {
        let truth = [0.8, 0.05, 2.0, 0.3];
        let s2 = mean_log_theta(&truth);
        for (rule, times, rho) in [
            (AlphaRule::FixedPoint, 1, 1.0),
            (AlphaRule::FixedPointSteps(100), 20, 1.0),
            (AlphaRule::Newton, 60, 1.0),
            (AlphaRule::Gradient, 50_000, 3e-3),
        ] {
            let found = repeated(rule, &s2, 0.5, times, rho).alpha;
            for (found, expected) in found.iter().zip(&truth) {
                assert!((found / expected - 1.0).abs() < 1e-8, "{rule:?}: {found} is not {expected}");
            }
        }
    }

    /// Iterating the Gamma rule on a fixed set of documents climbs to the mode of the Polya likelihood times the
    /// prior: the slope there is zero.
    #[test]
    fn gamma_rule_finds_the_mode() {
        let documents = [[5.0, 0.0, 1.0], [2.0, 3.0, 0.0], [0.0, 0.0, 4.0], [7.0, 1.0, 1.0]];
        let (shape, rate) = (1.5, 0.3);
        let slope = |alpha: &[f64], k: usize| {
            let total: f64 = alpha.iter().sum();
            let data: f64 = documents
                .iter()
                .map(|counts| {
                    digamma(total) - digamma(total + counts.iter().sum::<f64>())
                        + digamma(alpha[k] + counts[k])
                        - digamma(alpha[k])
                })
                .sum();
            data + (shape - 1.0) / alpha[k] - rate
        };
        let mut state = AlphaState::new(vec![0.4; 3]);
        let mut fresh = ThetaExpectation::default();
        for _ in 0..5_000 {
            let alpha = state.alpha.clone();
            let total: f64 = alpha.iter().sum();
            let gains: Vec<f64> = (0..3)
                .map(|k| {
                    documents.iter().map(|n| digamma(alpha[k] + n[k]) - digamma(alpha[k])).sum::<f64>() / 4.0
                })
                .collect();
            let norm = documents.iter().map(|n| digamma(total + n.iter().sum::<f64>())).sum::<f64>() / 4.0;
            fresh.refresh(&alpha, &gains, norm);
            let step = Step { update: 1, rho: 1.0, batch: 4, seen: 4, ..Step::default() };
            state.absorb(&AlphaRule::Gamma { shape, rate }, FLOOR, &step, &fresh);
        }
        for k in 0..3 {
            assert!(slope(&state.alpha, k).abs() < 1e-7, "slope {}", slope(&state.alpha, k));
        }
        assert_eq!(state.clamps, AlphaClamps::default());
    }

    #[test]
    fn steps_that_would_leave_the_domain_are_shortened() {
        for rule in [AlphaRule::Newton, AlphaRule::Gradient] {
            let state = replaced(rule, &[-40.0, -0.5, -60.0], 1.0, 3);
            assert!(state.alpha.iter().all(|&alpha| alpha > 0.0 && alpha.is_finite()), "{rule:?}");
        }
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
                for start in [truth[0] * 1.1, 1.0 / f64::from(topics), 1.0] {
                    let (alpha, clamps) = solve(&mean_log_theta(&truth), start);
                    assert_eq!(clamps.sum, 0, "K = {topics}, scale {scale}");
                    for (found, expected) in alpha.iter().zip(&truth) {
                        assert!(
                            (found / expected.max(FLOOR) - 1.0).abs() < 1e-9,
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
        assert_eq!(alpha[0], FLOOR);
    }

    /// The objective of the M-step is stationary at the solution, and lower everywhere else that we look.
    #[test]
    fn solution_maximises_the_objective() {
        let s2 = [-1.5, -2.0, -3.0];
        let objective = |alpha: &[f64]| {
            let dot: f64 = alpha.iter().zip(&s2).map(|(a, s)| a * s).sum();
            let each: f64 = alpha.iter().map(|&a| crate::numerics::math::ln_gamma(a)).sum();
            dot - each + crate::numerics::math::ln_gamma(alpha.iter().sum())
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
