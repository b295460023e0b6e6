//! Models made from models, against sums done by hand.

#![allow(clippy::unwrap_used, reason = "helpers of tests count as tests")]

use gibbstream::corpus::{Document, Vocabulary};
use gibbstream::explore::report::Label;
use gibbstream::file::{Features, Model};
use gibbstream::learn::averaging::Averaging;
use gibbstream::learn::merging::{MergeOptions, merge, regroup};
use gibbstream::learn::schedule::StepSize;
use gibbstream::learn::{Settings, Snapshot, TrainingRun};
use std::collections::BTreeMap;
use std::path::Path;

const OPTIONS: MergeOptions<'static> = MergeOptions { same: 0.5, union: false, base: None };
const WORDS: [&str; 9] = ["star", "planet", "orbit", "butter", "flour", "sugar", "goal", "match", "team"];

/// Documents about three things; which one follows from their place.
fn document(place: u64) -> Document {
    let start = 3 * (place % 3) as u32;
    let other = 3 * ((place + 1) % 3) as u32;
    let tokens = [start, start, start + 1, start + 2, start + (place % 2) as u32, other];
    Document::from_tokens(&tokens)
}

fn settings() -> Settings {
    Settings::new(3).vocabulary(9).batch(10).seed(4)
}

fn learn(run: &mut TrainingRun, documents: std::ops::Range<u64>) {
    run.begin(None);
    for place in documents {
        run.push(document(place).into(), &mut ()).unwrap();
    }
    run.close(&mut ()).unwrap();
}

fn learnt(settings: Settings, words: &[&str], documents: std::ops::Range<u64>) -> Model {
    let features = Features::Words(Vocabulary::new(words.to_vec()).unwrap());
    let mut run = TrainingRun::new(settings, features, None, 1).unwrap();
    learn(&mut run, documents);
    run.lend(|model| Ok(model.clone())).unwrap()
}

fn continued(model: &Model, documents: std::ops::Range<u64>) -> Snapshot {
    let mut run = TrainingRun::resume(model.clone(), model.settings.clone(), 1).unwrap();
    learn(&mut run, documents);
    run.snapshot().unwrap()
}

/// Expected tokens per document of each (word, topic).
fn means(model: &Model) -> Vec<f64> {
    let counts = &model.topic_state().unwrap().counts;
    (0..counts.words() as u32)
        .flat_map(|word| {
            counts.scaled_row(word).iter().map(|value| value * counts.scale()).collect::<Vec<_>>()
        })
        .collect()
}

fn close(a: &[f64], b: &[f64]) {
    assert_eq!(a.len(), b.len());
    for (a, b) in a.iter().zip(b) {
        assert!((a - b).abs() <= 1e-12 * a.abs().max(1e-12), "{a} {b}");
    }
}

#[test]
fn statistics_of_parts_add_up() {
    let base = learnt(settings(), &WORDS, 0..60);
    let (a, b) = (continued(&base, 60..160), continued(&base, 160..200));
    let merged = merge(&[("a", &a), ("b", &b)], &OPTIONS).unwrap();
    let (na, nb) = (160.0, 100.0);
    let expected: Vec<f64> =
        means(&a).iter().zip(means(&b)).map(|(a, b)| (na * a + nb * b) / (na + nb)).collect();
    close(&means(&merged.model), &expected);
    let clock = merged.model.clock();
    assert_eq!((clock.seen, clock.update), (260, a.clock().update + b.clock().update));
    let counts: Vec<u64> = a.word_counts().iter().zip(b.word_counts()).map(|(a, b)| a + b).collect();
    assert_eq!((merged.model.word_counts(), merged.model.tokens()), (&counts[..], a.tokens() + b.tokens()));
    let order: Vec<usize> = merged.pairs[0].iter().map(|found| found.pair.b).collect();
    assert_eq!(order, [0, 1, 2], "learnt on from one model");
    // It is a model like any other: it can be written, read, and learnt on.
    let bytes = merged.model.to_bytes().unwrap();
    let (read, _) = Model::parse(Path::new("merged"), &bytes).unwrap();
    assert_eq!(read.hash(), merged.model.hash());
    let on = continued(&merged.model, 200..220);
    assert_eq!(on.clock().seen, 280);
    assert_eq!(on.history.iter().map(|entry| entry.documents).sum::<u64>() % 20, 0);
}

/// With the model that both went on from, every document counts once: word counts are those of learning from all of them.
#[test]
fn what_parts_have_in_common_counts_once() {
    let base = learnt(settings(), &WORDS, 0..60);
    let (a, b) = (continued(&base, 60..160), continued(&base, 160..200));
    let base = Snapshot::new(base);
    let options = MergeOptions { base: Some(("base", &base)), ..OPTIONS };
    let merged = merge(&[("a", &a), ("b", &b)], &options).unwrap().model;
    let whole = learnt(settings(), &WORDS, 0..200);
    assert_eq!((merged.word_counts(), merged.tokens()), (whole.word_counts(), whole.tokens()));
    assert_eq!(merged.clock().seen, 200);
    let expected: Vec<f64> =
        means(&a).iter().zip(means(&b)).map(|(a, b)| (100.0 * a + 40.0 * b) / 140.0).collect();
    close(&means(&merged), &expected);
    let refused = merge(&[("a", &a), ("base", &base)], &options).unwrap_err().to_string();
    assert!(refused.starts_with("base: it was not learnt on from base"), "{refused}");
}

