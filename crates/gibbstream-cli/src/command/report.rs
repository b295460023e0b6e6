//! `report`: one offline page to explore a model and its documents.

use super::evaluate::tokenizer_of;
use super::label::read_labels;
use super::topics::load_topics;
use crate::Outcome;
use crate::args::General;
use crate::args::input::{ReadingArgs, report_bad};
use crate::interrupt::Interrupt;
use crate::output::{Output, STRONG, bytes, count};
use crate::source::{Source, each_batch, thread_pool};
use gibbstream::explore::page::{PageFile, PageFormat};
use gibbstream::explore::report::{Commands, Report};
use gibbstream::explore::{self, ExploreOptions, Explorer, Other, Record, RecordFields};
use gibbstream::file::Destination;
use gibbstream::learn::{Observation, Snapshot};
use gibbstream::{Error, Result};
use serde_json::json;
use std::path::{Path, PathBuf};

const EXAMPLES: &str = "\
Examples:
  gibbstream report model.gbs --out page.html                          topics and words
  gibbstream report model.gbs reviews.jsonl --out page.html            with documents
  gibbstream report model.gbs news.jsonl --out page.html --time-field date --group-field source
  gibbstream report new.gbs reviews.jsonl --out page.html --compare old.gbs
  gibbstream report model.gbs reviews.jsonl --out page.html --labels labels.json
  gibbstream report model.gbs reviews.jsonl --format json > report.json

The page is a single file that opens from disk. It contains its data and loads nothing from the network. docs/page.md
explains its numbers. Each document is read once, and memory does not depend on the number of documents.

Times are RFC 3339 (2024-05-17T10:30:00Z), dates (2024-05-17, 2024-05, 2024) or seconds since 1970. Labels, notes, hidden
and merged topics can be exported from the page to a file for --labels or `gibbstream label`.";

/// Write a web page (one offline file) to explore a model and its documents
#[derive(Clone, Debug, clap::Args)]
#[command(after_long_help = EXAMPLES)]
pub struct ReportArgs {
    /// Model to show
    #[arg(value_name = "MODEL")]
    model: PathBuf,
    /// Documents to show: files, patterns, folders, or `-` for standard input
    #[arg(value_name = "INPUT")]
    inputs: Vec<PathBuf>,
    /// File to write [default: standard output with --format json]
    #[arg(long, short, value_name = "FILE")]
    out: Option<PathBuf>,
    /// Output format: html (the page) or json (only its data)
    #[arg(id = "page-format", long = "format", value_name = "FORMAT", default_value = "html", value_parser = ["html", "json"], hide_possible_values = true)]
    page_format: String,
    /// Title of the page [default: the name of the model]
    #[arg(long, value_name = "TEXT")]
    title: Option<String>,
    /// Field with the time of each document; adds topics over time
    #[arg(long, value_name = "NAME")]
    time_field: Option<String>,
    /// Field with the group of each document, such as its source; adds topics by group
    #[arg(long, value_name = "NAME")]
    group_field: Option<String>,
    /// File with labels, as exported by the page
    #[arg(long, value_name = "FILE")]
    labels: Option<PathBuf>,
    /// Accept labels of another model, by topic id
    #[arg(long, requires = "labels")]
    force_labels: bool,
    /// Show at most N documents: the most typical of each topic, then a uniform sample
    #[arg(long, value_name = "N", default_value_t = 2_000)]
    max_documents: usize,
    /// Model to compare with
    #[arg(long, value_name = "MODEL")]
    compare: Option<PathBuf>,
    /// Order words by X log p(word | topic) + (1 - X) log p(word | topic) / p(word) when the page opens
    #[arg(long, value_name = "X", default_value_t = 0.6)]
    lambda: f64,
    /// Sweeps over each document; the first quarter is dropped as burn-in
    #[arg(long, value_name = "P", default_value_t = 100)]
    sweeps: usize,
    #[command(flatten)]
    reading: ReadingArgs,
}

/// Runs the command.
pub fn run(
    args: &ReportArgs,
    general: &General,
    output: &Output,
    interrupt: &Interrupt,
) -> anyhow::Result<Outcome> {
    let snapshot = Snapshot::load(&args.model)?;
    args.check(&snapshot, output)?;
    let other = args.compare.as_ref().map(|path| load_topics(path).map(|model| (path, model))).transpose()?;
    let other = other.as_ref().map(|(path, snapshot)| Other { name: file_name(path), snapshot });
    let options = ExploreOptions { threads: general.threads, seed: general.seed, ..args.options(&snapshot)? };
    let source = (!args.inputs.is_empty()).then(|| args.source(&snapshot)).transpose()?;
    // Opened first: a folder that does not exist should not be found out after an hour.
    let place = args.out.as_ref().map(|out| Destination::new(out, PageFile::KIND, general.force));
    let file = place.map(|place| PageFile::create(&place, &args.files(source.as_ref()))).transpose()?;
    interrupt.defer();
    let pool = thread_pool(general.threads)?;
    let report = if let Some(source) = source {
        let mut explorer = pool.install(|| Explorer::new(&snapshot, &options, other.as_ref()))?;
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
        refuse_unknown(pool.install(|| explorer.finish())?)?
    } else {
        pool.install(|| explore::report(&snapshot, &options, other.as_ref()))?
    };
    write(report, file, args, &snapshot, output)
}

