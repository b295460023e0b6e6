//! Two models side by side.

use crate::support::{Folder, fields, run};
use serde_json::Value;

fn sorted(names: &str) -> Vec<&str> {
    let mut names: Vec<&str> = names.split_whitespace().collect();
    names.sort_unstable();
    names
}

#[test]
fn a_model_equals_itself() {
    let folder = Folder::with_models();
    let report = run(&folder, "compare uci.gbs uci.gbs uci --limit-docs 30 --json").ok().json();
    assert_eq!(
        fields(&report),
        sorted("schema a b distance mean_distance pairs alone_in_a alone_in_b score_difference warnings")
    );
    assert_eq!((&report["schema"], &report["distance"]), (&"gibbstream/compare/1".into(), &"js".into()));
    assert_eq!(fields(&report["a"]), sorted("model_hash method topics"));
    for (place, pair) in report["pairs"].as_array().unwrap().iter().enumerate() {
        assert_eq!(fields(pair), sorted("a b distance words_a words_b gone new"));
        assert_eq!((&pair["a"], &pair["b"]), (&place.into(), &place.into()));
        assert!(pair["distance"].as_f64().unwrap() < 1e-9);
        assert_eq!((&pair["gone"], &pair["new"]), (&Value::Array(vec![]), &Value::Array(vec![])));
        assert_eq!(pair["words_a"].as_array().unwrap().len(), 10);
    }
    let scores = &report["score_difference"];
    assert_eq!(
        fields(scores),
        sorted(
            "estimator particles documents mean standard_error interval log_perplexity_per_document_a \
             log_perplexity_per_document_b"
        )
    );
    assert_eq!((&scores["documents"], &scores["mean"]), (&30.into(), &0.0.into()));
    let alone = run(&folder, "evaluate uci.gbs uci --limit-docs 30 --particles 20 --json").ok().json();
    assert_eq!(scores["log_perplexity_per_document_a"], alone["log_perplexity_per_document"]);
}

#[test]
fn models_with_other_topics() {
    let folder = Folder::with_models();
    folder.train("uci --topics 6 --seed 3 --out six.gbs");
    for distance in ["js", "kl"] {
        let report = run(&folder, &format!("compare uci.gbs six.gbs --distance {distance} --words 5 --json"));
        let report = report.ok().json();
        assert_eq!(report["distance"], distance);
        assert_eq!(
            (report["pairs"].as_array().unwrap().len(), &report["score_difference"]),
            (4, &Value::Null)
        );
        assert_eq!(
            (report["alone_in_a"].as_array().unwrap().len(), report["alone_in_b"].as_array().unwrap().len()),
            (0, 2)
        );
        assert!(report["mean_distance"].as_f64().unwrap() > 0.0);
        let back = run(&folder, &format!("compare six.gbs uci.gbs --distance {distance} --json")).ok().json();
        assert_eq!(
            (back["alone_in_a"].as_array().unwrap().len(), back["alone_in_b"].as_array().unwrap().len()),
            (2, 0)
        );
    }
    let text = run(&folder, "compare uci.gbs six.gbs uci --limit-docs 40").ok().stdout;
    for part in
        ["words of A and, below, of B", "alone in B: ", "mean distance ", "nats per document", "40 documents"]
    {
        assert!(text.contains(part), "{part}: {text}");
    }
    run(&folder, "train uci --model hdp --batch 20 --out open.gbs").ok();
    let open = run(&folder, "compare uci.gbs open.gbs uci --limit-docs 20 --json").ok().json();
    let topics = open["b"]["topics"].as_u64().unwrap();
    let shown = run(&folder, "topics open.gbs --json").ok().json()["topics"].as_array().unwrap().len() as u64;
    assert_eq!(topics, shown, "the topics that have not been met are not compared");
}

#[test]
fn checks_for_scripts() {
    let folder = Folder::with_models();
    // One minibatch against many.
    folder.train("uci --topics 4 --limit-docs 20 --out worse.gbs");
    let difference =
        |line: &str| run(&folder, line).ok().json()["score_difference"]["mean"].as_f64().unwrap();
    let gain = difference("compare worse.gbs uci.gbs uci --json");
    assert!(gain > 0.0);
    assert_eq!(gain, -difference("compare uci.gbs worse.gbs uci --json"));
    let passed = run(&folder, "compare worse.gbs uci.gbs uci --fail-below 0 --json").ok().json();
    assert_eq!(passed["passed"], true);
    let failed = run(&folder, "compare uci.gbs worse.gbs uci --fail-below 0 --json");
    assert_eq!((failed.code, &failed.json()["passed"]), (Some(1), &false.into()));
    let text = run(&folder, "compare uci.gbs worse.gbs uci --fail-below 0");
    assert_eq!(text.code, Some(1));
    assert!(text.stdout.contains("failed: ") && text.stdout.contains(" is below 0\n"), "{text:?}");
    let tolerated = format!("compare uci.gbs worse.gbs uci --fail-below -{}", gain + 0.01);
    assert!(run(&folder, &tolerated).ok().stdout.contains("passed: "));
}

