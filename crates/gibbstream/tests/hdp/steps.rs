//! Single updates: what documents keep, what the model makes of it.

use super::*;
use gibbstream::inference::gibbs::Gibbs;
use gibbstream::learn::averaging::Averaging;
use gibbstream::learn::batch_size::BatchSize;
use gibbstream::learn::online::{Online, OnlineSettings};
use gibbstream::learn::schedule::StepSize;
use gibbstream::model::LatentModel;
use gibbstream::model::topics::alpha::AlphaRule;
use gibbstream::model::topics::lda::LdaState;
use gibbstream::numerics::random::{Purpose, Stream};

fn random_documents(count: usize, vocabulary: usize, tokens: usize, random: &mut Stream) -> Vec<Document> {
    let mut draw = || (0..tokens).map(|_| random.below(vocabulary) as u32).collect::<Vec<_>>();
    (0..count).map(|_| document(&draw())).collect()
}

fn run(step: StepSize) -> OnlineSettings {
    OnlineSettings {
        step,
        averaging: Averaging::None,
        boost: false,
        batch: BatchSize::of(30),
        seed: Seed(5),
        threads: 1,
    }
}

/// Without a remainder no topic can be met: the counts are those of a model with `alpha = b pi`, bit for bit.
#[test]
fn no_remainder_is_a_fixed_number_of_topics() {
    let mut random = Seed(1).stream(Purpose::Initial, [0, 0]);
    let documents = random_documents(30, 40, 25, &mut random);
    let batch = Minibatch::new(&documents, 0, 0);
    let mut settings = settings(Method { alpha: AlphaRule::FixedPoint, ..Method::HDP_G_OEM }, 40, 5);
    settings.components = 4;
    let hdp = settings.hdp_model();
    let mut state = hdp.initial(&batch, settings.seed);
    let sticks = state.sticks.as_mut().unwrap();
    let weights = 1.0 - sticks.remainder;
    (sticks.remainder, sticks.remainder_log) = (0.0, 0.0);
    state.alpha.alpha.iter_mut().for_each(|alpha| *alpha /= weights);
    let plain = LdaState { sticks: None, ..state.clone() };
    let lda = gibbstream::model::topics::lda::Lda { alpha: AlphaRule::Fixed(None), ..hdp.start.clone() };
    let step = StepSize::Constant(0.3);
    let mut hdp_settings = hdp.clone();
    hdp_settings.settings.min_remainder = 0.0;
    let mut open = Online::new(hdp_settings, Gibbs::new(20), run(step)).unwrap();
    let mut fixed = Online::new(lda, Gibbs::new(20), run(step)).unwrap();
    open.resume(state, step.start(BatchSize::of(30)));
    fixed.resume(plain, step.start(BatchSize::of(30)));
    open.partial_fit(&batch).unwrap();
    fixed.partial_fit(&batch).unwrap();
    let (open, fixed) = (open.state().unwrap(), fixed.state().unwrap());
    assert_eq!(open.counts, fixed.counts);
    assert_eq!(open.alpha.log_theta, fixed.alpha.log_theta);
    assert_eq!(open.alpha.length, fixed.alpha.length);
    let sum: f64 = open.alpha.alpha.iter().sum();
    assert!((sum - 1.0).abs() < 1e-12, "weights add up to {sum}");
}

/// Every token is counted once, whether it founds a topic, or its new topic is dropped, or it never met one.
#[test]
fn no_token_is_lost() {
    let mut random = Seed(2).stream(Purpose::Initial, [0, 0]);
    for (method, tokens) in
        [(Method::HDP_G_OEM, 30), (Method::HDP_VAR_GIBBS.with_population(500.0), 30), (Method::HDP_G_OEM, 1)]
    {
        let documents = random_documents(30, 60, tokens, &mut random);
        let batch = Minibatch::new(&documents, 0, 0);
        let settings = Settings {
            batch: BatchSize::of(30),
            ..settings(Method { step: StepSize::Constant(1.0), ..method }, 60, 3)
        };
        let mut trainer = gibbstream::learn::trainer::Trainer::new(settings, 1).unwrap();
        trainer.partial_fit(&batch).unwrap();
        let state = trainer.topic_state().unwrap();
        let counts = &state.counts;
        let sticks = state.sticks.as_ref().unwrap();
        assert!(tokens == 1 || !sticks.births.is_empty(), "a topic is born");
        for (word, &seen) in trainer.word_counts().iter().enumerate() {
            let counted: f64 = counts.scaled_row(word as u32).iter().sum::<f64>() * counts.scale() * 30.0;
            let lost = (counted - seen as f64).abs();
            assert!(lost < 1e-4 * (1.0 + seen as f64), "word {word}: {counted} of {seen}");
        }
        let weights: f64 = state.alpha.alpha.iter().sum::<f64>() + sticks.remainder;
        assert!((weights - 1.0).abs() < 1e-9, "weights and remainder add up to {weights}");
    }
}

/// Twin of the bookkeeping of newborn topics: had they been there from the start, without a token, the running means
/// would be the same (science.md 4.2).
#[test]
fn newborn_topics_have_the_past_of_a_topic_without_tokens() {
    let mut random = Seed(8).stream(Purpose::Initial, [0, 0]);
    let documents = random_documents(60, 60, 30, &mut random);
    let all = batches(&documents, 30);
    let settings = settings(Method { step: StepSize::Constant(0.4), ..Method::HDP_G_OEM }, 60, 3);
    let mut model = settings.hdp_model();
    model.deaths.idle_documents = u64::MAX;
    model.deaths.first_look = u64::MAX;
    model.births.at_most = 0;
    let mut online = Online::new(model.clone(), Gibbs::new(20), run(StepSize::Constant(0.4))).unwrap();
    online.partial_fit(&all[0]).unwrap();
    let (before, clock) = (online.state().unwrap().clone(), online.clock());
    model.births.at_most = 3;
    let mut online = Online::new(model, Gibbs::new(20), run(StepSize::Constant(0.4))).unwrap();
    let past = before.alpha.length;
    online.resume(before, clock);
    online.partial_fit(&all[1]).unwrap();
    let state = online.state().unwrap();
    let sticks = state.sticks.as_ref().unwrap();
    assert!(!sticks.births.is_empty());
    // Of all documents together a founding one is a small part, so the mean of log theta stays near that of no tokens.
    let psi = gibbstream::numerics::math::digamma;
    for (k, id) in sticks.ids.iter().enumerate().filter(|&(_, &id)| id >= 2) {
        let birth = sticks.births.iter().find(|birth| birth.id == *id).unwrap();
        let tokens = state.counts.topic_tokens()[k] * 30.0 / 0.4;
        assert!((tokens - birth.tokens).abs() < 0.35 * birth.tokens, "{tokens} of {}", birth.tokens);
        assert!(state.alpha.log_theta[k].is_finite() && state.alpha.log_theta[k] < -psi(1.0) - past);
    }
}
