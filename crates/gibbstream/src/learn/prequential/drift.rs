//! Whether the stream has changed: a cumulative sum of scores that are worse than they used to be (science.md 5.9).
//!
//! Nats per token of each scored minibatch are compared with their own recent mean and spread. Those that are worse by more
//! than half a standard deviation add up, better ones subtract, and a sum beyond [`THRESHOLD`] is an alarm (Page's test).

use super::means::ScoredMinibatch;
use serde::{Deserialize, Serialize};

/// Scored minibatches that mean and spread are learnt from before anything can be noticed.
pub const WARM_UP: u64 = 30;

/// Scored minibatches that they remember.
const MEMORY: f64 = 200.0;

/// What a minibatch may be worse by, in standard deviations, without adding to the sum.
const ALLOWANCE: f64 = 0.5;

/// The sum that is an alarm, in standard deviations.
pub const THRESHOLD: f64 = 12.0;

/// No minibatch counts for more: a single odd one is no change.
const LARGEST: f64 = 4.0;

/// Something has changed.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Alarm {
    /// The number of the minibatch.
    pub update: u64,
    /// Documents learnt from before it.
    pub documents: u64,
    /// Documents learnt from when scores began to be worse.
    pub since: u64,
    /// Nats per token before that.
    pub before: f64,
    /// Mean nats per token since then.
    pub now: f64,
}

/// What the test remembers.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Drift {
    /// Minibatches since the beginning or the last alarm.
    count: u64,
    mean: f64,
    /// Half the mean squared difference of neighbours: a trend does not add to it.
    variance: f64,
    last: f64,
    sum: f64,
    /// Where the sum was last 0, with what came since.
    since: u64,
    tokens: f64,
    nats: f64,
    #[serde(skip_serializing_if = "Option::is_none")]
    last_alarm: Option<(u64, u64)>,
}

impl Drift {
    /// The update of the last alarm, and the documents learnt from before it.
    pub fn last_alarm(&self) -> Option<(u64, u64)> {
        self.last_alarm
    }

    /// Takes the score of a minibatch.
    pub fn watch(&mut self, scored: &ScoredMinibatch) -> Option<Alarm> {
        let nats = scored.per_token()?;
        self.count += 1;
        if self.count > WARM_UP {
            let spread = self.variance.sqrt().max(f64::MIN_POSITIVE);
            let worse = ((nats - self.mean) / spread).clamp(-LARGEST, LARGEST);
            if self.sum <= 0.0 {
                (self.since, self.tokens, self.nats) = (scored.seen, 0.0, 0.0);
            }
            self.sum = (self.sum + worse - ALLOWANCE).max(0.0);
            self.tokens += scored.tokens as f64;
            self.nats += scored.nats;
            if self.sum > THRESHOLD {
                let (update, documents) = (scored.update, scored.seen);
                let (since, before, now) = (self.since, self.mean, self.nats / self.tokens);
                *self = Self { last_alarm: Some((update, documents)), ..Self::default() };
                return Some(Alarm { update, documents, since, before, now });
            }
        }
        self.learn(nats);
        None
    }

    /// Mean and spread take a score into account. What adds to the sum counts less, so that a change does not hide
    /// itself.
    fn learn(&mut self, nats: f64) {
        let weight = (1.0 / self.count as f64).max(1.0 / MEMORY);
        let weight = if self.sum > THRESHOLD / 3.0 { weight.min(0.2 / MEMORY) } else { weight };
        self.mean += weight * (nats - self.mean);
        if self.count > 1 {
            let difference = nats - self.last;
            let weight = (1.0 / (self.count - 1) as f64).max(weight);
            self.variance += weight * (0.5 * difference * difference - self.variance);
        }
        self.last = nats;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::numerics::random::{Purpose, Seed, Stream};

    fn scored(update: u64, per_token: f64) -> ScoredMinibatch {
        let tokens = 1_000;
        let nats = per_token * tokens as f64;
        ScoredMinibatch { update, seen: 100 * update, documents: 5, tokens, nats, ..ScoredMinibatch::default() }
    }

    fn normal(random: &mut Stream) -> f64 {
        let (u, v): (f64, f64) = (random.uniform_positive(), random.uniform());
        (-2.0 * libm::log(u)).sqrt() * libm::cos(std::f64::consts::TAU * v)
    }

    /// Scores of a stream that does not change: means of a few skewed documents, while the model still improves.
    fn quiet(update: u64, random: &mut Stream) -> f64 {
        let skewed = |random: &mut Stream| -libm::log(random.uniform_positive()) - 1.0;
        let noise = 0.1 * (0..4).map(|_| skewed(random)).sum::<f64>();
        6.5 + 1.5 / (1.0 + update as f64 / 20.0) + noise
    }

    #[test]
    fn quiet_streams_raise_hardly_an_alarm() {
        let mut alarms = 0;
        for stream in 0..100 {
            let (mut drift, mut random) = (Drift::default(), Seed(stream).stream(Purpose::Evaluation, [5, 5]));
            let found = (1..=1_000).filter_map(|update| drift.watch(&scored(update, quiet(update, &mut random))));
            alarms += found.count();
        }
        // The stated rate is one in 10,000 minibatches: 10 in these 100,000.
        assert!(alarms <= 10, "{alarms} in 100,000 minibatches");
    }

    #[test]
    fn a_change_is_noticed_once_and_soon() {
        let mut noticed = 0;
        for stream in 0..50 {
            let (mut drift, mut random) = (Drift::default(), Seed(stream).stream(Purpose::Evaluation, [6, 6]));
            let mut alarms = Vec::new();
            for update in 1..=600 {
                let level = if update > 400 { 7.3 } else { 6.5 };
                let nats = level + 0.2 * normal(&mut random);
                alarms.extend(drift.watch(&scored(update, nats)));
            }
            let [alarm] = alarms[..] else { continue };
            if (403..=410).contains(&alarm.update) {
                noticed += 1;
                assert!((36_000..=40_300).contains(&alarm.since), "{alarm:?}");
                assert!((alarm.before - 6.5).abs() < 0.15, "{alarm:?}");
                assert!((6.55..7.7).contains(&alarm.now), "{alarm:?}");
                assert_eq!(drift.last_alarm(), Some((alarm.update, alarm.documents)));
            }
        }
        // A false alarm before the change is rare, but possible.
        assert!(noticed >= 46, "{noticed} of 50");
    }

    #[test]
    fn improving_and_odd_minibatches_are_no_change() {
        let (mut drift, mut random) = (Drift::default(), Seed(1).stream(Purpose::Evaluation, [7, 7]));
        for update in 1..=500 {
            let odd = if update % 100 == 0 { 50.0 } else { 0.0 };
            let nats = 9.0 - 0.004 * update as f64 + odd + 0.1 * normal(&mut random);
            assert_eq!(drift.watch(&scored(update, nats)), None, "{update}");
        }
    }

    #[test]
    fn it_goes_on_from_json_as_if_nothing_had_happened() {
        let mut random = Seed(2).stream(Purpose::Evaluation, [8, 8]);
        let scores: Vec<f64> = (0..300).map(|i| 6.0 + f64::from(u8::from(i > 200)) + 0.1 * normal(&mut random)).collect();
        let (mut whole, mut parts) = (Drift::default(), Drift::default());
        for (update, &nats) in (1..).zip(&scores) {
            parts = serde_json::from_str(&serde_json::to_string(&parts).unwrap()).unwrap();
            assert_eq!(parts.watch(&scored(update, nats)), whole.watch(&scored(update, nats)));
        }
        assert_eq!(parts, whole);
        assert!(whole.last_alarm().is_some());
    }
}