#[test]
fn different_words_are_told() {
    let folder = Folder::with_models();
    let report = run(&folder, "compare text.gbs uci.gbs reviews.jsonl --json").ok().json();
    assert_eq!(
        report["warnings"][0],
        "the models know different words, so their scores are of different parts of the documents"
    );
}

#[test]
fn bad_input_is_refused() {
    let folder = Folder::with_models();
    folder.write("junk.gbs", "not a model");
    folder.write("one.txt", "plot actor\n");
    for (line, text) in [
        (
            "compare uci.gbs uci.gbs --fail-below 0",
            "--fail-below: there are no scores without INPUT; name documents to score both models on",
        ),
        (
            "compare uci.gbs uci.gbs uci --fail-below nan",
            "--fail-below: NaN is not a number of nats; use a number of nats",
        ),
        ("compare uci.gbs uci.gbs --words 0", "--words: 0 is not a number of words; use 1 or more"),
        (
            "compare uci.gbs uci.gbs uci --particles 0",
            "--particles: an estimate needs particles; ask for at least 1; 20 is the default",
        ),
        (
            "compare text.gbs text.gbs one.txt",
            "documents: 1 and 1 documents cannot be compared in pairs; score the same two documents or more",
        ),
        ("compare uci.gbs missing.gbs", "missing.gbs: cannot open: No such file or directory (os error 2)"),
    ] {
        run(&folder, line).refused(text);
    }
    let junk = run(&folder, "compare junk.gbs uci.gbs");
    assert!(junk.code == Some(2) && junk.stderr.starts_with("error: junk.gbs: "), "{junk:?}");
    assert_eq!(run(&folder, "compare uci.gbs uci.gbs --distance far").code, Some(2));
}

#[test]
fn coherence_of_topics() {
    let folder = Folder::with_models();
    let report = run(&folder, "evaluate text.gbs reviews.jsonl --coherence --json").ok().json();
    let coherence = &report["coherence"];
    assert_eq!(fields(coherence), sorted("topics mean diversity documents"));
    assert_eq!((coherence["topics"].as_array().unwrap().len(), &coherence["documents"]), (3, &120.into()));
    let mean = |name: &str| coherence["mean"][name].as_f64().unwrap();
    assert!(mean("npmi") > 0.2 && mean("npmi") <= 1.0, "three kinds of texts without a word in common");
    assert!((0.0..=1.0).contains(&mean("c_v")) && mean("umass") < 0.1);
    let share = coherence["diversity"].as_f64().unwrap();
    assert!(share > 0.5 && share <= 1.0);
    let text = run(&folder, "evaluate text.gbs reviews.jsonl --coherence").ok().stdout;
    assert!(
        text.contains("coherence, mean") && text.contains("  topic 2") && text.contains("topic diversity")
    );
    // The words of one model among documents of another kind never meet.
    let other = run(&folder, "evaluate text.gbs uci --coherence --json").ok().json();
    assert_eq!(other["coherence"]["mean"]["npmi"], -1.0);
}

#[test]
fn topics_that_come_again_in_several_models() {
    let folder = Folder::with_corpora();
    for seed in 0..3 {
        run(
            &folder,
            &format!("train reviews.jsonl --topics 3 --batch 10 --sweeps 5 --seed {seed} --out {seed}.gbs"),
        )
        .ok();
    }
    let report = run(&folder, "compare 0.gbs 1.gbs 2.gbs --words 5 --json").ok().json();
    assert_eq!(
        fields(&report),
        ["models", "same", "schema", "stability", "stable_topics", "topics", "warnings"]
    );
    assert_eq!(report["schema"], "gibbstream/stability/1");
    assert_eq!((&report["models"][2]["seed"], report["topics"].as_array().unwrap().len()), (&2.into(), 3));
    let topic = &report["topics"][0];
    assert_eq!(fields(topic), ["found_in", "id", "partners", "share", "stability", "words"]);
    assert_eq!(
        (topic["partners"].as_array().unwrap().len(), topic["words"].as_array().unwrap().len()),
        (2, 5)
    );
    let stability = topic["stability"].as_f64().unwrap();
    assert!((0.0..=1.0).contains(&stability));
    // Distances are those of pairs.
    let pair = run(&folder, "compare 0.gbs 1.gbs --json").ok().json();
    assert_eq!(pair["pairs"][0]["distance"], topic["partners"][0]["distance"]);
    let table = run(&folder, "compare 0.gbs 1.gbs 2.gbs").ok().stdout;
    assert!(table.contains("of 3 topics are found in all 3 models"), "{table}");
    let ran = run(&folder, "compare 0.gbs 1.gbs 2.gbs reviews.jsonl");
    assert!(ran.code == Some(2) && ran.stderr.contains("documents score two models, and there are more"));
}
