#!/usr/bin/env python3
"""Which settings to learn with: held-out scores and CPU seconds of ours beside 200 sweeps of batch Gibbs sampling.

    python bench/defaults.py run [--seeds 5] [--only PART]     makes what is missing of bench/defaults.jsonl
    python bench/defaults.py write                             docs/results/defaults.md and its figure (needs matplotlib)

Trains with the release build of the program and one thread on the first documents of corpora in GIBBSTREAM_DATA, and scores
the last 500 (sequential Monte Carlo, 20 particles). The scores of batch Gibbs sampling are those of tomotopy by the same
scorer, made by

    python bench/peers/run.py --only tomotopy-200-sweeps --results bench/peers/results/marks \\
        --corpus CORPUS --documents N --topics 128 --held-out 500 --seed SEED
"""

import argparse
import json
import os
import subprocess
import tempfile
from pathlib import Path
from statistics import median

HERE = Path(__file__).resolve().parent
PROGRAM = Path(os.environ.get("GIBBSTREAM_PROGRAM", HERE.parent / "target" / "release" / "gibbstream"))
DATA = Path(os.environ.get("GIBBSTREAM_DATA", HERE.parent.parent / "shared" / "data"))
RESULTS = HERE / "defaults.jsonl"
MARKS = HERE / "peers" / "results" / "marks"
PAGES = HERE.parent / "docs" / "results"
HELD_OUT = 500
# Documents of each corpus, and those that its own README gives to training.
CORPORA = {"imdb": (98464, 93464), "yelp": (25456, 23456), "pubmed": (221855, 216855), "wikipedia": (180000, 175000)}

PAPER = "--paper"
TUNED = ""
THREE_PASSES = "--passes 3 --sweeps 10 --smoothing 0.02"
WHOLE_SEEDS = 3  # batch sampling of whole corpora takes hours
GROWING = ["--batch 100..1000", "--batch 100..5000"]
# One setting changed at a time.
CHANGES = [
    "--averaging none",
    "--averaging none --kappa 0.7",
    "--alpha fixed-point",
    "--smoothing 0.0001",
    "--smoothing 0.01",
    "--smoothing 0.02",
    "--smoothing 0.1",
    "--kappa 0.5",
    "--kappa 0.7",
    "--kappa 0.8",
    "--kappa 1",
    "--offset 0",
    "--offset 20",
    "--sweeps 5",
    "--sweeps 10",
    "--sweeps 40",
    "--batch 10 --offset 20",
    "--batch 50 --offset 6",
    "--batch 500 --offset 1",
    "--batch 100..1000",
    "--batch 10..1000 --offset 20",
    "--averaging tail=100",
    "--averaging tail=500 --batch 20 --offset 15",
    "--kappa 0 --tau 0.05",
    "--kappa 0 --tau 0.1",
    "--kappa 0 --tau 0.2",
    "--kappa 0 --tau 0.1 --averaging none",
    "--kappa 0 --tau 0.1 --averaging tail=100",
    "--kappa 0 --tau 0.2 --averaging tail=100",
    "--passes 2",
    "--passes 3",
    "--passes 3 --sweeps 5",
    "--passes 3 --sweeps 10",
    "--passes 5 --sweeps 5",
    "--passes 5 --sweeps 10",
    "--passes 5 --sweeps 10 --smoothing 0.02",
]


def cells(seeds):
    """(part, corpus, documents, topics, seed, flags), the most telling first."""
    every = list(CORPORA)
    for seed in range(seeds):
        for flags in (TUNED, PAPER, THREE_PASSES):
            yield from (("main", corpus, 20_000, 128, seed, flags) for corpus in every)
        for flags in (TUNED, PAPER):
            yield from (("topics", corpus, 20_000, 512, seed, flags) for corpus in ("imdb", "yelp"))
    for seed in range(min(seeds, WHOLE_SEEDS)):
        for flags in (TUNED, THREE_PASSES, PAPER):
            yield from (("whole", corpus, CORPORA[corpus][1], 128, seed, flags) for corpus in every)
    for flags in GROWING:
        yield from (("growing", corpus, CORPORA[corpus][1], 128, 0, flags) for corpus in every)
    for flags in CHANGES:
        yield from (("changes", corpus, 20_000, 128, 0, flags) for corpus in every)
    for seed in range(min(seeds, 2)):
        for documents, topics in ((1_000, 10), (3_000, 20)):
            for flags in (TUNED, PAPER, THREE_PASSES):
                yield from (("small", corpus, documents, topics, seed, flags) for corpus in every)


def program(*arguments):
    done = subprocess.run([PROGRAM, *map(str, arguments)], check=True, capture_output=True, text=True)
    return json.loads(done.stdout.strip().splitlines()[-1])


