//! Topics that single documents have met before anybody else: which of them the model takes in is decided when the
//! statistics of the whole minibatch are there, in the order of documents, whatever order they arrived in.

use crate::model::mismatch;
use crate::model::topics::statistics::UNITS_PER_TOKEN;
use crate::corpus::Minibatch;
use crate::error::Result;
use crate::inference::document_stats::DocumentStats;
use crate::model::Batch;
use serde::{Deserialize, Serialize};

/// A document with topics of its own.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct CandidateDocument {
    /// Pass, and place in the stream.
    pub key: [u64; 2],
    /// Sweeps that were kept.
    pub sweeps: u64,
    /// (known topic, tokens in it over all kept sweeps).
    pub known: Vec<(u32, u64)>,
    pub topics: Vec<Candidate>,
}

/// A topic that one document has met.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Candidate {
    /// Tokens in it, in each sweep in which there are any.
    pub sizes: Vec<u32>,
    /// (word, units): expected tokens over all kept sweeps.
    pub words: Vec<(u32, i64)>,
}

impl Candidate {
    /// Tokens in it over all kept sweeps.
    pub fn size(&self) -> u64 {
        self.sizes.iter().copied().map(u64::from).sum()
    }

    /// (word, expected tokens), a mean over `sweeps`.
    pub fn mean_counts(&self, sweeps: u64) -> Vec<(u32, f64)> {
        let share = 1.0 / (UNITS_PER_TOKEN * sweeps as f64);
        self.words.iter().map(|&(word, units)| (word, units as f64 * share)).collect()
    }
}

impl CandidateDocument {
    /// `None` if the document has met nothing new.
    pub fn of(document: &DocumentStats, batch: &Minibatch, index: usize, known: usize) -> Option<Self> {
        if document.sticks().is_empty() {
            return None;
        }
        let mut topics = vec![Candidate::default(); document.sticks().len()];
        let mut sizes: Vec<(u32, u64)> = Vec::new();
        for &(topic, size) in document.sizes() {
            match (topic as usize).checked_sub(known) {
                Some(own) => topics[own].sizes.push(size),
                None => match sizes.iter_mut().find(|(other, _)| *other == topic) {
                    Some((_, sum)) => *sum += u64::from(size),
                    None => sizes.push((topic, u64::from(size))),
                },
            }
        }
        for (row, entry) in batch.document(index).iter().enumerate() {
            for (topic, count) in document.counts(row) {
                if let Some(own) = (topic as usize).checked_sub(known) {
                    let units = (f64::from(count) * UNITS_PER_TOKEN) as i64;
                    if units > 0 {
                        topics[own].words.push((batch.words()[entry.word as usize], units));
                    }
                }
            }
        }
        Some(Self { key: batch.key(index), sweeps: document.sweeps() as u64, known: sizes, topics })
    }

    /// Whether numbers are possible, for statistics of so many known topics and of these words.
    pub fn is_sound(&self, topics: usize, words: &[u32]) -> bool {
        let known = self.known.iter().all(|&(topic, _)| (topic as usize) < topics);
        let ascending = |counts: &[(u32, i64)]| counts.windows(2).all(|pair| pair[0].0 < pair[1].0);
        let possible = |&(word, units): &(u32, i64)| units > 0 && words.binary_search(&word).is_ok();
        let own = |topic: &Candidate| ascending(&topic.words) && topic.words.iter().all(possible);
        known && self.topics.iter().all(own)
    }
}

/// The union of two lists in the order of the stream; a document cannot be in both.
pub(crate) fn merge_candidates(
    mine: &[CandidateDocument],
    theirs: &[CandidateDocument],
) -> Result<Vec<CandidateDocument>> {
    let mut all = [mine, theirs].concat();
    all.sort_by_key(|document| document.key);
    match all.windows(2).find(|pair| pair[0].key == pair[1].key) {
        Some(pair) => Err(mismatch(&format!("document {} is counted twice", pair[0].key[1]))),
        None => Ok(all),
    }
}
