//! `compare`: which topic of one model is which of another, and which model predicts better.

mod stability;

use super::evaluate::tokenizer_of;
use super::topics::load_topics;
use crate::Outcome;
use crate::args::General;
use crate::args::input::{ReadingArgs, report_bad};
use crate::output::{BAD, FAINT, GOOD, Output, STRONG, WORDS, count, shown};
use crate::source::Source;
use gibbstream::Error;
use gibbstream::corpus::{Inputs, ResolvedInputs, Vocabulary};
use gibbstream::evaluation::alignment::{Distance, Pair, ScoreDifference, align_models};
use gibbstream::evaluation::{Estimator, Evaluation};
use gibbstream::file::{Kind, is_of_kind};
use gibbstream::learn::Snapshot;
use gibbstream::summary::TopicSummary;
use serde::Serialize;
use serde_json::json;
use std::fmt::Write;
use std::path::{Path, PathBuf};

const EXAMPLES: &str = "\
Examples:
  gibbstream compare before.gbs after.gbs
  gibbstream compare before.gbs after.gbs held_out.jsonl.zst
  gibbstream compare before.gbs after.gbs corpus/ --skip-docs 90000 --fail-below -1 --json
  gibbstream compare seed0.gbs seed1.gbs seed2.gbs seed3.gbs     which topics are stable?

Topics are paired so that the sum of their distances is minimal. Words are matched by spelling. If one model has more
topics, some of them have no partner. With INPUT, both models score the same documents, and the difference is taken
document by document, in nats. Positive means that B predicts better. The 95 % confidence interval is that of the mean
difference over documents of this kind.

With three or more models, each topic of the first is searched for in all others, for example models with other seeds.
The similarity of two topics is 1 - divergence / mean divergence of both from all other topics: 1 for identical words, 0
for topics no closer than any two. The stability of a topic is the mean similarity of its partners. Words that are top
words in all models are marked with *. Topics that are not found again are more likely due to chance.

--fail-below X exits with code 1 if the mean difference is below X. With 0, B must not be worse; with -1, it may be worse
by one nat per document.";

/// Compare the topics and the scores of models
#[derive(Clone, Debug, clap::Args)]
#[command(after_long_help = EXAMPLES)]
pub struct CompareArgs {
    /// First model, such as the old one
    #[arg(value_name = "A")]
    a: PathBuf,
    /// Second model, such as the new one
    #[arg(value_name = "B")]
    b: PathBuf,
    /// Documents to score both models on; or more models, to see which topics are found in all of them
    #[arg(value_name = "INPUT")]
    inputs: Vec<PathBuf>,
    #[command(flatten)]
    reading: ReadingArgs,
    /// Distance between topics: js (Jensen-Shannon, at most 0.69) or kl (Kullback-Leibler of B from A)
    #[arg(long, value_name = "NAME", default_value = "js", value_parser = ["js", "kl"], hide_possible_values = true)]
    distance: String,
    /// Words per topic
    #[arg(long, value_name = "N", default_value_t = 10)]
    words: usize,
    /// With three or more models: count a topic as found again if the similarity is at least X
    #[arg(long, value_name = "X", default_value_t = 0.5)]
    same: f64,
    /// Likelihood estimator: smc, left-to-right (as in the paper) or ais
    #[arg(long, value_name = "NAME", default_value = "smc", value_parser = ["smc", "left-to-right", "ais"], hide_possible_values = true)]
    estimator: String,
    /// Particles per document
    #[arg(long, value_name = "N", default_value_t = 20)]
    particles: usize,
    /// Exit with code 1 if B is not better than A by X nats per document (may be negative)
    #[arg(long, value_name = "X", allow_negative_numbers = true)]
    fail_below: Option<f64>,
}

/// A model as it is compared.
struct Side {
    model: Snapshot,
    vocabulary: Vocabulary,
    best: Vec<TopicSummary>,
}

#[derive(Serialize)]
struct Report {
    schema: &'static str,
    a: About,
    b: About,
    distance: &'static str,
    mean_distance: f64,
    pairs: Vec<PairReport>,
    /// Topics without a partner.
    alone_in_a: Vec<usize>,
    alone_in_b: Vec<usize>,
    #[serde(skip_serializing_if = "Option::is_none")]
    score_difference: Option<Scores>,
    #[serde(skip_serializing_if = "Option::is_none")]
    passed: Option<bool>,
    warnings: Vec<String>,
}

#[derive(Serialize)]
struct About {
    model_hash: String,
    method: String,
    topics: usize,
}

#[derive(Serialize)]
struct PairReport {
    #[serde(flatten)]
    pair: Pair,
    words_a: Vec<String>,
    words_b: Vec<String>,
    /// Words of A that are not among those of B.
    gone: Vec<String>,
    /// Words of B that were not among those of A.
    new: Vec<String>,
}

#[derive(Serialize)]
struct Scores {
    estimator: &'static str,
    particles: usize,
    #[serde(flatten)]
    difference: ScoreDifference,
    log_perplexity_per_document_a: f64,
    log_perplexity_per_document_b: f64,
}

