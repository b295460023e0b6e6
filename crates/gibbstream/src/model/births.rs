//! Topics are born: documents of a minibatch have met topics that nobody knew, each its own, and here it is decided
//! which of those stay (algorithms.md 4.2).

use crate::corpus::Minibatch;
use crate::inference::kept::Kept;
use crate::model::view::TopicView;

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
pub(super) struct Founded {
    /// The first document, as an index into the minibatch.
    pub(super) document: usize,
    /// Expected tokens.
    pub(super) tokens: f64,
    /// Expected tokens of each word of the minibatch.
    words: Vec<f64>,
    /// Sum of their squares.
    squares: f64,
}

impl Founded {
    fn similarity(&self, counts: &[(u32, f64)]) -> f64 {
        let dot: f64 = counts.iter().map(|&(word, count)| self.words[word as usize] * count).sum();
        let theirs: f64 = counts.iter().map(|(_, count)| count * count).sum();
        dot / (self.squares * theirs).sqrt()
    }

    fn take_in(&mut self, counts: &[(u32, f64)]) {
        for &(word, count) in counts {
            let sum = &mut self.words[word as usize];
            self.squares += count * (2.0 * *sum + count);
            *sum += count;
            self.tokens += count;
        }
    }

    /// Its most frequent words, as places among the words of the minibatch.
    pub(super) fn first_words(&self, count: usize) -> Vec<usize> {
        let mut places: Vec<usize> = (0..self.words.len()).filter(|&place| self.words[place] > 0.0).collect();
        places.sort_by(|&a, &b| self.words[b].total_cmp(&self.words[a]));
        places.truncate(count);
        places
    }
}

/// Who is born, and who has become whom.
pub(super) struct Births {
    pub(super) founded: Vec<Founded>,
    /// For each document and each of its own topics, the topic that it has become.
    pub(super) places: Vec<Vec<Option<usize>>>,
}

impl Births {
    /// Looks at the documents in their order; `room` is how many topics there may be beyond those known.
    pub(super) fn decide(
        rule: &BirthRule,
        view: &TopicView,
        batch: &Minibatch,
        parts: &[Kept],
        room: usize,
    ) -> Self {
        let mut founded: Vec<Founded> = Vec::new();
        let mut places = Vec::with_capacity(parts.len());
        for (document, kept) in parts.iter().enumerate() {
            let sizes = own_sizes(kept, view.known_topics());
            let of_document = sizes.iter().enumerate().map(|(own, &size)| {
                if size < rule.tokens_in_document {
                    return None;
                }
                let counts = word_counts(kept, view, batch, document, view.known_topics() + own);
                let like = founded.iter().position(|founded| founded.similarity(&counts) >= rule.similarity);
                let place = like.unwrap_or_else(|| {
                    let words = vec![0.0; batch.words().len()];
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

/// Mean tokens over the kept sweeps of each of a document's own topics.
fn own_sizes(kept: &Kept, known: usize) -> Vec<f64> {
    let mut sizes = vec![0.0; kept.sticks().len()];
    for &(topic, size) in kept.sizes() {
        if let Some(own) = (topic as usize).checked_sub(known) {
            sizes[own] += f64::from(size) / kept.sweeps() as f64;
        }
    }
    sizes
}

/// (place of the word in the minibatch, expected tokens in the topic).
fn word_counts(
    kept: &Kept,
    view: &TopicView,
    batch: &Minibatch,
    document: usize,
    topic: usize,
) -> Vec<(u32, f64)> {
    let entries = batch.document(document).iter().enumerate();
    let counts = entries.filter_map(|(row, entry)| {
        let share = kept.shares(row).find(|&(other, _)| other as usize == topic)?.1;
        let weight = if kept.without_weights() { view.relative(entry.word, topic) } else { 1.0 };
        Some((entry.word, f64::from(share * weight) / kept.sweeps() as f64))
    });
    counts.filter(|&(_, count)| count > 0.0).collect()
}
