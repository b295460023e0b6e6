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

mod blocks;

mod files;

mod driver;

mod checkpoints;

mod program;

mod labelled;

mod report;

use pyo3::prelude::pymodule;

#[pymodule(name = "_core", gil_used = false)]
mod core {
    use pyo3::prelude::*;

    #[pymodule_export]
    use super::blocks::{Worker, pack, self_test};
    #[pymodule_export]
    use super::checkpoints::{CheckpointFolder, checkpoint_is_due, detach_checkpoints, save_checkpoint};
    #[pymodule_export]
    use super::comparison::{align, coherence, coherence_of_texts, score_difference};
    #[pymodule_export]
    use super::corpus::{Corpus, WordCounter, encode};
    #[pymodule_export]
    use super::driver::{Driver, Gathering, Minibatch};
    #[pymodule_export]
    use super::files::{Files, Packs};
    #[pymodule_export]
    use super::labelled::{labels, set_labels, shares_by, stability};
    #[pymodule_export]
    use super::model::Model;
    #[pymodule_export]
    use super::program::run_program;
    #[pymodule_export]
    use super::report::{mixtures_with_deviations, report};
    #[pymodule_export]
    use super::settings::{knobs_of, method_names, usual_passes};

    #[pymodule_init]
    fn init(module: &Bound<'_, PyModule>) -> PyResult<()> {
        module.add("__version__", env!("CARGO_PKG_VERSION"))
    }
}
