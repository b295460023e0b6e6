#!/usr/bin/env python3
"""Online variational Bayes by three programs with the same settings, scored by one scorer.

    python bench/peers/olda.py --corpus imdb --documents 10000 --topics 128 --held-out 300 --seeds 3

One pass, minibatches of 100, step (i + 10)^-0.7, both priors 1 / K, 20 iterations for every document; then the others
once more with their own rule to stop before (ours has none), and gensim and ours with alpha learnt by Newton steps. One
thread each, CPU seconds of training alone. Prints Markdown. Corpora and environment as for run.py.
"""

import argparse
import json
import os
import shutil
import statistics
import tempfile
from pathlib import Path

import run

SAME = ["--method", "olda", "--kappa", "0.7", "--offset", "10", "--batch", "100", "--sweeps", "20", "--threads", "1"]
OURS = {
    "gibbstream": ["--alpha", "fixed"],
    "gibbstream, alpha learnt": ["--alpha", "newton"],
}
PEERS = {
    "gensim": ("gensim_lda", "gensim-olda"),
    "gensim, may stop early": ("gensim_lda", "gensim-olda-stopping"),
    "gensim, alpha learnt": ("gensim_lda", "gensim-olda-learnt-alpha"),
    "scikit-learn": ("sklearn_lda", "scikit-learn-olda"),
    "scikit-learn, may stop early": ("sklearn_lda", "scikit-learn-olda-stopping"),
}


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--corpus", default="imdb", help="name of a folder in the data directory")
    parser.add_argument("--documents", type=int, default=10_000, help="the first N are trained on")
    parser.add_argument("--topics", type=int, default=128)
    parser.add_argument("--held-out", type=int, default=300, help="the last N are scored")
    parser.add_argument("--seeds", type=int, default=3)
    parser.add_argument("--data", type=Path, default=os.environ.get("GIBBSTREAM_DATA", run.ROOT.parent / "shared" / "data"))
    parser.add_argument("--gibbstream", type=Path, help="the program; built with cargo if not given")
    parser.add_argument("--scorer", type=Path, help="the example score_arrays; built with cargo if not given")
    arguments = parser.parse_args()
    run.prepare_environment()
    release = run.ROOT / "target" / "release"
    if not arguments.gibbstream:
        run.build("--bin", "gibbstream")
        arguments.gibbstream = release / "gibbstream"
    if not arguments.scorer:
        run.build("--package", "gibbstream", "--example", "score_arrays")
        arguments.scorer = release / "examples" / "score_arrays"
    data = Path(arguments.data).resolve() / arguments.corpus
    size = int(run.capture([run.PYTHON, "-c", f"import corpus; print(corpus.size({str(data)!r})[0])"]))
    print("| program | score, by seed | sum of alpha | CPU s | times ours |\n|---|---:|---:|---:|---:|")
    base = None
    for name in [*OURS, *PEERS]:
        train = ours if name in OURS else peer
        cells = [cell(*train(name, seed, arguments, data), arguments, data, size) for seed in range(arguments.seeds)]
        scores = ", ".join(f"{score:.1f}" for score, _, _ in cells)
        _, alpha, cpu = (statistics.median(values) for values in zip(*cells))
        base = base or cpu
        print(f"| {name} | {scores} | {alpha:.2f} | {cpu:.2f} | {cpu / base:.1f} |", flush=True)


def cell(snapshot, cpu, arguments, data, size):
    """Score, sum of alpha and CPU seconds of one run, whose files are then gone."""
    score = json.loads(run.capture([
        arguments.scorer, "--corpus", data, "--beta", snapshot / "beta.npy", "--alpha", snapshot / "alpha.npy",
        "--skip", size - arguments.held_out, "--limit", arguments.held_out,
    ]))["log_perplexity_per_document"]
    alpha = float(run.capture([run.PYTHON, "-c", f"import numpy; print(numpy.load({str(snapshot / 'alpha.npy')!r}).sum())"]))
    shutil.rmtree(snapshot.parent)
    return score, alpha, cpu


def ours(name, seed, arguments, data):
    folder = Path(tempfile.mkdtemp())
    report = json.loads(run.capture([
        arguments.gibbstream, "train", data, "--topics", arguments.topics, "--limit-docs", arguments.documents,
        "--total-docs", arguments.documents, "--seed", seed, *SAME, *OURS[name], "--json", "--out", folder / "m.gbs",
    ]))
    run.capture([arguments.gibbstream, "export", folder / "m.gbs", "--quiet", "--format", "npy", folder / "export"])
    return folder / "export", report["train_cpu_seconds"]


def peer(name, seed, arguments, data):
    folder = Path(tempfile.mkdtemp())
    module, settings = PEERS[name]
    lines = run.capture([
        run.PYTHON, run.HERE / "train.py", settings, "--module", module, "--data", data, "--documents", arguments.documents,
        "--topics", arguments.topics, "--seed", seed, "--folder", folder,
    ])
    last = json.loads([line for line in lines.splitlines() if line.startswith("{")][-1])
    return Path(last["snapshot"]), last["cpu_seconds"]


if __name__ == "__main__":
    main()
