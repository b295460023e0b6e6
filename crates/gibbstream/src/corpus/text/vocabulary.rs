//! The words that a model knows, numbered.

use std::path::Path;
use std::sync::Arc;

use rustc_hash::{FxHashMap, FxHashSet};

use crate::corpus::bytes::lines::Lines;
use crate::corpus::bytes::source::Source;
use crate::corpus::Document;
use crate::corpus::text::term_weights;
use crate::corpus::text::tokenizer::Cut;
use crate::error::{Error, Result};
use crate::numerics::random::mix;

/// Where readers get the number of a word from.
pub(crate) trait WordIds {
    /// The number of `word`, if it has one.
    fn id(&mut self, word: &str) -> Option<u32>;

    /// The same; `follows` tells that nothing is between the word and the one before.
    fn id_after(&mut self, word: &str, follows: bool) -> Option<u32> {
        let _ = follows;
        self.id(word)
    }

    /// Whether a word has the same number for ever, so that readers may keep it.
    fn keeps_ids(&self) -> bool {
        true
    }

    /// The same as [`id`](Self::id), for readers that keep the number for later documents.
    fn lasting_id(&mut self, word: &str) -> Option<u32> {
        self.id(word)
    }

    /// Is told of everything that the tokenizer drops.
    fn dropped(&mut self, _: Cut<'_>) {}
}

/// Knows no word: for reading without keeping anything.
pub(crate) struct NoWords;

impl WordIds for NoWords {
    fn id(&mut self, _: &str) -> Option<u32> {
        None
    }

    /// Nobody should remember that it knew nothing.
    fn keeps_ids(&self) -> bool {
        false
    }
}

/// Words numbered from 0. Copies share their memory.
#[derive(Clone, Default)]
pub struct Vocabulary {
    places: Arc<Places>,
    /// How much a token of each word counts, if not all count the same.
    weights: Option<Arc<[f64]>>,
}

#[derive(Default)]
struct Places {
    words: Vec<Arc<str>>,
    ids: FxHashMap<Arc<str>, u32>,
    /// Places without a word; what stands there begins with `#`.
    free: FxHashSet<u32>,
    /// Places are found by hashing, and so many bits of the hash are used.
    hash_bits: Option<u32>,
}

/// The place of a word among 2^bits: FNV-1a, and its bits mixed. Models depend on it, so it never changes.
pub(crate) fn bucket(word: &str, bits: u32) -> u32 {
    let hash = word.bytes().fold(0xcbf2_9ce4_8422_2325_u64, |hash, byte| {
        (hash ^ u64::from(byte)).wrapping_mul(0x0000_0100_0000_01b3)
    });
    (mix(hash) >> (64 - bits)) as u32
}

/// Why a list of words is not a vocabulary; positions count from 0.
enum Flaw {
    Empty(usize),
    Blank(usize),
    Repeated(usize, usize),
    TooMany,
}

impl Vocabulary {
    /// The given words in their order; refuses empty and repeated words.
    pub fn new<W: Into<Arc<str>>>(words: impl IntoIterator<Item = W>) -> Result<Self> {
        Self::number(words.into_iter().map(Into::into).collect()).map_err(|(word, flaw)| {
            let refused = |problem: String, advice: &str| Error::setting("vocabulary", problem, advice);
            match flaw {
                Flaw::Empty(at) => refused(format!("word {} is empty", at + 1), "remove it"),
                Flaw::Blank(at) => refused(
                    format!("word {} (`{word}`) has blanks around it or a line break in it", at + 1),
                    "a vocabulary file has one word per line",
                ),
                Flaw::Repeated(at, first) => refused(
                    format!("word {} (`{word}`) is the same as word {}", at + 1, first + 1),
                    "every word may occur only once",
                ),
                Flaw::TooMany => refused("has 2^32 - 1 words or more".into(), "use fewer words"),
            }
        })
    }

    /// A file with one word per line, which may be compressed.
    pub fn load(path: impl AsRef<Path>) -> Result<Self> {
        let mut lines = Lines::new(Source::open(path.as_ref())?)?;
        let mut words: Vec<Arc<str>> = Vec::new();
        while let Some(line) = lines.next_text()? {
            words.push(line.trim().into());
        }
        while words.last().is_some_and(|word| word.is_empty()) {
            words.pop();
        }
        let file = lines.file();
        if words.is_empty() {
            return Err(Error::corpus(file, "contains no words", "a vocabulary file has one word per line"));
        }
        Self::number(words).map_err(|(word, flaw)| {
            let (line, problem, advice) = match flaw {
                Flaw::Empty(at) | Flaw::Blank(at) => {
                    (Some(at), "the line is empty".to_owned(), "a vocabulary file has one word per line")
                }
                Flaw::Repeated(at, first) => (
                    Some(at),
                    format!("`{word}` is already on line {}", first + 1),
                    "every word may occur only once, because documents are matched by spelling",
                ),
                Flaw::TooMany => (None, "has 2^32 - 1 words or more".to_owned(), "use fewer words"),
            };
            let place = crate::error::Place { line: line.map(|at| at as u64 + 1), ..file.clone() };
            Error::corpus(place, problem, advice)
        })
    }

    fn of(places: Places) -> Self {
        Self { places: Arc::new(places), weights: None }
    }

