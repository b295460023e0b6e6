//! Checkpoints: what is kept, what is refused, and that a resumed run ends with the same bits.

use crate::support::{Folder, run, run_with, signalled};
use std::process::{Child, Command, Stdio};
use std::time::Duration;

const UCI: &str = "train uci --topics 4 --batch 20 --sweeps 5 --json";

/// Names of the checkpoints in `ck`.
fn kept(folder: &Folder) -> Vec<String> {
    let mut names: Vec<String> = std::fs::read_dir(folder.file("ck"))
        .unwrap()
        .map(|entry| entry.unwrap().file_name().into_string().unwrap())
        .collect();
    names.sort();
    names
}

/// A finished run with a checkpoint after every minibatch, of which the newest `forgotten` are removed again, so that
/// the folder is that of a run that was killed.
fn killed_late(folder: &Folder, line: &str, forgotten: usize) {
    run(folder, &format!("{line} --checkpoint ck --checkpoint-every 1b")).ok();
    let names = kept(folder);
    for name in names.iter().rev().filter(|name| name.starts_with("checkpoint-")).take(forgotten) {
        std::fs::remove_file(folder.file("ck").join(name)).unwrap();
    }
}

#[test]
fn the_newest_and_two_before_it_are_kept() {
    let folder = Folder::with_corpora();
    run(&folder, &format!("{UCI} --checkpoint ck --checkpoint-every 4b")).ok();
    // 15 minibatches: after 4, 8, 12, and the end.
    let names =
        ["checkpoint-000000000008.gbs", "checkpoint-000000000012.gbs", "checkpoint-000000000015.gbs", "lock"];
    assert_eq!(kept(&folder), names);
}

#[test]
fn a_resumed_run_ends_with_the_same_bits() {
    let corpora = "train reviews.jsonl --topics 3 --batch 10 --sweeps 5 --json";
    for line in [
        UCI.to_owned(),
        format!("{UCI} --passes 3"),
        format!("{UCI} --averaging uniform --method g-oem++"),
        format!("{UCI} --method olda --limit-docs 250 --skip-docs 7"),
        format!("{UCI} --method batch-vem --passes 6"),
        "train uci --topics 4 --batch 2..15 --passes 2 --sweeps 5 --json".to_owned(),
        format!("{corpora} --passes 2 --holdout 13 --eval-every 3"),
        format!("{corpora} --max-vocab 20 --skip-bad"),
    ] {
        let folder = Folder::with_corpora();
        let whole = run(&folder, &line).ok().json();
        killed_late(&folder, &line, 2);
        let resumed = run(&folder, &format!("{line} --checkpoint ck --resume --threads 2")).ok();
        assert!(resumed.stderr.starts_with("going on after "), "{line}: {}", resumed.stderr);
        let resumed = resumed.json();
        for field in ["model_hash", "documents", "tokens", "updates", "alpha_sum", "vocabulary", "warnings"] {
            assert_eq!(resumed[field], whole[field], "{line}: {field}");
        }
        let scores = |report: &serde_json::Value| -> Vec<(u64, f64)> {
            let evaluations = report["evaluations"].as_array().cloned().unwrap_or_default();
            let score = |one: &serde_json::Value| {
                (one["updates"].as_u64().unwrap(), one["log_perplexity_per_document"].as_f64().unwrap())
            };
            evaluations.iter().map(score).collect()
        };
        assert_eq!(scores(&resumed), scores(&whole), "{line}");
    }
}

#[test]
fn a_pipe_that_comes_again_is_resumed() {
    let folder = Folder::with_corpora();
    folder.write("vocab.txt", "plot\nactor\nnovel\npage\nsong\n");
    let line = "train - --format text --vocab vocab.txt --topics 3 --batch 10 --sweeps 5 --json";
    let piped = |line: &str| {
        run_with(&folder, line, |command| {
            command.write_stdin(folder.read("reviews.txt"));
        })
        .ok()
        .json()
    };
    let whole = piped(line);
    piped(&format!("{line} --checkpoint ck --checkpoint-every 1b"));
    std::fs::remove_file(folder.file("ck/checkpoint-000000000012.gbs")).unwrap();
    let resumed = piped(&format!("{line} --checkpoint ck --resume"));
    assert_eq!((&resumed["model_hash"], &resumed["documents"]), (&whole["model_hash"], &120.into()));
}

