"""Fits alpha to topics that are given, on documents that are neither trained on nor scored.

Programs that keep alpha fixed would otherwise be charged for their alpha when only their topics are in question. Monte
Carlo EM: Gibbs sampling of the topics of all tokens, all documents side by side, then Minka's fixed point for alpha.

    python refit.py --data FOLDER --skip N --limit 500 --snapshot FOLDER     (reads beta.npy, alpha.npy; writes refit.npy)
"""

import argparse
from pathlib import Path

import numpy as np
from scipy.special import digamma

import corpus

LONGEST = 400  # longer documents are represented by this many of their tokens, drawn at random


def fit(matrix, beta, alpha, random, rounds=25, sweeps=3):
    """The alpha that makes the sampled topics of the documents most probable."""
    documents = [corpus.tokens(row) for row in matrix]
    documents = sorted((random.permutation(words)[:LONGEST] for words in documents if len(words)), key=len, reverse=True)
    lengths = np.array([len(words) for words in documents])
    by_word, alpha = np.ascontiguousarray(beta.T), alpha.copy()
    counts = np.zeros((len(documents), len(alpha)))
    words = np.zeros((len(documents), lengths[0]), dtype=int)
    for row, document in zip(words, documents):
        row[: len(document)] = document
    topics = np.full_like(words, -1)
    kept = []
    for turn in range(rounds):
        samples = []
        for _ in range(sweeps):
            for n in range(lengths[0]):
                active = np.arange(np.searchsorted(-lengths, -n))  # documents with more than n tokens
                if topics[0, n] >= 0:
                    counts[active, topics[active, n]] -= 1
                sums = ((counts[: len(active)] + alpha) * by_word[words[active, n]]).cumsum(axis=1)
                topics[active, n] = (sums < random.random((len(active), 1)) * sums[:, -1:]).sum(axis=1)
                counts[active, topics[active, n]] += 1
            samples.append(counts.copy())
        stacked, length = np.concatenate(samples), np.tile(lengths, sweeps)
        for _ in range(20):
            upper = (digamma(stacked + alpha) - digamma(alpha)).sum(axis=0)
            alpha = np.maximum(alpha * upper / (digamma(length + alpha.sum()) - digamma(alpha.sum())).sum(), 1e-5)
        if turn >= rounds - 10:
            kept.append(alpha)
    return np.mean(kept, axis=0)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--data", type=Path, required=True)
    parser.add_argument("--skip", type=int, required=True)
    parser.add_argument("--limit", type=int, required=True)
    parser.add_argument("--snapshot", type=Path, required=True)
    arguments = parser.parse_args()
    matrix = corpus.load(arguments.data, arguments.skip, arguments.limit)
    beta, alpha = np.load(arguments.snapshot / "beta.npy"), np.load(arguments.snapshot / "alpha.npy")
    np.save(arguments.snapshot / "refit.npy", fit(matrix, beta, alpha, np.random.default_rng(0)))


if __name__ == "__main__":
    main()
