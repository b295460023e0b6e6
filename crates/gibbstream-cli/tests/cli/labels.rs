//! `label`: what topics are called, kept in the model.

use crate::support::{Folder, run};
use serde_json::{Value, json};

fn labels(folder: &Folder, line: &str) -> Value {
    run(folder, &format!("label {line} --json")).ok().json()
}

fn hash(folder: &Folder, model: &str) -> Value {
    run(folder, &format!("inspect {model} --json")).ok().json()["model_hash"].clone()
}

#[test]
fn labels_are_set_shown_and_taken_back() {
    let folder = Folder::with_models();
    let before = hash(&folder, "text.gbs");
    let shown = labels(&folder, "text.gbs");
    assert_eq!(shown["schema"], "gibbstream/label/1");
    assert_eq!((&shown["out"], &shown["topics"][0]["label_by"]), (&Value::Null, &json!("auto")));
    assert_eq!(shown["topics"][0]["label"].as_str().unwrap().split(", ").count(), 3, "words stand in");
    let unset = folder.read("text.gbs");

    let set = labels(&folder, "text.gbs --set 1=music --set 0=films");
    assert_eq!(
        (&set["topics"][1]["label"], &set["topics"][1]["label_by"]),
        (&json!("music"), &json!("user"))
    );
    assert_eq!((&set["out"], &set["model_hash"]), (&json!("text.gbs"), &before));
    assert_eq!(hash(&folder, "text.gbs"), before);
    assert_eq!(labels(&folder, "text.gbs")["topics"], set["topics"], "kept in the file");

    let topics = run(&folder, "topics text.gbs --json").ok().json();
    assert_eq!(
        (&topics["topics"][1]["label"], &topics["topics"][1]["label_by"]),
        (&json!("music"), &json!("user"))
    );
    let third = &topics["topics"][2];
    let words: Vec<&str> = (0..3).map(|at| third["words"][at]["word"].as_str().unwrap()).collect();
    assert_eq!((&third["label"], &third["label_by"]), (&json!(words.join(", ")), &json!("auto")));
    assert!(run(&folder, "topics text.gbs").ok().stdout.contains("  music\n"));
    let report = run(&folder, "report text.gbs --format json").ok().json();
    assert_eq!(report["labels"], json!({ "0": { "label": "films" }, "1": { "label": "music" } }));
    assert!(run(&folder, "label text.gbs").ok().stdout.contains("music"));

    run(&folder, "label text.gbs --set 1= --set 0=").ok();
    assert_eq!(folder.read("text.gbs"), unset, "the very same file");
}

#[test]
fn labels_that_are_set_win_over_those_that_are_made() {
    let folder = Folder::with_models();
    run(&folder, "label text.gbs --set 2=books").ok();
    let made = labels(&folder, "text.gbs --auto");
    assert_eq!(
        (&made["topics"][2]["label"], &made["topics"][2]["label_by"]),
        (&json!("books"), &json!("user"))
    );
    let first = made["topics"][0]["label"].clone();
    let topics = run(&folder, "topics text.gbs --json").ok().json();
    assert_eq!((&topics["topics"][0]["label"], &topics["topics"][0]["label_by"]), (&first, &json!("auto")));
    let report = run(&folder, "report text.gbs --format json").ok().json();
    assert_eq!(
        (&report["topics"][0]["label"], &report["labels"]),
        (&first, &json!({ "2": { "label": "books" } }))
    );
    let again = folder.read("text.gbs");
    run(&folder, "label text.gbs --auto").ok();
    assert_eq!(folder.read("text.gbs"), again);
}

#[test]
fn labels_of_the_page_are_taken_whole() {
    let folder = Folder::with_models();
    let hash = hash(&folder, "text.gbs");
    let file = json!({ "schema": "gibbstream/labels/1", "model_hash": hash, "topics": {
        "0": { "label": "films", "note": "mostly reviews" }, "1": { "hidden": true }, "2": { "merged_into": 0 } } });
    folder.write("labels.json", file.to_string());
    let set = labels(&folder, "text.gbs --file labels.json --out named.gbs");
    assert_eq!(
        (&set["topics"][0]["note"], &set["topics"][1]["hidden"]),
        (&json!("mostly reviews"), &json!(true))
    );
    assert_eq!(set["topics"][2]["merged_into"], 0);
    assert_eq!(labels(&folder, "text.gbs")["topics"][0].get("note"), None, "another file was written");
    let report = run(&folder, "report named.gbs --format json").ok().json();
    assert_eq!(report["labels"], file["topics"]);
    // What the page says of this moment wins over what is kept.
    folder.write("new.json", json!({ "schema": "gibbstream/labels/1", "model_hash": hash, "topics": { "0": { "label": "cinema" } } }).to_string());
    let report = run(&folder, "report named.gbs --labels new.json --format json").ok().json();
    assert_eq!(
        (&report["labels"]["0"], &report["labels"]["1"]),
        (&json!({ "label": "cinema" }), &json!({ "hidden": true }))
    );
    // A new name keeps the note.
    let named = labels(&folder, "named.gbs --set 0=cinema");
    assert_eq!(
        (&named["topics"][0]["label"], &named["topics"][0]["note"]),
        (&json!("cinema"), &json!("mostly reviews"))
    );
}

