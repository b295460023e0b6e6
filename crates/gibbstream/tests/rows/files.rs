//! Models on disk: what is read is what was written, and a run goes on from it with the same bits.

use crate::{laplace, mixed, stream};
use gibbstream::corpus::{Minibatch, Row};
use gibbstream::evaluation::Evaluation;
use gibbstream::file::{Features, Model};
use gibbstream::learn::averaging::Averaging;
use gibbstream::learn::method::Method;
use gibbstream::learn::schedule::StepSize;
use gibbstream::learn::trainer::Trainer;
use gibbstream::learn::{AnyScore, ModelKind as Kind, Settings};
use gibbstream::model::rows::families::gaussian::Covariance;
use gibbstream::model::rows::ica::{Noise, Sources};
use gibbstream::model::rows::observations::Observations;

fn settings(model: Kind) -> Settings {
    let step = StepSize::Power { kappa: 0.6, offset: 0.0, tau: 1.0, least: 0.0 };
    let method = Method { step, averaging: Averaging::Uniform, sweeps: 4, ..Method::G_OEM };
    Settings { model, ..Settings::new(2).method("g-oem", method).vocabulary(3).batch(50).seed(3) }
}

const KINDS: [Kind; 6] = [
    Kind::Ica { sources: Sources::Laplace, noise: Noise::Diagonal, learn_scale: true, floor: 1e-6 },
    Kind::Ica { sources: Sources::Student(None), noise: Noise::Isotropic, learn_scale: false, floor: 1e-6 },
    Kind::GaussianMixture { covariance: Covariance::Full, floor: 1e-6 },
    Kind::PoissonMixture { floor: 1e-6 },
    Kind::MultinomialMixture { smoothing: 1e-4 },
    Kind::BernoulliMixture { floor: 1e-6 },
];

/// Rows that fit the kind.
fn rows(kind: Kind) -> Vec<f64> {
    let rows = mixed(&[1.0, 0.3, -0.4, 0.9, 0.5, 0.5], 2, 0.3, 300, &mut stream(40), laplace);
    match kind {
        Kind::Ica { .. } | Kind::GaussianMixture { .. } => rows,
        Kind::BernoulliMixture { .. } => rows.iter().map(|x| f64::from(u8::from(*x > 0.0))).collect(),
        _ => rows.iter().map(|x| (3.0 * x.abs()).floor()).collect(),
    }
}

fn batch(rows: &[f64], first: usize) -> Observations {
    Observations::new(rows.to_vec(), 3, first as u64, 0).unwrap()
}

fn learn(trainer: &mut Trainer, rows: &[f64], from: usize) {
    for (i, rows) in rows[150 * from..].chunks(150).enumerate() {
        trainer.partial_fit(&batch(rows, 50 * (from + i))).unwrap();
    }
}

fn model(trainer: &Trainer) -> Model {
    let (settings, fitted) = (trainer.settings().clone(), trainer.fitted().unwrap());
    let features = Features::Columns(["a", "b", "c"].map(String::from).to_vec());
    Model {
        settings,
        fitted,
        features,
        tokenizer: None,
        history: Vec::new(),
        labels: gibbstream::file::TopicLabels::default(),
        shown: gibbstream::file::ShownWords::default(),
    }
}

#[test]
fn saved_loaded_and_gone_on_with() {
    let folder = tempfile::tempdir().unwrap();
    for kind in KINDS {
        let (rows, path) = (rows(kind), folder.path().join("model.gbs"));
        let mut whole = Trainer::new(settings(kind), 2).unwrap();
        learn(&mut whole, &rows, 0);
        let mut first = Trainer::new(settings(kind), 1).unwrap();
        learn(&mut first, &rows[..300], 0);
        model(&first).save(&path).unwrap();
        let loaded = Model::load(&path).unwrap();
        assert_eq!(loaded.settings, settings(kind));
        assert_eq!(loaded.fitted.arrays(), first.fitted().unwrap().arrays());
        let mut second = Trainer::resume(loaded.settings, loaded.fitted, 2).unwrap();
        learn(&mut second, &rows, 2);
        assert_eq!(model(&second).hash(), model(&whole).hash(), "{kind:?}");
        assert_eq!(second.fitted().unwrap().arrays(), whole.fitted().unwrap().arrays());
    }
}

