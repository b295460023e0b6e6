//! Each command with good input.

use crate::support::{Folder, program, run, run_with};
use serde_json::Value;

#[test]
fn train_writes_a_model_and_says_so() {
    let folder = Folder::with_corpora();
    let ran = run(&folder, "train reviews.txt --topics 3 --batch 10 --out m.gbs").ok();
    assert_eq!(ran.stdout, "", "nothing is data here");
    assert!(
        ran.stderr
            .starts_with("read 120 documents: 30 distinct words\n3 topics of 30 words from 120 documents, "),
        "{}",
        ran.stderr
    );
    assert!(
        ran.stderr.ends_with("written to m.gbs\nread them with: gibbstream topics m.gbs\n"),
        "{}",
        ran.stderr
    );
    assert_eq!(run(&folder, "train reviews.txt --topics 3 --batch 10 --out m.gbs -q").ok().stderr, "");
}

#[test]
fn topics_are_those_of_the_text() {
    let folder = Folder::with_models();
    let ran = run(&folder, "topics text.gbs --words 4 --json").ok().json();
    let groups = [
        "plot actor scene director camera script movie film screen drama",
        "chapter author novel page story reader poem prose book verse",
        "guitar drum melody chorus album singer band concert song rhythm",
    ];
    for topic in ran["topics"].as_array().unwrap() {
        let words: Vec<&str> =
            topic["words"].as_array().unwrap().iter().map(|word| word["word"].as_str().unwrap()).collect();
        assert_eq!(words.len(), 4);
        assert!(groups.iter().any(|group| words.iter().all(|word| group.contains(word))), "{words:?}");
    }
    let shares: f64 =
        ran["topics"].as_array().unwrap().iter().map(|topic| topic["share"].as_f64().unwrap()).sum();
    assert!((shares - 1.0).abs() < 1e-9);
    let table = run(&folder, "topics text.gbs").ok().stdout;
    assert!(table.starts_with("topic   share   alpha  effective  exclusive  words\n"), "{table}");
    let topics = |line: &&str| line.split_whitespace().next().is_some_and(|word| word.parse::<u32>().is_ok());
    assert_eq!(table.lines().filter(topics).count(), 3, "{table}");
    assert!(table.lines().all(|line| line.chars().count() <= 80), "{table}");
}

#[test]
fn topics_lambda_and_typical_documents() {
    let folder = Folder::with_models();
    run(&folder, "topics text.gbs --lambda 0.5").ok();
    let ran = run(&folder, "topics text.gbs --documents reviews.jsonl --examples 2 --json").ok().json();
    let mut things = Vec::new();
    for topic in ran["topics"].as_array().unwrap() {
        let documents = topic["documents"].as_array().unwrap();
        assert_eq!(documents.len(), 2);
        assert!(documents[0]["weight"].as_f64() >= documents[1]["weight"].as_f64());
        let index = documents[0]["index"].as_u64().unwrap();
        assert_eq!(documents[0]["id"], format!("r{index}"));
        things.push(index % 3);
    }
    things.sort_unstable();
    assert_eq!(things, [0, 1, 2], "each topic has documents about its own thing");
}

#[test]
fn evaluate_beats_the_unigram_baseline() {
    let folder = Folder::with_models();
    let ran = run(&folder, "evaluate text.gbs reviews.txt --json").ok();
    assert_eq!(ran.stderr, "");
    let score = ran.json();
    assert!(
        score["log_perplexity_per_document"].as_f64() < score["unigram_log_perplexity_per_document"].as_f64()
    );
    assert_eq!((&score["documents"], &score["estimator"]), (&120.into(), &"smc".into()));
    assert!(score["particles"].as_u64() >= Some(20) && score["monte_carlo_error"].is_f64(), "{score}");
    let given = run(&folder, "evaluate text.gbs reviews.txt --json --particles 30").ok().json();
    assert_eq!(given["particles"], 30);
    let table = run(&folder, "evaluate text.gbs reviews.txt").ok().stdout;
    assert!(table.starts_with("log-perplexity per document  "), "{table}");
    for estimator in ["left-to-right", "ais"] {
        let line = format!("evaluate text.gbs reviews.txt --estimator {estimator} --particles 3 --json");
        assert_eq!(run(&folder, &line).ok().json()["estimator"], estimator);
    }
}

