//! `train --dry-run`: what would be done, and how much memory it takes.

use super::prepare::Prepared;
use crate::Outcome;
use crate::args::General;
use crate::args::method::Parts;
use crate::args::train::{Plan, TrainArgs};
use crate::output::{Output, STRONG, bytes, count};
use gibbstream::corpus::{Document, Minibatch};
use serde_json::json;

/// The program itself, and bookkeeping per word of the vocabulary.
const PROGRAM_BYTES: u64 = 16 << 20;
const BYTES_PER_WORD: u64 = 100;

/// Prints the plan.
pub fn run(
    plan: &Plan,
    prepared: &Prepared,
    args: &TrainArgs,
    general: &General,
    output: &Output,
) -> anyhow::Result<Outcome> {
    let settings = &plan.settings;
    let words_in_minibatch = words_in_minibatch(plan, prepared)?;
    let table = settings.topics as u64 * 8;
    let model = settings.vocabulary as u64 * table;
    // Statistics, their mean, and a copy of the topics for scoring.
    let copies = 1 + u64::from(settings.method.averaging.is_on()) + u64::from(plan.holdout > 0);
    // Weights and fresh statistics, and with boosting also their running mean.
    let tables = words_in_minibatch * table * (2 + u64::from(settings.method.boost));
    let memory = model * copies + tables + settings.vocabulary as u64 * BYTES_PER_WORD + PROGRAM_BYTES;
    let parts = Parts::from(&settings.method);
    if output.json {
        output.print_json(&json!({
            "schema": "gibbstream/train-plan/1",
            "model": args.model,
            "method": settings.name,
            "parts": parts,
            "topics": settings.topics,
            "vocabulary": settings.vocabulary,
            "documents": prepared.documents,
            "holdout": plan.holdout,
            "passes": plan.passes,
            "batch": settings.batch,
            "seed": settings.seed.0,
            "threads": general.threads,
            "model_bytes": model,
            "memory_bytes": memory,
        }))?;
        return Ok(Outcome::Done);
    }
    let documents =
        prepared.documents.map_or("an unknown number of".into(), |known| count(known).to_string());
    output.print(&format!(
        "{STRONG}Plan{STRONG:#}, nothing is learnt:\n\
         \x20 method      {} ({}, {} sweeps, step {}, alpha {})\n\
         \x20 topics      {}\n\
         \x20 vocabulary  {} words\n\
         \x20 documents   {documents}, in {} of {}; {} kept aside\n\
         \x20 threads     {}\n\
         \x20 model       {}\n\
         \x20 memory      about {}\n",
        settings.name,
        parts.local,
        parts.sweeps,
        parts.step,
        parts.alpha,
        count(settings.topics as u64),
        count(settings.vocabulary as u64),
        if plan.passes == 1 { "one pass".into() } else { format!("{} passes", plan.passes) },
        if settings.method.whole_corpus {
            "the whole corpus".into()
        } else {
            format!("minibatches of {}", settings.batch)
        },
        plan.holdout,
        general.threads,
        bytes(model),
        bytes(memory),
    ))?;
    Ok(Outcome::Done)
}

/// Distinct words of the first minibatch; all words if it cannot be read without being used up.
fn words_in_minibatch(plan: &Plan, prepared: &Prepared) -> gibbstream::Result<u64> {
    if prepared.inputs.is_read_once() || plan.settings.method.whole_corpus {
        return Ok(plan.settings.vocabulary as u64);
    }
    let documents = prepared.inputs.documents(&prepared.vocabulary);
    let first: Vec<Document> =
        documents.skip(plan.holdout).take(plan.settings.batch).collect::<gibbstream::Result<_>>()?;
    Ok(Minibatch::new(&first, 0, 0).words().len() as u64)
}
