//! The parts of a method and changes to them, in the words of the flags: the program and the Python package share them,
//! and so their names, their defaults and their errors.

use crate::averaging::Averaging;
use crate::error::{Error, Result};
use crate::inference::gibbs::{Statistic, Window};
use crate::method::{Local, Method};
use crate::model::alpha::AlphaRule;
use crate::model::lda::Start;
use crate::model::topic_rule::{Population, Smoothing, TopicRule};
use crate::schedule::StepSize;

/// What is to be different from a method with a name; `None` leaves a part as it is.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct MethodChanges {
    /// Sweeps or iterations over each document.
    pub sweeps: Option<usize>,
    /// Minibatch number i weighs tau (i + offset)^-kappa.
    pub kappa: Option<f64>,
    /// Added to the number of the minibatch.
    pub offset: Option<f64>,
    /// Factor of the weight.
    pub tau: Option<f64>,
    /// Weights by another rule.
    pub step: Option<StepSize>,
    /// How alpha is found.
    pub alpha: Option<AlphaRule>,
    /// Parameters to report.
    pub averaging: Option<Averaging>,
    /// Whether the topics move after every sweep of a minibatch.
    pub boost: Option<bool>,
    /// Share of each topic that is spread evenly over all words.
    pub smoothing: Option<f64>,
    /// Inference inside documents, one of [`Self::LOCAL`].
    pub local: Option<String>,
    /// Topics from statistics, one of [`Self::GLOBAL`].
    pub global: Option<String>,
    /// What sampling keeps, one of [`Self::STATISTIC`].
    pub statistic: Option<String>,
    /// Sweeps that sampling keeps, one of [`Self::WINDOW`].
    pub window: Option<String>,
    /// Topics to start from, one of [`Self::START`].
    pub start: Option<String>,
    /// Parameter of the prior of the topics.
    pub topic_prior: Option<f64>,
    /// Documents in the whole corpus, for Bayesian methods.
    pub total_docs: Option<u64>,
}

