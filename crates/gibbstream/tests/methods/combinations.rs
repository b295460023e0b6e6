//! Parts of methods put together freely: each does what it does elsewhere, or the whole is refused with a reason.

use super::safety::survive_one;
use super::*;
use gibbstream::inference::gibbs::{Statistic, Window};
use gibbstream::learn::averaging::Averaging;
use gibbstream::learn::method::Local;
use gibbstream::model::topics::alpha::{AlphaRule, largest_sum, smallest_entry};
use gibbstream::model::topics::lda::Start;
use gibbstream::model::topics::rule::{Population, Smoothing, TopicRule};
use gibbstream::numerics::math::digamma;
use proptest::prelude::*;
use proptest::sample::select;

/// Averaging reports the mean of what would have been reported after each update, and moves nothing else.
#[test]
fn every_method_can_report_the_mean() {
    let batches = minibatches(&grouped(60, 3, 20, 15, 81), 10);
    for named in Method::NAMED {
        let method = Method { sweeps: 4, ..named.method.with_population(60.0) };
        for (averaging, first) in [(Averaging::Uniform, 0), (Averaging::Tail(4), 3)] {
            let mut plain = Trainer::new(settings(method, 3, 20, 10), 1).unwrap();
            let mut averaged = Trainer::new(settings(Method { averaging, ..method }, 3, 20, 10), 1).unwrap();
            let (mut beta, mut alpha) = (vec![0.0; 60], vec![0.0; 3]);
            for (update, batch) in batches.iter().enumerate() {
                plain.partial_fit(batch).unwrap();
                averaged.partial_fit(batch).unwrap();
                if update >= first {
                    let now = plain.topics().unwrap();
                    beta.iter_mut().zip(now.beta).for_each(|(sum, value)| *sum += value);
                    alpha.iter_mut().zip(now.alpha).for_each(|(sum, value)| *sum += value);
                }
            }
            let updates = (batches.len() - first) as f64;
            beta.iter_mut().chain(&mut alpha).for_each(|sum| *sum /= updates);
            let found = averaged.topics().unwrap();
            assert_close(named.name, &found.beta, &beta, 1e-9);
            assert_close(named.name, &found.alpha, &alpha, 1e-12);
            assert_same(named.name, &learnt(&averaged), &learnt(&plain), 1e-12);
        }
    }
}

/// Whatever estimates the proportions and the topics, a learnt alpha solves its equation.
#[test]
fn alpha_is_learnt_under_any_method() {
    let batches = minibatches(&grouped(200, 3, 20, 30, 82), 20);
    for base in [Method::VAR_GIBBS, Method::OLDA, Method::SVB, Method::SGS, Method::V_OEM, Method::MH_OEM] {
        let base = base.with_population(200.0);
        let learnt = train(settings(Method { alpha: AlphaRule::FixedPoint, ..base }, 3, 20, 20), &batches);
        let state = &learnt.state.alpha;
        assert_eq!((state.clamps.sum, state.clamps.entries), (0, 0), "{base:?}");
        let total = digamma(state.alpha.iter().sum());
        for (&alpha, log_theta) in state.alpha.iter().zip(&state.log_theta) {
            assert!((digamma(alpha) - total - log_theta).abs() < 1e-8, "{base:?}: {alpha}");
        }
        let (shape, rate) = (1.5, 2.0);
        let gamma = Method { alpha: AlphaRule::Gamma { shape, rate }, ..base };
        let learnt = train(settings(gamma, 3, 20, 20), &batches);
        let state = &learnt.state.alpha;
        for (alpha, usage) in state.alpha.iter().zip(&state.usage) {
            // The sums over 200 documents, each with the alpha of its time.
            let expected = (shape - 1.0 + 200.0 * usage) / (rate + 200.0 * state.length);
            assert!((alpha / expected - 1.0).abs() < 1e-12, "{base:?}: {alpha} is not {expected}");
        }
    }
}

fn locals() -> Vec<Local> {
    let mut all = vec![Local::MeanField];
    for window in [Window::LastQuarter, Window::LastHalf, Window::Last] {
        for statistic in [Statistic::RaoBlackwell, Statistic::InSweep, Statistic::Counts] {
            all.push(Local::Gibbs { window, statistic });
            all.push(Local::MetropolisHastings { window, statistic });
        }
        all.push(Local::CollapsedGibbs { window });
    }
    all
}

