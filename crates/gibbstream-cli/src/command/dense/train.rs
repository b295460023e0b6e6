//! `train` for models of rows of numbers: reads, learns, scores, saves.

use crate::Outcome;
use crate::args::General;
use crate::args::input::report_bad;
use crate::args::train::TrainArgs;
use crate::command::train::checkpoints::{Checkpoints, Notes};
use crate::command::train::log::Log;
use crate::command::train::prepare::check_place;
use crate::command::train::start::seen_before;
use crate::interrupt::{Interrupt, Signal};
use crate::measure::{Cost, peak_rss_mib};
use crate::output::{FAINT, Output, STRONG, count};
use crate::stream::Feed;
use gibbstream::checkpoint::Checkpoint;
use gibbstream::corpus::{NumericRows, ResolvedInputs, Row, Tokenizer};
use gibbstream::dense::{DenseModel, DenseTrainer, Scoring};
use gibbstream::evaluation::annealed::Annealed;
use gibbstream::learn::Settings;
use gibbstream::learn::knobs::changes;
use gibbstream::model_file::{Event, Run};
use gibbstream::{Error, Result};
use serde_json::{Value, json};
use std::time::{Duration, Instant};

/// Minibatches that are read in advance.
const AHEAD: usize = 2;

/// Work for each observation that is scored while training.
const EFFORT: Annealed = Annealed { particles: 10, heats: 30 };

/// Runs the command.
pub fn run(
    args: &TrainArgs,
    general: &General,
    output: &Output,
    interrupt: &Interrupt,
) -> anyhow::Result<Outcome> {
    let (checkpoints, found) = Checkpoints::open::<DenseModel>(&args.checkpoints, output)?;
    let base = args.continued.as_deref().map(DenseModel::load).transpose()?;
    let mut settings = args.dense_settings(base.as_ref())?;
    let passes = check(args, general)?;
    let request = json!({
        "settings": settings,
        "continue": args.continued,
        "input": args.input.with(Tokenizer::default())?,
        "passes": passes,
        "holdout": args.holdout,
    });
    if let (Some(checkpoints), Some(found)) = (&checkpoints, &found) {
        checkpoints.check_request(&found.run.request, &request)?;
        if found.run.finished {
            return finished_before(args, found, output);
        }
        output.note(format_args!("going on after {} minibatches", count(found.model.clock.update)));
    }
    args.out.iter().chain(&args.log).try_for_each(|path| check_place(path))?;
    let mut inputs = args.input.with(Tokenizer::default())?.resolve()?;
    if passes > 1 && inputs.is_read_once() {
        output.note("this input must be read more than once, so it is copied to a temporary file first");
        inputs.spool()?;
    }
    let known = found.as_ref().map(|found| &found.model).or(base.as_ref());
    let columns = known.map(|model| model.columns.as_slice());
    let rows = NumericRows::new(&inputs, settings.model.domain(), columns)?;
    settings.features = rows.columns().len();
    if args.dry_run {
        return dry_run(&settings, &rows, passes, general, output);
    }
    let mut training = Training::new(args, general, output, settings, &rows, found, base)?;
    (training.checkpoints, training.request) = (checkpoints, request);
    interrupt.defer();
    let signal = training.learn(args, rows, passes, interrupt)?;
    training.finish(signal, args, &inputs)
}

/// Refuses what makes no sense; the number of passes.
fn check(args: &TrainArgs, general: &General) -> Result<u64> {
    let refuse = |flag: &str, problem: &str, advice: &str| Err(Error::setting(flag, problem, advice));
    if args.passes == Some(0) {
        return refuse("--passes", "0 passes would learn nothing", "use at least 1");
    }
    if args.max_seconds.is_some_and(|seconds| seconds.is_nan() || seconds <= 0.0) {
        return refuse("--max-seconds", "this leaves no time to learn", "use a positive number of seconds");
    }
    if args.eval_every == Some(0) {
        return refuse("--eval-every", "0 is not a number of minibatches", "use at least 1");
    }
    if args.eval_every.is_some() && args.holdout == 0 {
        return refuse("--eval-every", "there are no rows to score", "keep some aside with --holdout N");
    }
    if args.out.is_none() && !args.dry_run && !general.json {
        let advice = "name a file for it with --out, for example --out model.gbs";
        return refuse("--out", "the model would be lost", advice);
    }
    Ok(args.passes.unwrap_or(1))
}

