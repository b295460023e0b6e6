//! What was read of an input, so that a run that goes on can tell whether it is still the same.

use std::collections::VecDeque;
use std::fs::File;
use std::io::{self, Read};
use std::path::Path;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use serde::{Deserialize, Serialize};

/// How far an input was read, and what identifies it. Checkpoints keep it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct InputPlace {
    /// As the user named it.
    pub name: String,
    /// The device that the file is on; 0 for standard input and where the system does not tell.
    pub device: u64,
    /// Its number on the device.
    pub inode: u64,
    /// Its size when it was opened.
    pub size: u64,
    /// Bytes at its beginning that were read,
    pub bytes: u64,
    /// and the BLAKE3 hash of them.
    pub hash: String,
    /// Where the next document begins, if the file is followed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub offset: Option<u64>,
}

impl InputPlace {
    /// Whether a file begins with the bytes that were read.
    pub(crate) fn is_beginning_of(&self, path: &Path) -> io::Result<bool> {
        Ok(hash_of_beginning(path, self.bytes)?.is_some_and(|hash| hash == self.hash))
    }

    /// Whether it is the file itself, whatever its name and content are now.
    pub(crate) fn is_of(&self, path: &Path) -> bool {
        let found = File::open(path).and_then(|file| identity(&file));
        found.is_ok_and(|(device, inode, _)| (device, inode) == (self.device, self.inode) && inode != 0)
    }
}

/// The hash of the first bytes of a file; `None` if it has fewer.
fn hash_of_beginning(path: &Path, bytes: u64) -> io::Result<Option<String>> {
    let mut hasher = blake3::Hasher::new();
    let read = io::copy(&mut File::open(path)?.take(bytes), &mut hasher)?;
    Ok((read == bytes).then(|| hasher.finalize().to_hex().to_string()))
}

/// The place at the end of a whole file, for formats that are not read from the top.
pub(crate) fn whole_file(name: &Path, path: &Path) -> io::Result<InputPlace> {
    let (device, inode, size) = identity(&File::open(path)?)?;
    let hash = hash_of_beginning(path, size)?.unwrap_or_default();
    Ok(InputPlace { name: text(name), device, inode, size, bytes: size, hash, offset: None })
}

/// The name of an input as checkpoints keep it.
pub(crate) fn text(name: &Path) -> String {
    name.to_string_lossy().into_owned()
}

/// Device, number and size of a file.
#[cfg(unix)]
pub(crate) fn identity(file: &File) -> io::Result<(u64, u64, u64)> {
    use std::os::unix::fs::MetadataExt;
    file.metadata().map(|found| (found.dev(), found.ino(), found.len()))
}

/// Elsewhere files have no numbers, and only what they contain is compared.
#[cfg(not(unix))]
pub(crate) fn identity(file: &File) -> io::Result<(u64, u64, u64)> {
    file.metadata().map(|found| (0, 0, found.len()))
}

/// What an input has given so far; copies share it.
#[derive(Clone, Debug, Default)]
pub(crate) struct Trace(Arc<Mutex<Traced>>);

#[derive(Debug, Default)]
struct Traced {
    /// The files that are being read: a followed input may be ahead of its documents by more than one.
    files: VecDeque<FileTrace>,
    /// Bytes so far.
    passed: u64,
    /// The furthest place of an earlier reading.
    furthest: Option<InputPlace>,
    /// What the first bytes must be, as long as they have not been compared.
    expected: Option<InputPlace>,
    /// They are something else.
    differs: bool,
    /// Bytes whose documents have been handed out, if somebody counts them.
    taken: Option<Arc<AtomicU64>>,
}

#[derive(Debug, Default)]
struct FileTrace {
    device: u64,
    inode: u64,
    size: u64,
    /// Bytes of the input before it.
    start: u64,
    /// Bytes of the file before those that were read: they are hashed too.
    skipped: u64,
    bytes: u64,
    hasher: blake3::Hasher,
}

impl FileTrace {
    fn place(&self, name: &Path, taken: Option<u64>) -> InputPlace {
        let Self { device, inode, size, bytes, .. } = *self;
        let hash = self.hasher.finalize().to_hex().to_string();
        let offset = taken.map(|taken| (self.skipped + taken.saturating_sub(self.start)).min(bytes));
        InputPlace { name: text(name), device, inode, size, bytes, hash, offset }
    }
}

impl Trace {
    /// An input whose first bytes must be those of a place.
    pub fn expecting(place: InputPlace) -> Self {
        Self(Arc::new(Mutex::new(Traced { expected: Some(place), ..Traced::default() })))
    }

    fn locked(&self) -> MutexGuard<'_, Traced> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// What was read so far was only looked at, and does not count.
    pub fn forget(&self) {
        *self.locked() = Traced::default();
    }

    /// The input is read from its top again.
    pub fn restart(&self, name: &Path) {
        let furthest = self.place(name);
        *self.locked() = Traced { furthest, ..Traced::default() };
    }

    /// Bytes come from another file, or from something that is none.
    pub fn begin(&self, file: Option<&File>) {
        self.begin_at(file, 0, blake3::Hasher::new());
    }

    /// The same from the middle of a file on, the hash of whose beginning is known.
    pub fn begin_at(&self, file: Option<&File>, skipped: u64, hasher: blake3::Hasher) {
        let (device, inode, size) = file.and_then(|file| identity(file).ok()).unwrap_or_default();
        let mut traced = self.locked();
        let start = traced.passed;
        traced.files.push_back(FileTrace { device, inode, size, start, skipped, bytes: skipped, hasher });
    }

    /// A byte was put in that no file has.
    pub fn insert(&self) {
        self.locked().passed += 1;
    }

