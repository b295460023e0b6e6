//! How learning went, in a few hundred numbers that stay in the model.

use super::held_out::Evaluated;
use super::parameters::AnyScore;
use super::prequential::{Change, Prequential};
use crate::learn::schedule::Step;
use serde::{Deserialize, Serialize};

/// Moments that are kept. Beyond it every other one is dropped, and only every other one is taken from then on.
const MOST_MOMENTS: usize = 256;

/// Moments of a run. Nothing in it depends on how fast a machine is, so it has the same bits wherever the model has.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Trace {
    /// Updates between two moments.
    stride: u64,
    /// How learning stood, oldest first.
    pub moments: Vec<Moment>,
    /// Scores of what was held out, oldest first.
    pub scores: Vec<TracedScore>,
    /// Scores of documents that were not learnt from yet, and what it takes to go on with them.
    #[serde(skip_serializing_if = "Prequential::is_empty")]
    pub prequential: Prequential,
    /// Changes of the stream that were noticed, oldest first; the last of them if there are many.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub drift: Vec<Change>,
}

/// How learning stood after an update.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Moment {
    /// Minibatches learnt from.
    pub updates: u64,
    /// Documents or rows learnt from.
    pub documents: u64,
    /// Weight of the last minibatch.
    pub step: f64,
    /// Sum of alpha over topics, if there are topics.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub alpha_sum: Option<f64>,
    /// Topics in use, where their number is open.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub topics_used: Option<u64>,
    /// Mean of `-log p(X)` of the last documents before they were learnt from, in nats.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub prequential: Option<f64>,
    /// Its standard error.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub prequential_error: Option<f64>,
    /// The same by the frequencies of words alone.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub prequential_unigram: Option<f64>,
}

/// A score of what was held out.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct TracedScore {
    /// Documents or rows learnt from.
    pub documents: u64,
    /// How it was estimated.
    pub estimator: String,
    /// Documents or rows held out.
    pub held_out: u64,
    /// Mean of -log p(x), in nats.
    pub score: f64,
    /// Standard error of the mean, if there is more than one.
    pub standard_error: Option<f64>,
    /// What the baseline is called, and its score.
    pub baseline: (String, f64),
}

impl Trace {
    /// True if nothing was written down.
    pub fn is_empty(&self) -> bool {
        self.moments.is_empty() && self.scores.is_empty() && self.prequential.is_empty() && self.drift.is_empty()
    }

    /// Takes a moment, if it is one of those that are kept.
    pub fn learnt(&mut self, step: &Step, alpha_sum: Option<f64>, topics_used: Option<usize>) {
        self.stride = self.stride.max(1);
        if !step.update.is_multiple_of(self.stride) {
            return;
        }
        let score = self.prequential.windowed();
        self.moments.push(Moment {
            updates: step.update,
            documents: step.seen,
            step: step.rho,
            alpha_sum,
            topics_used: topics_used.map(|used| used as u64),
            prequential: score.map(|score| score.log_perplexity_per_document),
            prequential_error: score.and_then(|score| score.standard_error),
            prequential_unigram: score.map(|score| score.unigram_log_perplexity_per_document),
        });
        if self.moments.len() > MOST_MOMENTS {
            self.stride *= 2;
            let stride = self.stride;
            self.moments.retain(|moment| moment.updates.is_multiple_of(stride));
        }
    }

    /// Takes a change of the stream; beyond the most that are kept, the oldest goes.
    pub fn changed(&mut self, change: Change) {
        if self.drift.len() == MOST_MOMENTS {
            self.drift.remove(0);
        }
        self.drift.push(change);
    }

    /// Takes a score; beyond the most that are kept, every other old one goes. A model without smoothing can be infinitely
    /// bad, which no curve shows.
    pub fn scored(&mut self, evaluated: &Evaluated) {
        if !evaluated.score.log_perplexity().is_finite() {
            return;
        }
        let (estimator, held_out, standard_error) = match evaluated.score {
            AnyScore::Documents(score) => (score.estimator.name(), score.documents, score.standard_error),
            AnyScore::Rows(score) => (score.estimator, score.documents, score.standard_error),
        };
        let (name, baseline) = evaluated.score.baseline();
        self.scores.push(TracedScore {
            documents: evaluated.documents_seen,
            estimator: estimator.to_owned(),
            held_out,
            score: evaluated.score.log_perplexity(),
            standard_error,
            baseline: (name.to_owned(), baseline),
        });
        if self.scores.len() > MOST_MOMENTS {
            let mut number = 0;
            self.scores.retain(|_| {
                number += 1;
                number % 2 == 1
            });
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_long_run_keeps_few_moments_spread_over_all_of_it() {
        let mut trace = Trace::default();
        for update in 1..=100_000 {
            let step = Step { update, seen: 10 * update, rho: 1.0 / update as f64, ..Step::default() };
            trace.learnt(&step, Some(1.0), None);
        }
        let count = trace.moments.len();
        assert!((MOST_MOMENTS / 2..=MOST_MOMENTS).contains(&count), "{count}");
        let gaps: Vec<u64> = trace.moments.windows(2).map(|two| two[1].updates - two[0].updates).collect();
        assert!(gaps.iter().all(|&gap| gap == trace.stride), "{gaps:?}");
        assert!(trace.moments[count - 1].updates > 99_000);
    }

    #[test]
    fn going_on_from_a_file_gives_the_same_moments() {
        let step = |update| Step { update, seen: update, rho: 0.5, ..Step::default() };
        let mut whole = Trace::default();
        (1..=1000).for_each(|update| whole.learnt(&step(update), None, Some(3)));
        let mut part = Trace::default();
        (1..=617).for_each(|update| part.learnt(&step(update), None, Some(3)));
        let mut part: Trace = serde_json::from_str(&serde_json::to_string(&part).unwrap()).unwrap();
        (618..=1000).for_each(|update| part.learnt(&step(update), None, Some(3)));
        assert_eq!(part, whole);
    }
}
