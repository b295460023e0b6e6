"""Vowpal Wabbit: `--lda`, online variational Bayes in C++; alpha and rho (the prior of topics) are fixed.

One run for every point of the curve, because the topics can be read only at the end of a run. Its parser reads text, in
a thread of its own, and that is part of the CPU seconds: it cannot be separated.
"""

import numpy as np
import vowpalwabbit

VERSION = vowpalwabbit.__version__

COMMON = dict(lda_alpha=0.1, lda_rho=0.1, minibatch=256, power_t=0.5, initial_t=1.0)
SETTINGS = {
    # The settings of the tutorial of its author.
    "vowpal-wabbit": dict(COMMON, passes=2),
    # Sparser priors and smaller steps between updates, as ours.
    "vowpal-wabbit-tuned": dict(COMMON, lda_alpha="1/K", lda_rho=0.02, minibatch=128, initial_t=10.0, passes=2),
}


def train(job):
    settings = dict(job.settings)
    passes, words = settings.pop("passes"), job.matrix.shape[1]
    if settings["lda_alpha"] == "1/K":
        settings["lda_alpha"] = 1 / job.topics
    bits = int(np.ceil(np.log2(words)))
    total = job.matrix.shape[0]
    data, model = job.folder / "documents.vw", job.folder / "topics.txt"
    points = job.document_points(1) + [total * p for p in range(2, passes + 1)]
    for point in points:
        write(data, job.matrix[: min(point, total)])
        (job.folder / "documents.vw.cache").unlink(missing_ok=True)
        arguments = [f"--lda={job.topics}", f"--lda_D={total}", f"--bit_precision={bits}", "--noconstant", "--holdout_off", f"--random_seed={job.seed}"]
        arguments += [f"--{name}={value}" for name, value in settings.items()]
        arguments += ["-d", str(data), "--quiet", "--readable_model", str(model)]
        if point > total:
            arguments += [f"--passes={point // total}", "--cache_file", str(data) + ".cache", "-k"]
        job.clock.reset()
        with job.clock:
            vowpalwabbit.Workspace(arg_list=arguments).finish()
        job.snapshot(
            documents=point, beta=read(model, words, job.topics) + settings["lda_rho"],
            alpha=np.full(job.topics, settings["lda_alpha"]),
        )


def write(path, matrix):
    with open(path, "w") as file:
        for a, b in zip(matrix.indptr, matrix.indptr[1:]):
            pairs = zip(matrix.indices[a:b], matrix.data[a:b])
            file.write("| " + " ".join(f"{word}:{count}" for word, count in pairs) + "\n")


def read(path, words, topics):
    """Topics x words from a readable model: after the header, lines of `word value value ...`."""
    found = np.zeros((words, topics))
    for line in open(path):
        parts = line.split()
        if len(parts) >= topics + 1 and parts[0].isdigit() and int(parts[0]) < words:
            found[int(parts[0])] = [float(value) for value in parts[1 : topics + 1]]
    return found.T
