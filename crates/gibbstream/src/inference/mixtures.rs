//! Topic mixtures of new documents: `E[theta | document]` by local Gibbs sampling, topics fixed.

use super::chain::Chain;
use crate::corpus::{Entry, Minibatch};
use crate::model::topics::lda::Topics;
use crate::model::topics::view::TopicView;
use crate::numerics::random::{Purpose, Seed, Stream};
use rayon::prelude::*;

/// Documents that a thread takes at a time: each time it begins with empty buffers, which must grow first.
const DOCUMENTS_PER_TASK: usize = 128;

/// How mixtures are inferred. The random stream of a document is keyed by its content, so the same document
/// always gets the same mixture, alone or in company.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct MixtureInference {
    /// Sweeps over each document; all but the first quarter are kept.
    pub sweeps: usize,
    /// Seed of the random streams.
    pub seed: Seed,
    /// Whether more than the proportions is asked for; they are the same with and without.
    pub details: bool,
}

/// The topic mixture of one document.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct TopicMixture {
    /// Posterior mean of the topic proportions; sums to 1.
    pub theta: Vec<f64>,
    /// Posterior standard deviation of each proportion; nothing without details.
    pub spread: Vec<f64>,
    /// (word id, topic) of every token in the last sweep, by word; nothing without details.
    pub token_topics: Vec<(u32, u32)>,
}

impl MixtureInference {
    /// Mixtures of all documents of a minibatch, on the threads of the current pool.
    pub fn infer(&self, topics: &Topics, batch: &Minibatch) -> Vec<TopicMixture> {
        let mut view = TopicView::for_sampling();
        topics.view(batch, &mut view);
        (0..batch.len())
            .into_par_iter()
            .with_max_len(DOCUMENTS_PER_TASK)
            .map_init(Chain::default, |chain, index| self.document(&view, batch, index, chain))
            .collect()
    }

    fn document(&self, view: &TopicView, batch: &Minibatch, index: usize, chain: &mut Chain) -> TopicMixture {
        let document = batch.document(index);
        let mut random = self.seed.stream(Purpose::Mixture, [batch.content_key(index), 0]);
        start(view, document, chain, &mut random);
        let burn_in = self.sweeps / 4;
        let mut theta = vec![0.0; view.topics()];
        let mut counts = self.details.then(|| CountMoments::new(view.topics()));
        for sweep in 0..self.sweeps {
            chain.sweep(view, &mut random);
            if sweep >= burn_in {
                chain.add_expected_counts(view, &mut theta);
                counts.iter_mut().for_each(|counts| counts.add(chain));
            }
            // Topics leave quickly at first and slowly later.
            if sweep.is_power_of_two() {
                chain.compact();
            }
        }
        chain.add_prior_counts(view, &mut theta);
        mean_proportions(&mut theta, (self.sweeps - burn_in) as f64, view.alpha());
        match counts {
            None => TopicMixture { theta, ..TopicMixture::default() },
            Some(counts) => TopicMixture {
                theta,
                spread: counts.spread(view, chain.len()),
                token_topics: token_topics(batch, document, chain),
            },
        }
    }
}

/// Draws each token given those before it. That is nearer to where the chain ends than topics drawn by words alone, and
/// among fewer topics, so the first sweeps take no longer than the others.
fn start(view: &TopicView, document: &[Entry], chain: &mut Chain, random: &mut Stream) {
    document.iter().for_each(|entry| view.prefetch_relative(entry.word));
    chain.reset(view, document.iter().map(|entry| entry.word));
    chain.push_all(view, document.iter().map(|entry| entry.count), random);
}

/// From sums of counts over so many sweeps to the mean of Dirichlet(alpha + counts).
fn mean_proportions(counts: &mut [f64], sweeps: f64, alpha: &[f64]) {
    counts.iter_mut().zip(alpha).for_each(|(count, alpha)| *count = alpha + *count / sweeps);
    let whole: f64 = counts.iter().sum();
    counts.iter_mut().for_each(|share| *share /= whole);
}

