//! Topics over time. How long periods are is decided at the end, when it is known from when to when documents are: until
//! then, sums are kept for every length that has not turned out to be too short.

use super::calendar::{Period, written};
use super::moments::{ClassMoments, share_table};
use super::trends::{FollowedWords, PeriodCounts};
use crate::explore::report::{Timeline, WordTrends};
use std::collections::BTreeMap;

/// Periods that a timeline has at most, unless they are years.
const MOST_PERIODS: i64 = 120;

/// What is known of a period.
#[derive(Clone, Debug, Default)]
struct Sums {
    class: ClassMoments,
    words: PeriodCounts,
}

/// Sums by period, for every length of periods that may still be chosen, the shortest first.
#[derive(Clone, Debug)]
pub(crate) struct TimelineMoments {
    lengths: Vec<(Period, BTreeMap<i64, Sums>)>,
}

impl Default for TimelineMoments {
    fn default() -> Self {
        Self { lengths: Period::ALL.map(|period| (period, BTreeMap::new())).to_vec() }
    }
}

impl TimelineMoments {
    /// Adds a document: when, how long, its mixture, and the (word, topic) of its tokens.
    pub fn add(&mut self, seconds: i64, tokens: u64, shares: &[f64], drawn: &[(u32, u32)], followed: &FollowedWords) {
        self.lengths.retain(|(period, sums)| {
            let number = period.number(seconds);
            let first = sums.keys().next().map_or(number, |&first| first.min(number));
            let last = sums.keys().next_back().map_or(number, |&last| last.max(number));
            *period == Period::Year || last - first < MOST_PERIODS
        });
        for (period, sums) in &mut self.lengths {
            let sums = sums.entry(period.number(seconds)).or_default();
            sums.class.add(tokens, shares);
            sums.words.add(drawn, followed);
        }
    }

    /// The timeline in the shortest periods that are not too many; `None` without documents.
    pub fn report(&self, field: &str, topics: usize, followed: &FollowedWords) -> Option<Timeline> {
        let (period, sums) = self.lengths.first()?;
        let (first, last) = (*sums.keys().next()?, *sums.keys().next_back()?);
        let periods: Vec<Option<&Sums>> = (first..=last).map(|number| sums.get(&number)).collect();
        let classes: Vec<Option<&ClassMoments>> = periods.iter().map(|sums| sums.map(|sums| &sums.class)).collect();
        let counts: Vec<Option<&PeriodCounts>> = periods.iter().map(|sums| sums.map(|sums| &sums.words)).collect();
        let of = |value: fn(&ClassMoments) -> u64| classes.iter().map(|class| class.map_or(0, value)).collect();
        let [shares, low, high] = share_table(topics, &classes);
        let words: Vec<WordTrends> = (0..topics).map(|topic| followed.trends(topic, &counts)).collect();
        Some(Timeline {
            field: field.to_owned(),
            by: period.name().to_owned(),
            starts: (first..=last).map(|number| written(period.start(number))).collect(),
            documents: of(|class| class.documents),
            tokens: of(|class| class.tokens),
            drift: drift(&shares),
            shares,
            low,
            high,
            words,
        })
    }
}

/// Jensen-Shannon distance of each period's shares (by topic, then by period) from those of the last period before that
/// has some.
pub fn drift(shares: &[Vec<Option<f64>>]) -> Vec<Option<f64>> {
    let periods = shares.first().map_or(0, Vec::len);
    let mut previous: Option<Vec<f64>> = None;
    (0..periods)
        .map(|period| {
            let now: Vec<f64> = shares.iter().map(|topic| topic[period]).collect::<Option<_>>()?;
            let before = previous.replace(now.clone())?;
            let towards = |p: f64, q: f64| if p > 0.0 { p * libm::log2(2.0 * p / (p + q)) } else { 0.0 };
            let sum: f64 = before.iter().zip(&now).map(|(&p, &q)| towards(p, q) + towards(q, p)).sum();
            Some((0.5 * sum).clamp(0.0, 1.0).sqrt())
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn timeline(days: &[i64]) -> Timeline {
        let (mut moments, followed) = (TimelineMoments::default(), FollowedWords::default());
        for &day in days {
            moments.add(day * 86_400 + 43_200, 10, &[0.25, 0.75], &[], &followed);
        }
        moments.report("date", 2, &followed).unwrap()
    }

    #[test]
    fn periods_are_as_short_as_a_page_can_show() {
        for (days, by, periods) in [
            (&[0][..], "hour", 1),
            (&[0, 4], "hour", 97),
            (&[0, 5], "day", 6),
            (&[0, 119], "day", 120),
            (&[0, 120], "week", 18),
            (&[0, 1000], "month", 33),
            (&[0, 3650, 7000], "quarter", 77),
            (&[-200_000, 10_000], "year", 576),
        ] {
            let found = timeline(days);
            assert_eq!((found.by.as_str(), found.starts.len()), (by, periods), "{days:?}");
            assert_eq!(found.documents.iter().sum::<u64>(), days.len() as u64);
            let mut backwards = days.to_vec();
            backwards.reverse();
            assert_eq!(timeline(&backwards), found, "the order of documents does not matter");
        }
    }

    #[test]
    fn periods_without_documents_have_no_shares_and_no_drift() {
        let (mut moments, followed) = (TimelineMoments::default(), FollowedWords::default());
        for (day, share) in [(0, 1.0), (10, 1.0), (20, 0.0)] {
            moments.add(day * 86_400, 5, &[share, 1.0 - share], &[], &followed);
        }
        let found = moments.report("date", 2, &followed).unwrap();
        assert_eq!((found.by.as_str(), found.starts[10].as_str()), ("day", "1970-01-11T00:00:00Z"));
        assert_eq!((found.shares[0][0], found.shares[0][1], found.tokens[1]), (Some(1.0), None, 0));
        assert_eq!((found.drift[0], found.drift[5], found.drift[10], found.drift[20]), (None, None, Some(0.0), Some(1.0)));
        assert!(TimelineMoments::default().report("date", 2, &followed).is_none());
    }
}
