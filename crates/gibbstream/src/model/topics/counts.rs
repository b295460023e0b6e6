//! The statistics behind topics: expected counts of every (word, topic) pair, scaled lazily.
//!
//! Each update multiplies all counts by `1 - rho` but adds only to the words of the minibatch. Holding
//! `s = scale * scaled` makes the multiplication a single number, so an update costs `K` times the distinct
//! words of the minibatch, whatever the size of the vocabulary (science.md 8.5).

use crate::numerics::math::{LANES, add_lanes};
use crate::numerics::vectorised::{prefetch, vectorised};
use rayon::prelude::*;

/// Below this scale the numbers are written out, long before they could lose digits.
const SMALLEST_SCALE: f64 = 1e-100;
/// With averaging, sums of factors must not lose their late terms against early ones.
const SMALLEST_SCALE_AVERAGING: f64 = 1e-6;

/// With averaging, new counts of a topic are not larger than this times what the lazy sums hold it to be.
const LARGEST_JUMP: f64 = 1e8;

/// Running mean of the expected counts, word by word.
#[derive(Clone, Debug, PartialEq)]
pub struct TopicStats {
    pub(crate) topics: usize,
    pub(crate) scale: f64,
    /// `words x topics`.
    pub(crate) scaled: Vec<f64>,
    /// Sums of `scaled` over words, one per topic.
    pub(crate) totals: Vec<f64>,
    pub(crate) average: Option<TopicAverage>,
    /// The only words with counts, if they are few: makes the next reset cheap.
    touched: Option<Vec<u32>>,
}

/// Running sum of the probabilities over updates, also held lazily. The probability of a word in a topic is
/// `scaled * factor_k + offset_k`; between two touches of the word `scaled` is constant, so its sum over
/// updates is `materialised + scaled * factors + offsets`.
#[derive(Clone, Debug, PartialEq)]
pub struct TopicAverage {
    pub(crate) updates: u64,
    /// `words x topics`.
    pub(crate) materialised: Vec<f64>,
    /// Sums over updates of the factors, one per topic, since the last time they were written out.
    pub(crate) factors: Vec<f64>,
    /// Sums over all updates of the offsets, one per topic.
    pub(crate) offsets: Vec<f64>,
}

/// The map from scaled counts to probabilities, `scaled * factor + offset` with a pair per topic.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Affine {
    /// Factors, one per topic.
    pub factors: Vec<f64>,
    /// Offsets, one per topic.
    pub offsets: Vec<f64>,
}

impl Affine {
    /// Writes the probabilities that belong to a row of scaled counts; returns their sum, and the sum of their products
    /// with `alpha`. The row `next` will be asked for next.
    pub fn apply_and_sum(&self, scaled: &[f64], next: &[f64], alpha: &[f64], out: &mut [f64]) -> (f64, f64) {
        vectorised!((
            out: &mut [f64] = out,
            scaled: &[f64] = scaled,
            next: &[f64] = next,
            factors: &[f64] = &self.factors,
            offsets: &[f64] = &self.offsets,
            alpha: &[f64] = alpha,
        ) -> (f64, f64) {
            let (mut weights, mut priors) = ([0.0; LANES], [0.0; LANES]);
            let (out_lanes, out_rest) = out.as_chunks_mut::<LANES>();
            let (scaled_lanes, scaled_rest) = scaled.as_chunks::<LANES>();
            let (factor_lanes, factor_rest) = factors.as_chunks::<LANES>();
            let (offset_lanes, offset_rest) = offsets.as_chunks::<LANES>();
            let (alpha_lanes, alpha_rest) = alpha.as_chunks::<LANES>();
            let (next_lanes, _) = next.as_chunks::<LANES>();
            let maps = factor_lanes.iter().zip(offset_lanes).zip(alpha_lanes);
            let rows = out_lanes.iter_mut().zip(scaled_lanes).zip(next_lanes);
            for (((out, scaled), next), ((factor, offset), alpha)) in rows.zip(maps) {
                prefetch(next);
                for lane in 0..LANES {
                    out[lane] = scaled[lane] * factor[lane] + offset[lane];
                    weights[lane] += out[lane];
                    priors[lane] += out[lane] * alpha[lane];
                }
            }
            for (lane, out) in out_rest.iter_mut().enumerate() {
                *out = scaled_rest[lane] * factor_rest[lane] + offset_rest[lane];
                weights[lane] += *out;
                priors[lane] += *out * alpha_rest[lane];
            }
            (add_lanes(weights), add_lanes(priors))
        })
    }

