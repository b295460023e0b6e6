//! Latent-variable models as exponential families: what a model must supply to be learnt from a stream.
//!
//! A model is `p(x, h | eta) = a(x, h) exp(<phi(eta), S(x, h)> - psi(eta))`. Online EM only needs to know how
//! to hold the running mean `s` of the expected statistics, how a minibatch moves it, and which parameters
//! `eta*(s)` follow from it (science.md 1).

// Statistics that are lists of numbers.
mod sums;

pub use sums::Sums;

// Topic models, of documents.
pub mod topics;

// Mixtures and independent components, of rows of numbers.
pub mod rows;

use crate::error::{Error, Result};
use crate::numerics::random::Seed;
use crate::learn::schedule::Step;
use serde::Serialize;
use serde::de::DeserializeOwned;
use std::borrow::Cow;

/// A finite group of observations that is read once.
pub trait Batch: Clone + Sync {
    /// Number of observations.
    fn len(&self) -> usize;
    /// True if there is no observation.
    fn is_empty(&self) -> bool {
        self.len() == 0
    }
    /// Key of the random stream of observation `index`: its pass, and its place in the stream.
    fn key(&self, index: usize) -> [u64; 2];

    /// What observation `index` costs compared with the others; only balances the threads.
    fn cost(&self, _index: usize) -> u64 {
        1
    }

    /// How many observations are handed to a thread at once; never changes a result.
    fn grain(&self) -> usize {
        1
    }
}

/// Expected sufficient statistics of some observations. A value: it owns everything that is needed to absorb it, and
/// can be sent elsewhere as bytes.
///
/// What must hold, and is checked by [`crate::conformance`]:
/// * `merge` is associative and commutative to the last bit, so threads, blocks, retries and machines may add up in
///   any order. Sums of floating-point numbers are not; [`Sums`] are, and integers are.
/// * The statistics of a minibatch are those of its blocks, merged, because random streams belong to observations.
/// * What is read back from bytes equals what was written.
pub trait Statistics: Clone + Default + Send + Sync + Serialize + DeserializeOwned {
    /// Adds the statistics of other observations, computed with the same view. Refuses those of another view.
    fn merge(&mut self, other: &Self) -> Result<()>;

    /// Adds the statistics of one more pass over the same observations: boosted inference averages over passes.
    fn merge_pass(&mut self, other: &Self);

    /// Number of observations, the only denominator.
    fn weight(&self) -> u64;

    /// Refuses numbers that cannot be right, by the name of the statistic.
    fn check(&self) -> Result<(), &'static str>;
}

/// Statistics that cannot be merged.
pub(crate) fn mismatch(problem: &str) -> Error {
    let advice = "merge statistics that were computed with one and the same view, each observation once";
    Error::setting("statistics", format!("they do not belong together: {problem}"), advice)
}

/// `(1 - rho) old + rho fresh`, for statistics that are lists.
pub fn blended(old: &[f64], rho: f64, fresh: &[f64]) -> Vec<f64> {
    old.iter().zip(fresh).map(|(old, fresh)| (1.0 - rho) * old + rho * fresh).collect()
}

