//! Which words of a corpus are worth keeping: counted in a first pass, then cut by frequency limits.

use std::sync::Arc;

use rustc_hash::FxHashMap;
use serde::{Deserialize, Serialize};

use crate::corpus::Document;
use crate::corpus::text::term_weights::{TermWeights, idf};
use crate::corpus::text::tokenizer::Cut;
use crate::corpus::text::vocabulary::{Vocabulary, WordIds};
use crate::error::{Error, Result};

/// Distinct words held while counting; beyond it the rarest are forgotten, so that memory is bounded.
const MAX_DISTINCT_WORDS: usize = 1 << 22;

/// Which words are kept. The default keeps all.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct VocabularyLimits {
    /// Keeps so many words, the most frequent ones.
    pub max_words: Option<usize>,
    /// Drops words found in fewer documents.
    pub min_documents: u64,
    /// Drops words found in more than this share of the documents.
    pub max_document_share: f64,
    /// Which of the two are chosen by the number of documents instead.
    #[serde(default)]
    pub adaptive: Adaptive,
    /// How much a token of each word counts.
    #[serde(default)]
    pub term_weights: TermWeights,
}

/// Limits that are chosen by the number of documents.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Adaptive {
    /// The fewest documents that a word must be in.
    pub min_documents: bool,
    /// The largest share of the documents that a word may be in.
    pub max_document_share: bool,
}

/// Corpora of fewer documents keep words that are in most of them.
const FEWEST_FOR_COMMON_WORDS: u64 = 200;

/// Words in a larger share of the documents tell no topics apart.
const LARGEST_SHARE: f64 = 0.5;

impl Default for VocabularyLimits {
    fn default() -> Self {
        Self { max_words: None, min_documents: 1, max_document_share: 1.0, adaptive: Adaptive::default(), term_weights: TermWeights::None }
    }
}

impl VocabularyLimits {
    /// Refuses limits that no word can meet.
    pub fn check(&self) -> Result<()> {
        if self.max_words == Some(0) {
            return Err(Error::setting("max-vocab", "0 words cannot describe a document", "use at least 1"));
        }
        if !(self.max_document_share > 0.0 && self.max_document_share <= 1.0) {
            return Err(Error::setting(
                "max-df",
                format!("{} is not a share of the documents", self.max_document_share),
                "use a number above 0 and at most 1, such as 0.5",
            ));
        }
        Ok(())
    }

    /// What raw text is cut with unless users say otherwise: limits that adapt to the number of documents.
    pub fn for_text() -> Self {
        Self { adaptive: Adaptive { min_documents: true, max_document_share: true }, ..Self::default() }
    }

    /// True if nothing is dropped and nothing weighted, so that nothing has to be counted.
    pub fn keep_all(&self) -> bool {
        let adapts = self.adaptive != Adaptive::default() || self.term_weights != TermWeights::None;
        !adapts && self.max_words.is_none() && self.min_documents <= 1 && self.max_document_share >= 1.0
    }

    /// Whether a word that is in so many of the documents is kept.
    fn keeps(&self, with_it: u64, documents: u64) -> bool {
        with_it >= self.min_documents && with_it as f64 <= self.max_document_share * documents as f64
    }

    /// The same without limits that adapt.
    #[must_use]
    pub fn as_told(&self) -> Self {
        Self { adaptive: Adaptive::default(), ..*self }
    }

    /// The limits for so many documents. A word must be in a fifth of their cube root: 2 of 1,000 documents, 5 of 20,000, 20 of
    /// a million. Large corpora have more words that are too rare to be learnt, and lose less with each.
    #[must_use]
    pub fn adapted(&self, documents: u64) -> Self {
        let rare = (libm::cbrt(documents as f64) / 5.0) as u64;
        let share = if documents < FEWEST_FOR_COMMON_WORDS { 1.0 } else { LARGEST_SHARE };
        Self {
            max_words: self.max_words,
            min_documents: if self.adaptive.min_documents { rare.max(1) } else { self.min_documents },
            max_document_share: if self.adaptive.max_document_share { share } else { self.max_document_share },
            adaptive: Adaptive::default(),
            term_weights: self.term_weights,
        }
    }
}

