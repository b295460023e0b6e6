//! Files: models and checkpoints, replaced whole or not at all.
//!
//! A model is a safetensors file with a checksum over every byte (`layout.rs`); `model.rs` knows what is in it, and
//! `version_1.rs` what was in it before. A checkpoint is a model with the state of its run (`checkpoint.rs`). Files are
//! written beside their place and renamed into it (`new_file.rs`), and never over what somebody else wrote
//! (`destination.rs`).

pub mod bytes;

pub mod npy;

pub(crate) mod new_file;

mod destination;

mod layout;

mod sealed;

mod version_1;

mod features;

mod model;

mod labels;

mod shown;

mod checkpoint;

pub use checkpoint::{Checkpoint, CheckpointFolder};
pub use destination::{Destination, Kind, claim_folder, is_of_kind};
pub use features::Features;
pub use labels::{LabelSource, TopicLabels};
pub(crate) use labels::{TopicNumbers, checked as checked_label};
pub use layout::VERSION;
pub use model::{HistoryEntry, Model, RunState};
pub use new_file::{NewFile, replace};
pub use shown::ShownWords;
pub use version_1::upgraded_request;
