//! Documents that meet topics which nobody knew: exact laws of what they draw.

use super::*;
use gibbstream::inference::chain::Chain;
use gibbstream::inference::predictive::PredictiveDocument;
use gibbstream::numerics::random::{Purpose, Stream};

fn stream(key: u64) -> Stream {
    Seed(4_242).stream(Purpose::Local, [key, 0])
}

/// With one word, nothing is known about topics: the number of topics among N tokens is that of dishes at a CRT of
/// tables at a CRT (10.8). Five cells, 40,000 documents: |z| < 4.5 each (false alarm 3.4e-5 before fixing the seed).
#[test]
fn topics_of_a_document_follow_the_franchise() {
    const DOCUMENTS: u64 = 40_000;
    let (b, c, tokens) = (1.7, 0.8, 12);
    let view = open_view(&[vec![]], &[], b, c);
    let (mut chain, mut cells) = (Chain::default(), [0_u32; 16]);
    for key in 0..DOCUMENTS {
        let mut random = stream(key);
        chain.reset(&view, std::iter::once(0));
        for _ in 0..tokens {
            chain.push(&view, 0, &mut random);
        }
        cells[chain.topic_counts().count()] += 1;
    }
    let exact = franchise(tokens, b, c);
    for (cell, golden) in [(1, 0.3495), (2, 0.4386), (3, 0.1766), (4, 0.0321), (5, 0.0031)] {
        assert!((exact[cell] - golden).abs() < 5e-5, "the oracle gives {} for {cell}", exact[cell]);
        let (p, n) = (exact[cell], DOCUMENTS as f64);
        let z = (f64::from(cells[cell]) - n * p) / (n * p * (1.0 - p)).sqrt();
        assert!(z.abs() < 4.5, "{cell} topics: {} of {n}, expected {}, z = {z}", cells[cell], n * p);
    }
}

/// The law of the number of tables among `customers`, by the recursion over customers.
fn tables(customers: usize, concentration: f64) -> Vec<f64> {
    let mut law = vec![0.0; customers + 1];
    law[0] = 1.0;
    for seated in 0..customers {
        let new = concentration / (concentration + seated as f64);
        for count in (0..=seated).rev() {
            law[count + 1] += law[count] * new;
            law[count] *= 1.0 - new;
        }
    }
    law
}

fn franchise(tokens: usize, b: f64, c: f64) -> Vec<f64> {
    let mut law = vec![0.0; tokens + 1];
    for (count, p) in tables(tokens, b).into_iter().enumerate() {
        for (dishes, q) in tables(count, c).into_iter().enumerate() {
            law[dishes] += p * q;
        }
    }
    law
}

/// Stirling numbers of the first kind give the same law of tables (science.md 4.3).
#[test]
fn tables_follow_stirling_numbers() {
    for (n, b) in [(1, 0.3), (5, 1.0), (9, 2.5), (12, 0.01)] {
        let mut stirling = vec![1.0];
        for j in 0..n {
            let mut next = vec![0.0; stirling.len() + 1];
            for (m, s) in stirling.iter().enumerate() {
                next[m + 1] += s;
                next[m] += j as f64 * s;
            }
            stirling = next;
        }
        let rising: f64 = (0..n).map(|j| b + j as f64).product();
        for (m, p) in tables(n, b).into_iter().enumerate() {
            let exact = stirling[m] * libm::pow(b, m as f64) / rising;
            assert!((p - exact).abs() < 1e-14, "n = {n}, b = {b}, m = {m}: {p} is not {exact}");
        }
    }
}

/// How the two tokens of a document can be placed: in the known topic, in one not met before, in one or two of those.
const PLACES: [&str; 5] = ["known known", "known new", "new known", "one new", "two new"];

fn place(topics: [u32; 2]) -> usize {
    match topics {
        [0, 0] => 0,
        [0, _] => 1,
        [_, 0] => 2,
        [a, b] if a == b => 3,
        _ => 4,
    }
}

