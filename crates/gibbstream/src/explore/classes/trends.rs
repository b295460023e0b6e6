//! How words of topics come and go: counts of some words of every topic in every period.

use super::moments::ClassMoments;
use crate::explore::report::WordTrends;
use rustc_hash::FxHashMap;

/// Words of a topic that are followed, if there are not too many topics.
const MOST_WORDS: usize = 30;

/// Pairs of topic and word that are followed: their counts take so many times 4 bytes times the periods at hand.
const MOST_PAIRS: usize = 20_000;

/// Words that rise or fall in a period, at most.
const MOVED_WORDS: usize = 5;

/// Standard errors from which on a change is more than chance.
const SURE: f64 = 2.0;

/// Added to every count, so that log odds of what was never seen are finite.
const SMOOTHING: f64 = 0.5;

/// Which words of which topics are followed.
#[derive(Clone, Debug, Default)]
pub(crate) struct FollowedWords {
    /// Words of each topic, the most relevant first.
    words: Vec<Vec<u32>>,
    /// Places of (topic, word) in the counts.
    places: FxHashMap<(u32, u32), u32>,
    /// Where the words of each topic begin in the counts.
    starts: Vec<usize>,
}

/// Tokens in a period.
#[derive(Clone, Debug, Default)]
pub(crate) struct PeriodCounts {
    /// Of each followed pair.
    pairs: Vec<u32>,
    /// Of each topic.
    topics: Vec<u64>,
}

/// What is known of a class of documents: a period, or a group.
#[derive(Clone, Debug, Default)]
pub(crate) struct ClassSums {
    pub class: ClassMoments,
    pub words: PeriodCounts,
}

impl FollowedWords {
    /// Numbers that are kept of a class: shares, and counts of words.
    pub fn numbers_of_class(&self) -> usize {
        3 * self.words.len() + self.places.len()
    }

    /// How many words of each of so many topics are followed.
    pub fn most(topics: usize) -> usize {
        (MOST_PAIRS / topics.max(1)).clamp(5, MOST_WORDS)
    }

    /// Follows the given words of each topic.
    pub fn new(words: Vec<Vec<u32>>) -> Self {
        let (mut places, mut starts, mut next) = (FxHashMap::default(), Vec::new(), 0);
        for (topic, words) in words.iter().enumerate() {
            starts.push(next);
            for &word in words {
                places.insert((topic as u32, word), next as u32);
                next += 1;
            }
        }
        Self { words, places, starts }
    }

    /// Counts of a topic's words by class, and what is particular to a class: `change(counts of a word, tokens of the topic,
    /// class)` tells how certain it is that the word is used more there, in standard errors. Words by their ids in the
    /// vocabulary.
    pub fn trends(
        &self,
        topic: usize,
        periods: &[Option<&PeriodCounts>],
        change: impl Fn(&[u32], &[u64], usize) -> Option<f64>,
    ) -> WordTrends {
        let Some(words) = self.words.get(topic) else { return WordTrends::default() };
        let start = self.starts[topic];
        let count = |place: usize, period: Option<&PeriodCounts>| {
            period.and_then(|period| period.pairs.get(start + place).copied()).unwrap_or(0)
        };
        let counts: Vec<Vec<u32>> =
            (0..words.len()).map(|place| periods.iter().map(|&period| count(place, period)).collect()).collect();
        let tokens: Vec<u64> = periods
            .iter()
            .map(|period| period.and_then(|period| period.topics.get(topic).copied()).unwrap_or(0))
            .collect();
        let (mut rising, mut falling) = (Vec::new(), Vec::new());
        for period in 0..periods.len() {
            let (up, down) = moved(&counts, |counts| change(counts, &tokens, period));
            rising.push(up);
            falling.push(down);
        }
        WordTrends { words: words.clone(), counts, tokens, rising, falling }
    }
}

/// How much more a topic uses a word in a period than in the period before; nothing where it has no tokens in one of them.
pub(crate) fn since_the_period_before(counts: &[u32], tokens: &[u64], period: usize) -> Option<f64> {
    let before = period.checked_sub(1).filter(|&before| tokens[before] > 0 && tokens[period] > 0)?;
    let at = |period: usize| (u64::from(counts[period]), tokens[period]);
    Some(certainty(at(before), at(period)))
}

