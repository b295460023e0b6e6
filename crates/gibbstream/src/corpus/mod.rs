//! Documents: where they come from, how text becomes counts, and how they travel in minibatches.
//!
//! Every reader is an iterator of documents that holds one document at a time, so memory does not depend on
//! the length of the stream.

// In the order in which data flows: bytes become lines, lines become documents of numbered words, and documents travel
// in minibatches.
pub(crate) mod bytes;
pub(crate) mod text;

pub(crate) mod formats;

mod input;

mod stream;

mod reader;

mod minibatch;

mod synthetic;

pub use text::open_vocabulary::{NewWords, OpenRule, OpenState, OpenVocabulary, Usage};
pub use text::segments::Segmentation;
pub use text::stems::Stems;
pub use text::stop_words::StopWords;
pub use text::term_weights::TermWeights;
pub use text::language::{Language, SAMPLED_DOCUMENTS, SAMPLED_FROM_STREAMS};
pub use text::markup::Html;
pub use text::phrases::{LEAST_NPMI, Phrase, PhraseCounter, Phrases};
pub use text::tokenizer::{Rules, Tokenizer};
pub use text::vocabulary::Vocabulary;
pub use text::word_counts::{Adaptive, Dropped, VocabularyCounter, VocabularyLimits, WordReport};

pub use formats::json_lines::FieldCheck;
pub use formats::numeric::{NumericRows, Row};
pub use formats::uci_writer::{UciSize, write_uci};
pub use formats::weights::BadWeight;

pub use minibatch::{Entry, Minibatch, Occurrence};
pub use reader::{Format, Inputs, ReadBefore, ResolvedInputs};
pub use bytes::spool::DEFAULT_SPOOL_BYTES;
pub use bytes::trace::InputPlace;
pub use synthetic::themes::themes;
pub use synthetic::{Length, Synthetic, Truth};

use crate::error::Result;
use serde_json::Value;

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
    /// The fields of its record that were asked for, in that order; null where the record has none.
    pub kept: Vec<Value>,
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
