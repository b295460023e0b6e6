"""What all topic models have in common: learning from matrices, corpora and streams, and using what was learnt."""

from __future__ import annotations

import copy
import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any, ClassVar, TypedDict, TypeVar

import numpy as np
from joblib import effective_n_jobs
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, ClassNamePrefixFeaturesOutMixin, TransformerMixin
from sklearn.exceptions import NotFittedError
from sklearn.utils import check_random_state
from sklearn.utils.validation import check_is_fitted, validate_data

from gibbstream._core import Corpus, Model, usual_passes
from gibbstream.matrix import source
from gibbstream.progress import ProgressBar
from gibbstream.text import TextCorpus

if TYPE_CHECKING:
    from typing_extensions import Self

    from gibbstream._core import Record, Source

NotLearntError = NotFittedError

_T = TypeVar("_T")

# Randomness of inference and evaluation depends on the document alone, so that models can be compared pair by pair and
# the same document has the same result wherever it is met.
_SEED_OF_INFERENCE = 0

# A topic is in use if it holds more than this share of all tokens.
_USED_SHARE = 0.001


class MinibatchRecord(TypedDict):
    """What happened in a minibatch."""

    update: int
    documents: int
    tokens: int
    rho: float
    alpha_sum: float
    seconds: float


Callback = Callable[[Any, MinibatchRecord], bool | None]


