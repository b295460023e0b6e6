"""Scores at equal documents for minibatches that grow, and for parameters that are one update old.

    python bench/clusters/minibatches.py --corpus imdb --documents 10000 --held-out 200 --topics 64 --seeds 5
"""

import argparse
import itertools
import json
import time

import numpy as np
from corpora import real

from gibbstream import LDA, LocalRunner


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--corpus", default="imdb")
    parser.add_argument("--documents", type=int, default=20_000)
    parser.add_argument("--held-out", type=int, default=500)
    parser.add_argument("--topics", type=int, default=64)
    parser.add_argument("--seeds", type=int, default=5)
    parser.add_argument("--batch", nargs="+", default=["100", "100..5000"])
    parser.add_argument("--threads", type=int, default=1)
    arguments = parser.parse_args()
    X, held_out = real(arguments.corpus, arguments.documents, arguments.held_out)
    for batch, staleness in itertools.product(arguments.batch, (0, 1)):
        scores, updates, cpu = [], 0, time.process_time()
        for seed in range(arguments.seeds):
            sizes = int(batch) if batch.isdigit() else batch
            lda = LDA(arguments.topics, batch=sizes, random_state=seed, passes=1, n_jobs=arguments.threads)
            lda.fit(X, runner=LocalRunner(staleness=staleness, threads=arguments.threads))
            scores.append(lda.score(held_out))
            updates = lda.n_updates_
        row = {
            "corpus": arguments.corpus,
            "documents": arguments.documents,
            "topics": arguments.topics,
            "batch": batch,
            "staleness": staleness,
            "updates": updates,
            "log_likelihood_per_token": float(np.mean(scores)),
            "standard_error_over_seeds": float(np.std(scores, ddof=1) / np.sqrt(len(scores))),
            "each": scores,
            "cpu_seconds": time.process_time() - cpu,
        }
        print(json.dumps(row), flush=True)


if __name__ == "__main__":
    main()
