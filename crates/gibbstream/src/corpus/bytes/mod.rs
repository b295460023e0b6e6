//! Bytes to lines: files and standard input, compressed or not, whole or still growing.

pub(crate) mod follow;

pub(crate) mod source;

pub(crate) mod trace;

pub(crate) mod lines;

pub(crate) mod spool;

pub(crate) mod bad_records;
