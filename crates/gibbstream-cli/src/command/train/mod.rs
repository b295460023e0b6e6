//! `train`: learns topics from documents and writes a model.

pub mod checkpoints;

mod dry_run;

mod held_out;

pub mod log;

pub mod prepare;

mod report;

pub mod start;

use crate::Outcome;
use crate::args::General;
use crate::args::input::report_bad;
use crate::args::train::{Plan, TrainArgs};
use crate::interrupt::{Interrupt, Signal};
use crate::measure::Cost;
use crate::output::{Output, count};
use crate::stream::{Course, Feed, Lesson, Portion, Portions};
use checkpoints::{Checkpoints, Notes};
use gibbstream::Error;
use gibbstream::batch_size::BatchSize;
use gibbstream::corpus::{Minibatch, OpenState, OpenVocabulary, ResolvedInputs, Tokenizer, Vocabulary};
use gibbstream::model::hdp::topics_used;
use gibbstream::model::sticks::{Birth, Sticks};
use gibbstream::model_file::{Event, Run, TopicModel};
use gibbstream::schedule::Step;
use gibbstream::trainer::Trainer;
use held_out::HeldOut;
use log::Log;
use prepare::{Prepared, check_place};
use serde_json::{Value, json};
use start::{Start, seen_before};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

/// Minibatches that are read in advance.
const AHEAD: usize = 2;

/// Runs the command.
pub fn run(
    args: &TrainArgs,
    general: &General,
    output: &Output,
    interrupt: &Interrupt,
) -> anyhow::Result<Outcome> {
    if args.is_dense() {
        return super::dense::train::run(args, general, output, interrupt);
    }
    if args.dry_run {
        let base = args.continued.as_deref().map(TopicModel::load).transpose()?;
        let mut plan = args.plan(general, base.as_ref())?;
        let prepared = Prepared::new(&mut plan, args, base.as_ref(), output)?;
        return dry_run::run(&plan, &prepared, general, output);
    }
    let (checkpoints, found) = Checkpoints::open(&args.checkpoints, output)?;
    let start = Start::new(args, found)?;
    let mut plan = args.plan(general, start.continued())?;
    let request = plan.request(args);
    if let (Some(checkpoints), Some(run)) = (&checkpoints, &start.run) {
        checkpoints.check_request(&run.request, &request)?;
        if run.finished {
            return finished_before(args, &start, output);
        }
        output.note(format_args!("going on after {} minibatches", count(start.updates())));
    }
    args.out.iter().chain(&args.log).try_for_each(|path| check_place(path))?;
    let prepared = Prepared::new(&mut plan, args, start.model.as_ref(), output)?;
    let mut training = Training::new(&plan, args, general, output, &prepared, start)?;
    training.request = request;
    training.checkpoints = checkpoints;
    interrupt.defer();
    let ended = training.learn(&plan, &prepared, interrupt)?;
    training.finish(ended, args, &plan, general)
}

/// A run that is over is not done again: it gives the same answer.
fn finished_before(args: &TrainArgs, start: &Start, output: &Output) -> anyhow::Result<Outcome> {
    if let (Some(out), Some(model)) = (&args.out, &start.model)
        && !out.exists()
    {
        model.save(out)?;
    }
    output.note("this run has finished before; nothing is left to do");
    if let (true, Some(report)) = (output.json, &start.notes.report) {
        output.print_line(report.clone())?;
    }
    Ok(Outcome::Done)
}

/// Why learning ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Ended {
    /// All documents have been learnt from.
    Finished,
    /// The time was up.
    TimeUp,
    /// A signal came.
    Interrupted(Signal),
}

/// A run in progress.
struct Training<'a> {
    trainer: Trainer,
    vocabulary: Vocabulary,
    /// The same vocabulary, if new words enter it.
    open: Option<OpenVocabulary>,
    tokenizer: Option<Tokenizer>,
    /// What was done to the model before.
    history: Vec<Event>,
    /// What is being done.
    event: Event,
    cost: Cost,
    held_out: Option<HeldOut>,
    evaluations: Vec<Value>,
    log: Option<Log>,
    checkpoints: Option<Checkpoints>,
    request: Value,
    inputs: ResolvedInputs,
    output: &'a Output,
    threads: usize,
    started: Instant,
    unknown_tokens: u64,
    /// The pass, and the documents of it that have been learnt from.
    position: (u64, u64),
}

