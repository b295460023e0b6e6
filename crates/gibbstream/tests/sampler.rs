//! The local Gibbs sampler against exact enumeration, golden numbers and its dense twin.
#![allow(missing_docs)]

mod support;

use gibbstream::corpus::{Document, Minibatch};
use gibbstream::inference::chain::Chain;
use gibbstream::inference::document_stats::DocumentStats;
use gibbstream::inference::gibbs::{DocumentTopics, Gibbs};
use gibbstream::inference::mixtures::MixtureInference;
use gibbstream::inference::{LocalInference, Passes};
use gibbstream::model::topics::lda::{Lda, Topics};
use gibbstream::model::topics::statistics::TopicStatistics;
use gibbstream::model::topics::view::TopicView;
use gibbstream::numerics::random::{Purpose, Seed, Stream};
use proptest::prelude::*;
use support::*;

fn stream(key: u64) -> Stream {
    Seed(20_171).stream(Purpose::Local, [key, 0])
}

/// Expected statistics of a minibatch by the production sampler.
fn gibbs(sweeps: usize, view: &TopicView, batch: &Minibatch, seed: u64) -> Expected {
    let gibbs = Gibbs::new(sweeps);
    let (mut chain, mut latents) = (Chain::default(), Vec::new());
    for index in 0..batch.len() {
        let mut latent = DocumentTopics::default();
        let random = Seed(seed).stream(Purpose::Local, [batch.pass(), batch.first() + index as u64]);
        LocalInference::<Lda>::begin(&gibbs, view, batch, index, &mut latent, random);
        let kept = LocalInference::<Lda>::first_kept(&gibbs);
        LocalInference::<Lda>::advance(
            &gibbs,
            view,
            batch,
            index,
            &mut latent,
            &mut chain,
            Passes { range: 0..sweeps, keep_from: kept },
        );
        latents.push(latent);
    }
    let mut out = TopicStatistics::default();
    LocalInference::<Lda>::collect(&gibbs, view, batch, &mut latents, &mut out);
    Expected::of(view, &out)
}

fn chain_with(view: &TopicView, batch: &Minibatch, z: &[u32]) -> Chain {
    let mut chain = Chain::default();
    chain.reset(view, batch.document(0).iter().map(|entry| entry.word));
    let rows = batch.document(0).iter().enumerate();
    let rows = rows.flat_map(|(row, entry)| std::iter::repeat_n(row as u32, entry.count as usize));
    chain.load(view, rows.zip(z.iter().copied()));
    chain
}

#[test]
fn enumeration_gives_the_golden_numbers() {
    let (topics, tokens) = reference();
    let exact = enumerate(&topics, &tokens);
    let close = |found: f64, expected: f64| assert!((found - expected).abs() < 1e-10, "{found} {expected}");
    close(exact.log_likelihood, -7.476_108_264_1);
    let counts = [
        [1.261_688_563_9, 0.492_568_451_3, 0.268_221_484_0, 0.364_419_004_6],
        [0.279_125_375_4, 0.209_865_738_7, 0.643_373_290_4, 0.232_132_695_1],
        [0.459_186_060_8, 0.297_565_810_0, 0.088_405_225_6, 0.403_448_300_2],
    ];
    for (found, expected) in exact.counts.iter().flatten().zip(counts.iter().flatten()) {
        close(*found, *expected);
    }
    for (found, expected) in
        exact.log_theta.iter().zip([-1.754_501_464_6, -1.906_003_423_9, -4.004_880_307_4])
    {
        close(*found, expected);
    }
}

/// Statistics are sums over weights in single precision: each is off by a few parts in ten million.
const ROUNDING: f64 = 1e-6;

/// Expected count of the word in `row` in topic `k`.
fn expected_count(view: &TopicView, stats: &DocumentStats, row: usize, k: usize) -> f64 {
    let present = stats.counts(row).find(|&(topic, _)| topic as usize == k).map_or(0.0, |(_, count)| count);
    let word = row as u32;
    let share =
        view.alpha()[k] * f64::from(view.relative(word, k)) / (view.prior_mass(word) * view.scale(word));
    f64::from(present) + stats.prior(row) * share
}

