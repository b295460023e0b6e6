"""The Python estimator beside those of scikit-learn and gensim: CPU seconds and held-out scores on the same CSR matrix.

    python bench/python_peers.py [--documents 20000] [--held-out 500] [--topics 100] [--seeds 2] [--only NAME]

Reads IMDb reviews from GIBBSTREAM_DATA. Every program runs alone in a process with one thread; CPU seconds are those of the
process during `fit` on the first documents and `transform` of the same. Topics and alpha of all are scored by one estimator
(sequential Monte Carlo, 20 particles; crates/gibbstream/examples/score_arrays.rs) on the last documents. Appends to
bench/python-peers.jsonl and prints a table.
"""

import argparse
import json
import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path

for name in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"):
    os.environ[name] = "1"

import numpy as np  # noqa: E402
from scipy import sparse  # noqa: E402

HERE = Path(__file__).resolve().parent
RESULTS = HERE / "python-peers.jsonl"
OURS = {
    "gibbstream": {},
    "gibbstream-10-sweeps": {"sweeps": 10},
    "gibbstream-5-passes": {"passes": 5, "sweeps": 5},
    "gibbstream-paper": {"paper": True},
}
PROGRAMS = [*OURS, "scikit-learn", "gensim"]


def corpus_folder():
    folder = Path(os.environ.get("GIBBSTREAM_DATA", HERE.parent.parent / "shared" / "data")) / "imdb"
    if not folder.is_dir():
        sys.exit(f"{folder}: not there; set GIBBSTREAM_DATA")
    return folder


def load(documents):
    """The first documents as CSR counts, and the number of all; read once, then kept as arrays."""
    kept = Path(tempfile.gettempdir()) / "gibbstream-bench-imdb.npz"
    if not kept.exists():
        raw = subprocess.run(["zstd", "-dc", corpus_folder() / "docword.txt.zst"], stdout=subprocess.PIPE, check=True).stdout
        values = np.array(raw.split(), dtype=np.int64)
        entries = values[3:].reshape(-1, 3)
        shape = (int(values[0]), int(values[1]))
        matrix = sparse.csr_matrix((entries[:, 2], (entries[:, 0] - 1, entries[:, 1] - 1)), shape=shape)
        sparse.save_npz(kept, matrix)
    matrix = sparse.load_npz(kept)
    return matrix[:documents], matrix.shape[0]


def trainer(name, topics, seed):
    """What learns from documents and returns topics, alpha, and what infers mixtures; importing is over by then."""
    if name == "scikit-learn":
        from sklearn.decomposition import LatentDirichletAllocation

        def train(documents):
            settings = {"learning_method": "online", "max_iter": 1, "random_state": seed, "n_jobs": 1}
            model = LatentDirichletAllocation(topics, **settings).fit(documents)
            return model.components_, np.full(topics, model.doc_topic_prior_), lambda: model.transform(documents)

    elif name == "gensim":
        from gensim.matutils import Sparse2Corpus
        from gensim.models import LdaModel

        def train(documents):
            bags = Sparse2Corpus(documents, documents_columns=False)
            words = {word: str(word) for word in range(documents.shape[1])}
            model = LdaModel(bags, num_topics=topics, id2word=words, random_state=seed, alpha="auto", eval_every=None)
            return model.get_topics().astype(np.float64), model.alpha, lambda: model.inference(list(bags))

    else:
        from gibbstream import LDA

        def train(documents):
            model = LDA(topics, random_state=seed, n_jobs=1, **OURS[name]).fit(documents)
            return model.components_, model.alpha_, lambda: model.transform(documents)

    return train


def measure(arguments):
    """One program in this process; prints one line of JSON."""
    documents, total = load(arguments.documents)
    train = trainer(arguments.measure, arguments.topics, arguments.seed)
    started = time.process_time()
    beta, alpha, transform = train(documents)
    fit = time.process_time() - started
    started = time.process_time()
    transform()
    transformed = time.process_time() - started
    beta = np.ascontiguousarray(beta / beta.sum(axis=1, keepdims=True), dtype=np.float64)
    with tempfile.TemporaryDirectory() as folder:
        paths = [Path(folder) / "beta.npy", Path(folder) / "alpha.npy"]
        np.save(paths[0], beta)
        np.save(paths[1], np.asarray(alpha, dtype=np.float64))
        scorer = [arguments.scorer, "--beta", paths[0], "--alpha", paths[1], "--corpus", corpus_folder()]
        held_out = ["--skip", str(total - arguments.held_out), "--limit", str(arguments.held_out)]
        counted = ["--unigram-docs", str(arguments.documents)]
        done = subprocess.run([*scorer, *held_out, *counted], stdout=subprocess.PIPE, check=True)
    score = json.loads(done.stdout)
    result = {
        "program": arguments.measure,
        "documents": arguments.documents,
        "topics": arguments.topics,
        "seed": arguments.seed,
        "fit_cpu_seconds": round(fit, 3),
        "transform_cpu_seconds": round(transformed, 3),
        "log_perplexity_per_document": score["log_perplexity_per_document"],
        "unigram_log_perplexity_per_document": score["unigram_log_perplexity_per_document"],
    }
    print(json.dumps(result))


def table(rows):
    """Means over seeds, relative to scikit-learn."""
    names = [name for name in PROGRAMS if any(row["program"] == name for row in rows)]

    def mean(name, field):
        return float(np.mean([row[field] for row in rows if row["program"] == name]))

    print("| program | score (nats per document) | fit, CPU s | transform, CPU s |\n|---|---:|---:|---:|")
    for name in names:
        fields = ("log_perplexity_per_document", "fit_cpu_seconds", "transform_cpu_seconds")
        score, fit, transform = (mean(name, field) for field in fields)
        print(f"| {name} | {score:.1f} | {fit:.2f} | {transform:.2f} |")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--documents", type=int, default=20_000)
    parser.add_argument("--held-out", type=int, default=500)
    parser.add_argument("--topics", type=int, default=100)
    parser.add_argument("--seeds", type=int, default=2)
    parser.add_argument("--only", action="append", choices=PROGRAMS)
    parser.add_argument("--measure", choices=PROGRAMS, help=argparse.SUPPRESS)
    parser.add_argument("--seed", type=int, default=0, help=argparse.SUPPRESS)
    parser.add_argument("--scorer", type=Path, help="the example score_arrays; built with cargo if not given")
    arguments = parser.parse_args()
    if arguments.measure:
        measure(arguments)
        return
    if arguments.scorer is None:
        cargo = ["cargo", "build", "--release", "--package", "gibbstream", "--example", "score_arrays"]
        subprocess.run(cargo, cwd=HERE.parent, check=True)
        arguments.scorer = HERE.parent / "target" / "release" / "examples" / "score_arrays"
    rows = []
    for seed in range(arguments.seeds):
        for name in arguments.only or PROGRAMS:
            own = ["--measure", name, "--seed", seed, "--documents", arguments.documents, "--topics", arguments.topics]
            rest = ["--held-out", arguments.held_out, "--scorer", arguments.scorer]
            command = [sys.executable, __file__, *map(str, own), *map(str, rest)]
            line = subprocess.run(command, stdout=subprocess.PIPE, check=True, text=True).stdout.splitlines()[-1]
            rows.append(json.loads(line))
            with RESULTS.open("a") as results:
                results.write(line + "\n")
            print(line, file=sys.stderr)
    table(rows)


if __name__ == "__main__":
    main()
