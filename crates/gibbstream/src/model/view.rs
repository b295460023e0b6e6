//! Topics as local inference reads them: for the words of one minibatch, word by word.
//!
//! Parameters do not move while a minibatch is sampled, so the mass that a word has under the prior alone,
//! `sum_k alpha_k phi_kw`, is computed once per word; what depends on the document is sparse
//! (algorithms.md 8.1).

use crate::lanes::{Block, Lanes, WIDTH};
use crate::math::{LANES, add_lanes};
use crate::vectorised::vectorised;
use rayon::prelude::*;

/// Words handed to one thread at a time.
const WORDS_PER_TASK: usize = 64;
/// The sampler's relative weights are not larger than this, whatever alpha is.
const LARGEST_RELATIVE: f64 = 1e30;

/// Weights `phi_kw` of the words of a minibatch, with the sums that exact draws need.
#[derive(Clone, Debug, Default)]
pub struct TopicView {
    topics: usize,
    alpha: Vec<f64>,
    alpha_blocks: Vec<Block>,
    alpha_sum: f64,
    rows: Rows,
    /// Per word: its mass under the prior, and what makes its weights relative to that.
    masses: Vec<Mass>,
    /// Per word and block of topics: running sums of the weights in `rows`, and of them times `alpha_k`.
    weight_sums: Vec<f64>,
    prior_sums: Vec<f64>,
    unseen: u64,
}

#[derive(Clone, Copy, Debug, Default)]
struct Mass {
    prior: f64,
    scale: f64,
}

/// The weights, word by word: half the memory, and so half the time, suffices for sampling.
#[derive(Clone, Debug)]
enum Rows {
    /// `phi_kw`.
    Exact(Vec<f64>),
    /// `phi_kw` times [`TopicView::scale`], in whole blocks with zeros at the end.
    Relative(Vec<Block>),
}

impl Default for Rows {
    fn default() -> Self {
        Self::Exact(Vec::new())
    }
}

impl TopicView {
    /// A view that holds its weights as the sampler wants them, relative and in single precision.
    pub fn for_sampling() -> Self {
        Self { rows: Rows::Relative(Vec::new()), ..Self::default() }
    }

