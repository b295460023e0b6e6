"""Runs whose E-steps are computed elsewhere: the same bits as here, whatever happens there."""

import json
import os
import signal
import subprocess
import sys
import textwrap

import numpy as np
import pytest

import gibbstream
from conftest import drawn
from faults import FaultyRunner
from gibbstream import HDP, HDP_METHODS, ICA, LDA, METHODS, GaussianMixture, LocalRunner, PoissonMixture, TextCorpus
from gibbstream._core import Driver, Worker, pack, self_test
from gibbstream.matrix import source
from gibbstream.runner import Runner

# Boosting refreshes parameters within a minibatch; batch Gibbs sampling draws one token after another.
REFUSED = {"g-oem++": "boost", "v-oem++": "boost", "splda": "boost", "batch-gibbs": "one token of the corpus"}
WHOLE_CORPUS = {"batch-vem", "mcem"}


def numbers(rows=400):
    random = np.random.default_rng(0)
    return random.normal(size=(rows, 3)) + 3 * random.integers(2, size=(rows, 1))


def lda(**options):
    return LDA(**({"n_components": 4, "batch": 40, "random_state": 1} | options))


def learnt_with(estimator, X, runner):
    return estimator.fit(X, runner=runner).model_hash_


@pytest.mark.parametrize("method", METHODS)
def test_every_method_gives_the_same_bits_or_is_refused_with_the_reason(method, counts):
    passes = 2 if method in WHOLE_CORPUS else 1
    estimator = lda(method=method, passes=passes)
    if method in REFUSED:
        with pytest.raises(ValueError, match=REFUSED[method]):
            estimator.fit(counts, runner=FaultyRunner())
        assert not hasattr(estimator, "components_")
        return
    here = lda(method=method, passes=passes).fit(counts).model_hash_
    assert learnt_with(estimator, counts, FaultyRunner()) == here


@pytest.mark.parametrize("method", HDP_METHODS)
def test_the_number_of_topics_may_be_open(method, counts):
    make = lambda: HDP(method=method, batch=40, random_state=1)  # noqa: E731
    here = make().fit(counts).model_hash_
    for workers in (1, 2, 3):
        assert learnt_with(make(), counts, FaultyRunner(workers)) == here


@pytest.mark.parametrize(
    ("model", "X"),
    [
        (GaussianMixture(2, random_state=1), numbers()),
        (PoissonMixture(2, random_state=1), drawn(400, topics=2, words_per_topic=3).toarray()),
        (gibbstream.MultinomialMixture(2, random_state=1), drawn(400, topics=2, words_per_topic=3).toarray()),
        (gibbstream.BernoulliMixture(2, random_state=1), (numbers() > 1).astype(float)),
        (ICA(2, random_state=1), numbers()),
    ],
    ids=lambda value: type(value).__name__,
)
def test_models_of_numbers_give_the_same_bits(model, X):
    here = model.fit(X).model_hash_
    assert learnt_with(model, X, FaultyRunner(3)) == here
    assert learnt_with(model, X, FaultyRunner(2, seed=5)) == here


def test_faults_happen_and_change_nothing(counts):
    here = lda().fit(counts).model_hash_
    for workers in (2, 3, 7):
        runner = FaultyRunner(workers, seed=workers)
        assert learnt_with(lda(), counts, runner) == here
        assert min(runner.faults[fault] for fault in ("shuffled", "died", "twice", "late")) > 0, runner.faults


def test_every_way_to_hand_documents_over_gives_the_same_bits(counts, tmp_path):
    grown = lda(batch="30..120", passes=2)
    here = grown.fit(counts).model_hash_
    assert learnt_with(grown, counts, FaultyRunner()) == here
    assert learnt_with(grown, counts, LocalRunner()) == here
    assert learnt_with(grown, counts.toarray(), FaultyRunner()) == here
    once = lda().fit(counts).model_hash_
    chunks = [counts[:7], counts[7:311], counts[311:]]
    assert learnt_with(lda(mode="file"), iter(chunks), FaultyRunner()) == once
    assert learnt_with(lda(), iter(chunks), FaultyRunner()) == lda(mode="stream").fit(counts).model_hash_
    X = counts.tocoo()
    entries = "".join(f"{row + 1} {word + 1} {count}\n" for row, word, count in zip(X.row, X.col, X.data, strict=True))
    (tmp_path / "docword.txt").write_text(f"{X.shape[0]}\n{X.shape[1]}\n{X.nnz}\n{entries}")
    (tmp_path / "vocab.txt").write_text("".join(f"word{number}\n" for number in range(X.shape[1])))
    assert lda().fit(tmp_path).model_hash_ == once
    assert learnt_with(lda(), str(tmp_path), FaultyRunner()) == once


