//! One input whose format is known: where its bytes come from, and how often they can be read.

use std::io::Cursor;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, OnceLock, PoisonError};

use crate::corpus::bytes::bad_records::BadRecords;
use crate::corpus::formats::json_lines::{Fields, JsonLinesReader};
use crate::corpus::bytes::follow::FollowStart;
use crate::corpus::bytes::lines::Lines;
use crate::corpus::bytes::spool::{DEFAULT_SPOOL_BYTES, Spool};
use crate::corpus::bytes::trace::{CHANGED, CHANGED_ADVICE, InputPlace, Trace, whole_file};
use crate::corpus::formats::matrix_market;
use crate::corpus::formats::numeric_npy;
use crate::corpus::formats::parquet_table::{self, ParquetReader};
use crate::corpus::reader::Format;
use crate::corpus::bytes::source::{Source, is_stdin};
use crate::corpus::formats::sparse_lines::{PairFormat, PairReader};
use crate::corpus::stream::{DocumentReader, no_documents};
use crate::corpus::formats::table::{TableReader, delimiter};
use crate::corpus::formats::text::{FileReader, TextReader};
use crate::corpus::text::tokenizer::Tokenizer;
use crate::corpus::formats::uci::{Header, UciReader};
use crate::corpus::formats::uci_files::{UciFiles, is_docword, uncompressed};
use crate::corpus::text::vocabulary::Vocabulary;
use crate::error::{Error, Place, Result};

/// Bytes that decide the format.
const PEEKED_BYTES: usize = 4096;

/// An input that exists and has a format.
pub(crate) struct Input {
    name: PathBuf,
    content: Content,
    origin: Mutex<Origin>,
    trace: Trace,
    /// The place at the end, once somebody has asked for it, of an input that is not read from the top.
    end: OnceLock<InputPlace>,
}

/// What an input contains.
pub(crate) enum Content {
    Text,
    /// The file is one document.
    WholeText,
    JsonLines,
    Table {
        delimiter: u8,
    },
    /// Word ids, if it has them, are named by the vocabulary.
    Parquet(Option<Vocabulary>),
    /// Counts with a vocabulary of their own; the number of documents is known unless the input cannot be
    /// read twice.
    Uci {
        vocabulary: Vocabulary,
        vocabulary_file: PathBuf,
        documents: Option<u64>,
    },
    /// Counts of words that are named by a vocabulary or by their numbers.
    Pairs(PairFormat, Option<Vocabulary>),
    MatrixMarket {
        names: Option<Vocabulary>,
        transpose: bool,
        documents: Option<u64>,
    },
    /// An array of numbers, which has no words.
    Npy,
}

enum Origin {
    File(PathBuf),
    /// A file that grows.
    Followed(PathBuf, Option<FollowStart>),
    /// Standard input or a pipe, until it is read.
    Once(Option<Box<Lines>>),
    Spooled(Spool),
}

impl Input {
    /// Finds the files and the format. `vocabulary_file` is for counts that have no vocabulary beside them.
    pub fn resolve(
        path: &Path,
        format: Format,
        vocabulary_file: Option<&Path>,
        transpose: bool,
        before: Option<&InputPlace>,
    ) -> Result<Self> {
        let uci_possible = matches!(format, Format::Auto | Format::Uci);
        let trace = before.cloned().map_or_else(Trace::default, Trace::expecting);
        let given = Given { vocabulary_file, transpose, trace: &trace };
        if is_stdin(path) {
            let files = UciFiles { docword: path.to_path_buf(), vocabulary: None };
            return Self::once(path, format, &files, given);
        }
        match path.metadata() {
            Err(error) => match UciFiles::with_prefix(path).filter(|_| uci_possible) {
                Some(files) => Self::counts(&files, vocabulary_file),
                None => Err(Error::io(path, "open", error)),
            },
            Ok(found) if found.is_dir() && uci_possible => {
                Self::counts(&UciFiles::in_folder(path)?, vocabulary_file)
            }
            Ok(found) if found.is_file() || found.is_dir() => {
                let mut lines = Lines::new(Source::open(path)?)?;
                let format = recognise(path, format, &mut lines)?;
                if format == Format::Uci {
                    return Self::counts(&UciFiles::of_docword(path), vocabulary_file);
                }
                let packed = lines.is_packed();
                let mut content = given.content(path, format, &mut lines)?;
                if let Content::MatrixMarket { documents, .. } = &mut content {
                    *documents = Some(matrix_market::read_header(&mut lines, transpose)?.0.documents);
                }
                if packed && format == Format::Parquet {
                    return Self::once(path, format, &UciFiles::of_docword(path), given);
                }
                Ok(Self::new(path, content, Origin::File(path.to_path_buf())))
            }
            Ok(_) => Self::once(path, format, &UciFiles::of_docword(path), given),
        }
    }