/// Places of the words that a topic uses more, and less, by what `change` says of their counts, most certain first.
fn moved(counts: &[Vec<u32>], change: impl Fn(&[u32]) -> Option<f64>) -> (Vec<u32>, Vec<u32>) {
    let words = counts.iter().enumerate();
    let mut moved: Vec<(f64, u32)> =
        words.filter_map(|(place, counts)| Some((change(counts)?, place as u32))).collect();
    moved.sort_by(|a, b| b.0.abs().total_cmp(&a.0.abs()).then(a.1.cmp(&b.1)));
    let some = |sign: f64| {
        let sure = moved.iter().filter(|(certainty, _)| sign * certainty >= SURE);
        sure.take(MOVED_WORDS).map(|&(_, place)| place).collect()
    };
    (some(1.0), some(-1.0))
}

/// How much more a word is used now than then: the log odds ratio in standard errors. Each is (tokens of the word, all).
pub(crate) fn certainty(then: (u64, u64), now: (u64, u64)) -> f64 {
    let parts = |(word, all): (u64, u64)| (word as f64 + SMOOTHING, all.saturating_sub(word) as f64 + SMOOTHING);
    let ((a, b), (c, d)) = (parts(now), parts(then));
    libm::log(a * d / (b * c)) / (1.0 / a + 1.0 / b + 1.0 / c + 1.0 / d).sqrt()
}

impl PeriodCounts {
    /// Adds the (word, topic) of tokens.
    pub fn add(&mut self, drawn: &[(u32, u32)], followed: &FollowedWords) {
        if drawn.is_empty() {
            return;
        }
        self.pairs.resize(followed.places.len(), 0);
        self.topics.resize(followed.words.len(), 0);
        for &(word, topic) in drawn {
            // Topics that have not been met yet have no words to follow.
            if let Some(tokens) = self.topics.get_mut(topic as usize) {
                *tokens += 1;
            }
            if let Some(&place) = followed.places.get(&(topic, word)) {
                self.pairs[place as usize] += 1;
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn counts_are_of_the_words_and_topics_that_are_followed() {
        let followed = FollowedWords::new(vec![vec![4, 2], vec![2]]);
        let (mut first, mut second) = (PeriodCounts::default(), PeriodCounts::default());
        first.add(&[(2, 0), (2, 1), (2, 1), (9, 1), (4, 0), (4, 1), (7, 2)], &followed);
        second.add(&[(4, 0)], &followed);
        let periods = [Some(&first), None, Some(&second)];
        let topic = followed.trends(0, &periods, since_the_period_before);
        assert_eq!((topic.words, topic.counts), (vec![4, 2], vec![vec![1, 0, 1], vec![1, 0, 0]]));
        assert_eq!(topic.tokens, [2, 0, 1]);
        let other = followed.trends(1, &periods, since_the_period_before);
        assert_eq!((other.counts, other.tokens), (vec![vec![2, 0, 0]], vec![4, 0, 0]));
    }

    #[test]
    fn words_rise_and_fall_if_it_is_no_chance() {
        let followed = FollowedWords::new(vec![vec![1, 2, 3]]);
        let draw = |ones: usize, twos: usize, threes: usize| {
            let mut counts = PeriodCounts::default();
            for (word, count) in [(1, ones), (2, twos), (3, threes), (9, 400)] {
                counts.add(&vec![(word, 0); count], &followed);
            }
            counts
        };
        let (first, second) = (draw(100, 10, 50), draw(50, 60, 51));
        let trends = followed.trends(0, &[Some(&first), Some(&second), None], since_the_period_before);
        assert_eq!((&trends.rising, &trends.falling), (&vec![vec![], vec![1], vec![]], &vec![vec![], vec![0], vec![]]));
    }

    /// Against the usual formula of a two-by-two table with half a token added to each cell.
    #[test]
    fn certainty_is_a_log_odds_ratio_in_standard_errors() {
        let expected = libm::log((30.5 / 70.5) / (10.5 / 90.5))
            / (1.0_f64 / 30.5 + 1.0 / 70.5 + 1.0 / 10.5 + 1.0 / 90.5).sqrt();
        assert!((certainty((10, 100), (30, 100)) - expected).abs() < 1e-12);
        assert!((certainty((30, 100), (10, 100)) + expected).abs() < 1e-12);
        assert_eq!(certainty((5, 50), (5, 50)), 0.0);
        assert!(certainty((0, 10), (0, 0)).is_finite());
    }
}
