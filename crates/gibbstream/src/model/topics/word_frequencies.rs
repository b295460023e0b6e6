//! How often words occur: in all documents, which is the baseline that topics must beat, and lately.

use crate::learn::schedule::Step;
use crate::learn::{Array, Baseline, Scalar, Stored};
use crate::model::topics::statistics::TopicStatistics;
use crate::model::{LatentModel, Statistics, Sums};

/// More tokens than any stream has, and so few that they are exact in double precision.
pub(super) const MOST_TOKENS: u64 = 1 << f64::MANTISSA_DIGITS;

/// Below this scale the numbers are written out, long before they could lose digits.
const SMALLEST_SCALE: f64 = 1e-60;

/// Tokens seen, in all and of each word.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct WordFrequencies {
    /// All of them.
    pub tokens: u64,
    /// Those of each word.
    pub counts: Vec<u64>,
    /// Those of each word in the last documents, where reported topics have these frequencies.
    pub recent: Option<RecentCounts>,
}

/// Tokens of each word that fade: every document makes those before it count less.
#[derive(Clone, Debug, PartialEq)]
pub struct RecentCounts {
    /// A document fades by the factor e over so many.
    memory: u64,
    /// The documents that they stand for.
    documents: f64,
    scale: f64,
    /// The tokens of a word are `scale` times these.
    scaled: Vec<f64>,
}

impl RecentCounts {
    fn new(memory: u64, words: usize) -> Self {
        Self { memory, documents: 0.0, scale: 1.0, scaled: vec![0.0; words] }
    }

    /// Everything so far fades over some documents that are about to be added.
    fn fade(&mut self, documents: u64) {
        let kept = libm::exp(-(documents as f64) / self.memory as f64);
        self.scale *= kept;
        self.documents = self.documents * kept + documents as f64;
        if self.scale < SMALLEST_SCALE {
            self.scaled.iter_mut().for_each(|tokens| *tokens *= self.scale);
            self.scale = 1.0;
        }
    }

    fn add(&mut self, word: usize, tokens: u64) {
        self.scaled[word] += tokens as f64 / self.scale;
    }

    fn tokens(&self, word: usize) -> f64 {
        self.scale * self.scaled[word]
    }

    fn is_sound(&self) -> bool {
        let sound = |value: f64| (0.0..=1e100).contains(&value);
        self.scale.is_normal()
            && (0.0..=1.0).contains(&self.scale)
            && sound(self.documents)
            && self.scaled.iter().all(|&tokens| sound(tokens))
    }
}

impl WordFrequencies {
    /// Nothing counted yet; with a memory, the last documents are counted beside all of them.
    pub fn new(words: usize, memory: Option<u64>) -> Self {
        let recent = memory.map(|memory| RecentCounts::new(memory, words));
        Self { tokens: 0, counts: vec![0; words], recent }
    }

    /// Tokens of a word in the documents whose frequencies are reported.
    pub fn reported(&self, word: usize) -> f64 {
        self.recent.as_ref().map_or_else(|| self.counts[word] as f64, |recent| recent.tokens(word))
    }

    /// The number of those documents.
    pub fn documents(&self, clock: &Step) -> f64 {
        self.recent.as_ref().map_or(clock.seen as f64, |recent| recent.documents).max(1.0)
    }

    /// From now on the last documents are counted with this memory, or not at all. What was counted without one is taken
    /// to be spread evenly over the stream.
    pub fn remember(&mut self, memory: Option<u64>, clock: &Step) {
        self.recent = memory.map(|memory| {
            if let Some(recent) = self.recent.take() {
                return RecentCounts { memory, ..recent };
            }
            let seen = (clock.seen as f64).max(1.0);
            let documents = memory as f64 * (1.0 - libm::exp(-(clock.seen as f64) / memory as f64));
            let scaled = self.counts.iter().map(|&count| count as f64 * documents / seen).collect();
            RecentCounts { memory, documents, scale: 1.0, scaled }
        });
    }

    /// Adds what another model has counted; `places` tells where its words are here.
    pub fn add(&mut self, other: &Self, places: &[u32]) {
        self.tokens += other.tokens;
        for (&place, count) in places.iter().zip(&other.counts) {
            self.counts[place as usize] += count;
        }
        if let (Some(own), Some(recent)) = (&mut self.recent, &other.recent) {
            own.documents += recent.documents;
            for (word, &place) in places.iter().enumerate() {
                own.scaled[place as usize] += recent.tokens(word) / own.scale;
            }
        }
    }
}

impl<M: LatentModel<Statistics = TopicStatistics>> Baseline<M> for WordFrequencies {
    fn absorb(&mut self, statistics: &TopicStatistics, _sums: &Sums) {
        if let Some(recent) = &mut self.recent {
            recent.fade(statistics.weight());
        }
        for (index, &word) in statistics.words().iter().enumerate() {
            let tokens = statistics.tokens(index);
            self.counts[word as usize] += tokens;
            self.tokens += tokens;
            if let Some(recent) = &mut self.recent {
                recent.add(word as usize, tokens);
            }
        }
    }