    fn new(name: &Path, content: Content, origin: Origin) -> Self {
        let (origin, trace, end) = (Mutex::new(origin), Trace::default(), OnceLock::new());
        Self { name: name.to_path_buf(), content, origin, trace, end }
    }

    fn counts(files: &UciFiles, vocabulary_file: Option<&Path>) -> Result<Self> {
        let mut lines = Lines::new(Source::open(&files.docword)?)?;
        recognise(&files.docword, Format::Uci, &mut lines)?;
        let (vocabulary, vocabulary_file) = vocabulary_of(files, vocabulary_file)?;
        let place = Place::file(&vocabulary_file);
        let reader = UciReader::new(lines, vocabulary.clone(), &place, Arc::default())?;
        let documents = Some(reader.header().documents);
        let content = Content::Uci { vocabulary, vocabulary_file, documents };
        Ok(Self::new(&files.docword, content, Origin::File(files.docword.clone())))
    }

    /// An input in memory.
    pub fn in_memory(
        bytes: Vec<u8>,
        format: Format,
        vocabulary_file: Option<&Path>,
        transpose: bool,
    ) -> Result<Self> {
        let path = Path::new("memory");
        let files = UciFiles { docword: path.to_path_buf(), vocabulary: None };
        let lines = Lines::new(Source::new(path, Cursor::new(bytes))?)?;
        let given = Given { vocabulary_file, transpose, trace: &Trace::default() };
        Self::opened(path, lines, format, &files, given)
    }

    fn once(path: &Path, format: Format, files: &UciFiles, given: Given<'_>) -> Result<Self> {
        let lines = Lines::new(Source::open_traced(path, path, given.trace)?)?;
        Self::opened(path, lines, format, files, given)
    }

    /// An input that must stay open, because what was read of it to find its format will not come again.
    fn opened(
        path: &Path,
        mut lines: Lines,
        format: Format,
        files: &UciFiles,
        given: Given<'_>,
    ) -> Result<Self> {
        let format = recognise(path, format, &mut lines)?;
        let content = if format == Format::Uci {
            let (vocabulary, vocabulary_file) = vocabulary_of(files, given.vocabulary_file)?;
            Content::Uci { vocabulary, vocabulary_file, documents: None }
        } else {
            given.content(path, format, &mut lines)?
        };
        let input = Self::new(path, content, Origin::Once(Some(Box::new(lines))));
        let input = Self { trace: given.trace.clone(), ..input };
        // Parquet is read from its end, so it must be a file.
        if format == Format::Parquet { input.unpacked() } else { Ok(input) }
    }

    /// The same as a plain temporary file.
    fn unpacked(self) -> Result<Self> {
        self.spool(DEFAULT_SPOOL_BYTES)?;
        Ok(self)
    }

    /// From now on the end of the file is not the end. What is not a file has its own end.
    pub fn follow(&mut self) -> Result<()> {
        let origin = self.origin.get_mut().unwrap_or_else(PoisonError::into_inner);
        let Origin::File(path) = origin else { return Ok(()) };
        let path = path.clone();
        let packed = Lines::new(Source::open(&path)?)?.is_packed();
        if packed || !matches!(self.content, Content::Text | Content::JsonLines) {
            let problem = format!("{} can only be read to its end", self.name.display());
            let advice = "lines of text or JSON, not compressed, can be followed";
            return Err(Error::setting("follow", problem, advice));
        }
        *origin = Origin::Followed(path, None);
        Ok(())
    }

