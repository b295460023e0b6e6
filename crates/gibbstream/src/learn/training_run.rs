//! A training run: a learner with its words, its place in the stream, its held-out observations, its history, its
//! checkpoints and its readers.
//!
//! Observations come in one of two ways. [`TrainingRun::fit`] reads passes over an input in a thread of its own; this is
//! what the program does. [`TrainingRun::push`] takes them one by one, and they wait until their minibatch is full
//! or [`TrainingRun::close`]d; this is what a service or another language does. Either way every minibatch is learnt
//! from in [`TrainingRun::learn`].

use super::batch::{AnyBatch, Observation};
use super::checkpoints::{Checkpoints, Notes};
use super::cost::Cost;
use super::held_out::{Evaluated, HeldOut};
use super::minibatches::{
    CutMinibatch, Cutting, Minibatches, ObservationStream, Part, SharedVocabulary, StreamPosition,
};
use super::observer::{Event, Observer};
use super::parameters::Parameters;
use super::read_ahead::ReadAhead;
use super::settings::Settings;
use super::snapshot::{Snapshot, SnapshotReader};
use crate::batch_size::BatchSize;
use crate::corpus::{Document, MAX_DOCUMENT_TOKENS, Tokenizer, Vocabulary, count_words};
use crate::error::{Error, Result};
use crate::evaluation::Evaluation;
use crate::file::{Features, HistoryEntry, Model, RunState};
use crate::schedule::Step;
use crate::trainer::{Trainer, nothing_learnt};
use serde_json::{Value, json};
use std::sync::Arc;
use std::time::{Duration, Instant};

/// Minibatches that are read in advance.
const AHEAD: usize = 2;

/// Particles for each row whose likelihood must be estimated while training.
const ROW_PARTICLES: usize = 10;

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

/// A run in progress.
pub struct TrainingRun {
    trainer: Trainer,
    threads: usize,
    features: Features,
    tokenizer: Option<Tokenizer>,
    history: Vec<HistoryEntry>,
    position: StreamPosition,
    /// Observations that wait for the others of their minibatch.
    waiting: Vec<Observation>,
    held_out: Option<HeldOut>,
    notes: Notes,
    cost: Cost,
    checkpoints: Option<Checkpoints>,
    request: Value,
    reader: SnapshotReader,
    publish_every: Option<u64>,
}

/// Beginning and ending.
impl TrainingRun {
    /// A run that has learnt nothing; `threads` never changes a result.
    pub fn new(
        settings: Settings,
        features: Features,
        tokenizer: Option<Tokenizer>,
        threads: usize,
    ) -> Result<Self> {
        let trainer = Trainer::new(settings, threads)?;
        Ok(Self::with(trainer, threads, features, tokenizer, Vec::new()))
    }

    /// A run that goes on from a model, with settings that may differ in how it learns.
    pub fn resume(model: Model, settings: Settings, threads: usize) -> Result<Self> {
        let Model { fitted, features, tokenizer, history, .. } = model;
        let trainer = Trainer::resume(settings, fitted, threads)?;
        Ok(Self::with(trainer, threads, features, tokenizer, history))
    }

    fn with(
        trainer: Trainer,
        threads: usize,
        features: Features,
        tokenizer: Option<Tokenizer>,
        history: Vec<HistoryEntry>,
    ) -> Self {
        let position = StreamPosition { origin: trainer.clock().seen, ..StreamPosition::default() };
        Self {
            trainer,
            threads,
            features,
            tokenizer,
            history,
            position,
            waiting: Vec::new(),
            held_out: None,
            notes: Notes::default(),
            cost: Cost::default(),
            checkpoints: None,
            request: Value::Null,
            reader: SnapshotReader::default(),
            publish_every: None,
        }
    }

    /// The same from where a checkpoint stopped.
    pub fn at(mut self, state: &RunState) -> Result<Self> {
        self.notes = Notes::read(&state.notes)?;
        self.cost = self.notes.cost();
        let before = self.history.split_last().map_or(&[][..], |(_, before)| before);
        let origin = before.iter().map(|entry| entry.documents).sum();
        self.position = StreamPosition { origin, pass: state.pass, documents: state.documents };
        Ok(self)
    }

