//! Knobs: what users can choose of [`Settings`], each described once.
//!
//! The flags of the program with their help, environment variables and keys of configuration files, the parameters of
//! the Python package with their documentation, the parts of methods and the changes in the history of a model all
//! come from the table. Its texts name other knobs in braces, as errors do; [`crate::error::spelled`] turns them into
//! flags or parameters.

pub use super::knob_table::KNOBS;
use super::{Mode, ModelKind, Settings, parts};
use crate::learn::batch_size::BatchSize;
use crate::error::{Error, Result};
use serde_json::{Map, Value};
use std::fmt::Display;
use std::str::FromStr;

/// What the values of a knob look like.
#[derive(Clone, Copy, Debug)]
pub enum Kind {
    /// A whole number from 0 on.
    Whole,
    /// A number.
    Number,
    /// `true` or `false`.
    Switch,
    /// One of these words.
    Choice(&'static [&'static str]),
    /// A word, or a word with numbers, such as `tail=100`; the function says what is wrong with it.
    Rule(fn(&str) -> Result<(), String>),
    /// The name of a method, which depends on the model.
    Method,
    /// A number, or two numbers such as `100..1000`.
    Batch,
}

/// One thing that can be chosen.
#[derive(Clone, Copy, Debug)]
pub struct Knob {
    /// Its name, with dashes between words.
    pub name: &'static str,
    /// What its values look like.
    pub kind: Kind,
    /// What a value is called in the help.
    pub value: &'static str,
    /// The models that have it.
    pub models: &'static [&'static str],
    /// What it is in one line; what else there is to say follows in a second one.
    pub help: &'static str,
    /// How it is written into settings, and read from them: `None` if their method has no such part.
    #[expect(clippy::type_complexity, reason = "two functions")]
    pub(super) access: (fn(&mut Settings, &str) -> Result<()>, fn(&Settings) -> Option<String>),
}