/// What the tokenizer dropped.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Dropped {
    /// Tags and comments.
    pub markup: u64,
    /// Web and mail addresses.
    pub urls: u64,
    /// Numbers and ids.
    pub numbers: u64,
    /// Tokens that are stop words.
    pub stop_words: u64,
    /// Tokens that are too short.
    pub short: u64,
}

impl Dropped {
    pub(crate) fn count(&mut self, cut: &Cut<'_>) {
        match cut {
            Cut::Markup(pieces) => self.markup += pieces,
            Cut::Address => self.urls += 1,
            Cut::Number => self.numbers += 1,
            Cut::StopWord => self.stop_words += 1,
            Cut::TooShort => self.short += 1,
            Cut::Word(..) => {}
        }
    }
}

/// What filters did to the words of a corpus.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize)]
pub struct WordReport {
    /// Documents that were counted.
    pub documents: u64,
    /// Distinct words that the tokenizer found.
    pub found: usize,
    /// Those that are kept.
    pub kept: usize,
    /// Those in too few documents.
    pub too_rare: usize,
    /// Those in too many documents.
    pub too_common: usize,
    /// Those beyond the largest number of words.
    pub beyond_most: usize,
    /// The fewest documents that a word had to be in.
    pub min_documents: u64,
    /// The largest share of the documents that it might be in.
    pub max_document_share: f64,
    /// What was dropped before words were counted.
    pub dropped: Dropped,
}

/// Counts words over documents.
///
/// Words get provisional numbers from [`id`](Self::id); documents made of these are counted by
/// [`count`](Self::count). Above four million distinct words the rarest are forgotten: such a word can
/// lose its earliest occurrences, frequent words never do.
#[derive(Clone, Debug, Default)]
pub struct VocabularyCounter {
    ids: FxHashMap<Arc<str>, u32>,
    words: Vec<WordCount>,
    forgotten: Vec<u32>,
    documents: u64,
}

#[derive(Clone, Debug)]
struct WordCount {
    word: Arc<str>,
    documents: u64,
    tokens: u64,
    /// Someone has kept the number, so it cannot be given to another word.
    lasting: bool,
}

impl VocabularyCounter {
    /// The provisional number of a word, valid until the next call of [`count`](Self::count).
    pub fn id(&mut self, word: &str) -> u32 {
        if let Some(&id) = self.ids.get(word) {
            return id;
        }
        let word: Arc<str> = word.into();
        let count = WordCount { word: word.clone(), documents: 0, tokens: 0, lasting: false };
        let id = self.forgotten.pop().unwrap_or_else(|| {
            self.words.push(count.clone());
            self.words.len() as u32 - 1
        });
        self.words[id as usize] = count;
        self.ids.insert(word, id);
        id
    }

    /// Counts a document of provisional numbers.
    pub fn count(&mut self, document: &Document) {
        self.documents += 1;
        for &(id, count) in &document.words {
            let word = &mut self.words[id as usize];
            word.documents += 1;
            word.tokens += u64::from(count);
        }
        if self.ids.len() > MAX_DISTINCT_WORDS {
            self.forget_rarest(MAX_DISTINCT_WORDS / 2);
        }
    }

    /// Forgets the words of fewest documents until at most `keep` are left, as far as that is allowed.
    fn forget_rarest(&mut self, keep: usize) {
        let mut frequencies: Vec<u64> =
            self.ids.values().map(|&id| self.words[id as usize].documents).collect();
        let (_, &mut rare, _) = frequencies.select_nth_unstable(self.ids.len().saturating_sub(keep + 1));
        let (words, forgotten) = (&self.words, &mut self.forgotten);
        self.ids.retain(|_, id| {
            let word = &words[*id as usize];
            let stays = word.lasting || word.documents > rare;
            if !stays {
                forgotten.push(*id);
            }
            stays
        });
        // The map is in no particular order, but numbers are only ever provisional.
        self.forgotten.sort_unstable();
    }