/// What a chain has kept of its only document.
fn stats_of(chain: &mut Chain, view: &TopicView, batch: &Minibatch) -> DocumentStats {
    let mut stats = DocumentStats::default();
    chain.take_stats(view, batch.document(0), &mut stats);
    stats
}

/// Equation (10): the statistics of one given state.
#[test]
fn kept_statistics_of_a_given_state_are_golden() {
    let (topics, tokens) = reference();
    let batch = copies(&tokens, 1, 0);
    let view = sampling_view_of(&topics, &batch);
    // The words in order are 0, 0, 1, 2, 3; the golden state has topics 0, 2 on word 0, 1 on word 2, 2 on word 3
    // and 0 on word 1.
    let mut chain = chain_with(&view, &batch, &[0, 2, 0, 1, 2]);
    chain.keep(&view);
    let stats = stats_of(&mut chain, &view, &batch);
    let golden = [
        [1.281_125_387_7, 0.183_318_564_5, 0.535_556_047_9],
        [0.270_833_333_3, 0.156_250_000_0, 0.572_916_666_7],
        [0.333_333_333_3, 0.507_246_376_8, 0.159_420_289_9],
        [0.250_000_000_0, 0.163_043_478_3, 0.586_956_521_7],
    ];
    for (word, expected) in golden.iter().enumerate() {
        for (k, expected) in expected.iter().enumerate() {
            let found = expected_count(&view, &stats, word, k);
            assert!((found - expected).abs() < ROUNDING, "word {word}: {found} is not {expected}");
        }
    }
    assert_eq!(stats.sizes().iter().map(|&(_, size)| size).sum::<u32>(), 5);
}

/// The expected tokens of every topic are the kept statistics summed over words, however many blocks of topics a document
/// uses: sums by topic against their slow twin, over two states.
#[test]
fn expected_tokens_are_the_kept_statistics_summed() {
    for count in [3_u32, 16, 17, 40, 100] {
        let topics = random_topics(count as usize, 30, &mut stream(1));
        let tokens: Vec<u32> = (0..200).map(|n| n * n % 30).collect();
        let batch = copies(&tokens, 1, 0);
        let view = sampling_view_of(&topics, &batch);
        let z: Vec<u32> = (0..200).map(|n| 7 * n % count).collect();
        let (mut chain, mut random) = (chain_with(&view, &batch, &z), stream(2));
        let (mut fast, mut slow) = (vec![0.0; count as usize], vec![0.0; count as usize]);
        for _ in 0..2 {
            chain.sweep(&view, &mut random);
            chain.add_expected_counts(&view, &mut fast);
            let mut twin = chain.clone();
            twin.keep(&view);
            let stats = stats_of(&mut twin, &view, &batch);
            for (k, sum) in slow.iter_mut().enumerate() {
                let rows = 0..batch.document(0).len();
                *sum += rows.map(|row| expected_count(&view, &stats, row, k)).sum::<f64>();
            }
            chain.compact();
        }
        chain.add_prior_counts(&view, &mut fast);
        for (k, (fast, slow)) in fast.iter().zip(&slow).enumerate() {
            assert!((fast - slow).abs() < 400.0 * ROUNDING, "topic {k} of {count}: {fast} is not {slow}");
        }
        assert!((fast.iter().sum::<f64>() - 400.0).abs() < 400.0 * ROUNDING);
    }
}

/// A token whose own topic holds nearly all the mass: the normaliser must not lose its digits.
#[test]
fn kept_statistics_survive_cancellation() {
    let topics = topics(&[vec![1.0 - 1e-13, 1e-13], vec![1e-13, 1.0 - 1e-13]], &[1e-4, 1e-4]);
    let batch = copies(&[0, 1], 1, 0);
    let view = sampling_view_of(&topics, &batch);
    let mut chain = chain_with(&view, &batch, &[0, 1]);
    chain.keep(&view);
    let stats = stats_of(&mut chain, &view, &batch);
    let dense = Dense { topics: &topics, tokens: vec![0, 1], z: vec![0, 1], sizes: vec![1.0, 1.0] };
    for word in 0..2_u32 {
        for (k, expected) in dense.conditional(word as usize).into_iter().enumerate() {
            let found = expected_count(&view, &stats, word as usize, k);
            assert!((found - expected).abs() < ROUNDING, "word {word} topic {k}: {found} is not {expected}");
        }
    }
}

