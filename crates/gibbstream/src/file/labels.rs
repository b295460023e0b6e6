//! What topics are called: kept in the file of a model, beside what was learnt, so that learning on keeps it.

use super::model::Model;
use crate::error::{Error, Result};
use crate::explore::report::Label;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// Characters that a label has at most.
const LONGEST: usize = 200;

/// What the topics of a model are called, by the number that a topic keeps: its place, or, where the number of topics is
/// open and places change, its number in the order of creation.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct TopicLabels {
    /// What people have written.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    set: BTreeMap<u64, Label>,
    /// Names that were made from words; what people have written wins over them.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    made: BTreeMap<u64, String>,
}

/// Who gave a topic its name.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum LabelSource {
    /// Somebody.
    User,
    /// The program, from the words of the topic.
    Auto,
}

impl TopicLabels {
    /// Whether nothing has a name.
    pub fn is_empty(&self) -> bool {
        self.set.is_empty() && self.made.is_empty()
    }
}

/// The topics of a model, by their places: the number that each of them keeps.
pub(crate) struct TopicNumbers(Vec<u64>);

impl TopicNumbers {
    /// Those of a model.
    pub(crate) fn of(model: &Model) -> Self {
        let created = model.topic_state().and_then(|state| state.sticks.as_ref()).map(|sticks| sticks.ids.clone());
        let places = if model.settings.model.has_topics() { model.components() } else { 0 };
        Self(created.unwrap_or_else(|| (0..places as u64).collect()))
    }

    fn number(&self, place: u32) -> Result<u64> {
        self.0.get(place as usize).copied().ok_or_else(|| {
            let last = match self.0.len() {
                0 => "has no topics".to_owned(),
                topics => format!("has topics 0 to {}", topics - 1),
            };
            let problem = format!("there is a label for topic {place}, but the model {last}");
            Error::setting("labels", problem, "use the labels of this model")
        })
    }

    fn place(&self, number: u64) -> Option<u32> {
        self.0.iter().position(|&known| known == number).map(|place| place as u32)
    }
}

impl TopicLabels {
    /// Adds what people have written, by the place of the topic. It replaces what was written about the same topic; an
    /// empty label takes it back.
    pub(crate) fn set(&mut self, numbers: &TopicNumbers, labels: &BTreeMap<u32, Label>) -> Result<()> {
        let mut all = self.set.clone();
        for (&place, label) in labels {
            let number = numbers.number(place)?;
            let mut label = Label { label: label.label.as_deref().map(checked).transpose()?.flatten(), ..label.clone() };
            if let Some(into) = label.merged_into {
                if into == place {
                    let problem = format!("topic {place} is to be shown as part of itself");
                    return Err(Error::setting("labels", problem, "name another topic in merged_into"));
                }
                label.merged_into = Some(numbers.number(into)? as u32);
            }
            if label == Label::default() {
                all.remove(&number);
            } else {
                all.insert(number, label);
            }
        }
        self.set = all;
        Ok(())
    }

    /// Replaces the names that were made.
    pub(crate) fn make(&mut self, numbers: &TopicNumbers, names: &[String]) {
        self.made = numbers.0.iter().copied().zip(names.iter().cloned()).collect();
    }

    /// What people have written about the topics that there are, by place.
    pub(crate) fn by_place(&self, numbers: &TopicNumbers) -> BTreeMap<u32, Label> {
        let placed = |(&number, label): (&u64, &Label)| {
            let merged_into = label.merged_into.and_then(|into| numbers.place(u64::from(into)));
            Some((numbers.place(number)?, Label { merged_into, ..label.clone() }))
        };
        self.set.iter().filter_map(placed).collect()
    }

    /// The name of every topic that has one.
    pub(crate) fn names(&self, numbers: &TopicNumbers) -> Vec<Option<(String, LabelSource)>> {
        let name = |number: &u64| {
            let set = self.set.get(number).and_then(|label| label.label.clone());
            let made = || self.made.get(number).map(|name| (name.clone(), LabelSource::Auto));
            set.map(|name| (name, LabelSource::User)).or_else(made)
        };
        numbers.0.iter().map(name).collect()
    }
}

