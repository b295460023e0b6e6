"""The page of a model, and its numbers as data frames."""

import base64
import datetime
import gzip
import html
import json
import re
import subprocess
import sys

import numpy as np
import pandas as pd
import polars as pl
import pytest

import gibbstream
from gibbstream import HDP, LDA, TextCorpus

TEXTS = [
    "The cat chased a dog.",
    "Stocks rose and bonds fell.",
    "A dog and a cat slept.",
    "Bonds, stocks, shares <b>!</b>",
    "A planet, a star and a comet.",
] * 24
GROUPS = ["pets", "money", "pets", "money", "space"] * 24
TIMES = [datetime.date(2024, 1 + place // 10, 1) for place in range(120)]


@pytest.fixture(scope="module")
def lda():
    return LDA(3, batch=10, random_state=0).fit(TEXTS)


def inside(page):
    """The data that a page holds."""
    (packed,) = re.findall(r'id="report-data">([^<]*)</script>', page)
    return json.loads(gzip.decompress(base64.b64decode(packed)))


def test_the_page_holds_what_the_program_writes(lda, tmp_path):
    lda.save(tmp_path / "model.gbs")
    fields = zip(TEXTS, TIMES, GROUPS, strict=True)
    lines = [json.dumps({"text": text, "when": str(time), "from": group}) for text, time, group in fields]
    (tmp_path / "texts.jsonl").write_text("\n".join(lines), encoding="utf-8")
    command = [
        "report",
        "model.gbs",
        "texts.jsonl",
        "--time-field",
        "when",
        "--group-field",
        "from",
        "--format",
        "json",
    ]
    done = subprocess.run(
        [sys.executable, "-m", "gibbstream", *command], cwd=tmp_path, capture_output=True, check=True, text=True
    )
    program = json.loads(done.stdout)

    path = lda.report(tmp_path / "page.html", TEXTS, times=TIMES, groups=GROUPS, title="A <title>")
    page = path.read_text(encoding="utf-8")
    assert "<title>A &lt;title&gt;</title>" in page
    found = inside(page)
    assert program["documents"].pop("texts")[3]["text"] == TEXTS[3]
    assert found["documents"].pop("texts") is None, "they stand in an element of their own"
    assert (found["timeline"].pop("field"), program["timeline"].pop("field")) == ("times", "when")
    assert (found["groups"].pop("field"), program["groups"].pop("field")) == ("groups", "from")
    names = {name for name in found if found[name] != program[name]}
    assert names == {"title", "commands"}
    assert found["groups"]["names"] == ["money", "pets", "space"]


def test_without_documents_there_are_topics_alone(lda, tmp_path):
    found = inside(lda.report(tmp_path / "page.html").read_text(encoding="utf-8"))
    assert found["documents"] is None
    assert len(found["topics"]) == 3
    assert list(tmp_path.iterdir()) == [tmp_path / "page.html"]


def test_labels_come_back_and_models_are_compared(lda, tmp_path):
    labels = {
        "schema": "gibbstream/labels/1",
        "model_hash": lda.model_hash_,
        "topics": {"1": {"label": "mine", "hidden": True}},
    }
    (tmp_path / "labels.json").write_text(json.dumps(labels), encoding="utf-8")
    other = LDA(2, batch=10, random_state=1).fit(TEXTS)
    for given in (labels, tmp_path / "labels.json"):
        page = lda.report(tmp_path / "page.html", TEXTS, labels=given, compare=other)
        found = inside(page.read_text(encoding="utf-8"))
        assert found["labels"] == {"1": {"label": "mine", "hidden": True}}
        assert found["comparison"]["name"] == "LDA"
    labels["model_hash"] = other.model_hash_
    with pytest.raises(ValueError, match=r"labels: its labels are for the model .*force_labels=True"):
        lda.report(tmp_path / "page.html", labels=labels)
    lda.report(tmp_path / "page.html", labels=labels, force_labels=True)


def test_a_notebook_shows_the_page_in_a_frame(lda):
    page = lda.explore(TEXTS, height=500)
    shown = page._repr_html_()
    (content,) = re.findall(r'^<iframe title="Topics" srcdoc="([^"]*)"', shown)
    assert html.unescape(content) == str(page)
    assert 'sandbox="allow-scripts allow-downloads"' in shown
    assert "height: 500px" in shown
    assert len(inside(str(page))["documents"]["ids"]) == 120
    assert "characters" in repr(page)


@pytest.mark.parametrize(
    "times",
    [
        TIMES,
        pd.Series(pd.to_datetime(TIMES)),
        pl.Series(TIMES),
        np.array(TIMES, dtype="datetime64[s]"),
        [str(time) for time in TIMES],
        [datetime.datetime(time.year, time.month, 1, tzinfo=datetime.timezone.utc).timestamp() for time in TIMES],
    ],
    ids=["dates", "pandas", "polars", "numpy", "text", "seconds"],
)
def test_times_of_all_kinds(lda, times):
    timeline = inside(str(lda.explore(TEXTS, times=times)))["timeline"]
    # Weeks begin on Monday.
    found = (timeline["by"], timeline["starts"][0], timeline["starts"][-1])
    assert found == ("week", "2024-01-01T00:00:00Z", "2024-11-25T00:00:00Z")
    assert sum(timeline["documents"]) == 120


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"X": TEXTS, "times": TIMES[1:]}, "times: there are 119 for 120 documents; give one for each document"),
        ({"X": TEXTS, "times": ["soon"] * 120}, "times: document 0: field `times`: `soon` is not a time"),
        ({"X": TEXTS, "texts": TEXTS[:5]}, "texts: there are 5 for 120 documents"),
        ({"X": TEXTS, "ids": ["one"]}, "ids: there are 1 for 120 documents"),
        ({"groups": GROUPS}, "X: there are no documents for these texts, times, groups or ids; give X"),
        ({"X": ["unheard of", "nothing"]}, "X: none of 2 documents has a word that the model knows"),
        ({"X": TEXTS, "relevance": 2}, r"relevance: 2 is not in \[0, 1\]"),
        ({"X": TEXTS, "max_documents": -1}, "max_documents: -1 is below 0"),
        ({"X": TEXTS, "labels": {}}, "labels: is not a file of labels: missing field `schema`"),
    ],
)
def test_what_does_not_fit_is_refused(lda, tmp_path, given, message):
    given = dict(given)
    with pytest.raises(ValueError, match=message):
        lda.report(tmp_path / "page.html", given.pop("X", None), **given)
    assert list(tmp_path.iterdir()) == [], "nothing is half-written"


