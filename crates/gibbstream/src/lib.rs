//! Latent-variable models learnt from a stream, in one pass: online EM with local Gibbs sampling.

pub mod corpus;

pub mod model;

pub mod inference;

pub mod schedule;

pub mod averaging;

pub mod method;

pub mod online;

pub mod trainer;

pub mod evaluation;

pub mod model_file;

pub mod npy;

mod new_file;

pub mod math;

mod vectorised;

pub mod random;

pub mod error;

pub use error::{Error, Result};
