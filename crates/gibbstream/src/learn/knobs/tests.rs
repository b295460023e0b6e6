use super::*;
use crate::learn::averaging::Averaging;
use crate::inference::gibbs::{Statistic, Window};
use crate::learn::method::{Local, Method};
use crate::model::topics::alpha::AlphaRule;
use crate::model::topics::lda::Start;
use crate::model::topics::rule::{Population, Smoothing, TopicRule};
use crate::learn::schedule::StepSize;

/// What a line such as `method sgs, sweeps 3` gives.
fn line(text: &str) -> Vec<(&'static str, String)> {
    let pairs = text.split(", ").filter(|pair| !pair.is_empty()).map(|pair| pair.split_once(' ').unwrap());
    pairs.map(|(name, value)| (Knob::by_name(name).expect(name).name, value.to_owned())).collect()
}

fn method(text: &str) -> Method {
    settings(&line(&format!("topics 2, {text}"))).expect(text).method
}

/// Another value than the usual one, for each knob and a model that has it.
fn another(knob: &Knob, model: &str) -> String {
    let own = knob.default_for(model).unwrap_or_default();
    let candidates: Vec<&str> = match knob.kind {
        // What is not a stream is a file already.
        _ if knob.name == "mode" => vec!["stream"],
        Kind::Choice(names) => names.to_vec(),
        Kind::Whole => vec!["7"],
        Kind::Number => vec!["0.25"],
        Kind::Switch => vec!["true"],
        Kind::Batch => vec!["30"],
        Kind::Method if model.contains("mixture") || model == "ica" => vec!["g-oem++"],
        Kind::Method => vec!["vargibbs"],
        Kind::Rule(_) => vec!["constant=0.5", "newton", "uniform", "student=4"],
    };
    let fits = |text: &&&str| knob.check(text).is_ok() && **text != own;
    (*candidates.iter().find(fits).expect(knob.name)).to_owned()
}

fn required(model: &str) -> Vec<(&'static str, String)> {
    let topics = if model == "hdp" { Vec::new() } else { line("topics 2") };
    [line(&format!("model {model}")), topics].concat()
}

#[test]
fn every_knob_changes_the_settings_of_its_models_and_is_refused_by_others() {
    for knob in KNOBS.iter().filter(|knob| knob.name != "model") {
        for model in ModelKind::NAMES {
            let usual = settings(&required(model)).unwrap();
            let value = another(knob, model_or(knob, model));
            let changed = settings(&[required(model), vec![(knob.name, value.clone())]].concat());
            if !knob.models.contains(&model) {
                let Err(Error::Setting { setting, .. }) = changed else { panic!("{} {model}", knob.name) };
                assert_eq!(setting, knob.name, "{model}");
                continue;
            }
            let changed =
                changed.unwrap_or_else(|error| panic!("{} {value} for {model}: {error}", knob.name));
            let noted =
                knob.name == "total-docs" || (knob.name == "method" && usual.method == changed.method);
            assert!(changed != usual || noted, "{} {value} for {model}", knob.name);
            if !noted {
                assert_eq!(knob.show(&changed), Some(value), "{} for {model}", knob.name);
                assert!(!changes(&usual, &changed).is_empty() || knob.name == "paper");
            }
        }
    }
}

/// The model itself if it has the knob, or else one that has.
fn model_or<'a>(knob: &Knob, model: &'a str) -> &'a str {
    if knob.models.contains(&model) { model } else { knob.models[0] }
}

/// What is shown of settings, given again, makes the same settings.
#[test]
fn what_is_shown_can_be_given() {
    let mut all = Vec::new();
    for named in Method::NAMED {
        all.push(format!("topics 3, method {}", named.name));
        all.push(format!("topics 3, method {}, paper true, batch 10..20, seed 9, sweeps 3", named.name));
    }
    for line in [
        "model hdp, max-topics 9, pi literal, topic-prior 0.5",
        "model hdp, method vargibbs, total-docs 70, window half",
        "model ica, topics 2, sources student=3, source-scale fixed, boost true, kappa 0.75",
        "model gaussian-mixture, topics 2, covariance diagonal, floor 0.001, step incremental=3",
        "model multinomial-mixture, topics 2, smoothing 0.1, averaging tail=4",
        "topics 2, method sgs, statistic rb, window last",
        "topics 2, method svb, kappa 0.9, alpha gamma=2,0.5",
        "topics 2, global langevin, alpha fixed=0.3, step decay=0.1,10,0.5, total-docs 10",
        "topics 2, local mean-field, global bayes, topic-prior 0.2, total-docs 600, start nearly-uniform",
    ] {
        all.push(line.to_owned());
    }
    for text in all {
        let settings = self::settings(&line(&text)).expect(&text);
        let given = given(&settings);
        assert_eq!(self::settings(&given).expect(&text), settings, "{text}: {given:?}");
    }
}

