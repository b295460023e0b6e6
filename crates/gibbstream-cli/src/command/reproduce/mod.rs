//! `reproduce`: the experiments of the paper, run, drawn and held against what the paper says.
//!
//! Experiments (`experiment.rs`) are a table (`experiments.rs`). Each asks for cells (`cells.rs`), which are run by one runner (`run.rs`) on
//! documents of the library (`library.rs`) and kept in a file (`store.rs`). Plots (`plot.rs`, `figures.rs`, `picture.rs`), tables
//! (`table.rs`) and checks (`claims.rs`) are made from finished cells (`findings.rs`) alone.

mod cells;
mod claims;
mod experiment;
mod experiments;
mod figures;
mod findings;
mod library;
mod picture;
mod plot;
mod run;
mod scale;
mod store;
mod table;

use crate::Outcome;
use crate::args::General;
use crate::interrupt::Interrupt;
use crate::output::{Output, STRONG, count};
use anyhow::Context;
use cells::{Finished, Task, plan, tasks_of};
use experiment::{Corpus, Experiment};
use experiments::{EXPERIMENTS, find};
use figures::drawings;
use findings::{Findings, evened};
use gibbstream::Error;
use library::Library;
use picture::Painter;
use run::{Limits, run_all};
use scale::Scale;
use serde::Serialize;
use serde_json::json;
use std::fmt::Write;
use std::path::PathBuf;
use std::time::{Duration, Instant};
use store::Store;
use table::{Page, checks};

const EXAMPLES: &str = "\
Examples:
  gibbstream reproduce --list                                       what there is
  gibbstream reproduce all --scale smoke --out results              does everything run? needs no data
  gibbstream reproduce X1 X2 --scale laptop --data corpora --out results
  gibbstream reproduce all --scale laptop --data corpora --out results --max-seconds 3600

A cell is one training run with its scores. Finished cells are kept in OUT/cells.jsonl and never run again, whichever
experiment asks for them: stop with Ctrl-C or --max-seconds at any time, and go on later with the same command. Tables and
plots are made from what is there and say how much that is.

DATA is a folder with a folder for each corpus (imdb, wikipedia, pubmed, yelp, reuters), UCI format, documents in random
order. Corpora that are not there are left out. All methods have the settings of the paper, whatever `train` does by default.";

/// Run experiments of the paper: tables, plots, and whether they agree
#[derive(Clone, Debug, clap::Args)]
#[command(after_long_help = EXAMPLES)]
pub struct ReproduceArgs {
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
}

/// Runs the command.
pub fn run(
    args: &ReproduceArgs,
    general: &General,
    output: &Output,
    interrupt: &Interrupt,
) -> anyhow::Result<Outcome> {
    let experiments = args.chosen()?;
    let library = Library::open(args.scale, args.data.as_deref())?;
    if args.list {
        return list(&experiments, &library, general, output).map(|()| Outcome::Done);
    }
    let deadline = args.deadline()?;
    args.warn_about_missing(&experiments, &library, output);
    let mut store = Store::open(&args.out)?;
    if store.foreign_lines > 0 {
        output.warn(format_args!(
            "{} lines of cells.jsonl cannot be read and are left alone",
            store.foreign_lines
        ));
    }
    let tasks = plan(&experiments, &library, general.seed.0);
    let missing: Vec<Task> = tasks.iter().filter_map(|task| store.remaining(task)).collect();
    let before = tasks.len() - missing.len();
    output.note(format_args!(
        "{} cells, {} of them finished before",
        count(tasks.len() as u64),
        count(before as u64)
    ));
    interrupt.defer();
    output.progress.start("running", "cells", Some(missing.len() as u64));
    let mut done = 0;
    let limits = Limits { interrupt, deadline, threads: general.threads };
    run_all(&missing, &library, limits, |finished| {
        done += 1;
        let cell = &finished.cell;
        let text = format!("{} {} K={} split {}", cell.corpus, cell.method, cell.topics, cell.split);
        output.progress.advance(done, || (text.clone(), json!({ "cell": text })));
        store.add(finished)
    })?;
    output.progress.finish();
    let painter = Painter::new();
    if painter.is_none() {
        output.warn("no font on this system, so plots are written as SVG only; for PNG install one, such as DejaVu Sans");
    }
    let renderer = Renderer { args, library: &library, store: &store, painter, seed: general.seed.0 };
    let pages = experiments
        .iter()
        .map(|experiment| renderer.render(experiment))
        .collect::<anyhow::Result<Vec<_>>>()?;
    if output.json {
        let scale = args.scale.name();
        output.print_json(
            &json!({ "schema": "gibbstream/reproduce/1", "scale": scale, "experiments": pages }),
        )?;
    } else {
        output.print(&pages.iter().map(Rendered::line).collect::<String>())?;
    }
    Ok(interrupt.received().map_or(Outcome::Done, Outcome::Interrupted))
}

