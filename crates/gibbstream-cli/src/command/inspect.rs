//! `inspect`: what a model or a corpus contains.

use super::export::describe;
use crate::Outcome;
use crate::args::input::ReadingArgs;
use crate::output::{FAINT, Output, STRONG, count};
use gibbstream::Error;
use gibbstream::corpus::{StopWords, Tokenizer, VocabularyLimits};
use gibbstream::model_file::TopicModel;
use serde_json::{Value, json};
use std::fmt::Write;
use std::fs::File;
use std::io::Read;
use std::path::{Path, PathBuf};

const EXAMPLES: &str = "\
Examples:
  gibbstream inspect model.gbs
  gibbstream inspect corpus/ --json

A model is checked against its checksum. A corpus is read to its end, and its words are counted as they are,
without dropping any.";

/// Say what a model or corpus contains
#[derive(Clone, Debug, clap::Args)]
#[command(after_long_help = EXAMPLES)]
pub struct InspectArgs {
    /// Model or corpus, or `-` for a corpus from standard input
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
    let model = TopicModel::load(path)?;
    let mut facts = describe(&model);
    if output.json {
        facts["schema"] = json!("gibbstream/inspect/1");
        facts["kind"] = json!("model");
        facts["checksum"] = json!("ok");
        output.print_json(&facts)?;
        return Ok(Outcome::Done);
    }
    let (settings, learnt) = (&model.settings, &model.learnt);
    let mut text = format!(
        "{STRONG}{}{STRONG:#}: a topic model, checksum ok\n\
         topics      {}\n\
         vocabulary  {} words\n\
         method      {}, minibatches of {}, seed {}\n\
         learnt from {} documents, {} tokens, in {} updates\n\
         model hash  {}\n",
        path.display(),
        count(settings.topics as u64),
        count(settings.vocabulary as u64),
        settings.name,
        settings.batch,
        settings.seed.0,
        count(learnt.clock.seen),
        count(learnt.tokens),
        count(learnt.clock.update),
        learnt.hash(),
    );
    if let Value::Object(parts) = &facts["parts"] {
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
            "text        {}, words of at least {} characters, up to {} joined, {} stop words",
            if tokenizer.lowercase { "lower case" } else { "case kept" },
            tokenizer.min_length,
            tokenizer.ngrams,
            Vec::from(tokenizer.stop_words.clone()).len()
        )?,
        None => writeln!(text, "text        none; learnt from counts")?,
    }
    for event in &model.history {
        let (documents, tokens) = (count(event.documents), count(event.tokens));
        let inputs = event.inputs.join(", ");
        writeln!(
            text,
            "history     {} {documents} documents, {tokens} tokens from {inputs} (version {})",
            event.action, event.version
        )?;
    }
    output.print(&text)?;
    Ok(Outcome::Done)
}

fn plain(value: &Value) -> String {
    value.as_str().map_or_else(|| value.to_string(), str::to_owned)
}

fn corpus(args: &InspectArgs, output: &Output) -> anyhow::Result<Outcome> {
    let tokenizer = Tokenizer { min_length: 1, stop_words: StopWords::none(), ..Tokenizer::default() };
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
    let used = used.iter().filter(|&&used| used).count();
    let (name, format) = inputs.formats().next().map_or_else(
        || (args.file.clone(), String::new()),
        |(name, format)| (name.to_owned(), format.to_string()),
    );
    if output.json {
        output.print_json(&json!({
            "schema": "gibbstream/inspect/1",
            "kind": "corpus",
            "file": name,
            "format": format,
            "documents": documents,
            "empty_documents": empty,
            "tokens": tokens,
            "longest_document": longest,
            "entries": entries,
            "vocabulary": vocabulary.len(),
            "vocabulary_used": used,
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