#[test]
fn a_finished_run_gives_the_same_answer_again() {
    let folder = Folder::with_corpora();
    let line = format!("{UCI} --checkpoint ck --resume --out m.gbs");
    let first = run(&folder, &line).ok();
    let model = folder.read("m.gbs");
    std::fs::remove_file(folder.file("m.gbs")).unwrap();
    let again = run(&folder, &line).ok();
    assert_eq!(again.stdout, first.stdout);
    assert_eq!(again.stderr, "this run has finished before; nothing is left to do\n");
    assert!(folder.read("m.gbs") == model, "the model is written again if it is gone");
}

#[test]
fn a_checkpoint_is_a_model_too() {
    let folder = Folder::with_corpora();
    let report = run(&folder, &format!("{UCI} --checkpoint ck --checkpoint-every 4b")).ok().json();
    let facts = run(&folder, "inspect ck/checkpoint-000000000012.gbs --json").ok().json();
    assert_eq!((&facts["kind"], &facts["documents_of_pass"]), (&"checkpoint".into(), &240.into()));
    assert_eq!(facts["finished"], false);
    let last = run(&folder, "inspect ck/checkpoint-000000000015.gbs --json").ok().json();
    assert_eq!((&last["finished"], &last["model_hash"]), (&true.into(), &report["model_hash"]));
    run(&folder, "topics ck/checkpoint-000000000012.gbs --json").ok();
    let text = run(&folder, "inspect ck/checkpoint-000000000012.gbs").ok().stdout;
    assert!(text.contains(": a checkpoint of a topic model, checksum ok\n"), "{text}");
    assert!(text.contains("\nrun         after 240 documents of pass 1\n"), "{text}");
}

#[test]
fn what_does_not_fit_is_refused() {
    let folder = Folder::with_corpora();
    run(&folder, &format!("{UCI} --checkpoint ck")).ok();
    for (line, text) in [
        (
            format!("{UCI} --checkpoint ck"),
            "--checkpoint: ck holds checkpoints already; continue from them with --resume, or use another folder",
        ),
        (
            format!("{UCI} --checkpoint ck --resume --batch 30"),
            "--resume: the run in ck was started differently (batch: 20 -> 30); \
             use the same settings as before, or another folder",
        ),
        (
            format!("{UCI} --checkpoint ck --resume --passes 2"),
            "--resume: the run in ck was started differently (passes: 1 -> 2); \
             use the same settings as before, or another folder",
        ),
        (
            format!("{UCI} --resume"),
            "--resume: there is no folder for checkpoints; name the folder with --checkpoint DIR",
        ),
        (
            format!("{UCI} --checkpoint-every 5b"),
            "--checkpoint-every: there is no folder for checkpoints; name the folder with --checkpoint DIR",
        ),
        (format!("{UCI} --checkpoint reviews.txt"), "reviews.txt: cannot create: File exists (os error 17)"),
    ] {
        run(&folder, &line).refused(text);
    }
    for every in ["5", "0b", "-1s", "x", ""] {
        let ran = run_with(&folder, &format!("{UCI} --checkpoint other"), |command| {
            command.arg(format!("--checkpoint-every={every}"));
        });
        assert!(ran.stderr.contains("checkpoint-every"), "{every}: {}", ran.stderr);
        assert_eq!(ran.code, Some(2), "{every}");
    }
    assert!(!folder.file("other").exists());
}

