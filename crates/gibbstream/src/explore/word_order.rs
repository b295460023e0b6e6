//! Which words of a topic are shown, and in which order.
//!
//! The most probable words of topics are often the same frequent ones. People want words that tell a topic from the others,
//! so a word has the score `p log (p / g)`, where p is its probability in the topic and g the geometric mean of its
//! probabilities in all topics (Blei and Lafferty 2009). Where documents could be read again after training, the best of
//! these words are then chosen by how well they go together (`together.rs`), and the model keeps the result.

use crate::corpus::Vocabulary;
use crate::file::ShownWords;
use crate::learn::TopicParameters;
use crate::model::topics::lda::Topics;
use crate::summary::{TopicSummary, best_of, summarise, summary_of};
use rayon::prelude::*;

/// The order of a topic's words.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum WordOrder {
    /// Words that tell the topic from the others, and go together where that is known.
    Telling,
    /// By `lambda log p(word | topic) + (1 - lambda) log p(word | topic) / p(word)`; 1 is by probability.
    Relevance(f64),
}

impl From<Option<f64>> for WordOrder {
    fn from(lambda: Option<f64>) -> Self {
        lambda.map_or(Self::Telling, Self::Relevance)
    }
}

/// Keeps logarithms of words that a topic does not have finite.
const LEAST: f64 = 1e-12;

/// Words that are looked at for each one shown, because words that are another form of a better one are left out.
const SPARE: usize = 2;

/// Letters that a word must have at least, if the same word with an ending counts as another form of it.
const SHORTEST_STEM: usize = 4;

/// Every topic that has been met, with so many words in the given order. `kept` are those that a model keeps.
pub fn summaries(
    parameters: &TopicParameters,
    vocabulary: &Vocabulary,
    kept: &ShownWords,
    words: usize,
    order: WordOrder,
) -> Vec<TopicSummary> {
    let TopicParameters { topics, shares, .. } = parameters;
    match order {
        WordOrder::Relevance(lambda) => summarise(topics, shares, words, lambda),
        WordOrder::Telling => {
            let totals: Vec<f64> =
                topics.beta.par_chunks_exact(topics.topics()).map(|row| row.iter().sum()).collect();
            let shown = shown_words(parameters, vocabulary, kept, words);
            let summary = |(k, shown): (usize, &Vec<u32>)| summary_of(topics, shares[k], k, shown, &totals);
            shown.par_iter().enumerate().map(summary).collect()
        }
    }
}

/// So many words of every topic that has been met, as they are shown: those that the model keeps, then others.
pub(crate) fn shown_words(
    parameters: &TopicParameters,
    vocabulary: &Vocabulary,
    kept: &ShownWords,
    words: usize,
) -> Vec<Vec<u32>> {
    let few = (0..parameters.met()).any(|k| kept.of_topic(k).len() < words);
    let table = few.then(|| TellingWords::new(&parameters.topics, parameters.met()));
    let shown = |k: usize| {
        let mut shown: Vec<u32> = kept.of_topic(k).iter().copied().take(words).collect();
        if let Some(table) = table.as_ref().filter(|_| shown.len() < words) {
            let mut more = table.best(k, vocabulary, words + shown.len());
            more.retain(|word| !shown.contains(word));
            shown.extend(more.into_iter().take(words - shown.len()));
        }
        shown
    };
    (0..parameters.met()).into_par_iter().map(shown).collect()
}

/// The words of topics by how much they tell a topic from the others.
pub struct TellingWords<'a> {
    topics: &'a Topics,
    /// Of each word, the mean of its log probabilities over topics.
    mean_logs: Vec<f64>,
}

impl<'a> TellingWords<'a> {
    /// Of topics of which the first `met` have been met.
    pub fn new(topics: &'a Topics, met: usize) -> Self {
        let mean = |row: &[f64]| row[..met].iter().map(|p| libm::log(p.max(LEAST))).sum::<f64>() / met as f64;
        Self { topics, mean_logs: topics.beta.par_chunks_exact(topics.topics()).map(mean).collect() }
    }

    /// `p log (p / g)` of a word in a topic.
    pub fn score(&self, topic: usize, word: u32) -> f64 {
        let p = self.topics.row(word)[topic];
        p * (libm::log(p.max(LEAST)) - self.mean_logs[word as usize])
    }

