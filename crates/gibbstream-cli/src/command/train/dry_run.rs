//! `train --dry-run`: what would be done, how much memory it takes, and how fast it goes.

use super::prepare::Prepared;
use crate::Outcome;
use crate::args::General;
use crate::args::train::Plan;
use crate::command::methods::described;
use crate::output::{Output, STRONG, bytes, count};
use gibbstream::corpus::{Document, Minibatch, OpenRule};
use gibbstream::learn::Settings;
use gibbstream::learn::knobs::parts;
use gibbstream::method::Local;
use gibbstream::model::topic_rule::TopicRule;
use gibbstream::trainer::Trainer;
use serde_json::json;
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

/// The program itself, and bookkeeping per word of the vocabulary.
const PROGRAM_BYTES: u64 = 12 << 20;
const BYTES_PER_WORD: u64 = 100;

/// Documents and time that are spent on finding out how fast it goes.
const TRIAL_DOCUMENTS: usize = 5_000;
const TRIAL_TIME: Duration = Duration::from_secs(1);

/// Prints the plan.
pub fn run(plan: &Plan, prepared: &Prepared, general: &General, output: &Output) -> anyhow::Result<Outcome> {
    let settings = &plan.settings;
    let sample = Sample::read(plan, prepared)?;
    let words = plan.open_rule.map_or(settings.features, OpenRule::most) as u64;
    let model = words * most_topics(settings) * 8;
    let memory = memory(plan, model, words, &sample);
    let speed = sample.documents_per_second(plan, general)?;
    let seconds =
        speed.zip(prepared.documents).map(|(speed, documents)| (documents * plan.passes) as f64 / speed);
    let parts = parts(settings);
    if output.json {
        output.print_json(&json!({
            "schema": "gibbstream/train-plan/1",
            "model": settings.model.name(),
            "method": settings.name,
            "parts": parts,
            "topics": most_topics(settings),
            "vocabulary": settings.features,
            "documents": prepared.documents,
            "holdout": plan.holdout,
            "passes": plan.passes,
            "batch": settings.batch,
            "seed": settings.seed.0,
            "threads": general.threads,
            "model_bytes": model,
            "memory_bytes": memory,
            "documents_per_second": speed,
            "expected_seconds": seconds,
        }))?;
        return Ok(Outcome::Done);
    }
    let documents =
        prepared.documents.map_or("an unknown number of".into(), |known| count(known).to_string());
    output.print(&format!(
        "{STRONG}Plan{STRONG:#}, nothing is learnt:\n\
         \x20 method      {} ({})\n\
         \x20 topics      {}\n\
         \x20 vocabulary  {} words\n\
         \x20 documents   {documents}, in {} of {}; {} kept aside\n\
         \x20 threads     {}\n\
         \x20 model       {}\n\
         \x20 memory      about {}\n\
         \x20 speed       {}\n",
        settings.name,
        described(&parts).join("; "),
        count(most_topics(settings)),
        count(settings.features as u64),
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
        show_speed(speed, seconds),
    ))?;
    Ok(Outcome::Done)
}

fn show_speed(speed: Option<f64>, seconds: Option<f64>) -> String {
    let Some(speed) = speed else { return "unknown, because the input can be read only once".into() };
    let time = seconds.map_or(String::new(), |seconds| format!(", so about {seconds:.0} seconds in all"));
    format!("about {} documents per second at first{time}", count(speed as u64))
}

/// Topics that there will be, or that there may be at most where their number is open.
fn most_topics(settings: &Settings) -> u64 {
    settings.model.hdp().map_or(settings.components, |hdp| hdp.max_topics) as u64
}

