//! How well a model of rows of numbers predicts observations that it was not learnt from.

use super::annealed::Annealed;
use super::{Estimate, Evaluation};
use crate::error::{Error, Result};
use crate::learn::{Predictor, RowParameters};
use crate::numerics::random::{Purpose, Seed, Stream, mix};
use rayon::prelude::*;
use serde::Serialize;

/// Observations that are scored together.
const ROWS_PER_BLOCK: usize = 256;

/// The score of a set of observations. Names are those of topic models, where they mean the same.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct RowScore {
    /// `exact`, or `ais`: annealed importance sampling, unbiased for the likelihood of every observation.
    pub estimator: &'static str,
    /// Particles for each observation; 1 if the estimator is exact.
    pub particles: usize,
    /// What the numbers are measured in.
    pub unit: &'static str,
    /// Number of observations.
    pub documents: u64,
    /// There are none.
    pub tokens: u64,
    /// Mean of `-log p(x)`.
    pub log_perplexity_per_document: f64,
    /// Its standard error, from the spread over observations.
    pub standard_error: Option<f64>,
    /// The part of it that comes from estimating; 0 if the estimator is exact.
    pub estimator_standard_error: f64,
    /// What stands in the place of word frequencies.
    pub baseline: &'static str,
    /// The same mean for the baseline, one member of a family fitted to the training observations.
    pub baseline_log_perplexity_per_document: f64,
}

/// The random stream of an observation depends on its values alone, so company and order do not matter.
pub fn stream_of(seed: Seed, purpose: Purpose, x: &[f64]) -> Stream {
    let key = x.iter().fold(x.len() as u64, |key, value| mix(key ^ value.to_bits()));
    seed.stream(purpose, [key, 0])
}

impl Evaluation {
    /// Scores rows of values; `each` gets the log-likelihood of every one, in their order. Where a likelihood must be
    /// estimated, it is by annealed importance sampling, whatever estimator documents would have.
    pub fn score_rows(
        &self,
        parameters: &RowParameters,
        rows: impl Iterator<Item = Result<Vec<f64>>>,
        mut each: impl FnMut(f64),
    ) -> Result<RowScore> {
        self.validate()?;
        let pool = rayon::ThreadPoolBuilder::new().num_threads(self.threads).build().map_err(|error| {
            let problem = format!("cannot start {} threads: {error}", self.threads);
            Error::setting("threads", problem, "ask for fewer")
        })?;
        let RowParameters { model, baseline, baseline_name, .. } = parameters;
        let mut sums = Sums::default();
        let mut rows = rows.peekable();
        while rows.peek().is_some() {
            let some = rows.by_ref().take(ROWS_PER_BLOCK).collect::<Result<Vec<_>>>()?;
            let estimate = |x: &Vec<f64>| (self.estimate(&**model, x), self.estimate(&**baseline, x));
            let estimates: Vec<_> = pool.install(|| some.par_iter().map(estimate).collect());
            for (own, single) in estimates {
                sums.add(own, single);
                each(own.log_likelihood);
            }
        }
        if sums.number == 0.0 {
            return Err(Error::setting("INPUT", "there are no observations to score", "give some"));
        }
        let estimator = model.estimator();
        let mean = sums.own / sums.number;
        let variance = (sums.squares / sums.number - mean * mean).max(0.0);
        Ok(RowScore {
            estimator,
            particles: if estimator == "exact" { 1 } else { self.particles },
            unit: "nats per observation",
            documents: sums.number as u64,
            tokens: 0,
            log_perplexity_per_document: -mean,
            standard_error: (sums.number > 1.0).then(|| (variance / (sums.number - 1.0)).sqrt()),
            estimator_standard_error: sums.variances.sqrt() / sums.number,
            baseline: baseline_name,
            baseline_log_perplexity_per_document: -sums.single / sums.number,
        })
    }

    fn estimate(&self, predictor: &dyn Predictor, x: &[f64]) -> Estimate {
        let effort = Annealed { particles: self.particles, ..Annealed::default() };
        predictor.log_likelihood(x, effort, stream_of(self.seed, Purpose::Evaluation, x))
    }
}

/// Sums over observations, in their order.
#[derive(Default)]
struct Sums {
    number: f64,
    own: f64,
    squares: f64,
    variances: f64,
    single: f64,
}

impl Sums {
    fn add(&mut self, own: Estimate, single: Estimate) {
        self.number += 1.0;
        self.own += own.log_likelihood;
        self.squares += own.log_likelihood * own.log_likelihood;
        self.variances += own.variance;
        self.single += single.log_likelihood;
    }
}