    /// The same with other names for its features, such as a vocabulary that may now grow.
    #[must_use]
    pub fn with_features(self, features: Features) -> Self {
        Self { features, ..self }
    }

    /// The same with checkpoints. Only what asks for the same `request` can be resumed from them.
    #[must_use]
    pub fn with_checkpoints(self, checkpoints: Option<Checkpoints>, request: Value) -> Self {
        let updates = self.trainer.clock().update;
        Self { checkpoints: checkpoints.map(|checkpoints| checkpoints.after(updates)), request, ..self }
    }

    /// Begins something new: numbers of observations go on from those seen before, and the pass begins anew. The
    /// history gets an entry, or goes on with its last one.
    pub fn begin(&mut self, entry: Option<HistoryEntry>) {
        self.position = StreamPosition { origin: self.trainer.clock().seen, ..StreamPosition::default() };
        self.waiting.clear();
        self.history.extend(entry);
    }

    /// Begins another pass over the same observations.
    pub fn begin_pass(&mut self, pass: u64) {
        self.position = StreamPosition { pass, documents: 0, ..self.position };
    }

    /// Goes on with other settings, or on other threads.
    pub fn configure(&mut self, settings: Settings, threads: usize) -> Result<()> {
        self.threads = threads;
        self.trainer.configure(settings, threads)
    }

    /// Gives the words or columns other names.
    pub fn rename(&mut self, names: Vec<String>) -> Result<()> {
        if names.len() != self.features.len() || self.features.open().is_some() {
            let problem = format!("{} names for {} words or columns", names.len(), self.features.len());
            return Err(Error::setting("vocabulary", problem, "give one name for each"));
        }
        self.features = match &self.features {
            Features::Columns(_) => Features::Columns(names),
            _ => Features::Words(Vocabulary::new(names)?),
        };
        Ok(())
    }
}