    /// Recomputes everything for `words` words, whose weights `fill(index, row)` writes.
    pub fn refresh(&mut self, words: usize, alpha: &[f64], fill: impl Fn(usize, &mut [f64]) + Sync) {
        let topics = alpha.len();
        let blocks = topics.div_ceil(WIDTH);
        self.topics = topics;
        self.alpha.clear();
        self.alpha.extend_from_slice(alpha);
        self.alpha_sum = alpha.iter().sum();
        self.alpha_blocks.clear();
        self.alpha_blocks.resize(blocks, [0.0; WIDTH]);
        let alpha_blocks = &mut self.alpha_blocks;
        alpha_blocks.as_flattened_mut().iter_mut().zip(alpha).for_each(|(out, &alpha)| *out = alpha as f32);
        self.masses.resize(words, Mass::default());
        self.weight_sums.resize(words * blocks, 0.0);
        self.prior_sums.resize(words * blocks, 0.0);
        let tasks = (
            self.masses.par_chunks_mut(WORDS_PER_TASK),
            self.weight_sums.par_chunks_mut(WORDS_PER_TASK * blocks),
            self.prior_sums.par_chunks_mut(WORDS_PER_TASK * blocks),
        );
        let tasks = tasks.into_par_iter().enumerate();
        let alpha_blocks = &self.alpha_blocks;
        self.unseen = match &mut self.rows {
            Rows::Exact(rows) => {
                write_rows(rows, topics, words, alpha, tasks, fill, |exact, _, row, sums| {
                    row.copy_from_slice(exact);
                    sum_blocks(exact, alpha, sums);
                })
            }
            Rows::Relative(rows) => {
                write_rows(rows, blocks, words, alpha, tasks, fill, |exact, scale, row, sums| {
                    round(exact, scale, row.as_flattened_mut());
                    sum_rounded_blocks(row, alpha_blocks, sums);
                })
            }
        };
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

    /// `phi_kw` of word `word` of the minibatch, for all k; not in a view for sampling.
    #[inline]
    pub fn row(&self, word: u32) -> &[f64] {
        match &self.rows {
            Rows::Exact(rows) => &rows[word as usize * self.topics..][..self.topics],
            Rows::Relative(_) => unreachable!("a view for sampling has no exact rows"),
        }
    }

    /// Weight of a word in a topic, relative to the mass of the word under the prior.
    #[inline]
    pub fn relative(&self, word: u32, topic: usize) -> f32 {
        match &self.rows {
            Rows::Exact(_) => (self.row(word)[topic] * self.scale(word)) as f32,
            Rows::Relative(_) => self.blocks_of(word).as_flattened()[topic],
        }
    }

    /// The same for many words, one after another.
    #[inline]
    pub fn relative_column(&self, words: &[u32], topic: usize) -> impl Iterator<Item = f32> {
        let (exact, relative): (&[f64], &[f32]) = match &self.rows {
            Rows::Exact(rows) => (rows, &[]),
            Rows::Relative(rows) => (&[], rows.as_flattened()),
        };
        let padded = self.topics.next_multiple_of(WIDTH);
        words.iter().map(move |&word| {
            let weight = relative.get(word as usize * padded + topic).copied();
            weight.unwrap_or_else(|| (exact[word as usize * self.topics + topic] * self.scale(word)) as f32)
        })
    }

    /// The same for some of the topics.
    #[inline]
    pub fn gather_relative(&self, word: u32, topics: &[u32], out: &mut [f32]) {
        match &self.rows {
            Rows::Exact(_) => {
                out.iter_mut().zip(topics).for_each(|(out, &k)| *out = self.relative(word, k as usize));
            }
            Rows::Relative(_) => {
                let row = self.blocks_of(word).as_flattened();
                out.iter_mut().zip(topics).for_each(|(out, &k)| *out = row[k as usize]);
            }
        }
    }

    /// The relative weights of a word, in a view for sampling.
    #[inline]
    fn blocks_of(&self, word: u32) -> &[Block] {
        match &self.rows {
            Rows::Exact(_) => unreachable!("only a view for sampling has relative rows"),
            Rows::Relative(rows) => {
                let blocks = self.alpha_blocks.len();
                &rows[word as usize * blocks..][..blocks]
            }
        }
    }

    /// `count <- relative weight * (count + gain * alpha) * share`, for all topics, and adds that to the totals.
    pub(crate) fn multiply(&self, word: u32, gain: f64, share: f64, counts: &mut [f64], totals: &mut [f64]) {
        match &self.rows {
            Rows::Exact(_) => {
                let share = share * self.scale(word);
                let rows = self.row(word).iter().zip(&self.alpha);
                for ((count, total), (weight, alpha)) in counts.iter_mut().zip(totals).zip(rows) {
                    *count = weight * (*count + gain * alpha) * share;
                    *total += *count;
                }
            }
            Rows::Relative(_) => {
                multiply(self.blocks_of(word).as_flattened(), &self.alpha, gain, share, counts, totals);
            }
        }
    }

    /// `sum_k alpha_k phi_kw`.
    #[inline]
    pub fn prior_mass(&self, word: u32) -> f64 {
        self.masses[word as usize].prior
    }

    /// What the weights of a word are multiplied by to be relative to its mass under the prior.
    #[inline]
    pub fn scale(&self, word: u32) -> f64 {
        self.masses[word as usize].scale
    }

    /// The topic k at which the running sum of `alpha_k phi_kw` passes `share` of the whole, in `[0, 1)`.
    pub fn find_in_prior(&self, word: u32, share: f64) -> usize {
        vectorised!(V: (view: &TopicView = self, word: u32 = word, share: f64 = share) -> usize {
            match &view.rows {
                Rows::Exact(rows) => {
                    view.find(&view.prior_sums, word, share, |k| view.alpha[k] * rows[word as usize * view.topics + k])
                }
                Rows::Relative(_) => view.find_rounded::<V>(&view.prior_sums, word, share, |block, weights| {
                    weights.mul(V::load(&view.alpha_blocks[block]))
                }),
            }
        })
    }

    /// The same for `phi_kw` alone.
    pub fn find_in_weights(&self, word: u32, share: f64) -> usize {
        vectorised!(V: (view: &TopicView = self, word: u32 = word, share: f64 = share) -> usize {
            match &view.rows {
                Rows::Exact(rows) => {
                    view.find(&view.weight_sums, word, share, |k| rows[word as usize * view.topics + k])
                }
                Rows::Relative(_) => {
                    view.find_rounded::<V>(&view.weight_sums, word, share, |_, weights| weights)
                }
            }
        })
    }

    /// The block of topics at `share` of the whole, how much of the whole comes before it, and `share` of the whole.
    #[inline(always)]
    fn find_block(&self, sums: &[f64], word: u32, share: f64) -> (usize, f64, f64) {
        let blocks = self.alpha_blocks.len();
        let sums = &sums[word as usize * blocks..][..blocks];
        let at = share * sums[blocks - 1];
        // Counting is faster than stopping at the right place, which no processor can foresee.
        let block = sums[..blocks - 1].iter().map(|&sum| u64::from(sum <= at)).sum::<u64>() as usize;
        (block, if block == 0 { 0.0 } else { sums[block - 1] }, at)
    }

    #[inline(always)]
    fn find(&self, sums: &[f64], word: u32, share: f64, weight: impl Fn(usize) -> f64) -> usize {
        let (block, mut sum, at) = self.find_block(sums, word, share);
        let (first, end) = (block * WIDTH, ((block + 1) * WIDTH).min(self.topics));
        for k in first..end {
            sum += weight(k);
            if sum > at {
                return k;
            }
        }
        last_with_mass(end, weight)
    }

    #[inline(always)]
    fn find_rounded<V: Lanes>(
        &self,
        sums: &[f64],
        word: u32,
        share: f64,
        weigh: impl Fn(usize, V) -> V,
    ) -> usize {
        let (block, before, at) = self.find_block(sums, word, share);
        let row = self.blocks_of(word);
        let running = weigh(block, V::load(&row[block])).running_sums();
        let passed = running.at_most(V::splat((at - before) as f32));
        let k = block * WIDTH + (!passed).trailing_zeros() as usize;
        let row = row.as_flattened();
        // The first sum that is not passed, unless rounding has left none, or one that adds nothing.
        if k < row.len() && row[k] > 0.0 { k } else { last_with_mass(self.topics, |k| f64::from(row[k])) }
    }
}

/// The last topic before `end` with any mass, where rounding carried a draw past the end of its block.
#[cold]
fn last_with_mass(end: usize, weight: impl Fn(usize) -> f64) -> usize {
    (0..end).rev().find(|&k| weight(k) > 0.0).unwrap_or(end - 1)
}

/// Running sums of a word, see [`TopicView`].
type Sums<'a> = (&'a mut [f64], &'a mut [f64]);
/// The masses and running sums of the words of a task.
type Task<'a> = (&'a mut [Mass], &'a mut [f64], &'a mut [f64]);

