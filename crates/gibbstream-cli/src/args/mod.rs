//! The command line: its words, and how environment and configuration file fill the gaps.
//!
//! A flag beats its environment variable, which beats the configuration file, which beats the default.

mod config;

pub mod checkpoint;

pub mod input;

pub mod knobs;

pub mod serve;

pub mod train;

use crate::command;
use clap::builder::BoolishValueParser;
use clap::parser::ValueSource;
use clap::{ArgAction, CommandFactory, FromArgMatches, Parser, Subcommand};
use gibbstream::Error;
use gibbstream::numerics::random::Seed;
use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};

const EXAMPLES: &str = "\
Examples:
  gibbstream demo                                             a quick demonstration
  gibbstream train reviews.jsonl.zst --topics 100 --out reviews.gbs
  gibbstream topics reviews.gbs                               show the topics
  gibbstream evaluate reviews.gbs held_out.jsonl.zst          score it on held-out documents
  cat new.jsonl | gibbstream infer reviews.gbs - > mixtures.jsonl
  gibbstream report reviews.gbs reviews.jsonl.zst --out page.html
  gibbstream timeline reviews.gbs reviews.jsonl.zst --time-field date --by month

Every flag of `train` and every general option can also be set by an environment variable (GIBBSTREAM_TOPICS
for --topics) or in a TOML file (--config). Flags win over variables, and variables over the file.

Exit codes: 0 done, 1 a requested check failed, 2 wrong usage or bad input, 129 after SIGHUP, 130 after Ctrl-C, 143 after SIGTERM.";

/// Fast, accurate topic models for large collections and streams of documents.
#[derive(Debug, Parser)]
#[command(name = "gibbstream", version, propagate_version = true, args_override_self = true)]
#[command(max_term_width = 110, after_long_help = EXAMPLES, subcommand_required = true)]
pub struct Cli {
    #[command(subcommand)]
    pub command: Command,
    #[command(flatten)]
    pub general: GeneralArgs,
}

/// What to do.
#[derive(Debug, Subcommand)]
pub enum Command {
    Demo(command::demo::DemoArgs),
    Train(Box<train::TrainCommand>),
    Serve(Box<serve::ServeArgs>),
    Evaluate(command::evaluate::EvaluateArgs),
    Topics(command::topics::TopicsArgs),
    Infer(command::infer::InferArgs),
    Compare(command::compare::CompareArgs),
    Export(command::export::ExportArgs),
    Report(Box<command::report::ReportArgs>),
    Timeline(Box<command::timeline::TimelineArgs>),
    ChooseK(Box<command::choose_k::ChooseKArgs>),
    Merge(command::merge::MergeArgs),
    Label(command::label::LabelArgs),
    Inspect(command::inspect::InspectArgs),
    Synth(command::synth::SynthArgs),
    Bench(command::bench::BenchArgs),
    /// List the learning methods and their settings
    Methods,
    Completions(command::completions::CompletionsArgs),
    Man(command::man::ManArgs),
}

/// Options of all commands.
#[derive(Debug, clap::Args)]
#[expect(clippy::struct_excessive_bools, reason = "one for each flag")]
#[command(next_help_heading = "General options")]
pub struct GeneralArgs {
    /// Print JSON to standard output: one object, or one line per document where there are many results
    #[arg(long, global = true)]
    json: bool,
    /// Print errors only
    #[arg(long, short, global = true, conflicts_with = "verbose")]
    quiet: bool,
    /// Print more details
    #[arg(long, short, global = true)]
    verbose: bool,
    /// Do not show progress
    #[arg(long, global = true)]
    no_progress: bool,
    /// How to show progress on standard error: a bar (if it is a terminal), JSON lines, or nothing
    #[arg(long, global = true, value_name = "HOW", default_value = "auto")]
    progress: ProgressChoice,
    /// Seed of the random number generator [default: 0]
    #[arg(long, global = true, value_name = "N")]
    seed: Option<u64>,
    /// Number of threads, at most one per core; results never depend on it [default: all cores]
    #[arg(long, global = true, value_name = "N")]
    threads: Option<usize>,
    /// Overwrite output files even if they contain something that gibbstream did not write
    #[arg(long, global = true)]
    force: bool,
    /// TOML file with default values for flags; a table such as [train] applies to one command only
    #[arg(long, global = true, value_name = "FILE")]
    config: Option<PathBuf>,
}

