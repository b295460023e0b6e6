//! Models of rows of numbers: every command on good input, and the words for bad input.

use crate::support::{Folder, Ran, fields, run, run_with};
use serde_json::Value;
use std::fmt::Write as _;

const MODELS: [&str; 5] =
    ["ica", "gaussian-mixture", "poisson-mixture", "multinomial-mixture", "bernoulli-mixture"];

/// Tables for all models: two groups of rows, with a column of names.
fn folder() -> Folder {
    let folder = Folder::new();
    let mut state = 7_u64;
    let mut next = move |below: u64| {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (state >> 33) % below
    };
    let mut tables = ["id,a,b,c\n".to_owned(), "id,a,b,c\n".to_owned(), "id,a,b,c\n".to_owned()];
    for row in 0..600 {
        let high = next(2);
        let numbers = [next(100) + 300 * high, next(100) + 100, next(100) + 50 * high];
        let counts = [next(4) + 6 * high, next(5), 6 - 5 * high];
        let answers = [u64::from(next(10) < 1 + 8 * high), high ^ u64::from(next(10) == 0), next(2)];
        for (table, values) in tables.iter_mut().zip([numbers, counts, answers]) {
            writeln!(table, "r{row},{}.5,{}.25,{}", values[0], values[1], values[2]).unwrap();
        }
    }
    let [numbers, counts, answers] = tables;
    folder.write("numbers.csv", numbers);
    folder.write("counts.csv", counts.replace(".5", "").replace(".25", ""));
    folder.write("answers.csv", answers.replace(".5", "").replace(".25", ""));
    folder
}

fn table(model: &str) -> &'static str {
    match model {
        "ica" | "gaussian-mixture" => "numbers.csv",
        "bernoulli-mixture" => "answers.csv",
        _ => "counts.csv",
    }
}

fn train(folder: &Folder, model: &str, flags: &str) -> Ran {
    let table = table(model);
    run(folder, &format!("train {table} --json --model {model} --components 2 --batch 50 {flags}"))
}

fn hash(ran: &Value) -> String {
    ran["model_hash"].as_str().unwrap().to_owned()
}

#[test]
fn every_model_is_learnt_scored_asked_and_looked_at() {
    let folder = folder();
    for model in MODELS {
        let table = table(model);
        let report = train(&folder, model, "--holdout 50 --eval-every 5 --out m.gbs").ok().json();
        for (field, value) in [
            ("topics", 2),
            ("vocabulary", 3),
            ("documents", 550),
            ("tokens", 0),
            ("updates", 11),
            ("seed", 0),
        ] {
            assert_eq!(report[field], value, "{model}: {field}");
        }
        assert_eq!((&report["model"], &report["schema"]), (&model.into(), &"gibbstream/train/1".into()));
        assert_eq!(report["evaluations"].as_array().unwrap().len(), 3, "{model}");
        assert!(report["observations_per_cpu_second"].as_f64().unwrap() > 0.0);

        let score = run(&folder, &format!("evaluate m.gbs {table} --json --particles 4")).ok().json();
        assert_eq!(score["documents"], 600);
        assert_eq!(score["model_hash"], report["model_hash"]);
        assert_eq!(score["estimator"], if model == "ica" { "ais" } else { "exact" });
        assert_eq!(score["unit"], "nats per observation");
        let (own, baseline) = (
            score["log_perplexity_per_document"].as_f64(),
            score["baseline_log_perplexity_per_document"].as_f64(),
        );
        assert!(model == "ica" || own < baseline, "{model}: {own:?} against {baseline:?}");
        let shown = run(&folder, &format!("evaluate m.gbs {table} --particles 4")).ok().stdout;
        assert!(shown.contains("baseline") && shown.contains(score["baseline"].as_str().unwrap()), "{shown}");

        let lines = run(&folder, &format!("infer m.gbs {table} --uncertainty --digits 17")).ok().json_lines();
        assert_eq!((lines.len(), &lines[3]["id"], &lines[3]["index"]), (600, &"r3".into(), &3.into()));
        if model == "ica" {
            assert_eq!(fields(&lines[0]), ["id", "index", "sources", "spread"]);
        } else {
            assert_eq!(fields(&lines[0]), ["id", "index", "theta"]);
            let total: f64 = lines[0]["theta"].as_array().unwrap().iter().filter_map(Value::as_f64).sum();
            assert!((total - 1.0).abs() < 1e-12);
        }
        let csv =
            run(&folder, &format!("infer m.gbs {table} --output-format csv --limit-docs 2")).ok().stdout;
        assert_eq!(csv.lines().count(), 3, "{csv}");

        let facts = run(&folder, "inspect m.gbs --json").ok().json();
        assert_eq!((hash(&facts), &facts["kind"]), (hash(&report), &"model".into()));
        assert!(run(&folder, "inspect m.gbs").ok().stdout.contains(model));
        let files = run(&folder, "export m.gbs arrays --json").ok().json();
        assert!(files["files"].as_array().unwrap().len() >= 3);
        assert!(
            folder.file(if model == "ica" { "arrays/mixing.npy" } else { "arrays/weights.npy" }).exists()
        );
        let refused = format!("m.gbs: a {model} has no topics; look at it with inspect or export");
        run(&folder, "topics m.gbs").refused(&refused);
        let plan = train(&folder, model, "--dry-run").ok().json();
        assert!(plan["memory_bytes"].as_u64() > plan["model_bytes"].as_u64(), "{plan}");
        assert!(plan["documents_per_second"].as_f64().unwrap() > 0.0, "{plan}");
    }
}

