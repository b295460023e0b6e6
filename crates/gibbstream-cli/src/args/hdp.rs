//! Flags of models whose number of topics is open.

use gibbstream::model::hdp::HdpSettings;
use gibbstream::model::sticks::PiRule;
use gibbstream::{Error, Result};

/// The flags; none has a meaning for another kind of model.
#[derive(Clone, Debug, clap::Args)]
#[command(next_help_heading = "Open number of topics (--model hdp)")]
pub struct HdpArgs {
    /// Topics to start with [default: 2]
    #[arg(long, value_name = "K")]
    initial_topics: Option<usize>,
    /// Topics that there may be at most [default: 1000]
    #[arg(long, value_name = "K")]
    max_topics: Option<usize>,
    /// Concentration b: a small one gives documents about few topics [default: 1]
    #[arg(long, value_name = "B")]
    doc_concentration: Option<f64>,
    /// Concentration c of the weights of topics: a large one makes new topics likely [default: 10]
    #[arg(long, value_name = "C")]
    top_concentration: Option<f64>,
    /// Share that is always left for topics not met yet; with 0 new topics may become ever less likely [default: 0.02]
    #[arg(long, value_name = "R")]
    min_remainder: Option<f64>,
    /// Weights of topics: constrained (they and the remainder add up to 1), or literal (as in the paper) [default:
    /// constrained]
    #[arg(long, value_name = "RULE", value_parser = PiRule::NAMES, hide_possible_values = true)]
    pi: Option<String>,
}

/// The flags by name.
pub const HDP_FLAGS: [&str; 6] =
    ["initial-topics", "max-topics", "doc-concentration", "top-concentration", "min-remainder", "pi"];

impl HdpArgs {
    /// Topics to start with.
    pub fn initial_topics(&self) -> usize {
        self.initial_topics.unwrap_or(2)
    }

    /// What was asked for, and `before` for everything else.
    pub fn changed(&self, before: HdpSettings) -> Result<HdpSettings> {
        Ok(HdpSettings {
            max_topics: self.max_topics.unwrap_or(before.max_topics),
            doc_concentration: self.doc_concentration.unwrap_or(before.doc_concentration),
            top_concentration: self.top_concentration.unwrap_or(before.top_concentration),
            min_remainder: self.min_remainder.unwrap_or(before.min_remainder),
            pi: self.pi.as_deref().map_or(Ok(before.pi), PiRule::named)?,
        })
    }

    /// Refuses flags that have no meaning for a model with a given number of topics.
    pub fn refuse_all(given: impl Fn(&str) -> bool) -> Result<()> {
        match HDP_FLAGS.iter().find(|flag| given(flag)) {
            None => Ok(()),
            Some(flag) => Err(Error::setting(
                format!("--{flag}"),
                "only models whose number of topics is open have it",
                "add --model hdp, or leave it out",
            )),
        }
    }
}
