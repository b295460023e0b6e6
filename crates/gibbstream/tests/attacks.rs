//! Hostile files (in `attacks/`): whatever they are taken for, reading them ends with documents or an error, never with a
//! panic, a hang or a large allocation.

#![allow(missing_docs, clippy::unwrap_used)]

use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use gibbstream::corpus::{Document, Format, Inputs, Vocabulary};
use gibbstream::file::Model;
use gibbstream::{Error, Result};

/// Files that unpack to more than anybody would want nine times.
const BOMBS: [&str; 1] = ["endless_line.bz2"];

/// More documents than this are not waited for.
const ENOUGH: usize = 10_000;

fn attacks() -> Vec<PathBuf> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/attacks");
    let mut files: Vec<PathBuf> = folder.read_dir().unwrap().map(|entry| entry.unwrap().path()).collect();
    files.sort();
    assert!(files.len() >= 40, "only {} files", files.len());
    files
}

fn name(path: &Path) -> String {
    path.file_name().unwrap().to_string_lossy().into_owned()
}

fn read(path: &Path, format: Format, skip_bad: bool) -> Result<usize> {
    let vocabulary = Vocabulary::new(["cat", "dog", "emu"])?;
    let words = tempfile::NamedTempFile::new().unwrap();
    std::fs::write(words.path(), "cat\ndog\nemu\n").unwrap();
    let vocabulary_file = Some(words.path().to_path_buf());
    let inputs =
        Inputs { paths: vec![path.to_path_buf()], format, vocabulary_file, skip_bad, ..Inputs::default() };
    let documents: Result<Vec<Document>> = inputs.resolve()?.documents(&vocabulary).take(ENOUGH).collect();
    documents.map(|documents| documents.len())
}

#[test]
fn every_reader_survives_every_file() {
    for path in attacks() {
        let bomb = BOMBS.contains(&name(&path).as_str());
        let formats = if bomb { &Format::ALL[..1] } else { &Format::ALL[..] };
        for &format in formats {
            for skip_bad in [false, true] {
                let started = Instant::now();
                let found = read(&path, format, skip_bad);
                assert!(started.elapsed() < Duration::from_secs(60), "{} as {format}", name(&path));
                // What is found depends on the format; that something is said about it does not.
                if let Err(error) = found {
                    assert!(error.to_string().len() > 20, "{} as {format}: {error}", name(&path));
                }
            }
        }
    }
}

#[test]
fn no_file_is_taken_for_a_model() {
    for path in attacks() {
        let refused = Model::load(&path);
        assert!(matches!(refused, Err(Error::ModelFile { .. })), "{}", name(&path));
    }
}

#[test]
fn files_are_refused_for_what_is_wrong_with_them() {
    for (file, reason) in [
        ("deep_nesting.jsonl", "recursion limit exceeded"),
        ("lone_surrogate.jsonl", "is not valid JSON"),
        ("no_columns.csv", "has no column `text`"),
        ("huge_header_docword.txt", "words, but the header of"),
        ("huge_sizes.mtx", "has 18446744073709551615 words, but `vocab` names 3"),
        ("no_sizes.mtx", "the header ends before the sizes"),
        ("promise.ldac", "the line promises 18446744073709551615 pairs and has 1"),
        ("largest_count.ldac", "has more than 16777216 tokens"),
        ("largest_word.ldac", "but there are only 3 words"),
        ("numbers.svm", "the count"),
        ("colons.svm", "the word id"),
        ("huge_footer.parquet", "damaged Parquet data"),
        ("empty_footer.parquet", "damaged Parquet data"),
        ("random_footer.parquet", "damaged Parquet data"),
        ("cut.gz", "ends in the middle of its gzip data"),
        ("cut.xz", "xz data"),
        ("cut.bz2", "bzip2 data"),
        ("wrong_check.gz", "corrupt gzip data"),
        ("endless_line.bz2", "the line is longer than 268435456 bytes"),
        ("huge_window.zst", "zstd"),
    ] {
        let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/attacks").join(file);
        let refused = read(&path, Format::Auto, false).expect_err(file).to_string();
        assert!(refused.contains(reason), "{file}: {refused}");
    }
}

/// Texts made to be slow or to break: how often `cat` must be found in each, in about a megabyte of it.
#[test]
fn text_that_is_no_prose_is_read_in_linear_time() {
    let many = |piece: &str| piece.repeat((1 << 20) / piece.len());
    for (what, text, cats) in [
        ("a million entities", "&eacute;".repeat(1_000_000) + " cat", 1),
        ("entities of entities", many("&amp;amp;lt;") + " cat", 1),
        ("entities that are none", many("&nothing;") + " cat", 1),
        ("tags that never end", many("<a href='") + "' > cat", 1),
        ("comments that never end", many("<!-- ") + " cat", 1),
        ("nested tags", many("<b>") + "cat" + &many("</b>"), 1),
        ("a scream of marks", "e".to_owned() + &many("\u{301}") + " cat", 1),
        ("directions", many("\u{202e}\u{2066}") + " cat " + &many("\u{202c}"), 1),
        ("right to left", many("שלום ") + "cat" + &many(" مرحبا"), 1),
        (
            "all scripts at once",
            many("cat电影catไทยcatשלוםcat한국cat"),
            (1 << 20) / "cat电影catไทยcatשלוםcat한국cat".len() * 4,
        ),
        ("one Chinese run", many("电影") + " cat", 1),
        ("one Thai run", many("ไทย") + " cat", 1),
        ("one Khmer run", many("ភាសា") + " cat", 1),
        ("one Burmese run", many("မြန်မာ") + " cat", 1),
        ("one Lao run", many("ພາສາ") + " cat", 1),
        ("joiners", many("\u{200d}") + " cat", 1),
        ("flags", many("🇩") + " cat", 1),
    ] {
        let started = Instant::now();
        let inputs = Inputs { format: Format::Text, ..Inputs::default() };
        let vocabulary = Vocabulary::new(["cat"]).unwrap();
        let read = inputs.resolve_bytes(text.into_bytes()).unwrap().documents(&vocabulary);
        let found: u64 = read.map(|document| document.unwrap().tokens()).sum();
        assert!(started.elapsed() < Duration::from_secs(20), "{what} took {:?}", started.elapsed());
        if what == "all scripts at once" {
            // Scripts with blanks take letters of others into their words.
            assert!(found > 0 && found <= cats as u64, "{what}: {found}");
        } else {
            assert_eq!(found, cats as u64, "{what}");
        }
    }
}
