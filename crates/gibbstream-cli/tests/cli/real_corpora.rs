//! Real corpora, where they are at hand.

use crate::support::{Folder, run, skipped};
use std::path::PathBuf;

#[test]
fn topics_of_real_documents_beat_word_frequencies() {
    let data = std::env::var_os("GIBBSTREAM_DATA").map(PathBuf::from);
    let corpus = data.map(|data| data.join("ap")).filter(|corpus| corpus.is_dir());
    let Some(corpus) = corpus else {
        skipped("topics_of_real_documents_beat_word_frequencies", "no corpus in $GIBBSTREAM_DATA/ap");
        return;
    };
    let folder = Folder::new();
    let corpus = corpus.display();
    run(&folder, &format!("train {corpus} --topics 10 --sweeps 5 --limit-docs 2000 --batch 25 --out m.gbs"))
        .ok();
    let score = run(
        &folder,
        &format!("evaluate m.gbs {corpus} --skip-docs 2000 --limit-docs 50 --particles 3 --json"),
    );
    let score = score.ok().json();
    assert!(
        score["log_perplexity_per_document"].as_f64() < score["unigram_log_perplexity_per_document"].as_f64()
    );
}
