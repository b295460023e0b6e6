//! Latent-variable models as exponential families: what a model must supply to be learnt from a stream.
//!
//! A model is `p(x, h | eta) = a(x, h) exp(<phi(eta), S(x, h)> - psi(eta))`. Online EM only needs to know how
//! to hold the running mean `s` of the expected statistics, how a minibatch moves it, and which parameters
//! `eta*(s)` follow from it (algorithms.md 1).

// Topic models.
pub mod topics;

pub mod topic_rule;

pub mod alpha;

pub mod view;

pub mod lda;

pub mod sticks;

pub mod births;

mod evidence;

pub mod deaths;

mod coming_and_going;

pub mod hdp;

pub mod topic_learner;

// Mixtures of anything.
pub mod observations;

mod symmetric;

pub mod mixture;

pub mod poisson_mixture;

pub mod gaussian_mixture;

pub mod multinomial_mixture;

pub mod bernoulli_mixture;

pub mod row_baseline;

pub mod mixture_learner;

// Sources that are mixed and heard through noise.
pub mod ica;

mod ica_learner;

mod split;

use crate::error::Result;
use crate::random::Seed;
use crate::schedule::Step;

/// A finite group of observations that is read once.
pub trait Batch: Sync {
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

/// Expected sufficient statistics of one minibatch, for as much of the model as the minibatch touches.
pub trait Expectation: Default + Send + Sync {
    /// Becomes zero, shaped like `other`.
    fn clear_like(&mut self, other: &Self);
    /// `self += weight * other`; both belong to the same minibatch.
    fn add(&mut self, weight: f64, other: &Self);
    /// The name of a statistic that is not finite, if there is one.
    fn not_finite(&self) -> Option<&'static str>;
}

/// For models whose statistics are a list of numbers.
impl Expectation for Vec<f64> {
    fn clear_like(&mut self, other: &Self) {
        self.clear();
        self.resize(other.len(), 0.0);
    }

    fn add(&mut self, weight: f64, other: &Self) {
        self.iter_mut().zip(other).for_each(|(mine, theirs)| *mine += weight * theirs);
    }

    fn not_finite(&self) -> Option<&'static str> {
        (!self.iter().all(|value| value.is_finite())).then_some("an expected statistic")
    }
}

/// `(1 - rho) old + rho fresh`, for statistics that are lists.
pub fn blended(old: &[f64], rho: f64, fresh: &[f64]) -> Vec<f64> {
    old.iter().zip(fresh).map(|(old, fresh)| (1.0 - rho) * old + rho * fresh).collect()
}

/// A model that can be learnt by online EM.
pub trait LatentModel: Send + Sync {
    /// Observations.
    type Batch: Batch;
    /// `E[S(x, h) | x, eta]`, a mean over the minibatch.
    type Expectation: Expectation;
    /// The running statistics `s` together with `eta*(s)`, and the mean of the parameters if one is kept.
    type State: Clone + Send + Sync;
    /// The parameters as local inference reads them, for one minibatch.
    type View: Default + Send + Sync;

    /// Refuses a minibatch that does not fit the model, before anything is changed.
    fn check(&self, _batch: &Self::Batch) -> Result<()> {
        Ok(())
    }

    /// A random start; the first minibatch may set scales.
    fn initial(&self, first: &Self::Batch, seed: Seed) -> Self::State;

    /// Parameters for `batch` after the step `at`. With `pending`, `at` is a step yet to be taken, and the
    /// parameters are those as if it had been taken with that expectation: boosted inference asks for this.
    fn view(
        &self,
        state: &Self::State,
        at: &Step,
        pending: Option<&Self::Expectation>,
        batch: &Self::Batch,
        out: &mut Self::View,
    );

    /// Sums up what inference has left in parts, so that the expectation can be looked at without the `view` that it
    /// was computed with.
    fn complete(&self, _fresh: &mut Self::Expectation, _view: &Self::View, _batch: &Self::Batch) {}

    /// `s <- (1 - rho) s + rho fresh`, then `eta <- eta*(s)`: one step of online EM. `view` is the one that `fresh` was
    /// computed with.
    fn absorb(
        &self,
        state: &mut Self::State,
        step: &Step,
        fresh: &mut Self::Expectation,
        view: &Self::View,
        batch: &Self::Batch,
    );

    /// Takes the parameters after `step` into the mean that is reported in the end.
    fn remember(&self, state: &mut Self::State, step: &Step);
}
