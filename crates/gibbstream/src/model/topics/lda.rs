//! Latent Dirichlet allocation: its statistics, and the parameters that follow from them (science.md 2).

use crate::model::topics::alpha::{AlphaRule, AlphaState};
use crate::model::topics::hdp::sticks::Sticks;
use crate::model::topics::rule::{FreshCounts, NO_TOKENS, TopicRule, WeightMap};
use crate::model::topics::statistics::TopicStatistics;
use crate::model::topics::counts::{Affine, RowToBlend, Spread, TopicStats, mix};
use crate::model::topics::view::{TopicView, weight_and_prior};
use crate::model::topics::word_frequencies::WordFrequencies;
use crate::model::{Batch, LatentModel};
use crate::learn::averaging::Averaging;
use crate::corpus::Minibatch;
use crate::error::{Error, Result};
use crate::numerics::large_pages;
use crate::numerics::random::{Purpose, Seed};
use crate::learn::schedule::Step;
use crate::summary::shares;
use rayon::prelude::*;
use serde::{Deserialize, Serialize};
use std::borrow::Cow;

/// Words whose counts one thread adds up; sums depend on it, but not on the number of threads.
const WORDS_PER_BLOCK: usize = 256;

/// The model: its size and the rules of its M-step.
#[derive(Clone, Debug, PartialEq)]
pub struct Lda {
    /// Number of topics K.
    pub topics: usize,
    /// Size of the vocabulary V.
    pub vocabulary: usize,
    /// How topics follow from counts.
    pub rule: TopicRule,
    /// How alpha is learnt.
    pub alpha: AlphaRule,
    /// No alpha_k falls below this.
    pub alpha_floor: f64,
    /// How topics start.
    pub start: Start,
    /// Which parameters are reported.
    pub averaging: Averaging,
    /// Seed of moves that are random.
    pub seed: Seed,
    /// Words that pull the first topics: they begin with half of their tokens on them.
    pub seeds: Vec<Vec<u32>>,
}

/// The random topics that a run starts from.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Start {
    /// Gamma(100, 1/100) weights: all methods but one share it, so that they can be compared.
    Gamma,
    /// Uniform topics, disturbed by up to ten per cent (SPLDA).
    NearlyUniform,
}

/// Running statistics and parameters.
#[derive(Clone, Debug, PartialEq)]
pub struct LdaState {
    /// Expected counts per document of each (word, topic); unnormalised topics under Langevin moves.
    pub counts: TopicStats,
    /// The Dirichlet parameter of the topic proportions.
    pub alpha: AlphaState,
    /// Sum of alpha over the remembered updates.
    pub alpha_sum: Vec<f64>,
    /// Only where the number of topics is open.
    pub sticks: Option<Sticks>,
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
        out.refresh(words, &self.alpha, |index, row| {
            row.copy_from_slice(self.row(words[index]));
            weight_and_prior(row, &self.alpha)
        });
    }
}

/// Logarithms of topics, as the evidence lower bound uses them.
#[derive(Clone, Debug, PartialEq)]
pub struct LogTopics {
    /// Word-major: `log_weights[word * topics + k]`.
    pub log_weights: Vec<f64>,
    /// Dirichlet parameter of the topic proportions.
    pub alpha: Vec<f64>,
}

impl LogTopics {
    /// Number of topics.
    pub fn topics(&self) -> usize {
        self.alpha.len()
    }

    /// Size of the vocabulary.
    pub fn vocabulary(&self) -> usize {
        self.log_weights.len() / self.alpha.len()
    }

    /// Logarithms of the weights of one word in all topics.
    pub fn row(&self, word: u32) -> &[f64] {
        &self.log_weights[word as usize * self.topics()..][..self.topics()]
    }
}

impl From<Topics> for LogTopics {
    fn from(topics: Topics) -> Self {
        let Topics { beta: mut log_weights, alpha } = topics;
        log_weights.par_iter_mut().with_min_len(1024).for_each(|value| *value = libm::log(*value));
        Self { log_weights, alpha }
    }
}