/// With plain averages of everything, merging parts whose statistics do not depend on each other is learning from all: one
/// topic, whose expected counts are those of the words.
#[test]
fn one_topic_learnt_in_parts_is_the_topic_of_all() {
    let settings = || {
        let mut settings = settings();
        settings.components = 1;
        settings.method.step = StepSize::Incremental { head_start: 0 };
        settings
    };
    let (a, b) = (learnt(settings(), &WORDS, 0..90), learnt(settings(), &WORDS, 90..130));
    let (a, b) = (Snapshot::new(a), Snapshot::new(b));
    let merged = merge(&[("a", &a), ("b", &b)], &OPTIONS).unwrap().model;
    let whole = learnt(settings(), &WORDS, 0..130);
    for (a, b) in means(&merged).iter().zip(means(&whole)) {
        assert!((a - b).abs() < 1e-6 * b, "{a} {b}: statistics of minibatches are rounded");
    }
    assert_eq!(merged.word_counts(), whole.word_counts());
}

#[test]
fn topics_and_words_in_another_order_are_found() {
    let base = learnt(settings(), &WORDS, 0..60);
    let (a, b) = (continued(&base, 60..160), continued(&base, 160..200));
    let straight = merge(&[("a", &a), ("b", &b)], &OPTIONS).unwrap().model;
    let turned = Snapshot::new(regroup("b", &b, &[vec![2], vec![0], vec![1]]).unwrap());
    let merged = merge(&[("a", &a), ("b", &turned)], &OPTIONS).unwrap();
    assert_eq!(merged.pairs[0].iter().map(|found| found.pair.b).collect::<Vec<_>>(), [1, 2, 0]);
    close(&means(&merged.model), &means(&straight));

    // The same documents with words in another order, and one more that nobody else knows.
    let mut words = WORDS.to_vec();
    words.swap(0, 8);
    words.push("comet");
    let features = Features::Words(Vocabulary::new(words.clone()).unwrap());
    let other = |place: u64| {
        let swapped = |word: u32| match word {
            0 => 8,
            8 => 0,
            word => word,
        };
        let tokens: Vec<u32> = document(place)
            .words
            .iter()
            .flat_map(|&(word, count)| vec![swapped(word); count as usize])
            .collect();
        Document::from_tokens(&tokens)
    };
    let mut run = TrainingRun::new(settings().vocabulary(10), features, None, 1).unwrap();
    for place in 0..200 {
        run.push(other(place).into(), &mut ()).unwrap();
    }
    let c = run.snapshot().unwrap();
    let refused = merge(&[("a", &a), ("c", &c)], &OPTIONS).unwrap_err().to_string();
    assert!(refused.contains("the models know different words: 1 of 10 are not known to all"), "{refused}");
    let options = MergeOptions { union: true, ..OPTIONS };
    let merged = merge(&[("a", &a), ("c", &c)], &options).unwrap();
    assert_eq!((merged.partial_words, merged.model.settings.features), (1, 10));
    let vocabulary = merged.model.features.vocabulary();
    for word in WORDS.iter().chain(&["comet"]) {
        let count = |model: &Model| {
            model.features.vocabulary().id(word).map_or(0, |id| model.word_counts()[id as usize])
        };
        assert_eq!(merged.model.word_counts()[vocabulary.id(word).unwrap() as usize], count(&a) + count(&c));
    }
}

#[test]
fn means_of_parameters_are_means_over_all_updates() {
    let settings = || {
        let mut settings = settings();
        settings.method.averaging = Averaging::Uniform;
        settings
    };
    let base = learnt(settings(), &WORDS, 0..60);
    let (a, b) = (continued(&base, 60..160), continued(&base, 160..200));
    let merged = Snapshot::new(merge(&[("a", &a), ("b", &b)], &OPTIONS).unwrap().model);
    let topics = |model: &Snapshot| model.parameters().unwrap().topics().unwrap().topics.clone();
    let (ua, ub) = (a.clock().update as f64, b.clock().update as f64);
    let mean = |(a, b): (&f64, &f64)| (ua * a + ub * b) / (ua + ub);
    let expected: Vec<f64> = topics(&a).beta.iter().zip(&topics(&b).beta).map(mean).collect();
    for (found, expected) in topics(&merged).beta.iter().zip(&expected) {
        assert!((found - expected).abs() < 1e-12, "{found} {expected}");
    }
    // One topic more than before is a mixture of two, by their tokens.
    let joined = Snapshot::new(regroup("a", &a, &[vec![0, 2], vec![1]]).unwrap());
    let tokens = a.topic_state().unwrap().counts.topic_tokens();
    let (before, after) = (topics(&a), topics(&joined));
    for word in 0..9 {
        let row = before.row(word);
        let expected = (tokens[0] * row[0] + tokens[2] * row[2]) / (tokens[0] + tokens[2]);
        assert!((after.row(word)[0] - expected).abs() < 1e-12);
        assert!((after.row(word)[1] - row[1]).abs() < 1e-12);
    }
}

