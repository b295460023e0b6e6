//! The arithmetic of this machine in one hash: two that agree compute the same bits.

use super::batch::AnyBatch;
use super::settings::{ModelKind, Settings};
use crate::corpus::{Document, Length, Minibatch, Synthetic, Truth};
use crate::error::Result;
use crate::model::rows::families::gaussian::Covariance;
use crate::model::rows::ica::{Noise, Sources};
use crate::model::rows::observations::Observations;
use crate::numerics::random::{Purpose, Seed};
use std::sync::OnceLock;

/// Not a multiple of any number of lanes.
const TOPICS: usize = 19;
const WORDS: usize = 150;
const COLUMNS: usize = 3;
const BATCH: u64 = 30;
const MINIBATCHES: u64 = 3;

/// A hash of what small models have learnt here from documents and rows that are the same everywhere. Machines whose
/// hashes differ must not share the work of a run.
pub fn self_test() -> Result<&'static str> {
    static HASH: OnceLock<String> = OnceLock::new();
    if let Some(hash) = HASH.get() {
        return Ok(hash);
    }
    let mut hasher = blake3::Hasher::new();
    for settings in models()? {
        hasher.update(learnt(&settings)?.as_bytes());
    }
    Ok(HASH.get_or_init(|| hasher.finalize().to_hex().to_string()))
}

/// One for each kind of inference: sampling, mean field, exact, and auxiliary scales.
fn models() -> Result<Vec<Settings>> {
    let ica =
        ModelKind::Ica { sources: Sources::Laplace, noise: Noise::Diagonal, learn_scale: true, floor: 1e-6 };
    let mixture = ModelKind::GaussianMixture { covariance: Covariance::Full, floor: 1e-3 };
    let kinds = [
        (ModelKind::Lda, TOPICS, "g-oem"),
        (ModelKind::Lda, TOPICS, "olda"),
        (mixture, 2, "g-oem"),
        (ica, 2, "g-oem"),
    ];
    let settings = |(kind, components, method): (ModelKind, usize, &str)| {
        let mut settings = Settings::of(kind, components, method)?.batch(BATCH as usize);
        settings.method = settings.method.with_population((BATCH * MINIBATCHES) as f64);
        Ok(settings.vocabulary(if kind.has_topics() { WORDS } else { COLUMNS }))
    };
    kinds.into_iter().map(settings).collect()
}

fn learnt(settings: &Settings) -> Result<String> {
    let mut learner = settings.learner(1)?;
    let stream = Synthetic::new(
        Truth::random(TOPICS, WORDS, 0.1, 0.1, Seed(1))?,
        Length::Fixed(40),
        Seed(2),
        BATCH * MINIBATCHES,
    )?;
    for first in (0..BATCH * MINIBATCHES).step_by(BATCH as usize) {
        let places = first..first + BATCH;
        if settings.model.has_topics() {
            let documents: Vec<Document> = places.map(|place| stream.document(place)).collect();
            learner.partial_fit(&AnyBatch::from(&Minibatch::new(&documents, first, 0)))?;
        } else {
            let rows = Observations::new(places.flat_map(row).collect(), COLUMNS, first, 0)?;
            learner.partial_fit(&AnyBatch::from(&rows))?;
        }
    }
    Ok(learner.fitted().map_or_else(String::new, |fitted| fitted.hash()))
}

fn row(place: u64) -> [f64; COLUMNS] {
    let mut random = Seed(3).stream(Purpose::Initial, [place, 0]);
    std::array::from_fn(|_| random.uniform() - 0.4)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn it_depends_on_the_numbers_and_is_the_same_again() {
        assert_eq!(self_test().unwrap(), self_test().unwrap());
        let [first, second] = [1, 2].map(|seed| learnt(&models().unwrap()[0].clone().seed(seed)).unwrap());
        assert_ne!(first, second);
        for settings in models().unwrap() {
            assert_eq!(learnt(&settings).unwrap(), learnt(&settings).unwrap(), "{}", settings.model.name());
        }
    }
}
