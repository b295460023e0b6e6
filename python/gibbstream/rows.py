"""Models of rows of numbers: independent components and mixtures."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, ClassVar, TypeVar

import numpy as np
from numpy.typing import NDArray
from sklearn.base import ClassNamePrefixFeaturesOutMixin, TransformerMixin
from sklearn.utils.validation import check_is_fitted, validate_data

from gibbstream._core import Model
from gibbstream.estimator import _SEED_OF_INFERENCE
from gibbstream.files import FiledLearner
from gibbstream.watch import Callback, MinibatchRecord

if TYPE_CHECKING:
    from gibbstream._core import Source

_T = TypeVar("_T")


class RowEstimator(FiledLearner):
    """What models of numbers have in common."""

    _settling: ClassVar[tuple[str, str]] = ("rho", "weight of a minibatch")
    # Whether values are counts, and so not negative.
    _counts: ClassVar[bool] = False

    # Particles for likelihoods that must be estimated; those of mixtures are exact.
    particles: int = 1

    def score_samples(self, X: Any) -> NDArray[np.float64]:
        """Log p of each row, in nats: exact for mixtures, estimated by annealed importance sampling for ICA.

        Parameters
        ----------
        X : array of shape (rows, columns)
            Numbers, one row per observation.

        Returns
        -------
        array of shape (rows,)
        """
        return self._log_likelihood(self._held_out(X))

    def _log_likelihood(self, rows: Source) -> NDArray[np.float64]:
        scoring = {
            "estimator": "smc",
            "particles": self.particles,
            "seed": _SEED_OF_INFERENCE,
            "threads": self._threads(),
        }
        return self._model.log_likelihood(rows, scoring)

    def score(self, X: Any, y: Any = None) -> float:
        """Mean of log p of the rows, in nats; higher is better.

        Parameters
        ----------
        X : array of shape (rows, columns)
            Numbers, one row per observation.
        y : None
            Ignored.

        Returns
        -------
        float
        """
        del y
        return float(np.mean(self.score_samples(X)))

    @property
    def n_updates_(self) -> int:
        """Minibatches learnt from."""
        return self._learnt(lambda model: model.updates)

    @property
    def model_hash_(self) -> str:
        """Hash of the learnt parameters and statistics; models with equal hashes are identical."""
        return self._learnt(Model.hash)

    @property
    def history_(self) -> list[MinibatchRecord]:
        """What happened in minibatches: number, rows seen, weight, seconds of training until then."""
        return self._learnt(Model.records)

    @property
    def warnings_(self) -> list[str]:
        """Things to be careful about, such as components that are almost empty or sources that look Gaussian."""
        return self._learnt(Model.warnings)

    def _array(self, name: str) -> NDArray[np.float64]:
        return self._learnt(lambda model: model.arrays()[name])

    def _latent(self, X: Any, sweeps: int) -> NDArray[np.float64]:
        return self._mixtures(self._held_out(X), sweeps)

    def _mixtures(self, rows: Source, sweeps: int | None = None) -> NDArray[np.float64]:
        # Sweeps are for models that sample.
        sweeps = getattr(self, "transform_sweeps", 2) if sweeps is None else sweeps
        return self._model.transform(rows, sweeps, _SEED_OF_INFERENCE, self._threads())

    def _learnt(self, read: Callable[[Model], _T]) -> _T:
        if not self._has_model():
            # hasattr(estimator, "weights_") asks whether something was learnt.
            raise AttributeError(f"this {type(self).__name__} has learnt nothing yet; call fit or partial_fit first")
        return read(self._model)

    def _held_out(self, X: Any) -> Source:
        check_is_fitted(self)
        return self._further(X)

    def _validated(self, X: Any, *, reset: bool = False) -> Any:
        return validate_data(self, X, reset=reset, dtype=np.float64, order="C", ensure_non_negative=self._counts)

    def __sklearn_is_fitted__(self) -> bool:
        return self._has_model() and self._model.updates > 0

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.positive_only = self._counts
        return tags


class Mixture(RowEstimator):
    """What mixtures have in common. Their E-step is exact."""

    def predict_proba(self, X: Any) -> NDArray[np.float64]:
        """Probability of each component given a row.

        Parameters
        ----------
        X : array of shape (rows, columns)
            Numbers, one row per observation.

        Returns
        -------
        array of shape (rows, components)
            Each row sums to 1.
        """
        # Sweeps are for models that sample.
        return self._latent(X, 2)

    def predict(self, X: Any) -> NDArray[np.int64]:
        """The most probable component of each row.

        Parameters
        ----------
        X : array of shape (rows, columns)
            Numbers, one row per observation.

        Returns
        -------
        array of shape (rows,)
        """
        return np.asarray(self.predict_proba(X).argmax(axis=1), dtype=np.int64)

    def fit_predict(self, X: Any, y: Any = None, **kwargs: Any) -> NDArray[np.int64]:
        """Learn from rows, then find the most probable component of each.

        Parameters
        ----------
        X : array of shape (rows, columns)
            Numbers, one row per observation.
        y : None
            Ignored.
        **kwargs : dict
            None is known.

        Returns
        -------
        array of shape (rows,)
        """
        return self.fit(X, y, **kwargs).predict(X)

    @property
    def weights_(self) -> NDArray[np.float64]:
        """Probability of each component."""
        return self._array("weights")


class GaussianMixture(Mixture):
    """A mixture of Gaussian distributions, learnt online.

    Parameters
    ----------
    {knobs}
    passes : int, optional
        Passes over the rows in ``fit``.
    random_state : int, RandomState or None
        Seed; ``None`` draws one and keeps it in ``seed_``.
    n_jobs : int, optional
        Threads; never changes a result.
    verbose : int
        1 shows a progress bar.
    callback : callable, optional
        Called as ``callback(estimator, record)`` after every minibatch; training stops when it returns true.

    Attributes
    ----------
    weights_ : array of shape (n_components,)
        Probability of each component.
    means_ : array of shape (n_components, n_features)
        Means.
    covariances_ : array of shape (n_components, n_features, n_features), or (n_components, n_features)
        Covariances, or variances if they are diagonal.
    """

    _family: ClassVar[str] = "gaussian-mixture"

    def __init__(
        self,
        n_components: int = 1,
        *,
        covariance: str = "full",
        floor: float | None = None,
        method: str = "g-oem",
        batch: int | str = 100,
        kappa: float | None = None,
        offset: float | None = None,
        tau: float | None = None,
        step: str | None = None,
        averaging: str | None = None,
        passes: int | None = None,
        random_state: Any = None,
        n_jobs: int | None = None,
        verbose: int = 0,
        callback: Callback | None = None,
    ) -> None:
        self.n_components = n_components
        self.covariance = covariance
        self.floor = floor
        self.method = method
        self.batch = batch
        self.kappa = kappa
        self.offset = offset
        self.tau = tau
        self.step = step
        self.averaging = averaging
        self.passes = passes
        self.random_state = random_state
        self.n_jobs = n_jobs
        self.verbose = verbose
        self.callback = callback

    @property
    def means_(self) -> NDArray[np.float64]:
        """Means of the components."""
        return self._array("means_and_covariances")[:, : self.n_features_in_]

    @property
    def covariances_(self) -> NDArray[np.float64]:
        """Covariances of the components, or their variances if they are diagonal."""
        covariances = self._array("means_and_covariances")[:, self.n_features_in_ :]
        if self.covariance == "diagonal":
            return covariances
        return covariances.reshape(-1, self.n_features_in_, self.n_features_in_)


class _CountMixture(Mixture):
    _counts: ClassVar[bool] = True

    def __init__(
        self,
        n_components: int = 1,
        *,
        floor: float | None = None,
        method: str = "g-oem",
        batch: int | str = 100,
        kappa: float | None = None,
        offset: float | None = None,
        tau: float | None = None,
        step: str | None = None,
        averaging: str | None = None,
        passes: int | None = None,
        random_state: Any = None,
        n_jobs: int | None = None,
        verbose: int = 0,
        callback: Callback | None = None,
    ) -> None:
        self.n_components = n_components
        self.floor = floor
        self.method = method
        self.batch = batch
        self.kappa = kappa
        self.offset = offset
        self.tau = tau
        self.step = step
        self.averaging = averaging
        self.passes = passes
        self.random_state = random_state
        self.n_jobs = n_jobs
        self.verbose = verbose
        self.callback = callback


class PoissonMixture(_CountMixture):
    """A mixture of independent Poisson counts, learnt online.

    Parameters
    ----------
    {knobs}
    passes, random_state, n_jobs, verbose, callback
        As in :class:`GaussianMixture`.

    Attributes
    ----------
    weights_ : array of shape (n_components,)
        Probability of each component.
    rates_ : array of shape (n_components, n_features)
        Mean of each count.
    """

    _family: ClassVar[str] = "poisson-mixture"

    @property
    def rates_(self) -> NDArray[np.float64]:
        """Mean of each count in each component."""
        return self._array("rates")


class BernoulliMixture(_CountMixture):
    """A mixture of independent answers, each 0 or 1, learnt online.

    Parameters
    ----------
    {knobs}
    passes, random_state, n_jobs, verbose, callback
        As in :class:`GaussianMixture`.

    Attributes
    ----------
    weights_ : array of shape (n_components,)
        Probability of each component.
    probabilities_ : array of shape (n_components, n_features)
        Probability of each answer.
    """

    _family: ClassVar[str] = "bernoulli-mixture"

    @property
    def probabilities_(self) -> NDArray[np.float64]:
        """Probability of a 1 in each component."""
        return self._array("probabilities")


class MultinomialMixture(Mixture):
    """A mixture of multinomial distributions of counts, learnt online.

    Parameters
    ----------
    {knobs}
    passes, random_state, n_jobs, verbose, callback
        As in :class:`GaussianMixture`.

    Attributes
    ----------
    weights_ : array of shape (n_components,)
        Probability of each component.
    probabilities_ : array of shape (n_components, n_features)
        Share of each column, rows sum to 1.
    """

    _family: ClassVar[str] = "multinomial-mixture"
    _counts: ClassVar[bool] = True

    def __init__(
        self,
        n_components: int = 1,
        *,
        smoothing: float | None = None,
        method: str = "g-oem",
        batch: int | str = 100,
        kappa: float | None = None,
        offset: float | None = None,
        tau: float | None = None,
        step: str | None = None,
        averaging: str | None = None,
        passes: int | None = None,
        random_state: Any = None,
        n_jobs: int | None = None,
        verbose: int = 0,
        callback: Callback | None = None,
    ) -> None:
        self.n_components = n_components
        self.smoothing = smoothing
        self.method = method
        self.batch = batch
        self.kappa = kappa
        self.offset = offset
        self.tau = tau
        self.step = step
        self.averaging = averaging
        self.passes = passes
        self.random_state = random_state
        self.n_jobs = n_jobs
        self.verbose = verbose
        self.callback = callback

    @property
    def probabilities_(self) -> NDArray[np.float64]:
        """Share of each column in each component."""
        return self._array("probabilities")


class ICA(ClassNamePrefixFeaturesOutMixin, TransformerMixin, RowEstimator):
    """Independent components with heavy tails, mixed and heard through noise, learnt online by Gibbs sampling.

    Parameters
    ----------
    {knobs}
    passes, random_state, n_jobs, verbose, callback
        As in :class:`GaussianMixture`.
    transform_sweeps : int
        Sweeps over each row in ``transform``, of which the second half is kept.
    particles : int
        Particles per row in scores.

    Attributes
    ----------
    mixing_ : array of shape (n_features, n_components)
        The mixing matrix.
    mean_, noise_variance_ : array of shape (n_features,)
        Mean and variance of the noise of each column.
    degrees_ : array of shape (n_components,)
        Degrees of freedom of the sources.
    """

    _family: ClassVar[str] = "ica"

    def __init__(
        self,
        n_components: int = 1,
        *,
        sources: str = "laplace",
        noise: str = "isotropic",
        source_scale: str = "learnt",
        floor: float | None = None,
        method: str = "g-oem",
        batch: int | str = 100,
        sweeps: int | None = None,
        window: str | None = None,
        boost: bool | None = None,
        kappa: float | None = None,
        offset: float | None = None,
        tau: float | None = None,
        step: str | None = None,
        averaging: str | None = None,
        passes: int | None = None,
        transform_sweeps: int = 100,
        particles: int = 20,
        random_state: Any = None,
        n_jobs: int | None = None,
        verbose: int = 0,
        callback: Callback | None = None,
    ) -> None:
        self.n_components = n_components
        self.sources = sources
        self.noise = noise
        self.source_scale = source_scale
        self.floor = floor
        self.method = method
        self.batch = batch
        self.sweeps = sweeps
        self.window = window
        self.boost = boost
        self.kappa = kappa
        self.offset = offset
        self.tau = tau
        self.step = step
        self.averaging = averaging
        self.passes = passes
        self.transform_sweeps = transform_sweeps
        self.particles = particles
        self.random_state = random_state
        self.n_jobs = n_jobs
        self.verbose = verbose
        self.callback = callback

    def transform(self, X: Any) -> NDArray[np.float64]:
        """The mean of each source given a row, by Gibbs sampling with the parameters held fixed.

        Parameters
        ----------
        X : array of shape (rows, columns)
            Numbers, one row per observation.

        Returns
        -------
        array of shape (rows, sources)
        """
        return self._latent(X, self.transform_sweeps)

    @property
    def mixing_(self) -> NDArray[np.float64]:
        """The mixing matrix."""
        return self._array("mixing")

    @property
    def mean_(self) -> NDArray[np.float64]:
        """Mean of each column."""
        return self._array("mean")

    @property
    def noise_variance_(self) -> NDArray[np.float64]:
        """Variance of the noise of each column."""
        return self._array("noise")

    @property
    def degrees_(self) -> NDArray[np.float64]:
        """Degrees of freedom of the sources."""
        return self._array("degrees")

    @property
    def _n_features_out(self) -> int:
        return int(self.n_components)
