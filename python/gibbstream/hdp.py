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
    """A hierarchical Dirichlet process (HDP): a topic model that finds the number of topics.

    Topics are created while documents are read, similar topics are merged, and unused ones are removed.

    It is a scikit-learn transformer, takes the same input as :class:`gibbstream.LDA`, and learns the same model as
    the program's ``train --model hdp``. The guide explains how topics are created and which settings matter.

    The number of topics is known only after ``fit``, and ``partial_fit`` may change it: new topics are appended, and
    some are removed. ``topic_ids_`` identifies topics across updates. ``components_``, ``alpha_``, ``transform``,
    ``top_words`` and feature names have one entry per existing topic. ``remainder_`` is the share reserved for new
    topics. Inference and scores treat it as one more topic with uniform words; ``transform`` leaves it out, and the
    other shares sum to 1.

    Parameters
    ----------
    {knobs}
    passes : int, optional
        Passes over the documents in ``fit``.
    text : dict, optional
        How to tokenize raw text: parameters of :class:`TextCorpus`, such as ``{"min_df": 5, "stop_words": None}``. The
        model stores them.
    transform_sweeps : int
        Sweeps over each document in ``transform``; the first quarter is dropped as burn-in, the rest is averaged. Fewer
        are faster and less accurate.
    particles : int
        Particles per document in ``score``, ``perplexity`` and ``log_likelihood``.
    random_state : int, RandomState or None
        An integer is the program's ``--seed``. With ``None`` a random seed is used and stored in ``seed_``.
    n_jobs : int or None
        Number of threads, as in scikit-learn: ``None`` means 1, -1 all cores. Results do not depend on it.
    verbose : int
        1 shows a progress bar on standard error.
    callback : callable, optional
        Called as ``callback(estimator, record)`` after every minibatch. Training stops if it returns true.

    Attributes
    ----------
    topics_used_ : int
        Topics that hold more than 0.1 % of all tokens: the number to quote.
    n_components_ : int
        Number of existing topics, including new ones on trial.
    topics_created_ : int
        Number of topics ever created.
    topic_ids_ : array of shape (n_components_,)
        The number of each topic in the order of creation: it stays the same for as long as the topic lives.
    remainder_ : float
        Share reserved for new topics.
    components_ : array of shape (n_components_, n_features)
        Expected tokens of each word in each topic. Read-only.
    topic_word_ : array of shape (n_components_, n_features)
        The topics: probabilities of words.
    alpha_ : array of shape (n_components_,)
        ``doc_concentration`` times the weight of each topic.
    topic_shares_ : array of shape (n_components_,)
        Expected share of all tokens.
    history_ : list of dict
        Records of minibatches, with ``topics``, ``topics_used`` and ``remainder``.
    seed_ : int
        The seed of all random streams.
    model_hash_ : str
        Models with equal hashes are identical.
    n_updates_, n_documents_, n_tokens_ : int
        Number of minibatches, documents and tokens learnt from.
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
        """Number of existing topics, including new ones on trial."""
        return self._n_features_out

    @property
    def topics_created_(self) -> int:
        """Number of topics ever created; most of them exist for a few minibatches only."""
        return self._learnt(Model.topics_created)

    @property
    def topic_ids_(self) -> NDArray[np.uint64]:
        """The number of each topic in the order of creation; it stays the same for as long as the topic lives."""
        return np.array(self._learnt(Model.topic_ids), dtype=np.uint64)

    @property
    def remainder_(self) -> float:
        """Share reserved for new topics."""
        return self._learnt(Model.remainder)