#[test]
fn parts_go_together_as_documented() {
    let gibbs = |window, statistic| Local::Gibbs { window, statistic };
    let tuned = Method::TUNED_G_OEM;
    let ml = TopicRule::MaximumLikelihood;
    let documents = |population| TopicRule::Bayes { prior: None, population };
    for (text, expected) in [
        ("alpha fixed-point=3", Method { alpha: AlphaRule::FixedPointSteps(3), ..tuned }),
        ("statistic in-sweep", Method { local: gibbs(Window::LastQuarter, Statistic::InSweep), ..tuned }),
        ("window half", Method { local: gibbs(Window::LastHalf, Statistic::RaoBlackwell), ..tuned }),
        (
            "statistic rb, window last",
            Method { local: gibbs(Window::Last, Statistic::RaoBlackwell), ..tuned },
        ),
        ("statistic last", Method { local: gibbs(Window::Last, Statistic::Counts), ..tuned }),
        (
            "method sgs, statistic rb",
            Method { local: gibbs(Window::LastQuarter, Statistic::RaoBlackwell), ..Method::SGS },
        ),
        (
            "method batch-gibbs, window half",
            Method { local: Local::CollapsedGibbs { window: Window::LastHalf }, ..Method::BATCH_GIBBS },
        ),
        ("topic-prior 0.5", Method { global: ml(Smoothing::PseudoCount(0.5)), ..tuned }),
        ("method sgs, smoothing 0.1", Method { global: ml(Smoothing::Share(0.1)), ..Method::SGS }),
        ("start nearly-uniform", Method { start: Start::NearlyUniform, ..tuned }),
        ("step incremental=2", Method { step: StepSize::Incremental { head_start: 2 }, ..tuned }),
        (
            "step power, tau 5",
            Method { step: StepSize::Power { kappa: 0.6, offset: 3.0, tau: 5.0, least: 0.0 }, ..tuned },
        ),
        (
            "method svb, kappa 1, tau 5",
            Method { step: StepSize::Power { kappa: 1.0, offset: 0.0, tau: 5.0, least: 0.0 }, ..Method::SVB },
        ),
        (
            "global bayes, total-docs 50",
            Method { global: documents(Population::Documents(50.0)), averaging: Averaging::None, ..tuned },
        ),
        ("paper true", Method::G_OEM),
        ("paper true, boost true", Method::G_OEM_PLUS),
        (
            "method lds, global ml, alpha fixed",
            Method { sweeps: 200, step: Method::G_OEM.step, ..method("method lds, global ml") },
        ),
        ("method svb, boost true", Method { boost: true, ..Method::SVB }),
    ] {
        assert_eq!(method(text), expected, "{text}");
    }
}

#[test]
fn contradictions_are_refused() {
    for (text, expected) in [
        (
            "kappa 0.7, step incremental",
            "kappa: cannot be combined with `step`; leave one of the two out",
        ),
        (
            "topic-prior 0.1, smoothing 0.1",
            "smoothing: added tokens keep words from having probability zero already; leave out `smoothing` or \
             `topic-prior`",
        ),
        (
            "method v-oem, window half",
            "window: mean field does not sample, so there is nothing to choose; leave it out, or use `local` gibbs",
        ),
        (
            "statistic last, window half",
            "window: ``statistic` last` keeps the last sweep alone; use `statistic` counts",
        ),
        ("alpha auto", "alpha: there is no such rule; use fixed-point, "),
        ("local vb", "local: there is no `vb`; use one of gibbs, mean-field, mh"),
        ("batch few", "batch: \"few\" is not a size; give a number of documents such as 100, "),
    ] {
        let error = settings(&line(&format!("topics 2, {text}"))).unwrap_err().to_string();
        assert!(error.starts_with(expected), "{error}");
    }
    let error = settings(&[]).unwrap_err().to_string();
    assert_eq!(
        error,
        "topics: the number of topics is missing; for example `topics` 100, or `model` hdp to have it found"
    );
}

#[test]
fn a_model_goes_on_with_every_knob_that_can_change() {
    for model in ModelKind::NAMES {
        let before = settings(&required(model)).unwrap();
        for knob in KNOBS.iter().filter(|knob| knob.models.contains(&model)) {
            let value = another(knob, model);
            let after = continued(&before, &[(knob.name, value.clone())]);
            let Ok(after) = after else { continue };
            let same = after == before && !["total-docs", "method"].contains(&knob.name);
            assert!(!same, "{} {value} is ignored by {model}", knob.name);
        }
        assert_eq!(continued(&before, &[]).unwrap(), before);
    }
    let before = settings(&line("topics 2, method olda, total-docs 50")).unwrap();
    let after = continued(&before, &line("window quarter, local gibbs, total-docs 80")).unwrap();
    assert_eq!(
        changes(&before, &after),
        [
            "local: mean-field -> gibbs",
            "statistic: none -> rb",
            "window: none -> quarter",
            "total-docs: 50 -> 80"
        ]
    );
    for (text, expected) in [
        ("start nearly-uniform", "start: a continued model already has topics; leave it out"),
        ("model hdp", "model: the model is an lda, not hdp; leave it out, or train a new model"),
    ] {
        assert_eq!(continued(&before, &line(text)).unwrap_err().to_string(), expected);
    }
    let mixture = settings(&required("gaussian-mixture")).unwrap();
    let error = continued(&mixture, &line("covariance diagonal")).unwrap_err().to_string();
    assert!(error.starts_with("covariance: this cannot change when a model is continued"), "{error}");
    assert_eq!(continued(&mixture, &line("covariance full")).unwrap(), mixture);
}

#[test]
fn defaults_are_those_of_the_recommended_methods() {
    for (name, expected) in [
        ("kappa", Some("0.6; 0.5 for streams; 0.7 for hdp; 0.5 for ica")),
        ("mode", Some("auto")),
        ("averaging", Some("frequencies; none for streams; none for models of numbers")),
        ("model", Some("lda")),
        ("offset", Some("3; 10 for hdp; 0 for models of numbers")),
        ("sweeps", Some("20")),
        ("smoothing", Some("0.04; 0.0001 for multinomial-mixture")),
        ("topic-prior", Some("0.01 for hdp")),
        ("topics", None),
        ("max-topics", Some("1000")),
        ("total-docs", None),
    ] {
        assert_eq!(Knob::by_name(name).unwrap().defaults().as_deref(), expected, "{name}");
    }
}
