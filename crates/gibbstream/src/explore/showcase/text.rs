//! The text of a document, and where its tokens stand in it.

use crate::corpus::{Document, Tokenizer, Vocabulary};
use crate::explore::report::DocumentText;
use rustc_hash::FxHashMap;
use std::ops::Range;

/// Characters of a text that a page holds.
const MOST_CHARACTERS: usize = 20_000;

/// What a document was read from.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum SourceText {
    /// Running text.
    Text(String),
    /// Ready-made tokens.
    Tokens(Vec<String>),
    /// Counts alone.
    Counts,
}

impl SourceText {
    /// The text in a field of a record; a list of word ids, or nothing, is none.
    pub(crate) fn of(value: &serde_json::Value) -> Self {
        use serde_json::Value;
        match value {
            Value::String(text) => Self::Text(text.clone()),
            Value::Array(list) => {
                let tokens: Option<Vec<String>> =
                    list.iter().map(|token| token.as_str().map(str::to_owned)).collect();
                tokens.map_or(Self::Counts, Self::Tokens)
            }
            _ => Self::Counts,
        }
    }

    /// The text as it is shown, with the topic of every token: `drawn` are (word, topic), sorted. Which of several tokens of
    /// a word has which of their topics is arbitrary, because the model does not know the order of words.
    pub fn shown(
        &self,
        document: &Document,
        drawn: &[(u32, u32)],
        tokenizer: &Tokenizer,
        vocabulary: &Vocabulary,
    ) -> DocumentText {
        let mut spans: Vec<(Range<usize>, u32)> = Vec::new();
        let (text, left_out) = match self {
            Self::Text(text) => {
                let (text, left_out) = cut(text);
                tokenizer.tokenize_with_places(text, |word, place| {
                    spans.extend(vocabulary.id(word).map(|id| (place, id)));
                });
                (text.to_owned(), left_out)
            }
            Self::Tokens(tokens) => {
                let mut joined = Joined::default();
                let known = tokens.iter().map(|token| (token.as_str(), vocabulary.id(token.trim())));
                known.for_each(|(token, id)| spans.extend(joined.push(token).zip(id)));
                (joined.text, joined.left_out)
            }
            Self::Counts => {
                let mut joined = Joined::default();
                let mut words = document.words.clone();
                words.sort_by_key(|&(word, count)| (std::cmp::Reverse(count), word));
                for (word, count) in words {
                    for _ in 0..count {
                        spans.extend(joined.push(vocabulary.word(word)).map(|place| (place, word)));
                    }
                }
                (joined.text, joined.left_out)
            }
        };
        let tokens = coloured(&text, spans, drawn);
        DocumentText { text, left_out: left_out as u64, tokens }
    }
}

/// Words with blanks between them, as many as fit.
#[derive(Default)]
struct Joined {
    text: String,
    characters: usize,
    left_out: usize,
}

impl Joined {
    /// Adds a word and tells where it stands; `None` if it did not fit.
    fn push(&mut self, word: &str) -> Option<Range<usize>> {
        let characters = word.chars().count() + 1;
        if self.left_out > 0 || self.characters + characters > MOST_CHARACTERS {
            self.left_out += characters;
            return None;
        }
        if !self.text.is_empty() {
            self.text.push(' ');
        }
        self.characters += characters;
        let start = self.text.len();
        self.text.push_str(word);
        Some(start..self.text.len())
    }
}

/// The beginning of a text that is too long, and how many characters are left out.
fn cut(text: &str) -> (&str, usize) {
    match text.char_indices().nth(MOST_CHARACTERS) {
        None => (text, 0),
        Some((end, _)) => (&text[..end], text[end..].chars().count()),
    }
}

/// Distance, length and topic of every token, in UTF-16 units.
fn coloured(text: &str, spans: Vec<(Range<usize>, u32)>, drawn: &[(u32, u32)]) -> Vec<i32> {
    let mut next: FxHashMap<u32, usize> = FxHashMap::default();
    let mut units = Utf16::new(text);
    let mut tokens = Vec::with_capacity(3 * spans.len());
    let mut end = 0_i32;
    for (place, word) in spans {
        let at = next.entry(word).or_insert_with(|| drawn.partition_point(|&(other, _)| other < word));
        // A token beyond those drawn cannot be, unless text and counts do not belong together.
        let Some(&(_, topic)) = drawn.get(*at).filter(|&&(other, _)| other == word) else { continue };
        *at += 1;
        let (start, stop) = (units.before(place.start) as i32, units.before(place.end) as i32);
        tokens.extend([start - end, stop - start, topic as i32]);
        end = stop;
    }
    tokens
}

/// Places in bytes as places in UTF-16 units; cheap if they mostly rise.
struct Utf16<'a> {
    text: &'a str,
    bytes: usize,
    units: usize,
}

impl<'a> Utf16<'a> {
    fn new(text: &'a str) -> Self {
        Self { text, bytes: 0, units: 0 }
    }

