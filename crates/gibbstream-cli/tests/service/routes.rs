//! What is asked, and what the program says to the same.

use crate::server::{Server, documents};
use crate::support::{Folder, run, run_with};
use serde_json::{Value, json};
use std::io::{BufRead, BufReader, Write};

const FLAGS: &str = "--data d --topics 3 --batch 10 --sweeps 5";

#[test]
fn before_anything_is_learnt_it_is_ready_and_says_so() {
    let folder = Folder::new();
    let server = Server::start(&folder, FLAGS);
    assert_eq!(server.get("/healthz").expect(200).body, "alive\n");
    assert_eq!(server.get("/readyz").expect(200).body, "ready\n");
    let topics = server.get("/v1/topics").expect(200).json();
    assert_eq!((&topics["topics"], &topics["model_hash"]), (&json!([]), &Value::Null));
    assert!(topics["note"].as_str().unwrap().contains("nothing has been learnt yet"));
    let timeline = server.get("/v1/timeline").expect(200).json();
    assert_eq!(timeline["periods"], json!([]));
    for (method, path, body) in [
        ("GET", "/v1/topics/0", ""),
        ("GET", "/v1/words/film", ""),
        ("GET", "/v1/model.gbs", ""),
        ("GET", "/v1/report", ""),
        ("POST", "/v1/infer", "{\"documents\": []}"),
    ] {
        let reply = server.request(method, path, &[], body.as_bytes()).expect(409);
        assert!(reply.detail().starts_with("nothing has been learnt yet"), "{path}");
    }
    let model = server.get("/v1/model").expect(200).json();
    assert_eq!(
        (&model["topics"], &model["documents"], &model["model_hash"]),
        (&json!(3), &json!(0), &Value::Null)
    );
    assert_eq!(server.stop(), Some(143));
}

#[test]
fn answers_are_those_of_the_program() {
    let folder = Folder::new();
    let lines = documents(120);
    let server = Server::start(&folder, FLAGS);
    server.send(&lines);
    server.learnt(120);
    let file = server.get("/v1/model.gbs").expect(200);
    assert!(file.header("etag").is_some());
    assert_eq!(
        server.request("POST", "/v1/control", &[], b"{\"action\": \"checkpoint\"}").expect(200).json()["progress"]
            ["checkpoint_documents"],
        120
    );
    let checkpoint = "d/checkpoints/checkpoint-000000000012.gbs";
    let topics = server.get("/v1/topics").expect(200).json();
    assert_eq!(topics["topics"], run(&folder, &format!("topics {checkpoint} --json")).ok().json()["topics"]);
    let typical = server.get("/v1/topics?words=4&lambda=0.6").expect(200).json();
    let expected = run(&folder, &format!("topics {checkpoint} --json --words 4 --lambda 0.6")).ok().json();
    assert_eq!(typical["topics"], expected["topics"]);
    let second = server.get("/v1/topics/1?words=4&lambda=0.6").expect(200).json();
    assert_eq!(second, expected["topics"][1]);
    // The page shows what `report` shows.
    let page = server.get("/v1/report").expect(200).json();
    run(&folder, &format!("report {checkpoint} --format json --out report.json")).ok();
    let report: Value = serde_json::from_str(&folder.text("report.json")).unwrap();
    assert_eq!(page["schema"], "gibbstream/report/1");
    for part in ["topics", "words", "map", "hierarchy"] {
        assert!(!page[part].is_null() && page[part] == report[part], "{part}");
    }
    // A word belongs to the topic that it is a good word of.
    let best = &topics["topics"][2]["words"][0];
    let word = server.get(&format!("/v1/words/{}", best["word"].as_str().unwrap())).expect(200).json();
    let owner = word["topics"].as_array().unwrap().iter().find(|topic| topic["topic"] == 2).unwrap();
    assert_eq!(owner["weight"], best["weight"]);
    let shares: f64 =
        word["topics"].as_array().unwrap().iter().map(|topic| topic["share"].as_f64().unwrap()).sum();
    assert!((shares - 1.0).abs() < 1e-12 && word["count"].as_u64().unwrap() > 0);
    assert_eq!(
        server.get("/v1/words/unheard").expect(404).detail(),
        "the model does not know this word; words are spelled as in /v1/topics"
    );
    assert_eq!(server.get("/v1/topics/3").expect(404).detail(), "there is no topic 3; see /v1/topics");
    for (query, reason) in [
        ("words=many", "words: invalid digit found in string"),
        ("word=5", "word: unknown field `word`, expected `words` or `lambda`"),
    ] {
        let told = server.get(&format!("/v1/topics?{query}")).expect(422).detail();
        assert_eq!(told, format!("{reason}; /v1/openapi.json describes the parameters"));
    }
    // Mixtures: text, tokens and counts of the same words are the same document.
    let texts = ["plot actor film film unheard", "song album"];
    let asked: Vec<Value> = texts.iter().map(|text| json!({ "id": text[..4], "text": text })).collect();
    let body = json!({ "documents": asked }).to_string();
    let inferred = server.post("/v1/infer", body).expect(200).json();
    let input = asked.iter().map(|line| format!("{line}\n")).collect::<String>();
    let expected = run_with(&folder, &format!("infer {checkpoint} - --digits 17"), |command| {
        command.write_stdin(input);
    });
    assert_eq!(inferred["documents"], json!(expected.ok().json_lines()));
    assert_eq!(inferred["model_hash"], topics["model_hash"]);
    let body = json!({ "top": 1, "documents": [
        { "tokens": ["plot", "actor", "film", "film", "unheard"] }, { "counts": { "plot": 1, "actor": 1, "film": 2, "unheard": 1, "song": 0 } },
    ] });
    let others = server.post("/v1/infer", body.to_string()).expect(200).json();
    let theta = inferred["documents"][0]["theta"].as_array().unwrap();
    let largest =
        (0..3).max_by(|&a, &b| theta[a].as_f64().unwrap().total_cmp(&theta[b].as_f64().unwrap())).unwrap();
    for index in 0..2 {
        let document = &others["documents"][index];
        assert_eq!(document["theta"], json!([{ "topic": largest, "weight": theta[largest] }]));
        assert_eq!((&document["out_of_vocabulary_tokens"], &document["tokens"]), (&json!(1), &json!(4)));
    }
    // The timeline counts every token once.
    let timeline = server.get("/v1/timeline").expect(200).json();
    let periods = timeline["periods"].as_array().unwrap();
    assert_eq!(periods.iter().map(|period| period["documents"].as_u64().unwrap()).sum::<u64>(), 120);
    for at in 0..periods.len() {
        let shares: f64 = timeline["topics"]
            .as_array()
            .unwrap()
            .iter()
            .map(|topic| topic["share"][at].as_f64().unwrap())
            .sum();
        assert!((shares - 1.0).abs() < 1e-9, "{timeline}");
    }
    assert_eq!(server.stop(), Some(143));
}