impl ReportArgs {
    fn check(&self, snapshot: &Snapshot, output: &Output) -> Result<()> {
        if !(0.0..=1.0).contains(&self.lambda) {
            let problem = format!("{} is not in [0, 1]", self.lambda);
            return Err(Error::setting(
                "--lambda",
                problem,
                "use 1 for frequent words, 0.6 for typical ones",
            ));
        }
        if self.out.is_none() && self.page_format == "html" {
            return Err(Error::setting(
                "--out",
                "there is no file to write to",
                "name one, such as --out page.html",
            ));
        }
        if self.out.is_none() && output.json {
            let problem = "standard output cannot hold both the data and what --json prints";
            return Err(Error::setting("--json", problem, "leave it out, or name a file with --out"));
        }
        let needs_documents =
            [("--time-field", self.time_field.is_some()), ("--group-field", self.group_field.is_some())];
        if let Some((flag, _)) = needs_documents.iter().find(|(_, given)| *given && self.inputs.is_empty()) {
            return Err(Error::setting(*flag, "there are no documents", "name INPUT, or leave it out"));
        }
        let kind = snapshot.settings.model;
        if !kind.has_topics() {
            let given = [
                ("INPUT", !self.inputs.is_empty()),
                ("--labels", self.labels.is_some()),
                ("--compare", self.compare.is_some()),
            ];
            if let Some((flag, _)) = given.iter().find(|(_, given)| *given) {
                let problem = format!("a {} has no topics and no words", kind.name());
                return Err(Error::setting(
                    *flag,
                    problem,
                    "leave it out: the page shows the components of the model",
                ));
            }
        }
        Ok(())
    }

    fn options(&self, snapshot: &Snapshot) -> Result<ExploreOptions> {
        let title = self.title.clone().unwrap_or_else(|| file_name(&self.model));
        let labels =
            self.labels.as_deref().map(|path| read_labels(path, snapshot, self.force_labels)).transpose()?;
        Ok(ExploreOptions {
            title,
            max_documents: self.max_documents,
            sweeps: self.sweeps,
            lambda: self.lambda,
            fields: RecordFields { time: self.time_field.clone(), group: self.group_field.clone() },
            labels: labels.unwrap_or_default(),
            commands: self.commands(),
            ..ExploreOptions::default()
        })
    }

    /// How to make the page again.
    fn commands(&self) -> Commands {
        let text = |path: &PathBuf| path.to_string_lossy().into_owned();
        let (model, inputs) = (text(&self.model), self.inputs.iter().map(text).collect::<Vec<_>>());
        let mut words: Vec<String> = vec!["gibbstream".into(), "report".into(), model.clone()];
        words.extend(inputs.iter().cloned());
        words.extend(self.reading.words());
        let fields = [
            ("--time-field", self.time_field.clone()),
            ("--group-field", self.group_field.clone()),
            ("--compare", self.compare.as_ref().map(text)),
            ("--labels", self.labels.as_ref().map(text)),
            ("--out", self.out.as_ref().map(text)),
        ];
        for (flag, value) in fields {
            words.extend(value.into_iter().flat_map(|value| [flag.to_owned(), value]));
        }
        let program: Vec<String> = words.iter().map(|word| quoted(word)).collect();
        let python = self.python(&model);
        Commands { model, inputs, program: program.join(" "), python }
    }

    /// How to make the page again in Python, where documents are in memory.
    fn python(&self, model: &str) -> String {
        let written = |path: &Path| json!(path.to_string_lossy()).to_string();
        let out = self.out.as_deref().unwrap_or(Path::new("page.html"));
        let mut call = written(out);
        let named = [
            (!self.inputs.is_empty(), "texts".to_owned()),
            (self.time_field.is_some(), "times=times".to_owned()),
            (self.group_field.is_some(), "groups=groups".to_owned()),
        ];
        let other = self.compare.as_deref().map(|path| format!("compare=gibbstream.load({})", written(path)));
        let labels = self.labels.as_deref().map(|path| format!("labels={}", written(path)));
        let given = named.into_iter().filter(|(given, _)| *given).map(|(_, word)| word);
        for word in given.chain(other).chain(labels) {
            call = format!("{call}, {word}");
        }
        format!("gibbstream.load({}).report({call})", json!(model))
    }

