//! What people write about topics: the file that the page exports and `report --labels` reads.

use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// The name of the format.
pub const LABELS_SCHEMA: &str = "gibbstream/labels/1";

/// Labels with the model that they belong to.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct Labels {
    /// Always `gibbstream/labels/1`.
    pub schema: String,
    /// Hash of the model.
    pub model_hash: String,
    /// What is written about topics, by topic id.
    pub topics: BTreeMap<u32, Label>,
}

impl Labels {
    /// The labels in a file, or what is wrong with it.
    pub fn parse(text: &str) -> Result<Self, String> {
        let labels: Self = serde_json::from_str(text).map_err(|error| error.to_string())?;
        if labels.schema == LABELS_SCHEMA {
            Ok(labels)
        } else {
            Err(format!("its schema is `{}`, not `{LABELS_SCHEMA}`", labels.schema))
        }
    }

    /// What they say about the topics of the model with this hash; if they are for another one, only when `force` is true.
    pub fn of_model(self, hash: &str, force: bool) -> Result<BTreeMap<u32, Label>, String> {
        if self.model_hash == hash || force {
            Ok(self.topics)
        } else {
            Err(format!("its labels are for the model {}, and this one is {hash}", self.model_hash))
        }
    }
}

/// What somebody has written about a topic.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct Label {
    /// The name.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub label: Option<String>,
    /// A note.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub note: Option<String>,
    /// Whether the topic is hidden.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub hidden: bool,
    /// The topic as part of which it is shown.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub merged_into: Option<u32>,
}
