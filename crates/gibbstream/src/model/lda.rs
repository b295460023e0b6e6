//! Latent Dirichlet allocation: its statistics, and the parameters that follow from them (algorithms.md 2).

use super::alpha::{AlphaClamps, AlphaRule, mean_log_theta, solve_fixed_point};
use super::topics::TopicStats;
use super::view::TopicView;
use super::{Batch, Expectation, LatentModel};
use crate::corpus::Minibatch;
use crate::random::{Purpose, Seed};
use rayon::prelude::*;

/// The model: its size and the rules of its M-step.
#[derive(Clone, Debug, PartialEq)]
pub struct Lda {
    /// Number of topics K.
    pub topics: usize,
    /// Size of the vocabulary V.
    pub vocabulary: usize,
    /// Share of every topic that is spread evenly over the vocabulary.
    pub smoothing: f64,
    /// How alpha is learnt.
    pub alpha: AlphaRule,
    /// Whether the mean of the parameters is kept.
    pub averaging: bool,
}

/// Running statistics and parameters.
#[derive(Clone, Debug, PartialEq)]
pub struct LdaState {
    /// Expected counts per document of each (word, topic).
    pub counts: TopicStats,
    /// Mean over documents of E[log theta].
    pub log_theta: Vec<f64>,
    /// Dirichlet parameter of the topic proportions.
    pub alpha: Vec<f64>,
    /// Sum of alpha over the remembered updates.
    pub alpha_sum: Vec<f64>,
    /// How often alpha was held inside its limits.
    pub clamps: AlphaClamps,
}

/// Expected statistics of a minibatch: counts for its words only.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct TopicExpectation {
    /// `words of the minibatch x topics`.
    pub counts: Vec<f64>,
    /// Sums of `counts` over words.
    pub totals: Vec<f64>,
    /// Mean of E[log theta].
    pub log_theta: Vec<f64>,
}

/// Frozen parameters, as evaluation, inference on new documents and export use them.
#[derive(Clone, Debug, PartialEq)]
pub struct Topics {
    /// Word-major probabilities: `beta[word * topics + k]`; each topic sums to 1 over words.
    pub beta: Vec<f64>,
    /// Dirichlet parameter of the topic proportions.
    pub alpha: Vec<f64>,
}

impl Topics {
    /// Number of topics.
    pub fn topics(&self) -> usize {
        self.alpha.len()
    }

    /// Size of the vocabulary.
    pub fn vocabulary(&self) -> usize {
        self.beta.len() / self.alpha.len()
    }

    /// Probabilities of one word in all topics.
    pub fn row(&self, word: u32) -> &[f64] {
        &self.beta[word as usize * self.topics()..][..self.topics()]
    }

    /// The view of these parameters for the words of `batch`.
    pub fn view(&self, batch: &Minibatch, out: &mut TopicView) {
        let words = batch.words();
        out.refresh(words.len(), &self.alpha, |index, row| row.copy_from_slice(self.row(words[index])));
    }
}

impl Lda {
    /// The parameters that a state stands for: the mean of the remembered ones if there is one, else the last.
    pub fn parameters(&self, state: &LdaState) -> Topics {
        let map = self.probabilities(state.counts.scaled_totals());
        let mut beta = vec![0.0; self.vocabulary * self.topics];
        beta.par_chunks_exact_mut(self.topics).enumerate().for_each(|(word, row)| {
            if state.counts.mean_share(word as u32, row) {
                row.iter_mut().for_each(|share| *share = self.smooth(*share));
            } else {
                map.write(state.counts.scaled_row(word as u32), row);
            }
        });
        let updates = state.counts.average.as_ref().map_or(0, |average| average.updates);
        let alpha = if updates > 0 {
            state.alpha_sum.iter().map(|sum| sum / updates as f64).collect()
        } else {
            state.alpha.clone()
        };
        Topics { beta, alpha }
    }

    fn smooth(&self, share: f64) -> f64 {
        (1.0 - self.smoothing) * share + self.smoothing / self.vocabulary as f64
    }

    /// `beta_kw = (1 - smoothing) s_kw / total_k + smoothing / V`; an empty topic is uniform.
    fn probabilities(&self, totals: &[f64]) -> ProbabilityMap {
        let uniform = 1.0 / self.vocabulary as f64;
        ProbabilityMap {
            factor: totals
                .iter()
                .map(|&total| if total > 0.0 { (1.0 - self.smoothing) / total } else { 0.0 })
                .collect(),
            offset: totals
                .iter()
                .map(|&total| if total > 0.0 { self.smoothing * uniform } else { uniform })
                .collect(),
        }
    }

    fn update_alpha(&self, log_theta: &[f64], alpha: &mut [f64], clamps: &mut AlphaClamps) {
        match self.alpha {
            AlphaRule::FixedPoint => solve_fixed_point(log_theta, alpha, clamps),
            AlphaRule::Fixed(_) => {}
        }
    }
}

/// The affine map from scaled statistics to probabilities, one factor and offset per topic.
struct ProbabilityMap {
    factor: Vec<f64>,
    offset: Vec<f64>,
}

impl ProbabilityMap {
    fn write(&self, scaled: &[f64], out: &mut [f64]) {
        for (((out, &scaled), &factor), &offset) in
            out.iter_mut().zip(scaled).zip(&self.factor).zip(&self.offset)
        {
            *out = scaled * factor + offset;
        }
    }
}

