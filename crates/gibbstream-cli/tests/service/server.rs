//! A running service, and a client that can also misbehave.

use crate::support::Folder;
use serde_json::Value;
use std::fmt::Write as _;
use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

/// A service that was started for a test, and is killed with it.
pub struct Server {
    child: Child,
    pub address: String,
}

/// An answer.
#[derive(Clone, Debug)]
pub struct Reply {
    pub status: u16,
    pub head: String,
    pub body: String,
}

impl Reply {
    #[track_caller]
    pub fn json(&self) -> Value {
        serde_json::from_str(&self.body).unwrap_or_else(|error| panic!("{error}: {self:?}"))
    }

    #[track_caller]
    pub fn expect(self, status: u16) -> Self {
        assert_eq!(self.status, status, "{self:?}");
        self
    }

    /// The text of a problem.
    #[track_caller]
    pub fn detail(&self) -> String {
        assert!(self.head.contains("application/problem+json"), "{self:?}");
        let problem = self.json();
        assert_eq!(problem["status"], self.status, "{self:?}");
        problem["detail"].as_str().unwrap().to_owned()
    }

    pub fn header(&self, name: &str) -> Option<&str> {
        self.head.lines().find_map(|line| {
            let (found, value) = line.split_once(':')?;
            found.eq_ignore_ascii_case(name).then(|| value.trim())
        })
    }
}

/// The command of a service in the folder on a free port.
pub fn command(folder: &Folder, flags: &str) -> Command {
    let mut command = Command::new(crate::PROGRAM);
    for (name, _) in std::env::vars_os() {
        if name.to_str().is_some_and(|name| name.starts_with("GIBBSTREAM_")) {
            command.env_remove(name);
        }
    }
    command.current_dir(folder.path()).args(["serve", "--listen", "127.0.0.1:0", "--json"]);
    command.args(flags.split_whitespace()).stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
    command
}

impl Server {
    #[track_caller]
    pub fn start(folder: &Folder, flags: &str) -> Self {
        Self::start_with(folder, flags, |_| {})
    }

    #[track_caller]
    pub fn start_with(folder: &Folder, flags: &str, change: impl FnOnce(&mut Command)) -> Self {
        let mut command = command(folder, flags);
        change(&mut command);
        let mut child = command.spawn().unwrap();
        let mut line = String::new();
        let mut stdout = BufReader::new(child.stdout.take().unwrap());
        stdout.read_line(&mut line).unwrap();
        let Ok(ready) = serde_json::from_str::<Value>(&line) else {
            let _ = child.kill();
            let mut stderr = String::new();
            child.stderr.take().map(|mut pipe| pipe.read_to_string(&mut stderr));
            panic!("the service did not start: {stderr}");
        };
        let address = ready["address"].as_str().unwrap().to_owned();
        // Its log must not fill the pipe.
        if let Some(mut stderr) = child.stderr.take() {
            std::thread::spawn(move || std::io::copy(&mut stderr, &mut std::io::sink()));
        }
        Self { child, address }
    }

    pub fn connect(&self) -> TcpStream {
        let stream = TcpStream::connect(&self.address).unwrap();
        stream.set_read_timeout(Some(Duration::from_secs(60))).unwrap();
        stream
    }

    /// Sends bytes as they are and reads until the connection ends.
    pub fn raw(&self, bytes: &[u8]) -> Option<Reply> {
        let mut stream = self.connect();
        // A service that refuses early may close before all is sent.
        let _ = stream.write_all(bytes);
        let _ = stream.shutdown(std::net::Shutdown::Write);
        read_reply(&mut stream)
    }

    /// A request that may fail, because the service may be killed meanwhile.
    pub fn try_request(
        &self,
        method: &str,
        path: &str,
        headers: &[(&str, &str)],
        body: &[u8],
    ) -> Option<Reply> {
        let mut stream = TcpStream::connect(&self.address).ok()?;
        stream.set_read_timeout(Some(Duration::from_secs(60))).ok()?;
        let mut head =
            format!("{method} {path} HTTP/1.1\r\nconnection: close\r\ncontent-length: {}\r\n", body.len());
        if !headers.iter().any(|(name, _)| name.eq_ignore_ascii_case("host")) {
            write!(head, "host: {}\r\n", self.address).unwrap();
        }
        headers.iter().for_each(|(name, value)| write!(head, "{name}: {value}\r\n").unwrap());
        let _ = stream.write_all(&[head.as_bytes(), b"\r\n", body].concat());
        read_reply(&mut stream)
    }

