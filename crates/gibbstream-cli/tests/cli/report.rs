//! `report`: the page as a file.

use crate::support::{Folder, fields, run, run_with};
use serde_json::{Value, json};
use std::path::Path;

/// Documents with a date and a source.
fn dated(folder: &Folder) {
    let texts = std::fs::read_to_string(folder.path().join("reviews.txt")).unwrap();
    let lines = texts.lines().enumerate().map(|(index, text)| {
        let date = format!("2024-{:02}-{:02}", 1 + index / 28, 1 + index % 28);
        let source = if index % 2 == 0 { "a" } else { "b" };
        json!({ "id": format!("r{index}"), "text": text, "date": date, "source": source }).to_string() + "\n"
    });
    folder.write("dated.jsonl", lines.collect::<String>());
}

fn report(folder: &Folder, line: &str) -> Value {
    run(folder, &format!("report {line} --format json")).ok().json()
}

fn nothing_new(folder: &Folder, before: usize) {
    assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), before, "nothing is half written");
}

fn files(folder: &Folder) -> usize {
    std::fs::read_dir(folder.path()).unwrap().count()
}

#[test]
fn a_page_with_documents_time_and_groups() {
    let folder = Folder::with_models();
    dated(&folder);
    let line = "report text.gbs dated.jsonl --out page.html --time-field date --group-field source --json --threads 2";
    let facts = run(&folder, line).ok().json();
    assert_eq!(
        fields(&facts),
        [
            "bytes",
            "documents",
            "documents_shown",
            "documents_without_words",
            "format",
            "groups",
            "model_hash",
            "out",
            "period",
            "periods",
            "schema",
            "topics",
            "warnings",
            "words"
        ]
    );
    assert_eq!(
        (&facts["documents"], &facts["groups"], &facts["topics"]),
        (&json!(120), &json!(2), &json!(3))
    );
    assert_eq!((&facts["period"], &facts["periods"]), (&json!("week"), &json!(19)));
    let page = std::fs::read_to_string(folder.path().join("page.html")).unwrap();
    assert_eq!(facts["bytes"], json!(page.len()));
    assert!(page.contains("Content-Security-Policy"));
    assert!(page.contains("<title>text.gbs</title>"));
    assert!(page.contains("id=\"report-data\">H4s"), "gzip in base64");

    let again = line.replace("--threads 2", "--threads 1").replace("page.html", "again.html");
    run(&folder, &again).ok();
    let other = std::fs::read_to_string(folder.path().join("again.html")).unwrap();
    // The command to make it again is part of it, and names the file.
    assert_eq!(other.len() / 1000, page.len() / 1000);
    let data = |threads: &str| {
        report(&folder, &format!("text.gbs dated.jsonl --time-field date --threads {threads}"))
    };
    assert_eq!(data("1"), data("3"), "threads never change a result");
}

#[test]
fn the_data_alone_goes_to_standard_output() {
    let folder = Folder::with_models();
    dated(&folder);
    let data = report(
        &folder,
        "text.gbs dated.jsonl --group-field source --max-documents 10 --title T --lambda 0.3",
    );
    assert_eq!(
        (&data["schema"], &data["title"], &data["lambda"]),
        (&json!("gibbstream/report/1"), &json!("T"), &json!(0.3))
    );
    let documents = &data["documents"];
    assert_eq!(documents["ids"].as_array().unwrap().len(), 10);
    assert_eq!(documents["has_texts"], json!(true));
    let first: usize = documents["places"][0].as_u64().unwrap() as usize;
    let texts = std::fs::read_to_string(folder.path().join("reviews.txt")).unwrap();
    assert_eq!(documents["texts"][0]["text"].as_str(), texts.lines().nth(first));
    assert!(
        data["timeline"].is_null() && data["missing"]["timeline"].as_str().unwrap().contains("--time-field")
    );
    assert_eq!(
        data["commands"]["program"].as_str().unwrap().split(' ').take(3).collect::<Vec<_>>(),
        ["gibbstream", "report", "text.gbs"]
    );
    // Mixtures are those of infer.
    let line = format!("infer text.gbs dated.jsonl --skip-docs {first} --limit-docs 1 --uncertainty");
    let inferred = run(&folder, &line).ok().json();
    let topic = documents["mixtures"]["topics"][0].as_u64().unwrap() as usize;
    let (share, theta) =
        (documents["mixtures"]["shares"][0].as_f64().unwrap(), inferred["theta"][topic].as_f64().unwrap());
    assert!((share - theta).abs() < 1e-5, "{share} {theta}");
    let (deviation, spread) = (
        documents["mixtures"]["deviations"][0].as_f64().unwrap(),
        inferred["spread"][topic].as_f64().unwrap(),
    );
    assert!((deviation - spread).abs() < 1e-5);
}

