//! Markup out of text: tags, comments, scripts and styles, entities.
//!
//! One pass, and no byte is looked at more often than a few times: a search that found nothing is not made again.

use std::ops::Range;

use serde::{Deserialize, Serialize};

use crate::corpus::text::entities;
use crate::corpus::text::placed::Placed;

/// What happens to markup.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Html {
    /// What is recognised as markup is stripped: elements of HTML, anything with attributes, closing tags.
    Auto,
    /// Everything is stripped that HTML would take for a tag.
    Strip,
    /// It is text.
    #[default]
    Keep,
}

impl Html {
    /// All of them, by the names that users give.
    pub const NAMES: [(&'static str, Self); 3] =
        [("auto", Self::Auto), ("strip", Self::Strip), ("keep", Self::Keep)];
}

/// Elements of HTML, present and past.
const ELEMENTS: &str = " a abbr acronym address applet area article aside audio b base basefont bdi bdo bgsound big \
    blink blockquote body br button canvas caption center cite code col colgroup data datalist dd del details dfn dialog \
    dir div dl dt em embed fieldset figcaption figure font footer form frame frameset h1 h2 h3 h4 h5 h6 head header \
    hgroup hr html i iframe img input ins kbd label legend li link main map mark marquee menu meta meter nav nobr \
    noframes noscript object ol optgroup option output p param picture pre progress q rp rt ruby s samp script search \
    section select slot small source span strike strong style sub summary sup svg table tbody td template textarea tfoot \
    th thead time title tr track tt u ul var video wbr xmp ";

/// Elements that are used within words: `<b>H</b>ello`.
const WITHIN_WORDS: &str = " b big del em font i ins mark s small strong sub sup tt u wbr ";

/// Attributes that have no value.
const BARE_ATTRIBUTES: &str = " async autofocus autoplay checked compact controls declare defer disabled hidden ismap \
    itemscope loop multiple muted nohref noresize noshade novalidate nowrap open readonly required reversed selected ";

/// The longest name of an element that is looked up.
const LONGEST_NAME: usize = 32;

/// Whether a lower-case list has a name, whatever its case.
fn lists(list: &str, name: &[u8]) -> bool {
    let mut wanted = [b' '; LONGEST_NAME + 2];
    let Some(place) = wanted.get_mut(1..=name.len()).filter(|place| place.len() <= LONGEST_NAME) else { return false };
    place.copy_from_slice(name);
    place.make_ascii_lowercase();
    memchr::memmem::find(list.as_bytes(), &wanted[..name.len() + 2]).is_some()
}

/// A text without its markup; its memory is used again for the next.
#[derive(Debug, Default)]
pub(crate) struct Stripped {
    pub placed: Placed,
    /// Tags and comments.
    pub pieces: u64,
    /// Whether an entity became a character that may begin markup.
    pub may_hide_more: bool,
    /// Bytes looked at, which tests compare with the length.
    pub work: usize,
}

/// What a `<` begins.
struct Piece {
    length: usize,
    /// Whether words on both sides are parted.
    parts_words: bool,
}

/// Whether there is anything to strip.
pub(crate) fn may_have_markup(text: &str) -> bool {
    memchr::memchr2(b'<', b'&', text.as_bytes()).is_some()
}

impl Stripped {
    /// Strips `text`.
    pub fn strip(&mut self, text: &str, html: Html) {
        self.placed.clear();
        (self.pieces, self.may_hide_more, self.work) = (0, false, 0);
        let mut scanner = Scanner { text, bytes: text.as_bytes(), strict: html == Html::Strip, ..Scanner::default() };
        let (mut kept, mut at) = (0, 0);
        while let Some(next) = memchr::memchr2(b'<', b'&', &scanner.bytes[at..]).map(|found| at + found) {
            if scanner.bytes[next] == b'&' {
                at = next + 1;
                if let Some((character, length)) = entities::decode(&text[next..]) {
                    self.placed.keep(text, kept..next);
                    self.placed.put_char(character, next..next + length);
                    self.may_hide_more |= matches!(character, '<' | '&');
                    (kept, at) = (next + length, next + length);
                }
            } else if let Some(piece) = scanner.piece(next) {
                self.placed.keep(text, kept..next);
                if piece.parts_words {
                    self.placed.put(" ", next..next + piece.length);
                }
                self.pieces += 1;
                (kept, at) = (next + piece.length, next + piece.length);
            } else {
                at = next + 1;
            }
        }
        self.placed.keep(text, kept..text.len());
        self.work += text.len() + scanner.work;
    }
}

/// Finds where pieces of markup end.
#[derive(Default)]
struct Scanner<'a> {
    text: &'a str,
    bytes: &'a [u8],
    /// Whether everything is taken for markup that may be.
    strict: bool,
    work: usize,
    /// From where on there are no more of them.
    no_comment_end: Option<usize>,
    no_script_end: Option<usize>,
    no_style_end: Option<usize>,
    no_double_quote: Option<usize>,
    no_single_quote: Option<usize>,
}

/// Attributes that were read.
#[derive(Default)]
struct Attributes {
    with_values: usize,
    /// Words that are no attributes of HTML.
    strange: usize,
    closed: bool,
}

impl Scanner<'_> {
    /// The piece of markup that begins with the `<` at `start`, if it is one.
    fn piece(&mut self, start: usize) -> Option<Piece> {
        let gap = |length| Some(Piece { length, parts_words: true });
        match &self.bytes[start + 1..] {
            [b'!', b'-', b'-', ..] => {
                let end = find(self.bytes, start + 4, b"-->", &mut self.no_comment_end, &mut self.work);
                // What is left open would take the rest of the text with it.
                gap(end.map_or(4, |end| end + 3 - start))
            }
            rest if starts_with(rest, b"![cdata[") => gap(9),
            rest if starts_with(rest, b"!doctype") || starts_with(rest, b"![") => self.find_bracket(start).and_then(gap),
            [b'?', letter, ..] if letter.is_ascii_alphabetic() => self.find_bracket(start).and_then(gap),
            [b'/', letter, ..] if letter.is_ascii_alphabetic() => self.closing_tag(start),
            [letter, ..] if letter.is_ascii_alphabetic() => self.opening_tag(start),
            _ => None,
        }
    }

