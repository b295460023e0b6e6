//! Text to words: markup out, words as people mean them, lower case, stop words, phrases, and joined words.

use std::ops::Range;

use serde::{Deserialize, Serialize};

use crate::corpus::text::characters;
use crate::corpus::text::cutter::Cutter;
use crate::corpus::text::language::{Language, READ_BYTES, SAMPLED_BYTES};
use crate::corpus::text::markup::{Html, Stripped, may_have_markup};
use crate::corpus::text::phrases::Phrases;
use crate::corpus::text::placed::Placed;
use crate::corpus::text::rules_1;
use crate::corpus::text::segments::Segmentation;
use crate::corpus::text::stems::Stems;
use crate::corpus::text::stop_words::StopWords;
use crate::corpus::text::vocabulary::Vocabulary;
use crate::corpus::text::words::{self, Manner};
use crate::error::{Error, Result};

/// The longest run of words that can be joined.
const MAX_NGRAMS: usize = 5;

/// How often markup is looked for in what was written as entities: pages within feeds are written so.
const MARKUP_LAYERS: usize = 2;

/// Languages that write short words with an apostrophe onto the next one (l'homme).
const ELIDING: [&str; 4] = ["fr", "it", "ca", "oc"];

/// How text is cut into words.
///
/// Markup and addresses are taken out. Contractions stay whole (`didn't`, always with a straight apostrophe), possessives are
/// cut (`fed's` is `fed`). Numbers and ids are dropped, and so are words shorter than `min_length`; emoji are kept as words of
/// their own. Words of Chinese, Japanese, Thai, Lao, Burmese and Khmer are found with dictionaries.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Tokenizer {
    /// Whether words are turned into lower case.
    pub lowercase: bool,
    /// Characters that a word must have; 2 drops single letters.
    pub min_length: usize,
    /// From 2 on, up to so many words that follow each other (after dropping) are also joined by `_`.
    pub ngrams: usize,
    /// Words to drop, whatever their case.
    pub stop_words: StopWords,
    /// Which edition of the rules for words is used.
    #[serde(default)]
    pub rules: Rules,
    /// What happens to markup.
    #[serde(default)]
    pub html: Html,
    /// Whether URLs and email addresses are text.
    #[serde(default = "kept")]
    pub keep_urls: bool,
    /// The language of the text.
    #[serde(default)]
    pub language: Language,
    /// Whether the stop words are to be those of the language, once it is found.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub stop_words_of_language: bool,
    /// How words of scripts without blanks are found.
    #[serde(default)]
    pub segmentation: Segmentation,
    /// Words that are one when they follow each other.
    #[serde(default, skip_serializing_if = "Phrases::is_empty")]
    pub phrases: Phrases,
    /// Forms of one word are one word.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub stem: Option<Stems>,
}

/// What models did that were written before there was a choice.
fn kept() -> bool {
    true
}

/// Editions of the rules that tell words from other things. Models keep the one that they were learnt with.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Rules {
    /// The word breaks of Unicode.
    #[default]
    First,
    /// Apostrophes, hyphens, numbers and scripts without blanks as people mean them.
    Second,
}

impl Default for Tokenizer {
    /// For English text.
    fn default() -> Self {
        Self {
            lowercase: true,
            min_length: 2,
            ngrams: 1,
            stop_words: StopWords::english(),
            rules: Rules::Second,
            html: Html::Auto,
            keep_urls: false,
            language: Language::Unknown,
            stop_words_of_language: false,
            segmentation: Segmentation::best(),
            phrases: Phrases::default(),
            stem: None,
        }
    }
}

impl Tokenizer {
    /// For text in a language that is found in the documents, whose stop words are dropped.
    pub fn auto() -> Self {
        let stop_words = StopWords::none();
        Self { language: Language::Auto, stop_words_of_language: true, stop_words, ..Self::default() }
    }

    /// For the text of models that were learnt from counts, whose words may be anything: nothing is dropped.
    pub fn plain() -> Self {
        Self {
            min_length: 1,
            stop_words: StopWords::none(),
            rules: Rules::First,
            html: Html::Keep,
            keep_urls: true,
            segmentation: Segmentation::Pairs,
            ..Self::default()
        }
    }

