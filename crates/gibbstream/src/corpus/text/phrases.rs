//! Words that belong together: counted in the documents with bounded memory, and joined when text is cut.

use rustc_hash::{FxHashMap, FxHashSet};
use serde::{Deserialize, Serialize};

/// Pairs and words held while counting; beyond it the rarest are forgotten.
const MOST_PAIRS: usize = 1 << 21;
const MOST_WORDS: usize = 1 << 20;

/// Pairs in fewer documents are chance.
const LEAST_DOCUMENTS: u64 = 5;

/// The normalised pointwise mutual information from which on two words are a phrase: 0 for words that follow each other as
/// often as chance has it, 1 for words that are never apart.
pub const LEAST_NPMI: f64 = 0.45;

/// Phrases of two words, joined by `_`; stored as a sorted list.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(from = "Vec<String>", into = "Vec<String>")]
pub struct Phrases(FxHashSet<String>);

impl Phrases {
    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// How many there are.
    pub fn len(&self) -> usize {
        self.0.len()
    }

    /// Whether two words, joined by `_`, are one.
    pub fn contains(&self, joined: &str) -> bool {
        self.0.contains(joined)
    }
}

impl From<Vec<String>> for Phrases {
    fn from(phrases: Vec<String>) -> Self {
        Self(phrases.into_iter().collect())
    }
}

impl From<Phrases> for Vec<String> {
    fn from(phrases: Phrases) -> Self {
        let mut phrases: Self = phrases.0.into_iter().collect();
        phrases.sort_unstable();
        phrases
    }
}

/// A pair of words that was found.
#[derive(Clone, Debug, PartialEq)]
pub struct Phrase {
    /// The two words.
    pub words: [String; 2],
    /// Documents in which they follow each other.
    pub documents: u64,
    /// How much more often than chance has it (see [`LEAST_NPMI`]).
    pub npmi: f64,
}

/// Finds phrases: counts, once a document, which words follow each other. Memory is bounded: when there are too many
/// pairs, those in the fewest documents are forgotten, so that counts of rare pairs are a little too small.
#[derive(Clone, Debug, Default)]
pub struct PhraseCounter {
    ids: FxHashMap<String, u32>,
    words: Vec<(String, u64)>,
    pairs: FxHashMap<(u32, u32), u64>,
    documents: u64,
    in_document: FxHashSet<u32>,
    pairs_in_document: FxHashSet<(u32, u32)>,
    last: Option<u32>,
}

impl PhraseCounter {
    /// Takes a word of the document; `follows` tells that nothing is between it and the word before.
    pub fn add(&mut self, word: &str, follows: bool) {
        let id = if let Some(&id) = self.ids.get(word) {
            id
        } else {
            self.words.push((word.to_owned(), 0));
            let id = self.words.len() as u32 - 1;
            self.ids.insert(word.to_owned(), id);
            id
        };
        self.in_document.insert(id);
        if let Some(last) = self.last.filter(|&last| follows && last != id) {
            self.pairs_in_document.insert((last, id));
        }
        self.last = Some(id);
    }

    /// Ends the document.
    pub fn end_document(&mut self) {
        self.documents += 1;
        self.last = None;
        for id in self.in_document.drain() {
            self.words[id as usize].1 += 1;
        }
        for pair in self.pairs_in_document.drain() {
            *self.pairs.entry(pair).or_default() += 1;
        }
        if self.pairs.len() > MOST_PAIRS {
            self.forget(MOST_PAIRS / 2);
        }
        if self.words.len() > MOST_WORDS {
            self.forget_words(MOST_WORDS / 2);
        }
    }

    /// Forgets the words of fewest documents, and their pairs, at least so many that `keep` are left.
    fn forget_words(&mut self, keep: usize) {
        let mut counts: Vec<u64> = self.words.iter().map(|(_, documents)| *documents).collect();
        let index = counts.len().saturating_sub(keep + 1);
        let (_, &mut rare, _) = counts.select_nth_unstable(index);
        let mut numbers = vec![None; self.words.len()];
        let mut kept = Vec::with_capacity(keep);
        for (number, (word, documents)) in numbers.iter_mut().zip(std::mem::take(&mut self.words)) {
            if documents > rare {
                *number = Some(kept.len() as u32);
                kept.push((word, documents));
            }
        }
        self.words = kept;
        self.ids = self.words.iter().enumerate().map(|(id, (word, _))| (word.clone(), id as u32)).collect();
        let renumbered = |(pair, count): ((u32, u32), u64)| {
            Some(((numbers[pair.0 as usize]?, numbers[pair.1 as usize]?), count))
        };
        self.pairs = std::mem::take(&mut self.pairs).into_iter().filter_map(renumbered).collect();
    }