impl<'a> Training<'a> {
    fn new(
        plan: &Plan,
        args: &TrainArgs,
        general: &General,
        output: &'a Output,
        prepared: &Prepared,
        start: Start,
    ) -> anyhow::Result<Self> {
        let (event, history) = start.event(plan);
        let Start { model, notes, run, .. } = start;
        let trainer = match model {
            Some(model) => Trainer::resume(plan.settings.clone(), model.learnt, general.threads)?,
            None => Trainer::new(plan.settings.clone(), general.threads)?,
        };
        Ok(Self {
            trainer,
            vocabulary: prepared.vocabulary.clone(),
            open: prepared.open.clone(),
            tokenizer: prepared.tokenizer.clone(),
            history,
            event,
            cost: Cost {
                wall: Duration::from_secs_f64(notes.train_seconds),
                cpu: Duration::from_secs_f64(notes.train_cpu_seconds),
            },
            held_out: None,
            evaluations: notes.evaluations,
            log: args.log.as_deref().map(|path| Log::open(path, notes.log_bytes)).transpose()?,
            checkpoints: None,
            request: Value::Null,
            inputs: prepared.inputs.clone(),
            output,
            threads: general.threads,
            started: Instant::now(),
            unknown_tokens: notes.unknown_tokens,
            position: run.map_or((0, 0), |run| (run.pass, run.documents)),
        })
    }

    /// Learns until the documents end, the time is up, or a signal comes.
    fn learn(&mut self, plan: &Plan, prepared: &Prepared, interrupt: &Interrupt) -> anyhow::Result<Ended> {
        let total = prepared.documents.map(|documents| documents.saturating_mul(plan.passes));
        let course = Course {
            held_out: plan.holdout,
            batch: if plan.settings.method.whole_corpus {
                BatchSize::of(usize::MAX)
            } else {
                plan.settings.batch
            },
            passes: plan.passes,
            first: seen_before(&self.history),
            start: self.position,
            seen: self.trainer.clock().seen,
        };
        let (inputs, vocabulary) = (self.inputs.clone(), self.vocabulary.clone());
        let shared = self.open.clone().map(|open| Arc::new(Mutex::new(open)));
        let entering = shared.clone();
        let open = move || match &entering {
            Some(entering) => inputs.documents_entering(entering),
            None => inputs.documents(&vocabulary),
        };
        let mut feed = Feed::start(Portions::new(open, course).with_vocabulary(shared), AHEAD)?;
        self.output.progress.start("training", "documents", total);
        self.started = Instant::now();
        let mut ended = Ended::Finished;
        while let Some(portion) = feed.next(interrupt)? {
            match portion {
                Portion::HeldOut(aside) => {
                    self.held_out = Some(HeldOut { aside, seed: plan.settings.seed, threads: self.threads });
                }
                Portion::Lesson(lesson) => self.take(&lesson, plan)?,
            }
            if self.started.elapsed().as_secs_f64() >= plan.max_seconds {
                self.output.note(format_args!("stopped after {} seconds, as asked", plan.max_seconds));
                ended = Ended::TimeUp;
                break;
            }
        }
        if let Some(signal) = interrupt.received() {
            ended = Ended::Interrupted(signal);
        } else {
            self.evaluate_last()?;
        }
        self.output.progress.finish();
        if self.unknown_tokens > 0 {
            let unknown = count(self.unknown_tokens);
            self.output
                .detail(format_args!("{unknown} tokens of words outside of the vocabulary were left out"));
        }
        Ok(ended)
    }

    /// Learns from one minibatch, and scores and saves if it is time to.
    fn take(&mut self, lesson: &Lesson, plan: &Plan) -> anyhow::Result<()> {
        self.unknown_tokens += lesson.unknown_tokens;
        if let (Some(open), Some(new_words)) = (&mut self.open, &lesson.new_words) {
            open.adopt(new_words);
            self.trainer.grow(open.len());
        }
        let step = self.learn_from(&lesson.batch)?;
        if let Some(open) = &mut self.open {
            self.trainer.forget(&open.close(&lesson.batch));
        }
        self.position = (lesson.pass, lesson.documents);
        if plan.eval_every.is_some_and(|every| step.update.is_multiple_of(every)) {
            self.evaluate()?;
        }
        if self.checkpoints.as_ref().is_some_and(|checkpoints| checkpoints.are_due(step.update)) {
            self.save_checkpoint()?;
        }
        Ok(())
    }

