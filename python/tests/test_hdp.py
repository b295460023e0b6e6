"""A number of topics that is found, and may change."""

import pickle

import matplotlib as mpl
import numpy as np
import pytest
from scipy import sparse

from conftest import drawn
from gibbstream import HDP, HDP_METHODS, LDA, TextCorpus, coherence, compare, evaluate, plot, to_pyldavis

mpl.use("Agg")


@pytest.fixture(scope="module")
def many():
    """Enough documents, in minibatches of 20, for the topics to be found and those on trial to go."""
    return drawn(3000, length=60)


@pytest.fixture(scope="module")
def hdp(many):
    return HDP(batch=20, random_state=0).fit(many)


def largest(hdp, topics):
    return np.argsort(-hdp.topic_shares_)[:topics]


@pytest.mark.parametrize("method", HDP_METHODS)
def test_the_number_of_topics_is_found(method, many):
    hdp = HDP(batch=20, method=method, random_state=0).fit(many)
    # Under vargibbs some topics on trial may still be in use, for any seed; they have little.
    assert 4 <= hdp.topics_used_ <= (4 if method == "g-oem" else 8)
    assert np.sort(hdp.topic_shares_)[-4:].sum() > 0.95
    words = hdp.top_words(12)
    best = {frozenset(int(word) // 12 for word in words[topic]) for topic in largest(hdp, 4)}
    assert best == {frozenset([theme]) for theme in range(4)}


def test_users_see_topics_that_have_been_met(hdp, many, held_out):
    topics = hdp.n_components_
    assert 4 <= topics <= hdp.topics_created_
    assert 0.01 <= hdp.remainder_ < 1
    assert hdp.components_.shape == hdp.topic_word_.shape == (topics, 48)
    assert hdp.alpha_.shape == hdp.topic_shares_.shape == hdp.topic_ids_.shape == (topics,)
    assert len(hdp.top_words()) == len(hdp.get_feature_names_out()) == topics
    np.testing.assert_allclose(hdp.components_.sum(), many.sum())
    np.testing.assert_allclose(hdp.topic_word_.sum(axis=1), 1)
    np.testing.assert_allclose(hdp.alpha_.sum() + hdp.doc_concentration * hdp.remainder_, hdp.doc_concentration)
    mixtures = hdp.transform(held_out)
    assert mixtures.shape == (60, topics)
    np.testing.assert_allclose(mixtures.sum(axis=1), 1)
    empty = sparse.csr_matrix((1, 48))
    np.testing.assert_allclose(hdp.transform(empty)[0], hdp.alpha_ / hdp.alpha_.sum())


def test_topics_come_and_go_between_calls(many):
    """New themes after a while: topics that stay keep their numbers, and columns follow."""
    hdp = HDP(batch=50, random_state=0).partial_fit((many[:, :24] @ sparse.eye(24, 48)).tocsr())
    few = hdp.n_components_
    before = {int(topic): words for topic, words in zip(hdp.topic_ids_, hdp.topic_word_, strict=True)}
    for start in range(0, 3000, 500):
        hdp.partial_fit(many[start : start + 500])
        assert hdp.transform(many[:5]).shape == (5, hdp.n_components_)
    # Over ten seeds 4 to 12 were in use: the themes, and topics on trial.
    assert 4 <= hdp.topics_used_ <= 12
    assert {record["topics"] for record in hdp.history_} > {few}
    stayed = [topic for topic, number in enumerate(hdp.topic_ids_) if int(number) in before]
    assert stayed
    for topic in stayed:
        old = before[int(hdp.topic_ids_[topic])]
        assert np.corrcoef(hdp.topic_word_[topic], old)[0, 1] > 0.5


def test_partial_fit_is_fit(many):
    whole = HDP(batch=50, random_state=7).fit(many[:600])
    parts, chunks = HDP(batch=50, random_state=7), [many[:150], many[150:450], many[450:600]]
    for chunk in chunks:
        parts.partial_fit(chunk)
    assert parts.model_hash_ == whole.model_hash_
    assert HDP(batch=50, random_state=7).fit(iter(chunks)).model_hash_ == whole.model_hash_


def test_threads_change_nothing(many, held_out):
    one, five = (HDP(batch=50, random_state=0, n_jobs=jobs).fit(many[:600]) for jobs in (1, 5))
    assert one.model_hash_ == five.model_hash_
    np.testing.assert_array_equal(one.transform(held_out), five.transform(held_out))


def test_history_has_topics_over_time(many):
    seen = []

    def watch(model, record):
        seen.append((record["topics"], record["topics_used"], record["remainder"]))
        assert record["topics"] == model.n_components_
        assert record["topics_used"] == model.topics_used_
        assert record["remainder"] == model.remainder_

    hdp = HDP(batch=50, random_state=0, callback=watch).fit(many[:1000])
    assert [(r["topics"], r["topics_used"], r["remainder"]) for r in hdp.history_] == seen
    assert len(seen) == 20
    ax = plot.learning_curve(hdp)
    assert ax.get_ylabel() == "topics in use"
    assert ax.lines[-1].get_ydata().tolist() == [used for _, used, _ in seen]
    mpl.pyplot.close("all")


def test_progress_tells_topics(many, capsys):
    HDP(batch=50, random_state=0, verbose=1).fit(many[:200])
    shown = capsys.readouterr().err
    assert "HDP: 100%" in shown
    assert "topics in use" in shown


@pytest.mark.parametrize(
    "knob",
    [
        {"initial_topics": 5},
        {"max_topics": 2},
        {"doc_concentration": 3.0},
        {"top_concentration": 3.0},
        {"min_remainder": 0.3},
        {"pi": "literal"},
        {"method": "vargibbs"},
        {"method": "vargibbs", "total_docs": 10**6},
        {"batch": 30},
        {"sweeps": 4},
        {"kappa": 0.8},
        {"offset": 5},
        {"tau": 0.5},
        {"step": "constant=0.1"},
        {"smoothing": 0.05},
        {"statistic": "counts"},
        {"window": "half"},
        {"topic_prior": 0.1},
        {"passes": 2},
        {"random_state": 1},
    ],
    ids=str,
)
def test_every_knob_changes_what_is_learnt(knob, many, tmp_path):
    base = {"batch": 50, "random_state": 0}
    if len(knob) == 2:
        base |= {"method": knob["method"]}
    hdp = HDP(**(base | knob)).fit(many[:600])
    assert hdp.model_hash_ != HDP(**base).fit(many[:600]).model_hash_
    # And every one is kept in files.
    hdp.save(tmp_path / "model.gbs")
    loaded = HDP.load(tmp_path / "model.gbs")
    assert loaded.model_hash_ == hdp.model_hash_
    hdp.set_params(total_docs=loaded.total_docs)
    assert loaded.partial_fit(many[600:700]).model_hash_ == hdp.partial_fit(many[600:700]).model_hash_


@pytest.mark.parametrize(
    ("parameters", "error", "message"),
    [
        ({"initial_topics": 0}, ValueError, "initial_topics: 0 is not a number of topics"),
        ({"initial_topics": "two"}, TypeError, "initial_topics: 'two' is not a whole number from 0 on"),
        ({"max_topics": 1}, ValueError, "max_topics: 1 is less than the 2 topics of the start; allow more topics"),
        ({"doc_concentration": 0}, ValueError, "doc_concentration: 0 is not a number from 0.000001"),
        ({"top_concentration": -1}, ValueError, "top_concentration: -1 is not a number from 0.000001"),
        ({"top_concentration": None}, TypeError, "top_concentration: is missing; give a number"),
        ({"min_remainder": 1.0}, ValueError, r"min_remainder: 1 is not a share in \[0, 1\)"),
        ({"pi": "free"}, ValueError, "pi: there is no `free`; use one of constrained, literal"),
        (
            {"method": "olda"},
            ValueError,
            "open number of topics have no method called 'olda'; choose one of g-oem, varg",
        ),
        ({"batch": 0}, ValueError, "batch: a minibatch has at least one document"),
        ({"passes": 0}, ValueError, "passes: 0 passes would learn nothing"),
        ({"method": "vargibbs", "smoothing": 0.1}, ValueError, "smoothing: the prior of this method already"),
    ],
)
def test_parameters_that_make_no_sense_are_refused(parameters, error, message, many):
    with pytest.raises(error, match=message):
        HDP(**parameters).fit(many[:100])


def test_settings_may_change_between_minibatches(many):
    hdp = HDP(batch=50, random_state=0).partial_fit(many[:300])
    hdp.set_params(top_concentration=1.0, sweeps=5).partial_fit(many[300:600])
    with pytest.raises(ValueError, match="initial_topics: the model began with 2 topics, not 3"):
        hdp.set_params(initial_topics=3).partial_fit(many[:100])
    # Fewer topics than there are may be allowed: then none is born.
    created = hdp.topics_created_
    hdp.set_params(initial_topics=2, max_topics=2).partial_fit(many[600:900])
    assert hdp.topics_created_ == created
    with pytest.raises(ValueError, match="total_docs: this method weighs its prior against the size"):
        HDP(method="vargibbs").partial_fit(many)


@pytest.mark.parametrize(
    ("spoil", "message"),
    [
        (lambda X: -X, "Negative values in data passed to"),
        (lambda X: X[:0], "0 sample"),
        (lambda X: X[:, :-1], "is expecting 48 features"),
        (lambda X: ["some", "texts"], "fit it on texts"),
        (lambda X: np.arange(5), "Expected 2D array, got 1D array"),
        (lambda X: X * np.nan, "contains NaN"),
    ],
)
def test_bad_input_is_refused(hdp, held_out, spoil, message):
    before, bad = hdp.model_hash_, spoil(held_out)
    for call in (hdp.partial_fit, hdp.transform, hdp.score, hdp.perplexity, hdp.log_likelihood):
        with pytest.raises(ValueError, match=message):
            call(bad)
    assert hdp.model_hash_ == before, "nothing was learnt from it"


def test_twins_and_kinds(hdp, held_out, tmp_path):
    twin = pickle.loads(pickle.dumps(hdp))
    assert twin.history_ == hdp.history_
    assert twin.get_params() == hdp.get_params()
    np.testing.assert_array_equal(twin.transform(held_out), hdp.transform(held_out))
    assert twin.partial_fit(held_out).model_hash_ != hdp.model_hash_
    hdp.save(tmp_path / "hdp.gbs")
    with pytest.raises(ValueError, match="model: it is of kind hdp, not lda; load it with the class of that kind"):
        LDA.load(tmp_path / "hdp.gbs")
    assert HDP.load(tmp_path / "hdp.gbs").topic_ids_.tolist() == hdp.topic_ids_.tolist()


def test_scores_and_comparisons(hdp, many, held_out):
    score = evaluate(hdp, held_out, elbo=True, completion=True)
    assert hdp.score(held_out) == score["log_likelihood_per_token"]
    assert hdp.perplexity(held_out) == pytest.approx(np.exp(-hdp.score(held_out)))
    assert score["log_perplexity_per_document"] < score["unigram_log_perplexity_per_document"]
    assert hdp.log_likelihood(held_out).sum() == pytest.approx(hdp.score(held_out) * held_out.sum())
    assert len(coherence(hdp, many[:200])["topics"]) == hdp.n_components_
    lda = LDA(4, batch=20, random_state=0).fit(many)
    found = compare(lda, hdp, held_out)
    assert {pair["b"] for pair in found.pairs} == set(largest(hdp, 4))
    assert found.mean_distance < 0.05
    itself = compare(hdp, hdp)
    assert [(pair["a"], pair["b"]) for pair in itself.pairs] == [(k, k) for k in range(hdp.n_components_)]
    data = to_pyldavis(hdp, held_out)
    np.testing.assert_allclose(data["topic_term_dists"].sum(axis=1), 1)
    np.testing.assert_allclose(data["doc_topic_dists"].sum(axis=1), 1)
    assert len(plot.topic_words(hdp, n_words=3).axes) >= min(hdp.n_components_, 10)
    mpl.pyplot.close("all")


def test_texts():
    corpus = TextCorpus(["stars planets galaxy", "butter flour oven"] * 200)
    hdp = HDP(batch=20, random_state=0).fit(corpus)
    best = {frozenset(hdp.top_words(3)[topic]) for topic in largest(hdp, 2)}
    assert best == {frozenset(["stars", "planets", "galaxy"]), frozenset(["butter", "flour", "oven"])}
