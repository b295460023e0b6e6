//! `GET /v1/events`: what happens, as server-sent events.

use super::App;
use super::problem::{Answer, Problem};
use crate::status::Event;
use axum::extract::State;
use axum::http::StatusCode;
use axum::response::sse::{self, KeepAlive, Sse};
use axum::response::{IntoResponse, Response};
use futures_util::stream;
use std::convert::Infallible;
use std::sync::Arc;
use std::time::Duration;
use tokio::sync::broadcast::Receiver;
use tokio::sync::broadcast::error::RecvError;

/// Time after which a listener hears that the service is still there.
const ALIVE_EVERY: Duration = Duration::from_secs(10);

/// How often a listener that hears nothing looks whether the service is shutting down.
const LOOK_EVERY: Duration = Duration::from_millis(250);

/// Tells what happens as it happens
#[utoipa::path(get, path = "/v1/events", tag = "ask", responses(
    (status = 200, description = "Server-sent events: `progress`, `snapshot`, `evaluation`, `birth`, `alarm`, each with JSON; `progress` comes at once", body = String, content_type = "text/event-stream"),
    (status = 429, description = "Too many listeners", body = Problem, content_type = "application/problem+json")))]
pub async fn listen(State(app): State<Arc<App>>) -> Answer<Response> {
    if app.status.listeners() >= app.limits.listeners {
        let detail = format!("{} listen already; try again later", app.limits.listeners);
        return Err(Problem::busy(StatusCode::TOO_MANY_REQUESTS, detail, 10));
    }
    let receiver = app.status.listen();
    let first = vec![
        named("progress", &serde_json::json!(app.progress()).to_string()),
        app.views.latest().map_or_else(
            || sse::Event::default().comment("nothing has been learnt yet"),
            |view| {
                let facts = serde_json::json!({ "model_hash": view.hash(), "documents": view.documents() });
                named("snapshot", &facts.to_string())
            },
        ),
    ];
    let state = (first.into_iter(), receiver, app);
    let events = stream::unfold(state, |(mut first, mut receiver, app)| async move {
        let event = match first.next() {
            Some(event) => event,
            None => next(&mut receiver, &app).await?,
        };
        Some((Ok::<_, Infallible>(event), (first, receiver, app)))
    });
    let alive = KeepAlive::new().interval(ALIVE_EVERY).text("alive");
    Ok(Sse::new(events).keep_alive(alive).into_response())
}

/// The next event; `None` when the service ends.
async fn next(receiver: &mut Receiver<Arc<Event>>, app: &App) -> Option<sse::Event> {
    loop {
        if app.status.is_stopping() {
            return None;
        }
        match tokio::time::timeout(LOOK_EVERY, receiver.recv()).await {
            Ok(Ok(event)) => return Some(named(event.name, &event.data)),
            // It was too slow: the next event says how things stand.
            Ok(Err(RecvError::Lagged(_))) | Err(_) => {}
            Ok(Err(RecvError::Closed)) => return None,
        }
    }
}

fn named(name: &str, data: &str) -> sse::Event {
    sse::Event::default().event(name).data(data)
}
