//! The topics that one document uses, and what their weights are for its words.
//!
//! A topic in use has a *slot*. The weights of the document's words in the slotted topics lie in a small matrix,
//! and so do the counts of the slots, in blocks of sixteen: a draw then runs over contiguous numbers. Weights are
//! relative to the mass of the word under the prior alone, `phi_kw / sum_j alpha_j phi_jw`, so that single
//! precision has room for any word.

use crate::numerics::lanes::{Block, WIDTH};
use crate::model::topics::view::TopicView;
use crate::numerics::random::Stream;

/// Marks a topic that has no slot.
pub(super) const NO_SLOT: u32 = u32::MAX;

/// Slots left free when a block is given up.
const SPARE_SLOTS: usize = 4;

/// The topics that a document was the first to meet: what each has of all that was left for topics not met yet.
#[derive(Clone, Debug, Default)]
pub(super) struct NewTopics {
    shares: Vec<f64>,
}

impl NewTopics {
    pub(super) fn clear(&mut self) {
        self.shares.clear();
    }

    pub(super) fn shares(&self) -> &[f64] {
        &self.shares
    }

    pub(super) fn share(&self, place: usize) -> f64 {
        self.shares[place]
    }

    /// One of the topics that the document has met, or the next. Which one it is does not depend on the word, because
    /// all have the same weights. A new stick is the fraction Beta(1, concentration) of what is left: picking a stick
    /// by its size leaves that law (science.md 4.2).
    pub(super) fn pick(&mut self, concentration: f64, random: &mut Stream) -> usize {
        let (mut at, mut left) = (random.uniform(), 1.0);
        for (place, share) in self.shares.iter().enumerate() {
            if at < *share {
                return place;
            }
            at -= share;
            left -= share;
        }
        let fraction = 1.0 - libm::pow(random.uniform_positive(), 1.0 / concentration);
        self.shares.push(left.max(0.0) * fraction);
        self.shares.len() - 1
    }
}

/// Slots of a document.
#[derive(Clone, Debug, Default)]
pub(super) struct Slots {
    /// Words of the document, as rows of the view.
    pub(super) words: Vec<u32>,
    /// Topic of each slot in use.
    pub(super) topics: Vec<u32>,
    /// Slot of each topic.
    slot_of: Vec<u32>,
    /// Tokens in each slot; those beyond the slots in use are zero.
    pub(super) counts: Vec<Block>,
    /// `words x counts.len()` blocks; what lies in slots without tokens does not matter.
    pub(super) weights: Vec<Block>,
    /// Whether slots must keep their topics, because statistics are kept by slot.
    pub(super) frozen: bool,
    /// The topics that this document was the first to meet.
    pub(super) new_topics: NewTopics,
    spare: Vec<Block>,
    moves: Vec<u32>,
    sources: Vec<u32>,
}

impl Slots {
    /// Starts anew, without any slot, for a document with these words.
    pub(super) fn reset(&mut self, view: &TopicView, words: impl Iterator<Item = u32>) {
        for &topic in &self.topics {
            self.slot_of[topic as usize] = NO_SLOT;
        }
        self.topics.clear();
        self.new_topics.clear();
        if self.slot_of.len() < view.topics() {
            self.slot_of.resize(view.topics(), NO_SLOT);
        }
        self.words.clear();
        self.words.extend(words);
        self.counts.clear();
        self.frozen = false;
    }

    /// The slot of a topic, the next in line if it has none; [`Self::fill`] has to follow.
    #[inline]
    pub(super) fn reserve(&mut self, topic: u32) -> u32 {
        let slot = &mut self.slot_of[topic as usize];
        if *slot == NO_SLOT {
            *slot = self.topics.len() as u32;
            self.topics.push(topic);
        }
        *slot
    }

    /// Looks all weights up, and sets all counts to zero.
    pub(super) fn fill(&mut self, view: &TopicView) {
        let blocks = self.topics.len().div_ceil(WIDTH);
        self.counts.clear();
        self.counts.resize(blocks, [0.0; WIDTH]);
        self.weights.resize(blocks * self.words.len(), [0.0; WIDTH]);
        let rows = self.weights.chunks_exact_mut(blocks.max(1));
        for (weights, &word) in rows.zip(&self.words) {
            view.gather_relative(word, &self.topics, weights.as_flattened_mut());
        }
    }

    /// Takes over the slots of another document of the same words.
    pub(super) fn copy_from(&mut self, other: &Self) {
        debug_assert_eq!(self.words, other.words);
        self.slot_of.clone_from(&other.slot_of);
        // The weights follow from the words, the topics of the slots and the number of blocks.
        if self.counts.len() != other.counts.len() || self.topics != other.topics {
            self.topics.clone_from(&other.topics);
            self.weights.clone_from(&other.weights);
        }
        self.counts.clone_from(&other.counts);
        self.new_topics.clone_from(&other.new_topics);
        self.frozen = false;
    }

