//! The flags of `train`, and the checked plan that they amount to.

use super::General;
use super::input::{InputArgs, WordArgs};
use super::method::MethodArgs;
use gibbstream::corpus::{Inputs, Tokenizer, VocabularyLimits};
use gibbstream::trainer::Settings;
use gibbstream::{Error, Result};
use std::path::PathBuf;

const EXAMPLES: &str = "\
Examples:
  gibbstream train reviews.jsonl.zst --topics 100 --out reviews.gbs
  gibbstream train corpus/ --topics 50 --holdout 500 --eval-every 100 --out model.gbs
  zcat log.gz | gibbstream train - --format text --topics 20 --max-vocab 50000 --out log.gbs
  gibbstream train corpus/ --topics 128 --dry-run             how much memory will it take?

Text is read twice: once to find the words, once to learn. From standard input it is kept in a temporary file in
between, unless the words are given with --vocab.

With --holdout N the first N documents read are not learnt from, nor do their words count for the vocabulary;
they are scored every --eval-every minibatches and at the end.

Ctrl-C or SIGTERM finishes the minibatch and writes the model so far to --out; a second one ends at once.";

const PASSES_OF_BATCH_METHODS: u64 = 20;

/// Learn topics from documents and write a model
#[derive(Clone, Debug, clap::Args)]
#[command(after_long_help = EXAMPLES)]
pub struct TrainArgs {
    #[command(flatten)]
    pub input: InputArgs,
    /// Kind of model
    #[arg(long, default_value = "lda", value_parser = ["lda"])]
    pub model: String,
    /// Number of topics
    #[arg(long, value_name = "K", visible_alias = "components")]
    topics: Option<usize>,
    /// File to write the model to; replaced in one go if it exists
    #[arg(long, value_name = "MODEL")]
    pub out: Option<PathBuf>,
    /// Documents per minibatch
    #[arg(long, value_name = "N", default_value_t = 100)]
    batch: usize,
    /// Passes over the input [default: 1, or 20 for methods that take the corpus as a whole]
    #[arg(long, value_name = "N")]
    passes: Option<u64>,
    /// Stop after so many seconds of training
    #[arg(long, value_name = "SECONDS")]
    max_seconds: Option<f64>,
    /// Keep the first N documents aside and score them
    #[arg(long, value_name = "N", default_value_t = 0)]
    holdout: usize,
    /// Score the documents kept aside every M minibatches [default: at the end]
    #[arg(long, value_name = "M")]
    eval_every: Option<u64>,
    /// File for one JSON line per minibatch and per score
    #[arg(long, value_name = "FILE")]
    pub log: Option<PathBuf>,
    /// Say what would be done and how much memory it takes, without learning
    #[arg(long)]
    pub dry_run: bool,
    #[command(flatten)]
    pub method: MethodArgs,
    #[command(flatten)]
    words: WordArgs,
}

/// Everything that training needs to know before it reads documents.
pub struct Plan {
    /// All but the size of the vocabulary, which is 1 until it is known.
    pub settings: Settings,
    pub inputs: Inputs,
    pub tokenizer: Tokenizer,
    pub limits: VocabularyLimits,
    pub passes: u64,
    pub max_seconds: f64,
    pub holdout: usize,
    pub eval_every: Option<u64>,
}

impl TrainArgs {
    /// Checks everything that can be checked without reading documents.
    pub fn plan(&self, general: &General) -> Result<Plan> {
        let Some(topics) = self.topics else {
            return Err(Error::setting(
                "--topics",
                "the number of topics is missing",
                "for example --topics 100",
            ));
        };
        let settings = Settings {
            name: self.method.name().to_owned(),
            method: self.method.method()?,
            topics,
            vocabulary: 1,
            batch: self.batch,
            seed: general.seed,
        };
        // The size of the corpus, if the method needs it, may only be known after reading.
        Settings { method: settings.method.with_population(1.0), ..settings.clone() }.validate()?;
        let refuse = |flag: &str, problem: &str, advice: &str| Err(Error::setting(flag, problem, advice));
        let passes =
            self.passes.unwrap_or(if settings.method.whole_corpus { PASSES_OF_BATCH_METHODS } else { 1 });
        if passes == 0 {
            return refuse("--passes", "0 passes would learn nothing", "use at least 1");
        }
        let max_seconds = self.max_seconds.unwrap_or(f64::INFINITY);
        if max_seconds.is_nan() || max_seconds <= 0.0 {
            return refuse(
                "--max-seconds",
                "this leaves no time to learn",
                "use a positive number of seconds",
            );
        }
        if self.eval_every == Some(0) {
            return refuse("--eval-every", "0 is not a number of minibatches", "use at least 1");
        }
        if self.eval_every.is_some() && self.holdout == 0 {
            return refuse(
                "--eval-every",
                "there are no documents to score",
                "keep some aside with --holdout N",
            );
        }
        if self.input.reading.limit_docs.is_some_and(|limit| limit <= self.holdout as u64) {
            let advice = "read more documents, or keep fewer aside";
            return refuse("--holdout", "no document within --limit-docs is left to learn from", advice);
        }
        if self.out.is_none() && !self.dry_run && !general.json {
            let advice = "name a file for it with --out, for example --out model.gbs";
            return refuse("--out", "the model would be lost", advice);
        }
        let tokenizer = self.words.tokenizer()?;
        Ok(Plan {
            settings,
            inputs: self.input.with(tokenizer.clone())?,
            tokenizer,
            limits: self.words.limits()?,
            passes,
            max_seconds,
            holdout: self.holdout,
            eval_every: self.eval_every,
        })
    }
}
