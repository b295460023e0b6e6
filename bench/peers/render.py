#!/usr/bin/env python3
"""Turns results/*.jsonl into docs/benchmarks-peers.md and docs/img/peers-*.svg. Needs nothing but Python."""

import json
import math
from html import escape
from pathlib import Path

HERE = Path(__file__).resolve().parent
ROOT = HERE.parent.parent

# What to say about each program: where its settings may hurt it.
NOTES = {
    "gibbstream": "one pass, defaults of that time (kappa 0.7, recent word frequencies); with those of today 838.47 nats",
    "gibbstream-10-sweeps": "half of the sweeps",
    "gibbstream-paper": "one pass, the paper's settings",
    "gibbstream-5-sweeps": "a quarter of the sweeps, up to 20 passes",
    "tomotopy": "batch; alpha learnt, eta fixed at 0.01 (its default)",
    "tomotopy-eta-0.1": "the same with eta 0.1",
    "gensim": "LdaModel, default chunks of 2,000; alpha and eta learnt; 5 passes",
    "gensim-small-chunks": "LdaModel, chunks of 200; 2 passes",
    "gensim-multicore": "LdaMulticore, 1 worker, 1 pass; cannot learn alpha; its parent process polls, which costs CPU",
    "scikit-learn": "online, defaults, 2 passes; alpha and eta fixed at 1/K",
    "vowpal-wabbit": "settings of its tutorial, 2 passes; alpha fixed; CPU includes parsing its text format",
    "vowpal-wabbit-tuned": "alpha 1/K, smaller rho and minibatches, 2 passes",
    "lda": "batch, its defaults (alpha 0.1, eta 0.01, both fixed) up to 200 sweeps",
}

# Each line can be told from the others without colour: by lightness, dashes and marker.
STYLES = {
    "gibbstream": ("#000000", "", "circle"),
    "gibbstream-10-sweeps": ("#000000", "1 2", "circle"),
    "gibbstream-paper": ("#000000", "2 3", "circle"),
    "gibbstream-5-sweeps": ("#000000", "6 3", "circle"),
    "tomotopy": ("#0072b2", "", "square"),
    "tomotopy-eta-0.1": ("#0072b2", "6 3", "square"),
    "gensim": ("#d55e00", "", "triangle"),
    "gensim-small-chunks": ("#d55e00", "6 3", "triangle"),
    "gensim-multicore": ("#d55e00", "2 3", "triangle"),
    "scikit-learn": ("#009e73", "", "diamond"),
    "vowpal-wabbit": ("#cc79a7", "", "cross"),
    "vowpal-wabbit-tuned": ("#cc79a7", "6 3", "cross"),
    "lda": ("#8a8a8a", "", "square"),
}


def main():
    sections = []
    for path in sorted((HERE / "results").glob("*-*-*-*.jsonl")):
        rows = [json.loads(line) for line in path.read_text().splitlines()]
        if rows:
            sections.append(section(path.stem, rows))
    (ROOT / "docs").mkdir(exist_ok=True)
    text = INTRODUCTION + "\n".join(sections) + checks()
    (ROOT / "docs" / "benchmarks-peers.md").write_text(text)


INTRODUCTION = """# gibbstream beside other programs

Made by `bench/peers/render.py` from the numbers in `bench/peers/results/`; run it again with

    python bench/peers/run.py --corpus imdb --documents 20000 --topics 128 --held-out 500
    python bench/peers/render.py

How it is measured. Every program trains on the same documents with the same number of topics, alone in a process with
one thread. CPU and wall seconds are those of training, without reading and converting the documents (for ours, without
reading); the machine was shared, so CPU seconds count and wall seconds are only for information. Memory is the peak of
the whole process, which holds all documents for every program but ours and Vowpal Wabbit (there the Python driver holds
them). Topics and alpha of every program are scored by one estimator on the same held-out documents, the last of the
corpus: mean of -log p(document) in nats by sequential Monte Carlo with 20 particles; lower is better.

Programs that keep alpha fixed lose by it. The column *alpha refitted* scores the same topics with an alpha fitted
afterwards, for everybody, to 500 other documents that were neither trained on nor scored: what the topics alone are
worth. Differences to ours are over the same documents, with one standard error of the difference.
One seed each. A score above the unigram baseline means that topics and alpha together predict worse than word
frequencies.

"""


