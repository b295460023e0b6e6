//! Everything that decides what is learnt, apart from the data: one structure for all models.

use crate::learn::batch_size::BatchSize;
use crate::error::{Error, Result};
use crate::learn::method::Method;
use crate::learn::mode::Mode;
use crate::learn::schedule::StepSize;
use crate::model::rows::families::gaussian::Covariance;
use crate::model::topics::hdp::HdpSettings;
use crate::model::rows::ica::{Noise, Sources};
use crate::model::rows::observations::Domain;
use crate::numerics::random::Seed;
use serde::{Deserialize, Serialize};

/// The largest number of topics or components that is accepted.
pub const MAX_COMPONENTS: usize = 1_000_000;

/// The largest number of sources: their covariance is a matrix.
const MAX_SOURCES: usize = 4096;

/// The kinds of models, with what is particular to each.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub enum ModelKind {
    /// Latent Dirichlet allocation: a given number of topics.
    Lda,
    /// The hierarchical Dirichlet process: an open number of topics.
    Hdp(HdpSettings),
    /// Independent components with heavy tails, mixed and observed with noise.
    Ica {
        /// The law of the sources.
        sources: Sources,
        /// The form of the noise.
        noise: Noise,
        /// Whether their scale is learnt and handed over to the mixing matrix after every update.
        learn_scale: bool,
        /// The smallest variance of the noise.
        floor: f64,
    },
    /// A mixture of Gaussian distributions.
    GaussianMixture {
        /// The form of covariances.
        covariance: Covariance,
        /// The smallest variance in any direction.
        floor: f64,
    },
    /// A mixture of independent Poisson counts.
    PoissonMixture {
        /// The smallest rate.
        floor: f64,
    },
    /// A mixture of multinomial distributions.
    MultinomialMixture {
        /// The share of each component that is spread evenly.
        smoothing: f64,
    },
    /// A mixture of independent answers.
    BernoulliMixture {
        /// The smallest probability of an answer.
        floor: f64,
    },
}

impl ModelKind {
    /// The names of all kinds.
    pub const NAMES: [&'static str; 7] = [
        "lda",
        "hdp",
        "ica",
        "gaussian-mixture",
        "poisson-mixture",
        "multinomial-mixture",
        "bernoulli-mixture",
    ];

    /// Its name for users.
    pub fn name(&self) -> &'static str {
        match self {
            Self::Lda => "lda",
            Self::Hdp(_) => "hdp",
            Self::Ica { .. } => "ica",
            Self::GaussianMixture { .. } => "gaussian-mixture",
            Self::PoissonMixture { .. } => "poisson-mixture",
            Self::MultinomialMixture { .. } => "multinomial-mixture",
            Self::BernoulliMixture { .. } => "bernoulli-mixture",
        }
    }

    /// Whether it is a model of documents and their topics; all others are models of rows of numbers.
    pub fn has_topics(&self) -> bool {
        matches!(self, Self::Lda | Self::Hdp(_))
    }

    /// What is decided about an open number of topics, if it is open.
    pub fn hdp(&self) -> Option<HdpSettings> {
        if let Self::Hdp(hdp) = self { Some(*hdp) } else { None }
    }

    /// Which numbers a model of rows is for.
    pub fn domain(&self) -> Domain {
        match self {
            Self::Ica { .. } | Self::GaussianMixture { .. } => Domain::Real,
            Self::BernoulliMixture { .. } => Domain::Binary,
            _ => Domain::Counts,
        }
    }

    /// What its latent part is called: a share of each topic or component, or a value of each source.
    pub fn latent(&self) -> &'static str {
        if matches!(self, Self::Ica { .. }) { "sources" } else { "theta" }
    }

    /// The recommended settings of the method of that name, for this kind of model and of input.
    pub fn recommended(&self, method: &str, mode: Mode) -> Result<Method> {
        match self {
            Self::Lda => Method::recommended(method, mode),
            Self::Hdp(_) => Method::recommended_for_hdp(method),
            Self::Ica { .. } => online_em(method),
            _ => online_em(method).map(|_| Method::MIXTURE_G_OEM),
        }
    }
}

