//! Which iterates the reported parameters are the mean of (Polyak-Ruppert averaging), or only their word frequencies.

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
    /// The last topics of every word, and the mean frequency of every word over all documents. The running counts forget, so that
    /// topics can move on from where they started; how frequent words are needs no forgetting, and what is known of
    /// rare words is little enough.
    Frequencies,
    /// The same with frequencies that forget: those of about the last so many documents.
    RecentFrequencies(u64),
}

impl Averaging {
    /// Whether the parameters after `update` (counted from 1) enter the mean.
    pub fn includes(self, update: u64) -> bool {
        match self {
            Self::None | Self::Frequencies | Self::RecentFrequencies(_) => false,
            Self::Uniform => true,
            Self::Tail(first) => update >= first,
        }
    }

    /// Whether the frequencies of words are exchanged for those that were counted.
    pub fn counts_words(self) -> bool {
        matches!(self, Self::Frequencies | Self::RecentFrequencies(_))
    }

    /// Documents that counted frequencies remember, if they forget.
    pub fn word_memory(self) -> Option<u64> {
        if let Self::RecentFrequencies(memory) = self { Some(memory) } else { None }
    }

    /// Whether a mean of parameters is kept, which takes as much memory as the statistics. Frequencies are counted anyway.
    pub fn is_on(self) -> bool {
        matches!(self, Self::Uniform | Self::Tail(_))
    }
}
