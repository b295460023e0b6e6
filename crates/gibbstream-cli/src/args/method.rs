//! From flags to a method: the one place that knows how its parts are called on the command line.

use clap::parser::ValueSource;
use clap::{Arg, ArgAction, ArgMatches};
use gibbstream::averaging::Averaging;
use gibbstream::inference::gibbs::{Statistic, Window};
use gibbstream::method::{Local, Method};
use gibbstream::model::alpha::AlphaRule;
use gibbstream::model::topic_rule::{Population, Smoothing, TopicRule};
use gibbstream::schedule::StepSize;
use gibbstream::{Error, Result};

/// A method, and changes to its parts.
#[derive(Clone, Debug, clap::Args)]
#[command(next_help_heading = "Method")]
pub struct MethodArgs {
    /// How to learn; `gibbstream methods` lists what there is
    #[arg(long, value_name = "NAME", default_value = "g-oem")]
    method: String,
    /// The settings of the paper for everything that is not asked for otherwise
    #[arg(long)]
    paper: bool,
    /// Sweeps or iterations over each document [default: the method's, mostly 20]
    #[arg(long, value_name = "P")]
    sweeps: Option<usize>,
    /// Minibatch number i weighs tau (i + offset)^-kappa [default: the method's, mostly 0.5]
    #[arg(long, value_name = "X")]
    kappa: Option<f64>,
    /// Added to the number of the minibatch [default: the method's, mostly 0]
    #[arg(long, value_name = "T0")]
    offset: Option<f64>,
    /// Factor of the weight [default: the method's, mostly 1]
    #[arg(long, value_name = "X")]
    tau: Option<f64>,
    /// Weights by another rule: constant=X, or incremental (all documents alike)
    #[arg(long, value_name = "RULE", value_parser = parse_step)]
    step: Option<StepSize>,
    /// How alpha is found: fixed-point, newton, gamma, or fixed[=X] (not learnt; 1/K if X is not given)
    #[arg(long, value_name = "RULE", value_parser = parse_alpha)]
    alpha: Option<AlphaRule>,
    /// Parameters to report: none (the last ones), uniform (their mean), tail=N (from update N on)
    #[arg(long, value_name = "RULE", value_parser = parse_averaging)]
    averaging: Option<Averaging>,
    #[command(flatten)]
    boost: Boost,
    /// Share of each topic that is spread evenly over all words [default: the method's, mostly 0.0001]
    #[arg(long, value_name = "X")]
    smoothing: Option<f64>,
    /// Inference inside documents: gibbs, mean-field or mh [default: the method's]
    #[arg(long, value_name = "PART", value_parser = ["gibbs", "mean-field", "mh"], hide_possible_values = true)]
    local: Option<String>,
    /// Topics from statistics: ml, bayes or langevin [default: the method's]
    #[arg(long, value_name = "PART", value_parser = ["ml", "bayes", "langevin"], hide_possible_values = true)]
    global: Option<String>,
    /// What sampling keeps: rb (probabilities after a sweep), in-sweep, counts, or last (of the last sweep)
    #[arg(long, value_name = "PART", value_parser = ["rb", "in-sweep", "counts", "last"], hide_possible_values = true)]
    statistic: Option<String>,
    /// Parameter of the Dirichlet prior of the topics, for methods that have one
    #[arg(long, value_name = "B")]
    topic_prior: Option<f64>,
    /// Documents in the whole corpus, for Bayesian methods; others take note of it
    /// [default: counted, where that is possible]
    #[arg(long, value_name = "D")]
    pub total_docs: Option<u64>,
}

impl MethodArgs {
    /// The name of the method that the flags start from.
    pub fn name(&self) -> &str {
        &self.method
    }

    /// The method with all changes. The size of the corpus may still be missing.
    pub fn method(&self) -> Result<Method> {
        self.changed(Method::named(&self.method)?)
    }

    /// The same changes to another method.
    pub fn changed(&self, mut method: Method) -> Result<Method> {
        if self.paper {
            // So far the defaults are those of the paper; whatever moves away from them returns here.
            method.averaging = Averaging::None;
        }
        method.sweeps = self.sweeps.unwrap_or(method.sweeps);
        method.local = self.changed_local(method.local)?;
        self.change_global(&mut method)?;
        method.step = self.changed_step(method.step)?;
        method.alpha = self.alpha.unwrap_or(method.alpha);
        method.averaging = self.averaging.unwrap_or(method.averaging);
        method.boost = self.boost.0.unwrap_or(method.boost);
        if let Some(documents) = self.total_docs {
            method = method.with_population(documents as f64);
        }
        // A size that is not known yet is no reason to refuse.
        method.with_population(1.0).validate()?;
        Ok(method)
    }

