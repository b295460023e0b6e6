//! Outputs destroy nothing but what the program wrote before.

use crate::support::{Folder, run, run_with};
use std::os::unix::fs::{FileTypeExt, PermissionsExt, symlink};
use std::process::{Command, Stdio};

const TRAIN: &str = "train reviews.jsonl --topics 2 --sweeps 2 --batch 20";

fn refused(folder: &Folder, line: &str, file: &str, text: &str) {
    let before = folder.read(file);
    run(folder, line).refused(text);
    assert_eq!(folder.read(file), before, "{line}");
}

#[test]
fn inputs_and_foreign_files_are_refused_before_anything_is_read() {
    let folder = Folder::with_models();
    folder.write("notes.txt", "do not lose me\n");
    std::fs::hard_link(folder.file("reviews.jsonl"), folder.file("linked.jsonl")).unwrap();
    symlink("reviews.jsonl", folder.file("symbolic.jsonl")).unwrap();
    let other = "name another file, or overwrite it with --force";
    for (flags, file, text) in [
        (
            "--out reviews.jsonl",
            "reviews.jsonl",
            "reviews.jsonl: is an input and would be overwritten; name another file",
        ),
        (
            "--out linked.jsonl",
            "reviews.jsonl",
            "linked.jsonl: is an input and would be overwritten; name another file",
        ),
        (
            "--out symbolic.jsonl",
            "reviews.jsonl",
            "symbolic.jsonl: is an input and would be overwritten; name another file",
        ),
        (
            "--json --log reviews.jsonl",
            "reviews.jsonl",
            "reviews.jsonl: is an input and would be overwritten; name another file",
        ),
        (
            "--json --log reviews.jsonl --force",
            "reviews.jsonl",
            "reviews.jsonl: is an input and would be overwritten; name another file",
        ),
        ("--out notes.txt", "notes.txt", &format!("notes.txt: holds something else than a model; {other}")),
        (
            "--out reviews.txt",
            "reviews.txt",
            &format!("reviews.txt: holds something else than a model; {other}"),
        ),
        (
            "--json --log text.gbs",
            "text.gbs",
            &format!("text.gbs: holds something else than a training log; {other}"),
        ),
        (
            "--json --log notes.txt",
            "notes.txt",
            &format!("notes.txt: holds something else than a training log; {other}"),
        ),
        (
            "--out new.gbs --log new.gbs",
            "text.gbs",
            "new.gbs: cannot hold both the model and the log; name two files",
        ),
    ] {
        refused(&folder, &format!("{TRAIN} {flags}"), file, text);
    }
    refused(
        &folder,
        "demo --out notes.txt",
        "notes.txt",
        &format!("notes.txt: holds something else than a model; {other}"),
    );
    refused(
        &folder,
        "train uci --topics 2 --out uci/vocab.txt",
        "uci/vocab.txt",
        "uci/vocab.txt: is an input and would be overwritten; name another file",
    );
    let ran = run_with(&folder, "train - --format jsonl --topics 2 --json --log reviews.jsonl", |command| {
        command.pipe_stdin(folder.file("reviews.jsonl")).unwrap();
    });
    // A pipe has no name; only standard input that is a file can be recognised.
    assert!(ran.stderr.contains("reviews.jsonl: holds something else than a training log"), "{}", ran.stderr);
    let redirected = Command::new(crate::PROGRAM)
        .current_dir(folder.path())
        .args("train - --format jsonl --topics 2 --out reviews.jsonl".split(' '))
        .stdin(std::fs::File::open(folder.file("reviews.jsonl")).unwrap())
        .output()
        .unwrap();
    let text = String::from_utf8(redirected.stderr).unwrap();
    assert_eq!(text, "error: reviews.jsonl: is an input and would be overwritten; name another file\n");
}

#[test]
fn what_is_ours_or_forced_is_replaced() {
    let folder = Folder::with_models();
    folder.write("notes.txt", "not wanted any more\n");
    folder.write("empty", "");
    for flags in [
        "--out text.gbs",
        "--out empty",
        "--out notes.txt --force",
        "--continue text.gbs --out text.gbs",
        "--json --log steps.jsonl",
        "--json --log steps.jsonl",
        "--json --log reviews.txt --force",
    ] {
        let line = if flags.contains("continue") { "train reviews.jsonl" } else { TRAIN };
        run(&folder, &format!("{line} {flags}")).ok();
    }
    run(&folder, "inspect notes.txt --json").ok();
    assert_eq!(folder.text("steps.jsonl").lines().count(), 6);
}

