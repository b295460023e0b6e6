"""Columns of Arrow tables as documents or rows, for engines that keep their data in tables.

Tables are checked and packed where they are; the driver sees packs, and what is wrong with a row by its place.
"""

from __future__ import annotations

import hashlib
import re
from abc import abstractmethod
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from gibbstream._core import Corpus, WordCounter, encode, pack
from gibbstream.matrix import row_count
from gibbstream.sources import PACK, PackSource
from gibbstream.text import SAMPLED_DOCUMENTS, cutting_of, limits

if TYPE_CHECKING:
    from gibbstream._core import Source as Rows
    from gibbstream.learning import Learner

PACKED = pa.schema([("packed", pa.binary()), ("rows", pa.int64()), ("problem", pa.string()), ("begins", pa.bool_())])
"""What a table is turned into: packs, how many rows each has, what is wrong with the row after the last, and whether a
table begins with this pack."""

ORDER = "gibbstream_order"
"""The column that rows are ordered by, in tables that have one."""

KEYED = pa.schema(
    [
        ("partition", pa.int32()),
        ("row", pa.int64()),
        ("key", pa.binary()),
        ("packed", pa.binary()),
        ("problem", pa.string()),
    ]
)
"""What a table is turned into if its rows are still to be put into order: where each was, a key, and the row itself."""


def content_key(packed: bytes) -> bytes:
    """What rows are ordered by if no column says so: it depends on their content alone."""
    return hashlib.blake2b(packed, digest_size=16).digest()


class BadRowError(ValueError):
    """A row that cannot be learnt from, by its number in the table."""

    def __init__(self, row: int, problem: str) -> None:
        super().__init__(problem)
        self.row = row


@dataclass(frozen=True)
class Columns:
    """Which columns to read, and how text in them is cut into words."""

    column: str | None = None
    text_options: dict[str, Any] = field(default_factory=dict)

    def kind(self, schema: Any) -> str:
        """What the column holds: text, tokens, dense or sparse counts, or a number in each of all columns."""
        if self.column is None:
            odd = [item.name for item in schema if not _is_number(item.type)]
            if odd:
                raise ValueError(f"column: {odd[0]} does not hold numbers; name the column to learn from")
            return "numbers"
        if self.column not in schema.names:
            raise ValueError(f"column: there is no {self.column}; there are {', '.join(schema.names)}")
        return _kind_of(schema.field(self.column).type, self.column)

    def values(self, table: Any) -> Any:
        """The column in one piece, or the whole table where every column counts."""
        if self.column is None:
            return table
        values = table.column(self.column)
        if isinstance(values, pa.ChunkedArray):
            values = values.combine_chunks()
        return values.storage if isinstance(values, pa.ExtensionArray) else values

    def rows(self, table: Any, kind: str, width: int | None, text: Callable[[Any], Corpus]) -> Rows:
        """What the compiled part reads; refuses nulls and vectors of another size by their row."""
        values = self.values(table)
        if kind == "numbers":
            for name in table.schema.names:
                _refuse_null(table.column(name), f"column {name}")
            return np.stack([np.asarray(column, dtype=np.float64) for column in table.columns], 1).reshape(
                -1
            ), table.num_columns
        _refuse_null(values, f"column {self.column}")
        if kind in {"text", "tokens"}:
            return text(values)
        return _sparse_rows(values, width) if kind == "sparse" else _dense_rows(values, width)

    def scored(self, estimator: Any, table: Any, output: str, *, likelihood: bool) -> Any:
        """The table with one more column: mixtures, or logarithms of likelihoods."""
        model, width = estimator._model, estimator.n_features_in_
        rows = self.rows(table, self.kind(table.schema), width, lambda texts: encode(model, texts))
        if likelihood:
            found = pa.array(estimator._log_likelihood(rows))
        else:
            mixtures = estimator._mixtures(rows)
            starts = np.arange(0, mixtures.size + 1, mixtures.shape[1], dtype=np.int32)
            found = pa.ListArray.from_arrays(pa.array(starts), pa.array(mixtures.reshape(-1)))
        return table.append_column(output, found)


