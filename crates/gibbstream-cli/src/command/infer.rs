//! `infer`: the topic mixture of each document.

use super::evaluate::tokenizer_of;
use crate::Outcome;
use crate::args::General;
use crate::args::input::{InputArgs, report_bad};
use crate::interrupt::Interrupt;
use crate::output::Output;
use crate::stream::Feed;
use gibbstream::Error;
use gibbstream::corpus::{Document, Inputs, Minibatch, ResolvedInputs};
use gibbstream::dense::is_dense;
use gibbstream::inference::mixtures::{Mixture, MixtureInference};
use gibbstream::model_file::TopicModel;
use serde_json::{Map, Value, json};
use std::io::{self, BufWriter, Write};
use std::path::PathBuf;

/// Documents that are worked on together; the result does not depend on it.
const TOGETHER: usize = 256;

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
    if is_dense(&args.model) {
        return super::dense::infer::run(args, general, output, interrupt);
    }
    let csv = args.output_format == "csv";
    if csv && (args.tokens || output.json) {
        let flag = if args.tokens { "--tokens" } else { "--json" };
        return Err(Error::setting(flag, "cannot be written as CSV", "leave --output-format csv out").into());
    }
    if args.top == Some(0) {
        return Err(Error::setting("--top", "0 shares would be written", "use at least 1").into());
    }
    let model = TopicModel::load(&args.model)?;
    let inputs = Inputs { follow: args.follow, ..args.input.with(tokenizer_of(&model))? }.resolve()?;
    let mut lines = Lines {
        out: BufWriter::new(io::stdout().lock()),
        args,
        model: &model,
        shown: args.top.unwrap_or(usize::MAX).min(model.columns()),
        schema: output.json,
    };
    if csv {
        lines.header()?;
    }
    output.progress.start("inferring", "documents", inputs.expected_documents());
    let details = args.tokens || args.uncertainty;
    let inference = MixtureInference { sweeps: args.sweeps, seed: general.seed, details };
    each_mixture(&model, &inputs, inference, general.threads, interrupt, |inferred| match inferred {
        Inferred::Document(index, document, mixture) => {
            output.progress.advance(index + 1, || (String::new(), json!({})));
            if csv { lines.csv(index, document, mixture) } else { lines.json(index, document, mixture) }
        }
        Inferred::Pause => lines.out.flush(),
    })?;
    output.progress.finish();
    report_bad(&inputs, output);
    Ok(Outcome::Done)
}

/// What [`each_mixture`] hands over.
pub enum Inferred<'a> {
    /// A document with its place and its mixture.
    Document(u64, &'a Document, &'a Mixture),
    /// The next document may take a while: a good moment to write out what is there.
    Pause,
}

/// Hands over every document with its place and its mixture, as soon as it is there, holding few at a time.
pub fn each_mixture(
    model: &TopicModel,
    inputs: &ResolvedInputs,
    inference: MixtureInference,
    threads: usize,
    interrupt: &Interrupt,
    mut each: impl FnMut(Inferred<'_>) -> io::Result<()>,
) -> anyhow::Result<()> {
    if inference.sweeps == 0 {
        return Err(Error::setting("--sweeps", "0 sweeps estimate nothing", "use for example 100").into());
    }
    let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().map_err(|error| {
        Error::setting("--threads", format!("cannot start {threads} threads: {error}"), "ask for fewer")
    })?;
    let topics = model.topics();
    let mut feed = Feed::start(inputs.documents(&model.vocabulary), 2 * TOGETHER)?;
    let mut index = 0;
    loop {
        let documents = feed.next_some(TOGETHER, interrupt)?;
        if documents.is_empty() {
            return Ok(());
        }
        let batch = Minibatch::new(&documents, 0, 0);
        let mixtures = pool.install(|| inference.infer(&topics, &batch));
        for (document, mixture) in documents.iter().zip(&mixtures) {
            each(Inferred::Document(index, document, mixture))?;
            index += 1;
        }
        each(Inferred::Pause)?;
    }
}

/// Where the lines go, and what is on them.
struct Lines<'a, W: Write> {
    out: W,
    args: &'a InferArgs,
    model: &'a TopicModel,
    shown: usize,
    schema: bool,
}

impl<W: Write> Lines<'_, W> {
    fn json(&mut self, index: u64, document: &Document, mixture: &Mixture) -> io::Result<()> {
        let mut line = Map::new();
        if self.schema {
            line.insert("schema".into(), json!("gibbstream/infer/1"));
        }
        line.insert("id".into(), json!(document.id));
        line.insert("index".into(), json!(index));
        line.insert("tokens".into(), json!(document.tokens()));
        line.insert("out_of_vocabulary_tokens".into(), json!(document.out_of_vocabulary));
        if self.args.top.is_some() {
            let entry = |k: usize| {
                let mut entry = json!({ "topic": k, "weight": mixture.theta[k] });
                if self.args.uncertainty {
                    entry["spread"] = json!(mixture.spread[k]);
                }
                entry
            };
            let entries: Vec<Value> = self.largest(mixture).into_iter().map(entry).collect();
            line.insert("theta".into(), json!(entries));
        } else {
            line.insert("theta".into(), json!(mixture.theta));
            if self.args.uncertainty {
                line.insert("spread".into(), json!(mixture.spread));
            }
        }
        if self.args.tokens {
            let tokens: Vec<(&str, u32)> = mixture
                .token_topics
                .iter()
                .map(|&(word, topic)| (self.model.vocabulary.word(word), topic))
                .collect();
            line.insert("token_topics".into(), json!(tokens));
        }
        serde_json::to_writer(&mut self.out, &line)?;
        self.out.write_all(b"\n")
    }

    /// Column names; with `--top` pairs of topic and share, otherwise a column per topic.
    fn header(&mut self) -> io::Result<()> {
        write!(self.out, "id,index,tokens,out_of_vocabulary_tokens")?;
        for k in 0..self.shown {
            let place = k + 1;
            match (self.args.top.is_some(), self.args.uncertainty) {
                (true, true) => write!(self.out, ",topic_{place},weight_{place},spread_{place}")?,
                (true, false) => write!(self.out, ",topic_{place},weight_{place}")?,
                (false, true) => write!(self.out, ",topic_{k},spread_{k}")?,
                (false, false) => write!(self.out, ",topic_{k}")?,
            }
        }
        self.out.write_all(b"\n")
    }

    fn csv(&mut self, index: u64, document: &Document, mixture: &Mixture) -> io::Result<()> {
        let id = document.id.as_deref().unwrap_or_default();
        if id.contains(['"', ',', '\n', '\r']) {
            write!(self.out, "\"{}\"", id.replace('"', "\"\""))?;
        } else {
            write!(self.out, "{id}")?;
        }
        write!(self.out, ",{index},{},{}", document.tokens(), document.out_of_vocabulary)?;
        let top = self.args.top.is_some();
        let topics = if top { self.largest(mixture) } else { (0..self.shown).collect() };
        for k in topics {
            if top {
                write!(self.out, ",{k}")?;
            }
            write!(self.out, ",{}", mixture.theta[k])?;
            if self.args.uncertainty {
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