#[test]
fn threads_reading_and_kills_change_no_bit() {
    let folder = folder();
    for model in MODELS {
        let flags = "--passes 2 --averaging uniform";
        let expected = hash(&train(&folder, model, flags).ok().json());
        assert_eq!(hash(&train(&folder, model, &format!("{flags} --threads 1")).ok().json()), expected);
        if model == "ica" {
            // Mixtures may find the same start with another seed.
            assert_ne!(hash(&train(&folder, model, &format!("{flags} --seed 1")).ok().json()), expected);
        }
        let piped = run_with(
            &folder,
            &format!("train - --json --model {model} --components 2 --batch 50 {flags}"),
            |command| {
                command.write_stdin(folder.read(table(model)));
            },
        );
        assert_eq!(hash(&piped.ok().json()), expected, "{model} from standard input");

        // Without its newest checkpoints, a run looks as if it had been killed before it wrote them.
        let kept = format!("{flags} --checkpoint kept-{model} --checkpoint-every 1b --out {model}.gbs");
        let whole = train(&folder, model, &kept).ok().json();
        assert_eq!(hash(&whole), expected);
        let again = train(&folder, model, &format!("{kept} --resume")).ok();
        assert_eq!(again.json(), whole, "a finished run gives the same answer");
        for file in ["checkpoint-000000000024.gbs", "checkpoint-000000000023.gbs"] {
            std::fs::remove_file(folder.file(&format!("kept-{model}/{file}"))).unwrap();
        }
        assert_eq!(
            hash(&train(&folder, model, &format!("{kept} --resume")).ok().json()),
            expected,
            "{model}"
        );
        let other = train(&folder, model, &format!("{kept} --resume --seed 4"));
        assert!(other.code == Some(2) && other.stderr.contains("was started differently"), "{other:?}");
    }
}

#[test]
fn minibatches_of_rows_can_grow() {
    let folder = folder();
    let grown =
        run(&folder, "train numbers.csv --json --model gaussian-mixture --components 2 --batch 10..25").ok();
    let fixed =
        run(&folder, "train numbers.csv --json --model gaussian-mixture --components 2 --batch 10").ok();
    let updates = |ran: &Ran| ran.json()["updates"].as_u64().unwrap();
    assert!(updates(&grown) < updates(&fixed), "{} {}", updates(&grown), updates(&fixed));
}

#[test]
fn a_model_goes_on_with_other_rows() {
    let folder = folder();
    let first = train(&folder, "gaussian-mixture", "--out m.gbs").ok().json();
    let line = "train numbers.csv --json --model gaussian-mixture --continue m.gbs --out n.gbs --batch 25";
    let second = run(&folder, line).ok().json();
    assert_eq!((first["documents"].as_u64(), second["documents"].as_u64()), (Some(600), Some(1200)));
    let shown = run(&folder, "inspect n.gbs").ok().stdout;
    assert!(shown.contains("continue") && shown.contains("batch: 50 -> 25"), "{shown}");
    // The kind of the model need not be said again.
    run(&folder, "train numbers.csv --json --continue m.gbs --out o.gbs --batch 25").ok();
    run(&folder, "train counts.csv --model poisson-mixture --continue m.gbs --out n.gbs").refused(
        "--model: the model is a gaussian-mixture, not poisson-mixture; leave it out, or train a new model",
    );
}

