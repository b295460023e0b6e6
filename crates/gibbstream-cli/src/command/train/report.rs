//! What `train` says in the end.

use super::prepare::Prepared;
use crate::args::train::Plan;
use crate::interrupt::Signal;
use crate::measure::peak_rss_mib;
use crate::output::{FAINT, Output, STRONG, count};
use gibbstream::corpus::WordReport;
use gibbstream::learn::prequential::Change;
use gibbstream::learn::trainer::Trainer;
use gibbstream::learn::{Diagnostics, Mode, PrequentialReport, TrainingRun};
use serde::Serialize;
use serde_json::Value;
use std::collections::BTreeMap;
use std::path::Path;

/// Below so many minibatches the random start still shows.
const FEW_UPDATES: u64 = 10;

/// The JSON result. Models of numbers have the fields of topic models, with components for topics, columns for words and
/// observations for documents.
#[derive(Serialize)]
pub struct Report {
    schema: &'static str,
    model: &'static str,
    method: String,
    mode: Mode,
    topics: usize,
    /// Only where the number of topics is open: those with more than a thousandth of all tokens.
    #[serde(skip_serializing_if = "Option::is_none")]
    topics_used: Option<usize>,
    /// Only where the number of topics is open.
    #[serde(skip_serializing_if = "Option::is_none")]
    topics_created: Option<u64>,
    vocabulary: usize,
    /// Of text: the code of its language, if it was told or recognised.
    language: Option<String>,
    /// What filters did to the words, if they were counted.
    #[serde(skip_serializing_if = "Option::is_none")]
    words: Option<WordReport>,
    /// Each once, however many passes were made over them.
    documents: u64,
    passes: u64,
    /// Of all passes.
    tokens: u64,
    /// Tokens of words that the vocabulary does not have.
    out_of_vocabulary_tokens: u64,
    updates: u64,
    sweeps: usize,
    seed: u64,
    threads: usize,
    train_seconds: f64,
    train_cpu_seconds: f64,
    token_sweeps_per_cpu_second: f64,
    /// Only for models of numbers.
    #[serde(skip_serializing_if = "Option::is_none")]
    observations_per_cpu_second: Option<f64>,
    peak_rss_mib: Option<f64>,
    alpha_sum: f64,
    model_hash: String,
    /// Only for models of numbers.
    #[serde(skip_serializing_if = "Option::is_none")]
    diagnostics: Option<Diagnostics>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    evaluations: Vec<Value>,
    /// Scores of documents before they were learnt from.
    #[serde(skip_serializing_if = "Option::is_none")]
    prequential: Option<PrequentialReport>,
    /// Changes of the stream that were noticed.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    drift: Vec<Change>,
    /// Records that were passed over, by the kind of flaw.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    bad_records: BTreeMap<&'static str, u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    stopped_by: Option<String>,
    warnings: Vec<String>,
}

impl Report {
    /// A run that is over.
    pub fn new(
        run: &TrainingRun,
        (passes, prepared): (u64, &Prepared),
        model_hash: String,
        bad_records: BTreeMap<&'static str, u64>,
        signal: Option<Signal>,
        output: &Output,
    ) -> Self {
        let (trainer, cost) = (run.trainer(), run.cost());
        let (settings, clock, tokens) = (trainer.settings(), trainer.clock(), trainer.tokens());
        let (cpu, sweeps) = (cost.cpu.as_secs_f64(), settings.method.sweeps);
        let is_of_rows = !settings.model.has_topics();
        let alpha = trainer.alpha().unwrap_or_default();
        Self {
            schema: "gibbstream/train/1",
            model: settings.model.name(),
            method: settings.name.clone(),
            mode: settings.mode,
            topics: if is_of_rows { settings.components } else { alpha.len() },
            topics_used: trainer.topics_used(),
            topics_created: trainer.sticks().map(|sticks| sticks.created),
            vocabulary: settings.features,
            language: run.tokenizer().and_then(|tokenizer| tokenizer.language.code().map(str::to_owned)),
            words: prepared.words,
            documents: documents_once(run, passes, prepared.documents),
            passes,
            tokens,
            out_of_vocabulary_tokens: run.unknown_tokens(),
            updates: clock.update,
            sweeps,
            seed: settings.seed.0,
            threads: run.threads(),
            train_seconds: cost.wall.as_secs_f64(),
            train_cpu_seconds: cpu,
            token_sweeps_per_cpu_second: tokens as f64 * sweeps as f64 / cpu,
            observations_per_cpu_second: is_of_rows.then(|| clock.seen as f64 / cpu),
            peak_rss_mib: peak_rss_mib(),
            // The sum of nothing is -0.
            alpha_sum: alpha.iter().sum::<f64>() + 0.0,
            model_hash,
            diagnostics: is_of_rows.then(|| trainer.diagnostics()),
            evaluations: run.evaluations().to_vec(),
            prequential: run.prequential(),
            drift: run.changes().to_vec(),
            bad_records,
            stopped_by: signal.map(|signal| signal.to_string()),
            warnings: output.warnings(),
        }
    }

