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

/// Estimates `E[S(x, h) | x, eta]` for every observation of a minibatch, a few passes at a time.
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

    /// Runs some passes, and forgets what was kept before.
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
