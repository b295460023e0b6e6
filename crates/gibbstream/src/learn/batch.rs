//! Minibatches and single observations of any model: documents, or rows of numbers.

use crate::corpus::{Document, Minibatch, Row};
use crate::error::{Error, Result};
use crate::model::Batch;
use crate::model::rows::observations::Observations;
use std::borrow::Cow;

/// One thing to learn from or to ask about.
#[derive(Clone, Debug, PartialEq)]
pub enum Observation {
    /// For topic models.
    Document(Document),
    /// For models of numbers.
    Row(Row),
}

impl Observation {
    /// The name that the input gives it, if any.
    pub fn id(&self) -> Option<&str> {
        match self {
            Self::Document(document) => document.id.as_deref(),
            Self::Row(row) => row.id.as_deref(),
        }
    }

    /// Tokens that the vocabulary does not know; rows of numbers have none.
    pub fn unknown_tokens(&self) -> u64 {
        if let Self::Document(document) = self { document.out_of_vocabulary } else { 0 }
    }
}

impl From<Document> for Observation {
    fn from(document: Document) -> Self {
        Self::Document(document)
    }
}

impl From<Row> for Observation {
    fn from(row: Row) -> Self {
        Self::Row(row)
    }
}

/// A minibatch of either kind, or a borrowed one.
#[derive(Clone, Debug, PartialEq)]
pub enum AnyBatch<'a> {
    /// Documents.
    Documents(Cow<'a, Minibatch>),
    /// Rows of numbers.
    Rows(Cow<'a, Observations>),
}

impl AnyBatch<'static> {
    /// The observations `first..` of the stream in pass number `pass`; all must be of the same kind.
    pub fn new(observations: Vec<Observation>, first: u64, pass: u64) -> Result<Self> {
        let (mut documents, mut rows, mut width) = (Vec::new(), Vec::new(), None);
        for observation in observations {
            match observation {
                Observation::Document(document) => documents.push(document),
                Observation::Row(row) => {
                    width = width.or(Some(row.values.len()));
                    rows.extend(row.values);
                }
            }
        }
        match width {
            None => Ok(Self::Documents(Cow::Owned(Minibatch::new(&documents, first, pass)))),
            Some(width) if documents.is_empty() => {
                Observations::new(rows, width, first, pass).map(|rows| Self::Rows(Cow::Owned(rows)))
            }
            Some(_) => Err(wrong_kind("documents and rows of numbers cannot be learnt from together")),
        }
    }
}

impl AnyBatch<'_> {
    /// Number of observations.
    pub fn len(&self) -> usize {
        match self {
            Self::Documents(batch) => batch.len(),
            Self::Rows(batch) => Batch::len(&**batch),
        }
    }

    /// True if there is no observation.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Number of tokens; rows of numbers have none.
    pub fn tokens(&self) -> u64 {
        self.documents().map_or(0, Minibatch::tokens)
    }

    /// The documents, for models of topics.
    pub fn documents(&self) -> Result<&Minibatch> {
        match self {
            Self::Documents(batch) => Ok(batch),
            Self::Rows(_) => Err(wrong_kind("a topic model is learnt from documents, not from rows")),
        }
    }

    /// The rows, for models of numbers.
    pub fn rows(&self) -> Result<&Observations> {
        match self {
            Self::Rows(batch) => Ok(batch),
            Self::Documents(_) => Err(wrong_kind("this model is learnt from rows, not from documents")),
        }
    }
}

impl<'a> From<&'a Minibatch> for AnyBatch<'a> {
    fn from(batch: &'a Minibatch) -> Self {
        Self::Documents(Cow::Borrowed(batch))
    }
}

impl<'a> From<&'a Observations> for AnyBatch<'a> {
    fn from(batch: &'a Observations) -> Self {
        Self::Rows(Cow::Borrowed(batch))
    }
}

impl<'a> From<&'a AnyBatch<'_>> for AnyBatch<'a> {
    fn from(batch: &'a AnyBatch<'_>) -> Self {
        match batch {
            AnyBatch::Documents(batch) => Self::Documents(Cow::Borrowed(batch)),
            AnyBatch::Rows(batch) => Self::Rows(Cow::Borrowed(batch)),
        }
    }
}

fn wrong_kind(problem: &str) -> Error {
    Error::setting("observations", problem, "give what the model is for")
}
