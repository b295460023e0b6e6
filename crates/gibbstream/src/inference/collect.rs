//! From what was kept of each document to the expected statistics of the minibatch.
//!
//! Every number is summed in the order of documents by the thread that owns its word, so neither the number of
//! threads nor their timing changes a bit.

use crate::corpus::Minibatch;
use crate::math::digamma;
use crate::model::topics::TwoRows;
use crate::model::view::TopicView;
use rayon::prelude::*;

/// Words whose counts one thread collects from all documents.
const WORDS_PER_TASK: usize = 64;

/// What local inference kept of one document.
pub(crate) trait DocumentCounts: Sync {
    /// Number of terms that the kept numbers are sums of.
    fn terms(&self) -> usize;

    /// Adds the counts of the word in `row` to `counts`, one per topic.
    fn add_counts(&self, row: usize, counts: &mut [f64]);

    /// Per word, a gain g that stands for counts `g alpha_k` in all topics.
    fn gain(&self, _row: usize) -> f64 {
        0.0
    }

    /// Whether the counts and gains already contain the weights of their word.
    fn weights(&self) -> Weights;
}

/// What counts are still to be multiplied by, once per word.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Weights {
    /// Nothing.
    Included,
    /// `phi_kw`.
    Missing,
    /// `phi_kw`, relative to the prior mass of the word.
    Relative,
}

/// Adds up the counts of a minibatch, word by word.
pub(crate) struct Collector<'a, D> {
    view: &'a TopicView,
    batch: &'a Minibatch,
    documents: &'a [D],
    weights: Weights,
    share: f64,
}

impl<'a, D: DocumentCounts> Collector<'a, D> {
    /// The view must be the one that the documents were inferred with.
    pub(crate) fn new(view: &'a TopicView, batch: &'a Minibatch, documents: &'a [D]) -> Self {
        let terms = documents.iter().map(D::terms).max().unwrap_or(1);
        let weights = documents.first().map_or(Weights::Included, D::weights);
        Self { view, batch, documents, weights, share: 1.0 / (terms * batch.len()) as f64 }
    }

    /// Adds `weight` times the expected counts of a word, per document, to its row of `sums`, and the counts to `totals`; `space`
    /// has room for one number per topic.
    pub(crate) fn add(
        &self,
        word: usize,
        weight: f64,
        space: &mut [f64],
        sums: TwoRows<'_>,
        totals: &mut [f64],
    ) {
        space.fill(0.0);
        let (TwoRows { this, next }, mut gain) = (sums, 0.0);
        for place in self.batch.occurrences(word) {
            let document = &self.documents[place.document as usize];
            gain += document.gain(place.row as usize);
            document.add_counts(place.row as usize, space);
        }
        match self.weights {
            Weights::Included => {
                for (count, (sum, total)) in space.iter().zip(this.iter_mut().zip(totals)) {
                    let count = count * self.share;
                    *total += count;
                    *sum += weight * count;
                }
            }
            Weights::Missing => {
                let rows = space.iter().zip(self.view.row(word as u32));
                for ((count, row), (sum, total)) in rows.zip(this.iter_mut().zip(totals)) {
                    let count = count * row * self.share;
                    *total += count;
                    *sum += weight * count;
                }
            }
            Weights::Relative => {
                // Topics beyond those known were born in this minibatch: no prior has mass in them.
                let known = self.view.known_topics();
                let ((space, born), (this, born_sums)) = (space.split_at(known), this.split_at_mut(known));
                let (totals, born_totals) = totals.split_at_mut(known);
                let sums = TwoRows { this, next };
                self.view.add_counts(word as u32, space, gain, self.share, weight, sums, totals);
                let relative = f64::from(self.view.relative(word as u32, known));
                for (count, (sum, total)) in born.iter().zip(born_sums.iter_mut().zip(born_totals)) {
                    let count = relative * count * self.share;
                    *total += count;
                    *sum += weight * count;
                }
            }
        }
    }

    /// Writes the expected counts of all words, and their totals.
    pub(crate) fn write_all(&self, counts: &mut Vec<f64>, totals: &mut Vec<f64>) {
        let topics = self.view.topics();
        counts.resize(self.batch.words().len() * topics, 0.0);
        let tasks = counts.par_chunks_mut(WORDS_PER_TASK * topics).enumerate();
        let task_totals: Vec<Vec<f64>> = tasks
            .map(|(task, rows)| {
                let (mut totals, mut space) = (vec![0.0; topics], vec![0.0; topics]);
                for (i, counts) in rows.chunks_exact_mut(topics).enumerate() {
                    counts.fill(0.0);
                    let rows = TwoRows { this: counts, next: &[] };
                    self.add(task * WORDS_PER_TASK + i, 1.0, &mut space, rows, &mut totals);
                }
                totals
            })
            .collect();
        totals.clear();
        totals.resize(topics, 0.0);
        for task in task_totals {
            totals.iter_mut().zip(task).for_each(|(total, part)| *total += part);
        }
    }
}

/// Mean over documents of `digamma(A + N)`.
pub(crate) fn mean_total(view: &TopicView, batch: &Minibatch) -> f64 {
    let sum: f64 =
        (0..batch.len()).map(|index| digamma(view.alpha_sum() + batch.tokens_of(index) as f64)).sum();
    sum / batch.len() as f64
}
