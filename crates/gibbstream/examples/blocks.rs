//! The E-step of every minibatch in blocks, as several machines would share it: parameters go out as bytes, statistics
//! come back as bytes in any order, and what is learnt has the bits of a run on one machine. Run it with
//! `cargo run --release --example blocks`.
#![allow(clippy::print_stdout, reason = "an example shows what it finds")]

use gibbstream::{
    Document, Gibbs, Length, Minibatch, Online, OnlineSettings, Settings, Statistics, Synthetic,
    TopicStatistics,
};
use gibbstream::{TopicView, Truth, e_step, from_bytes, to_bytes};

/// What a machine does that has the settings, the bytes of a view, and some documents.
fn answer(settings: &Settings, view: &[u8], block: &Minibatch) -> gibbstream::Result<Vec<u8>> {
    let view: TopicView = from_bytes(view)?;
    Ok(to_bytes(&e_step(&settings.lda_model(), &Gibbs::new(20), &view, block, settings.seed)?))
}

fn main() -> gibbstream::Result<()> {
    let settings = Settings::new(10).vocabulary(500).seed(1);
    let (seed, batch) = (settings.seed, settings.batch);
    let run = OnlineSettings { step: settings.method.step, batch, seed, ..OnlineSettings::default() };
    let mut alone = Online::new(settings.lda_model(), Gibbs::new(20), run)?;
    let mut shared = Online::new(settings.lda_model(), Gibbs::new(20), run)?;
    let stream = Synthetic::new(Truth::random(10, 500, 0.1, 0.1, seed)?, Length::Fixed(80), seed, 1_000)?;
    for first in (0..1_000).step_by(100) {
        let documents: Vec<Document> = (first..first + 100).map(|place| stream.document(place)).collect();
        let minibatch = Minibatch::new(&documents, first, 0);
        alone.partial_fit(&minibatch)?;

        // The first minibatch makes the random start; later this does nothing.
        shared.begin(&minibatch)?;
        let view = to_bytes(&shared.view(&minibatch).expect("there is a start"));
        // Blocks may have any size, but every document keeps its place in the stream: that is the key of its random numbers.
        let blocks = documents.chunks(30).zip((first..).step_by(30));
        let answers = blocks.map(|(some, place)| answer(&settings, &view, &Minibatch::new(some, place, 0)));
        let mut answers: Vec<Vec<u8>> = answers.collect::<gibbstream::Result<_>>()?;
        answers.reverse(); // the last one was the fastest
        let mut statistics = TopicStatistics::default();
        for bytes in &answers {
            statistics.merge(&from_bytes(bytes)?)?;
        }
        shared.absorb(&statistics)?;
        assert_eq!(alone.state(), shared.state(), "the same bits");
    }
    println!("{} updates, in blocks and alone: the same bits", shared.clock().update);
    Ok(())
}
