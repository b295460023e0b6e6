//! Text that was changed, and where each part of it stood before.

use std::ops::Range;

/// A part that stands together in both texts.
#[derive(Clone, Copy, Debug)]
struct Part {
    /// Where it begins in the changed text.
    at: usize,
    /// The bytes of the original that it stands for.
    from: usize,
    to: usize,
    /// Whether it stands there as it is, byte by byte.
    is_kept: bool,
}

/// A changed text.
#[derive(Debug, Default)]
pub(crate) struct Placed {
    text: String,
    /// Ascending; empty for a text that begins with nothing.
    parts: Vec<Part>,
}

impl Placed {
    pub fn text(&self) -> &str {
        &self.text
    }

    /// Forgets everything but the memory.
    pub fn clear(&mut self) {
        self.text.clear();
        self.parts.clear();
    }

    /// Adds a part of the original as it is.
    pub fn keep(&mut self, original: &str, part: Range<usize>) {
        if part.is_empty() {
            return;
        }
        self.push(&original[part.clone()], part, true);
    }

    /// Adds something that stands for a part of the original.
    pub fn put(&mut self, text: &str, part: Range<usize>) {
        self.push(text, part, false);
    }

    /// The same for one character.
    pub fn put_char(&mut self, character: char, part: Range<usize>) {
        self.put(character.encode_utf8(&mut [0; 4]), part);
    }

    /// The bytes of the original that bytes of the changed text stand for.
    pub fn original(&self, place: Range<usize>) -> Range<usize> {
        let part = |byte: usize| self.parts[self.parts.partition_point(|part| part.at <= byte) - 1];
        if place.is_empty() || self.parts.is_empty() {
            return 0..0;
        }
        let (first, last) = (part(place.start), part(place.end - 1));
        // What is not kept as it is stands for the whole of its part: a place within it may be within a character.
        let start = if first.is_kept { first.from + (place.start - first.at) } else { first.from };
        let end = if last.is_kept { last.from + (place.end - last.at) } else { last.to };
        start..end.max(start)
    }

    fn push(&mut self, text: &str, part: Range<usize>, is_kept: bool) {
        self.parts.push(Part { at: self.text.len(), from: part.start, to: part.end, is_kept });
        self.text.push_str(text);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn places_lead_back_to_the_original() {
        let original = "caf&eacute; <b>noir</b>";
        let mut placed = Placed::default();
        placed.keep(original, 0..3);
        placed.put("é", 3..11);
        placed.keep(original, 11..12);
        placed.keep(original, 15..19);
        assert_eq!(placed.text(), "café noir");
        for (word, expected) in [("café", "caf&eacute;"), ("noir", "noir"), ("oi", "oi"), ("af", "af")] {
            let start = placed.text().find(word).unwrap();
            assert_eq!(&original[placed.original(start..start + word.len())], expected);
        }
        assert_eq!(placed.original(0..0), 0..0);
    }

    #[test]
    fn places_within_something_else_are_those_of_the_whole() {
        // Of the same length as before, shorter and longer.
        for (before, after) in [("㏇", "Co."), ("ﬁ", "fi"), ("´", " \u{301}")] {
            let original = format!("a{before}b");
            let mut placed = Placed::default();
            placed.keep(&original, 0..1);
            placed.put(after, 1..1 + before.len());
            placed.keep(&original, 1 + before.len()..original.len());
            let inner = 1..1 + after.len();
            assert_eq!(&original[placed.original(inner.start + 1..inner.end)], before);
            assert_eq!(&original[placed.original(inner.start..inner.start + 1)], before);
            assert_eq!(&original[placed.original(inner.start + 1..inner.end + 1)], &original[1..]);
        }
    }
}
