//! SIGKILL at random moments: resumed until it has finished, a run ends with the bits of one that nobody disturbed, and
//! every document is counted once.

use crate::support::{Folder, run};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

/// Runs of different kinds, so that every kind of state goes through a checkpoint.
const RUNS: [&str; 9] = [
    "train big --topics 20 --batch 25",
    "train big --topics 20 --batch 25 --passes 2 --averaging uniform",
    "train big --topics 20 --batch 40 --method g-oem++ --sweeps 8 --holdout 30 --eval-every 20",
    "train reviews.jsonl --topics 8 --batch 5 --passes 8 --max-vocab 25",
    "train big --topics 10 --batch 50 --method olda",
    "train reviews.jsonl --topics 8 --batch 5 --passes 8 --vocab-mode grow --max-vocab 14",
    "train reviews.txt --topics 8 --batch 5 --passes 8 --vocab-mode hash=8",
    "train big --topics 10 --batch 25 --mode stream --prequential --adapt",
    "train big --model hdp --batch 50",
];

struct Reference {
    line: String,
    report: serde_json::Value,
    time: Duration,
}

fn kill_and_resume(kills: usize) {
    let folder = Folder::with_corpora();
    run(&folder, "synth --topics 5 --vocab 500 --docs 2500 --length 40 --out big").ok();
    let references: Vec<Reference> = RUNS
        .iter()
        .enumerate()
        .map(|(number, line)| {
            let line = format!("{line} --json --no-progress --checkpoint-every 3b");
            let started = Instant::now();
            let report = run(&folder, &format!("{line} --checkpoint whole-{number}")).ok().json();
            Reference { line, report, time: started.elapsed() }
        })
        .collect();
    let mut state = 20_170_601_u64;
    let mut random = move || {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (state >> 33) as f64 / f64::from(1_u32 << 31)
    };
    let (mut killed, mut attempts) = (0, 0);
    for round in 0.. {
        if killed >= kills {
            break;
        }
        let reference = &references[round % references.len()];
        let line = format!("{} --checkpoint ck-{round} --resume", reference.line);
        loop {
            attempts += 1;
            assert!(attempts < 20 * kills, "the runs end before they can be killed");
            let mut child = Command::new(env!("CARGO_BIN_EXE_gibbstream"))
                .current_dir(folder.path())
                .args(line.split(' '))
                .stdout(Stdio::piped())
                .stderr(Stdio::piped())
                .spawn()
                .unwrap();
            if killed < kills {
                std::thread::sleep(reference.time.mul_f64(random() * 0.7));
                child.kill().unwrap();
            }
            let output = child.wait_with_output().unwrap();
            if output.status.code() == Some(0) {
                let report: serde_json::Value = serde_json::from_slice(&output.stdout).unwrap();
                for field in ["model_hash", "documents", "tokens", "prequential", "drift"] {
                    assert_eq!(report[field], reference.report[field], "{line}: {field}");
                }
                break;
            }
            let stderr = String::from_utf8(output.stderr).unwrap();
            assert_eq!(output.status.code(), None, "{line}: {stderr}");
            killed += 1;
        }
    }
}

#[test]
fn twenty_kills() {
    kill_and_resume(20);
}

#[test]
#[ignore = "slow: make slow"]
fn two_hundred_kills() {
    kill_and_resume(200);
}
