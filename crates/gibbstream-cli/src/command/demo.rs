//! `demo`: a readable corpus with known topics, learnt and held against the truth.

use crate::Outcome;
use crate::args::General;
use crate::interrupt::Interrupt;
use crate::output::{BAD, FAINT, GOOD, Output, STRONG, WORDS, count, fit};
use crate::source::thread_pool;
use gibbstream::Error;
use gibbstream::corpus::{Length, Synthetic, Truth, Vocabulary, themes};
use gibbstream::evaluation::{Evaluation, Score, Scorer};
use gibbstream::explore::page::{PageFile, PageFormat};
use gibbstream::explore::report::Commands;
use gibbstream::explore::{ExploreOptions, Explorer, Record};
use gibbstream::file::{Destination, Features, HistoryEntry, Kind};
use gibbstream::learn::method::Method;
use gibbstream::learn::schedule::StepSize;
use gibbstream::learn::{
    Ended, Event, FitOptions, Observer, Settings, SharedVocabulary, TopicParameters, TrainingRun,
    observations,
};
use gibbstream::model::topics::lda::Topics;
use gibbstream::numerics::random::Seed;
use pathfinding::kuhn_munkres::kuhn_munkres_min;
use pathfinding::matrix::Matrix;
use serde::Serialize;
use serde_json::json;
use std::fmt::Write;
use std::path::PathBuf;
use std::sync::Arc;

/// Documents to learn from.
const DOCUMENTS: u64 = 10_000;
/// Documents to score.
const HELD_OUT: u64 = 500;
/// Mean number of tokens of a document.
const LENGTH: f64 = 60.0;
/// Documents in a minibatch.
const BATCH: usize = 100;
/// Topics to learn, two more than there are themes. With exactly as many, some seeds (2 of 30) put two themes
/// into one topic; with two to spare none of 40 did, and the number of themes is rarely known anyway.
const TOPICS: usize = 12;
/// With so few documents a bad start cannot be made good, so the topics move often and the first minibatches
/// do not sweep away what came before them.
const METHOD: Method =
    Method { step: StepSize::Power { kappa: 0.5, offset: 10.0, tau: 1.0, least: 0.0 }, ..Method::G_OEM_PLUS };
/// Sweeps over each document for the page: few, because its documents are short and a newcomer waits.
const PAGE_SWEEPS: usize = 20;
/// The seed of the corpus, which is the same in every demo; `--seed` is the seed of learning.
const CORPUS_SEED: Seed = Seed(1);
/// A topic counts as recovered if it differs from a true one by at most this much in total variation.
const RECOVERED: f64 = 0.2;

const EXAMPLES: &str = "\
Examples:
  gibbstream demo
  gibbstream demo --report page.html                          open it in a browser
  gibbstream demo --out demo.gbs && gibbstream topics demo.gbs";

/// Run a demonstration: learn from a synthetic corpus and compare with the truth
#[derive(Clone, Debug, clap::Args)]
#[command(after_long_help = EXAMPLES)]
pub struct DemoArgs {
    /// Also write the model to a file
    #[arg(long, value_name = "MODEL")]
    out: Option<PathBuf>,
    /// Also write a page to explore the model and its documents
    #[arg(long, value_name = "FILE")]
    report: Option<PathBuf>,
}

#[derive(Serialize)]
struct Report {
    schema: &'static str,
    documents: u64,
    topics: usize,
    true_topics: usize,
    recovered_topics: usize,
    log_perplexity_per_document: f64,
    true_parameters_log_perplexity_per_document: f64,
    unigram_log_perplexity_per_document: f64,
    train_seconds: f64,
    model_hash: String,
}

/// The corpus and what is known about it.
struct Stage {
    names: Vec<&'static str>,
    vocabulary: Vec<String>,
    truth: Arc<Truth>,
    documents: Synthetic,
}

/// A true topic and the learnt one that is closest to it.
struct Match {
    topic: usize,
    distance: f64,
}

