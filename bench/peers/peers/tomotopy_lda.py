"""tomotopy: LDAModel, batch collapsed Gibbs sampling in C++; alpha is learnt, eta is fixed."""

import numpy as np
import tomotopy

from corpus import tokens

VERSION = tomotopy.__version__

COMMON = dict(alpha=0.1, optim_interval=10, burn_in=0, workers=1, sweeps=[10, 25, 50, 100, 200, 400, 800])
SETTINGS = {
    "tomotopy": dict(COMMON, eta=0.01),
    "tomotopy-eta-0.1": dict(COMMON, eta=0.1),
    "tomotopy-200-sweeps": dict(COMMON, eta=0.01, sweeps=[200]),
}


def train(job):
    settings = job.settings
    model = tomotopy.LDAModel(k=job.topics, alpha=settings["alpha"], eta=settings["eta"], seed=job.seed)
    model.optim_interval, model.burn_in = settings["optim_interval"], settings["burn_in"]
    for row in job.matrix:
        model.add_doc([str(word) for word in tokens(row)])
    done = 0
    for sweeps in settings["sweeps"]:
        with job.clock:
            model.train(sweeps - done, workers=settings["workers"])
        done = sweeps
        job.snapshot(sweeps=sweeps, documents=job.matrix.shape[0] * sweeps, beta=topics(model, job), alpha=model.alpha)


def topics(model, job):
    """Topics over the whole vocabulary: words that do not occur in the training documents have the prior alone."""
    eta, sizes = job.settings["eta"], np.asarray(model.get_count_by_topics(), dtype=np.float64)
    known = np.array([int(word) for word in model.used_vocabs])
    full = np.full((job.topics, job.matrix.shape[1]), eta)
    for topic in range(job.topics):
        shares = np.asarray(model.get_topic_word_dist(topic), dtype=np.float64)
        full[topic, known] = shares * (sizes[topic] + eta * len(known))
    return full
