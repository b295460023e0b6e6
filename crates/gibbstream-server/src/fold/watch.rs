//! What is told and shown while the log is learnt from.

use crate::publish::{Publisher, Urgency};
use crate::status::Status;
use crate::timeline::{Timeline, fresh_tokens};
use gibbstream::learn::trainer::Trainer;
use gibbstream::learn::{AnyBatch, Event, Observer, TrainingRun};
use gibbstream::{Result, Step};
use serde_json::json;
use std::collections::BTreeMap;
use std::path::Path;
use std::sync::Arc;
use std::time::{Duration, Instant};

/// Time between two events of progress.
const TELL_EVERY: Duration = Duration::from_millis(250);

/// How quickly old minibatches are forgotten when speed and drift are shown.
const RECENT: f64 = 0.2;

/// Looks on while a run learns.
pub struct Watch {
    pub status: Arc<Status>,
    publisher: Publisher,
    timeline: Timeline,
    /// Expected tokens per document of each topic after the last minibatch.
    topic_tokens: BTreeMap<u64, f64>,
    /// Topic shares of the last minibatches.
    recent: BTreeMap<u64, f64>,
    told_at: Option<Instant>,
    learnt_at: Instant,
    /// Checkpoints written.
    pub checkpoints: u64,
    /// When the newest record was written.
    pub arrived_at: u64,
    /// Documents of the log that are held out or learnt from.
    pub consumed: u64,
}

impl Watch {
    pub fn new(
        status: Arc<Status>,
        publisher: Publisher,
        run: &TrainingRun,
        timeline: Timeline,
        held_out: u64,
        consumed: u64,
    ) -> Self {
        let trainer = run.trainer();
        status.update(|progress| {
            let clock = trainer.clock();
            progress.documents = clock.seen;
            progress.tokens = trainer.tokens();
            progress.updates = clock.update;
            progress.held_out = held_out;
            progress.consumed = consumed;
            progress.alpha_sum = alpha_sum(trainer);
            progress.vocabulary = run.features().len() as u64;
            progress.score = run.evaluations().last().cloned();
            progress.prequential = run.prequential().map(|report| json!(report));
        });
        Self {
            status,
            publisher,
            timeline,
            topic_tokens: named_tokens(trainer),
            recent: BTreeMap::new(),
            told_at: None,
            learnt_at: Instant::now(),
            checkpoints: 0,
            arrived_at: 0,
            consumed,
        }
    }

    /// Hands a copy of the model to those who answer, unless that would take too much of the time.
    pub fn publish(&mut self, run: &TrainingRun, urgency: Urgency) -> Result<()> {
        self.publisher.offer(run, &self.timeline, urgency)
    }

    /// Whether everything that was learnt can be seen.
    pub fn is_published(&self) -> bool {
        self.publisher.is_up_to_date()
    }

    pub fn held_out(&mut self, documents: u64, consumed: u64) {
        self.consumed = consumed;
        self.status.update(|progress| (progress.held_out, progress.consumed) = (documents, consumed));
    }

    pub fn write_timeline(&self, file: &Path) -> Result<()> {
        gibbstream::file::replace(file, json!({ "timeline": self.timeline }).to_string().as_bytes())
    }

    fn learnt(&mut self, run: &TrainingRun, step: Step, batch: &AnyBatch<'static>) {
        let trainer = run.trainer();
        let after = named_tokens(trainer);
        let fresh = fresh_tokens(&self.topic_tokens, &after, step.rho);
        let (documents, tokens) = (batch.len() as u64, batch.tokens());
        self.timeline.add(self.arrived_at, documents, tokens, &fresh);
        let drift = self.drift(&fresh, &after);
        self.topic_tokens = after;
        let seconds = self.learnt_at.elapsed().as_secs_f64();
        self.learnt_at = Instant::now();
        self.publisher.learnt();
        let consumed = self.consumed;
        self.status.update(|progress| {
            progress.documents = step.seen;
            progress.tokens = trainer.tokens();
            progress.updates = step.update;
            progress.consumed = consumed;
            let speed = documents as f64 / seconds.max(1e-6);
            let before = progress.documents_per_second;
            progress.documents_per_second =
                if before > 0.0 { (1.0 - RECENT) * before + RECENT * speed } else { speed };
            progress.alpha_sum = alpha_sum(trainer);
            progress.step = step.rho;
            progress.topics_used = trainer.topics_used().map(|used| used as u64);
            progress.vocabulary = run.features().len() as u64;
            progress.drift = drift;
            progress.prequential = run.prequential().map(|report| json!(report));
        });
        self.tell_changes();
    }

