//! Evaluating and saving.

use super::TrainingRun;
use crate::error::Result;
use crate::evaluation::Evaluation;
use crate::file::{Model, RunState};
use crate::learn::held_out::Evaluated;
use crate::learn::minibatches::StreamPosition;
use crate::learn::observer::{Event, Observer};
use crate::learn::schedule::Step;
use serde_json::json;

/// Particles for each row whose likelihood must be estimated while training.
const ROW_PARTICLES: usize = 10;

impl TrainingRun {
    /// Scores what is held out and writes a checkpoint, if either is due after an update.
    pub fn evaluate_and_save(
        &mut self,
        step: Step,
        every: Option<u64>,
        observer: &mut dyn Observer,
    ) -> Result<()> {
        if every.is_some_and(|every| step.update.is_multiple_of(every)) {
            self.evaluate(observer)?;
        }
        if self.checkpoint_is_due() {
            self.save_checkpoint(observer)?;
        }
        Ok(())
    }

    /// Whether there are checkpoints, and it is time for one.
    pub fn checkpoint_is_due(&self) -> bool {
        let update = self.trainer.clock().update;
        self.checkpoints.as_ref().is_some_and(|checkpoints| checkpoints.are_due(update))
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
        if let Some(entry) = self.history.last_mut() {
            entry.trace.scored(&evaluated);
        }
        observer.notify(self, &Event::Evaluated(&evaluated))?;
        Ok(Some(evaluated))
    }

    /// The last score, unless it has just been taken.
    pub(super) fn evaluate_last(&mut self, observer: &mut dyn Observer) -> Result<()> {
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
        // Standard input is compared with what it was as it is read, and may turn out to be another one.
        let is_other = self.inputs.as_ref().is_some_and(|inputs| !inputs.are_confirmed());
        if self.words_are_ahead || is_other {
            return Ok(false); // the checkpoint before is the one to go on from
        }
        let Some(mut checkpoints) = self.checkpoints.take() else { return Ok(false) };
        let StreamPosition { pass, documents, .. } = self.position;
        let notes = json!(self.notes.with_cost(self.cost));
        let (request, inputs) = (self.request.clone(), self.places.clone());
        let state = RunState { request, pass, documents, finished, notes, inputs };
        let saved = self.has_learnt().then(|| self.lend(|model| checkpoints.save(model, &state)));
        self.checkpoints = Some(checkpoints);
        Ok(saved.transpose()?.is_some())
    }

    /// Lends the model as it would be on disk, without a copy. Refuses before the first update.
    pub fn lend<T>(&mut self, work: impl FnOnce(&Model) -> Result<T>) -> Result<T> {
        let Self { trainer, features, tokenizer, history, labels, shown, .. } = self;
        let settings = trainer.settings().clone();
        let (features, tokenizer, history) = (features.clone(), tokenizer.clone(), history.clone());
        let (labels, shown) = (labels.clone(), shown.clone());
        trainer.lend(|fitted| {
            let model = Model { settings, fitted, features, tokenizer, history, labels, shown };
            let result = work(&model);
            (model.fitted, result)
        })?
    }
}
