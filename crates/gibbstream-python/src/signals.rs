//! Ctrl-C while the interpreter is released.

use gibbstream::Error;
use pyo3::prelude::*;
use std::time::{Duration, Instant};

/// Taking the interpreter back costs little, but not nothing.
const PATIENCE: Duration = Duration::from_millis(50);

/// Asks the interpreter now and then whether a signal came.
pub struct Signals {
    asked: Instant,
}

impl Signals {
    pub fn new() -> Self {
        Self { asked: Instant::now() }
    }

    /// The exception of a signal, if there was one.
    pub fn check(&mut self) -> PyResult<()> {
        if self.asked.elapsed() < PATIENCE {
            return Ok(());
        }
        self.asked = Instant::now();
        // The method itself is not general enough over lifetimes.
        #[allow(clippy::redundant_closure_for_method_calls)]
        Python::attach(|py| py.check_signals())
    }
}

/// Observations that end when a signal comes, for parts of the library that read to the end.
pub struct Watched<I> {
    items: I,
    signals: Signals,
    /// The exception of the signal.
    pub raised: Option<PyErr>,
}

impl<I> Watched<I> {
    pub fn new(items: I) -> Self {
        Self { items, signals: Signals::new(), raised: None }
    }
}

impl<T, I: Iterator<Item = gibbstream::Result<T>>> Iterator for Watched<I> {
    type Item = gibbstream::Result<T>;

    fn next(&mut self) -> Option<Self::Item> {
        match self.signals.check() {
            Ok(()) => self.items.next(),
            Err(raised) => {
                self.raised = Some(raised);
                Some(Err(Error::setting("signal", "the call was interrupted", "call again")))
            }
        }
    }
}
