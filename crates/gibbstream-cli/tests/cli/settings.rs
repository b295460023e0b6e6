//! Environment variables and the configuration file: a flag beats a variable, a variable beats the file.

use crate::support::{Folder, Ran, run, run_with};

fn train(folder: &Folder, flags: &str, variables: &[(&str, &str)]) -> Ran {
    run_with(folder, &format!("train uci --json {flags}"), |command| {
        command.envs(variables.iter().copied());
    })
}

fn topics(folder: &Folder, flags: &str, variables: &[(&str, &str)]) -> u64 {
    train(folder, flags, variables).ok().json()["topics"].as_u64().unwrap()
}

#[test]
fn flags_beat_variables_and_variables_beat_the_file() {
    let folder = Folder::with_corpora();
    folder.write("c.toml", "topics = 2\nsweeps = 2\nseed = 6\n");
    let variable = [("GIBBSTREAM_TOPICS", "3")];
    assert_eq!(topics(&folder, "--config c.toml", &[]), 2);
    assert_eq!(topics(&folder, "--config c.toml", &variable), 3);
    assert_eq!(topics(&folder, "--config c.toml --topics 4", &variable), 4);
    assert_eq!(topics(&folder, "--config=c.toml --components 4", &[]), 4);
    assert_eq!(topics(&folder, "", &[("GIBBSTREAM_CONFIG", "c.toml")]), 2);
    assert_eq!(topics(&folder, "--topics 4", &[("GIBBSTREAM_TOPICS", "")]), 4);
    let report = train(&folder, "--config c.toml", &[("GIBBSTREAM_SEED", "8")]).ok().json();
    assert_eq!((&report["sweeps"], &report["seed"]), (&2.into(), &8.into()));
    let report = train(&folder, "--config c.toml --topics 2", &[]).ok().json();
    assert_eq!(report["seed"], 6);
}

#[test]
fn switches_have_variables_and_keys_too() {
    let folder = Folder::with_corpora();
    folder.write("boost.toml", "boost = true\n[train]\ntopics = 3\nbatch = 50\n[topics]\nwords = 2\n");
    let hash = |flags: &str, variables: &[(&str, &str)]| {
        train(&folder, &format!("{flags} --config boost.toml"), variables).ok().json()["model_hash"].clone()
    };
    let (on, off) = (hash("--boost", &[]), hash("--no-boost", &[]));
    assert_ne!(on, off);
    assert_eq!(hash("", &[]), on);
    assert_eq!(hash("", &[("GIBBSTREAM_NO_BOOST", "1")]), off);
    assert_eq!(hash("--boost", &[("GIBBSTREAM_NO_BOOST", "yes")]), on);
    assert_eq!(hash("--no-boost", &[("GIBBSTREAM_BOOST", "1")]), off);
    assert_eq!(hash("", &[("GIBBSTREAM_BOOST", "no")]), off);
    // 300 documents in minibatches of 50, as the table [train] says.
    assert_eq!(train(&folder, "--config boost.toml", &[]).ok().json()["updates"], 6);
    train(&folder, "--config boost.toml --out m.gbs", &[]).ok();
    let words = run(&folder, "topics m.gbs --config boost.toml --json").ok().json();
    assert_eq!(words["topics"][0]["words"].as_array().unwrap().len(), 2);
}

#[test]
fn general_options_have_variables_for_all_commands() {
    let folder = Folder::new();
    let ran = run_with(&folder, "methods", |command| {
        command.env("GIBBSTREAM_JSON", "true");
    });
    assert_eq!(ran.ok().json()["schema"], "gibbstream/methods/1");
}

#[test]
fn files_that_cannot_be_used_are_refused() {
    let folder = Folder::with_corpora();
    for (content, text) in [
        ("topcs = 3\n", "c.toml: there is no setting called `topcs`; did you mean `topics`?"),
        (
            "text_field = \"a\"\n",
            "c.toml: there is no setting called `text_field`; did you mean `text-field`?",
        ),
        (
            "xyzzy = 3\n",
            "c.toml: there is no setting called `xyzzy`; settings are named like the flags, without the dashes",
        ),
        (
            "[train]\nwords = 3\n",
            "c.toml: there is no setting called `words`; settings are named like the flags, without the dashes",
        ),
        ("boost = 1\n", "c.toml: `boost` is 1; use true or false"),
        ("topics = [1]\n", "c.toml: `topics` is of type array; use a number or a string"),
        ("topics = -3\n", "c.toml: invalid value '-3' for '--topics <K>': invalid digit found in string"),
    ] {
        folder.write("c.toml", content);
        run(&folder, "train uci --json --topics 3 --config c.toml").refused(text);
    }
    folder.write("c.toml", "topics = 3\nseed =\n");
    let ran = run(&folder, "train uci --json --config c.toml");
    assert!(ran.stderr.starts_with("error: c.toml: line 2 is not TOML: "), "{}", ran.stderr);
    assert_eq!(ran.code, Some(2));
    run(&folder, "train uci --json --config nowhere.toml")
        .refused("nowhere.toml: cannot read: No such file or directory (os error 2)");
}