@dataclass(frozen=True)
class Packer:
    """Turns a table into packs, wherever the table is."""

    columns: Columns
    kind: str
    width: int
    as_numbers: bool
    # The words, and how text is cut into them.
    text: tuple[list[str], str | None] | None

    def __call__(self, table: Any) -> Any:
        """Packs up to the first bad row, and what is wrong with it."""
        packed, counts, problem = [], [], None
        try:
            rows = self.columns.rows(table, self.kind, self.width, self._corpus)
            for start in range(0, row_count(rows), PACK):
                stop = min(start + PACK, row_count(rows))
                packed.append(self._packed(rows, start, stop))
                counts.append(stop - start)
        except BadRowError as bad:
            # The place of the row is told by counting what came before it.
            packed, counts, problem = [b""], [bad.row], str(bad)
        problems = [None] * len(packed) if problem is None else [problem]
        begins = [number == 0 for number in range(len(packed))]
        return pa.table([packed, counts, problems, begins], schema=PACKED)

    def keyed(self, table: Any, partition: int, first: int) -> Any:
        """Every row with its place and a key to order it by, up to the first bad one."""
        own = table.drop_columns([ORDER]) if ORDER in table.column_names else table
        singles = list(self._singles(own))
        found = pa.table(
            [
                [partition] * len(singles),
                range(first, first + len(singles)),
                [content_key(packed) for packed, _ in singles],
                [packed for packed, _ in singles],
                [problem for _, problem in singles],
            ],
            schema=KEYED,
        )
        # A bad row ends the table early.
        return found if own is table else found.append_column(ORDER, table.column(ORDER).slice(0, len(singles)))

    def _singles(self, table: Any) -> Iterator[tuple[bytes, str | None]]:
        """A pack for every row, up to the first bad one, which comes with what is wrong with it."""
        count = 0
        try:
            rows = self.columns.rows(table, self.kind, self.width, self._corpus)
            for row in range(row_count(rows)):
                yield self._packed(rows, row, row + 1), None
                count += 1
        except BadRowError as bad:
            for _ in range(count, bad.row):
                yield b"", None
            yield b"", str(bad)

    def _corpus(self, texts: Any) -> Corpus:
        return self._example.encode(texts)

    @cached_property
    def _example(self) -> Corpus:
        """A corpus without documents that knows the words and how text is cut into them."""
        assert self.text is not None
        words, tokenizer = self.text
        return Corpus.restored(([0], [], []), words, [], tokenizer)

    def _packed(self, rows: Rows, start: int, stop: int) -> bytes:
        try:
            return pack(rows, start, stop, self.as_numbers)
        except ValueError:
            for row in range(start, stop):
                try:
                    pack(rows, row, row + 1, self.as_numbers)
                except ValueError as bad:
                    raise BadRowError(row, re.sub(rf"^X: row {row},? ?", "", str(bad))) from bad
            raise


class ColumnSource(PackSource):
    """A table of an engine, in the order that the engine keeps."""

    def __init__(self, columns: Columns, *, as_numbers: bool) -> None:
        super().__init__(0, None, None)
        self._columns = columns
        self._as_numbers = as_numbers

    @abstractmethod
    def schema(self) -> Any:
        """The Arrow schema."""

    @abstractmethod
    def tables(self) -> Iterator[Any]:
        """Arrow tables in any order, here in the driver."""

    @abstractmethod
    def head(self, count: int) -> Any:
        """The first rows in order, as an Arrow table."""

    @abstractmethod
    def rows(self) -> int:
        """How many rows there are."""

    def packer(self) -> Packer:
        """What packs the tables, wherever they are."""
        text = None if self.corpus is None else (self.corpus.words, self.corpus.beside_the_counts()[1])
        return Packer(self._columns, self.kind, self.width, self._as_numbers, text)

    def create(self, estimator: Learner) -> None:
        """Finds out what there is, and makes a model for it. Text is read once to find its words."""
        self.count = self.rows()
        if self.count == 0:
            raise ValueError("X: there are no documents to learn from; give at least one")
        self.kind = self._columns.kind(self.schema())
        if self.kind in {"text", "tokens"}:
            self.corpus = self._without_documents()
            self.width = self.corpus.width
        elif self.kind == "numbers":
            self.words = list(self.schema().names)
            self.width = len(self.words)
        else:
            self.width = self._first_width()
        super().create(estimator)

    def continue_with(self, estimator: Learner) -> None:
        """Gets ready for a model that has learnt before: its words and how it cuts text stay as they are."""
        self.count = self.rows()
        self.kind = self._columns.kind(self.schema())
        self.width = estimator.n_features_in_
        if self.kind in {"text", "tokens"}:
            self.corpus = estimator._encoded([""])

    def _without_documents(self) -> Corpus:
        """A corpus that knows the words and how text is cut into them; the language is found in the first documents."""
        options = self._columns.text_options
        if options.get("term_weights", "none") != "none":
            raise ValueError("term_weights: tables of an engine have none; leave it out")
        counter = WordCounter(cutting_of(options))
        # Nulls are refused with their place when rows are packed.
        first = self._columns.values(self.head(SAMPLED_DOCUMENTS)).drop_null().to_pylist()
        language = counter.find_language(first)
        words = options.get("vocabulary") or self._counted(counter)
        example: list[Any] = [""] if self.kind == "text" else [[]]
        return Corpus.build(example, cutting_of(options | {"language": language}), None, 1, 1.0, list(words))

    def _counted(self, counter: WordCounter) -> list[str]:
        """The words of all documents, within the limits."""
        options, documents = self._columns.text_options, 0
        for table in self.tables():
            values = self._columns.values(table).drop_null()
            counter.add(values)
            documents += len(values)
        fewest, largest_share = limits(options.get("min_df", "auto"), options.get("max_df", "auto"), documents)
        return counter.finish(options.get("max_vocab"), fewest, largest_share)

    def _first_width(self) -> int:
        for table in self.tables():
            values = self._columns.values(table).drop_null()
            if len(values):
                first = values[0].as_py()
                return int(first["size"] or len(first["values"])) if self.kind == "sparse" else len(first)
        raise ValueError("X: all rows are null; give at least one document")


