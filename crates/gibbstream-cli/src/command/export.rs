//! `export`: the parameters of a model in formats that other tools read.

use crate::Outcome;
use crate::output::Output;
use gibbstream::Error;
use gibbstream::dense::is_dense;
use gibbstream::learn::knobs::parts;
use gibbstream::model_file::TopicModel;
use gibbstream::npy::write_npy;
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

/// Runs the command.
pub fn run(args: &ExportArgs, output: &Output) -> anyhow::Result<Outcome> {
    let folder = &args.folder;
    if is_dense(&args.model) {
        return super::dense::export::run(&args.model, folder, output);
    }
    let model = TopicModel::load(&args.model)?;
    std::fs::create_dir_all(folder).map_err(|source| Error::io(folder, "create", source))?;
    let topics = model.topics();
    let (rows, words) = (topics.topics(), topics.vocabulary());
    // The model holds its table by word, NumPy users expect it by topic.
    let beta = (0..rows).flat_map(|k| topics.beta.iter().skip(k).step_by(rows).copied());
    write_npy(folder.join("beta.npy"), &[rows, words], beta)?;
    write_npy(folder.join("alpha.npy"), &[rows], topics.alpha.iter().copied())?;
    let mut list: String = model.vocabulary.words().collect::<Vec<_>>().join("\n");
    list.push('\n');
    write(&folder.join("vocab.txt"), &list)?;
    write(&folder.join("model.json"), &format!("{:#}\n", describe(&model)))?;
    let files = ["beta.npy", "alpha.npy", "vocab.txt", "model.json"];
    if output.json {
        output.print_json(&json!({
            "schema": "gibbstream/export/1",
            "format": args.format,
            "folder": folder,
            "files": files,
            "model_hash": model.learnt.hash(),
        }))?;
    } else {
        output.note(format_args!("{} are in {}", files.join(", "), folder.display()));
    }
    Ok(Outcome::Done)
}

/// Everything about a model that is not an array.
pub fn describe(model: &TopicModel) -> Value {
    let (settings, learnt) = (&model.settings, &model.learnt);
    let mut facts = json!({
        "schema": "gibbstream/model/1",
        "model": settings.model.name(),
        "method": settings.name,
        "parts": parts(settings),
        "topics": learnt.state.counts.topics(),
        "vocabulary": settings.features,
        "batch": settings.batch,
        "seed": settings.seed.0,
        "documents": learnt.clock.seen,
        "tokens": learnt.tokens,
        "updates": learnt.clock.update,
        "alpha_sum": learnt.state.alpha.alpha.iter().sum::<f64>(),
        "model_hash": learnt.hash(),
        "tokenizer": model.tokenizer,
        "history": model.history,
    });
    if let (Some(hdp), Some(sticks)) = (settings.model.hdp(), &learnt.state.sticks) {
        facts["hdp"] = json!(hdp);
        facts["topics_used"] = json!(learnt.topics_used());
        facts["topics_created"] = json!(sticks.created);
        facts["remainder"] = json!(sticks.remainder);
        // Scores and mixtures have one more topic then: all that have not been met yet, with uniform words.
        facts["last_topic_is_remainder"] = json!(sticks.remainder > 0.0);
    }
    facts
}

pub fn write(path: &Path, text: &str) -> gibbstream::Result<()> {
    std::fs::write(path, text).map_err(|source| Error::io(path, "write", source))
}
