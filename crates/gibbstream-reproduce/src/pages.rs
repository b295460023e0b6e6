//! Writes the pages of experiments with their plots, from finished cells alone.

use crate::cells::{Finished, tasks_of};
use crate::experiment::Experiment;
use crate::figures::drawings;
use crate::findings::{Findings, evened};
use crate::library::Corpora;
use crate::scale::Scale;
use crate::store::Store;
use crate::table::{Checked, Page, checks};
use anyhow::Context;
use gibbstream_cli::STRONG;
use serde::Serialize;
use std::path::{Path, PathBuf};

/// What pages are made from, and where they go.
pub struct Pages<'a> {
    pub out: &'a Path,
    pub corpora: &'a Corpora,
    pub store: &'a Store,
    pub seed: u64,
}

/// A page that was written.
#[derive(Serialize)]
pub struct PageSummary {
    id: &'static str,
    title: &'static str,
    cells: usize,
    finished: usize,
    agrees: usize,
    partly: usize,
    differs: usize,
    files: Vec<PathBuf>,
}

impl Pages<'_> {
    /// Writes the page of an experiment, and its plots.
    pub fn write(&self, experiment: &'static Experiment) -> anyhow::Result<PageSummary> {
        let tasks = tasks_of(experiment, self.corpora, self.seed);
        let finished: Vec<&Finished> = tasks.iter().filter_map(|task| self.store.find(task)).collect();
        let evened = evened(&finished);
        let findings = Findings {
            finished: evened.iter().collect(),
            planned: tasks.iter().map(|task| task.cell.clone()).collect(),
        };
        let drawings = drawings(experiment, &findings, |name| self.corpora.reference_topics(name));
        let checks = checks(experiment, &findings, self.corpora);
        let page = Page {
            experiment,
            findings: &findings,
            corpora: self.corpora,
            checks: &checks,
            drawings: &drawings,
            command: self.command(experiment),
        };
        let mut files = vec![self.write_file(&format!("{}.md", experiment.id), &page.markdown()?)?];
        for drawing in &drawings {
            files.push(self.write_file(&format!("{}.svg", drawing.name), &drawing.svg)?);
        }
        Ok(PageSummary::new(experiment, &findings, &checks, files))
    }

    /// The command that makes the page anywhere.
    fn command(&self, experiment: &Experiment) -> String {
        let scale: Scale = self.corpora.scale();
        let data = if scale.is_drawn() { "" } else { " --data DATA" };
        let seed = if self.seed == 0 { String::new() } else { format!(" --seed {}", self.seed) };
        let program = "cargo run --release -p gibbstream-reproduce --";
        format!("{program} {} --scale {}{data}{seed} --out OUT", experiment.id, scale.name())
    }

    fn write_file(&self, name: &str, content: &str) -> anyhow::Result<PathBuf> {
        let path = self.out.join(name);
        std::fs::write(&path, content).with_context(|| format!("cannot write {}", path.display()))?;
        Ok(path)
    }
}

impl PageSummary {
    fn new(
        experiment: &Experiment,
        findings: &Findings<'_>,
        checks: &[Checked],
        files: Vec<PathBuf>,
    ) -> Self {
        let verdicts = |word: &str| checks.iter().filter(|checked| checked.verdict.word() == word).count();
        Self {
            id: experiment.id,
            title: experiment.title,
            cells: findings.planned.len(),
            finished: findings.finished.len(),
            agrees: verdicts("agrees"),
            partly: verdicts("partly"),
            differs: verdicts("differs"),
            files,
        }
    }

    /// The page in a line, for people.
    pub fn line(&self) -> String {
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
