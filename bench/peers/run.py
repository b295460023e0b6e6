#!/usr/bin/env python3
"""Compares gibbstream with the programs that people use today: same documents, same topics, one scorer.

    python bench/peers/run.py --corpus imdb --documents 20000 --topics 128 --held-out 500

Trains on the first documents of a UCI corpus, scores on the last, appends one JSON line per point of each curve to
results/, and goes on where it stopped: finished programs are skipped. Corpora are looked for in --data, else
$GIBBSTREAM_DATA, else ../shared/data beside the repository. Nothing is written outside of this folder, except that
cargo builds into target/. The Python environment is made on first use from requirements.txt.
"""

import argparse
import json
import os
import platform
import resource
import shutil
import subprocess
import sys
import time
from pathlib import Path

HERE = Path(__file__).resolve().parent
ROOT = HERE.parent.parent
PYTHON = HERE / ".venv" / "bin" / "python"
VALIDATION = 500  # documents before the held-out ones, to which alpha is fitted anew
FRACTIONS = [0.1, 0.25, 0.5, 1.0]

# Ours: arguments, and the points of the curve as passes over the documents (parts of one, or several).
OURS = {
    "gibbstream": ([], FRACTIONS),
    "gibbstream-10-sweeps": (["--sweeps", "10"], FRACTIONS),
    "gibbstream-paper": (["--paper"], FRACTIONS),
    # For documents that can be read again.
    "gibbstream-5-sweeps": (["--sweeps", "5"], [0.25, 0.5, 1, 2, 3, 5, 10, 20]),
}
# The others, in the order of running: name -> module.
PEERS = {
    "tomotopy": "tomotopy_lda",
    "gensim": "gensim_lda",
    "scikit-learn": "sklearn_lda",
    "vowpal-wabbit": "vowpal_wabbit",
    "lda": "griffiths_steyvers",
    "gensim-small-chunks": "gensim_lda",
    "tomotopy-eta-0.1": "tomotopy_lda",
    "vowpal-wabbit-tuned": "vowpal_wabbit",
    "gensim-multicore": "gensim_multicore",
}
# Only when asked for by name: the mark that bench/defaults.py sets its settings against.
ON_DEMAND = {"tomotopy-200-sweeps": "tomotopy_lda"}
KNOWN = {**OURS, **PEERS, **ON_DEMAND}

# One thread for everybody.
ENVIRONMENT = dict(
    os.environ, OMP_NUM_THREADS="1", OPENBLAS_NUM_THREADS="1", MKL_NUM_THREADS="1", PYTHONHASHSEED="0",
    PYTHONPATH=str(HERE),
)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--corpus", default="imdb", help="name of a folder in the data directory")
    parser.add_argument("--documents", type=int, default=20_000, help="the first N are trained on")
    parser.add_argument("--topics", type=int, default=128)
    parser.add_argument("--held-out", type=int, default=500, help="the last N are scored")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--only", action="append", metavar="NAME", help=f"one of {', '.join(KNOWN)}; may be repeated")
    parser.add_argument("--data", type=Path, default=os.environ.get("GIBBSTREAM_DATA", ROOT.parent / "shared" / "data"))
    parser.add_argument("--gibbstream", type=Path, help="the program; built with cargo if not given")
    parser.add_argument("--scorer", type=Path, help="the example score_arrays; built with cargo if not given")
    parser.add_argument("--results", type=Path, default=HERE / "results")
    parser.add_argument("--keep", action="store_true", help="keep topics of all snapshots under .work/")
    arguments = parser.parse_args()
    names = arguments.only or [*OURS, *PEERS]
    unknown = [name for name in names if name not in KNOWN]
    if unknown:
        parser.error(f"there is no {', '.join(unknown)}; there are {', '.join(KNOWN)}")
    if not (Path(arguments.data) / arguments.corpus).is_dir():
        parser.error(f"there is no corpus {Path(arguments.data) / arguments.corpus}; name the directory with --data")
    if os.nice(0) < 5:
        os.nice(5)
    prepare_environment()
    run = Run(arguments)
    failed = [name for name in names if not run.cell(name)]
    if failed:
        sys.exit(f"failed: {', '.join(failed)}")


