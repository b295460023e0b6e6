"""gensim: LdaMulticore with one worker.

It cannot learn alpha. The parent process polls its queue while the worker works, so its CPU seconds are about twice
those of the worker; `worker_cpu_seconds` stands beside them.
"""

import resource

import gensim
from gensim.models import LdaMulticore

from .gensim_lda import bags

VERSION = gensim.__version__

SETTINGS = {
    "gensim-multicore": dict(
        workers=1, alpha="symmetric", eta="auto", decay=0.5, offset=1.0, iterations=50, gamma_threshold=0.001,
        eval_every=None, chunksize=2000, passes=1,
    ),
}


def train(job):
    documents = bags(job.matrix)
    words = {word: str(word) for word in range(job.matrix.shape[1])}
    with job.clock:
        model = LdaMulticore(id2word=words, num_topics=job.topics, random_state=job.seed, **job.settings)
        model.update(documents)
    worker = resource.getrusage(resource.RUSAGE_CHILDREN)
    job.snapshot(
        documents=len(documents) * job.settings["passes"], beta=model.get_topics(), alpha=model.alpha,
        worker_cpu_seconds=worker.ru_utime + worker.ru_stime,
    )
