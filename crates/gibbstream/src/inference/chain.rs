//! The collapsed Gibbs chain of one document: topic proportions integrated out, topics and alpha fixed.
//!
//! A token of word w takes topic k with weight `phi_kw alpha_k + phi_kw n_k` (algorithms.md 3.2, 8.1). The
//! first part is the same for all documents and lies ready in the [`TopicView`]. The second is zero outside
//! the few topics that the document uses: these get *slots*, and the weights of the document's words in the
//! slotted topics are copied into a small matrix. A draw is then a dot product over contiguous numbers, in
//! eight fixed lanes, without gathering and almost without branches.

use crate::math::{LANES, add_lanes, dot};
use crate::model::view::TopicView;
use crate::random::Stream;
use crate::vectorised::vectorised;

const NO_SLOT: u32 = u32::MAX;

/// One token: the row of its word among the words of the document, and the slot of its topic.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Token {
    /// Index into the distinct words of the document.
    pub row: u32,
    /// Index into [`Chain::topics`].
    pub slot: u32,
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
    /// Words of the document, as rows of the view.
    words: Vec<u32>,
    /// Tokens in the chain.
    tokens: Vec<Token>,
    /// Topic of each slot in use.
    topics: Vec<u32>,
    /// Slot of each topic.
    slot_of: Vec<u32>,
    /// Tokens in each slot; a multiple of the lanes, the unused ones are zero.
    counts: Vec<f64>,
    /// `words x counts.len()`: weight of each word in the topic of each slot.
    weights: Vec<f64>,
    /// Running sums of the last dot product, lane by lane.
    partial: Vec<f64>,
    kept: Kept,
    spare: Vec<f64>,
    moves: Vec<u32>,
    sources: Vec<u32>,
}

/// Statistics kept of some sweeps.
#[derive(Clone, Debug, Default)]
pub struct Kept {
    /// Number of sweeps.
    pub sweeps: usize,
    /// Whether `shares` must still be multiplied by the weights `phi_kw`.
    pub without_weights: bool,
    /// Topic of each column of `shares`.
    pub topics: Vec<u32>,
    /// `words x columns`: the sparse part of the expected counts.
    pub shares: Vec<f64>,
    /// Number of columns, at least the number of topics.
    pub columns: usize,
    /// Per word, the sum of 1 / normaliser over its tokens; times `alpha_k phi_kw` it is the dense part.
    pub gains: Vec<f64>,
    /// (topic, tokens in it) for every sweep and topic present.
    pub sizes: Vec<(u32, u32)>,
}

impl Kept {
    fn clear(&mut self) {
        self.sweeps = 0;
        self.topics.clear();
        self.shares.clear();
        self.columns = 0;
        self.gains.clear();
        self.sizes.clear();
    }
}

impl Chain {
    /// Starts a chain without tokens for a document with these words (rows of the view).
    pub fn reset(&mut self, view: &TopicView, words: impl Iterator<Item = u32>) {
        for &topic in &self.topics {
            self.slot_of[topic as usize] = NO_SLOT;
        }
        self.topics.clear();
        if self.slot_of.len() != view.topics() {
            self.slot_of.clear();
            self.slot_of.resize(view.topics(), NO_SLOT);
        }
        self.words.clear();
        self.words.extend(words);
        self.tokens.clear();
        self.counts.clear();
        self.weights.clear();
        self.partial.clear();
        self.kept.clear();
    }

