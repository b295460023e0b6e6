//! The driver against what is known exactly: mixtures have a closed E-step and M-step, so every promise of
//! online EM can be checked (algorithms.md 1.5 and 9.1).
//!
//! Seeds are fixed. Statistical bounds are stated in standard errors where they are used; with fresh seeds the
//! chance that any of them fails on correct code is below 1e-4.

#![allow(clippy::unwrap_used, reason = "these are tests, helpers included")]

mod cases;
mod recovery;
mod sampled_label;

use cases::{Case, INCREMENTAL, KAPPA, close, fit, gaussian, in_order, overlapping, poisson, settings};
use gibbstream::averaging::Averaging;
use gibbstream::inference::exact::{Exact, Tractable};
use gibbstream::model::gaussian_mixture::{Covariance, Gaussian};
use gibbstream::model::mixture::{Family, Mixture, MixtureExpectation, MixtureParameters, MixtureView};
use gibbstream::model::{Batch, Expectation, LatentModel};
use gibbstream::online::{Online, Run};
use gibbstream::random::Seed;
use gibbstream::schedule::{Step, StepSize};

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
            fit(&case.model, Exact, Run { threads, ..base }, &batches).0,
            expected,
            "{threads} threads"
        );
    }
    assert_eq!(fit(&case.model, Exact, Run { boost: true, ..base }, &batches).0, expected, "boost");
    assert_ne!(fit(&case.model, Exact, Run { seed: Seed(8), ..base }, &batches).1[0], path[0], "seed");

    for (averaging, skip) in [(Averaging::Uniform, 0), (Averaging::Tail(4), 3)] {
        let (state, same) = fit(&case.model, Exact, Run { averaging, ..base }, &batches);
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

/// The exact expectation of a minibatch.
fn expectation<F: Family>(view: &MixtureView<F>, batch: &F::Batch) -> MixtureExpectation {
    let mut posteriors = vec![Vec::new(); batch.len()];
    posteriors
        .iter_mut()
        .enumerate()
        .for_each(|(index, out)| Mixture::<F>::posterior(view, batch, index, out));
    let mut out = MixtureExpectation::default();
    <Mixture<F> as Tractable>::expect(view, batch, &posteriors, &mut out);
    out
}

fn expectation_laws<F: Family>(case: &Case<F>) {
    let whole = case.whole();
    let state = case.model.initial(&whole, Seed(1));
    let mut view = MixtureView::default();
    case.model.view(&state, &Step::default(), None, &whole, &mut view);
    let all = expectation(&view, &whole);
    let mut sum = MixtureExpectation::default();
    sum.clear_like(&all);
    assert_eq!(sum.mass, vec![0.0; all.mass.len()]);
    assert_eq!(sum.sums, vec![0.0; all.sums.len()]);
    for half in case.batches(175, 0) {
        sum.add(0.5, &expectation(&view, &half));
    }
    close(&sum.mass, &all.mass, 1e-13);
    close(&sum.sums, &all.sums, 1e-13);
    let mut twice = MixtureExpectation::default();
    twice.clear_like(&all);
    twice.add(1.0, &all);
    assert_eq!(twice, all, "zero plus one times");
    twice.add(1.0, &all);
    assert!(twice.sums.iter().zip(&all.sums).all(|(twice, once)| *twice == 2.0 * once));
    twice.clear_like(&MixtureExpectation { mass: vec![1.0], sums: Vec::new() });
    assert_eq!(twice, MixtureExpectation { mass: vec![0.0], sums: Vec::new() }, "the shape of the other");
    for (mass, sum) in [(f64::NAN, 0.0), (0.0, f64::INFINITY)] {
        assert!(MixtureExpectation { mass: vec![mass], sums: vec![sum] }.not_finite().is_some());
    }
    assert_eq!(all.not_finite(), None);

    // What boosted inference looks at is what absorbing would lead to.
    let mut pending = MixtureView::default();
    let step = Step { update: 1, rho: 0.3, ..Step::default() };
    case.model.view(&state, &step, Some(&all), &whole, &mut pending);
    let mut after = state.clone();
    case.model.absorb(&mut after, &step, &mut all.clone(), &view, &whole);
    case.model.view(&after, &step, None, &whole, &mut view);
    assert_eq!(expectation(&pending, &whole), expectation(&view, &whole));
    assert_ne!(all, expectation(&view, &whole));
}

#[test]
fn expectations_form_a_vector_space() {
    let (counts, points) = overlapping();
    expectation_laws(&counts);
    expectation_laws(&points);
}
