//! Records that cannot be read: refused, or passed over and counted.

use std::collections::BTreeMap;
use std::sync::{Mutex, PoisonError};

use crate::error::{Error, Result};

/// What happens to bad records, and how many there were of each kind.
#[derive(Debug, Default)]
pub(crate) struct BadRecords {
    skip: bool,
    counts: Mutex<BTreeMap<&'static str, u64>>,
}

impl BadRecords {
    /// Passes over them if `skip` is set.
    pub fn new(skip: bool) -> Self {
        Self { skip, counts: Mutex::default() }
    }

    /// Whether bad records are passed over.
    pub fn are_skipped(&self) -> bool {
        self.skip
    }

    /// Counts the record and lets reading go on, or gives the error back.
    pub fn pass_over(&self, error: Error) -> Result<()> {
        match error {
            Error::Corpus { record: Some(kind), .. } if self.skip => {
                *self.counts.lock().unwrap_or_else(PoisonError::into_inner).entry(kind).or_default() += 1;
                Ok(())
            }
            other => Err(other),
        }
    }

    /// Forgets what was counted, because the input is read from its top.
    pub fn restart(&self) {
        self.counts.lock().unwrap_or_else(PoisonError::into_inner).clear();
    }

    /// Numbers by kind.
    pub fn counts(&self) -> BTreeMap<&'static str, u64> {
        self.counts.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }
}
