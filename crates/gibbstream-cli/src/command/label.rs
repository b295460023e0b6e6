//! `label`: show the labels, kept in the model.

use super::topics::load_topics;
use crate::Outcome;
use crate::args::General;
use crate::output::{FAINT, Output, STRONG, WORDS, count, fit, shown};
use gibbstream::explore::report::{Label, Labels};
use gibbstream::explore::{WordOrder, automatic_labels, topic_names};
use gibbstream::file::{Destination, Kind, LabelSource, Model};
use gibbstream::learn::Snapshot;
use gibbstream::{Error, Result};
use serde::Serialize;
use serde_json::json;
use std::collections::BTreeMap;
use std::fmt::Write;
use std::path::{Path, PathBuf};

const EXAMPLES: &str = "\
Examples:
  gibbstream label model.gbs                                     show the labels
  gibbstream label model.gbs --set 3='court cases' --set 7=football
  gibbstream label model.gbs --set 3=                            remove the label
  gibbstream label model.gbs --file labels.json                  exported by the page
  gibbstream label model.gbs --auto                              generate from the words
  gibbstream label model.gbs --file labels.json --out named.gbs  keep model.gbs unchanged

Labels are stored in the model file. `topics`, `timeline`, `report`, the service and Python show them. `train --continue`,
checkpoints and `merge` keep them. The model_hash does not depend on them.

Labels that were set take precedence over generated ones. Topics without a label show their most distinctive words.";

/// Words of a topic that are shown beside its label.
const WORDS_SHOWN: usize = 8;

/// Show, set or generate topic labels, which are stored in the model
#[derive(Clone, Debug, clap::Args)]
#[command(after_long_help = EXAMPLES)]
pub struct LabelArgs {
    /// Model whose topics are labelled
    #[arg(value_name = "MODEL")]
    model: PathBuf,
    /// Set the label of topic ID; an empty TEXT removes it (can be repeated)
    #[arg(long, value_name = "ID=TEXT", value_parser = parse_set)]
    set: Vec<(u32, String)>,
    /// File with labels, notes, hidden and merged topics, as exported by the page
    #[arg(long, value_name = "FILE")]
    file: Option<PathBuf>,
    /// Accept labels of another model, by topic id
    #[arg(long, requires = "file")]
    force_labels: bool,
    /// Generate a label for every topic from its words; labels that were set are kept
    #[arg(long)]
    auto: bool,
    /// Write to this file instead of the model's own
    #[arg(long, short, value_name = "MODEL")]
    out: Option<PathBuf>,
}

/// A topic and what it is called.
#[derive(Serialize)]
struct Named {
    id: usize,
    label: String,
    /// Whether somebody gave it, or the program.
    label_by: LabelSource,
    share: f64,
    words: Vec<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    note: Option<String>,
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    hidden: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    merged_into: Option<u32>,
}

/// Runs the command.
pub fn run(args: &LabelArgs, general: &General, output: &Output) -> anyhow::Result<Outcome> {
    let changes = !args.set.is_empty() || args.file.is_some() || args.auto;
    if args.out.is_some() && !changes {
        let advice = "give --set, --file or --auto, or leave it out";
        return Err(Error::setting("--out", "there is nothing to change", advice).into());
    }
    let mut snapshot = load_topics(&args.model)?;
    let mut written: Option<PathBuf> = None;
    if changes {
        let place = args.out.as_ref().unwrap_or(&args.model);
        let place = Destination::new(place, Kind::MODEL, general.force);
        let model = changed(args, &snapshot)?;
        model.save_to(&place)?;
        written = Some(place.path().to_owned());
        snapshot = Snapshot::new(model);
    }
    let named = named(&snapshot)?;
    if output.json {
        output.print_json(&json!({
            "schema": "gibbstream/label/1",
            "model_hash": snapshot.hash(),
            "out": written.as_ref().map(|written| written.to_string_lossy()),
            "topics": named,
        }))?;
    } else if let Some(written) = written {
        let kept = snapshot.topic_names().iter().flatten().count() as u64;
        let labels = if kept == 1 { "label is" } else { "labels are" };
        output.note(format_args!("{} {labels} in {STRONG}{}{STRONG:#}", count(kept), written.display()));
    } else {
        output.print(&table(&named)?)?;
    }
    Ok(Outcome::Done)
}

