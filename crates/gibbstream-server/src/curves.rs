//! What changed while the model was learnt, in a bounded number of points: for the page.

use crate::timeline::Timeline;
use serde::{Deserialize, Serialize};
use serde_json::Value;

/// Points of the trace; when there are more, every second one goes.
const MOST_POINTS: usize = 400;

/// A moment of learning.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Moment {
    pub documents: u64,
    pub updates: u64,
    pub step: f64,
    pub alpha_sum: f64,
    pub topics_used: Option<u64>,
    pub documents_per_second: f64,
}

/// Moments at even distances.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Trace {
    /// Minibatches between two moments.
    every: u64,
    pub moments: Vec<Moment>,
}

impl Default for Trace {
    fn default() -> Self {
        Self { every: 1, moments: Vec::new() }
    }
}

impl Trace {
    pub fn add(&mut self, moment: Moment) {
        if !moment.updates.is_multiple_of(self.every) {
            return;
        }
        self.moments.push(moment);
        if self.moments.len() > MOST_POINTS {
            self.every *= 2;
            let every = self.every;
            self.moments.retain(|moment| moment.updates.is_multiple_of(every));
        }
    }
}

/// Everything that changes over time.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Curves {
    /// Topic shares by the time at which documents came in.
    pub timeline: Timeline,
    /// How learning went.
    pub trace: Trace,
    /// Held-out scores, oldest first; kept by the run.
    #[serde(skip)]
    pub evaluations: Vec<Value>,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_trace_stays_small_and_even() {
        let mut trace = Trace::default();
        for updates in 1..=100_000 {
            let documents = 100 * updates;
            trace.add(Moment {
                documents,
                updates,
                step: 0.1,
                alpha_sum: 1.0,
                topics_used: None,
                documents_per_second: 9.0,
            });
        }
        let moments = &trace.moments;
        assert!((MOST_POINTS / 2..=MOST_POINTS).contains(&moments.len()), "{}", moments.len());
        let gaps: Vec<u64> = moments.windows(2).map(|pair| pair[1].updates - pair[0].updates).collect();
        assert!(gaps.iter().all(|&gap| gap == gaps[0]), "{gaps:?}");
    }
}