/// Production sampler and dense twin both reach the exact expectations of the reference document:
/// 15 numbers each, |z| < 4.5 over 60 independent batches (false alarm below 2.1e-4 before fixing the seed).
#[test]
fn expectations_of_the_reference_document() {
    let (topics, tokens) = reference();
    let exact = enumerate(&topics, &tokens);
    let (batches, documents, sweeps) = (60, 300, 40);
    let mut fast = vec![Vec::new(); 15];
    let mut dense = vec![Vec::new(); 15];
    for run in 0..batches {
        let batch = copies(&tokens, documents, run * documents as u64);
        let found = gibbs(sweeps, &sampling_view_of(&topics, &batch), &batch, 7);
        for k in 0..3 {
            (0..4).for_each(|w| fast[k * 4 + w].push(found.counts[w * 3 + k]));
            fast[12 + k].push(found.theta.log_theta[k]);
        }
        let mut random = stream(1000 + run);
        let (mut counts, mut log_theta) = (vec![vec![0.0; 4]; 3], vec![0.0; 3]);
        for _ in 0..documents {
            let mut twin = Dense::start(&topics, &tokens, &mut random);
            (0..sweeps - 10).for_each(|_| twin.sweep(&mut random));
            for _ in 0..10 {
                twin.sweep(&mut random);
                twin.keep(&mut counts, &mut log_theta);
            }
        }
        let terms = 10.0 * documents as f64;
        for k in 0..3 {
            (0..4).for_each(|w| dense[k * 4 + w].push(counts[k][w] / terms));
            dense[12 + k].push(log_theta[k] / terms);
        }
    }
    for k in 0..3 {
        for w in 0..4 {
            assert_mean(&format!("S1[{k},{w}]"), &fast[k * 4 + w], exact.counts[k][w]);
            assert_mean(&format!("dense S1[{k},{w}]"), &dense[k * 4 + w], exact.counts[k][w]);
        }
        assert_mean(&format!("S2[{k}]"), &fast[12 + k], exact.log_theta[k]);
        assert_mean(&format!("dense S2[{k}]"), &dense[12 + k], exact.log_theta[k]);
    }
}

/// One draw of one token against equation (7): a million draws each, chi-square at the 1e-6 level, for few and
/// many topics, words with mass ratios of 1e-12, and one topic.
#[test]
fn single_draws_follow_the_conditional() {
    let mut random = stream(1);
    let mut cases: Vec<(Topics, Vec<u32>)> = vec![reference()];
    for count in [1, 2, 9, 40, 100] {
        let tokens: Vec<u32> = (0..30).map(|_| random.below(12) as u32).collect();
        cases.push((random_topics(count, 12, &mut random), tokens));
    }
    // So many topics in one document that their counts no longer fit into registers.
    let tokens: Vec<u32> = (0..700).map(|_| random.below(12) as u32).collect();
    cases.push((random_topics(400, 12, &mut random), tokens));
    let extreme =
        topics(&[vec![1.0 - 1e-12, 1e-12], vec![1e-12, 1.0 - 1e-12], vec![0.5, 0.5]], &[1e-3, 0.2, 0.1]);
    cases.push((extreme, vec![0, 0, 1, 1, 1, 0]));
    for (topics, mut tokens) in cases {
        tokens.sort_unstable();
        let batch = copies(&tokens, 1, 0);
        let view = sampling_view_of(&topics, &batch);
        let z: Vec<u32> = tokens.iter().map(|&word| random.categorical(topics.row(word)) as u32).collect();
        let mut sizes = vec![0.0; topics.topics()];
        z.iter().for_each(|&z| sizes[z as usize] += 1.0);
        let twin = Dense {
            topics: &topics,
            tokens: tokens.clone(),
            z: z.iter().map(|&z| z as usize).collect(),
            sizes,
        };
        let place = tokens.len() / 2;
        let mut chain = chain_with(&view, &batch, &z);
        let mut counts = vec![0.0; topics.topics()];
        for _ in 0..1_000_000 {
            chain.resample(&view, place..place + 1, &mut random);
            counts[chain.tokens().nth(place).unwrap().1 as usize] += 1.0;
        }
        let (statistic, freedom) = chi_square(&counts, &twin.conditional(place));
        assert!(statistic < chi_square_limit(freedom), "K = {}: {statistic} on {freedom}", topics.topics());
    }
}

