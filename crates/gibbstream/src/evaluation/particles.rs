//! The particles of one document: in each, a topic for every token that the walk has passed.
//!
//! All particles pass the same tokens in the same order, so they share what follows from the words: one matrix of the
//! weights of the document's words in the topics that any particle uses. These topics have *slots*, as in the chain that
//! training uses (`inference/slots.rs`). Of its own a particle has the number of its tokens in each slot, and the slot of
//! each token: four bytes a token, however many words and topics there are.
//!
//! A token is drawn for one particle after another. Its weights are then read once, and no draw waits for the one before.

use crate::model::topics::view::TopicView;
use crate::numerics::lanes::{Block, Found, Lanes, Sums, WIDTH};
use crate::numerics::random::{Purpose, Seed, Stream};
use crate::numerics::vectorised::vectorised;

/// Marks a topic that has no slot.
const NO_SLOT: u32 = u32::MAX;

/// The particles of one document; working space that is used again for the next.
#[derive(Clone, Debug, Default)]
pub struct Particles {
    number: usize,
    slots: Slots,
    /// Tokens of each particle in each slot: `number x slots.blocks` blocks.
    counts: Vec<Block>,
    /// The row of the word of every token passed.
    rows: Vec<u32>,
    /// The slot of every token passed, in each particle.
    assigned: Vec<u32>,
    /// A particle draws from the stream of its place, so copies go different ways.
    streams: Vec<Stream>,
    /// Working space for the tokens of a document.
    pub(super) tokens: Vec<u32>,
    /// Tokens that were drawn in all particles.
    #[cfg(test)]
    pub(super) draws: usize,
}

/// The topics that any particle uses, and their weights for the words of the document.
#[derive(Clone, Debug, Default)]
struct Slots {
    /// Words of the document, as rows of the view.
    words: Vec<u32>,
    /// Topic of each slot in use.
    topics: Vec<u32>,
    /// Slot of each topic.
    slot_of: Vec<u32>,
    /// Blocks in a row.
    blocks: usize,
    /// `words x blocks` blocks; what lies in slots without tokens does not matter.
    weights: Vec<Block>,
    /// How often the weights of a topic were looked up.
    #[cfg(test)]
    lookups: usize,
}

impl Particles {
    /// So many particles that have passed no token of a document with these words (rows of the view).
    pub(super) fn begin(
        &mut self,
        view: &TopicView,
        words: impl Iterator<Item = u32>,
        number: usize,
        seed: Seed,
        key: u64,
    ) {
        debug_assert!(view.stick_concentration().is_none(), "frozen topics are as many as they are");
        self.number = number;
        self.slots.reset(view, words);
        self.counts.clear();
        self.counts.resize(number, [0.0; WIDTH]);
        self.rows.clear();
        self.assigned.clear();
        self.streams.clear();
        let streams = (1..=number as u64).map(|particle| seed.stream(Purpose::Evaluation, [key, particle]));
        self.streams.extend(streams);
    }

    /// Draws the topic of the token at `place` anew in every particle, given the topics of all others.
    pub(super) fn redraw(&mut self, view: &TopicView, place: usize) {
        vectorised!(V: (particles: &mut Particles = self, view: &TopicView = view, place: usize = place) -> () {
            particles.draw_in_all::<V>(view, place);
        });
    }

    /// The same for all tokens, first to last.
    pub(super) fn redraw_all(&mut self, view: &TopicView) {
        vectorised!(V: (particles: &mut Particles = self, view: &TopicView = view) -> () {
            for place in 0..particles.rows.len() {
                particles.draw_in_all::<V>(view, place);
            }
        });
    }

    /// Passes one more token, of the word in `row`: every particle draws a topic for it.
    pub(super) fn pass(&mut self, view: &TopicView, row: u32) {
        self.rows.push(row);
        self.assigned.resize(self.assigned.len() + self.number, NO_SLOT);
        self.redraw(view, self.rows.len() - 1);
    }

    /// Gives `each` the mass `sum_k phi_kw (alpha_k + n_k)` of the word in `row`, particle by particle.
    pub(super) fn masses(&self, view: &TopicView, row: u32, each: impl FnMut(f64)) {
        let (word, weights) = (self.slots.words[row as usize], self.slots.weights_of(row));
        let (prior, scale) = (view.prior_mass(word), view.scale(word));
        let present = self.counts.chunks_exact(self.slots.blocks).map(|counts| {
            vectorised!(V: (weights: &[Block] = weights, counts: &[Block] = counts) -> f64 { V::dot(weights, counts) })
        });
        present.map(|present| prior + present / scale).for_each(each);
    }