def section(name, rows):
    """Table and figure of one corpus."""
    first = rows[0]
    programs = {}
    for row in rows:
        programs.setdefault(row["program"], []).append(row)
    programs = dict(sorted(programs.items(), key=lambda item: best(item[1])["log_perplexity_per_document"]))
    figure = ROOT / "docs" / "img" / f"peers-{name}.svg"
    figure.parent.mkdir(parents=True, exist_ok=True)
    figure.write_text(svg(programs))
    lines = [
        f"## {first['corpus']}: {first['train_documents']:,} documents, {first['topics']} topics",
        "",
        f"![Held-out score against CPU seconds](img/{figure.name})",
        "",
        f"Scored on {first['held_out']:,} documents ({first['held_out_tokens']:,} tokens). Unigram baseline: "
        f"{first['unigram_log_perplexity_per_document']:.2f} nats. Machine: {first['machine']}, shared.",
        "",
        "| program | version | score at the end | minus ours | alpha refitted | CPU s | wall s | peak MiB | documents read | notes |",
        "|---|---|---:|---:|---:|---:|---:|---:|---:|---|",
    ]
    reference = [row for row in programs.get("gibbstream", []) if row["last"]]
    for program, points in programs.items():
        row = points[-1]
        lines.append(
            f"| {program} | {row['version']} | {row['log_perplexity_per_document']:.2f} | {difference(row, reference)} | "
            f"{row['refitted_log_perplexity_per_document']:.2f} | {row['cpu_seconds']:.1f} | {row['wall_seconds']:.1f} | "
            f"{row['peak_rss_mib']:.0f} | {row['documents']:,} | {NOTES.get(program, '')} |"
        )
    falling = [
        f"{program} ({points[-2]['log_perplexity_per_document'] - points[-1]['log_perplexity_per_document']:.1f} nats)"
        for program, points in programs.items()
        if len(points) > 1 and points[-2]["log_perplexity_per_document"] - points[-1]["log_perplexity_per_document"] > 1
    ]
    if falling:
        lines += ["", f"Not at their plateau, by what the last stretch of the curve still gained: {', '.join(falling)}."]
    lines += ["", load(programs)]
    if reference:
        lines += ["", *time_to_quality(programs, reference[0])]
    if "gibbstream-5-sweeps" in programs:
        lines += ["", *one_pass(programs), "", *plateaus(programs)]
    lines += ["", "<details><summary>All points and settings</summary>", "", "| program | documents read | sweeps | score | CPU s |",
              "|---|---:|---:|---:|---:|"]
    for program, points in programs.items():
        lines += [
            f"| {program} | {row['documents']:,} | {row.get('sweeps', '')} | {row['log_perplexity_per_document']:.2f} | {row['cpu_seconds']:.2f} |"
            for row in points
        ]
    lines += [""] + [f"- {program}: `{json.dumps(points[0]['settings'])}`" for program, points in programs.items()]
    return "\n".join(lines) + "\n\n</details>\n"


def best(points):
    return min(points, key=lambda row: row["log_perplexity_per_document"])


def difference(row, reference):
    """Score minus ours, with its standard error over the documents."""
    if not reference or row is reference[0]:
        return ""
    pairs = [ours - theirs for ours, theirs in zip(reference[0]["log_likelihoods"], row["log_likelihoods"])]
    mean = sum(pairs) / len(pairs)
    error = math.sqrt(sum((pair - mean) ** 2 for pair in pairs) / (len(pairs) - 1) / len(pairs))
    return f"{mean:+.2f} ± {error:.2f}"


def time_to_quality(programs, ours):
    """CPU seconds that each program needs to be as good as ours at the end of its pass."""
    target = ours["log_perplexity_per_document"]
    lines = [f"CPU seconds until a program is at least as good as ours after its pass ({target:.2f} nats, {ours['cpu_seconds']:.1f} s), "
             "on a straight line between measured points (time logarithmic):", "", "| program | CPU s | times ours |", "|---|---:|---:|"]
    for program, points in programs.items():
        if points[-1] is ours:
            continue
        seconds = crossing(points, target)
        if seconds is not None:
            lines.append(f"| {program} | {seconds:.1f} | {seconds / ours['cpu_seconds']:.1f} |")
        else:
            lines.append(f"| {program} | not reached in {points[-1]['cpu_seconds']:.1f} | |")
    return lines


