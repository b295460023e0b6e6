//! `train`: learns from documents or rows of numbers and writes a model.

pub mod checkpoints;

mod dry_run;

mod log;

mod prepare;

mod report;

mod start;

mod watch;

use crate::Outcome;
use crate::args::General;
use crate::args::input::report_bad;
use crate::args::train::{Plan, TrainArgs};
use crate::interrupt::{Interrupt, Signal};
use crate::output::{Output, count};
pub use dry_run::expected_speed;
use gibbstream::Error;
use gibbstream::corpus::Inputs;
use gibbstream::explore::report::Label;
use gibbstream::file::{Destination, Kind, Model};
use gibbstream::learn::{Ended, FitOptions, Observer, TrainingRun, observations};
use log::Log;
pub use prepare::{Prepared, words_of_stream};
use report::Report;
use start::Start;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};
use watch::Watch;

/// Runs the command.
pub fn run(
    args: &TrainArgs,
    general: &General,
    output: &Output,
    interrupt: &Interrupt,
) -> anyhow::Result<Outcome> {
    if args.dry_run {
        let base = args.continued.as_deref().map(Model::load).transpose()?;
        let mut plan = args.plan(general, base.as_ref(), None)?;
        let inputs = plan.inputs.clone().resolve()?;
        let prepared = Prepared::new(inputs, &mut plan, args, base.as_ref(), output)?;
        return dry_run::run(&plan, &prepared, general, output);
    }
    let places = Places::new(args, general);
    let (checkpoints, found) = checkpoints::open(&args.checkpoints, output)?;
    let start = Start::new(args, found)?;
    let begun = start.run.as_ref().map(|state| checkpoints::mode_of(&state.request));
    let mut plan = args.plan(general, start.continued(), begun)?;
    let request = plan.request(args);
    if let (Some(folder), Some(state)) = (&args.checkpoints.checkpoint, &start.run) {
        checkpoints::check_request(folder, &state.request, &request)?;
        if state.finished {
            return finished_before(&places, &start, output);
        }
        output.note(format_args!("going on after {} minibatches", count(start.updates())));
    }
    let inputs = Inputs { read_before: start.read_before(&plan), ..plan.inputs.clone() }.resolve()?;
    inputs.notices().iter().for_each(|notice| output.warn(notice));
    places.check(&inputs.files())?;
    if !prepare::wait_for_language(&inputs, &plan, start.model.as_ref(), interrupt)? {
        return Ok(interrupt.received().map_or(Outcome::Done, |signal| before_learning(signal, output)));
    }
    let prepared = Prepared::new(inputs, &mut plan, args, start.model.as_ref(), output)?;
    let log_bytes = start.run.as_ref().map_or(0, |state| state.notes["log_bytes"].as_u64().unwrap_or(0));
    let log = places.log.as_ref().map(|place| Log::open(place, log_bytes)).transpose()?;
    let run = start.begin(&plan, &prepared, general.threads)?.with_inputs(prepared.source.inputs.clone());
    let mut run = run.with_checkpoints(checkpoints, request);
    run.stop_with(interrupt.stop());
    interrupt.defer();
    let max_seconds = plan.max_seconds;
    let mut watch = Watch {
        output,
        interrupt,
        log,
        started: Instant::now(),
        max_seconds,
        scored: None,
        empty_documents: 0,
    };
    let ended = learn(&mut run, &plan, &prepared, &mut watch)?;
    if ended != Ended::Finished {
        run.save_checkpoint(&mut watch)?;
    }
    let signal = interrupt.received().filter(|_| ended == Ended::Interrupted);
    Finish { args, places: &places, plan: &plan, prepared: &prepared, output, signal }.run(run, ended)
}

/// Where the model and the log go.
struct Places {
    out: Option<Destination>,
    log: Option<Destination>,
}

impl Places {
    fn new(args: &TrainArgs, general: &General) -> Self {
        let place = |path: &PathBuf, kind| Destination::new(path, kind, general.force);
        Self {
            out: args.out.as_ref().map(|path| place(path, Kind::MODEL)),
            log: args.log.as_ref().map(|path| place(path, Kind::LOG)),
        }
    }

    /// Refuses what must not be written to, before any work is done for it.
    fn check(&self, inputs: &[PathBuf]) -> gibbstream::Result<()> {
        self.out.as_ref().map_or(Ok(()), |out| out.check(inputs))?;
        self.log.as_ref().map_or(Ok(()), |log| log.check_beside(inputs))?;
        match (&self.out, &self.log) {
            (Some(out), Some(log)) if out.path() == log.path() && !is_device(out.path()) => {
                let problem = "cannot hold both the model and the log";
                Err(Error::output(log.path(), problem, "name two files"))
            }
            _ => Ok(()),
        }
    }
}

/// Whether something is there that is no file, which any number of things can be written to.
fn is_device(path: &Path) -> bool {
    path.metadata().is_ok_and(|found| !found.is_file())
}

/// A run that is over is not done again: it gives the same answer.
fn finished_before(places: &Places, start: &Start, output: &Output) -> anyhow::Result<Outcome> {
    if let (Some(out), Some(model)) = (&places.out, &start.model)
        && !out.path().exists()
    {
        model.save_to(out)?;
    }
    output.note("this run has finished before; nothing is left to do");
    let report = start.run.as_ref().and_then(|state| state.notes["report"].as_str());
    if let (true, Some(report)) = (output.json, report) {
        output.print_line(report.to_owned())?;
    }
    Ok(Outcome::Done)
}

