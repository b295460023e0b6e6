//! Which of a topic's words go together in documents.
//!
//! The words of highest score in a topic are often a mixture: some belong to its theme, others are frequent near it. After
//! training, documents are read once more, and for the best words of each topic it is counted in how many documents they
//! and their pairs occur. Then the word that fits the others worst is dropped until those to be shown are left: that with
//! the least sum of the mean NPMI with all others and a small part of its log score. Memory depends on the number of topics
//! alone.

use super::word_order::TellingWords;
use crate::corpus::{Document, Vocabulary};
use crate::file::ShownWords;
use crate::learn::TopicParameters;
use rustc_hash::FxHashMap;

/// Words of a topic that are compared with each other.
const CANDIDATES: usize = 30;

/// Words that are chosen among them; the others follow.
const CHOSEN: usize = 10;

/// How much the log score of a word counts beside its NPMI.
const SCORE_WEIGHT: f64 = 0.06;

/// Keeps logarithms of pairs that never meet finite.
const EPSILON: f64 = 1e-12;

/// Documents that are counted at most.
pub const MOST_DOCUMENTS: usize = 20_000;

/// Of a longer input every second document is counted, every third ... but no fewer than every so many: the rest of
/// a very long one is not read.
const LONGEST_STRIDE: u64 = 5;

/// Every how many documents one is counted, of so many.
pub fn stride(documents: u64) -> usize {
    documents.div_ceil(MOST_DOCUMENTS as u64).clamp(1, LONGEST_STRIDE) as usize
}

/// Counts in how many documents the best words of topics occur, alone and in pairs.
pub struct TogetherCounter {
    /// The best words of each topic with their log scores, the best first.
    topics: Vec<Vec<(u32, f64)>>,
    /// Of each word, the topics that have it among their best, and its place there.
    places: FxHashMap<u32, Vec<(u32, u32)>>,
    /// Of each topic, documents that have word i and word j, at `i * CANDIDATES + j` with i <= j.
    pairs: Vec<Vec<u64>>,
    documents: u64,
    /// Of each topic, the places of its words in the document at hand, and the topics that have any.
    present: Vec<Vec<u32>>,
    touched: Vec<u32>,
}

impl TogetherCounter {
    /// Nothing counted yet.
    pub fn new(parameters: &TopicParameters, vocabulary: &Vocabulary) -> Self {
        let table = TellingWords::new(&parameters.topics, parameters.met());
        let best = |k: usize| {
            let words = table.best(k, vocabulary, CANDIDATES).into_iter();
            words.map(|word| (word, libm::log(table.score(k, word).max(EPSILON)))).collect()
        };
        Self::of((0..parameters.met()).map(best).collect())
    }

    fn of(topics: Vec<Vec<(u32, f64)>>) -> Self {
        let mut places: FxHashMap<u32, Vec<(u32, u32)>> = FxHashMap::default();
        for (k, words) in topics.iter().enumerate() {
            for (i, &(word, _)) in words.iter().enumerate() {
                places.entry(word).or_default().push((k as u32, i as u32));
            }
        }
        Self {
            places,
            pairs: vec![vec![0; CANDIDATES * CANDIDATES]; topics.len()],
            documents: 0,
            present: vec![Vec::new(); topics.len()],
            touched: Vec::new(),
            topics,
        }
    }

    /// Counts a document.
    pub fn add(&mut self, document: &Document) {
        self.documents += 1;
        for (word, _) in &document.words {
            for &(topic, place) in self.places.get(word).map_or(&[][..], Vec::as_slice) {
                let present = &mut self.present[topic as usize];
                if present.is_empty() {
                    self.touched.push(topic);
                }
                present.push(place);
            }
        }
        for topic in self.touched.drain(..) {
            let (present, pairs) = (&mut self.present[topic as usize], &mut self.pairs[topic as usize]);
            present.sort_unstable();
            for (at, &i) in present.iter().enumerate() {
                for &j in &present[at..] {
                    pairs[i as usize * CANDIDATES + j as usize] += 1;
                }
            }
            present.clear();
        }
    }

    /// The words of every topic in the order in which they are shown; nothing if there were too few documents to tell.
    pub fn finish(&self) -> ShownWords {
        if self.documents < 2 {
            return ShownWords::default();
        }
        ShownWords::new((0..self.topics.len()).map(|topic| self.chosen(topic)).collect())
    }

    /// Those that are left in the order of their scores, then those that were dropped, the last first.
    fn chosen(&self, topic: usize) -> Vec<u32> {
        let words = &self.topics[topic];
        let mean = words.iter().map(|(_, score)| score).sum::<f64>() / words.len().max(1) as f64;
        let mut left: Vec<usize> = (0..words.len()).collect();
        let mut dropped = Vec::new();
        // Sums of the NPMI of each word with those that are left.
        let mut sums: Vec<f64> =
            (0..words.len()).map(|i| left.iter().filter(|&&j| j != i).map(|&j| self.npmi(topic, i, j)).sum()).collect();
        while left.len() > CHOSEN {
            let others = (left.len() - 1) as f64;
            let fit = |i: usize| sums[i] / others + SCORE_WEIGHT * (words[i].1 - mean);
            // Of equal ones the last goes: it has the lower score.
            let worst = (0..left.len()).rev().min_by(|&a, &b| fit(left[a]).total_cmp(&fit(left[b]))).unwrap_or(0);
            let gone = left.remove(worst);
            left.iter().for_each(|&i| sums[i] -= self.npmi(topic, i, gone));
            dropped.push(gone);
        }
        left.into_iter().chain(dropped.into_iter().rev()).map(|place| words[place].0).collect()
    }

