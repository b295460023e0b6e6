//! `choose-k`: how many topics.

use crate::support::{Folder, fields, run, run_with};
use serde_json::{Value, json};

const FLAGS: &str = "--grid 1,3,6 --seeds 2 --batch 10 --sweeps 5";

#[test]
fn the_number_of_topics_that_there_are_is_recommended() {
    let folder = Folder::with_corpora();
    let line = format!("choose-k reviews.jsonl {FLAGS} --holdout 20 --passes 3");
    let report = run(&folder, &format!("{line} --out choice.svg --json --threads 1")).ok().json();
    assert_eq!(
        fields(&report),
        [
            "best_coherence",
            "best_score",
            "best_stability",
            "documents",
            "estimator",
            "grid",
            "held_out",
            "method",
            "particles",
            "passes",
            "recommended",
            "rows",
            "schema",
            "seeds",
            "sentence",
            "unigram_log_perplexity_per_document",
            "vocabulary",
            "warnings"
        ]
    );
    assert_eq!(
        (&report["schema"], &report["documents"], &report["held_out"]),
        (&json!("gibbstream/choose-k/1"), &json!(100), &json!(20))
    );
    assert_eq!((&report["grid"], &report["seeds"]), (&json!([1, 3, 6]), &json!([0, 1])));
    let rows = report["rows"].as_array().unwrap();
    assert_eq!(
        fields(&rows[0]),
        [
            "coherence",
            "coherence_deviation",
            "log_perplexity_per_document",
            "model_hashes",
            "stability",
            "standard_error",
            "topics",
            "train_seconds",
            "worse_by",
            "worse_by_error"
        ]
    );
    let score = |row: &Value| row["log_perplexity_per_document"].as_f64().unwrap();
    assert!(score(&rows[1]) < score(&rows[0]) - 1.0, "three things are written about: {report}");
    assert_ne!(report["recommended"], json!(1));
    // One topic is the word frequencies, and the same for every seed.
    let unigram = report["unigram_log_perplexity_per_document"].as_f64().unwrap();
    assert!((score(&rows[0]) - unigram).abs() < 0.05 * unigram);
    assert!(rows[0]["stability"].as_f64().unwrap() > 0.99);
    let picture = folder.text("choice.svg");
    assert!(picture.starts_with("<svg ") && picture.contains("stability"));

    let again = run(&folder, &format!("{line} --out choice.svg --json --threads 2")).ok().json();
    let hashes = |report: &Value| {
        report["rows"].as_array().unwrap().iter().map(|row| row["model_hashes"].clone()).collect::<Vec<_>>()
    };
    assert_eq!(hashes(&again), hashes(&report), "threads never change a result");
    assert_eq!(again["sentence"], report["sentence"]);
    assert_eq!(folder.text("choice.svg"), picture);
    // A model is the one that train learns from the same documents.
    let trained = run(
        &folder,
        "train reviews.jsonl --topics 3 --seed 1 --batch 10 --sweeps 5 --holdout 20 --passes 3 --json",
    )
    .ok()
    .json();
    assert_eq!(trained["model_hash"], rows[1]["model_hashes"][1]);

    let table = run(&folder, &line).ok();
    assert!(
        table
            .stderr
            .contains("6 models: 3 numbers of topics, 2 seeds each; 100 documents in 3 passes, 20 held out"),
        "{}",
        table.stderr
    );
    assert!(table.stdout.contains(report["sentence"].as_str().unwrap()), "{}", table.stdout);
}

#[test]
fn a_tenth_is_kept_aside_and_standard_input_is_read_again() {
    let folder = Folder::with_corpora();
    let texts = folder.read("reviews.txt");
    let ran = run_with(&folder, &format!("choose-k - --format text {FLAGS} --json"), |command| {
        command.write_stdin(texts);
    });
    let from_pipe = ran.ok().json();
    assert_eq!((&from_pipe["held_out"], &from_pipe["documents"]), (&json!(12), &json!(108)));
    let from_file = run(&folder, &format!("choose-k reviews.txt {FLAGS} --json")).ok().json();
    assert_eq!(from_pipe["rows"][1]["model_hashes"], from_file["rows"][1]["model_hashes"]);
    let plan = run(&folder, &format!("choose-k reviews.txt {FLAGS} --dry-run --json")).ok().json();
    assert_eq!(
        (&plan["schema"], plan["rows"].as_array().unwrap().len()),
        (&json!("gibbstream/choose-k-plan/1"), 3)
    );
    assert!(plan["expected_seconds"].as_f64().unwrap() > 0.0);
    assert!(
        run(&folder, &format!("choose-k reviews.txt {FLAGS} --dry-run"))
            .ok()
            .stdout
            .contains("seconds to learn 6 models")
    );
    let one = run(&folder, "choose-k uci --grid 2,4 --seeds 1 --sweeps 5 --batch 20 --json").ok().json();
    assert!(one["rows"][0]["stability"].is_null() && one["best_stability"].is_null());
}

#[test]
fn what_makes_no_sense_is_refused() {
    let folder = Folder::with_corpora();
    folder.write("few.txt", "a film\nan actor\n");
    for (line, part) in [
        ("reviews.txt --grid 5", "there is nothing to choose from"),
        ("reviews.txt --grid 5,x", "`x` is not a number of topics"),
        ("reviews.txt --seeds 0", "--seeds"),
        ("reviews.txt --topics 5", "name them with --grid"),
        ("reviews.txt --checkpoint points", "--checkpoint: cannot be used when several models are trained"),
        ("reviews.txt --continue text.gbs", "cannot be used when several models are trained"),
        ("reviews.txt --model hdp", "has no number of topics to choose"),
        ("reviews.txt --vocab-mode grow", "models can be compared only if they know the same words"),
        ("few.txt", "2 documents are too few"),
        ("reviews.txt --holdout 120", "120 documents are too few"),
        ("nothing.txt", "nothing.txt"),
        ("reviews.txt --out reviews.txt", "reviews.txt"),
    ] {
        let ran = run(&folder, &format!("choose-k {line}"));
        assert_eq!((ran.code, ran.stdout.as_str()), (Some(2), ""), "{line}: {}", ran.stderr);
        assert!(ran.stderr.contains(part), "{line}: {}", ran.stderr);
    }
}