    /// The bytes up to the next `>`, if no `<` comes first.
    fn find_bracket(&mut self, start: usize) -> Option<usize> {
        let inner = &self.bytes[start + 1..];
        let end = memchr::memchr2(b'<', b'>', inner);
        self.work += end.unwrap_or(inner.len());
        end.filter(|&end| inner[end] == b'>').map(|end| end + 2)
    }

    fn name(&self, start: usize) -> Range<usize> {
        let is_name = |byte: &u8| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b':' | b'_');
        let length = self.bytes[start..].iter().take(LONGEST_NAME + 1).take_while(|byte| is_name(byte)).count();
        start..start + length
    }

    /// `</name>`, which is never anything else.
    fn closing_tag(&mut self, start: usize) -> Option<Piece> {
        let name = self.name(start + 2);
        let blanks = self.bytes[name.end..].iter().take_while(|byte| byte.is_ascii_whitespace()).count();
        let is_plain = self.bytes.get(name.end + blanks) == Some(&b'>');
        self.work += blanks;
        let length = if is_plain { name.end + blanks + 1 - start } else { self.find_bracket(start)? };
        let parts_words = !lists(WITHIN_WORDS, &self.bytes[name.clone()]);
        (is_plain || self.strict || lists(ELEMENTS, &self.bytes[name])).then_some(Piece { length, parts_words })
    }

    fn opening_tag(&mut self, start: usize) -> Option<Piece> {
        let name = self.name(start + 1);
        let is_known = lists(ELEMENTS, &self.bytes[name.clone()]);
        let follows = self.bytes.get(name.end).copied();
        if !self.strict && follows.is_some_and(|byte| !matches!(byte, b'>' | b'/') && !byte.is_ascii_whitespace()) {
            return None;
        }
        let mut attributes = Attributes::default();
        let end = self.attributes(name.end, &mut attributes);
        self.work += end.unwrap_or(name.end) - start;
        let is_tag = self.strict
            || attributes.with_values > 0
            || (if is_known { attributes.strange == 0 } else { attributes.closed });
        let end = match end {
            Some(end) if is_tag => end,
            None if self.strict || (is_known && attributes.with_values > 0) => {
                match self.find_bracket(start) {
                    Some(length) => start + length,
                    // The text was cut off within the tag.
                    None if memchr::memchr(b'<', &self.bytes[start + 1..]).is_none() => self.bytes.len(),
                    None => return None,
                }
            }
            _ => return None,
        };
        let element = &self.bytes[name.clone()];
        let parts_words = !lists(WITHIN_WORDS, element);
        let raw = if element.eq_ignore_ascii_case(b"script") {
            find(self.bytes, end, b"</script", &mut self.no_script_end, &mut self.work)
        } else if element.eq_ignore_ascii_case(b"style") {
            find(self.bytes, end, b"</style", &mut self.no_style_end, &mut self.work)
        } else {
            None
        };
        debug_assert!(self.text.is_char_boundary(end));
        Some(Piece { length: raw.unwrap_or(end) - start, parts_words })
    }

    /// Where a tag ends whose attributes begin at `at`; `None` if what is there is not like attributes.
    fn attributes(&mut self, mut at: usize, found: &mut Attributes) -> Option<usize> {
        loop {
            let gap = |byte: &&u8| byte.is_ascii_whitespace() || **byte == b'/';
            let blanks = self.bytes[at..].iter().take_while(gap).count();
            found.closed = blanks > 0 && self.bytes[at + blanks - 1] == b'/';
            at += blanks;
            if *self.bytes.get(at)? == b'>' {
                return Some(at + 1);
            }
            let is_name =
                |byte: &&u8| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_' | b':' | b'.' | b'@');
            let length = self.bytes[at..].iter().take_while(is_name).count();
            if length == 0 {
                return None;
            }
            let name = at..at + length;
            at += length;
            let blanks = self.bytes[at..].iter().take_while(|byte| byte.is_ascii_whitespace()).count();
            if self.bytes.get(at + blanks) != Some(&b'=') {
                found.strange += usize::from(!lists(BARE_ATTRIBUTES, &self.bytes[name]));
                continue;
            }
            found.with_values += 1;
            at += blanks + 1;
            at += self.bytes[at..].iter().take_while(|byte| byte.is_ascii_whitespace()).count();
            at = match self.bytes.get(at)? {
                b'"' => find(self.bytes, at + 1, b"\"", &mut self.no_double_quote, &mut self.work)? + 1,
                b'\'' => find(self.bytes, at + 1, b"'", &mut self.no_single_quote, &mut self.work)? + 1,
                _ => {
                    let is_value = |byte: &&u8| !byte.is_ascii_whitespace() && !matches!(byte, b'>' | b'<');
                    at + self.bytes[at..].iter().take_while(is_value).count()
                }
            };
        }
    }
}

