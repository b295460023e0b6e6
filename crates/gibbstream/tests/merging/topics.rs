//! Topic models, by every method that can be split.

use super::*;
use gibbstream::conformance::{blocks_agree, laws};
use gibbstream::corpus::{Document, Length, Minibatch, OpenRule, OpenVocabulary, Synthetic, Truth};
use gibbstream::inference::chain::Move;
use gibbstream::inference::gibbs::{Gibbs, Statistic, Window};
use gibbstream::inference::mean_field::MeanField;
use gibbstream::inference::predictive::PredictiveGibbs;
use gibbstream::learn::averaging::Averaging;
use gibbstream::learn::batch_size::BatchSize;
use gibbstream::learn::method::{Local, Method};
use gibbstream::learn::online::OnlineSettings;
use gibbstream::learn::schedule::StepSize;
use gibbstream::learn::{ModelKind, Settings};
use gibbstream::model::topics::alpha::AlphaRule;
use gibbstream::model::topics::hdp::deaths::DeathRule;
use gibbstream::model::topics::hdp::{Hdp, HdpSettings};
use gibbstream::model::topics::lda::{Lda, LdaState};
use gibbstream::model::topics::statistics::TopicStatistics;

pub const VOCABULARY: usize = 60;
const SIZE: usize = 24;

/// Documents of a stream with eight topics, some of them empty and one of them long.
pub fn documents(places: Range<usize>) -> Vec<Document> {
    let truth = Truth::random(8, VOCABULARY, 0.1, 0.1, Seed(4)).unwrap();
    let stream = Synthetic::new(truth, Length::Poisson(30.0), Seed(1), u64::MAX).unwrap();
    let document = |place: usize| match place % 11 {
        5 => Document::default(),
        7 if place < 11 => Document { words: vec![(3, 1_500), (9, 2)], ..Document::default() },
        _ => stream.document(place as u64),
    };
    places.map(document).collect()
}

pub fn cut(places: Range<usize>) -> Minibatch {
    Minibatch::new(&documents(places.clone()), places.start as u64, 0)
}

pub fn settings(method: Method, topics: usize) -> Settings {
    let (name, batch, seed) = ("test".to_owned(), BatchSize::of(SIZE), Seed(3));
    Settings { batch, seed, ..Settings::new(topics).method(&name, method).vocabulary(VOCABULARY) }
}

/// The driver with the settings of a trainer.
pub fn online<M: LatentModel, L: LocalInference<M>>(settings: &Settings, model: M, local: L) -> Online<M, L> {
    let (method, batch, seed) = (settings.method, settings.batch, settings.seed);
    let run = OnlineSettings {
        step: method.step,
        averaging: method.averaging,
        boost: false,
        batch,
        seed,
        threads: 2,
    };
    Online::new(model, local, run).unwrap()
}

pub fn gibbs(method: &Method) -> Gibbs {
    let sweeps = method.sweeps;
    match method.local {
        Local::Gibbs { window, statistic } => Gibbs { sweeps, window, statistic, transition: Move::Gibbs },
        Local::MetropolisHastings { window, statistic } => {
            Gibbs { sweeps, window, statistic, transition: Move::MetropolisHastings }
        }
        _ => panic!("not here"),
    }
}

fn lda(name: &str, method: Method) -> LdaState {
    let settings = settings(Method { sweeps: 8, ..method }.with_population(100.0), 5);
    settings.validate().unwrap();
    match method.local {
        Local::MeanField => {
            let new = || online(&settings, settings.lda_model(), MeanField { iterations: 8 });
            same_bits(name, new, cut, (SIZE, 4))
        }
        _ => same_bits(
            name,
            || online(&settings, settings.lda_model(), gibbs(&settings.method)),
            cut,
            (SIZE, 4),
        ),
    }
}

#[test]
fn every_method_that_can_be_split() {
    let mut tried = 0;
    for named in Method::NAMED {
        let splits = !named.method.boost && !matches!(named.method.local, Local::CollapsedGibbs { .. });
        if splits {
            lda(named.name, named.method);
            tried += 1;
        }
    }
    assert_eq!(tried, 10);
}

