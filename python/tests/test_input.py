"""Everything that can be learnt from, and what cannot."""

import numpy as np
import pytest
from scipy import sparse

from gibbstream import LDA
from gibbstream.matrix import source


def fitted(X, **parameters):
    return LDA(3, batch=50, random_state=0, **parameters).fit(X)


@pytest.fixture(scope="module")
def expected(counts):
    return fitted(counts).model_hash_


@pytest.mark.parametrize(
    "dtype", ["?", "i1", "i2", "i4", "i8", "u1", "u2", "u4", "u8", "f2", "f4", "f8", ">i4", ">f8", "longlong"]
)
def test_any_kind_of_numbers(counts, expected, dtype):
    X = counts.copy()
    if dtype == "?":
        assert fitted(X.astype(bool)).n_tokens_ == counts.nnz
        return
    X.data = X.data.astype(dtype)
    assert fitted(X).model_hash_ == expected
    assert fitted(counts.toarray().astype(dtype)).model_hash_ == expected


@pytest.mark.parametrize("kind", ["csc_matrix", "coo_matrix", "lil_matrix", "csr_array", "csc_array"])
def test_any_kind_of_sparse_matrix(counts, expected, kind):
    assert fitted(getattr(sparse, kind)(counts)).model_hash_ == expected


def test_any_layout_of_dense_arrays(counts, expected):
    dense = counts.toarray()
    wide = np.repeat(dense, 2, axis=1)[:, ::2]
    for X in (np.asfortranarray(dense), wide, dense.tolist()):
        assert fitted(X).model_hash_ == expected
    dense.setflags(write=False)
    assert fitted(dense).model_hash_ == expected


def test_large_indices(counts, expected):
    X = counts.copy()
    X.indices, X.indptr = X.indices.astype(np.int64), X.indptr.astype(np.int64)
    assert fitted(X).model_hash_ == expected


def test_unsorted_and_repeated_entries_and_zeros(counts, expected):
    random = np.random.default_rng(0)
    indptr, indices, data = [0], [], []
    for row in range(counts.shape[0]):
        entries = counts[row]
        words = np.repeat(entries.indices, entries.data)
        random.shuffle(words)
        indices.append(np.append(words, [0]))
        data.append(np.append(np.ones(len(words), dtype=int), [0]))
        indptr.append(indptr[-1] + len(words) + 1)
    X = sparse.csr_matrix((np.concatenate(data), np.concatenate(indices), indptr), shape=counts.shape)
    assert not X.has_canonical_format
    entries = X.nnz
    assert fitted(X).model_hash_ == expected
    assert X.nnz == entries, "the matrix is left as it was"


@pytest.mark.parametrize("dtype", ["i4", "i8", "f4", "f8", "u1"])
def test_sparse_matrices_are_not_copied(counts, dtype):
    X = counts.astype(dtype)
    indptr, indices, data, width = source(LDA()._validated(X, reset=True))
    assert width == counts.shape[1]
    for given, read in ((X.indptr, indptr), (X.indices, indices), (X.data, data)):
        assert np.shares_memory(given, read)
    dense = np.ascontiguousarray(counts.toarray().astype(dtype))
    assert np.shares_memory(dense, source(LDA()._validated(dense, reset=True))[0])


def test_fractions_are_rounded_the_same_way_everywhere(counts, held_out):
    lda = fitted(counts * 0.7)
    assert lda.n_tokens_ == pytest.approx(0.7 * counts.sum(), rel=0.02)
    mixtures = lda.transform(held_out * 0.7)
    np.testing.assert_array_equal(lda.transform(held_out[30:] * 0.7), mixtures[30:])
    np.testing.assert_array_equal(lda.transform((held_out * 0.7).toarray()), mixtures)


def test_empty_documents_have_the_prior_mixture(counts):
    lda = fitted(counts)
    empty = sparse.csr_matrix((2, counts.shape[1]))
    np.testing.assert_allclose(lda.transform(empty), np.stack([lda.alpha_ / lda.alpha_.sum()] * 2))
    lda.partial_fit(empty)
    assert lda.n_documents_ == 602
    with pytest.raises(ValueError, match="no words that the model knows"):
        lda.score(empty)


def entry(X, value):
    X = X.astype(float)
    X.data[5] = value
    return X


@pytest.mark.parametrize(
    ("spoil", "message"),
    [
        (lambda X: entry(X, -1), "Negative values in data passed to"),
        (lambda X: entry(X, np.nan), "contains NaN"),
        (lambda X: entry(X, np.inf), "contains infinity"),
        (lambda X: X[:0], "0 sample"),
        (lambda X: X[:, :0], "0 feature"),
        (lambda X: X[:, :-1], "is expecting 48 features"),
        (lambda X: np.array([["a", "b"]]), "could not convert|not compatible|dtype='numeric'"),
        (lambda X: np.arange(5), "Expected 2D array, got 1D array"),
        (lambda X: entry(X, 2**40), "has more than 16777216 tokens; split it"),
    ],
)
def test_bad_input_is_refused(counts, held_out, spoil, message):
    lda = fitted(counts)
    before = lda.model_hash_
    bad = spoil(held_out)
    for call in (lda.partial_fit, lda.transform, lda.score, lda.perplexity, lda.log_likelihood):
        with pytest.raises(ValueError, match=message):
            call(bad)
    assert lda.model_hash_ == before, "nothing was learnt from it"
    if "expecting" not in message:
        with pytest.raises(ValueError, match=message):
            LDA().fit(bad)


def test_broken_sparse_matrices_are_refused(counts):
    lda = fitted(counts)
    X = counts.copy()
    X.indices[3] = 1000
    with pytest.raises(ValueError, match="row 0: a column is not one of 0 to 47; build the sparse matrix anew"):
        lda.partial_fit(X)
    X = counts.copy()
    X.indptr[4] = 10**6
    with pytest.raises(ValueError, match="row 3: its entries are not where `indptr` says"):
        lda.partial_fit(X)
