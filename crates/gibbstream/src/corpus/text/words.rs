//! Text to words by the second edition of the rules: what people mean by apostrophes, hyphens, numbers and addresses.
//!
//! A *group* is what stands together without a blank or a bracket: `well-known`, `fed's`, `U.S`, `covid-19`, `3.14`. Most
//! groups are a run of letters; the others are looked at piece by piece.

use std::ops::Range;

use unicode_segmentation::UnicodeSegmentation;

use crate::corpus::text::addresses;
use crate::corpus::text::characters::{self, Role, continues_emoji, plain, role};
use crate::corpus::text::segments::{self, Segmentation};

/// Words of more characters are taken for ids.
const LONGEST_WORD: usize = 64;

/// Digits that a word with letters may have (mp3, covid19), and changes between both (h1n1).
const MOST_DIGITS: usize = 3;
const MOST_CHANGES: usize = 3;

/// Digits after a hyphen that belong to the word before it (covid-19, boeing-747).
const MOST_DIGITS_AFTER_HYPHEN: usize = 4;

/// What a text falls into.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Found<'a> {
    /// Letters, perhaps with digits and apostrophes, as they are written.
    Word(&'a str),
    Emoji(&'a str),
    /// A number, or an id.
    Number,
    /// A web or mail address.
    Address,
}

/// How addresses and apostrophes are read.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Manner {
    /// Whether addresses are dropped.
    pub drops_addresses: bool,
    /// Whether an apostrophe ends a word of its own, as in French (l'homme).
    pub elides: bool,
    /// How words of scripts without blanks are found.
    pub segmentation: Segmentation,
}

