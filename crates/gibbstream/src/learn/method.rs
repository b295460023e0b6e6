//! A method is a value: a few choices around the one driver, with the paper's methods as constants.

use crate::learn::averaging::Averaging;
use crate::error::{Error, Result};
use crate::inference::gibbs::{Statistic, Window};
use crate::model::topics::alpha::AlphaRule;
use crate::model::topics::lda::Start;
use crate::model::topics::rule::{Population, Smoothing, TopicRule};
use crate::learn::mode::Mode;
use crate::learn::schedule::StepSize;
use serde::{Deserialize, Serialize};

/// How the expected statistics of one document are estimated.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub enum Local {
    /// Collapsed Gibbs sampling.
    Gibbs {
        /// Which sweeps are kept.
        window: Window,
        /// What is kept of them.
        statistic: Statistic,
    },
    /// Mean-field variational inference.
    MeanField,
    /// Metropolis-Hastings with the same target as Gibbs sampling.
    MetropolisHastings {
        /// Which sweeps are kept.
        window: Window,
        /// What is kept of them.
        statistic: Statistic,
    },
    /// Collapsed Gibbs sampling that counts a document's own tokens beside what topics have learnt.
    PredictiveGibbs {
        /// Which sweeps are kept.
        window: Window,
    },
    /// Collapsed Gibbs sampling of the whole corpus, topics integrated out: one token after another.
    CollapsedGibbs {
        /// Which sweeps are kept.
        window: Window,
    },
}

/// One way to learn topics from a stream.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Method {
    /// Local inference.
    pub local: Local,
    /// Sweeps or iterations over each document.
    pub sweeps: usize,
    /// Topics from statistics.
    pub global: TopicRule,
    /// Weight of each minibatch.
    pub step: StepSize,
    /// How alpha is learnt.
    pub alpha: AlphaRule,
    /// Whether parameters are refreshed after every local pass.
    pub boost: bool,
    /// Which parameters are reported.
    pub averaging: Averaging,
    /// Where the topics start.
    pub start: Start,
    /// Whether a minibatch is the whole corpus, read again and again.
    pub whole_corpus: bool,
}

/// A method with a name.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct NamedMethod {
    /// The name that users give.
    pub name: &'static str,
    /// What it is in one sentence.
    pub summary: &'static str,
    /// What it is made of.
    pub method: Method,
}

const GIBBS: Local = Local::Gibbs { window: Window::LastQuarter, statistic: Statistic::RaoBlackwell };
const PAPER_SMOOTHING: TopicRule = TopicRule::MaximumLikelihood(Smoothing::Share(1e-4));
/// Alpha as the mode given the counts of topics in documents, under a prior that hardly matters.
const ALPHA_FROM_COUNTS: AlphaRule = AlphaRule::Gamma { shape: 1.0, rate: 0.01 };
const BAYES_CORPUS: TopicRule = TopicRule::Bayes { prior: None, population: Population::Corpus };

