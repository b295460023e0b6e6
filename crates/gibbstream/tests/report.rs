//! The report of a small model against numbers computed in another way.

#![allow(clippy::unwrap_used, reason = "helpers of tests count as tests")]

use gibbstream::corpus::{Document, Length, Minibatch, Synthetic, Vocabulary, themes};
use gibbstream::evaluation::coherence::{CoherenceCounter, UmassSmoothing};
use gibbstream::explore::page::{write_json, write_page};
use gibbstream::explore::report::{Label, Report};
use gibbstream::explore::{
    ExploreOptions, Explorer, Other, Record, RecordFields, SourceText, WordOrder, report,
};
use gibbstream::file::{Features, HistoryEntry};
use gibbstream::inference::mixtures::{MixtureInference, TopicMixture};
use gibbstream::learn::{Settings, Snapshot, TrainingRun};
use gibbstream::numerics::random::Seed;
use std::collections::BTreeMap;

const TOPICS: usize = 12;
const DOCUMENTS: usize = 400;

fn corpus() -> (Vocabulary, Vec<Document>) {
    let (_, words, truth) = themes();
    let documents = Synthetic::new(truth, Length::Poisson(40.0), Seed(5), DOCUMENTS as u64).unwrap();
    let mut documents: Vec<Document> = documents.map(Result::unwrap).collect();
    documents[7].words.clear();
    (Vocabulary::new(words).unwrap(), documents)
}

fn model(vocabulary: &Vocabulary, documents: &[Document], seed: u64) -> Snapshot {
    let settings =
        Settings { seed: Seed(seed), ..Settings::new(TOPICS).vocabulary(vocabulary.len()).batch(20) };
    let mut run = TrainingRun::new(settings, Features::Words(vocabulary.clone()), None, 1).unwrap();
    run.begin(Some(HistoryEntry::new("train", Vec::new())));
    for document in documents {
        run.push(document.clone().into(), &mut ()).unwrap();
    }
    run.snapshot().unwrap()
}

/// Documents with a time (five days) and a group (three).
fn records(documents: &[Document]) -> Vec<Record> {
    let record = |(index, document): (usize, &Document)| Record {
        document: Document { id: Some(format!("d{index}")), ..document.clone() },
        text: SourceText::Counts,
        time: Some((index / 80) as i64 * 86_400 * 7 + 3600),
        group: Some(["a", "b", "c"][index % 3].to_owned()),
    };
    documents.iter().enumerate().map(record).collect()
}

fn options() -> ExploreOptions {
    ExploreOptions {
        max_documents: 100,
        sweeps: 20,
        seed: Seed(2),
        fields: RecordFields { time: Some("date".into()), group: Some("source".into()) },
        ..ExploreOptions::default()
    }
}

/// A report made on so many threads, from documents handed over so many at a time.
fn explored(snapshot: &Snapshot, documents: &[Document], threads: usize, together: usize) -> Report {
    let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
    pool.install(|| {
        let options = options();
        let mut explorer = Explorer::new(snapshot, &options, None).unwrap();
        for some in records(documents).chunks(together) {
            explorer.look(some.to_vec()).unwrap();
        }
        explorer.finish().unwrap()
    })
}

fn mixtures(snapshot: &Snapshot, documents: &[Document]) -> Vec<TopicMixture> {
    let how = MixtureInference { sweeps: 20, seed: Seed(2), details: true };
    how.infer(&snapshot.parameters().unwrap().topics().unwrap().topics, &Minibatch::new(documents, 0, 0))
}

#[test]
fn a_report_does_not_depend_on_threads_or_on_how_documents_arrive() {
    let (vocabulary, documents) = corpus();
    let snapshot = model(&vocabulary, &documents, 1);
    let bytes = |report: &Report| {
        let mut bytes = Vec::new();
        write_json(report, &mut bytes).unwrap();
        bytes
    };
    let first = explored(&snapshot, &documents, 1, 1);
    for (threads, together) in [(1, 400), (3, 7), (4, 64)] {
        let again = explored(&snapshot, &documents, threads, together);
        assert!(again == first, "{threads} threads, {together} documents together");
        assert!(bytes(&again) == bytes(&first));
    }
}

