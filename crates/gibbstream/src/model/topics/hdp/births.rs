//! Topics are born: documents of a minibatch have met topics that nobody knew, each its own, and here it is decided
//! which of those stay (science.md 4.2).

use crate::model::topics::hdp::candidates::CandidateDocument;
use std::collections::BTreeMap;

/// Which newly met topics become topics of the model.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct BirthRule {
    /// A document's own topic with fewer tokens than this, on average over the kept sweeps, is dropped.
    pub tokens_in_document: f64,
    /// Documents' topics become one if the cosine between their counts of words is at least this.
    pub similarity: f64,
    /// At most so many are born in a minibatch.
    pub at_most: usize,
    /// So many may be on trial at a time at first, and one less for each that has gone.
    pub on_trial: usize,
    /// However many have gone, so many may be on trial, or as many as have proved themselves.
    pub always_on_trial: usize,
}

impl BirthRule {
    /// What has proved itself (docs/hdp.md).
    pub const DEFAULT: Self =
        Self { tokens_in_document: 4.0, similarity: 0.1, at_most: 3, on_trial: 64, always_on_trial: 4 };
}

/// A topic that is about to be born.
#[derive(Clone, Debug)]
pub(crate) struct Founded {
    /// The place of the first document in the stream.
    pub(crate) document: u64,
    /// Expected tokens.
    pub(crate) tokens: f64,
    /// Expected tokens of each word.
    words: BTreeMap<u32, f64>,
    /// Sum of their squares.
    squares: f64,
}

impl Founded {
    fn similarity(&self, counts: &[(u32, f64)]) -> f64 {
        let of = |word: u32| self.words.get(&word).copied().unwrap_or(0.0);
        let dot: f64 = counts.iter().map(|&(word, count)| of(word) * count).sum();
        let theirs: f64 = counts.iter().map(|(_, count)| count * count).sum();
        dot / (self.squares * theirs).sqrt()
    }

    fn take_in(&mut self, counts: &[(u32, f64)]) {
        for &(word, count) in counts {
            let sum = self.words.entry(word).or_default();
            self.squares += count * (2.0 * *sum + count);
            *sum += count;
            self.tokens += count;
        }
    }

    /// Its most frequent words.
    pub(crate) fn first_words(&self, count: usize) -> Vec<u32> {
        let mut words: Vec<(u32, f64)> = self.words.iter().map(|(&word, &tokens)| (word, tokens)).collect();
        words.sort_by(|a, b| b.1.total_cmp(&a.1));
        words.truncate(count);
        words.into_iter().map(|(word, _)| word).collect()
    }
}

/// Who is born, and who has become whom.
pub(crate) struct Births {
    pub(crate) founded: Vec<Founded>,
    /// For each document and each of its own topics, the topic that it has become.
    pub(crate) places: Vec<Vec<Option<usize>>>,
}

impl Births {
    /// Looks at the documents in the order of the stream; counts are sums over `sweeps`, and `room` is how many topics
    /// there may be beyond those known.
    pub(crate) fn decide(
        rule: &BirthRule,
        documents: &[CandidateDocument],
        sweeps: u64,
        room: usize,
    ) -> Self {
        let mut founded: Vec<Founded> = Vec::new();
        let mut places = Vec::with_capacity(documents.len());
        for document in documents {
            let of_document = document.topics.iter().map(|candidate| {
                if (candidate.size() as f64) < rule.tokens_in_document * sweeps as f64 {
                    return None;
                }
                let counts = candidate.mean_counts(sweeps);
                let like = founded.iter().position(|founded| founded.similarity(&counts) >= rule.similarity);
                let place = like.unwrap_or_else(|| {
                    let (document, words) = (document.key[1], BTreeMap::new());
                    founded.push(Founded { document, tokens: 0.0, words, squares: 0.0 });
                    founded.len() - 1
                });
                founded[place].take_in(&counts);
                Some(place)
            });
            places.push(of_document.collect::<Vec<_>>());
        }
        Self { founded, places }.keep_the_best(rule, room)
    }

    fn keep_the_best(mut self, rule: &BirthRule, room: usize) -> Self {
        let mut best: Vec<usize> = (0..self.founded.len()).collect();
        best.sort_by(|&a, &b| self.founded[b].tokens.total_cmp(&self.founded[a].tokens));
        best.truncate(rule.at_most.min(room));
        best.sort_unstable();
        let new_place = |place: usize| best.iter().position(|&kept| kept == place);
        for place in self.places.iter_mut().flatten() {
            *place = place.and_then(new_place);
        }
        self.founded = best.iter().map(|&place| self.founded[place].clone()).collect();
        self
    }
}
