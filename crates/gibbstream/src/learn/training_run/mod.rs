//! A training run: a learner with its words, its place in the stream, its held-out observations, its history, its
//! checkpoints and its readers.
//!
//! Observations come in one of two ways. [`TrainingRun::fit`] reads passes over an input in a thread of its own; this is
//! what the program does. [`TrainingRun::push`] takes them one by one, and they wait until their minibatch is full
//! or [`TrainingRun::close`]d; this is what a service or another language does. Either way every minibatch is learnt
//! from in [`TrainingRun::learn`].

mod elsewhere;

mod learning;

mod saving;

pub use learning::{Ended, FitOptions};

use super::batch::Observation;
use super::checkpoints::{Checkpoints, Notes};
use super::cost::Cost;
use super::held_out::HeldOut;
use super::minibatches::StreamPosition;
use super::parameters::Parameters;
use super::prequential::{Change, Prequential, PrequentialReport};
use super::settings::Settings;
use super::snapshot::{Snapshot, SnapshotReader};
use super::stop::Stop;
use crate::corpus::{InputPlace, ResolvedInputs, Tokenizer, Vocabulary};
use crate::error::{Error, Result};
use crate::explore::{MOST_DOCUMENTS, TogetherCounter, stride};
use crate::explore::report::Label;
use crate::file::{Features, HistoryEntry, Model, RunState, ShownWords, TopicLabels, TopicNumbers};
use crate::learn::trainer::{Trainer, nothing_learnt};
use serde_json::Value;
use std::collections::BTreeMap;
use std::sync::Arc;

