//! What the test suites share: exact enumeration, the dense sampler that is obviously right, and z-scores.
#![allow(dead_code, missing_docs, reason = "every suite uses its own part")]

use gibbstream::corpus::{Document, Minibatch};
use gibbstream::model::topics::alpha::ThetaExpectation;
use gibbstream::model::topics::lda::Topics;
use gibbstream::model::topics::statistics::{TopicStatistics, UNITS_PER_TOKEN};
use gibbstream::model::topics::view::TopicView;
use gibbstream::numerics::math::{digamma, ln_gamma};
use gibbstream::numerics::random::Stream;

/// Parameters from rows `beta[k][w]`.
pub fn topics(rows: &[Vec<f64>], alpha: &[f64]) -> Topics {
    let words = rows[0].len();
    let beta = (0..words).flat_map(|w| rows.iter().map(move |row| row[w])).collect();
    Topics { beta, alpha: alpha.to_vec() }
}

/// The reference case of science.md 10.1.
pub fn reference() -> (Topics, Vec<u32>) {
    let rows = [vec![0.6, 0.2, 0.1, 0.1], vec![0.1, 0.1, 0.7, 0.1], vec![0.25, 0.25, 0.05, 0.45]];
    (topics(&rows, &[0.3, 0.5, 0.2]), vec![0, 0, 2, 3, 1])
}

/// Random topics and alpha, with some probabilities very small.
pub fn random_topics(count: usize, words: usize, random: &mut Stream) -> Topics {
    let mut rows = vec![vec![0.0; words]; count];
    for row in &mut rows {
        random.dirichlet(&vec![0.3; words], row);
        row.iter_mut().for_each(|value| *value = 0.99 * *value + 0.01 / words as f64);
    }
    let alpha: Vec<f64> = (0..count).map(|_| random.gamma(0.5) + 1e-3).collect();
    topics(&rows, &alpha)
}

/// Parameters as mean field reads them.
pub fn view_of(topics: &Topics, batch: &Minibatch) -> TopicView {
    let mut view = TopicView::default();
    topics.view(batch, &mut view);
    view
}

/// Parameters as the sampler reads them.
pub fn sampling_view_of(topics: &Topics, batch: &Minibatch) -> TopicView {
    let mut view = TopicView::for_sampling();
    topics.view(batch, &mut view);
    view
}

/// A count of a document is rounded once, to a whole number of units: it is off by at most this many tokens.
pub const HALF_UNIT: f64 = 0.5 / UNITS_PER_TOKEN;

/// Expected statistics of a minibatch, a mean over documents: the plain twin of what a model makes of its statistics.
#[derive(Clone, Debug, Default)]
pub struct Expected {
    /// `words x topics`.
    pub counts: Vec<f64>,
    /// Sums of `counts` over words.
    pub totals: Vec<f64>,
    pub theta: ThetaExpectation,
}

impl Expected {
    /// Divides what the prior accounts for among topics, in proportion to `alpha_k phi_kw`.
    pub fn of(view: &TopicView, found: &TopicStatistics) -> Self {
        assert_eq!(found.words(), view.words(), "every word of the view occurs");
        let alpha = view.alpha();
        let mut counts = Vec::new();
        for word in 0..found.words().len() {
            let (present, prior) = found.mean_counts(word);
            let word = word as u32;
            let share = prior / (view.prior_mass(word) * view.scale(word));
            let count = |k: usize| present[k] + share * alpha[k] * f64::from(view.relative(word, k));
            counts.extend((0..alpha.len()).map(count));
        }
        let total = |k: usize| counts.iter().skip(k).step_by(alpha.len()).sum();
        let totals = (0..alpha.len()).map(total).collect();
        Self { totals, counts, theta: found.theta(alpha) }
    }
}

pub fn copies(tokens: &[u32], count: usize, first: u64) -> Minibatch {
    Minibatch::new(&vec![Document::from_tokens(tokens); count], first, 0)
}

/// Exact quantities of a tiny document.
pub struct Exact {
    pub log_likelihood: f64,
    /// `counts[k][w]`.
    pub counts: Vec<Vec<f64>>,
    pub log_theta: Vec<f64>,
}

/// Sums over all assignments of topics to tokens, with the Polya weight.
pub fn enumerate(topics: &Topics, tokens: &[u32]) -> Exact {
    let (k, n) = (topics.topics(), tokens.len());
    let total: f64 = topics.alpha.iter().sum();
    let mut sum = 0.0;
    let mut counts = vec![vec![0.0; topics.vocabulary()]; k];
    let mut log_theta = vec![0.0; k];
    for code in 0..k.pow(n as u32) {
        let z: Vec<usize> = (0..n).map(|i| code / k.pow(i as u32) % k).collect();
        let mut sizes = vec![0.0; k];
        let mut log_weight = ln_gamma(total) - ln_gamma(total + n as f64);
        for (&z, &word) in z.iter().zip(tokens) {
            sizes[z] += 1.0;
            log_weight += libm::log(topics.row(word)[z]);
        }
        for (alpha, size) in topics.alpha.iter().zip(&sizes) {
            log_weight += ln_gamma(alpha + size) - ln_gamma(*alpha);
        }
        let weight = libm::exp(log_weight);
        sum += weight;
        for (&z, &word) in z.iter().zip(tokens) {
            counts[z][word as usize] += weight;
        }
        for (j, size) in sizes.iter().enumerate() {
            log_theta[j] += weight * (digamma(topics.alpha[j] + size) - digamma(total + n as f64));
        }
    }
    counts.iter_mut().flatten().chain(&mut log_theta).for_each(|value| *value /= sum);
    Exact { log_likelihood: libm::log(sum), counts, log_theta }
}

