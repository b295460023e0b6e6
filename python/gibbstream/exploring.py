"""The page of a model, in a file or in a notebook, and its numbers as data frames."""

from __future__ import annotations

import html
import json
import os
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from gibbstream._core import Model, labels, mixtures_with_deviations, report
from gibbstream.text import is_text, readable

if TYPE_CHECKING:
    import pandas as pd

    from gibbstream._core import Source

# As everywhere: the same document has the same mixture wherever it is met.
_SEED_OF_INFERENCE = 0


class Page:
    """A page that a notebook shows as the value of a cell; ``str(page)`` is its HTML.

    The page stands in a frame of its own, so that it and the notebook cannot disturb each other.
    """

    def __init__(self, content: str, height: int = 720) -> None:
        self._content = content
        self._height = height

    def __str__(self) -> str:
        return self._content

    def __repr__(self) -> str:
        return f"Page({len(self._content)} characters; show it in a notebook, or write it with model.report)"

    def _repr_html_(self) -> str:
        content = html.escape(self._content, quote=True)
        style = f"width: 100%; height: {self._height}px; border: 1px solid #ccc"
        rights = "allow-scripts allow-downloads"
        return f'<iframe title="Topics" srcdoc="{content}" sandbox="{rights}" style="{style}"></iframe>'