/// A run in progress.
pub struct TrainingRun {
    trainer: Trainer,
    threads: usize,
    features: Features,
    tokenizer: Option<Tokenizer>,
    history: Vec<HistoryEntry>,
    labels: TopicLabels,
    /// The words that are shown of topics, if documents told and nothing was learnt since.
    shown: ShownWords,
    position: StreamPosition,
    /// What is read, if checkpoints are to know whether it is still the same.
    inputs: Option<ResolvedInputs>,
    /// How far each of them was read for what has been learnt.
    places: Vec<InputPlace>,
    /// Observations that wait for the others of their minibatch.
    waiting: Vec<Observation>,
    held_out: Option<HeldOut>,
    prequential: Prequential,
    notes: Notes,
    cost: Cost,
    checkpoints: Option<Checkpoints>,
    request: Value,
    reader: SnapshotReader,
    publish_every: Option<u64>,
    /// Whether words of a minibatch that was left out have entered: then what was learnt is not a state to go on from.
    words_are_ahead: bool,
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
        let Model { fitted, features, tokenizer, history, labels, shown, .. } = model;
        let trainer = Trainer::resume(settings, fitted, threads)?;
        Ok(Self { labels, shown, ..Self::with(trainer, threads, features, tokenizer, history) })
    }

    fn with(
        trainer: Trainer,
        threads: usize,
        features: Features,
        tokenizer: Option<Tokenizer>,
        history: Vec<HistoryEntry>,
    ) -> Self {
        let position = StreamPosition { origin: trainer.clock().seen, ..StreamPosition::default() };
        let prequential = history.last().map(|entry| entry.trace.prequential.clone()).unwrap_or_default();
        Self {
            trainer,
            threads,
            features,
            tokenizer,
            history,
            labels: TopicLabels::default(),
            shown: ShownWords::default(),
            position,
            inputs: None,
            places: Vec::new(),
            waiting: Vec::new(),
            held_out: None,
            prequential,
            notes: Notes::default(),
            cost: Cost::default(),
            checkpoints: None,
            request: Value::Null,
            reader: SnapshotReader::default(),
            publish_every: None,
            words_are_ahead: false,
        }
    }

    /// The same from where a checkpoint stopped.
    pub fn at(mut self, state: &RunState) -> Result<Self> {
        self.go_to(state)?;
        Ok(self)
    }

    /// Goes to where a checkpoint stopped.
    pub fn go_to(&mut self, state: &RunState) -> Result<()> {
        self.notes = Notes::read(&state.notes)?;
        self.cost = self.notes.cost();
        let before = self.history.split_last().map_or(&[][..], |(_, before)| before);
        let origin = before.iter().map(|entry| entry.documents).sum();
        self.position = StreamPosition { origin, pass: state.pass, documents: state.documents };
        self.places.clone_from(&state.inputs);
        Ok(())
    }

    /// The same with other names for its features, such as a vocabulary that may now grow.
    #[must_use]
    pub fn with_features(self, features: Features) -> Self {
        Self { features, ..self }
    }

    /// The same with the inputs that [`TrainingRun::fit`] will read: checkpoints then tell how far each was read, and by what it
    /// can be recognised.
    #[must_use]
    pub fn with_inputs(self, inputs: ResolvedInputs) -> Self {
        Self { inputs: Some(inputs), ..self }
    }

    /// The same with checkpoints. Only what asks for the same `request` can be resumed from them.
    #[must_use]
    pub fn with_checkpoints(mut self, checkpoints: Option<Checkpoints>, request: Value) -> Self {
        match checkpoints {
            Some(checkpoints) => self.set_checkpoints(checkpoints, request),
            None => self.request = request,
        }
        self
    }

    /// From now on there are checkpoints.
    pub fn set_checkpoints(&mut self, checkpoints: Checkpoints, request: Value) {
        self.checkpoints = Some(checkpoints.after(self.trainer.clock().update));
        self.request = request;
    }

    /// From now on there are no checkpoints, and their folder is free for others.
    pub fn drop_checkpoints(&mut self) {
        self.checkpoints = None;
    }

    /// Changes what checkpoints say was asked for.
    pub fn set_request(&mut self, request: Value) {
        self.request = request;
    }

    /// Begins something new: numbers of observations go on from those seen before, and the pass begins anew. The
    /// history gets an entry, or goes on with its last one.
    pub fn begin(&mut self, entry: Option<HistoryEntry>) {
        self.position = StreamPosition { origin: self.trainer.clock().seen, ..StreamPosition::default() };
        self.waiting.clear();
        if entry.is_some() {
            self.prequential = Prequential::default();
            self.trainer.restart_steps(None);
        }
        self.history.extend(entry);
    }

    /// Lets a request to end reach the run in the middle of a minibatch: [`TrainingRun::fit`] then leaves it out if it takes
    /// too long.
    pub fn stop_with(&mut self, stop: Stop) {
        self.trainer.stop_with(stop);
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

    /// Adds what people have written about topics; see [`Model::set_labels`]. Refuses before the first update.
    pub fn set_labels(&mut self, labels: &BTreeMap<u32, Label>) -> Result<()> {
        let mut kept = std::mem::take(&mut self.labels);
        let set = self.lend(|model| kept.set(&TopicNumbers::of(model), labels));
        self.labels = kept;
        set
    }

    /// Looks at documents once more, of which there are about `count`, to find which words of the topics go together: those
    /// are shown from now on, until more is learnt. What was learnt stays as it is. Models of numbers have no words.
    pub fn show_words_of(
        &mut self,
        documents: impl Iterator<Item = Result<Observation>>,
        count: u64,
    ) -> Result<()> {
        let Parameters::Topics(parameters) = self.trainer.parameters()? else { return Ok(()) };
        let mut counter = TogetherCounter::new(&parameters, &self.features.vocabulary());
        for document in documents.step_by(stride(count)).take(MOST_DOCUMENTS) {
            if let Observation::Document(document) = document? {
                counter.add(&document);
            }
        }
        self.shown = counter.finish();
        Ok(())
    }

    /// Gives the words or columns other names.
    pub fn rename(&mut self, names: Vec<String>) -> Result<()> {
        if names.len() != self.features.len() || self.features.open().is_some() {
            let problem = format!("{} names for {} words", names.len(), self.features.len());
            return Err(Error::setting("vocabulary", problem, "give one name for each column of X"));
        }
        self.features = match &self.features {
            Features::Columns(_) => Features::Columns(names),
            features => {
                let vocabulary = Vocabulary::new(names)?;
                Features::Words(match features.term_weights() {
                    Some(weights) => vocabulary.with_weights(weights.to_vec())?,
                    None => vocabulary,
                })
            }
        };
        Ok(())
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
            labels: self.labels.clone(),
            shown: self.shown.clone(),
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

    /// The words that are shown of topics, where documents told.
    pub fn shown(&self) -> &ShownWords {
        &self.shown
    }

    /// How text is cut into words, if there is any.
    pub fn tokenizer(&self) -> Option<&Tokenizer> {
        self.tokenizer.as_ref()
    }

    /// Cuts text by another tokenizer from now on: the language is only known when the first documents are there.
    pub fn cut_by(&mut self, tokenizer: Tokenizer) {
        self.tokenizer = Some(tokenizer);
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

    /// Scores of documents before they were learnt from; nothing if none was scored.
    pub fn prequential(&self) -> Option<PrequentialReport> {
        self.prequential.report()
    }

    /// Changes of the stream that this run has noticed, oldest first.
    pub fn changes(&self) -> &[Change] {
        self.history.last().map_or(&[], |entry| &entry.trace.drift)
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
