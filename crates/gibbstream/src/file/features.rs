//! The words or columns that a model is about, and how they are written.

use super::sealed::StoredState;
use crate::corpus::{
    Document, MAX_DOCUMENT_TOKENS, OpenRule, OpenState, OpenVocabulary, Tokenizer, Vocabulary, count_words,
};
use crate::error::{Error, Result};
use crate::learn::Stored;
use std::sync::Arc;

/// The names of what a model is about.
#[derive(Clone, Debug)]
pub enum Features {
    /// Words of documents.
    Words(Vocabulary),
    /// Words of documents that new ones can join.
    OpenWords(OpenVocabulary),
    /// Columns of rows of numbers.
    Columns(Vec<String>),
}

impl Features {
    /// How many there are.
    pub fn len(&self) -> usize {
        match self {
            Self::Words(vocabulary) => vocabulary.len(),
            Self::OpenWords(open) => open.len(),
            Self::Columns(columns) => columns.len(),
        }
    }

    /// True if there are none.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The columns; none for models of documents.
    pub fn columns(&self) -> &[String] {
        if let Self::Columns(columns) = self { columns } else { &[] }
    }

    /// The words at this moment; none for models of numbers.
    pub fn vocabulary(&self) -> Vocabulary {
        match self {
            Self::Words(vocabulary) => vocabulary.clone(),
            Self::OpenWords(open) => open.vocabulary(),
            Self::Columns(_) => Vocabulary::default(),
        }
    }

    /// The words, if new ones can join them.
    pub fn open(&self) -> Option<&OpenVocabulary> {
        if let Self::OpenWords(open) = self { Some(open) } else { None }
    }

    /// A text as a document with the numbers of these words; new ones enter if they can.
    pub fn document(&mut self, text: &str, tokenizer: &Tokenizer) -> Result<Document> {
        let (mut words, mut out_of_vocabulary) = (Vec::new(), 0);
        tokenizer.tokenize(text, |word| {
            let id = match self {
                Self::Words(vocabulary) => vocabulary.id(word),
                Self::OpenWords(open) => open.find_or_enter(word),
                Self::Columns(_) => None,
            };
            match id {
                Some(id) => words.push((id, 1)),
                None => out_of_vocabulary += 1,
            }
        });
        if words.len() as u64 > MAX_DOCUMENT_TOKENS {
            let problem = format!("it has more than {MAX_DOCUMENT_TOKENS} tokens");
            return Err(Error::setting("document", problem, "split it into smaller ones"));
        }
        let document = Document { words: count_words(words), out_of_vocabulary, ..Document::default() };
        match self {
            Self::Words(vocabulary) => vocabulary.weighted(document),
            _ => Ok(document),
        }
    }

    /// How much a token of each word counts, if not all count the same.
    pub fn term_weights(&self) -> Option<&[f64]> {
        if let Self::Words(vocabulary) = self { vocabulary.weights() } else { None }
    }

    pub(super) fn open_state(&self) -> Option<&OpenState> {
        self.open().map(OpenVocabulary::state)
    }

    pub(crate) fn open_mut(&mut self) -> Option<&mut OpenVocabulary> {
        if let Self::OpenWords(open) = self { Some(open) } else { None }
    }
}

/// The words by number, one a line; a free place is an empty line.
pub(super) fn lines(vocabulary: &Vocabulary) -> String {
    let mut lines = String::new();
    for place in 0..vocabulary.len() as u32 {
        lines.push_str(&vocabulary.known(place).unwrap_or_default());
        lines.push('\n');
    }
    lines
}

pub(super) fn read_words(
    stored: &StoredState<'_>,
    open: Option<OpenState>,
    has_weights: bool,
) -> Result<Features, String> {
    let text = stored.arrays.bytes("vocabulary")?;
    let text = std::str::from_utf8(&text).map_err(|_| "its vocabulary is not UTF-8".to_string())?;
    let Some(mut open) = open else {
        let vocabulary = Vocabulary::new(text.lines()).map_err(|error| error.to_string())?;
        if !has_weights {
            return Ok(Features::Words(vocabulary));
        }
        let weights = stored.floats("term_weights", &[vocabulary.len()])?;
        return vocabulary.with_weights(weights).map(Features::Words).map_err(|error| error.to_string());
    };
    open.rule.check().map_err(|error| error.to_string())?;
    let places: Vec<Option<Arc<str>>> =
        text.lines().map(|word| Some(word).filter(|word| !word.is_empty()).map(Arc::from)).collect();
    // The other checks are those of a vocabulary without the gaps.
    let words: Vec<Arc<str>> = places.iter().flatten().cloned().collect();
    Vocabulary::new(words).map_err(|error| error.to_string())?;
    let mut bits = None;
    match open.rule {
        OpenRule::Hash { bits: given } => bits = Some(given),
        OpenRule::Grow { .. } => {
            let usage = stored.floats("word_usage", &[places.len(), 2])?;
            open.usage = bytemuck::cast_slice(&usage).to_vec();
        }
    }
    let vocabulary = Vocabulary::with_free_places(places, bits);
    Ok(Features::OpenWords(OpenVocabulary::resume(&vocabulary, open)))
}
