//! Finding the checkpoints of a run again.

use crate::args::checkpoint::CheckpointArgs;
use crate::output::Output;
use gibbstream::Error;
use gibbstream::file::{Checkpoint, CheckpointFolder, upgraded_request};
use gibbstream::learn::{Checkpoints, Mode, Settings, knobs};
use serde_json::{Value, json};
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
    let mut before = upgraded_request(before.clone());
    if let Some(settings) = settings(&before) {
        // With the fields that have come since.
        before["settings"] = json!(settings);
    }
    let is_old = before["input"]["tokenizer"].is_object() && before["input"]["tokenizer"]["rules"].is_null();
    let before = if is_old { with_words_of_today(before, now) } else { before };
    let knobs = settings(&before).zip(settings(now)).map(|(before, now)| knobs::changes(&before, &now));
    let Some(change) = knobs.into_iter().flatten().chain(changes(&before, now)).next() else { return Ok(()) };
    Err(Error::setting(
        "--resume",
        format!("the run in {} was started differently ({change})", folder.display()),
        "use the same settings as before, or another folder",
    ))
}

fn settings(request: &Value) -> Option<Settings> {
    serde_json::from_value(request["settings"].clone()).ok()
}

/// What a run was begun for: a file, unless it says otherwise.
pub fn mode_of(request: &Value) -> Mode {
    settings(&upgraded_request(request.clone())).map_or(Mode::File, |settings| settings.mode)
}

/// Runs that began when there was less to choose keep the words that they have: only what could be chosen then is compared.
fn with_words_of_today(mut before: Value, now: &Value) -> Value {
    let mut overlay = |place: &[&str], known: &[&str]| {
        let (mut old, mut new) = (&mut before, now);
        for name in place {
            (old, new) = (&mut old[name], &new[name]);
        }
        let mut today = new.clone();
        for name in known {
            today[name] = old[name].clone();
        }
        *old = today;
    };
    let adapts = |name: &str| now["words"]["adaptive"][name] == true;
    overlay(&["input", "tokenizer"], &["lowercase", "min_length", "ngrams"]);
    if now["words"].is_object() {
        let told = ["min_documents", "max_document_share"].into_iter().filter(|name| !adapts(name));
        overlay(&["words"], &told.chain(["max_words"]).collect::<Vec<_>>());
    }
    before
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
