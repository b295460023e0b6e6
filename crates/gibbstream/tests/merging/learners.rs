//! Any learner, its types hidden: parameters and statistics go as bytes to learners that have learnt nothing, and what
//! comes back gives the hash of learning alone.

use gibbstream::corpus::{Document, Length, Minibatch, Synthetic, Truth};
use gibbstream::learn::{AnyBatch, ModelKind, Settings};
use gibbstream::model::rows::families::gaussian::Covariance;
use gibbstream::model::rows::ica::{Noise, Sources};
use gibbstream::model::rows::observations::Observations;
use gibbstream::model::topics::hdp::HdpSettings;
use gibbstream::numerics::random::{Purpose, Seed};

const BATCH: u64 = 40;

fn kinds() -> Vec<ModelKind> {
    let (sources, noise, floor) = (Sources::Laplace, Noise::Diagonal, 1e-6);
    vec![
        ModelKind::Lda,
        ModelKind::Hdp(HdpSettings::default()),
        ModelKind::Ica { sources, noise, learn_scale: true, floor },
        ModelKind::GaussianMixture { covariance: Covariance::Full, floor: 1e-3 },
        ModelKind::PoissonMixture { floor: 1e-6 },
        ModelKind::MultinomialMixture { smoothing: 1e-4 },
        ModelKind::BernoulliMixture { floor: 1e-3 },
    ]
}

/// Observations `first..first + count` of a stream that fits the kind of model.
fn block(kind: &ModelKind, first: u64, count: u64) -> AnyBatch<'static> {
    if kind.has_topics() {
        let truth = Truth::random(4, 60, 0.1, 0.1, Seed(1)).unwrap();
        let stream = Synthetic::new(truth, Length::Fixed(40), Seed(2), 1_000).unwrap();
        let documents: Vec<Document> = (first..first + count).map(|place| stream.document(place)).collect();
        return AnyBatch::Documents(std::borrow::Cow::Owned(Minibatch::new(&documents, first, 0)));
    }
    let values = (first..first + count).flat_map(|place| {
        let mut random = Seed(3).stream(Purpose::Initial, [place, 0]);
        (0..3).map(move |_| f64::from(u8::from(random.uniform() < 0.4))).collect::<Vec<_>>()
    });
    AnyBatch::Rows(std::borrow::Cow::Owned(Observations::new(values.collect(), 3, first, 0).unwrap()))
}

#[test]
fn bytes_give_the_hash_of_learning_alone() {
    for kind in kinds() {
        let width = if kind.has_topics() { 60 } else { 3 };
        let settings = Settings::of(kind, 2, "g-oem").unwrap().vocabulary(width).batch(BATCH as usize);
        let [mut alone, mut shared] = [1, 2].map(|threads| settings.learner(threads).unwrap());
        let worker = settings.learner(1).unwrap();
        for first in (0..5 * BATCH).step_by(BATCH as usize) {
            let whole = block(&kind, first, BATCH);
            alone.partial_fit(&whole).unwrap();
            shared.begin(&whole).unwrap();
            let view = shared.view_bytes(&whole).unwrap();
            let blocks = [(0, 7), (7, 1), (8, 25), (33, 7)];
            let mut parts: Vec<Vec<u8>> = blocks
                .iter()
                .map(|&(at, count)| worker.e_step_bytes(&view, &block(&kind, first + at, count)).unwrap())
                .collect();
            parts.reverse();
            shared.absorb_bytes(&parts).unwrap();
        }
        let [alone, shared] = [alone, shared].map(|learner| learner.fitted().unwrap().hash());
        assert_eq!(alone, shared, "{}", kind.name());
    }
}

#[test]
fn a_view_is_refused_by_another_model_and_before_the_start() {
    let lda = Settings::new(3).vocabulary(60).learner(1).unwrap();
    assert!(lda.view_bytes(&block(&ModelKind::Lda, 0, 5)).is_err());
    let kind = ModelKind::PoissonMixture { floor: 1e-6 };
    let mut mixture = Settings::of(kind, 2, "g-oem").unwrap().vocabulary(3).learner(1).unwrap();
    let rows = block(&kind, 0, 50);
    mixture.begin(&rows).unwrap();
    let view = mixture.view_bytes(&rows).unwrap();
    assert!(lda.e_step_bytes(&view, &block(&ModelKind::Lda, 0, 5)).is_err());
    assert!(mixture.e_step_bytes(&view[..view.len() - 1], &rows).is_err());
    assert!(mixture.absorb_bytes(&[view]).is_err());
}
