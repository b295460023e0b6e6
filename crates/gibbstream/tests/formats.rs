//! One corpus in every format: the documents are the same, and so are those of patterns and compressed files.

#![allow(missing_docs, clippy::unwrap_used)]

use std::fs::File;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use gibbstream::corpus::{Document, Format, Inputs, StopWords, Tokenizer, Vocabulary, VocabularyLimits};
use parquet::data_type::{ByteArray, ByteArrayType, Int64Type};
use parquet::file::properties::WriterProperties;
use parquet::file::writer::SerializedFileWriter;
use parquet::schema::parser::parse_message_type;

const WORDS: [&str; 4] = ["cat", "dog", "emu", "fox"];

/// Counts of the four words in each document; the third document is empty.
const COUNTS: [[u32; 4]; 4] = [[2, 0, 1, 0], [0, 3, 0, 0], [0; 4], [1, 1, 1, 5]];

fn expected() -> Vec<Vec<(u32, u32)>> {
    let document =
        |counts: &[u32; 4]| (0..4).zip(counts.iter().copied()).filter(|&(_, count)| count > 0).collect();
    COUNTS.iter().map(document).collect()
}

fn tokens(counts: &[u32; 4]) -> Vec<&'static str> {
    WORDS.iter().zip(counts).flat_map(|(word, &count)| std::iter::repeat_n(*word, count as usize)).collect()
}

fn pairs(first: usize, counts: &[u32; 4]) -> Vec<String> {
    let pair = |(word, count): (usize, &u32)| format!("{}:{count}", word + first);
    counts.iter().enumerate().filter(|(_, count)| **count > 0).map(pair).collect()
}

fn triplets(swapped: bool) -> String {
    let mut lines = Vec::new();
    for (document, counts) in COUNTS.iter().enumerate() {
        for (word, count) in counts.iter().enumerate().filter(|(_, count)| **count > 0) {
            let (a, b) = if swapped { (word, document) } else { (document, word) };
            lines.push(format!("{} {} {count}\n", a + 1, b + 1));
        }
    }
    lines.concat()
}

fn lines(line: impl Fn(&[u32; 4]) -> String) -> String {
    COUNTS.iter().map(|counts| line(counts) + "\n").collect::<Vec<_>>().concat()
}

fn write(folder: &Path, name: &str, content: impl AsRef<[u8]>) -> PathBuf {
    let path = folder.join(name);
    std::fs::write(&path, content).unwrap();
    path
}

fn inputs(path: &Path) -> Inputs {
    Inputs {
        paths: vec![path.to_path_buf()],
        tokenizer: Tokenizer { stop_words: StopWords::none(), ..Tokenizer::default() },
        ..Inputs::default()
    }
}

fn documents(inputs: Inputs) -> Vec<Document> {
    let vocabulary = Vocabulary::new(WORDS).unwrap();
    inputs.resolve().unwrap().documents(&vocabulary).collect::<Result<_, _>>().unwrap()
}

fn words_of(inputs: Inputs) -> Vec<Vec<(u32, u32)>> {
    documents(inputs).into_iter().map(|document| document.words).collect()
}

fn format_of(inputs: Inputs) -> Format {
    inputs.resolve().unwrap().formats().next().unwrap().1
}

