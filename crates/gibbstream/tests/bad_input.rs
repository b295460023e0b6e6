//! Every malformed input is refused with a text that says what is wrong, where, and what to do.

#![allow(clippy::unwrap_used, reason = "helpers of tests count as tests")]

use std::io::Write;
use std::path::Path;

use gibbstream::corpus::{Document, Format, Inputs, StopWords, Tokenizer, Vocabulary, VocabularyLimits};
use gibbstream::{Error, Result};

/// One malformed input: the files (the first is read), how they are read, and the message, in which `DIR` is
/// the folder.
struct Case {
    files: Vec<(&'static str, Vec<u8>)>,
    change: fn(&mut Inputs, &Path),
    limits: VocabularyLimits,
    message: &'static str,
}

fn case(files: &[(&'static str, &[u8])], message: &'static str) -> Case {
    Case {
        files: files.iter().map(|&(name, content)| (name, content.to_vec())).collect(),
        change: |_, _| (),
        limits: VocabularyLimits::default(),
        message,
    }
}

impl Case {
    fn reading(self, change: fn(&mut Inputs, &Path)) -> Self {
        Self { change, ..self }
    }

    fn limited(self, limits: VocabularyLimits) -> Self {
        Self { limits, ..self }
    }
}

/// A corpus of two words with the given counts file.
fn uci(docword: &'static [u8], message: &'static str) -> Case {
    case(&[("docword.txt", docword), ("vocab.txt", b"cat\ndog\n")], message)
}

fn text(content: &'static [u8], message: &'static str) -> Case {
    case(&[("in.txt", content)], message)
}

fn json(content: &'static [u8], message: &'static str) -> Case {
    case(&[("in.jsonl", content)], message)
}

fn packed(name: &'static str, content: Vec<u8>, message: &'static str) -> Case {
    Case { files: vec![(name, content)], ..case(&[], message) }
}

fn read(inputs: Inputs, limits: &VocabularyLimits) -> Result<Vec<Document>> {
    let inputs = inputs.resolve()?;
    let vocabulary = inputs.vocabulary(limits, &mut |_| ())?;
    inputs.documents(&vocabulary).collect()
}

fn message_of(case: &Case) -> String {
    let folder = tempfile::tempdir().unwrap();
    for (name, content) in &case.files {
        std::fs::write(folder.path().join(name), content).unwrap();
    }
    let mut inputs = Inputs {
        tokenizer: Tokenizer { stop_words: StopWords::none(), ..Tokenizer::default() },
        ..Inputs::default()
    };
    inputs.paths.extend(case.files.first().map(|(name, _)| folder.path().join(name)));
    (case.change)(&mut inputs, folder.path());
    match read(inputs, &case.limits) {
        Ok(documents) => format!("no error, but {} documents", documents.len()),
        Err(error) => error.to_string().replace(folder.path().to_str().unwrap(), "DIR"),
    }
}

fn check(cases: &[Case]) {
    let wrong: Vec<String> = cases
        .iter()
        .map(|case| (message_of(case), case.message))
        .filter(|(message, expected)| message != expected)
        .map(|(message, expected)| format!("got      {message}\nexpected {expected}\n"))
        .collect();
    assert!(wrong.is_empty(), "{} of {} differ\n{}", wrong.len(), cases.len(), wrong.join("\n"));
}

/// Text that does not compress well, so that cut and damaged files have something to damage.
fn long_text() -> Vec<u8> {
    let mut state = 1_u64;
    let mut content = Vec::new();
    for _ in 0..20_000 {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        writeln!(content, "word{:x} film movie", state >> 33).unwrap();
    }
    content
}

fn gzip(content: &[u8]) -> Vec<u8> {
    let mut encoder = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::default());
    encoder.write_all(content).unwrap();
    encoder.finish().unwrap()
}

fn zstandard(content: &[u8]) -> Vec<u8> {
    let mut encoder = zstd::Encoder::new(Vec::new(), 3).unwrap();
    encoder.include_checksum(true).unwrap();
    encoder.write_all(content).unwrap();
    encoder.finish().unwrap()
}

fn bzip(content: &[u8]) -> Vec<u8> {
    let mut encoder = bzip2::write::BzEncoder::new(Vec::new(), bzip2::Compression::default());
    encoder.write_all(content).unwrap();
    encoder.finish().unwrap()
}

fn xz(content: &[u8]) -> Vec<u8> {
    let mut encoder = liblzma::write::XzEncoder::new(Vec::new(), 6);
    encoder.write_all(content).unwrap();
    encoder.finish().unwrap()
}

fn cut(mut packed: Vec<u8>) -> Vec<u8> {
    packed.truncate(packed.len() - packed.len() / 3);
    packed
}

fn flipped(mut packed: Vec<u8>, from_end: usize) -> Vec<u8> {
    let at = packed.len() - from_end;
    packed[at] ^= 0x55;
    packed
}

#[test]
fn files() {
    check(&[
        case(&[], "DIR/missing.txt: cannot open: No such file or directory (os error 2)")
            .reading(|inputs, folder| inputs.paths = vec![folder.join("missing.txt")]),
        case(&[], "DIR/no/such/folder.jsonl: cannot open: No such file or directory (os error 2)")
            .reading(|inputs, folder| inputs.paths = vec![folder.join("no/such/folder.jsonl")]),
        case(&[], "INPUT: nothing to read is named; name a file, or `-` for standard input")
            .reading(|inputs, _| inputs.paths = Vec::new()),
        case(&[], "INPUT: `-` is named twice; standard input can be read only once")
            .reading(|inputs, _| inputs.paths = vec!["-".into(), "-".into()]),
        case(
            &[],
            "DIR: is a folder without a docword file (docword.txt, also .gz, .zst, .bz2 or .xz); \
             name a file inside it, or a folder with a UCI corpus",
        )
        .reading(|inputs, folder| inputs.paths = vec![folder.into()]),
        case(&[("a.txt", b"x")], "DIR: is a folder, not a file; name a file inside it").reading(
            |inputs, folder| {
                inputs.paths = vec![folder.into()];
                inputs.format = Format::Text;
            },
        ),
        case(
            &[("docword.a.txt", b""), ("docword.b.txt", b"")],
            "DIR: holds several docword files (docword.a.txt, docword.b.txt); name one of them \
             instead of the folder",
        )
        .reading(|inputs, folder| inputs.paths = vec![folder.into()]),
        text(b"", "DIR/in.txt: contains no documents; check that this is the right file"),
        text(b"\xef\xbb\xbf", "DIR/in.txt: contains no documents; check that this is the right file"),
        json(b"", "DIR/in.jsonl: contains no documents; check that this is the right file"),
        json(b"\n  \n", "DIR/in.jsonl: contains no documents; check that this is the right file"),
        case(
            &[("a.txt", b"cat"), ("b.txt", b"")],
            "DIR/b.txt: contains no documents; check that this is the right file",
        )
        .reading(|inputs, folder| inputs.paths.push(folder.join("b.txt"))),
        text(
            b"cat\ndog\n",
            "DIR/in.txt: the input holds 2 documents, and 2 were to be skipped; skip fewer documents \
             (--skip-docs, --holdout)",
        )
        .reading(|inputs, _| inputs.skip = 2),
        text(
            b"cat\ndog\n",
            "DIR/in.txt: the input holds 2 documents, and 99 were to be skipped; skip fewer \
             documents (--skip-docs, --holdout)",
        )
        .reading(|inputs, _| inputs.skip = 99),
        case(
            &[("a.txt", b"cat"), ("b.txt", b"dog")],
            "DIR/b.txt: the inputs end here and hold 2 documents, and 2 were to be skipped; skip \
             fewer documents (--skip-docs, --holdout)",
        )
        .reading(|inputs, folder| {
            inputs.paths.push(folder.join("b.txt"));
            inputs.skip = 2;
        }),
        text(b"cat\n", "--limit-docs: 0 documents would be read; use at least 1")
            .reading(|inputs, _| inputs.limit = Some(0)),
        text(b"cat\n", "--ngrams: 9 is not between 1 and 5; 1 means single words, 2 adds pairs")
            .reading(|inputs, _| inputs.tokenizer.ngrams = 9),
        text(b"cat\n", "DIR/words.txt: cannot open: No such file or directory (os error 2)")
            .reading(|inputs, folder| inputs.vocabulary_file = Some(folder.join("words.txt"))),
    ]);
}

#[test]
fn texts() {
    let all = VocabularyLimits::default();
    check(&[
        text(
            b"fine\ncaf\xe9\n",
            "DIR/in.txt:2: is not UTF-8 text at byte 4 of the line; convert the file to UTF-8, for \
             example with `iconv`",
        ),
        text(
            b"\xff\xfec\0a\0t\0",
            "DIR/in.txt: is UTF-16 text; convert it to UTF-8, for example with `iconv -f UTF-16 -t \
             UTF-8`",
        ),
        text(
            b"cut \xf0\x9f",
            "DIR/in.txt:1: is not UTF-8 text at byte 5 of the line; convert the file to UTF-8, for \
             example with `iconv`",
        ),
        text(
            b"a 1 22\n",
            "vocabulary: no word was found in 1 documents; check the input, --text-field, \
             --stop-words and --min-length",
        ),
        text(
            b"\n\n",
            "vocabulary: no word was found in 2 documents; check the input, --text-field, \
             --stop-words and --min-length",
        ),
        text(
            b"cat dog\ncat\n",
            "vocabulary: none of the 2 distinct words of 2 documents is left: 2 are in fewer than 5 \
             documents (--min-df); lower --min-df",
        )
        .limited(VocabularyLimits { min_documents: 5, ..all }),
        text(
            b"cat dog\ncat dog\n",
            "vocabulary: none of the 2 distinct words of 2 documents is left: 2 are in more than 0.5 \
             of the documents (--max-df); raise --max-df",
        )
        .limited(VocabularyLimits { max_document_share: 0.5, ..all }),
        text(
            b"cat\n",
            "--max-df: 1.5 is not a share of the documents; use a number above 0 and at most 1, such \
             as 0.5",
        )
        .limited(VocabularyLimits { max_document_share: 1.5, ..all }),
        text(b"cat\n", "--max-vocab: 0 words cannot describe a document; use at least 1")
            .limited(VocabularyLimits { max_words: Some(0), ..all }),
    ]);
}

#[test]
fn vocabularies() {
    let with_words = |words: &'static [u8], message| {
        case(&[("in.txt", b"cat dog"), ("words.txt", words)], message)
            .reading(|inputs, folder| inputs.vocabulary_file = Some(folder.join("words.txt")))
    };
    check(&[
        with_words(b"", "DIR/words.txt: contains no words; a vocabulary file has one word a line"),
        with_words(b"\n\n", "DIR/words.txt: contains no words; a vocabulary file has one word a line"),
        with_words(
            b"cat\n\ndog\n",
            "DIR/words.txt:2: the line is empty; a vocabulary file has one word a line",
        ),
        with_words(
            b"cat\ndog\ncat\n",
            "DIR/words.txt:3: `cat` is already on line 1; every word may occur only once, because \
             documents are matched by spelling",
        ),
        with_words(
            b"cat\nd\xf6g\n",
            "DIR/words.txt:2: is not UTF-8 text at byte 2 of the line; convert the file to UTF-8, \
             for example with `iconv`",
        ),
    ]);
}

#[test]
fn json_lines() {
    check(&[
        json(
            b"{\"text\": \"cat\"}\n{\"text\": \"dog\"\n",
            "DIR/in.jsonl:2: is not valid JSON at column 14: EOF while parsing an object; every line \
             must hold one whole JSON object",
        ),
        json(
            b"{\"text\": \"cat}\n",
            "DIR/in.jsonl:1: is not valid JSON at column 14: EOF while parsing a string; every line \
             must hold one whole JSON object",
        ),
        json(
            b"{\"text\": \"cat\"} {\"text\": \"dog\"}\n",
            "DIR/in.jsonl:1: is not valid JSON at column 17: trailing characters; every line must \
             hold one whole JSON object",
        ),
        json(
            b"{\"text\": \"\\ud800\"}\n",
            "DIR/in.jsonl:1: is not valid JSON at column 17: unexpected end of hex escape; every \
             line must hold one whole JSON object",
        ),
        json(
            b"{text: 1}\n",
            "DIR/in.jsonl:1: is not valid JSON at column 2: key must be a string; every line must \
             hold one whole JSON object",
        ),
        json(
            b"{\n  \"text\": \"cat\"\n}\n",
            "DIR/in.jsonl:1: is not valid JSON at column 1: EOF while parsing an object; every line \
             must hold one whole JSON object",
        ),
        json(
            b"[{\"text\": \"cat\"}]\n",
            "DIR/in.jsonl:1: is a list, not a JSON object; write one object a line, such as {\"id\": \
             \"1\", \"text\": \"...\"}",
        ),
        json(
            b"\"cat\"\n",
            "DIR/in.jsonl:1: is a string, not a JSON object; write one object a line, such as \
             {\"id\": \"1\", \"text\": \"...\"}",
        ),
        json(
            b"17\n",
            "DIR/in.jsonl:1: is a number, not a JSON object; write one object a line, such as \
             {\"id\": \"1\", \"text\": \"...\"}",
        ),
        json(
            b"cat\n",
            "DIR/in.jsonl:1: is not valid JSON at column 1: expected value; every line must hold one \
             whole JSON object",
        ),
        json(
            b"{\"text\": \"caf\xe9\"}\n",
            "DIR/in.jsonl:1: is not UTF-8 text at byte 14 of the line; convert the file to UTF-8, \
             for example with `iconv`",
        ),
        json(
            b"{\"body\": \"cat\", \"id\": 1}\n",
            "DIR/in.jsonl:1: has no field `text` (fields: `body`, `id`); name the field that holds \
             the text with --text-field",
        ),
        json(
            b"{}\n",
            "DIR/in.jsonl:1: has no field `text` (fields: none); name the field that holds the text \
             with --text-field",
        ),
        json(
            b"{\"text\": \"cat\"}\n",
            "DIR/in.jsonl:1: has no field `body` (fields: `text`); name the field that holds the \
             text with --text-field",
        )
        .reading(|inputs, _| inputs.text_field = "body".into()),
        json(
            b"{\"text\": 3}\n",
            "DIR/in.jsonl:1: field `text` is a number, not a string or a list of tokens; name the \
             field that holds the text with --text-field",
        ),
        json(
            b"{\"text\": null}\n",
            "DIR/in.jsonl:1: field `text` is null, not a string or a list of tokens; name the field \
             that holds the text with --text-field",
        ),
        json(
            b"{\"text\": {\"en\": \"cat\"}}\n",
            "DIR/in.jsonl:1: field `text` is an object, not a string or a list of tokens; name the \
             field that holds the text with --text-field",
        ),
        json(
            b"{\"text\": [\"cat\", 7]}\n",
            "DIR/in.jsonl:1: token 2 of field `text` is a number; a list of tokens holds strings",
        ),
        json(
            b"{\"text\": [\"cat\\ndog\"]}\n",
            "DIR/in.jsonl:1: token 1 of field `text` has a line break in it; a list of tokens holds \
             strings",
        ),
        json(
            b"{\"text\": \"cat\", \"id\": [1]}\n",
            "DIR/in.jsonl:1: field `id` is a list, not a string or a number; name the field that \
             holds the document's name with --id-field",
        ),
        json(
            b"{\"text\": \"cat\", \"id\": true}\n",
            "DIR/in.jsonl:1: field `id` is true or false, not a string or a number; name the field \
             that holds the document's name with --id-field",
        ),
    ]);
}

#[test]
fn uci_headers() {
    check(&[
        uci(
            b"2\n",
            "DIR/docword.txt: the header ends before the number of words; the first three lines are \
             the numbers of documents, words and entries",
        ),
        uci(
            b"2\n2\n",
            "DIR/docword.txt: the header ends before the number of entries; the first three lines \
             are the numbers of documents, words and entries",
        ),
        uci(
            b"two\n2\n1\n1 1 1\n",
            "DIR/docword.txt:1: the number of documents `two` is not a number; the first three lines \
             are the numbers of documents, words and entries",
        ),
        uci(
            b"-2\n2\n1\n1 1 1\n",
            "DIR/docword.txt:1: the number of documents `-2` is negative; the first three lines are \
             the numbers of documents, words and entries",
        ),
        uci(
            b"2.5\n2\n1\n1 1 1\n",
            "DIR/docword.txt:1: the number of documents `2.5` is not a whole number; the first three \
             lines are the numbers of documents, words and entries",
        ),
        uci(
            b"99999999999999999999\n2\n1\n1 1 1\n",
            "DIR/docword.txt:1: the number of documents `99999999999999999999` is too large; the \
             first three lines are the numbers of documents, words and entries",
        ),
        uci(
            b"2 2 1\n1 1 1\n",
            "DIR/docword.txt:1: the number of documents `2 2 1` is not a number; the first three \
             lines are the numbers of documents, words and entries",
        ),
        uci(
            b"1 1 1\n1 2 1\n2 1 1\n",
            "DIR/docword.txt:1: the number of documents `1 1 1` is not a number; the first three \
             lines are the numbers of documents, words and entries",
        ),
        uci(
            b"2\n3\n1\n1 1 1\n",
            "DIR/vocab.txt: holds 2 words, but the header of DIR/docword.txt says 3; use the \
             vocabulary file that belongs to it",
        ),
        uci(
            b"2\n1\n1\n1 1 1\n",
            "DIR/vocab.txt: holds 2 words, but the header of DIR/docword.txt says 1; use the \
             vocabulary file that belongs to it",
        ),
        uci(
            b"2\n2\n3\n1 1 1\n2 1 1\n",
            "DIR/docword.txt:5: the file ends after 2 of the 3 entries that the header promises; the \
             file was cut short, or the header does not belong to it",
        ),
        uci(
            b"2\n2\n1\n1 1 1\n2 1 1\n",
            "DIR/docword.txt:5: there are more entries than the 1 that the header promises; the \
             header does not belong to this file, or the file was changed by hand",
        ),
        uci(
            b"2\n2\n0\n1 1 1\n",
            "DIR/docword.txt:4: there are more entries than the 0 that the header promises; the \
             header does not belong to this file, or the file was changed by hand",
        ),
        uci(
            b"1\n2\n2\n1 1 1\n2 1 1\n",
            "DIR/docword.txt:5: document id 2, but the header promises only 1 documents; the header \
             does not belong to this file, or the file was changed by hand",
        ),
        uci(b"0\n2\n0\n", "DIR/docword.txt: contains no documents; check that this is the right file"),
        uci(
            b"0\n2\n1\n1 1 1\n",
            "DIR/docword.txt:4: document id 1, but the header promises only 0 documents; the header \
             does not belong to this file, or the file was changed by hand",
        ),
        uci(b"", "DIR/docword.txt: contains no documents; check that this is the right file"),
        uci(
            b"\n\n",
            "DIR/docword.txt: the header ends before the number of documents; the first three lines \
             are the numbers of documents, words and entries",
        ),
        case(
            &[("docword.txt", b"1\n2\n1\n1 1 1\n")],
            "DIR/docword.txt: holds UCI counts, but there is no vocab.txt beside it; give the file \
             with the words, one a line, with --vocab",
        ),
        case(
            &[("counts", b"1\n2\n1\n1 1 1\n")],
            "DIR/counts: holds UCI counts, but there is no vocab.txt beside it; give the file with \
             the words, one a line, with --vocab",
        ),
        case(
            &[("docword.txt", b"1\n2\n1\n1 1 1\n"), ("vocab.txt", b"cat\ncat\n")],
            "DIR/vocab.txt:2: `cat` is already on line 1; every word may occur only once, because \
             documents are matched by spelling",
        ),
        case(
            &[("docword.txt", b"1\n2\n1\n1 1 1\n"), ("vocab.txt", b"cat\n\n")],
            "DIR/vocab.txt: holds 1 words, but the header of DIR/docword.txt says 2; use the \
             vocabulary file that belongs to it",
        ),
        case(
            &[("x.txt", b"a b c\n"), ("vocab.txt", b"cat\n")],
            "DIR/x.txt:1: the number of documents `a b c` is not a number; the first three lines are \
             the numbers of documents, words and entries",
        )
        .reading(|inputs, _| inputs.format = Format::Uci),
    ]);
}

#[test]
fn uci_entries() {
    check(&[
        uci(
            b"2\n2\n2\n1 1 1\n2 0 1\n",
            "DIR/docword.txt:5: word id 0; ids count from 1; check that this is the docword file, \
             not another format",
        ),
        uci(
            b"2\n2\n2\n1 1 1\n2 3 1\n",
            "DIR/docword.txt:5: word id 3, but there are only 2 words; the header does not belong to \
             this file, or the file was changed by hand",
        ),
        uci(
            b"2\n2\n1\n1 1 -1\n",
            "DIR/docword.txt:4: the count `-1` is negative; every line after the header is `document \
             word count`, three whole numbers",
        ),
        uci(
            b"2\n2\n1\n1 1 1.5\n",
            "DIR/docword.txt:4: the count `1.5` is not a whole number; every line after the header \
             is `document word count`, three whole numbers",
        ),
        uci(
            b"2\n2\n1\n1 1 NaN\n",
            "DIR/docword.txt:4: the count `NaN` is not a number; every line after the header is \
             `document word count`, three whole numbers",
        ),
        uci(
            b"2\n2\n1\n1 1 inf\n",
            "DIR/docword.txt:4: the count `inf` is not a number; every line after the header is \
             `document word count`, three whole numbers",
        ),
        uci(b"2\n2\n1\n1 1 0\n", "DIR/docword.txt:4: the count is 0; leave out words that do not occur"),
        uci(
            b"2\n2\n1\n1 1 4294967296\n",
            "DIR/docword.txt:4: the count 4294967296 is too large; a count is at most 4294967295",
        ),
        uci(
            b"2\n2\n1\n1 1 18446744073709551616\n",
            "DIR/docword.txt:4: the count `18446744073709551616` is too large; every line after the \
             header is `document word count`, three whole numbers",
        ),
        uci(
            b"2\n2\n1\n1 1 one\n",
            "DIR/docword.txt:4: the count `one` is not a number; every line after the header is \
             `document word count`, three whole numbers",
        ),
        uci(
            b"2\n2\n1\n1 +1 1\n",
            "DIR/docword.txt:4: the word id `+1` is not a whole number; every line after the header \
             is `document word count`, three whole numbers",
        ),
        uci(
            b"2\n2\n1\n1,1,1\n",
            "DIR/docword.txt:4: the line has 1 fields instead of 3; every line after the header is \
             `document word count`, three whole numbers",
        ),
        uci(
            b"2\n2\n1\n1 1\n",
            "DIR/docword.txt:4: the line has 2 fields instead of 3; every line after the header is \
             `document word count`, three whole numbers",
        ),
        uci(
            b"2\n2\n1\n1 1 1 1\n",
            "DIR/docword.txt:4: the line has 4 fields instead of 3; every line after the header is \
             `document word count`, three whole numbers",
        ),
        uci(
            b"2\n2\n1\n1 1 1\0\n",
            "DIR/docword.txt:4: the count `1\\0` is not a number; every line after the header is \
             `document word count`, three whole numbers",
        ),
        uci(
            b"2\n2\n1\n1 \xff 1\n",
            "DIR/docword.txt:4: the word id `�` is not a number; every line after the header is \
             `document word count`, three whole numbers",
        ),
        uci(
            b"2\n2\n1\n0 1 1\n",
            "DIR/docword.txt:4: document id 0; ids count from 1; check that this is the docword \
             file, not another format",
        ),
        uci(
            b"2\n2\n1\n3 1 1\n",
            "DIR/docword.txt:4: document id 3, but the header promises only 2 documents; the header \
             does not belong to this file, or the file was changed by hand",
        ),
        uci(
            b"2\n2\n1\n-1 1 1\n",
            "DIR/docword.txt:4: the document id `-1` is negative; every line after the header is \
             `document word count`, three whole numbers",
        ),
        uci(
            b"2\n2\n2\n2 1 1\n1 1 1\n",
            "DIR/docword.txt:5: unsorted: document id 1 after 2; documents must be in order; sort \
             the lines after the header, for example with `sort -n -k1,1 -s`",
        ),
        uci(
            b"2\n2\n2\n1 1 16777216\n1 2 1\n",
            "DIR/docword.txt:5: document 1 has more than 16777216 tokens; split it into smaller \
             documents",
        ),
        uci(
            b"2\n2\n1\n2 1 4294967295\n",
            "DIR/docword.txt:4: document 2 has more than 16777216 tokens; split it into smaller \
             documents",
        ),
        uci(
            b"3\n2\n3\n1 1 1\n2 1 1\n\n3 2\n",
            "DIR/docword.txt:7: the line has 2 fields instead of 3; every line after the header is \
             `document word count`, three whole numbers",
        ),
        uci(
            b"2\n2\n1\n2 9 1\n",
            "DIR/docword.txt:4: word id 9, but there are only 2 words; the header does not belong to \
             this file, or the file was changed by hand",
        )
        .reading(|inputs, _| inputs.skip = 1),
    ]);
}

#[test]
fn compressed_files() {
    let content = long_text();
    check(&[
        packed(
            "in.gz",
            cut(gzip(&content)),
            "DIR/in.gz:13320: ends in the middle of its gzip data; the file was cut short; copy or \
             download it again",
        ),
        packed(
            "in.zst",
            cut(zstandard(&content)),
            "DIR/in.zst:10983: ends in the middle of its zstd data; the file was cut short; copy or \
             download it again",
        ),
        packed(
            "in.bz2",
            cut(bzip(&content)),
            "DIR/in.bz2:1: ends in the middle of its bzip2 data; the file was cut short; copy or \
             download it again",
        ),
        packed(
            "in.xz",
            cut(xz(&content)),
            "DIR/in.xz:13320: ends in the middle of its xz data; the file was cut short; copy or \
             download it again",
        ),
        packed(
            "small.gz",
            cut(gzip(b"cat dog\n")),
            "DIR/small.gz:1: ends in the middle of its gzip data; the file was cut short; copy or \
             download it again",
        ),
        packed(
            "small.zst",
            cut(zstandard(b"cat dog\n")),
            "DIR/small.zst:1: ends in the middle of its zstd data; the file was cut short; copy or \
             download it again",
        ),
        packed(
            "small.bz2",
            cut(bzip(b"cat dog\n")),
            "DIR/small.bz2:1: ends in the middle of its bzip2 data; the file was cut short; copy or \
             download it again",
        ),
        packed(
            "small.xz",
            cut(xz(b"cat dog\n")),
            "DIR/small.xz:1: ends in the middle of its xz data; the file was cut short; copy or \
             download it again",
        ),
        packed(
            "checksum.gz",
            flipped(gzip(b"cat dog\n"), 8),
            "DIR/checksum.gz:1: corrupt gzip data (corrupt gzip stream does not have a matching \
             checksum); the file is damaged; copy or download it again",
        ),
        packed(
            "checksum.zst",
            flipped(zstandard(b"cat dog\n"), 1),
            "DIR/checksum.zst:1: corrupt zstd data (Restored data doesn't match checksum); the file \
             is damaged; copy or download it again",
        ),
        packed(
            "checksum.bz2",
            flipped(bzip(b"cat dog\n"), 2),
            "DIR/checksum.bz2:1: corrupt bzip2 data (bzip2: invalid data); the file is damaged; copy \
             or download it again",
        ),
        packed(
            "checksum.xz",
            flipped(xz(b"cat dog\n"), 30),
            "DIR/checksum.xz:1: corrupt xz data (lzma data error); the file is damaged; copy or \
             download it again",
        ),
        packed(
            "garbage.gz",
            [gzip(b"cat dog\n"), b"garbage".to_vec()].concat(),
            "DIR/garbage.gz:1: ends in the middle of its gzip data; the file was cut short; copy or \
             download it again",
        ),
        packed(
            "garbage.zst",
            [zstandard(b"cat dog\n"), b"garbage".to_vec()].concat(),
            "DIR/garbage.zst:1: corrupt zstd data (Unknown frame descriptor); the file is damaged; \
             copy or download it again",
        ),
        packed(
            "empty.gz",
            gzip(b""),
            "DIR/empty.gz: contains no documents; check that this is the right file",
        ),
        packed(
            "empty.zst",
            zstandard(b""),
            "DIR/empty.zst: contains no documents; check that this is the right file",
        ),
        packed(
            "middle.zst",
            flipped(zstandard(&content), 100_000),
            "DIR/middle.zst:16476: corrupt zstd data (Restored data doesn't match checksum); the \
             file is damaged; copy or download it again",
        ),
    ]);
}

#[test]
fn an_error_ends_the_stream() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("in.jsonl");
    std::fs::write(&path, "{\"text\": \"cat\"}\nbroken\n{\"text\": \"cat\"}\n").unwrap();
    let inputs = Inputs { paths: vec![path], ..Inputs::default() }.resolve().unwrap();
    let mut documents = inputs.documents(&Vocabulary::new(["cat"]).unwrap());
    assert!(documents.next().unwrap().is_ok());
    let Some(Err(Error::Corpus { place, .. })) = documents.next() else { panic!("line 2 is broken") };
    assert_eq!(place.line, Some(2));
    assert!(documents.next().is_none());
}

