//! The compiled part of the Python package: arrays and texts in, the engine of the library, arrays out.
//!
//! Everything that Python users see is written in Python on top of it (`python/gibbstream`). Work is done with the
//! interpreter released; it is asked for signals between minibatches, so Ctrl-C ends every call soon.

// Arguments from Python are owned values.
#![allow(clippy::needless_pass_by_value)]

mod error;

mod signals;

mod rows;

mod written;

mod corpus;

mod settings;

mod records;

mod state;

mod model;

mod inference;

mod comparison;

use pyo3::prelude::pymodule;

#[pymodule(name = "_core", gil_used = false)]
mod core {
    use pyo3::prelude::*;

    #[pymodule_export]
    use super::comparison::{align, coherence, coherence_of_texts, score_difference};
    #[pymodule_export]
    use super::corpus::Corpus;
    #[pymodule_export]
    use super::model::Model;
    #[pymodule_export]
    use super::settings::{knobs_of, method_names, usual_passes};

    #[pymodule_init]
    fn init(module: &Bound<'_, PyModule>) -> PyResult<()> {
        module.add("__version__", env!("CARGO_PKG_VERSION"))
    }
}
