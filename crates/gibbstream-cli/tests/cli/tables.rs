//! Mixtures and topics as tables, and what documents bring with them.

use crate::support::{Folder, run};
use parquet::file::reader::{FileReader, SerializedFileReader};
use parquet::record::Field;
use serde_json::{Value, json};

/// The names of the columns and the rows of a Parquet file.
fn read_parquet(bytes: Vec<u8>) -> (Vec<String>, Vec<Vec<Field>>) {
    let reader = SerializedFileReader::new(bytes::Bytes::from(bytes)).unwrap();
    let schema = reader.metadata().file_metadata().schema().clone();
    let names = schema.get_fields().iter().map(|field| field.name().to_owned()).collect();
    let row = |row: parquet::record::Row| row.get_column_iter().map(|(_, field)| field.clone()).collect();
    (names, reader.get_row_iter(None).unwrap().map(|found| row(found.unwrap())).collect())
}

/// Reviews with a date and a number beside the text.
fn dated(folder: &Folder) {
    let reviews = String::from_utf8(folder.read("reviews.jsonl")).unwrap();
    let lines = reviews.lines().enumerate().map(|(at, line)| {
        let mut object: Value = serde_json::from_str(line).unwrap();
        object["date"] = json!(format!("2024-01-{:02}, \"late\"", at % 28 + 1));
        if at != 1 {
            object["stars"] = json!(at % 5);
        }
        format!("{object}\n")
    });
    folder.write("dated.jsonl", lines.collect::<String>());
}

#[test]
fn every_format_says_the_same() {
    let folder = Folder::with_models();
    dated(&folder);
    let flags = "--limit-docs 5 --assign --uncertainty --tokens --pass-through date,stars";
    let lines = run(&folder, &format!("infer text.gbs dated.jsonl {flags} --digits 17")).ok().json_lines();
    let csv =
        run(&folder, &format!("infer text.gbs dated.jsonl {flags} --digits 17 --output-format csv")).ok();
    run(&folder, &format!("infer text.gbs dated.jsonl {flags} -o mixtures.parquet")).ok();
    let (names, rows) = read_parquet(folder.read("mixtures.parquet"));
    let expected = "id index tokens out_of_vocabulary_tokens date stars topic confidence topic_0 spread_0 topic_1 \
                    spread_1 topic_2 spread_2 token_topics";
    assert_eq!(names.join(" "), expected);
    let mut csv = csv::Reader::from_reader(csv.stdout.as_bytes());
    assert_eq!(csv.headers().unwrap().iter().collect::<Vec<_>>().join(" "), expected);
    let records: Vec<csv::StringRecord> = csv.records().map(Result::unwrap).collect();
    assert_eq!((lines.len(), records.len(), rows.len()), (5, 5, 5));
    for ((line, record), row) in lines.iter().zip(&records).zip(&rows) {
        let theta = line["theta"].as_array().unwrap();
        for topic in 0..3 {
            let share = theta[topic].as_f64().unwrap();
            assert_eq!(record[8 + 2 * topic].parse::<f64>().unwrap(), share);
            assert_eq!(row[8 + 2 * topic], Field::Double(share));
            assert_eq!(row[9 + 2 * topic], Field::Double(line["spread"][topic].as_f64().unwrap()));
        }
        assert_eq!(row[0], Field::Str(line["id"].as_str().unwrap().into()));
        assert_eq!(&record[4], line["date"].as_str().unwrap());
        assert_eq!(row[6], Field::Long(line["topic"].as_i64().unwrap()));
        assert_eq!(row[7], Field::Double(line["confidence"].as_f64().unwrap()));
        assert_eq!(serde_json::from_str::<Value>(&record[14]).unwrap(), line["token_topics"]);
    }
    assert_eq!((&lines[0]["stars"], &lines[1]["stars"]), (&json!(0), &Value::Null));
    assert_eq!((&rows[0][5], &rows[1][5]), (&Field::Str("0".into()), &Field::Null));
}

#[test]
fn a_document_is_assigned_to_the_topic_that_stands_out() {
    let folder = Folder::with_models();
    let topics = run(&folder, "topics text.gbs --json").ok().json();
    let shares: Vec<f64> = (0..3).map(|k| topics["topics"][k]["share"].as_f64().unwrap()).collect();
    let lines = run(&folder, "infer text.gbs reviews.jsonl --assign --digits 17").ok().json_lines();
    for line in &lines {
        let usual = 2.0 / 3.0;
        let weight = |k: usize| line["theta"][k].as_f64().unwrap() / shares[k].max(usual).sqrt();
        let best = (0..3).max_by(|&a, &b| weight(a).total_cmp(&weight(b))).unwrap();
        let sum: f64 = (0..3).map(weight).sum();
        assert_eq!(line["topic"], best);
        assert!((line["confidence"].as_f64().unwrap() - weight(best) / sum).abs() < 1e-12);
    }
    let short = run(&folder, "infer text.gbs reviews.jsonl --assign --top 0 --limit-docs 1").ok().json();
    assert_eq!(short["topic"], lines[0]["topic"]);
    assert!(short.get("theta").is_none());
}

