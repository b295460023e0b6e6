"""Measures a running service with wrk and with clients of its own. See README.md."""

from __future__ import annotations

import argparse
import ctypes
import http.client
import itertools
import json
import os
import platform
import random
import re
import socket
import statistics
import subprocess
import tempfile
import threading
import time
from pathlib import Path

HERE = Path(__file__).parent

# How often readers are measured with learning off and on.
READER_ROUNDS = 3


class Service:
    """One in a folder of its own, which goes when it ends."""

    def __init__(self, program, *flags, data=None):
        self.folder = tempfile.TemporaryDirectory()
        self.data = data or self.folder.name + "/d"
        command = [program, "serve", "--data", self.data, "--listen", "127.0.0.1:0", "--json", "--quiet", *flags]
        self.process = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
        self.address = json.loads(self.process.stdout.readline())["address"]

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.process.terminate()
        self.process.wait(60)
        self.folder.cleanup()

    def request(self, method, path, body=None, headers=None):
        connection = http.client.HTTPConnection(self.address, timeout=60)
        connection.request(method, path, body, headers or {})
        answer = connection.getresponse()
        data = answer.read()
        connection.close()
        return answer.status, data

    def get(self, path):
        return json.loads(self.request("GET", path)[1])

    def learn(self, lines):
        while True:
            status, data = self.request("POST", "/v1/documents", "\n".join(lines).encode())
            if status == 202:
                return
            if status != 429:
                raise SystemExit(f"{status}: {data}")
            time.sleep(0.2)

    def wait_learnt(self, most_waiting=0):
        while self.get("/v1/model")["progress"]["waiting"] > most_waiting:
            time.sleep(0.1)
        # The view may be a moment behind.
        time.sleep(0.5)

    def memory_mib(self):
        status = Path(f"/proc/{self.process.pid}/status").read_text()
        return int(re.search(r"VmRSS:\s+(\d+)", status)[1]) / 1024


