"""LDA of Spark MLlib (online optimiser) beside ours: same machine, documents, K; held-out score by our scorer.

    python bench/clusters/mllib.py --program mllib --executors 2
    python bench/clusters/mllib.py --program gibbstream --executors 2

Processor time is that of all processes below this one: driver, executors and Python workers.
"""

import argparse
import hashlib
import json
import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import numpy as np
from corpora import real
from processes import processor_seconds


def session_with(executors):
    os.environ["PYSPARK_PYTHON"] = sys.executable
    from pyspark.sql import SparkSession

    builder = SparkSession.builder.master(f"local-cluster[{executors},1,1536]")
    options = {"spark.ui.enabled": "false", "spark.driver.memory": "2g", "spark.executor.memory": "1280m"}
    for name, value in options.items():
        builder = builder.config(name, value)
    session = builder.getOrCreate()
    session.sparkContext.setLogLevel("OFF")
    return session


def frame_of(session, X):
    from pyspark.ml.linalg import SparseVector

    rows = [
        (row, SparseVector(X.shape[1], X[row].indices.tolist(), X[row].data.astype(float).tolist()))
        for row in range(X.shape[0])
    ]
    return session.createDataFrame(rows, ["id", "features"])


def mllib(frame, topics, iterations, fraction, seed):
    from pyspark.ml.clustering import LDA

    options = {"optimizer": "online", "maxIter": iterations, "subsamplingRate": fraction, "seed": seed}
    model = LDA(k=topics, optimizeDocConcentration=True, **options).fit(frame)
    beta = model.topicsMatrix().toArray().T
    return beta / beta.sum(axis=1, keepdims=True), np.array(model.estimatedDocConcentration().toArray())


def ours(frame, topics, batch, seed):
    import gibbstream.spark

    lda = gibbstream.spark.LDA(k=topics, seed=seed, batch=batch, orderCol="id").fit(frame).estimator
    return lda.topic_word_, lda.alpha_


def score(arguments, beta, alpha, documents):
    """By the example of the library that scores arrays of anybody."""
    with tempfile.TemporaryDirectory() as folder:
        for name, values in [("beta", beta), ("alpha", alpha)]:
            np.save(f"{folder}/{name}.npy", np.ascontiguousarray(values, dtype=np.float64))
        corpus = Path(os.environ.get("GIBBSTREAM_DATA", "../shared/data")) / arguments.corpus
        total = int(subprocess.run(["zstd", "-dc", corpus / "docword.txt.zst"], check=True, capture_output=True)
                    .stdout[:20].split()[0])
        command = [arguments.scorer, "--beta", f"{folder}/beta.npy", "--alpha", f"{folder}/alpha.npy"]
        command += ["--corpus", corpus, "--skip", str(total - arguments.held_out), "--limit", str(arguments.held_out)]
        command += ["--unigram-docs", str(documents)]
        return json.loads(subprocess.run(command, check=True, capture_output=True, text=True).stdout)


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--program", choices=["mllib", "gibbstream"], required=True)
    parser.add_argument("--corpus", default="imdb")
    parser.add_argument("--documents", type=int, default=20_000)
    parser.add_argument("--held-out", type=int, default=500)
    parser.add_argument("--topics", type=int, default=100)
    parser.add_argument("--executors", type=int, default=2)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--batch", default="100..5000", help="gibbstream's")
    parser.add_argument("--iterations", type=int, default=20, help="MLlib's maxIter")
    parser.add_argument("--fraction", type=float, default=0.05, help="MLlib's subsamplingRate")
    parser.add_argument("--scorer", default="target/ci/examples/score_arrays")
    arguments = parser.parse_args()
    X, _ = real(arguments.corpus, arguments.documents, arguments.held_out)
    session = session_with(arguments.executors)
    frame = frame_of(session, X).repartition(2 * arguments.executors).cache()
    frame.count()
    cpu, wall = processor_seconds(), time.perf_counter()
    if arguments.program == "mllib":
        beta, alpha = mllib(frame, arguments.topics, arguments.iterations, arguments.fraction, arguments.seed)
    else:
        beta, alpha = ours(frame, arguments.topics, arguments.batch, arguments.seed)
    cpu, wall = processor_seconds() - cpu, time.perf_counter() - wall
    session.stop()
    scored = score(arguments, beta, alpha, arguments.documents)
    result = {**vars(arguments), "cpu_seconds": round(cpu, 1), "wall_seconds": round(wall, 1)}
    result |= {name: scored[name] for name in sorted(scored) if isinstance(scored[name], float)}
    result["answer"] = hashlib.blake2b(np.ascontiguousarray(beta).tobytes(), digest_size=8).hexdigest()
    print(json.dumps(result), flush=True)


if __name__ == "__main__":
    main()
