"""Model files, pickles and copies."""

import copy
import os
import pickle

import numpy as np
import pytest

from gibbstream import LDA, METHODS, TextCorpus

SETTINGS = [
    {},
    {"sweeps": 7, "kappa": 0.7, "offset": 20.0, "smoothing": 0.02, "batch": 10},
    {"batch": "5..20"},
    {"method": "olda", "alpha": "fixed=0.3"},
    {"method": "g-oem++", "averaging": "tail=3", "statistic": "counts", "window": "half"},
    {"method": "lds", "sweeps": 4},
    {"step": "incremental=2", "start": "nearly-uniform", "boost": True},
    {"local": "mean-field", "global_": "bayes", "topic_prior": 0.2, "total_docs": 600},
    {"method": "svb", "alpha": "gamma=2,0.5"},
    {"local": "mh", "topic_prior": 0.5},
    *({"method": method, "sweeps": 3, "passes": 1} for method in METHODS),
]


@pytest.mark.parametrize("settings", SETTINGS, ids=str)
def test_loaded_models_go_on_as_if_nothing_had_happened(settings, counts, tmp_path):
    lda = LDA(3, random_state=5, **settings).fit(counts[:300])
    lda.save(tmp_path / "model.gbs")
    loaded = LDA.load(tmp_path / "model.gbs", passes=lda.passes)
    assert loaded.model_hash_ == lda.model_hash_
    assert loaded.seed_ == 5
    if lda.method in ("olda", "vargibbs", "lds") or "global_" in settings:
        lda.set_params(total_docs=300 if lda.total_docs is None else lda.total_docs)
    assert loaded.partial_fit(counts[300:]).model_hash_ == lda.partial_fit(counts[300:]).model_hash_


@pytest.mark.parametrize("twin", [lambda lda: pickle.loads(pickle.dumps(lda)), copy.copy, copy.deepcopy])
def test_twins(twin, counts, held_out):
    lda = LDA(3, batch=50, random_state=0).fit(counts)
    other = twin(lda)
    assert other.get_params() == lda.get_params()
    assert other.history_ == lda.history_
    np.testing.assert_array_equal(other.transform(held_out), lda.transform(held_out))
    before = lda.model_hash_
    other.partial_fit(counts)
    assert lda.model_hash_ == before, "what one learns the other does not"
    assert twin(LDA(7)).get_params() == LDA(7).get_params()


def test_words_are_kept(tmp_path):
    corpus = TextCorpus(["A cat and a dog.", "The dog didn't bark."] * 20)
    lda = LDA(2, batch=10, random_state=0).fit(corpus)
    lda.save(tmp_path / "model.gbs")
    loaded = LDA.load(tmp_path / "model.gbs")
    assert loaded.vocabulary_ == corpus.vocabulary
    np.testing.assert_array_equal(loaded.transform(corpus), lda.transform(corpus))
    loaded.set_vocabulary(["a", "b", "c", "d"])
    assert loaded.vocabulary_ == ["a", "b", "c", "d"]
    with pytest.raises(ValueError, match="vocabulary: 3 names for 4 words; give one name for each column of X"):
        loaded.set_vocabulary(["a", "b", "c"])
    with pytest.raises(ValueError, match="is the same as word 1"):
        loaded.set_vocabulary(["a", "a", "c", "d"])


def test_files_that_are_not_models_are_refused_by_name(counts, tmp_path):
    with pytest.raises(FileNotFoundError, match=r"nothing\.gbs: cannot open"):
        LDA.load(tmp_path / "nothing.gbs")
    lda = LDA(2, random_state=0).fit(counts)
    lda.save(tmp_path / "model.gbs")
    content = bytearray((tmp_path / "model.gbs").read_bytes())
    content[-3] ^= 1
    (tmp_path / "model.gbs").write_bytes(content)
    with pytest.raises(ValueError, match=r"model\.gbs: not a usable model file: its checksum does not match"):
        LDA.load(tmp_path / "model.gbs")
    with pytest.raises(OSError, match="cannot"):
        lda.save(tmp_path / "no" / "such" / "folder.gbs")


def test_a_pickle_that_was_altered_by_hand_is_refused(counts):
    """What is pickled of a model are the bytes of its file, with their checksum."""
    lda = LDA(2, batch=50, random_state=0).fit(counts)
    whole = pickle.dumps(lda)
    inside, _ = lda.__getstate__()["_model"]
    at = whole.index(inside)
    for place in (8, len(inside) // 2, len(inside) - 1):
        altered = bytearray(whole)
        altered[at + place] ^= 1
        with pytest.raises(ValueError, match="not a usable model file"):
            pickle.loads(bytes(altered))


def test_files_of_others_are_not_overwritten(counts, tmp_path):
    lda = LDA(2, batch=50, random_state=0).fit(counts)
    (tmp_path / "notes.txt").write_text("do not lose me")
    with pytest.raises(ValueError, match=r"notes\.txt: holds something else than a model"):
        lda.save(tmp_path / "notes.txt")
    assert (tmp_path / "notes.txt").read_text() == "do not lose me"
    lda.save(tmp_path / "notes.txt", force=True)
    lda.save(tmp_path / "notes.txt")
    assert LDA.load(tmp_path / "notes.txt").model_hash_ == lda.model_hash_


@pytest.mark.skipif(not hasattr(os, "fork"), reason="this system does not fork")
@pytest.mark.filterwarnings("ignore:.*multi-threaded.*:DeprecationWarning")
def test_a_fork_of_the_process_can_use_and_teach_the_model(counts, held_out):
    lda = LDA(3, batch=50, random_state=0, n_jobs=2).fit(counts)
    lda.transform(held_out)
    child = os.fork()
    if child == 0:
        try:
            lda.transform(held_out)
            lda.partial_fit(counts)
            os._exit(0 if lda.n_documents_ == 1200 else 1)
        finally:
            os._exit(1)
    assert os.waitpid(child, 0)[1] == 0