#[test]
fn joined_topics_add_their_counts_and_alpha() {
    let model = Snapshot::new(learnt(settings(), &WORDS, 0..120));
    let joined = regroup("m", &model, &[vec![2, 0], vec![1]]).unwrap();
    let (before, after) = (means(&model), means(&joined));
    for word in 0..9 {
        let row = &before[3 * word..][..3];
        close(&after[2 * word..][..2], &[row[2] + row[0], row[1]]);
    }
    let (old, new) = (&model.topic_state().unwrap().alpha.alpha, &joined.topic_state().unwrap().alpha.alpha);
    close(new, &[old[2] + old[0], old[1]]);
    assert_eq!(joined.word_counts(), model.word_counts());
    let alone = regroup("m", &model, &[vec![1]]).unwrap();
    assert_eq!((alone.components(), alone.settings.components), (1, 1));
    continued(&joined, 120..140);
    for (groups, problem) in [
        (vec![vec![3]], "m: there is no topic 3: the model has topics 0 to 2"),
        (vec![vec![0], vec![1, 0]], "m: topic 0 is named twice"),
        (vec![], "m: no topic would be left"),
    ] {
        assert!(regroup("m", &model, &groups).unwrap_err().to_string().starts_with(problem));
    }
}

#[test]
fn labels_stay_with_their_topics() {
    let label = |text: &str| Label { label: Some(text.into()), ..Label::default() };
    let base = learnt(settings(), &WORDS, 0..60);
    let hash = base.hash();
    let mut named = base.clone();
    named.set_labels(&BTreeMap::from([(0, label("first")), (2, label("third"))])).unwrap();
    assert_eq!(named.hash(), hash, "labels are not part of what was learnt");
    let a = continued(&named, 60..160);
    assert_eq!(a.labels(), named.labels(), "learning on keeps them");
    let mut other = continued(&base, 160..200).clone();
    other.set_labels(&BTreeMap::from([(0, label("another")), (1, label("second"))])).unwrap();
    let b = Snapshot::new(regroup("b", &Snapshot::new(other), &[vec![1], vec![0], vec![2]]).unwrap());
    assert_eq!(b.labels()[&0], label("second"));
    let merged = merge(&[("a", &a), ("b", &b)], &OPTIONS).unwrap().model;
    let names: Vec<Option<String>> = merged.labels().into_values().map(|label| label.label).collect();
    assert_eq!(names, [Some("first".into()), Some("second".into()), Some("third".into())]);
    let joined = regroup("m", &Snapshot::new(merged), &[vec![0, 2], vec![1]]).unwrap();
    assert_eq!(joined.labels()[&0], label("first / third"));
}

#[test]
fn models_that_do_not_belong_together_are_refused() {
    let base = learnt(settings(), &WORDS, 0..60);
    let a = continued(&base, 60..160);
    let mut four = settings();
    four.components = 4;
    let refused = |options: &MergeOptions<'_>, other: Model| {
        merge(&[("a", &a), ("b", &Snapshot::new(other))], options).unwrap_err().to_string()
    };
    let other = learnt(four, &WORDS, 0..60);
    assert_eq!(
        refused(&OPTIONS, other),
        "b: it has 4 topics, and a has 3; train all parts with the same number of topics"
    );
    let mut langevin = settings();
    (langevin.name, langevin.method) =
        ("lds".into(), gibbstream::Method::published("lds").unwrap().with_population(60.0));
    assert!(
        refused(&OPTIONS, learnt(langevin, &WORDS, 0..60)).starts_with("b: lds holds topics that were drawn")
    );
    let hdp = Settings::of(gibbstream::learn::ModelKind::by_name("hdp").unwrap(), 2, "g-oem").unwrap();
    let hdp = learnt(hdp.vocabulary(9).batch(10), &WORDS, 0..60);
    assert!(refused(&OPTIONS, hdp).starts_with("b: the number of its topics is open"));
    // Topics of other documents under the same words.
    let features = Features::Words(Vocabulary::new(WORDS).unwrap());
    let mut run = TrainingRun::new(settings(), features, None, 1).unwrap();
    for place in 0..100_u32 {
        run.push(Document::from_tokens(&[place % 9, (place + 3) % 9, (place + 6) % 9]).into(), &mut ())
            .unwrap();
    }
    let text = refused(&MergeOptions { same: 0.9, ..OPTIONS }, run.lend(|model| Ok(model.clone())).unwrap());
    assert!(text.contains("topics are not those of a"), "{text}");
}
