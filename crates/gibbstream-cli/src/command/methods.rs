//! `methods`: the table of methods and what each is made of.

use crate::Outcome;
use crate::output::{FAINT, Output, STRONG};
use gibbstream::learn::knobs::parts;
use gibbstream::learn::method::{Method, NamedMethod};
use gibbstream::learn::{Mode, ModelKind, Settings};
use gibbstream::model::topics::hdp::HdpSettings;
use serde::Serialize;
use serde_json::{Map, Value};
use std::fmt::Write;

#[derive(Serialize)]
struct Row {
    name: &'static str,
    summary: &'static str,
    #[serde(flatten)]
    parts: Map<String, Value>,
}

/// Runs the command.
pub fn run(output: &Output) -> anyhow::Result<Outcome> {
    let recommended =
        |named: &NamedMethod, mode| Method::recommended(named.name, mode).unwrap_or(named.method);
    let row = |named: &NamedMethod, model, method| {
        let settings = Settings { model, ..Settings::new(1).method(named.name, method) };
        Row { name: named.name, summary: named.summary, parts: parts(&settings) }
    };
    let for_files = |named: &NamedMethod| recommended(named, Mode::File);
    let rows: Vec<Row> =
        Method::NAMED.iter().map(|named| row(named, ModelKind::Lda, for_files(named))).collect();
    let for_streams = |named: &NamedMethod| recommended(named, Mode::Stream);
    let other = Method::NAMED.iter().filter(|named| for_streams(named) != for_files(named));
    let streams: Vec<Row> = other.map(|named| row(named, ModelKind::Lda, for_streams(named))).collect();
    let open = ModelKind::Hdp(HdpSettings::default());
    let hdp: Vec<Row> = Method::NAMED_FOR_HDP.iter().map(|named| row(named, open, named.method)).collect();
    let tuned = Method::NAMED.iter().filter(|named| for_files(named) != named.method);
    let published: Vec<Row> = tuned.map(|named| row(named, ModelKind::Lda, named.method)).collect();
    if output.json {
        output.print_json(&serde_json::json!({
            "schema": "gibbstream/methods/1", "methods": rows, "methods_for_streams": streams, "methods_for_hdp": hdp,
            "methods_with_paper": published,
        }))?;
        return Ok(Outcome::Done);
    }
    let mut text = String::new();
    write_rows(&mut text, rows)?;
    writeln!(text, "\nFor streams (--mode stream; the default for standard input and --follow):\n")?;
    write_rows(&mut text, streams)?;
    writeln!(text, "\nWith --model hdp, which finds the number of topics:\n")?;
    write_rows(&mut text, hdp)?;
    writeln!(text, "\nWith --paper, the published settings:\n")?;
    write_rows(&mut text, published)?;
    output.print(&text)?;
    Ok(Outcome::Done)
}

fn write_rows(text: &mut String, rows: Vec<Row>) -> std::fmt::Result {
    for Row { name, summary, parts } in rows {
        writeln!(text, "{STRONG}{name:10}{STRONG:#} {summary}")?;
        writeln!(text, "{:10} {FAINT}{}{FAINT:#}", "", described(&parts))?;
    }
    Ok(())
}

/// The parts that say most, in the words of the flags.
pub fn described(parts: &Map<String, Value>) -> String {
    let text = |name: &str| parts[name].as_str().map_or_else(|| parts[name].to_string(), str::to_owned);
    let some = |before: &str, name: &str, usual: Value| {
        if parts[name] == usual { String::new() } else { format!("{before}{}", text(name)) }
    };
    let [local, sweeps, global, step, alpha] = ["local", "sweeps", "global", "step", "alpha"].map(text);
    let (statistic, averaging) =
        (some(" ", "statistic", Value::Null), some("; averaging ", "averaging", "none".into()));
    let boost = if parts["boost"] == true { ", boosted" } else { "" };
    format!(
        "local {local}{statistic}, {sweeps} sweeps; global {global}; step {step}; alpha {alpha}{boost}{averaging}"
    )
}
