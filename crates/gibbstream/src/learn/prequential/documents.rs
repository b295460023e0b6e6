//! Which documents of a minibatch are scored, and under which topics.

use super::estimate::{Estimated, cost, estimate};
use crate::corpus::{Document, Minibatch};
use crate::evaluation::sequential::Particles;
use crate::model::topics::lda::Topics;
use crate::model::topics::view::{TopicView, weight_and_prior};
use crate::numerics::math::dot;
use crate::numerics::random::{Purpose, Seed};
use rayon::prelude::*;
use serde::{Deserialize, Serialize};

/// A word that was never seen is one of about a million that may come, all alike: so its probability means the same at every
/// moment, however many words are known by then.
const WORDS_TO_COME: f64 = 1_048_576.0;

/// Minibatches that the share of new words is about.
const NEW_WORD_MEMORY: f64 = 50.0;

/// Topics for the words of some documents.
pub struct TopicTable {
    /// A row for each of the words, in their order.
    pub topics: Topics,
    /// The share of each topic in all tokens: what the words have without topics.
    pub shares: Vec<f64>,
}

/// Documents of a minibatch that are to be scored, reduced to words that were seen before.
pub struct Chosen {
    batch: Minibatch,
    new_tokens: Vec<u64>,
}

/// One of them.
pub struct ChosenDocument {
    /// Tokens of words that were seen before.
    pub tokens: u64,
    /// All others.
    pub new_tokens: u64,
}

/// How a document was predicted, with those of its words that were seen before.
pub struct DocumentScore {
    /// By the topics.
    pub topics: Estimated,
    /// `log p(X)` by the frequencies of words in all topics together.
    pub unigram: f64,
}

impl Chosen {
    /// Documents in random order, as long as there is credit; the last one may overdraw it, so that long documents are
    /// chosen as often as short ones.
    pub fn new(batch: &Minibatch, seed: Seed, credit: &mut f64, known: impl Fn(u32) -> bool) -> Self {
        let mut order: Vec<u32> = (0..batch.len() as u32).collect();
        seed.stream(Purpose::Prequential, [batch.pass(), batch.first()]).shuffle(&mut order);
        let (mut documents, mut new_tokens) = (Vec::new(), Vec::new());
        for index in order {
            if *credit <= 0.0 {
                break;
            }
            let (mut document, mut new) = (Document::default(), batch.unknown_of(index as usize));
            for entry in batch.document(index as usize) {
                let word = batch.words()[entry.word as usize];
                if known(word) {
                    document.words.push((word, entry.count));
                } else {
                    new += u64::from(entry.count);
                }
            }
            *credit -= cost(document.tokens().max(1));
            documents.push(document);
            new_tokens.push(new);
        }
        Self { batch: Minibatch::new(&documents, 0, 0), new_tokens }
    }

    /// The words that they have, ascending.
    pub fn words(&self) -> &[u32] {
        self.batch.words()
    }

    /// What they are made of.
    pub fn documents(&self) -> impl Iterator<Item = ChosenDocument> {
        let of = |(index, &new_tokens)| ChosenDocument { tokens: self.batch.tokens_of(index), new_tokens };
        self.new_tokens.iter().enumerate().map(of)
    }

    /// Scores them, on the threads of the current pool.
    pub fn score(&self, table: &TopicTable, seed: Seed) -> Vec<DocumentScore> {
        let Topics { beta, alpha } = &table.topics;
        let row = |word: usize| &beta[word * alpha.len()..][..alpha.len()];
        let mut view = TopicView::for_sampling();
        view.refresh(self.words(), alpha, |index, out| {
            out.copy_from_slice(row(index));
            weight_and_prior(out, alpha)
        });
        let frequencies: Vec<f64> = (0..self.words().len()).map(|word| dot(row(word), &table.shares)).collect();
        let score = |particles: &mut Particles, index: usize| {
            let document = self.batch.document(index);
            let log = |place: u32| libm::log(frequencies[place as usize]);
            let unigram = document.iter().map(|entry| f64::from(entry.count) * log(entry.word)).sum();
            // Without smoothing a word may be impossible, which the view does not know.
            let possible = document.iter().all(|entry| row(entry.word as usize).iter().any(|&p| p > 0.0));
            let topics = if possible {
                estimate(&view, document, seed, self.batch.content_key(index), particles)
            } else {
                Estimated { log_likelihood: f64::NEG_INFINITY, variance: 0.0 }
            };
            DocumentScore { topics, unigram }
        };
        (0..self.batch.len()).into_par_iter().with_max_len(1).map_init(Particles::default, score).collect()
    }
}

/// How often words come that were never seen, in a vocabulary that grows.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct NewWords {
    tokens: f64,
    new_tokens: f64,
}

impl NewWords {
    /// Takes a minibatch into account.
    pub(super) fn count(&mut self, batch: &Minibatch, known: impl Fn(u32) -> bool) {
        let kept = 1.0 - 1.0 / NEW_WORD_MEMORY;
        let unknown: u64 = (0..batch.len()).map(|index| batch.unknown_of(index)).sum();
        let new = |(place, &word): (usize, &u32)| if known(word) { 0 } else { batch.tokens_of_word(place) };
        let new: u64 = unknown + batch.words().iter().enumerate().map(new).sum::<u64>();
        self.tokens = kept * self.tokens + (batch.tokens() + unknown) as f64;
        self.new_tokens = kept * self.new_tokens + new as f64;
    }

    /// The probability that the word of a token is new.
    pub fn share(&self) -> f64 {
        (self.new_tokens + 0.5) / (self.tokens + 1.0)
    }

    /// What a document costs, in nats, because each token tells first whether its word is new, and a new word which of
    /// those to come it is.
    pub fn nats(&self, known: u64, new: u64) -> f64 {
        let share = self.share();
        -(known as f64 * libm::log1p(-share) + new as f64 * libm::log(share / WORDS_TO_COME))
    }
}
