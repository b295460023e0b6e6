//! Drawing the topics of tokens anew, given all the others: the innermost loop of everything.
//!
//! With weights relative to the prior mass of the word, a token takes slot s with weight `u_s n_s` and a topic
//! from the prior with weight 1. The products are summed down the blocks, lane by lane, then across the lanes;
//! a uniform number between zero and the whole mass finds its lane by sixteen comparisons, and its block by as many
//! comparisons as there are blocks. There is no branch on the outcome but for the prior.

use super::chain::Token;
use super::slots::Slots;
use crate::lanes::{Block, Lanes, WIDTH};
use crate::model::view::TopicView;
use crate::random::Stream;
use std::ops::Range;

/// Lanes in which a mask may have bits.
const ALL: u32 = (1 << WIDTH) - 1;

/// Draws the topics of the tokens in `places` anew, one after another.
#[inline(always)]
pub(super) fn draw_in_order<V: Lanes>(
    slots: &mut Slots,
    tokens: &mut [Token],
    places: Range<usize>,
    view: &TopicView,
    random: &mut Stream,
) {
    let Range { start: mut place, end } = places;
    while place < end {
        let rest = place..end;
        place = match slots.counts.len() {
            1 => draw_with_blocks::<V, 1>(slots, tokens, rest, view, random),
            2 => draw_with_blocks::<V, 2>(slots, tokens, rest, view, random),
            3 => draw_with_blocks::<V, 3>(slots, tokens, rest, view, random),
            4 => draw_with_blocks::<V, 4>(slots, tokens, rest, view, random),
            5 => draw_with_blocks::<V, 5>(slots, tokens, rest, view, random),
            6 => draw_with_blocks::<V, 6>(slots, tokens, rest, view, random),
            7 => draw_with_blocks::<V, 7>(slots, tokens, rest, view, random),
            8 => draw_with_blocks::<V, 8>(slots, tokens, rest, view, random),
            _ => {
                let Token { row, slot } = tokens[place];
                slots.change(slot, -1.0);
                let slot = draw_one::<V>(slots, row, view, random);
                slots.change(slot, 1.0);
                tokens[place].slot = slot;
                place + 1
            }
        };
    }
}

/// Products of weights and counts, summed down the blocks, and across the lanes of the last one.
#[derive(Clone, Copy)]
struct Sums<V, const N: usize> {
    down: [V; N],
    across: V,
}

impl<V: Lanes, const N: usize> Sums<V, N> {
    #[inline(always)]
    fn new(weights: &[Block; N], counts: &[V; N]) -> Self {
        let mut down = *counts;
        for block in 0..N {
            let product = V::load(&weights[block]).mul(counts[block]);
            down[block] = if block == 0 { product } else { down[block - 1].add(product) };
        }
        Self { down, across: down[N - 1].running_sums() }
    }

    /// As if there were one more token in `slot`, where the word has the given weight.
    #[inline(always)]
    fn with_one_in(mut self, slot: u32, weight: V) -> Self {
        let lane = slot % WIDTH as u32;
        self.across = self.across.add_where(ALL << lane & ALL, weight);
        for block in 0..N {
            let reached = u32::from(slot / WIDTH as u32 <= block as u32);
            self.down[block] = self.down[block].add_where(reached << lane, weight);
        }
        self
    }

    /// The slot at share `uniform` of the whole mass, the prior's last.
    #[inline(always)]
    fn find(&self, uniform: f32) -> Place {
        let at = self.across.last().add(V::splat(1.0)).mul(V::splat(uniform));
        let passed = self.across.at_most(at);
        if passed == ALL {
            return Place::Prior;
        }
        let lane = (!passed).trailing_zeros();
        let before = self.across.sub(self.down[N - 1]);
        let inside = at.sub(before).max(V::splat(0.0));
        let mut block = 0;
        for sum in &self.down {
            block += sum.at_most(inside) >> lane & 1;
        }
        if block < N as u32 { Place::Slot(block * WIDTH as u32 + lane) } else { Place::Lane(lane) }
    }
}

/// What a share of the mass falls on.
#[derive(Clone, Copy)]
enum Place {
    Slot(u32),
    /// Past the end of a lane, because of rounding.
    Lane(u32),
    Prior,
}

/// Bit of a slot in the mask of a block.
#[inline(always)]
fn bit<const N: usize>(slot: u32, block: usize) -> u32 {
    if N <= 4 {
        (1_u64 << (slot & 63) >> (WIDTH * block)) as u32 & ALL
    } else {
        u32::from(slot / WIDTH as u32 == block as u32) << (slot % WIDTH as u32)
    }
}

