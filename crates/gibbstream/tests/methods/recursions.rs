//! The lazy statistics of a whole run against plain dense recursions written straight from the equations.

use super::*;
use crate::support::view_of;
use gibbstream::inference::mean_field::MeanField;
use gibbstream::learn::averaging::Averaging;
use gibbstream::model::LatentModel;
use gibbstream::model::topics::alpha::{AlphaRule, AlphaState};
use gibbstream::model::topics::lda::Topics;
use gibbstream::model::topics::rule::{Smoothing, TopicRule};
use gibbstream::numerics::math::digamma;

const TOPICS: usize = 4;
const WORDS: usize = 30;

/// Expected counts of a minibatch for all words, mean field at the given weights; then moves alpha.
fn fresh_counts(
    settings: &Settings,
    weights: Vec<f64>,
    alpha: &mut AlphaState,
    batch: &Minibatch,
    step: &gibbstream::learn::schedule::Step,
) -> Vec<f64> {
    let view = view_of(&Topics { beta: weights, alpha: alpha.alpha.clone() }, batch);
    let local = MeanField { iterations: settings.method.sweeps };
    let fresh = expect(&local, &view, batch, settings.seed);
    let model = settings.lda_model();
    alpha.absorb(&model.alpha, model.alpha_floor, step, &fresh.theta);
    let mut out = vec![0.0; WORDS * TOPICS];
    for (row, &word) in batch.words().iter().enumerate() {
        out[word as usize * TOPICS..][..TOPICS].copy_from_slice(&fresh.counts[row * TOPICS..][..TOPICS]);
    }
    out
}

fn totals(counts: &[f64]) -> Vec<f64> {
    (0..TOPICS).map(|k| counts.iter().skip(k).step_by(TOPICS).sum()).collect()
}

/// `exp E[log beta]` from the Dirichlet parameters, all of them, without any scaling.
fn exp_log(lambda: &[f64]) -> Vec<f64> {
    let sums = totals(lambda);
    let weight = |(i, &value): (usize, &f64)| libm::exp(digamma(value) - digamma(sums[i % TOPICS]));
    lambda.iter().enumerate().map(weight).collect()
}

/// `lambda = b + D s` for all updates, where lambda follows `(1 - rho) lambda + rho (b + D fresh)`.
#[test]
fn online_lda_moves_lambda() {
    let batches = minibatches(&grouped(85, TOPICS, WORDS, 20, 21), 10);
    for (prior, documents) in [(0.25, 400.0), (0.01, 85.0)] {
        let rule = TopicRule::Bayes {
            prior: Some(prior),
            population: gibbstream::model::topics::rule::Population::Documents(documents),
        };
        let settings = settings(Method { global: rule, step: SOFT, ..Method::OLDA }, TOPICS, WORDS, 10);
        let mut trainer = Trainer::new(settings.clone(), 2).unwrap();
        let start = settings.lda_model().initial(&batches[0], settings.seed);
        let mut lambda: Vec<f64> = dense(&start.counts).iter().map(|s| prior + documents * s).collect();
        let mut alpha = start.alpha;
        for batch in &batches {
            let step = trainer.partial_fit(batch).unwrap();
            let fresh = fresh_counts(&settings, exp_log(&lambda), &mut alpha, batch, &step);
            for (lambda, fresh) in lambda.iter_mut().zip(&fresh) {
                *lambda = (1.0 - step.rho) * *lambda + step.rho * (prior + documents * fresh);
            }
            check_lambda(&trainer, &lambda, prior, documents);
        }
        assert_close("alpha", trainer.alpha().unwrap(), &alpha.alpha, 1e-10);
    }
}

/// Streaming variational Bayes adds the expected counts of every document to lambda, and so equals online LDA with
/// steps `|B| / (n_0 + seen)` and a corpus of `n_0 + seen` documents.
#[test]
fn streaming_bayes_adds_to_lambda() {
    let batches = minibatches(&grouped(85, TOPICS, WORDS, 20, 22), 10);
    let settings = settings(Method::SVB, TOPICS, WORDS, 10);
    let prior = 1.0 / TOPICS as f64;
    let mut trainer = Trainer::new(settings.clone(), 2).unwrap();
    let start = settings.lda_model().initial(&batches[0], settings.seed);
    let mut lambda: Vec<f64> = dense(&start.counts).iter().map(|s| prior + 10.0 * s).collect();
    let mut alpha = start.alpha;
    for batch in &batches {
        let step = trainer.partial_fit(batch).unwrap();
        let fresh = fresh_counts(&settings, exp_log(&lambda), &mut alpha, batch, &step);
        for (lambda, fresh) in lambda.iter_mut().zip(&fresh) {
            *lambda += batch.len() as f64 * fresh;
        }
        check_lambda(&trainer, &lambda, prior, (10 + step.seen) as f64);
    }
    assert_close("alpha", trainer.alpha().unwrap(), &alpha.alpha, 1e-10);
}

