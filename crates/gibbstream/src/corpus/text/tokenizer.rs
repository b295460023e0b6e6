//! Text to words: Unicode word breaks, lower case, stop words, and joined words.

use std::ops::Range;

use serde::{Deserialize, Serialize};
use unicode_segmentation::UnicodeSegmentation;

use crate::corpus::text::stop_words::StopWords;
use crate::error::{Error, Result};

/// The longest run of words that can be joined.
const MAX_NGRAMS: usize = 5;

/// How text is cut into words.
///
/// Words are those of Unicode (UAX 29), so contractions stay whole (`didn't`, always with a straight
/// apostrophe). Tokens without a letter (numbers) are dropped, and so are words shorter than `min_length`;
/// emoji are kept as words of their own. Chinese, Japanese and Thai have no spaces between words: give such
/// text as ready-made tokens.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Tokenizer {
    /// Whether words are turned into lower case.
    pub lowercase: bool,
    /// Characters that a word must have; 2 drops single letters.
    pub min_length: usize,
    /// From 2 on, up to so many words that follow each other (after dropping) are also joined by `_`.
    pub ngrams: usize,
    /// Words to drop, whatever their case.
    pub stop_words: StopWords,
}

impl Default for Tokenizer {
    fn default() -> Self {
        Self { lowercase: true, min_length: 2, ngrams: 1, stop_words: StopWords::english() }
    }
}

impl Tokenizer {
    /// Refuses settings that make no sense.
    pub fn check(&self) -> Result<()> {
        if (1..=MAX_NGRAMS).contains(&self.ngrams) {
            return Ok(());
        }
        Err(Error::setting(
            "ngrams",
            format!("{} is not between 1 and {MAX_NGRAMS}", self.ngrams),
            "1 means single words, 2 adds pairs",
        ))
    }

    /// Calls `visit` for every token of `text`, in order.
    pub fn tokenize(&self, text: &str, mut visit: impl FnMut(&str)) {
        self.tokenize_with_places(text, |word, _| visit(word));
    }

    /// The same, with the bytes of the text that each token covers.
    pub(crate) fn tokenize_with_places(&self, text: &str, mut visit: impl FnMut(&str, Range<usize>)) {
        self.cut(text, |cut| {
            if let Cut::Word(word, place) = cut {
                visit(word, place);
            }
        });
    }

    /// Calls `visit` for every token of `text` with the bytes that it covers, and for every word that is dropped.
    pub(crate) fn cut(&self, text: &str, mut visit: impl FnMut(Cut<'_>)) {
        let (mut word, mut folded, mut joined) = (String::new(), String::new(), String::new());
        let mut recent: Vec<(String, usize)> = Vec::new();
        let mut take = |piece: &str| {
            let start = piece.as_ptr() as usize - text.as_ptr() as usize;
            let end = start + piece.len();
            match self.fate(piece, &mut word, &mut folded) {
                Fate::Kept => visit(Cut::Word(&word, start..end)),
                Fate::StopWord => return visit(Cut::StopWord),
                Fate::TooShort => return visit(Cut::TooShort),
                Fate::NoWord => return,
            }
            if self.ngrams > 1 {
                joined.clear();
                joined.push_str(&word);
                for (previous, first) in recent.iter().rev() {
                    joined.insert(0, '_');
                    joined.insert_str(0, previous);
                    visit(Cut::Word(&joined, *first..end));
                }
                // The oldest word's memory is used again for the newest.
                let (mut newest, _) =
                    if recent.len() + 1 == self.ngrams { recent.remove(0) } else { (String::new(), 0) };
                newest.clone_from(&word);
                recent.push((newest, start));
            }
        };
        if text.is_ascii() {
            text.unicode_words().for_each(&mut take);
        } else {
            // `unicode_words` would drop emoji.
            text.split_word_bounds().for_each(&mut take);
        }
    }

    /// Puts the normal form of `piece` into `word`, and tells whether it is a token.
    fn fate(&self, piece: &str, word: &mut String, folded: &mut String) -> Fate {
        let piece = piece.trim_matches('_');
        let emoji = piece.chars().any(is_emoji);
        if !emoji && !piece.chars().any(char::is_alphabetic) {
            return Fate::NoWord;
        }
        word.clear();
        if piece.is_ascii() {
            word.push_str(piece);
            if self.lowercase {
                word.make_ascii_lowercase();
            }
        } else if self.lowercase {
            normalise(&piece.to_lowercase(), word);
        } else {
            normalise(piece, word);
        }
        if !emoji && word.chars().take(self.min_length).count() < self.min_length {
            return Fate::TooShort;
        }
        let is_stop_word = if self.lowercase {
            self.stop_words.contains(word)
        } else {
            folded.clear();
            folded.push_str(&word.to_lowercase());
            self.stop_words.contains(folded)
        };
        if is_stop_word { Fate::StopWord } else { Fate::Kept }
    }
}

/// What becomes of a piece of text.
enum Fate {
    Kept,
    StopWord,
    TooShort,
    /// Blanks, punctuation, and numbers.
    NoWord,
}

/// A token, or why a word is none.
pub(crate) enum Cut<'a> {
    /// With the bytes of the text that it covers.
    Word(&'a str, Range<usize>),
    StopWord,
    TooShort,
}

/// Appends `text` with straight apostrophes and without characters that only change its looks.
pub(crate) fn normalise(text: &str, into: &mut String) {
    for character in text.chars() {
        match character {
            '\u{2019}' | '\u{02bc}' | '\u{ff07}' => into.push('\''),
            '\u{fe0e}' | '\u{fe0f}' | '\u{00ad}' => {}
            other => into.push(other),
        }
    }
}

fn is_emoji(character: char) -> bool {
    matches!(character, '\u{1f1e6}'..='\u{1f1ff}' | '\u{1f300}'..='\u{1faff}' | '\u{2600}'..='\u{27bf}')
}

#[cfg(test)]
mod tests {
    use super::*;

