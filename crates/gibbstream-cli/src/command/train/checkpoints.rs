//! Saving a run while it goes on, and finding it again.

use crate::args::checkpoint::{CheckpointArgs, Every};
use crate::output::Output;
use gibbstream::Error;
use gibbstream::checkpoint::{Checkpoint, CheckpointFolder, Saved};
use gibbstream::learn::{Settings, knobs};
use gibbstream::model_file::Run;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use std::path::PathBuf;
use std::time::Instant;

/// What a run knows beside its model and its place in the input.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Notes {
    /// Tokens of words outside of the vocabulary.
    pub unknown_tokens: u64,
    pub train_seconds: f64,
    pub train_cpu_seconds: f64,
    pub evaluations: Vec<Value>,
    /// What comes after it in the log belongs to minibatches that will be learnt from again.
    pub log_bytes: u64,
    /// The result, word by word, once the run is over.
    pub report: Option<String>,
}

/// The checkpoints of a run.
pub struct Checkpoints {
    folder: CheckpointFolder,
    path: PathBuf,
    every: Every,
    saved_at: Instant,
    saved_update: u64,
}

impl Checkpoints {
    /// Claims the folder, if one is named, and finds where to go on.
    pub fn open<M: Saved>(
        args: &CheckpointArgs,
        output: &Output,
    ) -> anyhow::Result<(Option<Self>, Option<Checkpoint<M>>)> {
        let every = args.every()?;
        let Some(path) = &args.checkpoint else { return Ok((None, None)) };
        let folder = CheckpointFolder::claim(path)?;
        if !args.resume && !folder.is_empty()? {
            return Err(Error::setting(
                "--checkpoint",
                format!("{} holds checkpoints already", path.display()),
                "go on from them with --resume, or use another folder",
            )
            .into());
        }
        let found = folder.newest::<M>(|damaged| output.warn(format_args!("{damaged}; passed over")))?;
        let saved_update = found.as_ref().map_or(0, |found| found.model.updates());
        let this = Self { folder, path: path.clone(), every, saved_at: Instant::now(), saved_update };
        Ok((Some(this), found))
    }

    /// Refuses to go on with something else than what was asked for before.
    pub fn check_request(&self, before: &Value, now: &Value) -> gibbstream::Result<()> {
        let settings = |request: &Value| serde_json::from_value::<Settings>(request["settings"].clone()).ok();
        let knobs = settings(before).zip(settings(now)).map(|(before, now)| knobs::changes(&before, &now));
        let all = knobs.into_iter().flatten().chain(changes(before, now));
        let Some(change) = all.into_iter().next() else { return Ok(()) };
        Err(Error::setting(
            "--resume",
            format!("the run in {} was started differently ({change})", self.path.display()),
            "ask for the same as before, or use another folder",
        ))
    }

    /// Whether it is time to save, after `update` minibatches.
    pub fn are_due(&self, update: u64) -> bool {
        match self.every {
            Every::Time(time) => self.saved_at.elapsed() >= time,
            Every::Minibatches(count) => update >= self.saved_update + count,
        }
    }

    /// Adds a checkpoint.
    pub fn save(&mut self, model: &impl Saved, run: &Run) -> gibbstream::Result<()> {
        self.folder.save(model, run)?;
        (self.saved_at, self.saved_update) = (Instant::now(), model.updates());
        Ok(())
    }

    /// The folder as the user named it.
    pub fn path(&self) -> impl std::fmt::Display + '_ {
        self.path.display()
    }
}

/// What is different, such as `passes: 1 -> 2`, in the order of names.
fn changes(before: &Value, now: &Value) -> Vec<String> {
    let mut found = Vec::new();
    compare("", before, now, &mut found);
    found
}

fn compare(name: &str, before: &Value, now: &Value, found: &mut Vec<String>) {
    match (before, now) {
        (Value::Object(a), Value::Object(b)) => {
            let names: std::collections::BTreeSet<&String> = a.keys().chain(b.keys()).collect();
            for key in names {
                let of =
                    |object: &serde_json::Map<String, Value>| object.get(key).cloned().unwrap_or_default();
                let dot = if name.is_empty() { "" } else { "." };
                compare(&format!("{name}{dot}{key}"), &of(a), &of(b), found);
            }
        }
        _ if before == now => {}
        _ => found.push(format!("{name}: {before} -> {now}")),
    }
}