/// A run that is over is not done again: it gives the same answer.
fn finished_before(
    args: &TrainArgs,
    found: &Checkpoint<DenseModel>,
    output: &Output,
) -> anyhow::Result<Outcome> {
    if let Some(out) = args.out.as_ref().filter(|out| !out.exists()) {
        found.model.save(out)?;
    }
    output.note("this run has finished before; nothing is left to do");
    if let (true, Some(report)) = (output.json, found.run.notes["report"].as_str()) {
        output.print_line(report.to_owned())?;
    }
    Ok(Outcome::Done)
}

fn dry_run(
    settings: &Settings,
    rows: &NumericRows,
    passes: u64,
    general: &General,
    output: &Output,
) -> anyhow::Result<Outcome> {
    DenseTrainer::new(settings.clone(), general.threads)?;
    let plan = json!({
        "schema": "gibbstream/train-plan/1",
        "model": settings.model.name(),
        "method": settings.name,
        "settings": settings,
        "topics": settings.components,
        "vocabulary": settings.features,
        "columns": rows.columns(),
        "passes": passes,
        "batch": settings.batch,
        "seed": settings.seed.0,
        "threads": general.threads,
    });
    if output.json {
        output.print_json(&plan)?;
    } else {
        output.print(&format!("{STRONG}would learn{STRONG:#} {plan:#}\n"))?;
    }
    Ok(Outcome::Done)
}

/// A part of the stream as training takes it.
enum Portion {
    /// Rows at the beginning that are kept aside.
    HeldOut(Vec<Row>),
    /// Rows to learn from, the pass, and how many rows of it have been handed out, these included.
    Lesson(Vec<f64>, u64, u64),
}

/// Where to begin and how to cut.
#[derive(Clone, Copy)]
struct Course {
    held_out: usize,
    batch: usize,
    passes: u64,
    /// The pass, and the rows of it that have been learnt from before.
    start: (u64, u64),
}

/// Cuts passes over the rows into portions. Rows that are kept aside come first, and once.
fn portions(rows: NumericRows, course: Course) -> impl Iterator<Item = Result<Portion>> + Send {
    (course.start.0..course.passes).flat_map(move |pass| {
        let is_first = pass == course.start.0;
        let learnt = if is_first { course.start.1 } else { 0 };
        let mut reading = rows.read();
        let aside = reading.by_ref().take(course.held_out).collect::<Result<Vec<Row>>>();
        let is_handed_out = aside.is_err() || (is_first && course.held_out > 0);
        let aside = is_handed_out.then(|| aside.map(Portion::HeldOut));
        let mut reading = reading.skip(learnt as usize);
        let mut taken = learnt;
        aside.into_iter().chain(std::iter::from_fn(move || {
            let some = reading.by_ref().take(course.batch).collect::<Result<Vec<Row>>>();
            if some.as_ref().is_ok_and(Vec::is_empty) {
                return None;
            }
            Some(some.map(|some| {
                taken += some.len() as u64;
                Portion::Lesson(some.into_iter().flat_map(|row| row.values).collect(), pass, taken)
            }))
        }))
    })
}

/// A run in progress.
struct Training<'a> {
    trainer: DenseTrainer,
    columns: Vec<String>,
    history: Vec<Event>,
    event: Event,
    cost: Cost,
    held_out: Vec<Row>,
    evaluations: Vec<Value>,
    log: Option<Log>,
    checkpoints: Option<Checkpoints>,
    request: Value,
    output: &'a Output,
    general: &'a General,
    started: Instant,
    position: (u64, u64),
    /// Whether the end of the input was not reached.
    is_cut_short: bool,
}

