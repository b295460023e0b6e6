//! Which documents are shown: the most typical of each topic, then a uniform sample, in bounded memory.

use crate::numerics::random::{Purpose, Seed};
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

/// Documents of a topic that are kept, if there is room.
const MOST_TYPICAL: usize = 20;

/// The documents seen so far that would be shown if there were no more. Who they are does not depend on the order of two
/// documents that are as typical, but for the one that comes first in the input.
pub(crate) struct Showcase<T> {
    most: usize,
    seed: Seed,
    /// For each topic: share, place in the input, document; the largest share first.
    typical: Vec<Vec<(f64, u64, Arc<T>)>>,
    typical_each: usize,
    /// By the random key of each: the smallest keys of all are a uniform sample.
    sample: BTreeMap<(u64, u64), Arc<T>>,
}

/// The documents to show, in the order of the input.
pub(crate) struct Chosen<T> {
    /// Places in the input.
    pub places: Vec<u64>,
    pub documents: Vec<Arc<T>>,
    /// For each topic, its most typical documents, as places in `documents`.
    pub typical: Vec<Vec<u32>>,
    /// Those that are a uniform sample, as places in `documents`.
    pub sample: Vec<u32>,
}

impl<T: PartialEq> Showcase<T> {
    /// Room for `most` documents; `shares` are those of the topics.
    pub fn new(most: usize, shares: &[f64], seed: Seed) -> Self {
        let topics = shares.len().max(1);
        Self {
            most,
            seed,
            typical: vec![Vec::new(); shares.len()],
            typical_each: (most / (2 * topics)).clamp(1, MOST_TYPICAL),
            sample: BTreeMap::new(),
        }
    }

    /// Looks at a document; `make` is asked for what to keep of it only if it is kept.
    pub fn look(&mut self, place: u64, shares: &[f64], make: impl FnOnce() -> T) {
        if self.most == 0 {
            return;
        }
        let key = (self.seed.stream(Purpose::Showcase, [place, 0]).uniform().to_bits(), place);
        let sampled = self.sample.len() < self.most || self.sample.keys().next_back().is_some_and(|last| key < *last);
        let room = |best: &[(f64, u64, Arc<T>)], share: f64| {
            best.len() < self.typical_each || best.last().is_some_and(|last| share > last.0)
        };
        let topics = self.typical.iter().zip(shares).enumerate();
        let topics: Vec<usize> =
            topics.filter(|(_, (best, share))| room(best, **share)).map(|(topic, _)| topic).collect();
        if !sampled && topics.is_empty() {
            return;
        }
        let document = Arc::new(make());
        for topic in topics {
            let (best, share) = (&mut self.typical[topic], shares[topic]);
            // Behind all that are at least as typical, so that the first of two wins; the same document again says nothing.
            let at = best.partition_point(|other| other.0 >= share);
            let equal = best[..at].iter().rev().take_while(|other| other.0 == share);
            if equal.into_iter().any(|other| *other.2 == *document) {
                continue;
            }
            best.insert(at, (share, place, document.clone()));
            best.truncate(self.typical_each);
        }
        if sampled {
            self.sample.insert(key, document);
            if self.sample.len() > self.most {
                self.sample.pop_last();
            }
        }
    }

