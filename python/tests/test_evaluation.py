"""Scores, coherence, comparisons and pictures."""

import subprocess
import sys

import matplotlib as mpl
import matplotlib.pyplot
import numpy as np
import pytest

from gibbstream import LDA, TextCorpus, coherence, compare, evaluate, plot, to_pyldavis

mpl.use("Agg")


@pytest.fixture(scope="module")
def lda(counts):
    return LDA(4, batch=20, random_state=0).fit(counts)


def test_scores_agree_with_each_other(lda, held_out):
    score = evaluate(lda, held_out)
    assert score["tokens"] == held_out.sum()
    assert score["log_perplexity_per_document"] < score["unigram_log_perplexity_per_document"]
    assert lda.score(held_out) == score["log_likelihood_per_token"]
    assert lda.perplexity(held_out) == pytest.approx(np.exp(-lda.score(held_out)))
    each = lda.log_likelihood(held_out)
    assert each.shape == (60,)
    assert each.sum() == pytest.approx(score["log_likelihood_per_token"] * score["tokens"])
    np.testing.assert_array_equal(lda.log_likelihood(held_out[40:]), each[40:])
    for estimator in ("left-to-right", "ais"):
        assert lda.log_likelihood(held_out, estimator).mean() == pytest.approx(each.mean(), rel=0.02)
    with pytest.raises(ValueError, match="estimator: there is no `exact`; use smc, left-to-right or ais"):
        lda.log_likelihood(held_out, "exact")
    with pytest.raises(ValueError, match="particles: an estimate needs particles"):
        evaluate(lda, held_out, particles=0)
    extra = evaluate(lda, held_out, elbo=True, completion=True)
    assert -extra["elbo_per_document"] > score["log_perplexity_per_document"]
    assert extra["completion_log_likelihood_per_token"] > -np.log(lda.n_features_in_)


def test_coherence_prefers_words_that_meet(counts):
    lda = LDA(4, batch=20, random_state=0).fit(counts)
    mixed = LDA(4, batch=600, sweeps=1, random_state=0).fit(counts)
    good, bad = coherence(lda, counts), coherence(mixed, counts)
    assert good["documents"] == 600
    assert len(good["topics"]) == 4
    for measure in ("npmi", "c_v", "umass"):
        assert good["mean"][measure] > bad["mean"][measure]
        values = [topic[measure] for topic in good["topics"]]
        assert good["mean"][measure] == pytest.approx(np.mean(values))
    assert good["diversity"] == 1.0
    with pytest.raises(ValueError, match="umass: there is no `two`"):
        coherence(lda, counts, umass="two")
    with pytest.raises(ValueError, match="fewer than two words"):
        coherence(lda, counts, n_words=1)


def random_texts(documents):
    """Texts of words that follow each other in a circle, more or less; no word comes twice in a text."""
    random = np.random.default_rng(4)
    for _ in range(documents):
        nearness = random.exponential(size=400) * (1 + np.roll(np.arange(400), random.integers(400)))
        yield [f"w{word}" for word in random.permutation(np.argsort(nearness)[: random.integers(20, 200)])]


def test_coherence_equals_that_of_gensim():
    try:
        from gensim.corpora import Dictionary
        from gensim.models import CoherenceModel
    except ImportError:
        pytest.skip("COHERENCE IS NOT COMPARED WITH THAT OF GENSIM: pip install gensim")
    # Where a word comes twice in a window, gensim forgets it too early.
    texts = list(random_texts(300))
    lda = LDA(6, batch=10, random_state=0).fit(TextCorpus(texts))
    topics = lda.top_words(10)
    # Texts without any of the words are not counted there at all.
    known = {word for topic in topics for word in topic}
    texts = [text for text in texts if known & set(text)]
    dictionary = Dictionary(texts)
    bags = [dictionary.doc2bow(text) for text in texts]
    ours = coherence(lda, texts, umass="epsilon")
    for name, kind in (("npmi", "c_npmi"), ("c_v", "c_v"), ("umass", "u_mass")):
        theirs = CoherenceModel(
            topics=topics, texts=texts, corpus=bags, dictionary=dictionary, coherence=kind, topn=10, processes=1
        )
        np.testing.assert_allclose(
            [topic[name] for topic in ours["topics"]], theirs.get_coherence_per_topic(), rtol=0, atol=1e-6
        )


