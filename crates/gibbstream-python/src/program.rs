//! The `gibbstream` program, for those who installed the package.

use crate::error::released;
use pyo3::prelude::*;
use std::ffi::OsString;

/// Runs the program with the words of a command line, the first of which is its name, and returns its exit code.
#[pyfunction]
pub fn run_program(py: Python<'_>, words: Vec<OsString>) -> PyResult<u8> {
    released(py, || Ok(gibbstream_cli::main_with(words)))
}
