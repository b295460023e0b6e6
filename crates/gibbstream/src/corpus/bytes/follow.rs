//! A file that others still write to: at its end, reading waits for more, as `tail -F` does.
//!
//! A run that goes on looks for the file that it had been reading: under its own name, or under another one beside it if
//! it was rotated meanwhile. Files that were rotated in between (`log.2`, `log.1`) are read in their order.

use std::collections::VecDeque;
use std::fs::File;
use std::io::{self, Read};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use crate::corpus::bytes::trace::{InputPlace, Trace, identity};

/// Time between two looks for more.
const PAUSE: Duration = Duration::from_millis(100);

/// How long a file that has lost its name is still read, because whoever writes to it may not have noticed.
const LINGER: Duration = Duration::from_millis(500);

/// Reads a file that grows. When another file takes its name, or it is cut, reading goes on at the new beginning.
pub(crate) struct Followed {
    path: PathBuf,
    file: File,
    position: u64,
    /// Whether what was read so far ends with a line feed.
    line_is_over: bool,
    /// What comes after the file.
    next: VecDeque<File>,
    trace: Trace,
}

impl Followed {
    /// Begins at the beginning, or where `start` says.
    pub fn open(path: &Path, start: Option<&FollowStart>, trace: &Trace) -> io::Result<Self> {
        let mut files = VecDeque::new();
        let (first, offset) = start.map_or((path, 0), |start| (start.file.as_path(), start.offset));
        let (mut file, mut hasher) = (File::open(first)?, blake3::Hasher::new());
        // Reading what is passed over leaves the file at its place, and the hash complete.
        io::copy(&mut (&mut file).take(offset), &mut hasher)?;
        for path in start.iter().flat_map(|start| &start.after) {
            files.push_back(File::open(path)?);
        }
        trace.begin_at(Some(&file), offset, hasher);
        let (path, trace) = (path.to_path_buf(), trace.clone());
        Ok(Self { path, file, position: offset, line_is_over: true, next: files, trace })
    }

    /// What has the name now, if that is something else, or has been cut.
    fn replaced(&mut self) -> io::Result<Option<File>> {
        let now = match File::open(&self.path) {
            // Between the removal of the old file and the creation of the new one.
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
            other => other?,
        };
        let ((device, inode, size), (old_device, old_inode, _)) = (identity(&now)?, identity(&self.file)?);
        let is_other = (device, inode) != (old_device, old_inode);
        if is_other {
            self.wait_for_late_writers();
        }
        Ok((is_other || size < self.position).then_some(now))
    }

    fn wait_for_late_writers(&self) {
        let until = Instant::now() + LINGER;
        while Instant::now() < until && identity(&self.file).is_ok_and(|(_, _, size)| size <= self.position) {
            std::thread::sleep(PAUSE);
        }
    }

    /// Goes on with another file. A last line without an end must not run into its first line.
    fn go_on_with(&mut self, file: File, into: &mut [u8]) -> Option<usize> {
        let unfinished = !std::mem::replace(&mut self.line_is_over, true);
        if unfinished {
            into[0] = b'\n';
            self.trace.insert();
        }
        self.trace.begin(Some(&file));
        (self.file, self.position) = (file, 0);
        unfinished.then_some(1)
    }
}

impl Read for Followed {
    fn read(&mut self, into: &mut [u8]) -> io::Result<usize> {
        if into.is_empty() {
            return Ok(0);
        }
        loop {
            let count = self.file.read(into)?;
            if let Some(&last) = into[..count].last() {
                self.position += count as u64;
                self.line_is_over = last == b'\n';
                self.trace.add(&into[..count])?;
                return Ok(count);
            }
            if let Some(file) = self.next.pop_front() {
                if let Some(count) = self.go_on_with(file, into) {
                    return Ok(count);
                }
            } else if let Some(file) = self.replaced()? {
                // The old file is read once more before: it may have grown before it lost its name.
                self.next.push_back(file);
            } else {
                std::thread::sleep(PAUSE);
            }
        }
    }
}

/// Where a run that goes on begins to read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct FollowStart {
    /// The file that was being read, under the name that it has now.
    pub file: PathBuf,
    /// Where its next document begins.
    pub offset: u64,
    /// The files after it, the one with the name last.
    pub after: Vec<PathBuf>,
}

impl FollowStart {
    /// Finds the file again, and says so if something of it cannot be read.
    pub fn find(path: &Path, place: &InputPlace) -> io::Result<(Self, Option<String>)> {
        let offset = place.offset.unwrap_or(place.bytes);
        if place.is_beginning_of(path)? {
            return Ok((Self { file: path.to_path_buf(), offset, after: Vec::new() }, None));
        }
        if let Some(file) = rotated(path, place) {
            let mut after = between(path, &file);
            after.push(path.to_path_buf());
            return Ok((Self { file, offset, after }, None));
        }
        let what = if place.is_of(path) { "was cut" } else { "is another file" };
        let notice = format!(
            "{} {what} since it was read to byte {offset}, and the old one is not beside it: what was added to it \
             after that cannot be read; reading goes on at the beginning",
            path.display()
        );
        Ok((Self { file: path.to_path_buf(), offset: 0, after: Vec::new() }, Some(notice)))
    }
}

