//! `export`: the parameters of a model in formats that other tools read.

use crate::Outcome;
use crate::args::General;
use crate::output::Output;
use gibbstream::file::npy::write_npy;
use gibbstream::file::{Kind, Model, NewFile, claim_folder, is_of_kind};
use gibbstream::learn::knobs::parts;
use gibbstream::learn::{Array, Parameters, Snapshot, Values};
use gibbstream::model::topics::lda::Topics;
use serde_json::{Value, json};
use std::path::{Path, PathBuf};

const EXAMPLES: &str = "\
Examples:
  gibbstream export model.gbs --format npy arrays/
  python3 -c 'import numpy; print(numpy.load(\"arrays/beta.npy\").shape)'

npy writes beta.npy (topics x words, 64-bit floats, rows sum to 1), alpha.npy, vocab.txt (word w on line w + 1) and
model.json (settings, counters, history). For a model of rows of numbers it writes its parameters, one array each, and
model.json.";

/// Write the parameters of a model for other tools
#[derive(Clone, Debug, clap::Args)]
#[command(after_long_help = EXAMPLES)]
pub struct ExportArgs {
    /// Model to export
    #[arg(value_name = "MODEL")]
    model: PathBuf,
    /// Folder to write to; made if need be
    #[arg(value_name = "DIR")]
    folder: PathBuf,
    /// What to write
    #[arg(long, default_value = "npy", value_parser = ["npy"])]
    format: String,
}

/// The file that tells what is exported, and that a folder is one of ours.
const DESCRIPTION: &str = "model.json";
const OURS: Kind = Kind {
    name: "the description of a model",
    recognise: |start| find(start, b"\"gibbstream/model/").is_some(),
};

fn find(bytes: &[u8], what: &[u8]) -> Option<usize> {
    bytes.windows(what.len()).position(|window| window == what)
}

/// Runs the command.
pub fn run(args: &ExportArgs, general: &General, output: &Output) -> anyhow::Result<Outcome> {
    let (folder, snapshot) = (&args.folder, Snapshot::load(&args.model)?);
    let written = files_of(snapshot.parameters()?);
    claim_folder(folder, &written, |folder| is_of_kind(&folder.join(DESCRIPTION), OURS), general.force)?;
    let mut files = match snapshot.parameters()? {
        Parameters::Topics(parameters) => topics(&parameters.topics, &snapshot, folder)?,
        Parameters::Rows(parameters) => arrays(&parameters.arrays, folder)?,
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
fn files_of(parameters: &Parameters) -> Vec<String> {
    let arrays: Vec<&str> = match parameters {
        Parameters::Topics(_) => vec!["beta", "alpha"],
        Parameters::Rows(rows) => rows.arrays.iter().map(|array| array.name).collect(),
    };
    let arrays = arrays.into_iter().map(|name| format!("{name}.npy"));
    arrays.chain(["vocab.txt".to_owned(), DESCRIPTION.to_owned()]).collect()
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
    let mut file = NewFile::create(path)?;
    file.write(text.as_bytes())?;
    file.finish()
}
