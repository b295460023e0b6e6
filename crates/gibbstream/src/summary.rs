//! What each topic is about: its best words, its share, and whether it is any good.

use crate::model::topics::lda::Topics;
use std::cmp::Ordering;

/// One topic for people.
#[derive(Clone, Debug, PartialEq)]
pub struct TopicSummary {
    /// Expected share of all tokens.
    pub share: f64,
    /// How much the topic is expected in a document before it is read.
    pub alpha: f64,
    /// exp of the entropy: over how many words the topic is spread.
    pub effective_words: f64,
    /// How much its best words belong to it and to no other topic, from 0 to 1.
    pub exclusivity: f64,
    /// Its best words, each with its probability.
    pub words: Vec<(u32, f64)>,
}

/// The expected share of all tokens of each topic, from the expected tokens of each.
pub fn shares(tokens: &[f64]) -> Vec<f64> {
    let all: f64 = tokens.iter().sum();
    let even = 1.0 / tokens.len() as f64;
    tokens.iter().map(|tokens| if all > 0.0 { tokens / all } else { even }).collect()
}

/// Every topic with its `shown` best words, ordered by
/// `lambda log p(word | topic) + (1 - lambda) log p(word | topic) / p(word)`; `shares` are those of the topics.
pub fn summarise(topics: &Topics, shares: &[f64], shown: usize, lambda: f64) -> Vec<TopicSummary> {
    // Of each word: its probability anywhere, and the sum over topics of its probabilities there.
    let (anywhere, totals): (Vec<f64>, Vec<f64>) = topics
        .beta
        .chunks_exact(topics.topics())
        .map(|row| (row.iter().zip(shares).map(|(p, share)| p * share).sum::<f64>(), row.iter().sum::<f64>()))
        .unzip();
    // Topics that have not been met yet come last and have no share; there is nothing to say of them.
    (0..shares.len())
        .map(|k| summary_of(topics, shares[k], k, &relevant_words(topics, k, &anywhere, shown, lambda), &totals))
        .collect()
}

/// Topic `k` with the given words; `totals` are the sums over topics of the probabilities of each word.
pub(crate) fn summary_of(topics: &Topics, share: f64, k: usize, words: &[u32], totals: &[f64]) -> TopicSummary {
    let weight = |word: u32| topics.beta[word as usize * topics.topics() + k];
    let exclusive: f64 = words.iter().map(|&word| weight(word) / totals[word as usize]).sum();
    let all = (0..topics.vocabulary() as u32).map(weight);
    let entropy: f64 = all.filter(|&p| p > 0.0).map(|p| -p * libm::log(p)).sum();
    TopicSummary {
        share,
        alpha: topics.alpha[k],
        effective_words: libm::exp(entropy),
        exclusivity: exclusive / words.len().max(1) as f64,
        words: words.iter().map(|&word| (word, weight(word))).collect(),
    }
}

/// The words of highest relevance (Sievert and Shirley 2014); equal ones in the order of the vocabulary.
fn relevant_words(topics: &Topics, k: usize, anywhere: &[f64], shown: usize, lambda: f64) -> Vec<u32> {
    let relevance = |(word, &anywhere): (usize, &f64)| {
        let here = topics.beta[word * topics.topics() + k];
        // log p - (1 - lambda) log p(word); a word without any probability comes last.
        let relevance = if here > 0.0 {
            libm::log(here) - (1.0 - lambda) * libm::log(anywhere.max(f64::MIN_POSITIVE))
        } else {
            f64::NEG_INFINITY
        };
        (relevance, word as u32)
    };
    let words: Vec<(f64, u32)> = anywhere.iter().enumerate().map(relevance).collect();
    let better = |a: &(f64, u32), b: &(f64, u32)| b.0.total_cmp(&a.0).then(a.1.cmp(&b.1));
    best_of(words, shown, better).into_iter().map(|(_, word)| word).collect()
}

/// The first `shown` of all in an order, without sorting the others.
pub(crate) fn best_of<T>(mut all: Vec<T>, shown: usize, order: impl Fn(&T, &T) -> Ordering) -> Vec<T> {
    let shown = shown.min(all.len());
    if shown > 0 && shown < all.len() {
        all.select_nth_unstable_by(shown - 1, &order);
    }
    all.truncate(shown);
    all.sort_by(&order);
    all
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_are_ordered_by_relevance() {
        // Word 0 is in both topics, words 1 and 2 in one each.
        let topics = Topics { beta: vec![0.6, 0.6, 0.4, 0.0, 0.0, 0.4], alpha: vec![0.1, 0.2] };
        let shares = shares(&[3.0, 1.0]);
        assert_eq!(shares, [0.75, 0.25]);
        let best = |lambda| -> Vec<Vec<u32>> {
            let summaries = summarise(&topics, &shares, 2, lambda);
            summaries.iter().map(|topic| topic.words.iter().map(|&(word, _)| word).collect()).collect()
        };
        assert_eq!(best(1.0), [[0, 1], [0, 2]], "frequent words first");
        assert_eq!(best(0.0), [[1, 0], [2, 0]], "words of one topic alone first");
        let first = &summarise(&topics, &shares, 2, 1.0)[0];
        assert_eq!((first.alpha, first.words[1]), (0.1, (1, 0.4)));
        assert!((first.exclusivity - 0.75).abs() < 1e-12);
        assert!(
            (first.effective_words - libm::exp(-0.6 * libm::log(0.6) - 0.4 * libm::log(0.4))).abs() < 1e-12
        );
        assert_eq!(super::shares(&[0.0, 0.0]), [0.5, 0.5]);
    }
}
