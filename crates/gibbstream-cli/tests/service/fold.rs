//! The model is a fold over the log: what `train -` makes from the same documents.

use crate::server::{Server, documents, refused};
use crate::support::{Folder, run, run_with};
use serde_json::Value;
use std::panic::AssertUnwindSafe;
use std::sync::atomic::{AtomicBool, Ordering};

/// What `train -` makes of these documents with these flags.
pub fn offline(folder: &Folder, lines: &[String], flags: &str) -> Value {
    let mode =
        if flags.contains("--vocab") || flags.contains("--continue") { "" } else { "--vocab-mode grow" };
    let line = format!("train - --json --no-progress {mode} {flags}");
    run_with(folder, &line, |command| {
        command.write_stdin(lines.join("\n") + "\n");
    })
    .ok()
    .json()
}

const FLAGS: &str = "--topics 3 --batch 10 --sweeps 5";

#[test]
fn the_model_is_that_of_train() {
    let folder = Folder::with_models();
    folder.write("words.txt", "plot\nactor\nnovel\npage\nsong\n");
    let runs = [
        FLAGS,
        "--topics 3 --batch 5..40 --sweeps 5 --seed 7 --max-vocab 40",
        "--topics 4 --batch 20 --sweeps 5 --vocab-mode hash=6 --method g-oem++",
        "--topics 2 --batch 10 --sweeps 5 --vocab words.txt --holdout 17 --eval-every 3",
        "--topics 3 --batch 10 --sweeps 5 --holdout 20 --eval-every 2",
        "--model hdp --batch 20 --sweeps 5",
        "--continue text.gbs --batch 10",
    ];
    let lines = documents(137);
    for (number, flags) in runs.into_iter().enumerate() {
        let server = Server::start(&folder, &format!("--data d{number} {flags}"));
        // In requests of different sizes.
        let mut rest = &lines[..];
        for size in (1..).map(|step| 1 + step * 7 % 31) {
            let (now, later) = rest.split_at(size.min(rest.len()));
            server.send(now);
            rest = later;
            if rest.is_empty() {
                break;
            }
        }
        // Whenever that is: after whole minibatches. It goes on learning meanwhile, so what was told and what is in the
        // file when it stops may be of two moments, and each is compared with what `train -` makes of its documents.
        let model = server.wait("documents are learnt", |model| {
            let progress = &model["progress"];
            progress["accepted"] == 137
                && progress["waiting"].as_u64() < Some(40)
                && progress["documents"] == model["documents"]
        });
        let whole = &lines[..lines.len() - model["progress"]["waiting"].as_u64().unwrap() as usize];
        let expected = offline(&folder, whole, flags);
        assert_eq!(model["model_hash"], expected["model_hash"], "{flags}: {model}");
        assert_eq!(model["documents"], expected["documents"], "{flags}");
        if flags.contains("--holdout") {
            let (score, last) = (&model["progress"]["score"], expected["evaluations"].as_array().unwrap());
            let same = last
                .iter()
                .any(|one| one["log_perplexity_per_document"] == score["log_perplexity_per_document"]);
            assert!(same && score["log_perplexity_per_document"].is_number(), "{score}");
        }
        assert_eq!(server.stop(), Some(143));
        let file = run(&folder, &format!("inspect d{number}/model.gbs --json")).ok().json();
        let later = file["documents"].as_u64().unwrap() - model["documents"].as_u64().unwrap();
        let expected = offline(&folder, &lines[..whole.len() + later as usize], flags);
        assert_eq!(file["documents"], expected["documents"], "{flags}");
        assert_eq!(file["model_hash"], expected["model_hash"], "{flags}");
    }
}

#[test]
fn a_cut_is_in_the_log_and_made_again() {
    let folder = Folder::new();
    let lines = documents(60);
    let flags = format!("--data d {FLAGS}");
    let server = Server::start(&folder, &format!("{flags} --max-wait 0.1"));
    server.send(&lines[..13]);
    server.learnt(13);
    server.send(&lines[13..17]);
    let model = server.learnt(17);
    server.kill();
    let log = folder.text("d/log/00000000000000000000.jsonl");
    assert_eq!(log.lines().filter(|line| line.contains("\"cut\":true")).count(), 2, "{log}");
    // No checkpoint was written, so everything is learnt again: with the same cuts, and without asking for others.
    let server = Server::start(&folder, &flags);
    assert_eq!(server.learnt(17)["model_hash"], model["model_hash"]);
    server.send(&lines[17..27]);
    let model = server.learnt(27);
    assert_eq!(server.stop(), Some(143));
    // The same by hand: minibatches of 10, 3, 4 and 10 documents.
    let by_hand = {
        run_with(&folder, &format!("train - --json --vocab-mode grow {FLAGS} --out a.gbs"), |command| {
            command.write_stdin(lines[..13].join("\n"));
        })
        .ok();
        for (flags, part) in [
            ("--out b.gbs --continue a.gbs", &lines[13..17]),
            ("--out c.gbs --continue b.gbs", &lines[17..27]),
        ] {
            run_with(&folder, &format!("train - --json {flags}"), |command| {
                command.write_stdin(part.join("\n"));
            })
            .ok();
        }
        run(&folder, "inspect c.gbs --json").ok().json()
    };
    assert_eq!(model["model_hash"], by_hand["model_hash"]);
}

