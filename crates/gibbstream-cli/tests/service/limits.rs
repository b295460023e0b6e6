//! Every limit: what is too large, too much or too slow is refused, and the others are served meanwhile.

use crate::server::{Server, documents, read_reply};
use crate::support::Folder;
use std::io::{ErrorKind, Read, Write};
use std::time::{Duration, Instant};

const FLAGS: &str = "--data d --topics 3 --batch 10 --sweeps 5";

#[test]
fn what_is_too_large_is_refused() {
    let folder = Folder::new();
    let server = Server::start(
        &folder,
        &format!("{FLAGS} --max-body 4K --max-documents 3 --max-document-bytes 1K --max-document-tokens 20"),
    );
    let text = |words: usize| format!("{{\"text\": \"{}\"}}", "film ".repeat(words));
    for (body, status, detail) in [
        (text(1000), 413, "the body has more than 4096 bytes; send it in parts"),
        (text(250), 413, "line 1: the document has more than 1024 bytes; split it into smaller ones"),
        (
            format!("{}\n{}", text(20), text(21)),
            422,
            "line 2: the document has 21 tokens, and at most 20 are taken; split it into smaller ones",
        ),
        (
            [text(1), text(1), text(1), text(1)].join("\n"),
            413,
            "the body has 4 documents, and at most 3 are taken at once; send it in parts",
        ),
    ] {
        assert_eq!(server.post("/v1/documents", body).expect(status).detail(), detail);
    }
    let body = format!("{{\"documents\": [{}]}}", text(21));
    assert_eq!(server.post("/v1/infer", body).expect(409).status, 409, "nothing has been learnt");
    assert_eq!(server.get("/v1/model").json()["progress"]["accepted"], 0);
    server.send(&[text(20), text(20), text(20)]);
    // Without a length, and without an end.
    let mut stream = server.connect();
    write!(
        stream,
        "POST /v1/documents HTTP/1.1\r\nhost: {}\r\ntransfer-encoding: chunked\r\n\r\n",
        server.address
    )
    .unwrap();
    let chunk = format!("400\r\n{}\r\n", "x".repeat(1024));
    let mut sent = 0;
    while sent < 100 && stream.write_all(chunk.as_bytes()).is_ok() {
        sent += 1;
    }
    let reply = read_reply(&mut stream);
    assert!(
        reply.is_none_or(|reply| reply.status == 413),
        "the connection may end before the answer is read"
    );
    assert_eq!(server.get("/v1/model").json()["progress"]["accepted"], 3);
}