/// Choices of `--progress`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
pub enum ProgressChoice {
    Auto,
    Json,
    None,
}

/// Options of all commands, checked.
#[derive(Clone, Copy, Debug)]
#[expect(clippy::struct_excessive_bools, reason = "each is a flag of its own")]
pub struct General {
    pub(crate) json: bool,
    pub(crate) quiet: bool,
    pub(crate) verbose: bool,
    pub(crate) progress: ProgressChoice,
    /// Whether outputs may replace anything.
    pub(crate) force: bool,
    /// Where all random numbers come from.
    pub seed: Seed,
    /// One or more, and no more than there are cores: further ones would only wait for each other.
    pub threads: usize,
    /// Threads that were asked for beyond that.
    pub(crate) threads_left_out: usize,
}

impl GeneralArgs {
    /// The options, with defaults filled in.
    pub fn check(&self) -> gibbstream::Result<General> {
        if self.threads == Some(0) {
            let advice = "use 1 or more, or leave it out to use all cores";
            return Err(Error::setting("--threads", "0 is not a number of threads", advice));
        }
        let cores = std::thread::available_parallelism().map_or(1, std::num::NonZero::get);
        let asked = self.threads.unwrap_or(cores);
        Ok(General {
            json: self.json,
            quiet: self.quiet,
            verbose: self.verbose,
            progress: if self.no_progress { ProgressChoice::None } else { self.progress },
            force: self.force,
            seed: Seed(self.seed.unwrap_or(0)),
            threads: asked.min(cores),
            threads_left_out: asked.saturating_sub(cores),
        })
    }
}

/// Why the command line was not accepted.
pub enum Refusal {
    /// What clap says about it; also help and version.
    Usage(clap::Error),
    /// The configuration file cannot be used.
    Config(anyhow::Error),
}

/// Reads the command line of the main program.
pub fn parse(words: Vec<OsString>) -> Result<Cli, Refusal> {
    let (mut cli, matches): (Cli, _) = parse_as(command(), words)?;
    if let (Command::Train(command), Some(matches)) = (&mut cli.command, matches.subcommand_matches("train"))
    {
        command.train.given = given(matches);
        command.train.seeds = command.seeds.take();
    }
    if let (Command::ChooseK(choose), Some(matches)) =
        (&mut cli.command, matches.subcommand_matches("choose-k"))
    {
        choose.train.given = given(matches);
    }
    if let (Command::Serve(serve), Some(matches)) = (&mut cli.command, matches.subcommand_matches("serve")) {
        remember(serve, matches);
    }
    Ok(cli)
}

/// Reads the flags that a folder of a service remembers.
pub fn parse_service(flags: &[String]) -> anyhow::Result<serve::ServeArgs> {
    let words = ["gibbstream", "serve"].into_iter().map(str::to_owned).chain(flags.iter().cloned());
    let matches = command().try_get_matches_from(words)?;
    let matches = matches.subcommand_matches("serve").cloned().unwrap_or_default();
    let mut args = serve::ServeArgs::from_arg_matches(&matches)?;
    remember(&mut args, &matches);
    Ok(args)
}

/// Keeps the flags of `train` that were given, by name and as words.
fn remember(serve: &mut serve::ServeArgs, matches: &clap::ArgMatches) {
    let command = command();
    let train = command.find_subcommand("train");
    let learns = |id: &str| {
        id == "seed" || train.is_some_and(|train| train.get_arguments().any(|arg| arg.get_id() == id))
    };
    let given: Vec<String> =
        given(matches).into_iter().filter(|name| learns(name) || learns(&name.replace('-', "_"))).collect();
    let flags =
        command.find_subcommand("serve").into_iter().chain([&command]).flat_map(clap::Command::get_arguments);
    serve.words.clear();
    for arg in flags.filter(|arg| given.iter().any(|name| *name == arg.get_id().as_str().replace('_', "-"))) {
        let Some(long) = arg.get_long() else { continue };
        let is_switch = matches!(arg.get_action(), ArgAction::SetTrue);
        let values = matches.get_raw(arg.get_id().as_str()).into_iter().flatten();
        let words = values.map(|value| format!("--{long}={}", value.to_string_lossy()));
        if is_switch { serve.words.push(format!("--{long}")) } else { serve.words.extend(words) }
    }
    serve.train.given = given;
}

