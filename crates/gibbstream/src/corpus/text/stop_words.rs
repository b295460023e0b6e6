//! Words that carry no topic.

use std::path::Path;

use rustc_hash::FxHashSet;
use serde::{Deserialize, Serialize};

use crate::corpus::bytes::lines::Lines;
use crate::corpus::bytes::source::Source;
use crate::corpus::text::tokenizer::normalise;
use crate::error::{Error, Result};

/// A set of words to drop; stored as a sorted list, so that a model needs no other file.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(from = "Vec<String>", into = "Vec<String>")]
pub struct StopWords(FxHashSet<String>);

impl StopWords {
    /// Drops nothing.
    pub fn none() -> Self {
        Self::default()
    }

    /// The English list.
    pub fn english() -> Self {
        stop_words::lookup("en").map_or_else(Self::none, Self::listed)
    }

    /// `none`, a language code such as `en`, or a file with one word a line.
    pub fn parse(choice: &str) -> Result<Self> {
        if choice == "none" {
            return Ok(Self::none());
        }
        if let Some(words) = stop_words::lookup(choice) {
            return Ok(Self::listed(words));
        }
        if !Path::new(choice).exists() {
            return Err(Error::setting(
                "stop-words",
                format!("`{choice}` is neither `none`, nor a known language code, nor a file that exists"),
                "use `en`, `none`, or the path of a file with one word a line",
            ));
        }
        let mut lines = Lines::new(Source::open(Path::new(choice))?)?;
        let mut words = Vec::new();
        while let Some(line) = lines.next_text()? {
            words.push(line.to_owned());
        }
        Ok(words.into())
    }

    /// Negations (`didn't`) are on the usual lists only because older tokenizers cut them in pieces; they say
    /// something, and are kept.
    fn listed(words: &[&str]) -> Self {
        words
            .iter()
            .filter(|word| !word.ends_with("n't"))
            .map(|&word| word.to_owned())
            .collect::<Vec<_>>()
            .into()
    }

    /// Whether `word`, in lower case, is one of them.
    #[inline]
    pub fn contains(&self, word: &str) -> bool {
        !self.0.is_empty() && self.0.contains(word)
    }
}

impl From<Vec<String>> for StopWords {
    fn from(words: Vec<String>) -> Self {
        let normal = |word: String| {
            let mut normal = String::new();
            normalise(&word.trim().to_lowercase(), &mut normal);
            normal
        };
        Self(words.into_iter().map(normal).filter(|word| !word.is_empty()).collect())
    }
}

impl From<StopWords> for Vec<String> {
    fn from(words: StopWords) -> Self {
        let mut words: Self = words.0.into_iter().collect();
        words.sort_unstable();
        words
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn choices_are_none_a_language_or_a_file() {
        assert!(!StopWords::parse("none").unwrap().contains("the"));
        let english = StopWords::parse("en").unwrap();
        assert!(english.contains("the") && english.contains("it's") && !english.contains("didn't"));
        assert!(StopWords::parse("fr").unwrap().contains("avec"));
        let file = tempfile::NamedTempFile::new().unwrap();
        std::fs::write(file.path(), "Foo\r\n\ncan\u{2019}t \n").unwrap();
        let own = StopWords::parse(file.path().to_str().unwrap()).unwrap();
        assert_eq!(Vec::from(own), ["can't", "foo"]);
        assert_eq!(
            StopWords::parse("klingon.txt").unwrap_err().to_string(),
            "stop-words: `klingon.txt` is neither `none`, nor a known language code, nor a file that exists; \
             use `en`, `none`, or the path of a file with one word a line"
        );
    }
}
