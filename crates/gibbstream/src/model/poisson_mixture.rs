//! Mixtures of Poisson distributions, of one count or of several independent ones.

use super::mixture::{Family, Mixture, MixtureParameters};
use super::observations::Counts;
use crate::error::{Error, Result};
use crate::math::ln_gamma;

/// Independent Poisson counts. The parameters of a component are its rates.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Poisson {
    /// No rate is smaller, so that no count is impossible. The M-step is the exact one under this constraint.
    pub floor: f64,
}

impl Default for Poisson {
    fn default() -> Self {
        Self { floor: 1e-6 }
    }
}

/// A mixture of Poisson distributions.
pub type PoissonMixture = Mixture<Poisson>;

impl PoissonMixture {
    /// The rates of component `k`.
    pub fn rates<'a>(&self, parameters: &'a MixtureParameters, k: usize) -> &'a [f64] {
        parameters.component(k)
    }
}

/// Logarithms of the rates, and their sum.
#[derive(Clone, Debug, Default)]
pub struct PoissonDensity {
    log_rates: Vec<f64>,
    total: f64,
}

impl Family for Poisson {
    type Batch = Counts;
    type Density = PoissonDensity;

    fn validate(&self) -> Result<()> {
        if self.floor > 0.0 && self.floor.is_finite() {
            return Ok(());
        }
        Err(Error::setting(
            "floor",
            format!("{} cannot be the smallest rate", self.floor),
            "use a small positive number such as 1e-6",
        ))
    }

    fn statistics(&self, dimension: usize) -> usize {
        dimension
    }

    fn parameters(&self, dimension: usize) -> usize {
        dimension
    }

    fn accumulate(&self, _pivot: &[f64], x: &[f64], weight: f64, sums: &mut [f64]) {
        sums.iter_mut().zip(x).for_each(|(sum, x)| *sum += weight * x);
    }

    fn maximise(&self, _pivot: &[f64], mass: f64, sums: &[f64], parameters: &mut [f64]) {
        parameters.iter_mut().zip(sums).for_each(|(rate, sum)| *rate = (sum / mass).max(self.floor));
    }

    fn prepare(&self, _dimension: usize, parameters: &[f64], out: &mut PoissonDensity) {
        out.log_rates.clear();
        out.log_rates.extend(parameters.iter().map(|&rate| libm::log(rate)));
        out.total = parameters.iter().sum();
    }

    fn log_density(&self, density: &PoissonDensity, x: &[f64]) -> f64 {
        let sum: f64 = x.iter().zip(&density.log_rates).map(|(x, log_rate)| x * log_rate).sum();
        sum - density.total
    }

    fn log_base(&self, x: &[f64]) -> f64 {
        -x.iter().map(|&x| ln_gamma(x + 1.0)).sum::<f64>()
    }
}
