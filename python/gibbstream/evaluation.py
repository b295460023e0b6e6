"""How good a model is, alone and beside another one, and its topics for other tools."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray
from sklearn.utils.validation import check_is_fitted

from gibbstream import _core
from gibbstream._core import Corpus
from gibbstream.estimator import TopicEstimator
from gibbstream.text import TextCorpus, readable

if TYPE_CHECKING:
    from gibbstream._core import Source


def evaluate(
    model: TopicEstimator,
    X: Any,
    *,
    estimator: str = "smc",
    particles: int = 20,
    seed: int = 0,
    elbo: bool = False,
    completion: bool = False,
) -> dict[str, Any]:
    """Scores of held-out documents, with the names and the values of the program's ``evaluate --json``.

    Parameters
    ----------
    model : LDA or HDP
        A model that has learnt.
    X : list or column of texts, TextCorpus, sparse matrix or array
        Documents that it was not learnt from.
    estimator : str
        ``"smc"``, ``"left-to-right"`` or ``"ais"``.
    particles : int
        Particles per document; more are slower and more precise.
    seed : int
        Seed of the estimate.
    elbo : bool
        Also the evidence lower bound, ``elbo_per_document``.
    completion : bool
        Also how well one half of each document predicts the other, ``completion_log_likelihood_per_token``.

    Returns
    -------
    dict
        ``log_perplexity_per_document`` (nats; lower is better) with its ``standard_error``,
        ``unigram_log_perplexity_per_document`` to compare it with, ``log_likelihood_per_token``, ``perplexity``, and
        what they were computed from.

    Examples
    --------
    >>> from gibbstream import LDA, TextCorpus, evaluate
    >>> corpus = TextCorpus(["cat dog cat", "stock bond stock"] * 100)
    >>> score = evaluate(LDA(2, batch=20, random_state=0).fit(corpus), corpus[:50])
    >>> score["estimator"], score["documents"], score["tokens"]
    ('smc', 50, 150)
    >>> score["log_perplexity_per_document"] < score["unigram_log_perplexity_per_document"]
    True
    """
    rows = model._held_out(X)
    scoring = {"estimator": estimator, "particles": particles, "seed": seed, "threads": model._threads()}
    return scores(model, rows, scoring, elbo=elbo, completion=completion)


def scores(
    model: TopicEstimator, rows: Source, scoring: Mapping[str, object], *, elbo: bool, completion: bool
) -> dict[str, Any]:
    """Scores of rows that are ready to be read."""
    report: dict[str, Any] = json.loads(model._model.evaluate(rows, scoring, elbo, completion))
    if report["log_perplexity_per_document"] is None:
        # JSON has no infinity.
        report["log_perplexity_per_document"] = np.inf
        report["log_likelihood_per_token"] = -np.inf
        report["perplexity"] = np.inf
    return report


def coherence(model: TopicEstimator, documents: Any, *, n_words: int = 10, umass: str = "one") -> dict[str, Any]:
    """How well the best words of each topic go together: NPMI, C_V and UMass, in one pass.

    Parameters
    ----------
    model : LDA or HDP
        A model that has learnt.
    documents : matrix, TextCorpus, or texts
        Where to look for the words. Texts (strings, lists of tokens, Arrow columns) have an order of words: NPMI
        slides a window of 10 tokens over them and C_V one of 110. Matrices and corpora have none, so there a document
        is one window.
    n_words : int
        Words of each topic to look at, as ``top_words`` shows them.
    umass : str
        ``"one"`` adds one document to pairs, as published; ``"epsilon"`` a share of 1e-12, as gensim does.

    Returns
    -------
    dict
        ``topics`` (a list of dicts with ``npmi``, ``c_v`` and ``umass``), their ``mean``, ``diversity`` (share of
        distinct words among all best words) and the number of ``documents``. Higher is better for all.

    Examples
    --------
    >>> from gibbstream import LDA, TextCorpus, coherence
    >>> texts = ["cat dog bird", "stock bond share"] * 100
    >>> lda = LDA(2, batch=20, random_state=0).fit(TextCorpus(texts))
    >>> found = coherence(lda, texts, n_words=3)
    >>> round(found["mean"]["npmi"], 6), round(found["diversity"], 6)
    (1.0, 1.0)
    """
    best = [[number for number, _, _ in topic] for topic in model._best_words(n_words, None)]
    if isinstance(documents, TextCorpus) or (hasattr(documents, "shape") and len(documents.shape) == 2):
        rows = model._held_out(documents)
        text = _core.coherence(best, rows, umass)
    else:
        text = _core.coherence_of_texts(best, model._model, readable(documents), umass)
    found: dict[str, Any] = json.loads(text)
    return found


@dataclass(frozen=True)
class Comparison:
    """Two models side by side.

    Attributes
    ----------
    pairs : list of dict
        Topics that belong together: ``a``, ``b``, their ``distance`` in nats, the best words ``words_a`` that only
        the first has, ``words_b`` that only the second has, and the ``shared`` ones.
    only_a, only_b : list of int
        Topics without a partner.
    score_difference : dict or None
        ``mean`` of log p of a document under the second model minus that under the first, in nats (positive: the second
        predicts better), its ``standard_error`` and a 95 % ``interval`` over the same documents.
    """

    pairs: list[dict[str, Any]]
    only_a: list[int]
    only_b: list[int]
    score_difference: dict[str, Any] | None

    @property
    def mean_distance(self) -> float:
        """Mean distance of the pairs."""
        return float(np.mean([pair["distance"] for pair in self.pairs]))

    def __str__(self) -> str:
        lines = [f"{len(self.pairs)} pairs of topics, mean distance {self.mean_distance:.4f} nats"]
        for pair in sorted(self.pairs, key=lambda pair: float(pair["distance"])):
            gone, new = " ".join(pair["words_a"]), " ".join(pair["words_b"])
            lines.append(
                f"  {pair['a']:4} {pair['b']:4}  {pair['distance']:.4f}  {' '.join(pair['shared'])}  -[{gone}] +[{new}]"
            )
        if self.score_difference is not None:
            low, high = self.score_difference["interval"]
            mean = self.score_difference["mean"]
            lines.append(f"score difference {mean:+.3f} nats per document (95 %: {low:+.3f} to {high:+.3f})")
        return "\n".join(lines)


def compare(
    a: TopicEstimator,
    b: TopicEstimator,
    X: Any = None,
    *,
    distance: str = "jensen-shannon",
    n_words: int = 10,
    estimator: str = "smc",
    particles: int = 20,
) -> Comparison:
    """Which topic of one model is which of another, what moved, and which predicts better.

    Topics are paired so that the sum of distances is least; words are matched by spelling.

    Parameters
    ----------
    a, b : LDA or HDP
        Models that have learnt.
    X : list or column of texts, TextCorpus, sparse matrix or array, optional
        Held-out documents, to compare their likelihood under both, document by document.
    distance : str
        ``"jensen-shannon"`` or ``"kl"`` (of the second from the first).
    n_words : int
        Best words of each topic to compare.
    estimator, particles
        How likelihoods are estimated, as in :func:`evaluate`.

    Returns
    -------
    Comparison

    Examples
    --------
    >>> from gibbstream import LDA, TextCorpus, compare
    >>> corpus = TextCorpus(["cat dog bird", "stock bond share"] * 100)
    >>> first, second = (LDA(2, batch=20, random_state=seed).fit(corpus) for seed in (0, 1))
    >>> found = compare(first, second, corpus[:20])
    >>> len(found.pairs), found.mean_distance < 0.05, abs(found.score_difference["mean"]) < 0.5
    (2, True, True)
    """
    check_is_fitted(a)
    check_is_fitted(b)
    aligned = _core.align(a._model, b._model, distance)
    words_a, words_b = a.top_words(n_words, relevance=1), b.top_words(n_words, relevance=1)
    pairs = []
    for topic_a, topic_b, apart in aligned:
        here, there = words_a[topic_a], words_b[topic_b]
        pairs.append(
            {
                "a": topic_a,
                "b": topic_b,
                "distance": apart,
                "shared": [word for word in here if word in there],
                "words_a": [word for word in here if word not in there],
                "words_b": [word for word in there if word not in here],
            }
        )
    difference = None
    if X is not None:
        under_a = a.log_likelihood(X, estimator, particles)
        under_b = b.log_likelihood(X, estimator, particles)
        mean, error, interval = _core.score_difference(under_a.tolist(), under_b.tolist())
        difference = {"documents": len(under_a), "mean": mean, "standard_error": error, "interval": interval}
    paired_a, paired_b = {pair["a"] for pair in pairs}, {pair["b"] for pair in pairs}
    return Comparison(
        pairs=pairs,
        only_a=[topic for topic in range(len(words_a)) if topic not in paired_a],
        only_b=[topic for topic in range(len(words_b)) if topic not in paired_b],
        score_difference=difference,
    )


def to_pyldavis(model: TopicEstimator, corpus: Any) -> dict[str, Any]:
    """What ``pyLDAvis.prepare(**to_pyldavis(model, corpus))`` takes.

    Parameters
    ----------
    model : LDA or HDP
        A model that has learnt.
    corpus : sparse matrix, array or TextCorpus
        Documents to show. Empty ones are left out, because pyLDAvis cannot place them.

    Returns
    -------
    dict
        ``topic_term_dists``, ``doc_topic_dists``, ``doc_lengths``, ``vocab`` and ``term_frequency``.

    Examples
    --------
    >>> from gibbstream import LDA, TextCorpus, to_pyldavis
    >>> corpus = TextCorpus(["cat dog bird", "stock bond share"] * 100)
    >>> data = to_pyldavis(LDA(2, batch=20, random_state=0).fit(corpus), corpus)
    >>> data["topic_term_dists"].shape, data["doc_topic_dists"].shape, int(data["doc_lengths"].sum())
    ((2, 6), (200, 2), 600)
    """
    lengths, frequency = _marginals(model, corpus)
    kept = lengths > 0
    return {
        "topic_term_dists": model.topic_word_,
        "doc_topic_dists": model.transform(corpus)[kept],
        "doc_lengths": lengths[kept],
        "vocab": model.vocabulary_,
        "term_frequency": frequency,
    }


def _marginals(model: TopicEstimator, corpus: Any) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Tokens of each document, and of each word of the model."""
    rows = model._held_out(corpus)
    counts = TextCorpus._from_core(rows).to_csr() if isinstance(rows, Corpus) else model._validated(corpus)
    return (
        np.asarray(counts.sum(axis=1)).reshape(-1).astype(np.int64),
        np.asarray(counts.sum(axis=0)).reshape(-1).astype(np.int64),
    )
