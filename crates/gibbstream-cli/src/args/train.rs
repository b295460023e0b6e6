//! The flags of `train`, and the checked plan that they amount to.

use super::General;
use super::checkpoint::CheckpointArgs;
use super::input::{InputArgs, WordArgs};
use super::knobs::KnobArgs;
use crate::command::evaluate::tokenizer_of;
use gibbstream::corpus::{Inputs, OpenRule, SAMPLED_FROM_STREAMS, Tokenizer, VocabularyLimits};
use gibbstream::file::Model;
use gibbstream::learn::{Mode, Seeds, Settings};
use gibbstream::{Error, Result};
use serde_json::{Value, json};
use std::path::{Path, PathBuf};

const EXAMPLES: &str = "\
Examples:
  gibbstream train reviews.jsonl.zst --topics 100 --out reviews.gbs
  gibbstream train corpus/ --topics 50 --holdout 500 --eval-every 100 --out model.gbs
  zcat log.gz | gibbstream train - --format text --topics 20 --max-vocab 50000 --out log.gbs
  gibbstream train corpus/ --model hdp --out model.gbs        find the number of topics
  gibbstream train corpus/ --topics 128 --dry-run             expected memory and time
  gibbstream train patches.npy --model ica --components 16 --out patches.gbs      rows of numbers
  gibbstream train events.jsonl --follow --vocab-mode grow --topics 50 --checkpoint events/ --resume --out events.gbs

Text is read twice: first to build the vocabulary, then to learn; with --phrases or --stem once more. Standard input is copied to a
temporary file for this, unless the vocabulary is given with --vocab.

With --holdout N, the first N documents are not used for training or for the vocabulary. They are scored every
--eval-every minibatches and at the end.

Ctrl-C, SIGTERM or SIGHUP finishes the current minibatch and writes the model to --out, or a checkpoint if there is
--checkpoint. A minibatch that would take more than 5 seconds longer is dropped. A second signal exits immediately.

To resume a run that was interrupted or killed, repeat the command with --checkpoint DIR and --resume. The result is
the same model as that of an uninterrupted run. Input from a pipe must start again from the beginning.

--follow reads a growing file like `tail -F`, also when the file is replaced. The vocabulary must be given with --vocab,
or use --vocab-mode grow or hash=BITS.

--seeds FILE starts the first topics from words that you choose: one line of words per topic, such as
`space: orbit nasa shuttle`. The text before the colon becomes the label of the topic. Seed words only decide how a
topic starts; all its words are then learnt from the documents.

--continue MODEL trains a model on more documents. Its settings stay the same unless flags change them. Changes are
recorded in the history of the model.";

/// Flags that decide which words there are.
const WORD_FLAGS: [&str; 15] = [
    "vocab",
    "vocab-mode",
    "max-vocab",
    "min-df",
    "max-df",
    "language",
    "stop-words",
    "html",
    "keep-urls",
    "phrases",
    "stem",
    "term-weights",
    "ngrams",
    "min-length",
    "no-lowercase",
];

/// Other flags of documents, which mean nothing for rows of numbers.
const DOCUMENT_FLAGS: [&str; 3] = ["text-field", "transpose", "seeds"];

/// Learn topics from documents and write a model
#[derive(Clone, Debug, clap::Args)]
#[command(after_long_help = EXAMPLES)]
pub struct TrainCommand {
    #[command(flatten)]
    pub train: TrainArgs,
    /// File with seed words that guide topics: one line of words per topic, or `label: words`
    #[arg(long, value_name = "FILE")]
    pub seeds: Option<PathBuf>,
}

