"""The manners of scikit-learn."""

import inspect

import numpy as np
import pandas as pd
import pytest
from joblib import Parallel, delayed
from sklearn.base import clone
from sklearn.ensemble import RandomForestClassifier
from sklearn.exceptions import NotFittedError
from sklearn.feature_extraction.text import CountVectorizer
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline
from sklearn.utils.estimator_checks import parametrize_with_checks

from gibbstream import (
    HDP,
    ICA,
    LDA,
    BernoulliMixture,
    GaussianMixture,
    MultinomialMixture,
    NotLearntError,
    PoissonMixture,
)
from gibbstream._core import knobs_of


@parametrize_with_checks([LDA(), HDP()])
@pytest.mark.filterwarnings("ignore::sklearn.exceptions.SkipTestWarning")
def test_check_estimator(estimator, check):
    check(estimator)


def test_pipeline_and_grid_search_prefer_the_true_number_of_topics():
    random = np.random.default_rng(0)
    themes = [["cat", "dog", "bird", "fish"], ["stock", "bond", "share", "loan"], ["goal", "match", "team", "player"]]
    texts = [" ".join(random.choice(themes[row % 3], size=30)) for row in range(300)]
    pipeline = make_pipeline(CountVectorizer(), LDA(batch=10, random_state=0))
    search = GridSearchCV(pipeline, {"lda__n_components": [1, 3]}, cv=2).fit(texts)
    assert search.best_params_ == {"lda__n_components": 3}
    names = search.best_estimator_[0].get_feature_names_out()
    found = {frozenset(words) for words in search.best_estimator_[1].top_words(4, feature_names=names)}
    assert found == {frozenset(theme) for theme in themes}


def test_features_for_a_classifier(counts):
    labels = np.asarray(counts[:, :12].sum(axis=1)).reshape(-1) > 20
    model = make_pipeline(LDA(4, batch=20, random_state=0), RandomForestClassifier(random_state=0))
    assert model.fit(counts, labels).score(counts, labels) > 0.95


def test_an_open_number_of_topics_in_a_pipeline(counts):
    pipeline = make_pipeline(HDP(batch=20, random_state=0), RandomForestClassifier(random_state=0))
    labels = np.asarray(counts[:, :12].sum(axis=1)).reshape(-1) > 20
    search = GridSearchCV(pipeline, {"hdp__doc_concentration": [0.5, 1.0]}, cv=2).fit(counts, labels)
    assert search.best_score_ > 0.95


@pytest.mark.parametrize("estimator", [LDA(3, sweeps=5, random_state=4), HDP(sweeps=5, random_state=4)])
def test_clone_is_unfitted_and_has_the_same_parameters(estimator, counts):
    other = clone(estimator.fit(counts))
    assert other.get_params() == estimator.get_params()
    with pytest.raises(NotFittedError):
        other.transform(counts)
    assert NotLearntError is NotFittedError
    assert not hasattr(other, "components_")


def test_set_output_and_names(counts):
    lda = LDA(3, batch=50, random_state=0).set_output(transform="pandas")
    frame = lda.fit_transform(counts)
    assert isinstance(frame, pd.DataFrame)
    assert list(frame.columns) == ["lda0", "lda1", "lda2"] == list(lda.get_feature_names_out())
    hdp = HDP(batch=50, random_state=0).set_output(transform="pandas")
    assert list(hdp.fit_transform(counts).columns) == [f"hdp{topic}" for topic in range(hdp.n_components_)]


@pytest.mark.parametrize("model", [LDA(3, batch=50), HDP(batch=50)])
def test_joblib_processes(model, counts):
    def fit(seed):
        return clone(model).set_params(random_state=seed).fit(counts)

    alone = [fit(seed).model_hash_ for seed in range(2)]
    together = Parallel(n_jobs=2)(delayed(fit)(seed) for seed in range(2))
    assert [model.model_hash_ for model in together] == alone


def test_data_frames_give_names(counts):
    columns = [f"w{word}" for word in range(counts.shape[1])]
    frame = pd.DataFrame(counts.toarray(), columns=columns)
    lda = LDA(3, batch=50, random_state=0).fit(frame)
    assert lda.vocabulary_ == columns
    assert lda.top_words(1)[0][0].startswith("w")
    assert lda.model_hash_ == LDA(3, batch=50, random_state=0).fit(counts).model_hash_


def test_components_are_expected_counts(counts):
    lda = LDA(4, batch=50, random_state=0).fit(counts)
    assert lda.components_.shape == (4, counts.shape[1])
    np.testing.assert_allclose(lda.components_.sum(), counts.sum())
    np.testing.assert_allclose(lda.components_ / lda.components_.sum(axis=1, keepdims=True), lda.topic_word_)
    np.testing.assert_allclose(lda.components_.sum(axis=1) / counts.sum(), lda.topic_shares_)
    assert lda.components_ is lda.components_
    before = lda.components_
    lda.partial_fit(counts)
    assert lda.components_ is not before
    assert lda.alpha_.shape == (4,)
    assert lda.topics_used_ == 4


@pytest.mark.parametrize("kind", [LDA, HDP, ICA, GaussianMixture, PoissonMixture, MultinomialMixture, BernoulliMixture])
def test_parameters_are_those_of_the_table(kind):
    table = {name: default for name, _, _, default in knobs_of(kind._family)}
    parameters = inspect.signature(kind).parameters
    assert set(table) <= set(parameters)
    assert set(kind._knobs) == set(table) - {"random_state"}
    for name in kind._knobs:
        assert f"\n{name} : " in inspect.cleandoc(kind.__doc__)
        default = parameters[name].default
        if default is not None and name not in ("n_components", "paper"):
            assert type(default)(table[name]) == default, name
    assert "{knobs}" not in kind.__doc__
