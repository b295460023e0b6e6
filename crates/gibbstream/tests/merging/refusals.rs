//! What does not belong together is refused, and what is damaged is refused without a panic.

use super::rows::observations;
use super::topics::{cut, gibbs, online, settings};
use super::*;
use gibbstream::corpus::{Document, Minibatch};
use gibbstream::inference::exact::Exact;
use gibbstream::inference::gibbs::{Gibbs, Window};
use gibbstream::inference::mean_field::MeanField;
use gibbstream::inference::scales::ScaleGibbs;
use gibbstream::learn::method::Method;
use gibbstream::learn::online::{OnlineSettings, e_step};
use gibbstream::learn::{ModelKind, Settings};
use gibbstream::model::Sums;
use gibbstream::model::rows::families::gaussian::Gaussian;
use gibbstream::model::rows::ica::{Ica, Noise, Sources};
use gibbstream::model::rows::mixture::Mixture;
use gibbstream::model::rows::observations::Observations;
use gibbstream::model::topics::hdp::{Hdp, HdpSettings};
use gibbstream::model::topics::lda::Lda;
use gibbstream::model::topics::statistics::TopicStatistics;
use gibbstream::model::topics::view::TopicView;
use proptest::prelude::*;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::LazyLock;

fn lda_run(topics: usize) -> Online<Lda, Gibbs> {
    let settings = settings(Method { sweeps: 8, ..Method::G_OEM }, topics);
    let mut run = online(&settings, settings.lda_model(), gibbs(&settings.method));
    run.begin(&cut(0..24)).unwrap();
    run
}

fn hdp_run() -> Online<Hdp, Gibbs> {
    let method = Method { sweeps: 8, ..Method::HDP_G_OEM };
    let settings = Settings { model: ModelKind::Hdp(HdpSettings::default()), ..settings(method, 2) };
    let mut run = online(&settings, settings.hdp_model(), gibbs(&settings.method));
    run.begin(&cut(0..24)).unwrap();
    run
}

/// The statistics of some documents with the parameters as they are.
fn part<M, L>(run: &Online<M, L>, places: Range<usize>) -> TopicStatistics
where
    M: LatentModel<Batch = Minibatch, Statistics = TopicStatistics>,
    L: LocalInference<M>,
{
    run.e_step(&run.view(&cut(0..48)).unwrap(), &cut(places)).unwrap()
}

/// A merge that is refused leaves statistics as they were, so that one may go on with others.
fn assert_refused(mine: &TopicStatistics, other: &TopicStatistics, reason: &str) {
    let mut merged = mine.clone();
    let error = merged.merge(other).unwrap_err().to_string();
    assert!(error.contains(reason), "{error}");
    assert!(to_bytes(&merged) == to_bytes(mine), "unchanged after: {error}");
}

#[test]
fn a_document_in_two_blocks_is_noticed_if_it_has_met_topics() {
    let run = hdp_run();
    assert_refused(&part(&run, 0..30), &part(&run, 20..48), "is counted twice");
    let (mut left, right) = (part(&run, 0..30), part(&run, 30..48));
    left.merge(&right).unwrap();
    assert!(to_bytes(&left) == to_bytes(&part(&run, 0..48)));
}

#[test]
fn statistics_of_two_views_do_not_merge() {
    let mut run = lda_run(5);
    let before = part(&run, 0..24);
    let mean_field = {
        let settings = settings(Method { sweeps: 2, ..Method::V_OEM }, 5);
        let mut run = online(&settings, settings.lda_model(), MeanField { iterations: 2 });
        run.begin(&cut(0..24)).unwrap();
        part(&run, 24..48)
    };
    assert_refused(&before, &mean_field, "do not belong together");
    assert_refused(&before, &part(&lda_run(4), 24..48), "5 topics after update 0 and 4 topics");
    assert_refused(&before, &part(&hdp_run(), 24..48), "do not belong together");
    run.absorb(&before).unwrap();
    assert_refused(&before, &part(&run, 24..48), "after update 0 and 5 topics after update 1");
}

