//! SIGKILL at random moments under load, and ends of the log that were torn by hand: what was acknowledged is learnt from once.

use crate::fold::offline;
use crate::server::{Server, documents};
use crate::support::Folder;
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::time::Duration;

const FLAGS: &str = "--topics 3 --batch 10 --sweeps 3";

/// Documents in the log, in its order.
fn documents_of_log(folder: &Folder) -> Vec<String> {
    let mut files: Vec<_> =
        std::fs::read_dir(folder.file("d/log")).unwrap().map(|entry| entry.unwrap().path()).collect();
    files.retain(|path| path.extension().is_some_and(|ending| ending == "jsonl"));
    files.sort();
    let mut found = Vec::new();
    for file in files {
        for line in std::fs::read_to_string(file).unwrap().lines() {
            let record: serde_json::Value = serde_json::from_str(line).unwrap();
            found.extend(record["documents"].as_array().into_iter().flatten().map(ToString::to_string));
        }
    }
    found
}

/// Sends requests from several clients while the service is killed again and again. A client sends a request until it is
/// acknowledged, always with the same key.
fn kill_under_load(kills: usize) {
    let folder = Folder::new();
    let flags = format!("--data d {FLAGS} --checkpoint-every 3b --segment-size 20K");
    let lines = documents(20_000.min(60 * kills + 600));
    let requests: Vec<&[String]> = lines.chunks(3).collect();
    let next = AtomicUsize::new(0);
    let done = AtomicBool::new(false);
    let server = Mutex::new(Some(Server::start(&folder, &flags)));
    let address = Mutex::new(server.lock().unwrap().as_ref().unwrap().address.clone());
    let acknowledged: Mutex<Vec<(u64, usize)>> = Mutex::default();
    let retries = AtomicUsize::new(0);
    let mut state = 20_240_229_u64;
    let mut random = move || {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (state >> 33) as f64 / f64::from(1_u32 << 31)
    };
    std::thread::scope(|scope| {
        for _ in 0..4 {
            scope.spawn(|| {
                while !done.load(Ordering::SeqCst) {
                    let number = next.fetch_add(1, Ordering::SeqCst);
                    let Some(request) = requests.get(number) else { return };
                    loop {
                        let to = address.lock().unwrap().clone();
                        if let Some(position) = post(&to, &format!("request-{number}"), &request.join("\n")) {
                            acknowledged.lock().unwrap().push((position, number));
                            break;
                        }
                        retries.fetch_add(1, Ordering::SeqCst);
                        std::thread::sleep(Duration::from_millis(2));
                    }
                }
            });
        }
        for _ in 0..kills {
            std::thread::sleep(Duration::from_millis(20 + (120.0 * random()) as u64));
            let running = server.lock().unwrap().take().unwrap();
            running.kill();
            let again = Server::start(&folder, &flags);
            address.lock().unwrap().clone_from(&again.address);
            *server.lock().unwrap() = Some(again);
        }
        // Those that were begun are sent until they are acknowledged.
        done.store(true, Ordering::SeqCst);
    });
    let server = server.into_inner().unwrap().unwrap();
    let acknowledged = acknowledged.into_inner().unwrap();
    assert!(acknowledged.len() > kills, "there was no load: {} requests", acknowledged.len());
    assert!(retries.load(Ordering::SeqCst) > 0, "no request was in the way of a kill");
    // Everything acknowledged is in the log once, where it was said to be.
    let log = documents_of_log(&folder);
    for (position, number) in &acknowledged {
        let expected: Vec<serde_json::Value> =
            requests[*number].iter().map(|line| serde_json::from_str(line).unwrap()).collect();
        for (place, document) in expected.iter().enumerate() {
            let found: serde_json::Value = serde_json::from_str(&log[*position as usize + place]).unwrap();
            assert_eq!(found, *document, "request {number}");
        }
    }
    let mut ids: Vec<String> = log
        .iter()
        .map(|line| {
            serde_json::from_str::<serde_json::Value>(line).unwrap()["id"].as_str().unwrap().to_owned()
        })
        .collect();
    ids.sort_unstable();
    ids.dedup();
    assert_eq!(ids.len(), log.len(), "a document is there twice");
    assert_eq!(log.len(), acknowledged.len() * 3, "a document is there that was never acknowledged");
    // And it was learnt from once, in the order of the log.
    let whole = log.len() / 10 * 10;
    let model = server.learnt(whole as u64);
    assert_eq!(model["model_hash"], offline(&folder, &log[..whole], FLAGS)["model_hash"]);
    assert_eq!(server.stop(), Some(143));
}

