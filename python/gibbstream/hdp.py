"""The hierarchical Dirichlet process: a topic model that finds its number of topics."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from gibbstream._core import Model
from gibbstream.estimator import TopicEstimator
from gibbstream.watch import Callback


class HDP(TopicEstimator):
    """The hierarchical Dirichlet process: topics are created while documents are read, become one, and go.

    A complete scikit-learn transformer like :class:`gibbstream.LDA`, for the same input and with the same bits as the
    program's ``train --model hdp``. ``docs/hdp.md`` says how topics are born and what to choose.

    The number of topics is known only after ``fit``, and ``partial_fit`` may change it: topics keep their order, but
    new ones come behind them and some go. ``topic_ids_`` tells which is which. Everything that is seen of the model
    (``components_``, ``alpha_``, ``transform``, ``top_words``, names of features) has one entry for each topic that
    has been met. What is left for topics not met yet is ``remainder_``: inference and scores treat all of them as
    one more topic with uniform words; ``transform`` leaves it out, and the shares of the others sum to 1.

    Parameters
    ----------
    {knobs}
    passes : int, optional
        Passes over the documents in ``fit``.
    text : dict, optional
        How raw text becomes words in the first ``fit`` or ``partial_fit``: parameters of :class:`TextCorpus`, such as
        ``{"min_df": 5, "stop_words": None}``. The model keeps them.
    transform_sweeps : int
        Sweeps over each document in ``transform``; the first quarter is dropped as burn-in, the rest is averaged. Fewer
        are faster and less accurate.
    particles : int
        Particles per document in ``score``, ``perplexity`` and ``log_likelihood``.
    random_state : int, RandomState or None
        An integer is the program's ``--seed``. With ``None`` a seed is drawn; it is kept in ``seed_``.
    n_jobs : int or None
        Threads, as in scikit-learn: ``None`` means 1, -1 all. Never changes a result.
    verbose : int
        1 shows a progress bar on standard error.
    callback : callable, optional
        Called as ``callback(estimator, record)`` after every minibatch; training stops when it returns true.

    Attributes
    ----------
    topics_used_ : int
        Topics that hold more than 0.1 % of all tokens: the number to quote.
    n_components_ : int
        All topics at this moment, young ones on trial included.
    topics_created_ : int
        All topics that ever were.
    topic_ids_ : array of shape (n_components_,)
        The number of each topic in the order of creation: it stays the same for as long as the topic lives.
    remainder_ : float
        Share that is left for topics not met yet.
    components_ : array of shape (n_components_, n_features)
        Expected tokens of each word in each topic. Read-only.
    topic_word_ : array of shape (n_components_, n_features)
        The topics: probabilities of words.
    alpha_ : array of shape (n_components_,)
        ``doc_concentration`` times the weight of each topic.
    topic_shares_ : array of shape (n_components_,)
        Expected share of all tokens.
    history_ : list of dict
        What happened in minibatches, with ``topics``, ``topics_used`` and ``remainder``.
    seed_ : int
        The seed of all random streams.
    model_hash_ : str
        Equal hash, equal bits.
    n_updates_, n_documents_, n_tokens_ : int
        What was learnt from.
    vocabulary_ : list of str
        The words of the columns.
    n_features_in_ : int
        Number of words.

    Examples
    --------
    >>> import numpy as np
    >>> from scipy.sparse import csr_matrix
    >>> from gibbstream import HDP
    >>> random = np.random.default_rng(0)
    >>> words = random.choice(10, size=(3000, 40)) + 10 * random.choice(3, size=(3000, 1))
    >>> X = csr_matrix(np.stack([np.bincount(row, minlength=30) for row in words]))  # three kinds of documents
    >>> hdp = HDP(batch=50, random_state=0).fit(X)
    >>> hdp.topics_used_
    3
    >>> hdp.transform(X).shape == (3000, hdp.n_components_)
    True
    >>> sorted(sorted(map(int, hdp.top_words(10)[topic])) for topic in np.argsort(-hdp.topic_shares_)[:3])[0]
    [0, 1, 2, 3, 4, 5, 6, 7, 8, 9]
    """

    _family: ClassVar[str] = "hdp"
    _settling: ClassVar[tuple[str, str]] = ("topics_used", "topics in use")

    def __init__(
        self,
        *,
        initial_topics: int = 2,
        max_topics: int = 1000,
        doc_concentration: float = 1.0,
        top_concentration: float = 10.0,
        min_remainder: float = 0.02,
        pi: str = "constrained",
        method: str = "g-oem",
        mode: str | None = None,
        batch: int | str = 100,
        sweeps: int | None = None,
        kappa: float | None = None,
        offset: float | None = None,
        tau: float | None = None,
        min_step: float | None = None,
        step: str | None = None,
        smoothing: float | None = None,
        statistic: str | None = None,
        window: str | None = None,
        topic_prior: float | None = None,
        total_docs: int | None = None,
        prequential: bool | str | None = None,
        adapt: bool | None = None,
        passes: int | None = None,
        text: Mapping[str, Any] | None = None,
        transform_sweeps: int = 100,
        particles: int = 20,
        random_state: Any = None,
        n_jobs: int | None = None,
        verbose: int = 0,
        callback: Callback | None = None,
    ) -> None:
        self.initial_topics = initial_topics
        self.max_topics = max_topics
        self.doc_concentration = doc_concentration
        self.top_concentration = top_concentration
        self.min_remainder = min_remainder
        self.pi = pi
        self.method = method
        self.mode = mode
        self.batch = batch
        self.sweeps = sweeps
        self.kappa = kappa
        self.offset = offset
        self.tau = tau
        self.min_step = min_step
        self.step = step
        self.smoothing = smoothing
        self.statistic = statistic
        self.window = window
        self.topic_prior = topic_prior
        self.total_docs = total_docs
        self.prequential = prequential
        self.adapt = adapt
        self.passes = passes
        self.text = text
        self.transform_sweeps = transform_sweeps
        self.particles = particles
        self.random_state = random_state
        self.n_jobs = n_jobs
        self.verbose = verbose
        self.callback = callback

    @property
    def n_components_(self) -> int:
        """Topics at this moment, young ones on trial included."""
        return self._n_features_out

    @property
    def topics_created_(self) -> int:
        """Topics that ever were; most lived for a few minibatches."""
        return self._learnt(Model.topics_created)

    @property
    def topic_ids_(self) -> NDArray[np.uint64]:
        """The number of each topic in the order of creation; it stays the same for as long as the topic lives."""
        return np.array(self._learnt(Model.topic_ids), dtype=np.uint64)

    @property
    def remainder_(self) -> float:
        """Share that is left for topics not met yet."""
        return self._learnt(Model.remainder)
