//! Text to words by the first edition of the rules, which old models keep: the word breaks of Unicode (UAX 29).

use std::ops::Range;

use unicode_segmentation::UnicodeSegmentation;

use crate::corpus::text::characters::is_emoji;

/// Calls `visit` for every piece with a letter or an emoji, without `_` around it, and tells whether it is an emoji.
pub(crate) fn each(text: &str, visit: &mut impl FnMut(&str, bool, Range<usize>)) {
    let mut take = |whole: &str| {
        let start = whole.as_ptr() as usize - text.as_ptr() as usize;
        let piece = whole.trim_matches('_');
        let emoji = piece.chars().any(is_emoji);
        if emoji || piece.chars().any(char::is_alphabetic) {
            visit(piece, emoji, start..start + whole.len());
        }
    };
    if text.is_ascii() {
        text.unicode_words().for_each(&mut take);
    } else {
        // `unicode_words` would drop emoji.
        text.split_word_bounds().for_each(&mut take);
    }
}
