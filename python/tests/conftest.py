"""Small corpora with known topics, and the program to compare with."""

import os
import signal
from pathlib import Path

import numpy as np
import pytest
from scipy import sparse

ROOT = Path(__file__).resolve().parents[2]


def drawn(documents, *, topics=4, words_per_topic=12, length=40, seed=0):
    """Counts of documents that are mostly about one of some topics that share no words."""
    random = np.random.default_rng(seed)
    vocabulary = topics * words_per_topic
    rows = []
    for _ in range(documents):
        own = random.integers(topics)
        other = random.random(random.poisson(length)) < 0.1
        topic = np.where(other, random.integers(topics, size=len(other)), own)
        words = topic * words_per_topic + random.integers(words_per_topic, size=len(other))
        rows.append(np.bincount(words, minlength=vocabulary))
    return sparse.csr_matrix(np.stack(rows))


@pytest.fixture
def interrupts():
    """Ctrl-C as an interactive Python has it: whoever started the tests may ignore it, as nohup and cron do."""
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    signal.signal(signal.SIGINT, before)


@pytest.fixture(scope="session")
def counts():
    return drawn(600)


@pytest.fixture(scope="session")
def held_out():
    return drawn(60, seed=1)


@pytest.fixture(scope="session")
def program():
    """The program, if it was built; `make test` sees to it."""
    path = os.environ.get("GIBBSTREAM_PROGRAM")
    if not path:
        pytest.skip("NOTHING IS COMPARED WITH THE PROGRAM: name it in GIBBSTREAM_PROGRAM")
    return (ROOT / path).resolve()
