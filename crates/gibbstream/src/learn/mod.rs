//! From settings to something that learns: names become types here, once.

mod settings;

pub use settings::{MAX_COMPONENTS, ModelKind, Settings};
