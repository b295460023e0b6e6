//! `timeline`: topics by period and by group.

use crate::support::{Folder, fields, run, run_with};
use serde_json::{Value, json};

/// Reviews with a date and a source; books are written about from May on only.
fn folder() -> Folder {
    let folder = Folder::with_models();
    let lines =
        folder.text("reviews.txt").lines().enumerate().fold(String::new(), |mut lines, (index, text)| {
            let month = if index % 3 == 1 { 5 + index / 60 } else { 1 + index / 20 };
            let date = format!("2024-{month:02}-{:02}", 1 + index % 28);
            let source = ["a", "b, \"c\""][index % 2];
            let line = json!({ "id": index.to_string(), "text": text, "date": date, "source": source });
            lines += &(line.to_string() + "\n");
            lines
        });
    folder.write("dated.jsonl", lines);
    folder
}

fn json_of(folder: &Folder, line: &str) -> Value {
    run(folder, &format!("timeline text.gbs dated.jsonl {line} --json")).ok().json()
}

#[test]
fn shares_are_those_of_the_page() {
    let folder = folder();
    let found = json_of(&folder, "--time-field date --by month");
    assert_eq!(
        fields(&found),
        [
            "by",
            "classes",
            "documents",
            "documents_without_words",
            "field",
            "model_hash",
            "schema",
            "topics",
            "warnings"
        ]
    );
    assert_eq!(
        (&found["schema"], &found["by"], &found["documents"]),
        (&json!("gibbstream/timeline/1"), &json!("month"), &json!(120))
    );
    assert_eq!(fields(&found["classes"][0]), ["documents", "start", "tokens"]);
    assert_eq!(fields(&found["classes"][1]), ["documents", "drift", "start", "tokens"]);
    assert_eq!(
        fields(&found["topics"][0]),
        ["high", "id", "label", "label_by", "less", "low", "more", "shares", "words"]
    );
    let report =
        run(&folder, "report text.gbs dated.jsonl --time-field date --group-field source --format json")
            .ok()
            .json();
    let automatic = json_of(&folder, "--time-field date");
    let page = &report["timeline"];
    assert_eq!(automatic["by"], page["by"]);
    for (id, topic) in automatic["topics"].as_array().unwrap().iter().enumerate() {
        for (name, places) in [("shares", "shares"), ("low", "low"), ("high", "high")] {
            let (ours, theirs) = (topic[name].as_array().unwrap(), page[places][id].as_array().unwrap());
            assert_eq!(ours.len(), theirs.len());
            for (a, b) in ours.iter().zip(theirs) {
                // The page is written with fewer digits.
                let close = a
                    .as_f64()
                    .zip(b.as_f64())
                    .map_or(a.is_null() && b.is_null(), |(a, b)| (a - b).abs() < 1e-5);
                assert!(close, "{a} {b}");
            }
        }
    }
    let groups = json_of(&folder, "--group-field source");
    assert_eq!((&groups["by"], &groups["classes"][1]["group"]), (&json!("group"), &json!("b, \"c\"")));
    let (a, b) = (
        groups["topics"][1]["shares"][0].as_f64().unwrap(),
        report["groups"]["shares"][1][0].as_f64().unwrap(),
    );
    assert!((a - b).abs() < 1e-5);
}

#[test]
fn shares_of_a_period_are_means_of_infer() {
    let folder = folder();
    let found = json_of(&folder, "--time-field date --by year");
    let lines = run(&folder, "infer text.gbs dated.jsonl --digits 17").ok().json_lines();
    for topic in 0..3 {
        let (mut sum, mut tokens) = (0.0, 0.0);
        for line in &lines {
            let length = line["tokens"].as_f64().unwrap();
            tokens += length;
            sum += length * line["theta"][topic].as_f64().unwrap();
        }
        let share = found["topics"][topic]["shares"][0].as_f64().unwrap();
        assert!((share - sum / tokens).abs() < 1e-12, "{share}");
        let [low, high] = ["low", "high"].map(|end| found["topics"][topic][end][0].as_f64().unwrap());
        assert!(low < share && share < high);
    }
}

/// Books are written about from May on, and words of books are the words of that topic.
#[test]
fn what_changes_is_seen() {
    let folder = folder();
    let found = json_of(&folder, "--time-field date --by quarter");
    let books = found["topics"]
        .as_array()
        .unwrap()
        .iter()
        .find(|topic| {
            topic["words"][1].as_array().unwrap().iter().any(|word| word == "novel" || word == "poem")
        })
        .unwrap();
    let (first, second) = (books["shares"][0].as_f64().unwrap(), books["shares"][1].as_f64().unwrap());
    assert!(first < 0.15 && second > 0.25, "{first} {second}");
    assert!(found["classes"][1]["drift"].as_f64().unwrap() > 0.1);
}

