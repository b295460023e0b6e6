//! The estimators of held-out likelihood against exact enumeration, and the scorer against its promises.
//!
//! Monte Carlo assertions state their standard error and allow 4.5 of them; seeds are fixed.
#![allow(missing_docs)]
#![allow(clippy::unwrap_used, reason = "helpers of tests may fail as tests do")]

mod support;

use gibbstream::corpus::{Document, Minibatch};
use gibbstream::evaluation::sequential::{Particles, Sequential};
use gibbstream::evaluation::{DocumentScore, Estimator, Evaluation, Score, Scorer, Unigram};
use gibbstream::model::topics::lda::Topics;
use gibbstream::model::topics::view::TopicView;
use gibbstream::numerics::random::{Purpose, Seed};
use support::{enumerate, reference, sampling_view_of, topics};

fn close(found: f64, expected: f64, tolerance: f64) {
    assert!((found - expected).abs() <= tolerance, "{found} is not {expected} to {tolerance}");
}

/// A document ready for the estimators: its view, its distinct words and its tokens as indices into them.
struct Prepared {
    batch: Minibatch,
    view: TopicView,
    words: Vec<u32>,
    tokens: Vec<u32>,
}

fn prepare(topics: &Topics, document: &[u32]) -> Prepared {
    let batch = Minibatch::new(&[Document::from_tokens(document)], 0, 0);
    let view = sampling_view_of(topics, &batch);
    let place = |word| batch.words().iter().position(|&candidate| candidate == word).unwrap() as u32;
    let tokens = document.iter().map(|&word| place(word)).collect();
    Prepared { words: (0..batch.words().len() as u32).collect(), view, tokens, batch }
}

/// Mean and standard error of estimate / exact likelihood over `runs` independent runs.
fn ratio(log_exact: f64, runs: u64, mut log_estimate: impl FnMut(u64) -> f64) -> (f64, f64) {
    let (mut sum, mut squares) = (0.0, 0.0);
    for run in 0..runs {
        let ratio = libm::exp(log_estimate(run) - log_exact);
        sum += ratio;
        squares += ratio * ratio;
    }
    let mean = sum / runs as f64;
    (mean, ((squares / runs as f64 - mean * mean) / (runs - 1) as f64).sqrt())
}

fn assert_ratio((mean, error): (f64, f64), expected: f64, largest_error: f64, what: &str) {
    assert!(error < largest_error, "{what}: standard error {error} is too large to tell anything");
    let z = (mean - expected) / error;
    assert!(z.abs() < 4.5, "{what}: {mean} +- {error} is not {expected}, z = {z}");
}

#[test]
fn enumeration_reproduces_the_golden_numbers() {
    let (topics, document) = reference();
    let exact = enumerate(&topics, &document);
    close(exact.log_likelihood, -7.476_108_264_1, 1e-9);
    let counts = [
        [1.261_688_563_9, 0.492_568_451_3, 0.268_221_484_0, 0.364_419_004_6],
        [0.279_125_375_4, 0.209_865_738_7, 0.643_373_290_4, 0.232_132_695_1],
        [0.459_186_060_8, 0.297_565_810_0, 0.088_405_225_6, 0.403_448_300_2],
    ];
    for (found, expected) in exact.counts.iter().flatten().zip(counts.iter().flatten()) {
        close(*found, *expected, 1e-9);
    }
    for (found, expected) in
        exact.log_theta.iter().zip([-1.754_501_464_6, -1.906_003_423_9, -4.004_880_307_4])
    {
        close(*found, expected, 1e-9);
    }
}

/// Documents and alpha of the table of science.md 5.2, on which estimators that forget weights go wrong.
fn hard_cases() -> Vec<(Topics, Vec<u32>)> {
    let beta = [vec![0.7, 0.2, 0.1], vec![0.1, 0.2, 0.7]];
    let documents = [vec![0, 2, 0, 2, 1, 0], vec![0, 0, 0, 2, 2, 2, 2]];
    let cases = documents.into_iter().flat_map(|document| [(document.clone(), 0.1), (document, 1.0)]);
    cases.map(|(document, alpha)| (topics(&beta, &[alpha, alpha]), document)).collect()
}

