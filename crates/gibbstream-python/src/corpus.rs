//! Documents in memory, made from texts by the tokenizer and the vocabulary of the program.

use crate::error::{OrException, released};
use crate::model::Model;
use crate::written::{RawDocument, Texts};
use gibbstream::Error;
use gibbstream::corpus::{
    Adaptive, Document, Html, Language, PhraseCounter, Phrases, SAMPLED_DOCUMENTS, Stems, StopWords,
    TermWeights, Tokenizer, Vocabulary, VocabularyCounter, VocabularyLimits, count_words,
};
use numpy::{IntoPyArray, PyArray1};
use pyo3::exceptions::{PyIndexError, PyValueError};
use pyo3::prelude::*;
use serde_json::json;
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
pub struct TextRules {
    lowercase: bool,
    min_length: usize,
    ngrams: usize,
    stop_words: StopWordChoice,
    language: String,
    html: String,
    keep_urls: bool,
    phrases: bool,
    stem: Option<String>,
}

/// `"auto"`, `"en"`, `"none"`, the path of a file, or the words themselves.
#[derive(FromPyObject)]
enum StopWordChoice {
    Named(String),
    Words(Vec<String>),
}

impl TextRules {
    /// How text is cut; the language may still have to be found.
    fn tokenizer(self) -> gibbstream::Result<Tokenizer> {
        let (stop_words, of_language) = match self.stop_words {
            StopWordChoice::Named(choice) if choice == "auto" => (StopWords::none(), true),
            StopWordChoice::Named(choice) => (StopWords::parse(&choice)?, false),
            StopWordChoice::Words(words) => (words.into(), false),
        };
        let html = Html::NAMES.iter().find(|(name, _)| *name == self.html).map(|(_, html)| *html);
        let unknown =
            || Error::setting("html", format!("`{}` is not a choice", self.html), "use auto, strip or keep");
        let tokenizer = Tokenizer {
            lowercase: self.lowercase,
            min_length: self.min_length,
            ngrams: self.ngrams,
            stop_words,
            stop_words_of_language: of_language,
            language: Language::parse(&self.language)?,
            html: html.ok_or_else(unknown)?,
            keep_urls: self.keep_urls,
            stem: self.stem.as_deref().map(Stems::of_language).transpose()?,
            ..Tokenizer::auto()
        };
        tokenizer.check()?;
        Ok(tokenizer)
    }
}

/// Limits as Python says them: what is not given adapts to the number of documents.
fn limits_of(
    max_words: Option<usize>,
    min_documents: Option<u64>,
    max_document_share: Option<f64>,
    term_weights: TermWeights,
) -> gibbstream::Result<VocabularyLimits> {
    let limits = VocabularyLimits {
        max_words,
        min_documents: min_documents.unwrap_or(1),
        max_document_share: max_document_share.unwrap_or(1.0),
        adaptive: Adaptive {
            min_documents: min_documents.is_none(),
            max_document_share: max_document_share.is_none(),
        },
        term_weights,
    };
    limits.check()?;
    Ok(limits)
}

/// Texts of the first documents, in which the language is found.
fn first_texts(texts: &Texts<'_>) -> PyResult<Vec<String>> {
    let documents = texts.some(0..texts.len().min(SAMPLED_DOCUMENTS))?;
    Ok(documents
        .into_iter()
        .filter_map(|document| if let RawDocument::Text(text) = document { Some(text) } else { None })
        .collect())
}

/// Arrays of a sparse matrix: where rows start, columns, counts.
type Arrays<'py> = (Bound<'py, PyArray1<i64>>, Bound<'py, PyArray1<i32>>, Bound<'py, PyArray1<i32>>);