/// Learning.
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
        let cutting = Cutting {
            held_out: options.held_out,
            batch: if settings.method.whole_corpus { BatchSize::of(usize::MAX) } else { settings.batch },
            passes: options.passes,
            start: self.position,
            seen: self.trainer.clock().seen,
        };
        let parts = Minibatches::new(open, cutting, self.features.open().cloned());
        let mut parts = ReadAhead::start(parts, AHEAD)?;
        let started = Instant::now();
        while let Some(part) = parts.next(&|| observer.is_interrupted())? {
            match part {
                Part::HeldOut(held_out) => self.held_out = Some(held_out),
                Part::Minibatch(cut) => {
                    let step = self.learn(&cut, observer)?;
                    self.evaluate_and_save(step, options.eval_every, observer)?;
                }
            }
            if options.time_limit.is_some_and(|limit| started.elapsed() >= limit) {
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
        let batch = AnyBatch::new(some, position.next(), position.pass)?;
        if let Some(open) = self.features.open_mut() {
            // They have entered on this side already.
            open.take_new_words();
        }
        let position = StreamPosition { documents: position.documents + count, ..position };
        let cut = CutMinibatch { batch, new_words: None, unknown_tokens: 0, position };
        self.learn(&cut, observer).map(Some)
    }

    /// Forgets the observations that wait.
    pub fn discard_waiting(&mut self) {
        self.waiting.clear();
    }

    /// Observations in the next minibatch.
    pub fn batch_size(&self) -> usize {
        let settings = self.trainer.settings();
        if settings.method.whole_corpus {
            usize::MAX
        } else {
            settings.batch.after(self.trainer.clock().seen)
        }
    }

    /// A text as a document with the numbers of the run's words. New words enter an open vocabulary, so it must be pushed
    /// before the next one is read.
    pub fn document(&mut self, text: &str) -> Result<Document> {
        let plain = Tokenizer::default();
        let tokenizer = self.tokenizer.as_ref().unwrap_or(&plain);
        let (mut words, mut out_of_vocabulary) = (Vec::new(), 0);
        let fixed = self.features.open().is_none().then(|| self.features.vocabulary());
        tokenizer.tokenize(text, |word| {
            let id = match (&fixed, self.features.open_mut()) {
                (None, Some(open)) => open.find_or_enter(word),
                (Some(vocabulary), _) => vocabulary.id(word),
                (None, None) => None,
            };
            match id {
                Some(id) => words.push((id, 1)),
                None => out_of_vocabulary += 1,
            }
        });
        if words.len() as u64 > MAX_DOCUMENT_TOKENS {
            let problem = format!("a document has more than {MAX_DOCUMENT_TOKENS} tokens");
            return Err(Error::setting("document", problem, "split it into smaller ones"));
        }
        Ok(Document { id: None, words: count_words(words), out_of_vocabulary })
    }

    /// Learns from one minibatch and tells the observer.
    pub fn learn(&mut self, cut: &CutMinibatch, observer: &mut dyn Observer) -> Result<Step> {
        if let Some(open) = self.features.open_mut() {
            if let Some(new_words) = &cut.new_words {
                open.adopt(new_words);
            }
            self.trainer.grow(open.len());
        }
        let before = self.cost.wall;
        let step = self.cost.of(&mut self.trainer, |trainer| trainer.partial_fit_any(&cut.batch))?;
        if let (Some(open), AnyBatch::Documents(batch)) = (self.features.open_mut(), &cut.batch) {
            self.trainer.forget(&open.close(batch));
        }
        self.position = cut.position;
        self.notes.unknown_tokens += cut.unknown_tokens;
        if let Some(entry) = self.history.last_mut() {
            entry.documents += cut.batch.len() as u64;
            entry.tokens += cut.batch.tokens();
        }
        let (seconds, batch) = (self.cost.wall.saturating_sub(before).as_secs_f64(), &cut.batch);
        observer.notify(self, &Event::Learnt { step, batch, seconds })?;
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
}

/// Evaluating and saving.
impl TrainingRun {
    fn evaluate_and_save(
        &mut self,
        step: Step,
        every: Option<u64>,
        observer: &mut dyn Observer,
    ) -> Result<()> {
        if every.is_some_and(|every| step.update.is_multiple_of(every)) {
            self.evaluate(observer)?;
        }
        if self.checkpoints.as_ref().is_some_and(|checkpoints| checkpoints.are_due(step.update)) {
            self.save_checkpoint(observer)?;
        }
        Ok(())
    }

    /// Scores what is held out; nothing if there is none, or before the first update.
    pub fn evaluate(&mut self, observer: &mut dyn Observer) -> Result<Option<Evaluated>> {
        let clock = self.trainer.clock();
        let held_out = self.held_out.as_ref().filter(|held_out| !held_out.observations.is_empty());
        let Some(held_out) = held_out.filter(|_| clock.update > 0) else { return Ok(None) };
        let settings = self.trainer.settings();
        let mut evaluation =
            Evaluation { seed: settings.seed, threads: self.threads, ..Evaluation::default() };
        if !settings.model.has_topics() {
            evaluation.particles = ROW_PARTICLES;
        }
        let (parameters, open) = (self.trainer.parameters()?, self.features.open());
        let evaluated = held_out.evaluate(&parameters, evaluation, open, clock, self.cost)?;
        self.notes.evaluations.push(json!(evaluated));
        observer.notify(self, &Event::Evaluated(&evaluated))?;
        Ok(Some(evaluated))
    }

    /// The last score, unless it has just been taken.
    fn evaluate_last(&mut self, observer: &mut dyn Observer) -> Result<()> {
        let update = self.trainer.clock().update;
        let scored = self.notes.evaluations.last().and_then(|last| last["updates"].as_u64());
        if scored.is_none_or(|scored| scored < update) {
            self.evaluate(observer)?;
        }
        Ok(())
    }

    /// Writes a checkpoint; nothing before the first update, or where there are none.
    pub fn save_checkpoint(&mut self, observer: &mut dyn Observer) -> Result<()> {
        self.notes.log_bytes = observer.log_bytes();
        if self.write_checkpoint(false)? {
            observer.notify(self, &Event::CheckpointWritten)?;
        }
        Ok(())
    }

    /// Writes the last checkpoint of a run that is over, with its result for those who ask again.
    pub fn finish(&mut self, report: String) -> Result<()> {
        self.notes.report = Some(report);
        self.write_checkpoint(true).map(drop)
    }

    fn write_checkpoint(&mut self, finished: bool) -> Result<bool> {
        let Some(mut checkpoints) = self.checkpoints.take() else { return Ok(false) };
        let StreamPosition { pass, documents, .. } = self.position;
        let notes = json!(self.notes.with_cost(self.cost));
        let state = RunState { request: self.request.clone(), pass, documents, finished, notes };
        let saved = self.has_learnt().then(|| self.lend(|model| checkpoints.save(model, &state)));
        self.checkpoints = Some(checkpoints);
        Ok(saved.transpose()?.is_some())
    }

    /// Lends the model as it would be on disk, without a copy. Refuses before the first update.
    pub fn lend<T>(&mut self, work: impl FnOnce(&Model) -> Result<T>) -> Result<T> {
        let Self { trainer, features, tokenizer, history, .. } = self;
        let settings = trainer.settings().clone();
        let (features, tokenizer, history) = (features.clone(), tokenizer.clone(), history.clone());
        trainer.lend(|fitted| {
            let model = Model { settings, fitted, features, tokenizer, history };
            let result = work(&model);
            (model.fitted, result)
        })?
    }
}

/// Looking on.
impl TrainingRun {
    /// A copy of the model as it is now. Refuses before the first update.
    pub fn snapshot(&self) -> Result<Snapshot> {
        Ok(Snapshot::new(Model {
            settings: self.trainer.settings().clone(),
            fitted: self.trainer.fitted().ok_or_else(nothing_learnt)?,
            features: self.features.clone(),
            tokenizer: self.tokenizer.clone(),
            history: self.history.clone(),
        }))
    }

    /// Hands a snapshot to all readers, and returns it.
    pub fn publish(&mut self) -> Result<Arc<Snapshot>> {
        let snapshot = Arc::new(self.snapshot()?);
        self.reader.publish(snapshot.clone());
        Ok(snapshot)
    }

    /// Publishes a snapshot after every so many updates; each takes as much memory as the model.
    pub fn publish_every(&mut self, updates: Option<u64>) {
        self.publish_every = updates;
    }

    /// For threads that use what was learnt while training goes on.
    pub fn reader(&self) -> SnapshotReader {
        self.reader.clone()
    }

    /// The parameters to report, without a copy of the statistics. Refuses before the first update.
    pub fn parameters(&self) -> Result<Parameters> {
        self.trainer.parameters()
    }

    /// Whether there has been an update.
    pub fn has_learnt(&self) -> bool {
        self.trainer.clock().update > 0
    }

    /// The learner with its settings.
    pub fn trainer(&self) -> &Trainer {
        &self.trainer
    }

    /// Threads that it learns with.
    pub fn threads(&self) -> usize {
        self.threads
    }

    /// What has been done to the model, oldest first.
    pub fn history(&self) -> &[HistoryEntry] {
        &self.history
    }

    /// Words or columns.
    pub fn features(&self) -> &Features {
        &self.features
    }

    /// How text is cut into words, if there is any.
    pub fn tokenizer(&self) -> Option<&Tokenizer> {
        self.tokenizer.as_ref()
    }

    /// Where it stands in its stream.
    pub fn position(&self) -> StreamPosition {
        self.position
    }

    /// What learning has cost so far.
    pub fn cost(&self) -> Cost {
        self.cost
    }

    /// Scores of what is held out, oldest first, as JSON.
    pub fn evaluations(&self) -> &[Value] {
        &self.notes.evaluations
    }

    /// Tokens of words outside of the vocabulary.
    pub fn unknown_tokens(&self) -> u64 {
        self.notes.unknown_tokens
    }

    /// The folder of checkpoints, if there is one.
    pub fn checkpoints(&self) -> Option<&Checkpoints> {
        self.checkpoints.as_ref()
    }
}
