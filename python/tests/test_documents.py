"""Raw text in, and documents seen through a model."""

import json
import subprocess
import sys
import warnings

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from scipy.sparse import csr_matrix
from sklearn.exceptions import ConvergenceWarning

import gibbstream
from conftest import ROOT
from gibbstream import HDP, LDA, TextCorpus

TEXTS = [
    "The cat chased a dog.",
    "Stocks rose and bonds fell.",
    "A dog and a cat slept.",
    "Bonds, stocks, shares!",
] * 30
PARAMETERS = {"batch": 10, "random_state": 0}


@pytest.fixture(scope="module")
def lda():
    return LDA(2, **PARAMETERS).fit(TEXTS)


@pytest.mark.parametrize(
    "column",
    [TEXTS, tuple(TEXTS), np.array(TEXTS), pd.Series(TEXTS, index=range(7, 127)), pl.Series(TEXTS), pa.array(TEXTS)],
    ids=["list", "tuple", "numpy", "pandas", "polars", "pyarrow"],
)
def test_fit_transform_and_score_take_text(column, lda):
    found = LDA(2, **PARAMETERS).fit(column)
    assert found.model_hash_ == lda.model_hash_ == LDA(2, **PARAMETERS).fit(TextCorpus(TEXTS)).model_hash_
    corpus = TextCorpus(TEXTS)
    np.testing.assert_array_equal(found.transform(column), lda.transform(corpus))
    assert (found.score(column), found.perplexity(column)) == (lda.score(corpus), lda.perplexity(corpus))
    assert gibbstream.evaluate(found, column) == gibbstream.evaluate(lda, corpus)
    assert found.partial_fit(column).n_documents_ == 240


def test_tokens_and_chunks(lda):
    tokens = [["dog", "cat"], ["bond", "stock"]] * 60
    assert LDA(2, **PARAMETERS).fit(tokens).vocabulary_ == ["bond", "cat", "dog", "stock"]
    chunks = (TEXTS[start : start + 7] for start in range(0, 120, 7))
    stream = LDA(2, **PARAMETERS, mode="file", text={"vocabulary": lda.vocabulary_}).fit(chunks)
    assert stream.model_hash_ == lda.model_hash_
    assert LDA(2, **PARAMETERS, text={"min_df": 31}).fit(TEXTS).vocabulary_ == ["bonds", "cat", "dog", "stocks"]
    for _ in range(2):
        hdp = HDP(**PARAMETERS).fit(TEXTS)
    assert hdp.transform(["a cat"]).shape == (1, hdp.n_components_)


def test_a_model_remembers_its_words(lda, tmp_path):
    ngrams = LDA(2, **PARAMETERS, text={"ngrams": 2, "stop_words": ["chased"], "min_length": 1}).fit(TEXTS)
    for name, model in (("plain", lda), ("ngrams", ngrams)):
        model.save(tmp_path / name)
        again = gibbstream.load(tmp_path / name)
        assert type(again) is LDA
        np.testing.assert_array_equal(again.transform(TEXTS[:4]), model.transform(TEXTS[:4]))
    assert "a_dog" in ngrams.vocabulary_
    HDP(**PARAMETERS).fit(TEXTS).save(tmp_path / "hdp")
    assert type(gibbstream.load(tmp_path / "hdp", n_jobs=2)) is HDP
    rows = np.random.default_rng(0).normal(size=(200, 2))
    gibbstream.GaussianMixture(2, random_state=0).fit(rows).save(tmp_path / "rows")
    assert type(gibbstream.load(tmp_path / "rows")) is gibbstream.GaussianMixture


def test_one_text_is_not_a_list_of_texts(lda):
    with pytest.raises(ValueError, match="X: this is one text; give a list of texts"):
        lda.transform("one text")


def test_texts_for_a_model_of_counts():
    counts = TextCorpus(TEXTS)
    lda = LDA(2, **PARAMETERS).fit(counts.to_csr())
    with pytest.raises(ValueError, match=r"fitted on counts whose columns have no names; .* set_vocabulary"):
        lda.transform(TEXTS)
    lda.set_vocabulary(counts.vocabulary)
    np.testing.assert_array_equal(lda.transform(TEXTS), lda.transform(counts))


def test_documents_of_topics(lda):
    mixtures = lda.transform(TEXTS)
    for topic, documents in enumerate(lda.top_documents(pd.Series(TEXTS, index=range(500, 620)), 3)):
        assert [document.weight for document in documents] == sorted(mixtures[:, topic], reverse=True)[:3]
        for index, weight, text in documents:
            assert (mixtures[index, topic], TEXTS[index]) == (weight, text)
    assert lda.top_documents(TextCorpus(TEXTS), 1)[0][0].text is None
    assert lda.top_documents([["cat", "dog"], ["bonds"]], 1)[lda.find_topics("cat")[0].topic][0].text == "cat dog"


def test_topics_of_documents(lda):
    mixtures = lda.transform(TEXTS[:4])
    for row, found in zip(mixtures, lda.document_topics(TEXTS[:4], top=2), strict=True):
        assert found == sorted(enumerate(row), key=lambda pair: -pair[1])
    assert all(len(found) == 1 for found in lda.document_topics(TEXTS[:4], min_share=0.5))


