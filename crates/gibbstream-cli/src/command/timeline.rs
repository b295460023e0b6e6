//! `timeline`: shares and words of topics by period or by group.

mod picture;

mod rows;

use super::evaluate::tokenizer_of;
use super::report::records;
use super::topics::load_topics;
use crate::Outcome;
use crate::args::General;
use crate::args::input::{InputArgs, report_bad, report_found};
use crate::interrupt::Interrupt;
use crate::output::{Output, STRONG, count, data};
use crate::source::{Source, each_batch, thread_pool};
use crate::table::{ALL_DIGITS, TableFormat};
use gibbstream::explore::{By, RecordFields, ShareExplorer, ShareOptions, TopicShares};
use gibbstream::file::{Destination, Kind};
use gibbstream::learn::Snapshot;
use gibbstream::{Error, Result};
use serde_json::json;
use std::io::Write;
use std::path::PathBuf;

const EXAMPLES: &str = "\
Examples:
  gibbstream timeline model.gbs news.jsonl --time-field date --by month > topics.csv
  gibbstream timeline model.gbs news.jsonl --time-field date --by week --out topics.svg
  gibbstream timeline model.gbs news.jsonl --group-field source --out sources.csv
  gibbstream timeline model.gbs news.jsonl --time-field date --json

Each document is read once, and has the mixture that `infer` gives. Shares are shares of tokens. The 95 % confidence
interval (low, high) is for other documents of the same kind. There is no interval for a period with one document, and
no share for a period without documents.

CSV and Parquet have one row per topic and period (or group): start or group, documents, tokens, topic, label, share,
low, high, words (the most frequent of the topic's typical words), more and less (words used more or less than in the
period before, or than in the other groups, by at least 2 standard errors).

Times are RFC 3339 (2024-05-17T10:30:00Z), dates (2024-05-17, 2024-05, 2024) or seconds since 1970. Periods are in UTC, and
weeks start on Monday. --by N uses the shortest period that gives at most N periods.";

/// Show topics over time or by group
#[derive(Clone, Debug, clap::Args)]
#[command(after_long_help = EXAMPLES)]
pub struct TimelineArgs {
    /// Model to use
    #[arg(value_name = "MODEL")]
    model: PathBuf,
    #[command(flatten)]
    input: InputArgs,
    /// Field with the time of each document
    #[arg(
        long,
        value_name = "NAME",
        conflicts_with = "group_field",
        required_unless_present = "group_field"
    )]
    time_field: Option<String>,
    /// Field with the group of each document, such as its source or class
    #[arg(long, value_name = "NAME")]
    group_field: Option<String>,
    /// Length of a period: hour, day, week, month, quarter, year, or the maximum number of periods [default: 120]
    #[arg(long, value_name = "PERIOD", value_parser = |text: &str| text.parse::<By>())]
    by: Option<By>,
    /// Output format: csv, json, parquet or svg [default: by the extension of --out, or csv]
    #[arg(long, value_name = "FORMAT", value_parser = ["csv", "json", "parquet", "svg"], hide_possible_values = true)]
    output_format: Option<String>,
    /// File to write [default: standard output]
    #[arg(long, short, value_name = "FILE")]
    out: Option<PathBuf>,
    /// Words per topic and period or group, at most 30
    #[arg(long, value_name = "N", default_value_t = 5)]
    words: usize,
    /// Number of topics in the picture, those with the largest shares
    #[arg(long, value_name = "N", default_value_t = 8)]
    topics_shown: usize,
    /// Sweeps over each document; the first quarter is dropped as burn-in
    #[arg(long, value_name = "P", default_value_t = 100)]
    sweeps: usize,
}

/// How it is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Format {
    Csv,
    Json,
    Parquet,
    Svg,
}

impl Format {
    fn by_name(name: &str) -> Option<Self> {
        match name {
            "csv" => Some(Self::Csv),
            "json" => Some(Self::Json),
            "parquet" => Some(Self::Parquet),
            "svg" => Some(Self::Svg),
            _ => None,
        }
    }

    /// What may be replaced by it.
    fn kind(self) -> Kind {
        match self {
            Self::Csv => Kind { name: "such a table", recognise: rows::is_csv },
            Self::Json => Kind { name: "such data", recognise: is_json },
            // Parquet files tell what they are at their end; nobody wants to lose a corpus.
            Self::Parquet => Kind { name: "something that may be lost", recognise: |_| false },
            Self::Svg => Kind { name: "such a picture", recognise: crate::plot::is_plot },
        }
    }
}

fn is_json(start: &[u8]) -> bool {
    let start = String::from_utf8_lossy(&start[..start.len().min(1000)]).into_owned();
    start.starts_with('{') && start.contains("\"gibbstream/timeline/")
}

