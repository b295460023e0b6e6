//! Which language a corpus is written in: told by the user, or found in its first documents.

use std::collections::BTreeMap;

use rustc_hash::FxHashSet;
use serde::{Deserialize, Serialize};
use whatlang::Lang;

use crate::corpus::text::stop_words::StopWords;
use crate::error::{Error, Result};

/// Documents of files that are looked at.
pub const SAMPLED_DOCUMENTS: usize = 500;

/// Documents of streams that are looked at, at most: no more than come before the first minibatch is cut.
pub const SAMPLED_FROM_STREAMS: usize = 100;

/// Bytes of a document that are looked at, and bytes of words that are taken from them.
pub(crate) const READ_BYTES: usize = 4 << 10;
pub(crate) const SAMPLED_BYTES: usize = 200;

/// Words are told apart in portions of so many bytes, each of which has a vote.
const PORTION_BYTES: usize = 400;

/// The share of function words below which a text is not prose of a language, whatever its letters look like.
const LEAST_FUNCTION_WORDS: f64 = 0.05;

/// The same where letters alone do not tell.
const MANY_FUNCTION_WORDS: f64 = 0.15;

/// The language of a corpus.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(from = "String", into = "String")]
pub enum Language {
    /// To be found in the documents.
    Auto,
    /// Nobody has said, or none was recognised.
    #[default]
    Unknown,
    /// Its ISO 639-1 code.
    Known(String),
}

/// ISO 639-1 codes of the languages that are recognised.
fn code(language: Lang) -> &'static str {
    match language {
        Lang::Nob => "no",
        Lang::Cmn => "zh",
        Lang::Pes => "fa",
        other => {
            let long = other.code();
            SHORT_CODES.iter().find(|(known, _)| *known == long).map_or(long, |(_, short)| short)
        }
    }
}

const SHORT_CODES: [(&str, &str); 68] = [
    ("epo", "eo"), ("eng", "en"), ("rus", "ru"), ("spa", "es"), ("por", "pt"), ("ita", "it"), ("ben", "bn"),
    ("fra", "fr"), ("deu", "de"), ("ukr", "uk"), ("kat", "ka"), ("ara", "ar"), ("hin", "hi"), ("jpn", "ja"),
    ("heb", "he"), ("yid", "yi"), ("pol", "pl"), ("amh", "am"), ("jav", "jv"), ("kor", "ko"), ("dan", "da"),
    ("swe", "sv"), ("fin", "fi"), ("tur", "tr"), ("nld", "nl"), ("hun", "hu"), ("ces", "cs"), ("ell", "el"),
    ("bul", "bg"), ("bel", "be"), ("mar", "mr"), ("kan", "kn"), ("ron", "ro"), ("slv", "sl"), ("hrv", "hr"),
    ("srp", "sr"), ("mkd", "mk"), ("lit", "lt"), ("lav", "lv"), ("est", "et"), ("tam", "ta"), ("vie", "vi"),
    ("urd", "ur"), ("tha", "th"), ("guj", "gu"), ("uzb", "uz"), ("pan", "pa"), ("aze", "az"), ("ind", "id"),
    ("tel", "te"), ("mal", "ml"), ("ori", "or"), ("mya", "my"), ("nep", "ne"), ("sin", "si"), ("khm", "km"),
    ("tuk", "tk"), ("aka", "ak"), ("zul", "zu"), ("sna", "sn"), ("afr", "af"), ("lat", "la"), ("slk", "sk"),
    ("cat", "ca"), ("tgl", "tl"), ("hye", "hy"), ("cym", "cy"), ("lao", "lo"),
];

impl Language {
    /// `auto`, `unknown`, or a code such as `de`.
    pub fn parse(choice: &str) -> Result<Self> {
        let wanted = choice.trim().to_ascii_lowercase();
        if matches!(wanted.as_str(), "auto" | "unknown") {
            return Ok(wanted.into());
        }
        let by_name = || Lang::all().iter().find(|known| known.eng_name().eq_ignore_ascii_case(&wanted));
        let long = SHORT_CODES.iter().find(|(long, short)| *long == wanted || *short == wanted);
        let found = long.map(|(_, short)| *short).or_else(|| by_name().map(|&known| code(known)));
        match found {
            Some(short) => Ok(Self::Known(short.to_owned())),
            None if wanted.len() == 2 && StopWords::of_language(&wanted).is_some() => Ok(Self::Known(wanted)),
            None if matches!(wanted.as_str(), "no" | "nb" | "zh" | "fa") => {
                Ok(Self::Known(if wanted == "nb" { "no".to_owned() } else { wanted }))
            }
            None => Err(Error::setting(
                "language",
                format!("`{choice}` is not the code of a language that is known"),
                "use `auto` or a code of two letters, such as `en`, `de`, `es` or `zh`",
            )),
        }
    }

    /// Its code, if it is known.
    pub fn code(&self) -> Option<&str> {
        if let Self::Known(code) = self { Some(code) } else { None }
    }

    /// Its English name, or its code if it has none here.
    pub fn name(&self) -> Option<&str> {
        let wanted = self.code()?;
        Some(Lang::all().iter().find(|&&known| code(known) == wanted).map_or(wanted, |known| known.eng_name()))
    }

