"""The methods of `gibbstream methods` a second time, as plainly as the equations: dense NumPy, no lazy scale, no slots.

    .venv/bin/python plain.py METHOD --data FOLDER --documents 20000 --topics 10 --skip 20000 --limit 500 \
        --scorer ../../target/release/examples/score_arrays

Shares no code with the library, so a score that differs by more than seeds do is a bug in one of them. Slow.
"""

import argparse
import json
import subprocess
import tempfile
from pathlib import Path

import numpy as np
from scipy.special import psi

import corpus

# local step, weights, statistic, rule for alpha, boosted
METHODS = {
    "g-oem": ("gibbs", "ml", "rb", "fixed-point", False),
    "g-oem++": ("gibbs", "ml", "rb", "fixed-point", True),
    "v-oem": ("mean-field", "ml", None, "fixed-point", False),
    "v-oem++": ("mean-field", "ml", None, "fixed-point", True),
    "olda": ("mean-field", "bayes", None, "newton", False),
    "svb": ("mean-field", "seen", None, "newton", False),
    "vargibbs": ("gibbs", "bayes", "counts", "fixed", False),
    "splda": ("mean-field", "ml", None, "gamma", True),
    "sgs": ("gibbs", "pseudo", "last", "fixed", False),
}


def trigamma(x):
    from scipy.special import polygamma
    return polygamma(1, x)


def inverse_psi(y):
    x = np.where(y >= -2.22, np.exp(y) + 0.5, -1.0 / (y + 0.5772156649015329))
    for _ in range(8):
        x = x - (psi(x) - y) / trigamma(x)
    return x


