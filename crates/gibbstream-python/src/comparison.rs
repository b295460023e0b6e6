//! Topics beside documents and beside other topics.

use crate::error::{OrException, released};
use crate::model::Model;
use crate::rows::Source;
use crate::signals::Signals;
use gibbstream::Error;
use gibbstream::evaluation::alignment::{Distance, ScoreDifference, align_models};
use gibbstream::evaluation::coherence::{Coherence, CoherenceCounter, UmassSmoothing};
use pyo3::prelude::*;
use serde_json::json;

/// Coherence of topics given by their best words, in documents without order; as JSON.
#[pyfunction]
pub fn coherence(py: Python<'_>, best: Vec<Vec<u32>>, source: Source<'_>, umass: &str) -> PyResult<String> {
    let (rows, smoothing) = (source.rows()?, smoothing(umass)?);
    released(py, || {
        let mut counter = CoherenceCounter::new(&best).or_exception()?;
        let mut signals = Signals::new();
        for document in rows.documents() {
            counter.add_bag(&document.or_exception()?);
            signals.check()?;
        }
        counter.finish(smoothing).or_exception().map(|coherence| report(&coherence))
    })
}

/// The same in texts, whose words have an order; they are cut into words as for the model.
#[pyfunction]
pub fn coherence_of_texts(
    py: Python<'_>,
    best: Vec<Vec<u32>>,
    model: &Bound<'_, Model>,
    texts: &Bound<'_, PyAny>,
    umass: &str,
) -> PyResult<String> {
    let smoothing = smoothing(umass)?;
    let mut counter = CoherenceCounter::new(&best).or_exception()?;
    model.get().each_text(py, texts, |tokens| counter.add_tokens(tokens))?;
    counter.finish(smoothing).or_exception().map(|coherence| report(&coherence))
}

fn report(coherence: &Coherence) -> String {
    json!(coherence).to_string()
}

fn smoothing(name: &str) -> PyResult<UmassSmoothing> {
    match name {
        "one" => Ok(UmassSmoothing::One),
        "epsilon" => Ok(UmassSmoothing::Epsilon),
        _ => {
            Err(Error::setting("umass", format!("there is no `{name}`"), "use one or epsilon")).or_exception()
        }
    }
}

/// Pairs of topics of two models that belong together, with their distance. Words are matched by spelling.
#[pyfunction]
pub fn align(
    py: Python<'_>,
    a: &Bound<'_, Model>,
    b: &Bound<'_, Model>,
    distance: &str,
) -> PyResult<Vec<(usize, usize, f64)>> {
    let distance: Distance = distance.parse().or_exception()?;
    let (a, words_a) = a.get().parameters_and_words(py)?;
    let (b, words_b) = b.get().parameters_and_words(py)?;
    released(py, || {
        let (a, b) = (a.topics().or_exception()?, b.topics().or_exception()?);
        let pairs = align_models((a, &words_a), (b, &words_b), distance);
        Ok(pairs.into_iter().map(|pair| (pair.a, pair.b, pair.distance)).collect())
    })
}

/// Mean difference of two lists of log-likelihoods, its standard error and a 95 % interval.
#[pyfunction]
pub fn score_difference(a: Vec<f64>, b: Vec<f64>) -> PyResult<(f64, f64, (f64, f64))> {
    let difference = ScoreDifference::new(&a, &b).or_exception()?;
    let [low, high] = difference.interval;
    Ok((difference.mean, difference.standard_error, (low, high)))
}
