"""What all topic models have in common: using what was learnt, and looking at it."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, ClassVar, TypeVar

import numpy as np
from numpy.typing import NDArray
from sklearn.base import ClassNamePrefixFeaturesOutMixin, TransformerMixin
from sklearn.exceptions import NotFittedError
from sklearn.utils.validation import check_is_fitted

from gibbstream._core import Model
from gibbstream.documents import DocumentViews
from gibbstream.exploring import Explorable
from gibbstream.files import FiledLearner
from gibbstream.labelled import LabelledTopics
from gibbstream.watch import MinibatchRecord

if TYPE_CHECKING:
    from typing_extensions import Self

    from gibbstream._core import Source

NotLearntError = NotFittedError

_T = TypeVar("_T")

# Randomness of inference and evaluation depends on the document alone, so that models can be compared pair by pair and
# the same document has the same result wherever it is met.
_SEED_OF_INFERENCE = 0


class TopicEstimator(
    DocumentViews, Explorable, LabelledTopics, ClassNamePrefixFeaturesOutMixin, TransformerMixin, FiledLearner
):
    """The part of an estimator that does not depend on the model."""

    _takes_text: ClassVar[bool] = True

    transform_sweeps: int
    particles: int

    # Using what was learnt.

    def transform(self, X: Any) -> NDArray[np.float64]:
        """Topic mixtures of documents, by Gibbs sampling with the topics held fixed.

        A document's mixture depends on its words alone: order, company and number of threads do not change a bit of it.

        Parameters
        ----------
        X : list or column of texts, TextCorpus, sparse matrix or array
            Documents: texts, or one row of counts each.

        Returns
        -------
        array of shape (documents, topics)
            Each row sums to 1.
        """
        return self._mixtures(self._held_out(X))

    def _mixtures(self, rows: Source) -> NDArray[np.float64]:
        return self._model.transform(rows, self.transform_sweeps, _SEED_OF_INFERENCE, self._threads())

    def fit_transform(self, X: Any, y: Any = None, **fit_params: Any) -> NDArray[np.float64]:
        """Learn from documents, then infer their mixtures with what was learnt.

        Parameters
        ----------
        X : list or column of texts, TextCorpus, sparse matrix or array
            Documents: texts, or one row of counts each.
        y : None
            Ignored.
        **fit_params : dict
            None is known.

        Returns
        -------
        array of shape (documents, topics)
            As :meth:`transform` gives it.
        """
        return self.fit(X, y, **fit_params).transform(X)

    def score(self, X: Any, y: Any = None) -> float:
        """Mean log-likelihood of a token of held-out documents, in nats; higher is better.

        Estimated by sequential Monte Carlo with ``particles`` particles, topics and mixtures summed out. It does not
        depend on how the documents are split, so it can be compared between models and is what grid searches
        maximise.

        Parameters
        ----------
        X : list or column of texts, TextCorpus, sparse matrix or array
            Documents: texts, or one row of counts each.
        y : None
            Ignored.

        Returns
        -------
        float
        """
        del y
        return self._per_token(self._held_out(X))

    def perplexity(self, X: Any) -> float:
        """``exp(-score(X))``: as uncertain as among so many words; lower is better."""
        return float(np.exp(-self._per_token(self._held_out(X))))

    def log_likelihood(self, X: Any, estimator: str = "smc", particles: int | None = None) -> NDArray[np.float64]:
        """Estimates of log p of each document, in nats.

        Parameters
        ----------
        X : list or column of texts, TextCorpus, sparse matrix or array
            Documents: texts, or one row of counts each.
        estimator : str
            ``"smc"`` (unbiased, of low variance), ``"left-to-right"`` (as in published comparisons) or ``"ais"``.
        particles : int, optional
            Particles per document, instead of those of the estimator.

        Returns
        -------
        array of shape (documents,)
        """
        return self._log_likelihood(self._held_out(X), estimator, particles)

    def _log_likelihood(
        self, rows: Source, estimator: str = "smc", particles: int | None = None
    ) -> NDArray[np.float64]:
        return self._model.log_likelihood(rows, self._scoring(estimator, particles))

    def _per_token(self, rows: Source) -> float:
        from gibbstream.evaluation import scores

        value = scores(self, rows, self._scoring("smc", None), elbo=False, completion=False)["log_likelihood_per_token"]
        if value is None:
            raise ValueError("X: the documents have no words that the model knows; a score per token is not defined")
        return float(value)

    def _scoring(self, estimator: str, particles: int | None) -> dict[str, object]:
        chosen = self.particles if particles is None else particles
        return {
            "estimator": estimator,
            "particles": chosen,
            "seed": _SEED_OF_INFERENCE,
            "threads": self._threads(),
        }

    def _held_out(self, X: Any) -> Source:
        check_is_fitted(self)
        return self._further(X)

    # What was learnt.

    def top_words(
        self, n_words: int = 10, *, relevance: float = 1.0, feature_names: Sequence[str] | None = None
    ) -> list[list[str]]:
        """The words of each topic, best first.

        Parameters
        ----------
        n_words : int
            Words per topic.
        relevance : float
            1 orders words by their probability in the topic; smaller values, such as 0.6, prefer words that are
            typical of it.
        feature_names : sequence of str, optional
            Names of the columns of ``X``, such as ``CountVectorizer().get_feature_names_out()``, instead of those
            that the model knows.

        Returns
        -------
        list of lists of str
        """
        best = self._best_words(n_words, relevance)
        if feature_names is None:
            return [[word for _, word, _ in topic] for topic in best]
        if len(feature_names) != self.n_features_in_:
            names, words = len(feature_names), self.n_features_in_
            raise ValueError(f"feature_names: {names} names for {words} words; give one for each column of X")
        return [[str(feature_names[number]) for number, _, _ in topic] for topic in best]

    def _best_words(self, n_words: int, relevance: float) -> list[list[tuple[int, str, float]]]:
        check_is_fitted(self)
        if not 0 <= relevance <= 1:
            raise ValueError(f"relevance: {relevance} is not in [0, 1]; use 1 for frequent words, 0.6 for typical ones")
        return self._model.top_words(n_words, float(relevance))

    @property
    def components_(self) -> NDArray[np.float64]:
        """Expected tokens of each word in each topic; dividing a row by its sum gives the topic."""
        return self._learnt(Model.components)

    @property
    def topic_word_(self) -> NDArray[np.float64]:
        """The topics: probabilities of words, rows sum to 1."""
        return self._learnt(Model.probabilities)

    @property
    def alpha_(self) -> NDArray[np.float64]:
        """Parameter of the Dirichlet prior of topic mixtures: how much of each topic is expected in a document."""
        return self._learnt(Model.alpha)

    @property
    def topic_shares_(self) -> NDArray[np.float64]:
        """Expected share of all tokens of each topic."""
        return self._learnt(Model.shares)

    @property
    def topics_used_(self) -> int:
        """Topics that hold more than 0.1 % of all tokens."""
        return self._learnt(Model.topics_used)

    @property
    def n_updates_(self) -> int:
        """Minibatches learnt from."""
        return self._learnt(lambda model: model.updates)

    @property
    def n_documents_(self) -> int:
        """Documents learnt from, each as often as it was."""
        return self._learnt(lambda model: model.documents)

    @property
    def n_tokens_(self) -> int:
        """Tokens learnt from."""
        return self._learnt(Model.tokens)

    @property
    def vocabulary_(self) -> list[str]:
        """The words of the columns of ``X``; their numbers, if they have no names."""
        return self._learnt(Model.words)

    @property
    def model_hash_(self) -> str:
        """Hash of everything learnt: equal hash, equal bits, here and in the program."""
        return self._learnt(Model.hash)

    @property
    def history_(self) -> list[MinibatchRecord]:
        """What happened in minibatches.

        Their number (``update``), ``documents``, ``tokens``, weight (``rho``), sum of alpha (``alpha_sum``),
        ``topics``, ``topics_used``, ``remainder`` (of models that find their number of topics) and ``seconds`` of
        training until then. ``prequential``, ``prequential_error`` and ``prequential_unigram`` are the score of the
        last documents before they were learnt from, its standard error, and the score of word frequencies alone, in
        nats per document; None if documents were not scored (see the parameter ``prequential``). Of long runs every
        second, fourth, ... minibatch is kept, so that memory stays bounded.
        """
        return self._learnt(Model.records)

    @property
    def drift_(self) -> list[dict[str, Any]]:
        """Changes of the stream that were noticed, oldest first.

        Each has the number of the minibatch (``update``), the ``documents`` learnt from before it and those when
        scores began to be worse (``since``), nats per token ``before`` and ``now``, and the ``topics`` and ``words``
        that moved.
        """
        return [dict(change) for change in json.loads(self._learnt(Model.changes))]

    def _learnt(self, read: Callable[[Model], _T]) -> _T:
        if not self._has_model():
            # hasattr(estimator, "components_") asks whether something was learnt.
            raise AttributeError(f"this {type(self).__name__} has learnt nothing yet; call fit or partial_fit first")
        return read(self._model)

    def set_vocabulary(self, words: Sequence[str]) -> Self:
        """Names the columns of ``X``, for :meth:`top_words` and for files.

        Parameters
        ----------
        words : sequence of str
            One for each column, such as ``CountVectorizer().get_feature_names_out()``.

        Returns
        -------
        self
        """
        check_is_fitted(self)
        self._model.rename([str(word) for word in words])
        return self

    # The manners of scikit-learn.

    @property
    def _n_features_out(self) -> int:
        return int(self._learnt(Model.alpha).shape[0])

    def __sklearn_is_fitted__(self) -> bool:
        return self._has_model() and self._model.updates > 0

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        tags.input_tags.positive_only = True
        return tags