fn named(name: &'static str, content: &'static [u8], message: &'static str) -> Case {
    case(&[(name, content)], message)
}

#[test]
fn tables() {
    check(&[
        named("a.csv", b"", "DIR/a.csv: contains no documents; check that this is the right file"),
        named("a.csv", b"id,text\n", "DIR/a.csv: contains no documents; check that this is the right file"),
        named(
            "a.csv",
            b"id,body\n1,cat\n",
            "DIR/a.csv:1: has no column `text` (columns: `id`, `body`); name the column that holds the text with \
             --text-field",
        ),
        named(
            "a.csv",
            b"id,text\n1,cat\n2,dog,emu\n",
            "DIR/a.csv:3: the record has 3 fields instead of 2; every record has as many fields as the first; quote \
             fields that contain a separator",
        ),
        named(
            "a.csv",
            b"id,text\n1,\"cat\ndog\"\n2\n",
            "DIR/a.csv:4: the record has 1 fields instead of 2; every record has as many fields as the first; quote \
             fields that contain a separator",
        ),
        named(
            "a.csv",
            b"id,text\n1,caf\xe9\n",
            "DIR/a.csv:2: column `text` is not UTF-8 text at its byte 4; convert the file to UTF-8, for example with \
             `iconv`",
        ),
        named(
            "a.csv",
            b"id,text\n\xff,cat\n",
            "DIR/a.csv:2: column `id` is not UTF-8 text at its byte 1; convert the file to UTF-8, for example with \
             `iconv`",
        ),
        named(
            "a.tsv",
            b"id,text\n1,cat\n",
            "DIR/a.tsv:1: has no column `text` (columns: `id,text`); name the column that holds the text with \
             --text-field",
        ),
        packed(
            "a.csv",
            cut(gzip(&[b"text\n".to_vec(), long_text()].concat())),
            "DIR/a.csv:1: ends in the middle of its gzip data; the file was cut short; copy or download it again",
        ),
        named(
            "a.parquet",
            b"PAR1PAR1",
            "DIR/a.parquet: damaged Parquet data (EOF: Parquet file too small. Size is 8 but need 827474264); check that \
             the file is whole; write or copy it again",
        ),
    ]);
}

