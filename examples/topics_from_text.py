"""A topic model from texts in twenty lines."""

import random

import gibbstream

# Stands for your own list of texts.
THEMES = {
    "astronomy": "star planet galaxy telescope orbit comet moon",
    "cooking": "recipe oven butter sauce flour salt onion",
    "football": "goal match player team league keeper referee",
}
random.seed(0)
texts = [" ".join(random.choices(words.split(), k=12)) for words in random.choices(list(THEMES.values()), k=1000)]

corpus = gibbstream.TextCorpus(texts, min_df=2)
lda = gibbstream.LDA(n_components=3, batch=20, random_state=0).fit(corpus[:900])
for topic, words in enumerate(lda.top_words(6)):
    print(f"topic {topic} ({lda.topic_shares_[topic]:.0%}): {' '.join(words)}")
print(f"perplexity of held-out texts: {lda.perplexity(corpus[900:]):.1f} (of {len(corpus.vocabulary)} words)")
print("mixture of a new text:", lda.transform(corpus.encode(["a planet in the oven"])).round(2)[0])
