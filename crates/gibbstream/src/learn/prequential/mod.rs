//! Scores on the way: some documents of every minibatch are scored before they are learnt from (science.md 5.8).
//!
//! Such documents are held out for the moment, so a stream needs none that are kept aside forever, and the score is about
//! the newest ones. Effort is counted in draws of a topic, which is what training spends too: a tenth of them is allowed,
//! and what one minibatch leaves or overdraws, the next ones have. Nothing here changes what is learnt, unless the memory
//! is to adapt ([`drift`]).

mod change;
mod documents;
pub mod drift;
mod estimate;
mod means;

pub use documents::{NewWords, TopicTable};
pub use change::{Change, MovedTopic, MovedWord};
pub use drift::Alarm;
pub(super) use change::Before;
pub use means::{Means, ScoredMinibatch, StreamScore};

use crate::corpus::Minibatch;
use crate::evaluation::Estimator;
use crate::learn::schedule::Step;
use crate::learn::trainer::Trainer;
use documents::Chosen;
use drift::Drift;
use estimate::{PARTICLES, RUNS};
use serde::{Deserialize, Serialize};

/// What may be spent, as a share of what training takes.
const EFFORT: f64 = 0.1;

/// Entries of a table of topics that are computed in the time of a draw.
const ENTRIES_PER_DRAW: f64 = 64.0;

/// Scores so far. It goes into checkpoints, so that a run that was interrupted has the same.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Prequential {
    /// Draws that may be spent, or are owed.
    credit: f64,
    /// How often words come that were never seen, where the vocabulary grows.
    new_words: NewWords,
    means: Means,
    drift: Drift,
}

/// The scores as they are reported.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct PrequentialReport {
    /// How log p(X) is estimated.
    pub estimator: Estimator,
    /// Particles of a run.
    pub particles: usize,
    /// Independent runs for each document.
    pub runs: usize,
    /// Documents scored since the beginning.
    pub documents_scored: u64,
    /// The mean over the last minibatches.
    pub windowed: StreamScore,
    /// A mean in which older minibatches count less and less.
    pub faded: StreamScore,
}

impl Prequential {
    /// Scores some documents of a minibatch that nothing was learnt from yet, if there is effort left for it. `grows` tells
    /// whether words that were never seen may come.
    pub fn score(
        &mut self,
        trainer: &Trainer,
        batch: &Minibatch,
        grows: bool,
    ) -> Option<ScoredMinibatch> {
        let (settings, clock) = (trainer.settings(), trainer.clock());
        if clock.update == 0 || batch.pass() > 0 || settings.method.whole_corpus || batch.is_empty() {
            return None;
        }
        let known = |word: u32| !grows || trainer.word_counts().get(word as usize).is_some_and(|&count| count > 0);
        let base = self.new_words;
        if grows {
            self.new_words.count(batch, known);
        }
        self.credit += EFFORT * batch.tokens() as f64 * settings.method.sweeps as f64;
        let words = if settings.method.averaging.counts_words() { settings.features } else { batch.words().len() };
        let table = words as f64 * settings.components as f64 / ENTRIES_PER_DRAW;
        if self.credit < 2.0 * table {
            return None;
        }
        self.credit -= table;
        let chosen = Chosen::new(batch, settings.seed, &mut self.credit, known);
        let table = trainer.topics_of(chosen.words())?;
        let scores = trainer.on_all_threads(|| chosen.score(&table, settings.seed)).unwrap_or_default();
        let mut scored = ScoredMinibatch { update: clock.update + 1, seen: clock.seen, ..ScoredMinibatch::default() };
        for (document, score) in chosen.documents().zip(&scores) {
            let tokens = document.tokens + document.new_tokens;
            let new = if grows { base.nats(document.tokens, document.new_tokens) } else { 0.0 };
            scored.add(tokens, document.new_tokens, score, new);
        }
        if scored.documents == 0 {
            return None;
        }
        self.means.add(scored);
        Some(scored)
    }

    /// Looks for a change in the scores, after a minibatch was scored.
    pub fn watch(&mut self, scored: &ScoredMinibatch) -> Option<Alarm> {
        self.drift.watch(scored)
    }

    /// Where steps begin anew because of the last alarm: minibatches and documents before it.
    pub fn restart(&self) -> Option<Step> {
        let (update, seen) = self.drift.last_alarm()?;
        Some(Step { update: update - 1, seen, ..Step::default() })
    }

    /// The scores as they are reported; nothing before the first.
    pub fn report(&self) -> Option<PrequentialReport> {
        Some(PrequentialReport {
            estimator: Estimator::Smc,
            particles: PARTICLES,
            runs: RUNS,
            documents_scored: self.means.documents_scored(),
            windowed: self.means.windowed()?,
            faded: self.means.faded()?,
        })
    }

    /// The mean over the last minibatches.
    pub fn windowed(&self) -> Option<StreamScore> {
        self.means.windowed()
    }

    /// The mean in which older minibatches count less and less.
    pub fn faded(&self) -> Option<StreamScore> {
        self.means.faded()
    }

    /// True if nothing was scored yet.
    pub fn is_empty(&self) -> bool {
        *self == Self::default()
    }
}
