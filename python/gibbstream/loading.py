"""Loading a model without knowing its kind."""

from __future__ import annotations

import os
from typing import Any

from gibbstream._core import Model
from gibbstream.files import FiledLearner
from gibbstream.hdp import HDP
from gibbstream.lda import LDA
from gibbstream.rows import ICA, BernoulliMixture, GaussianMixture, MultinomialMixture, PoissonMixture

_KINDS: tuple[type[FiledLearner], ...] = (
    LDA,
    HDP,
    ICA,
    BernoulliMixture,
    GaussianMixture,
    MultinomialMixture,
    PoissonMixture,
)


def load(path: str | os.PathLike[str], **parameters: Any) -> Any:
    """The model in a ``.gbs`` file, whatever its kind, from here or from the program.

    Parameters
    ----------
    path : path
        The file.
    **parameters : dict
        Parameters of the estimator that are not kept in the file, such as ``n_jobs``, or that are to be different.

    Returns
    -------
    LDA, HDP, ICA or a mixture
        The estimator with what it has learnt. A topic model keeps its words and how text is cut into them, so
        ``gibbstream.load(path).transform(["new text"])`` works.

    Examples
    --------
    >>> import os, tempfile, gibbstream
    >>> texts = ["a cat and a dog", "stocks and bonds"] * 50
    >>> path = os.path.join(tempfile.mkdtemp(), "model.gbs")
    >>> gibbstream.LDA(2, batch=10, random_state=0).fit(texts).save(path)
    >>> gibbstream.load(path).transform(["new stocks"]).shape
    (1, 2)
    """
    model = Model.load(path, 1)
    (kind,) = (kind for kind in _KINDS if kind._family == model.family)
    return kind._with(model, parameters)
