//! Model files: what is written comes back, and nothing else is accepted.
#![allow(missing_docs, clippy::unwrap_used)]

use gibbstream::Error;
use gibbstream::corpus::{Document, Minibatch, Tokenizer, Vocabulary};
use gibbstream::file::{Features, HistoryEntry, Model};
use gibbstream::learn::averaging::Averaging;
use gibbstream::learn::method::Method;
use gibbstream::learn::trainer::Trainer;
use gibbstream::learn::{Settings, Snapshot};
use gibbstream::model::topics::lda::Topics;
use std::path::Path;

fn documents() -> Vec<Document> {
    [&[0, 0, 1][..], &[1, 2, 2], &[], &[0, 2]].iter().map(|tokens| Document::from_tokens(tokens)).collect()
}

fn settings(method: Method) -> Settings {
    Settings::new(2).method("g-oem", method).vocabulary(3).batch(4).seed(7)
}

fn model(method: Method, updates: u64) -> Model {
    let mut trainer = Trainer::new(settings(method), 1).unwrap();
    for update in 0..updates {
        trainer.partial_fit(&Minibatch::new(&documents(), 4 * update, 0)).unwrap();
    }
    Model {
        settings: trainer.settings().clone(),
        fitted: trainer.into_fitted().unwrap(),
        features: Features::Words(Vocabulary::new(["über", "naïve", "third"]).unwrap()),
        tokenizer: Some(Tokenizer::default()),
        history: vec![HistoryEntry {
            version: "0.1.0".to_string(),
            action: "train".to_string(),
            inputs: vec!["a \"quoted\" name.txt".to_string()],
            documents: 4 * updates,
            tokens: 8 * updates,
            changes: Vec::new(),
            trace: gibbstream::learn::Trace::default(),
        }],
        labels: gibbstream::file::TopicLabels::default(),
        shown: gibbstream::file::ShownWords::default(),
    }
}

fn topics(model: Model) -> Topics {
    Snapshot::new(model).parameters().unwrap().topics().unwrap().topics.clone()
}

fn averaged() -> Method {
    Method { averaging: Averaging::Uniform, ..Method::G_OEM }
}

fn saved(model: &Model, folder: &Path) -> Vec<u8> {
    let path = folder.join("model.gbs");
    model.save(&path).unwrap();
    std::fs::read(path).unwrap()
}

fn load(bytes: &[u8], folder: &Path) -> Result<Model, Error> {
    let path = folder.join("changed.gbs");
    std::fs::write(&path, bytes).unwrap();
    Model::load(&path)
}

#[test]
fn a_model_comes_back_with_every_bit() {
    let folder = tempfile::tempdir().unwrap();
    for method in [Method::G_OEM, averaged(), Method::SPLDA, Method::OLDA.with_population(100.0)] {
        let model = model(method, 3);
        saved(&model, folder.path());
        let back = Model::load(&folder.path().join("model.gbs")).unwrap();
        assert_eq!(back.settings, model.settings);
        assert_eq!(back.features.vocabulary(), model.features.vocabulary());
        assert_eq!(back.tokenizer, model.tokenizer);
        assert_eq!(back.history, model.history);
        assert_eq!(back.hash(), model.hash());
        assert_eq!(topics(back), topics(model));
    }
}

#[test]
fn the_same_model_gives_the_same_file() {
    let folder = tempfile::tempdir().unwrap();
    assert_eq!(saved(&model(averaged(), 3), folder.path()), saved(&model(averaged(), 3), folder.path()));
}

#[test]
fn learning_goes_on_from_a_file_as_if_nothing_had_happened() {
    let folder = tempfile::tempdir().unwrap();
    for method in [Method::G_OEM, averaged(), Method::SVB] {
        let half = model(method, 2);
        saved(&half, folder.path());
        let back = Model::load(&folder.path().join("model.gbs")).unwrap();
        let mut trainer = Trainer::resume(back.settings, back.fitted, 2).unwrap();
        for update in 2..5 {
            trainer.partial_fit(&Minibatch::new(&documents(), 4 * update, 0)).unwrap();
        }
        assert_eq!(trainer.fitted().unwrap().hash(), model(method, 5).hash());
    }
}