impl Method {
    /// Gibbs online EM, the paper's main method.
    pub const G_OEM: Self = Self {
        local: GIBBS,
        sweeps: 20,
        global: PAPER_SMOOTHING,
        step: StepSize::PAPER,
        alpha: AlphaRule::FixedPoint,
        boost: false,
        averaging: Averaging::None,
        start: Start::Gamma,
        whole_corpus: false,
    };
    /// G-OEM for files, unless the paper's settings are asked for: steps that fall faster, alpha from counts, more
    /// smoothing, and word frequencies of all documents. What it gains is in docs/results/defaults.md.
    pub const TUNED_G_OEM: Self = Self {
        global: TopicRule::MaximumLikelihood(Smoothing::Share(0.04)),
        step: StepSize::Power { kappa: 0.6, offset: 3.0, tau: 1.0, least: 0.0 },
        alpha: ALPHA_FROM_COUNTS,
        averaging: Averaging::Frequencies,
        ..Self::G_OEM
    };
    /// G-OEM for streams: the same, but what is reported follows the stream when it changes. Word frequencies are
    /// forgotten as topics are, and steps fall more slowly, and never below the weight of one in 50 minibatches.
    pub const STREAM_G_OEM: Self = Self {
        step: StepSize::Power { kappa: 0.5, offset: 3.0, tau: 1.0, least: 0.02 },
        averaging: Averaging::None,
        ..Self::TUNED_G_OEM
    };
    /// G-OEM with boosted inference.
    pub const G_OEM_PLUS: Self = Self { boost: true, ..Self::G_OEM };
    /// Variational online EM.
    pub const V_OEM: Self = Self { local: Local::MeanField, ..Self::G_OEM };
    /// V-OEM with boosted inference.
    pub const V_OEM_PLUS: Self = Self { boost: true, ..Self::V_OEM };
    /// Sparse one-pass LDA of Sato, Kurihara and Nakagawa.
    pub const SPLDA: Self = Self {
        step: StepSize::Incremental { head_start: 0 },
        alpha: ALPHA_FROM_COUNTS,
        start: Start::NearlyUniform,
        ..Self::V_OEM_PLUS
    };
    /// Online LDA of Hoffman, Blei and Bach.
    pub const OLDA: Self = Self { global: BAYES_CORPUS, alpha: AlphaRule::Newton, ..Self::V_OEM };
    /// Streaming variational Bayes of Broderick and others.
    pub const SVB: Self = Self {
        global: TopicRule::Bayes { prior: None, population: Population::Seen },
        step: StepSize::Incremental { head_start: 1 },
        ..Self::OLDA
    };
    /// Sparse stochastic inference of Mimno, Hoffman and Blei.
    pub const VAR_GIBBS: Self = Self {
        local: Local::Gibbs { window: Window::LastQuarter, statistic: Statistic::Counts },
        alpha: AlphaRule::Fixed(None),
        ..Self::OLDA
    };
    /// Streaming Gibbs sampling of Gao, Chen and Zhu.
    pub const SGS: Self = Self {
        local: Local::Gibbs { window: Window::Last, statistic: Statistic::Counts },
        global: TopicRule::MaximumLikelihood(Smoothing::PseudoCount(0.01)),
        step: StepSize::Incremental { head_start: 0 },
        alpha: AlphaRule::Fixed(None),
        ..Self::G_OEM
    };
    /// Langevin dynamics of Patterson and Teh.
    pub const LDS: Self = Self {
        local: Local::Gibbs { window: Window::LastHalf, statistic: Statistic::Counts },
        sweeps: 200,
        global: TopicRule::Langevin { prior: 0.01, population: Population::Corpus },
        step: StepSize::Decay { start: 0.01, delay: 1000.0, exponent: 0.6 },
        alpha: AlphaRule::Fixed(None),
        ..Self::G_OEM
    };
    /// Online EM with local Metropolis-Hastings, after Rohde and Cappé.
    pub const MH_OEM: Self = Self {
        local: Local::MetropolisHastings { window: Window::LastQuarter, statistic: Statistic::RaoBlackwell },
        ..Self::G_OEM
    };
    /// Batch variational EM of Blei, Ng and Jordan.
    pub const BATCH_VEM: Self = Self { step: StepSize::Constant(1.0), whole_corpus: true, ..Self::V_OEM };
    /// Batch Monte Carlo EM.
    pub const MCEM: Self = Self { step: StepSize::Constant(1.0), whole_corpus: true, ..Self::G_OEM };
    /// Collapsed Gibbs sampling of Griffiths and Steyvers, the batch reference.
    pub const BATCH_GIBBS: Self = Self {
        local: Local::CollapsedGibbs { window: Window::LastQuarter },
        sweeps: 100,
        global: TopicRule::MaximumLikelihood(Smoothing::PseudoCount(0.01)),
        step: StepSize::Constant(1.0),
        alpha: AlphaRule::Gamma { shape: 1.0, rate: 0.0 },
        whole_corpus: true,
        ..Self::G_OEM
    };