/// Online EM as published, which is what models of numbers are learnt by.
fn online_em(name: &str) -> Result<Method> {
    let method = Method::published(name)?;
    if method == Method::G_OEM || method == Method::G_OEM_PLUS {
        return Ok(method);
    }
    let problem = format!("`{name}` is a method for topics");
    Err(Error::setting("method", problem, "use g-oem or g-oem++"))
}

/// Everything that decides what is learnt, apart from the data.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Settings {
    /// The kind of model.
    pub model: ModelKind,
    /// Name of the method that `method` was made from.
    pub name: String,
    /// Whether it was meant for a file or for a stream.
    #[serde(default)]
    pub mode: Mode,
    /// How to learn. Models of numbers use the parts of it that are not about topics.
    pub method: Method,
    /// Number of topics, components or sources; the number at the start if it is open.
    pub components: usize,
    /// Number of words of the vocabulary, or of columns.
    pub features: usize,
    /// Documents or rows in a full minibatch.
    pub batch: BatchSize,
    /// Seed of all random streams.
    pub seed: Seed,
    /// Words that pull the first topics, by number.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub seeds: Vec<Vec<u32>>,
    /// Whether documents are scored before they are learnt from; for streams, if it is not decided.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub prequential: Option<bool>,
    /// Whether the memory becomes shorter for a while where the stream has changed.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub adapt: bool,
}

impl Settings {
    /// A topic model with the recommended settings for files. The size of the vocabulary is still to be given.
    ///
    /// ```
    /// use gibbstream::learn::Settings;
    /// let settings = Settings::new(100).vocabulary(5_000).batch(200).seed(7);
    /// assert_eq!((settings.components, settings.features), (100, 5_000));
    /// assert!(settings.validate().is_ok());
    /// ```
    pub fn new(topics: usize) -> Self {
        Self {
            model: ModelKind::Lda,
            name: "g-oem".to_owned(),
            mode: Mode::File,
            method: Method::TUNED_G_OEM,
            components: topics,
            features: 0,
            batch: BatchSize::of(100),
            seed: Seed(0),
            seeds: Vec::new(),
            prequential: None,
            adapt: false,
        }
    }

    /// Any kind of model with the recommended settings for files of the method of that name.
    pub fn of(model: ModelKind, components: usize, method: &str) -> Result<Self> {
        let name = method.to_owned();
        let method = model.recommended(method, Mode::File)?;
        Ok(Self { model, name, method, ..Self::new(components) })
    }

    /// The same for another kind of input: what is as recommended for the one becomes what is recommended for the other.
    /// For models of numbers it makes no difference.
    #[must_use]
    pub fn in_mode(self, mode: Mode) -> Self {
        if mode == self.mode || !self.model.has_topics() {
            return self;
        }
        let recommended = |mode| self.model.recommended(&self.name, mode);
        let method = match (recommended(self.mode), recommended(mode)) {
            (Ok(before), Ok(after)) => self.method.moved(&before, &after),
            _ => self.method,
        };
        Self { mode, method, ..self }
    }

    /// The same with so many words.
    #[must_use]
    pub fn vocabulary(self, words: usize) -> Self {
        Self { features: words, ..self }
    }

    /// The same with so many documents or rows in a minibatch.
    #[must_use]
    pub fn batch(self, size: usize) -> Self {
        Self { batch: BatchSize::of(size), ..self }
    }

    /// Documents or rows in the next minibatch, after `seen` of them.
    pub fn minibatch_after(&self, seen: u64) -> usize {
        if self.method.whole_corpus { usize::MAX } else { self.batch.after(seen) }
    }

    /// The same with another seed.
    #[must_use]
    pub fn seed(self, seed: u64) -> Self {
        Self { seed: Seed(seed), ..self }
    }

    /// The same with another method; `name` is what users call it.
    #[must_use]
    pub fn method(self, name: &str, method: Method) -> Self {
        Self { name: name.to_owned(), method, ..self }
    }

    /// Whether documents are scored before they are learnt from.
    pub fn is_prequential(&self) -> bool {
        self.model.has_topics() && (self.adapt || self.prequential.unwrap_or(self.mode == Mode::Stream))
    }