#[test]
fn a_model_is_served_without_learning() {
    let folder = Folder::with_models();
    let server = Server::start(&folder, "--read-only --continue text.gbs");
    server.get("/readyz").expect(200);
    let topics = server.get("/v1/topics").expect(200).json();
    assert_eq!(topics["topics"], run(&folder, "topics text.gbs --json").ok().json()["topics"]);
    assert_eq!(server.get("/v1/model").json()["read_only"], true);
    server.post("/v1/infer", "{\"documents\": [{\"text\": \"film\"}]}").expect(200);
    for path in ["/v1/documents", "/v1/control"] {
        let reply = server.post(path, "{\"action\": \"pause\"}").expect(403);
        assert!(reply.detail().starts_with("this service is read-only"), "{path}");
    }
    assert_eq!(server.stop(), Some(143));
    // The same from the folder of a service that is running.
    let learning = Server::start(&folder, FLAGS);
    learning.send(&documents(20));
    learning.learnt(20);
    learning.post("/v1/control", "{\"action\": \"checkpoint\"}").expect(200);
    let reading = Server::start(&folder, "--read-only --data d");
    assert_eq!(reading.get("/v1/model").json()["model_hash"], learning.get("/v1/model").json()["model_hash"]);
}

#[test]
fn orders_are_carried_out() {
    let folder = Folder::new();
    let server = Server::start(&folder, FLAGS);
    let order = |action: &str| server.post("/v1/control", json!({ "action": action }).to_string());
    assert_eq!(order("pause").expect(200).json()["progress"]["paused"], true);
    server.send(&documents(30));
    std::thread::sleep(std::time::Duration::from_millis(300));
    let progress = server.get("/v1/model").json()["progress"].clone();
    assert_eq!(
        (&progress["documents"], &progress["waiting"]),
        (&json!(0), &json!(30)),
        "documents are taken meanwhile"
    );
    order("resume").expect(200);
    server.learnt(30);
    assert!(!folder.file("d/checkpoints/checkpoint-000000000003.gbs").exists());
    order("checkpoint").expect(200);
    assert!(folder.file("d/checkpoints/checkpoint-000000000003.gbs").exists());
    assert!(order("dance").expect(422).detail().contains("unknown variant `dance`"));
}

