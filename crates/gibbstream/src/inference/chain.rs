//! The collapsed Gibbs chain of one document: topic proportions integrated out, topics and alpha fixed.
//!
//! A token of word w takes topic k with weight `phi_kw alpha_k + phi_kw n_k` (algorithms.md 3.2, 8.1). The
//! first part is the same for all documents and lies ready in the [`TopicView`]. The second is zero outside
//! the few topics that the document uses, which have slots (`slots.rs`); `draw.rs` draws from both.
//!
//! Draws are made in single precision: each probability is off by less than one part in a million. Statistics and
//! likelihoods are sums in double precision over the same weights.

use super::draw::{draw_in_order, draw_one};
use super::slots::{Slots, widen};
use crate::corpus::Entry;
use crate::lanes::{Block, Lanes, WIDTH};
use crate::model::view::TopicView;
use crate::random::Stream;
use crate::vectorised::vectorised;
use std::ops::Range;

/// One token: the row of its word among the words of the document, and the slot of its topic.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Token {
    pub(super) row: u32,
    pub(super) slot: u32,
}

/// How a token's topic is drawn anew; both leave the same distribution alone.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Move {
    /// From its exact conditional.
    Gibbs,
    /// By proposals, from the word and from the document in turn, that are accepted or not.
    MetropolisHastings,
}

/// State of the chain, with the working space that it needs.
#[derive(Clone, Debug, Default)]
pub struct Chain {
    tokens: Vec<Token>,
    slots: Slots,
    kept: Kept,
    masses: Vec<f64>,
    gains: Vec<f64>,
    spare: Vec<Block>,
}

/// Statistics kept of some sweeps.
#[derive(Clone, Debug, Default)]
pub struct Kept {
    /// Number of sweeps.
    sweeps: usize,
    /// Whether shares and gains must still be multiplied by the relative weights of the word.
    without_weights: bool,
    /// Topic of each slot.
    topics: Vec<u32>,
    /// `words x blocks`: the sparse part of the expected counts, by slot.
    shares: Vec<Block>,
    blocks: usize,
    /// Per word, the sum of 1 / normaliser over its tokens; times `alpha_k` it is the dense part.
    gains: Vec<f64>,
    /// (topic, tokens in it) for every sweep and topic present.
    sizes: Vec<(u32, u32)>,
    /// What the topics that this document was the first to meet have of all that was left.
    sticks: Vec<f64>,
}

impl Kept {
    fn clear(&mut self) {
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

impl Chain {
    /// Starts a chain without tokens for a document with these words (rows of the view).
    pub fn reset(&mut self, view: &TopicView, words: impl Iterator<Item = u32>) {
        self.tokens.clear();
        self.slots.reset(view, words);
        self.kept.clear();
    }

    /// Adds tokens with given topics, all at once: (row, topic) pairs.
    pub fn load(&mut self, view: &TopicView, tokens: impl Iterator<Item = (u32, u32)>) {
        let slots = &mut self.slots;
        self.tokens.extend(tokens.map(|(row, topic)| Token { row, slot: slots.reserve(topic) }));
        slots.fill(view);
        for token in &self.tokens {
            slots.change(token.slot, 1.0);
        }
    }

    /// Number of tokens.
    pub fn len(&self) -> usize {
        self.tokens.len()
    }

    /// True if the chain has no token.
    pub fn is_empty(&self) -> bool {
        self.tokens.is_empty()
    }

    /// (row, topic) of every token, in the present order.
    pub fn tokens(&self) -> impl Iterator<Item = (u32, u32)> + '_ {
        self.tokens.iter().map(|token| (token.row, self.slots.topics[token.slot as usize]))
    }

    /// (topic, tokens in it) for every topic present.
    pub fn topic_counts(&self) -> impl Iterator<Item = (u32, f64)> + '_ {
        let counts = self.slots.counts.as_flattened().iter().map(|&count| f64::from(count));
        self.slots.topics.iter().copied().zip(counts).filter(|&(_, count)| count > 0.0)
    }

