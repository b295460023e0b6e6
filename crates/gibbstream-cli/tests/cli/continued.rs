//! `train --continue`: the stream goes on.

use crate::support::{Folder, run};

/// Two halves of a corpus, and the words of both.
fn halves() -> Folder {
    let folder = Folder::with_corpora();
    let text = String::from_utf8(folder.read("reviews.txt")).unwrap();
    let lines: Vec<&str> = text.lines().collect();
    folder.write("a.txt", lines[..60].join("\n"));
    folder.write("b.txt", lines[60..].join("\n"));
    folder.write("vocab.txt", "plot\nactor\nscene\nnovel\npage\nsong\nguitar\n");
    folder
}

/// Documents of each minibatch, from the log of a run.
fn sizes(folder: &Folder, log: &str) -> Vec<u64> {
    let text = String::from_utf8(folder.read(log)).unwrap();
    let lines = text.lines().map(|line| serde_json::from_str::<serde_json::Value>(line).unwrap());
    let seen: Vec<u64> = lines.map(|line| line["documents"].as_u64().unwrap()).collect();
    (0..seen.len()).map(|i| seen[i] - if i == 0 { 0 } else { seen[i - 1] }).collect()
}

#[test]
fn minibatches_go_on_growing() {
    let folder = halves();
    let train = "train --vocab vocab.txt --topics 3 --batch 1..4 --sweeps 5 --json";
    let whole = run(&folder, &format!("{train} a.txt b.txt --log whole.jsonl")).ok().json();
    run(&folder, &format!("{train} a.txt --out half.gbs")).ok();
    let on = run(&folder, "train b.txt --continue half.gbs --json --out half.gbs").ok().json();
    assert_eq!((&on["model_hash"], &on["updates"]), (&whole["model_hash"], &whole["updates"]));
    // A twentieth of what was seen before: 1 up to 40 documents, 2 up to 60, 3 up to 81, then 4; 3 are left.
    let expected = [vec![1; 40], vec![2; 10], vec![3; 7], vec![4; 9], vec![3]].concat();
    assert_eq!(sizes(&folder, "whole.jsonl"), expected);
    assert_eq!(run(&folder, "inspect half.gbs --json").ok().json()["batch"], "1..4");
    assert!(run(&folder, "inspect half.gbs").ok().stdout.contains("minibatches of 1..4"));
}

#[test]
fn two_halves_are_the_whole() {
    let folder = halves();
    for flags in ["", "--averaging uniform", "--method svb", "--method olda --total-docs 120"] {
        let train = format!("train --vocab vocab.txt --topics 3 --batch 10 --sweeps 5 --json {flags}");
        let whole = run(&folder, &format!("{train} a.txt b.txt")).ok().json();
        run(&folder, &format!("{train} a.txt --out half.gbs")).ok();
        let on = run(&folder, "train b.txt --continue half.gbs --json --out half.gbs").ok().json();
        for field in ["model_hash", "documents", "tokens", "updates", "topics", "sweeps", "method"] {
            assert_eq!(on[field], whole[field], "{flags}: {field}");
        }
        let model = run(&folder, "inspect half.gbs --json").ok().json();
        let history = model["history"].as_array().unwrap();
        assert_eq!(history.len(), 2);
        assert_eq!((&history[0]["action"], &history[0]["documents"]), (&"train".into(), &60.into()));
        assert_eq!((&history[1]["action"], &history[1]["documents"]), (&"continue".into(), &60.into()));
        assert!(history[1].get("changes").is_none());
    }
}

#[test]
fn further_passes_and_changed_settings_are_recorded() {
    let folder = halves();
    run(&folder, "train a.txt --topics 3 --batch 10 --sweeps 5 --seed 7 --out m.gbs").ok();
    let on = "train a.txt --continue m.gbs --out m.gbs --json --passes 2 --sweeps 9 --batch 20";
    let report = run(&folder, on).ok().json();
    assert_eq!((&report["documents"], &report["updates"]), (&120.into(), &12.into()));
    assert_eq!((&report["seed"], &report["sweeps"]), (&7.into(), &9.into()));
    let history = run(&folder, "inspect m.gbs --json").ok().json()["history"].clone();
    assert_eq!(history[1]["changes"], serde_json::json!(["batch: 10 -> 20", "sweeps: 5 -> 9"]));
    let text = run(&folder, "inspect m.gbs").ok().stdout;
    assert!(text.ends_with("            with batch: 10 -> 20\n            with sweeps: 5 -> 9\n"), "{text}");
}

