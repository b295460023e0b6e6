//! Documents as people write them: texts, or lists of tokens, from Python lists or from columns of Arrow tables.

use crate::error::OrException;
use arrow_array::cast::AsArray;
use arrow_array::{Array, ArrayRef};
use arrow_cast::cast;
use arrow_schema::{DataType, Field};
use gibbstream::Error;
use gibbstream::corpus::{MAX_DOCUMENT_TOKENS, Tokenizer};
use pyo3::exceptions::PyTypeError;
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyString};
use pyo3_arrow::input::AnyArray;
use std::sync::Arc;

/// Documents that are copied out of Python at a time.
pub const DOCUMENTS_PER_BLOCK: usize = 512;

/// One document.
pub enum RawDocument {
    Text(String),
    Tokens(Vec<String>),
}

impl RawDocument {
    /// Calls `visit` for every token in order. `row` is for messages.
    pub fn tokens(
        &self,
        row: usize,
        tokenizer: &Tokenizer,
        mut visit: impl FnMut(&str),
    ) -> gibbstream::Result<()> {
        let mut count = 0_u64;
        match self {
            Self::Text(text) => tokenizer.tokenize(text, |word| {
                count += 1;
                visit(word);
            }),
            Self::Tokens(tokens) => {
                for (at, token) in tokens.iter().enumerate() {
                    let word = token.trim();
                    if word.contains(['\n', '\r']) {
                        let problem = format!("token {} of document {row} has a line break in it", at + 1);
                        return Err(Error::setting("texts", problem, "write one word per token"));
                    }
                    if !word.is_empty() {
                        count += 1;
                        visit(word);
                    }
                }
            }
        }
        if count > MAX_DOCUMENT_TOKENS {
            let problem = format!("document {row} has more than {MAX_DOCUMENT_TOKENS} tokens");
            return Err(Error::setting("texts", problem, "split it into smaller documents"));
        }
        Ok(())
    }
}

/// Documents that can be read more than once.
pub enum Texts<'py> {
    /// A Python sequence of strings or of lists of strings.
    Sequence(Bound<'py, PyAny>, usize),
    /// A column of strings, or of lists of strings.
    Column(Vec<ArrayRef>),
}

impl<'py> Texts<'py> {
    /// From a sequence, or from anything that exports an Arrow array or stream.
    pub fn new(object: &Bound<'py, PyAny>) -> PyResult<Self> {
        let arrow = object.hasattr("__arrow_c_stream__")? || object.hasattr("__arrow_c_array__")?;
        if !arrow {
            return Ok(Self::Sequence(object.clone(), object.len()?));
        }
        let column = object.extract::<AnyArray>()?.into_chunked_array()?;
        let (chunks, _) = column.into_inner();
        let chunks: PyResult<Vec<ArrayRef>> = chunks.iter().map(plain).collect();
        Ok(Self::Column(chunks?))
    }

    pub fn len(&self) -> usize {
        match self {
            Self::Sequence(_, length) => *length,
            Self::Column(chunks) => chunks.iter().map(Array::len).sum(),
        }
    }

    /// Calls `work` for some documents after the other, with the place of the first, and the interpreter released.
    pub fn each<F>(&self, py: Python<'py>, mut work: F) -> PyResult<()>
    where
        F: FnMut(usize, &[RawDocument]) -> gibbstream::Result<()> + Send,
    {
        let mut first = 0;
        while first < self.len() {
            py.check_signals()?;
            let some = first..self.len().min(first + DOCUMENTS_PER_BLOCK);
            let documents = self.some(some.clone())?;
            crate::error::released(py, || work(first, &documents).or_exception())?;
            first = some.end;
        }
        Ok(())
    }

    /// The documents at some places.
    pub fn some(&self, rows: std::ops::Range<usize>) -> PyResult<Vec<RawDocument>> {
        match self {
            Self::Sequence(sequence, _) => rows
                .map(|row| one(&sequence.get_item(row)?).map_err(|problem| refused(row, &problem)))
                .collect(),
            Self::Column(chunks) => {
                let mut documents = Vec::with_capacity(rows.len());
                let mut first = 0;
                for chunk in chunks {
                    let inside = rows.start.max(first)..rows.end.min(first + chunk.len());
                    for row in inside {
                        documents.push(cell(chunk, row - first).map_err(|problem| refused(row, &problem))?);
                    }
                    first += chunk.len();
                }
                Ok(documents)
            }
        }
    }
}

fn refused(row: usize, problem: &str) -> PyErr {
    PyTypeError::new_err(format!(
        "texts: document {row} is {problem}; a document is a string or a list of strings"
    ))
}

/// One Python object as a document, or what it is instead.
fn one(object: &Bound<'_, PyAny>) -> Result<RawDocument, String> {
    if let Ok(text) = object.cast::<PyString>() {
        return Ok(RawDocument::Text(text.to_string_lossy().into_owned()));
    }
    let kind = || object.get_type().name().map_or_else(|_| "no text".to_owned(), |name| name.to_string());
    if object.cast::<PyBytes>().is_ok() {
        return Err("bytes, not text".to_owned());
    }
    let tokens = object.try_iter().map_err(|_| format!("of type {}", kind()))?;
    let tokens: Result<Vec<String>, String> = tokens
        .map(|token| match token.and_then(|token| token.extract::<String>()) {
            Ok(token) => Ok(token),
            Err(_) => Err(format!("a {} with something in it that is not a string", kind())),
        })
        .collect();
    tokens.map(RawDocument::Tokens)
}

/// One cell of a column that went through [`plain`], or what it is instead.
fn cell(column: &ArrayRef, row: usize) -> Result<RawDocument, String> {
    if column.is_null(row) {
        return Err("null".to_owned());
    }
    let Some(lists) = column.as_list_opt::<i64>() else {
        return Ok(RawDocument::Text(column.as_string::<i64>().value(row).to_owned()));
    };
    let tokens = lists.value(row);
    let tokens = tokens.as_string::<i64>();
    tokens
        .iter()
        .map(|token| token.map(str::to_owned).ok_or_else(|| "a list with null in it".to_owned()))
        .collect::<Result<_, _>>()
        .map(RawDocument::Tokens)
}

/// A column in one of the two forms that are read: strings, or lists of strings.
fn plain(column: &ArrayRef) -> PyResult<ArrayRef> {
    let item = |field: &Arc<Field>| is_text(field.data_type());
    let wanted = match column.data_type() {
        kind if is_text(kind) => DataType::LargeUtf8,
        DataType::List(field)
        | DataType::LargeList(field)
        | DataType::FixedSizeList(field, _)
        | DataType::ListView(field)
        | DataType::LargeListView(field)
            if item(field) =>
        {
            DataType::LargeList(Arc::new(Field::new("item", DataType::LargeUtf8, true)))
        }
        other => {
            return Err(PyTypeError::new_err(format!(
                "texts: the column holds {other}; give a column of strings or of lists of strings"
            )));
        }
    };
    cast(column, &wanted).map_err(|error| PyTypeError::new_err(format!("texts: {error}")))
}

fn is_text(kind: &DataType) -> bool {
    match kind {
        DataType::Utf8 | DataType::LargeUtf8 | DataType::Utf8View => true,
        DataType::Dictionary(_, values) => is_text(values),
        _ => false,
    }
}