    /// Adds tokens with given topics, all at once: (row, topic) pairs.
    pub fn load(&mut self, view: &TopicView, tokens: impl Iterator<Item = (u32, u32)>) {
        for (row, topic) in tokens {
            let slot = match self.slot_of[topic as usize] {
                NO_SLOT => {
                    let slot = self.topics.len() as u32;
                    self.slot_of[topic as usize] = slot;
                    self.topics.push(topic);
                    slot
                }
                slot => slot,
            };
            self.tokens.push(Token { row, slot });
        }
        let stride = self.topics.len().next_multiple_of(LANES);
        self.counts.clear();
        self.counts.resize(stride, 0.0);
        self.partial.resize(stride, 0.0);
        for token in &self.tokens {
            self.counts[token.slot as usize] += 1.0;
        }
        self.weights.clear();
        for &word in &self.words {
            let row = view.row(word);
            self.weights.extend(self.topics.iter().map(|&topic| row[topic as usize]));
            self.weights.resize(self.weights.len().next_multiple_of(stride.max(1)), 0.0);
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
        self.tokens.iter().map(|token| (token.row, self.topics[token.slot as usize]))
    }

    /// (topic, tokens in it) for every topic present.
    pub fn topic_counts(&self) -> impl Iterator<Item = (u32, f64)> + '_ {
        self.topics.iter().copied().zip(self.counts.iter().copied()).filter(|&(_, count)| count > 0.0)
    }

    /// Visits every token once, in uniformly random order, and draws its topic anew.
    pub fn sweep(&mut self, view: &TopicView, random: &mut Stream) {
        vectorised!((chain: &mut Chain = self, view: &TopicView = view, random: &mut Stream = random) -> () {
            let tokens = chain.tokens.len();
            for place in 0..tokens {
                chain.tokens.swap(place, place + random.below(tokens - place));
                chain.resample(view, place, random);
            }
        });
    }

    /// Takes over the state of another chain of the same document, but not what that one has kept.
    pub fn copy_from(&mut self, other: &Self) {
        debug_assert_eq!(self.words, other.words);
        self.tokens.clone_from(&other.tokens);
        self.slot_of.clone_from(&other.slot_of);
        // The weights follow from the words, the topics of the slots and the number of lanes.
        if self.counts.len() != other.counts.len() || self.topics != other.topics {
            self.topics.clone_from(&other.topics);
            self.weights.clone_from(&other.weights);
        }
        self.counts.clone_from(&other.counts);
        self.partial.resize(other.partial.len(), 0.0);
        self.kept.clear();
    }

    /// Draws the topic of the token at `place` anew, given all the others.
    #[inline(always)]
    pub fn resample(&mut self, view: &TopicView, place: usize, random: &mut Stream) {
        let Token { row, slot: old } = self.tokens[place];
        let (new, _) = self.draw(view, row, old, random);
        // Most tokens stay where they are; leaving the counts alone then spares the next draw a wait for them.
        if new != old {
            self.counts[old as usize] -= 1.0;
            self.counts[new as usize] += 1.0;
            self.tokens[place].slot = new;
        }
    }

    /// Adds a token of the word in `row`, its topic drawn given all the others. Returns the normaliser
    /// `sum_k phi_kw (alpha_k + n_k)` of that draw.
    pub fn push(&mut self, view: &TopicView, row: u32, random: &mut Stream) -> f64 {
        let (slot, mass) = self.draw(view, row, NO_SLOT, random);
        self.counts[slot as usize] += 1.0;
        self.tokens.push(Token { row, slot });
        mass
    }

    /// `sum_k phi_kw (alpha_k + n_k)` for the word in `row`.
    #[inline]
    pub fn mass(&self, view: &TopicView, row: u32) -> f64 {
        view.prior_mass(self.words[row as usize]) + dot(self.weights_of(row), &self.counts)
    }

    #[inline]
    fn weights_of(&self, row: u32) -> &[f64] {
        let stride = self.counts.len();
        &self.weights[row as usize * stride..][..stride]
    }

    /// A slot drawn for the word in `row`, with one token of the slot `without` left out, and the normaliser.
    #[inline(always)]
    fn draw(&mut self, view: &TopicView, row: u32, without: u32, random: &mut Stream) -> (u32, f64) {
        let stride = self.counts.len();
        let weights = &self.weights[row as usize * stride..][..stride];
        let ends = lane_ends(running_lanes(weights, &self.counts, without, &mut self.partial));
        let present = ends[LANES - 1];
        let word = self.words[row as usize];
        let prior = view.prior_mass(word);
        let mass = prior + present;
        let at = random.uniform() * mass;
        let slot = if at < present {
            self.find_present(row, without, at, &ends)
        } else {
            // A tiny share of the unit interval has few random bits left: then take fresh ones.
            let at = if prior < 1e-6 * mass { random.uniform() * prior } else { (at - present).min(prior) };
            let topic = view.find_in_prior(word, at);
            self.slot_for(view, topic)
        };
        (slot, mass)
    }