    /// Tells where learning stands, if that is news, but not too often.
    pub fn tell_changes(&mut self) {
        if self.told_at.is_none_or(|told| told.elapsed() >= TELL_EVERY) && self.publisher.tell_progress() {
            self.told_at = Some(Instant::now());
        }
    }

    /// Total variation distance between the shares of the last minibatches and those of the model.
    fn drift(&mut self, fresh: &BTreeMap<u64, f64>, model: &BTreeMap<u64, f64>) -> Option<f64> {
        let sum = |tokens: &BTreeMap<u64, f64>| tokens.values().sum::<f64>();
        let (all, model_all) = (sum(fresh), sum(model));
        if all <= 0.0 || model_all <= 0.0 {
            return None;
        }
        let first = self.recent.is_empty();
        self.recent.retain(|topic, _| fresh.contains_key(topic));
        for (&topic, tokens) in fresh {
            let recent = self.recent.entry(topic).or_default();
            let weight = if first { 1.0 } else { RECENT };
            *recent = (1.0 - weight) * *recent + weight * tokens / all;
        }
        let far =
            |(topic, recent): (&u64, &f64)| (recent - model.get(topic).unwrap_or(&0.0) / model_all).abs();
        Some(0.5 * self.recent.iter().map(far).sum::<f64>())
    }
}

impl Observer for Watch {
    fn notify(&mut self, run: &TrainingRun, event: &Event<'_>) -> Result<()> {
        match event {
            Event::Learnt { step, batch, .. } => self.learnt(run, *step, batch),
            Event::TopicBorn { birth, words } => self.status.tell(
                "birth",
                &json!({ "topic": birth.id, "document": birth.document, "updates": birth.update, "words": words }),
            ),
            Event::Evaluated(evaluated) => {
                let score = json!(evaluated);
                self.status.tell("evaluation", &score);
                self.status.update(|progress| progress.score = Some(score));
            }
            Event::CheckpointWritten => {
                self.checkpoints += 1;
                self.status.checkpoint_written(run.trainer().clock().seen);
                tracing::info!(documents = run.trainer().clock().seen, "checkpoint written");
            }
            Event::Changed(change) => {
                let words: Vec<&str> = change.words.iter().map(|moved| moved.word.as_str()).collect();
                let problem = format!("the stream has changed: {}", words.join(" "));
                tracing::warn!(documents = change.alarm.documents, "{problem}");
                self.status.tell("alarm", &json!({ "problem": problem, "change": change }));
            }
            Event::TimeUp | Event::Scored(_) => {}
        }
        Ok(())
    }

    fn is_interrupted(&self) -> bool {
        self.status.is_stopping()
    }
}

fn alpha_sum(trainer: &Trainer) -> f64 {
    // The sum of nothing is -0.
    trainer.alpha().unwrap_or_default().iter().sum::<f64>() + 0.0
}

/// Expected tokens per document by the name of the topic.
fn named_tokens(trainer: &Trainer) -> BTreeMap<u64, f64> {
    let tokens = trainer.topic_tokens();
    match trainer.sticks() {
        Some(sticks) => sticks.ids.iter().copied().zip(tokens).collect(),
        None => (0..).zip(tokens).collect(),
    }
}
