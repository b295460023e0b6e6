//! Online EM with an exact E-step over the whole corpus is batch EM, whose likelihood never falls.

use super::*;
use crate::support::{Exact, enumerate};
use gibbstream::learn::averaging::Averaging;
use gibbstream::learn::batch_size::BatchSize;
use gibbstream::learn::online::{Online, OnlineSettings};
use gibbstream::learn::schedule::Step;
use gibbstream::model::topics::alpha::{AlphaRule, AlphaState, ThetaExpectation};
use gibbstream::model::topics::lda::{Start, Topics};
use gibbstream::model::topics::rule::{Smoothing, TopicRule};
use gibbstream::model::topics::statistics::rounded_count;
use gibbstream::model::{LatentModel, Sums};
use gibbstream::numerics::math::digamma;

/// The E-step by summing over all assignments of topics to tokens.
struct Enumerate;

impl LocalInference<Lda> for Enumerate {
    type Latent = Option<Exact>;
    type Scratch = ();

    fn passes(&self) -> usize {
        1
    }

    fn first_kept(&self) -> usize {
        0
    }

    fn begin(&self, _: &TopicView, _: &Minibatch, _: usize, _: &mut Option<Exact>, _: Stream) {}

    fn advance(
        &self,
        view: &TopicView,
        batch: &Minibatch,
        index: usize,
        latent: &mut Option<Exact>,
        (): &mut (),
        _: Passes,
    ) {
        let beta = (0..batch.words().len() as u32).flat_map(|word| view.row(word).to_vec()).collect();
        let tokens: Vec<u32> = batch
            .document(index)
            .iter()
            .flat_map(|entry| std::iter::repeat_n(entry.word, entry.count as usize))
            .collect();
        *latent = Some(enumerate(&Topics { beta, alpha: view.alpha().to_vec() }, &tokens));
    }

    fn collect(
        &self,
        view: &TopicView,
        batch: &Minibatch,
        latents: &mut [Option<Exact>],
        out: &mut TopicStatistics,
    ) {
        let mut gains = Sums::new(view.topics());
        for (index, exact) in latents.iter().enumerate() {
            let total = digamma(view.alpha_sum() + batch.tokens_of(index) as f64);
            let log_theta = exact.iter().flat_map(|exact| &exact.log_theta);
            let gain = log_theta.zip(view.alpha()).map(|(log, &alpha)| log - digamma(alpha) + total);
            gains.add(&gain.collect::<Vec<f64>>());
        }
        let latents = &*latents;
        out.set_rows(view, batch, 1, gains, |word, row| {
            for exact in latents.iter().flatten() {
                row.iter_mut()
                    .zip(&exact.counts)
                    .for_each(|(sum, counts)| *sum += rounded_count(counts[word]));
            }
        });
    }
}

#[test]
fn whole_corpus_with_step_one_is_batch_em() {
    let mut random = stream(31);
    let documents: Vec<Document> = (0..24)
        .map(|index| {
            let tokens: Vec<u32> =
                (0..2 + index % 4).map(|_| (2 * (index % 3) + random.below(3)) as u32 % 6).collect();
            Document::from_tokens(&tokens)
        })
        .collect();
    let tokens: Vec<Vec<u32>> = documents
        .iter()
        .map(|document| {
            document
                .words
                .iter()
                .flat_map(|&(word, count)| std::iter::repeat_n(word, count as usize))
                .collect()
        })
        .collect();
    let batch = Minibatch::new(&documents, 0, 0);
    let model = Lda {
        topics: 3,
        vocabulary: 6,
        rule: TopicRule::MaximumLikelihood(Smoothing::Share(0.0)),
        alpha: AlphaRule::FixedPoint,
        alpha_floor: 1e-9,
        start: Start::Gamma,
        averaging: Averaging::None,
        seed: Seed(3),
        seeds: Vec::new(),
    };
    let run = OnlineSettings {
        step: StepSize::Constant(1.0),
        averaging: Averaging::None,
        boost: false,
        batch: BatchSize::of(24),
        seed: Seed(3),
        threads: 2,
    };
    let start = model.initial(&batch, Seed(3));
    let mut batch_em = model.parameters(&start, &Step::default(), &WordFrequencies::default());
    let mut online = Online::new(model, Enumerate, run).unwrap();
    let mut last = f64::NEG_INFINITY;
    for _ in 0..40 {
        let exact: Vec<Exact> = tokens.iter().map(|tokens| enumerate(&batch_em, tokens)).collect();
        let likelihood: f64 = exact.iter().map(|exact| exact.log_likelihood).sum();
        assert!(likelihood >= last - 1e-10, "{likelihood} after {last}");
        last = likelihood;
        let sum = |of: &dyn Fn(&Exact) -> f64| exact.iter().map(of).sum::<f64>();
        let mut alpha = AlphaState::new(batch_em.alpha.clone());
        let log_theta = (0..3).map(|k| sum(&|exact| exact.log_theta[k]) / 24.0).collect();
        let fresh = ThetaExpectation { log_theta, usage: vec![0.0; 3], length: 0.0 };
        alpha.absorb(&AlphaRule::FixedPoint, 1e-9, &Step { rho: 1.0, ..Step::default() }, &fresh);
        // The counts of every document are rounded to whole units, here as there.
        let count = |k: usize, w: usize| sum(&|exact| rounded_count(exact.counts[k][w]));
        let total = |k: usize| (0..6).map(|w| count(k, w)).sum::<f64>();
        let beta = (0..18).map(|i| count(i % 3, i / 3) / total(i % 3)).collect();
        batch_em = Topics { beta, alpha: alpha.alpha };

        online.partial_fit(&batch).unwrap();
        let found =
            online.model().parameters(online.state().unwrap(), &online.clock(), &WordFrequencies::default());
        assert_close("beta", &found.beta, &batch_em.beta, 1e-9);
        assert_close("alpha", &found.alpha, &batch_em.alpha, 1e-9);
    }
    let unigram: f64 = tokens.iter().map(|tokens| -(tokens.len() as f64) * libm::log(6.0)).sum();
    assert!(last > unigram + 5.0, "EM should have learnt something: {last} against {unigram}");
}