/// Bytes that training will take at most; reading far more documents does not change it.
fn memory(plan: &Plan, model: u64, words: u64, sample: &Sample) -> u64 {
    let method = &plan.settings.method;
    let (topics, boost) = (most_topics(&plan.settings), u64::from(method.boost));
    let averaging = method.averaging.is_on();
    // Statistics, their mean, and a copy of the topics for scoring.
    let copies = 1 + u64::from(averaging) + u64::from(plan.holdout > 0);
    // Weights of the words of a minibatch: the sampler's are in single precision.
    let samples = !matches!(method.local, Local::MeanField);
    let weights = if samples { 4 * topics.next_multiple_of(16) } else { 8 * topics };
    // Fresh statistics, where they cannot go straight into the running ones; with boosting also their running mean.
    let moves = matches!(method.global, TopicRule::Langevin { .. });
    let fresh = if samples && !method.boost && !averaging && !moves { 0 } else { 8 * topics * (1 + boost) };
    let tables = sample.distinct_words(plan).unwrap_or(words) * (weights + fresh);
    // What sampling keeps of a document, its words in the topics that it can use; for this minibatch and the last.
    let of_document =
        |document: &Document| document.words.len() as u64 * document.tokens().min(topics) * 4 * 2;
    let first = sample.documents.iter().take(plan.settings.batch.most);
    let local = if samples { first.map(of_document).sum::<u64>() } else { 0 };
    model * copies + tables + local + words * BYTES_PER_WORD + PROGRAM_BYTES
}

/// Some documents from the beginning; none if they cannot be read without being used up.
struct Sample {
    documents: Vec<Document>,
}

impl Sample {
    fn read(plan: &Plan, prepared: &Prepared) -> gibbstream::Result<Self> {
        if prepared.inputs.is_read_once() {
            return Ok(Self { documents: Vec::new() });
        }
        let documents = match &prepared.open {
            Some(open) => prepared.inputs.documents_entering(&Arc::new(Mutex::new(open.clone()))),
            None => prepared.inputs.documents(&prepared.vocabulary),
        };
        let most = if plan.settings.method.whole_corpus || plan.inputs.follow { 0 } else { TRIAL_DOCUMENTS };
        let documents = documents.skip(plan.holdout).take(most.max(plan.settings.batch.most));
        Ok(Self { documents: documents.collect::<gibbstream::Result<_>>()? })
    }

    /// Distinct words of the largest minibatch, if that is known.
    fn distinct_words(&self, plan: &Plan) -> Option<u64> {
        let first = &self.documents[..plan.settings.batch.most.min(self.documents.len())];
        let known = !first.is_empty() && !plan.settings.method.whole_corpus;
        known.then(|| Minibatch::new(first, 0, 0).words().len() as u64)
    }

    /// Learns from the sample for a moment and forgets it again. Words that it does not contain are left out, so that
    /// this needs no table of the full size.
    fn documents_per_second(&self, plan: &Plan, general: &General) -> gibbstream::Result<Option<f64>> {
        if self.documents.is_empty() || plan.settings.method.whole_corpus {
            return Ok(None);
        }
        let all = Minibatch::new(&self.documents, 0, 0);
        let words = all.words();
        let renumber = |document: &Document| {
            let place =
                |&(word, count): &(u32, u32)| (words.partition_point(|&other| other < word) as u32, count);
            Document { words: document.words.iter().map(place).collect(), ..Document::default() }
        };
        let documents: Vec<Document> = self.documents.iter().map(renumber).collect();
        let method = plan.settings.method.with_population(documents.len() as f64);
        let settings = Settings { features: words.len().max(1), method, ..plan.settings.clone() };
        let mut trainer = Trainer::new(settings, general.threads)?;
        let (started, mut learnt) = (Instant::now(), 0);
        for some in documents.chunks(plan.settings.batch.least) {
            trainer.partial_fit(&Minibatch::new(some, learnt, 0))?;
            learnt += some.len() as u64;
            if started.elapsed() >= TRIAL_TIME {
                break;
            }
        }
        Ok(Some(learnt as f64 / started.elapsed().as_secs_f64()))
    }
}
