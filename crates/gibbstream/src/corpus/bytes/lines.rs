//! Numbered lines of an input, in one reused buffer and never more memory than the longest line allowed.

use std::io::Write;
use std::ops::Range;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use crate::corpus::bytes::source::Source;
use crate::error::{Error, Place, Result};

/// The longest line that is accepted; it has to fit in memory.
pub(crate) const MAX_LINE_BYTES: usize = 256 << 20;

const FIRST_BLOCK_BYTES: usize = 256 << 10;

/// Lines that are looked at ahead fit into so many bytes.
const PEEKED_BYTES: usize = 4 << 20;

/// From this length on, memory is asked for before a record is parsed.
pub(crate) const LARGE_RECORD_BYTES: usize = 1 << 20;

/// What a parser may need for each byte of a record: lists of short tokens take the most.
const PARSER_BYTES: usize = 16;

/// Whether the system would give the memory that parsing a record takes. Asking first turns the end of the process into
/// an error.
pub(crate) fn has_memory_for(record: usize) -> bool {
    record < LARGE_RECORD_BYTES || Vec::<u8>::new().try_reserve_exact(record.saturating_mul(PARSER_BYTES)).is_ok()
}

/// The error for a record that is too large for this machine, or for the limits of this process.
pub(crate) fn no_memory(place: Place, bytes: usize) -> Error {
    Error::bad_record(
        place,
        "record too large",
        format!("there is not enough memory for a record of {bytes} bytes"),
        "check that this is the right file, split the document, or allow more memory",
    )
}

/// The lines of a [`Source`], without their ends (`\n` or `\r\n`) and without a UTF-8 byte order mark.
pub(crate) struct Lines {
    source: Source,
    block: Vec<u8>,
    /// The part of `block` that has been read and not yet handed out.
    unread: Range<usize>,
    number: u64,
    longest: usize,
    /// The rest of a line that was refused for its length is still to come.
    overlong: bool,
    /// Bytes of the source before the block.
    before: u64,
    /// Where the bytes are counted that were handed out, if somebody wants to know.
    taken: Option<Arc<AtomicU64>>,
}

impl Lines {
    /// Starts reading.
    pub fn new(source: Source) -> Result<Self> {
        Self::with_longest(source, MAX_LINE_BYTES)
    }

    fn with_longest(source: Source, longest: usize) -> Result<Self> {
        let block = vec![0; FIRST_BLOCK_BYTES];
        let taken = source.taken();
        let mut lines =
            Self { source, block, unread: 0..0, number: 0, longest, overlong: false, before: 0, taken };
        let start = lines.peek(3)?;
        if start.starts_with(b"\xef\xbb\xbf") {
            lines.unread.start += 3;
        } else if start.starts_with(b"\xff\xfe") || start.starts_with(b"\xfe\xff") {
            return Err(Error::corpus(
                lines.file(),
                "is UTF-16 text",
                "convert it to UTF-8, for example with `iconv -f UTF-16 -t UTF-8`",
            ));
        }
        Ok(lines)
    }

    /// The next line as bytes; `None` at the end.
    pub fn next_bytes(&mut self) -> Result<Option<&[u8]>> {
        Ok(self.next_range()?.map(|range| &self.block[range]))
    }

    /// The next line that is not blank, as bytes; `None` at the end.
    #[inline]
    pub fn next_filled(&mut self) -> Result<Option<&[u8]>> {
        while let Some(range) = self.next_range()? {
            if !self.block[range.clone()].trim_ascii_start().is_empty() {
                return Ok(Some(&self.block[range]));
            }
        }
        Ok(None)
    }

    /// The next line as `parse` understands it, which is given the bytes from its beginning on, as many as there are, and
    /// tells how many belong to it. For files of many short lines, nearly all of which are as `parse` wants them; if it
    /// gives none, nothing is handed out.
    #[inline]
    pub fn next_parsed<T>(&mut self, parse: impl FnOnce(&[u8]) -> Option<(T, usize)>) -> Option<T> {
        if self.overlong {
            return None;
        }
        let (parsed, length) = parse(&self.block[self.unread.clone()])?;
        self.unread.start += length;
        self.number += 1;
        Some(parsed)
    }

    /// The next line as text; `None` at the end.
    pub fn next_text(&mut self) -> Result<Option<&str>> {
        let Some(range) = self.next_range()? else { return Ok(None) };
        match std::str::from_utf8(&self.block[range]) {
            Ok(text) => Ok(Some(text)),
            Err(error) => Err(Error::bad_record(
                self.place(),
                "not UTF-8",
                format!("is not UTF-8 text at byte {} of the line", error.valid_up_to() + 1),
                "convert the file to UTF-8, for example with `iconv`",
            )),
        }
    }