/// Two draws in a row: the second must know the outcome of the first, whose sums were computed before it was known.
/// 300,000 pairs for each number of blocks of topics, chi-square at the 1e-6 level.
#[test]
fn pairs_of_draws_follow_the_chain_rule() {
    let mut random = stream(11);
    for (count, length) in [(2, 6), (5, 12), (40, 90), (100, 200), (400, 900)] {
        let topics = random_topics(count, 6, &mut random);
        let mut tokens: Vec<u32> = (0..length).map(|_| random.below(6) as u32).collect();
        tokens.sort_unstable();
        let batch = copies(&tokens, 1, 0);
        let view = sampling_view_of(&topics, &batch);
        let z: Vec<u32> = tokens.iter().map(|&word| random.categorical(topics.row(word)) as u32).collect();
        let mut sizes = vec![0.0; count];
        z.iter().for_each(|&z| sizes[z as usize] += 1.0);
        let z: Vec<usize> = z.iter().map(|&z| z as usize).collect();
        let mut twin = Dense { topics: &topics, tokens, z, sizes };
        let first = twin.conditional(0);
        let mut joint = Vec::new();
        for (k, share) in first.iter().enumerate() {
            let old = std::mem::replace(&mut twin.z[0], k);
            twin.sizes[old] -= 1.0;
            twin.sizes[k] += 1.0;
            joint.extend(twin.conditional(1).iter().map(|next| share * next));
        }
        let z: Vec<u32> = twin.z.iter().map(|&z| z as u32).collect();
        let start = chain_with(&view, &batch, &z);
        let mut chain = start.clone();
        let mut counts = vec![0.0; count * count];
        for _ in 0..300_000 {
            chain.copy_from(&start);
            chain.resample(&view, 0..2, &mut random);
            let topics: Vec<u32> = chain.tokens().take(2).map(|(_, topic)| topic).collect();
            counts[topics[0] as usize * count + topics[1] as usize] += 1.0;
        }
        let (statistic, freedom) = chi_square(&counts, &joint);
        assert!(statistic < chi_square_limit(freedom), "K = {count}: {statistic} on {freedom}");
    }
}

/// The start of a document follows the normalised weights of each word.
#[test]
fn starting_topics_follow_the_weights() {
    let mut random = stream(2);
    let topics = random_topics(70, 5, &mut random);
    let batch = copies(&[0, 1, 2, 3, 4], 1, 0);
    let view = sampling_view_of(&topics, &batch);
    for word in 0..5 {
        let mut counts = vec![0.0; 70];
        for _ in 0..200_000 {
            counts[view.find_in_weights(word, random.uniform())] += 1.0;
        }
        let total: f64 = topics.row(word).iter().sum();
        let probabilities: Vec<f64> = topics.row(word).iter().map(|weight| weight / total).collect();
        let (statistic, freedom) = chi_square(&counts, &probabilities);
        assert!(statistic < chi_square_limit(freedom), "word {word}: {statistic} on {freedom}");
    }
}