    /// The next bytes.
    pub fn add(&self, bytes: &[u8]) -> io::Result<()> {
        let mut traced = self.locked();
        let Traced { files, passed, expected, differs, .. } = &mut *traced;
        let Some(file) = files.back_mut() else { return Ok(()) };
        let before = file.bytes;
        file.bytes += bytes.len() as u64;
        *passed += bytes.len() as u64;
        if let Some(place) = expected.take_if(|place| place.bytes <= file.bytes) {
            let (first, rest) = bytes.split_at((place.bytes - before) as usize);
            file.hasher.update(first);
            if file.hasher.finalize().to_hex().as_str() != place.hash {
                *differs = true;
                return Err(io::Error::new(io::ErrorKind::InvalidData, CHANGED));
            }
            file.hasher.update(rest);
        } else {
            file.hasher.update(bytes);
        }
        Ok(())
    }

    /// Whether what was to be compared was, and is the same. Until then nothing that comes of it may be kept.
    pub fn is_confirmed(&self) -> bool {
        let traced = self.locked();
        traced.expected.is_none() && !traced.differs
    }

    /// There are no more bytes. An input that ends before it can be compared is not the one of before.
    pub fn end(&self) -> io::Result<()> {
        let traced = self.locked();
        let read = traced.files.back().map_or(0, |file| file.bytes);
        match &traced.expected {
            Some(place) if place.bytes > read => Err(io::Error::new(io::ErrorKind::InvalidData, CHANGED)),
            _ => Ok(()),
        }
    }

    /// A counter for the bytes whose documents have been handed out; from now on places tell where the next one begins.
    pub fn count_taken(&self) -> Arc<AtomicU64> {
        self.locked().taken.get_or_insert_default().clone()
    }

    /// How far the input was read; `None` if it was not.
    pub fn place(&self, name: &Path) -> Option<InputPlace> {
        let mut traced = self.locked();
        let taken = traced.taken.as_ref().map(|taken| taken.load(Ordering::Acquire));
        if let Some(taken) = taken {
            while traced.files.get(1).is_some_and(|next| next.start <= taken) {
                traced.files.pop_front();
            }
        }
        let here = traced.files.front().map(|file| file.place(name, taken));
        let further = |place: &InputPlace| here.as_ref().is_none_or(|here| here.bytes < place.bytes);
        traced.furthest.clone().filter(further).or(here)
    }
}

/// What is said of an input that is not what it was before, and the two ways out.
pub(crate) const CHANGED: &str = "does not begin with what the run has learnt from";
pub(crate) const CHANGED_ADVICE: &str =
    "give the same input as before to continue, or another folder to {checkpoint} to start again with this one";

/// A reader whose bytes are traced.
pub(crate) struct TracedReader<R> {
    reader: R,
    trace: Trace,
}

impl<R> TracedReader<R> {
    pub fn new(reader: R, trace: &Trace) -> Self {
        Self { reader, trace: trace.clone() }
    }
}

impl<R: Read> Read for TracedReader<R> {
    fn read(&mut self, into: &mut [u8]) -> io::Result<usize> {
        let count = self.reader.read(into)?;
        if count == 0 && !into.is_empty() {
            self.trace.end()?;
        }
        self.trace.add(&into[..count])?;
        Ok(count)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_read_is_recognised_however_it_came() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("in");
        std::fs::write(&path, "one two three four").unwrap();
        for chunk in [1, 3, 100] {
            let trace = Trace::default();
            assert_eq!(trace.place(&path), None);
            trace.begin(Some(&File::open(&path).unwrap()));
            b"one two".chunks(chunk).for_each(|some| trace.add(some).unwrap());
            let place = trace.place(&path).unwrap();
            assert_eq!((place.bytes, place.size, place.offset), (7, 18, None));
            assert!(place.is_beginning_of(&path).unwrap() && place.is_of(&path));
            // A second reading that has not come so far knows less.
            trace.restart(&path);
            trace.begin(None);
            trace.add(b"one").unwrap();
            assert_eq!(trace.place(&path).unwrap(), place);
            let again = Trace::expecting(place.clone());
            again.begin(None);
            assert!(again.add(b"one").is_ok() && !again.is_confirmed());
            assert!(b" two three".chunks(chunk).all(|some| again.add(some).is_ok()) && again.is_confirmed());
            let other = Trace::expecting(place.clone());
            other.begin(None);
            assert!(b"one TWO three".chunks(chunk).any(|some| other.add(some).is_err()) && !other.is_confirmed());
            // What ends too early is not the same either, whatever it has.
            for (content, is_same) in [(&b"one tw"[..], false), (b"", false), (b"one two", true)] {
                let shorter = TracedReader::new(content, &Trace::expecting(place.clone()));
                shorter.trace.begin(None);
                assert_eq!(io::copy(&mut { shorter }, &mut io::sink()).is_ok(), is_same, "{content:?}");
            }
        }
    }

    #[test]
    fn the_place_of_a_followed_input_is_in_the_file_of_its_next_document() {
        let trace = Trace::default();
        let taken = trace.count_taken();
        let offset = |name: &str| trace.place(Path::new(name)).map(|place| (place.bytes, place.offset.unwrap()));
        trace.begin(None);
        trace.add(b"one\ntwo").unwrap();
        trace.insert();
        trace.begin(None);
        trace.add(b"three\n").unwrap();
        for (bytes, expected) in [(0, (7, 0)), (4, (7, 4)), (8, (6, 0)), (14, (6, 6))] {
            taken.store(bytes, Ordering::Release);
            assert_eq!(offset("a"), Some(expected), "{bytes}");
        }
    }
}
