//! Documents in memory, made from texts by the tokenizer and the vocabulary of the program.

use crate::error::{OrException, released};
use crate::model::Model;
use crate::written::{Texts, Written};
use gibbstream::corpus::{
    Document, StopWords, Tokenizer, Vocabulary, VocabularyCounter, VocabularyLimits, count_words,
};
use numpy::{IntoPyArray, PyArray1};
use pyo3::prelude::*;
use std::sync::{Mutex, PoisonError};

/// Documents whose words are numbered.
#[pyclass(frozen, module = "gibbstream._core")]
pub struct Corpus {
    pub documents: Vec<Document>,
    pub vocabulary: Vocabulary,
    /// How text was cut into words, if it was text.
    pub tokenizer: Option<Tokenizer>,
}

/// How texts are cut into words.
#[derive(FromPyObject)]
#[pyo3(from_item_all)]
pub struct Cutting {
    lowercase: bool,
    min_length: usize,
    ngrams: usize,
    stop_words: StopWordChoice,
}

/// `"en"`, `"none"`, the path of a file, or the words themselves.
#[derive(FromPyObject)]
enum StopWordChoice {
    Named(String),
    Words(Vec<String>),
}

impl Cutting {
    fn tokenizer(self) -> gibbstream::Result<Tokenizer> {
        let stop_words = match self.stop_words {
            StopWordChoice::Named(choice) => StopWords::parse(&choice)?,
            StopWordChoice::Words(words) => words.into(),
        };
        let tokenizer = Tokenizer {
            lowercase: self.lowercase,
            min_length: self.min_length,
            ngrams: self.ngrams,
            stop_words,
        };
        tokenizer.check()?;
        Ok(tokenizer)
    }
}

/// Arrays of a sparse matrix: where rows start, columns, counts.
type Arrays<'py> = (Bound<'py, PyArray1<i64>>, Bound<'py, PyArray1<i32>>, Bound<'py, PyArray1<i32>>);

#[pymethods]
impl Corpus {
    /// Finds the words in a first pass over the texts, unless they are given, and numbers the documents in a second.
    #[staticmethod]
    #[pyo3(signature = (texts, cutting, max_words, min_documents, max_document_share, vocabulary))]
    fn build(
        py: Python<'_>,
        texts: &Bound<'_, PyAny>,
        cutting: Cutting,
        max_words: Option<usize>,
        min_documents: u64,
        max_document_share: f64,
        vocabulary: Option<Vec<String>>,
    ) -> PyResult<Self> {
        let tokenizer = cutting.tokenizer().or_exception()?;
        let limits = VocabularyLimits { max_words, min_documents, max_document_share };
        limits.check().or_exception()?;
        let texts = Texts::new(texts)?;
        let given = vocabulary.map(Vocabulary::new).transpose().or_exception()?;
        let vocabulary = match given {
            Some(given) if limits.keep_all() => given,
            given => count(py, &texts, &tokenizer, given.as_ref(), &limits)?,
        };
        number(py, &texts, tokenizer, vocabulary)
    }

    /// Other texts, cut and numbered as these were.
    fn encode(&self, py: Python<'_>, texts: &Bound<'_, PyAny>) -> PyResult<Self> {
        number(py, &Texts::new(texts)?, tokenizer_or_plain(self.tokenizer.as_ref()), self.vocabulary.clone())
    }

    fn __len__(&self) -> usize {
        self.documents.len()
    }

    #[getter]
    fn tokens(&self) -> u64 {
        self.documents.iter().map(Document::tokens).sum()
    }

    #[getter]
    fn out_of_vocabulary_tokens(&self) -> u64 {
        self.documents.iter().map(|document| document.out_of_vocabulary).sum()
    }

    #[getter]
    fn words(&self) -> Vec<&str> {
        self.vocabulary.words().collect()
    }

    #[getter]
    fn width(&self) -> usize {
        self.vocabulary.len()
    }

    fn arrays<'py>(&self, py: Python<'py>) -> Arrays<'py> {
        let entries: usize = self.documents.iter().map(|document| document.words.len()).sum();
        let mut starts = Vec::with_capacity(self.documents.len() + 1);
        let (mut columns, mut counts) = (Vec::with_capacity(entries), Vec::with_capacity(entries));
        starts.push(0);
        for document in &self.documents {
            for &(word, count) in &document.words {
                columns.push(word as i32);
                counts.push(count as i32);
            }
            starts.push(columns.len() as i64);
        }
        (starts.into_pyarray(py), columns.into_pyarray(py), counts.into_pyarray(py))
    }

    /// The documents `start..stop`.
    fn part(&self, start: usize, stop: usize) -> Self {
        let stop = stop.min(self.documents.len());
        Self {
            documents: self.documents[start.min(stop)..stop].to_vec(),
            vocabulary: self.vocabulary.clone(),
            tokenizer: self.tokenizer.clone(),
        }
    }
}