    fn arrays(&self) -> Vec<Array<'_>> {
        let mut arrays = vec![Array::counts("word_counts", &[self.counts.len()], &self.counts)];
        if let Some(recent) = &self.recent {
            arrays.push(Array::floats("recent_word_counts", &[recent.scaled.len()], &recent.scaled));
        }
        arrays
    }

    fn scalars(&self) -> Vec<(&'static str, Scalar)> {
        let mut scalars = vec![("tokens", Scalar::Count(self.tokens))];
        if let Some(recent) = &self.recent {
            scalars.push(("recent_scale", Scalar::Float(recent.scale)));
            scalars.push(("recent_documents", Scalar::Float(recent.documents)));
        }
        scalars
    }

    fn restore(&mut self, stored: &dyn Stored) -> Result<(), String> {
        self.tokens = stored.count("tokens")?;
        self.counts = stored.counts("word_counts", &[self.counts.len()])?;
        let sum = self.counts.iter().try_fold(0_u64, |sum, &count| sum.checked_add(count));
        // Words that an open vocabulary has forgotten are no longer counted.
        if self.tokens > MOST_TOKENS || sum.is_none_or(|sum| sum > self.tokens) {
            return Err("'word_counts' holds numbers that cannot be right".into());
        }
        if let Some(recent) = &mut self.recent {
            recent.scaled = stored.floats("recent_word_counts", &[recent.scaled.len()])?;
            recent.scale = stored.float("recent_scale")?;
            recent.documents = stored.float("recent_documents")?;
            if !recent.is_sound() {
                return Err("'recent_word_counts' holds numbers that cannot be right".into());
            }
        }
        Ok(())
    }

    fn grow(&mut self, words: usize) {
        self.counts.resize(words, 0);
        if let Some(recent) = &mut self.recent {
            recent.scaled.resize(words, 0.0);
        }
    }

    fn shorten_memory(&mut self, documents: f64) {
        if let Some(recent) = self.recent.as_mut().filter(|recent| recent.documents > documents) {
            recent.scale *= documents / recent.documents;
            recent.documents = documents;
        }
    }

    fn forget(&mut self, words: &[u32]) {
        words.iter().for_each(|&word| self.counts[word as usize] = 0);
        if let Some(recent) = &mut self.recent {
            words.iter().for_each(|&word| recent.scaled[word as usize] = 0.0);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The slow way: every document of the past with its weight.
    #[test]
    fn lazy_fading_equals_weights_written_out() {
        let memory = 40;
        let mut recent = RecentCounts::new(memory, 3);
        let batches: Vec<(u64, [u64; 3])> =
            (0..2_000).map(|i| (1 + i % 17, [i % 5, 3 * (i % 2), u64::from(i < 3)])).collect();
        for (documents, tokens) in &batches {
            recent.fade(*documents);
            tokens.iter().enumerate().for_each(|(word, &tokens)| recent.add(word, tokens));
        }
        let (mut after, mut expected, mut documents) = (0, [0.0; 3], 0.0);
        for (size, tokens) in batches.iter().rev() {
            let weight = libm::exp(-(after as f64) / memory as f64);
            documents += weight * *size as f64;
            expected.iter_mut().zip(tokens).for_each(|(sum, &tokens)| *sum += weight * tokens as f64);
            after += size;
        }
        for (word, expected) in expected.into_iter().enumerate() {
            let found = recent.tokens(word);
            assert!((found - expected).abs() <= 1e-9 * (1.0 + expected), "{word}: {found} is not {expected}");
        }
        assert!((recent.documents - documents).abs() < 1e-9 * documents);
        assert!(recent.is_sound());
    }

    #[test]
    fn a_memory_of_nearly_nothing_has_the_last_minibatch_alone() {
        let mut recent = RecentCounts::new(1, 2);
        recent.fade(1_000_000);
        recent.add(0, 7);
        recent.fade(1_000_000);
        recent.add(1, 5);
        assert_eq!((recent.tokens(0), recent.tokens(1)), (0.0, 5.0));
        assert!(recent.is_sound());
    }

    #[test]
    fn a_memory_that_comes_later_takes_the_past_as_even() {
        let mut seen = WordFrequencies { tokens: 30, counts: vec![10, 20], recent: None };
        let clock = Step { update: 1, seen: 1_000_000, ..Step::default() };
        seen.remember(Some(100), &clock);
        assert!((seen.documents(&clock) - 100.0).abs() < 1e-9);
        assert!((seen.reported(1) - 20.0 * 100.0 / 1e6).abs() < 1e-12);
        seen.remember(None, &clock);
        assert_eq!((seen.reported(1), seen.documents(&clock)), (20.0, 1e6));
    }
}
