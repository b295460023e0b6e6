//! Vocabularies that are not known in advance: words enter as they come, or share a fixed number of places by hashing.
//!
//! Reading runs ahead of training, so there are two copies, one on each side. Both see the same words, minibatch by
//! minibatch, and number them by the same rule; what one side has to tell the other is the list of new words.

use std::sync::Arc;

use rustc_hash::FxHashMap;
use serde::{Deserialize, Serialize};

use crate::corpus::minibatch::Minibatch;
use crate::corpus::text::vocabulary::{Vocabulary, WordIds, bucket};
use crate::error::{Error, Result};

/// Documents after which an occurrence of a word counts half.
const HALF_LIFE_DOCUMENTS: u64 = 5_000;

/// Documents that are added to the age of a word, so that a single occurrence is not taken for a high frequency.
const GRACE_DOCUMENTS: f64 = 100.0;

/// When new words find no place, one word of so many makes room.
const PRUNED_SHARE: usize = 16;

/// The largest table for hashing: 2^28 places.
const MAX_BITS: u32 = 28;

/// How words get their places.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub enum OpenRule {
    /// Every new word gets a place of its own; when all are taken, the least used make room.
    Grow {
        /// Places there are at most.
        most: usize,
    },
    /// A word has the place that a hash of its spelling says, perhaps together with others.
    Hash {
        /// There are 2^bits places.
        bits: u32,
    },
}

impl OpenRule {
    /// Refuses sizes that make no sense.
    pub fn check(self) -> Result<()> {
        match self {
            Self::Hash { bits } if !(1..=MAX_BITS).contains(&bits) => Err(Error::setting(
                "vocab-mode",
                format!("a table of 2^{bits} places is not possible"),
                format!("use hash=BITS with 1 to {MAX_BITS} bits, such as hash=18"),
            )),
            Self::Grow { most: 0 } => {
                Err(Error::setting("max-vocab", "0 words cannot describe a document", "use at least 1"))
            }
            Self::Grow { most } if most >= u32::MAX as usize => {
                Err(Error::setting("max-vocab", "2^32 - 1 words or more are not possible", "use fewer"))
            }
            _ => Ok(()),
        }
    }

    /// Places there can be.
    pub fn most(self) -> usize {
        match self {
            Self::Grow { most } => most,
            Self::Hash { bits } => 1 << bits,
        }
    }
}

/// What an open vocabulary knows beside its words.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct OpenState {
    /// How words get their places.
    pub rule: OpenRule,
    /// Documents counted.
    pub documents: u64,
    /// Whether a word has been refused since room was last made.
    pub refused: bool,
    /// Documents counted, the old ones less and less.
    pub weight: f64,
    /// How much each place is used; empty for hashing. Kept as an array of its own in files.
    #[serde(skip)]
    pub usage: Vec<Usage>,
}

/// How much a word is used.
#[derive(Clone, Copy, Debug, Default, PartialEq, bytemuck::Pod, bytemuck::Zeroable)]
#[repr(C)]
pub struct Usage {
    /// Occurrences, the old ones less and less.
    pub tokens: f64,
    /// The weight of the documents before the word entered, which grows less in the same way.
    pub before: f64,
}

impl Usage {
    /// Occurrences per document since it entered.
    fn frequency(&self, weight: f64) -> f64 {
        self.tokens / (weight - self.before + GRACE_DOCUMENTS)
    }
}

/// A vocabulary that new words enter.
#[derive(Clone, Debug)]
pub struct OpenVocabulary {
    /// Words by place; `None` for places that are free.
    words: Vec<Option<Arc<str>>>,
    ids: FxHashMap<Arc<str>, u32>,
    /// Free places, largest first, so that the smallest is taken.
    free: Vec<u32>,
    state: OpenState,
    new_words: Vec<Arc<str>>,
}

/// The words of a minibatch that were not known before.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct NewWords {
    words: Vec<Arc<str>>,
    refused: bool,
}

impl OpenVocabulary {
    /// An empty one.
    pub fn new(rule: OpenRule) -> Result<Self> {
        rule.check()?;
        let places = match rule {
            // One that is free, because a model has at least one word.
            OpenRule::Grow { .. } => 1,
            OpenRule::Hash { bits } => 1 << bits,
        };
        let grows = matches!(rule, OpenRule::Grow { .. });
        let usage = if grows { vec![Usage::default(); places] } else { Vec::new() };
        Ok(Self {
            words: vec![None; places],
            ids: FxHashMap::default(),
            free: if grows { vec![0] } else { Vec::new() },
            state: OpenState { rule, documents: 0, refused: false, weight: 0.0, usage },
            new_words: Vec::new(),
        })
    }

    /// One that goes on from a vocabulary and what was known beside it.
    pub fn resume(vocabulary: &Vocabulary, state: OpenState) -> Self {
        let places = 0..vocabulary.len() as u32;
        let words: Vec<Option<Arc<str>>> = places.clone().map(|place| vocabulary.known(place)).collect();
        let named = words.iter().zip(places.clone());
        let ids = named.filter_map(|(word, place)| Some((word.clone()?, place))).collect();
        let grows = matches!(state.rule, OpenRule::Grow { .. });
        let free = places.rev().filter(|&place| grows && words[place as usize].is_none()).collect();
        Self { words, ids, free, state, new_words: Vec::new() }
    }

