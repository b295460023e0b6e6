//! Runs cells: learn, score, and measure what else is wanted, several cells at a time with a thread each.

use crate::cells::{Beside, Cell, Estimate, Finished, Moment, Task, TopicPair};
use crate::experiment::Extra;
use crate::library::{Corpora, CorpusSource};
use anyhow::anyhow;
use clap::{Args, FromArgMatches};
use gibbstream::corpus::{Document, Minibatch};
use gibbstream::evaluation::alignment::{Distance, TopicRows, align};
use gibbstream::evaluation::coherence::{CoherenceCounter, TopicCoherence, UmassSmoothing};
use gibbstream::evaluation::elbo::Elbo;
use gibbstream::evaluation::sequential::{Particles, Sequential};
use gibbstream::evaluation::{Estimator, Evaluation, Score, Scorer, Unigram};
use gibbstream::learn::batch_size::BatchSize;
use gibbstream::learn::method::Method;
use gibbstream::learn::trainer::Trainer;
use gibbstream::learn::{Cost, Mode, ModelKind, Settings};
use gibbstream::model::topics::alpha::AlphaRule;
use gibbstream::model::topics::hdp::HdpSettings;
use gibbstream::model::topics::lda::Topics;
use gibbstream::model::topics::view::TopicView;
use gibbstream::numerics::random::Seed;
use gibbstream::summary::{TopicSummary, shares, summarise};
use gibbstream_cli::{Interrupt, KnobArgs};
use std::sync::Mutex;
use std::sync::mpsc::channel;
use std::time::Instant;

/// The method that topics are shown beside.
const BESIDE: &str = "olda";
/// Topics that are shown.
const SHOWN_TOPICS: usize = 8;
/// Words of each that are shown.
const SHOWN_WORDS: usize = 15;
/// Best words that coherence looks at.
const COHERENT_WORDS: usize = 10;
/// Samples of the Gibbs estimate before each word.
const GIBBS_SAMPLES: usize = 200;

/// Digits that are kept of the hash of a model.
const HASH_DIGITS: usize = 16;

/// When to stop before everything is done.
#[derive(Clone, Copy)]
pub struct Limits<'a> {
    pub interrupt: &'a Interrupt,
    /// No cell is begun after this.
    pub deadline: Option<Instant>,
    /// Cells at a time.
    pub threads: usize,
}

impl Limits<'_> {
    fn is_over(&self) -> bool {
        self.interrupt.received().is_some()
            || self.deadline.is_some_and(|deadline| Instant::now() >= deadline)
    }
}

/// Runs all tasks in their order and hands over each cell when it is finished. A cell that fails ends the run; those
/// that are finished have been handed over.
pub fn run_all(
    tasks: &[Task],
    corpora: &Corpora,
    limits: Limits<'_>,
    mut finish: impl FnMut(Finished) -> anyhow::Result<()>,
) -> anyhow::Result<()> {
    let queue = Mutex::new(tasks.iter());
    let (sender, results) = channel();
    std::thread::scope(|scope| {
        for _ in 0..limits.threads.clamp(1, tasks.len().max(1)) {
            let (sender, queue) = (sender.clone(), &queue);
            scope.spawn(move || {
                let next = || queue.lock().ok()?.next();
                while !limits.is_over()
                    && let Some(task) = next()
                {
                    let result = CellRun { task, corpora, interrupt: limits.interrupt }.finish();
                    // Nobody listens after a failure, and nothing more is needed.
                    if sender.send(result).is_err() {
                        return;
                    }
                }
            });
        }
        drop(sender);
        for result in results {
            if let Some(finished) = result? {
                finish(finished)?;
            }
        }
        Ok(())
    })
}

/// The method that a cell names, for a corpus of so many documents.
pub fn method_of(cell: &Cell) -> gibbstream::Result<Method> {
    let text = cell.method.strip_prefix("hdp ").unwrap_or(&cell.method);
    let command = KnobArgs::augment_args(clap::Command::new("method").no_binary_name(true));
    let wrong =
        |error: clap::Error| gibbstream::Error::setting("method", error.to_string(), "correct the table");
    let base = if cell.is_open() { ["--model", "hdp"].as_slice() } else { &["--topics", "1", "--paper"] };
    let words = base.iter().copied().chain(["--method"]).chain(text.split_whitespace());
    let matches = command.try_get_matches_from(words).map_err(wrong)?;
    let settings = KnobArgs::from_arg_matches(&matches).map_err(wrong)?.settings(None, Mode::File)?;
    Ok(settings.method.with_population(cell.documents as f64))
}

