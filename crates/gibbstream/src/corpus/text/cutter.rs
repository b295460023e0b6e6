//! Pieces of text to tokens: case, apostrophes, length, stop words, stems, phrases, joined words.

use std::ops::Range;

use crate::corpus::text::placed::Placed;
use crate::corpus::text::tokenizer::{Cut, Tokenizer, straightened};
use crate::corpus::text::words::Found;

/// Turns pieces of a text into tokens, in order.
pub(crate) struct Cutter<'a, V> {
    tokenizer: &'a Tokenizer,
    /// The text as the pieces are cut from it.
    text: &'a str,
    /// How it became so, which leads back to the original.
    layers: &'a [Placed],
    visit: V,
    word: String,
    folded: String,
    joined: String,
    /// Words that came last, for joining, and where they begin.
    recent: Vec<(String, usize)>,
    /// A word that may begin a phrase, and its place.
    waiting: Option<(String, Range<usize>)>,
    /// Where the token before ends.
    last_end: usize,
}

impl<'a, V: FnMut(Cut<'_>)> Cutter<'a, V> {
    pub fn new(tokenizer: &'a Tokenizer, text: &'a str, layers: &'a [Placed], visit: V) -> Self {
        let (word, folded, joined) = (String::new(), String::new(), String::new());
        Self { tokenizer, text, layers, visit, word, folded, joined, recent: Vec::new(), waiting: None, last_end: usize::MAX }
    }

    /// Takes a piece by the first edition of the rules.
    pub fn first(&mut self, piece: &str, emoji: bool, place: Range<usize>) {
        self.word.clear();
        if piece.is_ascii() {
            self.word.push_str(piece);
            if self.tokenizer.lowercase {
                self.word.make_ascii_lowercase();
            }
        } else if self.tokenizer.lowercase {
            self.word.push_str(&straightened(&piece.to_lowercase()));
        } else {
            self.word.push_str(&straightened(piece));
        }
        if !emoji && self.is_short() {
            (self.visit)(Cut::TooShort);
        } else if self.is_stop_word() {
            (self.visit)(Cut::StopWord);
        } else {
            self.keep(place);
        }
    }

    /// Takes a piece by the second edition of the rules.
    pub fn second(&mut self, found: Found<'_>, place: Range<usize>) {
        match found {
            Found::Word(piece) => self.second_word(piece, place),
            Found::Emoji(emoji) => {
                self.word.clear();
                self.word.push_str(&straightened(emoji));
                if self.is_stop_word() { (self.visit)(Cut::StopWord) } else { self.keep(place) }
            }
            Found::Number => (self.visit)(Cut::Number),
            Found::Address => (self.visit)(Cut::Address),
        }
    }

    #[inline]
    fn second_word(&mut self, piece: &str, place: Range<usize>) {
        self.word.clear();
        // A mark that combines with a blank comes with it.
        let piece = piece.trim();
        if piece.is_ascii() {
            self.word.push_str(piece);
            if self.tokenizer.lowercase && !self.is_turkic() {
                self.word.make_ascii_lowercase();
            } else if self.tokenizer.lowercase {
                self.word = turkic_lowercase(piece);
            }
        } else if !self.tokenizer.lowercase {
            self.word.push_str(piece);
        } else if self.is_turkic() {
            self.word = turkic_lowercase(piece);
        } else {
            self.word.push_str(&piece.to_lowercase());
        }
        // It's and let's are on lists of stop words as they are.
        if self.is_stop_word() {
            return (self.visit)(Cut::StopWord);
        }
        if self.word.len() > 2 && matches!(&self.word.as_bytes()[self.word.len() - 2..], b"'s" | b"'S") {
            self.word.truncate(self.word.len() - 2);
            if self.is_stop_word() {
                return (self.visit)(Cut::StopWord);
            }
        }
        if self.is_short() { (self.visit)(Cut::TooShort) } else { self.keep(place) }
    }

    fn is_turkic(&self) -> bool {
        matches!(self.tokenizer.language.code(), Some("tr" | "az"))
    }

    fn is_short(&self) -> bool {
        let least = self.tokenizer.min_length;
        // No character has more than four bytes, nor less than one.
        self.word.len() < least || (self.word.len() < 4 * least && self.word.chars().take(least).count() < least)
    }

    #[inline]
    fn is_stop_word(&mut self) -> bool {
        let Tokenizer { lowercase, stop_words, .. } = self.tokenizer;
        if *lowercase || stop_words.is_empty() {
            return stop_words.contains(&self.word);
        }
        self.folded.clear();
        self.folded.push_str(&self.word.to_lowercase());
        stop_words.contains(&self.folded)
    }

    /// Hands out the word, or lets it wait for one that makes it a phrase.
    fn keep(&mut self, place: Range<usize>) {
        if let Some(stems) = &self.tokenizer.stem {
            stems.fold(&mut self.word);
        }
        if self.tokenizer.phrases.is_empty() {
            let word = std::mem::take(&mut self.word);
            self.hand_out(&word, place);
            self.word = word;
            return;
        }
        if let Some((first, before)) = self.waiting.take() {
            let joined = format!("{first}_{}", self.word);
            if self.follow_each_other(before.end, place.start) && self.tokenizer.phrases.contains(&joined) {
                return self.hand_out(&joined, before.start..place.end);
            }
            self.hand_out(&first, before);
        }
        self.waiting = Some((self.word.clone(), place));
    }

    /// Whether nothing but blanks and a hyphen is between two words.
    fn follow_each_other(&self, end: usize, start: usize) -> bool {
        self.text.get(end..start).is_some_and(|gap| gap.bytes().all(|byte| matches!(byte, b' ' | b'\t' | b'\n' | b'\r' | b'-')))
    }

    /// Hands out what still waits.
    pub fn end(&mut self) {
        if let Some((word, place)) = self.waiting.take() {
            self.hand_out(&word, place);
        }
    }

    #[inline]
    fn hand_out(&mut self, word: &str, place: Range<usize>) {
        let follows = self.follow_each_other(self.last_end, place.start);
        self.last_end = place.end;
        let place = self.layers.iter().rev().fold(place, |place, layer| layer.original(place));
        let (start, end) = (place.start, place.end);
        (self.visit)(Cut::Word(word, place, follows));
        if self.tokenizer.ngrams <= 1 {
            return;
        }
        self.joined.clear();
        self.joined.push_str(word);
        for (previous, first) in self.recent.iter().rev() {
            self.joined.insert(0, '_');
            self.joined.insert_str(0, previous);
            (self.visit)(Cut::Word(&self.joined, *first..end, false));
        }
        // The oldest word's memory is used again for the newest.
        let is_full = self.recent.len() + 1 == self.tokenizer.ngrams;
        let (mut newest, _) = if is_full { self.recent.remove(0) } else { (String::new(), 0) };
        newest.clear();
        newest.push_str(word);
        self.recent.push((newest, start));
    }
}

/// In Turkish and Azerbaijani, I and i are two letters.
fn turkic_lowercase(word: &str) -> String {
    let lower = |character: char| match character {
        'I' => 'ı',
        'İ' => 'i',
        other => other,
    };
    word.chars().map(lower).collect::<String>().to_lowercase()
}
