"""Code as users write it, for type checkers: mypy --strict and pyright must be content with it."""

from collections.abc import Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray

import gibbstream
from gibbstream import HDP, LDA, MinibatchRecord, TextCorpus


def batches() -> Iterator[NDArray[np.int64]]:
    random = np.random.default_rng(0)
    for _ in range(10):
        yield random.poisson(1.0, size=(50, 20))


def watch(model: LDA, record: Any) -> bool:
    print(record["documents"], model.alpha_.sum())
    return False


model = LDA(n_components=5, method="g-oem", random_state=0, callback=watch)
for batch in batches():
    model.partial_fit(batch)
theta: NDArray[np.float64] = model.transform(next(batches()))
score: float = model.score(next(batches()))
words: list[list[str]] = model.top_words(5, relevance=0.6)
components: NDArray[np.float64] = model.components_
used: int = model.topics_used_
model.save("model.gbs")
loaded: LDA = LDA.load("model.gbs", n_jobs=-1)


def topics(model: HDP, record: MinibatchRecord) -> None:
    print(record["topics_used"], model.topics_created_)


hdp = HDP(initial_topics=3, max_topics=50, pi="literal", random_state=0, callback=topics)
hdp.fit(batches())
shares: NDArray[np.float64] = hdp.fit_transform(next(batches()))
remainder: float = hdp.remainder_
found_topics: int = hdp.n_components_
numbers: NDArray[np.uint64] = hdp.topic_ids_
over_time: list[int] = [record["topics"] for record in hdp.history_]
other: HDP = HDP.load("hdp.gbs").partial_fit(next(batches()))

corpus = TextCorpus(["a cat and a dog", "a dog"], stop_words="en", min_df=1)
text_model = LDA(2).fit(corpus)
report: dict[str, Any] = gibbstream.evaluate(text_model, corpus[:1])
found = gibbstream.compare(text_model, loaded)
distance: float = found.mean_distance
print(gibbstream.coherence(text_model, ["a cat and a dog"])["mean"], gibbstream.METHODS[0], len(corpus))
