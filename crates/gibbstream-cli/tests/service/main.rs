//! `gibbstream serve` as its users see it: over HTTP, killed at any time, on disks that fail, among clients that mean no good.

#![cfg(target_os = "linux")]
#![allow(clippy::unwrap_used, reason = "helpers of tests count as tests")]
#![allow(clippy::format_collect, reason = "the texts are short")]

/// What is tested.
const PROGRAM: &str = env!("CARGO_BIN_EXE_gibbstream");

#[path = "../cli/support.rs"]
#[allow(dead_code, reason = "the other tests use more of it")]
mod support;

mod server;

mod fold;

mod routes;

mod crashes;

mod faults;

mod limits;

mod security;

mod recipes;

mod growth;