#[test]
fn every_format_gives_the_same_documents() {
    let folder = tempfile::tempdir().unwrap();
    let root = folder.path();
    write(root, "vocab.txt", WORDS.join("\n"));
    let text = lines(|counts| tokens(counts).join(" "));
    let json = lines(|counts| serde_json::json!({ "text": tokens(counts) }).to_string());
    let table = |separator: &str| {
        let rows = lines(|counts| format!("x{separator}\"{}\"", tokens(counts).join("\n")));
        format!("id{separator}text\n{rows}")
    };
    let ldac =
        lines(|counts| [vec![pairs(0, counts).len().to_string()], pairs(0, counts)].concat().join(" "));
    let svm = lines(|counts| [vec!["-1.5".to_owned()], pairs(1, counts)].concat().join(" ") + " # a comment");
    let entries = triplets(false).lines().count();
    let market = |kind: &str, rows: usize, columns: usize, body: String| {
        format!(
            "%%MatrixMarket matrix coordinate {kind} general\n% a comment\n%\n{rows} {columns} {entries}\n{body}"
        )
    };
    for (name, content, format) in [
        ("a.txt", text, Format::Text),
        ("a.jsonl", json, Format::JsonLines),
        ("a.csv", table(","), Format::Csv),
        ("a.tsv", table("\t"), Format::Csv),
        ("b.ldac", ldac.clone(), Format::LdaC),
        ("b.dat", ldac, Format::LdaC),
        ("b.svmlight", svm.clone(), Format::Svmlight),
        ("b", svm, Format::Svmlight),
        ("c.mtx", market("integer", 4, 4, triplets(false)), Format::MatrixMarket),
        ("c", market("real", 4, 4, triplets(false).replace('\n', ".0\n")), Format::MatrixMarket),
        ("docword.txt", format!("4\n4\n{entries}\n{}", triplets(false)), Format::Uci),
    ] {
        for packed in [false, true] {
            let bytes = content.clone().into_bytes();
            let content = if packed { zstd::encode_all(&*bytes, 3).unwrap() } else { bytes };
            let path = write(root, name, content);
            let input = Inputs { vocabulary_file: Some(root.join("vocab.txt")), ..inputs(&path) };
            assert_eq!(format_of(input.clone()), format, "{name}");
            assert_eq!(words_of(input.clone()), expected(), "{name}");
            // Passing over documents and passing over bad ones change nothing.
            for skip_bad in [false, true] {
                let later = Inputs { skip: 1, limit: Some(3), skip_bad, ..input.clone() };
                assert_eq!(words_of(later), expected()[1..], "{name}");
            }
        }
    }
    let path = write(root, "t.mtx", market("integer", 4, 4, sorted_by_column()));
    let input = Inputs { vocabulary_file: Some(root.join("vocab.txt")), transpose: true, ..inputs(&path) };
    assert_eq!(words_of(input), expected());
}

/// The transposed matrix, whose columns are documents in order.
fn sorted_by_column() -> String {
    triplets(true)
}

#[test]
fn words_without_names_are_called_by_their_numbers() {
    let folder = tempfile::tempdir().unwrap();
    let market = "%%MatrixMarket matrix coordinate pattern general\n2 9 3\n1 7\n1 9\n2 7\n";
    for (name, content, words) in [
        ("a.ldac", "2 7:1 9:4\n1 7:2\n", ["7", "9"]),
        ("a.svm", "1 7:1 9:4\n0 7:2\n", ["9", "7"]),
        ("a.mtx", market, ["7", "9"]),
    ] {
        let input = inputs(&write(folder.path(), name, content)).resolve().unwrap();
        let vocabulary = input.vocabulary(&VocabularyLimits::default(), &mut |_| ()).unwrap();
        let mut found: Vec<&str> = vocabulary.words().collect();
        let mut words = words.to_vec();
        found.sort_unstable();
        words.sort_unstable();
        assert_eq!(found, words, "{name}");
        assert_eq!(input.documents(&vocabulary).count(), 2, "{name}");
    }
}

#[test]
fn columns_are_found_by_name_and_records_may_span_lines() {
    let folder = tempfile::tempdir().unwrap();
    let content = "\u{feff}name,body,year\r\nfirst,\"cat, \"\"dog\"\"\r\nemu\",1999\r\n,fox,2000\r\n";
    let path = write(folder.path(), "a.csv", content);
    let input = Inputs { text_field: "body".into(), id_field: "name".into(), ..inputs(&path) };
    let found = documents(input);
    assert_eq!(found[0].words, [(0, 1), (1, 1), (2, 1)]);
    assert_eq!((found[0].id.as_deref(), found[1].id.as_deref()), (Some("first"), None));
    assert_eq!((found.len(), found[1].words.as_slice()), (2, &[(3, 1)][..]));
}

