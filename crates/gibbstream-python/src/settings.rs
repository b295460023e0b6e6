//! From the parameters of an estimator to settings, and back: by the library's table of knobs.

use crate::error::{OrException, spelling};
use gibbstream::error::spelled;
use gibbstream::learn::knobs::{self, KNOBS, Kind, Knob};
use gibbstream::learn::method::Method;
use gibbstream::learn::{Mode, ModelKind, Settings};
use pyo3::exceptions::{PyTypeError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::PyDict;

/// The names of all methods for a kind of model.
#[pyfunction]
pub fn method_names(model: &str) -> Vec<&'static str> {
    let methods = if model == "hdp" { Method::NAMED_FOR_HDP } else { Method::NAMED };
    methods.iter().map(|named| named.name).collect()
}

/// Passes over the documents that a method makes if nothing else is asked for.
#[pyfunction]
pub fn usual_passes(model: &str, method: &str) -> PyResult<u64> {
    let kind = ModelKind::by_name(model).ok_or_else(|| PyValueError::new_err(format!("no model {model}")))?;
    Ok(kind.recommended(method, Mode::File).or_exception()?.usual_passes())
}

/// The parameters of a kind of model: name, type, description and default.
#[pyfunction]
pub fn knobs_of(model: &str) -> Vec<(String, &'static str, String, Option<String>)> {
    let quoted = |name: &str| Some(format!("``{}``", spelling(name)));
    let row = |knob: &Knob| {
        let kind = match knob.kind {
            Kind::Whole => "int",
            Kind::Number => "float",
            Kind::Switch => "bool",
            Kind::Batch => "int or str",
            Kind::Choice(_) | Kind::Rule(_) | Kind::Method => "str",
        };
        (knob.python(), kind, spelled(knob.help, quoted), knob.default_for(model))
    };
    own(model).map(row).collect()
}

/// The knobs of a kind of model.
fn own(model: &str) -> impl Iterator<Item = &'static Knob> {
    KNOBS.iter().filter(move |knob| knob.name != "model" && knob.models.contains(&model))
}

/// Settings from parameters by name. `documents` is the size of the corpus, if it is known, for methods that ask; `mode` is
/// what the input is, unless the parameters say so.
pub fn settings(
    parameters: &Bound<'_, PyDict>,
    words: usize,
    documents: Option<u64>,
    mode: Mode,
) -> PyResult<Settings> {
    let value = |name: &str| Ok::<_, PyErr>(parameters.get_item(name)?.filter(|value| !value.is_none()));
    let model = value("model")?.map_or_else(|| Ok("lda".to_owned()), |model| model.extract::<String>())?;
    let mut given = vec![("model", model.clone())];
    for knob in own(&model) {
        match value(&knob.python())? {
            Some(value) => given.push((knob.name, written(knob, &value)?)),
            // What only this kind of model has is not left to a method.
            None if knob.models == ["hdp"] => {
                let problem = format!("{}: is missing; give {}", knob.python(), expected(knob.kind));
                return Err(PyTypeError::new_err(problem));
            }
            None => {}
        }
    }
    let mut settings = knobs::settings_in(mode, &given).or_exception()?.vocabulary(words);
    if let Some(documents) = documents {
        settings.method = settings.method.with_population(documents as f64);
    }
    settings.validate().or_exception()?;
    Ok(settings)
}

/// The value of a parameter as the table has it.
fn written(knob: &Knob, value: &Bound<'_, PyAny>) -> PyResult<String> {
    let whole = || value.extract::<u64>().map(|number| number.to_string());
    let written = match knob.kind {
        Kind::Whole => whole(),
        Kind::Number => value.extract::<f64>().map(|number| number.to_string()),
        Kind::Switch => value.extract::<bool>().map(|on| on.to_string()),
        Kind::Batch => value.extract().or_else(|_| whole()),
        Kind::Choice(names) if names.contains(&"true") => {
            value.extract().or_else(|_| value.extract::<bool>().map(|on| on.to_string()))
        }
        Kind::Choice(_) | Kind::Rule(_) | Kind::Method => value.extract(),
    };
    written.map_err(|_| {
        let (name, found) = (knob.python(), value.repr().map_or("that".into(), |text| text.to_string()));
        let expected = expected(knob.kind);
        PyTypeError::new_err(format!("{name}: {found} is not {expected}; see the documentation of {name}"))
    })
}

/// What a parameter must be.
fn expected(kind: Kind) -> &'static str {
    match kind {
        Kind::Whole => "a whole number from 0 on",
        Kind::Number => "a number",
        Kind::Switch => "True or False",
        Kind::Batch => "a whole number from 0 on, or a text such as '100..1000'",
        Kind::Choice(_) | Kind::Rule(_) | Kind::Method => "a text",
    }
}

/// The parameters that ask for these settings: what differs from the method of that name.
pub fn parameters<'py>(py: Python<'py>, settings: &Settings) -> PyResult<Bound<'py, PyDict>> {
    let dict = PyDict::new(py);
    let given = knobs::given(settings);
    for (knob, text) in given.iter().filter_map(|(name, text)| Some((Knob::by_name(name)?, text))) {
        match knob.kind {
            _ if knob.name == "model" => {}
            Kind::Switch => dict.set_item(knob.python(), text == "true")?,
            Kind::Whole | Kind::Batch if text.parse::<u64>().is_ok() => {
                dict.set_item(knob.python(), text.parse::<u64>()?)?;
            }
            Kind::Number => dict.set_item(knob.python(), text.parse::<f64>()?)?,
            _ => dict.set_item(knob.python(), text)?,
        }
    }
    Ok(dict)
}