#[test]
fn learning_on_and_checkpoints_keep_labels() {
    let folder = Folder::with_models();
    run(&folder, "label text.gbs --set 1=music").ok();
    let line = "train reviews.jsonl --continue text.gbs --batch 10 --sweeps 5 --json";
    let on = run(&folder, &format!("{line} --out on.gbs")).ok().json();
    assert_eq!(labels(&folder, "on.gbs")["topics"][1]["label"], "music");
    run(&folder, &format!("{line} --out through.gbs --checkpoint points --checkpoint-every 2b")).ok();
    assert_eq!(folder.read("through.gbs").len(), folder.read("on.gbs").len());
    assert_eq!(labels(&folder, "through.gbs")["topics"][1]["label"], "music");
    let plain =
        run(&folder, "train reviews.jsonl --topics 3 --batch 10 --sweeps 5 --out plain.gbs --json").ok();
    run(&folder, "train reviews.jsonl --continue plain.gbs --batch 10 --sweeps 5 --out plain-on.gbs").ok();
    assert_eq!(plain.json()["model_hash"], hash(&folder, "text.gbs"));
    assert_eq!(hash(&folder, "plain-on.gbs"), on["model_hash"], "labels change nothing that is learnt");
}

#[test]
fn what_is_wrong_is_refused_and_nothing_changes() {
    let folder = Folder::with_models();
    let hash = hash(&folder, "text.gbs").as_str().unwrap().to_owned();
    let before = folder.read("text.gbs");
    folder.write("broken.json", "{");
    folder.write(
        "other.json",
        json!({ "schema": "gibbstream/labels/1", "model_hash": "beef", "topics": {} }).to_string(),
    );
    folder.write(
        "far.json",
        json!({ "schema": "gibbstream/labels/1", "model_hash": hash, "topics": { "9": { "label": "x" } } })
            .to_string(),
    );
    for (line, error) in [
        (
            "label text.gbs --set 7=x",
            "labels: there is a label for topic 7, but the model has topics 0 to 2; use the labels of this model".to_owned(),
        ),
        (
            "label text.gbs --file far.json --set 1=good",
            "labels: there is a label for topic 9, but the model has topics 0 to 2; use the labels of this model".to_owned(),
        ),
        (
            "label text.gbs --file other.json",
            format!("other.json: its labels are for the model beef, and this one is {hash}; \
                     use the model they were made for, or --force-labels to take them by topic id"),
        ),
        (
            "label text.gbs --out new.gbs",
            "--out: there is nothing to change; give --set, --file or --auto, or leave it out".to_owned(),
        ),
    ] {
        run(&folder, line).refused(&error);
    }
    for (line, part) in [
        ("label text.gbs --file broken.json", "broken.json: is not a file of labels"),
        ("label text.gbs --file nothing.json", "nothing.json"),
        ("label nothing.gbs", "nothing.gbs"),
        ("label reviews.txt", "reviews.txt"),
        ("label text.gbs --set music", "such as 3='court cases'"),
        ("label text.gbs --auto --out reviews.txt", "reviews.txt"),
    ] {
        let ran = run(&folder, line);
        assert_eq!(ran.code, Some(2), "{line}");
        assert!(ran.stderr.contains(part), "{}", ran.stderr);
    }
    assert_eq!(folder.read("text.gbs"), before);
    run(&folder, "train reviews.jsonl --topics 3 --batch 10 --sweeps 5 --out m.gbs --checkpoint points").ok();
    let checkpoint = std::fs::read_dir(folder.file("points"))
        .unwrap()
        .map(|entry| entry.unwrap().path())
        .find(|path| path.extension().is_some_and(|extension| extension == "gbs"))
        .unwrap();
    let ran = run(&folder, &format!("label {} --auto", checkpoint.display()));
    assert_eq!(ran.code, Some(2));
    assert!(ran.stderr.contains("is the checkpoint of a run"), "{}", ran.stderr);
}
