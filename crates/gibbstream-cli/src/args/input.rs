//! Which documents to read, and how text becomes words.

use crate::output::{Output, count};
use gibbstream::corpus::{
    Adaptive, DEFAULT_SPOOL_BYTES, Format, Html, Inputs, Language, OpenRule, ReadBefore, ResolvedInputs,
    Stems, StopWords, TermWeights, Tokenizer, VocabularyLimits,
};
use gibbstream::{Error, Result};
use std::path::PathBuf;

/// What to read.
#[derive(Clone, Debug, clap::Args)]
#[command(next_help_heading = "Input")]
pub struct InputArgs {
    /// Files, patterns such as '*.jsonl', folders of .txt files, UCI corpora (folder or prefix), or `-` for standard
    /// input; gzip, zstd, bzip2 and xz are decompressed automatically
    #[arg(value_name = "INPUT", required = true)]
    pub inputs: Vec<PathBuf>,
    #[command(flatten)]
    pub reading: ReadingArgs,
}

/// How to read it.
#[derive(Clone, Debug, clap::Args)]
#[command(next_help_heading = "Input")]
pub struct ReadingArgs {
    /// Input format: auto, text (one document per line), files (one document per file), jsonl, csv (also
    /// tab-separated), parquet, uci, svmlight, mm (Matrix Market) or ldac; for rows of numbers csv, parquet or npy
    #[arg(long, default_value = "auto", value_parser = Format::ALL.map(Format::name), hide_possible_values = true)]
    format: String,
    /// File with the vocabulary, one word per line; also names the words of formats that only number them
    #[arg(long, value_name = "FILE")]
    pub vocab: Option<PathBuf>,
    /// JSON field or column that contains the text or a list of tokens (in Parquet also a list of word ids, with their
    /// counts in a column `counts`)
    #[arg(long, value_name = "NAME", default_value = "text")]
    text_field: String,
    /// JSON field or column that contains the document's id
    #[arg(long, value_name = "NAME", default_value = "id")]
    id_field: String,
    /// Skip the first N documents
    #[arg(long, value_name = "N", default_value_t = 0)]
    pub skip_docs: u64,
    /// Read at most N documents, after those skipped [default: all]
    #[arg(long, value_name = "N")]
    pub limit_docs: Option<u64>,
    /// Maximum size of the temporary copy of standard input, such as 500M or 10G [default: 64G]
    #[arg(long, value_name = "SIZE", value_parser = parse_size)]
    max_spool: Option<u64>,
    /// Skip records that cannot be read, and report how many of each kind there were
    #[arg(long)]
    skip_bad: bool,
    /// Treat the rows of a Matrix Market file as words and its columns as documents
    #[arg(long)]
    transpose: bool,
}

impl InputArgs {
    /// The inputs, with text cut by `tokenizer`.
    pub fn with(&self, tokenizer: Tokenizer) -> Result<Inputs> {
        self.reading.with(self.inputs.clone(), tokenizer)
    }
}

impl ReadingArgs {
    /// The flags that decide which documents are read, as words of a command line; defaults are left out.
    pub fn words(&self) -> Vec<String> {
        let named = |flag: &str, value: Option<String>| value.map(|value| vec![flag.to_owned(), value]);
        let other = |value: &str, usual: &str| (value != usual).then(|| value.to_owned());
        let flags = [
            named("--text-field", other(&self.text_field, "text")),
            named("--id-field", other(&self.id_field, "id")),
            named("--skip-docs", (self.skip_docs > 0).then(|| self.skip_docs.to_string())),
            named("--limit-docs", self.limit_docs.map(|most| most.to_string())),
            self.skip_bad.then(|| vec!["--skip-bad".to_owned()]),
        ];
        flags.into_iter().flatten().flatten().collect()
    }

    /// These paths, with text cut by `tokenizer`.
    pub fn with(&self, paths: Vec<PathBuf>, tokenizer: Tokenizer) -> Result<Inputs> {
        Ok(Inputs {
            paths,
            format: self.format.parse::<Format>()?,
            vocabulary_file: self.vocab.clone(),
            text_field: self.text_field.clone(),
            id_field: self.id_field.clone(),
            kept_fields: Vec::new(),
            tokenizer,
            skip: self.skip_docs,
            limit: self.limit_docs,
            skip_bad: self.skip_bad,
            transpose: self.transpose,
            follow: false,
            max_spool: self.max_spool.unwrap_or(DEFAULT_SPOOL_BYTES),
            read_before: ReadBefore::default(),
        })
    }
}