    /// The sum over topics of `alpha_k` times the probability, in the order of [`Self::apply_and_sum`].
    pub(crate) fn prior_mass(&self, scaled: &[f64], alpha: &[f64]) -> f64 {
        vectorised!((
            scaled: &[f64] = scaled,
            factors: &[f64] = &self.factors,
            offsets: &[f64] = &self.offsets,
            alpha: &[f64] = alpha,
        ) -> f64 {
            let mut sums = [0.0; LANES];
            let (scaled_lanes, scaled_rest) = scaled.as_chunks::<LANES>();
            let (factor_lanes, factor_rest) = factors.as_chunks::<LANES>();
            let (offset_lanes, offset_rest) = offsets.as_chunks::<LANES>();
            let (alpha_lanes, alpha_rest) = alpha.as_chunks::<LANES>();
            let maps = factor_lanes.iter().zip(offset_lanes).zip(alpha_lanes);
            for (scaled, ((factor, offset), alpha)) in scaled_lanes.iter().zip(maps) {
                for lane in 0..LANES {
                    sums[lane] += (scaled[lane] * factor[lane] + offset[lane]) * alpha[lane];
                }
            }
            for (lane, scaled) in scaled_rest.iter().enumerate() {
                sums[lane] += (scaled * factor_rest[lane] + offset_rest[lane]) * alpha_rest[lane];
            }
            add_lanes(sums)
        })
    }

    /// Turns a row of scaled counts into probabilities.
    pub fn apply_in_place(&self, row: &mut [f64]) {
        vectorised!((row: &mut [f64] = row, factors: &[f64] = &self.factors, offsets: &[f64] = &self.offsets) -> () {
            for ((value, factor), offset) in row.iter_mut().zip(factors).zip(offsets) {
                *value = *value * factor + offset;
            }
        });
    }

    /// Writes the probabilities that belong to a row of scaled counts.
    pub fn apply(&self, scaled: &[f64], out: &mut [f64]) {
        vectorised!((
            out: &mut [f64] = out,
            scaled: &[f64] = scaled,
            factors: &[f64] = &self.factors,
            offsets: &[f64] = &self.offsets,
        ) -> () {
            for (((out, scaled), factor), offset) in out.iter_mut().zip(scaled).zip(factors).zip(offsets) {
                *out = scaled * factor + offset;
            }
        });
    }
}

/// `s <- scale * old + rho * fresh` of one word.
pub(crate) fn mix(scale: f64, old: &[f64], rho: f64, fresh: &[f64], out: &mut [f64]) {
    vectorised!((
        scale: f64 = scale,
        old: &[f64] = old,
        rho: f64 = rho,
        fresh: &[f64] = fresh,
        out: &mut [f64] = out,
    ) -> () {
        for ((out, old), fresh) in out.iter_mut().zip(old).zip(fresh) {
            *out = scale * old + rho * fresh;
        }
    });
}

impl TopicStats {
    /// Statistics from `words x topics` expected counts.
    pub fn new(topics: usize, counts: Vec<f64>, averaging: bool) -> Self {
        let average = averaging.then(|| TopicAverage {
            updates: 0,
            materialised: vec![0.0; counts.len()],
            factors: vec![0.0; topics],
            offsets: vec![0.0; topics],
        });
        let mut stats =
            Self { topics, scale: 1.0, scaled: counts, totals: vec![0.0; topics], average, touched: None };
        stats.recompute_totals();
        stats
    }

    /// Statistics as they were saved.
    pub(crate) fn from_parts(
        topics: usize,
        scale: f64,
        scaled: Vec<f64>,
        totals: Vec<f64>,
        average: Option<TopicAverage>,
    ) -> Self {
        Self { topics, scale, scaled, totals, average, touched: None }
    }

    /// Number of words.
    pub fn words(&self) -> usize {
        self.scaled.len() / self.topics
    }

    /// Number of topics.
    pub fn topics(&self) -> usize {
        self.topics
    }

