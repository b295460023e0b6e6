//! Ctrl-C and SIGTERM: finish the minibatch, write the model so far, and say so.

use crate::support::{Folder, run, signalled};
use std::io::{Read, Write};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

/// A training run that waits for more documents than it will ever get.
fn waiting(folder: &Folder, documents: usize, flags: &[&str]) -> Child {
    folder.write("vocab.txt", "plot\nactor\nnovel\npage\n");
    let mut child = signalled()
        .current_dir(folder.path())
        .args(["train", "-", "--format", "text", "--vocab", "vocab.txt", "--topics", "2", "--batch", "2"])
        // Otherwise the run would wait for a minibatch to find the language in, before it begins.
        .args(["--log", "log.jsonl", "--language", "en"])
        .args(flags)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let pipe = child.stdin.as_mut().unwrap();
    for _ in 0..documents {
        pipe.write_all(b"plot actor novel page\n").unwrap();
    }
    pipe.flush().unwrap();
    child
}

fn wait_until(what: &str, mut holds: impl FnMut() -> bool) {
    let started = Instant::now();
    while !holds() {
        assert!(started.elapsed() < Duration::from_secs(30), "waited too long until {what}");
        std::thread::sleep(Duration::from_millis(10));
    }
}

fn lines(folder: &Folder) -> usize {
    std::fs::read_to_string(folder.file("log.jsonl")).map_or(0, |log| log.lines().count())
}

fn send(child: &Child, signal: &str) {
    let status = Command::new("kill").args([signal, &child.id().to_string()]).status().unwrap();
    assert!(status.success());
}

/// Waits for the end; the pipe stays open until then, so that the run cannot end by itself.
fn end(mut child: Child) -> (Option<i32>, String, String) {
    let pipe = child.stdin.take();
    let (mut stdout, mut stderr) = (String::new(), String::new());
    child.stdout.take().unwrap().read_to_string(&mut stdout).unwrap();
    child.stderr.take().unwrap().read_to_string(&mut stderr).unwrap();
    let code = child.wait().unwrap().code();
    drop(pipe);
    (code, stdout, stderr)
}

#[test]
fn the_model_so_far_is_written() {
    for (signal, name, code) in [("-INT", "Ctrl-C", 130), ("-TERM", "SIGTERM", 143), ("-HUP", "SIGHUP", 129)]
    {
        let folder = Folder::new();
        let child = waiting(&folder, 10, &["--out", "m.gbs", "--json"]);
        wait_until("five minibatches are learnt", || lines(&folder) == 5);
        send(&child, signal);
        let (found, stdout, stderr) = end(child);
        assert_eq!(found, Some(code), "{stderr}");
        let text = format!("{name}: stopped after 5 minibatches; the model so far is in m.gbs\n");
        assert!(stderr.ends_with(&text), "{stderr}");
        let report: serde_json::Value = serde_json::from_str(&stdout).unwrap();
        assert_eq!((&report["documents"], &report["stopped_by"]), (&10.into(), &name.into()));
        let model = run(&folder, "inspect m.gbs --json").ok().json();
        assert_eq!((&model["documents"], &model["model_hash"]), (&10.into(), &report["model_hash"]));
    }
}

#[test]
fn before_the_first_minibatch_there_is_no_model() {
    let folder = Folder::new();
    let child = waiting(&folder, 1, &["--out", "m.gbs"]);
    wait_until("the log is there", || folder.file("log.jsonl").exists());
    // From the moment that the log is there to the moment that signals are only noted.
    std::thread::sleep(Duration::from_millis(300));
    send(&child, "-TERM");
    let (code, _, stderr) = end(child);
    assert_eq!(code, Some(143));
    assert_eq!(stderr, "SIGTERM arrived before the first minibatch was learnt, so there is no model\n");
    assert!(!folder.file("m.gbs").exists());
}

/// The language is looked for in the first minibatch, which may be long in coming.
#[test]
fn a_stream_that_has_not_shown_its_language_can_be_left() {
    let folder = Folder::new();
    folder.write("vocab.txt", "plot\nactor\nnovel\npage\n");
    folder.write("log", "plot actor novel page\n");
    let flags = "--format text --vocab vocab.txt --topics 2 --batch 2 --log log.jsonl --out m.gbs";
    for (input, signal, name, code) in [
        ("-", "-INT", "Ctrl-C", 130),
        ("-", "-TERM", "SIGTERM", 143),
        ("-", "-HUP", "SIGHUP", 129),
        ("log --follow", "-TERM", "SIGTERM", 143),
    ] {
        let mut child = signalled()
            .current_dir(folder.path())
            .args(format!("train {input} {flags}").split(' '))
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        child.stdin.as_mut().unwrap().write_all(b"plot actor novel page\n").unwrap();
        wait_until("it waits for a second document", || reads_ahead(&child));
        send(&child, signal);
        let (found, stdout, stderr) = end(child);
        let told = format!("{name} arrived before the first minibatch was learnt, so there is no model\n");
        assert_eq!((found, stdout.as_str(), stderr.as_str()), (Some(code), "", told.as_str()), "{input}");
        assert!(!folder.file("m.gbs").exists() && !folder.file("log.jsonl").exists());
    }
}

/// Whether a program has a thread that reads for it.
fn reads_ahead(child: &Child) -> bool {
    let Ok(threads) = std::fs::read_dir(format!("/proc/{}/task", child.id())) else { return false };
    let names = threads.filter_map(|thread| std::fs::read_to_string(thread.ok()?.path().join("comm")).ok());
    names.into_iter().any(|name| name == "reader\n")
}

#[test]
fn commands_with_nothing_to_save_end_at_once() {
    let folder = Folder::with_models();
    for (signal, code) in [("-INT", 130), ("-TERM", 143)] {
        let child = Command::new(env!("CARGO_BIN_EXE_gibbstream"))
            .current_dir(folder.path())
            .args(["evaluate", "text.gbs", "-", "--format", "text"])
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        std::thread::sleep(Duration::from_millis(300));
        send(&child, signal);
        let (found, stdout, stderr) = end(child);
        assert_eq!((found, stdout.as_str(), stderr.as_str()), (Some(code), "", ""));
    }
}

/// `nohup` ignores SIGHUP, and so must whatever it starts.
#[test]
fn a_run_that_is_to_outlive_its_terminal_does() {
    let folder = Folder::new();
    folder.write("vocab.txt", "plot\nactor\nnovel\npage\n");
    let line = "train - --format text --vocab vocab.txt --topics 2 --batch 2 --log log.jsonl --json";
    let mut child = Command::new("nohup")
        .current_dir(folder.path())
        .arg(crate::PROGRAM)
        .args(line.split(' '))
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()
        .unwrap();
    let mut pipe = child.stdin.take().unwrap();
    pipe.write_all(b"plot actor\nnovel page\n").unwrap();
    wait_until("a minibatch is learnt", || lines(&folder) == 1);
    send(&child, "-HUP");
    std::thread::sleep(Duration::from_millis(300));
    pipe.write_all(b"plot actor\nnovel page\n").unwrap();
    drop(pipe);
    let output = child.wait_with_output().unwrap();
    assert_eq!(output.status.code(), Some(0));
    let report: serde_json::Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!(report["documents"], 4);
}