    /// Makes some particles copies of others, as (copy, original) pairs say; no copy is the original of another.
    pub(super) fn copy(&mut self, pairs: &[(usize, usize)]) {
        let blocks = self.slots.blocks;
        for &(to, from) in pairs {
            self.counts.copy_within(from * blocks..(from + 1) * blocks, to * blocks);
        }
        for slots in self.assigned.chunks_exact_mut(self.number) {
            pairs.iter().for_each(|&(to, from)| slots[to] = slots[from]);
        }
    }

    /// Draws the token at `place` in all particles.
    #[inline(always)]
    fn draw_in_all<V: Lanes>(&mut self, view: &TopicView, place: usize) {
        #[cfg(test)]
        {
            self.draws += 1;
        }
        let mut particle = 0;
        // A draw may make the blocks more; the others go on with that many.
        while particle < self.number {
            particle = match self.slots.blocks {
                1 => self.draw_from::<V, 1>(view, place, particle),
                2 => self.draw_from::<V, 2>(view, place, particle),
                3 => self.draw_from::<V, 3>(view, place, particle),
                4 => self.draw_from::<V, 4>(view, place, particle),
                5 => self.draw_from::<V, 5>(view, place, particle),
                6 => self.draw_from::<V, 6>(view, place, particle),
                7 => self.draw_from::<V, 7>(view, place, particle),
                8 => self.draw_from::<V, 8>(view, place, particle),
                _ => self.draw_one::<V>(view, place, particle),
            };
        }
    }

    /// Draws the token in one particle after another, and returns the first that was left out because there are more
    /// blocks now. Weights stay in registers.
    #[inline(always)]
    fn draw_from<V: Lanes, const N: usize>(&mut self, view: &TopicView, place: usize, first: usize) -> usize {
        let Self { number, slots, counts, rows, assigned, streams, .. } = self;
        let (number, row) = (*number, rows[place]);
        let weights: [V; N] = {
            let blocks = slots.weights_of(row).first_chunk::<N>().unwrap_or(&[[0.0; WIDTH]; N]);
            std::array::from_fn(|block| V::load(&blocks[block]))
        };
        let one = V::splat(1.0);
        let assigned = &mut assigned[place * number..][..number];
        let particles = assigned.iter_mut().zip(counts.as_chunks_mut::<N>().0).zip(streams).enumerate();
        for (particle, ((assigned, counts), random)) in particles.skip(first) {
            let old = *assigned;
            // Without the token itself. The memory is changed only after it was read as a whole, or reading would wait.
            let sums = Sums::<V, N>::new(|block| {
                let others = V::load(&counts[block]).sub_where(bit::<N>(old, block), one);
                weights[block].mul(others)
            });
            let found = sums.find(share_of_mass(&sums, random));
            if old != NO_SLOT {
                counts.as_flattened_mut()[old as usize] -= 1.0;
            }
            let Found::Slot(slot) = found else {
                self.draw_rarely(view, place, particle, found);
                return particle + 1;
            };
            counts.as_flattened_mut()[slot as usize] += 1.0;
            *assigned = slot;
        }
        number
    }

    /// The same for any number of blocks and one particle.
    #[inline(always)]
    fn draw_one<V: Lanes>(&mut self, view: &TopicView, place: usize, particle: usize) -> usize {
        let (blocks, at) = (self.slots.blocks, place * self.number + particle);
        let counts = &mut self.counts[particle * blocks..][..blocks];
        let old = self.assigned[at];
        if old != NO_SLOT {
            counts.as_flattened_mut()[old as usize] -= 1.0;
        }
        let weights = self.slots.weights_of(self.rows[place]);
        let mut lanes = V::splat(0.0);
        for (weights, counts) in weights.iter().zip(&*counts) {
            lanes = lanes.add(V::load(weights).mul(V::load(counts)));
        }
        // One block that holds the sums of all.
        let sums = Sums::<V, 1>::new(|_| lanes);
        let share = share_of_mass(&sums, &mut self.streams[particle]);
        let found = match sums.find(share) {
            Found::Slot(lane) => find_in_lane(weights, counts, lane, sums.inside(lane, share)),
            other => other,
        };
        match found {
            Found::Slot(slot) => {
                counts.as_flattened_mut()[slot as usize] += 1.0;
                self.assigned[at] = slot;
            }
            other => self.draw_rarely(view, place, particle, other),
        }
        particle + 1
    }