    /// Up to so many words of highest score; the more probable first where scores are equal, as in a single topic. Of words
    /// that are forms of one word only the best is there.
    pub fn best(&self, topic: usize, vocabulary: &Vocabulary, words: usize) -> Vec<u32> {
        let scored = (0..self.mean_logs.len() as u32).map(|word| {
            let p = self.topics.row(word)[topic];
            ((self.score(topic, word), p), word)
        });
        let better = |a: &((f64, f64), u32), b: &((f64, f64), u32)| {
            b.0.0.total_cmp(&a.0.0).then(b.0.1.total_cmp(&a.0.1)).then(a.1.cmp(&b.1))
        };
        let mut shown: Vec<u32> = Vec::new();
        for (_, word) in best_of(scored.collect(), words.saturating_mul(SPARE), better) {
            let text = vocabulary.word(word);
            if shown.len() < words && !shown.iter().any(|&other| are_forms(vocabulary.word(other), text)) {
                shown.push(word);
            }
        }
        shown
    }
}

/// Whether two words are forms of one: the same but for upper case, or one the plural of the other by its ending.
fn are_forms(a: &str, b: &str) -> bool {
    let (short, long) = if a.len() <= b.len() { (a, b) } else { (b, a) };
    if short.len() == long.len() {
        return short != long && short.chars().flat_map(char::to_lowercase).eq(long.chars().flat_map(char::to_lowercase));
    }
    if short.chars().count() < SHORTEST_STEM {
        return false;
    }
    match long.strip_prefix(short) {
        Some(ending) => matches!(ending, "s" | "es" | "'s" | "’s"),
        None => short.strip_suffix('y').is_some_and(|stem| long.strip_prefix(stem) == Some("ies")),
    }
}

/// Which topics are about nothing in particular: their words are those of all documents.
///
/// The divergence of a topic from the words of all documents together is what its words tell. A topic is background if that
/// is less than half of what the topics tell in the middle, and it has more than its part of all tokens. With fewer than
/// five topics there is none.
pub fn background(topics: &Topics, shares: &[f64]) -> Vec<bool> {
    let met = shares.len();
    if met < FEWEST_TOPICS {
        return vec![false; met];
    }
    let add = |mut sums: Vec<f64>, row: &[f64]| {
        let all: f64 = row.iter().zip(shares).map(|(p, share)| p * share).sum();
        for (sum, &p) in sums.iter_mut().zip(row) {
            if p > 0.0 && all > 0.0 {
                *sum += p * libm::log(p / all);
            }
        }
        sums
    };
    let told = topics.beta.chunks_exact(topics.topics()).fold(vec![0.0; met], add);
    let mut sorted = told.clone();
    sorted.sort_by(f64::total_cmp);
    let middle = sorted[met / 2];
    let is_large = |share: f64| share * met as f64 > 1.0;
    told.iter().zip(shares).map(|(&told, &share)| is_large(share) && told < LEAST_TOLD * middle).collect()
}

/// Topics below which there is no background.
const FEWEST_TOPICS: usize = 5;

/// The part of what the topic in the middle tells that a topic must tell at least.
const LEAST_TOLD: f64 = 0.5;

#[cfg(test)]
mod tests {
    use super::*;
    use crate::evaluation::Unigram;
    use crate::explore::tests::random_topics;

    fn words(count: usize) -> Vocabulary {
        Vocabulary::new((0..count).map(|word| format!("word-{word}x")).collect::<Vec<_>>()).unwrap()
    }

    /// The definition, word by word.
    fn slow(topics: &Topics, met: usize, k: usize) -> Vec<u32> {
        let score = |word: u32| {
            let row = &topics.row(word)[..met];
            let mean: f64 = row.iter().map(|p| libm::log(*p)).sum::<f64>() / met as f64;
            row[k] * (libm::log(row[k]) - mean)
        };
        let mut all: Vec<u32> = (0..topics.vocabulary() as u32).collect();
        all.sort_by(|&a, &b| score(b).total_cmp(&score(a)));
        all
    }

