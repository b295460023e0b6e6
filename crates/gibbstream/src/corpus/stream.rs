//! Several inputs as one stream of documents, from which a range is taken.

use std::sync::{Arc, Mutex, PoisonError};

use crate::corpus::Document;
use crate::corpus::bytes::bad_records::BadRecords;
use crate::corpus::input::Input;
use crate::corpus::formats::json_lines::Fields;
use crate::corpus::text::open_vocabulary::OpenVocabulary;
use crate::corpus::text::tokenizer::Tokenizer;
use crate::corpus::text::vocabulary::{NoWords, Vocabulary, WordIds};
use crate::error::{Error, Place, Result};

/// Something that reads documents one after the other from one input.
pub(crate) trait DocumentReader: Send {
    /// The next document, its words numbered by `words`; `None` at the end.
    fn next(&mut self, words: &mut dyn WordIds) -> Result<Option<Document>>;

    /// Passes over a document; false at the end.
    fn skip(&mut self) -> Result<bool>;
}

/// A reader whose documents are records that stand for themselves: a bad one can be skipped.
pub(crate) trait RecordReader: Send {
    /// What happens to bad records.
    fn bad(&self) -> &BadRecords;

    /// The next record, good or bad; `None` at the end.
    fn read(&mut self, words: &mut dyn WordIds) -> Result<Option<Document>>;

    /// Passes over a record without a look at what is in it; false at the end.
    fn pass(&mut self) -> Result<bool> {
        Ok(self.read(&mut NoWords)?.is_some())
    }
}

impl<R: RecordReader> DocumentReader for R {
    fn next(&mut self, words: &mut dyn WordIds) -> Result<Option<Document>> {
        loop {
            match self.read(words) {
                Err(error) => self.bad().pass_over(error)?,
                read => return read,
            }
        }
    }

    fn skip(&mut self) -> Result<bool> {
        // Whether a record is bad, and so no document, is only known when it has been read.
        if self.bad().are_skipped() { Ok(self.next(&mut NoWords)?.is_some()) } else { self.pass() }
    }
}

/// What to read, and how.
#[derive(Clone)]
pub(crate) struct Selection {
    pub inputs: Arc<Vec<Input>>,
    pub tokenizer: Arc<Tokenizer>,
    pub fields: Arc<Fields>,
    pub bad: Arc<BadRecords>,
    pub skip: u64,
    pub limit: Option<u64>,
    pub max_spool: u64,
    pub start: Option<Start>,
}

/// Where an earlier part of a run has stopped.
#[derive(Clone, Copy)]
pub(crate) struct Start {
    /// The input that it was reading, which begins at its place.
    pub input: usize,
    /// Documents that it was given.
    pub documents: u64,
}

/// The chosen documents of all inputs in order.
pub(crate) struct Stream {
    selection: Arc<Selection>,
    opened: usize,
    reader: Option<Box<dyn DocumentReader>>,
    /// Documents that the input being read has given.
    from_input: u64,
    skipped: u64,
    handed_out: u64,
}

impl Stream {
    pub fn new(selection: Arc<Selection>) -> Self {
        selection.bad.restart();
        let mut stream = Self { selection, opened: 0, reader: None, from_input: 0, skipped: 0, handed_out: 0 };
        if let Some(start) = stream.selection.start {
            (stream.opened, stream.handed_out) = (start.input, start.documents);
            stream.skipped = stream.selection.skip;
        }
        stream
    }

    /// The next document, its words numbered by `words`; `None` at the end.
    pub fn next(&mut self, words: &mut dyn WordIds) -> Result<Option<Document>> {
        while let Some(reader) = self.reader()? {
            if let Some(document) = reader.next(words)? {
                self.handed_out += 1;
                self.from_input += 1;
                return Ok(Some(document));
            }
            self.close()?;
        }
        Ok(None)
    }

    /// Passes over a document as if it had been handed out; false at the end.
    pub fn pass_over(&mut self) -> Result<bool> {
        while let Some(reader) = self.reader()? {
            if reader.skip()? {
                self.handed_out += 1;
                self.from_input += 1;
                return Ok(true);
            }
            self.close()?;
        }
        Ok(false)
    }

    /// The reader of the next chosen document, or of an input that has no more; `None` at the end of all.
    fn reader(&mut self) -> Result<Option<&mut dyn DocumentReader>> {
        if self.selection.limit.is_some_and(|limit| self.handed_out >= limit) {
            return Ok(None);
        }
        loop {
            let Some(reader) = &mut self.reader else {
                let Some(input) = self.selection.inputs.get(self.opened) else {
                    self.end()?;
                    return Ok(None);
                };
                self.opened += 1;
                let Selection { tokenizer, fields, bad, .. } = &*self.selection;
                self.reader = Some(input.read(tokenizer, fields, bad)?);
                self.from_input = 0;
                continue;
            };
            if self.skipped == self.selection.skip {
                break;
            }
            if reader.skip()? {
                self.skipped += 1;
                self.from_input += 1;
            } else {
                self.close()?;
            }
        }
        Ok(self.reader.as_mut().map(|reader| &mut **reader as &mut dyn DocumentReader))
    }

    fn close(&mut self) -> Result<()> {
        if self.from_input == 0 {
            return Err(no_documents(self.last_place()));
        }
        self.reader = None;
        Ok(())
    }

