//! Forms of one word taken for one word: ships and shipping are ship, by the stemmers of Snowball.
//!
//! Stems are hard to read (`universiti`, `anim`), so a stem is written as its most frequent form in the corpus. Where words enter
//! a vocabulary as they come, nobody knows that form yet, and the stem itself is the word.

use rustc_hash::{FxHashMap, FxHashSet};
use serde::{Deserialize, Serialize};
use snowball_stemmers_rs::{Algorithm, Stemmer};

use crate::corpus::text::language::Language;
use crate::corpus::text::vocabulary::Vocabulary;
use crate::error::{Error, Result};

/// Languages that have a stemmer, by their codes. Those of Persian, Sesotho and Ukrainian are not in Snowball 3.0 or differ from it.
const STEMMERS: [(&str, Algorithm); 32] = [
    ("ar", Algorithm::Arabic), ("ca", Algorithm::Catalan), ("cs", Algorithm::Czech), ("da", Algorithm::Danish),
    ("de", Algorithm::German), ("el", Algorithm::Greek), ("en", Algorithm::English), ("eo", Algorithm::Esperanto),
    ("es", Algorithm::Spanish), ("et", Algorithm::Estonian), ("eu", Algorithm::Basque),
    ("fi", Algorithm::Finnish), ("fr", Algorithm::French), ("ga", Algorithm::Irish), ("hi", Algorithm::Hindi),
    ("hu", Algorithm::Hungarian), ("hy", Algorithm::Armenian), ("id", Algorithm::Indonesian), ("it", Algorithm::Italian),
    ("lt", Algorithm::Lithuanian), ("ne", Algorithm::Nepali), ("nl", Algorithm::Dutch), ("no", Algorithm::Norwegian),
    ("pl", Algorithm::Polish), ("pt", Algorithm::Portuguese), ("ro", Algorithm::Romanian), ("ru", Algorithm::Russian),
    ("sr", Algorithm::Serbian), ("sv", Algorithm::Swedish), ("ta", Algorithm::Tamil),
    ("tr", Algorithm::Turkish), ("yi", Algorithm::Yiddish),
];

/// The stems of a language, and the form that each is written as.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(try_from = "Stored", into = "Stored")]
pub struct Stems {
    algorithm: Algorithm,
    /// The form of each stem; `None` if stems are written as they are.
    forms: Option<FxHashMap<String, String>>,
}

/// As models keep it: the stem of a form is found again.
#[derive(Clone, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Stored {
    language: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    forms: Option<Vec<String>>,
}

impl Stems {
    /// Those of a language, by its code or name. Stems are written as they are.
    pub fn of_language(choice: &str) -> Result<Self> {
        let wanted = Language::parse(choice).ok();
        let code = wanted.as_ref().and_then(Language::code);
        let Some(&(_, algorithm)) = STEMMERS.iter().find(|(known, _)| Some(*known) == code) else {
            let known: Vec<&str> = STEMMERS.iter().map(|(code, _)| *code).collect();
            let problem = format!("there is no stemmer for `{choice}`");
            return Err(Error::setting("stem", problem, format!("use one of {}, or leave it out", known.join(", "))));
        };
        Ok(Self { algorithm, forms: None })
    }

    /// The code of the language.
    pub fn language(&self) -> &'static str {
        STEMMERS.iter().find(|(_, known)| *known == self.algorithm).map_or("unknown", |(code, _)| *code)
    }

    /// Whether stems are still written as they are.
    pub fn lacks_forms(&self) -> bool {
        self.forms.is_none()
    }

    /// The same, written as the first of these words that has the stem.
    #[must_use]
    pub fn written_as<'a>(&self, words: impl IntoIterator<Item = &'a str>) -> Self {
        let mut forms = FxHashMap::default();
        for word in words {
            forms.entry(self.stem(word)).or_insert_with(|| word.to_owned());
        }
        Self { forms: Some(forms), ..self.clone() }
    }

    /// The same without forms that a vocabulary has neither as words nor in phrases.
    #[must_use]
    pub fn within(&self, vocabulary: &Vocabulary) -> Self {
        let parts = |word| std::iter::once(word).chain(str::split(word, '_'));
        let used: FxHashSet<&str> = vocabulary.words().flat_map(parts).collect();
        let mut stems = self.clone();
        if let Some(forms) = &mut stems.forms {
            forms.retain(|_, form| used.contains(form.as_str()));
        }
        stems
    }

    /// Turns a word into what stands for all of its forms. A word whose stem has no form stays as it is: it is no form of any
    /// other stem, so it cannot be mistaken for a word that is known.
    pub(crate) fn fold(&self, word: &mut String) {
        let stem = self.stem(word);
        match &self.forms {
            None => *word = stem,
            Some(forms) => {
                if let Some(form) = forms.get(&stem) {
                    word.clone_from(form);
                }
            }
        }
    }

    fn stem(&self, word: &str) -> String {
        let stem = Stemmer::create(self.algorithm).stem(word);
        if stem.is_empty() { word.to_owned() } else { stem.into_owned() }
    }
}

