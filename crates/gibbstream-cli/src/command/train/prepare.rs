//! Before training: where the result goes, which words or columns there are, and how many documents will come.

use crate::args::input::report_found;
use crate::args::train::{Plan, TrainArgs};
use crate::command::evaluate::tokenizer_of;
use crate::interrupt::Interrupt;
use crate::measure::total_memory;
use crate::output::{Output, bytes, count};
use crate::source::Source;
use gibbstream::Error;
use gibbstream::corpus::{
    NumericRows, OpenRule, OpenVocabulary, ResolvedInputs, Tokenizer, Vocabulary, WordReport,
};
use gibbstream::file::{Features, Model};
use gibbstream::learn::ReadAhead;
use serde_json::json;

/// Inputs that are ready to be read for training.
pub struct Prepared {
    /// All chosen observations, those kept aside at the beginning.
    pub source: Source,
    /// Words or columns.
    pub features: Features,
    /// Documents to learn from in one pass, if that is known.
    pub documents: Option<u64>,
    /// How text is cut into words, if there is any.
    pub tokenizer: Option<Tokenizer>,
    /// What filters did, if words were counted.
    pub words: Option<WordReport>,
}

impl Prepared {
    /// Finds words or columns in the inputs unless the model to go on from has them, and completes the settings of the
    /// plan.
    pub fn new(
        mut inputs: ResolvedInputs,
        plan: &mut Plan,
        args: &TrainArgs,
        base: Option<&Model>,
        output: &Output,
    ) -> anyhow::Result<Self> {
        report_found(&inputs, output);
        for (name, format) in inputs.formats() {
            output.detail(format_args!("{}: {format}", name.display()));
        }
        let has_topics = plan.settings.model.has_topics();
        let open = open_vocabulary(plan, base)?;
        let has_text = has_topics && inputs.formats().any(|(_, format)| format.has_text());
        if open.is_some() && has_text && plan.inputs.vocabulary_file.is_some() {
            let advice = "leave it out, or use --vocab-mode fixed";
            return Err(Error::setting("--vocab", "the words are to be found while reading", advice).into());
        }
        let finds_words = has_topics && base.is_none() && open.is_none();
        if plan.inputs.follow && finds_words && inputs.must_be_counted(&plan.limits) {
            let problem = "the words of an endless stream cannot be counted first";
            let advice = "give them with --vocab, or use --vocab-mode grow or hash=BITS";
            return Err(Error::setting("--follow", problem, advice).into());
        }
        let finds_forms = finds_words && has_text && inputs.tokenizer().needs_forms();
        let needs_words = finds_words && inputs.needs_spooling(&plan.limits);
        if needs_words || ((plan.passes > 1 || plan.phrases) && inputs.is_read_once()) {
            output.note("this input must be read more than once, so it is copied to a temporary file first");
            inputs.spool()?;
        }
        if let Some(base) = base {
            inputs = inputs.cut_by(tokenizer_of(base));
        } else if has_text {
            inputs = inputs.cut_by(inputs.find_language(plan.first_documents())?);
        }
        if finds_forms {
            inputs = with_forms(&inputs, plan, output)?;
        }
        let mut counted = None;
        let (source, features, documents) = if has_topics {
            if plan.phrases {
                inputs = with_phrases(&inputs, plan, output)?;
            }
            let (vocabulary, documents, report) = words(&inputs, plan, open.as_ref(), base, output)?;
            if finds_words && inputs.tokenizer().stem.is_some() {
                inputs = inputs.cut_by(inputs.tokenizer().within(&vocabulary));
            }
            counted = report;
            let features = open.map_or_else(|| Features::Words(vocabulary.clone()), Features::OpenWords);
            (Source::documents(inputs, vocabulary), features, documents)
        } else {
            let columns = base.map(|base| base.features.columns());
            let rows = NumericRows::new(&inputs, plan.settings.model.domain(), columns)?;
            let features = Features::Columns(rows.columns().to_vec());
            (Source::rows(inputs, rows), features, None)
        };
        plan.settings.features = features.len();
        match base {
            None => plant_seeds(plan, &features, output),
            Some(base) => plan.settings.seeds.clone_from(&base.settings.seeds),
        }
        complete_method(plan, args, documents, output);
        plan.settings.validate()?;
        if has_topics {
            check_size(plan)?;
        }
        if base.is_none() && has_text && plan.inputs.tokenizer.needs_language() {
            note_language(source.inputs.tokenizer(), counted.as_ref(), output);
        }
        let tokenizer = match base {
            Some(base) => base.tokenizer.clone(),
            None => has_text.then(|| source.inputs.tokenizer().clone()),
        };
        Ok(Self { source, features, documents, tokenizer, words: counted })
    }
}

