//! `POST /v1/documents`: documents to learn from, acknowledged when they are durable.

use super::App;
use super::body::{self, Taken};
use super::problem::{Answer, Problem, json};
use crate::log::{Append, Refusal, fingerprint};
use crate::setup::Limits;
use axum::body::Body;
use axum::extract::State;
use axum::http::{HeaderMap, StatusCode};
use axum::response::{IntoResponse, Response};
use gibbstream::corpus::{Inputs, Vocabulary};
use serde::Serialize;
use std::sync::Arc;
use utoipa::ToSchema;

/// The longest name of a request.
const LONGEST_KEY: usize = 200;

/// Documents that were accepted.
#[derive(Debug, Serialize, ToSchema)]
pub struct AcceptedAnswer {
    /// How many.
    accepted: u64,
    /// Documents in the log before them.
    position: u64,
}

/// Takes documents to learn from
#[utoipa::path(post, path = "/v1/documents", tag = "learn",
    params(("Idempotency-Key" = Option<String>, Header, description = "Name of the request: sent again with the same documents, it is accepted once", min_length = 1, max_length = 200, pattern = "^[\\x21-\\x7e]+$")),
    request_body(content = String, content_type = "application/x-ndjson", description = "One JSON object per line, with a field `text` (text, or a list of tokens) and perhaps `id`", example = "{\"id\": \"a7\", \"text\": \"the plot of the film\"}\n"),
    responses(
        (status = 202, description = "They are on disk", body = AcceptedAnswer),
        (status = 422, description = "A document cannot be read; none was accepted", body = Problem, content_type = "application/problem+json"),
        (status = 413, description = "The body is too large", body = Problem, content_type = "application/problem+json"),
        (status = 429, description = "Too many documents wait; try again after Retry-After", body = Problem, content_type = "application/problem+json"),
        (status = 400, description = "The request is not valid HTTP", body = Problem, content_type = "application/problem+json"),
        (status = 403, description = "Not allowed", body = Problem, content_type = "application/problem+json"),
        (status = 503, description = "The disk cannot be written to", body = Problem, content_type = "application/problem+json")))]
pub async fn post(State(app): State<Arc<App>>, headers: HeaderMap, body: Body) -> Answer<Response> {
    let Some(log) = &app.log else {
        let detail = "this service is read-only; start it without --read-only to learn";
        return Err(Problem::new(StatusCode::FORBIDDEN, detail));
    };
    let key = request_key(&headers)?;
    check_backlog(&app)?;
    let Taken { bytes, room } = body::read(&app, &headers, body).await?;
    let (inputs, limits) = (app.inputs.clone(), app.limits);
    let checked = tokio::task::spawn_blocking(move || check(&inputs, &limits, bytes)).await;
    let (list, documents, fingerprint) = checked.map_err(|_| internal())??;
    let append = Append { list, documents, fingerprint, key, room };
    let answer = log.append(append).map_err(refused)?.await.map_err(|_| refused(Refusal::Closed))?;
    let accepted = answer.map_err(refused)?;
    app.metrics.accepted.inc_by(accepted.documents);
    let answer = json(&AcceptedAnswer { accepted: accepted.documents, position: accepted.position })?;
    Ok((StatusCode::ACCEPTED, answer).into_response())
}

fn internal() -> Problem {
    Problem::new(StatusCode::INTERNAL_SERVER_ERROR, "the request could not be processed; please report this")
}

/// The name of the request, if it has one.
fn request_key(headers: &HeaderMap) -> Answer<Option<String>> {
    let mut all = headers.get_all("idempotency-key").iter();
    let Some(key) = all.next() else { return Ok(None) };
    let key = key.to_str().ok().filter(|key| key.bytes().all(|byte| byte.is_ascii_graphic()));
    match key.filter(|key| (1..=LONGEST_KEY).contains(&key.len()) && all.next().is_none()) {
        Some(key) => Ok(Some(key.to_owned())),
        None => Err(Problem::unprocessable(
            "Idempotency-Key: it must be one name of 1 to 200 letters, digits and signs; use for example a UUID",
        )),
    }
}