    /// The documents to show. Where there is no room for one of each topic, topics with the largest shares come first.
    pub fn choose(self, shares: &[f64]) -> Chosen<T> {
        let mut order: Vec<usize> = (0..self.typical.len()).collect();
        order.sort_by(|&a, &b| shares[b].total_cmp(&shares[a]).then(a.cmp(&b)));
        let mut chosen: BTreeMap<u64, Arc<T>> = BTreeMap::new();
        let mut typical: Vec<Vec<u64>> = vec![Vec::new(); self.typical.len()];
        for rank in 0..self.typical_each {
            for &topic in &order {
                let Some((_, place, document)) = self.typical[topic].get(rank) else { continue };
                if chosen.len() < self.most || chosen.contains_key(place) {
                    chosen.insert(*place, document.clone());
                    typical[topic].push(*place);
                }
            }
        }
        let mut sample = BTreeSet::new();
        for ((_, place), document) in self.sample {
            if chosen.len() == self.most && !chosen.contains_key(&place) {
                break;
            }
            chosen.insert(place, document);
            sample.insert(place);
        }
        let places: Vec<u64> = chosen.keys().copied().collect();
        let at = |place: &u64| places.binary_search(place).unwrap_or_default() as u32;
        Chosen {
            typical: typical.iter().map(|topic| topic.iter().map(at).collect()).collect(),
            sample: sample.iter().map(at).collect(),
            documents: chosen.into_values().collect(),
            places,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::numerics::random::Stream;

    fn mixtures(documents: usize, topics: usize, random: &mut Stream) -> Vec<Vec<f64>> {
        let mut draw = || {
            let mut theta = vec![0.0; topics];
            random.dirichlet(&vec![0.3; topics], &mut theta);
            // Coarse, so that there are ties.
            theta.iter().map(|share| (share * 20.0).round() / 20.0).collect()
        };
        (0..documents).map(|_| draw()).collect()
    }

    fn choose(mixtures: &[Vec<f64>], most: usize) -> Chosen<usize> {
        let topics = mixtures[0].len();
        let shares: Vec<f64> = (0..topics).map(|k| mixtures.iter().map(|theta| theta[k]).sum()).collect();
        let mut showcase = Showcase::new(most, &shares, Seed(3));
        for (place, theta) in mixtures.iter().enumerate() {
            showcase.look(place as u64, theta, || place);
        }
        showcase.choose(&shares)
    }

    #[test]
    fn the_most_typical_are_those_of_a_sorted_list() {
        let mut random = Seed(1).stream(Purpose::Initial, [0, 0]);
        let mixtures = mixtures(400, 6, &mut random);
        let chosen = choose(&mixtures, 60);
        assert_eq!(chosen.documents.len(), 60);
        for (topic, typical) in chosen.typical.iter().enumerate() {
            let mut all: Vec<usize> = (0..400).collect();
            all.sort_by(|&a, &b| mixtures[b][topic].total_cmp(&mixtures[a][topic]).then(a.cmp(&b)));
            let found: Vec<usize> = typical.iter().map(|&at| *chosen.documents[at as usize]).collect();
            assert_eq!(found, all[..5], "60 documents, half of them for 6 topics");
        }
        assert!(chosen.places.is_sorted_by(|a, b| a < b));
        assert!(chosen.places.iter().zip(&chosen.documents).all(|(&place, document)| place == **document as u64));
    }

    /// Every document is in the sample as often as any other: 100 seeds, 300 documents, 100 places.
    #[test]
    fn the_sample_is_uniform() {
        let mut times = vec![0_u32; 300];
        for seed in 0..100 {
            let mut showcase = Showcase::new(100, &[1.0], Seed(seed));
            showcase.typical_each = 0;
            showcase.typical.clear();
            (0..300).for_each(|place| showcase.look(place, &[], || ()));
            let chosen = showcase.choose(&[]);
            assert_eq!((chosen.documents.len(), chosen.sample.len()), (100, 100));
            chosen.places.iter().for_each(|&place| times[place as usize] += 1);
        }
        // Binomial(100, 1/3): mean 33.3, standard deviation 4.7; with 300 of them 5 deviations are once in 6,000 runs.
        assert!(times.iter().all(|&times| (10..=57).contains(&times)), "{times:?}");
        let early: u32 = times[..150].iter().sum();
        assert!((4700..=5300).contains(&early), "{early} of 10,000 in the first half");
    }

    #[test]
    fn all_documents_are_shown_if_there_is_room() {
        let mut random = Seed(2).stream(Purpose::Initial, [0, 0]);
        let chosen = choose(&mixtures(40, 3, &mut random), 100);
        assert_eq!((chosen.documents.len(), chosen.sample.len()), (40, 40));
        let few = choose(&mixtures(40, 8, &mut random), 5);
        assert_eq!(few.documents.len(), 5, "fewer than there are topics");
        assert!(few.typical.iter().all(|topic| topic.len() <= 1));
        assert_eq!(choose(&mixtures(40, 3, &mut random), 0).documents.len(), 0);
    }

    #[test]
    fn the_same_document_again_is_not_typical_again() {
        let mut showcase = Showcase::new(10, &[1.0], Seed(0));
        for (place, document) in ["a", "b", "a", "a"].into_iter().enumerate() {
            showcase.look(place as u64, &[0.9], || document);
        }
        let chosen = showcase.choose(&[1.0]);
        let typical: Vec<&str> = chosen.typical[0].iter().map(|&at| *chosen.documents[at as usize]).collect();
        assert_eq!(typical, ["a", "b"]);
    }
}