#[test]
fn a_minibatch_is_cut_also_while_documents_drop_in() {
    let folder = Folder::new();
    let lines = documents(4);
    let server = Server::start(&folder, "--data d --topics 3 --batch 1000000 --sweeps 5 --max-wait 0.3");
    let is_over = AtomicBool::new(false);
    std::thread::scope(|scope| {
        for line in &lines {
            scope.spawn(|| {
                while !is_over.load(Ordering::Relaxed) {
                    server.send(std::slice::from_ref(line));
                }
            });
        }
        // Whatever happens, the others shall end.
        let found = std::panic::catch_unwind(AssertUnwindSafe(|| {
            server.wait("something is learnt", |model| model["documents"].as_u64() > Some(0))
        }));
        is_over.store(true, Ordering::Relaxed);
        let progress = &found.unwrap()["progress"];
        assert!(progress["accepted"].as_u64() < Some(1_000_000), "no minibatch was full: {progress}");
    });
}

#[test]
fn it_goes_on_where_it_was() {
    let folder = Folder::new();
    let lines = documents(95);
    let server = Server::start(&folder, &format!("--data d {FLAGS} --seed 3"));
    server.send(&lines[..42]);
    server.learnt(40);
    assert_eq!(server.stop(), Some(143));
    // With nothing but the folder.
    let server = Server::start(&folder, "--data d");
    assert_eq!(server.get("/v1/model").json()["documents"], 40, "the checkpoint answers at once");
    assert_eq!(server.send(&lines[42..])["position"], 42);
    let model = server.learnt(90);
    assert_eq!(
        model["model_hash"],
        offline(&folder, &lines[..90], &format!("{FLAGS} --seed 3"))["model_hash"]
    );
    drop(server);
    let (code, error) = refused(&folder, "--data d --topics 4 --batch 10 --sweeps 5 --seed 3");
    assert_eq!(code, Some(2));
    let expected = "error: --resume: the run in d was started differently (topics: 3 -> 4); use the same settings as before, or another folder";
    assert_eq!(error, expected);
    Server::start(&folder, &format!("--data d {FLAGS} --seed 3"));
}

#[test]
fn two_services_cannot_share_a_folder() {
    let folder = Folder::new();
    let server = Server::start(&folder, &format!("--data d {FLAGS}"));
    let (code, error) = refused(&folder, &format!("--data d {FLAGS}"));
    assert_eq!(code, Some(2));
    assert!(error.contains("another run is writing to d/checkpoints"), "{error}");
    server.get("/readyz").expect(200);
}

#[test]
fn what_makes_no_sense_is_refused() {
    let folder = Folder::new();
    for (flags, expected) in [
        (
            "--topics 3",
            "--data: there is no place for the documents; name a folder for log, checkpoints and model with --data DIR",
        ),
        ("--data d --topics 3 x.jsonl", "INPUT: a service gets its documents over HTTP; leave it out"),
        ("--data d --topics 3 --out m.gbs", "--out: does not apply to a service; leave it out"),
        (
            "--data d --model ica --components 2",
            "--model: a service learns topics, not a ica; use lda or hdp",
        ),
        (
            "--data d --topics 3 --vocab-mode fixed",
            "--vocab-mode: the words of an endless stream cannot be counted first; give them with --vocab, or use --vocab-mode grow or hash=BITS",
        ),
        (
            "--read-only",
            "--read-only: there is no model to answer questions about; name it with --continue MODEL, or a folder of a service with --data DIR",
        ),
        (
            "--data d --topics 3 --listen 0.0.0.0:0",
            "--listen: 0.0.0.0:0 can be reached from other machines, and no token is required; listen on 127.0.0.1, or name a file with a token with --token-file",
        ),
    ] {
        let (code, error) = refused(&folder, flags);
        assert_eq!((code, error.as_str()), (Some(2), format!("error: {expected}").as_str()), "{flags}");
    }
}
