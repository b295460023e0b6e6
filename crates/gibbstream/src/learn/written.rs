//! How parts of settings are written: `tail=100`, `gamma=1,0.01`, `student=4`. What is shown can be read again.

use super::{Mode, ModelKind};
use crate::learn::averaging::Averaging;
use crate::inference::gibbs::{Statistic, Window};
use crate::learn::method::{Local, Method};
use crate::model::topics::alpha::AlphaRule;
use crate::model::rows::families::gaussian::Covariance;
use crate::model::topics::hdp::HdpSettings;
use crate::model::rows::ica::{Noise, Sources};
use crate::model::topics::lda::Start;
use crate::model::topics::hdp::sticks::PiRule;
use crate::model::topics::rule::TopicRule;
use crate::learn::schedule::StepSize;
use std::fmt::{self, Display, Formatter};
use std::str::FromStr;

/// Values that have a name each.
macro_rules! named {
    ($kind:ty: $($name:literal => $value:ident),+) => {
        impl FromStr for $kind {
            type Err = String;

            fn from_str(text: &str) -> Result<Self, String> {
                match text {
                    $($name => Ok(Self::$value),)+
                    _ => Err(format!("use one of {}", [$($name),+].join(", "))),
                }
            }
        }

        impl Display for $kind {
            fn fmt(&self, out: &mut Formatter<'_>) -> fmt::Result {
                out.write_str(match self {
                    $(Self::$value => $name,)+
                })
            }
        }
    };
}

named!(Mode: "file" => File, "stream" => Stream);
named!(Window: "quarter" => LastQuarter, "half" => LastHalf, "last" => Last);
named!(Statistic: "rb" => RaoBlackwell, "in-sweep" => InSweep, "counts" => Counts);
named!(Start: "gamma" => Gamma, "nearly-uniform" => NearlyUniform);
named!(PiRule: "constrained" => Constrained, "literal" => Literal);
named!(Covariance: "full" => Full, "diagonal" => Diagonal);
named!(Noise: "isotropic" => Isotropic, "diagonal" => Diagonal);

impl Local {
    /// Its name for users.
    pub fn name(self) -> &'static str {
        match self {
            Self::Gibbs { .. } => "gibbs",
            Self::MetropolisHastings { .. } => "mh",
            Self::MeanField => "mean-field",
            Self::CollapsedGibbs { .. } => "collapsed-gibbs",
            Self::PredictiveGibbs { .. } => "predictive-gibbs",
        }
    }
}

impl TopicRule {
    /// Its name for users.
    pub fn name(self) -> &'static str {
        match self {
            Self::MaximumLikelihood(_) => "ml",
            Self::Bayes { .. } => "bayes",
            Self::Langevin { .. } => "langevin",
        }
    }
}

impl ModelKind {
    /// The kind of that name with its usual settings.
    pub fn by_name(name: &str) -> Option<Self> {
        /// The smallest variance, rate or probability.
        const FLOOR: f64 = 1e-6;
        Some(match name {
            "lda" => Self::Lda,
            "hdp" => Self::Hdp(HdpSettings::default()),
            "ica" => Self::Ica {
                sources: Sources::Laplace,
                noise: Noise::Isotropic,
                learn_scale: true,
                floor: FLOOR,
            },
            "gaussian-mixture" => Self::GaussianMixture { covariance: Covariance::Full, floor: FLOOR },
            "poisson-mixture" => Self::PoissonMixture { floor: FLOOR },
            "multinomial-mixture" => Self::MultinomialMixture { smoothing: 1e-4 },
            "bernoulli-mixture" => Self::BernoulliMixture { floor: FLOOR },
            _ => return None,
        })
    }
}

impl FromStr for StepSize {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        match text.split_once('=') {
            None if text == "power" => Ok(Self::PAPER),
            None if text == "incremental" => Ok(Self::Incremental { head_start: 0 }),
            Some(("incremental", count)) => Ok(Self::Incremental { head_start: whole(count)? }),
            Some(("constant", value)) => number(value).map(Self::Constant),
            Some(("decay", values)) => {
                let [start, delay, exponent] = numbers(values)?;
                Ok(Self::Decay { start, delay, exponent })
            }
            _ => {
                Err("use power, constant=X, incremental, incremental=N or decay=START,DELAY,EXPONENT".into())
            }
        }
    }
}

