//! Models, simulated observations for them, and runs of the driver.

use gibbstream::error::Result;
use gibbstream::inference::LocalInference;
use gibbstream::learn::averaging::Averaging;
use gibbstream::learn::batch_size::BatchSize;
use gibbstream::learn::online::{Online, OnlineSettings};
use gibbstream::learn::schedule::StepSize;
use gibbstream::model::rows::families::gaussian::Gaussian;
use gibbstream::model::rows::families::poisson::Poisson;
use gibbstream::model::rows::mixture::{Family, Mixture, MixtureParameters, MixtureState};
use gibbstream::model::rows::observations::{Counts, Observations};
use gibbstream::numerics::random::{Purpose, Seed, Stream};

pub const KAPPA: StepSize = StepSize::Power { kappa: 0.6, offset: 0.0, tau: 1.0, least: 0.0 };
pub const INCREMENTAL: StepSize = StepSize::Power { kappa: 1.0, offset: 0.0, tau: 1.0, least: 0.0 };

/// A model and observations for it.
pub struct Case<F: Family> {
    pub model: Mixture<F>,
    pub rows: Vec<f64>,
    pub make: fn(Vec<f64>, usize, u64, u64) -> Result<F::Batch>,
}

impl<F: Family> Case<F> {
    /// The observations cut into minibatches.
    pub fn batches(&self, size: usize, pass: u64) -> Vec<F::Batch> {
        let dimension = self.model.dimension();
        self.rows
            .chunks(size * dimension)
            .enumerate()
            .map(|(i, rows)| (self.make)(rows.to_vec(), dimension, (i * size) as u64, pass).unwrap())
            .collect()
    }

    pub fn whole(&self) -> F::Batch {
        self.batches(usize::MAX / self.model.dimension(), 0).pop().unwrap()
    }
}

/// `count` draws: a label from `weights`, then `draw(label)`.
fn simulate<const P: usize>(
    seed: u64,
    count: usize,
    weights: &[f64],
    draw: impl Fn(usize, &mut Stream) -> [f64; P],
) -> Vec<f64> {
    let mut random = Seed(seed).stream(Purpose::SyntheticDocument, [0, 0]);
    (0..count)
        .flat_map(|_| {
            let label = random.categorical(weights);
            draw(label, &mut random)
        })
        .collect()
}

/// Counts from two or more rates.
pub fn poisson(seed: u64, count: usize, weights: &[f64], rates: &[f64]) -> Case<Poisson> {
    Case {
        model: Mixture::new(rates.len(), 1, Poisson::default()).unwrap(),
        rows: simulate(seed, count, weights, |k, random| [random.poisson(rates[k]) as f64]),
        make: Counts::new,
    }
}

/// Points in the plane around the given means; both coordinates are correlated.
pub fn gaussian(
    seed: u64,
    count: usize,
    weights: &[f64],
    means: &[[f64; 2]],
    family: Gaussian,
) -> Case<Gaussian> {
    Case {
        model: Mixture::new(means.len(), 2, family).unwrap(),
        rows: simulate(seed, count, weights, |k, random| {
            let (a, b) = (random.normal(), random.normal());
            [means[k][0] + a, means[k][1] + 0.6 * a + 0.8 * b]
        }),
        make: Observations::new,
    }
}

/// Three overlapping components each, for tests that hold for any data.
pub fn overlapping() -> (Case<Poisson>, Case<Gaussian>) {
    let weights = [0.2, 0.3, 0.5];
    let means = [[0.0, 0.0], [2.0, -1.0], [0.0, 3.0]];
    (poisson(1, 350, &weights, &[1.0, 5.0, 9.0]), gaussian(2, 350, &weights, &means, Gaussian::default()))
}

/// How the tests run unless they say otherwise.
pub fn settings(step: StepSize, batch: usize, seed: u64) -> OnlineSettings {
    let batch = BatchSize::of(batch);
    OnlineSettings { step, averaging: Averaging::None, boost: false, batch, seed: Seed(seed), threads: 2 }
}

/// Runs through `batches`; the last state and the parameters after each update.
pub fn fit<F: Family, L: LocalInference<Mixture<F>>>(
    model: &Mixture<F>,
    local: L,
    run: OnlineSettings,
    batches: &[F::Batch],
) -> (MixtureState, Vec<MixtureParameters>) {
    let mut online = Online::new(model.clone(), local, run).unwrap();
    let mut path = Vec::new();
    for batch in batches {
        online.partial_fit(batch).unwrap();
        path.push(online.state().unwrap().parameters.clone());
    }
    (online.state().unwrap().clone(), path)
}

/// Components in the order of their first parameter, as one list: weight, then parameters.
pub fn in_order(parameters: &MixtureParameters) -> Vec<f64> {
    let mut order: Vec<usize> = (0..parameters.weights.len()).collect();
    order.sort_by(|&a, &b| parameters.component(a)[0].total_cmp(&parameters.component(b)[0]));
    order
        .into_iter()
        .flat_map(|k| std::iter::once(parameters.weights[k]).chain(parameters.component(k).to_vec()))
        .collect()
}

pub fn close(found: &[f64], expected: &[f64], tolerance: f64) {
    assert_eq!(found.len(), expected.len());
    for (found, expected) in found.iter().zip(expected) {
        assert!((found - expected).abs() <= tolerance * expected.abs().max(1.0), "{found} is not {expected}");
    }
}
