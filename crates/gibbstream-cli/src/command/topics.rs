//! `topics`: the words of each topic, its share, and whether it is any good.

use super::evaluate::tokenizer_of;
use super::infer::{Inferred, each_mixture};
use crate::Outcome;
use crate::args::General;
use crate::args::input::{ReadingArgs, report_bad, report_found};
use crate::interrupt::Interrupt;
use crate::output::{FAINT, Output, STRONG, WORDS, fit, shown};
use crate::source::Source;
use gibbstream::Error;
use gibbstream::explore::{RecordFields, WordOrder, background, names_of};
use gibbstream::file::LabelSource;
use gibbstream::inference::mixtures::MixtureInference;
use gibbstream::learn::{Observation, Snapshot};
use serde::Serialize;
use serde_json::{Value, json};
use std::fmt::Write;
use std::path::{Path, PathBuf};

const EXAMPLES: &str = "\
Examples:
  gibbstream topics model.gbs
  gibbstream topics model.gbs --words 20
  gibbstream topics model.gbs --lambda 1                     the most probable words
  gibbstream topics model.gbs --documents corpus.jsonl       with typical documents of each topic

The words shown are those that set a topic apart from the others and that occur together in the training documents.
Their weights are probabilities. Labels (see `gibbstream label`) are shown before the words. Background topics hold
the words that occur in all kinds of documents; they come last.

share      expected share of all tokens
alpha      prior weight of the topic in a document
effective  effective number of words (exp of the entropy)
exclusive  exclusivity: 1 if the words occur in no other topic, near 0 if in all (mean over the words shown)";

/// Show the words of each topic
#[derive(Clone, Debug, clap::Args)]
#[command(after_long_help = EXAMPLES)]
pub struct TopicsArgs {
    /// Model to read
    #[arg(value_name = "MODEL")]
    model: PathBuf,
    /// Words per topic
    #[arg(long, value_name = "N", default_value_t = 10)]
    words: usize,
    /// Order words by X log p(word | topic) + (1 - X) log p(word | topic) / p(word) instead
    #[arg(long, value_name = "X")]
    lambda: Option<f64>,
    /// Also show the most typical documents of each topic, from this input
    #[arg(long, value_name = "INPUT")]
    documents: Vec<PathBuf>,
    /// Documents per topic
    #[arg(long, value_name = "N", default_value_t = 3)]
    examples: usize,
    /// Also list the topics of an HDP that have less than 0.1 % of all tokens
    #[arg(long)]
    all: bool,
    #[command(flatten)]
    reading: ReadingArgs,
}

#[derive(Serialize)]
struct Topic {
    id: usize,
    /// Its number in the order of creation, where the number of topics is open.
    #[serde(skip_serializing_if = "Option::is_none")]
    created_as: Option<u64>,
    /// What it is called, and who said so.
    label: String,
    label_by: LabelSource,
    /// Whether the model keeps that label.
    #[serde(skip)]
    is_labelled: bool,
    /// Whether it is about nothing in particular.
    background: bool,
    share: f64,
    alpha: f64,
    effective_words: f64,
    exclusivity: f64,
    words: Vec<Word>,
    #[serde(skip_serializing_if = "Option::is_none")]
    documents: Option<Vec<Example>>,
}

#[derive(Serialize)]
struct Word {
    word: String,
    weight: f64,
}

/// A document that is about a topic.
#[derive(Clone, Serialize)]
struct Example {
    id: Option<String>,
    index: u64,
    weight: f64,
    /// The beginning of its text; nothing where the input has counts alone.
    #[serde(skip_serializing_if = "Option::is_none")]
    text: Option<String>,
}

/// Characters of a text that are kept to show how it begins.
const BEGINNING: usize = 200;

