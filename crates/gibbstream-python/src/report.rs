//! Reports: the page, or its data; and mixtures with their uncertainty.

use crate::error::{OrException, released};
use crate::inference::each_mixture;
use crate::model::Model;
use crate::rows::{Rows, Source};
use crate::written::{DOCUMENTS_PER_BLOCK, RawDocument, Texts};
use gibbstream::Error;
use gibbstream::explore::page::{PageFile, PageFormat, write_page};
use gibbstream::explore::report::{Commands, Labels, Report};
use gibbstream::explore::{self, ExploreOptions, Explorer, Other, Record, RecordFields, SourceText};
use gibbstream::file::Destination;
use gibbstream::learn::{Snapshot, TopicParameters};
use gibbstream::numerics::random::Seed;
use numpy::{IntoPyArray, PyArray2, PyArrayMethods};
use pyo3::prelude::*;
use pyo3::types::PyBytes;
use serde_json::Value;
use std::path::PathBuf;

/// What is known of documents beside their words, a list each.
#[derive(FromPyObject)]
#[pyo3(from_item_all)]
pub struct Beside {
    times: Option<Vec<Moment>>,
    groups: Option<Vec<String>>,
    ids: Option<Vec<String>>,
}

#[derive(FromPyObject)]
enum Moment {
    Seconds(f64),
    Text(String),
}

/// What a report is like.
#[derive(FromPyObject)]
#[pyo3(from_item_all)]
pub struct Choices {
    title: String,
    max_documents: usize,
    sweeps: usize,
    seed: u64,
    threads: usize,
    lambda: f64,
    /// A file of labels, as text.
    labels: Option<String>,
    force_labels: bool,
    /// Where to write the page; otherwise it is returned.
    path: Option<PathBuf>,
    /// Whether the file may hold anything now.
    force: bool,
    /// Whether the data alone are wanted, with all digits.
    as_json: bool,
}

/// Makes a report of a model and, if there are some, documents; returns its bytes, or none if they went into a file.
#[pyfunction]
#[pyo3(signature = (model, source, texts, beside, choices, other=None))]
pub fn report<'py>(
    py: Python<'py>,
    model: &Bound<'py, Model>,
    source: Option<Source<'py>>,
    texts: Option<Bound<'py, PyAny>>,
    beside: Beside,
    choices: Choices,
    other: Option<(String, Bound<'py, Model>)>,
) -> PyResult<Bound<'py, PyBytes>> {
    let snapshot = model.get().snapshot(py)?;
    let other = other.map(|(name, model)| Ok::<_, PyErr>((name, model.get().snapshot(py)?))).transpose()?;
    let other = other.as_ref().map(|(name, snapshot)| Other { name: name.clone(), snapshot });
    let options = choices.options(&beside, &snapshot).or_exception()?;
    // Opened first: a folder that does not exist should not be found out at the end.
    let place = choices.path.as_ref().map(|path| Destination::new(path, PageFile::KIND, choices.force));
    let file = place.map(|place| PageFile::create(&place, &[])).transpose().or_exception()?;
    let pool = model.get().pool(choices.threads).or_exception()?;
    let Some(source) = source else {
        let bytes = released(py, || {
            let made =
                pool.install(|| explore::report(&snapshot, &options, other.as_ref())).or_exception()?;
            finish(made, file, choices.as_json).or_exception()
        })?;
        return Ok(PyBytes::new(py, &bytes));
    };
    let rows = source.rows()?;
    let texts = texts.map(|texts| Texts::new(&texts)).transpose()?;
    beside.check(rows.len(), texts.as_ref().map(Texts::len)).or_exception()?;
    let mut explorer =
        released(py, || pool.install(|| Explorer::new(&snapshot, &options, other.as_ref())).or_exception())?;
    for first in (0..rows.len()).step_by(DOCUMENTS_PER_BLOCK) {
        py.check_signals()?;
        let places = first..rows.len().min(first + DOCUMENTS_PER_BLOCK);
        let written = texts.as_ref().map(|texts| texts.some(places.clone())).transpose()?;
        released(py, || {
            let records =
                beside.records(&rows, first, places.len(), written, &options.fields).or_exception()?;
            pool.install(|| explorer.look(records)).or_exception()
        })?;
    }
    let bytes = released(py, || {
        let made = pool.install(|| explorer.finish()).or_exception()?;
        finish(made, file, choices.as_json).or_exception()
    })?;
    Ok(PyBytes::new(py, &bytes))
}

impl Choices {
    fn options(&self, beside: &Beside, snapshot: &Snapshot) -> gibbstream::Result<ExploreOptions> {
        let named = |given: bool, name: &str| given.then(|| name.to_owned());
        let labels =
            self.labels.as_deref().map(|text| read_labels(text, &snapshot.hash(), self.force_labels));
        Ok(ExploreOptions {
            title: self.title.clone(),
            max_documents: self.max_documents,
            sweeps: self.sweeps,
            lambda: self.lambda,
            seed: Seed(self.seed),
            threads: self.threads,
            fields: RecordFields {
                time: named(beside.times.is_some(), "times"),
                group: named(beside.groups.is_some(), "groups"),
            },
            labels: labels.transpose()?.unwrap_or_default(),
            // The names that the guide uses; the model is saved by model.save("model.gbs").
            commands: Commands {
                model: "model.gbs".into(),
                inputs: vec!["documents.jsonl".into()],
                program: "gibbstream report model.gbs documents.jsonl --out page.html".into(),
                python: "model.report(\"page.html\", texts)".into(),
            },
        })
    }
}

