//! Flags of models of rows of numbers, and the settings that they amount to.

use super::General;
use super::train::TrainArgs;
use gibbstream::file::Model;
use gibbstream::learn::{ModelKind, Settings, parse_sources};
use gibbstream::method::Method;
use gibbstream::model::ica::Sources;
use gibbstream::model::topic_rule::{Smoothing, TopicRule};
use gibbstream::{Error, Result};
use serde_json::json;

/// What is particular to models of rows of numbers.
#[derive(Clone, Debug, clap::Args)]
#[command(next_help_heading = "Models of numbers")]
pub struct RowArgs {
    /// Covariances of a gaussian-mixture: full or diagonal [default: full]
    #[arg(long, value_name = "FORM", value_parser = ["full", "diagonal"], hide_possible_values = true)]
    covariance: Option<String>,
    /// Smallest variance (gaussian-mixture, ica), rate (poisson-mixture) or probability (bernoulli-mixture)
    /// [default: 0.000001]
    #[arg(long, value_name = "X")]
    floor: Option<f64>,
    /// Sources of ica: laplace, student (degrees of freedom learnt), student=NU, or gaussian [default: laplace]
    #[arg(long, value_name = "LAW", value_parser = parse_sources)]
    sources: Option<Sources>,
    /// Noise of ica: isotropic or diagonal [default: isotropic]
    #[arg(long, value_name = "FORM", value_parser = ["isotropic", "diagonal"], hide_possible_values = true)]
    noise: Option<String>,
    /// Scale of the sources of ica: learnt (and handed over to the mixing matrix), or fixed [default: learnt]
    #[arg(long, value_name = "HOW", value_parser = ["learnt", "fixed"], hide_possible_values = true)]
    source_scale: Option<String>,
}

/// Flags of documents and topics that mean nothing for rows of numbers.
const TOPIC_FLAGS: [&str; 25] = [
    "alpha",
    "local",
    "global",
    "statistic",
    "start",
    "topic-prior",
    "total-docs",
    "vocab",
    "vocab-mode",
    "max-vocab",
    "min-df",
    "max-df",
    "stop-words",
    "ngrams",
    "min-length",
    "no-lowercase",
    "text-field",
    "transpose",
    "paper",
    "initial-topics",
    "max-topics",
    "doc-concentration",
    "top-concentration",
    "min-remainder",
    "pi",
];

/// Flags that mean something for some models of numbers only.
const PARTICULAR: [(&str, &[&str]); 9] = [
    ("covariance", &["gaussian-mixture"]),
    ("floor", &["ica", "gaussian-mixture", "poisson-mixture", "bernoulli-mixture"]),
    ("smoothing", &["multinomial-mixture"]),
    ("sources", &["ica"]),
    ("noise", &["ica"]),
    ("source-scale", &["ica"]),
    ("sweeps", &["ica"]),
    ("window", &["ica"]),
    ("boost", &["ica"]),
];

impl TrainArgs {
    /// Whether the model is one of rows of numbers.
    pub fn is_of_rows(&self) -> bool {
        self.model != "lda" && self.model != "hdp"
    }

    fn given(&self, flag: &str) -> bool {
        self.given.iter().any(|given| given == flag)
    }

    /// Topic models have no use for the flags of other models.
    pub fn refuse_row_flags(&self) -> Result<()> {
        let own = ["covariance", "floor", "sources", "noise", "source-scale"];
        self.refuse(own.into_iter().find(|flag| self.given(flag)))
    }

    fn refuse(&self, flag: Option<&str>) -> Result<()> {
        let Some(flag) = flag else { return Ok(()) };
        let problem = format!("has no meaning for --model {}", self.model);
        Err(Error::setting(format!("--{flag}"), problem, "leave it out"))
    }

