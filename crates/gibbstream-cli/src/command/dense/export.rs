//! `export` for models of rows of numbers: every parameter as an array.

use super::describe;
use crate::Outcome;
use crate::command::export::write;
use crate::output::Output;
use gibbstream::Error;
use gibbstream::dense::DenseModel;
use gibbstream::npy::write_npy;
use serde_json::json;
use std::path::Path;

/// Writes the parameters to a folder.
pub fn run(path: &Path, folder: &Path, output: &Output) -> anyhow::Result<Outcome> {
    let model = DenseModel::load(path)?;
    std::fs::create_dir_all(folder).map_err(|source| Error::io(folder, "create", source))?;
    let mut files = Vec::new();
    for array in super::asked(&model, 1)?.reported().unwrap_or_default() {
        let file = format!("{}.npy", array.name);
        write_npy(folder.join(&file), &array.shape, array.values.iter().copied())?;
        files.push(file);
    }
    write(&folder.join("model.json"), &format!("{:#}\n", describe(&model)))?;
    files.push("model.json".into());
    if output.json {
        output.print_json(&json!({
            "schema": "gibbstream/export/1",
            "format": "npy",
            "folder": folder,
            "files": files,
            "model_hash": model.hash(),
        }))?;
    } else {
        output.note(format_args!("{} are in {}", files.join(", "), folder.display()));
    }
    Ok(Outcome::Done)
}
