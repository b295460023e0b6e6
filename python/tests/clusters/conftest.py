"""What tests on real engines share: the models, the models of one machine, and processes to kill."""

import os
import signal
import sys
import time
from pathlib import Path

import numpy as np
import pytest

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from conftest import drawn
from gibbstream import HDP, LDA, GaussianMixture

# The whole matrix takes long; make slow runs it.
EVERYTHING = os.environ.get("GIBBSTREAM_CLUSTERS") == "all"

in_the_whole_matrix = pytest.mark.skipif(not EVERYTHING, reason="takes long: make clusters-all runs it")


def documents():
    return drawn(900, seed=3)


def numbers():
    random = np.random.default_rng(3)
    return random.normal(size=(900, 3)) + 3 * random.integers(2, size=(900, 1))


MODELS = {
    "LDA": (lambda **more: LDA(4, batch=60, random_state=1, **more), documents),
    "HDP": (lambda **more: HDP(batch=60, random_state=1, **more), documents),
    "GaussianMixture": (lambda **more: GaussianMixture(2, batch=60, random_state=1, **more), numbers),
}


def matrix(kills):
    """Workers, what is killed, and which model: all of it, or a part that has every worker, kill and model in it."""
    cells = [(workers, kill, model) for workers in (1, 2, 3) for kill in kills for model in MODELS]
    if EVERYTHING:
        return cells
    names = list(MODELS)
    return [(1 + number % 3, kill, names[number % 3]) for number, kill in enumerate(kills)]


@pytest.fixture(scope="session")
def here():
    """The hash of each model on one machine."""
    return {name: make().fit(X()).model_hash_ for name, (make, X) in MODELS.items()}


def children_of(process, mark):
    """Processes below one whose command line has a mark in it."""
    parents, commands = {}, {}
    for folder in Path("/proc").iterdir():
        if folder.name.isdigit():
            try:
                parents[int(folder.name)] = int((folder / "stat").read_text().rpartition(")")[2].split()[1])
                commands[int(folder.name)] = (folder / "cmdline").read_bytes().replace(b"\0", b" ").decode()
            except (OSError, ValueError):
                continue

    def is_below(pid):
        while pid in parents and pid != process:
            pid = parents[pid]
        return pid == process

    return [pid for pid, command in commands.items() if mark in command and pid != process and is_below(pid)]


def kill(pid):
    """Ends a process for good, and sees to it that it has ended."""
    os.kill(pid, signal.SIGKILL)
    for _ in range(200):
        if not is_alive(pid):
            return
        time.sleep(0.05)
    raise AssertionError(f"process {pid} is still there")


def is_alive(pid):
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] not in {"Z", "X"}
    except OSError:
        return False
