#!/usr/bin/env python3
"""Every method on the same documents: scores, CPU time and medians over seeds.

    cargo build --release
    bench/methods.py run --data ../shared/data --jobs 2      # resumable: finished cells are kept
    bench/methods.py table                                   # Markdown on standard output

Cells are appended to bench/methods.jsonl, numbers only. The synthetic corpus has 10 topics over 1,000 words and
documents of about 60 tokens (`gibbstream synth`); its true parameters are the floor of its scores.
"""
import argparse
import concurrent.futures
import json
import os
import statistics
import subprocess
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
PROGRAM = os.path.join(HERE, "..", "target", "release", "gibbstream")
RESULTS = os.path.join(HERE, "methods.jsonl")
METHODS = ["g-oem", "g-oem++", "v-oem", "v-oem++", "olda", "vargibbs", "svb", "splda", "sgs", "mh-oem"]
SEEDS = range(5)
# name: documents to train on, first held-out document, held-out documents, numbers of topics
CORPORA = {
    "synthetic": (20_000, 20_000, 500, [10]),
    "yelp": (20_000, 23_456, 300, [16, 128]),
    "imdb": (20_000, 93_464, 300, [16, 128]),
}


def program(*arguments):
    result = subprocess.run([PROGRAM, *map(str, arguments)], capture_output=True, text=True, check=False)
    if result.returncode:
        raise RuntimeError(f"{arguments}: {result.stderr}")
    return json.loads(result.stdout)


def finished():
    if not os.path.exists(RESULTS):
        return {}
    with open(RESULTS) as lines:
        cells = [json.loads(line) for line in lines]
    return {(cell["corpus"], cell["topics"], cell["method"], cell["seed"]): cell for cell in cells}


def run_cell(folder, corpus, topics, method, seed):
    documents, skip, held_out, _ = CORPORA[corpus]
    with tempfile.TemporaryDirectory() as scratch:
        model = os.path.join(scratch, "model.gbs")
        train = program("train", folder, "--topics", topics, "--method", method, "--limit-docs", documents,
                        "--total-docs", documents, "--batch", 100, "--sweeps", 20, "--seed", seed,
                        "--threads", 1, "--out", model, "--json")
        score = program("evaluate", model, folder, "--skip-docs", skip, "--limit-docs", held_out,
                        "--threads", 1, "--json")
    return {"corpus": corpus, "topics": topics, "method": method, "seed": seed, "documents": documents,
            "held_out": held_out, "log_perplexity_per_document": score["log_perplexity_per_document"],
            "unigram_log_perplexity_per_document": score["unigram_log_perplexity_per_document"],
            "train_cpu_seconds": train["train_cpu_seconds"],
            "token_sweeps_per_cpu_second": train["token_sweeps_per_cpu_second"]}


def run(options):
    done = finished()
    with tempfile.TemporaryDirectory() as scratch:
        synthetic = os.path.join(scratch, "synthetic")
        program("synth", "--topics", 10, "--vocab", 1000, "--docs", 20_500, "--length", 60, "--alpha", 0.1,
                "--seed", 1, "--out", synthetic, "--json")
        folders = {name: os.path.join(options.data, name) for name in CORPORA} | {"synthetic": synthetic}
        cells = [(corpus, topics, method, seed)
                 for seed in SEEDS for corpus in CORPORA for topics in CORPORA[corpus][3] for method in METHODS
                 if os.path.isdir(folders[corpus]) and (corpus, topics, method, seed) not in done]
        with concurrent.futures.ThreadPoolExecutor(options.jobs) as pool, open(RESULTS, "a") as results:
            futures = [pool.submit(run_cell, folders[cell[0]], *cell) for cell in cells]
            for future in concurrent.futures.as_completed(futures):
                results.write(json.dumps(future.result()) + "\n")
                results.flush()


def table(_):
    done = finished()
    columns = [(corpus, topics) for corpus in CORPORA for topics in CORPORA[corpus][3]]
    median = lambda key, corpus, topics, method: [
        cell[key] for (c, k, m, _), cell in done.items() if (c, k, m) == (corpus, topics, method)]
    print("| method |" + "".join(f" {corpus}, K = {topics} |" for corpus, topics in columns))
    print("|---|" + "---:|" * len(columns))
    for method in METHODS:
        row = [median("log_perplexity_per_document", *column, method) for column in columns]
        print(f"| `{method}` |" + "".join(f" {statistics.median(v):.1f} ({len(v)}) |" if v else " |" for v in row))
    row = [median("unigram_log_perplexity_per_document", *column, METHODS[0]) for column in columns]
    print("| word frequencies |" + "".join(f" {statistics.median(v):.1f} |" if v else " |" for v in row))
    print("\n| method |" + "".join(f" {corpus}, K = {topics} |" for corpus, topics in columns))
    print("|---|" + "---:|" * len(columns))
    for method in METHODS:
        row = [median("train_cpu_seconds", *column, method) for column in columns]
        print(f"| `{method}` |" + "".join(f" {statistics.median(v):.1f} |" if v else " |" for v in row))


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    commands = parser.add_subparsers(required=True)
    runner = commands.add_parser("run")
    runner.add_argument("--data", default=os.path.join(HERE, "..", "..", "shared", "data"))
    runner.add_argument("--jobs", type=int, default=1)
    runner.set_defaults(call=run)
    commands.add_parser("table").set_defaults(call=table)
    chosen = parser.parse_args()
    chosen.call(chosen)
