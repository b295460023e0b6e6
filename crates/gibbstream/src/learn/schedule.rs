//! Where a run stands, and how far each update moves.

use crate::learn::batch_size::BatchSize;
use crate::error::{Error, Result};
use serde::{Deserialize, Serialize};

/// The clock of a run, after a minibatch was counted.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Step {
    /// Number of updates, this one included.
    pub update: u64,
    /// Documents in this minibatch.
    pub batch: u64,
    /// Documents seen, this minibatch included.
    pub seen: u64,
    /// Documents that the start of the run stands for, beside those seen.
    pub head_start: u64,
    /// Weight of this minibatch in the running statistics.
    pub rho: f64,
}

impl Step {
    /// Whether a step that was read from bytes is possible.
    pub(crate) fn is_sound(&self) -> bool {
        self.head_start.checked_add(self.seen).is_some() && self.rho >= 0.0 && self.rho.is_finite()
    }
}

/// The rule for the weight `rho` of a minibatch in the running statistics (science.md 1.3).
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub enum StepSize {
    /// `tau (i + offset)^-kappa`, at most 1 and at least `least`; a minibatch shorter than usual weighs less in
    /// proportion.
    Power {
        /// Exponent, in `[0, 1]`.
        kappa: f64,
        /// Added to the number of the update.
        offset: f64,
        /// Factor.
        tau: f64,
        /// No full minibatch weighs less, so that what keeps changing is followed forever. 0 in files before 0.2.
        #[serde(default, skip_serializing_if = "is_zero")]
        least: f64,
    },
    /// The same weight always.
    Constant(f64),
    /// `batch / seen`: plain averaging of everything seen, equal to adding up counts.
    Incremental {
        /// The random start weighs as much as this many minibatches.
        head_start: u64,
    },
    /// `start (1 + i / delay)^-exponent`: the step of Langevin dynamics, which is not a weight. Update i counts
    /// minibatches whatever their size. About constant for the first `delay` updates; an exponent in `(1/2, 1]`
    /// lets the steps sum to infinity and their squares not, so that the noise of minibatches dies out against
    /// the noise of the dynamics.
    Decay {
        /// The first step.
        start: f64,
        /// Updates after which the decay sets in.
        delay: f64,
        /// Exponent of the decay.
        exponent: f64,
    },
}

/// Where steps begin anew, they are as large as after so many minibatches: what is known should change, not vanish.
pub const RESTART_MINIBATCHES: u64 = 10;

impl StepSize {
    /// The rule of the paper, `1 / sqrt(i)`.
    pub const PAPER: Self = Self::Power { kappa: 0.5, offset: 0.0, tau: 1.0, least: 0.0 };

    /// The clock before the first minibatch.
    pub fn start(&self, size: BatchSize) -> Step {
        let head_start = match *self {
            Self::Incremental { head_start } => head_start * size.least as u64,
            _ => 0,
        };
        Step { head_start, ..Step::default() }
    }

    /// The step after `clock` for a minibatch of `batch` documents, where full ones are of `size`. One that has grown
    /// is weighed like the small ones that its documents would have been.
    pub fn next(&self, clock: &Step, batch: u64, size: BatchSize) -> Step {
        let step = Step { update: clock.update + 1, batch, seen: clock.seen + batch, ..*clock };
        let (documents, least) = (batch as f64, size.least as f64);
        let (number, minibatches) = if size.grows() {
            ((clock.seen as f64 + documents.midpoint(least)) / least, documents / least)
        } else {
            (step.update as f64, (documents / least).min(1.0))
        };
        let weigh = |rho: f64| compounded(rho, minibatches);
        let rho = match *self {
            Self::Power { kappa, offset, tau, least } => {
                weigh((tau * libm::pow(number + offset, -kappa)).max(least).min(1.0))
            }
            Self::Constant(rho) => weigh(rho),
            Self::Incremental { .. } => batch as f64 / (step.head_start + step.seen) as f64,
            Self::Decay { start, delay, exponent } => {
                start * libm::pow(1.0 + step.update as f64 / delay, -exponent)
            }
        };
        Step { rho, ..step }
    }

    /// The same step where steps began anew at `restart`: it is as large as it would be so many minibatches after the
    /// beginning, and a few. Only steps that shrink by a power can do so.
    pub fn after_restart(&self, step: Step, restart: &Step, batch: u64, size: BatchSize) -> Step {
        let Self::Power { .. } = self else { return step };
        let clock = Step {
            update: (step.update - 1).saturating_sub(restart.update) + RESTART_MINIBATCHES,
            seen: (step.seen - batch).saturating_sub(restart.seen) + RESTART_MINIBATCHES * size.least as u64,
            ..Step::default()
        };
        Step { rho: step.rho.max(self.next(&clock, batch, size).rho), ..step }
    }

