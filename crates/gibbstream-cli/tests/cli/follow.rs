//! `--follow`: a file that others write to.

use crate::support::{Folder, run};
use std::io::{BufRead, BufReader, Write};
use std::process::{Child, Command, Stdio};
use std::time::Duration;

fn start(folder: &Folder, line: &str) -> Child {
    Command::new(env!("CARGO_BIN_EXE_gibbstream"))
        .current_dir(folder.path())
        .args(line.split_whitespace())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap()
}

fn append(folder: &Folder, text: &str) {
    let mut file = std::fs::File::options().append(true).open(folder.file("log.txt")).unwrap();
    file.write_all(text.as_bytes()).unwrap();
}

/// Waits until the run has learnt from so many minibatches.
fn wait_for(folder: &Folder, minibatches: usize) {
    let lines = || std::fs::read_to_string(folder.file("steps.jsonl")).map_or(0, |log| log.lines().count());
    for _ in 0..3000 {
        if lines() >= minibatches {
            return;
        }
        std::thread::sleep(Duration::from_millis(10));
    }
    panic!("only {} minibatches", lines());
}

fn end(mut child: Child) -> (Option<i32>, serde_json::Value) {
    assert!(Command::new("kill").args(["-TERM", &child.id().to_string()]).status().unwrap().success());
    let code = child.wait().unwrap().code();
    let mut line = String::new();
    BufReader::new(child.stdout.take().unwrap()).read_line(&mut line).unwrap();
    (code, serde_json::from_str(&line).unwrap())
}

#[test]
fn what_is_appended_is_learnt_and_a_stopped_run_goes_on() {
    let folder = Folder::with_corpora();
    let text = String::from_utf8(folder.read("reviews.txt")).unwrap();
    let lines: Vec<&str> = text.lines().collect();
    let flags = "--vocab-mode grow --topics 3 --batch 10 --sweeps 5 --json";
    let line = format!("train log.txt --follow --checkpoint ck --resume --log steps.jsonl {flags}");
    folder.write("log.txt", lines[..25].join("\n") + "\n");
    let child = start(&folder, &line);
    wait_for(&folder, 2);
    append(&folder, &(lines[25..50].join("\n") + "\n"));
    wait_for(&folder, 5);
    let (code, report) = end(child);
    assert_eq!((code, &report["documents"]), (Some(143), &50.into()));
    append(&folder, &(lines[50..].join("\n") + "\n"));
    let child = start(&folder, &line);
    wait_for(&folder, 12);
    let (_, report) = end(child);
    assert_eq!(report["documents"], 120);
    let whole = run(&folder, &format!("train reviews.txt --mode stream {flags}")).ok().json();
    assert_eq!(report["model_hash"], whole["model_hash"]);
}

#[test]
fn mixtures_come_as_the_file_grows() {
    let folder = Folder::with_models();
    folder.write("log.txt", "plot actor\n");
    let mut child = start(&folder, "infer text.gbs log.txt --follow --top 1");
    let mut lines = BufReader::new(child.stdout.take().unwrap()).lines();
    assert!(lines.next().unwrap().unwrap().contains("\"index\":0"));
    append(&folder, "novel page\n");
    assert!(lines.next().unwrap().unwrap().contains("\"index\":1"));
    child.kill().unwrap();
    child.wait().unwrap();
}

#[test]
fn what_cannot_be_followed_is_refused() {
    let folder = Folder::with_corpora();
    folder.write("packed.txt", zstd::encode_all(&b"plot\n"[..], 1).unwrap());
    for (line, text) in [
        (
            "reviews.txt",
            "--follow: the words of an endless stream cannot be counted first; \
             give them with --vocab, or use --vocab-mode grow or hash=BITS",
        ),
        (
            "reviews.txt --vocab-mode grow --passes 2",
            "--follow: an endless stream cannot be read as a whole; use one pass, and a method that learns from minibatches",
        ),
        (
            "packed.txt --vocab-mode grow",
            "--follow: packed.txt can only be read to its end; lines of text or JSON, not compressed, can be followed",
        ),
        (
            "uci --vocab-mode grow",
            "--follow: uci/docword.txt.zst can only be read to its end; lines of text or JSON, not compressed, can be followed",
        ),
    ] {
        run(&folder, &format!("train {line} --follow --topics 2 --json")).refused(text);
    }
}

