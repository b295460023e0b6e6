#!/usr/bin/env python3
"""Streams that change: what each setting predicts after the change, and where nothing changes.

    python bench/change/run.py run [--seeds 3] [--only STREAM] [--choose]   makes what is missing of results.jsonl
    python bench/change/run.py write                                        docs/results/change.md and its figure (needs matplotlib)

Streams are made of documents of corpora in GIBBSTREAM_DATA and of `gibbstream synth`, and read as counts with the words of
all parts. Every setting reads the stream once, with one thread. Then 150 documents that follow the last ones read, of the kind that the
stream ends with, are scored (sequential Monte Carlo, 50 particles). With --choose other documents are scored and written to
choice.jsonl: settings were chosen by them, not by those that are reported.
"""

import argparse
import json
import os
import random
import subprocess
import tempfile
from itertools import islice
from pathlib import Path
from statistics import median

HERE = Path(__file__).resolve().parent
ROOT = HERE.parent.parent
PROGRAM = os.environ.get("GIBBSTREAM_PROGRAM", str(ROOT / "target" / "release" / "gibbstream"))
DATA = Path(os.environ.get("GIBBSTREAM_DATA", ROOT.parent / "shared" / "data"))
TOPICS = 32
PART = 3000
SCORED = 150
PARTICLES = 50

SETTINGS = {
    "file": "--mode file --passes 1",
    "stream": "--mode stream",
    "stream, --adapt": "--mode stream --adapt",
    "averaging none": "--mode file --passes 1 --averaging none",
    "constant 0.1": "--mode file --passes 1 --averaging none --step constant=0.1",
    "constant 0.05": "--mode file --passes 1 --averaging none --step constant=0.05",
    "paper": "--mode file --passes 1 --paper",
}


def corpus(name):
    """Documents as lists of (word, count)."""
    folder = DATA / name
    words = (folder / "vocab.txt").read_text().split()
    current, document = None, []
    with subprocess.Popen(["zstd", "-dcq", folder / "docword.txt.zst"], stdout=subprocess.PIPE, text=True) as lines:
        try:
            for line in islice(lines.stdout, 3, None):
                number, word, count = line.split()
                if number != current and document:
                    yield document
                    document = []
                current = number
                document.append((words[int(word) - 1], int(count)))
        finally:
            lines.kill()


def synthetic(seed, count):
    """Documents of one synthetic truth; all truths have the same words."""
    with tempfile.TemporaryDirectory() as folder:
        flags = f"--topics 20 --vocab 2000 --docs {count} --length 80 --alpha 0.1 --seed {seed} --out {folder}/c"
        subprocess.run([PROGRAM, "synth", *flags.split(), "--quiet"], check=True)
        text = subprocess.run(["zstd", "-dcq", f"{folder}/c/docword.txt.zst"], stdout=subprocess.PIPE, check=True)
    documents = {}
    for line in islice(text.stdout.decode().splitlines(), 3, None):
        number, word, n = line.split()
        documents.setdefault(number, []).append((f"w{word}", int(n)))
    return list(documents.values())


def parts(seed):
    """What streams are made of, shuffled; the last documents are for scores."""
    size = 2 * PART + 2 * SCORED
    kinds = {name: list(islice(corpus(name), size)) for name in ("imdb", "yelp")}
    kinds |= {"A": synthetic(1, size), "B": synthetic(2, size)}
    for documents in kinds.values():
        random.Random(seed).shuffle(documents)
    return kinds


def slide(a, b, seed):
    """From the one to the other: the share of the second rises from 0 to 1."""
    draw, a, b = random.Random(seed), iter(a), iter(b)
    return [next(b) if draw.random() < i / (2 * PART) else next(a) for i in range(2 * PART)]


def streams(kinds, seed):
    """Name, documents, and the kind that is scored in the end."""
    a, b, imdb, yelp = (kinds[name] for name in ("A", "B", "imdb", "yelp"))
    yield "synthetic A, then B", a[:PART] + b[:PART], "B"
    yield "IMDb, then Yelp", imdb[:PART] + yelp[:PART], "yelp"
    yield "IMDb, then a few Yelp", imdb[: 2 * PART - 600] + yelp[:600], "yelp"
    yield "IMDb slides into Yelp", slide(imdb, yelp, seed), "yelp"
    third = 2 * PART // 3
    yield "Yelp, IMDb, Yelp", yelp[:third] + imdb[:third] + yelp[third : 2 * third], "yelp"
    yield "no change: IMDb", imdb[: 2 * PART], "imdb"
    yield "no change: Yelp", yelp[: 2 * PART], "yelp"
    yield "no change: synthetic", a[: 2 * PART], "A"


def write_uci(folder, documents, ids):
    folder.mkdir()
    (folder / "vocab.txt").write_text("\n".join(ids) + "\n")
    entries = sum(len(document) for document in documents)
    with (folder / "docword.txt").open("w") as out:
        out.write(f"{len(documents)}\n{len(ids)}\n{entries}\n")
        for number, document in enumerate(documents, 1):
            for word, count in document:
                out.write(f"{number} {ids[word]} {count}\n")


