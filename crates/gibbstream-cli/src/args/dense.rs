//! Settings of models of rows of numbers.

use super::train::TrainArgs;
use gibbstream::dense::DenseModel;
use gibbstream::learn::Settings;
use gibbstream::{Error, Result};

/// Flags of documents that mean nothing for rows of numbers.
const DOCUMENT_FLAGS: [&str; 12] = [
    "follow",
    "vocab",
    "vocab-mode",
    "max-vocab",
    "min-df",
    "max-df",
    "stop-words",
    "ngrams",
    "min-length",
    "no-lowercase",
    "text-field",
    "transpose",
];

impl TrainArgs {
    /// Whether the model is one of rows of numbers.
    pub fn is_dense(&self) -> bool {
        !["lda", "hdp"].contains(&self.model())
    }

    /// The settings of a model of rows of numbers; the number of columns is 1 until it is known.
    pub fn dense_settings(&self, base: Option<&DenseModel>) -> Result<Settings> {
        if let Some(flag) = DOCUMENT_FLAGS.iter().find(|flag| self.is_given(flag)) {
            let problem = format!("has no meaning for {{model}} {}", self.model());
            return Err(Error::setting(*flag, problem, "leave it out"));
        }
        self.knobs.settings(base.map(|base| &base.settings))
    }
}
