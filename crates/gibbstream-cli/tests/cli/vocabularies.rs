//! Vocabularies that grow or are hashed.

use crate::support::{Folder, run, run_with};
use serde_json::Value;

const FLAGS: &str = "--topics 3 --batch 10 --sweeps 5 --json";

fn piped(folder: &Folder, line: &str, file: &str) -> Value {
    let ran = run_with(folder, line, |command| {
        command.write_stdin(folder.read(file));
    })
    .ok();
    assert_eq!(ran.stderr, "", "nothing is spooled");
    ran.json()
}

#[test]
fn text_is_read_once_and_the_model_is_the_same_everywhere() {
    let folder = Folder::with_corpora();
    for (mode, words) in [("grow", 30), ("hash=9", 512)] {
        let line = format!("--vocab-mode {mode} {FLAGS}");
        let report = piped(&folder, &format!("train - --format text {line} --out m.gbs"), "reviews.txt");
        assert_eq!(report["vocabulary"], words, "{mode}");
        assert_eq!(report["out_of_vocabulary_tokens"], 0, "{mode}");
        for threads in [1, 3] {
            let again = format!("train reviews.jsonl --mode stream {line} --threads {threads}");
            let again = run(&folder, &again).ok().json();
            assert_eq!(again["model_hash"], report["model_hash"], "{mode}");
        }
        let score = run(&folder, "evaluate m.gbs reviews.txt --json").ok().json();
        assert_eq!(
            (&score["tokens"], &score["out_of_vocabulary_tokens"]),
            (&report["tokens"], &0.into()),
            "{mode}"
        );
        assert!(
            score["log_perplexity_per_document"].as_f64()
                < score["unigram_log_perplexity_per_document"].as_f64()
        );
        let topics = run(&folder, "topics m.gbs --json --words 5").ok().json();
        for topic in topics["topics"].as_array().unwrap() {
            for word in topic["words"].as_array().unwrap() {
                let word = word["word"].as_str().unwrap();
                assert!(word.chars().all(char::is_alphabetic), "{mode}: {word}");
            }
        }
        let tokens = run(&folder, "infer m.gbs reviews.txt --tokens --limit-docs 1").ok().stdout;
        assert!(tokens.contains("[[\""), "{tokens}");
        run(&folder, "export m.gbs out").ok();
        let list = String::from_utf8(folder.read("out/vocab.txt")).unwrap();
        assert_eq!(list.lines().count(), words, "{mode}");
        assert!(list.contains("guitar\n"), "{mode}");
    }
}

#[test]
fn counts_grow_too() {
    let folder = Folder::with_corpora();
    let fixed = folder.train("uci --topics 4");
    let grown = folder.train("uci --topics 4 --vocab-mode grow");
    assert_eq!(grown["tokens"], fixed["tokens"]);
    assert!(grown["vocabulary"].as_u64() <= fixed["vocabulary"].as_u64());
    assert_eq!(folder.train("uci --topics 4 --vocab-mode hash=12")["vocabulary"], 4096);
}

#[test]
fn a_small_cap_prunes_and_counts_what_is_left_out() {
    let folder = Folder::with_corpora();
    let line = format!("train reviews.txt --vocab-mode grow --max-vocab 12 --passes 3 {FLAGS}");
    let report = run(&folder, &format!("{line} --out m.gbs --holdout 20 --eval-every 10")).ok().json();
    assert_eq!(report["vocabulary"], 12);
    assert!(report["out_of_vocabulary_tokens"].as_u64().unwrap() > 0);
    let last = report["evaluations"].as_array().unwrap().last().unwrap();
    assert!(last["out_of_vocabulary_tokens"].as_u64().unwrap() > 0);
    let model = run(&folder, "evaluate m.gbs reviews.txt --json --limit-docs 20").ok().json();
    for field in ["tokens", "out_of_vocabulary_tokens"] {
        assert_eq!(model[field], last[field], "{field}");
    }
    // Words leave and others come: a run that is killed in between ends with the same bits.
    let whole = run(&folder, &line).ok().json();
    run(&folder, &format!("{line} --checkpoint ck --checkpoint-every 1b")).ok();
    let mut names: Vec<_> =
        std::fs::read_dir(folder.file("ck")).unwrap().map(|entry| entry.unwrap().path()).collect();
    names.sort();
    std::fs::remove_file(&names[names.len() - 2]).unwrap();
    let resumed = run(&folder, &format!("{line} --checkpoint ck --resume")).ok().json();
    for field in ["model_hash", "out_of_vocabulary_tokens", "vocabulary", "documents"] {
        assert_eq!(resumed[field], whole[field], "{field}");
    }
}

#[test]
fn a_continued_model_keeps_growing_or_begins_to() {
    let folder = Folder::with_corpora();
    let text = String::from_utf8(folder.read("reviews.txt")).unwrap();
    let lines: Vec<&str> = text.lines().collect();
    folder.write("a.txt", lines[..60].join("\n"));
    folder.write("b.txt", lines[60..].join("\n") + "\nquasar pulsar nebula\n");
    for mode in ["grow", "hash=9"] {
        let whole = run(&folder, &format!("train a.txt b.txt --vocab-mode {mode} {FLAGS}")).ok().json();
        run(&folder, &format!("train a.txt --vocab-mode {mode} {FLAGS} --out m.gbs")).ok();
        let on = run(&folder, "train b.txt --continue m.gbs --json").ok().json();
        assert_eq!(
            (&on["model_hash"], &on["vocabulary"]),
            (&whole["model_hash"], &whole["vocabulary"]),
            "{mode}"
        );
    }
    run(&folder, &format!("train a.txt {FLAGS} --out fixed.gbs")).ok();
    let on =
        run(&folder, "train b.txt --continue fixed.gbs --json --vocab-mode grow --max-vocab 50").ok().json();
    assert_eq!((&on["vocabulary"], &on["out_of_vocabulary_tokens"]), (&33.into(), &0.into()));
}

