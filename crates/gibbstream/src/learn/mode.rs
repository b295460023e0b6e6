//! File or stream: whether what is learnt from can be read again and has an end.

use serde::{Deserialize, Serialize};

/// What kind of input a model learns from. Methods have recommended settings for each.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Mode {
    /// It can be read again and has an end, so its documents are taken to be of one kind, whatever their order. Models
    /// that do not say were learnt in this way.
    #[default]
    File,
    /// It is read once and may never end, so what is said may change.
    Stream,
}
