//! Frozen topics at work: mixtures and scores of rows, soon ended by Ctrl-C.

use crate::error::OrException;
use crate::rows::Rows;
use crate::signals::{Signals, Watched};
use crate::state::Parameters;
use gibbstream::Error;
use gibbstream::corpus::{Document, Minibatch};
use gibbstream::evaluation::completion::Completion;
use gibbstream::evaluation::elbo::Elbo;
use gibbstream::evaluation::{Estimator, Evaluation, Scorer, Unigram};
use gibbstream::inference::mixtures::MixtureInference;
use gibbstream::model::lda::{LogTopics, Topics};
use gibbstream::random::Seed;
use pyo3::prelude::*;
use rayon::ThreadPool;
use serde_json::json;

/// Rows whose mixtures are inferred together; no result depends on it.
const TOGETHER: usize = 2048;

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
        };
        evaluation.validate()?;
        Ok(evaluation)
    }
}

/// What there is to evaluate.
pub struct Parts<'a> {
    pub topics: &'a Topics,
    /// If the evidence lower bound is asked for.
    pub log_topics: Option<&'a LogTopics>,
    pub completion: bool,
}

/// The mixtures of all rows, one after the other. Topics that nobody has met yet are left out, and the others add up
/// to 1 again.
pub fn transform(
    parameters: &Parameters,
    rows: &Rows<'_>,
    sweeps: usize,
    seed: u64,
    pool: &ThreadPool,
) -> PyResult<Vec<f64>> {
    if sweeps == 0 {
        let problem = "0 sweeps estimate nothing";
        return Err(Error::setting("transform_sweeps", problem, "use for example 8")).or_exception();
    }
    let inference = MixtureInference { sweeps, seed: Seed(seed), details: false };
    let (topics, met) = (&parameters.topics, parameters.met());
    let mut out = vec![0.0; rows.len() * met];
    let (mut space, mut signals) = (Vec::new(), Signals::new());
    for (chunk, out) in out.chunks_mut(TOGETHER * met).enumerate() {
        let first = chunk * TOGETHER;
        let documents = (first..rows.len().min(first + TOGETHER))
            .map(|row| rows.document(row, &mut space))
            .collect::<gibbstream::Result<Vec<Document>>>()
            .or_exception()?;
        let batch = Minibatch::new(&documents, 0, 0);
        let mixtures = pool.install(|| inference.infer(topics, &batch));
        for (mixture, out) in mixtures.iter().zip(out.chunks_exact_mut(met)) {
            out.copy_from_slice(&mixture.theta[..met]);
            if met < topics.topics() {
                let sum: f64 = out.iter().sum();
                out.iter_mut().for_each(|share| *share /= sum);
            }
        }
        signals.check()?;
    }
    Ok(out)
}

/// Estimates of log p of every row.
pub fn log_likelihood(
    topics: &Topics,
    word_counts: Vec<u64>,
    rows: &Rows<'_>,
    scoring: &Scoring,
) -> PyResult<Vec<f64>> {
    let unigram = Unigram::from_counts(word_counts);
    let scorer = Scorer::new(scoring.evaluation().or_exception()?, topics, &unigram).or_exception()?;
    let mut values = Vec::with_capacity(rows.len());
    watched(rows, |documents| scorer.score_each(documents, |_, score| values.push(score.log_likelihood)))?;
    Ok(values)
}

/// All scores, in JSON.
pub fn evaluate(
    parts: &Parts<'_>,
    word_counts: Vec<u64>,
    rows: &Rows<'_>,
    scoring: &Scoring,
    hash: &str,
    method: &str,
) -> PyResult<String> {
    let unigram = Unigram::from_counts(word_counts);
    let scorer = Scorer::new(scoring.evaluation().or_exception()?, parts.topics, &unigram).or_exception()?;
    let score = watched(rows, |documents| scorer.score(documents))?;
    let mut report = json!({ "model_hash": hash, "method": method, "seed": scoring.seed });
    if let (Some(report), Some(score)) = (report.as_object_mut(), json!(score).as_object()) {
        report.extend(score.clone());
    }
    let (seed, threads) = (Seed(scoring.seed), scoring.threads);
    if let Some(log_topics) = parts.log_topics {
        let elbo = Elbo { threads, ..Elbo::default() };
        let bound = watched(rows, |documents| elbo.score(log_topics, documents))?;
        report["elbo_per_document"] = json!(bound.elbo_per_document);
    }
    if parts.completion {
        let completion = Completion { seed, threads, ..Completion::default() };
        let score = watched(rows, |documents| completion.score(parts.topics, documents))?;
        report["completion_log_likelihood_per_token"] = json!(score.completion_log_likelihood_per_token);
    }
    Ok(report.to_string())
}

/// Hands all rows to `work`, which reads them to the end unless a signal comes.
fn watched<T>(
    rows: &Rows<'_>,
    work: impl FnOnce(&mut dyn Iterator<Item = gibbstream::Result<Document>>) -> gibbstream::Result<T>,
) -> PyResult<T> {
    let mut documents = Watched::new(rows.documents());
    let result = work(&mut documents);
    match documents.raised {
        Some(raised) => Err(raised),
        None => result.or_exception(),
    }
}
