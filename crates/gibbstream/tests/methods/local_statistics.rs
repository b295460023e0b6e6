//! Every way of sampling and of keeping samples has the exact expectation, and keeps as many as it says.

use super::*;
use crate::support::{assert_mean, copies, enumerate, reference, view_of};
use gibbstream::inference::chain::Move;
use gibbstream::inference::gibbs::{Gibbs, Statistic, Window};

/// 15 numbers for each of five samplers at |z| < 4.5 over 60 independent batches: a correct program fails with
/// probability 5e-4 before the seed is fixed.
#[test]
fn all_samplers_and_statistics_reach_the_exact_expectations() {
    let (topics, tokens) = reference();
    let exact = enumerate(&topics, &tokens);
    for (transition, statistic, sweeps) in [
        (Move::Gibbs, Statistic::InSweep, 40),
        (Move::Gibbs, Statistic::Counts, 40),
        (Move::MetropolisHastings, Statistic::RaoBlackwell, 60),
        (Move::MetropolisHastings, Statistic::Counts, 60),
    ] {
        let local = Gibbs { sweeps, window: Window::LastHalf, statistic, transition };
        let mut found = vec![Vec::new(); 15];
        for run in 0..60 {
            let batch = copies(&tokens, 200, run * 200);
            let fresh = expect(&local, &view_of(&topics, &batch), &batch, Seed(5));
            for k in 0..3 {
                (0..4).for_each(|w| found[k * 4 + w].push(fresh.counts[w * 3 + k]));
                found[12 + k].push(fresh.theta.log_theta[k]);
            }
        }
        for k in 0..3 {
            for w in 0..4 {
                let name = format!("{transition:?} {statistic:?} S1[{k},{w}]");
                assert_mean(&name, &found[k * 4 + w], exact.counts[k][w]);
            }
            assert_mean(&format!("{transition:?} {statistic:?} S2[{k}]"), &found[12 + k], exact.log_theta[k]);
        }
    }
}

#[test]
fn windows_keep_the_right_number_of_sweeps() {
    let (topics, tokens) = reference();
    let batch = copies(&tokens, 3, 0);
    let view = view_of(&topics, &batch);
    for sweeps in 1..30_usize {
        for (window, kept) in [
            (Window::LastQuarter, (sweeps / 4).max(1)),
            (Window::LastHalf, (sweeps / 2).max(1)),
            (Window::Last, 1),
        ] {
            let local = Gibbs { sweeps, window, statistic: Statistic::Counts, transition: Move::Gibbs };
            assert_eq!(LocalInference::<Lda>::first_kept(&local), sweeps - kept, "{window:?} of {sweeps}");
            // Counts are whole numbers of tokens in `kept` sweeps of three documents.
            let fresh = expect(&local, &view, &batch, Seed(6));
            let whole: Vec<f64> = fresh.counts.iter().map(|count| count * (3 * kept) as f64).collect();
            assert!(whole.iter().all(|count| (count - count.round()).abs() < 1e-9), "{window:?} of {sweeps}");
            assert!((whole.iter().sum::<f64>() - (15 * kept) as f64).abs() < 1e-9);
        }
    }
}
