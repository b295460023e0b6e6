//! Follows the log record by record, never past its durable end.

use super::handle::{End, LogFollower};
use super::record::Record;
use super::segment::{Segment, checked};
use gibbstream::{Error, Result};
use std::fs::File;
use std::io::{BufRead, BufReader, Seek, SeekFrom};
use std::path::{Path, PathBuf};
use std::time::Duration;

/// What comes next.
#[derive(Debug)]
pub enum Next<'a> {
    /// A record.
    Record(Record<'a>),
    /// Nothing has come while it waited.
    Nothing,
}

/// Reads the log.
pub struct LogReader {
    folder: PathBuf,
    follower: LogFollower,
    segment: Segment,
    file: BufReader<File>,
    byte: u64,
    /// Up to here what the buffer holds may be used: beyond it stands what may still be taken back.
    trusted: u64,
    position: u64,
    line: Vec<u8>,
}

impl LogReader {
    /// Begins with the segment that holds the document at `position`, or that it will be written to.
    pub fn at(folder: &Path, follower: LogFollower, position: u64) -> Result<Self> {
        let (segments, end) = (Segment::list(folder)?, follower.end().documents);
        let refused = |problem: String| {
            let advice = "put the files of the log back that are missing, or begin in another folder";
            Error::setting(folder.display().to_string(), problem, advice)
        };
        if position > end {
            let problem = format!("the log ends after {end} documents, but {position} were learnt from");
            return Err(refused(problem));
        }
        let segment = segments.iter().rev().find(|segment| segment.first <= position);
        let segment = segment.cloned().ok_or_else(|| {
            refused(format!("document {position} is needed, and the log does not go back so far"))
        })?;
        let file = segment.open()?;
        let position = segment.first;
        Ok(Self {
            folder: folder.to_path_buf(),
            follower,
            segment,
            file,
            byte: 0,
            trusted: 0,
            position,
            line: Vec::new(),
        })
    }

    /// The next record, for which it waits a while.
    pub fn next(&mut self, patience: Duration) -> Result<Next<'_>> {
        let end = self.follower.wait_past(self.segment.first, self.byte, patience);
        if !self.read_line(&end)? {
            return Ok(Next::Nothing);
        }
        let record = checked(&self.line, self.position)
            .map_err(|problem| self.segment.damaged(self.byte, &problem))?;
        self.byte += self.line.len() as u64;
        self.position = record.end();
        Ok(Next::Record(record))
    }

    fn read_line(&mut self, end: &End) -> Result<bool> {
        loop {
            let is_last = self.segment.first == end.segment;
            if is_last && self.byte >= end.bytes {
                return Ok(false);
            }
            let failed = |source| Error::io(&self.segment.path, "read", source);
            if self.byte >= self.trusted {
                // Seeking empties the buffer.
                self.file.seek(SeekFrom::Start(self.byte)).map_err(failed)?;
                self.trusted = if is_last { end.bytes } else { u64::MAX };
            }
            self.line.clear();
            self.file.read_until(b'\n', &mut self.line).map_err(failed)?;
            if !self.line.is_empty() || is_last {
                return Ok(true);
            }
            // This segment is over.
            self.segment = Segment::new(&self.folder, self.position);
            self.file = self.segment.open()?;
            (self.byte, self.trusted) = (0, 0);
        }
    }
}
