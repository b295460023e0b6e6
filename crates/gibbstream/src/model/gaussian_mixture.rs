//! Mixtures of Gaussian distributions, with full or diagonal covariances.

use super::cholesky::{Cholesky, raise_eigenvalues};
use super::mixture::{Family, Mixture, MixtureParameters};
use super::observations::Observations;
use crate::error::{Error, Result};

/// The form of covariances.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Covariance {
    /// Any.
    #[default]
    Full,
    /// Independent values.
    Diagonal,
}

/// Gaussian observations. The parameters of a component are its mean and then its covariance: the whole matrix
/// row by row, or the variances if it is diagonal.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Gaussian {
    /// The form of covariances.
    pub covariance: Covariance,
    /// No variance is smaller in any direction; without this the likelihood of a mixture has no maximum. The
    /// M-step is the exact one under this constraint: covariances that satisfy it are not changed.
    pub floor: f64,
}

impl Default for Gaussian {
    fn default() -> Self {
        Self { covariance: Covariance::Full, floor: 1e-6 }
    }
}

/// A mixture of Gaussian distributions.
pub type GaussianMixture = Mixture<Gaussian>;

impl GaussianMixture {
    /// The mean of component `k`.
    pub fn mean<'a>(&self, parameters: &'a MixtureParameters, k: usize) -> &'a [f64] {
        &parameters.component(k)[..self.dimension()]
    }

    /// The covariance of component `k`: a matrix row by row, or the variances if it is diagonal.
    pub fn covariance<'a>(&self, parameters: &'a MixtureParameters, k: usize) -> &'a [f64] {
        &parameters.component(k)[self.dimension()..]
    }
}

/// The map to independent standard normal values, and the logarithm of the density at the mean.
#[derive(Clone, Debug, Default)]
pub struct GaussianDensity {
    mean: Vec<f64>,
    /// Rows up to the diagonal of the inverse of the covariance's Cholesky factor, or its diagonal.
    root: Vec<f64>,
    peak: f64,
}

impl Family for Gaussian {
    type Batch = Observations;
    type Density = GaussianDensity;

    fn validate(&self) -> Result<()> {
        if self.floor > 0.0 && self.floor.is_finite() {
            return Ok(());
        }
        Err(Error::setting(
            "floor",
            format!("{} cannot be the smallest variance", self.floor),
            "use a positive number well below the variances in the data, such as 1e-6",
        ))
    }

    /// `x - pivot`, and its products with itself: the lower triangle, or the squares.
    fn statistics(&self, dimension: usize) -> usize {
        match self.covariance {
            Covariance::Full => dimension + dimension * (dimension + 1) / 2,
            Covariance::Diagonal => 2 * dimension,
        }
    }

    fn parameters(&self, dimension: usize) -> usize {
        match self.covariance {
            Covariance::Full => dimension + dimension * dimension,
            Covariance::Diagonal => 2 * dimension,
        }
    }

    fn accumulate(&self, pivot: &[f64], x: &[f64], weight: f64, sums: &mut [f64]) {
        let (first, mut second) = sums.split_at_mut(x.len());
        for (i, first) in first.iter_mut().enumerate() {
            let centred = x[i] - pivot[i];
            *first += weight * centred;
            let row = match self.covariance {
                Covariance::Full => 0..=i,
                Covariance::Diagonal => i..=i,
            };
            let (products, rest) = second.split_at_mut(row.clone().count());
            for (product, j) in products.iter_mut().zip(row) {
                *product += weight * centred * (x[j] - pivot[j]);
            }
            second = rest;
        }
    }

    fn maximise(&self, pivot: &[f64], mass: f64, sums: &[f64], parameters: &mut [f64]) {
        let order = pivot.len();
        let (first, second) = sums.split_at(order);
        let (mean, covariance) = parameters.split_at_mut(order);
        mean.iter_mut().zip(first).zip(pivot).for_each(|((mean, sum), pivot)| *mean = pivot + sum / mass);
        let central =
            |product: f64, i: usize, j: usize| product / mass - (first[i] / mass) * (first[j] / mass);
        match self.covariance {
            Covariance::Full => {
                let mut products = second.iter();
                for i in 0..order {
                    for (j, &product) in (0..=i).zip(products.by_ref()) {
                        covariance[i * order + j] = central(product, i, j);
                        covariance[j * order + i] = covariance[i * order + j];
                    }
                }
                raise_eigenvalues(covariance, order, self.floor);
            }
            Covariance::Diagonal => {
                for (i, (variance, &square)) in covariance.iter_mut().zip(second).enumerate() {
                    *variance = central(square, i, i).max(self.floor);
                }
            }
        }
    }

    fn prepare(&self, dimension: usize, parameters: &[f64], out: &mut GaussianDensity) {
        let (mean, covariance) = parameters.split_at(dimension);
        out.mean.clear();
        out.mean.extend_from_slice(mean);
        let log_determinant = match self.covariance {
            Covariance::Full => {
                let factor = Cholesky::with_floor(covariance, dimension, self.floor);
                out.root = factor.inverse_lower();
                factor.log_determinant()
            }
            Covariance::Diagonal => {
                out.root.clear();
                out.root.extend(covariance.iter().map(|variance| 1.0 / variance.sqrt()));
                covariance.iter().map(|&variance| libm::log(variance)).sum()
            }
        };
        out.peak = -0.5 * (dimension as f64 * libm::log(std::f64::consts::TAU) + log_determinant);
    }

    fn log_density(&self, density: &GaussianDensity, x: &[f64]) -> f64 {
        let mut square = 0.0;
        match self.covariance {
            Covariance::Full => {
                let mut rest = density.root.as_slice();
                for i in 1..=x.len() {
                    let (row, below) = rest.split_at(i);
                    let z: f64 = row.iter().zip(x).zip(&density.mean).map(|((a, x), m)| a * (x - m)).sum();
                    square += z * z;
                    rest = below;
                }
            }
            Covariance::Diagonal => {
                for ((x, mean), root) in x.iter().zip(&density.mean).zip(&density.root) {
                    let z = (x - mean) * root;
                    square += z * z;
                }
            }
        }
        density.peak - 0.5 * square
    }
}