/// Waits for the documents that tell the language of a stream, which may be slow to send any; `false` if a signal came first.
pub fn wait_for_language(
    inputs: &ResolvedInputs,
    plan: &Plan,
    base: Option<&Model>,
    interrupt: &Interrupt,
) -> gibbstream::Result<bool> {
    let is_stream = inputs.is_read_once() || plan.inputs.follow;
    let has_text = plan.settings.model.has_topics() && inputs.have_text();
    if !(is_stream && has_text && base.is_none() && plan.inputs.tokenizer.needs_language()) {
        return Ok(true);
    }
    let (stream, first) = (inputs.clone(), plan.first_documents());
    let looked = std::iter::once_with(move || stream.find_language(first));
    interrupt.defer();
    let found = ReadAhead::start(looked, 1)?.next(&|| interrupt.received().is_some());
    interrupt.end_at_once();
    Ok(found?.is_some() && interrupt.received().is_none())
}

/// Gives the seeds of the plan the numbers of its words.
fn plant_seeds(plan: &mut Plan, features: &Features, output: &Output) {
    if plan.seeds.topics().is_empty() {
        return;
    }
    let (seeds, unknown) = plan.seeds.numbered(&features.vocabulary());
    if !unknown.is_empty() {
        let list = unknown.join(", ");
        output
            .warn(format_args!("--seeds: these words are not in the vocabulary and have no effect: {list}"));
    }
    plan.settings.seeds = seeds;
}

/// The words of documents that will come, before any has: those of a model or a file, or none that are fixed. Completes the
/// settings of the plan.
pub fn words_of_stream(
    plan: &mut Plan,
    args: &TrainArgs,
    base: Option<&Model>,
    output: &Output,
) -> anyhow::Result<Features> {
    let features = match (open_vocabulary(plan, base)?, base, &plan.inputs.vocabulary_file) {
        (Some(_), None, Some(_)) => {
            let advice = "leave it out, or use --vocab-mode fixed";
            return Err(Error::setting("--vocab", "the words are to be found while reading", advice).into());
        }
        (Some(open), ..) => Features::OpenWords(open),
        (None, Some(base), _) => base.features.clone(),
        (None, None, Some(file)) => {
            let vocabulary = Vocabulary::load(file)?;
            if plan.inputs.tokenizer.needs_forms() {
                plan.inputs.tokenizer = plan.inputs.tokenizer.written_as(vocabulary.words());
            }
            Features::Words(vocabulary)
        }
        (None, None, None) => {
            let problem = "the words of an endless stream cannot be counted first";
            let advice = "give them with --vocab, or use --vocab-mode grow or hash=BITS";
            return Err(Error::setting("--vocab-mode", problem, advice).into());
        }
    };
    plan.settings.features = features.len();
    complete_method(plan, args, None, output);
    plan.settings.validate()?;
    check_size(plan)?;
    Ok(features)
}

/// The words to learn with, and how many documents there will be, if that is known.
fn words(
    inputs: &ResolvedInputs,
    plan: &Plan,
    open: Option<&OpenVocabulary>,
    base: Option<&Model>,
    output: &Output,
) -> gibbstream::Result<(Vocabulary, Option<u64>, Option<WordReport>)> {
    let training = learnt_from(inputs, plan);
    let documents = training.expected_documents();
    if let Some(open) = open {
        return Ok((open.vocabulary(), documents, None));
    }
    if let Some(base) = base {
        return Ok((base.features.vocabulary(), documents, None));
    }
    output.progress.start("finding words", "documents", documents);
    let mut counted = None;
    let (vocabulary, report) = training.vocabulary_reporting(&plan.limits, &mut |documents| {
        counted = Some(documents);
        output.progress.advance(documents, || (String::new(), json!({})));
    })?;
    output.progress.finish();
    if let Some(report) = &report {
        output.note(told(report, inputs.tokenizer()));
    }
    Ok((vocabulary, documents.or(counted), report))
}

/// The documents that are learnt from: what those that are kept aside say does not count.
fn learnt_from(inputs: &ResolvedInputs, plan: &Plan) -> ResolvedInputs {
    let (aside, limit) = (plan.holdout as u64, plan.inputs.limit);
    inputs.range(plan.inputs.skip.saturating_add(aside), limit.map(|limit| limit - aside))
}

