//! How the topics' shares of the documents change over time, in a bounded number of periods.
//!
//! Online EM moves the expected tokens of each topic by `s' = (1 - rho) s + rho fresh`. So the expected tokens of the minibatch
//! itself are known without any further work: `fresh = (s' - (1 - rho) s) / rho`.

use gibbstream::explore::{drift, report, rfc3339};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// Periods that are kept; when there are more, neighbours are joined and periods become twice as long.
const MOST_PERIODS: usize = 240;

/// The length of a period at the beginning.
const FIRST_LENGTH_MILLIS: u64 = 10_000;

/// 95 % of a normal distribution are within so many standard deviations.
const NORMAL_95: f64 = 1.96;

/// Expected tokens by topic over time.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Timeline {
    /// Documents that it is about, to tell whether it belongs to a checkpoint.
    documents: u64,
    length_millis: u64,
    /// By number: the time since 1970 over the length.
    periods: BTreeMap<u64, Period>,
}

/// A stretch of time.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
struct Period {
    minibatches: u64,
    documents: u64,
    tokens: u64,
    /// Of each topic: the sum over minibatches of its share, and of the square of it.
    topics: BTreeMap<u64, (f64, f64)>,
}

/// What is asked for.
#[derive(Clone, Debug, PartialEq)]
pub struct Share {
    /// The mean over minibatches.
    pub share: f64,
    /// Its standard error; nothing for a single minibatch.
    pub standard_error: Option<f64>,
}

/// A period for people: its beginning and end in milliseconds since 1970, and the shares of the topics that are asked for.
pub struct PeriodShares {
    pub start: u64,
    pub end: u64,
    pub documents: u64,
    pub tokens: u64,
    pub shares: Vec<Share>,
}

impl Default for Timeline {
    fn default() -> Self {
        Self { documents: 0, length_millis: FIRST_LENGTH_MILLIS, periods: BTreeMap::new() }
    }
}

/// The topics' expected tokens in a minibatch, from those per document before and after it; topics by name, because those of an
/// open number come and go.
pub fn fresh_tokens(before: &BTreeMap<u64, f64>, after: &BTreeMap<u64, f64>, rho: f64) -> BTreeMap<u64, f64> {
    let fresh = |(&topic, &after): (&u64, &f64)| {
        let before = before.get(&topic).copied().unwrap_or(0.0);
        (topic, ((after - (1.0 - rho) * before) / rho).max(0.0))
    };
    after.iter().map(fresh).collect()
}

impl Timeline {
    /// Counts a minibatch that arrived at this time.
    pub fn add(&mut self, at_millis: u64, documents: u64, tokens: u64, fresh: &BTreeMap<u64, f64>) {
        self.documents += documents;
        let all: f64 = fresh.values().sum();
        let period = self.periods.entry(at_millis / self.length_millis).or_default();
        period.documents += documents;
        period.tokens += tokens;
        if all > 0.0 {
            period.minibatches += 1;
            for (&topic, tokens) in fresh {
                let (sum, squares) = period.topics.entry(topic).or_default();
                let share = tokens / all;
                *sum += share;
                *squares += share * share;
            }
        }
        while self.periods.len() > MOST_PERIODS {
            self.length_millis *= 2;
            for (number, period) in std::mem::take(&mut self.periods) {
                self.periods.entry(number / 2).or_default().join(period);
            }
        }
    }

    /// Documents that it is about.
    pub fn documents(&self) -> u64 {
        self.documents
    }

    /// Every period with the shares of the given topics, oldest first.
    pub fn shares(&self, topics: &[u64]) -> Vec<PeriodShares> {
        let of = |(&number, period): (&u64, &Period)| PeriodShares {
            start: number * self.length_millis,
            end: (number + 1) * self.length_millis,
            documents: period.documents,
            tokens: period.tokens,
            shares: topics.iter().map(|topic| period.share(*topic)).collect(),
        };
        self.periods.iter().map(of).collect()
    }

    /// The same for the page; nothing before anything was learnt.
    pub fn report(&self, topics: &[u64]) -> Option<report::Timeline> {
        let periods = self.shares(topics);
        let table = |of: fn(&Share) -> Option<f64>| -> Vec<Vec<Option<f64>>> {
            let value = |period: &PeriodShares, topic: usize| {
                if period.tokens > 0 { of(&period.shares[topic]) } else { None }
            };
            let row = |topic| periods.iter().map(|period| value(period, topic)).collect();
            (0..topics.len()).map(row).collect()
        };
        let shares = table(|share| Some(share.share));
        (!periods.is_empty()).then(|| report::Timeline {
            field: "time of arrival".into(),
            by: "period".into(),
            starts: periods.iter().map(|period| rfc3339((period.start / 1000) as i64)).collect(),
            documents: periods.iter().map(|period| period.documents).collect(),
            tokens: periods.iter().map(|period| period.tokens).collect(),
            drift: drift(&shares),
            low: table(|share| share.standard_error.map(|error| (share.share - NORMAL_95 * error).max(0.0))),
            high: table(|share| share.standard_error.map(|error| (share.share + NORMAL_95 * error).min(1.0))),
            shares,
            words: Vec::new(),
        })
    }
}

