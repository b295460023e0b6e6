//! `infer`: the topic mixture of each document, or the latent part of each row of numbers.

use super::evaluate::tokenizer_of;
use crate::Outcome;
use crate::args::General;
use crate::args::input::{InputArgs, report_bad};
use crate::interrupt::Interrupt;
use crate::output::{Output, data};
use crate::source::{Source, each_batch, refuse, thread_pool};
use gibbstream::Error;
use gibbstream::corpus::{Inputs, Vocabulary};
use gibbstream::file::Model;
use gibbstream::inference::mixtures::{Mixture, MixtureInference};
use gibbstream::learn::{ModelKind, Observation, Snapshot};
use serde_json::{Map, Value, json};
use std::io::{self, BufWriter, Write};
use std::path::PathBuf;

const EXAMPLES: &str = "\
Examples:
  gibbstream infer model.gbs new.jsonl > mixtures.jsonl
  cat new.txt | gibbstream infer model.gbs - --top 3
  gibbstream infer model.gbs corpus/ --output-format csv > mixtures.csv

One line per document, in their order:
  {\"id\": \"a7\", \"index\": 0, \"tokens\": 120, \"out_of_vocabulary_tokens\": 3, \"theta\": [0.01, 0.94, ...]}
`id` is null where the input gives none; `index` counts from 0 after --skip-docs. With --top N, theta holds the N
largest shares only, largest first: [{\"topic\": 1, \"weight\": 0.94}, ...]. --uncertainty adds the standard deviation
of each share (`spread`), --tokens the topic of every token ([word, topic] in `token_topics`).

For a model of rows of numbers, `theta` holds the probability of each component; for ica, `sources` holds the mean of each
source given the observation, and --uncertainty adds its standard deviation.

A document always gets the same mixture, whatever stands before or after it and on any number of threads.";

/// Find the topic mixture of each document
#[derive(Clone, Debug, clap::Args)]
#[command(after_long_help = EXAMPLES)]
pub struct InferArgs {
    /// Model to use
    #[arg(value_name = "MODEL")]
    pub model: PathBuf,
    #[command(flatten)]
    pub input: InputArgs,
    /// Read the last file on as it grows, until a signal comes
    #[arg(long)]
    pub follow: bool,
    /// How to write the mixtures: jsonl or csv
    #[arg(long, value_name = "FORMAT", default_value = "jsonl", value_parser = ["jsonl", "csv"], hide_possible_values = true)]
    pub output_format: String,
    /// Write only the N largest shares of each document
    #[arg(long, value_name = "N")]
    pub top: Option<usize>,
    /// Add the topic of every token (jsonl only)
    #[arg(long)]
    pub tokens: bool,
    /// Add the standard deviation of each share
    #[arg(long)]
    pub uncertainty: bool,
    /// Sweeps over each document, of which all but the first quarter are kept
    #[arg(long, value_name = "P", default_value_t = 100)]
    pub sweeps: usize,
}

/// Runs the command.
pub fn run(
    args: &InferArgs,
    general: &General,
    output: &Output,
    interrupt: &Interrupt,
) -> anyhow::Result<Outcome> {
    let csv = args.output_format == "csv";
    if csv && (args.tokens || output.json) {
        let flag = if args.tokens { "--tokens" } else { "--json" };
        return Err(Error::setting(flag, "cannot be written as CSV", "leave --output-format csv out").into());
    }
    if args.top == Some(0) {
        return Err(Error::setting("--top", "0 shares would be written", "use at least 1").into());
    }
    let snapshot = Snapshot::load(&args.model)?;
    let kind = snapshot.settings.model;
    if !kind.has_topics() {
        let is_ica = matches!(kind, ModelKind::Ica { .. });
        let flags = [("--tokens", args.tokens), ("--top", args.top.is_some() && is_ica)];
        refuse(&snapshot, &flags)?;
        if args.sweeps < 2 {
            let problem = "one half of the sweeps is kept, so there must be two at least";
            return Err(Error::setting("--sweeps", problem, "use for example 100").into());
        }
    }
    let inputs = Inputs { follow: args.follow, ..args.input.with(tokenizer_of(&snapshot))? };
    let source = Source::of(&snapshot, inputs.resolve()?)?;
    let columns = columns(&snapshot);
    let mut lines = Lines {
        out: BufWriter::new(data()),
        args,
        name: kind.latent(),
        unit: match kind {
            ModelKind::Lda | ModelKind::Hdp(_) => "topic",
            ModelKind::Ica { .. } => "source",
            _ => "component",
        },
        vocabulary: snapshot.features.vocabulary(),
        shown: args.top.unwrap_or(usize::MAX).min(columns),
        schema: output.json,
    };
    if csv {
        lines.header()?;
    }
    output.progress.start("inferring", source.unit(), source.expected());
    let details = args.tokens || args.uncertainty;
    let inference = MixtureInference { sweeps: args.sweeps, seed: general.seed, details };
    each_mixture(&snapshot, &source, inference, general.threads, interrupt, |inferred| match inferred {
        Inferred::Observation(index, observation, mixture) => {
            output.progress.advance(index + 1, || (String::new(), json!({})));
            if csv { lines.csv(index, observation, mixture) } else { lines.json(index, observation, mixture) }
        }
        Inferred::Pause => lines.out.flush(),
    })?;
    output.progress.finish();
    report_bad(&source.inputs, output);
    Ok(Outcome::Done)
}

/// Number of topics, components or sources of a mixture: where the number of topics is open, all that have not been met
/// yet are one more.
fn columns(model: &Model) -> usize {
    let sticks = model.topic_state().and_then(|state| state.sticks.as_ref());
    model.components() + usize::from(sticks.is_some_and(|sticks| sticks.remainder > 0.0))
}

/// What [`each_mixture`] hands over.
pub enum Inferred<'a> {
    /// A document or a row with its place and its mixture.
    Observation(u64, &'a Observation, &'a Mixture),
    /// The next one may take a while: a good moment to write out what is there.
    Pause,
}

/// Hands over every observation with its place and its mixture, as soon as it is there, holding few at a time.
pub fn each_mixture(
    snapshot: &Snapshot,
    source: &Source,
    inference: MixtureInference,
    threads: usize,
    interrupt: &Interrupt,
    mut each: impl FnMut(Inferred<'_>) -> io::Result<()>,
) -> anyhow::Result<()> {
    if inference.sweeps == 0 {
        return Err(Error::setting("--sweeps", "0 sweeps estimate nothing", "use for example 100").into());
    }
    let (pool, parameters) = (thread_pool(threads)?, snapshot.parameters()?);
    let mut index = 0;
    each_batch(source, interrupt, |some| {
        let mixtures = pool.install(|| parameters.infer(&some, &inference))?;
        for (observation, mixture) in some.iter().zip(&mixtures) {
            each(Inferred::Observation(index, observation, mixture))?;
            index += 1;
        }
        Ok(each(Inferred::Pause)?)
    })
}

/// Where the lines go, and what is on them.
struct Lines<'a, W: Write> {
    out: W,
    args: &'a InferArgs,
    name: &'static str,
    unit: &'static str,
    vocabulary: Vocabulary,
    shown: usize,
    schema: bool,
}

impl<W: Write> Lines<'_, W> {
    fn json(&mut self, index: u64, observation: &Observation, mixture: &Mixture) -> io::Result<()> {
        let mut line = Map::new();
        if self.schema {
            line.insert("schema".into(), json!("gibbstream/infer/1"));
        }
        line.insert("id".into(), json!(observation.id()));
        line.insert("index".into(), json!(index));
        if let Observation::Document(document) = observation {
            line.insert("tokens".into(), json!(document.tokens()));
            line.insert("out_of_vocabulary_tokens".into(), json!(document.out_of_vocabulary));
        }
        let has_spread = self.args.uncertainty && !mixture.spread.is_empty();
        if self.args.top.is_some() {
            let entry = |k: usize| {
                let mut entry = json!({ "topic": k, "weight": mixture.theta[k] });
                if has_spread {
                    entry["spread"] = json!(mixture.spread[k]);
                }
                entry
            };
            let entries: Vec<Value> = self.largest(mixture).into_iter().map(entry).collect();
            line.insert(self.name.into(), json!(entries));
        } else {
            line.insert(self.name.into(), json!(mixture.theta));
            if has_spread {
                line.insert("spread".into(), json!(mixture.spread));
            }
        }
        if self.args.tokens {
            let tokens = mixture.token_topics.iter();
            let tokens: Vec<(&str, u32)> =
                tokens.map(|&(word, topic)| (self.vocabulary.word(word), topic)).collect();
            line.insert("token_topics".into(), json!(tokens));
        }
        serde_json::to_writer(&mut self.out, &line)?;
        self.out.write_all(b"\n")
    }

    /// Whether the spread is a column; a mixture of rows of numbers has none.
    fn has_spread(&self) -> bool {
        self.args.uncertainty && self.unit != "component"
    }

    /// Column names; with `--top` pairs of topic and share, otherwise a column per topic.
    fn header(&mut self) -> io::Result<()> {
        let (unit, spread) = (self.unit, self.has_spread());
        write!(self.out, "id,index")?;
        if unit == "topic" {
            write!(self.out, ",tokens,out_of_vocabulary_tokens")?;
        }
        for k in 0..self.shown {
            let place = k + 1;
            match (self.args.top.is_some(), spread) {
                (true, true) => write!(self.out, ",{unit}_{place},weight_{place},spread_{place}")?,
                (true, false) => write!(self.out, ",{unit}_{place},weight_{place}")?,
                (false, true) => write!(self.out, ",{unit}_{k},spread_{k}")?,
                (false, false) => write!(self.out, ",{unit}_{k}")?,
            }
        }
        self.out.write_all(b"\n")
    }

    fn csv(&mut self, index: u64, observation: &Observation, mixture: &Mixture) -> io::Result<()> {
        let id = observation.id().unwrap_or_default();
        if id.contains(['"', ',', '\n', '\r']) {
            write!(self.out, "\"{}\"", id.replace('"', "\"\""))?;
        } else {
            write!(self.out, "{id}")?;
        }
        write!(self.out, ",{index}")?;
        if let Observation::Document(document) = observation {
            write!(self.out, ",{},{}", document.tokens(), document.out_of_vocabulary)?;
        }
        let top = self.args.top.is_some();
        let topics = if top { self.largest(mixture) } else { (0..self.shown).collect() };
        for k in topics {
            if top {
                write!(self.out, ",{k}")?;
            }
            write!(self.out, ",{}", mixture.theta[k])?;
            if self.has_spread() {
                write!(self.out, ",{}", mixture.spread[k])?;
            }
        }
        self.out.write_all(b"\n")
    }

    /// The topics with the largest shares, largest first.
    fn largest(&self, mixture: &Mixture) -> Vec<usize> {
        let mut topics: Vec<usize> = (0..mixture.theta.len()).collect();
        topics.sort_by(|&a, &b| mixture.theta[b].total_cmp(&mixture.theta[a]));
        topics.truncate(self.shown);
        topics
    }
}