    /// A summary for people.
    pub fn summarise(&self, output: &Output, out: Option<&Path>) {
        let seconds = self.train_seconds;
        let (columns, documents) = (count(self.vocabulary as u64), count(self.documents));
        if self.diagnostics.is_some() {
            output.note(format_args!(
                "{STRONG}{} with {} components{STRONG:#} of {columns} columns from {documents} observations in \
                 {seconds:.1} s of training",
                self.model, self.topics,
            ));
        } else {
            let passes = if self.passes == 1 { String::new() } else { format!(" in {} passes", self.passes) };
            output.note(format_args!(
                "{STRONG}{} topics{STRONG:#} of {columns} words from {documents} documents{passes}, {} tokens, in \
                 {seconds:.1} s of training",
                self.topics_used.unwrap_or(self.topics),
                count(self.tokens / self.passes),
            ));
        }
        if let (Some(used), Some(created)) = (self.topics_used, self.topics_created) {
            output.note(format_args!(
                "{used} topics are in use, {} more have less than a thousandth of the tokens, {} were created in all",
                self.topics - used,
                count(created),
            ));
        }
        if let Some(PrequentialReport { windowed, .. }) = self.prequential {
            let (own, unigram) =
                (windowed.log_perplexity_per_document, windowed.unigram_log_perplexity_per_document);
            let error = windowed.standard_error.map_or(String::new(), |error| format!(" +- {error:.2}"));
            output.note(format_args!(
                "before learning from them: {own:.2}{error} nats per document (unigram {unigram:.2})"
            ));
        }
        output.detail(format_args!(
            "{} minibatches, {} token sweeps per CPU second, {:.0} MiB at most, alpha sum {:.3}",
            count(self.updates),
            count(self.token_sweeps_per_cpu_second as u64),
            self.peak_rss_mib.unwrap_or_default(),
            self.alpha_sum,
        ));
        if let Some(out) = out {
            let out = out.display();
            let next = if self.diagnostics.is_some() {
                "look at it with: gibbstream inspect"
            } else {
                "read them with: gibbstream topics"
            };
            output.note(format_args!("written to {out}"));
            output.note(format_args!("{FAINT}{next} {out}{FAINT:#}"));
        }
    }
}

/// Documents that the model has learnt from, those of this run once, however many passes it made over them.
fn documents_once(run: &TrainingRun, passes: u64, in_a_pass: Option<u64>) -> u64 {
    let of_this_run = run.history().last().map_or(0, |entry| entry.documents);
    let once = in_a_pass.unwrap_or(of_this_run.div_ceil(passes)).min(of_this_run);
    run.trainer().clock().seen - of_this_run + once
}

/// Warns about results that should be taken with care.
pub fn warn_about(trainer: &Trainer, plan: &Plan, output: &Output) {
    let updates = trainer.clock().update;
    if plan.settings.model.has_topics() {
        if trainer.tokens() == 0 {
            output.warn("no token was learnt from: the documents have no words of the vocabulary");
        } else if updates < FEW_UPDATES && !plan.settings.method.whole_corpus {
            let few = if updates == 1 {
                "only one minibatch was".to_owned()
            } else {
                format!("only {updates} minibatches were")
            };
            output.warn(format_args!(
                "{few} learnt from; more documents, more --passes or a smaller --batch give better topics"
            ));
        }
    }
    trainer.diagnostics().warnings.into_iter().for_each(|warning| output.warn(warning));
}
