//! What topics are called, how they change over time, and which of them come again.

use crate::error::{OrException, released};
use crate::model::Model;
use crate::rows::Source;
use crate::signals::Signals;
use gibbstream::Error;
use gibbstream::corpus::Vocabulary;
use gibbstream::evaluation::stability::stability as stability_of;
use gibbstream::explore::report::Label;
use gibbstream::explore::{By, Record, RecordFields, ShareExplorer, ShareOptions, SourceText, names_of};
use gibbstream::file::LabelSource;
use gibbstream::learn::Parameters;
use gibbstream::numerics::random::Seed;
use pyo3::prelude::*;
use serde_json::json;
use std::collections::BTreeMap;
use std::sync::Arc;

/// Documents that are looked at together; no result depends on it.
const DOCUMENTS_PER_BLOCK: usize = 256;

/// The name of every topic, and whether somebody gave it.
#[pyfunction]
pub fn labels(py: Python<'_>, model: &Bound<'_, Model>) -> PyResult<Vec<(String, bool)>> {
    model.get().with(py, |state| {
        let parameters = state.parameters().or_exception()?;
        let topics = parameters.topics().or_exception()?;
        let names = state.lend(|model| Ok(names_of(topics, model))).or_exception()?;
        Ok(names.into_iter().map(|(name, by)| (name, by == LabelSource::User)).collect())
    })
}

/// Sets labels, by topic; as JSON.
#[pyfunction]
pub fn set_labels(py: Python<'_>, model: &Bound<'_, Model>, labels: &str) -> PyResult<()> {
    let labels: BTreeMap<u32, Label> = serde_json::from_str(labels)
        .map_err(|error| Error::setting("labels", error.to_string(), "give a text for each topic"))
        .or_exception()?;
    model.get().with(py, |state| state.run.set_labels(&labels).or_exception())
}

/// Shares and words of topics by period or by group of the rows, as JSON: times are in seconds since 1970.
#[pyfunction]
#[pyo3(signature = (model, source, times, groups, by, words, sweeps, seed, threads))]
#[expect(clippy::too_many_arguments, reason = "Python names them")]
pub fn shares_by(
    py: Python<'_>,
    model: &Bound<'_, Model>,
    source: Source<'_>,
    times: Option<Vec<i64>>,
    groups: Option<Vec<String>>,
    by: Option<&str>,
    words: usize,
    sweeps: usize,
    seed: u64,
    threads: usize,
) -> PyResult<String> {
    let by = by.map(str::parse::<By>).transpose();
    let by = by.map_err(|problem| Error::setting("by", problem, "such as \"month\"")).or_exception()?;
    let field = |given: bool, name: &str| given.then(|| name.to_owned());
    let options = ShareOptions {
        fields: RecordFields {
            time: field(times.is_some(), "times"),
            group: field(groups.is_some(), "groups"),
        },
        by: by.unwrap_or_default(),
        words,
        sweeps,
        seed: Seed(seed),
    };
    let rows = source.rows()?;
    let (pool, snapshot) = (
        model.get().pool(threads).or_exception()?,
        model.get().with(py, |state| state.run.snapshot().or_exception())?,
    );
    released(py, || {
        let mut explorer = pool.install(|| ShareExplorer::new(&snapshot, &options)).or_exception()?;
        let (mut signals, mut waiting) = (Signals::new(), Vec::new());
        for (place, document) in rows.documents().enumerate() {
            waiting.push(Record {
                document: document.or_exception()?,
                text: SourceText::Counts,
                time: times.as_ref().and_then(|times| times.get(place).copied()),
                group: groups.as_ref().and_then(|groups| groups.get(place).cloned()),
            });
            if waiting.len() == DOCUMENTS_PER_BLOCK {
                pool.install(|| explorer.look(std::mem::take(&mut waiting))).or_exception()?;
                signals.check()?;
            }
        }
        pool.install(|| explorer.look(waiting)).or_exception()?;
        let shares = pool.install(|| explorer.finish()).or_exception()?;
        Ok(json!(shares).to_string())
    })
}

/// Which topics of the first model come again in the others, as JSON.
#[pyfunction]
pub fn stability(py: Python<'_>, models: Vec<Bound<'_, Model>>, words: usize, same: f64) -> PyResult<String> {
    let sides = models.iter().map(|model| model.get().parameters_and_words(py));
    let sides: Vec<(Arc<Parameters>, Vocabulary)> = sides.collect::<PyResult<_>>()?;
    released(py, || {
        let sides = sides.iter().map(|(parameters, words)| Ok((parameters.topics()?, words)));
        let sides = sides.collect::<gibbstream::Result<Vec<_>>>().or_exception()?;
        Ok(json!(stability_of(&sides, words, same)).to_string())
    })
}