    /// The words within the limits, by falling number of occurrences, then by spelling.
    pub fn finish(self, limits: &VocabularyLimits) -> Result<Vocabulary> {
        self.finish_reporting(limits).map(|(vocabulary, _)| vocabulary)
    }

    /// The same, with how many words each limit dropped.
    pub fn finish_reporting(self, limits: &VocabularyLimits) -> Result<(Vocabulary, WordReport)> {
        limits.check()?;
        let mut found: Vec<&WordCount> =
            self.ids.values().map(|&id| &self.words[id as usize]).filter(|word| word.documents > 0).collect();
        let distinct = found.len();
        // Limits that nobody asked for do not leave a corpus without words.
        let adapted = limits.adapted(self.documents);
        let leaves_some = found.iter().any(|word| adapted.keeps(word.documents, self.documents));
        let limits = &if leaves_some { adapted } else { limits.as_told() };
        let rare = found.iter().filter(|word| word.documents < limits.min_documents).count();
        found.retain(|word| limits.keeps(word.documents, self.documents));
        if found.is_empty() {
            return Err(self.nothing_left(limits, distinct, rare));
        }
        found.sort_unstable_by(|a, b| b.tokens.cmp(&a.tokens).then_with(|| a.word.cmp(&b.word)));
        let within = found.len();
        found.truncate(limits.max_words.unwrap_or(usize::MAX));
        let report = WordReport {
            documents: self.documents,
            found: distinct,
            kept: found.len(),
            too_rare: rare,
            too_common: distinct - rare - within,
            beyond_most: within - found.len(),
            min_documents: limits.min_documents,
            max_document_share: limits.max_document_share,
            dropped: Dropped::default(),
        };
        let vocabulary = Vocabulary::new(found.iter().map(|word| word.word.clone()))?;
        let vocabulary = match limits.term_weights {
            TermWeights::None => vocabulary,
            TermWeights::Idf => {
                let counts: Vec<(u64, u64)> = found.iter().map(|word| (word.documents, word.tokens)).collect();
                vocabulary.with_weights(idf(&counts, self.documents))?
            }
        };
        Ok((vocabulary, report))
    }

    fn nothing_left(&self, limits: &VocabularyLimits, distinct: usize, rare: usize) -> Error {
        let documents = self.documents;
        if distinct == 0 {
            return Error::setting(
                "vocabulary",
                format!("no word was found in {documents} documents"),
                "check the input, {text-field}, {stop-words} and {min-length}",
            );
        }
        let common = distinct - rare;
        let too_rare = format!("{rare} are in fewer than {} documents ({{min-df}})", limits.min_documents);
        let too_common =
            format!("{common} are in more than {} of the documents ({{max-df}})", limits.max_document_share);
        let (reason, advice) = match (rare, common) {
            (_, 0) => (too_rare, "lower {min-df}"),
            (0, _) => (too_common, "raise {max-df}"),
            _ => (format!("{too_rare}, {too_common}"), "lower {min-df} or raise {max-df}"),
        };
        let problem =
            format!("none of the {distinct} distinct words of {documents} documents is left: {reason}");
        Error::setting("vocabulary", problem, advice)
    }
}

impl WordIds for VocabularyCounter {
    fn id(&mut self, word: &str) -> Option<u32> {
        Some(Self::id(self, word))
    }

