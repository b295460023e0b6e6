//! Scores of documents before they are learnt from, and what is told of them.

use crate::support::{Folder, fields, run};
use serde_json::Value;

const FLAGS: &str = "--topics 3 --batch 20 --passes 1 --json";

#[test]
fn scores_are_in_the_result_and_in_the_log_and_change_nothing() {
    let folder = Folder::with_corpora();
    let train = |flags: &str| run(&folder, &format!("train uci {FLAGS} {flags}")).ok().json();
    let plain = train("");
    assert_eq!(plain.get("prequential"), None, "a file is not scored unless it is asked for");
    let scored = train("--prequential --log run.jsonl");
    assert_eq!(scored["model_hash"], plain["model_hash"]);
    let report = &scored["prequential"];
    assert_eq!(fields(report), ["documents_scored", "estimator", "faded", "particles", "runs", "windowed"]);
    assert!(report["documents_scored"].as_u64().unwrap() > 0);
    for mean in ["windowed", "faded"] {
        assert!(report[mean]["log_perplexity_per_document"].as_f64().unwrap() > 0.0, "{report}");
        assert!(report[mean]["unigram_log_perplexity_per_document"].as_f64().unwrap() > 0.0, "{report}");
    }
    let log = String::from_utf8(folder.read("run.jsonl")).unwrap();
    let lines: Vec<Value> = log.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    let scores: Vec<&Value> = lines.iter().filter_map(|line| line.get("prequential")).collect();
    assert!(
        !scores.is_empty() && lines[0].get("prequential").is_none(),
        "nothing is known before the first minibatch"
    );
    assert_eq!(&scores[scores.len() - 1]["windowed"], &report["windowed"]);
    assert_eq!(train("--prequential --threads 2")["prequential"], *report);
    // Streams are scored unless it is turned off.
    assert!(train("--mode stream").get("prequential").is_some());
    assert_eq!(train("--mode stream --prequential=off").get("prequential"), None);
}

#[test]
fn what_has_no_meaning_is_refused() {
    let folder = Folder::with_corpora();
    run(&folder, &format!("train uci {FLAGS} --adapt --prequential=off")).refused(
        "--adapt: changes are found in scores on the way, which are off; leave out one of --adapt and --prequential",
    );
    run(&folder, &format!("train uci {FLAGS} --adapt --step constant=0.1"))
        .refused("--adapt: only steps that shrink can become large again; leave out --step, or --adapt");
    run(&folder, &format!("train uci {FLAGS} --averaging frequencies=0")).refused(
        "--averaging: frequencies of 0 documents are none; use frequencies=N with at least 1, such as 10000, or none",
    );
    run(&folder, &format!("train uci {FLAGS} --min-step 2"))
        .refused("--min-step: 2 is not in [0, 1]; choose a value in that range");
}
