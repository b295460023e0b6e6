//! The model of the guide, checked as the guide says.

#[path = "../../examples/custom_model.rs"]
#[allow(dead_code, reason = "the example also trains")]
mod custom_model;

use crate::stream;
use custom_model::{Parameters, State, Sweeps, Switches, maximise};
use gibbstream::conformance::{laws, stationary, statistics, unbiased};
use gibbstream::model::rows::observations::Observations;
use gibbstream::model::{LatentModel, Sums};
use gibbstream::numerics::random::Seed;
use nalgebra::DMatrix;

fn rows(number: usize) -> Vec<f64> {
    let mut random = stream(30);
    (0..3 * number).map(|_| random.normal() + if random.uniform() < 0.5 { 2.0 } else { 0.0 }).collect()
}

#[test]
fn its_statistics_obey_their_laws() {
    let rows = rows(40);
    let batch = |from: usize, to: usize| {
        Observations::new(rows[3 * from..3 * to].to_vec(), 3, from as u64, 0).unwrap()
    };
    let blocks = [batch(0, 7), batch(7, 8), batch(8, 40)];
    laws(&Switches(2, 3), &Sweeps(4), &batch(0, 40), &blocks, Sums::mean, Seed(1)).unwrap();
}

#[test]
fn its_m_step_is_stationary() {
    let (model, batch) = (Switches(2, 3), Observations::new(rows(200), 3, 0, 0).unwrap());
    let start = model.initial(&batch, Seed(2));
    let s = statistics(&model, &Sweeps(4), &start, &batch, Seed(2)).mean();
    let Parameters(shares, features, noise) = maximise(&model, &s);
    let (zz, zx) = (DMatrix::from_column_slice(2, 2, &s[..4]), DMatrix::from_column_slice(2, 3, &s[4..10]));
    let objective = |at: &[f64]| {
        let switched = (0..2).map(|j| zz[(j, j)] * at[j] - libm::log1p(libm::exp(at[j]))).sum::<f64>();
        let w = DMatrix::from_column_slice(3, 2, &at[2..8]);
        let left = s[10] - 2.0 * (w.transpose()).dot(&zx) + (&w * &zz).dot(&w);
        switched - 1.5 * at[8] - 0.5 * left / libm::exp(at[8])
    };
    let mut at: Vec<f64> = shares.iter().map(|share| libm::log(share / (1.0 - share))).collect();
    at.extend(features.iter());
    at.push(libm::log(noise));
    stationary(objective, &at, 1e-6).unwrap();
}

/// All four cases of two switches that explain each other away.
#[test]
fn its_sweeps_agree_with_enumeration() {
    let (x, shares, noise) = ([2.2, 1.5, 0.4], [0.3, 0.6], 0.8);
    let features = DMatrix::from_column_slice(3, 2, &[2.0, 1.0, 0.0, 1.0, 1.5, 1.0]);
    let (mut total, mut exact) = (0.0, [0.0; 4]);
    for case in 0..4_u8 {
        let z = [f64::from(case & 1), f64::from(case >> 1)];
        let rest = (0..3).map(|i| x[i] - z[0] * features[(i, 0)] - z[1] * features[(i, 1)]);
        let fit = -0.5 * rest.map(|rest| rest * rest).sum::<f64>() / noise;
        let prior: f64 = (0..2).map(|j| if z[j] > 0.0 { shares[j] } else { 1.0 - shares[j] }).product();
        let weight = prior * libm::exp(fit);
        total += weight;
        (0..4).for_each(|ij| exact[ij] += weight * z[ij / 2] * z[ij % 2]);
    }
    exact.iter_mut().for_each(|value| *value /= total);
    let state = State(vec![0.0; 11], Parameters(shares.to_vec(), features.as_slice().to_vec(), noise));
    let copy = |place| Observations::new(x.to_vec(), 3, place, 0).unwrap();
    let numbers = |s: &Sums| s.mean()[..4].to_vec();
    unbiased(&Switches(2, 3), &Sweeps(40), &state, copy, numbers, &exact, (20_000, 5.0, 1e-4)).unwrap();
}
