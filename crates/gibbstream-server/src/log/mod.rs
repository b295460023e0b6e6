//! The log of accepted documents: the truth that everything else is computed from.
//!
//! A folder of segment files, each named after the position of its first document. A record is a line of JSON with a
//! checksum (`record.rs`). Records are only ever appended, by one thread (`writer.rs`), which makes them durable before
//! anybody is told that they were accepted. Whoever follows the log sees durable records only (`reader.rs`). A record
//! that was being written when the process ended is cut off at the next start (`recovery.rs`).

mod handle;

mod keys;

mod reader;

mod record;

mod recovery;

mod retention;

mod segment;

mod writer;

pub use handle::{Append, End, Fsync, LogFollower, LogHandle, Refusal, Retention, WriterOptions};
pub use keys::Accepted;
pub use reader::{LogReader, Next};
pub use record::{Entry, Record, fingerprint};
pub use recovery::open;
pub use segment::check_segment;

use std::time::{SystemTime, UNIX_EPOCH};

/// Milliseconds since 1970.
pub fn now_millis() -> u64 {
    SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |since| since.as_millis() as u64)
}

#[cfg(test)]
mod tests;
