//! Files that earlier versions wrote: every one is read, says what it said then, and can be gone on from.
//!
//! They lie in `crates/gibbstream/tests/files/`, a folder for each version of the layout, and are never written again. This
//! test knows nothing but the command line, so that everything behind it may change.

use crate::support::{Folder, run};
use serde_json::Value;
use std::path::{Path, PathBuf};

/// Every version of the layout there has been, with how many models and checkpoints are stored of it.
const VERSIONS: [Version; 1] = [Version { number: 1, models: 56, checkpoints: 17 }];

/// What only reads numbers may change by no more than rounding.
const ROUNDING: f64 = 1e-9;

/// What is sampled may come from other random numbers: shares of topics and values of sources, and scores. Other seeds change
/// them by less than half as much.
const MIXTURES: f64 = 0.4;
const SCORES: f64 = 0.05;

/// Rows or documents that models go on with.
const FURTHER: u64 = 20;

struct Version {
    number: u32,
    models: usize,
    checkpoints: usize,
}

/// A copy of the files of a version, and what that version said about them.
struct Stored {
    folder: Folder,
    expected: Value,
}

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../gibbstream/tests/files")
}

fn names(path: &Path) -> Vec<String> {
    let entries = std::fs::read_dir(path).unwrap();
    let mut names: Vec<String> =
        entries.map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
    names.sort();
    names
}

fn copy(from: &Path, to: &Path) {
    if !from.is_dir() {
        std::fs::copy(from, to).unwrap();
        return;
    }
    std::fs::create_dir_all(to).unwrap();
    for name in names(from) {
        copy(&from.join(&name), &to.join(&name));
    }
}

impl Version {
    fn stored(&self) -> Stored {
        let folder = Folder::new();
        copy(&root().join(format!("v{}", self.number)), folder.path());
        let expected = serde_json::from_slice(&folder.read("expected.json")).unwrap();
        Stored { folder, expected }
    }
}

impl Stored {
    /// Names of the files in a folder, each with what is expected of it.
    fn listed(&self, kind: &str) -> Vec<(String, &Value)> {
        let expected = self.expected[kind].as_object().unwrap();
        let found = names(&self.folder.file(kind));
        let mut known: Vec<&String> = expected.keys().collect();
        known.sort();
        assert_eq!(found.iter().collect::<Vec<_>>(), known, "every file has its expectations");
        found.into_iter().map(|name| (name.clone(), &expected[&name])).collect()
    }

    fn json(&self, line: &str) -> Value {
        run(&self.folder, &format!("{line} --json")).ok().json()
    }

