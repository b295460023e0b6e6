//! Words that an input knows by number only.

use crate::corpus::text::vocabulary::{Vocabulary, WordIds};

/// Marks words of the file that the vocabulary in use does not have.
const UNKNOWN: u32 = u32::MAX;

/// The names of numbered words: from a list, or else the numbers themselves.
pub(crate) struct NumberedWords {
    names: Option<Vocabulary>,
    /// The number of the first word of the list.
    first: u64,
    /// From places in the list to ids in use, made when the first word is asked for.
    translation: Vec<u32>,
}

impl NumberedWords {
    /// Words that are counted from `first`.
    pub fn new(names: Option<Vocabulary>, first: u64) -> Self {
        Self { names, first, translation: Vec::new() }
    }

    /// Why there is no word of that number, if there is none.
    pub fn check(&self, number: u64) -> Result<(), String> {
        if number < self.first {
            return Err(format!("word id {number}, but ids count from {}", self.first));
        }
        match &self.names {
            Some(names) if number - self.first >= names.len() as u64 => {
                Err(format!("word id {number}, but there are only {} words", names.len()))
            }
            _ => Ok(()),
        }
    }

    /// The id in use of a word that passed [`Self::check`].
    #[inline]
    pub fn id(&mut self, number: u64, words: &mut dyn WordIds) -> Option<u32> {
        let Some(names) = &self.names else { return words.id(&number.to_string()) };
        let place = (number - self.first) as usize;
        if self.translation.is_empty() {
            if !words.keeps_ids() {
                return words.id(names.word(place as u32));
            }
            self.translation = names.words().map(|word| words.lasting_id(word).unwrap_or(UNKNOWN)).collect();
        }
        self.translation.get(place).copied().filter(|&id| id != UNKNOWN)
    }
}
