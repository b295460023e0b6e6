//! Finding the checkpoints of a run again.

use crate::args::checkpoint::CheckpointArgs;
use crate::output::Output;
use gibbstream::Error;
use gibbstream::file::{Checkpoint, CheckpointFolder, upgraded_request};
use gibbstream::learn::{Checkpoints, Settings, knobs};
use serde_json::Value;
use std::path::Path;

/// Claims the folder, if one is named, and finds where to go on.
pub fn open(
    args: &CheckpointArgs,
    output: &Output,
) -> gibbstream::Result<(Option<Checkpoints>, Option<Checkpoint>)> {
    let every = args.every()?;
    let Some(path) = &args.checkpoint else { return Ok((None, None)) };
    let folder = CheckpointFolder::claim(path)?;
    if !args.resume && !folder.is_empty()? {
        return Err(Error::setting(
            "--checkpoint",
            format!("{} holds checkpoints already", path.display()),
            "continue from them with --resume, or use another folder",
        ));
    }
    let found = folder.newest(|damaged| output.warn(format_args!("{damaged}; skipped")))?;
    Ok((Some(Checkpoints::new(folder, every)), found))
}

/// Refuses to go on with something else than what was asked for before.
pub fn check_request(folder: &Path, before: &Value, now: &Value) -> gibbstream::Result<()> {
    let settings = |request: &Value| serde_json::from_value::<Settings>(request["settings"].clone()).ok();
    let before = upgraded_request(before.clone());
    let knobs = settings(&before).zip(settings(now)).map(|(before, now)| knobs::changes(&before, &now));
    let Some(change) = knobs.into_iter().flatten().chain(changes(&before, now)).next() else { return Ok(()) };
    Err(Error::setting(
        "--resume",
        format!("the run in {} was started differently ({change})", folder.display()),
        "ask for the same as before, or use another folder",
    ))
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
