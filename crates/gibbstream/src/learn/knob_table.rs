//! The table itself: a row for everything that users can choose.

use super::knobs::{Kind, Knob, is_a, read};
use super::parts;
use super::{ModelKind, Settings};
use crate::learn::averaging::Averaging;
use crate::learn::method::Method;
use crate::model::topics::alpha::AlphaRule;
use crate::model::rows::ica::Sources;
use crate::learn::schedule::StepSize;

const ALL: &[&str] = &ModelKind::NAMES;
const LDA: &[&str] = &["lda"];
const HDP: &[&str] = &["hdp"];
const ICA: &[&str] = &["ica"];
const TOPICS: &[&str] = &["lda", "hdp"];
const SAMPLED: &[&str] = &["lda", "hdp", "ica"];
const BOOSTED: &[&str] = &["lda", "ica"];
const SMOOTHED: &[&str] = &["lda", "hdp", "multinomial-mixture"];
const GAUSSIAN: &[&str] = &["gaussian-mixture"];
const FLOORED: &[&str] = &["ica", "gaussian-mixture", "poisson-mixture", "bernoulli-mixture"];
const GIVEN_NUMBER: &[&str] =
    &["lda", "ica", "gaussian-mixture", "poisson-mixture", "multinomial-mixture", "bernoulli-mixture"];

/// How a field is read and written.
macro_rules! field {
    ($($field:tt)+) => {
        (
            |settings: &mut Settings, text: &str| {
                settings.$($field)+ = read(text)?;
                Ok(())
            },
            |settings: &Settings| Some(settings.$($field)+.to_string()),
        )
    };
}

/// The same for a field of some kinds of models.
macro_rules! model_field {
    ($($kind:pat_param)|+ => $field:expr) => {
        (
            |settings: &mut Settings, text: &str| {
                if let $($kind)|+ = &mut settings.model {
                    $field = read(text)?;
                }
                Ok(())
            },
            |settings: &Settings| match &settings.model {
                $($kind)|+ => Some($field.to_string()),
                _ => None,
            },
        )
    };
}

