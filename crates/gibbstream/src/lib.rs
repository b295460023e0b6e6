//! Latent-variable models learnt from a stream, in one pass: online EM with local Gibbs sampling.
//!
//! Modules stand in the order in which data flows: documents become minibatches, local inference estimates their
//! expected statistics, the driver blends these into what the model holds, and frozen parameters are scored, saved
//! and exported.
//!
//! ```
//! use gibbstream::corpus::{Document, Minibatch};
//! use gibbstream::learn::Settings;
//! use gibbstream::trainer::Trainer;
//!
//! let documents = [Document::from_tokens(&[0, 0, 1]), Document::from_tokens(&[2, 3, 3])];
//! let mut trainer = Trainer::new(Settings::new(2).vocabulary(4).batch(2), 1)?;
//! for update in 0..10 {
//!     trainer.partial_fit(&Minibatch::new(&documents, 2 * update, 0))?;
//! }
//! let topics = trainer.topics().expect("something was learnt");
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

pub mod dense;

pub mod conformance;

pub mod evaluation;

pub mod summary;

pub mod model_file;

mod file;

pub mod checkpoint;

pub mod npy;

mod new_file;

pub mod math;

mod lanes;
mod large_pages;
mod vectorised;

pub mod random;

pub mod error;

pub use error::{Error, Result};

/// The code of the README is tested with the documentation.
#[cfg(doctest)]
#[doc = include_str!("../../../README.md")]
struct ReadMe;
