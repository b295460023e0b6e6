"""Wrote the files of this folder, with the program of version 1: python3 make.py PROGRAM.

It is kept to show how they came about. It refuses to run where there are files already, because these must stay as they
are (README.md).
"""

from __future__ import annotations

import json
import os
import random
import subprocess
import sys
from pathlib import Path
from typing import Any

HERE = Path(__file__).resolve().parent

TEXT = "inputs/hobbies.txt"
COUNTS = "inputs/counts"
NUMBERS = "inputs/numbers.csv"
WHOLE = "inputs/whole.csv"
ANSWERS = "inputs/answers.csv"
FURTHER_TEXT = "inputs/more.txt"

LDA = "--topics 3 --batch 10 --sweeps 6"
BARE = "--stop-words none"
PART = "--components 2 --batch 20"

HOBBIES = [
    "garden soil seed rose tulip hedge spade compost",
    "piano chord melody tempo violin choir rhythm scale",
    "dough oven flour butter yeast crust sugar whisk",
]

TOPIC_MODELS = {
    # Words: found in text, given rules, growing, hashed, or those of a corpus of counts.
    "lda-fixed": f"{TEXT} {LDA} --stop-words en --min-df 2 --max-df 0.8 --max-vocab 22",
    "lda-words-of-its-own": f"{TEXT} {LDA} --stop-words inputs/stop.txt --no-lowercase --min-length 3 --ngrams 2 --max-vocab 30",
    "lda-growing-minibatches": f"{TEXT} --topics 3 --batch 2..8 --sweeps 6 {BARE}",
    "lda-grow": f"{TEXT} {LDA} --vocab-mode grow --max-vocab 20 {BARE}",
    "lda-grow-averaged": f"{TEXT} {LDA} --vocab-mode grow --max-vocab 20 --averaging uniform {BARE}",
    "lda-grow-with-room": f"{TEXT} {LDA} --vocab-mode grow {BARE}",
    "lda-hash": f"{TEXT} {LDA} --vocab-mode hash=4 {BARE}",
    "lda-counts": f"{COUNTS} {LDA}",
    # Models that have been continued.
    "lda-continued": f"{FURTHER_TEXT} --continue models/lda-fixed.gbs --batch 5 --sweeps 4 --seed 3",
    "lda-continued-to-grow": f"{FURTHER_TEXT} --continue models/lda-fixed.gbs --vocab-mode grow",
    # Reported parameters.
    "averaging-none": f"{COUNTS} {LDA} --averaging none",
    "averaging-uniform": f"{COUNTS} {LDA} --averaging uniform",
    "averaging-tail": f"{COUNTS} {LDA} --averaging tail=3",
    "averaging-tail-not-begun": f"{COUNTS} {LDA} --averaging tail=1000",
    "averaging-frequencies": f"{COUNTS} {LDA} --averaging frequencies",
    # Methods.
    **{f"method-{name}": f"{COUNTS} {LDA} --method {name}" for name in "g-oem++ v-oem v-oem++ svb splda sgs mh-oem".split()},
    **{f"method-{name}": f"{COUNTS} {LDA} --method {name} --total-docs 60" for name in "olda vargibbs lds".split()},
    **{
        f"method-{name}": f"{COUNTS} --topics 3 --sweeps 6 --passes 3 --method {name}"
        for name in "batch-vem batch-gibbs mcem".split()
    },
    "method-paper": f"{COUNTS} {LDA} --paper",
    "method-lds-averaged": f"{COUNTS} {LDA} --method lds --averaging tail=2",
    # Parts of methods that no method by name has.
    "parts-in-sweep": f"{COUNTS} {LDA} --alpha fixed-point=2 --statistic in-sweep --window half --step constant=0.3",
    "parts-last": f"{COUNTS} {LDA} --alpha gradient --statistic last --start nearly-uniform --kappa 0.8 --tau 0.9",
    "parts-prior": f"{COUNTS} {LDA} --alpha fixed=0.2 --topic-prior 0.05 --boost --step incremental=2",
    "parts-bayes": f"{COUNTS} {LDA} --global bayes --topic-prior 0.1 --total-docs 60 --alpha gamma=2,0.5 --averaging uniform",
    # An open number of topics.
    "hdp-g-oem": f"{COUNTS} --model hdp --batch 10 --sweeps 6",
    "hdp-vargibbs": f"{COUNTS} --model hdp --method vargibbs --total-docs 60 --batch 10 --sweeps 6",
    "hdp-literal": f"{COUNTS} --model hdp --pi literal --initial-topics 3 --max-topics 12 --doc-concentration 0.5 "
    "--top-concentration 3 --min-remainder 0.05 --batch 10 --sweeps 6",
    "hdp-after-deaths": f"{COUNTS} --model hdp --initial-topics 12 --batch 30 --sweeps 4 --passes 40",
    "hdp-grow": f"{TEXT} --model hdp --vocab-mode grow --max-vocab 20 --batch 10 --sweeps 6 {BARE}",
}