/// A cell at work.
struct CellRun<'a> {
    task: &'a Task,
    corpora: &'a Corpora,
    interrupt: &'a Interrupt,
}

/// What was learnt, and how.
struct Learnt {
    trainer: Trainer,
    cost: Cost,
    curve: Vec<Moment>,
    /// The score at the last moment of the curve.
    last_score: Option<Score>,
}

impl CellRun<'_> {
    fn wants(&self, extra: Extra) -> bool {
        self.task.extras.contains(&extra)
    }

    /// Everything that is wanted of the cell; nothing after a signal.
    fn finish(&self) -> anyhow::Result<Option<Finished>> {
        let cell = &self.task.cell;
        let source = self.corpora.by_name(&cell.corpus);
        let source = source.ok_or_else(|| anyhow!("there is no corpus {}", cell.corpus))?;
        let held_out = source.to_score(cell)?;
        let mut method = method_of(cell)?;
        // The paper gives SGS the mean of the alpha that G-OEM finds in the same documents.
        if cell.method == "sgs" {
            let Some(learnt) = self.learn(source, Method::G_OEM, "g-oem", None)? else { return Ok(None) };
            let alpha = learnt.trainer.alpha().unwrap_or_default();
            method.alpha = AlphaRule::Fixed(Some(alpha.iter().sum::<f64>() / alpha.len() as f64));
        }
        let watched = self.wants(Extra::Curve).then_some(held_out.as_slice());
        let Some(learnt) = self.learn(source, method, &cell.method, watched)? else { return Ok(None) };
        let beside = if self.wants(Extra::Topics) {
            let other = Cell { method: BESIDE.into(), ..cell.clone() };
            let Some(other) = self.learn(source, method_of(&other)?, BESIDE, None)? else { return Ok(None) };
            Some(beside(cell, source, [&learnt.trainer, &other.trainer])?)
        } else {
            None
        };
        self.report(source, &held_out, learnt, beside).map(Some)
    }

    /// Learns from the documents of the cell, scoring `watched` documents now and then.
    fn learn(
        &self,
        source: &CorpusSource,
        method: Method,
        name: &str,
        watched: Option<&[Document]>,
    ) -> anyhow::Result<Option<Learnt>> {
        let cell = &self.task.cell;
        let settings = Settings {
            name: name.to_owned(),
            method,
            components: cell.topics,
            features: source.vocabulary().len(),
            batch: BatchSize::of(cell.batch),
            seed: Seed(cell.seed),
            model: if cell.is_open() { ModelKind::Hdp(HdpSettings::default()) } else { ModelKind::Lda },
            ..Settings::new(cell.topics)
        };
        let mut learnt = Learnt {
            trainer: Trainer::new(settings, 1)?,
            cost: Cost::default(),
            curve: Vec::new(),
            last_score: None,
        };
        let all = cell.documents * cell.passes;
        let mut milestones = milestones(cell.batch as u64, all).peekable();
        for pass in 0..cell.passes {
            for batch in source.lessons(cell, pass)? {
                if self.interrupt.received().is_some() {
                    return Ok(None);
                }
                let step = {
                    let batch = batch?;
                    learnt.cost.of(&mut learnt.trainer, |trainer| trainer.partial_fit(&batch))?
                };
                if milestones.next_if(|&milestone| step.seen >= milestone).is_some()
                    && let Some(documents) = watched
                {
                    self.look(&mut learnt, step.seen, documents)?;
                }
            }
        }
        Ok(Some(learnt))
    }

    /// Adds a point to the curve.
    fn look(&self, learnt: &mut Learnt, documents: u64, held_out: &[Document]) -> anyhow::Result<()> {
        let trainer = &learnt.trainer;
        let score = self.own_score(&topics_of(trainer)?, trainer, held_out)?;
        learnt.curve.push(Moment {
            documents,
            cpu_seconds: learnt.cost.cpu.as_secs_f64(),
            log_perplexity_per_document: score.log_perplexity_per_document,
            elbo_per_document: self.elbo(trainer, held_out)?,
        });
        learnt.last_score = Some(score);
        Ok(())
    }

    /// The score of topics by the cell's own estimator.
    fn own_score(
        &self,
        topics: &Topics,
        trainer: &Trainer,
        held_out: &[Document],
    ) -> gibbstream::Result<Score> {
        let cell = &self.task.cell;
        self.score(cell.estimator.parse()?, cell.particles, topics, trainer, held_out)
    }

    fn score(
        &self,
        estimator: Estimator,
        particles: usize,
        topics: &Topics,
        trainer: &Trainer,
        held_out: &[Document],
    ) -> gibbstream::Result<Score> {
        let evaluation =
            Evaluation { estimator, particles, seed: Seed(self.task.cell.seed), ..Evaluation::default() };
        let unigram = Unigram::from_counts(trainer.word_counts().to_vec());
        Scorer::new(evaluation, topics, &unigram)?.score(held_out.iter().cloned().map(Ok))
    }

    fn elbo(&self, trainer: &Trainer, held_out: &[Document]) -> gibbstream::Result<Option<f64>> {
        let Some(topics) = trainer.log_topics().filter(|_| self.wants(Extra::Elbo)) else { return Ok(None) };
        let score = Elbo::default().score(&topics, held_out.iter().cloned().map(Ok))?;
        Ok(Some(score.elbo_per_document))
    }

    fn report(
        &self,
        source: &CorpusSource,
        held_out: &[Document],
        learnt: Learnt,
        beside: Option<Beside>,
    ) -> anyhow::Result<Finished> {
        let (cell, trainer) = (&self.task.cell, &learnt.trainer);
        let topics = topics_of(trainer)?;
        // A curve ends where learning does, and its last point need not be scored again.
        let at_the_end = learnt.curve.last().is_some_and(|moment| moment.documents == trainer.clock().seen);
        let score = match learnt.last_score.filter(|_| at_the_end) {
            Some(score) => score,
            None => self.own_score(&topics, trainer, held_out)?,
        };
        let truth = source.true_topics()?;
        let truth = truth.map(|truth| self.own_score(&truth, trainer, held_out)).transpose()?;
        let estimates = if self.wants(Extra::Estimators) {
            self.estimates(&topics, trainer, held_out)?
        } else {
            Vec::new()
        };
        let elbo_per_document = self.elbo(trainer, held_out)?;
        let kept = trainer.fitted().ok_or_else(|| anyhow!("{} has no documents", cell.corpus))?;
        Ok(Finished {
            cell: cell.clone(),
            version: env!("CARGO_PKG_VERSION").to_owned(),
            tokens: trainer.tokens(),
            held_out_tokens: score.tokens,
            log_perplexity_per_document: score.log_perplexity_per_document,
            standard_error: score.standard_error,
            unigram_log_perplexity_per_document: score.unigram_log_perplexity_per_document,
            true_parameters_log_perplexity_per_document: truth.map(|truth| truth.log_perplexity_per_document),
            train_cpu_seconds: learnt.cost.cpu.as_secs_f64(),
            model_hash: kept.hash().chars().take(HASH_DIGITS).collect(),
            alpha_sum: topics.alpha.iter().sum(),
            topics_used: trainer.topics_used(),
            elbo_per_document,
            curve: learnt.curve,
            estimates,
            beside,
        })
    }

    /// The score by every estimator, also with many particles.
    fn estimates(
        &self,
        topics: &Topics,
        trainer: &Trainer,
        held_out: &[Document],
    ) -> gibbstream::Result<Vec<Estimate>> {
        let (few, many) = (self.task.cell.particles, self.corpora.scale().many_particles());
        let mut estimates = Vec::new();
        for estimator in [Estimator::Smc, Estimator::LeftToRight] {
            for particles in [few, many] {
                let score = self.score(estimator, particles, topics, trainer, held_out)?;
                estimates.push(Estimate {
                    estimator: estimator.name().to_owned(),
                    particles,
                    log_perplexity_per_document: score.log_perplexity_per_document,
                });
            }
        }
        estimates.push(Estimate {
            estimator: "gibbs".into(),
            particles: GIBBS_SAMPLES,
            log_perplexity_per_document: gibbs_estimate(topics, held_out, few, Seed(self.task.cell.seed)),
        });
        Ok(estimates)
    }
}