#[test]
fn documents_have_the_mixtures_that_infer_gives() {
    let (vocabulary, documents) = corpus();
    let snapshot = model(&vocabulary, &documents, 1);
    let (report, all) = (explored(&snapshot, &documents, 2, 50), mixtures(&snapshot, &documents));
    let shown = report.documents.unwrap();
    assert_eq!((shown.total, shown.without_words, shown.ids.len()), (DOCUMENTS as u64, 1, 100));
    assert!(!shown.places.contains(&7), "a document without words is not shown");
    assert!(!shown.has_texts);
    let entries = &shown.mixtures;
    for (at, &place) in shown.places.iter().enumerate() {
        assert_eq!(shown.ids[at], format!("d{place}"));
        let mixture = &all[place as usize];
        for entry in entries.starts[at] as usize..entries.starts[at + 1] as usize {
            let topic = entries.topics[entry] as usize;
            assert_eq!(entries.shares[entry], mixture.theta[topic]);
            assert_eq!(entries.deviations[entry], mixture.spread[topic]);
        }
        // Every token is there with a topic.
        let text = &shown.texts.as_ref().unwrap()[at];
        assert_eq!(text.tokens.len() as u64, 3 * documents[place as usize].tokens());
        let mut drawn: Vec<u32> = text.tokens.chunks_exact(3).map(|token| token[2] as u32).collect();
        let mut expected: Vec<u32> = mixture.token_topics.iter().map(|&(_, topic)| topic).collect();
        drawn.sort_unstable();
        expected.sort_unstable();
        assert_eq!(drawn, expected);
    }
    for (topic, typical) in shown.typical.iter().enumerate() {
        let best = (0..DOCUMENTS).filter(|&place| place != 7).fold(0, |best, place| {
            if all[place].theta[topic] > all[best].theta[topic] { place } else { best }
        });
        assert_eq!(shown.places[typical[0] as usize], best as u64, "the most typical of topic {topic}");
    }
    let main_of: Vec<u64> = report.topics.iter().map(|topic| topic.documents.unwrap()).collect();
    assert_eq!(main_of.iter().sum::<u64>(), DOCUMENTS as u64 - 1);
}

#[test]
fn shares_by_time_and_group_are_those_of_all_tokens() {
    let (vocabulary, documents) = corpus();
    let snapshot = model(&vocabulary, &documents, 1);
    let (report, all) = (explored(&snapshot, &documents, 2, 33), mixtures(&snapshot, &documents));
    let share = |topic: usize, class: &dyn Fn(usize) -> bool| {
        let some = (0..DOCUMENTS).filter(|&place| class(place));
        let (mut part, mut whole) = (0.0, 0.0);
        for place in some {
            part += documents[place].tokens() as f64 * all[place].theta[topic];
            whole += documents[place].tokens() as f64;
        }
        part / whole
    };
    let groups = report.groups.unwrap();
    assert_eq!(groups.names, ["a", "b", "c"]);
    assert_eq!(groups.documents.iter().sum::<u64>(), DOCUMENTS as u64 - 1);
    let timeline = report.timeline.unwrap();
    assert_eq!((timeline.by.as_str(), timeline.starts.len()), ("day", 29));
    assert_eq!(timeline.starts[7], "1970-01-08T00:00:00Z");
    for topic in 0..TOPICS {
        for group in 0..3 {
            let expected = share(topic, &|place| place % 3 == group);
            assert!((groups.shares[topic][group].unwrap() - expected).abs() < 1e-12);
            let (low, high) = (groups.low[topic][group].unwrap(), groups.high[topic][group].unwrap());
            assert!(low < expected && expected < high);
        }
        for week in 0..5 {
            let expected = share(topic, &|place| place / 80 == week);
            assert!((timeline.shares[topic][7 * week].unwrap() - expected).abs() < 1e-12);
            // Tokens of followed words, counted again.
            let trends = &timeline.words[topic];
            for (place, &word) in trends.words.iter().enumerate() {
                let id = vocabulary.id(&report.words.text[word as usize]).unwrap();
                let tokens = (80 * week..80 * (week + 1)).flat_map(|place| &all[place].token_topics);
                let count = tokens.filter(|&&token| token == (id, topic as u32)).count();
                assert_eq!(trends.counts[place][7 * week] as usize, count);
            }
        }
        assert_eq!(timeline.shares[topic][1], None);
    }
}

