//! Topics as local inference reads them: for the words of one minibatch, word by word.
//!
//! Parameters do not move while a minibatch is sampled, so the mass that a word has under the prior alone,
//! `sum_k alpha_k phi_kw`, is computed once per word; what depends on the document is sparse
//! (algorithms.md 8.1).

use crate::lanes::{Block, Found, Lanes, Sums, WIDTH};
use crate::large_pages;
use crate::math::{LANES, add_lanes};
use crate::model::topics::TwoRows;
use crate::vectorised::{prefetch, vectorised};
use rayon::prelude::*;

/// Blocks per group: a draw from a whole row first finds the group of topics, then the topic.
const GROUP: usize = 4;
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
    /// Per word and group of topics: running sums of the weights in `rows`, and of them times `alpha_k`.
    weight_sums: Vec<f64>,
    prior_sums: Vec<f64>,
    unseen: u64,
    /// Whether the last column stands for all topics that have not been met yet.
    open: bool,
    /// Concentration of the sticks that such topics are broken from.
    stick_concentration: f64,
    /// How many tokens the weights of each column are worth, where they have a distribution.
    strengths: Vec<f64>,
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

    /// Recomputes everything for `words` words. `fill(index, row)` writes the weights of one and returns their sum,
    /// and the sum of their products with alpha, as [`weight_and_prior`] does.
    pub fn refresh(
        &mut self,
        words: usize,
        alpha: &[f64],
        fill: impl Fn(usize, &mut [f64]) -> (f64, f64) + Sync,
    ) {
        let topics = alpha.len();
        let (blocks, groups) = (topics.div_ceil(WIDTH), groups(topics));
        self.topics = topics;
        self.open = false;
        self.alpha.clear();
        self.alpha.extend_from_slice(alpha);
        self.alpha_sum = alpha.iter().sum();
        self.alpha_blocks.clear();
        self.alpha_blocks.resize(blocks, [0.0; WIDTH]);
        let alpha_blocks = &mut self.alpha_blocks;
        alpha_blocks.as_flattened_mut().iter_mut().zip(alpha).for_each(|(out, &alpha)| *out = alpha as f32);
        self.masses.resize(words, Mass::default());
        self.weight_sums.resize(words * groups, 0.0);
        self.prior_sums.resize(words * groups, 0.0);
        let tasks = (
            self.masses.par_chunks_mut(WORDS_PER_TASK),
            self.weight_sums.par_chunks_mut(WORDS_PER_TASK * groups),
            self.prior_sums.par_chunks_mut(WORDS_PER_TASK * groups),
        );
        let tasks = tasks.into_par_iter().enumerate();
        let alpha_blocks = &self.alpha_blocks;
        self.unseen = match &mut self.rows {
            Rows::Exact(rows) => {
                write_rows(rows, topics, words, alpha, tasks, fill, |exact, _, row, sums| {
                    row.copy_from_slice(exact);
                    sum_groups(exact, alpha, sums);
                })
            }
            Rows::Relative(rows) => {
                write_rows(rows, blocks, words, alpha, tasks, fill, |exact, scale, row, sums| {
                    round(exact, scale, alpha_blocks, row, sums);
                })
            }
        };
    }

    /// Declares that the last column stands for all topics that have not been met yet: the next of them has the
    /// fraction Beta(1, `concentration`) of what is left of it. Documents number theirs from [`Self::known_topics`]
    /// on, and to every one belong the weights of that column.
    pub fn open(&mut self, concentration: f64) {
        self.open = true;
        self.stick_concentration = concentration;
    }

    /// Says how many tokens the weights of each column are worth: a document's own tokens count beside them.
    pub fn set_strengths(&mut self, strengths: Vec<f64>) {
        self.strengths = strengths;
    }

    /// How many tokens the weights of a topic are worth.
    #[inline]
    pub fn strength(&self, topic: usize) -> f64 {
        self.strengths[self.column(topic)]
    }

    /// Number of columns: topics, and in an open view one for those not met yet.
    #[inline]
    pub fn topics(&self) -> usize {
        self.topics
    }

    /// Number of topics that have been met.
    #[inline]
    pub fn known_topics(&self) -> usize {
        self.topics - usize::from(self.open)
    }

    /// Concentration of the sticks, if topics can still be met.
    #[inline]
    pub fn stick_concentration(&self) -> Option<f64> {
        self.open.then_some(self.stick_concentration)
    }

    /// The column that holds the weights of a topic.
    #[inline]
    fn column(&self, topic: usize) -> usize {
        topic.min(self.topics - 1)
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
        let topic = self.column(topic);
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
        let topic = self.column(topic);
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
                out.iter_mut().zip(topics).for_each(|(out, &k)| *out = row[self.column(k as usize)]);
            }
        }
    }

    /// The relative weights of a word, in a view for sampling.
    #[inline]
    pub(crate) fn blocks_of(&self, word: u32) -> &[Block] {
        match &self.rows {
            Rows::Exact(_) => unreachable!("only a view for sampling has relative rows"),
            Rows::Relative(rows) => {
                let blocks = self.alpha_blocks.len();
                &rows[word as usize * blocks..][..blocks]
            }
        }
    }

    /// `relative weight * (count + gain * alpha) * share`, for all topics, is added to the totals, and times `weight` to
    /// the row of sums.
    #[expect(clippy::too_many_arguments, reason = "one pass over a row for all of them")]
    pub(crate) fn add_counts(
        &self,
        word: u32,
        counts: &[f64],
        gain: f64,
        share: f64,
        weight: f64,
        sums: TwoRows<'_>,
        totals: &mut [f64],
    ) {
        let alpha = &self.alpha[..counts.len()];
        match &self.rows {
            Rows::Exact(_) => {
                let row: Vec<f32> = (0..self.topics).map(|k| self.relative(word, k)).collect();
                add_counts(&row, alpha, counts, [gain, share, weight], sums, totals);
            }
            Rows::Relative(_) => {
                let row = self.blocks_of(word).as_flattened();
                add_counts(row, alpha, counts, [gain, share, weight], sums, totals);
            }
        }
    }

    /// Asks for the relative weights of a word, which lie far from those of others; only in a view for sampling.
    #[inline]
    pub(crate) fn prefetch_relative(&self, word: u32) {
        self.blocks_of(word).iter().for_each(prefetch);
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
                Rows::Exact(_) => {
                    let row = view.row(word);
                    view.find(&view.prior_sums, word, share, |k| view.alpha[k] * row[k])
                }
                Rows::Relative(_) => view.find_rounded::<V>(&view.prior_sums, word, share, |block, weights| {
                    weights.mul(V::load(&view.alpha_blocks[block]))
                }),
            }
        })
    }

    /// The same for `phi_kw` alone, among the topics that have been met.
    pub fn find_in_weights(&self, word: u32, share: f64) -> usize {
        if !self.open {
            return self.find_in_all_weights(word, share);
        }
        let groups = groups(self.topics);
        let whole = self.weight_sums[word as usize * groups + groups - 1];
        let unmet = f64::from(self.relative(word, self.topics - 1));
        // The column of topics not met yet is the last, so it begins where the share of the others ends.
        self.find_in_all_weights(word, share * (1.0 - unmet / whole)).min(self.known_topics().max(1) - 1)
    }

    fn find_in_all_weights(&self, word: u32, share: f64) -> usize {
        vectorised!(V: (view: &TopicView = self, word: u32 = word, share: f64 = share) -> usize {
            match &view.rows {
                Rows::Exact(_) => {
                    let row = view.row(word);
                    view.find(&view.weight_sums, word, share, |k| row[k])
                }
                Rows::Relative(_) => {
                    view.find_rounded::<V>(&view.weight_sums, word, share, |_, weights| weights)
                }
            }
        })
    }

    /// Asks for what [`Self::find_in_weights`] looks at first, for a word that will be needed soon.
    #[inline]
    pub(crate) fn prefetch_weights(&self, word: u32) {
        let groups = groups(self.topics);
        self.weight_sums[word as usize * groups..][..groups].as_chunks::<LANES>().0.iter().for_each(prefetch);
    }

    /// The group of topics at `share` of the whole, how much of the whole comes before it, and `share` of the whole.
    #[inline(always)]
    fn find_group(&self, sums: &[f64], word: u32, share: f64) -> (usize, f64, f64) {
        let groups = groups(self.topics);
        let sums = &sums[word as usize * groups..][..groups];
        let at = share * sums[groups - 1];
        // Counting is faster than stopping at the right place, which no processor can foresee.
        let group = sums[..groups - 1].iter().map(|&sum| u64::from(sum <= at)).sum::<u64>() as usize;
        (group, if group == 0 { 0.0 } else { sums[group - 1] }, at)
    }

    #[inline(always)]
    fn find(&self, sums: &[f64], word: u32, share: f64, weight: impl Fn(usize) -> f64) -> usize {
        let (group, mut sum, at) = self.find_group(sums, word, share);
        let end = ((group + 1) * GROUP * WIDTH).min(self.topics);
        for k in group * GROUP * WIDTH..end {
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
        let (group, before, at) = self.find_group(sums, word, share);
        let row = self.blocks_of(word);
        let sums = group_sums::<V>(row, group, weigh);
        match sums.find(V::splat((at - before) as f32)) {
            Found::Slot(slot) => group * GROUP * WIDTH + slot as usize,
            _ => last_with_mass(self.topics, |k| f64::from(row.as_flattened()[k])),
        }
    }
}

