//! Where results go. Nothing is ever destroyed but what this program wrote before: a file that holds something else, or
//! that is being read, is refused.

use super::new_file::NewFile;
use crate::error::{Error, Result};
use std::fs::{File, Metadata};
use std::io::{self, Read, Seek, SeekFrom};
use std::path::{Path, PathBuf};

/// Bytes at the beginning of a file that tell what it is.
const PEEKED_BYTES: u64 = 1 << 20;

/// What is written, and so what may be replaced.
#[derive(Clone, Copy, Debug)]
pub struct Kind {
    /// What messages call it, such as "a model".
    pub name: &'static str,
    /// Whether a file that begins with these bytes is one.
    pub recognise: fn(&[u8]) -> bool,
}

impl Kind {
    /// A model or a checkpoint.
    pub const MODEL: Self =
        Self { name: "a model", recognise: |start| has(start, 8, br#"{"__metadata__":{"gibbstream":""#) };
    /// The log of a training run.
    pub const LOG: Self = Self { name: "a training log", recognise: is_log };
    /// An array for NumPy.
    pub const NPY: Self = Self { name: "a NumPy array", recognise: |start| has(start, 0, b"\x93NUMPY") };
    /// A manual page.
    pub const MANUAL: Self =
        Self { name: "a manual page", recognise: |start| has(start, 0, br".ie \n(.g .ds Aq") };
}

fn has(bytes: &[u8], at: usize, what: &[u8]) -> bool {
    bytes.get(at..).is_some_and(|rest| rest.starts_with(what))
}

fn is_log(start: &[u8]) -> bool {
    let line = start.split(|&byte| byte == b'\n').next().unwrap_or_default();
    // A line that is longer than what was peeked at cannot be parsed; its fields are in the order of their names.
    let whole = serde_json::from_slice::<serde_json::Value>(line);
    let kind = |value: &serde_json::Value| value["kind"].as_str().map(str::to_owned);
    let kinds = ["minibatch", "birth", "evaluation"];
    match whole {
        Ok(value) => kind(&value).is_some_and(|kind| kinds.contains(&kind.as_str())),
        Err(_) => line.starts_with(b"{") && String::from_utf8_lossy(line).contains(r#""kind":""#),
    }
}

/// A place for a result.
#[derive(Clone, Debug)]
pub struct Destination {
    path: PathBuf,
    kind: Kind,
    force: bool,
}

impl Destination {
    /// `path` is to hold something of a kind. With `force` it may hold anything now.
    pub fn new(path: impl Into<PathBuf>, kind: Kind, force: bool) -> Self {
        Self { path: path.into(), kind, force }
    }

    /// As the user named it.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Refuses a place that cannot or must not be written to, before any work is done for it: `inputs` are being read.
    pub fn check(&self, inputs: &[PathBuf]) -> Result<()> {
        if !self.force {
            self.check_inputs(inputs)?;
        }
        match existing(&self.path)? {
            // Opening a pipe would wait for its reader.
            Some(found) if !found.is_file() => self.check_content(&found),
            _ => self.create().map(drop),
        }
    }

    /// The same for something that is written while the inputs are being read: no flag makes that sensible.
    pub fn check_beside(&self, inputs: &[PathBuf]) -> Result<()> {
        self.check_inputs(inputs)?;
        self.check(&[])
    }

    /// Begins to write. A regular file appears when it is complete; devices and pipes are written to as it goes.
    pub fn create(&self) -> Result<NewFile> {
        if let Some(found) = existing(&self.path)? {
            self.check_content(&found)?;
        }
        NewFile::create(&self.path)
    }

    /// Opens it to write after its first `keep` bytes, and tells how many of them there are.
    pub fn append(&self, keep: u64) -> Result<(File, u64)> {
        if let Some(found) = existing(&self.path)? {
            self.check_content(&found)?;
        }
        let open = || {
            let mut file = File::options().create(true).truncate(false).write(true).open(&self.path)?;
            let metadata = file.metadata()?;
            let bytes = keep.min(metadata.len());
            // Devices and pipes have no length.
            if metadata.is_file() {
                file.set_len(bytes)?;
                file.seek(SeekFrom::Start(bytes))?;
            }
            Ok((file, bytes))
        };
        open().map_err(|source| Error::io(&self.path, "write", source))
    }

    fn check_inputs(&self, inputs: &[PathBuf]) -> Result<()> {
        if inputs.iter().any(|input| is_same_file(input, &self.path)) {
            return Err(Error::output(&self.path, "is an input and would be overwritten", "name another file"));
        }
        Ok(())
    }

    /// Refuses to replace what is not of the kind.
    fn check_content(&self, found: &Metadata) -> Result<()> {
        let refuse = |problem: String| {
            Err(Error::output(&self.path, problem, "name another file, or overwrite it with {force}"))
        };
        if found.is_dir() {
            return Err(Error::io(&self.path, "write", io::ErrorKind::IsADirectory.into()));
        }
        if self.force {
            return Ok(());
        }
        if is_disk(found) {
            return refuse("is a disk".into());
        }
        if !found.is_file() || found.len() == 0 {
            return Ok(());
        }
        match start_of(&self.path) {
            Ok(start) if (self.kind.recognise)(&start) => Ok(()),
            Ok(_) => refuse(format!("holds something else than {}", self.kind.name)),
            Err(error) => refuse(format!("cannot be read to see whether it is {} ({error})", self.kind.name)),
        }
    }
}

/// Makes a folder if need be for files with these names. If it has one of them already, it must be a folder that
/// `is_ours` knows, or else they are somebody else's.
pub fn claim_folder(
    path: &Path,
    names: &[impl AsRef<Path>],
    is_ours: impl FnOnce(&Path) -> bool,
    force: bool,
) -> Result<()> {
    let foreign = names.iter().map(|name| path.join(name)).find(|file| file.symlink_metadata().is_ok());
    if let Some(file) = foreign.filter(|_| !force && !is_ours(path)) {
        let advice = "name another folder, or overwrite it with {force}";
        return Err(Error::output(file, "exists already, and this command did not write it", advice));
    }
    std::fs::create_dir_all(path).map_err(|source| Error::io(path, "create", source))
}

/// Whether a file is there and of the kind.
pub fn is_of_kind(path: &Path, kind: Kind) -> bool {
    start_of(path).is_ok_and(|start| (kind.recognise)(&start))
}

fn start_of(path: &Path) -> io::Result<Vec<u8>> {
    let mut start = Vec::new();
    File::open(path)?.take(PEEKED_BYTES).read_to_end(&mut start)?;
    Ok(start)
}

/// What has the name now, if anything has; symbolic links are followed.
fn existing(path: &Path) -> Result<Option<Metadata>> {
    match path.metadata() {
        Ok(found) => Ok(Some(found)),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
        Err(error) => Err(Error::io(path, "write", error)),
    }
}

#[cfg(unix)]
fn is_disk(found: &Metadata) -> bool {
    use std::os::unix::fs::FileTypeExt;
    found.file_type().is_block_device()
}

#[cfg(not(unix))]
fn is_disk(_: &Metadata) -> bool {
    false
}

/// Whether two names are of one regular file, by links of any kind too.
#[cfg(unix)]
fn is_same_file(a: &Path, b: &Path) -> bool {
    use std::os::unix::fs::MetadataExt;
    let identity = |path: &Path| {
        path.metadata().ok().filter(Metadata::is_file).map(|found| (found.dev(), found.ino()))
    };
    identity(a).is_some_and(|a| identity(b) == Some(a))
}

#[cfg(not(unix))]
fn is_same_file(a: &Path, b: &Path) -> bool {
    a.is_file() && a.canonicalize().ok().is_some_and(|a| b.canonicalize().ok() == Some(a))
}