def prepare_environment():
    """Makes the virtual environment, once."""
    if PYTHON.exists():
        return
    say("making the Python environment (once)")
    subprocess.run([sys.executable, "-m", "venv", str(HERE / ".venv")], check=True)
    subprocess.run([PYTHON, "-m", "pip", "install", "--quiet", "-r", str(HERE / "requirements.txt")], check=True)


def build(*what):
    subprocess.run(["cargo", "build", "--release", "--quiet", *what], cwd=ROOT, check=True)


class Run:
    """All programs on one corpus with one number of topics."""

    def __init__(self, arguments):
        self.arguments = arguments
        self.data = Path(arguments.data).resolve() / arguments.corpus
        self.size = json.loads(self.python("-c", f"import corpus, json; print(json.dumps([int(n) for n in corpus.size({str(self.data)!r})]))"))
        last_trained = self.size[0] - arguments.held_out - VALIDATION
        if arguments.documents > last_trained:
            sys.exit(f"{arguments.corpus} has {self.size[0]} documents: train on at most {last_trained}")
        name = f"{arguments.corpus}-{arguments.documents}-{arguments.topics}-{arguments.held_out}"
        if arguments.seed:
            name += f"-seed{arguments.seed}"
        self.results = arguments.results / f"{name}.jsonl"
        self.work = HERE / ".work" / name
        self.scorer, self.program = arguments.scorer, arguments.gibbstream
        if not self.scorer:
            build("--package", "gibbstream", "--example", "score_arrays")
            self.scorer = ROOT / "target" / "release" / "examples" / "score_arrays"

    def cell(self, name):
        """Trains, scores and writes down one program; true if it is done."""
        if self.finished(name):
            say(f"{name}: done before")
            return True
        folder = self.work / name
        shutil.rmtree(folder, ignore_errors=True)
        folder.mkdir(parents=True)
        started = time.time()
        try:
            about, points = self.ours(name, folder) if name in OURS else self.peer(name, folder)
            rows = [self.score(name, about, point, index == len(points) - 1) for index, point in enumerate(points)]
        except (subprocess.CalledProcessError, OSError, ValueError, KeyError) as error:
            say(f"{name}: failed: {error}")
            return False
        self.results.parent.mkdir(exist_ok=True)
        with open(self.results, "a") as file:
            file.writelines(json.dumps(row) + "\n" for row in rows)
        if not self.arguments.keep:
            shutil.rmtree(folder)
        last = rows[-1]
        say(f"{name}: {last['log_perplexity_per_document']:.2f} nats after {last['cpu_seconds']:.1f} CPU s "
            f"(alpha fitted anew: {last['refitted_log_perplexity_per_document']:.2f}; took {time.time() - started:.0f} s)")
        return True

    def finished(self, name):
        if not self.results.exists():
            return False
        rows = [json.loads(line) for line in self.results.read_text().splitlines()]
        return any(row["program"] == name and row["last"] for row in rows)

    def peer(self, name, folder):
        """Runs another program; it reports its snapshots as JSON lines."""
        arguments = self.arguments
        words = [HERE / "train.py", name, "--module", KNOWN[name], "--data", self.data, "--documents", arguments.documents]
        words += ["--topics", arguments.topics, "--seed", arguments.seed, "--folder", folder]
        about, *points = [json.loads(line) for line in self.python(*words).splitlines() if line.startswith("{")]
        say(f"{name} {about['version']}: {json.dumps(about['settings'])}")
        return about, points

    def ours(self, name, folder):
        """Runs gibbstream once for every point of the curve."""
        if not self.program:
            build("--bin", "gibbstream")
            self.program = ROOT / "target" / "release" / "gibbstream"
        arguments, points, (flags, passes) = self.arguments, [], OURS[name]
        for index, part in enumerate(passes):
            documents = round(min(part, 1) * arguments.documents)
            model, export = folder / "model.gbs", folder / f"snapshot-{index}"
            command = [self.program, "train", self.data, "--topics", arguments.topics, "--limit-docs", documents]
            command += [*flags, "--passes", max(part, 1)] if part > 1 else flags
            command += ["--seed", arguments.seed, "--threads", 1, "--json", "--out", model]
            before, wall = children(), time.perf_counter()
            report = json.loads(capture(command))
            process_cpu, process_wall = children() - before, time.perf_counter() - wall
            capture([self.program, "export", model, "--quiet", "--format", "npy", export])
            points.append(dict(
                documents=round(part * arguments.documents), cpu_seconds=report["train_cpu_seconds"], wall_seconds=report["train_seconds"],
                process_cpu_seconds=process_cpu, process_wall_seconds=process_wall, peak_rss_mib=report["peak_rss_mib"],
                alpha_sum=report["alpha_sum"], load_average=os.getloadavg()[0], snapshot=str(export),
            ))
            about = {"version": capture([self.program, "--version"]).split()[-1],
                     "settings": dict(method=report["method"], arguments=" ".join(flags), passes=passes)}
        say(f"{name} {about['version']}: {json.dumps(about['settings'])}")
        return about, points

    def score(self, name, about, point, last):
        """One line of results."""
        snapshot = Path(point.pop("snapshot"))
        arguments = self.arguments
        row = dict(
            program=name, version=about["version"], settings=about["settings"], corpus=arguments.corpus,
            train_documents=arguments.documents, topics=arguments.topics, held_out=arguments.held_out,
            seed=arguments.seed, machine=machine(), last=last, **rounded(point),
        )
        score = self.scored(snapshot, "alpha.npy")
        for field in ("estimator", "particles", "log_perplexity_per_document", "standard_error", "tokens", "unigram_log_perplexity_per_document"):
            row["held_out_tokens" if field == "tokens" else field] = score[field]
        if last:
            # Differences between programs are far more certain than the scores, because the documents are the same.
            row["log_likelihoods"] = [round(value, 2) for value in score["log_likelihoods"]]
            self.python(HERE / "refit.py", "--data", self.data, "--skip", self.size[0] - arguments.held_out - VALIDATION,
                        "--limit", VALIDATION, "--snapshot", snapshot)
            row["refitted_log_perplexity_per_document"] = self.scored(snapshot, "refit.npy")["log_perplexity_per_document"]
        return row

    def scored(self, snapshot, alpha):
        arguments = self.arguments
        return json.loads(capture([
            self.scorer, "--corpus", self.data, "--beta", snapshot / "beta.npy", "--alpha", snapshot / alpha,
            "--skip", self.size[0] - arguments.held_out, "--limit", arguments.held_out,
            "--unigram-docs", arguments.documents, "--each",
        ]))

    def python(self, *words):
        return capture([PYTHON, *words])


def capture(command):
    return subprocess.run([str(word) for word in command], check=True, stdout=subprocess.PIPE, text=True, env=ENVIRONMENT).stdout


def children():
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def rounded(point):
    return {name: round(value, 4) if isinstance(value, float) else value for name, value in point.items()}


def machine():
    """The processor, for the reader of the numbers."""
    try:
        lines = Path("/proc/cpuinfo").read_text().splitlines()
        model = next(line.split(":", 1)[1].strip() for line in lines if line.startswith("model name"))
    except (OSError, StopIteration):
        model = platform.processor() or platform.machine()
    return f"{model}, {os.cpu_count()} cores"


def say(message):
    print(message, file=sys.stderr, flush=True)


if __name__ == "__main__":
    main()
