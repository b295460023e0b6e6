//! Experiments of the paper: everything runs, nothing is run twice, and no thread changes a number.

use crate::support::{Folder, run};
use serde_json::Value;
use std::collections::BTreeMap;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

/// Finished cells without what a clock says, by what they are.
fn cells(folder: &Folder, out: &str) -> BTreeMap<String, Value> {
    let text = String::from_utf8(folder.read(&format!("{out}/cells.jsonl"))).unwrap();
    assert!(text.ends_with('\n'));
    let parse = |line: &str| {
        let mut cell: Value = serde_json::from_str(line).unwrap();
        forget_clocks(&mut cell);
        (cell["cell"].to_string(), cell)
    };
    text.lines().map(parse).collect()
}

fn forget_clocks(value: &mut Value) {
    match value {
        Value::Object(fields) => {
            fields.retain(|name, _| !name.ends_with("seconds"));
            fields.values_mut().for_each(forget_clocks);
        }
        Value::Array(items) => items.iter_mut().for_each(forget_clocks),
        _ => {}
    }
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
    let done = run(&folder, "reproduce all --scale smoke --out r --json").ok();
    let report = done.json();
    assert_eq!((&report["schema"], &report["scale"]), (&"gibbstream/reproduce/1".into(), &"smoke".into()));
    let experiments = report["experiments"].as_array().unwrap();
    let names: Vec<&str> = experiments.iter().map(|experiment| experiment["id"].as_str().unwrap()).collect();
    assert_eq!(names, (1..=17).map(|number| format!("X{number}")).collect::<Vec<_>>());
    let (mut plots, mut pictures) = (0, 0);
    for experiment in experiments {
        assert!(experiment["cells"].as_u64().unwrap() > 0);
        assert_eq!(experiment["cells"], experiment["finished"]);
        for file in experiment["files"].as_array().unwrap() {
            let content = folder.read(file.as_str().unwrap());
            if content.starts_with(b"\x89PNG") {
                pictures += 1;
                continue;
            }
            let text = String::from_utf8(content).unwrap();
            if text.starts_with("<svg") {
                plots += 1;
                assert_well_formed(&text);
                assert!(text.contains("<polyline") && text.contains("imdb-drawn"), "{file}");
            } else {
                assert!(text.contains("gibbstream reproduce X") && text.contains("## What the paper says"));
                assert!(text.contains("says nothing about the paper") && !text.contains("Partial"));
            }
        }
    }
    if done.stderr.contains("no font on this system") {
        eprintln!("SKIPPED: pictures, for which there is no font");
    } else {
        assert_eq!(plots, pictures, "every plot is there as SVG and as PNG");
    }
    let plot = String::from_utf8(folder.read("r/X1-topics.svg")).unwrap();
    for name in ["g-oem", "v-oem++", "olda", "vargibbs", "svb", "splda", "sgs", "lds", "g-oem as usual"] {
        assert_eq!(plot.matches(&format!(">{name}</text>")).count(), 1, "{name} is in the legend once");
    }
    assert_eq!(plot.matches("<polyline").count(), 9 * 6, "a line for each method on each corpus");
    let curves = String::from_utf8(folder.read("r/X2-documents.svg")).unwrap();
    assert_eq!(curves.matches(">word frequencies</text>").count(), 1);
    let words = String::from_utf8(folder.read("r/X13.md")).unwrap();
    assert!(words.contains("| `g-oem` | divergence | `olda` |"));

    // Nothing is left to do, and nothing changes.
    let before = folder.read("r/cells.jsonl");
    let pages = [folder.read("r/X1.md"), folder.read("r/X14.md"), folder.read("r/X14-time.svg")];
    let again = run(&folder, "reproduce X14 X1 --scale smoke --out r").ok();
    assert!(again.stderr.contains("216 cells, 216 of them finished before"), "{again:?}");
    assert_eq!(before, folder.read("r/cells.jsonl"));
    assert_eq!(pages, [folder.read("r/X1.md"), folder.read("r/X14.md"), folder.read("r/X14-time.svg")]);
}

#[test]
fn threads_change_no_number() {
    let folder = Folder::new();
    for (threads, out) in [(1, "one"), (3, "three")] {
        run(&folder, &format!("reproduce X5 X12 X13 X17 --scale smoke --threads {threads} --out {out}")).ok();
    }
    assert_eq!(cells(&folder, "one"), cells(&folder, "three"));
    for page in ["X5.md", "X12.md", "X13.md", "X17.md", "X17-alpha.svg"] {
        assert_eq!(folder.read(&format!("one/{page}")), folder.read(&format!("three/{page}")), "{page}");
    }
    run(&folder, "reproduce X13 --scale smoke --seed 1 --out one").ok();
    assert_eq!(cells(&folder, "one").len(), cells(&folder, "three").len() + 2, "another seed, other cells");
}

