//! A request to end that reaches a run in the middle of a minibatch.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, OnceLock};
use std::time::{Duration, Instant};

/// How long a minibatch may go on after the request; one that takes longer is left out.
const GRACE: Duration = Duration::from_secs(5);

/// A request to end, shared with whoever makes it. Without one it costs a look at a flag for every observation.
#[derive(Clone, Debug, Default)]
pub struct Stop {
    requested: Arc<AtomicBool>,
    noticed: Arc<OnceLock<Instant>>,
}

impl Stop {
    /// The flag that makes the request, for signal handlers.
    pub fn requested(&self) -> Arc<AtomicBool> {
        self.requested.clone()
    }

    /// Whether the minibatch must be left out now.
    pub(crate) fn is_overdue(&self) -> bool {
        self.requested.load(Ordering::Relaxed) && self.noticed.get_or_init(Instant::now).elapsed() >= GRACE
    }
}
