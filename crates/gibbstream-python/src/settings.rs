//! From the parameters of an estimator to settings, and back.

use crate::error::OrException;
use gibbstream::Error;
use gibbstream::batch_size::BatchSize;
use gibbstream::learn::{ModelKind, Settings, parse_sources};
use gibbstream::method::Method;
use gibbstream::method_changes::{MethodChanges, Parts, parse_alpha, parse_averaging, parse_step};
use gibbstream::model::ica::Sources;
use gibbstream::model::sticks::PiRule;
use gibbstream::model::topic_rule::{Population, TopicRule};
use gibbstream::random::Seed;
use gibbstream::schedule::StepSize;

use pyo3::conversion::FromPyObjectOwned;
use pyo3::exceptions::PyTypeError;
use pyo3::prelude::*;
use pyo3::types::PyDict;
use serde_json::{Map, Value, json};

/// The kind of model whose number of topics is open, as the program's `--model` names it.
const HDP: &str = "hdp";

/// What a parameter that counts something must be.
const WHOLE: &str = "a whole number from 0 on";

/// The names of all methods for a kind of model.
#[pyfunction]
pub fn method_names(model: &str) -> Vec<&'static str> {
    let methods = if model == HDP { Method::NAMED_FOR_HDP } else { Method::NAMED };
    methods.iter().map(|named| named.name).collect()
}

/// Passes over the documents that a method makes if nothing else is asked for.
#[pyfunction]
pub fn usual_passes(model: &str, method: &str) -> PyResult<u64> {
    let kind = ModelKind::named(model, Map::new()).or_exception()?;
    Ok(kind.recommended(method).or_exception()?.usual_passes())
}

/// Settings from parameters by name. `documents` is the size of the corpus, if it is known, for methods that ask.
pub fn settings(parameters: &Bound<'_, PyDict>, words: usize, documents: Option<u64>) -> PyResult<Settings> {
    let of = |name| Parameter { parameters, name };
    let name: String = of("method").required("the name of a method")?;
    let text = |rule: &'static str| of(rule).get::<String>("a text");
    let changes = MethodChanges {
        sweeps: of("sweeps").get(WHOLE)?,
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
        total_docs: of("total_docs").get(WHOLE)?,
    };
    let kind: String = of("model").required("the kind of a model")?;
    let open = kind == HDP;
    let model = ModelKind::named(&kind, choices(parameters, &kind)?).or_exception()?;
    let paper = of("paper").get("True or False")?.unwrap_or(false);
    let own = if paper { Method::published(&name) } else { model.recommended(&name) }.or_exception()?;
    let mut method = if open { changes.apply_for_hdp(own) } else { changes.apply(own) }.or_exception()?;
    if let Some(documents) = documents {
        method = method.with_population(documents as f64);
    }
    let settings = Settings {
        name,
        method: model.relevant(method),
        components: of(if open { "initial_topics" } else { "n_components" }).required(WHOLE)?,
        features: words,
        batch: batch_size(&of("batch"))?,
        seed: Seed(of("seed").required(WHOLE)?),
        model,
    };
    settings.validate().or_exception()?;
    Ok(settings)
}

/// A number, or a text such as 100..1000.
fn batch_size(parameter: &Parameter<'_, '_>) -> PyResult<BatchSize> {
    match parameter.get::<String>("a text") {
        Ok(Some(text)) => {
            let refuse = |advice: String| Error::setting("batch", format!("{text:?} is not a size"), advice);
            text.parse().map_err(refuse).or_exception()
        }
        _ => {
            Ok(BatchSize::of(parameter.required("a whole number from 0 on, or a text such as '100..1000'")?))
        }
    }
}

/// What is said about the kind of model: everything that it has a choice for.
fn choices(parameters: &Bound<'_, PyDict>, kind: &str) -> PyResult<Map<String, Value>> {
    let mut choices = ModelKind::named(kind, Map::new()).or_exception()?.choices();
    for (name, choice) in &mut choices {
        let of = Parameter { parameters, name };
        // Nothing but a number can be meant for a model that finds its number of topics.
        let needed = kind == HDP;
        if choice.is_boolean() {
            of.get("True or False")?.into_iter().for_each(|value: bool| *choice = json!(value));
        } else if choice.is_u64() {
            let value = if needed { Some(of.required(WHOLE)?) } else { of.get::<u64>(WHOLE)? };
            value.into_iter().for_each(|value| *choice = json!(value));
        } else if choice.is_number() {
            let value = if needed { Some(of.required("a number")?) } else { of.get::<f64>("a number")? };
            value.into_iter().for_each(|value| *choice = json!(value));
        } else if let Some(text) = of.get::<String>("a text")? {
            *choice = match name.as_str() {
                "sources" => json!(parsed("sources", parse_sources(&text))?),
                "pi" => json!(PiRule::named(&text).or_exception()?),
                _ => json!(text),
            };
        }
    }
    Ok(choices)
}

/// The parameters that ask for these settings: what differs from the method of that name.
pub fn parameters<'py>(py: Python<'py>, settings: &Settings) -> PyResult<Bound<'py, PyDict>> {
    let dict = PyDict::new(py);
    let open = settings.model.hdp().is_some();
    dict.set_item(if open { "initial_topics" } else { "n_components" }, settings.components)?;
    for (name, value) in settings.model.choices() {
        match (value, settings.model) {
            (_, ModelKind::Ica { sources, .. }) if name == "sources" => dict.set_item(name, law(sources))?,
            (Value::Bool(value), _) => dict.set_item(name, value)?,
            (Value::String(value), _) => dict.set_item(name, value)?,
            (value, _) if value.is_u64() => dict.set_item(name, value.as_u64())?,
            (value, _) => dict.set_item(name, value.as_f64())?,
        }
    }
    dict.set_item("method", &settings.name)?;
    match settings.batch {
        batch if batch.grows() => dict.set_item("batch", batch.to_string())?,
        batch => dict.set_item("batch", batch.least)?,
    }
    dict.set_item("seed", settings.seed.0)?;
    let own = settings.model.recommended(&settings.name).or_exception()?;
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

/// The text that asks for a law of sources.
fn law(sources: Sources) -> String {
    match sources {
        Sources::Laplace => "laplace".into(),
        Sources::Gaussian => "gaussian".into(),
        Sources::Student(None) => "student".into(),
        Sources::Student(Some(degrees)) => format!("student={degrees}"),
    }
}

struct Parameter<'a, 'py> {
    parameters: &'a Bound<'py, PyDict>,
    name: &'a str,
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
