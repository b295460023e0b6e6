//! Learning from minibatches whose E-step runs in other processes.

use super::TrainingRun;
use crate::error::{Error, Result};
use crate::learn::learner::Gathered;
use crate::learn::minibatches::CutMinibatch;
use crate::learn::observer::Observer;
use crate::learn::schedule::Step;

impl TrainingRun {
    /// The parameters for a minibatch, as bytes. The first minibatch makes the random start.
    pub fn view_bytes(&mut self, cut: &CutMinibatch) -> Result<Vec<u8>> {
        if self.features.open().is_some() {
            let problem = "words enter the vocabulary in the order of the stream, so one process must read them";
            return Err(Error::setting("vocab-mode", problem, "use a fixed vocabulary"));
        }
        self.trainer.view_bytes(&cut.batch)
    }

    /// Learns from the statistics of all blocks of a minibatch and tells the observer. If something was learnt since
    /// their view was made, the view must be given.
    pub fn absorb(
        &mut self,
        cut: &CutMinibatch,
        blocks: Box<dyn Gathered>,
        stale_view: Option<&[u8]>,
        observer: &mut dyn Observer,
    ) -> Result<Step> {
        let (found, expected) = (blocks.weight(), cut.batch.len() as u64);
        if found != expected {
            let problem = format!("they are of {found} observations, and the minibatch has {expected}");
            return Err(Error::setting("statistics", problem, "count every block once"));
        }
        self.learn_by(cut, observer, |trainer| trainer.absorb(blocks, stale_view))
    }
}