def measure(corpus, documents, topics, seed, flags):
    with tempfile.TemporaryDirectory() as folder:
        model = Path(folder) / "model.gbs"
        source = ["--limit-docs", documents, "--threads", 1, "--seed", seed, "--out", model, "--json"]
        trained = program("train", DATA / corpus, "--topics", topics, *source, *flags.split())
        test = ["--skip-docs", CORPORA[corpus][0] - HELD_OUT, "--limit-docs", HELD_OUT, "--threads", 1, "--json"]
        score = program("evaluate", model, DATA / corpus, *test)
    return {
        "corpus": corpus,
        "documents": documents,
        "topics": topics,
        "seed": seed,
        "flags": flags,
        "nats_per_document": round(score["log_perplexity_per_document"], 3),
        "unigram": round(score["unigram_log_perplexity_per_document"], 3),
        "cpu_seconds": round(trained["train_cpu_seconds"], 3),
        "alpha_sum": round(trained["alpha_sum"], 3),
        "model_hash": trained["model_hash"],
    }


def key(row):
    return row["corpus"], row["documents"], row["topics"], row["seed"], row["flags"]


def finished():
    rows = map(json.loads, RESULTS.read_text().splitlines()) if RESULTS.exists() else []
    return {key(row): row for row in rows}


def run(options):
    done = finished()
    for part, *cell in cells(options.seeds):
        cell = tuple(cell)
        if cell in done or options.only not in (None, part):
            continue
        done[cell] = measure(*cell)
        with RESULTS.open("a") as file:
            file.write(json.dumps(done[cell]) + "\n")
        print(*cell[:4], cell[4] or "as usual", done[cell]["nats_per_document"], done[cell]["cpu_seconds"], flush=True)


def marks():
    """Scores and CPU seconds of batch Gibbs sampling by corpus and number of documents."""
    found = {}
    for path in sorted(MARKS.glob("*.jsonl")):
        for row in map(json.loads, path.read_text().splitlines()):
            where = row["corpus"], row["train_documents"]
            found.setdefault(where, []).append((row["log_perplexity_per_document"], row["cpu_seconds"]))
    return found


class Study:
    """What was measured, by corpus, documents, topics and flags."""

    def __init__(self):
        self.rows = {}
        for row in finished().values():
            self.rows.setdefault((row["corpus"], row["documents"], row["topics"], row["flags"]), []).append(row)
        self.marks = marks()

    def middle(self, *where, field="nats_per_document"):
        rows = self.rows.get(where)
        return median(row[field] for row in rows) if rows else None

    def first(self, *where):
        """Of the first seed."""
        return next((row["nats_per_document"] for row in self.rows.get(where, []) if row["seed"] == 0), None)

    def mark(self, corpus, documents, place=0):
        rows = self.marks.get((corpus, documents))
        return median(row[place] for row in rows) if rows else None

    def seeds(self, *where):
        return len(self.rows.get(where, []))


def number(value, digits=2):
    return "" if value is None else f"{value:.{digits}f}"


def percent(value, mark):
    return "" if value is None or mark is None else f"{100 * (value / mark - 1):+.2f} %"


def against_batch(study):
    lines = ["| corpus | documents | settings | seeds | nats per document | beside batch Gibbs | CPU s | batch Gibbs, CPU s | part |"]
    lines += ["|---|---:|---|---:|---:|---:|---:|---:|---:|"]
    for whole in (False, True):
        for corpus in CORPORA:
            documents = CORPORA[corpus][1] if whole else 20_000
            mark, mark_cpu = study.mark(corpus, documents), study.mark(corpus, documents, 1)
            if mark is not None:
                seeds = len(study.marks[corpus, documents])
                lines.append(f"| {corpus} | {documents:,} | batch Gibbs, 200 sweeps | {seeds} | {mark:.2f} | | {mark_cpu:.1f} | | |")
            for name, flags in (("paper", PAPER), ("as usual", TUNED), (f"`{THREE_PASSES}`", THREE_PASSES)):
                where = corpus, documents, 128, flags
                score, cpu = study.middle(*where), study.middle(*where, field="cpu_seconds")
                if score is not None:
                    part = "" if mark_cpu is None else f"1/{mark_cpu / cpu:.0f}"
                    lines.append(
                        f"| {corpus} | {documents:,} | {name} | {study.seeds(*where)} | {score:.2f} | {percent(score, mark)} "
                        f"| {cpu:.1f} | {number(mark_cpu, 1)} | {part} |"
                    )
    return lines


def more_topics(study):
    lines = ["| corpus | settings | K = 128 | K = 512 | |", "|---|---|---:|---:|---:|"]
    for corpus in ("imdb", "yelp"):
        for name, flags in (("paper", PAPER), ("as usual", TUNED)):
            few, many = (study.middle(corpus, 20_000, topics, flags) for topics in (128, 512))
            lines.append(f"| {corpus} | {name} | {number(few)} | {number(many)} | {percent(many, few)} |")
    return lines


