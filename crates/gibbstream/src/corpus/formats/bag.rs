//! A document while its words are being counted.

use crate::corpus::{Document, MAX_DOCUMENT_TOKENS, count_words};
use crate::corpus::text::tokenizer::{Cut, Tokenizer};
use crate::corpus::text::vocabulary::WordIds;
use crate::error::{Error, Place, Result};
use serde_json::Value;

/// Entries above which repeated words are added up early, so that long documents do not fill the memory.
const COMPACT_ENTRIES: usize = 1 << 20;

/// The words of one document; its memory is used again for the next.
#[derive(Default)]
pub(crate) struct Bag {
    words: Vec<(u32, u32)>,
    tokens: u64,
    out_of_vocabulary: u64,
    compacted: usize,
}

impl Bag {
    /// Adds occurrences of a word; without a number it is counted as out of the vocabulary.
    #[inline]
    pub fn add(&mut self, word: Option<u32>, count: u32) {
        self.tokens += u64::from(count);
        // An oversized document will be refused, so its words need not be held.
        let Some(word) = word.filter(|_| self.tokens <= MAX_DOCUMENT_TOKENS) else {
            self.out_of_vocabulary += u64::from(count);
            return;
        };
        self.words.push((word, count));
        if self.words.len() > 2 * self.compacted.max(COMPACT_ENTRIES) {
            self.words = count_words(std::mem::take(&mut self.words));
            self.compacted = self.words.len();
        }
    }

    /// Adds the words of a text.
    #[inline]
    pub fn add_text(&mut self, text: &str, tokenizer: &Tokenizer, words: &mut dyn WordIds) {
        tokenizer.cut(text, |cut| match cut {
            Cut::Word(word, _, follows) => self.add(words.id_after(word, follows), 1),
            dropped => words.dropped(dropped),
        });
    }

    /// Refuses a document that is too large; `describe` tells where it is and what to call it.
    #[inline]
    pub fn check(&self, describe: impl FnOnce() -> (Place, String)) -> Result<()> {
        if self.tokens <= MAX_DOCUMENT_TOKENS {
            return Ok(());
        }
        let (place, document) = describe();
        Err(Error::bad_record(
            place,
            "document too large",
            format!("{document} has more than {MAX_DOCUMENT_TOKENS} tokens"),
            "split it into smaller documents",
        ))
    }

    /// The document with its name and the fields kept, which leaves the bag empty.
    pub fn take(&mut self, id: Option<String>, kept: Vec<Value>) -> Document {
        // Count formats usually come sorted.
        if !self.words.is_sorted_by(|a, b| a.0 < b.0) {
            self.words = count_words(std::mem::take(&mut self.words));
        }
        let words = self.words.as_slice().to_vec();
        let out_of_vocabulary = self.out_of_vocabulary;
        self.clear();
        Document { id, words, out_of_vocabulary, kept }
    }

    /// Forgets everything.
    pub fn clear(&mut self) {
        self.words.clear();
        (self.tokens, self.out_of_vocabulary, self.compacted) = (0, 0, 0);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_are_sorted_and_added_up() {
        let mut bag = Bag::default();
        for (word, count) in [(Some(3), 1), (None, 2), (Some(1), 4), (Some(3), 5)] {
            bag.add(word, count);
        }
        let document = bag.take(None, vec![]);
        assert_eq!((document.words, document.out_of_vocabulary), (vec![(1, 4), (3, 6)], 2));
        assert_eq!(bag.take(None, vec![]), Document::default());
    }

    #[test]
    fn long_documents_are_compacted_on_the_way() {
        let mut bag = Bag::default();
        for token in 0..5_000_000_u32 {
            bag.add(Some(token % 10), 1);
        }
        assert!(bag.words.len() < 3 * COMPACT_ENTRIES);
        assert_eq!(bag.take(None, vec![]).words, (0..10).map(|word| (word, 500_000)).collect::<Vec<_>>());
    }
}
