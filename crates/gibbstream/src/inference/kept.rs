//! What is kept of a document: the statistics of some sweeps of its chain.

use super::slots::widen;
use crate::corpus::Entry;
use crate::lanes::{Block, WIDTH};
use crate::model::view::TopicView;

/// Statistics kept of some sweeps.
#[derive(Clone, Debug, Default)]
pub struct Kept {
    /// Number of sweeps.
    pub(super) sweeps: usize,
    /// Whether shares and gains must still be multiplied by the relative weights of the word.
    pub(super) without_weights: bool,
    /// Topic of each slot.
    pub(super) topics: Vec<u32>,
    /// `words x blocks`: the sparse part of the expected counts, by slot.
    pub(super) shares: Vec<Block>,
    pub(super) blocks: usize,
    /// Per word, the sum of 1 / normaliser over its tokens; times `alpha_k` it is the dense part.
    pub(super) gains: Vec<f64>,
    /// (topic, tokens in it) for every sweep and topic present.
    pub(super) sizes: Vec<(u32, u32)>,
    /// What the topics that this document was the first to meet have of all that was left.
    pub(super) sticks: Vec<f64>,
}

impl Kept {
    pub(super) fn clear(&mut self) {
        self.sweeps = 0;
        self.topics.clear();
        self.shares.clear();
        self.blocks = 0;
        self.gains.clear();
        self.sizes.clear();
        self.sticks.clear();
    }

    /// Number of sweeps.
    pub fn sweeps(&self) -> usize {
        self.sweeps
    }

    /// Whether [`Self::shares`] and [`Self::gain`] must still be multiplied by the relative weights of the word.
    pub fn without_weights(&self) -> bool {
        self.without_weights
    }

    /// Topic of each slot.
    pub fn topics(&self) -> &[u32] {
        &self.topics
    }

    /// (topic, sum of its part of the expected counts) of the word in `row`.
    pub fn shares(&self, row: usize) -> impl Iterator<Item = (u32, f32)> + '_ {
        let shares = self.shares[row * self.blocks..][..self.blocks].as_flattened();
        self.topics.iter().copied().zip(shares.iter().copied())
    }

    /// The number that, times `alpha_k`, adds to the share of every topic.
    pub fn gain(&self, row: usize) -> f64 {
        self.gains.get(row).copied().unwrap_or(0.0)
    }

    /// Whether all numbers are finite; gains are behind every one of them.
    pub fn is_finite(&self) -> bool {
        self.gains.iter().all(|gain| gain.is_finite())
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
}

impl Kept {
    /// Gives the topics that this document was the first to meet their places: the topic `known + places[i]`, or none.
    /// The tokens of those without a place, and the little mass of those that nobody has met, go to known topics as if
    /// they were drawn once more among them (algorithms.md 4.2), in expectation.
    pub fn settle(&mut self, view: &TopicView, document: &[Entry], places: &[Option<usize>]) {
        let known = view.known_topics();
        let Some(unmet_alpha) = view.alpha().get(known).copied() else { return };
        let own = |topic: u32| (topic as usize).checked_sub(known);
        let place_of = |topic: u32| own(topic).map(|own| places.get(own).copied().flatten());
        let means = self.mean_sizes(known);
        let mut orphans = Vec::new();
        for (row, entry) in document.iter().enumerate() {
            let unmet = f64::from(view.relative(entry.word, known));
            let gain = self.gain(row);
            let shares = self.shares[row * self.blocks..][..self.blocks].as_flattened_mut();
            let weight = |topic: u32| {
                if self.without_weights { f64::from(view.relative(entry.word, topic as usize)) } else { 1.0 }
            };
            let mut lost = if self.without_weights { unmet * unmet_alpha * gain } else { 0.0 };
            for (share, &topic) in shares.iter_mut().zip(&self.topics) {
                match place_of(topic) {
                    Some(None) => {
                        lost += f64::from(*share) * weight(topic);
                        *share = 0.0;
                    }
                    Some(Some(_)) if self.without_weights => {
                        let dense = gain * unmet_alpha * self.sticks[topic as usize - known];
                        lost -= unmet * dense;
                        *share += dense as f32;
                    }
                    _ => {}
                }
            }
            if lost <= 0.0 {
                continue;
            }
            let present = means
                .iter()
                .zip(&self.topics)
                .map(|(mean, &topic)| mean * f64::from(view.relative(entry.word, topic as usize)));
            let present: f64 = present.sum();
            if self.without_weights {
                let prior = view.prior_mass(entry.word) * view.scale(entry.word) - unmet_alpha * unmet;
                let again = lost / (present + prior.max(0.0)).max(f64::MIN_POSITIVE);
                self.gains[row] += again;
                shares.iter_mut().zip(&means).for_each(|(share, mean)| *share += (again * mean) as f32);
            } else if present == 0.0 {
                // Nothing else of the document is left: as if it were new.
                let topic = view.find_in_weights(entry.word, 0.5) as u32;
                orphans.push((row, topic, lost as f32));
            } else {
                for ((share, mean), &topic) in shares.iter_mut().zip(&means).zip(&self.topics) {
                    *share +=
                        (lost * mean * f64::from(view.relative(entry.word, topic as usize)) / present) as f32;
                }
            }
        }
        for (row, topic, lost) in orphans {
            self.add_share(document.len(), row, topic, lost);
        }
        for topic in &mut self.topics {
            *topic = place_of(*topic).map_or(*topic, |place| place.map_or(0, |place| (known + place) as u32));
        }
        self.sizes.retain_mut(|(topic, _)| match place_of(*topic) {
            None => true,
            Some(None) => false,
            Some(Some(place)) => {
                *topic = (known + place) as u32;
                true
            }
        });
    }

    fn add_share(&mut self, words: usize, row: usize, topic: u32, share: f32) {
        let slot = self.topics.iter().position(|&other| other == topic).unwrap_or_else(|| {
            self.topics.push(topic);
            self.topics.len() - 1
        });
        self.widen(words, self.topics.len().div_ceil(WIDTH), &mut Vec::new());
        self.shares[row * self.blocks..].as_flattened_mut()[slot] += share;
    }

    /// Keeps one more sweep of a document with so many words: the (row, slot) of every token.
    pub(super) fn add_counts(
        &mut self,
        words: usize,
        topics: &[u32],
        tokens: impl Iterator<Item = (usize, usize)>,
    ) {
        self.sweeps += 1;
        self.without_weights = false;
        self.gains.resize(words, 0.0);
        self.widen(words, topics.len().div_ceil(WIDTH), &mut Vec::new());
        let blocks = self.blocks;
        for (row, slot) in tokens {
            self.shares[row * blocks..].as_flattened_mut()[slot] += 1.0;
        }
    }

    /// Keeps the tokens of each topic in a sweep.
    pub(super) fn add_sizes(&mut self, sizes: impl Iterator<Item = (u32, u32)>) {
        self.sizes.extend(sizes);
    }

    /// Ends with the topics of the slots, and the sticks of those that the document was the first to meet.
    pub(super) fn close(&mut self, topics: &[u32], sticks: &[f64]) {
        self.topics.extend_from_slice(topics);
        self.sticks.extend_from_slice(sticks);
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
            widen(&mut self.shares, spare, words, self.blocks, blocks);
            self.blocks = blocks;
        }
    }
}