impl MethodChanges {
    /// Names of local inference.
    pub const LOCAL: &'static [&'static str] = &["gibbs", "mean-field", "mh"];
    /// Names of rules for topics.
    pub const GLOBAL: &'static [&'static str] = &["ml", "bayes", "langevin"];
    /// Names of what sampling keeps.
    pub const STATISTIC: &'static [&'static str] = &["rb", "in-sweep", "counts", "last"];
    /// Names of the sweeps that sampling keeps.
    pub const WINDOW: &'static [&'static str] = &["quarter", "half", "last"];
    /// Names of starts.
    pub const START: &'static [&'static str] = &["gamma", "nearly-uniform"];

    /// The method with all changes. The size of the corpus may still be missing.
    pub fn apply(&self, method: Method) -> Result<Method> {
        let method = self.with_changes(method)?;
        // A size that is not known yet is no reason to refuse.
        method.with_population(1.0).validate()?;
        Ok(method)
    }

    /// The same for an open number of topics.
    pub fn apply_for_hdp(&self, method: Method) -> Result<Method> {
        let method = self.with_changes(method)?;
        method.with_population(1.0).validate_for_hdp()?;
        Ok(method)
    }

    fn with_changes(&self, mut method: Method) -> Result<Method> {
        for (flag, value, known) in [
            ("--local", &self.local, Self::LOCAL),
            ("--global", &self.global, Self::GLOBAL),
            ("--statistic", &self.statistic, Self::STATISTIC),
            ("--window", &self.window, Self::WINDOW),
            ("--start", &self.start, Self::START),
        ] {
            if let Some(value) = value.as_ref().filter(|value| !known.contains(&value.as_str())) {
                let advice = format!("use one of {}", known.join(", "));
                return Err(Error::setting(flag, format!("there is no `{value}`"), advice));
            }
        }
        method.sweeps = self.sweeps.unwrap_or(method.sweeps);
        method.local = self.changed_local(method.local)?;
        self.change_global(&mut method)?;
        method.step = self.changed_step(method.step)?;
        method.alpha = self.alpha.unwrap_or(method.alpha);
        method.averaging = self.averaging.unwrap_or(match method.global {
            TopicRule::MaximumLikelihood(_) => method.averaging,
            // Word frequencies belong to topics that follow from counts alone, and nobody asked for them.
            _ if method.averaging == Averaging::Frequencies => Averaging::None,
            _ => method.averaging,
        });
        method.boost = self.boost.unwrap_or(method.boost);
        method.start = match self.start.as_deref() {
            None => method.start,
            Some("gamma") => Start::Gamma,
            Some(_) => Start::NearlyUniform,
        };
        if let Some(documents) = self.total_docs {
            method = method.with_population(documents as f64);
        }
        Ok(method)
    }

    fn changed_local(&self, own: Local) -> Result<Local> {
        let kind = self.local.as_deref().unwrap_or_else(|| local_name(own));
        let refuse = |flag: &str, problem: &str, advice: &str| Err(Error::setting(flag, problem, advice));
        if kind == "mean-field" {
            for (flag, asked) in [("--statistic", &self.statistic), ("--window", &self.window)] {
                if asked.is_some() {
                    let problem = "mean field does not sample, so there is nothing to choose";
                    return refuse(flag, problem, "leave it out, or use --local gibbs");
                }
            }
            return Ok(Local::MeanField);
        }
        if kind == "collapsed-gibbs" && self.statistic.is_some() {
            let problem = "collapsed Gibbs sampling of the whole corpus keeps counts";
            return refuse("--statistic", problem, "leave it out, or use --method mcem");
        }
        if kind == "predictive-gibbs" && self.statistic.is_some() {
            return refuse("--statistic", "this method keeps counts", "leave it out");
        }
        let (mut window, mut statistic) = match own {
            Local::Gibbs { window, statistic } | Local::MetropolisHastings { window, statistic } => {
                (window, statistic)
            }
            Local::CollapsedGibbs { window } | Local::PredictiveGibbs { window } if self.local.is_none() => {
                (window, Statistic::Counts)
            }
            Local::MeanField | Local::CollapsedGibbs { .. } | Local::PredictiveGibbs { .. } => {
                (Window::LastQuarter, Statistic::RaoBlackwell)
            }
        };
        if let Some(chosen) = self.statistic.as_deref() {
            (window, statistic) = match (chosen, window) {
                ("last", _) => (Window::Last, Statistic::Counts),
                (chosen, Window::Last) => (Window::LastQuarter, named_statistic(chosen)),
                (chosen, window) => (window, named_statistic(chosen)),
            };
        }
        if let Some(chosen) = self.window.as_deref() {
            if self.statistic.as_deref() == Some("last") && chosen != "last" {
                let problem = "`--statistic last` keeps the last sweep alone";
                return refuse("--window", problem, "use --statistic counts");
            }
            window = match chosen {
                "quarter" => Window::LastQuarter,
                "half" => Window::LastHalf,
                _ => Window::Last,
            };
        }
        Ok(match kind {
            "gibbs" => Local::Gibbs { window, statistic },
            "mh" => Local::MetropolisHastings { window, statistic },
            "predictive-gibbs" => Local::PredictiveGibbs { window },
            _ => Local::CollapsedGibbs { window },
        })
    }

    /// The step belongs to it, because Langevin moves take one of their own kind.
    fn change_global(&self, method: &mut Method) -> Result<()> {
        match (self.global.as_deref(), method.global) {
            (None, _)
            | (Some("ml"), TopicRule::MaximumLikelihood(_))
            | (Some("bayes"), TopicRule::Bayes { .. })
            | (Some("langevin"), TopicRule::Langevin { .. }) => {}
            (Some("langevin"), _) => {
                (method.global, method.step) = (Method::LDS.global, Method::LDS.step);
            }
            (Some(other), before) => {
                method.global = if other == "ml" { Method::G_OEM.global } else { Method::OLDA.global };
                if matches!(before, TopicRule::Langevin { .. }) {
                    method.step = Method::G_OEM.step;
                }
            }
        }
        match (&mut method.global, self.topic_prior, self.smoothing) {
            (TopicRule::MaximumLikelihood(_), Some(_), Some(_)) => {
                let problem = "added tokens keep words from having probability zero already";
                return Err(Error::setting("--smoothing", problem, "leave out --smoothing or --topic-prior"));
            }
            (TopicRule::MaximumLikelihood(smoothing), Some(tokens), None) => {
                *smoothing = Smoothing::PseudoCount(tokens);
            }
            (TopicRule::MaximumLikelihood(smoothing), None, Some(share)) => {
                *smoothing = Smoothing::Share(share);
            }
            (_, _, Some(_)) => {
                let problem = "the prior of this method already keeps words from having probability zero";
                return Err(Error::setting("--smoothing", problem, "use --topic-prior, or --global ml"));
            }
            (TopicRule::Bayes { prior, .. }, Some(chosen), None) => *prior = Some(chosen),
            (TopicRule::Langevin { prior, .. }, Some(chosen), None) => *prior = chosen,
            (_, None, None) => {}
        }
        Ok(())
    }

    fn changed_step(&self, own: StepSize) -> Result<StepSize> {
        let power = [("--kappa", self.kappa), ("--offset", self.offset), ("--tau", self.tau)];
        let asked = power.iter().find(|(_, value)| value.is_some());
        match (self.step, asked, own) {
            (Some(_), Some((flag, _)), _) => {
                let problem = "has no meaning together with --step";
                Err(Error::setting(*flag, problem, "leave one of the two out"))
            }
            (None, None, _) => Ok(own),
            (Some(step), None, _) => Ok(step),
            (None, Some(_), own) => {
                let StepSize::Power { kappa, offset, tau } = own else {
                    return self.changed_step(StepSize::PAPER);
                };
                Ok(StepSize::Power {
                    kappa: self.kappa.unwrap_or(kappa),
                    offset: self.offset.unwrap_or(offset),
                    tau: self.tau.unwrap_or(tau),
                })
            }
        }
    }
}

