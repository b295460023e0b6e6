//! Where a run begins: with nothing, with a model that is continued, or where a checkpoint stopped.

use super::prepare::Prepared;
use crate::args::train::{Plan, TrainArgs};
use gibbstream::corpus::ReadBefore;
use gibbstream::file::{Checkpoint, HistoryEntry, Model, RunState};
use gibbstream::learn::TrainingRun;
use gibbstream::learn::knobs::changes;

/// The state that a run begins with.
pub struct Start {
    /// What has been learnt before.
    pub model: Option<Model>,
    /// The run that goes on.
    pub run: Option<RunState>,
    is_continued: bool,
}

impl Start {
    /// From a checkpoint if there is one, or else from the model that is continued, or else from nothing.
    pub fn new(args: &TrainArgs, found: Option<Checkpoint>) -> gibbstream::Result<Self> {
        let is_continued = args.continued.is_some();
        if let Some(Checkpoint { model, run }) = found {
            return Ok(Self { model: Some(model), run: Some(run), is_continued });
        }
        let model = args.continued.as_deref().map(Model::load).transpose()?;
        Ok(Self { model, run: None, is_continued })
    }

    /// The model whose settings are taken over.
    pub fn continued(&self) -> Option<&Model> {
        self.model.as_ref().filter(|_| self.is_continued)
    }

    /// Minibatches learnt from before.
    pub fn updates(&self) -> u64 {
        self.model.as_ref().map_or(0, |model| model.clock().update)
    }

    /// What the run has read before, in this pass over the inputs.
    pub fn read_before(&self, plan: &Plan) -> ReadBefore {
        self.run.as_ref().map_or_else(ReadBefore::default, |state| ReadBefore {
            places: state.inputs.clone(),
            documents: state.documents,
            // Documents that are kept aside are read again from the top.
            seek: plan.holdout == 0,
        })
    }

    /// The run, ready to learn.
    pub fn begin(self, plan: &Plan, prepared: &Prepared, threads: usize) -> gibbstream::Result<TrainingRun> {
        let (settings, features) = (plan.settings.clone(), prepared.features.clone());
        let before = self.continued().map(|model| model.settings.clone());
        let run = match self.model {
            None => TrainingRun::new(settings, features, prepared.tokenizer.clone(), threads)?,
            Some(model) => TrainingRun::resume(model, settings, threads)?.with_features(features),
        };
        if let Some(state) = &self.run {
            return run.at(state);
        }
        let action = if self.is_continued { "continue" } else { "train" };
        let inputs = plan.inputs.paths.iter().map(|path| path.display().to_string()).collect();
        let changes = before.map_or_else(Vec::new, |before| changes(&before, &plan.settings));
        let mut run = run;
        run.begin(Some(HistoryEntry { changes, ..HistoryEntry::new(action, inputs) }));
        Ok(run)
    }
}
