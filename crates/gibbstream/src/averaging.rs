//! Which iterates the reported parameters are the mean of (Polyak-Ruppert averaging).

use serde::{Deserialize, Serialize};

/// The reported parameters: the last ones, or a running mean. Training itself always goes on from the last.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub enum Averaging {
    /// The parameters after the last update.
    #[default]
    None,
    /// The mean over all updates.
    Uniform,
    /// The mean over the updates from this one on.
    Tail(u64),
}

impl Averaging {
    /// Whether the parameters after `update` (counted from 1) enter the mean.
    pub fn includes(self, update: u64) -> bool {
        match self {
            Self::None => false,
            Self::Uniform => true,
            Self::Tail(first) => update >= first,
        }
    }

    /// Whether a mean is kept at all.
    pub fn is_on(self) -> bool {
        self != Self::None
    }
}
