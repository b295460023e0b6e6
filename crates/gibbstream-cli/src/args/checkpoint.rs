//! Where and how often a run saves itself.

use gibbstream::learn::CheckpointEvery;
use gibbstream::{Error, Result};
use std::path::PathBuf;
use std::time::Duration;

/// Checkpoints of a run.
#[derive(Clone, Debug, clap::Args)]
#[command(next_help_heading = "Checkpoints")]
pub struct CheckpointArgs {
    /// Write checkpoints to this folder, so that an interrupted run can be resumed; the newest three are kept
    #[arg(long, value_name = "DIR")]
    pub checkpoint: Option<PathBuf>,
    /// Interval between checkpoints: a time (60s) or a number of minibatches (1000b) [default: 60s]
    #[arg(long, value_name = "EVERY")]
    checkpoint_every: Option<CheckpointEvery>,
    /// Resume from the newest checkpoint; start from scratch if there is none
    #[arg(long)]
    pub resume: bool,
}

impl CheckpointArgs {
    /// How often, after refusing flags that mean nothing without a folder.
    pub fn every(&self) -> Result<CheckpointEvery> {
        let lonely = [("--resume", self.resume), ("--checkpoint-every", self.checkpoint_every.is_some())];
        if let (None, Some((flag, _))) = (&self.checkpoint, lonely.iter().find(|(_, given)| *given)) {
            let advice = "name the folder with --checkpoint DIR";
            return Err(Error::setting(*flag, "there is no folder for checkpoints", advice));
        }
        Ok(self.checkpoint_every.unwrap_or(CheckpointEvery::Time(Duration::from_secs(60))))
    }
}
