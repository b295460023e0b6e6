//! `merge`: one model from several, and fewer topics.

use crate::support::{Folder, fields, run};
use serde_json::{Value, json};

/// A base model and two that went on from it.
fn folder() -> Folder {
    let folder = Folder::with_models();
    for (name, flags) in [("a", "--limit-docs 70"), ("b", "--skip-docs 70")] {
        run(&folder, &format!("train reviews.jsonl --continue text.gbs {flags} --out {name}.gbs")).ok();
    }
    folder
}

fn merged(folder: &Folder, line: &str) -> Value {
    run(folder, &format!("merge {line} --json")).ok().json()
}

#[test]
fn parts_become_one_model() {
    let folder = folder();
    let report = merged(&folder, "a.gbs b.gbs --base text.gbs --out all.gbs");
    assert_eq!(
        fields(&report),
        [
            "deleted",
            "documents",
            "inputs",
            "joins",
            "model_hash",
            "out",
            "partial_words",
            "schema",
            "tokens",
            "topics",
            "vocabulary",
            "warnings"
        ]
    );
    assert_eq!((&report["schema"], &report["documents"]), (&json!("gibbstream/merge/1"), &json!(240)));
    assert_eq!(report["inputs"][1]["pairs"].as_array().unwrap().len(), 3);
    let inspected = run(&folder, "inspect all.gbs --json").ok().json();
    assert_eq!(inspected["model_hash"], report["model_hash"]);
    assert_eq!(
        merged(&folder, "a.gbs b.gbs --base text.gbs --out again.gbs")["model_hash"],
        report["model_hash"]
    );
    let twice = merged(&folder, "a.gbs b.gbs --out twice.gbs");
    assert_eq!(twice["documents"], 360, "without the base its documents count for every part");
    run(&folder, "train reviews.jsonl --continue all.gbs --out on.gbs").ok();
    let score = run(&folder, "evaluate all.gbs reviews.jsonl --json").ok().json();
    let base = run(&folder, "evaluate text.gbs reviews.jsonl --json").ok().json();
    let of = |score: &Value| score["log_perplexity_per_document"].as_f64().unwrap();
    assert!(of(&score) < of(&base) + 0.5, "{} {}", of(&score), of(&base));
    assert!(run(&folder, "merge a.gbs b.gbs --out all.gbs").ok().stdout.contains("all.gbs: 3 topics"));
}

#[test]
fn topics_are_joined_and_taken_out() {
    let folder = folder();
    run(&folder, "label text.gbs --set 0=films --set 2=songs").ok();
    let report = merged(&folder, "text.gbs --reduce 2 --out two.gbs");
    assert_eq!(
        (report["joins"].as_array().unwrap().len(), report["topics"].as_array().unwrap().len()),
        (1, 2)
    );
    let information = &report["information"];
    let of = |name: &str| information[name].as_f64().unwrap();
    assert!((of("before") - of("after") - of("lost")).abs() < 1e-12 && of("lost") > 0.0);
    assert!((of("lost") - report["joins"][0]["loss"].as_f64().unwrap()).abs() < 1e-9);
    let topics = run(&folder, "topics two.gbs --json").ok().json();
    assert_eq!(topics["topics"].as_array().unwrap().len(), 2);

    let joined = merged(&folder, "text.gbs --join 2,0 --out joined.gbs");
    assert_eq!(joined["topics"][0]["from"], json!([2, 0]));
    let labels = run(&folder, "label joined.gbs --json").ok().json();
    assert_eq!(labels["topics"][0]["label"], "songs / films");
    let fewer = merged(&folder, "text.gbs --delete 1 --out fewer.gbs");
    assert_eq!((&fewer["deleted"], &fewer["topics"][1]["from"]), (&json!([1]), &json!([2])));
    assert_eq!(run(&folder, "label fewer.gbs --json").ok().json()["topics"][1]["label"], "songs");
    let history = run(&folder, "inspect fewer.gbs --json").ok().stdout;
    assert!(history.contains("topics taken out: 1"), "{history}");
    run(&folder, "infer fewer.gbs reviews.jsonl").ok();
    run(&folder, "train reviews.jsonl --continue fewer.gbs --out on.gbs").ok();
    assert!(run(&folder, "merge text.gbs --reduce 1 --out one.gbs").ok().stdout.contains("% lost"));
}

#[test]
fn what_cannot_be_merged_is_refused() {
    let folder = folder();
    run(&folder, "train reviews.jsonl --topics 4 --batch 10 --sweeps 5 --out four.gbs").ok();
    run(&folder, "train reviews.jsonl --topics 3 --batch 10 --sweeps 5 --method lds --out lds.gbs").ok();
    run(&folder, "train reviews.jsonl --model hdp --batch 10 --sweeps 5 --out hdp.gbs").ok();
    run(&folder, "merge text.gbs four.gbs --out m.gbs").refused(
        "four.gbs: it has 4 topics, and text.gbs has 3; train all parts with the same number of topics",
    );
    run(&folder, "merge text.gbs --out m.gbs").refused(
        "MODEL: there is nothing to merge; name another model, or say what to do with --reduce, --join or --delete",
    );
    for (line, part) in [
        ("text.gbs lds.gbs", "lds.gbs: lds holds topics that were drawn"),
        ("text.gbs hdp.gbs", "hdp.gbs: the number of its topics is open"),
        ("text.gbs uci.gbs", "uci.gbs: it has 4 topics"),
        ("four.gbs uci.gbs", "uci.gbs: it cuts text into words in another way than four.gbs"),
        ("text.gbs --reduce 4", "--reduce: there are 3 topics, which cannot become 4"),
        ("text.gbs --reduce 0", "--reduce: no topic would be left"),
        ("text.gbs --delete 3", "--delete: there is no topic 3"),
        ("text.gbs --delete 0,1,2", "no topic would be left"),
        ("text.gbs --join 0,0", "topic 0 is named twice"),
        ("text.gbs --join 0,1 --delete 1", "topic 1 is both joined and deleted"),
        ("text.gbs --join one", "is not the number of a topic"),
        ("text.gbs a.gbs --base b.gbs", "was not learnt on from b.gbs"),
        ("text.gbs nothing.gbs", "nothing.gbs"),
        ("text.gbs a.gbs --same 3", "--same: 3 is not a similarity"),
    ] {
        let ran = run(&folder, &format!("merge {line} --out m.gbs"));
        assert_eq!(ran.code, Some(2), "{line}: {}", ran.stderr);
        assert!(ran.stderr.contains(part), "{line}: {}", ran.stderr);
    }
    assert!(!folder.file("m.gbs").exists());
    let before = folder.read("text.gbs");
    let ran = run(&folder, "merge text.gbs a.gbs --out text.gbs");
    assert!(
        ran.code == Some(2) && ran.stderr.contains("is an input and would be overwritten"),
        "{}",
        ran.stderr
    );
    assert_eq!(folder.read("text.gbs"), before);
}