#[test]
fn bad_input_is_refused_with_place_and_advice() {
    let folder = folder();
    train(&folder, "gaussian-mixture", "--out m.gbs").ok();
    for (name, content) in [
        ("headless.csv", "1,2,3\n4,5,6\n"),
        ("word.csv", "a,b,c\n1,2,3\n4,five,6\n"),
        ("ragged.csv", "a,b,c\n1,2,3\n4,5\n"),
        ("nan.csv", "a,b,c\n1,NaN,3\n"),
        ("wide.csv", "a,b,c,d\n1,2,3,4\n"),
        ("other.csv", "a,b,x\n1,2,3\n"),
        ("negative.csv", "a,b\n1,-2\n"),
        ("fraction.csv", "a,b\n1,2.5\n"),
        ("empty.csv", ""),
    ] {
        folder.write(name, content);
    }
    let line = |table: &str, model: &str| format!("train {table} --model {model} --components 2 --out x.gbs");
    let advice = "correct it, leave the column out, or skip such rows with --skip-bad";
    for (line, message) in [
        (
            line("headless.csv", "ica"),
            "headless.csv:1: the first row holds numbers where the names of the columns should be; put a header row with \
             a name for every column first"
                .to_owned(),
        ),
        (line("word.csv", "ica"), format!("word.csv:3: column `b`: `five` is not a number; {advice}")),
        (
            line("ragged.csv", "ica"),
            "ragged.csv:3: the record has 2 fields instead of 3; every record has as many fields as the first; quote \
             fields that contain a separator"
                .to_owned(),
        ),
        (
            line("nan.csv", "gaussian-mixture"),
            "nan.csv:2: column `b`: NaN is not a finite number of magnitude up to 1e100, and squares of values are \
             summed; correct it, or skip such rows with --skip-bad"
                .to_owned(),
        ),
        (
            line("negative.csv", "poisson-mixture"),
            "negative.csv:2: column `b`: -2 is not a count, that is a whole number from 0 to 2^53; correct it, or skip \
             such rows with --skip-bad"
                .to_owned(),
        ),
        (
            line("fraction.csv", "multinomial-mixture"),
            "fraction.csv:2: column `b`: 2.5 is not a count, that is a whole number from 0 to 2^53; correct it, or skip \
             such rows with --skip-bad"
                .to_owned(),
        ),
        (
            line("negative.csv", "bernoulli-mixture"),
            "negative.csv:2: column `b`: -2 is not an answer, that is 0 or 1; correct it, or skip such rows with \
             --skip-bad"
                .to_owned(),
        ),
        (
            "evaluate m.gbs wide.csv".to_owned(),
            "wide.csv: has 4 columns of numbers instead of 3; give the columns that the model, or the first file, has"
                .to_owned(),
        ),
        (
            "infer m.gbs other.csv".to_owned(),
            "other.csv: has no column `c`; give the columns that the model, or the first file, has".to_owned(),
        ),
        (
            line("empty.csv", "ica"),
            "empty.csv: contains no documents; check that this is the right file".to_owned(),
        ),
    ] {
        run(&folder, &line).refused(&message);
    }
    let skipped = run(&folder, &(line("word.csv", "gaussian-mixture") + " --skip-bad --json")).ok().json();
    assert_eq!(skipped["bad_records"]["not a number"], 1);
}

#[test]
fn flags_without_meaning_are_refused() {
    let folder = folder();
    for (flags, message) in [
        ("--model ica --components 2 --alpha fixed", "--alpha: does not apply to --model ica; leave it out"),
        (
            "--model ica --components 2 --covariance full",
            "--covariance: does not apply to --model ica; leave it out",
        ),
        (
            "--model gaussian-mixture --components 2 --sources laplace",
            "--sources: does not apply to --model gaussian-mixture; leave it out",
        ),
        ("--topics 2 --noise diagonal", "--noise: does not apply to --model lda; leave it out"),
        (
            "--model ica --components 2 --method olda",
            "--method: `olda` is a method for topics; use g-oem or g-oem++",
        ),
        (
            "--model ica",
            "--components: the number of components or sources is missing; for example --components 10",
        ),
        ("--model ica --components 0", "--components: 0 leaves nothing to learn; use at least 1"),
        (
            "--model gaussian-mixture --components 2 --floor 0",
            "--floor: 0 cannot be the smallest variance; use a positive number well below the variances in the data, such \
             as 1e-6",
        ),
        (
            "--model ica --components 2 --holdout 600",
            "--holdout: all documents are held out, and none is left for training; hold fewer out",
        ),
    ] {
        run(&folder, &format!("train numbers.csv {flags} --out x.gbs")).refused(message);
    }
}

/// Gaussian rows, made of sums of many: no direction is better than another, and `train` says so.
#[test]
fn gaussian_sources_are_reported() {
    let folder = Folder::new();
    let mut state = 3_u64;
    let mut uniform = move || {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (state >> 33) as f64 / f64::from(1_u32 << 31) - 0.5
    };
    let mut table = "a,b\n".to_owned();
    for _ in 0..4_000 {
        let mut sum = || (0..50).map(|_| uniform()).sum::<f64>();
        let (a, b) = (sum(), sum());
        writeln!(table, "{},{}", a + 0.3 * b, b - 0.2 * a).unwrap();
    }
    folder.write("sums.csv", table);
    let report =
        run(&folder, "train sums.csv --model ica --components 2 --sweeps 8 --batch 20 --json").ok().json();
    let warnings = report["warnings"].to_string();
    assert!(
        warnings.contains("2 of 2 sources look Gaussian") && warnings.contains("not identifiable"),
        "{warnings}"
    );
}
