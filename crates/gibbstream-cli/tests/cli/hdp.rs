//! Models that find their number of topics: every command works on them.

use crate::support::{Folder, run};
use serde_json::Value;

/// A synthetic corpus of five topics.
fn corpus() -> Folder {
    let folder = Folder::new();
    run(&folder, "synth --topics 5 --vocab 200 --docs 3000 --length 40 --out five").ok();
    folder
}

#[test]
fn every_command_works_on_an_open_number_of_topics() {
    let folder = corpus();
    let train = "train five --model hdp --limit-docs 2800 --log log.jsonl --out m.gbs --json";
    let report = run(&folder, train).ok().json();
    assert_eq!((&report["model"], &report["method"]), (&"hdp".into(), &"g-oem".into()));
    let (topics, used) = (report["topics"].as_u64().unwrap(), report["topics_used"].as_u64().unwrap());
    // After 28 minibatches some of the topics in use are still on trial.
    assert!((4..=20).contains(&used) && used <= topics, "{used} of {topics}");
    assert!(report["topics_created"].as_u64().unwrap() >= topics);

    let log = std::fs::read_to_string(folder.path().join("log.jsonl")).unwrap();
    let lines: Vec<Value> = log.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    let births: Vec<&Value> = lines.iter().filter(|line| line["kind"] == "birth").collect();
    // All but the two of the start were born, and each said so.
    assert_eq!(births.len() as u64 + 2, report["topics_created"].as_u64().unwrap());
    assert!(births.iter().all(|birth| !birth["words"].as_array().unwrap().is_empty()));
    let last = lines.iter().rfind(|line| line["kind"] == "minibatch").unwrap();
    let shares = last["topic_shares"].as_array().unwrap();
    assert_eq!((shares.len() as u64, &last["topics_used"]), (topics, &used.into()));
    let sum: f64 = shares.iter().map(|pair| pair[1].as_f64().unwrap()).sum();
    assert!((sum - 1.0).abs() < 1e-9);

    let score = run(&folder, "evaluate m.gbs five --skip-docs 2800 --elbo --completion --json").ok().json();
    let nats = |name: &str| score[name].as_f64().unwrap();
    assert!(nats("log_perplexity_per_document") < nats("unigram_log_perplexity_per_document") - 5.0);

    let shown = run(&folder, "topics m.gbs --json").ok().json();
    assert_eq!(shown["topics"].as_array().unwrap().len() as u64, topics);
    assert_eq!(
        (&shown["topics_used"], &shown["topics_created"]),
        (&report["topics_used"], &report["topics_created"])
    );

    // One more for all topics that have not been met.
    let mixtures = run(&folder, "infer m.gbs five --limit-docs 3").ok().json_lines();
    assert_eq!(mixtures[0]["theta"].as_array().unwrap().len() as u64, topics + 1);
    run(&folder, "infer m.gbs five --limit-docs 3 --output-format csv --top 2").ok();
    run(&folder, "export m.gbs arrays").ok();
    let facts = std::fs::read_to_string(folder.path().join("arrays/model.json")).unwrap();
    let facts: Value = serde_json::from_str(&facts).unwrap();
    assert_eq!((&facts["model"], &facts["last_topic_is_remainder"]), (&"hdp".into(), &true.into()));
    assert_eq!(run(&folder, "inspect m.gbs --json").ok().json()["model_hash"], report["model_hash"]);
}

#[test]
fn open_runs_repeat_resume_and_continue() {
    let folder = corpus();
    let hash = |line: &str| run(&folder, line).ok().json()["model_hash"].clone();
    for method in ["g-oem", "vargibbs"] {
        let train = format!("train five --model hdp --method {method} --total-docs 3000 --json");
        let whole = hash(&format!("{train} --threads 1"));
        assert_eq!(whole, hash(&format!("{train} --threads 2")));
        let checkpoints = format!("--checkpoint at-{method} --checkpoint-every 7b --resume");
        run(&folder, &format!("{train} {checkpoints} --max-seconds 0.0001")).ok();
        assert_eq!(whole, hash(&format!("{train} {checkpoints}")));
        run(&folder, &format!("{train} --limit-docs 2000 --out half.gbs")).ok();
        assert_eq!(whole, hash("train five --continue half.gbs --skip-docs 2000 --json"));
    }
}

#[test]
fn nonsense_is_refused() {
    let folder = corpus();
    for (flags, text) in [
        (
            "--model hdp --topics 5",
            "--topics: this model finds its number of topics; leave it out; --initial-topics and --max-topics say \
             where to start and to end",
        ),
        (
            "--topics 5 --max-topics 9",
            "--max-topics: only models whose number of topics is open have it; add --model hdp, or leave it out",
        ),
        (
            "--model hdp --method olda",
            "--method: models with an open number of topics have no method called 'olda'; choose one of g-oem, vargibbs",
        ),
        (
            "--model hdp --boost",
            "--boost: new topics are compared once per minibatch, and the number of topics is open; leave boost off",
        ),
        (
            "--model hdp --max-topics 1",
            "--max-topics: 1 is less than the 2 topics of the start; allow more topics, or start with fewer",
        ),
        (
            "--model hdp --doc-concentration 0",
            "--doc-concentration: 0 is not a number from 0.000001 to 1000000; choose one such as 1",
        ),
        (
            "--model hdp --alpha fixed",
            "--alpha: alpha is the concentration times the weights of topics, and the number of topics is open; use \
             --doc-concentration",
        ),
        (
            "--model hdp --min-remainder 1",
            "--min-remainder: 1 is not a share in [0, 1); choose a small share such as 0.02",
        ),
    ] {
        run(&folder, &format!("train five {flags} --out m.gbs")).refused(text);
    }
}