#[test]
fn evaluate_warns_about_a_model_that_is_worse_than_word_frequencies() {
    let folder = Folder::with_corpora();
    folder.write("one.txt", "plot plot plot plot\nnovel novel novel novel\n".repeat(100));
    folder.write("mixed.txt", "plot novel plot novel plot novel\n".repeat(5));
    folder.train("one.txt --topics 2 --alpha fixed=0.001 --out one.gbs");
    let ran = run(&folder, "evaluate one.gbs mixed.txt --json").ok();
    assert_eq!(
        ran.stderr,
        "warning: the model predicts these documents worse than word frequencies alone do (unigram)\n"
    );
    assert_eq!(run(&folder, "evaluate one.gbs mixed.txt --json -q").ok().stderr, "");
}

#[test]
fn infer_writes_one_mixture_per_document() {
    let folder = Folder::with_models();
    let lines = run(&folder, "infer text.gbs reviews.jsonl").ok().json_lines();
    assert_eq!(lines.len(), 120);
    for (index, line) in lines.iter().enumerate() {
        assert_eq!((&line["id"], &line["index"]), (&format!("r{index}").into(), &index.into()));
        let theta: Vec<f64> =
            line["theta"].as_array().unwrap().iter().map(|share| share.as_f64().unwrap()).collect();
        assert_eq!(theta.len(), 3);
        assert!((theta.iter().sum::<f64>() - 1.0).abs() < 1e-5);
    }
    // Documents are inferred alone or in company with the same result.
    let alone = run(&folder, "infer text.gbs reviews.jsonl --skip-docs 7 --limit-docs 1").ok().json();
    assert_eq!(alone["theta"], lines[7]["theta"]);
    assert_eq!(alone["index"], 0);
}

#[test]
fn infer_has_sparse_detailed_and_tabular_forms() {
    let folder = Folder::with_models();
    let full = run(&folder, "infer text.gbs reviews.jsonl --limit-docs 1 --uncertainty --tokens").ok().json();
    assert_eq!(full["spread"].as_array().unwrap().len(), 3);
    assert_eq!(full["token_topics"].as_array().unwrap().len() as u64, full["tokens"].as_u64().unwrap());
    let sparse =
        run(&folder, "infer text.gbs reviews.jsonl --limit-docs 1 --top 2 --uncertainty").ok().json();
    let top = sparse["theta"].as_array().unwrap();
    assert_eq!(top.len(), 2);
    assert!(top[0]["weight"].as_f64() >= top[1]["weight"].as_f64() && top[0]["spread"].is_f64());
    let csv = run(&folder, "infer text.gbs reviews.jsonl --limit-docs 2 --output-format csv").ok().stdout;
    let mut lines = csv.lines();
    assert_eq!(lines.next(), Some("id,index,tokens,out_of_vocabulary_tokens,topic_0,topic_1,topic_2"));
    assert!(lines.next().unwrap().starts_with("r0,0,"));
    let csv =
        run(&folder, "infer text.gbs reviews.jsonl --limit-docs 1 --output-format csv --top 1").ok().stdout;
    assert!(csv.starts_with("id,index,tokens,out_of_vocabulary_tokens,topic_1,weight_1\nr0,0,"), "{csv}");
    let marked = run(&folder, "infer text.gbs reviews.jsonl --limit-docs 1 --json").ok().json();
    assert_eq!(marked["schema"], "gibbstream/infer/1");
}

#[test]
fn words_that_a_model_does_not_know_are_counted() {
    let folder = Folder::with_models();
    let ran = run_with(&folder, "infer text.gbs - --format text", |command| {
        command.write_stdin("plot actor zebra\n\nzebra zebra\n");
    });
    let counts: Vec<(u64, u64)> = ran
        .ok()
        .json_lines()
        .iter()
        .map(|line| (line["tokens"].as_u64().unwrap(), line["out_of_vocabulary_tokens"].as_u64().unwrap()))
        .collect();
    assert_eq!(counts, [(2, 1), (0, 0), (0, 2)]);
}

