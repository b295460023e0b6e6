//! A trainer with its words, its history and its place in the stream: everything that a model of the package holds.

use crate::error::OrException;
use crate::records::{Record, Records};
use crate::rows::Rows;
use crate::signals::Signals;
use gibbstream::Error;
use gibbstream::corpus::{Document, Minibatch, OpenVocabulary, Tokenizer, Vocabulary};
use gibbstream::learn::Settings;
use gibbstream::model::lda::Topics;
use gibbstream::model::sticks::Sticks;
use gibbstream::model_file::{Event, TopicModel};
use gibbstream::summary::shares;
use gibbstream::trainer::Trainer;
use pyo3::PyResult;
use std::sync::Arc;
use std::time::Instant;

/// What was learnt, to be used.
pub struct Parameters {
    /// Topics as inference and scores take them. Where their number is open, all that have not been met yet are one
    /// more, the last.
    pub topics: Topics,
    /// Expected share of all tokens of each topic that has been met.
    pub shares: Vec<f64>,
}

impl Parameters {
    /// Number of topics that have been met; users see no other.
    pub fn met(&self) -> usize {
        self.shares.len()
    }
}

pub struct State {
    pub trainer: Trainer,
    pub threads: usize,
    /// Threads do not survive a fork, so a copy of this process needs its own.
    process: u32,
    pub vocabulary: Vocabulary,
    pub open: Option<OpenVocabulary>,
    pub tokenizer: Option<Tokenizer>,
    history: Vec<Event>,
    run: Run,
    pub records: Records,
    /// What was learnt, until something else is.
    parameters: Option<Arc<Parameters>>,
}

/// Where the documents at hand stand in the stream.
#[derive(Default)]
struct Run {
    /// Documents seen before this call of `fit` or `partial_fit`.
    origin: u64,
    pass: u64,
    /// Documents of this pass that have been learnt from.
    taken: u64,
    /// Documents that wait for the others of their minibatch.
    waiting: Vec<Document>,
}

impl State {
    pub fn new(
        trainer: Trainer,
        threads: usize,
        vocabulary: Vocabulary,
        tokenizer: Option<Tokenizer>,
    ) -> Self {
        Self {
            trainer,
            threads,
            process: std::process::id(),
            vocabulary,
            open: None,
            tokenizer,
            history: Vec::new(),
            run: Run::default(),
            records: Records::default(),
            parameters: None,
        }
    }

    pub fn restored(model: TopicModel, threads: usize) -> gibbstream::Result<Self> {
        let TopicModel { settings, learnt, vocabulary, tokenizer, history, open } = model;
        let trainer = Trainer::resume(settings, learnt, threads)?;
        let open = open.map(|open| OpenVocabulary::resume(&vocabulary, open));
        Ok(Self { open, history, ..Self::new(trainer, threads, vocabulary, tokenizer) })
    }

    /// Puts the trainer on other threads or other settings.
    pub fn renew(&mut self, settings: Settings, threads: usize) -> gibbstream::Result<()> {
        let mut renewed = Trainer::new(settings.clone(), threads)?;
        std::mem::swap(&mut renewed, &mut self.trainer);
        if let Some(learnt) = renewed.into_learnt() {
            self.trainer = Trainer::resume(settings, learnt, threads)?;
        }
        (self.threads, self.process, self.parameters) = (threads, std::process::id(), None);
        Ok(())
    }

    fn alive(&mut self) -> gibbstream::Result<()> {
        if self.process == std::process::id() {
            return Ok(());
        }
        self.renew(self.trainer.settings().clone(), self.threads)
    }

    pub fn parameters(&mut self) -> gibbstream::Result<Arc<Parameters>> {
        if self.parameters.is_none() {
            self.alive()?;
            let topics = self.trainer.topics().ok_or_else(nothing_learnt)?;
            let shares = shares(&self.trainer.topic_tokens());
            self.parameters = Some(Arc::new(Parameters { topics, shares }));
        }
        self.parameters.clone().ok_or_else(nothing_learnt)
    }

    /// Where the number of topics is open, what is known of their weights.
    pub fn sticks(&self) -> gibbstream::Result<&Sticks> {
        self.trainer.sticks().ok_or_else(nothing_learnt)
    }