#[test]
fn counts_and_standard_input_make_pages_too() {
    let folder = Folder::with_models();
    let data = report(&folder, "uci.gbs uci --max-documents 5");
    assert_eq!(data["documents"]["has_texts"], json!(false));
    assert!(!data["documents"]["texts"][0]["text"].as_str().unwrap().is_empty());
    let ran = run_with(&folder, "report text.gbs - --format json", |command| {
        command.write_stdin("a film and an actor\n");
    });
    assert_eq!(ran.ok().json()["documents"]["total"], json!(1));
    let alone = report(&folder, "text.gbs");
    assert!(alone["documents"].is_null());
}

#[test]
fn labels_come_back_and_those_of_another_model_are_refused() {
    let folder = Folder::with_models();
    let hash = report(&folder, "text.gbs")["model"]["model_hash"].as_str().unwrap().to_owned();
    let labels = |hash: &str| json!({ "schema": "gibbstream/labels/1", "model_hash": hash, "topics": { "2": { "label": "football" } } });
    folder.write("labels.json", labels(&hash).to_string());
    assert_eq!(report(&folder, "text.gbs --labels labels.json")["labels"]["2"]["label"], json!("football"));
    folder.write("other.json", labels("beef").to_string());
    let before = files(&folder);
    run(&folder, "report text.gbs --labels other.json --out page.html").refused(&format!(
        "other.json: its labels are for the model beef, and this one is {hash}; \
         use the model they were made for, or --force-labels to take them by topic id"
    ));
    assert_eq!(
        report(&folder, "text.gbs --labels other.json --force-labels")["labels"]["2"]["label"],
        json!("football")
    );
    folder.write("far.json", labels(&hash).to_string().replace("\"2\"", "\"7\""));
    run(&folder, "report text.gbs --labels far.json --out page.html")
        .refused("--labels: there is a label for topic 7, but the model has 3; use the labels of this model");
    folder.write("broken.json", "{\"schema\": 1");
    let ran = run(&folder, "report text.gbs --labels broken.json --out page.html");
    assert!(ran.stderr.starts_with("error: broken.json: is not a file of labels: "), "{}", ran.stderr);
    run(&folder, "report text.gbs --labels none.json --out page.html")
        .refused("none.json: cannot read: No such file or directory (os error 2)");
    nothing_new(&folder, before + 2);
}

