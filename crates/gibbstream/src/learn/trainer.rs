//! A learner with its settings, and what can be asked of it while it learns.

use crate::error::{Error, Result};
use crate::learn::prequential::TopicTable;
use crate::learn::{AnyBatch, Diagnostics, Fitted, Gathered, Learner, Parameters, Settings, Stop};
use crate::model::topics::hdp::topics_used;
use crate::model::topics::lda::{LdaState, LogTopics, Topics};
use crate::model::topics::hdp::sticks::Sticks;
use crate::model::topics::word_frequencies::WordFrequencies;
use crate::learn::schedule::Step;

/// Learns minibatch after minibatch, whatever the model.
pub struct Trainer {
    settings: Settings,
    learner: Box<dyn Learner>,
}

impl Trainer {
    /// A trainer that has seen nothing; `threads` never changes a result.
    pub fn new(settings: Settings, threads: usize) -> Result<Self> {
        Ok(Self { learner: settings.learner(threads)?, settings })
    }

    /// A trainer that goes on from what was learnt.
    pub fn resume(settings: Settings, fitted: Box<dyn Fitted>, threads: usize) -> Result<Self> {
        let mut trainer = Self::new(settings, threads)?;
        trainer.learner.resume(fitted)?;
        Ok(trainer)
    }

    /// Goes on with other settings, or on other threads.
    pub fn configure(&mut self, settings: Settings, threads: usize) -> Result<()> {
        let mut renewed = Self::new(settings, threads)?;
        if let Some(fitted) = self.learner.take() {
            renewed.learner.resume(fitted)?;
        }
        *self = renewed;
        Ok(())
    }

    /// Learns from one minibatch. An error leaves everything as it was.
    pub fn partial_fit<'a>(&mut self, batch: impl Into<AnyBatch<'a>>) -> Result<Step> {
        self.learner.partial_fit(&batch.into())
    }

    /// The parameters for a minibatch, as bytes: what other processes need for its E-step. The first minibatch makes the
    /// random start.
    pub fn view_bytes(&mut self, batch: &AnyBatch<'_>) -> Result<Vec<u8>> {
        self.learner.begin(batch)?;
        self.learner.view_bytes(batch)
    }

    /// A place where the statistics of the blocks of a minibatch are merged as they come.
    pub fn gather(&self) -> Box<dyn Gathered> {
        self.learner.gather()
    }

    /// Learns from the statistics of all blocks of a minibatch, see [`Learner::absorb`].
    pub fn absorb(&mut self, blocks: Box<dyn Gathered>, stale_view: Option<&[u8]>) -> Result<Step> {
        self.learner.absorb(blocks, stale_view)
    }

    /// From now on a request to end can leave out the minibatch at hand.
    pub fn stop_with(&mut self, stop: Stop) {
        self.learner.stop_with(stop);
    }

    /// Makes room for words that were not known before. They begin without counts, so in every topic they have the
    /// probability that its rule gives to words that did not occur: the smoothing share or the prior.
    pub fn grow(&mut self, words: usize) {
        if words > self.settings.features {
            self.settings.features = words;
            self.learner.grow(words);
        }
    }

    /// Forgets what was learnt about some words, so that their places can be taken by others.
    pub fn forget(&mut self, words: &[u32]) {
        self.learner.forget(words);
    }

    /// The settings.
    pub fn settings(&self) -> &Settings {
        &self.settings
    }

    /// Updates made and observations seen.
    pub fn clock(&self) -> Step {
        self.learner.clock()
    }

    /// The parameters to report; refuses before the first update.
    pub fn parameters(&self) -> Result<Parameters> {
        self.learner.parameters().unwrap_or_else(|| Err(nothing_learnt()))
    }

    /// What is worth knowing about topics, components or sources.
    pub fn diagnostics(&self) -> Diagnostics {
        self.learner.diagnostics()
    }

    /// A copy of what was learnt; `None` before the first update.
    pub fn fitted(&self) -> Option<Box<dyn Fitted>> {
        self.learner.fitted()
    }

    /// The same without a copy, when training is over.
    pub fn into_fitted(mut self) -> Option<Box<dyn Fitted>> {
        self.learner.take()
    }

    /// Lends what was learnt to `work`, which gives it back: this is how it is saved without a copy. Refuses before the
    /// first update.
    pub fn lend<T>(&mut self, work: impl FnOnce(Box<dyn Fitted>) -> (Box<dyn Fitted>, T)) -> Result<T> {
        let (fitted, result) = work(self.learner.take().ok_or_else(nothing_learnt)?);
        self.learner.resume(fitted)?;
        Ok(result)
    }

    /// Runs `work`, which may share itself out to all threads that learn.
    pub fn on_all_threads<T: Send>(&self, work: impl FnOnce() -> T + Send) -> Option<T> {
        let (mut work, mut result) = (Some(work), None);
        self.learner.install(&mut || result = work.take().map(|work| work()));
        result
    }

    /// From this moment on steps are large again for a while, or as usual.
    pub fn restart_steps(&mut self, at: Option<Step>) {
        self.learner.restart_steps(at);
    }

    /// Word counts that forget stand for at most so many documents now.
    pub fn shorten_memory(&mut self, documents: f64) {
        self.learner.shorten_memory(documents);
    }

    /// Runs `work` once on every thread that learns: this is how processor time can be measured.
    pub fn on_every_thread(&self, work: &(dyn Fn() + Sync)) {
        self.learner.on_every_thread(work);
    }
}