#[test]
fn what_does_not_fit_is_refused() {
    let folder = Folder::with_corpora();
    folder.write("words.txt", "plot\n");
    let counted = "words would have to be counted before learning; leave it out, or use --vocab-mode fixed";
    for (flags, text) in [
        ("--vocab-mode grow --min-df 2", format!("--min-df: {counted}")),
        ("--vocab-mode grow --max-df 0.5", format!("--max-df: {counted}")),
        ("--vocab-mode hash=10 --max-vocab 5", format!("--max-vocab: {counted}")),
        ("--vocab-mode grow --max-vocab 0", "--max-vocab: 0 words cannot describe a document; use at least 1".into()),
        (
            "--vocab-mode hash=40",
            "--vocab-mode: a table of 2^40 places is not possible; use hash=BITS with 1 to 28 bits, such as hash=18".into(),
        ),
        (
            "--vocab-mode grow --vocab words.txt",
            "--vocab: the words are to be found while reading; leave it out, or use --vocab-mode fixed".into(),
        ),
        (
            "--vocab-mode grow --method batch-vem",
            "--vocab-mode: this method needs to know all words before it begins; use --vocab-mode fixed, or a method that \
             learns from minibatches"
                .into(),
        ),
    ] {
        run(&folder, &format!("train reviews.txt {FLAGS} {flags}")).refused(&text);
    }
    let ran = run(&folder, "train reviews.txt --topics 3 --json --vocab-mode shrink");
    assert!(ran.stderr.contains("use fixed, grow or hash=BITS"), "{}", ran.stderr);
}

/// Texts in phases; each phase brings words of its own, while some words stay.
fn drifting(documents: usize) -> (Vec<String>, Vec<String>) {
    let mut state = 3_u64;
    let mut next = move |below: usize| {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (state >> 33) as usize % below
    };
    let letters = |number: usize| -> String {
        number.to_string().bytes().map(|digit| char::from(digit - b'0' + b'a')).collect()
    };
    let mut words: Vec<String> = Vec::new();
    for theme in 0..6 {
        words.extend((0..30).map(|word| format!("stay{}x{}", letters(theme), letters(word))));
        for phase in 0..5 {
            words.extend(
                (0..30).map(|word| format!("p{}t{}x{}", letters(phase), letters(theme), letters(word))),
            );
        }
    }
    let texts = (0..documents)
        .map(|index| {
            let phase = index * 5 / documents;
            let theme = next(6);
            let token = |next: &mut dyn FnMut(usize) -> usize| {
                // Mostly the theme of the document, and the frequent words of it more often.
                let theme = if next(5) == 0 { next(6) } else { theme };
                let word = letters(next(30).min(next(30)));
                if next(2) == 0 {
                    format!("stay{}x{word}", letters(theme))
                } else {
                    format!("p{}t{}x{word}", letters(phase), letters(theme))
                }
            };
            (0..40).map(|_| token(&mut next)).collect::<Vec<_>>().join(" ")
        })
        .collect();
    (texts, words)
}

#[test]
fn on_a_drifting_stream_growing_is_as_good_as_knowing_all_words() {
    let folder = Folder::new();
    let (texts, words) = drifting(5_000);
    folder.write("train.txt", texts[..4_800].join("\n"));
    folder.write("last.txt", texts[4_800..].join("\n"));
    folder.write("vocab.txt", words.join("\n"));
    let score = |flags: &str| {
        let train = format!("train train.txt --topics 8 --batch 50 --sweeps 10 --json {flags} --out m.gbs");
        let report = run(&folder, &train).ok().json();
        let score = run(&folder, "evaluate m.gbs last.txt --json").ok().json();
        assert_eq!(score["out_of_vocabulary_tokens"], 0, "{flags}");
        (score["log_perplexity_per_document"].as_f64().unwrap(), report["vocabulary"].as_u64().unwrap())
    };
    let (known, all) = score("--vocab vocab.txt");
    let (grown, found) = score("--vocab-mode grow");
    assert!(all == 1080 && (1070..=1080).contains(&found), "{found} words of {all}");
    assert!((grown - known).abs() <= 0.01 * known, "grown {grown}, known in advance {known}");
    // With room for less than half of the words, those of phases that are over make room for the new ones.
    let train = "train train.txt --topics 8 --batch 50 --sweeps 10 --json --vocab-mode grow --max-vocab 500 --out s.gbs";
    assert_eq!(run(&folder, train).ok().json()["vocabulary"], 500);
    let small = run(&folder, "evaluate s.gbs last.txt --json").ok().json();
    let share = small["out_of_vocabulary_tokens"].as_f64().unwrap() / small["tokens"].as_f64().unwrap();
    assert!(share < 0.15, "{share} of the tokens are outside of the vocabulary");
}
