//! The data of the page: a model, and documents seen through it, as one report.
//!
//! [`report`] is for a model alone. With documents, an [`Explorer`] looks at each of them once, in memory that does not
//! depend on how many there are, and [`Explorer::finish`] makes the report. The result depends on the model, the documents
//! and the seed, never on threads.

pub mod report;

mod classes;

mod class_shares;

mod comparison;

mod explorer;

mod facts;

mod layout;

pub mod page;

mod records;

mod reduction;

mod relevance;

mod showcase;

mod together;

mod topics;

mod try_table;

mod word_order;

pub use class_shares::{
    Class, SHARES_SCHEMA, ShareExplorer, ShareOptions, TopicByClass, TopicShares, automatic_labels, names_of, topic_names,
};
pub use classes::calendar::{Period, written as rfc3339};
pub use classes::timeline::{By, drift};
pub use comparison::Other;
pub use explorer::{ExploreOptions, Explorer, report};
pub use records::{Record, RecordFields};
pub use reduction::{Join, Reduction};
pub use showcase::SourceText;
pub use together::{MOST_DOCUMENTS, TogetherCounter, stride};
pub use word_order::{WordOrder, background, summaries};

#[cfg(test)]
mod tests {
    use crate::model::topics::lda::Topics;
    use crate::numerics::random::{Purpose, Seed};

    /// Skewed topics, and shares of them.
    pub(super) fn random_topics(topics: usize, words: usize, seed: u64) -> (Topics, Vec<f64>) {
        let mut random = Seed(seed).stream(Purpose::Initial, [0, 0]);
        let mut beta: Vec<f64> =
            (0..topics * words).map(|_| (0..4).map(|_| random.uniform_positive()).product()).collect();
        for k in 0..topics {
            let sum: f64 = beta.iter().skip(k).step_by(topics).sum();
            beta.iter_mut().skip(k).step_by(topics).for_each(|p| *p /= sum);
        }
        let mut shares = vec![0.0; topics];
        random.dirichlet(&vec![2.0; topics], &mut shares);
        (Topics { beta, alpha: vec![0.1; topics] }, shares)
    }
}
