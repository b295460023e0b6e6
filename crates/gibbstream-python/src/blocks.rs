//! What other processes do for a run: they pack observations, and answer for blocks of minibatches.

use crate::error::{OrException, released};
use crate::rows::Source;
use gibbstream::Error;
use gibbstream::learn::{BlockWorker, Settings, self_test as run_self_test};
use numpy::PyReadonlyArray1;
use pyo3::prelude::*;
use pyo3::pybacked::PyBackedBytes;
use pyo3::types::PyBytes;
use serde::{Deserialize, Serialize};
use std::sync::{Mutex, MutexGuard, PoisonError};

/// Bytes from Python, read where they are.
#[derive(FromPyObject)]
pub enum Bytes<'py> {
    Owned(PyBackedBytes),
    Array(PyReadonlyArray1<'py, u8>),
}

impl Bytes<'_> {
    pub fn as_slice(&self) -> PyResult<&[u8]> {
        match self {
            Self::Owned(bytes) => Ok(bytes),
            Self::Array(array) => Ok(array.as_slice()?),
        }
    }
}

/// A hash of the arithmetic of this machine.
#[pyfunction]
pub fn self_test(py: Python<'_>) -> PyResult<&'static str> {
    released(py, || run_self_test().or_exception())
}

/// The rows `start..stop` as bytes, as numbers or as documents. Refuses what cannot be learnt from, by its row.
#[pyfunction]
pub fn pack<'py>(
    py: Python<'py>,
    source: Source<'py>,
    start: usize,
    stop: usize,
    as_numbers: bool,
) -> PyResult<Bound<'py, PyBytes>> {
    let rows = source.rows()?;
    let bytes = released(py, || {
        let mut space = Vec::new();
        let row = |row| rows.observation(row, as_numbers, &mut space);
        let observations = (start..stop.min(rows.len())).map(row).collect::<gibbstream::Result<_>>();
        observations.and_then(gibbstream::learn::pack).or_exception()
    })?;
    Ok(PyBytes::new(py, &bytes))
}

/// What a worker must know before it answers.
#[derive(Serialize, Deserialize)]
pub struct Task {
    pub settings: Settings,
    pub version: String,
    pub self_test: String,
}

impl Task {
    pub fn new(settings: Settings) -> gibbstream::Result<Self> {
        let version = env!("CARGO_PKG_VERSION").to_owned();
        Ok(Self { settings, version, self_test: run_self_test()?.to_owned() })
    }

    fn read(text: &str) -> gibbstream::Result<Self> {
        let task: Self = serde_json::from_str(text).map_err(|error| {
            let problem = format!("the task comes from another release ({error})");
            Error::setting("worker", problem, "install the same release of gibbstream on all machines")
        })?;
        let (version, own) = (&task.version, env!("CARGO_PKG_VERSION"));
        if version != own {
            let problem = format!("it has gibbstream {own}, and the driver has {version}");
            let advice = "install the same release of gibbstream on all machines";
            return Err(Error::setting("worker", problem, advice));
        }
        let found = run_self_test()?;
        if found != task.self_test {
            let problem = format!(
                "its arithmetic differs from the driver's: the self-test gives {} here and {} there",
                &found[..found.len().min(12)],
                &task.self_test[..task.self_test.len().min(12)],
            );
            let advice = "take this machine out of the cluster, or install the same build everywhere";
            return Err(Error::setting("worker", problem, advice));
        }
        Ok(task)
    }
}

/// A process that answers for blocks; it refuses to begin if it computes other bits than the driver.
#[pyclass(frozen, module = "gibbstream._core")]
pub struct Worker {
    /// One block at a time: all threads work on it.
    worker: Mutex<BlockWorker>,
}

impl Worker {
    fn lock(&self) -> MutexGuard<'_, BlockWorker> {
        self.worker.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[pymethods]
impl Worker {
    #[new]
    fn create(py: Python<'_>, task: String, threads: usize) -> PyResult<Self> {
        released(py, || {
            let task = Task::read(&task).or_exception()?;
            let worker = BlockWorker::new(&task.settings, threads).or_exception()?;
            Ok(Self { worker: Mutex::new(worker) })
        })
    }

    /// The statistics of a block under the parameters of a view.
    fn answer<'py>(
        &self,
        py: Python<'py>,
        view: Bytes<'_>,
        block: Bytes<'_>,
    ) -> PyResult<Bound<'py, PyBytes>> {
        let (view, block) = (view.as_slice()?, block.as_slice()?);
        let statistics = released(py, || self.lock().answer(view, block).or_exception())?;
        Ok(PyBytes::new(py, &statistics))
    }

    /// The statistics of several blocks as those of one.
    fn merge<'py>(&self, py: Python<'py>, blocks: Vec<Bytes<'_>>) -> PyResult<Bound<'py, PyBytes>> {
        let blocks = blocks.iter().map(Bytes::as_slice).collect::<PyResult<Vec<&[u8]>>>()?;
        let merged = released(py, || self.lock().merge(blocks.iter().copied()).or_exception())?;
        Ok(PyBytes::new(py, &merged))
    }
}
