//! The collapsed Gibbs chain of one document: topic proportions integrated out, topics and alpha fixed.
//!
//! A token of word w takes topic k with weight `phi_kw alpha_k + phi_kw n_k` (science.md 3.2, 8.1). The
//! first part is the same for all documents and lies ready in the [`TopicView`]. The second is zero outside
//! the few topics that the document uses, which have slots (`slots.rs`); `draw.rs` draws from both.
//!
//! Draws are made in single precision: each probability is off by less than one part in a million. Statistics and
//! likelihoods are sums in double precision over the same weights.

use super::document_stats::DocumentStats;
use super::draw::{draw_in_order, draw_one};
use super::slots::Slots;
use crate::corpus::Entry;
use crate::numerics::lanes::{Block, Lanes, WIDTH};
use crate::model::topics::view::TopicView;
use crate::numerics::random::Stream;
use crate::numerics::vectorised::vectorised;
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
    stats: DocumentStats,
    /// Per word, its mass and the inverse masses of its tokens.
    inverse_masses: Vec<(f64, f64)>,
    /// Per word, the sums of inverse masses behind [`Self::add_expected_counts`].
    inverse_sums: Vec<f64>,
    spare: Vec<Block>,
}

impl Chain {
    /// Starts a chain without tokens for a document with these words (rows of the view).
    pub fn reset(&mut self, view: &TopicView, words: impl Iterator<Item = u32>) {
        self.tokens.clear();
        self.slots.reset(view, words);
        self.stats.clear();
        self.inverse_sums.clear();
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
        self.stats.clear();
    }

    /// Adds a token of the word in `row`, its topic drawn given all the others.
    pub fn push(&mut self, view: &TopicView, row: u32, random: &mut Stream) {
        let slot = self.draw(view, row, random);
        self.slots.change(slot, 1.0);
        self.tokens.push(Token { row, slot });
    }

