//! The families of mixtures: laws, closed forms, and parameters found again.

use crate::stream;
use gibbstream::conformance::laws;
use gibbstream::inference::exact::Exact;
use gibbstream::learn::batch_size::BatchSize;
use gibbstream::learn::online::{Online, OnlineSettings};
use gibbstream::learn::schedule::StepSize;
use gibbstream::model::Sums;
use gibbstream::model::rows::families::bernoulli::Bernoulli;
use gibbstream::model::rows::families::gaussian::{Covariance, Gaussian};
use gibbstream::model::rows::families::multinomial::Multinomial;
use gibbstream::model::rows::families::poisson::Poisson;
use gibbstream::model::rows::mixture::{Family, Mixture, MixtureParameters};
use gibbstream::numerics::random::Seed;

/// Number of columns.
const D: usize = 8;

/// Three rows of chances, far enough apart to be told.
const CHANCES: [[f64; D]; 3] = [
    [0.9, 0.8, 0.1, 0.2, 0.9, 0.2, 0.1, 0.7],
    [0.1, 0.2, 0.9, 0.1, 0.2, 0.8, 0.2, 0.1],
    [0.2, 0.1, 0.2, 0.9, 0.1, 0.1, 0.9, 0.8],
];
const WEIGHTS: [f64; 3] = [0.5, 0.3, 0.2];

/// Answers, or counts of ten draws.
fn rows(number: usize, counts: bool) -> Vec<f64> {
    let mut random = stream(20);
    (0..number)
        .flat_map(|_| {
            let chances = CHANCES[random.categorical(&WEIGHTS)];
            let mut row = [0.0; D];
            if counts {
                (0..10).for_each(|_| row[random.categorical(&chances)] += 1.0);
            } else {
                row = chances.map(|chance| f64::from(u8::from(random.uniform() < chance)));
            }
            row
        })
        .collect()
}

fn fit<F: Family>(family: F, components: usize, rows: &[f64], step: StepSize) -> MixtureParameters {
    let model = Mixture::new(components, D, family).unwrap();
    let run = OnlineSettings {
        step,
        batch: BatchSize::of(100),
        seed: Seed(2),
        threads: 2,
        ..OnlineSettings::default()
    };
    let mut online = Online::new(model, Exact, run).unwrap();
    for (i, rows) in rows.chunks(100 * D).enumerate() {
        online.partial_fit(&F::batch(rows.to_vec(), D, 100 * i as u64, 0).unwrap()).unwrap();
    }
    online.state().unwrap().parameters.clone()
}

fn family_laws<F: Family>(family: F, rows: &[f64]) {
    let model = Mixture::new(3, D, family).unwrap();
    let batch =
        |from: usize, to: usize| F::batch(rows[D * from..D * to].to_vec(), D, from as u64, 0).unwrap();
    let blocks = [batch(0, 30), batch(30, 31), batch(31, 60)];
    laws(&model, &Exact, &batch(0, 60), &blocks, Sums::mean, Seed(1)).unwrap();
}

#[test]
fn every_family_obeys_the_laws() {
    let (answers, counts) = (rows(60, false), rows(60, true));
    family_laws(Bernoulli::default(), &answers);
    family_laws(Multinomial::default(), &counts);
    family_laws(Poisson::default(), &counts);
    for covariance in [Covariance::Full, Covariance::Diagonal] {
        family_laws(Gaussian { covariance, floor: 1e-3 }, &counts);
    }
}

/// One component is what the columns add up to.
#[test]
fn one_component_is_the_mean() {
    let incremental = StepSize::Incremental { head_start: 0 };
    let (answers, counts) = (rows(1_000, false), rows(1_000, true));
    let mean = |rows: &[f64], column: usize| rows.iter().skip(column).step_by(D).sum::<f64>() / 1_000.0;
    let (chances, shares) = (
        fit(Bernoulli::default(), 1, &answers, incremental),
        fit(Multinomial::default(), 1, &counts, incremental),
    );
    for column in 0..D {
        assert!((chances.components[column] - mean(&answers, column)).abs() < 1e-12);
        let share = (1.0 - 1e-4) * mean(&counts, column) / 10.0 + 1e-4 / D as f64;
        assert!((shares.components[column] - share).abs() < 1e-12);
    }
}

