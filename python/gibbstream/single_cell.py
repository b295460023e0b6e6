"""Topic models of single-cell counts in AnnData objects: cells are documents, genes or peaks are words."""

from __future__ import annotations

from typing import Any

import numpy as np

from gibbstream.lda import LDA


def fit(
    adata: Any,
    n_topics: int = 50,
    *,
    layer: str | None = None,
    key: str = "topics",
    binary: bool = False,
    **parameters: Any,
) -> LDA:
    """Fit a topic model to the counts of cells, and write what was learnt into ``adata``.

    Parameters
    ----------
    adata : AnnData
        Cells x features, with counts (not normalised or logarithmic values).
    n_topics : int
        Topics to learn.
    layer : str, optional
        The layer that holds the counts, instead of ``adata.X``.
    key : str
        Where results go: ``adata.obsm["X_" + key]`` (cells x topics, rows sum to 1), ``adata.varm[key]`` (features x
        topics, columns sum to 1) and ``adata.uns[key]`` (shares, alpha, settings).
    binary : bool
        Use only whether a count is above zero, as is usual for chromatin accessibility.
    **parameters : dict
        Parameters of :class:`gibbstream.LDA`, such as ``random_state`` or ``n_jobs``.

    Returns
    -------
    LDA
        The fitted model, with the names of the features.

    Examples
    --------
    >>> import numpy as np
    >>> from types import SimpleNamespace
    >>> counts = np.random.default_rng(0).poisson(1.0, (500, 20))
    >>> adata = SimpleNamespace(X=counts, layers={}, obsm={}, varm={}, uns={}, var_names=[f"g{i}" for i in range(20)])
    >>> lda = fit(adata, 3, batch=20, random_state=0)
    >>> adata.obsm["X_topics"].shape, adata.varm["topics"].shape
    ((500, 3), (20, 3))
    """
    counts = adata.X if layer is None else adata.layers[layer]
    values = counts.data if hasattr(counts, "indptr") else np.asarray(counts)
    if np.size(values) and (np.min(values) < 0 or not np.array_equal(values, np.floor(values))):
        raise ValueError(
            "adata: the values are not counts; give raw counts, such as layer='counts', not normalised values"
        )
    if binary:
        counts = (counts > 0).astype(np.int32)
    lda = LDA(n_topics, **parameters).fit(counts)
    lda.set_vocabulary([str(name) for name in adata.var_names])
    adata.obsm[f"X_{key}"] = lda.transform(counts)
    adata.varm[key] = np.ascontiguousarray(lda.topic_word_.T)
    adata.uns[key] = {
        "shares": lda.topic_shares_,
        "alpha": lda.alpha_,
        "model_hash": lda.model_hash_,
        "seed": lda.seed_,
        "method": lda.method,
    }
    return lda
