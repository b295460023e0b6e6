//! `POST /v1/infer`: the topic mixtures of documents.

use super::App;
use super::body;
use super::problem::{Answer, Problem, json};
use crate::view::InferDocument;
use axum::body::Body;
use axum::extract::State;
use axum::http::{HeaderMap, StatusCode};
use axum::response::Response;
use gibbstream::corpus::Document;
use gibbstream::inference::mixtures::MixtureInference;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use std::sync::Arc;
use utoipa::ToSchema;

/// Documents of a request.
const MOST_DOCUMENTS: usize = 1_000;

/// Sweeps over each document, as in `gibbstream infer`.
const SWEEPS: usize = 100;

/// Documents to find the mixtures of.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct InferRequest {
    /// The documents.
    #[schema(max_items = 1000)]
    documents: Vec<InferDocument>,
    /// Only so many of the largest shares of each document, largest first.
    #[serde(default)]
    #[schema(nullable = false, minimum = 1)]
    top: Option<usize>,
}

/// Mixtures of documents.
#[derive(Debug, Serialize, ToSchema)]
pub struct InferAnswer {
    /// `gibbstream/infer/1`.
    schema: &'static str,
    /// The model that answers.
    model_hash: String,
    /// One for each document: `id`, `index`, `tokens`, `out_of_vocabulary_tokens`, `theta`.
    #[schema(value_type = Vec<Object>)]
    documents: Vec<Value>,
}

/// Finds the topic mixtures of documents
#[utoipa::path(post, path = "/v1/infer", tag = "ask", request_body = InferRequest,
    responses(
        (status = 200, description = "The mixtures", body = InferAnswer),
        (status = 409, description = "Nothing has been learnt yet", body = Problem, content_type = "application/problem+json"),
        (status = 413, description = "The body is too large", body = Problem, content_type = "application/problem+json"),
        (status = 422, description = "The documents cannot be read", body = Problem, content_type = "application/problem+json"),
        (status = 400, description = "The request is not valid HTTP", body = Problem, content_type = "application/problem+json"),
        (status = 429, description = "Too many requests", body = Problem, content_type = "application/problem+json")))]
pub async fn post(State(app): State<Arc<App>>, headers: HeaderMap, body: Body) -> Answer<Response> {
    let taken = body::read(&app, &headers, body).await?;
    let request: InferRequest = parse(&taken.bytes)?;
    let view = app.view()?;
    if request.documents.len() > MOST_DOCUMENTS {
        let detail = format!("documents: there are more than {MOST_DOCUMENTS}; send them in parts");
        return Err(Problem::unprocessable(detail));
    }
    if request.top == Some(0) {
        return Err(Problem::unprocessable("top: 0 shares would be given; use at least 1"));
    }
    let _turn = app.inference_turn().await?;
    let (worker, hash) = (app.clone(), view.hash().to_owned());
    let work = move || {
        let documents = request.documents.into_iter().map(|document| view.document(document));
        let documents: Vec<Document> = documents.collect::<gibbstream::Result<_>>()?;
        let most = worker.limits.document_tokens;
        if let Some(large) = documents.iter().position(|document| document.tokens() > most) {
            let detail =
                format!("documents: number {large} has more than {most} tokens; split it into smaller ones");
            return Err(Problem::unprocessable(detail));
        }
        let how = MixtureInference { sweeps: SWEEPS, seed: worker.seed, details: false };
        let mixtures = worker.pool.install(|| view.infer(documents, &how, request.top))?;
        Ok(mixtures)
    };
    let documents = tokio::task::spawn_blocking(work).await.map_err(|_| {
        Problem::new(
            StatusCode::INTERNAL_SERVER_ERROR,
            "the request could not be processed; please report this",
        )
    })??;
    json(&InferAnswer { schema: "gibbstream/infer/1", model_hash: hash, documents })
}

/// The body as JSON, or what is wrong with it and where.
pub fn parse<'a, T: Deserialize<'a>>(body: &'a [u8]) -> Answer<T> {
    serde_json::from_slice(body).map_err(|error| {
        Problem::unprocessable(format!("body: {error}; send the JSON that /v1/openapi.json describes"))
    })
}
