//! How much of the log is kept.

use super::handle::Retention;
use super::segment::Segment;
use gibbstream::{Error, Result};
use std::path::Path;

/// Removes the oldest segments that are too many or too old, unless they will be read again.
pub(super) fn retain(folder: &Path, retention: Retention, position: u64) -> Result<()> {
    let Retention { bytes, age } = retention;
    let segments = Segment::list(folder)?;
    let metadata = |segment: &Segment| {
        segment.path.metadata().map_err(|source| Error::io(&segment.path, "read", source))
    };
    let mut total = 0;
    for segment in &segments {
        total += metadata(segment)?.len();
    }
    for pair in segments.windows(2) {
        let (segment, next) = (&pair[0], &pair[1]);
        if next.first > position {
            break;
        }
        let found = metadata(segment)?;
        let elapsed = found.modified().ok().and_then(|modified| modified.elapsed().ok());
        let is_old = age.zip(elapsed).is_some_and(|(age, elapsed)| elapsed > age);
        if !(is_old || bytes.is_some_and(|most| total > most)) {
            break;
        }
        std::fs::remove_file(&segment.path).map_err(|source| Error::io(&segment.path, "remove", source))?;
        total -= found.len();
        tracing::info!(file = %segment.path.display(), "a segment of the log that is not needed any more was removed");
    }
    Ok(())
}
