//! Writes a corpus in the UCI bag-of-words format, compressed, without holding it in memory.
//!
//! The format begins with the number of entries, which is known only at the end of the stream, so the entries
//! wait in a temporary file beside the result.

use std::fs;
use std::io::{self, Read, Seek, Write};
use std::path::Path;

use crate::corpus::Document;
use crate::error::{Error, Place, Result};
use crate::file::new_file::NewFile;

/// Compression of the waiting entries: as fast as it gets.
const TEMPORARY_LEVEL: i32 = 1;

/// Compression of the result.
const FINAL_LEVEL: i32 = 3;

/// What was written.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct UciSize {
    /// Documents, the empty ones included.
    pub documents: u64,
    /// Pairs of a document and one of its distinct words.
    pub entries: u64,
    /// Tokens.
    pub tokens: u64,
}

/// Writes `docword.txt.zst` and `vocab.txt` into `folder`, which is created if need be.
///
/// Both files are complete before either gets its name, and files of these names are replaced. Empty documents
/// have no entries but count in the header; names of documents are not part of the format.
pub fn write_uci(
    documents: impl IntoIterator<Item = Result<Document>>,
    vocabulary: &[String],
    folder: impl AsRef<Path>,
) -> Result<UciSize> {
    let folder = folder.as_ref();
    fs::create_dir_all(folder).map_err(|source| Error::io(folder, "create", source))?;
    let words = write_vocabulary(vocabulary, &folder.join("vocab.txt"))?;

    let path = folder.join("docword.txt.zst");
    let failed = |source| Error::io(&path, "write", source);
    // It has no name, so that nothing is left of it even after a crash.
    let waiting =
        tempfile::tempfile_in(folder).map_err(|source| Error::io(folder, "create a file in", source))?;
    let mut waiting = zstd::Encoder::new(waiting, TEMPORARY_LEVEL).map_err(failed)?;
    let mut size = UciSize::default();
    let mut lines = Vec::new();
    for document in documents {
        let document = document?;
        size.documents += 1;
        lines.clear();
        for &(word, count) in &document.words {
            if word as usize >= vocabulary.len() {
                return Err(Error::corpus(
                    Place::file(&path),
                    format!(
                        "document {} has the word number {word}, and the vocabulary ends before it with {} words",
                        size.documents,
                        vocabulary.len()
                    ),
                    "write the documents with the vocabulary they were made with",
                ));
            }
            // The format counts from 1.
            writeln!(lines, "{} {} {count}", size.documents, u64::from(word) + 1).map_err(failed)?;
        }
        waiting.write_all(&lines).map_err(failed)?;
        size.entries += document.words.len() as u64;
        size.tokens += document.tokens();
    }
    let mut waiting = waiting.finish().map_err(failed)?;
    waiting.rewind().map_err(failed)?;

    let mut result = NewFile::create(&path)?;
    let header = format!("{}\n{}\n{}\n", size.documents, vocabulary.len(), size.entries);
    compress(header.as_bytes().chain(zstd::Decoder::new(waiting).map_err(failed)?), result.writer())
        .map_err(failed)?;
    words.finish()?;
    result.finish()?;
    Ok(size)
}

/// One frame, because some readers stop after the first.
fn compress(mut plain: impl Read, compressed: impl Write) -> io::Result<()> {
    let mut encoder = zstd::Encoder::new(compressed, FINAL_LEVEL)?;
    encoder.include_checksum(true)?;
    io::copy(&mut plain, &mut encoder)?;
    encoder.finish()?.flush()
}

