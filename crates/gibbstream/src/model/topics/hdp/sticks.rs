//! How much of the stream each topic has when there is no end of topics: the weights `pi` of a Dirichlet process, and
//! what is left of them for topics not met yet (science.md 4).

use crate::model::topics::alpha::AlphaState;
use crate::numerics::math::{digamma, digamma_trigamma, inverse_digamma, inverse_digamma_near};
use serde::{Deserialize, Serialize};

/// What a state knows beyond that of a model with a given number of topics, where `alpha = b pi`.
#[derive(Clone, Debug, PartialEq)]
pub struct Sticks {
    /// What is left for topics not met yet, a share of all.
    pub remainder: f64,
    /// Running mean of E[log theta] of all of them together.
    pub remainder_log: f64,
    /// Topics ever created, those of the start included.
    pub created: u64,
    /// The number of each topic, in the order of creation.
    pub ids: Vec<u64>,
    /// How many documents had been seen when each topic was born; 0 for those of the start.
    pub born: Vec<u64>,
    /// For how many documents each topic has had next to no tokens.
    pub idle: Vec<u64>,
    /// Evidence for each topic since it was born, or since it was looked at after it had proved itself.
    pub evidence: Vec<f64>,
    /// Which topics have proved themselves; the others are on trial.
    pub proved: Vec<bool>,
    /// The topics that were born in the last minibatch; not part of what is saved.
    pub births: Vec<Birth>,
}

/// A topic is born.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Birth {
    /// Its number.
    pub id: u64,
    /// The update.
    pub update: u64,
    /// Place in the stream of the first document that met it.
    pub document: u64,
    /// Expected tokens that it was founded on.
    pub tokens: f64,
    /// Its first words, the most frequent one first.
    pub words: Vec<u32>,
}

/// How the weights follow from the statistics under maximum likelihood.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum PiRule {
    /// They maximise the likelihood with the remainder as one more component and a fixed concentration.
    Constrained,
    /// One step of the fixed-point map of the paper over the topics met, scaled down if there is too much of them.
    Literal,
}

impl PiRule {
    /// Moves `alpha = b pi` and the remainder to where the running means put them.
    pub fn solve(self, concentration: f64, alpha: &mut AlphaState, sticks: &mut Sticks) {
        match self {
            Self::Constrained => {
                let open = sticks.remainder > 0.0;
                let mut all = alpha.alpha.clone();
                all.extend(open.then_some(concentration * sticks.remainder));
                let mut means = alpha.log_theta.clone();
                means.extend(open.then_some(sticks.remainder_log));
                maximise(concentration, &means, &mut all);
                sticks.remainder = if open { all.pop().unwrap_or(0.0) / concentration } else { 0.0 };
                alpha.alpha = all;
            }
            Self::Literal => {
                let total = digamma(alpha.alpha.iter().sum());
                for (alpha, mean) in alpha.alpha.iter_mut().zip(&alpha.log_theta) {
                    *alpha = inverse_digamma(total + mean);
                }
                let whole: f64 = alpha.alpha.iter().sum::<f64>() + concentration * sticks.remainder;
                let scale = if whole > concentration { concentration / whole } else { 1.0 };
                alpha.alpha.iter_mut().for_each(|alpha| *alpha *= scale);
                sticks.remainder = 1.0 - alpha.alpha.iter().sum::<f64>() / concentration;
            }
        }
    }
}

/// Moves `alpha = b pi` and the remainder to their means under the posterior of the sticks, Beta(1 + tables of the
/// topic, c + tables of later topics), for a stream of so many documents. The tables of a topic in a document are a
/// sum of Bernoulli numbers whose mean is `alpha_k (digamma(alpha_k + n_k) - digamma(alpha_k))` (science.md 4.3);
/// their running mean is [`AlphaState::usage`].
pub(crate) fn posterior_means(
    concentration: f64,
    stick_concentration: f64,
    documents: f64,
    alpha: &mut AlphaState,
    sticks: &mut Sticks,
) {
    let mut later: f64 = alpha.usage.iter().sum();
    sticks.remainder = 1.0;
    for (alpha, tables) in alpha.alpha.iter_mut().zip(&alpha.usage) {
        later = (later - tables).max(0.0);
        let taken = 1.0 + documents * tables;
        let fraction = taken / (taken + stick_concentration + documents * later);
        *alpha = concentration * sticks.remainder * fraction;
        sticks.remainder *= 1.0 - fraction;
    }
}