    /// Refuses values outside the range in which the statistics stay convex combinations.
    pub fn validate(&self) -> Result<()> {
        let refuse = |setting: &str, value: f64, range: &str| {
            Err(Error::setting(setting, format!("{value} is not in {range}"), "choose a value in that range"))
        };
        match *self {
            Self::Power { kappa, .. } if !(0.0..=1.0).contains(&kappa) => refuse("kappa", kappa, "[0, 1]"),
            Self::Power { offset, .. } if !(0.0..f64::INFINITY).contains(&offset) => {
                refuse("offset", offset, "[0, infinity)")
            }
            Self::Power { tau, .. } if !(tau > 0.0 && tau.is_finite()) => refuse("tau", tau, "(0, infinity)"),
            Self::Power { least, .. } if !(0.0..=1.0).contains(&least) => refuse("min-step", least, "[0, 1]"),
            Self::Constant(rho) if !(rho > 0.0 && rho <= 1.0) => refuse("step constant", rho, "(0, 1]"),
            Self::Decay { start, .. } if !(start > 0.0 && start <= 1.0) => {
                refuse("step decay", start, "(0, 1]")
            }
            Self::Decay { delay, .. } if !(delay > 0.0 && delay.is_finite()) => {
                refuse("step decay", delay, "(0, infinity)")
            }
            Self::Decay { exponent, .. } if !(0.0..=1.0).contains(&exponent) => {
                refuse("step decay", exponent, "[0, 1]")
            }
            _ => Ok(()),
        }
    }
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde hands over references")]
fn is_zero(value: &f64) -> bool {
    *value == 0.0
}

/// The weight of so many minibatches, each of which weighs `rho`, or of a part of one.
fn compounded(rho: f64, minibatches: f64) -> f64 {
    if minibatches <= 1.0 { rho * minibatches } else { 1.0 - libm::pow(1.0 - rho, minibatches) }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn rho(rule: StepSize, update: u64, batch: u64) -> f64 {
        let clock = Step { update: update - 1, seen: 100 * (update - 1), ..Step::default() };
        rule.next(&clock, batch, BatchSize::of(100)).rho
    }

    #[test]
    fn power_rule() {
        assert_eq!(rho(StepSize::PAPER, 1, 100), 1.0);
        assert_eq!(rho(StepSize::PAPER, 4, 100), 0.5);
        assert_eq!(rho(StepSize::PAPER, 4, 50), 0.25, "a short minibatch weighs less");
        let shifted = StepSize::Power { kappa: 1.0, offset: 9.0, tau: 5.0, least: 0.0 };
        assert_eq!(rho(shifted, 1, 100), 0.5);
        let steep = StepSize::Power { kappa: 0.5, offset: 0.0, tau: 10.0, least: 0.0 };
        assert_eq!(rho(steep, 4, 100), 1.0, "never above 1");
        let lasting = StepSize::Power { kappa: 0.5, offset: 0.0, tau: 1.0, least: 0.1 };
        assert_eq!((rho(lasting, 25, 100), rho(lasting, 10_000, 100)), (0.2, 0.1), "never below the least");
        assert_eq!(rho(lasting, 10_000, 50), 0.05, "but for a short minibatch");
        let flat = StepSize::Power { kappa: 0.0, offset: 0.0, tau: 1.0, least: 0.0 };
        assert_eq!(rho(flat, 1000, 100), 1.0);
    }

    #[test]
    fn incremental_rule_averages_unequal_minibatches() {
        for head_start in [0, 2] {
            let rule = StepSize::Incremental { head_start };
            let (mut mean, mut clock) = (7.0, rule.start(BatchSize::of(100)));
            for (batch, value) in [(100, 1.0), (30, 4.0), (70, 2.0)] {
                clock = rule.next(&clock, batch, BatchSize::of(100));
                mean = (1.0 - clock.rho) * mean + clock.rho * value;
            }
            let start = 100.0 * head_start as f64;
            let expected = (7.0 * start + 100.0 + 120.0 + 140.0) / (start + 200.0);
            assert!((mean - expected).abs() < 1e-12);
        }
    }

    #[test]
    fn a_minibatch_that_has_grown_weighs_like_the_small_ones_in_it() {
        let (fixed, growing) = (BatchSize::of(100), BatchSize { least: 100, most: 1_000 });
        let after = |seen: u64| Step { update: seen / 100, seen, ..Step::default() };
        for rule in
            [StepSize::PAPER, StepSize::Power { kappa: 0.6, offset: 3.0, tau: 1.0, least: 0.0 }, StepSize::Constant(0.2)]
        {
            assert_eq!(rule.next(&after(500), 100, growing), rule.next(&after(500), 100, fixed), "not yet");
            for (seen, batch) in [(2_000, 200), (6_000, 300), (20_000, 1_000)] {
                let old = (0..batch / 100).map(|i| 1.0 - rule.next(&after(seen + 100 * i), 100, fixed).rho);
                let (small, large) =
                    (1.0 - old.product::<f64>(), rule.next(&after(seen), batch, growing).rho);
                assert!(
                    (small / large - 1.0).abs() < 1e-3,
                    "{rule:?}, {batch} after {seen}: {small} {large}"
                );
            }
        }
        let last = StepSize::PAPER.next(&after(6_000), 50, growing).rho;
        assert!((last - 0.5 * libm::pow(60.75, -0.5)).abs() < 1e-15, "the last one may be short: {last}");
    }

    #[test]
    fn nonsense_is_refused() {
        for rule in [
            StepSize::Power { kappa: 1.1, offset: 0.0, tau: 1.0, least: 0.0 },
            StepSize::Power { kappa: f64::NAN, offset: 0.0, tau: 1.0, least: 0.0 },
            StepSize::Power { kappa: 0.5, offset: -1.0, tau: 1.0, least: 0.0 },
            StepSize::Power { kappa: 0.5, offset: 0.0, tau: 0.0, least: 0.0 },
            StepSize::Constant(0.0),
            StepSize::Constant(1.5),
        ] {
            assert!(rule.validate().is_err(), "{rule:?}");
        }
        assert!(StepSize::PAPER.validate().is_ok());
        assert!(StepSize::Constant(1.0).validate().is_ok());
    }
}
