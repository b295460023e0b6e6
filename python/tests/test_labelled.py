"""Labels of topics, topics over time and by group, and topics that come again."""

import copy
import json

import numpy as np
import pytest

import gibbstream
from gibbstream import LDA, stability

TEXTS = ["cat dog bird cat", "stock bond share stock", "goal match team goal"] * 60


@pytest.fixture(scope="module")
def lda():
    return LDA(3, batch=20, random_state=0).fit(TEXTS)


def test_labels_are_kept_in_the_file(lda, tmp_path):
    model = copy.deepcopy(lda)
    before = model.labels_
    assert all(len(label.split(", ")) == 3 for label in before)
    model.set_labels({1: "money"})
    assert model.labels_[1] == "money"
    assert model.labels_[0] == before[0]
    assert model.model_hash_ == lda.model_hash_
    model.save(tmp_path / "m.gbs")
    assert gibbstream.load(tmp_path / "m.gbs").labels_ == model.labels_
    model.partial_fit(TEXTS[:40])
    assert model.labels_[1] == "money"
    model.set_labels({1: ""})
    assert model.labels_[1] != "money"
    assert model.set_labels(["a", "b", "c"]).labels_ == ["a", "b", "c"]
    assert model.topics_frame().label.tolist() == ["a", "b", "c"]
    assert set(model.documents_frame(TEXTS[:6]).label) <= {"a", "b", "c"}


def test_labels_of_the_page(lda, tmp_path):
    model = copy.deepcopy(lda)
    path = tmp_path / "labels.json"
    labels = {"schema": "gibbstream/labels/1", "model_hash": model.model_hash_, "topics": {"2": {"label": "pets"}}}
    path.write_text(json.dumps(labels))
    assert model.set_labels(path).labels_[2] == "pets"
    path.write_text(json.dumps({**labels, "model_hash": "beef"}))
    with pytest.raises(ValueError, match="for another model"):
        model.set_labels(path)
    path.write_text("{")
    with pytest.raises(ValueError, match="is not a file of labels"):
        model.set_labels(str(path))


def test_bad_labels_are_refused(lda):
    model = copy.deepcopy(lda)
    for labels, problem in [({3: "x"}, "topic 3"), ({0: "a\nb"}, "control characters"), ({-1: "x"}, "labels")]:
        with pytest.raises(ValueError, match=problem):
            model.set_labels(labels)
    with pytest.raises(gibbstream.NotLearntError):
        LDA(2).set_labels({0: "x"})
    assert not hasattr(LDA(2), "labels_")


def test_topics_over_time(lda):
    times = np.array(["2024-01-10", "2024-02-10", "2024-04-10"] * 60, dtype="datetime64[D]")
    frame = lda.timeline_frame(TEXTS, times, by="month")
    assert len(frame) == 4 * 3, "March has no documents"
    assert frame.share.isna().sum() == 3
    first = frame[frame.start.dt.month == 1].set_index("topic")
    theta = lda.transform(TEXTS)[::3].mean(axis=0)
    assert np.allclose(first.share, theta, atol=0.02)
    again = lda.timeline_frame(TEXTS, [str(time) for time in times], by="month")
    assert again.equals(frame)
    with pytest.raises(ValueError, match="times: there are 3 for 180 documents"):
        lda.timeline_frame(TEXTS, times[:3])
    with pytest.raises(ValueError, match="use hour, day, week"):
        lda.timeline_frame(TEXTS, times, by="fortnight")


def test_topics_by_group(lda):
    frame = lda.groups_frame(TEXTS, ["pets", "money", "sport"] * 60, n_words=2)
    assert list(frame.columns[:4]) == ["group", "documents", "tokens", "topic"]
    main = frame.sort_values("share").groupby("group").last()
    assert main.topic.nunique() == 3
    assert (main.low <= main.share).all()
    assert all(len(words) <= 2 for words in frame.words)


def test_stability(lda):
    others = [LDA(3, batch=20, random_state=seed).fit(TEXTS) for seed in (1, 2)]
    found = stability([lda, *others])
    assert 0 <= found["stability"] <= 1
    assert [len(topic["partners"]) for topic in found["topics"]] == [2, 2, 2]
    same = stability([lda, lda])
    assert same["stable_topics"] == 3
    assert same["stability"] == pytest.approx(1, abs=1e-6)
    with pytest.raises(ValueError, match="one model says nothing"):
        stability([lda])