def test_a_page_replaces_nothing_but_a_page(lda, tmp_path):
    model, page = tmp_path / "model.gbs", tmp_path / "page.html"
    lda.save(model)
    before = model.read_bytes()
    with pytest.raises(ValueError, match=r"holds something else than a page or its data; .*force"):
        lda.report(model)
    assert model.read_bytes() == before
    for force in (False, False, True):
        lda.report(page, force=force)
    lda.report(model, force=True)
    assert model.read_bytes() == page.read_bytes()


def test_other_errors(lda, tmp_path):
    with pytest.raises(ValueError, match=r"the folder .* does not exist; create it first"):
        lda.report(tmp_path / "nowhere" / "page.html")
    with pytest.raises(gibbstream.NotLearntError):
        LDA(3).report(tmp_path / "page.html")
    with pytest.raises(ValueError, match="top: 0 topics per document"):
        lda.documents_frame(TEXTS, top=0)


def test_counts_with_texts_are_shown_as_texts(lda):
    corpus = TextCorpus(TEXTS, vocabulary=lda.vocabulary_)
    with_texts = inside(str(lda.explore(corpus.to_csr(), texts=TEXTS)))["documents"]
    assert with_texts["has_texts"]
    assert not inside(str(lda.explore(corpus)))["documents"]["has_texts"]
    assert with_texts["mixtures"] == inside(str(lda.explore(TEXTS)))["documents"]["mixtures"]