#[test]
fn an_input_that_has_become_shorter_is_noticed() {
    let folder = Folder::with_corpora();
    let line = "train reviews.txt --topics 3 --batch 10 --sweeps 5 --json";
    killed_late(&folder, line, 1);
    let text = String::from_utf8(folder.read("reviews.txt")).unwrap();
    folder.write("reviews.txt", text.lines().take(50).collect::<Vec<_>>().join("\n"));
    run(&folder, &format!("{line} --checkpoint ck --resume -q"))
        .refused(&format!("reviews.txt: does not begin with what the run has learnt from; {ADVICE}"));
}

#[test]
fn a_damaged_checkpoint_is_passed_over() {
    let folder = Folder::with_corpora();
    let whole = run(&folder, UCI).ok().json();
    killed_late(&folder, UCI, 1);
    let newest = kept(&folder).into_iter().rfind(|name| name.starts_with("checkpoint-")).unwrap();
    let mut bytes = folder.read(&format!("ck/{newest}"));
    let middle = bytes.len() / 2;
    bytes[middle] ^= 16;
    folder.write(&format!("ck/{newest}"), bytes);
    let ran = run(&folder, &format!("{UCI} --checkpoint ck --resume")).ok();
    let warning = format!(
        "warning: ck/{newest}: not a usable model file: its checksum does not match its content, so it is damaged or \
         incomplete; train the model again or take a copy that is whole; skipped\n"
    );
    assert!(ran.stderr.starts_with(&warning), "{}", ran.stderr);
    assert_eq!(ran.json()["model_hash"], whole["model_hash"]);
}

#[test]
fn the_log_goes_on_where_the_checkpoint_is() {
    let folder = Folder::with_corpora();
    let line = format!("{UCI} --log log.jsonl");
    run(&folder, &line).ok();
    let steps = |folder: &Folder| -> Vec<u64> {
        let log = String::from_utf8(folder.read("log.jsonl")).unwrap();
        log.lines()
            .map(|line| serde_json::from_str::<serde_json::Value>(line).unwrap()["t"].as_u64().unwrap())
            .collect()
    };
    let whole = steps(&folder);
    assert_eq!(whole, (1..=15).collect::<Vec<u64>>());
    killed_late(&folder, &line, 2);
    run(&folder, &format!("{line} --checkpoint ck --resume")).ok();
    assert_eq!(steps(&folder), whole);
}

/// A run that waits for more documents than it will ever get.
fn waiting(folder: &Folder, flags: &str) -> Child {
    folder.write("vocab.txt", "plot\nactor\nnovel\npage\nsong\n");
    let line = "train - --format text --vocab vocab.txt --topics 3 --batch 10 --sweeps 5 --log log.jsonl --checkpoint ck";
    let mut child = signalled()
        .current_dir(folder.path())
        .args(line.split(' ').chain(flags.split_whitespace()))
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let pipe = child.stdin.as_mut().unwrap();
    std::io::Write::write_all(pipe, &folder.read("reviews.txt")).unwrap();
    std::io::Write::flush(pipe).unwrap();
    let lines = || std::fs::read_to_string(folder.file("log.jsonl")).map_or(0, |log| log.lines().count());
    for _ in 0..3000 {
        if lines() == 12 {
            break;
        }
        std::thread::sleep(Duration::from_millis(10));
    }
    assert_eq!(lines(), 12, "the run has not come to its twelfth minibatch");
    child
}

#[test]
fn a_second_writer_is_refused() {
    let folder = Folder::with_corpora();
    let mut first = waiting(&folder, "--json");
    run(&folder, &format!("{UCI} --checkpoint ck")).refused(
        "--checkpoint: another run is writing to ck; wait until it has ended, or use another folder",
    );
    first.kill().unwrap();
    first.wait().unwrap();
    run(&folder, &format!("{UCI} --checkpoint ck")).ok();
}

