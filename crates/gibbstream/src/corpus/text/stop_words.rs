//! Words that carry no topic.

use std::path::Path;

use rustc_hash::FxHashSet;
use serde::{Deserialize, Serialize};

use crate::corpus::bytes::lines::Lines;
use crate::corpus::bytes::source::Source;
use crate::corpus::text::english;
use crate::corpus::text::language::Language;
use crate::corpus::text::tokenizer::straightened;
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

    /// The English list: the usual one, and what else says nothing in prose.
    pub fn english() -> Self {
        Self::of_language("en").unwrap_or_default()
    }

    /// The list of a language, by its code such as `en`, if there is one.
    pub fn of_language(code: &str) -> Option<Self> {
        let usual = stop_words::lookup(code)?.iter().copied();
        // Negations (`didn't`) are on the usual lists only because older tokenizers cut them in pieces; they say
        // something, and are kept.
        let usual = usual.filter(|word| !word.ends_with("n't"));
        if code != "en" {
            return Some(usual.map(str::to_owned).collect::<Vec<_>>().into());
        }
        let usual = usual.filter(|word| !english::NOT_STOP_WORDS.contains(word));
        let others = english::WORDS.iter().flat_map(|words| words.split_whitespace());
        Some(usual.chain(others).map(str::to_owned).collect::<Vec<_>>().into())
    }

    /// `none`, a language code such as `en`, or a file with one word per line.
    pub fn parse(choice: &str) -> Result<Self> {
        if choice == "none" {
            return Ok(Self::none());
        }
        let code = Language::parse(choice).ok().and_then(|language| language.code().map(str::to_owned));
        if let Some(words) = code.as_deref().and_then(Self::of_language) {
            return Ok(words);
        }
        if !Path::new(choice).exists() {
            return Err(Error::setting(
                "stop-words",
                format!("`{choice}` is neither `none`, nor a known language code, nor a file that exists"),
                "use `auto`, a code such as `en`, `none`, or the path of a file with one word per line",
            ));
        }
        let mut lines = Lines::new(Source::open(Path::new(choice))?)?;
        let mut words = Vec::new();
        while let Some(line) = lines.next_text()? {
            words.push(line.to_owned());
        }
        Ok(words.into())
    }

    /// How many there are.
    pub fn len(&self) -> usize {
        self.0.len()
    }

    /// Whether nothing is dropped.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Whether `word`, in lower case, is one of them.
    #[inline]
    pub fn contains(&self, word: &str) -> bool {
        !self.0.is_empty() && self.0.contains(word)
    }
}

impl From<Vec<String>> for StopWords {
    fn from(words: Vec<String>) -> Self {
        let normal = |word: String| straightened(&word.trim().to_lowercase());
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
        assert!(["would", "said", "one", "that's", "im"].iter().all(|word| english.contains(word)));
        assert!(["won", "new", "people", "time", "system"].iter().all(|word| !english.contains(word)));
        assert!(StopWords::parse("fr").unwrap().contains("avec"));
        assert!(StopWords::parse("english").unwrap() == english && StopWords::parse("ja").unwrap().contains("です"));
        let file = tempfile::NamedTempFile::new().unwrap();
        std::fs::write(file.path(), "Foo\r\n\ncan\u{2019}t \n").unwrap();
        let own = StopWords::parse(file.path().to_str().unwrap()).unwrap();
        assert_eq!(Vec::from(own), ["can't", "foo"]);
        assert_eq!(
            StopWords::parse("klingon.txt").unwrap_err().to_string(),
            "stop-words: `klingon.txt` is neither `none`, nor a known language code, nor a file that exists; \
             use `auto`, a code such as `en`, `none`, or the path of a file with one word per line"
        );
    }
}