    /// `scaled` of one word; divide by [`Self::scaled_totals`] for probabilities.
    pub fn scaled_row(&self, word: u32) -> &[f64] {
        &self.scaled[word as usize * self.topics..][..self.topics]
    }

    /// Sums of the scaled rows.
    pub fn scaled_totals(&self) -> &[f64] {
        &self.totals
    }

    /// The factor between scaled and true statistics.
    pub fn scale(&self) -> f64 {
        self.scale
    }

    /// Expected tokens per document of each topic.
    pub fn topic_tokens(&self) -> Vec<f64> {
        self.totals.iter().map(|total| total * self.scale).collect()
    }

    /// `s <- (1 - rho) s + rho fresh`, where `fresh` has a row for each of `words` and the given column sums.
    pub fn blend(&mut self, rho: f64, words: &[u32], fresh: &[f64], fresh_totals: &[f64]) {
        self.fade(rho, words);
        if rho < 1.0 && self.jumps(rho / self.scale, fresh_totals) {
            self.rebase();
        }
        let weight = rho / self.scale;
        let materialised =
            self.average.as_mut().map(|average| (average.materialised.as_mut_slice(), average.factors.as_slice()));
        add_rows(self.topics, words, 0, weight, fresh, &mut self.scaled, materialised);
        self.add_totals(weight, fresh_totals);
    }

    /// The same for statistics that are not averaged, whose rows come one by one: `add(index, row, totals, space)` adds the
    /// fresh counts of the word at that place of `words` to its row, and to the totals; `space` holds a zero for each
    /// topic, before and after.
    pub fn blend_rows(&mut self, rho: f64, words: &[u32], add: impl AddRow) {
        debug_assert!(self.average.is_none());
        let replace = rho >= 1.0;
        if !replace {
            self.fade(rho, words);
        }
        let weight = if replace { 1.0 } else { rho / self.scale };
        let blending = Blending { topics: self.topics, weight, replace, add: &add };
        let totals = blending.rows(words, 0, 0, &mut self.scaled);
        if replace {
            self.keep_only(words);
        }
        self.add_totals(weight, &totals);
    }

    /// `s <- (1 - rho) s`; only `words` will have counts again if that leaves nothing.
    fn fade(&mut self, rho: f64, words: &[u32]) {
        if rho >= 1.0 {
            self.reset(words);
        } else {
            self.scale *= 1.0 - rho;
            self.touched = None;
        }
    }

    fn add_totals(&mut self, weight: f64, fresh_totals: &[f64]) {
        for (total, fresh) in self.totals.iter_mut().zip(fresh_totals) {
            *total += weight * fresh;
        }
        let smallest = if self.average.is_some() { SMALLEST_SCALE_AVERAGING } else { SMALLEST_SCALE };
        if self.scale < smallest {
            self.rebase();
        }
    }

    /// Whether a topic is about to grow so much that its part of the running mean, which is then a difference of
    /// large numbers, would lose its digits: one that had next to nothing since a step of weight 1.
    fn jumps(&self, weight: f64, fresh_totals: &[f64]) -> bool {
        let large = |(factor, fresh): (&f64, &f64)| weight * fresh * factor > LARGEST_JUMP;
        self.average.as_ref().is_some_and(|average| average.factors.iter().zip(fresh_totals).any(large))
    }

    /// Replaces every row, for a state that does not move by blending: `change(word, row)`.
    pub fn change(&mut self, change: impl Fn(u32, &mut [f64]) + Sync) {
        self.rebase();
        self.scaled
            .par_chunks_exact_mut(self.topics)
            .enumerate()
            .for_each(|(word, row)| change(word as u32, row));
        self.recompute_totals();
        self.touched = None;
    }

    /// Adds words without counts, until there are `words` of them.
    pub fn grow(&mut self, words: usize) {
        self.scaled.resize(words * self.topics, 0.0);
        if let Some(average) = &mut self.average {
            // The offsets of earlier updates went to the words that were there.
            let row: Vec<f64> = average.offsets.iter().map(|offset| -offset).collect();
            while average.materialised.len() < words * self.topics {
                average.materialised.extend(&row);
            }
        }
    }