def test_files_of_text_give_the_model_of_the_program(program, tmp_path):
    random = np.random.default_rng(0)
    words = np.array([["star", "planet", "galaxy"], ["flour", "butter", "oven"]])
    texts = [" ".join(random.choice(words[kind], 12)) for kind in random.integers(2, size=300)]
    for part in range(2):
        lines = "".join(json.dumps({"text": text}) + "\n" for text in texts[part * 150 : (part + 1) * 150])
        (tmp_path / f"part-{part}.jsonl").write_text(lines)
    pattern = str(tmp_path / "part-*.jsonl")
    train = [program, "train", pattern, "--topics", "2", "--batch", "20", "--passes", "1", "--json", "--seed", "3"]
    ran = subprocess.run([*train, "--out", tmp_path / "m.gbs"], check=True, capture_output=True, text=True)
    make = lambda: LDA(2, batch=20, passes=1, random_state=3)  # noqa: E731
    assert make().fit(pattern, runner=FaultyRunner()).model_hash_ == json.loads(ran.stdout)["model_hash"]
    assert make().fit(pattern).model_hash_ == make().fit(TextCorpus(texts)).model_hash_


def stale_twin(X, parameters):
    """What staleness means, step by step: statistics of minibatch t under the parameters after update t - 2."""
    first = LDA(**parameters)
    rows, count = first._begin(X, "fit")
    driver = Driver(first._model, 1)
    worker = Worker(driver.task(), 1)
    for start in range(0, count, 100):
        driver.feed(pack(rows, start, start + 100, False))
    minibatches = []
    while (minibatch := driver.cut(True)) is not None:
        minibatches.append(minibatch)
    views = [driver.view(minibatches[0]), driver.view(minibatches[1])]
    for number, minibatch in enumerate(minibatches):
        gathering = driver.gather()
        for block in minibatch.blocks(1):
            gathering.add(worker.answer(views[number], block))
        driver.absorb(minibatch, gathering, views[number])
        if number + 2 < len(minibatches):
            views.append(driver.view(minibatches[number + 2]))
    return first.model_hash_


@pytest.mark.parametrize("method", ["g-oem", "v-oem", "olda", "sgs", "lds"])
def test_parameters_that_are_one_update_old_give_the_same_bits_everywhere(method, counts):
    parameters = {"n_components": 4, "batch": 40, "random_state": 1, "method": method}
    here = learnt_with(LDA(**parameters), counts, LocalRunner(staleness=1))
    assert here == stale_twin(counts, parameters)
    assert here != LDA(**parameters).fit(counts).model_hash_
    for workers in (1, 3):
        assert learnt_with(LDA(**parameters), counts, FaultyRunner(workers, staleness=1)) == here


def test_old_parameters_learn_the_topics_all_the_same(held_out):
    X = drawn(2000)
    fresh = lda().fit(X).score(held_out)
    assert lda().fit(X, runner=LocalRunner(staleness=1)).score(held_out) == pytest.approx(fresh, abs=0.05)


def test_old_parameters_of_mixtures_and_of_an_open_number_of_topics(counts):
    model, X = GaussianMixture(2, random_state=1), numbers()
    here = learnt_with(model, X, LocalRunner(staleness=1))
    assert learnt_with(model, X, FaultyRunner(staleness=1)) == here != model.fit(X).model_hash_
    with pytest.raises(ValueError, match="topics come and go"):
        HDP(random_state=1).fit(counts, runner=LocalRunner(staleness=1))


class StoppedError(RuntimeError):
    pass


def stop_after(updates):
    def callback(_, record):
        if record["update"] == updates:
            raise StoppedError
        return False

    return callback