    fn changed_local(&self, own: Local) -> Result<Local> {
        let (mut window, mut statistic) = match own {
            Local::Gibbs { window, statistic } | Local::MetropolisHastings { window, statistic } => {
                (window, statistic)
            }
            Local::CollapsedGibbs { .. } if self.local.is_none() && self.statistic.is_none() => {
                return Ok(own);
            }
            Local::CollapsedGibbs { .. } if self.local.is_none() => {
                return Err(Error::setting(
                    "--statistic",
                    "collapsed Gibbs sampling of the whole corpus keeps counts",
                    "leave it out, or use --method mcem",
                ));
            }
            Local::MeanField | Local::CollapsedGibbs { .. } => (Window::LastQuarter, Statistic::RaoBlackwell),
        };
        let kept_window = if window == Window::Last { Window::LastQuarter } else { window };
        (window, statistic) = match self.statistic.as_deref() {
            Some("rb") => (kept_window, Statistic::RaoBlackwell),
            Some("in-sweep") => (kept_window, Statistic::InSweep),
            Some("counts") => (kept_window, Statistic::Counts),
            Some(_) => (Window::Last, Statistic::Counts),
            None => (window, statistic),
        };
        let local = match (self.local.as_deref(), own) {
            (Some("gibbs"), _) | (None, Local::Gibbs { .. }) => Local::Gibbs { window, statistic },
            (Some("mh"), _) | (None, Local::MetropolisHastings { .. }) => {
                Local::MetropolisHastings { window, statistic }
            }
            _ => Local::MeanField,
        };
        if local == Local::MeanField && self.statistic.is_some() {
            return Err(Error::setting(
                "--statistic",
                "mean field does not sample, so there is nothing to choose",
                "leave it out, or use --local gibbs",
            ));
        }
        Ok(local)
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
        match (&mut method.global, self.topic_prior) {
            (_, None) => {}
            (TopicRule::Bayes { prior, .. }, chosen) => *prior = chosen,
            (
                TopicRule::Langevin { prior, .. }
                | TopicRule::MaximumLikelihood(Smoothing::PseudoCount(prior)),
                Some(chosen),
            ) => *prior = chosen,
            (TopicRule::MaximumLikelihood(Smoothing::Share(_)), Some(_)) => {
                let advice = "use --smoothing, or --global bayes";
                return Err(Error::setting("--topic-prior", "maximum likelihood has no prior", advice));
            }
        }
        match (&mut method.global, self.smoothing) {
            (_, None) => Ok(()),
            (TopicRule::MaximumLikelihood(smoothing), Some(chosen)) => {
                *smoothing = Smoothing::Share(chosen);
                Ok(())
            }
            _ => {
                let problem = "the prior of this method already keeps words from having probability zero";
                Err(Error::setting("--smoothing", problem, "use --topic-prior, or --global ml"))
            }
        }
    }

