//! `man`: manual pages from the same source as the help texts.

use crate::Outcome;
use crate::args::General;
use crate::output::Output;
use gibbstream::Error;
use gibbstream::file::{Kind, claim_folder, is_of_kind};
use std::path::{Path, PathBuf};

/// Write manual pages into a folder
#[derive(Clone, Debug, clap::Args)]
pub struct ManArgs {
    /// Folder to write to; created if it does not exist
    #[arg(value_name = "DIR")]
    folder: PathBuf,
}

/// Runs the command.
pub fn run(args: &ManArgs, general: &General, output: &Output) -> anyhow::Result<Outcome> {
    let folder = &args.folder;
    let command = crate::args::command().disable_help_subcommand(true);
    let of_commands = command.get_subcommands().map(|command| format!("gibbstream-{}.1", command.get_name()));
    let names: Vec<String> = std::iter::once("gibbstream.1".to_owned()).chain(of_commands).collect();
    let pages = names.len();
    let is_ours = |folder: &Path| is_of_kind(&folder.join(&names[0]), Kind::MANUAL);
    claim_folder(folder, &names, is_ours, general.force)?;
    clap_mangen::generate_to(command, folder).map_err(|source| Error::io(folder, "write to", source))?;
    if output.json {
        output.print_json(
            &serde_json::json!({ "schema": "gibbstream/man/1", "folder": folder.display().to_string(), "pages": pages }),
        )?;
    } else {
        output.note(format_args!("{pages} manual pages are in {}", folder.display()));
    }
    Ok(Outcome::Done)
}
