//! Training runs: however observations come, the same bits; and readers use what was learnt while training goes on.
#![allow(missing_docs, clippy::unwrap_used)]

use gibbstream::Result;
use gibbstream::corpus::{
    Length, OpenRule, OpenVocabulary, StopWords, Synthetic, Tokenizer, Vocabulary, themes,
};
use gibbstream::evaluation::Evaluation;
use gibbstream::file::{CheckpointFolder, Features, HistoryEntry, Model};
use gibbstream::inference::mixtures::MixtureInference;
use gibbstream::learn::{
    CheckpointEvery, Checkpoints, Ended, Event, FitOptions, Observation, Observer, Settings,
    SharedVocabulary, Snapshot, TrainingRun, observations,
};
use gibbstream::numerics::random::Seed;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

const DOCUMENTS: usize = 630;

fn stream() -> Synthetic {
    let (_, _, truth) = themes();
    Synthetic::new(truth, Length::Poisson(30.0), Seed(1), 2 * DOCUMENTS as u64).unwrap()
}

fn run(threads: usize) -> TrainingRun {
    let (_, words, _) = themes();
    let settings = Settings::new(10).vocabulary(words.len()).batch(50).seed(3);
    let features = Features::Words(Vocabulary::new(words).unwrap());
    let mut run = TrainingRun::new(settings, features, None, threads).unwrap();
    run.begin(Some(HistoryEntry::new("train", Vec::new())));
    run
}

fn open(_: Option<&SharedVocabulary>) -> gibbstream::learn::ObservationStream {
    observations(stream().take(DOCUMENTS))
}

fn hash(run: &mut TrainingRun) -> String {
    run.lend(|model| Ok(model.hash())).unwrap()
}

#[test]
fn pushed_or_read_the_bits_are_the_same() {
    let options = FitOptions { passes: 2, ..FitOptions::default() };
    let mut read = run(2);
    assert_eq!(read.fit(open, &options, &mut ()).unwrap(), Ended::Finished);
    let mut pushed = run(1);
    for pass in 0..2 {
        pushed.begin_pass(pass);
        for document in stream().take(DOCUMENTS) {
            pushed.push(document.unwrap().into(), &mut ()).unwrap();
        }
        pushed.close(&mut ()).unwrap();
    }
    assert_eq!(hash(&mut pushed), hash(&mut read));
    assert_eq!(pushed.history(), read.history());
    assert_eq!(read.history()[0].documents, 2 * DOCUMENTS as u64);
}

/// Words that enter while texts are pushed get the places that they get while they are read.
#[test]
fn texts_can_be_pushed_into_an_open_vocabulary() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("lines.txt");
    let texts: Vec<String> = (0..200_u32)
        .map(|i| {
            (0..12).map(|j| format!("w{}", (i * 7 + j * j * 3 + i * j) % 61)).collect::<Vec<_>>().join(" ")
        })
        .collect();
    std::fs::write(&path, texts.join("\n")).unwrap();
    let tokenizer = Tokenizer { stop_words: StopWords::none(), ..Tokenizer::default() };
    let fresh = || {
        let features = Features::OpenWords(OpenVocabulary::new(OpenRule::Grow { most: 40 }).unwrap());
        let settings = Settings::new(3).vocabulary(features.len()).batch(20);
        let mut run = TrainingRun::new(settings, features, Some(tokenizer.clone()), 1).unwrap();
        run.begin(None);
        run
    };
    let inputs =
        gibbstream::corpus::Inputs { paths: vec![path], tokenizer: tokenizer.clone(), ..Default::default() };
    let inputs = inputs.resolve().unwrap();
    let mut read = fresh();
    let open =
        move |words: Option<&SharedVocabulary>| observations(inputs.documents_entering(words.unwrap()));
    read.fit(open, &FitOptions::default(), &mut ()).unwrap();
    let mut pushed = fresh();
    for text in &texts {
        let document = pushed.document(text).unwrap();
        pushed.push(document.into(), &mut ()).unwrap();
    }
    pushed.close(&mut ()).unwrap();
    assert_eq!(pushed.features().vocabulary(), read.features().vocabulary());
    assert_eq!(hash(&mut pushed), hash(&mut read));
}

/// Stops after some updates.
struct StopAfter(u64, AtomicBool);

impl Observer for StopAfter {
    fn notify(&mut self, _run: &TrainingRun, event: &Event<'_>) -> Result<()> {
        if let Event::Learnt { step, .. } = event
            && step.update >= self.0
        {
            self.1.store(true, Ordering::Relaxed);
        }
        Ok(())
    }