/// What is refused leaves the state as it was.
#[test]
fn statistics_of_another_model_are_not_absorbed() {
    let mut run = lda_run(5);
    let (state, clock) = (bits(&run), run.clock());
    assert!(run.absorb(&part(&lda_run(4), 0..24)).is_err(), "fewer topics");
    assert!(run.absorb(&part(&lda_run(6), 0..24)).is_err(), "more topics");
    let wide = Settings { features: 2_000, ..settings(Method { sweeps: 2, ..Method::G_OEM }, 5) };
    let mut other = online(&wide, wide.lda_model(), gibbs(&wide.method));
    let batch = Minibatch::new(&[Document::from_tokens(&[3, 1_999])], 0, 0);
    other.begin(&batch).unwrap();
    let foreign = other.e_step(&other.view(&batch).unwrap(), &batch).unwrap();
    assert!(run.absorb(&foreign).is_err(), "more words");
    assert!(run.e_step(&other.view(&batch).unwrap(), &batch).is_err(), "a word that there is not");
    assert_eq!((bits(&run), run.clock()), (state, clock));
    assert_eq!(run.absorb(&TopicStatistics::default()).unwrap(), clock, "nothing is learnt from nothing");

    let model = Mixture::new(3, 4, Gaussian::default()).unwrap();
    let mut run = Online::new(model, Exact, OnlineSettings::default()).unwrap();
    let mut one = Sums::new(1);
    one.add(&[1.0]);
    assert!(run.absorb(&one).is_err(), "there is no start");
    run.begin(&observations(0..70)).unwrap();
    let state = bits(&run);
    assert!(run.absorb(&one).is_err(), "another number of statistics");
    assert_eq!(bits(&run), state);
}

/// A view covers the words it was made for, and no others.
#[test]
fn words_that_a_view_does_not_cover_are_refused() {
    let run = lda_run(5);
    let view = run.view(&cut(0..3)).unwrap();
    let error = run.e_step(&view, &cut(3..24)).unwrap_err().to_string();
    assert!(error.contains("which the view does not cover"), "{error}");
    assert_eq!(run.e_step(&view, &cut(0..0)).unwrap().weight(), 0);
}

/// Statistics and views of all kinds, as bytes.
static EXAMPLES: LazyLock<[Vec<Vec<u8>>; 2]> = LazyLock::new(|| {
    let settings = settings(Method { sweeps: 4, ..Method::V_OEM }, 3);
    let mut dense = online(&settings, settings.lda_model(), MeanField { iterations: 4 });
    dense.begin(&cut(0..24)).unwrap();
    let (sparse, open) = (lda_run(5), hdp_run());
    let statistics = [part(&sparse, 0..9), part(&open, 0..9), part(&dense, 0..9), TopicStatistics::default()];
    let few = cut(8..12);
    let views = [sparse.view(&few), open.view(&few), dense.view(&few)].map(|view| to_bytes(&view.unwrap()));
    [statistics.iter().map(to_bytes).collect(), views.to_vec()]
});

#[test]
fn damaged_and_truncated_bytes_are_refused() {
    let [statistics, views] = &*EXAMPLES;
    for (bytes, is_view) in statistics.iter().map(|s| (s, false)).chain(views.iter().map(|v| (v, true))) {
        let reads = |bytes: &[u8]| {
            if is_view {
                from_bytes::<TopicView>(bytes).is_ok()
            } else {
                from_bytes::<TopicStatistics>(bytes).is_ok()
            }
        };
        assert!(reads(bytes));
        (0..bytes.len()).for_each(|end| assert!(!reads(&bytes[..end]), "{end} of {} bytes", bytes.len()));
        assert!(!reads(&[bytes.as_slice(), &[0]].concat()), "one byte more");
        for place in 0..bytes.len() {
            let mut damaged = bytes.clone();
            damaged[place] ^= 1 << (place % 8);
            assert!(!reads(&damaged), "byte {place}");
        }
    }
    assert!(
        from_bytes::<TopicView>(&statistics[0]).is_err() && from_bytes::<TopicStatistics>(&views[0]).is_err()
    );
}

/// A checksum that fits, as somebody would write it who means harm.
fn signed(body: &[u8]) -> Vec<u8> {
    let magic = &to_bytes(&())[..8];
    [magic, blake3::hash(body).as_bytes(), body].concat()
}

/// A place, what to do there, and a byte.
type Change = (usize, u8, u8);

fn changes() -> impl Strategy<Value = Vec<Change>> {
    prop::collection::vec((0_usize..100_000, any::<u8>(), any::<u8>()), 1..4)
}