#[test]
fn signals_write_a_checkpoint() {
    for (signal, name, code) in [("-TERM", "SIGTERM", 143), ("-INT", "Ctrl-C", 130), ("-HUP", "SIGHUP", 129)]
    {
        let folder = Folder::with_corpora();
        let mut child = waiting(&folder, "--out m.gbs --json");
        assert!(Command::new("kill").args([signal, &child.id().to_string()]).status().unwrap().success());
        let pipe = child.stdin.take();
        let output = child.wait_with_output().unwrap();
        drop(pipe);
        let stderr = String::from_utf8(output.stderr).unwrap();
        let text = format!(
            "11 documents have no word of the vocabulary and were not used\n\
             {name}: stopped after 12 minibatches; a checkpoint is in ck: continue with --resume\n"
        );
        assert_eq!((output.status.code(), stderr.as_str()), (Some(code), text.as_str()));
        assert!(!folder.file("m.gbs").exists(), "the checkpoint holds the model");
        let line = "train - --format text --vocab vocab.txt --topics 3 --batch 10 --sweeps 5 --json";
        let piped = |flags: &str| {
            run_with(&folder, &format!("{line} {flags}"), |command| {
                command.write_stdin([folder.read("reviews.txt"), folder.read("reviews.txt")].concat());
            })
            .ok()
            .json()
        };
        assert_eq!(piped("--checkpoint ck --resume")["model_hash"], piped("")["model_hash"]);
    }
}

const ADVICE: &str = "give the same input as before to continue, or another folder to --checkpoint to start again with this one";

#[test]
fn an_input_that_has_changed_is_refused_by_name() {
    let folder = Folder::with_corpora();
    let line = "train reviews.txt --topics 3 --batch 10 --sweeps 5 --json";
    killed_late(&folder, line, 1);
    let text = folder.text("reviews.txt");
    let turned: Vec<&str> = text.lines().rev().collect();
    folder.write("reviews.txt", turned.join("\n") + "\n");
    let resumed = format!("{line} --checkpoint ck --resume -q");
    let refusal = format!("reviews.txt: does not begin with what the run has learnt from; {ADVICE}");
    run(&folder, &resumed).refused(&refusal);
    // One letter at the end is enough, because the words were counted to the end.
    folder.write("reviews.txt", text.replacen(text.trim_end(), &format!("{}s", text.trim_end()), 1));
    run(&folder, &resumed).refused(&refusal);
    // What was added after it is no change.
    folder.write("reviews.txt", format!("{text}plot actor\n"));
    assert_eq!(run(&folder, &resumed).ok().json()["documents"], 121);
}

#[test]
fn other_files_and_another_standard_input_are_refused() {
    let folder = Folder::with_corpora();
    std::fs::create_dir(folder.file("parts")).unwrap();
    let text = folder.text("reviews.txt");
    folder.write("parts/b.txt", &text);
    let line = "train parts/*.txt --topics 3 --batch 10 --sweeps 5 --json";
    killed_late(&folder, line, 1);
    folder.write("parts/a.txt", "plot actor\n");
    run(&folder, &format!("{line} --checkpoint ck --resume -q"))
        .refused(&format!("INPUT: the run has read parts/b.txt where there is parts/a.txt now; {ADVICE}"));
    std::fs::remove_dir_all(folder.file("ck")).unwrap();
    folder.write("vocab.txt", "plot\nactor\nnovel\npage\nsong\n");
    let piped = |flags: &str, text: String| {
        let line =
            "train - --format text --vocab vocab.txt --topics 3 --batch 10 --sweeps 5 --json --checkpoint ck";
        run_with(&folder, &format!("{line} --checkpoint-every 1b -q {flags}"), |command| {
            command.write_stdin(text);
        })
    };
    piped("--max-seconds 0.000001", text.clone()).ok();
    let lines =
        |text: &str, count| text.lines().take(count).map(|line| format!("{line}\n")).collect::<String>();
    let changed = text.replace("plot", "blot");
    // One that ends early is another one too: what was read before was more than what was learnt from.
    let before = kept(&folder);
    for other in [changed.clone(), lines(&changed, 60), lines(&text, 60), String::new()] {
        piped("--resume", other)
            .refused(&format!("-: does not begin with what the run has learnt from; {ADVICE}"));
        assert_eq!(kept(&folder), before, "nothing of another input is kept");
    }
    assert_eq!(piped("--resume", text).ok().json()["documents"], 120);
}
