//! Frozen parameters at work: mixtures and scores of rows, soon ended by Ctrl-C.

use crate::error::OrException;
use crate::rows::Rows;
use crate::signals::{Signals, Watched};
use gibbstream::Error;
use gibbstream::evaluation::completion::Completion;
use gibbstream::evaluation::elbo::Elbo;
use gibbstream::evaluation::{Estimator, Evaluation};
use gibbstream::inference::mixtures::{MixtureInference, TopicMixture};
use gibbstream::learn::{AnyScore, Observation, Parameters, TopicParameters};
use gibbstream::model::topics::lda::LogTopics;
use gibbstream::numerics::random::Seed;
use pyo3::prelude::*;
use rayon::ThreadPool;
use serde_json::{Value, json};

/// Rows whose mixtures are inferred together; no result depends on it.
const DOCUMENTS_PER_BLOCK: usize = 2048;

/// How likelihoods are estimated.
#[derive(FromPyObject)]
#[pyo3(from_item_all)]
pub struct Scoring {
    estimator: String,
    particles: usize,
    seed: u64,
    threads: usize,
}

impl Scoring {
    fn evaluation(&self) -> gibbstream::Result<Evaluation> {
        let evaluation = Evaluation {
            estimator: self.estimator.parse::<Estimator>()?,
            particles: self.particles,
            seed: Seed(self.seed),
            threads: self.threads,
            adaptive: false,
        };
        evaluation.validate()?;
        Ok(evaluation)
    }
}

/// The latent parts of all rows, one after the other. Topics that nobody has met yet are left out, and the others add up
/// to 1 again.
pub fn transform(
    parameters: &Parameters,
    rows: &Rows<'_>,
    sweeps: usize,
    seed: u64,
    pool: &ThreadPool,
) -> PyResult<(Vec<f64>, usize)> {
    let is_of_rows = matches!(parameters, Parameters::Rows(_));
    let mut out = Vec::new();
    let mut width = parameters.topics().map_or(0, TopicParameters::met);
    each_mixture(parameters, rows, (sweeps, seed, false), pool, |mixture| {
        width = if is_of_rows { mixture.theta.len() } else { width };
        let (met, unmet) = mixture.theta.split_at(width);
        let sum: f64 = if unmet.is_empty() { 1.0 } else { met.iter().sum() };
        out.extend(met.iter().map(|share| share / sum));
    })?;
    Ok((out, width))
}

/// Calls `each` with the mixture of every row, by so many sweeps from a seed, with or without details.
pub fn each_mixture(
    parameters: &Parameters,
    rows: &Rows<'_>,
    (sweeps, seed, details): (usize, u64, bool),
    pool: &ThreadPool,
    mut each: impl FnMut(&TopicMixture),
) -> PyResult<()> {
    if sweeps == 0 {
        let problem = "0 is not a number of sweeps";
        return Err(Error::setting("transform_sweeps", problem, "use for example 100")).or_exception();
    }
    let inference = MixtureInference { sweeps, seed: Seed(seed), details };
    let is_of_rows = matches!(parameters, Parameters::Rows(_));
    let (mut space, mut signals) = (Vec::new(), Signals::new());
    for first in (0..rows.len()).step_by(DOCUMENTS_PER_BLOCK) {
        let some = (first..rows.len().min(first + DOCUMENTS_PER_BLOCK))
            .map(|row| rows.observation(row, is_of_rows, &mut space))
            .collect::<gibbstream::Result<Vec<Observation>>>()
            .or_exception()?;
        pool.install(|| parameters.infer(&some, &inference)).or_exception()?.iter().for_each(&mut each);
        signals.check()?;
    }
    Ok(())
}

/// Estimates of log p of every row.
pub fn log_likelihood(parameters: &Parameters, rows: &Rows<'_>, scoring: &Scoring) -> PyResult<Vec<f64>> {
    let mut values = Vec::with_capacity(rows.len());
    score(parameters, rows, scoring, |value| values.push(value))?;
    Ok(values)
}

fn score(
    parameters: &Parameters,
    rows: &Rows<'_>,
    scoring: &Scoring,
    each: impl FnMut(f64),
) -> PyResult<AnyScore> {
    let evaluation = scoring.evaluation().or_exception()?;
    let as_numbers = matches!(parameters, Parameters::Rows(_));
    watched(rows.observations(as_numbers), |rows| parameters.score(evaluation, rows, each))
}

/// All scores, in JSON. The evidence lower bound is there if logarithms of topics are.
pub fn evaluate(
    parameters: &Parameters,
    log_topics: Option<&LogTopics>,
    completion: bool,
    rows: &Rows<'_>,
    scoring: &Scoring,
    mut report: Value,
) -> PyResult<String> {
    let score = score(parameters, rows, scoring, |_| ())?;
    report["seed"] = json!(scoring.seed);
    if let (Some(report), Some(score)) = (report.as_object_mut(), json!(score).as_object()) {
        report.extend(score.clone());
    }
    let (seed, threads) = (Seed(scoring.seed), scoring.threads);
    if let Some(log_topics) = log_topics {
        let elbo = Elbo { threads, ..Elbo::default() };
        let bound = watched(rows.documents(), |documents| elbo.score(log_topics, documents))?;
        report["elbo_per_document"] = json!(bound.elbo_per_document);
    }
    if completion {
        let topics = &parameters.topics().or_exception()?.topics;
        let completion = Completion { seed, threads, ..Completion::default() };
        let score = watched(rows.documents(), |documents| completion.score(topics, documents))?;
        report["completion_log_likelihood_per_token"] = json!(score.completion_log_likelihood_per_token);
    }
    Ok(report.to_string())
}

/// Hands all rows to `work`, which reads them to the end unless a signal comes.
fn watched<I, R, T>(rows: I, work: impl FnOnce(&mut Watched<I>) -> gibbstream::Result<R>) -> PyResult<R>
where
    I: Iterator<Item = gibbstream::Result<T>>,
{
    let mut rows = Watched::new(rows);
    let result = work(&mut rows);
    match rows.raised {
        Some(raised) => Err(raised),
        None => result.or_exception(),
    }
}
