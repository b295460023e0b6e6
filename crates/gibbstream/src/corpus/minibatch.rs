//! A minibatch: some documents whose words are numbered by a short list of their own.
//!
//! Local inference then works on tables of the size of the minibatch's vocabulary, never of V.

use super::Document;

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

/// Consecutive documents of a stream.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Minibatch {
    words: Vec<u32>,
    entries: Vec<Entry>,
    ends: Vec<usize>,
    tokens: Vec<u64>,
    occurrences: Vec<Occurrence>,
    occurrence_ends: Vec<usize>,
    first: u64,
    pass: u64,
}

impl Minibatch {
    /// The documents `first..` of the stream in pass number `pass`; both key the random streams.
    pub fn new(documents: &[Document], first: u64, pass: u64) -> Self {
        let mut words: Vec<u32> =
            documents.iter().flat_map(|document| document.words.iter().map(|&(word, _)| word)).collect();
        words.sort_unstable();
        words.dedup();
        let mut batch = Self { words, first, pass, ..Self::default() };
        for document in documents {
            let mut from = 0;
            for &(word, count) in &document.words {
                // Both lists ascend, so the search only looks ahead.
                from += batch.words[from..].partition_point(|&candidate| candidate < word);
                batch.entries.push(Entry { word: from as u32, count });
            }
            batch.ends.push(batch.entries.len());
            batch.tokens.push(document.tokens());
        }
        batch.index_words();
        batch
    }

    /// Lists the occurrences of each word, by counting.
    fn index_words(&mut self) {
        let mut next = vec![0; self.words.len() + 1];
        for entry in &self.entries {
            next[entry.word as usize + 1] += 1;
        }
        for word in 0..self.words.len() {
            next[word + 1] += next[word];
        }
        let mut occurrences = vec![Occurrence::default(); self.entries.len()];
        for document in 0..self.len() {
            for (row, entry) in self.document(document).iter().enumerate() {
                let place = &mut next[entry.word as usize];
                occurrences[*place] = Occurrence { document: document as u32, row: row as u32 };
                *place += 1;
            }
        }
        next.truncate(self.words.len()); // by now, where each word ends
        (self.occurrences, self.occurrence_ends) = (occurrences, next);
    }

    /// Distinct word ids of the minibatch, ascending.
    pub fn words(&self) -> &[u32] {
        &self.words
    }

    /// Number of documents.
    pub fn len(&self) -> usize {
        self.ends.len()
    }

    /// True if there is no document.
    pub fn is_empty(&self) -> bool {
        self.ends.is_empty()
    }

    /// The distinct words of document `index`.
    pub fn document(&self, index: usize) -> &[Entry] {
        let start = if index == 0 { 0 } else { self.ends[index - 1] };
        &self.entries[start..self.ends[index]]
    }

    /// Where the word at place `word` of [`Self::words`] occurs, in the order of documents.
    pub fn occurrences(&self, word: usize) -> &[Occurrence] {
        let start = if word == 0 { 0 } else { self.occurrence_ends[word - 1] };
        &self.occurrences[start..self.occurrence_ends[word]]
    }

    /// Number of tokens of document `index`.
    pub fn tokens_of(&self, index: usize) -> u64 {
        self.tokens[index]
    }

    /// Number of tokens of all documents.
    pub fn tokens(&self) -> u64 {
        self.tokens.iter().sum()
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
            let word = u64::from(self.words[entry.word as usize]);
            crate::random::mix(key.rotate_left(23) ^ (word << 32 | u64::from(entry.count)))
        })
    }
}