    /// The language of documents, each as its words with blanks between them.
    pub fn detect<'a>(documents: impl IntoIterator<Item = &'a str>) -> Self {
        let (mut votes, mut portion, mut all) = (BTreeMap::<&str, usize>::new(), String::new(), 0);
        let mut words: Vec<String> = Vec::new();
        let mut vote = |portion: &mut String| {
            all += portion.len();
            if let Some(info) = whatlang::detect(portion).filter(|info| info.confidence() > 0.5) {
                *votes.entry(code(info.lang())).or_default() += portion.len();
            }
            portion.clear();
        };
        for document in documents {
            portion.push_str(document);
            portion.push(' ');
            words.extend(document.split(' ').map(str::to_owned));
            if portion.len() >= PORTION_BYTES {
                vote(&mut portion);
            }
        }
        vote(&mut portion);
        // Letters of a few words are like those of many languages.
        if all < PORTION_BYTES
            && let Some(code) = by_function_words(&words)
        {
            return Self::Known(code.to_owned());
        }
        let by_letters = votes.iter().max_by_key(|(_, votes)| **votes).filter(|(_, votes)| **votes * 2 > all);
        let found = by_letters.map(|(code, _)| *code).filter(|code| is_prose_of(&words, code));
        found.or_else(|| by_function_words(&words)).map_or(Self::Unknown, |code| Self::Known(code.to_owned()))
    }
}

/// Scripts without blanks tell their language by themselves; elsewhere function words must be among the words.
fn is_prose_of(words: &[String], code: &str) -> bool {
    let is_spaced = !matches!(code, "zh" | "ja" | "th" | "km" | "my" | "lo" | "ko");
    let list = StopWords::of_language(code).filter(|_| is_spaced);
    list.is_none_or(|list| share(words, &list) >= LEAST_FUNCTION_WORDS)
}

fn share(words: &[String], list: &StopWords) -> f64 {
    words.iter().filter(|word| list.contains(word)).count() as f64 / words.len().max(1) as f64
}

/// The language that has the most of its function words among the words. For texts too short for anything else.
fn by_function_words(words: &[String]) -> Option<&'static str> {
    let distinct: FxHashSet<&String> = words.iter().collect();
    let recognised = Lang::all().iter().map(|&known| code(known)).filter(|code| !matches!(*code, "la" | "zu"));
    let shares = recognised.filter_map(|code| {
        let list = StopWords::of_language(code)?;
        // One word that is repeated says nothing.
        let kinds = distinct.iter().filter(|word| list.contains(word)).count();
        (kinds > 1).then(|| (share(words, &list), code == "en", code))
    });
    // Of languages that share their words the first is taken; English before the others.
    let best = shares.max_by(|a, b| a.0.total_cmp(&b.0).then(a.1.cmp(&b.1)).then(b.2.cmp(a.2)))?;
    (best.0 >= MANY_FUNCTION_WORDS).then_some(best.2)
}

impl From<String> for Language {
    fn from(text: String) -> Self {
        match text.as_str() {
            "auto" => Self::Auto,
            "unknown" => Self::Unknown,
            _ => Self::Known(text),
        }
    }
}

impl From<Language> for String {
    fn from(language: Language) -> Self {
        match language {
            Language::Auto => "auto".into(),
            Language::Unknown => "unknown".into(),
            Language::Known(code) => code,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn languages_are_told_from_prose_and_short_notes() {
        for (code, text) in [
            ("en", "the ship left the harbour in the morning and nobody was there to see it off but the old keeper"),
            ("en", "a cat and a dog the dog didn't bark"),
            ("de", "das schiff verließ den hafen am morgen und niemand war da um es zu verabschieden außer dem alten wärter"),
            ("fr", "le navire a quitté le port au matin et personne n était là pour le saluer sauf le vieux gardien du phare"),
            ("es", "el barco salió del puerto por la mañana y nadie estaba allí para despedirlo salvo el viejo guardián"),
            ("ru", "корабль вышел из гавани утром и никто не пришёл проводить его кроме старого смотрителя маяка"),
            ("zh", "我 喜欢 看 电影 因为 电影 很 有意思 今天 天气 很 好 我们 一起 去 公园 吧"),
            ("ja", "私 は 映画 を 見る の が 好き です 今日 は 天気 が いい ので 公園 に 行き ます"),
            ("th", "ผม ชอบ ดู หนัง เพราะ หนัง สนุก มาก วันนี้ อากาศ ดี"),
        ] {
            let found = Language::detect([text]);
            assert_eq!(found.code(), Some(code), "{text}");
        }
    }

    #[test]
    fn what_is_no_prose_has_no_language() {
        for text in ["w1 w2 w3 w17", "qx zz kk vv", "", "ship harbour sail boat anchor rope mast"] {
            assert_eq!(Language::detect([text]), Language::Unknown, "{text}");
        }
    }

    #[test]
    fn codes_and_names_are_read() {
        for (choice, code) in [("de", "de"), ("DEU", "de"), ("German", "de"), ("zh", "zh"), ("nb", "no"), ("lo", "lo")] {
            assert_eq!(Language::parse(choice).unwrap().code(), Some(code));
        }
        assert_eq!(Language::parse("auto").unwrap(), Language::Auto);
        assert!(Language::parse("klingon").is_err() && Language::parse("tlh").is_err() && Language::parse("").is_err());
        assert_eq!(Language::Known("de".into()).name(), Some("German"));
        // Every language that is recognised has a code of two letters.
        for &known in Lang::all() {
            assert_eq!(code(known).len(), 2, "{known}");
            assert!(Language::parse(code(known)).is_ok(), "{known}");
        }
    }
}
