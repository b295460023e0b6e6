//! From what the user names to documents: the face of this module.

use std::collections::BTreeMap;
use std::fmt;
use std::path::{Path, PathBuf};
use std::str::FromStr;
use std::sync::{Arc, Mutex};

use rustc_hash::FxHashSet;
use serde::{Deserialize, Serialize, Serializer};
use serde_json::Value;

use crate::corpus::{Corpus, Document};
use crate::corpus::bytes::bad_records::BadRecords;
use crate::corpus::input::{Content, Input};
use crate::corpus::formats::json_lines::{Fields, FieldCheck};
use crate::corpus::text::open_vocabulary::OpenVocabulary;
use crate::corpus::bytes::source::is_stdin;
use crate::corpus::bytes::spool::DEFAULT_SPOOL_BYTES;
use crate::corpus::bytes::trace::{self, CHANGED_ADVICE, InputPlace};
use crate::corpus::stream::{Documents, Numbering, Selection, Start, Stream};
use crate::corpus::text::language::SAMPLED_DOCUMENTS;
use crate::corpus::text::phrases::PhraseCounter;
use crate::corpus::text::tokenizer::{Cut, Tokenizer};
use crate::corpus::text::vocabulary::{Vocabulary, WordIds};
use crate::corpus::text::word_counts::{Dropped, VocabularyCounter, VocabularyLimits, WordReport};
use crate::corpus::formats::uci_files::is_docword;
use crate::error::{Error, Result};

/// Documents between two reports of progress.
const PROGRESS_DOCUMENTS: u64 = 1000;

/// Text files of a pattern up to this size are a document each; longer ones have a document a line.
const MOST_BYTES_OF_A_SHORT_FILE: u64 = 64 << 10;

/// How an input is written.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub enum Format {
    /// Found out from name and content.
    #[default]
    #[serde(rename = "auto")]
    Auto,
    /// One document a line.
    #[serde(rename = "text")]
    Text,
    /// One document a file.
    #[serde(rename = "files")]
    Files,
    /// One JSON object per line.
    #[serde(rename = "jsonl")]
    JsonLines,
    /// A table with names of columns in its first record, separated by commas or tabs.
    #[serde(rename = "csv")]
    Csv,
    /// A Parquet file with a column of text, of lists of tokens, or of lists of word ids.
    #[serde(rename = "parquet")]
    Parquet,
    /// Bag of words as UCI distributes it.
    #[serde(rename = "uci")]
    Uci,
    /// `label word:count ...`, one document a line.
    #[serde(rename = "svmlight")]
    Svmlight,
    /// Sparse matrix in the Matrix Market format.
    #[serde(rename = "mm")]
    MatrixMarket,
    /// `pairs word:count ...`, one document a line.
    #[serde(rename = "ldac")]
    LdaC,
    /// A NumPy array of numbers.
    #[serde(rename = "npy")]
    Npy,
}

impl Format {
    /// All of them.
    pub const ALL: [Self; 11] = [
        Self::Auto,
        Self::Text,
        Self::Files,
        Self::JsonLines,
        Self::Csv,
        Self::Parquet,
        Self::Uci,
        Self::Svmlight,
        Self::MatrixMarket,
        Self::LdaC,
        Self::Npy,
    ];

    /// The name used on the command line.
    pub fn name(self) -> &'static str {
        match self {
            Self::Auto => "auto",
            Self::Text => "text",
            Self::Files => "files",
            Self::JsonLines => "jsonl",
            Self::Csv => "csv",
            Self::Parquet => "parquet",
            Self::Uci => "uci",
            Self::Svmlight => "svmlight",
            Self::MatrixMarket => "mm",
            Self::LdaC => "ldac",
            Self::Npy => "npy",
        }
    }

    /// Whether it may hold text that must be cut into words.
    pub fn has_text(self) -> bool {
        matches!(self, Self::Auto | Self::Text | Self::Files | Self::JsonLines | Self::Csv | Self::Parquet)
    }
}

