//! The words that a model shows of its topics, where documents told which go together. They are no part of what was learnt,
//! and belong to the topics as they are: learning on forgets them.

use serde::{Deserialize, Serialize};

/// Words of each topic in the order in which they are shown; nothing if it is not known.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct ShownWords(Vec<Vec<u32>>);

impl ShownWords {
    /// Words by topic.
    pub fn new(topics: Vec<Vec<u32>>) -> Self {
        Self(topics)
    }

    /// Those of one topic.
    pub fn of_topic(&self, topic: usize) -> &[u32] {
        self.0.get(topic).map_or(&[], Vec::as_slice)
    }

    /// Whether nothing is known.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Whether they can belong to a model of so many topics and words.
    pub(super) fn fits(&self, topics: usize, words: usize) -> bool {
        self.is_empty() || (self.0.len() == topics && self.0.iter().flatten().all(|&word| (word as usize) < words))
    }
}
