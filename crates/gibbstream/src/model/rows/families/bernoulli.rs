//! Mixtures of independent yes-or-no answers.

use crate::model::rows::mixture::{Family, Mixture, MixtureParameters};
use crate::model::rows::observations::Binary;
use crate::error::{Error, Result};
use serde::{Deserialize, Serialize};

/// Independent values 0 or 1. The parameters of a component are the probabilities of a 1.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Bernoulli {
    /// No probability is nearer to 0 or 1, so that no answer is impossible. The M-step is the exact one under this
    /// constraint.
    pub floor: f64,
}

impl Default for Bernoulli {
    fn default() -> Self {
        Self { floor: 1e-6 }
    }
}

/// A mixture of independent answers.
pub type BernoulliMixture = Mixture<Bernoulli>;

impl BernoulliMixture {
    /// The probabilities of a 1 in component `k`.
    pub fn probabilities<'a>(&self, parameters: &'a MixtureParameters, k: usize) -> &'a [f64] {
        parameters.component(k)
    }
}

/// Log-odds of a 1, and the logarithm of the probability of zeros only.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub struct BernoulliDensity {
    log_odds: Vec<f64>,
    zeros: f64,
}

impl Family for Bernoulli {
    type Batch = Binary;
    type Density = BernoulliDensity;

    fn validate(&self) -> Result<()> {
        if self.floor > 0.0 && self.floor < 0.5 {
            return Ok(());
        }
        Err(Error::setting(
            "floor",
            format!("{} cannot be the smallest probability of an answer", self.floor),
            "use a small number between 0 and 0.5 such as 1e-6",
        ))
    }

    fn batch(rows: Vec<f64>, dimension: usize, first: u64, pass: u64) -> Result<Binary> {
        Binary::new(rows, dimension, first, pass)
    }

    fn maximise(&self, _pivot: &[f64], mass: f64, sums: &[f64], parameters: &mut [f64]) {
        for (chance, sum) in parameters.iter_mut().zip(sums) {
            *chance = (sum / mass).clamp(self.floor, 1.0 - self.floor);
        }
    }

    fn prepare(&self, _dimension: usize, parameters: &[f64], out: &mut BernoulliDensity) {
        out.log_odds.clear();
        out.log_odds.extend(parameters.iter().map(|&p| libm::log(p) - libm::log1p(-p)));
        out.zeros = parameters.iter().map(|&p| libm::log1p(-p)).sum();
    }

    fn fits(&self, dimension: usize, density: &BernoulliDensity) -> bool {
        density.log_odds.len() == dimension
    }

    fn log_density(&self, density: &BernoulliDensity, x: &[f64]) -> f64 {
        density.zeros + x.iter().zip(&density.log_odds).map(|(x, log_odds)| x * log_odds).sum::<f64>()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::rows::mixture::MixtureExpectation;

    #[test]
    fn likelihood_is_that_of_the_definition() {
        let model = Mixture::new(2, 2, Bernoulli::default()).unwrap();
        let parameters =
            MixtureParameters { weights: vec![0.25, 0.75], components: vec![0.2, 0.3, 0.6, 0.9] };
        let batch = Binary::new(vec![1.0, 0.0], 2, 0, 0).unwrap();
        let joint = [0.25 * 0.2 * 0.7, 0.75 * 0.6 * 0.1];
        assert!((model.log_likelihood(&parameters, &batch) - libm::log(joint[0] + joint[1])).abs() < 1e-14);
        let found = model.responsibilities(&parameters, &batch)[0][0];
        assert!((found - joint[0] / (joint[0] + joint[1])).abs() < 1e-14);
    }

    #[test]
    fn certain_answers_meet_the_floor() {
        let model = Mixture::new(1, 2, Bernoulli { floor: 0.01 }).unwrap();
        let mut parameters = MixtureParameters::default();
        let s = MixtureExpectation { mass: vec![1.0], sums: vec![0.0, 1.0] };
        model.maximise(&[0.0; 2], &s, &mut parameters);
        assert_eq!(parameters.components, [0.01, 0.99]);
        for floor in [0.0, 0.5, f64::NAN] {
            assert!(Mixture::new(1, 1, Bernoulli { floor }).is_err());
        }
    }
}