impl Lda {
    /// What the evidence lower bound is computed with: `E[log beta]` of the last posterior under a Bayesian rule,
    /// otherwise the logarithms of [`Self::parameters`].
    pub fn log_topics(&self, state: &LdaState, step: &Step, seen: &WordFrequencies) -> LogTopics {
        let counts = &state.counts;
        let rule = self.rule.log_weights(counts.scale(), counts.scaled_totals(), self.vocabulary, step);
        let Some(log_weight) = rule else { return self.parameters(state, step, seen).into() };
        let mut log_weights = vec![0.0; self.vocabulary * self.topics];
        log_weights.par_chunks_exact_mut(self.topics).enumerate().for_each(|(word, row)| {
            for (k, (value, scaled)) in row.iter_mut().zip(counts.scaled_row(word as u32)).enumerate() {
                *value = log_weight(k, *scaled);
            }
        });
        LogTopics { log_weights, alpha: state.alpha.alpha.clone() }
    }

    /// The parameters that a state stands for after `step`: the mean of the remembered ones if there is one, else the last.
    /// `seen` are the tokens of each word.
    pub fn parameters(&self, state: &LdaState, step: &Step, seen: &WordFrequencies) -> Topics {
        match self.mean_parameters(state) {
            Some(mean) => mean,
            None => self.last_parameters(state.counts.scaled.clone(), state, step, seen),
        }
    }

    /// The same in the memory of the counts, which the state is without afterwards, unless the mean needs them.
    pub(crate) fn take_parameters(&self, state: &mut LdaState, step: &Step, seen: &WordFrequencies) -> Topics {
        if let Some(mean) = self.mean_parameters(state) {
            return mean;
        }
        let scaled = std::mem::take(&mut state.counts.scaled);
        self.last_parameters(scaled, state, step, seen)
    }

    fn mean_parameters(&self, state: &LdaState) -> Option<Topics> {
        let average = state.counts.average.as_ref().filter(|average| average.updates > 0);
        let updates = average.filter(|_| !self.averaging.counts_words())?.updates as f64;
        let mut beta = vec![0.0; self.vocabulary * self.topics];
        beta.par_chunks_exact_mut(self.topics).enumerate().for_each(|(word, row)| {
            state.counts.mean_probabilities(word as u32, row);
        });
        Some(Topics { beta, alpha: state.alpha_sum.iter().map(|sum| sum / updates).collect() })
    }

    /// The parameters of the last update, in place of its scaled counts.
    fn last_parameters(&self, scaled: Vec<f64>, state: &LdaState, step: &Step, seen: &WordFrequencies) -> Topics {
        let (mut beta, alpha) = (scaled, state.alpha.alpha.clone());
        let map = if self.averaging.counts_words() {
            let totals = self.weigh_by_frequency(&mut beta, state.counts.scale(), step, seen);
            self.rule.probabilities(state.counts.scale(), &totals, self.vocabulary, step)
        } else {
            self.probabilities(state, step)
        };
        beta.par_chunks_exact_mut(self.topics).for_each(|row| map.apply_in_place(row));
        Topics { beta, alpha }
    }

    /// Turns scaled counts into `n_w p(k | w)`, and returns their sums: the running counts tell in which topics a word
    /// occurs, and all documents, or the last of them, how often it does.
    fn weigh_by_frequency(&self, scaled: &mut [f64], scale: f64, step: &Step, seen: &WordFrequencies) -> Vec<f64> {
        let topics = self.topics;
        let documents = seen.documents(step) * scale;
        let blocks = scaled.par_chunks_mut(WORDS_PER_BLOCK * topics).enumerate();
        let block_totals: Vec<Vec<f64>> = blocks
            .map(|(block, rows)| {
                let mut totals = vec![0.0; topics];
                for (i, row) in rows.chunks_exact_mut(topics).enumerate() {
                    let word = block * WORDS_PER_BLOCK + i;
                    frequent_row(row, seen.reported(word) / documents);
                    totals.iter_mut().zip(&*row).for_each(|(total, value)| *total += value);
                }
                totals
            })
            .collect();
        add_blocks(&block_totals, topics)
    }

