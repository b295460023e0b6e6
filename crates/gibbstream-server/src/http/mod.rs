//! The routes, and what every request passes before it reaches one.

mod answers;

mod body;

mod control;

mod documents;

mod events;

mod health;

mod infer;

mod listen;

mod openapi;

mod page;

mod problem;

pub use documents::check as check_documents;
pub use listen::listen;

use crate::log::LogHandle;
use crate::metrics::Metrics;
use crate::publish::Views;
use crate::security::{Access, Foreign, Sites, Tokens};
use crate::setup::Limits;
use crate::status::{Progress, Status};
use crate::view::View;
use axum::Router;
use axum::extract::{MatchedPath, Request, State};
use axum::http::{HeaderMap, HeaderName, HeaderValue, Method, StatusCode, header};
use axum::middleware::{self, Next};
use axum::response::{IntoResponse, Response};
use axum::routing::{get, post};
use gibbstream::Seed;
use gibbstream::corpus::Inputs;
use gibbstream::learn::Settings;
use problem::{Answer, Problem};
use std::sync::Arc;
use std::time::{Duration, Instant};
use tokio::sync::{Semaphore, SemaphorePermit};

/// How long a request that computes waits for its turn.
const TURN_PATIENCE: Duration = Duration::from_secs(10);

/// Requests that wait for their turn, for each that is worked on.
const WAITING_PER_TURN: usize = 32;

/// Everything that answering needs.
pub struct App {
    pub views: Views,
    pub status: Arc<Status>,
    /// Nothing if the service is read-only.
    pub log: Option<Arc<LogHandle>>,
    /// How documents are read.
    pub inputs: Inputs,
    /// How the model is learnt.
    pub settings: Settings,
    pub limits: Limits,
    pub tokens: Tokens,
    pub sites: Sites,
    pub metrics: Metrics,
    pub seed: Seed,
    /// Threads that infer.
    pub pool: rayon::ThreadPool,
    /// Bytes of bodies.
    pub room: Arc<Semaphore>,
    /// Requests.
    pub requests: Semaphore,
    /// Requests that compute.
    pub turns: Semaphore,
    /// The same, and those that wait for them.
    pub in_line: Semaphore,
}

impl App {
    /// Semaphores of the right size.
    pub fn turns(threads: usize) -> (Semaphore, Semaphore) {
        (Semaphore::new(threads), Semaphore::new(threads * WAITING_PER_TURN))
    }

    /// Where learning stands.
    pub fn progress(&self) -> Progress {
        match &self.log {
            Some(log) => self.status.progress(log.follower().end().documents),
            None => self.status.progress(0),
        }
    }

    /// What answers now.
    fn view(&self) -> Answer<Arc<View>> {
        self.views.latest().ok_or_else(|| {
            let detail = "nothing has been learnt yet; send documents until the first minibatch is full";
            Problem::new(StatusCode::CONFLICT, detail)
        })
    }

    /// Waits for a turn to compute, in a line that is not endless.
    async fn inference_turn(&self) -> Answer<(SemaphorePermit<'_>, SemaphorePermit<'_>)> {
        let busy = || {
            let detail = "too many requests that compute; try again later";
            Problem::busy(StatusCode::TOO_MANY_REQUESTS, detail, 1)
        };
        let place = self.in_line.try_acquire().map_err(|_| busy())?;
        match tokio::time::timeout(TURN_PATIENCE, self.turns.acquire()).await {
            Ok(Ok(turn)) => Ok((place, turn)),
            _ => Err(busy()),
        }
    }
}

/// All routes.
pub fn router(app: Arc<App>) -> Router {
    Router::new()
        .route("/", get(page::page))
        .route("/healthz", get(health::healthz))
        .route("/readyz", get(health::readyz))
        .route("/metrics", get(health::metrics))
        .route("/v1/openapi.json", get(openapi::document))
        .route("/v1/model", get(answers::model))
        .route("/v1/model.gbs", get(answers::model_file))
        .route("/v1/topics", get(answers::topics))
        .route("/v1/topics/{id}", get(answers::topic))
        .route("/v1/words/{word}", get(answers::word))
        .route("/v1/timeline", get(answers::timeline))
        .route("/v1/report", get(answers::report))
        .route("/v1/events", get(events::listen))
        .route("/v1/infer", post(infer::post))
        .route("/v1/documents", post(documents::post))
        .route("/v1/control", post(control::post))
        .fallback(|| async {
            Problem::not_found("there is no such route; /v1/openapi.json lists all routes")
        })
        .method_not_allowed_fallback(|| async {
            Problem::new(
                StatusCode::METHOD_NOT_ALLOWED,
                "this method is not allowed here; /v1/openapi.json lists all routes",
            )
        })
        .layer(middleware::from_fn_with_state(app.clone(), guard))
        .with_state(app)
}

