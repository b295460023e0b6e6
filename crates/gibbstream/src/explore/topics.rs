//! Topics and words without documents.

use super::relevance::{RelevantWords, labels, word_shares};
use super::report::{Topic, Words};
use crate::corpus::Vocabulary;
use super::word_order::shown_words;
use crate::file::{LabelSource, Model, ShownWords};
use crate::learn::TopicParameters;
use crate::model::topics::lda::Topics;
use rayon::prelude::*;

/// Topics whose words are looked at together: the table is held by word, and a line of memory has so many topics.
const TOPICS_PER_BLOCK: usize = 8;

/// Best words of a topic that exclusivity and coherence look at.
pub(crate) const BEST_WORDS: usize = 10;

/// The lambda at which words are followed through time.
const FOLLOWED_LAMBDA: f64 = 0.6;

/// Topics that own a word, at most, and the least share of it that they have.
const MOST_OWNERS: usize = 10;
const LEAST_OWNERSHIP: f64 = 0.01;

/// A topic has more than this share of all tokens if it is in use.
const LEAST_SHARE: f64 = 1e-3;

/// What is known of a topic from the model alone; words by their ids in the vocabulary.
pub(crate) struct TopicFacts {
    /// The words that lists show at some lambda, ascending.
    pub shown: Vec<u32>,
    /// The words that are followed through time.
    pub followed: Vec<u32>,
    exclusivity: f64,
    effective_words: f64,
}

/// All topics that have been met.
pub(crate) struct TopicTable {
    pub facts: Vec<TopicFacts>,
    /// p(word).
    pub anywhere: Vec<f64>,
}

impl TopicTable {
    /// Looks at every topic; `followed` words of each are chosen.
    pub fn new(parameters: &TopicParameters, followed: usize) -> Self {
        let TopicParameters { topics, shares, .. } = parameters;
        let anywhere = word_shares(topics, shares);
        let logs: Vec<f64> =
            anywhere.iter().map(|share| libm::log(share.max(f64::MIN_POSITIVE))).collect();
        let totals: Vec<f64> = topics.beta.par_chunks_exact(topics.topics()).map(|row| row.iter().sum()).collect();
        let starts: Vec<usize> = (0..shares.len()).step_by(TOPICS_PER_BLOCK).collect();
        let facts = starts
            .into_par_iter()
            .flat_map_iter(|start| columns(topics, start, TOPICS_PER_BLOCK.min(shares.len() - start)))
            .map(|here| TopicFacts::new(&here, &logs, &totals, followed))
            .collect();
        Self { facts, anywhere }
    }

    /// The topics of the report; `place` gives the place of a word in its list of words.
    pub fn report(
        &self,
        parameters: &TopicParameters,
        vocabulary: &Vocabulary,
        kept: &ShownWords,
        created_as: Option<&[u64]>,
        place: impl Fn(u32) -> u32,
    ) -> Vec<Topic> {
        let TopicParameters { topics, shares, .. } = parameters;
        let labels = made_names(parameters, vocabulary, kept);
        let topic = |(id, (facts, label)): (usize, (&TopicFacts, String))| {
            let weight = |word: u32| topics.row(word)[id];
            let mut words: Vec<(f64, u32)> = facts.shown.iter().map(|&word| (weight(word), word)).collect();
            words.sort_by(|a, b| b.0.total_cmp(&a.0).then(a.1.cmp(&b.1)));
            Topic {
                id: id as u32,
                created_as: created_as.map(|ids| ids[id]),
                label,
                share: shares[id],
                alpha: topics.alpha[id],
                coherence: None,
                exclusivity: facts.exclusivity,
                effective_words: facts.effective_words,
                in_use: shares[id] > LEAST_SHARE,
                documents: None,
                words: words.iter().map(|&(_, word)| place(word)).collect(),
                weights: words.iter().map(|&(weight, _)| weight).collect(),
            }
        };
        self.facts.iter().zip(labels).enumerate().map(topic).collect()
    }

    /// The words of the report, in the given order, with the topics that own them.
    pub fn words(&self, ids: &[u32], parameters: &TopicParameters, vocabulary: &Vocabulary, counts: &[u64]) -> Words {
        let TopicParameters { topics, shares, .. } = parameters;
        let owners = |&word: &u32| {
            let all = self.anywhere[word as usize];
            let parts = topics.row(word).iter().zip(shares).enumerate();
            let mut owners: Vec<(f64, u32)> = parts
                .map(|(k, (p, share))| (p * share / all, k as u32))
                .filter(|&(part, _)| part >= LEAST_OWNERSHIP)
                .collect();
            owners.sort_by(|a, b| b.0.total_cmp(&a.0).then(a.1.cmp(&b.1)));
            owners.truncate(MOST_OWNERS);
            owners.into_iter().map(|(part, topic)| (topic, part)).unzip()
        };
        let (topics, topic_shares) = ids.par_iter().map(owners).unzip();
        Words {
            text: ids.iter().map(|&word| vocabulary.word(word).to_owned()).collect(),
            share: ids.iter().map(|&word| self.anywhere[word as usize]).collect(),
            tokens: ids.iter().map(|&word| counts.get(word as usize).copied().unwrap_or(0)).collect(),
            topics,
            topic_shares,
        }
    }
}

