"""Texts and lists of tokens as documents."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import numpy as np
from scipy import sparse

from gibbstream._core import Corpus


class TextCorpus:
    """Texts, or lists of tokens, as counts of words in memory.

    Text is cut into words, and the words are chosen and numbered, by the same code as in the ``gibbstream`` program:
    same texts and settings, same model, bit for bit.

    Parameters
    ----------
    texts : iterable of str or of lists of str, or an Arrow column
        One entry per document. A pandas or polars Series, a pyarrow array, or anything else that exports Arrow arrays
        is read without a copy of its strings in Python.
    lowercase : bool
        Turn words into lower case.
    min_length : int
        Characters that a word must have.
    ngrams : int
        From 2 on, up to so many words that follow each other are also joined by ``_``.
    stop_words : str or list of str
        Words to drop: a language code such as ``"en"``, ``"none"``, the path of a file, or the words themselves.
    max_vocab : int, optional
        Keep so many words, the most frequent ones.
    min_df : int
        Drop words found in fewer documents.
    max_df : float
        Drop words found in more than this share of the documents.
    vocabulary : sequence of str, optional
        The words to know, in this order, instead of those found.

    Lists of tokens are taken as they are: only blanks around tokens are cut off.

    Examples
    --------
    >>> from gibbstream import TextCorpus
    >>> corpus = TextCorpus(["A cat and a dog.", "The dog didn't bark."])
    >>> corpus.vocabulary
    ['dog', 'bark', 'cat', "didn't"]
    >>> corpus.to_csr().toarray()
    array([[1, 0, 1, 0],
           [1, 1, 0, 1]], dtype=int32)
    >>> TextCorpus([["new_york", "cat"], ["cat"]]).vocabulary
    ['cat', 'new_york']
    """

    _corpus: Corpus

    def __init__(
        self,
        texts: Iterable[str] | Iterable[Sequence[str]] | Any,
        *,
        lowercase: bool = True,
        min_length: int = 2,
        ngrams: int = 1,
        stop_words: str | Sequence[str] = "en",
        max_vocab: int | None = None,
        min_df: int = 1,
        max_df: float = 1.0,
        vocabulary: Sequence[str] | None = None,
    ) -> None:
        options = {"lowercase": lowercase, "min_length": min_length, "ngrams": ngrams, "stop_words": stop_words}
        cutting = cutting_of(options)
        words = None if vocabulary is None else list(vocabulary)
        self._corpus = Corpus.build(readable(texts), cutting, max_vocab, min_df, max_df, words)

    @classmethod
    def _from_core(cls, corpus: Corpus) -> TextCorpus:
        made = cls.__new__(cls)
        made._corpus = corpus
        return made

    def encode(self, texts: Iterable[str] | Iterable[Sequence[str]] | Any) -> TextCorpus:
        """Other documents with the tokenizer and the vocabulary of this corpus.

        >>> corpus = TextCorpus(["a cat and a dog", "the dog barks"])
        >>> other = corpus.encode(["a dog and a fox"])
        >>> other.n_tokens, other.n_unknown_tokens
        (1, 1)
        """
        return self._from_core(self._corpus.encode(readable(texts)))

    @property
    def vocabulary(self) -> list[str]:
        """The words by number."""
        return self._corpus.words

    @property
    def n_tokens(self) -> int:
        """Tokens of words in the vocabulary."""
        return self._corpus.tokens

    @property
    def n_unknown_tokens(self) -> int:
        """Tokens that were left out because the vocabulary does not have their word."""
        return self._corpus.out_of_vocabulary_tokens

    def to_csr(self) -> sparse.csr_matrix:
        """The counts as a SciPy matrix, one row per document."""
        indptr, indices, data = self._corpus.arrays()
        return sparse.csr_matrix((data, indices, indptr), shape=self.shape)

    @property
    def shape(self) -> tuple[int, int]:
        """Documents and words."""
        return len(self), self._corpus.width

    def __len__(self) -> int:
        return len(self._corpus)

    def __getitem__(self, rows: slice) -> TextCorpus:
        """Consecutive documents, such as ``corpus[:1000]``."""
        if not isinstance(rows, slice):
            raise TypeError("a corpus is cut by slices, such as corpus[:1000]")
        start, stop, step = rows.indices(len(self))
        if step != 1:
            raise ValueError("a corpus is cut into consecutive documents; leave the step out")
        return self._from_core(self._corpus.part(start, stop))

    def __reduce__(self) -> tuple[Any, ...]:
        raise TypeError("a TextCorpus is not pickled; pickle its texts, or corpus.to_csr() and corpus.vocabulary")

    def __repr__(self) -> str:
        documents, words = self.shape
        return f"TextCorpus({documents:,} documents, {words:,} words, {self.n_tokens:,} tokens)"


def cutting_of(options: Mapping[str, Any]) -> dict[str, object]:
    """How text is cut into words, as the compiled part reads it; what is not given is the default."""
    known: dict[str, Any] = {"lowercase": True, "min_length": 2, "ngrams": 1, "stop_words": "en"}
    cutting = known | {name: value for name, value in options.items() if name in known}
    words = cutting["stop_words"]
    return cutting | {"stop_words": words if isinstance(words, str) else list(words)}


def readable(texts: Any) -> Any:
    """Something that can be read twice: an Arrow column, or a list."""
    if hasattr(texts, "__arrow_c_stream__") or hasattr(texts, "__arrow_c_array__"):
        # A data frame exports a table; a document is one cell of one column.
        if hasattr(texts, "columns"):
            raise TypeError("texts: this is a table; give one of its columns, such as table['text']")
        return texts
    if isinstance(texts, str | bytes):
        raise TypeError("texts: one text is not a list of texts; put it into a list")
    if isinstance(texts, np.ndarray):
        return texts.tolist()
    return texts if isinstance(texts, list | tuple) else list(texts)
