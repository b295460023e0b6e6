//! The parameters maximise what they are said to maximise: nothing nearby is better.

use super::*;
use gibbstream::learn::averaging::Averaging;
use gibbstream::learn::schedule::Step;
use gibbstream::model::LatentModel;
use gibbstream::model::topics::alpha::{AlphaRule, AlphaState};
use gibbstream::model::topics::lda::{LdaState, Start};
use gibbstream::model::topics::rule::{Population, Smoothing, TopicRule};
use gibbstream::numerics::math::{digamma, ln_gamma};

const TOPICS: usize = 3;
const WORDS: usize = 8;

fn model(rule: TopicRule) -> Lda {
    Lda {
        topics: TOPICS,
        vocabulary: WORDS,
        rule,
        alpha: AlphaRule::Fixed(None),
        alpha_floor: 1e-5,
        start: Start::Gamma,
        averaging: Averaging::None,
        seed: Seed(1),
        seeds: Vec::new(),
    }
}

fn random_state(random: &mut Stream) -> LdaState {
    let counts = (0..WORDS * TOPICS).map(|_| random.gamma(0.5)).collect();
    LdaState {
        counts: TopicStats::new(TOPICS, counts, false),
        alpha: AlphaState::new(vec![0.3; TOPICS]),
        alpha_sum: vec![0.0; TOPICS],
        sticks: None,
    }
}

/// Sum over topics and words of `s log beta`, every topic normalised.
fn topic_objective(counts: &[f64], beta: &[f64]) -> f64 {
    let sum = |k: usize| beta.iter().skip(k).step_by(TOPICS).sum::<f64>();
    let sums: Vec<f64> = (0..TOPICS).map(sum).collect();
    counts.iter().zip(beta).enumerate().map(|(i, (s, beta))| s * libm::log(beta / sums[i % TOPICS])).sum()
}

/// What the bound says about lambda, given the expected counts `target - b`: the sum over topics of
/// `sum_w (target - lambda) E[log beta] + log Gamma(lambda)`, minus `log Gamma(sum lambda)`.
fn lambda_objective(target: &[f64], lambda: &[f64]) -> f64 {
    let sum = |k: usize| lambda.iter().skip(k).step_by(TOPICS).sum::<f64>();
    let sums: Vec<f64> = (0..TOPICS).map(sum).collect();
    let entries = target.iter().zip(lambda).enumerate().map(|(i, (target, &lambda))| {
        (target - lambda) * (digamma(lambda) - digamma(sums[i % TOPICS])) + ln_gamma(lambda)
    });
    entries.sum::<f64>() - sums.iter().map(|&sum| ln_gamma(sum)).sum::<f64>()
}

/// No slope in any direction (central differences), and 1,000 places nearby that are all worse.
fn assert_maximum(objective: impl Fn(&[f64]) -> f64, best: &[f64], random: &mut Stream) {
    let at_best = objective(best);
    for _ in 0..1_000 {
        let direction: Vec<f64> = best.iter().map(|_| random.normal()).collect();
        let moved = |by: f64| -> Vec<f64> {
            best.iter().zip(&direction).map(|(best, step)| best * libm::exp(by * step)).collect()
        };
        let slope = (objective(&moved(1e-4)) - objective(&moved(-1e-4))) / 2e-4;
        assert!(slope.abs() < 1e-4 * at_best.abs().max(1.0), "slope {slope}");
        let size = libm::exp(-6.0 * random.uniform());
        assert!(objective(&moved(size)) < at_best, "better at distance {size}");
    }
}

#[test]
fn topics_are_maximum_likelihood() {
    let mut random = stream(51);
    let model = model(TopicRule::MaximumLikelihood(Smoothing::Share(0.0)));
    for _ in 0..5 {
        let state = random_state(&mut random);
        let counts = dense(&state.counts);
        let beta = model.parameters(&state, &Step::default(), &WordFrequencies::default()).beta;
        assert_maximum(|beta| topic_objective(&counts, beta), &beta, &mut random);
    }
}

/// Pseudo-counts are the mode under a Dirichlet prior: its log density adds to the objective.
#[test]
fn pseudo_counts_are_a_prior() {
    let mut random = stream(52);
    let model = model(TopicRule::MaximumLikelihood(Smoothing::PseudoCount(0.7)));
    let step = Step { seen: 5, batch: 5, rho: 1.0, ..Step::default() };
    let state = random_state(&mut random);
    let counts: Vec<f64> = dense(&state.counts).iter().map(|s| s + 0.7 / 5.0).collect();
    let beta = model.parameters(&state, &step, &WordFrequencies::default()).beta;
    assert_maximum(|beta| topic_objective(&counts, beta), &beta, &mut random);
}

#[test]
fn posterior_maximises_the_bound() {
    let mut random = stream(53);
    let (prior, documents) = (0.2, 40.0);
    let population = Population::Documents(documents);
    let model = model(TopicRule::Bayes { prior: Some(prior), population });
    for _ in 0..5 {
        let state = random_state(&mut random);
        let lambda: Vec<f64> = dense(&state.counts).iter().map(|s| prior + documents * s).collect();
        // That the library means this lambda shows in the expectations it derives.
        let sum = |k: usize| lambda.iter().skip(k).step_by(TOPICS).sum::<f64>();
        let log = |(i, &value): (usize, &f64)| digamma(value) - digamma(sum(i % TOPICS));
        let logs: Vec<f64> = lambda.iter().enumerate().map(log).collect();
        assert_close(
            "E[log beta]",
            &model.log_topics(&state, &Step::default(), &WordFrequencies::default()).log_weights,
            &logs,
            1e-12,
        );
        let mean: Vec<f64> = lambda.iter().enumerate().map(|(i, value)| value / sum(i % TOPICS)).collect();
        assert_close(
            "E[beta]",
            &model.parameters(&state, &Step::default(), &WordFrequencies::default()).beta,
            &mean,
            1e-12,
        );
        let batch = Minibatch::new(&[Document::from_tokens(&(0..WORDS as u32).collect::<Vec<_>>())], 0, 0);
        let mut view = TopicView::default();
        model.view(&state, &Step::default(), None, &batch, &mut view);
        for word in 0..WORDS {
            // Up to a factor of the word.
            let expected: Vec<f64> = (0..TOPICS).map(|k| libm::exp(logs[word * TOPICS + k])).collect();
            let factor = view.row(word as u32)[0] / expected[0];
            let found: Vec<f64> = view.row(word as u32).iter().map(|weight| weight / factor).collect();
            assert_close("exp E[log beta]", &found, &expected, 1e-10);
        }
        assert_maximum(|trial| lambda_objective(&lambda, trial), &lambda, &mut random);
    }
}
