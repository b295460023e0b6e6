//! From flags to a method: the one place that knows how its parts are called on the command line.

use clap::parser::ValueSource;
use clap::{Arg, ArgAction, ArgMatches};
use gibbstream::averaging::Averaging;
use gibbstream::inference::gibbs::{Statistic, Window};
use gibbstream::method::{Local, Method};
use gibbstream::model::alpha::AlphaRule;
use gibbstream::model::lda::Start;
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
    /// Weights by another rule: constant=X, or incremental[=N] (all documents alike, and the random start like N
    /// minibatches); for Langevin moves decay=START,DELAY,EXPONENT, step i being START (1 + i / DELAY)^-EXPONENT
    #[arg(long, value_name = "RULE", value_parser = parse_step)]
    step: Option<StepSize>,
    /// How alpha is found: fixed-point[=N] (solved, or its map applied N times), newton, gradient,
    /// gamma[=SHAPE,RATE] (its prior), or fixed[=X] (not learnt; 1/K if X is not given)
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
    /// Sweeps that sampling keeps: the last quarter, the last half, or the last one [default: the method's]
    #[arg(long, value_name = "PART", value_parser = ["quarter", "half", "last"], hide_possible_values = true)]
    window: Option<String>,
    /// Topics to start from: gamma (random words), or nearly-uniform [default: the method's]
    #[arg(long, value_name = "PART", value_parser = ["gamma", "nearly-uniform"], hide_possible_values = true)]
    start: Option<String>,
    /// Parameter of the Dirichlet prior of the topics; under maximum likelihood the number of tokens of every word
    /// that is added to all counts, instead of --smoothing
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

    /// The same for an open number of topics.
    pub fn method_for_hdp(&self) -> Result<Method> {
        self.changed_for_hdp(Method::named_for_hdp(&self.method)?)
    }

    /// The same changes to another method.
    pub fn changed(&self, method: Method) -> Result<Method> {
        let method = self.with_changes(method)?;
        // A size that is not known yet is no reason to refuse.
        method.with_population(1.0).validate()?;
        Ok(method)
    }

    /// The same for an open number of topics.
    pub fn changed_for_hdp(&self, method: Method) -> Result<Method> {
        let method = self.with_changes(method)?;
        method.with_population(1.0).validate_for_hdp()?;
        Ok(method)
    }

    fn with_changes(&self, mut method: Method) -> Result<Method> {
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

fn parse_step(text: &str) -> Result<StepSize, String> {
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

fn parse_alpha(text: &str) -> Result<AlphaRule, String> {
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

fn parse_averaging(text: &str) -> Result<Averaging, String> {
    match text.split_once('=') {
        None if text == "none" => Ok(Averaging::None),
        None if text == "uniform" => Ok(Averaging::Uniform),
        Some(("tail", value)) => whole(value).map(Averaging::Tail),
        _ => Err("use none, uniform or tail=N".into()),
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
    pub window: Option<&'static str>,
    pub global: &'static str,
    pub smoothing: Option<f64>,
    pub topic_prior: Option<String>,
    pub step: String,
    pub alpha: String,
    pub boost: bool,
    pub averaging: String,
    pub start: &'static str,
    pub needs_total_docs: bool,
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

#[cfg(test)]
mod tests {
    use super::*;
    use clap::{Args, FromArgMatches};
    use std::fmt::Write;

    fn asked(flags: &str) -> Result<Method> {
        let command = MethodArgs::augment_args(clap::Command::new("test").no_binary_name(true));
        let matches = command.try_get_matches_from(flags.split_whitespace()).unwrap();
        MethodArgs::from_arg_matches(&matches).unwrap().method()
    }

    /// What `methods` says of a method, given as flags to another one, makes it that method.
    #[test]
    fn parts_are_flags() {
        for named in Method::NAMED.iter().filter(|named| !named.method.whole_corpus) {
            let parts = Parts::from(&named.method);
            let mut flags = format!(
                "--method olda --local {} --sweeps {} --global {} --alpha {} --averaging {} --start {}",
                parts.local, parts.sweeps, parts.global, parts.alpha, parts.averaging, parts.start
            );
            flags += if parts.boost { " --boost" } else { "" };
            match named.method.step {
                StepSize::Power { kappa, offset, tau } => {
                    write!(flags, " --kappa {kappa} --offset {offset} --tau {tau}").unwrap();
                }
                _ => write!(flags, " --step {}", parts.step).unwrap(),
            }
            for (flag, value) in [
                ("--statistic", parts.statistic.map(str::to_owned)),
                ("--window", parts.window.map(str::to_owned)),
                ("--smoothing", parts.smoothing.map(|share| share.to_string())),
                ("--topic-prior", parts.topic_prior.filter(|prior| prior != "1/K")),
            ] {
                if let Some(value) = value {
                    write!(flags, " {flag} {value}").unwrap();
                }
            }
            let mut expected = named.method;
            if named.name == "svb" {
                expected.global = Method::OLDA.global; // whose documents are those of the corpus, not those seen
            }
            assert_eq!(asked(&flags).unwrap(), expected, "{flags}");
        }
    }

    #[test]
    fn every_knob_of_the_library_has_a_flag() {
        let gibbs = |window, statistic| Local::Gibbs { window, statistic };
        for (flags, expected) in [
            ("--alpha fixed-point=3", Method { alpha: AlphaRule::FixedPointSteps(3), ..Method::G_OEM }),
            ("--alpha gradient", Method { alpha: AlphaRule::Gradient, ..Method::G_OEM }),
            (
                "--alpha gamma=1.5,0.2",
                Method { alpha: AlphaRule::Gamma { shape: 1.5, rate: 0.2 }, ..Method::G_OEM },
            ),
            ("--alpha fixed=0.3", Method { alpha: AlphaRule::Fixed(Some(0.3)), ..Method::G_OEM }),
            (
                "--statistic in-sweep",
                Method { local: gibbs(Window::LastQuarter, Statistic::InSweep), ..Method::G_OEM },
            ),
            (
                "--window half",
                Method { local: gibbs(Window::LastHalf, Statistic::RaoBlackwell), ..Method::G_OEM },
            ),
            (
                "--statistic rb --window last",
                Method { local: gibbs(Window::Last, Statistic::RaoBlackwell), ..Method::G_OEM },
            ),
            ("--statistic last", Method { local: gibbs(Window::Last, Statistic::Counts), ..Method::G_OEM }),
            (
                "--method batch-gibbs --window half",
                Method { local: Local::CollapsedGibbs { window: Window::LastHalf }, ..Method::BATCH_GIBBS },
            ),
            (
                "--topic-prior 0.5",
                Method { global: TopicRule::MaximumLikelihood(Smoothing::PseudoCount(0.5)), ..Method::G_OEM },
            ),
            (
                "--method sgs --smoothing 0.1",
                Method { global: TopicRule::MaximumLikelihood(Smoothing::Share(0.1)), ..Method::SGS },
            ),
            ("--start nearly-uniform", Method { start: Start::NearlyUniform, ..Method::G_OEM }),
            (
                "--step incremental=2",
                Method { step: StepSize::Incremental { head_start: 2 }, ..Method::G_OEM },
            ),
            ("--step constant=0.2", Method { step: StepSize::Constant(0.2), ..Method::G_OEM }),
            (
                "--kappa 1 --tau 5 --offset 9",
                Method { step: StepSize::Power { kappa: 1.0, offset: 9.0, tau: 5.0 }, ..Method::G_OEM },
            ),
            (
                "--method lds --step decay=0.1,10,0.5",
                Method { step: StepSize::Decay { start: 0.1, delay: 10.0, exponent: 0.5 }, ..Method::LDS },
            ),
            ("--method svb --boost", Method { boost: true, ..Method::SVB }),
            (
                "--method vargibbs --alpha fixed-point --averaging tail=7 --total-docs 50",
                Method { alpha: AlphaRule::FixedPoint, averaging: Averaging::Tail(7), ..Method::VAR_GIBBS }
                    .with_population(50.0),
            ),
        ] {
            assert_eq!(asked(flags).unwrap(), expected, "{flags}");
        }
    }
}
