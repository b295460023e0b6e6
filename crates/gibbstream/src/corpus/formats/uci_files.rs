//! Finding the two files of a UCI corpus from a folder, a prefix, or the docword file.

use std::ffi::OsString;
use std::path::{Path, PathBuf};

use crate::error::{Error, Place, Result};

const COMPRESSED: [&str; 5] = ["", ".gz", ".zst", ".bz2", ".xz"];

/// The files of a corpus; the vocabulary may have to be given by the user.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct UciFiles {
    pub docword: PathBuf,
    pub vocabulary: Option<PathBuf>,
}

impl UciFiles {
    /// The corpus in a folder.
    pub fn in_folder(folder: &Path) -> Result<Self> {
        let unreadable = |error| Error::io(folder, "open", error);
        let mut found = Vec::new();
        for entry in folder.read_dir().map_err(unreadable)? {
            let name = entry.map_err(unreadable)?.file_name();
            if is_docword(Path::new(&name)) {
                found.push(name);
            }
        }
        found.sort();
        match found.as_slice() {
            [name] => Ok(Self::of_docword(&folder.join(name))),
            [] => Err(Error::corpus(
                Place::file(folder),
                "is a folder without a docword file (docword.txt, also .gz, .zst, .bz2 or .xz)",
                "name a file inside it, or a folder with a UCI corpus",
            )),
            several => Err(Error::corpus(
                Place::file(folder),
                format!(
                    "holds several docword files ({})",
                    several.iter().map(|name| name.to_string_lossy()).collect::<Vec<_>>().join(", ")
                ),
                "name one of them instead of the folder",
            )),
        }
    }

    /// The corpus whose files begin with `prefix`.
    pub fn with_prefix(prefix: &Path) -> Option<Self> {
        ["", ".", "_"].iter().find_map(|separator| {
            let named = |rest: &str| {
                let mut name = OsString::from(prefix);
                name.push(separator);
                name.push(rest);
                existing(Path::new(&name))
            };
            named("docword.txt").map(|docword| Self { docword, vocabulary: named("vocab.txt") })
        })
    }

    /// A docword file and the vocabulary beside it: the one of the same name, or else `vocab.txt`.
    pub fn of_docword(docword: &Path) -> Self {
        let name = docword.file_name().unwrap_or_default().to_string_lossy();
        let same_name = uncompressed(&name).replace("docword", "vocab");
        let vocabulary = [same_name.as_str(), "vocab.txt"]
            .iter()
            .filter(|&&candidate| candidate != uncompressed(&name))
            .find_map(|candidate| existing(&docword.with_file_name(candidate)));
        Self { docword: docword.to_path_buf(), vocabulary }
    }
}

/// Whether a file is named like the counts of a UCI corpus: `docword.txt`, `docword.NAME.txt` or
/// `NAME.docword.txt`, and so on with the ending of a compressed file.
pub(crate) fn is_docword(path: &Path) -> bool {
    let name = path.file_name().unwrap_or_default().to_string_lossy();
    let name = uncompressed(&name);
    let Some(stem) = name.strip_suffix(".txt") else { return false };
    stem.ends_with("docword") || stem.starts_with("docword.")
}

/// A file name without the ending of a compressed file.
pub(crate) fn uncompressed(name: &str) -> &str {
    COMPRESSED[1..].iter().find_map(|ending| name.strip_suffix(ending)).unwrap_or(name)
}

/// The file itself or a compressed one.
fn existing(path: &Path) -> Option<PathBuf> {
    COMPRESSED.iter().find_map(|ending| {
        let mut name = OsString::from(path);
        name.push(ending);
        Some(PathBuf::from(name)).filter(|path| path.is_file())
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn files_are_found_by_folder_prefix_and_name() {
        let root = tempfile::tempdir().unwrap();
        let path = |name: &str| root.path().join(name);
        let make = |names: &[&str]| {
            for name in names {
                std::fs::create_dir_all(path(name).parent().unwrap()).unwrap();
                std::fs::write(path(name), "").unwrap();
            }
        };
        make(&[
            "plain/docword.txt.zst",
            "plain/vocab.txt",
            "named/docword.kos.txt.gz",
            "named/vocab.kos.txt",
        ]);
        make(&["several/docword.a.txt", "several/docword.b.txt", "several/vocab.b.txt", "several/vocab.txt"]);
        make(&["x.docword.txt.xz", "x.vocab.txt.gz", "y_docword.txt", "none/readme"]);
        let files = |docword: &str, vocabulary: Option<&str>| UciFiles {
            docword: path(docword),
            vocabulary: vocabulary.map(path),
        };
        let folder = |name: &str| UciFiles::in_folder(&path(name));
        assert_eq!(folder("plain").unwrap(), files("plain/docword.txt.zst", Some("plain/vocab.txt")));
        assert_eq!(folder("named").unwrap(), files("named/docword.kos.txt.gz", Some("named/vocab.kos.txt")));
        assert!(folder("several").unwrap_err().to_string().contains("(docword.a.txt, docword.b.txt)"));
        assert!(folder("none").is_err());
        let prefix = |name: &str| UciFiles::with_prefix(&path(name));
        assert_eq!(prefix("x"), Some(files("x.docword.txt.xz", Some("x.vocab.txt.gz"))));
        assert_eq!(prefix("plain/"), Some(files("plain/docword.txt.zst", Some("plain/vocab.txt"))));
        assert_eq!(prefix("y"), Some(files("y_docword.txt", None)));
        assert_eq!(prefix("z"), None);
        let named = |name: &str| UciFiles::of_docword(&path(name));
        assert_eq!(
            named("several/docword.b.txt"),
            files("several/docword.b.txt", Some("several/vocab.b.txt"))
        );
        assert_eq!(named("several/docword.a.txt"), files("several/docword.a.txt", Some("several/vocab.txt")));
        assert_eq!(named("x.docword.txt.xz"), files("x.docword.txt.xz", Some("x.vocab.txt.gz")));
    }
}
