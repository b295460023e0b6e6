//! `inspect` for models of rows of numbers.

use super::describe;
use crate::Outcome;
use crate::output::{FAINT, Output, STRONG, count};
use gibbstream::checkpoint::Saved;
use gibbstream::dense::{DenseModel, Diagnostics};
use serde_json::json;
use std::fmt::Write;
use std::path::Path;

/// Says what the file contains.
pub fn run(path: &Path, output: &Output) -> anyhow::Result<Outcome> {
    let (model, run) = DenseModel::load_with(path)?;
    let diagnostics = super::asked(&model, 1)?.diagnostics().unwrap_or_default();
    if output.json {
        let mut facts = describe(&model);
        facts["schema"] = json!("gibbstream/inspect/1");
        facts["kind"] = json!(if run.is_some() { "checkpoint" } else { "model" });
        facts["diagnostics"] = json!(diagnostics);
        if let Some(run) = &run {
            facts["pass"] = json!(run.pass);
            facts["documents_of_pass"] = json!(run.documents);
            facts["finished"] = json!(run.finished);
            facts["request"] = run.request.clone();
        }
        facts["checksum"] = json!("ok");
        output.print_json(&facts)?;
        return Ok(Outcome::Done);
    }
    let settings = &model.settings;
    let kind = settings.model.name();
    let mut text = format!(
        "{STRONG}{}{STRONG:#}: {} {kind}, checksum ok\n\
         components  {}\n\
         columns     {} ({})\n\
         method      {}, minibatches of {}, seed {}\n\
         settings    {FAINT}{}{FAINT:#}\n\
         learnt from {} observations in {} updates\n\
         model hash  {}\n",
        path.display(),
        if run.is_some() { "a checkpoint of a model of kind" } else { "a model of kind" },
        count(settings.components as u64),
        count(settings.features as u64),
        shortened(&model.columns),
        settings.name,
        settings.batch,
        settings.seed.0,
        json!(settings.model),
        count(model.clock.seen),
        count(model.clock.update),
        model.hash(),
    );
    details(&mut text, &diagnostics)?;
    for event in &model.history {
        let (documents, inputs) = (count(event.documents), event.inputs.join(", "));
        writeln!(
            text,
            "history     {} {documents} observations from {inputs} (version {})",
            event.action, event.version
        )?;
        event.changes.iter().try_for_each(|change| writeln!(text, "            with {change}"))?;
    }
    output.print(&text)?;
    Ok(Outcome::Done)
}

/// Components or sources, one a line, and what to be careful about.
fn details(text: &mut String, diagnostics: &Diagnostics) -> std::fmt::Result {
    for (k, weight) in diagnostics.weights.iter().enumerate() {
        writeln!(text, "component {k:<3} weight {weight:.4}")?;
    }
    for (k, shape) in diagnostics.sources.iter().enumerate() {
        let note = if shape.looks_gaussian { ", cannot be told from a Gaussian" } else { "" };
        writeln!(
            text,
            "source {k:<3}  excess kurtosis {:.2} ± {:.2}{note}",
            shape.excess_kurtosis, shape.standard_error
        )?;
    }
    diagnostics.warnings.iter().try_for_each(|warning| writeln!(text, "careful     {warning}"))
}

fn shortened(columns: &[String]) -> String {
    let shown = columns.iter().take(8).map(String::as_str).collect::<Vec<_>>().join(", ");
    if columns.len() > 8 { format!("{shown}, ...") } else { shown }
}
