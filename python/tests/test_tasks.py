"""Every line of docs/tasks.md works."""

import json
import os
import re
import shlex
import subprocess
import warnings

import pandas as pd
import pytest
from scipy.io import mmwrite

import gibbstream
from conftest import ROOT

CORPUS = ROOT / "examples" / "corpus" / "harbour-letter.jsonl"


def lines(column):
    """The code of a column of the table, by the number of the task."""
    for line in (ROOT / "docs" / "tasks.md").read_text().splitlines():
        cells = [cell.strip() for cell in line.split("|")]
        if len(cells) > 4 and cells[1].isdigit():
            for code in re.findall(r"`([^`]+)`", cells[column]):
                yield int(cells[1]), code


@pytest.fixture(scope="module")
def notes():
    return [json.loads(line) for line in CORPUS.read_text().splitlines()]


@pytest.fixture
def folder(notes, tmp_path, monkeypatch):
    """A folder with the files that the lines speak of."""
    monkeypatch.chdir(tmp_path)
    texts = [note["text"] for note in notes]
    for name in ("d.jsonl", "new.jsonl"):
        (tmp_path / name).write_text(CORPUS.read_text())
    mmwrite("x.mtx", gibbstream.TextCorpus(texts).to_csr())
    pd.DataFrame(notes).to_parquet("d.parquet")
    (tmp_path / "folder").mkdir()
    for number, text in enumerate(texts[:60]):
        (tmp_path / "folder" / f"{number}.txt").write_text(text)
    for seed, name in enumerate(("m.gbs", "a.gbs", "b.gbs")):
        gibbstream.LDA(20, batch=20, random_state=seed).fit(texts).save(name)
    return tmp_path


def test_tasks_in_python(notes, folder):
    from sklearn.model_selection import GridSearchCV

    texts = [note["text"] for note in notes]
    names = {name: getattr(gibbstream, name) for name in gibbstream.__all__}
    names |= {
        "gibbstream": gibbstream,
        "GridSearchCV": GridSearchCV,
        "texts": texts,
        "new_texts": texts[:50],
        "new": texts[:1],
        "text": texts[0],
        "dates": [note["date"] for note in notes],
        "classes": [note["section"] for note in notes],
        "df": pd.DataFrame(notes),
        "X": gibbstream.TextCorpus(texts).to_csr(),
        "paths": sorted((folder / "folder").iterdir()),
        "lda": gibbstream.load("m.gbs"),
        "a": gibbstream.load("a.gbs"),
        "b": gibbstream.load("b.gbs"),
    }
    names["models"] = [names["a"], names["b"]]
    done = set()
    for number, code in lines(3):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            eval(code.replace(', "bus"], ...', ', "bus"], ["bus"]').replace("[...]", "[4, 8]"), dict(names))
        done.add(number)
    assert done == set(range(1, 31))


def test_tasks_on_the_command_line(folder):
    program = os.environ.get("GIBBSTREAM_PROGRAM")
    if not program:
        pytest.skip("THE COMMANDS OF docs/tasks.md ARE NOT RUN: name the program in GIBBSTREAM_PROGRAM")
    ran = 0
    for number, code in lines(4):
        # Flags alone belong to the first line.
        line = f"gibbstream train d.jsonl -k 20 -o m.gbs {code}" if code.startswith("--") else code
        if not line.startswith("gibbstream "):
            continue
        words = [str((ROOT / program).resolve()), *shlex.split(line)[1:], "--quiet"]
        done = subprocess.run(words, cwd=folder, capture_output=True, text=True, check=False)
        assert done.returncode == 0, f"task {number}: {line}\n{done.stderr}"
        ran += 1
    assert ran >= 25