    /// The slot at which the running sum passes `at`: first the lane, then the place inside the lane.
    #[inline(always)]
    fn find_present(&self, row: u32, without: u32, at: f64, ends: &[f64; LANES]) -> u32 {
        let mut lane = 0;
        for end in &ends[..LANES - 1] {
            lane += usize::from(*end <= at);
        }
        let rest = if lane == 0 { at } else { at - ends[lane - 1] };
        let mut slot = lane;
        while slot < self.partial.len() && self.partial[slot] <= rest {
            slot += LANES;
        }
        if slot < self.counts.len() && self.counts[slot] > 0.0 {
            slot as u32
        } else {
            self.last_present(row, without, lane)
        }
    }

    /// Rounding carried a draw past the end of its lane: the last slot there, or anywhere, with any weight.
    #[cold]
    fn last_present(&self, row: u32, without: u32, lane: usize) -> u32 {
        let weights = self.weights_of(row);
        let count = |slot: usize| self.counts[slot] - f64::from(u8::from(slot == without as usize));
        let positive = |&slot: &usize| weights[slot] * count(slot) > 0.0;
        let slots = 0..self.counts.len();
        let in_lane = slots.clone().rev().filter(|slot| slot % LANES == lane).find(positive);
        in_lane.or_else(|| slots.rev().find(positive)).unwrap_or(0) as u32
    }

    /// The slot of a topic, a new one if it has none.
    #[inline]
    fn slot_for(&mut self, view: &TopicView, topic: usize) -> u32 {
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
        let stride = self.counts.len();
        for (row, &word) in self.words.iter().enumerate() {
            self.weights[row * stride + slot as usize] = view.row(word)[topic];
        }
        slot
    }

    /// A slot to use: the next in line, one that has fallen empty, or the first of a new lane of slots.
    fn free_slot(&mut self) -> u32 {
        let used = self.topics.len();
        if used == self.counts.len() {
            // Kept statistics belong to the topic of their slot, so then no slot may change its topic.
            let empty = (self.kept.sweeps == 0).then(|| self.counts.iter().position(|&count| count == 0.0));
            if let Some(Some(slot)) = empty {
                return slot as u32;
            }
            self.widen();
        }
        used as u32
    }

    /// Makes room for one more lane of slots.
    fn widen(&mut self) {
        let (old, rows) = (self.counts.len(), self.words.len());
        let new = old + LANES;
        relayout(&mut self.weights, &mut self.spare, rows, old, new);
        if self.kept.sweeps > 0 {
            relayout(&mut self.kept.shares, &mut self.spare, rows, old, new);
            self.kept.columns = new;
        }
        self.counts.resize(new, 0.0);
        self.partial.resize(new, 0.0);
    }

    /// Drops the slots of topics that the document no longer uses, if there are many of them.
    pub fn compact(&mut self) {
        debug_assert_eq!(self.kept.sweeps, 0);
        let old = self.counts.len();
        let present = self.counts.iter().filter(|&&count| count > 0.0).count();
        let new = present.next_multiple_of(LANES);
        if new > old - old / 4 {
            return;
        }
        // From here on `moves` says where a slot goes, and `sources` where it comes from.
        self.moves.clear();
        self.sources.clear();
        for slot in 0..self.topics.len() {
            let topic = self.topics[slot];
            let next = self.sources.len();
            if self.counts[slot] > 0.0 {
                self.topics[next] = topic;
                self.counts[next] = self.counts[slot];
                self.slot_of[topic as usize] = next as u32;
                self.sources.push(slot as u32);
            } else {
                self.slot_of[topic as usize] = NO_SLOT;
            }
            self.moves.push(next as u32);
        }
        for row in 0..self.words.len() {
            let (to, from) = (row * new, row * old);
            for (next, &slot) in self.sources.iter().enumerate() {
                // Never moves to the right, so nothing is overwritten before it is read.
                self.weights[to + next] = self.weights[from + slot as usize];
            }
            self.weights[to + present..to + new].fill(0.0);
        }
        for token in &mut self.tokens {
            token.slot = self.moves[token.slot as usize];
        }
        self.topics.truncate(present);
        self.counts.truncate(new);
        self.counts[present..].fill(0.0);
        self.partial.truncate(new);
        self.weights.truncate(self.words.len() * new);
    }

