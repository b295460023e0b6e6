//! What files, names and flags may ask for: memory, disk, threads, and nothing that ends the program.

use crate::support::{Folder, run, run_with};
use std::ffi::OsString;
use std::io::Write;
use std::os::unix::ffi::OsStringExt;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

/// Runs a command line with a limit on the memory that the process can ask for.
fn run_within(folder: &Folder, kilobytes: u64, line: &str) -> (Option<i32>, String) {
    let script = format!("ulimit -v {kilobytes}; exec {} {line}", crate::PROGRAM);
    let ran = Command::new("sh").current_dir(folder.path()).args(["-c", &script]).output().unwrap();
    (ran.status.code(), String::from_utf8_lossy(&ran.stderr).into_owned())
}

/// Compressed, with the largest window that is accepted.
fn packed(folder: &Folder, name: &str, head: &[u8], piece: &[u8], times: usize, tail: &[u8]) {
    let mut encoder = zstd::Encoder::new(std::fs::File::create(folder.file(name)).unwrap(), 1).unwrap();
    encoder.window_log(27).unwrap();
    encoder.write_all(head).unwrap();
    for _ in 0..times {
        encoder.write_all(piece).unwrap();
    }
    encoder.write_all(tail).unwrap();
    encoder.finish().unwrap();
}

#[test]
fn a_file_that_asks_for_too_much_memory_is_refused_by_name() {
    let folder = Folder::new();
    let megabytes = |text: &str| text.repeat((1 << 20) / text.len()).into_bytes();
    packed(&folder, "text.jsonl.zst", b"{\"text\":\"", &megabytes("x y z "), 250, b"\"}\n");
    packed(&folder, "escaped.jsonl.zst", b"{\"text\":\"", &megabytes("\\u0041"), 250, b"\"}\n");
    packed(&folder, "list.jsonl.zst", b"{\"text\":[", &megabytes("\"aa\","), 200, b"\"b\"]}\n");
    packed(&folder, "quoted.csv.zst", b"id,text\n1,\"", &megabytes("apple pear "), 250, b"\"\n");
    for name in ["text.jsonl.zst", "escaped.jsonl.zst", "list.jsonl.zst", "quoted.csv.zst"] {
        let (code, stderr) = run_within(&folder, 524_288, &format!("train {name} --topics 2 --json"));
        assert_eq!(code, Some(2), "{name}: {stderr}");
        assert!(stderr.starts_with(&format!("error: {name}:")), "{stderr}");
        assert!(stderr.contains("there is not enough memory for a record of "), "{stderr}");
    }
    // The window alone is no reason to refuse a file.
    packed(&folder, "fine.txt.zst", b"", &megabytes("apple pear fig\n"), 160, b"");
    let line = "train fine.txt.zst --topics 2 --sweeps 1 --batch 10000 --limit-docs 50000 --json";
    let (code, stderr) = run_within(&folder, 524_288, line);
    assert_eq!(code, Some(0), "{stderr}");
}

#[test]
fn more_threads_than_cores_are_not_used() {
    let folder = Folder::with_corpora();
    let cores = std::thread::available_parallelism().unwrap().get();
    let ran = run(&folder, "train uci --topics 4 --batch 20 --sweeps 5 --json --threads 100000").ok();
    assert_eq!(
        ran.stderr,
        format!("100000 threads were asked for and there are {cores} cores: {cores} are used\n")
    );
    assert_eq!(ran.json()["threads"], cores);
    assert_eq!(ran.json()["model_hash"], folder.hash("uci --topics 4"));
}