/// Geweke's test: alternating "words given topics" and "topics given words" must leave the joint law of the
/// model alone. Moments of both ways of sampling agree: 13 numbers at |z| < 4.5.
#[test]
fn geweke_joint_distribution() {
    let (topics, _) = reference();
    let length = 6;
    let (batches, per_batch) = (60, 2_000);
    let mut forward = vec![Vec::new(); 18];
    let mut alternating = vec![Vec::new(); 18];
    let mut random = stream(3);
    for _ in 0..batches {
        let mut sums = [vec![0.0; 18], vec![0.0; 18]];
        for _ in 0..per_batch {
            let (mut tokens, mut z) = draw_document(&topics, length, &mut random);
            add_moments(&tokens, &z, &mut sums[0]);
            for _ in 0..4 {
                (tokens, z) = gibbs_step(&topics, &tokens, &z, &mut random);
                for (token, &topic) in tokens.iter_mut().zip(&z) {
                    let row: Vec<f64> = (0..4).map(|w| topics.row(w)[topic as usize]).collect();
                    *token = random.categorical(&row) as u32;
                }
            }
            add_moments(&tokens, &z, &mut sums[1]);
        }
        for moment in 0..18 {
            forward[moment].push(sums[0][moment] / f64::from(per_batch));
            alternating[moment].push(sums[1][moment] / f64::from(per_batch));
        }
    }
    for moment in 0..18 {
        let differences: Vec<f64> =
            forward[moment].iter().zip(&alternating[moment]).map(|(a, b)| a - b).collect();
        assert_mean(&format!("moment {moment}"), &differences, 0.0);
    }
}

fn draw_document(topics: &Topics, length: usize, random: &mut Stream) -> (Vec<u32>, Vec<u32>) {
    let mut theta = vec![0.0; topics.topics()];
    random.dirichlet(&topics.alpha, &mut theta);
    let z: Vec<u32> = (0..length).map(|_| random.categorical(&theta) as u32).collect();
    let tokens = z
        .iter()
        .map(|&k| {
            let row: Vec<f64> = (0..topics.vocabulary() as u32).map(|w| topics.row(w)[k as usize]).collect();
            random.categorical(&row) as u32
        })
        .collect();
    (tokens, z)
}

/// N_k, N_k^2 and the counts of (topic, word).
fn add_moments(tokens: &[u32], z: &[u32], sums: &mut [f64]) {
    for k in 0..3 {
        let size = z.iter().filter(|&&z| z as usize == k).count() as f64;
        sums[k] += size;
        sums[3 + k] += size * size;
    }
    for (&token, &z) in tokens.iter().zip(z) {
        sums[6 + z as usize * 4 + token as usize] += 1.0;
    }
}

/// One sweep of the production chain, started in the given state.
fn gibbs_step(topics: &Topics, tokens: &[u32], z: &[u32], random: &mut Stream) -> (Vec<u32>, Vec<u32>) {
    let mut pairs: Vec<(u32, u32)> = tokens.iter().copied().zip(z.iter().copied()).collect();
    pairs.sort_unstable_by_key(|&(token, _)| token);
    let batch = copies(tokens, 1, 0);
    let view = sampling_view_of(topics, &batch);
    let z: Vec<u32> = pairs.iter().map(|&(_, z)| z).collect();
    let mut chain = chain_with(&view, &batch, &z);
    chain.sweep(&view, random);
    let words: Vec<u32> = batch.document(0).iter().map(|entry| batch.words()[entry.word as usize]).collect();
    chain.tokens().map(|(row, topic)| (words[row as usize], topic)).unzip()
}

/// Simulation-based calibration: the rank of the true number of tokens in topic 0 among thinned posterior draws
/// is uniform. 3000 replications, 20 ranks, chi-square at the 1e-6 level.
#[test]
fn simulation_based_calibration() {
    let mut random = stream(4);
    let topics = random_topics(12, 20, &mut random);
    let draws = 19;
    let mut ranks = vec![0.0; draws + 1];
    for _ in 0..3_000 {
        let (tokens, z) = draw_document(&topics, 25, &mut random);
        let truth = z.iter().filter(|&&z| z == 0).count() as f64;
        let batch = copies(&tokens, 1, 0);
        let view = sampling_view_of(&topics, &batch);
        let mut start = tokens.clone();
        start.sort_unstable();
        let start: Vec<u32> = start.iter().map(|&word| random.categorical(topics.row(word)) as u32).collect();
        let mut chain = chain_with(&view, &batch, &start);
        (0..60).for_each(|_| chain.sweep(&view, &mut random));
        let (mut below, mut ties) = (0, 0);
        for _ in 0..draws {
            (0..15).for_each(|_| chain.sweep(&view, &mut random));
            chain.compact();
            let size = chain.topic_counts().find(|&(topic, _)| topic == 0).map_or(0.0, |(_, size)| size);
            below += usize::from(size < truth);
            ties += usize::from(size == truth);
        }
        ranks[below + random.below(ties + 1)] += 1.0;
    }
    let uniform = vec![1.0 / ranks.len() as f64; ranks.len()];
    let (statistic, freedom) = chi_square(&ranks, &uniform);
    assert!(statistic < chi_square_limit(freedom), "{statistic} on {freedom}: {ranks:?}");
}

