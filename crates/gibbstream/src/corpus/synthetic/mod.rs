//! Documents drawn from known parameters, so that what a method learns can be held against the truth.
//!
//! The randomness of document i depends on the seed and on i only: any part of the stream can be drawn alone,
//! in any order, and memory does not depend on how many documents there are.

pub(crate) mod themes;

use std::sync::Arc;

use crate::corpus::{Document, MAX_DOCUMENT_TOKENS};
use crate::error::{Error, Result};
use crate::numerics::random::{Purpose, Seed, Stream};

/// Concentrations below this overflow the logarithm of a Gamma draw.
const SMALLEST_CONCENTRATION: f64 = 1e-300;

/// How far the sum of a topic may be from 1.
const SUM_TOLERANCE: f64 = 1e-6;

/// The parameters of a topic model.
#[derive(Clone, Debug, PartialEq)]
pub struct Truth {
    /// Word laws, one row of `vocabulary_size` probabilities per topic, row after row; each sums to 1.
    pub topics: Vec<f64>,
    /// Dirichlet parameter of the topic mixtures, one per topic.
    pub alpha: Vec<f64>,
    /// Number of words V.
    pub vocabulary_size: usize,
}

impl Truth {
    /// The given word laws (row after row) and Dirichlet parameter; the size of the vocabulary is the length of
    /// a row.
    pub fn new(topics: Vec<f64>, alpha: Vec<f64>) -> Result<Self> {
        let vocabulary_size = topics.len().checked_div(alpha.len()).unwrap_or(0);
        let truth = Self { topics, alpha, vocabulary_size };
        truth.validate()?;
        Ok(truth)
    }

    /// `topics` word laws over `vocabulary` words, each drawn from a symmetric Dirichlet(`topic_concentration`),
    /// and a symmetric Dirichlet(`alpha`) for the mixtures. Topic k depends on the seed, on k and on the size of
    /// the vocabulary, and not on the number of topics.
    pub fn random(
        topics: usize,
        vocabulary: usize,
        topic_concentration: f64,
        alpha: f64,
        seed: Seed,
    ) -> Result<Self> {
        check_sizes(topics, vocabulary)?;
        check_concentration("topic concentration", topic_concentration)?;
        check_concentration("alpha", alpha)?;
        let mut rows = Vec::new();
        topics.checked_mul(vocabulary).and_then(|cells| rows.try_reserve_exact(cells).ok()).ok_or_else(
            || {
                Error::setting(
                    "topics, vocab",
                    format!("a table of {topics} x {vocabulary} probabilities does not fit into memory"),
                    "use fewer topics or a smaller vocabulary",
                )
            },
        )?;
        rows.resize(topics * vocabulary, 0.0);
        let concentration = vec![topic_concentration; vocabulary];
        for (k, row) in rows.chunks_exact_mut(vocabulary).enumerate() {
            seed.stream(Purpose::SyntheticTruth, [0, k as u64]).dirichlet(&concentration, row);
        }
        Ok(Self { topics: rows, alpha: vec![alpha; topics], vocabulary_size: vocabulary })
    }

    /// Number of topics K.
    pub fn topic_count(&self) -> usize {
        self.alpha.len()
    }

    /// The word law of topic `k`.
    pub fn row(&self, k: usize) -> &[f64] {
        &self.topics[k * self.vocabulary_size..(k + 1) * self.vocabulary_size]
    }

    /// Refuses parameters from which no document can be drawn.
    fn validate(&self) -> Result<()> {
        check_sizes(self.topic_count(), self.vocabulary_size)?;
        if self.topic_count().checked_mul(self.vocabulary_size) != Some(self.topics.len()) {
            return Err(Error::setting(
                "topics",
                format!(
                    "{} probabilities do not make {} rows of equal length",
                    self.topics.len(),
                    self.topic_count()
                ),
                "give one row over the whole vocabulary for every entry of alpha",
            ));
        }
        for &value in &self.alpha {
            check_concentration("alpha", value)?;
        }
        for k in 0..self.topic_count() {
            let sum: f64 = self.row(k).iter().sum();
            // A NaN fails the comparison too.
            let is_law = (sum - 1.0).abs() <= SUM_TOLERANCE && self.row(k).iter().all(|&p| p >= 0.0);
            if !is_law {
                return Err(Error::setting(
                    "topics",
                    format!("row {k} (from 0) is not a probability law: its sum is {sum}"),
                    "give probabilities that are not negative and add up to 1",
                ));
            }
        }
        Ok(())
    }
}

/// Number of tokens of a synthetic document.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Length {
    /// The same for every document.
    Fixed(u64),
    /// Poisson with this mean; with a small mean some documents are empty.
    Poisson(f64),
}

impl Length {
    fn validate(self) -> Result<()> {
        // Ten standard deviations above its mean a Poisson number is never seen.
        let (positive, largest) = match self {
            Self::Fixed(tokens) => (tokens > 0, tokens as f64),
            Self::Poisson(mean) => (mean > 0.0, mean + 10.0 * mean.sqrt()),
        };
        let shown = match self {
            Self::Fixed(tokens) => tokens.to_string(),
            Self::Poisson(mean) => mean.to_string(),
        };
        if !positive {
            return Err(Error::setting(
                "length",
                format!("{shown} is not a positive number of tokens per document"),
                "use for example 60",
            ));
        }
        if largest > MAX_DOCUMENT_TOKENS as f64 {
            return Err(Error::setting(
                "length",
                format!(
                    "{shown} makes documents longer than {MAX_DOCUMENT_TOKENS} tokens, the most any reader accepts"
                ),
                "use a smaller length and more documents",
            ));
        }
        Ok(())
    }