class Gibbs:
    """Sweeps over all documents of a minibatch side by side: token n of every document is drawn at the same time."""

    def __init__(self, rows, weights, random, sweeps, statistic):
        lengths = np.array([row.data.sum() for row in rows])
        self.order = np.argsort(-lengths, kind="stable")
        self.lengths, self.random, self.statistic = lengths[self.order], random, statistic
        self.kept = 1 if statistic == "last" else max(1, sweeps // 4)
        self.words = np.zeros((len(rows), max(1, self.lengths[0])), dtype=int)
        for place, index in enumerate(self.order):
            self.words[place, : lengths[index]] = np.repeat(rows[index].indices, rows[index].data)
        self.inside = np.arange(self.words.shape[1]) < self.lengths[:, None]
        self.topics = self.draw(weights[self.words])
        self.counts = np.zeros((len(rows), weights.shape[1]))
        np.add.at(self.counts, (np.nonzero(self.inside)[0], self.topics[self.inside]), 1.0)

    def draw(self, weights):
        sums = np.cumsum(weights, axis=-1)
        return np.argmax(sums > self.random.random(sums.shape[:-1])[..., None] * sums[..., -1:], axis=-1)

    def sweep(self, weights, alpha):
        keys = np.where(self.inside, self.random.random(self.words.shape), 2.0)
        shuffle = np.argsort(keys, axis=1)
        self.words, self.topics = (np.take_along_axis(a, shuffle, 1) for a in (self.words, self.topics))
        for n in range(self.words.shape[1]):
            active = int(np.count_nonzero(self.lengths > n))
            if not active:
                break
            some = np.arange(active)
            self.counts[some, self.topics[:active, n]] -= 1
            self.topics[:active, n] = self.draw(weights[self.words[:active, n]] * (self.counts[:active] + alpha))
            self.counts[some, self.topics[:active, n]] += 1

    def expect(self, weights, alpha):
        """Counts (words x topics) and mean of log theta, from the present state of every document."""
        out = np.zeros_like(weights)
        documents, words, topics = np.nonzero(self.inside)[0], self.words[self.inside], self.topics[self.inside]
        if self.statistic == "rb":
            others = self.counts[documents]
            others[np.arange(len(topics)), topics] -= 1
            chance = weights[words] * (others + alpha)
            np.add.at(out, words, chance / chance.sum(axis=1, keepdims=True))
        else:
            np.add.at(out, (words, topics), 1.0)
        log_theta = psi(alpha + self.counts) - psi(alpha.sum() + self.lengths)[:, None]
        return out / len(self.lengths), log_theta.mean(axis=0), None

    def run(self, weights, alpha, passes, total):
        """`passes` sweeps; the mean over those that are kept of all `total`."""
        found = []
        for number in passes:
            self.sweep(weights, alpha)
            if number >= total - self.kept:
                found.append(self.expect(weights, alpha))
        return tuple(np.mean([f[i] for f in found], axis=0) for i in (0, 1)) + (None,)


class MeanField:
    """Coordinate ascent, with the distribution of every token written out."""

    def __init__(self, rows, weights, alpha):
        self.rows = rows
        self.gamma = [alpha + row.data.sum() / len(alpha) for row in rows]

    def run(self, weights, alpha, passes, _):
        out, log_theta, usage = np.zeros_like(weights), np.zeros(len(alpha)), np.zeros(len(alpha))
        length = 0.0
        for index, row in enumerate(self.rows):
            gamma, phi = self.gamma[index], weights[row.indices]
            for _ in passes:
                logs = np.log(phi + 1e-300) + psi(gamma)
                zeta = np.exp(logs - logs.max(axis=1, keepdims=True))
                zeta *= (row.data / zeta.sum(axis=1))[:, None]
                gamma = alpha + zeta.sum(axis=0)
            if row.nnz:
                out[row.indices] += zeta
            self.gamma[index] = gamma
            log_theta += psi(gamma) - psi(gamma.sum())
            usage += alpha * (psi(gamma) - psi(alpha))
            length += psi(gamma.sum()) - psi(alpha.sum())
        n = len(self.rows)
        return out / n, log_theta / n, (usage / n, length / n)


def solve_fixed_point(s2, alpha):
    for _ in range(10_000):
        before, alpha = alpha, inverse_psi(psi(alpha.sum()) + s2)
        if alpha.sum() > 10 * len(alpha):
            return alpha * (10 * len(alpha) / alpha.sum())
        if abs(alpha.sum() - before.sum()) < 1e-9 * alpha.sum():
            break
    return alpha


def newton(alpha, fresh, rho):
    gradient, q, c = psi(alpha.sum()) - psi(alpha) + fresh, -trigamma(alpha), trigamma(alpha.sum())
    mean = (gradient / q).sum() / (1 / c + (1 / q).sum())
    step = -(gradient - mean) / q
    while np.any(alpha + rho * step <= 0):
        rho /= 2
    return alpha + rho * step


def learn(method, matrix, topics, seed, kappa, offset, sweeps, batch, prior=None, smoothing=1e-4):
    local, rule, statistic, alpha_rule, boosted = METHODS[method]
    documents, words = matrix.shape
    random = np.random.default_rng(seed)
    prior = prior if prior else (0.01 if rule == "pseudo" else 1 / topics)
    incremental = rule in ("seen", "pseudo") or method == "splda"
    head_start = batch if rule == "seen" else 0
    floor = min(0.1 / topics, 2e-3 if local == "mean-field" else 1e-4)

    beta = random.gamma(100.0, 0.01, (words, topics))
    if method == "splda":
        beta = 1 + 0.1 * random.random((words, topics))
    s1 = beta / beta.sum(axis=0) * (matrix[:batch].sum() / batch / topics)
    alpha = np.full(topics, 1 / topics)
    s2, s3, s4 = psi(alpha) - psi(alpha.sum()), np.zeros(topics), 0.0

    def weights(s, seen, population):
        if rule == "ml":
            return (1 - smoothing) * s / s.sum(axis=0) + smoothing / words
        if rule == "pseudo":
            count = s + prior / max(seen, 1)
            return count / count.sum(axis=0)
        lam = prior + population * s
        logs = psi(lam) - psi(lam.sum(axis=0))
        return np.exp(logs - logs.max(axis=1, keepdims=True))  # a factor of the word cancels

    def moved(state, fresh, rho, seen):
        s1, s2, s3, s4, alpha = state
        counts, log_theta, polya = fresh
        s1, s2 = (1 - rho) * s1 + rho * counts, (1 - rho) * s2 + rho * log_theta
        if alpha_rule == "fixed-point":
            alpha = solve_fixed_point(s2, alpha)
        elif alpha_rule == "newton":
            alpha = newton(alpha, log_theta, rho)
        elif alpha_rule == "gamma":
            s3, s4 = (1 - rho) * s3 + rho * polya[0], (1 - rho) * s4 + rho * polya[1]
            alpha = s3 / (0.01 / seen + s4)
        alpha = alpha * min(1.0, 10 * topics / alpha.sum())
        return s1, s2, s3, s4, np.maximum(alpha, floor) if alpha_rule != "fixed" else alpha

    state, seen = (s1, s2, s3, s4, alpha), 0
    for update, first in enumerate(range(0, documents, batch), 1):
        rows = [matrix[index] for index in range(first, min(first + batch, documents))]
        after = seen + len(rows)
        rho = len(rows) / (head_start + after) if incremental else min(1.0, (update + offset) ** -kappa)
        population = {"seen": head_start + seen}.get(rule, documents)
        now, alpha = weights(state[0], seen, population), state[4]
        inside = Gibbs(rows, now, random, sweeps, statistic) if local == "gibbs" else MeanField(rows, now, alpha)
        if not boosted:
            fresh = inside.run(now, alpha, range(sweeps), sweeps)
        else:
            window = []
            for number in range(sweeps):
                one = inside.run(now, alpha, [number], number + 1)  # every pass leaves its own statistics
                if local == "gibbs" and number >= sweeps - inside.kept:
                    window.append(one)
                    one = tuple(np.mean([w[i] for w in window], axis=0) for i in (0, 1)) + (None,)
                trial = moved(state, one, rho, after)
                fresh, now, alpha = one, weights(trial[0], after, population), trial[4]
        state, seen = moved(state, fresh, rho, after), after
    if rule in ("bayes", "seen"):
        lam = prior + (head_start + seen if rule == "seen" else documents) * state[0]
        return lam / lam.sum(axis=0), state[4]
    return weights(state[0], seen, documents), state[4]


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("method", choices=METHODS)
    parser.add_argument("--data", type=Path, required=True)
    parser.add_argument("--documents", type=int, required=True)
    parser.add_argument("--topics", type=int, required=True)
    parser.add_argument("--skip", type=int, required=True, help="first held-out document")
    parser.add_argument("--limit", type=int, default=500, help="held-out documents")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--kappa", type=float, default=0.5)
    parser.add_argument("--offset", type=float, default=0.0)
    parser.add_argument("--sweeps", type=int, default=20)
    parser.add_argument("--batch", type=int, default=100)
    parser.add_argument("--scorer", type=Path, required=True)
    arguments = parser.parse_args()
    matrix = corpus.load(arguments.data, 0, arguments.documents)
    beta, alpha = learn(arguments.method, matrix, arguments.topics, arguments.seed, arguments.kappa,
                        arguments.offset, arguments.sweeps, arguments.batch)
    with tempfile.TemporaryDirectory() as folder:
        np.save(f"{folder}/beta.npy", np.ascontiguousarray(beta.T / beta.sum(axis=0)[:, None]))
        np.save(f"{folder}/alpha.npy", alpha)
        score = json.loads(subprocess.run(
            [arguments.scorer, "--corpus", arguments.data, "--beta", f"{folder}/beta.npy", "--alpha",
             f"{folder}/alpha.npy", "--skip", str(arguments.skip), "--limit", str(arguments.limit)],
            check=True, stdout=subprocess.PIPE, text=True).stdout)
    print(json.dumps({"method": arguments.method, "topics": arguments.topics, "seed": arguments.seed,
                      "kappa": arguments.kappa, "offset": arguments.offset, "alpha_sum": float(alpha.sum()),
                      "log_perplexity_per_document": score["log_perplexity_per_document"]}), flush=True)


if __name__ == "__main__":
    main()
