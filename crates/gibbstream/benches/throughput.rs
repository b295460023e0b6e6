//! Throughput of the parts at named sizes, in CPU time: `make bench`. For whole runs of training at sizes of your own,
//! use `gibbstream bench`.
//!
//! Wall-clock time means little on a shared machine, and so does a single figure: compare two builds in one run.
#![allow(missing_docs)]

use gibbstream::corpus::{
    Document, Inputs, Length, Minibatch, Synthetic, Truth, Vocabulary, VocabularyLimits, write_uci,
};
use gibbstream::evaluation::{Evaluation, Scorer, Unigram};
use gibbstream::file::{Features, Model};
use gibbstream::inference::chain::Chain;
use gibbstream::inference::mixtures::MixtureInference;
use gibbstream::learn::Settings;
use gibbstream::learn::method::Method;
use gibbstream::learn::trainer::Trainer;
use gibbstream::model::topics::counts::TopicStats;
use gibbstream::model::topics::view::TopicView;
use gibbstream::numerics::random::{Purpose, Seed};
use std::fmt::Write as _;
use std::io::Write as _;
use std::path::Path;

type Outcome<T> = Result<T, Box<dyn std::error::Error>>;

const LENGTH: u64 = 100;
const VOCABULARY: usize = 10_000;

fn cpu_seconds() -> f64 {
    let time = rustix::time::clock_gettime(rustix::time::ClockId::ProcessCPUTime);
    time.tv_sec as f64 + time.tv_nsec as f64 * 1e-9
}

fn timed<T>(work: impl FnOnce() -> T) -> (T, f64) {
    let start = cpu_seconds();
    let result = work();
    (result, cpu_seconds() - start)
}

fn report(name: &str, amount: f64, seconds: f64, unit: &str) -> Outcome<()> {
    writeln!(std::io::stdout().lock(), "{name}: {:.2} {unit} per CPU second", amount / seconds)?;
    Ok(())
}

fn documents(topics: usize, count: u64) -> gibbstream::Result<Vec<Document>> {
    let truth = Truth::random(topics, VOCABULARY, 0.05, 0.1, Seed(1))?;
    Synthetic::new(truth, Length::Fixed(LENGTH), Seed(2), count)?.collect()
}

fn main() -> Outcome<()> {
    for (method, topics, batch, count) in [
        ("g-oem", 20, 100, 4_000),
        ("g-oem", 128, 100, 4_000),
        ("g-oem", 128, 10, 4_000),
        ("g-oem", 1_024, 100, 2_000),
        ("v-oem", 128, 100, 2_000),
        ("olda", 128, 100, 2_000),
    ] {
        let documents = documents(topics.min(100), count)?;
        let trainer = train(method, topics, batch, &documents)?;
        if (method, topics, batch) == ("g-oem", 128, 100) {
            new_documents(&trainer, &documents)?;
            sampler(&trainer, &documents[..100])?;
            files(trainer, &documents)?;
        }
    }
    update(128)?;
    update(1_024)
}

/// Everything that a minibatch costs; the random start is not part of the measure.
fn train(method: &str, topics: usize, batch: usize, documents: &[Document]) -> Outcome<Trainer> {
    let batches: Vec<Minibatch> = documents
        .chunks(batch)
        .enumerate()
        .map(|(i, documents)| Minibatch::new(documents, (i * batch) as u64, 0))
        .collect();
    let parts = Method::published(method)?.with_population(documents.len() as f64);
    let settings = Settings::new(topics).method(method, parts).vocabulary(VOCABULARY).batch(batch);
    let sweeps = settings.method.sweeps as f64;
    let mut trainer = Trainer::new(settings, 1)?;
    trainer.partial_fit(&batches[0])?;
    let (result, seconds) =
        timed(|| batches[1..].iter().try_for_each(|batch| trainer.partial_fit(batch).map(drop)));
    result?;
    let tokens: u64 = batches[1..].iter().map(Minibatch::tokens).sum();
    let name = format!("train/{method},K={topics},batch={batch}");
    report(&name, sweeps * tokens as f64 / 1e6, seconds, "million token-sweeps")?;
    Ok(trainer)
}

