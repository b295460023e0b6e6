//! `GET /`: the page.

use axum::body::Body;
use axum::http::{HeaderValue, header};
use axum::response::Response;

const PAGE: &str = "<!doctype html><html lang=\"en\"><meta charset=\"utf-8\"><title>gibbstream</title>\
<h1>gibbstream</h1><p>This service answers <a href=\"/v1/topics\">/v1/topics</a>, <a href=\"/v1/model\">/v1/model</a> and what \
<a href=\"/v1/openapi.json\">/v1/openapi.json</a> lists.</html>";

/// The page.
pub async fn page() -> Response {
    let mut response = Response::new(Body::from(PAGE));
    let kind = HeaderValue::from_static("text/html; charset=utf-8");
    response.headers_mut().insert(header::CONTENT_TYPE, kind);
    response
}