impl fmt::Display for Format {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}

impl FromStr for Format {
    type Err = Error;

    fn from_str(name: &str) -> Result<Self> {
        Self::ALL.into_iter().find(|format| format.name() == name).ok_or_else(|| {
            Error::setting(
                "format",
                format!("`{name}` is not a format"),
                "use auto, text, files, jsonl, csv, parquet, uci, svmlight, mm, ldac or npy",
            )
        })
    }
}

/// What to read, as the user says it.
#[derive(Clone, Debug, Serialize)]
pub struct Inputs {
    /// Files, patterns such as `*.jsonl`, folders and prefixes of UCI corpora, or `-` for standard input; read in this
    /// order, and the files of a pattern in the order of their names.
    #[serde(serialize_with = "names")]
    pub paths: Vec<PathBuf>,
    /// The format of all of them.
    pub format: Format,
    /// The words to use, one a line; also the names of the words of formats that number them.
    #[serde(serialize_with = "name")]
    pub vocabulary_file: Option<PathBuf>,
    /// The JSON field or the column that holds the text, or a list of tokens.
    pub text_field: String,
    /// The JSON field or the column that holds the name of the document; it may be missing.
    pub id_field: String,
    /// Other JSON fields or columns that documents keep (see [`Document::kept`](super::Document::kept)). Plain text has
    /// the one that `text_field` names.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub kept_fields: Vec<String>,
    /// How text is cut into words.
    pub tokenizer: Tokenizer,
    /// Documents to pass over at the beginning.
    pub skip: u64,
    /// Documents to read after that; all if not given.
    pub limit: Option<u64>,
    /// Whether records that cannot be read are skipped and counted instead of refused.
    pub skip_bad: bool,
    /// Whether the rows of a Matrix Market file are words and its columns documents.
    pub transpose: bool,
    /// Whether the last input, if it is a file, is read on as it grows, without end.
    pub follow: bool,
    /// Bytes that a temporary copy of standard input may take; no part of what is read.
    #[serde(skip)]
    pub max_spool: u64,
    /// What an earlier part of the run has read.
    #[serde(skip)]
    pub read_before: ReadBefore,
}

/// What a run that goes on has read before.
#[derive(Clone, Debug, Default)]
pub struct ReadBefore {
    /// How far it has read each input.
    pub places: Vec<InputPlace>,
    /// Documents that came from them.
    pub documents: u64,
    /// Whether a followed file may be read from its place on, because nothing before it is needed.
    pub seek: bool,
}

impl Default for Inputs {
    fn default() -> Self {
        Self {
            paths: Vec::new(),
            format: Format::Auto,
            vocabulary_file: None,
            text_field: "text".into(),
            id_field: "id".into(),
            kept_fields: Vec::new(),
            tokenizer: Tokenizer::default(),
            skip: 0,
            limit: None,
            skip_bad: false,
            transpose: false,
            follow: false,
            max_spool: DEFAULT_SPOOL_BYTES,
            read_before: ReadBefore::default(),
        }
    }
}

impl Inputs {
    /// Finds the files and their formats, and fails early if something is missing or empty.
    pub fn resolve(self) -> Result<ResolvedInputs> {
        self.tokenizer.check()?;
        if self.paths.is_empty() {
            return Err(Error::setting(
                "INPUT",
                "no input is given",
                "name a file, or `-` for standard input",
            ));
        }
        if self.paths.iter().filter(|path| is_stdin(path)).count() > 1 {
            return Err(Error::setting(
                "INPUT",
                "`-` is named twice",
                "standard input can be read only once",
            ));
        }
        if self.limit == Some(0) {
            return Err(Error::setting("limit-docs", "0 documents would be read", "use at least 1"));
        }
        let vocabulary_file = self.vocabulary_file.as_deref();
        let paths = self.paths.iter().map(|path| expand(path, self.format)).collect::<Result<Vec<_>>>()?.concat();
        let before = &self.read_before;
        let resolve = |(index, (path, format)): (usize, &(PathBuf, Format))| {
            let place = before.places.get(index);
            Input::resolve(path, *format, vocabulary_file, self.transpose, place)
        };
        let mut inputs = paths.iter().enumerate().map(resolve).collect::<Result<Vec<_>>>()?;
        if let Some(last) = inputs.last_mut().filter(|_| self.follow) {
            last.follow()?;
        }
        let notices = before.go_on(&mut inputs)?;
        Ok(ResolvedInputs { notices, ..self.selected(inputs) })
    }