/// Number of groups of topics.
fn groups(topics: usize) -> usize {
    topics.div_ceil(GROUP * WIDTH)
}

/// Sums of a group of blocks, which may be cut short by the end of the row.
#[inline(always)]
fn group_sums<V: Lanes>(row: &[Block], group: usize, weigh: impl Fn(usize, V) -> V) -> Sums<V, GROUP> {
    Sums::new(|i| match row.get(group * GROUP + i) {
        Some(block) => weigh(group * GROUP + i, V::load(block)),
        None => V::splat(0.0),
    })
}

/// The last topic before `end` with any mass, where rounding carried a draw past the end of its group.
#[cold]
fn last_with_mass(end: usize, weight: impl Fn(usize) -> f64) -> usize {
    (0..end).rev().find(|&k| weight(k) > 0.0).unwrap_or(end - 1)
}

/// Running sums of a word, see [`TopicView`].
type RowSums<'a> = (&'a mut [f64], &'a mut [f64]);
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
    fill: impl Fn(usize, &mut [f64]) -> (f64, f64) + Sync,
    store: impl Fn(&[f64], f64, &mut [T], RowSums<'_>) + Sync,
) -> u64 {
    let (topics, groups) = (alpha.len(), groups(alpha.len()));
    large_pages::resize(rows, words * stride);
    let tasks = rows.par_chunks_mut(WORDS_PER_TASK * stride).zip(tasks);
    let unseen = tasks.map(|(rows, (task, (masses, weight_sums, prior_sums)))| {
        let (mut exact, mut unseen) = (vec![0.0; topics], 0);
        for (i, row) in rows.chunks_exact_mut(stride).enumerate() {
            let (mut weight, mut prior) = fill(task * WORDS_PER_TASK + i, &mut exact);
            if prior <= 0.0 {
                unseen += 1;
                exact.fill(1.0); // it says nothing about topics
                (weight, prior) = weight_and_prior(&exact, alpha);
            }
            let scale = (1.0 / prior).min(LARGEST_RELATIVE / weight);
            masses[i] = Mass { prior, scale };
            let range = i * groups..(i + 1) * groups;
            store(&exact, scale, row, (&mut weight_sums[range.clone()], &mut prior_sums[range]));
        }
        unseen
    });
    unseen.sum()
}

