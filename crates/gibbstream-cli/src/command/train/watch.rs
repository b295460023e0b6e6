//! What is shown and written down while a run goes on.

use super::log::Log;
use crate::interrupt::Interrupt;
use crate::output::{Output, count};
use gibbstream::learn::prequential::{Change, ScoredMinibatch};
use gibbstream::learn::trainer::Trainer;
use gibbstream::learn::{AnyBatch, AnyScore, Evaluated, Event, Observer, TrainingRun};
use gibbstream::model::topics::hdp::sticks::{Birth, Sticks};
use gibbstream::model::topics::hdp::topics_used;
use serde_json::{Map, Value, json};
use std::time::Instant;

/// Shows progress, writes the log, and looks for signals.
pub struct Watch<'a> {
    pub output: &'a Output,
    pub interrupt: &'a Interrupt,
    pub log: Option<Log>,
    pub started: Instant,
    pub max_seconds: f64,
    /// The score of the minibatch at hand, before it is learnt from.
    pub scored: Option<ScoredMinibatch>,
    /// Documents without a word of the vocabulary, as often as they were met.
    pub empty_documents: u64,
}

impl Observer for Watch<'_> {
    fn notify(&mut self, run: &TrainingRun, event: &Event<'_>) -> gibbstream::Result<()> {
        match event {
            Event::Learnt { step, batch, seconds } => {
                self.empty_documents += empty_documents(batch);
                let (trainer, cost) = (run.trainer(), run.cost());
                let mut facts = json!({
                    "kind": "minibatch",
                    "t": step.update,
                    "documents": step.seen,
                    "tokens": trainer.tokens(),
                    "rho": step.rho,
                    "cpu_seconds": cost.cpu.as_secs_f64(),
                });
                if trainer.settings().model.has_topics() {
                    facts["alpha_sum"] = json!(alpha_sum(trainer));
                    facts["tokens_per_second"] = json!(batch.tokens() as f64 / seconds);
                } else {
                    facts["observations_per_second"] = json!(batch.len() as f64 / seconds);
                }
                if let Some(scored) = self.scored.take() {
                    facts["prequential"] = prequential_facts(run, &scored);
                }
                if let (Some(sticks), Some(facts)) = (trainer.sticks(), facts.as_object_mut()) {
                    facts.extend(open_facts(trainer, sticks));
                }
                self.write(&facts)?;
                self.output.progress.advance(step.seen, || (self.speed(run, &facts), facts));
                Ok(())
            }
            Event::TopicBorn { birth: Birth { id, update, document, tokens, .. }, words } => {
                self.output.detail(format_args!(
                    "topic {id} was created in document {document}: {}",
                    words.join(" ")
                ));
                self.write(&json!({
                    "kind": "birth", "t": update, "topic": id, "document": document, "tokens": tokens, "words": words,
                }))
            }
            Event::Scored(scored) => {
                self.scored = Some(**scored);
                Ok(())
            }
            Event::Changed(change) => {
                let mut facts = json!(change);
                facts["kind"] = json!("drift");
                self.write(&facts)?;
                self.output.progress.happened(facts);
                told_change(change).into_iter().for_each(|line| self.output.note(line));
                Ok(())
            }
            Event::Evaluated(evaluated) => {
                let mut facts = json!(evaluated);
                facts["kind"] = json!("evaluation");
                self.write(&facts)?;
                self.output.progress.happened(facts);
                self.output.note(told(evaluated));
                Ok(())
            }
            Event::TimeUp => {
                self.output.note(format_args!("stopped after {} seconds, as asked", self.max_seconds));
                Ok(())
            }
            Event::CheckpointWritten => Ok(()),
        }
    }

    fn is_interrupted(&self) -> bool {
        self.interrupt.received().is_some()
    }

    fn log_bytes(&self) -> u64 {
        self.log.as_ref().map_or(0, Log::bytes)
    }
}