    /// Takes away all counts of some words.
    pub fn forget(&mut self, words: &[u32]) {
        for &word in words {
            let row = word as usize * self.topics..(word as usize + 1) * self.topics;
            for (total, value) in self.totals.iter_mut().zip(&self.scaled[row.clone()]) {
                *total = (*total - value).max(0.0);
            }
            self.scaled[row.clone()].fill(0.0);
            if let Some(average) = &mut self.average {
                for (materialised, offset) in average.materialised[row].iter_mut().zip(&average.offsets) {
                    *materialised = -offset;
                }
            }
        }
    }

    /// Takes the present probabilities, given by `map`, into the running mean.
    pub fn remember(&mut self, map: &Affine) {
        if let Some(average) = &mut self.average {
            average.updates += 1;
            average.factors.iter_mut().zip(&map.factors).for_each(|(sum, factor)| *sum += factor);
            average.offsets.iter_mut().zip(&map.offsets).for_each(|(sum, offset)| *sum += offset);
        }
    }

    /// Writes the mean over the remembered updates of one word's probabilities; false if there is none yet.
    pub fn mean_probabilities(&self, word: u32, out: &mut [f64]) -> bool {
        let Some(average) = self.average.as_ref().filter(|average| average.updates > 0) else { return false };
        let materialised = &average.materialised[word as usize * self.topics..][..self.topics];
        let scaled = self.scaled_row(word);
        for (k, out) in out.iter_mut().enumerate() {
            let sum = materialised[k] + scaled[k] * average.factors[k] + average.offsets[k];
            *out = sum / average.updates as f64;
        }
        true
    }

    /// All counts become zero; only `words` will have counts after the update that asked for it.
    fn reset(&mut self, words: &[u32]) {
        let previous = self.touched.take();
        let rows: Vec<u32> = match previous {
            Some(words) => words,
            None => (0..self.words() as u32).collect(),
        };
        for word in rows {
            self.materialise(word);
            let row = word as usize * self.topics..(word as usize + 1) * self.topics;
            self.scaled[row].fill(0.0);
        }
        if let Some(average) = &mut self.average {
            average.factors.fill(0.0);
        }
        self.totals.fill(0.0);
        self.scale = 1.0;
        self.touched = Some(words.to_vec());
    }

    /// All counts but those of `words`, which have just been replaced, become zero.
    fn keep_only(&mut self, words: &[u32]) {
        let previous = self.touched.take().unwrap_or_else(|| (0..self.words() as u32).collect());
        let mut kept = words.iter().peekable();
        for word in previous {
            while kept.next_if(|&&other| other < word).is_some() {}
            if kept.peek() != Some(&&word) {
                self.scaled[word as usize * self.topics..][..self.topics].fill(0.0);
            }
        }
        self.totals.fill(0.0);
        self.scale = 1.0;
        self.touched = Some(words.to_vec());
    }

    /// Writes the lazy scale out into the numbers.
    fn rebase(&mut self) {
        for word in 0..self.words() as u32 {
            self.materialise(word);
        }
        if let Some(average) = &mut self.average {
            average.factors.fill(0.0);
        }
        self.scaled.iter_mut().for_each(|value| *value *= self.scale);
        self.scale = 1.0;
        self.recompute_totals();
    }

    /// The same numbers without a scale, and with what is known of the running mean in `materialised` and `offsets`.
    pub(crate) fn written_out(mut self) -> Self {
        self.rebase();
        self
    }

    /// Moves what a word has contributed to the running mean from the lazy form into `materialised`.
    fn materialise(&mut self, word: u32) {
        if let Some(average) = &mut self.average {
            let row = word as usize * self.topics..(word as usize + 1) * self.topics;
            let scaled = &self.scaled[row.clone()];
            for (k, materialised) in average.materialised[row].iter_mut().enumerate() {
                *materialised += scaled[k] * average.factors[k];
            }
        }
    }

    /// Sums again from the entries, which removes the drift of many additions.
    fn recompute_totals(&mut self) {
        self.totals.fill(0.0);
        for row in self.scaled.chunks_exact(self.topics) {
            for (total, value) in self.totals.iter_mut().zip(row) {
                *total += value;
            }
        }
    }
}

/// Rows handed to one thread at a time.
const ROWS_PER_TASK: usize = 128;

