//! `train --dry-run`: what would be done, how much memory it takes, and how fast it goes.

use super::prepare::Prepared;
use crate::Outcome;
use crate::args::General;
use crate::args::train::Plan;
use crate::command::methods::described;
use crate::measure::program_bytes;
use crate::output::{Output, STRONG, bytes, count};
use gibbstream::corpus::{Document, Minibatch, OpenRule};
use gibbstream::learn::knobs::parts;
use gibbstream::learn::method::Local;
use gibbstream::learn::trainer::Trainer;
use gibbstream::learn::{AnyBatch, Observation, Settings};
use gibbstream::model::topics::rule::TopicRule;
use serde_json::json;
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

/// The program itself, where the system does not tell; what it allocates beside the model; and bookkeeping per word of the
/// vocabulary.
const PROGRAM_BYTES: u64 = 12 << 20;
const OTHER_BYTES: u64 = 6 << 20;
const BYTES_PER_WORD: u64 = 100;

/// Observations and time that are spent on finding out how fast it goes.
const TRIAL_DOCUMENTS: usize = 5_000;
const TRIAL_TIME: Duration = Duration::from_secs(1);

/// Prints the plan.
pub fn run(plan: &Plan, prepared: &Prepared, general: &General, output: &Output) -> anyhow::Result<Outcome> {
    let settings = &plan.settings;
    let has_topics = settings.model.has_topics();
    let sample = Sample::read(plan, prepared)?;
    let trial = sample.learn(plan, general)?;
    let (model, memory) = if has_topics {
        let words = plan.open_rule.map_or(settings.features, OpenRule::most) as u64;
        let model = words * most_topics(settings) * 8;
        (Some(model), Some(memory(plan, model, words, &sample)))
    } else {
        // Statistics, parameters, fresh statistics, and a copy for scoring; rows that are learnt from or read ahead.
        let model = trial.as_ref().map(|trial| trial.model_bytes);
        let rows = 4 * 8 * (settings.batch.most * settings.features) as u64;
        (model, model.map(|model| 4 * model + rows + own_bytes()))
    };
    let speed = trial.map(|trial| trial.documents_per_second);
    let seconds =
        speed.zip(prepared.documents).map(|(speed, documents)| (documents * plan.passes) as f64 / speed);
    let parts = parts(settings);
    if output.json {
        let mut facts = json!({
            "schema": "gibbstream/train-plan/1",
            "model": settings.model.name(),
            "method": settings.name,
            "mode": settings.mode,
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
        });
        if !has_topics {
            facts["settings"] = json!(settings);
            facts["columns"] = json!(prepared.features.columns());
        }
        output.print_json(&facts)?;
        return Ok(Outcome::Done);
    }
    let [components, features, unit] =
        if has_topics { ["topics", "vocabulary", "words"] } else { ["components", "columns", "numbers"] };
    let unknown = || "unknown".to_owned();
    output.print(&format!(
        "{STRONG}Plan{STRONG:#}, nothing is learnt:\n\
         \x20 method      {} ({})\n\
         \x20 {components:11} {}\n\
         \x20 {features:11} {} {unit}\n\
         \x20 documents   {}, in {} of {}; {} kept aside\n\
         \x20 threads     {}\n\
         \x20 model       {}\n\
         \x20 memory      about {}\n\
         \x20 speed       {}\n",
        settings.name,
        described(&parts),
        count(most_topics(settings)),
        count(settings.features as u64),
        prepared.documents.map_or("an unknown number of".into(), |known| count(known).to_string()),
        if plan.passes == 1 { "one pass".into() } else { format!("{} passes", plan.passes) },
        if settings.method.whole_corpus {
            "the whole corpus".into()
        } else {
            format!("minibatches of {}", settings.batch)
        },
        plan.holdout,
        general.threads,
        model.map_or_else(unknown, |model| bytes(model).to_string()),
        memory.map_or_else(unknown, |memory| bytes(memory).to_string()),
        show_speed(speed, seconds),
    ))?;
    Ok(Outcome::Done)
}

