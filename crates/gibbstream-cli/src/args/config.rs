//! The configuration file: its values become the defaults of the flags that they are named after, so that flags
//! and environment variables win without further rules.

use anyhow::{Context, anyhow, bail};
use clap::{Arg, ArgAction, Command};
use gibbstream::Error;
use std::path::Path;
use toml::{Table, Value};

/// Gives the values of the file to the flags. Keys at the top are for every command that has such a flag; a
/// table named after a command is for that command alone.
pub fn apply(mut command: Command, file: &Path) -> anyhow::Result<Command> {
    let text = std::fs::read_to_string(file).map_err(|source| Error::io(file, "read", source))?;
    let table: Table = text
        .parse()
        .map_err(|error: toml::de::Error| anyhow!("{}: {}", file.display(), one_line(&error, &text)))?;
    let place = || file.display().to_string();
    for (key, value) in &table {
        let section = value.as_table().filter(|_| command.find_subcommand(key).is_some());
        command = match section {
            Some(section) => apply_section(command, key, section).with_context(place)?,
            None => apply_key(command, key, value).with_context(place)?,
        };
    }
    Ok(command)
}

/// A key at the top.
fn apply_key(command: Command, key: &str, value: &Value) -> anyhow::Result<Command> {
    let mut owners = Vec::new();
    let mut flaw = None;
    for owner in std::iter::once(&command).chain(command.get_subcommands()) {
        let Some(arg) = find(owner, key) else { continue };
        // The same name may mean different things to different commands: it is enough that one understands it.
        match check(arg, key, value) {
            Ok(default) => owners.push((owner.get_name().to_owned(), arg.get_id().clone(), default)),
            Err(error) => flaw = Some(error),
        }
    }
    if owners.is_empty() {
        let all = std::iter::once(&command).chain(command.get_subcommands());
        return Err(flaw.unwrap_or_else(|| unknown(key, all)));
    }
    let root = command.get_name().to_owned();
    Ok(owners.into_iter().fold(command, |command, (owner, id, default)| {
        if owner == root {
            command.mut_arg(id, |arg| arg.required(false).default_value(default))
        } else {
            command.mut_subcommand(owner, |owner| {
                owner.mut_arg(id, |arg| arg.required(false).default_value(default))
            })
        }
    }))
}

/// The table of one command.
fn apply_section(mut command: Command, name: &str, section: &Table) -> anyhow::Result<Command> {
    for (key, value) in section {
        let owner = command.find_subcommand(name).context("no such command")?;
        let Some(arg) = find(owner, key) else { return Err(unknown(key, [owner, &command].into_iter())) };
        let (id, default) = (arg.get_id().clone(), check(arg, key, value)?);
        command = command.mut_subcommand(name, |owner| {
            owner.mut_arg(id, |arg| arg.required(false).default_value(default))
        });
    }
    Ok(command)
}

/// The flag of that name or alias.
fn find<'a>(command: &'a Command, name: &str) -> Option<&'a Arg> {
    command.get_arguments().find(|arg| names(arg).any(|candidate| candidate == name))
}

/// Names under which a flag can be set in the file.
pub fn names(arg: &Arg) -> impl Iterator<Item = &str> {
    let is_setting = arg.get_id() != "config";
    arg.get_long_and_visible_aliases().unwrap_or_default().into_iter().filter(move |_| is_setting)
}

/// The value as the flag would be given it, if the flag accepts it.
fn check(arg: &Arg, key: &str, value: &Value) -> anyhow::Result<String> {
    let is_flag = matches!(arg.get_action(), ArgAction::SetTrue);
    let text = match value {
        Value::Boolean(value) if is_flag => return Ok(value.to_string()),
        Value::Boolean(value) if key == "prequential" => value.to_string(),
        Value::Integer(value) if !is_flag => value.to_string(),
        Value::Float(value) if !is_flag => value.to_string(),
        Value::String(value) if !is_flag => value.clone(),
        _ if is_flag => bail!("`{key}` is {value}; use true or false"),
        _ => bail!("`{key}` is of type {}; use a number or a string", value.type_str()),
    };
    // A command line with nothing but this flag tells whether its value is acceptable, and if not, why.
    let alone = Command::new("config").no_binary_name(true).arg(arg.clone().required(false).global(false));
    match alone.try_get_matches_from([format!("--{key}={text}")]) {
        Ok(_) => Ok(text),
        Err(error) => {
            let reason = error.to_string();
            let reason = reason.lines().next().unwrap_or_default();
            bail!("{}", reason.trim_start_matches("error: "))
        }
    }
}

fn unknown<'a>(key: &str, commands: impl Iterator<Item = &'a Command>) -> anyhow::Error {
    let known: Vec<&str> = commands.flat_map(Command::get_arguments).flat_map(names).collect();
    let likeness = |name: &str| strsim::jaro_winkler(name, &key.replace('_', "-"));
    let closest = known.into_iter().max_by(|a, b| likeness(a).total_cmp(&likeness(b)));
    match closest.filter(|name| likeness(name) > 0.7) {
        Some(name) => anyhow!("there is no setting called `{key}`; did you mean `{name}`?"),
        None => anyhow!(
            "there is no setting called `{key}`; settings are named like the flags, without the dashes"
        ),
    }
}

/// What the parser complains about, with the line and without its drawing.
fn one_line(error: &toml::de::Error, text: &str) -> String {
    let line = error.span().map_or(1, |span| text[..span.start.min(text.len())].matches('\n').count() + 1);
    format!("line {line} is not TOML: {}", error.message().replace('\n', ", "))
}