/// The mean of `estimate` over 10^5 runs or more is p(X); with one particle this holds for all estimators.
fn assert_unbiased(
    topics: &Topics,
    document: &[u32],
    walk: impl Fn(Estimator, usize) -> Sequential,
    estimate: impl Fn(&Sequential, &Prepared, u64, &mut Particles) -> f64,
) {
    let exact = enumerate(topics, document).log_likelihood;
    let prepared = prepare(topics, document);
    let mut particles = Particles::default();
    for (estimator, number) in [
        (Estimator::Smc, 1),
        (Estimator::Smc, 5),
        (Estimator::Ais, 1),
        (Estimator::Ais, 5),
        (Estimator::LeftToRight, 1),
    ] {
        let sequential = walk(estimator, number);
        let runs = 500_000 / number as u64;
        let found = ratio(exact, runs, |run| estimate(&sequential, &prepared, run, &mut particles));
        assert_ratio(found, 1.0, 0.006, &format!("{estimator}, {number} particles, {document:?}"));
    }
}

#[test]
fn estimates_of_shuffled_tokens_are_unbiased() {
    let (topics, document) = reference();
    assert_unbiased(&topics, &document, Sequential::new, |sequential, prepared, run, particles| {
        let Prepared { view, batch, .. } = prepared;
        sequential.log_likelihood(view, batch.document(0), Seed(1), run, particles)
    });
}

fn in_given_order(sequential: &Sequential, prepared: &Prepared, run: u64, particles: &mut Particles) -> f64 {
    let Prepared { view, words, tokens, .. } = prepared;
    sequential.log_likelihood_in_order(view, words, tokens, Seed(2), run, particles)
}

#[test]
fn estimates_are_unbiased_where_forgetting_weights_goes_wrong() {
    for (topics, document) in hard_cases().into_iter().step_by(2) {
        assert_unbiased(&topics, &document, Sequential::new, in_given_order);
    }
}

/// Few positions per sweep, and particles copied only when their weights are uneven.
#[test]
fn the_walk_through_long_documents_is_unbiased() {
    let walk = |estimator, particles| Sequential {
        long_document: 2,
        positions: 2,
        ..Sequential::new(estimator, particles)
    };
    for (topics, document) in hard_cases().into_iter().step_by(2) {
        assert_unbiased(&topics, &document, walk, in_given_order);
    }
}

/// What left-to-right tends to with ever more particles: the law of a particle is carried along exactly, over
/// all assignments (numbers with one digit per token), through `sweeps` sweeps before each token.
fn left_to_right_limit(topics: &Topics, document: &[u32], sweeps: usize) -> f64 {
    let k = topics.topics();
    let alpha_sum: f64 = topics.alpha.iter().sum();
    let digit = |state: usize, place: usize| state / k.pow(place as u32) % k;
    // Weights of the topics of the token at `place`, given those of the other tokens before `end`.
    let weights = |state: usize, end: usize, place: usize| -> Vec<f64> {
        let mut sizes = topics.alpha.clone();
        (0..end).filter(|&other| other != place).for_each(|other| sizes[digit(state, other)] += 1.0);
        topics.row(document[place]).iter().zip(sizes).map(|(p, size)| p * size).collect()
    };
    let (mut law, mut log_estimate) = (vec![1.0], 0.0);
    for n in 0..document.len() {
        for place in (0..sweeps).flat_map(|_| 0..n) {
            let mut next = vec![0.0; law.len()];
            for (state, share) in law.iter().enumerate() {
                let weights = weights(state, n, place);
                let total: f64 = weights.iter().sum();
                let rest = state - digit(state, place) * k.pow(place as u32);
                for (topic, weight) in weights.iter().enumerate() {
                    next[rest + topic * k.pow(place as u32)] += share * weight / total;
                }
            }
            law = next;
        }
        let (mut next, mut mean) = (vec![0.0; law.len() * k], 0.0);
        for (state, share) in law.iter().enumerate() {
            let weights = weights(state, n, n);
            let total: f64 = weights.iter().sum();
            mean += share * total / (alpha_sum + n as f64);
            for (topic, weight) in weights.iter().enumerate() {
                next[state + topic * law.len()] += share * weight / total;
            }
        }
        log_estimate += libm::log(mean);
        law = next;
    }
    log_estimate
}