    /// The same for one input that is in memory; `paths` are not looked at.
    pub fn resolve_bytes(self, bytes: Vec<u8>) -> Result<ResolvedInputs> {
        self.tokenizer.check()?;
        let input = Input::in_memory(bytes, self.format, self.vocabulary_file.as_deref(), self.transpose)?;
        Ok(self.selected(vec![input]))
    }

    fn selected(self, inputs: Vec<Input>) -> ResolvedInputs {
        let ReadBefore { places, documents, seek } = &self.read_before;
        // Places are those of the inputs so far, and only the last one can be followed.
        let is_in_place = self.follow && *seek && places.len() == inputs.len();
        let start = is_in_place.then_some(Start { input: inputs.len() - 1, documents: *documents });
        let selection = Selection {
            inputs: Arc::new(inputs),
            tokenizer: Arc::new(self.tokenizer),
            fields: Arc::new(Fields {
                text: self.text_field,
                id: self.id_field,
                kept: self.kept_fields,
                check: FieldCheck::default(),
            }),
            bad: Arc::new(BadRecords::new(self.skip_bad)),
            skip: self.skip,
            limit: self.limit,
            max_spool: self.max_spool,
            start,
        };
        let (selection, vocabulary_file) = (Arc::new(selection), self.vocabulary_file);
        ResolvedInputs { selection, vocabulary_file, notices: Vec::new() }
    }
}

/// Inputs that exist and whose formats are known. Copies share what is spooled.
#[derive(Clone)]
pub struct ResolvedInputs {
    selection: Arc<Selection>,
    vocabulary_file: Option<PathBuf>,
    notices: Vec<String>,
}

impl ReadBefore {
    /// Compares inputs with what they were, and tells what of them cannot be read any more.
    fn go_on(&self, inputs: &mut [Input]) -> Result<Vec<String>> {
        let mut notices = Vec::new();
        for (place, input) in self.places.iter().zip(&mut *inputs) {
            let found = trace::text(input.name());
            if found != place.name {
                let problem = format!("the run has read {} where there is {found} now", place.name);
                return Err(Error::setting("INPUT", problem, CHANGED_ADVICE));
            }
            notices.extend(input.go_on_after(place, self.seek)?);
        }
        match self.places.get(inputs.len()) {
            None => Ok(notices),
            Some(place) => {
                let problem = format!("the run has read {}, which is not there now", place.name);
                Err(Error::setting("INPUT", problem, CHANGED_ADVICE))
            }
        }
    }
}

impl ResolvedInputs {
    /// How far each input was read, of those that were.
    pub fn places(&self) -> Vec<InputPlace> {
        self.selection.inputs.iter().map_while(Input::place).collect()
    }

    /// Whether all inputs are known to be what the run has read before, as far as it has read them.
    pub fn are_confirmed(&self) -> bool {
        self.selection.inputs.iter().all(Input::is_confirmed)
    }

    /// Whether documents come from where an earlier part of the run stopped, and not from the top.
    pub fn begin_in_place(&self) -> bool {
        self.selection.start.is_some()
    }

    /// What of the inputs cannot be read any more.
    pub fn notices(&self) -> &[String] {
        &self.notices
    }

    /// The files that were found, and the format of each.
    pub fn formats(&self) -> impl Iterator<Item = (&Path, Format)> {
        self.selection.inputs.iter().map(|input| (input.name(), input.format()))
    }