class TopicEstimator(ClassNamePrefixFeaturesOutMixin, TransformerMixin, BaseEstimator):
    """The part of an estimator that does not depend on the model.

    A model adds its parameters (as a constructor), and says in ``_knobs`` which of them decide what is learnt.
    """

    # Names of parameters that go to the compiled part as they are.
    _knobs: ClassVar[tuple[str, ...]]
    # The kind of model, as the program's --model names it.
    _family: ClassVar[str]

    batch: int
    passes: int | None
    transform_sweeps: int
    particles: int
    random_state: Any
    n_jobs: int | None
    verbose: int
    callback: Callback | None
    method: str
    n_components: int
    total_docs: int | None

    _model: Model
    n_features_in_: int

    # Learning.

    def fit(self, X: Any, y: Any = None) -> Self:
        """Learn from all documents, from the beginning.

        Parameters
        ----------
        X : sparse matrix, array, TextCorpus, or iterator of these
            Counts, one row per document. From an iterator, minibatches are cut across the chunks that it gives, and one
            pass is made.
        y : None
            Ignored.

        Returns
        -------
        self

        Ctrl-C ends it after the minibatch at hand: what was learnt until then is kept, and ``KeyboardInterrupt``
        raised.
        """
        del y
        self._forget()
        try:
            if isinstance(X, Iterator):
                self._fit_stream(X, self._passes(stream=True))
            else:
                rows, count = self._begin(X, "fit")
                self._learn(rows, count, self._passes(stream=False))
        except Exception:
            # A model that has learnt from a part is a surprise, unless it was asked for.
            self._forget()
            raise
        return self

    def partial_fit(self, X: Any, y: Any = None) -> Self:
        """Learn from further documents; the total number need not be known.

        The documents are cut into minibatches of ``batch``; the last one may be shorter and is learnt from all the
        same, with less weight in proportion. So chunks of a multiple of ``batch`` documents give, bit for bit, the
        model that one call of ``fit`` with all documents gives.

        Parameters
        ----------
        X : sparse matrix, array, TextCorpus, or iterator of these
            Counts, one row per document. Words of a corpus are matched by spelling; those that the model does not
            know are left out.
        y : None
            Ignored.

        Returns
        -------
        self
        """
        del y
        if isinstance(X, Iterator):
            for chunk in X:
                self.partial_fit(chunk)
            return self
        rows, count = self._begin(X, "partial_fit")
        self._learn(rows, count, 1)
        return self

    def _passes(self, *, stream: bool) -> int:
        if self.passes is None and stream:
            return 1
        passes = usual_passes(self.method) if self.passes is None else self.passes
        if passes < 1:
            raise ValueError("--passes: 0 passes would learn nothing; use at least 1")
        if passes > 1 and stream:
            raise ValueError("passes: an iterator can be read once only; give a matrix, or leave passes out")
        return passes

    def _begin(self, X: Any, action: str) -> tuple[Source, int]:
        """The rows to learn from and their number, with a model that is ready for them."""
        fresh = not self._has_model()
        rows, names, corpus = self._read(X, reset=fresh)
        count = len(corpus) if corpus is not None else int(row_count(rows))
        if fresh:
            self._create(rows, names, corpus, count if action == "fit" else None)
        else:
            self._model.configure(self._parameters(), self._threads(), None)
        if isinstance(rows, Corpus):
            rows = self._model.number(rows)
        self._model.begin(action)
        return rows, count

    def _create(self, rows: Source, names: Sequence[str] | None, corpus: Corpus | None, documents: int | None) -> None:
        width = rows.width if isinstance(rows, Corpus) else rows[-1]
        self.seed_ = self._draw_seed()
        parameters = self._parameters()
        self._model = Model(parameters, int(width), self._threads(), documents, names, corpus)

    def _learn(self, rows: Source, count: int, passes: int) -> None:
        """All minibatches of some passes; the last one of a pass may be short."""
        with _Watch(self, count * passes) as watch:
            for number in range(passes):
                self._model.begin_pass(number)
                start = 0
                while start < count:
                    start = self._model.learn(rows, start, watch.minibatches, True)
                    if watch.stops():
                        return

    def _fit_stream(self, chunks: Iterator[Any], passes: int) -> None:
        """Minibatches are full whatever the chunks; what is left over at the end is learnt from too."""
        del passes
        rows: Source | None = None
        with _Watch(self, None) as watch:
            for chunk in chunks:
                if rows is None:
                    rows, count = self._begin(chunk, "fit")
                    self._model.begin_pass(0)
                else:
                    rows, _, corpus = self._read(chunk, reset=False)
                    count = len(corpus) if corpus is not None else row_count(rows)
                    if isinstance(rows, Corpus):
                        rows = self._model.number(rows)
                start = 0
                while start < count:
                    start = self._model.learn(rows, start, watch.minibatches, False)
                    if watch.stops():
                        return
            if rows is None:
                raise ValueError("X: the iterator gave nothing; give at least one chunk of documents")
            self._model.learn(rows, count, None, True)
            watch.stops()

    def _read(self, X: Any, *, reset: bool) -> tuple[Source, Sequence[str] | None, Corpus | None]:
        """What the compiled part reads, names of columns if there are any, and the corpus if it is one."""
        if isinstance(X, TextCorpus):
            if len(X) == 0:
                raise ValueError(
                    f"Found array with 0 sample(s) while a minimum of 1 is required by {type(self).__name__}."
                )
            if reset:
                self.n_features_in_ = X.shape[1]
                if hasattr(self, "feature_names_in_"):
                    del self.feature_names_in_
            return X._corpus, None, X._corpus
        if isinstance(X, list | tuple) and X and isinstance(X[0], str):
            raise ValueError("X: these are texts, not counts; wrap them into gibbstream.TextCorpus(texts)")
        X = self._validated(X, reset=reset)
        names = getattr(self, "feature_names_in_", None)
        return source(X), None if names is None else [str(name) for name in names], None

    def _validated(self, X: Any, *, reset: bool = False) -> Any:
        """A CSR matrix or a dense array of counts, refused as scikit-learn refuses."""
        return validate_data(
            self, X, reset=reset, accept_sparse="csr", accept_large_sparse=True, ensure_non_negative=True, order="C"
        )

    def _parameters(self) -> dict[str, object]:
        return {name: getattr(self, name) for name in self._knobs} | {"seed": self.seed_}

    def _draw_seed(self) -> int:
        state = self.random_state
        if isinstance(state, int | np.integer):
            if state < 0 or int(state) >= 2**64:
                raise ValueError(f"random_state: {state} is not a seed; use a number from 0 to 2^64 - 1")
            return int(state)
        if state is None:
            return int.from_bytes(os.urandom(4), "little")
        return int(check_random_state(state).randint(2**31 - 1))

    def _threads(self) -> int:
        return int(effective_n_jobs(self.n_jobs))

    def _has_model(self) -> bool:
        return "_model" in vars(self)

    def _forget(self) -> None:
        if self._has_model():
            del self._model

    # Using what was learnt.

    def transform(self, X: Any) -> NDArray[np.float64]:
        """Topic mixtures of documents, by Gibbs sampling with the topics held fixed.

        A document's mixture depends on its words alone: order, company and number of threads do not change a bit of it.

        Parameters
        ----------
        X : sparse matrix, array or TextCorpus
            Counts, one row per document.

        Returns
        -------
        array of shape (documents, topics)
            Each row sums to 1.
        """
        rows, count = self._held_out(X)
        mixtures = np.empty((count, self._n_features_out))
        self._model.transform(rows, self.transform_sweeps, _SEED_OF_INFERENCE, self._threads(), mixtures)
        return mixtures

    def fit_transform(self, X: Any, y: Any = None, **fit_params: Any) -> NDArray[np.float64]:
        """Learn from documents, then infer their mixtures with what was learnt.

        Parameters
        ----------
        X : sparse matrix, array or TextCorpus
            Counts, one row per document.
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
        X : sparse matrix, array or TextCorpus
            Counts, one row per document.
        y : None
            Ignored.

        Returns
        -------
        float
        """
        del y
        rows, _ = self._held_out(X)
        return self._per_token(rows)

    def perplexity(self, X: Any) -> float:
        """``exp(-score(X))``: as uncertain as among so many words; lower is better."""
        rows, _ = self._held_out(X)
        return float(np.exp(-self._per_token(rows)))

    def log_likelihood(self, X: Any, estimator: str = "smc", particles: int | None = None) -> NDArray[np.float64]:
        """Estimates of log p of each document, in nats.

        Parameters
        ----------
        X : sparse matrix, array or TextCorpus
            Counts, one row per document.
        estimator : str
            ``"smc"`` (unbiased, of low variance), ``"left-to-right"`` (as in published comparisons) or ``"ais"``.
        particles : int, optional
            Particles per document, instead of those of the estimator.

        Returns
        -------
        array of shape (documents,)
        """
        rows, _ = self._held_out(X)
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

    def _held_out(self, X: Any) -> tuple[Source, int]:
        check_is_fitted(self)
        rows, _, corpus = self._read(X, reset=False)
        if corpus is not None:
            return self._model.number(corpus), len(corpus)
        return rows, row_count(rows)

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
        return int((self.topic_shares_ > _USED_SHARE).sum())

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
        """What happened in minibatches: their number, documents, tokens, weight, sum of alpha and seconds of training.

        Of long runs every second, fourth, ... minibatch is kept, so that memory stays bounded.
        """
        return [_record(record) for record in self._learnt(Model.records)]

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

    # Files, pickles and copies: all are the bytes of a model file.

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the model to a ``.gbs`` file, which the program reads too.

        The file is replaced whole or not at all.

        Parameters
        ----------
        path : path
            Where to write it.
        """
        check_is_fitted(self)
        self._model.save(path)

    @classmethod
    def load(cls, path: str | os.PathLike[str], **parameters: Any) -> Self:
        """The model in a ``.gbs`` file, from here or from the program.

        Parameters
        ----------
        path : path
            The file.
        **parameters : dict
            Parameters of the estimator that are not kept in the file, such as ``n_jobs``, or that are to be different.

        Returns
        -------
        estimator
            One that has learnt what the file holds, with the parameters that it was learnt with.
        """
        return cls._with(Model.load(path, 1), parameters)

    @classmethod
    def _with(cls, model: Model, parameters: Mapping[str, Any]) -> Self:
        if model.family != cls._family:
            raise ValueError(
                f"model: it is of kind {model.family}, not {cls._family}; load it with the class of that kind"
            )
        known = model.asked_for()
        seed = known.pop("seed")
        made = cls(**(known | {"random_state": seed} | dict(parameters)))
        made._model, made.seed_, made.n_features_in_ = model, seed, model.width
        return made

    def __getstate__(self) -> dict[str, Any]:
        state: dict[str, Any] = dict(super().__getstate__())
        model = state.pop("_model", None)
        if model is not None:
            state["_model"] = (model.to_bytes(), model.records())
        return state

    def __setstate__(self, state: dict[str, Any]) -> None:
        saved = state.get("_model")
        super().__setstate__({name: value for name, value in state.items() if name != "_model"})
        if saved is not None:
            content, records = saved
            self._model = Model.from_bytes(content, self._threads())
            self._model.restore_records(records)

    def __copy__(self) -> Self:
        return copy.deepcopy(self)

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


class _Watch:
    """What goes on between minibatches: the progress bar, and the callback of the user."""

    def __init__(self, estimator: TopicEstimator, total: int | None) -> None:
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
        record = _record(last)
        if self._bar is not None:
            documents, tokens = (0, 0) if self._before is None else self._before[1:3]
            note = f"alpha {record['alpha_sum']:.3g}"
            self._bar.advance(record["documents"] - documents, record["tokens"] - tokens, note)
        callback = self._estimator.callback
        return callback is not None and bool(callback(self._estimator, record))


def _record(record: Record) -> MinibatchRecord:
    update, documents, tokens, rho, alpha_sum, seconds = record
    return MinibatchRecord(
        update=update, documents=documents, tokens=tokens, rho=rho, alpha_sum=alpha_sum, seconds=seconds
    )


def row_count(rows: Source) -> int:
    """Number of rows."""
    if isinstance(rows, Corpus):
        return len(rows)
    return len(rows[0]) - 1 if len(rows) == 4 else len(rows[0]) // rows[-1]
