//! Topics as local inference reads them: for the words of one minibatch, word by word.
//!
//! Parameters do not move while a minibatch is sampled, so the mass that a word has under the prior alone,
//! `sum_k alpha_k phi_kw`, is computed once per word; what depends on the document is sparse
//! (science.md 8.1).

use crate::corpus::{Entry, Minibatch};
use crate::error::Result;
use crate::inference::document_stats::DocumentStats;
use crate::numerics::lanes::{Block, Found, Lanes, Sums, WIDTH};
use crate::numerics::large_pages;
use crate::numerics::math::{LANES, add_lanes};
use crate::model::topics::hdp::evidence;
use crate::learn::schedule::Step;
use crate::numerics::vectorised::{prefetch, vectorised};
use rayon::prelude::*;
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use std::borrow::Cow;

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
    /// The words that it has rows for, ascending.
    words: Vec<u32>,
    /// The step after which the parameters were what they are here.
    at: Step,
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
    /// The weight of each topic when evidence for it is measured; nothing where it is not.
    trial_alpha: Vec<f64>,
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

    /// Recomputes everything for these words, which are ascending. `fill(index, row)` writes the weights of one and
    /// returns their sum, and the sum of their products with alpha, as [`weight_and_prior`] does.
    pub fn refresh(
        &mut self,
        words: &[u32],
        alpha: &[f64],
        fill: impl Fn(usize, &mut [f64]) -> (f64, f64) + Sync,
    ) {
        let topics = alpha.len();
        self.words.clear();
        self.words.extend_from_slice(words);
        self.at = Step::default();
        let words = words.len();
        let (blocks, groups) = (topics.div_ceil(WIDTH), groups(topics));
        self.open = false;
        self.trial_alpha.clear();
        self.set_alpha(alpha);
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

    fn set_alpha(&mut self, alpha: &[f64]) {
        self.topics = alpha.len();
        self.alpha.clear();
        self.alpha.extend_from_slice(alpha);
        self.alpha_sum = alpha.iter().sum();
        self.alpha_blocks.clear();
        self.alpha_blocks.resize(alpha.len().div_ceil(WIDTH), [0.0; WIDTH]);
        let blocks = &mut self.alpha_blocks;
        blocks.as_flattened_mut().iter_mut().zip(alpha).for_each(|(out, &alpha)| *out = alpha as f32);
    }

    /// Declares that the last column stands for all topics that have not been met yet: the next of them has the
    /// fraction Beta(1, `concentration`) of what is left of it. Documents number theirs from [`Self::known_topics`]
    /// on, and to every one belong the weights of that column.
    pub fn open(&mut self, concentration: f64) {
        self.open = true;
        self.stick_concentration = concentration;
    }

    /// Asks for evidence for each known topic, and gives the weight that it has when that is measured.
    pub fn measure_evidence(&mut self, trial_alpha: Vec<f64>) {
        self.trial_alpha = trial_alpha;
    }

    /// Whether evidence for topics is asked for.
    pub fn measures_evidence(&self) -> bool {
        !self.trial_alpha.is_empty()
    }

    /// (topic, evidence for it) for every known topic that a document uses.
    pub(crate) fn evidence_of(&self, document: &[Entry], stats: &DocumentStats) -> Vec<(u32, f64)> {
        evidence::of_document(self, document, stats, |topic| self.trial_alpha[topic])
    }

    /// A block of documents with words numbered as here.
    pub(crate) fn align<'a>(&self, block: &'a Minibatch) -> Result<Cow<'a, Minibatch>> {
        if block.words() == self.words {
            return Ok(Cow::Borrowed(block));
        }
        block.renumbered(&self.words).map(Cow::Owned)
    }

    /// Says after which step the parameters were what they are here.
    pub fn set_clock(&mut self, at: Step) {
        self.at = at;
    }

    /// The step after which the parameters were what they are here.
    pub fn clock(&self) -> Step {
        self.at
    }

    /// The words that it has rows for, ascending.
    pub fn words(&self) -> &[u32] {
        &self.words
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

    /// Writes `sum_k alpha_k phi_kw` of all words, or nothing if it stands for more or less than that: where some are
    /// topics that nobody has met, or words that no topic has seen.
    pub(crate) fn masses_of_met_words(&self, out: &mut Vec<f64>) {
        out.clear();
        if !self.open && !self.measures_evidence() && self.unseen == 0 {
            out.extend(self.masses.iter().map(|mass| mass.prior));
        }
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
        sum_rounded_groups::<V>(row, alpha, weight_sums, prior_sums);
    });
}