/// A name for every topic, made of the first words that are shown of it; `kept` are those of a model.
pub(crate) fn made_names(parameters: &TopicParameters, vocabulary: &Vocabulary, kept: &ShownWords) -> Vec<String> {
    labels(&shown_words(parameters, vocabulary, kept, BEST_WORDS), |word| vocabulary.word(word))
}

/// The name of every topic and who gave it: the one that is kept in the model, or else one that is made.
pub(crate) fn names(parameters: &TopicParameters, model: &Model) -> Vec<(String, LabelSource)> {
    let made = made_names(parameters, &model.features.vocabulary(), &model.shown).into_iter();
    let kept = model.topic_names().into_iter().chain(std::iter::repeat(None));
    kept.zip(made).map(|(kept, made)| kept.unwrap_or((made, LabelSource::Auto))).collect()
}

impl TopicFacts {
    fn new(here: &[f64], log_anywhere: &[f64], totals: &[f64], followed: usize) -> Self {
        let relevant = RelevantWords::new(here, log_anywhere);
        let best = relevant.best(1.0, BEST_WORDS);
        let exclusive: f64 = best.iter().map(|&word| here[word as usize] / totals[word as usize]).sum();
        let entropy: f64 = here.iter().filter(|&&p| p > 0.0).map(|&p| -p * libm::log(p)).sum();
        Self {
            shown: relevant.shown(),
            followed: relevant.best(FOLLOWED_LAMBDA, followed),
            exclusivity: exclusive / best.len().max(1) as f64,
            effective_words: libm::exp(entropy),
        }
    }
}

/// p(word | topic) of `count` topics from `start` on, each by word.
fn columns(topics: &Topics, start: usize, count: usize) -> Vec<Vec<f64>> {
    let mut columns = vec![Vec::with_capacity(topics.vocabulary()); count];
    for row in topics.beta.chunks_exact(topics.topics()) {
        for (column, &probability) in columns.iter_mut().zip(&row[start..start + count]) {
            column.push(probability);
        }
    }
    columns
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::evaluation::Unigram;
    use crate::explore::tests::random_topics;

    #[test]
    fn topics_are_those_of_the_summary() {
        // More topics than are looked at together, and one more that has not been met yet.
        let (topics, mut shares) = random_topics(19, 120, 5);
        shares.truncate(18);
        let whole: f64 = shares.iter().sum();
        shares.iter_mut().for_each(|share| *share /= whole);
        let unigram = Unigram::from_counts(vec![1; 120]);
        let parameters = TopicParameters { topics, shares, unigram };
        let table = TopicTable::new(&parameters, 7);
        let words: Vec<String> = (0..120).map(|word| format!("w{word}")).collect();
        let vocabulary = Vocabulary::new(words.iter().map(String::as_str)).unwrap();
        let topics = table.report(&parameters, &vocabulary, &ShownWords::default(), None, |word| word);
        assert_eq!(topics.len(), 18);
        for (topic, summary) in topics.iter().zip(parameters.summaries(BEST_WORDS, 1.0)) {
            assert_eq!((topic.share, topic.alpha), (summary.share, summary.alpha));
            assert!((topic.exclusivity - summary.exclusivity).abs() < 1e-12);
            assert!((topic.effective_words - summary.effective_words).abs() < 1e-9 * summary.effective_words);
            for (place, &(word, weight)) in summary.words.iter().enumerate() {
                assert_eq!((topic.words[place], topic.weights[place]), (word, weight), "most probable first");
            }
        }
        let some = [7, 3, 100];
        let found = table.words(&some, &parameters, &vocabulary, &(0..120).collect::<Vec<u64>>());
        assert_eq!((&found.text[2], found.tokens[2]), (&"w100".to_owned(), 100));
        for (place, &word) in some.iter().enumerate() {
            let parts: Vec<f64> = (0..18)
                .map(|k| parameters.topics.row(word)[k] * parameters.shares[k])
                .collect();
            let whole: f64 = parts.iter().sum();
            assert!((found.share[place] - whole).abs() < 1e-15);
            for (&topic, part) in found.topics[place].iter().zip(&found.topic_shares[place]) {
                assert!((parts[topic as usize] / whole - part).abs() < 1e-12);
            }
            assert!(found.topic_shares[place].is_sorted_by(|a, b| a >= b));
        }
    }
}
