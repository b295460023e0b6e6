//! Counts as triplets: the UCI bag-of-words format with three header lines (documents, words, entries) and then
//! `document word count`, and Matrix Market with another header.
//!
//! Ids count from 1 and documents are in order; an id without entries is an empty document.

use std::sync::Arc;

use crate::corpus::Document;
use crate::corpus::bytes::bad_records::BadRecords;
use crate::corpus::formats::bag::Bag;
use crate::corpus::bytes::lines::Lines;
use crate::corpus::formats::numbered_words::NumberedWords;
use crate::corpus::formats::numbers::{count, not_a_number, whole_number};
use crate::corpus::stream::DocumentReader;
use crate::corpus::text::vocabulary::{Vocabulary, WordIds};
use crate::error::{Error, Place, Result};

const ENTRY: &str = "every line after the header is `document word count`, three whole numbers";
const COUNTED_FROM_ONE: &str = "ids count from 1; check that this is the docword file, not another format";

/// How the lines after the header are written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Entries {
    /// `document word count`.
    Uci,
    /// `row column value`, where rows are documents unless transposed, and the value may be left out.
    MatrixMarket { transpose: bool, has_values: bool },
}

impl Entries {
    /// Document, word and count.
    #[inline]
    fn parse(self, line: &[u8]) -> Result<[u64; 3], String> {
        match self {
            Self::Uci => whole_numbers(line).ok_or_else(|| explain(line)),
            Self::MatrixMarket { transpose, has_values } => {
                let fields: Vec<&[u8]> =
                    line.split(u8::is_ascii_whitespace).filter(|field| !field.is_empty()).collect();
                let (row, column, value): (&[u8], &[u8], &[u8]) = match (&fields[..], has_values) {
                    (&[row, column, value], true) => (row, column, value),
                    (&[row, column], false) => (row, column, b"1"),
                    _ => return Err(format!("the line has {} fields", fields.len())),
                };
                let id =
                    |name: &str, field: &[u8]| whole_number(field).ok_or_else(|| not_a_number(name, field));
                let (row, column) = (id("the row", row)?, id("the column", column)?);
                let count = u64::from(count("the count", value)?);
                Ok(if transpose { [column, row, count] } else { [row, column, count] })
            }
        }
    }

    /// Document, word and count from the numbers of a line; `None` if a line has other fields.
    #[inline]
    fn arrange(self, [row, column, count]: [u64; 3]) -> Option<[u64; 3]> {
        match self {
            Self::Uci | Self::MatrixMarket { transpose: false, has_values: true } => {
                Some([row, column, count])
            }
            Self::MatrixMarket { transpose: true, has_values: true } => Some([column, row, count]),
            Self::MatrixMarket { has_values: false, .. } => None,
        }
    }

    fn advice(self) -> &'static str {
        match self {
            Self::Uci => ENTRY,
            Self::MatrixMarket { .. } => "every line after the header is `row column count`, whole numbers",
        }
    }
}

/// The three numbers at the top.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Header {
    pub documents: u64,
    pub words: u64,
    pub entries: u64,
}

impl Header {
    fn read(lines: &mut Lines) -> Result<Self> {
        let mut next = |name: &str| {
            let advice = "the first three lines are the numbers of documents, words and entries";
            let Some(line) = lines.next_filled()? else {
                let problem = format!("the header ends before the number of {name}");
                return Err(Error::corpus(lines.file(), problem, advice));
            };
            let field = line.trim_ascii();
            whole_number(field)
                .ok_or_else(|| not_a_number(&format!("the number of {name}"), field))
                .map_err(|problem| Error::corpus(lines.place(), problem, advice))
        };
        Ok(Self { documents: next("documents")?, words: next("words")?, entries: next("entries")? })
    }

    /// Whether a file begins like the format: three numbers, and then lines of three numbers.
    pub fn recognise(start: &[u8]) -> bool {
        let mut lines = start.split(|&byte| byte == b'\n').map(<[u8]>::trim_ascii);
        lines.by_ref().take(3).filter(|line| whole_number(line).is_some()).count() == 3
            && lines.next().is_some_and(|line| line.is_empty() || is_entry(line))
    }
}

/// Whether a line has the two ids of an entry and something like a number after them; whether it is right is another
/// question.
fn is_entry(line: &[u8]) -> bool {
    let fields: Vec<&[u8]> = line.split(u8::is_ascii_whitespace).filter(|field| !field.is_empty()).collect();
    let [document, word, count] = fields[..] else { return false };
    let is_number = std::str::from_utf8(count).is_ok_and(|count| count.parse::<f64>().is_ok());
    whole_number(document).is_some() && whole_number(word).is_some() && is_number
}

