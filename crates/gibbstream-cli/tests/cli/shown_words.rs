//! The words that are shown of topics, and seeds that pull topics.

use crate::support::{Folder, Ran, fields, run};
use serde_json::{Value, json};

fn words(topic: &Value) -> Vec<String> {
    topic["words"].as_array().unwrap().iter().map(|word| word["word"].as_str().unwrap().to_owned()).collect()
}

fn topics(folder: &Folder, line: &str) -> Vec<Value> {
    let found = run(folder, &format!("topics {line} --json")).ok().json();
    found["topics"].as_array().unwrap().clone()
}

/// Two themes of words that come together, and words of no theme, which are in every document.
fn noisy(folder: &Folder) {
    let themes = ["orbit rocket moon shuttle comet", "goal keeper league striker match"];
    let line = |index: usize| {
        let themed: Vec<&str> = themes[index % 2].split(' ').collect();
        let picked = (0..3).map(|word| themed[(index / 2 + word) % 5]);
        picked.chain(["thing", "way", "people", "day"]).collect::<Vec<_>>().join(" ")
    };
    folder.write("noisy.txt", (0..400).map(line).collect::<Vec<_>>().join("\n") + "\n");
}

#[test]
fn words_that_tell_topics_apart_are_shown_and_their_weights_are_probabilities() {
    let folder = Folder::new();
    noisy(&folder);
    let flags = "--topics 2 --batch 20 --sweeps 10 --passes 3 --seed 1 --max-df 1";
    run(&folder, &format!("train noisy.txt {flags} --out noisy.gbs")).ok();
    let (shown, probable) =
        (topics(&folder, "noisy.gbs --words 5"), topics(&folder, "noisy.gbs --words 5 --lambda 1"));
    let themes =
        [["comet", "moon", "orbit", "rocket", "shuttle"], ["goal", "keeper", "league", "match", "striker"]];
    let mut found: Vec<Vec<String>> = shown.iter().map(words).collect();
    found.iter_mut().for_each(|words| words.sort());
    found.sort();
    assert_eq!(found, themes);
    assert!(probable.iter().all(|topic| words(topic).contains(&"day".to_owned())), "{probable:?}");
    let all = topics(&folder, "noisy.gbs --words 14 --lambda 1");
    for (topic, all) in shown.iter().zip(&all) {
        for word in topic["words"].as_array().unwrap() {
            assert!(all["words"].as_array().unwrap().contains(word), "the same weight in any order");
        }
    }
    assert_eq!(shown[0]["background"], json!(false));
    assert_eq!(
        fields(&shown[0]),
        [
            "alpha",
            "background",
            "effective_words",
            "exclusivity",
            "id",
            "label",
            "label_by",
            "share",
            "words"
        ]
    );
}

/// Documents are looked at once more after training. That changes the file, never what was learnt.
#[test]
fn a_second_look_changes_words_and_nothing_that_was_learnt() {
    let folder = Folder::with_corpora();
    let read = "--topics 3 --batch 10 --sweeps 5";
    let hash = |ran: Ran| ran.ok().json()["model_hash"].clone();
    let file =
        hash(run(&folder, &format!("train reviews.txt {read} --vocab-mode grow --out file.gbs --json")));
    let again = run(
        &folder,
        &format!("train reviews.txt {read} --vocab-mode grow --out again.gbs --threads 3 --json"),
    );
    assert_eq!(hash(again), file);
    assert_eq!(folder.read("file.gbs"), folder.read("again.gbs"), "the words too, for any threads");
    // Learning on forgets them: the topics are others.
    run(&folder, "train reviews.txt --limit-docs 20 --continue file.gbs --out on.gbs").ok();
    assert_ne!(folder.read("on.gbs"), folder.read("file.gbs"));
    assert_eq!(topics(&folder, "on.gbs").len(), 3);
    let coherence = run(&folder, "evaluate file.gbs reviews.txt --coherence --json").ok().json();
    assert!(coherence["coherence"]["mean"]["npmi"].as_f64().unwrap() > 0.0, "{coherence}");
}

#[test]
fn seeds_say_which_topic_is_which() {
    let folder = Folder::with_corpora();
    for (order, seeds) in [
        ([0, 1, 2], "films: camera actor\n\nbooks: author, novel\nmusic: guitar drum Moon\n"),
        ([2, 0, 1], "guitar drum\ncamera actor\nauthor novel\n"),
    ] {
        folder.write("seeds.txt", seeds);
        let ran = run(
            &folder,
            "train reviews.jsonl --topics 3 --batch 10 --sweeps 5 --seeds seeds.txt --out seeded.gbs",
        )
        .ok();
        assert_eq!(
            ran.stderr.contains("these words are not in the vocabulary and have no effect: Moon"),
            order[0] == 0,
            "{}",
            ran.stderr
        );
        let found = topics(&folder, "seeded.gbs --words 10");
        for (topic, thing) in found.iter().zip(order) {
            let own = [["camera", "actor"], ["author", "novel"], ["guitar", "drum"]][thing];
            assert!(own.iter().all(|&word| words(topic).contains(&word.to_owned())), "{topic}");
            if order[0] == 0 {
                assert_eq!(
                    (&topic["label"], &topic["label_by"]),
                    (&json!(["films", "books", "music"][thing]), &json!("user"))
                );
            }
        }
    }
}

#[test]
fn seeds_that_make_no_sense_are_refused() {
    let folder = Folder::with_models();
    folder.write("seeds.txt", "a b\nc\nd\ne\n");
    let refused = |line: &str, text: &str| {
        run(&folder, &format!("train reviews.jsonl --out x.gbs {line}")).refused(text);
    };
    refused(
        "--topics 3 --seeds seeds.txt",
        "--seeds: they name 4 topics, and there are 3; ask for more topics, or name fewer",
    );
    refused(
        "--continue text.gbs --seeds seeds.txt",
        "--seeds: a continued model already has topics; leave it out",
    );
    refused(
        "--topics 9 --vocab-mode grow --seeds seeds.txt",
        "--seeds: the words must be known before learning begins; use --vocab-mode fixed, or leave them out",
    );
    folder.write("seeds.txt", "[[\"a\"], []]");
    refused(
        "--topics 3 --seeds seeds.txt",
        "--seeds: seeds.txt: topic 1 has no words; write one line of words per topic",
    );
}