#[pymethods]
impl Corpus {
    /// Finds the words in a first pass over the texts, unless they are given, and numbers the documents in a second.
    #[staticmethod]
    #[pyo3(signature = (texts, rules, max_words, min_documents, max_document_share, vocabulary, term_weights="none"))]
    #[expect(clippy::too_many_arguments, reason = "Python names them")]
    fn build(
        py: Python<'_>,
        texts: &Bound<'_, PyAny>,
        rules: TextRules,
        max_words: Option<usize>,
        min_documents: Option<u64>,
        max_document_share: Option<f64>,
        vocabulary: Option<Vec<String>>,
        term_weights: &str,
    ) -> PyResult<Self> {
        let finds_phrases = rules.phrases;
        let tokenizer = rules.tokenizer().or_exception()?;
        let term_weights = TermWeights::parse(term_weights).or_exception()?;
        let limits = limits_of(max_words, min_documents, max_document_share, term_weights).or_exception()?;
        let limits = if vocabulary.is_some() { limits.as_told() } else { limits };
        let texts = Texts::new(texts)?;
        let mut tokenizer = tokenizer.decided(&first_texts(&texts)?);
        let given = vocabulary.map(Vocabulary::new).transpose().or_exception()?;
        if tokenizer.needs_forms() {
            let all = || count(py, &texts, &tokenizer.single_words(), None, &VocabularyLimits::default());
            tokenizer = tokenizer.written_as(given.clone().map_or_else(all, Ok)?.words());
        }
        if finds_phrases {
            tokenizer.phrases = phrases_of(py, &texts, &tokenizer)?;
        }
        let vocabulary = match given {
            Some(given) if limits.keep_all() => given,
            given => count(py, &texts, &tokenizer, given.as_ref(), &limits)?,
        };
        let tokenizer = tokenizer.within(&vocabulary);
        number(py, &texts, tokenizer, vocabulary)
    }

    /// Other texts, cut and numbered as these were.
    fn encode(&self, py: Python<'_>, texts: &Bound<'_, PyAny>) -> PyResult<Self> {
        number(py, &Texts::new(texts)?, tokenizer_or_plain(self.tokenizer.as_ref()), self.vocabulary.clone())
    }

    fn __len__(&self) -> usize {
        self.documents.len()
    }

    /// The code of the language of the texts, if it was told or found.
    #[getter]
    fn language(&self) -> Option<&str> {
        self.tokenizer.as_ref().and_then(|tokenizer| tokenizer.language.code())
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

    /// The documents at these places.
    fn take(&self, places: Vec<usize>) -> PyResult<Self> {
        let document = |place: usize| {
            let outside = || PyIndexError::new_err(format!("there is no document {place}"));
            self.documents.get(place).cloned().ok_or_else(outside)
        };
        let documents = places.into_iter().map(document).collect::<PyResult<_>>()?;
        Ok(Self { documents, vocabulary: self.vocabulary.clone(), tokenizer: self.tokenizer.clone() })
    }

    /// Tokens of each document that the vocabulary does not have, how text was cut, and the weights of words, for pickles.
    fn beside_the_counts(&self) -> (Vec<u64>, Option<String>, Option<Vec<f64>>) {
        let unknown = self.documents.iter().map(|document| document.out_of_vocabulary).collect();
        let tokenizer = self.tokenizer.as_ref().map(|tokenizer| json!(tokenizer).to_string());
        (unknown, tokenizer, self.vocabulary.weights().map(<[f64]>::to_vec))
    }

    /// The corpus that gave these counts, words, and what is beside them.
    #[staticmethod]
    #[pyo3(signature = (arrays, words, unknown, tokenizer, weights=None))]
    fn restored(
        arrays: (Vec<usize>, Vec<u32>, Vec<u32>),
        words: Vec<String>,
        unknown: Vec<u64>,
        tokenizer: Option<&str>,
        weights: Option<Vec<f64>>,
    ) -> PyResult<Self> {
        let (starts, columns, counts) = arrays;
        let refused = || PyValueError::new_err("pickled corpus: it is damaged");
        let vocabulary = Vocabulary::new(words).or_exception()?;
        let vocabulary = match weights {
            Some(weights) => vocabulary.with_weights(weights).or_exception()?,
            None => vocabulary,
        };
        let document = |(rows, out_of_vocabulary): (&[usize], u64)| {
            let columns = columns.get(rows[0]..rows[1]).ok_or_else(refused)?;
            let counts = counts.get(rows[0]..rows[1]).ok_or_else(refused)?;
            let words: Vec<(u32, u32)> = columns.iter().copied().zip(counts.iter().copied()).collect();
            let is_whole = words.iter().all(|&(word, count)| (word as usize) < vocabulary.len() && count > 0);
            let is_sorted = words.is_sorted_by(|a, b| a.0 < b.0);
            if !(is_whole && is_sorted) {
                return Err(refused());
            }
            Ok(Document { words, out_of_vocabulary, ..Document::default() })
        };
        if starts.len() != unknown.len() + 1 {
            return Err(refused());
        }
        let documents = starts.windows(2).zip(unknown).map(document).collect::<PyResult<_>>()?;
        let tokenizer = tokenizer.map(serde_json::from_str).transpose().map_err(|_| refused())?;
        Ok(Self { documents, vocabulary, tokenizer })
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
                let document = Document { words: count_words(words), out_of_vocabulary, ..document.clone() };
                // Counts that have weights already are as they should be.
                if self.vocabulary.weights().is_some() { Ok(document) } else { vocabulary.weighted(document) }
            };
            Ok(Some(Self {
                documents: self
                    .documents
                    .iter()
                    .map(translated)
                    .collect::<gibbstream::Result<_>>()
                    .or_exception()?,
                vocabulary: vocabulary.clone(),
                tokenizer: self.tokenizer.clone(),
            }))
        })
    }
}

