//! Before training: where the result goes, which words there are, and how many documents will come.

use crate::args::train::{Plan, TrainArgs};
use crate::measure::total_memory;
use crate::output::{Output, bytes, count};
use gibbstream::Error;
use gibbstream::corpus::{OpenRule, OpenVocabulary, ResolvedInputs, Tokenizer, Vocabulary};
use gibbstream::model_file::TopicModel;
use serde_json::json;
use std::path::Path;

/// Inputs that are ready to be read for training.
pub struct Prepared {
    /// All chosen documents, those kept aside at the beginning.
    pub inputs: ResolvedInputs,
    pub vocabulary: Vocabulary,
    /// The same vocabulary if new words enter it.
    pub open: Option<OpenVocabulary>,
    /// Documents to learn from in one pass, if that is known.
    pub documents: Option<u64>,
    /// How text is cut into words, if there is any.
    pub tokenizer: Option<Tokenizer>,
}

impl Prepared {
    /// Opens the inputs, finds the vocabulary unless the model to go on from has one, and completes the settings of
    /// the plan.
    pub fn new(
        plan: &mut Plan,
        args: &TrainArgs,
        base: Option<&TopicModel>,
        output: &Output,
    ) -> anyhow::Result<Self> {
        let mut inputs = plan.inputs.clone().resolve()?;
        for (name, format) in inputs.formats() {
            output.detail(format_args!("{}: {format}", name.display()));
        }
        let open = open_vocabulary(plan, base)?;
        let has_text = inputs.formats().any(|(_, format)| format.has_text());
        if open.is_some() && has_text && plan.inputs.vocabulary_file.is_some() {
            let advice = "leave it out, or use --vocab-mode fixed";
            return Err(Error::setting("--vocab", "the words are to be found while reading", advice).into());
        }
        if plan.inputs.follow && base.is_none() && open.is_none() && inputs.must_be_counted(&plan.limits) {
            let problem = "the words of a stream without end cannot be counted first";
            let advice = "give them with --vocab, or use --vocab-mode grow or hash=BITS";
            return Err(Error::setting("--follow", problem, advice).into());
        }
        let needs_words = base.is_none() && open.is_none() && inputs.needs_spooling(&plan.limits);
        if needs_words || (plan.passes > 1 && inputs.is_read_once()) {
            output.note("this input must be read more than once, so it is copied to a temporary file first");
            inputs.spool()?;
        }
        // Words of documents that are kept aside do not count.
        let (aside, limit) = (plan.holdout as u64, plan.inputs.limit);
        let training = inputs.range(plan.inputs.skip.saturating_add(aside), limit.map(|limit| limit - aside));
        let mut documents = training.expected_documents();
        let vocabulary = if let Some(open) = &open {
            open.vocabulary()
        } else if let Some(base) = base {
            base.vocabulary.clone()
        } else {
            output.progress.start("finding words", "documents", documents);
            let mut counted = None;
            let vocabulary = training.vocabulary(&plan.limits, &mut |documents| {
                counted = Some(documents);
                output.progress.advance(documents, || (String::new(), json!({})));
            })?;
            output.progress.finish();
            documents = documents.or(counted);
            vocabulary
        };
        plan.settings.features = vocabulary.len();
        complete_method(plan, args, documents, output);
        plan.settings.validate()?;
        check_size(plan)?;
        let tokenizer = match base {
            Some(base) => base.tokenizer.clone(),
            None => has_text.then(|| plan.tokenizer.clone()),
        };
        Ok(Self { inputs, vocabulary, open, documents, tokenizer })
    }
}

/// The vocabulary that new words enter, if it is not fixed.
fn open_vocabulary(plan: &Plan, base: Option<&TopicModel>) -> gibbstream::Result<Option<OpenVocabulary>> {
    let Some(rule) = plan.open_rule else { return Ok(None) };
    Ok(Some(match base {
        None => OpenVocabulary::new(rule)?,
        Some(TopicModel { vocabulary, open: Some(state), .. }) => {
            OpenVocabulary::resume(vocabulary, state.clone())
        }
        Some(TopicModel { vocabulary, learnt, .. }) => {
            OpenVocabulary::opened(vocabulary, rule.most(), &learnt.word_counts, learnt.clock.seen)?
        }
    }))
}

/// Tells a method that asks for it how large the corpus is.
fn complete_method(plan: &mut Plan, args: &TrainArgs, documents: Option<u64>, output: &Output) {
    if plan.settings.method.needs_population() {
        if let Some(documents) = documents {
            plan.settings.method = plan.settings.method.with_population(documents as f64);
            output.detail(format_args!("the corpus is taken to have {} documents", count(documents)));
        }
    } else if let Some(total) =
        args.knobs.get("total-docs").filter(|_| !plan.settings.method.depends_on_population())
    {
        let name = &plan.settings.name;
        output.note(format_args!("{name} does not depend on --total-docs {total}; it is only noted"));
    }
}

/// Refuses tables that cannot fit into this machine, before the system ends the program for it.
fn check_size(plan: &Plan) -> anyhow::Result<()> {
    let topics = plan.settings.components;
    let words = plan.open_rule.map_or(plan.settings.features, OpenRule::most);
    let needed = (topics as u64).saturating_mul(words as u64).saturating_mul(8);
    let Some(total) = total_memory().filter(|&total| needed > total) else { return Ok(()) };
    Err(Error::setting(
        "--topics",
        format!(
            "{} topics of {} words take {}, and this machine has {}",
            count(topics as u64),
            count(words as u64),
            bytes(needed),
            bytes(total)
        ),
        "use fewer topics, or fewer words (--max-vocab, --min-df)",
    )
    .into())
}

/// Refuses a place where no file can be written, before any work is done for it.
pub fn check_place(path: &Path) -> gibbstream::Result<()> {
    let refused = |source| Error::io(path, "write", source);
    if path.is_dir() {
        return Err(refused(std::io::ErrorKind::IsADirectory.into()));
    }
    let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
    let probe = folder.join(format!(".gibbstream-probe-{}", std::process::id()));
    std::fs::File::create(&probe).map_err(refused)?;
    std::fs::remove_file(&probe).map_err(refused)
}
