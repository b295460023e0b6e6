//! Bad input and wrong usage: the exact words, and exit code 2.

use crate::support::{Folder, run, run_with};

#[test]
fn inputs_that_are_not_there_or_empty() {
    let folder = Folder::with_models();
    folder.write("empty.txt", "");
    std::fs::create_dir(folder.file("nothing")).unwrap();
    for (input, text) in [
        ("missing.txt", "missing.txt: cannot open: No such file or directory (os error 2)"),
        ("empty.txt", "empty.txt: contains no documents; check that this is the right file"),
        (
            "nothing",
            "nothing: is a folder without a docword file (docword.txt, also .gz, .zst, .bz2 or .xz); \
             name a file inside it, or a folder with a UCI corpus",
        ),
    ] {
        run(&folder, &format!("train {input} --topics 3 --out m.gbs")).refused(text);
        run(&folder, &format!("evaluate uci.gbs {input}")).refused(text);
        run(&folder, &format!("infer uci.gbs {input}")).refused(text);
        run(&folder, &format!("inspect {input}")).refused(text);
        run(&folder, &format!("topics uci.gbs --documents {input}")).refused(text);
    }
    assert!(!folder.file("m.gbs").exists());
}

#[test]
fn broken_lines_are_located() {
    let folder = Folder::new();
    folder.write("latin.txt", b"fine words\nna\xefve words\n");
    run(&folder, "train latin.txt --topics 2 --json").refused(
        "latin.txt:2: is not UTF-8 text at byte 3 of the line; convert the file to UTF-8, for example with `iconv`",
    );
    folder.write("broken.jsonl", "{\"text\": \"fine words\"}\n{\"text\": \"cut o\n");
    run(&folder, "train broken.jsonl --topics 2 --json").refused(
        "broken.jsonl:2: is not valid JSON at column 15: EOF while parsing a string; \
         every line must hold one whole JSON object",
    );
    folder.write("body.jsonl", "{\"body\": \"some words\"}\n");
    run(&folder, "train body.jsonl --topics 2 --json").refused(
        "body.jsonl:1: has no field `text` (fields: `body`); name the field that holds the text with --text-field",
    );
    let report = run(&folder, "train body.jsonl --text-field body --topics 2 --json").ok().json();
    assert_eq!(report["documents"], 1);
    folder.write("docword.txt", "2\n3\n2\n1 1 1\n2 9 1\n");
    folder.write("vocab.txt", "a\nb\nc\n");
    let ran = run(&folder, "train docword.txt --topics 2 --json");
    assert!(ran.stderr.starts_with("error: docword.txt:5: "), "{}", ran.stderr);
    assert_eq!(ran.code, Some(2));
}