impl<'a> Training<'a> {
    fn new(
        args: &TrainArgs,
        general: &'a General,
        output: &'a Output,
        settings: Settings,
        rows: &NumericRows,
        found: Option<Checkpoint<DenseModel>>,
        base: Option<DenseModel>,
    ) -> anyhow::Result<Self> {
        let fresh = Event {
            version: env!("CARGO_PKG_VERSION").to_owned(),
            action: if base.is_some() { "continue" } else { "train" }.to_owned(),
            inputs: args.input.inputs.iter().map(|path| path.display().to_string()).collect(),
            documents: 0,
            tokens: 0,
            changes: base.as_ref().map_or_else(Vec::new, |base| changes(&base.settings, &settings)),
        };
        let (model, run) = match found {
            Some(Checkpoint { model, run }) => (Some(model), Some(run)),
            None => (base, None),
        };
        let mut history = model.as_ref().map_or_else(Vec::new, |model| model.history.clone());
        // A checkpoint ends with what is still going on.
        let event = run.as_ref().and_then(|_| history.pop()).unwrap_or(fresh);
        let notes: Notes = match &run {
            Some(run) => serde_json::from_value(run.notes.clone())?,
            None => Notes::default(),
        };
        let trainer = match &model {
            Some(model) => model.trainer(settings, general.threads)?,
            None => DenseTrainer::new(settings, general.threads)?,
        };
        Ok(Self {
            trainer,
            columns: rows.columns().to_vec(),
            history,
            event,
            cost: Cost {
                wall: Duration::from_secs_f64(notes.train_seconds),
                cpu: Duration::from_secs_f64(notes.train_cpu_seconds),
            },
            held_out: Vec::new(),
            evaluations: notes.evaluations,
            log: args.log.as_deref().map(|path| Log::open(path, notes.log_bytes)).transpose()?,
            checkpoints: None,
            request: Value::Null,
            output,
            general,
            started: Instant::now(),
            position: run.map_or((0, 0), |run| (run.pass, run.documents)),
            is_cut_short: false,
        })
    }

    /// Learns until the rows end, the time is up, or a signal comes.
    fn learn(
        &mut self,
        args: &TrainArgs,
        rows: NumericRows,
        passes: u64,
        interrupt: &Interrupt,
    ) -> anyhow::Result<Option<Signal>> {
        let (held_out, batch) = (args.holdout, self.trainer.settings().batch.most);
        let course = Course { held_out, batch, passes, start: self.position };
        let mut feed = Feed::start(portions(rows, course), AHEAD)?;
        self.output.progress.start("training", "observations", None);
        let (before, limit) = (seen_before(&self.history), args.max_seconds.unwrap_or(f64::INFINITY));
        while let Some(portion) = feed.next(interrupt)? {
            match portion {
                Portion::HeldOut(rows) => self.held_out = rows,
                Portion::Lesson(values, pass, taken) => {
                    self.take(values, before, (pass, taken), args.eval_every)?;
                }
            }
            if self.started.elapsed().as_secs_f64() >= limit {
                self.output.note(format_args!("stopped after {limit} seconds, as asked"));
                self.is_cut_short = true;
                break;
            }
        }
        let signal = interrupt.received();
        self.is_cut_short |= signal.is_some();
        let update = self.trainer.clock().update;
        let scored = self.evaluations.last().and_then(|last| last["updates"].as_u64());
        if signal.is_none() && scored != Some(update) {
            self.evaluate()?;
        }
        self.output.progress.finish();
        Ok(signal)
    }

