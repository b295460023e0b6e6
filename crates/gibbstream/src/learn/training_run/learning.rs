//! Learning: from passes over an input, or from observations that are pushed one by one.

use super::TrainingRun;
use crate::learn::batch_size::BatchSize;
use crate::corpus::{Document, OpenVocabulary, ResolvedInputs, Tokenizer};
use crate::error::{Error, Result};
use crate::file::ShownWords;
use crate::learn::batch::{AnyBatch, Observation};
use crate::learn::held_out::HeldOut;
use crate::learn::minibatches::{
    CutMinibatch, MinibatchPlan, Minibatches, ObservationStream, Part, SharedVocabulary, StreamPosition, any_words,
};
use crate::learn::observer::{Event, Observer};
use crate::learn::read_ahead::ReadAhead;
use crate::learn::prequential::Before;
use crate::learn::schedule::{RESTART_MINIBATCHES, Step};
use crate::learn::trainer::Trainer;
use std::time::{Duration, Instant};

/// Minibatches that are read in advance.
const AHEAD: usize = 2;

/// How [`TrainingRun::fit`] goes through an input.
#[derive(Clone, Copy, Debug)]
pub struct FitOptions {
    /// Passes over the input.
    pub passes: u64,
    /// Observations at the beginning of the input that are not learnt from.
    pub held_out: usize,
    /// Minibatches between two evaluations; only at the end if not given.
    pub eval_every: Option<u64>,
    /// Time after which it ends.
    pub time_limit: Option<Duration>,
}

impl Default for FitOptions {
    fn default() -> Self {
        Self { passes: 1, held_out: 0, eval_every: None, time_limit: None }
    }
}

/// Why [`TrainingRun::fit`] ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Ended {
    /// All observations have been learnt from.
    Finished,
    /// The time was up.
    TimeUp,
    /// The observer said so.
    Interrupted,
}

impl TrainingRun {
    /// Learns from passes over an input, which `open` reads from the top, until it ends, the time is up, or the
    /// observer wants it to end.
    pub fn fit(
        &mut self,
        open: impl FnMut(Option<&SharedVocabulary>) -> ObservationStream + Send + 'static,
        options: &FitOptions,
        observer: &mut dyn Observer,
    ) -> Result<Ended> {
        let settings = self.trainer.settings();
        let plan = MinibatchPlan {
            held_out: options.held_out,
            batch: if settings.method.whole_corpus { BatchSize::of(usize::MAX) } else { settings.batch },
            passes: options.passes,
            start: self.position,
            seen: self.trainer.clock().seen,
        };
        let inputs = self.inputs.clone().filter(|_| self.checkpoints.is_some());
        let parts = Minibatches::new(open, plan, self.features.open().cloned()).watching(inputs);
        let mut parts = ReadAhead::start(parts, AHEAD)?;
        let started = Instant::now();
        while let Some(part) = parts.next(&|| observer.is_interrupted())? {
            match part {
                Part::HeldOut(held_out) => self.held_out = Some(held_out),
                Part::Minibatch(cut) => {
                    let step = match self.learn(&cut, observer) {
                        Err(Error::Stopped) => {
                            self.words_are_ahead = self.features.open().is_some();
                            return Ok(Ended::Interrupted);
                        }
                        learnt => learnt?,
                    };
                    self.evaluate_and_save(step, options.eval_every, observer)?;
                }
            }
            if options.time_limit.is_some_and(|limit| started.elapsed() >= limit) {
                observer.notify(self, &Event::TimeUp)?;
                self.evaluate_last(observer)?;
                return Ok(Ended::TimeUp);
            }
        }
        if observer.is_interrupted() {
            return Ok(Ended::Interrupted);
        }
        self.evaluate_last(observer)?;
        Ok(Ended::Finished)
    }

    /// Takes one observation, and learns if its minibatch is full now.
    pub fn push(&mut self, observation: Observation, observer: &mut dyn Observer) -> Result<Option<Step>> {
        self.waiting.push(observation);
        if self.waiting.len() < self.batch_size() { Ok(None) } else { self.close(observer) }
    }

    /// Learns from the observations that wait, however few they are.
    pub fn close(&mut self, observer: &mut dyn Observer) -> Result<Option<Step>> {
        if self.waiting.is_empty() {
            return Ok(None);
        }
        let some = std::mem::take(&mut self.waiting);
        let (count, position) = (some.len() as u64, self.position);
        let unknown_tokens = some.iter().map(Observation::unknown_tokens).sum();
        let batch = AnyBatch::new(some, position.next(), position.pass)?;
        if let Some(open) = self.features.open_mut() {
            // They have entered on this side already.
            open.take_new_words();
        }
        let position = StreamPosition { documents: position.documents + count, ..position };
        let places = Vec::new();
        let cut = CutMinibatch { batch, new_words: None, unknown_tokens, position, places };
        self.learn(&cut, observer).map(Some)
    }

    /// Forgets the observations that wait.
    pub fn discard_waiting(&mut self) {
        self.waiting.clear();
    }

    /// Observations in the next minibatch.
    pub fn batch_size(&self) -> usize {
        self.trainer.settings().minibatch_after(self.trainer.clock().seen)
    }

