//! `evaluate`: how well a model predicts documents that it was not learnt from.

use crate::Outcome;
use crate::args::General;
use crate::args::input::{InputArgs, report_bad, report_found};
use crate::output::{FAINT, Output, STRONG, count};
use crate::source::{Source, refuse};
use gibbstream::corpus::Tokenizer;
use gibbstream::evaluation::coherence::{Coherence, CoherenceCounter, TopicCoherence, UmassSmoothing};
use gibbstream::evaluation::completion::Completion;
use gibbstream::evaluation::elbo::Elbo;
use gibbstream::evaluation::rows::RowScore;
use gibbstream::evaluation::{Estimator, Evaluation, Score};
use gibbstream::explore::WordOrder;
use gibbstream::file::Model;
use gibbstream::learn::{AnyScore, Snapshot};
use serde::Serialize;
use serde_json::json;
use std::path::PathBuf;

/// Best words of a topic that its coherence looks at.
const COHERENT_WORDS: usize = 10;

const EXAMPLES: &str = "\
Examples:
  gibbstream evaluate model.gbs held_out.jsonl.zst
  gibbstream evaluate model.gbs corpus/ --skip-docs 90000 --json
  gibbstream evaluate model.gbs corpus/ --estimator left-to-right     as in the paper
  gibbstream evaluate model.gbs corpus/ --elbo --completion
  gibbstream evaluate model.gbs corpus/ --coherence                   are the topics coherent?

Scores are in nats (natural logarithms). Text is tokenized as in training. Words that are not in the vocabulary are
left out and counted. The unigram baseline uses only the word frequencies of the training documents; a useful model has
a better (lower) score.

Coherence is computed from how often the ten top words of each topic occur in the same documents: NPMI (from -1 to 1),
C_V (from 0 to 1) and UMass (at most about 0); higher is better. Diversity is the share of distinct words among the top
words of all topics.

Models of rows of numbers are scored in nats per observation, next to a baseline: one Gaussian, or independent counts.
Mixtures are scored exactly, ica by annealed importance sampling.";

/// Score a model on held-out documents
#[derive(Clone, Debug, clap::Args)]
#[command(after_long_help = EXAMPLES)]
pub struct EvaluateArgs {
    /// Model to score
    #[arg(value_name = "MODEL")]
    pub model: PathBuf,
    #[command(flatten)]
    pub input: InputArgs,
    /// Likelihood estimator: smc, left-to-right (as in the paper) or ais
    #[arg(long, value_name = "NAME", default_value = "smc", value_parser = ["smc", "left-to-right", "ais"], hide_possible_values = true)]
    pub estimator: String,
    /// Particles per document, or auto: 20, and more for documents with an uncertain estimate
    #[arg(long, value_name = "N", default_value = "auto", value_parser = parse_particles)]
    pub particles: ParticleChoice,
    /// Also compute the evidence lower bound (by mean field)
    #[arg(long)]
    pub elbo: bool,
    /// Also compute how well one half of each document predicts the other
    #[arg(long)]
    pub completion: bool,
    /// Also compute topic coherence: do the top words of each topic occur together?
    #[arg(long)]
    pub coherence: bool,
}

/// A number of particles; `None` if it is to be found.
#[derive(Clone, Copy, Debug)]
pub struct ParticleChoice(Option<usize>);

fn parse_particles(text: &str) -> Result<ParticleChoice, String> {
    if text == "auto" {
        return Ok(ParticleChoice(None));
    }
    let number = text.parse().map_err(|_| "use a number such as 100, or auto".to_owned())?;
    Ok(ParticleChoice(Some(number)))
}

#[derive(Serialize)]
struct Report<'a> {
    schema: &'static str,
    /// Only for models of numbers.
    #[serde(skip_serializing_if = "Option::is_none")]
    model: Option<&'static str>,
    model_hash: String,
    method: &'a str,
    seed: u64,
    /// Only where tokens are weighted, so that the scores are of other tokens than those of the text.
    #[serde(skip_serializing_if = "Option::is_none")]
    term_weights: Option<&'static str>,
    #[serde(flatten)]
    score: AnyScore,
    #[serde(skip_serializing_if = "Option::is_none")]
    elbo_per_document: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    completion_log_likelihood_per_token: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    coherence: Option<Coherence>,
}