#[test]
fn settings_that_make_no_sense() {
    let folder = Folder::with_corpora();
    let corpus = "reviews.txt --out m.gbs --topics";
    for (flags, text) in [
        (
            format!("{corpus} 0"),
            "--topics: 0 is not a number of topics; choose a number from 1 to 1000000, such as 100",
        ),
        (
            "reviews.txt --out m.gbs".into(),
            "--topics: the number of topics is missing; for example --topics 100, or --model hdp to have it found",
        ),
        (
            "reviews.txt --topics 3".into(),
            "--out: the model would not be saved; name a file with --out, for example --out model.gbs",
        ),
        (format!("{corpus} 3 --batch 0"), "--batch: a minibatch has at least one document; choose 1 or more"),
        (
            format!("{corpus} 3 --batch 9..2"),
            "--batch: 9..2 does not grow; put the smaller number first, as in 100..1000",
        ),
        (
            format!("{corpus} 3 --sweeps 0"),
            "--sweeps: 0 is not a number of sweeps; choose at least 1, such as 20",
        ),
        (format!("{corpus} 3 --kappa 2"), "--kappa: 2 is not in [0, 1]; choose a value in that range"),
        (
            format!("{corpus} 3 --kappa 0.7 --step incremental"),
            "--kappa: cannot be combined with --step; leave one of the two out",
        ),
        (format!("{corpus} 3 --passes 0"), "--passes: 0 passes would learn nothing; use at least 1"),
        (
            format!("{corpus} 3 --threads 0"),
            "--threads: 0 is not a number of threads; use 1 or more, or leave it out to use all cores",
        ),
        (
            format!("{corpus} 3 --max-seconds 0"),
            "--max-seconds: this leaves no time for training; use a positive number of seconds",
        ),
        (
            format!("{corpus} 3 --eval-every 2"),
            "--eval-every: there are no documents to score; hold some out with --holdout N",
        ),
        (
            format!("{corpus} 3 --holdout 10 --limit-docs 10"),
            "--holdout: no document within --limit-docs is left to learn from; read more documents, or hold fewer out",
        ),
        (
            format!("{corpus} 3 --min-df 1000"),
            "vocabulary: none of the 30 distinct words of 120 documents is left: 30 are in fewer than 1000 documents \
             (--min-df); lower --min-df",
        ),
        (
            format!("{corpus} 3 --stop-words klingon.txt"),
            "--stop-words: `klingon.txt` is neither `none`, nor a known language code, nor a file that exists; \
             use `auto`, a code such as `en`, `none`, or the path of a file with one word per line",
        ),
        (
            format!("{corpus} 3 --topic-prior 0.1 --smoothing 0.1"),
            "--smoothing: added tokens keep words from having probability zero already; leave out --smoothing or --topic-prior",
        ),
        (
            format!("{corpus} 3 --local mean-field --statistic counts"),
            "--statistic: mean field does not sample, so there is nothing to choose; leave it out, or use --local gibbs",
        ),
        (
            format!("{corpus} 3 --method v-oem --window half"),
            "--window: mean field does not sample, so there is nothing to choose; leave it out, or use --local gibbs",
        ),
        (
            format!("{corpus} 3 --statistic last --window half"),
            "--window: `--statistic last` keeps the last sweep alone; use --statistic counts",
        ),
        (
            format!("{corpus} 3 --alpha gamma=0.5,1"),
            "--alpha: a Gamma prior with shape 0.5 and rate 1 may have no mode; choose a shape of 1 or more and a rate of 0 \
             or more",
        ),
        (
            format!("{corpus} 3 --step decay=0.01,1000,0.6"),
            "--step: Langevin moves, and only they, take a decaying step that is not a weight; leave the step to the method",
        ),
    ] {
        run(&folder, &format!("train {flags}")).refused(text);
    }
    assert!(!folder.file("m.gbs").exists());
}

#[test]
fn unknown_methods_are_answered_with_the_known_ones() {
    let folder = Folder::with_corpora();
    let ran = run(&folder, "train reviews.txt --topics 3 --json --method gibbs");
    let start = "error: --method: there is no method called 'gibbs'; choose one of g-oem, g-oem++, ";
    assert!(ran.stderr.starts_with(start), "{}", ran.stderr);
    assert_eq!(ran.code, Some(2));
    for (line, part) in [
        ("train reviews.txt --model hmm", "invalid value 'hmm' for '--model <MODEL>'"),
        ("train reviews.txt --topcs 3", "a similar argument exists: '--topics'"),
        ("train reviews.txt --topics many", "invalid value 'many' for '--topics <K>'"),
        (
            "train reviews.txt --alpha magic",
            "use fixed-point, fixed-point=N, newton, gradient, gamma, gamma=SHAPE,RATE, fixed or fixed=X",
        ),
        ("train --topics 3", "<INPUT>..."),
        ("trian", "a similar subcommand exists: 'train'"),
    ] {
        let ran = run(&folder, line);
        assert!(ran.stderr.contains(part), "{line}: {}", ran.stderr);
        assert_eq!((ran.code, ran.stdout.as_str()), (Some(2), ""), "{line}");
    }
}

#[test]
fn too_few_documents_for_what_is_asked() {
    let folder = Folder::with_corpora();
    run(&folder, "train uci --topics 3 --json --holdout 300")
        .refused("--holdout: all documents are held out, and none is left for training; hold fewer out");
    run(&folder, "train reviews.txt --topics 3 --json --holdout 500").refused(
        "reviews.txt: the input holds 120 documents, and 500 were to be skipped; \
         skip fewer documents (--skip-docs, --holdout)",
    );
    run(&folder, "train uci --topics 3 --json --skip-docs 400").refused(
        "uci/docword.txt.zst: the input holds 300 documents, and 400 were to be skipped; \
         skip fewer documents (--skip-docs, --holdout)",
    );
}

#[test]
fn sizes_beyond_this_machine() {
    let folder = Folder::new();
    folder.write("vocab.txt", (0..200_000).map(|word| format!("w{word}\n")).collect::<String>());
    folder.write("text.txt", "w1 w2 w3\n");
    let ran = run(&folder, "train text.txt --vocab vocab.txt --topics 1000000 --json");
    let start = "error: --topics: 1,000,000 topics of 200,000 words take 1.46 TiB, and this machine has ";
    assert!(ran.stderr.starts_with(start), "{}", ran.stderr);
    assert_eq!(ran.code, Some(2));
}