    /// G-OEM for an open number of topics. Topics that are young must be able to change, so the prior of words is
    /// counted in tokens, and steps become small sooner than in the paper (docs/hdp.md).
    pub const HDP_G_OEM: Self = Self {
        global: TopicRule::MaximumLikelihood(Smoothing::PseudoCount(0.01)),
        step: StepSize::Power { kappa: 0.7, offset: 10.0, tau: 1.0, least: 0.0 },
        ..Self::G_OEM
    };
    /// Truncation-free stochastic variational inference of Wang and Blei.
    pub const HDP_VAR_GIBBS: Self = Self {
        local: Local::PredictiveGibbs { window: Window::LastQuarter },
        global: TopicRule::Bayes { prior: Some(0.01), population: Population::Corpus },
        ..Self::HDP_G_OEM
    };

    /// Online EM for mixtures, whose E-step is exact. They find their place in few updates, and then it is better to
    /// average more than G-OEM does.
    pub const MIXTURE_G_OEM: Self =
        Self { step: StepSize::Power { kappa: 0.6, offset: 0.0, tau: 1.0, least: 0.0 }, sweeps: 1, ..Self::G_OEM };

    /// The methods for an open number of topics.
    pub const NAMED_FOR_HDP: &'static [NamedMethod] = &[
        NamedMethod {
            name: "g-oem",
            summary: "Gibbs online EM that can create topics while it samples a document",
            method: Self::HDP_G_OEM,
        },
        NamedMethod {
            name: "vargibbs",
            summary: "variational Bayes for topics and their weights, with Gibbs sampling inside documents",
            method: Self::HDP_VAR_GIBBS,
        },
    ];

    /// All methods with names, each next to one that it resembles.
    pub const NAMED: &'static [NamedMethod] = &[
        NamedMethod {
            name: "g-oem",
            summary: "Gibbs online EM: samples each document a few times, updates the topics after each minibatch",
            method: Self::G_OEM,
        },
        NamedMethod {
            name: "g-oem++",
            summary: "G-OEM that also updates the topics after every sweep of a minibatch",
            method: Self::G_OEM_PLUS,
        },
        NamedMethod {
            name: "v-oem",
            summary: "variational online EM: mean field instead of sampling",
            method: Self::V_OEM,
        },
        NamedMethod {
            name: "v-oem++",
            summary: "V-OEM that also updates the topics after every local iteration",
            method: Self::V_OEM_PLUS,
        },
        NamedMethod {
            name: "olda",
            summary: "online LDA: variational Bayes with a prior on topics; needs the size of the corpus",
            method: Self::OLDA,
        },
        NamedMethod {
            name: "vargibbs",
            summary: "sparse stochastic inference: online LDA with Gibbs sampling inside documents",
            method: Self::VAR_GIBBS,
        },
        NamedMethod {
            name: "svb",
            summary: "streaming variational Bayes: the posterior of the past is the prior of the next minibatch",
            method: Self::SVB,
        },
        NamedMethod {
            name: "splda",
            summary: "single-pass LDA: V-OEM++ that adds up counts, with a Gamma prior on alpha",
            method: Self::SPLDA,
        },
        NamedMethod {
            name: "sgs",
            summary: "streaming Gibbs sampling: adds up the topics of the last sweep",
            method: Self::SGS,
        },
        NamedMethod {
            name: "lds",
            summary: "Langevin dynamics on topics with Gibbs sampling inside documents; needs the corpus size",
            method: Self::LDS,
        },
        NamedMethod {
            name: "mh-oem",
            summary: "online EM with local Metropolis-Hastings",
            method: Self::MH_OEM,
        },
        NamedMethod {
            name: "batch-vem",
            summary: "reference: batch variational EM over the whole corpus, several passes",
            method: Self::BATCH_VEM,
        },
        NamedMethod {
            name: "batch-gibbs",
            summary: "reference: collapsed Gibbs sampling of the whole corpus, on one thread",
            method: Self::BATCH_GIBBS,
        },
        NamedMethod {
            name: "mcem",
            summary: "reference: batch Monte Carlo EM over the whole corpus, several passes",
            method: Self::MCEM,
        },
    ];

    /// The method of that name as it was published, for comparisons.
    pub fn published(name: &str) -> Result<Self> {
        Self::find(Self::NAMED, name, "there is no method called")
    }

    /// The method of that name with the settings that are recommended for files or for streams. All but `g-oem` are as
    /// they were published.
    pub fn recommended(name: &str, mode: Mode) -> Result<Self> {
        let tuned = match mode {
            Mode::File => Self::TUNED_G_OEM,
            Mode::Stream => Self::STREAM_G_OEM,
        };
        Self::published(name).map(|method| if method == Self::G_OEM { tuned } else { method })
    }

    /// The same with every part that is still that of `before` as it is in `after`: how settings go from one preset to
    /// another and keep what was chosen.
    #[must_use]
    pub(crate) fn moved(self, before: &Self, after: &Self) -> Self {
        fn part<T: PartialEq>(own: T, before: &T, after: T) -> T {
            if own == *before { after } else { own }
        }
        let global = part(self.global, &before.global, after.global);
        let averaging = part(self.averaging, &before.averaging, after.averaging);
        let by_counts = matches!(global, TopicRule::MaximumLikelihood(_));
        Self {
            sweeps: part(self.sweeps, &before.sweeps, after.sweeps),
            global,
            step: part(self.step, &before.step, after.step),
            alpha: part(self.alpha, &before.alpha, after.alpha),
            averaging: if by_counts || !averaging.counts_words() { averaging } else { self.averaging },
            ..self
        }
    }

    /// The method of that name for an open number of topics.
    pub fn recommended_for_hdp(name: &str) -> Result<Self> {
        Self::find(Self::NAMED_FOR_HDP, name, "models with an open number of topics have no method called")
    }

    fn find(methods: &[NamedMethod], name: &str, problem: &str) -> Result<Self> {
        methods.iter().find(|named| named.name == name).map(|named| named.method).ok_or_else(|| {
            let names: Vec<&str> = methods.iter().map(|named| named.name).collect();
            Error::setting(
                "method",
                format!("{problem} '{name}'"),
                format!("choose one of {}", names.join(", ")),
            )
        })
    }

    /// The same method for a corpus of so many documents; methods that do not ask stay as they are.
    #[must_use]
    pub fn with_population(mut self, documents: f64) -> Self {
        if let Some(population) =
            self.population_mut().filter(|population| **population == Population::Corpus)
        {
            *population = Population::Documents(documents);
        }
        self
    }

    /// The size of the corpus, in methods that depend on it.
    pub(crate) fn population_mut(&mut self) -> Option<&mut Population> {
        match &mut self.global {
            TopicRule::Bayes { population, .. } | TopicRule::Langevin { population, .. } => {
                Some(population).filter(|population| **population != Population::Seen)
            }
            TopicRule::MaximumLikelihood(_) => None,
        }
    }

    /// Whether it depends on the size of the corpus.
    pub fn depends_on_population(mut self) -> bool {
        self.population_mut().is_some()
    }

    /// Whether the size of the corpus must still be given.
    pub fn needs_population(mut self) -> bool {
        self.population_mut().is_some_and(|population| *population == Population::Corpus)
    }

    /// Passes over the input, if nothing else is asked for.
    pub fn usual_passes(&self) -> u64 {
        if self.whole_corpus { 20 } else { 1 }
    }

    /// Which sweeps sampling keeps; the last quarter if it does not sample.
    pub fn window(&self) -> Window {
        match self.local {
            Local::Gibbs { window, .. }
            | Local::MetropolisHastings { window, .. }
            | Local::PredictiveGibbs { window }
            | Local::CollapsedGibbs { window } => window,
            Local::MeanField => Window::LastQuarter,
        }
    }

    /// Whether the topics make Langevin moves, instead of following from statistics.
    pub fn is_langevin(&self) -> bool {
        matches!(self.global, TopicRule::Langevin { .. })
    }

    /// Refuses parts that cannot work with an open number of topics.
    pub fn validate_for_hdp(&self) -> Result<()> {
        let refuse = |setting: &str, problem: &str, advice: &str| {
            let problem = format!("{problem}, and the number of topics is open");
            Err(Error::setting(setting, problem, advice))
        };
        let bayes = matches!(self.global, TopicRule::Bayes { .. });
        match (self.local, self.global) {
            (Local::Gibbs { .. }, TopicRule::MaximumLikelihood(_))
            | (Local::PredictiveGibbs { .. }, TopicRule::Bayes { prior: Some(_), .. }) => {}
            (Local::Gibbs { .. } | Local::PredictiveGibbs { .. }, _) if bayes => {
                return refuse(
                    "global",
                    "a posterior of topics belongs to method vargibbs",
                    "use {method} vargibbs",
                );
            }
            _ => {
                let problem = "only Gibbs sampling can meet new topics";
                return refuse("local", problem, "leave the parts of the method alone");
            }
        }
        if self.boost {
            return refuse("boost", "new topics are compared once per minibatch", "leave boost off");
        }
        if self.averaging != Averaging::None {
            return refuse(
                "averaging",
                "a mean is over parameters of the same topics",
                "leave averaging off",
            );
        }
        if self.alpha != Self::HDP_G_OEM.alpha {
            let problem = "alpha is the concentration times the weights of topics";
            return refuse("alpha", problem, "use {doc-concentration}");
        }
        if self.start != Start::Gamma {
            return refuse("start", "the first topics have random words", "leave it out");
        }
        self.validate_values()
    }

    /// Refuses values and combinations that make no sense, with the reason.
    pub fn validate(&self) -> Result<()> {
        if matches!(self.local, Local::PredictiveGibbs { .. }) {
            let problem = "sampling that counts a document's own tokens is for an open number of topics";
            return Err(Error::setting("local", problem, "use {model} hdp"));
        }
        self.validate_values()
    }

    fn validate_values(&self) -> Result<()> {
        let refuse =
            |setting: &str, problem: &str, advice: &str| Err(Error::setting(setting, problem, advice));
        let langevin = self.is_langevin();
        let decay = matches!(self.step, StepSize::Decay { .. });
        if self.sweeps == 0 {
            return refuse("sweeps", "0 is not a number of sweeps", "choose at least 1, such as 20");
        }
        if self.averaging == Averaging::Tail(0) {
            return refuse("averaging", "updates are counted from 1", "use tail=1 or uniform");
        }
        if self.averaging == Averaging::RecentFrequencies(0) {
            let problem = "frequencies of 0 documents are none";
            return refuse("averaging", problem, "use frequencies=N with at least 1, such as 10000, or none");
        }
        if self.averaging.counts_words() && !matches!(self.global, TopicRule::MaximumLikelihood(_)) {
            return refuse(
                "averaging",
                "the frequencies of words are exchanged in topics that follow from counts alone",
                "use {averaging} none, or {global} ml",
            );
        }
        if langevin && self.boost {
            return refuse(
                "boost",
                "a Langevin move is made once per minibatch and cannot be tried in advance",
                "leave boost off, or choose another global rule",
            );
        }
        if langevin != decay {
            return refuse(
                "step",
                "Langevin moves, and only they, take a decaying step that is not a weight",
                "leave the step to the method",
            );
        }
        if langevin && !matches!(self.alpha, AlphaRule::Fixed(_)) {
            return refuse(
                "alpha",
                "Langevin moves keep no running mean that alpha could be learnt from",
                "use {alpha} fixed",
            );
        }
        if matches!(self.local, Local::MetropolisHastings { statistic: Statistic::InSweep, .. }) {
            return refuse(
                "statistic",
                "in-sweep probabilities belong to Gibbs draws; Metropolis-Hastings makes none",
                "use rb or counts",
            );
        }
        if matches!(self.local, Local::CollapsedGibbs { .. }) {
            if self.boost {
                return refuse(
                    "boost",
                    "collapsed Gibbs sampling moves the topics with every token already",
                    "leave boost off",
                );
            }
            if !self.whole_corpus {
                return refuse(
                    "local",
                    "collapsed Gibbs sampling of minibatches would forget one for the next",
                    "use method batch-gibbs as it is, or {local} gibbs",
                );
            }
            if !matches!(self.global, TopicRule::MaximumLikelihood(Smoothing::PseudoCount(_))) {
                return refuse(
                    "global",
                    "collapsed Gibbs sampling needs a prior on topics in the form of pseudo-counts",
                    "leave the global rule to the method",
                );
            }
        }
        self.global.validate()?;
        self.step.validate()?;
        self.alpha.validate()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn named_methods_are_valid_and_survive_json() {
        for named in Method::NAMED {
            assert_eq!(Method::published(named.name).unwrap(), named.method);
            let method = named.method.with_population(1000.0);
            assert!(!method.needs_population());
            method.validate().unwrap();
            let text = serde_json::to_string(&method).unwrap();
            assert_eq!(serde_json::from_str::<Method>(&text).unwrap(), method);
        }
    }

    #[test]
    fn only_the_main_method_is_not_as_published() {
        for named in Method::NAMED {
            for mode in [Mode::File, Mode::Stream] {
                let recommended = Method::recommended(named.name, mode).unwrap();
                assert_eq!(recommended == named.method, named.name != "g-oem", "{}", named.name);
                recommended.with_population(1000.0).validate().unwrap();
            }
        }
    }

    #[test]
    fn methods_that_need_the_corpus_size_say_so() {
        for named in Method::NAMED {
            let asks = ["olda", "vargibbs", "lds"].contains(&named.name);
            assert_eq!(named.method.needs_population(), asks, "{}", named.name);
            assert_eq!(named.method.validate().is_err(), asks, "{}", named.name);
        }
    }

    #[test]
    fn unknown_name_lists_the_known_ones() {
        let error = Method::published("gibbs").unwrap_err().to_string();
        assert!(
            error.starts_with("method: there is no method called 'gibbs'; choose one of g-oem, g-oem++, ")
        );
    }

    #[test]
    fn nonsense_is_refused_with_the_reason() {
        let base = Method::G_OEM;
        let langevin = Method::LDS.with_population(100.0);
        let share = |share| TopicRule::MaximumLikelihood(Smoothing::Share(share));
        for (method, setting) in [
            (Method { sweeps: 0, ..base }, "sweeps"),
            (Method { global: share(1.0), ..base }, "smoothing"),
            (Method { global: share(f64::NAN), ..base }, "smoothing"),
            (
                Method {
                    global: TopicRule::Bayes { prior: Some(0.0), population: Population::Seen },
                    ..base
                },
                "topic-prior",
            ),
            (Method { alpha: AlphaRule::Fixed(Some(0.0)), ..base }, "alpha"),
            (Method { averaging: Averaging::Tail(0), ..base }, "averaging"),
            (Method { averaging: Averaging::Frequencies, ..langevin }, "averaging"),
            (Method { averaging: Averaging::Frequencies, ..Method::SVB }, "averaging"),
            (Method { boost: true, ..langevin }, "boost"),
            (Method { step: StepSize::PAPER, ..langevin }, "step"),
            (Method { alpha: AlphaRule::FixedPoint, ..langevin }, "alpha"),
            (Method { step: langevin.step, ..base }, "step"),
            (Method { boost: true, ..Method::BATCH_GIBBS }, "boost"),
            (Method { whole_corpus: false, ..Method::BATCH_GIBBS }, "local"),
            (Method { global: share(0.1), ..Method::BATCH_GIBBS }, "global"),
            (
                Method {
                    local: Local::MetropolisHastings { window: Window::Last, statistic: Statistic::InSweep },
                    ..base
                },
                "statistic",
            ),
        ] {
            let error = method.validate().unwrap_err().to_string();
            assert!(error.starts_with(&format!("{setting}: ")), "{error}");
        }
    }
}
