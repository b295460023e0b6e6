"""Ray with three separate nodes on this machine: one hash for any number of workers, whatever is killed."""

import json
import os
import signal
import subprocess
import sys
import textwrap
import time

import numpy as np
import pyarrow as pa
import pytest
import ray
from ray.cluster_utils import Cluster

import gibbstream.ray
from clusters.conftest import MODELS, children_of, documents, in_the_whole_matrix, is_alive, kill, matrix
from gibbstream import HDP, LDA, LocalRunner, TextCorpus

pytestmark = pytest.mark.filterwarnings("default")
STORE = 100 << 20
KILLS = ("nothing", "worker", "node", "driver")


@pytest.fixture(scope="module")
def cluster():
    # Ray lets everything else on the machine go first, and gives up on nodes that take long to start.
    os.environ["RAY_worker_niceness"] = "0"  # noqa: SIM112 as Ray spells it
    made = Cluster(
        initialize_head=True,
        head_node_args={"num_cpus": 1, "object_store_memory": STORE, "include_dashboard": False},
    )
    for _ in range(2):
        made.add_node(num_cpus=1, object_store_memory=STORE, resources={"spare": 1})
    made.wait_for_nodes()
    ray.init(address=made.address, logging_level="error", log_to_driver=False)
    yield made
    ray.shutdown()
    made.shutdown()


def slow_once():
    """A task that waits to be killed when it is run for the first time, and answers when it is run again."""

    @ray.remote(max_retries=-1, num_cpus=1)
    def answer(task, view, block, attempts):
        from gibbstream.runner import worker

        with open(attempts, "a+") as file:
            file.write(f"{os.getpid()}\n")
            file.seek(0)
            if len(file.readlines()) > 1:
                return np.frombuffer(worker(task, 1).answer(view, block), dtype=np.uint8)
        time.sleep(600)
        raise AssertionError("nobody has killed it")

    return answer


class Killing(gibbstream.ray.Runner):
    """Kills the worker or the whole node that computes a block of update 5."""

    def __init__(self, cluster, victim, folder, **options):
        super().__init__(**options)
        self.cluster, self.victim, self.attempts = cluster, victim, folder / "attempts"
        self.updates, self.killed = 0, None

    def submit(self, task, view, blocks):
        self.updates += 1
        return super().submit(task, view, blocks)

    def _start(self, view, block):
        if self.victim == "nothing" or self.updates != 5 or self.killed is not None:
            return super()._start(view, block)
        # Not on the node of the driver.
        slow = slow_once().options(resources={"spare": 0.1})
        reference = slow.remote(self._task, view, block, str(self.attempts))
        while not (self.attempts.exists() and self.attempts.read_text()):
            time.sleep(0.02)
        pid = int(self.attempts.read_text())
        assert is_alive(pid)
        if self.victim == "worker":
            kill(pid)
        else:
            [node] = [node for node in self.cluster.list_all_nodes() if pid in children_of(raylet(node), "")]
            self.cluster.add_node(num_cpus=1, object_store_memory=STORE, resources={"spare": 1})
            self.cluster.remove_node(node, allow_graceful=False)
        self.killed = pid
        return reference


def raylet(node):
    return node.all_processes["raylet"][0].process.pid


DRIVER = """
    import os, signal, sys
    sys.path[:0] = [sys.argv[1]]
    import ray
    from clusters.conftest import MODELS
    import gibbstream.ray

    def die(_, record):
        if record["update"] == 8:
            print("killed", flush=True)
            os.kill(os.getpid(), signal.SIGKILL)

    ray.init(address=sys.argv[2], logging_level="error", log_to_driver=False)
    make, X = MODELS[sys.argv[4]]
    runner = gibbstream.ray.Runner(int(sys.argv[5]), cpus_per_worker=1, checkpoint=sys.argv[3], checkpoint_every="3b")
    make(callback=die).fit(X(), runner=runner)
"""


def fit_after_driver_died(cluster, folder, model, workers):
    tests = os.path.dirname(os.path.dirname(__file__))
    command = [sys.executable, "-c", textwrap.dedent(DRIVER), tests, cluster.address, folder, model, str(workers)]
    died = subprocess.run(command, check=False, capture_output=True, text=True)
    assert died.returncode == -signal.SIGKILL, died.stderr
    assert died.stdout.endswith("killed\n")
    make, X = MODELS[model]
    options = {"checkpoint": folder, "checkpoint_every": "3b", "resume": True}
    resumed = make().fit(X(), runner=gibbstream.ray.Runner(workers, cpus_per_worker=1, **options))
    assert len(resumed.history_) < resumed.n_updates_, "it did not begin anew"
    return resumed


