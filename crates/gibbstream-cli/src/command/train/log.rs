//! The log of a run: one JSON object per line, complete after every minibatch.

use gibbstream::Error;
use gibbstream::file::Destination;
use serde_json::Value;
use std::fs::File;
use std::io::Write;
use std::path::PathBuf;

/// A log that is being written.
pub struct Log {
    file: File,
    path: PathBuf,
    bytes: u64,
}

impl Log {
    /// Starts a log after the first `keep` bytes of one that exists.
    pub fn open(place: &Destination, keep: u64) -> gibbstream::Result<Self> {
        let (file, bytes) = place.append(keep)?;
        Ok(Self { file, path: place.path().to_path_buf(), bytes })
    }

    /// How much has been written.
    pub fn bytes(&self) -> u64 {
        self.bytes
    }

    /// Appends a line.
    pub fn write(&mut self, facts: &Value) -> gibbstream::Result<()> {
        let line = format!("{facts}\n");
        self.file.write_all(line.as_bytes()).map_err(|source| Error::io(&self.path, "write", source))?;
        self.bytes += line.len() as u64;
        Ok(())
    }
}
