"""A stream that never ends: `partial_fit`, held-out scores on the way, and a file to go on from."""

import itertools

import numpy as np

from gibbstream import LDA

TOPICS, WORDS = 5, 200
random = np.random.default_rng(0)
topics = random.dirichlet(np.full(WORDS, 0.05), size=TOPICS)


def stream():
    """Stands for a queue, a log, or a folder of files: chunks of counts for as long as you like."""
    while True:
        mixtures = random.dirichlet(np.full(TOPICS, 0.2), size=100)
        yield np.stack([random.multinomial(80, mixture @ topics) for mixture in mixtures])


chunks = stream()
held_out = next(chunks)
lda = LDA(n_components=TOPICS, batch=20, kappa=0.7, offset=20, random_state=0)
for number, chunk in enumerate(itertools.islice(chunks, 30), start=1):
    lda.partial_fit(chunk)
    if number % 10 == 0:
        print(f"{lda.n_documents_:5} documents: {lda.score(held_out):.4f} nats per held-out token")

lda.save("stream.gbs")
later = LDA.load("stream.gbs").partial_fit(next(chunks))
print(f"after a restart: {later.n_documents_} documents, alpha {later.alpha_.round(2)}")
