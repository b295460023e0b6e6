//! Flags of models of rows of numbers, and the settings that they amount to.

use super::General;
use super::train::TrainArgs;
use gibbstream::dense::DenseModel;
use gibbstream::learn::{ModelKind, Settings};
use gibbstream::method::Method;
use gibbstream::model::gaussian_mixture::Covariance;
use gibbstream::model::ica::{Noise, Sources};
use gibbstream::model::topic_rule::{Smoothing, TopicRule};
use gibbstream::{Error, Result};

/// The smallest variance, rate or chance unless another is asked for.
const FLOOR: f64 = 1e-6;

/// What is particular to models of rows of numbers.
#[derive(Clone, Debug, clap::Args)]
#[command(next_help_heading = "Models of numbers")]
pub struct DenseArgs {
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

fn parse_sources(text: &str) -> Result<Sources, String> {
    match text.split_once('=') {
        None if text == "laplace" => Ok(Sources::Laplace),
        None if text == "student" => Ok(Sources::Student(None)),
        None if text == "gaussian" => Ok(Sources::Gaussian),
        Some(("student", degrees)) => degrees
            .parse()
            .map(|degrees| Sources::Student(Some(degrees)))
            .map_err(|_| format!("`{degrees}` is not a number")),
        _ => Err("use laplace, student, student=NU or gaussian".into()),
    }
}

/// Flags of documents and topics that mean nothing for rows of numbers.
const TOPIC_FLAGS: [&str; 26] = [
    "alpha",
    "local",
    "global",
    "statistic",
    "start",
    "topic-prior",
    "total-docs",
    "follow",
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
    pub fn is_dense(&self) -> bool {
        self.model != "lda" && self.model != "hdp"
    }

    fn given(&self, flag: &str) -> bool {
        self.given.iter().any(|given| given == flag)
    }

    /// Topic models have no use for the flags of other models.
    pub fn refuse_dense_flags(&self) -> Result<()> {
        let own = ["covariance", "floor", "sources", "noise", "source-scale"];
        self.refuse(own.into_iter().find(|flag| self.given(flag)))
    }

    fn refuse(&self, flag: Option<&str>) -> Result<()> {
        let Some(flag) = flag else { return Ok(()) };
        let problem = format!("has no meaning for --model {}", self.model);
        Err(Error::setting(format!("--{flag}"), problem, "leave it out"))
    }

    /// The settings of a model of rows of numbers; the number of columns is 1 until it is known.
    pub fn dense_settings(&self, general: &General, base: Option<&DenseModel>) -> Result<Settings> {
        self.refuse(TOPIC_FLAGS.into_iter().find(|flag| self.given(flag)))?;
        let foreign = |(_, models): &&(&str, &[&str])| !models.contains(&self.model.as_str());
        let mut foreign = PARTICULAR.iter().filter(foreign).map(|(flag, _)| *flag);
        self.refuse(foreign.find(|flag| self.given(flag)))?;
        if self.batch.grows() {
            let problem = "minibatches of topic models can grow, those of this model cannot";
            return Err(Error::setting("--batch", problem, "give one number"));
        }
        let kind = self.kind(&Method::G_OEM);
        let method = self.method.changed(kind.recommended(self.method.name())?)?;
        if let Some(base) = base {
            return self.continued_dense(base, method, general);
        }
        let Some(components) = self.topics else {
            let problem = "the number of components or sources is missing";
            return Err(Error::setting("--components", problem, "for example --components 10"));
        };
        let settings = Settings::new(components).method(self.method.name(), method).vocabulary(1);
        Ok(Settings { model: self.kind(&method), batch: self.batch, seed: general.seed, ..settings })
    }

    /// The settings of a model with the changes that were asked for: how it learns may change, what it is may not.
    fn continued_dense(&self, base: &DenseModel, method: Method, general: &General) -> Result<Settings> {
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
            settings.method.local = method.local;
        }
        if changed("boost") || changed("no-boost") {
            settings.method.boost = method.boost;
        }
        Ok(settings)
    }

    fn kind(&self, method: &Method) -> ModelKind {
        let DenseArgs { covariance, floor, sources, noise, source_scale } = &self.dense;
        let floor = floor.unwrap_or(FLOOR);
        match self.model.as_str() {
            "gaussian-mixture" => {
                let diagonal = covariance.as_deref() == Some("diagonal");
                ModelKind::GaussianMixture {
                    covariance: if diagonal { Covariance::Diagonal } else { Covariance::Full },
                    floor,
                }
            }
            "poisson-mixture" => ModelKind::PoissonMixture { floor },
            "bernoulli-mixture" => ModelKind::BernoulliMixture { floor },
            "multinomial-mixture" => {
                let TopicRule::MaximumLikelihood(Smoothing::Share(smoothing)) = method.global else {
                    unreachable!("g-oem smooths by a share, and the flags that change that are refused")
                };
                ModelKind::MultinomialMixture { smoothing }
            }
            _ => ModelKind::Ica {
                sources: sources.unwrap_or(Sources::Laplace),
                noise: if noise.as_deref() == Some("diagonal") { Noise::Diagonal } else { Noise::Isotropic },
                learn_scale: source_scale.as_deref() != Some("fixed"),
                floor,
            },
        }
    }
}