/// A label as it is kept: one line without space around it; nothing if there is nothing in it.
pub(crate) fn checked(label: &str) -> Result<Option<String>> {
    let text = label.trim();
    let refuse = |problem: String, advice: &str| Err(Error::setting("labels", problem, advice));
    if text.chars().any(char::is_control) {
        return refuse(format!("{text:?} has control characters"), "write a label on one line of plain text");
    }
    let length = text.chars().count();
    if length > LONGEST {
        let start: String = text.chars().take(30).collect();
        return refuse(format!("`{start}...` has {length} characters"), "use at most 200, and a note for more");
    }
    Ok(Some(text).filter(|text| !text.is_empty()).map(str::to_owned))
}

/// What its topics are called.
impl Model {
    /// What people have written about topics, by topic.
    pub fn labels(&self) -> BTreeMap<u32, Label> {
        self.labels.by_place(&TopicNumbers::of(self))
    }

    /// The name of each topic that has one, and who gave it.
    pub fn topic_names(&self) -> Vec<Option<(String, LabelSource)>> {
        self.labels.names(&TopicNumbers::of(self))
    }

    /// Adds what people have written, by topic. It replaces what was written about the same topic; an empty label takes it
    /// back. The hash of the model stays as it is.
    pub fn set_labels(&mut self, labels: &BTreeMap<u32, Label>) -> Result<()> {
        let numbers = TopicNumbers::of(self);
        self.labels.set(&numbers, labels)
    }

    /// Keeps names for all topics that were made from their words; those that people have written win over them.
    pub fn make_labels(&mut self, names: &[String]) {
        let numbers = TopicNumbers::of(self);
        self.labels.make(&numbers, names);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn label(text: &str) -> Label {
        Label { label: Some(text.to_owned()), ..Label::default() }
    }

    fn one(place: u32, label: Label) -> BTreeMap<u32, Label> {
        BTreeMap::from([(place, label)])
    }

    #[test]
    fn labels_of_people_win_and_can_be_taken_back() {
        let (mut labels, numbers) = (TopicLabels::default(), TopicNumbers(vec![0, 1, 2]));
        labels.set(&numbers, &one(1, label("  court cases "))).unwrap();
        labels.make(&numbers, &["a, b".into(), "c, d".into(), "e, f".into()]);
        let name = |text: &str, by| Some((text.to_owned(), by));
        let expected = [
            name("a, b", LabelSource::Auto),
            name("court cases", LabelSource::User),
            name("e, f", LabelSource::Auto),
        ];
        assert_eq!(labels.names(&numbers), expected);
        labels.set(&numbers, &one(1, label(" "))).unwrap();
        assert_eq!(labels.names(&numbers)[1], name("c, d", LabelSource::Auto));
        assert!(labels.by_place(&numbers).is_empty());
        let read: TopicLabels = serde_json::from_str(&serde_json::to_string(&labels).unwrap()).unwrap();
        assert_eq!(read, labels);
    }

    /// Where topics are born and die, they move; a label stays with its topic.
    #[test]
    fn labels_follow_the_topics_of_an_open_number() {
        let mut labels = TopicLabels::default();
        let before = TopicNumbers(vec![0, 4, 7]);
        labels.set(&before, &one(2, label("seven"))).unwrap();
        labels.set(&before, &one(1, Label { merged_into: Some(2), ..label("four") })).unwrap();
        let after = TopicNumbers(vec![7, 9, 4]);
        let found = labels.by_place(&after);
        assert_eq!(found.keys().copied().collect::<Vec<_>>(), [0, 2]);
        assert_eq!((found[&0].label.as_deref(), found[&2].merged_into), (Some("seven"), Some(0)));
        assert!(labels.by_place(&TopicNumbers(vec![1])).is_empty(), "the topics are gone");
    }

    #[test]
    fn bad_labels_are_refused_and_change_nothing() {
        let (mut labels, numbers) = (TopicLabels::default(), TopicNumbers(vec![0, 1]));
        for (place, bad, problem) in [
            (2, label("x"), "labels: there is a label for topic 2, but the model has topics 0 to 1"),
            (0, label("a\nb"), "has control characters"),
            (0, label(&"x".repeat(201)), "has 201 characters"),
            (0, Label { merged_into: Some(0), ..Label::default() }, "topic 0 is to be shown as part of itself"),
            (0, Label { merged_into: Some(9), ..Label::default() }, "topic 9"),
        ] {
            let refused = labels.set(&numbers, &one(place, bad)).unwrap_err().to_string();
            assert!(refused.contains(problem), "{refused}");
            assert!(labels.is_empty());
        }
    }
}
