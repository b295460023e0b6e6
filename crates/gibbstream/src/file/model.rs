//! A model as it is kept in a `*.gbs` file (docs/model-format.md): settings, what was learnt, names of words or columns,
//! and what has been done to it.

use super::features::{Features, lines, read_words};
use super::labels::TopicLabels;
use super::layout::{Tensor, seal};
use super::sealed::{Arrays, StoredState, open, unseal};
use super::destination::{Destination, Kind};
use super::new_file::NewFile;
use super::shown::ShownWords;
use crate::corpus::{InputPlace, OpenRule, OpenState, Tokenizer};
use crate::error::{Error, Result};
use crate::learn::{Array, Fitted, Scalar, Settings, Trace};
use crate::model::topics::hdp::topics_used;
use crate::model::topics::lda::LdaState;
use crate::learn::schedule::Step;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use std::collections::BTreeMap;
use std::path::Path;

/// A model as it is kept on disk.
#[derive(Debug)]
pub struct Model {
    /// How it was learnt.
    pub settings: Settings,
    /// What was learnt.
    pub fitted: Box<dyn Fitted>,
    /// What it is about.
    pub features: Features,
    /// How text was cut into words, if it was text.
    pub tokenizer: Option<Tokenizer>,
    /// What has been done to it, oldest first.
    pub history: Vec<HistoryEntry>,
    /// What its topics are called.
    pub labels: TopicLabels,
    /// The words that are shown of its topics, where documents told.
    pub shown: ShownWords,
}

/// Something that was done to a model.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct HistoryEntry {
    /// Version of the program.
    pub version: String,
    /// What was done, such as "train".
    pub action: String,
    /// Names of the inputs.
    pub inputs: Vec<String>,
    /// Documents or rows seen in it.
    pub documents: u64,
    /// Tokens seen in it.
    pub tokens: u64,
    /// Settings that were changed for it, such as `batch: 100 -> 50`.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub changes: Vec<String>,
    /// How learning went.
    #[serde(default, skip_serializing_if = "Trace::is_empty")]
    pub trace: Trace,
}

impl HistoryEntry {
    /// Something that this release begins to do.
    pub fn new(action: impl Into<String>, inputs: Vec<String>) -> Self {
        Self {
            version: env!("CARGO_PKG_VERSION").to_owned(),
            action: action.into(),
            inputs,
            ..Self::default()
        }
    }
}

/// Where the run that a checkpoint belongs to stands.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct RunState {
    /// What was asked for: a run goes on only with the same.
    pub request: Value,
    /// The pass over the input, from 0.
    pub pass: u64,
    /// Documents or rows of this pass that have been learnt from.
    pub documents: u64,
    /// Whether nothing is left to do.
    pub finished: bool,
    /// What else must be known again.
    pub notes: Value,
    /// How far each input was read, and by what it can be recognised; files before 0.2 do not tell.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub inputs: Vec<InputPlace>,
}

/// Everything in a file that is not an array.
#[derive(Serialize, Deserialize)]
struct Header {
    model_hash: String,
    settings: Settings,
    clock: Step,
    /// Single numbers of the state.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    scalars: BTreeMap<String, Scalar>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    columns: Option<Vec<String>>,
    tokenizer: Option<Tokenizer>,
    history: Vec<HistoryEntry>,
    /// Only where topics have names.
    #[serde(default, skip_serializing_if = "TopicLabels::is_empty")]
    labels: TopicLabels,
    /// Only where documents told which words of topics go together.
    #[serde(default, skip_serializing_if = "ShownWords::is_empty")]
    shown: ShownWords,
    /// Only for vocabularies that are not fixed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    open: Option<OpenState>,
    /// Only where tokens do not all count the same.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    term_weights: bool,
    /// Only in checkpoints.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    run: Option<RunState>,
}

impl Model {
    /// Updates made and observations seen.
    pub fn clock(&self) -> Step {
        self.fitted.clock()
    }

    /// Statistics and parameters of topics, if it is a topic model.
    pub fn topic_state(&self) -> Option<&LdaState> {
        self.fitted.topic_state()
    }

    /// Tokens seen; rows of numbers have none.
    pub fn tokens(&self) -> u64 {
        self.fitted.word_frequencies().map_or(0, |seen| seen.tokens)
    }

    /// Tokens seen of each word; nothing for models of numbers.
    pub fn word_counts(&self) -> &[u64] {
        self.fitted.word_frequencies().map_or(&[], |seen| &seen.counts)
    }

    /// Number of topics, components or sources that there are.
    pub fn components(&self) -> usize {
        self.topic_state().map_or(self.settings.components, |state| state.counts.topics())
    }

    /// Where the number of topics is open, how many are in use and how many were ever created.
    pub fn open_topics(&self) -> Option<(usize, u64)> {
        let state = self.topic_state()?;
        let used = topics_used(&state.counts.topic_tokens());
        state.sticks.as_ref().map(|sticks| (used, sticks.created))
    }

    /// Hash of statistics, parameters and counters: equal hash, equal bits.
    pub fn hash(&self) -> String {
        self.fitted.hash()
    }