fn check(found: &[u32; 5], exact: &[f64; 5], documents: f64, what: &str) {
    for ((found, p), place) in found.iter().zip(exact).zip(PLACES) {
        let z = (f64::from(*found) - documents * p) / (documents * p * (1.0 - p)).sqrt();
        assert!(
            z.abs() < 4.5,
            "{what}, {place}: {found} of {documents}, expected {}, z = {z}",
            documents * p
        );
    }
}

/// Two tokens, one known topic: all five placements have known probabilities. Words of unmet topics are uniform, so
/// the normaliser does not depend on the sticks, and the mean over sticks only needs E[sum of squares] = 1 / (1 + c).
/// Two documents, five cells each: |z| < 4.5 (false alarm 7e-5 before fixing the seed).
#[test]
fn placements_of_two_tokens() {
    const DOCUMENTS: u64 = 30_000;
    let (b_known, b_unmet, c) = (0.6, 0.9, 1.5);
    let beta = [0.8, 0.15, 0.05];
    let phi: Vec<Vec<f64>> = beta.iter().map(|&p| vec![p]).collect();
    let view = open_view(&phi, &[b_known], b_unmet, c);
    let uniform = 1.0 / 3.0;
    for words in [[1_u32, 2], [2, 2]] {
        let [x, y] = words.map(|word| beta[word as usize]);
        let squares = b_unmet * b_unmet / (1.0 + c);
        let weights = [
            b_known * (b_known + 1.0) * x * y,
            b_known * x * b_unmet * uniform,
            b_unmet * uniform * b_known * y,
            (b_unmet + squares) * uniform * uniform,
            (b_unmet * b_unmet - squares) * uniform * uniform,
        ];
        let exact = weights.map(|weight| weight / weights.iter().sum::<f64>());
        let (mut chain, mut cells) = (Chain::default(), [0_u32; 5]);
        for key in 0..DOCUMENTS {
            let mut random = stream(key);
            chain.reset(&view, words.iter().copied());
            chain.load(&view, [(0, 0), (1, 0)].into_iter());
            for _ in 0..25 {
                chain.sweep(&view, &mut random);
            }
            let mut topics: Vec<(u32, u32)> = chain.tokens().collect();
            topics.sort_unstable();
            cells[place([topics[0].1, topics[1].1])] += 1;
        }
        check(&cells, &exact, DOCUMENTS as f64, &format!("words {words:?}"));
    }
}

/// The same for sampling that counts the document's own tokens. Its normaliser depends on the sticks, so the oracle
/// averages the exact probabilities over 200,000 sets of sticks (standard error below 1e-4 of a probability).
#[test]
fn placements_of_two_tokens_with_predictive_weights() {
    const DOCUMENTS: u64 = 30_000;
    const SETS: usize = 200_000;
    let (b_known, b_unmet, c, eta, strength) = (0.6, 0.9, 1.5, 0.2, 2.5);
    let beta = [0.8, 0.15, 0.05];
    let phi: Vec<Vec<f64>> = beta.iter().map(|&p| vec![p]).collect();
    let mut view = open_view(&phi, &[b_known], b_unmet, c);
    view.set_strengths(vec![strength, 3.0 * eta]);
    for words in [[1_u32, 2], [2, 2]] {
        let same = f64::from(u8::from(words[0] == words[1]));
        let [x, y] = words.map(|word| beta[word as usize]);
        let known_again = (same + strength * y) / (1.0 + strength);
        let (uniform, again) = (1.0 / 3.0, (eta + same) / (3.0 * eta + 1.0));
        let (mut exact, mut random) = ([0.0; 5], stream(u64::MAX));
        for _ in 0..SETS {
            let (mut left, mut squares) = (1.0, 0.0);
            while left > 1e-6 {
                let stick = left * (1.0 - libm::pow(random.uniform_positive(), 1.0 / c));
                squares += stick * stick * b_unmet * b_unmet;
                left -= stick;
            }
            let weights = [
                b_known * (b_known + 1.0) * x * known_again,
                b_known * x * b_unmet * uniform,
                b_unmet * uniform * b_known * y,
                (b_unmet + squares) * uniform * again,
                (b_unmet * b_unmet - squares) * uniform * uniform,
            ];
            let all: f64 = weights.iter().sum();
            exact.iter_mut().zip(weights).for_each(|(sum, weight)| *sum += weight / all / SETS as f64);
        }
        let batch = Minibatch::new(&[super::document(&[0, 1, 2])], 0, 0);
        let entries: Vec<_> = words.iter().map(|&word| batch.document(0)[word as usize]).collect();
        let (mut document, mut cells) = (PredictiveDocument::default(), [0_u32; 5]);
        for key in 0..DOCUMENTS {
            // Equal words are one row, as in a corpus.
            let rows = if words[0] == words[1] { [0, 0] } else { [0, 1] };
            let entries = &entries[..=rows[1] as usize];
            document.start(entries, rows.iter().map(|&row| (row, 0)), stream(key));
            for _ in 0..25 {
                document.sweep(&view);
            }
            let mut topics: Vec<(u32, u32)> = document.tokens().collect();
            topics.sort_unstable_by_key(|&(row, _)| row);
            cells[place([topics[0].1, topics[1].1])] += 1;
        }
        check(&cells, &exact, DOCUMENTS as f64, &format!("words {words:?}"));
    }
}

