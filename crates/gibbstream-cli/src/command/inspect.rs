//! `inspect`: what a model, a checkpoint or a corpus contains.

use super::export::describe;
use crate::Outcome;
use crate::args::input::{ReadingArgs, report_bad};
use crate::output::{FAINT, Output, STRONG, count, shown};
use gibbstream::Error;
use gibbstream::corpus::{Tokenizer, VocabularyLimits};
use gibbstream::file::{Model, RunState};
use gibbstream::learn::Diagnostics;
use serde_json::{Value, json};
use std::fmt::Write;
use std::fs::File;
use std::io::Read;
use std::path::{Path, PathBuf};

const EXAMPLES: &str = "\
Examples:
  gibbstream inspect model.gbs
  gibbstream inspect corpus/ --json
  gibbstream inspect checkpoints/checkpoint-000000001200.gbs

The checksum of a model or checkpoint is verified. A corpus is read to its end, and all of its words are counted.";

/// Show what a model, checkpoint or corpus contains
#[derive(Clone, Debug, clap::Args)]
#[command(after_long_help = EXAMPLES)]
pub struct InspectArgs {
    /// Model, checkpoint or corpus, or `-` for a corpus from standard input
    #[arg(value_name = "FILE")]
    file: PathBuf,
    #[command(flatten)]
    reading: ReadingArgs,
}

/// Runs the command.
pub fn run(args: &InspectArgs, output: &Output) -> anyhow::Result<Outcome> {
    if looks_like_model(&args.file)? { model(&args.file, output) } else { corpus(args, output) }
}

/// Models begin with the length of their header, and then the header, which is JSON.
fn looks_like_model(path: &Path) -> gibbstream::Result<bool> {
    let is_file = path.metadata().is_ok_and(|found| found.is_file());
    if !is_file {
        return Ok(false);
    }
    let mut start = [0; 9];
    let mut file = File::open(path).map_err(|source| Error::io(path, "open", source))?;
    let whole = file.read_exact(&mut start).is_ok();
    // Text has no zero bytes, and no header is as long as eight letters would say.
    Ok(whole && start[5..8] == [0, 0, 0] && start[8] == b'{')
}

fn model(path: &Path, output: &Output) -> anyhow::Result<Outcome> {
    let (model, run) = Model::load_with(path)?;
    let mut facts = describe(&model);
    if output.json {
        facts["schema"] = json!("gibbstream/inspect/1");
        facts["kind"] = json!(if run.is_some() { "checkpoint" } else { "model" });
        if !model.settings.model.has_topics() {
            facts["diagnostics"] = json!(model.fitted.diagnostics());
        }
        if let Some(run) = &run {
            facts["pass"] = json!(run.pass);
            facts["documents_of_pass"] = json!(run.documents);
            facts["finished"] = json!(run.finished);
            facts["request"] = run.request.clone();
        }
        facts["checksum"] = json!("ok");
        output.print_json(&facts)?;
        return Ok(Outcome::Done);
    }
    let mut text = if model.settings.model.has_topics() {
        topics(path, &model, run.is_some(), &facts["parts"])?
    } else {
        rows(path, &model, run.is_some())?
    };
    past(&mut text, &model, run.as_ref())?;
    output.print(&text)?;
    Ok(Outcome::Done)
}

fn topics(path: &Path, model: &Model, is_checkpoint: bool, parts: &Value) -> Result<String, std::fmt::Error> {
    let (settings, clock) = (&model.settings, model.clock());
    let mut text = format!(
        "{STRONG}{}{STRONG:#}: {}, checksum ok\n\
         topics      {}\n\
         vocabulary  {} words\n\
         method      {} for a {}, minibatches of {}, seed {}\n\
         learnt from {} documents, {} tokens, in {} updates\n\
         model hash  {}\n",
        path.display(),
        if is_checkpoint { "a checkpoint of a topic model" } else { "a topic model" },
        count(model.components() as u64),
        count(settings.features as u64),
        settings.name,
        settings.mode,
        settings.batch,
        settings.seed.0,
        count(clock.seen),
        count(model.tokens()),
        count(clock.update),
        model.hash(),
    );
    if let Value::Object(parts) = parts {
        let parts: Vec<String> = parts
            .iter()
            .filter(|(_, value)| !value.is_null())
            .map(|(name, value)| format!("{name} {}", plain(value)))
            .collect();
        writeln!(text, "parts       {FAINT}{}{FAINT:#}", parts.join(", "))?;
    }
    match &model.tokenizer {
        Some(tokenizer) => writeln!(
            text,
            "text        {}, words of at least {} characters, up to {} joined, {} stop words{}{}{}",
            if tokenizer.lowercase { "lower case" } else { "case kept" },
            tokenizer.min_length,
            tokenizer.ngrams,
            tokenizer.stop_words.len(),
            tokenizer.language.name().map_or_else(String::new, |language| format!(", {language}")),
            if tokenizer.phrases.is_empty() {
                String::new()
            } else {
                format!(", {} phrases", tokenizer.phrases.len())
            },
            tokenizer
                .stem
                .as_ref()
                .map_or_else(String::new, |stems| format!(", stems ({})", stems.language())),
        )?,
        None => writeln!(text, "text        none; learnt from counts")?,
    }
    if model.features.term_weights().is_some() {
        writeln!(text, "weights     tokens count by idf (--term-weights)")?;
    }
    Ok(text)
}

