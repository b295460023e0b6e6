//! Checkpoints of runs from Python: the same files and folders as the program's.

use crate::error::{OrException, released};
use crate::model::Model;
use crate::state::State;
use gibbstream::Error;
use gibbstream::file::CheckpointFolder as Folder;
use gibbstream::learn::{CheckpointEvery, Checkpoints};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use serde_json::Value;
use std::path::PathBuf;
use std::sync::{Mutex, PoisonError};

/// A folder that no other process writes to.
#[pyclass(frozen, module = "gibbstream._core")]
pub struct CheckpointFolder {
    folder: Mutex<Option<Folder>>,
}

/// What was found: the model, what had been asked for, and whether nothing is left to do.
type Found = (Model, String, bool);

#[pymethods]
impl CheckpointFolder {
    /// Makes the folder if need be, and claims it.
    #[new]
    fn claim(py: Python<'_>, path: PathBuf) -> PyResult<Self> {
        let folder = released(py, || Folder::claim(&path).or_exception())?;
        Ok(Self { folder: Mutex::new(Some(folder)) })
    }

    /// The newest checkpoint that is whole, if there is one, and what is wrong with newer ones.
    fn newest(&self, py: Python<'_>, threads: usize) -> PyResult<(Option<Found>, Vec<String>)> {
        released(py, || {
            let folder = self.folder.lock().unwrap_or_else(PoisonError::into_inner);
            let folder = folder.as_ref().ok_or_else(taken)?;
            let mut damaged = Vec::new();
            let found = folder.newest(|error| damaged.push(error.to_string())).or_exception()?;
            let found = found.map(|found| {
                let mut state = State::restored(found.model, threads)?;
                state.resume_at(&found.run)?;
                Ok::<Found, Error>((Model::new(state), found.run.request.to_string(), found.run.finished))
            });
            Ok((found.transpose().or_exception()?, damaged))
        })
    }

    /// Lets a model write its checkpoints here, every so many seconds (`60s`) or minibatches (`1000b`).
    fn attach(&self, py: Python<'_>, model: &Model, every: String, request: String) -> PyResult<()> {
        let request = read(&request)?;
        let every = every.parse::<CheckpointEvery>().map_err(|advice| {
            PyValueError::new_err(format!("checkpoint_every: `{every}` says neither; {advice}"))
        })?;
        let folder = self.folder.lock().unwrap_or_else(PoisonError::into_inner).take().ok_or_else(taken)?;
        let checkpoints = Checkpoints::new(folder, every);
        model.with(py, |state| {
            state.run.set_checkpoints(checkpoints, request);
            Ok(())
        })
    }
}

fn read(request: &str) -> PyResult<Value> {
    serde_json::from_str(request).map_err(|error| PyValueError::new_err(error.to_string()))
}

fn taken() -> PyErr {
    crate::error::exception(&Error::setting(
        "checkpoint",
        "a run writes here already",
        "claim the folder again",
    ))
}

/// Whether it is time for a checkpoint.
#[pyfunction]
pub fn checkpoint_is_due(py: Python<'_>, model: &Model) -> PyResult<bool> {
    model.with(py, |state| Ok(state.run.checkpoint_is_due()))
}

/// Writes a checkpoint, the last one if the run is over. With `request`, from now on that is what was asked for.
#[pyfunction]
#[pyo3(signature = (model, *, finished, request=None))]
pub fn save_checkpoint(
    py: Python<'_>,
    model: &Model,
    finished: bool,
    request: Option<String>,
) -> PyResult<()> {
    let request = request.as_deref().map(read).transpose()?;
    model.with(py, |state| {
        state
            .learn_by(|run, records| {
                request.into_iter().for_each(|request| run.set_request(request));
                if finished { run.finish(String::new()) } else { run.save_checkpoint(records) }
            })
            .or_exception()
    })
}

/// Lets go of the folder.
#[pyfunction]
pub fn detach_checkpoints(py: Python<'_>, model: &Model) -> PyResult<()> {
    model.with(py, |state| {
        state.run.drop_checkpoints();
        Ok(())
    })
}
