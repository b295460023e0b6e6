//! `choose-k`: how many topics? Held-out score, coherence and stability over a grid, and what follows from them.

mod judgement;

mod picture;

use super::train::{Prepared, expected_speed};
use crate::Outcome;
use crate::args::General;
use crate::args::train::{Plan, TrainArgs};
use crate::interrupt::Interrupt;
use crate::output::{FAINT, Output, STRONG, count};
use crate::source::Source;
use gibbstream::corpus::{ResolvedInputs, Vocabulary};
use gibbstream::evaluation::Evaluation;
use gibbstream::evaluation::coherence::{CoherenceCounter, UmassSmoothing};
use gibbstream::evaluation::stability::stability;
use gibbstream::file::Destination;
use gibbstream::learn::{
    Ended, Event, FitOptions, Mode, Observation, Observer, Settings, Snapshot, TopicParameters, TrainingRun,
};
use gibbstream::numerics::random::Seed;
use gibbstream::{Error, Result};
use judgement::{Judgement, judge};
use serde::Serialize;
use serde_json::json;
use std::fmt::Write;
use std::time::Instant;

const EXAMPLES: &str = "\
Examples:
  gibbstream choose-k reviews.jsonl.zst
  gibbstream choose-k reviews.jsonl.zst --grid 10,20,50,100,200 --seeds 5 --out choice.svg
  gibbstream choose-k reviews.jsonl.zst --grid 10,20,50 --limit-docs 20000 --dry-run      expected time
  gibbstream choose-k corpus/ --holdout 1000 --sweeps 10 --json

Trains a model for every number of topics and every seed, with the flags of `train`, and scores all of them on the same
held-out documents: the first tenth of the input (at most 1,000), or --holdout N. Shuffle the input if it is sorted.

score      mean of -log p(document) in nats; lower is better. Its error covers documents and seeds
coherence  mean NPMI of the ten top words of each topic in the training documents, from -1 to 1; higher is better
stability  how well topics are found again with another seed: 1 all of them, 0 none (see `compare`)

The recommendation is the smallest number of topics whose score is within one standard error of the best. It also
says when coherence or stability favour another number.";

/// Flags of `train` that have no meaning here.
const NOT_FOR_CHOOSING: [&str; 9] = [
    "topics",
    "continued",
    "follow",
    "max_seconds",
    "eval_every",
    "log",
    "checkpoint",
    "checkpoint_every",
    "resume",
];

/// Numbers of topics that are tried unless told otherwise.
const GRID: &str = "5,10,20,50,100";

/// Documents that are kept aside unless told otherwise: a tenth, and so many at most.
const MOST_HELD_OUT: u64 = 1_000;

/// Best words of a topic that coherence and stability look at.
const BEST_WORDS: usize = 10;

/// How similar a topic of another seed must be that is the same.
const SAME: f64 = 0.5;

/// Choose the number of topics
#[derive(Clone, Debug, clap::Args)]
#[command(after_long_help = EXAMPLES)]
pub struct ChooseKArgs {
    /// Numbers of topics to try
    #[arg(long, value_name = "K,K,...", default_value = GRID, value_parser = parse_grid, help_heading = "Choice")]
    grid: Grid,
    /// Number of models per number of topics, with consecutive seeds starting at --seed
    #[arg(long, value_name = "N", default_value_t = 3, help_heading = "Choice")]
    seeds: u64,
    #[command(flatten)]
    pub train: TrainArgs,
}

/// Numbers of topics, ascending.
#[derive(Clone, Debug, PartialEq)]
pub struct Grid(Vec<usize>);

fn parse_grid(text: &str) -> Result<Grid, String> {
    let number = |part: &str| match part.trim().parse() {
        Ok(0) | Err(_) => Err(format!("`{part}` is not a number of topics; write them as {GRID}")),
        Ok(topics) => Ok(topics),
    };
    let mut grid = text.split(',').map(number).collect::<Result<Vec<usize>, _>>()?;
    grid.sort_unstable();
    grid.dedup();
    if grid.len() < 2 {
        Err(format!("there is nothing to choose from; write them as {GRID}"))
    } else {
        Ok(Grid(grid))
    }
}

/// The flags of `train`, as they are here.
pub fn adapt(command: clap::Command) -> clap::Command {
    let command =
        NOT_FOR_CHOOSING.into_iter().fold(command, |command, id| command.mut_arg(id, |arg| arg.hide(true)));
    command
        .mut_arg("out", |arg| arg.value_name("FILE").help("Picture to write (SVG)"))
        .mut_arg("holdout", |arg| {
            arg.help("Hold out the first N documents and score them [default: a tenth, at most 1000]")
        })
        .mut_arg("dry_run", |arg| arg.help("Print the expected time, without training"))
}