def run(arguments):
    results = HERE / ("choice.jsonl" if arguments.choose else "results.jsonl")
    done = {(row["stream"], row["setting"], row["seed"]) for row in read(results)}
    for seed in range(arguments.seeds):
        kinds = parts(seed)
        for name, documents, last in streams(kinds, seed):
            missing = [s for s in SETTINGS if (name, s, seed) not in done]
            if not missing or (arguments.only and arguments.only not in name):
                continue
            scored = kinds[last][-SCORED:] if not arguments.choose else kinds[last][-2 * SCORED : -SCORED]
            used = {word for document in documents + scored for word, _ in document}
            ids = {word: number for number, word in enumerate(sorted(used), 1)}
            with tempfile.TemporaryDirectory() as folder:
                folder = Path(folder)
                write_uci(folder / "stream", documents, ids)
                write_uci(folder / "scored", scored, ids)
                for setting in missing:
                    row = one(folder, SETTINGS[setting], seed)
                    row |= {"stream": name, "setting": setting, "seed": seed, "flags": SETTINGS[setting]}
                    with results.open("a") as out:
                        out.write(json.dumps(row) + "\n")
                    print(name, setting, seed, row["score"], row["alarms"], flush=True)


def one(folder, flags, seed):
    common = f"--seed {seed} --threads 1 --json"
    train = f"{folder}/stream --topics {TOPICS} {flags} --prequential --out {folder}/m.gbs --force {common}"
    report = json.loads(subprocess.run([PROGRAM, "train", *train.split()], capture_output=True, check=True).stdout)
    evaluate = f"{folder}/m.gbs {folder}/scored --particles {PARTICLES} {common}"
    score = json.loads(subprocess.run([PROGRAM, "evaluate", *evaluate.split()], capture_output=True, check=True).stdout)
    return {
        "score": score["log_perplexity_per_document"],
        "unigram": score["unigram_log_perplexity_per_document"],
        "prequential": report["prequential"]["windowed"]["log_perplexity_per_document"],
        "alarms": [change["documents"] for change in report.get("drift", [])],
        "cpu_seconds": report["train_cpu_seconds"],
    }


def read(path):
    return [json.loads(line) for line in path.read_text().splitlines()] if path.exists() else []


def write():
    rows = read(HERE / "results.jsonl")
    names = list(dict.fromkeys(row["stream"] for row in rows))
    settings = [s for s in SETTINGS if any(row["setting"] == s for row in rows)]
    score = lambda name, setting: median(
        [row["score"] for row in rows if (row["stream"], row["setting"]) == (name, setting)] or [float("nan")]
    )
    seeds = len({row["seed"] for row in rows})
    lines = ["| stream | " + " | ".join(settings) + " |", "|---|" + "---:|" * len(settings)]
    for name in names:
        best = min(score(name, setting) for setting in settings)
        cells = [f"{score(name, s):.1f} (+{100 * (score(name, s) / best - 1):.2f} %)" for s in settings]
        lines.append(f"| {name} | " + " | ".join(cells) + " |")
    alarms = ["| stream | alarms of the setting for streams, after so many documents |", "|---|---|"]
    for name in names:
        found = [row["alarms"] for row in rows if row["stream"] == name and row["setting"] == "stream"]
        alarms.append(f"| {name} | " + "; ".join(", ".join(map(str, some)) or "none" for some in found) + " |")
    template = (HERE / "page.md").read_text()
    page = template.replace("{table}", "\n".join(lines)).replace("{alarms}", "\n".join(alarms)).replace("{seeds}", str(seeds))
    (ROOT / "docs" / "results" / "change.md").write_text(page)
    picture(names, settings, score)


def picture(names, settings, score):
    import matplotlib

    matplotlib.use("svg")
    matplotlib.rcParams["svg.hashsalt"] = "gibbstream"
    from matplotlib import pyplot

    figure, axes = pyplot.subplots(figsize=(8, 4))
    for setting in settings:
        worse = [100 * (score(n, setting) / min(score(n, s) for s in settings) - 1) for n in names]
        axes.plot(worse, range(len(names)), "o", label=setting, alpha=0.8)
    axes.set_yticks(range(len(names)), names)
    axes.invert_yaxis()
    axes.set_xlabel("worse than the best setting, % of nats per document")
    axes.legend(fontsize=7)
    figure.tight_layout()
    figure.savefig(ROOT / "docs" / "results" / "change.svg", metadata={"Date": None})


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("action", choices=["run", "write"])
    parser.add_argument("--seeds", type=int, default=3)
    parser.add_argument("--only")
    parser.add_argument("--choose", action="store_true")
    arguments = parser.parse_args()
    run(arguments) if arguments.action == "run" else write()
