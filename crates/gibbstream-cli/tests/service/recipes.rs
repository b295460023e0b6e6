//! The recipes of docs/service.md, as they stand there.

use crate::server::{Server, documents};
use crate::support::{Folder, run, skipped};
use std::io::Write;
use std::os::unix::process::CommandExt;
use std::process::{Command, Stdio};

/// The blocks of the guide that a shell can run, those with a text first.
fn recipe(with: &str) -> String {
    let guide =
        std::fs::read_to_string(concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/service.md")).unwrap();
    let blocks = guide.split("```sh\n").skip(1).map(|rest| rest.split("```").next().unwrap().to_owned());
    blocks
        .into_iter()
        .find(|block| block.contains(with))
        .unwrap_or_else(|| panic!("there is no recipe with {with}"))
}

/// Whether all programs are here that a recipe needs.
fn has(programs: &[&str]) -> bool {
    let is_there = |program: &&str| {
        let found =
            Command::new("sh").args(["-c", &format!("command -v {program}")]).stdout(Stdio::null()).status();
        found.is_ok_and(|status| status.success())
    };
    programs.iter().all(is_there)
}

/// A shell in the folder that knows our program.
fn shell(folder: &Folder, script: &str, server: &Server) -> Command {
    let place = std::path::Path::new(crate::PROGRAM).parent().unwrap();
    let path = format!("{}:{}", place.display(), std::env::var("PATH").unwrap());
    let mut command = Command::new("sh");
    let script = script.replace("127.0.0.1:8700", &server.address);
    command.args(["-e", "-c", &script]).current_dir(folder.path()).env("PATH", path);
    command
}

#[test]
fn sending_and_asking_and_learning_again() {
    if !has(&["curl", "jq"]) {
        return skipped("sending_and_asking_and_learning_again", "curl or jq is missing");
    }
    let folder = Folder::new();
    let server = Server::start(&folder, "--data events --topics 50");
    folder.write("documents.jsonl", documents(200).join("\n"));
    let ask = recipe("--data-binary @documents.jsonl");
    let (send, ask) = ask.split_once('\n').unwrap();
    let sent = shell(&folder, send, &server).output().unwrap();
    assert_eq!(String::from_utf8(sent.stdout).unwrap(), "{\"accepted\":200,\"position\":0}");
    let model = server.learnt(200);
    // Older versions of curl have no --json.
    let ask = ask.replace("--json", "--header 'content-type: application/json' --data");
    let asked = shell(&folder, &ask, &server).output().unwrap();
    let text = String::from_utf8(asked.stdout).unwrap();
    assert!(
        asked.status.success() && text.contains("gibbstream/topics/1") && text.contains("gibbstream/infer/1"),
        "{text}"
    );
    let again = shell(&folder, &recipe("jq -c '.documents[]?'"), &server).output().unwrap();
    assert!(again.status.success(), "{}", String::from_utf8_lossy(&again.stderr));
    assert_eq!(run(&folder, "inspect again.gbs --json").ok().json()["model_hash"], model["model_hash"]);
}

#[test]
fn following_a_file() {
    if !has(&["curl", "jq", "tail"]) {
        return skipped("following_a_file", "curl, jq or tail is missing");
    }
    let folder = Folder::new();
    let server = Server::start(&folder, "--data d --topics 3 --batch 2 --sweeps 3");
    folder.write("app.log", "the plot of the film\n\"quotes\" and \\ back\n");
    let mut child = shell(&folder, &recipe("tail -n +1 -F app.log"), &server)
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .process_group(0)
        .spawn()
        .unwrap();
    server.learnt(2);
    let mut file = std::fs::File::options().append(true).open(folder.file("app.log")).unwrap();
    file.write_all(b"a novel\nan album\n").unwrap();
    let model = server.learnt(4);
    // The whole group: tail would wait for ever.
    let group = format!("-{}", child.id());
    assert!(Command::new("kill").args(["-TERM", "--", &group]).status().unwrap().success());
    child.wait().unwrap();
    assert_eq!(model["progress"]["accepted"], 4);
}

#[test]
fn what_log_shippers_send() {
    let folder = Folder::new();
    let server = Server::start(&folder, "--data d --topics 2 --batch 2 --sweeps 3 --text-field message");
    // vector: newline-delimited JSON with a field for the message and others.
    let vector = "{\"file\":\"app.log\",\"message\":\"the plot of the film\",\"timestamp\":\"2026-01-01T00:00:00Z\"}\n";
    let headers = [("content-type", "application/x-ndjson"), ("user-agent", "Vector/0.50")];
    server.request("POST", "/v1/documents", &headers, vector.as_bytes()).expect(202);
    // fluent-bit: json_lines with a date.
    let fluent = "{\"date\":1767225600.5,\"message\":\"a novel\"}\n";
    let headers = [("content-type", "application/x-ndjson"), ("user-agent", "Fluent-Bit")];
    server.request("POST", "/v1/documents", &headers, fluent.as_bytes()).expect(202);
    server.learnt(2);
}

#[test]
fn a_token_made_as_the_guide_says() {
    let folder = Folder::new();
    let first = Server::start(&folder, "--data d --topics 2");
    let made = recipe("umask 077");
    let (make, serve) = made.split_once('\n').unwrap();
    assert!(shell(&folder, make, &first).status().unwrap().success());
    drop(first);
    let flags = serve.trim().strip_prefix("gibbstream serve ").unwrap().replace("0.0.0.0:8700", "0.0.0.0:0");
    let server = Server::start(&folder, &format!("--topics 2 {flags}"));
    let token = format!("Bearer {}", folder.text("secret").trim());
    let ask = |headers: &[(&str, &str)]| server.request("GET", "/v1/topics", headers, b"").status;
    assert_eq!(ask(&[("host", "topics.example.org")]), 401);
    assert_eq!(ask(&[("host", "topics.example.org"), ("authorization", &token)]), 200);
}