/// The same for a fixed number of blocks, whose counts stay in registers. While a draw is being decided, the sums
/// of the next token are already under way; what the draw adds to them comes last. Returns the first place that
/// was not drawn, which is short of the end if a topic has made the blocks more.
#[inline(always)]
fn draw_with_blocks<V: Lanes, const N: usize>(
    slots: &mut Slots,
    tokens: &mut [Token],
    places: Range<usize>,
    view: &TopicView,
    random: &mut Stream,
) -> usize {
    let (tokens, last) = (&mut tokens[..places.end], places.end - 1);
    let mut stream = random.clone();
    let one = V::splat(1.0);
    let mut counts: [V; N] = std::array::from_fn(|block| V::load(&slots.counts[block]));
    let Token { mut row, slot } = tokens[places.start];
    for block in 0..N {
        counts[block] = counts[block].sub_where(bit::<N>(slot, block), one);
    }
    let mut sums = Sums::new(weights_of(slots, row), &counts);
    for place in places {
        let next = tokens[(place + 1).min(last)];
        let mut next_counts = counts;
        for block in 0..N {
            next_counts[block] = counts[block].sub_where(bit::<N>(next.slot, block), one);
        }
        let next_sums = Sums::new(weights_of(slots, next.row), &next_counts);
        let slot = match sums.find(stream.uniform() as f32) {
            Place::Slot(slot) => slot,
            other => {
                for block in 0..N {
                    counts[block].store(&mut slots.counts[block]);
                }
                let slot = draw_rarely(slots, row, other, view, &mut stream);
                if slots.counts.len() != N {
                    tokens[place].slot = slot;
                    slots.change(slot, 1.0);
                    *random = stream;
                    return place + 1;
                }
                slot
            }
        };
        tokens[place].slot = slot;
        let weight = weights_of::<N>(slots, next.row).as_flattened()[slot as usize];
        sums = next_sums.with_one_in(slot, V::splat(weight));
        counts = if place < last { next_counts } else { counts };
        for block in 0..N {
            counts[block] = counts[block].add_where(bit::<N>(slot, block), one);
        }
        row = next.row;
    }
    for block in 0..N {
        counts[block].store(&mut slots.counts[block]);
    }
    *random = stream;
    last + 1
}

#[inline(always)]
fn weights_of<const N: usize>(slots: &Slots, row: u32) -> &[Block; N] {
    slots.weights[row as usize * N..].first_chunk().unwrap_or(&[[0.0; WIDTH]; N])
}

/// A slot for one token of the word in `row`, given the counts, for any number of blocks.
#[inline(always)]
pub(super) fn draw_one<V: Lanes>(slots: &mut Slots, row: u32, view: &TopicView, random: &mut Stream) -> u32 {
    let mut lanes = V::splat(0.0);
    for (weights, counts) in slots.weights_of(row).iter().zip(&slots.counts) {
        lanes = lanes.add(V::load(weights).mul(V::load(counts)));
    }
    // One block that holds the sums of all.
    let sums = Sums { down: [lanes], across: lanes.running_sums() };
    let uniform = random.uniform() as f32;
    let place = match sums.find(uniform) {
        Place::Slot(lane) => find_in_lane::<V>(slots, row, lane, &sums, uniform),
        other => other,
    };
    match place {
        Place::Slot(slot) => slot,
        other => draw_rarely(slots, row, other, view, random),
    }
}

/// The block, for a lane that was found with the sums of all blocks.
#[inline(always)]
fn find_in_lane<V: Lanes>(slots: &Slots, row: u32, lane: u32, sums: &Sums<V, 1>, uniform: f32) -> Place {
    let value = |lanes: V| {
        let mut block = [0.0; WIDTH];
        lanes.store(&mut block);
        block[lane as usize]
    };
    let at = sums.across.last().add(V::splat(1.0)).mul(V::splat(uniform));
    let inside = value(at.sub(sums.across.sub(sums.down[0])).max(V::splat(0.0)));
    let mut sum = 0.0;
    for (block, (weights, counts)) in slots.weights_of(row).iter().zip(&slots.counts).enumerate() {
        sum += weights[lane as usize] * counts[lane as usize];
        if sum > inside {
            return Place::Slot((block * WIDTH) as u32 + lane);
        }
    }
    Place::Lane(lane)
}

/// The draws that fall on the prior, and the few that rounding has carried past the end of their lane: those get
/// the last slot there, or anywhere, with any weight.
#[inline(never)]
fn draw_rarely(slots: &mut Slots, row: u32, place: Place, view: &TopicView, random: &mut Stream) -> u32 {
    if let Place::Lane(lane) = place {
        let weights = slots.weights_of(row).as_flattened();
        let products = weights.iter().zip(slots.counts.as_flattened()).map(|(weight, count)| weight * count);
        let positive = || products.clone().enumerate().rev().filter(|(_, product)| *product > 0.0);
        let in_lane = positive().find(|(slot, _)| slot % WIDTH == lane as usize);
        if let Some((slot, _)) = in_lane.or_else(|| positive().next()) {
            return slot as u32;
        }
    }
    let word = slots.words[row as usize];
    let topic = view.find_in_prior(word, random.uniform());
    slots.slot_for(view, topic)
}
