//! The commands, one file each: its flags, what it does, and what it prints.

pub mod bench;
pub mod choose_k;
pub mod compare;
pub mod completions;
pub mod demo;
pub mod evaluate;
pub mod export;
pub mod infer;
pub mod inspect;
pub mod label;
pub mod man;
pub mod merge;
pub mod methods;
pub mod report;
pub mod serve;
pub mod synth;
pub mod timeline;
pub mod topics;
pub mod train;
