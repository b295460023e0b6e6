//! `--skip-bad`: bad records are skipped and counted, and the rest gives the model of the cleaned corpus.

use crate::support::{Folder, run};
use serde_json::json;

/// Puts `bad` before some of the lines.
fn corrupted(lines: &str, bad: &[&[u8]]) -> Vec<u8> {
    let mut all = Vec::new();
    for (index, line) in lines.lines().enumerate() {
        if index % 11 == 3 {
            all.extend_from_slice(bad[index / 11 % bad.len()]);
            all.push(b'\n');
        }
        all.extend_from_slice(line.as_bytes());
        all.push(b'\n');
    }
    all
}

#[test]
fn the_model_is_that_of_the_cleaned_corpus() {
    let folder = Folder::with_corpora();
    let bad: [&[u8]; 5] = [
        b"{\"text\": \"cut o",
        b"[1, 2]",
        b"{\"body\": \"plot\"}",
        b"{\"text\": 5}",
        b"{\"text\": \"caf\xe9 plot\"}",
    ];
    folder.write("bad.jsonl", corrupted(&folder.text("reviews.jsonl"), &bad));
    for flags in ["", "--holdout 20", "--skip-docs 15 --limit-docs 90 --passes 2", "--min-df 3"] {
        let line = format!("--topics 3 --batch 10 --sweeps 5 --json {flags}");
        let clean = run(&folder, &format!("train reviews.jsonl {line}")).ok().json();
        let ran = run(&folder, &format!("train bad.jsonl --skip-bad {line}")).ok();
        let report = ran.json();
        assert_eq!(report["model_hash"], clean["model_hash"], "{flags}");
        assert!(clean.get("bad_records").is_none());
        if flags.is_empty() {
            let counts = json!({
                "field missing": 2, "not JSON": 3, "not UTF-8": 2, "not an object": 2, "wrong type of field": 2,
            });
            assert_eq!(report["bad_records"], counts);
            let warning = "bad records were skipped: 2 field missing, 3 not JSON, 2 not UTF-8, 2 not an object, \
                           2 wrong type of field";
            assert_eq!(report["warnings"], json!([warning]));
            let read = "read 120 documents: 30 distinct words\n";
            assert_eq!(ran.stderr, format!("{read}warning: {warning}\n"));
        }
    }
    run(&folder, "train bad.jsonl --topics 3 --json").refused(
        "bad.jsonl:4: is not valid JSON at column 15: EOF while parsing a string; \
         every line must hold one whole JSON object",
    );
}

#[test]
fn text_and_counts() {
    let folder = Folder::with_corpora();
    folder.write("bad.txt", corrupted(&folder.text("reviews.txt"), &[b"plot \xff", b"\xc3\x28 novel"]));
    let line = "--topics 3 --batch 10 --sweeps 5 --json";
    let report = run(&folder, &format!("train bad.txt --skip-bad {line}")).ok().json();
    assert_eq!(
        report["model_hash"],
        run(&folder, &format!("train reviews.txt {line}")).ok().json()["model_hash"]
    );
    assert_eq!(report["bad_records"], json!({ "not UTF-8": 11 }));

    let plain = String::from_utf8(zstd::decode_all(&*folder.read("uci/docword.txt.zst")).unwrap()).unwrap();
    let lines: Vec<&str> = plain.lines().collect();
    let bad: [&[u8]; 6] = [b"1 2", b"0 1 1", b"1 9999 1", b"300 1 0", b"x y z", b"299 1 -4"];
    let entries = corrupted(&lines[3..].join("\n"), &bad);
    let count = entries.split(|&byte| byte == b'\n').count() - 1;
    let mut docword = format!("{}\n{}\n{count}\n", lines[0], lines[1]).into_bytes();
    docword.extend(entries);
    folder.write("docword.txt", docword);
    let report =
        run(&folder, &format!("train docword.txt --vocab uci/vocab.txt --skip-bad {line}")).ok().json();
    assert_eq!(report["model_hash"], run(&folder, &format!("train uci {line}")).ok().json()["model_hash"]);
    let found: u64 =
        report["bad_records"].as_object().unwrap().values().map(|count| count.as_u64().unwrap()).sum();
    assert_eq!(found, (count - (lines.len() - 3)) as u64);
    assert_eq!(report["bad_records"].as_object().unwrap().len(), 4, "{report}");
}

#[test]
fn other_commands_pass_over_them_too() {
    let folder = Folder::with_models();
    folder.write("bad.txt", b"plot actor\n\xff\nnovel page\n");
    let text = "warning: bad records were skipped: 1 not UTF-8\n";
    for line in [
        "evaluate text.gbs bad.txt",
        "infer text.gbs bad.txt",
        "inspect bad.txt",
        "topics text.gbs --documents bad.txt",
    ] {
        assert!(run(&folder, line).stderr.starts_with("error: bad.txt:2: is not UTF-8"), "{line}");
        let ran = run(&folder, &format!("{line} --skip-bad")).ok();
        assert!(ran.stderr.ends_with(text), "{line}: {}", ran.stderr);
    }
    assert_eq!(run(&folder, "inspect bad.txt --skip-bad --json").ok().json()["documents"], 2);
    folder.write("all.txt", b"\xff\n\xfe\xff\xff\n");
    run(&folder, "train all.txt --skip-bad --topics 2 --json")
        .refused("all.txt: contains no documents; check that this is the right file");
}