fn new_documents(trainer: &Trainer, documents: &[Document]) -> Outcome<()> {
    let topics = trainer.topics().ok_or("nothing learnt")?;
    let unigram = Unigram::from_counts(trainer.word_counts().to_vec());
    let scorer = Scorer::new(Evaluation::default(), &topics, &unigram)?;
    let (score, seconds) = timed(|| scorer.score(documents[..200].iter().cloned().map(Ok)));
    score?;
    report("evaluate/smc,K=128,particles=20", 200.0, seconds, "documents")?;
    let batch = Minibatch::new(&documents[..1_000], 0, 0);
    let inference = MixtureInference { sweeps: 100, seed: Seed(0), details: false };
    let (_, seconds) = timed(|| inference.infer(&topics, &batch));
    report("infer/K=128,sweeps=100", 1_000.0, seconds, "documents")
}

/// Draws alone: the chains of a hundred documents, a hundred sweeps each.
fn sampler(trainer: &Trainer, documents: &[Document]) -> Outcome<()> {
    let topics = trainer.topics().ok_or("nothing learnt")?;
    let batch = Minibatch::new(documents, 0, 0);
    let mut view = TopicView::for_sampling();
    topics.view(&batch, &mut view);
    let mut random = Seed(0).stream(Purpose::Local, [0, 0]);
    let (mut chain, mut seconds) = (Chain::default(), 0.0);
    for index in 0..batch.len() {
        let entries = batch.document(index);
        chain.reset(&view, entries.iter().map(|entry| entry.word));
        for (row, entry) in entries.iter().enumerate() {
            (0..entry.count).for_each(|_| chain.push(&view, row as u32, &mut random));
        }
        seconds += timed(|| {
            for _ in 0..100 {
                chain.sweep(&view, &mut random);
                chain.compact();
            }
        })
        .1;
    }
    report("sampler/K=128", 100.0 * batch.tokens() as f64 / 1e6, seconds, "million draws")
}

/// Running counts moved by a minibatch of 5,000 words.
fn update(topics: usize) -> Outcome<()> {
    let mut counts = TopicStats::new(topics, vec![1.0; VOCABULARY * topics], false);
    let words: Vec<u32> = (0..VOCABULARY as u32).step_by(2).collect();
    let (fresh, totals) = (vec![0.01; words.len() * topics], vec![50.0; topics]);
    let ((), seconds) = timed(|| (0..20).for_each(|_| counts.blend(0.1, &words, &fresh, &totals)));
    let numbers = (20 * words.len() * topics) as f64 / 1e6;
    report(&format!("update/K={topics},words=5000"), numbers, seconds, "million counts")
}

/// Readers, and the model file.
fn files(trainer: Trainer, documents: &[Document]) -> Outcome<()> {
    let folder = tempfile::tempdir()?;
    let vocabulary: Vec<String> = (0..VOCABULARY).map(|word| format!("w{word:04}")).collect();
    write_uci(documents.iter().cloned().map(Ok), &vocabulary, folder.path())?;
    let mut text = String::new();
    for document in documents {
        for &(word, count) in &document.words {
            (0..count).try_for_each(|_| write!(text, "{} ", vocabulary[word as usize]))?;
        }
        text.push('\n');
    }
    let lines = folder.path().join("lines.txt");
    std::fs::write(&lines, text)?;
    read("read/uci", folder.path())?;
    read("read/text", &lines)?;

    let path = folder.path().join("model.gbs");
    let settings = trainer.settings().clone();
    let fitted = trainer.into_fitted().ok_or("nothing learnt")?;
    let features = Features::Words(Vocabulary::new(vocabulary)?);
    let model = Model {
        settings,
        fitted,
        features,
        tokenizer: None,
        history: Vec::new(),
        labels: gibbstream::file::TopicLabels::default(),
        shown: gibbstream::file::ShownWords::default(),
    };
    let (saved, seconds) = timed(|| model.save(&path));
    saved?;
    let megabytes = std::fs::metadata(&path)?.len() as f64 / 1e6;
    report("model/save,K=128", megabytes, seconds, "MB")?;
    let (loaded, seconds) = timed(|| Model::load(&path));
    loaded?;
    report("model/load,K=128", megabytes, seconds, "MB")
}

fn read(name: &str, path: &Path) -> Outcome<()> {
    let inputs = Inputs { paths: vec![path.to_owned()], ..Inputs::default() }.resolve()?;
    let vocabulary = inputs.vocabulary(&VocabularyLimits::default(), &mut |_| {})?;
    let (count, seconds) =
        timed(|| inputs.documents(&vocabulary).try_fold(0, |count, document| document.map(|_| count + 1)));
    report(name, f64::from(count?), seconds, "documents")
}
