"""The tutorial as a notebook runs from its first cell to its last, and shows what it promises."""

import json
import subprocess
import sys

import pytest

from conftest import ROOT

NOTEBOOK = ROOT / "examples" / "tutorial.ipynb"

# In a process of its own: Jupyter warns of things that are none of ours, and warnings are errors here.
EXECUTE = """
import sys, nbformat
from nbclient import NotebookClient

notebook = nbformat.read(sys.argv[1], as_version=4)
NotebookClient(notebook, timeout=240, kernel_name="python3").execute()
nbformat.write(notebook, sys.argv[2])
"""


def outputs(notebook, kind):
    """What cells show, of one kind."""
    shown = [output for cell in notebook["cells"] for output in cell.get("outputs", [])]
    return [output["data"][kind] for output in shown if kind in output.get("data", {})]


def test_notebook(tmp_path):
    for module in ("nbclient", "ipykernel"):
        pytest.importorskip(module, reason=f"{NOTEBOOK.name} IS NOT RUN: pip install nbclient ipykernel")
    (tmp_path / "corpus").symlink_to(ROOT / "examples" / "corpus")
    executed = tmp_path / "executed.ipynb"
    done = subprocess.run(
        [sys.executable, "-c", EXECUTE, NOTEBOOK, executed], cwd=tmp_path, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    notebook = json.loads(executed.read_text())
    # Pictures: words of topics, shares over time, scores by number of topics.
    assert len(outputs(notebook, "image/png")) == 3
    tables = ["".join(table) for table in outputs(notebook, "text/html")]
    assert len(tables) == 4
    # The table of the model itself.
    assert sum("8 topics, 16,000 documents" in table for table in tables) == 1
    assert (tmp_path / "page.html").stat().st_size > 100_000
    assert (tmp_path / "letter.gbs").exists()


def test_notebook_is_committed_without_outputs():
    notebook = json.loads(NOTEBOOK.read_text())
    assert all(not cell.get("outputs") and cell.get("execution_count") is None for cell in notebook["cells"])
