//! Same data, settings and seed: same bits, however the work is done and the data arrive.

use crate::support::{Folder, run, run_with};
use std::io::Write;

#[test]
fn threads_do_not_change_a_bit() {
    let folder = Folder::with_corpora();
    for flags in ["", "--method g-oem++", "--method v-oem", "--method olda", "--batch 2..15"] {
        let hash = |threads: u32| folder.hash(&format!("uci --topics 5 {flags} --threads {threads}"));
        let one = hash(1);
        assert_eq!((&hash(2), &hash(7)), (&one, &one), "{flags}");
    }
    run(&folder, "train uci --topics 5 --out m.gbs -q").ok();
    for line in
        ["evaluate m.gbs uci --json", "infer m.gbs uci --top 2", "topics m.gbs --documents uci --json"]
    {
        let text = |threads: u32| run(&folder, &format!("{line} --threads {threads}")).ok().stdout;
        assert_eq!(text(1), text(3), "{line}");
    }
}

#[test]
fn folder_file_compressed_file_and_pipe_are_the_same_corpus() {
    let folder = Folder::with_corpora();
    let plain = zstd::decode_all(&*folder.read("uci/docword.txt.zst")).unwrap();
    folder.write("plain.txt", &plain);
    let mut packer = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
    packer.write_all(&plain).unwrap();
    folder.write("packed.bin", packer.finish().unwrap());
    let hash = folder.hash("uci --topics 4");
    for input in
        ["uci/docword.txt.zst", "uci/", "plain.txt --vocab uci/vocab.txt", "packed.bin --vocab uci/vocab.txt"]
    {
        assert_eq!(folder.hash(&format!("{input} --topics 4")), hash, "{input}");
    }
    for packed in ["plain.txt", "packed.bin"] {
        let line = "train - --mode file --vocab uci/vocab.txt --topics 4 --sweeps 5 --batch 20 --json";
        let ran = run_with(&folder, line, |command| {
            command.write_stdin(folder.read(packed));
        });
        assert_eq!(ran.ok().json()["model_hash"], hash, "{packed}");
    }
}

#[test]
fn text_from_a_pipe_is_spooled() {
    let folder = Folder::with_corpora();
    let ran = run_with(&folder, "train - --topics 3 --sweeps 5 --batch 20 --json --passes 2", |command| {
        command.write_stdin(folder.read("reviews.txt"));
    })
    .ok();
    let note = "this input must be read more than once, so it is copied to a temporary file first\n";
    assert_eq!(ran.stderr, format!("{note}read 120 documents: 30 distinct words\n"));
    assert_eq!(ran.json()["model_hash"], folder.hash("reviews.txt --topics 3 --passes 2"));
    assert_eq!(folder.hash("reviews.jsonl --topics 3"), folder.hash("reviews.txt --topics 3"));
}

#[test]
fn a_model_is_the_same_bytes_every_time() {
    let folder = Folder::with_corpora();
    run(&folder, "train uci --topics 3 --out a.gbs --threads 1").ok();
    run(&folder, "train uci --topics 3 --out b.gbs --threads 4").ok();
    assert!(folder.read("a.gbs") == folder.read("b.gbs"));
    assert_ne!(folder.hash("uci --topics 3 --seed 1"), folder.hash("uci --topics 3 --seed 2"));
}

/// The bits are the same on processors without wide vectors, and today as they were when this was written.
#[test]
fn every_width_of_vectors_gives_the_golden_hash() {
    let folder = Folder::new();
    run(&folder, "synth --topics 6 --vocab 200 --docs 300 --length 40 --seed 5 --out uci").ok();
    for (flags, golden) in [
        ("--topics 20 --batch 30 --sweeps 5", GOLDEN[0]),
        ("--topics 21 --batch 30 --method olda", GOLDEN[1]),
        ("--model hdp --batch 30 --sweeps 5", GOLDEN[2]),
    ] {
        for width in ["base", "avx2", "all"] {
            let ran = run_with(&folder, &format!("train uci {flags} --seed 3 --json"), |command| {
                command.env("GIBBSTREAM_VECTORS", width);
            });
            assert_eq!(ran.ok().json()["model_hash"], golden, "{flags} with {width}");
        }
    }
}

/// A change of these is a change of results: it belongs into CHANGELOG.md.
const GOLDEN: [&str; 3] = [
    "255815b93f1989013e5b23c7a2cb079421b0bef137b2b0a90dddf0de8c886b46",
    "b9b4c47283bdeccbbd96ad69fc8aff8a6f8c5868bea726cbf9ad3a6dbdb5503c",
    "d7c9f79948e7e078e37ae8e30ba6c3338aef9c5a3a12cf90843dea52240bf1da",
];
