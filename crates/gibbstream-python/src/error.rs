//! Errors of the library as the exceptions that Python users expect, in the words of parameters.

use gibbstream::Error;
use gibbstream::learn::knobs::Knob;
use pyo3::PyErr;
use pyo3::exceptions::{
    PyFileNotFoundError, PyFloatingPointError, PyIsADirectoryError, PyOSError, PyPermissionError,
    PyRuntimeError, PyValueError,
};
use pyo3::prelude::*;
use std::io::ErrorKind;
use std::panic::{AssertUnwindSafe, catch_unwind};

/// What a setting is called in Python.
pub fn spelling(name: &str) -> String {
    Knob::by_name(name).map_or_else(|| name.replace('-', "_"), Knob::python)
}

/// The exception for an error.
pub fn exception(error: &Error) -> PyErr {
    let text = error.spelled(|name| Some(spelling(name)));
    match error {
        Error::Io { source, .. } => match source.kind() {
            ErrorKind::NotFound => PyFileNotFoundError::new_err(text),
            ErrorKind::PermissionDenied => PyPermissionError::new_err(text),
            ErrorKind::IsADirectory => PyIsADirectoryError::new_err(text),
            _ => PyOSError::new_err(text),
        },
        Error::NotFinite { .. } => PyFloatingPointError::new_err(text),
        _ => PyValueError::new_err(text),
    }
}

/// Turns results of the library into results for Python.
pub trait OrException<T> {
    /// The value, or the exception for the error.
    fn or_exception(self) -> PyResult<T>;
}

impl<T> OrException<T> for gibbstream::Result<T> {
    fn or_exception(self) -> PyResult<T> {
        self.map_err(|error| exception(&error))
    }
}

/// Runs `work` with the interpreter released, so that other Python threads go on. A fault of ours becomes an ordinary
/// exception too.
pub fn released<T: Send>(py: Python<'_>, work: impl FnOnce() -> PyResult<T> + Send) -> PyResult<T> {
    py.detach(|| {
        catch_unwind(AssertUnwindSafe(work)).unwrap_or_else(|_| {
            Err(PyRuntimeError::new_err(
                "stopped for a reason that should not exist; please report this with the settings",
            ))
        })
    })
}
