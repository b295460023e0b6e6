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

/// The words of a model.
fn words_of(folder: &Folder, model: &str) -> Vec<String> {
    run(folder, &format!("export {model} words-of-{model}")).ok();
    let words = String::from_utf8(folder.read(&format!("words-of-{model}/vocab.txt"))).unwrap();
    let mut words: Vec<String> = words.lines().map(str::to_owned).collect();
    words.sort();
    words
}

#[test]
fn forms_of_a_word_are_one_and_shown_as_the_most_frequent() {
    let folder = Folder::new();
    let lines = [
        "Ships sail for universities.",
        "A ship sails.",
        "Shipping; ships sailed to the university, a university.",
    ];
    folder.write("ships.txt", (lines.join("\n") + "\n").repeat(10));
    let line = "train ships.txt --topics 2 --batch 5 --json --language en";
    let stemmed = run(&folder, &format!("{line} --stem en --out m.gbs")).ok();
    // Of sail, sails and sailed, which are equally frequent, the first by spelling.
    assert_eq!(words_of(&folder, "m.gbs"), ["sail", "ships", "university"]);
    assert!(run(&folder, "inspect m.gbs").ok().stdout.contains(", stems (en)"));
    let read = run(&folder, &format!("{line} --stem english --threads 3")).ok().json();
    assert_eq!(read["model_hash"], stemmed.json()["model_hash"]);
    // New text becomes the same words, whatever their forms; other words are not known.
    folder.write("new.txt", "Shipped universities, sailing boats\n");
    let mixture = &run(&folder, "infer m.gbs new.txt").ok().json_lines()[0];
    assert_eq!((&mixture["tokens"], &mixture["out_of_vocabulary_tokens"]), (&3.into(), &1.into()));
    // The model goes on as it began; so does standard input, which is copied to be read again.
    run(&folder, "train new.txt --continue m.gbs --batch 1 --json --stem en")
        .refused("--stem: a continued model keeps its words; leave it out");
    let on = run(&folder, "train new.txt --continue m.gbs --batch 1 --json").ok().json();
    assert_eq!((&on["vocabulary"], &on["tokens"]), (&3.into(), &103.into()));
    let piped = run_with(&folder, &line.replace("ships.txt", "- --format text --stem en"), |command| {
        command.write_stdin(folder.read("ships.txt"));
    })
    .ok();
    assert_eq!(piped.json()["model_hash"], stemmed.json()["model_hash"]);
    // A vocabulary that is given says how stems are written, and one that grows has the stems.
    folder.write("vocab.txt", "shipping\nuniversity\n");
    run(&folder, &format!("{line} --stem en --vocab vocab.txt --out given.gbs")).ok();
    assert_eq!(words_of(&folder, "given.gbs"), ["shipping", "university"]);
    let mixture = &run(&folder, "infer given.gbs new.txt").ok().json_lines()[0];
    assert_eq!((&mixture["tokens"], &mixture["out_of_vocabulary_tokens"]), (&2.into(), &2.into()));
    run(&folder, &format!("{line} --stem en --vocab-mode grow --out grown.gbs")).ok();
    assert_eq!(words_of(&folder, "grown.gbs"), ["sail", "ship", "universiti"]);
    let refused = run(&folder, &format!("{line} --stem zh"));
    assert!(
        refused.stderr.contains("--stem: there is no stemmer for `zh`; use one of ar, ca, cs,"),
        "{}",
        refused.stderr
    );
    assert_eq!(refused.code, Some(2));
    run(&folder, &format!("{line} --stem en --no-lowercase"))
        .refused("--stem: stems are those of words in lower case; leave it out, or leave out --no-lowercase");
}

#[test]
fn tokens_count_by_idf_if_asked_for() {
    let folder = Folder::new();
    let rare = |line: usize| if line.is_multiple_of(10) { " lighthouse" } else { "" };
    let lines = (0..300).map(|line| {
        format!("ship harbour{} ship{line} {}\n", rare(line), if line % 2 == 0 { "sail" } else { "rope" })
    });
    folder.write("ships.txt", lines.collect::<String>());
    let line = "train ships.txt --topics 2 --batch 50 --json --max-df 1 --min-df 2";
    let plain = run(&folder, line).ok().json();
    assert_eq!(
        run(&folder, &format!("{line} --term-weights none")).ok().json()["model_hash"],
        plain["model_hash"]
    );
    let idf = run(&folder, &format!("{line} --term-weights idf --out m.gbs")).ok().json();
    assert_eq!(idf["vocabulary"], plain["vocabulary"]);
    assert_ne!(idf["model_hash"], plain["model_hash"]);
    // The mean weight is 1, and words in all documents count nothing. Equal documents are rounded alike, so the sum varies.
    let (before, after) = (plain["tokens"].as_f64().unwrap(), idf["tokens"].as_f64().unwrap());
    assert!((after / before - 1.0).abs() < 0.25, "{before} {after}");
    let again = run(&folder, &format!("{line} --term-weights idf --threads 3")).ok().json();
    assert_eq!(again["model_hash"], idf["model_hash"]);
    assert!(run(&folder, "inspect m.gbs").ok().stdout.contains("tokens count by idf"));
    // A model keeps its weights: `ship` counts nothing, wherever it is read.
    folder.write("new.txt", "ship ship ship\nlighthouse\n");
    let mixtures = run(&folder, "infer m.gbs new.txt").ok().json_lines();
    assert_eq!(mixtures[0]["tokens"], 0);
    assert!(mixtures[1]["tokens"].as_u64().unwrap() > 1);
    let scored = run(&folder, "evaluate m.gbs ships.txt --json").ok();
    assert_eq!(scored.json()["term_weights"], "idf");
    assert!(
        scored.stderr.contains("its scores cannot be compared with those of models without weights"),
        "{}",
        scored.stderr
    );
    let on = run(&folder, "train ships.txt --continue m.gbs --json").ok().json();
    assert_eq!(on["tokens"].as_f64().unwrap(), 2.0 * after);
    run(&folder, "train ships.txt --continue m.gbs --json --vocab-mode grow").refused(
        "--vocab-mode: the model weights its words, and new ones would have no weight; leave it out, or train without \
         --term-weights",
    );
    run(&folder, &format!("{} --term-weights idf --vocab-mode grow", line.split(" --max-df").next().unwrap())).refused(
        "--term-weights: words would have to be counted before learning; leave it out, or use --vocab-mode fixed",
    );
}
