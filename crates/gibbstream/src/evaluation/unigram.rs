//! The baseline that a topic model has to beat: every token drawn from one distribution over words.

use crate::corpus::{Document, Minibatch};

/// Word counts of the training documents.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Unigram {
    counts: Vec<u64>,
    total: u64,
}

impl Unigram {
    /// Nothing counted yet, for a vocabulary of this size.
    pub fn new(vocabulary: usize) -> Self {
        Self { counts: vec![0; vocabulary], total: 0 }
    }

    /// From the count of every word.
    pub fn from_counts(counts: Vec<u64>) -> Self {
        let total = counts.iter().sum();
        Self { counts, total }
    }

    /// Counts the tokens of a document; words outside of the vocabulary are left out.
    pub fn add(&mut self, document: &Document) {
        for &(word, count) in &document.words {
            self.add_word(word, count);
        }
    }

    /// Counts the tokens of a minibatch.
    pub fn add_minibatch(&mut self, batch: &Minibatch) {
        for entry in (0..batch.len()).flat_map(|index| batch.document(index)) {
            self.add_word(batch.words()[entry.word as usize], entry.count);
        }
    }

    fn add_word(&mut self, word: u32, count: u32) {
        if let Some(so_far) = self.counts.get_mut(word as usize) {
            *so_far += u64::from(count);
            self.total += u64::from(count);
        }
    }

    /// Count of every word.
    pub fn counts(&self) -> &[u64] {
        &self.counts
    }

    /// Number of tokens counted.
    pub fn total(&self) -> u64 {
        self.total
    }

    /// Size of the vocabulary V.
    pub fn vocabulary(&self) -> usize {
        self.counts.len()
    }

    /// Log-likelihood of a document in nats, with `p(w) = (count_w + 1) / (total + V)`; words outside of the
    /// vocabulary are left out.
    pub fn log_likelihood(&self, document: &Document) -> f64 {
        let total = (self.total + self.counts.len() as u64) as f64;
        let known = document
            .words
            .iter()
            .filter_map(|&(word, count)| self.counts.get(word as usize).map(|&seen| (seen, count)));
        known.map(|(seen, count)| f64::from(count) * libm::log((seen + 1) as f64 / total)).sum()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn add_one_smoothing_in_closed_form() {
        let documents = [Document::from_tokens(&[0, 0, 2]), Document::from_tokens(&[2, 3, 0, 9])];
        let mut unigram = Unigram::new(4);
        documents.iter().for_each(|document| unigram.add(document));
        assert_eq!((unigram.counts(), unigram.total()), (&[3, 0, 2, 1][..], 6));
        let expected = 2.0 * libm::log(0.4) + libm::log(0.1) + libm::log(0.3);
        let found = unigram.log_likelihood(&Document::from_tokens(&[0, 1, 0, 2, 7]));
        assert!((found - expected).abs() < 1e-14, "{found} is not {expected}");
        assert_eq!(unigram.log_likelihood(&Document::default()), 0.0);
        assert_eq!(unigram, Unigram::from_counts(vec![3, 0, 2, 1]));
    }

    #[test]
    fn probabilities_sum_to_one() {
        let unigram = Unigram::from_counts(vec![5, 0, 1_000_000, 7]);
        let word = |word| libm::exp(unigram.log_likelihood(&Document::from_tokens(&[word])));
        assert!(((0..4).map(word).sum::<f64>() - 1.0).abs() < 1e-14);
    }

    #[test]
    fn a_minibatch_counts_as_its_documents_do() {
        let documents =
            [Document::from_tokens(&[1, 3, 3]), Document::default(), Document::from_tokens(&[4, 3])];
        let (mut one_by_one, mut together) = (Unigram::new(5), Unigram::new(5));
        documents.iter().for_each(|document| one_by_one.add(document));
        together.add_minibatch(&Minibatch::new(&documents, 0, 0));
        assert_eq!(one_by_one, together);
    }
}
