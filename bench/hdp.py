"""An open number of topics beside given ones: held-out scores and CPU seconds, and a plot of topics in use.

    python bench/hdp.py [--corpora imdb yelp] [--held-out 500] [--plot docs/img/hdp-topics.svg]

Reads corpora from GIBBSTREAM_DATA, trains with the release build of the program and one thread, and scores the first held-out
documents (sequential Monte Carlo, 20 particles). Finished runs are kept in bench/hdp.jsonl and not made again. Needs
matplotlib for the plot.
"""

import argparse
import json
import os
import subprocess
import tempfile
from pathlib import Path

HERE = Path(__file__).resolve().parent
PROGRAM = HERE.parent / "target" / "release" / "gibbstream"
RESULTS = HERE / "hdp.jsonl"
DATA = Path(os.environ.get("GIBBSTREAM_DATA", HERE.parent.parent / "shared" / "data"))
# Documents to learn from: all but the test set that the corpora's own README sets apart.
TRAINING = {"imdb": 93464, "yelp": 23456, "pubmed": 216855, "wikipedia": 175000, "reuters": 16845}
RUNS = {
    "hdp g-oem": ["--model", "hdp"],
    "hdp vargibbs": ["--model", "hdp", "--method", "vargibbs"],
    **{f"lda g-oem {topics}": ["--topics", str(topics)] for topics in (8, 16, 32, 64, 128)},
}


def program(*arguments):
    done = subprocess.run([PROGRAM, *map(str, arguments)], check=True, capture_output=True, text=True)
    return json.loads(done.stdout.strip().splitlines()[-1])


def measure(corpus, name, held_out):
    with tempfile.TemporaryDirectory() as folder:
        model, log = Path(folder) / "model.gbs", Path(folder) / "log"
        source = ["--limit-docs", TRAINING[corpus], "--threads", 1, "--out", model, "--log", log, "--paper", "--json"]
        source = [flag for flag in source if flag != "--paper" or name.startswith("lda")]
        trained = program("train", DATA / corpus, *RUNS[name], *source)
        test = ["--skip-docs", TRAINING[corpus], "--limit-docs", held_out, "--threads", 1, "--json"]
        score = program("evaluate", model, DATA / corpus, *test)
        lines = [json.loads(line) for line in log.read_text().splitlines()]
    curve = [(line["documents"], line["topics_used"]) for line in lines if "topics_used" in line]
    return {
        "corpus": corpus,
        "run": name,
        "topics": trained["topics"],
        "topics_used": trained.get("topics_used"),
        "topics_created": trained.get("topics_created"),
        "nats_per_document": score["log_perplexity_per_document"],
        "unigram": score["unigram_log_perplexity_per_document"],
        "cpu_seconds": trained["train_cpu_seconds"],
        "million_token_sweeps_per_cpu_second": trained["token_sweeps_per_cpu_second"] / 1e6,
        "curve": curve[:: max(1, len(curve) // 200)],
    }


def finished():
    if not RESULTS.exists():
        return {}
    rows = map(json.loads, RESULTS.read_text().splitlines())
    return {(row["corpus"], row["run"]): row for row in rows}


def table(rows):
    print("| corpus | model | topics in use | nats per document | unigram | CPU s | million token-sweeps per CPU s |")
    print("|---|---|---:|---:|---:|---:|---:|")
    for row in rows:
        used = row["topics_used"] or row["topics"]
        print(
            f"| {row['corpus']} | {row['run']} | {used} | {row['nats_per_document']:.2f} | {row['unigram']:.2f} "
            f"| {row['cpu_seconds']:.1f} | {row['million_token_sweeps_per_cpu_second']:.1f} |"
        )


def plot(rows, path):
    import matplotlib

    matplotlib.use("svg")
    matplotlib.rcParams["svg.hashsalt"] = "gibbstream"
    from matplotlib import pyplot

    figure, axes = pyplot.subplots(figsize=(7, 4), layout="constrained")
    styles = {"hdp g-oem": "-", "hdp vargibbs": ":"}
    for row in (row for row in rows if row["curve"]):
        documents, used = zip(*row["curve"])
        axes.plot(documents, used, styles[row["run"]], label=f"{row['corpus']}, {row['run'].removeprefix('hdp ')}")
    axes.set(xscale="log", xlabel="documents seen", ylabel="topics in use")
    axes.legend(frameon=False)
    figure.savefig(path, metadata={"Date": None})


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--corpora", nargs="+", default=["imdb", "yelp"], choices=TRAINING)
    parser.add_argument("--held-out", type=int, default=500)
    parser.add_argument("--plot", type=Path)
    options = parser.parse_args()
    done = finished()
    for key in [(corpus, name) for corpus in options.corpora for name in RUNS]:
        if key not in done:
            done[key] = measure(*key, options.held_out)
            with RESULTS.open("a") as file:
                file.write(json.dumps(done[key]) + "\n")
    rows = [done[corpus, name] for corpus in options.corpora for name in RUNS]
    table(rows)
    if options.plot:
        plot(rows, options.plot)


if __name__ == "__main__":
    main()
