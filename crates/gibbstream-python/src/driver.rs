//! The driver of a run whose E-steps run elsewhere: it cuts minibatches, hands out parameters, and absorbs statistics.

use crate::blocks::{Bytes, Task};
use crate::error::{OrException, released};
use crate::model::Model;
use gibbstream::learn::{AnyBatch, CutMinibatch, Gathered, Observation, StreamPosition, block, unpack};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::PyBytes;
use std::collections::VecDeque;
use std::sync::{Mutex, MutexGuard, PoisonError};

/// A minibatch that was cut.
#[pyclass(frozen, module = "gibbstream._core")]
pub struct Minibatch(CutMinibatch);

#[pymethods]
impl Minibatch {
    fn __len__(&self) -> usize {
        self.0.batch.len()
    }

    /// Up to so many blocks of about the same size.
    fn blocks<'py>(&self, py: Python<'py>, most: usize) -> Vec<Bound<'py, PyBytes>> {
        let (documents, most) = (self.0.batch.len(), most.max(1));
        let size = documents.div_ceil(most).max(1);
        let of = |start: usize| block(&self.0.batch, start..(start + size).min(documents));
        let blocks: Vec<Vec<u8>> = py.detach(|| (0..documents).step_by(size).map(of).collect());
        blocks.iter().map(|bytes| PyBytes::new(py, bytes)).collect()
    }
}

/// Statistics of blocks of a minibatch, merged as they come.
#[pyclass(frozen, module = "gibbstream._core")]
pub struct Gathering(Mutex<Option<Box<dyn Gathered>>>);

#[pymethods]
impl Gathering {
    fn add(&self, py: Python<'_>, statistics: Bytes<'_>) -> PyResult<()> {
        let statistics = statistics.as_slice()?;
        released(py, || {
            let mut gathered = self.0.lock().unwrap_or_else(PoisonError::into_inner);
            gathered.as_mut().ok_or_else(used_up)?.merge(statistics).or_exception()
        })
    }
}

fn used_up() -> PyErr {
    PyValueError::new_err("statistics: they have been absorbed already; gather those of the next minibatch")
}

/// Cuts what it is fed into minibatches, and learns from them in order.
#[pyclass(frozen, module = "gibbstream._core")]
pub struct Driver {
    model: Py<Model>,
    queue: Mutex<Queue>,
}

/// Observations that have not been cut yet, and where in the stream they begin.
struct Queue {
    waiting: VecDeque<Observation>,
    position: StreamPosition,
    /// Observations that have been cut, in all passes and earlier runs.
    seen: u64,
    /// Observations of this pass that were learnt from before a checkpoint.
    skip: u64,
}

impl Driver {
    fn queue(&self) -> MutexGuard<'_, Queue> {
        self.queue.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[pymethods]
impl Driver {
    /// For a model that has begun something; refuses settings whose E-step cannot be shared out.
    #[new]
    fn create(py: Python<'_>, model: Py<Model>, staleness: usize) -> PyResult<Self> {
        let (position, seen) = model.get().with(py, |state| {
            state.run.trainer().settings().check_blocks(staleness).or_exception()?;
            Ok((state.run.position(), state.run.trainer().clock().seen))
        })?;
        let queue = Queue { waiting: VecDeque::new(), position, seen, skip: position.documents };
        Ok(Self { model, queue: Mutex::new(queue) })
    }

    /// What workers must know, as text.
    fn task(&self, py: Python<'_>) -> PyResult<String> {
        let settings = self.model.get().with(py, |state| Ok(state.run.trainer().settings().clone()))?;
        let task = released(py, || Task::new(settings).or_exception())?;
        serde_json::to_string(&task).map_err(|error| PyValueError::new_err(error.to_string()))
    }

    /// The pass over the source that the run is in, from 0.
    #[getter]
    fn pass_(&self) -> u64 {
        self.queue().position.pass
    }

    /// Begins the next pass over the same source.
    fn next_pass(&self) {
        let mut queue = self.queue();
        queue.waiting.clear();
        queue.skip = 0;
        queue.position = StreamPosition { pass: queue.position.pass + 1, documents: 0, ..queue.position };
    }

    /// Takes packed observations. Those that were learnt from before a checkpoint are passed over.
    fn feed(&self, py: Python<'_>, packed: Bytes<'_>) -> PyResult<()> {
        let packed = packed.as_slice()?;
        released(py, || {
            let some = unpack(packed).or_exception()?;
            let mut queue = self.queue();
            let known = queue.skip.min(some.len() as u64);
            queue.skip -= known;
            queue.waiting.extend(some.into_iter().skip(known as usize));
            Ok(())
        })
    }

    /// Observations of this pass that a checkpoint has and the source has not given yet.
    #[getter]
    fn missing(&self) -> u64 {
        self.queue().skip
    }

    /// The next minibatch, if it is full; with `close` also one that is not.
    fn cut(&self, py: Python<'_>, close: bool) -> PyResult<Option<Minibatch>> {
        self.model.get().with(py, |state| {
            let mut queue = self.queue();
            let size = state.run.trainer().settings().minibatch_after(queue.seen);
            let count = queue.waiting.len().min(size);
            if count == 0 || (count < size && !close) {
                return Ok(None);
            }
            let some: Vec<Observation> = queue.waiting.drain(..count).collect();
            let unknown_tokens = some.iter().map(Observation::unknown_tokens).sum();
            let batch = AnyBatch::new(some, queue.position.next(), queue.position.pass).or_exception()?;
            queue.seen += count as u64;
            queue.position.documents += count as u64;
            Ok(Some(Minibatch(CutMinibatch {
                batch,
                new_words: None,
                unknown_tokens,
                position: queue.position,
                places: Vec::new(),
            })))
        })
    }

    /// The parameters of this moment for a minibatch.
    fn view<'py>(&self, py: Python<'py>, minibatch: &Minibatch) -> PyResult<Bound<'py, PyBytes>> {
        let view = self
            .model
            .get()
            .with(py, |state| state.learn_by(|run, _| run.view_bytes(&minibatch.0)).or_exception())?;
        Ok(PyBytes::new(py, &view))
    }

    /// A place for the statistics of the blocks of a minibatch.
    fn gather(&self, py: Python<'_>) -> PyResult<Gathering> {
        self.model.get().with(py, |state| Ok(Gathering(Mutex::new(Some(state.run.trainer().gather())))))
    }

    /// Learns from the statistics of all blocks of a minibatch. If something was learnt since their view was made, it must
    /// be given.
    #[pyo3(signature = (minibatch, gathering, stale_view=None))]
    fn absorb(
        &self,
        py: Python<'_>,
        minibatch: &Minibatch,
        gathering: &Gathering,
        stale_view: Option<Bytes<'_>>,
    ) -> PyResult<()> {
        let stale_view = stale_view.as_ref().map(Bytes::as_slice).transpose()?;
        self.model.get().with(py, |state| {
            let gathered = gathering.0.lock().unwrap_or_else(PoisonError::into_inner).take();
            let gathered = gathered.ok_or_else(used_up)?;
            let learnt =
                state.learn_by(|run, records| run.absorb(&minibatch.0, gathered, stale_view, records));
            learnt.map(drop).or_exception()
        })
    }

    /// Learns from a minibatch in this process.
    fn learn(&self, py: Python<'_>, minibatch: &Minibatch) -> PyResult<()> {
        self.model.get().with(py, |state| {
            state.learn_by(|run, records| run.learn(&minibatch.0, records)).map(drop).or_exception()
        })
    }
}
