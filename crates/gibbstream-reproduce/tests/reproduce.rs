//! Experiments of the paper: everything runs, nothing is run twice, and no thread changes a number.

#![allow(clippy::unwrap_used, reason = "helpers of tests count as tests")]

#[expect(dead_code, reason = "the tests of the main program use more of it")]
#[path = "../../gibbstream-cli/tests/cli/support.rs"]
mod support;

use std::collections::BTreeMap;
use std::fmt::Write;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};
use support::{Folder, run, run_with};

/// What is tested.
const PROGRAM: &str = env!("CARGO_BIN_EXE_gibbstream-reproduce");

/// Columns of finished cells that describe them.
const DESCRIPTION: usize = 12;

/// Finished cells without what a clock says, by their descriptions; fields have names.
fn cells(folder: &Folder, out: &str) -> BTreeMap<String, BTreeMap<String, String>> {
    let text = folder.text(&format!("{out}/cells.tsv"));
    assert!(text.ends_with('\n'));
    let (header, rows) = text.split_once('\n').unwrap();
    let parse = |row: &str| {
        let fields = header.split('\t').zip(row.split('\t')).filter(|(name, _)| *name != "train_cpu_seconds");
        let timeless = |(name, field): (&str, &str)| {
            let field = if name == "curve" { without_clock(field) } else { field.to_owned() };
            (name.to_owned(), field)
        };
        let description: Vec<&str> = row.split('\t').take(DESCRIPTION).collect();
        (description.join(" "), fields.map(timeless).collect())
    };
    rows.lines().map(parse).collect()
}

/// The moments of a curve without their CPU seconds, which come second.
fn without_clock(curve: &str) -> String {
    let timeless = |moment: &str| {
        let fields: Vec<&str> = moment.split(',').collect();
        [&fields[..1], &fields[2..]].concat().join(",")
    };
    curve.split_terminator(';').map(timeless).collect::<Vec<_>>().join(";")
}

/// The file of finished cells: its first line, and one for each cell, with their ends.
fn lines(text: &str) -> Vec<&str> {
    text.split_inclusive('\n').collect()
}

/// Every element is closed by its own name, and attributes are quoted.
fn assert_well_formed(svg: &str) {
    let mut open: Vec<&str> = Vec::new();
    for part in svg.split('<').skip(1) {
        let (tag, text) = part.split_once('>').expect("a tag ends");
        assert!(!text.contains('>'), "{text}");
        assert_eq!(tag.matches('"').count() % 2, 0, "{tag}");
        if let Some(name) = tag.strip_prefix('/') {
            assert_eq!(open.pop(), Some(name));
        } else if !tag.ends_with('/') {
            open.push(tag.split(' ').next().unwrap());
        }
    }
    assert!(open.is_empty(), "{open:?}");
    for nonsense in ["NaN", "\"inf", ",inf", " inf"] {
        let numbers = svg.split("points=").skip(1).map(|part| part.split('>').next().unwrap());
        assert!(numbers.into_iter().all(|numbers| !numbers.contains(nonsense)), "{svg}");
    }
}

#[test]
fn all_experiments_run_without_data() {
    let folder = Folder::new();
    let report = run(&folder, "all --scale smoke --out r --json").ok().json();
    assert_eq!((&report["schema"], &report["scale"]), (&"gibbstream/reproduce/1".into(), &"smoke".into()));
    let experiments = report["experiments"].as_array().unwrap();
    let names: Vec<&str> = experiments.iter().map(|experiment| experiment["id"].as_str().unwrap()).collect();
    assert_eq!(names, (1..=17).map(|number| format!("X{number}")).collect::<Vec<_>>());
    let mut plots = 0;
    for experiment in experiments {
        assert!(experiment["cells"].as_u64().unwrap() > 0);
        assert_eq!(experiment["cells"], experiment["finished"]);
        for file in experiment["files"].as_array().unwrap() {
            let text = folder.text(file.as_str().unwrap());
            if text.starts_with("<svg") {
                plots += 1;
                assert_well_formed(&text);
                assert!(text.contains("<polyline") && text.contains("imdb-drawn"), "{file}");
            } else {
                assert!(
                    text.contains("cargo run --release -p gibbstream-reproduce -- X")
                        && text.contains("## What the paper says")
                );
                assert!(text.contains("says nothing about the paper") && !text.contains("Partial"));
            }
        }
    }
    assert_eq!(plots, 17);
    let plot = folder.text("r/X1-topics.svg");
    for name in ["g-oem", "v-oem++", "olda", "vargibbs", "svb", "splda", "sgs", "lds", "g-oem as usual"] {
        assert_eq!(plot.matches(&format!(">{name}</text>")).count(), 1, "{name} is in the legend once");
    }
    assert_eq!(plot.matches("<polyline").count(), 9 * 6, "a line for each method on each corpus");
    let curves = folder.text("r/X2-documents.svg");
    assert_eq!(curves.matches(">word frequencies</text>").count(), 1);
    let words = folder.text("r/X13.md");
    assert!(words.contains("| `g-oem` | divergence | `olda` |"));

    // Nothing is left to do, and nothing changes.
    let before = folder.read("r/cells.tsv");
    let pages = [folder.read("r/X1.md"), folder.read("r/X14.md"), folder.read("r/X14-time.svg")];
    let again = run(&folder, "X14 X1 --scale smoke --out r").ok();
    assert!(again.stderr.contains("216 cells, 216 of them finished before"), "{again:?}");
    assert_eq!(before, folder.read("r/cells.tsv"));
    assert_eq!(pages, [folder.read("r/X1.md"), folder.read("r/X14.md"), folder.read("r/X14-time.svg")]);
}

