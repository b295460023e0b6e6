"""Trains one program in a process of its own. Started by run.py; prints one JSON line for every snapshot.

    python train.py NAME --data FOLDER --documents N --topics K --seed S --folder WORK
"""

import argparse
import contextlib
import importlib
import json
import os
import resource
import time
from pathlib import Path

import numpy as np

import corpus

MODULES = ["gensim_lda", "gensim_multicore", "sklearn_lda", "vowpal_wabbit", "tomotopy_lda", "griffiths_steyvers"]
FRACTIONS = [0.1, 0.25, 0.5, 1.0]


class Clock:
    """CPU seconds (all threads, and worker processes that have ended) and wall seconds inside `with clock:`."""

    def __init__(self):
        self.reset()

    def reset(self):
        self.cpu = self.wall = 0.0

    @staticmethod
    def _now():
        mine, workers = (resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN))
        return sum(u.ru_utime + u.ru_stime for u in (mine, workers)), time.perf_counter()

    def __enter__(self):
        self._start = self._now()

    def __exit__(self, *_):
        cpu, wall = self._now()
        self.cpu, self.wall = self.cpu + cpu - self._start[0], self.wall + wall - self._start[1]

    @contextlib.contextmanager
    def paused(self):
        self.__exit__()
        yield
        self.__enter__()


class Job:
    """What a program is asked to do, and where its topics go."""

    def __init__(self, matrix, topics, seed, settings, folder):
        self.matrix, self.topics, self.seed, self.settings, self.folder = matrix, topics, seed, settings, folder
        self.clock, self._taken = Clock(), 0

    def document_points(self, passes):
        """Numbers of documents after which an online program is scored: parts of the first pass, then whole passes."""
        documents = self.matrix.shape[0]
        return [round(part * documents) for part in FRACTIONS] + [documents * p for p in range(2, passes + 1)]

    def snapshot(self, beta, alpha, **progress):
        """Keeps topics (rows need not be normalised) and alpha; call it while the clock stands still."""
        peak = sum(resource.getrusage(who).ru_maxrss for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN))
        beta, alpha = np.array(beta, dtype=np.float64, order="C"), np.array(alpha, dtype=np.float64)
        beta /= beta.sum(axis=1, keepdims=True)
        if beta.shape != (self.topics, self.matrix.shape[1]) or alpha.shape != (self.topics,):
            raise ValueError(f"beta is {beta.shape}, alpha {alpha.shape}")
        if not (np.isfinite(beta).all() and (alpha > 0).all()):
            raise ValueError("topics or alpha are not proper")
        folder = self.folder / f"snapshot-{self._taken}"
        folder.mkdir(parents=True, exist_ok=True)
        self._taken += 1
        np.save(folder / "beta.npy", beta)
        np.save(folder / "alpha.npy", alpha)
        row = dict(
            progress, cpu_seconds=self.clock.cpu, wall_seconds=self.clock.wall, peak_rss_mib=peak / 1024,
            alpha_sum=float(alpha.sum()), alpha_max=float(alpha.max()), load_average=os.getloadavg()[0],
            snapshot=str(folder),
        )
        print(json.dumps(row), flush=True)


def modules():
    """The module of every variant, by name."""
    found = {}
    for name in MODULES:
        module = importlib.import_module(f"peers.{name}")
        found.update(dict.fromkeys(module.SETTINGS, module))
    return found


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("name")
    parser.add_argument("--module", required=True)
    parser.add_argument("--data", type=Path, required=True)
    parser.add_argument("--documents", type=int, required=True)
    parser.add_argument("--topics", type=int, required=True)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--folder", type=Path, required=True)
    arguments = parser.parse_args()
    # Only the program at hand is imported, so that the memory of the others is not counted.
    module = importlib.import_module(f"peers.{arguments.module}")
    matrix = corpus.load(arguments.data, 0, arguments.documents)
    settings = module.SETTINGS[arguments.name]
    print(json.dumps({"version": module.VERSION, "settings": settings}), flush=True)
    module.train(Job(matrix, arguments.topics, arguments.seed, settings, arguments.folder))


if __name__ == "__main__":
    main()