#[test]
fn models_that_are_damaged_or_something_else() {
    let folder = Folder::with_models();
    let good = folder.read("text.gbs");
    let mut flipped = good.clone();
    let middle = good.len() / 2;
    flipped[middle] ^= 1;
    folder.write("flipped.gbs", &flipped);
    folder.write("cut.gbs", &good[..good.len() - 1]);
    folder.write("other.gbs", "this is not a model at all");
    let advice = "train the model again or take a copy that is whole";
    let damaged = "its checksum does not match its content, so it is damaged or incomplete";
    for (file, problem) in [
        ("flipped.gbs", damaged),
        ("cut.gbs", damaged),
        ("other.gbs", "it is cut off, or it does not begin like one"),
    ] {
        let text = format!("{file}: not a usable model file: {problem}; {advice}");
        run(&folder, &format!("topics {file}")).refused(&text);
        run(&folder, &format!("evaluate {file} reviews.txt")).refused(&text);
        run(&folder, &format!("infer {file} reviews.txt")).refused(&text);
        run(&folder, &format!("export {file} out")).refused(&text);
    }
    run(&folder, "inspect flipped.gbs")
        .refused(&format!("flipped.gbs: not a usable model file: {damaged}; {advice}"));
    run(&folder, "topics missing.gbs")
        .refused("missing.gbs: cannot open: No such file or directory (os error 2)");
}

#[test]
fn places_that_cannot_be_written_are_noticed_before_training() {
    let folder = Folder::with_corpora();
    run(&folder, "train uci --topics 3 --out nowhere/m.gbs")
        .refused("nowhere/m.gbs: cannot create: No such file or directory (os error 2)");
    run(&folder, "train uci --topics 3 --out uci").refused("uci: cannot write: is a directory");
    run(&folder, "train uci --topics 3 --json --log nowhere/log")
        .refused("nowhere/log: cannot create: No such file or directory (os error 2)");
}

#[test]
fn flags_of_the_other_commands() {
    let folder = Folder::with_models();
    run(&folder, "evaluate uci.gbs uci --particles 0")
        .refused("--particles: an estimate needs particles; ask for at least 1; 20 is the default");
    run(&folder, "topics uci.gbs --lambda 2")
        .refused("--lambda: 2 is not in [0, 1]; use 1 for frequent words, 0.6 for typical ones");
    run(&folder, "train uci --model hdp --paper").refused(
        "--paper: the paper's settings do not find a number of topics; leave it out; docs/hdp.md says how they differ",
    );
    run(&folder, "train uci --continue uci.gbs --paper").refused(
        "--paper: a continued model keeps its settings; leave it out, or name the --method to \
         continue with",
    );
    run(&folder, "infer uci.gbs uci --top 0")
        .refused("--top: 0 shares would be written; use at least 1, or add --assign");
    run(&folder, "infer uci.gbs uci --sweeps 0")
        .refused("--sweeps: 0 is not a number of sweeps; use for example 100");
    run(&folder, "infer uci.gbs uci --output-format csv --json")
        .refused("--json: is JSON lines; leave it or --output-format out");
    run(&folder, "infer uci.gbs uci --digits 0")
        .refused("--digits: 0 is not a number of digits; use for example 6");
    run(&folder, "infer uci.gbs uci --pass-through date").refused(
        "uci/docword.txt.zst: holds counts, which have no field `date`; leave the field out, or give text, JSON \
         lines, CSV or Parquet",
    );
    run(&folder, "export uci.gbs out --documents uci")
        .refused("--documents: npy shows no documents; leave it out, or use --format ldavis");
    run(&folder, "synth --docs 0 --out s")
        .refused("--docs: a corpus has at least one document; for example --docs 10000");
    run(&folder, "synth --topics 0 --out s")
        .refused("--topics: there is no topic to draw from; use at least 1");
    run(&folder, "synth --vocab 0 --out s").refused("--vocab: the vocabulary has no words; use at least 1");
    run(&folder, "synth --alpha -1 --out s");
    run(&folder, "synth --length 2.5 --fixed-length --out s")
        .refused("--length: 2.5 is not a whole number of tokens; use one, or leave --fixed-length out");
    let ran = run_with(&folder, "completions tcsh", |_| {});
    assert!(ran.stderr.contains("possible values: bash, elvish, fish, powershell, zsh"), "{}", ran.stderr);
    assert_eq!(ran.code, Some(2));
}
