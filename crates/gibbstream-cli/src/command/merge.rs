//! `merge`: one model from models of the same topics, and fewer topics from many.

use super::topics::load_topics;
use crate::Outcome;
use crate::args::General;
use crate::output::{FAINT, Output, STRONG, WORDS, count, shown};
use gibbstream::evaluation::alignment::Match;
use gibbstream::explore::{Join, Reduction, WordOrder};
use gibbstream::file::{Destination, HistoryEntry, Kind, Model};
use gibbstream::learn::Snapshot;
use gibbstream::learn::merging::{MergeOptions, merge, regroup};
use gibbstream::{Error, Result};
use serde::Serialize;
use serde_json::json;
use std::fmt::Write;
use std::path::PathBuf;

const EXAMPLES: &str = "\
Examples:
  gibbstream merge monday.gbs tuesday.gbs --out week.gbs          one model from parts of a corpus
  gibbstream merge model.gbs --reduce 20 --out small.gbs          join the closest topics until 20 are left
  gibbstream merge model.gbs --join 3,7 --delete 12 --out new.gbs
  gibbstream compare model.gbs small.gbs held_out.jsonl           the effect on held-out scores

The statistics of the models are added: the result has the mean over the documents of all parts, and the sum of their
word counts. Topics are paired with those of the first model so that the sum of their divergences is minimal. Models
whose topics do not match are refused. Topics match if all parts continue from one model:
  gibbstream train first.jsonl --topics 50 --out base.gbs
  gibbstream train monday.jsonl --continue base.gbs --out monday.gbs         and so on, on any machine
  gibbstream merge monday.gbs tuesday.gbs --base base.gbs --out week.gbs

--reduce K repeatedly joins the two topics whose union loses the least information about words, in nats per token.
--join and --delete use the topic numbers of the first model. The topics of the result are renumbered. Labels are kept.

hdp and lds models have no statistics that can be added, and are refused.";

/// Words of a topic that are shown.
const WORDS_SHOWN: usize = 5;

/// Merge models with the same topics, or join and delete topics of a model
#[derive(Clone, Debug, clap::Args)]
#[command(after_long_help = EXAMPLES)]
pub struct MergeArgs {
    /// Models with the same topics, trained on parts of a corpus; or one model, to change its topics
    #[arg(value_name = "MODEL", required = true)]
    models: Vec<PathBuf>,
    /// Write the model to this file
    #[arg(long, short, value_name = "MODEL")]
    out: PathBuf,
    /// Model that all of them were continued from, so that its documents count only once
    #[arg(long, value_name = "MODEL")]
    base: Option<PathBuf>,
    /// Join the closest topics until K are left
    #[arg(long, value_name = "K")]
    reduce: Option<usize>,
    /// Join these topics into one, such as 3,7 (can be repeated)
    #[arg(long, value_name = "ID,ID,...", value_parser = parse_topics)]
    join: Vec<Topics>,
    /// Delete these topics, such as 3,7
    #[arg(long, value_name = "ID,...", value_parser = parse_topics)]
    delete: Vec<Topics>,
    /// Minimum similarity of topics that are merged: 1 for identical words, 0 for no closer than other topics
    #[arg(long, value_name = "X", default_value_t = 0.5)]
    same: f64,
    /// Allow models with different vocabularies; the result has all words
    #[arg(long)]
    union: bool,
}

/// Numbers of topics.
#[derive(Clone, Debug)]
struct Topics(Vec<usize>);

fn parse_topics(text: &str) -> Result<Topics, String> {
    let number = |part: &str| {
        part.trim().parse().map_err(|_| format!("`{part}` is not the number of a topic; write them as 3,7"))
    };
    text.split(',').map(number).collect::<Result<_, _>>().map(Topics)
}

#[derive(Serialize)]
struct Report {
    schema: &'static str,
    inputs: Vec<InputReport>,
    out: String,
    model_hash: String,
    documents: u64,
    tokens: u64,
    vocabulary: usize,
    /// Words that some of the models do not know.
    partial_words: usize,
    /// The topics of the result, and those of the first model that they are made of.
    topics: Vec<TopicReport>,
    deleted: Vec<usize>,
    joins: Vec<JoinReport>,
    #[serde(skip_serializing_if = "Option::is_none")]
    information: Option<Information>,
    warnings: Vec<String>,
}

#[derive(Serialize)]
struct InputReport {
    model: String,
    model_hash: String,
    documents: u64,
    tokens: u64,
    /// Which of its topics (b) is which of the first model (a); nothing for the first.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pairs: Vec<Match>,
}

#[derive(Serialize)]
struct TopicReport {
    id: usize,
    from: Vec<usize>,
    share: f64,
    words: Vec<String>,
}

#[derive(Serialize)]
struct JoinReport {
    #[serde(flatten)]
    join: Join,
    words: Vec<String>,
    with_words: Vec<String>,
}

