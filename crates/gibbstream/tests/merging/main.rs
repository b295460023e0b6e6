//! The E-step in blocks: whatever the blocks, the order in which their statistics come back and the way through bytes, what is
//! learnt has the bits of [`Online::partial_fit`].
//!
//! Boosted methods refresh their parameters after every pass over the whole minibatch, and collapsed Gibbs sampling of a
//! corpus is one chain over all of its tokens: neither can be split, and neither is here.
#![allow(missing_docs, clippy::unwrap_used, reason = "these are tests, helpers included")]

mod learners;
mod refusals;
mod rows;
mod topics;

use gibbstream::file::bytes::{from_bytes, to_bytes};
use gibbstream::inference::LocalInference;
use gibbstream::learn::online::Online;
use gibbstream::model::{LatentModel, Statistics};
use gibbstream::numerics::random::{Purpose, Seed, Stream};
use std::fmt::Debug;
use std::ops::Range;

/// Numbers of blocks; a hundred are more than there are observations, so some are empty.
const BLOCKS: [usize; 4] = [1, 2, 7, 100];

/// Learns from some minibatches of `size` observations at once and in blocks, and compares all bits after every update.
/// `cut` has the observations at some places of the stream. Returns the last state.
fn same_bits<M: LatentModel<State: Debug>, L: LocalInference<M>>(
    name: &str,
    new: impl Fn() -> Online<M, L>,
    cut: impl Fn(Range<usize>) -> M::Batch,
    (size, updates): (usize, usize),
) -> M::State {
    let mut last = None;
    for blocks in BLOCKS {
        let (mut whole, mut parts) = (new(), new());
        let mut random = Seed(blocks as u64).stream(Purpose::Initial, [0, 0]);
        for update in 0..updates {
            let places = update * size..(update + 1) * size;
            whole.partial_fit(&cut(places.clone())).unwrap();
            let statistics = in_blocks(&mut parts, &cut, places, blocks, &mut random);
            assert_eq!(parts.absorb(&statistics).unwrap(), whole.clock());
            assert!(bits(&whole) == bits(&parts), "{name}: {blocks} blocks, update {}", update + 1);
        }
        last = whole.take_state();
    }
    last.unwrap()
}

/// Every number of a state: what is printed is read back as the same bits.
fn bits<M: LatentModel<State: Debug>, L: LocalInference<M>>(online: &Online<M, L>) -> String {
    format!("{:?}", online.state().unwrap())
}

/// The statistics of a minibatch, computed in blocks, sent, and merged two at a time in any order.
fn in_blocks<M: LatentModel, L: LocalInference<M>>(
    online: &mut Online<M, L>,
    cut: impl Fn(Range<usize>) -> M::Batch,
    places: Range<usize>,
    blocks: usize,
    random: &mut Stream,
) -> M::Statistics {
    let minibatch = cut(places.clone());
    online.begin(&minibatch).unwrap();
    let view: M::View = from_bytes(&to_bytes(&online.view(&minibatch).unwrap())).unwrap();
    let mut sent = Vec::new();
    for block in cut_at_random(places, blocks, random) {
        let answer = || to_bytes(&online.e_step(&view, &cut(block.clone())).unwrap());
        sent.push(answer());
        // Nobody knew whether the first answer would arrive; both are the same, and one is dropped.
        assert!(random.uniform() > 0.2 || sent.last() == Some(&answer()));
    }
    let mut parts: Vec<M::Statistics> = sent.iter().map(|bytes| from_bytes(bytes).unwrap()).collect();
    while parts.len() > 1 {
        let part = parts.swap_remove(random.below(parts.len()));
        let into = random.below(parts.len());
        parts[into].merge(&part).unwrap();
    }
    parts.pop().unwrap()
}

/// Consecutive blocks of any sizes, some of which may be empty.
fn cut_at_random(places: Range<usize>, blocks: usize, random: &mut Stream) -> Vec<Range<usize>> {
    let mut ends: Vec<usize> =
        (1..blocks).map(|_| places.start + random.below(places.len() + 1)).chain([places.end]).collect();
    ends.sort_unstable();
    let starts = [places.start].into_iter().chain(ends.clone());
    starts.zip(ends).map(|(start, end)| start..end).collect()
}
