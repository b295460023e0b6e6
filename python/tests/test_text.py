"""Texts and lists of tokens."""

import pickle

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

from gibbstream import LDA, TextCorpus

TEXTS = ["A cat and a dog.", "The dog didn't bark, the CAT did.", "", "Naïve 👍 cats"]
TOKENS = [["new york", "cat"], ["cat"], [], [" cat ", "", "dog"]]


def arrow_columns(values):
    kind = pa.large_string() if isinstance(values[0], str) else pa.list_(pa.string())
    yield pd.Series(values)
    if isinstance(values[0], str):
        yield pd.Series(values, dtype="string[pyarrow]")
        yield pd.Series(values).astype("category")
    yield pl.Series(values)
    yield pa.array(values, kind)
    yield pa.chunked_array([values[:1], values[1:]], kind)


@pytest.mark.parametrize("values", [TEXTS, TOKENS], ids=["texts", "tokens"])
def test_all_kinds_of_columns(values):
    expected = TextCorpus(values)
    for column in [*arrow_columns(values), tuple(values), iter(values), (value for value in values)]:
        corpus = TextCorpus(column)
        assert corpus.vocabulary == expected.vocabulary, type(column)
        np.testing.assert_array_equal(corpus.to_csr().toarray(), expected.to_csr().toarray())


def test_words_and_counts():
    corpus = TextCorpus(TEXTS)
    assert corpus.vocabulary == ["cat", "dog", "bark", "cats", "didn't", "naïve", "👍"]
    assert (len(corpus), corpus.shape, corpus.n_tokens, corpus.n_unknown_tokens) == (4, (4, 7), 9, 0)
    assert repr(corpus) == "TextCorpus(4 documents, 7 words, 9 tokens)"
    assert TextCorpus(TEXTS, min_df=2).vocabulary == ["cat", "dog"]
    assert TextCorpus(TEXTS, max_df=0.3).vocabulary == ["bark", "cats", "didn't", "naïve", "👍"]
    assert TextCorpus(TEXTS, max_vocab=1).vocabulary == ["cat"]
    assert TextCorpus(TEXTS, stop_words=["cat", "dog"]).vocabulary[:2] == ["the", "and"]
    assert "CAT" in TextCorpus(TEXTS, lowercase=False).vocabulary
    assert "cat_dog" in TextCorpus(TEXTS, ngrams=2).vocabulary
    given = TextCorpus(TEXTS, vocabulary=["dog", "horse"])
    assert (given.vocabulary, given.n_tokens, given.n_unknown_tokens) == (["dog", "horse"], 2, 7)


def test_slices():
    corpus = TextCorpus(TEXTS)
    np.testing.assert_array_equal(corpus[1:3].to_csr().toarray(), corpus.to_csr().toarray()[1:3])
    assert len(corpus[-1:]) == 1
    with pytest.raises(TypeError, match="cut by slices"):
        corpus[0]
    with pytest.raises(TypeError, match="is not pickled"):
        pickle.dumps(corpus)


@pytest.mark.parametrize(
    ("texts", "error", "message"),
    [
        ("one text", TypeError, "put it into a list"),
        ([1, 2], TypeError, "document 0 is of type int; a document is a string or a list of strings"),
        (["a", None], TypeError, "document 1 is of type NoneType"),
        (["a", float("nan")], TypeError, "document 1 is of type float"),
        ([["a", 3]], TypeError, "document 0 is a list with something in it that is not a string"),
        ([b"bytes"], TypeError, "document 0 is bytes, not text"),
        ([["line\nbreak"]], ValueError, "token 1 of document 0 has a line break in it"),
        ([], ValueError, "vocabulary: no word was found in 0 documents"),
        (["the", "of"], ValueError, "vocabulary: no word was found in 2 documents"),
        (pa.array(["a", None]), TypeError, "document 1 is null"),
        (pa.array([1, 2]), TypeError, "the column holds Int64; give a column of strings or of lists of strings"),
        (pa.table({"text": ["a"]}), TypeError, "this is a table; give one of its columns"),
        (pl.DataFrame({"text": ["a"]}), TypeError, "this is a table; give one of its columns"),
        (pd.DataFrame({"text": ["a"]}), TypeError, "this is a table; give one of its columns"),
    ],
    ids=str,
)
def test_what_is_no_text_is_refused(texts, error, message):
    with pytest.raises(error, match=message):
        TextCorpus(texts)


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"stop_words": "klingon"}, "stop_words: `klingon` is neither"),
        ({"ngrams": 9}, "ngrams: 9 is not between 1 and 5"),
        ({"max_df": 0.0}, "max_df: 0 is not a share of the documents"),
        ({"min_df": 9}, "none of the 7 distinct words of 4 documents is left"),
        ({"vocabulary": ["a", "a"]}, "is the same as word 1"),
    ],
)
def test_settings_that_make_no_sense_are_refused(parameters, message):
    with pytest.raises(ValueError, match=message):
        TextCorpus(TEXTS, **parameters)


def test_corpora_are_matched_by_spelling():
    corpus = TextCorpus(["cat dog bird", "stock bond share"] * 100)
    lda = LDA(2, batch=20, random_state=0).fit(corpus)
    same = lda.transform(corpus[:2])
    np.testing.assert_array_equal(lda.transform(corpus.encode(["bird cat horse dog", "stock bond share"])), same)
    np.testing.assert_array_equal(lda.transform(TextCorpus(["horse bird dog cat", "share bond stock"])), same)
    lda.partial_fit(TextCorpus(["horse bird dog cat"]))
    assert lda.n_tokens_ == 603, "a word that the model does not know is left out"
    assert lda.fit(corpus.to_csr()).vocabulary_[0] == "0"


def test_counts_and_corpora_are_the_same():
    corpus = TextCorpus(["cat dog bird", "stock bond share"] * 100)
    from_text = LDA(2, batch=20, random_state=0).fit(corpus)
    assert LDA(2, batch=20, random_state=0).fit(corpus.to_csr()).model_hash_ == from_text.model_hash_
