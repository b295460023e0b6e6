"""Fast, accurate topic models for large collections and streams of documents.

>>> import gibbstream
>>> texts = ["stars and planets", "planets, a star, a galaxy", "butter and flour", "flour in the oven"] * 50
>>> lda = gibbstream.LDA(n_components=2, batch=10, random_state=0).fit(texts)
>>> lda.transform(["a new planet"]).shape
(1, 2)
"""

import importlib
from typing import Any

from gibbstream import plot, single_cell
from gibbstream._core import __version__, method_names
from gibbstream.client import Client, ServiceError
from gibbstream.documents import FoundDocument, FoundTopic
from gibbstream.estimator import NotLearntError
from gibbstream.evaluation import Comparison, coherence, compare, evaluate, to_pyldavis
from gibbstream.exploring import Page
from gibbstream.hdp import HDP
from gibbstream.labelled import stability
from gibbstream.lda import LDA
from gibbstream.loading import load
from gibbstream.rows import ICA, BernoulliMixture, GaussianMixture, MultinomialMixture, PoissonMixture
from gibbstream.runner import LocalRunner
from gibbstream.text import TextCorpus
from gibbstream.watch import MinibatchRecord

METHODS: tuple[str, ...] = tuple(method_names("lda"))
"""The names that ``method`` of :class:`LDA` takes."""

HDP_METHODS: tuple[str, ...] = tuple(method_names("hdp"))
"""The names that ``method`` of :class:`HDP` takes."""

__all__ = [
    "HDP",
    "HDP_METHODS",
    "ICA",
    "LDA",
    "METHODS",
    "BernoulliMixture",
    "Client",
    "Comparison",
    "FoundDocument",
    "FoundTopic",
    "GaussianMixture",
    "LocalRunner",
    "MinibatchRecord",
    "MultinomialMixture",
    "NotLearntError",
    "Page",
    "PoissonMixture",
    "ServiceError",
    "TextCorpus",
    "__version__",
    "coherence",
    "compare",
    "evaluate",
    "load",
    "plot",
    "single_cell",
    "stability",
    "to_pyldavis",
]


def __getattr__(name: str) -> Any:
    """``gibbstream.ray`` and ``gibbstream.spark`` need their engines, so they are imported when they are first used."""
    if name in {"ray", "spark"}:
        return importlib.import_module(f"gibbstream.{name}")
    raise AttributeError(f"module 'gibbstream' has no attribute {name!r}")