/// What topics tell of words, in nats per token.
#[derive(Serialize)]
struct Information {
    unit: &'static str,
    before: f64,
    after: f64,
    lost: f64,
}

/// Runs the command.
pub fn run(args: &MergeArgs, general: &General, output: &Output) -> anyhow::Result<Outcome> {
    args.check()?;
    let names: Vec<String> = args.models.iter().map(|path| path.display().to_string()).collect();
    let models = args.models.iter().map(|path| load_topics(path)).collect::<Result<Vec<_>>>()?;
    let place = Destination::new(&args.out, Kind::MODEL, general.force);
    place.check(&args.models)?;
    let named: Vec<(&str, &Snapshot)> = names.iter().map(String::as_str).zip(&models).collect();
    let base = args.base.as_ref().map(|path| load_topics(path)).transpose()?;
    let base_name = args.base.as_ref().map(|path| path.display().to_string()).unwrap_or_default();
    let base = base.as_ref().map(|base| (base_name.as_str(), base));
    let merged = merge(&named, &MergeOptions { same: args.same, union: args.union, base })?;
    let mut changed = Changed::new(args, &names[0], merged.model, output)?;
    changed.model.history.extend(changed.entry(args, &names));
    changed.model.save_to(&place)?;
    let inputs = inputs(args, &models, &merged.pairs);
    let result = Snapshot::new(changed.model);
    let best = best_words(&result)?;
    let shares = &result.parameters()?.topics()?.shares;
    let topics = changed.groups.into_iter().zip(best).zip(shares).enumerate();
    let report = Report {
        schema: "gibbstream/merge/1",
        inputs,
        out: args.out.display().to_string(),
        model_hash: result.hash(),
        documents: result.clock().seen,
        tokens: result.tokens(),
        vocabulary: result.settings.features,
        partial_words: merged.partial_words,
        topics: topics.map(|(id, ((from, words), &share))| TopicReport { id, from, share, words }).collect(),
        deleted: changed.deleted,
        joins: changed.joins,
        information: changed.information,
        warnings: output.warnings(),
    };
    if output.json {
        output.print_json(&report)?;
    } else {
        output.print(&summary(&report)?)?;
    }
    Ok(Outcome::Done)
}

impl MergeArgs {
    fn check(&self) -> Result<()> {
        let changes = self.reduce.is_some() || !self.join.is_empty() || !self.delete.is_empty();
        if self.models.len() == 1 && !changes {
            let advice = "name another model, or say what to do with --reduce, --join or --delete";
            return Err(Error::setting("MODEL", "there is nothing to merge", advice));
        }
        if !(0.0..=1.0).contains(&self.same) {
            let problem = format!("{} is not a similarity from 0 to 1", self.same);
            return Err(Error::setting("--same", problem, "use for example 0.5"));
        }
        if self.reduce == Some(0) {
            return Err(Error::setting("--reduce", "no topic would be left", "use 1 or more"));
        }
        Ok(())
    }

    /// The topics of the result before any are joined by what they lose: which of the first model each is made of.
    fn groups(&self, topics: usize) -> Vec<Vec<usize>> {
        let deleted: Vec<usize> = self.delete.iter().flat_map(|topics| topics.0.clone()).collect();
        let mut joined: Vec<Vec<usize>> = self.join.iter().map(|topics| topics.0.clone()).collect();
        let named: Vec<usize> = joined.iter().flatten().copied().collect();
        let alone = (0..topics).filter(|topic| !named.contains(topic) && !deleted.contains(topic));
        joined.extend(alone.map(|topic| vec![topic]));
        joined.sort_by_key(|group| group.iter().min().copied());
        joined
    }
}

/// A model after its topics were joined and taken out.
struct Changed {
    model: Model,
    groups: Vec<Vec<usize>>,
    deleted: Vec<usize>,
    joins: Vec<JoinReport>,
    information: Option<Information>,
}

