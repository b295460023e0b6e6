//! Web and mail addresses in text.

use std::ops::Range;

use crate::corpus::text::characters::is_unspaced;

/// Endings of names of hosts that are no words of a sentence.
const HOST_ENDINGS: [&str; 8] = ["com", "org", "edu", "gov", "mil", "info", "biz", "html"];

/// Where an address ends that begins with the group `group`; `None` if it is none. Before `no_mail_before` no mail
/// address begins, which is found out on the way.
pub(crate) fn end(text: &str, group: Range<usize>, no_mail_before: &mut usize) -> Option<usize> {
    let bytes = text.as_bytes();
    let name = &text[group.clone()];
    let after = &bytes[group.end..];
    if after.starts_with(b"://") && name.ends_with(|last: char| last.is_ascii_alphanumeric()) {
        return Some(web_end(text, group.end + 3));
    }
    let is_mail_part = |byte: &u8| byte.is_ascii_alphanumeric() || b"._%+-".contains(byte) || !byte.is_ascii();
    if matches!(after.first(), Some(b'@' | b'+' | b'%' | b'.' | b'-' | b'_')) && group.end >= *no_mail_before {
        let at = group.end + after.iter().take_while(|byte| is_mail_part(byte)).count();
        if bytes.get(at) == Some(&b'@') {
            let host = at + 1 + bytes[at + 1..].iter().take_while(|byte| is_mail_part(byte)).count();
            let end = text[..host].trim_end_matches(['.', '-', '_', '+', '%']).len();
            if end > at + 1 && text[at + 1..end].contains('.') {
                return Some(end);
            }
        }
        *no_mail_before = at;
    }
    let start = name.get(..4).is_some_and(|start| start.eq_ignore_ascii_case("www."));
    let ending = name.rsplit_once('.').map_or("", |(_, ending)| ending);
    let is_host = HOST_ENDINGS.iter().any(|known| ending.eq_ignore_ascii_case(known));
    let has_path = after.first() == Some(&b'/') && (2..=4).contains(&ending.len());
    (start || is_host || (has_path && ending.bytes().all(|byte| byte.is_ascii_alphabetic())))
        .then(|| web_end(text, group.end))
}

/// Where a web address ends that goes on at `at`: before a blank, a quotation mark, or a letter of a script without blanks.
fn web_end(text: &str, at: usize) -> usize {
    let ends = |character: char| {
        character <= ' '
            || matches!(character, '<' | '>' | '"' | '`' | '|' | '\\' | '^' | '{' | '}' | '\u{7f}')
            || is_unspaced(character)
            || (!character.is_ascii() && !character.is_alphanumeric())
    };
    text[at..].find(ends).map_or(text.len(), |length| at + length)
}
