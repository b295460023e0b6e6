//! Where a run stands, and how far each update moves.

use crate::error::{Error, Result};
use serde::{Deserialize, Serialize};

/// The clock of a run, after a minibatch was counted.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Step {
    /// Number of updates, this one included.
    pub update: u64,
    /// Documents in this minibatch.
    pub batch: u64,
    /// Documents seen, this minibatch included.
    pub seen: u64,
}

/// The rule for the weight `rho` of a minibatch in the running statistics (algorithms.md 1.3).
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub enum StepSize {
    /// `tau (i + offset)^-kappa`, at most 1; a minibatch shorter than usual weighs less in proportion.
    Power {
        /// Exponent, in `[0, 1]`.
        kappa: f64,
        /// Added to the number of the update.
        offset: f64,
        /// Factor.
        tau: f64,
    },
    /// The same weight always.
    Constant(f64),
    /// `batch / seen`: plain averaging of everything seen, equal to adding up counts.
    Incremental,
}

impl StepSize {
    /// The rule of the paper, `1 / sqrt(i)`.
    pub const PAPER: Self = Self::Power { kappa: 0.5, offset: 0.0, tau: 1.0 };

    /// The weight of the minibatch that `step` has just counted; `usual` is the size of a full minibatch.
    pub fn rho(&self, step: &Step, usual: u64) -> f64 {
        let share = (step.batch as f64 / usual as f64).min(1.0);
        match *self {
            Self::Power { kappa, offset, tau } => {
                (tau * libm::pow(step.update as f64 + offset, -kappa)).min(1.0) * share
            }
            Self::Constant(rho) => rho * share,
            Self::Incremental => step.batch as f64 / step.seen as f64,
        }
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
            Self::Constant(rho) if !(rho > 0.0 && rho <= 1.0) => refuse("step constant", rho, "(0, 1]"),
            _ => Ok(()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn rho(rule: StepSize, update: u64, batch: u64, seen: u64) -> f64 {
        rule.rho(&Step { update, batch, seen }, 100)
    }

    #[test]
    fn power_rule() {
        assert_eq!(rho(StepSize::PAPER, 1, 100, 100), 1.0);
        assert_eq!(rho(StepSize::PAPER, 4, 100, 400), 0.5);
        assert_eq!(rho(StepSize::PAPER, 4, 50, 350), 0.25, "a short minibatch weighs less");
        let shifted = StepSize::Power { kappa: 1.0, offset: 9.0, tau: 5.0 };
        assert_eq!(rho(shifted, 1, 100, 100), 0.5);
        let steep = StepSize::Power { kappa: 0.5, offset: 0.0, tau: 10.0 };
        assert_eq!(rho(steep, 4, 100, 400), 1.0, "never above 1");
        let flat = StepSize::Power { kappa: 0.0, offset: 0.0, tau: 1.0 };
        assert_eq!(rho(flat, 1000, 100, 100_000), 1.0);
    }

    #[test]
    fn incremental_rule_averages_unequal_minibatches() {
        let (mut mean, mut seen) = (0.0, 0);
        for (update, (batch, value)) in [(100, 1.0), (30, 4.0), (70, 2.0)].into_iter().enumerate() {
            seen += batch;
            let weight = rho(StepSize::Incremental, update as u64 + 1, batch, seen);
            mean = (1.0 - weight) * mean + weight * value;
        }
        assert!((mean - (100.0 + 120.0 + 140.0) / 200.0).abs() < 1e-12);
    }

    #[test]
    fn nonsense_is_refused() {
        for rule in [
            StepSize::Power { kappa: 1.1, offset: 0.0, tau: 1.0 },
            StepSize::Power { kappa: f64::NAN, offset: 0.0, tau: 1.0 },
            StepSize::Power { kappa: 0.5, offset: -1.0, tau: 1.0 },
            StepSize::Power { kappa: 0.5, offset: 0.0, tau: 0.0 },
            StepSize::Constant(0.0),
            StepSize::Constant(1.5),
        ] {
            assert!(rule.validate().is_err(), "{rule:?}");
        }
        assert!(StepSize::PAPER.validate().is_ok());
        assert!(StepSize::Constant(1.0).validate().is_ok());
    }
}
