//! A cell: one training run with its scores, and what comes out of it.

use crate::experiment::{Experiment, Extra, Grid, Recipe};
use crate::library::Corpora;
use crate::row;
use gibbstream::evaluation::Estimator;
use gibbstream::evaluation::coherence::TopicCoherence;
use serde::{Deserialize, Serialize};
use std::collections::{BTreeSet, HashMap};

/// Everything that decides the numbers of a run, in the words of the commands. Equal cells are the same work, whichever
/// experiment asks for them.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Cell {
    pub corpus: String,
    /// From 1 on: which documents are learnt from, in which order, and which are held out.
    pub split: u64,
    /// The same for all methods, so that they start from the same topics and are scored with the same particles.
    pub seed: u64,
    pub documents: u64,
    pub held_out: u64,
    /// Tokens of a held-out document beyond these are left out.
    pub longest: Option<u64>,
    pub batch: usize,
    /// A method with changes as flags; `hdp ` in front of it for an open number of topics.
    pub method: String,
    pub topics: usize,
    pub passes: u64,
    /// How held-out documents are scored.
    pub estimator: String,
    pub particles: usize,
}

/// A cell and what is to be measured beside its score.
#[derive(Clone, Debug, PartialEq)]
pub struct Task {
    pub cell: Cell,
    pub extras: BTreeSet<Extra>,
}

/// How far a run was at some moment.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Moment {
    pub documents: u64,
    pub cpu_seconds: f64,
    pub log_perplexity_per_document: f64,
    pub elbo_per_document: Option<f64>,
}

/// The score by one estimator.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Estimate {
    pub estimator: String,
    /// Particles, or samples.
    pub particles: usize,
    pub log_perplexity_per_document: f64,
}

/// A topic beside the most similar one of another method.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct TopicPair {
    pub share: f64,
    pub divergence: f64,
    pub words: Vec<String>,
    pub words_beside: Vec<String>,
}

/// The largest topics of two methods side by side.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Beside {
    pub method: String,
    pub pairs: Vec<TopicPair>,
    /// Mean coherence of all topics of the cell's own method, and of the other.
    pub coherence: [TopicCoherence; 2],
}

/// A finished cell: one line of `cells.tsv`, whose first line names the fields (`row.rs`).
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Finished {
    pub cell: Cell,
    pub version: String,
    pub tokens: u64,
    pub held_out_tokens: u64,
    pub log_perplexity_per_document: f64,
    pub standard_error: Option<f64>,
    pub unigram_log_perplexity_per_document: f64,
    pub true_parameters_log_perplexity_per_document: Option<f64>,
    pub train_cpu_seconds: f64,
    /// The beginning of the hash of what was learnt.
    pub model_hash: String,
    pub alpha_sum: f64,
    pub topics_used: Option<usize>,
    pub elbo_per_document: Option<f64>,
    #[serde(with = "row::list")]
    pub curve: Vec<Moment>,
    #[serde(with = "row::list")]
    pub estimates: Vec<Estimate>,
    #[serde(with = "row::json")]
    pub beside: Option<Beside>,
}

impl Finished {
    /// Documents that were learnt from, counted in every pass.
    pub fn documents(&self) -> u64 {
        self.cell.documents * self.cell.passes
    }

    /// What was measured beside the score.
    pub fn extras(&self) -> BTreeSet<Extra> {
        let measured = [
            (Extra::Curve, !self.curve.is_empty()),
            (Extra::Elbo, self.elbo_per_document.is_some()),
            (Extra::Estimators, !self.estimates.is_empty()),
            (Extra::Topics, self.beside.is_some()),
        ];
        measured.into_iter().filter_map(|(extra, is_there)| is_there.then_some(extra)).collect()
    }

    /// Whether nothing of the task is missing.
    pub fn covers(&self, task: &Task) -> bool {
        self.cell == task.cell && self.extras().is_superset(&task.extras)
    }
}

/// What `train` does by default, in flags: what a cell is must not change with later defaults.
pub const USUAL: &str =
    "g-oem --kappa 0.6 --offset 3 --smoothing 0.04 --alpha gamma=1,0.01 --averaging frequencies";

/// Its line in plots and tables.
pub const AS_USUAL: &str = "g-oem as usual";

/// The name of a line in plots and tables: the method, and passes if there are several.
pub fn series_name(method: &str, passes: u64) -> String {
    let method = if method == USUAL { AS_USUAL } else { method };
    if passes == 1 { method.to_owned() } else { format!("{method}, {passes} passes") }
}

impl Cell {
    /// The line of plots and tables that it belongs to.
    pub fn series(&self) -> String {
        series_name(&self.method, self.passes)
    }

    /// Whether the number of topics is open; it then starts at `topics`.
    pub fn is_open(&self) -> bool {
        self.method.starts_with("hdp ")
    }
}

/// All work that the experiments ask for, each cell once. The first split of everything comes first, so that whatever
/// is done when time is up makes a picture of all experiments.
pub fn plan(experiments: &[&Experiment], corpora: &Corpora, seed: u64) -> Vec<Task> {
    let mut tasks: Vec<Task> = Vec::new();
    let mut places: HashMap<Cell, usize> = HashMap::new();
    for task in experiments.iter().flat_map(|experiment| tasks_of(experiment, corpora, seed)) {
        if let Some(&place) = places.get(&task.cell) {
            tasks[place].extras.extend(task.extras);
        } else {
            places.insert(task.cell.clone(), tasks.len());
            tasks.push(task);
        }
    }
    tasks.sort_by_key(|task| task.cell.split);
    tasks
}

/// What one experiment asks for.
pub fn tasks_of(experiment: &Experiment, corpora: &Corpora, seed: u64) -> Vec<Task> {
    experiment.recipes.iter().flat_map(|recipe| tasks_of_recipe(recipe, corpora, seed)).collect()
}

fn tasks_of_recipe(recipe: &Recipe, corpora: &Corpora, seed: u64) -> Vec<Task> {
    let scale = corpora.scale();
    let mut tasks = Vec::new();
    for &corpus in recipe.corpora {
        let Some(source) = corpora.source(corpus) else { continue };
        let reference = scale.reference_topics(corpus);
        let grid = match recipe.topics {
            Grid::All => scale.topics(corpus).to_vec(),
            Grid::Few => scale.few_topics(corpus).to_vec(),
            Grid::Reference => vec![reference],
            Grid::Start => vec![2],
        };
        for split in 1..=scale.splits(corpus) {
            for &topics in &grid {
                for &method in recipe.methods {
                    let cell = Cell {
                        corpus: source.name().to_owned(),
                        split,
                        seed: seed.wrapping_mul(100).wrapping_add(split),
                        documents: source.documents(),
                        held_out: source.held_out(),
                        longest: scale.longest(),
                        batch: scale.batch(),
                        method: method.to_owned(),
                        topics,
                        passes: recipe.passes,
                        estimator: Estimator::Smc.name().to_owned(),
                        particles: scale.particles(),
                    };
                    let at_reference = topics == reference || cell.is_open();
                    let wanted = |extra: &&Extra| **extra != Extra::Curve || at_reference;
                    let extras = recipe.extras.iter().filter(wanted).copied().collect();
                    tasks.push(Task { cell, extras });
                }
            }
        }
    }
    tasks
}