    /// Everything that is read, so that nothing is written over it.
    pub fn files(&self) -> Vec<PathBuf> {
        let inputs = self.selection.inputs.iter().flat_map(Input::files);
        inputs.chain(self.vocabulary_file.clone()).collect()
    }

    /// The same inputs with another range of documents; what is spooled is spooled for both.
    #[must_use]
    pub fn range(&self, skip: u64, limit: Option<u64>) -> Self {
        let selection = Selection { start: None, skip, limit, ..Selection::clone(&self.selection) };
        let vocabulary_file = self.vocabulary_file.clone();
        Self { selection: Arc::new(selection), vocabulary_file, notices: Vec::new() }
    }

    /// The same inputs for another look, whose bad records are counted for themselves; what is spooled is spooled for both.
    #[must_use]
    pub fn counting_apart(&self) -> Self {
        let bad = Arc::new(BadRecords::new(self.selection.bad.are_skipped()));
        let selection = Selection { bad, ..Selection::clone(&self.selection) };
        Self { selection: Arc::new(selection), ..self.clone() }
    }

    /// The same inputs, whose documents keep other fields, which must pass a check; what is spooled is spooled for both.
    #[must_use]
    pub fn keeping(&self, kept: Vec<String>, check: FieldCheck) -> Self {
        let fields = Arc::new(Fields { kept, check, ..Fields::clone(&self.selection.fields) });
        let selection = Selection { fields, ..Selection::clone(&self.selection) };
        Self { selection: Arc::new(selection), ..self.clone() }
    }

    /// The same inputs, cut by another tokenizer; what is spooled is spooled for both.
    #[must_use]
    pub fn cut_by(&self, tokenizer: Tokenizer) -> Self {
        let selection = Selection { tokenizer: Arc::new(tokenizer), ..Selection::clone(&self.selection) };
        Self { selection: Arc::new(selection), ..self.clone() }
    }

    /// How text is cut into words.
    pub fn tokenizer(&self) -> &Tokenizer {
        &self.selection.tokenizer
    }

    /// Whether any input may hold text that must be cut into words.
    pub fn have_text(&self) -> bool {
        self.formats().any(|(_, format)| format.has_text())
    }

    /// The tokenizer for the language of the documents, if it is to be found: it is looked for in the first documents, of
    /// streams in no more than `first` of them.
    pub fn find_language(&self, first: usize) -> Result<Tokenizer> {
        let tokenizer = self.tokenizer();
        let texts = if tokenizer.needs_language() { self.first_texts(first)? } else { Vec::new() };
        Ok(tokenizer.decided(&texts))
    }

    /// The texts of the first documents.
    fn first_texts(&self, first: usize) -> Result<Vec<String>> {
        let is_endless = self.selection.inputs.iter().any(Input::is_followed);
        match self.selection.inputs.first().map(|input| input.first_lines(first)).transpose()?.flatten() {
            None => {
                let texts = self.read_texts(if is_endless { first } else { SAMPLED_DOCUMENTS });
                // They were only looked at: a place in the input is that of what was learnt from.
                self.selection.inputs.iter().for_each(Input::forget_reading);
                texts
            }
            // What cannot be read again must not be taken away.
            Some(lines) => {
                let (inputs, bad) = (Arc::new(vec![lines]), Arc::new(BadRecords::new(true)));
                let selection = Selection { inputs, bad, skip: 0, start: None, ..Selection::clone(&self.selection) };
                Self { selection: Arc::new(selection), ..self.clone() }.read_texts(first)
            }
        }
    }