def test_coherence_of_texts_looks_at_windows():
    # Words of a pair are far apart in every document: together in documents, never in a window of ten.
    texts = [["a"] + ["x"] * 20 + ["b"], ["c"] + ["x"] * 20 + ["d"]] * 50
    corpus = TextCorpus(texts, vocabulary=["a", "b", "c", "d"])
    lda = LDA(2, batch=10, random_state=0).fit(corpus)
    assert {frozenset(words) for words in lda.top_words(2)} == {frozenset("ab"), frozenset("cd")}
    assert coherence(lda, corpus, n_words=2)["mean"]["npmi"] > 0.99
    assert coherence(lda, texts, n_words=2)["mean"]["npmi"] < -0.5


def test_compare(counts, held_out, lda):
    order = np.random.default_rng(0).permutation(counts.shape[1])
    other = LDA(4, batch=20, random_state=1).fit(counts)
    found = compare(lda, other, held_out)
    assert sorted(pair["a"] for pair in found.pairs) == sorted(pair["b"] for pair in found.pairs) == [0, 1, 2, 3]
    assert found.mean_distance < 0.05
    low, high = found.score_difference["interval"]
    expected = (other.log_likelihood(held_out) - lda.log_likelihood(held_out)).mean()
    assert low < found.score_difference["mean"] < high
    assert found.score_difference["mean"] == pytest.approx(expected)
    assert "4 pairs of topics" in str(found)
    # Columns in another order are the same words, by name.
    names = [f"w{word}" for word in range(len(order))]
    renamed = LDA(4, batch=20, random_state=0).fit(counts).set_vocabulary(names)
    shuffled = LDA(4, batch=20, random_state=0).fit(counts[:, order]).set_vocabulary([names[word] for word in order])
    assert compare(renamed, shuffled).mean_distance < 0.05
    assert compare(renamed, lda).mean_distance == pytest.approx(np.log(2), abs=1e-6), "no word in common"
    more = LDA(6, batch=20, random_state=0).fit(counts)
    found = compare(lda, more, distance="kl")
    assert (len(found.pairs), found.only_a, len(found.only_b)) == (4, [], 2)
    with pytest.raises(ValueError, match="distance: there is no `cosine`; use jensen-shannon or kl"):
        compare(lda, more, distance="cosine")


def test_pyldavis(counts, lda):
    data = to_pyldavis(lda, counts)
    assert data["topic_term_dists"].shape == (4, 48)
    np.testing.assert_allclose(data["topic_term_dists"].sum(axis=1), 1)
    np.testing.assert_allclose(data["doc_topic_dists"].sum(axis=1), 1)
    np.testing.assert_array_equal(data["doc_lengths"], np.asarray(counts.sum(axis=1)).reshape(-1))
    np.testing.assert_array_equal(data["term_frequency"], np.asarray(counts.sum(axis=0)).reshape(-1))
    assert len(data["vocab"]) == 48
    corpus = TextCorpus(["cat dog", "", "cat"] * 40)
    data = to_pyldavis(LDA(2, batch=10, random_state=0).fit(corpus), corpus)
    assert data["doc_lengths"].tolist() == [2, 1] * 40
    assert data["doc_topic_dists"].shape == (80, 2)


def test_pictures(counts, held_out, lda):
    mpl.pyplot.close("all")
    scores = []

    def watch(model, record):
        scores.append((record["documents"], model.score(held_out)))

    watched = LDA(4, batch=100, random_state=0, callback=watch).fit(counts)
    ax = plot.learning_curve(scores)
    assert ax.lines[0].get_xdata().tolist() == [100, 200, 300, 400, 500, 600]
    mpl.pyplot.close("all")
    assert len(plot.learning_curve(watched).lines[0].get_ydata()) == 6
    figure = plot.topic_words(lda, n_words=5)
    assert [len(ax.patches) for ax in figure.axes[:4]] == [5] * 4
    assert len(plot.topic_words(lda, topics=[2]).axes) == 1
    mpl.pyplot.close("all")
    years = np.repeat([2001, 2002, 2003], 20)
    ax = plot.topic_shares(lda.transform(held_out), years, topics=[1])
    assert ax.lines[0].get_xdata().tolist() == [2001, 2002, 2003]
    assert ax.lines[0].get_ydata()[0] == pytest.approx(lda.transform(held_out)[:20, 1].mean())
    with pytest.raises(ValueError, match="times: 2 times for 60 documents"):
        plot.topic_shares(lda.transform(held_out), [1, 2])
    mpl.pyplot.close("all")


def test_matplotlib_is_only_needed_for_pictures():
    code = "import sys; sys.modules['matplotlib'] = None; import gibbstream; gibbstream.plot.learning_curve([(1, 2.0)])"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert "ImportError: plots need matplotlib; install it with: pip install gibbstream[plot]" in done.stderr