/// Says what was found where that is not obvious: text files that were taken as one document each.
pub fn report_found(inputs: &ResolvedInputs, output: &Output) {
    let files = inputs.formats().filter(|(_, format)| *format == Format::Files).count();
    if files > 0 {
        output.note(format_args!(
            "{} text files are read as one document each (--format text reads one document per line)",
            count(files as u64)
        ));
    }
}

/// Bytes, or thousands, millions and billions of them by powers of 1024: `500M`.
fn parse_size(text: &str) -> Result<u64, String> {
    let (number, shift) = match text.strip_suffix(['k', 'K', 'm', 'M', 'g', 'G', 't', 'T']) {
        None => (text, 0),
        Some(number) => {
            let unit = text.bytes().last().map_or(b'K', |unit| unit.to_ascii_uppercase());
            (number, 10 * (1 + b"KMGT".iter().position(|&known| known == unit).unwrap_or(0)))
        }
    };
    let bytes = number.parse::<u64>().ok().and_then(|number| number.checked_mul(1 << shift));
    bytes.filter(|&bytes| bytes > 0).ok_or_else(|| "use a size such as 500M or 10G".to_owned())
}

/// Says which records were passed over, if any were.
pub fn report_bad(inputs: &ResolvedInputs, output: &Output) {
    let bad = inputs.bad_records();
    if !bad.is_empty() {
        let kinds: Vec<String> = bad.iter().map(|(kind, count)| format!("{count} {kind}")).collect();
        output.warn(format_args!("bad records were skipped: {}", kinds.join(", ")));
    }
}

/// How text is cut into words, and which words are kept.
#[derive(Clone, Debug, clap::Args)]
#[command(next_help_heading = "Words")]
pub struct WordArgs {
    /// Vocabulary: fixed (from a first pass, or --vocab), grow (add new words as they appear, replacing the least used
    /// when it is full) or hash=BITS (hash words into 2^BITS buckets)
    #[arg(long, value_name = "MODE", default_value = "fixed", value_parser = parse_mode)]
    vocab_mode: VocabularyMode,
    /// Maximum size of the vocabulary; the most frequent words are kept [default: unlimited, or 100000 with
    /// --vocab-mode grow]
    #[arg(long, value_name = "N")]
    max_vocab: Option<usize>,
    /// Drop words that occur in fewer than N documents; auto grows with the number of documents (2 of 1,000, 5 of 20,000).
    /// auto applies to text with --vocab-mode fixed; count formats keep all words
    #[arg(long, value_name = "N|auto", default_value = "auto", value_parser = parse_auto::<u64>)]
    min_df: Auto<u64>,
    /// Drop words that occur in more than this share of the documents; auto is 0.5 for 200 or more documents of text
    #[arg(long, value_name = "SHARE|auto", default_value = "auto", value_parser = parse_auto::<f64>)]
    max_df: Auto<f64>,
    /// Language of the text, as a code such as `en`; auto detects it from the first documents
    #[arg(long, value_name = "CODE|auto", default_value = "auto")]
    language: String,
    /// Stop words to drop: auto (those of the language), a language code such as `en`, a file with one word per line, or
    /// `none`
    #[arg(long, value_name = "LIST", default_value = "auto")]
    stop_words: String,
    /// Markup in text: auto (strip known tags), strip (everything that looks like a tag) or keep
    #[arg(long, value_name = "WHAT", default_value = "auto", value_parser = Html::NAMES.map(|(name, _)| name), hide_possible_values = true)]
    html: String,
    /// Keep URLs and email addresses as words
    #[arg(long)]
    keep_urls: bool,
    /// Join words that belong together (new york, hard drive) into one word; the input is read once more to find them
    #[arg(long)]
    pub phrases: bool,
    /// Count the forms of a word (ship, ships, shipping) as one, with the Snowball stemmer of a language such as `en`; shown
    /// is the most frequent form. The input is read once more to find it
    #[arg(long, value_name = "LANG")]
    stem: Option<String>,
    /// How much a token counts: none (every token once) or idf (words in few documents more than words in many). Held-out
    /// scores of models with different weights cannot be compared
    #[arg(long, value_name = "WEIGHTS", default_value = "none", value_parser = TermWeights::NAMES.map(|(name, _)| name), hide_possible_values = true)]
    term_weights: String,
    /// Also count phrases of up to N consecutive words (new_york)
    #[arg(long, value_name = "N", default_value_t = 1)]
    ngrams: usize,
    /// Drop words with fewer than N characters
    #[arg(long, value_name = "N", default_value_t = 2)]
    min_length: usize,
    /// Do not convert words to lower case
    #[arg(long)]
    no_lowercase: bool,
}