#[test]
fn one_token_has_the_exact_posterior_at_every_sweep() {
    let (topics, _) = reference();
    let batch = copies(&[2], 1, 0);
    for sweeps in 1..5 {
        let found = gibbs(sweeps, &sampling_view_of(&topics, &batch), &batch, 1);
        let weights: Vec<f64> = (0..3).map(|k| topics.alpha[k] * topics.row(2)[k]).collect();
        let sum: f64 = weights.iter().sum();
        for k in 0..3 {
            assert!((found.counts[k] - weights[k] / sum).abs() < ROUNDING);
        }
    }
}

/// Topic mixtures of new documents: the posterior mean of theta against enumeration, and its second moment against
/// the closed form of a one-token document. 400 seeds, 6 numbers at |z| < 4.5.
#[test]
fn mixtures_have_the_exact_posterior_moments() {
    let (topics, tokens) = reference();
    let exact = enumerate(&topics, &tokens);
    let total: f64 = topics.alpha.iter().sum();
    let weights: Vec<f64> = (0..3).map(|k| topics.alpha[k] * topics.row(2)[k]).collect();
    let (mut means, mut squares) = (vec![Vec::new(); 3], vec![Vec::new(); 3]);
    for seed in 0..400 {
        let inference = MixtureInference { sweeps: 60, seed: Seed(seed), details: true };
        let mixture = &inference.infer(&topics, &copies(&tokens, 1, 0))[0];
        assert!((mixture.theta.iter().sum::<f64>() - 1.0).abs() < 1e-12);
        let one = &inference.infer(&topics, &copies(&[2], 1, 0))[0];
        for k in 0..3 {
            means[k].push(mixture.theta[k]);
            squares[k].push(one.theta[k] * one.theta[k] + one.spread[k] * one.spread[k]);
        }
    }
    for k in 0..3 {
        let alpha = topics.alpha[k];
        let expected = (alpha + exact.counts[k].iter().sum::<f64>()) / (total + tokens.len() as f64);
        assert_mean(&format!("theta {k}"), &means[k], expected);
        let chosen = weights[k] / weights.iter().sum::<f64>();
        let square = chosen * (alpha + 1.0) * (alpha + 2.0) + (1.0 - chosen) * alpha * (alpha + 1.0);
        assert_mean(&format!("theta^2 {k}"), &squares[k], square / ((total + 1.0) * (total + 2.0)));
    }
}

#[test]
fn one_topic_counts_words() {
    let topics = topics(&[vec![0.5, 0.3, 0.2]], &[0.7]);
    let batch = copies(&[0, 0, 2], 4, 0);
    let found = gibbs(3, &sampling_view_of(&topics, &batch), &batch, 1);
    assert!((found.counts[0] - 2.0).abs() < ROUNDING && (found.counts[1] - 1.0).abs() < ROUNDING);
    assert!(found.theta.log_theta[0].abs() < 1e-14);
}