#[test]
fn threads_change_no_number() {
    let folder = Folder::new();
    for (threads, out) in [(1, "one"), (3, "three")] {
        run(&folder, &format!("X5 X12 X13 X17 --scale smoke --threads {threads} --out {out}")).ok();
    }
    assert_eq!(cells(&folder, "one"), cells(&folder, "three"));
    for page in ["X5.md", "X12.md", "X13.md", "X17.md", "X17-alpha.svg"] {
        assert_eq!(folder.read(&format!("one/{page}")), folder.read(&format!("three/{page}")), "{page}");
    }
    run(&folder, "X13 --scale smoke --seed 1 --out one").ok();
    assert_eq!(cells(&folder, "one").len(), cells(&folder, "three").len() + 2, "another seed, other cells");
}

#[test]
fn finished_cells_and_torn_lines() {
    let folder = Folder::new();
    run(&folder, "X4 --scale smoke --out r").ok();
    let whole = cells(&folder, "r");
    let text = folder.text("r/cells.tsv");
    let lines = lines(&text);
    // Seven cells, and a half one of a process that died.
    folder.write("r/cells.tsv", lines[..8].concat() + &lines[8][..100]);
    let ran = run(&folder, "X4 --scale smoke --out r").ok();
    assert!(ran.stderr.contains("16 cells, 7 of them finished before"), "{ran:?}");
    assert_eq!(cells(&folder, "r"), whole);
    assert!(folder.text("r/cells.tsv").starts_with(&lines[..8].concat()));
    // Whole lines of something else are left alone.
    folder.write("r/cells.tsv", lines[..4].concat() + "other\t1\n");
    let ran = run(&folder, "X4 --scale smoke --out r").ok();
    assert!(ran.stderr.contains("warning: 1 lines of cells.tsv cannot be read"), "{ran:?}");
    assert_eq!(cells(&folder, "r").len(), 17);
}

#[test]
fn partial_results_say_so() {
    let folder = Folder::new();
    let ran = run(&folder, "X4 X13 --scale smoke --max-seconds 0 --out r --json").ok().json();
    assert_eq!(
        (&ran["experiments"][0]["finished"], &ran["experiments"][0]["cells"]),
        (&0.into(), &16.into())
    );
    let page = folder.text("r/X4.md");
    assert!(page.contains("**Partial: 0 of 16 cells.**") && page.contains("Nothing is finished yet"));
    run(&folder, "X4 --scale smoke --out r").ok();
    let text = folder.text("r/cells.tsv");
    folder.write("r/cells.tsv", lines(&text)[..6].concat());
    run(&folder, "X4 --scale smoke --max-seconds 0 --out r").ok();
    let page = folder.text("r/X4.md");
    assert!(page.contains("**Partial: 5 of 16 cells.**"), "{page}");
}

/// Cells without a curve are run again for an experiment that draws one; then they serve both.
#[test]
fn more_is_measured_where_it_is_wanted() {
    let folder = Folder::new();
    run(&folder, "X7 --scale smoke --out r").ok();
    let ran = run(&folder, "X2 --scale smoke --out r").ok();
    assert!(ran.stderr.contains("96 cells, 0 of them finished before"), "{ran:?}");
    let ran = run(&folder, "X7 --scale smoke --out r").ok();
    assert!(ran.stderr.contains("24 cells, 24 of them finished before"), "{ran:?}");
    assert!(cells(&folder, "r").values().any(|cell| cell["curve"].split(';').count() > 2));
}