/// Calls `visit` for everything in `text`, in order, with the bytes that it covers.
pub(crate) fn each(text: &str, manner: Manner, visit: &mut impl FnMut(Found<'_>, Range<usize>)) {
    let mut words = Words { text, manner, clean: String::new(), places: Vec::new(), no_mail_before: 0 };
    let bytes = text.as_bytes();
    let mut at = 0;
    while at < bytes.len() {
        match CLASSES[usize::from(bytes[at])] {
            Class::Gap => at += 1,
            Class::Letter => {
                let end = letters_end(bytes, at);
                if end - at <= LONGEST_WORD && stands_alone(bytes, end) {
                    visit(Found::Word(&text[at..end]), at..end);
                    at = end;
                } else {
                    at = words.next(at, visit);
                }
            }
            Class::Other => at = words.next(at, visit),
        }
    }
}

/// The same without the short cut for plain words, which tests compare.
#[cfg(test)]
pub(crate) fn each_slowly(text: &str, manner: Manner, visit: &mut impl FnMut(Found<'_>, Range<usize>)) {
    let mut words = Words { text, manner, clean: String::new(), places: Vec::new(), no_mail_before: 0 };
    let mut at = 0;
    while at < text.len() {
        at = words.next(at, visit);
    }
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Class {
    Letter,
    /// Parts words, and is no part of an address either.
    Gap,
    Other,
}

const CLASSES: [Class; 256] = {
    let mut classes = [Class::Other; 256];
    let mut byte = 0;
    while byte < 128 {
        let class = byte as u8;
        if class.is_ascii_alphabetic() {
            classes[byte] = Class::Letter;
        } else if !class.is_ascii_digit() && !matches!(class, b'_' | b'\'' | b'-' | b'.' | b'&' | b'+' | b'%' | b'@' | b':') {
            classes[byte] = Class::Gap;
        }
        byte += 1;
    }
    classes
};

#[inline]
fn letters_end(bytes: &[u8], start: usize) -> usize {
    let mut end = start + 1;
    while end < bytes.len() && CLASSES[usize::from(bytes[end])] == Class::Letter {
        end += 1;
    }
    end
}

/// Whether letters that end here are a group: a gap follows, or the end of a sentence.
#[inline]
fn stands_alone(bytes: &[u8], end: usize) -> bool {
    let class = |at: usize| bytes.get(at).map_or(Class::Gap, |&byte| CLASSES[usize::from(byte)]);
    class(end) == Class::Gap || (bytes[end] == b'.' && class(end + 1) == Class::Gap)
}

struct Words<'a> {
    text: &'a str,
    manner: Manner,
    /// A group as it is meant: without what cannot be seen, with straight apostrophes and plain hyphens.
    clean: String,
    /// Where each byte of it stands in the text; empty if it stands there as it is.
    places: Vec<usize>,
    /// Before this place no mail address begins.
    no_mail_before: usize,
}

impl Words<'_> {
    /// Takes what stands at `at`, and tells where to go on.
    fn next(&mut self, at: usize, visit: &mut impl FnMut(Found<'_>, Range<usize>)) -> usize {
        let text = self.text;
        let Some(character) = text[at..].chars().next() else { return text.len() };
        match role(character) {
            Role::Word => self.group(at, visit),
            Role::Unspaced => {
                let end = run_end(text, at, |next| {
                    characters::is_unspaced(next) || unicode_normalization::char::is_combining_mark(next)
                });
                segments::each_word(&text[at..end], self.manner.segmentation, &mut |start, stop| {
                    visit(Found::Word(&text[at + start..at + stop]), at + start..at + stop);
                });
                end
            }
            Role::Emoji => {
                let end = run_end(text, at, continues_emoji);
                for (start, one) in text[at..end].grapheme_indices(true) {
                    visit(Found::Emoji(one), at + start..at + start + one.len());
                }
                end
            }
            _ => at + character.len_utf8(),
        }
    }

    /// Takes the group that begins at `start`, and tells where to go on.
    fn group(&mut self, start: usize, visit: &mut impl FnMut(Found<'_>, Range<usize>)) -> usize {
        let (end, is_clean) = group_end(self.text, start);
        if self.manner.drops_addresses
            && let Some(after) = addresses::end(self.text, start..end, &mut self.no_mail_before)
        {
            visit(Found::Address, start..after);
            return after;
        }
        self.places.clear();
        if is_clean {
            let group = Group { text: &self.text[start..end], first: start, places: &[], elides: self.manner.elides };
            group.split(visit);
            return end;
        }
        self.clean.clear();
        for (at, character) in self.text[start..end].char_indices() {
            if role(character) != Role::Invisible {
                self.clean.push(plain(character));
                self.places.resize(self.clean.len(), start + at);
            }
        }
        self.places.push(end);
        let group = Group { text: &self.clean, first: 0, places: &self.places, elides: self.manner.elides };
        group.split(visit);
        end
    }
}

fn run_end(text: &str, start: usize, goes_on: impl Fn(char) -> bool) -> usize {
    text[start..].find(|character: char| !goes_on(character)).map_or(text.len(), |length| start + length)
}

/// Where the group ends that begins at `start`, and whether it is written as it is meant.
fn group_end(text: &str, start: usize) -> (usize, bool) {
    let (mut end, mut is_clean, mut clean_so_far) = (start, true, true);
    let (mut last, mut joined) = ('\0', false);
    for (at, character) in text[start..].char_indices() {
        match role(character) {
            Role::Word => {
                let is_digit = character.is_numeric();
                if joined && matches!(last, ',' | ':') && !is_digit {
                    break;
                }
                end = start + at + character.len_utf8();
                is_clean = clean_so_far;
                (last, joined) = (character, false);
            }
            Role::Joiner if !joined => {
                clean_so_far &= plain(character) == character;
                (last, joined) = (character, true);
            }
            Role::DigitJoiner if !joined && last.is_numeric() => (last, joined) = (character, true),
            Role::Invisible => clean_so_far = false,
            _ => break,
        }
    }
    (end, is_clean)
}

/// A group as it is meant.
struct Group<'a> {
    text: &'a str,
    first: usize,
    places: &'a [usize],
    elides: bool,
}

impl Group<'_> {
    fn place(&self, part: Range<usize>) -> Range<usize> {
        if self.places.is_empty() {
            return self.first + part.start..self.first + part.end;
        }
        // The byte after the last one may be that of something that cannot be seen.
        self.places[part.start]..self.places[part.end]
    }

    fn split(&self, visit: &mut impl FnMut(Found<'_>, Range<usize>)) {
        if self.text.chars().all(|character| character.is_numeric() || !character.is_alphanumeric()) {
            if self.text.contains(char::is_numeric) {
                visit(Found::Number, self.place(0..self.text.len()));
            }
            return;
        }
        // U.S, e.g: letters with points are one word; elsewhere a point was meant to end a sentence.
        let is_initials = |part: &str| part.chars().count() == 1 && part.chars().all(char::is_alphabetic);
        if self.text.contains('.') && self.text.len() <= LONGEST_WORD && self.text.split('.').all(is_initials) {
            return visit(Found::Word(self.text), self.place(0..self.text.len()));
        }
        for part in parts(self.text, |character| matches!(character, '.' | ',' | ':')) {
            self.hyphens(part, visit);
        }
    }

    /// Words with a hyphen, or with `&`, between them.
    fn hyphens(&self, place: Range<usize>, visit: &mut impl FnMut(Found<'_>, Range<usize>)) {
        let text = &self.text[place.clone()];
        let is_hyphen = |character: char| matches!(character, '-' | '&');
        let count = text.chars().filter(|&character| is_hyphen(character)).count();
        if count == 0 {
            return self.apostrophes(place, visit);
        }
        let is_id = |part: Range<usize>| matches!(kind(&text[part]), Kind::Id);
        if parts(text, is_hyphen).any(is_id) {
            return visit(Found::Number, self.place(place));
        }
        if count == 1
            && let Some((first, second)) = text.split_once(is_hyphen)
            && belong_together(first, second)
        {
            return visit(Found::Word(text), self.place(place));
        }
        for part in parts(text, is_hyphen) {
            self.apostrophes(place.start + part.start..place.start + part.end, visit);
        }
    }

    fn apostrophes(&self, place: Range<usize>, visit: &mut impl FnMut(Found<'_>, Range<usize>)) {
        let text = &self.text[place.clone()];
        if self.elides && text.contains('\'') && !text.eq_ignore_ascii_case("aujourd'hui") {
            for part in parts(text, |character| character == '\'') {
                self.word(place.start + part.start..place.start + part.end, visit);
            }
        } else {
            self.word(place, visit);
        }
    }

    fn word(&self, place: Range<usize>, visit: &mut impl FnMut(Found<'_>, Range<usize>)) {
        let text = &self.text[place.clone()];
        let inner = text.trim_matches('_');
        let start = place.start + (text.len() - text.trim_start_matches('_').len());
        let place = start..start + inner.len();
        match kind(inner) {
            Kind::Word => visit(Found::Word(inner), self.place(place)),
            Kind::Number | Kind::Id => visit(Found::Number, self.place(place)),
            Kind::Nothing => {}
        }
    }
}

/// The parts of a text between characters, without empty ones.
fn parts(text: &str, is_between: impl Fn(char) -> bool) -> impl Iterator<Item = Range<usize>> {
    let place = |part: &str| part.as_ptr() as usize - text.as_ptr() as usize;
    text.split(is_between).filter(|part| !part.is_empty()).map(move |part| place(part)..place(part) + part.len())
}

/// Whether two words with a hyphen between them are one: covid-19, e-mail, t-shirt, r&d.
fn belong_together(first: &str, second: &str) -> bool {
    let letters = |part: &str| part.chars().all(char::is_alphabetic);
    let count = |part: &str| part.chars().count();
    let is_digits = |part: &str| part.chars().all(char::is_numeric);
    letters(first)
        && ((is_digits(second) && count(second) <= MOST_DIGITS_AFTER_HYPHEN)
            || (letters(second) && (count(first) == 1 || count(second) == 1)))
}

/// What a piece without joiners is.
enum Kind {
    Word,
    Number,
    Id,
    Nothing,
}

fn kind(piece: &str) -> Kind {
    let (mut letters, mut digits, mut changes, mut last) = (0, 0, 0, None);
    for character in piece.chars() {
        let is_digit = character.is_numeric();
        if !is_digit && !character.is_alphabetic() {
            continue;
        }
        changes += usize::from(last.is_some_and(|last| last != is_digit));
        last = Some(is_digit);
        if is_digit { digits += 1 } else { letters += 1 }
    }
    match (letters, digits) {
        (0, 0) => Kind::Nothing,
        (0, _) => Kind::Number,
        _ if digits > MOST_DIGITS || changes > MOST_CHANGES || letters + digits > LONGEST_WORD => Kind::Id,
        _ => Kind::Word,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    const PLAIN: Manner = Manner { drops_addresses: true, elides: false, segmentation: Segmentation::Pairs };

    fn found(text: &str, manner: Manner) -> Vec<(String, Range<usize>)> {
        let mut all = Vec::new();
        each(text, manner, &mut |found, place| all.push((format!("{found:?}"), place)));
        all
    }

    fn slowly(text: &str, manner: Manner) -> Vec<(String, Range<usize>)> {
        let mut all = Vec::new();
        each_slowly(text, manner, &mut |found, place| all.push((format!("{found:?}"), place)));
        all
    }

    fn words(text: &str, manner: Manner) -> Vec<String> {
        let mut all = Vec::new();
        each(text, manner, &mut |found, _| match found {
            Found::Word(word) | Found::Emoji(word) => all.push(word.to_owned()),
            Found::Number => all.push("#".to_owned()),
            Found::Address => all.push("@".to_owned()),
        });
        all
    }

    #[test]
    fn words_are_what_people_mean() {
        for (text, expected) in [
            ("The cat, (a dog) & two birds.", &["The", "cat", "a", "dog", "two", "birds"][..]),
            ("didn't Fed's O'Reilly 'quoted' rock 'n' roll", &["didn't", "Fed's", "O'Reilly", "quoted", "rock", "n", "roll"]),
            ("didn\u{2019}t co\u{ad}operate", &["didn't", "cooperate"]),
            ("well-known state-of-the-art", &["well", "known", "state", "of", "the", "art"]),
            ("e-mail T-shirt X-ray R&D AT&T rock&roll", &["e-mail", "T-shirt", "X-ray", "R&D", "AT&T", "rock", "roll"]),
            ("covid-19 F-16 boeing-747 19-year-old", &["covid-19", "F-16", "boeing-747", "#", "year", "old"]),
            ("mp3 b2b 3d h1n1 1990s 747 3.14 1,000 12:30 24/7", &["mp3", "b2b", "3d", "h1n1", "#", "#", "#", "#", "#", "#", "#"]),
            ("user12345 a1b2c3d4 550e8400-e29b-41d4-a716-446655440000", &["#", "#", "#"]),
            ("the U.S. and e.g. this", &["the", "U.S", "and", "e.g", "this"]),
            ("good.The film...It ended--badly", &["good", "The", "film", "It", "ended", "badly"]),
            ("see http://a.com/b?c=d, www.x.org/y or me.you+z@mail.example.com!", &["see", "@", "@", "or", "@"]),
            ("cnn.com/politics example.org. foo@bar @user", &["@", "@", "foo", "bar", "user"]),
            ("_very_ snake_case ___ nul\0byte", &["very", "snake_case", "nul", "byte"]),
            ("great 👍🏽👍 ❤\u{fe0f} 👨\u{200d}👩\u{200d}👧 🇩🇪🇫🇷", &["great", "👍🏽", "👍", "❤\u{fe0f}", "👨\u{200d}👩\u{200d}👧", "🇩🇪", "🇫🇷"]),
            ("看电影AI技术2024年", &["看电", "电影", "AI", "技术", "#", "年"]),
            ("\u{202b}שלום עולם\u{202c} مرحبا", &["שלום", "עולם", "مرحبا"]),
            ("हिन्दी भाषा می\u{200c}خواهم", &["हिन्दी", "भाषा", "می\u{200c}خواهم"]),
            ("电影https://t.co/abc电影", &["电影", "@", "电影"]),
            ("", &[]),
        ] {
            assert_eq!(words(text, PLAIN), expected, "{text:?}");
        }
        let french = Manner { elides: true, ..PLAIN };
        assert_eq!(words("l'homme qu\u{2019}il aujourd'hui", french), ["l", "homme", "qu", "il", "aujourd'hui"]);
        let keeping = Manner { drops_addresses: false, ..PLAIN };
        assert_eq!(words("www.x.org a@b.com", keeping), ["www", "x", "org", "a", "b", "com"]);
    }

    #[test]
    fn long_words_are_ids_and_long_groups_take_linear_time() {
        assert_eq!(words(&"x".repeat(64), PLAIN).len(), 1);
        assert_eq!(words(&"x".repeat(65), PLAIN), ["#"]);
        // Each would take minutes if it were read again from every word on.
        for text in ["a+".repeat(300_000), "a.".repeat(300_000), "a-b.".repeat(300_000), "a@".repeat(300_000)] {
            assert!(words(&text, PLAIN).len() <= 700_000);
        }
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(2_000))]

        /// The short cut for plain words changes nothing.
        #[test]
        fn the_short_cut_gives_the_same(text in "[a-cA-C1 .,'@:/&+%_<é’-]{0,24}", drops: bool, elides: bool) {
            let manner = Manner { drops_addresses: drops, elides, ..PLAIN };
            prop_assert_eq!(found(&text, manner), slowly(&text, manner));
        }

        #[test]
        fn words_are_never_blank_and_stand_where_they_say(text in "\\PC{0,40}") {
            let mut last = 0;
            each(&text, PLAIN, &mut |found, place| {
                assert!(place.start >= last && place.end > place.start, "{text:?} {place:?}");
                assert!(text.get(place.clone()).is_some(), "{text:?} {place:?}");
                last = place.end;
                if let Found::Word(word) | Found::Emoji(word) = found {
                    assert!(!word.is_empty() && !word.contains(char::is_whitespace), "{text:?} {word:?}");
                }
            });
        }
    }
}