/// Runs the command.
pub fn run(args: &EvaluateArgs, general: &General, output: &Output) -> anyhow::Result<Outcome> {
    let evaluation = Evaluation {
        estimator: args.estimator.parse::<Estimator>()?,
        particles: args.particles.0.unwrap_or(Evaluation::default().particles),
        adaptive: args.particles.0.is_none(),
        seed: general.seed,
        threads: general.threads,
    };
    evaluation.validate()?;
    // The lower bound needs the statistics; everything else is content with the parameters in their place.
    let snapshot = if args.elbo { Snapshot::load(&args.model)? } else { Snapshot::load_to_ask(&args.model)? };
    let several = args.elbo || args.completion || args.coherence;
    let has_topics = snapshot.settings.model.has_topics();
    if !has_topics {
        let flags = [
            ("--elbo", args.elbo),
            ("--completion", args.completion),
            ("--coherence", args.coherence),
            ("--estimator left-to-right", args.estimator == "left-to-right"),
        ];
        refuse(&snapshot, &flags)?;
    }
    let mut inputs = args.input.with(tokenizer_of(&snapshot))?.resolve()?;
    report_found(&inputs, output);
    if several && inputs.is_read_once() {
        output.note(
            "each kind of score reads the documents once: standard input is copied to a temporary file",
        );
        inputs.spool()?;
    }
    let source = Source::of(&snapshot, inputs)?;
    output.progress.start("scoring", source.unit(), source.expected());
    let mut done = 0;
    let score = snapshot.parameters()?.score(evaluation, source.read(), |_| {
        done += 1;
        output.progress.advance(done, || (String::new(), json!({})));
    })?;
    output.progress.finish();
    warn_about(&score, output);
    if snapshot.features.term_weights().is_some() {
        output.warn(
            "the model counts tokens by idf (--term-weights), so its scores cannot be compared with those of models without \
             weights",
        );
    }
    report_bad(&source.inputs, output);
    let report = Report {
        schema: "gibbstream/evaluate/1",
        model: (!has_topics).then(|| snapshot.settings.model.name()),
        model_hash: snapshot.hash(),
        method: &snapshot.settings.name,
        seed: general.seed.0,
        term_weights: snapshot.features.term_weights().map(|_| "idf"),
        score,
        elbo_per_document: args.elbo.then(|| elbo(&snapshot, &source, general)).transpose()?,
        completion_log_likelihood_per_token: if args.completion {
            completion(&snapshot, &source, general)?
        } else {
            None
        },
        coherence: args.coherence.then(|| coherence_of(&snapshot, &source)).transpose()?,
    };
    if output.json {
        output.print_json(&report)?;
    } else {
        output.print(&match &report.score {
            AnyScore::Documents(score) => table(&report, score),
            AnyScore::Rows(score) => row_table(&report, score),
        })?;
    }
    Ok(Outcome::Done)
}

fn elbo(snapshot: &Snapshot, source: &Source, general: &General) -> gibbstream::Result<f64> {
    let elbo = Elbo { threads: general.threads, ..Elbo::default() };
    let score = elbo.score(&snapshot.log_topics()?, source.read_documents(snapshot))?;
    Ok(score.elbo_per_document)
}

fn completion(snapshot: &Snapshot, source: &Source, general: &General) -> gibbstream::Result<Option<f64>> {
    let completion = Completion { seed: general.seed, threads: general.threads, ..Completion::default() };
    let topics = &snapshot.parameters()?.topics()?.topics;
    let score = completion.score(topics, source.read_documents(snapshot))?;
    Ok(score.completion_log_likelihood_per_token)
}

/// How text must be cut for a model. One that was learnt from counts does not say, so nothing is dropped.
pub fn tokenizer_of(model: &Model) -> Tokenizer {
    model.tokenizer.clone().unwrap_or_else(Tokenizer::plain)
}

/// How often the best words of the topics meet in the documents.
fn coherence_of(snapshot: &Snapshot, source: &Source) -> gibbstream::Result<Coherence> {
    let best = snapshot.summaries(COHERENT_WORDS, WordOrder::Telling)?;
    let best: Vec<Vec<u32>> =
        best.iter().map(|topic| topic.words.iter().map(|&(word, _)| word).collect()).collect();
    let mut counter = CoherenceCounter::new(&best)?;
    for document in source.read_documents(snapshot) {
        counter.add_bag(&document?);
    }
    counter.finish(UmassSmoothing::One)
}

