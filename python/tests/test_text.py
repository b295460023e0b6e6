"""Texts and lists of tokens."""

import copy
import pickle

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from sklearn.feature_extraction.text import CountVectorizer
from sklearn.model_selection import GridSearchCV, train_test_split

from gibbstream import LDA, TextCorpus
from gibbstream.text import _unpickled

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
    rows = corpus.to_csr().toarray()
    mask = np.array([True, False, False, True])
    for key in (-1, slice(None, None, 2), [3, 0, 0], np.array([2, 1]), mask, pd.Series([1, 2]), (np.array([1]), ...)):
        places = np.atleast_1d(np.arange(4)[key[0] if isinstance(key, tuple) else key])
        np.testing.assert_array_equal(corpus[key].to_csr().toarray(), rows[places])
    for key in (4, -5, [0, 7]):
        with pytest.raises(IndexError):
            corpus[key]


def test_pickles_and_copies_are_the_same_corpus():
    corpus = TextCorpus(TEXTS, vocabulary=["dog", "cat", "horse"])
    for again in (pickle.loads(pickle.dumps(corpus)), copy.deepcopy(corpus)):
        np.testing.assert_array_equal(again.to_csr().toarray(), corpus.to_csr().toarray())
        assert (again.vocabulary, again.n_unknown_tokens) == (corpus.vocabulary, corpus.n_unknown_tokens)
        # Text is still cut in the same way.
        assert again.encode(["The DOG, the cat"]).n_tokens == 2
    tokens = pickle.loads(pickle.dumps(TextCorpus(TOKENS)))
    assert tokens.vocabulary == ["cat", "dog", "new york"]


def test_damaged_pickles_are_refused():
    arrays, *rest = TextCorpus(TEXTS).__reduce__()[1]
    starts, columns, counts = (part.copy() for part in arrays)
    columns[0] = 99
    for bad in ((starts, columns, counts), (starts[:-1], arrays[1], counts), (starts + 50, arrays[1], counts)):
        with pytest.raises(ValueError, match="pickled corpus: it is damaged"):
            _unpickled(bad, *rest)


def test_splitting_for_training_and_test():
    corpus = TextCorpus(TEXTS * 10)
    train, test, _, kept = train_test_split(corpus, np.arange(40), test_size=0.25, random_state=0)
    assert (len(train), len(test)) == (30, 10)
    np.testing.assert_array_equal(test.to_csr().toarray(), corpus.to_csr().toarray()[kept])
    search = GridSearchCV(LDA(batch=5, random_state=0), {"n_components": [1, 2]}, cv=2).fit(corpus)
    assert search.best_estimator_.n_features_in_ == corpus.shape[1]


def test_words_are_dropped_as_in_scikit_learn():
    texts = ["the cat", "the dog", "the cat dog", "fox"]
    assert TextCorpus(texts, stop_words=None).vocabulary == ["the", "cat", "dog", "fox"]
    assert TextCorpus(texts, stop_words="english").vocabulary == TextCorpus(texts, stop_words="en").vocabulary
    for parameters in ({"min_df": 0.5}, {"max_df": 0.5}, {"max_df": 2}, {"min_df": 2, "max_df": 0.9}, {"min_df": 0.3}):
        expected = CountVectorizer(**parameters).fit(texts).get_feature_names_out()
        assert sorted(TextCorpus(texts, stop_words=None, **parameters).vocabulary) == list(expected), parameters
    with pytest.raises(ValueError, match=r"min_df: 1.5 is not a share of the documents"):
        TextCorpus(texts, min_df=1.5)


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


def test_markup_addresses_and_numbers_are_no_words():
    page = "<p>The Fed&#8217;s rate didn&#8217;t rise in 2024.<br/>See https://example.com or a@b.org</p>"
    assert TextCorpus([page]).vocabulary == ["didn't", "fed", "rate", "rise"]
    kept = TextCorpus([page], html="keep", keep_urls=True, stop_words=None).vocabulary
    assert {"br", "https", "example", "org", "the"} <= set(kept)
    with pytest.raises(ValueError, match="html: `maybe` is not a choice; use auto, strip or keep"):
        TextCorpus([page], html="maybe")


