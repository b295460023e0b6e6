//! What has changed, when an alarm was raised: the topics and words that moved.

use super::drift::Alarm;
use crate::corpus::{Minibatch, Vocabulary};
use crate::learn::trainer::Trainer;
use crate::numerics::math::dot;
use crate::summary::shares;
use serde::{Deserialize, Serialize};

/// Topics and words that are named.
const SHOWN: usize = 8;

/// The frequency that a word is taken to have had if it was never seen.
const NEVER_SEEN: f64 = 1e-6;

/// A change of the stream.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Change {
    /// When, and how much worse documents were predicted.
    #[serde(flatten)]
    pub alarm: Alarm,
    /// Topics whose share in the minibatch of the alarm differs most from their share before.
    pub topics: Vec<MovedTopic>,
    /// Words that are far more frequent in it than before.
    pub words: Vec<MovedWord>,
}

/// A topic that moved.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct MovedTopic {
    /// Its number, as everywhere.
    pub topic: u64,
    /// Its share in all tokens before.
    pub before: f64,
    /// Its share in the minibatch of the alarm.
    pub now: f64,
}

/// A word that moved.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct MovedWord {
    /// The word.
    pub word: String,
    /// Its share in all tokens before.
    pub before: f64,
    /// Its share in the minibatch of the alarm.
    pub now: f64,
}

/// What must be kept of the moment before the minibatch of an alarm is learnt from.
pub struct Before {
    alarm: Alarm,
    topic_tokens: Vec<f64>,
    words: Vec<(u32, f64, f64)>,
}

impl Before {
    /// Looks at the model before it learns from the minibatch.
    pub fn new(alarm: Alarm, trainer: &Trainer, batch: &Minibatch) -> Self {
        let known = batch.words().partition_point(|&word| (word as usize) < trainer.word_counts().len());
        let table = trainer.topics_of(&batch.words()[..known]);
        let (tokens, counts) = (batch.tokens() as f64, trainer.word_counts());
        let frequency = |place: usize, word: u32| match &table {
            Some(table) if counts.get(word as usize).is_some_and(|&count| count > 0) => {
                let topics = table.shares.len();
                dot(&table.topics.beta[place * topics..][..topics], &table.shares)
            }
            _ => NEVER_SEEN,
        };
        let mut words: Vec<(u32, f64, f64)> = (batch.words().iter().enumerate())
            .map(|(place, &word)| (word, frequency(place, word), batch.tokens_of_word(place) as f64 / tokens))
            .collect();
        // By what each word says about the change.
        let surprise = |&(_, before, now): &(u32, f64, f64)| now * libm::log(now / before);
        words.sort_by(|a, b| surprise(b).total_cmp(&surprise(a)).then(a.0.cmp(&b.0)));
        words.truncate(SHOWN);
        words.retain(|&(_, before, now)| now > before);
        Self { alarm, topic_tokens: trainer.topic_tokens(), words }
    }

    /// What has changed, after the minibatch was learnt from with weight `rho`.
    pub fn change(self, trainer: &Trainer, vocabulary: &Vocabulary, rho: f64) -> Change {
        let after = trainer.topic_tokens();
        let mut topics = Vec::new();
        // Where topics were born or died, their places are others.
        if after.len() == self.topic_tokens.len() && rho > 0.0 {
            let fresh = after.iter().zip(&self.topic_tokens);
            let fresh: Vec<f64> =
                fresh.map(|(after, before)| ((after - (1.0 - rho) * before) / rho).max(0.0)).collect();
            let (before, now) = (shares(&self.topic_tokens), shares(&fresh));
            let ids = trainer.sticks().map(|sticks| sticks.ids.clone());
            let id = |place: usize| ids.as_ref().map_or(place as u64, |ids| ids[place]);
            topics = (0..now.len())
                .map(|k| MovedTopic { topic: id(k), before: before[k], now: now[k] })
                .collect();
            let moved = |topic: &MovedTopic| (topic.now - topic.before).abs();
            topics.sort_by(|a, b| moved(b).total_cmp(&moved(a)).then(a.topic.cmp(&b.topic)));
            topics.truncate(SHOWN);
        }
        let word = |&(word, before, now): &(u32, f64, f64)| MovedWord {
            word: vocabulary.word(word).to_owned(),
            before,
            now,
        };
        Change { alarm: self.alarm, topics, words: self.words.iter().map(word).collect() }
    }
}