/// The same inputs, whose stems are written as their most frequent forms.
fn with_forms(inputs: &ResolvedInputs, plan: &Plan, output: &Output) -> gibbstream::Result<ResolvedInputs> {
    output.progress.start("finding forms of words", "documents", None);
    let tokenizer = learnt_from(inputs, plan).find_forms(&mut |documents| {
        output.progress.advance(documents, || (String::new(), json!({})));
    })?;
    output.progress.finish();
    Ok(inputs.cut_by(tokenizer))
}

/// The same inputs, whose words that belong together are one.
fn with_phrases(inputs: &ResolvedInputs, plan: &Plan, output: &Output) -> gibbstream::Result<ResolvedInputs> {
    output.progress.start("finding phrases", "documents", None);
    let found = learnt_from(inputs, plan).phrases(&mut |documents| {
        output.progress.advance(documents, || (String::new(), json!({})));
    })?;
    output.progress.finish();
    let phrases = found.phrases();
    output.note(format_args!("{} phrases are treated as words (--phrases)", count(phrases.len() as u64)));
    Ok(inputs.cut_by(Tokenizer { phrases, ..inputs.tokenizer().clone() }))
}

/// Says which language was found, unless what was read has been told with it.
fn note_language(tokenizer: &Tokenizer, words: Option<&WordReport>, output: &Output) {
    match tokenizer.language.name() {
        Some(name) if words.is_none() => {
            output.note(format_args!("the documents are in {name} (--language)"));
        }
        None if tokenizer.stop_words.is_empty() => {
            output.detail(
                "no language was recognised, so no stop words are dropped (--language, --stop-words)",
            );
        }
        _ => {}
    }
}

/// What was read, and how much each filter dropped.
fn told(report: &WordReport, tokenizer: &Tokenizer) -> String {
    let whole = |number: usize| count(number as u64);
    let words = if report.kept == report.found {
        format!("{} distinct words", whole(report.found))
    } else {
        format!("{} of {} distinct words kept", whole(report.kept), whole(report.found))
    };
    let dropped: Vec<String> = [
        (report.dropped.markup, "tags by --html".to_owned()),
        (report.dropped.urls, "URLs and email addresses".to_owned()),
        (report.dropped.numbers, "numbers and ids".to_owned()),
        (report.dropped.stop_words, "tokens by --stop-words".to_owned()),
        (report.dropped.short, "tokens by --min-length".to_owned()),
        (report.too_rare as u64, format!("words by --min-df {}", report.min_documents)),
        (report.too_common as u64, format!("words by --max-df {}", report.max_document_share)),
        (report.beyond_most as u64, "words by --max-vocab".to_owned()),
    ]
    .iter()
    .filter(|(number, _)| *number > 0)
    .map(|(number, what)| format!("{} {what}", count(*number)))
    .collect();
    let dropped =
        if dropped.is_empty() { String::new() } else { format!("; dropped {}", dropped.join(", ")) };
    let language = tokenizer.language.name().map_or_else(String::new, |name| format!(" in {name}"));
    format!("read {} documents{language}: {words}{dropped}", count(report.documents))
}

/// The vocabulary that new words enter, if it is not fixed.
fn open_vocabulary(plan: &Plan, base: Option<&Model>) -> gibbstream::Result<Option<OpenVocabulary>> {
    let Some(rule) = plan.open_rule else { return Ok(None) };
    let Some(base) = base else { return OpenVocabulary::new(rule).map(Some) };
    if let Some(open) = base.features.open() {
        return Ok(Some(open.clone()));
    }
    if base.features.term_weights().is_some() {
        let problem = "the model weights its words, and new ones would have no weight";
        return Err(Error::setting("--vocab-mode", problem, "leave it out, or train without --term-weights"));
    }
    let (vocabulary, seen) = (base.features.vocabulary(), base.clock().seen);
    OpenVocabulary::opened(&vocabulary, rule.most(), base.word_counts(), seen).map(Some)
}

/// Tells a method that asks for it how large the corpus is.
fn complete_method(plan: &mut Plan, args: &TrainArgs, documents: Option<u64>, output: &Output) {
    if plan.settings.method.needs_population() {
        if let Some(documents) = documents {
            plan.settings.method = plan.settings.method.with_population(documents as f64);
            output.detail(format_args!("the corpus size is taken to be {} documents", count(documents)));
        }
    } else if let Some(total) =
        args.knobs.get("total-docs").filter(|_| !plan.settings.method.depends_on_population())
    {
        let name = &plan.settings.name;
        output.note(format_args!("{name} does not depend on --total-docs {total}; it is only recorded"));
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
