//! Disks that are full or fail: clients hear of it, nothing is half-written, and questions are still answered.

use crate::fold::offline;
use crate::server::{Server, documents};
use crate::support::{Folder, skipped};
use std::process::Command;

const FLAGS: &str = "--topics 3 --batch 10 --sweeps 3";

#[test]
fn a_full_disk_is_told_and_survived() {
    let folder = Folder::new();
    std::fs::create_dir(folder.file("d")).unwrap();
    let probe = Command::new("unshare")
        .args(["--mount", "--map-root-user", "mount", "-t", "tmpfs", "none"])
        .arg(folder.file("d"))
        .output();
    if !probe.is_ok_and(|output| output.status.success()) {
        return skipped("a_full_disk_is_told_and_survived", "no small disk can be mounted here");
    }
    let lines = documents(4000);
    // The service in a world of its own, where its folder is a disk of 600 kB, partly taken.
    let server =
        Server::start_with(&folder, &format!("--data d {FLAGS} --checkpoint-every 1000000b"), |command| {
            let words: Vec<String> = std::iter::once(crate::PROGRAM.to_owned())
                .chain(command.get_args().map(|word| word.to_str().unwrap().to_owned()))
                .collect();
            let script = format!(
                "mount -t tmpfs -o size=600k none d && head -c 300000 /dev/zero > d/ballast && exec {}",
                words.join(" ")
            );
            let mut other = Command::new("unshare");
            other.args(["--mount", "--map-root-user", "sh", "-c", &script]).current_dir(folder.path());
            other
                .stdin(std::process::Stdio::null())
                .stdout(std::process::Stdio::piped())
                .stderr(std::process::Stdio::piped());
            *command = other;
        });
    let mut accepted = 0;
    let mut refusal = None;
    for part in lines.chunks(20) {
        let reply = server.post("/v1/documents", part.join("\n"));
        if reply.status == 503 {
            refusal = Some(reply);
            break;
        }
        accepted += reply.expect(202).json()["accepted"].as_u64().unwrap();
    }
    let refusal = refusal.expect("the disk never was full");
    let expected = "d/log/00000000000000000000.jsonl: cannot write: No space left on device (os error 28); nothing was accepted, so send the documents again when the disk can be written to";
    assert_eq!(refusal.detail(), expected);
    assert_eq!(refusal.header("retry-after"), Some("10"));
    // Nothing is half there, and questions are answered.
    let model = server.get("/v1/model").expect(200).json();
    assert_eq!(model["progress"]["accepted"], accepted);
    server.get("/v1/topics").expect(200);
    server.get("/readyz").expect(200);
    // Somebody makes room.
    let outside = format!("/proc/{}/root{}/d/ballast", server.pid(), folder.path().display());
    std::fs::remove_file(outside).unwrap();
    let rest = &lines[accepted as usize..][..40];
    assert_eq!(server.send(rest)["position"], accepted);
    let whole = (accepted as usize + 40) / 10 * 10;
    assert_eq!(
        server.learnt(whole as u64)["model_hash"],
        offline(&folder, &lines[..whole], FLAGS)["model_hash"]
    );
}

#[test]
fn after_a_failed_fsync_nothing_is_taken_until_somebody_has_looked() {
    let folder = Folder::new();
    folder.write("fail.c", include_str!("fail_when_told.c"));
    let library = folder.file("fail.so");
    let built = Command::new("cc")
        .args(["-shared", "-fPIC", "-o"])
        .arg(&library)
        .arg(folder.file("fail.c"))
        .arg("-ldl")
        .output()
        .unwrap();
    assert!(built.status.success(), "{}", String::from_utf8_lossy(&built.stderr));
    let lines = documents(40);
    let server = Server::start_with(&folder, &format!("--data d {FLAGS}"), |command| {
        command.env("LD_PRELOAD", &library).env("FAIL_WHEN", folder.file("now"));
    });
    server.send(&lines[..10]);
    server.learnt(10);
    folder.write("now", "");
    let send = |server: &Server| {
        server.request(
            "POST",
            "/v1/documents",
            &[("idempotency-key", "second")],
            lines[10..20].join("\n").as_bytes(),
        )
    };
    let refused = send(&server).expect(503);
    assert!(
        refused.detail().starts_with("d/log/00000000000000000000.jsonl: cannot write: Input/output error"),
        "{refused:?}"
    );
    assert!(folder.file("now.failed").exists(), "the fault did not happen");
    std::fs::remove_file(folder.file("now")).unwrap();
    // The system forgets that it could not write; we do not.
    send(&server).expect(503);
    assert!(
        server.get("/readyz").expect(503).detail().contains("look at the disk, then start the service again")
    );
    let model = server.get("/v1/model").expect(200).json();
    assert_eq!((&model["progress"]["accepted"], &model["documents"]), (&10.into(), &10.into()));
    server.get("/v1/topics").expect(200);
    server.kill();
    let server = Server::start(&folder, "--data d");
    assert_eq!(send(&server).expect(202).json()["position"], 10);
    assert_eq!(send(&server).expect(202).json()["position"], 10);
    server.send(&lines[20..]);
    assert_eq!(server.learnt(40)["model_hash"], offline(&folder, &lines, FLAGS)["model_hash"]);
}

#[test]
fn without_fsync_a_kill_still_loses_nothing() {
    for fsync in ["never", "0.05"] {
        let folder = Folder::new();
        let lines = documents(60);
        let flags = format!("--data d {FLAGS} --fsync {fsync} --checkpoint-every 2b");
        let server = Server::start(&folder, &flags);
        lines[..30].chunks(3).for_each(|part| drop(server.send(part)));
        server.kill();
        let server = Server::start(&folder, &flags);
        assert_eq!(server.send(&lines[30..])["position"], 30, "{fsync}");
        assert_eq!(server.learnt(60)["model_hash"], offline(&folder, &lines, FLAGS)["model_hash"], "{fsync}");
        assert_eq!(server.stop(), Some(143));
    }
}