    /// Writes a checkpoint; nothing before the first update.
    fn save_checkpoint(&mut self) -> anyhow::Result<()> {
        let Some(mut checkpoints) = self.checkpoints.take() else { return Ok(()) };
        let run = self.run();
        let history = self.history_with(self.trainer.clock().seen, self.trainer.tokens());
        let (settings, tokenizer) = (self.trainer.settings().clone(), self.tokenizer.clone());
        let (vocabulary, open) = self.words();
        let saved = self.trainer.lend_learnt(|learnt| {
            let model = TopicModel { settings, learnt, vocabulary, tokenizer, history, open };
            let saved = checkpoints.save(&model, &run);
            (model.learnt, saved)
        });
        self.checkpoints = Some(checkpoints);
        Ok(saved.transpose().map(drop)?)
    }

    /// The words so far, and what is known beside them if they are not fixed.
    fn words(&self) -> (Vocabulary, Option<OpenState>) {
        match &self.open {
            Some(open) => (open.vocabulary(), Some(open.state().clone())),
            None => (self.vocabulary.clone(), None),
        }
    }

    /// Where the run stands.
    fn run(&self) -> Run {
        let (pass, documents) = self.position;
        let notes = Notes {
            unknown_tokens: self.unknown_tokens,
            train_seconds: self.cost.wall.as_secs_f64(),
            train_cpu_seconds: self.cost.cpu.as_secs_f64(),
            evaluations: self.evaluations.clone(),
            log_bytes: self.log.as_ref().map_or(0, Log::bytes),
            report: None,
        };
        Run { request: self.request.clone(), pass, documents, finished: false, notes: json!(notes) }
    }

    /// What has been done to the model up to now, from all documents and tokens that it has seen.
    fn history_with(&self, seen: u64, tokens: u64) -> Vec<Event> {
        let mut history = self.history.clone();
        let mut event = self.event.clone();
        event.documents = seen - seen_before(&history);
        event.tokens = tokens - history.iter().map(|event| event.tokens).sum::<u64>();
        history.push(event);
        history
    }

    /// Saves what was learnt and says what there is to say.
    fn finish(
        mut self,
        ended: Ended,
        args: &TrainArgs,
        plan: &Plan,
        general: &General,
    ) -> anyhow::Result<Outcome> {
        let output = self.output;
        if ended != Ended::Finished {
            self.save_checkpoint()?;
        }
        let mut run = self.run();
        let settings = self.trainer.settings().clone();
        let history = self.history_with(self.trainer.clock().seen, self.trainer.tokens());
        let (vocabulary, open) = self.words();
        let Self { trainer, tokenizer, cost, evaluations, inputs, checkpoints, unknown_tokens, .. } = self;
        let signal = if let Ended::Interrupted(signal) = ended { Some(signal) } else { None };
        let Some(learnt) = trainer.into_learnt() else {
            if let Some(signal) = signal {
                output.note(format_args!("{signal} came before anything was learnt, so there is no model"));
                return Ok(Outcome::Interrupted(signal));
            }
            let problem = "all documents read are kept aside, and none is left to learn from";
            return Err(Error::setting("--holdout", problem, "keep fewer aside").into());
        };
        report::warn_about(&learnt, plan, output);
        report_bad(&inputs, output);
        let model = TopicModel { settings, learnt, vocabulary, tokenizer, history, open };
        // A checkpoint holds the model so far already.
        let out = args.out.as_ref().filter(|_| signal.is_none() || checkpoints.is_none());
        if let Some(out) = out {
            model.save(out)?;
        }
        if let Some(signal) = signal {
            let stopped = format!("{signal}: stopped after {} minibatches", count(model.learnt.clock.update));
            output.note(match (&checkpoints, out) {
                (Some(checkpoints), _) => {
                    format!("{stopped}; a checkpoint is in {}: go on with --resume", checkpoints.path())
                }
                (None, Some(out)) => format!("{stopped}; the model so far is in {}", out.display()),
                (None, None) => format!("{stopped}; no model was asked for with --out"),
            });
        }
        let hash = model.learnt.hash();
        let (evaluations, bad_records) = (&evaluations[..], inputs.bad_records());
        let finished = report::Finished {
            args,
            general,
            model: &model,
            hash: &hash,
            cost,
            evaluations,
            unknown_tokens,
            bad_records,
            signal,
        };
        let report = finished.report(output);
        let line = serde_json::to_string(&report)?;
        if let (Ended::Finished, Some(mut checkpoints)) = (ended, checkpoints) {
            run.finished = true;
            run.notes["report"] = json!(line);
            checkpoints.save(&model, &run)?;
        }
        if output.json {
            output.print_line(line)?;
        } else {
            finished.summarise(&report, output);
        }
        Ok(signal.map_or(Outcome::Done, Outcome::Interrupted))
    }

