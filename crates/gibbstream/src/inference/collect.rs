//! From what was kept of each document to the expected statistics of the minibatch.
//!
//! Every number is summed in the order of documents by the thread that owns its word, so neither the number of
//! threads nor their timing changes a bit.

use crate::corpus::Minibatch;
use crate::math::digamma;
use crate::model::lda::TopicExpectation;
use crate::model::view::TopicView;
use rayon::prelude::*;

/// Words whose counts one thread collects from all documents.
const WORDS_PER_TASK: usize = 64;

/// What local inference kept of one document.
pub(crate) trait Kept: Sync {
    /// Number of terms that the kept numbers are sums of.
    fn terms(&self) -> usize;

    /// Adds the counts of the word in `row` to `counts`, one per topic.
    fn add_counts(&self, row: usize, counts: &mut [f64]);

    /// Per word, a gain g that stands for counts `g alpha_k phi_kw` in all topics.
    fn gain(&self, _row: usize) -> f64 {
        0.0
    }

    /// Whether `add_counts` leaves the factor `phi_kw` out, so that it is multiplied in once per word.
    fn without_weights(&self) -> bool;
}

/// Mean over documents of the expected counts.
pub(crate) fn expected_counts<D: Kept>(
    view: &TopicView,
    batch: &Minibatch,
    documents: &[D],
    out: &mut TopicExpectation,
) {
    let topics = view.topics();
    let terms = documents.iter().map(Kept::terms).max().unwrap_or(1);
    let without_weights = documents.first().is_some_and(Kept::without_weights);
    let share = 1.0 / (terms * batch.len()) as f64;
    out.counts.clear();
    out.counts.resize(batch.words().len() * topics, 0.0);
    let task_totals: Vec<Vec<f64>> = out
        .counts
        .par_chunks_mut(WORDS_PER_TASK * topics)
        .enumerate()
        .map(|(task, counts)| {
            let first = (task * WORDS_PER_TASK) as u32;
            let gains = collect(batch, documents, first, topics, counts);
            let mut totals = vec![0.0; topics];
            for (i, counts) in counts.chunks_exact_mut(topics).enumerate() {
                if without_weights {
                    let weights = view.row(first + i as u32).iter().zip(view.alpha());
                    for (count, (weight, alpha)) in counts.iter_mut().zip(weights) {
                        *count = weight * (*count + gains[i] * alpha);
                    }
                }
                for (count, total) in counts.iter_mut().zip(&mut totals) {
                    *count *= share;
                    *total += *count;
                }
            }
            totals
        })
        .collect();
    out.totals.clear();
    out.totals.resize(topics, 0.0);
    for task in task_totals {
        out.totals.iter_mut().zip(task).for_each(|(total, part)| *total += part);
    }
}

/// Adds the counts of the words `first..` (as many as `counts` has rows) and returns their gains.
fn collect<D: Kept>(
    batch: &Minibatch,
    documents: &[D],
    first: u32,
    topics: usize,
    counts: &mut [f64],
) -> Vec<f64> {
    let mut gains = vec![0.0; counts.len() / topics];
    let end = first + gains.len() as u32;
    for (index, kept) in documents.iter().enumerate() {
        let document = batch.document(index);
        let start = document.partition_point(|entry| entry.word < first);
        for (row, entry) in document.iter().enumerate().skip(start).take_while(|(_, entry)| entry.word < end)
        {
            let word = (entry.word - first) as usize;
            gains[word] += kept.gain(row);
            kept.add_counts(row, &mut counts[word * topics..][..topics]);
        }
    }
    gains
}

/// Mean over documents of `digamma(A + N)`.
pub(crate) fn mean_total(view: &TopicView, batch: &Minibatch) -> f64 {
    let sum: f64 =
        (0..batch.len()).map(|index| digamma(view.alpha_sum() + batch.tokens_of(index) as f64)).sum();
    sum / batch.len() as f64
}