    /// The rows of [`Self::parameters`] for some words, ascending, and the share of each topic in all tokens. It takes time for
    /// all words only where their frequencies are exchanged.
    pub fn topics_of(&self, state: &LdaState, step: &Step, seen: &WordFrequencies, words: &[u32]) -> (Topics, Vec<f64>) {
        let (counts, topics) = (&state.counts, self.topics);
        let mut beta = vec![0.0; words.len() * topics];
        let totals = if self.averaging.counts_words() {
            let documents = seen.documents(step) * counts.scale();
            let blocks = (0..self.vocabulary.div_ceil(WORDS_PER_BLOCK)).into_par_iter().map(|block| {
                let (mut totals, mut row) = (vec![0.0; topics], vec![0.0; topics]);
                let first = block * WORDS_PER_BLOCK;
                for word in first..(first + WORDS_PER_BLOCK).min(self.vocabulary) {
                    row.copy_from_slice(counts.scaled_row(word as u32));
                    frequent_row(&mut row, seen.reported(word) / documents);
                    totals.iter_mut().zip(&row).for_each(|(total, value)| *total += value);
                }
                totals
            });
            let totals = add_blocks(&blocks.collect::<Vec<_>>(), topics);
            let map = self.rule.probabilities(counts.scale(), &totals, self.vocabulary, step);
            for (row, &word) in beta.chunks_exact_mut(topics).zip(words) {
                row.copy_from_slice(counts.scaled_row(word));
                frequent_row(row, seen.reported(word as usize) / documents);
                map.apply_in_place(row);
            }
            totals
        } else {
            let map = self.probabilities(state, step);
            for (row, &word) in beta.chunks_exact_mut(topics).zip(words) {
                if !counts.mean_probabilities(word, row) {
                    map.apply(counts.scaled_row(word), row);
                }
            }
            counts.scaled_totals().to_vec()
        };
        (Topics { beta, alpha: reported_alpha(state) }, shares(&totals))
    }

    /// The fresh counts of all words at once.
    fn fresh_counts(
        &self,
        counts: &TopicStats,
        alpha: &[f64],
        fresh: &TopicStatistics,
        step: &Step,
    ) -> FreshCounts {
        let rows = self.fresh_rows(counts, alpha, fresh, step);
        let (words, topics) = (fresh.words(), self.topics);
        let mut out = FreshCounts {
            words: words.to_vec(),
            counts: vec![0.0; words.len() * topics],
            totals: vec![0.0; topics],
        };
        let write = |(index, row): (usize, &mut [f64])| {
            row.copy_from_slice(counts.scaled_row(words[index]));
            let (mut space, mut totals) = (vec![0.0; topics], vec![0.0; topics]);
            let row = RowToBlend { counts: row, next: &[], weight: 1.0, replace: true };
            rows.add(index, row, &mut totals, &mut space, 0.0);
        };
        out.counts.par_chunks_exact_mut(topics).enumerate().with_min_len(ROWS_PER_TASK).for_each(write);
        for row in out.counts.chunks_exact(topics) {
            out.totals.iter_mut().zip(row).for_each(|(total, count)| *total += count);
        }
        out
    }