#[test]
fn inspect_tells_models_from_corpora() {
    let folder = Folder::with_models();
    let model = run(&folder, "inspect text.gbs --json").ok().json();
    assert_eq!(
        (&model["kind"], &model["checksum"], &model["topics"]),
        (&"model".into(), &"ok".into(), &3.into())
    );
    assert_eq!(model["history"][0]["inputs"][0], "reviews.jsonl");
    assert!(
        run(&folder, "inspect text.gbs").ok().stdout.starts_with("text.gbs: a topic model, checksum ok\n")
    );
    let corpus = run(&folder, "inspect uci --json").ok().json();
    assert_eq!(
        (&corpus["kind"], &corpus["format"], &corpus["documents"]),
        (&"corpus".into(), &"uci".into(), &300.into())
    );
    assert_eq!(corpus["vocabulary"], 60);
    let corpus = run(&folder, "inspect reviews.txt --json").ok().json();
    assert_eq!(
        (&corpus["format"], &corpus["documents"], &corpus["vocabulary"]),
        (&"text".into(), &120.into(), &30.into())
    );
}

#[test]
fn synth_is_a_prefix_of_a_longer_synth() {
    let folder = Folder::new();
    let size = |docs: u64| {
        let line = format!(
            "synth --topics 3 --vocab 20 --docs {docs} --length 9 --fixed-length --seed 5 --out s{docs} --json"
        );
        run(&folder, &line).ok().json()
    };
    assert_eq!((size(10)["tokens"].as_u64(), size(20)["tokens"].as_u64()), (Some(90), Some(180)));
    for file in ["docword.txt.zst", "vocab.txt", "beta.npy", "alpha.npy"] {
        assert!(folder.file("s10").join(file).exists(), "{file}");
    }
    let read = |name: &str| zstd::decode_all(&*folder.read(name)).unwrap();
    let (short, long) = (read("s10/docword.txt.zst"), read("s20/docword.txt.zst"));
    let entries =
        |text: &[u8]| text.split(|&byte| byte == b'\n').skip(3).map(<[u8]>::to_vec).collect::<Vec<_>>();
    let (short, long) = (entries(&short), entries(&long));
    assert_eq!(short[..short.len() - 1], long[..short.len() - 1]);
}

#[test]
fn bench_measures_every_combination() {
    let folder = Folder::new();
    let line =
        "bench --method g-oem,v-oem --topics 2,5 --vocab 30,20000 --sweeps 3 --docs 35 --batch 10 --length 7";
    let result = run(&folder, &format!("{line} --threads 2 --json")).ok().json();
    let rows = result["rows"].as_array().unwrap();
    assert_eq!(rows.len(), 8);
    for row in rows {
        assert_eq!(
            (row["tokens"].as_u64(), row["sweeps"].as_u64(), row["threads"].as_u64()),
            (Some(245), Some(3), Some(2))
        );
        let rate = |name: &str| row[name].as_f64().unwrap();
        let seconds = rate("cpu_seconds");
        for (name, work) in [
            ("documents_per_cpu_second", 35.0),
            ("tokens_per_cpu_second", 245.0),
            ("token_sweeps_per_cpu_second", 735.0),
        ] {
            assert!((rate(name) * seconds / work - 1.0).abs() < 1e-9, "{name}");
        }
    }
    assert_eq!((&rows[0]["method"], &rows[7]["method"]), (&"g-oem".into(), &"v-oem".into()));
    assert_eq!((&rows[0]["topics"], &rows[2]["topics"]), (&2.into(), &5.into()));
    assert_eq!((&rows[0]["vocabulary"], &rows[1]["vocabulary"]), (&30.into(), &20_000.into()));
    let table = run(&folder, line).ok();
    assert_eq!(table.stdout.lines().count(), 9, "{}", table.stdout);
    for (line, reason) in [
        ("bench --topics 0", "--topics: 0 leaves nothing to measure"),
        ("bench --method batch-vem", "takes the whole corpus at once"),
        ("bench --method lda", "lda"),
    ] {
        assert!(run(&folder, line).stderr.contains(reason), "{line}");
    }
}

#[test]
fn every_method_trains() {
    let folder = Folder::with_corpora();
    let methods = run(&folder, "methods --json").ok().json();
    let names: Vec<&str> = methods["methods"]
        .as_array()
        .unwrap()
        .iter()
        .map(|method| method["name"].as_str().unwrap())
        .collect();
    assert!(names.contains(&"g-oem") && names.contains(&"g-oem++"), "{names:?}");
    for name in names {
        let report = folder.train(&format!("uci --topics 3 --passes 2 --method {name}"));
        assert_eq!((&report["method"], &report["documents"]), (&Value::from(name), &300.into()), "{name}");
    }
    let table = run(&folder, "methods").ok().stdout;
    assert!(table.starts_with("g-oem      "), "{table}");
}