/// What every request passes: counting, checks of host, origin and token, and headers of the answer.
async fn guard(State(app): State<Arc<App>>, request: Request, next: Next) -> Response {
    let started = Instant::now();
    let route = request.extensions().get::<MatchedPath>().map_or("other", |path| path.as_str()).to_owned();
    let method = request.method().clone();
    let origin = request.headers().get(header::ORIGIN).cloned();
    app.metrics.working.inc();
    let mut response = match admit(&app, &route, &request) {
        Ok(_permit) if method == Method::OPTIONS && origin.is_some() => {
            StatusCode::NO_CONTENT.into_response()
        }
        Ok(_permit) => next.run(request).await,
        Err(problem) => problem.into_response(),
    };
    app.metrics.working.dec();
    add_headers(response.headers_mut());
    if let Some(origin) = origin.filter(|origin| app.sites.allows(origin.to_str().unwrap_or_default())) {
        allow_origin(response.headers_mut(), origin);
    }
    let (status, time) = (response.status().as_u16(), started.elapsed());
    app.metrics.answered(&route, method.as_str(), status, time);
    let level_is_high = status >= 500;
    if level_is_high {
        tracing::warn!(route, method = %method, status, seconds = time.as_secs_f64(), "answered");
    } else {
        tracing::debug!(route, method = %method, status, seconds = time.as_secs_f64(), "answered");
    }
    response
}

/// Lets a request in, or says why not.
fn admit<'a>(app: &'a App, route: &str, request: &Request) -> Answer<SemaphorePermit<'a>> {
    app.sites.check(request.method(), request.uri(), request.headers()).map_err(|foreign| match foreign {
        Foreign::Host => Problem::new(
            StatusCode::MISDIRECTED_REQUEST,
            "the service is not known by the name in the Host header; add the name with --allow-host",
        ),
        Foreign::Origin => Problem::new(
            StatusCode::FORBIDDEN,
            "pages of other sites may not use this service; allow one with --allow-origin",
        ),
    })?;
    let needed = match route {
        "/" | "/healthz" | "/readyz" => Access::None,
        "/v1/documents" | "/v1/control" => Access::Write,
        _ if request.method() == Method::OPTIONS => Access::None,
        _ => Access::Read,
    };
    let has = app.tokens.access(request.headers());
    if has < needed {
        return Err(if has == Access::None {
            Problem::new(StatusCode::UNAUTHORIZED, "a token is needed: send Authorization: Bearer TOKEN")
        } else {
            Problem::new(StatusCode::FORBIDDEN, "this token is read-only; use the one that may also write")
        });
    }
    app.requests.try_acquire().map_err(|_| {
        Problem::busy(StatusCode::TOO_MANY_REQUESTS, "too many requests at a time; try again later", 1)
    })
}

/// Nothing may be guessed, framed, kept or loaded by the answer, unless it says otherwise.
fn add_headers(headers: &mut HeaderMap) {
    let all: [(HeaderName, &str); 6] = [
        (header::X_CONTENT_TYPE_OPTIONS, "nosniff"),
        (header::X_FRAME_OPTIONS, "DENY"),
        (header::REFERRER_POLICY, "no-referrer"),
        (header::CACHE_CONTROL, "no-store"),
        (HeaderName::from_static("cross-origin-resource-policy"), "same-origin"),
        (header::CONTENT_SECURITY_POLICY, "default-src 'none'; frame-ancestors 'none'"),
    ];
    for (name, value) in all {
        headers.entry(name).or_insert(HeaderValue::from_static(value));
    }
}

/// A site that was allowed by the owner of the service may read the answer.
fn allow_origin(headers: &mut HeaderMap, origin: HeaderValue) {
    headers.insert(header::ACCESS_CONTROL_ALLOW_ORIGIN, origin);
    headers.insert(header::VARY, HeaderValue::from_static("Origin"));
    headers.insert(header::ACCESS_CONTROL_ALLOW_METHODS, HeaderValue::from_static("GET, POST"));
    let allowed = HeaderValue::from_static("authorization, content-type, idempotency-key");
    headers.insert(header::ACCESS_CONTROL_ALLOW_HEADERS, allowed);
    headers.insert(
        HeaderName::from_static("cross-origin-resource-policy"),
        HeaderValue::from_static("cross-origin"),
    );
}
