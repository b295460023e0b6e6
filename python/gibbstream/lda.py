"""Latent Dirichlet allocation."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, ClassVar

from gibbstream.estimator import TopicEstimator
from gibbstream.watch import Callback


class LDA(TopicEstimator):
    """Latent Dirichlet allocation (LDA), learnt online.

    A scikit-learn transformer. ``fit`` takes texts (lists or columns of strings or of token lists), a
    :class:`gibbstream.TextCorpus`, or counts (sparse matrices, arrays, data frames; CSR is used without a copy). The
    same data, settings and seed always give the same model, for any ``n_jobs``, here and in the ``gibbstream``
    program.

    Fractional counts are rounded at random: 2.3 becomes 3 with probability 0.3 and 2 otherwise. The same document is
    always rounded in the same way.

    Parameters
    ----------
    {knobs}
    passes : int, optional
        Passes over the documents in ``fit``. Default: 1, or 20 for batch methods.
    text : dict, optional
        How to tokenize raw text: parameters of :class:`TextCorpus`, such as ``{"min_df": 5, "stop_words": None}``. The
        model stores them.
    seeds : list of lists of str, or dict of them by label, optional
        Words that pull the first topics: each of these topics starts with half of its tokens on its words. The keys of
        a dictionary become labels.
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
    components_ : array of shape (n_components, n_features)
        Expected tokens of each word in each topic. Read-only.
    topic_word_ : array of shape (n_components, n_features)
        The topics: probabilities of words.
    alpha_ : array of shape (n_components,)
        Parameter of the Dirichlet prior of topic mixtures.
    topic_shares_ : array of shape (n_components,)
        Expected share of all tokens.
    topics_used_ : int
        Topics that hold more than 0.1 % of all tokens.
    history_ : list of dict
        Records of minibatches.
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
    >>> from gibbstream import LDA
    >>> words = np.random.default_rng(0).choice(10, size=(500, 20)) // 2
    >>> words[::2] += 5  # two kinds of documents, over ten words
    >>> X = csr_matrix(np.stack([np.bincount(row, minlength=10) for row in words]))
    >>> lda = LDA(n_components=2, batch=50, random_state=0).fit(X)
    >>> topics = lda.transform(X).argmax(axis=1)
    >>> bool((topics[::2] == topics[0]).all() and (topics[1::2] == topics[1]).all() and topics[0] != topics[1])
    True
    >>> sorted(lda.top_words(5)[topics[1]])
    ['0', '1', '2', '3', '4']
    >>> lda.partial_fit(X).n_documents_
    1000
    """

    _family: ClassVar[str] = "lda"
    _settling: ClassVar[tuple[str, str]] = ("alpha_sum", "sum of alpha")

    def __init__(
        self,
        n_components: int = 10,
        *,
        method: str = "g-oem",
        mode: str | None = None,
        paper: bool = False,
        batch: int | str = 100,
        sweeps: int | None = None,
        kappa: float | None = None,
        offset: float | None = None,
        tau: float | None = None,
        min_step: float | None = None,
        step: str | None = None,
        alpha: str | None = None,
        averaging: str | None = None,
        boost: bool | None = None,
        smoothing: float | None = None,
        local: str | None = None,
        global_: str | None = None,
        statistic: str | None = None,
        window: str | None = None,
        start: str | None = None,
        topic_prior: float | None = None,
        total_docs: int | None = None,
        prequential: bool | str | None = None,
        adapt: bool | None = None,
        passes: int | None = None,
        text: Mapping[str, Any] | None = None,
        seeds: Sequence[Sequence[str]] | Mapping[str, Sequence[str]] | None = None,
        transform_sweeps: int = 100,
        particles: int = 20,
        random_state: Any = None,
        n_jobs: int | None = None,
        verbose: int = 0,
        callback: Callback | None = None,
    ) -> None:
        self.n_components = n_components
        self.method = method
        self.mode = mode
        self.paper = paper
        self.batch = batch
        self.sweeps = sweeps
        self.kappa = kappa
        self.offset = offset
        self.tau = tau
        self.min_step = min_step
        self.step = step
        self.alpha = alpha
        self.averaging = averaging
        self.boost = boost
        self.smoothing = smoothing
        self.local = local
        self.global_ = global_
        self.statistic = statistic
        self.window = window
        self.start = start
        self.topic_prior = topic_prior
        self.total_docs = total_docs
        self.prequential = prequential
        self.adapt = adapt
        self.passes = passes
        self.text = text
        self.seeds = seeds
        self.transform_sweeps = transform_sweeps
        self.particles = particles
        self.random_state = random_state
        self.n_jobs = n_jobs
        self.verbose = verbose
        self.callback = callback