    fn is_interrupted(&self) -> bool {
        self.1.load(Ordering::Relaxed)
    }
}

#[test]
fn an_interrupted_run_goes_on_from_its_checkpoint() {
    let options = FitOptions { passes: 2, held_out: 40, eval_every: Some(5), time_limit: None };
    let mut whole = run(1);
    whole.fit(open, &options, &mut ()).unwrap();
    let folder = tempfile::tempdir().unwrap();
    let checkpoints = || {
        let folder = CheckpointFolder::claim(folder.path()).unwrap();
        let found = folder.newest(|damaged| panic!("{damaged}")).unwrap();
        (Some(Checkpoints::new(folder, CheckpointEvery::Minibatches(3))), found)
    };
    let mut stop = StopAfter(15, AtomicBool::default());
    let mut first = run(2).with_checkpoints(checkpoints().0, serde_json::json!({}));
    assert_eq!(first.fit(open, &options, &mut stop).unwrap(), Ended::Interrupted);
    first.save_checkpoint(&mut ()).unwrap();
    drop(first);
    let (checkpoints, found) = checkpoints();
    let found = found.unwrap();
    let settings = found.model.settings.clone();
    let resumed = TrainingRun::resume(found.model, settings, 1).unwrap().at(&found.run).unwrap();
    let mut resumed = resumed.with_checkpoints(checkpoints, serde_json::json!({}));
    assert_eq!(resumed.fit(open, &options, &mut ()).unwrap(), Ended::Finished);
    assert_eq!(hash(&mut resumed), hash(&mut whole));
    assert_eq!(resumed.history(), whole.history());
    let scores = |run: &TrainingRun| -> Vec<f64> {
        run.evaluations().iter().map(|score| score["log_perplexity_per_document"].as_f64().unwrap()).collect()
    };
    assert_eq!(scores(&resumed), scores(&whole));
}

/// Saves a model file at every moment at which a snapshot is published.
struct SaveAll<'a>(&'a std::path::Path);

impl Observer for SaveAll<'_> {
    fn notify(&mut self, run: &TrainingRun, event: &Event<'_>) -> Result<()> {
        if let Event::Learnt { step, .. } = event {
            run.snapshot()?.save(&self.0.join(format!("{}.gbs", step.update)))?;
        }
        Ok(())
    }
}

fn answers(snapshot: &Snapshot) -> (Vec<Vec<f64>>, f64) {
    let asked: Vec<Observation> =
        stream().skip(DOCUMENTS).take(20).map(|document| document.unwrap().into()).collect();
    let parameters = snapshot.parameters().unwrap();
    let how = MixtureInference { sweeps: 8, seed: Seed(5), details: false };
    let mixtures = parameters.infer(&asked, &how).unwrap();
    let score = parameters.score(Evaluation::default(), asked.into_iter().map(Ok), |_| ()).unwrap();
    (mixtures.into_iter().map(|mixture| mixture.theta).collect(), score.log_perplexity())
}

/// A reader infers and scores with snapshots while another thread trains; every answer is that of the file of the same
/// moment.
#[test]
fn readers_use_snapshots_while_training_goes_on() {
    let folder = tempfile::tempdir().unwrap();
    let mut run = run(2);
    run.publish_every(Some(2));
    let reader = run.reader();
    assert!(reader.latest().is_none());
    let ended = Arc::new(AtomicBool::new(false));
    let reading = {
        let (reader, ended) = (reader.clone(), ended.clone());
        std::thread::spawn(move || {
            let mut seen = Vec::new();
            loop {
                let is_over = ended.load(Ordering::Acquire);
                reader.request();
                if let Some(snapshot) = reader.latest() {
                    let update = snapshot.clock().update;
                    if seen.last().is_none_or(|(last, _)| *last != update) {
                        seen.push((update, answers(&snapshot)));
                    }
                }
                if is_over {
                    return seen;
                }
            }
        })
    };
    let options = FitOptions { passes: 4, ..FitOptions::default() };
    run.fit(open, &options, &mut SaveAll(folder.path())).unwrap();
    run.publish().unwrap();
    ended.store(true, Ordering::Release);
    let seen = reading.join().unwrap();
    assert!(seen.len() > 1, "the reader met more than one moment");
    assert_eq!(seen.last().unwrap().0, run.trainer().clock().update);
    for (update, answers_then) in seen {
        let file = Model::load(&folder.path().join(format!("{update}.gbs"))).unwrap();
        assert_eq!(answers(&Snapshot::new(file)), answers_then, "after update {update}");
    }
}