/// The obvious twin of the sampler: dense, slow, straight from equation (7) of science.md.
pub struct Dense<'a> {
    pub topics: &'a Topics,
    pub tokens: Vec<u32>,
    pub z: Vec<usize>,
    pub sizes: Vec<f64>,
}

impl<'a> Dense<'a> {
    /// Every token starts in a topic drawn by its word alone.
    pub fn start(topics: &'a Topics, tokens: &[u32], random: &mut Stream) -> Self {
        let z: Vec<usize> = tokens.iter().map(|&word| random.categorical(topics.row(word))).collect();
        let mut sizes = vec![0.0; topics.topics()];
        z.iter().for_each(|&z| sizes[z] += 1.0);
        Self { topics, tokens: tokens.to_vec(), z, sizes }
    }

    /// Probabilities of the topic of token `n`, given all the others.
    pub fn conditional(&self, n: usize) -> Vec<f64> {
        let row = self.topics.row(self.tokens[n]);
        let weights: Vec<f64> = (0..row.len())
            .map(|k| row[k] * (self.sizes[k] - f64::from(u8::from(self.z[n] == k)) + self.topics.alpha[k]))
            .collect();
        let sum: f64 = weights.iter().sum();
        weights.iter().map(|weight| weight / sum).collect()
    }

    pub fn sweep(&mut self, random: &mut Stream) {
        let mut order: Vec<usize> = (0..self.tokens.len()).collect();
        random.shuffle(&mut order);
        for n in order {
            let probabilities = self.conditional(n);
            self.sizes[self.z[n]] -= 1.0;
            self.z[n] = random.categorical(&probabilities);
            self.sizes[self.z[n]] += 1.0;
        }
    }

    /// Adds the Rao-Blackwellised counts `[k][w]` and `digamma(alpha + n_k) - digamma(A + N)`.
    pub fn keep(&self, counts: &mut [Vec<f64>], log_theta: &mut [f64]) {
        for n in 0..self.tokens.len() {
            for (k, probability) in self.conditional(n).into_iter().enumerate() {
                counts[k][self.tokens[n] as usize] += probability;
            }
        }
        let total = digamma(self.topics.alpha.iter().sum::<f64>() + self.tokens.len() as f64);
        for (k, value) in log_theta.iter_mut().enumerate() {
            *value += digamma(self.topics.alpha[k] + self.sizes[k]) - total;
        }
    }
}

/// Mean of independent batch means against an exact value, in standard errors. At |z| < 4.5 a correct program
/// fails once in 150,000 comparisons; the seeds are fixed, so it fails never or always.
pub fn assert_mean(name: &str, batches: &[f64], expected: f64) {
    let count = batches.len() as f64;
    let mean = batches.iter().sum::<f64>() / count;
    let variance = batches.iter().map(|value| (value - mean) * (value - mean)).sum::<f64>() / (count - 1.0);
    let error = (variance / count).sqrt().max(1e-12);
    let z = (mean - expected) / error;
    assert!(z.abs() < 4.5, "{name}: {mean} is {z:.2} standard errors ({error:.2e}) away from {expected}");
}

/// Chi-square statistic of counts against probabilities; cells expected below 5 are merged into one.
pub fn chi_square(counts: &[f64], probabilities: &[f64]) -> (f64, usize) {
    let total: f64 = counts.iter().sum();
    let (mut statistic, mut cells, mut rare) = (0.0, 0, (0.0, 0.0));
    for (&count, &probability) in counts.iter().zip(probabilities) {
        let expected = total * probability;
        if expected < 5.0 {
            rare = (rare.0 + count, rare.1 + expected);
        } else {
            statistic += (count - expected) * (count - expected) / expected;
            cells += 1;
        }
    }
    if rare.1 > 0.0 {
        // With hardly any mass, a single stray count would dominate; Poisson tails are checked directly.
        if rare.1 < 5.0 {
            assert!(
                rare.0 <= rare.1 + 6.0 * rare.1.sqrt() + 6.0,
                "{} draws in cells with mass {}",
                rare.0,
                rare.1
            );
        } else {
            statistic += (rare.0 - rare.1) * (rare.0 - rare.1) / rare.1;
            cells += 1;
        }
    }
    (statistic, cells.max(1) - 1)
}

/// Upper 1e-6 point of the chi-square law by the Wilson-Hilferty approximation (z = 4.753).
pub fn chi_square_limit(freedom: usize) -> f64 {
    if freedom == 0 {
        return 1e-9;
    }
    let d = freedom as f64;
    let root = 1.0 - 2.0 / (9.0 * d) + 4.753 * (2.0 / (9.0 * d)).sqrt();
    d * root * root * root
}
