//! Document completion: how well the topics of one half of a document predict the other half
//! (science.md 5.3).
//!
//! Not `log p(X)`, but fast, and fair between models: every model sees the same halves.

use super::stream::{Held, Sums, Workers};
use crate::corpus::{Document, Entry};
use crate::error::{Error, Result};
use crate::inference::chain::Chain;
use crate::numerics::math::dot;
use crate::model::topics::lda::Topics;
use crate::model::topics::view::TopicView;
use crate::numerics::random::{Purpose, Seed, Stream};

/// Settings of document completion.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Completion {
    /// Gibbs sweeps over the observed half.
    pub sweeps: usize,
    /// How many of them, the last ones, the topic proportions are the mean of.
    pub kept: usize,
    /// Seed of the halves and of the sweeps.
    pub seed: Seed,
    /// Worker threads; never changes a result.
    pub threads: usize,
}

impl Default for Completion {
    fn default() -> Self {
        Self { sweeps: 100, kept: 75, seed: Seed::default(), threads: 1 }
    }
}

/// The result of document completion; logarithms are natural.
#[derive(Clone, Copy, Debug, PartialEq, serde::Serialize)]
pub struct CompletionScore {
    /// Documents, empty ones included.
    pub documents: u64,
    /// Tokens that were predicted: of each document half, rounded up.
    pub completed_tokens: u64,
    /// Tokens that were left out because the model does not know their word.
    pub out_of_vocabulary_tokens: u64,
    /// Mean over the predicted tokens of the logarithm of their probability; `None` without any. Minus infinity,
    /// `null` in JSON, if all topics give probability 0 to one of them.
    pub completion_log_likelihood_per_token: Option<f64>,
}

/// Working space of one thread.
#[derive(Default)]
struct Space {
    chain: Chain,
    tokens: Vec<u32>,
    theta: Vec<f64>,
}

impl Completion {
    /// Predicts one half of every document from the other.
    pub fn score(
        &self,
        topics: &Topics,
        documents: impl IntoIterator<Item = Result<Document>>,
    ) -> Result<CompletionScore> {
        if self.kept == 0 || self.kept > self.sweeps {
            let problem = format!("{} of {} sweeps cannot be kept", self.kept, self.sweeps);
            return Err(Error::setting(
                "completion sweeps",
                problem,
                "keep at least one of them, such as 75 of 100",
            ));
        }
        let workers = Workers::<Space>::new(self.threads, topics.vocabulary())?;
        let (mut sums, mut tokens) = (Sums::default(), 0);
        workers.run(
            documents,
            TopicView::for_sampling(),
            |batch, view| topics.view(batch, view),
            |view, held, space| self.log_likelihood(topics, view, held, space),
            |document, value| {
                sums.add(document, *value);
                tokens += document.tokens().div_ceil(2);
            },
        )?;
        sums.mean()?;
        Ok(CompletionScore {
            documents: sums.documents,
            completed_tokens: tokens,
            out_of_vocabulary_tokens: sums.out_of_vocabulary_tokens,
            completion_log_likelihood_per_token: (tokens > 0).then(|| sums.total / tokens as f64),
        })
    }

    /// Log-likelihood of the second half of a document under the topic proportions of the first.
    fn log_likelihood(&self, topics: &Topics, view: &TopicView, held: &Held<'_>, space: &mut Space) -> f64 {
        let entries = held.entries();
        let mut random = self.seed.stream(Purpose::Completion, [held.key(), 0]);
        let Space { chain, tokens, theta } = space;
        let (observed, hidden) = halves(entries, &mut random, tokens);
        chain.reset(view, entries.iter().map(|entry| entry.word));
        for &row in observed {
            chain.push(view, row, &mut random);
        }
        theta.clear();
        theta.resize(view.topics(), 0.0);
        for sweep in 0..self.sweeps {
            chain.sweep(view, &mut random);
            chain.compact();
            if sweep + self.kept >= self.sweeps {
                chain.topic_counts().for_each(|(topic, count)| theta[topic as usize] += count);
            }
        }
        let total = observed.len() as f64 + view.alpha_sum();
        for (theta, alpha) in theta.iter_mut().zip(view.alpha()) {
            *theta = (*theta / self.kept as f64 + alpha) / total;
        }
        // The rows of the topics, not of the view: there a word that no topic knows has weights all the same.
        let word = |row: u32| held.batch.words()[entries[row as usize].word as usize];
        hidden.iter().map(|&row| libm::log(dot(topics.row(word(row)), theta))).sum()
    }
}

/// The tokens of a document in random order, cut in the middle: those to look at, and those to predict, one more
/// if their number is odd. A token is the index of its word among `document`.
pub fn halves<'a>(
    document: &[Entry],
    random: &mut Stream,
    tokens: &'a mut Vec<u32>,
) -> (&'a [u32], &'a [u32]) {
    tokens.clear();
    for (row, entry) in document.iter().enumerate() {
        tokens.extend(std::iter::repeat_n(row as u32, entry.count as usize));
    }
    random.shuffle(tokens);
    tokens.split_at(tokens.len() / 2)
}
