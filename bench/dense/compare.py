#!/usr/bin/env python3
"""Models of numbers beside scikit-learn: same data, one thread each. See README.md."""

import argparse
import json
import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path

HERE = Path(__file__).resolve().parent
ROOT = HERE.parent.parent
PYTHON = HERE / ".venv" / "bin" / "python"
SIDE = 6  # pixels of a patch
SOURCES = 16


def enter_environment():
    """Runs this file again with the Python that has the libraries."""
    for variable in ["OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"]:
        os.environ[variable] = "1"
    if os.environ.get("GIBBSTREAM_BENCH_ENTERED"):
        return
    if not PYTHON.exists():
        subprocess.run([sys.executable, "-m", "venv", HERE / ".venv"], check=True)
        subprocess.run([PYTHON, "-m", "pip", "install", "-q", "-r", HERE / "requirements.txt"], check=True)
    os.environ["GIBBSTREAM_BENCH_ENTERED"] = "1"
    os.execv(PYTHON, [str(PYTHON), *sys.argv])


class Program:
    """The program, with a folder for its files."""

    def __init__(self, path, folder):
        self.path, self.folder = path, Path(folder)

    def run(self, *arguments):
        line = [str(self.path), *map(str, arguments), "--json", "--threads", "1", "--quiet"]
        return json.loads(subprocess.run(line, check=True, capture_output=True, text=True).stdout)

    def save(self, name, array):
        import numpy as np

        path = self.folder / name
        np.save(path, np.ascontiguousarray(array))
        return path


def cpu_seconds(work):
    start = time.process_time()
    result = work()
    return result, time.process_time() - start


def points(number, seed):
    """Five well separated correlated groups in four dimensions."""
    import numpy as np

    random = np.random.default_rng(1)
    centers = 8.0 * random.normal(size=(5, 4))
    shapes = random.normal(size=(5, 4, 4)) * 0.5 + np.eye(4)
    random = np.random.default_rng(seed)
    labels = random.choice(5, p=[0.1, 0.15, 0.2, 0.25, 0.3], size=number)
    return centers[labels] + np.einsum("nij,nj->ni", shapes[labels], random.normal(size=(number, 4)))


def mixture(program):
    from sklearn.mixture import GaussianMixture

    train, test = points(100_000, 2), points(20_000, 3)
    batch, seconds = cpu_seconds(lambda: GaussianMixture(5, n_init=3, random_state=0).fit(train))
    files = {"train": program.save("train.npy", train), "test": program.save("test.npy", test)}
    results = []
    for seed in range(5):
        model = program.folder / f"mixture{seed}.gbs"
        report = program.run(
            "train", files["train"], "--model", "gaussian-mixture", "--components", 5, "--seed", seed, "--out", model
        )
        scores = {name: -program.run("evaluate", model, file)["log_perplexity_per_document"] for name, file in files.items()}
        results.append({"seed": seed, "cpu_seconds": report["train_cpu_seconds"], **scores})
    return {
        "batch": {"cpu_seconds": seconds, "iterations": batch.n_iter_, "train": batch.score(train), "test": batch.score(test)},
        "one_pass": results,
    }


def patches(number, seed=0):
    """Random patches of two photographs in grey, each without its mean."""
    import numpy as np
    from sklearn.datasets import load_sample_images

    random = np.random.default_rng(seed)
    images = [image.astype(float).mean(axis=2) / 255.0 for image in load_sample_images().images]
    rows = np.empty((number, SIDE * SIDE))
    for i in range(number):
        image = images[random.integers(len(images))]
        y, x = (random.integers(side - SIDE) for side in image.shape)
        rows[i] = image[y : y + SIDE, x : x + SIDE].ravel()
    # Coordinates without the direction of the mean, in which nothing is left.
    mean = np.full((SIDE * SIDE, 1), 1.0)
    others = np.linalg.qr(np.hstack([mean, np.eye(SIDE * SIDE)[:, 1:]]))[0][:, 1:]
    rows = rows @ others
    return rows / rows.std()


def matched(a, b):
    """Absolute correlations of columns, matched so that their sum is largest."""
    import numpy as np
    from scipy.optimize import linear_sum_assignment

    unit = lambda matrix: matrix / np.linalg.norm(matrix, axis=0)
    likeness = np.abs(unit(a).T @ unit(b))
    return np.sort(likeness[linear_sum_assignment(-likeness)])[::-1]