/// Runs the command.
pub fn run(
    args: &TopicsArgs,
    general: &General,
    output: &Output,
    interrupt: &Interrupt,
) -> anyhow::Result<Outcome> {
    if let Some(lambda) = args.lambda.filter(|lambda| !(0.0..=1.0).contains(lambda)) {
        let problem = format!("{lambda} is not in [0, 1]");
        return Err(
            Error::setting("--lambda", problem, "use 1 for frequent words, 0.6 for typical ones").into()
        );
    }
    let model = with_topics(Snapshot::load_to_ask(&args.model)?, &args.model)?;
    let mut topics = describe(&model, args.words, args.lambda.into())?;
    if !args.documents.is_empty() {
        let examples = typical_documents(args, &model, general, output, interrupt)?;
        for (topic, examples) in topics.iter_mut().zip(examples) {
            topic.documents = Some(examples);
        }
    }
    if output.json {
        let mut facts = json!({ "schema": "gibbstream/topics/1", "topics": topics });
        if let Some((used, created)) = model.open_topics() {
            facts["topics_used"] = json!(used);
            facts["topics_created"] = json!(created);
        }
        output.print_json(&facts)?;
    } else {
        topics.sort_by(|a, b| a.background.cmp(&b.background).then(b.share.total_cmp(&a.share)));
        let (used, met) = (model.open_topics().map_or(topics.len(), |(used, _)| used), topics.len());
        if used < met && !args.all {
            topics.truncate(used);
            let unused = met - used;
            output.note(format_args!("{unused} topics with less than a thousandth of all words: see --all"));
        }
        output.print(&table(&topics)?)?;
    }
    Ok(Outcome::Done)
}

/// A model that has topics.
pub fn load_topics(path: &Path) -> gibbstream::Result<Snapshot> {
    with_topics(Snapshot::load(path)?, path)
}

fn with_topics(snapshot: Snapshot, path: &Path) -> gibbstream::Result<Snapshot> {
    if snapshot.settings.model.has_topics() {
        return Ok(snapshot);
    }
    let problem = format!("a {} has no topics", snapshot.settings.model.name());
    Err(Error::setting(path.display().to_string(), problem, "look at it with inspect or export"))
}

fn describe(model: &Snapshot, shown: usize, order: WordOrder) -> gibbstream::Result<Vec<Topic>> {
    let parameters = model.parameters()?.topics()?;
    let background = background(&parameters.topics, &parameters.shares);
    let summaries = model.summaries(shown, order)?.into_iter().enumerate();
    let sticks = model.topic_state().and_then(|state| state.sticks.as_ref());
    let vocabulary = model.features.vocabulary();
    let word = |(word, weight)| Word { word: vocabulary.word(word).to_owned(), weight };
    let (names, kept) = (names_of(parameters, model), model.topic_names());
    let topics = summaries
        .map(|(id, topic)| Topic {
            id,
            created_as: sticks.map(|sticks| sticks.ids[id]),
            label: names[id].0.clone(),
            label_by: names[id].1,
            is_labelled: kept.get(id).is_some_and(Option::is_some),
            background: background[id],
            share: topic.share,
            alpha: topic.alpha,
            effective_words: topic.effective_words,
            exclusivity: topic.exclusivity,
            words: topic.words.into_iter().map(word).collect(),
            documents: None,
        })
        .collect();
    Ok(topics)
}

/// The documents with the largest share of each topic, holding no more than are asked for.
fn typical_documents(
    args: &TopicsArgs,
    model: &Snapshot,
    general: &General,
    output: &Output,
    interrupt: &Interrupt,
) -> anyhow::Result<Vec<Vec<Example>>> {
    let inputs = args.reading.with(args.documents.clone(), tokenizer_of(model))?;
    let text_field = inputs.text_field.clone();
    let inputs = inputs.resolve()?;
    report_found(&inputs, output);
    let source = Source::of(model, RecordFields::default().kept_by(&inputs, &text_field))?;
    let mut best: Vec<Vec<Example>> = vec![Vec::new(); model.components()];
    output.progress.start("reading", source.unit(), source.expected());
    let sweeps = model.settings.method.sweeps.max(2);
    let inference = MixtureInference { sweeps, seed: general.seed, details: false };
    each_mixture(model, &source, inference, general.threads, interrupt, |inferred| {
        let Inferred::Observation(index, document, mixture) = inferred else { return Ok(()) };
        output.progress.advance(index + 1, || (String::new(), json!({})));
        for (best, &weight) in best.iter_mut().zip(&mixture.theta) {
            // Behind all that are at least as good, so that the first of equal documents wins.
            let place = best.partition_point(|other| other.weight >= weight);
            if place < args.examples {
                let (id, text) = (document.id().map(str::to_owned), beginning(document));
                best.insert(place, Example { id, index, weight, text });
                best.truncate(args.examples);
            }
        }
        Ok(())
    })?;
    output.progress.finish();
    report_bad(&source.inputs, output);
    Ok(best)
}

