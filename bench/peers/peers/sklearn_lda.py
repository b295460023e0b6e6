"""scikit-learn: LatentDirichletAllocation, online variational Bayes; alpha and eta are fixed."""

import numpy as np
import sklearn
from sklearn.decomposition import LatentDirichletAllocation

VERSION = sklearn.__version__

SETTINGS = {
    # The defaults of learning_method='online': batch 128, offset 10, decay 0.7, both priors 1 / K.
    "scikit-learn": dict(learning_decay=0.7, learning_offset=10.0, batch_size=128, passes=2),
}
# For olda.py: the settings of `gibbstream train --method olda --kappa 0.7 --offset 10`, priors 1 / K.
SAME = dict(learning_decay=0.7, learning_offset=10.0, batch_size=100, max_doc_update_iter=20, mean_change_tol=0.0, passes=1)
SETTINGS |= {"scikit-learn-olda": SAME, "scikit-learn-olda-stopping": dict(SAME, mean_change_tol=0.001)}


def train(job):
    settings = dict(job.settings)
    passes, size = settings.pop("passes"), settings["batch_size"]
    matrix = job.matrix.astype(np.float64)
    documents, points, seen = matrix.shape[0], job.document_points(passes), 0
    model = LatentDirichletAllocation(
        n_components=job.topics, learning_method="online", total_samples=documents, n_jobs=1,
        random_state=job.seed, **settings,
    )
    batches = [matrix[first : first + size] for first in range(0, documents, size)]
    for batch in batches * passes:
        with job.clock:
            model.partial_fit(batch)
        seen += batch.shape[0]
        if points and seen >= points[0]:
            while points and seen >= points[0]:
                points.pop(0)
            job.snapshot(documents=seen, beta=model.components_, alpha=np.full(job.topics, model.doc_topic_prior_))
