//! The methods, each against its definition, against the methods that it must equal, and at its limits.
#![allow(missing_docs)]
#![allow(clippy::unwrap_used, reason = "helpers of tests may fail as tests do")]

#[path = "../support/mod.rs"]
mod support;

mod batch_gibbs;
mod boosting;
mod combinations;
mod contract;
mod equivalences;
mod exact_em;
mod frequencies;
mod held_out;
mod langevin;
mod local_statistics;
mod m_step;
mod mean_field;
mod recursions;
mod reproducibility;
mod safety;

use gibbstream::corpus::{Document, Minibatch};
use gibbstream::inference::{LocalInference, Passes};
use gibbstream::learn::method::Method;
use gibbstream::learn::schedule::{Step, StepSize};
use gibbstream::learn::trainer::Trainer;
use gibbstream::learn::{Fitted, FittedModel, Settings};
use gibbstream::model::topics::counts::TopicStats;
use gibbstream::model::topics::lda::{Lda, LdaState, Topics};
use gibbstream::model::topics::statistics::TopicStatistics;
use gibbstream::model::topics::view::TopicView;
use gibbstream::model::topics::word_frequencies::WordFrequencies;
use gibbstream::numerics::random::{Purpose, Seed, Stream};
use support::Expected;

/// The steps of the paper without its first step of 1, which erases the start.
const SOFT: StepSize = StepSize::Power { kappa: 0.5, offset: 1.0, tau: 1.0, least: 0.0 };

fn stream(key: u64) -> Stream {
    Seed(4_107).stream(Purpose::Local, [key, 99])
}

fn settings(method: Method, topics: usize, vocabulary: usize, batch: usize) -> Settings {
    Settings::new(topics).method("test", method).vocabulary(vocabulary).batch(batch).seed(11)
}

/// Documents about some of `topics` groups of words, each word of the `vocabulary` in one group.
fn grouped(documents: usize, topics: usize, vocabulary: usize, length: usize, key: u64) -> Vec<Document> {
    let mut random = stream(key);
    let mut theta = vec![0.0; topics];
    let mut one = || {
        random.dirichlet(&vec![0.2; topics], &mut theta);
        let length = random.below(2 * length + 1);
        let tokens: Vec<u32> = (0..length)
            .map(|_| {
                let group = random.categorical(&theta);
                let word = random.below(vocabulary.div_ceil(topics)) * topics + group;
                (word % vocabulary) as u32
            })
            .collect();
        Document::from_tokens(&tokens)
    };
    (0..documents).map(|_| one()).collect()
}

/// Consecutive minibatches of `size` documents.
fn minibatches(documents: &[Document], size: usize) -> Vec<Minibatch> {
    let chunks = documents.chunks(size).enumerate();
    chunks.map(|(i, chunk)| Minibatch::new(chunk, (i * size) as u64, 0)).collect()
}

/// Everything that a topic model has learnt.
#[derive(Clone, Debug, PartialEq)]
struct Learnt {
    state: LdaState,
    clock: Step,
    tokens: u64,
    word_counts: Vec<u64>,
}

impl Learnt {
    fn fitted(&self, settings: &Settings) -> Box<dyn Fitted> {
        let (model, state) = (settings.lda_model(), self.state.clone());
        Box::new(FittedModel { model, state, baseline: self.seen(), clock: self.clock })
    }

    fn seen(&self) -> WordFrequencies {
        WordFrequencies { tokens: self.tokens, counts: self.word_counts.clone(), recent: None }
    }

    fn hash(&self) -> String {
        self.fitted(&settings(Method::G_OEM, 1, 1, 1)).hash()
    }
}

fn learnt(trainer: &Trainer) -> Learnt {
    let (state, word_counts) = (trainer.topic_state().unwrap().clone(), trainer.word_counts().to_vec());
    Learnt { state, clock: trainer.clock(), tokens: trainer.tokens(), word_counts }
}

fn reported(settings: &Settings, learnt: &Learnt) -> Topics {
    settings.lda_model().parameters(&learnt.state, &learnt.clock, &learnt.seen())
}

fn train(settings: Settings, batches: &[Minibatch]) -> Learnt {
    train_with(settings, batches, 1)
}

fn train_with(settings: Settings, batches: &[Minibatch], threads: usize) -> Learnt {
    let mut trainer = Trainer::new(settings, threads).unwrap();
    for batch in batches {
        trainer.partial_fit(batch).unwrap();
    }
    learnt(&trainer)
}

/// The expected statistics of a minibatch by any local inference, document after document.
fn expect<L: LocalInference<Lda>>(local: &L, view: &TopicView, batch: &Minibatch, seed: Seed) -> Expected {
    let (mut scratch, mut latents) = (L::Scratch::default(), Vec::new());
    for index in 0..batch.len() {
        let mut latent = L::Latent::default();
        let random = seed.stream(Purpose::Local, [batch.pass(), batch.first() + index as u64]);
        local.begin(view, batch, index, &mut latent, random);
        let passes = Passes { range: 0..local.passes(), keep_from: local.first_kept() };
        local.advance(view, batch, index, &mut latent, &mut scratch, passes);
        latents.push(latent);
    }
    let mut out = TopicStatistics::default();
    local.collect(view, batch, &mut latents, &mut out);
    Expected::of(view, &out)
}

/// `words x topics`, without the lazy scale.
fn dense(counts: &TopicStats) -> Vec<f64> {
    let rows = (0..counts.words() as u32).flat_map(|word| counts.scaled_row(word));
    rows.map(|scaled| scaled * counts.scale()).collect()
}

/// Largest distance between two vectors, relative to the largest entry of the second.
fn distance(found: &[f64], expected: &[f64]) -> f64 {
    assert_eq!(found.len(), expected.len());
    let largest = expected.iter().fold(1e-300, |largest: f64, value| largest.max(value.abs()));
    found.iter().zip(expected).map(|(a, b)| (a - b).abs()).fold(0.0, f64::max) / largest
}

fn assert_close(name: &str, found: &[f64], expected: &[f64], tolerance: f64) {
    let distance = distance(found, expected);
    assert!(distance <= tolerance, "{name}: {distance:.3e} apart");
}

/// Same statistics and alpha up to rounding.
fn assert_same(name: &str, found: &Learnt, expected: &Learnt, tolerance: f64) {
    assert_close(name, &dense(&found.state.counts), &dense(&expected.state.counts), tolerance);
    assert_close(name, &found.state.alpha.alpha, &expected.state.alpha.alpha, tolerance);
}