    /// What `inspect` says, and the version that the file itself names, are what they were.
    fn check_inspect(&self, path: &str, expected: &Value, version: u32) {
        let head = self.folder.read(path);
        let written = format!(r#"\"version\":{version}}}"#);
        assert!(head.windows(written.len()).any(|part| part == written.as_bytes()), "{path}: {written}");
        agree(path, &expected["inspect"], &self.json(&format!("inspect {path}")), ROUNDING);
    }

    /// So are topics, scores and mixtures.
    fn check_uses(&self, path: &str, expected: &Value) {
        let input = text(&expected["input"]);
        let infer = format!("infer {path} {input} --limit-docs 3 --sweeps 10000 --digits 17 --json");
        let mixtures = Value::Array(run(&self.folder, &infer).ok().json_lines());
        let score = self.json(&format!("evaluate {path} {input} --limit-docs 10"));
        if let Some(topics) = expected.get("topics") {
            let found = self.json(&format!("topics {path} --words 3 --lambda 1"));
            agree(path, topics, &found["topics"], ROUNDING);
        } else {
            agree(path, &expected["evaluate"], &score, ROUNDING);
        }
        if let Some(sampled) = expected.get("sampled") {
            let name = "log_perplexity_per_document";
            agree(path, &sampled[name], &score[name], SCORES);
            agree(path, &sampled["infer"], &mixtures, MIXTURES);
        } else {
            agree(path, &expected["infer"], &mixtures, ROUNDING);
        }
    }

    /// The model learns from further documents, and can be written and read again.
    fn check_continue(&self, path: &str, expected: &Value) {
        let report = self.json(&format!("{} --passes 1 --out on.gbs", text(&expected["continue"])));
        let before = &expected["inspect"];
        let number = |facts: &Value, name: &str| facts[name].as_u64().unwrap();
        assert_eq!(number(&report, "documents"), number(before, "documents") + FURTHER, "{path}");
        assert!(number(&report, "updates") > number(before, "updates"), "{path}");
        let after = self.json("inspect on.gbs");
        assert_eq!(after["model_hash"], report["model_hash"], "{path}");
        let events = |facts: &Value| facts["history"].as_array().unwrap().len();
        assert_eq!(events(&after), events(before) + 1, "{path}");
    }

    /// The run goes on to its end, and has then learnt from as much as if it had never stopped.
    fn check_resume(&self, name: &str, expected: &Value) {
        let ran = run(&self.folder, &format!("{} --json", text(&expected["command"]))).ok();
        let finished = expected["inspect"]["finished"].as_bool().unwrap();
        let begins = if finished { "this run has finished before" } else { "going on after " };
        assert!(ran.stderr.starts_with(begins), "{name}: {}", ran.stderr);
        let (mut expected, found) = (expected["finished"].clone(), ran.json());
        // Documents were counted once for every pass then; what a finished run has printed stays.
        expected["documents"] =
            (expected["documents"].as_u64().unwrap() / found["passes"].as_u64().unwrap_or(1)).into();
        agree(name, &expected, &found, 0.0);
    }
}

fn text(value: &Value) -> &str {
    value.as_str().unwrap()
}

/// Everything that is expected has been found. Fields may have been added, whole numbers and words are the same, and
/// fractions are as near as `tolerance` says.
fn agree(place: &str, expected: &Value, found: &Value, tolerance: f64) {
    match (expected, found) {
        (Value::Object(fields), _) => {
            for (name, value) in fields {
                agree(&format!("{place}, {name}"), value, &found[name], tolerance);
            }
        }
        (Value::Array(a), Value::Array(b)) => {
            assert_eq!(a.len(), b.len(), "{place}");
            for (index, (a, b)) in a.iter().zip(b).enumerate() {
                agree(&format!("{place}, {index}"), a, b, tolerance);
            }
        }
        (Value::Number(a), Value::Number(b)) if a.is_f64() => {
            let (a, b) = (a.as_f64().unwrap(), b.as_f64().unwrap());
            assert!((a - b).abs() <= tolerance * a.abs().max(1.0), "{place}: {a} has become {b}");
        }
        _ => assert_eq!(found, expected, "{place}"),
    }
}

#[test]
fn nothing_that_is_stored_is_left_out() {
    let folders: Vec<String> = VERSIONS.iter().map(|version| format!("v{}", version.number)).collect();
    assert_eq!(names(&root()), folders);
    for version in VERSIONS {
        let stored = version.stored();
        let counts = ["models", "checkpoints"].map(|kind| stored.listed(kind).len());
        assert_eq!(counts, [version.models, version.checkpoints], "v{}", version.number);
    }
}

#[test]
fn old_models_say_what_they_said() {
    for version in VERSIONS {
        let stored = version.stored();
        for (name, expected) in stored.listed("models") {
            let path = format!("models/{name}");
            stored.check_inspect(&path, expected, version.number);
            stored.check_uses(&path, expected);
        }
    }
}

#[test]
fn old_models_are_gone_on_from() {
    for version in VERSIONS {
        let stored = version.stored();
        for (name, expected) in stored.listed("models") {
            stored.check_continue(&format!("models/{name}"), expected);
        }
    }
}

#[test]
fn old_checkpoints_are_resumed_to_the_end() {
    for version in VERSIONS {
        let stored = version.stored();
        for (name, expected) in stored.listed("checkpoints") {
            let files = names(&stored.folder.file(&format!("checkpoints/{name}")));
            assert_eq!(files.len(), 1, "{name}: {files:?}");
            stored.check_inspect(&format!("checkpoints/{name}/{}", files[0]), expected, version.number);
            stored.check_resume(&name, expected);
        }
    }
}