/// How text must be cut for a model. One that was learnt from counts does not say, so nothing is dropped.
pub fn tokenizer_or_plain(tokenizer: Option<&Tokenizer>) -> Tokenizer {
    tokenizer.cloned().unwrap_or_else(Tokenizer::plain)
}

/// Words of the texts that belong together.
fn phrases_of(py: Python<'_>, texts: &Texts<'_>, tokenizer: &Tokenizer) -> PyResult<Phrases> {
    let mut counter = PhraseCounter::default();
    texts.each(py, |_, documents| {
        for document in documents {
            if let RawDocument::Text(text) = document {
                tokenizer.tokenize_following(text, |word, follows| counter.add(word, follows));
            }
            counter.end_document();
        }
        Ok(())
    })?;
    Ok(counter.phrases())
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
    let (vocabulary, tokenizer) = model.words_and_tokenizer(py)?;
    number(py, &Texts::new(texts)?, tokenizer, vocabulary)
}

/// Finds the words of texts that come in parts.
#[pyclass(frozen, module = "gibbstream._core")]
pub struct WordCounter {
    state: Mutex<Counting>,
}

/// What has been counted, and how text is cut, which is known with the first documents.
struct Counting {
    tokenizer: Tokenizer,
    counter: VocabularyCounter,
}

#[pymethods]
impl WordCounter {
    #[new]
    fn create(rules: TextRules) -> PyResult<Self> {
        for (name, given) in [("phrases", rules.phrases), ("stem", rules.stem.is_some())] {
            if given {
                let problem = "tables of an engine are not read once more for it";
                return Err(Error::setting(name, problem, "leave it out")).or_exception();
            }
        }
        let tokenizer = rules.tokenizer().or_exception()?;
        Ok(Self { state: Mutex::new(Counting { tokenizer, counter: VocabularyCounter::default() }) })
    }

    fn add(&self, py: Python<'_>, texts: &Bound<'_, PyAny>) -> PyResult<()> {
        let texts = Texts::new(texts)?;
        let mut state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        let Counting { tokenizer, counter } = &mut *state;
        count_into(py, &texts, tokenizer, None, counter)
    }

    /// Finds the language in the first texts, if it is to be found, and tells its code, or `"unknown"`.
    fn find_language(&self, texts: &Bound<'_, PyAny>) -> PyResult<String> {
        let first = first_texts(&Texts::new(texts)?)?;
        let mut state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        state.tokenizer = state.tokenizer.decided(&first);
        Ok(state.tokenizer.language.clone().into())
    }

    /// The words within the limits; it begins anew.
    fn finish(
        &self,
        max_words: Option<usize>,
        min_documents: Option<u64>,
        max_document_share: Option<f64>,
    ) -> PyResult<Vec<String>> {
        let limits =
            limits_of(max_words, min_documents, max_document_share, TermWeights::None).or_exception()?;
        let counter = std::mem::take(&mut self.state.lock().unwrap_or_else(PoisonError::into_inner).counter);
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
            has_text |= matches!(document, RawDocument::Text(_));
            ids.clear();
            let mut out_of_vocabulary = 0;
            document.tokens(row, &tokenizer, |word| match vocabulary.id(word) {
                Some(id) => ids.push(id),
                None => out_of_vocabulary += 1,
            })?;
            let document = Document { out_of_vocabulary, ..Document::from_tokens(&ids) };
            numbered.push(vocabulary.weighted(document)?);
        }
        Ok(())
    })?;
    Ok(Corpus { documents: numbered, vocabulary, tokenizer: has_text.then_some(tokenizer) })
}