    /// What adds the fresh counts of a word, with the parameters of the state at the step that the statistics were
    /// computed after.
    fn fresh_rows<'a>(
        &self,
        counts: &TopicStats,
        alpha: &'a [f64],
        fresh: &'a TopicStatistics,
        step: &Step,
    ) -> FreshRows<'a> {
        let map = self.rule.weights(counts.scale(), counts.scaled_totals(), self.vocabulary, fresh.at());
        FreshRows::new(map, alpha, fresh, step)
    }

    fn probabilities(&self, state: &LdaState, step: &Step) -> Affine {
        let counts = &state.counts;
        self.rule.probabilities(counts.scale(), counts.scaled_totals(), self.vocabulary, step)
    }

    /// Moves half of the mass of topics with seeds to their words.
    fn plant(&self, counts: &mut [f64], mass: f64) {
        for (topic, words) in self.seeds.iter().enumerate().filter(|(_, words)| !words.is_empty()) {
            counts.iter_mut().skip(topic).step_by(self.topics).for_each(|count| *count *= 0.5);
            for &word in words {
                counts[word as usize * self.topics + topic] += 0.5 * mass / words.len() as f64;
            }
        }
    }

    /// Random weights of one word, for all topics.
    fn start_row(&self, word: u64, seed: Seed, row: &mut [f64]) {
        let mut random = seed.stream(Purpose::Initial, [word, 0]);
        match self.start {
            Start::Gamma => random.gammas(100.0, row),
            Start::NearlyUniform => row.iter_mut().for_each(|value| *value = 1.0 + 0.1 * random.uniform()),
        }
    }
}

/// The mean of alpha if one is kept, else the last.
fn reported_alpha(state: &LdaState) -> Vec<f64> {
    match state.counts.average.as_ref().map_or(0, |average| average.updates) {
        0 => state.alpha.alpha.clone(),
        updates => state.alpha_sum.iter().map(|sum| sum / updates as f64).collect(),
    }
}

/// Divides so many tokens of a word among topics as its running counts do.
fn frequent_row(row: &mut [f64], tokens: f64) {
    let all: f64 = row.iter().sum();
    // A word that nobody has used for long has no digits left to divide by.
    let factor = if all > NO_TOKENS { tokens / all } else { 0.0 };
    row.iter_mut().for_each(|value| *value *= factor);
}

fn add_blocks(blocks: &[Vec<f64>], topics: usize) -> Vec<f64> {
    let mut totals = vec![0.0; topics];
    for block in blocks {
        totals.iter_mut().zip(block).for_each(|(total, part)| *total += part);
    }
    totals
}

/// Words whose fresh counts one thread computes at a time.
const ROWS_PER_TASK: usize = 64;

/// From statistics to the expected counts per document of each word.
pub(crate) struct FreshRows<'a> {
    map: WeightMap,
    /// The same times alpha, where it is affine.
    spread: Option<Spread>,
    alpha: &'a [f64],
    fresh: &'a TopicStatistics,
    share: f64,
    /// Whether the state is the one that the view of the documents was made of.
    same_state: bool,
}

impl<'a> FreshRows<'a> {
    /// `map` and `alpha` are those of the state; what the E-step left to the prior is divided by them. `step` is the one
    /// to be taken.
    pub(crate) fn new(map: WeightMap, alpha: &'a [f64], fresh: &'a TopicStatistics, step: &Step) -> Self {
        let times = |values: &[f64]| values.iter().zip(alpha).map(|(value, alpha)| value * alpha).collect();
        let spread = match &map {
            WeightMap::Affine(map) => {
                Some(Spread { factors: times(&map.factors), offsets: times(&map.offsets) })
            }
            WeightMap::ExpDigamma { .. } => None,
        };
        let same_state = fresh.at().update + 1 == step.update;
        Self { map, spread, alpha, fresh, share: fresh.share(), same_state }
    }

