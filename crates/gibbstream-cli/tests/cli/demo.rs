//! The demo finds the themes.

use crate::support::{Folder, fields, run};

#[test]
fn themes_are_recovered_and_the_score_is_near_the_best() {
    let folder = Folder::new();
    let mut promised = [
        "schema",
        "documents",
        "topics",
        "true_topics",
        "recovered_topics",
        "log_perplexity_per_document",
        "true_parameters_log_perplexity_per_document",
        "unigram_log_perplexity_per_document",
        "train_seconds",
        "model_hash",
    ];
    promised.sort_unstable();
    for seed in 0..2 {
        let report = run(&folder, &format!("demo --json --seed {seed}")).ok().json();
        assert_eq!(fields(&report), promised);
        assert!(report["recovered_topics"].as_u64().unwrap() >= 9, "{report}");
        let score = |name: &str| report[format!("{name}log_perplexity_per_document")].as_f64().unwrap();
        assert!(score("") < 1.01 * score("true_parameters_"), "{report}");
        assert!(score("") < 0.95 * score("unigram_"), "{report}");
    }
}

#[test]
fn the_result_is_readable_and_the_model_can_be_kept() {
    let folder = Folder::new();
    let text = run(&folder, "demo --out demo.gbs").ok().stdout;
    for part in ["themes recovered", "cooking", "recipe oven butter", "the true parameters"] {
        assert!(text.contains(part), "{text}");
    }
    assert!(run(&folder, "topics demo.gbs").ok().stdout.contains("recipe"));
}
