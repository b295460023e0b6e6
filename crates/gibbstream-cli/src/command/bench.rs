//! `bench`: how fast this machine learns.

use crate::Outcome;
use crate::args::General;
use crate::interrupt::Interrupt;
use crate::output::{FAINT, Output, STRONG, count};
use gibbstream::corpus::{Document, Length, Minibatch, Synthetic, Truth};
use gibbstream::learn::method::Method;
use gibbstream::learn::trainer::Trainer;
use gibbstream::learn::{Cost, Settings};
use gibbstream::{Error, Result};
use serde::Serialize;
use serde_json::json;
use std::fmt::Write;

const EXAMPLES: &str = "\
Examples:
  gibbstream bench
  gibbstream bench --topics 128,1024 --vocab 10000,100000 --threads 1
  gibbstream bench --method g-oem,v-oem,olda --topics 50 --json

Documents are drawn from 100 known topics (fewer for smaller K) over 10,000 words, spread evenly over larger
vocabularies. The tokens are the same for every V. A token-sweep is one update of one token's topic. The measurement
includes tables, inference, statistics and alpha, but not the random start and the first minibatch. Times are CPU
times of all threads.";

/// Measure training speed on this machine
#[derive(Clone, Debug, clap::Args)]
#[command(after_long_help = EXAMPLES)]
pub struct BenchArgs {
    /// Numbers of topics
    #[arg(long, value_name = "K,...", value_delimiter = ',', default_values_t = [20, 128, 1024])]
    topics: Vec<usize>,
    /// Sizes of the vocabulary
    #[arg(long, value_name = "V,...", value_delimiter = ',', default_values_t = [10_000])]
    vocab: Vec<usize>,
    /// Methods
    #[arg(long, value_name = "NAME,...", value_delimiter = ',', default_values_t = ["g-oem".to_owned()])]
    method: Vec<String>,
    /// Sweeps (or iterations) over each document [default: the method's own, usually 20]
    #[arg(long, value_name = "P")]
    sweeps: Option<usize>,
    /// Documents per minibatch
    #[arg(long, value_name = "N", default_value_t = 100)]
    batch: usize,
    /// Documents to train on, after the first minibatch
    #[arg(long, value_name = "D", default_value_t = 2_000)]
    docs: u64,
    /// Tokens per document
    #[arg(long, value_name = "L", default_value_t = 100)]
    length: u64,
}

/// Words that documents are made of.
const WORDS: usize = 10_000;
/// Topics that documents are made of.
const TOPICS: usize = 100;

#[derive(Serialize)]
struct Row {
    topics: usize,
    vocabulary: usize,
    method: String,
    sweeps: usize,
    batch: usize,
    threads: usize,
    documents: u64,
    tokens: u64,
    seconds: f64,
    cpu_seconds: f64,
    tokens_per_cpu_second: f64,
    token_sweeps_per_cpu_second: f64,
    documents_per_cpu_second: f64,
}

/// Runs the command.
pub fn run(
    args: &BenchArgs,
    general: &General,
    output: &Output,
    interrupt: &Interrupt,
) -> anyhow::Result<Outcome> {
    args.check()?;
    let mut rows = Vec::new();
    if !output.json {
        output.print(&format!(
            "{FAINT}{:12} {:>6} {:>7} {:>6} {:>7} {:>9} {:>14} {:>10} {:>10}{FAINT:#}\n",
            "method", "K", "V", "sweeps", "threads", "CPU s", "token-sweeps/s", "tokens/s", "docs/s"
        ))?;
    }
    interrupt.defer();
    for method in &args.method {
        for &topics in &args.topics {
            for &vocabulary in &args.vocab {
                let Some(row) = args.measure(method, topics, vocabulary, general, output, interrupt)? else {
                    return Ok(interrupt.received().map_or(Outcome::Done, Outcome::Interrupted));
                };
                if !output.json {
                    output.print(&row.line()?)?;
                }
                rows.push(row);
            }
        }
    }
    if output.json {
        output.print_json(&json!({ "schema": "gibbstream/bench/1", "rows": rows }))?;
    } else {
        output.note(format_args!("{FAINT}all rates are per second of processor time{FAINT:#}"));
    }
    Ok(Outcome::Done)
}

