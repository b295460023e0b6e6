//! Input that looks odd but is fine: line ends, byte order marks, compression, pipes, empty documents.

#![allow(clippy::unwrap_used, reason = "helpers of tests count as tests")]

use std::io::Write;
use std::path::{Path, PathBuf};

use gibbstream::corpus::{
    Adaptive, Document, Format, Inputs, ResolvedInputs, StopWords, TermWeights, Tokenizer, Vocabulary,
    VocabularyLimits,
};

const ALL: VocabularyLimits = VocabularyLimits {
    max_words: None,
    min_documents: 1,
    max_document_share: 1.0,
    adaptive: Adaptive { min_documents: false, max_document_share: false },
    term_weights: TermWeights::None,
};

fn inputs(paths: &[PathBuf]) -> Inputs {
    Inputs {
        paths: paths.to_vec(),
        tokenizer: Tokenizer { stop_words: StopWords::none(), ..Tokenizer::default() },
        ..Inputs::default()
    }
}

fn write(folder: &Path, name: &str, content: impl AsRef<[u8]>) -> PathBuf {
    let path = folder.join(name);
    std::fs::write(&path, content).unwrap();
    path
}

fn vocabulary(inputs: &ResolvedInputs, limits: &VocabularyLimits) -> Vec<String> {
    inputs.vocabulary(limits, &mut |_| ()).unwrap().words().map(str::to_owned).collect()
}

/// Every document as its words, with the number of unknown ones.
fn read(inputs: &ResolvedInputs, words: &[&str]) -> Vec<(String, u64)> {
    let vocabulary = Vocabulary::new(words.iter().copied()).unwrap();
    let spell = |document: Document| {
        let words: Vec<String> = document
            .words
            .iter()
            .map(|&(word, count)| format!("{}*{count}", vocabulary.word(word)))
            .collect();
        (words.join(" "), document.out_of_vocabulary)
    };
    inputs.documents(&vocabulary).map(|document| spell(document.unwrap())).collect()
}

fn texts(documents: &[(String, u64)]) -> Vec<&str> {
    documents.iter().map(|(words, _)| words.as_str()).collect()
}

#[test]
fn lines_end_in_any_way() {
    let folder = tempfile::tempdir().unwrap();
    for content in ["cat\ndog cat\n", "cat\r\ndog cat\r\n", "\u{feff}cat\ndog cat", "cat\ndog cat"] {
        let path = write(folder.path(), "in.txt", content);
        let documents = read(&inputs(&[path]).resolve().unwrap(), &["cat", "dog"]);
        assert_eq!(texts(&documents), ["cat*1", "cat*1 dog*1"], "{content:?}");
    }
}

#[test]
fn compression_is_found_by_content_and_parts_may_be_joined() {
    let folder = tempfile::tempdir().unwrap();
    let gzip = |content: &[u8]| {
        let mut encoder = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
        encoder.write_all(content).unwrap();
        encoder.finish().unwrap()
    };
    let bzip = |content: &[u8]| {
        let mut encoder = bzip2::write::BzEncoder::new(Vec::new(), bzip2::Compression::fast());
        encoder.write_all(content).unwrap();
        encoder.finish().unwrap()
    };
    let xz = |content: &[u8]| {
        let mut encoder = liblzma::write::XzEncoder::new(Vec::new(), 0);
        encoder.write_all(content).unwrap();
        encoder.finish().unwrap()
    };
    let zstandard = |content: &[u8]| zstd::encode_all(content, 1).unwrap();
    for pack in [&gzip as &dyn Fn(&[u8]) -> Vec<u8>, &bzip, &xz, &zstandard] {
        let joined = [pack(b"{\"text\": \"cat\"}\n{\"te"), pack(b"xt\": \"dog\"}\n")].concat();
        let path = write(folder.path(), "no-ending", joined);
        let resolved = inputs(&[path]).resolve().unwrap();
        assert_eq!(resolved.formats().next().unwrap().1, Format::JsonLines);
        assert_eq!(texts(&read(&resolved, &["cat", "dog"])), ["cat*1", "dog*1"]);
    }
}

#[test]
fn uci_gaps_are_empty_documents_and_repeated_words_are_added_up() {
    let folder = tempfile::tempdir().unwrap();
    write(
        folder.path(),
        "docword.txt",
        "\u{feff}6\r\n3\r\n5\r\n2 3 1\r\n2 1 2\r\n 2\t3 4 \r\n\r\n4 2 1\r\n5 1 7",
    );
    write(folder.path(), "vocab.txt", "ant\r\nbee\r\ncat\r\n\r\n");
    let resolved = inputs(&[folder.path().into()]).resolve().unwrap();
    assert_eq!(resolved.expected_documents(), Some(6));
    assert_eq!(vocabulary(&resolved, &ALL), ["ant", "bee", "cat"]);
    let words = ["ant", "bee", "cat"];
    assert_eq!(texts(&read(&resolved, &words)), ["", "ant*2 cat*5", "", "bee*1", "ant*7", ""]);
    // Other vocabularies are matched by spelling, and unknown words counted.
    let other = read(&resolved, &["zoo", "cat", "ant"]);
    assert_eq!(texts(&other), ["", "cat*5 ant*2", "", "", "ant*7", ""]);
    assert_eq!(other[3].1, 1);
    let names: Vec<Option<String>> =
        resolved.documents(&Vocabulary::new(words).unwrap()).map(|document| document.unwrap().id).collect();
    assert_eq!(names[1..3], [Some("2".into()), Some("3".into())]);
    // A limit asks for counting: by frequency, the rare word gone.
    let limits = VocabularyLimits { max_words: Some(2), ..ALL };
    assert_eq!(vocabulary(&resolved, &limits), ["ant", "cat"]);
}