    /// Lets a vocabulary that was fixed grow; its words are as frequent as they were in the documents seen.
    pub fn opened(vocabulary: &Vocabulary, most: usize, word_counts: &[u64], documents: u64) -> Result<Self> {
        let rule = OpenRule::Grow { most: most.max(vocabulary.len()) };
        rule.check()?;
        let usage = word_counts.iter().map(|&count| Usage { tokens: count as f64, before: 0.0 }).collect();
        let state = OpenState { rule, documents: 0, refused: false, weight: documents as f64, usage };
        Ok(Self::resume(vocabulary, state))
    }

    /// Places in use so far, free ones among them included.
    pub fn len(&self) -> usize {
        self.words.len()
    }

    /// False: there is at least one place.
    pub fn is_empty(&self) -> bool {
        false
    }

    /// Whether words enter as they come, so that a word may be new.
    pub fn grows(&self) -> bool {
        matches!(self.state.rule, OpenRule::Grow { .. })
    }

    /// What is known beside the words.
    pub fn state(&self) -> &OpenState {
        &self.state
    }

    /// The place of a word, without letting it enter.
    pub fn find(&self, word: &str) -> Option<u32> {
        match self.state.rule {
            OpenRule::Hash { bits } => Some(bucket(word, bits)),
            OpenRule::Grow { .. } => self.ids.get(word).copied(),
        }
    }

    /// The place of a word, which enters if it is new and there is room.
    pub fn find_or_enter(&mut self, word: &str) -> Option<u32> {
        WordIds::id(self, word)
    }

    /// The words as a model keeps them.
    pub fn vocabulary(&self) -> Vocabulary {
        let bits = if let OpenRule::Hash { bits } = self.state.rule { Some(bits) } else { None };
        Vocabulary::with_free_places(self.words.clone(), bits)
    }

    /// What the other side must know about the documents read since the last call.
    pub fn take_new_words(&mut self) -> NewWords {
        NewWords { words: std::mem::take(&mut self.new_words), refused: self.state.refused }
    }

    /// Lets the words enter that entered on the other side.
    pub fn adopt(&mut self, new: &NewWords) {
        for word in &new.words {
            WordIds::id(self, word);
        }
        self.new_words.clear();
        self.state.refused = new.refused;
    }

    /// Counts a minibatch, makes room if words were refused, and returns the places that became free.
    pub fn close(&mut self, batch: &Minibatch) -> Vec<u32> {
        let OpenRule::Grow { most } = self.state.rule else { return Vec::new() };
        for index in 0..batch.len() {
            for entry in batch.document(index) {
                let place = batch.words()[entry.word as usize] as usize;
                self.state.usage[place].tokens += f64::from(entry.count);
            }
        }
        let before = self.state.documents / HALF_LIFE_DOCUMENTS;
        self.state.documents += batch.len() as u64;
        self.state.weight += batch.len() as f64;
        for _ in before..self.state.documents / HALF_LIFE_DOCUMENTS {
            self.state.weight *= 0.5;
            for usage in &mut self.state.usage {
                usage.tokens *= 0.5;
                usage.before *= 0.5;
            }
        }
        if !std::mem::take(&mut self.state.refused) {
            return Vec::new();
        }
        self.prune((most / PRUNED_SHARE).max(1))
    }

    /// Frees the places of the `count` least frequent words; of equal ones the later places.
    fn prune(&mut self, count: usize) -> Vec<u32> {
        let mut used: Vec<u32> =
            (0..self.words.len() as u32).filter(|&place| self.words[place as usize].is_some()).collect();
        let frequency = |place: u32| self.state.usage[place as usize].frequency(self.state.weight);
        used.sort_unstable_by(|&a, &b| frequency(a).total_cmp(&frequency(b)).then(b.cmp(&a)));
        used.truncate(count);
        for &place in &used {
            if let Some(word) = self.words[place as usize].take() {
                self.ids.remove(&word);
            }
            self.state.usage[place as usize] = Usage::default();
        }
        self.free.extend(&used);
        self.free.sort_unstable_by(|a, b| b.cmp(a));
        used.sort_unstable();
        used
    }

    fn enter(&mut self, word: &str, most: usize) -> Option<u32> {
        let place = match self.free.pop() {
            Some(place) => place,
            None if self.words.len() < most => {
                self.words.push(None);
                self.state.usage.push(Usage::default());
                self.words.len() as u32 - 1
            }
            None => {
                self.state.refused = true;
                return None;
            }
        };
        let word: Arc<str> = word.into();
        self.state.usage[place as usize].before = self.state.weight;
        self.words[place as usize] = Some(word.clone());
        self.ids.insert(word.clone(), place);
        self.new_words.push(word);
        Some(place)
    }
}