/// Numbers of documents at which a curve has a point: 1, 2, 5, 10, ... minibatches, and the end.
fn milestones(batch: u64, all: u64) -> impl Iterator<Item = u64> {
    let powers = std::iter::successors(Some(batch), |power| power.checked_mul(10));
    let steps = powers.flat_map(|power| [power, 2 * power, 5 * power]);
    steps.take_while(move |&milestone| milestone < all).chain([all])
}

fn topics_of(trainer: &Trainer) -> anyhow::Result<Topics> {
    trainer.topics().ok_or_else(|| anyhow!("there were no documents to learn from"))
}

/// The mean of `-log p(X)` as the product of `p(x_n | x_1 .. x_{n-1})`, each averaged over [`GIBBS_SAMPLES`] samples of the topics
/// of the words before: as many chains as particles, each swept often enough to forget where it came from.
fn gibbs_estimate(topics: &Topics, held_out: &[Document], particles: usize, seed: Seed) -> f64 {
    let sweeps = GIBBS_SAMPLES.div_ceil(particles);
    let walk = Sequential { sweeps, ..Sequential::new(Estimator::LeftToRight, particles) };
    let mut space = Particles::default();
    let mut log_likelihood = |document: &Document| -> f64 {
        let batch = Minibatch::new(std::slice::from_ref(document), 0, 0);
        let mut view = TopicView::for_sampling();
        topics.view(&batch, &mut view);
        walk.log_likelihood(&view, batch.document(0), seed, batch.content_key(0), &mut space)
    };
    -held_out.iter().map(&mut log_likelihood).sum::<f64>() / held_out.len() as f64
}