/// `(1 - rho) old + rho fresh`, number by number.
fn blended<'a>(rho: f64, old: &'a [f64], fresh: &'a [f64]) -> impl Iterator<Item = f64> + 'a {
    old.iter().zip(fresh).map(move |(old, fresh)| (1.0 - rho) * old + rho * fresh)
}

impl LatentModel for Lda {
    type Batch = Minibatch;
    type Expectation = TopicExpectation;
    type State = LdaState;
    type View = TopicView;

    /// Nearly uniform random topics with the mass of one document, and alpha = 1/K (algorithms.md 2.5).
    fn initial(&self, first: &Minibatch, seed: Seed) -> LdaState {
        let mut counts = vec![0.0; self.vocabulary * self.topics];
        counts.par_chunks_exact_mut(self.topics).enumerate().for_each(|(word, row)| {
            let mut random = seed.stream(Purpose::Initial, [word as u64, 0]);
            row.iter_mut().for_each(|value| *value = random.gamma(100.0) / 100.0);
        });
        let mut totals = vec![0.0; self.topics];
        for row in counts.chunks_exact(self.topics) {
            totals.iter_mut().zip(row).for_each(|(total, value)| *total += value);
        }
        let mean_length = (first.tokens() as f64 / first.len().max(1) as f64).max(1.0);
        let factors: Vec<f64> =
            totals.iter().map(|total| mean_length / (self.topics as f64 * total)).collect();
        for row in counts.chunks_exact_mut(self.topics) {
            row.iter_mut().zip(&factors).for_each(|(value, factor)| *value *= factor);
        }
        let alpha = vec![self.alpha.start(self.topics); self.topics];
        LdaState {
            counts: TopicStats::new(self.topics, counts, self.averaging),
            log_theta: mean_log_theta(&alpha),
            alpha_sum: vec![0.0; self.topics],
            alpha,
            clamps: AlphaClamps::default(),
        }
    }

    fn view(
        &self,
        state: &LdaState,
        pending: Option<(f64, &TopicExpectation)>,
        batch: &Minibatch,
        out: &mut TopicView,
    ) {
        let words = batch.words();
        let Some((rho, fresh)) = pending else {
            let map = self.probabilities(state.counts.scaled_totals());
            out.refresh(words.len(), &state.alpha, |index, row| {
                map.write(state.counts.scaled_row(words[index]), row);
            });
            return;
        };
        let scale = state.counts.scale() * (1.0 - rho);
        let totals: Vec<f64> = state
            .counts
            .scaled_totals()
            .iter()
            .zip(&fresh.totals)
            .map(|(total, fresh)| scale * total + rho * fresh)
            .collect();
        let map = self.probabilities(&totals);
        let log_theta: Vec<f64> = blended(rho, &state.log_theta, &fresh.log_theta).collect();
        let mut alpha = state.alpha.clone();
        self.update_alpha(&log_theta, &mut alpha, &mut AlphaClamps::default());
        out.refresh(words.len(), &alpha, |index, row| {
            let fresh = &fresh.counts[index * self.topics..][..self.topics];
            let old = state.counts.scaled_row(words[index]);
            for ((row, old), fresh) in row.iter_mut().zip(old).zip(fresh) {
                *row = scale * old + rho * fresh;
            }
            for ((row, factor), offset) in row.iter_mut().zip(&map.factor).zip(&map.offset) {
                *row = *row * factor + offset;
            }
        });
    }

    fn absorb(&self, state: &mut LdaState, rho: f64, fresh: &TopicExpectation, batch: &Minibatch) {
        state.counts.blend(rho, batch.words(), &fresh.counts, &fresh.totals);
        state.log_theta = blended(rho, &state.log_theta, &fresh.log_theta).collect();
        self.update_alpha(&state.log_theta, &mut state.alpha, &mut state.clamps);
    }

    fn remember(&self, state: &mut LdaState) {
        state.counts.remember();
        state.alpha_sum.iter_mut().zip(&state.alpha).for_each(|(sum, alpha)| *sum += alpha);
    }
}

impl Batch for Minibatch {
    fn len(&self) -> usize {
        Minibatch::len(self)
    }

    fn key(&self, index: usize) -> [u64; 2] {
        [self.pass(), self.first() + index as u64]
    }
}

impl Expectation for TopicExpectation {
    fn clear_like(&mut self, other: &Self) {
        for (mine, theirs) in [
            (&mut self.counts, &other.counts),
            (&mut self.totals, &other.totals),
            (&mut self.log_theta, &other.log_theta),
        ] {
            mine.clear();
            mine.resize(theirs.len(), 0.0);
        }
    }

    fn add(&mut self, weight: f64, other: &Self) {
        for (mine, theirs) in [
            (&mut self.counts, &other.counts),
            (&mut self.totals, &other.totals),
            (&mut self.log_theta, &other.log_theta),
        ] {
            mine.iter_mut().zip(theirs).for_each(|(mine, theirs)| *mine += weight * theirs);
        }
    }

    fn not_finite(&self) -> Option<&'static str> {
        // The totals are sums of all counts, so they tell about every one of them.
        if !self.totals.iter().all(|value| value.is_finite()) {
            Some("the expected counts of words in topics")
        } else if !self.log_theta.iter().all(|value| value.is_finite()) {
            Some("the mean of log theta")
        } else {
            None
        }
    }
}
