//! What commands read: documents for topic models, rows of numbers for all others.

use crate::interrupt::Interrupt;
use gibbstream::corpus::{Corpus, NumericRows, ResolvedInputs, Vocabulary};
use gibbstream::file::{Features, Model};
use gibbstream::learn::{Observation, ObservationStream, ReadAhead, SharedVocabulary, observations};
use gibbstream::{Error, Result};
use rayon::{ThreadPool, ThreadPoolBuilder};

/// Inputs, and how they are read.
#[derive(Clone)]
pub struct Source {
    pub inputs: ResolvedInputs,
    reading: Reading,
}

#[derive(Clone)]
enum Reading {
    Documents(Vocabulary),
    Rows(NumericRows),
}

impl Source {
    /// Documents with the words of a vocabulary.
    pub fn documents(inputs: ResolvedInputs, vocabulary: Vocabulary) -> Self {
        Self { inputs, reading: Reading::Documents(vocabulary) }
    }

    /// Rows of numbers.
    pub fn rows(inputs: ResolvedInputs, rows: NumericRows) -> Self {
        Self { inputs, reading: Reading::Rows(rows) }
    }

    /// What a model is asked about.
    pub fn of(model: &Model, inputs: ResolvedInputs) -> Result<Self> {
        Ok(match &model.features {
            Features::Columns(columns) => {
                let rows = NumericRows::new(&inputs, model.settings.model.domain(), Some(columns))?;
                Self::rows(inputs, rows)
            }
            features => Self::documents(inputs, features.vocabulary()),
        })
    }

    /// Everything from the top.
    pub fn read(&self) -> ObservationStream {
        self.read_entering(None)
    }

    /// The same, new words entering a vocabulary if there is one.
    pub fn read_entering(&self, shared: Option<&SharedVocabulary>) -> ObservationStream {
        match (&self.reading, shared) {
            (Reading::Documents(_), Some(shared)) => observations(self.inputs.documents_entering(shared)),
            (Reading::Documents(vocabulary), None) => observations(self.inputs.documents(vocabulary)),
            (Reading::Rows(rows), _) => Box::new(rows.read().map(|row| row.map(Observation::Row))),
        }
    }

    /// The documents alone, for what only topic models have.
    pub fn read_documents(&self, model: &Model) -> Box<dyn Corpus> {
        self.inputs.documents(&model.features.vocabulary())
    }

    /// What is counted.
    pub fn unit(&self) -> &'static str {
        if matches!(self.reading, Reading::Documents(_)) { "documents" } else { "observations" }
    }

    /// How many there will be, if that is known.
    pub fn expected(&self) -> Option<u64> {
        match self.reading {
            Reading::Documents(_) => self.inputs.expected_documents(),
            Reading::Rows(_) => None,
        }
    }
}

/// Observations that are worked on together; no result depends on it.
const OBSERVATIONS_PER_BLOCK: usize = 256;

/// Threads to compute on.
pub fn thread_pool(threads: usize) -> Result<ThreadPool> {
    ThreadPoolBuilder::new().num_threads(threads).build().map_err(|error| {
        Error::setting("--threads", format!("cannot start {threads} threads: {error}"), "ask for fewer")
    })
}

/// Hands over all observations, as many at a time as are there, until a signal comes.
pub fn each_batch(
    source: &Source,
    interrupt: &Interrupt,
    mut each: impl FnMut(Vec<Observation>) -> anyhow::Result<()>,
) -> anyhow::Result<()> {
    let mut ahead = ReadAhead::start(source.read(), 2 * OBSERVATIONS_PER_BLOCK)?;
    loop {
        let some = ahead.next_some(OBSERVATIONS_PER_BLOCK, &|| interrupt.received().is_some())?;
        if some.is_empty() {
            return Ok(());
        }
        each(some)?;
    }
}

/// Refuses flags that were given and mean nothing for a model.
pub fn refuse(model: &Model, flags: &[(&str, bool)]) -> Result<()> {
    match flags.iter().find(|(_, given)| *given) {
        None => Ok(()),
        Some((flag, _)) => {
            let problem = format!("does not apply to a model of kind {}", model.settings.model.name());
            Err(Error::setting(*flag, problem, "leave it out"))
        }
    }
}
