//! Copies of input that can be read only once, in the temporary folder.

use std::fs::File;
use std::io::{self, Write};
use std::path::{Path, PathBuf};

use crate::corpus::bytes::lines::Lines;
use crate::error::{Error, Place, Result};

/// What a copy may take on disk unless told otherwise.
pub const DEFAULT_SPOOL_BYTES: u64 = 64 << 30;

/// A temporary copy. On Linux it never has a name, so that nothing is left of it however the process ends.
pub(crate) struct Spool {
    file: File,
    #[cfg(not(target_os = "linux"))]
    name: tempfile::TempPath,
}

impl Spool {
    /// Copies the rest of `lines`, which messages call `name`; `packed` if its readers recognise compression by content.
    pub fn copy(name: &Path, lines: &mut Lines, packed: bool, limit: u64) -> Result<Self> {
        let folder = std::env::temp_dir();
        let failed = |error| Error::io(&folder, "write a temporary file", error);
        let mut spool = Self::new().map_err(failed)?;
        let mut file = Limited { file: &mut spool.file, left: limit };
        let copied = if packed {
            let mut encoder = zstd::Encoder::new(file, 1).map_err(failed)?;
            lines.copy_to(&mut encoder, &folder).and_then(|()| encoder.finish().map(drop).map_err(failed))
        } else {
            lines.copy_to(&mut file, &folder)
        };
        match copied {
            Err(Error::Io { source, .. }) if is_beyond_limit(&source) => Err(Error::corpus(
                Place::file(name),
                format!("its temporary copy in {} would be larger than {limit} bytes", folder.display()),
                "save it to a file and name the file, or allow a larger copy with {max-spool}",
            )),
            copied => copied.map(|()| spool),
        }
    }

    #[cfg(target_os = "linux")]
    fn new() -> io::Result<Self> {
        tempfile::tempfile().map(|file| Self { file })
    }

    #[cfg(not(target_os = "linux"))]
    fn new() -> io::Result<Self> {
        tempfile::NamedTempFile::new().map(|named| named.into_parts()).map(|(file, name)| Self { file, name })
    }

    /// A path under which this process can open it, as long as this value lives.
    #[cfg(target_os = "linux")]
    pub fn path(&self) -> PathBuf {
        use std::os::fd::AsRawFd;
        format!("/proc/self/fd/{}", self.file.as_raw_fd()).into()
    }

    #[cfg(not(target_os = "linux"))]
    pub fn path(&self) -> PathBuf {
        self.name.to_path_buf()
    }
}

/// Refuses to write more than so many bytes.
struct Limited<'a> {
    file: &'a mut File,
    left: u64,
}

impl Write for Limited<'_> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        if bytes.len() as u64 > self.left {
            return Err(io::ErrorKind::FileTooLarge.into());
        }
        let count = self.file.write(bytes)?;
        self.left -= count as u64;
        Ok(count)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.file.flush()
    }
}

/// Whether it was our limit; the system's own answers have numbers.
fn is_beyond_limit(error: &io::Error) -> bool {
    error.kind() == io::ErrorKind::FileTooLarge && error.raw_os_error().is_none()
}