def test_a_model_of_counts_drops_no_word_of_a_text():
    counts = np.array([[3, 2, 1], [1, 2, 3]] * 40)
    lda = LDA(2, batch=10, random_state=0).fit(counts).set_vocabulary(["the", "a", "cat"])
    page = str(lda.explore(counts[:2], texts=["the the the a a cat", "the a a cat cat cat"]))
    (packed,) = re.findall(r'id="report-documents">([^<]*)</script>', page)
    texts = json.loads(gzip.decompress(base64.b64decode(packed)))
    assert [len(text["tokens"]) for text in texts] == [3 * 6, 3 * 6], "three numbers for each token"


def test_topics_as_a_frame(lda):
    frame = lda.topics_frame(TEXTS, n_words=3)
    assert frame.index.tolist() == [0, 1, 2]
    np.testing.assert_array_equal(frame["share"], lda.topic_shares_)
    np.testing.assert_array_equal(frame["alpha"], lda.alpha_)
    assert frame["words"].tolist() == lda.top_words(3)
    assert frame["documents"].sum() == 120
    coherence = gibbstream.coherence(lda, TEXTS)
    np.testing.assert_allclose(frame["coherence"], [topic["npmi"] for topic in coherence["topics"]], rtol=1e-12)
    alone = lda.topics_frame()
    assert alone["coherence"].isna().all()
    assert alone["documents"].isna().all()
    assert alone["words"].map(len).max() == 10


@pytest.mark.parametrize("kind", [LDA, HDP])
def test_documents_as_a_frame(kind):
    model = kind(batch=10, random_state=0).fit(TEXTS)
    mixtures = model.transform(TEXTS)
    frame = model.documents_frame(TEXTS)
    assert frame["document"].tolist() == list(range(120))
    np.testing.assert_array_equal(frame["topic"], mixtures.argmax(axis=1))
    np.testing.assert_array_equal(frame["share"], mixtures.max(axis=1))
    assert (frame["deviation"] > 0).all()
    assert frame["label"].tolist() == model.topics_frame()["label"].loc[frame["topic"]].tolist()
    every = model.documents_frame(TEXTS, top=1000)
    assert len(every) == mixtures.size
    np.testing.assert_allclose(every.groupby("document")["share"].sum(), 1)
    unknown = model.documents_frame(["nothing known here", "cat"], ids=["a", "b"], top=2, min_share=1.0)
    assert unknown["document"].tolist() == ["a", "b"]
    assert unknown["topic"].isna().tolist() == [True, False]
    assert unknown["tokens"].tolist() == [0, 1]


def test_relevance_is_that_of_pyldavis(lda):
    pyldavis = pytest.importorskip("pyLDAvis", reason="pyLDAvis is missing: relevance is NOT compared with it")
    phi, shares, words = lda.topic_word_, lda.topic_shares_, np.array(lda.vocabulary_)
    # Topic proportions are those of the model if there is one document that has them.
    prepared = pyldavis.prepare(
        phi, [shares], [10**6], words, phi.T @ shares * 10**6, R=5, lambda_step=0.1, sort_topics=False
    )
    theirs = prepared.topic_info
    for relevance in (0.0, 0.3, 0.6, 1.0):
        ours = lda.top_words(5, relevance=relevance)
        for topic in range(3):
            rows = theirs[theirs["Category"] == f"Topic{topic + 1}"].set_index("Term")
            score = relevance * rows["logprob"] + (1 - relevance) * rows["loglift"]
            best = score.sort_values(ascending=False)[:5]
            # Words whose relevance is the same may come in any order: pyLDAvis keeps four digits.
            np.testing.assert_allclose(score.loc[ours[topic]], best, atol=2e-4)