def test_the_language_is_found_or_told():
    german = ["Das Schiff verließ den Hafen am Morgen, und niemand war da, um es zu sehen."]
    corpus = TextCorpus(german)
    assert corpus.language == "de"
    assert not {"das", "den", "und"} & set(corpus.vocabulary)
    assert {"das", "den", "und"} <= set(TextCorpus(german, language="en").vocabulary)
    assert TextCorpus(german, language="german").vocabulary == corpus.vocabulary
    assert TextCorpus([["das", "schiff"]]).language is None
    with pytest.raises(ValueError, match="language: `klingon` is not the code of a language"):
        TextCorpus(german, language="klingon")


def test_limits_adapt_to_the_number_of_documents():
    texts = ["plot actor scene", "novel page plot"] * 600 + ["once"]
    assert sorted(TextCorpus(texts).vocabulary) == ["actor", "novel", "page", "scene"]
    assert len(TextCorpus(texts, min_df=1, max_df=1.0).vocabulary) == 6
    with pytest.raises(ValueError, match='max_df: "most" is not a choice; use a number, or "auto"'):
        TextCorpus(texts, max_df="most")


def test_phrases_are_words():
    texts = ["new york harbour"] * 10 + ["ships sail far", "boats sail near", "ports close late"] * 4
    vocabulary = TextCorpus(texts, phrases=True).vocabulary
    assert "new_york" in vocabulary
    assert "york" not in vocabulary


def test_forms_of_a_word_are_one_and_shown_as_the_most_frequent():
    texts = ["Ships sail for universities.", "A ship sails.", "Shipping; ships sailed to the university, a university."]
    corpus = TextCorpus(texts * 10, stem="en", language="en")
    assert sorted(corpus.vocabulary) == ["sail", "ships", "university"]
    encoded = corpus.encode(["Shipped universities, sailing boats"])
    assert (encoded.n_tokens, encoded.n_unknown_tokens) == (3, 1)
    assert sorted(pickle.loads(pickle.dumps(corpus)).encode(["shipped"]).to_csr().data) == [1]
    given = TextCorpus(texts, stem="en", language="en", vocabulary=["shipping", "university"])
    assert given.vocabulary == ["shipping", "university"]
    assert given.n_tokens == 7
    with pytest.raises(ValueError, match="stem: there is no stemmer for `zh`; use one of ar, ca"):
        TextCorpus(texts, stem="zh")


def test_term_weights_are_kept():
    texts = [f"ship harbour {'sail' if row % 2 else 'rope'}{' lighthouse' * (row % 10 == 0)}" for row in range(300)]
    plain = TextCorpus(texts, max_df=1.0, min_df=1)
    weighted = TextCorpus(texts, max_df=1.0, min_df=1, term_weights="idf")
    assert weighted.vocabulary == plain.vocabulary
    # Words in all documents count nothing, and the others so much more that the mean weight is 1.
    assert weighted.to_csr()[:, weighted.vocabulary.index("ship")].sum() == 0
    assert weighted.n_tokens == pytest.approx(plain.n_tokens, rel=0.25)
    again = pickle.loads(pickle.dumps(weighted))
    for corpus in (weighted, again):
        assert corpus.encode(["ship ship ship"]).n_tokens == 0
        assert corpus.encode(["lighthouse"]).n_tokens > 1
    lda = LDA(2, batch=50, random_state=0).fit(weighted)
    assert (lda.transform(["ship ship"]) == lda.transform([""])).all()
    with pytest.raises(ValueError, match=r"term.weights: `bm25` is not a choice; use none or idf"):
        TextCorpus(texts, term_weights="bm25")