/// The topic that a mixture is most about, and how clearly, from 0 to 1.
///
/// A topic that is in every document must not win all of them. So a share is divided by the root of the topic's share of all
/// tokens; but topics with less than twice an even share are all treated alike, because small ones would win too much. The
/// result is the largest of these weights as a part of their sum. Equal ones: the first wins. A topic without any token
/// cannot win.
pub fn assigned(theta: &[f64], shares: &[f64]) -> (usize, f64) {
    let usual = 2.0 / shares.len().max(1) as f64;
    let weight =
        |(share, &mean): (&f64, &f64)| if mean > 0.0 { share / mean.max(usual).sqrt() } else { 0.0 };
    let weights = || theta.iter().zip(shares).map(weight).enumerate();
    let (topic, best) = weights().fold((0, 0.0), |best, other| if other.1 > best.1 { other } else { best });
    let sum: f64 = weights().map(|(_, weight)| weight).sum();
    (topic, if sum > 0.0 { best / sum } else { 0.0 })
}

fn token_topics(batch: &Minibatch, document: &[Entry], chain: &Chain) -> Vec<(u32, u32)> {
    let word = |row: u32| batch.words()[document[row as usize].word as usize];
    let mut tokens: Vec<(u32, u32)> = chain.tokens().map(|(row, topic)| (word(row), topic)).collect();
    tokens.sort_unstable();
    tokens
}

/// For each topic, sums over sweeps of its tokens and of their square.
struct CountMoments {
    sums: Vec<(f64, f64)>,
    sweeps: f64,
}

impl CountMoments {
    fn new(topics: usize) -> Self {
        Self { sums: vec![(0.0, 0.0); topics], sweeps: 0.0 }
    }

    fn add(&mut self, chain: &Chain) {
        self.sweeps += 1.0;
        for (topic, count) in chain.topic_counts() {
            let (sum, squares) = &mut self.sums[topic as usize];
            *sum += count;
            *squares += count * count;
        }
    }

    /// Standard deviations of theta: given the topics of the tokens it is Dirichlet, so its variance is the mean of the
    /// variances of the sweeps' Dirichlets plus the variance of their means.
    fn spread(&self, view: &TopicView, tokens: usize) -> Vec<f64> {
        let (sweeps, total) = (self.sweeps, view.alpha_sum() + tokens as f64);
        let deviation = |(&alpha, &(sum, squares)): (&f64, &(f64, f64))| {
            let (mean, square) = (sum / sweeps, squares / sweeps);
            // (alpha + n) (total - alpha - n), averaged over sweeps.
            let within = (alpha + mean) * (total - alpha) - alpha * mean - square;
            let between = (square - mean * mean) * sweeps / (sweeps - 1.0).max(1.0);
            (within / (total + 1.0) + between).max(0.0).sqrt() / total
        };
        view.alpha().iter().zip(&self.sums).map(deviation).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_topic_that_is_everywhere_does_not_win_every_document() {
        // Eight topics: twice an even share is a quarter. The first has more than that, the others have less.
        let shares = [0.64, 0.16, 0.04, 0.04, 0.04, 0.04, 0.03, 0.01];
        // 0.5 / 0.8 = 0.625, 0.4 / 0.5 = 0.8 and 0.1 / 0.5 = 0.2.
        let (topic, confidence) = assigned(&[0.5, 0.1, 0.4, 0.0, 0.0, 0.0, 0.0, 0.0], &shares);
        assert_eq!(topic, 2);
        assert!((confidence - 0.8 / (0.625 + 0.2 + 0.8)).abs() < 1e-12);
        // Small topics are not preferred: the larger share wins.
        assert_eq!(assigned(&[0.0, 0.6, 0.0, 0.0, 0.0, 0.0, 0.0, 0.4], &shares).0, 1);
        // With equal topics it is the largest share.
        assert_eq!(assigned(&[0.2, 0.5, 0.3], &[1.0 / 3.0; 3]), (1, 0.5));
        // With few topics it is the largest share.
        assert_eq!(assigned(&[0.5, 0.2, 0.3], &[0.64, 0.32, 0.04]).0, 0);
        assert_eq!(assigned(&[0.0, 1.0], &[1.0, 0.0]).0, 0, "without a token");
        // Topics that nobody has met yet have no share of the tokens, and cannot be assigned.
        assert_eq!(assigned(&[0.1, 0.0, 0.9], &[0.5, 0.5]).0, 0);
    }
}
