"""The client against a real service, which is also killed."""

import json
import re
import shutil
import subprocess
import sys
import threading
import time
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import pytest

from conftest import ROOT
from gibbstream import LDA, Client, ServiceError

THINGS = ["plot actor scene film", "chapter author novel page", "guitar drum melody song"]
TEXTS = [" ".join([THINGS[i % 3]] * (1 + i % 4)) for i in range(120)]


class Service:
    """One that can be started again at the same address."""

    def __init__(self, program, folder):
        self.program, self.folder, self.process, self.port = program, folder, None, 0

    def start(self, *flags):
        command = [
            self.program,
            "serve",
            "--data",
            "d",
            "--listen",
            f"127.0.0.1:{self.port}",
            "--json",
            "--quiet",
            *flags,
        ]
        self.process = subprocess.Popen(command, cwd=self.folder, stdout=subprocess.PIPE, text=True)
        address = json.loads(self.process.stdout.readline())["address"]
        self.port = int(address.rsplit(":", 1)[1])
        return f"http://{address}"

    def kill(self):
        if self.process:
            self.process.kill()
            self.process.wait()
            self.process.stdout.close()


@pytest.fixture
def service(program, tmp_path):
    service = Service(program, tmp_path)
    yield service
    service.kill()


FLAGS = ("--topics", "3", "--batch", "10", "--sweeps", "5")


def test_documents_are_learnt_from_and_questions_answered(service, tmp_path):
    client = Client(service.start(*FLAGS))
    assert client.learn(TEXTS[:60], at_once=7) == 60
    assert client.learn({"id": str(i), "text": text} for i, text in enumerate(TEXTS[60:])) == 60
    model = client.wait()
    assert model["documents"] == 120
    lines = "".join(json.dumps({"text": text}) + "\n" for text in TEXTS)
    trained = subprocess.run(
        [service.program, "train", "-", "--json", "--vocab-mode", "grow", *FLAGS],
        input=lines, capture_output=True, text=True, check=True, cwd=tmp_path,
    )  # fmt: skip
    assert model["model_hash"] == json.loads(trained.stdout)["model_hash"]
    topics = client.topics(words=4, relevance=0.6)["topics"]
    assert [len(topic["words"]) for topic in topics] == [4, 4, 4]
    (mixture,) = client.infer(["plot film"], top=1)
    assert client.word("film")["topics"][0]["topic"] == mixture["theta"][0]["topic"]
    assert sum(period["documents"] for period in client.timeline()["periods"]) == 120
    client.save(tmp_path / "m.gbs")
    assert LDA.load(tmp_path / "m.gbs").n_components == 3
    client.pause()
    client.learn(TEXTS[:10])
    assert client.model()["progress"]["waiting"] == 10
    client.resume()
    client.checkpoint()
    assert client.wait()["documents"] == 130


def test_events(service):
    client = Client(service.start(*FLAGS))
    told = client.events()
    assert next(told)[0] == "progress"
    client.learn(TEXTS[:20])
    for name, facts in told:
        if name == "snapshot" and facts["documents"] == 20:
            break
    told.close()


def test_errors_are_those_of_the_service(service):
    client = Client(service.start(*FLAGS))
    with pytest.raises(ServiceError, match="line 1: has no field `text`") as refused:
        client.learn([{"texte": "film"}])
    assert refused.value.status == 422
    with pytest.raises(ServiceError, match="nothing has been learnt yet") as refused:
        client.word("film")
    assert refused.value.status == 409
    service.kill()
    with pytest.raises(ServiceError, match="cannot be reached"):
        Client(client.url, patience=0.2).topics()
    client = Client(service.start())
    client.pause()
    client.learn(TEXTS[:10])
    with pytest.raises(TimeoutError, match="10 documents still wait"):
        client.wait(seconds=0.1)


