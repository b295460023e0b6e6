//! `completions`: scripts that complete commands and flags in a shell.

use crate::Outcome;
use crate::output::Output;
use clap_complete::Shell;

const EXAMPLES: &str = "\
Examples:
  gibbstream completions bash > ~/.local/share/bash-completion/completions/gibbstream
  gibbstream completions zsh > ~/.zfunc/_gibbstream
  gibbstream completions fish > ~/.config/fish/completions/gibbstream.fish";

/// Print a completion script for a shell
#[derive(Clone, Debug, clap::Args)]
#[command(after_long_help = EXAMPLES)]
pub struct CompletionsArgs {
    /// Shell to print the script for
    #[arg(value_name = "SHELL")]
    shell: Shell,
}

/// Runs the command.
pub fn run(args: &CompletionsArgs, output: &Output) -> anyhow::Result<Outcome> {
    let mut script = Vec::new();
    clap_complete::generate(args.shell, &mut crate::args::command(), "gibbstream", &mut script);
    let script = String::from_utf8(script)?;
    if output.json {
        let shell = args.shell.to_string();
        let object =
            serde_json::json!({ "schema": "gibbstream/completions/1", "shell": shell, "script": script });
        output.print_json(&object)?;
    } else {
        output.print(&script)?;
    }
    Ok(Outcome::Done)
}