/// State, its totals, the reported topics and their logarithms all stand for the same lambda.
fn check_lambda(trainer: &Trainer, lambda: &[f64], prior: f64, documents: f64) {
    let learnt = learnt(trainer);
    let counts = &learnt.state.counts;
    let found: Vec<f64> = dense(counts).iter().map(|s| prior + documents * s).collect();
    assert_close("lambda", &found, lambda, 1e-10);
    let sums: Vec<f64> =
        counts.topic_tokens().iter().map(|total| WORDS as f64 * prior + documents * total).collect();
    assert_close("Lambda", &sums, &totals(lambda), 1e-10);
    let mean: Vec<f64> = lambda.iter().enumerate().map(|(i, value)| value / sums[i % TOPICS]).collect();
    assert_close("E[beta]", &trainer.topics().unwrap().beta, &mean, 1e-10);
    let logs = trainer.log_topics().unwrap();
    let exponents: Vec<f64> = logs.log_weights.iter().map(|&log| libm::exp(log)).collect();
    assert_close("exp E[log beta]", &exponents, &exp_log(lambda), 1e-9);
}

/// Three thousand updates with the lazy scale written out many times, against dense statistics, dense
/// probabilities and a dense running mean.
#[test]
fn lazy_run_equals_eager_run() {
    let documents = grouped(300, TOPICS, WORDS, 6, 23);
    let share = |share| TopicRule::MaximumLikelihood(Smoothing::Share(share));
    let pseudo = TopicRule::MaximumLikelihood(Smoothing::PseudoCount(0.1));
    for (global, step, averaging) in [
        (share(1e-3), StepSize::PAPER, Averaging::Uniform),
        (share(1e-3), StepSize::Constant(0.05), Averaging::Tail(50)),
        (share(1e-3), StepSize::Power { kappa: 0.0, offset: 0.0, tau: 1.0, least: 0.0 }, Averaging::Uniform),
        (pseudo, SOFT, Averaging::Uniform),
    ] {
        let method = Method { global, step, averaging, sweeps: 3, ..Method::V_OEM };
        let settings = settings(method, TOPICS, WORDS, 2);
        let mut trainer = Trainer::new(settings.clone(), 1).unwrap();
        let mut eager: Option<(Vec<f64>, AlphaState)> = None;
        let (mut sum, mut remembered) = (vec![0.0; WORDS * TOPICS], 0.0);
        let mut behind = 0.0;
        for update in 0..3_000_usize {
            let batch = Minibatch::new(&documents[update * 2 % 300..][..2], update as u64 * 2, 0);
            let (mut counts, mut alpha) = eager.take().unwrap_or_else(|| {
                let start = settings.lda_model().initial(&batch, settings.seed);
                (dense(&start.counts), start.alpha)
            });
            let weights = probabilities(&global, &counts, behind);
            let step = trainer.partial_fit(&batch).unwrap();
            behind = step.batch as f64 / step.rho;
            let fresh = fresh_counts(&settings, weights, &mut alpha, &batch, &step);
            for (count, fresh) in counts.iter_mut().zip(fresh) {
                *count = (1.0 - step.rho) * *count + step.rho * fresh;
            }
            if averaging.includes(step.update) {
                let now = probabilities(&global, &counts, behind);
                sum.iter_mut().zip(now).for_each(|(sum, now)| *sum += now);
                remembered += 1.0;
            }
            eager = Some((counts, alpha));
        }
        let (counts, alpha) = eager.unwrap();
        let learnt = learnt(&trainer);
        let name = format!("{global:?} {step:?}");
        assert_close(&name, &dense(&learnt.state.counts), &counts, 1e-10);
        assert_close(&name, &learnt.state.alpha.alpha, &alpha.alpha, 1e-9);
        let mean: Vec<f64> = sum.iter().map(|sum| sum / remembered).collect();
        assert_close(&name, &trainer.topics().unwrap().beta, &mean, 1e-10);
    }
    assert!(matches!(settings(Method::V_OEM, 2, 2, 2).method.alpha, AlphaRule::FixedPoint));
}

fn probabilities(rule: &TopicRule, counts: &[f64], documents: f64) -> Vec<f64> {
    let sums = totals(counts);
    let value = |(i, &count): (usize, &f64)| match *rule {
        TopicRule::MaximumLikelihood(Smoothing::Share(share)) => {
            (1.0 - share) * count / sums[i % TOPICS] + share / WORDS as f64
        }
        TopicRule::MaximumLikelihood(Smoothing::PseudoCount(prior)) => {
            let prior = prior / documents.max(1.0);
            (count + prior) / (sums[i % TOPICS] + WORDS as f64 * prior)
        }
        _ => panic!("not here"),
    };
    counts.iter().enumerate().map(value).collect()
}