/// One number of topics.
#[derive(Clone, Debug, Serialize)]
pub struct Row {
    topics: usize,
    /// Mean over documents and seeds of -log p(document).
    log_perplexity_per_document: f64,
    /// Its error over documents and seeds.
    standard_error: f64,
    /// How much worse than the best, and the error of that: the same documents are scored.
    worse_by: f64,
    worse_by_error: f64,
    coherence: f64,
    /// Standard deviation over seeds.
    coherence_deviation: f64,
    /// Not known with one seed.
    stability: Option<f64>,
    train_seconds: f64,
    model_hashes: Vec<String>,
}

#[derive(Serialize)]
struct Report<'a> {
    schema: &'static str,
    grid: &'a [usize],
    seeds: Vec<u64>,
    documents: u64,
    held_out: u64,
    vocabulary: usize,
    method: &'a str,
    passes: u64,
    estimator: &'static str,
    particles: usize,
    unigram_log_perplexity_per_document: f64,
    rows: &'a [Row],
    #[serde(flatten)]
    judgement: &'a Judgement,
    warnings: Vec<String>,
}

/// Runs the command.
pub fn run(
    args: &ChooseKArgs,
    general: &General,
    output: &Output,
    interrupt: &Interrupt,
) -> anyhow::Result<Outcome> {
    args.check()?;
    let place = args.train.out.as_ref().map(|out| Destination::new(out, picture::KIND, general.force));
    let setting = Setting::new(args, general, output)?;
    if let Some(place) = &place {
        place.check(&setting.prepared.source.inputs.files())?;
    }
    if args.train.dry_run {
        return setting.estimate(args, general, output);
    }
    interrupt.defer();
    let models = args.grid.0.len() as u64 * args.seeds;
    output.note(format_args!(
        "{} models: {} numbers of topics, {} each; {} documents in {}, {} held out",
        count(models),
        args.grid.0.len(),
        if args.seeds == 1 { "one seed".into() } else { format!("{} seeds", args.seeds) },
        count(setting.documents),
        if setting.plan.passes == 1 { "one pass".into() } else { format!("{} passes", setting.plan.passes) },
        count(setting.plan.holdout as u64),
    ));
    let Some(found) = setting.try_all(args, general, output, interrupt)? else {
        output.note("interrupted: nothing is recommended");
        return Ok(interrupt.received().map_or(Outcome::Done, Outcome::Interrupted));
    };
    let rows = found.rows(&setting, args.seeds)?;
    let judgement = judge(&rows, found.unigram);
    if let Some(place) = &place {
        let mut file = place.create()?;
        file.write(picture::draw(&rows, &judgement, found.unigram).svg().as_bytes())?;
        file.finish()?;
    }
    if output.json {
        let evaluation = Evaluation::default();
        output.print_json(&Report {
            schema: "gibbstream/choose-k/1",
            grid: &args.grid.0,
            seeds: (0..args.seeds).map(|seed| general.seed.0 + seed).collect(),
            documents: found.learnt_from,
            held_out: setting.plan.holdout as u64,
            vocabulary: setting.plan.settings.features,
            method: &setting.plan.settings.name,
            passes: setting.plan.passes,
            estimator: evaluation.estimator.name(),
            particles: evaluation.particles,
            unigram_log_perplexity_per_document: found.unigram,
            rows: &rows,
            judgement: &judgement,
            warnings: output.warnings(),
        })?;
    } else {
        output.print(&table(&rows, &judgement, found.unigram)?)?;
        if let Some(place) = &place {
            output.note(format_args!("{STRONG}{}{STRONG:#}: the picture", place.path().display()));
        }
    }
    Ok(Outcome::Done)
}

impl ChooseKArgs {
    fn check(&self) -> Result<()> {
        if let Some(model) = self.train.knobs.get("model").filter(|model| *model != "lda") {
            let problem = format!("a model of kind {model} has no number of topics to choose");
            return Err(Error::setting("--model", problem, "use lda"));
        }
        let is_refused = |flag: &&String| NOT_FOR_CHOOSING.contains(&flag.replace('-', "_").as_str());
        match self.train.given.iter().find(is_refused) {
            Some(flag) if flag == "topics" => {
                return Err(Error::setting("--topics", "many are tried", "name them with --grid"));
            }
            Some(flag) => {
                return Err(Error::setting(
                    flag.clone(),
                    "cannot be used when several models are trained",
                    "leave it out",
                ));
            }
            None => {}
        }
        if !(1..=100).contains(&self.seeds) {
            return Err(Error::setting(
                "--seeds",
                "this is not a number of seeds from 1 to 100",
                "use for example 3",
            ));
        }
        Ok(())
    }