def _is_number(kind: Any) -> bool:
    return bool(pa.types.is_integer(kind) or pa.types.is_floating(kind) or pa.types.is_boolean(kind))


def _kind_of(kind: Any, column: str) -> str:
    if isinstance(kind, pa.ExtensionType):
        return _kind_of(kind.storage_type, column)
    if pa.types.is_string(kind) or pa.types.is_large_string(kind):
        return "text"
    if pa.types.is_struct(kind) and {"size", "indices", "values"} <= {item.name for item in kind}:
        return "sparse"
    if pa.types.is_list(kind) or pa.types.is_large_list(kind) or pa.types.is_fixed_size_list(kind):
        of = kind.value_type
        if _is_number(of):
            return "dense"
        if pa.types.is_string(of) or pa.types.is_large_string(of):
            return "tokens"
    raise ValueError(f"column: {column} holds {kind}; give text, lists of tokens, or vectors of counts")


def _refuse_null(values: Any, what: str) -> None:
    if values.null_count:
        row = int(np.flatnonzero(values.is_null().to_numpy(zero_copy_only=False))[0])
        raise BadRowError(row, f"{what} is null; drop such rows, or fill them")


def _refuse_width(widths: NDArray[Any], width: int | None) -> int:
    expected = int(widths[0]) if width is None else width
    if (other := np.flatnonzero(widths != expected)).size:
        row = int(other[0])
        problem = f"a vector of {widths[row]} counts, where others have {expected}"
        raise BadRowError(row, f"{problem}; give all documents the same vocabulary")
    return expected


def _dense_rows(values: Any, width: int | None) -> Rows:
    lengths = values.value_lengths().to_numpy(zero_copy_only=False).astype(np.int64)
    width = _refuse_width(lengths, width)
    flat = values.flatten()
    if flat.null_count:
        row = int(np.flatnonzero(flat.is_null().to_numpy(zero_copy_only=False))[0]) // width
        raise BadRowError(row, "a count is null; fill it with 0")
    return np.ascontiguousarray(flat.to_numpy(zero_copy_only=False).astype(np.float64)), width


def _sparse_rows(values: Any, width: int | None) -> Rows:
    """Vectors of Spark, sparse and dense ones in any mixture."""
    counts, indices = values.field("values"), values.field("indices")
    lengths = counts.value_lengths().to_numpy(zero_copy_only=False).astype(np.int64)
    dense = indices.is_null().to_numpy(zero_copy_only=False)
    sizes = values.field("size").fill_null(0).to_numpy(zero_copy_only=False)
    width = _refuse_width(np.where(dense, lengths, sizes), width)
    flat = counts.flatten().to_numpy(zero_copy_only=False).astype(np.float64)
    listed = iter(indices.to_pylist()) if dense.any() else None
    if listed is None:
        columns = indices.flatten().to_numpy(zero_copy_only=False)
    else:
        columns = np.concatenate([np.arange(width) if own is None else np.asarray(own) for own in listed])
    starts = np.concatenate([[0], np.cumsum(lengths)])
    return starts, np.ascontiguousarray(columns, dtype=np.int32), np.ascontiguousarray(flat), width