#[test]
fn parts_of_a_method_can_be_changed() {
    let folder = Folder::with_corpora();
    let paper = |flags: &str| folder.hash(&format!("uci --topics 3 --paper {flags}"));
    let plain = paper("");
    for flags in [
        "--kappa 0.7",
        "--offset 5",
        "--tau 0.5",
        "--step constant=0.1",
        "--step incremental",
        "--alpha fixed",
        "--alpha fixed=0.3",
        "--alpha newton",
        "--alpha gamma",
        "--averaging uniform",
        "--averaging tail=3",
        "--boost",
        "--smoothing 0.01",
        "--local mean-field",
        "--local mh",
        "--global bayes",
        "--global bayes --topic-prior 0.2",
        "--statistic counts",
        "--statistic last",
        "--statistic in-sweep",
        "--batch 30",
        "--sweeps 7",
        "--seed 1",
        "--global langevin --alpha fixed",
    ] {
        assert_ne!(paper(flags), plain, "{flags}");
    }
    for flags in ["--no-boost", "--boost --no-boost", "--total-docs 7", "--threads 1"] {
        assert_eq!(paper(flags), plain, "{flags}");
    }
    assert_eq!(paper("--boost"), folder.hash("uci --topics 3 --method g-oem++"));
    let usual = folder.hash("uci --topics 3");
    assert_ne!(usual, plain);
    assert_eq!(folder.hash("uci --components 3"), usual);
}

#[test]
fn held_out_documents_are_neither_learnt_from_nor_counted() {
    let folder = Folder::with_corpora();
    let report = folder.train("uci --topics 3 --holdout 50 --eval-every 5 --log log.jsonl");
    let evaluations = report["evaluations"].as_array().unwrap();
    // 250 documents in minibatches of 20: 13 updates, scored after 5, 10 and the last.
    let updates: Vec<u64> = evaluations.iter().map(|one| one["updates"].as_u64().unwrap()).collect();
    assert_eq!(updates, [5, 10, 13]);
    assert!(evaluations.iter().all(|one| one["documents"] == 50));
    assert_eq!(report["documents"], 250);
    assert_eq!(report["model_hash"], folder.train("uci --topics 3 --skip-docs 50")["model_hash"]);
    let log: Vec<Value> = String::from_utf8(folder.read("log.jsonl"))
        .unwrap()
        .lines()
        .map(|line| serde_json::from_str(line).unwrap())
        .collect();
    let kinds = |kind: &str| log.iter().filter(|line| line["kind"] == kind).count();
    assert_eq!((kinds("minibatch"), kinds("evaluation")), (13, 3));
    for field in ["t", "documents", "tokens", "rho", "alpha_sum", "tokens_per_second", "cpu_seconds"] {
        assert!(log[0][field].is_number(), "{field}");
    }
    // A word that only the held-out documents have is not in the vocabulary.
    let mut text = "zebra plot\n".to_owned();
    text.push_str(&String::from_utf8(folder.read("reviews.txt")).unwrap());
    folder.write("zebra.txt", text);
    assert_eq!(folder.train("zebra.txt --topics 2 --holdout 1")["vocabulary"], 30);
    let curve = run(&folder, "train uci --topics 3 --holdout 50 --out m.gbs").ok().stderr;
    assert!(curve.starts_with("held-out after 250 documents: "), "{curve}");
}

#[test]
fn a_dry_run_says_what_would_happen_and_writes_nothing() {
    let folder = Folder::with_corpora();
    let plan = run(&folder, "train uci --topics 7 --dry-run --out m.gbs --json").ok().json();
    assert_eq!(
        (&plan["schema"], &plan["topics"], &plan["vocabulary"]),
        (&"gibbstream/train-plan/1".into(), &7.into(), &60.into())
    );
    assert_eq!(plan["model_bytes"], 7 * 60 * 8);
    assert!(plan["memory_bytes"].as_u64() > plan["model_bytes"].as_u64());
    assert!(
        run(&folder, "train uci --topics 7 --dry-run").ok().stdout.starts_with("Plan, nothing is learnt:\n")
    );
    assert!(!folder.file("m.gbs").exists());
}

