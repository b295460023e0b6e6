//! The driver against what is known exactly: mixtures have a closed E-step and M-step, so every promise of
//! online EM can be checked (science.md 1.5 and 9.1).
//!
//! Seeds are fixed. Statistical bounds are stated in standard errors where they are used; with fresh seeds the
//! chance that any of them fails on correct code is below 1e-4.

#![allow(clippy::unwrap_used, reason = "these are tests, helpers included")]

mod cases;
mod recovery;
mod sampled_label;

use cases::{Case, INCREMENTAL, KAPPA, close, fit, gaussian, in_order, overlapping, poisson, settings};
use gibbstream::conformance::{laws, statistics};
use gibbstream::inference::exact::Exact;
use gibbstream::learn::averaging::Averaging;
use gibbstream::learn::online::{Online, OnlineSettings};
use gibbstream::learn::schedule::{Step, StepSize};
use gibbstream::model::rows::families::gaussian::{Covariance, Gaussian};
use gibbstream::model::rows::mixture::{Family, Mixture, MixtureParameters};
use gibbstream::model::{LatentModel, Statistics, Sums};
use gibbstream::numerics::random::Seed;

fn likelihood_never_decreases<F: Family>(case: &Case<F>, rises: bool) {
    let batch = case.whole();
    for seed in 0..5 {
        let mut online =
            Online::new(case.model.clone(), Exact, settings(StepSize::Constant(1.0), 1, seed)).unwrap();
        let mut values = Vec::new();
        for _ in 0..150 {
            online.partial_fit(&batch).unwrap();
            let parameters = &online.state().unwrap().parameters;
            values.push(case.model.log_likelihood(parameters, &batch) / 350.0);
        }
        for (update, pair) in values.windows(2).enumerate() {
            assert!(pair[1] >= pair[0] - 1e-10, "{update}: {} after {}, seed {seed}", pair[1], pair[0]);
        }
        assert!(!rises || values[149] > values[0] + 1e-4, "nothing was learnt: {values:?}");
    }
}

#[test]
fn batch_em_is_monotone() {
    let (counts, points) = overlapping();
    likelihood_never_decreases(&counts, true);
    likelihood_never_decreases(&points, true);
    for covariance in [Covariance::Full, Covariance::Diagonal] {
        // The second floor binds: it is above the variance of every component.
        for floor in [1e-6, 1.5] {
            let model = Mixture::new(3, 2, Gaussian { covariance, floor }).unwrap();
            likelihood_never_decreases(&Case { model, rows: points.rows.clone(), ..points }, true);
        }
    }
    // Three hundred and fifty copies of a point, and counts of zero: everything sits on the floor.
    likelihood_never_decreases(&Case { rows: vec![0.0; 700], ..points }, false);
    likelihood_never_decreases(&Case { rows: vec![0.0; 350], ..counts }, false);
}

/// Groups so far apart that the label is certain: kappa = 1 adds up the exact statistics of each group.
#[test]
fn certain_labels_give_the_exact_mle_in_one_pass() {
    let means = [[-1e3, 0.0], [0.0, 1e3], [1e3, 0.0]];
    let points = gaussian(3, 600, &[0.2, 0.3, 0.5], &means, Gaussian::default());
    let expected: Vec<f64> = means
        .iter()
        .flat_map(|center| {
            let group: Vec<&[f64]> =
                points.rows.chunks(2).filter(|x| (x[0] - center[0]).abs() < 100.0).collect();
            let mean =
                |of: &dyn Fn(&[f64]) -> f64| group.iter().map(|x| of(x)).sum::<f64>() / group.len() as f64;
            let (m, n) = (mean(&|x| x[0]), mean(&|x| x[1]));
            let b = mean(&|x| (x[0] - m) * (x[1] - n));
            let (a, c) = (mean(&|x| (x[0] - m) * (x[0] - m)), mean(&|x| (x[1] - n) * (x[1] - n)));
            [group.len() as f64 / 600.0, m, n, a, b, b, c]
        })
        .collect();
    let (state, _) = fit(&points.model, Exact, settings(INCREMENTAL, 60, 4), &points.batches(60, 0));
    // Sums of squares of 1e3 around the pivot: rounding of about 1e6 * 1e-16 * sqrt(600).
    close(&in_order(&state.parameters), &expected, 1e-8);

    let rates = [3.0, 600.0, 1200.0];
    let counts = poisson(5, 600, &[0.2, 0.3, 0.5], &rates);
    let expected: Vec<f64> = [(0.0, 200.0), (200.0, 900.0), (900.0, 2000.0)]
        .into_iter()
        .flat_map(|(low, high)| {
            let group: Vec<f64> = counts.rows.iter().copied().filter(|x| (low..high).contains(x)).collect();
            [group.len() as f64 / 600.0, group.iter().sum::<f64>() / group.len() as f64]
        })
        .collect();
    let (state, _) = fit(&counts.model, Exact, settings(INCREMENTAL, 60, 4), &counts.batches(60, 0));
    close(&in_order(&state.parameters), &expected, 1e-12);
}