/// The model with its labels changed.
fn changed(args: &LabelArgs, snapshot: &Snapshot) -> Result<Model> {
    // What else is in a checkpoint would be lost.
    let (mut model, run) = Model::load_with(&args.model)?;
    if run.is_some() {
        let problem = "is the checkpoint of a run, which goes on by itself";
        let advice = "label the model that the run writes (--out)";
        return Err(Error::setting(args.model.display().to_string(), problem, advice));
    }
    if args.auto {
        model.make_labels(&automatic_labels(snapshot)?);
    }
    if let Some(file) = &args.file {
        model.set_labels(&read_labels(file, &model, args.force_labels)?)?;
    }
    // A note or a mark of the page stays when a topic gets another name.
    let mut written = model.labels();
    let mut set = BTreeMap::new();
    for (topic, text) in &args.set {
        let label = Label { label: Some(text.clone()), ..written.remove(topic).unwrap_or_default() };
        set.insert(*topic, label);
    }
    model.set_labels(&set)?;
    Ok(model)
}

/// The labels in a file, which must be those of the model.
pub fn read_labels(path: &Path, model: &Model, of_any_model: bool) -> Result<BTreeMap<u32, Label>> {
    let setting = path.display().to_string();
    let text = std::fs::read_to_string(path).map_err(|error| Error::io(path, "read", error))?;
    let labels = Labels::parse(&text).map_err(|problem| {
        Error::setting(&setting, format!("is not a file of labels: {problem}"), "export labels from the page")
    })?;
    let hash = model.hash();
    if labels.model_hash != hash && !of_any_model {
        let problem = format!("its labels are for the model {}, and this one is {hash}", labels.model_hash);
        let advice = "use the model they were made for, or --force-labels to take them by topic id";
        return Err(Error::setting(&setting, problem, advice));
    }
    Ok(labels.topics)
}

fn parse_set(text: &str) -> Result<(u32, String), String> {
    let example = "write the topic, an equals sign and the label, such as 3='court cases'";
    let (topic, label) = text.split_once('=').ok_or(example)?;
    let topic =
        topic.trim().parse().map_err(|_| format!("`{topic}` is not the number of a topic; {example}"))?;
    Ok((topic, label.to_owned()))
}

/// All topics with what they are called.
fn named(snapshot: &Snapshot) -> Result<Vec<Named>> {
    let vocabulary = snapshot.features.vocabulary();
    let summaries = snapshot.summaries(WORDS_SHOWN, WordOrder::Telling)?;
    let mut written = snapshot.labels();
    let names = topic_names(snapshot)?.into_iter().zip(summaries).enumerate();
    let named = |(id, ((label, label_by), summary)): (usize, ((String, LabelSource), _))| {
        let summary: gibbstream::summary::TopicSummary = summary;
        let Label { note, hidden, merged_into, .. } = written.remove(&(id as u32)).unwrap_or_default();
        let words = summary.words.iter().map(|&(word, _)| vocabulary.word(word).to_owned()).collect();
        Named { id, label, label_by, share: summary.share, words, note, hidden, merged_into }
    };
    Ok(names.map(named).collect())
}

fn table(topics: &[Named]) -> Result<String, std::fmt::Error> {
    const WIDTH: usize = 40;
    let mut text = format!("{STRONG}topic   share  {:WIDTH$}  words{STRONG:#}\n", "label");
    for topic in topics {
        let style = if topic.label_by == LabelSource::User { STRONG } else { FAINT };
        let words: Vec<_> = topic.words.iter().map(|word| shown(word)).collect();
        writeln!(
            text,
            "{:5}  {:5.1}%  {style}{}{style:#}  {WORDS}{}{WORDS:#}",
            topic.id,
            100.0 * topic.share,
            fit(&topic.label, WIDTH),
            words.join(" ")
        )?;
        if let Some(note) = &topic.note {
            writeln!(text, "{:15}{FAINT}{}{FAINT:#}", "", fit(note, 90).trim_end())?;
        }
    }
    Ok(text)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn labels_are_set_by_topic() {
        assert_eq!(parse_set("3=court cases"), Ok((3, "court cases".into())));
        assert_eq!(parse_set("0=a=b"), Ok((0, "a=b".into())));
        assert_eq!(parse_set("12="), Ok((12, String::new())));
        for bad in ["3", "=x", "-1=x", "x=3", "3.5=x", "99999999999=x"] {
            assert!(parse_set(bad).unwrap_err().contains("such as 3='court cases'"), "{bad}");
        }
    }
}
