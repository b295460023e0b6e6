//! `infer`: the topic mixture of each document, or the latent part of each row of numbers.

mod mixture_writer;

use super::evaluate::tokenizer_of;
use crate::Outcome;
use crate::args::General;
use crate::args::input::{InputArgs, report_bad, report_found};
use crate::interrupt::Interrupt;
use crate::output::Output;
use crate::source::{Source, each_batch, refuse, thread_pool};
use crate::table::TableFormat;
use gibbstream::Error;
use gibbstream::corpus::Inputs;
use gibbstream::file::{Destination, Kind, Model};
use gibbstream::inference::mixtures::{MixtureInference, TopicMixture};
use gibbstream::learn::{ModelKind, Observation, Snapshot};
use serde_json::json;
use std::ffi::OsStr;
use std::io::IsTerminal;
use std::path::{Path, PathBuf};

const EXAMPLES: &str = "\
Examples:
  gibbstream infer model.gbs new.jsonl > mixtures.jsonl
  cat new.txt | gibbstream infer model.gbs - --top 3
  gibbstream infer model.gbs new.jsonl --assign --top 0 --pass-through date,title -o topics.csv
  gibbstream infer model.gbs new.jsonl --output-format parquet -o mixtures.parquet

jsonl writes one line per document, in input order:
  {\"id\": \"a7\", \"index\": 0, \"tokens\": 120, \"out_of_vocabulary_tokens\": 3, \"theta\": [0.01, 0.94, ...]}
`id` is null if the input has none; `index` counts from 0 after --skip-docs. With --top N, theta holds the N
largest shares only, largest first: [{\"topic\": 1, \"weight\": 0.94}, ...].

  --assign        adds `topic` and `confidence`: the single topic that fits the document best. Topics with a large
                  share of all words are scaled down, so that a topic found in every document does not win them all.
                  The confidence is the winner's part of the sum of these weights, from 0 to 1.
  --tokens        adds `token_topics`, the topic of every word in one sample: [[\"word\", 1], ...].
  --uncertainty   adds `spread`, the standard deviation of each share.
  --pass-through  copies fields of the input, such as a date or a category.

csv and parquet have one column per topic (topic_0, topic_1, ...), or topic_1, weight_1, topic_2, ... with --top.
Numbers are written with 6 significant digits; --digits 17 is exact, and so is Parquet.

For a model of rows of numbers, `theta` holds the probability of each component. For ica, `sources` holds the mean of
each source given the observation, and --uncertainty adds its standard deviation.

A document always gets the same mixture, whatever other documents are in the input.";

/// Compute the topic mixture of each document
#[derive(Clone, Debug, clap::Args)]
#[expect(clippy::struct_excessive_bools, reason = "one for each flag")]
#[command(after_long_help = EXAMPLES)]
pub struct InferArgs {
    /// Model to use
    #[arg(value_name = "MODEL")]
    pub model: PathBuf,
    #[command(flatten)]
    pub input: InputArgs,
    /// Keep reading the last file as it grows, until interrupted
    #[arg(long)]
    pub follow: bool,
    /// File to write to [default: standard output]
    #[arg(long, short, value_name = "FILE")]
    pub out: Option<PathBuf>,
    /// Output format: jsonl, csv or parquet [default: by the extension of --out, or jsonl]
    #[arg(long, value_name = "FORMAT", value_parser = ["jsonl", "csv", "parquet"], hide_possible_values = true)]
    pub output_format: Option<String>,
    /// Write only the N largest topics of each document (0: none, with --assign)
    #[arg(long, value_name = "N")]
    pub top: Option<usize>,
    /// Add the single topic that fits the document best, with a confidence
    #[arg(long)]
    pub assign: bool,
    /// Add the topic of every word
    #[arg(long)]
    pub tokens: bool,
    /// Add the standard deviation of each share
    #[arg(long)]
    pub uncertainty: bool,
    /// Copy these fields from the input (comma-separated)
    #[arg(long, value_name = "FIELD,...", value_delimiter = ',')]
    pub pass_through: Vec<String>,
    /// Significant digits of numbers in jsonl and csv; 17 is exact
    #[arg(long, value_name = "N", default_value_t = 6)]
    pub digits: usize,
    /// Sweeps over each document; the first quarter is dropped as burn-in
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
    check(args, output)?;
    let snapshot = Snapshot::load_to_ask(&args.model)?;
    check_for(args, &snapshot)?;
    let kept_fields = args.pass_through.clone();
    let inputs =
        Inputs { follow: args.follow, kept_fields, ..args.input.with(tokenizer_of(&snapshot))? }.resolve()?;
    report_found(&inputs, output);
    let place = args.out.as_ref().map(|path| Destination::new(path, args.format().kind(), general.force));
    if let Some(place) = &place {
        let mut read = inputs.files();
        read.push(args.model.clone());
        place.check_beside(&read)?;
    }
    let source = Source::of(&snapshot, inputs)?;
    let mut out = mixture_writer::MixtureWriter::open(args, place.as_ref(), &snapshot, output.json)?;
    output.progress.start("inferring", source.unit(), source.expected());
    let details = args.tokens || args.uncertainty;
    let inference = MixtureInference { sweeps: args.sweeps, seed: general.seed, details };
    each_mixture(&snapshot, &source, inference, general.threads, interrupt, |inferred| match inferred {
        Inferred::Observation(index, observation, mixture) => {
            output.progress.advance(index + 1, || (String::new(), json!({})));
            out.write(index, observation, mixture)
        }
        Inferred::Pause => out.flush(),
    })?;
    output.progress.finish();
    out.finish()?.iter().for_each(|field| {
        output.warn(format_args!("no document has a field `{field}`, which --pass-through asks for"));
    });
    report_bad(&source.inputs, output);
    Ok(Outcome::Done)
}

/// Refuses flags that contradict each other.
fn check(args: &InferArgs, output: &Output) -> gibbstream::Result<()> {
    let format = args.format();
    if output.json && format != OutputFormat::JsonLines {
        return Err(Error::setting("--json", "is JSON lines", "leave it or --output-format out"));
    }
    if args.top == Some(0) && !args.assign {
        return Err(Error::setting("--top", "0 shares would be written", "use at least 1, or add --assign"));
    }
    if args.digits == 0 {
        return Err(Error::setting("--digits", "0 is not a number of digits", "use for example 6"));
    }
    if format == OutputFormat::Table(TableFormat::Parquet)
        && args.out.is_none()
        && std::io::stdout().is_terminal()
    {
        let problem = "Parquet cannot be written to a terminal";
        return Err(Error::setting("--output-format", problem, "name a file with --out"));
    }
    Ok(())
}

/// Refuses flags that mean nothing for a model.
fn check_for(args: &InferArgs, snapshot: &Snapshot) -> gibbstream::Result<()> {
    let kind = snapshot.settings.model;
    if kind.has_topics() {
        return Ok(());
    }
    let is_ica = matches!(kind, ModelKind::Ica { .. });
    let flags = [
        ("--tokens", args.tokens),
        ("--assign", args.assign),
        ("--pass-through", !args.pass_through.is_empty()),
        ("--top", args.top.is_some() && is_ica),
    ];
    refuse(snapshot, &flags)?;
    if args.sweeps < 2 {
        let problem = "half of the sweeps are kept, so at least 2 are needed";
        return Err(Error::setting("--sweeps", problem, "use for example 100"));
    }
    Ok(())
}

/// How mixtures are written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum OutputFormat {
    JsonLines,
    Table(TableFormat),
}

impl OutputFormat {
    /// What a file may hold that is replaced.
    fn kind(self) -> Kind {
        match self {
            Self::JsonLines => Kind { name: "mixtures as JSON lines", recognise: is_mixture },
            Self::Table(TableFormat::Csv { .. }) => {
                Kind { name: "a table of mixtures", recognise: |start| start.starts_with(b"id,index,") }
            }
            Self::Table(TableFormat::Parquet) => {
                let name = "a table that is known to be ours, which Parquet does not tell";
                Kind { name, recognise: |_| false }
            }
        }
    }
}

fn is_mixture(start: &[u8]) -> bool {
    let line = start.split(|&byte| byte == b'\n').next().unwrap_or_default();
    let line = serde_json::from_slice::<serde_json::Value>(line).unwrap_or_default();
    line["index"].is_u64() && ["theta", "sources", "topic"].iter().any(|&field| !line[field].is_null())
}

impl InferArgs {
    /// What was asked for, or what the name of the file says.
    fn format(&self) -> OutputFormat {
        let ending = self.out.as_deref().and_then(Path::extension).and_then(OsStr::to_str);
        match self.output_format.as_deref().or(ending) {
            Some("csv") => OutputFormat::Table(TableFormat::Csv { digits: self.digits }),
            Some("parquet") => OutputFormat::Table(TableFormat::Parquet),
            _ => OutputFormat::JsonLines,
        }
    }
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
    Observation(u64, &'a Observation, &'a TopicMixture),
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
    mut each: impl FnMut(Inferred<'_>) -> anyhow::Result<()>,
) -> anyhow::Result<()> {
    if inference.sweeps == 0 {
        return Err(Error::setting("--sweeps", "0 is not a number of sweeps", "use for example 100").into());
    }
    let (pool, parameters) = (thread_pool(threads)?, snapshot.parameters()?);
    let mut index = 0;
    each_batch(source, interrupt, |some| {
        let mixtures = pool.install(|| parameters.infer(&some, &inference))?;
        for (observation, mixture) in some.iter().zip(&mixtures) {
            each(Inferred::Observation(index, observation, mixture))?;
            index += 1;
        }
        each(Inferred::Pause)
    })
}