    /// Adds the expected counts of the word at place `index` of the statistics to its row and to the totals.
    pub(crate) fn add(
        &self,
        index: usize,
        mut row: RowToBlend<'_>,
        totals: &mut [f64],
        space: &mut [f64],
        prior: f64,
    ) {
        let tokens = self.fresh.prior(index) + prior;
        self.fresh.add_counts(index, space);
        if let (Some(spread), Some(ratio)) = (&self.spread, self.ratio(index, tokens, &row)) {
            return spread.add(ratio, &mut row, totals, (self.share, space));
        }
        self.divide(tokens, &mut row, totals);
        for ((count, total), tokens) in row.counts.iter_mut().zip(totals).zip(space) {
            let fresh = std::mem::take(tokens) * self.share;
            *count += row.weight * fresh;
            *total += fresh;
        }
    }

    /// What an affine map has to be multiplied by, so that the prior accounts for so many tokens; `None` if it cannot.
    fn ratio(&self, index: usize, tokens: f64, row: &RowToBlend<'_>) -> Option<f64> {
        let WeightMap::Affine(map) = &self.map else { return None };
        if tokens <= 0.0 {
            return Some(0.0);
        }
        let mass = self.fresh.prior_mass(index).filter(|_| self.same_state);
        let mass = mass.unwrap_or_else(|| map.prior_mass(&row.counts[..self.alpha.len()], self.alpha));
        (mass > 0.0).then(|| tokens * self.share / mass)
    }

    /// Divides tokens that the prior accounts for among topics.
    fn divide(&self, tokens: f64, row: &mut RowToBlend<'_>, totals: &mut [f64]) {
        let (mut weights, mut ratio) = (Vec::new(), 0.0);
        if tokens > 0.0 {
            weights.resize(self.alpha.len(), 0.0);
            let mass = self.map.prior_weights(&row.counts[..self.alpha.len()], self.alpha, &mut weights);
            ratio = tokens * self.share / mass;
        }
        if row.replace {
            row.counts.fill(0.0);
        }
        for ((count, weight), total) in row.counts.iter_mut().zip(&weights).zip(totals) {
            *total += ratio * weight;
            *count += row.weight * (ratio * weight);
        }
    }
}

impl LatentModel for Lda {
    type Batch = Minibatch;
    type Statistics = TopicStatistics;
    type State = LdaState;
    type View = TopicView;

    fn check(&self, batch: &Minibatch) -> Result<()> {
        match batch.words().last() {
            Some(&word) if word as usize >= self.vocabulary => Err(Error::setting(
                "vocabulary",
                format!("a document has word id {word}, but there are {} words", self.vocabulary),
                "number words from 0 and below the size of the vocabulary",
            )),
            _ => Ok(()),
        }
    }

    /// Random topics with the mass of one document, and alpha = 1/K (science.md 2.5). Langevin moves want
    /// unnormalised topics instead, so their mass is V: one a word.
    fn initial(&self, first: &Minibatch, seed: Seed) -> LdaState {
        let mut counts = large_pages::zeros(self.vocabulary * self.topics);
        counts
            .par_chunks_exact_mut(self.topics)
            .enumerate()
            .for_each(|(word, row)| self.start_row(word as u64, seed, row));
        let mut totals = vec![0.0; self.topics];
        for row in counts.chunks_exact(self.topics) {
            totals.iter_mut().zip(row).for_each(|(total, value)| *total += value);
        }
        let mean_length = (first.tokens() as f64 / first.len().max(1) as f64).max(1.0);
        let mass = match self.rule {
            TopicRule::Langevin { .. } => self.vocabulary as f64,
            _ => mean_length / self.topics as f64,
        };
        let factors: Vec<f64> = totals.iter().map(|total| mass / total).collect();
        for row in counts.chunks_exact_mut(self.topics) {
            row.iter_mut().zip(&factors).for_each(|(value, factor)| *value *= factor);
        }
        self.plant(&mut counts, mass);
        LdaState {
            counts: TopicStats::new(self.topics, counts, self.averaging.is_on()),
            alpha: AlphaState::new(vec![self.alpha.start(self.topics); self.topics]),
            alpha_sum: vec![0.0; self.topics],
            sticks: None,
        }
    }

