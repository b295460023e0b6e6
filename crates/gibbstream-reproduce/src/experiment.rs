//! What an experiment is: the cells that it asks for, what is drawn of them, and what the paper says about it.

use crate::claims::{Claim, Measure};

/// A corpus by its role in the paper.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Corpus {
    Synthetic,
    Imdb,
    Wikipedia,
    Pubmed,
    Yelp,
    Reuters,
}

impl Corpus {
    pub const ALL: [Self; 6] =
        [Self::Synthetic, Self::Imdb, Self::Wikipedia, Self::Pubmed, Self::Yelp, Self::Reuters];

    /// The folder of its documents.
    pub fn name(self) -> &'static str {
        match self {
            Self::Synthetic => "synthetic",
            Self::Imdb => "imdb",
            Self::Wikipedia => "wikipedia",
            Self::Pubmed => "pubmed",
            Self::Yelp => "yelp",
            Self::Reuters => "reuters",
        }
    }

    /// The corpus of the paper that it stands for.
    pub fn in_the_paper(self) -> &'static str {
        match self {
            Self::Synthetic => "synthetic",
            Self::Imdb => "IMDB",
            Self::Wikipedia => "Wikipedia",
            Self::Pubmed => "Pubmed",
            Self::Yelp => "Amazon movies",
            Self::Reuters => "New York Times",
        }
    }

    /// Documents at the end that are never learnt from.
    pub fn reserved(self) -> u64 {
        match self {
            Self::Yelp => 2_000,
            Self::Reuters => 1_871,
            _ => 5_000,
        }
    }
}

/// What is measured beside the score.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Extra {
    /// The score while learning, at the reference number of topics.
    Curve,
    /// The evidence lower bound.
    Elbo,
    /// The score by several estimators.
    Estimators,
    /// The largest topics beside those of `olda`.
    Topics,
}

/// Numbers of topics.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Grid {
    All,
    Few,
    Reference,
    /// Two to begin with; there will be more.
    Start,
}

/// Cells of all combinations.
#[derive(Clone, Copy)]
pub struct Recipe {
    pub corpora: &'static [Corpus],
    pub methods: &'static [&'static str],
    pub topics: Grid,
    pub passes: u64,
    pub extras: &'static [Extra],
}

/// What a plot has on its axes; a panel for each corpus, a line for each method.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Figure {
    ByTopics(Measure),
    ThroughDocuments(Measure),
    ThroughTime,
    /// Along a flag of the method, at the reference number of topics; a line for each of its other flags.
    ByFlag(&'static str, &'static str),
    /// Estimators along a fixed alpha, as differences from the most careful one.
    ByEstimator,
}

/// What the table of an experiment holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Table {
    Scores,
    ScoresAndBounds,
    Time,
    Topics,
    Estimators,
}

/// Something that the paper says, and what it means for the cells.
pub struct Expectation {
    pub says: &'static str,
    pub corpora: &'static [Corpus],
    pub claims: &'static [Claim],
}

/// An experiment of the paper.
pub struct Experiment {
    pub id: &'static str,
    pub title: &'static str,
    pub recipes: &'static [Recipe],
    pub figures: &'static [Figure],
    pub table: Table,
    pub paper: &'static [Expectation],
}
