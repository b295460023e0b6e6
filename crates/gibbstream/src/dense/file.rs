//! Models of rows of numbers on disk: the same layout and checksum as topic models (docs/model-format.md).

use super::{Array, DenseTrainer};
use crate::checkpoint::Saved;
use crate::error::Result;
use crate::learn::Settings;
use crate::model_file::{CHECKSUM_DIGITS, Event, Run, Tensor, VERSION, array, bytes_of, seal, unseal};
use crate::new_file::NewFile;
use crate::schedule::Step;
use safetensors::{Dtype, SafeTensors};
use serde::{Deserialize, Serialize};
use std::borrow::Cow;
use std::fs::File;
use std::io::Read;
use std::path::Path;

/// What the file says that it is.
pub const DENSE_FORMAT: &str = "gibbstream dense model";

/// A model of rows of numbers as it is kept on disk.
#[derive(Clone, Debug, PartialEq)]
pub struct DenseModel {
    /// How it was learnt.
    pub settings: Settings,
    /// Names of the columns.
    pub columns: Vec<String>,
    /// Updates made and observations seen.
    pub clock: Step,
    /// What has been done to the model, oldest first.
    pub history: Vec<Event>,
    /// Statistics, parameters and the baseline.
    pub arrays: Vec<Array>,
}

/// Whether a file says that it is a model of rows of numbers, whole or not. Anything else, readable or not, is none.
pub fn is_dense(path: &Path) -> bool {
    let head = || {
        let mut file =
            File::open(path).ok().filter(|file| file.metadata().is_ok_and(|data| data.is_file()))?;
        let mut length = [0; 8];
        file.read_exact(&mut length).ok()?;
        let mut head = Vec::new();
        file.take(u64::from_le_bytes(length).min(LONGEST_HEAD)).read_to_end(&mut head).ok()?;
        Some(head)
    };
    head().is_some_and(|head| head.windows(DENSE_FORMAT.len()).any(|part| part == DENSE_FORMAT.as_bytes()))
}

/// Bytes in which the format is looked for.
const LONGEST_HEAD: u64 = 64 << 20;

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Header {
    format: String,
    version: u32,
    checksum: String,
    model_hash: String,
    settings: Settings,
    columns: Vec<String>,
    clock: Step,
    history: Vec<Event>,
    /// Only in checkpoints.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    run: Option<Run>,
}

impl DenseModel {
    /// What `trainer` has learnt; `None` before its first update.
    pub fn of(trainer: &DenseTrainer, columns: Vec<String>, history: Vec<Event>) -> Option<Self> {
        let (settings, clock) = (trainer.settings().clone(), trainer.clock());
        Some(Self { settings, columns, clock, history, arrays: trainer.arrays()? })
    }

    /// Hash of statistics, parameters and counters: equal hash, equal bits.
    pub fn hash(&self) -> String {
        let mut hasher = blake3::Hasher::new();
        for array in &self.arrays {
            hasher.update(array.name.as_bytes());
            hasher.update(&(array.values.len() as u64).to_le_bytes());
            hasher.update(bytemuck::cast_slice(&array.values));
        }
        for counter in [self.clock.update, self.clock.seen, self.clock.head_start] {
            hasher.update(&counter.to_le_bytes());
        }
        hasher.finalize().to_hex().to_string()
    }

    /// A trainer that goes on from this model, with `settings` that may differ in how it learns.
    pub fn trainer(&self, settings: Settings, threads: usize) -> Result<DenseTrainer> {
        let mut trainer = DenseTrainer::new(settings, threads)?;
        trainer.restore(&|name, shape| find(&self.arrays, name, shape), self.clock).map_err(|problem| {
            crate::Error::setting("settings", problem, "use the settings that the model was learnt with")
        })?;
        Ok(trainer)
    }

    /// Writes the file so that its place always holds the old or the new model, whole.
    pub fn save(&self, path: &Path) -> Result<()> {
        self.save_with(path, None)
    }

    /// Reads a model, refusing anything that is not exactly what was written. A checkpoint is a model too.
    pub fn load(path: &Path) -> Result<Self> {
        Self::load_with(path).map(|(model, _)| model)
    }
}

impl Saved for DenseModel {
    fn updates(&self) -> u64 {
        self.clock.update
    }

    fn save_with(&self, path: &Path, run: Option<&Run>) -> Result<()> {
        let header = Header {
            format: DENSE_FORMAT.to_owned(),
            version: VERSION,
            checksum: "0".repeat(CHECKSUM_DIGITS),
            model_hash: self.hash(),
            settings: self.settings.clone(),
            columns: self.columns.clone(),
            clock: self.clock,
            history: self.history.clone(),
            run: run.cloned(),
        };
        let tensors: Vec<Tensor<'_>> = (self.arrays.iter())
            .map(|array| Tensor {
                name: array.name,
                dtype: "F64",
                shape: array.shape.clone(),
                bytes: Cow::Borrowed(bytemuck::cast_slice(&array.values)),
            })
            .collect();
        let mut file = NewFile::create(path)?;
        seal(serde_json::json!(header), &tensors, |bytes| file.write(bytes))?;
        file.finish()
    }

    fn load_with(path: &Path) -> Result<(Self, Option<Run>)> {
        unseal(path, &bytes_of(path)?, DENSE_FORMAT, read)
    }
}

fn find(arrays: &[Array], name: &str, shape: &[usize]) -> Result<Vec<f64>, String> {
    let found = arrays.iter().find(|array| array.name == name && array.shape == shape);
    found
        .map(|array| array.values.clone())
        .ok_or_else(|| format!("array '{name}' is missing or has another shape"))
}

/// Builds the model from arrays whose shapes must agree with the settings.
fn read(file: &SafeTensors<'_>, header: Header) -> Result<(DenseModel, Option<Run>), String> {
    let Header { settings, columns, clock, history, run, .. } = header;
    if columns.len() != settings.features {
        return Err(format!("it has {} names for {} columns", columns.len(), settings.features));
    }
    let mut trainer = DenseTrainer::new(settings.clone(), 1).map_err(|error| error.to_string())?;
    let arrays = |name: &str, shape: &[usize]| {
        let values: Vec<f64> = array(file, name, Dtype::F64, shape)?;
        let sound = values.iter().all(|value| value.is_finite());
        sound.then_some(values).ok_or_else(|| format!("'{name}' holds numbers that cannot be right"))
    };
    trainer.restore(&arrays, clock)?;
    let arrays = trainer.arrays().ok_or("it has learnt nothing")?;
    Ok((DenseModel { settings, columns, clock, history, arrays }, run))
}
