//! Boosted inference against the loop as it is printed: after every pass the parameters follow from the statistics
//! before the minibatch and what the minibatch says so far, so nothing is counted twice.

use super::*;
use gibbstream::inference::chain::Move;
use gibbstream::inference::gibbs::Gibbs;
use gibbstream::inference::mean_field::MeanField;
use gibbstream::learn::method::Local;
use gibbstream::learn::schedule::Step;
use gibbstream::model::LatentModel;
use gibbstream::model::topics::alpha::{AlphaRule, AlphaState, ThetaExpectation};
use gibbstream::model::topics::lda::{LdaState, Topics};
use gibbstream::model::topics::rule::TopicRule;
use gibbstream::numerics::math::digamma;

const TOPICS: usize = 4;
const WORDS: usize = 30;

/// What local inference reads, for dense statistics after `seen` documents.
fn weights(method: &Method, counts: &[f64], documents: f64) -> Vec<f64> {
    let total = |values: &[f64], k: usize| values.iter().skip(k).step_by(TOPICS).sum::<f64>();
    if let TopicRule::Bayes { .. } = method.global {
        let lambda: Vec<f64> = counts.iter().map(|s| 1.0 / TOPICS as f64 + documents * s).collect();
        let sums: Vec<f64> = (0..TOPICS).map(|k| digamma(total(&lambda, k))).collect();
        return lambda.iter().enumerate().map(|(i, &l)| libm::exp(digamma(l) - sums[i % TOPICS])).collect();
    }
    let sums: Vec<f64> = (0..TOPICS).map(|k| total(counts, k)).collect();
    let share = 1e-4;
    counts
        .iter()
        .enumerate()
        .map(|(i, s)| (1.0 - share) * s / sums[i % TOPICS] + share / WORDS as f64)
        .collect()
}

fn blend(old: &[f64], rho: f64, batch: &Minibatch, fresh: &[f64]) -> Vec<f64> {
    let mut out: Vec<f64> = old.iter().map(|s| (1.0 - rho) * s).collect();
    for (row, &word) in batch.words().iter().enumerate() {
        for k in 0..TOPICS {
            out[word as usize * TOPICS + k] += rho * fresh[row * TOPICS + k];
        }
    }
    out
}

/// The mean of the statistics of several passes.
fn mean(passes: &[Expected]) -> Expected {
    let over = |part: &dyn Fn(&Expected) -> Vec<f64>| -> Vec<f64> {
        let mut sum = vec![0.0; part(&passes[0]).len()];
        for pass in passes {
            sum.iter_mut().zip(part(pass)).for_each(|(sum, value)| *sum += value / passes.len() as f64);
        }
        sum
    };
    Expected {
        counts: over(&|pass| pass.counts.clone()),
        totals: over(&|pass| pass.totals.clone()),
        theta: ThetaExpectation {
            log_theta: over(&|pass| pass.theta.log_theta.clone()),
            usage: over(&|pass| pass.theta.usage.clone()),
            length: over(&|pass| vec![pass.theta.length])[0],
        },
    }
}

/// One minibatch: the new counts and alpha.
fn plainly<L: LocalInference<Lda>>(
    local: &L,
    settings: &Settings,
    (counts, alpha): (&[f64], &AlphaState),
    (before, step): (&Step, &Step),
    batch: &Minibatch,
) -> (Vec<f64>, AlphaState) {
    let (method, model) = (&settings.method, settings.lda_model());
    let documents = |step: &Step| (step.head_start + step.seen) as f64;
    let (mut now, mut alpha_now) = (weights(method, counts, documents(before)), alpha.clone());
    let mut latents: Vec<L::Latent> = (0..batch.len()).map(|_| L::Latent::default()).collect();
    let (mut scratch, mut kept) = (L::Scratch::default(), Vec::new());
    let mut new_counts = Vec::new();
    for pass in 0..local.passes() {
        let mut view = local.view();
        Topics { beta: now, alpha: alpha_now.alpha.clone() }.view(batch, &mut view);
        for (index, latent) in latents.iter_mut().enumerate() {
            if pass == 0 {
                let key = [batch.pass(), batch.first() + index as u64];
                local.begin(&view, batch, index, latent, settings.seed.stream(Purpose::Local, key));
            }
            local.advance(
                &view,
                batch,
                index,
                latent,
                &mut scratch,
                Passes { range: pass..pass + 1, keep_from: 0 },
            );
        }
        let mut fresh = TopicStatistics::default();
        local.collect(&view, batch, &mut latents, &mut fresh);
        let mut fresh = Expected::of(&view, &fresh);
        if pass >= local.first_kept() {
            kept.push(fresh);
            fresh = mean(&kept);
        }
        new_counts = blend(counts, step.rho, batch, &fresh.counts);
        alpha_now = alpha.clone();
        alpha_now.absorb(&model.alpha, model.alpha_floor, step, &fresh.theta);
        now = weights(method, &new_counts, documents(step));
    }
    (new_counts, alpha_now)
}

#[test]
fn boosted_methods_follow_the_printed_loop() {
    let batches = minibatches(&grouped(60, TOPICS, WORDS, 20, 71), 10);
    let with_alpha = |alpha| Method { alpha, ..Method::V_OEM_PLUS };
    for (name, method) in [
        ("g-oem++", Method::G_OEM_PLUS),
        ("v-oem++", Method::V_OEM_PLUS),
        ("v-oem++, Newton", with_alpha(AlphaRule::Newton)),
        ("v-oem++, Gamma", with_alpha(AlphaRule::Gamma { shape: 1.0, rate: 0.01 })),
        ("splda", Method::SPLDA),
        ("svb, boosted", Method { boost: true, ..Method::SVB }),
    ] {
        let settings = settings(Method { sweeps: 8, ..method }, TOPICS, WORDS, 10);
        let LdaState { counts, alpha, .. } = settings.lda_model().initial(&batches[0], settings.seed);
        let (mut counts, mut alpha) = (dense(&counts), alpha);
        let mut trainer = Trainer::new(settings.clone(), 1).unwrap();
        let mut before = settings.method.step.start(settings.batch);
        for batch in &batches {
            let step = trainer.partial_fit(batch).unwrap();
            let old = (counts.as_slice(), &alpha);
            (counts, alpha) = match method.local {
                Local::MeanField => {
                    plainly(&MeanField { iterations: 8 }, &settings, old, (&before, &step), batch)
                }
                Local::Gibbs { window, statistic } => {
                    let local = Gibbs { sweeps: 8, window, statistic, transition: Move::Gibbs };
                    plainly(&local, &settings, old, (&before, &step), batch)
                }
                _ => panic!("not here"),
            };
            before = step;
            let learnt = learnt(&trainer);
            // The sampler holds weights in single precision, where a rounding may fall either way.
            let tolerance = if method.local == Local::MeanField { 1e-8 } else { 1e-5 };
            assert_close(name, &dense(&learnt.state.counts), &counts, tolerance);
            assert_close(name, &learnt.state.alpha.alpha, &alpha.alpha, tolerance);
        }
    }
}
