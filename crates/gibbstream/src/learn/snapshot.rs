//! A model at one moment of a run, and how readers get the newest one while training goes on.

use super::parameters::Parameters;
use crate::error::{Error, Result};
use crate::explore::{WordOrder, summaries};
use crate::file::Model;
use crate::model::topics::lda::LogTopics;
use crate::model::topics::word_frequencies::WordFrequencies;
use crate::summary::TopicSummary;
use std::ops::Deref;
use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, OnceLock, PoisonError, RwLock};

/// A model that does not change any more: it answers questions, and can be saved.
pub struct Snapshot {
    model: Model,
    /// Made when they are first asked for: they take as much memory as the statistics.
    parameters: OnceLock<Parameters>,
    /// Where the parameters have taken the place of the statistics: the hash that those had.
    hash: Option<String>,
}

impl Snapshot {
    /// A model as it is.
    pub fn new(model: Model) -> Self {
        Self { model, parameters: OnceLock::new(), hash: None }
    }

    /// The model in a file.
    pub fn load(path: &Path) -> Result<Self> {
        Model::load(path).map(Self::new)
    }

    /// The model in a file, to be asked and nothing else: the parameters take the place of the statistics, so that it needs
    /// half the memory. It cannot be saved or learnt from.
    pub fn load_to_ask(path: &Path) -> Result<Self> {
        let mut model = Model::load(path)?;
        let hash = Some(model.hash());
        let parameters = OnceLock::from(model.fitted.take_parameters()?);
        Ok(Self { model, parameters, hash })
    }

    /// Hash of statistics, parameters and counters: equal hash, equal bits.
    pub fn hash(&self) -> String {
        self.hash.clone().unwrap_or_else(|| self.model.hash())
    }

    /// The parameters, which infer and score.
    pub fn parameters(&self) -> Result<&Parameters> {
        if let Some(parameters) = self.parameters.get() {
            return Ok(parameters);
        }
        let parameters = self.model.fitted.parameters()?;
        Ok(self.parameters.get_or_init(|| parameters))
    }

    /// Every topic that has been met, with so many words as they are shown, or in another order.
    pub fn summaries(&self, words: usize, order: WordOrder) -> Result<Vec<TopicSummary>> {
        let parameters = self.parameters()?.topics()?;
        Ok(summaries(parameters, &self.model.features.vocabulary(), &self.model.shown, words, order))
    }

    /// Logarithms of the topics for the evidence lower bound.
    pub fn log_topics(&self) -> Result<LogTopics> {
        if self.hash.is_some() {
            return Err(Error::setting("model", "it was loaded to be asked alone", "load it whole"));
        }
        match self.model.topic_state() {
            Some(state) => {
                let none = WordFrequencies::default();
                let seen = self.fitted.word_frequencies().unwrap_or(&none);
                Ok(self.settings.log_topics(state, &self.clock(), seen))
            }
            None => Ok(self.parameters()?.topics()?.topics.clone().into()),
        }
    }
}

impl Deref for Snapshot {
    type Target = Model;

    fn deref(&self) -> &Model {
        &self.model
    }
}

/// Hands the newest snapshot to readers in other threads. A copy is as good as the original.
#[derive(Clone, Default)]
pub struct SnapshotReader(Arc<Shared>);

#[derive(Default)]
struct Shared {
    latest: RwLock<Option<Arc<Snapshot>>>,
    requested: AtomicBool,
}

impl SnapshotReader {
    /// The snapshot that was published last; it never waits for training.
    pub fn latest(&self) -> Option<Arc<Snapshot>> {
        self.0.latest.read().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// Asks the run for a new one, which it publishes after its next minibatch.
    pub fn request(&self) {
        self.0.requested.store(true, Ordering::Release);
    }

    /// Whether somebody has asked since the last time.
    pub(super) fn take_request(&self) -> bool {
        self.0.requested.swap(false, Ordering::AcqRel)
    }

    pub(super) fn publish(&self, snapshot: Arc<Snapshot>) {
        *self.0.latest.write().unwrap_or_else(PoisonError::into_inner) = Some(snapshot);
    }
}
