//! What happens in a run, for those who want to show it or write it down.

use super::batch::AnyBatch;
use super::held_out::Evaluated;
use super::prequential::{Change, ScoredMinibatch};
use super::training_run::TrainingRun;
use crate::error::Result;
use crate::model::topics::hdp::sticks::Birth;
use crate::learn::schedule::Step;

/// Something that happened.
#[derive(Clone, Copy)]
pub enum Event<'a> {
    /// A minibatch was learnt from.
    Learnt {
        /// The update.
        step: Step,
        /// The minibatch.
        batch: &'a AnyBatch<'static>,
        /// What it took.
        seconds: f64,
    },
    /// A topic was born in the minibatch.
    TopicBorn {
        /// Where and when.
        birth: &'a Birth,
        /// Its first words.
        words: &'a [&'a str],
    },
    /// Documents of the minibatch at hand were scored, and it has not been learnt from yet.
    Scored(&'a ScoredMinibatch),
    /// The stream has changed.
    Changed(&'a Change),
    /// What is held out was scored.
    Evaluated(&'a Evaluated),
    /// A checkpoint is on disk.
    CheckpointWritten,
    /// The time that the run was given is over.
    TimeUp,
}

/// Somebody who looks on.
pub trait Observer {
    /// Something happened in the run.
    fn notify(&mut self, _run: &TrainingRun, _event: &Event<'_>) -> Result<()> {
        Ok(())
    }

    /// Whether the run should end after the current minibatch.
    fn is_interrupted(&self) -> bool {
        false
    }

    /// Bytes of its log so far. Checkpoints keep it: what comes after it belongs to minibatches that will be learnt from
    /// again.
    fn log_bytes(&self) -> u64 {
        0
    }
}

/// Nobody looks on.
impl Observer for () {}
