//! Raw text: markup, addresses, languages, phrases, and limits that adapt.

use crate::support::{Folder, run, run_with};

const GERMAN: &str = "Das Schiff verließ den Hafen am Morgen, und niemand war da, um es zu sehen.\n\
                      Am Abend kam das Schiff mit vielen Leuten zurück in den Hafen der Stadt.\n";

#[test]
fn what_is_no_text_is_dropped_and_told() {
    let folder = Folder::new();
    let line = "<p>The Fed&#8217;s rate didn&#8217;t rise in 2024.<br/>See https://example.com/rates</p>\n";
    folder.write("page.txt", line.repeat(20));
    let ran = run(&folder, "train page.txt --topics 2 --batch 5 --json --out m.gbs").ok();
    let report = ran.json();
    assert_eq!(report["language"], "en");
    assert_eq!(report["vocabulary"], 4, "{}", ran.stderr);
    let dropped = &report["words"]["dropped"];
    assert_eq!(
        (&dropped["markup"], &dropped["urls"], &dropped["numbers"]),
        (&60.into(), &20.into(), &20.into())
    );
    assert!(
        ran.stderr.contains("60 tags by --html, 20 URLs and email addresses, 20 numbers and ids"),
        "{}",
        ran.stderr
    );
    run(&folder, "export m.gbs out").ok();
    let mut words: Vec<String> =
        String::from_utf8(folder.read("out/vocab.txt")).unwrap().lines().map(str::to_owned).collect();
    words.sort();
    assert_eq!(words, ["didn't", "fed", "rate", "rise"]);
    // The model cuts new text in the same way.
    folder.write("new.txt", "<b>Fed</b> rates &amp; the fed's rate\n");
    let mixture = &run(&folder, "infer m.gbs new.txt").ok().json_lines()[0];
    assert_eq!((&mixture["tokens"], &mixture["out_of_vocabulary_tokens"]), (&3.into(), &1.into()));
    let kept =
        run(&folder, "train page.txt --topics 2 --batch 5 --json --html keep --keep-urls --stop-words none")
            .ok()
            .json();
    assert!(kept["vocabulary"].as_u64().unwrap() > 10);
}

#[test]
fn the_language_is_found_told_and_kept() {
    let folder = Folder::new();
    folder.write("hafen.txt", GERMAN.repeat(30));
    let line = "train hafen.txt --topics 2 --batch 10 --json --out m.gbs";
    let ran = run(&folder, line).ok();
    assert_eq!(ran.json()["language"], "de");
    assert!(ran.stderr.starts_with("read 60 documents in German: "), "{}", ran.stderr);
    assert!(run(&folder, "inspect m.gbs").ok().stdout.contains(", German"));
    // As a stream it is found in the first documents, with the same result however it is read.
    let stream = "--topics 2 --batch 10 --json --vocab-mode grow --mode stream";
    let piped = run_with(&folder, &format!("train - --format text {stream}"), |command| {
        command.write_stdin(GERMAN.repeat(30));
    })
    .ok();
    assert_eq!(piped.stderr.lines().next().unwrap(), "the documents are in German (--language)");
    let file = run(&folder, &format!("train hafen.txt {stream}")).ok().json();
    assert_eq!((&piped.json()["language"], &piped.json()["model_hash"]), (&"de".into(), &file["model_hash"]));
    // English stop words are not for it, unless they are asked for.
    let words =
        |flags: &str| run(&folder, &format!("{line} {flags}")).ok().json()["vocabulary"].as_u64().unwrap();
    assert!(words("--language en") > words(""));
    assert_eq!(words("--language en"), words("--stop-words en"));
    run(&folder, "train hafen.txt --topics 2 --json --language klingon").refused(
        "--language: `klingon` is not the code of a language that is known; use `auto` or a code of two letters, such as \
         `en`, `de`, `es` or `zh`",
    );
}

#[test]
fn phrases_are_words_and_need_a_reading_of_their_own() {
    let folder = Folder::new();
    let others =
        ["ships sail far", "boats sail near", "ports close late", "cranes lift ships", "boats close ports"];
    folder.write("york.txt", "new york harbour\n".repeat(10) + &(others.join("\n") + "\n").repeat(4));
    let ran = run(&folder, "train york.txt --topics 2 --batch 5 --json --phrases --out m.gbs").ok();
    assert!(ran.stderr.contains("phrases are treated as words (--phrases)"), "{}", ran.stderr);
    run(&folder, "export m.gbs out").ok();
    let words = String::from_utf8(folder.read("out/vocab.txt")).unwrap();
    assert!(words.contains("new_york\n") && !words.contains("\nyork\n"), "{words}");
    let refused = run(&folder, "train york.txt --topics 2 --json --phrases --vocab-mode grow");
    refused.refused(
        "--phrases: words would have to be counted before learning; leave it out, or use --vocab-mode fixed",
    );
}

#[test]
fn limits_adapt_for_text_and_counts_keep_all() {
    let folder = Folder::with_corpora();
    let report = run(&folder, "train reviews.txt --topics 2 --json").ok().json();
    assert_eq!(
        (&report["words"]["min_documents"], &report["words"]["max_document_share"]),
        (&1.into(), &1.0.into())
    );
    let counts = run(&folder, "train uci --topics 2 --json").ok().json();
    assert!(counts.get("words").is_none() && counts["language"].is_null());
    folder.write("many.txt", "plot actor scene\nnovel page plot\n".repeat(600) + "once\n");
    let report = run(&folder, "train many.txt --topics 2 --json --batch 100").ok().json();
    // 1,201 documents: a word must be in two of them, and in no more than half.
    assert_eq!((&report["words"]["too_rare"], &report["words"]["too_common"]), (&1.into(), &1.into()));
    assert_eq!(report["vocabulary"], 4);
    let all = run(&folder, "train many.txt --topics 2 --json --batch 100 --min-df 1 --max-df 1").ok().json();
    assert_eq!(all["vocabulary"], 6);
}
