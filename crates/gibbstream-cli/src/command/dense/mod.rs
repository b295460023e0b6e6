//! Models of rows of numbers: what the commands do with them.

pub mod evaluate;
pub mod export;
pub mod infer;
pub mod inspect;
pub mod train;

use crate::args::input::InputArgs;
use gibbstream::corpus::{NumericRows, ResolvedInputs, Tokenizer};
use gibbstream::dense::{DenseModel, DenseTrainer};
use gibbstream::{Error, Result};
use serde_json::{Value, json};

/// The rows of inputs that a model is asked about.
fn rows_for(model: &DenseModel, input: &InputArgs) -> Result<(ResolvedInputs, NumericRows)> {
    let inputs = input.with(Tokenizer::default())?.resolve()?;
    let rows = NumericRows::new(&inputs, model.settings.model.domain(), Some(&model.columns))?;
    Ok((inputs, rows))
}

/// A model ready to be asked.
fn asked(model: &DenseModel, threads: usize) -> Result<DenseTrainer> {
    model.trainer(model.settings.clone(), threads)
}

/// Refuses flags of topic models that were given.
fn refuse(model: &DenseModel, flags: &[(&str, bool)]) -> Result<()> {
    match flags.iter().find(|(_, given)| *given) {
        None => Ok(()),
        Some((flag, _)) => {
            let problem = format!("has no meaning for a model of kind {}", model.settings.model.name());
            Err(Error::setting(*flag, problem, "leave it out"))
        }
    }
}

/// Everything about a model that is not an array.
fn describe(model: &DenseModel) -> Value {
    let settings = &model.settings;
    json!({
        "schema": "gibbstream/model/1",
        "model": settings.model.name(),
        "method": settings.name,
        "settings": settings,
        "topics": settings.components,
        "vocabulary": settings.features,
        "columns": model.columns,
        "batch": settings.batch,
        "seed": settings.seed.0,
        "documents": model.clock.seen,
        "tokens": 0,
        "updates": model.clock.update,
        "model_hash": model.hash(),
        "history": model.history,
    })
}