/// Sends documents; the position if they were acknowledged.
fn post(address: &str, key: &str, body: &str) -> Option<u64> {
    use std::io::Write;
    let mut stream = std::net::TcpStream::connect(address).ok()?;
    stream.set_read_timeout(Some(Duration::from_secs(30))).ok()?;
    let head = format!(
        "POST /v1/documents HTTP/1.1\r\nhost: {address}\r\nconnection: close\r\nidempotency-key: {key}\r\ncontent-length: {}\r\n\r\n",
        body.len()
    );
    stream.write_all(format!("{head}{body}").as_bytes()).ok()?;
    let reply = crate::server::read_reply(&mut stream)?;
    (reply.status == 202).then(|| reply.json()["position"].as_u64().unwrap())
}

#[test]
fn ten_kills_under_load() {
    kill_under_load(10);
}

#[test]
#[ignore = "slow: make slow"]
fn a_hundred_kills_under_load() {
    kill_under_load(100);
}

#[test]
fn a_torn_end_is_cut_off_at_every_byte() {
    let folder = Folder::new();
    let lines = documents(30);
    let server = Server::start(&folder, &format!("--data d {FLAGS}"));
    server.send(&lines[..10]);
    server.send(&lines[10..20]);
    let two = server.learnt(20)["model_hash"].clone();
    let one = offline(&folder, &lines[..10], FLAGS)["model_hash"].clone();
    server.kill();
    std::fs::remove_dir_all(folder.file("d/checkpoints")).unwrap();
    let segment = "d/log/00000000000000000000.jsonl";
    let whole = folder.read(segment);
    let first = whole.iter().position(|&byte| byte == b'\n').unwrap() + 1;
    // Starting the service takes a while, so some bytes are left out; the log itself is tested at all of them.
    let step = (whole.len() - first) / 12;
    for end in (first..whole.len()).step_by(step).chain([first + 1, whole.len() - 1]) {
        folder.write(segment, &whole[..end]);
        let server = Server::start(&folder, "--data d");
        assert_eq!(server.learnt(10)["model_hash"], one, "{end} bytes");
        assert_eq!(folder.read(segment), &whole[..first], "{end} bytes");
        let torn = folder.file("d/log/00000000000000000000.torn");
        assert_eq!(torn.exists(), end > first);
        if end > first {
            assert_eq!(std::fs::read(&torn).unwrap(), &whole[first..end], "what is cut off is kept");
            std::fs::remove_file(torn).unwrap();
        }
        // The documents come again, and are accepted where they were.
        assert_eq!(server.send(&lines[10..20])["position"], 10);
        assert_eq!(server.learnt(20)["model_hash"], two, "{end} bytes");
        server.kill();
        std::fs::remove_dir_all(folder.file("d/checkpoints")).unwrap();
    }
}

