//! Every malformed input is refused with a text that says what is wrong, where, and what to do.

#![allow(clippy::unwrap_used, reason = "helpers of tests count as tests")]

use std::path::Path;

use gibbstream::corpus::{Document, Inputs, StopWords, Tokenizer, Vocabulary, VocabularyLimits};
use gibbstream::{Error, Result};

mod compressed;
mod files;
mod json_lines;
mod matrix_market;
mod pairs;
mod tables;
mod text;
mod uci;

/// One malformed input: the files (the first is read), how they are read, and the message, in which `DIR` is
/// the folder.
struct Case {
    files: Vec<(&'static str, Vec<u8>)>,
    change: fn(&mut Inputs, &Path),
    limits: VocabularyLimits,
    message: &'static str,
}

fn case(files: &[(&'static str, &[u8])], message: &'static str) -> Case {
    Case {
        files: files.iter().map(|&(name, content)| (name, content.to_vec())).collect(),
        change: |_, _| (),
        limits: VocabularyLimits::default(),
        message,
    }
}

impl Case {
    fn reading(self, change: fn(&mut Inputs, &Path)) -> Self {
        Self { change, ..self }
    }

    fn limited(self, limits: VocabularyLimits) -> Self {
        Self { limits, ..self }
    }
}

fn text(content: &'static [u8], message: &'static str) -> Case {
    case(&[("in.txt", content)], message)
}

fn json(content: &'static [u8], message: &'static str) -> Case {
    case(&[("in.jsonl", content)], message)
}

fn named(name: &'static str, content: &'static [u8], message: &'static str) -> Case {
    case(&[(name, content)], message)
}

fn read(inputs: Inputs, limits: &VocabularyLimits) -> Result<Vec<Document>> {
    let inputs = inputs.resolve()?;
    let vocabulary = inputs.vocabulary(limits, &mut |_| ())?;
    inputs.documents(&vocabulary).collect()
}

fn message_of(case: &Case) -> String {
    let folder = tempfile::tempdir().unwrap();
    for (name, content) in &case.files {
        std::fs::write(folder.path().join(name), content).unwrap();
    }
    let mut inputs = Inputs {
        tokenizer: Tokenizer { stop_words: StopWords::none(), ..Tokenizer::default() },
        ..Inputs::default()
    };
    inputs.paths.extend(case.files.first().map(|(name, _)| folder.path().join(name)));
    (case.change)(&mut inputs, folder.path());
    match read(inputs, &case.limits) {
        Ok(documents) => format!("no error, but {} documents", documents.len()),
        Err(error) => error.to_string().replace(folder.path().to_str().unwrap(), "DIR"),
    }
}

fn check(cases: &[Case]) {
    let wrong: Vec<String> = cases
        .iter()
        .map(|case| (message_of(case), case.message))
        .filter(|(message, expected)| message != expected)
        .map(|(message, expected)| format!("got      {message}\nexpected {expected}\n"))
        .collect();
    assert!(wrong.is_empty(), "{} of {} differ\n{}", wrong.len(), cases.len(), wrong.join("\n"));
}

#[test]
fn an_error_ends_the_stream() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("in.jsonl");
    std::fs::write(&path, "{\"text\": \"cat\"}\nbroken\n{\"text\": \"cat\"}\n").unwrap();
    let inputs = Inputs { paths: vec![path], ..Inputs::default() }.resolve().unwrap();
    let mut documents = inputs.documents(&Vocabulary::new(["cat"]).unwrap());
    assert!(documents.next().unwrap().is_ok());
    let Some(Err(Error::Corpus { place, .. })) = documents.next() else { panic!("line 2 is broken") };
    assert_eq!(place.line, Some(2));
    assert!(documents.next().is_none());
}