    /// Writes the file so that its place always holds the old or the new model, whole.
    /// A place that holds something else than a model is refused.
    pub fn save(&self, path: &Path) -> Result<()> {
        self.save_to(&Destination::new(path, Kind::MODEL, false))
    }

    /// The same to a place that may be forced.
    pub fn save_to(&self, place: &Destination) -> Result<()> {
        let mut file = place.create()?;
        self.write(None, |bytes| file.write(bytes))?;
        file.finish()
    }

    /// The same with the state of its run, which makes it a checkpoint.
    pub(crate) fn save_checkpoint(&self, path: &Path, run: &RunState) -> Result<()> {
        let mut file = NewFile::create(path)?;
        self.write(Some(run), |bytes| file.write(bytes))?;
        file.finish()
    }

    /// The bytes of the file.
    pub fn to_bytes(&self) -> Result<Vec<u8>> {
        let mut file = Vec::new();
        self.write(None, |bytes| {
            file.extend_from_slice(bytes);
            Ok(())
        })?;
        Ok(file)
    }

    /// Hands the file over piece by piece.
    fn write(&self, run: Option<&RunState>, piece: impl FnMut(&[u8]) -> Result<()>) -> Result<()> {
        if self.topic_state().is_some_and(|state| state.counts.words() == 0 && self.settings.features > 0) {
            let advice = "load it whole to save it";
            return Err(Error::setting("model", "it was loaded to be asked alone", advice));
        }
        let mut arrays = self.fitted.arrays();
        if let Some(OpenState { rule: OpenRule::Grow { .. }, usage, .. }) = self.features.open_state() {
            let values: &[f64] = bytemuck::cast_slice(usage);
            arrays.push(Array::floats("word_usage", &[usage.len(), 2], values));
        }
        if let Some(weights) = self.features.term_weights() {
            arrays.push(Array::floats("term_weights", &[weights.len()], weights));
        }
        let has_words = self.settings.model.has_topics();
        let words =
            has_words.then(|| Tensor::bytes("vocabulary", lines(&self.features.vocabulary()).into_bytes()));
        let tensors: Vec<Tensor<'_>> = arrays.iter().map(Tensor::of).chain(words).collect();
        seal(serde_json::json!(self.header(run)), &tensors, piece)
    }

    fn header(&self, run: Option<&RunState>) -> Header {
        let columns =
            if let Features::Columns(columns) = &self.features { Some(columns.clone()) } else { None };
        let scalars = self.fitted.scalars().into_iter();
        Header {
            model_hash: self.hash(),
            settings: self.settings.clone(),
            clock: self.clock(),
            scalars: scalars.map(|(name, scalar)| (name.to_owned(), scalar)).collect(),
            columns,
            tokenizer: self.tokenizer.clone(),
            history: self.history.clone(),
            labels: self.labels.clone(),
            shown: self.shown.clone(),
            open: self.features.open_state().cloned(),
            term_weights: self.features.term_weights().is_some(),
            run: run.cloned(),
        }
    }

    /// Reads a model, refusing anything that is not exactly what was written. A checkpoint is a model too.
    pub fn load(path: &Path) -> Result<Self> {
        Self::load_with(path).map(|(model, _)| model)
    }

    /// The model in a file, and the state of its run if it is a checkpoint.
    pub fn load_with(path: &Path) -> Result<(Self, Option<RunState>)> {
        let (file, length) = open(path)?;
        unseal(path, file, length, read)
    }

    /// The model in the bytes of a file, and the state of its run if it is a checkpoint. `path` is for messages.
    pub fn parse(path: &Path, bytes: &[u8]) -> Result<(Self, Option<RunState>)> {
        unseal(path, bytes, bytes.len() as u64, read)
    }
}

impl Clone for Model {
    fn clone(&self) -> Self {
        Self {
            settings: self.settings.clone(),
            fitted: self.fitted.boxed_clone(),
            features: self.features.clone(),
            tokenizer: self.tokenizer.clone(),
            history: self.history.clone(),
            labels: self.labels.clone(),
            shown: self.shown.clone(),
        }
    }
}

/// Builds the model from arrays whose shapes must agree with the settings.
fn read(arrays: Arrays, header: Value) -> Result<(Model, Option<RunState>), String> {
    let header: Header =
        serde_json::from_value(header).map_err(|error| format!("its settings are not readable: {error}"))?;
    let Header { settings, clock, scalars, columns, tokenizer, history, labels, shown, open, run, term_weights, .. } = header;
    let stored = StoredState { arrays, scalars: &scalars };
    let fitted = settings.restore(&stored, clock)?;
    let features = match columns {
        Some(columns) => Features::Columns(columns),
        None => read_words(&stored, open, term_weights)?,
    };
    if features.len() != settings.features {
        let (found, expected) = (features.len(), settings.features);
        return Err(match features {
            Features::Columns(_) => format!("it has {found} names for {expected} columns"),
            _ => format!("it has {found} words for a vocabulary of {expected}"),
        });
    }
    let model = Model { settings, fitted, features, tokenizer, history, labels, shown };
    if !model.shown.fits(model.components(), model.features.len()) {
        return Err("the words that it shows are not those of its topics".to_owned());
    }
    Ok((model, run))
}