/// Left-to-right is the estimator of the paper, bias included; SMC on the same particles has none.
#[test]
fn left_to_right_tends_to_its_biased_limit_and_smc_to_the_truth() {
    let table = [
        [1.790, 1.498, 1.285, 1.047],
        [1.088, 1.007, 1.0005, 1.0000],
        [0.754, 0.575, 0.687, 0.895],
        [0.897, 0.968, 0.994, 1.0000],
    ];
    for ((topics, document), row) in hard_cases().iter().zip(table) {
        let exact = enumerate(topics, document).log_likelihood;
        let Prepared { view, words, tokens, .. } = prepare(topics, document);
        let mut particles = Particles::default();
        let mut many = |sequential: Sequential| {
            ratio(exact, 25, |run| {
                sequential.log_likelihood_in_order(&view, &words, &tokens, Seed(4), run, &mut particles)
            })
        };
        for (sweeps, expected) in [0, 1, 2, 5].into_iter().zip(row) {
            let limit = libm::exp(left_to_right_limit(topics, document, sweeps) - exact);
            close(limit, expected, 6e-4);
            let what = format!("{document:?}, alpha {}, {sweeps} sweeps", topics.alpha[0]);
            let sequential = Sequential { sweeps, ..Sequential::new(Estimator::LeftToRight, 20_000) };
            assert_ratio(many(sequential), limit, 0.005, &what);
        }
        assert_ratio(
            many(Sequential::new(Estimator::Smc, 20_000)),
            1.0,
            0.005,
            &format!("smc, {document:?}"),
        );
    }
}

#[test]
fn one_topic_is_a_multinomial() {
    let topics = topics(&[vec![0.5, 0.3, 0.15, 0.05]], &[0.7]);
    let document = [3, 0, 0, 1, 2, 2, 0, 1, 0, 0, 3];
    let expected: f64 = document.iter().map(|&word| libm::log(topics.row(word)[0])).sum();
    for estimator in Estimator::ALL {
        for found in scores(&topics, estimator, 1, &[Document::from_tokens(&document)]) {
            close(found.log_likelihood, expected, 1e-6);
        }
    }
}

#[test]
fn one_token_is_scored_exactly_and_an_empty_document_is_certain() {
    let (topics, _) = reference();
    let alpha_sum: f64 = topics.alpha.iter().sum();
    for word in 0..4 {
        let row = topics.row(word);
        let mass: f64 = row.iter().zip(&topics.alpha).map(|(p, alpha)| p * alpha).sum();
        for estimator in Estimator::ALL {
            let found = scores(&topics, estimator, 1, &[Document::from_tokens(&[word]), Document::default()]);
            close(found[0].log_likelihood, libm::log(mass / alpha_sum), 1e-15);
            assert_eq!(found[1].log_likelihood, 0.0);
        }
    }
}

fn scores(
    topics: &Topics,
    estimator: Estimator,
    threads: usize,
    documents: &[Document],
) -> Vec<DocumentScore> {
    let unigram = Unigram::new(topics.vocabulary());
    let evaluation = Evaluation { estimator, particles: 7, seed: Seed(5), threads, ..Evaluation::default() };
    let scorer = Scorer::new(evaluation, topics, &unigram).unwrap();
    let mut found = Vec::new();
    scorer.score_each(documents.iter().cloned().map(Ok), |_, score| found.push(*score)).unwrap();
    found
}

/// Random topics and documents of 0 to about 40 tokens, one of them long.
fn random_corpus() -> (Topics, Vec<Document>) {
    let (vocabulary, number) = (60, 12);
    let mut random = Seed(6).stream(Purpose::SyntheticTruth, [0, 0]);
    let mut beta = vec![0.0; vocabulary * number];
    for topic in 0..number {
        let mut row = vec![0.0; vocabulary];
        random.dirichlet(&vec![0.1; vocabulary], &mut row);
        row.iter().enumerate().for_each(|(word, p)| beta[word * number + topic] = p + 1e-6);
    }
    let mut documents: Vec<Document> = (0..150)
        .map(|_| {
            let length = random.below(40);
            Document::from_tokens(&(0..length).map(|_| random.below(vocabulary) as u32).collect::<Vec<_>>())
        })
        .collect();
    documents[100] = Document { words: (0..30).map(|word| (2 * word, 40)).collect(), ..Document::default() };
    (Topics { beta, alpha: vec![0.1; number] }, documents)
}