@pytest.mark.parametrize(("workers", "victim", "model"), matrix(KILLS))
def test_one_hash_for_any_workers_and_whatever_is_killed(workers, victim, model, cluster, here, tmp_path):
    make, X = MODELS[model]
    if victim == "driver":
        assert fit_after_driver_died(cluster, tmp_path, model, workers).model_hash_ == here[model]
        return
    runner = Killing(cluster, victim, tmp_path, workers=workers, cpus_per_worker=1)
    assert make().fit(X(), runner=runner).model_hash_ == here[model]
    if victim != "nothing":
        attempts = [int(pid) for pid in runner.attempts.read_text().split()]
        assert len(set(attempts)) >= 2, "it was run again, by another process"
        assert attempts[0] == runner.killed
        assert not is_alive(runner.killed)


@pytest.mark.parametrize("victim", ["nothing", pytest.param("node", marks=in_the_whole_matrix)])
def test_statistics_are_merged_on_the_nodes(victim, cluster, here, tmp_path):
    make, X = MODELS["LDA"]

    class Counting(Killing):
        messages = 0

        def answers(self, work):
            for numbers, statistics in super().answers(work):
                self.messages += 1
                yield numbers, statistics

    runner = Counting(cluster, victim, tmp_path, workers=5, reducers=2, cpus_per_worker=1)
    lda = make().fit(X(), runner=runner)
    assert lda.model_hash_ == here["LDA"]
    assert runner.messages == 2 * lda.n_updates_
    assert (runner.killed is not None) == (victim == "node")


def test_every_way_to_hand_documents_over(cluster, here, tmp_path, capsys):
    X, (make, _) = documents(), MODELS["LDA"]
    entries = X.tocoo()
    lines = zip(entries.row + 1, entries.col + 1, entries.data, strict=True)
    text = "".join(f"{row} {word} {count}\n" for row, word, count in lines)
    (tmp_path / "docword.txt").write_text(f"{X.shape[0]}\n{X.shape[1]}\n{X.nnz}\n{text}")
    (tmp_path / "vocab.txt").write_text("".join(f"word{number}\n" for number in range(X.shape[1])))
    runner = gibbstream.ray.Runner(3, cpus_per_worker=1)
    by_path = make(verbose=1).fit(str(tmp_path), runner=runner)
    assert by_path.model_hash_ == make().fit(tmp_path).model_hash_
    assert "LDA" in capsys.readouterr().err, "there is progress to see"
    chunks = [X[:7], X[7:311], X[311:]]
    assert make().fit(iter(chunks), runner=runner).model_hash_ == make().fit(iter(chunks)).model_hash_


