//! The flags of `serve`: those of `train` that mean something for a stream, and those of the service.

use super::train::TrainArgs;
use clap::builder::ArgPredicate;
use gibbstream::{Error, Result};
use gibbstream_server::{Fsync, Limits, Retention};
use std::net::SocketAddr;
use std::path::PathBuf;
use std::time::Duration;

const EXAMPLES: &str = "\
Examples:
  gibbstream serve --data events/ --topics 50                  start; then open http://127.0.0.1:8700
  gibbstream serve --data events/                              continue where it stopped
  curl --data-binary @more.jsonl http://127.0.0.1:8700/v1/documents
  curl http://127.0.0.1:8700/v1/topics
  gibbstream serve --read-only --continue reviews.gbs          answer questions about a model
  gibbstream serve --data events/ --listen 0.0.0.0:8700 --token-file secret

Documents are on disk before they are acknowledged, and are learnt from when their minibatch is full. After N documents the
model has the model_hash of `gibbstream train -` with the same flags and --vocab-mode grow. The folder holds everything: you
can kill the service at any time, and start it again with --data alone.

SIGTERM or Ctrl-C finishes the minibatch and the open requests, and writes a checkpoint and DIR/model.gbs.";

/// Flags of `train` that do not apply to a service.
const NOT_FOR_SERVICES: [&str; 18] = [
    "inputs",
    "out",
    "passes",
    "follow",
    "max_seconds",
    "log",
    "dry_run",
    "checkpoint",
    "resume",
    "format",
    "skip_docs",
    "limit_docs",
    "skip_bad",
    "transpose",
    "min_df",
    "max_df",
    "phrases",
    "term_weights",
];

/// Run an HTTP service that learns from incoming documents and answers queries
#[derive(Clone, Debug, clap::Args)]
#[command(after_long_help = EXAMPLES)]
pub struct ServeArgs {
    /// Folder for the log, checkpoints and the model; created if it does not exist
    #[arg(long, value_name = "DIR", help_heading = "Service")]
    pub data: Option<PathBuf>,
    /// Address to listen on; addresses other than loopback require --token-file
    #[arg(long, value_name = "ADDRESS", default_value = "127.0.0.1:8700", help_heading = "Service")]
    pub listen: SocketAddr,
    /// Answer queries about --continue MODEL, or the newest model in --data, without learning
    #[arg(long, help_heading = "Service")]
    pub read_only: bool,
    /// Learn from an incomplete minibatch after this many seconds [default: wait until it is full]
    #[arg(long, value_name = "SECONDS", value_parser = parse_seconds, help_heading = "Service")]
    pub max_wait: Option<Duration>,
    /// When to force documents to disk: always (before they are acknowledged), never, or an interval in seconds
    #[arg(long, value_name = "WHEN", default_value = "always", value_parser = parse_fsync, help_heading = "Service")]
    pub fsync: Fsync,
    /// Remove the oldest parts of the log when it exceeds this size, such as 10G [default: keep everything]
    #[arg(long, value_name = "SIZE", value_parser = parse_size, help_heading = "Service")]
    retain_size: Option<u64>,
    /// Remove parts of the log after this many days [default: keep everything]
    #[arg(long, value_name = "DAYS", value_parser = parse_days, help_heading = "Service")]
    retain_days: Option<Duration>,
    #[command(flatten)]
    pub security: SecurityArgs,
    #[command(flatten)]
    limits: LimitArgs,
    #[command(flatten)]
    pub train: TrainArgs,
    /// The flags of `train` that the user gave, as words.
    #[arg(skip)]
    pub words: Vec<String>,
}

/// Who may use the service.
#[derive(Clone, Debug, clap::Args)]
#[command(next_help_heading = "Security")]
pub struct SecurityArgs {
    /// File with the token that requests must send; only its owner may have read permission
    #[arg(long, value_name = "FILE")]
    pub token_file: Option<PathBuf>,
    /// File with a read-only token, which cannot send documents or control the service
    #[arg(long, value_name = "FILE")]
    pub read_token_file: Option<PathBuf>,
    /// Host name that requests may use, in addition to IP addresses and localhost
    #[arg(long, value_name = "NAME")]
    pub allow_host: Vec<String>,
    /// Origin of a web page that may use the service, such as https://example.org
    #[arg(long, value_name = "ORIGIN")]
    pub allow_origin: Vec<String>,
}

