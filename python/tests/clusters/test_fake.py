"""The same matrix without an engine: in this process, and on an engine that is made of faults."""

import os
import signal
import subprocess
import sys
import textwrap

import pytest

from clusters.conftest import MODELS, matrix
from faults import FaultyRunner
from gibbstream import LocalRunner

KILLS = {"nothing": ("none",), "worker": ("none", "died"), "node": ("none", "late", "node"), "driver": ("none",)}

DRIVER = """
    import os, signal, sys
    sys.path[:0] = [sys.argv[1]]
    from clusters.conftest import MODELS
    from clusters.test_fake import engine

    def die(_, record):
        if record["update"] == 8:
            print("killed", flush=True)
            os.kill(os.getpid(), signal.SIGKILL)

    make, X = MODELS[sys.argv[4]]
    options = {"checkpoint": sys.argv[2], "checkpoint_every": "3b"}
    make(callback=die).fit(X(), runner=engine(sys.argv[3], int(sys.argv[5]), "driver", **options))
"""


def engine(name, workers, victim, **options):
    """On one machine threads take the place of workers."""
    if name == "local":
        return LocalRunner(threads=workers, **options)
    return FaultyRunner(workers, kinds=KILLS[victim], seed=workers, **options)


def fit_after_driver_died(name, folder, model, workers):
    tests = os.path.dirname(os.path.dirname(__file__))
    command = [sys.executable, "-c", textwrap.dedent(DRIVER), tests, folder, name, model, str(workers)]
    died = subprocess.run(command, check=False, capture_output=True, text=True)
    assert (died.stdout, died.returncode) == ("killed\n", -signal.SIGKILL), died.stderr
    make, X = MODELS[model]
    options = {"checkpoint": folder, "checkpoint_every": "3b", "resume": True}
    resumed = make().fit(X(), runner=engine(name, workers, "driver", **options))
    assert len(resumed.history_) < resumed.n_updates_, "it did not begin anew"
    return resumed.model_hash_


@pytest.mark.parametrize(("workers", "victim", "model"), matrix(("nothing", "driver")))
def test_one_hash_on_one_machine(workers, victim, model, here, tmp_path):
    make, X = MODELS[model]
    if victim == "driver":
        assert fit_after_driver_died("local", tmp_path, model, workers) == here[model]
    else:
        assert make().fit(X(), runner=engine("local", workers, victim)).model_hash_ == here[model]


@pytest.mark.parametrize(("workers", "victim", "model"), matrix(KILLS))
def test_one_hash_for_any_workers_and_whatever_is_killed(workers, victim, model, here, tmp_path):
    make, X = MODELS[model]
    if victim == "driver":
        assert fit_after_driver_died("fake", tmp_path, model, workers) == here[model]
        return
    runner = engine("fake", workers, victim)
    assert make().fit(X(), runner=runner).model_hash_ == here[model]
    fault = {"worker": "died", "node": "node"}.get(victim)
    assert fault is None or runner.faults[fault] > 0, runner.faults
