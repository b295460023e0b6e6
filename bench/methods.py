#!/usr/bin/env python3
"""Every method on the same documents: scores, CPU time and medians over seeds.

    cargo build --release
    bench/methods.py run --data ../shared/data               # resumable: finished cells are kept
    bench/methods.py run --only g-oem --only olda            # some rows
    bench/methods.py table                                   # Markdown on standard output

Cells are appended to bench/methods.jsonl, numbers only. The synthetic corpus has 10 topics over 1,000 words and
documents of about 60 tokens (`gibbstream synth`); its true parameters are the floor of its scores. The long streams are
whole corpora, and one that is read seven times, which makes it about as long as the paper's.
"""
import argparse
import concurrent.futures
import json
import os
import statistics
import subprocess
import tempfile
from typing import NamedTuple

HERE = os.path.dirname(os.path.abspath(__file__))
PROGRAM = os.path.join(HERE, "..", "target", "release", "gibbstream")
RESULTS = os.path.join(HERE, "methods.jsonl")
SEEDS, VARIANT_SEEDS, LONG_SEEDS = range(5), range(3), range(1)


class Corpus(NamedTuple):
    folder: str
    documents: int
    first_held_out: int
    held_out: int
    topics: list
    passes: int = 1


CORPORA = {
    "synthetic": Corpus("synthetic", 20_000, 20_000, 500, [10]),
    "yelp": Corpus("yelp", 20_000, 23_456, 300, [16, 128]),
    "imdb": Corpus("imdb", 20_000, 93_464, 300, [16, 128]),
}
LONG_STREAMS = {
    "all imdb": Corpus("imdb", 93_464, 93_464, 300, [8, 128]),
    "all pubmed": Corpus("pubmed", 216_855, 216_855, 300, [8, 128]),
    "all wikipedia": Corpus("wikipedia", 175_000, 175_000, 300, [8, 128]),
    "seven times imdb": Corpus("imdb", 93_464, 93_464, 300, [8, 128], passes=7),
}
FEW = ["synthetic 10", "yelp 16", "imdb 16"]
ALL = [f"{name} {topics}" for name, corpus in CORPORA.items() for topics in corpus.topics]
LONG = [f"{name} {topics}" for name, corpus in LONG_STREAMS.items() for topics in corpus.topics]
# A row is a method with the flags that change it: where it runs. The first ones are the methods as they are.
METHODS = dict.fromkeys(
    ["g-oem", "g-oem++", "v-oem", "v-oem++", "olda", "vargibbs", "svb", "splda", "sgs", "mh-oem"], ALL
) | {
    "lds": FEW,  # 200 sweeps, and a normal draw for every word of every topic at every update
    "batch-vem": FEW[:1], "batch-gibbs": FEW[:1], "mcem": FEW[:1],  # twenty passes over all documents
}
# What explains the differences: smaller first steps, a learnt or a fixed alpha, other statistics.
VARIANTS = {
    "g-oem --offset 10": ALL, "olda --offset 10": ALL, "vargibbs --offset 10": ALL,
    "olda --offset 10 --alpha fixed": ALL,
    "vargibbs --offset 10 --alpha fixed-point": ALL,
    "vargibbs --offset 10 --alpha fixed-point --statistic rb": ALL,
    "g-oem --offset 10 --statistic counts": ALL,
    "g-oem --kappa 0.7 --offset 20": ALL, "g-oem++ --kappa 0.7 --offset 20": ALL,
    "v-oem --kappa 0.7 --offset 20": ALL, "v-oem++ --kappa 0.7 --offset 20": ALL,
}
ROWS = METHODS | VARIANTS
# Which differences from the paper go away when streams are as long as its own.
ON_LONG_STREAMS = dict.fromkeys(["g-oem", "olda", "vargibbs", "svb", "sgs"], LONG) | dict.fromkeys(
    ["splda", "v-oem", "v-oem++", "g-oem++"], LONG[:4]  # up to a second for a hundred documents
) | {"vargibbs --alpha fixed-point": LONG[:2] + LONG[-2:]}


def program(path, *arguments):
    result = subprocess.run([path, *map(str, arguments)], capture_output=True, text=True, check=False)
    if result.returncode:
        raise RuntimeError(f"{arguments}: {result.stderr}")
    return json.loads(result.stdout)


def finished():
    if not os.path.exists(RESULTS):
        return {}
    with open(RESULTS) as lines:
        cells = [json.loads(line) for line in lines]
    return {(cell["corpus"], cell["topics"], cell["method"], cell["seed"]): cell for cell in cells}