/// All knobs, in the order in which they take effect: parts of a method come after the method.
pub static KNOBS: &[Knob] = &[
    Knob {
        name: "model",
        kind: Kind::Choice(ALL),
        value: "MODEL",
        models: ALL,
        help: "Kind of model
lda has a fixed number of topics; hdp finds the number itself. For rows of numbers (CSV with a header row, Parquet or \
               .npy): ica, gaussian-mixture, poisson-mixture, multinomial-mixture, bernoulli-mixture.",
        access: (parts::set_model, |settings| Some(settings.model.name().to_owned())),
    },
    Knob {
        name: "topics",
        kind: Kind::Whole,
        value: "K",
        models: GIVEN_NUMBER,
        help: "Number of topics, components or sources; required for all models except hdp",
        access: field!(components),
    },
    Knob {
        name: "method",
        kind: Kind::Method,
        value: "NAME",
        models: ALL,
        help: "Learning method; `gibbstream methods` lists all methods with their settings
The defaults shown here are those of g-oem.",
        access: (parts::set_method, |settings| Some(settings.name.clone())),
    },
    Knob {
        name: "mode",
        kind: Kind::Choice(&["auto", "file", "stream"]),
        value: "MODE",
        models: TOPICS,
        help: "Default settings for files or for streams: file, stream or auto (chosen by the input)
Input that ends and can be read again is a file: word frequencies are those of all documents. Anything else is a \
               stream: the model follows it when it changes. A model keeps its mode when training continues.",
        access: (parts::set_mode, |settings| Some(settings.mode.to_string())),
    },
    Knob {
        name: "paper",
        kind: Kind::Switch,
        value: "",
        models: LDA,
        help: "Use the settings of the paper for everything that is not set explicitly",
        access: (
            |settings, text| {
                if text == "true" {
                    settings.method = Method::published(&settings.name)?;
                }
                Ok(())
            },
            |settings| Some(Method::published(&settings.name).is_ok_and(|own| own == settings.method).to_string()),
        ),
    },
    Knob {
        name: "batch",
        kind: Kind::Batch,
        value: "N",
        models: ALL,
        help: "Documents (or rows) per minibatch, or A..B to start with A and grow to B
With A..B, a minibatch has a twentieth of the documents seen so far, but at least A and at most B. The accuracy is the \
               same, and large minibatches use many threads better.",
        access: field!(batch),
    },
    Knob {
        name: "seed",
        kind: Kind::Whole,
        value: "N",
        models: ALL,
        help: "Seed of the random number generator",
        access: field!(seed.0),
    },
    Knob {
        name: "sweeps",
        kind: Kind::Whole,
        value: "P",
        models: SAMPLED,
        help: "Sweeps (or iterations) over each document",
        access: field!(method.sweeps),
    },
    Knob {
        name: "local",
        kind: Kind::Choice(&["gibbs", "mean-field", "mh"]),
        value: "PART",
        models: LDA,
        help: "Inference within documents: gibbs (sampling), mean-field (variational) or mh (Metropolis-Hastings)",
        access: (parts::set_local, |settings| Some(settings.method.local.name().to_owned())),
    },
    Knob {
        name: "statistic",
        kind: Kind::Choice(&["rb", "in-sweep", "counts", "last"]),
        value: "PART",
        models: TOPICS,
        help: "What each kept sweep contributes to the counts: rb, in-sweep, counts or last
rb: the topic probabilities of each token after the sweep (Rao-Blackwellised, lowest variance); in-sweep: the \
               probabilities at the time of each draw; counts: the drawn topics; last: the drawn topics of the last sweep only.",
        access: (parts::set_statistic, parts::show_statistic),
    },
    Knob {
        name: "window",
        kind: Kind::Choice(&["quarter", "half", "last"]),
        value: "PART",
        models: SAMPLED,
        help: "Which sweeps are kept; the earlier ones are burn-in: the last quarter, the last half, or only the last one",
        access: (parts::set_window, parts::show_window),
    },
    Knob {
        name: "global",
        kind: Kind::Choice(&["ml", "bayes", "langevin"]),
        value: "PART",
        models: LDA,
        help: "How topics are updated from the counts: ml (maximum likelihood), bayes (variational Bayes) or langevin",
        access: (parts::set_global, |settings| Some(settings.method.global.name().to_owned())),
    },
    Knob {
        name: "smoothing",
        kind: Kind::Number,
        value: "X",
        models: SMOOTHED,
        help: "Share of each topic that is spread evenly over all words, so that no word has probability zero",
        access: (parts::set_smoothing, parts::show_smoothing),
    },
    Knob {
        name: "topic-prior",
        kind: Kind::Number,
        value: "B",
        models: TOPICS,
        help: "Parameter of the Dirichlet prior over the words of a topic
With maximum likelihood, a pseudo-count: this many tokens of every word are added to each topic, in place of {smoothing}.",
        access: (parts::set_topic_prior, parts::show_topic_prior),
    },
    Knob {
        name: "kappa",
        kind: Kind::Number,
        value: "X",
        models: ALL,
        help: "How fast step sizes shrink: minibatch i has weight tau (i + offset)^-kappa; smaller values forget faster",
        access: (|settings, text| parts::set_power(settings, 0, text), |settings| parts::show_power(settings, 0)),
    },
    Knob {
        name: "offset",
        kind: Kind::Number,
        value: "T0",
        models: ALL,
        help: "Added to the minibatch number in the step size; larger values make the first steps smaller",
        access: (|settings, text| parts::set_power(settings, 1, text), |settings| parts::show_power(settings, 1)),
    },
    Knob {
        name: "tau",
        kind: Kind::Number,
        value: "X",
        models: ALL,
        help: "Factor of the step size",
        access: (|settings, text| parts::set_power(settings, 2, text), |settings| parts::show_power(settings, 2)),
    },
    Knob {
        name: "min-step",
        kind: Kind::Number,
        value: "X",
        models: TOPICS,
        help: "Smallest step size, so that the model keeps following a stream that changes
With 0.02 the model describes about the last 50 minibatches, however long the stream is.",
        access: (|settings, text| parts::set_power(settings, 3, text), |settings| parts::show_power(settings, 3)),
    },
    Knob {
        name: "step",
        kind: Kind::Rule(is_a::<StepSize>),
        value: "RULE",
        models: ALL,
        help: "Step size rule: power, constant=X, incremental[=N] or decay=START,DELAY,EXPONENT
power: from {kappa}, {offset} and {tau}; constant: always X; incremental: all documents have equal weight, and the \
               random start counts as N minibatches; decay: for Langevin dynamics, step i is START (1 + i / DELAY)^-EXPONENT.",
        access: (parts::set_step, |settings| Some(settings.method.step.to_string())),
    },
    Knob {
        name: "alpha",
        kind: Kind::Rule(is_a::<AlphaRule>),
        value: "RULE",
        models: LDA,
        help: "How the document-topic prior alpha is learnt: fixed-point[=N], newton, gradient, gamma[=SHAPE,RATE] or fixed[=X]
fixed-point: iterate to convergence, or N times; newton, gradient: one step per minibatch; gamma: maximum a posteriori \
               with a Gamma prior; fixed: not learnt, X for every topic (default 1/K).",
        access: field!(method.alpha),
    },
    Knob {
        name: "averaging",
        kind: Kind::Rule(is_a::<Averaging>),
        value: "RULE",
        models: GIVEN_NUMBER,
        help: "Which topics are reported: none, uniform, tail=N or frequencies[=DOCUMENTS]
none: the latest; uniform: the average over all updates; tail: the average from update N on; frequencies: the latest, \
               rescaled to the word frequencies of all documents, for documents that do not change over time; \
               frequencies=10000: rescaled to the word frequencies of about the last 10,000 documents.",
        access: field!(method.averaging),
    },
    Knob {
        name: "prequential",
        kind: Kind::Choice(&["auto", "on", "off", "true", "false"]),
        value: "WHEN",
        models: TOPICS,
        help: "Score some documents of each minibatch before learning from them: on, off or auto (on for streams)
This takes about a tenth of the training time and never changes the model.",
        access: (parts::set_prequential, parts::show_prequential),
    },
    Knob {
        name: "adapt",
        kind: Kind::Switch,
        value: "",
        models: TOPICS,
        help: "After a sudden change of the stream, forget the past faster for a while
Changes are detected in the scores of {prequential}.",
        access: field!(adapt),
    },
    Knob {
        name: "boost",
        kind: Kind::Switch,
        value: "",
        models: BOOSTED,
        help: "Update the topics after every sweep over a minibatch, not only at its end",
        access: field!(method.boost),
    },
    Knob {
        name: "start",
        kind: Kind::Choice(&["gamma", "nearly-uniform"]),
        value: "PART",
        models: LDA,
        help: "Initial topics: gamma (random) or nearly-uniform",
        access: field!(method.start),
    },
    Knob {
        name: "total-docs",
        kind: Kind::Whole,
        value: "D",
        models: TOPICS,
        help: "Number of documents in the whole corpus, for Bayesian methods [default: counted if possible]
Other methods only record it.",
        access: (parts::set_total_docs, parts::show_total_docs),
    },
    Knob {
        name: "initial-topics",
        kind: Kind::Whole,
        value: "K",
        models: HDP,
        help: "Initial number of topics",
        access: field!(components),
    },
    Knob {
        name: "max-topics",
        kind: Kind::Whole,
        value: "K",
        models: HDP,
        help: "Maximum number of topics",
        access: model_field!(ModelKind::Hdp(hdp) => hdp.max_topics),
    },
    Knob {
        name: "doc-concentration",
        kind: Kind::Number,
        value: "B",
        models: HDP,
        help: "Concentration of topics within documents; small values mean few topics per document",
        access: model_field!(ModelKind::Hdp(hdp) => hdp.doc_concentration),
    },
    Knob {
        name: "top-concentration",
        kind: Kind::Number,
        value: "C",
        models: HDP,
        help: "Concentration of the topic weights; large values make new topics more likely",
        access: model_field!(ModelKind::Hdp(hdp) => hdp.top_concentration),
    },
    Knob {
        name: "min-remainder",
        kind: Kind::Number,
        value: "R",
        models: HDP,
        help: "Share always reserved for new topics; with 0, new topics may become ever less likely",
        access: model_field!(ModelKind::Hdp(hdp) => hdp.min_remainder),
    },
    Knob {
        name: "pi",
        kind: Kind::Choice(&["constrained", "literal"]),
        value: "RULE",
        models: HDP,
        help: "Topic weights: constrained (weights and remainder sum to 1) or literal (as printed in the paper)",
        access: model_field!(ModelKind::Hdp(hdp) => hdp.pi),
    },
    Knob {
        name: "sources",
        kind: Kind::Rule(is_a::<Sources>),
        value: "LAW",
        models: ICA,
        help: "Distribution of the sources: laplace, student (degrees of freedom are learnt), student=NU or gaussian",
        access: model_field!(ModelKind::Ica { sources, .. } => *sources),
    },
    Knob {
        name: "noise",
        kind: Kind::Choice(&["isotropic", "diagonal"]),
        value: "FORM",
        models: ICA,
        help: "Noise: isotropic (one variance) or diagonal (one variance per column)",
        access: model_field!(ModelKind::Ica { noise, .. } => *noise),
    },
    Knob {
        name: "source-scale",
        kind: Kind::Choice(&["learnt", "fixed"]),
        value: "HOW",
        models: ICA,
        help: "Scale of the sources: learnt (and absorbed into the mixing matrix) or fixed",
        access: (parts::set_source_scale, parts::show_source_scale),
    },
    Knob {
        name: "covariance",
        kind: Kind::Choice(&["full", "diagonal"]),
        value: "FORM",
        models: GAUSSIAN,
        help: "Covariance of the components: full or diagonal",
        access: model_field!(ModelKind::GaussianMixture { covariance, .. } => *covariance),
    },
    Knob {
        name: "floor",
        kind: Kind::Number,
        value: "X",
        models: FLOORED,
        help: "Smallest variance (gaussian-mixture, ica), rate (poisson-mixture) or probability (bernoulli-mixture)",
        access: model_field!(
            ModelKind::Ica { floor, .. }
            | ModelKind::GaussianMixture { floor, .. }
            | ModelKind::PoissonMixture { floor }
            | ModelKind::BernoulliMixture { floor } => *floor
        ),
    },
];
