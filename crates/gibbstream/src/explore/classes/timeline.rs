//! Topics over time. How long periods are is decided at the end, when it is known from when to when documents are: until
//! then, sums are kept for every length that has not turned out to be too short.

use super::calendar::{Period, written};
use super::moments::{ClassMoments, share_table};
use super::trends::{ClassSums, FollowedWords, PeriodCounts, since_the_period_before};
use crate::error::{Error, Result};
use crate::explore::report::{Timeline, WordTrends};
use std::collections::BTreeMap;
use std::str::FromStr;

/// Periods that a timeline has at most, unless they are years.
const MOST_PERIODS: i64 = 120;

/// Numbers that a timeline in periods of a given length holds at most; with 20 topics there are up to 10,000 periods.
const MOST_NUMBERS: usize = 40_000_000;
const MOST_GIVEN_PERIODS: usize = 10_000;

/// How long periods are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum By {
    /// So long.
    Period(Period),
    /// As short as gives at most so many periods, unless they are years.
    AtMost(u32),
}

impl Default for By {
    fn default() -> Self {
        Self::AtMost(MOST_PERIODS as u32)
    }
}

impl FromStr for By {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        if let Some(period) = Period::ALL.into_iter().find(|period| period.name() == text) {
            return Ok(Self::Period(period));
        }
        let advice = "use hour, day, week, month, quarter, year, or the number of periods to have at most";
        match text.parse::<u32>() {
            Ok(most @ 1..=1_000) => Ok(Self::AtMost(most)),
            Ok(most) => Err(format!("{most} is not from 1 to 1000; {advice}")),
            Err(_) => Err(advice.into()),
        }
    }
}

/// Sums by period, for every length of periods that may still be chosen, the shortest first.
#[derive(Clone, Debug)]
pub(crate) struct TimelineMoments {
    by: By,
    lengths: Vec<(Period, BTreeMap<i64, ClassSums>)>,
}

impl Default for TimelineMoments {
    fn default() -> Self {
        Self::new(By::default())
    }
}

impl TimelineMoments {
    /// Nothing yet.
    pub fn new(by: By) -> Self {
        let lengths = match by {
            By::Period(period) => vec![period],
            By::AtMost(_) => Period::ALL.to_vec(),
        };
        Self { by, lengths: lengths.into_iter().map(|period| (period, BTreeMap::new())).collect() }
    }

    /// Adds a document: when, how long, its mixture, and the (word, topic) of its tokens.
    pub fn add(
        &mut self,
        seconds: i64,
        tokens: u64,
        shares: &[f64],
        drawn: &[(u32, u32)],
        followed: &FollowedWords,
    ) -> Result<()> {
        let spans = |period: Period, sums: &BTreeMap<i64, ClassSums>| {
            let number = period.number(seconds);
            let first = sums.keys().next().map_or(number, |&first| first.min(number));
            let last = sums.keys().next_back().map_or(number, |&last| last.max(number));
            last - first + 1
        };
        match self.by {
            By::AtMost(most) => self.lengths.retain(|(period, sums)| {
                *period == Period::Year || spans(*period, sums) <= i64::from(most)
            }),
            By::Period(period) => {
                let most = (MOST_NUMBERS / followed.numbers_of_class().max(1)).clamp(1, MOST_GIVEN_PERIODS);
                if self.lengths.iter().any(|(period, sums)| spans(*period, sums) > most as i64) {
                    let name = period.name();
                    let problem = format!("from the first to the last document there are more than {most} periods of one {name}");
                    return Err(Error::setting("by", problem, "use a longer period, and check that all times are right"));
                }
            }
        }
        for (period, sums) in &mut self.lengths {
            let sums = sums.entry(period.number(seconds)).or_default();
            sums.class.add(tokens, shares);
            sums.words.add(drawn, followed);
        }
        Ok(())
    }

    /// The timeline in the shortest periods that are not too many; `None` without documents.
    pub fn report(&self, field: &str, topics: usize, followed: &FollowedWords) -> Option<Timeline> {
        let (period, sums) = self.lengths.first()?;
        let (first, last) = (*sums.keys().next()?, *sums.keys().next_back()?);
        let periods: Vec<Option<&ClassSums>> = (first..=last).map(|number| sums.get(&number)).collect();
        let classes: Vec<Option<&ClassMoments>> = periods.iter().map(|sums| sums.map(|sums| &sums.class)).collect();
        let counts: Vec<Option<&PeriodCounts>> = periods.iter().map(|sums| sums.map(|sums| &sums.words)).collect();
        let of = |value: fn(&ClassMoments) -> u64| classes.iter().map(|class| class.map_or(0, value)).collect();
        let [shares, low, high] = share_table(topics, &classes);
        let words: Vec<WordTrends> = (0..topics).map(|topic| followed.trends(topic, &counts, since_the_period_before)).collect();
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
            moments.add(day * 86_400 + 43_200, 10, &[0.25, 0.75], &[], &followed).unwrap();
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
            moments.add(day * 86_400, 5, &[share, 1.0 - share], &[], &followed).unwrap();
        }
        let found = moments.report("date", 2, &followed).unwrap();
        assert_eq!((found.by.as_str(), found.starts[10].as_str()), ("day", "1970-01-11T00:00:00Z"));
        assert_eq!((found.shares[0][0], found.shares[0][1], found.tokens[1]), (Some(1.0), None, 0));
        assert_eq!((found.drift[0], found.drift[5], found.drift[10], found.drift[20]), (None, None, Some(0.0), Some(1.0)));
        assert!(TimelineMoments::default().report("date", 2, &followed).is_none());
    }

    #[test]
    fn periods_are_as_long_as_was_asked_for() {
        let followed = FollowedWords::default();
        for (by, name, periods) in
            [("day", "day", 401), ("quarter", "quarter", 5), ("400", "week", 58), ("500", "day", 401), ("3", "year", 2)]
        {
            let mut moments = TimelineMoments::new(by.parse().unwrap());
            for day in [0, 400, 30] {
                moments.add(day * 86_400, 5, &[1.0], &[], &followed).unwrap();
            }
            let found = moments.report("date", 1, &followed).unwrap();
            assert_eq!((found.by.as_str(), found.starts.len()), (name, periods), "{by}");
        }
        let mut hours = TimelineMoments::new(By::Period(Period::Hour));
        hours.add(0, 5, &[1.0], &[], &followed).unwrap();
        let refused = hours.add(10_000 * 3600, 5, &[1.0], &[], &followed).unwrap_err().to_string();
        assert!(refused.starts_with("by: from the first to the last document there are more than 10000 periods of one hour"));
        for bad in ["", "fortnight", "0", "1001", "-3", "1.5"] {
            assert!(bad.parse::<By>().is_err(), "{bad}");
        }
    }
}