def one_change(study):
    lines = [f"| changed | {' | '.join(CORPORA)} | CPU, times |", "|---|" + "---:|" * (len(CORPORA) + 1)]

    def row(name, flags):
        scores = [study.first(corpus, 20_000, 128, flags) for corpus in CORPORA]
        usual = [study.first(corpus, 20_000, 128, TUNED) for corpus in CORPORA]
        if all(score is None for score in scores):
            return
        times = [
            study.middle(corpus, 20_000, 128, flags, field="cpu_seconds")
            / study.middle(corpus, 20_000, 128, TUNED, field="cpu_seconds")
            for corpus, score in zip(CORPORA, scores)
            if score is not None
        ]
        shown = [
            number(score) if flags == TUNED else ("" if score is None else f"{score - own:+.2f}")
            for score, own in zip(scores, usual)
        ]
        lines.append(f"| {name} | {' | '.join(shown)} | {median(times):.2f} |")

    row("nothing", TUNED)
    row(f"`{PAPER}`", PAPER)
    for flags in CHANGES:
        row(f"`{flags}`", flags)
    return lines


def growing(study):
    lines = [f"| minibatches | {' | '.join(CORPORA)} |", "|---|" + "---:|" * len(CORPORA)]
    for flags in (TUNED, *GROWING):
        scores = [number(study.first(corpus, CORPORA[corpus][1], 128, flags)) for corpus in CORPORA]
        lines.append(f"| `{flags or '--batch 100'}` | {' | '.join(scores)} |")
    return lines


def small_corpora(study):
    lines = [f"| corpus | documents | K | unigram | paper | as usual | `{THREE_PASSES}` |", "|---|---:|---:|---:|---:|---:|---:|"]
    for documents, topics in ((1_000, 10), (3_000, 20)):
        for corpus in CORPORA:
            scores = [number(study.middle(corpus, documents, topics, flags)) for flags in (PAPER, TUNED, THREE_PASSES)]
            unigram = number(study.middle(corpus, documents, topics, TUNED, field="unigram"))
            lines.append(f"| {corpus} | {documents:,} | {topics} | {unigram} | {' | '.join(scores)} |")
    return lines


def plot(study):
    import matplotlib

    matplotlib.use("svg")
    matplotlib.rcParams["svg.hashsalt"] = "gibbstream"
    from matplotlib import pyplot

    figure, axes = pyplot.subplots(2, 2, figsize=(9, 6.5), layout="constrained")
    series = {"paper": (PAPER, "o"), "as usual": (TUNED, "s"), "3 passes of 10 sweeps": (THREE_PASSES, "^")}
    for corpus, panel in zip(CORPORA, axes.flat):
        for score, cpu in study.marks.get((corpus, 20_000), []):
            panel.plot(cpu, score, "kx", label="batch Gibbs, 200 sweeps")
        for name, (flags, marker) in series.items():
            for row in study.rows.get((corpus, 20_000, 128, flags), []):
                panel.plot(row["cpu_seconds"], row["nats_per_document"], marker, color="black", mfc="none", label=name)
        panel.set(title=corpus, xscale="log", xlim=(0.8, 200), xlabel="CPU seconds", ylabel="nats per document")
        panel.set_xticks([1, 10, 100], ["1", "10", "100"])
    handles = dict(zip(*reversed(axes.flat[0].get_legend_handles_labels())))
    figure.legend(handles.values(), handles.keys(), loc="outside lower center", ncols=4, frameon=False)
    figure.savefig(PAGES / "defaults.svg", metadata={"Date": None})


def write(_options):
    study = Study()
    tables = {
        "against-batch": against_batch(study),
        "more-topics": more_topics(study),
        "one-change": one_change(study),
        "growing": growing(study),
        "small": small_corpora(study),
    }
    page = PAGES / "defaults.md"
    text = page.read_text()
    for name, lines in tables.items():
        start, end = f"<!-- {name} -->\n", f"<!-- end of {name} -->"
        before, rest = text.split(start)
        text = before + start + "\n" + "\n".join(lines) + "\n\n" + end + rest.split(end)[1]
    page.write_text(text)
    plot(study)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    commands = parser.add_subparsers(required=True)
    making = commands.add_parser("run")
    making.add_argument("--seeds", type=int, default=5)
    making.add_argument("--only", choices=["main", "topics", "whole", "growing", "changes", "small"])
    making.set_defaults(do=run)
    commands.add_parser("write").set_defaults(do=write)
    options = parser.parse_args()
    options.do(options)


if __name__ == "__main__":
    main()