#[test]
fn training_stops_when_the_time_is_up() {
    let folder = Folder::with_corpora();
    let ran = run(&folder, "train uci --topics 3 --passes 1000000 --max-seconds 0.3 --json").ok();
    assert_eq!(ran.stderr, "stopped after 0.3 seconds, as asked\n");
    assert!(ran.json()["updates"].as_u64() > Some(0));
}

#[test]
fn completions_and_manual_pages() {
    let folder = Folder::new();
    for shell in ["bash", "zsh", "fish", "powershell", "elvish"] {
        assert!(run(&folder, &format!("completions {shell}")).ok().stdout.contains("gibbstream"), "{shell}");
    }
    run(&folder, "man pages").ok();
    for page in ["gibbstream.1", "gibbstream-train.1", "gibbstream-infer.1"] {
        assert!(folder.file("pages").join(page).exists(), "{page}");
    }
}

#[test]
fn help_is_short_or_long_and_version_is_told() {
    let help = |flags: &[&str]| String::from_utf8(program().args(flags).output().unwrap().stdout).unwrap();
    let (short, long) = (help(&["train", "-h"]), help(&["train", "--help"]));
    assert!(long.contains("Examples:") && !short.contains("Examples:"));
    assert!(long.contains("[env: GIBBSTREAM_TOPICS") && long.contains("[env: GIBBSTREAM_SEED"), "{long}");
    assert_eq!(help(&["--version"]), format!("gibbstream {}\n", env!("CARGO_PKG_VERSION")));
    assert_eq!(program().output().unwrap().status.code(), Some(2));
}

/// The promise of a dry run against what the run then takes.
#[test]
fn a_dry_run_knows_the_memory_and_the_speed() {
    let folder = Folder::new();
    for words in [2_000, 30_000] {
        run(&folder, &format!("synth --topics 5 --vocab {words} --docs 600 --length 80 --out s{words}")).ok();
    }
    let mut wrong = Vec::new();
    for line in [
        "train s2000 --topics 10",
        "train s2000 --topics 200",
        "train s30000 --topics 20",
        "train s30000 --topics 200",
        "train s30000 --topics 100 --averaging uniform",
        "train s30000 --topics 100 --method g-oem++",
        "train s30000 --topics 100 --holdout 50",
        "train s30000 --topics 100 --batch 300",
        "train s30000 --topics 50 --vocab-mode hash=16",
    ] {
        let line = format!("{line} --sweeps 4 --threads 1 --json -q");
        let plan = run(&folder, &format!("{line} --dry-run")).ok().json();
        let report = run(&folder, &line).ok().json();
        let promised = plan["memory_bytes"].as_f64().unwrap() / f64::from(1 << 20);
        let taken = report["peak_rss_mib"].as_f64().unwrap();
        wrong.extend(((promised / taken - 1.0).abs() > 0.2).then(|| (line.clone(), promised, taken)));
        let speed = plan["documents_per_second"].as_f64().unwrap();
        let found = report["documents"].as_f64().unwrap() / report["train_seconds"].as_f64().unwrap();
        assert!((0.05..20.0).contains(&(speed / found)), "{line}: {speed} promised, {found} found");
    }
    assert!(wrong.is_empty(), "MiB promised and taken: {wrong:#?}");
}

/// In a namespace without any network device, so that nothing could be sent.
#[test]
fn nothing_needs_a_network() {
    let folder = Folder::with_corpora();
    let script = "set -e\n\
        $GIBBSTREAM train reviews.jsonl --topics 3 --sweeps 2 --batch 20 --out m.gbs -q\n\
        $GIBBSTREAM evaluate m.gbs reviews.jsonl --json\n$GIBBSTREAM infer m.gbs reviews.txt --top 1\n\
        $GIBBSTREAM topics m.gbs\n$GIBBSTREAM export m.gbs arrays -q";
    let ran = std::process::Command::new("unshare")
        .args(["--net", "--map-root-user", "sh", "-c", script])
        .current_dir(folder.path())
        .env("GIBBSTREAM", crate::PROGRAM)
        .output();
    let Some(ran) = ran.ok().filter(|ran| !String::from_utf8_lossy(&ran.stderr).starts_with("unshare:"))
    else {
        return crate::support::skipped("nothing_needs_a_network", "no namespace can be made here");
    };
    assert!(ran.status.success(), "{}", String::from_utf8_lossy(&ran.stderr));
}