def word(number):
    """A word of letters: one with many digits would be taken for an id, and dropped."""
    letters = "".join(chr(ord("a") + number // 26**place % 26) for place in range(4))
    return f"w{letters}"


def documents(count, *, words=20_000, length=60, seed=0):
    """Texts with words of Zipf's frequencies."""
    draw = random.Random(seed)
    names = [word(number) for number in range(words)]
    weights = list(itertools.accumulate(1 / (1 + number) for number in range(words)))
    for _ in range(count):
        yield json.dumps({"text": " ".join(draw.choices(names, cum_weights=weights, k=length))})


class SchedAttr(ctypes.Structure):
    """What `sched_setattr` takes."""

    _fields_ = (
        ("size", ctypes.c_uint32),
        ("policy", ctypes.c_uint32),
        ("flags", ctypes.c_uint64),
        ("nice", ctypes.c_int32),
        ("priority", ctypes.c_uint32),
        ("runtime", ctypes.c_uint64),
        ("deadline", ctypes.c_uint64),
        ("period", ctypes.c_uint64),
    )


def run_at_once():
    """Short turns for this process (Linux 6.12 and newer): it stands for a client elsewhere, that learning cannot delay."""
    if platform.machine() == "x86_64":
        wanted = SchedAttr(size=ctypes.sizeof(SchedAttr), runtime=100_000)
        ctypes.CDLL(None).syscall(314, 0, ctypes.byref(wanted), 0)


def wrk(service, path, *, connections=8, seconds=10, method="GET", body=""):
    """Requests per second and latencies in milliseconds."""
    script = HERE / "request.lua"
    environment = os.environ | {"WRK_METHOD": method, "WRK_BODY": body}
    done = subprocess.run(
        ["wrk", "-t1", f"-c{connections}", f"-d{seconds}s", "--latency", "-s", script, f"http://{service.address}{path}"],
        env=environment, capture_output=True, text=True, check=True, preexec_fn=run_at_once,
    )  # fmt: skip
    found = json.loads(re.search(r"RESULT (.*)", done.stdout)[1])
    return {"path": path, "connections": connections, **found}


class Feeding:
    """Sends documents all the time, so that the service learns."""

    def __init__(self, service, lines):
        self.service, self.lines, self.done = service, lines, threading.Event()
        self.thread = threading.Thread(target=self.run)

    def run(self):
        while not self.done.is_set():
            # Enough to do, but no endless queue.
            if self.service.get("/v1/model")["progress"]["waiting"] < 20_000:
                self.service.learn(self.lines)
            else:
                time.sleep(0.1)

    def __enter__(self):
        self.thread.start()
        time.sleep(1)
        return self

    def __exit__(self, *_):
        self.done.set()
        self.thread.join()


def infer(program, seconds):
    lines = list(documents(5_000))
    text = json.loads(lines[0])["text"]
    body = json.dumps({"documents": [{"text": text}], "top": 3})
    with Service(program, "--topics", "100") as service:
        service.learn(lines)
        service.wait_learnt()
        off = wrk(service, "/v1/infer", method="POST", body=body, seconds=seconds)
        with Feeding(service, lines):
            before = service.get("/v1/model")["progress"]["documents"]
            on = wrk(service, "/v1/infer", method="POST", body=body, seconds=seconds)
            learnt = service.get("/v1/model")["progress"]["documents"] - before
    return {"learning off": off, "learning on": on, "documents learnt meanwhile per second": learnt / seconds}


def ingest(program, seconds):
    results = {}
    line = next(documents(1))
    for fsync in ("always", "0.2", "never"):
        with Service(program, "--topics", "10", "--fsync", fsync, "--max-backlog", "100000000") as service:
            service.request("POST", "/v1/control", b'{"action": "pause"}')
            one = wrk(service, "/v1/documents", method="POST", body=line, seconds=seconds, connections=32)
            many = wrk(service, "/v1/documents", method="POST", body="\n".join([line] * 100), seconds=seconds, connections=8)
        results[fsync] = {"1 document a request": one, "100 documents a request": many}
    return results


def crowd(program, seconds):
    """Idle and slow connections beside others."""
    with Service(program, "--topics", "10", "--header-timeout", "60", "--body-timeout", "60") as service:
        service.learn(list(documents(1_000)))
        service.wait_learnt()
        alone = wrk(service, "/v1/topics", seconds=seconds)
        host, port = service.address.rsplit(":", 1)
        idle = [socket.create_connection((host, int(port))) for _ in range(1_000)]
        slow = [socket.create_connection((host, int(port))) for _ in range(200)]
        for connection in slow:
            connection.sendall(b"POST /v1/documents HTTP/1.1\r\nhost: localhost\r\ncontent-length: 1000\r\n\r\n")
        done = threading.Event()

        def trickle():
            while not done.wait(1):
                for connection in slow:
                    connection.sendall(b" ")

        trickling = threading.Thread(target=trickle)
        trickling.start()
        crowded = wrk(service, "/v1/topics", seconds=seconds)
        connections = re.search(r"gibbstream_connections (\d+)", service.request("GET", "/metrics")[1].decode())[1]
        done.set()
        trickling.join()
        for connection in idle + slow:
            connection.close()
    return {"alone": alone, "with 1,000 idle and 200 slow connections": crowded, "connections": int(connections)}


def readers(program, seconds):
    """`GET /v1/topics` at K = 1,024 and V = 100,000, idle and while it learns."""
    with Service(program, "--topics", "1024", "--batch", "100", "--max-vocab", "100000", "--checkpoint-every", "3600s") as service:
        # Every word is met once.
        names = [word(number) for number in range(100_000)]
        service.learn([json.dumps({"text": " ".join(names[at : at + 100])}) for at in range(0, 100_000, 100)])
        service.wait_learnt()
        while service.get("/v1/model")["documents"] < 1_000:
            time.sleep(0.5)
        time.sleep(5)
        lines = list(documents(2_000, words=100_000))
        rounds = {"pause": [], "resume": []}
        with Feeding(service, lines):
            # In turns, so that other work on the machine disturbs both alike.
            for action in ["pause", "resume"] * READER_ROUNDS:
                service.request("POST", "/v1/control", json.dumps({"action": action}).encode())
                time.sleep(1.5)
                before = service.get("/v1/model")["progress"]["documents"]
                found = wrk(service, "/v1/topics", connections=1, seconds=seconds)
                after = service.get("/v1/model")["progress"]
                found["documents learnt per second"] = (after["documents"] - before) / seconds
                rounds[action].append(found)
        memory = service.memory_mib()
    if any(one["documents learnt per second"] == 0 for one in rounds["resume"]):
        raise SystemExit("readers: nothing was learnt meanwhile, so nothing was measured")
    if after["vocabulary"] < 100_000:
        raise SystemExit(f"readers: the model knows {after['vocabulary']} words instead of 100,000")
    idle, learning = (medians(rounds[action]) for action in ("pause", "resume"))
    ratios = {name: learning[name] / idle[name] for name in ("p50_ms", "p99_ms")}
    return {"idle": idle, "learning": learning, "learning over idle": ratios, "rounds": rounds,
            "vocabulary": after["vocabulary"], "memory MiB": memory}  # fmt: skip


def medians(rounds):
    """Of every number, over several measurements."""
    numbers = [name for name, value in rounds[0].items() if isinstance(value, int | float)]
    return rounds[0] | {name: statistics.median(one[name] for one in rounds) for name in numbers}


def memory(program, count, minutes):
    """Resident memory while many documents are learnt from."""
    started, sent, curve = time.monotonic(), 0, []
    flags = ("--topics", "20", "--sweeps", "5", "--max-vocab", "20000", "--fsync", "never", "--retain-size", "200M", "--max-backlog", "20000")
    with Service(program, *flags) as service:
        lines = list(documents(20_000, length=30))
        while sent < count and time.monotonic() - started < 60 * minutes:
            at = sent % len(lines)
            service.learn(lines[at : at + 2_000])
            sent += 2_000
            if sent % 50_000 == 0:
                curve.append([service.get("/v1/model")["progress"]["documents"], round(service.memory_mib(), 1)])
                print(curve[-1], flush=True)
        service.wait_learnt(100)
        learnt = service.get("/v1/model")["documents"]
    return {"documents": learnt, "seconds": time.monotonic() - started, "documents and MiB": curve}


def table(results):
    """What was measured, in Markdown."""
    rows = []

    def row(what, found):
        latencies = f"{found['p50_ms']:.2f} ms | {found['p99_ms']:.2f} ms"
        rows.append(f"| {what} | {found['requests_per_second']:,.0f} | {latencies} | {found['failed']:.0f} |")

    if infer := results.get("infer"):
        row("`infer`, one document, 100 topics, 8 connections, learning off", infer["learning off"])
        learnt = infer["documents learnt meanwhile per second"]
        row(f"the same while it learns {learnt:.0f} documents/s", infer["learning on"])
    for fsync, found in results.get("ingest", {}).items():
        row(f"documents, one a request, 32 connections, `--fsync {fsync}`", found["1 document a request"])
        row(f"documents, 100 a request, 8 connections, `--fsync {fsync}`", found["100 documents a request"])
    if crowd := results.get("crowd"):
        row("`GET /v1/topics`, 10 topics, 8 connections", crowd["alone"])
        row("the same beside 1,000 idle and 200 slow connections", crowd["with 1,000 idle and 200 slow connections"])
    notes = []
    if readers := results.get("readers"):
        row("`GET /v1/topics`, 1,024 topics of 100,000 words, one connection, learning paused", readers["idle"])
        learnt = readers["learning"]["documents learnt per second"]
        row(f"the same while it learns {learnt:.0f} documents/s", readers["learning"])
        ratios = readers["learning over idle"]
        notes.append(f"Readers while it learns: p50 {ratios['p50_ms']:.2f} times, p99 {ratios['p99_ms']:.2f} times of idle.")
    if memory := results.get("memory"):
        curve = "; ".join(f"{mib:.0f} MiB after {count:,}" for count, mib in memory["documents and MiB"])
        notes.append(f"Memory over {memory['documents']:,} documents: {curve}.")
    head = ["| what | requests/s | p50 | p99 | failed |", "|---|---:|---:|---:|---:|"]
    return "\n".join([*head, *rows, "", *notes])


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--program", default="target/release/gibbstream")
    parser.add_argument("--out")
    parser.add_argument("--only", action="append")
    parser.add_argument("--seconds", type=int, default=10)
    parser.add_argument("--documents", type=int, default=1_000_000)
    parser.add_argument("--minutes", type=float, default=15)
    parser.add_argument("--quick", action="store_true", help="everything in four minutes, and a table in Markdown")
    args = parser.parse_args()
    if args.quick:
        args.seconds, args.minutes = 4, 0.75
    program = str(Path(args.program).resolve())
    all_of_them = {
        "infer": lambda: infer(program, args.seconds),
        "ingest": lambda: ingest(program, args.seconds),
        "crowd": lambda: crowd(program, args.seconds),
        "readers": lambda: readers(program, args.seconds),
        "memory": lambda: memory(program, args.documents, args.minutes),
    }
    results = {}
    for name, measure in all_of_them.items():
        if not args.only or name in args.only:
            results[name] = measure()
            if not args.quick:
                print(json.dumps({name: results[name]}, indent=1), flush=True)
    if args.quick:
        print(table(results))
    if args.out:
        old = json.loads(Path(args.out).read_text()) if Path(args.out).exists() else {}
        Path(args.out).write_text(json.dumps(old | results, indent=1) + "\n")


if __name__ == "__main__":
    main()