    fn learn_from(&mut self, batch: &Minibatch) -> anyhow::Result<Step> {
        let before = self.cost;
        let step = self.cost.of_training(&mut self.trainer, batch)?;
        let alpha_sum: f64 = self.trainer.alpha().unwrap_or_default().iter().sum();
        let tokens = self.trainer.tokens();
        let mut facts = json!({
            "kind": "minibatch",
            "t": step.update,
            "documents": step.seen,
            "tokens": tokens,
            "rho": step.rho,
            "alpha_sum": alpha_sum,
            "tokens_per_second": batch.tokens() as f64 / self.cost.wall.saturating_sub(before.wall).as_secs_f64(),
            "cpu_seconds": self.cost.cpu.as_secs_f64(),
        });
        let open = self.trainer.sticks().map(|sticks| open_facts(&self.trainer, sticks));
        if let (Some(open), Some(facts)) = (&open, facts.as_object_mut()) {
            facts.extend(open.clone());
        }
        if let Some(log) = &mut self.log {
            log.write(&facts)?;
        }
        self.report_births()?;
        let used = open.map_or(String::new(), |open| format!(", {} topics", open["topics_used"]));
        let speed = tokens as f64 / self.started.elapsed().as_secs_f64();
        let score = self.evaluations.last().and_then(|last| last["log_perplexity_per_document"].as_f64());
        self.output.progress.advance(step.seen, || {
            let score = score.map_or(String::new(), |score| format!(", held-out {score:.2}"));
            (format!("{} tokens/s, alpha {alpha_sum:.3}{used}{score}", count(speed as u64)), facts)
        });
        Ok(step)
    }

    /// The topics that were born in the last minibatch: document, step and first words.
    fn report_births(&mut self) -> anyhow::Result<()> {
        let Some(sticks) = self.trainer.sticks().filter(|sticks| !sticks.births.is_empty()) else {
            return Ok(());
        };
        let (vocabulary, _) = self.words();
        for birth in &sticks.births {
            let words: Vec<_> = birth.words.iter().map(|&word| vocabulary.word(word).to_owned()).collect();
            let Birth { id, update, document, tokens, .. } = birth;
            self.output
                .detail(format_args!("topic {id} is born in document {document}: {}", words.join(" ")));
            let facts = json!({
                "kind": "birth", "t": update, "topic": id, "document": document, "tokens": tokens, "words": words,
            });
            if let Some(log) = &mut self.log {
                log.write(&facts)?;
            }
        }
        Ok(())
    }

    /// Scores the documents that were kept aside.
    fn evaluate(&mut self) -> anyhow::Result<()> {
        let Some(held_out) = &self.held_out else { return Ok(()) };
        let Some(measured) = held_out.measure(&self.trainer, self.open.as_ref(), self.cost)? else {
            return Ok(());
        };
        let facts = measured.facts();
        if let Some(log) = &mut self.log {
            log.write(&facts)?;
        }
        self.output.progress.happened(facts);
        self.output.note(measured);
        self.evaluations.push(json!(measured));
        Ok(())
    }

    /// The last score, unless it has just been taken.
    fn evaluate_last(&mut self) -> anyhow::Result<()> {
        let update = self.trainer.clock().update;
        let scored = self.evaluations.last().and_then(|last| last["updates"].as_u64());
        if update > 0 && scored.is_none_or(|scored| scored < update) { self.evaluate() } else { Ok(()) }
    }
}

/// How many topics there are where that is open, and the share that each has of all tokens.
fn open_facts(trainer: &Trainer, sticks: &Sticks) -> serde_json::Map<String, Value> {
    let tokens = trainer.topic_tokens();
    let all: f64 = tokens.iter().sum();
    let shares = sticks.ids.iter().zip(&tokens).map(|(id, tokens)| json!([id, tokens / all]));
    let mut facts = serde_json::Map::new();
    facts.insert("topics".into(), json!(tokens.len()));
    facts.insert("topics_used".into(), json!(topics_used(&tokens)));
    facts.insert("topics_created".into(), json!(sticks.created));
    facts.insert("remainder".into(), json!(sticks.remainder));
    facts.insert("topic_shares".into(), shares.collect());
    facts
}