#[test]
fn order_company_and_threads_do_not_change_a_bit() {
    let (topics, documents) = random_corpus();
    for estimator in Estimator::ALL {
        let bits = |scores: &[DocumentScore]| -> Vec<u64> {
            scores.iter().map(|score| score.log_likelihood.to_bits()).collect()
        };
        let expected = bits(&scores(&topics, estimator, 1, &documents));
        for threads in [2, 7] {
            assert_eq!(bits(&scores(&topics, estimator, threads, &documents)), expected, "{threads} threads");
        }
        let backwards: Vec<Document> = documents.iter().rev().cloned().collect();
        let mut found = bits(&scores(&topics, estimator, 2, &backwards));
        found.reverse();
        assert_eq!(found, expected, "backwards");
        for index in [0, 3, 77, 100, 149] {
            let alone = bits(&scores(&topics, estimator, 1, &documents[index..=index]));
            assert_eq!(alone[0], expected[index], "document {index} alone");
        }
    }
}

fn evaluate(topics: &Topics, unigram: &Unigram, documents: &[Document]) -> Score {
    let evaluation = Evaluation { threads: 2, ..Evaluation::default() };
    Scorer::new(evaluation, topics, unigram).unwrap().score(documents.iter().cloned().map(Ok)).unwrap()
}

#[test]
fn totals_follow_from_the_documents() {
    let (topics, mut documents) = random_corpus();
    documents[5].out_of_vocabulary = 3;
    documents[6].words.push((60, 2)); // one more than the topics know
    let unigram = Unigram::from_counts((0..60).collect());
    let scorer = Scorer::new(Evaluation::default(), &topics, &unigram).unwrap();
    let mut each = Vec::new();
    let score = scorer
        .score_each(documents.iter().cloned().map(Ok), |document, score| {
            assert_eq!(document.tokens(), score.tokens);
            assert_eq!(unigram.log_likelihood(document), score.unigram_log_likelihood);
            each.push(*score);
        })
        .unwrap();
    let number = documents.len() as f64;
    let square = |x: f64| x * x;
    let sum: f64 = each.iter().map(|score| score.log_likelihood).sum();
    let squares: f64 = each.iter().map(|score| square(score.log_likelihood - sum / number)).sum();
    let tokens: u64 = documents.iter().map(Document::tokens).sum::<u64>() - 2;
    assert_eq!((score.documents, score.tokens, score.out_of_vocabulary_tokens), (150, tokens, 5));
    close(score.log_perplexity_per_document, -sum / number, 1e-12);
    close(score.standard_error.unwrap(), (squares / (number - 1.0) / number).sqrt(), 1e-11);
    close(score.log_likelihood_per_token.unwrap(), sum / tokens as f64, 1e-12);
    close(score.perplexity.unwrap(), libm::exp(-sum / tokens as f64), 1e-10);
    let unigram_sum: f64 = each.iter().map(|score| score.unigram_log_likelihood).sum();
    close(score.unigram_log_perplexity_per_document, -unigram_sum / number, 1e-12);
    assert_eq!(evaluate(&topics, &unigram, &documents), score);
}

#[test]
fn the_json_has_the_promised_names() {
    let (topics, document) = reference();
    let score = evaluate(&topics, &Unigram::new(4), &[Document::from_tokens(&document)]);
    let json = serde_json::to_string(&score).unwrap();
    let names: Vec<&str> = json.split('"').skip(1).step_by(2).collect();
    assert_eq!(
        names,
        [
            "estimator",
            "smc",
            "particles",
            "monte_carlo_error",
            "documents",
            "tokens",
            "out_of_vocabulary_tokens",
            "log_perplexity_per_document",
            "standard_error",
            "log_likelihood_per_token",
            "perplexity",
            "unigram_log_perplexity_per_document"
        ]
    );
    for estimator in Estimator::ALL {
        let name = estimator.to_string();
        assert_eq!(name.parse::<Estimator>().unwrap(), estimator);
        assert_eq!(serde_json::to_string(&estimator).unwrap(), format!("\"{name}\""));
    }
    assert!("chib".parse::<Estimator>().unwrap_err().to_string().contains("left-to-right"));
}