#[test]
fn a_field_that_no_document_has_is_mentioned() {
    let folder = Folder::with_models();
    let ran = run(&folder, "infer text.gbs reviews.jsonl --limit-docs 2 --pass-through dat").ok();
    assert_eq!(ran.stderr, "warning: no document has a field `dat`, which --pass-through asks for\n");
    assert_eq!(ran.json_lines()[0]["dat"], Value::Null);
}

#[test]
fn numbers_have_six_digits_unless_more_are_asked_for() {
    let folder = Folder::with_models();
    let short = run(&folder, "infer text.gbs reviews.jsonl --limit-docs 3").ok();
    let exact = run(&folder, "infer text.gbs reviews.jsonl --limit-docs 3 --digits 17").ok();
    for (short, exact) in short.json_lines().iter().zip(exact.json_lines()) {
        for k in 0..3 {
            let (short, exact) = (short["theta"][k].as_f64().unwrap(), exact["theta"][k].as_f64().unwrap());
            assert!((short / exact - 1.0).abs() < 1e-5 && short.to_string().len() <= 12, "{short} {exact}");
        }
    }
}

#[test]
fn text_files_are_documents() {
    let folder = Folder::with_models();
    std::fs::create_dir_all(folder.path().join("notes/deep")).unwrap();
    let texts = String::from_utf8(folder.read("reviews.txt")).unwrap();
    for (at, text) in texts.lines().enumerate() {
        folder.write(&format!("notes/{at:03}.txt"), text.replacen(' ', "\n", 2));
    }
    folder.write("notes/ignored.md", "something else");
    let note = "120 text files are read as one document each (--format text reads one document per line)";
    let lines = run(&folder, "infer text.gbs reviews.txt --format text").ok().json_lines();
    for input in ["notes", "notes/*.txt"] {
        let ran = run(&folder, &format!("infer text.gbs {input}")).ok();
        assert_eq!(ran.stderr.lines().next(), Some(note));
        for (found, expected) in ran.json_lines().iter().zip(&lines) {
            assert_eq!(found["theta"], expected["theta"]);
        }
        assert_eq!(ran.json_lines().len(), 120);
        assert_eq!(ran.json_lines()[7]["id"], "007.txt");
    }
    // The text can be kept, and the same files can be read line by line.
    let kept = run(&folder, "infer text.gbs notes --limit-docs 1 --pass-through text -q").ok().json();
    assert!(texts.starts_with(&kept["text"].as_str().unwrap().replace('\n', " ")));
    let by_line = run(&folder, "infer text.gbs notes/*.txt --format text").ok();
    assert_eq!((by_line.json_lines().len(), by_line.stderr.as_str()), (360, ""));
    // Long files of a pattern have a document a line, as before.
    folder.write("notes/zzz.txt", "word ".repeat(20_000));
    assert_eq!(run(&folder, "infer text.gbs notes/*.txt").ok().stderr, "");
    // An empty file is an empty document.
    folder.write("notes/zzz.txt", "");
    assert_eq!(run(&folder, "infer text.gbs notes").ok().json_lines()[120]["tokens"], 0);
}

#[test]
fn filters_say_what_they_dropped() {
    let folder = Folder::new();
    folder.write("t.txt", "the cat and the dog\na cat sat\na dog ran\ncat x\nzebra\n".repeat(4));
    let ran =
        run(&folder, "train t.txt --topics 2 --batch 2 --min-df 5 --max-df 0.5 --max-vocab 1 --out m.gbs")
            .ok();
    let told = ran.stderr.lines().next().unwrap();
    assert_eq!(
        told,
        "read 20 documents in English: 1 of 5 distinct words kept; dropped 20 tokens by --stop-words, 4 tokens by \
         --min-length, 3 words by --min-df 5, 1 words by --max-df 0.5"
    );
    assert!(
        ran.stderr.contains("12 documents have no word of the vocabulary and were not used"),
        "{}",
        ran.stderr
    );
}