/// Runs the command.
pub fn run(
    args: &DemoArgs,
    general: &General,
    output: &Output,
    interrupt: &Interrupt,
) -> anyhow::Result<Outcome> {
    let out = args.out.as_ref().map(|path| Destination::new(path, Kind::MODEL, general.force));
    out.as_ref().map_or(Ok(()), |out| out.check(&[]))?;
    if let Some(path) = args.report.as_ref().filter(|&path| args.out.as_ref() == Some(path)) {
        return Err(Error::output(path, "cannot hold both the model and the page", "name two files").into());
    }
    let page = args.report.as_ref().map(|path| Destination::new(path, PageFile::KIND, general.force));
    let page = page.map(|page| PageFile::create(&page, &[])).transpose()?;
    let (names, vocabulary, truth) = themes();
    let truth = Arc::new(truth);
    let documents =
        Synthetic::new(truth.clone(), Length::Poisson(LENGTH), CORPUS_SEED, DOCUMENTS + HELD_OUT)?;
    let stage = Stage { names, vocabulary, truth, documents };
    if !output.json {
        output.note(format_args!(
            "{} documents are drawn from {} themes with known words. A model of {TOPICS} topics that sees each\n\
             document once, in minibatches of {BATCH}, now has to find the themes again.",
            count(DOCUMENTS),
            stage.names.len(),
        ));
    }
    interrupt.defer();
    let Some(mut run) = learn(&stage, general, output, interrupt)? else {
        return Ok(interrupt.received().map_or(Outcome::Done, Outcome::Interrupted));
    };
    let hash = run.lend(|model| {
        out.as_ref().map_or(Ok(()), |out| model.save_to(out))?;
        Ok(model.hash())
    })?;
    if let Some(page) = page {
        write_page(&stage, &run, page, general)?;
    }
    let parameters = run.parameters()?;
    let TopicParameters { topics, unigram, .. } = parameters.topics()?;
    let evaluation = Evaluation { threads: general.threads, seed: general.seed, ..Evaluation::default() };
    let score = |topics: &Topics| -> gibbstream::Result<Score> {
        let held_out = (DOCUMENTS..DOCUMENTS + HELD_OUT).map(|index| Ok(stage.documents.document(index)));
        Scorer::new(evaluation, topics, unigram)?.score(held_out)
    };
    let (own, best) = (score(topics)?, score(&by_word(&stage.truth))?);
    let matches = align(&stage.truth, topics);
    let report = Report {
        schema: "gibbstream/demo/1",
        documents: DOCUMENTS,
        topics: topics.topics(),
        true_topics: stage.truth.topic_count(),
        recovered_topics: matches.iter().filter(|found| found.distance <= RECOVERED).count(),
        log_perplexity_per_document: own.log_perplexity_per_document,
        true_parameters_log_perplexity_per_document: best.log_perplexity_per_document,
        unigram_log_perplexity_per_document: own.unigram_log_perplexity_per_document,
        train_seconds: run.cost().wall.as_secs_f64(),
        model_hash: hash,
    };
    if output.json {
        output.print_json(&report)?;
    } else {
        output.print(&show(&stage, topics, &matches, &report, args)?)?;
    }
    Ok(Outcome::Done)
}

/// Learns from the documents; `None` after a signal.
fn learn(
    stage: &Stage,
    general: &General,
    output: &Output,
    interrupt: &Interrupt,
) -> anyhow::Result<Option<TrainingRun>> {
    let settings = Settings::new(TOPICS).method("g-oem++", METHOD).vocabulary(stage.vocabulary.len());
    let settings = Settings { seed: general.seed, ..settings.batch(BATCH) };
    let words = Vocabulary::new(stage.vocabulary.iter().map(String::as_str))?;
    let mut run = TrainingRun::new(settings, Features::Words(words), None, general.threads)?;
    run.begin(Some(HistoryEntry::new("demo", Vec::new())));
    let documents = stage.documents.clone();
    let open = move |_: Option<&SharedVocabulary>| observations(documents.clone().take(DOCUMENTS as usize));
    output.progress.start("learning", "documents", Some(DOCUMENTS));
    let ended = run.fit(open, &FitOptions::default(), &mut Bar { output, interrupt })?;
    output.progress.finish();
    Ok((ended == Ended::Finished).then_some(run))
}

/// Writes the page of the model with the documents that it was learnt from.
fn write_page(stage: &Stage, run: &TrainingRun, page: PageFile, general: &General) -> anyhow::Result<()> {
    let program = "gibbstream demo --report page.html".to_owned();
    let options = ExploreOptions {
        title: "Ten themes".into(),
        sweeps: PAGE_SWEEPS,
        seed: general.seed,
        threads: general.threads,
        commands: Commands { program, ..Commands::default() },
        ..ExploreOptions::default()
    };
    let snapshot = run.snapshot()?;
    let report = thread_pool(general.threads)?.install(|| {
        let mut explorer = Explorer::new(&snapshot, &options, None)?;
        let documents: Vec<Record> =
            (0..DOCUMENTS).map(|index| Record::counts(stage.documents.document(index))).collect();
        explorer.look(documents)?;
        explorer.finish()
    })?;
    page.finish(report, PageFormat::Html)?;
    Ok(())
}

/// Shows how far learning is.
struct Bar<'a> {
    output: &'a Output,
    interrupt: &'a Interrupt,
}

