//! The driver against what is known exactly: mixtures have a closed E-step and M-step, so every promise of
//! online EM can be checked (algorithms.md 1.5 and 9.1).
//!
//! Seeds are fixed. Statistical bounds are stated in standard errors where they are used; with fresh seeds the
//! chance that any of them fails on correct code is below 1e-4.

use gibbstream::averaging::Averaging;
use gibbstream::error::Result;
use gibbstream::inference::LocalInference;
use gibbstream::inference::exact::{Exact, Tractable};
use gibbstream::model::gaussian_mixture::{Covariance, Gaussian};
use gibbstream::model::mixture::{
    Family, Mixture, MixtureExpectation, MixtureParameters, MixtureState, MixtureView,
};
use gibbstream::model::observations::{Counts, Observations};
use gibbstream::model::poisson_mixture::Poisson;
use gibbstream::model::{Expectation, LatentModel};
use gibbstream::online::{Online, Run};
use gibbstream::random::{Purpose, Seed, Stream};
use gibbstream::schedule::StepSize;
use std::ops::Range;

const KAPPA: StepSize = StepSize::Power { kappa: 0.6, offset: 0.0, tau: 1.0 };
const INCREMENTAL: StepSize = StepSize::Power { kappa: 1.0, offset: 0.0, tau: 1.0 };

/// A model and observations for it.
struct Case<F: Family> {
    model: Mixture<F>,
    rows: Vec<f64>,
    make: fn(Vec<f64>, usize, u64, u64) -> Result<F::Batch>,
}

impl<F: Family> Case<F> {
    /// The observations cut into minibatches.
    fn batches(&self, size: usize, pass: u64) -> Vec<F::Batch> {
        let dimension = self.model.dimension();
        self.rows
            .chunks(size * dimension)
            .enumerate()
            .map(|(i, rows)| (self.make)(rows.to_vec(), dimension, (i * size) as u64, pass).unwrap())
            .collect()
    }

