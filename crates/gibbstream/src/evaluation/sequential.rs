//! Estimates of log p(X) that walk through a document from left to right (science.md 5.2).
//!
//! `p(X)` is the product of `p(x_n | x_1 .. x_{n-1})`. Particles, each a [`Chain`] over the tokens seen so far,
//! stand for the unknown topics of those tokens. The three estimators share one loop and differ only in what
//! they do with the particles' weights between two tokens: left-to-right forgets them, annealed importance
//! sampling carries them to the end, sequential Monte Carlo turns them into copies of the better particles.
//!
//! Each particle holds the document's tokens and a weight for each of its words in each topic that it uses.

use super::Estimator;
use crate::corpus::Entry;
use crate::inference::chain::Chain;
use crate::model::topics::view::TopicView;
use crate::numerics::random::{Purpose, Seed, Stream};

/// How to walk through a document.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Sequential {
    /// What happens to the weights.
    pub estimator: Estimator,
    /// Number of particles, at least 1.
    pub particles: usize,
    /// Sweeps over the earlier tokens before each token.
    pub sweeps: usize,
    /// Documents with more tokens than this are walked through at a cost linear in their length: a sweep then
    /// draws at most [`Self::positions`] of the earlier tokens anew, picked at random, and SMC copies particles
    /// only when their weights have become uneven. SMC and AIS stay exactly unbiased.
    pub long_document: usize,
    /// Tokens that a sweep of a long document draws anew; fewer if it is much longer.
    pub positions: usize,
}

impl Sequential {
    /// One sweep per token, over all earlier tokens up to 1,000 tokens, over 64 of them beyond.
    pub fn new(estimator: Estimator, particles: usize) -> Self {
        Self { estimator, particles, sweeps: 1, long_document: 1_000, positions: 64 }
    }

    /// Estimate of log p(X) of a bag of words, its tokens taken in random order. The result depends on the
    /// document, `seed` and `key` alone.
    pub fn log_likelihood(
        &self,
        view: &TopicView,
        document: &[Entry],
        seed: Seed,
        key: u64,
        particles: &mut Particles,
    ) -> f64 {
        let mut tokens = std::mem::take(&mut particles.tokens);
        tokens.clear();
        for (row, entry) in document.iter().enumerate() {
            tokens.extend(std::iter::repeat_n(row as u32, entry.count as usize));
        }
        let mut random = seed.stream(Purpose::Evaluation, [key, 0]);
        random.shuffle(&mut tokens);
        let words = document.iter().map(|entry| entry.word);
        particles.begin(view, &words, self.particles, seed, key, random);
        let result = self.walk(view, &tokens, particles);
        particles.tokens = tokens;
        result
    }

    /// Estimate of the log-likelihood of tokens in the order in which they are given, each an index into
    /// `words`, which are rows of the view.
    pub fn log_likelihood_in_order(
        &self,
        view: &TopicView,
        words: &[u32],
        tokens: &[u32],
        seed: Seed,
        key: u64,
        particles: &mut Particles,
    ) -> f64 {
        let random = seed.stream(Purpose::Evaluation, [key, 0]);
        particles.begin(view, &words.iter().copied(), self.particles, seed, key, random);
        self.walk(view, tokens, particles)
    }

    /// The longer a document, the less a single token tells, and the fewer have to be drawn anew: as many in all as grow
    /// with the square root of its length, beside the one draw that every token has.
    fn positions_for(&self, tokens: usize) -> usize {
        let share = (self.long_document as f64 / tokens as f64).sqrt();
        ((self.positions as f64 * share) as usize).max(1)
    }

    fn walk(&self, view: &TopicView, tokens: &[u32], particles: &mut Particles) -> f64 {
        let long = tokens.len() > self.long_document;
        let positions = if long { self.positions_for(tokens.len()) } else { usize::MAX };
        for (earlier, &token) in tokens.iter().enumerate() {
            for _ in 0..self.sweeps {
                particles.sweep(view, earlier, positions);
            }
            particles.weigh(view, token, view.alpha_sum() + earlier as f64);
            match self.estimator {
                Estimator::LeftToRight => particles.weights.settle(),
                Estimator::Smc => particles.select(long),
                Estimator::Ais => {}
            }
            particles.extend(view, token);
        }
        particles.weights.settle();
        particles.weights.settled
    }
}

/// The particles of one document; working space that is used again for the next.
#[derive(Clone, Debug, Default)]
pub struct Particles {
    chains: Vec<Chain>,
    /// A particle draws from the stream of its place, so copies go different ways.
    streams: Vec<Stream>,
    /// The stream of the document.
    random: Stream,
    weights: Weights,
    tokens: Vec<u32>,
    children: Vec<usize>,
}

