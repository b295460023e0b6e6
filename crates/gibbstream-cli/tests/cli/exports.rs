//! Exports can be read by others.

use crate::support::{Folder, run, skipped};
use std::process::Command;

/// Shape and values of a `.npy` file, read by the book.
fn read_npy(bytes: &[u8]) -> (String, Vec<f64>) {
    assert_eq!(&bytes[..8], b"\x93NUMPY\x01\x00");
    let length = usize::from(u16::from_le_bytes([bytes[8], bytes[9]]));
    let header = std::str::from_utf8(&bytes[10..10 + length]).unwrap();
    assert!(header.starts_with("{'descr': '<f8', 'fortran_order': False, 'shape': ("), "{header}");
    let shape = header.split('(').nth(1).unwrap().split(')').next().unwrap().to_owned();
    let values =
        bytes[10 + length..].chunks_exact(8).map(|value| f64::from_le_bytes(value.try_into().unwrap()));
    (shape, values.collect())
}

#[test]
fn arrays_hold_the_topics() {
    let folder = Folder::with_models();
    run(&folder, "export text.gbs --format npy arrays").ok();
    let (shape, beta) = read_npy(&folder.read("arrays/beta.npy"));
    assert_eq!((shape.as_str(), beta.len()), ("3, 30", 90));
    for row in beta.chunks_exact(30) {
        assert!((row.iter().sum::<f64>() - 1.0).abs() < 1e-12);
    }
    let (shape, alpha) = read_npy(&folder.read("arrays/alpha.npy"));
    assert_eq!((shape.as_str(), alpha.len()), ("3,", 3));
    let words = String::from_utf8(folder.read("arrays/vocab.txt")).unwrap();
    let words: Vec<&str> = words.lines().collect();
    assert_eq!(words.len(), 30);
    // The largest entry of each row is the first word that `topics` shows.
    let topics = run(&folder, "topics text.gbs --json").ok().json();
    for (k, row) in beta.chunks_exact(30).enumerate() {
        let best = (0..30).max_by(|&a, &b| row[a].total_cmp(&row[b])).unwrap();
        let first = &topics["topics"][k]["words"][0];
        assert_eq!((&first["word"], first["weight"].as_f64()), (&words[best].into(), Some(row[best])));
        assert_eq!(topics["topics"][k]["alpha"].as_f64(), Some(alpha[k]));
    }
    let model: serde_json::Value = serde_json::from_slice(&folder.read("arrays/model.json")).unwrap();
    assert_eq!((&model["topics"], &model["vocabulary"]), (&3.into(), &30.into()));
}

#[test]
fn python_reads_arrays_and_models() {
    let python = |code: &str| Command::new("python3").args(["-c", code]).output();
    let folder = Folder::with_models();
    run(&folder, "export text.gbs arrays").ok();
    let arrays = folder.file("arrays");
    let model = folder.file("text.gbs");
    for (package, code) in [
        (
            "numpy",
            format!(
                "import numpy as n; b = n.load({:?}); a = n.load({:?})\n\
                 assert b.shape == (3, 30) and b.dtype == n.float64 and b.flags.c_contiguous\n\
                 assert abs(b.sum(axis=1) - 1).max() < 1e-12 and a.shape == (3,)",
                arrays.join("beta.npy"),
                arrays.join("alpha.npy")
            ),
        ),
        (
            "safetensors.numpy",
            format!(
                "import safetensors.numpy as s; m = s.load_file({model:?}); assert m['alpha'].shape == (3,)"
            ),
        ),
    ] {
        if !python(&format!("import {package}")).is_ok_and(|output| output.status.success()) {
            skipped("python_reads_arrays_and_models", &format!("python3 with {package} is not installed"));
            continue;
        }
        let output = python(&code).unwrap();
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    }
}