#[test]
fn every_changed_byte_is_refused_by_name() {
    let folder = tempfile::tempdir().unwrap();
    let model = Model { tokenizer: None, ..model(averaged(), 2) };
    let mut bytes = saved(&model, folder.path());
    assert!(load(&bytes, folder.path()).is_ok());
    for place in 0..bytes.len() {
        // One bit, and all of them.
        for change in [1 << (place % 8), 255] {
            bytes[place] ^= change;
            let error = load(&bytes, folder.path()).unwrap_err();
            assert!(matches!(error, Error::ModelFile { .. }), "byte {place} ^ {change}: {error}");
            assert!(error.to_string().contains("changed.gbs: not a usable model file: "), "{error}");
            bytes[place] ^= change;
        }
    }
}

#[test]
fn every_truncation_and_anything_appended_is_refused() {
    let folder = tempfile::tempdir().unwrap();
    let mut bytes = saved(&model(Method::G_OEM, 2), folder.path());
    for length in 0..bytes.len() {
        assert!(
            matches!(load(&bytes[..length], folder.path()), Err(Error::ModelFile { .. })),
            "{length} bytes"
        );
    }
    bytes.push(0);
    assert!(matches!(load(&bytes, folder.path()), Err(Error::ModelFile { .. })));
}

/// Puts a right checksum on changed bytes, so that what lies behind it is tested too.
fn sign(bytes: &mut [u8]) {
    let marker = br#"\"checksum\":\""#;
    let at = bytes.windows(marker.len()).position(|window| window == marker).unwrap() + marker.len();
    bytes[at..at + 64].fill(b'0');
    let checksum = blake3::hash(bytes).to_hex();
    bytes[at..at + 64].copy_from_slice(checksum.as_bytes());
}

fn replaced(bytes: &[u8], from: &str, to: &str) -> Vec<u8> {
    assert_eq!(from.len(), to.len());
    let at = bytes.windows(from.len()).position(|window| window == from.as_bytes()).unwrap();
    let mut bytes = bytes.to_vec();
    bytes[at..at + to.len()].copy_from_slice(to.as_bytes());
    sign(&mut bytes);
    bytes
}