/// What was chosen: names of knobs with values.
pub type Given = [(&'static str, String)];

impl Knob {
    /// The knob of that name.
    pub fn by_name(name: &str) -> Option<&'static Self> {
        KNOBS.iter().find(|knob| knob.name == name)
    }

    /// Whether models of that kind have it.
    pub fn is_for(&self, model: &ModelKind) -> bool {
        self.models.contains(&model.name())
    }

    /// Whether it is a part of methods.
    pub fn is_part(&self) -> bool {
        let others = [
            "model", "method", "mode", "paper", "topics", "batch", "seed", "total-docs", "prequential", "adapt",
        ];
        self.models.contains(&"lda") && !others.contains(&self.name)
    }

    /// Its value in some settings, as it would be given; `None` if it has no meaning there.
    pub fn show(&self, settings: &Settings) -> Option<String> {
        if self.is_for(&settings.model) { (self.access.1)(settings) } else { None }
    }

    /// Its name in Python.
    pub fn python(&self) -> String {
        match self.name {
            "topics" => "n_components".into(),
            "global" => "global_".into(),
            "seed" => "random_state".into(),
            name => name.replace('-', "_"),
        }
    }

    /// Its value unless it is given, for a kind of model with its usual method.
    pub fn default_for(&self, model: &str) -> Option<String> {
        self.default_in(model, Mode::File)
    }

    /// The same for files or for streams.
    fn default_in(&self, model: &str, mode: Mode) -> Option<String> {
        let settings = Settings::of(ModelKind::by_name(model)?, 2, "g-oem").ok()?.in_mode(mode);
        let has_one = self.name != "topics" && (self.name != "model" || model == "lda");
        let shown = self.show(&settings).filter(|_| has_one);
        if self.name == "mode" { shown.map(|_| "auto".into()) } else { shown }
    }

    /// Its defaults in words: `0.6; 0.7 for hdp; 0.5 for streams`.
    pub fn defaults(&self) -> Option<String> {
        let mut groups: Vec<(String, Vec<&str>)> = Vec::new();
        for &model in self.models {
            let Some(value) = self.default_for(model) else { continue };
            match groups.iter_mut().find(|(known, _)| *known == value) {
                Some((_, models)) => models.push(model),
                None => groups.push((value, vec![model])),
            }
        }
        let words = groups.into_iter().map(|(value, models)| match models.join(", ") {
            _ if models[0] == self.models[0] => value,
            _ if models == ModelKind::NAMES[2..] => format!("{value} for models of numbers"),
            models => format!("{value} for {models}"),
        });
        let mut words: Vec<String> = words.collect();
        let of_streams = self.models.first().map(|model| (self.default_for(model), self.default_in(model, Mode::Stream)));
        if let Some((file, Some(stream))) = of_streams.filter(|(file, stream)| file != stream) {
            words.insert(usize::from(file.is_some()), format!("{stream} for streams"));
        }
        Some(words.join("; ")).filter(|words| !words.is_empty())
    }

    /// Why a text is not one of its values, if it is not.
    pub fn check(&self, text: &str) -> Result<(), String> {
        match self.kind {
            Kind::Whole => is_a::<u64>(text),
            Kind::Number => is_a::<f64>(text),
            Kind::Switch => is_a::<bool>(text),
            Kind::Batch => is_a::<BatchSize>(text),
            Kind::Rule(check) => check(text),
            Kind::Choice(names) if !names.contains(&text) => Err(format!("use one of {}", names.join(", "))),
            Kind::Choice(_) | Kind::Method => Ok(()),
        }
    }

    /// The part of the method as JSON, whether it can be chosen or not: a number where it is one.
    fn json(&self, settings: &Settings) -> Value {
        let Some(text) = (self.access.1)(settings) else { return Value::Null };
        match self.kind {
            Kind::Whole | Kind::Number | Kind::Switch | Kind::Batch => serde_json::from_str(&text).ok(),
            Kind::Choice(_) | Kind::Rule(_) | Kind::Method => None,
        }
        .unwrap_or(Value::String(text))
    }

    fn apply(&self, settings: &mut Settings, text: &str) -> Result<()> {
        self.check(text).map_err(|advice| {
            let problem = match self.kind {
                Kind::Rule(_) => "there is no such rule".to_owned(),
                Kind::Batch => format!("{text:?} is not a size"),
                _ => format!("there is no `{text}`"),
            };
            Error::setting(self.name, problem, advice)
        })?;
        (self.access.0)(settings, text)
    }

    /// The model has no such knob.
    fn foreign(&self, model: &ModelKind) -> Error {
        let (problem, advice) = match (self.name, model) {
            ("topics", ModelKind::Hdp(_)) => (
                "this model finds its number of topics",
                "leave it out; {initial-topics} and {max-topics} say where to start and to end",
            ),
            ("paper", ModelKind::Hdp(_)) => (
                "the paper's settings do not find a number of topics",
                "leave it out; docs/hdp.md says how they differ",
            ),
            (_, ModelKind::Lda) if self.models == ["hdp"] => {
                ("only models whose number of topics is open have it", "add {model} hdp, or leave it out")
            }
            _ => {
                let problem = format!("does not apply to {{model}} {}", model.name());
                return Error::setting(self.name, problem, "leave it out");
            }
        };
        Error::setting(self.name, problem, advice)
    }

    /// Another knob that was given left no meaning to this one.
    fn overruled(&self) -> Error {
        let (problem, advice) = match self.name {
            "kappa" | "offset" | "tau" | "min-step" => ("cannot be combined with {step}", "leave one of the two out"),
            "smoothing" => (
                "added tokens keep words from having probability zero already",
                "leave out {smoothing} or {topic-prior}",
            ),
            _ => ("cannot be combined with the other settings", "leave it out"),
        };
        Error::setting(self.name, problem, advice)
    }
}

/// The settings of a new model for files, unless something else is given. The number of words or columns is still to
/// be given.
pub fn settings(given: &Given) -> Result<Settings> {
    settings_in(Mode::File, given)
}

/// The same for an input that is a file or a stream.
pub fn settings_in(mode: Mode, given: &Given) -> Result<Settings> {
    let mut settings = Settings::new(0).in_mode(mode);
    apply(&mut settings, given)?;
    if settings.components > 0 || value(given, "topics").is_some() || settings.model.hdp().is_some() {
        return Ok(settings);
    }
    Err(if settings.model.has_topics() {
        let advice = "for example {topics} 100, or {model} hdp to have it found";
        Error::setting("topics", "the number of topics is missing", advice)
    } else {
        let problem = "the number of components or sources is missing";
        Error::setting("components", problem, "for example {components} 10")
    })
}

/// The settings of a model that goes on with what was given: how it learns may change, what it is may not.
pub fn continued(before: &Settings, given: &Given) -> Result<Settings> {
    let has = |name: &str| value(given, name).is_some();
    let new = "leave it out, or train a new model";
    let kind = before.model.name();
    if let Some(other) = value(given, "model").filter(|&other| other != kind) {
        let article = if kind.len() == 3 { "an" } else { "a" };
        return Err(Error::setting("model", format!("the model is {article} {kind}, not {other}"), new));
    }
    if has("paper") && !has("method") {
        let problem = "a continued model keeps its settings";
        let advice = "leave it out, or name the {method} to continue with";
        return Err(Error::setting("paper", problem, advice));
    }
    let open = before.model.hdp().is_some();
    if let Some(name) = ["topics", "initial-topics"].into_iter().find(|name| open && has(name)) {
        return Err(Error::setting(name, "the topics are those of the model, and new ones", "leave it out"));
    }
    if has("start") {
        return Err(Error::setting("start", "a continued model already has topics", "leave it out"));
    }
    let mut settings = before.clone();
    let changes: Vec<_> = given.iter().filter(|(name, _)| *name != "model").cloned().collect();
    apply(&mut settings, &changes)?;
    settings.method.start = before.method.start;
    let own = ["sources", "noise", "source-scale", "covariance", "floor", "smoothing", "averaging"];
    let mut own =
        own.into_iter().filter(|name| has(name) && !before.model.has_topics()).filter_map(Knob::by_name);
    if let Some(knob) = own.find(|knob| knob.show(&settings) != knob.show(before)) {
        return Err(Error::setting(knob.name, "this cannot change when a model is continued", new));
    }
    settings.check_continues(before)?;
    Ok(settings)
}

/// Changes settings in the order of the table, and refuses what would have no effect.
pub fn apply(settings: &mut Settings, given: &Given) -> Result<()> {
    let mut without_meaning = None;
    for knob in KNOBS {
        let Some(text) = value(given, knob.name) else { continue };
        if !knob.is_for(&settings.model) {
            if settings.model.hdp().is_none() || !knob.is_part() {
                return Err(knob.foreign(&settings.model));
            }
            without_meaning = without_meaning.or(Some(knob));
        }
        knob.apply(settings, text)?;
    }
    if let Some(knob) = without_meaning {
        // The method may know a better reason.
        settings.method.with_population(1.0).validate_for_hdp()?;
        return Err(knob.foreign(&settings.model));
    }
    if value(given, "statistic") == Some("last") && value(given, "window").is_some_and(|kept| kept != "last")
    {
        let problem = "`{statistic} last` keeps the last sweep alone";
        return Err(Error::setting("window", problem, "use {statistic} counts"));
    }
    // Methods that do not depend on the size of the corpus only take note of it.
    let given = given.iter().filter(|(name, _)| *name != "total-docs");
    let mut knobs = given.filter_map(|(name, _)| Knob::by_name(name));
    knobs.find(|knob| knob.show(settings).is_none()).map_or(Ok(()), |knob| Err(knob.overruled()))
}

/// What has to be given for these settings: what differs from the recommended settings of the method.
pub fn given(settings: &Settings) -> Vec<(&'static str, String)> {
    let shown = |knob: &'static Knob| knob.show(settings).filter(|text| knob.check(text).is_ok());
    let all = || KNOBS.iter().filter_map(|knob| Some((knob.name, shown(knob)?)));
    let named = |name: &str| ["model", "method", "topics", "initial-topics", "batch", "seed"].contains(&name);
    let base: Vec<_> =
        all().filter(|(name, _)| ["model", "method", "topics", "mode"].contains(name)).collect();
    let Ok(base) = self::settings(&base) else { return all().collect() };
    let differs =
        |name: &str, text: &str| Knob::by_name(name).and_then(|knob| knob.show(&base)).as_deref() != Some(text);
    // A file is what they are for if nothing is said.
    let is_stream = |name: &str| name == "mode" && settings.mode == Mode::Stream;
    let few: Vec<_> =
        all().filter(|(name, text)| named(name) || is_stream(name) || differs(name, text)).collect();
    let again = self::settings(&few).map(|again| Settings {
        features: settings.features,
        seeds: settings.seeds.clone(),
        ..again
    });
    if again.is_ok_and(|again| again == *settings) { few } else { all().collect() }
}

/// What is different in words, in the order of the table: `sweeps: 5 -> 9`.
pub fn changes(before: &Settings, after: &Settings) -> Vec<String> {
    let shown = |knob: &Knob, settings: &Settings| knob.show(settings).unwrap_or_else(|| "none".into());
    let change = |knob: &Knob| {
        (shown(knob, before) != shown(knob, after))
            .then(|| format!("{}: {} -> {}", knob.name, shown(knob, before), shown(knob, after)))
    };
    KNOBS.iter().filter(|knob| knob.name != "paper").filter_map(change).collect()
}

/// The parts of the method by name; null where it has none.
pub fn parts(settings: &Settings) -> Map<String, Value> {
    let knobs = KNOBS.iter().filter(|knob| knob.is_part());
    let mut all: Map<String, Value> =
        knobs.map(|knob| (knob.name.replace('-', "_"), knob.json(settings))).collect();
    // These two say more than what would be given.
    if let Some(powers) = parts::powers(settings) {
        all.insert("step".into(), powers.into());
    }
    if let Some(prior) = parts::show_topic_prior(settings) {
        all.insert("topic_prior".into(), prior.into());
    }
    all.insert("needs_total_docs".into(), settings.method.depends_on_population().into());
    all.insert("whole_corpus".into(), settings.method.whole_corpus.into());
    all
}

fn value<'a>(given: &'a Given, name: &str) -> Option<&'a str> {
    given.iter().rfind(|(known, _)| *known == name).map(|(_, text)| text.as_str())
}

/// Why a text is not a value of that type, if it is not.
pub(super) fn is_a<T: FromStr<Err: Display>>(text: &str) -> Result<(), String> {
    text.parse::<T>().map(drop).map_err(|error| error.to_string())
}

/// A value of that type; `text` has been checked before.
pub(super) fn read<T: FromStr<Err: Display>>(text: &str) -> Result<T> {
    text.parse().map_err(|error: T::Err| Error::setting(text, error.to_string(), "give another value"))
}

#[cfg(test)]
mod tests;
