//! Tests for your own models: the laws that the driver relies on, checked for any model (docs/custom-models.md).
//!
//! Each check tells what is wrong in words, so that a test is one line: `laws(...).unwrap()`.

use crate::file::bytes::{from_bytes, to_bytes};
use crate::inference::LocalInference;
use crate::learn::online::e_step;
use crate::learn::schedule::Step;
use crate::model::{Batch, LatentModel, Statistics};
use crate::numerics::random::Seed;

/// What a check found wrong, in words.
pub type Finding = Result<(), String>;

/// The statistics of some observations, with the parameters of `state`.
pub fn statistics<M: LatentModel, L: LocalInference<M>>(
    model: &M,
    local: &L,
    state: &M::State,
    batch: &M::Batch,
    seed: Seed,
) -> M::Statistics {
    let mut view = local.view();
    model.view(state, &Step::default(), None, batch, &mut view);
    e_step(model, local, &view, batch, seed).expect("a view fits the minibatch that it was made for")
}

/// The laws of statistics. `blocks` are at least two parts of `whole`, at the same places of the stream; `numbers` lists
/// statistics as means, for the last law.
///
/// * Those of [`blocks_agree`].
/// * Looking ahead (`view` with pending statistics) is what absorbing leads to.
pub fn laws<M: LatentModel, L: LocalInference<M>>(
    model: &M,
    local: &L,
    whole: &M::Batch,
    blocks: &[M::Batch],
    numbers: impl Fn(&M::Statistics) -> Vec<f64>,
    seed: Seed,
) -> Finding {
    let state = model.initial(whole, seed);
    let all = blocks_agree(model, local, &state, whole, blocks, seed)?;
    let weight = whole.len() as u64;
    let step = Step { update: 1, batch: weight, seen: weight, rho: 0.3, head_start: 0 };
    let (mut ahead, mut view, mut after) = (local.view(), local.view(), state.clone());
    model.view(&state, &step, Some(&all), whole, &mut ahead);
    model
        .check_statistics(&after, &all)
        .map_err(|error| format!("statistics of the model itself: {error}"))?;
    model.absorb(&mut after, &step, &all);
    model.view(&after, &step, None, whole, &mut view);
    let numbers = |view: &M::View| {
        let found =
            e_step(model, local, view, whole, seed).map_err(|error| format!("the E-step: {error}"))?;
        Ok::<_, String>(numbers(&found))
    };
    close("looking ahead against absorbing", &numbers(&ahead)?, &numbers(&view)?, 1e-9)
}

/// The laws that hold even for models that cannot look ahead. `blocks` are at least two parts of `whole`, at the same places
/// of the stream. Returns the statistics of the whole, as they are read back from bytes.
///
/// * Merging is associative and commutative, and the statistics of the whole are those of its blocks, all to the last
///   bit.
/// * Statistics, and views, survive the way to bytes and back, and damaged bytes are refused.
pub fn blocks_agree<M: LatentModel, L: LocalInference<M>>(
    model: &M,
    local: &L,
    state: &M::State,
    whole: &M::Batch,
    blocks: &[M::Batch],
    seed: Seed,
) -> Result<M::Statistics, String> {
    let mut view = local.view();
    model.view(state, &Step::default(), None, whole, &mut view);
    let sent: M::View =
        from_bytes(&to_bytes(&view)).map_err(|error| format!("a view from bytes: {error}"))?;
    let compute = |view: &M::View, batch: &M::Batch| {
        e_step(model, local, view, batch, seed).map_err(|error| format!("the E-step: {error}"))
    };
    let all = compute(&view, whole)?;
    all.check().map_err(|statistic| format!("{statistic} is not sound for the random start"))?;
    let bytes = to_bytes(&all);
    same("a view from bytes", &to_bytes(&compute(&sent, whole)?), &bytes)?;
    let parts = blocks.iter().map(|block| compute(&sent, block)).collect::<Result<Vec<_>, _>>()?;
    merging(&parts, &bytes)?;
    refusals::<M::Statistics>(&bytes)?;
    from_bytes(&bytes).map_err(|error| format!("from bytes: {error}"))
}

/// Whether statistics of blocks merge to `expected`, in any order and grouping.
pub fn merging<S: Statistics>(parts: &[S], expected: &[u8]) -> Finding {
    same("merging in order", &to_bytes(&merged(parts.iter())?), expected)?;
    same("merging backwards", &to_bytes(&merged(parts.iter().rev())?), expected)?;
    let (left, right) = parts.split_at(parts.len() / 2);
    let (left, right) = (merged(left.iter())?, merged(right.iter())?);
    same("merging in groups", &to_bytes(&merged([&right, &left].into_iter())?), expected)?;
    let sent = parts.iter().map(|part| from_bytes(&to_bytes(part)));
    let sent: Vec<S> = sent.collect::<Result<_, _>>().map_err(|error| format!("from bytes: {error}"))?;
    same("merging what was sent", &to_bytes(&merged(sent.iter())?), expected)
}

fn merged<'a, S: Statistics + 'a>(mut parts: impl Iterator<Item = &'a S>) -> Result<S, String> {
    let mut sum = S::default();
    parts.try_for_each(|part| sum.merge(part)).map_err(|error| format!("merging: {error}"))?;
    Ok(sum)
}

/// Whether damaged bytes are refused.
fn refusals<S: Statistics>(bytes: &[u8]) -> Finding {
    for end in [0, bytes.len() / 2, bytes.len() - 1] {
        if from_bytes::<S>(&bytes[..end]).is_ok() {
            return Err(format!("{end} of {} bytes are accepted", bytes.len()));
        }
    }
    let mut damaged = bytes.to_vec();
    damaged[bytes.len() / 2] ^= 1;
    if from_bytes::<S>(&damaged).is_ok() { Err("a flipped bit is accepted".into()) } else { Ok(()) }
}

fn same(what: &str, found: &[u8], expected: &[u8]) -> Finding {
    if found == expected { Ok(()) } else { Err(format!("{what} gives other bits")) }
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
    numbers: impl Fn(&M::Statistics) -> Vec<f64>,
    exact: &[f64],
    (copies, errors, slack): (u64, f64, f64),
) -> Finding {
    let (mut sums, mut squares) = (vec![0.0; exact.len()], vec![0.0; exact.len()]);
    for place in 0..copies {
        let found = numbers(&statistics(model, local, state, &copy(place), Seed(0)));
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