impl Sticks {
    /// Drops all topics but these.
    pub(crate) fn keep_only(&mut self, stay: &[usize]) {
        for values in [&mut self.ids, &mut self.born, &mut self.idle] {
            *values = stay.iter().map(|&k| values[k]).collect();
        }
        self.evidence = stay.iter().map(|&k| self.evidence[k]).collect();
        self.proved = stay.iter().map(|&k| self.proved[k]).collect();
    }

    /// Holds the remainder above `least` and every weight above what digamma can bear, at the cost of the others.
    pub(crate) fn hold(&mut self, concentration: f64, least: f64, alpha: &mut AlphaState) {
        if self.remainder < least {
            self.remainder = least;
            self.remainder_log = digamma(concentration * least) - alpha.length - digamma(concentration);
        }
        let smallest = SMALLEST_WEIGHT * concentration;
        alpha.alpha.iter_mut().for_each(|alpha| *alpha = alpha.max(smallest));
        let scale = concentration * (1.0 - self.remainder) / alpha.alpha.iter().sum::<f64>();
        // Without a remainder and with all weights in their limits this is 1 up to rounding: then nothing is to be done.
        if (scale - 1.0).abs() > 1e-9 {
            alpha.alpha.iter_mut().for_each(|alpha| *alpha *= scale);
        }
    }
}

/// No weight falls below this share of the concentration: beyond it digamma leaves all reason.
pub(crate) const SMALLEST_WEIGHT: f64 = 1e-8;

/// Maximises `sum_k (a_k mean_k - ln gamma(a_k))` where the a_k add up to `sum`. At the maximum
/// `digamma(a_k) = mean_k + mu`, so one number mu is searched by Newton steps; the sum grows with mu. `values` gets the
/// solution.
fn maximise(sum: f64, means: &[f64], values: &mut [f64]) {
    // Here the component with the largest mean takes everything, so the sum is reached or passed; it is convex in mu, so
    // Newton steps go down to the root.
    let largest = means.iter().copied().fold(f64::NEG_INFINITY, f64::max);
    let mut mu = digamma(sum) - largest;
    values.iter_mut().zip(means).for_each(|(value, mean)| *value = inverse_digamma(mean + mu));
    let (mut low, mut high) = (f64::NEG_INFINITY, f64::INFINITY);
    for _ in 0..200 {
        let (mut found, mut slope) = (0.0, 0.0);
        for (value, mean) in values.iter_mut().zip(means) {
            *value = inverse_digamma_near(mean + mu, *value);
            found += *value;
            slope += 1.0 / digamma_trigamma(*value).1;
        }
        if (found - sum).abs() <= 1e-13 * sum {
            break;
        }
        if found > sum {
            high = mu;
        } else {
            low = mu;
        }
        let newton = mu - (found - sum) / slope;
        mu = match (newton > low && newton < high, low.is_finite() && high.is_finite()) {
            (true, _) => newton,
            (false, true) => 0.5 * (low + high),
            (false, false) => mu + if found > sum { -1.0 } else { 1.0 },
        };
    }
    let found: f64 = values.iter().sum();
    values.iter_mut().for_each(|value| *value *= sum / found);
}

