//! The E-step in closed form, for models whose hidden part can be summed out.

use super::{LocalInference, Passes};
use crate::model::LatentModel;
use crate::numerics::random::Stream;

/// A model with an exact E-step.
pub trait Tractable: LatentModel {
    /// The posterior of the hidden part of one observation.
    type Posterior: Default + Send + Sync;

    /// Computes the posterior of observation `index`.
    fn posterior(view: &Self::View, batch: &Self::Batch, index: usize, out: &mut Self::Posterior);

    /// The expected statistics, summed over observations.
    fn collect(
        view: &Self::View,
        batch: &Self::Batch,
        posteriors: &[Self::Posterior],
        out: &mut Self::Statistics,
    );
}

/// One pass that leaves nothing to chance.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Exact;

impl<M: Tractable> LocalInference<M> for Exact {
    type Latent = M::Posterior;
    type Scratch = ();

    fn passes(&self) -> usize {
        1
    }

    fn first_kept(&self) -> usize {
        0
    }

    fn begin(&self, _: &M::View, _: &M::Batch, _: usize, _: &mut M::Posterior, _: Stream) {}

    fn advance(
        &self,
        view: &M::View,
        batch: &M::Batch,
        index: usize,
        posterior: &mut M::Posterior,
        (): &mut (),
        _: Passes,
    ) {
        M::posterior(view, batch, index, posterior);
    }

    fn collect(
        &self,
        view: &M::View,
        batch: &M::Batch,
        posteriors: &mut [M::Posterior],
        out: &mut M::Statistics,
    ) {
        M::collect(view, batch, posteriors, out);
    }
}