/// One line after the header.
#[derive(Clone, Copy)]
struct Entry {
    document: u64,
    word: u64,
    count: u32,
}

/// Reads the entries.
pub(crate) struct UciReader {
    lines: Lines,
    header: Header,
    entries: Entries,
    names: NumberedWords,
    bad: Arc<BadRecords>,
    bag: Bag,
    next: Option<Entry>,
    entries_read: u64,
    documents_read: u64,
}

impl UciReader {
    /// Reads the header and compares it with the vocabulary, which `vocabulary_file` is.
    pub fn new(
        mut lines: Lines,
        vocabulary: Vocabulary,
        vocabulary_file: &Place,
        bad: Arc<BadRecords>,
    ) -> Result<Self> {
        let header = Header::read(&mut lines)?;
        if header.words != vocabulary.len() as u64 {
            return Err(Error::corpus(
                vocabulary_file.clone(),
                format!(
                    "holds {} words, but the header of {} says {}",
                    vocabulary.len(),
                    lines.file(),
                    header.words
                ),
                "use the vocabulary file that belongs to it",
            ));
        }
        Ok(Self::with_header(lines, header, Entries::Uci, Some(vocabulary), bad))
    }

    /// Reads what comes after a header.
    pub fn with_header(
        lines: Lines,
        header: Header,
        entries: Entries,
        names: Option<Vocabulary>,
        bad: Arc<BadRecords>,
    ) -> Self {
        Self {
            lines,
            header,
            entries,
            names: NumberedWords::new(names, 1),
            bad,
            bag: Bag::default(),
            next: None,
            entries_read: 0,
            documents_read: 0,
        }
    }

    /// What the header says.
    pub fn header(&self) -> Header {
        self.header
    }

    /// Collects the entries of the next document into the bag, or only passes over them; false after the last.
    fn collect(&mut self, mut words: Option<&mut dyn WordIds>) -> Result<bool> {
        if self.documents_read == 0 {
            self.next = self.read_entry()?;
        }
        if self.documents_read == self.header.documents {
            return Ok(false);
        }
        self.documents_read += 1;
        self.bag.clear();
        while let Some(entry) = self.next.filter(|entry| entry.document == self.documents_read) {
            let word = words.as_deref_mut().and_then(|words| self.names.id(entry.word, words));
            self.bag.add(word, entry.count);
            self.bag.check(|| (self.lines.place(), format!("document {}", entry.document)))?;
            self.next = self.read_entry()?;
        }
        Ok(true)
    }

    #[inline]
    fn read_entry(&mut self) -> Result<Option<Entry>> {
        if let Some(entry) = self.read_plain() {
            return Ok(Some(entry));
        }
        self.read_carefully()
    }

    /// An entry that is written as nearly all are and in which nothing is wrong; any other is left to be read carefully.
    #[inline]
    fn read_plain(&mut self) -> Option<Entry> {
        if self.entries_read == self.header.entries {
            return None;
        }
        let (header, entries, first) = (self.header, self.entries, self.documents_read.max(1));
        let entry = self.lines.next_parsed(|bytes| {
            let (numbers, length) = plain_numbers(bytes)?;
            let [document, word, count] = entries.arrange(numbers)?;
            let sound = (first..=header.documents).contains(&document) && (1..=header.words).contains(&word);
            (sound && count > 0).then_some((Entry { document, word, count: count as u32 }, length))
        })?;
        self.entries_read += 1;
        Some(entry)
    }

    #[inline(never)]
    fn read_carefully(&mut self) -> Result<Option<Entry>> {
        loop {
            match self.read_line() {
                Err(error) => self.bad.pass_over(error)?,
                read => return read,
            }
        }
    }

    fn read_line(&mut self) -> Result<Option<Entry>> {
        let finished = self.entries_read == self.header.entries;
        let Some(line) = self.lines.next_filled()? else {
            return if finished { Ok(None) } else { Err(self.too_few_entries()) };
        };
        let numbers = self.entries.parse(line);
        if finished {
            return Err(self.refuse(
                format!("there are more entries than the {} that the header promises", self.header.entries),
                "the header does not belong to this file, or the file was changed by hand",
            ));
        }
        self.entries_read += 1;
        let [document, word, count] = numbers.map_err(|problem| {
            Error::bad_record(self.lines.place(), "not three numbers", problem, self.entries.advice())
        })?;
        self.check_entry(document, word, count)?;
        Ok(Some(Entry { document, word, count: count as u32 }))
    }