    /// What was read so far was only looked at; the next reading begins where this one did. What is spooled was traced when
    /// it was copied.
    pub fn forget_reading(&self) {
        let origin = self.origin.lock().unwrap_or_else(PoisonError::into_inner);
        if matches!(*origin, Origin::File(_) | Origin::Followed(..)) {
            self.trace.forget();
        }
    }

    /// Whether it is known to be what it was before, if there was a before.
    pub fn is_confirmed(&self) -> bool {
        self.trace.is_confirmed()
    }

    /// How far it was read; `None` if it was not.
    pub fn place(&self) -> Option<InputPlace> {
        // What is not read from the top was not traced, unless it was copied.
        let is_file =
            matches!(*self.origin.lock().unwrap_or_else(PoisonError::into_inner), Origin::File(_));
        if !(is_file && matches!(self.content, Content::Parquet(_))) {
            return self.trace.place(&self.name);
        }
        // It cannot be read any more, which reading it will tell.
        let whole = || self.path().ok().and_then(|path| whole_file(&self.name, &path).ok());
        if self.end.get().is_none() {
            self.end.set(whole()?).ok();
        }
        self.end.get().cloned()
    }

    /// Refuses a file that does not begin with what was read of it before. One that is followed may have been rotated:
    /// with `seek` it is found again and read from its place; a note tells what cannot be read.
    pub fn go_on_after(&mut self, before: &InputPlace, seek: bool) -> Result<Option<String>> {
        let failed = |error| Error::io(&self.name, "read", error);
        let changed = || Error::corpus(Place::file(&self.name), CHANGED, CHANGED_ADVICE);
        match self.origin.get_mut().unwrap_or_else(PoisonError::into_inner) {
            Origin::Followed(path, start) if seek => {
                let (found, notice) = FollowStart::find(path, before).map_err(failed)?;
                *start = Some(found);
                Ok(notice)
            }
            Origin::File(path) | Origin::Followed(path, _) => {
                if before.is_beginning_of(path).map_err(failed)? { Ok(None) } else { Err(changed()) }
            }
            // These are compared as they are read.
            Origin::Once(_) | Origin::Spooled(_) => Ok(None),
        }
    }

    /// The input as messages call it.
    pub fn name(&self) -> &Path {
        &self.name
    }

    /// The files that it is read from.
    pub fn files(&self) -> Vec<PathBuf> {
        // Standard input may be a file too.
        let own = if is_stdin(&self.name) { "/dev/stdin".into() } else { self.name.clone() };
        let mut files = vec![own];
        if let Content::Uci { vocabulary_file, .. } = &self.content {
            files.push(vocabulary_file.clone());
        }
        files
    }

    /// What it contains.
    pub fn content(&self) -> &Content {
        &self.content
    }

    /// The name of what it contains.
    pub fn format(&self) -> Format {
        match self.content {
            Content::Text => Format::Text,
            Content::WholeText => Format::Files,
            Content::JsonLines => Format::JsonLines,
            Content::Table { .. } => Format::Csv,
            Content::Parquet(_) => Format::Parquet,
            Content::Uci { .. } => Format::Uci,
            Content::Pairs(PairFormat::LdaC, _) => Format::LdaC,
            Content::Pairs(PairFormat::Svmlight, _) => Format::Svmlight,
            Content::MatrixMarket { .. } => Format::MatrixMarket,
            Content::Npy => Format::Npy,
        }
    }

    /// True for standard input and pipes that have not been spooled.
    pub fn is_read_once(&self) -> bool {
        matches!(*self.origin.lock().unwrap_or_else(PoisonError::into_inner), Origin::Once(_))
    }

    /// True for a file that is read on as it grows.
    pub fn is_followed(&self) -> bool {
        matches!(*self.origin.lock().unwrap_or_else(PoisonError::into_inner), Origin::Followed(..))
    }

    /// The first lines of an input that can be read only once, as an input of their own; they are not taken from it. `None`
    /// if it can be read again, or has no text.
    pub fn first_lines(&self, count: usize) -> Result<Option<Self>> {
        let mut origin = self.origin.lock().unwrap_or_else(PoisonError::into_inner);
        let Origin::Once(Some(lines)) = &mut *origin else { return Ok(None) };
        let bytes = if self.format().has_text() { lines.peek_lines(count)?.to_vec() } else { Vec::new() };
        drop(origin);
        Self::in_memory(bytes, self.format(), None, false).map(Some)
    }

