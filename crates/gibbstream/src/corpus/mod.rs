//! Documents: where they come from, how text becomes counts, and how they travel in minibatches.
//!
//! Every reader is an iterator of documents that holds one document at a time, so memory does not depend on
//! the length of the stream.

// Bytes to lines.
mod follow;

mod source;

mod lines;

mod bad_records;

// Text to numbered words.
mod tokenizer;

mod stop_words;

mod vocabulary;

mod word_counts;

mod open_vocabulary;

// Lines to documents, by format.
mod bag;

mod text;

mod json_lines;

mod table;

#[cfg(feature = "parquet")]
mod parquet_table;

#[cfg(not(feature = "parquet"))]
#[path = "no_parquet.rs"]
mod parquet_table;

mod numbers;

mod numbered_words;

mod sparse_lines;

mod matrix_market;

mod uci;

mod uci_files;

// Tables and arrays to rows of numbers.
mod numeric_csv;

#[cfg(feature = "parquet")]
mod numeric_parquet;

mod numeric_npy;

mod numeric;

// Inputs to one stream of documents.
mod input;

mod stream;

mod reader;

mod weights;

mod minibatch;
mod synthetic;
mod themes;
mod uci_writer;

pub use stop_words::StopWords;
pub use tokenizer::Tokenizer;

pub use open_vocabulary::{NewWords, OpenRule, OpenState, OpenVocabulary, Usage};
pub use vocabulary::Vocabulary;
pub use word_counts::{VocabularyCounter, VocabularyLimits};

pub use numeric::{NumericRows, Row};
pub use reader::{Format, Inputs, ResolvedInputs};

pub use weights::BadWeight;

pub use minibatch::{Entry, Minibatch, Occurrence};
pub use synthetic::{Length, Synthetic, Truth};
pub use themes::themes;
pub use uci_writer::{UciSize, write_uci};

use crate::error::Result;

/// The largest document that is accepted, in tokens: each is held in memory, and the sampler counts them in single
/// precision, which is exact up to here.
pub const MAX_DOCUMENT_TOKENS: u64 = 1 << f32::MANTISSA_DIGITS;

/// One document as a bag of words.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Document {
    /// The name the input gives it, if any.
    pub id: Option<String>,
    /// Distinct word ids, ascending, each with its count (at least 1).
    pub words: Vec<(u32, u32)>,
    /// Tokens that were dropped because their word is not in the vocabulary.
    pub out_of_vocabulary: u64,
}

impl Document {
    /// A document from word ids in any order; repeated ids are counted.
    pub fn from_tokens(tokens: &[u32]) -> Self {
        Self { words: count_words(tokens.iter().map(|&word| (word, 1)).collect()), ..Self::default() }
    }

    /// Number of tokens.
    pub fn tokens(&self) -> u64 {
        self.words.iter().map(|&(_, count)| u64::from(count)).sum()
    }
}

/// Sorts by word and adds up the counts of equal words (saturating: [`MAX_DOCUMENT_TOKENS`] is checked by
/// the readers).
pub fn count_words(mut words: Vec<(u32, u32)>) -> Vec<(u32, u32)> {
    words.sort_unstable_by_key(|&(word, _)| word);
    words.dedup_by(|next, kept| {
        let same = next.0 == kept.0;
        if same {
            kept.1 = kept.1.saturating_add(next.1);
        }
        same
    });
    words
}

/// A stream of documents, each of which may turn out to be unreadable.
pub trait Corpus: Iterator<Item = Result<Document>> + Send {}

impl<T: Iterator<Item = Result<Document>> + Send> Corpus for T {}