    fn plain() -> Tokenizer {
        Tokenizer { stop_words: StopWords::none(), ..Tokenizer::default() }
    }

    fn tokens(tokenizer: &Tokenizer, text: &str) -> Vec<String> {
        let mut all = Vec::new();
        tokenizer.tokenize(text, |token| all.push(token.to_owned()));
        all
    }

    #[test]
    fn words_are_those_of_unicode_without_numbers_and_single_letters() {
        for (text, expected) in [
            ("The cat, 42 cats & a 3D film.", &["the", "cat", "cats", "3d", "film"][..]),
            ("I didn't like Rosemary's baby", &["didn't", "like", "rosemary's", "baby"]),
            ("didn\u{2019}t DIDN\u{2019}T", &["didn't", "didn't"]),
            ("Éa naïve Straße ΟΔΟΣ", &["éa", "naïve", "straße", "οδος"]),
            ("great 👍🏽 love ❤\u{fe0f}", &["great", "👍🏽", "love", "❤"]),
            ("_very_ snake_case ___", &["very", "snake_case"]),
            ("3.14 1,000 2024", &[]),
            ("nul\0byte", &["nul", "byte"]),
            ("", &[]),
        ] {
            assert_eq!(tokens(&plain(), text), expected, "{text:?}");
        }
    }

    #[test]
    fn stop_words_are_dropped_in_any_case_and_negations_stay() {
        let text = "It\u{2019}s THE film I DIDN'T see";
        assert_eq!(tokens(&Tokenizer::default(), text), ["film", "didn't", "see"]);
        let keeping_case = Tokenizer { lowercase: false, ..Tokenizer::default() };
        assert_eq!(tokens(&keeping_case, text), ["film", "DIDN'T", "see"]);
    }

    #[test]
    fn words_that_follow_each_other_are_joined() {
        let trigrams = Tokenizer { ngrams: 3, ..plain() };
        assert_eq!(
            tokens(&trigrams, "new york city hall"),
            [
                "new",
                "york",
                "new_york",
                "city",
                "york_city",
                "new_york_city",
                "hall",
                "city_hall",
                "york_city_hall"
            ]
        );
        let refused = Tokenizer { ngrams: 0, ..plain() }.check().unwrap_err();
        assert_eq!(
            refused.to_string(),
            "ngrams: 0 is not between 1 and 5; 1 means single words, 2 adds pairs"
        );
    }

    #[test]
    fn a_stored_tokenizer_is_complete_and_strict() {
        let tokenizer = Tokenizer { min_length: 3, ..Tokenizer::default() };
        let stored = serde_json::to_string(&tokenizer).unwrap();
        assert_eq!(serde_json::from_str::<Tokenizer>(&stored).unwrap(), tokenizer);
        assert!(serde_json::from_str::<Tokenizer>(&stored.replace("ngrams", "grams")).is_err());
    }
}
