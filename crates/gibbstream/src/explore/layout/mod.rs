//! How topics lie to each other: distances, a map, a hierarchy.

mod distances;
mod linkage;
mod scaling;

pub(crate) use distances::{sum_of_x_log_x, MOST_TOPICS, TopicDistances};
pub(crate) use linkage::linkage;
pub(crate) use scaling::scale;
