//! A minibatch: some documents whose words are numbered by a short list of their own.
//!
//! Local inference then works on tables of the size of the minibatch's vocabulary, never of V.

use crate::corpus::Document;
use crate::error::{Error, Result};
use std::sync::Arc;

/// A distinct word of a document: its place in [`Minibatch::words`], and how often it occurs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Entry {
    /// Index into the minibatch's list of words.
    pub word: u32,
    /// Occurrences in the document.
    pub count: u32,
}

/// Where a word of the minibatch occurs.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Occurrence {
    /// Index of the document.
    pub document: u32,
    /// Place among the distinct words of the document.
    pub row: u32,
}

/// Consecutive documents of a stream. Copies share their documents.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Minibatch {
    documents: Arc<Documents>,
    first: u64,
    pass: u64,
}

#[derive(Clone, Debug, Default, PartialEq, Eq)]
struct Documents {
    words: Vec<u32>,
    entries: Vec<Entry>,
    ends: Vec<usize>,
    tokens: Vec<u64>,
    unknown: Vec<u64>,
    occurrences: Vec<Occurrence>,
    occurrence_ends: Vec<usize>,
}

impl Documents {
    fn new(documents: &[Document]) -> Self {
        let mut batch = Self::default();
        let mut found = Vec::new();
        for (index, document) in documents.iter().enumerate() {
            for (row, &(word, count)) in document.words.iter().enumerate() {
                found.push((word, Occurrence { document: index as u32, row: row as u32 }));
                batch.entries.push(Entry { word, count });
            }
            batch.ends.push(batch.entries.len());
            batch.tokens.push(document.tokens());
            batch.unknown.push(document.out_of_vocabulary);
        }
        batch.number_words(&sorted_by_word(found));
        batch
    }

    /// Lists words and occurrences, which come word by word in the order of documents, and numbers the entries.
    fn number_words(&mut self, found: &[(u32, Occurrence)]) {
        self.occurrences.reserve_exact(found.len());
        for &(word, place) in found {
            if self.words.last() != Some(&word) {
                self.words.push(word);
                self.occurrence_ends.push(0);
            }
            self.occurrences.push(place);
            let number = self.words.len() - 1;
            self.occurrence_ends[number] = self.occurrences.len();
            let start = self.start(place.document as usize);
            self.entries[start + place.row as usize].word = number as u32;
        }
    }

    /// The place of the first entry of document `index`.
    fn start(&self, index: usize) -> usize {
        if index == 0 { 0 } else { self.ends[index - 1] }
    }

    /// The same with words numbered by `words`, which is ascending and has them all.
    fn renumbered(&self, words: &[u32]) -> Result<Self> {
        let mut places = Vec::with_capacity(self.words.len());
        let mut occurrence_ends = Vec::with_capacity(words.len());
        let mut known = words.iter().enumerate();
        for (index, &word) in self.words.iter().enumerate() {
            let before = if index == 0 { 0 } else { self.occurrence_ends[index - 1] };
            loop {
                match known.next() {
                    Some((place, &found)) if found == word => {
                        places.push(place as u32);
                        occurrence_ends.push(self.occurrence_ends[index]);
                        break;
                    }
                    Some((_, &found)) if found < word => occurrence_ends.push(before),
                    _ => return Err(not_covered(word)),
                }
            }
        }
        occurrence_ends.resize(words.len(), self.occurrences.len());
        let entry = |entry: &Entry| Entry { word: places[entry.word as usize], ..*entry };
        Ok(Self {
            words: words.to_vec(),
            entries: self.entries.iter().map(entry).collect(),
            occurrence_ends,
            ..self.clone()
        })
    }
}

fn not_covered(word: u32) -> Error {
    let problem = format!("a document has word id {word}, which the view does not cover");
    Error::setting("view", problem, "make the view for all words of the minibatch")
}