/// Columns that a table may take: those of a plain terminal.
const WIDTH: usize = 80;

/// How the text of a document begins, on one line.
fn beginning(document: &Observation) -> Option<String> {
    let Observation::Document(document) = document else { return None };
    let text = match document.kept.first()? {
        Value::String(text) => text.clone(),
        Value::Array(tokens) => tokens.iter().filter_map(Value::as_str).collect::<Vec<_>>().join(" "),
        _ => return None,
    };
    let start: String = text.chars().take(2 * BEGINNING).collect();
    let words: Vec<&str> = start.split_whitespace().collect();
    Some(words.join(" ").chars().take(BEGINNING).collect())
}

impl Topic {
    /// What stands above its words: a label that somebody or `label` gave it, and whether it is background. A name made
    /// of its first words would say nothing new.
    fn heading(&self) -> Option<String> {
        let label = self.is_labelled.then_some(&*self.label);
        match (label, self.background) {
            (None, false) => None,
            (Some(label), false) => Some(label.to_owned()),
            (None, true) => Some("background".to_owned()),
            (Some(label), true) => Some(format!("{label} (background)")),
        }
    }
}

fn table(topics: &[Topic]) -> Result<String, std::fmt::Error> {
    let mut text = format!("{STRONG}topic   share   alpha  effective  exclusive  words{STRONG:#}\n");
    for topic in topics {
        let head = format!(
            "{:5}  {:5.1}%  {:6.4}  {:9.0}  {:9.2}  ",
            topic.id,
            100.0 * topic.share,
            topic.alpha,
            topic.effective_words,
            topic.exclusivity
        );
        let (id, rest) = head.split_at(5);
        let indent = head.chars().count();
        let label = topic.heading().map(|label| (STRONG, fit(&label, WIDTH - indent).trim_end().to_owned()));
        let words = wrapped(topic.words.iter().map(|word| shown(&word.word)), WIDTH - indent);
        let lines = label.into_iter().chain(words.into_iter().map(|line| (WORDS, line)));
        for (at, (style, line)) in lines.enumerate() {
            match at {
                0 => write!(text, "{STRONG}{id}{STRONG:#}{rest}")?,
                _ => write!(text, "{:indent$}", "")?,
            }
            writeln!(text, "{style}{line}{style:#}")?;
        }
        for example in topic.documents.iter().flatten() {
            let name = example.id.clone().unwrap_or_else(|| format!("document {}", example.index));
            let share = format!("{:indent$}{:4.0}% of ", "", 100.0 * example.weight);
            let name = fit(&name, WIDTH - share.len());
            writeln!(text, "{FAINT}{share}{}{FAINT:#}", name.trim_end())?;
            if let Some(beginning) = &example.text {
                let beginning = fit(beginning, WIDTH - indent - 5);
                writeln!(text, "{:indent$}     {FAINT}{}{FAINT:#}", "", beginning.trim_end())?;
            }
        }
    }
    Ok(text)
}

/// Words in lines of at most `width` characters; at least one line, and at least one word in each.
fn wrapped(words: impl Iterator<Item = impl AsRef<str>>, width: usize) -> Vec<String> {
    let mut lines = vec![String::new()];
    for word in words {
        let (word, last) = (word.as_ref(), lines.len() - 1);
        let line = &mut lines[last];
        if !line.is_empty() && line.chars().count() + 1 + word.chars().count() > width {
            lines.push(word.to_owned());
        } else {
            if !line.is_empty() {
                line.push(' ');
            }
            line.push_str(word);
        }
    }
    lines
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_are_wrapped_between_words() {
        assert_eq!(wrapped(["one", "two", "three"].into_iter(), 7), ["one two", "three"]);
        assert_eq!(wrapped(["longer-than-that", "é"].into_iter(), 5), ["longer-than-that", "é"]);
        assert_eq!(wrapped(std::iter::empty::<&str>(), 5), [""]);
    }
}