    /// Refuses settings that make no sense, before anything is allocated.
    pub fn validate(&self) -> Result<()> {
        let refuse =
            |setting: &str, problem: String, advice: String| Err(Error::setting(setting, problem, advice));
        let (name, what) = self.number();
        if (self.components == 0 && self.model.has_topics()) || self.components > MAX_COMPONENTS {
            let problem = format!("{} is not a number of {what}", self.components);
            let advice = format!("choose a number from 1 to {MAX_COMPONENTS}, such as 100");
            return refuse(name, problem, advice);
        }
        if matches!(self.model, ModelKind::Ica { .. }) && self.components > MAX_SOURCES {
            let problem = format!("{} sources would need matrices of their square", self.components);
            return refuse(name, problem, format!("choose at most {MAX_SOURCES}"));
        }
        if self.features == 0 {
            let (name, problem) = if self.model.has_topics() {
                ("vocabulary", "there are no words")
            } else {
                ("columns", "an observation has no values")
            };
            return refuse(name, problem.into(), "check the input and its filters".into());
        }
        self.batch.validate()?;
        self.validate_seeds()?;
        if self.adapt && self.prequential == Some(false) {
            let problem = "changes are found in scores on the way, which are off";
            return refuse("adapt", problem.into(), "leave out one of {adapt} and {prequential}".into());
        }
        if self.adapt && !matches!(self.method.step, StepSize::Power { .. }) {
            let problem = "only steps that shrink can become large again";
            return refuse("adapt", problem.into(), "leave out {step}, or {adapt}".into());
        }
        match &self.model {
            ModelKind::Lda => self.method.validate(),
            ModelKind::Hdp(hdp) => {
                hdp.validate(self.components).and_then(|()| self.method.validate_for_hdp())
            }
            _ => self.validate_rows(),
        }
    }

    /// Refuses seeds for more topics than there are, and for words that there are not.
    pub fn validate_seeds(&self) -> Result<()> {
        let refuse = |problem: String, advice: &str| Err(Error::setting("seeds", problem, advice));
        if !self.seeds.is_empty() && !self.model.has_topics() {
            return refuse("a model of numbers has no words".into(), "leave them out");
        }
        if self.seeds.len() > self.components {
            let problem = format!("they name {} topics, and there are {}", self.seeds.len(), self.components);
            return refuse(problem, "ask for more topics, or name fewer");
        }
        match self.seeds.iter().flatten().find(|&&word| word as usize >= self.features) {
            Some(word) => refuse(format!("there is no word {word}"), "use words of the vocabulary"),
            None => Ok(()),
        }
    }

    fn validate_rows(&self) -> Result<()> {
        if self.method.sweeps == 0 {
            return Err(Error::setting("sweeps", "0 is not a number of sweeps", "choose 1 or more"));
        }
        if self.method.averaging.counts_words() {
            let problem = "rows of numbers have no words, whose frequencies could be reported";
            return Err(Error::setting("averaging", problem, "use none, uniform or tail=N"));
        }
        self.method.step.validate()
    }

    /// Which setting is the number of components, and what they are called.
    fn number(&self) -> (&'static str, &'static str) {
        match self.model {
            ModelKind::Lda => ("topics", "topics"),
            ModelKind::Hdp(_) => ("initial-topics", "topics"),
            _ => ("components", "components"),
        }
    }

    /// Refuses settings that cannot go on from what was learnt with `before`.
    pub fn check_continues(&self, before: &Self) -> Result<()> {
        let refuse = |name: &str, problem: String, advice: &str| Err(Error::setting(name, problem, advice));
        if self.components != before.components {
            let (name, what) = self.number();
            let has = if self.model.hdp().is_some() { "began with" } else { "has" };
            let problem = format!("the model {has} {} {what}, not {}", before.components, self.components);
            return refuse(name, problem, "leave it out, or train a new model");
        }
        let (old, new) = (&before.method, &self.method);
        if old.averaging.is_on() != new.averaging.is_on() {
            let problem =
                "a mean of parameters must be kept from the first update on, or not at all".to_owned();
            return refuse("averaging", problem, "leave it out, or train a new model");
        }
        if old.is_langevin() != new.is_langevin() {
            let problem = "Langevin moves hold topics, other methods counts; one cannot go on from the other";
            return refuse("method", problem.to_owned(), "train a new model");
        }
        Ok(())
    }
}