impl WordIds for OpenVocabulary {
    fn id(&mut self, word: &str) -> Option<u32> {
        match self.state.rule {
            OpenRule::Grow { most } => self.ids.get(word).copied().or_else(|| self.enter(word, most)),
            OpenRule::Hash { bits } => {
                let place = bucket(word, bits);
                // A place is called after the first word that is found there.
                if self.words[place as usize].is_none() {
                    let word: Arc<str> = word.into();
                    self.words[place as usize] = Some(word.clone());
                    self.new_words.push(word);
                }
                Some(place)
            }
        }
    }

    fn keeps_ids(&self) -> bool {
        matches!(self.state.rule, OpenRule::Hash { .. })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::corpus::Document;

    fn read(vocabulary: &mut OpenVocabulary, text: &str) -> Minibatch {
        let ids: Vec<u32> = text.split(' ').filter_map(|word| vocabulary.id(word)).collect();
        Minibatch::new(&[Document::from_tokens(&ids)], 0, 0)
    }

    fn words(vocabulary: &OpenVocabulary) -> Vec<&str> {
        vocabulary.words.iter().map(|word| word.as_deref().unwrap_or("-")).collect()
    }

    #[test]
    fn words_enter_until_it_is_full_and_then_the_least_frequent_make_room() {
        let mut vocabulary = OpenVocabulary::new(OpenRule::Grow { most: 3 }).unwrap();
        let batch = read(&mut vocabulary, "a b a c a c d");
        assert_eq!(words(&vocabulary), ["a", "b", "c"]);
        assert_eq!(vocabulary.close(&batch), [1]);
        let batch = read(&mut vocabulary, "d d e");
        assert_eq!(words(&vocabulary), ["a", "d", "c"]);
        // c has two in two documents, d two in one.
        assert_eq!(vocabulary.close(&batch), [2]);
        let batch = read(&mut vocabulary, "a a");
        assert_eq!((vocabulary.close(&batch), words(&vocabulary)), (vec![], vec!["a", "d", "-"]));
        assert_eq!(vocabulary.vocabulary().words().collect::<Vec<_>>(), ["a", "d", "#2"]);
    }

    #[test]
    fn old_occurrences_count_less_and_new_words_are_not_blamed_for_their_age() {
        let documents = |count: u64| Minibatch::new(&vec![Document::default(); count as usize], 0, 0);
        let mut vocabulary = OpenVocabulary::new(OpenRule::Grow { most: 2 }).unwrap();
        let many = read(&mut vocabulary, "old old old old old old old old");
        vocabulary.close(&many);
        vocabulary.close(&documents(HALF_LIFE_DOCUMENTS - 1));
        let usage = vocabulary.state.usage[0];
        assert_eq!((usage.tokens, usage.before), (4.0, 0.0));
        assert_eq!(vocabulary.state.weight, HALF_LIFE_DOCUMENTS as f64 / 2.0);
        let new = read(&mut vocabulary, "new x");
        // Four in 2501 documents against one in one, both with the grace of 100.
        assert_eq!(vocabulary.close(&new), [0]);
        assert_eq!(words(&vocabulary), ["-", "new"]);
    }

    /// Random words, read on one side and adopted on the other, with and without a break in between.
    #[test]
    fn both_sides_and_a_resumed_one_agree() {
        let mut state = 7_u64;
        let mut next = move || {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            format!("w{}", ((state >> 40) % 97).pow(2) % 61)
        };
        for rule in [OpenRule::Grow { most: 20 }, OpenRule::Grow { most: 1000 }, OpenRule::Hash { bits: 4 }] {
            let mut reader = OpenVocabulary::new(rule).unwrap();
            let mut trainer = reader.clone();
            for step in 0..200 {
                let text: Vec<String> = (0..30).map(|_| next()).collect();
                let batch = read(&mut reader, &text.join(" "));
                let new = reader.take_new_words();
                let freed = reader.close(&batch);
                trainer.adopt(&new);
                assert_eq!(trainer.close(&batch), freed);
                assert_eq!((&trainer.words, &trainer.state), (&reader.words, &reader.state), "{step}");
                if step % 7 == 0 {
                    trainer = OpenVocabulary::resume(&trainer.vocabulary(), trainer.state.clone());
                    assert_eq!((&trainer.free, &trainer.words), (&reader.free, &reader.words));
                }
                let frozen = trainer.vocabulary();
                for word in &text {
                    assert_eq!(frozen.id(word), trainer.find(word), "{word}");
                }
            }
        }
    }

    #[test]
    fn sizes_that_make_no_sense_are_refused() {
        for bits in [0, 29, 64] {
            let refused = OpenVocabulary::new(OpenRule::Hash { bits }).unwrap_err().to_string();
            let expected = format!(
                "vocab-mode: a table of 2^{bits} places is not possible; use hash=BITS with 1 to 28 bits, such as \
                 hash=18"
            );
            assert_eq!(refused, expected);
        }
        assert!(OpenVocabulary::new(OpenRule::Grow { most: 0 }).is_err());
    }
}