    /// Visits every token once, in uniformly random order, and draws its topic anew.
    pub fn sweep(&mut self, view: &TopicView, random: &mut Stream) {
        random.shuffle(&mut self.tokens);
        self.resample(view, 0..self.tokens.len(), random);
    }

    /// Draws the topics of the tokens in `places` anew, one after another, each given all the others.
    pub fn resample(&mut self, view: &TopicView, places: Range<usize>, random: &mut Stream) {
        vectorised!(V: (
            chain: &mut Chain = self,
            places: Range<usize> = places,
            view: &TopicView = view,
            random: &mut Stream = random,
        ) -> () {
            draw_in_order::<V>(&mut chain.slots, &mut chain.tokens, places, view, random);
        });
    }

    /// Takes over the state of another chain of the same document, but not what that one has kept.
    pub fn copy_from(&mut self, other: &Self) {
        self.tokens.clone_from(&other.tokens);
        self.slots.copy_from(&other.slots);
        self.kept.clear();
    }

    /// Adds a token of the word in `row`, its topic drawn given all the others.
    pub fn push(&mut self, view: &TopicView, row: u32, random: &mut Stream) {
        let slot = self.draw(view, row, random);
        self.slots.change(slot, 1.0);
        self.tokens.push(Token { row, slot });
    }

    fn draw(&mut self, view: &TopicView, row: u32, random: &mut Stream) -> u32 {
        vectorised!(V: (
            slots: &mut Slots = &mut self.slots,
            row: u32 = row,
            view: &TopicView = view,
            random: &mut Stream = random,
        ) -> u32 {
            draw_one::<V>(slots, row, view, random)
        })
    }

    /// `sum_k phi_kw (alpha_k + n_k)` for the word in `row`.
    pub fn mass(&self, view: &TopicView, row: u32) -> f64 {
        let word = self.slots.words[row as usize];
        view.prior_mass(word) + self.present_mass(row) / view.scale(word)
    }

    /// Relative mass of the topics present.
    fn present_mass(&self, row: u32) -> f64 {
        vectorised!(V: (weights: &[Block] = self.slots.weights_of(row), counts: &[Block] = &self.slots.counts) -> f64 {
            V::dot(weights, counts)
        })
    }

    /// Drops the slots of topics that the document no longer uses.
    pub fn compact(&mut self) {
        if let Some(moves) = self.slots.compact() {
            for token in &mut self.tokens {
                token.slot = moves[token.slot as usize];
            }
        }
    }

    /// Keeps the Rao-Blackwellised statistics of the present state: for every token the probabilities of its
    /// topic given all the others, summed by word (equation 10 of algorithms.md 8.2).
    pub fn keep(&mut self, view: &TopicView) {
        self.keep_one_more(true);
        vectorised!(V: (chain: &mut Chain = self, view: &TopicView = view) -> () {
            chain.keep_probabilities::<V>(view);
        });
        self.keep_sizes();
    }

    #[inline(always)]
    fn keep_probabilities<V: Lanes>(&mut self, view: &TopicView) {
        let Self { tokens, slots, kept, masses, gains, .. } = self;
        let (counts, blocks) = (&slots.counts[..], slots.counts.len());
        masses.resize(slots.words.len(), 0.0);
        let rows = slots.words.iter().zip(slots.weights.chunks_exact(blocks.max(1)));
        for (mass, (&word, weights)) in masses.iter_mut().zip(rows) {
            *mass = view.prior_mass(word) * view.scale(word) + V::dot(weights, counts);
        }
        gains.clear();
        gains.resize(slots.words.len(), 0.0);
        for &Token { row, slot } in &*tokens {
            let (row, block, lane) = (row as usize, slot as usize / WIDTH, slot as usize % WIDTH);
            let all = masses[row];
            let mut others = all - f64::from(slots.weights[row * blocks + block][lane]);
            if others < 1e-6 * all {
                others = mass_without(slots, view, row as u32, slot); // the difference has lost its digits
            }
            let gain = 1.0 / others;
            gains[row] += gain;
            kept.shares[row * blocks + block][lane] -= gain as f32;
        }
        let shares = kept.shares.chunks_exact_mut(blocks.max(1));
        for ((shares, &gain), sum) in shares.zip(&*gains).zip(&mut kept.gains) {
            *sum += gain;
            let gain = V::splat(gain as f32);
            for (shares, counts) in shares.iter_mut().zip(counts) {
                V::load(shares).add(gain.mul(V::load(counts))).store(shares);
            }
        }
    }

