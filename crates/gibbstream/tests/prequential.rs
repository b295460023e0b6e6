//! Scores of documents before they are learnt from: right, the same for all ways of running, and without effect on what is
//! learnt, unless the memory is to adapt.
#![allow(missing_docs, clippy::unwrap_used)]

mod support;

use gibbstream::corpus::{
    Document, Length, Minibatch, OpenRule, OpenVocabulary, Synthetic, Truth, Vocabulary, themes,
};
use gibbstream::evaluation::{Evaluation, Scorer, Unigram};
use gibbstream::file::{Features, HistoryEntry, Model};
use gibbstream::learn::averaging::Averaging;
use gibbstream::learn::method::Method;
use gibbstream::learn::trainer::Trainer;
use gibbstream::learn::{Event, Observer, Prequential, Settings, TrainingRun};
use gibbstream::numerics::random::{Purpose, Seed};
use support::enumerate;

/// So many sweeps that the effort allowed is enough for every document; nothing is learnt with them.
const ENOUGH: usize = 100_000;

/// The same learner with effort for every document.
fn scoring(trainer: Trainer) -> Trainer {
    let settings = trainer.settings().clone();
    let method = Method { sweeps: ENOUGH, ..settings.method };
    Trainer::resume(Settings { method, ..settings }, trainer.into_fitted().unwrap(), 2).unwrap()
}

fn learnt(settings: &Settings, documents: &[Document]) -> Trainer {
    let mut trainer = Trainer::new(settings.clone(), 1).unwrap();
    for (number, some) in documents.chunks(20).enumerate() {
        trainer.partial_fit(&Minibatch::new(some, 20 * number as u64, 0)).unwrap();
    }
    trainer
}

#[test]
fn scores_are_those_of_all_placements_of_tokens() {
    let mut random = Seed(5).stream(Purpose::SyntheticDocument, [0, 1]);
    let mut document = || Document::from_tokens(&(0..6).map(|_| random.below(5) as u32).collect::<Vec<_>>());
    let documents: Vec<Document> = (0..340).map(|_| document()).collect();
    for averaging in
        [Averaging::None, Averaging::Frequencies, Averaging::RecentFrequencies(50), Averaging::Uniform]
    {
        let mut settings = Settings::new(3).vocabulary(5).batch(20).seed(1);
        settings.method.averaging = averaging;
        let trainer = scoring(learnt(&settings, &documents[..40]));
        let batch = Minibatch::new(&documents[40..], 40, 0);
        let scored = Prequential::default().score(&trainer, &batch, false).unwrap();
        assert_eq!((scored.documents, scored.tokens), (300, 1800));
        let topics = trainer.topics().unwrap();
        let tokens = |document: &Document| -> Vec<u32> {
            document.words.iter().flat_map(|&(word, count)| vec![word; count as usize]).collect()
        };
        let exact = |document: &Document| enumerate(&topics, &tokens(document)).log_likelihood;
        let expected: f64 = documents[40..].iter().map(exact).sum();
        let (found, error) = (-scored.nats, scored.variance.sqrt());
        assert!((found - expected).abs() < 4.0 * error, "{averaging}: {found} is not {expected} +- {error}");
        assert!(error < 0.02 * expected.abs(), "{averaging}: {error}");
        // Word frequencies alone: the topics with their shares.
        let parameters = trainer.parameters().unwrap();
        if averaging == Averaging::None {
            let shares = &parameters.topics().unwrap().shares;
            let p = |word: u32| topics.row(word).iter().zip(shares).map(|(p, share)| p * share).sum::<f64>();
            let unigram: f64 = documents[40..].iter().flat_map(&tokens).map(|word| libm::log(p(word))).sum();
            assert!((scored.unigram + unigram).abs() < 1e-9 * unigram.abs());
        }
    }
}

#[test]
fn scores_agree_with_evaluate_on_the_same_documents() {
    let truth = Truth::random(8, 300, 0.3, 0.1, Seed(2)).unwrap();
    let documents: Vec<Document> = Synthetic::new(truth, Length::Poisson(60.0), Seed(3), 1_000)
        .unwrap()
        .take(500)
        .map(Result::unwrap)
        .collect();
    for averaging in [Averaging::None, Averaging::Frequencies, Averaging::RecentFrequencies(100)] {
        let mut settings = Settings::new(8).vocabulary(300).batch(20).seed(1);
        settings.method.averaging = averaging;
        let trainer = scoring(learnt(&settings, &documents[..300]));
        let batch = Minibatch::new(&documents[300..], 300, 0);
        let scored = Prequential::default().score(&trainer, &batch, false).unwrap();
        assert_eq!(scored.documents, 200);
        let (topics, unigram) =
            (trainer.topics().unwrap(), Unigram::from_counts(trainer.word_counts().to_vec()));
        let evaluation = Evaluation { particles: 100, threads: 2, ..Evaluation::default() };
        let held_out = documents[300..].iter().cloned().map(Ok);
        let score = Scorer::new(evaluation, &topics, &unigram).unwrap().score(held_out).unwrap();
        let found = scored.nats / 200.0;
        let error = (scored.variance.sqrt() / 200.0).hypot(score.monte_carlo_error.unwrap());
        let difference = found - score.log_perplexity_per_document;
        assert!(difference.abs() < 4.0 * error, "{averaging}: {difference} off, error {error}");
        assert!(error < 0.005 * found, "{averaging}: {error}");
    }
}

