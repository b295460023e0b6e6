//! Tokens, other sites, and requests that mean no good.

use crate::server::{Server, documents, refused};
use crate::support::Folder;
use std::os::unix::fs::PermissionsExt;

const FLAGS: &str = "--data d --topics 3 --batch 10 --sweeps 5";
const WRITE: &str = "write-token-0123456789";
const READ: &str = "read-token-0123456789";

fn with_tokens(mode: u32) -> Folder {
    let folder = Folder::new();
    for (name, token) in [("write", WRITE), ("read", READ)] {
        folder.write(name, token);
        std::fs::set_permissions(folder.file(name), std::fs::Permissions::from_mode(mode)).unwrap();
    }
    folder
}

#[test]
fn tokens_decide_who_may_do_what() {
    let folder = with_tokens(0o600);
    let server = Server::start_with(
        &folder,
        &format!("{FLAGS} --token-file write --read-token-file read --verbose"),
        |command| {
            command.stderr(std::fs::File::create(folder.file("log.txt")).unwrap());
        },
    );
    let line = documents(1).remove(0);
    let ask = |method: &str, path: &str, token: Option<&str>| {
        let value = token.map(|token| format!("Bearer {token}"));
        let headers: Vec<(&str, &str)> =
            value.iter().map(|value| ("authorization", value.as_str())).collect();
        let body = if path == "/v1/control" {
            "{\"action\": \"resume\"}"
        } else if method == "GET" {
            ""
        } else {
            &line
        };
        server.request(method, path, &headers, body.as_bytes()).status
    };
    for path in ["/", "/healthz", "/readyz"] {
        assert_eq!(ask("GET", path, None), 200, "{path}");
    }
    for path in ["/metrics", "/v1/topics", "/v1/model", "/v1/openapi.json", "/nothing"] {
        assert_eq!(ask("GET", path, None), 401, "{path}");
        assert_eq!(ask("GET", path, Some("wrong-token-0123456789")), 401, "{path}");
        let found = if path == "/nothing" { 404 } else { 200 };
        assert_eq!(ask("GET", path, Some(READ)), found, "{path}");
        assert_eq!(ask("GET", path, Some(WRITE)), found, "{path}");
    }
    for (path, done) in [("/v1/documents", 202), ("/v1/control", 200)] {
        assert_eq!(ask("POST", path, None), 401, "{path}");
        assert_eq!(ask("POST", path, Some(READ)), 403, "{path}");
        assert_eq!(ask("POST", path, Some(WRITE)), done, "{path}");
    }
    let page = server.get("/").expect(200);
    assert!(page.body.contains("data-source=\"live\"") && !page.body.contains(READ), "it holds no data");
    assert_eq!(
        server.get("/v1/topics").expect(401).header("www-authenticate"),
        Some("Bearer realm=\"gibbstream\"")
    );
    assert_eq!(server.stop(), Some(143));
    let log = folder.text("log.txt");
    assert!(log.contains("/v1/documents"), "there is a log: {log}");
    assert!(!log.contains(WRITE) && !log.contains(READ) && !log.contains("wrong-token"), "{log}");
}

#[test]
fn tokens_that_others_can_read_are_refused() {
    let folder = with_tokens(0o644);
    let (code, error) = refused(&folder, &format!("{FLAGS} --token-file write"));
    assert_eq!(
        (code, error.as_str()),
        (Some(2), "error: write: others may read or change it (mode 644); chmod 600 write")
    );
    let folder = with_tokens(0o600);
    let (code, error) = refused(&folder, &format!("{FLAGS} --read-token-file read"));
    assert_eq!(code, Some(2));
    assert!(error.contains("nobody could send documents"), "{error}");
    let open = Server::start(&folder, &format!("{FLAGS} --token-file write --listen 0.0.0.0:0"));
    assert_eq!(open.request("GET", "/v1/topics", &[("host", "127.0.0.1")], b"").status, 401);
}

#[test]
fn other_sites_cannot_use_it() {
    let folder = Folder::new();
    let server = Server::start(
        &folder,
        &format!("{FLAGS} --allow-host topics.example --allow-origin https://friend.example"),
    );
    let line = documents(1).remove(0);
    let post = |headers: &[(&str, &str)]| server.request("POST", "/v1/documents", headers, line.as_bytes());
    assert_eq!(
        post(&[("host", "evil.example")]).expect(421).detail(),
        "the service is not known by the name in the Host header; add the name with --allow-host"
    );
    post(&[("origin", "http://evil.example")]).expect(403);
    post(&[("origin", "null")]).expect(403);
    post(&[("sec-fetch-site", "cross-site")]).expect(403);
    post(&[("host", "topics.example")]).expect(202);
    post(&[("origin", &format!("http://{}", server.address))]).expect(202);
    let friend = post(&[("origin", "https://friend.example")]).expect(202);
    assert_eq!(friend.header("access-control-allow-origin"), Some("https://friend.example"));
    let asked = [("origin", "https://friend.example"), ("access-control-request-method", "POST")];
    let preflight = server.request("OPTIONS", "/v1/documents", &asked, b"").expect(204);
    assert_eq!(preflight.header("access-control-allow-methods"), Some("GET, POST"));
    let plain = server.get("/v1/topics");
    assert_eq!(plain.header("access-control-allow-origin"), None);
    for (name, value) in [
        ("x-content-type-options", "nosniff"),
        ("x-frame-options", "DENY"),
        ("cache-control", "no-store"),
        ("content-security-policy", "default-src 'none'; frame-ancestors 'none'"),
    ] {
        assert_eq!(plain.header(name), Some(value));
    }
}