/// The flags of `train` that other commands have too.
#[derive(Clone, Debug, clap::Args)]
pub struct TrainArgs {
    #[command(flatten)]
    pub input: InputArgs,
    #[command(flatten)]
    pub knobs: KnobArgs,
    /// Write the model to this file; an existing model is replaced atomically
    #[arg(long, short, value_name = "MODEL")]
    pub out: Option<PathBuf>,
    /// Continue training from this model, with new documents
    #[arg(long = "continue", value_name = "MODEL")]
    pub continued: Option<PathBuf>,
    /// Number of passes over the input [default: 1, or 20 for batch methods]
    #[arg(long, value_name = "N")]
    pub passes: Option<u64>,
    /// Keep reading the last file as it grows, until interrupted (standard input: until it is closed)
    #[arg(long)]
    follow: bool,
    /// Stop after this many seconds of training
    #[arg(long, value_name = "SECONDS")]
    pub max_seconds: Option<f64>,
    /// Hold out the first N documents and score them
    #[arg(long, value_name = "N", default_value_t = 0)]
    pub holdout: usize,
    /// Score the held-out documents every M minibatches [default: only at the end]
    #[arg(long, value_name = "M")]
    pub eval_every: Option<u64>,
    /// Write a log to this file: one JSON line per minibatch and per score
    #[arg(long, value_name = "FILE")]
    pub log: Option<PathBuf>,
    /// Print what would be done, with the expected memory and time, without training
    #[arg(long)]
    pub dry_run: bool,
    #[command(flatten)]
    words: WordArgs,
    #[command(flatten)]
    pub checkpoints: CheckpointArgs,
    /// Words that pull topics, which only `train` can have.
    #[arg(skip)]
    pub seeds: Option<PathBuf>,
    /// Flags that the user gave.
    #[arg(skip)]
    pub given: Vec<String>,
}

/// Everything that training needs to know before it reads documents.
#[derive(Clone)]
pub struct Plan {
    /// All but the size of the vocabulary, which is 1 until it is known.
    pub settings: Settings,
    pub inputs: Inputs,
    pub limits: VocabularyLimits,
    /// Whether words that belong together are looked for.
    pub phrases: bool,
    /// How words get their places, if they are not fixed.
    pub open_rule: Option<OpenRule>,
    pub passes: u64,
    pub max_seconds: f64,
    pub holdout: usize,
    pub eval_every: Option<u64>,
    /// Words that pull topics.
    pub seeds: Seeds,
}

impl Plan {
    /// Documents of a stream that are there before the first minibatch is learnt from, as far as its language is looked for.
    pub fn first_documents(&self) -> usize {
        (self.holdout + self.settings.minibatch_after(0)).min(SAMPLED_FROM_STREAMS)
    }

    /// Everything that decides the result, so that a run is resumed only as what it was.
    pub fn request(&self, args: &TrainArgs) -> Value {
        let mut request = json!({
            "settings": self.settings,
            "continue": args.continued.as_ref().map(|path| path.display().to_string()),
            "input": self.inputs,
            "passes": self.passes,
            "holdout": self.holdout,
        });
        if self.settings.model.has_topics() {
            request["words"] = json!(self.limits);
            request["vocab-mode"] = json!(self.open_rule);
            if self.phrases {
                request["phrases"] = json!(true);
            }
        }
        if !self.seeds.topics().is_empty() {
            let words: Vec<&[String]> = self.seeds.topics().iter().map(|topic| &*topic.words).collect();
            request["seeds"] = json!(words);
        }
        request
    }
}

