//! Memory does not depend on how many documents there are.

use crate::support::{Folder, run};

/// Peak memory in MiB. The model is large enough that buffers which fill up once (the window of the
/// decompressor is 2 MiB) do not decide the comparison; one thread, so that scheduling does not either.
fn peak(folder: &Folder, documents: u64) -> f64 {
    let name = format!("d{documents}");
    run(folder, &format!("synth --topics 5 --vocab 10000 --docs {documents} --length 20 --out {name}")).ok();
    let line = format!("train {name} --topics 100 --sweeps 1 --threads 1 --json");
    run(folder, &line).ok().json()["peak_rss_mib"].as_f64().unwrap()
}

fn compare(few: u64, many: u64) {
    let folder = Folder::new();
    let (few, many) = (peak(&folder, few), peak(&folder, many));
    assert!(many <= 1.05 * few, "{few} MiB, then {many} MiB");
    // A share of a large model hides small leaks: this is about five bytes for each of 200,000 documents.
    assert!(many - few <= 1.0, "{few} MiB, then {many} MiB");
}

#[test]
fn twenty_times_the_documents() {
    compare(10_000, 200_000);
}

#[test]
#[ignore = "slow: make slow"]
fn a_hundred_times_the_documents() {
    compare(10_000, 1_000_000);
}
