//! `POST /v1/control`: pause, go on, checkpoint now.

use super::App;
use super::body;
use super::infer::parse;
use super::problem::{Answer, Problem, json};
use crate::status::Progress;
use axum::body::Body;
use axum::extract::State;
use axum::http::{HeaderMap, StatusCode};
use axum::response::Response;
use serde::{Deserialize, Serialize};
use std::sync::Arc;
use utoipa::ToSchema;

/// What to do.
#[derive(Clone, Copy, Debug, Deserialize, PartialEq, Eq, ToSchema)]
#[serde(rename_all = "lowercase")]
enum Action {
    /// Learn no further; documents are still taken.
    Pause,
    /// Go on learning.
    Resume,
    /// Write a checkpoint now.
    Checkpoint,
}

/// An order.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct ControlRequest {
    action: Action,
}

/// What was done.
#[derive(Debug, Serialize, ToSchema)]
pub struct ControlAnswer {
    /// Where learning stands.
    progress: Progress,
}

/// Pauses learning, goes on with it, or writes a checkpoint
#[utoipa::path(post, path = "/v1/control", tag = "learn", request_body = ControlRequest, responses(
    (status = 200, description = "It is done", body = ControlAnswer),
    (status = 403, description = "Not allowed", body = Problem, content_type = "application/problem+json"),
    (status = 422, description = "There is no such action", body = Problem, content_type = "application/problem+json"),
    (status = 400, description = "The request is not valid HTTP", body = Problem, content_type = "application/problem+json"),
    (status = 413, description = "The body is too large", body = Problem, content_type = "application/problem+json"),
    (status = 503, description = "The checkpoint could not be written", body = Problem, content_type = "application/problem+json")))]
pub async fn post(State(app): State<Arc<App>>, headers: HeaderMap, body: Body) -> Answer<Response> {
    let taken = body::read(&app, &headers, body).await?;
    let ControlRequest { action } = parse(&taken.bytes)?;
    if app.log.is_none() {
        return Err(Problem::new(
            StatusCode::FORBIDDEN,
            "this service is read-only; there is nothing to control",
        ));
    }
    match action {
        Action::Pause => app.status.pause(true),
        Action::Resume => app.status.pause(false),
        Action::Checkpoint => {
            let unavailable = |detail: String| Problem::busy(StatusCode::SERVICE_UNAVAILABLE, detail, 10);
            if let Some(problem) = app.progress().failure {
                return Err(unavailable(format!("learning has stopped: {problem}")));
            }
            let saved = tokio::time::timeout(app.limits.stop_timeout, app.status.request_checkpoint()).await;
            let saved = saved
                .map_err(|_| unavailable("the checkpoint takes long; look at /v1/model later".into()))?;
            saved.map_err(|_| unavailable("the service is shutting down".into()))?.map_err(unavailable)?;
        }
    }
    tracing::info!(action = ?action, "order carried out");
    let progress = app.progress();
    app.status.tell("progress", &progress);
    json(&ControlAnswer { progress })
}
