//! Drawing the topics of tokens anew, given all the others: the innermost loop of everything.
//!
//! With weights relative to the prior mass of the word, a token takes slot s with weight `u_s n_s` and a topic
//! from the prior with weight 1. The products are summed down the blocks, lane by lane, then across the lanes;
//! a uniform number between zero and the whole mass finds its lane by sixteen comparisons, and its block by as many
//! comparisons as there are blocks. There is no branch on the outcome but for the prior.

use super::chain::Token;
use super::slots::Slots;
use crate::numerics::lanes::{ALL, Block, Found, Lanes, Sums, WIDTH};
use crate::model::topics::view::TopicView;
use crate::numerics::random::Stream;
use std::ops::Range;

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
    let mut sums = products(weights_of(slots, row), &counts);
    for place in places {
        let next = tokens[(place + 1).min(last)];
        let mut next_counts = counts;
        for block in 0..N {
            next_counts[block] = counts[block].sub_where(bit::<N>(next.slot, block), one);
        }
        let next_sums = products(weights_of(slots, next.row), &next_counts);
        let slot = match sums.find(share_of_mass(&sums, &mut stream)) {
            Found::Slot(slot) => slot,
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
        sums = next_sums.with_more(slot, V::splat(weight));
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
fn products<V: Lanes, const N: usize>(weights: &[Block; N], counts: &[V; N]) -> Sums<V, N> {
    Sums::new(|block| V::load(&weights[block]).mul(counts[block]))
}

/// A random share of the whole mass, in which the prior comes last with mass 1.
#[inline(always)]
fn share_of_mass<V: Lanes, const N: usize>(sums: &Sums<V, N>, random: &mut Stream) -> V {
    sums.total().add(V::splat(1.0)).mul(V::splat(random.uniform() as f32))
}

#[inline(always)]
fn weights_of<const N: usize>(slots: &Slots, row: u32) -> &[Block; N] {
    slots.weights[row as usize * N..].first_chunk().unwrap_or(&[[0.0; WIDTH]; N])
}

/// A slot for one token of the word in `row`, given the counts.
#[inline(always)]
pub(super) fn draw_one<V: Lanes>(slots: &mut Slots, row: u32, view: &TopicView, random: &mut Stream) -> u32 {
    match find_one::<V>(slots, row, random) {
        Found::Slot(slot) => slot,
        other => draw_rarely(slots, row, other, view, random),
    }
}

/// Where a random share of the mass of the word in `row` falls.
#[inline(always)]
fn find_one<V: Lanes>(slots: &Slots, row: u32, random: &mut Stream) -> Found {
    match slots.counts.len() {
        1 => find_in_blocks::<V, 1>(slots, row, random),
        2 => find_in_blocks::<V, 2>(slots, row, random),
        3 => find_in_blocks::<V, 3>(slots, row, random),
        4 => find_in_blocks::<V, 4>(slots, row, random),
        _ => find_in_many::<V>(slots, row, random),
    }
}

#[inline(always)]
fn find_in_blocks<V: Lanes, const N: usize>(slots: &Slots, row: u32, random: &mut Stream) -> Found {
    let counts: [V; N] = std::array::from_fn(|block| V::load(&slots.counts[block]));
    let sums = products(weights_of(slots, row), &counts);
    sums.find(share_of_mass(&sums, random))
}

/// The same for any number of blocks.
#[inline(always)]
fn find_in_many<V: Lanes>(slots: &Slots, row: u32, random: &mut Stream) -> Found {
    let mut lanes = V::splat(0.0);
    for (weights, counts) in slots.weights_of(row).iter().zip(&slots.counts) {
        lanes = lanes.add(V::load(weights).mul(V::load(counts)));
    }
    // One block that holds the sums of all.
    let sums = Sums::<V, 1>::new(|_| lanes);
    let at = share_of_mass(&sums, random);
    match sums.find(at) {
        Found::Slot(lane) => find_in_lane(slots, row, lane, sums.inside(lane, at)),
        other => other,
    }
}

/// The slot in a lane at which the running sum passes `inside`.
fn find_in_lane(slots: &Slots, row: u32, lane: u32, inside: f32) -> Found {
    let mut sum = 0.0;
    for (block, (weights, counts)) in slots.weights_of(row).iter().zip(&slots.counts).enumerate() {
        sum += weights[lane as usize] * counts[lane as usize];
        if sum > inside {
            return Found::Slot((block * WIDTH) as u32 + lane);
        }
    }
    Found::Lane(lane)
}

/// The draws that fall on the prior, and the few that rounding has carried past the end of their lane: those get
/// the last slot there, or anywhere, with any weight.
#[inline(never)]
fn draw_rarely(slots: &mut Slots, row: u32, found: Found, view: &TopicView, random: &mut Stream) -> u32 {
    if let Found::Lane(lane) = found {
        let weights = slots.weights_of(row).as_flattened();
        let products = weights.iter().zip(slots.counts.as_flattened()).map(|(weight, count)| weight * count);
        let positive = || products.clone().enumerate().rev().filter(|(_, product)| *product > 0.0);
        let in_lane = positive().find(|(slot, _)| slot % WIDTH == lane as usize);
        if let Some((slot, _)) = in_lane.or_else(|| positive().next()) {
            return slot as u32;
        }
    }
    let word = slots.words[row as usize];
    let mut topic = view.find_in_prior(word, random.uniform());
    if let Some(concentration) = view.stick_concentration()
        && topic == view.known_topics()
    {
        topic = slots.unmet_topic(topic, concentration, random);
    }
    slots.slot_for(view, topic)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::numerics::lanes::Plain;
    use crate::numerics::random::{Purpose, Seed};

    /// Weights and counts are whole numbers, so that sums have no rounding and the slot is certain: the first, lane by
    /// lane and down each lane, at which the running sum passes the drawn share.
    #[test]
    fn one_draw_is_a_walk_down_the_lanes() {
        let mut random = Seed(5).stream(Purpose::Local, [0, 0]);
        for blocks in 1..=6 {
            let mut some = |limit: usize| -> Vec<Block> {
                (0..3 * blocks).map(|_| std::array::from_fn(|_| random.below(limit) as f32)).collect()
            };
            let mut slots = Slots::default();
            slots.weights = some(9);
            slots.counts = some(4)[..blocks].to_vec();
            let mut found_prior = 0;
            for draw in 0..3000 {
                let (row, mut stream) = (draw % 3, Seed(6).stream(Purpose::Local, [0, u64::from(draw)]));
                let share = stream.clone().uniform() as f32;
                let found = find_one::<Plain>(&slots, row, &mut stream);
                let expected = walk(&slots.weights[row as usize * blocks..], &slots.counts, share);
                match found {
                    Found::Slot(slot) => assert_eq!(Some(slot), expected, "{blocks} blocks, draw {draw}"),
                    _ => assert_eq!(None, expected, "{blocks} blocks, draw {draw}"),
                }
                found_prior += u32::from(expected.is_none());
            }
            assert!(found_prior < 200, "the prior has the mass of one token among hundreds");
        }
    }

    fn walk(weights: &[Block], counts: &[Block], share: f32) -> Option<u32> {
        let slots = (0..WIDTH).flat_map(|lane| (0..counts.len()).map(move |block| (block, lane)));
        let mass = |(block, lane): (usize, usize)| weights[block][lane] * counts[block][lane];
        let at = (slots.clone().map(mass).sum::<f32>() + 1.0) * share;
        let mut sum = 0.0;
        slots.into_iter().find_map(|slot| {
            sum += mass(slot);
            (sum > at).then_some((slot.0 * WIDTH + slot.1) as u32)
        })
    }
}
