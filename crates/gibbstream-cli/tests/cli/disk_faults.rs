//! A full disk and failing calls: a clear error, and the checkpoint before stays usable. Every test makes sure that what
//! it lets happen has happened.

use crate::support::{Folder, Ran, run, run_with, skipped};
use std::path::{Path, PathBuf};
use std::process::Command;

/// A checkpoint of 200 topics of 60 words is larger than the buffer it is written through, so it takes several writes.
const LINE: &str =
    "train uci --topics 200 --batch 20 --sweeps 5 --json --threads 1 --checkpoint ck --checkpoint-every 5b";
const NO_SPACE: (&str, &str) = ("28", "No space left on device (os error 28)");
const IO_ERROR: (&str, &str) = ("5", "Input/output error (os error 5)");
const LOG: &str = "calls.log";

/// A folder with corpora, and the library that lets calls fail beside it. The compiler is there, because the
/// compression libraries need it too.
pub struct Faults {
    pub folder: Folder,
    library: Folder,
}

impl Faults {
    pub fn new() -> Self {
        let (folder, library) = (Folder::with_corpora(), Folder::new());
        library.write("fault.c", include_str!("fail_nth_call.c"));
        let built = Command::new("cc")
            .current_dir(library.path())
            .args("-shared -fPIC -o fault.so fault.c -ldl".split(' '))
            .output()
            .unwrap();
        assert!(built.status.success(), "{}", String::from_utf8_lossy(&built.stderr));
        Self { folder, library }
    }

