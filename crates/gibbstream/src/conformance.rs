//! Tests for your own models: the laws that the driver relies on, checked for any model (docs/custom-models.md).
//!
//! Each check tells what is wrong in words, so that a test is one line: `laws(...).unwrap()`.

use crate::inference::{LocalInference, Passes};
use crate::model::{Batch, Expectation, LatentModel};
use crate::random::{Purpose, Seed};
use crate::schedule::Step;

/// What a check found wrong, in words.
pub type Finding = Result<(), String>;

/// The expected statistics of one minibatch as plain numbers, with the parameters of `state`.
pub fn expectation<M: LatentModel, L: LocalInference<M>>(
    model: &M,
    local: &L,
    state: &M::State,
    batch: &M::Batch,
    seed: Seed,
) -> M::Expectation {
    let mut view = local.view();
    model.view(state, &Step::default(), None, batch, &mut view);
    expectation_with(model, local, &view, batch, seed)
}

fn expectation_with<M: LatentModel, L: LocalInference<M>>(
    model: &M,
    local: &L,
    view: &M::View,
    batch: &M::Batch,
    seed: Seed,
) -> M::Expectation {
    let passes = Passes { range: 0..local.passes(), keep_from: local.first_kept() };
    let mut latents: Vec<L::Latent> = (0..batch.len()).map(|_| L::Latent::default()).collect();
    let mut scratch = L::Scratch::default();
    for (index, latent) in latents.iter_mut().enumerate() {
        local.begin(view, batch, index, latent, seed.stream(Purpose::Local, batch.key(index)));
        local.advance(view, batch, index, latent, &mut scratch, passes.clone());
    }
    let mut out = M::Expectation::default();
    local.expect(view, batch, &mut latents, &mut out);
    model.complete(&mut out, view, batch);
    out
}

/// The laws of statistics. `halves` are two minibatches of equal size that make up `whole`, at the same places of the
/// stream; `numbers` lists the statistics.
///
/// * The mean over the whole is the mean of the means over its halves, because random streams belong to observations.
/// * Expectations can be cleared, scaled and added.
/// * Looking ahead (`view` with a pending expectation) is what absorbing leads to.
pub fn laws<M: LatentModel, L: LocalInference<M>>(
    model: &M,
    local: &L,
    whole: &M::Batch,
    halves: [&M::Batch; 2],
    numbers: impl Fn(&M::Expectation) -> Vec<f64>,
    seed: Seed,
) -> Finding {
    let state = model.initial(whole, seed);
    let all = expectation(model, local, &state, whole, seed);
    let mut sum = M::Expectation::default();
    sum.clear_like(&all);
    if numbers(&sum).iter().any(|&value| value != 0.0) {
        return Err("`clear_like` does not leave zeros".into());
    }
    halves.into_iter().for_each(|half| sum.add(0.5, &expectation(model, local, &state, half, seed)));
    close("the mean over halves", &numbers(&sum), &numbers(&all), 1e-9)?;
    if let Some(statistic) = all.not_finite() {
        return Err(format!("{statistic} is not finite for the random start"));
    }
    let mut twice = M::Expectation::default();
    twice.clear_like(&all);
    twice.add(1.0, &all);
    close("zero plus one times", &numbers(&twice), &numbers(&all), 0.0)?;

    let step =
        Step { update: 1, batch: whole.len() as u64, seen: whole.len() as u64, rho: 0.3, head_start: 0 };
    let (mut ahead, mut view, mut after) = (local.view(), local.view(), state.clone());
    model.view(&state, &step, Some(&all), whole, &mut ahead);
    model.view(&state, &Step::default(), None, whole, &mut view);
    let mut fresh = expectation(model, local, &state, whole, seed);
    model.absorb(&mut after, &step, &mut fresh, &view, whole);
    model.view(&after, &step, None, whole, &mut view);
    let (ahead, view) = (
        numbers(&expectation_with(model, local, &ahead, whole, seed)),
        numbers(&expectation_with(model, local, &view, whole, seed)),
    );
    close("looking ahead against absorbing", &ahead, &view, 1e-9)
}

/// Whether `at` is a stationary point of `objective`, by central differences: the M-step must be one of
/// `<phi(eta), s> - psi(eta)`. Parameters with constraints are passed in coordinates that have none.
pub fn stationary(objective: impl Fn(&[f64]) -> f64, at: &[f64], tolerance: f64) -> Finding {
    for i in 0..at.len() {
        let step = 1e-5 * at[i].abs().max(1.0);
        let moved = |by: f64| {
            let mut point = at.to_vec();
            point[i] += by;
            objective(&point)
        };
        let slope = (moved(step) - moved(-step)) / (2.0 * step);
        if slope.is_nan() || slope.abs() > tolerance {
            return Err(format!("the objective has slope {slope} along parameter {i}"));
        }
    }
    Ok(())
}

/// Whether local inference finds the `exact` statistics of one observation, which enumeration or quadrature gives.
/// `copy(place)` is a minibatch of that observation alone at a place of the stream, so that every copy has random numbers of
/// its own. The mean over `copies` must be within `errors` standard errors, and within `slack` of what is exact.
pub fn unbiased<M: LatentModel, L: LocalInference<M>>(
    model: &M,
    local: &L,
    state: &M::State,
    copy: impl Fn(u64) -> M::Batch,
    numbers: impl Fn(&M::Expectation) -> Vec<f64>,
    exact: &[f64],
    (copies, errors, slack): (u64, f64, f64),
) -> Finding {
    let (mut sums, mut squares) = (vec![0.0; exact.len()], vec![0.0; exact.len()]);
    for place in 0..copies {
        let found = numbers(&expectation(model, local, state, &copy(place), Seed(0)));
        if found.len() != exact.len() {
            return Err(format!("{} statistics instead of {}", found.len(), exact.len()));
        }
        for (i, value) in found.into_iter().enumerate() {
            sums[i] += value - exact[i];
            squares[i] += (value - exact[i]) * (value - exact[i]);
        }
    }
    let number = copies as f64;
    for i in 0..exact.len() {
        let bias = sums[i] / number;
        let error = ((squares[i] / number - bias * bias).max(0.0) / (number - 1.0)).sqrt();
        if bias.is_nan() || bias.abs() > errors * error + slack {
            return Err(format!(
                "statistic {i} is off by {bias} from {} (standard error {error} of {copies} copies)",
                exact[i]
            ));
        }
    }
    Ok(())
}

fn close(what: &str, found: &[f64], expected: &[f64], tolerance: f64) -> Finding {
    if found.len() != expected.len() {
        return Err(format!("{what}: {} numbers instead of {}", found.len(), expected.len()));
    }
    for (i, (found, expected)) in found.iter().zip(expected).enumerate() {
        if found.is_nan() || (found - expected).abs() > tolerance * expected.abs().max(1.0) {
            return Err(format!("{what}: number {i} is {found} instead of {expected}"));
        }
    }
    Ok(())
}
