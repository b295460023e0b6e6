"""Texts and lists of tokens as documents."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

import numpy as np
from scipy import sparse

from gibbstream._core import Corpus

SAMPLED_DOCUMENTS = 500
"""Documents in which the language is looked for."""


class TextCorpus:
    """Word counts of texts, or of lists of tokens.

    Tokenization and vocabulary are the same as in the ``gibbstream`` program, so that both learn the same model from
    the same texts and settings.

    Parameters
    ----------
    texts : iterable of str or of lists of str, or an Arrow column
        One entry per document. A pandas or polars Series, a pyarrow array, or anything else that exports Arrow arrays
        is read without a copy of its strings in Python.
    lowercase : bool
        Turn words into lower case.
    min_length : int
        Minimum number of characters of a word.
    ngrams : int
        If 2 or more, also count phrases of up to this many consecutive words, joined by ``_``.
    stop_words : str, list of str or None
        Words to drop: ``"auto"`` (those of the language), ``"english"``, a language code such as ``"de"``, the path of
        a file with one word per line, or a list of words. ``None`` drops nothing.
    language : str
        The language of the texts, as a code such as ``"en"``; ``"auto"`` finds it in the first documents.
    html : {"auto", "strip", "keep"}
        Whether markup that is recognised, everything that looks like a tag, or nothing is taken out.
    keep_urls : bool
        Keep URLs and email addresses as words.
    phrases : bool
        Take words that belong together (``new_york``) for one word; the texts are read once more to find them.
    stem : str, optional
        Count the forms of a word (ship, ships, shipping) as one, with the Snowball stemmer of this language, such as
        ``"en"``. Shown is the most frequent form; the texts are read once more to find it.
    term_weights : {"none", "idf"}
        How much a token counts: ``"idf"`` gives words in few documents more weight than words in many. Scores of models
        with different weights cannot be compared.
    max_vocab : int, optional
        Maximum size of the vocabulary; the most frequent words are kept.
    min_df : int, float or "auto"
        Drop words that occur in fewer documents than this: an integer is a number of documents, a float a share.
        ``"auto"`` grows with the number of documents: 2 of 1,000, 5 of 20,000.
    max_df : float, int or "auto"
        Drop words that occur in more documents than this: a float is a share of the documents, an integer a number.
        ``"auto"`` is 0.5 for 200 documents or more.
    vocabulary : sequence of str, optional
        The vocabulary to use, in this order, instead of the words found.

    Lists of tokens are used unchanged, except that surrounding spaces are removed.

    A corpus can be sliced, indexed with integers or a mask, split with scikit-learn's ``train_test_split``, and
    pickled.

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
    >>> corpus[1:], corpus[[1, 0, 1]]
    (TextCorpus(1 documents, 4 words, 3 tokens), TextCorpus(3 documents, 4 words, 8 tokens))
    """

    _corpus: Corpus

    def __init__(
        self,
        texts: Iterable[str] | Iterable[Sequence[str]] | Any,
        *,
        lowercase: bool = True,
        min_length: int = 2,
        ngrams: int = 1,
        stop_words: str | Sequence[str] | None = "auto",
        language: str = "auto",
        html: str = "auto",
        keep_urls: bool = False,
        phrases: bool = False,
        stem: str | None = None,
        term_weights: str = "none",
        max_vocab: int | None = None,
        min_df: float | str = "auto",
        max_df: float | str = "auto",
        vocabulary: Sequence[str] | None = None,
    ) -> None:
        options = {
            "lowercase": lowercase,
            "min_length": min_length,
            "ngrams": ngrams,
            "stop_words": stop_words,
            "language": language,
            "html": html,
            "keep_urls": keep_urls,
            "phrases": phrases,
            "stem": stem,
        }
        cutting = cutting_of(options)
        words = None if vocabulary is None else list(vocabulary)
        documents = readable(texts)
        fewest, largest_share = limits(min_df, max_df, len(documents))
        self._corpus = Corpus.build(documents, cutting, max_vocab, fewest, largest_share, words, term_weights)

    @classmethod
    def _from_core(cls, corpus: Corpus) -> TextCorpus:
        made = cls.__new__(cls)
        made._corpus = corpus
        return made

    def encode(self, texts: Iterable[str] | Iterable[Sequence[str]] | Any) -> TextCorpus:
        """Tokenize other documents with the same settings and vocabulary.

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
    def language(self) -> str | None:
        """The code of the language of the texts, such as ``"en"``, if it was given or found."""
        return self._corpus.language

    @property
    def n_tokens(self) -> int:
        """Number of tokens that are in the vocabulary."""
        return self._corpus.tokens

    @property
    def n_unknown_tokens(self) -> int:
        """Number of tokens that are not in the vocabulary."""
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

    def __getitem__(self, rows: Any) -> TextCorpus:
        """Some of the documents: ``corpus[:1000]``, ``corpus[7]``, ``corpus[[3, 1]]`` or ``corpus[mask]``."""
        # scikit-learn asks for corpus[rows, ...].
        if isinstance(rows, tuple) and len(rows) == 2 and rows[1] is Ellipsis:
            rows = rows[0]
        places = np.arange(len(self))[rows]
        if places.ndim > 1:
            raise IndexError("a corpus has one dimension; index it with a slice, integers or a mask")
        return self._from_core(self._corpus.take(np.atleast_1d(places).tolist()))

    def __reduce__(self) -> tuple[Any, ...]:
        return _unpickled, (self._corpus.arrays(), self.vocabulary, *self._corpus.beside_the_counts())

    def __repr__(self) -> str:
        documents, words = self.shape
        return f"TextCorpus({documents:,} documents, {words:,} words, {self.n_tokens:,} tokens)"


