//! `GET /v1/openapi.json`: all routes, made from their types.

use super::problem::{Answer, json_bytes};
use super::{answers, control, documents, events, health, infer};
use axum::response::Response;
use std::sync::LazyLock;
use utoipa::OpenApi;
use utoipa::openapi::security::{HttpAuthScheme, HttpBuilder, SecurityScheme};

#[derive(OpenApi)]
#[openapi(
    info(title = "gibbstream", description = "A topic model that learns while it answers"),
    paths(
        health::healthz, health::readyz, health::metrics, answers::model, answers::topics, answers::topic, answers::word,
        answers::timeline, answers::report, answers::model_file, events::listen, infer::post, documents::post, control::post
    ),
    modifiers(&Tokens),
    security((), ("token" = []))
)]
struct Document;

/// Tokens are asked for only where the service was started with some.
struct Tokens;

impl utoipa::Modify for Tokens {
    fn modify(&self, document: &mut utoipa::openapi::OpenApi) {
        if let Some(components) = &mut document.components {
            let bearer = HttpBuilder::new().scheme(HttpAuthScheme::Bearer).build();
            components.add_security_scheme("token", SecurityScheme::Http(bearer));
        }
    }
}

/// The document as text.
pub async fn document() -> Answer<Response> {
    static TEXT: LazyLock<bytes::Bytes> =
        LazyLock::new(|| Document::openapi().to_json().unwrap_or_default().into());
    Ok(json_bytes(TEXT.clone()))
}