    /// Adds `count` tokens of the word in each row, one after another, each drawn given all before it.
    pub fn push_all(&mut self, view: &TopicView, counts: impl Iterator<Item = u32>, random: &mut Stream) {
        let rows =
            counts.enumerate().flat_map(|(row, count)| std::iter::repeat_n(row as u32, count as usize));
        self.tokens.extend(rows.map(|row| Token { row, slot: 0 }));
        vectorised!(V: (
            slots: &mut Slots = &mut self.slots,
            tokens: &mut [Token] = &mut self.tokens,
            view: &TopicView = view,
            random: &mut Stream = random,
        ) -> () {
            for token in tokens {
                token.slot = draw_one::<V>(slots, token.row, view, random);
                slots.change(token.slot, 1.0);
            }
        });
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
    /// topic given all the others, summed by word (equation 10 of science.md 8.2).
    pub fn keep(&mut self, view: &TopicView) {
        self.keep_one_more(true);
        vectorised!(V: (chain: &mut Chain = self, view: &TopicView = view) -> () {
            chain.keep_probabilities::<V>(view);
        });
        self.keep_sizes();
    }

    #[inline(always)]
    fn keep_probabilities<V: Lanes>(&mut self, view: &TopicView) {
        let blocks = self.slots.counts.len();
        let shares = self.stats.counts.as_flattened_mut();
        token_inverse_masses::<V>(&self.tokens, &self.slots, view, &mut self.inverse_masses, |row, slot, inverse, _| {
            shares[row * blocks * WIDTH + slot] -= inverse as f32;
        });
        let shares = self.stats.counts.chunks_exact_mut(blocks.max(1));
        for ((shares, &(_, inverse)), sum) in shares.zip(&self.inverse_masses).zip(&mut self.stats.prior) {
            *sum += inverse;
            let inverse = V::splat(inverse as f32);
            for (shares, counts) in shares.iter_mut().zip(&self.slots.counts) {
                V::load(shares).add(inverse.mul(V::load(counts))).store(shares);
            }
        }
    }

    /// Adds to `counts` how many tokens each topic has in expectation, by the same probabilities summed over all words, but
    /// for the part of the prior.
    pub fn add_expected_counts(&mut self, view: &TopicView, counts: &mut [f64]) {
        vectorised!(V: (chain: &mut Chain = self, view: &TopicView = view, counts: &mut [f64] = counts) -> () {
            chain.expect_counts::<V>(view, counts);
        });
        self.inverse_sums.resize(self.inverse_masses.len(), 0.0);
        self.inverse_sums.iter_mut().zip(&self.inverse_masses).for_each(|(sum, (_, inverse))| *sum += inverse);
    }

    /// Adds the part of the prior, for all calls of [`Self::add_expected_counts`].
    pub fn add_prior_counts(&mut self, view: &TopicView, counts: &mut [f64]) {
        self.spare.clear();
        self.spare.resize(counts.len().div_ceil(WIDTH), [0.0; WIDTH]);
        vectorised!(V: (chain: &mut Chain = self, view: &TopicView = view) -> () {
            let rows = chain.slots.words.iter().map(|&word| view.blocks_of(word));
            add_rows::<V>(&rows.zip(&chain.inverse_sums).map(|(row, &inverse)| (row, inverse as f32)), &mut chain.spare);
        });
        for ((count, &prior), alpha) in counts.iter_mut().zip(self.spare.as_flattened()).zip(view.alpha()) {
            *count += alpha * f64::from(prior);
        }
    }

    #[inline(always)]
    fn expect_counts<V: Lanes>(&mut self, view: &TopicView, counts: &mut [f64]) {
        let Self { tokens, slots, inverse_masses, spare, .. } = self;
        token_inverse_masses::<V>(tokens, slots, view, inverse_masses, |_, slot, inverse, weight| {
            counts[slots.topics[slot] as usize] -= inverse * weight;
        });
        spare.clear();
        spare.resize(slots.counts.len(), [0.0; WIDTH]);
        let rows = slots.weights.chunks_exact(slots.counts.len().max(1));
        add_rows::<V>(&rows.zip(&*inverse_masses).map(|(row, &(_, inverse))| (row, inverse as f32)), spare);
        let sizes = slots.counts.as_flattened().iter().zip(spare.as_flattened());
        for (&topic, (&size, &sum)) in slots.topics.iter().zip(sizes) {
            counts[topic as usize] += f64::from(size * sum);
        }
    }

    /// Keeps the topics of the present state themselves.
    pub fn keep_counts(&mut self) {
        self.keep_one_more(false);
        for token in &self.tokens {
            let shares = &mut self.stats.counts[token.row as usize * self.stats.blocks..];
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
            let inverse = 1.0 / (self.mass(view, row) * view.scale(word));
            self.stats.prior[row as usize] += inverse;
            let shares = &mut self.stats.counts[row as usize * self.stats.blocks..];
            for (share, &count) in shares.as_flattened_mut().iter_mut().zip(self.slots.counts.as_flattened())
            {
                *share += inverse as f32 * count;
            }
            let slot = self.draw(view, row, random);
            self.stats.widen(self.slots.words.len(), self.slots.counts.len(), &mut self.spare);
            self.slots.change(slot, 1.0);
            self.tokens[place].slot = slot;
        }
        self.keep_sizes();
    }

    /// Opens the books for one more kept sweep.
    fn keep_one_more(&mut self, without_weights: bool) {
        let (words, blocks) = (self.slots.words.len(), self.slots.counts.len());
        if self.stats.sweeps == 0 {
            self.slots.frozen = true;
            self.stats.without_weights = without_weights;
            self.stats.blocks = blocks;
            self.stats.counts.resize(blocks * words, [0.0; WIDTH]);
            self.stats.prior.resize(words, 0.0);
        }
        self.stats.widen(words, blocks, &mut self.spare);
        self.stats.sweeps += 1;
    }

    fn keep_sizes(&mut self) {
        for (&topic, &count) in self.slots.topics.iter().zip(self.slots.counts.as_flattened()) {
            if count > 0.0 {
                self.stats.sizes.push((topic, count as u32));
            }
        }
    }

    /// Visits every token once, in uniformly random order, with one proposal drawn from its word and one from the
    /// document (science.md 3.11).
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

    /// Hands over the statistics of the sweeps that were kept, in exchange for old buffers to use again.
    pub fn take_stats(&mut self, view: &TopicView, document: &[Entry], into: &mut DocumentStats) {
        if self.stats.without_weights {
            let (counts, weights) = (&mut self.stats.counts, &self.slots.weights);
            vectorised!(V: (counts: &mut [Block] = counts, weights: &[Block] = weights) -> () {
                for (counts, weights) in counts.iter_mut().zip(weights) {
                    V::load(counts).mul(V::load(weights)).store(counts);
                }
            });
        }
        self.stats.close(&self.slots.topics, self.slots.new_topics.shares(), view, document);
        std::mem::swap(&mut self.stats, into);
        self.stats.clear();
    }
}

/// Adds rows, each times a number, two blocks at a time that stay in registers.
#[inline(always)]
fn add_rows<'a, V: Lanes>(rows: &(impl Iterator<Item = (&'a [Block], f32)> + Clone), sums: &mut [Block]) {
    for (pair, sums) in sums.chunks_mut(2).enumerate() {
        let last = sums.len() - 1;
        let (mut first, mut second) = (V::load(&sums[0]), V::load(&sums[last]));
        for (row, factor) in rows.clone() {
            let factor = V::splat(factor);
            first = first.add(factor.mul(V::load(&row[2 * pair])));
            second = second.add(factor.mul(V::load(&row[2 * pair + last])));
        }
        second.store(&mut sums[last]);
        first.store(&mut sums[0]);
    }
}

/// Gives `f` the (row, slot, inverse, weight) of every token, where its inverse is 1 / (relative mass of its word without it), and
/// `inverse_masses` the mass and the sum of inverse masses of every word.
#[inline(always)]
fn token_inverse_masses<V: Lanes>(
    tokens: &[Token],
    slots: &Slots,
    view: &TopicView,
    inverse_masses: &mut Vec<(f64, f64)>,
    mut f: impl FnMut(usize, usize, f64, f64),
) {
    let blocks = slots.counts.len();
    let rows = slots.words.iter().zip(slots.weights.chunks_exact(blocks.max(1)));
    inverse_masses.clear();
    inverse_masses.extend(rows.map(|(&word, weights)| {
        (view.prior_mass(word) * view.scale(word) + V::dot(weights, &slots.counts), 0.0)
    }));
    let weights = slots.weights.as_flattened();
    for &Token { row, slot } in tokens {
        let (mass, sum) = &mut inverse_masses[row as usize];
        let weight = f64::from(weights[row as usize * blocks * WIDTH + slot as usize]);
        let mut others = *mass - weight;
        if others < 1e-6 * *mass {
            others = mass_without(slots, view, row, slot); // the difference has lost its digits
        }
        let inverse = 1.0 / others;
        *sum += inverse;
        f(row as usize, slot as usize, inverse, weight);
    }
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