/// The words of the command line, which errors look at.
static WORDS: Mutex<Vec<OsString>> = Mutex::new(Vec::new());

/// Reads the command line of a program together with environment and configuration file.
pub fn parse_as<P: FromArgMatches>(
    mut command: clap::Command,
    words: Vec<OsString>,
) -> Result<(P, clap::ArgMatches), Refusal> {
    WORDS.lock().unwrap_or_else(PoisonError::into_inner).clone_from(&words);
    if let Some(file) = config_file(&words) {
        command = config::apply(command, &file).map_err(Refusal::Config)?;
    }
    let matches = command.clone().try_get_matches_from(words).map_err(Refusal::Usage)?;
    let args = P::from_arg_matches(&matches);
    Ok((args.map_err(|error| Refusal::Usage(error.format(&mut command)))?, matches))
}

/// Names of the flags that were given by the user, on the command line or by a variable.
fn given(matches: &clap::ArgMatches) -> Vec<String> {
    let by_user = |id: &&clap::Id| {
        let source = matches.value_source(id.as_str());
        matches!(source, Some(ValueSource::CommandLine | ValueSource::EnvVariable))
    };
    matches.ids().filter(by_user).map(|id| id.as_str().replace('_', "-")).collect()
}

/// The whole command line, each flag of `train` and each general one with its environment variable.
pub fn command() -> clap::Command {
    with_general_variables(Cli::command())
        .mut_subcommand("train", |train| train.mut_args(with_variable))
        .mut_subcommand("choose-k", command::choose_k::adapt)
        .mut_subcommand("serve", |serve| serve::adapt(serve).mut_args(with_variable))
        // What other commands call the format of their input; here --format is that of the page.
        .mut_subcommand("report", |report| report.mut_arg("format", |arg| arg.long("input-format")))
}

/// A command line, each general option with its environment variable.
pub fn with_general_variables(command: clap::Command) -> clap::Command {
    command.mut_args(|arg| if arg.is_global_set() { with_variable(arg) } else { arg })
}

fn with_variable(arg: clap::Arg) -> clap::Arg {
    let Some(variable) = arg.get_long().map(variable) else { return arg };
    // Flags take yes and no, 1 and 0, and so on.
    let is_flag = matches!(arg.get_action(), ArgAction::SetTrue);
    let arg = if is_flag { arg.value_parser(BoolishValueParser::new()) } else { arg };
    // A variable that is set but empty is as good as not set.
    let arg = if std::env::var_os(&variable).is_some_and(|value| value.is_empty()) {
        arg
    } else {
        arg.env(variable)
    };
    arg.hide_env_values(true)
}

/// The flag of that name, if the command at hand has one: how errors of the library speak of settings.
pub fn spelling(name: &str) -> Option<String> {
    let command = command();
    let words = WORDS.lock().unwrap_or_else(PoisonError::into_inner).clone();
    let at_hand = words.into_iter().find_map(|word| command.find_subcommand(word));
    let commands = [Some(&command), at_hand].into_iter().flatten();
    let mut flags = commands.flat_map(clap::Command::get_arguments).flat_map(config::names);
    flags.any(|flag| flag == name).then(|| format!("--{name}"))
}

/// The environment variable of a flag: `GIBBSTREAM_MAX_DF` for `--max-df`.
fn variable(flag: &str) -> String {
    format!("GIBBSTREAM_{}", flag.to_uppercase().replace('-', "_"))
}