fn warn_about(score: &AnyScore, output: &Output) {
    let (baseline, single) = score.baseline();
    let is_worse = score.log_perplexity() > single;
    match score {
        AnyScore::Documents(Score { tokens: 0, .. }) => {
            output.warn("the documents have no words that the model knows, so the scores are meaningless");
        }
        AnyScore::Documents(_) if is_worse => {
            output.warn("the model predicts these documents worse than word frequencies alone do (unigram)");
        }
        AnyScore::Rows(_) if is_worse => {
            output.warn(format_args!(
                "the model predicts these observations worse than its baseline ({baseline})"
            ));
        }
        _ => {}
    }
    if let AnyScore::Documents(score) = score
        && score.out_of_vocabulary_tokens > score.tokens
    {
        output.warn("the model does not know most of the words of these documents");
    }
}

fn table(report: &Report<'_>, score: &Score) -> String {
    let error = score.standard_error.map_or(String::new(), |error| format!(" ± {error:.2}"));
    let chance = score
        .monte_carlo_error
        .map_or(String::new(), |error| format!(", ± {error:.3} of the score by chance"));
    let optional = |value: Option<f64>, digits: usize| {
        value.map_or("undefined (no tokens)".to_owned(), |value| format!("{value:.digits$}"))
    };
    let further = |name: &str, value: Option<f64>, digits: usize| {
        value.map_or(String::new(), |value| format!("{name:28} {value:.digits$} nats\n"))
    };
    format!(
        "{STRONG}log-perplexity per document  {:.2}{error}{STRONG:#} nats {FAINT}(lower is better){FAINT:#}\n\
         unigram baseline             {:.2} nats\n\
         log-likelihood per token     {} nats\n\
         perplexity                   {}\n\
         {}{}{}\
         documents                    {}\n\
         tokens                       {} ({} outside the vocabulary left out)\n\
         estimator                    {} with {} particles, seed {}{chance}\n\
         model                        {} {}\n",
        score.log_perplexity_per_document,
        score.unigram_log_perplexity_per_document,
        optional(score.log_likelihood_per_token, 4),
        optional(score.perplexity, 1),
        further("ELBO per document", report.elbo_per_document, 2),
        further("completion per token", report.completion_log_likelihood_per_token, 4),
        report.coherence.as_ref().map_or(String::new(), coherence_table),
        count(score.documents),
        count(score.tokens),
        count(score.out_of_vocabulary_tokens),
        score.estimator,
        score.particles,
        report.seed,
        report.method,
        report.model_hash,
    )
}

fn row_table(report: &Report<'_>, score: &RowScore) -> String {
    let error = score.standard_error.map_or(String::new(), |error| format!(" ± {error:.3}"));
    let way = match score.estimator {
        "exact" => "exact".to_owned(),
        _ => format!(
            "annealed importance sampling, {} particles, ± {:.4} of it by chance",
            score.particles, score.estimator_standard_error
        ),
    };
    format!(
        "{STRONG}{}{STRONG:#} on {} observations, nats per observation (lower is better)\n\
         the model   {STRONG}{:.3}{STRONG:#}{error}  {FAINT}{way}{FAINT:#}\n\
         baseline    {:.3}  {FAINT}{}{FAINT:#}\n",
        report.model.unwrap_or_default(),
        count(score.documents),
        score.log_perplexity_per_document,
        score.baseline_log_perplexity_per_document,
        score.baseline,
    )
}

/// The coherence of each topic, and the means.
fn coherence_table(coherence: &Coherence) -> String {
    let row = |name: String, TopicCoherence { npmi, c_v, umass }: TopicCoherence| {
        format!("{name:28} NPMI {npmi:7.4}  C_V {c_v:6.4}  UMass {umass:8.4}\n")
    };
    let topics = coherence.topics.iter().enumerate();
    let rows: String = topics.map(|(topic, &values)| row(format!("  topic {topic}"), values)).collect();
    let mean = row("coherence, mean".to_owned(), coherence.mean);
    format!("{mean}{rows}{:28} {:.4}\n", "topic diversity", coherence.diversity)
}