impl TryFrom<Stored> for Stems {
    type Error = Error;

    fn try_from(stored: Stored) -> Result<Self> {
        let stems = Self::of_language(&stored.language)?;
        Ok(match stored.forms {
            None => stems,
            Some(forms) => stems.written_as(forms.iter().map(String::as_str)),
        })
    }
}

impl From<Stems> for Stored {
    fn from(stems: Stems) -> Self {
        let sorted = |forms: FxHashMap<String, String>| {
            let mut forms: Vec<String> = forms.into_values().collect();
            forms.sort_unstable();
            forms
        };
        Self { language: stems.language().to_owned(), forms: stems.forms.map(sorted) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn folded(stems: &Stems, word: &str) -> String {
        let mut word = word.to_owned();
        stems.fold(&mut word);
        word
    }

    /// As Snowball 3.0 has them. Models depend on these: another version of the library must not change them unseen.
    #[test]
    fn stems_are_those_of_snowball() {
        for (code, pairs) in [
            ("en", &[("ships", "ship"), ("shipping", "ship"), ("universities", "universiti"), ("didn't", "didn't")][..]),
            ("de", &[("häuser", "haus"), ("schiffe", "schiff"), ("verließ", "verliess")]),
            ("fr", &[("continuellement", "continuel"), ("chevaux", "cheval")]),
            ("es", &[("canciones", "cancion"), ("corriendo", "corr")]),
            ("ru", &[("книгами", "книг"), ("корабли", "корабл")]),
            ("fi", &[("taloissa", "talo")]),
            ("tr", &[("evlerimizden", "ev")]),
        ] {
            let stems = Stems::of_language(code).unwrap();
            for (word, stem) in pairs {
                assert_eq!(folded(&stems, word), *stem, "{code}");
            }
        }
    }

    #[test]
    fn languages_without_a_stemmer_are_refused_with_the_list() {
        for choice in ["zh", "fa", "klingon", "auto", ""] {
            let refused = Stems::of_language(choice).unwrap_err().to_string();
            let start = format!("stem: there is no stemmer for `{choice}`; use one of ar, ca, cs, ");
            assert!(refused.starts_with(&start) && refused.ends_with("yi, or leave it out"), "{refused}");
        }
        for choice in ["en", "English", "deu", "nb", "eu", "ga"] {
            assert!(Stems::of_language(choice).is_ok(), "{choice}");
        }
        assert!(STEMMERS.is_sorted_by_key(|(code, _)| *code));
        assert!(STEMMERS.iter().all(|(code, _)| Stems::of_language(code).unwrap().language() == *code));
    }

    #[test]
    fn a_stem_is_written_as_its_most_frequent_form_and_unknown_words_as_they_are() {
        let stems = Stems::of_language("en").unwrap();
        assert!(stems.lacks_forms());
        let stems = stems.written_as(["universities", "ships", "ship", "university"]);
        for (word, form) in [("university", "universities"), ("shipping", "ships"), ("boats", "boats")] {
            assert_eq!(folded(&stems, word), form);
        }
        let stored = serde_json::to_string(&stems).unwrap();
        assert_eq!(stored, r#"{"language":"en","forms":["ships","universities"]}"#);
        assert_eq!(serde_json::from_str::<Stems>(&stored).unwrap(), stems);
        assert!(serde_json::from_str::<Stems>(r#"{"language":"tlh"}"#).is_err());
        let fewer = stems.within(&Vocabulary::new(["old_ships"]).unwrap());
        assert_eq!((folded(&fewer, "ship"), folded(&fewer, "university")), ("ships".into(), "university".into()));
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(500))]

        /// No word makes any stemmer panic, none becomes empty, and what is written is written so again.
        #[test]
        fn any_word_has_a_stem(word in "[a-zäöüßıéèабвгдежзиכאלاوهيनेकα-ωն'’.&0-9👍\u{301}_-]{1,12}|\\PC{1,8}") {
            for (code, _) in STEMMERS {
                let stems = Stems::of_language(code).unwrap();
                prop_assert!(!folded(&stems, &word).is_empty());
                let shown = stems.written_as([word.as_str()]);
                prop_assert_eq!(folded(&shown, &word), word.clone());
            }
        }
    }
}
