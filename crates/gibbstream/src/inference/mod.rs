//! Local inference: the expected statistics of one observation, with the parameters held fixed.

pub mod chain;
pub mod collapsed;
pub mod document_stats;
mod draw;
pub mod exact;
pub mod gibbs;
pub mod mean_field;
pub mod mixtures;
pub mod predictive;
pub mod scales;
mod slots;

use crate::model::LatentModel;
use crate::numerics::random::Stream;
use std::ops::Range;

/// Passes to run over an observation.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Passes {
    /// These, counted from 0.
    pub range: Range<usize>,
    /// The statistics of those from this one on are kept.
    pub keep_from: usize,
}

impl Passes {
    /// How many of these are kept.
    pub fn kept(&self) -> usize {
        self.range.end.saturating_sub(self.keep_from.max(self.range.start))
    }
}

/// Estimates `E[S(x, h) | x, eta]` for every observation of a minibatch, a few passes at a time: the E-step.
///
/// # Who calls what
///
/// The driver makes an empty [`view`](Self::view) once and lets the model fill it for every minibatch. Then, for every
/// observation, on whatever thread is free and in any order: [`begin`](Self::begin), and [`advance`](Self::advance) with all
/// passes, those before [`first_kept`](Self::first_kept) as burn-in. When all observations are through,
/// [`collect`](Self::collect) once, on one thread of the pool. Boosted inference calls `advance` and `collect` once per pass
/// instead, with a new view each time, and every pass kept; what has to live on between two passes belongs into `Latent`.
///
/// # What must hold
///
/// * Parameters are read from the view alone, and the observation from `batch` at `index`.
/// * All randomness comes from the stream that `begin` was given. It belongs to the observation, by its place in the input
///   stream, so neither threads nor blocks nor company change a draw.
/// * `Scratch` is working space: what an earlier observation left in it must not matter. `Latent` values are used again for
///   other observations too, so `begin` writes over everything.
/// * `collect` gives the same bits for a minibatch as its blocks give, merged: round what every observation contributes
///   by itself and add exactly, for example with [`Sums`](crate::Sums).
/// * The number of passes is fixed: [`passes`](Self::passes) is at least 1, and `first_kept` is below it.
pub trait LocalInference<M: LatentModel>: Send + Sync {
    /// What is known about the hidden part of one observation, and the statistics kept of it.
    type Latent: Default + Send + Sync;
    /// Working space of one thread.
    type Scratch: Default + Send;

    /// An empty view that will hold the parameters as this inference reads them.
    fn view(&self) -> M::View {
        M::View::default()
    }

    /// Number of passes over each observation.
    fn passes(&self) -> usize;

    /// The passes whose statistics are kept are those from this one on, counted from 0: the last quarter unless said
    /// otherwise.
    fn first_kept(&self) -> usize {
        self.passes() - (self.passes() / 4).max(1)
    }

    /// A fresh hidden state for observation `index`, which owns the stream `random` from now on.
    fn begin(
        &self,
        view: &M::View,
        batch: &M::Batch,
        index: usize,
        latent: &mut Self::Latent,
        random: Stream,
    );

    /// Runs some passes, and keeps the statistics of those from `passes.keep_from` on; forgets what was kept before.
    fn advance(
        &self,
        view: &M::View,
        batch: &M::Batch,
        index: usize,
        latent: &mut Self::Latent,
        scratch: &mut Self::Scratch,
        passes: Passes,
    );

    /// The statistics kept in the last [`Self::advance`], summed over observations; they may be taken out of the latent
    /// states. `out` may hold what was there before, whose buffers can be used again.
    fn collect(
        &self,
        view: &M::View,
        batch: &M::Batch,
        latents: &mut [Self::Latent],
        out: &mut M::Statistics,
    );
}