fn local_name(local: Local) -> &'static str {
    match local {
        Local::Gibbs { .. } => "gibbs",
        Local::MetropolisHastings { .. } => "mh",
        Local::MeanField => "mean-field",
        Local::CollapsedGibbs { .. } => "collapsed-gibbs",
        Local::PredictiveGibbs { .. } => "predictive-gibbs",
    }
}

fn named_statistic(name: &str) -> Statistic {
    match name {
        "rb" => Statistic::RaoBlackwell,
        "in-sweep" => Statistic::InSweep,
        _ => Statistic::Counts,
    }
}

/// The rule that a text such as `constant=0.1` asks for.
pub fn parse_step(text: &str) -> Result<StepSize, String> {
    match text.split_once('=') {
        None if text == "incremental" => Ok(StepSize::Incremental { head_start: 0 }),
        Some(("incremental", count)) => Ok(StepSize::Incremental { head_start: whole(count)? }),
        Some(("constant", value)) => number(value).map(StepSize::Constant),
        Some(("decay", values)) => {
            let [start, delay, exponent] = numbers(values)?;
            Ok(StepSize::Decay { start, delay, exponent })
        }
        _ => Err("use constant=X, incremental, incremental=N or decay=START,DELAY,EXPONENT".into()),
    }
}

/// The rule that a text such as `fixed=0.1` asks for.
pub fn parse_alpha(text: &str) -> Result<AlphaRule, String> {
    match text.split_once('=') {
        None if text == "fixed-point" => Ok(AlphaRule::FixedPoint),
        None if text == "newton" => Ok(AlphaRule::Newton),
        None if text == "gradient" => Ok(AlphaRule::Gradient),
        None if text == "gamma" => Ok(Method::SPLDA.alpha),
        None if text == "fixed" => Ok(AlphaRule::Fixed(None)),
        Some(("fixed-point", count)) => whole(count).map(AlphaRule::FixedPointSteps),
        Some(("gamma", values)) => {
            let [shape, rate] = numbers(values)?;
            Ok(AlphaRule::Gamma { shape, rate })
        }
        Some(("fixed", value)) => number(value).map(|value| AlphaRule::Fixed(Some(value))),
        _ => {
            Err("use fixed-point, fixed-point=N, newton, gradient, gamma, gamma=SHAPE,RATE, fixed or fixed=X"
                .into())
        }
    }
}

/// The rule that a text such as `tail=100` asks for.
pub fn parse_averaging(text: &str) -> Result<Averaging, String> {
    match text.split_once('=') {
        None if text == "none" => Ok(Averaging::None),
        None if text == "uniform" => Ok(Averaging::Uniform),
        None if text == "frequencies" => Ok(Averaging::Frequencies),
        Some(("tail", value)) => whole(value).map(Averaging::Tail),
        _ => Err("use none, uniform, tail=N or frequencies".into()),
    }
}

fn number(text: &str) -> Result<f64, String> {
    text.parse().map_err(|_| format!("`{text}` is not a number"))
}

fn whole<T: std::str::FromStr>(text: &str) -> Result<T, String> {
    text.parse().map_err(|_| format!("`{text}` is not a whole number"))
}

fn numbers<const N: usize>(text: &str) -> Result<[f64; N], String> {
    let values = text.split(',').map(number).collect::<Result<Vec<f64>, String>>()?;
    values.try_into().map_err(|_| format!("`{text}` is not {N} numbers with commas between them"))
}