#[test]
fn pairs() {
    const LDAC: &str = "every line is `pairs word:count word:count ...`, words counted from 0";
    const SVM: &str = "every line is `label word:count word:count ...`, words counted from 1";
    let ldac =
        |content, problem: &str| named("a.ldac", content, format!("DIR/a.ldac{problem}; {LDAC}").leak());
    let svm = |content, problem: &str| named("a.svm", content, format!("DIR/a.svm{problem}; {SVM}").leak());
    let words: fn(&mut Inputs, &Path) = |inputs, folder| {
        std::fs::write(folder.join("words.txt"), "cat\ndog\n").unwrap();
        inputs.vocabulary_file = Some(folder.join("words.txt"));
    };
    check(&[
        ldac(b"1 0:1\n2 0:1\n", ":2: the line promises 2 pairs and has 1"),
        ldac(b"1 0:1 1:1\n", ":1: the line promises 1 pairs and has 2"),
        ldac(b"x 0:1\n", ":1: the number of pairs `x` is not a number"),
        ldac(b"1 0\n", ":1: `0` is not a pair"),
        ldac(b"1 a:1\n", ":1: the word id `a` is not a number"),
        ldac(b"1 -1:1\n", ":1: the word id `-1` is negative"),
        ldac(b"1 0:x\n", ":1: the count `x` is not a number"),
        ldac(b"1 0:1.5\n", ":1: the count `1.5` is not a whole number"),
        ldac(b"1 0:-2\n", ":1: the count `-2` is negative"),
        ldac(b"1 0:4294967296\n", ":1: the count 4294967296 is larger than 4294967295"),
        ldac(b"1 2:1\n", ":1: word id 2, but there are only 2 words").reading(words),
        svm(b"1 1:1\n1:1\n", ":2: the line begins without a label"),
        svm(b"1 1:1 two\n", ":1: `two` is not a pair"),
        svm(b"1 0:1\n", ":1: word id 0, but ids count from 1"),
        svm(b"1 3:1\n", ":1: word id 3, but there are only 2 words").reading(words),
        svm(b"1 1:nan\n", ":1: the count `nan` is not a number"),
        svm(b"1 1:inf\n", ":1: the count `inf` is not a number"),
        svm(b"1 1:\n", ":1: the count `` is not a number"),
        svm(b"1 1:1e300\n", ":1: the count `1e300` is not a whole number"),
        svm(b"1 99999999999999999999:1\n", ":1: the word id `99999999999999999999` is too large"),
        named("a.svm", b"# nothing\n", "DIR/a.svm: contains no documents; check that this is the right file"),
    ]);
}

