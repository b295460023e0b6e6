//! Passes over a stream, cut into minibatches.

use super::batch::{AnyBatch, Observation};
use super::held_out::HeldOut;
use crate::learn::batch_size::BatchSize;
use crate::corpus::{Corpus, Document, InputPlace, NewWords, OpenRule, OpenVocabulary, ResolvedInputs};
use crate::error::{Error, Result};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// Observations from the top of an input, each of which may turn out to be unreadable.
pub type ObservationStream = Box<dyn Iterator<Item = Result<Observation>> + Send>;

/// A vocabulary that new words join while documents are read, shared between reader and cutter.
pub type SharedVocabulary = Arc<Mutex<OpenVocabulary>>;

/// Documents as observations.
pub fn observations(documents: impl Corpus + 'static) -> ObservationStream {
    Box::new(Documents(documents))
}

struct Documents<I>(I);

impl<I: Iterator<Item = Result<Document>>> Iterator for Documents<I> {
    type Item = Result<Observation>;

    fn next(&mut self) -> Option<Self::Item> {
        self.0.next().map(|document| document.map(Observation::Document))
    }

    /// Readers can pass over documents without looking for their words.
    fn nth(&mut self, count: usize) -> Option<Self::Item> {
        self.0.nth(count).map(|document| document.map(Observation::Document))
    }
}

/// Where a run stands in its stream.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct StreamPosition {
    /// The number of the first observation of a pass; numbers key the random streams.
    pub origin: u64,
    /// The pass over the stream, from 0.
    pub pass: u64,
    /// Observations of this pass that have been learnt from.
    pub documents: u64,
}

impl StreamPosition {
    /// The number of the next observation.
    pub fn next(&self) -> u64 {
        self.origin + self.documents
    }
}

/// How a stream is cut.
#[derive(Clone, Copy, Debug)]
pub struct MinibatchPlan {
    /// Observations at the beginning of every pass that are held out.
    pub held_out: usize,
    /// Observations in a minibatch.
    pub batch: BatchSize,
    /// Passes over the stream.
    pub passes: u64,
    /// Where to begin.
    pub start: StreamPosition,
    /// Observations that the model has learnt from before, in all passes and earlier runs.
    pub seen: u64,
}

/// A part of the stream as training takes it.
pub enum Part {
    /// The observations at the beginning that are held out.
    HeldOut(HeldOut),
    /// Observations to learn from.
    Minibatch(CutMinibatch),
}

/// A minibatch, and what must be known to learn from it.
pub struct CutMinibatch {
    /// The observations.
    pub batch: AnyBatch<'static>,
    /// Words that were not known before, if the vocabulary is open.
    pub new_words: Option<NewWords>,
    /// Their tokens that the vocabulary does not know.
    pub unknown_tokens: u64,
    /// Where the run stands after it.
    pub position: StreamPosition,
    /// How far each input was read then, if the run wants to know.
    pub places: Vec<InputPlace>,
}

/// Cuts passes over observations into minibatches. Those that are held out come first and once; the others are
/// counted in every pass, whatever came before them.
pub struct Minibatches<F> {
    open: F,
    plan: MinibatchPlan,
    /// The vocabulary that new words enter while reading, if there is one.
    vocabulary: Option<SharedVocabulary>,
    stream: Option<ObservationStream>,
    held_out: Option<HeldOut>,
    position: StreamPosition,
    inputs: Option<ResolvedInputs>,
}

impl<F: FnMut(Option<&SharedVocabulary>) -> ObservationStream> Minibatches<F> {
    /// `open` starts reading from the top, with the vocabulary if words enter one.
    pub fn new(open: F, plan: MinibatchPlan, vocabulary: Option<OpenVocabulary>) -> Self {
        let vocabulary = vocabulary.map(|vocabulary| Arc::new(Mutex::new(vocabulary)));
        let (stream, held_out, position) = (None, None, plan.start);
        Self { open, plan, vocabulary, stream, held_out, position, inputs: None }
    }