/// Adds `weight * fresh` to the rows of `words` (ascending). `scaled` and `materialised` begin at row `base`.
/// Splitting the work changes no bit: every row is touched by one addition.
fn add_rows(
    topics: usize,
    words: &[u32],
    base: usize,
    weight: f64,
    fresh: &[f64],
    scaled: &mut [f64],
    materialised: Option<(&mut [f64], &[f64])>,
) {
    if words.len() > ROWS_PER_TASK {
        let half = words.len() / 2;
        let (left, right) = words.split_at(half);
        let middle = right[0] as usize;
        let (fresh_left, fresh_right) = fresh.split_at(half * topics);
        let (scaled_left, scaled_right) = scaled.split_at_mut((middle - base) * topics);
        let (materialised_left, materialised_right) = match materialised {
            None => (None, None),
            Some((materialised, factors)) => {
                let (a, b) = materialised.split_at_mut((middle - base) * topics);
                (Some((a, factors)), Some((b, factors)))
            }
        };
        rayon::join(
            || add_rows(topics, left, base, weight, fresh_left, scaled_left, materialised_left),
            || add_rows(topics, right, middle, weight, fresh_right, scaled_right, materialised_right),
        );
        return;
    }
    let mut materialised = materialised;
    for (&word, fresh) in words.iter().zip(fresh.chunks_exact(topics)) {
        let start = (word as usize - base) * topics;
        if let Some((materialised, factors)) = &mut materialised {
            for ((materialised, fresh), factor) in materialised[start..][..topics].iter_mut().zip(fresh).zip(*factors) {
                // What is added now was not there in the updates remembered so far.
                *materialised -= weight * fresh * factor;
            }
        }
        add_row(&mut scaled[start..][..topics], weight, fresh);
    }
}

/// The counts of a word, as [`TopicStats::blend_rows`] hands them out: with `weight` times fresh counts added, or, if they
/// `replace` what was there, set to it.
pub struct RowToBlend<'a> {
    pub(crate) counts: &'a mut [f64],
    /// The row that will be asked for next.
    pub(crate) next: &'a [f64],
    pub(crate) weight: f64,
    pub(crate) replace: bool,
}

/// What adds one fresh row, see [`TopicStats::blend_rows`].
pub trait AddRow: Fn(usize, RowToBlend<'_>, &mut [f64], &mut [f64]) + Sync {}
impl<F: Fn(usize, RowToBlend<'_>, &mut [f64], &mut [f64]) + Sync> AddRow for F {}

/// How rows are blended.
struct Blending<'a, F> {
    topics: usize,
    weight: f64,
    replace: bool,
    add: &'a F,
}

impl<F: AddRow> Blending<'_, F> {
    /// Blends the rows of `words`, from place `first` of all words on; `scaled` begins at row `base`. Returns the column
    /// sums of the fresh rows, added up in an order that depends on the number of words alone.
    fn rows(&self, words: &[u32], first: usize, base: usize, scaled: &mut [f64]) -> Vec<f64> {
        if words.len() > ROWS_PER_TASK {
            let half = words.len() / 2;
            let (left, right) = words.split_at(half);
            let middle = right[0] as usize;
            let (scaled_left, scaled_right) = scaled.split_at_mut((middle - base) * self.topics);
            let (mut totals, others) = rayon::join(
                || self.rows(left, first, base, scaled_left),
                || self.rows(right, first + half, middle, scaled_right),
            );
            totals.iter_mut().zip(others).for_each(|(total, other)| *total += other);
            return totals;
        }
        let (mut space, mut totals) = (vec![0.0; self.topics], vec![0.0; self.topics]);
        let place = |word: u32| (word as usize - base) * self.topics;
        for (i, &word) in words.iter().enumerate() {
            let (before, after) = scaled.split_at_mut(place(word) + self.topics);
            let counts = &mut before[place(word)..];
            let next = words
                .get(i + 1)
                .map_or(&[][..], |&next| &after[place(next) - place(word) - self.topics..][..self.topics]);
            let row = RowToBlend { counts, next, weight: self.weight, replace: self.replace };
            (self.add)(first + i, row, &mut totals, &mut space);
        }
        totals
    }
}

/// Numbers in proportion to probabilities: `scaled * factor + offset` with a pair per topic.
pub(crate) struct Spread {
    pub(crate) factors: Vec<f64>,
    pub(crate) offsets: Vec<f64>,
}