    /// Learns from one minibatch, and scores and saves if it is time to. The run began after `before` observations.
    fn take(
        &mut self,
        values: Vec<f64>,
        before: u64,
        (pass, taken): (u64, u64),
        eval_every: Option<u64>,
    ) -> anyhow::Result<()> {
        let size = (values.len() / self.columns.len()) as u64;
        let (first, cost) = (before + taken - size, self.cost.wall);
        let step = self.cost.of(&mut self.trainer, |trainer| trainer.partial_fit(values, first, pass))?;
        self.position = (pass, taken);
        let seconds = self.cost.wall.saturating_sub(cost).as_secs_f64();
        let facts = json!({
            "kind": "minibatch",
            "t": step.update,
            "documents": step.seen,
            "tokens": 0,
            "rho": step.rho,
            "observations_per_second": size as f64 / seconds,
            "cpu_seconds": self.cost.cpu.as_secs_f64(),
        });
        if let Some(log) = &mut self.log {
            log.write(&facts)?;
        }
        let speed = step.seen as f64 / self.started.elapsed().as_secs_f64();
        self.output
            .progress
            .advance(step.seen, || (format!("{} observations/s", count(speed as u64)), facts));
        if eval_every.is_some_and(|every| step.update.is_multiple_of(every)) {
            self.evaluate()?;
        }
        if self.checkpoints.as_ref().is_some_and(|checkpoints| checkpoints.are_due(step.update)) {
            self.save_checkpoint()?;
        }
        Ok(())
    }

    /// Scores the rows that were kept aside.
    fn evaluate(&mut self) -> anyhow::Result<()> {
        let clock = self.trainer.clock();
        if self.held_out.is_empty() || clock.update == 0 {
            return Ok(());
        }
        let scoring =
            Scoring { effort: EFFORT, seed: self.trainer.settings().seed, threads: self.general.threads };
        let rows = self.held_out.iter().map(|row| Ok(row.values.clone()));
        let mut facts = json!(scoring.score(&self.trainer, rows, |_| ())?);
        facts["updates"] = json!(clock.update);
        facts["documents_seen"] = json!(clock.seen);
        facts["train_seconds"] = json!(self.cost.wall.as_secs_f64());
        facts["train_cpu_seconds"] = json!(self.cost.cpu.as_secs_f64());
        self.evaluations.push(facts.clone());
        self.output.note(format_args!(
            "held-out after {} observations: {:.3} nats per observation ({} {:.3})",
            count(clock.seen),
            facts["log_perplexity_per_document"].as_f64().unwrap_or(f64::NAN),
            facts["baseline"].as_str().unwrap_or_default(),
            facts["baseline_log_perplexity_per_document"].as_f64().unwrap_or(f64::NAN),
        ));
        facts["kind"] = json!("evaluation");
        if let Some(log) = &mut self.log {
            log.write(&facts)?;
        }
        self.output.progress.happened(facts);
        Ok(())
    }

    /// What has been learnt; `None` before the first update.
    fn model(&self) -> Option<DenseModel> {
        let mut history = self.history.clone();
        let mut event = self.event.clone();
        event.documents = self.trainer.clock().seen - seen_before(&history);
        history.push(event);
        DenseModel::of(&self.trainer, self.columns.clone(), history)
    }

    fn run(&self, report: Option<String>) -> Run {
        let ((pass, documents), finished) = (self.position, report.is_some());
        let notes = Notes {
            unknown_tokens: 0,
            train_seconds: self.cost.wall.as_secs_f64(),
            train_cpu_seconds: self.cost.cpu.as_secs_f64(),
            evaluations: self.evaluations.clone(),
            log_bytes: self.log.as_ref().map_or(0, Log::bytes),
            report,
        };
        Run { request: self.request.clone(), pass, documents, finished, notes: json!(notes) }
    }

    fn save_checkpoint(&mut self) -> anyhow::Result<()> {
        let run = self.run(None);
        let model = self.model();
        if let (Some(checkpoints), Some(model)) = (&mut self.checkpoints, model) {
            checkpoints.save(&model, &run)?;
        }
        Ok(())
    }

