//! A topic model that learns while it answers.
//!
//! Documents come in over HTTP and are appended to a log, which is durable before they are acknowledged ([`log`]). One thread
//! folds the log into a model, minibatch after minibatch (`fold.rs`): after N documents it is the model that `gibbstream train -`
//! makes from the same documents. Another makes views of it, and requests are answered from the newest view, so that nobody
//! waits for learning (`publish.rs`, `view.rs`, `http/`). A checkpoint holds a place in the log, so that everything can be
//! killed at any time.

mod fold;

mod http;

pub mod log;

mod logging;

mod metrics;

mod priority;

mod publish;

mod security;

mod service;

mod setup;

mod status;

mod timeline;

mod view;

pub use http::check_documents;
pub use log::{Fsync, Retention};
pub use logging::start_logging;
pub use security::Tokens;
pub use service::serve;
pub use setup::{Learning, Limits, Service, Source};
