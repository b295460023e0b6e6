//! Topics as local inference reads them: for the words of one minibatch, word by word.
//!
//! Parameters do not move while a minibatch is sampled, so the mass that a word has under the prior alone,
//! `sum_k alpha_k phi_kw`, is computed once per word; what depends on the document is sparse
//! (algorithms.md 8.1).

use crate::math::{LANES, add_lanes};
use rayon::prelude::*;

/// Topics per block: a draw from a whole row first finds the block, then the topic.
const BLOCK: usize = 32;
/// Words handed to one thread at a time.
const WORDS_PER_TASK: usize = 64;

/// Weights `phi_kw` of the words of a minibatch, with the sums that exact draws need.
#[derive(Clone, Debug, Default)]
pub struct TopicView {
    topics: usize,
    alpha: Vec<f64>,
    alpha_sum: f64,
    weights: Vec<f64>,
    prior_mass: Vec<f64>,
    /// Per word and block of topics: sums of `phi_kw`, then of `alpha_k phi_kw`.
    weight_blocks: Vec<f64>,
    prior_blocks: Vec<f64>,
    unseen: u64,
}

impl TopicView {
    /// Recomputes everything for `words` words, whose weights `fill(index, row)` writes.
    pub fn refresh(&mut self, words: usize, alpha: &[f64], fill: impl Fn(usize, &mut [f64]) + Sync) {
        let topics = alpha.len();
        let blocks = topics.div_ceil(BLOCK);
        self.topics = topics;
        self.alpha.clear();
        self.alpha.extend_from_slice(alpha);
        self.alpha_sum = alpha.iter().sum();
        self.weights.resize(words * topics, 0.0);
        self.prior_mass.resize(words, 0.0);
        self.weight_blocks.resize(words * blocks, 0.0);
        self.prior_blocks.resize(words * blocks, 0.0);
        let rows = self.weights.par_chunks_mut(WORDS_PER_TASK * topics);
        let masses = self.prior_mass.par_chunks_mut(WORDS_PER_TASK);
        let weight_blocks = self.weight_blocks.par_chunks_mut(WORDS_PER_TASK * blocks);
        let prior_blocks = self.prior_blocks.par_chunks_mut(WORDS_PER_TASK * blocks);
        self.unseen = (rows, masses, weight_blocks, prior_blocks)
            .into_par_iter()
            .enumerate()
            .map(|(task, (rows, masses, weight_blocks, prior_blocks))| {
                let mut unseen = 0;
                for (i, row) in rows.chunks_exact_mut(topics).enumerate() {
                    fill(task * WORDS_PER_TASK + i, row);
                    let weight_blocks = &mut weight_blocks[i * blocks..][..blocks];
                    let prior_blocks = &mut prior_blocks[i * blocks..][..blocks];
                    masses[i] = sum_blocks(row, alpha, weight_blocks, prior_blocks);
                    if masses[i] <= 0.0 {
                        // No topic has ever seen the word: it says nothing about topics.
                        unseen += 1;
                        row.fill(1.0);
                        masses[i] = sum_blocks(row, alpha, weight_blocks, prior_blocks);
                    }
                }
                unseen
            })
            .sum();
    }

    /// Number of topics.
    #[inline]
    pub fn topics(&self) -> usize {
        self.topics
    }

    /// The Dirichlet parameter of the topic proportions.
    #[inline]
    pub fn alpha(&self) -> &[f64] {
        &self.alpha
    }

    /// Its sum.
    #[inline]
    pub fn alpha_sum(&self) -> f64 {
        self.alpha_sum
    }

    /// Number of words of the minibatch that no topic has ever seen.
    pub fn unseen(&self) -> u64 {
        self.unseen
    }

    /// `phi_kw` of word `word` of the minibatch, for all k.
    #[inline]
    pub fn row(&self, word: u32) -> &[f64] {
        &self.weights[word as usize * self.topics..][..self.topics]
    }

    /// `sum_k alpha_k phi_kw`.
    #[inline]
    pub fn prior_mass(&self, word: u32) -> f64 {
        self.prior_mass[word as usize]
    }

    /// The topic k at which the running sum of `alpha_k phi_kw` passes `at`, for `at` in `[0, prior_mass)`.
    pub fn find_in_prior(&self, word: u32, at: f64) -> usize {
        let row = self.row(word);
        self.find(&self.prior_blocks, word, at, |k| self.alpha[k] * row[k])
    }

    /// The same for `phi_kw` alone, with `share` in `[0, 1)` of its sum.
    pub fn find_in_weights(&self, word: u32, share: f64) -> usize {
        let row = self.row(word);
        let blocks = self.topics.div_ceil(BLOCK);
        let total: f64 = self.weight_blocks[word as usize * blocks..][..blocks].iter().sum();
        self.find(&self.weight_blocks, word, share * total, |k| row[k])
    }

    fn find(&self, sums: &[f64], word: u32, at: f64, weight: impl Fn(usize) -> f64) -> usize {
        let blocks = self.topics.div_ceil(BLOCK);
        let sums = &sums[word as usize * blocks..][..blocks];
        let (mut rest, mut block) = (at, 0);
        while block + 1 < blocks && rest >= sums[block] {
            rest -= sums[block];
            block += 1;
        }
        for k in block * BLOCK..((block + 1) * BLOCK).min(self.topics) {
            let weight = weight(k);
            if rest < weight {
                return k;
            }
            rest -= weight;
        }
        // Rounding carried `at` past the end of its block: the last topic with any mass up to there.
        let end = ((block + 1) * BLOCK).min(self.topics);
        (0..end).rev().find(|&k| weight(k) > 0.0).unwrap_or(end - 1)
    }
}

/// Sums of a row by blocks, and the whole prior mass, each in an order that is written down.
fn sum_blocks(row: &[f64], alpha: &[f64], weight_blocks: &mut [f64], prior_blocks: &mut [f64]) -> f64 {
    let mut mass = 0.0;
    for (block, (row, alpha)) in row.chunks(BLOCK).zip(alpha.chunks(BLOCK)).enumerate() {
        let (mut weights, mut priors) = ([0.0; LANES], [0.0; LANES]);
        let (row_lanes, row_rest) = row.as_chunks::<LANES>();
        let (alpha_lanes, alpha_rest) = alpha.as_chunks::<LANES>();
        for (row, alpha) in row_lanes.iter().zip(alpha_lanes) {
            for lane in 0..LANES {
                weights[lane] += row[lane];
                priors[lane] += row[lane] * alpha[lane];
            }
        }
        for (lane, (row, alpha)) in row_rest.iter().zip(alpha_rest).enumerate() {
            weights[lane] += row;
            priors[lane] += row * alpha;
        }
        weight_blocks[block] = add_lanes(weights);
        prior_blocks[block] = add_lanes(priors);
        mass += prior_blocks[block];
    }
    mass
}
