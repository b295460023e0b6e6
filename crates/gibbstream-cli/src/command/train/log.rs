//! The log of a run: one JSON object per line, complete after every minibatch.

use gibbstream::Error;
use serde_json::Value;
use std::fs::File;
use std::io::{Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};

/// A log that is being written.
pub struct Log {
    file: File,
    path: PathBuf,
    bytes: u64,
}

impl Log {
    /// Starts a log after the first `keep` bytes of one that exists.
    pub fn open(path: &Path, keep: u64) -> gibbstream::Result<Self> {
        let open = || {
            let mut file = File::options().create(true).truncate(false).write(true).open(path)?;
            let bytes = keep.min(file.metadata()?.len());
            // Devices and pipes have no length.
            if file.metadata()?.is_file() {
                file.set_len(bytes)?;
                file.seek(SeekFrom::Start(bytes))?;
            }
            Ok((file, bytes))
        };
        let (file, bytes) = open().map_err(|source| Error::io(path, "write", source))?;
        Ok(Self { file, path: path.to_path_buf(), bytes })
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
