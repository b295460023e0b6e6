//! Where a run begins: with nothing, with a model that is continued, or where a checkpoint stopped.

use super::checkpoints::Notes;
use crate::args::train::{Plan, TrainArgs};
use gibbstream::Error;
use gibbstream::checkpoint::Checkpoint;
use gibbstream::learn::knobs::changes;
use gibbstream::model_file::{Event, Run, TopicModel};

/// The state that a run begins with.
pub struct Start {
    /// What has been learnt before.
    pub model: Option<TopicModel>,
    /// The run that goes on.
    pub run: Option<Run>,
    pub notes: Notes,
    is_continued: bool,
}

impl Start {
    /// From a checkpoint if there is one, or else from the model that is continued, or else from nothing.
    pub fn new(args: &TrainArgs, found: Option<Checkpoint>) -> anyhow::Result<Self> {
        let is_continued = args.continued.is_some();
        let Some(Checkpoint { model, run }) = found else {
            let model = args.continued.as_deref().map(TopicModel::load).transpose()?;
            return Ok(Self { model, run: None, notes: Notes::default(), is_continued });
        };
        let notes = serde_json::from_value(run.notes.clone()).map_err(|error| {
            let problem = format!("the checkpoint was written by another program ({error})");
            Error::setting("--resume", problem, "go on with the program that wrote it, or use another folder")
        })?;
        Ok(Self { model: Some(model), run: Some(run), notes, is_continued })
    }

    /// The model whose settings are taken over.
    pub fn continued(&self) -> Option<&TopicModel> {
        self.model.as_ref().filter(|_| self.is_continued)
    }

    /// Minibatches learnt from before.
    pub fn updates(&self) -> u64 {
        self.model.as_ref().map_or(0, |model| model.learnt.clock.update)
    }

    /// What is about to be done to the model, and what was done before.
    pub fn event(&self, plan: &Plan) -> (Event, Vec<Event>) {
        let mut history = self.model.as_ref().map_or_else(Vec::new, |model| model.history.clone());
        // A checkpoint ends with what is still going on.
        if self.run.is_some()
            && let Some(event) = history.pop()
        {
            return (event, history);
        }
        let before = self.continued().map(|model| &model.settings);
        let event = Event {
            version: env!("CARGO_PKG_VERSION").to_owned(),
            action: if self.is_continued { "continue" } else { "train" }.to_owned(),
            inputs: plan.inputs.paths.iter().map(|path| path.display().to_string()).collect(),
            documents: 0,
            tokens: 0,
            changes: before.map_or_else(Vec::new, |before| changes(before, &plan.settings)),
        };
        (event, history)
    }
}

/// Documents that a model with this history has seen.
pub fn seen_before(history: &[Event]) -> u64 {
    history.iter().map(|event| event.documents).sum()
}
