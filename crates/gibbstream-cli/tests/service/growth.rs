//! The service does not grow with the requests that it has answered.

use crate::server::{Server, documents};
use crate::support::Folder;
use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpStream;

/// Resident memory in KiB.
fn resident(server: &Server) -> u64 {
    let status = std::fs::read_to_string(format!("/proc/{}/status", server.pid())).unwrap();
    let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:")).unwrap();
    line.trim().trim_end_matches(" kB").parse().unwrap()
}

/// A connection that stays open.
struct Client {
    stream: TcpStream,
    answers: BufReader<TcpStream>,
}

impl Client {
    fn new(server: &Server) -> Self {
        let stream = server.connect();
        Self { answers: BufReader::new(stream.try_clone().unwrap()), stream }
    }

    /// Sends a request and reads the answer; returns its status.
    fn ask(&mut self, request: &(&str, &str, String)) -> u16 {
        let (method, path, body) = request;
        let head =
            format!("{method} {path} HTTP/1.1\r\nhost: localhost\r\ncontent-length: {}\r\n\r\n", body.len());
        self.stream.write_all((head + body).as_bytes()).unwrap();
        let (mut status, mut length) = (0, 0);
        for number in 0.. {
            let mut line = String::new();
            self.answers.read_line(&mut line).unwrap();
            let line = line.trim_end().to_ascii_lowercase();
            if number == 0 {
                status = line.split(' ').nth(1).unwrap().parse().unwrap();
            } else if let Some(value) = line.strip_prefix("content-length:") {
                length = value.trim().parse().unwrap();
            } else if line.is_empty() {
                break;
            }
        }
        let mut answer = vec![0; length];
        self.answers.read_exact(&mut answer).unwrap();
        status
    }
}

/// Requests of every kind, right ones and wrong ones; growth from the first tenth to the end.
fn grows(requests: usize) {
    let folder = Folder::new();
    let server = Server::start(&folder, "--data d --topics 3 --batch 10 --sweeps 5 --max-vocab 50");
    let lines = documents(200);
    server.send(&lines);
    server.learnt(200);
    let kinds = [
        (200, ("POST", "/v1/infer", format!("{{\"documents\": [{{\"text\": \"{}\"}}]}}", "film plot novel"))),
        (200, ("GET", "/v1/model", String::new())),
        (200, ("GET", "/v1/topics?words=5", String::new())),
        (200, ("GET", "/v1/words/film", String::new())),
        (404, ("GET", "/v1/topics/77", String::new())),
        (404, ("GET", "/nothing", String::new())),
        (422, ("POST", "/v1/infer", "{".to_owned())),
        (200, ("GET", "/metrics", String::new())),
    ];
    let mut client = Client::new(&server);
    let mut early = 0;
    for number in 0..requests {
        let (status, request) = &kinds[number % kinds.len()];
        assert_eq!(client.ask(request), *status, "{request:?}");
        if number % 100 == 99 {
            // Few words are new, so the model stays as large as it is.
            let document = ("POST", "/v1/documents", lines[number / 100 % lines.len()].clone());
            assert_eq!(client.ask(&document), 202);
            // Connections come and go too.
            client = Client::new(&server);
        }
        if number == requests / 10 {
            early = resident(&server);
        }
    }
    let late = resident(&server);
    assert!(early > 0 && late * 100 <= early * 102, "{early} KiB after a tenth, {late} KiB at the end");
}

#[test]
fn thousands_of_requests() {
    grows(40_000);
}

#[test]
#[ignore = "slow: make slow"]
fn a_million_requests() {
    grows(1_000_000);
}