#[test]
fn tables_and_pictures() {
    let folder = folder();
    let csv = run(&folder, "timeline text.gbs dated.jsonl --group-field source --threads 1").ok().stdout;
    let header = "group,documents,tokens,topic,label,share,low,high,words,more,less";
    assert_eq!(csv.lines().next(), Some(header));
    assert_eq!(csv.lines().count(), 1 + 2 * 3);
    assert!(csv.lines().nth(4).unwrap().starts_with("\"b, \"\"c\"\"\",60,"), "{csv}");
    let again = run(&folder, "timeline text.gbs dated.jsonl --group-field source --threads 2").ok().stdout;
    assert_eq!(csv, again, "threads never change a result");
    for name in ["t.csv", "t.json", "t.svg", "t.parquet"] {
        let line = format!("timeline text.gbs dated.jsonl --time-field date --by month --out {name}");
        let ran = run(&folder, &line).ok();
        assert!(ran.stderr.contains("3 topics in"), "{}", ran.stderr);
        if name != "t.parquet" {
            run(&folder, &line).ok();
        }
    }
    assert!(folder.text("t.csv").starts_with("start,documents,"));
    let data: Value = serde_json::from_str(&folder.text("t.json")).unwrap();
    assert_eq!(data["schema"], "gibbstream/timeline/1");
    let picture = folder.text("t.svg");
    assert!(
        picture.starts_with("<svg ") && picture.contains("2024-01") && picture.contains("share of tokens")
    );
    assert!(folder.read("t.parquet").starts_with(b"PAR1"));
    // Every row of the table is there.
    let rows =
        run(&folder, "train t.parquet --text-field words --id-field label --topics 2 --dry-run --json");
    let periods = data["classes"].as_array().unwrap().len();
    assert_eq!(rows.ok().json()["documents"], json!(3 * periods));
    let svg =
        run(&folder, "timeline text.gbs dated.jsonl --group-field source --output-format svg").ok().stdout;
    assert!(svg.starts_with("<svg ") && svg.contains("b, \"c\""));
}

#[test]
fn labels_are_used() {
    let folder = folder();
    run(&folder, "label text.gbs --set 0=cinema").ok();
    let found = json_of(&folder, "--group-field source");
    assert_eq!(
        (&found["topics"][0]["label"], &found["topics"][0]["label_by"]),
        (&json!("cinema"), &json!("user"))
    );
}

#[test]
fn bad_input_is_refused_where_it_is() {
    let folder = folder();
    folder.write(
        "bad.jsonl",
        "{\"text\": \"film\", \"date\": \"2024-01-01\"}\n{\"text\": \"film\", \"date\": \"soon\"}\n",
    );
    run(&folder, "timeline text.gbs bad.jsonl --time-field date").refused(
        "bad.jsonl:2: field `date`: `soon` is not a time; \
         write times as RFC 3339 (2024-05-17T10:30:00Z), dates (2024-05-17) or seconds since 1970, \
         or skip such records with --skip-bad",
    );
    for (line, part) in [
        ("timeline text.gbs dated.jsonl", "--time-field"),
        ("timeline text.gbs dated.jsonl --time-field date --group-field source", "--group-field"),
        ("timeline text.gbs dated.jsonl --group-field source --by month", "--by: groups have no length"),
        ("timeline text.gbs dated.jsonl --time-field date --by fortnight", "use hour, day, week"),
        ("timeline text.gbs dated.jsonl --time-field when", "dated.jsonl:1: field `when`: there is no time"),
        ("timeline text.gbs dated.jsonl --time-field date --output-format parquet", "Parquet needs a file"),
        (
            "timeline text.gbs dated.jsonl --time-field date --output-format svg --json",
            "--json: standard output cannot hold both",
        ),
        ("timeline text.gbs dated.jsonl --time-field date --out dated.jsonl", "dated.jsonl"),
        ("timeline text.gbs dated.jsonl --time-field date --out text.gbs", "text.gbs"),
        ("timeline text.gbs dated.jsonl --time-field date --words 0", "--words"),
        (
            "timeline text.gbs dated.jsonl --time-field date --sweeps 0",
            "--sweeps: 0 is not a number of sweeps",
        ),
        ("timeline uci.gbs dated.jsonl --time-field date", "has a word that the model knows"),
        ("timeline nothing.gbs dated.jsonl --time-field date", "nothing.gbs"),
    ] {
        let ran = run(&folder, line);
        assert_eq!((ran.code, ran.stdout.as_str()), (Some(2), ""), "{line}: {}", ran.stderr);
        assert!(ran.stderr.contains(part), "{line}: {}", ran.stderr);
    }
    let far =
        "{\"text\": \"film\", \"date\": \"0001-01-01\"}\n{\"text\": \"film\", \"date\": \"9999-01-01\"}\n";
    let ran =
        run_with(&folder, "timeline text.gbs - --format jsonl --time-field date --by hour", |command| {
            command.write_stdin(far);
        });
    assert_eq!(ran.code, Some(2));
    assert!(
        ran.stderr.contains("--by: from the first to the last document there are more than"),
        "{}",
        ran.stderr
    );
    let ran = run_with(&folder, "timeline text.gbs - --format jsonl --time-field date --json", |command| {
        command.write_stdin(far);
    });
    assert_eq!(ran.ok().json()["classes"].as_array().unwrap().len(), 9999);
}