#[test]
fn uci_corpora_are_found_by_folder_prefix_and_file() {
    let folder = tempfile::tempdir().unwrap();
    let packed = zstd::encode_all(&b"1\n2\n1\n1 2 3\n"[..], 1).unwrap();
    let docword = write(folder.path(), "kos.docword.txt.zst", packed);
    let words = write(folder.path(), "kos.vocab.txt", "ant\nbee\n");
    for path in [docword.clone(), folder.path().into(), folder.path().join("kos")] {
        let resolved = inputs(&[path]).resolve().unwrap();
        assert_eq!(texts(&read(&resolved, &["ant", "bee"])), ["bee*3"]);
    }
    let elsewhere = folder.path().join("elsewhere.txt");
    std::fs::rename(words, &elsewhere).unwrap();
    let given = Inputs { vocabulary_file: Some(elsewhere), ..inputs(&[docword]) }.resolve().unwrap();
    assert_eq!(vocabulary(&given, &ALL), ["ant", "bee"]);
    assert_eq!(texts(&read(&given, &["bee"])), ["bee*3"]);
}

#[test]
fn several_inputs_are_one_stream_and_ranges_hold_for_the_vocabulary_too() {
    let folder = tempfile::tempdir().unwrap();
    let text = write(folder.path(), "a.txt", "one\n\nthree\n");
    let json = write(folder.path(), "b", "\n{\"text\": [\"four\", \"x\"]}\n");
    let counts = write(folder.path(), "docword.txt", "2\n2\n1\n2 1 1\n");
    write(folder.path(), "vocab.txt", "six\nunused\n");
    let paths = [text, json, counts];
    let whole = inputs(&paths).resolve().unwrap();
    assert_eq!(
        whole.formats().map(|(_, format)| format.name()).collect::<Vec<_>>(),
        ["text", "jsonl", "uci"]
    );
    assert_eq!(whole.expected_documents(), None);
    assert_eq!(vocabulary(&whole, &ALL), ["four", "one", "six", "three", "x"]);
    let words = ["one", "three", "four", "six"];
    assert_eq!(texts(&read(&whole, &words)), ["one*1", "", "three*1", "four*1", "", "six*1"]);
    let part = Inputs { skip: 2, limit: Some(2), ..inputs(&paths) }.resolve().unwrap();
    assert_eq!(texts(&read(&part, &words)), ["three*1", "four*1"]);
    assert_eq!(vocabulary(&part, &ALL), ["four", "three", "x"]);
    let beyond = Inputs { skip: 5, limit: Some(100), ..inputs(&paths) }.resolve().unwrap();
    assert_eq!(texts(&read(&beyond, &words)), ["six*1"]);
}

#[test]
fn a_vocabulary_file_restricts_and_limits_still_apply() {
    let folder = tempfile::tempdir().unwrap();
    let text = write(folder.path(), "a.txt", "cat cat dog eel eel eel\ndog");
    let words = write(folder.path(), "words.txt", "dog\ncat\nfox\n");
    let resolved = Inputs { vocabulary_file: Some(words), ..inputs(&[text]) }.resolve().unwrap();
    assert_eq!(vocabulary(&resolved, &ALL), ["dog", "cat", "fox"]);
    assert_eq!(vocabulary(&resolved, &VocabularyLimits { max_words: Some(1), ..ALL }), ["cat"]);
}

#[cfg(unix)]
#[test]
fn a_pipe_is_read_once_unless_spooled() {
    let folder = tempfile::tempdir().unwrap();
    let pipe = folder.path().join("pipe");
    let open = || {
        let _ = std::fs::remove_file(&pipe);
        assert!(std::process::Command::new("mkfifo").arg(&pipe).status().unwrap().success());
        let writer = pipe.clone();
        let feed = std::thread::spawn(move || std::fs::write(writer, "cat dog\ncat\n").unwrap());
        let resolved = inputs(std::slice::from_ref(&pipe)).resolve().unwrap();
        feed.join().unwrap();
        resolved
    };
    let once = open();
    assert!(once.is_read_once() && once.needs_spooling(&ALL));
    assert_eq!(texts(&read(&once, &["cat"])), ["cat*1", "cat*1"]);
    let again = once.documents(&Vocabulary::new(["cat"]).unwrap()).next().unwrap().unwrap_err();
    assert!(again.to_string().ends_with("cannot be read a second time; save it to a file and name the file"));
    let mut spooled = open();
    spooled.spool().unwrap();
    assert!(!spooled.is_read_once());
    assert_eq!(vocabulary(&spooled, &ALL), ["cat", "dog"]);
    assert_eq!(texts(&read(&spooled, &["cat"])), ["cat*1", "cat*1"]);
}
