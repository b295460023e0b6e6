"""Pictures of models and of learning; they need matplotlib (``pip install gibbstream[plot]``)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from gibbstream.estimator import TopicEstimator
from gibbstream.watch import settled

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

# Lines can be told apart without colours.
_MARKERS = "osD^vP"


def learning_curve(
    scores: Sequence[tuple[int, float]] | TopicEstimator,
    *,
    ax: Axes | None = None,
    title: str | None = None,
    ylabel: str = "score, nats per token (higher is better)",
) -> Axes:
    """Held-out scores by documents seen; for a model, the sum of alpha (LDA) or the topics in use (HDP).

    Parameters
    ----------
    scores : list of (documents, score), LDA or HDP
        Collected by a ``callback``, for example; see the guide.
    ax : matplotlib axes, optional
        Where to draw.
    title : str, optional
        What the picture shows, such as the corpus and the number of topics.
    ylabel : str
        What the scores are. The default is right for ``model.score(X)``.

    Returns
    -------
    matplotlib axes
    """
    ax = _axes(ax)
    if isinstance(scores, TopicEstimator):
        field, label = scores._settling
        history = scores.history_
        ax.plot([record["documents"] for record in history], [settled(record, field) for record in history])
        ax.set_ylabel(label)
    else:
        documents, values = zip(*scores, strict=True)
        ax.plot(documents, values, marker="o", markersize=3)
        ax.set_ylabel(ylabel)
    ax.set_xlabel("documents seen")
    _finish(ax, title)
    return ax


def topic_words(
    model: TopicEstimator, *, topics: Sequence[int] | None = None, n_words: int = 10, relevance: float | None = None
) -> Figure:
    """Bars of the best words of topics, the largest topics first.

    Parameters
    ----------
    model : LDA or HDP
        A model that has learnt.
    topics : sequence of int, optional
        Topics to show; the ten with the largest shares if none are given.
    n_words : int
        Words per topic.
    relevance : float, optional
        As in :meth:`LDA.top_words`.

    Returns
    -------
    matplotlib figure
    """
    pyplot = _pyplot()
    best = model._best_words(n_words, relevance)
    shares = model.topic_shares_
    shown = list(np.argsort(-shares)[:10]) if topics is None else list(topics)
    columns = min(5, len(shown))
    rows = -(-len(shown) // columns)
    figure: Figure
    figure, grid = pyplot.subplots(rows, columns, figsize=(2.6 * columns, 0.25 * n_words * rows + 0.8), squeeze=False)
    for ax in grid.flat[len(shown) :]:
        ax.set_axis_off()
    for ax, topic in zip(grid.flat, shown, strict=False):
        words = [word for _, word, _ in best[topic]][::-1]
        ax.barh(range(len(words)), [weight for _, _, weight in best[topic]][::-1])
        ax.set_yticks(range(len(words)), words)
        ax.set_title(f"topic {topic} ({shares[topic]:.1%})")
    figure.tight_layout()
    return figure


def topic_shares(
    mixtures: Any,
    times: Sequence[Any],
    *,
    topics: Sequence[int] | None = None,
    weights: Sequence[float] | None = None,
    ax: Axes | None = None,
    title: str | None = None,
) -> Axes:
    """Mean share of topics over time, each line with its topic's number at its end.

    Parameters
    ----------
    mixtures : array of shape (documents, topics)
        As ``transform`` gives it.
    times : sequence
        The time of each document, such as a year or a month; documents of equal time are averaged.
    topics : sequence of int, optional
        Topics to show; the five that are largest over all if none are given.
    weights : sequence of float, optional
        Weight of each document in the mean, such as its length.
    ax : matplotlib axes, optional
        Where to draw.
    title : str, optional
        What the picture shows, such as the corpus and the number of topics.

    Returns
    -------
    matplotlib axes
    """
    ax = _axes(ax)
    shares = np.asarray(mixtures, dtype=float)
    moments, places = np.unique(np.asarray(times), return_inverse=True)
    if len(places) != len(shares):
        raise ValueError(f"times: {len(places)} times for {len(shares)} documents; give one for each")
    weight = np.ones(len(shares)) if weights is None else np.asarray(weights, dtype=float)
    total = np.bincount(places, weights=weight)
    shown = list(np.argsort(-shares.mean(axis=0))[:5]) if topics is None else list(topics)
    for place, topic in enumerate(shown):
        mean = np.bincount(places, weights=weight * shares[:, topic]) / total
        ax.plot(moments, mean, label=f"topic {topic}", marker=_MARKERS[place % len(_MARKERS)], markersize=4)
    ax.set_ylabel("mean share in documents")
    if np.issubdtype(moments.dtype, np.datetime64):
        ax.tick_params(axis="x", rotation=30)
    # Beside the lines, so that it covers none of them.
    ax.legend(loc="center left", bbox_to_anchor=(1.0, 0.5), frameon=False)
    _finish(ax, title)
    return ax


def _finish(ax: Any, title: str | None) -> None:
    """The look of all plots of lines: faint grid, open frame, title if there is one."""
    ax.grid(color="#ececec")
    ax.set_axisbelow(True)
    ax.spines[["top", "right"]].set_visible(False)
    if title is not None:
        ax.set_title(title)


def _pyplot() -> Any:
    try:
        from matplotlib import pyplot
    except ImportError as error:
        raise ImportError("plots need matplotlib; install it with: pip install gibbstream[plot]") from error
    return pyplot


def _axes(ax: Axes | None) -> Any:
    return _pyplot().gca() if ax is None else ax
