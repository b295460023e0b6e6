"""Sparse binary counts as in single-cell genomics: many features, K = 500, all processors."""

import numpy as np
from scipy import sparse

from gibbstream import LDA

CELLS, REGIONS, OPEN_REGIONS, PROGRAMS = 2000, 20_000, 150, 40
random = np.random.default_rng(0)
# Every cell runs a few of some programs, each of which opens some regions of the genome.
programs = [random.choice(REGIONS, size=400, replace=False) for _ in range(PROGRAMS)]
rows = []
for _ in range(CELLS):
    active = random.choice(PROGRAMS, size=3, replace=False)
    regions = np.concatenate([random.choice(programs[program], size=OPEN_REGIONS // 3) for program in active])
    rows.append(np.unique(regions))
indptr = np.concatenate([[0], np.cumsum([len(row) for row in rows])])
data = np.ones(indptr[-1], dtype=np.uint8)
cells = sparse.csr_matrix((data, np.concatenate(rows), indptr), shape=(CELLS, REGIONS))

lda = LDA(n_components=500, batch=50, sweeps=10, smoothing=0.01, random_state=0, n_jobs=-1, verbose=1)
topics_of_cells = lda.fit_transform(cells)
print(f"{topics_of_cells.shape[0]} cells, {lda.topics_used_} of 500 topics in use")
print(f"largest topic of the first cells: {topics_of_cells[:5].argmax(axis=1)}")
print(f"sum of alpha: {lda.alpha_.sum():.2f}; model {lda.model_hash_[:12]}")