NUMBER_MODELS = {
    **{
        f"ica-{sources.replace('=', '-')}-{noise}": f"{NUMBERS} --model ica {PART} --sweeps 6 --sources {sources} --noise {noise}"
        for sources in "laplace student student=5 gaussian".split()
        for noise in "isotropic diagonal".split()
    },
    "ica-fixed-scale": f"{NUMBERS} --model ica {PART} --sweeps 6 --source-scale fixed --floor 0.001 --window half",
    "ica-boosted-averaged": f"{NUMBERS} --model ica {PART} --sweeps 6 --method g-oem++ --averaging uniform",
    "gaussian-mixture-full": f"{NUMBERS} --model gaussian-mixture {PART}",
    "gaussian-mixture-diagonal": f"{NUMBERS} --model gaussian-mixture {PART} --covariance diagonal --floor 0.01",
    "gaussian-mixture-averaged": f"{NUMBERS} --model gaussian-mixture {PART} --averaging uniform",
    "poisson-mixture": f"{WHOLE} --model poisson-mixture {PART}",
    "poisson-mixture-tail": f"{WHOLE} --model poisson-mixture {PART} --averaging tail=2 --step constant=0.4",
    "multinomial-mixture": f"{WHOLE} --model multinomial-mixture {PART} --smoothing 0.01",
    "bernoulli-mixture": f"{ANSWERS} --model bernoulli-mixture {PART}",
}

# What was asked for, and after how many updates the run was killed.
CHECKPOINTS = {
    "lda-fixed": (f"{TEXT} {LDA} --stop-words en --min-df 2 --max-vocab 22", 4),
    "lda-second-pass": (f"{TEXT} {LDA} {BARE} --passes 2 --holdout 8 --eval-every 2 --skip-bad", 8),
    "lda-grow": (f"{TEXT} {LDA} --vocab-mode grow --max-vocab 20 {BARE}", 4),
    "lda-hash": (f"{TEXT} {LDA} --vocab-mode hash=4 {BARE}", 4),
    "lda-counts": (f"{COUNTS} {LDA} --skip-docs 3 --limit-docs 50", 3),
    "lda-averaged": (f"{COUNTS} {LDA} --averaging uniform", 4),
    "lda-continued": (f"{FURTHER_TEXT} --continue models/lda-fixed.gbs --batch 5", 8),
    "lda-finished": (f"{COUNTS} {LDA}", 6),
    "lds": (f"{COUNTS} {LDA} --method lds --total-docs 60", 4),
    "olda": (f"{COUNTS} {LDA} --method olda --total-docs 60", 4),
    "batch-vem": (f"{COUNTS} --topics 3 --sweeps 6 --passes 4 --method batch-vem", 2),
    "batch-gibbs": (f"{COUNTS} --topics 3 --sweeps 6 --passes 4 --method batch-gibbs", 2),
    "hdp-g-oem": (f"{COUNTS} --model hdp --batch 10 --sweeps 6", 4),
    "hdp-vargibbs": (f"{COUNTS} --model hdp --method vargibbs --total-docs 60 --batch 10 --sweeps 6", 4),
    "ica": (f"{NUMBERS} --model ica {PART} --sweeps 6", 3),
    "gaussian-mixture": (f"{NUMBERS} --model gaussian-mixture {PART} --passes 2 --averaging uniform", 7),
    "poisson-mixture": (f"{WHOLE} --model poisson-mixture {PART} --holdout 20", 2),
}

