"""The number of topics by cross-validation, with the tools of scikit-learn."""

import numpy as np
from sklearn.feature_extraction.text import CountVectorizer
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import Pipeline

from gibbstream import LDA

random = np.random.default_rng(0)
themes = ["star planet galaxy orbit", "recipe oven butter sauce", "goal match player team", "court judge trial jury"]
texts = []
for _ in range(600):
    first, second = random.choice(len(themes), size=2, replace=False)
    words = [*random.choice(themes[first].split(), size=10), *random.choice(themes[second].split(), size=5)]
    texts.append(" ".join(words))

pipeline = Pipeline([("count", CountVectorizer(min_df=2)), ("lda", LDA(batch=10, random_state=0))])
search = GridSearchCV(pipeline, {"lda__n_components": [2, 4, 8]}, cv=3).fit(texts)
for topics, score in zip(
    search.cv_results_["param_lda__n_components"], search.cv_results_["mean_test_score"], strict=True
):
    print(f"{topics} topics: {score:.4f} nats per held-out token")
print("best:", search.best_params_)
best = search.best_estimator_
for words in best["lda"].top_words(4, feature_names=best["count"].get_feature_names_out()):
    print(" ", " ".join(words))