/// Learns until the input ends, the time is up, or a signal comes.
fn learn(
    run: &mut TrainingRun,
    plan: &Plan,
    prepared: &Prepared,
    watch: &mut Watch<'_>,
) -> anyhow::Result<Ended> {
    let output = watch.output;
    let total = prepared.documents.map(|documents| documents.saturating_mul(plan.passes));
    let options = FitOptions {
        passes: plan.passes,
        held_out: plan.holdout,
        eval_every: plan.eval_every,
        time_limit: Duration::try_from_secs_f64(plan.max_seconds).ok(),
    };
    let source = prepared.source.clone();
    output.progress.start("training", source.unit(), total);
    let ended = run.fit(move |words| source.read_entering(words), &options, watch)?;
    output.progress.finish();
    if run.has_learnt() && !plan.seeds.topics().is_empty() {
        run.set_labels(&seed_labels(plan))?;
    }
    let is_shown = ended == Ended::Finished && run.has_learnt() && plan.settings.model.has_topics();
    let ended = if is_shown { show_words(run, plan, prepared, watch) } else { ended };
    if watch.empty_documents > 0 {
        let empty = count(watch.empty_documents / plan.passes.max(1));
        output.note(format_args!("{empty} documents have no word of the vocabulary and were not used"));
    }
    if run.unknown_tokens() > 0 {
        let unknown = count(run.unknown_tokens());
        output.detail(format_args!("{unknown} tokens outside the vocabulary were left out"));
    }
    Ok(ended)
}

/// The labels of topics with seeds.
fn seed_labels(plan: &Plan) -> BTreeMap<u32, Label> {
    let labels = plan.seeds.topics().iter().map(|topic| topic.label.clone()).enumerate();
    let label = |(topic, label)| (topic as u32, Label { label, ..Label::default() });
    labels.filter(|(_, label)| label.is_some()).map(label).collect()
}

/// Finds which words of the topics go together, if the documents can be read again. What was learnt is never lost for it:
/// documents that cannot be read any more are only told, and a signal ends it, so that a resumed run does it again.
fn show_words(run: &mut TrainingRun, plan: &Plan, prepared: &Prepared, watch: &Watch<'_>) -> Ended {
    let inputs = prepared.source.inputs.counting_apart();
    if inputs.is_read_once() || plan.inputs.follow {
        return Ended::Finished;
    }
    let unless_stopped = |document| if watch.is_interrupted() { Err(Error::Stopped) } else { document };
    let documents = observations(inputs.documents(&run.features().vocabulary())).map(unless_stopped);
    match run.show_words_of(documents.skip(plan.holdout), prepared.documents.unwrap_or(0)) {
        Ok(()) => Ended::Finished,
        Err(Error::Stopped) => Ended::Interrupted,
        Err(error) => {
            let error = error.spelled(crate::args::spelling);
            watch.output.warn(format_args!(
                "the model is complete, but words of topics are shown by probability alone, because the documents could \
                 not be read again: {error}"
            ));
            Ended::Finished
        }
    }
}

/// Says that there is nothing to save.
fn before_learning(signal: Signal, output: &Output) -> Outcome {
    output.note(format_args!("{signal} arrived before the first minibatch was learnt, so there is no model"));
    Outcome::Interrupted(signal)
}

/// Saves what was learnt and says what there is to say.
struct Finish<'a> {
    args: &'a TrainArgs,
    places: &'a Places,
    plan: &'a Plan,
    prepared: &'a Prepared,
    output: &'a Output,
    signal: Option<Signal>,
}

impl Finish<'_> {
    fn run(&self, mut run: TrainingRun, ended: Ended) -> anyhow::Result<Outcome> {
        let (output, signal) = (self.output, self.signal);
        if !run.has_learnt() {
            if let Some(signal) = signal {
                return Ok(before_learning(signal, output));
            }
            let problem = "all documents are held out, and none is left for training";
            return Err(Error::setting("--holdout", problem, "hold fewer out").into());
        }
        report::warn_about(run.trainer(), self.plan, output);
        report_bad(&self.prepared.source.inputs, output);
        // A checkpoint holds the model so far already.
        let out = self.places.out.as_ref().filter(|_| signal.is_none() || run.checkpoints().is_none());
        let hash = run.lend(|model| {
            out.map_or(Ok(()), |out| model.save_to(out))?;
            Ok(model.hash())
        })?;
        if let Some(signal) = signal {
            let stopped =
                format!("{signal}: stopped after {} minibatches", count(run.trainer().clock().update));
            output.note(match (&self.args.checkpoints.checkpoint, out) {
                (Some(folder), _) => {
                    format!("{stopped}; a checkpoint is in {}: continue with --resume", folder.display())
                }
                (None, Some(out)) => format!("{stopped}; the model so far is in {}", out.path().display()),
                (None, None) => format!("{stopped}; no model was asked for with --out"),
            });
        }
        let bad_records = self.prepared.source.inputs.bad_records();
        let report = Report::new(&run, (self.plan.passes, self.prepared), hash, bad_records, signal, output);
        let line = serde_json::to_string(&report)?;
        if ended == Ended::Finished {
            run.finish(line.clone())?;
        }
        if output.json {
            output.print_line(line)?;
        } else {
            report.summarise(output, out.filter(|_| signal.is_none()).map(Destination::path));
        }
        Ok(signal.map_or(Outcome::Done, Outcome::Interrupted))
    }
}
