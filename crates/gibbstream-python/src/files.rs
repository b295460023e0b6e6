//! Files in any format of the program, as packs of observations.

use crate::error::{OrException, released};
use crate::signals::Signals;
use gibbstream::Error;
use gibbstream::corpus::{
    Inputs, NumericRows, ResolvedInputs, SAMPLED_FROM_STREAMS, Tokenizer, Vocabulary, VocabularyLimits,
};
use gibbstream::file::Features;
use gibbstream::learn::{ModelKind, Observation, ObservationStream, ReadAhead, observations, pack};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::PyBytes;
use std::path::PathBuf;
use std::sync::{Mutex, PoisonError};

/// Observations that travel together.
const DOCUMENTS_PER_BLOCK: usize = 512;
/// Packs that are read in advance.
const AHEAD: usize = 8;

/// Files whose words or columns are known.
#[pyclass(frozen, module = "gibbstream._core")]
pub struct Files {
    inputs: ResolvedInputs,
    rows: Option<NumericRows>,
    pub features: Features,
    pub tokenizer: Option<Tokenizer>,
    documents: Option<u64>,
}

#[pymethods]
impl Files {
    /// Finds files and words or columns. Text is read once to find its words, unless they are given.
    #[new]
    #[pyo3(signature = (paths, family, words=None))]
    fn create(
        py: Python<'_>,
        paths: Vec<PathBuf>,
        family: String,
        words: Option<Vec<String>>,
    ) -> PyResult<Self> {
        let kind =
            ModelKind::by_name(&family).ok_or_else(|| PyValueError::new_err(format!("no model {family}")))?;
        released(py, || Self::open(paths, kind, words).or_exception())
    }

    #[getter]
    fn width(&self) -> usize {
        self.features.len()
    }

    /// How many there are, if that is known.
    #[getter]
    fn documents(&self) -> Option<u64> {
        self.documents
    }

    /// All observations from the top.
    fn read(&self, py: Python<'_>) -> PyResult<Packs> {
        let stream: ObservationStream = match &self.rows {
            Some(rows) => Box::new(rows.read().map(|row| row.map(Observation::Row))),
            None => observations(self.inputs.documents(&self.features.vocabulary())),
        };
        let packs = released(py, || ReadAhead::start(Together(stream), AHEAD).or_exception())?;
        Ok(Packs(Mutex::new(packs)))
    }
}

impl Files {
    /// All documents from the top, and how many there are, if that is known.
    pub fn documents_again(&self) -> (ObservationStream, u64) {
        (observations(self.inputs.documents(&self.features.vocabulary())), self.documents.unwrap_or(0))
    }

    fn open(paths: Vec<PathBuf>, kind: ModelKind, words: Option<Vec<String>>) -> gibbstream::Result<Self> {
        let inputs = Inputs { paths, tokenizer: Tokenizer::auto(), ..Inputs::default() }.resolve()?;
        if inputs.is_read_once() {
            let problem = "standard input and pipes can be read only once";
            return Err(Error::setting("X", problem, "save it to a file and name the file"));
        }
        if !kind.has_topics() {
            let rows = NumericRows::new(&inputs, kind.domain(), words.as_deref())?;
            let features = Features::Columns(rows.columns().to_vec());
            return Ok(Self { inputs, rows: Some(rows), features, tokenizer: None, documents: None });
        }
        let has_text = inputs.have_text();
        let inputs =
            if has_text { inputs.cut_by(inputs.find_language(SAMPLED_FROM_STREAMS)?) } else { inputs };
        let mut documents = inputs.expected_documents();
        let vocabulary = match words {
            Some(words) => Vocabulary::new(words)?,
            None => {
                inputs.vocabulary(&VocabularyLimits::for_text(), &mut |counted| documents = Some(counted))?
            }
        };
        let tokenizer = has_text.then(|| inputs.tokenizer().clone());
        Ok(Self { inputs, rows: None, features: Features::Words(vocabulary), tokenizer, documents })
    }
}

/// Cuts a stream into packs.
struct Together(ObservationStream);

impl Iterator for Together {
    type Item = gibbstream::Result<Vec<u8>>;

    fn next(&mut self) -> Option<Self::Item> {
        let some: gibbstream::Result<Vec<Observation>> = self.0.by_ref().take(DOCUMENTS_PER_BLOCK).collect();
        match some {
            Ok(some) if some.is_empty() => None,
            some => Some(some.and_then(pack)),
        }
    }
}

/// Packs of observations, read ahead in a thread.
#[pyclass(frozen, module = "gibbstream._core")]
pub struct Packs(Mutex<ReadAhead<Vec<u8>>>);

#[pymethods]
impl Packs {
    fn __iter__(packs: Py<Self>) -> Py<Self> {
        packs
    }

    fn __next__<'py>(&self, py: Python<'py>) -> PyResult<Option<Bound<'py, PyBytes>>> {
        let raised = Mutex::new(None);
        let next = released(py, || {
            let signals = Mutex::new(Signals::new());
            let interrupted = || {
                let checked = signals.lock().unwrap_or_else(PoisonError::into_inner).check();
                let stop = checked.is_err();
                if let Err(error) = checked {
                    *raised.lock().unwrap_or_else(PoisonError::into_inner) = Some(error);
                }
                stop
            };
            self.0.lock().unwrap_or_else(PoisonError::into_inner).next(&interrupted).or_exception()
        })?;
        if let Some(error) = raised.into_inner().unwrap_or_else(PoisonError::into_inner) {
            return Err(error);
        }
        Ok(next.map(|bytes| PyBytes::new(py, &bytes)))
    }
}
