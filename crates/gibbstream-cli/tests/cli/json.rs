//! JSON results have exactly the promised fields.

use crate::support::{Folder, fields, run};

fn sorted(names: &str) -> Vec<&str> {
    let mut names: Vec<&str> = names.split_whitespace().collect();
    names.sort_unstable();
    names
}

const TRAIN: &str = "schema model method mode topics vocabulary language documents passes tokens out_of_vocabulary_tokens updates sweeps seed threads \
    train_seconds train_cpu_seconds token_sweeps_per_cpu_second peak_rss_mib alpha_sum model_hash warnings";

const EVALUATE: &str = "schema model_hash method seed estimator particles documents tokens out_of_vocabulary_tokens \
    log_perplexity_per_document standard_error monte_carlo_error log_likelihood_per_token perplexity \
    unigram_log_perplexity_per_document";

#[test]
fn train() {
    let folder = Folder::with_corpora();
    let report = folder.train("uci --topics 3 --seed 9 --threads 2");
    assert_eq!(fields(&report), sorted(TRAIN));
    assert_eq!(report["schema"], "gibbstream/train/1");
    assert_eq!((&report["model"], &report["method"]), (&"lda".into(), &"g-oem".into()));
    assert_eq!((&report["seed"], &report["threads"], &report["sweeps"]), (&9.into(), &2.into(), &5.into()));
    for field in
        ["train_seconds", "train_cpu_seconds", "token_sweeps_per_cpu_second", "peak_rss_mib", "alpha_sum"]
    {
        assert!(report[field].as_f64().unwrap() > 0.0, "{field}");
    }
    assert_eq!(report["model_hash"].as_str().unwrap().len(), 64);
    assert_eq!(report["warnings"], serde_json::json!([]));
    let with_scores = folder.train("uci --topics 3 --holdout 10");
    assert_eq!(fields(&with_scores), sorted(&format!("{TRAIN} evaluations")));
    let few = folder.train("uci --topics 3 --limit-docs 20");
    assert_eq!(
        few["warnings"][0],
        "only one minibatch was learnt from; more documents, more --passes or a smaller --batch give better topics"
    );
}

#[test]
fn evaluate() {
    let folder = Folder::with_models();
    let score = run(&folder, "evaluate uci.gbs uci --json --seed 4 --limit-docs 30").ok().json();
    assert_eq!(fields(&score), sorted(EVALUATE));
    assert_eq!((&score["schema"], &score["seed"]), (&"gibbstream/evaluate/1".into(), &4.into()));
    let hash = run(&folder, "inspect uci.gbs --json").ok().json()["model_hash"].clone();
    assert_eq!(score["model_hash"], hash);
}

#[test]
fn topics_and_mixtures() {
    let folder = Folder::with_models();
    let topics = run(&folder, "topics text.gbs --json").ok().json();
    assert_eq!(fields(&topics), ["schema", "topics"]);
    let first = &topics["topics"][0];
    assert_eq!(
        fields(first),
        sorted("id share alpha words effective_words exclusivity label label_by background")
    );
    assert_eq!(fields(&first["words"][0]), ["weight", "word"]);
    assert_eq!(first["words"].as_array().unwrap().len(), 10);
    let lines = run(&folder, "infer uci.gbs uci").ok().json_lines();
    assert!(
        lines.iter().all(|line| fields(line) == sorted("id index tokens out_of_vocabulary_tokens theta"))
    );
}

#[test]
fn all_other_commands_name_their_schema() {
    let folder = Folder::with_models();
    for (line, schema) in [
        ("methods --json", "methods"),
        ("inspect uci --json", "inspect"),
        ("inspect uci.gbs --json", "inspect"),
        ("export uci.gbs arrays --json", "export"),
        ("synth --docs 5 --out s --json", "synth"),
        ("bench --topics 3 --vocab 50 --docs 20 --batch 10 --json", "bench"),
        ("completions bash --json", "completions"),
        ("man pages --json", "man"),
    ] {
        assert_eq!(run(&folder, line).ok().json()["schema"], format!("gibbstream/{schema}/1"), "{line}");
    }
    let methods = run(&folder, "methods --json").ok().json();
    for part in ["name", "summary", "local", "global", "step", "alpha", "boost", "averaging", "sweeps"] {
        assert!(!methods["methods"][0][part].is_null(), "{part}");
    }
    let paper = &methods["methods_with_paper"];
    assert_eq!((&paper[0]["name"], &paper[0]["alpha"]), (&"g-oem".into(), &"fixed-point".into()));
}