COUNTERS = ["documents", "tokens", "updates", "vocabulary"]


def run(line: str) -> list[dict[str, Any]]:
    """The JSON lines that a command prints."""
    program = str(Path(sys.argv[1]).resolve())
    done = subprocess.run([program, *line.split(), "--json", "--no-progress"], cwd=HERE, capture_output=True, text=True)
    if done.returncode != 0:
        sys.exit(f"{line}\n{done.stderr}")
    return [json.loads(text) for text in done.stdout.splitlines()]


def write_inputs() -> None:
    """Made-up texts and tables, and a synthetic corpus of counts."""
    draw = random.Random(1)
    (HERE / "inputs").mkdir()
    rare = iter(f"rare{letter}" for letter in "abcdefghijkl")

    def text(words: list[str], index: int) -> str:
        chosen = [draw.choice(words) for _ in range(draw.randrange(6, 14))]
        extra = ["The", "and", next(rare, "often")] if index % 5 == 0 else ["the"]
        chosen += [*extra, draw.choice(draw.choice(HOBBIES).split())]
        draw.shuffle(chosen)
        return " ".join(chosen).capitalize() + "."

    texts = [text(HOBBIES[index % 3].split(), index) for index in range(60)]
    (HERE / TEXT).write_text("\n".join(texts) + "\n")
    further = [text([*HOBBIES[index % 3].split(), "orchard", "sonata", "pastry"], index) for index in range(20)]
    (HERE / FURTHER_TEXT).write_text("\n".join(further) + "\n")
    (HERE / "inputs/stop.txt").write_text("the\nThe\nand\noften\n")
    run(f"synth --topics 3 --vocab 20 --docs 60 --length 15 --out {COUNTS}")
    for name in ["beta.npy", "alpha.npy"]:
        (HERE / COUNTS / name).unlink()
    tables: dict[str, list[list[object]]] = {NUMBERS: [], WHOLE: [], ANSWERS: []}
    for row in range(100):
        high = draw.randrange(2)
        tables[NUMBERS].append([round(draw.gauss(3 * high, 1), 2), round(draw.expovariate(1) - high, 2), round(draw.gauss(high, 2), 2)])
        tables[WHOLE].append([draw.randrange(4) + 6 * high, draw.randrange(5), 6 - 5 * high])
        tables[ANSWERS].append([int(draw.random() < 0.1 + 0.8 * high), int(draw.random() < 0.9 - 0.8 * high), draw.randrange(2)])
    for path, rows in tables.items():
        lines = [",".join(map(str, [f"r{index}", *row])) for index, row in enumerate(rows)]
        (HERE / path).write_text("\n".join(["id,a,b,c", *lines]) + "\n")


def inspected(path: str) -> dict[str, Any]:
    """What the file says about itself, without the name of the schema."""
    facts = run(f"inspect {path}")[0]
    del facts["schema"]
    return facts


def mixtures(path: str, source: str) -> list[dict[str, Any]]:
    lines = run(f"infer {path} {source} --limit-docs 3 --sweeps 10000")
    for line in lines:
        line.pop("schema", None)
    return lines


def asked_with(command: str) -> str:
    """The input that a model is asked about: that of its command, or text."""
    return command.split()[0]