/// A few bytes of the body changed, dropped or added.
fn mutated(bytes: &[u8], changes: &[Change]) -> Vec<u8> {
    let mut body = bytes[40..].to_vec();
    for &(place, kind, value) in changes {
        let place = place % (body.len() + 1);
        match (kind % 4, body.get_mut(place)) {
            (0, Some(byte)) => *byte = value,
            (1, Some(byte)) => *byte ^= 1 << (value % 8),
            (2, Some(_)) => drop(body.remove(place)),
            _ => body.insert(place, value),
        }
    }
    signed(&body)
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 1000, failure_persistence: None, rng_seed: proptest::test_runner::RngSeed::Fixed(7), ..ProptestConfig::default() })]

    /// Whatever is written under a right checksum: it is refused, or it can be merged and absorbed. No panic either way.
    #[test]
    fn wrong_statistics_do_no_harm(changes in changes()) {
        let [statistics, _] = &*EXAMPLES;
        for (kind, bytes) in statistics.iter().enumerate() {
            let bytes = mutated(bytes, &changes);
            let outcome = catch_unwind(AssertUnwindSafe(|| {
                let Ok(read) = from_bytes::<TopicStatistics>(&bytes) else { return };
                assert!(to_bytes(&read) == to_bytes(&from_bytes::<TopicStatistics>(&to_bytes(&read)).unwrap()));
                if kind == 1 {
                    let mut run = hdp_run();
                    drop(part(&run, 9..12).merge(&read));
                    drop(run.absorb(&read));
                } else {
                    let mut run = lda_run(if kind == 2 { 3 } else { 5 });
                    drop(part(&run, 9..12).merge(&read));
                    drop(run.absorb(&read));
                }
            }));
            prop_assert!(outcome.is_ok(), "statistics {kind}");
        }
    }

    /// The same for views: they are refused, or documents can be inferred with them.
    #[test]
    fn wrong_views_do_no_harm(changes in changes()) {
        let [_, views] = &*EXAMPLES;
        for (kind, bytes) in views.iter().enumerate() {
            let bytes = mutated(bytes, &changes);
            let outcome = catch_unwind(AssertUnwindSafe(|| {
                let Ok(view) = from_bytes::<TopicView>(&bytes) else { return };
                let block = cut(8..12);
                match kind {
                    0 => drop(lda_run(5).e_step(&view, &block)),
                    1 => drop(hdp_run().e_step(&view, &block)),
                    _ => {
                        let model = settings(Method::V_OEM, 3).lda_model();
                        drop(e_step(&model, &MeanField { iterations: 2 }, &view, &block, Seed(1)));
                    }
                }
            }));
            prop_assert!(outcome.is_ok(), "view {kind}");
        }
    }

    /// The same for models of rows.
    #[test]
    fn wrong_bytes_of_models_of_rows_do_no_harm(changes in changes()) {
        let model = Mixture::new(3, 4, Gaussian::default()).unwrap();
        let mixture = || Online::new(model.clone(), Exact, OnlineSettings::default()).unwrap();
        prop_assert!(survives(mixture, &changes), "a mixture");
        for law in [Sources::Laplace, Sources::Student(None)] {
            let model = Ica { dimension: 4, sources: 2, law, noise: Noise::Diagonal, learn_scale: true, floor: 1e-6 };
            let local = ScaleGibbs { sweeps: 2, window: Window::Last };
            prop_assert!(survives(|| Online::new(model, local, OnlineSettings::default()).unwrap(), &changes), "{law:?}");
        }
    }
}

/// Whether no wrong bytes of a view or of statistics make a run panic.
fn survives<M: LatentModel<Batch = Observations>, L: LocalInference<M>>(
    new: impl Fn() -> Online<M, L>,
    changes: &[Change],
) -> bool {
    let (mut run, block) = (new(), observations(0..20));
    run.begin(&block).unwrap();
    let view = run.view(&block).unwrap();
    let bytes =
        [to_bytes(&view), to_bytes(&run.e_step(&view, &block).unwrap())].map(|b| mutated(&b, changes));
    let work = || {
        if let Ok(view) = from_bytes::<M::View>(&bytes[0]) {
            drop(run.e_step(&view, &block));
        }
        if let Ok(read) = from_bytes::<M::Statistics>(&bytes[1]) {
            drop(read.clone().merge(&read));
            drop(run.absorb(&read));
        }
    };
    catch_unwind(AssertUnwindSafe(work)).is_ok()
}