/// Documents per second at first, found out by learning for a moment; nothing if the input can be read only once.
pub fn expected_speed(
    plan: &Plan,
    prepared: &Prepared,
    general: &General,
) -> gibbstream::Result<Option<f64>> {
    let trial = Sample::read(plan, prepared)?.learn(plan, general)?;
    Ok(trial.map(|trial| trial.documents_per_second))
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

/// Bytes of the program itself.
fn own_bytes() -> u64 {
    program_bytes().unwrap_or(PROGRAM_BYTES) + OTHER_BYTES
}

/// Bytes that training topics will take at most; reading far more documents does not change it.
fn memory(plan: &Plan, model: u64, words: u64, sample: &Sample) -> u64 {
    let method = &plan.settings.method;
    let (topics, boost) = (most_topics(&plan.settings), u64::from(method.boost));
    let averaging = method.averaging.is_on();
    // Statistics, their mean, and a copy of the topics for scoring and for the words that are shown.
    let copies = 2 + u64::from(averaging);
    // Weights of the words of a minibatch: the sampler's are in single precision.
    let samples = !matches!(method.local, Local::MeanField);
    let weights = if samples { 4 * topics.next_multiple_of(16) } else { 8 * topics };
    // Fresh statistics, where they cannot go straight into the running ones; with boosting also their running mean.
    let moves = matches!(method.global, TopicRule::Langevin { .. });
    let fresh = if samples && !method.boost && !averaging && !moves { 0 } else { 8 * topics * (1 + boost) };
    let documents = sample.documents();
    let first = &documents[..plan.settings.batch.most.min(documents.len())];
    let known = !first.is_empty() && !method.whole_corpus;
    let distinct = if known { Minibatch::new(first, 0, 0).words().len() as u64 } else { words };
    // What sampling keeps of a document, its words in the topics that it can use; for this minibatch and the last.
    let of_document =
        |document: &Document| document.words.len() as u64 * document.tokens().min(topics) * 4 * 2;
    let local = if samples { first.iter().map(of_document).sum::<u64>() } else { 0 };
    model * copies + distinct * (weights + fresh) + local + words * BYTES_PER_WORD + own_bytes()
}

/// Some observations from the beginning; none if they cannot be read without being used up.
struct Sample(Vec<Observation>);

/// What was found out by learning from a sample.
struct Trial {
    documents_per_second: f64,
    model_bytes: u64,
}

impl Sample {
    fn read(plan: &Plan, prepared: &Prepared) -> gibbstream::Result<Self> {
        if prepared.source.inputs.is_read_once() {
            return Ok(Self(Vec::new()));
        }
        let shared = prepared.features.open().map(|open| Arc::new(Mutex::new(open.clone())));
        let all = prepared.source.read_entering(shared.as_ref());
        let most = if plan.settings.method.whole_corpus || plan.inputs.follow { 0 } else { TRIAL_DOCUMENTS };
        let some = all.skip(plan.holdout).take(most.max(plan.settings.batch.most));
        some.collect::<gibbstream::Result<_>>().map(Self)
    }

    fn documents(&self) -> Vec<Document> {
        let document = |observation: &Observation| match observation {
            Observation::Document(document) => Some(document.clone()),
            Observation::Row(_) => None,
        };
        self.0.iter().filter_map(document).collect()
    }

    /// The same with words that it does not contain left out, so that learning needs no table of the full size.
    fn renumbered(&self, settings: &Settings) -> (Vec<Observation>, Settings) {
        let documents = self.documents();
        if documents.is_empty() {
            return (self.0.clone(), settings.clone());
        }
        let all = Minibatch::new(&documents, 0, 0);
        let words = all.words();
        let place =
            |&(word, count): &(u32, u32)| (words.partition_point(|&other| other < word) as u32, count);
        let renumber = |document: &Document| {
            let words = document.words.iter().map(place).collect();
            Observation::Document(Document { words, ..Document::default() })
        };
        let method = settings.method.with_population(documents.len() as f64);
        let settings = Settings { features: words.len().max(1), method, ..settings.clone() };
        (documents.iter().map(renumber).collect(), settings)
    }

    /// Learns from the sample for a moment and forgets it again.
    fn learn(&self, plan: &Plan, general: &General) -> gibbstream::Result<Option<Trial>> {
        if self.0.is_empty() || plan.settings.method.whole_corpus {
            return Ok(None);
        }
        let (observations, settings) = self.renumbered(&plan.settings);
        let mut trainer = Trainer::new(settings, general.threads)?;
        let (started, mut learnt) = (Instant::now(), 0);
        for some in observations.chunks(plan.settings.batch.least) {
            trainer.partial_fit(AnyBatch::new(some.to_vec(), learnt, 0)?)?;
            learnt += some.len() as u64;
            if started.elapsed() >= TRIAL_TIME {
                break;
            }
        }
        let documents_per_second = learnt as f64 / started.elapsed().as_secs_f64();
        let fitted = trainer.into_fitted();
        let arrays = fitted.iter().flat_map(|fitted| fitted.arrays());
        let model_bytes = arrays.map(|array| array.bytes().len() as u64).sum();
        Ok(Some(Trial { documents_per_second, model_bytes }))
    }
}
