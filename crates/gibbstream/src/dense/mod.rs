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

use crate::error::Result;
use crate::evaluation::Estimate;
use crate::evaluation::annealed::Annealed;
use crate::model::LatentModel;
use crate::model::ica::SourceShape;
use crate::model::mixture::Family;
use crate::random::Stream;
use serde::Serialize;

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
