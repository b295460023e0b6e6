//! `serve`: the service, thin around the crate that is it.

use super::train::{checkpoints, words_of_stream};
use crate::Outcome;
use crate::args::serve::ServeArgs;
use crate::args::{self, General};
use crate::interrupt::Interrupt;
use crate::output::Output;
use gibbstream::Error;
use gibbstream::file::{Checkpoint, CheckpointFolder, Model, replace};
use gibbstream::learn::Mode;
use gibbstream::learn::knobs::changes;
use gibbstream_server::{Learning, Service, Source, Tokens, serve, start_logging};
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use std::path::{Path, PathBuf};
use tracing::Level;

/// What a folder remembers of how it was begun.
#[derive(Serialize, Deserialize)]
struct Begun {
    schema: String,
    /// The flags of `train`.
    flags: Vec<String>,
    /// What they amount to.
    request: Value,
}

const BEGUN_SCHEMA: &str = "gibbstream/service/1";

/// Runs the command.
pub fn run(
    args: &ServeArgs,
    general: &General,
    output: &Output,
    interrupt: &Interrupt,
) -> anyhow::Result<Outcome> {
    args.check()?;
    start_logging(
        if general.verbose {
            Level::DEBUG
        } else if general.quiet {
            Level::ERROR
        } else {
            Level::INFO
        },
        general.json,
    );
    let security = &args.security;
    let tokens = Tokens::load(security.token_file.as_deref(), security.read_token_file.as_deref())?;
    if security.token_file.is_none() && security.read_token_file.is_some() && !args.read_only {
        let advice = "name a file for that token with --token-file, or use --read-only";
        return Err(Error::setting("--read-token-file", "nobody could send documents", advice).into());
    }
    let source = if args.read_only { read_only(args)? } else { learning(args, general, output)? };
    let service = Service {
        source,
        listen: args.listen,
        limits: args.limits(),
        fsync: args.fsync,
        retention: args.retention(),
        tokens,
        hosts: security.allow_host.clone(),
        origins: security.allow_origin.clone(),
        threads: general.threads,
        seed: general.seed,
    };
    interrupt.defer();
    let ready = |address: std::net::SocketAddr| {
        output.note(format_args!("listening on http://{address}"));
        if output.json {
            // Whoever started it with port 0 waits for this line; if nobody reads it, that is no reason to end.
            let _ = output.print_json(&json!({ "schema": "gibbstream/serve/1", "address": address }));
        }
    };
    serve(service, ready, || interrupt.received().is_some())?;
    Ok(interrupt.received().map_or(Outcome::Done, Outcome::Interrupted))
}

/// The model to answer questions about.
fn read_only(args: &ServeArgs) -> gibbstream::Result<Source> {
    let path = match (&args.train.continued, &args.data) {
        (Some(model), _) => model.clone(),
        (None, Some(data)) => newest_model(data)?,
        (None, None) => {
            let advice = "name it with --continue MODEL, or a folder of a service with --data DIR";
            return Err(Error::setting("--read-only", "there is no model to answer questions about", advice));
        }
    };
    let model = Model::load(&path)?;
    if !model.settings.model.has_topics() {
        let problem = format!("a {} has no topics", model.settings.model.name());
        return Err(Error::setting(path.display().to_string(), problem, "use a topic model"));
    }
    Ok(Source::ReadOnly(Box::new(model)))
}

/// The newest checkpoint of a service, which may be running.
fn newest_model(data: &Path) -> gibbstream::Result<PathBuf> {
    let folder = data.join("checkpoints");
    let entries = folder.read_dir().map_err(|source| Error::io(&folder, "read", source))?;
    let is_model = |path: &PathBuf| path.extension().is_some_and(|ending| ending == "gbs");
    let newest = entries.filter_map(|entry| Some(entry.ok()?.path())).filter(is_model).max();
    newest.ok_or_else(|| {
        let advice = "let the service learn first, or name a model with --continue";
        Error::setting(data.display().to_string(), "there is no checkpoint in it", advice)
    })
}

/// A service that learns: begun with the flags that were given, or going on with those that its folder remembers.
fn learning(args: &ServeArgs, general: &General, output: &Output) -> anyhow::Result<Source> {
    let Some(data) = &args.data else {
        let advice = "name a folder for log, checkpoints and model with --data DIR";
        return Err(Error::setting("--data", "there is no place for the documents", advice).into());
    };
    let file = data.join("service.json");
    let begun = read_begun(&file)?;
    let again = begun.as_ref().filter(|_| args.words.is_empty());
    let mut train = match again {
        Some(begun) => args::parse_service(&begun.flags)?.train,
        None => args.train.clone(),
    };
    let folder = CheckpointFolder::claim(&data.join("checkpoints"))?;
    let found = folder.newest(|damaged| output.warn(format_args!("{damaged}; skipped")))?;
    train.input.inputs = vec!["-".into()];
    // Where everything goes is known.
    train.out = Some(data.join("model.gbs"));
    train.checkpoints.checkpoint = Some(data.join("checkpoints"));
    let base = match (&found, &train.continued) {
        (Some(Checkpoint { model, .. }), Some(_)) => Some(model.clone()),
        (None, Some(path)) => Some(Model::load(path)?),
        (_, None) => None,
    };
    let mode = begun.as_ref().map_or(Mode::Stream, |begun| checkpoints::mode_of(&begun.request));
    let mut plan = train.plan(general, base.as_ref(), Some(mode))?;
    if !plan.settings.model.has_topics() {
        let problem = format!("a service learns topics, not a {}", plan.settings.model.name());
        return Err(Error::setting("--model", problem, "use lda or hdp").into());
    }
    let request = plan.request(&train);
    if let Some(begun) = &begun {
        checkpoints::check_request(data, &begun.request, &request)?;
    }
    let features = words_of_stream(&mut plan, &train, base.as_ref(), output)?;
    if begun.is_none() {
        let begun =
            Begun { schema: BEGUN_SCHEMA.into(), flags: args.words.clone(), request: request.clone() };
        replace(&file, format!("{:#}\n", json!(begun)).as_bytes())?;
    }
    let changes = base.as_ref().map_or_else(Vec::new, |base| changes(&base.settings, &plan.settings));
    let learning = Learning {
        checkpoint_every: train.checkpoints.every()?,
        settings: plan.settings,
        features,
        inputs: plan.inputs,
        base: base.filter(|_| found.is_none()),
        changes,
        held_out: plan.holdout,
        eval_every: plan.eval_every,
        max_wait: args.max_wait,
        request,
        threads: general.threads,
        folder,
        found,
    };
    Ok(Source::Learning(Box::new(learning), data.clone()))
}

fn read_begun(file: &Path) -> gibbstream::Result<Option<Begun>> {
    let text = match std::fs::read(file) {
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(None),
        text => text.map_err(|source| Error::io(file, "read", source))?,
    };
    let begun: Result<Begun, _> = serde_json::from_slice(&text);
    match begun {
        Ok(begun) if begun.schema == BEGUN_SCHEMA => Ok(Some(begun)),
        _ => {
            let problem = "it does not say how the service was begun";
            Err(Error::setting(
                file.display().to_string(),
                problem,
                "put it back from a copy, or use another folder",
            ))
        }
    }
}
