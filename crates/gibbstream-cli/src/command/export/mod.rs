//! `export`: the parameters of a model in formats that other tools read.

mod ldavis;

use crate::Outcome;
use crate::args::General;
use crate::interrupt::Interrupt;
use crate::output::Output;
use crate::table::{ALL_DIGITS, Cell, Column, Kind, TableFormat, TableWriter};
use gibbstream::Error;
use gibbstream::file::npy::write_npy;
use gibbstream::file::{self, Model, NewFile, claim_folder, is_of_kind};
use gibbstream::learn::knobs::parts;
use gibbstream::learn::{Array, Parameters, Snapshot, TopicParameters, Values};
use gibbstream::model::topics::lda::Topics;
use serde_json::{Value, json};
use std::path::{Path, PathBuf};

const EXAMPLES: &str = "\
Examples:
  gibbstream export model.gbs arrays/
  python3 -c 'import numpy; print(numpy.load(\"arrays/beta.npy\").shape)'
  gibbstream export model.gbs tables/ --format csv
  gibbstream export model.gbs vis/ --format ldavis --documents corpus.jsonl
  python3 -c 'import json, pyLDAvis as p; p.save_html(p.prepare(**json.load(open(\"vis/ldavis.json\"))), \"vis.html\")'

npy      beta.npy (topics x words, 64-bit floats, rows sum to 1), alpha.npy, vocab.txt (word w on line w + 1)
csv      topics.csv (share, alpha, diagnostics and top words of each topic) and words.csv (one row per word: how often
         it occurred in training, and its probability in each topic)
parquet  the same two tables as topics.parquet and words.parquet
ldavis   ldavis.json, the arguments of pyLDAvis.prepare. pyLDAvis uses documents only to weight the topics. Without
         --documents, one artificial document per topic is used, with the topic's share of the words as its length.

All formats also write model.json (settings, counters, history). Models of rows of numbers can be exported as npy, one
array per parameter.";

/// Words that a table of topics shows.
const TOP_WORDS: usize = 10;

/// Export the parameters of a model for other tools
#[derive(Clone, Debug, clap::Args)]
#[command(after_long_help = EXAMPLES)]
pub struct ExportArgs {
    /// Model to export
    #[arg(value_name = "MODEL")]
    model: PathBuf,
    /// Folder to write to; created if it does not exist
    #[arg(value_name = "DIR", required_unless_present = "out")]
    folder: Option<PathBuf>,
    /// The same as DIR
    #[arg(long, short, value_name = "DIR", conflicts_with = "folder")]
    out: Option<PathBuf>,
    /// Output format
    #[arg(long, default_value = "npy", value_parser = ["npy", "csv", "parquet", "ldavis"])]
    format: String,
    /// Documents for ldavis
    #[arg(long, value_name = "INPUT")]
    documents: Vec<PathBuf>,
    /// JSON field or column with the text of these documents
    #[arg(long, value_name = "NAME", default_value = "text")]
    text_field: String,
}

/// The file that tells what is exported, and that a folder is one of ours.
const DESCRIPTION: &str = "model.json";
const OURS: file::Kind = file::Kind {
    name: "the description of a model",
    recognise: |start| find(start, b"\"gibbstream/model/").is_some(),
};

fn find(bytes: &[u8], what: &[u8]) -> Option<usize> {
    bytes.windows(what.len()).position(|window| window == what)
}

