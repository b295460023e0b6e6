"""lda: collapsed Gibbs sampling of Griffiths and Steyvers in Cython; batch, alpha and eta are fixed."""

import logging

import lda
import numpy as np

VERSION = lda.__version__

SETTINGS = {
    # Its defaults, but fewer than 2,000 sweeps; the curve shows whether that is enough.
    "lda": dict(alpha=0.1, eta=0.01, sweeps=[10, 25, 50, 100, 200]),
}


def train(job):
    logging.getLogger("lda").setLevel(logging.WARNING)
    settings = job.settings
    model = lda.LDA(n_topics=job.topics, alpha=settings["alpha"], eta=settings["eta"], random_state=job.seed)
    random, rands = np.random.RandomState(job.seed), model._rands.copy()
    # The body of `LDA._fit`, cut at the sweeps where a snapshot is wanted, without the periodic likelihood.
    with job.clock:
        model._initialize(job.matrix)
    done = 0
    for sweeps in settings["sweeps"]:
        with job.clock:
            for _ in range(sweeps - done):
                random.shuffle(rands)
                model._sample_topics(rands)
        done = sweeps
        job.snapshot(
            sweeps=sweeps, documents=job.matrix.shape[0] * sweeps,
            beta=model.nzw_ + settings["eta"], alpha=np.full(job.topics, settings["alpha"]),
        )
