//! Latent-variable models learnt from a stream, in one pass: online EM with local Gibbs sampling.
//!
//! Modules stand in the order in which data flows: documents become minibatches, local inference estimates their
//! expected statistics, the driver blends these into what the model holds, and frozen parameters are scored, saved
//! and exported.
//!
//! ```
//! use gibbstream::corpus::{Document, Vocabulary};
//! use gibbstream::{Features, Settings, TrainingRun};
//!
//! let features = Features::Words(Vocabulary::new(["star", "planet", "butter", "flour"])?);
//! let mut run = TrainingRun::new(Settings::new(2).vocabulary(4).batch(2), features, None, 1)?;
//! for _ in 0..10 {
//!     for words in [[0, 0, 1], [2, 3, 3]] {
//!         run.push(Document::from_tokens(&words).into(), &mut ())?;
//!     }
//! }
//! let snapshot = run.snapshot()?;
//! let topics = &snapshot.parameters()?.topics()?.topics;
//! assert_eq!((topics.topics(), topics.vocabulary()), (2, 4));
//! # Ok::<(), gibbstream::Error>(())
//! ```

pub mod corpus;

pub mod model;

pub mod inference;

pub mod batch_size;

pub mod schedule;

pub mod averaging;

pub mod method;

pub mod online;

pub mod learn;

pub mod trainer;

pub mod bytes;

pub mod conformance;

pub mod evaluation;

pub mod summary;

pub mod file;

pub mod npy;

pub mod math;

mod lanes;
mod large_pages;
mod vectorised;

pub mod random;

pub mod error;

pub use error::{Error, Result};
pub use file::{Features, Model};
pub use learn::{Learner, ModelKind, Observation, Settings, Snapshot, TrainingRun};

/// The code of the README is tested with the documentation.
#[cfg(doctest)]
#[doc = include_str!("../../../README.md")]
struct ReadMe;