/// Runs the command.
pub fn run(
    args: &TimelineArgs,
    general: &General,
    output: &Output,
    interrupt: &Interrupt,
) -> anyhow::Result<Outcome> {
    let format = args.format(output)?;
    let snapshot = load_topics(&args.model)?;
    let options = ShareOptions {
        fields: RecordFields { time: args.time_field.clone(), group: args.group_field.clone() },
        by: args.by.unwrap_or_default(),
        words: args.words,
        sweeps: args.sweeps,
        seed: general.seed,
    };
    let source = args.source(&snapshot, &options.fields, output)?;
    let place = args.out.as_ref().map(|out| Destination::new(out, format.kind(), general.force));
    if let Some(place) = &place {
        let mut inputs = source.inputs.files();
        inputs.push(args.model.clone());
        place.check(&inputs)?;
    }
    interrupt.defer();
    let pool = thread_pool(general.threads)?;
    let mut explorer = pool.install(|| ShareExplorer::new(&snapshot, &options))?;
    output.progress.start("reading", "documents", source.expected());
    let mut seen = 0;
    each_batch(&source, interrupt, |some| {
        seen += some.len() as u64;
        let records = records(some, &options.fields)?;
        pool.install(|| explorer.look(records))?;
        output.progress.advance(seen, || (String::new(), json!({})));
        Ok(())
    })?;
    output.progress.finish();
    report_bad(&source.inputs, output);
    if let Some(signal) = interrupt.received() {
        output.note("interrupted: nothing was written");
        return Ok(Outcome::Interrupted(signal));
    }
    let shares = pool.install(|| explorer.finish())?;
    say(&shares, output);
    write(args, format, place.as_ref(), &shares, output)
}

impl TimelineArgs {
    fn format(&self, output: &Output) -> Result<Format> {
        let refuse = |flag: &str, problem: &str, advice: &str| Err(Error::setting(flag, problem, advice));
        if !(1..=30).contains(&self.words) {
            return refuse("--words", "this is not a number of words from 1 to 30", "use for example 5");
        }
        if self.by.is_some() && self.time_field.is_none() {
            return refuse(
                "--by",
                "groups have no length",
                "leave it out, or follow topics over time with --time-field",
            );
        }
        if self.topics_shown == 0 {
            return refuse("--topics-shown", "0 topics would be shown", "use 1 or more");
        }
        let extension = self.out.as_ref().and_then(|out| out.extension()?.to_str());
        let format = match (&self.output_format, extension) {
            (Some(name), _) => Format::by_name(name),
            (None, Some(extension)) => Format::by_name(&extension.to_lowercase()),
            (None, None) => None,
        };
        let format = format.unwrap_or(if output.json { Format::Json } else { Format::Csv });
        match (&self.out, output.json) {
            (None, true) if format != Format::Json => refuse(
                "--json",
                "standard output cannot hold both the result and what --json prints",
                "leave it out, or name a file with --out",
            ),
            (None, _) if format == Format::Parquet => {
                refuse("--out", "Parquet needs a file to write to", "name one, such as --out topics.parquet")
            }
            _ => Ok(format),
        }
    }

    /// The documents with their times or groups.
    fn source(&self, snapshot: &Snapshot, fields: &RecordFields, output: &Output) -> Result<Source> {
        let inputs = self.input.with(tokenizer_of(snapshot))?;
        let text = inputs.text_field.clone();
        let inputs = inputs.resolve()?;
        report_found(&inputs, output);
        Source::of(snapshot, fields.kept_by(&inputs, &text))
    }
}

/// What the numbers do not say.
fn say(shares: &TopicShares, output: &Output) {
    if shares.documents_without_words > 0 {
        output.warn(format_args!(
            "{} of {} documents have no word that the model knows; they are left out",
            count(shares.documents_without_words),
            count(shares.documents)
        ));
    }
    let empty = shares.classes.iter().filter(|class| class.documents == 0).count();
    if empty > 0 {
        let all = shares.classes.len();
        output.detail(format_args!("{empty} of {all} periods have no documents, and so no shares"));
    }
}

fn write(
    args: &TimelineArgs,
    format: Format,
    place: Option<&Destination>,
    shares: &TopicShares,
    output: &Output,
) -> anyhow::Result<Outcome> {
    let title = args.model.file_name().map_or_else(String::new, |name| name.to_string_lossy().into_owned());
    let bytes = match format {
        Format::Csv => rows::written(shares, TableFormat::Csv { digits: ALL_DIGITS })?,
        Format::Parquet => rows::written(shares, TableFormat::Parquet)?,
        Format::Json => (serde_json::to_string(&with_warnings(shares, output)?)? + "\n").into_bytes(),
        Format::Svg => picture::draw(shares, &title, args.topics_shown).svg().into_bytes(),
    };
    let Some(place) = place else {
        output.progress.finish();
        let mut out = data();
        out.write_all(&bytes)?;
        out.flush()?;
        return Ok(Outcome::Done);
    };
    let mut file = place.create()?;
    file.write(&bytes)?;
    file.finish()?;
    if output.json {
        output.print_json(&with_warnings(shares, output)?)?;
    } else {
        let what =
            if shares.by == "group" { "groups".to_owned() } else { format!("periods of one {}", shares.by) };
        output.note(format_args!(
            "{STRONG}{}{STRONG:#}: {} topics in {} {what}",
            place.path().display(),
            shares.topics.len(),
            shares.classes.len()
        ));
    }
    Ok(Outcome::Done)
}

fn with_warnings(shares: &TopicShares, output: &Output) -> anyhow::Result<serde_json::Value> {
    let mut facts = serde_json::to_value(shares)?;
    facts["warnings"] = json!(output.warnings());
    Ok(facts)
}