fn globals() -> Vec<TopicRule> {
    let mut all: Vec<TopicRule> =
        [Smoothing::Share(0.0), Smoothing::Share(1e-4), Smoothing::PseudoCount(1e-3)]
            .map(TopicRule::MaximumLikelihood)
            .to_vec();
    for prior in [None, Some(1e-3), Some(1e-8), Some(5.0)] {
        for population in [Population::Seen, Population::Documents(50.0), Population::Documents(1e12)] {
            all.push(TopicRule::Bayes { prior, population });
        }
    }
    all.push(TopicRule::Langevin { prior: 1e-3, population: Population::Documents(50.0) });
    all
}

fn steps() -> Vec<StepSize> {
    vec![
        StepSize::PAPER,
        SOFT,
        StepSize::Power { kappa: 0.0, offset: 0.0, tau: 1.0, least: 0.0 },
        StepSize::Power { kappa: 1.0, offset: 0.0, tau: 100.0, least: 0.0 },
        StepSize::Constant(1.0),
        StepSize::Constant(1e-9),
        StepSize::Incremental { head_start: 0 },
        StepSize::Incremental { head_start: 3 },
        StepSize::Decay { start: 0.01, delay: 10.0, exponent: 0.6 },
    ]
}

fn alphas() -> Vec<AlphaRule> {
    let mut all = vec![
        AlphaRule::FixedPoint,
        AlphaRule::FixedPointSteps(2),
        AlphaRule::Newton,
        AlphaRule::Gradient,
        AlphaRule::Gamma { shape: 1.0, rate: 0.0 },
        AlphaRule::Gamma { shape: 3.0, rate: 10.0 },
        AlphaRule::Fixed(None),
    ];
    let limits = [smallest_entry(2_000, false), smallest_entry(2, true), largest_sum(2) / 2.0];
    all.extend(limits.map(|value| AlphaRule::Fixed(Some(value))));
    all
}

/// Ordinary documents, documents without words or with one, and one of 100,000 tokens.
fn corpora() -> Vec<Vec<Document>> {
    let odd = || vec![Document::default(), Document::from_tokens(&[4]), Document::from_tokens(&[1, 1, 6])];
    let long = || Document { words: vec![(2, 99_000), (5, 1_000)], ..Document::default() };
    vec![
        grouped(12, 3, 7, 9, 83),
        odd(),
        vec![Document::default(); 2],
        vec![long(), Document::from_tokens(&[3])],
    ]
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 600, failure_persistence: None, rng_seed: proptest::test_runner::RngSeed::Fixed(8), ..ProptestConfig::default() })]

    /// Any combination of parts, also at the ends of their ranges, is refused with a reason or keeps all of its
    /// numbers finite and its topics probabilities.
    #[test]
    fn any_combination_is_refused_or_survives(
        (local, global, step, alpha) in (select(locals()), select(globals()), select(steps()), select(alphas())),
        (boost, averaging) in (any::<bool>(), select(vec![Averaging::None, Averaging::Uniform, Averaging::Tail(2), Averaging::Frequencies])),
        (start, whole_corpus) in (select(vec![Start::Gamma, Start::NearlyUniform]), any::<bool>()),
        (sweeps, topics, size) in (select(vec![1_usize, 3, 4]), select(vec![1_usize, 2, 9, 9, 9, 2_000]), 1_usize..7),
        documents in select(corpora()),
    ) {
        let method = Method { local, sweeps, global, step, alpha, boost, averaging, start, whole_corpus };
        if let Err(reason) = method.validate() {
            prop_assert!(reason.to_string().contains("; "), "{reason}");
        } else {
            let batches: Vec<Minibatch> = if whole_corpus {
                (0..2).map(|pass| Minibatch::new(&documents, 0, pass)).collect()
            } else {
                minibatches(&documents, size)
            };
            survive_one(&format!("{method:?}, K = {topics}"), method, topics, 7, &batches);
        }
    }
}
