"""Measures the page: how it opens, scrolls and filters when it is large, and what `report` costs beside `infer`. See README.md."""

from __future__ import annotations

import argparse
import json
import os
import resource
import subprocess
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]


def cpu_seconds(command):
    """Processor time of a command, of all its threads."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    subprocess.run(command, check=True, stdout=subprocess.DEVNULL)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def sizes():
    """Large made-up reports in Chromium, as rows of a table."""
    done = subprocess.run(["node", "scripts/sizes.mjs"], cwd=ROOT / "web", check=True, capture_output=True, text=True)
    found = [json.loads(line) for line in done.stdout.splitlines()]
    names = [name for name in found[0] if name not in ("topics", "vocabulary", "documents")]
    heads = [f"{one['topics']:,} topics, {one['vocabulary']:,} words, {one['documents']:,} documents" for one in found]
    rows = [f"| {name} | " + " | ".join(f"{one[name]:g}" for one in found) + " |" for name in names]
    frames = [max(value for name, value in one.items() if "longest frame" in name) for one in found]
    rows.append("| longest frame of all, ms | " + " | ".join(f"{frame:g}" for frame in frames) + " |")
    return "\n".join(["| | " + " | ".join(heads) + " |", "|---|" + "---:|" * len(found), *rows])


def cost(program, data, documents):
    """`report` and `infer` over the same texts, in processor time."""
    texts = data / "imdb" / "docs.jsonl.zst"
    if not texts.exists():
        return f"NOT MEASURED: {texts} is missing, so `report` was not held against `infer`."
    with tempfile.TemporaryDirectory() as folder:
        model = f"{folder}/model.gbs"
        limit = ["--limit-docs", str(documents)]
        train = [program, "train", texts, "--topics", "50", "--limit-docs", "20000", "--out", model, "--quiet"]
        subprocess.run(train, check=True)
        report = cpu_seconds([program, "report", model, texts, *limit, "--out", f"{folder}/page.html", "--quiet"])
        size = os.path.getsize(f"{folder}/page.html") / 1e6
        infer = cpu_seconds([program, "infer", model, texts, *limit, "--out", f"{folder}/mixtures.jsonl", "--quiet"])
    what = f"{documents:,} texts" if documents < 98_464 else "all 98,464 texts"
    return (
        f"`report` over {what} of imdb with 50 topics: {report:.0f} s of processor time, a page of {size:.1f} MB; "
        f"`infer` over the same: {infer:.0f} s; {report / infer:.2f} times as much."
    )


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--program", default="target/release/gibbstream")
    parser.add_argument("--data", default=os.environ.get("GIBBSTREAM_DATA", "../shared/data"))
    parser.add_argument("--documents", type=int, default=98_464)
    args = parser.parse_args()
    print(sizes(), flush=True)
    print()
    print(cost(str(Path(args.program).resolve()), Path(args.data), args.documents))


if __name__ == "__main__":
    main()