impl Minibatch {
    /// The documents `first..` of the stream in pass number `pass`; both key the random streams.
    pub fn new(documents: &[Document], first: u64, pass: u64) -> Self {
        Self { documents: Arc::new(Documents::new(documents)), first, pass }
    }

    /// The same documents with words numbered by `words`, an ascending list that may have others as well.
    pub(crate) fn renumbered(&self, words: &[u32]) -> Result<Self> {
        Ok(Self { documents: Arc::new(self.documents.renumbered(words)?), ..*self })
    }

    /// Whether some of [`Self::words`] do not occur.
    pub(crate) fn has_absent_words(&self) -> bool {
        (0..self.words().len()).any(|word| self.occurrences(word).is_empty())
    }

    /// Occurrences of the word at place `word` of [`Self::words`] in all documents.
    pub fn tokens_of_word(&self, word: usize) -> u64 {
        let count =
            |place: &Occurrence| u64::from(self.document(place.document as usize)[place.row as usize].count);
        self.occurrences(word).iter().map(count).sum()
    }

    /// Distinct word ids of the minibatch, ascending.
    pub fn words(&self) -> &[u32] {
        &self.documents.words
    }

    /// Number of documents.
    pub fn len(&self) -> usize {
        self.documents.ends.len()
    }

    /// True if there is no document.
    pub fn is_empty(&self) -> bool {
        self.documents.ends.is_empty()
    }

    /// The distinct words of document `index`.
    pub fn document(&self, index: usize) -> &[Entry] {
        &self.documents.entries[self.documents.start(index)..self.documents.ends[index]]
    }

    /// Where the word at place `word` of [`Self::words`] occurs, in the order of documents.
    pub fn occurrences(&self, word: usize) -> &[Occurrence] {
        let start = if word == 0 { 0 } else { self.documents.occurrence_ends[word - 1] };
        &self.documents.occurrences[start..self.documents.occurrence_ends[word]]
    }

    /// Number of tokens of document `index`.
    pub fn tokens_of(&self, index: usize) -> u64 {
        self.documents.tokens[index]
    }

    /// Tokens of document `index` that the vocabulary does not know; nothing else here counts them.
    pub fn unknown_of(&self, index: usize) -> u64 {
        self.documents.unknown[index]
    }

    /// Number of tokens of all documents.
    pub fn tokens(&self) -> u64 {
        self.documents.tokens.iter().sum()
    }

    /// Place of the first document in the stream.
    pub fn first(&self) -> u64 {
        self.first
    }

    /// Which pass over the stream this is, from 0.
    pub fn pass(&self) -> u64 {
        self.pass
    }

    /// A number that depends on the words and counts of document `index` only: it keys the random streams of
    /// evaluation and inference, so that order and company of a document do not change its result.
    pub fn content_key(&self, index: usize) -> u64 {
        self.document(index).iter().fold(0x243f_6a88_85a3_08d3, |key, entry| {
            let word = u64::from(self.documents.words[entry.word as usize]);
            crate::numerics::random::mix(key.rotate_left(23) ^ (word << 32 | u64::from(entry.count)))
        })
    }
}

/// Sorts by word, byte by byte of its number; what has the same word keeps its order. There are so many entries that
/// comparing them would take most of the time of reading.
fn sorted_by_word(mut found: Vec<(u32, Occurrence)>) -> Vec<(u32, Occurrence)> {
    let largest = found.iter().map(|&(word, _)| word).max().unwrap_or(0);
    let mut sorted = found.clone();
    for shift in (0..u32::BITS).step_by(8).take_while(|shift| largest >> shift > 0) {
        let digit = |word: u32| (word >> shift) as usize & 0xff;
        let mut next = [0; 257];
        for &(word, _) in &found {
            next[digit(word) + 1] += 1;
        }
        for value in 0..256 {
            next[value + 1] += next[value];
        }
        for &item in &found {
            let place: &mut usize = &mut next[digit(item.0)];
            sorted[*place] = item;
            *place += 1;
        }
        std::mem::swap(&mut found, &mut sorted);
    }
    found
}
