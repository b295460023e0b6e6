//! From settings to something that learns, and what is known of it at any moment.
//!
//! [`Settings`] become a [`Learner`] in `build.rs`, where names become types, once. What a learner has learnt can be put
//! to rest ([`Fitted`]), asked ([`Parameters`]), and gone on from. A [`TrainingRun`] is a learner with everything around
//! it: it reads ahead and cuts a stream into minibatches, evaluates, writes checkpoints, tells an [`Observer`] what
//! happens, and publishes [`Snapshot`]s that others use meanwhile.

// What is learnt from, and what comes out.
pub mod batch_size;

pub mod schedule;

pub mod averaging;

pub mod method;

mod mode;

pub mod online;

pub mod trainer;

mod batch;

mod arrays;

mod parameters;

// What can be chosen.
mod settings;

mod seeds;

pub mod knobs;

mod knob_table;
mod parts;
mod written;

// Learning.
mod learner;

mod build;

mod blocks;

mod self_test;

// A run.
mod cost;

mod read_ahead;

mod minibatches;

mod held_out;

mod trace;

pub mod prequential;

mod checkpoints;

mod observer;

mod stop;

mod snapshot;

mod training_run;

// Models of models.
pub mod merging;

pub use arrays::{Array, Scalar, Stored, Values};
pub use batch::{AnyBatch, Observation};
pub use blocks::{BlockWorker, block, pack, unpack};
pub use checkpoints::{CheckpointEvery, Checkpoints};
pub use cost::Cost;
pub use held_out::{Evaluated, HeldOut};
pub use learner::{Baseline, Fitted, FittedModel, Gathered, Learner, LearnerModel, OnlineLearner};
pub use minibatches::{
    CutMinibatch, MinibatchPlan, Minibatches, ObservationStream, Part, SharedVocabulary, StreamPosition,
    observations,
};
pub use mode::Mode;
pub use observer::{Event, Observer};
pub use parameters::{AnyScore, Diagnostics, Parameters, Predictor, RowParameters, TopicParameters};
pub use prequential::{Prequential, PrequentialReport};
pub use read_ahead::ReadAhead;
pub use seeds::{SeededTopic, Seeds};
pub use settings::{MAX_COMPONENTS, ModelKind, Settings};
pub use self_test::self_test;
pub use snapshot::{Snapshot, SnapshotReader};
pub use stop::Stop;
pub use trace::{Moment, Trace, TracedScore};
pub use training_run::{Ended, FitOptions, TrainingRun};