    /// The draws that fall on the prior, and the few that rounding has carried past the end of their lane: those get the
    /// last slot there, or anywhere, with any weight. The token is in no slot at the moment.
    #[inline(never)]
    fn draw_rarely(&mut self, view: &TopicView, place: usize, particle: usize, found: Found) {
        let row = self.rows[place];
        let slot = self.last_slot_with_mass(row, particle, found).unwrap_or_else(|| {
            let word = self.slots.words[row as usize];
            let topic = view.find_in_prior(word, self.streams[particle].uniform());
            self.slot_for(view, topic)
        });
        let blocks = self.slots.blocks;
        self.counts[particle * blocks..][..blocks].as_flattened_mut()[slot as usize] += 1.0;
        self.assigned[place * self.number + particle] = slot;
    }

    fn last_slot_with_mass(&self, row: u32, particle: usize, found: Found) -> Option<u32> {
        let Found::Lane(lane) = found else { return None };
        let blocks = self.slots.blocks;
        let weights = self.slots.weights_of(row).as_flattened();
        let counts = self.counts[particle * blocks..][..blocks].as_flattened();
        let positive = || (0..weights.len()).rev().filter(|&slot| weights[slot] * counts[slot] > 0.0);
        let in_lane = positive().find(|slot| slot % WIDTH == lane as usize);
        in_lane.or_else(|| positive().next()).map(|slot| slot as u32)
    }

    /// The slot of a topic, a new one if it has none.
    fn slot_for(&mut self, view: &TopicView, topic: usize) -> u32 {
        let slot = self.slots.slot_of[topic];
        if slot != NO_SLOT {
            return slot;
        }
        if self.slots.topics.len() < self.slots.blocks * WIDTH {
            return self.slots.take(view, topic, self.slots.topics.len());
        }
        if let Some(slot) = self.empty_slot() {
            return self.slots.take(view, topic, slot);
        }
        self.widen();
        self.slots.take(view, topic, self.slots.topics.len())
    }

    /// A slot in which no particle has a token.
    fn empty_slot(&self) -> Option<usize> {
        let blocks = self.slots.blocks;
        (0..blocks).find_map(|block| {
            let mut sums = [0.0; WIDTH];
            for counts in self.counts.chunks_exact(blocks) {
                sums.iter_mut().zip(&counts[block]).for_each(|(sum, count)| *sum += count);
            }
            sums.iter().position(|&sum| sum == 0.0).map(|lane| block * WIDTH + lane)
        })
    }

    /// Makes room for more slots.
    fn widen(&mut self) {
        let old = self.slots.blocks;
        let new = old + 1 + old / 4;
        self.counts = widened(&self.counts, old, new);
        self.slots.weights = widened(&self.slots.weights, old, new);
        self.slots.blocks = new;
    }
}

impl Slots {
    fn reset(&mut self, view: &TopicView, words: impl Iterator<Item = u32>) {
        for &topic in &self.topics {
            self.slot_of[topic as usize] = NO_SLOT;
        }
        self.topics.clear();
        if self.slot_of.len() < view.topics() {
            self.slot_of.resize(view.topics(), NO_SLOT);
        }
        self.words.clear();
        self.words.extend(words);
        self.blocks = 1;
        self.weights.clear();
        self.weights.resize(self.words.len(), [0.0; WIDTH]);
    }

    /// Gives a slot to a topic, and looks its weights up.
    fn take(&mut self, view: &TopicView, topic: usize, slot: usize) -> u32 {
        if slot == self.topics.len() {
            self.topics.push(topic as u32);
        } else {
            self.slot_of[self.topics[slot] as usize] = NO_SLOT;
            self.topics[slot] = topic as u32;
        }
        self.slot_of[topic] = slot as u32;
        #[cfg(test)]
        {
            self.lookups += 1;
        }
        let (block, place) = (slot / WIDTH, slot % WIDTH);
        let column = view.relative_column(&self.words, topic);
        for (weights, weight) in self.weights.chunks_exact_mut(self.blocks).zip(column) {
            weights[block][place] = weight;
        }
        slot as u32
    }