    #[track_caller]
    pub fn request(&self, method: &str, path: &str, headers: &[(&str, &str)], body: &[u8]) -> Reply {
        self.try_request(method, path, headers, body)
            .unwrap_or_else(|| panic!("no answer to {method} {path}"))
    }

    #[track_caller]
    pub fn get(&self, path: &str) -> Reply {
        self.request("GET", path, &[], b"")
    }

    #[track_caller]
    pub fn post(&self, path: &str, body: impl AsRef<[u8]>) -> Reply {
        self.request("POST", path, &[], body.as_ref())
    }

    /// Sends documents.
    #[track_caller]
    pub fn send(&self, lines: &[String]) -> Value {
        self.post("/v1/documents", lines.join("\n")).expect(202).json()
    }

    /// Waits until the view has so many documents, and returns the facts of the model.
    #[track_caller]
    pub fn learnt(&self, documents: u64) -> Value {
        self.wait(&format!("{documents} documents are learnt"), |model| model["documents"] == documents)
    }

    #[track_caller]
    pub fn wait(&self, what: &str, is_so: impl Fn(&Value) -> bool) -> Value {
        let started = Instant::now();
        loop {
            let model = self.get("/v1/model").expect(200).json();
            if is_so(&model) {
                return model;
            }
            assert!(started.elapsed() < Duration::from_secs(60), "{what}: {model}");
            std::thread::sleep(Duration::from_millis(10));
        }
    }

    /// As if the machine had pulled the plug on the process.
    pub fn kill(mut self) {
        self.child.kill().unwrap();
        self.child.wait().unwrap();
    }

    pub fn pid(&self) -> u32 {
        self.child.id()
    }

    /// SIGTERM; returns the exit code.
    pub fn stop(mut self) -> Option<i32> {
        let pid = self.child.id().to_string();
        assert!(Command::new("kill").args(["-TERM", &pid]).status().unwrap().success());
        self.child.wait().unwrap().code()
    }

    /// Waits for it to end by itself.
    pub fn wait_for_end(mut self) -> Option<i32> {
        self.child.wait().unwrap().code()
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// Reads one answer; nothing if the connection ends before there is a whole one.
pub fn read_reply(stream: &mut TcpStream) -> Option<Reply> {
    let mut reader = BufReader::new(stream);
    let mut head = String::new();
    loop {
        let mut line = String::new();
        if reader.read_line(&mut line).ok()? == 0 {
            return None;
        }
        if line == "\r\n" {
            break;
        }
        head += &line;
    }
    let status = head.split(' ').nth(1)?.parse().ok()?;
    let mut reply = Reply { status, head, body: String::new() };
    let length: Option<usize> = reply.header("content-length").and_then(|length| length.parse().ok());
    let mut bytes = Vec::new();
    match length {
        Some(length) => {
            bytes.resize(length, 0);
            reader.read_exact(&mut bytes).ok()?;
        }
        None => drop(reader.read_to_end(&mut bytes)),
    }
    reply.body = String::from_utf8_lossy(&bytes).into_owned();
    Some(reply)
}

/// What a service refuses to start with: its exit code and the last line of its log.
pub fn refused(folder: &Folder, flags: &str) -> (Option<i32>, String) {
    let output = command(folder, flags).output().unwrap();
    let stderr = String::from_utf8(output.stderr).unwrap();
    (output.status.code(), stderr.lines().last().unwrap_or_default().to_owned())
}

/// So many documents about three things, as JSON lines.
pub fn documents(count: usize) -> Vec<String> {
    const THINGS: [&str; 3] = [
        "plot actor scene director camera script movie film screen drama",
        "chapter author novel page story reader poem prose book verse",
        "guitar drum melody chorus album singer band concert song rhythm",
    ];
    let mut state = 1_u64;
    let mut next = move |below: usize| {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (state >> 33) as usize % below
    };
    let document = |index: usize| {
        let words: Vec<&str> = THINGS[next(3)].split(' ').collect();
        let length = 5 + next(15);
        let mut text: Vec<String> = (0..length).map(|_| words[next(words.len())].to_owned()).collect();
        // Words that nobody has heard of before.
        text.push(format!("word{}", next(1 + index)));
        serde_json::json!({ "id": format!("d{index}"), "text": text.join(" ") }).to_string()
    };
    (0..count).map(document).collect()
}