/// Running sums of a rounded row over its groups.
#[inline(always)]
fn sum_rounded_groups<V: Lanes>(
    row: &[Block],
    alpha: &[Block],
    weight_sums: &mut [f64],
    prior_sums: &mut [f64],
) {
    let (mut weight_sum, mut prior_sum) = (0.0, 0.0);
    for (group, (weights, priors)) in weight_sums.iter_mut().zip(prior_sums).enumerate() {
        weight_sum += f64::from(group_sums::<V>(row, group, |_, weights| weights).total().end());
        let prior = group_sums::<V>(row, group, |i, weights| weights.mul(V::load(&alpha[i])));
        prior_sum += f64::from(prior.total().end());
        *weights = weight_sum;
        *priors = prior_sum;
    }
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

/// What is written of a view; sums follow from it.
#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct StoredView<'a> {
    at: Step,
    words: Cow<'a, [u32]>,
    alpha: Cow<'a, [f64]>,
    /// Prior mass and scale of each word.
    masses: Cow<'a, [[f64; 2]]>,
    /// Whether rows are relative and in single precision.
    relative: bool,
    /// Rows, word after word.
    #[serde(with = "raw_bytes")]
    rows: Cow<'a, [u8]>,
    open: Option<f64>,
    trial_alpha: Cow<'a, [f64]>,
    strengths: Cow<'a, [f64]>,
}

/// Large arrays as plain bytes.
mod raw_bytes {
    use serde::de::{SeqAccess, Visitor};
    use serde::{Deserializer, Serializer};
    use std::borrow::Cow;

    pub fn serialize<S: Serializer>(bytes: &[u8], serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_bytes(bytes)
    }

    pub fn deserialize<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Cow<'static, [u8]>, D::Error> {
        struct Bytes;
        impl<'de> Visitor<'de> for Bytes {
            type Value = Vec<u8>;
            fn expecting(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                f.write_str("bytes")
            }
            fn visit_bytes<E>(self, bytes: &[u8]) -> Result<Vec<u8>, E> {
                Ok(bytes.to_vec())
            }
            fn visit_seq<A: SeqAccess<'de>>(self, mut list: A) -> Result<Vec<u8>, A::Error> {
                let mut bytes = Vec::new();
                while let Some(byte) = list.next_element()? {
                    bytes.push(byte);
                }
                Ok(bytes)
            }
        }
        deserializer.deserialize_bytes(Bytes).map(Cow::Owned)
    }
}

impl Serialize for TopicView {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let (relative, rows) = match &self.rows {
            Rows::Exact(rows) => (false, Cow::Borrowed(bytemuck::cast_slice(rows))),
            Rows::Relative(rows) => (true, Cow::Borrowed(bytemuck::cast_slice(rows.as_flattened()))),
        };
        StoredView {
            at: self.at,
            words: Cow::Borrowed(&self.words),
            alpha: Cow::Borrowed(&self.alpha),
            masses: self.masses.iter().map(|mass| [mass.prior, mass.scale]).collect(),
            relative,
            rows,
            open: self.stick_concentration(),
            trial_alpha: Cow::Borrowed(&self.trial_alpha),
            strengths: Cow::Borrowed(&self.strengths),
        }
        .serialize(serializer)
    }
}

impl<'de> Deserialize<'de> for TopicView {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let written = StoredView::deserialize(deserializer)?;
        written.read().map_err(|problem| serde::de::Error::custom(format!("{problem} cannot be right")))
    }
}