/// `sum_k phi_kw` and `sum_k alpha_k phi_kw` of a word.
pub fn weight_and_prior(row: &[f64], alpha: &[f64]) -> (f64, f64) {
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

/// Relative weights in single precision, with their sums.
fn round(
    exact: &[f64],
    scale: f64,
    alpha: &[Block],
    row: &mut [Block],
    (weight_sums, prior_sums): RowSums<'_>,
) {
    vectorised!(V: (
        exact: &[f64] = exact,
        scale: f64 = scale,
        alpha: &[Block] = alpha,
        row: &mut [Block] = row,
        weight_sums: &mut [f64] = weight_sums,
        prior_sums: &mut [f64] = prior_sums,
    ) -> () {
        let (whole, rest) = exact.as_chunks::<WIDTH>();
        for (block, exact) in row.iter_mut().zip(whole) {
            V::rounded(exact, scale).store(block);
        }
        if !rest.is_empty() {
            let mut padded = [0.0; WIDTH];
            padded[..rest.len()].copy_from_slice(rest);
            V::rounded(&padded, scale).store(&mut row[whole.len()]);
        }
        let (mut weight_sum, mut prior_sum) = (0.0, 0.0);
        for (group, (weights, priors)) in weight_sums.iter_mut().zip(prior_sums).enumerate() {
            weight_sum += f64::from(group_sums::<V>(row, group, |_, weights| weights).total().end());
            let prior = group_sums::<V>(row, group, |i, weights| weights.mul(V::load(&alpha[i])));
            prior_sum += f64::from(prior.total().end());
            *weights = weight_sum;
            *priors = prior_sum;
        }
    });
}

/// See [`TopicView::add_counts`].
fn add_counts(
    weights: &[f32],
    alpha: &[f64],
    counts: &[f64],
    factors: [f64; 3],
    sums: TwoRows<'_>,
    totals: &mut [f64],
) {
    vectorised!((
        weights: &[f32] = weights,
        alpha: &[f64] = alpha,
        counts: &[f64] = counts,
        factors: [f64; 3] = factors,
        sums: TwoRows<'_> = sums,
        totals: &mut [f64] = totals,
    ) -> () {
        let (next, _) = sums.next.as_chunks::<LANES>();
        let (sum_lanes, sum_rest) = sums.this.as_chunks_mut::<LANES>();
        let (total_lanes, total_rest) = totals.as_chunks_mut::<LANES>();
        let (weight_lanes, _) = weights.as_chunks::<LANES>();
        let (alpha_lanes, alpha_rest) = alpha.as_chunks::<LANES>();
        let (count_lanes, count_rest) = counts.as_chunks::<LANES>();
        let rows = weight_lanes.iter().zip(alpha_lanes).zip(count_lanes);
        let lanes = rows.zip(sum_lanes.iter_mut().zip(total_lanes));
        for (i, (((weights, alpha), counts), (sums, totals))) in lanes.enumerate() {
            if let Some(next) = next.get(i) {
                prefetch(next);
            }
            for lane in 0..LANES {
                add_count(weights[lane], alpha[lane], counts[lane], factors, &mut sums[lane], &mut totals[lane]);
            }
        }
        let rows = weights[sum_lanes.len() * LANES..].iter().zip(alpha_rest).zip(count_rest);
        for (((&relative, &alpha), &count), (sum, total)) in rows.zip(sum_rest.iter_mut().zip(total_rest)) {
            add_count(relative, alpha, count, factors, sum, total);
        }
    });
}

#[inline(always)]
fn add_count(relative: f32, alpha: f64, count: f64, factors: [f64; 3], sum: &mut f64, total: &mut f64) {
    let [gain, share, weight] = factors;
    let count = f64::from(relative) * (count + gain * alpha) * share;
    *total += count;
    *sum += weight * count;
}

/// Running sums of an exact row over its groups.
fn sum_groups(row: &[f64], alpha: &[f64], (weight_sums, prior_sums): RowSums<'_>) {
    let (mut weight_sum, mut prior_sum) = (0.0, 0.0);
    let groups = row.chunks(GROUP * WIDTH).zip(alpha.chunks(GROUP * WIDTH));
    for ((row, alpha), (weights, priors)) in groups.zip(weight_sums.iter_mut().zip(prior_sums)) {
        let (weight, prior) = weight_and_prior(row, alpha);
        weight_sum += weight;
        prior_sum += prior;
        *weights = weight_sum;
        *priors = prior_sum;
    }
}