/// The command of every part of the run below.
const FLAGS: &str = "--vocab-mode grow --topics 3 --batch 10 --sweeps 5 --json";

/// Starts or goes on, and ends once so many minibatches have been learnt from.
fn until(folder: &Folder, minibatches: usize) -> (serde_json::Value, String) {
    let line = format!("train log.txt --follow --checkpoint ck --resume --log steps.jsonl {FLAGS}");
    let mut child = start(folder, &line);
    wait_for(folder, minibatches);
    let mut stderr = child.stderr.take().unwrap();
    let (code, report) = end(child);
    assert_eq!(code, Some(143));
    let mut text = String::new();
    std::io::Read::read_to_string(&mut stderr, &mut text).unwrap();
    (report, text)
}

#[test]
fn nothing_is_lost_or_read_twice_when_a_followed_file_is_rotated() {
    let folder = Folder::with_corpora();
    let text = folder.text("reviews.txt");
    let lines: Vec<&str> = text.lines().collect();
    let joined = |some: &[&str]| some.join("\n") + "\n";
    folder.write("log.txt", joined(&lines[..30]));
    let line = format!("train log.txt --follow --checkpoint ck --resume --log steps.jsonl {FLAGS}");
    let child = start(&folder, &line);
    wait_for(&folder, 3);
    // While it runs.
    std::fs::rename(folder.file("log.txt"), folder.file("log.txt.1")).unwrap();
    folder.write("log.txt", joined(&lines[30..50]));
    wait_for(&folder, 5);
    let (_, report) = end(child);
    assert_eq!(report["documents"], 50);
    append(&folder, &joined(&lines[50..70]));
    assert_eq!(until(&folder, 7).0["documents"], 70);
    // While it does not, with lines before and after.
    append(&folder, &joined(&lines[70..85]));
    std::fs::rename(folder.file("log.txt"), folder.file("log.txt.1")).unwrap();
    folder.write("log.txt", joined(&lines[85..90]));
    assert_eq!(until(&folder, 9).0["documents"], 90);
    // Twice in a row.
    append(&folder, &joined(&lines[90..95]));
    std::fs::rename(folder.file("log.txt"), folder.file("log.txt.2")).unwrap();
    folder.write("log.txt.1", joined(&lines[95..105]));
    folder.write("log.txt", joined(&lines[105..110]));
    assert_eq!(until(&folder, 11).0["documents"], 110);
    // Copied and cut, as `copytruncate` does.
    append(&folder, &joined(&lines[110..115]));
    std::fs::copy(folder.file("log.txt"), folder.file("log.txt.1")).unwrap();
    folder.write("log.txt", joined(&lines[115..]));
    let (report, stderr) = until(&folder, 12);
    assert_eq!(report["documents"], 120, "{stderr}");
    let whole = run(&folder, &format!("train reviews.txt --mode stream {FLAGS}")).ok().json();
    assert_eq!(report["model_hash"], whole["model_hash"]);
    // Gone for good: said, and gone on with what is there.
    for name in ["log.txt.1", "log.txt.2"] {
        std::fs::remove_file(folder.file(name)).unwrap();
    }
    std::fs::remove_file(folder.file("log.txt")).unwrap();
    folder.write("log.txt", joined(&lines[..10]));
    let (report, stderr) = until(&folder, 13);
    assert_eq!(report["documents"], 130);
    let told = "warning: log.txt is another file since it was read to byte ";
    assert!(stderr.contains(told) || stderr.contains("warning: log.txt was cut since"), "{stderr}");
}