/// All limits. Defaults are shown as the library knows them.
#[derive(Clone, Debug, clap::Args)]
#[command(next_help_heading = "Limits")]
struct LimitArgs {
    /// Maximum size of a request body [default: 8M]
    #[arg(long, value_name = "SIZE", value_parser = parse_size)]
    max_body: Option<u64>,
    /// Maximum size of all request bodies in memory [default: 64M]
    #[arg(long, value_name = "SIZE", value_parser = parse_size)]
    max_buffered: Option<u64>,
    /// Maximum number of documents per request [default: 10000]
    #[arg(long, value_name = "N")]
    max_documents: Option<usize>,
    /// Maximum size of a document [default: 1M]
    #[arg(long, value_name = "SIZE", value_parser = parse_size)]
    max_document_bytes: Option<u64>,
    /// Maximum number of tokens per document [default: 100000]
    #[arg(long, value_name = "N")]
    max_document_tokens: Option<u64>,
    /// Maximum number of documents waiting to be learnt from; more are refused (429) [default: 1000000]
    #[arg(long, value_name = "N")]
    max_backlog: Option<u64>,
    /// Maximum number of connections [default: 2000]
    #[arg(long, value_name = "N")]
    max_connections: Option<usize>,
    /// Maximum number of requests in progress [default: 256]
    #[arg(long, value_name = "N")]
    max_requests: Option<usize>,
    /// Maximum number of requests waiting for the disk [default: 256]
    #[arg(long, value_name = "N")]
    max_queue: Option<usize>,
    /// Maximum number of listeners to /v1/events [default: 100]
    #[arg(long, value_name = "N")]
    max_listeners: Option<usize>,
    /// Number of requests whose Idempotency-Key is remembered [default: 100000]
    #[arg(long, value_name = "N")]
    remember_requests: Option<usize>,
    /// Size of a log file before a new one is started [default: 64M]
    #[arg(long, value_name = "SIZE", value_parser = parse_size)]
    segment_size: Option<u64>,
    /// Timeout for the headers of a request, and between requests on a connection, in seconds [default: 10]
    #[arg(long, value_name = "SECONDS", value_parser = parse_seconds)]
    header_timeout: Option<Duration>,
    /// Timeout for the body of a request, in seconds [default: 30]
    #[arg(long, value_name = "SECONDS", value_parser = parse_seconds)]
    body_timeout: Option<Duration>,
    /// Timeout for a client that does not read its response, in seconds [default: 30]
    #[arg(long, value_name = "SECONDS", value_parser = parse_seconds)]
    write_timeout: Option<Duration>,
    /// Timeout for requests in progress after SIGTERM, in seconds [default: 30]
    #[arg(long, value_name = "SECONDS", value_parser = parse_seconds)]
    stop_timeout: Option<Duration>,
}

/// The flags of `train`, as a service has them.
pub fn adapt(command: clap::Command) -> clap::Command {
    let command = NOT_FOR_SERVICES
        .into_iter()
        .fold(command, |command, id| command.mut_arg(id, |arg| arg.required(false).hide(true)));
    let given = |id: &'static str| (id, ArgPredicate::IsPresent, Some("fixed"));
    command.mut_arg("vocab_mode", |arg| {
        arg.default_value("grow").default_value_ifs([given("vocab"), given("continued")])
    })
}

impl ServeArgs {
    /// Refuses flags of `train` that cannot have an effect.
    pub fn check(&self) -> Result<()> {
        let is_refused = |flag: &&String| NOT_FOR_SERVICES.contains(&flag.replace('-', "_").as_str());
        match self.train.given.iter().find(is_refused) {
            None => Ok(()),
            Some(flag) if flag == "inputs" => {
                Err(Error::setting("INPUT", "a service gets its documents over HTTP", "leave it out"))
            }
            Some(flag) => Err(Error::setting(flag.clone(), "does not apply to a service", "leave it out")),
        }
    }