    /// Number of tokens in a slot.
    #[inline]
    pub(super) fn count(&self, slot: u32) -> f32 {
        self.counts.as_flattened()[slot as usize]
    }

    /// Changes the number of tokens in a slot.
    #[inline]
    pub(super) fn change(&mut self, slot: u32, by: f32) {
        self.counts.as_flattened_mut()[slot as usize] += by;
    }

    /// Weights of the word in `row`, block by block.
    #[inline]
    pub(super) fn weights_of(&self, row: u32) -> &[Block] {
        let blocks = self.counts.len();
        &self.weights[row as usize * blocks..][..blocks]
    }

    /// Tokens in a topic, with or without a slot.
    pub(super) fn tokens_in(&self, topic: usize) -> f32 {
        match self.slot_of[topic] {
            NO_SLOT => 0.0,
            slot => self.count(slot),
        }
    }

    /// A topic among those that nobody had met before this document, which are numbered from `known` on.
    #[cold]
    pub(super) fn unmet_topic(&mut self, known: usize, concentration: f64, random: &mut Stream) -> usize {
        let topic = known + self.new_topics.pick(concentration, random);
        self.slot_of.resize(self.slot_of.len().max(topic + 1), NO_SLOT);
        topic
    }

    /// The slot of a topic, a new one if it has none.
    #[inline]
    pub(super) fn slot_for(&mut self, view: &TopicView, topic: usize) -> u32 {
        let slot = self.slot_of[topic];
        if slot == NO_SLOT { self.new_slot(view, topic) } else { slot }
    }

    #[inline(never)]
    fn new_slot(&mut self, view: &TopicView, topic: usize) -> u32 {
        let slot = self.free_slot();
        self.slot_of[topic] = slot;
        if slot as usize == self.topics.len() {
            self.topics.push(topic as u32);
        } else {
            self.slot_of[self.topics[slot as usize] as usize] = NO_SLOT;
            self.topics[slot as usize] = topic as u32;
        }
        let blocks = self.counts.len();
        let (block, place) = (slot as usize / WIDTH, slot as usize % WIDTH);
        let column = view.relative_column(&self.words, topic);
        for (weights, weight) in self.weights.chunks_exact_mut(blocks).zip(column) {
            weights[block][place] = weight;
        }
        slot
    }

    /// A slot to use: the next in line, one that has fallen empty, or the first of a new block.
    fn free_slot(&mut self) -> u32 {
        let used = self.topics.len();
        if used == self.counts.len() * WIDTH {
            let empty = || self.counts.as_flattened().iter().position(|&count| count == 0.0);
            if let Some(slot) = if self.frozen { None } else { empty() } {
                return slot as u32;
            }
            let blocks = self.counts.len();
            widen(&mut self.weights, &mut self.spare, self.words.len(), blocks, blocks + 1);
            self.counts.push([0.0; WIDTH]);
        }
        used as u32
    }

    /// Drops the slots of topics without tokens if that spares a block, and tells where each slot has gone. Some
    /// room is left, because topics come and go.
    pub(super) fn compact(&mut self) -> Option<&[u32]> {
        debug_assert!(!self.frozen);
        let old = self.counts.len();
        let present = self.counts.as_flattened().iter().filter(|&&count| count > 0.0).count();
        let new = (present + SPARE_SLOTS).div_ceil(WIDTH);
        if new >= old {
            return None;
        }
        // From here on `moves` says where a slot goes, and `sources` where it comes from.
        self.moves.clear();
        self.sources.clear();
        for slot in 0..self.topics.len() {
            let (topic, count, next) = (self.topics[slot], self.count(slot as u32), self.sources.len());
            self.moves.push(next as u32);
            if count > 0.0 {
                self.topics[next] = topic;
                self.counts.as_flattened_mut()[next] = count;
                self.slot_of[topic as usize] = next as u32;
                self.sources.push(slot as u32);
            } else {
                self.slot_of[topic as usize] = NO_SLOT;
            }
        }
        for row in 0..self.words.len() {
            // Never moves to the right, so nothing is overwritten before it is read.
            let weights = &mut self.weights.as_flattened_mut()[row * new * WIDTH..]
                [..((old - new) * row + old) * WIDTH];
            let shift = (old - new) * row * WIDTH;
            for (next, &slot) in self.sources.iter().enumerate() {
                weights[next] = weights[shift + slot as usize];
            }
        }
        self.topics.truncate(present);
        self.counts.truncate(new);
        self.counts.as_flattened_mut()[present..].fill(0.0);
        self.weights.truncate(self.words.len() * new);
        Some(&self.moves)
    }
}

/// Changes the row length of a matrix from `old` to the larger `new` blocks.
pub(super) fn widen(matrix: &mut Vec<Block>, spare: &mut Vec<Block>, rows: usize, old: usize, new: usize) {
    spare.clear();
    spare.resize(rows * new, [0.0; WIDTH]);
    for row in 0..rows {
        spare[row * new..][..old].copy_from_slice(&matrix[row * old..][..old]);
    }
    std::mem::swap(matrix, spare);
}
