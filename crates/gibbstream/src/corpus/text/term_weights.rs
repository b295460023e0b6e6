//! How much a token of each word counts.
//!
//! A weight below 1 makes a word count less than it occurs, one above 1 more. Counts stay whole numbers: 2.3 becomes 3 with
//! probability 0.3 and 2 otherwise, decided by the words of the document alone ([`Document::from_weights`]), so that every sum
//! over documents is right on average, and a document counts the same wherever it is read.

use serde::{Deserialize, Serialize};

use crate::corpus::formats::weights::BadWeight;
use crate::corpus::{Document, MAX_DOCUMENT_TOKENS};
use crate::error::{Error, Result};

/// How tokens are weighted.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum TermWeights {
    /// Every token counts once.
    #[default]
    None,
    /// By the logarithm of the number of documents over those with the word, with the mean 1 over all tokens.
    Idf,
}

impl TermWeights {
    /// Their names.
    pub const NAMES: [(&'static str, Self); 2] = [("none", Self::None), ("idf", Self::Idf)];

    /// `none` or `idf`.
    pub fn parse(choice: &str) -> Result<Self> {
        let found = Self::NAMES.iter().find(|(name, _)| *name == choice).map(|(_, weights)| *weights);
        let problem = || format!("`{choice}` is not a choice");
        found.ok_or_else(|| Error::setting("term-weights", problem(), "use none or idf"))
    }
}

/// The weights by idf of words of which the documents and the tokens are given, in a corpus of so many documents.
pub(crate) fn idf(words: &[(u64, u64)], documents: u64) -> Vec<f64> {
    let raw: Vec<f64> = words.iter().map(|&(with_it, _)| libm::log(documents as f64 / with_it as f64)).collect();
    let tokens: f64 = words.iter().map(|&(_, tokens)| tokens as f64).sum();
    let whole: f64 = words.iter().zip(&raw).map(|(&(_, tokens), weight)| weight * tokens as f64).sum();
    if whole <= 0.0 {
        // All words are in all documents.
        return vec![1.0; words.len()];
    }
    raw.iter().map(|weight| weight * tokens / whole).collect()
}

/// The document as it counts with the weights of its words.
pub(crate) fn weighted(document: Document, weights: &[f64]) -> Result<Document> {
    let weight = |&(word, count): &(u32, u32)| (word, f64::from(count) * weights[word as usize]);
    let mut words: Vec<(u32, f64)> = document.words.iter().map(weight).collect();
    match Document::from_weights(&mut words) {
        Ok(rounded) => Ok(Document { words: rounded.words, ..document }),
        Err(BadWeight::TooMany | BadWeight::NotACount { .. }) => {
            let problem = format!("a document has more than {MAX_DOCUMENT_TOKENS} tokens with {{term-weights}}");
            Err(Error::setting("document", problem, "split it into smaller documents"))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rare_words_weigh_more_and_the_mean_token_one() {
        let words = [(100, 400), (50, 90), (1, 2)];
        let weights = idf(&words, 200);
        let ratio = libm::log(200.0 / 1.0) / libm::log(2.0);
        assert!((weights[2] / weights[0] - ratio).abs() < 1e-12);
        let whole: f64 = weights.iter().zip(&words).map(|(weight, &(_, tokens))| weight * tokens as f64).sum();
        assert!((whole - 492.0).abs() < 1e-9);
        assert_eq!(idf(&[(3, 5), (3, 9)], 3), [1.0, 1.0], "words in all documents tell nothing, but are not lost");
        assert_eq!(idf(&[(3, 5), (1, 5)], 3)[0], 0.0);
    }

    #[test]
    fn documents_count_the_same_every_time() {
        let document = Document { words: vec![(0, 4), (1, 1), (2, 3)], out_of_vocabulary: 7, id: Some("a".into()), kept: vec![] };
        let found = weighted(document.clone(), &[0.5, 2.0, 0.0]).unwrap();
        assert_eq!(found, Document { words: vec![(0, 2), (1, 2)], ..document.clone() });
        let fractions = [0.3, 1.7, 0.9];
        assert_eq!(weighted(document.clone(), &fractions).unwrap(), weighted(document.clone(), &fractions).unwrap());
        let large = Document { words: vec![(0, u32::MAX)], ..document };
        assert!(weighted(large, &[1e9]).unwrap_err().to_string().contains("term-weights"));
    }

    #[test]
    fn choices_have_names() {
        assert_eq!(TermWeights::parse("idf").unwrap(), TermWeights::Idf);
        assert_eq!(
            TermWeights::parse("bm25").unwrap_err().to_string(),
            "term-weights: `bm25` is not a choice; use none or idf"
        );
    }
}