    /// The flags of `train` for a number of topics.
    fn train(&self, topics: usize) -> TrainArgs {
        let mut train = self.train.clone();
        train.knobs = train.knobs.with("topics", topics.to_string());
        // No model is written, which is what the plan takes a dry run for.
        (train.out, train.dry_run) = (None, true);
        train
    }
}

/// What all models have in common.
struct Setting {
    plan: Plan,
    prepared: Prepared,
    held_out: Source,
    training: Source,
    /// Documents to learn from.
    documents: u64,
}

impl Setting {
    fn new(args: &ChooseKArgs, general: &General, output: &Output) -> anyhow::Result<Self> {
        let train = args.train(args.grid.0[0]);
        let mut plan = train.plan(general, None, Some(Mode::File))?;
        if plan.open_rule.is_some() {
            let problem = "models can be compared only if they know the same words";
            return Err(Error::setting("--vocab-mode", problem, "use --vocab-mode fixed").into());
        }
        let mut inputs = plan.inputs.clone().resolve()?;
        if inputs.is_read_once() {
            output.note("this input must be read more than once, so it is copied to a temporary file first");
            inputs.spool()?;
        }
        let documents = match inputs.expected_documents() {
            Some(documents) => documents,
            None => counted(&inputs, output)?,
        };
        if plan.holdout == 0 {
            plan.holdout = (documents / 10).min(MOST_HELD_OUT) as usize;
        }
        let aside = plan.holdout as u64;
        if aside < 2 || documents <= aside {
            let problem = format!("{documents} documents are too few to hold some out and train on the rest");
            return Err(Error::setting(
                "INPUT",
                problem,
                "give more, or set the number to hold out with --holdout",
            )
            .into());
        }
        let prepared = Prepared::new(inputs.clone(), &mut plan, &train, None, output)?;
        let vocabulary = prepared.features.vocabulary();
        let (skip, limit) = (plan.inputs.skip, plan.inputs.limit);
        let source =
            |skip, limit| Source::documents(prepared.source.inputs.range(skip, limit), vocabulary.clone());
        Ok(Self {
            held_out: source(skip, Some(aside)),
            training: source(skip + aside, limit.map(|limit| limit - aside)),
            documents: documents - aside,
            plan,
            prepared,
        })
    }

    fn settings(&self, args: &ChooseKArgs, topics: usize, seed: u64) -> Result<Settings> {
        let asked = args.train(topics).knobs.settings(None, Mode::File)?;
        let method = self.plan.settings.method;
        Ok(Settings { method, seed: Seed(seed), features: self.plan.settings.features, ..asked })
    }

    /// How long it would take.
    fn estimate(&self, args: &ChooseKArgs, general: &General, output: &Output) -> anyhow::Result<Outcome> {
        let mut rows = Vec::new();
        let mut text = format!("{STRONG}topics  documents/s  seconds for {} seeds{STRONG:#}\n", args.seeds);
        for &topics in &args.grid.0 {
            let plan = Plan { settings: self.settings(args, topics, general.seed.0)?, ..self.plan.clone() };
            let speed = expected_speed(&plan, &self.prepared, general)?;
            let work = (self.documents * plan.passes * args.seeds) as f64;
            let seconds = speed.map(|speed| work / speed);
            rows.push(
                json!({ "topics": topics, "documents_per_second": speed, "expected_seconds": seconds }),
            );
            let shown = |value: Option<f64>| value.map_or("unknown".into(), |value| format!("{value:.0}"));
            writeln!(text, "{topics:6}  {:>11}  {:>7}", shown(speed), shown(seconds))?;
        }
        let total: Option<f64> = rows.iter().map(|row| row["expected_seconds"].as_f64()).sum();
        if output.json {
            output.print_json(&json!({
                "schema": "gibbstream/choose-k-plan/1",
                "documents": self.documents,
                "held_out": self.plan.holdout,
                "seeds": args.seeds,
                "rows": rows,
                "expected_seconds": total,
            }))?;
        } else {
            if let Some(total) = total {
                writeln!(
                    text,
                    "about {total:.0} seconds to learn {} models; scoring comes on top",
                    args.grid.0.len() as u64 * args.seeds
                )?;
            }
            output.print(&text)?;
        }
        Ok(Outcome::Done)
    }