    /// Copies an input that can be read only once into a temporary file of at most `limit` bytes.
    pub fn spool(&self, limit: u64) -> Result<()> {
        if !self.is_read_once() {
            return Ok(());
        }
        let mut lines = self.lines()?;
        // Parquet is read from its end, so it cannot be compressed.
        let packed = !matches!(self.content, Content::Parquet(_));
        let spool = Spool::copy(&self.name, &mut lines, packed, limit)?;
        *self.origin.lock().unwrap_or_else(PoisonError::into_inner) = Origin::Spooled(spool);
        Ok(())
    }

    /// Starts reading from the top.
    pub fn read(
        &self,
        tokenizer: &Arc<Tokenizer>,
        fields: &Arc<Fields>,
        bad: &Arc<BadRecords>,
    ) -> Result<Box<dyn DocumentReader>> {
        if let (Some(name), false) = (fields.kept.first(), self.format().has_text()) {
            return Err(Error::corpus(
                Place::file(&self.name),
                format!("holds counts, which have no field `{name}`"),
                "leave the field out, or give text, JSON lines, CSV or Parquet",
            ));
        }
        let (tokenizer, fields, bad) = (tokenizer.clone(), fields.clone(), bad.clone());
        Ok(match &self.content {
            Content::Text => Box::new(TextReader::new(self.lines()?, fields, tokenizer, bad)),
            Content::WholeText => Box::new(FileReader::new(&self.name, self.lines()?, fields, tokenizer, bad)),
            Content::JsonLines => Box::new(JsonLinesReader::new(self.lines()?, fields, tokenizer, bad)),
            Content::Table { delimiter } => {
                Box::new(TableReader::new(self.lines()?, *delimiter, fields, tokenizer, bad)?)
            }
            Content::Parquet(names) => {
                let names = names.clone();
                Box::new(ParquetReader::new(&self.name, &self.path()?, fields, tokenizer, names, bad)?)
            }
            Content::Uci { vocabulary, vocabulary_file, .. } => {
                let place = Place::file(vocabulary_file);
                Box::new(UciReader::new(self.lines()?, vocabulary.clone(), &place, bad)?)
            }
            Content::Pairs(format, names) => {
                Box::new(PairReader::new(*format, self.lines()?, names.clone(), bad))
            }
            Content::MatrixMarket { names, transpose, .. } => {
                let mut lines = self.lines()?;
                let (header, entries) = matrix_market::read_header(&mut lines, *transpose)?;
                if let Some(names) = names.as_ref().filter(|names| names.len() as u64 != header.words) {
                    return Err(Error::corpus(
                        lines.file(),
                        format!("has {} words, but {{vocab}} names {}", header.words, names.len()),
                        "use the vocabulary file that belongs to it, or {transpose} if rows are words",
                    ));
                }
                Box::new(UciReader::with_header(lines, header, entries, names.clone(), bad))
            }
            Content::Npy => {
                return Err(Error::corpus(
                    Place::file(&self.name),
                    "is an array of numbers, not documents",
                    "choose a model of numbers with {model}, or give word counts in another format",
                ));
            }
        })
    }

    /// The file that holds it, which an input that is read by place must have.
    pub fn path(&self) -> Result<PathBuf> {
        match &*self.origin.lock().unwrap_or_else(PoisonError::into_inner) {
            Origin::File(path) | Origin::Followed(path, _) => Ok(path.clone()),
            Origin::Spooled(spool) => Ok(spool.path()),
            Origin::Once(_) => Err(Error::corpus(
                Place::file(&self.name),
                "is not a file",
                "save it to a file and name the file",
            )),
        }
    }

