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

mod progress;

pub use args::knobs::KnobArgs;
pub use args::{General, GeneralArgs, Refusal};
pub use interrupt::Interrupt;
pub use output::{Output, STRONG, count};

use args::{Cli, Command};
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
    run_program(args::parse(), |cli| &cli.general, run)
}

/// Reads the command line of another program, whose general options are those of this one.
pub fn parse<P: clap::Parser>() -> Result<P, Refusal> {
    args::parse_as(args::with_general_variables(P::command())).map(|(args, _)| args)
}

/// Does the work of a program and tells how it ended, with the promised exit code.
pub fn run_program<P>(
    parsed: Result<P, Refusal>,
    general: impl FnOnce(&P) -> &GeneralArgs,
    work: impl FnOnce(&P, &General, &Output, &Interrupt) -> anyhow::Result<Outcome>,
) -> ExitCode {
    match parsed {
        Ok(args) => finish(start(&args, general(&args), work)),
        Err(args::Refusal::Usage(refused)) => {
            // Help and version are no mistakes; a closed pipe is no reason to complain.
            let _ = refused.print();
            ExitCode::from(refused.exit_code() as u8)
        }
        Err(args::Refusal::Config(error)) => finish(Err(error)),
    }
}

fn finish(result: anyhow::Result<Outcome>) -> ExitCode {
    match result {
        Ok(Outcome::Done) => ExitCode::SUCCESS,
        Ok(Outcome::CheckFailed) => ExitCode::from(1),
        Ok(Outcome::Interrupted(signal)) => ExitCode::from(signal.exit_code()),
        Err(error) if output::is_closed_pipe(&error) => ExitCode::SUCCESS,
        Err(error) => {
            output::print_error(&error);
            ExitCode::from(2)
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
        Command::Train(args) => command::train::run(args, general, output, interrupt),
        Command::Serve(args) => command::serve::run(args, general, output, interrupt),
        Command::Evaluate(args) => command::evaluate::run(args, general, output),
        Command::Topics(args) => command::topics::run(args, general, output, interrupt),
        Command::Infer(args) => command::infer::run(args, general, output, interrupt),
        Command::Compare(args) => command::compare::run(args, general, output),
        Command::Export(args) => command::export::run(args, general, output),
        Command::Report(args) => command::report::run(args, general, output, interrupt),
        Command::Inspect(args) => command::inspect::run(args, output),
        Command::Synth(args) => command::synth::run(args, general, output),
        Command::Bench(args) => command::bench::run(args, general, output, interrupt),
        Command::Methods => command::methods::run(output),
        Command::Completions(args) => command::completions::run(args, output),
        Command::Man(args) => command::man::run(args, general, output),
    }
}
