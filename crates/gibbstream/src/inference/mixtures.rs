//! Topic mixtures of new documents: `E[theta | document]` by local Gibbs sampling, topics fixed.

use super::chain::Chain;
use super::gibbs::starting_topics;
use crate::corpus::Minibatch;
use crate::model::lda::Topics;
use crate::model::view::TopicView;
use crate::random::{Purpose, Seed, Stream};
use rayon::prelude::*;

/// How mixtures are inferred. The random stream of a document is keyed by its content, so the same document
/// always gets the same mixture, alone or in company.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct MixtureInference {
    /// Sweeps over each document; the second half is kept.
    pub sweeps: usize,
    /// Seed of the random streams.
    pub seed: Seed,
}

/// The topic mixture of one document.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Mixture {
    /// Posterior mean of the topic proportions; sums to 1.
    pub theta: Vec<f64>,
    /// Posterior standard deviation of each proportion.
    pub spread: Vec<f64>,
    /// (word id, topic) of every token in the last sweep, by word.
    pub token_topics: Vec<(u32, u32)>,
}

impl MixtureInference {
    /// Mixtures of all documents of a minibatch, on the threads of the current pool.
    pub fn infer(&self, topics: &Topics, batch: &Minibatch) -> Vec<Mixture> {
        let mut view = TopicView::for_sampling();
        topics.view(batch, &mut view);
        (0..batch.len())
            .into_par_iter()
            .with_max_len(1)
            .map_init(Chain::default, |chain, index| self.document(&view, batch, index, chain))
            .collect()
    }

    fn document(&self, view: &TopicView, batch: &Minibatch, index: usize, chain: &mut Chain) -> Mixture {
        let document = batch.document(index);
        let mut random = self.seed.stream(Purpose::Mixture, [batch.content_key(index), 0]);
        chain.reset(view, document.iter().map(|entry| entry.word));
        chain.load(view, starting_topics(view, document, &mut random));
        let burn_in = self.sweeps / 2;
        for _ in 0..burn_in {
            chain.sweep(view, &mut random);
            chain.compact();
        }
        let moments = moments(view, chain, self.sweeps - burn_in, &mut random);
        let mut token_topics: Vec<(u32, u32)> = chain
            .tokens()
            .map(|(row, topic)| (batch.words()[document[row as usize].word as usize], topic))
            .collect();
        token_topics.sort_unstable();
        Mixture { token_topics, ..moments }
    }
}

/// Given the topics of the tokens, theta is Dirichlet(alpha + counts): mean and variance of each sweep's
/// Dirichlet are known, so the spread is the mean of variances plus the variance of means.
fn moments(view: &TopicView, chain: &mut Chain, kept: usize, random: &mut Stream) -> Mixture {
    let topics = view.topics();
    let total = view.alpha_sum() + chain.len() as f64;
    // Per topic: sum over sweeps of the count, and of its square.
    let mut counts = vec![(0.0, 0.0); topics];
    for _ in 0..kept {
        chain.sweep(view, random);
        for (topic, count) in chain.topic_counts() {
            let (sum, squares) = &mut counts[topic as usize];
            *sum += count;
            *squares += count * count;
        }
    }
    let kept = kept as f64;
    let (mut theta, mut spread) = (Vec::with_capacity(topics), Vec::with_capacity(topics));
    for (&alpha, (sum, squares)) in view.alpha().iter().zip(counts) {
        let mean_count = sum / kept;
        let mean = (alpha + mean_count) / total;
        // E[theta^2 | z] = (a + n)(a + n + 1) / (total (total + 1)), averaged over sweeps.
        let square = (squares / kept + (2.0 * alpha + 1.0) * mean_count + alpha * (alpha + 1.0))
            / (total * (total + 1.0));
        theta.push(mean);
        spread.push((square - mean * mean).max(0.0).sqrt());
    }
    Mixture { theta, spread, token_topics: Vec::new() }
}