/// Runs the command.
pub fn run(args: &CompareArgs, general: &General, output: &Output) -> anyhow::Result<Outcome> {
    args.check()?;
    if let Some(models) = args.models()? {
        return stability::run(&models, args.words, args.same, output);
    }
    let (a, b) = (Side::load(&args.a, args.words)?, Side::load(&args.b, args.words)?);
    let (distance, name) = match args.distance.as_str() {
        "kl" => (Distance::KullbackLeibler, "kl"),
        _ => (Distance::JensenShannon, "js"),
    };
    let mut pairs = aligned(&a, &b, distance)?;
    pairs.sort_by_key(|pair| pair.a);
    let score_difference =
        if args.inputs.is_empty() { None } else { Some(args.score(&a.model, &b.model, general, output)?) };
    let passed =
        args.fail_below.zip(score_difference.as_ref()).map(|(least, scores)| scores.difference.mean >= least);
    let alone = |side: &Side, of: fn(&Pair) -> usize| {
        (0..side.best.len()).filter(|&topic| pairs.iter().all(|pair| of(pair) != topic)).collect()
    };
    let report = Report {
        schema: "gibbstream/compare/1",
        a: a.about(),
        b: b.about(),
        distance: name,
        mean_distance: pairs.iter().map(|pair| pair.distance).sum::<f64>() / pairs.len() as f64,
        alone_in_a: alone(&a, |pair| pair.a),
        alone_in_b: alone(&b, |pair| pair.b),
        pairs: pairs.iter().map(|&pair| PairReport::new(pair, &a, &b)).collect(),
        score_difference,
        passed,
        warnings: output.warnings(),
    };
    if output.json {
        output.print_json(&report)?;
    } else {
        output.print(&table(&report, args.fail_below)?)?;
    }
    Ok(if passed == Some(false) { Outcome::CheckFailed } else { Outcome::Done })
}

impl CompareArgs {
    fn check(&self) -> gibbstream::Result<()> {
        if self.words == 0 {
            return Err(Error::setting("--words", "0 is not a number of words", "use 1 or more"));
        }
        if !(0.0..=1.0).contains(&self.same) {
            let problem = format!("{} is not a similarity from 0 to 1", self.same);
            return Err(Error::setting("--same", problem, "use for example 0.5"));
        }
        if self.fail_below.is_some() && self.inputs.is_empty() {
            let advice = "name documents to score both models on";
            return Err(Error::setting("--fail-below", "there are no scores without INPUT", advice));
        }
        if self.fail_below.is_some_and(f64::is_nan) {
            return Err(Error::setting(
                "--fail-below",
                "NaN is not a number of nats",
                "use a number of nats",
            ));
        }
        Ok(())
    }

    /// All models, if there are more than two.
    fn models(&self) -> gibbstream::Result<Option<Vec<PathBuf>>> {
        let is_model = |path: &&PathBuf| is_of_kind(path, Kind::MODEL);
        let more = self.inputs.iter().filter(is_model).count();
        if more == 0 {
            return Ok(None);
        }
        if let Some(documents) = self.inputs.iter().find(|path| !is_model(path)) {
            let problem = "documents score two models, and there are more";
            let advice = "leave it out, or compare two models";
            return Err(Error::setting(documents.display().to_string(), problem, advice));
        }
        if self.distance != "js" {
            let problem = "the stability of topics is measured by the Jensen-Shannon divergence";
            return Err(Error::setting("--distance", problem, "leave it out, or compare two models"));
        }
        Ok(Some([&self.a, &self.b].into_iter().chain(&self.inputs).cloned().collect()))
    }

    /// Both scores of every document, and what they differ by.
    fn score(
        &self,
        a: &Snapshot,
        b: &Snapshot,
        general: &General,
        output: &Output,
    ) -> anyhow::Result<Scores> {
        let evaluation = Evaluation {
            estimator: self.estimator.parse::<Estimator>()?,
            particles: self.particles,
            adaptive: false,
            seed: general.seed,
            threads: general.threads,
        };
        evaluation.validate()?;
        let alike = tokenizer_of(a) == tokenizer_of(b);
        if !alike || !a.features.vocabulary().words().eq(b.features.vocabulary().words()) {
            output.warn(
                "the models know different words, so their scores are of different parts of the documents",
            );
        }
        let inputs = |model: &Snapshot| {
            self.reading.with(self.inputs.clone(), tokenizer_of(model)).and_then(Inputs::resolve)
        };
        let mut of_a = inputs(a)?;
        if of_a.is_read_once() {
            if !alike {
                let problem =
                    "the models cut text into words in two ways, and standard input can be read once";
                return Err(Error::setting("INPUT", problem, "save it to a file").into());
            }
            output.note("each model reads the documents once: standard input is copied to a temporary file");
            of_a.spool()?;
        }
        let of_b = if alike { of_a.clone() } else { inputs(b)? };
        let (score_a, each_a) = each_score(a, &of_a, evaluation, output)?;
        report_bad(&of_a, output);
        let (score_b, each_b) = each_score(b, &of_b, evaluation, output)?;
        Ok(Scores {
            estimator: evaluation.estimator.name(),
            particles: evaluation.particles,
            difference: ScoreDifference::new(&each_a, &each_b)?,
            log_perplexity_per_document_a: score_a,
            log_perplexity_per_document_b: score_b,
        })
    }
}