impl Changed {
    fn new(args: &MergeArgs, name: &str, model: Model, output: &Output) -> Result<Self> {
        let (topics, before) = (model.components(), Snapshot::new(model));
        let mut deleted: Vec<usize> = args.delete.iter().flat_map(|topics| topics.0.clone()).collect();
        deleted.sort_unstable();
        if let Some(twice) = deleted.iter().find(|topic| args.join.iter().any(|join| join.0.contains(topic)))
        {
            let problem = format!("topic {twice} is both joined and deleted");
            return Err(Error::setting("--delete", problem, "do one of them"));
        }
        if let Some(unknown) = deleted.iter().find(|topic| **topic >= topics) {
            let problem = format!("there is no topic {unknown}: the model has topics 0 to {}", topics - 1);
            return Err(Error::setting("--delete", problem, "see `gibbstream topics` for their numbers"));
        }
        let mut groups = args.groups(topics);
        // What is wrong with them is found out before they are used.
        let mut model = regroup(name, &before, &groups)?;
        let asked = args.reduce.unwrap_or(groups.len());
        if asked > groups.len() {
            let problem = format!("there are {} topics, which cannot become {asked}", groups.len());
            return Err(Error::setting("--reduce", problem, "use a smaller number"));
        }
        let (mut joins, mut information) = (Vec::new(), None);
        if groups.len() < topics || asked < groups.len() {
            let parameters = before.parameters()?.topics()?;
            let each: Vec<Vec<usize>> = (0..topics).map(|topic| vec![topic]).collect();
            let whole = Reduction::new(parameters, &each).information();
            let mut reduction = Reduction::new(parameters, &groups);
            output.progress.start("joining", "topics", Some((groups.len() - asked) as u64));
            let most = groups.len();
            let found = reduction.reduce(asked, |left| {
                output.progress.advance((most - left) as u64, || (String::new(), json!({})));
            });
            output.progress.finish();
            let best = best_words(&before)?;
            let report = |join: Join| JoinReport {
                words: best[join.topics[0]].clone(),
                with_words: best[join.with[0]].clone(),
                join,
            };
            joins = found.into_iter().map(report).collect();
            let after = reduction.information();
            information =
                Some(Information { unit: "nats per token", before: whole, after, lost: whole - after });
            groups = reduction.groups();
            model = regroup(name, &before, &groups)?;
        }
        Ok(Self { model, groups, deleted, joins, information })
    }

    /// What the history of the model says of it, if topics were changed.
    fn entry(&self, args: &MergeArgs, names: &[String]) -> Option<HistoryEntry> {
        let mut changes = Vec::new();
        let list = |topics: &[usize]| topics.iter().map(ToString::to_string).collect::<Vec<_>>().join("+");
        if !self.deleted.is_empty() {
            changes.push(format!("topics taken out: {}", list(&self.deleted).replace('+', ", ")));
        }
        let joined: Vec<String> =
            self.groups.iter().filter(|group| group.len() > 1).map(|group| list(group)).collect();
        if !joined.is_empty() {
            changes.push(format!("topics joined: {}", joined.join(", ")));
        }
        let inputs = if args.models.len() == 1 { names.to_vec() } else { Vec::new() };
        (!changes.is_empty()).then(|| HistoryEntry { changes, ..HistoryEntry::new("change topics", inputs) })
    }
}

fn inputs(args: &MergeArgs, models: &[Snapshot], pairs: &[Vec<Match>]) -> Vec<InputReport> {
    let pairs = std::iter::once(Vec::new()).chain(pairs.iter().cloned());
    let input = |((path, model), pairs): ((&PathBuf, &Snapshot), Vec<Match>)| InputReport {
        model: path.display().to_string(),
        model_hash: model.hash(),
        documents: model.clock().seen,
        tokens: model.tokens(),
        pairs,
    };
    args.models.iter().zip(models).zip(pairs).map(input).collect()
}

fn best_words(model: &Snapshot) -> Result<Vec<Vec<String>>> {
    let vocabulary = model.features.vocabulary();
    let topics = model.summaries(WORDS_SHOWN, WordOrder::Telling)?.into_iter();
    Ok(topics
        .map(|topic| topic.words.iter().map(|&(word, _)| vocabulary.word(word).to_owned()).collect())
        .collect())
}

fn summary(report: &Report) -> Result<String, std::fmt::Error> {
    let mut text = String::new();
    let words = |words: &[String]| words.iter().map(|word| shown(word)).collect::<Vec<_>>().join(" ");
    for input in report.inputs.iter().skip(1) {
        let mean = input.pairs.iter().map(|found| found.similarity).sum::<f64>() / input.pairs.len() as f64;
        let least = input.pairs.iter().map(|found| found.similarity).fold(1.0, f64::min);
        writeln!(
            text,
            "{}: {} documents, topics similar to those of {}: {mean:.2}, at least {least:.2}",
            input.model,
            count(input.documents),
            report.inputs[0].model
        )?;
    }
    for JoinReport { join, words: first, with_words } in &report.joins {
        writeln!(
            text,
            "{STRONG}{} + {}{STRONG:#}  {FAINT}loses {:.5}{FAINT:#}  {WORDS}{}{WORDS:#} | {WORDS}{}{WORDS:#}",
            join.topics[0],
            join.with[0],
            join.loss,
            words(first),
            words(with_words)
        )?;
    }
    if let Some(Information { before, after, lost, .. }) = &report.information {
        let share = if *before > 0.0 { 100.0 * lost / before } else { 0.0 };
        writeln!(
            text,
            "information of topics about words: {before:.4} nats per token before, {after:.4} after, {share:.1} % lost"
        )?;
    }
    if report.partial_words > 0 {
        writeln!(text, "{} words are known to only some of the models", count(report.partial_words as u64))?;
    }
    writeln!(
        text,
        "{STRONG}{}{STRONG:#}: {} topics, {} documents, {} tokens",
        report.out,
        report.topics.len(),
        count(report.documents),
        count(report.tokens)
    )?;
    Ok(text)
}