/// A model that can be learnt by online EM.
///
/// # Who calls what
///
/// [`Online::partial_fit`](crate::Online::partial_fit) takes one minibatch and calls, in this order:
///
/// | call | when |
/// |---|---|
/// | [`check`](Self::check) | first of all; an error ends it here |
/// | [`initial`](Self::initial) | only if there is no state yet |
/// | [`view`](Self::view) | once, with `pending = None` |
/// | the [`LocalInference`](crate::LocalInference) of the method | for every observation, on many threads; it sees the view, never the state |
/// | [`Statistics::check`] and [`check_statistics`](Self::check_statistics) | once; an error ends it here |
/// | [`absorb`](Self::absorb) | once: the only call that changes the state |
/// | [`remember`](Self::remember) | after it, if this update counts for an average that is reported |
///
/// In blocks, the same happens in pieces, perhaps in several processes: `check`, `initial` and `view` where the state is;
/// then, wherever a block is, `check`, [`align`](Self::align) and local inference; then [`Statistics::merge`] in any order,
/// and the last three calls where the state is. Boosted inference calls `view` again after every pass but the last, with
/// the statistics so far as `pending`, and [`complete`](Self::complete) before that.
///
/// # What must hold
///
/// * Errors come from `check`, `align` and `check_statistics` alone, before anything is changed. What they let through
///   must not make the other calls panic: statistics and views may be bytes that came from elsewhere.
/// * `view` follows from its arguments alone, and so does `absorb`. Neither may ask how, where or in how many blocks the
///   statistics were computed, nor rely on the view of the last call: they may belong to an older step.
/// * The result does not depend on the number of threads. `initial`, `view` and `absorb` run inside the thread pool of
///   the learner and may use it, with sums in an order that is written down.
/// * Randomness comes from `seed` or from the seed that the model was made with, by streams of a
///   [`Purpose`](crate::Purpose); nothing is drawn from a generator that lives in the model.
///
/// [`crate::conformance`] checks these laws on your model and your data; `examples/custom_model.rs` is a complete model.
pub trait LatentModel: Send + Sync {
    /// Observations.
    type Batch: Batch;
    /// `E[S(x, h) | x, eta]`, summed over observations.
    type Statistics: Statistics;
    /// The running statistics `s` together with `eta*(s)`, and the mean of the parameters if one is kept.
    type State: Clone + Send + Sync;
    /// The parameters as local inference reads them, for one minibatch.
    type View: Default + Send + Sync + Serialize + DeserializeOwned;

    /// Refuses a minibatch that does not fit the model, such as one with rows of another length. Everything else may
    /// rely on it.
    fn check(&self, _batch: &Self::Batch) -> Result<()> {
        Ok(())
    }

    /// A random start, which must not be empty: the first `view` is made of it. The first minibatch may set scales; it is
    /// absorbed afterwards like any other.
    fn initial(&self, first: &Self::Batch, seed: Seed) -> Self::State;

    /// Writes the parameters for `batch` after the step `at` over whatever `out` holds, whose buffers can be used again.
    /// They must cover the observations of `batch`, and no others. With `pending`, `at` is a step yet to be taken, and
    /// the parameters are those as if it had been taken with those statistics: boosted inference asks for this.
    fn view(
        &self,
        state: &Self::State,
        at: &Step,
        pending: Option<&Self::Statistics>,
        batch: &Self::Batch,
        out: &mut Self::View,
    );

    /// A block of observations as local inference with this view reads it: a view may number things by the whole
    /// minibatch. Refuses what the view does not cover, and a view that cannot be right.
    fn align<'a>(&self, _view: &Self::View, block: &'a Self::Batch) -> Result<Cow<'a, Self::Batch>> {
        Ok(Cow::Borrowed(block))
    }

    /// Makes statistics independent of the parameters that they were computed with, where they are not: boosted
    /// inference changes its view after every pass.
    fn complete(&self, _statistics: &mut Self::Statistics, _view: &Self::View) {}

    /// Refuses statistics that do not fit the state, before anything is changed: they may have come from elsewhere.
    fn check_statistics(&self, _state: &Self::State, _statistics: &Self::Statistics) -> Result<()> {
        Ok(())
    }

    /// `s <- (1 - rho) s + rho mean`, then `eta <- eta*(s)`: one step of online EM. `rho` is `step.rho`, and the mean is
    /// taken over [`Statistics::weight`] observations.
    fn absorb(&self, state: &mut Self::State, step: &Step, statistics: &Self::Statistics);

    /// Takes the parameters after `step` into the mean that is reported in the end. Never called unless averaging is
    /// asked for; it must not change what is learnt.
    fn remember(&self, state: &mut Self::State, step: &Step);
}