/// Writes the pages of experiments.
struct Renderer<'a> {
    args: &'a ReproduceArgs,
    library: &'a Library,
    store: &'a Store,
    painter: Option<Painter>,
    seed: u64,
}

/// A page that was written.
#[derive(Serialize)]
struct Rendered {
    id: &'static str,
    title: &'static str,
    cells: usize,
    finished: usize,
    agrees: usize,
    partly: usize,
    differs: usize,
    files: Vec<PathBuf>,
}

impl Renderer<'_> {
    fn render(&self, experiment: &'static Experiment) -> anyhow::Result<Rendered> {
        let tasks = tasks_of(experiment, self.library, self.seed);
        let finished: Vec<&Finished> = tasks.iter().filter_map(|task| self.store.find(task)).collect();
        let evened = evened(&finished);
        let findings = Findings {
            finished: evened.iter().collect(),
            planned: tasks.iter().map(|task| task.cell.clone()).collect(),
        };
        let drawings = drawings(experiment, &findings, |name| self.library.reference_topics(name));
        let checks = checks(experiment, &findings, self.library);
        let page = Page {
            experiment,
            findings: &findings,
            library: self.library,
            checks: &checks,
            drawings: &drawings,
            command: self.command(experiment),
        };
        let mut files = vec![self.write(&format!("{}.md", experiment.id), &page.markdown()?)?];
        for drawing in &drawings {
            files.push(self.write(&format!("{}.svg", drawing.name), &drawing.svg)?);
            if let Some(painter) = &self.painter {
                files.push(self.write(&format!("{}.png", drawing.name), painter.png(&drawing.svg)?)?);
            }
        }
        let verdicts = |word: &str| checks.iter().filter(|checked| checked.verdict.word() == word).count();
        Ok(Rendered {
            id: experiment.id,
            title: experiment.title,
            cells: findings.planned.len(),
            finished: findings.finished.len(),
            agrees: verdicts("agrees"),
            partly: verdicts("partly"),
            differs: verdicts("differs"),
            files,
        })
    }

    /// The command that makes the page anywhere.
    fn command(&self, experiment: &Experiment) -> String {
        let data = if self.args.scale.is_drawn() { "" } else { " --data DATA" };
        let seed = if self.seed == 0 { String::new() } else { format!(" --seed {}", self.seed) };
        format!(
            "gibbstream reproduce {} --scale {}{data}{seed} --out OUT",
            experiment.id,
            self.args.scale.name()
        )
    }

    fn write(&self, name: &str, content: impl AsRef<[u8]>) -> anyhow::Result<PathBuf> {
        let path = self.args.out.join(name);
        std::fs::write(&path, content).with_context(|| format!("cannot write {}", path.display()))?;
        Ok(path)
    }
}

impl Rendered {
    fn line(&self) -> String {
        format!(
            "{STRONG}{:4}{STRONG:#} {} of {} cells; the paper: {} agree, {} partly, {} differ; {}\n",
            self.id,
            self.finished,
            self.cells,
            self.agrees,
            self.partly,
            self.differs,
            self.files[0].display()
        )
    }
}

impl ReproduceArgs {
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
    fn warn_about_missing(&self, experiments: &[&Experiment], library: &Library, output: &Output) {
        let asked = |corpus: &Corpus| {
            experiments
                .iter()
                .flat_map(|experiment| experiment.recipes)
                .any(|recipe| recipe.corpora.contains(corpus))
        };
        let missing: Vec<&str> = (Corpus::ALL.iter())
            .filter(|corpus| asked(corpus) && library.shelf(**corpus).is_none())
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
    library: &Library,
    general: &General,
    output: &Output,
) -> anyhow::Result<()> {
    let cells = |experiment: &Experiment| tasks_of(experiment, library, general.seed.0).len();
    if output.json {
        let rows: Vec<_> = experiments
            .iter()
            .map(|experiment| json!({ "id": experiment.id, "title": experiment.title, "cells": cells(experiment) }))
            .collect();
        let scale = library.scale().name();
        return output
            .print_json(&json!({ "schema": "gibbstream/reproduce/1", "scale": scale, "experiments": rows }));
    }
    let mut text = String::new();
    for experiment in experiments {
        let cells = count(cells(experiment) as u64).to_string();
        writeln!(text, "{STRONG}{:4}{STRONG:#} {cells:>6} cells  {}", experiment.id, experiment.title)?;
    }
    output.print(&text)
}
