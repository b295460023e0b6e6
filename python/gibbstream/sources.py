"""What a run with a runner learns from: packs of documents or rows, in the order of the source."""

from __future__ import annotations

import os
from abc import ABC, abstractmethod
from collections.abc import Iterator
from itertools import chain
from typing import TYPE_CHECKING, Any

from gibbstream._core import Corpus, Files, pack
from gibbstream.matrix import row_count

if TYPE_CHECKING:
    from gibbstream._core import Source as Rows
    from gibbstream.learning import Learner

# Documents that travel together.
PACK = 512


class Source(ABC):
    """Documents or rows that can be packed."""

    # Whether it can be read again from the top.
    again = True
    # How many there are, if that is known.
    count: int | None = None

    @abstractmethod
    def create(self, estimator: Learner) -> None:
        """Makes a model that is ready for them."""

    @abstractmethod
    def packs(self) -> Iterator[bytes]:
        """All of them from the top."""

    def look_again(self, estimator: Learner) -> None:  # noqa: B027 most cannot
        """Lets the model find which words of its topics go together."""

    def close(self) -> None:  # noqa: B027 most hold nothing
        """Lets go of what it holds."""


def source_of(X: Any, estimator: Learner) -> Source:
    """Paths, an iterator of chunks, or anything that fit takes."""
    if isinstance(X, Source):
        return X
    if (paths := paths_of(X)) is not None:
        return FileSource(paths)
    return ChunkSource(X) if isinstance(X, Iterator) else MatrixSource(X, estimator)


def paths_of(X: Any) -> list[str] | None:
    """Paths and patterns: a text, a path, or a list of paths. A list of texts is a list of documents."""
    if isinstance(X, str | os.PathLike):
        return [os.fspath(X)]
    if isinstance(X, list | tuple) and X and all(isinstance(path, os.PathLike) for path in X):
        return [os.fspath(path) for path in X]
    return None


def is_of_rows(estimator: Learner) -> bool:
    """Whether it learns from numbers, not from documents."""
    return estimator._family not in {"lda", "hdp"}


def packed_rows(rows: Rows, *, as_numbers: bool) -> Iterator[bytes]:
    """Rows of a matrix or documents of a corpus in packs."""
    for start in range(0, row_count(rows), PACK):
        yield pack(rows, start, start + PACK, as_numbers)


class MatrixSource(Source):
    """A matrix or a corpus in memory."""

    def __init__(self, X: Any, estimator: Learner) -> None:
        self._X = X
        self._as_numbers = is_of_rows(estimator)

    def create(self, estimator: Learner) -> None:
        """The model for its columns."""
        self._rows, self.count = estimator._begin(self._X, "fit")

    def packs(self) -> Iterator[bytes]:
        """All rows."""
        return packed_rows(self._rows, as_numbers=self._as_numbers)

    def look_again(self, estimator: Learner) -> None:
        """All rows are there."""
        estimator._look_again(self._rows)


class ChunkSource(Source):
    """An iterator of matrices or corpora."""

    again = False

    def __init__(self, chunks: Iterator[Any]) -> None:
        self._chunks = chunks

    def create(self, estimator: Learner) -> None:
        """The model for the columns of the first chunk."""
        self._estimator = estimator
        for chunk in self._chunks:
            self._first, _ = estimator._begin(chunk, "fit", stream=True)
            return
        raise ValueError("X: the iterator gave nothing; give at least one chunk of documents")

    def packs(self) -> Iterator[bytes]:
        """All chunks."""
        further = map(self._estimator._further, self._chunks)
        for rows in chain([self._first], further):
            yield from packed_rows(rows, as_numbers=is_of_rows(self._estimator))


class FileSource(Source):
    """Files in any format of the program, which the driver reads ahead in a thread."""

    def __init__(self, paths: list[str]) -> None:
        self._paths = paths

    def create(self, estimator: Learner) -> None:
        """The model for their words or columns: text is read once to find its words."""
        self._files = Files(self._paths, estimator._family)
        self.count = self._files.documents
        estimator._create_for(self._files.width, self.count, files=self._files)
        estimator._model.begin("fit")

    def packs(self) -> Iterator[bytes]:
        """All documents of all files, in the order of names."""
        return iter(self._files.read())

    def look_again(self, estimator: Learner) -> None:
        """Reads them once more."""
        estimator._look_again(self._files)


class PackSource(Source):
    """Packs that an engine has made, and a corpus that says how."""

    def __init__(self, width: int, words: list[str] | None, corpus: Corpus | None) -> None:
        self.width = width
        self.words = words
        self.corpus = corpus

    def create(self, estimator: Learner) -> None:
        """The model for the words or columns that were found."""
        estimator._create_for(self.width, self.count, names=self.words, corpus=self.corpus, stream=not self.again)
        estimator._model.begin("fit")
