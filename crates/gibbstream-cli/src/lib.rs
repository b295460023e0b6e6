//! The `gibbstream` program: topic models from a stream of documents, on the command line; and those parts of it that
//! other programs are made from ([`parse`], [`run_program`]).
//!
//! Data goes to standard output, everything else to standard error. Exit codes: 0 done, 1 a requested check
//! failed, 2 wrong usage or bad input, 129 after SIGHUP, 130 after Ctrl-C, 143 after SIGTERM.

mod args;

mod command;

mod source;

mod interrupt;

mod measure;

mod output;

pub mod plot;

mod progress;

mod table;

pub use args::knobs::KnobArgs;
pub use args::{General, GeneralArgs, Refusal};
pub use interrupt::Interrupt;
pub use output::{Output, STRONG, count};

use args::{Cli, Command};
use std::ffi::OsString;
use std::process::ExitCode;

/// How a command ended, if nothing went wrong.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Outcome {
    /// Everything was done.
    Done,
    /// Everything was done, and a check that was asked for failed.
    CheckFailed,
    /// A signal asked for an early end, and what was there has been written.
    Interrupted(interrupt::Signal),
}

/// The whole program.
pub fn main() -> ExitCode {
    ExitCode::from(main_with(std::env::args_os().collect()))
}

/// The whole program with words other than those of the process, the first of which is its name, and with its exit code.
/// For a process that is not this program, such as a Python interpreter.
pub fn main_with(words: Vec<OsString>) -> u8 {
    run_to_code(args::parse(words), |cli| &cli.general, run)
}

/// Reads the command line of another program, whose general options are those of this one.
pub fn parse<P: clap::Parser>() -> Result<P, Refusal> {
    let words = std::env::args_os().collect();
    args::parse_as(args::with_general_variables(P::command()), words).map(|(args, _)| args)
}

/// Does the work of a program and tells how it ended, with the promised exit code.
pub fn run_program<P>(
    parsed: Result<P, Refusal>,
    general: impl FnOnce(&P) -> &GeneralArgs,
    work: impl FnOnce(&P, &General, &Output, &Interrupt) -> anyhow::Result<Outcome>,
) -> ExitCode {
    ExitCode::from(run_to_code(parsed, general, work))
}

fn run_to_code<P>(
    parsed: Result<P, Refusal>,
    general: impl FnOnce(&P) -> &GeneralArgs,
    work: impl FnOnce(&P, &General, &Output, &Interrupt) -> anyhow::Result<Outcome>,
) -> u8 {
    match parsed {
        Ok(args) => finish(start(&args, general(&args), work)),
        Err(args::Refusal::Usage(refused)) => {
            // Help and version are no mistakes; a closed pipe is no reason to complain.
            let _ = refused.print();
            refused.exit_code() as u8
        }
        Err(args::Refusal::Config(error)) => finish(Err(error)),
    }
}

fn finish(result: anyhow::Result<Outcome>) -> u8 {
    match result {
        Ok(Outcome::Done) => 0,
        Ok(Outcome::CheckFailed) => 1,
        Ok(Outcome::Interrupted(signal)) => signal.exit_code(),
        Err(error) if output::is_closed_pipe(&error) => 0,
        Err(error) => {
            output::print_error(&error);
            2
        }
    }
}

fn start<P>(
    args: &P,
    general: &GeneralArgs,
    work: impl FnOnce(&P, &General, &Output, &Interrupt) -> anyhow::Result<Outcome>,
) -> anyhow::Result<Outcome> {
    let interrupt = Interrupt::install()?;
    let general = general.check()?;
    let output = Output::new(&general);
    if general.threads_left_out > 0 {
        let (threads, asked) = (general.threads, general.threads + general.threads_left_out);
        output.note(format_args!(
            "{asked} threads were asked for and there are {threads} cores: {threads} are used"
        ));
    }
    work(args, &general, &output, &interrupt)
}

fn run(cli: &Cli, general: &General, output: &Output, interrupt: &Interrupt) -> anyhow::Result<Outcome> {
    match &cli.command {
        Command::Demo(args) => command::demo::run(args, general, output, interrupt),
        Command::Train(args) => command::train::run(&args.train, general, output, interrupt),
        Command::Serve(args) => command::serve::run(args, general, output, interrupt),
        Command::Evaluate(args) => command::evaluate::run(args, general, output),
        Command::Topics(args) => command::topics::run(args, general, output, interrupt),
        Command::Infer(args) => command::infer::run(args, general, output, interrupt),
        Command::Compare(args) => command::compare::run(args, general, output),
        Command::Export(args) => command::export::run(args, general, output, interrupt),
        Command::Report(args) => command::report::run(args, general, output, interrupt),
        Command::Timeline(args) => command::timeline::run(args, general, output, interrupt),
        Command::ChooseK(args) => command::choose_k::run(args, general, output, interrupt),
        Command::Merge(args) => command::merge::run(args, general, output),
        Command::Label(args) => command::label::run(args, general, output),
        Command::Inspect(args) => command::inspect::run(args, output),
        Command::Synth(args) => command::synth::run(args, general, output),
        Command::Bench(args) => command::bench::run(args, general, output, interrupt),
        Command::Methods => command::methods::run(output),
        Command::Completions(args) => command::completions::run(args, output),
        Command::Man(args) => command::man::run(args, general, output),
    }
}