    /// Forgets the pairs of fewest documents, at least so many that `keep` are left.
    fn forget(&mut self, keep: usize) {
        let mut counts: Vec<u64> = self.pairs.values().copied().collect();
        let index = counts.len().saturating_sub(keep + 1);
        let (_, &mut rare, _) = counts.select_nth_unstable(index);
        self.pairs.retain(|_, count| *count > rare);
        self.pairs.shrink_to_fit();
    }

    /// The pairs whose score is at least `least`, best first, then by spelling.
    pub fn finish(&self, least: f64) -> Vec<Phrase> {
        let all = self.documents as f64;
        let mut found: Vec<Phrase> = self
            .pairs
            .iter()
            .filter(|(_, documents)| **documents >= LEAST_DOCUMENTS)
            .filter_map(|(&(first, second), &documents)| {
                let ((first, a), (second, b)) = (&self.words[first as usize], &self.words[second as usize]);
                let npmi = npmi(documents as f64 / all, *a as f64 / all, *b as f64 / all);
                (npmi >= least).then(|| Phrase { words: [first.clone(), second.clone()], documents, npmi })
            })
            .collect();
        found.sort_unstable_by(|a, b| b.npmi.total_cmp(&a.npmi).then_with(|| a.words.cmp(&b.words)));
        found
    }

    /// The phrases that text is cut with.
    pub fn phrases(&self) -> Phrases {
        let joined = self.finish(LEAST_NPMI).into_iter().map(|phrase| phrase.words.join("_"));
        joined.collect::<Vec<_>>().into()
    }
}

fn npmi(both: f64, first: f64, second: f64) -> f64 {
    if both >= 1.0 {
        return 1.0;
    }
    libm::log(both / (first * second)) / -libm::log(both)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn counted(documents: &[&str]) -> PhraseCounter {
        let mut counter = PhraseCounter::default();
        for document in documents {
            document.split(' ').for_each(|word| counter.add(word, true));
            counter.end_document();
        }
        counter
    }

    #[test]
    fn words_that_are_seldom_apart_are_phrases() {
        let mut documents = vec!["new york"; 6];
        documents.extend(["new a"; 3]);
        documents.extend(["a b", "b c", "c d", "d a", "a c", "b d", "c a"].repeat(3));
        let counter = counted(&documents);
        let found = counter.finish(LEAST_NPMI);
        assert_eq!(found.iter().map(|phrase| phrase.words.join(" ")).collect::<Vec<_>>(), ["new york"]);
        // 6 of 30 documents have both in a row, 9 and 6 have one of them.
        let expected = libm::log(0.2 / (0.3 * 0.2)) / -libm::log(0.2);
        assert_eq!(found[0].documents, 6);
        assert!((found[0].npmi - expected).abs() < 1e-12);
        assert!(counter.phrases().contains("new_york"));
    }

    #[test]
    fn a_pair_counts_once_a_document_and_gaps_part_words() {
        let mut counter = counted(&["a b a b a b"]);
        assert_eq!(counter.pairs[&(0, 1)], 1);
        counter.add("x", true);
        counter.add("y", false);
        counter.end_document();
        assert_eq!(counter.pairs.len(), 2);
    }

    #[test]
    fn forgetting_keeps_the_frequent() {
        let mut counter = counted(&["a b", "a b", "c d", "e f"]);
        counter.forget(1);
        assert_eq!(counter.pairs.len(), 1);
        assert_eq!(counter.pairs[&(0, 1)], 2);
    }

    #[test]
    fn forgetting_words_keeps_the_pairs_of_the_others() {
        let mut counter = counted(&["x a b", "a b", "a b y", "c d"]);
        counter.forget_words(2);
        assert_eq!(counter.words.iter().map(|(word, _)| word.as_str()).collect::<Vec<_>>(), ["a", "b"]);
        assert_eq!((counter.pairs.len(), counter.pairs[&(0, 1)]), (1, 3));
        counter.add("b", true);
        assert_eq!(counter.last, Some(1));
    }

    #[test]
    fn stored_phrases_are_sorted() {
        let phrases = Phrases::from(vec!["new_york".to_owned(), "hard_drive".to_owned()]);
        assert_eq!(serde_json::to_string(&phrases).unwrap(), r#"["hard_drive","new_york"]"#);
        assert!(phrases.contains("new_york") && !phrases.contains("york_new"));
    }
}
