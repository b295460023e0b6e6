//! Running the program, and making small corpora for it.

use serde_json::Value;
use std::fmt::Write as _;
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::sync::mpsc::{RecvTimeoutError, Sender, channel};
use std::time::Duration;
use tempfile::TempDir;

/// No test waits longer than this for the program, however busy the machine is: it is killed, and the test fails.
const LONGEST_RUN: Duration = Duration::from_secs(900);

/// The program with a clean environment.
pub fn program() -> assert_cmd::Command {
    let mut command = assert_cmd::Command::new(crate::PROGRAM);
    command.timeout(LONGEST_RUN);
    for (name, _) in std::env::vars_os() {
        let is_ours = name.to_str().is_some_and(|name| name.starts_with("GIBBSTREAM_"));
        if is_ours || ["NO_COLOR", "CLICOLOR", "CLICOLOR_FORCE"].iter().any(|other| name == *other) {
            command.env_remove(name);
        }
    }
    command
}

/// What a run left behind.
#[derive(Debug)]
pub struct Ran {
    pub code: Option<i32>,
    pub stdout: String,
    pub stderr: String,
}

/// Runs a command line in the folder.
pub fn run(folder: &Folder, line: &str) -> Ran {
    run_with(folder, line, |_| {})
}

/// The same after changing the command, such as its environment or standard input.
pub fn run_with(folder: &Folder, line: &str, change: impl FnOnce(&mut assert_cmd::Command)) -> Ran {
    let mut command = program();
    command.current_dir(folder.path()).args(line.split_whitespace());
    change(&mut command);
    let output = command.output().unwrap();
    Ran {
        code: output.status.code(),
        stdout: String::from_utf8(output.stdout).unwrap(),
        stderr: String::from_utf8(output.stderr).unwrap(),
    }
}

impl Ran {
    /// The run must have succeeded.
    #[track_caller]
    pub fn ok(self) -> Self {
        assert_eq!(self.code, Some(0), "{self:?}");
        self
    }

    /// The run must have failed with exit code 2 and exactly this text.
    #[track_caller]
    pub fn refused(self, text: &str) {
        assert_eq!(self.stderr, format!("error: {text}\n"));
        assert_eq!((self.code, self.stdout.as_str()), (Some(2), ""));
    }

    /// The one JSON object on standard output.
    #[track_caller]
    pub fn json(&self) -> Value {
        assert_eq!(self.stdout.lines().count(), 1, "{self:?}");
        serde_json::from_str(&self.stdout).unwrap()
    }

    /// All JSON lines on standard output.
    #[track_caller]
    pub fn json_lines(&self) -> Vec<Value> {
        self.stdout.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
    }
}

/// Names of the fields of an object.
pub fn fields(object: &Value) -> Vec<&str> {
    let mut names: Vec<&str> = object.as_object().unwrap().keys().map(String::as_str).collect();
    names.sort_unstable();
    names
}

/// Prints past the test harness, which hides what passing tests print.
pub fn skipped(test: &str, why: &str) {
    std::io::stderr().write_all(format!("SKIPPED: {test}: {why}\n").as_bytes()).unwrap();
}

/// No test takes longer than this, the slow ones included: whatever it waits for will not come.
const LONGEST_TEST: Duration = Duration::from_secs(3600);

/// A temporary folder, which a test has as long as it runs: after [`LONGEST_TEST`] the process ends with its name.
pub struct Folder(TempDir, #[allow(dead_code, reason = "dropping it ends the watch")] Sender<()>);

fn watch() -> Sender<()> {
    let (sender, receiver) = channel();
    let test = std::thread::current().name().unwrap_or("a test").to_owned();
    std::thread::spawn(move || {
        if receiver.recv_timeout(LONGEST_TEST) == Err(RecvTimeoutError::Timeout) {
            let minutes = LONGEST_TEST.as_secs() / 60;
            std::io::stderr()
                .write_all(format!("{test}: not over after {minutes} minutes\n").as_bytes())
                .ok();
            std::process::abort();
        }
    });
    sender
}

impl Folder {
    /// An empty one.
    pub fn new() -> Self {
        Self(tempfile::tempdir().unwrap(), watch())
    }

    /// One with `reviews.txt` (text), `reviews.jsonl` (the same with names) and a small `uci/` corpus.
    pub fn with_corpora() -> Self {
        let folder = Self::new();
        let texts = texts(120);
        folder.write("reviews.txt", texts.join("\n") + "\n");
        let lines = texts.iter().enumerate().fold(String::new(), |mut lines, (index, text)| {
            writeln!(lines, "{}", serde_json::json!({ "id": format!("r{index}"), "text": text })).unwrap();
            lines
        });
        folder.write("reviews.jsonl", lines);
        run(&folder, "synth --topics 4 --vocab 60 --docs 300 --length 30 --out uci").ok();
        folder
    }

    /// The same with a model of the text (`text.gbs`) and one of the counts (`uci.gbs`).
    pub fn with_models() -> Self {
        let folder = Self::with_corpora();
        run(&folder, "train reviews.jsonl --topics 3 --batch 10 --sweeps 5 --out text.gbs").ok();
        run(&folder, "train uci --topics 4 --batch 20 --sweeps 5 --out uci.gbs").ok();
        folder
    }

    /// Its path.
    pub fn path(&self) -> &Path {
        self.0.path()
    }

    /// The path of a file in it.
    pub fn file(&self, name: &str) -> PathBuf {
        self.path().join(name)
    }

    /// Writes a file.
    pub fn write(&self, name: &str, content: impl AsRef<[u8]>) {
        std::fs::write(self.file(name), content).unwrap();
    }

    /// Reads a file.
    pub fn read(&self, name: &str) -> Vec<u8> {
        std::fs::read(self.file(name)).unwrap()
    }

    /// Reads a file of text.
    pub fn text(&self, name: &str) -> String {
        std::fs::read_to_string(self.file(name)).unwrap()
    }

    /// Trains with the given flags and returns the JSON result.
    #[track_caller]
    pub fn train(&self, flags: &str) -> Value {
        run(self, &format!("train --json --sweeps 5 --batch 20 {flags}")).ok().json()
    }

    /// The hash of a model trained with the given flags.
    #[track_caller]
    pub fn hash(&self, flags: &str) -> String {
        self.train(flags)["model_hash"].as_str().unwrap().to_owned()
    }
}

/// Texts about three things.
fn texts(count: usize) -> Vec<String> {
    const THINGS: [&str; 3] = [
        "plot actor scene director camera script movie film screen drama",
        "chapter author novel page story reader poem prose book verse",
        "guitar drum melody chorus album singer band concert song rhythm",
    ];
    let mut state = 1_u64;
    let mut next = move |below: usize| {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (state >> 33) as usize % below
    };
    (0..count)
        .map(|index| {
            let words: Vec<&str> = THINGS[index % 3].split(' ').collect();
            let length = 8 + next(20);
            (0..length).map(|_| words[next(words.len())]).collect::<Vec<_>>().join(" ")
        })
        .collect()
}

/// The program with signals as a terminal has them: whoever started the tests may ignore some, as `nohup` does.
pub fn signalled() -> std::process::Command {
    let mut command = std::process::Command::new("env");
    command.args(["--default-signal=HUP,INT,TERM", crate::PROGRAM]);
    command
}