/// Refuses documents while too many have not been learnt from.
fn check_backlog(app: &App) -> Answer<()> {
    let progress = app.progress();
    if progress.waiting < app.limits.backlog {
        return Ok(());
    }
    let speed = progress.documents_per_second.max(1.0);
    let seconds = (progress.waiting as f64 / 10.0 / speed).clamp(1.0, 60.0) as u32;
    let detail = format!("{} documents wait to be learnt from; try again later", progress.waiting);
    Err(Problem::busy(StatusCode::TOO_MANY_REQUESTS, detail, seconds))
}

fn refused(refusal: Refusal) -> Problem {
    match refusal {
        Refusal::Busy => Problem::busy(
            StatusCode::TOO_MANY_REQUESTS,
            "too many requests wait for the disk; try again later",
            1,
        ),
        Refusal::KeyReused => Problem::unprocessable(
            "Idempotency-Key: it was used for other documents; use a new name for each request",
        ),
        Refusal::Disk(problem) => Problem::busy(
            StatusCode::SERVICE_UNAVAILABLE,
            format!(
                "{problem}; nothing was accepted, so send the documents again when the disk can be written to"
            ),
            10,
        ),
        Refusal::Closed => {
            Problem::busy(StatusCode::SERVICE_UNAVAILABLE, "the service is shutting down; try again later", 5)
        }
    }
}

/// Reads documents as `train` does. Returns them as the text of a JSON list, how many there are, and what stands for their
/// content.
pub fn check(inputs: &Inputs, limits: &Limits, body: Vec<u8>) -> Answer<(String, u64, u64)> {
    let text = String::from_utf8(body).map_err(|error| {
        let before = &error.as_bytes()[..error.utf8_error().valid_up_to()];
        let line = before.split(|&byte| byte == b'\n').count();
        Problem::unprocessable(format!("line {line}: is not UTF-8; send JSON lines in UTF-8"))
    })?;
    let documents: Vec<(usize, &str)> = text
        .lines()
        .enumerate()
        .map(|(index, line)| (index + 1, line.trim_matches([' ', '\t', '\r'])))
        .filter(|(_, line)| !line.is_empty())
        .collect();
    if documents.is_empty() {
        return Err(Problem::unprocessable("the body contains no documents; send one JSON object per line"));
    }
    if documents.len() > limits.documents {
        let detail = format!(
            "the body has {} documents, and at most {} are taken at once; send it in parts",
            documents.len(),
            limits.documents
        );
        return Err(Problem::new(StatusCode::PAYLOAD_TOO_LARGE, detail));
    }
    for &(line, document) in &documents {
        if document.len() > limits.document_bytes {
            let detail = format!(
                "line {line}: the document has more than {} bytes; split it into smaller ones",
                limits.document_bytes
            );
            return Err(Problem::new(StatusCode::PAYLOAD_TOO_LARGE, detail));
        }
        if !document.starts_with('{') {
            let advice = "write one object per line, such as {\"id\": \"1\", \"text\": \"...\"}";
            return Err(Problem::unprocessable(format!("line {line}: is not a JSON object; {advice}")));
        }
    }
    // The line numbers of the reader are those of the body, because empty lines stay.
    let lines: Vec<&str> = text.lines().map(|line| line.trim_matches([' ', '\t', '\r'])).collect();
    let resolved = inputs.clone().resolve_bytes(lines.join("\n").into_bytes());
    let resolved = resolved.map_err(|error| Problem::of_document(&error))?;
    let (no_words, mut count) = (Vocabulary::default(), 0);
    for (document, (line, _)) in resolved.documents(&no_words).zip(&documents) {
        let document = document.map_err(|error| Problem::of_document(&error))?;
        let tokens = document.tokens() + document.out_of_vocabulary;
        if tokens > limits.document_tokens {
            let detail = format!(
                "line {line}: the document has {tokens} tokens, and at most {} are taken; split it into smaller ones",
                limits.document_tokens
            );
            return Err(Problem::unprocessable(detail));
        }
        count += 1;
    }
    if count != documents.len() as u64 {
        return Err(internal());
    }
    let texts = || documents.iter().map(|(_, document)| *document);
    let list = format!("[{}]", texts().collect::<Vec<_>>().join(","));
    let fingerprint = fingerprint(texts());
    Ok((list, count, fingerprint))
}
