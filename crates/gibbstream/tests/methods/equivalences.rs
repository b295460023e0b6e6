//! Methods that are the same method under two names, or become the same in a limit (science.md 10.4).

use super::*;
use crate::support::view_of;
use gibbstream::inference::chain::Move;
use gibbstream::inference::gibbs::{Gibbs, Statistic, Window};
use gibbstream::learn::method::Local;
use gibbstream::model::LatentModel;
use gibbstream::model::topics::alpha::AlphaRule;
use gibbstream::model::topics::lda::{LdaState, Start, Topics};
use gibbstream::model::topics::rule::{Population, Smoothing, TopicRule};

const ADD_UP: StepSize = StepSize::Power { kappa: 1.0, offset: 0.0, tau: 1.0, least: 0.0 };
const NO_SMOOTHING: TopicRule = TopicRule::MaximumLikelihood(Smoothing::Share(0.0));

#[test]
fn splda_is_boosted_variational_oem() {
    let batches = minibatches(&grouped(60, 4, 30, 20, 1), 10);
    let rebuilt = Method {
        step: ADD_UP,
        alpha: AlphaRule::Gamma { shape: 1.0, rate: 0.01 },
        start: Start::NearlyUniform,
        ..Method::V_OEM_PLUS
    };
    let (found, expected) =
        (train(settings(rebuilt, 4, 30, 10), &batches), train(settings(Method::SPLDA, 4, 30, 10), &batches));
    assert_same("SPLDA", &found, &expected, 1e-12);
}

/// SGS is G-OEM with steps 1/i and the counts of the last sweep; so its state is the integer counts that the
/// original adds up, here by a plain loop over integers with the same random streams.
#[test]
fn sgs_adds_up_integers() {
    let documents = grouped(60, 4, 30, 20, 2);
    let batches = minibatches(&documents, 10);
    let rebuilt = Method {
        local: Local::Gibbs { window: Window::Last, statistic: Statistic::Counts },
        global: TopicRule::MaximumLikelihood(Smoothing::PseudoCount(0.01)),
        step: ADD_UP,
        alpha: AlphaRule::Fixed(None),
        ..Method::G_OEM
    };
    let sgs = settings(Method::SGS, 4, 30, 10);
    let learnt = train(sgs.clone(), &batches);
    assert_same("SGS", &train(settings(rebuilt, 4, 30, 10), &batches), &learnt, 1e-12);

    let local = Gibbs {
        sweeps: Method::SGS.sweeps,
        window: Window::Last,
        statistic: Statistic::Counts,
        transition: Move::Gibbs,
    };
    let start = dense(&sgs.lda_model().initial(&batches[0], sgs.seed).counts);
    let mut counts = vec![0_u64; 30 * 4];
    for batch in &batches {
        let nothing = counts.iter().all(|&count| count == 0);
        let value = |i: usize| if nothing { start[i] } else { counts[i] as f64 };
        let total = |k: usize| (0..30).map(|w| value(w * 4 + k)).sum::<f64>();
        let beta = (0..120).map(|i| (value(i) + 0.01) / (total(i % 4) + 30.0 * 0.01)).collect();
        let view = view_of(&Topics { beta, alpha: vec![0.25; 4] }, batch);
        let fresh = expect(&local, &view, batch, sgs.seed);
        for (row, &word) in batch.words().iter().enumerate() {
            for k in 0..4 {
                counts[word as usize * 4 + k] +=
                    (fresh.counts[row * 4 + k] * batch.len() as f64).round() as u64;
            }
        }
    }
    assert_eq!(counts.iter().sum::<u64>(), learnt.tokens);
    let seen = learnt.clock.seen as f64;
    for (found, &count) in dense(&learnt.state.counts).iter().zip(&counts) {
        assert!((found * seen - count as f64).abs() < 1e-9, "{} is not {count}", found * seen);
    }
}

/// As its corpus grows, the posterior of online LDA concentrates and `exp E[log beta]` becomes beta.
#[test]
fn online_lda_of_an_endless_corpus_is_variational_oem() {
    let batches = minibatches(&grouped(60, 4, 30, 20, 3), 10);
    let limit = Method { global: NO_SMOOTHING, step: SOFT, alpha: AlphaRule::Newton, ..Method::V_OEM };
    let limit = train(settings(limit, 4, 30, 10), &batches);
    let mut last = f64::INFINITY;
    for documents in [1e4, 1e6, 1e8, 1e10] {
        let method = Method { step: SOFT, ..Method::OLDA }.with_population(documents);
        let found = train(settings(method, 4, 30, 10), &batches);
        let distance = distance(&dense(&found.state.counts), &dense(&limit.state.counts));
        assert!(distance < 0.1 * last, "D = {documents}: {distance:.2e} after {last:.2e}");
        last = distance;
    }
    assert!(last < 1e-6, "{last:.2e}");
}