/// The configuration file must be known before the rest of the command line can be understood.
fn config_file(words: &[OsString]) -> Option<PathBuf> {
    let flags = words.iter().take_while(|word| *word != "--");
    let mut found = None;
    for (at, word) in flags.enumerate() {
        if word == "--config" {
            found = words.get(at + 1).map(PathBuf::from);
        } else if let Some(file) = word.to_str().and_then(|word| word.strip_prefix("--config=")) {
            found = Some(PathBuf::from(file));
        }
    }
    let variable = std::env::var_os(variable("config")).map(PathBuf::from);
    found.or(variable).filter(|file| file != Path::new(""))
}

#[cfg(test)]
mod tests {
    use super::*;
    use gibbstream::learn::knobs::{KNOBS, Kind, Knob};

    #[test]
    fn the_command_line_is_consistent() {
        command().debug_assert();
    }

    /// A value that is not the usual one.
    fn value(knob: &Knob) -> &'static str {
        match knob.kind {
            Kind::Choice(names) => names[1],
            Kind::Whole => "7",
            Kind::Number => "0.25",
            Kind::Switch => "true",
            Kind::Batch => "10..20",
            Kind::Method => "sgs",
            Kind::Rule(check) => {
                let rules = ["incremental", "newton", "uniform", "student=4"];
                rules.into_iter().find(|rule| check(rule).is_ok()).unwrap()
            }
        }
    }

    fn given(command: clap::Command, words: &[String], name: &str) -> Option<String> {
        let words =
            ["gibbstream", "train", "corpus"].into_iter().map(str::to_owned).chain(words.iter().cloned());
        let cli = Cli::from_arg_matches(&command.try_get_matches_from(words).unwrap()).unwrap();
        let Command::Train(command) = cli.command else { panic!("another command") };
        let train = command.train;
        train.knobs.get(name).map(str::to_owned)
    }

    #[test]
    fn every_knob_has_a_flag_a_variable_and_a_key() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("c.toml");
        for knob in KNOBS {
            let (name, value) = (knob.name, value(knob));
            let flag = format!("--{name}");
            let is_switch = matches!(knob.kind, Kind::Switch);
            let words = if is_switch { vec![flag] } else { vec![format!("{flag}={value}")] };
            assert_eq!(given(command(), &words, name).as_deref(), Some(value), "{name}");
            assert_eq!(given(command(), &[], name), None, "{name}");

            let command = command();
            let owner = if name == "seed" { &command } else { command.find_subcommand("train").unwrap() };
            let arg = owner.get_arguments().find(|arg| arg.get_long() == Some(name)).expect(name);
            assert_eq!(arg.get_env(), Some(variable(name).as_ref()), "{name}");

            let text = if is_switch { value.to_owned() } else { format!("{value:?}") };
            std::fs::write(&file, format!("{name} = {text}\n")).unwrap();
            let command = config::apply(command, &file).unwrap();
            assert_eq!(given(command, &[], name).as_deref(), Some(value), "{name}");
        }
    }

    #[test]
    fn scores_on_the_way_are_asked_for_with_or_without_a_value() {
        for (words, expected) in
            [("--prequential", "on"), ("--prequential=off", "off"), ("--prequential other", "on")]
        {
            let words: Vec<String> = words.split(' ').map(str::to_owned).collect();
            assert_eq!(given(command(), &words, "prequential").as_deref(), Some(expected), "{words:?}");
        }
    }

    #[test]
    fn help_shows_the_defaults_of_the_recommended_methods() {
        let help = command().find_subcommand_mut("train").unwrap().render_help().to_string();
        let plain = help.split_whitespace().collect::<Vec<_>>().join(" ");
        for knob in KNOBS.iter().filter(|knob| knob.name != "seed" && !matches!(knob.kind, Kind::Switch)) {
            let shown = [format!("--{} ", knob.name), format!("--{}[", knob.name)];
            let start = shown.iter().find_map(|shown| plain.find(shown)).expect(knob.name);
            let text = &plain[start..(start + 400).min(plain.len())];
            let Some(default) = knob.defaults() else { continue };
            assert!(text.contains(&format!("[default: {default}]")), "{}: {text}", knob.name);
        }
        assert!(plain.contains("[default: 0.6; 0.5 for streams; 0.7 for hdp; 0.5 for ica]"), "{plain}");
    }
}