/// Reads server-sent events until one has the name, and returns its data.
fn event(reader: &mut impl BufRead, name: &str) -> Value {
    let mut line = String::new();
    let mut found = false;
    loop {
        line.clear();
        assert!(reader.read_line(&mut line).unwrap() > 0, "the events ended");
        if let Some(data) = line.strip_prefix("data: ").filter(|_| found) {
            return serde_json::from_str(data).unwrap();
        }
        if let Some(other) = line.strip_prefix("event: ") {
            found = other.trim() == name;
        }
    }
}

#[test]
fn events_tell_what_happens() {
    let folder = Folder::new();
    let server = Server::start(&folder, &format!("{FLAGS} --holdout 10 --eval-every 1"));
    let mut stream = server.connect();
    write!(stream, "GET /v1/events HTTP/1.1\r\nhost: {}\r\n\r\n", server.address).unwrap();
    let mut reader = BufReader::new(stream);
    assert_eq!(event(&mut reader, "progress")["documents"], 0, "how things stand comes at once");
    server.send(&documents(40));
    let evaluation = event(&mut reader, "evaluation");
    assert!(
        evaluation["log_perplexity_per_document"].is_number() && evaluation["standard_error"].is_number(),
        "{evaluation}"
    );
    loop {
        let snapshot = event(&mut reader, "snapshot");
        if snapshot["documents"] == 30 {
            assert_eq!(snapshot["model_hash"], server.get("/v1/model").json()["model_hash"]);
            break;
        }
    }
    assert_eq!(server.stop(), Some(143), "listeners do not keep it from ending");
}

#[test]
fn the_document_of_the_interface_is_whole() {
    let folder = Folder::new();
    let server = Server::start(&folder, FLAGS);
    let document = server.get("/v1/openapi.json").expect(200).json();
    assert!(document["openapi"].as_str().unwrap().starts_with("3.1"));
    let mut paths: Vec<&str> = document["paths"].as_object().unwrap().keys().map(String::as_str).collect();
    paths.sort_unstable();
    let expected = [
        "/healthz",
        "/metrics",
        "/readyz",
        "/v1/control",
        "/v1/documents",
        "/v1/events",
        "/v1/infer",
        "/v1/model",
        "/v1/model.gbs",
        "/v1/report",
        "/v1/timeline",
        "/v1/topics",
        "/v1/topics/{id}",
        "/v1/words/{word}",
    ];
    assert_eq!(paths, expected);
}

#[test]
fn numbers_for_prometheus() {
    let folder = Folder::new();
    let server = Server::start(&folder, &format!("{FLAGS} --holdout 5 --eval-every 1"));
    server.send(&documents(38));
    server.learnt(30);
    server.get("/nothing").expect(404);
    let text = server.get("/metrics").expect(200).body;
    for line in [
        "gibbstream_documents_accepted_total 38",
        "gibbstream_documents_learnt 30",
        "gibbstream_documents_waiting 3",
        "gibbstream_updates 3",
        "gibbstream_learning_failed 0",
        "gibbstream_requests_total{route=\"/v1/documents\",method=\"POST\",status=\"202\"} 1",
        "gibbstream_requests_total{route=\"other\",method=\"GET\",status=\"404\"} 1",
    ] {
        assert!(text.lines().any(|found| found == line), "{line}: {text}");
    }
    assert!(
        text.contains("gibbstream_request_seconds_bucket{")
            && text.contains("gibbstream_held_out_nats_per_document ")
    );
}

#[test]
fn what_was_begun_is_finished() {
    let folder = Folder::new();
    let lines = documents(500);
    let server = Server::start(&folder, FLAGS);
    server.send(&lines[..490]);
    // A request of which only a part is there when the end comes.
    let mut slow = server.connect();
    let body = lines[490..].join("\n");
    write!(
        slow,
        "POST /v1/documents HTTP/1.1\r\nhost: {}\r\ncontent-length: {}\r\n\r\n",
        server.address,
        body.len()
    )
    .unwrap();
    slow.write_all(&body.as_bytes()[..100]).unwrap();
    std::thread::sleep(std::time::Duration::from_millis(200));
    let pid = server.pid().to_string();
    assert!(std::process::Command::new("kill").args(["-TERM", &pid]).status().unwrap().success());
    std::thread::sleep(std::time::Duration::from_millis(200));
    slow.write_all(&body.as_bytes()[100..]).unwrap();
    let reply = crate::server::read_reply(&mut slow).unwrap().expect(202);
    assert_eq!(reply.json()["position"], 490);
    assert!(std::net::TcpStream::connect(&server.address).is_err(), "nobody else is let in");
    assert_eq!(server.wait_for_end(), Some(143));
    // It had learnt from some, and the rest comes when it starts again.
    let server = Server::start(&folder, "--data d");
    let model = server.learnt(500);
    let expected = crate::fold::offline(&folder, &lines, "--topics 3 --batch 10 --sweeps 5");
    assert_eq!(model["model_hash"], expected["model_hash"]);
}