impl Watch<'_> {
    fn write(&mut self, facts: &Value) -> gibbstream::Result<()> {
        self.log.as_mut().map_or(Ok(()), |log| log.write(facts))
    }

    /// For the bar.
    fn speed(&self, run: &TrainingRun, facts: &Value) -> String {
        let (trainer, seconds) = (run.trainer(), self.started.elapsed().as_secs_f64());
        if !trainer.settings().model.has_topics() {
            return format!("{} observations/s", count((trainer.clock().seen as f64 / seconds) as u64));
        }
        let speed = count((trainer.tokens() as f64 / seconds) as u64);
        let used = facts.get("topics_used").map_or(String::new(), |used| format!(", {used} topics"));
        let last = run.evaluations().last().and_then(|last| last["log_perplexity_per_document"].as_f64());
        let score = last.map_or(String::new(), |score| format!(", held-out {score:.2}"));
        format!("{speed} tokens/s, alpha {:.3}{used}{score}", alpha_sum(trainer))
    }
}

fn alpha_sum(trainer: &Trainer) -> f64 {
    trainer.alpha().unwrap_or_default().iter().sum()
}

/// The score of some documents before they were learnt from, with the means so far.
fn prequential_facts(run: &TrainingRun, scored: &ScoredMinibatch) -> Value {
    let documents = scored.documents as f64;
    json!({
        "documents": scored.documents,
        "tokens": scored.tokens,
        "new_tokens": scored.new_tokens,
        "log_perplexity_per_document": scored.nats / documents,
        "monte_carlo_error": scored.variance.sqrt() / documents,
        "unigram_log_perplexity_per_document": scored.unigram / documents,
        "windowed": run.prequential().map(|report| report.windowed),
        "faded": run.prequential().map(|report| report.faded),
    })
}

/// A change of the stream for people.
fn told_change(Change { alarm, topics, words }: &Change) -> [String; 2] {
    let words: Vec<&str> = words.iter().map(|moved| moved.word.as_str()).collect();
    let topics: Vec<String> = topics.iter().take(4).map(|moved| moved.topic.to_string()).collect();
    let (since, now, before) = (count(alarm.since), alarm.now, alarm.before);
    [
        format!("the stream changed after {since} documents: {now:.3} nats per token, {before:.3} before"),
        format!("more frequent now: {}; topics that moved: {}", words.join(" "), topics.join(", ")),
    ]
}

/// A score for people.
fn told(Evaluated { documents_seen, score, .. }: &Evaluated) -> String {
    let (seen, own, (name, baseline)) = (count(*documents_seen), score.log_perplexity(), score.baseline());
    match score {
        AnyScore::Documents(_) => {
            format!("held-out after {seen} documents: {own:.2} nats per document ({name} {baseline:.2})")
        }
        AnyScore::Rows(_) => {
            format!(
                "held-out after {seen} observations: {own:.3} nats per observation ({name} {baseline:.3})"
            )
        }
    }
}

/// How many topics there are where that is open, and the share that each has of all tokens.
fn open_facts(trainer: &Trainer, sticks: &Sticks) -> Map<String, Value> {
    let tokens = trainer.topic_tokens();
    let all: f64 = tokens.iter().sum();
    let shares = sticks.ids.iter().zip(&tokens).map(|(id, tokens)| json!([id, tokens / all]));
    let mut facts = Map::new();
    facts.insert("topics".into(), json!(tokens.len()));
    facts.insert("topics_used".into(), json!(topics_used(&tokens)));
    facts.insert("topics_created".into(), json!(sticks.created));
    facts.insert("remainder".into(), json!(sticks.remainder));
    facts.insert("topic_shares".into(), shares.collect());
    facts
}

fn empty_documents(batch: &AnyBatch<'_>) -> u64 {
    match batch {
        AnyBatch::Documents(batch) => {
            (0..batch.len()).filter(|&at| batch.document(at).is_empty()).count() as u64
        }
        AnyBatch::Rows(_) => 0,
    }
}
