//! A training run with what Python adds to it: records, and threads that survive a fork.

use crate::error::OrException;
use crate::records::Records;
use crate::rows::Rows;
use crate::signals::Signals;
use gibbstream::Error;
use gibbstream::file::{HistoryEntry, Model, RunState};
use gibbstream::learn::{Parameters, TrainingRun};
use gibbstream::model::topics::hdp::sticks::Sticks;
use pyo3::PyResult;
use std::sync::Arc;

pub struct State {
    pub run: TrainingRun,
    /// Threads do not survive a fork, so a copy of this process needs its own.
    process: u32,
    pub records: Records,
    /// What was learnt, until something else is.
    parameters: Option<Arc<Parameters>>,
}

impl State {
    pub fn new(run: TrainingRun) -> Self {
        Self { run, process: std::process::id(), records: Records::default(), parameters: None }
    }

    pub fn restored(model: Model, threads: usize) -> gibbstream::Result<Self> {
        let settings = model.settings.clone();
        TrainingRun::resume(model, settings, threads).map(Self::new)
    }

    /// Whether the rows are numbers, not documents.
    pub fn is_of_rows(&self) -> bool {
        !self.run.trainer().settings().model.has_topics()
    }

    pub fn configure(
        &mut self,
        settings: gibbstream::learn::Settings,
        threads: usize,
    ) -> gibbstream::Result<()> {
        self.run.configure(settings, threads)?;
        (self.process, self.parameters) = (std::process::id(), None);
        Ok(())
    }

    fn alive(&mut self) -> gibbstream::Result<()> {
        if self.process == std::process::id() {
            return Ok(());
        }
        self.configure(self.run.trainer().settings().clone(), self.run.threads())
    }

    /// Lets the run learn, with the records that look on.
    pub fn learn_by<T>(
        &mut self,
        work: impl FnOnce(&mut TrainingRun, &mut Records) -> gibbstream::Result<T>,
    ) -> gibbstream::Result<T> {
        self.alive()?;
        self.parameters = None;
        work(&mut self.run, &mut self.records)
    }

    /// The same from where a checkpoint stopped.
    pub fn resume_at(&mut self, state: &RunState) -> gibbstream::Result<()> {
        self.run.go_to(state)
    }

    pub fn parameters(&mut self) -> gibbstream::Result<Arc<Parameters>> {
        if let Some(parameters) = &self.parameters {
            return Ok(parameters.clone());
        }
        self.alive()?;
        let parameters = Arc::new(self.run.parameters().map_err(|_| nothing_learnt())?);
        self.parameters = Some(parameters.clone());
        Ok(parameters)
    }

    /// Where the number of topics is open, what is known of their weights.
    pub fn sticks(&self) -> gibbstream::Result<&Sticks> {
        self.run.trainer().sticks().ok_or_else(nothing_learnt)
    }

    /// Begins to learn; `action` goes into the history. Calls of the same kind are one entry.
    pub fn begin(&mut self, action: String) -> gibbstream::Result<()> {
        self.alive()?;
        let is_new = self.run.history().last().is_none_or(|entry| entry.action != action);
        self.run.begin(is_new.then(|| HistoryEntry::new(action, vec!["python".to_owned()])));
        Ok(())
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
        self.parameters = None;
        if learnt.is_err() {
            self.run.discard_waiting();
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
        let is_of_rows = self.is_of_rows();
        let (mut row, mut space, mut signals) = (start, Vec::new(), Signals::new());
        while left > 0 && row < rows.len() {
            let observation = rows.observation(row, is_of_rows, &mut space).or_exception()?;
            row += 1;
            if self.run.push(observation, &mut self.records).or_exception()?.is_some() {
                left -= 1;
                signals.check()?;
            }
        }
        if left > 0 && close {
            self.run.close(&mut self.records).or_exception()?;
            signals.check()?;
        }
        Ok(row)
    }

    /// Looks at some of the rows once more, to find which words of the topics go together.
    pub fn show_words(&mut self, rows: &Rows<'_>) -> PyResult<()> {
        if self.is_of_rows() {
            return Ok(());
        }
        self.alive().or_exception()?;
        let mut space = Vec::new();
        let documents = (0..rows.len()).map(|row| rows.observation(row, false, &mut space));
        self.run.show_words_of(documents, rows.len() as u64).or_exception()
    }

    /// Lends the model as it would be on disk.
    pub fn lend<T>(&mut self, work: impl FnOnce(&Model) -> gibbstream::Result<T>) -> gibbstream::Result<T> {
        self.alive()?;
        if self.run.has_learnt() { self.run.lend(work) } else { Err(nothing_learnt()) }
    }
}

pub fn nothing_learnt() -> Error {
    Error::setting("model", "nothing has been learnt yet", "call fit or partial_fit first")
}