/// The file that was being read, if it is beside its old name and begins as it did: renamed, or copied before it was cut.
fn rotated(path: &Path, place: &InputPlace) -> Option<PathBuf> {
    let name = path.file_name()?.to_string_lossy().into_owned();
    let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
    let entries = folder.read_dir().ok()?.filter_map(Result::ok).map(|entry| entry.path());
    let is_like = |other: &Path| {
        other.file_name().is_some_and(|other| other.to_string_lossy().starts_with(&name)) || place.is_of(other)
    };
    let mut found: Vec<PathBuf> =
        entries.filter(|other| other.as_path() != path && other.is_file() && is_like(other)).collect();
    // The file itself before copies of it.
    found.sort_by_key(|other| !place.is_of(other));
    found.into_iter().find(|other| place.is_beginning_of(other).unwrap_or(false))
}

/// Files that were rotated after `file`, oldest first, if they are numbered: `log.2`, `log.1` after `log.3`.
fn between(path: &Path, file: &Path) -> Vec<PathBuf> {
    let numbered = |number: u32| {
        let mut name = path.as_os_str().to_owned();
        name.push(format!(".{number}"));
        PathBuf::from(name)
    };
    let last = (1..1000).find(|&number| file.file_name() == numbered(number).file_name()).unwrap_or(1);
    (1..last).rev().map(numbered).filter(|path| path.is_file()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::Write;

    fn read(followed: &mut Followed, length: usize) -> String {
        let mut bytes = vec![0; length];
        followed.read_exact(&mut bytes).unwrap();
        String::from_utf8(bytes).unwrap()
    }

    #[test]
    fn what_is_appended_replaced_or_cut_is_read() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("log");
        std::fs::write(&path, "one\n").unwrap();
        let mut followed = Followed::open(&path, None, &Trace::default()).unwrap();
        assert_eq!(read(&mut followed, 4), "one\n");
        let (writer, later) = (path.clone(), Duration::from_millis(250));
        let write = std::thread::spawn(move || {
            std::thread::sleep(later);
            File::options().append(true).open(&writer).unwrap().write_all(b"two").unwrap();
            std::thread::sleep(later);
            std::fs::rename(&writer, writer.with_extension("old")).unwrap();
            std::thread::sleep(later);
            std::fs::write(&writer, "three and more\n").unwrap();
        });
        assert_eq!(read(&mut followed, 19), "two\nthree and more\n");
        write.join().unwrap();
        std::fs::write(&path, "four\n").unwrap();
        assert_eq!(read(&mut followed, 5), "four\n");
    }

    #[test]
    fn a_file_is_found_again_after_rotations() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("log");
        let at = |name: &str| folder.path().join(name);
        std::fs::write(&path, "one\ntwo\n").unwrap();
        let trace = Trace::default();
        let taken = trace.count_taken();
        let mut followed = Followed::open(&path, None, &trace).unwrap();
        assert_eq!(read(&mut followed, 8), "one\ntwo\n");
        taken.store(4, std::sync::atomic::Ordering::Release);
        let place = trace.place(&path).unwrap();
        let start = |file: &str, offset, after: &[&str]| FollowStart {
            file: at(file),
            offset,
            after: after.iter().map(|name| at(name)).collect(),
        };
        let find = || FollowStart::find(&path, &place).unwrap();
        assert_eq!(find(), (start("log", 4, &[]), None));
        std::fs::rename(&path, at("log.1")).unwrap();
        std::fs::write(&path, "three\n").unwrap();
        assert_eq!(find(), (start("log.1", 4, &["log"]), None));
        std::fs::rename(at("log.1"), at("log.2")).unwrap();
        std::fs::rename(&path, at("log.1")).unwrap();
        std::fs::write(&path, "four\n").unwrap();
        assert_eq!(find(), (start("log.2", 4, &["log.1", "log"]), None));
        let mut followed = Followed::open(&path, Some(&find().0), &Trace::default()).unwrap();
        assert_eq!(read(&mut followed, 15), "two\nthree\nfour\n");
        // Copied and cut.
        std::fs::rename(at("log.2"), at("elsewhere")).unwrap();
        std::fs::copy(at("elsewhere"), at("log.1")).unwrap();
        std::fs::remove_file(at("elsewhere")).unwrap();
        assert_eq!(find(), (start("log.1", 4, &["log"]), None));
        std::fs::remove_file(at("log.1")).unwrap();
        let (begin, notice) = find();
        assert_eq!(begin, start("log", 0, &[]));
        assert!(notice.unwrap().ends_with("cannot be read; reading goes on at the beginning"));
    }
}
