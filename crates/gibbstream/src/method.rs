//! A method is a value: six choices around the one driver, with the paper's methods as constants.

use crate::averaging::Averaging;
use crate::error::{Error, Result};
use crate::model::alpha::AlphaRule;
use crate::schedule::StepSize;
use serde::{Deserialize, Serialize};

/// How the expected statistics of one document are estimated.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub enum Local {
    /// Collapsed Gibbs sampling with Rao-Blackwellised statistics of the last quarter of the sweeps.
    Gibbs {
        /// Number of sweeps over each document.
        sweeps: usize,
    },
}

/// What parameters follow from the statistics.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub enum Global {
    /// Maximum likelihood, with a share of each topic spread evenly over the vocabulary.
    MaximumLikelihood {
        /// That share.
        smoothing: f64,
    },
}

/// One way to learn topics from a stream.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Method {
    /// Local inference.
    pub local: Local,
    /// Parameters from statistics.
    pub global: Global,
    /// Weight of each minibatch.
    pub step: StepSize,
    /// How alpha is learnt.
    pub alpha: AlphaRule,
    /// Whether parameters are refreshed after every local pass.
    pub boost: bool,
    /// Which parameters are reported.
    pub averaging: Averaging,
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

impl Method {
    /// Gibbs online EM, the paper's main method.
    pub const G_OEM: Self = Self {
        local: Local::Gibbs { sweeps: 20 },
        global: Global::MaximumLikelihood { smoothing: 1e-4 },
        step: StepSize::PAPER,
        alpha: AlphaRule::FixedPoint,
        boost: false,
        averaging: Averaging::None,
    };
    /// The same with boosted inference.
    pub const G_OEM_PLUS: Self = Self { boost: true, ..Self::G_OEM };

    /// All methods with names, each next to the one it resembles.
    pub const NAMED: &'static [NamedMethod] = &[
        NamedMethod {
            name: "g-oem",
            summary: "Gibbs online EM: sample each document a few times, move the topics after each minibatch",
            method: Self::G_OEM,
        },
        NamedMethod {
            name: "g-oem++",
            summary: "G-OEM that also moves the topics after every sweep of a minibatch",
            method: Self::G_OEM_PLUS,
        },
    ];

    /// The method of that name.
    pub fn named(name: &str) -> Result<Self> {
        Self::NAMED.iter().find(|named| named.name == name).map(|named| named.method).ok_or_else(|| {
            let names: Vec<&str> = Self::NAMED.iter().map(|named| named.name).collect();
            Error::setting(
                "method",
                format!("there is no method called '{name}'"),
                format!("choose one of {}", names.join(", ")),
            )
        })
    }

    /// Passes over each document.
    pub fn sweeps(&self) -> usize {
        match self.local {
            Local::Gibbs { sweeps } => sweeps,
        }
    }

    /// Refuses values that make no sense.
    pub fn validate(&self) -> Result<()> {
        let Local::Gibbs { sweeps } = self.local;
        if sweeps == 0 {
            return Err(Error::setting(
                "sweeps",
                "0 sweeps estimate nothing",
                "choose at least 1, such as 20",
            ));
        }
        let Global::MaximumLikelihood { smoothing } = self.global;
        if !(0.0..1.0).contains(&smoothing) {
            return Err(Error::setting(
                "smoothing",
                format!("{smoothing} is not a share in [0, 1)"),
                "choose a small share such as 0.0001, or 0 for none",
            ));
        }
        if self.averaging == Averaging::Tail(0) {
            return Err(Error::setting("averaging", "updates are counted from 1", "use tail=1 or uniform"));
        }
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
            named.method.validate().unwrap();
            assert_eq!(Method::named(named.name).unwrap(), named.method);
            let text = serde_json::to_string(&named.method).unwrap();
            assert_eq!(serde_json::from_str::<Method>(&text).unwrap(), named.method);
        }
    }

    #[test]
    fn unknown_name_lists_the_known_ones() {
        let error = Method::named("gibbs").unwrap_err().to_string();
        assert_eq!(error, "method: there is no method called 'gibbs'; choose one of g-oem, g-oem++");
    }

    #[test]
    fn nonsense_is_refused() {
        let base = Method::G_OEM;
        for method in [
            Method { local: Local::Gibbs { sweeps: 0 }, ..base },
            Method { global: Global::MaximumLikelihood { smoothing: 1.0 }, ..base },
            Method { global: Global::MaximumLikelihood { smoothing: f64::NAN }, ..base },
            Method { alpha: AlphaRule::Fixed(Some(0.0)), ..base },
            Method { averaging: Averaging::Tail(0), ..base },
        ] {
            assert!(method.validate().is_err(), "{method:?}");
        }
    }
}
