//! Words of scripts that have no blanks between them: Chinese, Japanese, Thai, Lao, Burmese, Khmer.

use serde::{Deserialize, Serialize};

use crate::corpus::text::characters::is_unspaced;

/// How words are found in such scripts. Models keep the way that they were learnt with.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Segmentation {
    /// Pairs of Chinese characters that follow each other; runs of other scripts as they are.
    #[default]
    Pairs,
    /// Words of a dictionary. Programs that are built without the feature `dictionaries` refuse it.
    Dictionary,
}

impl Segmentation {
    /// The best that this build has.
    pub fn best() -> Self {
        if cfg!(feature = "dictionaries") { Self::Dictionary } else { Self::Pairs }
    }

    /// Whether this build has it.
    pub fn is_there(self) -> bool {
        self == Self::Pairs || self == Self::best()
    }
}

/// Calls `visit` with the beginning and the end of every word of a run of such scripts.
pub(crate) fn each_word(run: &str, segmentation: Segmentation, visit: &mut impl FnMut(usize, usize)) {
    match segmentation {
        Segmentation::Pairs => each_pair(run, visit),
        Segmentation::Dictionary => each_known(run, visit),
    }
}

fn is_chinese(character: char) -> bool {
    is_unspaced(character) && (character >= '\u{3400}' || character == '々') && !('\u{a9e0}'..='\u{aa7f}').contains(&character)
}

fn is_katakana(character: char) -> bool {
    matches!(character, '\u{30a1}'..='\u{30ff}' | '\u{31f0}'..='\u{31ff}')
}

fn each_pair(run: &str, visit: &mut impl FnMut(usize, usize)) {
    let kind = |character: char| (is_chinese(character), is_katakana(character));
    let mut rest = run;
    while let Some(first) = rest.chars().next() {
        let start = run.len() - rest.len();
        let length = rest.find(|next: char| kind(next) != kind(first)).unwrap_or(rest.len());
        let (same, others) = rest.split_at(length);
        rest = others;
        let ends: Vec<usize> = same.char_indices().map(|(at, next)| start + at + next.len_utf8()).collect();
        if !is_chinese(first) || ends.len() < 3 {
            visit(start, start + length);
            continue;
        }
        let mut begin = start;
        for pair in ends.windows(2) {
            visit(begin, pair[1]);
            begin = pair[0];
        }
    }
}

#[cfg(not(feature = "dictionaries"))]
fn each_known(run: &str, visit: &mut impl FnMut(usize, usize)) {
    // Refused before, by `Tokenizer::check`.
    each_pair(run, visit);
}

/// The longest run that is looked at as a whole, in bytes; longer ones are cut, because the time may grow faster than they.
#[cfg(feature = "dictionaries")]
const LONGEST_RUN: usize = 1 << 10;

#[cfg(feature = "dictionaries")]
fn each_known(run: &str, visit: &mut impl FnMut(usize, usize)) {
    use icu_segmenter::WordSegmenter;
    use icu_segmenter::options::WordBreakInvariantOptions;
    // Dictionaries decide, not neural networks: whole numbers are the same everywhere.
    let segmenter = WordSegmenter::new_dictionary(WordBreakInvariantOptions::default());
    let mut begin = 0;
    while begin < run.len() {
        let mut end = run.len().min(begin + LONGEST_RUN);
        while !run.is_char_boundary(end) {
            end -= 1;
        }
        let mut last = 0;
        for boundary in segmenter.segment_str(&run[begin..end]) {
            if boundary > last {
                visit(begin + last, begin + boundary);
            }
            last = boundary;
        }
        begin = end;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn words(run: &str, segmentation: Segmentation) -> Vec<&str> {
        let mut words = Vec::new();
        each_word(run, segmentation, &mut |start, end| words.push(&run[start..end]));
        words
    }

    #[test]
    fn without_a_dictionary_pairs_are_words() {
        for (run, expected) in [
            ("电影", &["电影"][..]),
            ("看电影", &["看电", "电影"]),
            ("図書館のテレビ", &["図書", "書館", "の", "テレビ"]),
            ("ภาษาไทย", &["ภาษาไทย"]),
            ("", &[]),
        ] {
            assert_eq!(words(run, Segmentation::Pairs), expected);
        }
        assert!(Segmentation::best().is_there() && Segmentation::Pairs.is_there());
    }

    /// Models depend on these: another version of the dictionaries must not change them unseen.
    #[cfg(feature = "dictionaries")]
    #[test]
    fn words_are_those_of_a_dictionary() {
        let wrong: Vec<String> = [
            ("我喜欢看电影", "我 喜欢 看 电影"),
            ("今天的天气很好", "今天 的 天气 很好"),
            ("私は図書館で本を読む", "私 は 図書館 で 本 を 読む"),
            ("ภาษาไทย", "ภาษา ไทย"),
            ("ភាសាខ្មែរ", "ភាសា ខ្មែរ"),
            ("ພາສາລາວ", "ພາສາ ລາວ"),
            ("မြန်မာဘာသာစကား", "မြန်မာ ဘာသာ စကား"),
        ]
        .iter()
        .map(|(run, expected)| (words(run, Segmentation::Dictionary).join(" "), expected))
        .filter(|(found, expected)| found != *expected)
        .map(|(found, expected)| format!("{found}, not {expected}"))
        .collect();
        assert!(wrong.is_empty(), "{wrong:?}");
        // Long runs are cut, and nothing of them is lost.
        let long = "电影".repeat(5_000);
        let found = words(&long, Segmentation::Dictionary);
        assert!(found.len() >= 4_900 && found.concat() == long, "{}", found.len());
        assert_eq!(Segmentation::best(), Segmentation::Dictionary);
    }
}