    /// Keeps the Rao-Blackwellised statistics of the present state: for every token the probabilities of its
    /// topic given all the others, summed by word (equation 10 of algorithms.md 8.2).
    pub fn keep(&mut self, view: &TopicView) {
        vectorised!((chain: &mut Chain = self, view: &TopicView = view) -> () {
            chain.keep_probabilities(view);
        });
    }

    #[inline(always)]
    fn keep_probabilities(&mut self, view: &TopicView) {
        self.keep_one_more(true);
        let (stride, rows) = (self.counts.len(), self.words.len());
        // `spare` holds, row by row, the mass with all tokens in, then the gain.
        self.spare.clear();
        self.spare.resize(2 * rows, 0.0);
        for row in 0..rows {
            self.spare[row] = self.mass(view, row as u32);
        }
        for index in 0..self.tokens.len() {
            let Token { row, slot } = self.tokens[index];
            let (row, slot) = (row as usize, slot as usize);
            let all = self.spare[row];
            let mut others = all - self.weights[row * stride + slot];
            if others < 1e-6 * all {
                others = self.mass_without(view, row, slot); // the difference has lost its digits
            }
            let gain = 1.0 / others;
            self.spare[rows + row] += gain;
            self.kept.shares[row * stride + slot] -= gain;
        }
        for row in 0..rows {
            let gain = self.spare[rows + row];
            self.kept.gains[row] += gain;
            for (share, count) in self.kept.shares[row * stride..][..stride].iter_mut().zip(&self.counts) {
                *share += gain * count;
            }
        }
        self.keep_sizes();
    }

    /// Keeps the topics of the present state themselves.
    pub fn keep_counts(&mut self) {
        self.keep_one_more(false);
        let stride = self.counts.len();
        for token in &self.tokens {
            self.kept.shares[token.row as usize * stride + token.slot as usize] += 1.0;
        }
        self.keep_sizes();
    }

    /// A sweep that keeps, for every token, the probabilities of its topic at the moment it is drawn.
    pub fn sweep_and_keep(&mut self, view: &TopicView, random: &mut Stream) {
        self.keep_one_more(true);
        let tokens = self.tokens.len();
        for place in 0..tokens {
            self.tokens.swap(place, place + random.below(tokens - place));
            let Token { row, slot } = self.tokens[place];
            self.counts[slot as usize] -= 1.0;
            let gain = 1.0 / self.mass(view, row);
            self.kept.gains[row as usize] += gain;
            let stride = self.counts.len();
            let shares = self.kept.shares[row as usize * stride..][..stride].iter_mut();
            shares.zip(&self.counts).for_each(|(share, count)| *share += gain * count);
            let (slot, _) = self.draw(view, row, NO_SLOT, random);
            self.counts[slot as usize] += 1.0;
            self.tokens[place].slot = slot;
        }
        self.keep_sizes();
    }

    /// Opens the books for one more kept sweep.
    fn keep_one_more(&mut self, without_weights: bool) {
        if self.kept.sweeps == 0 {
            self.kept.without_weights = without_weights;
            self.kept.columns = self.counts.len();
            self.kept.shares.resize(self.counts.len() * self.words.len(), 0.0);
            self.kept.gains.resize(self.words.len(), 0.0);
        }
        self.kept.sweeps += 1;
    }

    fn keep_sizes(&mut self) {
        for (&topic, &count) in self.topics.iter().zip(&self.counts) {
            if count > 0.0 {
                self.kept.sizes.push((topic, count as u32));
            }
        }
    }

