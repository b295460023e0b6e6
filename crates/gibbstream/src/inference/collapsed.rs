//! Collapsed Gibbs sampling of a whole corpus (Griffiths and Steyvers; science.md 3.13): the batch reference.
//!
//! Topics are integrated out together with topic proportions, so every token's topic depends on all others through
//! counts that move with each draw. That leaves nothing to do for single documents: they only take their starting
//! topics apart, and the sweeps over all of them run one token after another when the statistics are asked for.
//! The corpus has to be one minibatch. Another pass over it starts a new chain in the topics that the last one
//! found, with the alpha learnt from it.

use super::gibbs::{Window, starting_topics};
use super::{LocalInference, Passes};
use crate::corpus::Minibatch;
use crate::numerics::math::digamma;
use crate::model::topics::statistics::TopicStatistics;
use crate::model::topics::view::TopicView;
use crate::model::{LatentModel, Sums};
use crate::numerics::random::Stream;

/// Sweeps over all tokens of the corpus, some of which are kept.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct CollapsedGibbs {
    /// Number of sweeps.
    pub sweeps: usize,
    /// Which of them are kept.
    pub window: Window,
    /// Parameter b of the symmetric prior of topics.
    pub prior: f64,
    /// Size of the vocabulary V.
    pub vocabulary: usize,
}

/// The topics of a document's tokens, in the order of its words.
#[derive(Clone, Debug, Default)]
pub struct Assignment {
    topics: Vec<u32>,
    random: Stream,
}

/// All counts of the chain.
struct Counts {
    topics: usize,
    /// `documents x topics`.
    documents: Vec<f64>,
    /// `words of the corpus x topics`.
    words: Vec<f64>,
    totals: Vec<f64>,
}

impl Counts {
    fn add(&mut self, document: usize, word: usize, topic: usize, by: f64) {
        self.documents[document * self.topics + topic] += by;
        self.words[word * self.topics + topic] += by;
        self.totals[topic] += by;
    }
}

impl CollapsedGibbs {
    /// Draws the topic of every token anew, given all the others.
    fn sweep(
        &self,
        alpha: &[f64],
        batch: &Minibatch,
        assignments: &mut [Assignment],
        counts: &mut Counts,
        weights: &mut [f64],
    ) {
        let k = alpha.len();
        let all_words = self.prior * self.vocabulary as f64;
        for (document, assignment) in assignments.iter_mut().enumerate() {
            let words = tokens(batch, document);
            for (word, topic) in words.zip(&mut assignment.topics) {
                counts.add(document, word, *topic as usize, -1.0);
                let (of_document, of_word) = (&counts.documents[document * k..], &counts.words[word * k..]);
                for (topic, weight) in weights.iter_mut().enumerate() {
                    *weight = (of_document[topic] + alpha[topic]) * (of_word[topic] + self.prior)
                        / (counts.totals[topic] + all_words);
                }
                *topic = assignment.random.categorical(weights) as u32;
                counts.add(document, word, *topic as usize, 1.0);
            }
        }
    }
}

/// The word of every token of a document, as a place among the words of the minibatch.
fn tokens(batch: &Minibatch, document: usize) -> impl Iterator<Item = usize> + '_ {
    let entries = batch.document(document).iter();
    entries.flat_map(|entry| std::iter::repeat_n(entry.word as usize, entry.count as usize))
}

impl<M> LocalInference<M> for CollapsedGibbs
where
    M: LatentModel<Batch = Minibatch, View = TopicView, Statistics = TopicStatistics>,
{
    type Latent = Assignment;
    type Scratch = ();

    fn passes(&self) -> usize {
        self.sweeps
    }

    fn first_kept(&self) -> usize {
        self.window.first_kept(self.sweeps)
    }

    /// Every token starts in a topic drawn by its word alone.
    fn begin(
        &self,
        view: &TopicView,
        batch: &Minibatch,
        index: usize,
        latent: &mut Assignment,
        mut random: Stream,
    ) {
        latent.topics.clear();
        let start = starting_topics(view, batch.document(index), &mut random);
        latent.topics.extend(start.map(|(_, topic)| topic));
        latent.random = random;
    }

    fn advance(&self, _: &TopicView, _: &Minibatch, _: usize, _: &mut Assignment, (): &mut (), _: Passes) {}

    fn collect(
        &self,
        view: &TopicView,
        batch: &Minibatch,
        latents: &mut [Assignment],
        out: &mut TopicStatistics,
    ) {
        let (topics, alpha) = (view.topics(), view.alpha());
        let mut assignments = latents.to_vec();
        let mut counts = Counts {
            topics,
            documents: vec![0.0; batch.len() * topics],
            words: vec![0.0; batch.words().len() * topics],
            totals: vec![0.0; topics],
        };
        for (document, assignment) in assignments.iter().enumerate() {
            for (word, &topic) in tokens(batch, document).zip(&assignment.topics) {
                counts.add(document, word, topic as usize, 1.0);
            }
        }
        let mut sums = vec![0.0; counts.words.len()];
        let (mut gains, mut weights) = (Sums::new(topics), vec![0.0; topics]);
        let first_kept = LocalInference::<M>::first_kept(self);
        let at_zero: Vec<f64> = alpha.iter().map(|&alpha| digamma(alpha)).collect();
        for sweep in 0..self.sweeps {
            self.sweep(alpha, batch, &mut assignments, &mut counts, &mut weights);
            if sweep < first_kept {
                continue;
            }
            sums.iter_mut().zip(&counts.words).for_each(|(sum, count)| *sum += count);
            gains.count(batch.len() as u64);
            for of_document in counts.documents.chunks_exact(topics) {
                for (k, &count) in of_document.iter().enumerate().filter(|&(_, &count)| count > 0.0) {
                    gains.add_at(k, &[digamma(alpha[k] + count) - at_zero[k]]);
                }
            }
        }
        out.set_rows(view, batch, self.sweeps - first_kept, gains, |word, row| {
            row.copy_from_slice(&sums[word * topics..][..topics]);
        });
    }
}