def expected_of_topics(path: str, command: str) -> dict[str, Any]:
    source = asked_with(command)
    topics = run(f"topics {path} --words 3")[0]["topics"]
    score = run(f"evaluate {path} {source} --limit-docs 10")[0]
    return {
        "command": f"train {command} --out {path}",
        "input": source,
        "continue": f"train {FURTHER_TEXT if source != COUNTS else COUNTS} --limit-docs 20 --continue {path}",
        "inspect": inspected(path),
        "topics": topics,
        "sampled": {
            "infer": mixtures(path, source),
            "log_perplexity_per_document": score["log_perplexity_per_document"],
        },
    }


def expected_of_numbers(path: str, command: str) -> dict[str, Any]:
    source, model = asked_with(command), command.split("--model ")[1].split()[0]
    score = run(f"evaluate {path} {source} --limit-docs 10")[0]
    names = ["documents", "estimator", "unit", "baseline", "baseline_log_perplexity_per_document"]
    exact = {"evaluate": {name: score[name] for name in names}}
    estimated: dict[str, Any] = {"infer": mixtures(path, source)}
    if model == "ica":
        estimated["log_perplexity_per_document"] = score["log_perplexity_per_document"]
        exact["sampled"] = estimated
    else:
        exact["evaluate"]["log_perplexity_per_document"] = score["log_perplexity_per_document"]
        exact |= estimated
    return {
        "command": f"train {command} --out {path}",
        "input": source,
        "continue": f"train {source} --limit-docs 20 --model {model} --continue {path}",
        "inspect": inspected(path),
        **exact,
    }


def write_models() -> dict[str, Any]:
    (HERE / "models").mkdir()
    expected = {}
    for models, describe in [(TOPIC_MODELS, expected_of_topics), (NUMBER_MODELS, expected_of_numbers)]:
        for name, command in models.items():
            path = f"models/{name}.gbs"
            run(f"train {command} --out {path}")
            expected[f"{name}.gbs"] = describe(path, command)
    return expected


def write_checkpoint(name: str, command: str, updates: int) -> dict[str, Any]:
    """A run that saves itself on its way, of which later checkpoints are removed again: that is what a run leaves behind
    that was killed before it wrote them."""
    whole = run(f"train {command}")[0]
    line = f"train {command} --checkpoint checkpoints/{name} --resume"
    run(f"{line} --checkpoint-every {updates}b")
    file = HERE / f"checkpoints/{name}/checkpoint-{updates:012}.gbs"
    content = file.read_bytes()
    leave_only(file, content)
    resumed = run(line)[0]
    assert resumed["model_hash"] == whole["model_hash"], name
    leave_only(file, content)
    (file.parent / "lock").unlink()
    return {
        "command": line,
        "inspect": inspected(f"checkpoints/{name}/{file.name}"),
        "finished": {counter: whole[counter] for counter in COUNTERS},
    }


def leave_only(file: Path, content: bytes) -> None:
    """Leaves nothing but one checkpoint in the folder."""
    for other in file.parent.glob("checkpoint-*.gbs"):
        other.unlink()
    file.write_bytes(content)


def one_a_line(entries: dict[str, Any]) -> str:
    lines = [f"{json.dumps(name)}: {json.dumps(entry)}" for name, entry in entries.items()]
    return "{\n" + ",\n".join(lines) + "\n}"


def main() -> None:
    if len(sys.argv) != 2:
        sys.exit("usage: python3 make.py PROGRAM")
    if (HERE / "models").exists():
        sys.exit("the files are there already, and must stay as they are (README.md)")
    os.environ = {name: value for name, value in os.environ.items() if not name.startswith("GIBBSTREAM_")}
    write_inputs()
    models = write_models()
    checkpoints = {name: write_checkpoint(name, *what) for name, what in CHECKPOINTS.items()}
    parts = [f'"models": {one_a_line(models)}', f'"checkpoints": {one_a_line(checkpoints)}']
    (HERE / "expected.json").write_text("{" + ",\n".join(parts) + "}\n")


if __name__ == "__main__":
    main()