    /// Adds the expected tokens of every topic, a mean over the sweeps kept by [`Self::keep`].
    pub fn add_expected_counts(&self, view: &TopicView, out: &mut [f64]) {
        let Self { slots, kept, .. } = self;
        let (blocks, share) = (kept.blocks, 1.0 / kept.sweeps.max(1) as f64);
        // Topics in use have counts of their own, and all have a part of the prior.
        let mut present = vec![0.0; blocks * WIDTH];
        let mut prior = vec![0.0; view.topics()];
        for (row, &word) in slots.words.iter().enumerate() {
            let place = row * blocks..(row + 1) * blocks;
            let (weights, shares) = (&slots.weights[place.clone()], &kept.shares[place]);
            add_products(weights.as_flattened(), shares.as_flattened(), &mut present);
            view.add_relative(word, kept.gains[row], &mut prior);
        }
        for (&topic, count) in slots.topics.iter().zip(present) {
            out[topic as usize] += share * count;
        }
        for ((out, prior), alpha) in out.iter_mut().zip(prior).zip(view.alpha()) {
            *out += share * alpha * prior;
        }
    }

    /// Keeps the topics of the present state themselves.
    pub fn keep_counts(&mut self) {
        self.keep_one_more(false);
        for token in &self.tokens {
            let shares = &mut self.kept.shares[token.row as usize * self.kept.blocks..];
            shares.as_flattened_mut()[token.slot as usize] += 1.0;
        }
        self.keep_sizes();
    }

    /// A sweep that keeps, for every token, the probabilities of its topic at the moment it is drawn.
    pub fn sweep_and_keep(&mut self, view: &TopicView, random: &mut Stream) {
        self.keep_one_more(true);
        random.shuffle(&mut self.tokens);
        for place in 0..self.tokens.len() {
            let Token { row, slot } = self.tokens[place];
            self.slots.change(slot, -1.0);
            let word = self.slots.words[row as usize];
            let gain = 1.0 / (self.mass(view, row) * view.scale(word));
            self.kept.gains[row as usize] += gain;
            let shares = &mut self.kept.shares[row as usize * self.kept.blocks..];
            for (share, &count) in shares.as_flattened_mut().iter_mut().zip(self.slots.counts.as_flattened())
            {
                *share += gain as f32 * count;
            }
            let slot = self.draw(view, row, random);
            self.kept.widen(self.slots.words.len(), self.slots.counts.len(), &mut self.spare);
            self.slots.change(slot, 1.0);
            self.tokens[place].slot = slot;
        }
        self.keep_sizes();
    }

    /// Opens the books for one more kept sweep.
    fn keep_one_more(&mut self, without_weights: bool) {
        let (words, blocks) = (self.slots.words.len(), self.slots.counts.len());
        if self.kept.sweeps == 0 {
            self.slots.frozen = true;
            self.kept.without_weights = without_weights;
            self.kept.blocks = blocks;
            self.kept.shares.resize(blocks * words, [0.0; WIDTH]);
            self.kept.gains.resize(words, 0.0);
        }
        self.kept.widen(words, blocks, &mut self.spare);
        self.kept.sweeps += 1;
    }

    fn keep_sizes(&mut self) {
        for (&topic, &count) in self.slots.topics.iter().zip(self.slots.counts.as_flattened()) {
            if count > 0.0 {
                self.kept.sizes.push((topic, count as u32));
            }
        }
    }

