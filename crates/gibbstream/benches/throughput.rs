//! Throughput of training, evaluation and inference at named sizes, in CPU time: `make bench`.
//!
//! Wall-clock time means little on a shared machine, and so does a single figure: compare two builds in one run.
#![allow(missing_docs)]

use gibbstream::corpus::{Document, Length, Minibatch, Synthetic, Truth};
use gibbstream::evaluation::{Evaluation, Scorer, Unigram};
use gibbstream::inference::mixtures::MixtureInference;
use gibbstream::method::Method;
use gibbstream::random::Seed;
use gibbstream::trainer::{Settings, Trainer};
use std::io::Write;

const LENGTH: u64 = 100;
const VOCABULARY: usize = 10_000;

fn cpu_seconds() -> f64 {
    let time = rustix::time::clock_gettime(rustix::time::ClockId::ProcessCPUTime);
    time.tv_sec as f64 + time.tv_nsec as f64 * 1e-9
}

fn timed<T>(work: impl FnOnce() -> T) -> (T, f64) {
    let start = cpu_seconds();
    let result = work();
    (result, cpu_seconds() - start)
}

fn documents(topics: usize, count: u64) -> gibbstream::Result<Vec<Document>> {
    let truth = Truth::random(topics, VOCABULARY, 0.05, 0.1, Seed(1))?;
    Synthetic::new(truth, Length::Fixed(LENGTH), Seed(2), count)?.collect()
}

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let mut out = std::io::stdout().lock();
    for (method, topics, batch, count) in [
        ("g-oem", 20, 100, 4_000),
        ("g-oem", 128, 100, 4_000),
        ("g-oem", 128, 10, 4_000),
        ("g-oem", 1_024, 100, 2_000),
        ("v-oem", 128, 100, 2_000),
        ("olda", 128, 100, 2_000),
    ] {
        let documents = documents(topics.min(100), count)?;
        let batches: Vec<Minibatch> = documents
            .chunks(batch)
            .enumerate()
            .map(|(i, documents)| Minibatch::new(documents, (i * batch) as u64, 0))
            .collect();
        let settings = Settings {
            name: method.to_string(),
            method: Method::named(method)?.with_population(count as f64),
            topics,
            vocabulary: VOCABULARY,
            batch,
            seed: Seed(0),
        };
        let work = settings.method.sweeps as f64 * (LENGTH * count) as f64;
        let mut trainer = Trainer::new(settings, 1)?;
        trainer.partial_fit(&batches[0])?; // the random start is not part of the measure
        let (result, seconds) =
            timed(|| batches[1..].iter().try_for_each(|batch| trainer.partial_fit(batch).map(drop)));
        result?;
        let speed = work * (batches.len() - 1) as f64 / batches.len() as f64 / seconds / 1e6;
        writeln!(out, "train/{method},K={topics},batch={batch}: {speed:.2} M token-sweeps per CPU second")?;
        if (method, topics, batch) == ("g-oem", 128, 100) {
            let topics = trainer.topics().ok_or("nothing learnt")?;
            let unigram = Unigram::from_counts(trainer.word_counts().to_vec());
            let scorer = Scorer::new(Evaluation::default(), &topics, &unigram)?;
            let (score, seconds) = timed(|| scorer.score(documents[..200].iter().cloned().map(Ok)));
            score?;
            writeln!(
                out,
                "evaluate/smc,K=128,particles=20: {:.1} documents per CPU second",
                200.0 / seconds
            )?;
            let batch = Minibatch::new(&documents[..1_000], 0, 0);
            let inference = MixtureInference { sweeps: 100, seed: Seed(0) };
            let (_, seconds) = timed(|| inference.infer(&topics, &batch));
            writeln!(out, "infer/K=128,sweeps=100: {:.0} documents per CPU second", 1_000.0 / seconds)?;
        }
    }
    Ok(())
}
