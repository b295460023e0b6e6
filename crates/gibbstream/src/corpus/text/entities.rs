//! Characters that HTML writes as names or numbers: `&eacute;`, `&#233;`, `&#xe9;`.

use std::sync::LazyLock;

use rustc_hash::FxHashMap;

/// Names of letters and of what HTML 4 knows, with the numbers of their characters.
static NAMES: LazyLock<FxHashMap<&'static str, char>> = LazyLock::new(|| {
    let pairs = include_str!("entities.txt").lines().flat_map(|line| line.split(", "));
    pairs
        .filter_map(|pair| {
            let (name, code) = pair.split_once(' ')?;
            Some((name, char::from_u32(u32::from_str_radix(code, 16).ok()?)?))
        })
        .collect()
});

/// The longest name, and the longest number that can mean something.
const LONGEST: usize = 32;

/// Names that are often written without the semicolon, as old pages do.
const OPEN_NAMES: [&str; 7] = ["nbsp", "amp", "lt", "gt", "quot", "copy", "reg"];

/// What Windows means by the numbers that are control characters elsewhere, from 128 on.
const WINDOWS: [char; 32] = [
    '€', ' ', '‚', 'ƒ', '„', '…', '†', '‡', 'ˆ', '‰', 'Š', '‹', 'Œ', ' ', 'Ž', ' ', ' ', '‘', '’', '“', '”', '•', '–',
    '—', '˜', '™', 'š', '›', 'œ', ' ', 'ž', 'Ÿ',
];

/// The character that `text`, which begins with `&`, begins with, and the bytes that write it.
pub(crate) fn decode(text: &str) -> Option<(char, usize)> {
    let body = &text.as_bytes()[1..text.len().min(LONGEST)];
    if body.first() == Some(&b'#') {
        return number(body);
    }
    let length = body.iter().take_while(|byte| byte.is_ascii_alphanumeric()).count();
    let name = &text[1..=length];
    if body.get(length) == Some(&b';') {
        return NAMES.get(name).map(|&character| (character, length + 2));
    }
    let is_open = OPEN_NAMES.contains(&name) && body.get(length) != Some(&b'=');
    NAMES.get(name).filter(|_| is_open).map(|&character| (character, length + 1))
}

fn number(body: &[u8]) -> Option<(char, usize)> {
    let (base, begin) = if matches!(body.get(1), Some(b'x' | b'X')) { (16, 2) } else { (10, 1) };
    let digits = body[begin..].iter().take_while(|&&byte| char::from(byte).is_digit(base)).count();
    if digits == 0 {
        return None;
    }
    let code = body[begin..begin + digits].iter().try_fold(0_u32, |code, &byte| {
        code.checked_mul(base)?.checked_add(char::from(byte).to_digit(base)?)
    });
    let semicolon = usize::from(body.get(begin + digits) == Some(&b';'));
    let character = match code.unwrap_or(u32::MAX) {
        code @ 128..160 => WINDOWS[code as usize - 128],
        // What cannot be a character parts words, as a blank does.
        0..32 => ' ',
        code => char::from_u32(code).unwrap_or(' '),
    };
    Some((character, 1 + begin + digits + semicolon))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_and_numbers_are_decoded_and_everything_else_is_text() {
        for (text, expected) in [
            ("&eacute;s", Some(('é', 8))),
            ("&amp;amp;", Some(('&', 5))),
            ("&nbsp x", Some(('\u{a0}', 5))),
            ("&#233;", Some(('é', 6))),
            ("&#xE9 ", Some(('é', 5))),
            ("&#150;", Some(('–', 6))),
            ("&#0;", Some((' ', 4))),
            ("&#xD800;", Some((' ', 8))),
            ("&#99999999999999999999;", Some((' ', 23))),
            ("&lstrok;", Some(('ł', 8))),
            ("&", None),
            ("&;", None),
            ("&T", None),
            ("&copy=1", None),
            ("&#;", None),
            ("&#x;", None),
            ("&é;", None),
            ("&nosuchname;", None),
        ] {
            assert_eq!(decode(text), expected, "{text}");
        }
        assert!(NAMES.len() > 400);
    }
}