    /// How much more often two words meet in documents than by chance, from -1 (never) to 1 (always).
    fn npmi(&self, topic: usize, i: usize, j: usize) -> f64 {
        let count = |i: usize, j: usize| self.pairs[topic][i.min(j) * CANDIDATES + i.max(j)];
        let share = |documents: u64| documents as f64 / self.documents as f64;
        let (alone, together) = (share(count(i, i)) * share(count(j, j)), share(count(i, j)));
        if alone <= 0.0 {
            return -1.0;
        }
        if together >= 1.0 {
            return 1.0;
        }
        libm::log((together + EPSILON) / alone) / -libm::log(together + EPSILON)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::numerics::random::{Purpose, Seed};

    fn document(words: &[u32]) -> Document {
        Document { words: words.iter().map(|&word| (word, 1)).collect(), ..Document::default() }
    }

    /// Words 0 to 9 of a topic always come together; words 10 to 19 score higher and are in any document.
    #[test]
    fn words_that_come_together_are_chosen() {
        let words: Vec<(u32, f64)> = (10..20).chain(0..10).map(|word| (word, -f64::from(word) / 100.0)).collect();
        let mut counter = TogetherCounter::of(vec![words]);
        let mut random = Seed(4).stream(Purpose::Initial, [0, 0]);
        for index in 0..400 {
            let mut some: Vec<u32> = (10..20).filter(|_| random.uniform() < 0.5).collect();
            if index % 5 == 0 {
                some.extend(0..10);
            }
            counter.add(&document(&some));
        }
        let shown = counter.finish();
        let mut chosen = shown.of_topic(0)[..CHOSEN].to_vec();
        assert_eq!(shown.of_topic(0).len(), 20);
        chosen.sort_unstable();
        assert_eq!(chosen, (0..10).collect::<Vec<u32>>());
    }

    /// Counting by enumeration, and the same choice with sums made anew for every word that goes.
    #[test]
    fn the_choice_equals_its_slow_twin() {
        let mut random = Seed(9).stream(Purpose::Initial, [0, 0]);
        let documents: Vec<Vec<u32>> =
            (0..120).map(|_| (0..60).filter(|_| random.uniform() < 0.3).collect()).collect();
        let list = |first: u32| -> Vec<(u32, f64)> { (0..25).map(|i| (first + i, -f64::from(i) / 10.0)).collect() };
        let topics = vec![list(0), list(20), list(50)];
        let mut counter = TogetherCounter::of(topics.clone());
        documents.iter().for_each(|words| counter.add(&document(words)));
        let shown = counter.finish();
        for (k, words) in topics.iter().enumerate() {
            let has = |document: &[u32], word: u32| document.contains(&word);
            let count = |a: u32, b: u32| documents.iter().filter(|d| has(d, a) && has(d, b)).count() as f64 / 120.0;
            let npmi = |a: u32, b: u32| match count(a, a) * count(b, b) {
                0.0 => -1.0,
                alone => libm::log((count(a, b) + EPSILON) / alone) / -libm::log(count(a, b) + EPSILON),
            };
            let mean = words.iter().map(|word| word.1).sum::<f64>() / words.len() as f64;
            let mut left = words.clone();
            let mut dropped = Vec::new();
            while left.len() > CHOSEN {
                let fit = |&(word, score): &(u32, f64)| {
                    let others = left.iter().filter(|other| other.0 != word);
                    others.map(|other| npmi(word, other.0)).sum::<f64>() / (left.len() - 1) as f64
                        + SCORE_WEIGHT * (score - mean)
                };
                let worst = left.iter().map(fit).enumerate().min_by(|a, b| a.1.total_cmp(&b.1)).unwrap().0;
                dropped.push(left.remove(worst).0);
            }
            let expected: Vec<u32> =
                left.iter().map(|word| word.0).chain(dropped.into_iter().rev()).collect();
            assert_eq!(shown.of_topic(k), expected);
        }
    }

    #[test]
    fn too_few_documents_tell_nothing() {
        let mut counter = TogetherCounter::of(vec![vec![(0, 0.0), (1, -1.0)]]);
        assert_eq!(counter.finish(), ShownWords::default());
        counter.add(&document(&[0, 1]));
        assert_eq!(counter.finish(), ShownWords::default());
        counter.add(&document(&[]));
        assert_eq!(counter.finish().of_topic(0), [0, 1]);
    }

    #[test]
    fn long_inputs_are_sampled() {
        assert_eq!([0, 1, 20_000, 20_001, 60_000, 10_000_000].map(stride), [1, 1, 1, 2, 3, 5]);
    }
}
