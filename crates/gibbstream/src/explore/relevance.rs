//! Which words say what a topic is about (Sievert and Shirley 2014):
//! `lambda log p(word | topic) + (1 - lambda) log (p(word | topic) / p(word))`.

use crate::model::topics::lda::Topics;
use rayon::prelude::*;
use std::collections::BTreeSet;

/// Words that a list of words shows at most.
pub(crate) const SHOWN: usize = 30;

/// Words in a label.
const LABEL_WORDS: usize = 3;

/// p(word) of every word under a model: the sum over topics of share times probability.
pub(crate) fn word_shares(topics: &Topics, shares: &[f64]) -> Vec<f64> {
    let share = |row: &[f64]| row.iter().zip(shares).map(|(p, share)| p * share).sum();
    topics.beta.par_chunks_exact(topics.topics()).map(share).collect()
}

/// Logarithms of a topic's words, once for all lambdas.
pub(crate) struct RelevantWords {
    /// Of each word that the topic has: the word, log p(word | topic), and log (p(word | topic) / p(word)).
    words: Vec<(u32, f64, f64)>,
}

impl RelevantWords {
    /// The words of a topic: p(word | topic), and the logarithm of p(word).
    pub fn new(here: &[f64], log_anywhere: &[f64]) -> Self {
        let words = here.iter().zip(log_anywhere).enumerate().filter(|(_, (here, _))| **here > 0.0);
        let words = words.map(|(word, (&here, &log_anywhere))| {
            let log = libm::log(here);
            (word as u32, log, log - log_anywhere)
        });
        Self { words: words.collect() }
    }

    /// The `shown` most relevant words, the lower id first where two are as relevant.
    pub fn best(&self, lambda: f64, shown: usize) -> Vec<u32> {
        let relevance = |&(word, log, lift): &(u32, f64, f64)| (lambda * log + (1.0 - lambda) * lift, word);
        let order = |a: &(f64, u32), b: &(f64, u32)| b.0.total_cmp(&a.0).then(a.1.cmp(&b.1));
        let mut words: Vec<(f64, u32)> = self.words.iter().map(relevance).collect();
        let shown = shown.min(words.len());
        if shown > 0 && shown < words.len() {
            words.select_nth_unstable_by(shown - 1, order);
        }
        words.truncate(shown);
        words.sort_by(order);
        words.into_iter().map(|(_, word)| word).collect()
    }

    /// The words among the [`SHOWN`] most relevant ones at some lambda of 0, 0.1 ... 1, ascending.
    pub fn shown(&self) -> Vec<u32> {
        let mut all: Vec<u32> =
            (0..=10).flat_map(|tenth| self.best(f64::from(tenth) / 10.0, SHOWN)).collect();
        all.sort_unstable();
        all.dedup();
        all
    }
}

/// A label for each topic from its most distinguishing words, which `best` lists. Where two would be the same, the later one
/// has a word more.
pub(crate) fn labels<'a>(best: &[Vec<u32>], word: impl Fn(u32) -> &'a str) -> Vec<String> {
    let mut taken = BTreeSet::new();
    let mut label = |words: &[u32]| {
        let words: Vec<&str> = words.iter().map(|&id| word(id)).collect();
        let lengths = LABEL_WORDS.min(words.len())..=words.len();
        let mut candidates = lengths.map(|length| words[..length].join(", "));
        let label = candidates.find(|label| !taken.contains(label)).unwrap_or_else(|| words.join(", "));
        taken.insert(label.clone());
        label
    };
    best.iter().map(|words| label(words)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::explore::tests::random_topics;
    use crate::summary::summarise;

    fn relevant(topics: &Topics, shares: &[f64], topic: usize) -> RelevantWords {
        let here: Vec<f64> = topics.beta.iter().skip(topic).step_by(topics.topics()).copied().collect();
        let anywhere = word_shares(topics, shares);
        assert!((anywhere.iter().sum::<f64>() - 1.0).abs() < 1e-12);
        RelevantWords::new(&here, &anywhere.iter().map(|&share| libm::log(share)).collect::<Vec<_>>())
    }

    #[test]
    fn the_best_words_are_those_of_the_summary_at_every_lambda() {
        let (topics, shares) = random_topics(6, 200, 7);
        for lambda in [0.0, 0.25, 0.6, 1.0] {
            for (k, summary) in summarise(&topics, &shares, SHOWN, lambda).iter().enumerate() {
                let expected: Vec<u32> = summary.words.iter().map(|&(word, _)| word).collect();
                assert_eq!(relevant(&topics, &shares, k).best(lambda, SHOWN), expected);
            }
        }
    }

    #[test]
    fn the_slider_never_lacks_a_word() {
        let (topics, shares) = random_topics(3, 500, 8);
        let words = relevant(&topics, &shares, 1);
        let shown = words.shown();
        assert!(shown.is_sorted_by(|a, b| a < b));
        for tenth in 0..=10 {
            let best = words.best(f64::from(tenth) / 10.0, SHOWN);
            assert!(best.iter().all(|word| shown.binary_search(word).is_ok()));
        }
    }

    #[test]
    fn no_two_topics_have_the_same_label() {
        let names = ["a", "b", "c", "d", "e"];
        let labels = labels(&[vec![0, 1, 2, 3], vec![0, 1, 2, 3], vec![4]], |word| names[word as usize]);
        assert_eq!(labels, ["a, b, c", "a, b, c, d", "e"]);
    }
}