def test_compressed_files_by_a_pattern(cluster, tmp_path, monkeypatch):
    """As docs/clusters.md begins; more workers than cores."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "corpus").mkdir()
    texts = ["stars and planets", "planets, a star, a galaxy", "butter and flour", "flour in the oven"] * 150
    for part in range(3):
        lines = "".join(json.dumps({"text": text}) + "\n" for text in texts[part::3])
        with pa.CompressedOutputStream(f"corpus/{part}.jsonl.zst", "zstd") as file:
            file.write(lines.encode())
    lda = LDA(n_components=128, random_state=1, batch="100..20000", passes=1)
    alone = lda.fit("corpus/*.jsonl.zst").model_hash_
    lda.fit("corpus/*.jsonl.zst", runner=gibbstream.ray.Runner(workers=8))
    assert (lda.n_updates_, lda.model_hash_) == (6, alone)


def test_parameters_that_are_one_update_old(cluster):
    make, X = MODELS["LDA"]
    alone = make().fit(X(), runner=LocalRunner(staleness=1)).model_hash_
    assert make().fit(X(), runner=gibbstream.ray.Runner(3, cpus_per_worker=1, staleness=1)).model_hash_ == alone


def dataset(X, parts=5):
    """Blocks of lists, as Parquet files have them."""
    rows = np.array_split(np.arange(X.shape[0]), parts)
    return ray.data.from_arrow([pa.table({"counts": X[part].toarray().tolist()}) for part in rows])


def test_datasets_go_in_and_mixtures_come_out(cluster, here):
    X = documents()
    make, _ = MODELS["LDA"]
    runner = gibbstream.ray.Runner(2, cpus_per_worker=1, column="counts")
    lda = make().fit(dataset(X), runner=runner)
    assert lda.model_hash_ == here["LDA"]
    arrays = ray.data.from_numpy(X.toarray())
    by_arrays = make().fit(arrays, runner=gibbstream.ray.Runner(2, cpus_per_worker=1, column="data"))
    assert by_arrays.model_hash_ == here["LDA"]
    # Ray Data does not keep the order of rows; each has what it came with beside what was added.
    rows = gibbstream.ray.transform(lda, dataset(X), column="counts", num_cpus=0.5).take_all()
    counts, mixtures = np.stack([row["counts"] for row in rows]), np.stack([row["theta"] for row in rows])
    assert sorted(counts.tolist()) == sorted(X.toarray().tolist())
    assert np.array_equal(mixtures, lda.transform(counts))
    # A stage among others.
    likelihoods = gibbstream.ray.score(lda, dataset(X[:50]), column="counts", num_cpus=0.5)
    rows = likelihoods.map(lambda row: {**row, "words": sum(row["counts"])}).take_all()
    counts = np.stack([row["counts"] for row in rows])
    assert sorted(counts.tolist()) == sorted(X[:50].toarray().tolist())
    assert [row["words"] for row in rows] == counts.sum(1).tolist()
    assert np.array_equal([row["log_likelihood"] for row in rows], lda.log_likelihood(counts))


def test_datasets_of_text(cluster):
    texts = ["stars and planets", "planets, a star, a galaxy", "butter and flour", "flour in the oven"] * 60
    make = lambda: LDA(2, batch=40, random_state=0)  # noqa: E731
    rows = ray.data.from_items([{"text": text} for text in texts])
    there = make().fit(rows, runner=gibbstream.ray.Runner(2, cpus_per_worker=1, column="text"))
    assert there.model_hash_ == make().fit(TextCorpus(texts)).model_hash_


def test_bad_rows_are_named_and_nothing_is_half_learnt(cluster):
    X = documents()[:300].astype(float)
    negative = X.tolil()
    negative[123, 5] = -1
    short = dataset(X[:100], 1).union(dataset(X[100:, :40], 1))
    null = ray.data.from_items([{"text": "stars and planets"}, {"text": None}, {"text": "flour"}])
    empty = dataset(X).filter(lambda _: False)
    for data, column, message in [
        (dataset(negative.tocsr()), "counts", r"partition 2, row 3 \(row 123 .*column 5: -1 is not a number of occurr"),
        (short, "counts", r"partition 1, row 0 \(row 100 .*a vector of 40 counts, where others have 48"),
        (null, "text", r"partition 1, row 0 \(row 1 of the dataset; counted from 0\): column text is null"),
        (empty, "counts", "no documents"),
        (dataset(X), "words", "there is no words; there are counts"),
    ]:
        estimator = LDA(4, random_state=1)
        with pytest.raises(ValueError, match=message):
            estimator.fit(data, runner=gibbstream.ray.Runner(2, cpus_per_worker=1, column=column))
        assert not hasattr(estimator, "components_")


def test_what_cannot_be_shared_out_is_refused_with_the_reason(cluster):
    for estimator, options, message in [
        (LDA(4, method="g-oem++"), {}, "boosted inference refreshes the parameters after every pass"),
        (LDA(4, method="batch-gibbs"), {}, "draws one token of the corpus after another"),
        (HDP(), {"staleness": 1}, "topics come and go"),
        (LDA(4), {"reducers": -1}, "reducers: -1"),
        (LDA(4), {"cpus_per_worker": 0}, "cpus_per_worker: 0"),
    ]:
        with pytest.raises(ValueError, match=message):
            estimator.fit(documents(), runner=gibbstream.ray.Runner(2, **options))
        assert not hasattr(estimator, "components_")


@pytest.mark.usefixtures("interrupts")
def test_ctrl_c_ends_the_run_and_keeps_what_was_learnt(cluster, here, tmp_path):
    def press(_, record):
        if record["update"] == 4:
            os.kill(os.getpid(), signal.SIGINT)

    make, X = MODELS["LDA"]
    stopped = make(callback=press)
    runner = gibbstream.ray.Runner(2, cpus_per_worker=1, checkpoint=tmp_path)
    with pytest.raises(KeyboardInterrupt):
        stopped.fit(X(), runner=runner)
    assert 4 <= stopped.n_updates_ < 15
    runner.resume = True
    assert make().fit(X(), runner=runner).model_hash_ == here["LDA"]


def test_a_worker_with_other_arithmetic_stops_the_run(cluster, monkeypatch):
    make, X = MODELS["LDA"]

    class Other(gibbstream.ray.Runner):
        def open(self, task):
            super().open(task.replace('"self_test":"', '"self_test":"0'))

    with pytest.raises(RuntimeError, match="arithmetic differs from the driver's"):
        make().fit(X(), runner=Other(1, cpus_per_worker=1))
