//! How large experiments are: a minute, an evening, or as in the paper.

use crate::experiment::Corpus;

/// The size of all experiments.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
pub enum Scale {
    /// Tiny synthetic corpora under the names of the real ones: shows that everything runs, and nothing else
    Smoke,
    /// 10,000 documents, 3 splits (11 of the synthetic corpus), about ten minutes an experiment on two cores
    Laptop,
    /// As in the paper: one pass over everything, 11 splits
    Full,
}

/// Splits of the paper; windows of documents are spread over as many places.
pub const SPLITS: u64 = 11;

impl Scale {
    pub fn name(self) -> &'static str {
        match self {
            Self::Smoke => "smoke",
            Self::Laptop => "laptop",
            Self::Full => "full",
        }
    }

    /// Whether all corpora are drawn, so that no data is needed.
    pub fn is_drawn(self) -> bool {
        self == Self::Smoke
    }

    /// Documents to learn from, at most.
    pub fn documents(self, corpus: Corpus) -> u64 {
        match (self, corpus) {
            (Self::Smoke, _) => 200,
            (Self::Laptop, _) => 10_000,
            (Self::Full, Corpus::Synthetic) => 1_000_000,
            (Self::Full, _) => u64::MAX,
        }
    }

    /// Documents to score, at most.
    pub fn held_out(self, corpus: Corpus) -> u64 {
        match (self, corpus) {
            (Self::Smoke, _) => 10,
            (Self::Laptop, _) => 300,
            (Self::Full, Corpus::Wikipedia | Corpus::Reuters) => 2_000,
            (Self::Full, _) => 5_000,
        }
    }

    /// Tokens of a held-out document that are scored; the cost of a score grows with their square.
    pub fn longest(self) -> Option<u64> {
        (self != Self::Full).then_some(2_000)
    }

    pub fn splits(self, corpus: Corpus) -> u64 {
        match (self, corpus) {
            (Self::Smoke, _) => 2,
            (Self::Laptop, Corpus::Synthetic) | (Self::Full, _) => SPLITS,
            (Self::Laptop, _) => 3,
        }
    }

    pub fn batch(self) -> usize {
        if self == Self::Smoke { 20 } else { 100 }
    }

    pub fn particles(self) -> usize {
        if self == Self::Smoke { 5 } else { 20 }
    }

    /// Particles of the more careful estimates of X17.
    pub fn many_particles(self) -> usize {
        5 * self.particles()
    }

    /// Numbers of topics, ascending.
    pub fn topics(self, corpus: Corpus) -> &'static [usize] {
        match (self, corpus) {
            (Self::Smoke, _) => &[2, 4],
            (_, Corpus::Synthetic) => &[5, 10, 15, 20],
            (Self::Laptop, _) => &[8, 16, 32, 64, 128],
            (Self::Full, _) => &[8, 16, 32, 64, 128, 500],
        }
    }

    /// Some of them, for experiments about settings.
    pub fn few_topics(self, corpus: Corpus) -> &'static [usize] {
        match (self, corpus) {
            (Self::Smoke, _) => &[4],
            (_, Corpus::Synthetic) => &[5, 10, 20],
            (_, _) => &[8, 32, 128],
        }
    }

    /// The number of topics of experiments that have only one.
    pub fn reference_topics(self, corpus: Corpus) -> usize {
        match (self, corpus) {
            (Self::Smoke, _) => 4,
            (_, Corpus::Synthetic) => 10,
            (_, _) => 128,
        }
    }
}