@pytest.mark.parametrize("staleness", [0, 1])
@pytest.mark.parametrize("passes", [1, 2])
def test_a_run_that_stopped_goes_on_from_its_checkpoint(staleness, passes, counts, tmp_path):
    whole = learnt_with(lda(passes=passes), counts, FaultyRunner(staleness=staleness))
    options = {"staleness": staleness, "checkpoint": tmp_path, "checkpoint_every": "3b"}
    for updates in (5, 11):
        stopped = lda(passes=passes, callback=stop_after(updates))
        with pytest.raises(StoppedError):
            stopped.fit(counts, runner=FaultyRunner(resume=updates > 5, **options))
    resumed = lda(passes=passes).fit(counts, runner=FaultyRunner(resume=True, **options))
    assert (resumed.model_hash_, resumed.n_updates_) == (whole, 15 * passes)
    # Asked again, a run that is over has nothing to do.
    assert learnt_with(lda(passes=passes), counts, FaultyRunner(resume=True, **options)) == whole


KILLED = """
    import os, signal, sys
    sys.path.insert(0, sys.argv[1])
    from conftest import drawn
    from faults import FaultyRunner
    from gibbstream import LDA

    def kill(_, record):
        if record["update"] == 8:
            print("killed", flush=True)
            os.kill(os.getpid(), signal.SIGKILL)

    options = dict(checkpoint=sys.argv[2], checkpoint_every="3b", staleness=int(sys.argv[3]))
    LDA(4, batch=40, random_state=1, callback=kill).fit(drawn(600), runner=FaultyRunner(**options))
"""


@pytest.mark.parametrize("staleness", [0, 1])
def test_a_driver_that_was_killed_goes_on_with_the_same_bits(staleness, counts, tmp_path):
    script = textwrap.dedent(KILLED)
    command = [sys.executable, "-c", script, os.path.dirname(__file__), tmp_path, str(staleness)]
    died = subprocess.run(command, check=False, capture_output=True, text=True)
    assert (died.stdout, died.returncode) == ("killed\n", -signal.SIGKILL), died.stderr
    options = {"checkpoint": tmp_path, "checkpoint_every": "3b", "resume": True, "staleness": staleness}
    resumed = lda().fit(counts, runner=FaultyRunner(**options))
    assert resumed.model_hash_ == learnt_with(lda(), counts, LocalRunner(staleness=staleness))
    assert len(resumed.history_) < 15, "it did not begin anew"


@pytest.mark.usefixtures("interrupts")
def test_ctrl_c_keeps_what_was_learnt_and_writes_a_checkpoint(counts, tmp_path):
    def press(_, record):
        if record["update"] == 7:
            os.kill(os.getpid(), signal.SIGINT)

    stopped = lda(callback=press)
    with pytest.raises(KeyboardInterrupt):
        stopped.fit(counts, runner=FaultyRunner(checkpoint=tmp_path))
    assert stopped.n_updates_ in {7, 8}
    resumed = lda().fit(counts, runner=FaultyRunner(checkpoint=tmp_path, resume=True))
    assert resumed.model_hash_ == lda().fit(counts).model_hash_


def test_a_checkpoint_of_something_else_is_refused(counts, tmp_path):
    with pytest.raises(StoppedError):
        lda(callback=stop_after(5)).fit(counts, runner=LocalRunner(checkpoint=tmp_path, checkpoint_every="2b"))
    with pytest.raises(ValueError, match="holds checkpoints already"):
        lda().fit(counts, runner=LocalRunner(checkpoint=tmp_path))
    with pytest.raises(ValueError, match=r"started differently \(components\)"):
        lda(n_components=5).fit(counts, runner=LocalRunner(checkpoint=tmp_path, resume=True))
    with pytest.raises(ValueError, match=r"started differently \(staleness\)"):
        lda().fit(counts, runner=LocalRunner(checkpoint=tmp_path, resume=True, staleness=1))
    with pytest.raises(ValueError, match="give the same source as before"):
        lda().fit(counts[:100], runner=LocalRunner(checkpoint=tmp_path, resume=True))
    with pytest.raises(ValueError, match="name it with checkpoint="):
        LocalRunner(resume=True)


class Broken(FaultyRunner):
    """An engine that loses a block for good, or mixes up minibatches."""

    def __init__(self, flaw):
        super().__init__(3)
        self.flaw, self.before = flaw, []

    def answers(self, work):
        mine = list(super().answers(work))
        before, self.before = self.before, mine
        if self.flaw == "lost":
            return iter([(number, statistics) for number, statistics in mine if number != 1])
        if self.flaw == "damaged":
            return iter([(number, statistics[:-1] + b"?") for number, statistics in mine])
        # A block of the minibatch before, under the number of one of this.
        return iter([*before[:1], *mine])