    /// The same, telling how far each of these inputs was read, which are those that `open` reads.
    #[must_use]
    pub fn watching(self, inputs: Option<ResolvedInputs>) -> Self {
        Self { inputs, ..self }
    }

    fn locked(&self) -> Option<MutexGuard<'_, OpenVocabulary>> {
        self.vocabulary.as_ref().map(|vocabulary| vocabulary.lock().unwrap_or_else(PoisonError::into_inner))
    }

    fn part(&mut self) -> Result<Option<Part>> {
        while self.position.pass < self.plan.passes {
            let Some(stream) = &mut self.stream else {
                self.begin_pass()?;
                if let Some(held_out) = self.held_out.take() {
                    return Ok(Some(Part::HeldOut(held_out)));
                }
                continue;
            };
            let size = self.plan.batch.after(self.plan.seen);
            let some: Vec<Observation> = stream.by_ref().take(size).collect::<Result<_>>()?;
            if !some.is_empty() {
                return self.cut(some).map(Part::Minibatch).map(Some);
            }
            self.stream = None;
            self.position = StreamPosition { pass: self.position.pass + 1, documents: 0, ..self.position };
        }
        Ok(None)
    }

    fn cut(&mut self, some: Vec<Observation>) -> Result<CutMinibatch> {
        let (count, unknown_tokens) = (some.len() as u64, some.iter().map(Observation::unknown_tokens).sum());
        let batch = AnyBatch::new(some, self.position.next(), self.position.pass)?;
        self.plan.seen += count;
        self.position.documents += count;
        let new_words = self.locked().map(|mut vocabulary| {
            let new_words = vocabulary.take_new_words();
            if let AnyBatch::Documents(batch) = &batch {
                vocabulary.close(batch);
            }
            new_words
        });
        let places = self.inputs.as_ref().map(ResolvedInputs::places).unwrap_or_default();
        Ok(CutMinibatch { batch, new_words, unknown_tokens, position: self.position, places })
    }

    /// Opens the input, takes what is held out, and passes over what was learnt from before.
    fn begin_pass(&mut self) -> Result<()> {
        let mut stream = (self.open)(self.vocabulary.as_ref());
        let in_place = self.inputs.as_ref().is_some_and(ResolvedInputs::begin_in_place);
        let learnt = if in_place { 0 } else { self.position.documents };
        let held_out = self.plan.held_out;
        if held_out > 0 {
            let take = || stream.by_ref().take(held_out).collect::<Result<Vec<_>>>();
            let (observations, words) = self.without_entering(take)?;
            if self.position.pass == self.plan.start.pass {
                self.held_out = Some(HeldOut { observations, words });
            }
        }
        if learnt > 0 {
            let (last, _) = self.without_entering(|| stream.nth(learnt as usize - 1).transpose())?;
            if last.is_none() {
                let problem = format!("it ends before the {learnt} documents that the run has learnt from");
                return Err(Error::setting("INPUT", problem, "give the same input as before"));
            }
        }
        self.stream = Some(stream);
        Ok(())
    }

    /// Reads documents whose words must not enter the vocabulary: meanwhile another one numbers them.
    fn without_entering<T>(&self, read: impl FnOnce() -> Result<T>) -> Result<(T, Option<OpenVocabulary>)> {
        let other = self.vocabulary.as_ref().map(|_| any_words()).transpose()?;
        let exchange = |new: Option<OpenVocabulary>| {
            let (mut vocabulary, new) = self.locked().zip(new)?;
            Some(std::mem::replace(&mut *vocabulary, new))
        };
        let own = exchange(other);
        let result = read();
        let other = exchange(own);
        Ok((result?, other))
    }
}

/// A vocabulary with room for every word, for documents whose words must not enter that of training.
pub(super) fn any_words() -> Result<OpenVocabulary> {
    OpenVocabulary::new(OpenRule::Grow { most: u32::MAX as usize - 1 })
}

impl<F: FnMut(Option<&SharedVocabulary>) -> ObservationStream> Iterator for Minibatches<F> {
    type Item = Result<Part>;

    fn next(&mut self) -> Option<Self::Item> {
        self.part().transpose()
    }
}