/// Drawing topics and words from the model, then topics anew given the words, must leave the law of topics alone
/// (after Geweke). Two known topics and any number of others; means of six functions, |z| < 4.5 on paired differences
/// over 20,000 documents (false alarm 4e-5 before fixing the seed).
#[test]
fn sampling_leaves_the_joint_law_alone() {
    const DOCUMENTS: u64 = 20_000;
    let beta = [[0.7, 0.1, 0.1, 0.1], [0.05, 0.05, 0.2, 0.7]];
    let (alpha, unmet, c, tokens) = ([0.5, 0.3], 0.7, 2.0, 8);
    let phi: Vec<Vec<f64>> = (0..4).map(|word| beta.iter().map(|row| row[word]).collect()).collect();
    let view = open_view(&phi, &alpha, unmet, c);
    // A word that says nothing leaves topics to the prior.
    let silent = open_view(&[vec![1.0, 1.0]], &alpha, unmet, c);
    let functions = |chain: &Chain| {
        let sizes: Vec<(u32, f64)> = chain.topic_counts().collect();
        let of = |topic| sizes.iter().find(|&&(other, _)| other == topic).map_or(0.0, |&(_, size)| size);
        let new = sizes.iter().filter(|&&(topic, _)| topic >= 2).count() as f64;
        let largest =
            sizes.iter().filter(|&&(topic, _)| topic >= 2).map(|&(_, size)| size).fold(0.0, f64::max);
        [of(0), of(0) * of(0), of(1), of(1) * of(1), new, largest]
    };
    let (mut sums, mut squares) = ([0.0; 6], [0.0; 6]);
    let (mut prior, mut posterior) = (Chain::default(), Chain::default());
    for key in 0..DOCUMENTS {
        let mut random = stream(key);
        prior.reset(&silent, std::iter::once(0));
        for _ in 0..tokens {
            prior.push(&silent, 0, &mut random);
        }
        let words: Vec<u32> = prior
            .tokens()
            .map(|(_, topic)| match beta.get(topic as usize) {
                Some(row) => random.categorical(row) as u32,
                None => random.below(4) as u32,
            })
            .collect();
        posterior.reset(&view, 0..4);
        posterior.load(&view, words.iter().map(|&word| (word, 0)));
        for _ in 0..40 {
            posterior.sweep(&view, &mut random);
        }
        for (i, (a, b)) in functions(&prior).into_iter().zip(functions(&posterior)).enumerate() {
            sums[i] += a - b;
            squares[i] += (a - b) * (a - b);
        }
    }
    for (i, (sum, square)) in sums.into_iter().zip(squares).enumerate() {
        let n = DOCUMENTS as f64;
        let (mean, spread) = (sum / n, (square / n - (sum / n) * (sum / n)).sqrt());
        let z = mean / (spread / n.sqrt());
        assert!(z.abs() < 4.5, "function {i}: difference {mean}, z = {z}");
    }
}