#[test]
fn passes_are_not_documents() {
    let folder = Folder::with_corpora();
    let ran = run(&folder, "train reviews.jsonl --topics 2 --batch 20 --passes 3 --out m.gbs").ok();
    assert!(ran.stderr.contains("from 120 documents in 3 passes, "), "{}", ran.stderr);
    let report = run(&folder, "train reviews.jsonl --topics 2 --batch 20 --passes 3 --json").ok().json();
    assert_eq!((&report["documents"], &report["passes"]), (&json!(120), &json!(3)));
    let further =
        run(&folder, "train reviews.txt --format text --continue m.gbs --passes 2 --json").ok().json();
    assert_eq!((&further["documents"], &further["passes"]), (&json!(480), &json!(2)));
}

#[test]
fn tables_fit_a_plain_terminal() {
    let folder = Folder::with_models();
    let table = run(&folder, "topics text.gbs --words 30 --documents reviews.jsonl").ok().stdout;
    assert!(table.lines().all(|line| line.chars().count() <= 80), "{table}");
    let words = run(&folder, "topics text.gbs --words 30 --json").ok().json();
    for word in words["topics"][0]["words"].as_array().unwrap() {
        assert!(table.contains(word["word"].as_str().unwrap()));
    }
}

#[test]
fn topics_and_words_as_tables() {
    let folder = Folder::with_models();
    run(&folder, "export text.gbs tables --format csv").ok();
    run(&folder, "export text.gbs -o tables --format parquet").ok();
    let topics = run(&folder, "topics text.gbs --json").ok().json();
    for name in ["topics", "words"] {
        let mut csv = csv::Reader::from_path(folder.file(&format!("tables/{name}.csv"))).unwrap();
        let headers: Vec<String> = csv.headers().unwrap().iter().map(str::to_owned).collect();
        let (columns, rows) = read_parquet(folder.read(&format!("tables/{name}.parquet")));
        assert_eq!(columns, headers);
        let records: Vec<csv::StringRecord> = csv.records().map(Result::unwrap).collect();
        assert_eq!(records.len(), rows.len());
        for (record, row) in records.iter().zip(&rows) {
            for (text, field) in record.iter().zip(row) {
                match field {
                    Field::Str(value) => assert_eq!(text, value),
                    Field::Long(value) => assert_eq!(text, value.to_string()),
                    Field::Double(value) => assert_eq!(text.parse::<f64>().unwrap(), *value),
                    other => panic!("{other}"),
                }
            }
        }
        if name == "topics" {
            for (at, record) in records.iter().enumerate() {
                let topic = &topics["topics"][at];
                assert_eq!(record[1].parse::<f64>().unwrap(), topic["share"].as_f64().unwrap());
                assert!(record[5].starts_with(topic["words"][0]["word"].as_str().unwrap()));
            }
        } else {
            let column = |k: usize| records.iter().map(move |record| record[2 + k].parse::<f64>().unwrap());
            for k in 0..3 {
                assert!((column(k).sum::<f64>() - 1.0).abs() < 1e-9);
            }
        }
    }
}

#[test]
fn ldavis_gets_what_it_checks_for() {
    let folder = Folder::with_models();
    for (flags, documents) in [("", 3), ("--documents reviews.jsonl", 120)] {
        run(&folder, &format!("export text.gbs vis --format ldavis {flags}")).ok();
        let data: Value = serde_json::from_slice(&folder.read("vis/ldavis.json")).unwrap();
        let rows = |name: &str| data[name].as_array().unwrap().clone();
        assert_eq!((rows("topic_term_dists").len(), rows("doc_topic_dists").len()), (3, documents));
        assert_eq!(
            (rows("vocab").len(), rows("term_frequency").len(), rows("doc_lengths").len()),
            (30, 30, documents)
        );
        for row in rows("topic_term_dists").iter().chain(&rows("doc_topic_dists")) {
            let sum: f64 = row.as_array().unwrap().iter().map(|share| share.as_f64().unwrap()).sum();
            assert!((sum - 1.0).abs() < 1e-9);
        }
        // The weights of the topics are about the same, whoever gives them.
        let topics = run(&folder, "topics text.gbs --json").ok().json();
        let tokens: f64 = rows("doc_lengths").iter().map(|length| length.as_f64().unwrap()).sum();
        for k in 0..3 {
            let mixtures = rows("doc_topic_dists");
            let of_topic = mixtures.iter().zip(rows("doc_lengths"));
            let weight: f64 =
                of_topic.map(|(row, length)| row[k].as_f64().unwrap() * length.as_f64().unwrap()).sum();
            let share = topics["topics"][k]["share"].as_f64().unwrap();
            assert!((weight / tokens - share).abs() < 0.1, "topic {k}: {} {share}", weight / tokens);
        }
    }
}
