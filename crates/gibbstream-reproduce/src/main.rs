//! `gibbstream-reproduce`: the experiments of the paper, run, drawn and held against what the paper says.
//!
//! Experiments (`experiment.rs`) are a table (`experiments.rs`). Each asks for cells (`cells.rs`), which are run by one runner (`run.rs`) on
//! documents of the corpora (`library.rs`) and kept in a file (`store.rs`, `row.rs`). Pages (`pages.rs`) with plots (`plot.rs`, `figures.rs`),
//! tables (`table.rs`) and checks (`claims.rs`) are made from finished cells (`findings.rs`) alone.

mod cells;
mod claims;
mod experiment;
mod experiments;
mod figures;
mod findings;
mod library;
mod pages;
mod row;
mod run;
mod scale;
mod store;
mod table;

use cells::{Finished, Task, plan, tasks_of};
use experiment::{Corpus, Experiment};
use experiments::{EXPERIMENTS, find};
use gibbstream::Error;
use gibbstream_cli::{General, GeneralArgs, Interrupt, Outcome, Output, STRONG, count};
use library::Corpora;
use pages::{PageSummary, Pages};
use run::{Limits, run_all};
use scale::Scale;
use serde::Serialize;
use serde_json::{Value, json};
use std::fmt::Write;
use std::path::PathBuf;
use std::process::ExitCode;
use std::time::{Duration, Instant};
use store::Store;

const EXAMPLES: &str = "\
Examples:
  gibbstream-reproduce --list                                       what there is
  gibbstream-reproduce all --scale smoke --out results              does everything run? needs no data
  gibbstream-reproduce X1 X2 --scale laptop --data corpora --out results
  gibbstream-reproduce all --scale laptop --data corpora --out results --max-seconds 3600

A cell is one training run with its scores. Finished cells are kept in OUT/cells.tsv and never run again, whichever
experiment asks for them: stop with Ctrl-C or --max-seconds at any time, and go on later with the same command. Tables and
plots are made from what is there and say how much that is.

DATA is a folder with a folder for each corpus (imdb, wikipedia, pubmed, yelp, reuters), UCI format, documents in random
order. Corpora that are not there are left out. All methods have the settings of the paper, whatever `gibbstream train`
does by default.";

/// Run experiments of the paper: tables, plots, and whether they agree
#[derive(Debug, clap::Parser)]
#[command(name = "gibbstream-reproduce", version, args_override_self = true)]
#[command(max_term_width = 110, after_long_help = EXAMPLES)]
struct Args {
    /// Experiments, X1 to X17, or all
    #[arg(value_name = "X1", required_unless_present = "list")]
    experiments: Vec<String>,
    /// Say what the experiments are, and how many cells they have at this scale
    #[arg(long)]
    list: bool,
    /// How large: smoke (a minute, synthetic documents only), laptop (about ten minutes each), or full (as in the paper)
    #[arg(long, value_name = "SIZE", default_value = "smoke", hide_possible_values = true)]
    scale: Scale,
    /// Folder with the corpora
    #[arg(long, value_name = "DIR")]
    data: Option<PathBuf>,
    /// Folder for finished cells, tables and plots
    #[arg(long, value_name = "DIR", default_value = "docs/results")]
    out: PathBuf,
    /// Begin no cell after so many seconds
    #[arg(long, value_name = "S")]
    max_seconds: Option<f64>,
    #[command(flatten)]
    general: GeneralArgs,
}

fn main() -> ExitCode {
    gibbstream_cli::run_program(gibbstream_cli::parse(), |args: &Args| &args.general, run)
}

fn run(args: &Args, general: &General, output: &Output, interrupt: &Interrupt) -> anyhow::Result<Outcome> {
    let experiments = args.chosen()?;
    let corpora = Corpora::open(args.scale, args.data.as_deref())?;
    if args.list {
        list(&experiments, &corpora, general, output)?;
        return Ok(Outcome::Done);
    }
    let limits = Limits { interrupt, deadline: args.deadline()?, threads: general.threads };
    args.warn_about_missing(&experiments, &corpora, output);
    let mut store = Store::open(&args.out)?;
    store.warn_about_foreign_lines(output);
    interrupt.defer();
    finish_cells(&plan(&experiments, &corpora, general.seed.0), &corpora, limits, &mut store, output)?;
    let pages = Pages { out: &args.out, corpora: &corpora, store: &store, seed: general.seed.0 };
    let written = experiments.iter().map(|experiment| pages.write(experiment));
    let written = written.collect::<anyhow::Result<Vec<_>>>()?;
    if output.json {
        output.print_json(&report(args.scale, &written))?;
    } else {
        output.print(&written.iter().map(PageSummary::line).collect::<String>())?;
    }
    Ok(interrupt.received().map_or(Outcome::Done, Outcome::Interrupted))
}

