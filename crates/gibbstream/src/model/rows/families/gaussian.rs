//! Mixtures of Gaussian distributions, with full or diagonal covariances.

use crate::model::rows::mixture::{Family, Mixture, MixtureParameters};
use crate::model::rows::observations::Observations;
use crate::model::rows::symmetric::{factor, inverse_lower, log_determinant, raise_eigenvalues};
use crate::error::{Error, Result};
use nalgebra::DMatrix;
use serde::{Deserialize, Serialize};

/// The form of covariances.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Covariance {
    /// Any.
    #[default]
    Full,
    /// Independent values.
    Diagonal,
}

/// Gaussian observations. The parameters of a component are its mean and then its covariance: the whole matrix
/// row by row, or the variances if it is diagonal.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
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
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
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

    fn batch(rows: Vec<f64>, dimension: usize, first: u64, pass: u64) -> Result<Observations> {
        Observations::new(rows, dimension, first, pass)
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
                let found = factor(DMatrix::from_row_slice(dimension, dimension, covariance), self.floor);
                out.root = inverse_lower(&found);
                log_determinant(&found)
            }
            Covariance::Diagonal => {
                out.root.clear();
                out.root.extend(covariance.iter().map(|variance| 1.0 / variance.sqrt()));
                covariance.iter().map(|&variance| libm::log(variance)).sum()
            }
        };
        out.peak = -0.5 * (dimension as f64 * libm::log(std::f64::consts::TAU) + log_determinant);
    }

    fn fits(&self, dimension: usize, density: &GaussianDensity) -> bool {
        let order = match self.covariance {
            Covariance::Full => dimension * (dimension + 1) / 2,
            Covariance::Diagonal => dimension,
        };
        density.mean.len() == dimension && density.root.len() == order
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::learn::batch_size::BatchSize;
    use crate::inference::exact::Exact;
    use crate::model::LatentModel;
    use crate::model::rows::mixture::MixtureExpectation;
    use crate::learn::online::{Online, OnlineSettings};
    use crate::numerics::random::{Purpose, Seed, Stream};
    use crate::learn::schedule::StepSize;

    const SEED: Seed = Seed(5);

    fn stream(key: u64) -> Stream {
        SEED.stream(Purpose::SyntheticDocument, [key, 0])
    }

    /// Points of two overlapping correlated groups, moved by `shift`.
    fn points(number: usize, shift: f64) -> Vec<f64> {
        let mut random = stream(1);
        (0..number)
            .flat_map(|_| {
                let side = if random.uniform() < 0.4 { 1.5 } else { -1.0 };
                let (a, b) = (random.normal(), random.normal());
                [shift + side + a, shift + 0.5 * side + 0.6 * a + 0.7 * b]
            })
            .collect()
    }

    fn online(model: GaussianMixture, step: StepSize) -> Online<GaussianMixture, Exact> {
        let run = OnlineSettings { step, batch: BatchSize::of(25), seed: SEED, threads: 2, ..OnlineSettings::default() };
        Online::new(model, Exact, run).unwrap()
    }

    fn close(found: f64, expected: f64, tolerance: f64) {
        assert!((found - expected).abs() <= tolerance * expected.abs().max(1.0), "{found} is not {expected}");
    }

    fn family(covariance: Covariance) -> Gaussian {
        Gaussian { covariance, ..Gaussian::default() }
    }

    /// Means of 1e7 and variances of 1: without the pivot, squares of 1e14 would leave two digits.
    #[test]
    fn one_component_is_the_sample_mean_and_covariance() {
        let rows = points(200, 1e7);
        let mean =
            |column: usize| rows.iter().skip(column).step_by(2).map(|x| x - 1e7).sum::<f64>() / 200.0 + 1e7;
        let means = [mean(0), mean(1)];
        let product = |i: usize, j: usize| {
            rows.chunks(2).map(|x| (x[i] - means[i]) * (x[j] - means[j])).sum::<f64>() / 200.0
        };
        for covariance in [Covariance::Full, Covariance::Diagonal] {
            let model = Mixture::new(1, 2, family(covariance)).unwrap();
            let mut online = online(model, StepSize::Incremental { head_start: 0 });
            for (first, size) in [(0, 60), (60, 1), (61, 139)] {
                let part = rows[2 * first..2 * (first + size)].to_vec();
                online.partial_fit(&Observations::new(part, 2, first as u64, 0).unwrap()).unwrap();
            }
            let model = online.model();
            let parameters = model.parameters(online.state().unwrap());
            (0..2).for_each(|i| close(model.mean(&parameters, 0)[i], means[i], 1e-15));
            let expected = match covariance {
                Covariance::Full => vec![product(0, 0), product(0, 1), product(0, 1), product(1, 1)],
                Covariance::Diagonal => vec![product(0, 0), product(1, 1)],
            };
            for (&found, expected) in model.covariance(&parameters, 0).iter().zip(expected) {
                // The means themselves are rounded to 1e-9.
                close(found, expected, 1e-8);
            }
        }
    }

    /// Determinant and inverse of a 2 x 2 covariance written out.
    fn density(x: &[f64], mean: &[f64], covariance: &[f64]) -> f64 {
        let [a, b, c] = [covariance[0], covariance[1], covariance[3]];
        let (u, v) = (x[0] - mean[0], x[1] - mean[1]);
        let determinant = a * c - b * b;
        let square = (c * u * u - 2.0 * b * u * v + a * v * v) / determinant;
        libm::exp(-0.5 * square) / (std::f64::consts::TAU * determinant.sqrt())
    }

    /// kappa = 1: after every minibatch, the M-step of all responsibilities computed so far.
    #[test]
    fn incremental_recursion_in_closed_form() {
        let rows = points(500, 3.0);
        for covariance in [Covariance::Full, Covariance::Diagonal] {
            let model = Mixture::new(2, 2, family(covariance)).unwrap();
            let whole = |component: &[f64]| match covariance {
                Covariance::Full => component[2..].to_vec(),
                Covariance::Diagonal => vec![component[2], 0.0, 0.0, component[3]],
            };
            let batches: Vec<Observations> = rows
                .chunks(50)
                .enumerate()
                .map(|(i, rows)| Observations::new(rows.to_vec(), 2, 25 * i as u64, 0).unwrap())
                .collect();
            let start = model.initial(&batches[0], SEED).parameters;
            let mut weights = start.weights.clone();
            let mut means: Vec<Vec<f64>> = (0..2).map(|k| start.component(k)[..2].to_vec()).collect();
            let mut covariances: Vec<Vec<f64>> = (0..2).map(|k| whole(start.component(k))).collect();
            let mut seen: Vec<(&[f64], Vec<f64>)> = Vec::new();
            let mut online = online(model, StepSize::Power { kappa: 1.0, offset: 0.0, tau: 1.0, least: 0.0 });
            for (i, batch) in batches.iter().enumerate() {
                for x in rows[50 * i..50 * (i + 1)].chunks(2) {
                    let joint: Vec<f64> =
                        (0..2).map(|k| weights[k] * density(x, &means[k], &covariances[k])).collect();
                    let total: f64 = joint.iter().sum();
                    seen.push((x, joint.iter().map(|joint| joint / total).collect()));
                }
                online.partial_fit(batch).unwrap();
                let found = &online.state().unwrap().parameters;
                for k in 0..2 {
                    let mass: f64 = seen.iter().map(|(_, r)| r[k]).sum();
                    weights[k] = mass / seen.len() as f64;
                    let weighted = |of: &dyn Fn(&[f64]) -> f64| {
                        seen.iter().map(|(x, r)| r[k] * of(x)).sum::<f64>() / mass
                    };
                    let mean = [weighted(&|x| x[0]), weighted(&|x| x[1])];
                    covariances[k] = (0..4)
                        .map(|ij| (ij / 2, ij % 2))
                        .map(|(i, j)| {
                            let zero = covariance == Covariance::Diagonal && i != j;
                            if zero { 0.0 } else { weighted(&|x| (x[i] - mean[i]) * (x[j] - mean[j])) }
                        })
                        .collect();
                    means[k] = mean.to_vec();
                    close(found.weights[k], weights[k], 1e-12);
                    (0..2).for_each(|j| close(found.component(k)[j], mean[j], 1e-12));
                    let found = whole(found.component(k));
                    (0..4).for_each(|j| close(found[j], covariances[k][j], 1e-12));
                }
            }
            assert!(weights.iter().all(|&weight| weight > 0.1), "both components are in use: {weights:?}");
        }
    }

    /// `<phi(eta), s> - psi(eta)` for components with full covariances.
    fn objective(pivot: &[f64], s: &MixtureExpectation, eta: &MixtureParameters) -> f64 {
        (0..2)
            .map(|k| {
                let (mass, sums) = (s.mass[k], &s.sums[5 * k..]);
                let (mean, v) = eta.component(k).split_at(2);
                let centred = [mean[0] - pivot[0], mean[1] - pivot[1]];
                let scatter = |i: usize, j: usize, product: f64| {
                    product - centred[i] * sums[j] - centred[j] * sums[i] + mass * centred[i] * centred[j]
                };
                let determinant = v[0] * v[3] - v[1] * v[2];
                let trace = (v[3] * scatter(0, 0, sums[2]) - (v[1] + v[2]) * scatter(0, 1, sums[3])
                    + v[0] * scatter(1, 1, sums[4]))
                    / determinant;
                mass * libm::log(eta.weights[k]) - 0.5 * mass * libm::log(determinant) - 0.5 * trace
            })
            .sum()
    }

    #[test]
    fn the_m_step_maximises() {
        let model = Mixture::new(2, 2, Gaussian::default()).unwrap();
        let state = model.initial(&Observations::new(points(300, 3.0), 2, 0, 0).unwrap(), SEED);
        let best = &state.parameters;
        let value = |eta: &MixtureParameters| objective(&state.pivot, &state.statistics, eta);
        let step = 1e-5;
        for i in 0..12 {
            let moved = |by: f64| {
                let mut eta = best.clone();
                eta.components[i] += by;
                if matches!(i % 6, 3 | 4) {
                    eta.components[i + 7 - 2 * (i % 6)] += by; // the same entry across the diagonal
                }
                value(&eta)
            };
            // Central differences: error about step^2 times third derivatives, rounding about 1e-15 / step.
            close((moved(step) - moved(-step)) / (2.0 * step), 0.0, 1e-7);
        }
        let moved = |by: f64| {
            let weights = vec![best.weights[0] + by, best.weights[1] - by];
            value(&MixtureParameters { weights, ..best.clone() })
        };
        close((moved(step) - moved(-step)) / (2.0 * step), 0.0, 1e-8);
        let mut random = stream(2);
        for _ in 0..1000 {
            let mut eta = best.clone();
            for component in eta.components.chunks_mut(6) {
                let [a, b, c] = [0; 3].map(|_| 0.05 * random.normal());
                component[0] += 0.1 * random.normal();
                component[1] += 0.1 * random.normal();
                // (I + E) S (I + E)^T with E = [a 0; b c] stays a covariance.
                let (p, q, r) = (component[2], component[3], component[5]);
                let (p2, q2) = ((1.0 + a) * (1.0 + a) * p, (1.0 + a) * (b * p + (1.0 + c) * q));
                let r2 = b * b * p + 2.0 * b * (1.0 + c) * q + (1.0 + c) * (1.0 + c) * r;
                component[2..].copy_from_slice(&[p2, q2, q2, r2]);
            }
            let odds = best.weights[0] / best.weights[1] * libm::exp(0.1 * random.normal());
            eta.weights = vec![odds / (1.0 + odds), 1.0 / (1.0 + odds)];
            assert!(value(&eta) < value(best), "{} at {eta:?} against {best:?}", value(&eta) - value(best));
        }
    }

    /// With a floor that binds, no covariance with all eigenvalues above the floor is better.
    #[test]
    fn the_floored_m_step_maximises_under_its_constraint() {
        let model = Mixture::new(2, 2, Gaussian { floor: 0.7, ..Gaussian::default() }).unwrap();
        let state = model.initial(&Observations::new(points(300, 3.0), 2, 0, 0).unwrap(), SEED);
        let free = Mixture::new(2, 2, Gaussian::default()).unwrap();
        let mut unconstrained = state.parameters.clone();
        free.maximise(&state.pivot, &state.statistics, &mut unconstrained);
        assert_ne!(unconstrained, state.parameters, "the floor binds");
        let top = objective(&state.pivot, &state.statistics, &state.parameters);
        let mut random = stream(3);
        for size in [1e-4, 1e-2, 0.3] {
            for _ in 0..1000 {
                let mut eta = state.parameters.clone();
                for component in eta.components.chunks_mut(6) {
                    let [a, b, c] = [0; 3].map(|_| size * random.normal());
                    component[2..].iter_mut().zip([a, b, b, c]).for_each(|(entry, by)| *entry += by);
                    raise_eigenvalues(&mut component[2..], 2, 0.7);
                }
                assert!(objective(&state.pivot, &state.statistics, &eta) <= top + 1e-12);
            }
        }
    }

    #[test]
    fn likelihood_is_that_of_the_definition() {
        let model = Mixture::new(2, 2, Gaussian::default()).unwrap();
        let parameters = MixtureParameters {
            weights: vec![0.3, 0.7],
            components: vec![0.0, 1.0, 2.0, 0.5, 0.5, 1.0, 1.0, -1.0, 0.5, -0.2, -0.2, 0.3],
        };
        let batch = Observations::new(vec![0.3, -0.4, 5.0, 2.0], 2, 0, 0).unwrap();
        let expected: f64 = batch
            .rows()
            .map(|x| {
                let of = |k: usize| {
                    parameters.weights[k]
                        * density(x, model.mean(&parameters, k), model.covariance(&parameters, k))
                };
                libm::log(of(0) + of(1))
            })
            .sum();
        close(model.log_likelihood(&parameters, &batch), expected, 1e-13);
        let diagonal = Mixture::new(1, 2, family(Covariance::Diagonal)).unwrap();
        let one = MixtureParameters { weights: vec![1.0], components: vec![0.0, 1.0, 2.0, 0.5] };
        let expected: f64 =
            batch.rows().map(|x| libm::log(density(x, &[0.0, 1.0], &[2.0, 0.0, 0.0, 0.5]))).sum();
        close(diagonal.log_likelihood(&one, &batch), expected, 1e-13);
    }

    #[test]
    fn degenerate_observations_stay_finite() {
        for covariance in [Covariance::Full, Covariance::Diagonal] {
            for rows in [vec![1e100; 30], vec![-1e100, 1e100, 0.0, 1e-300, 1.0, 1.0], vec![2.0; 3]] {
                let mut online =
                    online(Mixture::new(3, 3, family(covariance)).unwrap(), StepSize::Constant(1.0));
                let batch = Observations::new(rows, 3, 0, 0).unwrap();
                for _ in 0..10 {
                    online.partial_fit(&batch).unwrap();
                }
                let found = &online.state().unwrap().parameters;
                assert!(found.weights.iter().chain(&found.components).all(|value| value.is_finite()));
            }
        }
    }
}