class Explorable:
    """The part of a topic model that shows it."""

    if TYPE_CHECKING:
        _model: Model
        transform_sweeps: int

        def _held_out(self, X: Any) -> Source: ...
        def _threads(self) -> int: ...

    def report(
        self,
        path: str | os.PathLike[str],
        X: Any = None,
        *,
        texts: Iterable[str] | Iterable[Sequence[str]] | None = None,
        times: Iterable[Any] | None = None,
        groups: Iterable[Any] | None = None,
        ids: Iterable[Any] | None = None,
        title: str | None = None,
        labels: str | os.PathLike[str] | Mapping[str, Any] | None = None,
        force_labels: bool = False,
        max_documents: int = 2_000,
        relevance: float = 0.6,
        compare: Any = None,
        force: bool = False,
    ) -> Path:
        """Write one offline HTML file to explore the model and its documents.

        Parameters
        ----------
        path : path
            File to write. It appears only when it is complete. An older page is replaced, any other file is not.
        X : list or column of texts, TextCorpus, sparse matrix or array, optional
            Documents to show. Without them the page shows topics and words.
        texts : list of texts or of lists of tokens, optional
            The texts of the documents, where ``X`` holds counts.
        times : list, optional
            The time of each document: datetimes, dates, text such as ``"2024-05-17"``, or seconds since 1970.
        groups : list, optional
            The group of each document, such as its source.
        ids : list, optional
            The name of each document.
        title : str, optional
            The title of the page.
        labels : path or dict, optional
            Labels, as the page exports them.
        force_labels : bool
            Take labels of another model too, by topic id.
        max_documents : int
            Show at most this many documents: the most typical of each topic, then a uniform sample.
        relevance : float
            Where the slider for the relevance of words stands at first.
        compare : LDA or HDP, optional
            Another model to compare this one with.
        force : bool
            Replace the file, whatever it holds.

        Returns
        -------
        path
            The file.

        Examples
        --------
        >>> import os, tempfile
        >>> from gibbstream import LDA
        >>> texts = ["a cat and a dog", "stocks and bonds"] * 50
        >>> lda = LDA(2, batch=10, random_state=0).fit(texts)
        >>> page = lda.report(os.path.join(tempfile.mkdtemp(), "page.html"), texts, groups=["pets", "money"] * 50)
        >>> page.name
        'page.html'
        """
        path = Path(path)
        choices = self._choices(title, labels, force_labels, max_documents, relevance) | {"path": path, "force": force}
        self._report(X, texts, _beside(X, texts, times, groups, ids), choices, compare)
        return path

    def explore(
        self,
        X: Any = None,
        *,
        texts: Iterable[str] | Iterable[Sequence[str]] | None = None,
        times: Iterable[Any] | None = None,
        groups: Iterable[Any] | None = None,
        ids: Iterable[Any] | None = None,
        title: str | None = None,
        labels: str | os.PathLike[str] | Mapping[str, Any] | None = None,
        force_labels: bool = False,
        max_documents: int = 500,
        relevance: float = 0.6,
        compare: Any = None,
        height: int = 720,
    ) -> Page:
        """Show the page of :meth:`report` in a notebook (Jupyter, VS Code, Colab).

        Parameters
        ----------
        X, texts, times, groups, ids, title, labels, force_labels, max_documents, relevance, compare
            As in :meth:`report`; fewer documents are shown, because the notebook keeps the page.
        height : int
            Height of the frame in pixels.

        Returns
        -------
        Page
            What the notebook shows.
        """
        choices = self._choices(title, labels, force_labels, max_documents, relevance)
        content = self._report(X, texts, _beside(X, texts, times, groups, ids), choices, compare)
        return Page(content.decode(), height)

    def topics_frame(self, X: Any = None, *, n_words: int = 10) -> pd.DataFrame:
        """The topics as a pandas data frame, one row each, with the numbers of the page.

        Parameters
        ----------
        X : list or column of texts, TextCorpus, sparse matrix or array, optional
            Documents that coherence and the column ``documents`` are counted in; without them the two are missing.
        n_words : int
            Words in the column ``words``, as :meth:`top_words` orders them.

        Returns
        -------
        DataFrame
            ``label``, ``share`` of all tokens, ``alpha``, ``coherence`` (NPMI), ``exclusivity``, ``effective_words``,
            ``in_use``, ``documents`` (whose largest share the topic has) and ``words``, by topic.

        Examples
        --------
        >>> from gibbstream import LDA
        >>> lda = LDA(2, batch=10, random_state=0).fit(["a cat and a dog", "stocks and bonds"] * 50)
        >>> frame = lda.topics_frame()
        >>> sorted(frame["words"].str[:2].map(sorted))
        [['bonds', 'stocks'], ['cat', 'dog']]
        """
        pandas = _pandas("topics_frame")
        choices = self._choices(None, None, False, 0, 1.0) | {"as_json": True}
        data = json.loads(self._report(X, None, _beside(X, None, None, None, None), choices, None))
        best = [[word for _, word, _ in topic] for topic in self._model.top_words(n_words)]
        columns = [
            "label",
            "share",
            "alpha",
            "coherence",
            "exclusivity",
            "effective_words",
            "in_use",
            "documents",
        ]
        rows = [{name: topic[name] for name in columns} | {"words": best[topic["id"]]} for topic in data["topics"]]
        frame = pandas.DataFrame(rows, index=pandas.Index([topic["id"] for topic in data["topics"]], name="topic"))
        frame["label"] = self._labels()
        return frame.astype({"coherence": "float64", "documents": "Int64"})

    def documents_frame(
        self, X: Any, *, ids: Iterable[Any] | None = None, top: int = 1, min_share: float = 0.0
    ) -> pd.DataFrame:
        """The largest topics of each document as a pandas data frame.

        Parameters
        ----------
        X : list or column of texts, TextCorpus, sparse matrix or array
            Documents.
        ids : list, optional
            The name of each document, instead of its place.
        top : int
            Topics per document: a row for each.
        min_share : float
            Leave out topics with a smaller share, except the largest.

        Returns
        -------
        DataFrame
            ``document``, ``topic``, its ``label``, ``share`` and posterior standard ``deviation``, and the ``tokens``
            and ``unknown_tokens`` of the document, by document and falling share. A document without a known word has
            one row without a topic.

        Examples
        --------
        >>> from gibbstream import LDA
        >>> lda = LDA(2, batch=10, random_state=0).fit(["a cat and a dog", "stocks and bonds"] * 50)
        >>> frame = lda.documents_frame(["dogs, a dog and a cat", "stocks"], ids=["a", "b"])
        >>> frame[["document", "tokens", "unknown_tokens"]].values.tolist()
        [['a', 2, 1], ['b', 1, 0]]
        """
        pandas = _pandas("documents_frame")
        if top < 1:
            raise ValueError(f"top: {top} topics per document; use 1 or more")
        shares, deviations, tokens, unknown = mixtures_with_deviations(
            self._model_to_show(), self._held_out(X), self.transform_sweeps, _SEED_OF_INFERENCE, self._threads()
        )
        names: Sequence[Any] = range(len(tokens)) if ids is None else list(ids)
        if len(names) != len(tokens):
            raise ValueError(f"ids: there are {len(names)} for {len(tokens)} documents; give one for each document")
        labels_of_topics = self._labels()
        order = np.argsort(-shares, axis=1, kind="stable")[:, :top]
        rows: list[tuple[Any, ...]] = []
        for document, name in enumerate(names):
            size = (tokens[document], unknown[document])
            if tokens[document] == 0:
                rows.append((name, None, None, np.nan, np.nan, *size))
                continue
            for rank, topic in enumerate(order[document]):
                share = float(shares[document, topic])
                if rank == 0 or share >= min_share:
                    deviation = float(deviations[document, topic])
                    rows.append((name, int(topic), labels_of_topics[topic], share, deviation, *size))
        columns = ["document", "topic", "label", "share", "deviation", "tokens", "unknown_tokens"]
        return pandas.DataFrame(rows, columns=columns).astype({"topic": "Int64"})

    def _labels(self) -> list[str]:
        """What topics are called: labels that were set win over automatic ones."""
        return [label for label, _ in labels(self._model_to_show())]

    def _model_to_show(self) -> Model:
        from sklearn.utils.validation import check_is_fitted

        check_is_fitted(self)
        return self._model

    def _report(self, X: Any, texts: Any, beside: dict[str, Any], choices: dict[str, Any], compare: Any) -> bytes:
        source = None if X is None else self._held_out(X)
        if texts is None and X is not None and is_text(X):
            texts = X
        shown = None if texts is None else readable(texts)
        other = None if compare is None else (type(compare).__name__, compare._model_to_show())
        return report(self._model_to_show(), source, shown, beside, choices, other)

    def _choices(
        self, title: str | None, labels: Any, force_labels: bool, max_documents: int, relevance: float
    ) -> dict[str, Any]:
        self._model_to_show()
        if max_documents < 0:
            raise ValueError(f"max_documents: {max_documents} is below 0; use 0 to show none")
        if not 0 <= relevance <= 1:
            raise ValueError(f"relevance: {relevance} is not in [0, 1]; use 1 for frequent words, 0.6 for typical ones")
        return {
            "title": title or type(self).__name__,
            "max_documents": max_documents,
            "sweeps": self.transform_sweeps,
            "seed": _SEED_OF_INFERENCE,
            "threads": self._threads(),
            "lambda": relevance,
            "labels": _labels_text(labels),
            "force_labels": force_labels,
            "path": None,
            "force": False,
            "as_json": False,
        }


def _labels_text(labels: Any) -> str | None:
    if labels is None:
        return None
    return json.dumps(labels) if isinstance(labels, Mapping) else Path(labels).read_text(encoding="utf-8")


def _beside(X: Any, texts: Any, times: Any, groups: Any, ids: Any) -> dict[str, Any]:
    """What is known of documents beside their words, as lists."""
    if X is None and any(given is not None for given in (texts, times, groups, ids)):
        raise ValueError("X: there are no documents for these texts, times, groups or ids; give X")
    return {
        "times": None if times is None else [_moment(time) for time in times],
        "groups": None if groups is None else [str(group) for group in groups],
        "ids": None if ids is None else [str(name) for name in ids],
    }


def _moment(time: Any) -> float | str:
    if hasattr(time, "as_py"):
        time = time.as_py()
    if isinstance(time, int | float | np.integer | np.floating) and not isinstance(time, bool):
        return float(time)
    return time.isoformat() if hasattr(time, "isoformat") else str(time)


def _pandas(method: str) -> Any:
    try:
        import pandas
    except ImportError:
        raise ImportError(f"{method} needs pandas: pip install pandas") from None
    return pandas