impl Observer for Bar<'_> {
    fn notify(&mut self, run: &TrainingRun, event: &Event<'_>) -> gibbstream::Result<()> {
        if let Event::Learnt { step, .. } = event {
            let tokens = run.trainer().tokens();
            let speed = tokens as f64 / run.cost().wall.as_secs_f64();
            self.output.progress.advance(step.seen, || {
                (format!("{} tokens/s", count(speed as u64)), json!({ "tokens": tokens }))
            });
        }
        Ok(())
    }

    fn is_interrupted(&self) -> bool {
        self.interrupt.received().is_some()
    }
}

/// The true parameters in the form that scoring reads.
fn by_word(truth: &Truth) -> Topics {
    let words = 0..truth.vocabulary_size;
    let beta = words.flat_map(|word| (0..truth.topic_count()).map(move |k| truth.row(k)[word])).collect();
    Topics { beta, alpha: truth.alpha.clone() }
}

/// The assignment of learnt to true topics with the smallest sum of total variation distances.
fn align(truth: &Truth, topics: &Topics) -> Vec<Match> {
    let distance = |theme: usize, k: usize| -> f64 {
        let here = topics.beta.iter().skip(k).step_by(topics.topics());
        0.5 * truth.row(theme).iter().zip(here).map(|(p, q)| (p - q).abs()).sum::<f64>()
    };
    // The assignment wants whole numbers; a billionth is precise enough.
    let costs =
        Matrix::from_fn(truth.topic_count(), topics.topics(), |(theme, k)| (1e9 * distance(theme, k)) as i64);
    let (_, assignment) = kuhn_munkres_min(&costs);
    assignment
        .iter()
        .enumerate()
        .map(|(theme, &topic)| Match { topic, distance: distance(theme, topic) })
        .collect()
}

/// The result for people.
fn show(
    stage: &Stage,
    topics: &Topics,
    matches: &[Match],
    report: &Report,
    args: &DemoArgs,
) -> Result<String, std::fmt::Error> {
    let mut text = String::new();
    writeln!(text)?;
    writeln!(
        text,
        "{STRONG}  theme       true words                        learnt words                      agreement{STRONG:#}"
    )?;
    for (theme, found) in matches.iter().enumerate() {
        let learnt: Vec<f64> =
            topics.beta.iter().skip(found.topic).step_by(topics.topics()).copied().collect();
        let (mark, style) = if found.distance <= RECOVERED { ("✓", GOOD) } else { ("✗", BAD) };
        writeln!(
            text,
            "{style}{mark}{style:#} {STRONG}{}{STRONG:#} {FAINT}{}{FAINT:#}  {WORDS}{}{WORDS:#}  {style}{:8.0}%{style:#}",
            fit(stage.names[theme], 11),
            fit(&top_words(stage, stage.truth.row(theme)), 32),
            fit(&top_words(stage, &learnt), 32),
            100.0 * (1.0 - found.distance),
        )?;
    }
    writeln!(text)?;
    let all = if report.recovered_topics == report.true_topics { GOOD } else { STRONG };
    writeln!(
        text,
        "{all}{} of {} themes recovered{all:#} from {} documents in {:.1} s of training.",
        report.recovered_topics,
        report.true_topics,
        count(report.documents),
        report.train_seconds
    )?;
    writeln!(
        text,
        "\n{STRONG}Held-out score{STRONG:#}, nats per document on {HELD_OUT} other documents (lower is better):"
    )?;
    let (own, best) =
        (report.log_perplexity_per_document, report.true_parameters_log_perplexity_per_document);
    writeln!(text, "  word frequencies alone   {:8.2}", report.unigram_log_perplexity_per_document)?;
    writeln!(
        text,
        "  {STRONG}the learnt topics        {own:8.2}{STRONG:#}   {:+.2} % from the best possible",
        100.0 * (own / best - 1.0)
    )?;
    writeln!(text, "  the true parameters      {best:8.2}")?;
    writeln!(text, "\nNow with your own documents, one per line:")?;
    writeln!(text, "  {STRONG}gibbstream train documents.txt --topics 20 --out model.gbs{STRONG:#}")?;
    writeln!(text, "  {STRONG}gibbstream topics model.gbs{STRONG:#}")?;
    if let Some(page) = &args.report {
        writeln!(text, "\nOpen {STRONG}{}{STRONG:#} in a browser to explore the model.", page.display())?;
    }
    if let Some(out) = &args.out {
        writeln!(text, "\n{FAINT}The model of this demo is in {}.{FAINT:#}", out.display())?;
    }
    Ok(text)
}

fn top_words(stage: &Stage, law: &[f64]) -> String {
    let mut words: Vec<usize> = (0..law.len()).collect();
    words.sort_by(|&a, &b| law[b].total_cmp(&law[a]));
    words.iter().take(5).map(|&word| stage.vocabulary[word].as_str()).collect::<Vec<_>>().join(" ")
}