    /// All limits.
    pub fn limits(&self) -> Limits {
        let (given, usual) = (&self.limits, Limits::default());
        let size = |given: Option<u64>, usual: usize| given.map_or(usual, |size| size as usize);
        Limits {
            body_bytes: size(given.max_body, usual.body_bytes),
            buffered_bytes: size(given.max_buffered, usual.buffered_bytes),
            documents: given.max_documents.unwrap_or(usual.documents),
            document_bytes: size(given.max_document_bytes, usual.document_bytes),
            document_tokens: given.max_document_tokens.unwrap_or(usual.document_tokens),
            backlog: given.max_backlog.unwrap_or(usual.backlog),
            connections: given.max_connections.unwrap_or(usual.connections),
            requests: given.max_requests.unwrap_or(usual.requests),
            queue: given.max_queue.unwrap_or(usual.queue),
            listeners: given.max_listeners.unwrap_or(usual.listeners),
            remembered_requests: given.remember_requests.unwrap_or(usual.remembered_requests),
            segment_bytes: given.segment_size.unwrap_or(usual.segment_bytes),
            header_timeout: given.header_timeout.unwrap_or(usual.header_timeout),
            body_timeout: given.body_timeout.unwrap_or(usual.body_timeout),
            write_timeout: given.write_timeout.unwrap_or(usual.write_timeout),
            stop_timeout: given.stop_timeout.unwrap_or(usual.stop_timeout),
        }
    }

    /// How much of the log is kept.
    pub fn retention(&self) -> Retention {
        Retention { bytes: self.retain_size, age: self.retain_days }
    }
}

fn parse_seconds(text: &str) -> Result<Duration, String> {
    let seconds = text.strip_suffix('s').unwrap_or(text).parse().ok().filter(|&seconds: &f64| seconds > 0.0);
    seconds
        .and_then(|seconds| Duration::try_from_secs_f64(seconds).ok())
        .ok_or_else(|| "use a positive number of seconds, such as 30".into())
}

fn parse_days(text: &str) -> Result<Duration, String> {
    let days = text.strip_suffix('d').unwrap_or(text).parse().ok().filter(|&days: &f64| days >= 0.0);
    days.and_then(|days| Duration::try_from_secs_f64(86_400.0 * days).ok())
        .ok_or_else(|| "use a number of days, such as 30".into())
}

fn parse_fsync(text: &str) -> Result<Fsync, String> {
    match text {
        "always" => Ok(Fsync::Always),
        "never" => Ok(Fsync::Never),
        _ => parse_seconds(text)
            .map(Fsync::Every)
            .map_err(|_| "use always, never, or seconds such as 0.2".into()),
    }
}

fn parse_size(text: &str) -> Result<u64, String> {
    let split = text.trim_end_matches(|c: char| c.is_ascii_alphabetic()).len();
    let (digits, unit) = text.split_at(split);
    let shift = match unit.to_ascii_uppercase().as_str() {
        "" | "B" => Some(0),
        "K" | "KIB" => Some(10),
        "M" | "MIB" => Some(20),
        "G" | "GIB" => Some(30),
        "T" | "TIB" => Some(40),
        _ => None,
    };
    let number: Option<u64> = digits.parse().ok();
    let size = number.zip(shift).and_then(|(number, shift)| number.checked_mul(1 << shift));
    size.filter(|&size| size > 0).ok_or_else(|| "use a number of bytes, such as 500M or 10G".into())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_times_and_rules_are_read() {
        assert_eq!(parse_size("10G"), Ok(10 << 30));
        assert_eq!((parse_size("7"), parse_size("64MiB")), (Ok(7), Ok(64 << 20)));
        for wrong in ["", "0", "x", "5X", "-1", "99999999999G", "1.5G"] {
            assert!(parse_size(wrong).is_err(), "{wrong}");
        }
        assert_eq!(parse_fsync("0.2s"), Ok(Fsync::Every(Duration::from_millis(200))));
        assert_eq!((parse_fsync("always"), parse_fsync("never")), (Ok(Fsync::Always), Ok(Fsync::Never)));
        assert!(parse_fsync("0").is_err() && parse_fsync("sometimes").is_err());
        assert_eq!(parse_days("0.5"), Ok(Duration::from_secs(43_200)));
    }
}