#[test]
fn finished_cells_and_torn_lines() {
    let folder = Folder::new();
    run(&folder, "reproduce X4 --scale smoke --out r").ok();
    let whole = cells(&folder, "r");
    let text = folder.read("r/cells.jsonl");
    let lines: Vec<&[u8]> = text.split_inclusive(|&byte| byte == b'\n').collect();
    // Seven cells, and a half one of a process that died.
    let mut torn = lines[..7].concat();
    torn.extend(&lines[7][..100]);
    folder.write("r/cells.jsonl", &torn);
    let ran = run(&folder, "reproduce X4 --scale smoke --out r").ok();
    assert!(ran.stderr.contains("16 cells, 7 of them finished before"), "{ran:?}");
    assert_eq!(cells(&folder, "r"), whole);
    assert!(folder.read("r/cells.jsonl").starts_with(&lines[..7].concat()));
    // Whole lines of something else are left alone.
    folder.write("r/cells.jsonl", [b"{\"other\": 1}\n".as_slice(), &lines[..3].concat()].concat());
    let ran = run(&folder, "reproduce X4 --scale smoke --out r").ok();
    assert!(ran.stderr.contains("warning: 1 lines of cells.jsonl cannot be read"), "{ran:?}");
    assert_eq!(cells(&folder, "r").len(), 17);
}

#[test]
fn partial_results_say_so() {
    let folder = Folder::new();
    let ran = run(&folder, "reproduce X4 X13 --scale smoke --max-seconds 0 --out r --json").ok().json();
    assert_eq!(
        (&ran["experiments"][0]["finished"], &ran["experiments"][0]["cells"]),
        (&0.into(), &16.into())
    );
    let page = String::from_utf8(folder.read("r/X4.md")).unwrap();
    assert!(page.contains("**Partial: 0 of 16 cells.**") && page.contains("Nothing is finished yet"));
    run(&folder, "reproduce X4 --scale smoke --out r").ok();
    let text = folder.read("r/cells.jsonl");
    let lines: Vec<&[u8]> = text.split_inclusive(|&byte| byte == b'\n').collect();
    folder.write("r/cells.jsonl", lines[..5].concat());
    run(&folder, "reproduce X4 --scale smoke --max-seconds 0 --out r").ok();
    let page = String::from_utf8(folder.read("r/X4.md")).unwrap();
    assert!(page.contains("**Partial: 5 of 16 cells.**"), "{page}");
}

/// Cells without a curve are run again for an experiment that draws one; then they serve both.
#[test]
fn more_is_measured_where_it_is_wanted() {
    let folder = Folder::new();
    run(&folder, "reproduce X7 --scale smoke --out r").ok();
    let ran = run(&folder, "reproduce X2 --scale smoke --out r").ok();
    assert!(ran.stderr.contains("96 cells, 0 of them finished before"), "{ran:?}");
    let ran = run(&folder, "reproduce X7 --scale smoke --out r").ok();
    assert!(ran.stderr.contains("24 cells, 24 of them finished before"), "{ran:?}");
    assert!(
        cells(&folder, "r")
            .values()
            .any(|cell| cell["curve"].as_array().is_some_and(|curve| curve.len() > 2))
    );
}

/// A run that has just finished some cells of many.
fn started(folder: &Folder, out: &str) -> std::process::Child {
    let file = folder.file(&format!("{out}/cells.jsonl"));
    let lines = || std::fs::read_to_string(&file).map_or(0, |text| text.matches('\n').count());
    let (before, begun) = (lines(), Instant::now());
    let child = Command::new(env!("CARGO_BIN_EXE_gibbstream"))
        .current_dir(folder.path())
        .args(["reproduce", "X1", "--scale", "smoke", "--threads", "2", "--out", out])
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
    run(&folder, "reproduce X1 --scale smoke --out r").ok();
    run(&folder, "reproduce X1 --scale smoke --out undisturbed").ok();
    assert_eq!(cells(&folder, "r"), cells(&folder, "undisturbed"));
}

#[test]
fn what_there_is() {
    let folder = Folder::new();
    let list = run(&folder, "reproduce --list").ok();
    assert_eq!(list.stdout.lines().count(), 17);
    assert!(list.stdout.starts_with("X1      216 cells  Held-out score and the number of topics"));
    let json = run(&folder, "reproduce X3 --list --scale laptop --json").ok().json();
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
        run(&folder, &format!("reproduce {flags} --out r")).refused(text);
    }
    assert!(!folder.file("r").exists());
    let none = run(&folder, "reproduce");
    assert_eq!(none.code, Some(2));
    let scale = run(&folder, "reproduce X1 --scale huge");
    assert!(scale.code == Some(2) && scale.stderr.contains("huge"), "{scale:?}");
    folder.write("file", "");
    let ran = run(&folder, "reproduce X13 --out file");
    assert!(ran.code == Some(2) && ran.stderr.starts_with("error: cannot make file: "), "{ran:?}");
    let ran = run(&folder, "reproduce X13 --scale laptop --data nowhere --out r").ok();
    assert!(ran.stderr.contains("warning: left out: imdb (not in nowhere)"), "{ran:?}");
}

/// A corpus in files: windows of training documents go around the end, and the last documents are never learnt from.
#[test]
fn corpora_in_files() {
    let folder = Folder::new();
    run(&folder, "synth --topics 5 --vocab 200 --docs 4000 --length 30 --out data/yelp").ok();
    let ran = run(&folder, "reproduce X7 --scale laptop --data data --out r --max-seconds 0").ok();
    assert!(ran.stderr.contains("left out: imdb, wikipedia, pubmed, reuters (not in data)"), "{ran:?}");
    run(&folder, "synth --topics 5 --vocab 200 --docs 1500 --length 30 --out small/yelp").ok();
    run(&folder, "reproduce X7 --scale laptop --data small --out r")
        .refused("--data: small/yelp has 1500 documents, and 2000 are held out; use a larger corpus");
}