    /// Refuses settings that make no sense.
    pub fn check(&self) -> Result<()> {
        if !self.segmentation.is_there() {
            let problem = "the model needs dictionaries, which this program was built without";
            return Err(Error::setting("text", problem, "build it with the feature `dictionaries`"));
        }
        if self.stem.is_some() && !self.lowercase {
            let problem = "stems are those of words in lower case";
            return Err(Error::setting("stem", problem, "leave it out, or leave out {no-lowercase}"));
        }
        if (1..=MAX_NGRAMS).contains(&self.ngrams) {
            return Ok(());
        }
        Err(Error::setting(
            "ngrams",
            format!("{} is not between 1 and {MAX_NGRAMS}", self.ngrams),
            "1 means single words, 2 adds pairs",
        ))
    }

    /// Whether the language must still be found in documents.
    pub fn needs_language(&self) -> bool {
        self.language == Language::Auto
    }

    /// The same for the language of these texts, if it is to be found, with its stop words.
    #[must_use]
    pub fn decided<T: AsRef<str>>(&self, texts: &[T]) -> Self {
        if !self.needs_language() && !self.stop_words_of_language {
            return self.clone();
        }
        let language = if self.needs_language() { self.language_of(texts) } else { self.language.clone() };
        let list = language.code().and_then(StopWords::of_language).unwrap_or_default();
        let stop_words = if self.stop_words_of_language { list } else { self.stop_words.clone() };
        Self { language, stop_words, stop_words_of_language: false, ..self.clone() }
    }

    /// Whether it must still be found which form a stem is written as.
    pub fn needs_forms(&self) -> bool {
        self.stem.as_ref().is_some_and(Stems::lacks_forms)
    }

    /// The same without stems, phrases and joined words: for finding forms.
    #[must_use]
    pub fn single_words(&self) -> Self {
        Self { stem: None, phrases: Phrases::default(), ngrams: 1, ..self.clone() }
    }