    fn lasting_id(&mut self, word: &str) -> Option<u32> {
        let id = Self::id(self, word);
        self.words[id as usize].lasting = true;
        Some(id)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn counted(documents: &[&str]) -> VocabularyCounter {
        let mut counter = VocabularyCounter::default();
        for document in documents {
            let ids: Vec<u32> = document.split(' ').map(|word| counter.id(word)).collect();
            counter.count(&Document::from_tokens(&ids));
        }
        counter
    }

    fn kept(limits: &VocabularyLimits) -> Result<Vec<String>> {
        let counter = counted(&["b a c", "b b a", "c b d"]);
        counter.finish(limits).map(|vocabulary| vocabulary.words().map(str::to_owned).collect())
    }

    #[test]
    fn words_are_ordered_by_frequency_then_spelling_and_cut_by_the_limits() {
        let all = VocabularyLimits::default();
        assert!(all.keep_all());
        assert_eq!(kept(&all).unwrap(), ["b", "a", "c", "d"]);
        assert_eq!(kept(&VocabularyLimits { max_words: Some(2), ..all }).unwrap(), ["b", "a"]);
        assert_eq!(kept(&VocabularyLimits { min_documents: 2, ..all }).unwrap(), ["b", "a", "c"]);
        assert_eq!(kept(&VocabularyLimits { max_document_share: 0.7, ..all }).unwrap(), ["a", "c", "d"]);
    }

    #[test]
    fn every_limit_says_how_many_words_it_dropped() {
        let counter = counted(&["b a c", "b b a", "c b d"]);
        let limits = VocabularyLimits { max_words: Some(1), min_documents: 2, max_document_share: 0.7, ..VocabularyLimits::default() };
        let (vocabulary, report) = counter.finish_reporting(&limits).unwrap();
        assert_eq!(vocabulary.words().collect::<Vec<_>>(), ["a"]);
        let expected = WordReport {
            documents: 3,
            found: 4,
            kept: 1,
            too_rare: 1,
            too_common: 1,
            beyond_most: 1,
            min_documents: 2,
            max_document_share: 0.7,
            dropped: Dropped::default(),
        };
        assert_eq!(report, expected);
    }

    #[test]
    fn limits_adapt_to_the_number_of_documents() {
        let text = VocabularyLimits::for_text();
        assert!(!text.keep_all() && text.as_told().keep_all());
        for (documents, rare, share) in [(2, 1, 1.0), (199, 1, 1.0), (1_000, 2, 0.5), (20_000, 5, 0.5), (1_000_000, 20, 0.5)] {
            let limits = text.adapted(documents);
            assert_eq!((limits.min_documents, limits.max_document_share), (rare, share), "{documents}");
        }
        let told = VocabularyLimits { min_documents: 3, max_document_share: 0.9, ..VocabularyLimits::default() };
        assert_eq!(told.adapted(1_000_000), told);
    }

    #[test]
    fn limits_that_leave_nothing_say_which_to_relax() {
        let all = VocabularyLimits::default();
        for (limits, advice) in [
            (VocabularyLimits { min_documents: 4, ..all }, "lower `min-df`"),
            (VocabularyLimits { max_document_share: 0.1, ..all }, "raise `max-df`"),
            (
                VocabularyLimits { min_documents: 3, max_document_share: 0.9, ..all },
                "lower `min-df` or raise `max-df`",
            ),
        ] {
            let text = kept(&limits).unwrap_err().to_string();
            assert!(text.ends_with(&format!("; {advice}")), "{text}");
        }
        assert!(VocabularyLimits { max_document_share: f64::NAN, ..all }.check().is_err());
        assert!(VocabularyLimits { max_words: Some(0), ..all }.check().is_err());
    }

    #[test]
    fn forgetting_keeps_frequent_and_lasting_words() {
        let mut counter = counted(&["a b c d", "a b", "a"]);
        counter.lasting_id("d");
        counter.forget_rarest(2);
        assert_eq!(counter.ids.len(), 3);
        assert_eq!(counter.id("new"), 2);
        let vocabulary = counter.finish(&VocabularyLimits::default()).unwrap();
        assert_eq!(vocabulary.words().collect::<Vec<_>>(), ["a", "b", "d"]);
    }
}
