//! Documents that are kept aside while training, and how well the topics so far predict them.

use crate::measure::Cost;
use crate::output::count;
use gibbstream::corpus::Document;
use gibbstream::evaluation::{Evaluation, Score, Scorer, Unigram};
use gibbstream::random::Seed;
use gibbstream::trainer::Trainer;
use serde::Serialize;
use serde_json::{Value, json};

/// The documents, and how they are scored.
pub struct HeldOut {
    pub documents: Vec<Document>,
    pub seed: Seed,
    pub threads: usize,
}

/// A score at some point of a run.
#[derive(Clone, Copy, Debug, Serialize)]
pub struct Measured {
    /// Minibatches learnt from.
    pub updates: u64,
    /// Documents learnt from.
    pub documents_seen: u64,
    /// Time spent training until then.
    pub train_seconds: f64,
    /// The same on all processors.
    pub train_cpu_seconds: f64,
    /// The score of the documents kept aside.
    #[serde(flatten)]
    pub score: Score,
}

impl HeldOut {
    /// Scores the documents; `None` before the first update.
    pub fn measure(&self, trainer: &Trainer, cost: Cost) -> gibbstream::Result<Option<Measured>> {
        let Some(topics) = trainer.topics() else { return Ok(None) };
        let unigram = Unigram::from_counts(trainer.word_counts().to_vec());
        let evaluation = Evaluation { seed: self.seed, threads: self.threads, ..Evaluation::default() };
        let score =
            Scorer::new(evaluation, &topics, &unigram)?.score(self.documents.iter().cloned().map(Ok))?;
        let clock = trainer.clock();
        Ok(Some(Measured {
            updates: clock.update,
            documents_seen: clock.seen,
            train_seconds: cost.wall.as_secs_f64(),
            train_cpu_seconds: cost.cpu.as_secs_f64(),
            score,
        }))
    }
}

impl Measured {
    /// For logs and for programs that watch.
    pub fn facts(&self) -> Value {
        let mut facts = json!(self);
        facts["kind"] = json!("evaluation");
        facts
    }
}

impl std::fmt::Display for Measured {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(
            f,
            "held-out after {} documents: {:.2} nats per document (unigram {:.2})",
            count(self.documents_seen),
            self.score.log_perplexity_per_document,
            self.score.unigram_log_perplexity_per_document,
        )
    }
}