    /// Learns and scores all models; nothing if a signal came.
    fn try_all(
        &self,
        args: &ChooseKArgs,
        general: &General,
        output: &Output,
        interrupt: &Interrupt,
    ) -> anyhow::Result<Option<Found>> {
        let vocabulary = self.prepared.features.vocabulary();
        let (mut cells, mut stabilities) = (Vec::new(), Vec::new());
        let (mut unigram, mut learnt_from) = (0.0, 0);
        let models = args.grid.0.len() as u64 * args.seeds;
        output.progress.start("training", "models", Some(models));
        for &topics in &args.grid.0 {
            let mut of_topics: Vec<Snapshot> = Vec::new();
            for seed in general.seed.0..general.seed.0 + args.seeds {
                let started = Instant::now();
                let settings = self.settings(args, topics, seed)?;
                let Some(model) = self.learn(settings, general, output, interrupt)? else { return Ok(None) };
                let seconds = started.elapsed().as_secs_f64();
                learnt_from = model.clock().seen / self.plan.passes;
                let (scores, of_unigram) = self.score(&model, general)?;
                unigram = of_unigram;
                let parameters = model.parameters()?.topics()?;
                let best = parameters.summaries(BEST_WORDS, 1.0);
                let best =
                    best.iter().map(|topic| topic.words.iter().map(|&(word, _)| word).collect()).collect();
                cells.push(Cell { topics, scores, best, seconds, hash: model.hash() });
                output.progress.advance(cells.len() as u64, || {
                    (format!("{topics} topics, seed {seed}"), json!({ "topics": topics, "seed": seed }))
                });
                of_topics.push(model);
            }
            stabilities.push(mean_stability(&of_topics, &vocabulary)?);
        }
        output.progress.finish();
        let coherence = self.coherence(&cells)?;
        Ok(Some(Found { cells, coherence, stabilities, unigram, learnt_from }))
    }

    fn learn(
        &self,
        settings: Settings,
        general: &General,
        output: &Output,
        interrupt: &Interrupt,
    ) -> anyhow::Result<Option<Snapshot>> {
        let Prepared { features, tokenizer, .. } = &self.prepared;
        let mut run = TrainingRun::new(settings, features.clone(), tokenizer.clone(), general.threads)?;
        run.stop_with(interrupt.stop());
        let (source, options) =
            (self.training.clone(), FitOptions { passes: self.plan.passes, ..FitOptions::default() });
        let ended =
            run.fit(move |words| source.read_entering(words), &options, &mut Signals { interrupt, output })?;
        Ok((ended == Ended::Finished && interrupt.received().is_none())
            .then(|| run.snapshot())
            .transpose()?)
    }

    /// The log-likelihood of every document kept aside, and the log-perplexity of word frequencies.
    fn score(&self, model: &Snapshot, general: &General) -> Result<(Vec<f64>, f64)> {
        let evaluation = Evaluation { seed: general.seed, threads: general.threads, ..Evaluation::default() };
        let mut each = Vec::new();
        let score = model.parameters()?.score(evaluation, self.held_out.read(), |score| each.push(score))?;
        Ok((each, score.baseline().1))
    }

    /// The mean coherence of the topics of each model, all counted in one reading.
    fn coherence(&self, cells: &[Cell]) -> Result<Vec<f64>> {
        let mut counters =
            cells.iter().map(|cell| CoherenceCounter::new(&cell.best)).collect::<Result<Vec<_>>>()?;
        for observation in self.training.read() {
            if let Observation::Document(document) = observation? {
                counters.iter_mut().for_each(|counter| counter.add_bag(&document));
            }
        }
        counters.iter().map(|counter| Ok(counter.finish(UmassSmoothing::One)?.mean.npmi)).collect()
    }
}

/// Documents there are.
fn counted(inputs: &ResolvedInputs, output: &Output) -> Result<u64> {
    output.progress.start("counting", "documents", None);
    let nothing = Vocabulary::new(["-"])?;
    let mut seen = 0;
    for document in inputs.documents(&nothing) {
        document?;
        seen += 1;
        output.progress.advance(seen, || (String::new(), json!({})));
    }
    output.progress.finish();
    Ok(seen)
}

/// Lets signals through.
struct Signals<'a> {
    interrupt: &'a Interrupt,
    output: &'a Output,
}