impl Spread {
    /// Adds `ratio` times the numbers of a row to the row and to the totals, and then a share of some counts, which become
    /// zero.
    pub(crate) fn add(
        &self,
        ratio: f64,
        row: &mut RowToBlend<'_>,
        totals: &mut [f64],
        (share, others): (f64, &mut [f64]),
    ) {
        let keep = if row.replace { 0.0 } else { 1.0 };
        vectorised!((
            factors: [f64; 4] = [ratio, share, row.weight, keep],
            counts: &mut [f64] = row.counts,
            next: &[f64] = row.next,
            spread: &Spread = self,
            totals: &mut [f64] = totals,
            others: &mut [f64] = others,
        ) -> () {
            let (next, _) = next.as_chunks::<LANES>();
            let (count_lanes, count_rest) = counts.as_chunks_mut::<LANES>();
            let (total_lanes, total_rest) = totals.as_chunks_mut::<LANES>();
            let (other_lanes, other_rest) = others.as_chunks_mut::<LANES>();
            let (factor_lanes, factor_rest) = spread.factors.as_chunks::<LANES>();
            let (offset_lanes, offset_rest) = spread.offsets.as_chunks::<LANES>();
            let sums = count_lanes.iter_mut().zip(total_lanes).zip(other_lanes);
            let lanes = sums.zip(factor_lanes.iter().zip(offset_lanes));
            for (i, (((counts, totals), others), (scales, offsets))) in lanes.enumerate() {
                if let Some(next) = next.get(i) {
                    prefetch(next);
                }
                for lane in 0..LANES {
                    let sums = (&mut counts[lane], &mut totals[lane], &mut others[lane]);
                    add_fresh(factors, (scales[lane], offsets[lane]), sums);
                }
            }
            let sums = count_rest.iter_mut().zip(total_rest).zip(other_rest);
            for (((count, total), other), map) in sums.zip(factor_rest.iter().zip(offset_rest)) {
                add_fresh(factors, (*map.0, *map.1), (count, total, other));
            }
        });
    }
}

/// One number of [`Spread::add`].
#[inline(always)]
fn add_fresh(
    [ratio, share, weight, keep]: [f64; 4],
    (factor, offset): (f64, f64),
    (count, total, other): (&mut f64, &mut f64, &mut f64),
) {
    let (prior, other) = (ratio * (*count * factor + offset), std::mem::take(other) * share);
    *total = (*total + prior) + other;
    *count = (keep * *count + weight * prior) + weight * other;
}

