//! From flags to a method, and from a method to words: the one place that knows how parts are called.

use clap::parser::ValueSource;
use clap::{Arg, ArgAction, ArgMatches};
use gibbstream::averaging::Averaging;
use gibbstream::method::{Global, Local, Method};
use gibbstream::model::alpha::AlphaRule;
use gibbstream::schedule::StepSize;
use gibbstream::{Error, Result};
use serde_json::{Map, Value, json};

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
    /// Sweeps over each document [default: the method's, 20]
    #[arg(long, value_name = "P")]
    sweeps: Option<usize>,
    /// Minibatch number i weighs tau (i + offset)^-kappa [default: the method's, 0.5]
    #[arg(long, value_name = "X")]
    kappa: Option<f64>,
    /// Added to the number of the minibatch [default: the method's, 0]
    #[arg(long, value_name = "T0")]
    offset: Option<f64>,
    /// Factor of the weight [default: the method's, 1]
    #[arg(long, value_name = "X")]
    tau: Option<f64>,
    /// Weights by another rule: constant=X, or incremental (all documents alike)
    #[arg(long, value_name = "RULE", value_parser = parse_step)]
    step: Option<StepSize>,
    /// How alpha is found: fixed-point (learnt), or fixed[=X] (1/K if not given) [default: the method's]
    #[arg(long, value_name = "RULE", value_parser = parse_alpha)]
    alpha: Option<AlphaRule>,
    /// Parameters to report: none (the last ones), uniform (their mean), tail=N (from update N on)
    #[arg(long, value_name = "RULE", value_parser = parse_averaging)]
    averaging: Option<Averaging>,
    #[command(flatten)]
    boost: Boost,
    /// Share of each topic that is spread evenly over all words [default: the method's, 0.0001]
    #[arg(long, value_name = "X")]
    smoothing: Option<f64>,
    /// Number of documents to come; only Bayesian methods need it, others take note of it
    #[arg(long, value_name = "D")]
    pub total_docs: Option<u64>,
}

impl MethodArgs {
    /// The name of the method that the flags start from.
    pub fn name(&self) -> &str {
        &self.method
    }

    /// The method with all changes, checked.
    pub fn method(&self) -> Result<Method> {
        // The defaults are those of the paper, so --paper has nothing to change yet.
        let mut method = Method::named(&self.method)?;
        if self.paper {
            method.step = StepSize::PAPER;
            method.averaging = Averaging::None;
        }
        if let Some(chosen) = self.sweeps {
            match &mut method.local {
                Local::Gibbs { sweeps } => *sweeps = chosen,
            }
        }
        if let Some(chosen) = self.smoothing {
            match &mut method.global {
                Global::MaximumLikelihood { smoothing } => *smoothing = chosen,
            }
        }
        method.step = self.changed_step(method.step)?;
        method.alpha = self.alpha.unwrap_or(method.alpha);
        method.averaging = self.averaging.unwrap_or(method.averaging);
        method.boost = self.boost.0.unwrap_or(method.boost);
        method.validate()?;
        Ok(method)
    }

    fn changed_step(&self, own: StepSize) -> Result<StepSize> {
        let power = [("--kappa", self.kappa), ("--offset", self.offset), ("--tau", self.tau)];
        let asked = power.iter().find(|(_, value)| value.is_some());
        match (self.step, asked, own) {
            (Some(_), Some((flag, _)), _) => Err(Error::setting(
                *flag,
                "has no meaning together with --step",
                "leave one of the two out",
            )),
            (Some(step), None, _) => Ok(step),
            (None, None, own) => Ok(own),
            (None, Some(_), own) => {
                let StepSize::Power { kappa, offset, tau } = own else { return self.changed_step(StepSize::PAPER) };
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
        None if text == "incremental" => Ok(StepSize::Incremental),
        Some(("constant", value)) => number(value).map(StepSize::Constant),
        _ => Err("use constant=X or incremental".into()),
    }
}

fn parse_alpha(text: &str) -> Result<AlphaRule, String> {
    match text.split_once('=') {
        None if text == "fixed-point" => Ok(AlphaRule::FixedPoint),
        None if text == "fixed" => Ok(AlphaRule::Fixed(None)),
        Some(("fixed", value)) => number(value).map(|value| AlphaRule::Fixed(Some(value))),
        _ => Err("use fixed-point, fixed or fixed=X".into()),
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
        let flag = |name: &'static str, other: &'static str, help: &'static str| {
            Arg::new(name).long(name).action(ArgAction::SetTrue).overrides_with(other).help(help)
        };
        command
            .arg(flag("boost", "no-boost", "Move the topics after every sweep of a minibatch [default: the method's]"))
            .arg(flag("no-boost", "boost", "Move the topics once per minibatch"))
    }

    fn augment_args_for_update(command: clap::Command) -> clap::Command {
        Self::augment_args(command)
    }
}

impl clap::FromArgMatches for Boost {
    fn from_arg_matches(matches: &ArgMatches) -> Result<Self, clap::Error> {
        let directness = |flag: &str| {
            matches.get_flag(flag).then(|| match matches.value_source(flag) {
                Some(ValueSource::CommandLine) => 2,
                Some(ValueSource::EnvVariable) => 1,
                _ => 0,
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

/// The parts of a method under the names of the flags that set them.
pub fn parts(method: &Method) -> Map<String, Value> {
    let Local::Gibbs { sweeps } = method.local;
    let Global::MaximumLikelihood { smoothing } = method.global;
    let mut parts = Map::new();
    let mut put = |name: &str, value: Value| parts.insert(name.to_owned(), value);
    put("local", json!("gibbs"));
    put("sweeps", json!(sweeps));
    put("statistic", json!("rb"));
    put("global", json!("ml"));
    put("smoothing", json!(smoothing));
    match method.step {
        StepSize::Power { kappa, offset, tau } => {
            put("step", json!("power"));
            put("kappa", json!(kappa));
            put("offset", json!(offset));
            put("tau", json!(tau));
        }
        StepSize::Constant(rho) => drop(put("step", json!(format!("constant={rho}")))),
        StepSize::Incremental => drop(put("step", json!("incremental"))),
    }
    let alpha = match method.alpha {
        AlphaRule::FixedPoint => "fixed-point".to_owned(),
        AlphaRule::Fixed(None) => "fixed".to_owned(),
        AlphaRule::Fixed(Some(value)) => format!("fixed={value}"),
    };
    put("alpha", json!(alpha));
    put("boost", json!(method.boost));
    let averaging = match method.averaging {
        Averaging::None => "none".to_owned(),
        Averaging::Uniform => "uniform".to_owned(),
        Averaging::Tail(first) => format!("tail={first}"),
    };
    put("averaging", json!(averaging));
    parts
}