/// 40,000 observations in one pass. A chance has a standard error of at most 0.5 / sqrt(8,000) = 0.006 if labels were known;
/// they are not, and the last updates weigh more, so five times 0.01 is allowed.
#[test]
fn known_components_are_found() {
    let step = StepSize::Power { kappa: 0.7, offset: 0.0, tau: 1.0, least: 0.0 };
    let answers = fit(Bernoulli::default(), 3, &rows(40_000, false), step);
    let counts = fit(Multinomial::default(), 3, &rows(40_000, true), step);
    for (found, is_share) in [(answers, false), (counts, true)] {
        let mut order: Vec<usize> = (0..3).collect();
        order.sort_by(|&a, &b| found.weights[b].total_cmp(&found.weights[a]));
        for (&k, (chances, weight)) in order.iter().zip(CHANCES.iter().zip(WEIGHTS)) {
            let total: f64 = if is_share { chances.iter().sum() } else { 1.0 };
            assert!((found.weights[k] - weight).abs() < 0.05, "{found:?}");
            for (found, chance) in found.component(k).iter().zip(chances) {
                assert!((found - chance / total).abs() < 0.05, "{found} is not {}", chance / total);
            }
        }
    }
}

/// The exact M-step of answers: batch EM never loses likelihood.
#[test]
fn batch_em_of_answers_is_monotone() {
    let rows = rows(300, false);
    let model = Mixture::new(3, D, Bernoulli::default()).unwrap();
    let batch = Bernoulli::batch(rows, D, 0, 0).unwrap();
    for seed in 0..5 {
        let run = OnlineSettings {
            step: StepSize::Constant(1.0),
            batch: BatchSize::of(300),
            seed: Seed(seed),
            ..OnlineSettings::default()
        };
        let mut online = Online::new(model.clone(), Exact, run).unwrap();
        let mut before = f64::NEG_INFINITY;
        for _ in 0..100 {
            online.partial_fit(&batch).unwrap();
            let now = model.log_likelihood(&online.state().unwrap().parameters, &batch);
            assert!(now >= before - 1e-9, "{now} after {before}, seed {seed}");
            before = now;
        }
    }
}

/// 100,000 well separated points: after one pass the mean log-likelihood is within 0.01 nats of what batch EM makes of it
/// (bench/dense compares with scikit-learn's batch EM on such points).
#[test]
fn one_pass_is_almost_the_maximum() {
    let (dimension, number) = (4, 100_000);
    let mut random = stream(21);
    let centers: Vec<f64> = (0..5 * dimension).map(|_| 8.0 * random.normal()).collect();
    let rows: Vec<f64> = (0..number)
        .flat_map(|_| {
            let k = random.categorical(&[0.1, 0.15, 0.2, 0.25, 0.3]);
            let e: Vec<f64> = (0..dimension).map(|_| random.normal()).collect();
            let row: Vec<f64> = (0..dimension)
                .map(|i| centers[k * dimension + i] + e[i] + 0.5 * e[(i + k) % dimension])
                .collect();
            row
        })
        .collect();
    let model = Mixture::new(5, dimension, Gaussian::default()).unwrap();
    let step = StepSize::Power { kappa: 0.6, offset: 0.0, tau: 1.0, least: 0.0 };
    let mut online =
        Online::new(model.clone(), Exact, OnlineSettings { step, threads: 2, ..OnlineSettings::default() })
            .unwrap();
    for (i, rows) in rows.chunks(100 * dimension).enumerate() {
        online.partial_fit(&Gaussian::batch(rows.to_vec(), dimension, 100 * i as u64, 0).unwrap()).unwrap();
    }
    let whole = Gaussian::batch(rows, dimension, 0, 0).unwrap();
    let score = |parameters: &MixtureParameters| model.log_likelihood(parameters, &whole) / f64::from(number);
    let after_one_pass = score(&online.state().unwrap().parameters);
    let run = OnlineSettings {
        step: StepSize::Constant(1.0),
        batch: BatchSize::of(number as usize),
        threads: 2,
        ..OnlineSettings::default()
    };
    let mut batch = Online::new(model.clone(), Exact, run).unwrap();
    batch.resume(online.state().unwrap().clone(), online.clock());
    for _ in 0..8 {
        batch.partial_fit(&whole).unwrap();
    }
    let best = score(&batch.state().unwrap().parameters);
    assert!(best >= after_one_pass && best - after_one_pass < 0.01, "{after_one_pass} against {best}");
    assert!(
        online.state().unwrap().parameters.weights.iter().all(|&weight| weight > 0.05),
        "every group is found"
    );
}