def cutting_of(options: Mapping[str, Any]) -> dict[str, object]:
    """How text is cut into words, as the compiled part reads it; what is not given is the default."""
    known: dict[str, Any] = {
        "lowercase": True,
        "min_length": 2,
        "ngrams": 1,
        "stop_words": "auto",
        "language": "auto",
        "html": "auto",
        "keep_urls": False,
        "phrases": False,
        "stem": None,
    }
    cutting = known | {name: value for name, value in options.items() if name in known}
    return cutting | {"stop_words": _stop_words(cutting["stop_words"])}


def _unpickled(
    counts: Any, words: list[str], unknown: list[int], tokenizer: str | None, weights: list[float] | None = None
) -> TextCorpus:
    starts, columns, numbers = (part.tolist() for part in counts)
    return TextCorpus._from_core(Corpus.restored((starts, columns, numbers), words, unknown, tokenizer, weights))


def _stop_words(choice: str | Sequence[str] | None) -> str | list[str]:
    if choice is None:
        return "none"
    if isinstance(choice, str):
        return "en" if choice == "english" else choice
    return list(choice)


def limits(min_df: float | str, max_df: float | str, documents: int) -> tuple[int | None, float | None]:
    """The fewest documents that a word must be in, and the largest share of them that it may be in; None adapts."""
    return _fewest(min_df, documents), _largest_share(max_df, documents)


def _fewest(min_df: float | str, documents: int) -> int | None:
    if isinstance(min_df, str):
        _check_auto("min_df", min_df)
        return None
    if isinstance(min_df, float):
        if not 0 <= min_df <= 1:
            raise ValueError(
                f"min_df: {min_df} is not a share of the documents; use a share from 0 to 1, or an integer"
            )
        min_df = math.ceil(min_df * documents)
    return int(min_df)


def _largest_share(max_df: float | str, documents: int) -> float | None:
    if isinstance(max_df, str):
        _check_auto("max_df", max_df)
        return None
    return float(max_df) if isinstance(max_df, float) else min(1.0, max_df / max(1, documents))


def _check_auto(name: str, choice: str) -> None:
    if choice != "auto":
        raise ValueError(f'{name}: "{choice}" is not a choice; use a number, or "auto"')


def is_text(X: Any) -> bool:
    """Whether these are documents to cut into words: strings, or lists of strings, in a sequence or a column."""
    if isinstance(X, str | TextCorpus) or sparse.issparse(X) or not hasattr(X, "__iter__"):
        return False
    if isinstance(X, Iterator) or hasattr(X, "columns") or getattr(X, "ndim", 1) != 1:
        return False
    for document in X:
        value = document.as_py() if hasattr(document, "as_py") else document
        if isinstance(value, str):
            return True
        if not (isinstance(value, Sequence | np.ndarray) or hasattr(value, "__arrow_c_array__")):
            return False
        if len(value) > 0:
            return isinstance(value[0], str)
    return False


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
