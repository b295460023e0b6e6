//! The program as its users see it: what goes in, what comes out, and with which exit code.

#![allow(clippy::unwrap_used, reason = "helpers of tests count as tests")]
#![allow(clippy::format_collect, reason = "the texts are short")]

/// What is tested.
const PROGRAM: &str = env!("CARGO_BIN_EXE_gibbstream");

mod support;
mod tables;

mod text;

mod commands;

mod json;

mod refusals;

mod settings;

mod repeatability;

mod odd_documents;

mod shown_words;

mod signals;

mod outputs;

mod limits;

mod checkpoints;

mod kills;

mod disk_faults;

mod after_a_crash;

mod continued;

mod old_files;

mod bad_records;

mod vocabularies;

mod follow;

mod hdp;

mod terminal;

mod exports;

mod compare;

mod report;

mod labels;

mod timeline;

mod merge;

mod modes;

mod prequential;

mod choose_k;

mod rows;

mod demo;

mod memory;

mod real_corpora;