#[test]
fn nothing_to_score_is_refused_and_nothing_in_it_is_not_a_number() {
    let (topics, _) = reference();
    let unigram = Unigram::new(4);
    let scorer = Scorer::new(Evaluation::default(), &topics, &unigram).unwrap();
    assert!(scorer.score([]).unwrap_err().to_string().contains("held-out document"));
    let empty = evaluate(&topics, &unigram, &[Document::default()]);
    assert_eq!((empty.log_perplexity_per_document.to_bits(), empty.standard_error), (0, None));
    assert_eq!((empty.log_likelihood_per_token, empty.perplexity), (None, None));
    let none = Evaluation { particles: 0, ..Evaluation::default() };
    assert!(Scorer::new(none, &topics, &unigram).is_err());
    assert!(Scorer::new(Evaluation::default(), &topics, &Unigram::new(5)).is_err());
}

#[test]
fn a_word_that_no_topic_can_produce_makes_the_document_impossible() {
    let topics = topics(&[vec![0.5, 0.5, 0.0], vec![0.9, 0.1, 0.0]], &[0.5, 0.5]);
    let documents = [Document::from_tokens(&[0, 2]), Document::from_tokens(&[0, 1])];
    let found = scores(&topics, Estimator::Smc, 1, &documents);
    assert_eq!(found[0].log_likelihood, f64::NEG_INFINITY);
    assert!(found[1].log_likelihood.is_finite());
    let score = evaluate(&topics, &Unigram::new(3), &documents);
    assert_eq!((score.log_perplexity_per_document, score.standard_error), (f64::INFINITY, None));
}

/// With a tiny alpha a document has one topic, so its likelihood is a sum over topics. Forty topics share a word; one run
/// of twenty particles has decided for at most twenty of them before it meets a word that tells them apart.
fn one_topic_documents() -> (Topics, Vec<Document>, Vec<f64>) {
    let (topics, vocabulary) = (40, 41);
    let mut beta = vec![0.01 / vocabulary as f64; vocabulary * topics];
    for topic in 0..topics {
        beta[topic] += 0.79; // word 0
        beta[(topic + 1) * topics + topic] += 0.2;
    }
    let documents: Vec<Document> = (0..topics as u32)
        .map(|topic| Document { words: vec![(0, 20), (topic + 1, 4)], ..Document::default() })
        .collect();
    let truth = documents.iter().map(|document| {
        let under = |topic: usize| -> f64 {
            let log = |&(word, count): &(u32, u32)| {
                f64::from(count) * libm::log(beta[word as usize * topics + topic])
            };
            libm::exp(document.words.iter().map(log).sum())
        };
        libm::log((0..topics).map(under).sum::<f64>() / topics as f64)
    });
    let truth = truth.collect();
    (Topics { beta, alpha: vec![1e-9; topics] }, documents, truth)
}

#[test]
fn where_particles_miss_topics_the_spread_asks_for_more() {
    let (topics, documents, truth) = one_topic_documents();
    let unigram = Unigram::new(topics.vocabulary());
    let score = |adaptive| {
        let evaluation = Evaluation { adaptive, threads: 2, ..Evaluation::default() };
        Scorer::new(evaluation, &topics, &unigram).unwrap().score(documents.iter().cloned().map(Ok)).unwrap()
    };
    let truth = -truth.iter().sum::<f64>() / truth.len() as f64;
    let (few, enough) = (score(false), score(true));
    assert_eq!(few.particles, 20);
    assert!(few.log_perplexity_per_document - truth > 1.0, "20 particles are enough for {truth}: {few:?}");
    let error = enough.monte_carlo_error.unwrap();
    assert!((enough.log_perplexity_per_document - truth).abs() < 0.1, "{truth}: {enough:?}");
    assert!(enough.particles >= 200 && error < 0.1, "{enough:?}");
    // The error of the few is told too, though it cannot know of topics that it has never met.
    assert!(few.monte_carlo_error.unwrap() > error, "{few:?}");
}

/// What it costs is linear in the length: this one would take ten minutes if it grew faster.
#[test]
fn a_long_document_is_scored() {
    let (topics, _, _) = one_topic_documents();
    let topics = Topics { alpha: vec![0.1; 40], ..topics };
    let words = (0..41).map(|word| (word, 5_000)).collect();
    let documents = [Document { words, ..Document::default() }];
    let score = evaluate(&topics, &Unigram::new(41), &documents);
    assert!(score.log_perplexity_per_document.is_finite());
}
