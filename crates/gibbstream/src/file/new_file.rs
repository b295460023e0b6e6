//! Files that are replaced whole or not at all.

use std::fs::{File, Metadata};
use std::io::{self, BufWriter, Write};
use std::path::{Path, PathBuf};

use tempfile::NamedTempFile;

use crate::error::{Error, Result};

/// What the names of unfinished files begin with.
pub(crate) const PREFIX: &str = ".gibbstream-";

const BUFFER_BYTES: usize = 1 << 16;

/// Links that lead to links are followed so far.
const MOST_LINKS: usize = 40;

/// A file that appears under its name only when it is complete: it is written beside its place and then renamed;
/// dropped before [`NewFile::finish`], it disappears. Symbolic links stay, and what they lead to is replaced. Devices and
/// pipes cannot be replaced: they are written to as it goes.
pub struct NewFile {
    /// As the user named it.
    name: PathBuf,
    writer: Writer,
}

enum Writer {
    /// For a regular file, with the place that it will have.
    Beside(BufWriter<NamedTempFile>, PathBuf),
    Through(BufWriter<File>),
}

impl NewFile {
    /// Opens a temporary file in the folder where `path` leads to, or the device or pipe that is there.
    pub fn create(path: &Path) -> Result<Self> {
        let writer = Writer::open(path).map_err(|source| Error::io(path, "create", plain(source)))?;
        crash_point("created");
        Ok(Self { name: path.to_path_buf(), writer })
    }

    /// Appends `bytes`.
    pub fn write(&mut self, bytes: &[u8]) -> Result<()> {
        let written = self.writer().write_all(bytes);
        written.map_err(|source| Error::io(&self.name, "write", plain(source)))?;
        crash_point("half written");
        Ok(())
    }

    /// The file as a plain writer, for encoders.
    pub fn writer(&mut self) -> &mut (dyn Write + Send) {
        match &mut self.writer {
            Writer::Beside(file, _) => file,
            Writer::Through(file) => file,
        }
    }

    /// Makes the content durable and gives the file its name.
    pub fn finish(self) -> Result<()> {
        let Self { name, writer } = self;
        writer.finish().map_err(|source| Error::io(name, "write", plain(source)))
    }
}

/// Puts these bytes in place of a file, so that it always holds the old or the new ones, whole.
pub fn replace(path: &Path, bytes: &[u8]) -> Result<()> {
    let mut file = NewFile::create(path)?;
    file.write(bytes)?;
    file.finish()
}

impl Writer {
    fn open(path: &Path) -> io::Result<Self> {
        let found = path.metadata().ok();
        if found.as_ref().is_some_and(|found| !found.is_file() && !found.is_dir()) {
            let file = File::options().write(true).open(path)?;
            return Ok(Self::Through(BufWriter::with_capacity(BUFFER_BYTES, file)));
        }
        let place = followed(path)?;
        let file = beside(&place, found.as_ref())?;
        Ok(Self::Beside(BufWriter::with_capacity(BUFFER_BYTES, file), place))
    }

    fn finish(self) -> io::Result<()> {
        let (file, place) = match self {
            Self::Beside(file, place) => (file, place),
            Self::Through(mut file) => return file.flush(),
        };
        let (file, temporary) = file.into_inner().map_err(io::IntoInnerError::into_error)?.into_parts();
        crash_point("written");
        file.sync_all()?;
        crash_point("synced");
        std::fs::rename(&temporary, &place)?;
        // Nothing is left to remove.
        temporary.keep().map_err(|refused| refused.error)?;
        crash_point("renamed");
        // The new name must reach the disk too; an error from here on means the old or the new file, whole.
        File::open(folder_of(&place))?.sync_all()
    }
}

/// A temporary file beside a place, with the permissions of what it will replace, or of any new file of the user.
fn beside(place: &Path, replaced: Option<&Metadata>) -> io::Result<NamedTempFile> {
    let mut builder = tempfile::Builder::new();
    builder.prefix(PREFIX);
    #[cfg(unix)]
    if replaced.is_none() {
        use std::os::unix::fs::PermissionsExt;
        builder.permissions(std::fs::Permissions::from_mode(0o666));
    }
    let file = builder.tempfile_in(folder_of(place))?;
    if let Some(replaced) = replaced {
        file.as_file().set_permissions(replaced.permissions())?;
    }
    Ok(file)
}

/// Where symbolic links lead, even if nothing is there yet.
fn followed(path: &Path) -> io::Result<PathBuf> {
    let mut place = path.to_path_buf();
    for _ in 0..MOST_LINKS {
        match std::fs::read_link(&place) {
            Ok(target) => place = folder_of(&place).join(target),
            Err(_) => return Ok(place),
        }
    }
    Err(io::Error::other("too many symbolic links"))
}

/// The system's own answer, without the name of the temporary file, which says nothing to anybody.
fn plain(error: io::Error) -> io::Error {
    let text = error.to_string();
    let answer = text.split_once(" at path ").map(|(answer, _)| answer.to_owned());
    answer.map_or(error, io::Error::other)
}

fn folder_of(path: &Path) -> &Path {
    path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."))
}

/// The moments at which tests end the process; nothing in the program itself.
#[cfg(test)]
pub(crate) const CRASH_POINTS: [&str; 5] = ["created", "half written", "written", "synced", "renamed"];

/// The variable that names the moment.
#[cfg(test)]
pub(crate) const CRASH_AT: &str = "GIBBSTREAM_TEST_CRASH_AT";

#[cfg(test)]
fn crash_point(name: &str) {
    if std::env::var_os(CRASH_AT).is_some_and(|at| at == name) {
        std::process::abort();
    }
}

#[cfg(not(test))]
fn crash_point(_: &str) {}
