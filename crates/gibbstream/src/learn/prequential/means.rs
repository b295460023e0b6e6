//! Means of scores over the last minibatches, and over all of them with older ones fading.

use super::documents::DocumentScore;
use serde::{Deserialize, Serialize};
use std::collections::VecDeque;

/// Scored minibatches in the window.
const WINDOW: usize = 50;

/// What a minibatch counts for, relative to the next one, in the faded mean.
const FADING: f64 = 0.99;

/// Sums over the scored documents of a minibatch.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ScoredMinibatch {
    /// The number of the update that it was scored before.
    pub update: u64,
    /// Documents that the model had learnt from.
    pub seen: u64,
    /// Documents that were scored.
    pub documents: u64,
    /// Their tokens.
    pub tokens: u64,
    /// Those of words that were never seen before, where the vocabulary grows.
    pub new_tokens: u64,
    /// Sum of `-log p(X)`.
    pub nats: f64,
    /// Sum of its squares.
    pub squares: f64,
    /// Sum of the variances of the estimates.
    pub variance: f64,
    /// Sum of `-log p(X)` by the frequencies of words alone.
    pub unigram: f64,
}

impl ScoredMinibatch {
    /// Counts a document; `new` is what its words cost for being new or not. A model without smoothing can be infinitely
    /// bad, which no mean shows.
    pub(super) fn add(&mut self, tokens: u64, new_tokens: u64, score: &DocumentScore, new: f64) {
        let nats = new - score.topics.log_likelihood;
        if !nats.is_finite() {
            return;
        }
        self.documents += 1;
        self.tokens += tokens;
        self.new_tokens += new_tokens;
        self.nats += nats;
        self.squares += nats * nats;
        self.variance += score.topics.variance;
        self.unigram += new - score.unigram;
    }

    /// Nats of a token.
    pub fn per_token(&self) -> Option<f64> {
        (self.tokens > 0).then(|| self.nats / self.tokens as f64)
    }
}

/// A mean over documents; logarithms are natural.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct StreamScore {
    /// Documents that it is over; of a faded mean, as many as would be as sure.
    pub documents: f64,
    /// Mean of `-log p(X)` of documents that were not learnt from yet.
    pub log_perplexity_per_document: f64,
    /// Its standard error over documents.
    pub standard_error: Option<f64>,
    /// The part of it that comes from estimating.
    pub monte_carlo_error: f64,
    /// Sum of `log p(X)` over the number of tokens.
    pub log_likelihood_per_token: Option<f64>,
    /// The first of these by the frequencies of words alone, with the memory that the topics have.
    pub unigram_log_perplexity_per_document: f64,
    /// Share of the tokens whose words were never seen before, where the vocabulary grows.
    pub new_token_share: f64,
}

/// Weighted sums over minibatches.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct WeightedSums {
    documents: f64,
    /// With squared weights.
    documents_squared: f64,
    tokens: f64,
    new_tokens: f64,
    nats: f64,
    squares: f64,
    /// With squared weights.
    variance: f64,
    unigram: f64,
}

impl WeightedSums {
    fn fade(&mut self, by: f64) {
        for sum in [
            &mut self.documents,
            &mut self.tokens,
            &mut self.new_tokens,
            &mut self.nats,
            &mut self.squares,
            &mut self.unigram,
        ] {
            *sum *= by;
        }
        self.documents_squared *= by * by;
        self.variance *= by * by;
    }

    fn add(&mut self, scored: &ScoredMinibatch) {
        self.documents += scored.documents as f64;
        self.documents_squared += scored.documents as f64;
        self.tokens += scored.tokens as f64;
        self.new_tokens += scored.new_tokens as f64;
        self.nats += scored.nats;
        self.squares += scored.squares;
        self.variance += scored.variance;
        self.unigram += scored.unigram;
    }

