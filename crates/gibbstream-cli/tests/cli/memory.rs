//! Memory does not depend on how many documents there are.

use crate::support::{Folder, run};
use std::io::{BufWriter, Write};
use std::process::{Command, Stdio};

/// Peak memory in MiB. The model is large enough that buffers which fill up once (the window of the
/// decompressor is 2 MiB) do not decide the comparison; one thread, so that scheduling does not either.
fn peak(folder: &Folder, documents: u64) -> f64 {
    let name = format!("d{documents}");
    run(folder, &format!("synth --topics 5 --vocab 10000 --docs {documents} --length 20 --out {name}")).ok();
    let line = format!("train {name} --topics 100 --sweeps 1 --threads 1 --json");
    run(folder, &line).ok().json()["peak_rss_mib"].as_f64().unwrap()
}

fn compare(few: u64, many: u64) {
    let folder = Folder::new();
    let (few, many) = (peak(&folder, few), peak(&folder, many));
    assert!(many <= 1.05 * few, "{few} MiB, then {many} MiB");
    // A share of a large model hides small leaks: this is about five bytes for each of 200,000 documents.
    assert!(many - few <= 1.0, "{few} MiB, then {many} MiB");
}

#[test]
fn twenty_times_the_documents() {
    compare(10_000, 200_000);
}

#[test]
#[ignore = "slow: make slow"]
fn a_hundred_times_the_documents() {
    compare(10_000, 1_000_000);
}

/// A model of 78 MiB is asked with room for it and half of it again, most of which is the program itself. Reading it whole
/// beside its arrays, or topics beside statistics, would take 220.
#[test]
fn asking_a_model_takes_its_memory_once() {
    let folder = Folder::new();
    run(&folder, "synth --topics 5 --vocab 100000 --docs 60 --length 30 --out wide").ok();
    run(&folder, "train wide --topics 100 --sweeps 1 --threads 1 --out wide.gbs -q").ok();
    let program = env!("CARGO_BIN_EXE_gibbstream");
    for line in ["evaluate wide.gbs wide --particles 2", "topics wide.gbs", "infer wide.gbs wide"] {
        let script = format!("ulimit -v 168960; exec {program} {line} --threads 1 --json -q");
        let ran = Command::new("sh").args(["-c", &script]).current_dir(folder.path()).output().unwrap();
        assert!(ran.status.success(), "{line}: {}", String::from_utf8_lossy(&ran.stderr));
    }
    // The limit is one: with less room than the model needs, nothing works.
    let script = format!("ulimit -v 66560; exec {program} topics wide.gbs --threads 1 --json -q");
    let ran = Command::new("sh").args(["-c", &script]).current_dir(folder.path()).output().unwrap();
    assert!(!ran.status.success());
}

/// Peak memory in MiB for documents from a pipe, words and all made up on the way.
fn peak_from_a_pipe(folder: &Folder, documents: usize) -> f64 {
    let mut child = Command::new(env!("CARGO_BIN_EXE_gibbstream"))
        .current_dir(folder.path())
        .args(
            "train - --format text --vocab vocab.txt --topics 100 --sweeps 1 --batch 1000 --threads 1 --json"
                .split(' '),
        )
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let mut pipe = BufWriter::new(child.stdin.take().unwrap());
    let mut state = 1_u64;
    for _ in 0..documents {
        for _ in 0..8 {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            write!(pipe, "w{} ", (state >> 33) % 10_000).unwrap();
        }
        pipe.write_all(b"\n").unwrap();
    }
    drop(pipe);
    let output = child.wait_with_output().unwrap();
    let report: serde_json::Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!(report["documents"], documents);
    report["peak_rss_mib"].as_f64().unwrap()
}

#[test]
#[ignore = "slow: make slow"]
fn ten_million_documents_from_a_pipe() {
    let folder = Folder::new();
    folder.write("vocab.txt", (0..10_000).map(|word| format!("w{word}\n")).collect::<String>());
    let (few, many) = (peak_from_a_pipe(&folder, 1_000_000), peak_from_a_pipe(&folder, 10_000_000));
    assert!(many <= 1.05 * few, "{few} MiB, then {many} MiB");
}