    fn before(&mut self, place: usize) -> usize {
        let count = |part: &str| part.chars().map(char::len_utf16).sum::<usize>();
        if place >= self.bytes {
            self.units += count(&self.text[self.bytes..place]);
        } else {
            self.units -= count(&self.text[place..self.bytes]);
        }
        self.bytes = place;
        self.units
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::corpus::StopWords;

    fn vocabulary() -> Vocabulary {
        Vocabulary::new(["cat", "naïve", "new", "new_york", "york", "👍"]).unwrap()
    }

    /// (covered text, topic) of every token, found as a page finds them.
    fn read(shown: &DocumentText) -> Vec<(String, i32)> {
        let units: Vec<u16> = shown.text.encode_utf16().collect();
        let mut end = 0;
        shown
            .tokens
            .chunks_exact(3)
            .map(|token| {
                let start = (end + token[0]) as usize;
                end = start as i32 + token[1];
                (String::from_utf16(&units[start..end as usize]).unwrap(), token[2])
            })
            .collect()
    }

    #[test]
    fn tokens_stand_where_their_words_are() {
        let tokenizer = Tokenizer { ngrams: 2, stop_words: StopWords::none(), ..Tokenizer::default() };
        let text = "😀 A Naïve cat, 👍 in New York; unheard cat";
        let drawn = [(0, 3), (0, 8), (1, 1), (2, 4), (3, 5), (4, 6), (5, 7)];
        let shown = SourceText::Text(text.into()).shown(&Document::default(), &drawn, &tokenizer, &vocabulary());
        let expected =
            [("Naïve", 1), ("cat", 3), ("👍", 7), ("New", 4), ("York", 6), ("New York", 5), ("cat", 8)];
        assert_eq!(read(&shown), expected.map(|(word, topic)| (word.to_owned(), topic)));
        assert_eq!((shown.text.as_str(), shown.left_out), (text, 0));
    }

    #[test]
    fn characters_that_are_written_in_several_ways_are_covered_whole() {
        // The normal forms have other lengths, and words begin and end within them.
        let text = "The cat´s ⒜cat ㏇ ﬁn ½cat";
        let tokenizer = Tokenizer { min_length: 1, stop_words: StopWords::none(), ..Tokenizer::default() };
        let mut words = Vec::new();
        tokenizer.tokenize(text, |word| words.push(word.to_owned()));
        let vocabulary = Vocabulary::new(words.iter().map(String::as_str).collect::<std::collections::BTreeSet<_>>()).unwrap();
        let mut drawn: Vec<(u32, u32)> = words.iter().map(|word| (vocabulary.id(word).unwrap(), 1)).collect();
        drawn.sort_unstable();
        let shown = SourceText::Text(text.into()).shown(&Document::default(), &drawn, &tokenizer, &vocabulary);
        assert_eq!(read(&shown).len(), words.len());
        assert!(read(&shown).iter().any(|(covered, _)| covered == "㏇"));
    }

    #[test]
    fn counts_and_lists_of_tokens_become_texts() {
        let tokenizer = Tokenizer::default();
        let document = Document::from_tokens(&[0, 1, 1]);
        let shown = SourceText::Counts.shown(&document, &[(0, 2), (1, 0), (1, 3)], &tokenizer, &vocabulary());
        assert_eq!(shown.text, "naïve naïve cat");
        assert_eq!(read(&shown), [("naïve".into(), 0), ("naïve".into(), 3), ("cat".into(), 2)]);
        let tokens = SourceText::Tokens(vec!["cat".into(), "dog".into(), "naïve".into()]);
        let shown = tokens.shown(&document, &[(0, 2), (1, 0)], &tokenizer, &vocabulary());
        assert_eq!(shown.text, "cat dog naïve");
        assert_eq!(read(&shown), [("cat".into(), 2), ("naïve".into(), 0)]);
    }

    #[test]
    fn long_texts_are_cut_and_say_so() {
        let text = "é cat ".repeat(5_000);
        let drawn = vec![(0, 1); 5_000];
        let shown = SourceText::Text(text).shown(&Document::default(), &drawn, &Tokenizer::default(), &vocabulary());
        assert_eq!((shown.text.chars().count(), shown.left_out), (20_000, 10_000));
        assert_eq!(shown.tokens.len(), 3 * 3_333);
        let monster = SourceText::Text("x".repeat(10 << 20));
        let shown = monster.shown(&Document::default(), &[], &Tokenizer::default(), &vocabulary());
        assert_eq!((shown.text.len(), shown.left_out), (20_000, (10 << 20) - 20_000));
        let many = Document { words: vec![(0, 1 << 20)], ..Document::default() };
        let shown = SourceText::Counts.shown(&many, &[], &Tokenizer::default(), &vocabulary());
        assert!(shown.text.len() <= 20_000 && shown.left_out > 4_000_000);
    }
}