#[test]
fn bad_input_is_refused_with_its_place_and_nothing_is_written() {
    let folder = Folder::with_models();
    dated(&folder);
    let good = std::fs::read_to_string(folder.path().join("dated.jsonl")).unwrap();
    folder.write("badtime.jsonl", good.replace("2024-01-03", "someday"));
    folder.write("notime.jsonl", good.replacen("\"date\":\"2024-01-02\",", "", 1));
    folder.write("nogroup.jsonl", good.replacen("\"source\":\"b\"", "\"other\":1", 1));
    folder.write("times.csv", "text,date\na film,2024-01-01\nan actor,never\n");
    folder.write("foreign.txt", "qqq www\nzzz\n");
    let before = files(&folder);
    let advice = "write times as RFC 3339 (2024-05-17T10:30:00Z), dates (2024-05-17) or seconds since 1970, or skip such records with --skip-bad";
    let group_advice = "every document needs one; name another field with --group-field";
    for (line, text) in [
        (
            "badtime.jsonl --time-field date",
            format!("badtime.jsonl:3: field `date`: `someday` is not a time; {advice}"),
        ),
        (
            "notime.jsonl --time-field date",
            format!("notime.jsonl:2: field `date`: there is no time; {advice}"),
        ),
        (
            "times.csv --time-field date",
            format!("times.csv:3: field `date`: `never` is not a time; {advice}"),
        ),
        (
            "nogroup.jsonl --group-field source",
            format!("nogroup.jsonl:2: field `source`: there is no group; {group_advice}"),
        ),
        (
            "foreign.txt",
            "INPUT: none of 2 documents has a word that the model knows; \
             check --text-field, and that the model was trained on similar texts"
                .into(),
        ),
        (
            "dated.jsonl --text-field body",
            "dated.jsonl:1: has no field `body` (fields: `date`, `id`, `source`, `text`); \
             name the field that holds the text with --text-field"
                .into(),
        ),
        (
            "uci --time-field date",
            "uci/docword.txt.zst: holds counts, which have no field `date`; \
             leave the field out, or give text, JSON lines, CSV or Parquet"
                .into(),
        ),
        ("--time-field date", "--time-field: there are no documents; name INPUT, or leave it out".into()),
        (
            "dated.jsonl --lambda 2",
            "--lambda: 2 is not in [0, 1]; use 1 for frequent words, 0.6 for typical ones".into(),
        ),
        ("dated.jsonl --sweeps 0", "--sweeps: 0 is not a number of sweeps; use for example 100".into()),
    ] {
        run(&folder, &format!("report text.gbs {line} --out page.html")).refused(&text);
    }
    run(&folder, "report text.gbs --out no/such/page.html")
        .refused("no/such/page.html: the folder no/such does not exist; create it first");
    run(&folder, "report text.gbs")
        .refused("--out: there is no file to write to; name one, such as --out page.html");
    nothing_new(&folder, before);

    let skipped =
        run(&folder, "report text.gbs badtime.jsonl --time-field date --skip-bad --out page.html --json")
            .ok();
    assert_eq!(skipped.json()["documents"], json!(119));
    assert!(skipped.stderr.contains("bad records were skipped: 1 wrong value"), "{}", skipped.stderr);
}

#[test]
fn a_model_of_numbers_shows_its_components() {
    let folder = Folder::new();
    let rows: String = (0..60).map(|i| format!("{},{}\n", i % 2 * 10 + i % 5, i % 2 * 5 + i % 3)).collect();
    folder.write("rows.csv", format!("height,width\n{rows}"));
    run(&folder, "train rows.csv --model gaussian-mixture --components 2 --batch 10 --out rows.gbs").ok();
    let data = report(&folder, "rows.gbs");
    assert_eq!(data["components"]["columns"], json!(["height", "width"]));
    assert_eq!(data["components"]["values"].as_array().unwrap().len(), 2);
    assert_eq!(data["components"]["value"], json!("mean"));
    assert!(data["missing"]["topics"].as_str().unwrap().contains("components"));
    run(&folder, "report rows.gbs --out page.html").ok();
    run(&folder, "report rows.gbs rows.csv --out other.html").refused(
        "INPUT: a gaussian-mixture has no topics and no words; leave it out: the page shows the components of the model",
    );
    assert!(!Path::new(&folder.path().join("other.html")).exists());
}

#[test]
fn two_models_side_by_side_and_the_run() {
    let folder = Folder::with_corpora();
    let train = "train reviews.jsonl --topics 3 --batch 10 --sweeps 5 --holdout 20 --eval-every 2";
    run(&folder, &format!("{train} --out a.gbs")).ok();
    run(&folder, &format!("{train} --seed 4 --out b.gbs")).ok();
    let data = report(&folder, "a.gbs reviews.jsonl --compare b.gbs");
    let comparison = &data["comparison"];
    assert_eq!((&comparison["name"], &comparison["a"]), (&json!("b.gbs"), &json!([0, 1, 2])));
    assert!(comparison["score"]["mean"].is_number());
    let evaluations = &data["run"]["evaluations"];
    let count = evaluations["score"].as_array().unwrap().len();
    assert_eq!(count, 5, "every second of ten minibatches");
    assert_eq!((&evaluations["baseline_name"], &evaluations["held_out"]), (&json!("unigram"), &json!(20)));
    assert_eq!(evaluations["documents"], json!([20, 40, 60, 80, 100]));
    let trace = &data["run"]["trace"];
    assert_eq!(trace["updates"].as_array().unwrap().len(), 10);
    assert_eq!(trace["alpha_sum"].as_array().unwrap().len(), 10);
}

#[test]
fn the_demo_has_a_page() {
    let folder = Folder::new();
    run(&folder, "demo --report page.html --json").ok();
    let page = std::fs::read_to_string(folder.path().join("page.html")).unwrap();
    assert!(page.contains("id=\"report-data\">H4s"));
}