    fn check_entry(&self, document: u64, word: u64, count: u64) -> Result<()> {
        let Header { documents, words, .. } = self.header;
        // `documents_read` is the document that is being collected.
        let in_order = document >= self.documents_read.max(1);
        if in_order
            && document <= documents
            && (1..=words).contains(&word)
            && (1..=u64::from(u32::MAX)).contains(&count)
        {
            return Ok(());
        }
        let (kind, problem, advice) = if document == 0 {
            ("document out of range", "document id 0".into(), COUNTED_FROM_ONE)
        } else if document > documents {
            (
                "document out of range",
                format!("document id {document}, but the header promises only {documents} documents"),
                "the header does not belong to this file, or the file was changed by hand",
            )
        } else if !in_order {
            (
                "documents out of order",
                format!("unsorted: document id {document} after {}", self.documents_read),
                "documents must be in order; sort the lines after the header, for example with `sort -n -k1,1 -s`",
            )
        } else if word == 0 {
            ("word out of range", "word id 0".into(), COUNTED_FROM_ONE)
        } else if word > words {
            (
                "word out of range",
                format!("word id {word}, but there are only {words} words"),
                "the header does not belong to this file, or the file was changed by hand",
            )
        } else if count == 0 {
            ("count out of range", "the count is 0".into(), "leave out words that do not occur")
        } else {
            ("count out of range", format!("the count {count} is too large"), "a count is at most 4294967295")
        };
        Err(Error::bad_record(self.lines.place(), kind, problem, advice))
    }

    fn too_few_entries(&self) -> Error {
        self.refuse(
            format!(
                "the file ends after {} of the {} entries that the header promises",
                self.entries_read, self.header.entries
            ),
            "the file was cut short, or the header does not belong to it",
        )
    }

    fn refuse(&self, problem: impl Into<String>, advice: &str) -> Error {
        Error::corpus(self.lines.place(), problem, advice)
    }
}

impl DocumentReader for UciReader {
    fn next(&mut self, words: &mut dyn WordIds) -> Result<Option<Document>> {
        let more = self.collect(Some(words))?;
        Ok(more.then(|| self.bag.take(Some(self.documents_read.to_string()), Vec::new())))
    }

    fn skip(&mut self) -> Result<bool> {
        self.collect(None)
    }
}

/// Digits that surely fit into 32 bits.
const PLAIN_DIGITS: usize = 9;

/// Three whole numbers with one blank between them and a line feed after them, and how many bytes that was.
#[inline]
fn plain_numbers(bytes: &[u8]) -> Option<([u64; 3], usize)> {
    let (mut numbers, mut at) = ([0; 3], 0);
    for (number, end) in numbers.iter_mut().zip([b' ', b' ', b'\n']) {
        let start = at;
        while let Some(digit) = bytes.get(at).map(|byte| byte.wrapping_sub(b'0')).filter(|digit| *digit <= 9)
        {
            *number = u64::wrapping_add(u64::wrapping_mul(*number, 10), u64::from(digit));
            at += 1;
        }
        if bytes.get(at) != Some(&end) || !(1..=PLAIN_DIGITS).contains(&(at - start)) {
            return None;
        }
        at += 1;
    }
    Some((numbers, at))
}

/// A line of three whole numbers between blanks.
#[inline]
fn whole_numbers(line: &[u8]) -> Option<[u64; 3]> {
    let mut numbers = [0; 3];
    let mut rest = line;
    for number in &mut numbers {
        while let [b' ' | b'\t', tail @ ..] = rest {
            rest = tail;
        }
        let end = rest.iter().position(|byte| !byte.is_ascii_digit()).unwrap_or(rest.len());
        *number = whole_number(&rest[..end])?;
        rest = &rest[end..];
        if !matches!(rest.first(), None | Some(b' ' | b'\t')) {
            return None;
        }
    }
    rest.trim_ascii().is_empty().then_some(numbers)
}

/// Why a line is not three whole numbers.
fn explain(line: &[u8]) -> String {
    let fields: Vec<&[u8]> = line.split(u8::is_ascii_whitespace).filter(|field| !field.is_empty()).collect();
    if fields.len() != 3 {
        return format!("the line has {} fields instead of 3", fields.len());
    }
    let names = ["the document id", "the word id", "the count"];
    names
        .iter()
        .zip(fields)
        .find(|(_, field)| whole_number(field).is_none())
        .map_or_else(|| "the line is not three numbers".into(), |(name, field)| not_a_number(name, field))
}
