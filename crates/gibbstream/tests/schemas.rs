//! The JSON schemas in `docs/schema` are those of the types. Others generate code from them, so they must not drift.
//!
//! After a change of a type: `GIBBSTREAM_WRITE_SCHEMAS=1 cargo test -p gibbstream --test schemas`.

#![allow(missing_docs, clippy::unwrap_used)]

use gibbstream::explore::report::{Labels, Report};
use schemars::{Schema, schema_for};
use std::path::Path;

fn check(file: &str, title: &str, mut schema: Schema) {
    schema.insert("title".into(), title.into());
    let made = serde_json::to_string_pretty(&schema).unwrap() + "\n";
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/schema").join(file);
    if std::env::var_os("GIBBSTREAM_WRITE_SCHEMAS").is_some() {
        std::fs::write(&path, &made).unwrap();
    }
    let kept = std::fs::read_to_string(&path).unwrap();
    assert!(
        kept == made,
        "docs/schema/{file} is not the schema of its type any more; if the change is meant, run \
         `GIBBSTREAM_WRITE_SCHEMAS=1 cargo test -p gibbstream --test schemas` and tell those who read the format"
    );
}

#[test]
fn the_report() {
    check("report-1.json", "Report", schema_for!(Report));
}

#[test]
fn labels() {
    check("labels-1.json", "Labels", schema_for!(Labels));
}