    /// The same words, of which each token counts as much as its weight. Refuses weights that are not those of these words.
    pub fn with_weights(self, weights: Vec<f64>) -> Result<Self> {
        if weights.len() != self.len() || !weights.iter().all(|weight| *weight >= 0.0 && weight.is_finite()) {
            let problem = "the weights of its words are not one number from 0 on for each";
            return Err(Error::setting("vocabulary", problem, "give the weights that belong to it"));
        }
        Ok(Self { weights: Some(weights.into()), ..self })
    }

    /// How much a token of each word counts, if not all count the same.
    pub fn weights(&self) -> Option<&[f64]> {
        self.weights.as_deref()
    }

    /// A document of these words as it counts: with weights, counts are rounded without bias.
    pub fn weighted(&self, document: Document) -> Result<Document> {
        match &self.weights {
            None => Ok(document),
            Some(weights) => term_weights::weighted(document, weights),
        }
    }

    fn number(words: Vec<Arc<str>>) -> Result<Self, (Arc<str>, Flaw)> {
        // The last number is left free, as a mark for unknown words.
        if words.len() >= u32::MAX as usize {
            return Err((words[0].clone(), Flaw::TooMany));
        }
        let mut ids = FxHashMap::with_capacity_and_hasher(words.len(), rustc_hash::FxBuildHasher);
        for (at, word) in words.iter().enumerate() {
            if word.is_empty() {
                return Err((word.clone(), Flaw::Empty(at)));
            }
            if word.trim().len() < word.len() || word.contains(['\n', '\r']) {
                return Err((word.clone(), Flaw::Blank(at)));
            }
            if let Some(first) = ids.insert(word.clone(), at as u32) {
                return Err((word.clone(), Flaw::Repeated(at, first as usize)));
            }
        }
        Ok(Self::of(Places { words, ids, ..Places::default() }))
    }

    /// Words by place, some of which may be free; with `hash_bits`, words are found by hashing.
    pub(crate) fn with_free_places(places: Vec<Option<Arc<str>>>, hash_bits: Option<u32>) -> Self {
        let mut words = Places { hash_bits, ..Places::default() };
        for (place, word) in places.into_iter().enumerate() {
            let place = place as u32;
            match &word {
                None => drop(words.free.insert(place)),
                Some(word) if hash_bits.is_none() => drop(words.ids.insert(word.clone(), place)),
                Some(_) => {}
            }
            words.words.push(word.unwrap_or_else(|| format!("#{place}").into()));
        }
        Self::of(words)
    }

    /// The word of a place; `None` if the place is free.
    pub fn known(&self, place: u32) -> Option<Arc<str>> {
        (!self.places.free.contains(&place)).then(|| self.places.words[place as usize].clone())
    }

    /// Whether words are found by hashing, so that every word has a place.
    pub fn is_hashed(&self) -> bool {
        self.places.hash_bits.is_some()
    }

    /// The number of a word.
    #[inline]
    pub fn id(&self, word: &str) -> Option<u32> {
        match self.places.hash_bits {
            Some(bits) => Some(bucket(word, bits)),
            None => self.places.ids.get(word).copied(),
        }
    }

    /// The word with a number, which must be below [`len`](Self::len).
    pub fn word(&self, id: u32) -> &str {
        &self.places.words[id as usize]
    }

    /// How many words there are.
    pub fn len(&self) -> usize {
        self.places.words.len()
    }

    /// True if there is no word.
    pub fn is_empty(&self) -> bool {
        self.places.words.is_empty()
    }

    /// All words by number.
    pub fn words(&self) -> impl ExactSizeIterator<Item = &str> {
        self.places.words.iter().map(AsRef::as_ref)
    }
}

impl WordIds for Vocabulary {
    fn id(&mut self, word: &str) -> Option<u32> {
        Self::id(self, word)
    }
}

impl PartialEq for Vocabulary {
    fn eq(&self, other: &Self) -> bool {
        self.weights == other.weights
            && (Arc::ptr_eq(&self.places, &other.places)
                || (self.places.words == other.places.words && self.places.hash_bits == other.places.hash_bits))
    }
}

impl Eq for Vocabulary {}

impl std::fmt::Debug for Vocabulary {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_list().entries(self.words()).finish()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_and_numbers_belong_together() {
        let vocabulary = Vocabulary::new(["movie", "film"]).unwrap();
        assert_eq!((vocabulary.id("film"), vocabulary.word(1)), (Some(1), "film"));
        assert_eq!((vocabulary.id("book"), vocabulary.len()), (None, 2));
        assert_eq!(vocabulary.words().collect::<Vec<_>>(), ["movie", "film"]);
        assert_eq!(vocabulary, vocabulary.clone());
        assert_ne!(vocabulary, Vocabulary::new(["film", "movie"]).unwrap());
    }

    #[test]
    fn flaws_are_named() {
        for (words, expected) in [
            (
                ["a", "b", "a"],
                "vocabulary: word 3 (`a`) is the same as word 1; every word may occur only once",
            ),
            (["a", "", "b"], "vocabulary: word 2 is empty; remove it"),
            (
                ["a", "b ", "c"],
                "vocabulary: word 2 (`b `) has blanks around it or a line break in it; \
                 a vocabulary file has one word per line",
            ),
        ] {
            assert_eq!(Vocabulary::new(words).unwrap_err().to_string(), expected);
        }
    }
}