#[test]
fn hostile_paths_are_only_words() {
    let folder = Folder::new();
    folder.write("secret.gbs", "secret");
    let server = Server::start(&folder, FLAGS);
    server.send(&documents(10));
    server.learnt(10);
    let long = format!("/v1/words/{}", "a".repeat(20_000));
    for path in [
        "/../secret.gbs",
        "/v1/../../secret.gbs",
        "/..%2f..%2fsecret.gbs",
        "/%252e%252e%252fsecret.gbs",
        "/..\\..\\secret.gbs",
        "//etc/passwd",
        "/v1/words/..%2f..%2fetc%2fpasswd",
        "/v1/words/%00",
        "/v1/words/%ff%fe",
        "/v1/words/%c0%ae%c0%ae%c0%af",
        "/v1/topics/-1",
        "/v1/topics/99999999999999999999999",
        "/v1/topics/0x1",
        "/v1/topics/1e3",
        "/v1/topics/%20",
        "/v1/",
        "/V1/TOPICS",
        "/v1/topics/",
        "/v1/model.gbs/x",
        "/.git/config",
        "/v1/words/<script>alert(1)</script>",
        "/v1/words/%3Cscript%3E",
        &long,
    ] {
        let reply = server.get(path);
        assert!([400, 404].contains(&reply.status), "{path}: {reply:?}");
        assert!(!reply.body.contains("<script"), "{path}: {reply:?}");
    }
    for (method, path) in [
        ("PUT", "/v1/documents"),
        ("DELETE", "/v1/model"),
        ("GET", "/v1/documents"),
        ("POST", "/v1/topics"),
        ("TRACE", "/"),
        ("BREW", "/"),
    ] {
        let reply = server.request(method, path, &[], b"").expect(405);
        assert!(reply.header("allow").is_some(), "{method} {path}: {reply:?}");
        reply.detail();
    }
}

#[test]
fn hostile_bytes_do_no_harm() {
    let folder = Folder::new();
    let server = Server::start(&folder, FLAGS);
    let host = format!("host: {}\r\n", server.address);
    let many = (0..500).map(|n| format!("x{n}: y\r\n")).collect::<String>();
    let wide = format!("x: {}\r\n", "y".repeat(1_000_000));
    for bytes in [
        String::from("\r\n\r\n"),
        "\0\0\0\0".into(),
        "GET".into(),
        "GET / HTTP/9.9\r\n\r\n".into(),
        "GET / HTTP/1.1\r\n\r\n".into(),
        format!("GET /\0 HTTP/1.1\r\n{host}\r\n"),
        format!("GET /healthz HTTP/1.1\r\n{host}{host}\r\n"),
        format!("GET /healthz HTTP/1.1\r\n{host}{many}\r\n"),
        format!("GET /healthz HTTP/1.1\r\n{host}{wide}\r\n"),
        format!("GET /healthz HTTP/1.1\r\n{host}x y: z\r\n\r\n"),
        format!("POST /v1/documents HTTP/1.1\r\n{host}content-length: 5\r\ncontent-length: 6\r\n\r\n{{}}"),
        format!("POST /v1/documents HTTP/1.1\r\n{host}content-length: -1\r\n\r\n{{}}"),
        format!("POST /v1/documents HTTP/1.1\r\n{host}content-length: 99999999999999999999\r\n\r\n{{}}"),
        format!(
            "POST /v1/documents HTTP/1.1\r\n{host}transfer-encoding: chunked\r\ncontent-length: 3\r\n\r\nzz\r\n"
        ),
        format!(
            "POST /v1/documents HTTP/1.1\r\n{host}transfer-encoding: chunked\r\n\r\nffffffffffffffff\r\nx"
        ),
        format!("POST /v1/documents HTTP/1.1\r\n{host}transfer-encoding: gzip, chunked\r\n\r\n0\r\n\r\n"),
        "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n".into(),
        "\u{16}\u{3}\u{1}\u{2}\0\u{1}\0\u{1}".into(),
    ] {
        let reply = server.raw(bytes.as_bytes());
        let shown: String = bytes.chars().take(80).collect();
        assert!(
            reply.as_ref().is_none_or(|reply| (400..500).contains(&reply.status)),
            "{shown:?}: {reply:?}"
        );
    }
    server.get("/healthz").expect(200);
    assert_eq!(server.get("/v1/model").json()["progress"]["accepted"], 0);
}