#[test]
fn a_page_replaces_nothing_but_a_page() {
    let folder = Folder::with_models();
    folder.write("notes.txt", "do not lose me\n");
    folder.write("mine.html", "<!doctype html>\n<p>my own page\n");
    folder.write("labels.json", r#"{"schema":"gibbstream/labels/1","model_hash":"another","topics":{}}"#);
    std::fs::copy(folder.file("text.gbs"), folder.file("other.gbs")).unwrap();
    symlink("other.gbs", folder.file("link.gbs")).unwrap();
    let foreign =
        "holds something else than a page or its data; name another file, or overwrite it with --force";
    let input = "is an input and would be overwritten; name another file";
    let report =
        "report text.gbs reviews.jsonl --compare other.gbs --labels labels.json --force-labels --sweeps 2";
    for (line, file, problem) in [
        (report, "notes.txt", foreign),
        (report, "mine.html", foreign),
        (report, "uci/vocab.txt", foreign),
        (report, "text.gbs", input),
        (report, "reviews.jsonl", input),
        (report, "other.gbs", input),
        (report, "link.gbs", input),
        (report, "labels.json", input),
        ("report other.gbs --format json", "text.gbs", foreign),
        ("report text.gbs", "text.gbs", input),
    ] {
        refused(&folder, &format!("{line} --out {file}"), file, &format!("{file}: {problem}"));
    }
    for file in ["text.gbs", "notes.txt"] {
        refused(&folder, &format!("demo --report {file}"), file, &format!("{file}: {foreign}"));
    }
    run(&folder, "demo --out both --report both")
        .refused("both: cannot hold both the model and the page; name two files");
    assert!(!folder.file("both").exists());

    // A page may replace a page or its data, and the other way round.
    for line in
        ["--out page", "--out page", "--format json --out page", "--out page", "--out notes.txt --force"]
    {
        run(&folder, &format!("report text.gbs {line}")).ok();
    }
    assert!(folder.text("page").starts_with("<!doctype html>"));
    assert!(folder.text("notes.txt").starts_with("<!doctype html>"));
}

#[test]
fn links_stay_and_permissions_too() {
    let folder = Folder::with_models();
    symlink("text.gbs", folder.file("link.gbs")).unwrap();
    symlink("absent.gbs", folder.file("dangling.gbs")).unwrap();
    symlink("link.gbs", folder.file("twice.gbs")).unwrap();
    std::fs::set_permissions(folder.file("text.gbs"), PermissionsExt::from_mode(0o640)).unwrap();
    let before = folder.read("text.gbs");
    for name in ["link.gbs", "twice.gbs", "dangling.gbs"] {
        run(&folder, &format!("{TRAIN} --out {name}")).ok();
        assert!(folder.file(name).symlink_metadata().unwrap().is_symlink(), "{name}");
    }
    assert_ne!(folder.read("text.gbs"), before);
    assert_eq!(folder.file("text.gbs").metadata().unwrap().permissions().mode() & 0o777, 0o640);
    assert!(folder.file("absent.gbs").symlink_metadata().unwrap().is_file());
}

#[test]
fn pipes_and_devices_are_written_through() {
    let folder = Folder::with_models();
    assert!(Command::new("mkfifo").arg(folder.file("pipe")).status().unwrap().success());
    let reader = Command::new("cat").arg(folder.file("pipe")).stdout(Stdio::piped()).spawn().unwrap();
    run(&folder, &format!("{TRAIN} --out pipe")).ok();
    let through = reader.wait_with_output().unwrap().stdout;
    assert!(folder.file("pipe").symlink_metadata().unwrap().file_type().is_fifo());
    run(&folder, &format!("{TRAIN} --out plain.gbs")).ok();
    assert_eq!(through, folder.read("plain.gbs"));
    let device = folder.file("null");
    let made = Command::new("mknod").arg(&device).args(["c", "1", "3"]).status().unwrap();
    let null = if made.success() { "null" } else { "/dev/null" };
    run(&folder, &format!("{TRAIN} --out {null} --log {null}")).ok();
    let found = folder.file(null).symlink_metadata().unwrap();
    assert!(found.file_type().is_char_device());
    let line = format!("{TRAIN} --out /dev/stdout -q");
    let piped =
        Command::new(crate::PROGRAM).current_dir(folder.path()).args(line.split(' ')).output().unwrap();
    assert_eq!(piped.stdout, through);
    run(&folder, &format!("{TRAIN} --out /dev/full -q"))
        .refused("/dev/full: cannot write: No space left on device (os error 28)");
}

#[test]
fn folders_of_others_are_left_alone() {
    let folder = Folder::with_models();
    let advice = "name another folder, or overwrite it with --force";
    for (line, file) in [
        ("export text.gbs uci", "uci/beta.npy"),
        ("synth --docs 10 --out mine", "mine/vocab.txt"),
        ("man pages", "pages/gibbstream-train.1"),
    ] {
        for name in ["mine", "pages"] {
            std::fs::create_dir_all(folder.file(name)).unwrap();
        }
        folder.write("mine/vocab.txt", "precious\n");
        folder.write("pages/gibbstream-train.1", "precious\n");
        let text = format!("{file}: exists already, and this command did not write it; {advice}");
        refused(&folder, line, file, &text);
        run(&folder, &format!("{line} --force")).ok();
        // Now it is ours.
        run(&folder, line).ok();
    }
}