#[test]
fn files_with_a_right_checksum_but_wrong_content_are_refused() {
    let folder = tempfile::tempdir().unwrap();
    let bytes = saved(&model(Method::G_OEM, 2), folder.path());
    for (from, to, reason) in [
        (r#"\"version\":2}"#, r#"\"version\":3}"#, "its layout has version 3, this release reads 1 to 2"),
        (r#"\"components\":2"#, r#"\"components\":3"#, "array 'counts' is F64 [3, 2] instead of F64 [3, 3]"),
        (r#"\"components\":2"#, r#"\"components\":0"#, "topics: 0 is not a number of topics"),
        (r#"\"sweeps\":20"#, r#"\"sweepz\":20"#, "its settings are not readable"),
        (r#""dtype":"U64""#, r#""dtype":"I64""#, "array 'word_counts' is I64"),
        ("e\nthird", "e\nt\nird", "it has 4 words for a vocabulary of 3"),
    ] {
        let found = load(&replaced(&bytes, from, to), folder.path());
        let text = found.err().map(|error| error.to_string()).unwrap_or_default();
        assert!(text.contains(reason), "{from} -> {to}: {text}");
    }
}

#[test]
fn other_files_are_refused() {
    let folder = tempfile::tempdir().unwrap();
    for bytes in [&b""[..], b"hello", &[255; 64], b"\x10\0\0\0\0\0\0\0{\"a\":1}         "] {
        assert!(matches!(load(bytes, folder.path()), Err(Error::ModelFile { .. })));
    }
    let missing = Model::load(&folder.path().join("none.gbs")).unwrap_err().to_string();
    assert!(missing.contains("none.gbs: cannot open: "), "{missing}");
}

/// Replaces the first number of an array.
fn with_number(bytes: &[u8], array: &str, number: f64) -> Vec<u8> {
    let header = 8 + u64::from_le_bytes(bytes[..8].try_into().unwrap()) as usize;
    let json: serde_json::Value = serde_json::from_slice(&bytes[8..header]).unwrap();
    let at = header + json[array]["data_offsets"][0].as_u64().unwrap() as usize;
    let mut bytes = bytes.to_vec();
    bytes[at..at + 8].copy_from_slice(&number.to_le_bytes());
    sign(&mut bytes);
    bytes
}

#[test]
fn numbers_that_no_training_leaves_behind_are_refused() {
    let folder = tempfile::tempdir().unwrap();
    let bytes = saved(&model(averaged(), 2), folder.path());
    for array in ["counts", "totals", "alpha", "average_alpha_sum", "average_factors", "average_offsets"] {
        for number in [f64::NAN, f64::INFINITY, -1.0] {
            let error = load(&with_number(&bytes, array, number), folder.path()).unwrap_err().to_string();
            assert!(
                error.contains(&format!("'{array}' holds numbers that cannot be right")),
                "{array}: {error}"
            );
        }
    }
    for array in ["log_theta", "alpha_usage", "average_settled"] {
        assert!(load(&with_number(&bytes, array, f64::NAN), folder.path()).is_err(), "{array}");
    }
    // Numbers that are possible alone, but not beside the others.
    for (array, number) in
        [("counts", 0.25), ("counts", 5e-324), ("totals", 1e-30), ("alpha", 1e308), ("counts", 1e308)]
    {
        let error = load(&with_number(&bytes, array, number), folder.path()).unwrap_err().to_string();
        assert!(error.contains("holds numbers that cannot be right"), "{array} {number}: {error}");
    }
    let error =
        load(&with_number(&bytes, "word_counts", f64::from_bits(u64::MAX)), folder.path()).unwrap_err();
    assert!(error.to_string().contains("'word_counts' holds numbers that cannot be right"), "{error}");
}

/// Rewrites the header by hand, with a right length and a right checksum.
fn with_header(bytes: &[u8], change: impl Fn(&mut serde_json::Value)) -> Vec<u8> {
    let end = 8 + u64::from_le_bytes(bytes[..8].try_into().unwrap()) as usize;
    let mut json: serde_json::Value = serde_json::from_slice(&bytes[8..end]).unwrap();
    change(&mut json);
    let mut text = json.to_string().into_bytes();
    text.resize(text.len().next_multiple_of(8), b' ');
    let mut changed = (text.len() as u64).to_le_bytes().to_vec();
    changed.extend(text);
    changed.extend(&bytes[end..]);
    sign(&mut changed);
    changed
}

type Change = fn(&mut serde_json::Value);

/// The tricks of hostile files: nothing is allocated, run or believed.
#[test]
fn hostile_headers_are_refused() {
    let folder = tempfile::tempdir().unwrap();
    let bytes = saved(&model(Method::G_OEM, 2), folder.path());
    assert!(load(&with_header(&bytes, |_| ()), folder.path()).is_ok());
    let attacks: [(&str, Change); 6] = [
        ("shape that overflows", |json| json["counts"]["shape"] = serde_json::json!([u64::MAX, 2])),
        ("shape larger than the data", |json| json["counts"]["shape"] = serde_json::json!([1_u64 << 40, 2])),
        ("offsets beyond the end", |json| json["alpha"]["data_offsets"][1] = serde_json::json!(1_u64 << 50)),
        ("offsets that go back", |json| json["alpha"]["data_offsets"] = serde_json::json!([16, 0])),
        ("arrays that overlap", |json| json["log_theta"]["data_offsets"] = serde_json::json!([0, 16])),
        ("an array is missing", |json| drop(json.as_object_mut().unwrap().remove("totals"))),
    ];
    for (name, change) in attacks {
        let refused = load(&with_header(&bytes, change), folder.path());
        assert!(matches!(refused, Err(Error::ModelFile { .. })), "{name}");
    }
    for length in [0, 1, 7, 1 << 31, 1 << 62, u64::MAX] {
        let mut changed = bytes.clone();
        changed[..8].copy_from_slice(&length.to_le_bytes());
        assert!(
            matches!(load(&changed, folder.path()), Err(Error::ModelFile { .. })),
            "header of {length} bytes"
        );
    }
    #[cfg(unix)]
    assert!(matches!(Model::load(Path::new("/dev/zero")), Err(Error::ModelFile { .. })));
}