/// The parts of a method in the words of the flags that set them.
#[derive(Clone, Debug, serde::Serialize)]
pub struct Parts {
    /// Inference inside documents.
    pub local: &'static str,
    /// Sweeps or iterations over each document.
    pub sweeps: usize,
    /// What sampling keeps.
    pub statistic: Option<&'static str>,
    /// Sweeps that sampling keeps.
    pub window: Option<&'static str>,
    /// Topics from statistics.
    pub global: &'static str,
    /// Share of each topic that is spread evenly over all words.
    pub smoothing: Option<f64>,
    /// Parameter of the prior of the topics.
    pub topic_prior: Option<String>,
    /// The weight of a minibatch.
    pub step: String,
    /// How alpha is found.
    pub alpha: String,
    /// Whether the topics move after every sweep.
    pub boost: bool,
    /// Parameters to report.
    pub averaging: String,
    /// Topics to start from.
    pub start: &'static str,
    /// Whether it depends on the size of the corpus.
    pub needs_total_docs: bool,
    /// Whether a minibatch is the whole corpus.
    pub whole_corpus: bool,
}

impl From<&Method> for Parts {
    fn from(method: &Method) -> Self {
        let (window, statistic) = match method.local {
            Local::Gibbs { window, statistic } | Local::MetropolisHastings { window, statistic } => {
                (Some(window), Some(statistic))
            }
            Local::MeanField => (None, None),
            Local::CollapsedGibbs { window } | Local::PredictiveGibbs { window } => (Some(window), None),
        };
        let statistic = statistic.map(|statistic| match statistic {
            Statistic::RaoBlackwell => "rb",
            Statistic::InSweep => "in-sweep",
            Statistic::Counts if window == Some(Window::Last) => "last",
            Statistic::Counts => "counts",
        });
        let window = window.map(|window| match window {
            Window::LastQuarter => "quarter",
            Window::LastHalf => "half",
            Window::Last => "last",
        });
        let (global, smoothing, topic_prior) = match method.global {
            TopicRule::MaximumLikelihood(Smoothing::Share(share)) => ("ml", Some(share), None),
            TopicRule::MaximumLikelihood(Smoothing::PseudoCount(prior)) => {
                ("ml", None, Some(prior.to_string()))
            }
            TopicRule::Bayes { prior, .. } => {
                ("bayes", None, Some(prior.map_or("1/K".into(), |prior| prior.to_string())))
            }
            TopicRule::Langevin { prior, .. } => ("langevin", None, Some(prior.to_string())),
        };
        let step = match method.step {
            StepSize::Power { kappa, offset, tau } => {
                format!("power kappa={kappa} offset={offset} tau={tau}")
            }
            StepSize::Constant(rho) => format!("constant={rho}"),
            StepSize::Incremental { head_start: 0 } => "incremental".into(),
            StepSize::Incremental { head_start } => format!("incremental={head_start}"),
            StepSize::Decay { start, delay, exponent } => format!("decay={start},{delay},{exponent}"),
        };
        let alpha = match method.alpha {
            AlphaRule::FixedPoint => "fixed-point".into(),
            AlphaRule::FixedPointSteps(count) => format!("fixed-point={count}"),
            AlphaRule::Newton => "newton".into(),
            AlphaRule::Gradient => "gradient".into(),
            AlphaRule::Gamma { shape, rate } => format!("gamma={shape},{rate}"),
            AlphaRule::Fixed(None) => "fixed".into(),
            AlphaRule::Fixed(Some(value)) => format!("fixed={value}"),
        };
        let averaging = match method.averaging {
            Averaging::None => "none".into(),
            Averaging::Uniform => "uniform".into(),
            Averaging::Tail(first) => format!("tail={first}"),
            Averaging::Frequencies => "frequencies".into(),
        };
        let needs_total_docs = matches!(
            method.global,
            TopicRule::Bayes { population, .. } | TopicRule::Langevin { population, .. }
                if population != Population::Seen
        );
        Self {
            local: local_name(method.local),
            sweeps: method.sweeps,
            statistic,
            window,
            global,
            smoothing,
            topic_prior,
            step,
            alpha,
            boost: method.boost,
            averaging,
            start: match method.start {
                Start::Gamma => "gamma",
                Start::NearlyUniform => "nearly-uniform",
            },
            needs_total_docs,
            whole_corpus: method.whole_corpus,
        }
    }
}