    fn end(&self) -> Result<()> {
        if self.handed_out > 0 {
            return Ok(());
        }
        let place =
            if self.selection.inputs.len() == 1 { "the input holds" } else { "the inputs end here and hold" };
        Err(Error::corpus(
            self.last_place(),
            format!("{place} {} documents, and {} were to be skipped", self.skipped, self.selection.skip),
            "skip fewer documents ({skip-docs}, {holdout})",
        ))
    }

    fn last_place(&self) -> Place {
        Place::file(self.selection.inputs[self.opened.saturating_sub(1)].name())
    }
}

/// The error for an input that is readable but empty.
pub(crate) fn no_documents(place: Place) -> Error {
    Error::corpus(place, "contains no documents", "check that this is the right file")
}

/// Where the numbers of words come from.
pub(crate) enum Numbering {
    Fixed(Vocabulary),
    /// Shared with whoever cuts the documents into minibatches.
    Open(Arc<Mutex<OpenVocabulary>>),
}

/// The stream with the numbers of one vocabulary; it ends after the first error.
pub(crate) struct Documents {
    stream: Option<Stream>,
    numbering: Numbering,
}

impl Documents {
    pub fn new(stream: Stream, numbering: Numbering) -> Self {
        Self { stream: Some(stream), numbering }
    }

    /// Hands over what a step of the stream gave, and ends after an error or the end.
    fn step<T>(
        &mut self,
        step: impl FnOnce(&mut Stream, &mut dyn WordIds) -> Result<Option<T>>,
    ) -> Option<Result<T>> {
        let stream = self.stream.as_mut()?;
        let given = match &mut self.numbering {
            Numbering::Fixed(vocabulary) => step(stream, vocabulary),
            Numbering::Open(vocabulary) => {
                step(stream, &mut *vocabulary.lock().unwrap_or_else(PoisonError::into_inner))
            }
        };
        if !matches!(given, Ok(Some(_))) {
            self.stream = None;
        }
        given.transpose()
    }
}

impl Iterator for Documents {
    type Item = Result<Document>;

    fn next(&mut self) -> Option<Self::Item> {
        let document = self.step(|stream, vocabulary| stream.next(vocabulary))?;
        let document = match &self.numbering {
            Numbering::Fixed(vocabulary) => document.and_then(|document| vocabulary.weighted(document)),
            Numbering::Open(_) => document,
        };
        if document.is_err() {
            self.stream = None;
        }
        Some(document)
    }

    /// Passes over documents without looking for their words.
    fn nth(&mut self, count: usize) -> Option<Self::Item> {
        for _ in 0..count {
            match self.step(|stream, _| Ok(stream.pass_over()?.then_some(())))? {
                Ok(()) => {}
                Err(error) => return Some(Err(error)),
            }
        }
        self.next()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::corpus::formats::json_lines::{JsonLinesReader, FieldCheck};
    use crate::corpus::bytes::lines::Lines;
    use crate::corpus::bytes::source::{Source, Trickle};
    use crate::corpus::formats::text::TextReader;
    use crate::corpus::formats::uci::UciReader;

    /// Reads all documents, the bytes of which arrive `chunk` at a time.
    fn read(format: &str, content: &[u8], chunk: usize) -> Vec<Document> {
        let lines = Lines::new(Source::new(format.as_ref(), Trickle::new(content, chunk)).unwrap()).unwrap();
        let tokenizer = Arc::new(Tokenizer::default());
        let mut vocabulary = Vocabulary::new(["film", "actor", "naïve"]).unwrap();
        let fields =
            Fields { text: "text".into(), id: "id".into(), kept: Vec::new(), check: FieldCheck::default() };
        let mut reader: Box<dyn DocumentReader> = match format {
            "text" => Box::new(TextReader::new(lines, Arc::new(fields), tokenizer, Arc::default())),
            "jsonl" => Box::new(JsonLinesReader::new(lines, Arc::new(fields), tokenizer, Arc::default())),
            _ => Box::new(
                UciReader::new(lines, vocabulary.clone(), &Place::file("vocab.txt"), Arc::default()).unwrap(),
            ),
        };
        std::iter::from_fn(|| reader.next(&mut vocabulary).unwrap()).collect()
    }

    #[test]
    fn documents_do_not_depend_on_how_their_bytes_arrive() {
        let text = "naïve film\r\n\nactor film actor unheard".repeat(50);
        let json = "{\"id\": 1, \"text\": \"naïve film\"}\n".repeat(50);
        let uci = "5\n3\n4\n2 1 3\n2 3 1\n2 1 1\n4 2 9\n";
        for (format, content, documents) in
            [("text", text.as_str(), 101), ("jsonl", &json, 50), ("uci", uci, 5)]
        {
            let expected = read(format, content.as_bytes(), usize::MAX);
            assert_eq!(expected.len(), documents, "{format}");
            let packed = zstd::encode_all(content.as_bytes(), 3).unwrap();
            for chunk in [1, 7, 64 << 10] {
                assert_eq!(read(format, content.as_bytes(), chunk), expected, "{format} by {chunk}");
                assert_eq!(read(format, &packed, chunk), expected, "compressed {format} by {chunk}");
            }
        }
    }
}