    /// The same with stems written as the first of these words that has each.
    #[must_use]
    pub fn written_as<'a>(&self, words: impl IntoIterator<Item = &'a str>) -> Self {
        Self { stem: self.stem.as_ref().map(|stems| stems.written_as(words)), ..self.clone() }
    }

    /// The same without forms of stems that a vocabulary does not have.
    #[must_use]
    pub fn within(&self, vocabulary: &Vocabulary) -> Self {
        Self { stem: self.stem.as_ref().map(|stems| stems.within(vocabulary)), ..self.clone() }
    }

    fn language_of<T: AsRef<str>>(&self, texts: &[T]) -> Language {
        let stop_words = StopWords::none();
        let reading = Self { lowercase: true, min_length: 1, ngrams: 1, stop_words, stem: None, ..self.clone() };
        let words = texts.iter().map(|text| {
            let text = text.as_ref();
            let mut end = text.len().min(READ_BYTES);
            while !text.is_char_boundary(end) {
                end -= 1;
            }
            let mut words = String::new();
            reading.tokenize(&text[..end], |word| {
                if words.len() < SAMPLED_BYTES {
                    if !words.is_empty() {
                        words.push(' ');
                    }
                    words.push_str(word);
                }
            });
            words
        });
        let words: Vec<String> = words.collect();
        Language::detect(words.iter().map(String::as_str))
    }

    /// Calls `visit` for every token of `text`, in order.
    pub fn tokenize(&self, text: &str, mut visit: impl FnMut(&str)) {
        self.tokenize_with_places(text, |word, _| visit(word));
    }

    /// The same, and whether nothing is between a token and the one before.
    pub fn tokenize_following(&self, text: &str, mut visit: impl FnMut(&str, bool)) {
        self.cut(text, |cut| {
            if let Cut::Word(word, _, follows) = cut {
                visit(word, follows);
            }
        });
    }

    /// The same, with the bytes of the text that each token covers.
    pub(crate) fn tokenize_with_places(&self, text: &str, mut visit: impl FnMut(&str, Range<usize>)) {
        self.cut(text, |cut| {
            if let Cut::Word(word, place, _) = cut {
                visit(word, place);
            }
        });
    }

    /// Calls `visit` for every token of `text` with the bytes that it covers, and for everything that is dropped.
    pub(crate) fn cut(&self, text: &str, mut visit: impl FnMut(Cut<'_>)) {
        let layers = self.cleaned(text, &mut visit);
        let clean = layers.last().map_or(text, Placed::text);
        let mut cutter = Cutter::new(self, clean, &layers, visit);
        match self.rules {
            Rules::First => rules_1::each(clean, &mut |piece, emoji, place| cutter.first(piece, emoji, place)),
            Rules::Second => {
                let elides = self.language.code().is_some_and(|code| ELIDING.contains(&code));
                let segmentation = self.segmentation;
                let manner = Manner { drops_addresses: !self.keep_urls, elides, segmentation };
                words::each(clean, manner, &mut |found, place| cutter.second(found, place));
            }
        }
        cutter.end();
    }

    /// The text without markup and in its normal form, step by step; no steps if nothing has to be changed.
    fn cleaned(&self, text: &str, visit: &mut impl FnMut(Cut<'_>)) -> Vec<Placed> {
        let mut layers: Vec<Placed> = Vec::new();
        for _ in 0..MARKUP_LAYERS {
            let current = layers.last().map_or(text, Placed::text);
            if self.html == Html::Keep || !may_have_markup(current) {
                break;
            }
            let mut stripped = Stripped::default();
            stripped.strip(current, self.html);
            if stripped.pieces > 0 {
                visit(Cut::Markup(stripped.pieces));
            }
            layers.push(stripped.placed);
            if !stripped.may_hide_more {
                break;
            }
        }
        let current = layers.last().map_or(text, Placed::text);
        if self.rules == Rules::Second && !current.is_ascii() && characters::may_change(current) {
            let mut normal = Placed::default();
            characters::normalise(current, &mut normal);
            layers.push(normal);
        }
        layers
    }
}

/// A token, or why something is none.
pub(crate) enum Cut<'a> {
    /// With the bytes of the text that it covers, and whether nothing is between it and the token before.
    Word(&'a str, Range<usize>, bool),
    StopWord,
    TooShort,
    /// A number, or an id.
    Number,
    /// A web or mail address.
    Address,
    /// So many tags and comments.
    Markup(u64),
}

/// A word with straight apostrophes and without characters that only change its looks.
pub(crate) fn straightened(word: &str) -> String {
    let is_seen = |character: &char| !matches!(character, '\u{fe0e}' | '\u{fe0f}' | '\u{00ad}');
    word.chars().filter(is_seen).map(|character| match character {
        '\u{2019}' | '\u{02bc}' | '\u{ff07}' => '\'',
        other => other,
    }).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn plain() -> Tokenizer {
        Tokenizer { stop_words: StopWords::none(), ..Tokenizer::default() }
    }

    /// As models have it that were written before there were other rules.
    fn first() -> Tokenizer {
        serde_json::from_str(r#"{"lowercase": true, "min_length": 2, "ngrams": 1, "stop_words": []}"#).unwrap()
    }

    fn tokens(tokenizer: &Tokenizer, text: &str) -> Vec<String> {
        let mut all = Vec::new();
        tokenizer.tokenize(text, |token| all.push(token.to_owned()));
        all
    }

    #[test]
    fn old_models_have_the_words_of_unicode_without_numbers_and_single_letters() {
        for (text, expected) in [
            ("The cat, 42 cats & a 3D film.", &["the", "cat", "cats", "3d", "film"][..]),
            ("I didn't like Rosemary's baby", &["didn't", "like", "rosemary's", "baby"]),
            ("didn\u{2019}t DIDN\u{2019}T", &["didn't", "didn't"]),
            ("Éa naïve Straße ΟΔΟΣ", &["éa", "naïve", "straße", "οδος"]),
            ("great 👍🏽 love ❤\u{fe0f}", &["great", "👍🏽", "love", "❤"]),
            ("_very_ snake_case ___", &["very", "snake_case"]),
            ("3.14 1,000 2024", &[]),
            ("nul\0byte", &["nul", "byte"]),
            ("good<br />film http://a.com/b", &["good", "br", "film", "http", "a.com"]),
            ("", &[]),
        ] {
            assert_eq!(tokens(&first(), text), expected, "{text:?}");
        }
    }

    #[test]
    fn stop_words_are_dropped_in_any_case_and_negations_stay() {
        let text = "It\u{2019}s THE film I DIDN'T watch";
        assert_eq!(tokens(&Tokenizer::default(), text), ["film", "didn't", "watch"]);
        let keeping_case = Tokenizer { lowercase: false, ..Tokenizer::default() };
        assert_eq!(tokens(&keeping_case, text), ["film", "DIDN'T", "watch"]);
    }

    #[test]
    fn words_that_follow_each_other_are_joined() {
        let trigrams = Tokenizer { ngrams: 3, ..plain() };
        assert_eq!(
            tokens(&trigrams, "new york city hall"),
            [
                "new",
                "york",
                "new_york",
                "city",
                "york_city",
                "new_york_city",
                "hall",
                "city_hall",
                "york_city_hall"
            ]
        );
        let refused = Tokenizer { ngrams: 0, ..plain() }.check().unwrap_err();
        assert_eq!(
            refused.to_string(),
            "ngrams: 0 is not between 1 and 5; 1 means single words, 2 adds pairs"
        );
    }

    #[test]
    fn a_stored_tokenizer_is_complete_and_strict() {
        let tokenizer = Tokenizer { min_length: 3, ..Tokenizer::default() };
        let stored = serde_json::to_string(&tokenizer).unwrap();
        assert_eq!(serde_json::from_str::<Tokenizer>(&stored).unwrap(), tokenizer);
        assert!(serde_json::from_str::<Tokenizer>(&stored.replace("ngrams", "grams")).is_err());
    }

    #[test]
    fn new_models_drop_markup_addresses_numbers_and_possessives() {
        for (text, expected) in [
            ("good<br />film http://a.com/b", &["good", "film"][..]),
            ("The Fed\u{2019}s 747 rates didn't rise", &["fed", "rates", "didn't", "rise"]),
            ("&lt;p&gt;Escaped&lt;/p&gt; &amp;nbsp;page", &["escaped", "page"]),
            ("Ｆｕｌｌ ﬁlm cafe\u{301}", &["full", "film", "café"]),
            ("it's let's that\u{2019}s", &[]),
            ("S&amp;P x", &["s&p"]),
        ] {
            assert_eq!(tokens(&Tokenizer::default(), text), expected, "{text}");
        }
        let mut counts = (0, 0, 0);
        Tokenizer::default().cut("<p>1 2 x@y.com</p>", |cut| match cut {
            Cut::Markup(pieces) => counts.0 += pieces,
            Cut::Number => counts.1 += 1,
            Cut::Address => counts.2 += 1,
            _ => {}
        });
        assert_eq!(counts, (2, 2, 1));
    }

    #[test]
    fn places_are_those_of_the_text_as_it_came() {
        let text = "<p>Caf&eacute; <b>no</b>ir ﬁn &lt;br&gt; Straße’s";
        let mut places = Vec::new();
        plain().tokenize_with_places(text, |word, place| places.push((word.to_owned(), text[place].to_owned())));
        let expected =
            [("café", "Caf&eacute;"), ("noir", "no</b>ir"), ("fin", "ﬁn"), ("straße", "Straße’s")];
        assert_eq!(places, expected.map(|(word, place)| (word.to_owned(), place.to_owned())));
    }

    #[test]
    fn the_language_decides_on_stop_words() {
        let german = Tokenizer::auto().decided(&["Das Schiff verließ den Hafen, und niemand war da, um es zu sehen."]);
        assert_eq!(german.language.code(), Some("de"));
        assert_eq!(tokens(&german, "Das Schiff and the Hafen"), ["schiff", "and", "the", "hafen"]);
        let told = Tokenizer { language: Language::parse("fr").unwrap(), ..Tokenizer::auto() }.decided(&[] as &[&str]);
        assert_eq!(tokens(&told, "L'homme est dans la maison"), ["homme", "maison"]);
        let turkish = Tokenizer { language: Language::parse("tr").unwrap(), ..Tokenizer::auto() }.decided(&[] as &[&str]);
        assert_eq!(tokens(&turkish, "ISPARTA İzmir"), ["ısparta", "izmir"]);
        assert_eq!(Tokenizer::default().decided(&["das"]), Tokenizer::default());
    }

    #[test]
    fn phrases_are_one_word() {
        let phrases = vec!["new_york".to_owned(), "hard_drive".to_owned()].into();
        let tokenizer = Tokenizer { phrases, ..Tokenizer::default() };
        assert_eq!(tokens(&tokenizer, "New York, a new hard-drive; hard. Drive New"), ["new_york", "new", "hard_drive", "hard", "drive", "new"]);
        let stored = serde_json::to_string(&tokenizer).unwrap();
        assert_eq!(serde_json::from_str::<Tokenizer>(&stored).unwrap(), tokenizer);
    }

    proptest! {
        /// Also for text that is not well-formed, in any script; twice the same.
        #[test]
        fn tokens_are_never_blank(text in "\\PC{0,60}|[<>&;a-z '’.-]{0,60}", lowercase: bool) {
            for tokenizer in [Tokenizer { lowercase, ..plain() }, first(), Tokenizer::plain()] {
                let words = tokens(&tokenizer, &text);
                // Words by the first rules may have a blank that a mark combines with.
                let is_old = tokenizer.rules == Rules::First;
                for word in &words {
                    prop_assert!(!word.trim().is_empty() && !word.contains(['\n', '\r']), "{:?}", word);
                    prop_assert!(is_old || word.trim() == word, "{:?}", word);
                }
                prop_assert_eq!(&words, &tokens(&tokenizer, &text));
            }
        }
    }
}
