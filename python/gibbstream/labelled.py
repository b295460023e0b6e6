"""What topics are called, how they change over time and between groups, and which of them come again."""

from __future__ import annotations

import json
import os
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from sklearn.utils.validation import check_is_fitted

from gibbstream import _core

if TYPE_CHECKING:
    import pandas as pd
    from typing_extensions import Self

    from gibbstream._core import Model, Source


class LabelledTopics:
    """The part of a topic model that names topics and follows them."""

    if TYPE_CHECKING:
        _model: Model

        def _held_out(self, X: Any) -> Source: ...
        def _threads(self) -> int: ...
        def _has_model(self) -> bool: ...

    @property
    def labels_(self) -> list[str]:
        """What each topic is called: the label that was set, or else one made of its most distinguishing words."""
        if not self._has_model():
            raise AttributeError(f"this {type(self).__name__} has learnt nothing yet; call fit or partial_fit first")
        return [label for label, _ in _core.labels(self._model)]

    def set_labels(self, labels: Mapping[int, Any] | Sequence[str] | str | os.PathLike[str]) -> Self:
        """Gives topics names, which are kept in the model file and shown by the program and the page.

        Parameters
        ----------
        labels : dict, sequence of str, or path
            A label for each topic number that is to have one; an empty one takes it back. A sequence has one for every
            topic. A path names a file that the page exported.

        Returns
        -------
        self

        Examples
        --------
        >>> from gibbstream import LDA
        >>> lda = LDA(2, batch=20, random_state=0).fit(["cat dog bird", "stock bond share"] * 100)
        >>> hash_before = lda.model_hash_
        >>> lda.set_labels({0: "first", 1: "second"}).labels_
        ['first', 'second']
        >>> lda.model_hash_ == hash_before
        True
        """
        check_is_fitted(self)
        if isinstance(labels, str | os.PathLike):
            found = self._labels_in(Path(labels))
        elif isinstance(labels, Mapping):
            found = {int(topic): _label(label) for topic, label in labels.items()}
        else:
            found = {topic: _label(label) for topic, label in enumerate(labels)}
        _core.set_labels(self._model, json.dumps(found))
        return self

    def _labels_in(self, path: Path) -> dict[int, Any]:
        try:
            written = json.loads(path.read_text(encoding="utf-8"))
            topics, model_hash = written["topics"], written["model_hash"]
        except (ValueError, KeyError, TypeError) as error:
            raise ValueError(f"{path}: is not a file of labels ({error}); export labels from the page") from error
        if model_hash != self._model.hash():
            raise ValueError(f"{path}: its labels are for another model; use the model they were made for")
        return {int(topic): label for topic, label in topics.items()}

    def timeline_frame(
        self, X: Any, times: Any, *, by: str | int | None = None, n_words: int = 5, sweeps: int = 100, seed: int = 0
    ) -> pd.DataFrame:
        """Shares and words of topics over time, as ``gibbstream timeline`` gives them.

        Parameters
        ----------
        X : list or column of texts, TextCorpus, sparse matrix or array
            Documents.
        times : sequence of dates
            When each document was written: anything that ``numpy.datetime64`` or pandas understands.
        by : str or int, optional
            ``"hour"``, ``"day"``, ``"week"``, ``"month"``, ``"quarter"``, ``"year"``, or the number of periods to have
            at most (120).
        n_words : int
            Words per topic and period.
        sweeps, seed : int
            How mixtures are inferred, as in the program.

        Returns
        -------
        pandas.DataFrame
            A row for each topic in each period: ``start``, ``documents``, ``tokens``, ``topic``, ``label``, ``share``
            with its 95 % interval (``low``, ``high``), ``words``, and words used ``more`` and ``less`` than in the
            period before.

        Examples
        --------
        >>> from gibbstream import LDA
        >>> texts = ["cat dog bird", "stock bond share"] * 100
        >>> lda = LDA(2, batch=20, random_state=0).fit(texts)
        >>> months = ["2024-01", "2024-02"] * 100
        >>> frame = lda.timeline_frame(texts, months, by="month")
        >>> len(frame), bool((frame.low <= frame.share).all())
        (4, True)
        """
        moments = _seconds(times)
        return self._shares_by(X, moments, None, None if by is None else str(by), n_words, sweeps, seed)

    def groups_frame(
        self, X: Any, groups: Sequence[Any], *, n_words: int = 5, sweeps: int = 100, seed: int = 0
    ) -> pd.DataFrame:
        """Shares and words of topics by group, such as source or class, as ``gibbstream timeline`` gives them.

        Parameters
        ----------
        X : list or column of texts, TextCorpus, sparse matrix or array
            Documents.
        groups : sequence
            The group of each document.
        n_words, sweeps, seed : int
            As in :meth:`timeline_frame`.

        Returns
        -------
        pandas.DataFrame
            As :meth:`timeline_frame`, with ``group`` instead of ``start``; ``more`` and ``less`` are against all other
            groups.
        """
        return self._shares_by(X, None, [str(group) for group in groups], None, n_words, sweeps, seed)

    def _shares_by(
        self,
        X: Any,
        times: list[int] | None,
        groups: list[str] | None,
        by: str | None,
        n_words: int,
        sweeps: int,
        seed: int,
    ) -> pd.DataFrame:
        import pandas as pd

        check_is_fitted(self)
        given = times if times is not None else groups
        documents = X.shape[0] if hasattr(X, "shape") else len(X)
        if given is not None and len(given) != documents:
            name = "times" if times is not None else "groups"
            raise ValueError(f"{name}: there are {len(given)} for {documents} documents; give one for each")
        rows = self._held_out(X)
        text = _core.shares_by(self._model, rows, times, groups, by, n_words, sweeps, seed, self._threads())
        found = json.loads(text)
        table = []
        for place, period in enumerate(found["classes"]):
            first = {"start": pd.Timestamp(period["start"])} if "start" in period else {"group": period["group"]}
            for topic in found["topics"]:
                table.append(
                    {
                        **first,
                        "documents": period["documents"],
                        "tokens": period["tokens"],
                        "topic": topic["id"],
                        "label": topic["label"],
                        "share": topic["shares"][place],
                        "low": topic["low"][place],
                        "high": topic["high"][place],
                        "words": topic["words"][place],
                        "more": topic["more"][place],
                        "less": topic["less"][place],
                    }
                )
        return pd.DataFrame(table)


