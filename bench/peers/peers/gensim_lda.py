"""gensim: LdaModel, online variational Bayes in NumPy."""

import gensim
from gensim.models import LdaModel

VERSION = gensim.__version__

COMMON = dict(alpha="auto", eta="auto", decay=0.5, offset=1.0, iterations=50, gamma_threshold=0.001, eval_every=None)
SETTINGS = {
    # The defaults, except that alpha and eta are learnt and the periodic (costly) evaluation is off.
    "gensim": dict(COMMON, chunksize=2000, passes=5),
    # Many more updates in a pass, as ours makes.
    "gensim-small-chunks": dict(COMMON, chunksize=200, passes=2),
}
# For olda.py: the settings of `gibbstream train --method olda --kappa 0.7 --offset 10`, priors 1 / K. The first update
# has number 0 here and 1 there, hence the 11.
SAME = dict(alpha="symmetric", eta="symmetric", decay=0.7, offset=11.0, iterations=20, gamma_threshold=0.0,
            eval_every=None, chunksize=100, passes=1)
SETTINGS |= {
    "gensim-olda": SAME,
    "gensim-olda-stopping": dict(SAME, gamma_threshold=0.001),
    "gensim-olda-learnt-alpha": dict(SAME, alpha="auto"),
}


def bags(matrix):
    return [
        [(int(w), int(c)) for w, c in zip(matrix.indices[a:b], matrix.data[a:b])]
        for a, b in zip(matrix.indptr, matrix.indptr[1:])
    ]


def train(job):
    documents = bags(job.matrix)
    total, seen = len(documents), 0
    points = job.document_points(job.settings["passes"])

    class Watched(LdaModel):
        """Takes snapshots between updates; one long call to `update`, so that gensim knows the corpus size."""

        def do_mstep(self, rho, other, extra_pass=False):
            nonlocal seen
            count = other.numdocs
            super().do_mstep(rho, other, extra_pass)
            seen += count
            if points and seen >= points[0]:
                while points and seen >= points[0]:
                    points.pop(0)
                with job.clock.paused():
                    job.snapshot(documents=seen, beta=self.get_topics(), alpha=self.alpha)

    words = {word: str(word) for word in range(job.matrix.shape[1])}
    with job.clock:
        model = Watched(id2word=words, num_topics=job.topics, random_state=job.seed, **job.settings)
        model.update(documents)
    if seen % total:
        raise RuntimeError(f"{seen} documents were absorbed in passes over {total}")