impl Observer for Signals<'_> {
    fn notify(&mut self, run: &TrainingRun, event: &Event<'_>) -> Result<()> {
        if let Event::Learnt { step, .. } = event {
            let topics = run.trainer().settings().components;
            self.output.detail(format_args!("{topics} topics: {} documents", count(step.seen)));
        }
        Ok(())
    }

    fn is_interrupted(&self) -> bool {
        self.interrupt.received().is_some()
    }
}

/// How much of the topics of each seed comes again with the others; nothing with one seed.
fn mean_stability(models: &[Snapshot], vocabulary: &Vocabulary) -> Result<Option<f64>> {
    let all =
        models.iter().map(|model| model.parameters()?.topics()).collect::<Result<Vec<&TopicParameters>>>()?;
    if all.len() < 2 {
        return Ok(None);
    }
    let of = |first: usize| {
        let mut order: Vec<(&TopicParameters, &Vocabulary)> =
            all.iter().map(|model| (*model, vocabulary)).collect();
        order.swap(0, first);
        stability(&order, BEST_WORDS, SAME).stability
    };
    Ok(Some((0..all.len()).map(of).sum::<f64>() / all.len() as f64))
}

/// One model.
struct Cell {
    topics: usize,
    scores: Vec<f64>,
    best: Vec<Vec<u32>>,
    seconds: f64,
    hash: String,
}

/// All models.
struct Found {
    cells: Vec<Cell>,
    coherence: Vec<f64>,
    stabilities: Vec<Option<f64>>,
    unigram: f64,
    learnt_from: u64,
}

impl Found {
    fn rows(&self, setting: &Setting, seeds: u64) -> Result<Vec<Row>> {
        let documents = setting.plan.holdout;
        let seeds = seeds as usize;
        let of_topics: Vec<&[Cell]> = self.cells.chunks(seeds).collect();
        let scores: Vec<Vec<&[f64]>> =
            of_topics.iter().map(|cells| cells.iter().map(|cell| cell.scores.as_slice()).collect()).collect();
        if scores.iter().flatten().any(|scores| scores.len() != documents) {
            return Err(Error::setting("INPUT", "it has changed while it was read", "try again"));
        }
        let judged = judgement::scores(&scores);
        let row = |(at, cells): (usize, &&[Cell])| {
            let coherence = &self.coherence[at * seeds..][..seeds];
            let (mean, deviation) = judgement::mean_and_deviation(coherence);
            Row {
                topics: cells[0].topics,
                log_perplexity_per_document: judged[at].mean,
                standard_error: judged[at].error,
                worse_by: judged[at].worse_by,
                worse_by_error: judged[at].worse_by_error,
                coherence: mean,
                coherence_deviation: deviation,
                stability: self.stabilities[at],
                train_seconds: cells.iter().map(|cell| cell.seconds).sum(),
                model_hashes: cells.iter().map(|cell| cell.hash.clone()).collect(),
            }
        };
        Ok(of_topics.iter().enumerate().map(row).collect())
    }
}

fn table(rows: &[Row], judgement: &Judgement, unigram: f64) -> Result<String, std::fmt::Error> {
    let mut text =
        format!("{STRONG}topics      score   worse by     coherence   stability  seconds{STRONG:#}\n");
    for row in rows {
        let mark = if row.topics == judgement.recommended { "*" } else { " " };
        let stability = row.stability.map_or("-".into(), |stability| format!("{stability:.2}"));
        writeln!(
            text,
            "{STRONG}{:6}{STRONG:#}{mark} {:9.2}  {:6.2} ± {:<5.2} {:6.3} ± {:<5.3} {stability:>7}  {:7.1}",
            row.topics,
            row.log_perplexity_per_document,
            row.worse_by,
            row.worse_by_error,
            row.coherence,
            row.coherence_deviation,
            row.train_seconds
        )?;
    }
    writeln!(
        text,
        "{FAINT}score: nats per document, lower is better; word frequencies alone: {unigram:.2}{FAINT:#}"
    )?;
    writeln!(text, "{STRONG}{}{STRONG:#}", judgement.sentence)?;
    Ok(text)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn grids_are_read() {
        assert_eq!(parse_grid("20, 5,10,5"), Ok(Grid(vec![5, 10, 20])));
        for bad in ["", "5", "5,5", "5,0", "5,x", "5;10", "-1,3"] {
            assert!(parse_grid(bad).is_err(), "{bad}");
        }
    }
}