#[test]
fn bodies_that_are_not_what_they_should_be() {
    let folder = Folder::new();
    let server = Server::start(&folder, FLAGS);
    for (body, detail) in [
        (&b""[..], "the body contains no documents; send one JSON object per line"),
        (b"\n \r\n\t\n", "the body contains no documents; send one JSON object per line"),
        (
            b"film",
            "line 1: is not a JSON object; write one object per line, such as {\"id\": \"1\", \"text\": \"...\"}",
        ),
        (
            b"[{\"text\": \"film\"}]",
            "line 1: is not a JSON object; write one object per line, such as {\"id\": \"1\", \"text\": \"...\"}",
        ),
        (
            b"{\"text\": \"film\"}\n\n{\"text\": 7}",
            "line 3: field `text` is a number, not a string or a list of tokens; name the field that holds the text with --text-field",
        ),
        (
            b"{\"texte\": \"film\"}",
            "line 1: has no field `text` (fields: `texte`); name the field that holds the text with --text-field",
        ),
        (
            b"{\"text\": \"film\"",
            "line 1: is not valid JSON at column 15: EOF while parsing an object; every line must hold one whole JSON object",
        ),
        (
            b"{\"text\": \"film\"} {}",
            "line 1: is not valid JSON at column 18: trailing characters; every line must hold one whole JSON object",
        ),
        (b"{\"text\": \"\xff\"}", "line 1: is not UTF-8; send JSON lines in UTF-8"),
        (b"{\"text\": \"film\"}\n\xc3(", "line 2: is not UTF-8; send JSON lines in UTF-8"),
        (b"\x1f\x8b\x08", "line 1: is not UTF-8; send JSON lines in UTF-8"),
        (
            b"BZh91AY",
            "line 1: is not a JSON object; write one object per line, such as {\"id\": \"1\", \"text\": \"...\"}",
        ),
        (
            b"{\"text\": \"\\ud800\"}",
            "line 1: is not valid JSON at column 17: unexpected end of hex escape; every line must hold one whole JSON object",
        ),
        (
            b"{\"text\": [\"a\", 3]}",
            "line 1: token 2 of field `text` is a number; a list of tokens holds strings",
        ),
    ] {
        let reply = server.post("/v1/documents", body).expect(422);
        assert_eq!(reply.detail(), detail, "{}", String::from_utf8_lossy(body));
    }
    let deep = format!("{{\"text\": {}", "[".repeat(100_000));
    assert!(server.post("/v1/documents", deep).expect(422).detail().contains("recursion limit exceeded"));
    let packed = server.request("POST", "/v1/documents", &[("content-encoding", "gzip")], b"{}").expect(415);
    assert_eq!(packed.detail(), "compressed bodies are not supported; send the body uncompressed");
    for key in ["", "a b", &"k".repeat(201), "caf\u{e9}"] {
        let reply = server
            .request("POST", "/v1/documents", &[("idempotency-key", key)], b"{\"text\": \"film\"}")
            .expect(422);
        assert!(reply.detail().starts_with("Idempotency-Key: it must be one name"), "{key}");
    }
    assert_eq!(server.get("/v1/model").json()["progress"]["accepted"], 0, "nothing of all this was accepted");
    // Odd, but right.
    let odd = "  {\"text\": \"film\", \"x\": {\"deep\": [1e999, null]}}\r\n\r\n{\"text\": [\"New York\"], \"id\": 7}\n";
    assert_eq!(server.post("/v1/documents", odd).expect(202).json()["accepted"], 2);
    server.send(&documents(10));
    server.learnt(10);
    for (body, part) in [
        ("", "body: EOF while parsing a value"),
        ("[]", "body: invalid length 0, expected struct InferRequest"),
        ("{\"documents\": 3}", "body: invalid type: integer `3`, expected a sequence"),
        (
            "{\"documents\": [{}]}",
            "documents: there is not exactly one of text, tokens and counts; give one of them",
        ),
        (
            "{\"documents\": [{\"text\": \"a\", \"tokens\": []}]}",
            "documents: there is not exactly one of text, tokens and counts",
        ),
        (
            "{\"documents\": [{\"counts\": {\"a\": -1}}]}",
            "documents: the count of `a` is -1; use whole numbers from 0 to 16777216",
        ),
        (
            "{\"documents\": [{\"counts\": {\"film\": 200000}}]}",
            "documents: number 0 has more than 100000 tokens; split it into smaller ones",
        ),
        ("{\"documents\": [], \"top\": 0}", "top: 0 shares would be given; use at least 1"),
        ("{\"documents\": [], \"more\": 1}", "body: unknown field `more`"),
    ] {
        let detail = server.post("/v1/infer", body).expect(422).detail();
        assert!(detail.starts_with(part), "{body}: {detail}");
    }
    for query in ["words=0", "words=1001", "words=x", "lambda=2", "lambda=NaN", "wordz=3"] {
        server.get(&format!("/v1/topics?{query}")).expect(422).detail();
    }
}

#[test]
fn full_queues_say_when_to_come_again() {
    let folder = Folder::new();
    let server = Server::start(&folder, &format!("{FLAGS} --max-backlog 25 --max-listeners 1"));
    server.post("/v1/control", "{\"action\": \"pause\"}").expect(200);
    let lines = documents(60);
    server.send(&lines[..20]);
    server.send(&lines[20..40]);
    let refused = server.post("/v1/documents", lines[40..].join("\n")).expect(429);
    assert_eq!(refused.detail(), "40 documents wait to be learnt from; try again later");
    assert!(refused.header("retry-after").unwrap().parse::<u32>().unwrap() >= 1);
    server.post("/v1/control", "{\"action\": \"resume\"}").expect(200);
    server.learnt(40);
    assert_eq!(server.send(&lines[40..])["position"], 40);
    // Listeners are few too.
    let mut first = server.connect();
    write!(first, "GET /v1/events HTTP/1.1\r\nhost: {}\r\n\r\n", server.address).unwrap();
    first.read_exact(&mut [0; 64]).unwrap();
    server.get("/v1/events").expect(429);
    drop(first);
}

