//! What can go wrong, in words that say what happened, where, why, and what to do about it.
//!
//! Texts name settings in braces, `{total-docs}`: the program shows them as flags ([`Error::spelled`]), the Python package
//! as parameters, and [`Display`](std::fmt::Display) between backticks.

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
    #[error("{place}: {}; {}", quoted(problem), quoted(advice))]
    Corpus {
        /// File and line.
        place: Place,
        /// What is wrong there.
        problem: String,
        /// What the user can do.
        advice: String,
        /// The kind of flaw, if it is one of a single record that can be skipped; `None` if nothing after it
        /// can be trusted.
        record: Option<&'static str>,
    },
    /// A model file is damaged, of another kind, or of another version.
    #[error("{}: not a usable model file: {}; {}", path.display(), quoted(problem), quoted(advice))]
    ModelFile {
        /// The file.
        path: PathBuf,
        /// What is wrong with it, naming the section.
        problem: String,
        /// What the user can do.
        advice: String,
    },
    /// A place that must not be written to.
    #[error("{}: {}; {}", path.display(), quoted(problem), quoted(advice))]
    Output {
        /// The place.
        path: PathBuf,
        /// Why it is refused.
        problem: String,
        /// What the user can do.
        advice: String,
    },
    /// A setting, or a combination of settings, that makes no sense.
    #[error("{setting}: {}; {}", quoted(problem), quoted(advice))]
    Setting {
        /// Name of the setting, with dashes between words.
        setting: String,
        /// Why it is refused.
        problem: String,
        /// What the user can do.
        advice: String,
    },
    /// A minibatch was left out because the run was asked to end; the state before it is kept.
    #[error("stopped in the middle of a minibatch")]
    Stopped,
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

    /// An [`Error::Corpus`] about one record, which can be skipped and counts under `kind`.
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

    /// An [`Error::Output`].
    pub fn output(path: impl Into<PathBuf>, problem: impl Into<String>, advice: impl Into<String>) -> Self {
        Self::Output { path: path.into(), problem: problem.into(), advice: advice.into() }
    }

    /// An [`Error::Setting`].
    pub fn setting(
        setting: impl Into<String>,
        problem: impl Into<String>,
        advice: impl Into<String>,
    ) -> Self {
        Self::Setting { setting: setting.into(), problem: problem.into(), advice: advice.into() }
    }

    /// The text with settings spelled as flags or parameters; `spelling` is not asked for more than their names.
    pub fn spelled(&self, spelling: impl Fn(&str) -> Option<String>) -> String {
        let text = match self {
            Self::Io { .. } | Self::NotFinite { .. } | Self::Stopped => return self.to_string(),
            Self::Corpus { place, problem, advice, .. } => format!("{place}: {problem}; {advice}"),
            Self::ModelFile { path, problem, advice } => {
                format!("{}: not a usable model file: {problem}; {advice}", path.display())
            }
            Self::Output { path, problem, advice } => format!("{}: {problem}; {advice}", path.display()),
            Self::Setting { setting, problem, advice } => {
                let setting = spelling(setting).unwrap_or_else(|| setting.clone());
                format!("{setting}: {problem}; {advice}")
            }
        };
        spelled(&text, spelling)
    }
}

fn quoted(text: &str) -> String {
    spelled(text, |name| Some(format!("`{name}`")))
}

/// The text with every `{name}` that `spelling` knows replaced.
pub fn spelled(text: &str, spelling: impl Fn(&str) -> Option<String>) -> String {
    let mut done = String::with_capacity(text.len());
    let mut rest = text;
    while let Some((before, after)) = rest.split_once('{') {
        let is_name =
            |name: &&str| !name.is_empty() && name.chars().all(|c| c.is_ascii_lowercase() || c == '-');
        let name = after.split_once('}').map(|(name, _)| name).filter(is_name);
        done += before;
        if let Some((name, spelt)) = name.and_then(|name| Some((name, spelling(name)?))) {
            done += &spelt;
            rest = &after[name.len() + 1..];
        } else {
            done.push('{');
            rest = after;
        }
    }
    done + rest
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn settings_are_spelled_as_the_reader_knows_them() {
        let error = Error::setting("topics", "{\"a\": 1} has no {x}", "use {total-docs} or {model} hdp");
        assert_eq!(error.to_string(), "topics: {\"a\": 1} has no `x`; use `total-docs` or `model` hdp");
        let flag = |name: &str| (name != "x").then(|| format!("--{name}"));
        assert_eq!(error.spelled(flag), "--topics: {\"a\": 1} has no {x}; use --total-docs or --model hdp");
        assert_eq!(spelled("{", flag), "{");
        assert_eq!(spelled("a } {} {-}", |_| Some("b".into())), "a } {} b");
    }
}