    /// Begins to learn; `action` goes into the history. Calls of the same kind are one entry.
    pub fn begin(&mut self, action: String) -> gibbstream::Result<()> {
        self.alive()?;
        self.run = Run { origin: self.trainer.clock().seen, ..Run::default() };
        if self.history.last().is_none_or(|event| event.action != action) {
            self.history.push(Event {
                version: env!("CARGO_PKG_VERSION").to_owned(),
                action,
                inputs: vec!["python".to_owned()],
                documents: 0,
                tokens: 0,
                changes: Vec::new(),
            });
        }
        Ok(())
    }

    pub fn begin_pass(&mut self, pass: u64) {
        (self.run.pass, self.run.taken) = (pass, 0);
    }

    /// Learns from the rows from `start` on; see [`crate::model::Model`].
    pub fn learn(
        &mut self,
        rows: &Rows<'_>,
        start: usize,
        minibatches: Option<u64>,
        close: bool,
    ) -> PyResult<usize> {
        let learnt = self.learn_minibatches(rows, start, minibatches.unwrap_or(u64::MAX), close);
        if learnt.is_err() {
            self.run.waiting.clear();
        }
        learnt
    }

    fn learn_minibatches(
        &mut self,
        rows: &Rows<'_>,
        start: usize,
        mut left: u64,
        close: bool,
    ) -> PyResult<usize> {
        let settings = self.trainer.settings();
        let (batch, whole) = (settings.batch, settings.method.whole_corpus);
        let (mut row, mut space, mut signals) = (start, Vec::new(), Signals::new());
        while left > 0 {
            let full = if whole { usize::MAX } else { batch.after(self.trainer.clock().seen) };
            while row < rows.len() && self.run.waiting.len() < full {
                let document = rows.document(row, &mut space).or_exception()?;
                self.run.waiting.push(document);
                row += 1;
            }
            let ready = self.run.waiting.len() == full || (close && !self.run.waiting.is_empty());
            if !ready {
                break;
            }
            self.learn_minibatch().or_exception()?;
            left -= 1;
            signals.check()?;
        }
        Ok(row)
    }

    /// Learns from the documents that wait.
    fn learn_minibatch(&mut self) -> gibbstream::Result<()> {
        let started = Instant::now();
        let documents = std::mem::take(&mut self.run.waiting);
        let batch = Minibatch::new(&documents, self.run.origin + self.run.taken, self.run.pass);
        let step = self.trainer.partial_fit(&batch)?;
        if let Some(open) = &mut self.open {
            self.trainer.forget(&open.close(&batch));
        }
        self.run.taken += documents.len() as u64;
        if let Some(event) = self.history.last_mut() {
            event.documents += documents.len() as u64;
            event.tokens += batch.tokens();
        }
        let seconds = self.records.seconds() + started.elapsed().as_secs_f64();
        self.records.add(Record::new(&self.trainer, &step, seconds));
        self.parameters = None;
        Ok(())
    }

    /// Lends the model as it would be on disk.
    pub fn lend<T>(
        &mut self,
        work: impl FnOnce(&TopicModel) -> gibbstream::Result<T>,
    ) -> gibbstream::Result<T> {
        self.alive()?;
        let (settings, tokenizer) = (self.trainer.settings().clone(), self.tokenizer.clone());
        let (vocabulary, history) = (self.vocabulary.clone(), self.history.clone());
        let open = self.open.as_ref().map(|open| open.state().clone());
        let lent = self.trainer.lend_learnt(|learnt| {
            let model = TopicModel { settings, learnt, vocabulary, tokenizer, history, open };
            let result = work(&model);
            (model.learnt, result)
        });
        lent.unwrap_or_else(|| Err(nothing_learnt()))
    }

    /// Gives the words other names.
    pub fn rename(&mut self, words: Vec<String>) -> gibbstream::Result<()> {
        let vocabulary = Vocabulary::new(words)?;
        if vocabulary.len() != self.vocabulary.len() || self.open.is_some() {
            let problem = format!("{} names for {} words", vocabulary.len(), self.vocabulary.len());
            return Err(Error::setting("vocabulary", problem, "give one name for each column of X"));
        }
        self.vocabulary = vocabulary;
        Ok(())
    }
}

fn nothing_learnt() -> Error {
    Error::setting("model", "nothing has been learnt yet", "call fit or partial_fit first")
}