type LabelsOfTopics = std::collections::BTreeMap<u32, gibbstream::explore::report::Label>;

fn read_labels(text: &str, hash: &str, force: bool) -> gibbstream::Result<LabelsOfTopics> {
    let labels = Labels::parse(text).map_err(|problem| {
        Error::setting("labels", format!("is not a file of labels: {problem}"), "export labels from the page")
    })?;
    labels.of_model(hash, force).map_err(|problem| {
        let advice = "use the model they were made for, or force_labels=True to take them by topic id";
        Error::setting("labels", problem, advice)
    })
}

impl Beside {
    fn check(&self, documents: usize, texts: Option<usize>) -> gibbstream::Result<()> {
        let lengths = [
            ("texts", texts),
            ("times", self.times.as_ref().map(Vec::len)),
            ("groups", self.groups.as_ref().map(Vec::len)),
            ("ids", self.ids.as_ref().map(Vec::len)),
        ];
        for (name, length) in lengths {
            if let Some(length) = length.filter(|&length| length != documents) {
                let problem = format!("there are {length} for {documents} documents");
                return Err(Error::setting(name, problem, "give one for each document"));
            }
        }
        Ok(())
    }

    /// So many documents from a place on, with what is known of them.
    fn records(
        &self,
        rows: &Rows<'_>,
        first: usize,
        count: usize,
        written: Option<Vec<RawDocument>>,
        fields: &RecordFields,
    ) -> gibbstream::Result<Vec<Record>> {
        let mut space = Vec::new();
        let mut written = written.map(Vec::into_iter);
        let mut records = Vec::with_capacity(count);
        for place in first..first + count {
            let mut document = rows.document(place, &mut space)?;
            if let Some(ids) = &self.ids {
                document.id = Some(ids[place].clone());
            }
            let text = match written.as_mut().and_then(Iterator::next) {
                None => SourceText::Counts,
                Some(RawDocument::Text(text)) => SourceText::Text(text),
                Some(RawDocument::Tokens(tokens)) => SourceText::Tokens(tokens),
            };
            let time = self.times.as_ref().map_or(Value::Null, |times| match &times[place] {
                Moment::Seconds(seconds) => Value::from(*seconds),
                Moment::Text(text) => Value::from(text.as_str()),
            });
            let time = fields.time(&time).map_err(|(problem, advice)| {
                Error::setting("times", format!("document {place}: {problem}"), advice)
            })?;
            let group = self.groups.as_ref().map(|groups| groups[place].clone());
            records.push(Record { document, text, time, group });
        }
        Ok(records)
    }
}

/// Refuses a report in which nothing is known; writes any other.
fn finish(report: Report, file: Option<PageFile>, as_json: bool) -> gibbstream::Result<Vec<u8>> {
    if let Some(documents) = report.documents.as_ref().filter(|documents| documents.are_unknown()) {
        let problem = format!("none of {} documents has a word that the model knows", documents.total);
        return Err(Error::setting("X", problem, "give texts of the kind that the model was learnt from"));
    }
    let failed = |error: std::io::Error| Error::io("report", "write", error);
    let mut bytes = Vec::new();
    match file {
        Some(file) => drop(file.finish(report, PageFormat::Html)?),
        None if as_json => {
            serde_json::to_writer(&mut bytes, &report).map_err(|error| failed(error.into()))?;
        }
        None => write_page(report, &mut bytes).map_err(failed)?,
    }
    Ok(bytes)
}

/// Shares, their standard deviations, known tokens and unknown tokens.
type MixturesAndTokens<'py> = (Bound<'py, PyArray2<f64>>, Bound<'py, PyArray2<f64>>, Vec<u64>, Vec<u64>);

/// Mixtures of documents with their posterior standard deviations, and the tokens that they rest on.
#[pyfunction]
pub fn mixtures_with_deviations<'py>(
    py: Python<'py>,
    model: &Bound<'py, Model>,
    source: Source<'py>,
    sweeps: usize,
    seed: u64,
    threads: usize,
) -> PyResult<MixturesAndTokens<'py>> {
    let rows = source.rows()?;
    let (parameters, _) = model.get().parameters_and_words(py)?;
    let pool = model.get().pool(threads).or_exception()?;
    let (shares, deviations, tokens, unknown, width) = released(py, || {
        let width = parameters.topics().map_or(0, TopicParameters::met);
        let (mut shares, mut deviations) = (Vec::new(), Vec::new());
        each_mixture(&parameters, &rows, (sweeps, seed, true), &pool, |mixture| {
            // What is left for topics that were never met is shared out, as transform does.
            let (met, unmet) = mixture.theta.split_at(width);
            let sum: f64 = if unmet.is_empty() { 1.0 } else { met.iter().sum() };
            shares.extend(met.iter().map(|share| share / sum));
            deviations.extend(mixture.spread[..width].iter().map(|spread| spread / sum));
        })?;
        let (mut tokens, mut unknown) = (Vec::new(), Vec::new());
        for document in rows.documents() {
            let document = document.or_exception()?;
            tokens.push(document.tokens());
            unknown.push(document.out_of_vocabulary);
        }
        Ok((shares, deviations, tokens, unknown, width))
    })?;
    let shape = [rows.len(), width];
    Ok((
        shares.into_pyarray(py).reshape(shape)?,
        deviations.into_pyarray(py).reshape(shape)?,
        tokens,
        unknown,
    ))
}