    /// A text as a document with the numbers of the run's words. New words enter an open vocabulary, so it must be pushed
    /// before the next one is read.
    pub fn document(&mut self, text: &str) -> Result<Document> {
        match &self.tokenizer {
            Some(tokenizer) => self.features.document(text, tokenizer),
            // Its list of stop words takes longer to build than a document to cut.
            None => self.features.document(text, &Tokenizer::default()),
        }
    }

    /// The documents of an input with the numbers of the run's words. New words enter an open vocabulary, so they must be
    /// pushed before others are read.
    pub fn documents(&mut self, inputs: &ResolvedInputs) -> Result<Vec<Document>> {
        match self.features.open_mut() {
            Some(open) => inputs.read_entering(open),
            None => inputs.documents(&self.features.vocabulary()).collect(),
        }
    }

    /// Keeps the documents of an input aside, to be scored: their words do not enter the vocabulary.
    pub fn hold_out(&mut self, inputs: &ResolvedInputs) -> Result<()> {
        let mut words = self.features.open().map(|_| any_words()).transpose()?;
        let documents: Vec<Document> = match &mut words {
            Some(words) => inputs.read_entering(words)?,
            None => inputs.documents(&self.features.vocabulary()).collect::<Result<_>>()?,
        };
        let observations = documents.into_iter().map(Observation::Document).collect();
        self.held_out = Some(HeldOut { observations, words });
        Ok(())
    }

    /// Learns from one minibatch and tells the observer.
    pub fn learn(&mut self, cut: &CutMinibatch, observer: &mut dyn Observer) -> Result<Step> {
        self.learn_by(cut, observer, |trainer| trainer.partial_fit(&cut.batch))
    }

    /// The same, where `work` lets the trainer learn from the minibatch.
    pub(super) fn learn_by(
        &mut self,
        cut: &CutMinibatch,
        observer: &mut dyn Observer,
        work: impl FnOnce(&mut Trainer) -> Result<Step>,
    ) -> Result<Step> {
        let change = self.score_ahead(cut, observer)?;
        if let Some(open) = self.features.open_mut() {
            if let Some(new_words) = &cut.new_words {
                open.adopt(new_words);
            }
            self.trainer.grow(open.len());
        }
        let before = self.cost.wall;
        self.shown = ShownWords::default();
        let step = self.cost.of(&mut self.trainer, work)?;
        // Words that the minibatch brought may leave again when it is closed.
        let change =
            change.map(|before| before.change(&self.trainer, &self.features.vocabulary(), step.rho));
        if let (Some(open), AnyBatch::Documents(batch)) = (self.features.open_mut(), &cut.batch) {
            self.trainer.forget(&open.close(batch));
        }
        self.position = cut.position;
        self.places.clone_from(&cut.places);
        self.notes.unknown_tokens += cut.unknown_tokens;
        if let Some(entry) = self.history.last_mut() {
            entry.documents += cut.batch.len() as u64;
            entry.tokens += cut.batch.tokens();
            entry.trace.prequential.clone_from(&self.prequential);
            change.iter().cloned().for_each(|change| entry.trace.changed(change));
            let alpha_sum = self.trainer.alpha().map(|alpha| alpha.iter().sum());
            entry.trace.learnt(&step, alpha_sum, self.trainer.topics_used());
        }
        let (seconds, batch) = (self.cost.wall.saturating_sub(before).as_secs_f64(), &cut.batch);
        observer.notify(self, &Event::Learnt { step, batch, seconds })?;
        if let Some(change) = &change {
            observer.notify(self, &Event::Changed(change))?;
        }
        if let Some(sticks) = self.trainer.sticks().filter(|sticks| !sticks.births.is_empty()) {
            let vocabulary = self.features.vocabulary();
            for birth in &sticks.births {
                let words: Vec<&str> = birth.words.iter().map(|&word| vocabulary.word(word)).collect();
                observer.notify(self, &Event::TopicBorn { birth, words: &words })?;
            }
        }
        if self.publish_every.is_some_and(|every| step.update.is_multiple_of(every))
            || self.reader.take_request()
        {
            self.publish()?;
        }
        Ok(step)
    }

    /// Scores documents of a minibatch before it is learnt from. If they are predicted worse than they used to be, what is
    /// known of the moment is kept for the report, and the memory becomes shorter if it is to adapt.
    fn score_ahead(&mut self, cut: &CutMinibatch, observer: &mut dyn Observer) -> Result<Option<Before>> {
        let settings = self.trainer.settings();
        let (AnyBatch::Documents(batch), true) = (&cut.batch, settings.is_prequential()) else {
            return Ok(None);
        };
        let (adapt, least) = (settings.adapt, settings.batch.least);
        let grows = self.features.open().is_some_and(OpenVocabulary::grows);
        let scored = self.prequential.score(&self.trainer, batch, grows);
        let mut change = None;
        if let Some(scored) = &scored {
            observer.notify(self, &Event::Scored(scored))?;
            change = self.prequential.watch(scored).map(|alarm| Before::new(alarm, &self.trainer, batch));
        }
        if adapt {
            self.trainer.restart_steps(self.prequential.restart());
            if change.is_some() {
                self.trainer.shorten_memory((RESTART_MINIBATCHES * least as u64) as f64);
            }
        }
        Ok(change)
    }
}
