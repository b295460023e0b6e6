"""Corpora for the measurements: real ones in CSR, and one with a vocabulary of any size."""

import os
import subprocess
from pathlib import Path

import numpy as np
from scipy import sparse


def real(name, documents, held_out):
    """The first documents of a corpus, and its last ones, which are never trained on."""
    folder = Path(os.environ.get("GIBBSTREAM_DATA", "../shared/data")) / name
    text = subprocess.run(["zstd", "-dc", folder / "docword.txt.zst"], check=True, capture_output=True).stdout
    header = [int(line) for line in text[:100].split(b"\n")[:3]]
    entries = np.fromstring(text.split(b"\n", 3)[3], dtype=np.int64, sep=" ").reshape(-1, 3)
    counts = sparse.csr_matrix(
        (entries[:, 2].astype(np.int32), (entries[:, 0] - 1, entries[:, 1] - 1)), shape=(header[0], header[1])
    )
    return counts[:documents], counts[-held_out:]


def synthetic(documents, vocabulary, tokens=80, seed=0):
    """Documents of independent words, the r-th most frequent one with a probability in proportion to 1 / (r + 5)."""
    random = np.random.default_rng(seed)
    weights = 1 / (np.arange(vocabulary) + 5)
    words = random.choice(vocabulary, size=(documents, tokens), p=weights / weights.sum())
    rows = np.repeat(np.arange(documents), tokens)
    ones = np.ones(rows.size, dtype=np.int32)
    return sparse.csr_matrix((ones, (rows, words.reshape(-1))), shape=(documents, vocabulary))