    fn changed_step(&self, own: StepSize) -> Result<StepSize> {
        let power = [("--kappa", self.kappa), ("--offset", self.offset), ("--tau", self.tau)];
        let asked = power.iter().find(|(_, value)| value.is_some());
        match (self.step, asked, own) {
            (Some(_), Some((flag, _)), _) => {
                let problem = "has no meaning together with --step";
                Err(Error::setting(*flag, problem, "leave one of the two out"))
            }
            (Some(StepSize::Incremental { .. }), None, StepSize::Incremental { .. }) | (None, None, _) => {
                Ok(own)
            }
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

fn parse_step(text: &str) -> Result<StepSize, String> {
    match text.split_once('=') {
        None if text == "incremental" => Ok(StepSize::Incremental { head_start: 0 }),
        Some(("constant", value)) => number(value).map(StepSize::Constant),
        _ => Err("use constant=X or incremental".into()),
    }
}

fn parse_alpha(text: &str) -> Result<AlphaRule, String> {
    match text.split_once('=') {
        None if text == "fixed-point" => Ok(AlphaRule::FixedPoint),
        None if text == "newton" => Ok(AlphaRule::Newton),
        None if text == "gamma" => Ok(Method::SPLDA.alpha),
        None if text == "fixed" => Ok(AlphaRule::Fixed(None)),
        Some(("fixed", value)) => number(value).map(|value| AlphaRule::Fixed(Some(value))),
        _ => Err("use fixed-point, newton, gamma, fixed or fixed=X".into()),
    }
}

fn parse_averaging(text: &str) -> Result<Averaging, String> {
    match text.split_once('=') {
        None if text == "none" => Ok(Averaging::None),
        None if text == "uniform" => Ok(Averaging::Uniform),
        Some(("tail", value)) => {
            value.parse().map(Averaging::Tail).map_err(|_| format!("`{value}` is not a whole number"))
        }
        _ => Err("use none, uniform or tail=N".into()),
    }
}

fn number(text: &str) -> Result<f64, String> {
    text.parse().map_err(|_| format!("`{text}` is not a number"))
}

/// `--boost` or `--no-boost`: the one that was asked for more directly counts.
#[derive(Clone, Copy, Debug)]
struct Boost(Option<bool>);

impl clap::Args for Boost {
    fn augment_args(command: clap::Command) -> clap::Command {
        let flag = |name: &'static str, help: &'static str| {
            Arg::new(name).long(name).action(ArgAction::SetTrue).help(help)
        };
        command
            .arg(flag("boost", "Move the topics after every sweep of a minibatch [default: the method's]"))
            .arg(flag("no-boost", "Move the topics once per minibatch"))
    }

    fn augment_args_for_update(command: clap::Command) -> clap::Command {
        Self::augment_args(command)
    }
}

impl clap::FromArgMatches for Boost {
    fn from_arg_matches(matches: &ArgMatches) -> Result<Self, clap::Error> {
        // On the command line the last one counts; a variable comes before that, and a file before all.
        let directness = |flag: &str| {
            matches.get_flag(flag).then(|| match matches.value_source(flag) {
                Some(ValueSource::CommandLine) => (2, matches.index_of(flag)),
                Some(ValueSource::EnvVariable) => (1, None),
                _ => (0, None),
            })
        };
        let (on, off) = (directness("boost"), directness("no-boost"));
        Ok(Self((on != off).then_some(on > off)))
    }

    fn update_from_arg_matches(&mut self, matches: &ArgMatches) -> Result<(), clap::Error> {
        *self = Self::from_arg_matches(matches)?;
        Ok(())
    }
}

/// The parts of a method in the words of the flags that set them.
#[derive(Clone, Debug, serde::Serialize)]
pub struct Parts {
    pub local: &'static str,
    pub sweeps: usize,
    pub statistic: Option<&'static str>,
    pub global: &'static str,
    pub smoothing: Option<f64>,
    pub topic_prior: Option<String>,
    pub step: String,
    pub alpha: String,
    pub boost: bool,
    pub averaging: String,
    pub needs_total_docs: bool,
    pub whole_corpus: bool,
}

impl From<&Method> for Parts {
    fn from(method: &Method) -> Self {
        let (local, kept) = match method.local {
            Local::Gibbs { window, statistic } => ("gibbs", Some((window, statistic))),
            Local::MetropolisHastings { window, statistic } => ("mh", Some((window, statistic))),
            Local::MeanField => ("mean-field", None),
            Local::CollapsedGibbs { .. } => ("collapsed-gibbs", None),
        };
        let statistic = kept.map(|kept| match kept {
            (Window::Last, Statistic::Counts) => "last",
            (_, Statistic::RaoBlackwell) => "rb",
            (_, Statistic::InSweep) => "in-sweep",
            (_, Statistic::Counts) => "counts",
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
            StepSize::Incremental { .. } => "incremental".into(),
            StepSize::Decay { start, delay, exponent } => {
                format!("decay start={start} delay={delay} exponent={exponent}")
            }
        };
        let alpha = match method.alpha {
            AlphaRule::FixedPoint => "fixed-point".into(),
            AlphaRule::FixedPointSteps(count) => format!("fixed-point, {count} steps"),
            AlphaRule::Newton => "newton".into(),
            AlphaRule::Gradient => "gradient".into(),
            AlphaRule::Gamma { .. } => "gamma".into(),
            AlphaRule::Fixed(None) => "fixed".into(),
            AlphaRule::Fixed(Some(value)) => format!("fixed={value}"),
        };
        let averaging = match method.averaging {
            Averaging::None => "none".into(),
            Averaging::Uniform => "uniform".into(),
            Averaging::Tail(first) => format!("tail={first}"),
        };
        let needs_total_docs = matches!(
            method.global,
            TopicRule::Bayes { population, .. } | TopicRule::Langevin { population, .. }
                if population != Population::Seen
        );
        let (sweeps, boost, whole_corpus) = (method.sweeps, method.boost, method.whole_corpus);
        Self {
            local,
            sweeps,
            statistic,
            global,
            smoothing,
            topic_prior,
            step,
            alpha,
            boost,
            averaging,
            needs_total_docs,
            whole_corpus,
        }
    }
}