fn rows(path: &Path, model: &Model, is_checkpoint: bool) -> Result<String, std::fmt::Error> {
    let (settings, clock) = (&model.settings, model.clock());
    let mut text = format!(
        "{STRONG}{}{STRONG:#}: {} {}, checksum ok\n\
         components  {}\n\
         columns     {} ({})\n\
         method      {}, minibatches of {}, seed {}\n\
         settings    {FAINT}{}{FAINT:#}\n\
         learnt from {} observations in {} updates\n\
         model hash  {}\n",
        path.display(),
        if is_checkpoint { "a checkpoint of a model of kind" } else { "a model of kind" },
        settings.model.name(),
        count(settings.components as u64),
        count(settings.features as u64),
        shortened(model.features.columns()),
        settings.name,
        settings.batch,
        settings.seed.0,
        json!(settings.model),
        count(clock.seen),
        count(clock.update),
        model.hash(),
    );
    details(&mut text, &model.fitted.diagnostics())?;
    Ok(text)
}

/// Components or sources, one a line, and what to be careful about.
fn details(text: &mut String, diagnostics: &Diagnostics) -> std::fmt::Result {
    for (k, weight) in diagnostics.weights.iter().enumerate() {
        writeln!(text, "component {k:<3} weight {weight:.4}")?;
    }
    for (k, shape) in diagnostics.sources.iter().enumerate() {
        let note = if shape.looks_gaussian { ", looks Gaussian" } else { "" };
        writeln!(
            text,
            "source {k:<3}  excess kurtosis {:.2} ± {:.2}{note}",
            shape.excess_kurtosis, shape.standard_error
        )?;
    }
    diagnostics.warnings.iter().try_for_each(|warning| writeln!(text, "careful     {warning}"))
}

fn shortened(columns: &[String]) -> String {
    let first = columns.iter().take(8).map(|name| shown(name)).collect::<Vec<_>>().join(", ");
    if columns.len() > 8 { format!("{first}, ...") } else { first }
}

/// What has been done to the model, and where its run stands.
fn past(text: &mut String, model: &Model, run: Option<&RunState>) -> std::fmt::Result {
    let has_topics = model.settings.model.has_topics();
    let unit = if has_topics { "documents" } else { "observations" };
    if let Some(run) = run {
        let (documents, pass) = (count(run.documents), run.pass + 1);
        let place =
            if run.finished { "finished".into() } else { format!("after {documents} {unit} of pass {pass}") };
        writeln!(text, "run         {place}")?;
    }
    for entry in &model.history {
        let tokens = if has_topics { format!(", {} tokens", count(entry.tokens)) } else { String::new() };
        writeln!(
            text,
            "history     {} {} {unit}{tokens} from {} (version {})",
            entry.action,
            count(entry.documents),
            shown(&entry.inputs.join(", ")),
            entry.version
        )?;
        entry.changes.iter().try_for_each(|change| writeln!(text, "            with {change}"))?;
    }
    Ok(())
}

fn plain(value: &Value) -> String {
    value.as_str().map_or_else(|| value.to_string(), str::to_owned)
}

fn corpus(args: &InspectArgs, output: &Output) -> anyhow::Result<Outcome> {
    let tokenizer = Tokenizer::plain();
    let mut inputs = args.reading.with(vec![args.file.clone()], tokenizer)?.resolve()?;
    let limits = VocabularyLimits::default();
    if inputs.needs_spooling(&limits) {
        inputs.spool()?;
    }
    let advance = |documents| output.progress.advance(documents, || (String::new(), json!({})));
    output.progress.start("finding words", "documents", inputs.expected_documents());
    let vocabulary = inputs.vocabulary(&limits, &mut |documents| advance(documents))?;
    output.progress.start("counting", "documents", inputs.expected_documents());
    let (mut documents, mut empty, mut tokens, mut longest, mut entries) =
        (0_u64, 0_u64, 0_u64, 0_u64, 0_u64);
    let mut used = vec![false; vocabulary.len()];
    for document in inputs.documents(&vocabulary) {
        let document = document?;
        let length = document.tokens();
        documents += 1;
        empty += u64::from(length == 0);
        tokens += length;
        longest = longest.max(length);
        entries += document.words.len() as u64;
        document.words.iter().for_each(|&(word, _)| used[word as usize] = true);
        advance(documents);
    }
    output.progress.finish();
    report_bad(&inputs, output);
    let used = used.iter().filter(|&&used| used).count();
    let (name, format) = inputs.formats().next().map_or_else(
        || (args.file.clone(), String::new()),
        |(name, format)| (name.to_owned(), format.to_string()),
    );
    if output.json {
        output.print_json(&json!({
            "schema": "gibbstream/inspect/1",
            "kind": "corpus",
            "file": name.display().to_string(),
            "format": format,
            "documents": documents,
            "empty_documents": empty,
            "tokens": tokens,
            "longest_document": longest,
            "entries": entries,
            "vocabulary": vocabulary.len(),
            "vocabulary_used": used,
            "bad_records": inputs.bad_records(),
        }))?;
        return Ok(Outcome::Done);
    }
    output.print(&format!(
        "{STRONG}{}{STRONG:#}: a corpus ({format})\n\
         documents   {} ({} empty)\n\
         tokens      {} (mean {:.1}, at most {} per document)\n\
         vocabulary  {} words, {} of them used\n",
        name.display(),
        count(documents),
        count(empty),
        count(tokens),
        tokens as f64 / documents.max(1) as f64,
        count(longest),
        count(vocabulary.len() as u64),
        count(used as u64),
    ))?;
    Ok(Outcome::Done)
}