    fn read_texts(&self, most: usize) -> Result<Vec<String>> {
        let Selection { fields, skip, limit, .. } = &*self.selection;
        let most = limit.unwrap_or(u64::MAX).min(most as u64);
        let read = self.range(*skip, Some(most)).keeping(vec![fields.text.clone()], FieldCheck::default());
        let all_text = self.formats().all(|(_, format)| format.has_text());
        let mut texts = Vec::new();
        for document in read.cut_by(Tokenizer::plain()).documents(&Vocabulary::default()) {
            match document {
                Ok(document) => texts.extend(document.kept.into_iter().next()),
                Err(error) if all_text || matches!(error, Error::Io { .. }) => return Err(error),
                // Counts, which have no language, may follow.
                Err(_) => break,
            }
        }
        Ok(texts.into_iter().filter_map(|text| if let Value::String(text) = text { Some(text) } else { None }).collect())
    }

    /// Whether standard input or a pipe is among the inputs, and has not been spooled.
    pub fn is_read_once(&self) -> bool {
        self.selection.inputs.iter().any(Input::is_read_once)
    }

    /// Whether the inputs must be [spooled](Self::spool) before [`vocabulary`](Self::vocabulary), because it
    /// would read what cannot be read again.
    pub fn needs_spooling(&self, limits: &VocabularyLimits) -> bool {
        self.is_read_once() && self.must_be_counted(limits)
    }

    /// Whether words would have to be counted before learning.
    pub fn must_be_counted(&self, limits: &VocabularyLimits) -> bool {
        let known = self.vocabulary_file.is_some() || self.formats().all(|(_, format)| format == Format::Uci);
        !(known && self.limits(limits).keep_all())
    }

    /// Limits that adapt to the size of the corpus are for text whose words are to be found.
    fn limits(&self, limits: &VocabularyLimits) -> VocabularyLimits {
        if self.have_text() && self.vocabulary_file.is_none() { *limits } else { limits.as_told() }
    }

    /// Copies what can be read only once into temporary files, which live as long as this value and the
    /// documents read from it.
    pub fn spool(&mut self) -> Result<()> {
        self.selection.inputs.iter().try_for_each(|input| input.spool(self.selection.max_spool))
    }

    /// The words to use: those of the vocabulary file if one is given, or else of the count formats' own
    /// files, or else all words of the documents; limits are applied by counting the chosen documents.
    /// `progress` is told now and then how many documents have been counted.
    pub fn vocabulary(&self, limits: &VocabularyLimits, progress: &mut dyn FnMut(u64)) -> Result<Vocabulary> {
        self.vocabulary_reporting(limits, progress).map(|(vocabulary, _)| vocabulary)
    }

    /// The same, with what each filter dropped if words were counted.
    pub fn vocabulary_reporting(
        &self,
        limits: &VocabularyLimits,
        progress: &mut dyn FnMut(u64),
    ) -> Result<(Vocabulary, Option<WordReport>)> {
        limits.check()?;
        let given = self.vocabulary_file.as_ref().map(Vocabulary::load).transpose()?;
        if self.must_be_counted(limits) {
            return self.count(given, limits, progress).map(|(vocabulary, report)| (vocabulary, Some(report)));
        }
        Ok((given.map_or_else(|| self.own_vocabulary(), Ok)?, None))
    }

    /// The chosen documents, their words numbered by `vocabulary`. Words are matched by spelling in all
    /// formats; those that it does not have are only counted.
    pub fn documents(&self, vocabulary: &Vocabulary) -> Box<dyn Corpus> {
        let numbering = Numbering::Fixed(vocabulary.clone());
        Box::new(Documents::new(Stream::new(self.selection.clone()), numbering))
    }

    /// The same with a vocabulary that new words enter. It is locked while a document is read.
    pub fn documents_entering(&self, vocabulary: &Arc<Mutex<OpenVocabulary>>) -> Box<dyn Corpus> {
        let numbering = Numbering::Open(vocabulary.clone());
        Box::new(Documents::new(Stream::new(self.selection.clone()), numbering))
    }

    /// All chosen documents at once; new words enter the vocabulary.
    pub fn read_entering(&self, vocabulary: &mut OpenVocabulary) -> Result<Vec<Document>> {
        let mut stream = Stream::new(self.selection.clone());
        std::iter::from_fn(|| stream.next(vocabulary).transpose()).collect()
    }

