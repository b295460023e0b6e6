//! The statistics of one document: what some sweeps of its chain say about its topics.

use super::slots::widen;
use crate::corpus::Entry;
use crate::numerics::lanes::{Block, WIDTH};
use crate::model::topics::statistics::rounded_count;
use crate::model::topics::view::TopicView;
use crate::numerics::vectorised::vectorised;

/// Expected counts of a document, summed over the sweeps that were kept.
///
/// A Rao-Blackwellised count of a word has two parts (docs/science.md, "Statistics that merge exactly"). The part of the
/// topics present is sparse and stands here topic by topic. The part of the prior is the same for all documents up to a
/// factor, so only its size is kept; the model divides it among topics.
#[derive(Clone, Debug, Default)]
pub struct DocumentStats {
    /// Number of sweeps.
    pub(super) sweeps: usize,
    /// While sweeps are being kept: whether counts must still be multiplied by the relative weights of their word.
    pub(super) without_weights: bool,
    /// Topic of each slot.
    pub(super) topics: Vec<u32>,
    /// `words x blocks`: expected tokens in the topics present, by slot; in the end whole units.
    pub(super) counts: Vec<Block>,
    pub(super) blocks: usize,
    /// Per word, expected tokens that the prior alone accounts for; while sweeps are being kept, sums of 1 / normaliser.
    pub(super) prior: Vec<f64>,
    /// (topic, tokens in it) for every sweep and topic present.
    pub(super) sizes: Vec<(u32, u32)>,
    /// What the topics that this document was the first to meet have of all that was left.
    pub(super) sticks: Vec<f64>,
    /// Where evidence is asked for, (topic, evidence for it).
    pub(super) evidence: Vec<(u32, f64)>,
}

impl DocumentStats {
    pub(super) fn clear(&mut self) {
        self.sweeps = 0;
        self.topics.clear();
        self.counts.clear();
        self.blocks = 0;
        self.prior.clear();
        self.sizes.clear();
        self.sticks.clear();
        self.evidence.clear();
    }

    /// Number of sweeps.
    pub fn sweeps(&self) -> usize {
        self.sweeps
    }

    /// Topic of each slot.
    pub fn topics(&self) -> &[u32] {
        &self.topics
    }

    /// (topic, expected tokens beside those of the prior) of the word in `row`.
    pub fn counts(&self, row: usize) -> impl Iterator<Item = (u32, f32)> + '_ {
        let counts = self.counts[row * self.blocks..][..self.blocks].as_flattened();
        self.topics.iter().copied().zip(counts.iter().copied())
    }

    /// Expected tokens of the word in `row` that the prior alone accounts for.
    pub fn prior(&self, row: usize) -> f64 {
        self.prior.get(row).copied().unwrap_or(0.0)
    }

    /// Whether all numbers are finite; what the prior has is behind every one of them.
    pub fn is_finite(&self) -> bool {
        self.prior.iter().all(|tokens| tokens.is_finite())
    }

    /// (topic, tokens in it) for every sweep and topic present.
    pub fn sizes(&self) -> &[(u32, u32)] {
        &self.sizes
    }

    /// What the topics that this document was the first to meet have of all that was left; they are numbered from
    /// the first that was not known.
    pub fn sticks(&self) -> &[f64] {
        &self.sticks
    }

    /// Where evidence is asked for, (topic, evidence for it).
    pub fn evidence(&self) -> &[(u32, f64)] {
        &self.evidence
    }

    /// Keeps one more sweep of a document with so many words: the (row, slot) of every token.
    pub(super) fn add_tokens(
        &mut self,
        words: usize,
        topics: &[u32],
        tokens: impl Iterator<Item = (usize, usize)>,
    ) {
        self.sweeps += 1;
        self.without_weights = false;
        self.prior.resize(words, 0.0);
        self.widen(words, topics.len().div_ceil(WIDTH), &mut Vec::new());
        let blocks = self.blocks;
        for (row, slot) in tokens {
            self.counts[row * blocks..].as_flattened_mut()[slot] += 1.0;
        }
    }

    /// Keeps the tokens of each topic in a sweep.
    pub(super) fn add_sizes(&mut self, sizes: impl Iterator<Item = (u32, u32)>) {
        self.sizes.extend(sizes);
    }

    /// Ends with the topics of the slots, and the sticks of those that the document was the first to meet. Counts must
    /// have their weights by now.
    pub(super) fn close(&mut self, topics: &[u32], sticks: &[f64], view: &TopicView, document: &[Entry]) {
        self.topics.extend_from_slice(topics);
        self.sticks.extend_from_slice(sticks);
        if std::mem::take(&mut self.without_weights) {
            self.divide_prior(view, document);
        }
        if view.measures_evidence() {
            self.evidence = view.evidence_of(document, self);
        }
        self.round_counts();
    }

    /// Rounds to whole units, here and only here: sums are exact from now on. A multiple of 2^-20 that is next to a number
    /// of single precision has single precision too.
    fn round_counts(&mut self) {
        vectorised!((counts: &mut [f32] = self.counts.as_flattened_mut()) -> () {
            counts.iter_mut().for_each(|count| *count = rounded_count(f64::from(*count)) as f32);
        });
    }

    /// Turns sums of 1 / normaliser into tokens of the prior. Those of topics that nobody has met go to known topics, as if
    /// they were drawn once more among them, in expectation (science.md 4.2).
    fn divide_prior(&mut self, view: &TopicView, document: &[Entry]) {
        let known = view.known_topics();
        let unmet_alpha = view.alpha().get(known).copied();
        let means = if unmet_alpha.is_some() { self.mean_sizes(known) } else { Vec::new() };
        for (row, entry) in document.iter().enumerate() {
            let (word, sum) = (entry.word, self.prior[row]);
            let all = view.prior_mass(word) * view.scale(word);
            let Some(unmet_alpha) = unmet_alpha else {
                self.prior[row] = sum * all;
                continue;
            };
            let unmet = unmet_alpha * f64::from(view.relative(word, known));
            let prior = (all - unmet).max(0.0);
            let weight = |(mean, &topic): (&f64, &u32)| mean * f64::from(view.relative(word, topic as usize));
            let present: f64 = means.iter().zip(&self.topics).map(weight).sum();
            let again = sum * unmet / (present + prior).max(f64::MIN_POSITIVE);
            self.prior[row] = (sum + again) * prior;
            let counts = self.counts[row * self.blocks..][..self.blocks].as_flattened_mut();
            for (count, slot) in counts.iter_mut().zip(means.iter().zip(&self.topics)) {
                *count += (again * weight(slot)) as f32;
            }
        }
    }

    /// Mean tokens of each slot over the kept sweeps; nothing for topics that are not known.
    pub fn mean_sizes(&self, known: usize) -> Vec<f64> {
        let mut means = vec![0.0; self.topics.len()];
        for &(topic, size) in self.sizes.iter().filter(|&&(topic, _)| (topic as usize) < known) {
            let slot = self.topics.iter().position(|&other| other == topic);
            slot.into_iter().for_each(|slot| means[slot] += f64::from(size) / self.sweeps as f64);
        }
        means
    }

    /// Makes room for as many blocks of slots as there are now.
    pub(super) fn widen(&mut self, words: usize, blocks: usize, spare: &mut Vec<Block>) {
        if self.blocks < blocks {
            widen(&mut self.counts, spare, words, self.blocks, blocks);
            self.blocks = blocks;
        }
    }
}
