//! Mean field on single documents: golden numbers, the bound, and its limits.

use super::*;
use crate::support::{HALF_UNIT, copies, enumerate, random_topics, reference, view_of};
use gibbstream::inference::mean_field::{MeanField, Variational};
use gibbstream::model::topics::lda::Topics;
use gibbstream::numerics::math::digamma;
use proptest::prelude::*;

fn close(found: &[f64], expected: &[f64], tolerance: f64) {
    for (found, expected) in found.iter().zip(expected) {
        assert!((found - expected).abs() < tolerance, "{found} is not {expected}");
    }
}

/// science.md 10.8.
#[test]
fn golden_numbers() {
    let (topics, tokens) = reference();
    let batch = copies(&tokens, 1, 0);
    let view = view_of(&topics, &batch);
    let mut q = Variational::default();
    q.start(&view, 5);
    let advance = |q: &mut Variational, times: usize| {
        (0..times).for_each(|_| q.iterate(&view, batch.document(0)));
        q.bound(&view, batch.document(0))
    };
    let bound = advance(&mut q, 1);
    close(&q.gamma, &[2.197_617_188_8, 1.968_598_475_9, 1.833_784_335_3], 1e-10);
    close(&[bound], &[-9.239_784_975_9], 1e-10);
    let bound = advance(&mut q, 19);
    close(&q.gamma, &[3.994_206_646_1, 1.754_512_399_6, 0.251_280_954_3], 1e-10);
    close(&[bound], &[-8.800_196_586_8], 1e-10);
    let bound = advance(&mut q, 5_000);
    close(&q.gamma, &[4.054_577_968_9, 1.735_917_329_8, 0.209_504_701_3], 1e-9);
    close(&[bound], &[-8.787_904_394_6], 1e-10);
    let total = digamma(q.gamma.iter().sum());
    let log_theta: Vec<f64> = q.gamma.iter().map(|&gamma| digamma(gamma) - total).collect();
    close(&log_theta, &[-0.434_627_526_9, -1.469_461_902_5, -6.756_340_403_0], 1e-8);
    let whole = expect(&MeanField { iterations: 5_020 }, &view, &batch, Seed(1));
    close(&whole.theta.log_theta, &log_theta, 1e-12);
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 100, failure_persistence: None, rng_seed: proptest::test_runner::RngSeed::Fixed(7), ..ProptestConfig::default() })]

    /// Every iteration raises the bound, and the bound stays below the likelihood.
    #[test]
    fn bound_rises_towards_the_likelihood(
        count in 1_usize..4,
        tokens in prop::collection::vec(0_u32..6, 0..7),
        seed in 0_u64..1000,
    ) {
        let topics = random_topics(count, 6, &mut stream(seed));
        let exact = enumerate(&topics, &tokens).log_likelihood;
        let batch = copies(&tokens, 1, 0);
        let view = view_of(&topics, &batch);
        let mut q = Variational::default();
            q.start(&view, tokens.len() as u64);
        let mut last = f64::NEG_INFINITY;
        for _ in 0..60 {
            q.iterate(&view, batch.document(0));
            let bound = q.bound(&view, batch.document(0));
            prop_assert!(bound >= last - 1e-10, "{bound} after {last}");
            prop_assert!(bound <= exact + 1e-10, "{bound} above {exact}");
            last = bound;
        }
        if count == 1 {
            prop_assert!((last - exact).abs() < 1e-10, "one topic leaves no gap: {last}, {exact}");
        }
    }

    /// The statistics of a minibatch: every word keeps its mass, log theta stays inside its domain.
    #[test]
    fn mass_is_conserved(
        count in 1_usize..300,
        iterations in 1_usize..25,
        documents in prop::collection::vec(prop::collection::vec(0_u32..15, 0..30), 1..6),
        seed in 0_u64..1000,
    ) {
        let topics = random_topics(count, 15, &mut stream(seed));
        let documents: Vec<Document> = documents.iter().map(|tokens| Document::from_tokens(tokens)).collect();
        let batch = Minibatch::new(&documents, 0, 0);
        let view = view_of(&topics, &batch);
        let found = expect(&MeanField { iterations }, &view, &batch, Seed(seed));
        assert_mass(&found, &batch, count);
        assert_exact_mass(&view, &batch, iterations);
        let inside: f64 = found.theta.log_theta.iter().map(|&value| libm::exp(value)).sum();
        let allowed = if count == 1 { (inside - 1.0).abs() < 1e-12 } else { inside < 1.0 };
        prop_assert!(allowed, "sum exp(E log theta) = {inside}");
    }
}

/// The expected counts of each word add up to its tokens, but every document's count in every topic is rounded once.
fn assert_mass(found: &Expected, batch: &Minibatch, topics: usize) {
    for row in 0..batch.words().len() {
        let entries = (0..batch.len()).flat_map(|index| batch.document(index));
        let tokens: f64 =
            entries.filter(|entry| entry.word as usize == row).map(|entry| f64::from(entry.count)).sum();
        let expected = tokens / batch.len() as f64;
        let sum: f64 = found.counts[row * topics..][..topics].iter().sum();
        let rounding = topics as f64 * HALF_UNIT;
        assert!((sum - expected).abs() < 1e-9 * expected + rounding, "{sum} is not {expected}");
    }
    assert!(found.counts.iter().all(|&count| count >= 0.0));
}

/// Before anything is rounded, the parameters of a document add up to alpha and its tokens.
fn assert_exact_mass(view: &TopicView, batch: &Minibatch, iterations: usize) {
    for index in 0..batch.len() {
        let (mut q, tokens) = (Variational::default(), batch.tokens_of(index));
        q.start(view, tokens);
        (0..iterations).for_each(|_| q.iterate(view, batch.document(index)));
        let (sum, expected) = (q.gamma.iter().sum::<f64>(), view.alpha_sum() + tokens as f64);
        assert!((sum - expected).abs() < 1e-9 * expected, "{sum} is not {expected}");
    }
}

/// With many topics a short document starts with a tiny `gamma` in each, where `exp(digamma)` underflows.
#[test]
fn short_documents_keep_their_mass_among_many_topics() {
    for (topics, alpha) in [(500, 2e-3), (2_000, 5e-4), (100, 1e-4), (10_000, 1e-5)] {
        let beta = random_topics(topics, 7, &mut stream(41)).beta;
        let frozen = Topics { beta, alpha: vec![alpha; topics] };
        for tokens in [vec![0], vec![3, 3], vec![1, 2, 6], vec![0, 1, 2, 3, 4, 5, 6, 0, 1]] {
            let batch = copies(&tokens, 1, 0);
            let view = view_of(&frozen, &batch);
            let found = expect(&MeanField { iterations: 20 }, &view, &batch, Seed(1));
            assert_mass(&found, &batch, topics);
            assert_exact_mass(&view, &batch, 20);
        }
    }
}