/// Choices of `--vocab-mode`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum VocabularyMode {
    Fixed,
    Grow,
    Hash(u32),
}

/// A value, or the one that suits the corpus.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Auto<T> {
    Auto,
    Given(T),
}

impl<T: Copy> Auto<T> {
    fn given(self) -> Option<T> {
        if let Self::Given(value) = self { Some(value) } else { None }
    }
}

fn parse_auto<T: std::str::FromStr>(text: &str) -> Result<Auto<T>, String> {
    if text == "auto" {
        return Ok(Auto::Auto);
    }
    text.parse().map(Auto::Given).map_err(|_| "use a number, or auto".to_owned())
}

/// Words that a growing vocabulary holds unless told otherwise.
const MOST_GROWN_WORDS: usize = 100_000;

fn parse_mode(text: &str) -> Result<VocabularyMode, String> {
    match text.split_once('=') {
        None if text == "fixed" => Ok(VocabularyMode::Fixed),
        None if text == "grow" => Ok(VocabularyMode::Grow),
        Some(("hash", bits)) => {
            bits.parse().map(VocabularyMode::Hash).map_err(|_| format!("`{bits}` is not a number of bits"))
        }
        _ => Err("use fixed, grow or hash=BITS".into()),
    }
}

impl WordArgs {
    /// How words get their places, if they are not fixed.
    pub fn open_rule(&self) -> Result<Option<OpenRule>> {
        let rule = match self.vocab_mode {
            VocabularyMode::Fixed => return Ok(None),
            VocabularyMode::Grow => OpenRule::Grow { most: self.max_vocab.unwrap_or(MOST_GROWN_WORDS) },
            VocabularyMode::Hash(bits) => OpenRule::Hash { bits },
        };
        rule.check()?;
        let counted = [
            ("--min-df", self.min_df.given().is_some_and(|least| least > 1)),
            ("--max-df", self.max_df.given().is_some_and(|most| most < 1.0)),
            ("--phrases", self.phrases),
            ("--term-weights", self.term_weights != "none"),
            ("--max-vocab", self.max_vocab.is_some() && matches!(rule, OpenRule::Hash { .. })),
        ];
        if let Some((flag, _)) = counted.iter().find(|(_, given)| *given) {
            let problem = "words would have to be counted before learning";
            return Err(Error::setting(*flag, problem, "leave it out, or use --vocab-mode fixed"));
        }
        Ok(Some(rule))
    }

    /// How text is cut.
    pub fn tokenizer(&self) -> Result<Tokenizer> {
        let of_language = self.stop_words == "auto";
        let tokenizer = Tokenizer {
            lowercase: !self.no_lowercase,
            min_length: self.min_length,
            ngrams: self.ngrams,
            stop_words: if of_language { StopWords::none() } else { StopWords::parse(&self.stop_words)? },
            stop_words_of_language: of_language,
            language: Language::parse(&self.language)?,
            html: Html::NAMES
                .iter()
                .find(|(name, _)| *name == self.html)
                .map_or(Html::Auto, |(_, html)| *html),
            keep_urls: self.keep_urls,
            stem: self.stem.as_deref().map(Stems::of_language).transpose()?,
            ..Tokenizer::auto()
        };
        tokenizer.check()?;
        Ok(tokenizer)
    }

    /// Which words are kept.
    pub fn limits(&self) -> Result<VocabularyLimits> {
        let limits = VocabularyLimits {
            max_words: self.max_vocab,
            min_documents: self.min_df.given().unwrap_or(1),
            max_document_share: self.max_df.given().unwrap_or(1.0),
            adaptive: Adaptive {
                min_documents: self.min_df == Auto::Auto,
                max_document_share: self.max_df == Auto::Auto,
            },
            term_weights: TermWeights::parse(&self.term_weights)?,
        };
        limits.check()?;
        Ok(limits)
    }
}