/// One word per line, in a file that still waits for its name.
fn write_vocabulary(vocabulary: &[String], path: &Path) -> Result<NewFile> {
    let mut file = NewFile::create(path)?;
    for (line, word) in (1..).zip(vocabulary) {
        if word.is_empty() || word.contains(char::is_whitespace) {
            return Err(Error::corpus(
                Place::line(path, line),
                format!("the word {word:?} is empty or has a space in it, which this format cannot hold"),
                "rename the word",
            ));
        }
        file.write(word.as_bytes())?;
        file.write(b"\n")?;
    }
    Ok(file)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::corpus::{Length, Synthetic, Truth, themes};
    use crate::numerics::random::Seed;

    fn names(folder: &Path) -> Vec<String> {
        let mut names: Vec<String> =
            fs::read_dir(folder).unwrap().map(|f| f.unwrap().file_name().into_string().unwrap()).collect();
        names.sort();
        names
    }

    /// Header and documents of a folder.
    fn read(folder: &Path) -> (Vec<u64>, Vec<Document>) {
        let compressed = fs::read(folder.join("docword.txt.zst")).unwrap();
        let text = String::from_utf8(zstd::decode_all(&compressed[..]).unwrap()).unwrap();
        let mut lines = text.lines();
        let header: Vec<u64> = lines.by_ref().take(3).map(|line| line.parse().unwrap()).collect();
        let mut documents = vec![Document::default(); header[0] as usize];
        for line in lines {
            let entry: Vec<u32> = line.split(' ').map(|part| part.parse().unwrap()).collect();
            assert_eq!(entry.len(), 3, "{line}");
            documents[entry[0] as usize - 1].words.push((entry[1] - 1, entry[2]));
        }
        (header, documents)
    }

    #[test]
    fn what_is_written_can_be_read_back() {
        let folder = tempfile::tempdir().unwrap();
        let folder = folder.path().join("made/here");
        let (_, vocabulary, truth) = themes();
        // A short mean length, so that some documents are empty.
        let documents = Synthetic::new(truth, Length::Poisson(2.0), Seed(3), 5_000).unwrap();
        let size = write_uci(documents.clone(), &vocabulary, &folder).unwrap();
        let expected: Vec<Document> = documents.map(Result::unwrap).collect();
        let (header, found) = read(&folder);
        assert_eq!(found, expected);
        assert!(found.iter().any(|document| document.words.is_empty()));
        assert_eq!(header, [5_000, 1_000, size.entries]);
        assert_eq!(size.entries, expected.iter().map(|document| document.words.len() as u64).sum::<u64>());
        assert_eq!(size.tokens, expected.iter().map(Document::tokens).sum::<u64>());
        let words = fs::read_to_string(folder.join("vocab.txt")).unwrap();
        assert_eq!(words.lines().collect::<Vec<_>>(), vocabulary);
        assert_eq!(names(&folder), ["docword.txt.zst", "vocab.txt"]);
    }

    #[test]
    fn empty_documents_at_the_end_count() {
        let folder = tempfile::tempdir().unwrap();
        let documents = [Document::from_tokens(&[1, 1, 0]), Document::default(), Document::default()];
        let vocabulary = ["a".to_string(), "b".to_string()];
        let size = write_uci(documents.clone().map(Ok), &vocabulary, folder.path()).unwrap();
        assert_eq!(size, UciSize { documents: 3, entries: 2, tokens: 3 });
        assert_eq!(read(folder.path()), (vec![3, 2, 2], documents.to_vec()));
        write_uci([], &[], folder.path()).unwrap();
        assert_eq!(read(folder.path()), (vec![0, 0, 0], vec![]), "replaced");
    }

    #[test]
    fn a_failure_leaves_the_old_files_alone() {
        let folder = tempfile::tempdir().unwrap();
        let good = [Document::from_tokens(&[0])];
        let vocabulary = ["a".to_string()];
        write_uci(good.clone().map(Ok), &vocabulary, folder.path()).unwrap();

        let broken = || Error::setting("test", "breaks", "nothing");
        let failures = [
            write_uci([Ok(Document::default()), Err(broken())], &vocabulary, folder.path()),
            write_uci([Ok(Document::from_tokens(&[1]))], &vocabulary, folder.path()),
            write_uci([], &["two words".to_string()], folder.path()),
            write_uci([], &[String::new()], folder.path()),
        ];
        let places =
            ["test: breaks", "docword.txt.zst: document 1", "vocab.txt:1: the word", "vocab.txt:1: "];
        for (failure, place) in failures.into_iter().zip(places) {
            let message = failure.unwrap_err().to_string();
            assert!(message.contains(place), "{message}");
        }
        assert_eq!(names(folder.path()), ["docword.txt.zst", "vocab.txt"]);
        assert_eq!(read(folder.path()), (vec![1, 1, 1], good.to_vec()));

        let file = folder.path().join("vocab.txt");
        let message = write_uci([], &vocabulary, &file).unwrap_err().to_string();
        assert!(message.contains("vocab.txt: cannot create"), "{message}");
    }

    #[test]
    fn one_frame_that_other_readers_accept() {
        let folder = tempfile::tempdir().unwrap();
        let truth = Truth::random(2, 3, 1.0, 1.0, Seed(0)).unwrap();
        let vocabulary: Vec<String> = (0..3).map(|word| format!("w{word}")).collect();
        let documents = Synthetic::new(truth, Length::Fixed(9), Seed(0), 2_000).unwrap();
        write_uci(documents, &vocabulary, folder.path()).unwrap();
        let file = fs::File::open(folder.path().join("docword.txt.zst")).unwrap();
        let mut text = String::new();
        zstd::Decoder::new(file).unwrap().single_frame().read_to_string(&mut text).unwrap();
        assert!(text.lines().last().unwrap().starts_with("2000 "));
    }
}