#[test]
fn patterns_are_the_files_in_order_of_their_names() {
    let folder = tempfile::tempdir().unwrap();
    for (name, word) in [("b-2.txt", "dog"), ("b-1.txt", "cat"), ("a.txt", "emu"), ("b-1.csv", "text\nfox")] {
        write(folder.path(), name, word);
    }
    assert_eq!(words_of(inputs(&folder.path().join("b-*.txt"))), [[(0, 1)], [(1, 1)]]);
    assert_eq!(words_of(inputs(&folder.path().join("?-[12].*"))), [[(3, 1)], [(0, 1)], [(1, 1)]]);
    let refused = inputs(&folder.path().join("z*")).resolve().err().unwrap().to_string();
    let pattern = folder.path().join("z*").display().to_string();
    assert_eq!(refused, format!("INPUT: no file matches `{pattern}`; check the pattern, or name the files"));
    // A file may be called like a pattern.
    assert_eq!(words_of(inputs(&write(folder.path(), "b*.txt", "fox"))), [[(3, 1)]]);
}

/// A file with a column of each kind, the third row of which is an empty document.
fn write_parquet(path: &Path) {
    let schema = "message schema {
        required binary id (UTF8);
        required binary text (UTF8);
        required group tokens (LIST) { repeated group list { required binary element (UTF8); } }
        required group ids (LIST) { repeated group list { required int64 element; } }
        required group counts (LIST) { repeated group list { required int64 element; } }
    }";
    let schema = Arc::new(parse_message_type(schema).unwrap());
    let properties = WriterProperties::builder().set_compression(parquet::basic::Compression::SNAPPY).build();
    let mut writer =
        SerializedFileWriter::new(File::create(path).unwrap(), schema, Arc::new(properties)).unwrap();
    let bytes =
        |texts: &[String]| texts.iter().map(|text| ByteArray::from(text.as_str())).collect::<Vec<_>>();
    // Two row groups.
    for part in COUNTS.chunks(3) {
        let mut group = writer.next_row_group().unwrap();
        let texts: Vec<String> = part.iter().map(|counts| tokens(counts).join(" ")).collect();
        for values in [part.iter().map(|counts| format!("d{}", counts[0])).collect::<Vec<_>>(), texts] {
            let mut column = group.next_column().unwrap().unwrap();
            column.typed::<ByteArrayType>().write_batch(&bytes(&values), None, None).unwrap();
            column.close().unwrap();
        }
        // An empty list has one entry with levels 0.
        let levels = |lengths: Vec<usize>| -> (Vec<i16>, Vec<i16>) {
            let definition = lengths.iter().flat_map(|&length| vec![i16::from(length > 0); length.max(1)]);
            let repetition =
                lengths.iter().flat_map(|&length| (0..length.max(1)).map(|place| i16::from(place > 0)));
            (definition.collect(), repetition.collect())
        };
        let (definition, repetition) = levels(part.iter().map(|counts| tokens(counts).len()).collect());
        let all: Vec<String> = part.iter().flat_map(|counts| tokens(counts)).map(str::to_owned).collect();
        let mut column = group.next_column().unwrap().unwrap();
        column
            .typed::<ByteArrayType>()
            .write_batch(&bytes(&all), Some(&definition), Some(&repetition))
            .unwrap();
        column.close().unwrap();
        let (definition, repetition) = levels(part.iter().map(|counts| pairs(0, counts).len()).collect());
        let entries: Vec<(i64, i64)> = part
            .iter()
            .flat_map(|counts| {
                (0..).zip(counts).filter(|(_, count)| **count > 0).map(|(w, &c)| (w, i64::from(c)))
            })
            .collect();
        for values in [
            entries.iter().map(|pair| pair.0).collect::<Vec<_>>(),
            entries.iter().map(|pair| pair.1).collect(),
        ] {
            let mut column = group.next_column().unwrap().unwrap();
            column.typed::<Int64Type>().write_batch(&values, Some(&definition), Some(&repetition)).unwrap();
            column.close().unwrap();
        }
        group.close().unwrap();
    }
    writer.close().unwrap();
}

