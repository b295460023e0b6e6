//! Seeds: words that pull topics.
//!
//! A topic with seeds begins with half of its tokens on them, so the first documents that have these words go to it, and
//! it keeps what they bring. After that it learns as all topics do: seeds say which topic is which, not what it must be.

use crate::corpus::Vocabulary;
use crate::error::{Error, Result};
use crate::file::checked_label;
use serde::de::{MapAccess, Visitor};
use serde::{Deserialize, Deserializer};
use std::fmt::Formatter;
use std::path::Path;

/// The words of some topics, the first topic first.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Seeds {
    topics: Vec<SeededTopic>,
}

/// The words that pull one topic.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct SeededTopic {
    /// What the topic is called, if that was said.
    pub label: Option<String>,
    /// Its words.
    pub words: Vec<String>,
}

impl Seeds {
    /// Words by topic.
    pub fn new(topics: Vec<SeededTopic>) -> Self {
        Self { topics }
    }

    /// The seeds in a file: JSON (a list of lists of words, or an object of such lists by label), or a line for each topic
    /// with words between spaces or commas, and a label before a colon if there is one. Lines that are empty or begin with #
    /// say nothing.
    pub fn load(path: &Path) -> Result<Self> {
        let text = std::fs::read_to_string(path).map_err(|error| Error::io(path, "read", error))?;
        Self::parse(&text).map_err(|problem| {
            let advice = "write one line of words per topic";
            Error::setting("seeds", format!("{}: {problem}", path.display()), advice)
        })
    }

    /// The same of a text.
    pub fn parse(text: &str) -> std::result::Result<Self, String> {
        let begin = text.trim_start();
        let topics = if begin.starts_with(['[', '{']) { from_json(begin)? } else { from_lines(text) };
        for label in topics.iter().filter_map(|topic| topic.label.as_deref()) {
            checked_label(label).map_err(|refused| refused.to_string())?;
        }
        match topics.iter().position(|topic| topic.words.is_empty()) {
            Some(empty) => Err(format!("topic {empty} has no words")),
            None if topics.is_empty() => Err("it names no topic".to_owned()),
            None => Ok(Self { topics }),
        }
    }

    /// The topics, the first first.
    pub fn topics(&self) -> &[SeededTopic] {
        &self.topics
    }

    /// The numbers of the words of every topic, and the words that the vocabulary does not have.
    pub fn numbered(&self, vocabulary: &Vocabulary) -> (Vec<Vec<u32>>, Vec<String>) {
        let mut unknown = Vec::new();
        let mut number = |word: &String| {
            let id = vocabulary.id(word).or_else(|| vocabulary.id(&word.to_lowercase()));
            if id.is_none() {
                unknown.push(word.clone());
            }
            id
        };
        let numbers = |topic: &SeededTopic| {
            let mut ids: Vec<u32> = topic.words.iter().filter_map(&mut number).collect();
            ids.sort_unstable();
            ids.dedup();
            ids
        };
        (self.topics.iter().map(numbers).collect(), unknown)
    }
}

fn from_lines(text: &str) -> Vec<SeededTopic> {
    let lines = text.lines().map(str::trim).filter(|line| !line.is_empty() && !line.starts_with('#'));
    let topic = |line: &str| {
        let (label, words) = line.split_once(':').map_or((None, line), |(label, words)| (Some(label.trim()), words));
        let words = words.split(|c: char| c.is_whitespace() || c == ',').filter(|word| !word.is_empty());
        SeededTopic {
            label: label.filter(|label| !label.is_empty()).map(str::to_owned),
            words: words.map(str::to_owned).collect(),
        }
    };
    lines.map(topic).collect()
}

fn from_json(text: &str) -> std::result::Result<Vec<SeededTopic>, String> {
    let failed = |error: serde_json::Error| format!("it is not JSON of words by topic: {error}");
    if text.starts_with('[') {
        let lists: Vec<Vec<String>> = serde_json::from_str(text).map_err(failed)?;
        return Ok(lists.into_iter().map(|words| SeededTopic { label: None, words }).collect());
    }
    let InOrder(named) = serde_json::from_str(text).map_err(failed)?;
    Ok(named.into_iter().map(|(label, words)| SeededTopic { label: Some(label), words }).collect())
}

/// The lists of an object in the order in which they are written.
struct InOrder(Vec<(String, Vec<String>)>);

impl<'de> Deserialize<'de> for InOrder {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> std::result::Result<Self, D::Error> {
        struct Lists;
        impl<'de> Visitor<'de> for Lists {
            type Value = InOrder;

            fn expecting(&self, formatter: &mut Formatter<'_>) -> std::fmt::Result {
                formatter.write_str("lists of words by label")
            }

            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> std::result::Result<InOrder, A::Error> {
                let mut lists = Vec::new();
                while let Some(entry) = map.next_entry()? {
                    lists.push(entry);
                }
                Ok(InOrder(lists))
            }
        }
        deserializer.deserialize_map(Lists)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn topic(label: Option<&str>, words: &[&str]) -> SeededTopic {
        SeededTopic { label: label.map(str::to_owned), words: words.iter().map(|&word| word.to_owned()).collect() }
    }

    #[test]
    fn lines_and_json_say_the_same() {
        let expected = [topic(Some("space"), &["orbit", "nasa"]), topic(Some("law"), &["court"])];
        let lines = "# two topics\nspace: orbit, nasa\n\nlaw: court\n";
        assert_eq!(Seeds::parse(lines).unwrap().topics(), expected);
        assert_eq!(Seeds::parse(r#"{"space": ["orbit", "nasa"], "law": ["court"]}"#).unwrap().topics(), expected);
        let unnamed = [topic(None, &["orbit", "nasa"]), topic(None, &["court"])];
        assert_eq!(Seeds::parse("orbit nasa\ncourt").unwrap().topics(), unnamed);
        assert_eq!(Seeds::parse(r#"[["orbit", "nasa"], ["court"]]"#).unwrap().topics(), unnamed);
    }

    #[test]
    fn bad_seeds_are_refused() {
        for (text, problem) in [
            ("", "it names no topic"),
            ("# nothing\n", "it names no topic"),
            ("a b\nlabel:\n", "topic 1 has no words"),
            ("[[\"a\"], []]", "topic 1 has no words"),
            ("[1, 2]", "it is not JSON of words by topic"),
            ("{\"a\": 1}", "it is not JSON of words by topic"),
            ("bad\tlabel: a", "has control characters"),
        ] {
            let refused = Seeds::parse(text).unwrap_err();
            assert!(refused.contains(problem), "{refused}");
        }
    }

    #[test]
    fn words_are_numbered_and_unknown_ones_named() {
        let vocabulary = Vocabulary::new(["bank", "court", "Öl"]).unwrap();
        let seeds = Seeds::parse("Court bank court moon\nÖl").unwrap();
        assert_eq!(seeds.numbered(&vocabulary), (vec![vec![0, 1], vec![2]], vec!["moon".to_owned()]));
    }
}