#[test]
fn topics_have_the_numbers_of_the_library() {
    let (vocabulary, documents) = corpus();
    let snapshot = model(&vocabulary, &documents, 1);
    let report = explored(&snapshot, &documents, 2, 50);
    let parameters = snapshot.parameters().unwrap().topics().unwrap();
    let best: Vec<Vec<u32>> = snapshot
        .summaries(10, WordOrder::Telling)
        .unwrap()
        .iter()
        .map(|summary| summary.words.iter().map(|&(word, _)| word).collect())
        .collect();
    let mut counter = CoherenceCounter::new(&best).unwrap();
    documents.iter().filter(|document| document.tokens() > 0).for_each(|document| counter.add_bag(document));
    let coherence = counter.finish(UmassSmoothing::One).unwrap();
    // Relevance from its definition, over all words, by an independent computation.
    let anywhere = |word: usize| -> f64 {
        (0..TOPICS).map(|k| parameters.shares[k] * parameters.topics.row(word as u32)[k]).sum()
    };
    for (id, topic) in report.topics.iter().enumerate() {
        assert_eq!(topic.coherence, Some(coherence.topics[id].npmi));
        for lambda in [0.0, 0.3, 0.6, 1.0] {
            let relevance =
                |here: f64, all: f64| lambda * libm::log(here) + (1.0 - lambda) * libm::log(here / all);
            let mut expected: Vec<(f64, String)> = (0..vocabulary.len())
                .map(|word| {
                    let here = parameters.topics.row(word as u32)[id];
                    (relevance(here, anywhere(word)), vocabulary.word(word as u32).to_owned())
                })
                .collect();
            expected.sort_by(|a, b| b.0.total_cmp(&a.0));
            let mut found: Vec<(f64, &str)> = topic
                .words
                .iter()
                .zip(&topic.weights)
                .map(|(&word, &weight)| {
                    let word = word as usize;
                    (relevance(weight, report.words.share[word]), report.words.text[word].as_str())
                })
                .collect();
            found.sort_by(|a, b| b.0.total_cmp(&a.0));
            for (found, expected) in found.iter().zip(&expected).take(30) {
                assert!((found.0 - expected.0).abs() < 1e-9, "lambda {lambda}: {found:?} {expected:?}");
            }
        }
    }
    let distances = report.distances.unwrap();
    assert!(distances.exact);
    assert_eq!(distances.lower.unwrap().len(), TOPICS);
    assert_eq!(report.hierarchy.unwrap().a.len(), TOPICS - 1);
    assert_eq!(report.map.unwrap().x.len(), TOPICS);
    let tried = report.try_table.unwrap();
    assert!(tried.words.is_sorted_by(|a, b| a < b));
    assert!((tried.coverage - 1.0).abs() < 1e-9, "a small model fits whole");
}

#[test]
fn a_model_alone_makes_a_report_that_says_what_is_missing() {
    let (vocabulary, documents) = corpus();
    let snapshot = model(&vocabulary, &documents, 1);
    let report = report(&snapshot, &ExploreOptions::default(), None).unwrap();
    assert!(report.documents.is_none() && report.topics.len() == TOPICS);
    assert_eq!(report.topics[0].coherence, None);
    for part in ["documents", "timeline", "groups", "comparison", "evaluations", "coherence"] {
        assert!(report.missing.contains_key(part), "{part}");
    }
    assert_eq!(report.run.trace.unwrap().updates.len(), DOCUMENTS / 20);
}

