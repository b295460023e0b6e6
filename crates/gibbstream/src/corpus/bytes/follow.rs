//! A file that others still write to: at its end, reading waits for more, as `tail -F` does.

use std::fs::File;
use std::io::{self, Read};
use std::path::{Path, PathBuf};
use std::time::Duration;

/// Time between two looks for more.
const PAUSE: Duration = Duration::from_millis(100);

/// Reads a file that grows. When another file takes its name, or it is cut, reading goes on at the new beginning.
pub(crate) struct Followed {
    path: PathBuf,
    file: File,
    position: u64,
    /// Whether what was read so far ends with a line feed.
    line_is_over: bool,
}

impl Followed {
    /// Begins at the beginning.
    pub fn open(path: &Path) -> io::Result<Self> {
        Ok(Self { path: path.to_path_buf(), file: File::open(path)?, position: 0, line_is_over: true })
    }

    /// Opens what has the name now, if that is something else, or has been cut.
    fn reopen(&mut self) -> io::Result<bool> {
        let now = match File::open(&self.path) {
            // Between the removal of the old file and the creation of the new one.
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(false),
            other => other?,
        };
        if same_file(&now, &self.file)? && now.metadata()?.len() >= self.position {
            return Ok(false);
        }
        (self.file, self.position) = (now, 0);
        Ok(true)
    }
}

impl Read for Followed {
    fn read(&mut self, into: &mut [u8]) -> io::Result<usize> {
        loop {
            let count = self.file.read(into)?;
            if let Some(&last) = into[..count].last() {
                self.position += count as u64;
                self.line_is_over = last == b'\n';
                return Ok(count);
            }
            if into.is_empty() {
                return Ok(0);
            }
            // A last line without an end must not run into the first line of another file.
            if self.reopen()? && !self.line_is_over {
                self.line_is_over = true;
                into[0] = b'\n';
                return Ok(1);
            }
            std::thread::sleep(PAUSE);
        }
    }
}

#[cfg(unix)]
fn same_file(a: &File, b: &File) -> io::Result<bool> {
    use std::os::unix::fs::MetadataExt;
    let (a, b) = (a.metadata()?, b.metadata()?);
    Ok((a.dev(), a.ino()) == (b.dev(), b.ino()))
}

/// Elsewhere only files that are cut are noticed.
#[cfg(not(unix))]
fn same_file(_: &File, _: &File) -> io::Result<bool> {
    Ok(true)
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
        let mut followed = Followed::open(&path).unwrap();
        assert_eq!(read(&mut followed, 4), "one\n");
        let (writer, later) = (path.clone(), Duration::from_millis(250));
        let write = std::thread::spawn(move || {
            std::thread::sleep(later);
            File::options().append(true).open(&writer).unwrap().write_all(b"two").unwrap();
            std::thread::sleep(later);
            std::fs::rename(&writer, writer.with_extension("old")).unwrap();
            std::thread::sleep(later);
            std::fs::write(&writer, "three and more\n").unwrap();
            std::thread::sleep(later);
            std::fs::write(&writer, "four\n").unwrap();
        });
        assert_eq!(read(&mut followed, 24), "two\nthree and more\nfour\n");
        write.join().unwrap();
    }
}
