"""Models of rows of numbers."""

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.utils.estimator_checks import parametrize_with_checks

from gibbstream import ICA, BernoulliMixture, GaussianMixture, MultinomialMixture, PoissonMixture

MIXTURES = [GaussianMixture, PoissonMixture, MultinomialMixture, BernoulliMixture]


@parametrize_with_checks([GaussianMixture(), ICA()])
@pytest.mark.filterwarnings("ignore::sklearn.exceptions.SkipTestWarning")
def test_check_estimator(estimator, check):
    check(estimator)


@pytest.fixture
def labels():
    return np.arange(600) % 2


def rows(kind, labels):
    random = np.random.default_rng(0)
    low, high = (0.5, 6.0) if kind is not BernoulliMixture else (0.1, 0.9)
    rates = np.where(labels[:, None] == (np.arange(4) < 2), high, low)
    if kind is GaussianMixture:
        return random.normal(rates)
    return (random.random(rates.shape) < rates).astype(float) if kind is BernoulliMixture else random.poisson(rates)


@pytest.mark.parametrize("kind", MIXTURES)
def test_mixtures_find_their_components(kind, labels, tmp_path):
    X = rows(kind, labels)
    model = kind(2, batch=50, random_state=0, passes=2).fit(X)
    found = model.predict(X)
    agreement = np.mean(found == labels)
    assert max(agreement, 1 - agreement) > 0.9
    assert np.allclose(model.predict_proba(X).sum(axis=1), 1)
    assert np.isclose(model.weights_.sum(), 1)
    assert model.score(X) > kind(1, batch=50, random_state=0).fit(X).score(X)
    assert model.score_samples(X).shape == (600,)
    path = tmp_path / "model.gbs"
    model.save(path)
    loaded = kind.load(path)
    assert loaded.model_hash_ == model.model_hash_
    assert np.array_equal(loaded.predict_proba(X), model.predict_proba(X))
    with pytest.raises(ValueError, match="is of kind"):
        ICA.load(path)


def test_chunks_and_threads_change_no_bit(labels):
    X = rows(GaussianMixture, labels)
    whole = GaussianMixture(2, batch=50, random_state=3, n_jobs=2).fit(X)
    parts = GaussianMixture(2, batch=50, random_state=3)
    for start in range(0, 600, 150):
        parts.partial_fit(X[start : start + 150])
    assert parts.model_hash_ == whole.model_hash_
    assert clone(whole).get_params() == whole.get_params()
    assert whole.means_.shape == (2, 4)
    assert whole.covariances_.shape == (2, 4, 4)


def test_sources_are_found():
    random = np.random.default_rng(1)
    sources = random.laplace(size=(4000, 2))
    mixing = np.array([[1.0, 0.3], [-0.4, 0.9], [0.5, 0.5]])
    X = sources @ mixing.T + 0.1 * random.normal(size=(4000, 3))
    ica = ICA(2, random_state=0, passes=2).fit(X)
    assert ica.mixing_.shape == (3, 2)
    found = ica.transform(X)
    match = np.abs(np.corrcoef(found.T, sources.T)[:2, 2:]).max(axis=1)
    assert (match > 0.9).all()


def test_values_out_of_range_are_refused():
    with pytest.raises(ValueError, match="not a count"):
        PoissonMixture(2).fit([[0.5, 1.0], [2.0, 3.0]])
    with pytest.raises(ValueError, match="not an answer"):
        BernoulliMixture(2).fit([[2.0, 1.0], [0.0, 1.0]])
