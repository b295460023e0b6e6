//! Headers of files of version 1, which had settings and headers of one kind for topic models and of another for rows
//! of numbers.

use crate::learn::averaging::Averaging;
use crate::learn::batch_size::BatchSize;
use crate::inference::gibbs::{Statistic, Window};
use crate::learn::{Mode, ModelKind, Settings};
use crate::learn::method::{Local, Method};
use crate::model::topics::hdp::HdpSettings;
use crate::numerics::random::Seed;
use crate::learn::schedule::StepSize;
use serde::Deserialize;
use serde_json::{Map, Value, json};

/// Settings as they were written; the two have no field in common that would tell them apart but `model`.
#[derive(Deserialize)]
#[serde(untagged)]
enum StoredSettings {
    Rows(RowSettings),
    Topics(TopicSettings),
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct TopicSettings {
    name: String,
    method: Method,
    topics: usize,
    vocabulary: usize,
    batch: BatchSize,
    seed: Seed,
    hdp: Option<HdpSettings>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct RowSettings {
    model: ModelKind,
    name: String,
    components: usize,
    dimension: usize,
    batch: BatchSize,
    step: StepSize,
    averaging: Averaging,
    boost: bool,
    sweeps: usize,
    window: Window,
    seed: Seed,
}

impl From<TopicSettings> for Settings {
    fn from(old: TopicSettings) -> Self {
        Self {
            model: old.hdp.map_or(ModelKind::Lda, ModelKind::Hdp),
            name: old.name,
            mode: Mode::File,
            method: old.method,
            components: old.topics,
            features: old.vocabulary,
            batch: old.batch,
            seed: old.seed,
            seeds: Vec::new(),
            prequential: None,
            adapt: false,
        }
    }
}

impl From<RowSettings> for Settings {
    fn from(old: RowSettings) -> Self {
        let RowSettings { step, averaging, boost, sweeps, window, .. } = old;
        let local = Local::Gibbs { window, statistic: Statistic::RaoBlackwell };
        Self {
            model: old.model,
            name: old.name,
            mode: Mode::File,
            method: Method { local, sweeps, step, boost, averaging, ..Method::G_OEM },
            components: old.components,
            features: old.dimension,
            batch: old.batch,
            seed: old.seed,
            seeds: Vec::new(),
            prequential: None,
            adapt: false,
        }
    }
}

/// Rewrites a header of version 1 as one of this version.
pub(super) fn upgrade(mut header: Value) -> Result<Value, String> {
    header["settings"] = json!(upgraded(header["settings"].take())?);
    let mut scalars = Map::new();
    for (old, new) in SCALARS {
        if let Some(value) = header.pointer(old).filter(|value| !value.is_null()) {
            scalars.insert(new.to_owned(), value.clone());
        }
    }
    header["scalars"] = Value::Object(scalars);
    Ok(header)
}

/// Where single numbers of topic models were, and what they are called now.
const SCALARS: [(&str, &str); 6] = [
    ("/tokens", "tokens"),
    ("/scale", "scale"),
    ("/averaged_updates", "averaged_updates"),
    ("/clamps/sum", "clamped_sums"),
    ("/clamps/entries", "clamped_entries"),
    ("/topics_created", "topics_created"),
];

fn upgraded(settings: Value) -> Result<Settings, String> {
    match serde_json::from_value(settings) {
        Ok(StoredSettings::Topics(settings)) => Ok(settings.into()),
        Ok(StoredSettings::Rows(settings)) => Ok(settings.into()),
        Err(error) => Err(format!("its settings are not readable: {error}")),
    }
}

/// What was asked for in a checkpoint of any version, as this version would ask for it.
pub fn upgraded_request(mut request: Value) -> Value {
    if let Ok(settings) = upgraded(request["settings"].clone()) {
        request["settings"] = json!(settings);
    }
    request
}