    /// Visits every token once, in uniformly random order, with one proposal drawn from its word and one from the
    /// document (algorithms.md 3.11).
    pub fn sweep_by_proposals(&mut self, view: &TopicView, random: &mut Stream) {
        random.shuffle(&mut self.tokens);
        for place in 0..self.tokens.len() {
            let word = self.slots.words[self.tokens[place].row as usize];
            let by_word = view.find_in_weights(word, random.uniform());
            self.propose(view, place, by_word, random, |n_alpha, _| n_alpha);
            let by_document = self.draw_from_document(view, place, random);
            self.propose(view, place, by_document, random, |_, weight| weight);
        }
    }

    /// A topic with probability proportional to `n_k + alpha_k`, the token at `place` left out.
    fn draw_from_document(&self, view: &TopicView, place: usize, random: &mut Stream) -> usize {
        let others = self.tokens.len() - 1;
        if random.uniform() * (others as f64 + view.alpha_sum()) < others as f64 {
            let other = random.below(others);
            let other = self.tokens[if other < place { other } else { other + 1 }];
            self.slots.topics[other.slot as usize] as usize
        } else {
            random.categorical(view.alpha())
        }
    }

    /// Moves a token to the proposed topic with probability `ratio(new) / ratio(old)`, where `ratio` is the factor
    /// of the target (`n_k + alpha_k`, `phi_kw`) that the proposal left out.
    fn propose(
        &mut self,
        view: &TopicView,
        place: usize,
        proposed: usize,
        random: &mut Stream,
        ratio: impl Fn(f64, f64) -> f64,
    ) {
        let Token { row, slot } = self.tokens[place];
        self.slots.change(slot, -1.0);
        let word = self.slots.words[row as usize];
        let value = |topic: usize| {
            let n_alpha = f64::from(self.slots.tokens_in(topic)) + view.alpha()[topic];
            ratio(n_alpha, f64::from(view.relative(word, topic)))
        };
        let old = self.slots.topics[slot as usize] as usize;
        let accepted = random.uniform() * value(old) < value(proposed);
        let slot = if accepted { self.slots.slot_for(view, proposed) } else { slot };
        self.slots.change(slot, 1.0);
        self.tokens[place].slot = slot;
    }

    /// Hands over what was kept, in exchange for old buffers to use again.
    pub fn take_kept(&mut self, into: &mut Kept) {
        self.kept.topics.extend_from_slice(&self.slots.topics);
        self.kept.sticks.extend_from_slice(self.slots.sticks.shares());
        std::mem::swap(&mut self.kept, into);
        self.kept.clear();
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

    /// Starts anew.
    pub(super) fn forget(&mut self) {
        self.clear();
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
    fn widen(&mut self, words: usize, blocks: usize, spare: &mut Vec<Block>) {
        if self.blocks < blocks {
            widen(&mut self.shares, spare, words, self.blocks, blocks);
            self.blocks = blocks;
        }
    }
}

/// Adds the products of two rows.
fn add_products(a: &[f32], b: &[f32], out: &mut [f64]) {
    vectorised!((a: &[f32] = a, b: &[f32] = b, out: &mut [f64] = out) -> () {
        for ((a, b), out) in a.iter().zip(b).zip(out) {
            *out += f64::from(*a) * f64::from(*b);
        }
    });
}

/// The relative mass of a word with one token taken out of a slot, without cancellation.
#[cold]
fn mass_without(slots: &Slots, view: &TopicView, row: u32, slot: u32) -> f64 {
    let word = slots.words[row as usize];
    let mut mass = view.prior_mass(word) * view.scale(word);
    let products = slots.weights_of(row).as_flattened().iter().zip(slots.counts.as_flattened());
    for (other, (&weight, &count)) in products.enumerate() {
        mass += f64::from(weight) * f64::from(if other == slot as usize { count - 1.0 } else { count });
    }
    mass
}