def stability(models: Sequence[LabelledTopics], *, n_words: int = 10, same: float = 0.5) -> dict[str, Any]:
    """Which topics of the first model come again in the others, such as models of other seeds.

    Parameters
    ----------
    models : sequence of LDA or HDP
        Two or more that have learnt.
    n_words : int
        Best words of each topic to compare.
    same : float
        A topic is found again if the similarity of its partner is so much or more: 1 for the same words, 0 for no
        closer than other topics are.

    Returns
    -------
    dict
        ``stability`` (mean over topics by share; 1: all come again, 0: none), ``stable_topics`` (found in all models),
        and ``topics``: for each its ``id``, ``share``, ``stability``, ``found_in``, ``partners`` and ``words`` with the
        number of ``models`` that have them.

    Examples
    --------
    >>> from gibbstream import LDA, stability
    >>> texts = ["cat dog bird", "stock bond share"] * 100
    >>> found = stability([LDA(2, batch=20, random_state=seed).fit(texts) for seed in range(3)])
    >>> found["stable_topics"], len(found["topics"])
    (2, 2)
    """
    if len(models) < 2:
        raise ValueError("models: one model says nothing of stability; give two or more")
    for model in models:
        check_is_fitted(model)
    found: dict[str, Any] = json.loads(_core.stability([model._model for model in models], n_words, float(same)))
    return found


def _label(label: Any) -> dict[str, Any]:
    return dict(label) if isinstance(label, Mapping) else {"label": "" if label is None else str(label)}


def _seconds(times: Any) -> list[int]:
    try:
        moments = np.asarray(times, dtype="datetime64[s]")
    except (ValueError, TypeError):
        import pandas as pd

        moments = pd.to_datetime(pd.Series(times), utc=True).dt.tz_localize(None).to_numpy("datetime64[s]")
    if np.isnat(moments).any():
        place = int(np.flatnonzero(np.isnat(moments))[0])
        raise ValueError(f"times: document {place} has none; give one for each document")
    return [int(moment) for moment in moments.astype(np.int64)]