    /// Weights of the word in `row`, block by block.
    #[inline(always)]
    fn weights_of(&self, row: u32) -> &[Block] {
        &self.weights[row as usize * self.blocks..][..self.blocks]
    }
}

/// The bit of a slot in the mask of a block; none for [`NO_SLOT`].
#[inline(always)]
fn bit<const N: usize>(slot: u32, block: usize) -> u32 {
    u32::from(slot / WIDTH as u32 == block as u32) << (slot % WIDTH as u32)
}

/// A random share of the whole mass, in which the prior comes last with mass 1.
#[inline(always)]
fn share_of_mass<V: Lanes, const N: usize>(sums: &Sums<V, N>, random: &mut Stream) -> V {
    sums.total().add(V::splat(1.0)).mul(V::splat(random.uniform() as f32))
}

/// The slot in a lane at which the running sum passes `inside`.
fn find_in_lane(weights: &[Block], counts: &[Block], lane: u32, inside: f32) -> Found {
    let mut sum = 0.0;
    for (block, (weights, counts)) in weights.iter().zip(counts).enumerate() {
        sum += weights[lane as usize] * counts[lane as usize];
        if sum > inside {
            return Found::Slot((block * WIDTH) as u32 + lane);
        }
    }
    Found::Lane(lane)
}

/// A matrix whose rows have `new` blocks instead of `old`.
fn widened(matrix: &[Block], old: usize, new: usize) -> Vec<Block> {
    let mut wide = vec![[0.0; WIDTH]; matrix.len() / old * new];
    for (to, from) in wide.chunks_exact_mut(new).zip(matrix.chunks_exact(old)) {
        to[..old].copy_from_slice(from);
    }
    wide
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::corpus::{Document, Minibatch};
    use crate::evaluation::sequential::Sequential;
    use crate::evaluation::Estimator;
    use crate::model::topics::lda::Topics;

    const WORDS: usize = 40;

    /// What scoring one document takes: draws of tokens, lookups of topics' weights, and numbers that are held.
    fn work(tokens: usize, particles: usize) -> (usize, usize, usize) {
        let weight = |word: usize, topic: usize| 1.0 + ((word * 7 + topic * 13) % 11) as f64;
        let sum = |topic| (0..WORDS).map(|word| weight(word, topic)).sum::<f64>();
        let beta = (0..WORDS).flat_map(|word| (0..WIDTH).map(move |topic| weight(word, topic) / sum(topic)));
        let topics = Topics { beta: beta.collect(), alpha: vec![0.5; WIDTH] };
        let words: Vec<u32> = (0..tokens).map(|place| (place * place % WORDS) as u32).collect();
        let batch = Minibatch::new(&[Document::from_tokens(&words)], 0, 0);
        let mut view = TopicView::for_sampling();
        topics.view(&batch, &mut view);
        let mut space = Particles::default();
        let walk = Sequential::new(Estimator::Smc, particles);
        assert!(walk.log_likelihood(&view, batch.document(0), Seed(1), 0, &mut space) < 0.0);
        let held = (space.slots.weights.len() + space.counts.len()) * WIDTH + space.assigned.len();
        (space.draws, space.slots.lookups, held)
    }

    /// With as many topics as a block has slots, none is ever given away, so each is looked up once: for all particles, and
    /// for documents of any length.
    #[test]
    fn particles_share_the_weights_and_long_documents_cost_what_their_length_asks_for() {
        for (tokens, particles) in [(500, 1), (500, 20), (20_000, 1), (20_000, 20)] {
            let (draws, lookups, held) = work(tokens, particles);
            assert!((1..=WIDTH).contains(&lookups), "{tokens} tokens, {particles} particles: {lookups}");
            assert!(held <= WIDTH * (WORDS + particles) + tokens * particles, "{held} numbers are held");
            // One draw a token, and all earlier ones before each up to 1,000 tokens; beyond, few of them.
            let most = if tokens <= 1_000 { tokens * tokens.div_ceil(2) } else { tokens * 64 };
            assert!((tokens..=most + tokens).contains(&draws), "{draws} draws of {tokens} tokens");
        }
        let (few, many) = (work(20_000, 2).0, work(80_000, 2).0);
        assert!(many <= 4 * few, "four times the tokens take {many} draws instead of {few}");
    }
}