    /// Visits every token once, in uniformly random order, with one proposal drawn from its word and one from the
    /// document (algorithms.md 3.11).
    pub fn sweep_by_proposals(&mut self, view: &TopicView, random: &mut Stream) {
        let tokens = self.tokens.len();
        for place in 0..tokens {
            self.tokens.swap(place, place + random.below(tokens - place));
            let word = self.words[self.tokens[place].row as usize];
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
            self.topics[other.slot as usize] as usize
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
        self.counts[slot as usize] -= 1.0;
        let weights = view.row(self.words[row as usize]);
        let value = |chain: &Self, topic: usize| {
            let count = match chain.slot_of[topic] {
                NO_SLOT => 0.0,
                slot => chain.counts[slot as usize],
            };
            ratio(count + view.alpha()[topic], weights[topic])
        };
        let old = self.topics[slot as usize] as usize;
        let accepted = random.uniform() * value(self, old) < value(self, proposed);
        let slot = if accepted { self.slot_for(view, proposed) } else { slot };
        self.counts[slot as usize] += 1.0;
        self.tokens[place].slot = slot;
    }

    /// The mass of a word with one token taken out of a slot, without cancellation.
    #[cold]
    fn mass_without(&mut self, view: &TopicView, row: usize, slot: usize) -> f64 {
        self.counts[slot] -= 1.0;
        let mass = self.mass(view, row as u32);
        self.counts[slot] += 1.0;
        mass
    }

    /// Hands over what was kept, in exchange for old buffers to use again.
    pub fn take_kept(&mut self, into: &mut Kept) {
        self.kept.topics.extend_from_slice(&self.topics);
        std::mem::swap(&mut self.kept, into);
        self.kept.clear();
    }
}

/// Products of weights and counts, one token of the slot `without` left out, summed lane by lane; `partial` gets
/// the running sums.
#[inline(always)]
fn running_lanes(weights: &[f64], counts: &[f64], without: u32, partial: &mut [f64]) -> [f64; LANES] {
    let mut lanes = [0.0; LANES];
    let mut left_out = i64::from(without);
    let chunks = weights.as_chunks::<LANES>().0.iter().zip(counts.as_chunks::<LANES>().0);
    for ((weights, counts), partial) in chunks.zip(partial.as_chunks_mut::<LANES>().0) {
        let one = unit_lane(left_out);
        for lane in 0..LANES {
            lanes[lane] += weights[lane] * (counts[lane] - one[lane]);
        }
        left_out -= LANES as i64;
        *partial = lanes;
    }
    lanes
}

/// A one in the given lane, or none if it is out of range, without a branch: a window into zeros around a one.
#[inline(always)]
fn unit_lane(lane: i64) -> &'static [f64; LANES] {
    static ONE: [f64; 3 * LANES] = {
        let mut one = [0.0; 3 * LANES];
        one[LANES] = 1.0;
        one
    };
    let start = (LANES as i64 - lane).clamp(0, 2 * LANES as i64) as usize;
    ONE[start..].first_chunk().unwrap_or(&[0.0; LANES])
}

/// Running sums over the lanes; the last one adds up as [`add_lanes`] does, so it equals [`dot`].
#[inline(always)]
fn lane_ends(lanes: [f64; LANES]) -> [f64; LANES] {
    let [a, b, c, d, e, f, g, _] = lanes;
    let (ab, cd, ef) = (a + b, c + d, e + f);
    let abcd = ab + cd;
    [a, ab, ab + c, abcd, abcd + e, abcd + ef, abcd + (ef + g), add_lanes(lanes)]
}

/// Changes the row length of a matrix from `old` to the larger `new`.
fn relayout(matrix: &mut Vec<f64>, spare: &mut Vec<f64>, rows: usize, old: usize, new: usize) {
    spare.clear();
    spare.resize(rows * new, 0.0);
    for row in 0..rows {
        spare[row * new..][..old].copy_from_slice(&matrix[row * old..][..old]);
    }
    std::mem::swap(matrix, spare);
}