impl Sticks {
    /// The sticks of a start with so many topics: each has its expected fraction of what those before it have left.
    /// Returns the weights beside them.
    pub fn start(topics: usize, stick_concentration: f64) -> (Self, Vec<f64>) {
        let (mut remainder, mut weights) = (1.0, Vec::with_capacity(topics));
        for _ in 0..topics {
            weights.push(remainder / (1.0 + stick_concentration));
            remainder *= stick_concentration / (1.0 + stick_concentration);
        }
        let sticks = Self {
            remainder,
            remainder_log: 0.0,
            created: topics as u64,
            ids: (0..topics as u64).collect(),
            born: vec![0; topics],
            idle: vec![0; topics],
            evidence: vec![0.0; topics],
            proved: vec![true; topics],
            births: Vec::new(),
        };
        (sticks, weights)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::numerics::random::{Purpose, Seed};

    #[test]
    fn golden_weights() {
        let mut values = vec![0.75; 4];
        maximise(3.0, &[-1.0, -2.5, -4.0, -6.0], &mut values);
        let golden = [1.723_808_500_1, 0.681_786_471_8, 0.372_716_861_3, 0.221_688_166_7];
        for (found, expected) in values.iter().zip(golden) {
            assert!((found - expected).abs() < 1e-10, "{found} is not {expected}");
        }
    }

    /// Random problems of any size and scale: the sum is kept, and `digamma(a_k) - mean_k` is one number.
    #[test]
    fn weights_satisfy_their_conditions() {
        let mut random = Seed(3).stream(Purpose::Initial, [0, 0]);
        for topics in [1, 2, 10, 300] {
            for _ in 0..50 {
                let sum = libm::exp(6.0 * (random.uniform() - 0.5));
                let means: Vec<f64> =
                    (0..topics).map(|_| -0.1 - 300.0 * random.uniform() * random.uniform()).collect();
                let mut values = vec![sum / topics as f64; topics];
                maximise(sum, &means, &mut values);
                assert!((values.iter().sum::<f64>() - sum).abs() < 1e-10 * sum);
                let shift = |k: usize| digamma(values[k]) - means[k];
                let largest = (0..topics).max_by(|&a, &b| values[a].total_cmp(&values[b])).unwrap();
                for k in 0..topics {
                    let residual = (shift(k) - shift(largest)).abs();
                    assert!(residual < 1e-8 * (1.0 + means[k].abs()), "{topics} topics: residual {residual}");
                }
            }
        }
    }

    fn running(alpha: &[f64], log_theta: &[f64], usage: &[f64]) -> AlphaState {
        let mut state = AlphaState::new(alpha.to_vec());
        state.log_theta = log_theta.to_vec();
        state.usage = usage.to_vec();
        state
    }

    /// Three sticks written out: E[Beta(1 + D t_k, c + D (t_(k+1) + ...))], each of what those before have left.
    #[test]
    fn posterior_weights_are_means_of_sticks() {
        let (mut sticks, _) = Sticks::start(3, 1.0);
        let mut alpha = running(&[0.1; 3], &[-1.0; 3], &[0.6, 0.3, 0.1]);
        posterior_means(2.0, 1.5, 10.0, &mut alpha, &mut sticks);
        let fractions = [7.0 / (7.0 + 5.5), 4.0 / (4.0 + 2.5), 2.0 / (2.0 + 1.5)];
        let mut left = 1.0;
        for (found, fraction) in alpha.alpha.iter().zip(fractions) {
            assert!((found - 2.0 * left * fraction).abs() < 1e-12);
            left *= 1.0 - fraction;
        }
        assert!((sticks.remainder - left).abs() < 1e-12);
    }

    /// The literal rule is one fixed-point step; what would be more than all is scaled down.
    #[test]
    fn literal_weights_leave_room_for_the_remainder() {
        for (means, scaled_down) in [([-3.0, -4.0], false), ([-0.1, -0.2], true)] {
            let (mut sticks, _) = Sticks::start(2, 1.0);
            let (before, mut alpha) = (sticks.remainder, running(&[0.5, 0.25], &means, &[0.0; 2]));
            let plain = means.map(|mean| inverse_digamma(digamma(0.75) + mean));
            PiRule::Literal.solve(1.0, &mut alpha, &mut sticks);
            let sum: f64 = alpha.alpha.iter().sum();
            assert!((sum + sticks.remainder - 1.0).abs() < 1e-12 && sticks.remainder > 0.0);
            assert_eq!(plain.iter().sum::<f64>() + before > 1.0, scaled_down);
            assert_eq!(alpha.alpha == plain, !scaled_down);
        }
    }
}
