//! What characters do in words.

use unicode_normalization::char::is_combining_mark;
use unicode_normalization::{IsNormalized, UnicodeNormalization, is_nfkc_quick};

use crate::corpus::text::placed::Placed;

/// The part that a character plays.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Role {
    /// Letters, digits, marks that go with them, and `_`.
    Word,
    /// Of a script that has no blanks between words.
    Unspaced,
    Emoji,
    /// Joins words if it stands alone between them: `'`, `-`, `.`, `&`.
    Joiner,
    /// Joins digits: `,` and `:`.
    DigitJoiner,
    /// Changes only how text looks.
    Invisible,
    Gap,
}

/// The part that `character` plays.
pub(crate) fn role(character: char) -> Role {
    match character {
        // Joiners of zero width shape letters of Indic scripts, and part Persian words where no blank is written.
        'a'..='z' | 'A'..='Z' | '0'..='9' | '_' | '\u{200c}' | '\u{200d}' => Role::Word,
        '\'' | '-' | '.' | '&' | '\u{2019}' | '\u{02bc}' | '\u{ff07}' | '\u{2010}' | '\u{2011}' => Role::Joiner,
        ',' | ':' => Role::DigitJoiner,
        _ if character.is_ascii() || character == '\u{200b}' => Role::Gap,
        '\u{ad}' | '\u{640}' | '\u{180e}' | '\u{200e}' | '\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2060}'..='\u{2064}'
        | '\u{2066}'..='\u{206f}' | '\u{fe0e}' | '\u{fe0f}' | '\u{feff}' => Role::Invisible,
        _ if is_unspaced(character) => Role::Unspaced,
        _ if is_emoji(character) => Role::Emoji,
        _ if character.is_alphanumeric() || is_combining_mark(character) => Role::Word,
        _ => Role::Gap,
    }
}

/// Scripts without blanks between words: Chinese, Japanese, Thai, Lao, Burmese, Khmer.
pub(crate) fn is_unspaced(character: char) -> bool {
    matches!(character,
        '\u{0e01}'..='\u{0e3a}' | '\u{0e40}'..='\u{0e4e}' | '\u{0e81}'..='\u{0ece}' | '\u{0edc}'..='\u{0edf}'
        | '\u{1000}'..='\u{103f}' | '\u{1050}'..='\u{108f}' | '\u{1780}'..='\u{17d3}' | '\u{17d7}' | '\u{17dc}'
        | '\u{17dd}' | '\u{3005}'..='\u{3007}' | '\u{3031}'..='\u{3035}' | '\u{3041}'..='\u{309f}'
        | '\u{30a1}'..='\u{30fa}' | '\u{30fc}'..='\u{30ff}' | '\u{31f0}'..='\u{31ff}' | '\u{3400}'..='\u{4dbf}'
        | '\u{4e00}'..='\u{9fff}' | '\u{a9e0}'..='\u{a9fe}' | '\u{aa60}'..='\u{aa7f}' | '\u{f900}'..='\u{faff}'
        | '\u{20000}'..='\u{323af}')
}

pub(crate) fn is_emoji(character: char) -> bool {
    matches!(character, '\u{1f1e6}'..='\u{1f1ff}' | '\u{1f300}'..='\u{1faff}' | '\u{2600}'..='\u{27bf}')
}

/// Whether a character may go on with an emoji: joiners, and the choice of a picture.
pub(crate) fn continues_emoji(character: char) -> bool {
    is_emoji(character) || matches!(character, '\u{200d}' | '\u{fe0e}' | '\u{fe0f}' | '\u{e0020}'..='\u{e007f}')
}

/// How characters that are written in several ways become one.
pub(crate) fn plain(character: char) -> char {
    match character {
        '\u{2019}' | '\u{02bc}' | '\u{ff07}' => '\'',
        '\u{2010}' | '\u{2011}' => '-',
        other => other,
    }
}

/// Whether the compatibility normal form (NFKC) of a text may be another text.
pub(crate) fn may_change(text: &str) -> bool {
    text.chars().any(is_unstable)
}

/// Characters that NFKC changes, or that it may join with the one before.
fn is_unstable(character: char) -> bool {
    match character {
        '\0'..='\u{9f}' | '\u{c0}'..='\u{131}' | '\u{391}'..='\u{3a9}' | '\u{3b1}'..='\u{3c9}' | '\u{400}'..='\u{481}'
        | '\u{5d0}'..='\u{5ea}' | '\u{621}'..='\u{64a}' | '\u{2018}'..='\u{201e}' | '\u{3041}'..='\u{3096}'
        | '\u{30a1}'..='\u{30fa}' | '\u{4e00}'..='\u{9fff}' | '\u{ac00}'..='\u{d7a3}' => false,
        // Their NFKC is two letters that would grow onto the word before.
        '\u{2122}' | '\u{2120}' => true,
        other => is_nfkc_quick(std::iter::once(other)) != IsNormalized::Yes || is_combining_mark(other),
    }
}

/// Puts the normal form of `text` into `normal`, so that places lead back.
pub(crate) fn normalise(text: &str, normal: &mut Placed) {
    normal.clear();
    let mut buffer = String::new();
    let (mut kept, mut begin, mut unstable) = (0, 0, false);
    // Clusters of a character and the marks after it are normalised each for itself; what is stable is kept in one piece.
    for (at, character) in text.char_indices().chain([(text.len(), ' ')]) {
        let goes_on = at < text.len() && (is_combining_mark(character) || ('\u{1160}'..='\u{11ff}').contains(&character));
        if at > begin && !goes_on {
            if unstable {
                normal.keep(text, kept..begin);
                buffer.clear();
                let cluster = &text[begin..at];
                if matches!(cluster, "\u{2122}" | "\u{2120}") {
                    buffer.push(' ');
                } else {
                    buffer.extend(cluster.nfkc());
                }
                normal.put(&buffer, begin..at);
                kept = at;
            }
            (begin, unstable) = (at, false);
        }
        unstable |= is_unstable(character);
    }
    normal.keep(text, kept..text.len());
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn normal(text: &str) -> String {
        let mut normal = Placed::default();
        normalise(text, &mut normal);
        normal.text().to_owned()
    }

    #[test]
    fn the_normal_form_is_nfkc_but_for_marks_of_trade() {
        for (text, expected) in [
            ("ﬁlm cafe\u{301}", "film café"),
            ("Ｆｕｌｌ　ｗｉｄｔｈ", "Full width"),
            ("Windows™ x²", "Windows  x2"),
            ("\u{1112}\u{1161}\u{11ab}", "한"),
            ("", ""),
        ] {
            assert_eq!(normal(text), expected);
        }
        assert!(!may_change("déjà vu — Ελλάδα привет 東京 한국"));
        assert!(may_change("ﬁ") && may_change("e\u{301}"));
    }

    proptest! {
        #[test]
        fn clusters_give_what_the_whole_gives(text in "[a-zé°ﬁ①가ᄒ\u{1161}\u{11ab}\u{301}\u{327}か\u{3099}Ａ ]{0,12}") {
            prop_assert_eq!(normal(&text), text.nfkc().collect::<String>());
        }

        #[test]
        fn what_does_not_change_is_normal(text in "\\PC{0,20}") {
            if !may_change(&text) {
                prop_assert_eq!(text.nfkc().collect::<String>(), text.clone());
            }
            prop_assert_eq!(normal(&text).is_empty(), text.is_empty());
        }
    }
}
