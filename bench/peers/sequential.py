"""log p(X) of a document under frozen topics, written down as plainly as possible.

A second, independent implementation of the estimator that scores everybody: sequential Monte Carlo over the tokens of
a document, with multinomial resampling after every token and one Gibbs sweep over all earlier tokens before each.
Unbiased for p(X). Slow; meant for checking a few documents, not for use.
"""

import itertools

import numpy as np


def log_likelihood(words, beta, alpha, particles, random):
    """An estimate of log p(words); `words` holds the word of every token, in any order."""
    words = random.permutation(np.asarray(words))
    counts = np.zeros((particles, len(alpha)))  # tokens of each topic, for every particle
    topics = np.zeros((particles, len(words)), dtype=int)  # topic of each token
    everyone = np.arange(particles)
    result = 0.0
    for n, word in enumerate(words):
        for m in range(n):
            counts[everyone, topics[:, m]] -= 1
            topics[:, m] = draw((counts + alpha) * beta[:, words[m]], random)
            counts[everyone, topics[:, m]] += 1
        masses = (counts + alpha) * beta[:, word]
        weights = masses.sum(axis=1) / (alpha.sum() + n)  # p(word | topics of the words before)
        result += np.log(weights.mean())
        parents = random.choice(particles, size=particles, p=weights / weights.sum())
        counts, topics, masses = counts[parents], topics[parents], masses[parents]
        topics[:, n] = draw(masses, random)
        counts[everyone, topics[:, n]] += 1
    return result


def draw(masses, random):
    """One column of each row, with probability in proportion to its mass."""
    sums = masses.cumsum(axis=1)
    return (sums < random.random((len(masses), 1)) * sums[:, -1:]).sum(axis=1)


def exact_log_likelihood(words, beta, alpha):
    """log p(words), by adding up all K^N assignments of topics; for very small cases."""
    total = 0.0
    for topics in itertools.product(range(len(alpha)), repeat=len(words)):
        counts, p = np.zeros(len(alpha)), 1.0
        for n, (word, topic) in enumerate(zip(words, topics)):
            p *= (counts[topic] + alpha[topic]) / (alpha.sum() + n) * beta[topic, word]
            counts[topic] += 1
        total += p
    return np.log(total)
