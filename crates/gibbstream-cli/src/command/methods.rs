//! `methods`: the table of methods and what each is made of.

use crate::Outcome;
use crate::output::{FAINT, Output, STRONG};
use gibbstream::method::{Method, NamedMethod};
use gibbstream::method_changes::Parts;
use serde::Serialize;
use std::fmt::Write;

#[derive(Serialize)]
struct Row {
    name: &'static str,
    summary: &'static str,
    #[serde(flatten)]
    parts: Parts,
}

/// Runs the command.
pub fn run(output: &Output) -> anyhow::Result<Outcome> {
    let rows = Method::NAMED.iter().map(|named| Ok(described(named, &Method::recommended(named.name)?)));
    let rows = rows.collect::<gibbstream::Result<Vec<Row>>>()?;
    let hdp = Method::NAMED_FOR_HDP.iter().map(|named| described(named, &named.method)).collect();
    let tuned =
        |named: &&NamedMethod| Method::recommended(named.name).is_ok_and(|usual| usual != named.method);
    let published = Method::NAMED.iter().filter(tuned).map(|named| described(named, &named.method)).collect();
    if output.json {
        output.print_json(&serde_json::json!({
            "schema": "gibbstream/methods/1", "methods": rows, "methods_for_hdp": hdp, "methods_with_paper": published,
        }))?;
        return Ok(Outcome::Done);
    }
    let mut text = String::new();
    write_rows(&mut text, rows)?;
    writeln!(text, "\nWith --model hdp, where the number of topics is open:\n")?;
    write_rows(&mut text, hdp)?;
    writeln!(text, "\nWith --paper, as it was published:\n")?;
    write_rows(&mut text, published)?;
    output.print(&text)?;
    Ok(Outcome::Done)
}

fn described(named: &NamedMethod, method: &Method) -> Row {
    Row { name: named.name, summary: named.summary, parts: Parts::from(method) }
}

fn write_rows(text: &mut String, rows: Vec<Row>) -> std::fmt::Result {
    for Row { name, summary, parts } in rows {
        let statistic = parts.statistic.map_or(String::new(), |statistic| format!(" {statistic}"));
        let boost = if parts.boost { ", boosted" } else { "" };
        let averaging = if parts.averaging == "none" {
            String::new()
        } else {
            format!("; averaging {}", parts.averaging)
        };
        writeln!(text, "{STRONG}{name:10}{STRONG:#} {summary}")?;
        writeln!(
            text,
            "{:10} {FAINT}local {}{statistic}, {} sweeps; global {}; step {}; alpha {}{boost}{averaging}{FAINT:#}",
            "", parts.local, parts.sweeps, parts.global, parts.step, parts.alpha
        )?;
    }
    Ok(())
}
