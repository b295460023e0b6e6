"""What goes on between minibatches: the progress bar, and the callback of the user."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, TypedDict

from gibbstream.progress import ProgressBar

if TYPE_CHECKING:
    from typing_extensions import Self

    from gibbstream.learning import Learner


class MinibatchRecord(TypedDict):
    """What happened in a minibatch."""

    update: int
    documents: int
    tokens: int
    rho: float
    alpha_sum: float
    topics: int
    topics_used: int
    remainder: float
    seconds: float
    prequential: float | None
    prequential_error: float | None
    prequential_unigram: float | None


Callback = Callable[[Any, MinibatchRecord], bool | None]


def settled(record: MinibatchRecord, field: str) -> float:
    """A field of a record, for names that are not known beforehand."""
    return float(record[field])  # type: ignore[literal-required]


class Watch:
    """Tells the progress bar and the callback about every minibatch."""

    def __init__(self, estimator: Learner, total: int | None) -> None:
        self._estimator = estimator
        self._bar = ProgressBar(type(estimator).__name__, total) if estimator.verbose else None
        watched = estimator.callback is not None or self._bar is not None
        # Nobody to tell: everything is learnt in one call.
        self.minibatches: int | None = 1 if watched else None
        self._before = estimator._model.last_record() if estimator._has_model() else None
        self._told = self._before

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        if self._bar is not None:
            self._bar.close()

    def stops(self) -> bool:
        """Tells about the last minibatch; true if the callback wants to stop."""
        if self.minibatches is None:
            return False
        last = self._estimator._model.last_record()
        if last is None or last == self._told:
            return False
        self._told = last
        if self._bar is not None:
            self._advance(self._bar, last)
        callback = self._estimator.callback
        return callback is not None and bool(callback(self._estimator, last))

    def _advance(self, bar: ProgressBar, last: MinibatchRecord) -> None:
        documents, tokens = last["documents"], last["tokens"]
        if self._before is not None:
            documents -= self._before["documents"]
            tokens -= self._before["tokens"]
        bar.advance(documents, tokens, self._estimator._note(last))
