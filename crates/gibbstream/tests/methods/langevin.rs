//! Langevin moves on frozen counts: the law that they converge to is known (science.md 3.10).
//!
//! With counts `n` held fixed, `phi = theta / sum(theta)` is Dirichlet(prior + n), and independent of it
//! `r = sum(theta)` is Gamma(V prior, 1). Small steps have a bias of the order of the step. All topics are given
//! the same counts, so that they are independent chains, one batch mean each.

use super::*;
use gibbstream::learn::averaging::Averaging;
use gibbstream::learn::batch_size::BatchSize;
use gibbstream::learn::method::Local;
use gibbstream::learn::schedule::Step;
use gibbstream::model::topics::alpha::AlphaRule;
use gibbstream::model::topics::lda::Start;
use gibbstream::model::topics::rule::{Population, TopicRule};
use gibbstream::model::topics::statistics::rounded_count;
use gibbstream::model::{LatentModel, Sums};

const CHAINS: usize = 200;
const WORDS: usize = 4;
const STEP: f64 = 4e-3;
/// Relative bias that is allowed for: a few times the step.
const BIAS: f64 = 0.02;

/// Runs all chains with these counts, as the sum over `documents` documents; returns per quantity one mean per
/// chain. The quantities of a chain are written by `measure(theta, out)`.
fn means_of_a_long_chain(
    prior: f64,
    counts: [f64; WORDS],
    documents: f64,
    quantities: usize,
    measure: fn(&[f64], &mut [f64]),
) -> Vec<Vec<f64>> {
    let model = Lda {
        topics: CHAINS,
        vocabulary: WORDS,
        rule: TopicRule::Langevin { prior, population: Population::Documents(documents) },
        alpha: AlphaRule::Fixed(None),
        alpha_floor: 1e-4,
        start: Start::Gamma,
        averaging: Averaging::None,
        seed: Seed(8),
        seeds: Vec::new(),
    };
    let tokens: Vec<u32> = (0..WORDS as u32).filter(|&word| counts[word as usize] > 0.0).collect();
    let batch = Minibatch::new(&[Document::from_tokens(&tokens)], 0, 0);
    let mean: Vec<f64> = tokens.iter().map(|&word| counts[word as usize] / documents).collect();
    let mut state = model.initial(&batch, Seed(8));
    let (mut view, mut gains) = (TopicView::default(), Sums::new(CHAINS));
    model.view(&state, &Step::default(), None, &batch, &mut view);
    gains.count(1);
    // A mean is rounded to a whole number of units, a millionth of a token: far below the bias that is allowed for.
    let mut fresh = TopicStatistics::default();
    fresh.set_rows(&view, &batch, 1, gains, |word, row| row.fill(rounded_count(mean[word])));
    let mut means = vec![vec![0.0; CHAINS]; quantities];
    // Ten relaxation times to forget the start, forty to look at.
    let (burn_in, moves, every) = (2_500, 12_500, 5);
    let mut out = vec![0.0; quantities];
    for update in 1..=moves {
        let step = Step { update, batch: 1, seen: update, head_start: 0, rho: STEP };
        model.absorb(&mut state, &step, &fresh);
        if update > burn_in && update % every == 0 {
            for chain in 0..CHAINS {
                let theta: Vec<f64> =
                    (0..WORDS as u32).map(|word| state.counts.scaled_row(word)[chain]).collect();
                measure(&theta, &mut out);
                for (mean, value) in means.iter_mut().zip(&out) {
                    mean[chain] += value * every as f64 / (moves - burn_in) as f64;
                }
            }
        }
    }
    means
}

/// |z| < 4.5 after the allowance for the finite step.
fn assert_moment(name: &str, chains: &[f64], expected: f64) {
    let count = chains.len() as f64;
    let mean = chains.iter().sum::<f64>() / count;
    let variance = chains.iter().map(|value| (value - mean) * (value - mean)).sum::<f64>() / (count - 1.0);
    let error = (variance / count).sqrt();
    let excess = ((mean - expected).abs() - BIAS * expected).max(0.0) / error;
    assert!(
        excess < 4.5,
        "{name}: {mean} is {excess:.1} standard errors ({error:.1e}) too far from {expected}"
    );
    assert!(error < 0.05 * expected, "{name}: an error of {error} proves little");
}

#[test]
fn settles_in_the_dirichlet_and_gamma_laws() {
    let (prior, counts) = (2.0, [5.0, 3.0, 0.0, 10.0]);
    let means = means_of_a_long_chain(prior, counts, 25.0, 10, |theta, out| {
        let total: f64 = theta.iter().sum();
        for word in 0..WORDS {
            out[word] = theta[word] / total;
            out[WORDS + word] = (theta[word] / total) * (theta[word] / total);
        }
        out[8] = total;
        out[9] = total * total;
    });
    let sum: f64 = counts.iter().map(|count| prior + count).sum();
    for word in 0..WORDS {
        let shape = prior + counts[word];
        assert_moment(&format!("E phi[{word}]"), &means[word], shape / sum);
        let square = shape * (shape + 1.0) / (sum * (sum + 1.0));
        assert_moment(&format!("E phi[{word}]^2"), &means[WORDS + word], square);
    }
    let shape = WORDS as f64 * prior;
    assert_moment("E r", &means[8], shape);
    assert_moment("E r^2", &means[9], shape * (shape + 1.0));
}

#[test]
fn without_data_the_prior_is_left() {
    let means = means_of_a_long_chain(2.0, [0.0; WORDS], 10.0, 2 * WORDS, |theta, out| {
        for word in 0..WORDS {
            out[word] = theta[word];
            out[WORDS + word] = (theta[word] - 2.0) * (theta[word] - 2.0);
        }
    });
    for word in 0..WORDS {
        assert_moment(&format!("E theta[{word}]"), &means[word], 2.0);
        assert_moment(&format!("Var theta[{word}]"), &means[WORDS + word], 2.0);
    }
}

/// The step of update i is `0.01 (1 + i / 1000)^-0.6`, whatever the size of the minibatch.
#[test]
fn steps_decay_as_documented() {
    let StepSize::Decay { start, delay, exponent } = Method::LDS.step else {
        panic!("LDS has its own steps")
    };
    assert_eq!((start, delay, exponent), (0.01, 1000.0, 0.6));
    assert!(matches!(Method::LDS.local, Local::Gibbs { .. }));
    for (update, batch) in [(1, 100), (1_000, 100), (1_000, 7), (50_000, 100)] {
        let clock = Step { update: update - 1, ..Step::default() };
        let expected = 0.01 * libm::pow(1.0 + update as f64 / 1000.0, -0.6);
        assert_eq!(Method::LDS.step.next(&clock, batch, BatchSize::of(100)).rho, expected);
    }
}