#[test]
fn a_model_beside_itself_and_beside_another() {
    let (vocabulary, documents) = corpus();
    let (snapshot, again) = (model(&vocabulary, &documents, 1), model(&vocabulary, &documents, 1));
    let other = model(&vocabulary, &documents, 9);
    let options = ExploreOptions { fields: RecordFields::default(), ..options() };
    let compared = |other: &Snapshot| {
        let other = Other { name: "other.gbs".into(), snapshot: other };
        let mut explorer = Explorer::new(&snapshot, &options, Some(&other)).unwrap();
        explorer.look(documents.iter().cloned().map(Record::counts).collect()).unwrap();
        explorer.finish().unwrap().comparison.unwrap()
    };
    let same = compared(&again);
    assert_eq!(same.a, same.b);
    assert!(same.distance.iter().all(|&distance| distance < 1e-4), "{:?}", same.distance);
    assert!(same.gained.iter().all(Vec::is_empty));
    let score = same.score.unwrap();
    assert_eq!((score.mean, score.standard_error), (0.0, 0.0));
    assert!(score.documents > 10);
    let different = compared(&other);
    assert_eq!(different.common_words, vocabulary.len() as u64);
    assert!(different.distance.iter().any(|&distance| distance > 0.05));
    assert!(different.score.unwrap().mean != 0.0);
}

#[test]
fn labels_of_topics_that_are_not_there_are_refused() {
    let (vocabulary, documents) = corpus();
    let snapshot = model(&vocabulary, &documents[..40], 1);
    let labels = BTreeMap::from([(12, Label { label: Some("x".into()), ..Label::default() })]);
    let options = ExploreOptions { labels, ..ExploreOptions::default() };
    let refused = report(&snapshot, &options, None).unwrap_err().to_string();
    assert_eq!(
        refused,
        "labels: there is a label for topic 12, but the model has 12; use the labels of this model"
    );
}

/// Words and labels are hostile: nothing of them is markup anywhere in the page.
#[test]
fn hostile_words_and_labels_stay_data() {
    let hostile =
        ["</script><script>alert(1)</script>", "<img/src=x/onerror=alert(1)>", "\u{202e}evil", "a&b"];
    let words: Vec<String> =
        hostile.iter().map(|&word| word.to_owned()).chain((0..20).map(|i| format!("w{i}"))).collect();
    let vocabulary = Vocabulary::new(words).unwrap();
    let documents: Vec<Document> =
        (0..60).map(|i| Document::from_tokens(&[i % 24, (i + 1) % 24, i % 4])).collect();
    let snapshot = model(&vocabulary, &documents, 1);
    let label =
        Label { label: Some("</title></script><b>".into()), note: Some("<i>".into()), ..Label::default() };
    let options = ExploreOptions {
        title: "</title><script>alert(2)</script>".into(),
        labels: BTreeMap::from([(0, label)]),
        ..ExploreOptions::default()
    };
    let mut explorer = Explorer::new(&snapshot, &options, None).unwrap();
    explorer.look(documents.iter().cloned().map(Record::counts).collect()).unwrap();
    let report = explorer.finish().unwrap();
    assert!(report.words.text.iter().any(|word| word == hostile[0]), "the attack is really in the data");
    let mut page = Vec::new();
    write_page(report, &mut page).unwrap();
    let page = String::from_utf8(page).unwrap();
    for text in ["alert(", "onerror", "\u{202e}", "<b>", "</title><"] {
        let clean = gibbstream::explore::page::PAGE.matches(text).count();
        let escaped = page.matches(text).count() - usize::from(text == "alert(");
        assert_eq!(escaped, clean, "{text}");
    }
    assert!(page.contains("<title>&lt;/title&gt;&lt;script&gt;alert(2)&lt;/script&gt;</title>"));
}