#[test]
fn damage_in_the_middle_is_refused_by_name() {
    let folder = Folder::new();
    let lines = documents(30);
    let server = Server::start(&folder, &format!("--data d {FLAGS}"));
    lines.chunks(10).for_each(|part| drop(server.send(part)));
    server.kill();
    let segment = "d/log/00000000000000000000.jsonl";
    let mut bytes = folder.read(segment);
    let first = bytes.iter().position(|&byte| byte == b'\n').unwrap() + 1;
    bytes[first + 100] ^= 1;
    folder.write(segment, &bytes);
    let (code, error) = crate::server::refused(&folder, "--data d");
    assert_eq!(code, Some(2));
    let expected = format!(
        "error: {segment}: the log is damaged at byte {first}: its checksum does not fit; put the file back from a copy; `truncate -s {first}` loses this record and all that follow it"
    );
    assert_eq!(error, expected);
    assert_eq!(folder.read(segment), bytes, "nothing was changed");
    // A part of the log that is missing is noticed too.
    std::fs::remove_file(folder.file(segment)).unwrap();
    folder.write("d/log/00000000000000000010.jsonl", b"");
    let (code, error) = crate::server::refused(&folder, "--data d");
    assert_eq!(code, Some(2));
    assert!(error.contains("document 0 is needed, and the log does not go back so far"), "{error}");
}

#[test]
fn old_segments_go_when_no_checkpoint_needs_them() {
    let folder = Folder::new();
    let lines = documents(400);
    let flags = format!("--data d {FLAGS} --checkpoint-every 2b --segment-size 2K --retain-size 1K");
    let server = Server::start(&folder, &flags);
    lines.chunks(10).for_each(|part| drop(server.send(part)));
    let model = server.learnt(400);
    assert_eq!(model["model_hash"], offline(&folder, &lines, FLAGS)["model_hash"]);
    let first_left = || {
        let mut names: Vec<u64> = std::fs::read_dir(folder.file("d/log"))
            .unwrap()
            .map(|entry| entry.unwrap().path().file_stem().unwrap().to_str().unwrap().parse().unwrap())
            .collect();
        names.sort_unstable();
        names[0]
    };
    assert!((200..=360).contains(&first_left()), "{}", first_left());
    server.kill();
    // What is left is enough to go on, also from the oldest checkpoint.
    let mut checkpoints: Vec<_> =
        std::fs::read_dir(folder.file("d/checkpoints")).unwrap().map(|entry| entry.unwrap().path()).collect();
    checkpoints.retain(|path| path.extension().is_some_and(|ending| ending == "gbs"));
    checkpoints.sort();
    assert_eq!(checkpoints.len(), 3);
    checkpoints[1..].iter().for_each(|path| std::fs::remove_file(path).unwrap());
    let server = Server::start(&folder, &flags);
    assert_eq!(server.learnt(400)["model_hash"], model["model_hash"]);
}

#[test]
fn a_retry_is_harmless_also_after_a_crash() {
    let folder = Folder::new();
    let lines = documents(40);
    let flags = format!("--data d {FLAGS} --segment-size 1K --remember-requests 5");
    let server = Server::start(&folder, &flags);
    let send = |server: &Server, key: &str, part: &[String]| {
        server.request("POST", "/v1/documents", &[("idempotency-key", key)], part.join("\n").as_bytes())
    };
    for number in 0..4 {
        let reply = send(&server, &format!("k{number}"), &lines[10 * number..][..10]).expect(202);
        assert_eq!(reply.body, format!("{{\"accepted\":10,\"position\":{}}}", 10 * number));
    }
    let again = send(&server, "k1", &lines[10..20]).expect(202);
    assert_eq!(again.body, "{\"accepted\":10,\"position\":10}");
    server.kill();
    let server = Server::start(&folder, &flags);
    for number in 0..4 {
        let reply = send(&server, &format!("k{number}"), &lines[10 * number..][..10]).expect(202);
        assert_eq!(reply.body, format!("{{\"accepted\":10,\"position\":{}}}", 10 * number));
    }
    let other = send(&server, "k1", &lines[..10]).expect(422);
    assert_eq!(
        other.detail(),
        "Idempotency-Key: it was used for other documents; use a new name for each request"
    );
    assert_eq!(server.learnt(40)["progress"]["accepted"], 40);
    // Names are not remembered for ever.
    for number in 4..9 {
        assert_eq!(
            send(&server, &format!("k{number}"), &lines[..1]).expect(202).json()["position"],
            36 + number
        );
    }
    assert_eq!(send(&server, "k0", &lines[..10]).expect(202).json()["position"], 45);
}