    /// Everything that is read, and so must not be written to.
    fn files(&self, source: Option<&Source>) -> Vec<PathBuf> {
        let mut files = source.map_or_else(Vec::new, |source| source.inputs.files());
        files.push(self.model.clone());
        files.extend(self.compare.iter().chain(&self.labels).cloned());
        files
    }

    /// The documents, with what the page shows of them.
    fn source(&self, snapshot: &Snapshot) -> Result<Source> {
        let inputs = self.reading.with(self.inputs.clone(), tokenizer_of(snapshot))?;
        let text = inputs.text_field.clone();
        let inputs = inputs.resolve()?;
        let fields = RecordFields { time: self.time_field.clone(), group: self.group_field.clone() };
        Source::of(snapshot, fields.kept_by(&inputs, &text))
    }
}

/// A word of a command line as a shell reads it.
fn quoted(word: &str) -> String {
    let plain = |c: char| c.is_ascii_alphanumeric() || "-_./=:,@%+".contains(c);
    if !word.is_empty() && word.chars().all(plain) {
        word.to_owned()
    } else {
        format!("'{}'", word.replace('\'', "'\\''"))
    }
}

fn file_name(path: &Path) -> String {
    path.file_name().map_or_else(|| path.to_string_lossy(), |name| name.to_string_lossy()).into_owned()
}

pub fn records(some: Vec<Observation>, fields: &RecordFields) -> Result<Vec<Record>> {
    let record = |observation: Observation| match observation {
        Observation::Document(document) => Record::read(document, fields),
        Observation::Row(_) => Err(Error::setting("INPUT", "a topic model reads documents", "give some")),
    };
    some.into_iter().map(record).collect()
}

/// Documents without any known word are counted; if there are no others, there is nothing to show.
fn refuse_unknown(report: Report) -> Result<Report> {
    match &report.documents {
        Some(documents) if documents.are_unknown() => {
            let problem = format!("none of {} documents has a word that the model knows", documents.total);
            let advice = "check --text-field, and that the model was trained on similar texts";
            Err(Error::setting("INPUT", problem, advice))
        }
        _ => Ok(report),
    }
}

fn write(
    report: Report,
    file: Option<PageFile>,
    args: &ReportArgs,
    snapshot: &Snapshot,
    output: &Output,
) -> anyhow::Result<Outcome> {
    let format = if args.page_format == "json" { PageFormat::Json } else { PageFormat::Html };
    let documents = report.documents.as_ref();
    let mut facts = json!({
        "schema": "gibbstream/report-file/1",
        "out": args.out.as_ref().map(|out| out.to_string_lossy()),
        "format": args.page_format,
        "model_hash": snapshot.hash(),
        "topics": report.topics.len(),
        "words": report.words.text.len(),
        "documents": documents.map(|documents| documents.total),
        "documents_shown": documents.map(|documents| documents.ids.len()),
        "documents_without_words": documents.map(|documents| documents.without_words),
        "periods": report.timeline.as_ref().map(|timeline| timeline.starts.len()),
        "period": report.timeline.as_ref().map(|timeline| timeline.by.clone()),
        "groups": report.groups.as_ref().map(|groups| groups.names.len()),
    });
    if let Some(documents) = documents.filter(|documents| documents.without_words > 0) {
        output.warn(format_args!(
            "{} of {} documents have no word that the model knows; they are counted, but not shown",
            count(documents.without_words),
            count(documents.total)
        ));
    }
    if report.components.is_some() {
        output.note(format_args!("a {} has no topics: the page shows its components", report.model.kind));
    }
    let Some(file) = file else {
        gibbstream::explore::page::write_json(&report, std::io::stdout().lock())?;
        return Ok(Outcome::Done);
    };
    let size = file.finish(report, format)?;
    facts["bytes"] = json!(size);
    facts["warnings"] = json!(output.warnings());
    if output.json {
        output.print_json(&facts)?;
    } else if let Some(out) = &args.out {
        output.note(format_args!(
            "{STRONG}{}{STRONG:#} ({}): open it in a browser",
            out.display(),
            bytes(size)
        ));
    }
    Ok(Outcome::Done)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn command_lines_are_quoted_for_a_shell() {
        assert_eq!(quoted("corpus/a-1.jsonl"), "corpus/a-1.jsonl");
        assert_eq!(quoted("logs/*.jsonl"), "'logs/*.jsonl'");
        assert_eq!(quoted("it's"), "'it'\\''s'");
        assert_eq!(quoted(""), "''");
    }
}