    fn whole(&self) -> F::Batch {
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
fn poisson(seed: u64, count: usize, weights: &[f64], rates: &[f64]) -> Case<Poisson> {
    Case {
        model: Mixture::new(rates.len(), 1, Poisson::default()).unwrap(),
        rows: simulate(seed, count, weights, |k, random| [random.poisson(rates[k]) as f64]),
        make: Counts::new,
    }
}

/// Points in the plane around the given means; both coordinates are correlated.
fn gaussian(
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
fn overlapping() -> (Case<Poisson>, Case<Gaussian>) {
    let weights = [0.2, 0.3, 0.5];
    let means = [[0.0, 0.0], [2.0, -1.0], [0.0, 3.0]];
    (poisson(1, 350, &weights, &[1.0, 5.0, 9.0]), gaussian(2, 350, &weights, &means, Gaussian::default()))
}

/// How the tests run unless they say otherwise.
fn settings(step: StepSize, batch: u64, seed: u64) -> Run {
    Run { step, averaging: Averaging::None, boost: false, batch, seed: Seed(seed), threads: 2 }
}

/// Runs through `batches`; the last state and the parameters after each update.
fn fit<F: Family, L: LocalInference<Mixture<F>>>(
    model: &Mixture<F>,
    local: L,
    run: Run,
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
fn in_order(parameters: &MixtureParameters) -> Vec<f64> {
    let mut order: Vec<usize> = (0..parameters.weights.len()).collect();
    order.sort_by(|&a, &b| parameters.component(a)[0].total_cmp(&parameters.component(b)[0]));
    order
        .into_iter()
        .flat_map(|k| std::iter::once(parameters.weights[k]).chain(parameters.component(k).to_vec()))
        .collect()
}

fn close(found: &[f64], expected: &[f64], tolerance: f64) {
    assert_eq!(found.len(), expected.len());
    for (found, expected) in found.iter().zip(expected) {
        assert!((found - expected).abs() <= tolerance * expected.abs().max(1.0), "{found} is not {expected}");
    }
}

// ---- batch EM ----

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

// ---- recovery ----

/// Maximum likelihood by batch EM written out for two components.
fn batch_em<T>(
    rows: &[&[f64]],
    mut weights: [f64; 2],
    mut components: [T; 2],
    density: impl Fn(&T, &[f64]) -> f64,
    m_step: impl Fn(&[f64]) -> T,
) -> ([f64; 2], [T; 2]) {
    for _ in 0..100 {
        let shares = rows
            .iter()
            .map(|x| {
                let joint = [0, 1].map(|k| weights[k] * density(&components[k], x));
                joint[0] / (joint[0] + joint[1])
            })
            .collect::<Vec<f64>>();
        let others: Vec<f64> = shares.iter().map(|share| 1.0 - share).collect();
        let mass: f64 = shares.iter().sum::<f64>() / rows.len() as f64;
        weights = [mass, 1.0 - mass];
        components = [m_step(&shares), m_step(&others)];
    }
    (weights, components)
}

fn poisson_mle(case: &Case<Poisson>, weights: [f64; 2], rates: [f64; 2]) -> Vec<f64> {
    let rows: Vec<&[f64]> = case.rows.chunks(1).collect();
    let (weights, rates) = batch_em(
        &rows,
        weights,
        rates,
        |rate, x| libm::exp(x[0] * libm::log(*rate) - rate),
        |shares| {
            let total: f64 = shares.iter().zip(&rows).map(|(share, x)| share * x[0]).sum();
            total / shares.iter().sum::<f64>()
        },
    );
    vec![weights[0], rates[0], weights[1], rates[1]]
}

fn gaussian_mle(case: &Case<Gaussian>, weights: [f64; 2], means: [[f64; 2]; 2]) -> Vec<f64> {
    let rows: Vec<&[f64]> = case.rows.chunks(2).collect();
    let start = means.map(|[a, b]| [a, b, 1.0, 0.6, 0.6, 1.0]);
    let (weights, components) = batch_em(
        &rows,
        weights,
        start,
        |[m, n, a, b, _, c], x| {
            let (u, v, determinant) = (x[0] - m, x[1] - n, a * c - b * b);
            libm::exp(-0.5 * (c * u * u - 2.0 * b * u * v + a * v * v) / determinant) / determinant.sqrt()
        },
        |shares| {
            let mean = |of: &dyn Fn(&[f64]) -> f64| {
                shares.iter().zip(&rows).map(|(share, x)| share * of(x)).sum::<f64>()
                    / shares.iter().sum::<f64>()
            };
            let (m, n) = (mean(&|x| x[0]), mean(&|x| x[1]));
            let b = mean(&|x| (x[0] - m) * (x[1] - n));
            [m, n, mean(&|x| (x[0] - m) * (x[0] - m)), b, b, mean(&|x| (x[1] - n) * (x[1] - n))]
        },
    );
    [0, 1].into_iter().flat_map(|k| std::iter::once(weights[k]).chain(components[k])).collect()
}

/// For each rule of averaging, the distance from online EM after one pass to the maximum of the likelihood, in
/// units of the distance from there to the truth: root mean squares over 12 streams and all parameters.
fn relative_errors<F: Family>(
    rules: [Averaging; 2],
    truth: &[f64],
    simulated: impl Fn(u64) -> (Case<F>, Vec<f64>),
) -> [f64; 2] {
    let squares = |a: &[f64], b: &[f64]| a.iter().zip(b).map(|(a, b)| (a - b) * (a - b)).sum::<f64>();
    let (mut found, mut unit) = ([0.0; 2], 0.0);
    for seed in 0..12 {
        let (case, mle) = simulated(seed);
        unit += squares(&mle, truth);
        for (found, averaging) in found.iter_mut().zip(rules) {
            let run = Run { averaging, ..settings(KAPPA, 25, seed) };
            let (state, _) = fit(&case.model, Exact, run, &case.batches(25, 0));
            *found += squares(&in_order(&case.model.parameters(&state)), &mle);
        }
    }
    found.map(|found| (found / unit).sqrt())
}

/// One pass with kappa = 0.6 and averaging ends within a constant times `N^-1/2` of the maximum of the
/// likelihood. In the unit used, a mean over all updates tends to 0, and one over the last three quarters to
/// `sqrt(4/3 - 1) = 0.58`, as an efficient estimator from three quarters of the data must. The squared ratios
/// vary like F statistics with about 20 and 20 degrees of freedom: 1.7 is exceeded once in 1e5 runs. The last
/// parameters without averaging would be at about 3 for 32,000 observations.
#[test]
fn recovery_of_known_parameters() {
    let (rates, means) = ([2.0, 12.0], [[-2.0, 2.0], [2.0, -2.0]]);
    for count in [2_000, 8_000, 32_000] {
        let rules = [Averaging::Uniform, Averaging::Tail(count as u64 / 100)];
        let counts = relative_errors(rules, &[0.4, 2.0, 0.6, 12.0], |seed| {
            let case = poisson(seed, count, &[0.4, 0.6], &rates);
            let mle = poisson_mle(&case, [0.4, 0.6], rates);
            (case, mle)
        });
        let truth = [0.3, -2.0, 2.0, 1.0, 0.6, 0.6, 1.0, 0.7, 2.0, -2.0, 1.0, 0.6, 0.6, 1.0];
        let points = relative_errors(rules, &truth, |seed| {
            let case = gaussian(seed, count, &[0.3, 0.7], &means, Gaussian::default());
            let mle = gaussian_mle(&case, [0.3, 0.7], means);
            (case, mle)
        });
        for [uniform, tail] in [counts, points] {
            assert!(uniform < if count == 32_000 { 0.8 } else { 1.7 }, "{count}, all updates: {uniform}");
            assert!(tail < 1.7, "{count}, last updates: {tail}");
        }
    }
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

// ---- the promises of driver and traits ----

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
    use gibbstream::model::Batch;
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
    case.model.view(&state, None, &whole, &mut view);
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
    case.model.view(&state, Some((0.3, &all)), &whole, &mut pending);
    let mut after = state.clone();
    case.model.absorb(&mut after, 0.3, &all, &whole);
    case.model.view(&after, None, &whole, &mut view);
    assert_eq!(expectation(&pending, &whole), expectation(&view, &whole));
    assert_ne!(all, expectation(&view, &whole));
}

#[test]
fn expectations_form_a_vector_space() {
    let (counts, points) = overlapping();
    expectation_laws(&counts);
    expectation_laws(&points);
}

// ---- sampled labels: an E-step that a user could write ----

/// Draws the label instead of summing over it.
#[derive(Clone, Copy)]
struct SampledLabel;

#[derive(Default)]
struct Label {
    random: Stream,
    posterior: Vec<f64>,
}

impl<F: Family> LocalInference<Mixture<F>> for SampledLabel {
    type Latent = Label;
    type Scratch = Vec<f64>;

    fn passes(&self) -> usize {
        1
    }

    fn first_kept(&self) -> usize {
        0
    }

    fn begin(&self, _: &MixtureView<F>, _: &F::Batch, _: usize, latent: &mut Label, random: Stream) {
        latent.random = random;
    }

    fn advance(
        &self,
        view: &MixtureView<F>,
        batch: &F::Batch,
        index: usize,
        latent: &mut Label,
        scratch: &mut Vec<f64>,
        _: Range<usize>,
        _: usize,
    ) {
        Mixture::<F>::posterior(view, batch, index, scratch);
        let label = latent.random.categorical(scratch);
        latent.posterior.clear();
        latent.posterior.resize(scratch.len(), 0.0);
        latent.posterior[label] = 1.0;
    }

    fn expect(
        &self,
        view: &MixtureView<F>,
        batch: &F::Batch,
        latents: &[Label],
        out: &mut MixtureExpectation,
    ) {
        let posteriors: Vec<Vec<f64>> = latents.iter().map(|latent| latent.posterior.clone()).collect();
        <Mixture<F> as Tractable>::expect(view, batch, &posteriors, out);
    }
}

/// 40,000 draws of five labels, each from its own stream: every frequency within 4.5 standard errors (15
/// comparisons, so 1e-4 for fresh seeds).
#[test]
fn sampled_labels_have_the_responsibilities_as_mean() {
    let (_, points) = overlapping();
    let state = points.model.initial(&points.whole(), Seed(1));
    let batch = |pass| Observations::new(vec![0.5, 0.5, 1.0, 1.2, 1.5, -1.0, 0.0, 1.4, 1.0, 0.3], 2, 0, pass);
    let mut view = MixtureView::default();
    points.model.view(&state, None, &batch(0).unwrap(), &mut view);
    let expected = points.model.responsibilities(&state.parameters, &batch(0).unwrap());
    let mut counts = vec![[0.0; 3]; 5];
    let (mut latent, mut scratch) = (Label::default(), Vec::new());
    let draws = 40_000;
    for pass in 0..draws {
        let batch = batch(pass).unwrap();
        for (index, counts) in counts.iter_mut().enumerate() {
            let stream = Seed(21).stream(Purpose::Local, gibbstream::model::Batch::key(&batch, index));
            SampledLabel.begin(&view, &batch, index, &mut latent, stream);
            SampledLabel.advance(&view, &batch, index, &mut latent, &mut scratch, 0..1, 0);
            counts.iter_mut().zip(&latent.posterior).for_each(|(count, one)| *count += one);
        }
    }
    let mut uncertain = 0;
    for (counts, shares) in counts.iter().zip(&expected) {
        for (count, share) in counts.iter().zip(shares) {
            // A share far below one draw in all of them has no standard error to speak of.
            let error = (share * (1.0 - share) * draws as f64).sqrt().max(1.0);
            assert!(((count - share * draws as f64) / error).abs() < 4.5, "{counts:?} for {shares:?}");
            uncertain += usize::from((0.05..0.95).contains(share));
        }
    }
    assert!(uncertain >= 5, "the labels are not obvious: {expected:?}");
}

/// The exact E-step plus noise of mean zero has the same limit. On a fixed set of counts visited again and
/// again, the limit of the exact algorithm is the maximum of the likelihood; the mean of 40 noisy runs lies
/// within 5.5 standard errors of it (Student with 39 degrees of freedom: 1e-5 for four comparisons).
#[test]
fn noise_of_mean_zero_does_not_change_the_limit() {
    let case = poisson(6, 100, &[0.4, 0.6], &[2.0, 9.0]);
    let mle = poisson_mle(&case, [0.4, 0.6], [2.0, 9.0]);
    let passes: Vec<Counts> = (0..600).map(|pass| case.batches(100, pass).pop().unwrap()).collect();
    let run = |seed| Run { averaging: Averaging::Tail(200), ..settings(KAPPA, 100, seed) };
    let (_, path) = fit(&case.model, Exact, run(0), &passes);
    close(&in_order(&path[599]), &mle, 1e-5);

    let runs: Vec<Vec<f64>> = (0..40)
        .map(|seed| {
            let (state, _) = fit(&case.model, SampledLabel, run(seed), &passes);
            in_order(&case.model.parameters(&state))
        })
        .collect();
    for (i, mle) in mle.iter().enumerate() {
        let number = runs.len() as f64;
        let mean = runs.iter().map(|run| run[i]).sum::<f64>() / number;
        let variance = runs.iter().map(|run| (run[i] - mean) * (run[i] - mean)).sum::<f64>() / (number - 1.0);
        let error = (variance / number).sqrt();
        assert!(((mean - mle) / error).abs() < 5.5, "{mean} is not {mle} +- {error}");
        assert!(error > 0.0 && error < 2e-3 * mle, "sharp enough to see a bias: {error} of {mle}");
    }
}
