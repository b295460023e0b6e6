//! Pipes, colours and progress.

use crate::support::{Folder, run, run_with};
use std::io::{BufRead, BufReader, Read, Write};
use std::process::{Command, Stdio};

#[test]
fn a_closed_pipe_is_silent() {
    let folder = Folder::with_models();
    folder.write("many.txt", "plot actor scene\n".repeat(20_000));
    let mut child = Command::new(env!("CARGO_BIN_EXE_gibbstream"))
        .current_dir(folder.path())
        .args(["infer", "text.gbs", "many.txt", "--sweeps", "2"])
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let mut line = String::new();
    // Dropped after the first line: the reader has seen enough.
    BufReader::new(child.stdout.take().unwrap()).read_line(&mut line).unwrap();
    let mut stderr = String::new();
    child.stderr.take().unwrap().read_to_string(&mut stderr).unwrap();
    assert_eq!((child.wait().unwrap().code(), stderr.as_str()), (Some(0), ""));
    assert!(line.starts_with('{'));
}

#[test]
fn mixtures_of_a_live_stream_come_at_once() {
    let folder = Folder::with_models();
    let mut child = Command::new(env!("CARGO_BIN_EXE_gibbstream"))
        .current_dir(folder.path())
        .args(["infer", "text.gbs", "-", "--format", "text"])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let mut pipe = child.stdin.take().unwrap();
    let mut answers = BufReader::new(child.stdout.take().unwrap());
    for index in 0..3 {
        pipe.write_all(b"plot actor scene\n").unwrap();
        let mut line = String::new();
        answers.read_line(&mut line).unwrap();
        assert!(line.contains(&format!("\"index\":{index},")), "{line}");
    }
    drop(pipe);
    assert_eq!(child.wait().unwrap().code(), Some(0));
}

#[test]
fn colours_only_where_they_are_wanted() {
    let folder = Folder::with_models();
    for line in ["topics text.gbs", "methods", "inspect text.gbs", "evaluate text.gbs reviews.txt"] {
        let coloured = |variables: &[(&str, &str)]| {
            let ran = run_with(&folder, line, |command| {
                command.envs(variables.iter().copied());
            });
            ran.ok().stdout.contains('\x1b')
        };
        assert!(!coloured(&[]), "{line}");
        assert!(coloured(&[("CLICOLOR_FORCE", "1")]), "{line}");
        assert!(!coloured(&[("CLICOLOR_FORCE", "1"), ("NO_COLOR", "1")]), "{line}");
    }
}

#[test]
fn progress_is_for_terminals_or_for_programs() {
    let folder = Folder::with_corpora();
    assert_eq!(run(&folder, "train uci --topics 3 --batch 20 --json").ok().stderr, "");
    assert_eq!(
        run(&folder, "train uci --topics 3 --batch 20 --json --progress json --no-progress").ok().stderr,
        ""
    );
    let ran = run(&folder, "train uci --topics 3 --batch 20 --json --progress json --holdout 20").ok();
    let lines: Vec<serde_json::Value> = ran
        .stderr
        .lines()
        .filter(|line| line.starts_with('{'))
        .map(|line| serde_json::from_str(line).unwrap())
        .collect();
    assert!(lines.iter().all(|line| line["schema"] == "gibbstream/progress/1"), "{}", ran.stderr);
    assert!(
        lines.iter().any(|line| line["activity"] == "training" && line["alpha_sum"].is_number()),
        "{}",
        ran.stderr
    );
    assert!(lines.iter().any(|line| line["kind"] == "evaluation"), "{}", ran.stderr);
}

/// Words and names come from anybody, and a terminal does what it is told.
#[test]
fn control_characters_reach_no_terminal() {
    let folder = Folder::new();
    let word = "red\u{1b}[31m\u{9b}2J";
    let line = serde_json::json!({ "id": format!("id{word}"), "text": [word, "plain", "plain"] });
    folder.write("in.jsonl", format!("{line}\n").repeat(20));
    run(&folder, "train in.jsonl --topics 2 --sweeps 2 --out m.gbs -q").ok();
    let on_terminal = |line: &str| {
        let command = format!("stty -opost; {} {line}", crate::PROGRAM);
        let ran = Command::new("script")
            .current_dir(folder.path())
            .args(["-qec", &command, "/dev/null"])
            .env("NO_COLOR", "1")
            .stdin(Stdio::null())
            .output();
        String::from_utf8(ran.unwrap().stdout).unwrap()
    };
    for line in [
        "topics m.gbs",
        "topics m.gbs --json",
        "topics m.gbs --documents in.jsonl",
        "infer m.gbs in.jsonl --tokens --sweeps 2",
        "infer m.gbs in.jsonl --output-format csv --sweeps 2",
        "compare m.gbs m.gbs",
    ] {
        let shown = on_terminal(line);
        assert!(shown.contains("red"), "{line}: {shown:?}");
        assert!(!shown.contains("\u{1b}[31m") && !shown.contains('\u{9b}'), "{line}: {shown:?}");
    }
    // What goes to a program is left as it is.
    let piped = run(&folder, "infer m.gbs in.jsonl --output-format csv --sweeps 2").ok().stdout;
    assert!(piped.contains(word), "{piped:?}");
}