#[test]
fn disjoint_topics_are_known() {
    let topics = topics(&[vec![0.5, 0.5, 0.0, 0.0], vec![0.0, 0.0, 0.5, 0.5]], &[0.2, 0.4]);
    let batch = copies(&[0, 1, 1, 3], 2, 0);
    let found = gibbs(4, &sampling_view_of(&topics, &batch), &batch, 1);
    // Words 0, 1 and 3 are rows 0, 1, 2.
    for (found, expected) in found.counts.iter().zip([1.0, 0.0, 2.0, 0.0, 0.0, 1.0]) {
        assert!((found - expected).abs() < ROUNDING, "{found} is not {expected}");
    }
}

/// Topics that cannot be told apart leave the prior: E[log theta] is that of alpha (30 batches, |z| < 4.5).
#[test]
fn equal_topics_leave_the_prior() {
    let row = vec![0.4, 0.6];
    let alpha = [0.3, 0.9, 0.5];
    let topics = topics(&[row.clone(), row.clone(), row], &alpha);
    let mut found = vec![Vec::new(); 3];
    for run in 0..30 {
        let batch = copies(&[0, 1, 1, 0, 1, 1], 400, run * 400);
        let statistics = gibbs(30, &sampling_view_of(&topics, &batch), &batch, 3);
        (0..3).for_each(|k| found[k].push(statistics.theta.log_theta[k]));
    }
    for (k, expected) in gibbstream::model::topics::alpha::mean_log_theta(&alpha).into_iter().enumerate() {
        assert_mean(&format!("log theta {k}"), &found[k], expected);
    }
}

/// A word that no topic has seen says nothing about topics, and is counted.
#[test]
fn unseen_word_is_ignored_and_counted() {
    let topics = topics(&[vec![1.0, 0.0], vec![1.0, 0.0]], &[0.5, 0.5]);
    let batch = copies(&[0, 1], 3, 0);
    let view = sampling_view_of(&topics, &batch);
    assert_eq!(view.unseen(), 1);
    let found = gibbs(4, &view, &batch, 1);
    assert!(found.not_finite_values() == 0);
    assert!((found.counts.iter().sum::<f64>() - 2.0).abs() < ROUNDING);
}

trait NotFinite {
    fn not_finite_values(&self) -> usize;
}

impl NotFinite for Expected {
    fn not_finite_values(&self) -> usize {
        self.counts
            .iter()
            .chain(&self.totals)
            .chain(&self.theta.log_theta)
            .filter(|value| !value.is_finite())
            .count()
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 200, failure_persistence: None, rng_seed: proptest::test_runner::RngSeed::Fixed(7), ..ProptestConfig::default() })]

    /// Whatever the document and the parameters: every word keeps its mass, log theta stays inside its domain.
    #[test]
    fn mass_is_conserved(
        count in 1_usize..70,
        sweeps in 1_usize..9,
        documents in prop::collection::vec(prop::collection::vec(0_u32..15, 0..40), 1..6),
        seed in 0_u64..1000,
    ) {
        let topics = random_topics(count, 15, &mut stream(seed));
        let documents: Vec<Document> = documents.iter().map(|tokens| Document::from_tokens(tokens)).collect();
        let batch = Minibatch::new(&documents, 0, 0);
        let found = gibbs(sweeps, &sampling_view_of(&topics, &batch), &batch, seed);
        for (row, &word) in batch.words().iter().enumerate() {
            let expected: f64 = documents
                .iter()
                .flat_map(|document| &document.words)
                .filter(|&&(candidate, _)| candidate == word)
                .map(|&(_, count)| f64::from(count))
                .sum::<f64>() / documents.len() as f64;
            let sum: f64 = found.counts[row * count..][..count].iter().sum();
            // A document has at most 40 tokens, so a word of it has at most 41 counts, each rounded once.
            let rounding = ROUNDING * expected + 41.0 * HALF_UNIT;
            prop_assert!((sum - expected).abs() < rounding, "{sum} is not {expected}");
            prop_assert!(found.counts[row * count..][..count].iter().all(|&value| value > -1e-12));
        }
        let inside: f64 = found.theta.log_theta.iter().map(|&value| libm::exp(value)).sum();
        let allowed = if count == 1 { (inside - 1.0).abs() < 1e-12 } else { inside < 1.0 };
        prop_assert!(allowed, "sum exp(E log theta) = {inside}");
    }
}