    /// At least the next `bytes` bytes, or all that are left, without moving on.
    pub fn peek(&mut self, bytes: usize) -> Result<&[u8]> {
        while self.unread.len() < bytes && self.read_more()? {}
        Ok(&self.block[self.unread.clone()])
    }

    /// The next `count` lines, or all that are left, without moving on; no more of them than fit into a large record.
    pub fn peek_lines(&mut self, count: usize) -> Result<&[u8]> {
        let (mut searched, mut found) = (0, 0);
        loop {
            let unread = &self.block[self.unread.clone()];
            let limit = unread.len().min(PEEKED_BYTES);
            while let Some(end) = memchr::memchr(b'\n', &unread[searched..limit]) {
                searched += end + 1;
                found += 1;
                if found == count {
                    return Ok(&self.block[self.unread.clone()][..searched]);
                }
            }
            searched = limit;
            if limit == PEEKED_BYTES || !self.read_more()? {
                return Ok(&self.block[self.unread.clone()][..searched]);
            }
        }
    }

    /// Some of the bytes that have not been handed out, for readers with another idea of lines; 0 at the end.
    pub fn read(&mut self, into: &mut [u8]) -> Result<usize> {
        if self.unread.is_empty() && !self.read_more()? {
            return Ok(0);
        }
        let size = into.len().min(self.unread.len());
        into[..size].copy_from_slice(&self.block[self.unread.start..][..size]);
        self.unread.start += size;
        Ok(size)
    }

    /// Writes all that has not been handed out to `out`; `written` names it if it cannot be written.
    pub fn copy_to(&mut self, out: &mut dyn Write, written: &Path) -> Result<()> {
        loop {
            out.write_all(&self.block[self.unread.clone()])
                .map_err(|error| Error::io(written, "write", error))?;
            self.unread = 0..0;
            if !self.read_more()? {
                return Ok(());
            }
        }
    }

    /// Whether the input is compressed.
    pub fn is_packed(&self) -> bool {
        self.source.is_packed()
    }

    /// The line handed out last.
    pub fn place(&self) -> Place {
        Place::line(self.source.name(), self.number)
    }

    /// The input as a whole.
    pub fn file(&self) -> Place {
        Place::file(self.source.name())
    }

    #[inline]
    fn next_range(&mut self) -> Result<Option<Range<usize>>> {
        if self.overlong {
            self.drop_line()?;
        }
        let mut searched = 0;
        loop {
            let unread = &self.block[self.unread.clone()];
            let end = unread[searched..].iter().position(|&byte| byte == b'\n').map(|at| searched + at);
            searched = unread.len();
            if end.unwrap_or(searched) > self.longest {
                self.overlong = true;
                return Err(Error::bad_record(
                    Place::line(self.source.name(), self.number + 1),
                    "line too long",
                    format!("the line is longer than {} bytes", self.longest),
                    "check that this is the right file, or split the document",
                ));
            }
            if let Some(length) = end {
                let range = self.hand_out(length, 1);
                return self.affordable(range).map(Some);
            }
            if !self.read_more()? {
                if searched == 0 {
                    return Ok(None);
                }
                let range = self.hand_out(searched, 0);
                return self.affordable(range).map(Some);
            }
        }
    }

    #[inline]
    fn affordable(&self, line: Range<usize>) -> Result<Range<usize>> {
        if has_memory_for(line.len()) { Ok(line) } else { Err(no_memory(self.place(), line.len())) }
    }

    /// Passes over the rest of a line without holding it.
    #[cold]
    fn drop_line(&mut self) -> Result<()> {
        self.overlong = false;
        self.number += 1;
        loop {
            let unread = &self.block[self.unread.clone()];
            if let Some(end) = unread.iter().position(|&byte| byte == b'\n') {
                self.unread.start += end + 1;
                return Ok(());
            }
            self.unread = 0..0;
            if !self.read_more()? {
                return Ok(());
            }
        }
    }

    #[inline]
    fn hand_out(&mut self, length: usize, line_feed: usize) -> Range<usize> {
        let start = self.unread.start;
        let mut end = start + length;
        self.unread.start = end + line_feed;
        self.number += 1;
        if let Some(taken) = &self.taken {
            taken.store(self.before + self.unread.start as u64, Ordering::Release);
        }
        if end > start && self.block[end - 1] == b'\r' {
            end -= 1;
        }
        start..end
    }

