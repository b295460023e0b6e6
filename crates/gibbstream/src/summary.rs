//! What each topic is about: its best words, its share, and whether it is any good.

use crate::model::topics::lda::Topics;

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
    let marginals: Vec<(f64, f64)> = topics
        .beta
        .chunks_exact(topics.topics())
        .map(|row| (row.iter().zip(shares).map(|(p, share)| p * share).sum(), row.iter().sum()))
        .collect();
    // Topics that have not been met yet come last and have no share; there is nothing to say of them.
    (0..shares.len())
        .map(|k| {
            let best = best_words(topics, k, &marginals, shown, lambda);
            let weight = |word: usize| topics.beta[word * topics.topics() + k];
            let exclusive: f64 = best.iter().map(|&word| weight(word) / marginals[word].1).sum();
            let entropy: f64 =
                (0..topics.vocabulary()).map(weight).filter(|&p| p > 0.0).map(|p| -p * libm::log(p)).sum();
            TopicSummary {
                share: shares[k],
                alpha: topics.alpha[k],
                effective_words: libm::exp(entropy),
                exclusivity: exclusive / best.len().max(1) as f64,
                words: best.into_iter().map(|word| (word as u32, weight(word))).collect(),
            }
        })
        .collect()
}

/// The words of highest relevance (Sievert and Shirley 2014); equal ones in the order of the vocabulary.
fn best_words(topics: &Topics, k: usize, marginals: &[(f64, f64)], shown: usize, lambda: f64) -> Vec<usize> {
    let mut words: Vec<(f64, usize)> = marginals
        .iter()
        .enumerate()
        .map(|(word, &(anywhere, _))| {
            let here = topics.beta[word * topics.topics() + k];
            // log p - (1 - lambda) log p(word); a word without any probability comes last.
            let relevance = if here > 0.0 {
                libm::log(here) - (1.0 - lambda) * libm::log(anywhere.max(f64::MIN_POSITIVE))
            } else {
                f64::NEG_INFINITY
            };
            (relevance, word)
        })
        .collect();
    let order = |a: &(f64, usize), b: &(f64, usize)| b.0.total_cmp(&a.0).then(a.1.cmp(&b.1));
    let shown = shown.min(words.len());
    if shown > 0 && shown < words.len() {
        words.select_nth_unstable_by(shown - 1, order);
    }
    words.truncate(shown);
    words.sort_by(order);
    words.into_iter().map(|(_, word)| word).collect()
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