/// One knob after the other, each alone: none is passed over.
#[test]
fn every_knob_alone_changes_what_is_continued() {
    let folder = halves();
    run(&folder, "train a.txt --topics 3 --batch 10 --sweeps 8 --averaging none --out m.gbs").ok();
    for (flags, change) in [
        ("--window half", "window: quarter -> half"),
        ("--statistic in-sweep", "statistic: rb -> in-sweep"),
        ("--kappa 0.7", "kappa: 0.6 -> 0.7"),
        ("--alpha newton", "alpha: gamma=1,0.01 -> newton"),
        ("--boost", "boost: false -> true"),
        ("--smoothing 0.1", "smoothing: 0.04 -> 0.1"),
        ("--seed 3", "seed: 0 -> 3"),
    ] {
        run(&folder, &format!("train b.txt --continue m.gbs --out n.gbs {flags}")).ok();
        let facts = run(&folder, "inspect n.gbs --json").ok().json();
        assert_eq!(facts["history"][1]["changes"], serde_json::json!([change]));
    }
    let facts = run(&folder, "inspect n.gbs --json").ok().json();
    assert_eq!((&facts["seed"], &facts["parts"]["window"]), (&3.into(), &"quarter".into()));
    folder.write("c.toml", "window = \"half\"\n");
    run(&folder, "train b.txt --continue m.gbs --out n.gbs --config c.toml").ok();
    assert_eq!(run(&folder, "inspect n.gbs --json").ok().json()["parts"]["window"], "half");
}

#[test]
fn words_that_the_model_does_not_know_are_counted() {
    let folder = halves();
    run(&folder, "train a.txt --topics 3 --batch 10 --out m.gbs").ok();
    folder.write("new.txt", "plot actor quasar pulsar\nnovel page nebula\n");
    let ran = run(&folder, "train new.txt --continue m.gbs --json -v").ok();
    assert!(ran.stderr.contains("3 tokens outside the vocabulary were left out"), "{}", ran.stderr);
    assert_eq!(ran.json()["out_of_vocabulary_tokens"], 3);
}

#[test]
fn a_continued_run_is_resumed_even_if_the_model_has_been_replaced() {
    let folder = halves();
    run(&folder, "train a.txt --topics 3 --batch 10 --sweeps 5 --out m.gbs").ok();
    let line =
        "train b.txt --continue m.gbs --out m.gbs --json --checkpoint ck --checkpoint-every 1b --resume";
    let whole = run(&folder, line).ok().json();
    std::fs::remove_file(folder.file("ck/checkpoint-000000000012.gbs")).unwrap();
    let resumed = run(&folder, line).ok().json();
    assert_eq!((&resumed["model_hash"], &resumed["documents"]), (&whole["model_hash"], &120.into()));
}

#[test]
fn what_cannot_be_changed_is_refused() {
    let folder = halves();
    run(&folder, "train a.txt --topics 3 --batch 10 --sweeps 5 --out m.gbs").ok();
    let on = "train b.txt --continue m.gbs --json";
    for (flags, text) in [
        ("--start nearly-uniform", "--start: a continued model already has topics; leave it out"),
        ("--model hdp", "--model: the model is an lda, not hdp; leave it out, or train a new model"),
        (
            "--max-topics 9",
            "--max-topics: only models whose number of topics is open have it; add --model hdp, or leave it out",
        ),
        ("--topics 4", "--topics: the model has 3 topics, not 4; leave it out, or train a new model"),
        ("--min-df 2", "--min-df: a continued model keeps its words; leave it out"),
        ("--stop-words none", "--stop-words: a continued model keeps its words; leave it out"),
        (
            "--averaging uniform",
            "--averaging: a mean of parameters must be kept from the first update on, or not at all; \
             leave it out, or train a new model",
        ),
        (
            "--method lds --total-docs 100",
            "--method: Langevin moves hold topics, other methods counts; one cannot go on from the other; \
             train a new model",
        ),
    ] {
        run(&folder, &format!("{on} {flags}")).refused(text);
    }
    run(&folder, "train b.txt --continue absent.gbs --json")
        .refused("absent.gbs: cannot open: No such file or directory (os error 2)");
    run(&folder, "train b.txt --continue a.txt --json").refused(
        "a.txt: not a usable model file: it is cut off, or it does not begin like one; \
         train the model again or take a copy that is whole",
    );
}
