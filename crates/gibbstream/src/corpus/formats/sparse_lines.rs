//! A document a line, as pairs `word:count`: LDA-C (`pairs word:count ...`, words from 0) and SVMlight
//! (`label word:count ... # comment`, words from 1).

use std::sync::Arc;

use crate::corpus::Document;
use crate::corpus::bytes::bad_records::BadRecords;
use crate::corpus::formats::bag::Bag;
use crate::corpus::bytes::lines::Lines;
use crate::corpus::formats::numbered_words::NumberedWords;
use crate::corpus::formats::numbers::{count, not_a_number, whole_number};
use crate::corpus::stream::RecordReader;
use crate::corpus::text::vocabulary::{Vocabulary, WordIds};
use crate::error::{Error, Result};

/// The two ways to write such lines.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum PairFormat {
    LdaC,
    Svmlight,
}

impl PairFormat {
    /// What a line should look like.
    fn advice(self) -> &'static str {
        match self {
            Self::LdaC => "every line is `pairs word:count word:count ...`, words counted from 0",
            Self::Svmlight => "every line is `label word:count word:count ...`, words counted from 1",
        }
    }

    /// The format of a file that begins like this.
    pub fn recognise(start: &[u8]) -> Option<Self> {
        let line = start.split(|&byte| byte == b'\n').find(|line| !line.trim_ascii().is_empty())?;
        let mut fields = fields(line.split(|&byte| byte == b'#').next()?);
        let first = fields.next()?;
        let pairs = fields.map(|field| Some((whole_number(split(field)?.0)?, split(field)?.1)));
        let pairs: Option<Vec<_>> = pairs.collect();
        let pairs =
            pairs.filter(|pairs| !pairs.is_empty() && pairs.iter().all(|(_, value)| number(value)))?;
        if whole_number(first) == Some(pairs.len() as u64) {
            return Some(Self::LdaC);
        }
        number(first).then_some(Self::Svmlight)
    }
}

fn fields(line: &[u8]) -> impl Iterator<Item = &[u8]> {
    line.split(u8::is_ascii_whitespace).filter(|field| !field.is_empty())
}

fn split(field: &[u8]) -> Option<(&[u8], &[u8])> {
    let at = field.iter().position(|&byte| byte == b':')?;
    Some((&field[..at], &field[at + 1..]))
}

fn number(field: &[u8]) -> bool {
    std::str::from_utf8(field).is_ok_and(|text| text.parse::<f64>().is_ok())
}

/// Reads such lines.
pub(crate) struct PairReader {
    format: PairFormat,
    lines: Lines,
    names: NumberedWords,
    bad: Arc<BadRecords>,
    bag: Bag,
}

impl PairReader {
    pub fn new(format: PairFormat, lines: Lines, names: Option<Vocabulary>, bad: Arc<BadRecords>) -> Self {
        let names = NumberedWords::new(names, u64::from(format == PairFormat::Svmlight));
        Self { format, lines, names, bad, bag: Bag::default() }
    }
}

impl RecordReader for PairReader {
    fn bad(&self) -> &BadRecords {
        &self.bad
    }

    fn read(&mut self, words: &mut dyn WordIds) -> Result<Option<Document>> {
        loop {
            let Some(mut line) = self.lines.next_filled()? else { return Ok(None) };
            if self.format == PairFormat::Svmlight {
                line = line.split(|&byte| byte == b'#').next().unwrap_or_default();
                if line.trim_ascii().is_empty() {
                    continue;
                }
            }
            self.bag.clear();
            let read = read_pairs(self.format, line, &mut self.names, &mut self.bag, words);
            read.map_err(|(kind, problem)| {
                Error::bad_record(self.lines.place(), kind, problem, self.format.advice())
            })?;
            self.bag.check(|| (self.lines.place(), "the document".into()))?;
            return Ok(Some(self.bag.take(None, Vec::new())));
        }
    }

    fn pass(&mut self) -> Result<bool> {
        while let Some(line) = self.lines.next_filled()? {
            if self.format == PairFormat::LdaC || !line.trim_ascii_start().starts_with(b"#") {
                return Ok(true);
            }
        }
        Ok(false)
    }
}

/// Puts the words of a line into the bag; an error is the kind of flaw and the flaw itself.
fn read_pairs(
    format: PairFormat,
    line: &[u8],
    names: &mut NumberedWords,
    bag: &mut Bag,
    words: &mut dyn WordIds,
) -> Result<(), (&'static str, String)> {
    let mut fields = fields(line).peekable();
    let first = fields.next().unwrap_or_default();
    let promised = match format {
        PairFormat::LdaC => Some(
            whole_number(first)
                .ok_or_else(|| ("not a number", not_a_number("the number of pairs", first)))?,
        ),
        PairFormat::Svmlight if first.contains(&b':') => {
            return Err(("label missing", "the line begins without a label".into()));
        }
        PairFormat::Svmlight => None,
    };
    let mut pairs = 0_u64;
    for field in fields {
        pairs += 1;
        let Some((word, value)) = split(field) else {
            let shown: String =
                String::from_utf8_lossy(field).chars().take(40).flat_map(char::escape_debug).collect();
            return Err(("not a pair", format!("`{shown}` is not a pair")));
        };
        // A query id, as ranking problems have it.
        if format == PairFormat::Svmlight && word == b"qid" {
            continue;
        }
        let word = whole_number(word).ok_or_else(|| ("not a number", not_a_number("the word id", word)))?;
        names.check(word).map_err(|problem| ("word out of range", problem))?;
        let count = count("the count", value).map_err(|problem| ("count out of range", problem))?;
        // Zeros are written by programs that keep what was once there.
        if count > 0 {
            bag.add(names.id(word, words), count);
        }
    }
    match promised {
        Some(promised) if promised != pairs => {
            Err(("wrong number of pairs", format!("the line promises {promised} pairs and has {pairs}")))
        }
        _ => Ok(()),
    }
}
