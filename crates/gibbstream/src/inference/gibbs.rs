//! Local Gibbs sampling: the E-step of G-OEM (Algorithm 2 of the paper, algorithms.md 3.2).

use super::LocalInference;
use super::chain::{Chain, Kept};
use crate::corpus::Minibatch;
use crate::math::digamma;
use crate::model::LatentModel;
use crate::model::lda::TopicExpectation;
use crate::model::view::TopicView;
use crate::random::Stream;
use rayon::prelude::*;
use std::ops::Range;

/// Sweeps of collapsed Gibbs sampling, the last quarter of which is kept.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Gibbs {
    /// Number of sweeps P.
    pub sweeps: usize,
}

/// The topics of a document's tokens, its random stream, and the statistics kept.
#[derive(Clone, Debug, Default)]
pub struct DocumentTopics {
    /// (row of the word, topic) for every token.
    tokens: Vec<(u32, u32)>,
    random: Stream,
    kept: Kept,
}

impl<M> LocalInference<M> for Gibbs
where
    M: LatentModel<Batch = Minibatch, View = TopicView, Expectation = TopicExpectation>,
{
    type Latent = DocumentTopics;
    type Scratch = Chain;

    fn passes(&self) -> usize {
        self.sweeps
    }

    fn first_kept(&self) -> usize {
        self.sweeps - (self.sweeps / 4).max(1)
    }

    /// Every token starts in a topic drawn by its word alone.
    fn begin(
        &self,
        view: &TopicView,
        batch: &Minibatch,
        index: usize,
        latent: &mut DocumentTopics,
        mut random: Stream,
    ) {
        latent.tokens.clear();
        for (row, entry) in batch.document(index).iter().enumerate() {
            for _ in 0..entry.count {
                let topic = view.find_in_weights(entry.word, random.uniform());
                latent.tokens.push((row as u32, topic as u32));
            }
        }
        latent.random = random;
    }

    fn advance(
        &self,
        view: &TopicView,
        batch: &Minibatch,
        index: usize,
        latent: &mut DocumentTopics,
        chain: &mut Chain,
        passes: Range<usize>,
        first_kept: usize,
    ) {
        chain.reset(view, batch.document(index).iter().map(|entry| entry.word));
        chain.load(view, latent.tokens.iter().copied());
        let last = passes.end;
        for pass in passes {
            chain.sweep(view, &mut latent.random);
            if pass >= first_kept {
                chain.keep(view);
            } else {
                chain.compact();
            }
        }
        if last < self.sweeps {
            latent.tokens.clear();
            latent.tokens.extend(chain.tokens());
        }
        chain.take_kept(&mut latent.kept);
    }

    fn expect(
        &self,
        view: &TopicView,
        batch: &Minibatch,
        latents: &[DocumentTopics],
        out: &mut TopicExpectation,
    ) {
        expected_counts(view, batch, latents, out);
        expected_log_theta(view, batch, latents, &mut out.log_theta);
    }
}

/// Words whose counts one thread collects from all documents.
const WORDS_PER_TASK: usize = 64;

/// Mean over documents of the expected counts. A word's counts are added up in the order of documents by
/// whichever thread owns the word.
fn expected_counts(
    view: &TopicView,
    batch: &Minibatch,
    latents: &[DocumentTopics],
    out: &mut TopicExpectation,
) {
    let topics = view.topics();
    let words = batch.words().len();
    let sweeps = latents.iter().map(|latent| latent.kept.sweeps).max().unwrap_or(1);
    let per_document = 1.0 / (sweeps * batch.len()) as f64;
    out.counts.clear();
    out.counts.resize(words * topics, 0.0);
    let task_totals: Vec<Vec<f64>> = out
        .counts
        .par_chunks_mut(WORDS_PER_TASK * topics)
        .enumerate()
        .map(|(task, counts)| {
            let first = (task * WORDS_PER_TASK) as u32;
            let gains = collect(view, batch, latents, first, counts);
            let mut totals = vec![0.0; topics];
            for (i, counts) in counts.chunks_exact_mut(topics).enumerate() {
                let weights = view.row(first + i as u32);
                for (k, count) in counts.iter_mut().enumerate() {
                    *count = per_document * weights[k] * (*count + gains[i] * view.alpha()[k]);
                    totals[k] += *count;
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

/// Adds the kept shares of the words `first..` (as many as `counts` has rows) and returns their gains.
fn collect(
    view: &TopicView,
    batch: &Minibatch,
    latents: &[DocumentTopics],
    first: u32,
    counts: &mut [f64],
) -> Vec<f64> {
    let topics = view.topics();
    let mut gains = vec![0.0; counts.len() / topics];
    let end = first + gains.len() as u32;
    for (index, latent) in latents.iter().enumerate() {
        let Kept { topics: columns, shares, columns: stride, gains: kept_gains, .. } = &latent.kept;
        let document = batch.document(index);
        let rows = document.partition_point(|entry| entry.word < first);
        for (row, entry) in document.iter().enumerate().skip(rows).take_while(|(_, entry)| entry.word < end) {
            let word = (entry.word - first) as usize;
            gains[word] += kept_gains[row];
            let counts = &mut counts[word * topics..][..topics];
            for (&topic, share) in columns.iter().zip(&shares[row * stride..][..*stride]) {
                counts[topic as usize] += share;
            }
        }
    }
    gains
}

/// Sizes up to this go through an integer histogram, larger ones through digamma.
const LARGEST_BINNED: u32 = 1024;

/// Mean over documents of `E[log theta_k] = E[digamma(alpha_k + n_k)] - digamma(sum alpha + N)`, through
/// `digamma(a + n) - digamma(a) = sum_{j<n} 1 / (a + j)` (algorithms.md 8.2).
fn expected_log_theta(view: &TopicView, batch: &Minibatch, latents: &[DocumentTopics], out: &mut Vec<f64>) {
    let topics = view.topics();
    let sweeps = latents.iter().map(|latent| latent.kept.sweeps).max().unwrap_or(1) as f64;
    let sizes = || latents.iter().flat_map(|latent| latent.kept.sizes.iter().copied());
    let bins = sizes().map(|(_, size)| size.min(LARGEST_BINNED)).max().unwrap_or(0) as usize;
    let mut histogram = vec![0_u32; topics * bins];
    out.clear();
    out.resize(topics, 0.0);
    for (topic, size) in sizes() {
        let k = topic as usize;
        if size <= LARGEST_BINNED {
            histogram[k * bins + size as usize - 1] += 1;
        } else {
            out[k] += digamma(view.alpha()[k] + f64::from(size)) - digamma(view.alpha()[k]);
        }
    }
    let norm =
        (0..batch.len()).map(|index| digamma(view.alpha_sum() + batch.tokens_of(index) as f64)).sum::<f64>()
            / batch.len() as f64;
    for (k, out) in out.iter_mut().enumerate() {
        let alpha = view.alpha()[k];
        // Documents with more than j tokens in the topic each contribute 1 / (alpha + j).
        let mut larger: u32 = histogram[k * bins..][..bins].iter().sum();
        for (j, &exactly) in histogram[k * bins..][..bins].iter().enumerate() {
            if larger == 0 {
                break;
            }
            *out += f64::from(larger) / (alpha + j as f64);
            larger -= exactly;
        }
        *out = *out / (sweeps * batch.len() as f64) + digamma(alpha) - norm;
    }
}