/// Runs the cells that are not in the store yet, and puts them there.
fn finish_cells(
    tasks: &[Task],
    corpora: &Corpora,
    limits: Limits<'_>,
    store: &mut Store,
    output: &Output,
) -> anyhow::Result<()> {
    let missing: Vec<Task> = tasks.iter().filter_map(|task| store.remaining(task)).collect();
    let (all, before) = (tasks.len() as u64, (tasks.len() - missing.len()) as u64);
    output.note(format_args!("{} cells, {} of them finished before", count(all), count(before)));
    output.progress.start("running", "cells", Some(missing.len() as u64));
    let mut done = 0;
    run_all(&missing, corpora, limits, |finished: Finished| {
        done += 1;
        let cell = &finished.cell;
        let text = format!("{} {} K={} split {}", cell.corpus, cell.method, cell.topics, cell.split);
        output.progress.advance(done, || (text.clone(), json!({ "cell": text })));
        store.add(finished)
    })?;
    output.progress.finish();
    Ok(())
}

/// What is printed for programs.
fn report(scale: Scale, experiments: &[impl Serialize]) -> Value {
    json!({ "schema": "gibbstream/reproduce/1", "scale": scale.name(), "experiments": experiments })
}

impl Args {
    /// The experiments, each once, in the order of the checklist.
    fn chosen(&self) -> anyhow::Result<Vec<&'static Experiment>> {
        let all = self.experiments.is_empty()
            || self.experiments.iter().any(|name| name.eq_ignore_ascii_case("all"));
        for name in self.experiments.iter().filter(|name| !name.eq_ignore_ascii_case("all")) {
            if find(name).is_none() {
                let advice = "use X1 to X17, or all; --list says what they are";
                return Err(Error::setting("X1", format!("there is no experiment `{name}`"), advice).into());
            }
        }
        let named = |experiment: &&Experiment| {
            all || self.experiments.iter().any(|name| name.eq_ignore_ascii_case(experiment.id))
        };
        Ok(EXPERIMENTS.iter().filter(named).collect())
    }

    fn deadline(&self) -> anyhow::Result<Option<Instant>> {
        let Some(seconds) = self.max_seconds else { return Ok(None) };
        let deadline =
            Duration::try_from_secs_f64(seconds).ok().and_then(|length| Instant::now().checked_add(length));
        if deadline.is_none() {
            let problem = format!("{seconds} is not a length of time");
            return Err(
                Error::setting("--max-seconds", problem, "use a number of seconds, such as 3600").into()
            );
        }
        Ok(deadline)
    }

    /// Says which corpora are left out.
    fn warn_about_missing(&self, experiments: &[&Experiment], corpora: &Corpora, output: &Output) {
        let asked = |corpus: &Corpus| {
            experiments
                .iter()
                .flat_map(|experiment| experiment.recipes)
                .any(|recipe| recipe.corpora.contains(corpus))
        };
        let missing: Vec<&str> = (Corpus::ALL.iter())
            .filter(|corpus| asked(corpus) && corpora.source(**corpus).is_none())
            .map(|corpus| corpus.name())
            .collect();
        if !missing.is_empty() {
            let place = self
                .data
                .as_ref()
                .map_or("--data was not given".to_owned(), |data| format!("not in {}", data.display()));
            output.warn(format_args!("left out: {} ({place})", missing.join(", ")));
        }
    }
}

fn list(
    experiments: &[&Experiment],
    corpora: &Corpora,
    general: &General,
    output: &Output,
) -> anyhow::Result<()> {
    let cells = |experiment: &Experiment| tasks_of(experiment, corpora, general.seed.0).len();
    if output.json {
        let rows: Vec<Value> = experiments
            .iter()
            .map(|experiment| json!({ "id": experiment.id, "title": experiment.title, "cells": cells(experiment) }))
            .collect();
        return output.print_json(&report(corpora.scale(), &rows));
    }
    let mut text = String::new();
    for experiment in experiments {
        let cells = count(cells(experiment) as u64).to_string();
        writeln!(text, "{STRONG}{:4}{STRONG:#} {cells:>6} cells  {}", experiment.id, experiment.title)?;
    }
    output.print(&text)
}
