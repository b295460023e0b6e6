//! Every method on the same stream, from the same start, scored by the same estimator on the same documents.
//!
//!     cargo run --release -p gibbstream --example ten_methods

use gibbstream::corpus::{Length, Minibatch, Synthetic, themes};
use gibbstream::evaluation::{Evaluation, Scorer, Unigram};
use gibbstream::learn::Settings;
use gibbstream::learn::method::Method;
use gibbstream::learn::trainer::Trainer;
use gibbstream::numerics::random::Seed;
use std::io::Write;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let (documents, batch) = (10_000, 100);
    let (_, vocabulary, truth) = themes();
    let stream = Synthetic::new(truth, Length::Poisson(60.0), Seed(1), u64::MAX)?;
    let held_out: Vec<_> = stream.clone().skip(1_000_000).take(200).collect::<Result<_, _>>()?;
    let mut out = std::io::stdout().lock();
    for named in Method::NAMED.iter().filter(|named| !named.method.whole_corpus) {
        let method = named.method.with_population(documents as f64);
        let settings = Settings::new(10).method(named.name, method).vocabulary(vocabulary.len()).batch(batch);
        let mut trainer = Trainer::new(settings, 2)?;
        for first in (0..documents).step_by(batch) {
            let documents: Vec<_> = stream.clone().skip(first).take(batch).collect::<Result<_, _>>()?;
            trainer.partial_fit(&Minibatch::new(&documents, first as u64, 0))?;
        }
        let unigram = Unigram::from_counts(trainer.word_counts().to_vec());
        let topics = trainer.topics().ok_or("nothing learnt")?;
        let score =
            Scorer::new(Evaluation::default(), &topics, &unigram)?.score(held_out.iter().cloned().map(Ok))?;
        let (name, nats) = (named.name, score.log_perplexity_per_document);
        writeln!(out, "{name:9} {nats:8.2} nats per held-out document")?;
    }
    Ok(())
}