def load(programs):
    """How busy the machine was: beside others a program wants more CPU seconds for the same work."""
    shares = ", ".join(f"{program} {points[-1]['load_average']:.1f}" for program, points in programs.items())
    return f"Processes that wanted one of the cores when a program ended: {shares}. CPU seconds beside others are up to a third higher."


def one_pass(programs):
    """Online programs after every document was read once."""
    ours, *others = sorted(
        ((program, row) for program, points in programs.items() for row in points
         if row["documents"] == row["train_documents"] and "sweeps" not in row),
        key=lambda pair: (pair[0] != "gibbstream", pair[1]["log_perplexity_per_document"]),
    )
    lines = ["Online programs after one pass, `gibbstream` first:", "", "| program | score | CPU s | times the first |",
             "|---|---:|---:|---:|"]
    for program, row in (ours, *others):
        times = row["cpu_seconds"] / ours[1]["cpu_seconds"]
        lines.append(f"| {program} | {row['log_perplexity_per_document']:.2f} | {row['cpu_seconds']:.1f} | {times:.1f} |")
    return lines


def plateaus(programs):
    """When several passes of few sweeps are as good as batch programs are at their end."""
    lines = ["CPU seconds until `gibbstream-5-sweeps` is as good as a batch program at its end:", "",
             "| program | sweeps | score | CPU s | ours, CPU s | times less |", "|---|---:|---:|---:|---:|---:|"]
    for program, points in programs.items():
        last = points[-1]
        if "sweeps" in last:
            seconds = crossing(programs["gibbstream-5-sweeps"], last["log_perplexity_per_document"])
            reached = "not reached | " if seconds is None else f"{seconds:.1f} | {last['cpu_seconds'] / seconds:.0f}"
            lines.append(f"| {program} | {last['sweeps']} | {last['log_perplexity_per_document']:.2f} | {last['cpu_seconds']:.1f} | {reached} |")
    return lines


def crossing(points, target):
    """When the curve first reaches the target; None if it does not."""
    if points[0]["log_perplexity_per_document"] <= target:
        return points[0]["cpu_seconds"]
    for before, after in zip(points, points[1:]):
        high, low = before["log_perplexity_per_document"], after["log_perplexity_per_document"]
        if low <= target:
            part = (high - target) / (high - low)
            return before["cpu_seconds"] * (after["cpu_seconds"] / before["cpu_seconds"]) ** part
    return None


def checks():
    """The check of the scorer, if it was recorded."""
    path = HERE / "results" / "scorer.jsonl"
    if not path.exists():
        return ""
    names = {
        "exact": "ours against the sum over all assignments", "python": "plain NumPy against the sum over all assignments",
        "real": "ours against plain NumPy, real documents and topics",
    }
    lines = ["", "## The scorer", "", "`bench/peers/check_scorer.py` compares the scorer with exact sums on tiny documents, and with a "
             "separate implementation in NumPy (`sequential.py`) on real ones. Estimates are means over seeds, in nats.", "",
             "| check | tokens | estimate | reference | 4 standard errors | agrees |", "|---|---:|---:|---:|---:|---|"]
    for line in path.read_text().splitlines():
        row = json.loads(line)
        lines.append(f"| {names[row['check']]} | {row['tokens']} | {row['ours']:.3f} | {row['reference']:.3f} | "
                     f"{4 * row['error']:.3f} | {'yes' if row['agrees'] else 'NO'} |")
    return "\n".join(lines) + "\n"