    fn draw(self, stream: &mut Stream) -> u64 {
        match self {
            Self::Fixed(tokens) => tokens,
            Self::Poisson(mean) => stream.poisson(mean),
        }
    }
}

/// A stream of documents drawn from a [`Truth`]: mixture from Dirichlet(alpha), then for every token a topic
/// from the mixture and a word from the topic.
///
/// Skipping is free: `nth` and `skip` do not draw the documents they pass over.
#[derive(Clone, Debug)]
pub struct Synthetic {
    truth: Arc<Truth>,
    words: Arc<[Slot]>,
    length: Length,
    seed: Seed,
    next: u64,
    documents: u64,
}

impl Synthetic {
    /// The documents `0..documents`; [`u64::MAX`] makes an endless stream.
    pub fn new(truth: impl Into<Arc<Truth>>, length: Length, seed: Seed, documents: u64) -> Result<Self> {
        let truth = truth.into();
        truth.validate()?;
        length.validate()?;
        let words = (0..truth.topic_count()).flat_map(|k| alias_table(truth.row(k))).collect();
        Ok(Self { truth, words, length, seed, next: 0, documents })
    }

    /// The parameters the documents are drawn from.
    pub fn truth(&self) -> &Arc<Truth> {
        &self.truth
    }

    /// Document `index` of the stream, whatever was drawn before.
    pub fn document(&self, index: u64) -> Document {
        let mut stream = self.seed.stream(Purpose::SyntheticDocument, [0, index]);
        let tokens = self.length.draw(&mut stream);
        // The mixture, then its running sums, in which a uniform number finds its topic.
        let mut mixture = vec![0.0; self.truth.topic_count()];
        stream.dirichlet(&self.truth.alpha, &mut mixture);
        let mut total = 0.0;
        for share in &mut mixture {
            total += *share;
            *share = total;
        }
        let size = self.truth.vocabulary_size;
        let words: Vec<u32> = (0..tokens)
            .map(|_| {
                let place = stream.uniform() * total;
                // The product can round up to the total.
                let topic = mixture.partition_point(|&sum| sum <= place).min(mixture.len() - 1);
                draw_word(&self.words[topic * size..(topic + 1) * size], &mut stream)
            })
            .collect();
        Document::from_tokens(&words)
    }
}

impl Iterator for Synthetic {
    type Item = Result<Document>;

    fn next(&mut self) -> Option<Self::Item> {
        self.nth(0)
    }

    fn nth(&mut self, skipped: usize) -> Option<Self::Item> {
        let index = self.next.saturating_add(skipped as u64);
        self.next = index.saturating_add(1).min(self.documents);
        (index < self.documents).then(|| Ok(self.document(index)))
    }

    fn size_hint(&self) -> (usize, Option<usize>) {
        let rest = usize::try_from(self.documents - self.next);
        (rest.unwrap_or(usize::MAX), rest.ok())
    }
}

/// A slot of an alias table: it stands for a word, and lends what it does not need to another one.
#[derive(Clone, Copy, Debug)]
struct Slot {
    /// Probability with which the slot gives its own word.
    own: f64,
    /// The word it gives otherwise.
    other: u32,
}

/// Walker's alias table in Vose's order of construction: a draw takes constant time for any vocabulary.
fn alias_table(law: &[f64]) -> Vec<Slot> {
    let scale = law.len() as f64 / law.iter().sum::<f64>();
    let mut table: Vec<Slot> =
        law.iter().enumerate().map(|(word, &p)| Slot { own: p * scale, other: word as u32 }).collect();
    let (mut small, mut large): (Vec<u32>, Vec<u32>) =
        (0..law.len() as u32).partition(|&word| table[word as usize].own < 1.0);
    while let (Some(&giver), Some(taker)) = (large.last(), small.pop()) {
        table[taker as usize].other = giver;
        let rest = table[giver as usize].own - (1.0 - table[taker as usize].own);
        table[giver as usize].own = rest;
        if rest < 1.0 {
            large.pop();
            small.push(giver);
        }
    }
    // What is left should be exactly 1, and is up to rounding.
    for word in small.into_iter().chain(large) {
        table[word as usize] = Slot { own: 1.0, other: word };
    }
    table
}

#[inline]
fn draw_word(table: &[Slot], stream: &mut Stream) -> u32 {
    let word = stream.below(table.len());
    let slot = table[word];
    if stream.uniform() < slot.own { word as u32 } else { slot.other }
}

fn check_sizes(topics: usize, vocabulary: usize) -> Result<()> {
    if topics == 0 {
        return Err(Error::setting("topics", "there is no topic to draw from", "use at least 1"));
    }
    if vocabulary == 0 {
        return Err(Error::setting("vocab", "the vocabulary has no words", "use at least 1"));
    }
    if u32::try_from(vocabulary).is_err() {
        return Err(Error::setting(
            "vocab",
            format!("{vocabulary} words are more than a word id can tell apart"),
            format!("use at most {}", u32::MAX),
        ));
    }
    Ok(())
}

fn check_concentration(setting: &str, value: f64) -> Result<()> {
    if value >= SMALLEST_CONCENTRATION && value.is_finite() {
        return Ok(());
    }
    Err(Error::setting(
        setting,
        format!("{value} is not a usable Dirichlet parameter"),
        "use a positive number, for example 0.1",
    ))
}

#[cfg(test)]
mod tests;
