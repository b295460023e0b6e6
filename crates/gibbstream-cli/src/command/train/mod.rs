//! `train`: learns topics from documents and writes a model.

mod dry_run;

mod held_out;

mod log;

mod prepare;

mod report;

use crate::Outcome;
use crate::args::General;
use crate::args::train::{Plan, TrainArgs};
use crate::interrupt::Interrupt;
use crate::measure::Cost;
use crate::output::{Output, count};
use crate::stream::{Feed, Portion, Portions};
use gibbstream::Error;
use gibbstream::corpus::Minibatch;
use gibbstream::model_file::{Event, TopicModel};
use gibbstream::schedule::Step;
use gibbstream::trainer::Trainer;
use held_out::{HeldOut, Measured};
use log::Log;
use prepare::{Prepared, check_place};
use serde_json::json;
use std::time::Instant;

/// Minibatches that are read in advance.
const AHEAD: usize = 2;

/// Runs the command.
pub fn run(
    args: &TrainArgs,
    general: &General,
    output: &Output,
    interrupt: &Interrupt,
) -> anyhow::Result<Outcome> {
    let mut plan = args.plan(general)?;
    if !args.dry_run {
        args.out.iter().chain(&args.log).try_for_each(|path| check_place(path))?;
    }
    let prepared = Prepared::new(&mut plan, args, output)?;
    if args.dry_run {
        return dry_run::run(&plan, &prepared, args, general, output);
    }
    let names = plan.inputs.paths.iter().map(|path| path.display().to_string()).collect();
    let tokenizer = prepared.has_text.then(|| plan.tokenizer.clone());
    let vocabulary = prepared.vocabulary.clone();
    let mut training = Training::new(&plan, args, general, output)?;
    interrupt.defer();
    training.learn(&plan, prepared, interrupt)?;
    let signal = interrupt.received();

    let Training { trainer, cost, evaluations, .. } = training;
    let settings = trainer.settings().clone();
    let Some(learnt) = trainer.into_learnt() else {
        if let Some(signal) = signal {
            output.note(format_args!("{signal} came before anything was learnt, so there is no model"));
            return Ok(Outcome::Interrupted(signal));
        }
        let problem = "all documents read are kept aside, and none is left to learn from";
        return Err(Error::setting("--holdout", problem, "keep fewer aside").into());
    };
    report::warn_about(&learnt, &plan, output);
    let hash = learnt.hash();
    let event = Event {
        version: env!("CARGO_PKG_VERSION").to_owned(),
        action: "train".to_owned(),
        inputs: names,
        documents: learnt.clock.seen,
        tokens: learnt.tokens,
    };
    let model = TopicModel { settings, learnt, vocabulary, tokenizer, history: vec![event] };
    if let Some(out) = &args.out {
        model.save(out)?;
    }
    if let Some(signal) = signal {
        let minibatches = count(model.learnt.clock.update);
        output.note(match &args.out {
            Some(out) => format!(
                "{signal}: stopped after {minibatches} minibatches; the model so far is in {}",
                out.display()
            ),
            None => format!(
                "{signal}: stopped after {minibatches} minibatches; no model was asked for with --out"
            ),
        });
    }
    let finished = report::Finished { args, general, model: &model, hash: &hash, cost, evaluations, signal };
    finished.print(output)?;
    Ok(signal.map_or(Outcome::Done, Outcome::Interrupted))
}

/// A run in progress.
struct Training<'a> {
    trainer: Trainer,
    cost: Cost,
    held_out: Option<HeldOut>,
    evaluations: Vec<Measured>,
    log: Option<Log>,
    output: &'a Output,
    threads: usize,
    started: Instant,
    unknown_tokens: u64,
}

