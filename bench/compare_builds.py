"""Two builds of the program side by side: speed in CPU time, interleaved, and held-out scores over seeds.

    python bench/compare_builds.py OLD NEW --data ../shared/data speed
    python bench/compare_builds.py OLD NEW --data ../shared/data scores

OLD and NEW are programs. Every run of one is followed by the same run of the other, so that both meet the same machine.
Prints Markdown.
"""

import argparse
import json
import os
import statistics
import subprocess
import tempfile
from pathlib import Path


def run(arguments: list[str]) -> tuple[bytes, float]:
    """What a command prints, and its CPU seconds on all threads."""
    with tempfile.TemporaryFile() as output:
        child = subprocess.Popen(arguments, stdout=output, stderr=subprocess.DEVNULL)
        _, status, usage = os.wait4(child.pid, 0)
        if status:
            raise SystemExit(f"{' '.join(arguments)} failed")
        output.seek(0)
        return output.read(), usage.ru_utime + usage.ru_stime


def documents(corpus: Path) -> int:
    """The number of documents of a corpus: the first line of its file."""
    head = subprocess.Popen(["zstd", "-dc", corpus / "docword.txt.zst"], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)
    with head:
        number = int(head.stdout.readline())
        head.kill()
    return number


class Build:
    """A program and the models that it has learnt."""

    def __init__(self, program: str, folder: Path) -> None:
        self.program, self.folder = program, folder

    def train(self, corpus: Path, topics: int, number: int, seed: int = 0, flags: tuple[str, ...] = ()) -> tuple[dict, Path]:
        model = self.folder / f"{corpus.name}-{topics}-{seed}.gbs"
        command = [self.program, "train", str(corpus), "--topics", str(topics), "--limit-docs", str(number)]
        command += ["--threads", "1", "--seed", str(seed), "--out", str(model), "--json", *flags]
        return json.loads(run(command)[0]), model

    def cpu(self, command: str, model: Path, corpus: Path, first: int, number: int, *flags: str) -> float:
        arguments = [self.program, command, str(model), str(corpus), "--skip-docs", str(first)]
        return run([*arguments, "--limit-docs", str(number), "--threads", "1", *flags])[1]

    def score(self, model: Path, corpus: Path, held_out: int, particles: int = 20) -> float:
        first = documents(corpus) - held_out
        arguments = [self.program, "evaluate", str(model), str(corpus), "--skip-docs", str(first), "--json"]
        report = json.loads(run([*arguments, "--particles", str(particles)])[0])
        return report["log_perplexity_per_document"]


def row(name: str, old: list[float], new: list[float], digits: int = 2) -> str:
    a, b = statistics.median(old), statistics.median(new)
    return f"| {name} | {a:.{digits}f} | {b:.{digits}f} | {100 * (b / a - 1):+.1f} % |"


def speed(old: Build, new: Build, corpus: Path, runs: int) -> None:
    print("| what | old | new | difference |\n|---|---:|---:|---:|")
    for topics, number in [(128, 20_000), (1_024, 5_000)]:
        found: dict[str, tuple[list[float], list[float]]] = {}
        for _ in range(runs):
            for which, build in enumerate((old, new)):
                report, model = build.train(corpus, topics, number)
                first = documents(corpus) - 2_000
                for name, value in [
                    ("million token-sweeps a CPU second", report["token_sweeps_per_cpu_second"] / 1e6),
                    ("`infer`, CPU seconds", build.cpu("infer", model, corpus, first, 2_000)),
                    ("`evaluate`, CPU seconds", build.cpu("evaluate", model, corpus, first, 300)),
                ]:
                    found.setdefault(name, ([], []))[which].append(value)
        for name, (a, b) in found.items():
            print(row(f"K = {topics:,}: {name}", a, b), flush=True)


def scores(old: Build, new: Build, data: Path, seeds: int, number: int, held_out: int) -> None:
    print("| corpus | old | new | difference | paired differences |\n|---|---:|---:|---:|---|", flush=True)
    for name in ("imdb", "yelp", "pubmed"):
        pairs = []
        for seed in range(seeds):
            both = [build.train(data / name, 128, number, seed)[1] for build in (old, new)]
            pairs.append([b.score(model, data / name, held_out) for b, model in zip((old, new), both)])
        differences = [b - a for a, b in pairs]
        mean = statistics.mean(differences)
        error = statistics.stdev(differences) / len(differences) ** 0.5
        line = row(name, [a for a, _ in pairs], [b for _, b in pairs])
        print(f"{line} mean {mean:+.2f}, standard error {error:.2f} |", flush=True)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("old")
    parser.add_argument("new")
    parser.add_argument("--data", type=Path, required=True)
    parser.add_argument("--runs", type=int, default=5)
    parser.add_argument("--documents", type=int, default=10_000)
    parser.add_argument("--held-out", type=int, default=500)
    parser.add_argument("what", choices=["speed", "scores"])
    args = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        builds = []
        for name, program in [("old", args.old), ("new", args.new)]:
            (Path(folder) / name).mkdir()
            builds.append(Build(program, Path(folder) / name))
        if args.what == "speed":
            speed(*builds, args.data / "imdb", args.runs)
        else:
            scores(*builds, args.data, args.runs, args.documents, args.held_out)


if __name__ == "__main__":
    main()
