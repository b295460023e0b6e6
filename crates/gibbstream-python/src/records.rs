//! What happened in minibatches, in a bounded number of records.

use gibbstream::learn::schedule::Step;
use gibbstream::learn::{Event, Observer, TrainingRun};
use gibbstream::model::topics::hdp::topics_used;
use pyo3::prelude::*;

/// Records that are kept; from there on every second one is dropped, again and again.
const MOST_RECORDS: usize = 4096;

/// What happened in a minibatch; a dictionary in Python.
#[derive(Clone, Copy, FromPyObject, IntoPyObject)]
#[pyo3(from_item_all)]
pub struct Record {
    update: u64,
    documents: u64,
    tokens: u64,
    rho: f64,
    alpha_sum: f64,
    topics: usize,
    topics_used: usize,
    /// The share left for topics not met yet; nothing where their number is given.
    remainder: f64,
    /// Time of training until now.
    seconds: f64,
    /// Mean of -log p(X) of the last documents before they were learnt from; nothing if they were not scored.
    #[pyo3(default)]
    prequential: Option<f64>,
    /// Its standard error.
    #[pyo3(default)]
    prequential_error: Option<f64>,
    /// The same by the frequencies of words alone.
    #[pyo3(default)]
    prequential_unigram: Option<f64>,
}

impl Record {
    /// The record of the step that `run` has just made.
    fn new(run: &TrainingRun, step: &Step, seconds: f64) -> Self {
        let trainer = run.trainer();
        let score = run.prequential().map(|report| report.windowed);
        let alpha = trainer.alpha().unwrap_or_default();
        Self {
            update: step.update,
            documents: step.seen,
            tokens: trainer.tokens(),
            rho: step.rho,
            alpha_sum: alpha.iter().sum(),
            topics: trainer.topic_state().map_or(trainer.settings().components, |_| alpha.len()),
            topics_used: topics_used(&trainer.topic_tokens()),
            remainder: trainer.sticks().map_or(0.0, |sticks| sticks.remainder),
            seconds,
            prequential: score.map(|score| score.log_perplexity_per_document),
            prequential_error: score.and_then(|score| score.standard_error),
            prequential_unigram: score.map(|score| score.unigram_log_perplexity_per_document),
        }
    }
}

/// Records that stand evenly over the whole run, however long it is.
#[derive(Default)]
pub struct Records {
    kept: Vec<Record>,
    pub last: Option<Record>,
    stride: u64,
}

impl Observer for Records {
    fn notify(&mut self, run: &TrainingRun, event: &Event<'_>) -> gibbstream::Result<()> {
        if let Event::Learnt { step, seconds, .. } = event {
            self.add(Record::new(run, step, self.seconds() + seconds));
        }
        Ok(())
    }
}

impl Records {
    pub fn add(&mut self, record: Record) {
        self.last = Some(record);
        self.stride = self.stride.max(1);
        if record.update.is_multiple_of(self.stride) {
            self.kept.push(record);
        }
        if self.kept.len() >= MOST_RECORDS {
            self.stride *= 2;
            self.kept.retain(|record| record.update.is_multiple_of(self.stride));
        }
    }

    /// Time of training until now.
    fn seconds(&self) -> f64 {
        self.last.map_or(0.0, |last| last.seconds)
    }

    pub fn all(&self) -> impl Iterator<Item = &Record> {
        let newest = self.kept.last().map(|record| record.update);
        self.kept.iter().chain(self.last.iter().filter(move |last| newest != Some(last.update)))
    }
}
