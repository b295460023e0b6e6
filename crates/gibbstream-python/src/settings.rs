//! From the parameters of an estimator to settings, and back.

use crate::error::OrException;
use gibbstream::Error;
use gibbstream::method::Method;
use gibbstream::method_changes::{MethodChanges, Parts, parse_alpha, parse_averaging, parse_step};
use gibbstream::model::topic_rule::{Population, TopicRule};
use gibbstream::random::Seed;
use gibbstream::schedule::StepSize;
use gibbstream::trainer::Settings;
use pyo3::conversion::FromPyObjectOwned;
use pyo3::exceptions::PyTypeError;
use pyo3::prelude::*;
use pyo3::types::PyDict;

/// The names of all methods.
#[pyfunction]
pub fn method_names() -> Vec<&'static str> {
    Method::NAMED.iter().map(|named| named.name).collect()
}

/// Passes over the documents that a method makes if nothing else is asked for.
#[pyfunction]
pub fn usual_passes(method: &str) -> PyResult<u64> {
    Ok(Method::named(method).or_exception()?.usual_passes())
}

/// Settings from parameters by name. `documents` is the size of the corpus, if it is known, for methods that ask.
pub fn settings(parameters: &Bound<'_, PyDict>, words: usize, documents: Option<u64>) -> PyResult<Settings> {
    let of = |name| Parameter { parameters, name };
    let name: String = of("method").required("the name of a method")?;
    let text = |rule: &'static str| of(rule).get::<String>("a text");
    let changes = MethodChanges {
        paper: false,
        sweeps: of("sweeps").get("a whole number from 0 on")?,
        kappa: of("kappa").get("a number")?,
        offset: of("offset").get("a number")?,
        tau: of("tau").get("a number")?,
        step: text("step")?.map(|text| parsed("step", parse_step(&text))).transpose()?,
        alpha: text("alpha")?.map(|text| parsed("alpha", parse_alpha(&text))).transpose()?,
        averaging: text("averaging")?.map(|text| parsed("averaging", parse_averaging(&text))).transpose()?,
        boost: of("boost").get("True or False")?,
        smoothing: of("smoothing").get("a number")?,
        local: text("local")?,
        global: text("global_")?,
        statistic: text("statistic")?,
        window: text("window")?,
        start: text("start")?,
        topic_prior: of("topic_prior").get("a number")?,
        total_docs: of("total_docs").get("a whole number from 0 on")?,
    };
    let mut method = changes.apply(Method::named(&name).or_exception()?).or_exception()?;
    if let Some(documents) = documents {
        method = method.with_population(documents as f64);
    }
    let settings = Settings {
        name,
        method,
        topics: of("n_components").required("a whole number from 0 on")?,
        vocabulary: words,
        batch: of("batch").required("a whole number from 0 on")?,
        seed: Seed(of("seed").required("a whole number from 0 on")?),
        hdp: None,
    };
    settings.validate().or_exception()?;
    Ok(settings)
}

/// The parameters that ask for these settings: what differs from the method of that name.
pub fn parameters<'py>(py: Python<'py>, settings: &Settings) -> PyResult<Bound<'py, PyDict>> {
    let dict = PyDict::new(py);
    dict.set_item("n_components", settings.topics)?;
    dict.set_item("method", &settings.name)?;
    dict.set_item("batch", settings.batch)?;
    dict.set_item("seed", settings.seed.0)?;
    let own = Method::named(&settings.name).or_exception()?;
    let (method, usual) = (Parts::from(&settings.method), Parts::from(&own));
    if method.sweeps != usual.sweeps {
        dict.set_item("sweeps", method.sweeps)?;
    }
    if method.boost != usual.boost {
        dict.set_item("boost", method.boost)?;
    }
    if method.smoothing != usual.smoothing {
        dict.set_item("smoothing", method.smoothing)?;
    }
    let prior = method.topic_prior.as_ref().and_then(|prior| prior.parse::<f64>().ok());
    if method.topic_prior != usual.topic_prior {
        dict.set_item("topic_prior", prior)?;
    }
    for (name, value, usual) in [
        ("local", Some(method.local), Some(usual.local)),
        ("global_", Some(method.global), Some(usual.global)),
        ("statistic", method.statistic, usual.statistic),
        ("window", method.window, usual.window),
        ("start", Some(method.start), Some(usual.start)),
        ("alpha", Some(method.alpha.as_str()), Some(usual.alpha.as_str())),
        ("averaging", Some(method.averaging.as_str()), Some(usual.averaging.as_str())),
    ] {
        if value != usual {
            dict.set_item(name, value)?;
        }
    }
    match settings.method.step {
        step if step == own.step => {}
        StepSize::Power { kappa, offset, tau } => {
            dict.set_item("kappa", kappa)?;
            dict.set_item("offset", offset)?;
            dict.set_item("tau", tau)?;
        }
        _ => dict.set_item("step", &method.step)?,
    }
    if let TopicRule::Bayes { population: Population::Documents(documents), .. }
    | TopicRule::Langevin { population: Population::Documents(documents), .. } = settings.method.global
    {
        dict.set_item("total_docs", documents as u64)?;
    }
    Ok(dict)
}

struct Parameter<'a, 'py> {
    parameters: &'a Bound<'py, PyDict>,
    name: &'static str,
}

impl<'py> Parameter<'_, 'py> {
    /// The value, if there is one; `expected` says what it should be.
    fn get<T: FromPyObjectOwned<'py>>(&self, expected: &str) -> PyResult<Option<T>> {
        let Some(value) = self.parameters.get_item(self.name)?.filter(|value| !value.is_none()) else {
            return Ok(None);
        };
        value.extract::<T>().map(Some).map_err(|_| {
            let (name, found) =
                (self.name, value.repr().map_or_else(|_| "that".into(), |text| text.to_string()));
            PyTypeError::new_err(format!(
                "{name}: {found} is not {expected}; see the documentation of {name}"
            ))
        })
    }

    fn required<T: FromPyObjectOwned<'py>>(&self, expected: &str) -> PyResult<T> {
        self.get(expected)?
            .ok_or_else(|| PyTypeError::new_err(format!("{}: is missing; give {expected}", self.name)))
    }
}

/// Refuses a rule that could not be read, as the program does.
fn parsed<T>(name: &str, rule: Result<T, String>) -> PyResult<T> {
    rule.map_err(|advice| Error::setting(name, "there is no such rule", advice)).or_exception()
}