impl StoredView<'_> {
    fn read(self) -> Result<TopicView, &'static str> {
        let positive = |values: &[f64]| values.iter().all(|value| *value > 0.0 && value.is_finite());
        let topics = self.alpha.len();
        let known = topics - usize::from(self.open.is_some() && topics > 0);
        if topics == 0 || !positive(&self.alpha) || self.alpha.iter().any(|&alpha| alpha > LARGEST_RELATIVE) {
            return Err("alpha");
        }
        if !self.at.is_sound() {
            return Err("the number of documents");
        }
        if !self.words.windows(2).all(|pair| pair[0] < pair[1]) {
            return Err("the list of words");
        }
        if self.masses.len() != self.words.len() || !positive(self.masses.as_flattened()) {
            return Err("the masses of words");
        }
        if self.open.is_some_and(|concentration| !positive(&[concentration]))
            || !(self.trial_alpha.is_empty() || self.trial_alpha.len() == known)
            || !positive(&self.trial_alpha)
            || !(self.strengths.is_empty() || self.strengths.len() >= topics)
            || !positive(&self.strengths)
        {
            return Err("the weights of topics");
        }
        let mut view = TopicView { at: self.at, words: self.words.to_vec(), ..TopicView::default() };
        view.set_alpha(&self.alpha);
        view.masses = self.masses.iter().map(|&[prior, scale]| Mass { prior, scale }).collect();
        view.rows = self.read_rows().ok_or("the weights of words")?;
        view.sum_again();
        view.open = self.open.is_some();
        view.stick_concentration = self.open.unwrap_or(0.0);
        (view.trial_alpha, view.strengths) = (self.trial_alpha.to_vec(), self.strengths.to_vec());
        Ok(view)
    }

    fn read_rows(&self) -> Option<Rows> {
        let (words, topics) = (self.words.len(), self.alpha.len());
        if self.relative {
            let blocks = words.checked_mul(topics.div_ceil(WIDTH))?;
            let (len, mut rows) = (checked_len(&self.rows, blocks, size_of::<Block>())?, Vec::<Block>::new());
            large_pages::resize(&mut rows, len);
            bytemuck::cast_slice_mut(rows.as_flattened_mut()).copy_from_slice(&self.rows);
            // Rounded to the next number of single precision.
            let sound = |value: &f32| (0.0..=1.000_001 * LARGEST_RELATIVE as f32).contains(value);
            let padded = topics.next_multiple_of(WIDTH);
            let mut ends = rows.as_flattened().chunks_exact(padded).flat_map(|row| &row[topics..]);
            let sound = rows.as_flattened().iter().all(sound) && ends.all(|end| *end == 0.0);
            sound.then_some(Rows::Relative(rows))
        } else {
            let numbers = words.checked_mul(topics)?;
            let mut rows = vec![0.0_f64; checked_len(&self.rows, numbers, size_of::<f64>())?];
            bytemuck::cast_slice_mut(&mut rows).copy_from_slice(&self.rows);
            rows.iter().all(|value| *value >= 0.0 && value.is_finite()).then_some(Rows::Exact(rows))
        }
    }
}

/// `items`, if the bytes hold so many.
fn checked_len(bytes: &[u8], items: usize, size: usize) -> Option<usize> {
    (items.checked_mul(size)? == bytes.len()).then_some(items)
}

impl TopicView {
    /// Computes the sums that follow from the rows.
    fn sum_again(&mut self) {
        let groups = groups(self.topics);
        self.weight_sums = vec![0.0; self.words.len() * groups];
        self.prior_sums = vec![0.0; self.words.len() * groups];
        let sums = self.weight_sums.chunks_exact_mut(groups).zip(self.prior_sums.chunks_exact_mut(groups));
        match &self.rows {
            Rows::Exact(rows) => rows
                .chunks_exact(self.topics)
                .zip(sums)
                .for_each(|(row, sums)| sum_groups(row, &self.alpha, sums)),
            Rows::Relative(rows) => {
                for (row, (weights, priors)) in rows.chunks_exact(self.alpha_blocks.len()).zip(sums) {
                    vectorised!(V: (
                        row: &[Block] = row,
                        alpha: &[Block] = &self.alpha_blocks,
                        weights: &mut [f64] = weights,
                        priors: &mut [f64] = priors,
                    ) -> () {
                        sum_rounded_groups::<V>(row, alpha, weights, priors);
                    });
                }
            }
        }
    }
}