/// The largest topics of the first model beside the most similar ones of the second.
fn beside(cell: &Cell, source: &CorpusSource, trainers: [&Trainer; 2]) -> anyhow::Result<Beside> {
    let topics = [topics_of(trainers[0])?, topics_of(trainers[1])?];
    let rows = [&topics[0], &topics[1]]
        .map(|topics| TopicRows::new(topics, topics.vocabulary(), |word| word as usize));
    let summaries: Vec<Vec<TopicSummary>> = (trainers.iter().zip(&topics))
        .map(|(trainer, topics)| summarise(topics, &shares(&trainer.topic_tokens()), SHOWN_WORDS, 1.0))
        .collect();
    let words = |summary: &TopicSummary| {
        summary.words.iter().map(|&(word, _)| source.vocabulary().word(word).to_owned()).collect()
    };
    let mut pairs = align(&rows[0], &rows[1], Distance::KullbackLeibler);
    pairs.sort_by(|a, b| summaries[0][b.a].share.total_cmp(&summaries[0][a.a].share));
    let shown = pairs.iter().take(SHOWN_TOPICS).map(|pair| TopicPair {
        share: summaries[0][pair.a].share,
        divergence: pair.distance,
        words: words(&summaries[0][pair.a]),
        words_beside: words(&summaries[1][pair.b]),
    });
    Ok(Beside {
        method: BESIDE.to_owned(),
        pairs: shown.collect(),
        coherence: [coherence(cell, source, &summaries[0])?, coherence(cell, source, &summaries[1])?],
    })
}

/// Mean coherence of topics in the documents that they were learnt from.
fn coherence(
    cell: &Cell,
    source: &CorpusSource,
    summaries: &[TopicSummary],
) -> anyhow::Result<TopicCoherence> {
    let best =
        |summary: &TopicSummary| summary.words.iter().take(COHERENT_WORDS).map(|&(word, _)| word).collect();
    let mut counter = CoherenceCounter::new(&summaries.iter().map(best).collect::<Vec<_>>())?;
    for document in source.training(cell)? {
        counter.add_bag(&document?);
    }
    Ok(counter.finish(UmassSmoothing::One)?.mean)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn curves_have_points_at_round_numbers_and_at_the_end() {
        assert_eq!(milestones(100, 2_300).collect::<Vec<_>>(), [100, 200, 500, 1_000, 2_000, 2_300]);
        assert_eq!(milestones(100, 1_000).collect::<Vec<_>>(), [100, 200, 500, 1_000]);
        assert_eq!(milestones(20, 10).collect::<Vec<_>>(), [10]);
    }
}
