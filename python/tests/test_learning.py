"""Learning from corpora and streams."""

import _thread
import io
import sys
import threading

import numpy as np
import pytest
from scipy import sparse

import gibbstream
from conftest import drawn
from gibbstream import LDA
from gibbstream.progress import ProgressBar


def test_topics_are_recovered(counts):
    lda = LDA(4, batch=20, random_state=0).fit(counts)
    best = {frozenset(int(word) // 12 for word in words) for words in lda.top_words(12)}
    assert best == {frozenset([topic]) for topic in range(4)}


def test_partial_fit_is_fit_of_a_stream(counts):
    whole = LDA(3, batch=50, random_state=7, mode="stream").fit(counts)
    parts = LDA(3, batch=50, random_state=7)
    for start in range(0, 600, 150):
        parts.partial_fit(counts[start : start + 150])
    assert parts.model_hash_ == whole.model_hash_
    # A short minibatch is closed, with less weight.
    short = LDA(3, batch=50, random_state=7)
    for start in range(0, 600, 60):
        short.partial_fit(counts[start : start + 60])
    assert (short.n_updates_, short.n_documents_) == (20, 600)
    assert short.model_hash_ != whole.model_hash_


@pytest.mark.parametrize("chunk", [1, 33, 50, 600])
def test_streams_are_cut_into_full_minibatches(counts, chunk):
    whole = LDA(3, batch=50, random_state=7, mode="stream").fit(counts)
    chunks = (counts[start : start + chunk] for start in range(0, 600, chunk))
    assert LDA(3, batch=50, random_state=7).fit(chunks).model_hash_ == whole.model_hash_


def test_streams_may_end_in_a_short_minibatch(counts):
    whole = LDA(3, batch=64, random_state=7, mode="stream").fit(counts)
    chunks = [counts[:100], counts[100:]]
    assert LDA(3, batch=64, random_state=7).fit(iter(chunks)).model_hash_ == whole.model_hash_
    lda = LDA(3, batch=50, random_state=7).partial_fit(iter(chunks))
    assert lda.n_documents_ == 600
    with pytest.raises(ValueError, match="the iterator gave nothing"):
        LDA().fit(iter([]))
    with pytest.raises(ValueError, match="can be read once only"):
        LDA(passes=2).fit(iter(chunks))


def test_the_input_decides_whether_it_is_a_file_or_a_stream(counts, tmp_path):
    def hashed(mode, X=counts, learn="fit", **others):
        return getattr(LDA(3, batch=50, random_state=7, mode=mode, passes=1, **others), learn)(X).model_hash_

    chunks = [counts[:200], counts[200:]]
    file, stream = hashed("file"), hashed("stream")
    assert file != stream
    for mode in (None, "auto"):
        assert hashed(mode) == file
        assert hashed(mode, iter(chunks)) == stream
        assert hashed(mode, counts, "partial_fit") == stream
    assert hashed("file", iter(chunks)) == file
    assert hashed("file", counts, "partial_fit") == file
    assert hashed("stream", kappa=0.6, averaging="frequencies") == file
    # A model stays what it is.
    lda = LDA(3, batch=50, random_state=7).partial_fit(counts)
    lda.save(tmp_path / "m.gbs")
    loaded = LDA.load(tmp_path / "m.gbs")
    assert loaded.mode == "stream"
    assert loaded.partial_fit(counts).model_hash_ == lda.partial_fit(counts).model_hash_
    with pytest.raises(ValueError, match="mode: there is no `river`; use one of auto, file, stream"):
        LDA(mode="river").fit(counts)


def test_fit_begins_anew(counts):
    lda = LDA(3, batch=50, random_state=0)
    once = lda.fit(counts).model_hash_
    assert lda.fit(counts).model_hash_ == once
    assert lda.n_documents_ == 600


@pytest.mark.parametrize("method", gibbstream.METHODS)
def test_every_method_learns(method, counts, held_out):
    passes = 3 if method in ("batch-vem", "batch-gibbs", "mcem") else None
    sweeps = 20 if method in ("lds", "batch-gibbs") else None
    lda = LDA(4, method=method, batch=20, sweeps=sweeps, passes=passes, random_state=0).fit(counts)
    assert np.isfinite(lda.score(held_out))
    np.testing.assert_allclose(lda.transform(held_out).sum(axis=1), 1)


@pytest.mark.parametrize(
    "knob",
    [
        {"sweeps": 4},
        {"kappa": 0.8},
        {"offset": 5},
        {"tau": 0.5},
        {"step": "constant=0.1"},
        {"alpha": "fixed=0.2"},
        {"averaging": "uniform"},
        {"boost": True},
        {"smoothing": 0.05},
        {"local": "mean-field"},
        {"global_": "bayes"},
        {"statistic": "counts"},
        {"window": "half"},
        {"start": "nearly-uniform"},
        {"topic_prior": 0.1},
        {"method": "olda", "total_docs": 10**6},
        {"batch": 30},
        {"passes": 2},
        {"random_state": 1},
    ],
    ids=str,
)
def test_every_knob_changes_what_is_learnt(knob, counts):
    other = {"method": knob["method"]} if "method" in knob else {}
    base = {"batch": 100, "random_state": 0}
    plain = LDA(3, **(base | other)).fit(counts)
    assert LDA(3, **(base | knob)).fit(counts).model_hash_ != plain.model_hash_


@pytest.mark.parametrize(
    ("parameters", "error", "message"),
    [
        (
            {"n_components": 0},
            ValueError,
            "n_components: 0 is not a number of topics; choose a number from 1 to 1000000",
        ),
        ({"batch": "9..2"}, ValueError, "batch: 9..2 does not grow; put the smaller number first"),
        ({"batch": "ten"}, ValueError, 'batch: "ten" is not a size; give a number of documents such as 100, or'),
        ({"batch": 1.5}, TypeError, "batch: 1.5 is not a whole number from 0 on, or a text such as '100..1000'"),
        ({"n_components": "ten"}, TypeError, "n_components: 'ten' is not a whole number from 0 on"),
        ({"method": "gibbs"}, ValueError, "method: there is no method called 'gibbs'; choose one of g-oem,"),
        ({"batch": 0}, ValueError, "batch: a minibatch has at least one document; choose 1 or more"),
        ({"sweeps": 0}, ValueError, "sweeps: 0 is not a number of sweeps"),
        ({"kappa": 2.0}, ValueError, r"kappa: 2 is not in \[0, 1\]"),
        ({"kappa": "fast"}, TypeError, "kappa: 'fast' is not a number"),
        ({"local": "vb"}, ValueError, "local: there is no `vb`; use one of gibbs, mean-field, mh"),
        ({"alpha": "auto"}, ValueError, "alpha: there is no such rule; use fixed-point"),
        ({"passes": 0}, ValueError, "passes: 0 passes would learn nothing; use at least 1"),
        ({"random_state": -1}, ValueError, "random_state: -1 is not a seed"),
        ({"smoothing": 0.1, "method": "olda"}, ValueError, "smoothing: the prior of this method already"),
    ],
)
def test_parameters_that_make_no_sense_are_refused(parameters, error, message, counts):
    with pytest.raises(error, match=message):
        LDA(**parameters).fit(counts)


def test_bayesian_streams_need_the_size_of_the_corpus(counts):
    with pytest.raises(ValueError, match="total_docs: this method weighs its prior against the size"):
        LDA(method="olda").partial_fit(counts)
    LDA(method="olda", total_docs=10_000).partial_fit(counts)
    LDA(method="svb").partial_fit(counts)


def test_settings_may_change_between_minibatches(counts):
    lda = LDA(3, batch=50, random_state=0).partial_fit(counts[:300])
    lda.set_params(sweeps=5, batch=25).partial_fit(counts[300:])
    assert lda.n_updates_ == 6 + 12
    with pytest.raises(ValueError, match="n_components: the model has 3 topics, not 4"):
        lda.set_params(n_components=4).partial_fit(counts)
    with pytest.raises(ValueError, match="averaging: a mean of parameters must be kept from the first update on"):
        lda.set_params(n_components=3, averaging="uniform").partial_fit(counts)


def test_threads_change_nothing(counts, held_out):
    models = [LDA(3, batch=50, random_state=0, n_jobs=jobs).fit(counts) for jobs in (1, 2, 5)]
    assert len({model.model_hash_ for model in models}) == 1
    np.testing.assert_array_equal(models[0].transform(held_out), models[2].transform(held_out))
    np.testing.assert_array_equal(models[0].log_likelihood(held_out), models[2].log_likelihood(held_out))
    models[0].set_params(n_jobs=3).partial_fit(counts)
    models[1].partial_fit(counts)
    assert models[0].model_hash_ == models[1].model_hash_


def test_seeds(counts):
    lda = LDA(3).fit(counts)
    again = LDA(3, random_state=lda.seed_).fit(counts)
    assert again.model_hash_ == lda.model_hash_
    state = np.random.RandomState(3)
    assert LDA(3, random_state=state).fit(counts).seed_ != LDA(3, random_state=state).fit(counts).seed_
    assert LDA(3, random_state=np.int64(5)).fit(counts).seed_ == 5


def test_callbacks_see_every_minibatch_and_may_stop(counts, held_out):
    seen = []

    def watch(model, record):
        seen.append((record["documents"], model.score(held_out)))
        return len(seen) == 5

    lda = LDA(3, batch=50, random_state=0, callback=watch).fit(counts)
    assert [documents for documents, _ in seen] == [50, 100, 150, 200, 250]
    assert lda.n_updates_ == 5
    same = LDA(3, batch=50, random_state=0).fit(counts[:250])
    assert lda.model_hash_ == same.model_hash_, "watching changes nothing"
    assert seen[-1][1] == same.score(held_out)


def test_history_is_complete_and_bounded():
    X = drawn(2000, length=5)
    lda = LDA(2, batch=1, sweeps=1, random_state=0).fit(X)
    assert [record["update"] for record in lda.history_] == list(range(1, 2001))
    for _ in range(4):
        lda.partial_fit(X)
    history = lda.history_
    assert len(history) < 4096
    assert (history[-1]["update"], history[-1]["tokens"]) == (10_000, lda.n_tokens_)
    assert {record["update"] % 4 for record in history} == {0}


@pytest.mark.usefixtures("interrupts")
def test_interrupted_fit_keeps_what_was_learnt(counts):
    """A signal ends a call that would take very long."""

    def interrupt(model, record):
        if record["update"] == 3:
            _thread.interrupt_main()

    lda = LDA(3, batch=50, passes=10_000, random_state=0, callback=interrupt)
    with pytest.raises(KeyboardInterrupt):
        lda.fit(counts)
    assert lda.n_updates_ >= 3
    assert lda.transform(counts[:1]).shape == (1, 3)


@pytest.mark.usefixtures("interrupts")
@pytest.mark.skipif(sys.platform == "win32", reason="signals between threads")
@pytest.mark.parametrize("call", ["fit", "transform", "log_likelihood"])
def test_interrupts_reach_calls_that_have_released_the_interpreter(call, counts):
    lda = LDA(3, batch=50, random_state=0).fit(counts)
    # Each of these would take a minute or more.
    many = sparse.vstack([counts] * 50, format="csr")
    lda.set_params(passes=10**6, transform_sweeps=1000, particles=100)
    timer = threading.Timer(0.3, _thread.interrupt_main)
    timer.start()
    with pytest.raises(KeyboardInterrupt):
        getattr(lda, call)(many)
    timer.join()


def test_two_threads_learn_at_the_same_time(counts):
    """Each waits in its first minibatches until the other has learnt too, which needs both to run."""
    barrier = threading.Barrier(2, timeout=60)

    def meet(model, record):
        if record["update"] <= 3:
            barrier.wait()

    models = [LDA(3, batch=50, random_state=seed, callback=meet) for seed in range(2)]
    threads = [threading.Thread(target=model.fit, args=(counts,)) for model in models]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert [model.n_updates_ for model in models] == [12, 12]


def test_the_interpreter_is_released(counts):
    """While one call runs that takes long, this thread goes on and ends it."""
    stop = threading.Event()
    lda = LDA(3, batch=50, passes=10**6, random_state=0, callback=lambda model, record: stop.is_set())
    worker = threading.Thread(target=lda.fit, args=(counts,))
    worker.start()
    stop.set()
    worker.join(timeout=60)
    assert not worker.is_alive()


def test_one_model_serves_many_threads(counts, held_out):
    lda = LDA(3, batch=50, random_state=0).fit(counts)
    expected = lda.transform(held_out)
    results = [None] * 4

    def work(place):
        results[place] = lda.transform(held_out)

    threads = [threading.Thread(target=work, args=(place,)) for place in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    for result in results:
        np.testing.assert_array_equal(result, expected)


def test_verbose_shows_progress(counts, capsys):
    LDA(3, batch=50, random_state=0, verbose=1).fit(counts)
    shown = capsys.readouterr().err
    assert "LDA: 100%" in shown
    assert "600/600" in shown
    assert shown.endswith("\n")


def test_progress_bar_on_a_terminal():
    class Terminal(io.StringIO):
        def isatty(self):
            return True

    screen = Terminal()
    bar = ProgressBar("LDA", 10, screen)
    bar.advance(5, 50, "alpha 1")
    bar.close()
    assert "50% |███████████████               | 5/10" in screen.getvalue()
    assert screen.getvalue().startswith("\r")


def test_scores_on_the_way(counts):
    lda = LDA(4, batch=20, sweeps=5, prequential=True, random_state=0).fit(counts)
    plain = LDA(4, batch=20, sweeps=5, random_state=0).fit(counts)
    assert lda.model_hash_ == plain.model_hash_
    last, first = lda.history_[-1], lda.history_[0]
    assert first["prequential"] is None
    assert last["prequential"] > 0
    assert last["prequential_unigram"] > 0
    assert plain.history_[-1]["prequential"] is None
    assert lda.drift_ == []
    recent = LDA(4, batch=20, sweeps=5, averaging="frequencies=50", min_step=0.1, random_state=0).fit(counts)
    assert min(record["rho"] for record in recent.history_) >= 0.1
