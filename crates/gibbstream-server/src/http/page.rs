//! `GET /`: the page of `report`, with live data. It holds no data itself, so it needs no token; what it asks for does.

use axum::body::Body;
use axum::http::{HeaderValue, header};
use axum::response::Response;
use bytes::Bytes;
use std::sync::LazyLock;

const PAGE: &str = include_str!("../../../../web/dist/page.html");

/// What the page has once, and what it is here: it asks the service that it came from.
const REPLACEMENTS: [(&str, &str); 2] = [
    ("<html lang=\"en\">", "<html lang=\"en\" data-source=\"live\">"),
    ("connect-src 'none'", "connect-src 'self'"),
];

const POLICY_START: &str = "http-equiv=\"Content-Security-Policy\" content=\"";

/// The page, and its own policy as a header, which can also say that it must not be framed.
static LIVE: LazyLock<(Bytes, HeaderValue)> = LazyLock::new(|| {
    let page = REPLACEMENTS.iter().fold(PAGE.to_owned(), |page, (from, to)| page.replacen(from, to, 1));
    let policy = page
        .split_once(POLICY_START)
        .and_then(|(_, rest)| rest.split('"').next())
        .unwrap_or("default-src 'none'");
    let header = HeaderValue::from_str(&format!("{policy}; frame-ancestors 'none'"));
    let header = header.unwrap_or(HeaderValue::from_static("default-src 'none'"));
    (page.into(), header)
});

/// The page.
pub async fn page() -> Response {
    let (page, policy) = &*LIVE;
    let mut response = Response::new(Body::from(page.clone()));
    let headers = response.headers_mut();
    headers.insert(header::CONTENT_TYPE, HeaderValue::from_static("text/html; charset=utf-8"));
    headers.insert(header::CONTENT_SECURITY_POLICY, policy.clone());
    response
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_page_is_made_live() {
        for (from, _) in REPLACEMENTS {
            assert_eq!(PAGE.matches(from).count(), 1, "{from}");
        }
        let (page, policy) = &*LIVE;
        let page = std::str::from_utf8(page).unwrap();
        assert!(page.contains("<html lang=\"en\" data-source=\"live\">"));
        let policy = policy.to_str().unwrap();
        assert!(
            policy.starts_with("default-src 'none'; script-src 'sha256-")
                && policy.contains("connect-src 'self'"),
            "{policy}"
        );
        assert!(policy.ends_with("; frame-ancestors 'none'"));
    }
}