    /// The settings of a model of rows of numbers; the number of columns is 1 until it is known.
    pub fn row_settings(&self, general: &General, base: Option<&Model>) -> Result<Settings> {
        self.refuse(TOPIC_FLAGS.into_iter().find(|flag| self.given(flag)))?;
        let foreign = |(_, models): &&(&str, &[&str])| !models.contains(&self.model.as_str());
        let mut foreign = PARTICULAR.iter().filter(foreign).map(|(flag, _)| *flag);
        self.refuse(foreign.find(|flag| self.given(flag)))?;
        let recommended = self.kind(None)?.recommended(self.method.name()).map_err(as_flag)?;
        let method = self.method.changed(recommended)?;
        if let Some(base) = base {
            return self.continued_rows(base, method, general);
        }
        let Some(components) = self.topics else {
            let problem = "the number of components or sources is missing";
            return Err(Error::setting("--components", problem, "for example --components 10"));
        };
        let model = self.kind(Some(&method))?;
        let settings =
            Settings::new(components).method(self.method.name(), model.relevant(method)).vocabulary(1);
        Ok(Settings { model, batch: self.batch, seed: general.seed, ..settings })
    }

    /// The settings of a model with the changes that were asked for: how it learns may change, what it is may not.
    fn continued_rows(&self, base: &Model, method: Method, general: &General) -> Result<Settings> {
        let mut settings = base.settings.clone();
        let refuse = |flag: &str, problem: String| {
            Err(Error::setting(flag, problem, "leave it out, or train a new model"))
        };
        if self.model != settings.model.name() {
            return refuse(
                "--model",
                format!("the model is a {}, not {}", settings.model.name(), self.model),
            );
        }
        if let Some(components) = self.topics.filter(|&components| components != settings.components) {
            return refuse(
                "--components",
                format!("the model has {}, not {components}", settings.components),
            );
        }
        let fixed = ["covariance", "floor", "sources", "noise", "source-scale", "smoothing", "averaging"];
        if let Some(flag) = fixed.iter().find(|flag| self.given(flag)) {
            return refuse(&format!("--{flag}"), "a model that is continued stays what it is".into());
        }
        if ["kappa", "offset", "tau", "step"].iter().any(|flag| self.given(flag)) {
            settings.method.step = method.step;
        }
        let changed = |flag: &str| self.given(flag);
        if changed("batch") {
            settings.batch = self.batch;
        }
        if changed("seed") {
            settings.seed = general.seed;
        }
        if changed("sweeps") {
            settings.method.sweeps = method.sweeps;
        }
        if changed("window") {
            settings.method.local = settings.model.relevant(method).local;
        }
        if changed("boost") || changed("no-boost") {
            settings.method.boost = method.boost;
        }
        Ok(settings)
    }

    fn kind(&self, method: Option<&Method>) -> Result<ModelKind> {
        let RowArgs { covariance, floor, sources, noise, source_scale } = &self.rows;
        let smoothing = match method.map(|method| method.global) {
            Some(TopicRule::MaximumLikelihood(Smoothing::Share(share)))
                if self.model.starts_with("multinomial") =>
            {
                Some(share)
            }
            _ => None,
        };
        let choices = [
            ("covariance", covariance.as_ref().map(|form| json!(form))),
            ("floor", floor.map(|floor| json!(floor))),
            ("smoothing", smoothing.map(|share| json!(share))),
            ("sources", sources.map(|law| json!(law))),
            ("noise", noise.as_ref().map(|form| json!(form))),
            ("learn_scale", source_scale.as_ref().map(|how| json!(how == "learnt"))),
        ];
        let choices = choices.into_iter().filter_map(|(name, value)| Some((name.to_owned(), value?)));
        ModelKind::named(&self.model, choices.collect())
    }
}

/// What the library calls a setting is a flag here.
fn as_flag(error: Error) -> Error {
    match error {
        Error::Setting { setting, problem, advice } => {
            Error::Setting { setting: format!("--{setting}"), problem, advice }
        }
        other => other,
    }
}
