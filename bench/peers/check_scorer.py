"""Checks the scorer that everybody is measured with against a separate implementation, and both against exact sums.

    python check_scorer.py --scorer PATH [--data FOLDER --beta beta.npy --alpha alpha.npy --skip N --limit 5]

1. Documents of up to 6 tokens under 3 random topics: log p(X) by adding up all assignments.
2. With --data: real documents under real topics, where the two can only be compared with each other. Estimates are
   random; each is repeated with several seeds and the means have to agree within 4 standard errors.
"""

import argparse
import json
import subprocess
import sys
import tempfile
from pathlib import Path

import numpy as np

import corpus
from sequential import exact_log_likelihood, log_likelihood


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--scorer", type=Path, required=True)
    parser.add_argument("--data", type=Path)
    parser.add_argument("--beta", type=Path)
    parser.add_argument("--alpha", type=Path)
    parser.add_argument("--skip", type=int, default=0)
    parser.add_argument("--limit", type=int, default=5)
    parser.add_argument("--repeats", type=int, default=8)
    parser.add_argument("--out", type=Path, help="append the result to this file of JSON lines")
    arguments = parser.parse_args()
    rows = exact(arguments.scorer)
    if arguments.data:
        rows += real(arguments)
    failed = False
    for row in rows:
        row["agrees"] = bool(abs(row["ours"] - row["reference"]) <= 4 * row["error"] + 1e-9)
        failed |= not row["agrees"]
        print("{check:6} {tokens:5} tokens  ours {ours:10.4f}  reference {reference:10.4f}  allowed {0:.4f}  {1}".format(
            4 * row["error"], "ok" if row["agrees"] else "DIFFERENT", **row))
    if arguments.out:
        with open(arguments.out, "w") as file:
            file.writelines(json.dumps(row) + "\n" for row in rows)
    sys.exit(1 if failed else 0)


def exact(scorer):
    """Both implementations on documents so small that p(X) can be written down."""
    random = np.random.default_rng(1)
    beta, alpha = random.dirichlet([0.3] * 6, size=3), np.array([0.2, 0.5, 0.1])
    documents = [random.integers(0, 6, size=n) for n in (1, 2, 4, 6, 6)]
    rows = []
    with tempfile.TemporaryDirectory(dir=Path(__file__).parent) as folder:
        folder = Path(folder)
        counts = [sorted(zip(*np.unique(words, return_counts=True))) for words in documents]
        lines = [f"{d + 1} {w + 1} {c}" for d, bag in enumerate(counts) for w, c in bag]
        (folder / "docword.txt").write_text(f"{len(documents)}\n6\n{len(lines)}\n" + "\n".join(lines) + "\n")
        (folder / "vocab.txt").write_text("".join(f"word{w}\n" for w in range(6)))
        np.save(folder / "beta.npy", beta)
        np.save(folder / "alpha.npy", alpha)
        ours = seeds(scorer, folder, folder / "beta.npy", folder / "alpha.npy", 0, len(documents), 16, 2000)
    for d, words in enumerate(documents):
        truth = exact_log_likelihood(words, beta, alpha)
        python = [log_likelihood(words, beta, alpha, 2000, random) for _ in range(16)]
        for check, estimates in (("exact", ours[:, d]), ("python", python)):
            error = np.std(estimates, ddof=1) / np.sqrt(len(estimates))
            rows.append(dict(check=check, tokens=len(words), ours=float(np.mean(estimates)), reference=float(truth), error=float(error)))
    return rows


def real(arguments):
    random = np.random.default_rng(2)
    beta, alpha = np.load(arguments.beta), np.load(arguments.alpha)
    ours = seeds(
        arguments.scorer, arguments.data, arguments.beta, arguments.alpha, arguments.skip, arguments.limit,
        arguments.repeats, 20,
    )
    rows = []
    for d, row in enumerate(corpus.load(arguments.data, arguments.skip, arguments.limit)):
        words = corpus.tokens(row)
        theirs = [log_likelihood(words, beta, alpha, 20, random) for _ in range(arguments.repeats)]
        error = np.sqrt((np.var(ours[:, d], ddof=1) + np.var(theirs, ddof=1)) / arguments.repeats)
        rows.append(dict(check="real", tokens=len(words), ours=float(ours[:, d].mean()), reference=float(np.mean(theirs)), error=float(error)))
    return rows


def seeds(scorer, data, beta, alpha, skip, limit, repeats, particles):
    """log p(X) by our scorer: one row per seed, one column per document."""
    rows = []
    for seed in range(repeats):
        command = [scorer, "--corpus", data, "--beta", beta, "--alpha", alpha, "--skip", skip, "--limit", limit]
        command += ["--particles", particles, "--seed", seed, "--each"]
        rows.append(json.loads(subprocess.check_output([str(word) for word in command]))["log_likelihoods"])
    return np.array(rows)


if __name__ == "__main__":
    main()