fn driver_laws<F: Family>(case: &Case<F>) {
    let batches = case.batches(40, 0);
    let base = settings(KAPPA, 40, 7);
    let (expected, path) = fit(&case.model, Exact, base, &batches);
    for threads in [1, 2, 7] {
        assert_eq!(
            fit(&case.model, Exact, OnlineSettings { threads, ..base }, &batches).0,
            expected,
            "{threads} threads"
        );
    }
    assert_eq!(
        fit(&case.model, Exact, OnlineSettings { boost: true, ..base }, &batches).0,
        expected,
        "boost"
    );
    assert_ne!(
        fit(&case.model, Exact, OnlineSettings { seed: Seed(8), ..base }, &batches).1[0],
        path[0],
        "seed"
    );

    for (averaging, skip) in [(Averaging::Uniform, 0), (Averaging::Tail(4), 3)] {
        let (state, same) = fit(&case.model, Exact, OnlineSettings { averaging, ..base }, &batches);
        assert_eq!(same, path, "averaging does not change training");
        let number = (path.len() - skip) as f64;
        let mean = |of: &dyn Fn(&MixtureParameters) -> f64| path[skip..].iter().map(of).sum::<f64>() / number;
        let found = case.model.parameters(&state);
        assert_ne!(found, path[path.len() - 1]);
        (0..found.weights.len()).for_each(|i| assert_eq!(found.weights[i], mean(&|p| p.weights[i])));
        (0..found.components.len()).for_each(|i| assert_eq!(found.components[i], mean(&|p| p.components[i])));
    }
    assert_eq!(case.model.parameters(&expected), path[path.len() - 1], "without averaging, the last");

    // Interrupted and resumed.
    let mut first = Online::new(case.model.clone(), Exact, base).unwrap();
    batches[..3].iter().for_each(|batch| assert!(first.partial_fit(batch).is_ok()));
    let mut second = Online::new(case.model.clone(), Exact, base).unwrap();
    second.resume(first.state().unwrap().clone(), first.clock());
    batches[3..].iter().for_each(|batch| assert!(second.partial_fit(batch).is_ok()));
    assert_eq!(second.state(), Some(&expected));
}

#[test]
fn threads_boost_averaging_and_interruption() {
    let (counts, points) = overlapping();
    driver_laws(&counts);
    driver_laws(&points);
}

/// Sums that merge to the last bit whatever the blocks, means over observations, and a look ahead that absorbing confirms.
fn statistics_laws<F: Family>(case: &Case<F>) {
    let whole = case.whole();
    for size in [175, 64, 9, 1] {
        laws(&case.model, &Exact, &whole, &case.batches(size, 0), Sums::mean, Seed(1)).unwrap();
    }
    let mut state = case.model.initial(&whole, Seed(1));
    let of = |state: &_, batch: &_| statistics(&case.model, &Exact, state, batch, Seed(1));
    let all = of(&state, &whole);
    assert_eq!((all.weight(), all.check()), (350, Ok(())));
    let each: Vec<Vec<f64>> = case.batches(1, 0).iter().map(|one| of(&state, one).totals()).collect();
    let plain = (0..all.len()).map(|i| each.iter().map(|values| values[i]).sum::<f64>() / 350.0);
    // A sum of 350 numbers one after another loses a few of its last digits, `Sums` do not.
    close(&all.mean(), &plain.collect::<Vec<f64>>(), 1e-13);

    let mut twice = all.clone();
    twice.merge(&Sums::default()).unwrap();
    assert_eq!(twice, all, "nothing is added");
    twice.merge(&all).unwrap();
    assert!(twice.totals().iter().zip(all.totals()).all(|(twice, once)| *twice == 2.0 * once));
    assert_eq!((twice.weight(), twice.mean()), (700, all.mean()));
    for wrong in [f64::NAN, f64::INFINITY] {
        let mut broken = Sums::new(all.len());
        broken.add(&vec![wrong; all.len()]);
        broken.merge(&all).unwrap();
        assert!(broken.check().is_err());
    }
    assert!(twice.merge(&of(&state, &whole)).is_ok() && twice.merge(&one_sum()).is_err(), "another model");

    case.model.absorb(&mut state, &Step { update: 1, rho: 0.3, ..Step::default() }, &all);
    assert_ne!(all, of(&state, &whole));
}

/// The statistics of a model that has but one.
fn one_sum() -> Sums {
    let mut sums = Sums::new(1);
    sums.add(&[1.0]);
    sums
}

#[test]
fn statistics_obey_their_laws() {
    let (counts, points) = overlapping();
    statistics_laws(&counts);
    statistics_laws(&points);
}