/// The same for Gibbs sampling: equal weights and equal streams give equal draws.
#[test]
fn vargibbs_of_an_endless_corpus_is_gibbs_oem_with_counts() {
    let batches = minibatches(&grouped(60, 4, 30, 20, 4), 10);
    let limit = Method {
        local: Method::VAR_GIBBS.local,
        global: NO_SMOOTHING,
        step: SOFT,
        alpha: AlphaRule::Fixed(None),
        ..Method::G_OEM
    };
    let endless = Method { step: SOFT, ..Method::VAR_GIBBS }.with_population(1e13);
    let found = train(settings(endless, 4, 30, 10), &batches);
    assert_same("VarGibbs", &found, &train(settings(limit, 4, 30, 10), &batches), 1e-12);
}

/// With one pass there is no second one that boosting could serve.
#[test]
fn boosting_one_pass_changes_nothing() {
    let batches = minibatches(&grouped(50, 3, 20, 12, 5), 10);
    for named in Method::NAMED {
        let method = Method { sweeps: 1, ..named.method.with_population(50.0) };
        if (Method { boost: true, ..method }).validate().is_err() {
            continue; // Langevin moves and collapsed Gibbs sampling cannot be boosted.
        }
        let run = |boost| train(settings(Method { boost, ..method }, 3, 20, 10), &batches);
        assert_eq!(run(true).hash(), run(false).hash(), "{}", named.name);
    }
}

/// Boosting must change something as soon as there are two passes, or the test above would prove nothing.
#[test]
fn boosting_two_passes_matters() {
    let batches = minibatches(&grouped(50, 3, 20, 12, 5), 10);
    for base in [Method::G_OEM, Method::V_OEM, Method::SVB] {
        let run = |boost| train(settings(Method { boost, sweeps: 2, ..base }, 3, 20, 10), &batches);
        assert_ne!(run(true).hash(), run(false).hash(), "{base:?}");
    }
}

/// A minibatch is a mean: copies of a document weigh as much as one of it.
#[test]
fn copies_of_a_document_count_once() {
    let document = &grouped(9, 3, 20, 30, 6)[8];
    for base in [Method::V_OEM, Method::V_OEM_PLUS, Method::OLDA.with_population(100.0)] {
        let run = |copies: usize| {
            let batches: Vec<Minibatch> =
                (0..4).map(|first| Minibatch::new(&vec![document.clone(); copies], first, 0)).collect();
            train(settings(base, 3, 20, copies), &batches)
        };
        assert_same("copies", &run(7), &run(1), 1e-11);
    }
}

/// Topics have no order: a start with its topics renamed leads to the same topics renamed.
#[test]
fn renamed_topics_stay_renamed() {
    let batches = minibatches(&grouped(60, 4, 30, 20, 7), 10);
    let to = [2, 0, 3, 1];
    let rename = |values: &[f64]| {
        let mut out = values.to_vec();
        for (row, out) in values.chunks(4).zip(out.chunks_mut(4)) {
            (0..4).for_each(|k| out[to[k]] = row[k]);
        }
        out
    };
    for base in [Method::V_OEM, Method::V_OEM_PLUS, Method::SPLDA, Method::OLDA.with_population(60.0)] {
        let settings = settings(Method { step: SOFT, ..base }, 4, 30, 10);
        let plain = train(settings.clone(), &batches);
        let LdaState { counts, alpha, alpha_sum, .. } =
            settings.lda_model().initial(&batches[0], settings.seed);
        let start = Learnt {
            state: LdaState {
                counts: TopicStats::new(4, rename(&dense(&counts)), false),
                alpha,
                alpha_sum,
                sticks: None,
            },
            clock: settings.method.step.start(settings.batch),
            tokens: 0,
            word_counts: vec![0; 30],
        };
        let mut trainer = Trainer::resume(settings.clone(), start.fitted(&settings), 1).unwrap();
        batches.iter().for_each(|batch| assert!(trainer.partial_fit(batch).is_ok()));
        let found = learnt(&trainer);
        let expected = rename(&dense(&plain.state.counts));
        assert_close("counts", &dense(&found.state.counts), &expected, 1e-9);
        assert_close("alpha", &found.state.alpha.alpha, &rename(&plain.state.alpha.alpha), 1e-9);
    }
}

/// A population of "those seen" is that of the incremental steps, head start included.
#[test]
fn svb_grows_with_the_stream() {
    let TopicRule::Bayes { population, .. } = Method::SVB.global else { panic!("SVB is Bayesian") };
    assert_eq!(population, Population::Seen);
    let learnt = train(settings(Method::SVB, 3, 20, 10), &minibatches(&grouped(25, 3, 20, 12, 5), 10));
    assert_eq!((learnt.clock.head_start, learnt.clock.seen, learnt.clock.rho), (10, 25, 5.0 / 35.0));
}
