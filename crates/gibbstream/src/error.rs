//! What can go wrong, in words that say what happened, where, why, and what to do about it.

use std::path::{Path, PathBuf};

/// The result of anything in this crate that can fail.
pub type Result<T, E = Error> = std::result::Result<T, E>;

/// A refused input, setting or file.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// The operating system refused to open, read or write a file.
    #[error("{path}: cannot {action}: {source}", path = path.display())]
    Io {
        /// The file or folder.
        path: PathBuf,
        /// What was tried, as a verb: "open", "read", "write".
        action: &'static str,
        /// What the system answered.
        source: std::io::Error,
    },
    /// A corpus does not have the form it should have.
    #[error("{place}: {problem}; {advice}")]
    Corpus {
        /// File and line.
        place: Place,
        /// What is wrong there.
        problem: String,
        /// What the user can do.
        advice: String,
        /// The kind of flaw, if it is one of a single record that can be passed over; `None` if nothing after it
        /// can be trusted.
        record: Option<&'static str>,
    },
    /// A model file is damaged, of another kind, or of another version.
    #[error("{path}: not a usable model file: {problem}; {advice}", path = path.display())]
    ModelFile {
        /// The file.
        path: PathBuf,
        /// What is wrong with it, naming the section.
        problem: String,
        /// What the user can do.
        advice: String,
    },
    /// A setting, or a combination of settings, that makes no sense.
    #[error("{setting}: {problem}; {advice}")]
    Setting {
        /// Name of the setting as the user wrote it.
        setting: String,
        /// Why it is refused.
        problem: String,
        /// What the user can do.
        advice: String,
    },
    /// A statistic stopped being a number; the state before the minibatch is kept.
    #[error(
        "update {update}: {statistic} is no longer finite; the model was left as it was before this minibatch, please report this with the settings"
    )]
    NotFinite {
        /// The update that was refused.
        update: u64,
        /// Which statistic.
        statistic: &'static str,
    },
}

impl Error {
    /// An [`Error::Io`].
    pub fn io(path: impl Into<PathBuf>, action: &'static str, source: std::io::Error) -> Self {
        Self::Io { path: path.into(), action, source }
    }

    /// An [`Error::Corpus`].
    pub fn corpus(place: Place, problem: impl Into<String>, advice: impl Into<String>) -> Self {
        Self::Corpus { place, problem: problem.into(), advice: advice.into(), record: None }
    }

    /// An [`Error::Corpus`] about one record, which `--skip-bad` passes over and counts under `kind`.
    pub fn bad_record(
        place: Place,
        kind: &'static str,
        problem: impl Into<String>,
        advice: impl Into<String>,
    ) -> Self {
        Self::Corpus { place, problem: problem.into(), advice: advice.into(), record: Some(kind) }
    }

    /// An [`Error::ModelFile`].
    pub fn model_file(
        path: impl Into<PathBuf>,
        problem: impl Into<String>,
        advice: impl Into<String>,
    ) -> Self {
        Self::ModelFile { path: path.into(), problem: problem.into(), advice: advice.into() }
    }

    /// An [`Error::Setting`].
    pub fn setting(
        setting: impl Into<String>,
        problem: impl Into<String>,
        advice: impl Into<String>,
    ) -> Self {
        Self::Setting { setting: setting.into(), problem: problem.into(), advice: advice.into() }
    }
}

/// A place in an input: the file, and the line where there is one.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Place {
    /// The file as the user named it; `-` for standard input.
    pub file: PathBuf,
    /// Line, counted from 1.
    pub line: Option<u64>,
}

impl Place {
    /// A whole file.
    pub fn file(file: impl AsRef<Path>) -> Self {
        Self { file: file.as_ref().to_path_buf(), line: None }
    }

    /// One line of a file, counted from 1.
    pub fn line(file: impl AsRef<Path>, line: u64) -> Self {
        Self { file: file.as_ref().to_path_buf(), line: Some(line) }
    }
}

impl std::fmt::Display for Place {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{}", self.file.display())?;
        self.line.map_or(Ok(()), |line| write!(f, ":{line}"))
    }
}