    /// Its bytes from the top.
    pub fn lines(&self) -> Result<Lines> {
        match &mut *self.origin.lock().unwrap_or_else(PoisonError::into_inner) {
            Origin::File(path) => {
                self.trace.restart(&self.name);
                Lines::new(Source::open_traced(&self.name, path, &self.trace)?)
            }
            Origin::Followed(path, start) => {
                self.trace.restart(&self.name);
                Lines::new(Source::follow(&self.name, path, start.as_ref(), &self.trace)?)
            }
            // The copy was traced when it was made.
            Origin::Spooled(spool) => {
                Lines::new(Source::open_traced(&self.name, &spool.path(), &Trace::default())?)
            }
            Origin::Once(lines) => lines.take().map(|lines| *lines).ok_or_else(|| {
                Error::corpus(
                    Place::file(&self.name),
                    "cannot be read a second time",
                    "save it to a file and name the file",
                )
            }),
        }
    }
}

/// What the user said beside path and format.
#[derive(Clone, Copy)]
struct Given<'a> {
    vocabulary_file: Option<&'a Path>,
    transpose: bool,
    trace: &'a Trace,
}

impl Given<'_> {
    /// What an input of a format that stands alone contains.
    fn content(self, path: &Path, format: Format, lines: &mut Lines) -> Result<Content> {
        let names = || self.vocabulary_file.map(Vocabulary::load).transpose();
        Ok(match format {
            Format::JsonLines => Content::JsonLines,
            Format::Csv => {
                let start = lines.peek(1)?;
                Content::Table { delimiter: delimiter(&ending(path), start) }
            }
            Format::Parquet => Content::Parquet(names()?),
            Format::Svmlight => Content::Pairs(PairFormat::Svmlight, names()?),
            Format::LdaC => Content::Pairs(PairFormat::LdaC, names()?),
            Format::MatrixMarket => {
                Content::MatrixMarket { names: names()?, transpose: self.transpose, documents: None }
            }
            Format::Npy => Content::Npy,
            Format::Files => Content::WholeText,
            Format::Auto | Format::Text | Format::Uci => Content::Text,
        })
    }
}

/// The ending of a name, without that of a compressed file, in lower case.
fn ending(path: &Path) -> String {
    let name = path.file_name().unwrap_or_default().to_string_lossy();
    let ending = Path::new(uncompressed(&name)).extension().unwrap_or_default();
    ending.to_string_lossy().to_lowercase()
}

/// The format of an opened input, which must not be empty.
fn recognise(path: &Path, format: Format, lines: &mut Lines) -> Result<Format> {
    let place = lines.file();
    if format == Format::Files {
        // An empty file is an empty document.
        return Ok(format);
    }
    // A known format needs no more than to see that there is something: a live stream may be slow to say more.
    let start = lines.peek(if format == Format::Auto { PEEKED_BYTES } else { 1 })?;
    if start.is_empty() {
        return Err(no_documents(place));
    }
    if format != Format::Auto {
        return Ok(format);
    }
    let ending = ending(path);
    Ok(if parquet_table::recognise(start) {
        Format::Parquet
    } else if numeric_npy::recognise(start) {
        Format::Npy
    } else if matrix_market::recognise(start) {
        Format::MatrixMarket
    } else if is_docword(path) || Header::recognise(start) {
        Format::Uci
    } else if start.trim_ascii_start().starts_with(b"{") || ["json", "jsonl", "ndjson"].contains(&&*ending) {
        Format::JsonLines
    } else if ["csv", "tsv"].contains(&&*ending) {
        Format::Csv
    } else {
        let by_name = match ending.as_str() {
            "svm" | "svmlight" | "libsvm" => Some(PairFormat::Svmlight),
            "ldac" => Some(PairFormat::LdaC),
            _ => None,
        };
        match by_name.or_else(|| PairFormat::recognise(start)) {
            Some(PairFormat::Svmlight) => Format::Svmlight,
            Some(PairFormat::LdaC) => Format::LdaC,
            None => Format::Text,
        }
    })
}

fn vocabulary_of(files: &UciFiles, given: Option<&Path>) -> Result<(Vocabulary, PathBuf)> {
    let Some(file) = files.vocabulary.as_deref().or(given) else {
        return Err(Error::corpus(
            Place::file(&files.docword),
            "holds UCI counts, but there is no vocab.txt beside it",
            "give the file with the words, one per line, with {vocab}",
        ));
    };
    Ok((Vocabulary::load(file)?, file.to_path_buf()))
}
