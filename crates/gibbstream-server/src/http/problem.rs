//! Errors as RFC 9457 problem details, in the words of the program.

use axum::body::Body;
use axum::http::{HeaderValue, StatusCode, header};
use axum::response::{IntoResponse, Response};
use gibbstream::Error;
use serde::Serialize;
use utoipa::ToSchema;

/// What went wrong.
#[derive(Clone, Debug, Serialize, ToSchema)]
pub struct Problem {
    /// Always `about:blank`: the status says what kind of problem it is.
    #[serde(rename = "type")]
    kind: &'static str,
    /// The status in words.
    title: String,
    /// The status of the answer.
    status: u16,
    /// What, where, why, and what to do.
    detail: String,
    #[serde(skip)]
    #[schema(ignore)]
    retry_after: Option<u32>,
}

/// An answer, or what went wrong.
pub type Answer<T> = Result<T, Problem>;

impl Problem {
    pub fn new(status: StatusCode, detail: impl Into<String>) -> Self {
        Self {
            kind: "about:blank",
            title: status.canonical_reason().unwrap_or("Error").to_owned(),
            status: status.as_u16(),
            detail: detail.into(),
            retry_after: None,
        }
    }

    /// The client should try again later.
    pub fn busy(status: StatusCode, detail: impl Into<String>, seconds: u32) -> Self {
        Self { retry_after: Some(seconds), ..Self::new(status, detail) }
    }

    /// Something in a request does not have the form or the meaning it should have.
    pub fn unprocessable(detail: impl Into<String>) -> Self {
        Self::new(StatusCode::UNPROCESSABLE_ENTITY, detail)
    }

    pub fn not_found(detail: impl Into<String>) -> Self {
        Self::new(StatusCode::NOT_FOUND, detail)
    }

    /// A document that cannot be read; places are lines of the body.
    pub fn of_document(error: &Error) -> Self {
        let text = match error {
            Error::Corpus { place, problem, advice, .. } => {
                let line = place.line.map_or_else(|| "body".into(), |line| format!("line {line}"));
                format!("{line}: {problem}; {advice}")
            }
            other => other.to_string(),
        };
        // Settings are named in braces.
        Self::unprocessable(gibbstream::error::spelled(&text, |name| Some(format!("--{name}"))))
    }
}

impl From<Error> for Problem {
    fn from(error: Error) -> Self {
        match &error {
            Error::Setting { .. } | Error::Corpus { .. } => Self::unprocessable(error.to_string()),
            _ => Self::new(StatusCode::INTERNAL_SERVER_ERROR, error.to_string()),
        }
    }
}

impl IntoResponse for Problem {
    fn into_response(self) -> Response {
        let text = serde_json::to_string(&self).unwrap_or_default();
        let mut response = Response::new(Body::from(text));
        *response.status_mut() =
            StatusCode::from_u16(self.status).unwrap_or(StatusCode::INTERNAL_SERVER_ERROR);
        let headers = response.headers_mut();
        headers.insert(header::CONTENT_TYPE, HeaderValue::from_static("application/problem+json"));
        if let Some(seconds) = self.retry_after {
            headers.insert(header::RETRY_AFTER, HeaderValue::from(seconds));
        }
        if self.status == 401 {
            headers.insert(header::WWW_AUTHENTICATE, HeaderValue::from_static("Bearer realm=\"gibbstream\""));
        }
        response
    }
}

/// JSON with the usual headers.
pub fn json(value: &impl Serialize) -> Answer<Response> {
    match serde_json::to_vec(value) {
        Ok(bytes) => Ok(json_bytes(bytes.into())),
        Err(error) => Err(Problem::new(StatusCode::INTERNAL_SERVER_ERROR, error.to_string())),
    }
}

/// JSON that is text already.
pub fn json_bytes(bytes: bytes::Bytes) -> Response {
    let mut response = Response::new(Body::from(bytes));
    response.headers_mut().insert(header::CONTENT_TYPE, HeaderValue::from_static("application/json"));
    response
}
