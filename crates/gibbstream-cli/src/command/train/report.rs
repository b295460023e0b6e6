//! What `train` says in the end.

use crate::args::General;
use crate::args::train::{Plan, TrainArgs};
use crate::interrupt::Signal;
use crate::measure::{Cost, peak_rss_mib};
use crate::output::{FAINT, Output, STRONG, count};
use gibbstream::model_file::TopicModel;
use gibbstream::trainer::Learnt;
use serde::Serialize;
use serde_json::Value;
use std::collections::BTreeMap;

/// Below so many minibatches the random start still shows.
const FEW_UPDATES: u64 = 10;

/// A run that is over.
pub struct Finished<'a> {
    pub args: &'a TrainArgs,
    pub general: &'a General,
    pub model: &'a TopicModel,
    pub hash: &'a str,
    pub cost: Cost,
    pub evaluations: &'a [Value],
    pub unknown_tokens: u64,
    pub bad_records: BTreeMap<&'static str, u64>,
    pub signal: Option<Signal>,
}

#[derive(Serialize)]
pub struct Report<'a> {
    schema: &'static str,
    model: &'a str,
    method: &'a str,
    topics: usize,
    /// Only where the number of topics is open: those with more than a thousandth of all tokens.
    #[serde(skip_serializing_if = "Option::is_none")]
    topics_used: Option<usize>,
    /// Only where the number of topics is open.
    #[serde(skip_serializing_if = "Option::is_none")]
    topics_created: Option<u64>,
    vocabulary: usize,
    documents: u64,
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
    peak_rss_mib: Option<f64>,
    alpha_sum: f64,
    model_hash: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    evaluations: Option<&'a [Value]>,
    /// Records that were passed over, by the kind of flaw.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    bad_records: BTreeMap<&'static str, u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    stopped_by: Option<String>,
    warnings: Vec<String>,
}

impl Finished<'_> {
    /// The JSON result.
    pub fn report(&self, output: &Output) -> Report<'_> {
        let (learnt, settings) = (&self.model.learnt, &self.model.settings);
        let cpu = self.cost.cpu.as_secs_f64();
        Report {
            schema: "gibbstream/train/1",
            model: settings.model.name(),
            method: &settings.name,
            topics: learnt.state.counts.topics(),
            topics_used: learnt.topics_used(),
            topics_created: learnt.topics_created(),
            vocabulary: settings.features,
            documents: learnt.clock.seen,
            tokens: learnt.tokens,
            out_of_vocabulary_tokens: self.unknown_tokens,
            updates: learnt.clock.update,
            sweeps: settings.method.sweeps,
            seed: settings.seed.0,
            threads: self.general.threads,
            train_seconds: self.cost.wall.as_secs_f64(),
            train_cpu_seconds: cpu,
            token_sweeps_per_cpu_second: learnt.tokens as f64 * settings.method.sweeps as f64 / cpu,
            peak_rss_mib: peak_rss_mib(),
            alpha_sum: learnt.state.alpha.alpha.iter().sum(),
            model_hash: self.hash,
            evaluations: (!self.evaluations.is_empty()).then_some(self.evaluations),
            bad_records: self.bad_records.clone(),
            stopped_by: self.signal.map(|signal| signal.to_string()),
            warnings: output.warnings(),
        }
    }

    /// A summary for people.
    pub fn summarise(&self, report: &Report<'_>, output: &Output) {
        output.note(format_args!(
            "{STRONG}{} topics{STRONG:#} of {} words from {} documents, {} tokens, in {:.1} s of training",
            report.topics_used.unwrap_or(report.topics),
            count(report.vocabulary as u64),
            count(report.documents),
            count(report.tokens),
            report.train_seconds,
        ));
        if let (Some(used), Some(created)) = (report.topics_used, report.topics_created) {
            output.note(format_args!(
                "{used} topics are in use, {} more have less than a thousandth of the tokens, {} were created in all",
                report.topics - used,
                count(created),
            ));
        }
        output.detail(format_args!(
            "{} minibatches, {} token sweeps per CPU second, {:.0} MiB at most, alpha sum {:.3}",
            count(report.updates),
            count(report.token_sweeps_per_cpu_second as u64),
            report.peak_rss_mib.unwrap_or_default(),
            report.alpha_sum,
        ));
        if let Some(out) = self.args.out.as_ref().filter(|_| self.signal.is_none()) {
            output.note(format_args!("written to {}", out.display()));
            output.note(format_args!("{FAINT}read them with: gibbstream topics {}{FAINT:#}", out.display()));
        }
    }
}

/// Warns about results that should be taken with care.
pub fn warn_about(learnt: &Learnt, plan: &Plan, output: &Output) {
    let updates = learnt.clock.update;
    if learnt.tokens == 0 {
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
    let held = learnt.state.alpha.clamps.sum;
    if held > updates / 2 {
        output.warn(format_args!(
            "alpha was held at its upper limit in {held} of {updates} updates: the documents differ no more than by \
             chance; try fewer topics"
        ));
    }
}