impl BenchArgs {
    fn check(&self) -> Result<()> {
        let whole = [("--batch", self.batch as u64), ("--docs", self.docs), ("--length", self.length)];
        let lists = [("--topics", &self.topics), ("--vocab", &self.vocab)];
        let lists = lists.iter().flat_map(|(name, list)| list.iter().map(|&value| (*name, value as u64)));
        match whole.into_iter().chain(lists).find(|&(_, value)| value == 0) {
            Some((name, _)) => Err(Error::setting(name, "0 leaves nothing to measure", "use 1 or more")),
            None => Ok(()),
        }
    }

    /// The documents, cut into minibatches; the first one is for warming up.
    fn batches(&self, topics: usize, vocabulary: usize, general: &General) -> Result<Vec<Minibatch>> {
        let words = vocabulary.min(WORDS);
        let truth = Truth::random(topics.min(TOPICS), words, 0.05, 0.1, general.seed)?;
        let documents = self.docs + self.batch as u64;
        let spread = (vocabulary / words) as u32;
        let drawn = Synthetic::new(truth, Length::Fixed(self.length), general.seed, documents)?;
        let documents: Vec<Document> = drawn
            .map(|document| {
                let mut document = document?;
                document.words.iter_mut().for_each(|(word, _)| *word *= spread);
                Ok(document)
            })
            .collect::<Result<_>>()?;
        let chunks = documents.chunks(self.batch).enumerate();
        Ok(chunks.map(|(i, chunk)| Minibatch::new(chunk, (i * self.batch) as u64, 0)).collect())
    }

    /// One row of the table; nothing after a signal.
    fn measure(
        &self,
        method: &str,
        topics: usize,
        vocabulary: usize,
        general: &General,
        output: &Output,
        interrupt: &Interrupt,
    ) -> anyhow::Result<Option<Row>> {
        let mut parts = Method::published(method)?.with_population((self.docs + self.batch as u64) as f64);
        parts.sweeps = self.sweeps.unwrap_or(parts.sweeps);
        if parts.whole_corpus {
            let problem =
                format!("{method} takes the whole corpus at once and has no minibatches to measure");
            return Err(Error::setting("--method", problem, "measure a method that learns online").into());
        }
        let settings = Settings::new(topics).method(method, parts).vocabulary(vocabulary).batch(self.batch);
        let settings = Settings { seed: general.seed, ..settings };
        let batches = self.batches(topics, vocabulary, general)?;
        let mut trainer = Trainer::new(settings, general.threads)?;
        trainer.partial_fit(&batches[0])?;
        let (mut cost, mut documents, mut tokens) = (Cost::default(), 0, 0);
        output.progress.start("training", "documents", Some(self.docs));
        for batch in &batches[1..] {
            if interrupt.received().is_some() {
                output.progress.finish();
                return Ok(None);
            }
            cost.of(&mut trainer, |trainer| trainer.partial_fit(batch))?;
            documents += batch.len() as u64;
            tokens += batch.tokens();
            output.progress.advance(documents, || (String::new(), json!({})));
        }
        output.progress.finish();
        let cpu = cost.cpu.as_secs_f64();
        Ok(Some(Row {
            topics,
            vocabulary,
            method: method.to_owned(),
            sweeps: parts.sweeps,
            batch: self.batch,
            threads: general.threads,
            documents,
            tokens,
            seconds: cost.wall.as_secs_f64(),
            cpu_seconds: cpu,
            tokens_per_cpu_second: tokens as f64 / cpu,
            token_sweeps_per_cpu_second: (tokens * parts.sweeps as u64) as f64 / cpu,
            documents_per_cpu_second: documents as f64 / cpu,
        }))
    }
}

impl Row {
    fn line(&self) -> Result<String, std::fmt::Error> {
        let mut line = String::new();
        writeln!(
            line,
            "{STRONG}{:12}{STRONG:#} {:>6} {:>7} {:>6} {:>7} {:>9.3} {:>12.2} M {:>10} {:>10}",
            self.method,
            self.topics,
            self.vocabulary,
            self.sweeps,
            self.threads,
            self.cpu_seconds,
            self.token_sweeps_per_cpu_second / 1e6,
            count(self.tokens_per_cpu_second as u64),
            count(self.documents_per_cpu_second as u64),
        )?;
        Ok(line)
    }
}