    /// Runs the program between which and the system the library stands; returns the calls that it made too.
    pub fn run(&self, line: &str, variables: &[(&str, &str)]) -> (Ran, Vec<Call>) {
        let log = self.library.file(LOG);
        std::fs::remove_file(&log).ok();
        let folder = self.folder.path().canonicalize().unwrap();
        let ran = run_with(&self.folder, line, |command| {
            command.env("LD_PRELOAD", self.library.file("fault.so")).env("FAULT_LOG", &log);
            command.env("FAULT_FOLDER", &folder).envs(variables.iter().copied());
        });
        let text = std::fs::read_to_string(&log).unwrap_or_default();
        (ran, text.lines().map(|line| Call::parse(line, &folder)).collect())
    }
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Call {
    kind: String,
    file: String,
    failed: bool,
}

impl Call {
    fn parse(line: &str, folder: &Path) -> Self {
        let (line, failed) = line.strip_suffix(" FAILED").map_or((line, false), |line| (line, true));
        let (kind, path) = line.split_once(' ').unwrap();
        let path = PathBuf::from(path);
        let file = path.strip_prefix(folder).unwrap_or(&path).to_string_lossy().into_owned();
        Self { kind: kind.to_owned(), file, failed }
    }
}

/// Fails the first call, then the second, and so on, until a run is not disturbed any more.
fn each_call_fails(lasting: bool, (number, answer): (&str, &str)) {
    let faults = Faults::new();
    let folder = &faults.folder;
    let whole = run(folder, &LINE.replace(" ck ", " whole ")).ok().json();
    // A first checkpoint that nothing may harm.
    run(folder, &format!("{LINE} --max-seconds 0.000001")).ok();
    let mut failed_kinds = std::collections::BTreeSet::new();
    for nth in 1.. {
        assert!(nth < 200, "the calls never stop failing");
        let count = nth.to_string();
        let mut variables =
            vec![("FAIL_KINDS", "create write fsync rename"), ("FAIL_NTH", &count), ("FAIL_ERRNO", number)];
        if lasting {
            variables.push(("FAIL_LASTING", "1"));
        }
        let (ran, calls) = faults.run(&format!("{LINE} --resume"), &variables);
        let failed: Vec<&Call> = calls.iter().filter(|call| call.failed).collect();
        let left = std::fs::read_dir(folder.file("ck")).unwrap().map(|entry| entry.unwrap().path());
        let whole_ones: Vec<PathBuf> =
            left.filter(|path| path.extension().is_some_and(|ending| ending == "gbs")).collect();
        assert!(!whole_ones.is_empty(), "call {nth}");
        for path in whole_ones {
            run(folder, &format!("inspect {} --json", path.display())).ok();
        }
        if failed.is_empty() {
            let writes =
                |file: &str| calls.iter().filter(|call| call.kind == "write" && call.file == file).count();
            assert!(calls.iter().any(|call| writes(&call.file) > 1), "one write is all: {calls:?}");
            assert_eq!(ran.ok().json()["model_hash"], whole["model_hash"], "call {nth}");
            break;
        }
        failed_kinds.insert(failed[0].kind.clone());
        assert_eq!((ran.code, ran.stdout.as_str()), (Some(2), ""), "{failed:?}: {}", ran.stderr);
        let last = ran.stderr.lines().last().unwrap_or_default();
        assert!(last.starts_with("error: ck") && last.ends_with(answer), "{failed:?}: {}", ran.stderr);
    }
    let expected = ["create", "fsync", "rename", "write"];
    assert_eq!(failed_kinds.iter().map(String::as_str).collect::<Vec<_>>(), expected, "some never failed");
}

#[test]
fn a_single_call_that_fails() {
    each_call_fails(false, IO_ERROR);
}

#[test]
fn all_calls_from_one_on_fail_for_want_of_space() {
    each_call_fails(true, NO_SPACE);
}

/// Every read in turn fails, or brings a signal, until a run is not disturbed any more.
fn at_each_read(faults: &Faults, line: &str, fault: (&str, &str), mut each: impl FnMut(&Call, &Ran)) {
    for nth in 1.. {
        assert!(nth < 200, "the reads never stop being disturbed");
        let nth = nth.to_string();
        let (ran, calls) = faults.run(line, &[("FAIL_KINDS", "read"), ("FAIL_NTH", &nth), fault]);
        let Some(failed) = calls.iter().find(|call| call.failed) else {
            ran.ok();
            break;
        };
        each(failed, &ran);
    }
}

#[test]
fn a_read_that_fails_is_told_with_the_name_of_the_file() {
    let faults = Faults::new();
    let folder = &faults.folder;
    let line = "train reviews.txt uci --topics 3 --batch 50 --sweeps 2 --json --threads 1 --out m.gbs";
    let whole = run(folder, line).ok().json();
    let (mut named, mut later) = (std::collections::BTreeSet::new(), 0);
    at_each_read(&faults, line, ("FAIL_ERRNO", IO_ERROR.0), |failed, ran| {
        let told = format!("{}: cannot ", failed.file);
        let is_told = ran.stderr.lines().any(|line| line.contains(&told) && line.ends_with("(os error 5)"));
        assert!(is_told, "{failed:?}: {}", ran.stderr);
        named.insert(failed.file.clone());
        let is_written = std::fs::remove_file(folder.file("m.gbs")).is_ok();
        if ran.code == Some(0) {
            // Learning was over, and words to show were looked for: no model is lost for that.
            assert!(ran.stderr.contains("warning: the model is complete, but "), "{}", ran.stderr);
            assert!(is_written && ran.json()["model_hash"] == whole["model_hash"], "{failed:?}: {ran:?}");
            later += 1;
        } else {
            assert_eq!((ran.code, ran.stdout.as_str()), (Some(2), ""), "{failed:?}: {}", ran.stderr);
            assert!(!is_written || named.len() == 1, "{failed:?}");
        }
    });
    let all = ["reviews.txt", "uci/docword.txt.zst", "uci/vocab.txt"];
    assert_eq!(named.iter().map(String::as_str).collect::<Vec<_>>(), all, "some were never failed");
    assert!(later > 0, "no read failed after learning");
}

/// A signal at any read: before there is anything to save the program ends at once, then it saves, also while words to show
/// are looked for; and what was saved goes on to the same end.
#[test]
fn a_signal_at_any_read_loses_nothing() {
    let faults = Faults::new();
    let folder = &faults.folder;
    let line = "train reviews.txt --topics 3 --batch 20 --sweeps 2 --json --threads 1";
    run(folder, &format!("{line} --out whole.gbs")).ok();
    let is_whole = || folder.read("m.gbs") == folder.read("whole.gbs");
    let (mut before, mut learnt) = (0, 0);
    at_each_read(&faults, &format!("{line} --out m.gbs"), ("FAIL_SIGNAL", "15"), |failed, ran| {
        let is_written = folder.file("m.gbs").exists();
        if ran.code == Some(143) {
            assert_eq!(is_written, ran.stderr.contains("; the model so far is in m.gbs\n"), "{ran:?}");
            before += u32::from(!is_written);
            learnt = learnt.max(if is_written { ran.json()["documents"].as_u64().unwrap() } else { 0 });
        } else {
            // It came when there was nothing left to do.
            assert!(ran.code == Some(0) && is_whole(), "{failed:?}: {ran:?}");
        }
        std::fs::remove_file(folder.file("m.gbs")).ok();
    });
    assert!(before > 0 && learnt == 120, "{before} before learning; {learnt} documents learnt from at most");
    std::fs::remove_file(folder.file("m.gbs")).unwrap(); // of the run that was not disturbed
    let checked = format!("{line} --checkpoint ck --resume --out m.gbs");
    at_each_read(&faults, &checked, ("FAIL_SIGNAL", "15"), |failed, ran| {
        if ran.code == Some(143) {
            assert!(!folder.file("m.gbs").exists());
            run(folder, &checked).ok();
        }
        assert!(is_whole(), "{failed:?}: the same model, and the words that are shown too");
        std::fs::remove_dir_all(folder.file("ck")).unwrap();
        std::fs::remove_file(folder.file("m.gbs")).unwrap();
    });
}

/// A file that is renamed before its content is on the disk can be empty after a crash; a name that is not on the disk
/// can be lost.
#[test]
fn content_is_flushed_before_the_name_and_the_name_before_going_on() {
    let faults = Faults::new();
    let (ran, calls) = faults.run(&format!("{LINE} --out m.gbs"), &[]);
    ran.ok();
    let renames: Vec<usize> = (0..calls.len()).filter(|&at| calls[at].kind == "rename").collect();
    // Checkpoints after 5, 10 and 15 minibatches and at the end, and the model.
    assert!(renames.len() >= 4, "{calls:?}");
    assert!(renames.iter().any(|&at| calls[at].file == "m.gbs"), "{calls:?}");
    for at in renames {
        let folder = Path::new(&calls[at].file).parent().unwrap().to_string_lossy().into_owned();
        let before = &calls[at - 1];
        assert_eq!(before.kind, "fsync", "before {:?} comes {before:?}", calls[at]);
        assert!(before.file.contains(".gibbstream-"), "{before:?}");
        let wrote = calls[..at].iter().rposition(|call| call.file == before.file && call.kind == "write");
        assert!(wrote.is_some_and(|wrote| wrote < at - 1), "nothing was written to {before:?}");
        let after = Call { kind: "fsync".into(), file: folder, failed: false };
        assert_eq!(calls.get(at + 1), Some(&after), "after {:?}", calls[at]);
    }
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