/// The log-perplexity of documents, and the log-likelihood of each.
fn each_score(
    model: &Snapshot,
    inputs: &ResolvedInputs,
    evaluation: Evaluation,
    output: &Output,
) -> gibbstream::Result<(f64, Vec<f64>)> {
    let source = Source::of(model, inputs.clone())?;
    let mut each = Vec::new();
    output.progress.start("scoring", source.unit(), source.expected());
    let score = model.parameters()?.score(evaluation, source.read(), |log_likelihood| {
        each.push(log_likelihood);
        output.progress.advance(each.len() as u64, || (String::new(), json!({})));
    })?;
    output.progress.finish();
    Ok((score.log_perplexity(), each))
}

/// Pairs of topics.
fn aligned(a: &Side, b: &Side, distance: Distance) -> gibbstream::Result<Vec<Pair>> {
    let (of_a, of_b) = (a.model.parameters()?.topics()?, b.model.parameters()?.topics()?);
    Ok(align_models((of_a, &a.vocabulary), (of_b, &b.vocabulary), distance))
}

impl Side {
    fn load(path: &Path, words: usize) -> gibbstream::Result<Self> {
        let model = load_topics(path)?;
        let best = model.parameters()?.topics()?.summaries(words, 1.0);
        Ok(Self { vocabulary: model.features.vocabulary(), model, best })
    }

    fn about(&self) -> About {
        About {
            model_hash: self.model.hash(),
            method: self.model.settings.name.clone(),
            topics: self.best.len(),
        }
    }

    fn words(&self, topic: usize) -> Vec<String> {
        let words = self.best[topic].words.iter();
        words.map(|&(word, _)| self.vocabulary.word(word).to_owned()).collect()
    }
}

impl PairReport {
    fn new(pair: Pair, a: &Side, b: &Side) -> Self {
        let (words_a, words_b) = (a.words(pair.a), b.words(pair.b));
        let missing = |from: &[String], to: &[String]| {
            from.iter().filter(|word| !to.contains(word)).cloned().collect::<Vec<_>>()
        };
        Self { pair, gone: missing(&words_a, &words_b), new: missing(&words_b, &words_a), words_a, words_b }
    }
}

fn table(report: &Report, fail_below: Option<f64>) -> Result<String, std::fmt::Error> {
    let mut text = String::new();
    writeln!(text, "{STRONG}    A     B  distance  words of A and, below, of B{STRONG:#}")?;
    for pair in &report.pairs {
        let Pair { a, b, distance } = pair.pair;
        writeln!(
            text,
            "{a:5} {b:5}  {distance:8.4}  {WORDS}{}{WORDS:#}",
            marked(&pair.words_a, &pair.gone, '-')
        )?;
        writeln!(text, "{:23}{WORDS}{}{WORDS:#}", "", marked(&pair.words_b, &pair.new, '+'))?;
    }
    for (name, alone) in [("A", &report.alone_in_a), ("B", &report.alone_in_b)] {
        if !alone.is_empty() {
            let topics: Vec<String> = alone.iter().map(ToString::to_string).collect();
            writeln!(text, "alone in {name}: {}", topics.join(" "))?;
        }
    }
    writeln!(
        text,
        "mean distance {:.4} ({}), {} pairs",
        report.mean_distance,
        report.distance,
        report.pairs.len()
    )?;
    let Some(scores) = &report.score_difference else { return Ok(text) };
    let ScoreDifference { documents, mean, interval: [low, high], .. } = scores.difference;
    writeln!(
        text,
        "\n{STRONG}B is {} by {:.3} nats per document{STRONG:#} (from {low:.3} to {high:.3} with 95 % confidence)",
        if mean >= 0.0 { "better" } else { "worse" },
        mean.abs(),
    )?;
    writeln!(
        text,
        "log-perplexity per document: A {:.3}, B {:.3}  {FAINT}{} documents, {} with {} particles{FAINT:#}",
        scores.log_perplexity_per_document_a,
        scores.log_perplexity_per_document_b,
        count(documents),
        scores.estimator,
        scores.particles
    )?;
    match (report.passed, fail_below) {
        (Some(true), Some(least)) => writeln!(text, "{GOOD}passed{GOOD:#}: not below {least}")?,
        (Some(false), Some(least)) => writeln!(text, "{BAD}failed{BAD:#}: {mean:.3} is below {least}")?,
        _ => {}
    }
    Ok(text)
}

/// The words, with a sign before those that have moved.
fn marked(words: &[String], moved: &[String], sign: char) -> String {
    let mark = |word: &String| {
        let shown = shown(word);
        if moved.contains(word) { format!("{sign}{shown}") } else { shown.into_owned() }
    };
    words.iter().map(mark).collect::<Vec<_>>().join(" ")
}