/// Words that were never seen cost as much as they should, at every moment.
#[test]
fn new_words_are_drawn_from_an_open_vocabulary() {
    let documents: Vec<Document> = (0..60).map(|i| Document::from_tokens(&[i % 4, 1, 2, i % 3])).collect();
    let trainer = scoring(learnt(&Settings::new(2).vocabulary(4).batch(20), &documents));
    let mut stranger = Document::from_tokens(&[0, 1, 7, 7, 9]);
    stranger.out_of_vocabulary = 2;
    let mut prequential = Prequential::default();
    let known = Minibatch::new(&[Document::from_tokens(&[0, 1])], 60, 0);
    let without = Prequential::default().score(&trainer, &known, false).unwrap();
    let with = prequential.score(&trainer, &Minibatch::new(&[stranger], 60, 0), true).unwrap();
    assert_eq!((with.tokens, with.new_tokens), (7, 5));
    // Before anything was counted, every second token is taken to be new.
    let expected = without.nats - 2.0 * libm::log(0.5) - 5.0 * libm::log(0.5 / 1_048_576.0);
    assert!((with.nats - expected).abs() < 1e-9, "{} is not {expected}", with.nats);
    assert!((with.unigram - without.unigram - (expected - without.nats)).abs() < 1e-9);
    // Five of seven were; the next document is scored with that.
    let share: f64 = (5.0 + 0.5) / (7.0 + 1.0);
    let next =
        prequential.score(&trainer, &Minibatch::new(&[Document::from_tokens(&[0, 1])], 61, 0), true).unwrap();
    assert!((next.nats - (without.nats - 2.0 * libm::log(1.0 - share))).abs() < 1e-9);
}

fn settings() -> Settings {
    let (_, words, _) = themes();
    Settings { prequential: Some(true), ..Settings::new(10).vocabulary(words.len()).batch(50).seed(3) }
}

fn run(settings: Settings, threads: usize) -> TrainingRun {
    let (_, words, _) = themes();
    let features = Features::Words(Vocabulary::new(words).unwrap());
    let mut run = TrainingRun::new(settings, features, None, threads).unwrap();
    run.begin(Some(HistoryEntry::new("train", Vec::new())));
    run
}

/// Documents of themes; after `change` of them every word is another one, so that words of one topic are spread over all.
fn stream(count: usize, length: f64, change: usize) -> Vec<Document> {
    let (_, words, truth) = themes();
    let words = words.len() as u32;
    assert!(!words.is_multiple_of(7), "other words for all words");
    let documents = Synthetic::new(truth, Length::Poisson(length), Seed(1), count as u64).unwrap();
    let other = |(i, document): (usize, gibbstream::Result<Document>)| {
        let mut document = document.unwrap();
        if i >= change {
            let tokens = document.words.iter().map(|&(word, count)| ((7 * word + 3) % words, count));
            document.words = gibbstream::corpus::count_words(tokens.collect());
        }
        document
    };
    documents.enumerate().map(other).collect()
}

fn push(run: &mut TrainingRun, documents: &[Document], observer: &mut dyn Observer) {
    for document in documents {
        run.push(document.clone().into(), observer).unwrap();
    }
}

fn hash(run: &mut TrainingRun) -> String {
    run.lend(|model| Ok(model.hash())).unwrap()
}