    #[test]
    fn words_are_ordered_by_what_they_tell() {
        let (topics, shares) = random_topics(6, 200, 11);
        let (vocabulary, unigram) = (words(200), Unigram::from_counts(vec![1; 200]));
        let parameters = TopicParameters { topics, shares, unigram };
        let kept = ShownWords::default();
        let all = summaries(&parameters, &vocabulary, &kept, 12, WordOrder::Telling);
        for (k, summary) in all.iter().enumerate() {
            let expected = slow(&parameters.topics, 6, k);
            let found: Vec<u32> = summary.words.iter().map(|&(word, _)| word).collect();
            assert_eq!(found, expected[..12]);
            assert!(summary.words.iter().all(|&(word, p)| p == parameters.topics.row(word)[k]));
        }
        let by_probability = summaries(&parameters, &vocabulary, &kept, 12, WordOrder::Relevance(1.0));
        assert_eq!(by_probability, parameters.summaries(12, 1.0));
        assert_ne!(all, by_probability);
    }

    #[test]
    fn words_that_the_model_keeps_come_first() {
        let (topics, shares) = random_topics(3, 50, 12);
        let (vocabulary, unigram) = (words(50), Unigram::from_counts(vec![1; 50]));
        let parameters = TopicParameters { topics, shares, unigram };
        let kept = ShownWords::new(vec![vec![7, 3, 9], vec![1, 2], vec![]]);
        let all = summaries(&parameters, &vocabulary, &kept, 5, WordOrder::Telling);
        for (k, first) in [(0, &[7, 3, 9][..]), (1, &[1, 2]), (2, &[])] {
            let mut found: Vec<u32> = all[k].words.iter().map(|&(word, _)| word).collect();
            assert_eq!(&found[..first.len()], first);
            assert_eq!(found.len(), 5);
            let rest = slow(&parameters.topics, 3, k).into_iter().filter(|word| !first.contains(word));
            assert_eq!(found[first.len()..], rest.take(5 - first.len()).collect::<Vec<_>>());
            found.sort_unstable();
            found.dedup();
            assert_eq!(found.len(), 5, "no word twice");
        }
    }

    #[test]
    fn one_topic_is_ordered_by_probability() {
        let topics = Topics { beta: vec![0.2, 0.5, 0.3], alpha: vec![0.1] };
        assert_eq!(TellingWords::new(&topics, 1).best(0, &words(3), 3), [1, 2, 0]);
    }

    #[test]
    fn forms_of_one_word() {
        for (a, b) in [("charge", "charges"), ("boxes", "boxe"), ("Bank", "bank"), ("party", "parties"), ("Öl", "öl")] {
            assert!(are_forms(a, b) && are_forms(b, a), "{a} {b}");
        }
        for (a, b) in [("new", "news"), ("bank", "banker"), ("part", "party"), ("bank", "bank"), ("水", "水s")] {
            assert!(!are_forms(a, b) && !are_forms(b, a), "{a} {b}");
        }
        let topics = Topics { beta: vec![0.4, 0.1, 0.3, 0.2, 0.2, 0.4, 0.1, 0.3], alpha: vec![0.1; 2] };
        let vocabulary = Vocabulary::new(["charges", "charge", "court", "bank"]).unwrap();
        let best = TellingWords::new(&topics, 2).best(0, &vocabulary, 3);
        // Scores of bank and court are 0.05 ln(1/3) and 0.1 ln(1/2).
        assert_eq!(best, [0, 3, 2], "charge is left out behind charges");
    }

    #[test]
    fn the_topic_of_all_words_is_background() {
        // Six topics: five with ten words of their own, and one that has a bit of everything and half of all tokens.
        let (met, count) = (6, 50);
        let mut beta = vec![0.0; met * count];
        for word in 0..count {
            for k in 0..5 {
                beta[word * met + k] = if word / 10 == k { 0.08 } else { 0.2 / 40.0 };
            }
            beta[word * met + 5] = 1.0 / count as f64;
        }
        let topics = Topics { beta, alpha: vec![0.1; met] };
        let shares = [0.1, 0.1, 0.1, 0.1, 0.1, 0.5];
        assert_eq!(background(&topics, &shares), [false, false, false, false, false, true]);
        let few = Topics { beta: vec![0.5, 0.5, 0.5, 0.5], alpha: vec![0.1; 2] };
        assert_eq!(background(&few, &[0.9, 0.1]), [false, false]);
    }
}
