"""Looking at documents through a model: which topics are in them, and which of them belong together."""

from __future__ import annotations

import difflib
import html
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from gibbstream._core import Model
from gibbstream.text import is_text, readable

if TYPE_CHECKING:
    from gibbstream._core import Source

# Topics that are shown in a notebook.
_SHOWN_TOPICS = 50


class FoundDocument(NamedTuple):
    """A document that was looked for."""

    document: int
    """Its place in what was given."""
    weight: float
    """How well it fits: its share of the topic, or its similarity."""
    text: str | None
    """The document itself, if texts were given."""


class FoundTopic(NamedTuple):
    """A topic that was looked for."""

    topic: int
    """Its number."""
    weight: float
    """The probability that a word of the query is about it."""
    words: list[str]
    """Its most probable words."""


class DocumentViews:
    """The part of a topic model that looks at documents."""

    if TYPE_CHECKING:
        _model: Model
        transform_sweeps: int

        def transform(self, X: Any) -> NDArray[np.float64]: ...  # noqa: D102
        def top_words(self, n_words: int = 10) -> list[list[str]]: ...  # noqa: D102
        def _held_out(self, X: Any) -> Source: ...
        def _threads(self) -> int: ...
        def __sklearn_is_fitted__(self) -> bool: ...

    def top_documents(self, X: Any, n_documents: int = 3) -> list[list[FoundDocument]]:
        """The documents with the largest share of each topic.

        Parameters
        ----------
        X : list or column of texts, TextCorpus, sparse matrix or array
            Documents. If they are texts, the result has them too.
        n_documents : int
            Documents per topic.

        Returns
        -------
        list of lists of FoundDocument
            For each topic ``(document, weight, text)``, the largest share first.

        Examples
        --------
        >>> from gibbstream import LDA
        >>> texts = ["a cat and a dog", "stocks and bonds"] * 50
        >>> lda = LDA(2, batch=10, random_state=0).fit(texts)
        >>> sorted(documents[0].text for documents in lda.top_documents(texts, 1))
        ['a cat and a dog', 'stocks and bonds']
        """
        mixtures, texts = self.transform(X), _texts(X)
        # Of equal documents the first comes first.
        order = np.argsort(-mixtures, axis=0, kind="stable")[:n_documents]
        return [
            [FoundDocument(int(row), float(mixtures[row, topic]), _text(texts, row)) for row in order[:, topic]]
            for topic in range(mixtures.shape[1])
        ]

    def document_topics(self, X: Any, *, top: int = 3, min_share: float = 0.0) -> list[list[tuple[int, float]]]:
        """The largest topics of each document.

        Parameters
        ----------
        X : list or column of texts, TextCorpus, sparse matrix or array
            Documents.
        top : int
            Topics per document.
        min_share : float
            Leave out topics with a smaller share.

        Returns
        -------
        list of lists of (topic, share)
            The largest share first.
        """
        mixtures = self.transform(X)
        order = np.argsort(-mixtures, axis=1, kind="stable")[:, :top]
        return [
            [(int(topic), float(shares[topic])) for topic in topics if shares[topic] >= min_share]
            for topics, shares in zip(order, mixtures, strict=True)
        ]

    def assign(self, X: Any) -> tuple[NDArray[np.int64], NDArray[np.float64]]:
        """The topic that each document is most about, and how clearly.

        A topic that is in all documents does not win all of them: the share of a topic is divided by the root of its
        share of all tokens, where that is more than twice an even one. The confidence is what the best topic then has
        of the sum over topics: below 0.5 the others have more together.

        Parameters
        ----------
        X : list or column of texts, TextCorpus, sparse matrix or array
            Documents.

        Returns
        -------
        topics : array of int
        confidence : array of float
            From 0 to 1.

        Examples
        --------
        >>> from gibbstream import LDA
        >>> lda = LDA(2, batch=10, random_state=0).fit(["a cat and a dog", "stocks and bonds"] * 50)
        >>> topics, confidence = lda.assign(["the dog and the cat", "cat", "stocks"])
        >>> bool(topics[0] == topics[1] != topics[2])
        True
        """
        found = self._model.assign(self._held_out(X), self.transform_sweeps, 0, self._threads())
        return np.array(found[0], dtype=np.int64), np.array(found[1], dtype=np.float64)

    def token_topics(self, X: Any) -> list[list[tuple[str, int]]]:
        """The topic of every word of every document, in one sample from the model.

        Parameters
        ----------
        X : list or column of texts, TextCorpus, sparse matrix or array
            Documents.

        Returns
        -------
        list of lists of (word, topic)
            One entry for each token that the model knows, ordered by the number of the word.

        Examples
        --------
        >>> from gibbstream import LDA
        >>> lda = LDA(2, batch=10, random_state=0).fit(["a cat and a dog", "stocks and bonds"] * 50)
        >>> [word for word, _ in lda.token_topics(["the dog and the cat"])[0]]
        ['cat', 'dog']
        """
        return self._model.token_topics(self._held_out(X), self.transform_sweeps, 0, self._threads())

    def find_topics(self, query: str, n_topics: int = 5) -> list[FoundTopic]:
        """The topics that some words are about.

        The weight of a topic is the mean over the words of ``p(topic | word)``, from the topics and their shares.

        Parameters
        ----------
        query : str
            One or more words.
        n_topics : int
            Topics to return.

        Returns
        -------
        list of FoundTopic
            ``(topic, weight, words)``, the largest weight first.

        Examples
        --------
        >>> from gibbstream import LDA
        >>> lda = LDA(2, batch=10, random_state=0).fit(["a cat and a dog", "stocks and bonds"] * 50)
        >>> best = lda.find_topics("dog")[0]
        >>> best.weight > 0.5, sorted(best.words[:2])
        (True, ['cat', 'dog'])
        """
        counts = self._held_out([query]).arrays()  # type: ignore[union-attr]
        _, words, numbers = counts
        if len(words) == 0:
            known = difflib.get_close_matches(query.lower(), self._model.words(), 3)
            near = f"; it knows {', '.join(known)}" if known else ""
            raise ValueError(f"query: the model knows no word of {query!r}{near}")
        joint = self._model.probabilities()[:, words] * self._model.shares()[:, None]
        weights = (joint / joint.sum(axis=0)) @ (numbers / numbers.sum())
        names = self.top_words(10)
        order = np.argsort(-weights, kind="stable")[:n_topics]
        return [FoundTopic(int(topic), float(weights[topic]), names[topic]) for topic in order]

    def similar_documents(self, documents: Any, X: Any, n_documents: int = 5) -> list[list[FoundDocument]]:
        """The documents of ``X`` whose topic mixtures are nearest to those of others.

        Parameters
        ----------
        documents : list or column of texts, TextCorpus, sparse matrix or array
            Documents to find others for.
        X : list or column of texts, TextCorpus, sparse matrix or array
            Documents to search.
        n_documents : int
            Documents to return for each.

        Returns
        -------
        list of lists of FoundDocument
            ``(document, weight, text)`` for each of ``documents``, the nearest first. The weight is 1 minus the
            Hellinger
            distance of the mixtures: 1 for equal ones, 0 for those that share no topic.

        Examples
        --------
        >>> from gibbstream import LDA
        >>> texts = ["a cat and a dog", "stocks and bonds"] * 50
        >>> lda = LDA(2, batch=10, random_state=0).fit(texts)
        >>> lda.similar_documents(["one dog"], texts, 1)[0][0].text
        'a cat and a dog'
        """
        ours, theirs, texts = np.sqrt(self.transform(documents)), np.sqrt(self.transform(X)), _texts(X)
        found = []
        for mixture in ours:
            likeness = 1 - np.sqrt(np.clip(1 - theirs @ mixture, 0, 1))
            order = np.argsort(-likeness, kind="stable")[:n_documents]
            found.append([FoundDocument(int(row), float(likeness[row]), _text(texts, row)) for row in order])
        return found

    def _repr_html_(self) -> str:
        if not self.__sklearn_is_fitted__():
            return f"<pre>{html.escape(repr(self))}</pre>"
        shares, words = self._model.shares(), self.top_words(8)
        background = np.array(self._model.background())
        # Topics about nothing in particular come last.
        order = np.lexsort((-shares, background))
        rows = "".join(
            f"<tr><td>{topic}</td><td>{shares[topic]:.1%}</td>"
            f'<td style="text-align: left">{"(background) " if background[topic] else ""}'
            f"{html.escape(' '.join(words[topic]))}</td></tr>"
            for topic in order[:_SHOWN_TOPICS]
        )
        more = "" if len(order) <= _SHOWN_TOPICS else f"<p>{len(order) - _SHOWN_TOPICS} more topics</p>"
        name = f"{type(self).__name__}: {len(order)} topics, {self._model.documents:,} documents"
        head = "<tr><th>topic</th><th>share</th><th>words</th></tr>"
        return f"<table><caption>{name}</caption><thead>{head}</thead><tbody>{rows}</tbody></table>{more}"

    def _repr_mimebundle_(self, **_: Any) -> dict[str, str]:
        return {"text/plain": repr(self), "text/html": self._repr_html_()}


def _texts(X: Any) -> Sequence[Any] | None:
    return readable(X) if is_text(X) else None


def _text(texts: Sequence[Any] | None, row: int) -> str | None:
    if texts is None:
        return None
    # A pandas Series is indexed by its labels otherwise.
    document = texts.iloc[int(row)] if hasattr(texts, "iloc") else texts[int(row)]
    document = document.as_py() if hasattr(document, "as_py") else document
    return document if isinstance(document, str) else " ".join(document)