    fn score(&self) -> Option<StreamScore> {
        if self.documents <= 0.0 {
            return None;
        }
        let mean = self.nats / self.documents;
        let alike = self.documents * self.documents / self.documents_squared;
        let variance = (self.squares / self.documents - mean * mean).max(0.0) / (alike - 1.0);
        Some(StreamScore {
            documents: alike,
            log_perplexity_per_document: mean,
            standard_error: (alike > 1.0).then(|| variance.sqrt()),
            monte_carlo_error: self.variance.sqrt() / self.documents,
            log_likelihood_per_token: (self.tokens > 0.0).then(|| -self.nats / self.tokens),
            unigram_log_perplexity_per_document: self.unigram / self.documents,
            new_token_share: if self.tokens > 0.0 { self.new_tokens / self.tokens } else { 0.0 },
        })
    }
}

/// The means.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Means {
    documents_scored: u64,
    window: VecDeque<ScoredMinibatch>,
    faded: WeightedSums,
}

impl Means {
    pub(super) fn add(&mut self, scored: ScoredMinibatch) {
        self.documents_scored += scored.documents;
        self.faded.fade(FADING);
        self.faded.add(&scored);
        self.window.push_back(scored);
        if self.window.len() > WINDOW {
            self.window.pop_front();
        }
    }

    /// Documents scored since the beginning.
    pub fn documents_scored(&self) -> u64 {
        self.documents_scored
    }

    /// The mean over the last minibatches; nothing before the first.
    pub fn windowed(&self) -> Option<StreamScore> {
        let mut sums = WeightedSums::default();
        self.window.iter().for_each(|scored| sums.add(scored));
        sums.score()
    }

    /// The mean in which older minibatches fade.
    pub fn faded(&self) -> Option<StreamScore> {
        self.faded.score()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::learn::prequential::estimate::Estimated;

    fn document(nats: f64, variance: f64) -> DocumentScore {
        DocumentScore { topics: Estimated { log_likelihood: -nats, variance }, unigram: -2.0 * nats }
    }

    #[test]
    fn means_and_errors_in_closed_form() {
        let mut means = Means::default();
        assert_eq!((means.windowed(), means.faded()), (None, None));
        let (mut first, mut second) = (ScoredMinibatch::default(), ScoredMinibatch::default());
        first.add(10, 0, &document(20.0, 4.0), 0.0);
        first.add(5, 0, &document(10.0, 5.0), 0.0);
        second.add(5, 1, &document(11.0, 9.0), 1.0);
        second.add(5, 0, &document(f64::INFINITY, 0.0), 0.0);
        means.add(first);
        means.add(second);
        let found = means.windowed().unwrap();
        assert_eq!((found.documents, means.documents_scored()), (3.0, 3));
        assert!((found.log_perplexity_per_document - 14.0).abs() < 1e-12);
        assert!((found.unigram_log_perplexity_per_document - 83.0 / 3.0).abs() < 1e-12);
        assert!((found.log_likelihood_per_token.unwrap() + 42.0 / 20.0).abs() < 1e-12);
        // The spread of 20, 10 and 12, and the mean of variances 4, 5 and 9.
        assert!((found.standard_error.unwrap() - (56.0_f64 / 3.0 / 2.0).sqrt()).abs() < 1e-12);
        assert!((found.monte_carlo_error - 18.0_f64.sqrt() / 3.0).abs() < 1e-12);
        assert_eq!(found.new_token_share, 0.05);
        let faded = means.faded().unwrap();
        let expected = (0.99 * 30.0 + 12.0) / (0.99 * 2.0 + 1.0);
        assert!((faded.log_perplexity_per_document - expected).abs() < 1e-12);
    }

    #[test]
    fn the_window_forgets_and_memory_is_bounded() {
        let mut means = Means::default();
        for nats in 0..10_000 {
            let mut scored = ScoredMinibatch::default();
            scored.add(1, 0, &document(if nats < 9_900 { 100.0 } else { 7.0 }, 0.0), 0.0);
            means.add(scored);
        }
        assert_eq!(means.window.len(), WINDOW);
        assert_eq!(means.windowed().unwrap().log_perplexity_per_document, 7.0);
        let faded = means.faded().unwrap();
        assert!((195.0..200.0).contains(&faded.documents), "{}", faded.documents);
        assert!(faded.log_perplexity_per_document > 30.0);
    }
}
