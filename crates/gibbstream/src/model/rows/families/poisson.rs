//! Mixtures of Poisson distributions, of one count or of several independent ones.

use crate::model::rows::mixture::{Family, Mixture, MixtureParameters};
use crate::model::rows::observations::Counts;
use crate::error::{Error, Result};
use crate::numerics::math::ln_gamma;
use serde::{Deserialize, Serialize};

/// Independent Poisson counts. The parameters of a component are its rates.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
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
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
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

    fn batch(rows: Vec<f64>, dimension: usize, first: u64, pass: u64) -> Result<Counts> {
        Counts::new(rows, dimension, first, pass)
    }

    fn maximise(&self, _pivot: &[f64], mass: f64, sums: &[f64], parameters: &mut [f64]) {
        parameters.iter_mut().zip(sums).for_each(|(rate, sum)| *rate = (sum / mass).max(self.floor));
    }

    fn prepare(&self, _dimension: usize, parameters: &[f64], out: &mut PoissonDensity) {
        out.log_rates.clear();
        out.log_rates.extend(parameters.iter().map(|&rate| libm::log(rate)));
        out.total = parameters.iter().sum();
    }

    fn fits(&self, dimension: usize, density: &PoissonDensity) -> bool {
        density.log_rates.len() == dimension
    }

    fn log_density(&self, density: &PoissonDensity, x: &[f64]) -> f64 {
        let sum: f64 = x.iter().zip(&density.log_rates).map(|(x, log_rate)| x * log_rate).sum();
        sum - density.total
    }

    fn log_base(&self, x: &[f64]) -> f64 {
        -x.iter().map(|&x| ln_gamma(x + 1.0)).sum::<f64>()
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

    const SEED: Seed = Seed(11);

    fn stream(key: u64) -> Stream {
        SEED.stream(Purpose::SyntheticDocument, [key, 0])
    }

    /// Pairs of counts from three overlapping components.
    fn pairs(number: usize) -> Vec<f64> {
        let mut random = stream(1);
        let rates = [[1.0, 9.0], [4.0, 3.0], [12.0, 6.0]];
        (0..number).flat_map(|_| rates[random.below(3)].map(|rate| random.poisson(rate) as f64)).collect()
    }

    fn online(model: PoissonMixture, step: StepSize) -> Online<PoissonMixture, Exact> {
        let run = OnlineSettings { step, batch: BatchSize::of(25), seed: SEED, threads: 2, ..OnlineSettings::default() };
        Online::new(model, Exact, run).unwrap()
    }

    fn close(found: f64, expected: f64, tolerance: f64) {
        assert!((found - expected).abs() <= tolerance * expected.abs().max(1.0), "{found} is not {expected}");
    }

    #[test]
    fn one_component_is_the_sample_mean() {
        let rows = pairs(200);
        let mut online =
            online(Mixture::new(1, 2, Poisson::default()).unwrap(), StepSize::Incremental { head_start: 0 });
        for (first, size) in [(0, 60), (60, 1), (61, 139)] {
            let part = rows[2 * first..2 * (first + size)].to_vec();
            online.partial_fit(&Counts::new(part, 2, first as u64, 0).unwrap()).unwrap();
        }
        let parameters = online.model().parameters(online.state().unwrap());
        assert_eq!(parameters.weights, [1.0]);
        for (column, &rate) in online.model().rates(&parameters, 0).iter().enumerate() {
            close(rate, rows.iter().skip(column).step_by(2).sum::<f64>() / 200.0, 1e-13);
        }
    }

    /// kappa = 1: after every minibatch, the M-step of all responsibilities computed so far.
    #[test]
    fn incremental_recursion_in_closed_form() {
        let rows = pairs(500);
        let model = Mixture::new(3, 2, Poisson::default()).unwrap();
        let batches: Vec<Counts> = rows
            .chunks(50)
            .enumerate()
            .map(|(i, rows)| Counts::new(rows.to_vec(), 2, 25 * i as u64, 0).unwrap())
            .collect();
        let start = model.initial(&batches[0], SEED).parameters;
        let mut weights = start.weights.clone();
        let mut rates: Vec<[f64; 2]> = (0..3).map(|k| start.component(k).try_into().unwrap()).collect();
        let (mut shares, mut sums) = ([0.0; 3], [[0.0; 2]; 3]);
        let mut online = online(model, StepSize::Power { kappa: 1.0, offset: 0.0, tau: 1.0, least: 0.0 });
        for (i, batch) in batches.iter().enumerate() {
            for x in rows[50 * i..50 * (i + 1)].chunks(2) {
                let probability = |k: usize| {
                    weights[k]
                        * (0..2)
                            .map(|j| libm::pow(rates[k][j], x[j]) * libm::exp(-rates[k][j]))
                            .product::<f64>()
                };
                let joint = [probability(0), probability(1), probability(2)];
                for k in 0..3 {
                    let share = joint[k] / joint.iter().sum::<f64>();
                    shares[k] += share;
                    (0..2).for_each(|j| sums[k][j] += share * x[j]);
                }
            }
            weights = shares.map(|share| share / (25 * (i + 1)) as f64).to_vec();
            (0..3).for_each(|k| rates[k] = sums[k].map(|sum| sum / shares[k]));
            online.partial_fit(batch).unwrap();
            let found = &online.state().unwrap().parameters;
            for k in 0..3 {
                close(found.weights[k], weights[k], 1e-12);
                (0..2).for_each(|j| close(found.component(k)[j], rates[k][j], 1e-12));
            }
        }
        assert!(weights.iter().all(|&weight| weight > 0.1), "the components are all in use: {weights:?}");
    }

    /// `<phi(eta), s> - psi(eta)`, with `s` any mean of statistics.
    fn objective(s: &MixtureExpectation, weights: &[f64], rates: &[f64]) -> f64 {
        let labels: f64 = s.mass.iter().zip(weights).map(|(mass, &weight)| mass * libm::log(weight)).sum();
        let counts: f64 =
            (0..rates.len()).map(|i| s.sums[i] * libm::log(rates[i]) - s.mass[i / 2] * rates[i]).sum();
        labels + counts
    }

    #[test]
    fn the_m_step_maximises() {
        let model = Mixture::new(3, 2, Poisson::default()).unwrap();
        let batch = Counts::new(pairs(300), 2, 0, 0).unwrap();
        let state = model.initial(&batch, SEED);
        let (s, best) = (&state.statistics, &state.parameters);
        let top = objective(s, &best.weights, &best.components);
        let step = 1e-5;
        for i in 0..6 {
            let moved = |by: f64| {
                let mut rates = best.components.clone();
                rates[i] += by;
                objective(s, &best.weights, &rates)
            };
            // Central differences: error about step^2, rounding about 1e-15 / step.
            close((moved(step) - moved(-step)) / (2.0 * step), 0.0, 1e-8);
        }
        for (from, to) in [(0, 1), (1, 2), (2, 0)] {
            let moved = |by: f64| {
                let mut weights = best.weights.clone();
                weights[from] -= by;
                weights[to] += by;
                objective(s, &weights, &best.components)
            };
            close((moved(step) - moved(-step)) / (2.0 * step), 0.0, 1e-8);
        }
        let mut random = stream(2);
        for _ in 0..1000 {
            let mut perturb = |values: &[f64]| -> Vec<f64> {
                values.iter().map(|value| value * libm::exp(0.1 * random.normal())).collect()
            };
            let (mut weights, rates) = (perturb(&best.weights), perturb(&best.components));
            let total: f64 = weights.iter().sum();
            for weight in &mut weights {
                *weight /= total;
            }
            assert!(objective(s, &weights, &rates) < top);
        }
    }

    #[test]
    fn likelihood_is_that_of_the_definition() {
        let model = Mixture::new(2, 1, Poisson::default()).unwrap();
        let parameters = MixtureParameters { weights: vec![0.25, 0.75], components: vec![2.0, 5.0] };
        let batch = Counts::new(vec![0.0, 3.0], 1, 0, 0).unwrap();
        let of =
            |x: i32, rate: f64, factorial: f64| libm::pow(rate, f64::from(x)) * libm::exp(-rate) / factorial;
        let expected = libm::log(0.25 * of(0, 2.0, 1.0) + 0.75 * of(0, 5.0, 1.0))
            + libm::log(0.25 * of(3, 2.0, 6.0) + 0.75 * of(3, 5.0, 6.0));
        close(model.log_likelihood(&parameters, &batch), expected, 1e-14);
        let shares = model.responsibilities(&parameters, &batch);
        let joint = [0.25 * of(3, 2.0, 6.0), 0.75 * of(3, 5.0, 6.0)];
        close(shares[1][0], joint[0] / (joint[0] + joint[1]), 1e-14);
    }

    #[test]
    fn zeros_meet_the_floor_and_empty_components_stay() {
        let model = Mixture::new(2, 1, Poisson { floor: 0.01 }).unwrap();
        let mut parameters = MixtureParameters { weights: vec![0.5; 2], components: vec![3.0, 8.0] };
        let s = MixtureExpectation { mass: vec![1.0, 0.0], sums: vec![0.0, 0.0] };
        model.maximise(&[0.0], &s, &mut parameters);
        assert_eq!(parameters.weights, [1.0, 0.0]);
        assert_eq!(parameters.components, [0.01, 8.0]);
        let batch = Counts::new(vec![0.0, 50.0], 1, 0, 0).unwrap();
        assert!(model.log_likelihood(&parameters, &batch).is_finite());
        assert_eq!(model.responsibilities(&parameters, &batch), [[1.0, 0.0], [1.0, 0.0]]);
    }

    #[test]
    fn fewer_different_counts_than_components() {
        let mut online = online(Mixture::new(4, 1, Poisson::default()).unwrap(), StepSize::PAPER);
        let batch = Counts::new(vec![0.0, 0.0, 3.0, 0.0], 1, 0, 0).unwrap();
        for _ in 0..20 {
            online.partial_fit(&batch).unwrap();
        }
        let found = &online.state().unwrap().parameters;
        assert!(found.weights.iter().chain(&found.components).all(|value| value.is_finite()));
        close(found.weights.iter().sum(), 1.0, 1e-14);
        assert!((1..4).all(|k| found.components[..k].iter().all(|rate| *rate != found.components[k])));
    }

    #[test]
    fn held_parameters_move_when_told() {
        let model = Mixture::new(2, 1, Poisson::default()).unwrap().hold(3);
        let rows = pairs(8);
        let mut online = online(model, StepSize::PAPER);
        let mut seen = Vec::new();
        for (i, rows) in rows.chunks(4).enumerate() {
            online.partial_fit(&Counts::new(rows.to_vec(), 1, 4 * i as u64, 0).unwrap()).unwrap();
            seen.push(online.state().unwrap().parameters.clone());
        }
        assert!(seen[0] == seen[1] && seen[1] == seen[2] && seen[2] != seen[3]);
    }

    #[test]
    fn nonsense_is_refused() {
        assert!(Mixture::new(0, 1, Poisson::default()).is_err());
        assert!(Mixture::new(1, 0, Poisson::default()).is_err());
        for floor in [0.0, -1.0, f64::NAN, f64::INFINITY] {
            assert!(Mixture::new(1, 1, Poisson { floor }).is_err());
        }
    }
}