    /// What is read, and how.
    pub(crate) fn selection(&self) -> &Arc<Selection> {
        &self.selection
    }

    /// Records that were passed over since the inputs were last opened, by the kind of flaw.
    pub fn bad_records(&self) -> BTreeMap<&'static str, u64> {
        self.selection.bad.counts()
    }

    /// How many documents will come, if the inputs say so themselves.
    pub fn expected_documents(&self) -> Option<u64> {
        let total = self.selection.inputs.iter().try_fold(0_u64, |total, input| match input.content() {
            Content::Uci { documents, .. } | Content::MatrixMarket { documents, .. } => {
                Some(total.saturating_add((*documents)?))
            }
            _ => None,
        })?;
        Some(total.saturating_sub(self.selection.skip).min(self.selection.limit.unwrap_or(u64::MAX)))
    }

    /// The words of all count files, in the order of the files.
    fn own_vocabulary(&self) -> Result<Vocabulary> {
        let vocabularies: Vec<&Vocabulary> = self
            .selection
            .inputs
            .iter()
            .filter_map(|input| match input.content() {
                Content::Uci { vocabulary, .. } => Some(vocabulary),
                _ => None,
            })
            .collect();
        if let [first, others @ ..] = vocabularies.as_slice()
            && others.iter().all(|other| other == first)
        {
            return Ok((*first).clone());
        }
        let mut seen = FxHashSet::default();
        Vocabulary::new(
            vocabularies.iter().flat_map(|vocabulary| vocabulary.words()).filter(|word| seen.insert(*word)),
        )
    }

    fn count(
        &self,
        allowed: Option<Vocabulary>,
        limits: &VocabularyLimits,
        progress: &mut dyn FnMut(u64),
    ) -> Result<(Vocabulary, WordReport)> {
        let mut words = CountedWords { allowed, counter: VocabularyCounter::default(), dropped: Dropped::default() };
        let mut stream = Stream::new(self.selection.clone());
        let mut documents = 0;
        while let Some(document) = stream.next(&mut words)? {
            words.counter.count(&document);
            documents += 1;
            if documents % PROGRESS_DOCUMENTS == 0 {
                progress(documents);
            }
        }
        progress(documents);
        let CountedWords { counter, dropped, .. } = words;
        let (vocabulary, report) = counter.finish_reporting(&self.limits(limits))?;
        Ok((vocabulary, WordReport { dropped, ..report }))
    }

    /// The tokenizer with stems written as their most frequent forms in the chosen documents; with a vocabulary file, as the first
    /// of its words. `progress` is told now and then how many documents have been read.
    pub fn find_forms(&self, progress: &mut dyn FnMut(u64)) -> Result<Tokenizer> {
        let tokenizer = self.tokenizer();
        if !tokenizer.needs_forms() {
            return Ok(tokenizer.clone());
        }
        let words = match &self.vocabulary_file {
            Some(file) => Vocabulary::load(file)?,
            None => self.cut_by(tokenizer.single_words()).count(None, &VocabularyLimits::default(), progress)?.0,
        };
        Ok(tokenizer.written_as(words.words()))
    }

    /// Words that belong together, found in the chosen documents: those that follow each other as the tokenizer cuts them.
    /// `progress` is told now and then how many documents have been read.
    pub fn phrases(&self, progress: &mut dyn FnMut(u64)) -> Result<PhraseCounter> {
        let mut words = FollowingWords::default();
        let mut stream = Stream::new(self.selection.clone());
        let mut documents = 0;
        while stream.next(&mut words)?.is_some() {
            words.counter.end_document();
            documents += 1;
            if documents % PROGRESS_DOCUMENTS == 0 {
                progress(documents);
            }
        }
        progress(documents);
        Ok(words.counter)
    }
}

/// Counts which words follow each other.
#[derive(Default)]
struct FollowingWords {
    counter: PhraseCounter,
}