impl Corpus {
    /// The same documents with the numbers of another vocabulary; words are matched by spelling.
    pub fn numbered_by(&self, py: Python<'_>, vocabulary: &Vocabulary) -> PyResult<Option<Self>> {
        released(py, || {
            if *vocabulary == self.vocabulary {
                return Ok(None);
            }
            let ids: Vec<Option<u32>> = self.vocabulary.words().map(|word| vocabulary.id(word)).collect();
            let translated = |document: &Document| {
                let mut words = Vec::with_capacity(document.words.len());
                let mut out_of_vocabulary = document.out_of_vocabulary;
                for &(word, count) in &document.words {
                    match ids[word as usize] {
                        Some(id) => words.push((id, count)),
                        None => out_of_vocabulary += u64::from(count),
                    }
                }
                Document {
                    id: document.id.clone(),
                    words: count_words(words),
                    out_of_vocabulary,
                    ..Document::default()
                }
            };
            Ok(Some(Self {
                documents: self.documents.iter().map(translated).collect(),
                vocabulary: vocabulary.clone(),
                tokenizer: self.tokenizer.clone(),
            }))
        })
    }
}

/// How text must be cut for a model. One that was learnt from counts does not say, so nothing is dropped.
pub fn tokenizer_or_plain(tokenizer: Option<&Tokenizer>) -> Tokenizer {
    tokenizer.cloned().unwrap_or_else(|| Tokenizer {
        min_length: 1,
        stop_words: StopWords::none(),
        ..Tokenizer::default()
    })
}

/// The words of the texts within the limits; only allowed ones, if some are given.
fn count(
    py: Python<'_>,
    texts: &Texts<'_>,
    tokenizer: &Tokenizer,
    allowed: Option<&Vocabulary>,
    limits: &VocabularyLimits,
) -> PyResult<Vocabulary> {
    let mut counter = VocabularyCounter::default();
    count_into(py, texts, tokenizer, allowed, &mut counter)?;
    counter.finish(limits).or_exception()
}

fn count_into(
    py: Python<'_>,
    texts: &Texts<'_>,
    tokenizer: &Tokenizer,
    allowed: Option<&Vocabulary>,
    counter: &mut VocabularyCounter,
) -> PyResult<()> {
    let mut ids = Vec::new();
    texts.each(py, |first, documents| {
        for (row, document) in (first..).zip(documents) {
            ids.clear();
            document.tokens(row, tokenizer, |word| {
                if allowed.is_none_or(|allowed| allowed.id(word).is_some()) {
                    ids.push(counter.id(word));
                }
            })?;
            counter.count(&Document::from_tokens(&ids));
        }
        Ok(())
    })
}

/// Texts with the words of a model, cut as those that it was learnt from.
#[pyfunction]
pub fn encode(py: Python<'_>, model: &Model, texts: &Bound<'_, PyAny>) -> PyResult<Corpus> {
    let (vocabulary, tokenizer) = model.with(py, |state| {
        Ok((state.run.features().vocabulary(), tokenizer_or_plain(state.run.tokenizer())))
    })?;
    number(py, &Texts::new(texts)?, tokenizer, vocabulary)
}

/// Finds the words of texts that come in parts.
#[pyclass(frozen, module = "gibbstream._core")]
pub struct WordCounter {
    tokenizer: Tokenizer,
    counter: Mutex<VocabularyCounter>,
}

#[pymethods]
impl WordCounter {
    #[new]
    fn create(cutting: Cutting) -> PyResult<Self> {
        Ok(Self { tokenizer: cutting.tokenizer().or_exception()?, counter: Mutex::default() })
    }

    fn add(&self, py: Python<'_>, texts: &Bound<'_, PyAny>) -> PyResult<()> {
        let mut counter = self.counter.lock().unwrap_or_else(PoisonError::into_inner);
        count_into(py, &Texts::new(texts)?, &self.tokenizer, None, &mut counter)
    }

    /// The words within the limits; it begins anew.
    fn finish(
        &self,
        max_words: Option<usize>,
        min_documents: u64,
        max_document_share: f64,
    ) -> PyResult<Vec<String>> {
        let limits = VocabularyLimits { max_words, min_documents, max_document_share };
        limits.check().or_exception()?;
        let counter = std::mem::take(&mut *self.counter.lock().unwrap_or_else(PoisonError::into_inner));
        Ok(counter.finish(&limits).or_exception()?.words().map(str::to_owned).collect())
    }
}

/// The documents with their words numbered.
fn number(
    py: Python<'_>,
    texts: &Texts<'_>,
    tokenizer: Tokenizer,
    vocabulary: Vocabulary,
) -> PyResult<Corpus> {
    let mut numbered = Vec::with_capacity(texts.len());
    let (mut ids, mut has_text) = (Vec::new(), false);
    texts.each(py, |first, documents| {
        for (row, document) in (first..).zip(documents) {
            has_text |= matches!(document, Written::Text(_));
            ids.clear();
            let mut out_of_vocabulary = 0;
            document.tokens(row, &tokenizer, |word| match vocabulary.id(word) {
                Some(id) => ids.push(id),
                None => out_of_vocabulary += 1,
            })?;
            numbered.push(Document { out_of_vocabulary, ..Document::from_tokens(&ids) });
        }
        Ok(())
    })?;
    Ok(Corpus { documents: numbered, vocabulary, tokenizer: has_text.then_some(tokenizer) })
}
