//! Latent-variable models learnt from a stream, in one pass: online EM with local Gibbs sampling.
//!
//! * **To learn a model**: [`Settings`] say what to learn, a [`TrainingRun`] learns it from [`Observation`]s, and
//!   [`Snapshot`]s answer questions while it goes on. A [`Model`] is what a file holds.
//! * **To run the E-step elsewhere**: [`Online`] and [`e_step`], or any [`Learner`], with [`to_bytes`] and
//!   [`from_bytes`]; statistics merge exactly, in any order.
//! * **To bring a model of your own**: implement [`LatentModel`] and [`LocalInference`]; [`conformance`] checks them.
//!
//! ```
//! use gibbstream::{Document, Features, Settings, TrainingRun, Vocabulary};
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

#![cfg_attr(
    not(feature = "internals"),
    allow(dead_code, unused_imports, reason = "the program and the Python package use more")
)]

/// Modules that only the other crates of this project see: they turn on the feature `internals`, which promises nothing.
macro_rules! internal {
    ($($name:ident)*) => {$(
        #[cfg(feature = "internals")]
        pub mod $name;
        #[cfg(not(feature = "internals"))]
        mod $name;
    )*};
}

// In the order in which data flows: documents become minibatches, local inference estimates their expected statistics,
// the driver blends these into what the model holds, and frozen parameters are scored, saved and exported.
internal! { corpus model inference learn }

pub mod conformance;

internal! { evaluation summary explore file numerics error }

pub use corpus::{Document, Inputs, Length, Minibatch, Synthetic, Tokenizer, Truth, Vocabulary, themes};
pub use error::{Error, Result};
pub use evaluation::{Evaluation, Score, Scorer, Unigram};
pub use file::bytes::{from_bytes, to_bytes};
pub use file::{Features, Model};
pub use inference::gibbs::Gibbs;
pub use inference::{LocalInference, Passes};
pub use learn::averaging::Averaging;
pub use learn::batch_size::BatchSize;
pub use learn::method::Method;
pub use learn::online::{Online, OnlineSettings, e_step};
pub use learn::schedule::{Step, StepSize};
pub use learn::{
    AnyBatch, Event, FitOptions, Learner, ModelKind, Observation, Observer, Parameters, Settings, Snapshot,
    SnapshotReader, TrainingRun,
};
pub use model::rows::families::gaussian::Covariance;
pub use model::rows::ica::{Noise, Sources};
pub use model::rows::observations::Observations;
pub use model::topics::hdp::HdpSettings;
pub use model::topics::lda::{Lda, Topics};
pub use model::topics::statistics::TopicStatistics;
pub use model::topics::view::TopicView;
pub use model::{Batch, LatentModel, Statistics, Sums, blended};
pub use numerics::random::{Purpose, Seed, Stream};

/// The code of the guide for Rust is tested with the documentation.
#[cfg(doctest)]
#[doc = include_str!("../../../docs/rust.md")]
struct ReadMe;
