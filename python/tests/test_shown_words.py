"""Words as they are shown, documents put into groups, and seeds."""

import json
import subprocess

import numpy as np
import pytest
from sklearn.base import clone

from gibbstream import LDA

SPACE = ["orbit", "rocket", "moon", "shuttle", "comet"]
GAME = ["goal", "keeper", "league", "striker", "match"]
COMMON = ["thing", "way", "people", "day"]


def texts(count=400):
    found = []
    for index in range(count):
        theme = [SPACE, GAME][index % 2]
        words = [theme[(index // 2 + word) % 5] for word in range(3)]
        found.append(" ".join([*words, *COMMON]))
    return found


@pytest.fixture(scope="module")
def lda():
    return LDA(2, batch=20, sweeps=10, passes=3, random_state=1, text={"max_df": 1.0}).fit(texts())


def test_words_that_tell_topics_apart_are_shown(lda):
    assert sorted(sorted(words) for words in lda.top_words(5)) == sorted([sorted(SPACE), sorted(GAME)])
    assert all("day" in words for words in lda.top_words(5, relevance=1))
    frame = lda.topics_frame(n_words=5)
    assert frame["words"].tolist() == lda.top_words(5)
    assert frame["label"].tolist() == [", ".join(words) for words in lda.top_words(3)]
    with pytest.raises(ValueError, match="is not in"):
        lda.top_words(relevance=2)


def test_they_are_kept_and_are_those_of_the_program(lda, tmp_path, program):
    path = tmp_path / "m.gbs"
    lda.save(path)
    assert LDA.load(path).top_words() == lda.top_words()
    shown = json.loads(subprocess.check_output([program, "topics", path, "--json"]))["topics"]
    assert [[word["word"] for word in topic["words"]] for topic in shown] == lda.top_words(10)
    assert [topic["background"] for topic in shown] == [False, False]


def test_learning_on_forgets_them(lda):
    other = LDA(2, batch=20, sweeps=10, random_state=1).fit(texts())
    other.partial_fit(texts(40))
    assert [len(words) for words in other.top_words()] == [10, 10]


def test_documents_are_assigned(lda):
    topics, confidence = lda.assign(texts(20))
    mixtures = lda.transform(texts(20))
    np.testing.assert_array_equal(topics, mixtures.argmax(axis=1))  # two topics are treated alike
    np.testing.assert_allclose(confidence, mixtures.max(axis=1), rtol=1e-12)
    assert set(topics[::2]) == {topics[0]} != {topics[1]}


@pytest.mark.parametrize("seeds", [{"games": GAME[:2], "space": SPACE[:2]}, [GAME[:2], SPACE[:2]]])
def test_seeds_say_which_topic_is_which(seeds):
    model = LDA(2, batch=20, sweeps=10, passes=2, seeds=seeds, random_state=0).fit(texts())
    assert clone(model).seeds == seeds
    assert set(model.top_words(5)[0]) == set(GAME)
    if isinstance(seeds, dict):
        assert model.labels_ == ["games", "space"]


def test_bad_seeds():
    with pytest.warns(UserWarning, match="have no effect: unheard"):
        LDA(2, batch=20, seeds=[["goal", "unheard"]], random_state=0).fit(texts(60))
    with pytest.raises(ValueError, match="name 3 topics, and there are 2"):
        LDA(2, seeds=[["goal"], ["moon"], ["day"]]).fit(texts(20))
    with pytest.raises(ValueError, match="topic 1 has no words"):
        LDA(2, seeds=[["goal"], []]).fit(texts(20))