impl TrainArgs {
    /// Checks everything that can be checked without reading documents. `base` is the model to go on from; `mode` is
    /// what the input is taken for if neither it nor the user says so, or else what it looks like.
    pub fn plan(&self, general: &General, base: Option<&Model>, mode: Option<Mode>) -> Result<Plan> {
        let before = base.map(|base| &base.settings);
        let settings = self.knobs.settings(before, mode.unwrap_or_default())?;
        let settings = match mode {
            None => self.knobs.settings(before, self.mode_of_input(&settings)?)?,
            Some(_) => settings,
        };
        let has_topics = settings.model.has_topics();
        match base {
            _ if !has_topics => self.refuse(&[&WORD_FLAGS[..], &DOCUMENT_FLAGS].concat(), || {
                format!("does not apply to {{model}} {}", settings.model.name())
            })?,
            Some(base) => {
                self.refuse(&["seeds"], || "a continued model already has topics".into())?;
                self.check_words(base)?;
            }
            None => {}
        }
        // The size of the corpus, if the method needs it, may only be known after reading.
        Settings { method: settings.method.with_population(1.0), ..settings.clone() }.validate()?;
        let refuse = |flag: &str, problem: &str, advice: &str| Err(Error::setting(flag, problem, advice));
        let passes = self.passes.unwrap_or(settings.method.usual_passes());
        if passes == 0 {
            return refuse("--passes", "0 passes would learn nothing", "use at least 1");
        }
        let max_seconds = self.max_seconds.unwrap_or(f64::INFINITY);
        if max_seconds.is_nan() || max_seconds <= 0.0 {
            return refuse(
                "--max-seconds",
                "this leaves no time for training",
                "use a positive number of seconds",
            );
        }
        if self.eval_every == Some(0) {
            return refuse("--eval-every", "0 is not a number of minibatches", "use at least 1");
        }
        if self.eval_every.is_some() && self.holdout == 0 {
            return refuse(
                "--eval-every",
                &format!("there are no {} to score", if has_topics { "documents" } else { "rows" }),
                "hold some out with --holdout N",
            );
        }
        if self.input.reading.limit_docs.is_some_and(|limit| limit <= self.holdout as u64) {
            let advice = "read more documents, or hold fewer out";
            return refuse("--holdout", "no document within --limit-docs is left to learn from", advice);
        }
        if self.out.is_none() && !self.dry_run && !general.json {
            let advice = "name a file with --out, for example --out model.gbs";
            return refuse("--out", "the model would not be saved", advice);
        }
        let open_rule = self.open_rule(base)?;
        if open_rule.is_some() && (settings.method.whole_corpus || settings.method.is_langevin()) {
            let problem = "this method needs to know all words before it begins";
            return refuse(
                "--vocab-mode",
                problem,
                "use --vocab-mode fixed, or a method that learns from minibatches",
            );
        }
        if open_rule.is_some() && self.seeds.is_some() {
            let problem = "the words must be known before learning begins";
            return refuse("--seeds", problem, "use --vocab-mode fixed, or leave them out");
        }
        if self.follow && (passes > 1 || settings.method.whole_corpus) {
            let problem = "an endless stream cannot be read as a whole";
            return refuse("--follow", problem, "use one pass, and a method that learns from minibatches");
        }
        let tokenizer = match base {
            _ if !has_topics => Tokenizer::default(),
            Some(base) => tokenizer_of(base),
            // A language that is told needs no documents.
            None => {
                let tokenizer = self.words.tokenizer()?;
                if tokenizer.needs_language() { tokenizer } else { tokenizer.decided(&[] as &[&str]) }
            }
        };
        let seeds = self.seeds.as_deref().map(Seeds::load).transpose()?.unwrap_or_default();
        Settings { seeds: vec![Vec::new(); seeds.topics().len()], ..settings.clone() }.validate_seeds()?;
        Ok(Plan {
            settings,
            inputs: Inputs { follow: self.follow, ..self.input.with(tokenizer)? },
            limits: self.words.limits()?,
            phrases: self.words.phrases && base.is_none(),
            open_rule,
            passes,
            max_seconds,
            holdout: self.holdout,
            eval_every: self.eval_every,
            seeds,
        })
    }

    /// What can be read again and has an end is a file. So is what can be read only once, if it has to be copied to
    /// a temporary file: to count its words, or for more passes.
    fn mode_of_input(&self, settings: &Settings) -> Result<Mode> {
        let open = self.words.open_rule()?.is_some();
        let known = self.input.reading.vocab.is_some() && self.words.limits()?.as_told().keep_all();
        let words = open || known || !settings.model.has_topics();
        let once = self.passes.unwrap_or(settings.method.usual_passes()) == 1;
        let is_stream =
            self.follow || (words && once && self.input.inputs.iter().any(|path| is_read_once(path)));
        Ok(if is_stream { Mode::Stream } else { Mode::File })
    }

    /// The rule of a model that is continued stays, except that fixed words may begin to grow.
    fn open_rule(&self, base: Option<&Model>) -> Result<Option<OpenRule>> {
        let rule = self.words.open_rule()?;
        Ok(base.and_then(|base| base.features.open()).map(|open| open.state().rule).or(rule))
    }

    /// The words of a model that is continued may grow, but not become others.
    fn check_words(&self, base: &Model) -> Result<()> {
        let opens = matches!(self.words.open_rule()?, Some(OpenRule::Grow { .. }));
        let words_grow = opens && !base.features.vocabulary().is_hashed();
        let allowed = |flag: &str| words_grow && ["vocab-mode", "max-vocab"].contains(&flag);
        let flags: Vec<&str> = WORD_FLAGS.into_iter().filter(|flag| !allowed(flag)).collect();
        self.refuse(&flags, || "a continued model keeps its words".into())
    }

    /// Refuses flags that cannot have an effect.
    fn refuse(&self, flags: &[&str], problem: impl Fn() -> String) -> Result<()> {
        match flags.iter().find(|flag| self.given.iter().any(|given| given == **flag)) {
            None => Ok(()),
            Some(flag) => Err(Error::setting(*flag, problem(), "leave it out")),
        }
    }
}

/// Whether it is standard input, or another pipe.
fn is_read_once(path: &Path) -> bool {
    path == Path::new("-") || path.metadata().is_ok_and(|found| !found.is_file() && !found.is_dir())
}