#[test]
fn names_that_are_not_utf_8_are_names() {
    let folder = Folder::with_corpora();
    let name = |text: &[u8]| OsString::from_vec(text.to_vec());
    std::fs::copy(folder.file("reviews.txt"), folder.path().join(name(b"r\xff.txt"))).unwrap();
    folder.write("dated.jsonl", "{\"text\":\"plot actor\",\"date\":\"2024-05-17\"}\n".repeat(3));
    std::fs::rename(folder.file("dated.jsonl"), folder.path().join(name(b"d\xff.jsonl"))).unwrap();
    let checked = |line: &str, names: &[&[u8]]| {
        run_with(&folder, line, |command| {
            command.args(names.iter().map(|text| name(text)));
        })
    };
    let flags = "--topics 2 --sweeps 2 --batch 20 --json";
    checked(&format!("train {flags} --checkpoint ck"), &[b"r\xff.txt", b"--out", b"m\xfe.gbs"]).ok();
    let again = checked(&format!("train {flags} --checkpoint ck --resume"), &[b"r\xff.txt"]).ok();
    assert_eq!(again.stderr, "this run has finished before; nothing is left to do\n");
    for (line, names) in [
        ("topics --json", &[&b"m\xfe.gbs"[..]][..]),
        ("inspect --json", &[b"m\xfe.gbs"]),
        ("inspect --json", &[b"r\xff.txt"]),
        ("evaluate --json", &[b"m\xfe.gbs", b"r\xff.txt"]),
        ("infer", &[b"m\xfe.gbs", b"r\xff.txt"]),
        ("compare --json", &[b"m\xfe.gbs", b"m\xfe.gbs", b"r\xff.txt"]),
        ("export --json", &[b"m\xfe.gbs", b"arrays\xfd"]),
        ("man --json", &[b"pages\xfd"]),
        ("synth --docs 5 --json --out", &[b"synthetic\xfd"]),
        ("train --topics 2 --json --continue", &[b"m\xfe.gbs", b"r\xff.txt"]),
        ("report --json --out", &[b"page\xfd.html", b"m\xfe.gbs", b"r\xff.txt"]),
        ("merge --json --out", &[b"merged\xfd.gbs", b"m\xfe.gbs", b"m\xfe.gbs"]),
        ("compare --json", &[b"m\xfe.gbs", b"m\xfe.gbs", b"m\xfe.gbs"]),
        ("label --json --set 0=a --out", &[b"named\xfd.gbs", b"m\xfe.gbs"]),
        ("choose-k --json --grid 2,3 --seeds 1 --sweeps 2 --out", &[b"choice\xfd.svg", b"r\xff.txt"]),
        ("timeline --json --time-field date --out", &[b"times\xfd.csv", b"m\xfe.gbs", b"d\xff.jsonl"]),
    ] {
        let ran = checked(line, names);
        assert!(matches!(ran.code, Some(0)), "{line} {names:?}: {ran:?}");
    }
    let missing = checked("topics", &[b"none\xff"]);
    assert_eq!(missing.code, Some(2), "{missing:?}");
}

#[test]
fn copies_of_standard_input_are_limited_and_never_left_behind() {
    let (folder, temporary) = (Folder::with_corpora(), Folder::new());
    let left = || std::fs::read_dir(temporary.path()).unwrap().count();
    let text = "apple pear plum fig lime kiwi date nut\n".repeat(100_000);
    let ran = run_with(&folder, "train - --format text --topics 2 --json --max-spool 100 -q", |command| {
        command.env("TMPDIR", temporary.path()).write_stdin(folder.read("reviews.txt"));
    });
    ran.refused(&format!(
        "-: its temporary copy in {} would be larger than 100 bytes; \
         save it to a file and name the file, or allow a larger copy with --max-spool",
        temporary.path().display()
    ));
    assert_eq!(left(), 0);
    // Killed in the middle of copying.
    let mut child = Command::new(crate::PROGRAM)
        .current_dir(folder.path())
        .args("train - --format text --topics 2 --json".split(' '))
        .env("TMPDIR", temporary.path())
        .stdin(Stdio::piped())
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()
        .unwrap();
    let mut pipe = child.stdin.take().unwrap();
    pipe.write_all(text.as_bytes()).unwrap();
    std::thread::sleep(Duration::from_millis(200));
    assert!(child.try_wait().unwrap().is_none(), "it was to be killed while it copies");
    child.kill().unwrap();
    child.wait().unwrap();
    drop(pipe);
    assert_eq!(left(), 0);
}

/// A minibatch that takes minutes, a row of it much less than a second.
#[test]
fn a_signal_ends_a_long_minibatch() {
    let folder = Folder::new();
    let columns = 500;
    let mut table = (0..columns).map(|column| format!("c{column}")).collect::<Vec<_>>().join(",") + "\n";
    for row in 0..1_000_u32 {
        let values = (0..columns).map(|column| ((row * 7919 + column * 104_729) % 1000).to_string());
        table += &(values.collect::<Vec<_>>().join(",") + "\n");
    }
    folder.write("wide.csv", table);
    let line =
        "train wide.csv --model ica --components 20 --sweeps 3000 --batch 1000 --out m.gbs --threads 1";
    let mut child = Command::new(crate::PROGRAM)
        .current_dir(folder.path())
        .args(line.split(' '))
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    std::thread::sleep(Duration::from_secs(3));
    assert!(child.try_wait().unwrap().is_none(), "the minibatch was to take minutes");
    let sent = Instant::now();
    assert!(Command::new("kill").args(["-TERM", &child.id().to_string()]).status().unwrap().success());
    while child.try_wait().unwrap().is_none() {
        if sent.elapsed() > Duration::from_secs(60) {
            child.kill().unwrap();
            panic!("SIGTERM is ignored");
        }
        std::thread::sleep(Duration::from_millis(50));
    }
    let output = child.wait_with_output().unwrap();
    let stderr = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(143), "{stderr}");
    assert_eq!(stderr, "SIGTERM arrived before the first minibatch was learnt, so there is no model\n");
    assert!(!folder.file("m.gbs").exists());
}
