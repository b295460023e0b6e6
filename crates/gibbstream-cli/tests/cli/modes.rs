//! `--mode`: whether the input is a file or a stream, and what follows from it.

use crate::support::{Folder, Ran, run, run_with};
use serde_json::{Value, json};

const FLAGS: &str = "--topics 3 --batch 10 --sweeps 5 --passes 1 --json";

fn corpus() -> Folder {
    let folder = Folder::with_corpora();
    folder.write("vocab.txt", "plot\nactor\nscene\nnovel\npage\nsong\nguitar\n");
    folder
}

fn piped(folder: &Folder, line: &str) -> Ran {
    run_with(folder, line, |command| {
        command.write_stdin(folder.read("reviews.txt"));
    })
}

#[test]
fn the_input_decides() {
    let folder = corpus();
    let mode = |report: Value| report["mode"].clone();
    for (line, expected) in [
        ("train reviews.txt", "file"),
        ("train reviews.txt --vocab vocab.txt", "file"),
        ("train reviews.txt --vocab-mode grow", "file"),
        ("train reviews.txt --mode auto", "file"),
        ("train reviews.txt --mode stream", "stream"),
        // Its end is not known.
        ("train reviews.txt --follow --vocab-mode grow --dry-run", "stream"),
        ("train uci --model hdp --mode stream", "stream"),
    ] {
        let flags = if line.contains("hdp") { FLAGS.replace("--topics 3", "") } else { FLAGS.into() };
        assert_eq!(mode(run(&folder, &format!("{line} {flags}")).ok().json()), expected, "{line}");
    }
    for (line, expected) in [
        ("train - --format text --vocab vocab.txt", "stream"),
        ("train - --format text --vocab-mode grow", "stream"),
        ("train - --format text --vocab-mode hash=6", "stream"),
        ("train - --format text --vocab vocab.txt --mode file", "file"),
        // It is copied to a temporary file, and can be read again from there.
        ("train - --format text", "file"),
        ("train - --format text --vocab vocab.txt --min-df 2", "file"),
        ("train - --format text --vocab vocab.txt --passes 2", "file"),
    ] {
        let flags = if line.contains("--passes") { FLAGS.replace("--passes 1", "") } else { FLAGS.into() };
        assert_eq!(mode(piped(&folder, &format!("{line} {flags}")).ok().json()), expected, "{line}");
    }
}

#[test]
fn the_mode_and_not_the_input_decides_what_is_learnt() {
    let folder = corpus();
    let hash = |ran: Ran| ran.ok().json()["model_hash"].clone();
    for words in ["--vocab vocab.txt", "--vocab-mode grow"] {
        let flags = format!("--format text {words} {FLAGS}");
        let file = hash(run(&folder, &format!("train reviews.txt {flags}")));
        let stream = hash(piped(&folder, &format!("train - {flags}")));
        // The steps of a stream fall more slowly.
        assert_ne!(file, stream);
        assert_eq!(hash(run(&folder, &format!("train reviews.txt --mode stream {flags}"))), stream);
        assert_eq!(hash(piped(&folder, &format!("train - --mode file {flags}"))), file);
        let by_hand = "--mode stream --kappa 0.6 --averaging frequencies";
        assert_eq!(hash(run(&folder, &format!("train reviews.txt {by_hand} {flags}"))), file);
        // The paper's settings are the same for both.
        let paper = hash(run(&folder, &format!("train reviews.txt --paper {flags}")));
        assert_eq!(hash(piped(&folder, &format!("train - --paper {flags}"))), paper);
    }
    // From a temporary file the words are found first, as from any other.
    let file = hash(run(&folder, &format!("train reviews.txt {FLAGS}")));
    assert_eq!(hash(piped(&folder, &format!("train - --format text {FLAGS}"))), file);
}

#[test]
fn a_model_that_is_continued_stays_what_it_is() {
    let folder = corpus();
    let model = |name: &str| run(&folder, &format!("inspect {name} --json")).ok().json();
    run(&folder, &format!("train reviews.txt {FLAGS} --out file.gbs")).ok();
    let on = piped(&folder, "train - --format text --continue file.gbs --json --out on.gbs").ok().json();
    assert_eq!((&on["mode"], &model("on.gbs")["mode"]), (&json!("file"), &json!("file")));
    piped(&folder, &format!("train - --format text --vocab-mode grow {FLAGS} --out stream.gbs")).ok();
    let on = run(&folder, "train reviews.txt --continue stream.gbs --json --out on.gbs").ok().json();
    assert_eq!((&on["mode"], &on["passes"]), (&json!("stream"), &json!(1)));
    // What was not chosen otherwise goes along.
    run(&folder, &format!("train reviews.txt {FLAGS} --alpha newton --kappa 0.8 --out file.gbs")).ok();
    run(&folder, "train reviews.txt --continue file.gbs --mode stream --passes 1 --out on.gbs").ok();
    let changes = ["mode: file -> stream", "averaging: frequencies -> none"];
    assert_eq!(model("on.gbs")["history"][1]["changes"], json!(changes));
    run(&folder, "train reviews.txt --continue on.gbs --mode file --averaging uniform --passes 1 --out on.gbs").refused(
        "--averaging: a mean of parameters must be kept from the first update on, or not at all; leave it out, or train a \
         new model",
    );
}

#[test]
fn a_run_is_resumed_as_what_it_was() {
    let folder = corpus();
    let line = format!("train - --format text --vocab vocab.txt {FLAGS}");
    let whole = piped(&folder, &line).ok().json();
    let first = format!("{line} --checkpoint ck --checkpoint-every 1b --max-seconds 0.000001");
    assert!(piped(&folder, &first).ok().json()["updates"].as_u64() < whole["updates"].as_u64());
    let on = piped(&folder, &format!("{line} --checkpoint ck --resume")).ok().json();
    assert_eq!((&on["model_hash"], &on["mode"]), (&whole["model_hash"], &json!("stream")));
    piped(&folder, &format!("{line} --checkpoint ck --resume --mode file")).refused(
        "--resume: the run in ck was started differently (mode: stream -> file); use the same settings as before, or \
         another folder",
    );
}

#[test]
fn both_settings_are_listed() {
    let folder = Folder::new();
    let methods = run(&folder, "methods --json").ok().json();
    let kept = |list: &str| {
        let row = &methods[list][0];
        (row["name"].clone(), row["step"].clone(), row["averaging"].clone())
    };
    let row = |step: &str, averaging: &str| (json!("g-oem"), json!(step), json!(averaging));
    assert_eq!(kept("methods"), row("power kappa=0.6 offset=3 tau=1", "frequencies"));
    assert_eq!(kept("methods_for_streams"), row("power kappa=0.5 offset=3 tau=1 min=0.02", "none"));
    assert_eq!(methods["methods_for_streams"].as_array().unwrap().len(), 1);
    let text = run(&folder, "methods").ok().stdout;
    assert!(text.contains("For streams (--mode stream;"), "{text}");
}

#[test]
fn rows_of_numbers_have_none() {
    let folder = Folder::new();
    folder.write("rows.csv", "a,b\n1,2\n3,4\n");
    run(&folder, "train rows.csv --model gaussian-mixture --components 1 --mode stream --json")
        .refused("--mode: does not apply to --model gaussian-mixture; leave it out");
}
