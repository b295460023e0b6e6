//! Other processes compute the E-step: each gets the bytes of a view, and answers with the bytes of its statistics. What
//! is learnt from them has the bits of `partial_fit`, for any model. Only the public API is used.

use gibbstream::{AnyBatch, Covariance, HdpSettings, Length, ModelKind, Observation, Observations, Result, Seed, Settings};
use gibbstream::{Synthetic, Truth};
use std::io::{Read, Write};
use std::ops::Range;
use std::process::{Child, Command, Stdio};

const WORDS: usize = 300;
const MINIBATCH: u64 = 100;

/// What every process knows.
fn settings(model: &str) -> Result<Settings> {
    let model = match model {
        "hdp" => ModelKind::Hdp(HdpSettings::default()),
        "gaussian-mixture" => ModelKind::GaussianMixture { covariance: Covariance::Full, floor: 1e-3 },
        _ => ModelKind::Lda,
    };
    let features = if model.has_topics() { WORDS } else { 2 };
    Ok(Settings::of(model, 5, "g-oem")?.vocabulary(features).batch(MINIBATCH as usize).seed(1))
}

/// Some observations of a stream: their places in it are the keys of their random numbers.
fn block(settings: &Settings, places: Range<u64>) -> Result<AnyBatch<'static>> {
    let first = places.start;
    let truth = Truth::random(5, WORDS, 0.1, 0.1, Seed(2))?;
    let stream = Synthetic::new(truth, Length::Fixed(50), Seed(3), 1_000)?;
    let documents = places.clone().map(|place| Observation::from(stream.document(place)));
    if settings.model.has_topics() {
        return AnyBatch::new(documents.collect(), first, 0);
    }
    let points = places.flat_map(|place| [place % 5, place % 7].map(|value| value as f64));
    Ok(AnyBatch::Rows(std::borrow::Cow::Owned(Observations::new(points.collect(), 2, first, 0)?)))
}

/// A process that has learnt nothing itself.
fn worker(model: &str, places: Range<u64>) -> Result<Vec<u8>> {
    let (settings, mut view) = (settings(model)?, Vec::new());
    std::io::stdin().read_to_end(&mut view).expect("the view arrives");
    settings.learner(1)?.e_step_bytes(&view, &block(&settings, places)?)
}

fn ask(model: &str, places: Range<u64>, view: &[u8]) -> Child {
    let program = std::env::current_exe().expect("this program");
    let [first, last] = [places.start, places.end].map(|place| place.to_string());
    let mut command = Command::new(program);
    command.args([model, &first, &last]).stdin(Stdio::piped()).stdout(Stdio::piped());
    let mut child = command.spawn().expect("a process");
    child.stdin.take().expect("a pipe").write_all(view).expect("the view is sent");
    child
}

fn answer(child: Child) -> Vec<u8> {
    let output = child.wait_with_output().expect("an answer");
    assert!(output.status.success(), "a worker failed");
    output.stdout
}

fn main() -> Result<()> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    if let [model, first, last] = &arguments[..] {
        let [first, last] = [first, last].map(|place| place.parse().expect("a place in the stream"));
        let statistics = worker(model, first..last)?;
        std::io::stdout().write_all(&statistics).expect("the statistics are sent");
        return Ok(());
    }
    for model in ["lda", "hdp", "gaussian-mixture"] {
        let settings = settings(model)?;
        let (mut alone, mut shared) = (settings.learner(2)?, settings.learner(2)?);
        for first in [0, MINIBATCH, 2 * MINIBATCH] {
            let minibatch = block(&settings, first..first + MINIBATCH)?;
            alone.partial_fit(&minibatch)?;

            shared.begin(&minibatch)?;
            let view = shared.view_bytes(&minibatch)?;
            let blocks = [0..41, 41..42, 42..100].map(|places| first + places.start..first + places.end);
            let asked: Vec<Child> = blocks.iter().map(|places| ask(model, places.clone(), &view)).collect();
            let mut answers: Vec<Vec<u8>> = asked.into_iter().map(answer).collect();
            // A block that was lost is computed again, elsewhere and later: the same bytes.
            assert_eq!(answer(ask(model, blocks[1].clone(), &view)), answers[1]);
            answers.rotate_left(1);
            shared.absorb_bytes(&answers)?;
            let [one, many] = [&alone, &shared].map(|learner| learner.fitted().expect("it has learnt").hash());
            assert_eq!(one, many, "{model}: not the same bits");
        }
        println!("{model}: three updates, by other processes and alone, have the same bits");
    }
    Ok(())
}
