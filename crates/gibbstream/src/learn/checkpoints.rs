//! When a run saves itself, and what it must know again.

use super::cost::Cost;
use crate::error::{Error, Result};
use crate::file::{CheckpointFolder, Model, RunState};
use serde::{Deserialize, Serialize};
use serde_json::Value;
use std::str::FromStr;
use std::time::{Duration, Instant};

/// When the next checkpoint is due.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum CheckpointEvery {
    /// After so much time.
    Time(Duration),
    /// After so many minibatches.
    Minibatches(u64),
}

impl FromStr for CheckpointEvery {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let split = text.len() - text.chars().last().map_or(0, char::len_utf8);
        let (number, unit) = text.split_at(split);
        let advice = "use seconds such as 60s, or minibatches such as 1000b";
        match unit {
            "s" => number
                .parse()
                .ok()
                .and_then(|seconds| Duration::try_from_secs_f64(seconds).ok())
                .map(Self::Time)
                .ok_or_else(|| advice.into()),
            "b" => match number.parse() {
                Ok(minibatches) if minibatches > 0 => Ok(Self::Minibatches(minibatches)),
                _ => Err(advice.into()),
            },
            _ => Err(advice.into()),
        }
    }
}

/// The checkpoints of a run.
pub struct Checkpoints {
    folder: CheckpointFolder,
    every: CheckpointEvery,
    saved_at: Instant,
    saved_update: u64,
}

impl Checkpoints {
    /// Checkpoints in a folder that was claimed.
    pub fn new(folder: CheckpointFolder, every: CheckpointEvery) -> Self {
        Self { folder, every, saved_at: Instant::now(), saved_update: 0 }
    }

    /// The same for a run that goes on after so many updates.
    pub(super) fn after(self, updates: u64) -> Self {
        Self { saved_update: updates, ..self }
    }

    /// Whether it is time to save, after `update` minibatches.
    pub(super) fn are_due(&self, update: u64) -> bool {
        match self.every {
            CheckpointEvery::Time(time) => self.saved_at.elapsed() >= time,
            CheckpointEvery::Minibatches(count) => update >= self.saved_update + count,
        }
    }

    pub(super) fn save(&mut self, model: &Model, run: &RunState) -> Result<()> {
        self.folder.save(model, run)?;
        (self.saved_at, self.saved_update) = (Instant::now(), model.clock().update);
        Ok(())
    }
}

/// What a run knows beside its model and its place in the stream.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Notes {
    /// Tokens of words outside of the vocabulary.
    pub unknown_tokens: u64,
    pub train_seconds: f64,
    pub train_cpu_seconds: f64,
    pub evaluations: Vec<Value>,
    pub log_bytes: u64,
    /// The result, word by word, once the run is over.
    pub report: Option<String>,
}

impl Notes {
    pub fn read(notes: &Value) -> Result<Self> {
        serde_json::from_value(notes.clone()).map_err(|error| {
            let problem = format!("the checkpoint was written by another program ({error})");
            Error::setting("resume", problem, "go on with the program that wrote it, or use another folder")
        })
    }

    pub fn cost(&self) -> Cost {
        let seconds = Duration::from_secs_f64;
        Cost { wall: seconds(self.train_seconds), cpu: seconds(self.train_cpu_seconds) }
    }

    pub fn with_cost(&self, cost: Cost) -> Self {
        let (train_seconds, train_cpu_seconds) = (cost.wall.as_secs_f64(), cost.cpu.as_secs_f64());
        Self { train_seconds, train_cpu_seconds, ..self.clone() }
    }
}