impl Display for StepSize {
    fn fmt(&self, out: &mut Formatter<'_>) -> fmt::Result {
        match self {
            Self::Power { .. } => write!(out, "power"),
            Self::Constant(rho) => write!(out, "constant={rho}"),
            Self::Incremental { head_start: 0 } => write!(out, "incremental"),
            Self::Incremental { head_start } => write!(out, "incremental={head_start}"),
            Self::Decay { start, delay, exponent } => write!(out, "decay={start},{delay},{exponent}"),
        }
    }
}

impl FromStr for AlphaRule {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        match text.split_once('=') {
            None if text == "fixed-point" => Ok(Self::FixedPoint),
            None if text == "newton" => Ok(Self::Newton),
            None if text == "gradient" => Ok(Self::Gradient),
            None if text == "gamma" => Ok(Method::SPLDA.alpha),
            None if text == "fixed" => Ok(Self::Fixed(None)),
            Some(("fixed-point", count)) => whole(count).map(Self::FixedPointSteps),
            Some(("gamma", values)) => {
                let [shape, rate] = numbers(values)?;
                Ok(Self::Gamma { shape, rate })
            }
            Some(("fixed", value)) => number(value).map(|value| Self::Fixed(Some(value))),
            _ => Err(
                "use fixed-point, fixed-point=N, newton, gradient, gamma, gamma=SHAPE,RATE, fixed or fixed=X"
                    .into(),
            ),
        }
    }
}

impl Display for AlphaRule {
    fn fmt(&self, out: &mut Formatter<'_>) -> fmt::Result {
        match self {
            Self::FixedPoint => write!(out, "fixed-point"),
            Self::FixedPointSteps(count) => write!(out, "fixed-point={count}"),
            Self::Newton => write!(out, "newton"),
            Self::Gradient => write!(out, "gradient"),
            Self::Gamma { shape, rate } => write!(out, "gamma={shape},{rate}"),
            Self::Fixed(None) => write!(out, "fixed"),
            Self::Fixed(Some(value)) => write!(out, "fixed={value}"),
        }
    }
}

impl FromStr for Averaging {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        match text.split_once('=') {
            None if text == "none" => Ok(Self::None),
            None if text == "uniform" => Ok(Self::Uniform),
            None if text == "frequencies" => Ok(Self::Frequencies),
            Some(("tail", value)) => whole(value).map(Self::Tail),
            Some(("frequencies", value)) => whole(value).map(Self::RecentFrequencies),
            _ => Err("use none, uniform, tail=N, frequencies or frequencies=DOCUMENTS".into()),
        }
    }
}

impl Display for Averaging {
    fn fmt(&self, out: &mut Formatter<'_>) -> fmt::Result {
        match self {
            Self::None => write!(out, "none"),
            Self::Uniform => write!(out, "uniform"),
            Self::Tail(first) => write!(out, "tail={first}"),
            Self::Frequencies => write!(out, "frequencies"),
            Self::RecentFrequencies(memory) => write!(out, "frequencies={memory}"),
        }
    }
}

impl FromStr for Sources {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        match text.split_once('=') {
            None if text == "laplace" => Ok(Self::Laplace),
            None if text == "student" => Ok(Self::Student(None)),
            None if text == "gaussian" => Ok(Self::Gaussian),
            Some(("student", degrees)) => number(degrees).map(|degrees| Self::Student(Some(degrees))),
            _ => Err("use laplace, student, student=NU or gaussian".into()),
        }
    }
}

impl Display for Sources {
    fn fmt(&self, out: &mut Formatter<'_>) -> fmt::Result {
        match self {
            Self::Laplace => write!(out, "laplace"),
            Self::Student(None) => write!(out, "student"),
            Self::Student(Some(degrees)) => write!(out, "student={degrees}"),
            Self::Gaussian => write!(out, "gaussian"),
        }
    }
}

fn number(text: &str) -> Result<f64, String> {
    text.parse().map_err(|_| format!("`{text}` is not a number"))
}

fn whole<T: FromStr>(text: &str) -> Result<T, String> {
    text.parse().map_err(|_| format!("`{text}` is not a whole number"))
}

fn numbers<const N: usize>(text: &str) -> Result<[f64; N], String> {
    let values = text.split(',').map(number).collect::<Result<Vec<f64>, String>>()?;
    values.try_into().map_err(|_| format!("`{text}` is not {N} numbers with commas between them"))
}