def svg(programs):
    """Score against CPU seconds, logarithmic axis."""
    width, height, left, right, top, bottom = 860, 460, 64, 210, 16, 48
    points = [row for rows in programs.values() for row in rows]
    unigram = points[0]["unigram_log_perplexity_per_document"]
    scores = [row["log_perplexity_per_document"] for row in points]
    low, high = min(scores), max(*scores, unigram)
    # A program that starts far above the baseline would flatten everybody else.
    high = min(high, unigram + 0.25 * (unigram - low)) if low < unigram else high
    margin = 0.04 * (high - low)
    low, high = low - margin, high + margin
    seconds = [max(row["cpu_seconds"], 1e-3) for row in points]
    first, last = math.log10(min(seconds)) - 0.08, math.log10(max(seconds)) + 0.08

    def x(value):
        return left + (math.log10(max(value, 1e-3)) - first) / (last - first) * (width - left - right)

    def y(value):
        return top + (high - min(value, high)) / (high - low) * (height - top - bottom)

    out = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" font-family="Helvetica, Arial, sans-serif" font-size="12" fill="#222">',
        "<title>Held-out score against CPU seconds of training; lower is better</title>",
        f'<rect width="{width}" height="{height}" fill="#fff"/>',
    ]
    for exponent in range(math.floor(first), math.ceil(last) + 1):
        for digit in (1, 2, 5):
            value = digit * 10.0**exponent
            if first <= math.log10(value) <= last:
                out.append(f'<path d="M{x(value):.1f} {top}V{height - bottom}" stroke="#e4e4e4"/>')
                out.append(f'<text x="{x(value):.1f}" y="{height - bottom + 18}" text-anchor="middle">{value:g}</text>')
    step = nice_step((high - low) / 6)
    tick = math.ceil(low / step) * step
    while tick <= high:
        out.append(f'<path d="M{left} {y(tick):.1f}H{width - right}" stroke="#e4e4e4"/>')
        out.append(f'<text x="{left - 8}" y="{y(tick) + 4:.1f}" text-anchor="end">{tick:g}</text>')
        tick += step
    out.append(f'<path d="M{left} {top}V{height - bottom}H{width - right}" fill="none" stroke="#222"/>')
    out.append(f'<text x="{(left + width - right) / 2}" y="{height - 10}" text-anchor="middle">CPU seconds of training</text>')
    middle = (top + height - bottom) / 2
    out.append(f'<text transform="translate(14 {middle}) rotate(-90)" text-anchor="middle">-log p per held-out document (nats, lower is better)</text>')
    if unigram <= high:
        out.append(f'<path d="M{left} {y(unigram):.1f}H{width - right}" stroke="#555" stroke-dasharray="1 4"/>')
        out.append(f'<text x="{width - right - 4}" y="{y(unigram) - 5:.1f}" text-anchor="end" fill="#555">unigram</text>')
    for name, rows in programs.items():
        colour, dashes, shape = STYLES.get(name, ("#555555", "4 2", "circle"))
        places = [(x(row["cpu_seconds"]), y(row["log_perplexity_per_document"])) for row in rows]
        thick = 2.4 if name == "gibbstream" else 1.5
        line = " ".join(f"{a:.1f},{b:.1f}" for a, b in places)
        out.append(f'<polyline points="{line}" fill="none" stroke="{colour}" stroke-width="{thick}" stroke-dasharray="{dashes}"/>')
        out += [marker(shape, a, b, colour) for a, b in places]
    for index, name in enumerate(programs):
        colour, dashes, shape = STYLES.get(name, ("#555555", "4 2", "circle"))
        a, b = width - right + 18, top + 14 + 22 * index
        thick = 2.4 if name == "gibbstream" else 1.5
        out.append(f'<path d="M{a} {b}h34" stroke="{colour}" stroke-width="{thick}" stroke-dasharray="{dashes}"/>')
        out.append(marker(shape, a + 17, b, colour))
        out.append(f'<text x="{a + 42}" y="{b + 4}">{escape(name)}</text>')
    return "\n".join(out) + "\n</svg>\n"


def nice_step(rough):
    size = 10.0 ** math.floor(math.log10(rough))
    return next(size * factor for factor in (1, 2, 5, 10) if size * factor >= rough)


def marker(shape, a, b, colour):
    paths = {
        "square": f"M{a - 4:.1f} {b - 4:.1f}h8v8h-8z",
        "triangle": f"M{a:.1f} {b - 5:.1f}l5 9h-10z",
        "diamond": f"M{a:.1f} {b - 5:.1f}l5 5l-5 5l-5 -5z",
        "cross": f"M{a - 4:.1f} {b - 4:.1f}l8 8m0 -8l-8 8",
    }
    if shape == "circle":
        return f'<circle cx="{a:.1f}" cy="{b:.1f}" r="4" fill="{colour}" stroke="#fff" stroke-width="0.7"/>'
    edge = colour if shape == "cross" else "#fff"
    return f'<path d="{paths[shape]}" fill="{colour}" stroke="{edge}" stroke-width="{1.8 if shape == "cross" else 0.7}"/>'


if __name__ == "__main__":
    main()
