//! Corpora that are unusual and still fine.

use crate::support::{Folder, run};

#[test]
fn one_topic_and_more_topics_than_words() {
    let folder = Folder::with_corpora();
    for topics in [1, 100] {
        folder.train(&format!("uci --topics {topics} --out m.gbs"));
        let score = run(&folder, "evaluate m.gbs uci --json --particles 3").ok().json();
        assert!(score["log_perplexity_per_document"].as_f64().unwrap().is_finite());
        assert_eq!(run(&folder, "infer m.gbs uci").ok().json_lines().len(), 300);
        run(&folder, "topics m.gbs").ok();
    }
}

#[test]
fn empty_documents_count_and_say_nothing() {
    let folder = Folder::new();
    folder.write("gaps.txt", "\n\nplot actor scene\n\nnovel page plot\n\n");
    let report = folder.train("gaps.txt --topics 2 --batch 1 --out m.gbs");
    assert_eq!((&report["documents"], &report["tokens"]), (&6.into(), &6.into()));
    let lines = run(&folder, "infer m.gbs gaps.txt").ok().json_lines();
    assert_eq!(lines.len(), 6);
    assert_eq!(lines[0]["tokens"], 0);
    let score = run(&folder, "evaluate m.gbs gaps.txt --json").ok().json();
    assert_eq!(score["documents"], 6);
    folder.write("void.txt", "\n\n\n");
    let ran = run(&folder, "evaluate m.gbs void.txt --json").ok();
    assert_eq!(
        ran.stderr,
        "warning: the documents have no words that the model knows, so the scores are meaningless\n"
    );
    assert!(ran.json()["perplexity"].is_null());
    run(&folder, "train void.txt --topics 2 --json").refused(
        "vocabulary: no word was found in 3 documents; check the input, --text-field, --stop-words and --min-length",
    );
}

#[test]
fn documents_of_one_token() {
    let folder = Folder::new();
    folder.write("ones.txt", "plot\nnovel\nguitar\nplot\n".repeat(30));
    let report = folder.train("ones.txt --topics 3 --out m.gbs");
    assert_eq!((&report["documents"], &report["tokens"]), (&120.into(), &120.into()));
    assert!(report["alpha_sum"].as_f64().unwrap().is_finite());
    run(&folder, "evaluate m.gbs ones.txt --json").ok();
}

#[test]
fn a_document_of_a_million_tokens() {
    let folder = Folder::new();
    let long: String = (0..1_000_000_u64).map(|token| format!("w{} ", token * token % 997)).collect();
    folder.write("long.txt", format!("{long}\nw1 w2 w3\n"));
    let report = run(&folder, "train long.txt --topics 3 --sweeps 2 --json --out m.gbs").ok().json();
    assert_eq!(report["tokens"], 1_000_003);
    let score = run(&folder, "evaluate m.gbs long.txt --particles 1 --json").ok().json();
    assert_eq!(score["tokens"], 1_000_003);
    assert!(score["log_perplexity_per_document"].as_f64().unwrap().is_finite());
}

#[test]
fn words_may_be_anything() {
    let folder = Folder::new();
    folder.write("words.txt", "naïve Straße ΟΔΟΣ 👍 didn't\n".repeat(20));
    folder.train("words.txt --topics 2 --ngrams 2 --min-length 1 --out m.gbs");
    let words = run(&folder, "topics m.gbs --words 50").ok().stdout;
    for word in ["naïve", "straße", "οδος", "👍", "didn't", "naïve_straße"] {
        assert!(words.contains(word), "{word}: {words}");
    }
    folder.train("words.txt --topics 2 --no-lowercase --out m.gbs");
    assert!(run(&folder, "topics m.gbs").ok().stdout.contains("Straße"));
}
