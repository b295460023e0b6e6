//! Collapsed Gibbs sampling of a corpus against the sum over all assignments of topics to its tokens.

use super::*;
use crate::support::{assert_mean, topics, view_of};
use gibbstream::inference::collapsed::CollapsedGibbs;
use gibbstream::inference::gibbs::Window;
use gibbstream::numerics::math::{digamma, ln_gamma};

const PRIOR: f64 = 0.4;
const ALPHA: [f64; 2] = [0.9, 0.3];
const WORDS: usize = 3;

/// Expected counts `[word][topic]` and `E[digamma(alpha_k + n_k) - digamma(A + n)]`, both means over documents,
/// under the posterior of the topics of all tokens.
fn enumerate_corpus(documents: &[Vec<u32>]) -> ([[f64; 2]; WORDS], [f64; 2]) {
    let tokens: Vec<(usize, usize)> = documents
        .iter()
        .enumerate()
        .flat_map(|(d, words)| words.iter().map(move |&w| (d, w as usize)))
        .collect();
    let (mut sum, mut counts, mut log_theta) = (0.0, [[0.0; 2]; WORDS], [0.0; 2]);
    for code in 0..1_u32 << tokens.len() {
        let mut of_document = vec![[0.0; 2]; documents.len()];
        let mut of_word = [[0.0; 2]; WORDS];
        for (n, &(document, word)) in tokens.iter().enumerate() {
            let k = (code >> n & 1) as usize;
            of_document[document][k] += 1.0;
            of_word[word][k] += 1.0;
        }
        let mut log_weight = 0.0;
        for k in 0..2 {
            log_weight += of_document.iter().map(|counts| ln_gamma(ALPHA[k] + counts[k])).sum::<f64>();
            log_weight += of_word.iter().map(|counts| ln_gamma(PRIOR + counts[k])).sum::<f64>();
            log_weight -=
                ln_gamma(PRIOR * WORDS as f64 + of_word.iter().map(|counts| counts[k]).sum::<f64>());
        }
        let weight = libm::exp(log_weight);
        sum += weight;
        for k in 0..2 {
            (0..WORDS).for_each(|w| counts[w][k] += weight * of_word[w][k]);
            for (document, words) in of_document.iter().zip(documents) {
                let total = digamma(ALPHA.iter().sum::<f64>() + words.len() as f64);
                log_theta[k] += weight * (digamma(ALPHA[k] + document[k]) - total);
            }
        }
    }
    let share = sum * documents.len() as f64;
    (counts.map(|row| row.map(|value| value / share)), log_theta.map(|value| value / share))
}

/// Eight numbers at |z| < 4.5 over 60 independent chains.
#[test]
fn reaches_the_exact_posterior_of_a_tiny_corpus() {
    let documents = [vec![0, 0, 1], vec![1, 2, 2, 2], vec![0, 2], vec![]];
    let (counts, log_theta) = enumerate_corpus(&documents);
    let bags: Vec<Document> = documents.iter().map(|tokens| Document::from_tokens(tokens)).collect();
    let batch = Minibatch::new(&bags, 0, 0);
    let view = view_of(&topics(&[vec![0.5, 0.3, 0.2], vec![0.1, 0.3, 0.6]], &ALPHA), &batch);
    let local = CollapsedGibbs { sweeps: 4_000, window: Window::LastHalf, prior: PRIOR, vocabulary: WORDS };
    let mut found = vec![Vec::new(); 8];
    for seed in 0..60 {
        let fresh = expect(&local, &view, &batch, Seed(seed));
        (0..6).for_each(|i| found[i].push(fresh.counts[i]));
        (0..2).for_each(|k| found[6 + k].push(fresh.theta.log_theta[k]));
        assert!((fresh.totals.iter().sum::<f64>() - 9.0 / 4.0).abs() < 1e-9);
    }
    for i in 0..6 {
        assert_mean(&format!("count {i}"), &found[i], counts[i / 2][i % 2]);
    }
    for k in 0..2 {
        assert_mean(&format!("log theta {k}"), &found[6 + k], log_theta[k]);
    }
}

/// Every pass reports `(N_kw + b) / (N_k + V b)`, also over a corpus smaller than a usual minibatch.
#[test]
fn reports_the_smoothed_counts_of_its_samples() {
    let documents = grouped(20, 3, 12, 10, 91);
    let mut trainer = Trainer::new(settings(Method::BATCH_GIBBS, 3, 12, 100), 2).unwrap();
    for pass in 0..3 {
        let step = trainer.partial_fit(&Minibatch::new(&documents, 0, pass)).unwrap();
        assert_eq!(step.rho, 1.0);
        let counts = dense(&learnt(&trainer).state.counts);
        let total = |k: usize| counts.iter().skip(k).step_by(3).sum::<f64>() * 20.0;
        let expected: Vec<f64> = counts
            .iter()
            .enumerate()
            .map(|(i, s)| (20.0 * s + 0.01) / (total(i % 3) + 12.0 * 0.01))
            .collect();
        assert_close("beta", &trainer.topics().unwrap().beta, &expected, 1e-12);
    }
}
