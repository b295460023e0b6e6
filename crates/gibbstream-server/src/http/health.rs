//! `/healthz`, `/readyz` and `/metrics`: for those who run the service.

use super::App;
use super::problem::{Answer, Problem};
use axum::body::Body;
use axum::extract::State;
use axum::http::{HeaderValue, StatusCode, header};
use axum::response::Response;
use std::sync::Arc;

/// Says that the process is alive
#[utoipa::path(get, path = "/healthz", tag = "run", responses((status = 200, description = "Alive", body = String, content_type = "text/plain")))]
pub async fn healthz() -> &'static str {
    "alive\n"
}

/// Says whether requests can be answered, and documents taken
#[utoipa::path(get, path = "/readyz", tag = "run", responses(
    (status = 200, description = "Ready, also before anything was learnt", body = String, content_type = "text/plain"),
    (status = 503, description = "Documents cannot be accepted", body = Problem, content_type = "application/problem+json")))]
pub async fn readyz(State(app): State<Arc<App>>) -> Answer<&'static str> {
    let unavailable = |detail: String| Err(Problem::busy(StatusCode::SERVICE_UNAVAILABLE, detail, 10));
    if app.status.is_stopping() {
        return unavailable("the service is shutting down".into());
    }
    match app.log.as_ref().and_then(|log| log.follower().end().failure) {
        Some(problem) => unavailable(format!("{problem}; look at the disk, then start the service again")),
        None => Ok("ready\n"),
    }
}

/// Gives numbers for Prometheus
#[utoipa::path(get, path = "/metrics", tag = "run", responses((status = 200, description = "OpenMetrics text", body = String, content_type = "application/openmetrics-text")))]
pub async fn metrics(State(app): State<Arc<App>>) -> Answer<Response> {
    let text = app.metrics.encode(&app.progress(), app.status.checkpoint_age(), app.status.listeners());
    let mut response = Response::new(Body::from(text));
    let kind = HeaderValue::from_static("application/openmetrics-text; version=1.0.0; charset=utf-8");
    response.headers_mut().insert(header::CONTENT_TYPE, kind);
    Ok(response)
}