/// Runs the command.
pub fn run(
    args: &ExportArgs,
    general: &General,
    output: &Output,
    interrupt: &Interrupt,
) -> anyhow::Result<Outcome> {
    let missing = || Error::setting("DIR", "there is no folder to write to", "name one");
    let folder = args.folder.as_ref().or(args.out.as_ref()).ok_or_else(missing)?;
    if args.format != "ldavis" && !args.documents.is_empty() {
        let problem = format!("{} shows no documents", args.format);
        return Err(Error::setting("--documents", problem, "leave it out, or use --format ldavis").into());
    }
    let snapshot = Snapshot::load(&args.model)?;
    if args.format != "npy" && !snapshot.settings.model.has_topics() {
        let problem = format!("a {} has no topics", snapshot.settings.model.name());
        return Err(Error::setting("--format", problem, "use --format npy").into());
    }
    let written = files_of(&args.format, snapshot.parameters()?);
    claim_folder(folder, &written, |folder| is_of_kind(&folder.join(DESCRIPTION), OURS), general.force)?;
    let mut files = match (snapshot.parameters()?, args.format.as_str()) {
        (Parameters::Topics(parameters), "npy") => topics(&parameters.topics, &snapshot, folder)?,
        (Parameters::Rows(parameters), _) => arrays(&parameters.arrays, folder)?,
        (Parameters::Topics(parameters), "ldavis") => {
            let mixtures = ldavis::Mixtures { args, snapshot: &snapshot, general, output, interrupt };
            ldavis::write(parameters, &mixtures, folder)?
        }
        (Parameters::Topics(parameters), "csv") => {
            tables(parameters, &snapshot, folder, TableFormat::Csv { digits: ALL_DIGITS })?
        }
        (Parameters::Topics(parameters), _) => tables(parameters, &snapshot, folder, TableFormat::Parquet)?,
    };
    write(&folder.join(DESCRIPTION), &format!("{:#}\n", describe(&snapshot)))?;
    files.push(DESCRIPTION.into());
    if output.json {
        output.print_json(&json!({
            "schema": "gibbstream/export/1",
            "format": args.format,
            "folder": folder.display().to_string(),
            "files": files,
            "model_hash": snapshot.hash(),
        }))?;
    } else {
        output.note(format_args!("{} are in {}", files.join(", "), folder.display()));
    }
    Ok(Outcome::Done)
}

/// What will be written.
fn files_of(format: &str, parameters: &Parameters) -> Vec<String> {
    let files: Vec<String> = match (format, parameters) {
        ("ldavis", _) => vec![ldavis::FILE.to_owned()],
        ("csv" | "parquet", _) => vec![format!("topics.{format}"), format!("words.{format}")],
        (_, Parameters::Topics(_)) => ["beta.npy", "alpha.npy", "vocab.txt"].map(str::to_owned).to_vec(),
        (_, Parameters::Rows(rows)) => {
            rows.arrays.iter().map(|array| format!("{}.npy", array.name)).collect()
        }
    };
    files.into_iter().chain([DESCRIPTION.to_owned()]).collect()
}

/// Topics and words.
fn topics(topics: &Topics, model: &Model, folder: &Path) -> gibbstream::Result<Vec<String>> {
    let (rows, words) = (topics.topics(), topics.vocabulary());
    // The model holds its table by word, NumPy users expect it by topic.
    let beta = (0..rows).flat_map(|k| topics.beta.iter().skip(k).step_by(rows).copied());
    write_npy(folder.join("beta.npy"), &[rows, words], beta)?;
    write_npy(folder.join("alpha.npy"), &[rows], topics.alpha.iter().copied())?;
    let mut list: String = model.features.vocabulary().words().collect::<Vec<_>>().join("\n");
    list.push('\n');
    write(&folder.join("vocab.txt"), &list)?;
    Ok(["beta.npy", "alpha.npy", "vocab.txt"].map(str::to_owned).to_vec())
}