#[test]
fn threads_and_interruptions_change_nothing_and_nothing_is_learnt_from_scores() {
    let documents = stream(1_000, 30.0, usize::MAX);
    let mut plain = run(Settings { prequential: Some(false), ..settings() }, 1);
    push(&mut plain, &documents, &mut ());
    assert_eq!(plain.prequential(), None);
    let mut scored = run(settings(), 1);
    push(&mut scored, &documents, &mut ());
    assert_eq!(hash(&mut scored), hash(&mut plain));
    let report = scored.prequential().unwrap();
    assert!(report.documents_scored > 20 && report.windowed.standard_error.is_some(), "{report:?}");
    let (own, unigram) =
        (report.windowed.log_perplexity_per_document, report.windowed.unigram_log_perplexity_per_document);
    assert!(own < unigram, "topics help: {own} {unigram}");
    let moment = scored.history()[0].trace.moments.last().copied().unwrap();
    assert_eq!((moment.prequential, moment.prequential_unigram), (Some(own), Some(unigram)));
    for threads in [2, 7] {
        let mut other = run(settings(), threads);
        push(&mut other, &documents, &mut ());
        assert_eq!(other.history(), scored.history(), "{threads} threads");
    }
    let mut first = run(settings(), 2);
    push(&mut first, &documents[..550], &mut ());
    let mut second = reopened(&mut first);
    push(&mut second, &documents[550..], &mut ());
    assert_eq!((second.prequential(), second.history()), (Some(report), scored.history()));
}

/// The run as a file has it.
fn reopened(run: &mut TrainingRun) -> TrainingRun {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("model.gbs");
    run.lend(|model| model.save(&file)).unwrap();
    let model = Model::load(&file).unwrap();
    let settings = model.settings.clone();
    let mut reopened = TrainingRun::resume(model, settings, 1).unwrap();
    reopened.begin(None);
    reopened
}

/// Steps by minibatch, and changes.
#[derive(Default)]
struct Noted {
    steps: Vec<f64>,
    changes: Vec<(u64, Vec<String>)>,
}

impl Observer for Noted {
    fn notify(&mut self, _: &TrainingRun, event: &Event<'_>) -> gibbstream::Result<()> {
        match event {
            Event::Learnt { step, .. } => self.steps.push(step.rho),
            Event::Changed(change) => {
                let words = change.words.iter().map(|moved| moved.word.clone()).collect();
                self.changes.push((change.alarm.documents, words));
            }
            _ => {}
        }
        Ok(())
    }
}

#[test]
fn a_change_is_told_and_the_memory_adapts_and_recovers() {
    const CHANGE: usize = 5_000;
    let documents = stream(7_500, 60.0, CHANGE);
    let settings = settings().batch(100);
    let mut steady = Noted::default();
    let mut run_steady = run(settings.clone(), 2);
    push(&mut run_steady, &documents, &mut steady);
    assert_eq!(steady.changes.len(), 1, "{:?}", steady.changes);
    let (at, words) = &steady.changes[0];
    assert!((CHANGE as u64..CHANGE as u64 + 1_000).contains(at), "noticed after {at} documents");
    assert!(!words.is_empty());
    assert_eq!(run_steady.changes().len(), 1);
    let change = &run_steady.changes()[0];
    assert!(change.alarm.now > change.alarm.before && !change.topics.is_empty(), "{change:?}");

    let adaptive = Settings { adapt: true, ..settings };
    let mut noted = Noted::default();
    let mut adapting = run(adaptive.clone(), 1);
    push(&mut adapting, &documents, &mut noted);
    assert_eq!(noted.changes, steady.changes);
    let update = *at as usize / 100;
    assert_eq!(noted.steps[..update], steady.steps[..update], "as usual before");
    assert!(noted.steps[update] > 2.0 * steady.steps[update], "{} then", noted.steps[update]);
    assert!(noted.steps[update..].windows(2).all(|two| two[1] <= two[0]), "and smaller again");
    assert_ne!(hash(&mut adapting), hash(&mut run_steady));
    // Interrupted while it adapts.
    let mut first = run(adaptive, 2);
    push(&mut first, &documents[..CHANGE + 1_000], &mut ());
    let mut second = reopened(&mut first);
    push(&mut second, &documents[CHANGE + 1_000..], &mut ());
    assert_eq!(hash(&mut second), hash(&mut adapting));
}

#[test]
fn streams_with_a_growing_vocabulary_are_scored() {
    let features = Features::OpenWords(OpenVocabulary::new(OpenRule::Grow { most: 100 }).unwrap());
    let settings =
        Settings { prequential: Some(true), ..Settings::new(3).vocabulary(features.len()).batch(20) };
    let mut run = TrainingRun::new(settings, features, None, 1).unwrap();
    run.begin(Some(HistoryEntry::new("train", Vec::new())));
    for i in 0..400_u32 {
        let text: Vec<String> = (0..15).map(|j| format!("word{}", i / 4 + (j * j + i) % 23)).collect();
        let document = run.document(&text.join(" ")).unwrap();
        run.push(document.into(), &mut ()).unwrap();
    }
    let report = run.prequential().unwrap();
    assert!(report.windowed.log_perplexity_per_document.is_finite(), "{report:?}");
    assert!((0.001..0.5).contains(&report.windowed.new_token_share), "{report:?}");
}