#[test]
fn room_for_bodies_is_bounded() {
    let folder = Folder::new();
    let server = Server::start(&folder, &format!("{FLAGS} --max-buffered 10K"));
    let text = format!("{{\"text\": \"{}\"}}", "film ".repeat(1000));
    let half = |server: &Server| {
        let mut stream = server.connect();
        write!(
            stream,
            "POST /v1/documents HTTP/1.1\r\nhost: {}\r\ncontent-length: 20000\r\n\r\n{text}",
            server.address
        )
        .unwrap();
        stream
    };
    let held = [half(&server), half(&server)];
    std::thread::sleep(Duration::from_millis(300));
    let refused = server.post("/v1/documents", &text).expect(429);
    assert_eq!(
        refused.detail(),
        "the bodies of other requests use all the memory allowed for them; try again later"
    );
    drop(held);
    std::thread::sleep(Duration::from_millis(300));
    server.post("/v1/documents", &text).expect(202);
}

#[test]
fn slow_clients_are_given_up_and_others_are_served() {
    let folder = Folder::new();
    let server =
        Server::start(&folder, &format!("{FLAGS} --header-timeout 3 --body-timeout 3 --write-timeout 1"));
    let mut head = server.connect();
    head.write_all(b"GET /healthz HTTP/1.1\r\nho").unwrap();
    let mut body = server.connect();
    write!(body, "POST /v1/documents HTTP/1.1\r\nhost: {}\r\ncontent-length: 100\r\n\r\n{{", server.address)
        .unwrap();
    let mut silent = server.connect();
    let started = Instant::now();
    server.get("/healthz").expect(200);
    body.set_nonblocking(true).unwrap();
    assert!(
        body.peek(&mut [0]).is_err_and(|error| error.kind() == ErrorKind::WouldBlock),
        "others do not wait for them"
    );
    body.set_nonblocking(false).unwrap();
    assert_eq!(read_reply(&mut body).unwrap().expect(408).detail(), "the body did not come within 3 seconds");
    for stream in [&mut head, &mut silent] {
        let mut rest = Vec::new();
        // The end, or a reset.
        let _ = stream.read_to_end(&mut rest);
        assert!(started.elapsed() < Duration::from_secs(30));
    }
    // Whoever asks and does not take the answers is given up too.
    let mut greedy = server.connect();
    let ask = format!("GET /v1/openapi.json HTTP/1.1\r\nhost: {}\r\n\r\n", server.address).repeat(2000);
    greedy.set_write_timeout(Some(Duration::from_secs(10))).unwrap();
    let _ = greedy.write_all(ask.as_bytes());
    let started = Instant::now();
    loop {
        let text = server.get("/metrics").expect(200).body;
        if text.lines().any(|line| line == "gibbstream_connections 1") {
            break;
        }
        assert!(started.elapsed() < Duration::from_secs(60), "{text}");
        std::thread::sleep(Duration::from_millis(50));
    }
}

#[test]
fn connections_are_bounded() {
    let folder = Folder::new();
    let server = Server::start(&folder, &format!("{FLAGS} --max-connections 5"));
    let held: Vec<_> = (0..5).map(|_| server.connect()).collect();
    std::thread::sleep(Duration::from_millis(200));
    let refused = server.get("/healthz").expect(503);
    assert_eq!(refused.detail(), "all connections are taken; try again later");
    assert_eq!(refused.header("retry-after"), Some("5"));
    drop(held);
    std::thread::sleep(Duration::from_millis(200));
    server.get("/healthz").expect(200);
}