#[test]
fn a_damaged_file_is_refused_by_name() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("model.gbs");
    let mut trainer = Trainer::new(settings(KINDS[0]), 1).unwrap();
    learn(&mut trainer, &rows(KINDS[0]), 0);
    model(&trainer).save(&path).unwrap();
    let bytes = std::fs::read(&path).unwrap();
    for at in (0..bytes.len()).step_by(97) {
        let mut bytes = bytes.clone();
        bytes[at] ^= 4;
        std::fs::write(&path, &bytes).unwrap();
        let refused = Model::load(&path).err().unwrap().to_string();
        assert!(refused.contains("model.gbs: not a usable model file"), "byte {at}: {refused}");
    }
}

/// Scores do not depend on threads or on the order of observations, beyond the order of a sum.
#[test]
fn scores_do_not_depend_on_threads_or_company() {
    for kind in KINDS {
        let rows = rows(kind);
        let mut trainer = Trainer::new(settings(kind), 1).unwrap();
        learn(&mut trainer, &rows, 0);
        let score = |threads, rows: Vec<&[f64]>| {
            let evaluation = Evaluation { particles: 3, threads, ..Evaluation::default() };
            let row = |values: &[f64]| Ok(Row { id: None, values: values.to_vec() }.into());
            let parameters = trainer.parameters().unwrap();
            match parameters.score(evaluation, rows.into_iter().map(row), |_| ()).unwrap() {
                AnyScore::Rows(score) => score,
                AnyScore::Documents(_) => panic!("these are rows"),
            }
        };
        let (forward, backward): (Vec<&[f64]>, Vec<&[f64]>) =
            (rows.chunks(3).collect(), rows.rchunks(3).collect());
        let one = score(1, forward.clone());
        assert_eq!(score(3, forward), one);
        assert_eq!((one.documents, one.tokens), (300, 0));
        let other = score(1, backward);
        assert!((other.log_perplexity_per_document - one.log_perplexity_per_document).abs() < 1e-9);
        assert!(
            one.log_perplexity_per_document.is_finite()
                && one.baseline_log_perplexity_per_document.is_finite()
        );
    }
}

#[test]
fn nonsense_is_refused() {
    for (change, part) in [
        (settings(KINDS[0]).batch(0), "batch"),
        (settings(KINDS[0]).method("g-oem", Method { sweeps: 0, ..Method::G_OEM }), "sweeps"),
        (Settings { components: 0, ..settings(KINDS[0]) }, "components"),
        (Settings { components: 0, ..settings(KINDS[3]) }, "components"),
        (Settings { components: 5_000, ..settings(KINDS[0]) }, "sources"),
        (settings(Kind::PoissonMixture { floor: -1.0 }), "floor"),
    ] {
        let refused = Trainer::new(change, 1).err().unwrap().to_string();
        assert!(refused.contains(part), "{refused}");
    }
    let mut trainer = Trainer::new(settings(KINDS[0]), 1).unwrap();
    assert!(trainer.partial_fit(&Minibatch::default()).is_err(), "documents");
    assert!(trainer.partial_fit(&Observations::new(vec![1.0; 4], 4, 0, 0).unwrap()).is_err(), "a long row");
    assert!(trainer.parameters().is_err() && trainer.fitted().is_none());
    let mut counts = Trainer::new(settings(KINDS[3]), 1).unwrap();
    assert!(counts.partial_fit(&batch(&[0.5, 1.0, 2.0], 0)).is_err(), "not a count");
}
