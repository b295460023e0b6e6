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
/// The driver ([`crate::learn::online::Online`]) calls, for every minibatch: `check`; `initial` once; `view`; then local
/// inference, which reads nothing but the view; `absorb`; and `remember` if parameters are averaged. A view may be sent
/// to other processes as bytes, local inference may run there on blocks of the minibatch, and their statistics may
/// come back in any order.
pub trait LatentModel: Send + Sync {
    /// Observations.
    type Batch: Batch;
    /// `E[S(x, h) | x, eta]`, summed over observations.
    type Statistics: Statistics;
    /// The running statistics `s` together with `eta*(s)`, and the mean of the parameters if one is kept.
    type State: Clone + Send + Sync;
    /// The parameters as local inference reads them, for one minibatch.
    type View: Default + Send + Sync + Serialize + DeserializeOwned;

    /// Refuses a minibatch that does not fit the model, before anything is changed.
    fn check(&self, _batch: &Self::Batch) -> Result<()> {
        Ok(())
    }

    /// A random start; the first minibatch may set scales.
    fn initial(&self, first: &Self::Batch, seed: Seed) -> Self::State;

    /// Parameters for `batch` after the step `at`. With `pending`, `at` is a step yet to be taken, and the
    /// parameters are those as if it had been taken with those statistics: boosted inference asks for this.
    fn view(
        &self,
        state: &Self::State,
        at: &Step,
        pending: Option<&Self::Statistics>,
        batch: &Self::Batch,
        out: &mut Self::View,
    );

    /// A block of observations as local inference with this view reads it. Refuses what the view does not cover, and a
    /// view that cannot be right.
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

    /// `s <- (1 - rho) s + rho mean`, then `eta <- eta*(s)`: one step of online EM.
    fn absorb(&self, state: &mut Self::State, step: &Step, statistics: &Self::Statistics);

    /// Takes the parameters after `step` into the mean that is reported in the end.
    fn remember(&self, state: &mut Self::State, step: &Step);
}