#[test]
fn matrix_market() {
    const ENTRY: &str = "every line after the header is `row column count`, whole numbers";
    const SIZES: &str = "after the comments comes a line with the numbers of rows, columns and entries";
    let market = |content, message: String| named("a.mtx", content, message.leak());
    let first = "DIR/a.mtx:1: is not the first line of a sparse Matrix Market file of counts; it should be \
                 `%%MatrixMarket matrix coordinate integer general`";
    check(&[
        market(b"%%MatrixMarket matrix array integer general\n2 2\n1\n", first.into()),
        market(b"%%MatrixMarket matrix coordinate complex general\n1 1 1\n1 1 1 0\n", first.into()),
        market(b"%%MatrixMarket matrix coordinate integer symmetric\n1 1 1\n1 1 1\n", first.into()),
        market(b"%%MatrixMarket\n", first.into()),
        market(
            b"%%MatrixMarket matrix coordinate integer general\n% x\n",
            format!("DIR/a.mtx: the header ends before the sizes; {SIZES}"),
        ),
        market(
            b"%%MatrixMarket matrix coordinate integer general\n2 2\n",
            format!("DIR/a.mtx:2: the sizes are not three whole numbers; {SIZES}"),
        ),
        market(
            b"%%MatrixMarket matrix coordinate integer general\n2 2 1\n1 1 0.5\n",
            format!("DIR/a.mtx:3: the count `0.5` is not a whole number; {ENTRY}"),
        ),
        market(
            b"%%MatrixMarket matrix coordinate integer general\n2 2 1\n1 1\n",
            format!("DIR/a.mtx:3: the line has 2 fields; {ENTRY}"),
        ),
        market(
            b"%%MatrixMarket matrix coordinate integer general\n2 2 1\n1 x 1\n",
            format!("DIR/a.mtx:3: the column `x` is not a number; {ENTRY}"),
        ),
        market(
            b"%%MatrixMarket matrix coordinate integer general\n2 2 2\n2 1 1\n1 2 1\n",
            "DIR/a.mtx:4: unsorted: document id 1 after 2; documents must be in order; sort the lines after the \
             header, for example with `sort -n -k1,1 -s`"
                .into(),
        ),
        market(
            b"%%MatrixMarket matrix coordinate integer general\n2 2 2\n2 1 1\n",
            "DIR/a.mtx:3: the file ends after 1 of the 2 entries that the header promises; the file was cut short, or \
             the header does not belong to it"
                .into(),
        ),
        market(
            b"%%MatrixMarket matrix coordinate integer general\n2 2 1\n1 3 1\n",
            "DIR/a.mtx:3: word id 3, but there are only 2 words; the header does not belong to this file, or the file \
             was changed by hand"
                .into(),
        ),
    ]);
}
