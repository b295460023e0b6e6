//! Plain text: a line is a document, an empty line an empty document; or a file is a document.

use std::path::Path;
use std::sync::Arc;

use crate::corpus::Document;
use crate::corpus::bytes::bad_records::BadRecords;
use crate::corpus::formats::bag::Bag;
use crate::corpus::formats::json_lines::Fields;
use crate::corpus::bytes::lines::Lines;
use crate::corpus::stream::RecordReader;
use crate::corpus::text::tokenizer::Tokenizer;
use crate::corpus::text::vocabulary::WordIds;
use crate::error::Result;
use serde_json::Value;

/// Reads plain text.
pub(crate) struct TextReader {
    lines: Lines,
    fields: Arc<Fields>,
    tokenizer: Arc<Tokenizer>,
    bad: Arc<BadRecords>,
    bag: Bag,
}

impl TextReader {
    pub fn new(lines: Lines, fields: Arc<Fields>, tokenizer: Arc<Tokenizer>, bad: Arc<BadRecords>) -> Self {
        Self { lines, fields, tokenizer, bad, bag: Bag::default() }
    }
}

impl RecordReader for TextReader {
    fn bad(&self) -> &BadRecords {
        &self.bad
    }

    fn read(&mut self, words: &mut dyn WordIds) -> Result<Option<Document>> {
        let bag = &mut self.bag;
        let Some(text) = self.lines.next_text()? else { return Ok(None) };
        bag.clear();
        bag.add_text(text, &self.tokenizer, words);
        let kept = kept_text(&self.fields, text);
        bag.check(|| (self.lines.place(), "the document".into()))?;
        self.fields.check(&kept, || self.lines.place())?;
        Ok(Some(bag.take(None, kept)))
    }

    fn pass(&mut self) -> Result<bool> {
        Ok(self.lines.next_bytes()?.is_some())
    }
}

/// Plain text has one field.
fn kept_text(fields: &Fields, text: &str) -> Vec<Value> {
    fields.kept.iter().map(|name| if *name == fields.text { text.into() } else { Value::Null }).collect()
}

/// Reads one document: all lines of a file, whose name it has.
pub(crate) struct FileReader {
    name: String,
    unread: Option<Lines>,
    fields: Arc<Fields>,
    tokenizer: Arc<Tokenizer>,
    bad: Arc<BadRecords>,
}

impl FileReader {
    pub fn new(
        name: &Path,
        lines: Lines,
        fields: Arc<Fields>,
        tokenizer: Arc<Tokenizer>,
        bad: Arc<BadRecords>,
    ) -> Self {
        let name = name.file_name().unwrap_or_default().to_string_lossy().into_owned();
        Self { name, unread: Some(lines), fields, tokenizer, bad }
    }
}

impl RecordReader for FileReader {
    fn bad(&self) -> &BadRecords {
        &self.bad
    }

    fn read(&mut self, words: &mut dyn WordIds) -> Result<Option<Document>> {
        let Some(mut lines) = self.unread.take() else { return Ok(None) };
        let (mut bag, mut text) = (Bag::default(), String::new());
        // Markup may go over several lines.
        while let Some(line) = lines.next_text()? {
            text.push_str(line);
            text.push('\n');
        }
        bag.add_text(&text, &self.tokenizer, words);
        bag.check(|| (lines.file(), "the document".into()))?;
        let kept = kept_text(&self.fields, text.trim_end());
        self.fields.check(&kept, || lines.file())?;
        Ok(Some(bag.take(Some(self.name.clone()), kept)))
    }
}