#[test]
fn parquet_columns_of_text_tokens_and_ids() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("a.parquet");
    write_parquet(&path);
    let vocabulary_file = Some(write(folder.path(), "vocab.txt", WORDS.join("\n")));
    assert_eq!(format_of(inputs(&path)), Format::Parquet);
    for field in ["text", "ids"] {
        let input =
            Inputs { text_field: field.into(), vocabulary_file: vocabulary_file.clone(), ..inputs(&path) };
        assert_eq!(words_of(input.clone()), expected(), "{field}");
        assert_eq!(words_of(Inputs { skip: 3, ..input }), expected()[3..], "{field}");
    }
    assert_eq!(documents(inputs(&path))[0].id.as_deref(), Some("d2"));
    // Packed as a whole, it cannot be read from its end: it is unpacked first.
    let packed = write(folder.path(), "b.zst", zstd::encode_all(&*std::fs::read(&path).unwrap(), 3).unwrap());
    assert_eq!(words_of(inputs(&packed)), expected());
    let refused = |input: Inputs| {
        let input = input.resolve().unwrap();
        let vocabulary = Vocabulary::new(WORDS).unwrap();
        let error = input.documents(&vocabulary).find_map(Result::err).unwrap().to_string();
        error.replace(folder.path().to_str().unwrap(), "DIR")
    };
    assert_eq!(
        refused(Inputs { text_field: "body".into(), ..inputs(&path) }),
        "DIR/a.parquet: has no column `body` (columns: `id`, `text`, `tokens`, `ids`, `counts`); \
         name the column that holds the text with `text-field`"
    );
    assert_eq!(
        refused(Inputs { text_field: "tokens".into(), ..inputs(&path) }),
        "DIR/a.parquet: row 1: `tokens` has 3 elements and `counts` has 2; give one count for each word"
    );
    let few = write(folder.path(), "few.txt", "cat\ndog\n");
    assert_eq!(
        refused(Inputs { text_field: "ids".into(), vocabulary_file: Some(few), ..inputs(&path) }),
        "DIR/a.parquet: row 1: word id 2, but there are only 2 words; check the words given with `vocab`"
    );
    let bytes = std::fs::read(&path).unwrap();
    let cut = write(folder.path(), "a.parquet", &bytes[..bytes.len() - 9]);
    let text = refused(inputs(&cut));
    assert!(text.starts_with("DIR/a.parquet: damaged Parquet data ("), "{text}");
    assert!(text.ends_with("); check that the file is whole; write or copy it again"), "{text}");
}

#[test]
fn parquet_compressed_in_a_way_that_is_not_read_is_refused_by_name() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("in.parquet");
    write_parquet(&path);
    let mut bytes = std::fs::read(&path).unwrap();
    // The number of the codec stands behind the name of the column: 1 is Snappy, 4 is Brotli, each times two.
    let (snappy, brotli) = (b"\x18\x04text\x15\x02", b"\x18\x04text\x15\x08");
    let at = bytes.windows(snappy.len()).position(|window| window == snappy).unwrap();
    bytes[at..at + brotli.len()].copy_from_slice(brotli);
    std::fs::write(&path, bytes).unwrap();
    let inputs = inputs(&path).resolve().unwrap();
    let error = inputs.vocabulary(&VocabularyLimits::default(), &mut |_| ()).unwrap_err().to_string();
    let expected = "is compressed with Brotli, which this program does not read; write it with zstd, snappy, gzip or LZ4, \
                    or without compression";
    assert!(error.ends_with(expected), "{error}");
}
