//! Mixtures of multinomial distributions: every observation is a row of counts from one of several urns.

use crate::model::rows::mixture::{Family, Mixture, MixtureParameters};
use crate::model::rows::observations::Counts;
use crate::error::{Error, Result};
use crate::numerics::math::ln_gamma;
use serde::{Deserialize, Serialize};

/// Counts of categories, given their total. The parameters of a component are the probabilities of the categories.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Multinomial {
    /// This share of every component is spread evenly over all categories, so that none is impossible. The M-step is the
    /// exact one for the counts and then mixed, as it is for topics.
    pub smoothing: f64,
}

impl Default for Multinomial {
    fn default() -> Self {
        Self { smoothing: 1e-4 }
    }
}

/// A mixture of multinomial distributions.
pub type MultinomialMixture = Mixture<Multinomial>;

impl MultinomialMixture {
    /// The probabilities of the categories in component `k`.
    pub fn probabilities<'a>(&self, parameters: &'a MixtureParameters, k: usize) -> &'a [f64] {
        parameters.component(k)
    }
}

/// Logarithms of the probabilities.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub struct MultinomialDensity(Vec<f64>);

impl Family for Multinomial {
    type Batch = Counts;
    type Density = MultinomialDensity;

    fn validate(&self) -> Result<()> {
        if self.smoothing > 0.0 && self.smoothing < 1.0 {
            return Ok(());
        }
        Err(Error::setting(
            "smoothing",
            format!("{} is not a share of a component that can be spread out", self.smoothing),
            "use a small number between 0 and 1 such as 0.0001",
        ))
    }

    fn batch(rows: Vec<f64>, dimension: usize, first: u64, pass: u64) -> Result<Counts> {
        Counts::new(rows, dimension, first, pass)
    }

    /// A component whose observations are all empty keeps what it had, or starts with all categories alike.
    fn maximise(&self, _pivot: &[f64], _mass: f64, sums: &[f64], parameters: &mut [f64]) {
        let (total, even) = (sums.iter().sum::<f64>(), 1.0 / sums.len() as f64);
        if total > 0.0 {
            for (share, sum) in parameters.iter_mut().zip(sums) {
                *share = (1.0 - self.smoothing) * sum / total + self.smoothing * even;
            }
        } else if parameters.iter().all(|&share| share == 0.0) {
            parameters.fill(even);
        }
    }

    fn prepare(&self, _dimension: usize, parameters: &[f64], out: &mut MultinomialDensity) {
        out.0.clear();
        out.0.extend(parameters.iter().map(|&share| libm::log(share)));
    }

    fn fits(&self, dimension: usize, density: &MultinomialDensity) -> bool {
        density.0.len() == dimension
    }

    fn log_density(&self, density: &MultinomialDensity, x: &[f64]) -> f64 {
        x.iter().zip(&density.0).map(|(x, log_share)| x * log_share).sum()
    }

    /// The multinomial coefficient.
    fn log_base(&self, x: &[f64]) -> f64 {
        ln_gamma(x.iter().sum::<f64>() + 1.0) - x.iter().map(|&x| ln_gamma(x + 1.0)).sum::<f64>()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::rows::mixture::MixtureExpectation;

    /// Two urns, written out.
    #[test]
    fn likelihood_is_that_of_the_definition() {
        let model = Mixture::new(2, 3, Multinomial::default()).unwrap();
        let parameters =
            MixtureParameters { weights: vec![0.25, 0.75], components: vec![0.2, 0.3, 0.5, 0.6, 0.3, 0.1] };
        let batch = Counts::new(vec![1.0, 2.0, 0.0], 3, 0, 0).unwrap();
        // 3! / (1! 2!) ways.
        let (first, second) = (3.0 * 0.2 * 0.09, 3.0 * 0.6 * 0.09);
        let expected = libm::log(0.25 * first + 0.75 * second);
        assert!((model.log_likelihood(&parameters, &batch) - expected).abs() < 1e-14);
        let share = 0.25 * first / (0.25 * first + 0.75 * second);
        assert!((model.responsibilities(&parameters, &batch)[0][0] - share).abs() < 1e-14);
    }

    #[test]
    fn m_step_of_counts_and_of_nothing() {
        let model = Mixture::new(2, 2, Multinomial { smoothing: 0.1 }).unwrap();
        let mut parameters = MixtureParameters::default();
        let s = MixtureExpectation { mass: vec![0.5, 0.5], sums: vec![3.0, 1.0, 0.0, 0.0] };
        model.maximise(&[0.0; 2], &s, &mut parameters);
        assert_eq!(parameters.components, [0.9 * 0.75 + 0.05, 0.9 * 0.25 + 0.05, 0.5, 0.5]);
        parameters.components[2..].copy_from_slice(&[0.3, 0.7]);
        model.maximise(&[0.0; 2], &s, &mut parameters);
        assert_eq!(parameters.components[2..], [0.3, 0.7], "kept");
        for smoothing in [0.0, 1.0, f64::NAN] {
            assert!(Mixture::new(1, 1, Multinomial { smoothing }).is_err());
        }
    }
}