    /// Saves what was learnt and says what there is to say.
    fn finish(
        mut self,
        signal: Option<Signal>,
        args: &TrainArgs,
        inputs: &ResolvedInputs,
    ) -> anyhow::Result<Outcome> {
        let output = self.output;
        let Some(model) = self.model() else {
            if let Some(signal) = signal {
                output.note(format_args!("{signal} came before anything was learnt, so there is no model"));
                return Ok(Outcome::Interrupted(signal));
            }
            let problem = "no row is left to learn from after those that are passed over and kept aside";
            return Err(Error::setting("INPUT", problem, "give more, or keep fewer aside").into());
        };
        report_bad(inputs, output);
        for warning in self.trainer.diagnostics().unwrap_or_default().warnings {
            output.warn(warning);
        }
        if self.is_cut_short {
            self.save_checkpoint()?;
        }
        let out = args.out.as_ref().filter(|_| signal.is_none() || self.checkpoints.is_none());
        if let Some(out) = out {
            model.save(out)?;
        }
        let line = self.report(&model, signal, inputs).to_string();
        let run = self.run(Some(line.clone()));
        match (signal, &mut self.checkpoints) {
            (None, Some(checkpoints)) if !self.is_cut_short => checkpoints.save(&model, &run)?,
            (Some(signal), checkpoints) => {
                let stopped = format!("{signal}: stopped after {} minibatches", count(model.clock.update));
                output.note(match (checkpoints, out) {
                    (Some(checkpoints), _) => {
                        format!("{stopped}; a checkpoint is in {}: go on with --resume", checkpoints.path())
                    }
                    (None, Some(out)) => format!("{stopped}; the model so far is in {}", out.display()),
                    (None, None) => format!("{stopped}; no model was asked for with --out"),
                });
            }
            (None, _) => {}
        }
        if output.json {
            output.print_line(line)?;
        } else {
            self.summarise(&model, out.is_some().then_some(args));
        }
        Ok(signal.map_or(Outcome::Done, Outcome::Interrupted))
    }

    /// The fields of topic models, with components for topics, columns for words and observations for documents.
    fn report(&self, model: &DenseModel, signal: Option<Signal>, inputs: &ResolvedInputs) -> Value {
        let (settings, cpu) = (&model.settings, self.cost.cpu.as_secs_f64());
        let mut report = json!({
            "schema": "gibbstream/train/1",
            "model": settings.model.name(),
            "method": settings.name,
            "topics": settings.components,
            "vocabulary": settings.features,
            "documents": model.clock.seen,
            "tokens": 0,
            "updates": model.clock.update,
            "sweeps": settings.method.sweeps,
            "seed": settings.seed.0,
            "threads": self.general.threads,
            "train_seconds": self.cost.wall.as_secs_f64(),
            "train_cpu_seconds": cpu,
            "token_sweeps_per_cpu_second": 0.0,
            "observations_per_cpu_second": model.clock.seen as f64 / cpu,
            "peak_rss_mib": peak_rss_mib(),
            "alpha_sum": 0.0,
            "model_hash": model.hash(),
            "diagnostics": self.trainer.diagnostics(),
            "warnings": self.output.warnings(),
        });
        if !self.evaluations.is_empty() {
            report["evaluations"] = json!(self.evaluations);
        }
        let bad = inputs.bad_records();
        if !bad.is_empty() {
            report["bad_records"] = json!(bad);
        }
        if let Some(signal) = signal {
            report["stopped_by"] = json!(signal.to_string());
        }
        report
    }

    /// A summary for people.
    fn summarise(&self, model: &DenseModel, written: Option<&TrainArgs>) {
        let output = self.output;
        output.note(format_args!(
            "{STRONG}{} with {} components{STRONG:#} of {} columns from {} observations in {:.1} s of training",
            model.settings.model.name(),
            model.settings.components,
            model.settings.features,
            count(model.clock.seen),
            self.cost.wall.as_secs_f64(),
        ));
        if let Some(out) = written.and_then(|args| args.out.as_ref()) {
            output.note(format_args!("written to {}", out.display()));
            output
                .note(format_args!("{FAINT}look at it with: gibbstream inspect {}{FAINT:#}", out.display()));
        }
    }
}
