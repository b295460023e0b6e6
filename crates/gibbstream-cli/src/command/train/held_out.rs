//! Documents that are kept aside while training, and how well the topics so far predict them.

use crate::measure::Cost;
use crate::output::count;
use crate::stream::Aside;
use gibbstream::corpus::{Document, OpenVocabulary, count_words};
use gibbstream::evaluation::{Evaluation, Score, Scorer, Unigram};
use gibbstream::random::Seed;
use gibbstream::trainer::Trainer;
use serde::Serialize;
use serde_json::{Value, json};

/// The documents, and how they are scored.
pub struct HeldOut {
    pub aside: Aside,
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
    /// Scores the documents; `None` before the first update. `open` is the vocabulary if it is not fixed.
    pub fn measure(
        &self,
        trainer: &Trainer,
        open: Option<&OpenVocabulary>,
        cost: Cost,
    ) -> gibbstream::Result<Option<Measured>> {
        let Some(topics) = trainer.topics() else { return Ok(None) };
        let unigram = Unigram::from_counts(trainer.word_counts().to_vec());
        let evaluation = Evaluation { seed: self.seed, threads: self.threads, ..Evaluation::default() };
        let score = Scorer::new(evaluation, &topics, &unigram)?.score(self.documents(open).map(Ok))?;
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

impl HeldOut {
    /// The documents, their words numbered as in training.
    fn documents<'a>(&'a self, open: Option<&'a OpenVocabulary>) -> impl Iterator<Item = Document> + 'a {
        let Aside { documents, words } = &self.aside;
        let words = words.as_ref().map(OpenVocabulary::vocabulary);
        documents.iter().map(move |document| match (&words, open) {
            (Some(words), Some(open)) => renumbered(document, |word| open.find(words.word(word))),
            _ => document.clone(),
        })
    }
}

fn renumbered(document: &Document, number: impl Fn(u32) -> Option<u32>) -> Document {
    let mut found = Document { id: document.id.clone(), ..Document::default() };
    for &(word, count) in &document.words {
        match number(word) {
            Some(word) => found.words.push((word, count)),
            None => found.out_of_vocabulary += u64::from(count),
        }
    }
    found.words = count_words(found.words);
    found
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
