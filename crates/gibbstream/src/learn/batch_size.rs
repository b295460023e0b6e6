//! How many documents a minibatch has: always the same number, or more as the run goes on.

use crate::error::{Error, Result};
use serde::{Deserialize, Serialize};
use std::fmt::{self, Display, Formatter};
use std::str::FromStr;

/// Documents in a minibatch: `least` at first, and at most `most`. Written `100`, or `100..1000` where they grow.
///
/// While topics form, many small updates are worth more than few large ones. Later minibatches can grow with what was
/// seen before without a loss, and large ones keep many threads busy.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(into = "StoredSize", try_from = "StoredSize")]
pub struct BatchSize {
    /// Documents in the first minibatches.
    pub least: usize,
    /// Documents in the largest ones.
    pub most: usize,
}

/// A minibatch that grows has this part of the documents seen before: docs/results/defaults.md compares it with
/// minibatches that do not grow.
const PART: u64 = 20;

impl BatchSize {
    /// Always the same number.
    pub const fn of(documents: usize) -> Self {
        Self { least: documents, most: documents }
    }

    /// Whether minibatches become larger.
    pub fn grows(self) -> bool {
        self.most > self.least
    }

    /// Documents in the next minibatch, after `seen` documents.
    pub fn after(self, seen: u64) -> usize {
        usize::try_from(seen / PART).unwrap_or(usize::MAX).min(self.most).max(self.least)
    }

    /// Refuses sizes that make no sense.
    pub fn validate(self) -> Result<()> {
        if self.least == 0 {
            return Err(Error::setting("batch", "a minibatch has at least one document", "choose 1 or more"));
        }
        if self.most < self.least {
            let advice = "put the smaller number first, as in 100..1000";
            return Err(Error::setting("batch", format!("{self} does not grow"), advice));
        }
        Ok(())
    }
}

impl Display for BatchSize {
    fn fmt(&self, out: &mut Formatter<'_>) -> fmt::Result {
        match self {
            Self { least, most } if least == most => write!(out, "{least}"),
            Self { least, most } => write!(out, "{least}..{most}"),
        }
    }
}

impl FromStr for BatchSize {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let number = |text: &str| text.parse::<usize>().ok();
        let size = match text.split_once("..") {
            Some((least, most)) => number(least).zip(number(most)),
            None => number(text).map(|documents| (documents, documents)),
        };
        let (least, most) =
            size.ok_or("give a number of documents such as 100, or 100..1000 for minibatches that grow")?;
        Ok(Self { least, most })
    }
}

/// In files and JSON: a number, or a text where minibatches grow.
#[derive(Clone, Serialize, Deserialize)]
#[serde(untagged)]
enum StoredSize {
    Always(usize),
    Growing(String),
}

impl From<BatchSize> for StoredSize {
    fn from(size: BatchSize) -> Self {
        if size.least == size.most { Self::Always(size.least) } else { Self::Growing(size.to_string()) }
    }
}

impl TryFrom<StoredSize> for BatchSize {
    type Error = String;

    fn try_from(written: StoredSize) -> Result<Self, String> {
        match written {
            StoredSize::Always(documents) => Ok(Self::of(documents)),
            StoredSize::Growing(text) => text.parse(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn minibatches_have_a_twentieth_of_what_was_seen_between_their_bounds() {
        let growing: BatchSize = "100..1000".parse().unwrap();
        for (seen, documents) in
            [(0, 100), (2_000, 100), (2_019, 100), (2_020, 101), (10_000, 500), (u64::MAX, 1_000)]
        {
            assert_eq!(growing.after(seen), documents, "after {seen}");
            assert_eq!(BatchSize::of(100).after(seen), 100);
        }
    }

    #[test]
    fn sizes_are_written_as_they_are_read() {
        for (text, json) in [("100", "100"), ("10..1000", "\"10..1000\"")] {
            let size: BatchSize = text.parse().unwrap();
            assert_eq!(size.to_string(), text);
            assert_eq!(serde_json::to_string(&size).unwrap(), json);
            assert_eq!(serde_json::from_str::<BatchSize>(json).unwrap(), size);
            size.validate().unwrap();
        }
        assert_eq!("7..7".parse::<BatchSize>().unwrap(), BatchSize::of(7));
    }

    #[test]
    fn sizes_without_a_meaning_are_refused() {
        for text in ["", "..", "10..", "..10", "-1", "1.5", "a..b", "1..2..3"] {
            assert!(text.parse::<BatchSize>().unwrap_err().contains("100..1000"), "{text}");
        }
        for text in ["0", "0..10", "10..9"] {
            assert!(text.parse::<BatchSize>().unwrap().validate().is_err(), "{text}");
        }
    }
}