def image_patches(program, number=100_000):
    import numpy as np
    from sklearn.decomposition import FastICA, PCA

    rows, test = patches(number), patches(2_000, seed=1)
    make = lambda seed: FastICA(SOURCES, whiten="unit-variance", max_iter=1000, tol=1e-4, random_state=seed)
    fast, seconds = cpu_seconds(lambda: make(0).fit(rows))
    again = make(1).fit(rows)
    whiten = PCA(SOURCES, whiten=True).fit(rows)
    basis = (whiten.components_ * np.sqrt(whiten.explained_variance_)[:, None]).T
    random = np.random.default_rng(0)
    null = [matched(fast.mixing_, basis @ np.linalg.qr(random.normal(size=(SOURCES, SOURCES)))[0]) for _ in range(20)]
    file, held_out = program.save("patches.npy", rows), program.save("test.npy", test)
    results = []
    for seed in range(3):
        model, folder = program.folder / f"ica{seed}.gbs", program.folder / f"ica{seed}"
        report = program.run(
            "train", file, "--model", "ica", "--components", SOURCES, "--seed", seed, "--batch", 50, "--sweeps", 10,
            "--passes", 3, "--averaging", "tail=2000", "--out", model,
        )
        program.run("export", model, folder)
        mixing, noise = np.load(folder / "mixing.npy"), np.load(folder / "noise.npy")
        found = matched(fast.mixing_, mixing)
        score = program.run("evaluate", model, held_out)
        results.append({
            "seed": seed,
            "cpu_seconds": report["train_cpu_seconds"],
            "median_correlation": float(np.median(found)),
            "correlations": found.round(3).tolist(),
            "noise_deviation": float(np.sqrt(noise.mean())),
            "nats_per_patch": score["log_perplexity_per_document"],
            "estimator_standard_error": score["estimator_standard_error"],
            "single_gaussian_nats_per_patch": score["baseline_log_perplexity_per_document"],
        })
    model = program.folder / "all.gbs"
    report = program.run(
        "train", file, "--model", "ica", "--components", rows.shape[1], "--batch", 50, "--sweeps", 10, "--out", model
    )
    score = program.run("evaluate", model, held_out)
    rest = PCA().fit(rows).explained_variance_[SOURCES:]
    return {
        "patches": number,
        "fastica_cpu_seconds": seconds,
        "fastica_iterations": fast.n_iter_,
        "fastica_other_seed": {"median_correlation": float(np.median(matched(fast.mixing_, again.mixing_)))},
        "null_median_correlation": float(np.median(null)),
        "deviation_outside_of_the_span": float(np.sqrt(rest.mean())),
        "ours": results,
        "as_many_sources_as_columns": {
            "cpu_seconds": report["train_cpu_seconds"],
            "nats_per_patch": score["log_perplexity_per_document"],
            "standard_error": score["standard_error"],
            "estimator_standard_error": score["estimator_standard_error"],
            "single_gaussian_nats_per_patch": score["baseline_log_perplexity_per_document"],
        },
    }


def speed(program):
    from sklearn.decomposition import MiniBatchDictionaryLearning
    from sklearn.mixture import GaussianMixture

    rows, many = patches(20_000), points(100_000, 2)
    learn = MiniBatchDictionaryLearning(SOURCES, batch_size=100, max_iter=1, max_no_improvement=None, tol=0, random_state=0)
    _, seconds = cpu_seconds(lambda: learn.fit(rows))
    model = program.folder / "speed.gbs"
    file, points_file = program.save("patches.npy", rows), program.save("points.npy", many)
    ours = {
        sweeps: program.run(
            "train", file, "--model", "ica", "--components", SOURCES, "--sweeps", sweeps, "--out", model
        )["observations_per_cpu_second"]
        for sweeps in (5, 10, 20)
    }
    mixed = program.run("train", points_file, "--model", "gaussian-mixture", "--components", 5, "--out", model)
    batch, batch_seconds = cpu_seconds(lambda: GaussianMixture(5, init_params="random_from_data", max_iter=20, tol=0, random_state=0).fit(many))
    return {
        "ica": ours,
        "dictionary_learning": len(rows) / seconds,
        "gaussian_mixture": mixed["observations_per_cpu_second"],
        "gaussian_mixture_scikit_learn": len(many) * batch.n_iter_ / batch_seconds,
    }


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("what", choices=["mixture", "patches", "speed"])
    parser.add_argument("--program", default=ROOT / "target" / "release" / "gibbstream")
    arguments = parser.parse_args()
    enter_environment()
    if not Path(arguments.program).exists():
        subprocess.run(["cargo", "build", "--release", "--locked"], cwd=ROOT, check=True)
    with tempfile.TemporaryDirectory() as folder:
        work = {"mixture": mixture, "patches": image_patches, "speed": speed}[arguments.what]
        print(json.dumps(work(Program(arguments.program, folder)), indent=1))


if __name__ == "__main__":
    main()