/// Computes the rows of all words, each `stride` long, in tasks of many, and has `store` put each where it belongs, with its sums.
/// Returns how many words no topic has ever seen.
fn write_rows<'a, T: Copy + Default + Send>(
    rows: &mut Vec<T>,
    stride: usize,
    words: usize,
    alpha: &[f64],
    tasks: impl IndexedParallelIterator<Item = (usize, Task<'a>)>,
    fill: impl Fn(usize, &mut [f64]) + Sync,
    store: impl Fn(&[f64], f64, &mut [T], Sums<'_>) + Sync,
) -> u64 {
    let (topics, blocks) = (alpha.len(), alpha.len().div_ceil(WIDTH));
    rows.resize(words * stride, T::default());
    let tasks = rows.par_chunks_mut(WORDS_PER_TASK * stride).zip(tasks);
    let unseen = tasks.map(|(rows, (task, (masses, weight_sums, prior_sums)))| {
        let (mut exact, mut unseen) = (vec![0.0; topics], 0);
        for (i, row) in rows.chunks_exact_mut(stride).enumerate() {
            fill(task * WORDS_PER_TASK + i, &mut exact);
            let (mut weight, mut prior) = weight_and_prior(&exact, alpha);
            if prior <= 0.0 {
                unseen += 1;
                exact.fill(1.0); // it says nothing about topics
                (weight, prior) = weight_and_prior(&exact, alpha);
            }
            let scale = (1.0 / prior).min(LARGEST_RELATIVE / weight);
            masses[i] = Mass { prior, scale };
            let range = i * blocks..(i + 1) * blocks;
            store(&exact, scale, row, (&mut weight_sums[range.clone()], &mut prior_sums[range]));
        }
        unseen
    });
    unseen.sum()
}

/// `sum_k phi_kw` and `sum_k alpha_k phi_kw`.
fn weight_and_prior(row: &[f64], alpha: &[f64]) -> (f64, f64) {
    vectorised!((row: &[f64] = row, alpha: &[f64] = alpha) -> (f64, f64) {
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
        (add_lanes(weights), add_lanes(priors))
    })
}

/// Relative weights in single precision.
fn round(exact: &[f64], scale: f64, out: &mut [f32]) {
    vectorised!((exact: &[f64] = exact, scale: f64 = scale, out: &mut [f32] = out) -> () {
        out.iter_mut().zip(exact).for_each(|(out, exact)| *out = (exact * scale) as f32);
    });
}

/// See [`TopicView::multiply`].
fn multiply(weights: &[f32], alpha: &[f64], gain: f64, share: f64, counts: &mut [f64], totals: &mut [f64]) {
    vectorised!((
        weights: &[f32] = weights,
        alpha: &[f64] = alpha,
        gain: f64 = gain,
        share: f64 = share,
        counts: &mut [f64] = counts,
        totals: &mut [f64] = totals,
    ) -> () {
        let rows = weights.iter().zip(alpha);
        for ((count, total), (&weight, alpha)) in counts.iter_mut().zip(totals).zip(rows) {
            *count = f64::from(weight) * (*count + gain * alpha) * share;
            *total += *count;
        }
    });
}

/// Running sums of a row over its blocks.
fn sum_blocks(row: &[f64], alpha: &[f64], (weight_sums, prior_sums): Sums<'_>) {
    let (mut weight_sum, mut prior_sum) = (0.0, 0.0);
    let blocks = row.chunks(WIDTH).zip(alpha.chunks(WIDTH));
    for ((row, alpha), (weights, priors)) in blocks.zip(weight_sums.iter_mut().zip(prior_sums)) {
        let (weight, prior) = weight_and_prior(row, alpha);
        weight_sum += weight;
        prior_sum += prior;
        *weights = weight_sum;
        *priors = prior_sum;
    }
}

/// The same for weights that were rounded, added up as `find_rounded` adds them.
fn sum_rounded_blocks(row: &[Block], alpha: &[Block], (weight_sums, prior_sums): Sums<'_>) {
    vectorised!(V: (
        row: &[Block] = row,
        alpha: &[Block] = alpha,
        weight_sums: &mut [f64] = weight_sums,
        prior_sums: &mut [f64] = prior_sums,
    ) -> () {
        let (mut weight_sum, mut prior_sum) = (0.0, 0.0);
        for ((row, alpha), (weights, priors)) in row.iter().zip(alpha).zip(weight_sums.iter_mut().zip(prior_sums)) {
            let row = V::load(row);
            weight_sum += f64::from(row.running_sums().end());
            prior_sum += f64::from(row.mul(V::load(alpha)).running_sums().end());
            *weights = weight_sum;
            *priors = prior_sum;
        }
    });
}
