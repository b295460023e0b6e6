//! Files that are replaced whole or not at all.

#[cfg(unix)]
use std::fs::File;
use std::io::{self, BufWriter, Write};
use std::path::{Path, PathBuf};

use tempfile::NamedTempFile;

use crate::error::{Error, Result};

/// What the names of unfinished files begin with.
pub(crate) const PREFIX: &str = ".gibbstream-";

/// A file that appears under its name only when it is complete: it is written beside its place and then renamed;
/// dropped before [`NewFile::finish`], it disappears.
pub(crate) struct NewFile {
    path: PathBuf,
    file: BufWriter<NamedTempFile>,
}

impl NewFile {
    /// Opens a temporary file in the folder of `path`.
    pub(crate) fn create(path: &Path) -> Result<Self> {
        let mut builder = tempfile::Builder::new();
        builder.prefix(PREFIX);
        // Temporary files are private; this one becomes an ordinary file of the user.
        #[cfg(unix)]
        builder.permissions(<std::fs::Permissions as std::os::unix::fs::PermissionsExt>::from_mode(0o666));
        let file = builder
            .tempfile_in(folder_of(path))
            .map_err(|source| Error::io(path, "create", plain(source)))?;
        crash_point("created");
        Ok(Self { path: path.to_path_buf(), file: BufWriter::with_capacity(1 << 16, file) })
    }

    /// Appends `bytes`.
    pub(crate) fn write(&mut self, bytes: &[u8]) -> Result<()> {
        self.file.write_all(bytes).map_err(|source| Error::io(&self.path, "write", plain(source)))?;
        crash_point("half written");
        Ok(())
    }

    /// The file as a plain writer, for encoders.
    pub(crate) fn writer(&mut self) -> &mut impl Write {
        &mut self.file
    }

    /// Makes the content durable and gives the file its name.
    pub(crate) fn finish(self) -> Result<()> {
        let Self { path, file } = self;
        let put = || {
            let file = file.into_inner().map_err(std::io::IntoInnerError::into_error)?;
            crash_point("written");
            file.as_file().sync_all()?;
            crash_point("synced");
            file.persist(&path).map_err(|refused| refused.error)?;
            crash_point("renamed");
            // The new name must reach the disk too; an error from here on means the old or the new file, whole. Windows
            // has no folders that can be opened for this.
            #[cfg(unix)]
            File::open(folder_of(&path))?.sync_all()?;
            Ok(())
        };
        put().map_err(|source| Error::io(path.clone(), "write", plain(source)))
    }
}

/// Puts these bytes in place of a file, so that it always holds the old or the new ones, whole.
pub fn replace(path: &Path, bytes: &[u8]) -> Result<()> {
    let mut file = NewFile::create(path)?;
    file.write(bytes)?;
    file.finish()
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
