//! From settings to something that learns: names become types here, once.

pub mod knobs;

mod knob_table;
mod parts;
mod settings;
mod written;

pub use settings::{MAX_COMPONENTS, ModelKind, Settings};
