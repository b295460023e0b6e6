//! The program as its users see it: what goes in, what comes out, and with which exit code.

mod support;

mod commands;

mod json;

mod refusals;

mod settings;

mod repeatability;

mod odd_documents;

mod signals;

mod terminal;

mod exports;

mod demo;

mod memory;

mod real_corpora;