impl WordIds for FollowingWords {
    fn id(&mut self, word: &str) -> Option<u32> {
        self.counter.add(word, false);
        None
    }

    fn id_after(&mut self, word: &str, follows: bool) -> Option<u32> {
        self.counter.add(word, follows);
        None
    }

    fn keeps_ids(&self) -> bool {
        false
    }
}

/// Paths as text, which those that are not UTF-8 become with a loss.
fn names<'a, S: Serializer>(
    paths: impl IntoIterator<Item = &'a PathBuf>,
    serializer: S,
) -> std::result::Result<S::Ok, S::Error> {
    serializer.collect_seq(paths.into_iter().map(|path| path.to_string_lossy()))
}

#[expect(clippy::ref_option, reason = "serde hands it over so")]
fn name<S: Serializer>(path: &Option<PathBuf>, serializer: S) -> std::result::Result<S::Ok, S::Error> {
    path.as_ref().map(|path| path.to_string_lossy()).serialize(serializer)
}

/// The files that a pattern or a folder of texts stands for, by name, with their format; anything else is a path as it is.
///
/// Several short text files are a document each, unless the user says that they hold a document a line.
fn expand(path: &Path, format: Format) -> Result<Vec<(PathBuf, Format)>> {
    let may_be_files = matches!(format, Format::Auto | Format::Files);
    if path.is_dir() && may_be_files {
        let within = |names: &str| {
            matching(&format!("{}/{names}", glob::Pattern::escape(&path.to_string_lossy())))
        };
        let files = within("*.txt")?;
        if !files.is_empty() && !within("*")?.iter().any(|file| is_docword(file)) {
            return Ok(files.into_iter().map(|file| (file, Format::Files)).collect());
        }
    }
    let pattern = path.to_str().filter(|text| text.contains(['*', '?', '[']) && !path.exists());
    let Some(pattern) = pattern else { return Ok(vec![(path.to_path_buf(), format)]) };
    let files = matching(pattern)?;
    if files.is_empty() {
        return Err(bad_pattern(format!("no file matches `{pattern}`")));
    }
    let is_short_text = |file: &PathBuf| {
        file.extension().is_some_and(|ending| ending == "txt")
            && !is_docword(file)
            && file.metadata().is_ok_and(|found| found.is_file() && found.len() <= MOST_BYTES_OF_A_SHORT_FILE)
    };
    let are_documents = format == Format::Auto && files.len() > 1 && files.iter().all(is_short_text);
    let format = if are_documents { Format::Files } else { format };
    Ok(files.into_iter().map(|file| (file, format)).collect())
}

/// The files like a pattern, by name.
fn matching(pattern: &str) -> Result<Vec<PathBuf>> {
    let found = glob::glob(pattern)
        .map_err(|error| bad_pattern(format!("`{pattern}` is not a pattern: {error}")))?;
    let mut files = found
        .map(|file| file.map_err(|error| Error::io(error.path().to_path_buf(), "open", error.into())))
        .collect::<Result<Vec<_>>>()?;
    files.sort();
    Ok(files)
}

fn bad_pattern(problem: String) -> Error {
    Error::setting("INPUT", problem, "check the pattern, or name the files")
}

/// Counts the words of the vocabulary file only, if there is one.
struct CountedWords {
    allowed: Option<Vocabulary>,
    counter: VocabularyCounter,
    dropped: Dropped,
}

impl CountedWords {
    fn is_allowed(&self, word: &str) -> bool {
        self.allowed.as_ref().is_none_or(|allowed| allowed.id(word).is_some())
    }
}

impl WordIds for CountedWords {
    fn id(&mut self, word: &str) -> Option<u32> {
        self.is_allowed(word).then(|| self.counter.id(word))
    }

    fn lasting_id(&mut self, word: &str) -> Option<u32> {
        if self.is_allowed(word) { self.counter.lasting_id(word) } else { None }
    }

    fn dropped(&mut self, cut: Cut<'_>) {
        self.dropped.count(&cut);
    }
}
