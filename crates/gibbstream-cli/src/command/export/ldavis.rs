//! What `pyLDAvis.prepare` takes, as one JSON object.

use super::ExportArgs;
use crate::args::General;
use crate::args::input::{report_bad, report_found};
use crate::command::evaluate::tokenizer_of;
use crate::command::infer::{Inferred, each_mixture};
use crate::interrupt::Interrupt;
use crate::output::Output;
use crate::source::Source;
use gibbstream::corpus::Inputs;
use gibbstream::file::NewFile;
use gibbstream::inference::mixtures::MixtureInference;
use gibbstream::learn::{Observation, Snapshot, TopicParameters};
use serde_json::json;
use std::io::Write;
use std::path::Path;

/// The file that is written.
pub const FILE: &str = "ldavis.json";

/// Sweeps over each document, as `infer` makes them.
const SWEEPS: usize = 100;

/// Where the mixtures of documents come from.
pub struct Mixtures<'a> {
    pub args: &'a ExportArgs,
    pub snapshot: &'a Snapshot,
    pub general: &'a General,
    pub output: &'a Output,
    pub interrupt: &'a Interrupt,
}

/// Writes `ldavis.json`.
pub fn write(
    parameters: &TopicParameters,
    mixtures: &Mixtures<'_>,
    folder: &Path,
) -> anyhow::Result<Vec<String>> {
    let mut file = NewFile::create(&folder.join(FILE))?;
    let mut out = file.writer();
    let (topics, met) = (&parameters.topics, parameters.met());
    let vocabulary = mixtures.snapshot.features.vocabulary();
    write!(out, "{{\"topic_term_dists\": ")?;
    let rows = (0..met).map(|k| topics.beta.iter().skip(k).step_by(topics.topics()).copied().collect());
    write_rows(&mut out, rows)?;
    let lengths = mixtures.write(parameters, &mut out)?;
    let words: Vec<&str> = vocabulary.words().collect();
    write!(out, ",\n\"doc_lengths\": {},\n\"vocab\": {}", json!(lengths), json!(words))?;
    writeln!(out, ",\n\"term_frequency\": {}}}", json!(mixtures.snapshot.word_counts()))?;
    file.finish()?;
    Ok(vec![FILE.to_owned()])
}

fn write_rows(out: &mut impl Write, rows: impl Iterator<Item = Vec<f64>>) -> anyhow::Result<()> {
    out.write_all(b"[")?;
    for (at, row) in rows.enumerate() {
        write_row(out, at, &row)?;
    }
    Ok(out.write_all(b"]")?)
}

fn write_row(out: &mut impl Write, at: usize, row: &[f64]) -> anyhow::Result<()> {
    out.write_all(if at == 0 { b"\n" } else { b",\n" })?;
    Ok(serde_json::to_writer(out, row)?)
}

impl Mixtures<'_> {
    /// Writes the mixtures of all documents that have words, and returns their lengths.
    fn write(&self, parameters: &TopicParameters, out: &mut impl Write) -> anyhow::Result<Vec<u64>> {
        write!(out, ",\n\"doc_topic_dists\": ")?;
        let met = parameters.met();
        if self.args.documents.is_empty() {
            let row = |k: usize| (0..met).map(|other| f64::from(u8::from(other == k))).collect();
            write_rows(out, (0..met).map(row))?;
            let tokens = self.snapshot.tokens() as f64;
            return Ok(parameters
                .shares
                .iter()
                .map(|share| (share * tokens).round().max(1.0) as u64)
                .collect());
        }
        let inputs = Inputs {
            paths: self.args.documents.clone(),
            text_field: self.args.text_field.clone(),
            tokenizer: tokenizer_of(self.snapshot),
            ..Inputs::default()
        };
        let inputs = inputs.resolve()?;
        report_found(&inputs, self.output);
        let source = Source::of(self.snapshot, inputs)?;
        self.output.progress.start("inferring", source.unit(), source.expected());
        let inference = MixtureInference { sweeps: SWEEPS, seed: self.general.seed, details: false };
        let mut lengths = Vec::new();
        out.write_all(b"[")?;
        let threads = self.general.threads;
        each_mixture(self.snapshot, &source, inference, threads, self.interrupt, |inferred| {
            let Inferred::Observation(index, Observation::Document(document), mixture) = inferred else {
                return Ok(());
            };
            self.output.progress.advance(index + 1, || (String::new(), json!({})));
            // pyLDAvis cannot place a document without words.
            if document.tokens() > 0 {
                let sum: f64 = mixture.theta[..met].iter().sum();
                let row: Vec<f64> = mixture.theta[..met].iter().map(|share| share / sum).collect();
                write_row(out, lengths.len(), &row)?;
                lengths.push(document.tokens());
            }
            Ok(())
        })?;
        out.write_all(b"]")?;
        self.output.progress.finish();
        report_bad(&source.inputs, self.output);
        Ok(lengths)
    }
}