#[test]
fn every_kind_of_statistic_step_and_mean() {
    let gibbs = |window, statistic| Method { local: Local::Gibbs { window, statistic }, ..Method::G_OEM };
    let last_half = Window::LastHalf;
    lda("in-sweep", gibbs(last_half, Statistic::InSweep));
    lda("counts", gibbs(Window::Last, Statistic::Counts));
    let local = Local::MetropolisHastings { window: last_half, statistic: Statistic::Counts };
    lda("counts of proposals", Method { local, ..Method::G_OEM });
    lda("tuned", Method::TUNED_G_OEM);
    for (name, base) in [("g-oem", Method::G_OEM), ("v-oem", Method::V_OEM), ("olda", Method::OLDA)] {
        lda(&format!("{name}, step 1"), Method { step: StepSize::Constant(1.0), ..base });
        for averaging in [Averaging::Uniform, Averaging::Tail(3)] {
            let state = lda(&format!("{name}, {averaging:?}"), Method { averaging, ..base });
            assert!(state.alpha_sum.iter().all(|&sum| sum > 0.0), "a mean is kept");
        }
        lda(&format!("{name}, Newton"), Method { alpha: AlphaRule::Newton, ..base });
    }
    lda("lds, averaged", Method { averaging: Averaging::Uniform, ..Method::LDS });
}

/// Rules that let topics go early, so that all that can happen does.
fn hdp(method: Method) -> (Settings, Hdp) {
    let method = Method { sweeps: 12, ..method }.with_population(1_000.0);
    let settings = Settings { model: ModelKind::Hdp(HdpSettings::default()), ..settings(method, 2) };
    settings.validate().unwrap();
    let deaths =
        DeathRule { first_look: 40, shortest_patience: 60.0, idle_documents: 100, ..DeathRule::DEFAULT };
    let model = Hdp { deaths, ..settings.hdp_model() };
    (settings, model)
}

/// Births compare documents of different blocks.
fn assert_births_and_deaths(state: &LdaState) {
    let sticks = state.sticks.as_ref().unwrap();
    assert!(sticks.created > 4, "{} topics were ever there", sticks.created);
    assert!((sticks.ids.len() as u64) < sticks.created, "some have gone");
}

#[test]
fn an_open_number_of_topics() {
    let (settings, model) = hdp(Method::HDP_G_OEM);
    let local = gibbs(&settings.method);
    let state = same_bits("hdp", || online(&settings, model.clone(), local), cut, (2 * SIZE, 6));
    assert_births_and_deaths(&state);
    let (settings, model) = hdp(Method::HDP_VAR_GIBBS);
    let local = PredictiveGibbs { sweeps: 12, window: Window::LastQuarter };
    let state = same_bits("hdp, vargibbs", || online(&settings, model.clone(), local), cut, (2 * SIZE, 6));
    assert_births_and_deaths(&state);
}

/// Expected counts of all words, topic by topic, as means.
fn numbers(statistics: &TopicStatistics) -> Vec<f64> {
    let counts = (0..statistics.words().len()).map(|word| statistics.mean_counts(word));
    counts.flat_map(|(counts, prior)| counts.into_iter().chain([prior])).collect()
}

fn blocks() -> Vec<Minibatch> {
    [0..5, 5..6, 6..11, 11..24].map(cut).to_vec()
}

#[test]
fn topics_obey_the_laws() {
    let whole = cut(0..24);
    let named = |local| Method { local, sweeps: 8, ..Method::G_OEM };
    let window = Window::LastQuarter;
    for statistic in [Statistic::RaoBlackwell, Statistic::Counts, Statistic::InSweep] {
        let settings = settings(named(Local::Gibbs { window, statistic }), 5);
        let local = gibbs(&settings.method);
        laws(&settings.lda_model(), &local, &whole, &blocks(), numbers, Seed(2)).unwrap();
    }
    for statistic in [Statistic::RaoBlackwell, Statistic::Counts] {
        let settings = settings(named(Local::MetropolisHastings { window, statistic }), 5);
        laws(&settings.lda_model(), &gibbs(&settings.method), &whole, &blocks(), numbers, Seed(2)).unwrap();
    }
    for method in [Method::V_OEM, Method::OLDA.with_population(100.0)] {
        let model = settings(method, 5).lda_model();
        laws(&model, &MeanField { iterations: 8 }, &whole, &blocks(), numbers, Seed(2)).unwrap();
    }
}

