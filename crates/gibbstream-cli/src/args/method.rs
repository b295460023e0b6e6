//! From flags to a method: the one place that knows how its parts are called on the command line.

use clap::parser::ValueSource;
use clap::{Arg, ArgAction, ArgMatches};
use gibbstream::Result;
use gibbstream::averaging::Averaging;
use gibbstream::method::Method;
use gibbstream::method_changes::{MethodChanges, parse_alpha, parse_averaging, parse_step};
use gibbstream::model::alpha::AlphaRule;
use gibbstream::schedule::StepSize;

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
    /// Minibatch number i weighs tau (i + offset)^-kappa [default: the method's, 0.7 for g-oem]
    #[arg(long, value_name = "X")]
    kappa: Option<f64>,
    /// Added to the number of the minibatch [default: the method's, 3 for g-oem]
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
    /// Parameters to report: none (the last ones), uniform (their mean), tail=N (from update N on), or frequencies (the last
    /// topics, with word frequencies of all documents: for streams that do not change) [default: the method's,
    /// frequencies for g-oem]
    #[arg(long, value_name = "RULE", value_parser = parse_averaging)]
    averaging: Option<Averaging>,
    #[command(flatten)]
    boost: Boost,
    /// Share of each topic that is spread evenly over all words [default: the method's, 0.04 for g-oem]
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
        let method =
            if self.paper { Method::published(&self.method) } else { Method::recommended(&self.method) };
        self.changed(method?)
    }

    /// The same for an open number of topics.
    pub fn method_for_hdp(&self) -> Result<Method> {
        self.changed_for_hdp(Method::recommended_for_hdp(&self.method)?)
    }

    /// The same changes to another method.
    pub fn changed(&self, method: Method) -> Result<Method> {
        self.changes().apply(method)
    }

    /// The same for an open number of topics.
    pub fn changed_for_hdp(&self, method: Method) -> Result<Method> {
        self.changes().apply_for_hdp(method)
    }

    fn changes(&self) -> MethodChanges {
        MethodChanges {
            sweeps: self.sweeps,
            kappa: self.kappa,
            offset: self.offset,
            tau: self.tau,
            step: self.step,
            alpha: self.alpha,
            averaging: self.averaging,
            boost: self.boost.0,
            smoothing: self.smoothing,
            local: self.local.clone(),
            global: self.global.clone(),
            statistic: self.statistic.clone(),
            window: self.window.clone(),
            start: self.start.clone(),
            topic_prior: self.topic_prior,
            total_docs: self.total_docs,
        }
    }
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

#[cfg(test)]
mod tests {
    use super::*;
    use clap::{Args, FromArgMatches};
    use gibbstream::inference::gibbs::{Statistic, Window};
    use gibbstream::method::Local;
    use gibbstream::method_changes::Parts;
    use gibbstream::model::lda::Start;
    use gibbstream::model::topic_rule::{Smoothing, TopicRule};
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
            ("--alpha fixed-point=3", Method { alpha: AlphaRule::FixedPointSteps(3), ..Method::TUNED_G_OEM }),
            ("--alpha gradient", Method { alpha: AlphaRule::Gradient, ..Method::TUNED_G_OEM }),
            (
                "--alpha gamma=1.5,0.2",
                Method { alpha: AlphaRule::Gamma { shape: 1.5, rate: 0.2 }, ..Method::TUNED_G_OEM },
            ),
            ("--alpha fixed=0.3", Method { alpha: AlphaRule::Fixed(Some(0.3)), ..Method::TUNED_G_OEM }),
            (
                "--statistic in-sweep",
                Method { local: gibbs(Window::LastQuarter, Statistic::InSweep), ..Method::TUNED_G_OEM },
            ),
            (
                "--window half",
                Method { local: gibbs(Window::LastHalf, Statistic::RaoBlackwell), ..Method::TUNED_G_OEM },
            ),
            (
                "--statistic rb --window last",
                Method { local: gibbs(Window::Last, Statistic::RaoBlackwell), ..Method::TUNED_G_OEM },
            ),
            (
                "--statistic last",
                Method { local: gibbs(Window::Last, Statistic::Counts), ..Method::TUNED_G_OEM },
            ),
            (
                "--method batch-gibbs --window half",
                Method { local: Local::CollapsedGibbs { window: Window::LastHalf }, ..Method::BATCH_GIBBS },
            ),
            (
                "--topic-prior 0.5",
                Method {
                    global: TopicRule::MaximumLikelihood(Smoothing::PseudoCount(0.5)),
                    ..Method::TUNED_G_OEM
                },
            ),
            (
                "--method sgs --smoothing 0.1",
                Method { global: TopicRule::MaximumLikelihood(Smoothing::Share(0.1)), ..Method::SGS },
            ),
            ("--start nearly-uniform", Method { start: Start::NearlyUniform, ..Method::TUNED_G_OEM }),
            (
                "--step incremental=2",
                Method { step: StepSize::Incremental { head_start: 2 }, ..Method::TUNED_G_OEM },
            ),
            ("--step constant=0.2", Method { step: StepSize::Constant(0.2), ..Method::TUNED_G_OEM }),
            (
                "--kappa 1 --tau 5 --offset 9",
                Method { step: StepSize::Power { kappa: 1.0, offset: 9.0, tau: 5.0 }, ..Method::TUNED_G_OEM },
            ),
            (
                "--method lds --step decay=0.1,10,0.5",
                Method { step: StepSize::Decay { start: 0.1, delay: 10.0, exponent: 0.5 }, ..Method::LDS },
            ),
            (
                "--global bayes --total-docs 50",
                Method { global: Method::OLDA.global, averaging: Averaging::None, ..Method::TUNED_G_OEM }
                    .with_population(50.0),
            ),
            ("--paper", Method::G_OEM),
            ("--paper --boost", Method::G_OEM_PLUS),
            ("--paper --smoothing 0.0001 --kappa 0.5", Method::G_OEM),
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
