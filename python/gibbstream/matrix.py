"""Matrices as the compiled part reads them: without a copy wherever that is possible."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from scipy import sparse

from gibbstream._core import Corpus

if TYPE_CHECKING:
    from gibbstream._core import Source

# What is read as it is; other kinds of numbers are turned into float64 first.
_READ_AS_THEY_ARE = frozenset("?bhilqBHILQfd")


def source(X: Any) -> Source:
    """The arrays of a CSR matrix, or the values of a dense one row after row."""
    if sparse.issparse(X):
        return _plain(X.indptr), _plain(X.indices), _plain(X.data), int(X.shape[1])
    return _plain(np.ascontiguousarray(X)).reshape(-1), int(X.shape[1])


def row_count(rows: Source) -> int:
    """Number of rows."""
    if isinstance(rows, Corpus):
        return len(rows)
    return len(rows[0]) - 1 if len(rows) == 4 else len(rows[0]) // rows[-1]


def _plain(values: Any) -> Any:
    """The same array if it is contiguous, in native byte order, and of a known kind."""
    values = np.ascontiguousarray(values)
    if values.dtype.char not in _READ_AS_THEY_ARE or not values.dtype.isnative:
        return values.astype(np.float64)
    # The names of types of the same size differ between platforms.
    return values.view(np.dtype(values.dtype.str))
