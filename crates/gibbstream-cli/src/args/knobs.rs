//! Flags from the library's table of knobs, and the settings that they amount to.

use clap::parser::ValueSource;
use clap::{Arg, ArgAction, ArgMatches};
use gibbstream::Result;
use gibbstream::error::spelled;
use gibbstream::learn::knobs::{self, KNOBS, Kind, Knob};
use gibbstream::learn::{Mode, Settings};

/// Knobs that were given on the command line, by a variable or in the configuration file.
#[derive(Clone, Debug)]
pub struct KnobArgs {
    given: Vec<(&'static str, String)>,
}

impl KnobArgs {
    /// The value that was given, if one was.
    pub fn get(&self, name: &str) -> Option<&str> {
        self.given.iter().find(|(known, _)| *known == name).map(|(_, value)| value.as_str())
    }

    /// The same with another value of a knob.
    #[must_use]
    pub fn with(&self, name: &'static str, value: String) -> Self {
        let others = self.given.iter().filter(|(known, _)| *known != name).cloned();
        Self { given: others.chain([(name, value)]).collect() }
    }

    /// The settings of a new model, for an input of that kind unless another is given, or of one that goes on; a new one
    /// has one word until they are counted.
    pub fn settings(&self, before: Option<&Settings>, mode: Mode) -> Result<Settings> {
        match before {
            Some(before) => knobs::continued(before, &self.given),
            None => knobs::settings_in(mode, &self.given).map(|settings| settings.vocabulary(1)),
        }
    }
}

impl clap::Args for KnobArgs {
    fn augment_args(command: clap::Command) -> clap::Command {
        // The seed belongs to all commands.
        KNOBS.iter().filter(|knob| knob.name != "seed").fold(command, |command, knob| {
            let command = command.arg(flag(knob));
            if knob.name != "boost" {
                return command;
            }
            let off = Arg::new("no-boost").long("no-boost").action(ArgAction::SetTrue);
            command.arg(off.help("Update the topics once per minibatch").help_heading(heading(knob)))
        })
    }

    fn augment_args_for_update(command: clap::Command) -> clap::Command {
        Self::augment_args(command)
    }
}

fn flag(knob: &'static Knob) -> Arg {
    let help = spelled(knob.help, |name| Some(format!("--{name}")));
    let (short, more) = help.split_once('\n').unwrap_or((&help, ""));
    let default = knob.defaults().filter(|_| !matches!(knob.kind, Kind::Switch));
    let short = default.map_or(short.to_owned(), |default| format!("{short} [default: {default}]"));
    let arg = Arg::new(knob.name).long(knob.name).help(short.clone());
    let arg = if more.is_empty() { arg } else { arg.long_help(format!("{short}\n\n{more}")) };
    let arg = match knob.kind {
        Kind::Switch => arg.action(ArgAction::SetTrue),
        // Alone it means on; what comes after it is an input.
        Kind::Choice(names) if knob.name == "prequential" => {
            let arg = arg.num_args(0..=1).require_equals(true).default_missing_value("on");
            arg.value_name(knob.value).value_parser(names.to_vec()).hide_possible_values(true)
        }
        Kind::Choice(names) => {
            arg.value_name(knob.value).value_parser(names.to_vec()).hide_possible_values(true)
        }
        _ => arg.value_name(knob.value).value_parser(|text: &str| knob.check(text).map(|()| text.to_owned())),
    };
    let arg = arg.help_heading(heading(knob));
    if knob.name == "topics" { arg.short('k').visible_aliases(["components", "num-topics"]) } else { arg }
}

fn heading(knob: &Knob) -> &'static str {
    match knob.name {
        "model" | "topics" | "mode" | "batch" => "Model",
        "prequential" | "adapt" => "Streams",
        _ if knob.models == ["hdp"] => "Open number of topics (--model hdp)",
        _ if knob.models.contains(&"lda") => "Method",
        _ => "Models of numbers",
    }
}

impl clap::FromArgMatches for KnobArgs {
    fn from_arg_matches(matches: &ArgMatches) -> Result<Self, clap::Error> {
        let value = |knob: &Knob| match (knob.name, knob.kind) {
            ("boost", _) => boost(matches).map(|on| on.to_string()),
            (name, Kind::Switch) => matches.get_flag(name).then(|| "true".to_owned()),
            (name, _) => {
                let last = matches.try_get_raw(name).ok()??.next_back()?;
                Some(last.to_string_lossy().into_owned())
            }
        };
        let given = KNOBS.iter().filter_map(|knob| Some((knob.name, value(knob)?)));
        Ok(Self { given: given.collect() })
    }

    fn update_from_arg_matches(&mut self, matches: &ArgMatches) -> Result<(), clap::Error> {
        *self = Self::from_arg_matches(matches)?;
        Ok(())
    }
}

/// `--boost` or `--no-boost`: the one that was asked for more directly counts.
fn boost(matches: &ArgMatches) -> Option<bool> {
    // On the command line the last one counts; a variable comes before that, and a file before all.
    let directness = |flag: &str| {
        matches.get_flag(flag).then(|| match matches.value_source(flag) {
            Some(ValueSource::CommandLine) => (2, matches.index_of(flag)),
            Some(ValueSource::EnvVariable) => (1, None),
            _ => (0, None),
        })
    };
    let (on, off) = (directness("boost"), directness("no-boost"));
    (on != off).then_some(on > off)
}
