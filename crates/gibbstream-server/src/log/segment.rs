//! The files of the log.

use super::record::Record;
use gibbstream::{Error, Result};
use std::fs::File;
use std::io::{BufRead, BufReader};
use std::path::{Path, PathBuf};

const SUFFIX: &str = ".jsonl";

/// A file of the log.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Segment {
    /// The position of its first document.
    pub first: u64,
    pub path: PathBuf,
}

impl Segment {
    pub fn new(folder: &Path, first: u64) -> Self {
        Self { first, path: folder.join(format!("{first:020}{SUFFIX}")) }
    }

    /// All files of the log, oldest first.
    pub fn list(folder: &Path) -> Result<Vec<Self>> {
        let failed = |source| Error::io(folder, "read", source);
        let mut segments = Vec::new();
        for entry in folder.read_dir().map_err(failed)? {
            let path = entry.map_err(failed)?.path();
            let name = path.file_name().and_then(|name| name.to_str()).unwrap_or_default();
            let digits = name.strip_suffix(SUFFIX).filter(|digits| digits.len() == 20);
            if let Some(first) = digits.and_then(|digits| digits.parse().ok()) {
                segments.push(Self { first, path });
            }
        }
        segments.sort_unstable_by_key(|segment| segment.first);
        Ok(segments)
    }

    pub fn open(&self) -> Result<BufReader<File>> {
        let file = File::open(&self.path).map_err(|source| Error::io(&self.path, "open", source))?;
        Ok(BufReader::with_capacity(1 << 18, file))
    }

    /// Hands every record to `each` with the byte it begins at, until one is not whole. Returns where whole records end: the
    /// position, the byte, and what is wrong there if it is not the end of the file.
    pub fn scan(&self, mut each: impl FnMut(u64, &Record<'_>)) -> Result<(u64, u64, Option<String>)> {
        let (mut file, mut line) = (self.open()?, Vec::new());
        let (mut position, mut byte) = (self.first, 0);
        loop {
            line.clear();
            file.read_until(b'\n', &mut line).map_err(|source| Error::io(&self.path, "read", source))?;
            if line.is_empty() {
                return Ok((position, byte, None));
            }
            let record = match checked(&line, position) {
                Ok(record) => record,
                Err(problem) => return Ok((position, byte, Some(problem))),
            };
            each(byte, &record);
            position = record.end();
            byte += line.len() as u64;
        }
    }

    /// Says that something in the file cannot be used.
    pub fn damaged(&self, byte: u64, problem: &str) -> Error {
        Error::setting(
            self.path.display().to_string(),
            format!("the log is damaged at byte {byte}: {problem}"),
            format!(
                "put the file back from a copy; `truncate -s {byte}` loses this record and all that follow it"
            ),
        )
    }
}

/// A whole record with its line break, at the position where it should be.
pub fn checked(line: &[u8], position: u64) -> Result<Record<'_>, String> {
    let line = line.strip_suffix(b"\n").ok_or("the record has no end")?;
    let record = Record::read(line)?;
    if record.position == position {
        Ok(record)
    } else {
        Err(format!("it is for document {}, not {position}", record.position))
    }
}

/// Reads the bytes of a segment that begins with document 0, as recovery does: the number of documents in whole records.
/// For tests of hostile bytes.
pub fn check_segment(bytes: &[u8]) -> u64 {
    let mut position = 0;
    for line in bytes.split_inclusive(|&byte| byte == b'\n') {
        match checked(line, position) {
            Ok(record) => position = record.end(),
            Err(_) => break,
        }
    }
    position
}