def test_documents_are_learnt_from_once_although_the_service_is_killed(service):
    client = Client(service.start(*FLAGS), patience=30)
    done = threading.Event()

    def send():
        for text in TEXTS:
            client.learn([text])
        done.set()

    sender = threading.Thread(target=send)
    sender.start()
    kills = 0
    while not done.is_set():
        time.sleep(0.15)
        service.kill()
        service.start()
        kills += 1
    sender.join()
    assert kills >= 2
    assert client.wait()["documents"] == len(TEXTS)


def test_an_answer_that_got_lost_is_asked_for_again_under_the_same_name():
    keys = []

    class Forgetful(BaseHTTPRequestHandler):
        def do_POST(self):
            keys.append(self.headers["Idempotency-Key"])
            self.rfile.read(int(self.headers["Content-Length"]))
            if len(keys) == 1:
                self.connection.close()
                return
            if len(keys) == 2:
                self.send_response(429)
                self.send_header("Retry-After", "1")
                self.end_headers()
                return
            body = b'{"accepted": 2, "position": 0}'
            self.send_response(202)
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, *arguments):
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Forgetful)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    started = time.monotonic()
    assert Client(f"http://127.0.0.1:{server.server_port}").learn(["a", "b"]) == 2
    assert time.monotonic() - started > 1.0
    assert len(keys) == 3
    assert len(set(keys)) == 1
    server.shutdown()
    server.server_close()


GUIDE = (ROOT / "docs" / "service.md").read_text()


def producer_script(address, tmp_path):
    """The producer of the guide, and the code of the block after it."""
    producer, asking = re.findall(r"```python\n(.*?)```", GUIDE, flags=re.DOTALL)
    script = tmp_path / "send.py"
    script.write_text(producer.replace("http://127.0.0.1:8700", address))
    return script, asking


def test_the_recipe_for_any_stream(service, tmp_path):
    address = service.start(*FLAGS)
    script, asking = producer_script(address, tmp_path)
    subprocess.run([sys.executable, script], input="\n".join(TEXTS) + "\n\n", text=True, check=True)
    client = Client(address)
    assert client.wait()["documents"] == len(TEXTS)
    exec(compile(asking.replace("now.gbs", str(tmp_path / "now.gbs")), "docs/service.md", "exec"), {"client": client})
    assert (tmp_path / "now.gbs").exists()


def test_the_recipe_for_kafka(service, tmp_path):
    """Against the broker that librdkafka brings for tests."""
    kafka = pytest.importorskip("confluent_kafka", reason="pip install confluent-kafka to test the recipe for Kafka")
    if shutil.which("kcat") is None:
        pytest.skip("kcat is missing: the recipe for Kafka is not tested")
    producer = kafka.Producer({"test.mock.num.brokers": 1, "log_level": 0})
    (broker,) = producer.list_topics(timeout=30).brokers.values()
    for text in TEXTS:
        producer.produce("reviews", text.encode())
    producer.flush(30)
    recipe = re.search(r"kcat [^|`]*", GUIDE)[0].replace("broker:9092", f"{broker.host}:{broker.port}")
    address = service.start(*FLAGS)
    script, _ = producer_script(address, tmp_path)
    # It would wait for more: it ends after the last message.
    consumer = subprocess.Popen([*recipe.split(), "-e", "-q"], stdout=subprocess.PIPE)
    subprocess.run([sys.executable, script], stdin=consumer.stdout, check=True, timeout=120)
    consumer.stdout.close()
    assert consumer.wait(30) == 0
    assert Client(address).wait()["documents"] == len(TEXTS)


def test_a_slow_stream_is_sent_as_it_comes(service):
    client = Client(service.start(*FLAGS))
    seen = []

    def slow():
        yield TEXTS[0]
        time.sleep(0.6)
        seen.append(client.model()["progress"]["accepted"])
        yield TEXTS[1]
        raise KeyError("the stream broke")

    with pytest.raises(KeyError, match="the stream broke"):
        client.learn(slow(), max_wait=0.1)
    assert seen == [1]
    assert client.model()["progress"]["accepted"] == 2
