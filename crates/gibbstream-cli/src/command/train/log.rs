//! The log of a run: one JSON object per line, complete after every minibatch.

use gibbstream::Error;
use serde_json::Value;
use std::fs::File;
use std::io::Write;
use std::path::{Path, PathBuf};

/// A log that is being written.
pub struct Log {
    file: File,
    path: PathBuf,
}

impl Log {
    /// Starts a new log; one that exists is replaced.
    pub fn create(path: &Path) -> gibbstream::Result<Self> {
        let file = File::create(path).map_err(|source| Error::io(path, "write", source))?;
        Ok(Self { file, path: path.to_path_buf() })
    }

    /// Appends a line.
    pub fn write(&mut self, facts: &Value) -> gibbstream::Result<()> {
        let line = format!("{facts}\n");
        self.file.write_all(line.as_bytes()).map_err(|source| Error::io(&self.path, "write", source))
    }
}