fn add_row(scaled: &mut [f64], weight: f64, fresh: &[f64]) {
    vectorised!((scaled: &mut [f64] = scaled, weight: f64 = weight, fresh: &[f64] = fresh) -> () {
        for (scaled, fresh) in scaled.iter_mut().zip(fresh) {
            *scaled += weight * fresh;
        }
    });
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::numerics::random::{Purpose, Seed, Stream};

    const TOPICS: usize = 3;
    const WORDS: usize = 7;

    /// The obvious twin: every number is written out at every step.
    struct Eager {
        s: Vec<f64>,
        sum_of_shares: Vec<f64>,
        updates: f64,
    }

    impl Eager {
        fn blend(&mut self, rho: f64, words: &[u32], fresh: &[f64]) {
            self.s.iter_mut().for_each(|value| *value *= 1.0 - rho);
            for (i, &word) in words.iter().enumerate() {
                for k in 0..TOPICS {
                    self.s[word as usize * TOPICS + k] += rho * fresh[i * TOPICS + k];
                }
            }
        }

        fn total(&self, k: usize) -> f64 {
            (0..WORDS).map(|w| self.s[w * TOPICS + k]).sum()
        }

        fn remember(&mut self) {
            self.updates += 1.0;
            for w in 0..WORDS {
                for k in 0..TOPICS {
                    let total = self.total(k);
                    self.sum_of_shares[w * TOPICS + k] += if total > 0.0 {
                        0.9 * self.s[w * TOPICS + k] / total + 0.1 / 7.0
                    } else {
                        1.0 / 7.0
                    };
                }
            }
        }
    }

    fn random_fresh(random: &mut Stream) -> (Vec<u32>, Vec<f64>, Vec<f64>) {
        let words: Vec<u32> = (0..WORDS as u32).filter(|_| random.uniform() < 0.4).collect();
        let fresh: Vec<f64> = (0..words.len() * TOPICS).map(|_| random.uniform()).collect();
        let totals = (0..TOPICS).map(|k| fresh.iter().skip(k).step_by(TOPICS).sum()).collect();
        (words, fresh, totals)
    }

    /// 3000 updates with rebases and resets: lazy and eager agree, with and without averaging.
    fn compare(averaging: bool, rho: impl Fn(usize) -> f64) {
        let mut random = Seed(5).stream(Purpose::Initial, [0, 0]);
        let start: Vec<f64> = (0..WORDS * TOPICS).map(|_| random.uniform()).collect();
        let mut lazy = TopicStats::new(TOPICS, start.clone(), averaging);
        let mut eager = Eager { s: start, sum_of_shares: vec![0.0; WORDS * TOPICS], updates: 0.0 };
        for step in 1..=3000 {
            let (words, fresh, totals) = random_fresh(&mut random);
            lazy.blend(rho(step), &words, &fresh, &totals);
            eager.blend(rho(step), &words, &fresh);
            if step >= 10 {
                let smooth =
                    |total: f64| if total > 0.0 { (0.9 / total, 0.1 / 7.0) } else { (0.0, 1.0 / 7.0) };
                let (factors, offsets) = lazy.scaled_totals().iter().map(|&total| smooth(total)).unzip();
                lazy.remember(&Affine { factors, offsets });
                eager.remember();
            }
        }
        let mut shares = [0.0; TOPICS];
        for w in 0..WORDS {
            assert_eq!(lazy.mean_probabilities(w as u32, &mut shares), averaging);
            for k in 0..TOPICS {
                let expected = eager.s[w * TOPICS + k];
                let found = lazy.scaled_row(w as u32)[k] * lazy.scale();
                assert!((found - expected).abs() <= 1e-10 * expected.abs(), "{found} is not {expected}");
                if averaging {
                    let expected = eager.sum_of_shares[w * TOPICS + k] / eager.updates;
                    assert!(
                        (shares[k] - expected).abs() <= 1e-10 * expected,
                        "{} is not {expected}",
                        shares[k]
                    );
                }
            }
        }
        for (k, tokens) in lazy.topic_tokens().into_iter().enumerate() {
            assert!((tokens - eager.total(k)).abs() <= 1e-10 * tokens);
        }
    }

    #[test]
    fn lazy_equals_eager() {
        for averaging in [false, true] {
            compare(averaging, |step| 1.0 / (step as f64).sqrt());
            compare(averaging, |_| 0.3);
            compare(averaging, |step| 1.0 / step as f64);
            compare(averaging, |_| 1.0);
            compare(averaging, |step| if step % 7 == 0 { 1.0 } else { 0.01 });
        }
    }

    #[test]
    fn blending_with_weight_one_replaces() {
        let mut random = Seed(6).stream(Purpose::Initial, [0, 0]);
        let mut stats = TopicStats::new(TOPICS, vec![1.0; WORDS * TOPICS], false);
        for _ in 0..3 {
            let (words, fresh, totals) = random_fresh(&mut random);
            stats.blend(1.0, &words, &fresh, &totals);
            let mut expected = vec![0.0; WORDS * TOPICS];
            for (i, &word) in words.iter().enumerate() {
                expected[word as usize * TOPICS..][..TOPICS].copy_from_slice(&fresh[i * TOPICS..][..TOPICS]);
            }
            assert_eq!(stats.scaled, expected);
            assert_eq!(stats.totals, totals);
        }
    }

    /// More words than one task holds: splitting over threads changes nothing.
    #[test]
    fn splitting_rows_changes_no_bit() {
        let words: Vec<u32> = (0..1000).map(|w| 2 * w + 1).collect();
        let fresh: Vec<f64> = (0..1000 * TOPICS).map(|i| 1.0 / (1.0 + i as f64)).collect();
        let totals = vec![1.0; TOPICS];
        let mut stats = TopicStats::new(TOPICS, vec![0.1; 2002 * TOPICS], true);
        let mut expected = stats.scaled.clone();
        stats.blend(0.5, &words, &fresh, &totals);
        for (i, &word) in words.iter().enumerate() {
            for k in 0..TOPICS {
                expected[word as usize * TOPICS + k] += 0.5 / 0.5 * fresh[i * TOPICS + k];
            }
        }
        assert_eq!(stats.scaled, expected);
    }
}