def test_topics_of_words(lda):
    pets = lda.find_topics("cat dog")[0].topic
    found = lda.token_topics([TEXTS[0], "unknown words", TEXTS[1]])
    assert sorted(word for word, _ in found[0]) == ["cat", "chased", "dog"]
    assert found[1] == []
    # One sample for each word: most of them are of the topic that the text is about.
    for text, topic in [(found[0], pets), (found[2], 1 - pets)]:
        assert sum(own == topic for _, own in text) > len(text) / 2


def test_topics_of_words_are_draws_of_what_mixtures_are_means_of(lda):
    """With n_k words of topic k, E[theta_k] = (E[n_k] + alpha_k) / (n + sum alpha): the counts of one draw differ from
    what follows from the means by no more than their posterior deviations say, here 5 of them over 300 documents."""
    draw, length = np.random.default_rng(0), 6
    texts = [" ".join(draw.choice(lda.vocabulary_, length)) for _ in range(300)]
    counts = np.array([sum(topic == 0 for _, topic in words) for words in lda.token_topics(texts)])
    alpha, total = lda.alpha_[0], length + lda.alpha_.sum()
    expected = lda.transform(texts)[:, 0] * total - alpha
    deviation = np.sqrt(((lda.documents_frame(texts).deviation * total) ** 2).sum())
    assert deviation < 0.02 * counts.size * length, "the bound would say nothing"
    assert abs((counts - expected).sum()) < 5 * deviation
    assert np.corrcoef(counts, expected)[0, 1] > 0.5


def test_topics_by_query(lda):
    joint = lda.topic_word_ * lda.topic_shares_[:, None]
    cat = lda.vocabulary_.index("cat")
    expected = joint[:, cat] / joint[:, cat].sum()
    for topic, weight, words in lda.find_topics("The CAT"):
        assert weight == pytest.approx(expected[topic])
        assert words == lda.top_words()[topic]
    with pytest.raises(ValueError, match="the model knows no word of 'stokcs'; it knows stocks"):
        lda.find_topics("stokcs")


def test_similar_documents(lda):
    (found,) = lda.similar_documents(["my dog"], TEXTS, 60)
    assert all("dog" in document.text for document in found[:40])
    one, other = np.sqrt(lda.transform(["my dog"])[0]), np.sqrt(lda.transform([found[0].text])[0])
    assert found[0].weight == pytest.approx(1 - np.sqrt(((one - other) ** 2).sum() / 2))
    (itself,) = lda.similar_documents([TEXTS[1]], TEXTS[1:2], 1)
    assert itself[0].weight == pytest.approx(1.0)


def test_notebooks_show_topics(lda):
    shown = lda._repr_mimebundle_(include=None)["text/html"]
    assert all(word in shown for word in lda.top_words(3)[0])
    hostile = LDA(2, **PARAMETERS).fit([["<script>", "b"]] * 100)
    assert "<script>" not in hostile._repr_html_()
    assert "LDA" in LDA()._repr_html_()


def test_few_minibatches_are_mentioned():
    with pytest.warns(ConvergenceWarning, match="only 2 minibatches were learnt from; a smaller batch, more passes"):
        LDA(2, batch=60, random_state=0).fit(TEXTS)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        LDA(2, batch=10, random_state=0).fit(TEXTS)
        LDA(2, batch=60, random_state=0).partial_fit(TEXTS)
        LDA(2, method="batch-gibbs", sweeps=2, passes=2, random_state=0).fit(TEXTS)


def test_cells(counts):
    anndata = pytest.importorskip("anndata")
    adata = anndata.AnnData(csr_matrix(counts, dtype=np.float32))
    adata.layers["counts"] = adata.X.copy()
    adata.X.data += 0.5
    lda = gibbstream.single_cell.fit(adata, 4, layer="counts", batch=20, random_state=0)
    assert lda.model_hash_ == LDA(4, batch=20, random_state=0).fit(counts).model_hash_
    np.testing.assert_array_equal(adata.obsm["X_topics"], lda.transform(counts))
    np.testing.assert_array_equal(adata.varm["topics"].T, lda.topic_word_)
    assert lda.vocabulary_ == list(adata.var_names)
    with pytest.raises(ValueError, match="the values are not counts; give raw counts"):
        gibbstream.single_cell.fit(adata, 4)
    binary = gibbstream.single_cell.fit(adata, 4, layer="counts", binary=True, key="open", batch=20, random_state=0)
    assert binary.n_tokens_ == counts.nnz
    assert adata.obsm["X_open"].shape == (600, 4)


def test_the_package_brings_the_program(tmp_path):
    def run(*words):
        return subprocess.run(
            [sys.executable, "-m", "gibbstream", *words], cwd=tmp_path, capture_output=True, text=True, check=False
        )

    corpus = str(ROOT / "examples" / "corpus" / "harbour-letter.jsonl")
    done = run("train", corpus, "--topics", "3", "--batch", "20", "--out", "m.gbs", "--json")
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout)["model_hash"] == gibbstream.load(tmp_path / "m.gbs").model_hash_
    done = run("train", corpus, "--topics", "0", "--out", "m.gbs")
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr.startswith("error: --topics: ")