@pytest.mark.parametrize(
    ("flaw", "message"),
    [
        ("lost", r"without statistics of blocks \[1\]"),
        ("mixed", "do not belong together"),
        ("damaged", "checksum is wrong"),
    ],
)
def test_an_engine_that_breaks_its_word_is_noticed(flaw, message, counts):
    estimator = lda()
    with pytest.raises((RuntimeError, ValueError), match=message):
        estimator.fit(counts, runner=Broken(flaw))
    assert not hasattr(estimator, "components_"), "nothing half-learnt"


def test_a_worker_with_other_arithmetic_refuses_to_join(counts):
    estimator = lda()
    estimator._begin(counts, "fit")
    task = json.loads(Driver(estimator._model, 0).task())
    assert task["self_test"] == self_test()
    Worker(json.dumps(task), 1)
    other = task | {"self_test": "0" * 64}
    with pytest.raises(ValueError, match="arithmetic differs from the driver's"):
        Worker(json.dumps(other), 1)
    with pytest.raises(ValueError, match=r"the driver has 0\.0\.0"):
        Worker(json.dumps(task | {"version": "0.0.0"}), 1)


def test_bad_input_leaves_nothing_half_learnt(counts):
    bad = counts.astype(float).copy()
    bad.data[-1] = np.inf
    for X, message in [
        (bad, "infinity|finite"),
        (iter([]), "gave nothing"),
        (iter([counts[:100], counts[100:200, :30]]), "features"),
        (counts[:0], "0 sample"),
        ("no/such/*.file", "no/such"),
    ]:
        estimator = lda()
        with pytest.raises((ValueError, OSError), match=message):
            estimator.fit(X, runner=FaultyRunner())
        assert not hasattr(estimator, "components_")
    for options, message in [({"workers": 0}, "workers"), ({"staleness": 2}, "staleness")]:
        with pytest.raises(ValueError, match=message):
            FaultyRunner(**options)


def test_callbacks_and_progress_see_every_update(counts, capsys):
    seen = []
    lda(verbose=1, callback=lambda _, record: seen.append(record["update"])).fit(counts, runner=FaultyRunner())
    assert seen == list(range(1, 16))
    assert "LDA" in capsys.readouterr().err
    stopped = lda(callback=lambda _, record: record["update"] == 4).fit(counts, runner=FaultyRunner())
    assert stopped.n_updates_ == 4


def test_a_runner_of_ones_own_needs_two_methods():
    assert Runner.__abstractmethods__ == {"submit", "answers"}


def test_packs_tell_documents_and_numbers_apart(counts):
    assert pack(source(counts[:5]), 0, 5, False) != pack(source(counts[:5].toarray()), 0, 5, True)


@pytest.mark.parametrize(("engine", "package", "name"), [("ray", "ray", "Ray"), ("spark", "pyspark", "PySpark")])
def test_an_engine_that_is_missing_is_named_with_what_installs_it(engine, package, name):
    # The package is hidden, so that it does not matter whether it is installed.
    hidden = f"import sys; sys.modules[{package!r}] = None\nimport gibbstream\n"
    message = f"ImportError: gibbstream.{engine} needs {name}; install it with: pip install 'gibbstream[{engine}]'"
    for used in (f"import gibbstream.{engine}", f"gibbstream.{engine}.Runner()"):
        failed = subprocess.run([sys.executable, "-c", hidden + used], check=False, capture_output=True, text=True)
        assert failed.stderr.strip().endswith(message)


def test_engines_are_not_imported_before_they_are_used():
    script = "import sys, gibbstream; print({'ray', 'pyspark'} & set(sys.modules))"
    assert subprocess.run([sys.executable, "-c", script], check=True, capture_output=True).stdout == b"set()\n"
    with pytest.raises(AttributeError, match="no attribute 'dask'"):
        _ = gibbstream.dask


def test_files_that_vanish_after_learning_do_not_cost_the_model(tmp_path):
    notes = ["rain cloud wind storm", "bread butter flour salt"] * 20
    path = tmp_path / "notes.txt"

    def fitted(callback=None):
        path.write_text("".join(f"{note}\n" for note in notes))
        return lda(n_components=2, batch=10, passes=1, callback=callback).fit(path)

    def remove(_, record):
        if record["update"] == 4:
            path.unlink()

    with pytest.warns(RuntimeWarning, match=r"the model is complete, but .*notes\.txt: cannot open"):
        left = fitted(remove)
    assert left.model_hash_ == fitted().model_hash_
