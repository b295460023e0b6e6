//! Topics over time and by group.

pub(crate) mod calendar;
pub(crate) mod groups;
pub(crate) mod moments;
pub(crate) mod timeline;
pub(crate) mod trends;