fn starts_with(bytes: &[u8], start: &[u8]) -> bool {
    bytes.get(..start.len()).is_some_and(|begin| begin.eq_ignore_ascii_case(start))
}

/// Where `wanted` stands from `from` on, whatever its case. A search that found nothing is remembered in `none_from`.
fn find(
    bytes: &[u8],
    from: usize,
    wanted: &[u8],
    none_from: &mut Option<usize>,
    work: &mut usize,
) -> Option<usize> {
    let end = none_from.map_or(bytes.len(), |none| (none + wanted.len()).min(bytes.len()));
    let mut at = from.min(end);
    while let Some(found) = memchr::memchr(wanted[0], &bytes[at..end]).map(|found| at + found) {
        *work += found + 1 - at;
        if starts_with(&bytes[found..], wanted) {
            return Some(found);
        }
        at = found + 1;
    }
    *work += end - at;
    *none_from = Some(none_from.map_or(from, |none| none.min(from)));
    None
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn stripped(text: &str, html: Html) -> String {
        let mut stripped = Stripped::default();
        stripped.strip(text, html);
        stripped.placed.text().to_owned()
    }

    #[test]
    fn what_is_recognised_is_stripped_and_the_rest_is_text() {
        for (text, expected) in [
            ("good<br /><br>film", "good  film"),
            ("<b>H</b>ello <I>you</I>", "Hello you"),
            ("a < b and c > d", "a < b and c > d"),
            ("if x<b and c>d", "if x<b and c>d"),
            ("<a href=\"x>y\" class='z'>link</a>", " link "),
            ("<p checked>x", " x"),
            ("1 <2 <3", "1 <2 <3"),
            ("<!-- a > b -->x<!-- open y", " x  open y"),
            ("<script type=\"a\">var x = '<b>';</script>y<STYLE>p {}</style >z", "  y  z"),
            ("<script>alert(1)", " alert(1)"),
            ("shares of <IBM> and <XON.N> rose <grin>", "shares of <IBM> and <XON.N> rose <grin>"),
            ("<x:y z=\"1\">t</x:y> <w/>", " t   "),
            ("<someone@example.com> <http://a.com>", "<someone@example.com> <http://a.com>"),
            ("<!DOCTYPE html><?xml version='1'?><![CDATA[x]]>", "   x]]>"),
            ("caf&eacute; AT&amp;T &#8217; &unknown; & &#x;", "café AT&T \u{2019} &unknown; & &#x;"),
            ("cut <a href=\"http://x.y/z", "cut  "),
            ("<a href=\"a>b</a>", " b "),
            ("<", "<"),
            ("</", "</"),
            ("<a", "<a"),
            ("", ""),
        ] {
            assert_eq!(stripped(text, Html::Auto), expected, "{text}");
        }
        assert_eq!(stripped("shares of <IBM> and <some thing> a < b", Html::Strip), "shares of   and   a < b");
    }

    #[test]
    fn no_text_is_looked_at_again_and_again() {
        let many = |piece: &str| piece.repeat(100_000 / piece.len());
        for text in [
            many("<"),
            many("<a "),
            many("<a b=\""),
            many("<a b='<a c=\""),
            format!("<a b=\"{}", many("<a b='")),
            many("<!--"),
            many("<script>"),
            many("<style><script>"),
            many("</a "),
            many("&amp;"),
            many("&"),
            many("<a b=c "),
            many("<![CDATA["),
            many("<?x "),
            format!("<p {}", many("x ")),
            format!("<{}>", many("x")),
        ] {
            for html in [Html::Auto, Html::Strip] {
                let mut result = Stripped::default();
                result.strip(&text, html);
                assert!(result.work <= 12 * text.len() + 100, "{} for {:.20}", result.work, text);
            }
        }
        assert!(stripped(&"&eacute;".repeat(1_000_000), Html::Auto).chars().all(|character| character == 'é'));
    }

    proptest! {
        #[test]
        fn anything_can_be_stripped(text in "[<>&!/?a-c \"'=;#é-]{0,40}") {
            for html in [Html::Auto, Html::Strip] {
                let mut result = Stripped::default();
                result.strip(&text, html);
                let plain = result.placed.text().to_owned();
                for (at, character) in plain.char_indices() {
                    let place = result.placed.original(at..at + character.len_utf8());
                    prop_assert!(text.get(place).is_some());
                }
            }
        }
    }
}