def run_cell(path, folder, corpus, topics, row, seed):
    _, documents, skip, held_out, _, passes = (CORPORA | LONG_STREAMS)[corpus]
    method, *flags = row.split()
    with tempfile.TemporaryDirectory() as scratch:
        model = os.path.join(scratch, "model.gbs")
        train = program(path, "train", folder, "--topics", topics, "--paper", "--method", method, "--limit-docs", documents,
                        "--total-docs", documents * passes, "--passes", passes, "--batch", 100, "--seed", seed, "--threads", 1,
                        "--out", model, "--json", *flags)
        score = program(path, "evaluate", model, folder, "--skip-docs", skip, "--limit-docs", held_out,
                        "--threads", 1, "--json")
    return {"corpus": corpus, "topics": topics, "method": row, "seed": seed, "documents": documents,
            "held_out": held_out, "log_perplexity_per_document": score["log_perplexity_per_document"],
            "unigram_log_perplexity_per_document": score["unigram_log_perplexity_per_document"],
            "train_cpu_seconds": train["train_cpu_seconds"],
            "token_sweeps_per_cpu_second": train["token_sweeps_per_cpu_second"],
            "alpha_sum": train["alpha_sum"]}


def run(options):
    done = finished()
    with tempfile.TemporaryDirectory() as scratch:
        synthetic = os.path.join(scratch, "synthetic")
        program(options.program, "synth", "--topics", 10, "--vocab", 1000, "--docs", 20_500, "--length", 60,
                "--alpha", 0.1, "--seed", 1, "--out", synthetic, "--json")
        corpora = CORPORA | LONG_STREAMS
        folders = {name: os.path.join(options.data, corpus.folder) for name, corpus in corpora.items()}
        folders["synthetic"] = synthetic
        cells = [(corpus, topics, row, seed)
                 for rows, seeds in ((METHODS, SEEDS), (VARIANTS, VARIANT_SEEDS), (ON_LONG_STREAMS, LONG_SEEDS))
                 for seed in seeds[:options.seeds] for corpus in corpora for topics in corpora[corpus].topics for row in rows
                 if f"{corpus} {topics}" in rows[row] and (not options.only or row in options.only)
                 and (not options.on or corpus in options.on)
                 and os.path.isdir(folders[corpus]) and (corpus, topics, row, seed) not in done]
        with concurrent.futures.ThreadPoolExecutor(options.jobs) as pool, open(RESULTS, "a") as results:
            futures = [pool.submit(run_cell, options.program, folders[cell[0]], *cell) for cell in cells]
            for future in concurrent.futures.as_completed(futures):
                results.write(json.dumps(future.result()) + "\n")
                results.flush()


def spread(values, digits):
    """Median, with the smallest and the largest of several."""
    if not values:
        return ""
    low, middle, high = (f"{pick(values):.{digits}f}" for pick in (min, statistics.median, max))
    return middle if low == high else f"{middle} ({low}–{high})"


def table(_):
    done = finished()
    columns = [(name, topics) for name, corpus in CORPORA.items() for topics in corpus.topics]
    long_columns = [(name, topics) for name, corpus in LONG_STREAMS.items() for topics in corpus.topics]

    def values(key, column, row):
        return [cell[key] for (*place, name, _), cell in done.items() if (tuple(place), name) == (column, row)]

    def write(title, rows, key, unit=1.0, digits=1, summary=spread, columns=columns):
        print(f"\n{title}\n\n| method |" + "".join(f" {corpus}, K = {topics} |" for corpus, topics in columns))
        print("|---|" + "---:|" * len(columns))
        for row in rows:
            cells = [summary([value / unit for value in values(key, column, row)], digits) for column in columns]
            print(f"| `{row}` |" + "".join(f" {cell} |" for cell in cells))

    def median(found, digits):
        return f"{statistics.median(found):.{digits}f}" if found else ""

    def write_unigram(columns):
        unigram = [median(values("unigram_log_perplexity_per_document", c, "g-oem"), 1) for c in columns]
        print("| word frequencies |" + "".join(f" {cell} |" for cell in unigram))

    for rows, name in [(METHODS, "methods"), (VARIANTS, "variants")]:
        write(f"Score, {name}: median (smallest–largest)", rows, "log_perplexity_per_document")
        if rows is METHODS:
            write_unigram(columns)
        write(f"Training, CPU seconds, {name}: median", rows, "train_cpu_seconds", summary=median)
    write("Million token-sweeps per CPU second: median", METHODS, "token_sweeps_per_cpu_second", 1e6, summary=median)
    write("Sum of alpha: median", ROWS, "alpha_sum", summary=median)
    write("Score, long streams", ON_LONG_STREAMS, "log_perplexity_per_document", columns=long_columns)
    write_unigram(long_columns)
    write("Training, CPU seconds, long streams", ON_LONG_STREAMS, "train_cpu_seconds", columns=long_columns)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    commands = parser.add_subparsers(required=True)
    runner = commands.add_parser("run")
    runner.add_argument("--data", default=os.path.join(HERE, "..", "..", "shared", "data"))
    runner.add_argument("--program", default=PROGRAM, help="the program to measure")
    runner.add_argument("--only", action="append", metavar="ROW", help="only this row; may be repeated")
    runner.add_argument("--on", action="append", metavar="CORPUS", help="only this corpus; may be repeated")
    runner.add_argument("--seeds", type=int, default=len(SEEDS), help="at most so many")
    runner.add_argument("--jobs", type=int, default=1)
    runner.set_defaults(call=run)
    commands.add_parser("table").set_defaults(call=table)
    chosen = parser.parse_args()
    chosen.call(chosen)
