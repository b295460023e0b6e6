//! Models of rows of numbers, from settings to something that learns, predicts and can be saved.
//!
//! Each model is learnt by the one driver; this module only hides its types, as `trainer.rs` does for topic models.

mod file;

mod ica;

mod mixtures;

mod score;

mod trainer;

pub use file::{DENSE_FORMAT, DenseModel, is_dense};
pub use score::{DenseScore, Scoring, stream_of};
pub use trainer::DenseTrainer;

use crate::averaging::Averaging;
use crate::error::{Error, Result};
use crate::evaluation::Estimate;
use crate::evaluation::annealed::Annealed;
use crate::inference::gibbs::Window;
use crate::model::LatentModel;
use crate::model::gaussian_mixture::Covariance;
use crate::model::ica::{Noise, SourceShape, Sources};
use crate::model::mixture::Family;
use crate::model::observations::Domain;
use crate::random::{Seed, Stream};
use crate::schedule::StepSize;
use serde::{Deserialize, Serialize};

/// The kinds of models, with what is particular to each.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub enum Kind {
    /// Independent components with heavy tails, mixed and heard through noise.
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

impl Kind {
    /// The name on the command line.
    pub fn name(&self) -> &'static str {
        match self {
            Self::Ica { .. } => "ica",
            Self::GaussianMixture { .. } => "gaussian-mixture",
            Self::PoissonMixture { .. } => "poisson-mixture",
            Self::MultinomialMixture { .. } => "multinomial-mixture",
            Self::BernoulliMixture { .. } => "bernoulli-mixture",
        }
    }

    /// Which numbers it is for.
    pub fn domain(&self) -> Domain {
        match self {
            Self::Ica { .. } | Self::GaussianMixture { .. } => Domain::Real,
            Self::PoissonMixture { .. } | Self::MultinomialMixture { .. } => Domain::Counts,
            Self::BernoulliMixture { .. } => Domain::Binary,
        }
    }

    /// What its hidden part is called: a share of each component, or a value of each source.
    pub fn hidden(&self) -> &'static str {
        if matches!(self, Self::Ica { .. }) { "sources" } else { "theta" }
    }
}

/// Everything that decides what is learnt, apart from the observations.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct DenseSettings {
    /// The model.
    pub model: Kind,
    /// Name of the method.
    pub name: String,
    /// Number of components or sources.
    pub components: usize,
    /// Number of values of an observation.
    pub dimension: usize,
    /// Observations in a full minibatch.
    pub batch: usize,
    /// Weight of each minibatch.
    pub step: StepSize,
    /// Which parameters are reported.
    pub averaging: Averaging,
    /// Whether parameters are refreshed after every local pass.
    pub boost: bool,
    /// Sweeps over an observation, for models that sample.
    pub sweeps: usize,
    /// Which of them are kept.
    pub window: Window,
    /// Seed of all random streams.
    pub seed: Seed,
}

impl DenseSettings {
    /// Refuses settings that make no sense.
    pub fn validate(&self) -> Result<()> {
        let refuse =
            |setting: &str, problem: String, advice: &str| Err(Error::setting(setting, problem, advice));
        if self.batch == 0 {
            return refuse("batch", "a minibatch has at least one observation".into(), "choose 1 or more");
        }
        if self.sweeps == 0 {
            return refuse("sweeps", "0 sweeps find nothing out".into(), "choose 1 or more");
        }
        let most = 4096;
        if matches!(self.model, Kind::Ica { .. }) && self.components > most {
            let problem = format!("{} sources would need matrices of their square", self.components);
            return refuse("components", problem, &format!("choose at most {most}"));
        }
        if self.components > crate::trainer::MAX_TOPICS {
            let problem = format!("{} is not a number of components", self.components);
            return refuse("components", problem, "choose fewer");
        }
        if self.averaging == Averaging::Frequencies {
            let problem = "rows of numbers have no words, whose frequencies could be reported";
            return refuse("averaging", problem.to_owned(), "use none, uniform or tail=N");
        }
        self.step.validate()
    }
}

/// An array of a state, under the name that it has in files.
#[derive(Clone, Debug, PartialEq)]
pub struct Array {
    /// Its name.
    pub name: &'static str,
    /// Its sides.
    pub shape: Vec<usize>,
    /// Its values, the last index fastest.
    pub values: Vec<f64>,
}

impl Array {
    fn new(name: &'static str, shape: &[usize], values: &[f64]) -> Self {
        Self { name, shape: shape.to_vec(), values: values.to_vec() }
    }

    fn one(name: &'static str, value: f64) -> Self {
        Self::new(name, &[1], &[value])
    }
}

/// Where the arrays of a state come from.
type Arrays<'a> = dyn Fn(&str, &[usize]) -> Result<Vec<f64>, String> + 'a;

/// What a model of rows of numbers supplies beside learning.
trait Dense: LatentModel + 'static {
    /// The family one member of which is the model's baseline.
    type Baseline: Family;

    /// Number of values of an observation.
    fn dimension(&self) -> usize;

    /// The baseline's family, and its name.
    fn baseline(&self) -> (Self::Baseline, &'static str);

    /// A minibatch of rows.
    fn batch(&self, rows: Vec<f64>, first: u64, pass: u64) -> Result<Self::Batch>;

    /// A state as arrays.
    fn arrays(&self, state: &Self::State) -> Vec<Array>;

    /// The state of arrays.
    fn restore(&self, arrays: &Arrays<'_>) -> Result<Self::State, String>;

    /// The reported parameters, under the names that they have when exported.
    fn reported(&self, state: &Self::State) -> Vec<Array>;

    /// The parameters of a state, ready to be asked.
    fn predictor(&self, state: &Self::State) -> Box<dyn Predictor>;

    /// What is worth knowing about the components.
    fn diagnostics(&self, state: &Self::State) -> Diagnostics;
}

/// Frozen parameters.
pub trait Predictor: Send + Sync {
    /// How likelihoods are found: `exact`, or `ais`.
    fn estimator(&self) -> &'static str;

    /// `log p(x)`.
    fn log_likelihood(&self, x: &[f64], effort: Annealed, random: Stream) -> Estimate;

    /// The hidden part of an observation: its mean, and its spread where it is not a label.
    fn hidden(&self, x: &[f64], sweeps: usize, random: Stream) -> (Vec<f64>, Option<Vec<f64>>);
}

/// What is worth knowing about components or sources, one by one.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct Diagnostics {
    /// Probability of each component of a mixture.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub weights: Vec<f64>,
    /// What the data say about the law of each source.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub sources: Vec<SourceShape>,
    /// Things to be careful about, as sentences.
    pub warnings: Vec<String>,
}