/// These cannot look ahead: which topics are born is decided when a minibatch is over.
#[test]
fn an_open_number_of_topics_obeys_the_laws() {
    let whole = cut(0..24);
    let (settings, model) = hdp(Method::HDP_G_OEM);
    let state = model.initial(&whole, Seed(2));
    let local = gibbs(&settings.method);
    blocks_agree(&model, &local, &state, &whole, &blocks(), Seed(2)).unwrap();
    let (_, model) = hdp(Method::HDP_VAR_GIBBS);
    let local = PredictiveGibbs { sweeps: 12, window: Window::LastQuarter };
    blocks_agree(&model, &local, &state, &whole, &blocks(), Seed(2)).unwrap();
}

/// Words that are numbers of hashes: several share one, and most numbers have none.
#[test]
fn hashed_words() {
    let bits = 9;
    let vocabulary = OpenVocabulary::new(OpenRule::Hash { bits }).unwrap();
    let cut = |places: Range<usize>| {
        let hashed = |document: &Document| {
            let words = document.words.iter().flat_map(|&(word, count)| {
                std::iter::repeat_n(vocabulary.find(&format!("word {}", word % 40)).unwrap(), count as usize)
            });
            Document::from_tokens(&words.collect::<Vec<u32>>())
        };
        let hashed: Vec<Document> = documents(places.clone()).iter().map(hashed).collect();
        Minibatch::new(&hashed, places.start as u64, 0)
    };
    let method = Method { sweeps: 8, ..Method::TUNED_G_OEM };
    let settings = Settings { features: 1 << bits, ..settings(method, 5) };
    same_bits("hashed", || online(&settings, settings.lda_model(), gibbs(&settings.method)), cut, (SIZE, 3));
}

/// A view of all words there are serves every block, and gives the statistics of a view that has just the words of the minibatch.
#[test]
fn a_view_of_the_whole_vocabulary() {
    let everything = Minibatch::new(&[Document::from_tokens(&(0..60).collect::<Vec<u32>>())], 0, 0);
    for base in [Method::G_OEM, Method::LDS, Method::VAR_GIBBS] {
        let settings = settings(Method { sweeps: 8, ..base }.with_population(100.0), 5);
        let mut run = online(&settings, settings.lda_model(), gibbs(&settings.method));
        for update in 0..3 {
            let minibatch = cut(update * SIZE..(update + 1) * SIZE);
            run.begin(&minibatch).unwrap();
            let (wide, narrow) = (run.view(&everything).unwrap(), run.view(&minibatch).unwrap());
            let mut merged = TopicStatistics::default();
            for start in (update * SIZE..(update + 1) * SIZE).step_by(3) {
                let block = cut(start..start + 3);
                assert!(block.words().len() < 40, "few of the words occur");
                let part = run.e_step(&wide, &block).unwrap();
                assert!(to_bytes(&part) == to_bytes(&run.e_step(&narrow, &block).unwrap()));
                merged.merge(&part).unwrap();
            }
            assert!(to_bytes(&merged) == to_bytes(&run.e_step(&wide, &minibatch).unwrap()));
            run.absorb(&merged).unwrap();
        }
        let mut alone: Online<Lda, Gibbs> = online(&settings, settings.lda_model(), gibbs(&settings.method));
        (0..3).for_each(|update| {
            alone.partial_fit(&cut(update * SIZE..(update + 1) * SIZE)).unwrap();
        });
        assert!(bits(&alone) == bits(&run));
    }
}