/// A table of topics and a table of words.
fn tables(
    parameters: &TopicParameters,
    model: &Snapshot,
    folder: &Path,
    format: TableFormat,
) -> anyhow::Result<Vec<String>> {
    let ending = if format == TableFormat::Parquet { "parquet" } else { "csv" };
    let names = [format!("topics.{ending}"), format!("words.{ending}")];
    let vocabulary = model.features.vocabulary();
    let columns = [
        ("topic", Kind::Whole),
        ("share", Kind::Number),
        ("alpha", Kind::Number),
        ("effective_words", Kind::Number),
        ("exclusivity", Kind::Number),
        ("words", Kind::Text),
    ]
    .map(|(name, kind)| (name.to_owned(), kind));
    let rows = parameters.summaries(TOP_WORDS, 1.0).into_iter().enumerate().map(|(id, topic)| {
        let words: Vec<&str> = topic.words.iter().map(|&(word, _)| vocabulary.word(word)).collect();
        vec![
            Cell::Whole(id as i64),
            Cell::Number(topic.share),
            Cell::Number(topic.alpha),
            Cell::Number(topic.effective_words),
            Cell::Number(topic.exclusivity),
            Cell::Text(words.join(" ")),
        ]
    });
    write_table(&folder.join(&names[0]), format, &columns, rows)?;

    let (counts, topics) = (model.word_counts(), &parameters.topics);
    let mut columns = vec![("word".to_owned(), Kind::Text), ("count".to_owned(), Kind::Whole)];
    columns.extend((0..parameters.met()).map(|k| (format!("topic_{k}"), Kind::Number)));
    let rows = vocabulary.words().zip(topics.beta.chunks_exact(topics.topics())).enumerate();
    let rows = rows.map(|(id, (word, weights))| {
        let mut row = vec![Cell::Text(word.to_owned()), Cell::Whole(counts[id] as i64)];
        row.extend(weights[..parameters.met()].iter().map(|&weight| Cell::Number(weight)));
        row
    });
    write_table(&folder.join(&names[1]), format, &columns, rows)?;
    Ok(names.to_vec())
}

fn write_table(
    path: &Path,
    format: TableFormat,
    columns: &[Column],
    rows: impl Iterator<Item = Vec<Cell>>,
) -> anyhow::Result<()> {
    let mut file = NewFile::create(path)?;
    let mut table = TableWriter::new(file.writer(), format, columns)?;
    for row in rows {
        table.row(row)?;
    }
    table.finish()?;
    Ok(file.finish()?)
}

/// Every parameter of a model of numbers.
fn arrays(arrays: &[Array<'_>], folder: &Path) -> gibbstream::Result<Vec<String>> {
    let mut files = Vec::new();
    for Array { name, shape, values } in arrays {
        let file = format!("{name}.npy");
        let Values::Floats(values) = values else { continue };
        write_npy(folder.join(&file), shape, values.iter().copied())?;
        files.push(file);
    }
    Ok(files)
}

/// Everything about a model that is not an array.
pub fn describe(model: &Model) -> Value {
    let (settings, clock) = (&model.settings, model.clock());
    let mut facts = json!({
        "schema": "gibbstream/model/1",
        "model": settings.model.name(),
        "method": settings.name,
        "parts": parts(settings),
        "topics": model.components(),
        "vocabulary": settings.features,
        "batch": settings.batch,
        "seed": settings.seed.0,
        "documents": clock.seen,
        "tokens": model.tokens(),
        "updates": clock.update,
        "model_hash": model.hash(),
        "history": model.history,
    });
    let Some(state) = model.topic_state() else {
        let (method, window) = (&settings.method, settings.method.window());
        facts["settings"] = json!({
            "model": settings.model,
            "name": settings.name,
            "components": settings.components,
            "dimension": settings.features,
            "batch": settings.batch,
            "step": method.step,
            "averaging": method.averaging,
            "boost": method.boost,
            "sweeps": method.sweeps,
            "window": window,
            "seed": settings.seed,
        });
        facts["columns"] = json!(model.features.columns());
        return facts;
    };
    facts["mode"] = json!(settings.mode);
    facts["alpha_sum"] = json!(state.alpha.alpha.iter().sum::<f64>());
    facts["tokenizer"] = json!(model.tokenizer);
    if let (Some(sticks), Some((used, created))) = (&state.sticks, model.open_topics()) {
        facts["hdp"] = json!(settings.model.hdp());
        facts["topics_used"] = json!(used);
        facts["topics_created"] = json!(created);
        facts["remainder"] = json!(sticks.remainder);
        // Scores and mixtures have one more topic then: all that have not been met yet, with uniform words.
        facts["last_topic_is_remainder"] = json!(sticks.remainder > 0.0);
    }
    facts
}

fn write(path: &Path, text: &str) -> gibbstream::Result<()> {
    file::replace(path, text.as_bytes())
}