/// A run that has just finished some cells of many.
fn started(folder: &Folder, out: &str) -> std::process::Child {
    let file = folder.file(&format!("{out}/cells.tsv"));
    let lines = || std::fs::read_to_string(&file).map_or(1, |text| text.matches('\n').count());
    let (before, begun) = (lines(), Instant::now());
    let child = Command::new(PROGRAM)
        .current_dir(folder.path())
        .args(["X1", "--scale", "smoke", "--threads", "2", "--out", out])
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()
        .unwrap();
    while lines() < before + 5 {
        assert!(begun.elapsed() < Duration::from_secs(60), "no cell was finished");
        std::thread::sleep(Duration::from_millis(2));
    }
    child
}

#[test]
fn killed_and_interrupted_runs_go_on() {
    let folder = Folder::new();
    let mut child = started(&folder, "r");
    child.kill().unwrap();
    child.wait().unwrap();
    let mut child = started(&folder, "r");
    assert!(Command::new("kill").args(["-INT", &child.id().to_string()]).status().unwrap().success());
    let code = child.wait().unwrap().code();
    assert!([Some(130), Some(0)].contains(&code), "{code:?}");
    assert!(folder.file("r/X1.md").exists(), "what is there is shown");
    run(&folder, "X1 --scale smoke --out r").ok();
    run(&folder, "X1 --scale smoke --out undisturbed").ok();
    assert_eq!(cells(&folder, "r"), cells(&folder, "undisturbed"));
}

#[test]
fn what_there_is() {
    let folder = Folder::new();
    let list = run(&folder, "--list").ok();
    assert_eq!(list.stdout.lines().count(), 17);
    assert!(list.stdout.starts_with("X1      216 cells  Held-out score and the number of topics"));
    let json = run(&folder, "X3 --list --scale laptop --json").ok().json();
    assert_eq!(json["experiments"][0]["cells"], 4 * 4 * 11, "only the synthetic corpus is there");
    assert!(!folder.file("docs").exists());
}

#[test]
fn nonsense_is_refused() {
    let folder = Folder::new();
    for (flags, text) in [
        ("X18", "X1: there is no experiment `X18`; use X1 to X17, or all; --list says what they are"),
        (
            "X1 --max-seconds nan",
            "--max-seconds: NaN is not a length of time; use a number of seconds, such as 3600",
        ),
    ] {
        run(&folder, &format!("{flags} --out r")).refused(text);
    }
    assert!(!folder.file("r").exists());
    let none = run(&folder, "");
    assert_eq!(none.code, Some(2));
    let scale = run(&folder, "X1 --scale huge");
    assert!(scale.code == Some(2) && scale.stderr.contains("huge"), "{scale:?}");
    folder.write("file", "");
    let ran = run(&folder, "X13 --out file");
    assert!(ran.code == Some(2) && ran.stderr.starts_with("error: cannot make file: "), "{ran:?}");
    let ran = run(&folder, "X13 --scale laptop --data nowhere --out r").ok();
    assert!(ran.stderr.contains("warning: left out: imdb (not in nowhere)"), "{ran:?}");
}

/// A corpus in files: windows of training documents go around the end, and the last documents are never learnt from.
#[test]
fn corpora_in_files() {
    let folder = Folder::new();
    write_corpus(&folder, "data/yelp", 4_000);
    let ran = run(&folder, "X7 --scale laptop --data data --out r --max-seconds 0").ok();
    assert!(ran.stderr.contains("left out: imdb, wikipedia, pubmed, reuters (not in data)"), "{ran:?}");
    write_corpus(&folder, "small/yelp", 1_500);
    run(&folder, "X7 --scale laptop --data small --out r")
        .refused("--data: small/yelp has 1500 documents, and 2000 are held out; use a larger corpus");
}

/// A corpus in the UCI format: documents of one word each.
fn write_corpus(folder: &Folder, name: &str, documents: usize) {
    std::fs::create_dir_all(folder.file(name)).unwrap();
    folder.write(&format!("{name}/vocab.txt"), "first\nsecond\n");
    let mut counts = format!("{documents}\n2\n{documents}\n");
    for document in 1..=documents {
        writeln!(counts, "{document} {} 3", 1 + document % 2).unwrap();
    }
    folder.write(&format!("{name}/docword.txt"), counts);
}

/// General options have variables and may be in a file, as those of the main program.
#[test]
fn options_from_elsewhere() {
    let folder = Folder::new();
    folder.write("options.toml", "scale = \"laptop\"\n");
    let list = run_with(&folder, "X3 --list", |command| {
        command.envs([("GIBBSTREAM_CONFIG", "options.toml"), ("GIBBSTREAM_JSON", "1")]);
    });
    assert_eq!(list.ok().json()["scale"], "laptop");
    let refused = run_with(&folder, "--list", |command| {
        command.env("GIBBSTREAM_THREADS", "0");
    });
    refused
        .refused("--threads: 0 is not a number of threads; use 1 or more, or leave it out to use all cores");
}