    /// Reads behind the unread part; false at the end of the input.
    fn read_more(&mut self) -> Result<bool> {
        if self.unread.start > 0 {
            self.block.copy_within(self.unread.clone(), 0);
            self.before += self.unread.start as u64;
            self.unread = 0..self.unread.len();
        }
        if self.unread.end == self.block.len() {
            // Exactly, because the vector's own way of growing would go beyond the longest line.
            let larger = (2 * self.block.len()).min(self.longest.max(FIRST_BLOCK_BYTES) + 2);
            if self.block.try_reserve_exact(larger - self.block.len()).is_err() {
                self.overlong = true;
                return Err(no_memory(Place::line(self.source.name(), self.number + 1), larger));
            }
            self.block.resize(larger, 0);
        }
        let count = self.source.read(&mut self.block[self.unread.end..], self.number + 1)?;
        self.unread.end += count;
        Ok(count > 0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::corpus::bytes::source::Trickle;
    use std::io::Read;

    fn lines(content: &[u8], chunk: usize, longest: usize) -> Result<Vec<String>> {
        let source = Source::new(Path::new("in"), Trickle::new(content, chunk))?;
        let mut lines = Lines::with_longest(source, longest)?;
        let mut all = Vec::new();
        while let Some(line) = lines.next_text()? {
            all.push(line.to_owned());
        }
        Ok(all)
    }

    #[test]
    fn line_ends_and_byte_order_mark_are_removed_in_any_chunks() {
        for chunk in [1, 2, 7, 1 << 16] {
            for (content, expected) in [
                (&b""[..], &[][..]),
                (b"\xef\xbb\xbf", &[]),
                (b"\n", &[""]),
                (b"a", &["a"]),
                (b"a\n", &["a"]),
                (b"a\r\nb\r\n", &["a", "b"]),
                (b"\xef\xbb\xbfa\n\nb", &["a", "", "b"]),
                (b"a\rb\n", &["a\rb"]),
            ] {
                assert_eq!(lines(content, chunk, 100).unwrap(), expected, "{content:?} by {chunk}");
            }
        }
    }

    #[test]
    fn lines_longer_than_a_block_are_whole() {
        let long = "x".repeat(3 * FIRST_BLOCK_BYTES + 17);
        let content = format!("a\n{long}\nb\n");
        for chunk in [1000, 1 << 20] {
            assert_eq!(lines(content.as_bytes(), chunk, MAX_LINE_BYTES).unwrap(), ["a", &long, "b"]);
        }
    }

    #[test]
    fn a_line_beyond_the_limit_is_refused_and_never_held() {
        let endless =
            Source::new(Path::new("bomb"), Read::chain(&b"ok\n"[..], std::io::repeat(b'x'))).unwrap();
        let mut lines = Lines::with_longest(endless, 1 << 20).unwrap();
        assert_eq!(lines.next_text().unwrap(), Some("ok"));
        assert_eq!(
            lines.next_text().unwrap_err().to_string(),
            "bomb:2: the line is longer than 1048576 bytes; \
             check that this is the right file, or split the document"
        );
        assert!(lines.block.capacity() <= (1 << 20) + 2);
        assert!(super::tests::lines(b"12345\n", 3, 5).is_ok());
        assert!(super::tests::lines(b"123456\n", 3, 5).is_err());
    }

    #[test]
    fn reading_goes_on_after_a_line_beyond_the_limit() {
        for chunk in [1, 3, 100] {
            let source =
                Source::new(Path::new("in"), Trickle::new(b"a\n1234567\nb\n12345678", chunk)).unwrap();
            let mut lines = Lines::with_longest(source, 5).unwrap();
            assert_eq!(lines.next_text().unwrap(), Some("a"));
            assert!(lines.next_text().is_err());
            assert_eq!(lines.next_text().unwrap(), Some("b"));
            assert_eq!(lines.place().line, Some(3));
            assert!(lines.next_text().is_err());
            assert_eq!(lines.next_text().unwrap(), None);
        }
    }

    #[test]
    fn text_that_is_not_utf_8_is_located() {
        assert_eq!(
            lines(b"fine\nna\xefve\n", 64, 100).unwrap_err().to_string(),
            "in:2: is not UTF-8 text at byte 3 of the line; convert the file to UTF-8, for example with `iconv`"
        );
    }
}