impl Period {
    fn join(&mut self, other: Self) {
        self.minibatches += other.minibatches;
        self.documents += other.documents;
        self.tokens += other.tokens;
        for (topic, (sum, squares)) in other.topics {
            let mine = self.topics.entry(topic).or_default();
            *mine = (mine.0 + sum, mine.1 + squares);
        }
    }

    fn share(&self, topic: u64) -> Share {
        let (sum, squares) = self.topics.get(&topic).copied().unwrap_or_default();
        let count = self.minibatches as f64;
        let share = if count > 0.0 { sum / count } else { 0.0 };
        let variance = ((squares - sum * share) / (count - 1.0)).max(0.0);
        Share { share, standard_error: (self.minibatches > 1).then(|| (variance / count).sqrt()) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn tokens(values: &[f64]) -> BTreeMap<u64, f64> {
        values.iter().enumerate().map(|(topic, &tokens)| (topic as u64, tokens)).collect()
    }

    #[test]
    fn the_tokens_of_a_minibatch_are_found_again() {
        let (before, fresh, rho) = (tokens(&[3.0, 1.0]), tokens(&[2.0, 6.0]), 0.25);
        let after = tokens(&[0.75 * 3.0 + 0.25 * 2.0, 0.75 + 0.25 * 6.0]);
        assert_eq!(fresh_tokens(&before, &after, rho), fresh);
        assert_eq!(fresh_tokens(&tokens(&[]), &fresh, 1.0), fresh, "the first minibatch");
    }

    #[test]
    fn shares_have_a_mean_and_an_error() {
        let mut timeline = Timeline::default();
        timeline.add(25_000, 10, 100, &tokens(&[1.0, 3.0]));
        timeline.add(29_999, 10, 50, &tokens(&[3.0, 1.0]));
        timeline.add(30_000, 5, 20, &tokens(&[2.0, 2.0]));
        let periods = timeline.shares(&[1, 7]);
        assert_eq!(periods.len(), 2);
        assert_eq!((periods[0].start, periods[0].end), (20_000, 30_000));
        assert_eq!((periods[0].documents, periods[0].tokens), (20, 150));
        // 3/4 and 1/4: the variance of the mean is (1/4)^2 / 1 / 2 * 2.
        assert_eq!(periods[0].shares[0], Share { share: 0.5, standard_error: Some(0.25) });
        assert_eq!(periods[1].shares[0], Share { share: 0.5, standard_error: None });
        assert_eq!(periods[1].shares[1].share, 0.0);
        assert_eq!(timeline.documents(), 25);
    }

    #[test]
    fn the_page_gets_the_same_numbers() {
        let mut timeline = Timeline::default();
        assert!(timeline.report(&[0]).is_none());
        timeline.add(20_000, 10, 100, &tokens(&[1.0, 3.0]));
        timeline.add(29_000, 10, 100, &tokens(&[1.0, 3.0]));
        timeline.add(50_000, 5, 0, &tokens(&[0.0, 0.0]));
        timeline.add(60_000, 5, 20, &tokens(&[3.0, 1.0]));
        let page = timeline.report(&[0, 1]).unwrap();
        assert_eq!(page.starts, ["1970-01-01T00:00:20Z", "1970-01-01T00:00:50Z", "1970-01-01T00:01:00Z"]);
        assert_eq!((page.documents, page.tokens), (vec![20, 5, 5], vec![200, 0, 20]));
        assert_eq!(page.shares, [[Some(0.25), None, Some(0.75)], [Some(0.75), None, Some(0.25)]]);
        assert_eq!(page.low[0], [Some(0.25), None, None], "equal minibatches, none, and a single one");
        assert_eq!(page.high[0], page.low[0]);
        assert_eq!(page.drift[..2], [None, None]);
        assert!((page.drift[2].unwrap() - 0.4345).abs() < 1e-3, "{:?}", page.drift[2]);
    }

    #[test]
    fn it_stays_small() {
        let mut timeline = Timeline::default();
        for minute in 0..100_000 {
            timeline.add(minute * 60_000, 1, 1, &tokens(&[1.0]));
        }
        let periods = timeline.shares(&[0]);
        assert!((MOST_PERIODS / 2..=MOST_PERIODS).contains(&periods.len()), "{}", periods.len());
        assert_eq!(periods.iter().map(|period| period.documents).sum::<u64>(), 100_000);
        assert!(periods.iter().all(|period| period.shares[0].share == 1.0));
        let text = serde_json::to_string(&timeline).unwrap();
        assert_eq!(serde_json::from_str::<Timeline>(&text).unwrap(), timeline);
    }
}
