//! Numbers for Prometheus.

use crate::status::Progress;
use prometheus_client::encoding::EncodeLabelSet;
use prometheus_client::encoding::text::encode;
use prometheus_client::metrics::counter::Counter;
use prometheus_client::metrics::family::Family;
use prometheus_client::metrics::gauge::Gauge;
use prometheus_client::metrics::histogram::{Histogram, exponential_buckets};
use prometheus_client::registry::Registry;
use std::sync::atomic::AtomicU64;
use std::time::Duration;

/// What is known of a request when it is over. Routes are patterns, so that there are few of them.
#[derive(Clone, Debug, Hash, PartialEq, Eq, EncodeLabelSet)]
struct RequestLabels {
    route: String,
    method: String,
    status: u16,
}

#[derive(Clone, Debug, Hash, PartialEq, Eq, EncodeLabelSet)]
struct RouteLabels {
    route: String,
}

type Number = Gauge<f64, AtomicU64>;

/// All numbers.
pub struct Metrics {
    registry: Registry,
    requests: Family<RequestLabels, Counter>,
    seconds: Family<RouteLabels, Histogram, fn() -> Histogram>,
    /// Documents acknowledged since the start.
    pub accepted: Counter,
    /// Connections that are open.
    pub connections: Gauge,
    /// Requests in progress.
    pub working: Gauge,
    learnt: Gauge,
    waiting: Gauge,
    updates: Gauge,
    vocabulary: Gauge,
    listeners: Gauge,
    failed: Gauge,
    speed: Number,
    score: Number,
    unigram: Number,
    drift: Number,
    prequential: Number,
    prequential_unigram: Number,
    checkpoint_age: Number,
}

fn latencies() -> Histogram {
    Histogram::new(exponential_buckets(0.0005, 2.0, 16))
}

/// A number that is registered under a name with what it means.
fn registered<M: Clone + prometheus_client::registry::Metric>(
    registry: &mut Registry,
    name: &str,
    help: &str,
    metric: M,
) -> M {
    registry.register(name, help, metric.clone());
    metric
}

impl Default for Metrics {
    fn default() -> Self {
        let mut all = Registry::with_prefix("gibbstream");
        let seconds = Family::new_with_constructor(latencies as fn() -> Histogram);
        let whole = |all: &mut Registry, name, help| registered(all, name, help, Gauge::default());
        let real = |all: &mut Registry, name, help| registered(all, name, help, Number::default());
        Self {
            requests: registered(&mut all, "requests", "Requests answered", Family::default()),
            seconds: registered(&mut all, "request_seconds", "Time to the head of the answer", seconds),
            accepted: registered(
                &mut all,
                "documents_accepted",
                "Documents acknowledged since the start",
                Counter::default(),
            ),
            connections: whole(&mut all, "connections", "Connections that are open"),
            working: whole(&mut all, "requests_working", "Requests in progress"),
            learnt: whole(&mut all, "documents_learnt", "Documents that the model has learnt from"),
            waiting: whole(
                &mut all,
                "documents_waiting",
                "Documents in the log that have not been learnt from",
            ),
            updates: whole(&mut all, "updates", "Minibatches learnt from"),
            vocabulary: whole(&mut all, "vocabulary_words", "Words that are known"),
            listeners: whole(&mut all, "event_listeners", "Listeners to events"),
            failed: whole(&mut all, "learning_failed", "1 if learning has stopped because of an error"),
            speed: real(&mut all, "documents_per_second", "Speed of learning"),
            score: real(&mut all, "held_out_nats_per_document", "Held-out log perplexity per document"),
            unigram: real(&mut all, "unigram_nats_per_document", "The same of word frequencies alone"),
            drift: real(
                &mut all,
                "drift",
                "Total variation distance between the topics of the last minibatches and of all",
            ),
            prequential: real(
                &mut all,
                "prequential_nats_per_document",
                "Log perplexity per document of the last documents before they were learnt from",
            ),
            prequential_unigram: real(
                &mut all,
                "prequential_unigram_nats_per_document",
                "The same of word frequencies alone",
            ),
            checkpoint_age: real(&mut all, "checkpoint_age_seconds", "Time since the last checkpoint"),
            registry: all,
        }
    }
}

impl Metrics {
    /// A request is over.
    pub fn answered(&self, route: &str, method: &str, status: u16, time: Duration) {
        // Names of methods are free; only the usual ones are told apart.
        let method = if ["GET", "HEAD", "POST", "OPTIONS"].contains(&method) { method } else { "other" };
        let labels = RequestLabels { route: route.to_owned(), method: method.to_owned(), status };
        self.requests.get_or_create(&labels).inc();
        self.seconds.get_or_create(&RouteLabels { route: route.to_owned() }).observe(time.as_secs_f64());
    }

    /// All numbers as text.
    pub fn encode(&self, progress: &Progress, checkpoint_age: Option<f64>, listeners: usize) -> String {
        self.learnt.set(progress.documents as i64);
        self.waiting.set(progress.waiting as i64);
        self.updates.set(progress.updates as i64);
        self.vocabulary.set(progress.vocabulary as i64);
        self.listeners.set(listeners as i64);
        self.failed.set(i64::from(progress.failure.is_some()));
        self.speed.set(progress.documents_per_second);
        let score =
            |name: &str| progress.score.as_ref().and_then(|score| score[name].as_f64()).unwrap_or(f64::NAN);
        self.score.set(score("log_perplexity_per_document"));
        self.unigram.set(score("unigram_log_perplexity_per_document"));
        self.drift.set(progress.drift.unwrap_or(f64::NAN));
        let ahead =
            |name: &str| progress.prequential.as_ref().and_then(|score| score["windowed"][name].as_f64());
        self.prequential.set(ahead("log_perplexity_per_document").unwrap_or(f64::NAN));
        self.prequential_unigram.set(ahead("unigram_log_perplexity_per_document").unwrap_or(f64::NAN));
        self.checkpoint_age.set(checkpoint_age.unwrap_or(f64::NAN));
        let mut text = String::new();
        // Writing to a string cannot fail.
        let _ = encode(&mut text, &self.registry);
        text
    }
}