impl Particles {
    fn begin(
        &mut self,
        view: &TopicView,
        words: &(impl Iterator<Item = u32> + Clone),
        particles: usize,
        seed: Seed,
        key: u64,
        random: Stream,
    ) {
        self.chains.resize_with(particles, Chain::default);
        for chain in &mut self.chains {
            chain.reset(view, words.clone());
        }
        self.streams.clear();
        let streams =
            (1..=particles as u64).map(|particle| seed.stream(Purpose::Evaluation, [key, particle]));
        self.streams.extend(streams);
        self.random = random;
        self.weights.reset(particles);
    }

    /// Draws the topics of the `tokens` so far anew, first to last, or of `positions` random ones if there are
    /// more. Either leaves the posterior of the topics as it is.
    fn sweep(&mut self, view: &TopicView, tokens: usize, positions: usize) {
        for (chain, random) in self.chains.iter_mut().zip(&mut self.streams) {
            if tokens <= positions {
                chain.resample(view, 0..tokens, random);
            } else {
                for _ in 0..positions {
                    let place = random.below(tokens);
                    chain.resample(view, place..place + 1, random);
                }
            }
        }
    }

    /// Multiplies each weight by the probability of the next token given the topics of those before.
    fn weigh(&mut self, view: &TopicView, token: u32, total: f64) {
        for (chain, log_weight) in self.chains.iter().zip(&mut self.weights.log) {
            *log_weight += libm::log(chain.mass(view, token) / total);
        }
    }

    /// Draws a topic for the next token.
    fn extend(&mut self, view: &TopicView, token: u32) {
        for (chain, random) in self.chains.iter_mut().zip(&mut self.streams) {
            chain.push(view, token, random);
        }
    }

    /// Systematic resampling: each particle gets as many children as its share of the weights asks for, up to
    /// rounding at random, and all weights become equal. A particle with children stays where it is and its
    /// further ones replace particles without, so that little is copied.
    ///
    /// With `sparing`, nothing happens while the effective number of particles is at least half of them: the
    /// weights are carried on instead. The longer a document, the less a single token tells the particles
    /// apart, so long chains are rarely copied. That the decision looks at the weights does no harm:
    /// whichever way it goes, the expected weighted sum over particles is what it was.
    fn select(&mut self, sparing: bool) {
        let relative = self.weights.relative();
        let total: f64 = relative.iter().sum();
        if sparing {
            let squares: f64 = relative.iter().map(|weight| weight * weight).sum();
            if total * total >= 0.5 * relative.len() as f64 * squares {
                return;
            }
        }
        let particles = relative.len();
        self.children.clear();
        self.children.resize(particles, 0);
        let (step, start) = (total / particles as f64, self.random.uniform());
        let (mut parent, mut passed) = (0, relative[0]);
        for child in 0..particles {
            let at = (child as f64 + start) * step;
            while passed <= at && parent + 1 < particles {
                parent += 1;
                passed += relative[parent];
            }
            self.children[parent] += 1;
        }
        let mut parent = 0;
        for place in 0..particles {
            if self.children[place] > 0 {
                continue;
            }
            while self.children[parent] <= 1 {
                parent += 1;
            }
            self.children[parent] -= 1;
            if let Ok([to, from]) = self.chains.get_disjoint_mut([place, parent]) {
                to.copy_from(from);
            }
        }
        self.weights.settle();
    }
}

/// Logarithms of the particles' weights, and of the mean weight up to the last time they were made equal.
#[derive(Clone, Debug, Default)]
struct Weights {
    log: Vec<f64>,
    relative: Vec<f64>,
    settled: f64,
}

impl Weights {
    fn reset(&mut self, particles: usize) {
        self.log.clear();
        self.log.resize(particles, 0.0);
        self.settled = 0.0;
    }

    /// Weights as shares of the largest.
    fn relative(&mut self) -> &[f64] {
        let largest = self.largest();
        self.relative.clear();
        self.relative.extend(self.log.iter().map(|log| libm::exp(log - largest)));
        &self.relative
    }

    fn largest(&self) -> f64 {
        self.log.iter().copied().fold(f64::NEG_INFINITY, f64::max)
    }

    /// Moves the logarithm of the mean weight into `settled` and makes all weights equal. Equal weights settle
    /// without rounding.
    fn settle(&mut self) {
        let mean = self.relative().iter().sum::<f64>() / self.log.len() as f64;
        self.settled += self.largest() + libm::log(mean);
        self.log.fill(0.0);
    }
}