impl<'a> Training<'a> {
    fn new(plan: &Plan, args: &TrainArgs, general: &General, output: &'a Output) -> anyhow::Result<Self> {
        Ok(Self {
            trainer: Trainer::new(plan.settings.clone(), general.threads)?,
            cost: Cost::default(),
            held_out: None,
            evaluations: Vec::new(),
            log: args.log.as_deref().map(Log::create).transpose()?,
            output,
            threads: general.threads,
            started: Instant::now(),
            unknown_tokens: 0,
        })
    }

    /// Learns until the documents end, the time is up, or a signal comes.
    fn learn(&mut self, plan: &Plan, prepared: Prepared, interrupt: &Interrupt) -> anyhow::Result<()> {
        let Prepared { inputs, vocabulary, documents, .. } = prepared;
        let total = documents.map(|documents| documents.saturating_mul(plan.passes));
        let batch = if plan.settings.method.whole_corpus { usize::MAX } else { plan.settings.batch };
        let open = move || inputs.documents(&vocabulary);
        let mut feed = Feed::start(Portions::new(open, plan.holdout, batch, plan.passes), AHEAD)?;
        self.output.progress.start("training", "documents", total);
        self.started = Instant::now();
        while let Some(portion) = feed.next(interrupt)? {
            match portion {
                Portion::HeldOut(documents) => {
                    self.held_out =
                        Some(HeldOut { documents, seed: plan.settings.seed, threads: self.threads });
                }
                Portion::Batch(batch, unknown) => {
                    self.unknown_tokens += unknown;
                    let step = self.learn_from(&batch)?;
                    if plan.eval_every.is_some_and(|every| step.update.is_multiple_of(every)) {
                        self.evaluate()?;
                    }
                }
            }
            if self.started.elapsed().as_secs_f64() >= plan.max_seconds {
                self.output.note(format_args!("stopped after {} seconds, as asked", plan.max_seconds));
                break;
            }
        }
        let update = self.trainer.clock().update;
        if update > 0
            && interrupt.received().is_none()
            && self.evaluations.last().is_none_or(|last| last.updates < update)
        {
            self.evaluate()?;
        }
        self.output.progress.finish();
        if self.unknown_tokens > 0 {
            let unknown = count(self.unknown_tokens);
            self.output
                .detail(format_args!("{unknown} tokens of words outside of the vocabulary were left out"));
        }
        Ok(())
    }

    fn learn_from(&mut self, batch: &Minibatch) -> anyhow::Result<Step> {
        let before = self.cost;
        let step = self.cost.of_training(&mut self.trainer, batch)?;
        let alpha_sum: f64 = self.trainer.alpha().unwrap_or_default().iter().sum();
        let tokens = self.trainer.tokens();
        let facts = json!({
            "kind": "minibatch",
            "t": step.update,
            "documents": step.seen,
            "tokens": tokens,
            "rho": step.rho,
            "alpha_sum": alpha_sum,
            "tokens_per_second": batch.tokens() as f64 / (self.cost.wall - before.wall).as_secs_f64(),
            "cpu_seconds": self.cost.cpu.as_secs_f64(),
        });
        if let Some(log) = &mut self.log {
            log.write(&facts)?;
        }
        let speed = tokens as f64 / self.started.elapsed().as_secs_f64();
        let score = self.evaluations.last().map(|last| last.score.log_perplexity_per_document);
        self.output.progress.advance(step.seen, || {
            let score = score.map_or(String::new(), |score| format!(", held-out {score:.2}"));
            (format!("{} tokens/s, alpha {alpha_sum:.3}{score}", count(speed as u64)), facts)
        });
        Ok(step)
    }

    /// Scores the documents that were kept aside.
    fn evaluate(&mut self) -> anyhow::Result<()> {
        let Some(held_out) = &self.held_out else { return Ok(()) };
        let Some(measured) = held_out.measure(&self.trainer, self.cost)? else { return Ok(()) };
        let facts = measured.facts();
        if let Some(log) = &mut self.log {
            log.write(&facts)?;
        }
        self.output.progress.happened(facts);
        self.output.note(&measured);
        self.evaluations.push(measured);
        Ok(())
    }
}