    fn view(
        &self,
        state: &LdaState,
        at: &Step,
        pending: Option<&TopicStatistics>,
        batch: &Minibatch,
        out: &mut TopicView,
    ) {
        let (words, counts) = (batch.words(), &state.counts);
        let Some(fresh) = pending else {
            let map = self.rule.weights(counts.scale(), counts.scaled_totals(), self.vocabulary, at);
            out.refresh(words, &state.alpha.alpha, |index, row| {
                let [this, next] =
                    [index, (index + 1).min(words.len() - 1)].map(|i| counts.scaled_row(words[i]));
                map.write_and_sum(this, next, &state.alpha.alpha, row)
            });
            out.set_clock(*at);
            return;
        };
        let theta = fresh.theta(&state.alpha.alpha);
        let fresh = self.fresh_counts(counts, &state.alpha.alpha, fresh, at);
        let rho = at.rho;
        let scale = counts.scale() * (1.0 - rho);
        let totals = counts.scaled_totals().iter().zip(&fresh.totals);
        let totals: Vec<f64> = totals.map(|(total, fresh)| scale * total + rho * fresh).collect();
        let map = self.rule.weights(1.0, &totals, self.vocabulary, at);
        let mut alpha = state.alpha.clone();
        alpha.absorb(&self.alpha, self.alpha_floor, at, &theta);
        out.refresh(words, &alpha.alpha, |index, row| {
            let fresh = &fresh.counts[index * self.topics..][..self.topics];
            mix(scale, counts.scaled_row(words[index]), rho, fresh, row);
            map.apply(row);
            weight_and_prior(row, &alpha.alpha)
        });
        out.set_clock(*at);
    }

    fn align<'a>(&self, view: &TopicView, block: &'a Minibatch) -> Result<Cow<'a, Minibatch>> {
        view.align(block)
    }

    fn check_statistics(&self, state: &LdaState, statistics: &TopicStatistics) -> Result<()> {
        statistics.check_size(state.counts.topics(), self.vocabulary)
    }

    fn complete(&self, statistics: &mut TopicStatistics, view: &TopicView) {
        let alpha = view.alpha();
        statistics.complete(alpha, |index, prior, row| {
            let word = index as u32;
            let share = prior / (view.prior_mass(word) * view.scale(word));
            for (k, (count, alpha)) in row.iter_mut().zip(alpha).enumerate() {
                *count += share * alpha * f64::from(view.relative(word, k));
            }
        });
    }

    fn absorb(&self, state: &mut LdaState, step: &Step, fresh: &TopicStatistics) {
        let LdaState { counts, alpha, .. } = state;
        let theta = fresh.theta(&alpha.alpha);
        let old_alpha = alpha.alpha.clone();
        let move_counts = || {
            if self.rule.blends() && !self.averaging.is_on() {
                let rows = self.fresh_rows(counts, &old_alpha, fresh, step);
                counts.blend_rows(step.rho, fresh.words(), |index, row, totals, space| {
                    rows.add(index, row, totals, space, 0.0);
                });
            } else {
                let fresh = self.fresh_counts(counts, &old_alpha, fresh, step);
                self.rule.absorb(counts, step, &fresh, self.seed);
            }
        };
        rayon::join(move_counts, || alpha.absorb(&self.alpha, self.alpha_floor, step, &theta));
    }

    fn remember(&self, state: &mut LdaState, step: &Step) {
        let map = self.probabilities(state, step);
        state.counts.remember(&map);
        state.alpha_sum.iter_mut().zip(&state.alpha.alpha).for_each(|(sum, alpha)| *sum += alpha);
    }
}

impl Batch for Minibatch {
    fn len(&self) -> usize {
        Minibatch::len(self)
    }

    fn key(&self, index: usize) -> [u64; 2] {
        [self.pass(), self.first() + index as u64]
    }

    fn cost(&self, index: usize) -> u64 {
        self.tokens_of(index)
    }
}
