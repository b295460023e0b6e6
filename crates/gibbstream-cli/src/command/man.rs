//! `man`: manual pages from the same source as the help texts.

use crate::Outcome;
use crate::output::Output;
use gibbstream::Error;
use std::path::PathBuf;

/// Write manual pages into a folder
#[derive(Clone, Debug, clap::Args)]
pub struct ManArgs {
    /// Folder to write to; made if need be
    #[arg(value_name = "DIR")]
    folder: PathBuf,
}

/// Runs the command.
pub fn run(args: &ManArgs, output: &Output) -> anyhow::Result<Outcome> {
    let folder = &args.folder;
    std::fs::create_dir_all(folder).map_err(|source| Error::io(folder, "create", source))?;
    let command = crate::args::command().disable_help_subcommand(true);
    let pages = 1 + command.get_subcommands().count();
    clap_mangen::generate_to(command, folder).map_err(|source| Error::io(folder, "write to", source))?;
    if output.json {
        output.print_json(
            &serde_json::json!({ "schema": "gibbstream/man/1", "folder": folder, "pages": pages }),
        )?;
    } else {
        output.note(format_args!("{pages} manual pages are in {}", folder.display()));
    }
    Ok(Outcome::Done)
}
