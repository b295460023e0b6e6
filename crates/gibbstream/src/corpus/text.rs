//! Plain text: a line is a document, an empty line an empty document.

use std::sync::Arc;

use super::Document;
use super::bad_records::BadRecords;
use super::bag::Bag;
use super::lines::Lines;
use super::stream::DocumentReader;
use super::tokenizer::Tokenizer;
use super::vocabulary::{NoWords, WordIds};
use crate::error::Result;

/// Reads plain text.
pub(super) struct TextReader {
    lines: Lines,
    tokenizer: Arc<Tokenizer>,
    bad: Arc<BadRecords>,
    bag: Bag,
}

impl TextReader {
    pub fn new(lines: Lines, tokenizer: Arc<Tokenizer>, bad: Arc<BadRecords>) -> Self {
        Self { lines, tokenizer, bad, bag: Bag::default() }
    }

    fn read(&mut self, words: &mut dyn WordIds) -> Result<Option<Document>> {
        let bag = &mut self.bag;
        let Some(text) = self.lines.next_text()? else { return Ok(None) };
        bag.clear();
        self.tokenizer.tokenize(text, |word| bag.add(words.id(word), 1));
        bag.check(|| (self.lines.place(), "the document".into()))?;
        Ok(Some(bag.take(None)))
    }
}

impl DocumentReader for TextReader {
    fn next(&mut self, words: &mut dyn WordIds) -> Result<Option<Document>> {
        loop {
            match self.read(words) {
                Err(error) => self.bad.pass_over(error)?,
                read => return read,
            }
        }
    }

    fn skip(&mut self) -> Result<bool> {
        if self.bad.are_skipped() {
            return Ok(self.next(&mut NoWords)?.is_some());
        }
        Ok(self.lines.next_bytes()?.is_some())
    }
}
