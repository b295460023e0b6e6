//! A full disk and failing calls: a clear error, and the checkpoint before stays usable.

use crate::support::{Folder, run, run_with, skipped};
use std::process::Command;

const LINE: &str =
    "train uci --topics 4 --batch 20 --sweeps 5 --json --threads 1 --checkpoint ck --checkpoint-every 5b";
const NO_SPACE: &str = "28";
const IO_ERROR: &str = "5";

/// Builds the library that lets calls fail; the compiler is there, because the compression libraries need it too.
fn shim(folder: &Folder) -> std::path::PathBuf {
    let (source, library) = (folder.file("fail.c"), folder.file("fail.so"));
    std::fs::write(&source, include_str!("fail_nth_call.c")).unwrap();
    let built =
        Command::new("cc").args(["-shared", "-fPIC", "-o"]).arg(&library).arg(&source).arg("-ldl").output();
    let built = built.unwrap();
    assert!(built.status.success(), "{}", String::from_utf8_lossy(&built.stderr));
    library
}

/// Fails the first call, then the second, and so on, until a run is not disturbed any more.
fn each_call_fails(lasting: bool, number: &str) {
    let folder = Folder::with_corpora();
    let library = shim(&folder);
    let whole = run(&folder, &LINE.replace(" ck ", " whole ")).ok().json();
    // A first checkpoint that nothing may harm.
    run(&folder, &format!("{LINE} --max-seconds 0.000001")).ok();
    let disturbed = |nth: usize| {
        run_with(&folder, &format!("{LINE} --resume"), |command| {
            command.env("LD_PRELOAD", &library).env("FAIL_NTH", nth.to_string()).env("FAIL_ERRNO", number);
            if lasting {
                command.env("FAIL_LASTING", "1");
            }
        })
    };
    let mut refusals = 0;
    for nth in 1.. {
        assert!(nth < 200, "the calls never stop failing");
        let ran = disturbed(nth);
        let finished = ran.code == Some(0);
        if !finished {
            refusals += 1;
            assert_eq!((ran.code, ran.stdout.as_str()), (Some(2), ""), "call {nth}: {}", ran.stderr);
            let last = ran.stderr.lines().last().unwrap_or_default();
            let system =
                if number == NO_SPACE { "No space left on device (os error 28)" } else { "(os error 5)" };
            assert!(last.starts_with("error: ck") && last.ends_with(system), "call {nth}: {}", ran.stderr);
        }
        let left: Vec<_> =
            std::fs::read_dir(folder.file("ck")).unwrap().map(|entry| entry.unwrap().path()).collect();
        let whole_ones = left.iter().filter(|path| path.extension().is_some_and(|ending| ending == "gbs"));
        let mut loadable = 0;
        for path in whole_ones {
            run(&folder, &format!("inspect {} --json", path.display())).ok();
            loadable += 1;
        }
        assert!(loadable >= 1, "call {nth}");
        if finished {
            assert_eq!(ran.json()["model_hash"], whole["model_hash"], "call {nth}");
            break;
        }
    }
    assert!(refusals >= 5, "only {refusals} calls failed");
}

#[test]
fn a_single_call_that_fails() {
    each_call_fails(false, IO_ERROR);
}

#[test]
fn all_calls_from_one_on_fail_for_want_of_space() {
    each_call_fails(true, NO_SPACE);
}

#[test]
fn a_full_disk() {
    let folder = Folder::with_corpora();
    run(&folder, "synth --topics 4 --vocab 2000 --docs 400 --length 30 --out wide").ok();
    std::fs::create_dir(folder.file("small")).unwrap();
    // 2,000 words and 20 topics are 320 kB a checkpoint, of which a disk of 800 kB holds two.
    let line =
        "train wide --topics 20 --batch 20 --sweeps 5 --json --checkpoint small/ck --checkpoint-every 2b";
    let program = env!("CARGO_BIN_EXE_gibbstream");
    let script = format!(
        "mount -t tmpfs -o size=800k none small || exit 99\n\
         {program} {line}; echo $?; ls small/ck; for file in small/ck/*.gbs; do {program} inspect $file -q > /dev/null || exit 1; done"
    );
    let ran = Command::new("unshare")
        .args(["--mount", "--map-root-user", "sh", "-c", &script])
        .current_dir(folder.path())
        .output();
    let Ok(ran) = ran.map_err(drop).and_then(|ran| {
        let possible =
            ran.status.code() != Some(99) && !String::from_utf8_lossy(&ran.stderr).starts_with("unshare:");
        if possible { Ok(ran) } else { Err(()) }
    }) else {
        return skipped("a_full_disk", "no small disk can be mounted here");
    };
    let stderr = String::from_utf8(ran.stderr).unwrap();
    let error =
        "error: small/ck/checkpoint-000000000006.gbs: cannot write: No space left on device (os error 28)\n";
    assert_eq!(stderr, error);
    let stdout = String::from_utf8(ran.stdout).unwrap();
    assert_eq!(stdout, "2\ncheckpoint-000000000002.gbs\ncheckpoint-000000000004.gbs\nlock\n");
    assert_eq!(ran.status.code(), Some(0));
}
