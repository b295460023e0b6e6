//! Estimates of log p(X) that walk through a document from left to right (science.md 5.2).
//!
//! `p(X)` is the product of `p(x_n | x_1 .. x_{n-1})`. [`Particles`] stand for the unknown topics of the tokens seen so
//! far. The three estimators share one loop and differ only in what they do with the particles' weights between two
//! tokens: left-to-right forgets them, annealed importance sampling carries them to the end, sequential Monte Carlo turns
//! them into copies of the better particles.

use super::Estimator;
pub use super::particles::Particles;
use crate::corpus::Entry;
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
        particles.begin(view, words, self.particles, seed, key);
        let result = self.walk(view, &tokens, particles, random);
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
        particles.begin(view, words.iter().copied(), self.particles, seed, key);
        self.walk(view, tokens, particles, seed.stream(Purpose::Evaluation, [key, 0]))
    }

    /// The longer a document, the less a single token tells, and the fewer have to be drawn anew: as many in all as grow
    /// with the square root of its length, beside the one draw that every token has.
    fn positions_for(&self, tokens: usize) -> usize {
        let share = (self.long_document as f64 / tokens as f64).sqrt();
        ((self.positions as f64 * share) as usize).max(1)
    }

    /// `random` is the stream of the document, beside those of its particles.
    fn walk(&self, view: &TopicView, tokens: &[u32], particles: &mut Particles, mut random: Stream) -> f64 {
        let long = tokens.len() > self.long_document;
        let positions = if long { self.positions_for(tokens.len()) } else { usize::MAX };
        let mut weights = Weights::new(self.particles);
        for (earlier, &token) in tokens.iter().enumerate() {
            for _ in 0..self.sweeps {
                sweep(view, earlier, positions, particles, &mut random);
            }
            weights.weigh(view, token, earlier, particles);
            match self.estimator {
                Estimator::LeftToRight => weights.normalise(),
                Estimator::Smc => weights.select(long, particles, &mut random),
                Estimator::Ais => {}
            }
            particles.pass(view, token);
        }
        weights.normalise();
        weights.log_mean
    }
}

/// Draws the topics of the `tokens` so far anew, first to last, or of `positions` random ones if there are more. Either
/// leaves the posterior of the topics as it is. Which ones they are does not depend on any topic, so all particles take
/// the same.
fn sweep(view: &TopicView, tokens: usize, positions: usize, particles: &mut Particles, random: &mut Stream) {
    if tokens <= positions {
        particles.redraw_all(view);
    } else {
        (0..positions).for_each(|_| particles.redraw(view, random.below(tokens)));
    }
}

/// Logarithms of the particles' weights, and of the mean weight up to the last time they were made equal.
#[derive(Clone, Debug, Default)]
struct Weights {
    log: Vec<f64>,
    relative: Vec<f64>,
    log_mean: f64,
    children: Vec<usize>,
    copies: Vec<(usize, usize)>,
}

impl Weights {
    fn new(particles: usize) -> Self {
        Self { log: vec![0.0; particles], ..Self::default() }
    }

    /// Multiplies each weight by the probability of the next token given the topics of the `earlier` ones.
    fn weigh(&mut self, view: &TopicView, token: u32, earlier: usize, particles: &Particles) {
        let (mut logs, total) = (self.log.iter_mut(), view.alpha_sum() + earlier as f64);
        particles.masses(view, token, |mass| {
            if let Some(log) = logs.next() {
                *log += libm::log(mass / total);
            }
        });
    }

    /// Systematic resampling: each particle gets as many children as its share of the weights asks for, up to
    /// rounding at random, and all weights become equal. A particle with children stays where it is and its
    /// further ones replace particles without, so that little is copied.
    ///
    /// With `sparing`, nothing happens while the effective number of particles is at least half of them: the
    /// weights are carried on instead. The longer a document, the less a single token tells the particles
    /// apart, so particles of long documents are rarely copied. That the decision looks at the weights does no harm:
    /// whichever way it goes, the expected weighted sum over particles is what it was.
    fn select(&mut self, sparing: bool, chosen: &mut Particles, random: &mut Stream) {
        let relative = self.relative();
        let total: f64 = relative.iter().sum();
        if sparing {
            let squares: f64 = relative.iter().map(|weight| weight * weight).sum();
            if total * total >= 0.5 * relative.len() as f64 * squares {
                return;
            }
        }
        self.share_out(total, random.uniform());
        self.copies.clear();
        let mut parent = 0;
        for place in 0..self.children.len() {
            if self.children[place] > 0 {
                continue;
            }
            while self.children[parent] <= 1 {
                parent += 1;
            }
            self.children[parent] -= 1;
            self.copies.push((place, parent));
        }
        chosen.copy(&self.copies);
        self.normalise();
    }

    /// Finds the number of children of each particle; `start` is uniform in `[0, 1)`.
    fn share_out(&mut self, total: f64, start: f64) {
        let (relative, particles) = (&self.relative, self.relative.len());
        self.children.clear();
        self.children.resize(particles, 0);
        let step = total / particles as f64;
        let (mut parent, mut passed) = (0, relative[0]);
        for child in 0..particles {
            let at = (child as f64 + start) * step;
            while passed <= at && parent + 1 < particles {
                parent += 1;
                passed += relative[parent];
            }
            self.children[parent] += 1;
        }
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

    /// Moves the logarithm of the mean weight into `log_mean` and makes all weights equal. Equal weights are moved
    /// without rounding.
    fn normalise(&mut self) {
        let mean = self.relative().iter().sum::<f64>() / self.log.len() as f64;
        self.log_mean += self.largest() + libm::log(mean);
        self.log.fill(0.0);
    }
}