/// What only topic models have.
impl Trainer {
    /// Statistics and parameters of topics; `None` before the first update.
    pub fn topic_state(&self) -> Option<&LdaState> {
        self.learner.state()?.downcast_ref()
    }

    /// Tokens seen.
    pub fn tokens(&self) -> u64 {
        self.frequencies().map_or(0, |seen| seen.tokens)
    }

    /// Tokens seen of each word.
    pub fn word_counts(&self) -> &[u64] {
        self.frequencies().map_or(&[], |seen| &seen.counts)
    }

    fn frequencies(&self) -> Option<&WordFrequencies> {
        self.learner.baseline().downcast_ref()
    }

    /// Where the number of topics is open, what is known of their weights; `None` before the first update.
    pub fn sticks(&self) -> Option<&Sticks> {
        self.topic_state()?.sticks.as_ref()
    }

    /// Where the number of topics is open, how many have more than a thousandth of all tokens.
    pub fn topics_used(&self) -> Option<usize> {
        self.sticks().map(|_| topics_used(&self.topic_tokens()))
    }

    /// Expected tokens per document of each topic; nothing before the first update.
    pub fn topic_tokens(&self) -> Vec<f64> {
        self.topic_state().map_or_else(Vec::new, |state| state.counts.topic_tokens())
    }

    /// The Dirichlet parameter after the last update; `None` before the first.
    pub fn alpha(&self) -> Option<&[f64]> {
        self.topic_state().map(|state| state.alpha.alpha.as_slice())
    }

    /// Logarithms of the topics for the evidence lower bound; `None` before the first update.
    pub fn log_topics(&self) -> Option<LogTopics> {
        Some(self.settings.log_topics(self.topic_state()?, &self.clock(), self.frequencies()?))
    }

    /// The rows of the topics to report for some words, ascending; `None` before the first update.
    pub fn topics_of(&self, words: &[u32]) -> Option<TopicTable> {
        let (state, clock, seen) = (self.topic_state()?, self.clock(), self.frequencies()?);
        let (topics, shares) = if self.settings.model.hdp().is_some() {
            self.settings.hdp_model().topics_of(state, &clock, words)
        } else {
            let model = self.settings.lda_model();
            self.on_all_threads(|| model.topics_of(state, &clock, seen, words))?
        };
        Some(TopicTable { topics, shares })
    }

    /// The topics to report; `None` before the first update.
    pub fn topics(&self) -> Option<Topics> {
        match self.parameters() {
            Ok(Parameters::Topics(parameters)) => Some(parameters.topics),
            _ => None,
        }
    }
}

/// There is nothing to save, to ask or to score.
pub(crate) fn nothing_learnt() -> Error {
    Error::setting("model", "nothing has been learnt yet", "learn from a minibatch first")
}
